/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree as a configuration file: the reverse of what a start does with one.
 * Not here: which directories and attributes there are (tree_*.c). The form is that of
 * `nvmetcli save`: "attr_serial" becomes {"attr": {"serial": ...}}.
 */
#include "daemon/tree_internal.h"

#include <string.h>

/*
 * Groups of attributes that a file has under one key, and that key; the first that fits counts. What
 * is not in a group, such as "enable", is a key by itself.
 */
static const struct {
    const char *prefix, *group;
    size_t cut; /* bytes of the attribute's name that the key has not */
} groups[] = {
    /* Ours, though they are called as theirs. */
    {"attr_controller_model", "lockstep", sizeof("attr_") - 1},
    {"attr_max_queue_size", "lockstep", sizeof("attr_") - 1},
#define GROUP(prefix, name) {prefix, name, sizeof(prefix) - 1}
    GROUP("addr_", "addr"),
    GROUP("ana_", "ana"),
    GROUP("attr_", "attr"),
    GROUP("device_", "device"),
    GROUP("lockstep_", "lockstep"),
    GROUP("param_", "param"),
    GROUP("resv_", "resv"),
    GROUP("tcp_", "lockstep"),
#undef GROUP
};

static JsonObject *group_of(JsonObject *object, const char *name)
{
    if (!json_object_has_member(object, name)) {
        json_object_set_object_member(object, name, json_object_new());
    }
    return json_object_get_object_member(object, name);
}

static void add_value(JsonObject *object, const char *key, const char *value)
{
    for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
        if (g_str_has_prefix(key, groups[i].prefix)) {
            json_object_set_string_member(group_of(object, groups[i].group),
                                          key + groups[i].cut, value);
            return;
        }
    }
    json_object_set_string_member(object, key, value);
}

static void add_attributes(JsonObject *object, const Node *node)
{
    const char *key;

    for (unsigned i = 0; (key = tree_node_key(node, i)); i++) {
        const NodeAttr *attr = tree_node_attr(node, key);
        g_autofree char *value = !attr || attr->saved ? tree_node_get(node, key, NULL) : NULL;

        /* An empty value stands for what a file leaves out. */
        if (value && value[0]) {
            add_value(object, key, value);
        }
    }
}

static void add_directory(JsonObject *object, const char *name, const Node *node);

static JsonObject *entry_object(const Node *entry, const char *name)
{
    JsonObject *object = json_object_new();
    const NodeKind *kind = entry->kind;

    if (kind->id_is_number) {
        json_object_set_int_member(object, kind->id, g_ascii_strtoll(name, NULL, 10));
    } else {
        json_object_set_string_member(object, kind->id, name);
    }
    add_attributes(object, entry);
    for (const NodeDir *dir = kind->dirs; dir && dir->name; dir++) {
        Node below = *entry;

        below.kind = dir->kind;
        add_directory(object, dir->name, &below);
    }
    return object;
}

static void add_directory(JsonObject *object, const char *name, const Node *node)
{
    const NodeKind *kind = node->kind;
    JsonArray *array;

    if (kind->unsaved) {
        return;
    }
    array = json_array_new();
    for (guint i = 0; i < kind->count(node); i++) {
        g_autofree char *entry_name = kind->name(node, i);

        if (kind->element) {
            Node entry = tree_node_entry(node, i);

            if (!entry.kind->incomplete || !entry.kind->incomplete(&entry)) {
                json_array_add_object_element(array, entry_object(&entry, entry_name));
            }
        } else {
            json_array_add_string_element(array, entry_name);
        }
    }
    json_object_set_array_member(object, name, array);
}

JsonNode *tree_dump(Server *server)
{
    JsonObject *object = json_object_new();
    JsonNode *node;

    for (const NodeDir *dir = tree_root.dirs; dir->name; dir++) {
        Node top = {.server = server, .kind = dir->kind};

        add_directory(object, dir->name, &top);
    }
    node = json_node_init_object(json_node_alloc(), object);
    json_object_unref(object);
    return node;
}
