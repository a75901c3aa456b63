/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults/: the rules by which the target misbehaves, in their order, by name.
 * Not here: what a rule does (engine/fault.h), paths (tree.c). No standard: nvmet has none.
 */
#include "daemon/tree_internal.h"

#include <string.h>

#include "engine/fault.h"

/* The engine's list has no numbers. */
typedef struct Walk {
    guint wanted;
    guint count;
    struct lst_fault *found;
} Walk;

static void step(void *opaque, struct lst_fault *fault)
{
    Walk *walk = opaque;

    if (walk->count++ == walk->wanted) {
        walk->found = fault;
    }
}

static guint faults_count(const Node *node)
{
    Walk walk = {.wanted = G_MAXUINT};

    lst_target_each_fault(node->server->target, step, &walk);
    return walk.count;
}

static void faults_enter(Node *node, guint index)
{
    Walk walk = {.wanted = index};

    lst_target_each_fault(node->server->target, step, &walk);
    node->fault = walk.found;
}

/* A rule without a name has its number. */
static char *faults_name(const Node *node, guint index)
{
    Node entry = *node;
    g_autofree char *name = NULL;

    faults_enter(&entry, index);
    name = lst_fault_get(entry.fault, "name", NULL);
    return name && name[0] ? g_steal_pointer(&name) : g_strdup_printf("%u", index + 1);
}

static bool faults_add(Node *node, const char *name, GError **error)
{
    struct lst_fault *fault = lst_target_add_fault(node->server->target, error);

    if (!fault || !lst_fault_set(fault, "name", name, error)) {
        if (fault) {
            lst_target_remove_fault(node->server->target, fault);
        }
        return false;
    }
    return true;
}

static bool faults_remove(Node *node, guint index, GError **error G_GNUC_UNUSED)
{
    faults_enter(node, index);
    lst_target_remove_fault(node->server->target, node->fault);
    return true;
}

static const char *fault_key(unsigned index)
{
    return lst_fault_keys()[index];
}

static bool fault_set(Node *node, const char *key, const char *value, GError **error)
{
    return lst_fault_set(node->fault, key, value, error);
}

static char *fault_get(const Node *node, const char *key, GError **error)
{
    return lst_fault_get(node->fault, key, error);
}

static char *get_seen(const Node *node)
{
    uint64_t seen, fired;

    lst_fault_counts(node->fault, &seen, &fired);
    return g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)seen);
}

static char *get_fired(const Node *node)
{
    uint64_t seen, fired;

    lst_fault_counts(node->fault, &seen, &fired);
    return g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)fired);
}

static const NodeAttr fault_attrs[] = {
    {"seen", NULL, get_seen, false},
    {"fired", NULL, get_fired, false},
    {NULL, NULL, NULL, false},
};

static const NodeKind fault_kind = {
    .what = "fault",
    .attrs = fault_attrs,
    .engine_key = fault_key,
    .engine_set = fault_set,
    .engine_get = fault_get,
    .id = "name",
};

const NodeKind tree_faults = {
    .what = "list of faults",
    .element = &fault_kind,
    .count = faults_count,
    .name = faults_name,
    .enter = faults_enter,
    .add = faults_add,
    .remove = faults_remove,
};
