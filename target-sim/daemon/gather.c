/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all threads counted, as if one had.
 * Not here: the counting (engine/stats.c), how it is shown (report.c, metrics.c). No standard.
 */
#include "daemon/gather.h"

#include "daemon/crew.h"

void gather_connections(Server *server,
                        void (*fn)(void *opaque, const struct lst_conn_stats *stats),
                        void *opaque)
{
    for (unsigned i = 0; i < crew_size(server); i++) {
        lst_target_each_conn(crew_member(server, i)->target, fn, opaque);
    }
}

void gather_controllers(Server *server,
                        void (*fn)(void *opaque, const struct lst_ctrl_stats *stats),
                        void *opaque)
{
    for (unsigned i = 0; i < crew_size(server); i++) {
        lst_target_each_ctrl(crew_member(server, i)->target, fn, opaque);
    }
}

static void add_command(void *opaque, const struct lst_command_stats *stats)
{
    GArray *sums = opaque;
    struct lst_command_stats *sum = NULL;

    for (guint i = 0; i < sums->len && !sum; i++) {
        struct lst_command_stats *each = &g_array_index(sums, struct lst_command_stats, i);

        sum = each->kind == stats->kind && each->opcode == stats->opcode ? each : NULL;
    }
    if (!sum) {
        g_array_append_val(sums, *stats);
        return;
    }
    sum->count += stats->count;
    sum->errors += stats->errors;
    sum->bytes += stats->bytes;
    sum->time_ns += stats->time_ns;
    sum->longest_ns = MAX(sum->longest_ns, stats->longest_ns);
    for (unsigned i = 0; i < LST_HISTOGRAM_BUCKETS; i++) {
        sum->buckets[i] += stats->buckets[i];
    }
}

void gather_commands(Server *server,
                     void (*fn)(void *opaque, const struct lst_command_stats *stats),
                     void *opaque)
{
    g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(struct lst_command_stats));

    for (unsigned i = 0; i < crew_size(server); i++) {
        lst_target_each_command(crew_member(server, i)->target, add_command, sums);
    }
    for (guint i = 0; i < sums->len; i++) {
        fn(opaque, &g_array_index(sums, struct lst_command_stats, i));
    }
}

void gather_stats(Server *server, struct lst_target_stats *stats)
{
    lst_target_get_stats(server->target, stats);
    for (unsigned i = 1; i < crew_size(server); i++) {
        struct lst_target_stats other;

        lst_target_get_stats(crew_member(server, i)->target, &other);
        stats->conns_opened += other.conns_opened;
        stats->conns_terminated += other.conns_terminated;
        stats->ctrls_created += other.ctrls_created;
        stats->kato_expired += other.kato_expired;
        stats->conns += other.conns;
        stats->ctrls += other.ctrls;
        stats->pool_bytes += other.pool_bytes;
        stats->conn_bytes += other.conn_bytes;
    }
}
