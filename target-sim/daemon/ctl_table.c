/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer of `target-sim ctl stats` for people: columns as wide as what is in them.
 * Not here: where it comes from (report.c). No standard.
 */
#include "daemon/ctl_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS_MAX = 12 };

typedef struct Column {
    const char *title;
    const char *member; /* a number that ends in _ns is shown in us */
} Column;

static const Column totals[] = {
    {"connections", "connections"},
    {"controllers", "controllers"},
    {"opened", "connections_opened"},
    {"terminated", "connections_terminated"},
    {"controllers made", "controllers_created"},
    {"keep-alive expired", "keep_alive_expired"},
    {"pool bytes", "pool_bytes"},
    {NULL, NULL},
};
static const Column controllers[] = {
    {"cntlid", "cntlid"}, {"port", "portid"},  {"I/O queues", "io_queues"},
    {"kato ms", "kato_ms"}, {"subsystem", "subnqn"}, {"host", "hostnqn"},
    {NULL, NULL},
};
static const Column connections[] = {
    {"connection", "id"},     {"peer", "peer"},           {"state", "state"},
    {"cntlid", "cntlid"},     {"qid", "qid"},             {"size", "queue_size"},
    {"outstanding", "outstanding"}, {"commands", "commands"},   {"failed", "failed"},
    {"received", "rx_bytes"}, {"sent", "tx_bytes"},       {"memory", "memory_bytes"},
    {NULL, NULL},
};
static const Column opcodes[] = {
    {"connection", "id"}, {"queue", "queue"},    {"opcode", "opcode"},
    {"count", "count"},   {"errors", "errors"},  {"bytes", "bytes"},
    {"mean us", "mean_ns"}, {"50% us", "p50_ns"}, {"99% us", "p99_ns"},
    {"99.9% us", "p99_9_ns"}, {"99.99% us", "p99_99_ns"}, {"max us", "max_ns"},
    {NULL, NULL},
};

static char *cell(JsonObject *row, const char *member)
{
    JsonNode *node = json_object_get_member(row, member);
    gint64 number;

    if (!node || !JSON_NODE_HOLDS_VALUE(node)) {
        return g_strdup("-");
    }
    if (json_node_get_value_type(node) == G_TYPE_STRING) {
        return g_strescape(json_node_get_string(node), NULL);
    }
    number = json_node_get_int(node);
    return g_str_has_suffix(member, "_ns")
               ? g_strdup_printf("%" PRId64 ".%" PRId64, number / 1000, number % 1000 / 100)
               : g_strdup_printf("%" PRId64, number);
}

/* @rows: of JsonObject *. @columns: COLUMNS_MAX at most, up to a NULL title. */
static void append_table(GString *text, const Column *columns, const GPtrArray *rows)
{
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    size_t widths[COLUMNS_MAX] = {0};
    unsigned count = 0;

    while (columns[count].title) {
        g_assert(count < COLUMNS_MAX);
        g_ptr_array_add(cells, g_strdup(columns[count].title));
        count++;
    }
    for (guint i = 0; i < rows->len; i++) {
        for (unsigned column = 0; column < count; column++) {
            g_ptr_array_add(cells, cell(rows->pdata[i], columns[column].member));
        }
    }
    for (guint i = 0; i < cells->len; i++) {
        widths[i % count] = MAX(widths[i % count], strlen(cells->pdata[i]));
    }
    for (guint i = 0; i < cells->len; i++) {
        bool last = i % count == count - 1;

        g_string_append_printf(text, "%-*s%s", last ? 0 : (int)widths[i % count],
                               (const char *)cells->pdata[i], last ? "\n" : "  ");
    }
}

static GPtrArray *rows_of(JsonObject *object, const char *member)
{
    GPtrArray *rows = g_ptr_array_new();
    JsonNode *node = json_object_get_member(object, member);

    if (node && JSON_NODE_HOLDS_ARRAY(node)) {
        JsonArray *array = json_node_get_array(node);

        for (guint i = 0; i < json_array_get_length(array); i++) {
            JsonNode *element = json_array_get_element(array, i);

            if (JSON_NODE_HOLDS_OBJECT(element)) {
                g_ptr_array_add(rows, json_node_get_object(element));
            }
        }
    } else if (node && JSON_NODE_HOLDS_OBJECT(node)) {
        g_ptr_array_add(rows, json_node_get_object(node));
    }
    return rows;
}

/* The opcodes of all connections in one list, each with its connection's id. */
static GPtrArray *opcodes_of(const GPtrArray *from)
{
    GPtrArray *rows = g_ptr_array_new();

    for (guint i = 0; i < from->len; i++) {
        JsonObject *connection = from->pdata[i];
        g_autoptr(GPtrArray) own = rows_of(connection, "opcodes");

        for (guint j = 0; j < own->len; j++) {
            if (json_object_has_member(connection, "id")) {
                json_object_set_member(own->pdata[j], "id",
                                       json_object_dup_member(connection, "id"));
            }
            g_ptr_array_add(rows, own->pdata[j]);
        }
    }
    return rows;
}

char *ctl_table_stats(JsonObject *stats)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GPtrArray) target = rows_of(stats, "target");
    g_autoptr(GPtrArray) all = rows_of(stats, "opcodes");
    g_autoptr(GPtrArray) ctrls = rows_of(stats, "controllers");
    g_autoptr(GPtrArray) conns = rows_of(stats, "connections");
    g_autoptr(GPtrArray) each = opcodes_of(conns);

    append_table(text, totals, target);
    g_string_append_c(text, '\n');
    append_table(text, opcodes + 1, all);
    g_string_append_c(text, '\n');
    append_table(text, controllers, ctrls);
    g_string_append_c(text, '\n');
    append_table(text, connections, conns);
    g_string_append_c(text, '\n');
    append_table(text, opcodes, each);
    return g_string_free(text, FALSE);
}
