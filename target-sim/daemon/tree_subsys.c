/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hosts/, and subsystems/ with their allowed hosts.
 * Not here: namespaces (tree_ns.c), ports (tree_port.c), paths (tree.c). Names as in Linux' nvmet
 * configfs.
 */
#include "daemon/tree_internal.h"

#include <string.h>

#include "daemon/setup.h"

struct lst_subsys *tree_subsys(const Node *node)
{
    return lst_target_find_subsys(node->server->target, node->subsystem->nqn);
}

/* A configuration file could not hold anything else. */
static bool nqn_valid(const char *name, GError **error)
{
    size_t length = strlen(name);

    for (const char *at = name; *at; at++) {
        length = *at < 0x20 || *at > 0x7e ? 0 : length;
    }
    if (length < 1 || length > CONFIG_NQN_MAX) {
        return tree_refuse(error, "nqn", name, "1 to 223 printable ASCII characters");
    }
    return true;
}

/* ---- hosts/ */

static guint hosts_count(const Node *node)
{
    return node->server->config->hosts->len;
}

static char *hosts_name(const Node *node, guint index)
{
    return g_strdup(((ConfigHost *)node->server->config->hosts->pdata[index])->nqn);
}

static void hosts_enter(Node *node, guint index)
{
    node->host = node->server->config->hosts->pdata[index];
}

static bool hosts_add(Node *node, const char *name, GError **error)
{
    ConfigHost *host;

    if (!nqn_valid(name, error)) {
        return false;
    }
    if (hosts_count(node) >= TREE_HOSTS_MAX) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "'%s' is one too many: %d hosts at most", name, TREE_HOSTS_MAX);
        return false;
    }
    host = config_host_new();
    host->nqn = g_strdup(name);
    g_ptr_array_add(node->server->config->hosts, host);
    return true;
}

static bool host_allowed_in(struct lst_subsys *subsys, const char *nqn)
{
    const char *host;

    for (unsigned i = 0; (host = lst_subsys_host(subsys, i)); i++) {
        if (!strcmp(host, nqn)) {
            return true;
        }
    }
    return false;
}

static bool hosts_remove(Node *node, guint index, GError **error)
{
    Config *config = node->server->config;
    const ConfigHost *host = config->hosts->pdata[index];

    for (guint i = 0; i < config->subsystems->len; i++) {
        const ConfigSubsystem *subsystem = config->subsystems->pdata[i];

        if (host_allowed_in(lst_target_find_subsys(node->server->target, subsystem->nqn),
                            host->nqn)) {
            return tree_in_use("unlink it from the allowed_hosts of", subsystem->nqn, error);
        }
    }
    g_ptr_array_remove_index(config->hosts, index);
    return true;
}

static const NodeKind host_kind = {.what = "host", .id = "nqn"};

const NodeKind tree_hosts = {
    .what = "list of hosts",
    .element = &host_kind,
    .count = hosts_count,
    .name = hosts_name,
    .enter = hosts_enter,
    .add = hosts_add,
    .remove = hosts_remove,
};

/* ---- subsystems/NQN/allowed_hosts/ */

static guint allowed_count(const Node *node)
{
    guint count = 0;

    while (lst_subsys_host(tree_subsys(node), count)) {
        count++;
    }
    return count;
}

static char *allowed_name(const Node *node, guint index)
{
    return g_strdup(lst_subsys_host(tree_subsys(node), index));
}

static bool allowed_add(Node *node, const char *name, GError **error)
{
    const GPtrArray *hosts = node->server->config->hosts;

    for (guint i = 0; i < hosts->len; i++) {
        if (!strcmp(((ConfigHost *)hosts->pdata[i])->nqn, name)) {
            return lst_subsys_allow_host(tree_subsys(node), name, error);
        }
    }
    return tree_refuse(error, "allowed_hosts", name, "a host that is in hosts/");
}

static bool allowed_remove(Node *node, guint index, GError **error)
{
    g_autofree char *name = allowed_name(node, index);

    return lst_subsys_disallow_host(tree_subsys(node), name, error);
}

static const NodeKind allowed_hosts_kind = {
    .what = "list of allowed hosts",
    .count = allowed_count,
    .name = allowed_name,
    .add = allowed_add,
    .remove = allowed_remove,
};

/* ---- subsystems/NQN */

static bool subsystem_set(Node *node, const char *key, const char *value, GError **error)
{
    return lst_subsys_set(tree_subsys(node), key, value, error);
}

static char *subsystem_get(const Node *node, const char *key, GError **error)
{
    return lst_subsys_get(tree_subsys(node), key, error);
}

static const NodeDir subsystem_dirs[] = {
    {"allowed_hosts", &allowed_hosts_kind},
    {"namespaces", &tree_namespaces},
    {NULL, NULL},
};

static const NodeKind subsystem_kind = {
    .what = "subsystem",
    .dirs = subsystem_dirs,
    .engine_key = lst_subsys_key,
    .engine_set = subsystem_set,
    .engine_get = subsystem_get,
    .id = "nqn",
};

static guint subsystems_count(const Node *node)
{
    return node->server->config->subsystems->len;
}

static char *subsystems_name(const Node *node, guint index)
{
    return g_strdup(((ConfigSubsystem *)node->server->config->subsystems->pdata[index])->nqn);
}

static void subsystems_enter(Node *node, guint index)
{
    node->subsystem = node->server->config->subsystems->pdata[index];
}

static bool subsystems_add(Node *node, const char *name, GError **error)
{
    ConfigSubsystem *subsystem;

    if (!nqn_valid(name, error)) {
        return false;
    }
    subsystem = config_subsystem_new();
    subsystem->nqn = g_strdup(name);
    config_derive_identifiers(subsystem);
    g_ptr_array_add(node->server->config->subsystems, subsystem);
    if (!setup_add_subsystem(node->server->target, subsystem, error)) {
        g_ptr_array_remove(node->server->config->subsystems, subsystem);
        return false;
    }
    return true;
}

static bool subsystems_remove(Node *node, guint index, GError **error)
{
    const GPtrArray *ports = node->server->config->ports;

    subsystems_enter(node, index);
    if (node->subsystem->namespaces->len) {
        g_autofree char *name = tree_namespaces.name(node, 0);

        return tree_in_use("rmdir namespace", name, error);
    }
    if (allowed_count(node)) {
        g_autofree char *name = allowed_name(node, 0);

        return tree_in_use("unlink allowed host", name, error);
    }
    for (guint i = 0; i < ports->len; i++) {
        const ConfigPort *port = ports->pdata[i];

        if (tree_port_has(node->server, port, tree_subsys(node))) {
            g_autofree char *name = g_strdup_printf("%u", port->portid);

            return tree_in_use("unlink it from port", name, error);
        }
    }
    lst_target_remove_subsys(node->server->target, tree_subsys(node));
    g_ptr_array_remove_index(node->server->config->subsystems, index);
    return true;
}

const NodeKind tree_subsystems = {
    .what = "list of subsystems",
    .element = &subsystem_kind,
    .count = subsystems_count,
    .name = subsystems_name,
    .enter = subsystems_enter,
    .add = subsystems_add,
    .remove = subsystems_remove,
};
