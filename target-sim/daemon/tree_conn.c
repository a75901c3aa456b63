/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * connections/: those that are open now. Removing one closes it.
 * Not here: statistics (report.c), paths (tree.c). No standard: nvmet has no such directory.
 */
#include "daemon/tree_internal.h"

#include <inttypes.h>

#include "daemon/crew.h"
#include "engine/stats.h"

/* Those of all threads, which stand still while the tree is looked at. */
static guint connections_count(const Node *node)
{
    guint count = 0;

    for (unsigned i = 0; i < crew_size(node->server); i++) {
        count += crew_member(node->server, i)->connections.length;
    }
    return count;
}

static Connection *connections_nth(const Node *node, guint index)
{
    unsigned thread = 0;

    while (index >= crew_member(node->server, thread)->connections.length) {
        index -= crew_member(node->server, thread)->connections.length;
        thread++;
    }
    return g_queue_peek_nth(&crew_member(node->server, thread)->connections, index);
}

static char *connections_name(const Node *node, guint index)
{
    const Connection *connection = connections_nth(node, index);

    return g_strdup_printf("%" PRIu64, lst_conn_id(connection->engine));
}

static void connections_enter(Node *node, guint index)
{
    node->connection = connections_nth(node, index);
}

static bool connections_remove(Node *node, guint index, GError **error G_GNUC_UNUSED)
{
    connection_close(connections_nth(node, index));
    return true;
}

static struct lst_conn_stats stats_of(const Node *node)
{
    struct lst_conn_stats stats;

    lst_conn_get_stats(node->connection->engine, &stats);
    return stats;
}

static char *get_peer(const Node *node) { return g_strdup(stats_of(node).peer); }
static char *get_subnqn(const Node *node) { return g_strdup(stats_of(node).subnqn); }
static char *get_hostnqn(const Node *node) { return g_strdup(stats_of(node).hostnqn); }
static char *get_portid(const Node *node) { return g_strdup_printf("%u", stats_of(node).portid); }
static char *get_cntlid(const Node *node) { return g_strdup_printf("%u", stats_of(node).cntlid); }
static char *get_qid(const Node *node) { return g_strdup_printf("%u", stats_of(node).qid); }

static bool set_pcap(Node *node, const char *key, const char *value, GError **error)
{
    if (value[0] && value[0] != '/') {
        return tree_refuse(error, key, value, "an absolute path, or nothing to end the capture");
    }
    return connection_capture(node->connection, value[0] ? value : NULL, error);
}

static char *get_pcap(const Node *node)
{
    return g_strdup(node->connection->pcap ? pcap_file(node->connection->pcap) : "");
}

static const NodeAttr connection_attrs[] = {
    {"pcap", set_pcap, get_pcap, false},
    {"peer", NULL, get_peer, false},     {"portid", NULL, get_portid, false},
    {"subnqn", NULL, get_subnqn, false}, {"hostnqn", NULL, get_hostnqn, false},
    {"cntlid", NULL, get_cntlid, false}, {"qid", NULL, get_qid, false},
    {NULL, NULL, NULL, false},
};
static const NodeKind connection_kind = {.what = "connection", .attrs = connection_attrs};

const NodeKind tree_connections = {
    .what = "list of connections",
    .element = &connection_kind,
    .count = connections_count,
    .name = connections_name,
    .enter = connections_enter,
    .remove = connections_remove,
    .unsaved = true,
};
