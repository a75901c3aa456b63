/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters and latencies of commands, for each queue and opcode.
 * Not here: who lists them (stats.c). No standard; names follow the NVMe specifications' commands.
 */
#include "engine/ctrl.h"

static const char *const admin_names[256] = {
    [NV_ADMIN_GET_LOG_PAGE] = "get_log_page",
    [NV_ADMIN_IDENTIFY] = "identify",
    [NV_ADMIN_ABORT] = "abort",
    [NV_ADMIN_SET_FEATURES] = "set_features",
    [NV_ADMIN_GET_FEATURES] = "get_features",
    [NV_ADMIN_ASYNC_EVENT] = "async_event_request",
    [NV_ADMIN_KEEP_ALIVE] = "keep_alive",
};

static const char *const io_names[256] = {
    [NV_IO_FLUSH] = "flush",
    [NV_IO_WRITE] = "write",
    [NV_IO_READ] = "read",
    [NV_IO_WRITE_UNCORRECTABLE] = "write_uncorrectable",
    [NV_IO_COMPARE] = "compare",
    [NV_IO_WRITE_ZEROES] = "write_zeroes",
    [NV_IO_DSM] = "dataset_management",
    [NV_IO_VERIFY] = "verify",
    [NV_IO_RESV_REGISTER] = "reservation_register",
    [NV_IO_RESV_REPORT] = "reservation_report",
    [NV_IO_RESV_ACQUIRE] = "reservation_acquire",
    [NV_IO_RESV_RELEASE] = "reservation_release",
    [NV_IO_COPY] = "copy",
    [NV_IO_ZONE_SEND] = "zone_management_send",
    [NV_IO_ZONE_RECEIVE] = "zone_management_receive",
    [NV_IO_ZONE_APPEND] = "zone_append",
};

const char *lst_command_name(enum lst_command_kind kind, unsigned opcode)
{
    if (opcode == LST_OPCODE_INVALID) {
        return "invalid";
    }
    if (kind == LST_KIND_FABRICS) {
        return "fabrics";
    }
    return opcode < 256 ? (kind == LST_KIND_IO ? io_names : admin_names)[opcode] : NULL;
}

/* The queue's or target's entry for an opcode, made if it is the first. */
static struct lst_command_stats *find(struct lst_command_stats **list, enum lst_command_kind kind,
                                      uint16_t opcode)
{
    while (*list && ((*list)->kind != kind || (*list)->opcode != opcode)) {
        list = &(*list)->next;
    }
    if (!*list) {
        *list = g_new0(struct lst_command_stats, 1);
        (*list)->kind = kind;
        (*list)->opcode = opcode;
    }
    return *list;
}

static enum lst_command_kind kind_of(const struct lst_req *req)
{
    if (req->queue->fabrics && req->sqe.opcode == NVF_OPCODE) {
        return LST_KIND_FABRICS;
    }
    return req->queue->qid ? LST_KIND_IO : LST_KIND_ADMIN;
}

/* Commands that came in one piece arrived at one time: the clock is asked once for them. */
void lst_stats_start(struct lst_req *req)
{
    struct lst_target *target = req->queue->target;

    if (!target->arrived_ns && target->ops.clock) {
        target->arrived_ns = target->ops.clock(target->front);
    }
    req->start_ns = target->arrived_ns;
}

void lst_stats_end(struct lst_req *req, uint16_t status)
{
    const struct lst_target *target = req->queue->target;
    enum lst_command_kind kind = kind_of(req);
    /* A host may try all opcodes: those that do not exist share one entry. */
    bool exists = req->command && req->command->run;
    struct lst_command_stats *stats =
        find(&req->queue->commands, kind, exists ? req->sqe.opcode : LST_OPCODE_INVALID);
    bool waits = kind == LST_KIND_ADMIN && req->sqe.opcode == NV_ADMIN_ASYNC_EVENT;
    uint64_t time_ns;

    stats->count++;
    stats->errors += status != 0;
    stats->bytes += status ? 0 : req->data_len;
    if (target->ops.clock && !waits) {
        time_ns = target->ops.clock(target->front) - req->start_ns;
        stats->time_ns += time_ns;
        stats->longest_ns = MAX(stats->longest_ns, time_ns);
        stats->buckets[lst_histogram_bucket(time_ns)]++;
    }
}

static void add(struct lst_command_stats *to, const struct lst_command_stats *from)
{
    to->count += from->count;
    to->errors += from->errors;
    to->bytes += from->bytes;
    to->time_ns += from->time_ns;
    to->longest_ns = MAX(to->longest_ns, from->longest_ns);
    for (unsigned i = 0; i < LST_HISTOGRAM_BUCKETS; i++) {
        to->buckets[i] += from->buckets[i];
    }
}

static void add_all(struct lst_command_stats **to, const struct lst_command_stats *from)
{
    for (; from; from = from->next) {
        add(find(to, from->kind, from->opcode), from);
    }
}

void lst_stats_merge(struct lst_command_stats **to, struct lst_command_stats *from)
{
    add_all(to, from);
    lst_stats_free(from);
}

void lst_stats_free(struct lst_command_stats *stats)
{
    while (stats) {
        struct lst_command_stats *next = stats->next;

        g_free(stats);
        stats = next;
    }
}

size_t lst_stats_memory(const struct lst_command_stats *stats)
{
    size_t bytes = 0;

    for (; stats; stats = stats->next) {
        bytes += sizeof(*stats);
    }
    return bytes;
}

void lst_target_each_command(struct lst_target *target,
                             void (*fn)(void *opaque, const struct lst_command_stats *stats),
                             void *opaque)
{
    struct lst_command_stats *all = NULL;

    add_all(&all, target->ended);
    for (GList *node = target->conns.head; node; node = node->next) {
        struct lst_conn_stats stats;

        lst_conn_get_stats(node->data, &stats);
        add_all(&all, stats.commands);
    }
    for (const struct lst_command_stats *stats = all; stats; stats = stats->next) {
        fn(opaque, stats);
    }
    lst_stats_free(all);
}

uint64_t lst_histogram_quantile(const uint64_t *buckets, uint64_t millionths)
{
    uint64_t total = 0, seen = 0, wanted;

    for (unsigned i = 0; i < LST_HISTOGRAM_BUCKETS; i++) {
        total += buckets[i];
    }
    /* Rounded up, without a product that could pass 64 bits. */
    wanted = total / 1000000 * millionths + (total % 1000000 * millionths + 999999) / 1000000;
    for (unsigned i = 0; i < LST_HISTOGRAM_BUCKETS && total; i++) {
        seen += buckets[i];
        if (seen && seen >= wanted) {
            return lst_histogram_limit(i);
        }
    }
    return 0;
}
