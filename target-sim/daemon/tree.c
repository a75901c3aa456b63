/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths: finding the directory or attribute, and what can be done with it.
 * Not here: what the directories hold (tree_subsys.c, tree_port.c, tree_conn.c), saving (dump.c).
 * No standard; the shape is that of Linux' nvmet configfs.
 */
#include "daemon/tree_internal.h"

#include <string.h>

/* ---- Attributes */

const NodeAttr *tree_node_attr(const Node *node, const char *key)
{
    for (const NodeAttr *attr = node->kind->attrs; attr && attr->key; attr++) {
        if (!strcmp(attr->key, key)) {
            return attr;
        }
    }
    return NULL;
}

const char *tree_node_key(const Node *node, unsigned index)
{
    const NodeKind *kind = node->kind;

    for (const NodeAttr *attr = kind->attrs; attr && attr->key; attr++) {
        if (index-- == 0) {
            return attr->key;
        }
    }
    for (unsigned i = 0; kind->engine_key && kind->engine_key(i); i++) {
        const char *key = kind->engine_key(i);

        if (!tree_node_attr(node, key) && index-- == 0) {
            return key;
        }
    }
    return NULL;
}

static bool has_key(const Node *node, const char *key)
{
    const char *known;

    for (unsigned i = 0; (known = tree_node_key(node, i)); i++) {
        if (!strcmp(known, key)) {
            return true;
        }
    }
    return false;
}

char *tree_node_get(const Node *node, const char *key, GError **error)
{
    const NodeAttr *attr = tree_node_attr(node, key);

    if (!attr) {
        return node->kind->engine_get(node, key, error);
    }
    if (!attr->get) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s: can only be set", key);
        return NULL;
    }
    return attr->get(node);
}

static bool node_set(Node *node, const char *key, const char *value, GError **error)
{
    const NodeAttr *attr = tree_node_attr(node, key);

    if (!attr) {
        return node->kind->engine_set(node, key, value, error);
    }
    if (!attr->set) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s: can only be read", key);
        return false;
    }
    return attr->set(node, key, value, error);
}

/* ---- Directories */

Node tree_node_entry(const Node *node, guint index)
{
    Node entry = *node;

    node->kind->enter(&entry, index);
    entry.kind = node->kind->element;
    return entry;
}

static char *escape(const char *name)
{
    g_auto(GStrv) percents = g_strsplit(name, "%", -1);
    g_autofree char *text = g_strjoinv("%25", percents);
    g_auto(GStrv) slashes = g_strsplit(text, "/", -1);

    return g_strjoinv("%2F", slashes);
}

static void node_names(const Node *node, GPtrArray *names)
{
    const char *key;

    for (unsigned i = 0; (key = tree_node_key(node, i)); i++) {
        g_ptr_array_add(names, g_strdup(key));
    }
    for (const NodeDir *dir = node->kind->dirs; dir && dir->name; dir++) {
        g_ptr_array_add(names, g_strdup_printf("%s/", dir->name));
    }
    for (guint i = 0; node->kind->count && i < node->kind->count(node); i++) {
        g_autofree char *name = node->kind->name(node, i);
        g_autofree char *shown = escape(name);

        g_ptr_array_add(names, g_strdup_printf("%s%s", shown, node->kind->element ? "/" : ""));
    }
}

static void say_what_there_is(const Node *node, const char *name, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) known = g_string_new(NULL);

    node_names(node, names);
    for (guint i = 0; i < names->len && i < TREE_SHOWN_MAX; i++) {
        g_string_append_printf(known, "%s%s", i ? ", " : "", (const char *)names->pdata[i]);
    }
    if (names->len > TREE_SHOWN_MAX) {
        g_string_append(known, " ...");
    }
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "no '%s' here; there is: %s", name,
                names->len ? known->str : "nothing");
}

static bool find_entry(const Node *node, const char *name, guint *index)
{
    for (guint i = 0; node->kind->count && i < node->kind->count(node); i++) {
        g_autofree char *entry = node->kind->name(node, i);

        if (!strcmp(entry, name)) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* One step down; false if @name is not a directory here. */
static bool descend(Node *node, const char *name)
{
    guint index;

    for (const NodeDir *dir = node->kind->dirs; dir && dir->name; dir++) {
        if (!strcmp(dir->name, name)) {
            node->kind = dir->kind;
            return true;
        }
    }
    if (node->kind->element && find_entry(node, name, &index)) {
        *node = tree_node_entry(node, index);
        return true;
    }
    return false;
}

static const NodeDir root_dirs[] = {
    {"hosts", &tree_hosts},
    {"ports", &tree_ports},
    {"subsystems", &tree_subsystems},
    {"connections", &tree_connections},
    {"faults", &tree_faults},
    {NULL, NULL},
};

static bool set_limit_connections(Node *node, const char *key, const char *value, GError **error)
{
    return tree_parse_id(key, value, 0, UINT32_MAX, &node->server->options.connections_max, error);
}

static char *get_limit_connections(const Node *node)
{
    return g_strdup_printf("%u", node->server->options.connections_max);
}

static bool root_set(Node *node, const char *key, const char *value, GError **error)
{
    return lst_target_set(node->server->target, key, value, error);
}

static char *root_get(const Node *node, const char *key, GError **error)
{
    return lst_target_get(node->server->target, key, error);
}

static const NodeAttr root_attrs[] = {
    {"limit_connections", set_limit_connections, get_limit_connections, false},
    {NULL, NULL, NULL, false},
};
const NodeKind tree_root = {
    .what = "target",
    .dirs = root_dirs,
    .attrs = root_attrs,
    .engine_key = lst_target_key,
    .engine_set = root_set,
    .engine_get = root_get,
};

/* The components of a path, without empty ones; NULL if one is badly escaped. */
static GPtrArray *split(const char *path, GError **error)
{
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) raw = g_strsplit(path, "/", -1);

    for (char **part = raw; *part; part++) {
        char *plain = g_uri_unescape_string(*part, NULL);

        if (!plain) {
            g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                        "'%s' is not allowed in a path: %% only as %%2F (a slash) or %%25", *part);
            return NULL;
        }
        if (plain[0]) {
            g_ptr_array_add(parts, plain);
        } else {
            g_free(plain);
        }
    }
    return g_steal_pointer(&parts);
}

/*
 * Goes down as far as the path has directories. @last: a new string, the last component, if that is
 * not a directory; NULL if it is. If @parent, the last component is not entered in any case.
 */
static bool walk(Server *server, const char *path, bool parent, Node *node, char **last,
                 GError **error)
{
    g_autoptr(GPtrArray) parts = split(path, error);

    *node = (Node){.server = server, .kind = &tree_root};
    *last = NULL;
    for (guint i = 0; parts && i < parts->len; i++) {
        bool end = i + 1 == parts->len;

        if ((parent && end) || !descend(node, parts->pdata[i])) {
            if (!end) {
                say_what_there_is(node, parts->pdata[i], error);
                return false;
            }
            *last = g_strdup(parts->pdata[i]);
        }
    }
    return parts;
}

static bool not_here(const Node *node, const char *verb, GError **error)
{
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s is not possible in a %s", verb,
                node->kind->what);
    return false;
}

/* ---- Verbs. Each has its path in front of what went wrong. */

static bool find_attribute(Server *server, const char *path, Node *node, char **key,
                           GError **error)
{
    if (!walk(server, path, false, node, key, error)) {
        return false;
    }
    if (!*key) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "a directory, not an attribute; list shows what is in it");
        return false;
    }
    if (!has_key(node, *key)) {
        say_what_there_is(node, *key, error);
        return false;
    }
    return true;
}

char *tree_get(Server *server, const char *path, GError **error)
{
    g_autofree char *key = NULL;
    char *value = NULL;
    Node node;

    if (find_attribute(server, path, &node, &key, error)) {
        value = tree_node_get(&node, key, error);
    }
    if (!value) {
        g_prefix_error(error, "%s: ", path);
    }
    return value;
}

bool tree_set(Server *server, const char *path, const char *value, GError **error)
{
    g_autofree char *key = NULL;
    Node node;
    bool ok = find_attribute(server, path, &node, &key, error) &&
              node_set(&node, key, value, error);

    if (!ok) {
        g_prefix_error(error, "%s: ", path);
    }
    return ok;
}

static bool add_entry(Server *server, const char *path, bool link, GError **error)
{
    g_autofree char *name = NULL;
    guint index;
    Node node;

    if (!walk(server, path, true, &node, &name, error)) {
        return false;
    }
    if (!name || !node.kind->add || link == (node.kind->element != NULL)) {
        return not_here(&node, link ? "link" : "mkdir", error);
    }
    if (find_entry(&node, name, &index)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "'%s' is there already", name);
        return false;
    }
    return node.kind->add(&node, name, error);
}

static bool remove_entry(Server *server, const char *path, bool link, GError **error)
{
    g_autofree char *name = NULL;
    guint index;
    Node node;

    if (!walk(server, path, true, &node, &name, error)) {
        return false;
    }
    if (!name || !node.kind->remove || link == (node.kind->element != NULL)) {
        return not_here(&node, link ? "unlink" : "rmdir", error);
    }
    if (!find_entry(&node, name, &index)) {
        say_what_there_is(&node, name, error);
        return false;
    }
    return node.kind->remove(&node, index, error);
}

static bool with_path(bool ok, const char *path, GError **error)
{
    if (!ok) {
        g_prefix_error(error, "%s: ", path);
    }
    return ok;
}

bool tree_mkdir(Server *server, const char *path, GError **error)
{
    return with_path(add_entry(server, path, false, error), path, error);
}

bool tree_rmdir(Server *server, const char *path, GError **error)
{
    return with_path(remove_entry(server, path, false, error), path, error);
}

bool tree_link(Server *server, const char *path, GError **error)
{
    return with_path(add_entry(server, path, true, error), path, error);
}

bool tree_unlink(Server *server, const char *path, GError **error)
{
    return with_path(remove_entry(server, path, true, error), path, error);
}

bool tree_list(Server *server, const char *path, GPtrArray *names, GError **error)
{
    g_autofree char *last = NULL;
    Node node;
    bool ok = walk(server, path, false, &node, &last, error);

    if (ok && last) {
        say_what_there_is(&node, last, error);
        ok = false;
    }
    if (ok) {
        node_names(&node, names);
    }
    return with_path(ok, path, error);
}
