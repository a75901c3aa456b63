/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ports/ with their subsystems and ANA groups.
 * Not here: referrals (tree_referral.c), sockets (listener.h), paths (tree.c). Names as in Linux'
 * nvmet configfs.
 */
#include "daemon/tree_internal.h"

#include <string.h>

#include "daemon/setup.h"

static struct lst_port *engine_port(Server *server, const ConfigPort *port)
{
    return lst_target_find_port(server->target, port->portid);
}

struct lst_port *tree_port(const Node *node)
{
    return engine_port(node->server, node->port);
}

bool tree_port_has(Server *server, const ConfigPort *port, const struct lst_subsys *subsys)
{
    const struct lst_subsys *on_port;

    for (unsigned i = 0; (on_port = lst_port_subsys(engine_port(server, port), i)); i++) {
        if (on_port == subsys) {
            return true;
        }
    }
    return false;
}

/* ---- ports/N/subsystems/ */

static guint port_subsystems_count(const Node *node)
{
    guint count = 0;

    while (lst_port_subsys(tree_port(node), count)) {
        count++;
    }
    return count;
}

static char *port_subsystems_name(const Node *node, guint index)
{
    return g_strdup(lst_subsys_nqn(lst_port_subsys(tree_port(node), index)));
}

/* A port listens from its first subsystem to its last. */
static bool listen_on(Node *node, GError **error)
{
    ConfigPort *port = node->port;
    g_autofree char *trsvcid = NULL;

    if (server_listener(node->server, tree_port(node))) {
        return true;
    }
    if (!tree_check_family(port->adrfam, port->traddr, error) ||
        !server_listen(node->server, port, tree_port(node), error)) {
        return false;
    }
    trsvcid = g_strdup_printf("%u", port->trsvcid);
    return lst_port_set(tree_port(node), "addr_trsvcid", trsvcid, error);
}

static void stop_if_empty(Node *node)
{
    if (port_subsystems_count(node) == 0) {
        server_unlisten(node->server, tree_port(node));
    }
}

static bool port_subsystems_add(Node *node, const char *name, GError **error)
{
    struct lst_subsys *subsys = lst_target_find_subsys(node->server->target, name);

    if (!subsys) {
        return tree_refuse(error, "subsystems", name, "a subsystem that is in subsystems/");
    }
    if (listen_on(node, error) && lst_port_add_subsys(tree_port(node), subsys, error)) {
        return true;
    }
    stop_if_empty(node);
    return false;
}

static bool port_subsystems_remove(Node *node, guint index, GError **error)
{
    struct lst_port *port = tree_port(node);
    bool ok = lst_port_remove_subsys(port, lst_port_subsys(port, index), error);

    stop_if_empty(node);
    return ok;
}

static const NodeKind port_subsystems_kind = {
    .what = "list of a port's subsystems",
    .count = port_subsystems_count,
    .name = port_subsystems_name,
    .add = port_subsystems_add,
    .remove = port_subsystems_remove,
};

/* ---- ports/N/ana_groups/ */

enum { GROUP_ALWAYS = 1 };

static bool set_ana_state(Node *node, const char *key G_GNUC_UNUSED, const char *value,
                          GError **error)
{
    return lst_port_set_ana_state(tree_port(node), node->group->grpid, value, error);
}

static char *get_ana_state(const Node *node)
{
    return g_strdup(lst_port_ana_state(tree_port(node), node->group->grpid));
}

static const NodeAttr ana_group_attrs[] = {
    {"ana_state", set_ana_state, get_ana_state, true},
    {NULL, NULL, NULL, false},
};
static const NodeKind ana_group_kind = {
    .what = "ANA group", .attrs = ana_group_attrs, .id = "grpid", .id_is_number = true,
};

static guint ana_groups_count(const Node *node)
{
    return node->port->ana_groups->len;
}

static char *ana_groups_name(const Node *node, guint index)
{
    return g_strdup_printf("%u", ((ConfigAnaGroup *)node->port->ana_groups->pdata[index])->grpid);
}

static void ana_groups_enter(Node *node, guint index)
{
    node->group = node->port->ana_groups->pdata[index];
}

static void add_group(ConfigPort *port, uint32_t grpid)
{
    ConfigAnaGroup *group = config_ana_group_new();

    group->grpid = grpid;
    g_ptr_array_add(port->ana_groups, group);
}

static bool ana_groups_add(Node *node, const char *name, GError **error)
{
    uint32_t grpid;

    if (!tree_parse_id("grpid", name, 1, LST_ANA_GROUPS_MAX, &grpid, error)) {
        return false;
    }
    add_group(node->port, grpid);
    return true;
}

/* Without a directory a group is in the state that every group begins with. */
static bool ana_groups_remove(Node *node, guint index, GError **error)
{
    ana_groups_enter(node, index);
    if (node->group->grpid == GROUP_ALWAYS) {
        return tree_refuse(error, "grpid", "1", "group 1 is always there");
    }
    if (!lst_port_set_ana_state(tree_port(node), node->group->grpid, config_ana_states[0].name,
                                error)) {
        return false;
    }
    g_ptr_array_remove_index(node->port->ana_groups, index);
    return true;
}

static const NodeKind ana_groups_kind = {
    .what = "list of ANA groups",
    .element = &ana_group_kind,
    .count = ana_groups_count,
    .name = ana_groups_name,
    .enter = ana_groups_enter,
    .add = ana_groups_add,
    .remove = ana_groups_remove,
};

/* ---- ports/N */

/*
 * An address changes only while nothing is reached through it; a port that listens for discovery
 * alone, as a configuration file can have it, then ends to do so.
 */
static bool may_move(const Node *node, const char *key, const char *value, GError **error)
{
    if (port_subsystems_count(node)) {
        return tree_refuse(error, key, value, "only while the port has no subsystem");
    }
    return true;
}

/* What discovery entries say. */
static bool show_address(const Node *node, GError **error)
{
    const ConfigPort *port = node->port;

    return lst_port_set(tree_port(node), "addr_traddr",
                        port->advertise ? port->advertise : port->traddr, error);
}

static bool set_adrfam(Node *node, const char *key, const char *value, GError **error)
{
    if (!may_move(node, key, value, error) ||
        !tree_set_name(config_adrfams, &node->port->adrfam, key, value, error)) {
        return false;
    }
    server_unlisten(node->server, tree_port(node));
    return lst_port_set(tree_port(node), key, value, error);
}

static char *get_adrfam(const Node *node)
{
    return g_strdup(parse_name_of(config_adrfams, node->port->adrfam));
}

static bool set_traddr(Node *node, const char *key, const char *value, GError **error)
{
    if (!may_move(node, key, value, error) || !tree_check_address(key, value, error)) {
        return false;
    }
    server_unlisten(node->server, tree_port(node));
    tree_replace(&node->port->traddr, value);
    return show_address(node, error);
}

static char *get_traddr(const Node *node)
{
    return g_strdup(node->port->traddr);
}

static bool set_trsvcid(Node *node, const char *key, const char *value, GError **error)
{
    if (!may_move(node, key, value, error) ||
        !tree_parse_id(key, value, 0, UINT16_MAX, &node->port->trsvcid, error)) {
        return false;
    }
    server_unlisten(node->server, tree_port(node));
    /* 0, any free one: it is told when it is known. */
    return !node->port->trsvcid || lst_port_set(tree_port(node), key, value, error);
}

static char *get_trsvcid(const Node *node)
{
    return g_strdup_printf("%u", node->port->trsvcid);
}

static bool set_advertise(Node *node, const char *key, const char *value, GError **error)
{
    if (value[0] && !config_address_valid(node->port->adrfam, value)) {
        return tree_refuse(error, key, value,
                           "a numeric address of the family of addr_adrfam, or nothing");
    }
    tree_replace(&node->port->advertise, value[0] ? value : NULL);
    return show_address(node, error);
}

static char *get_advertise(const Node *node)
{
    return g_strdup(node->port->advertise ? node->port->advertise : "");
}

static const NodeAttr port_attrs[] = {
    {"addr_adrfam", set_adrfam, get_adrfam, true},
    {"addr_traddr", set_traddr, get_traddr, true},
    {"addr_trsvcid", set_trsvcid, get_trsvcid, true},
    {"lockstep_advertise", set_advertise, get_advertise, true},
    {NULL, NULL, NULL, false},
};

static bool port_set(Node *node, const char *key, const char *value, GError **error)
{
    return lst_port_set(tree_port(node), key, value, error);
}

static char *port_get(const Node *node, const char *key, GError **error)
{
    return lst_port_get(tree_port(node), key, error);
}

static const NodeDir port_dirs[] = {
    {"ana_groups", &ana_groups_kind},
    {"referrals", &tree_referrals},
    {"subsystems", &port_subsystems_kind},
    {NULL, NULL},
};
static const NodeKind port_kind = {
    .what = "port",
    .dirs = port_dirs,
    .attrs = port_attrs,
    .engine_key = lst_port_key,
    .engine_set = port_set,
    .engine_get = port_get,
    .id = "portid",
    .id_is_number = true,
};

static guint ports_count(const Node *node)
{
    return node->server->config->ports->len;
}

static char *ports_name(const Node *node, guint index)
{
    return g_strdup_printf("%u", ((ConfigPort *)node->server->config->ports->pdata[index])->portid);
}

static void ports_enter(Node *node, guint index)
{
    node->port = node->server->config->ports->pdata[index];
}

static void add_always(ConfigPort *port)
{
    for (guint i = 0; i < port->ana_groups->len; i++) {
        if (((ConfigAnaGroup *)port->ana_groups->pdata[i])->grpid == GROUP_ALWAYS) {
            return;
        }
    }
    add_group(port, GROUP_ALWAYS);
}

void tree_init(Config *config)
{
    for (guint i = 0; i < config->ports->len; i++) {
        add_always(config->ports->pdata[i]);
    }
}

static bool ports_add(Node *node, const char *name, GError **error)
{
    GPtrArray *ports = node->server->config->ports;
    ConfigPort *port = config_port_new();

    port->traddr = g_strdup("127.0.0.1");
    port->trsvcid = 4420;
    add_always(port);
    g_ptr_array_add(ports, port);
    if (!tree_parse_id("portid", name, 0, UINT16_MAX, &port->portid, error) ||
        !setup_add_port(node->server->target, port, error)) {
        g_ptr_array_remove_index(ports, ports->len - 1);
        return false;
    }
    return true;
}

static bool ports_remove(Node *node, guint index, GError **error)
{
    ports_enter(node, index);
    if (port_subsystems_count(node)) {
        g_autofree char *name = port_subsystems_name(node, 0);

        return tree_in_use("unlink subsystem", name, error);
    }
    if (node->port->referrals->len) {
        g_autofree char *name = tree_referrals.name(node, 0);

        return tree_in_use("rmdir referral", name, error);
    }
    server_unlisten(node->server, tree_port(node));
    lst_target_remove_port(node->server->target, tree_port(node));
    g_ptr_array_remove_index(node->server->config->ports, index);
    return true;
}

const NodeKind tree_ports = {
    .what = "list of ports",
    .element = &port_kind,
    .count = ports_count,
    .name = ports_name,
    .enter = ports_enter,
    .add = ports_add,
    .remove = ports_remove,
};
