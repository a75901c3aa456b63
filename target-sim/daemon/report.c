/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the target counted, as JSON.
 * Not here: the counting (engine/stats.c), the page of metrics (metrics.c). No standard.
 */
#include "daemon/report.h"

#include "daemon/gather.h"
#include "engine/stats.h"

static const char *const kinds[] = {
    [LST_KIND_ADMIN] = "admin",
    [LST_KIND_IO] = "io",
    [LST_KIND_FABRICS] = "fabrics",
};

const char *report_kind(enum lst_command_kind kind)
{
    return kinds[kind];
}

char *report_opcode(const struct lst_command_stats *stats)
{
    const char *name = lst_command_name(stats->kind, stats->opcode);

    return name ? g_strdup(name) : g_strdup_printf("0x%02x", stats->opcode);
}

static void add_number(JsonObject *object, const char *name, uint64_t value)
{
    json_object_set_int_member(object, name, (gint64)value);
}

static JsonObject *command_object(const struct lst_command_stats *stats)
{
    static const struct {
        const char *name;
        uint64_t millionths;
    } quantiles[] = {
        {"p50_ns", 500000}, {"p99_ns", 990000}, {"p99_9_ns", 999000}, {"p99_99_ns", 999900},
    };
    JsonObject *object = json_object_new();
    JsonArray *histogram = json_array_new();
    g_autofree char *opcode = report_opcode(stats);

    json_object_set_string_member(object, "queue", kinds[stats->kind]);
    json_object_set_string_member(object, "opcode", opcode);
    add_number(object, "count", stats->count);
    add_number(object, "errors", stats->errors);
    add_number(object, "bytes", stats->bytes);
    add_number(object, "mean_ns", stats->count ? stats->time_ns / stats->count : 0);
    for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        /* A bucket's limit may lie above the longest of all. */
        uint64_t limit = lst_histogram_quantile(stats->buckets, quantiles[i].millionths);

        add_number(object, quantiles[i].name, MIN(limit, stats->longest_ns));
    }
    add_number(object, "max_ns", stats->longest_ns);
    for (unsigned i = 0; i < LST_HISTOGRAM_BUCKETS; i++) {
        if (stats->buckets[i]) {
            JsonArray *pair = json_array_new();

            json_array_add_int_element(pair, (gint64)lst_histogram_limit(i));
            json_array_add_int_element(pair, (gint64)stats->buckets[i]);
            json_array_add_array_element(histogram, pair);
        }
    }
    json_object_set_array_member(object, "histogram", histogram);
    return object;
}

static void add_command(void *opaque, const struct lst_command_stats *stats)
{
    json_array_add_object_element(opaque, command_object(stats));
}

static void add_controller(void *opaque, const struct lst_ctrl_stats *stats)
{
    JsonObject *object = json_object_new();

    add_number(object, "cntlid", stats->cntlid);
    json_object_set_string_member(object, "subnqn", stats->subnqn);
    json_object_set_string_member(object, "hostnqn", stats->hostnqn);
    add_number(object, "portid", stats->portid);
    json_object_set_boolean_member(object, "discovery", stats->discovery);
    json_object_set_boolean_member(object, "enabled", stats->enabled);
    add_number(object, "kato_ms", stats->kato_ms);
    add_number(object, "io_queues", stats->io_queues);
    json_array_add_object_element(opaque, object);
}

static const char *state_name(enum lst_conn_state state)
{
    static const char *const names[] = {
        [LST_CONN_IC] = "ic",
        [LST_CONN_CONNECT] = "connect",
        [LST_CONN_LIVE] = "live",
        [LST_CONN_TERM] = "terminating",
        [LST_CONN_CLOSED] = "closed",
    };

    return names[state];
}

static void add_counters(JsonObject *object, const struct lst_conn_counters *counters)
{
    add_number(object, "rx_bytes", counters->rx_bytes);
    add_number(object, "tx_bytes", counters->tx_bytes);
    add_number(object, "rx_pdus", counters->rx_pdus);
    add_number(object, "tx_pdus", counters->tx_pdus);
    add_number(object, "commands", counters->commands);
    add_number(object, "failed", counters->failed);
    add_number(object, "r2ts", counters->r2ts);
}

static void add_connection(void *opaque, const struct lst_conn_stats *stats)
{
    JsonArray *connections = opaque, *commands;
    JsonObject *object;

    if (json_array_get_length(connections) == REPORT_CONNECTIONS_MAX) {
        return;
    }
    object = json_object_new();
    commands = json_array_new();
    add_number(object, "id", stats->id);
    json_object_set_string_member(object, "state", state_name(stats->state));
    json_object_set_string_member(object, "peer", stats->peer);
    add_number(object, "portid", stats->portid);
    json_object_set_string_member(object, "subnqn", stats->subnqn);
    add_number(object, "cntlid", stats->cntlid);
    add_number(object, "qid", stats->qid);
    add_number(object, "queue_size", stats->queue_size);
    add_number(object, "outstanding", stats->outstanding);
    json_object_set_boolean_member(object, "header_digest", stats->header_digest);
    json_object_set_boolean_member(object, "data_digest", stats->data_digest);
    add_number(object, "memory_bytes", stats->memory);
    add_number(object, "memory_most_bytes", stats->memory_most);
    add_counters(object, &stats->counters);
    for (const struct lst_command_stats *each = stats->commands; each; each = each->next) {
        add_command(commands, each);
    }
    json_object_set_array_member(object, "opcodes", commands);
    json_array_add_object_element(connections, object);
}

static JsonObject *target_object(Server *server)
{
    JsonObject *object = json_object_new();
    struct lst_target_stats stats;

    gather_stats(server, &stats);
    add_number(object, "connections", stats.conns);
    add_number(object, "controllers", stats.ctrls);
    add_number(object, "connections_opened", stats.conns_opened);
    add_number(object, "connections_terminated", stats.conns_terminated);
    add_number(object, "controllers_created", stats.ctrls_created);
    add_number(object, "keep_alive_expired", stats.kato_expired);
    add_number(object, "pool_bytes", stats.pool_bytes);
    return object;
}

JsonObject *report_json(Server *server)
{
    JsonObject *object = json_object_new();
    JsonArray *commands = json_array_new(), *controllers = json_array_new(),
              *connections = json_array_new();

    gather_commands(server, add_command, commands);
    gather_controllers(server, add_controller, controllers);
    gather_connections(server, add_connection, connections);
    json_object_set_object_member(object, "target", target_object(server));
    json_object_set_array_member(object, "opcodes", commands);
    json_object_set_array_member(object, "controllers", controllers);
    json_object_set_array_member(object, "connections", connections);
    return object;
}
