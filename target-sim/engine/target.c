/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target itself: its making and end, its time, its limits.
 * Not here: what it consists of (subsys.c, ns.c, port.c, ctrl.c, conn.c).
 * No standard.
 */
#include "engine/ctrl.h"

struct lst_target *lst_target_new(const struct lst_front_ops *ops, void *front, uint64_t seed)
{
    struct lst_target *target = g_new0(struct lst_target, 1);

    g_assert(ops->io_submit);
    target->ops = *ops;
    target->front = front;
    target->seed = seed;
    target->generation = seed;
    lst_timers_init(&target->timers);
    target->subsystems = g_ptr_array_new();
    target->by_nqn = g_hash_table_new(g_str_hash, g_str_equal);
    target->ports = g_ptr_array_new();
    target->discovery = lst_subsys_new(target, NVF_DISCOVERY_NQN, true);
    g_queue_init(&target->conns);
    g_queue_init(&target->ctrls);
    target->genctr = 1;
    target->handshake_s = LST_HANDSHAKE_S;
    return target;
}

void lst_target_free(struct lst_target *target)
{
    g_assert(g_queue_is_empty(&target->conns));
    g_assert(g_queue_is_empty(&target->ctrls));
    for (unsigned i = 0; i < target->ports->len; i++) {
        lst_port_free(g_ptr_array_index(target->ports, i));
    }
    for (unsigned i = 0; i < target->subsystems->len; i++) {
        lst_subsys_free(g_ptr_array_index(target->subsystems, i));
    }
    lst_subsys_free(target->discovery);
    lst_faults_free(target);
    g_ptr_array_free(target->ports, TRUE);
    g_ptr_array_free(target->subsystems, TRUE);
    g_hash_table_destroy(target->by_nqn);
    lst_timers_destroy(&target->timers);
    lst_pool_destroy(&target->pool);
    lst_stats_free(target->ended);
    g_free(target);
}

static bool ctrl_of_port(const struct lst_ctrl *ctrl, const void *key)
{
    return ctrl->port == key;
}

void lst_target_remove_port(struct lst_target *target, struct lst_port *port)
{
    lst_ctrls_drop(target, ctrl_of_port, port);
    lst_conns_forget_port(target, port);
    g_ptr_array_remove(target->ports, port);
    lst_port_free(port);
    lst_discovery_changed(target);
}

void lst_target_tick(struct lst_target *target, uint64_t now_ns)
{
    if (now_ns > target->now_ns) {
        target->now_ns = now_ns;
    }
    if (!target->started) {
        target->started = true;
        target->start_ns = target->now_ns;
    }
    lst_timers_run(&target->timers, target->now_ns);
}

uint64_t lst_target_next_deadline(const struct lst_target *target)
{
    return lst_timers_next(&target->timers);
}

uint64_t lst_target_genctr(const struct lst_target *target)
{
    return target->genctr;
}

/* ---- Limits */

static bool set_handshake(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_uint(key, value, 1, LST_HANDSHAKE_MAX_S,
                          &((struct lst_target *)object)->handshake_s, err);
}

static char *get_handshake(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_target *)object)->handshake_s);
}

static bool set_idle(void *object, const char *key, const char *value, GError **err)
{
    struct lst_target *target = object;

    if (!lst_parse_uint(key, value, 0, LST_IDLE_MAX_S, &target->idle_s, err)) {
        return false;
    }
    for (GList *node = target->ctrls.head; node; node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        lst_keepalive_start(ctrl, ctrl->kato_ms);
    }
    return true;
}

static char *get_idle(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_target *)object)->idle_s);
}

static bool set_memory(void *object, const char *key, const char *value, GError **err)
{
    guint64 bytes;

    if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, &bytes, NULL)) {
        return lst_bad_value(err, key, value, "a number of bytes, or 0 for no limit");
    }
    ((struct lst_target *)object)->memory_limit = bytes;
    return true;
}

static char *get_memory(const void *object)
{
    return g_strdup_printf("%" G_GUINT64_FORMAT,
                           (guint64)((const struct lst_target *)object)->memory_limit);
}

static const struct lst_attr target_attrs[] = {
    { "limit_handshake", set_handshake, get_handshake },
    { "limit_idle", set_idle, get_idle },
    { "limit_memory", set_memory, get_memory },
};

bool lst_target_set(struct lst_target *target, const char *key, const char *value, GError **err)
{
    return lst_attr_set(target_attrs, G_N_ELEMENTS(target_attrs), target, key, value, err);
}

char *lst_target_get(const struct lst_target *target, const char *key, GError **err)
{
    return lst_attr_get(target_attrs, G_N_ELEMENTS(target_attrs), target, key, err);
}

const char *lst_target_key(unsigned index)
{
    return index < G_N_ELEMENTS(target_attrs) ? target_attrs[index].key : NULL;
}
