/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subsystems/NQN/namespaces/: namespaces, their devices, and how these change under I/O.
 * Not here: the devices (backend.h), paths (tree.c). Names as in Linux' nvmet configfs.
 */
#include "daemon/tree_internal.h"

#include <inttypes.h>

#include "daemon/backend.h"
#include "daemon/setup.h"

static struct lst_ns *ns_of(const Node *node)
{
    return lst_subsys_find_ns(tree_subsys(node), node->ns->nsid);
}

static Backend *backend_of(const Node *node)
{
    return lst_ns_backend(ns_of(node));
}

static void close_backend(void *backend)
{
    backend_close(backend);
}

/* The namespace goes; its backend is closed when the last command that uses it is done. */
static void drop_namespace(Node *node)
{
    GPtrArray *backends = node->server->backends;
    Backend *backend = backend_of(node);
    guint index;

    if (backend && g_ptr_array_find(backends, backend, &index)) {
        g_ptr_array_steal_index_fast(backends, index);
    }
    lst_subsys_remove_ns(tree_subsys(node), ns_of(node), backend ? close_backend : NULL);
}

/* The same namespace without its backend: commands may still be at that. */
static void detach(Node *node)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    struct lst_ns *ns = ns_of(node);
    const char *key;

    for (unsigned i = 0; (key = lst_ns_key(i)); i++) {
        g_ptr_array_add(values, lst_ns_get(ns, key, NULL));
    }
    drop_namespace(node);
    ns = lst_subsys_add_ns(tree_subsys(node), node->ns->nsid, NULL);
    for (unsigned i = 0; (key = lst_ns_key(i)); i++) {
        lst_ns_set(ns, key, values->pdata[i], NULL);
    }
}

static bool set_device_path(Node *node, const char *key, const char *value, GError **error)
{
    ConfigDevice device;
    const char *why;

    if (lst_ns_enabled(ns_of(node))) {
        return tree_refuse(error, key, value, "only while enable is 0");
    }
    if (!config_device_parse(value, &device, &why)) {
        return tree_refuse(error, key, value, why);
    }
    if (backend_of(node)) {
        detach(node);
    }
    config_device_clear(&node->ns->device);
    node->ns->device = device;
    return true;
}

static char *get_device_path(const Node *node)
{
    return config_device_format(&node->ns->device);
}

/* @size: 0: what the device has become by itself. */
static bool resize(Node *node, uint64_t size, GError **error)
{
    Backend *backend = backend_of(node);

    if (!backend_resize(backend, size, error) ||
        !lst_ns_attach(ns_of(node), backend, backend->size, backend->block_size, error)) {
        return false;
    }
    node->ns->device.size = backend->size;
    return true;
}

static bool set_device_size(Node *node, const char *key, const char *value, GError **error)
{
    uint64_t size;

    if (!parse_size(value, &size) || size == 0) {
        return tree_refuse(error, key, value, "a size over 0 with suffix K, M, G or T");
    }
    if (!backend_of(node)) {
        return tree_refuse(error, key, value, "only after enable was set to 1");
    }
    return resize(node, size, error);
}

static char *get_device_size(const Node *node)
{
    const Backend *backend = backend_of(node);

    return g_strdup_printf("%" PRIu64, backend ? backend->size : node->ns->device.size);
}

static bool set_revalidate_size(Node *node, const char *key, const char *value, GError **error)
{
    bool now;

    if (!tree_parse_bool(key, value, &now, error)) {
        return false;
    }
    if (!lst_ns_enabled(ns_of(node))) {
        return tree_refuse(error, key, value, "only while enable is 1");
    }
    return !now || resize(node, 0, error);
}

static bool set_enable(Node *node, const char *key, const char *value, GError **error)
{
    struct lst_ns *ns = ns_of(node);
    bool enable;

    if (!tree_parse_bool(key, value, &enable, error)) {
        return false;
    }
    if (!enable || lst_ns_enabled(ns)) {
        return lst_ns_enable(ns, enable, error);
    }
    if (backend_of(node)) {
        return resize(node, 0, error) && setup_zones(ns, node->ns, error) &&
               lst_ns_enable(ns, true, error);
    }
    if (node->ns->device.backend == CONFIG_BACKEND_FILE && !node->ns->device.path) {
        return tree_refuse(error, key, value, "only after device_path was set");
    }
    return setup_open_namespace(ns, node->ns, node->server->backends,
                                node->server->delay, error) &&
           lst_ns_enable(ns, true, error);
}

static char *get_enable(const Node *node)
{
    return g_strdup(lst_ns_enabled(ns_of(node)) ? "1" : "0");
}

/* A drive may have commands in it: it goes with its device only. */
static bool set_media(Node *node, const char *key, const char *value, GError **error)
{
    g_autofree char *why = NULL;

    if (backend_of(node)) {
        return tree_refuse(error, key, value,
                           "only before enable is 1, or after device_path was set again");
    }
    return media_config_parse(value, &node->ns->media, &why) ||
           tree_refuse(error, key, value, why);
}

static char *get_media(const Node *node)
{
    return media_config_format(&node->ns->media);
}

static bool set_zoned(Node *node, const char *key, const char *value, GError **error)
{
    g_autofree char *why = NULL;

    if (backend_of(node)) {
        return tree_refuse(error, key, value,
                           "only before enable is 1, or after device_path was set again");
    }
    return zone_config_parse(value, &node->ns->zoned, &why) ||
           tree_refuse(error, key, value, why);
}

static char *get_zoned(const Node *node)
{
    return zone_config_format(&node->ns->zoned);
}

/* "NUMBER STATE": what a fault of the medium would do to a zone. */
static bool set_zone_state(Node *node, const char *key, const char *value, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(value, " ", 2);
    uint64_t zone;

    if (g_strv_length(parts) != 2 || !parse_uint(parts[0], 0, ZONE_COUNT_MAX, &zone)) {
        return tree_refuse(error, key, value, "a zone's number and full, read-only or offline");
    }
    return lst_ns_set_zone_state(ns_of(node), (uint32_t)zone, parts[1], error);
}

static const NodeAttr namespace_attrs[] = {
    {"device_path", set_device_path, get_device_path, true},
    {"device_size", set_device_size, get_device_size, false},
    {"enable", set_enable, get_enable, true},
    {"lockstep_media", set_media, get_media, true},
    {"lockstep_zone_state", set_zone_state, NULL, false},
    {"lockstep_zoned", set_zoned, get_zoned, true},
    {"revalidate_size", set_revalidate_size, NULL, false},
    {NULL, NULL, NULL, false},
};

static bool namespace_set(Node *node, const char *key, const char *value, GError **error)
{
    return lst_ns_set(ns_of(node), key, value, error);
}

static char *namespace_get(const Node *node, const char *key, GError **error)
{
    return lst_ns_get(ns_of(node), key, error);
}

static bool namespace_incomplete(const Node *node)
{
    return node->ns->device.backend == CONFIG_BACKEND_FILE && !node->ns->device.path;
}

static const NodeKind namespace_kind = {
    .what = "namespace",
    .attrs = namespace_attrs,
    .engine_key = lst_ns_key,
    .engine_set = namespace_set,
    .engine_get = namespace_get,
    .id = "nsid",
    .id_is_number = true,
    .incomplete = namespace_incomplete,
};

static guint namespaces_count(const Node *node)
{
    return node->subsystem->namespaces->len;
}

static char *namespaces_name(const Node *node, guint index)
{
    const ConfigNamespace *ns = node->subsystem->namespaces->pdata[index];

    return g_strdup_printf("%u", ns->nsid);
}

static void namespaces_enter(Node *node, guint index)
{
    node->ns = node->subsystem->namespaces->pdata[index];
}

static bool namespaces_add(Node *node, const char *name, GError **error)
{
    GPtrArray *namespaces = node->subsystem->namespaces;
    ConfigNamespace *ns = config_namespace_new();

    ns->enable = 0;
    ns->device.backend = CONFIG_BACKEND_FILE; /* without a path: none yet */
    g_ptr_array_add(namespaces, ns);
    if (tree_parse_id("nsid", name, 1, LST_NSID_MAX, &ns->nsid, error)) {
        config_derive_identifiers(node->subsystem);
        if (setup_add_namespace(tree_subsys(node), ns, error)) {
            return true;
        }
    }
    g_ptr_array_remove_index(namespaces, namespaces->len - 1);
    return false;
}

static bool namespaces_remove(Node *node, guint index, GError **error G_GNUC_UNUSED)
{
    namespaces_enter(node, index);
    drop_namespace(node);
    g_ptr_array_remove_index(node->subsystem->namespaces, index);
    return true;
}

const NodeKind tree_namespaces = {
    .what = "list of namespaces",
    .element = &namespace_kind,
    .count = namespaces_count,
    .name = namespaces_name,
    .enter = namespaces_enter,
    .add = namespaces_add,
    .remove = namespaces_remove,
};
