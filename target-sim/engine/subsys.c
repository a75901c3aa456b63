/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subsystems: their attributes and the hosts they let in.
 * Not here: their namespaces (ns.c), their controllers (ctrl.c), where they are reached (port.c).
 * NVM Express Base 2.0, chapter 2; attribute names as in Linux's nvmet configfs.
 */
#include "engine/ctrl.h"

#include <stdio.h>
#include <string.h>

struct lst_subsys *lst_subsys_new(struct lst_target *target, const char *nqn, bool discovery)
{
    struct lst_subsys *subsys = g_new0(struct lst_subsys, 1);
    uint8_t hash[10];

    subsys->target = target;
    subsys->nqn = g_strdup(nqn);
    subsys->discovery = discovery;
    subsys->allow_any_host = discovery;
    lst_hash_bytes(nqn, 0, hash, sizeof(hash));
    subsys->serial = g_malloc0(2 * sizeof(hash) + 1);
    for (unsigned i = 0; i < sizeof(hash); i++) {
        snprintf(subsys->serial + 2 * i, 3, "%02x", hash[i]);
    }
    subsys->model = g_strdup("Lockstep target");
    subsys->firmware = g_strdup("1.0");
    subsys->version = NV_VS(2, 0, 0);
    subsys->cntlid_min = 1;
    subsys->cntlid_max = NV_CNTLID_MAX;
    subsys->next_cntlid = 1;
    subsys->qid_max = discovery ? 0 : LST_QID_DEFAULT;
    subsys->hosts = g_ptr_array_new_with_free_func(g_free);
    subsys->ctrls = g_hash_table_new(NULL, NULL);
    return subsys;
}

void lst_subsys_free(struct lst_subsys *subsys)
{
    g_assert(g_hash_table_size(subsys->ctrls) == 0);
    for (uint32_t nsid = 1; nsid <= LST_NSID_MAX; nsid++) {
        if (subsys->ns[nsid]) {
            lst_ns_drop(subsys->ns[nsid], NULL);
        }
    }
    g_hash_table_destroy(subsys->ctrls);
    g_ptr_array_free(subsys->hosts, TRUE);
    g_free(subsys->serial);
    g_free(subsys->model);
    g_free(subsys->firmware);
    g_free(subsys->nqn);
    g_free(subsys);
}

struct lst_subsys *lst_target_add_subsys(struct lst_target *target, const char *nqn, GError **err)
{
    struct lst_subsys *subsys;

    if (!lst_parse_nqn("nqn", nqn, err)) {
        return NULL;
    }
    if (!strcmp(nqn, NVF_DISCOVERY_NQN)) {
        lst_bad_value(err, "nqn", nqn,
                      "not the name of the discovery subsystem, which is always there");
        return NULL;
    }
    if (lst_target_find_subsys(target, nqn)) {
        g_set_error(err, LST_ERROR, LST_ERROR_EXISTS, "nqn: '%s' is there already", nqn);
        return NULL;
    }
    if (target->subsystems->len >= LST_SUBSYS_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_LIMIT,
                    "nqn: '%s' is one too many: %d subsystems at most", nqn, LST_SUBSYS_MAX);
        return NULL;
    }
    subsys = lst_subsys_new(target, nqn, false);
    g_ptr_array_add(target->subsystems, subsys);
    g_hash_table_insert(target->by_nqn, subsys->nqn, subsys);
    return subsys;
}

struct lst_subsys *lst_target_find_subsys(struct lst_target *target, const char *nqn)
{
    return g_hash_table_lookup(target->by_nqn, nqn);
}

static bool ctrl_of_subsys(const struct lst_ctrl *ctrl, const void *key)
{
    return ctrl->subsys == key;
}

void lst_target_remove_subsys(struct lst_target *target, struct lst_subsys *subsys)
{
    for (unsigned i = 0; i < target->ports->len; i++) {
        lst_port_remove_subsys(g_ptr_array_index(target->ports, i), subsys, NULL);
    }
    lst_ctrls_drop(target, ctrl_of_subsys, subsys);
    for (uint32_t nsid = 1; nsid <= LST_NSID_MAX; nsid++) {
        if (subsys->ns[nsid]) {
            lst_ns_forget(subsys->ns[nsid]);
        }
    }
    g_hash_table_remove(target->by_nqn, subsys->nqn);
    g_ptr_array_remove(target->subsystems, subsys);
    lst_subsys_free(subsys);
}

const char *lst_subsys_nqn(const struct lst_subsys *subsys)
{
    return subsys->nqn;
}

/* ---- Attributes */

static bool set_serial(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_ascii(key, value, 20, &((struct lst_subsys *)object)->serial, err);
}

static char *get_serial(const void *object)
{
    return g_strdup(((const struct lst_subsys *)object)->serial);
}

static bool set_model(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_ascii(key, value, 40, &((struct lst_subsys *)object)->model, err);
}

static char *get_model(const void *object)
{
    return g_strdup(((const struct lst_subsys *)object)->model);
}

static bool set_firmware(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_ascii(key, value, 8, &((struct lst_subsys *)object)->firmware, err);
}

static char *get_firmware(const void *object)
{
    return g_strdup(((const struct lst_subsys *)object)->firmware);
}

static bool set_version(void *object, const char *key, const char *value, GError **err)
{
    static const char *const names[] = { "1.3",   "1.4",   "2.0",   "2.1", "1.3.0",
                                         "1.4.0", "2.0.0", "2.1.0", NULL };
    static const uint32_t versions[] = { NV_VS(1, 3, 0), NV_VS(1, 4, 0), NV_VS(2, 0, 0),
                                         NV_VS(2, 1, 0) };
    unsigned which;

    if (!lst_parse_choice(key, value, names, &which, err)) {
        return false;
    }
    ((struct lst_subsys *)object)->version = versions[which % 4];
    return true;
}

static char *get_version(const void *object)
{
    uint32_t vs = ((const struct lst_subsys *)object)->version;

    return g_strdup_printf("%u.%u", vs >> 16, vs >> 8 & 0xff);
}

static bool set_ieee_oui(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_uint(key, value, 0, 0xffffff, &((struct lst_subsys *)object)->ieee_oui, err);
}

static char *get_ieee_oui(const void *object)
{
    return g_strdup_printf("0x%06x", ((const struct lst_subsys *)object)->ieee_oui);
}

static bool set_allow_any_host(void *object, const char *key, const char *value, GError **err)
{
    struct lst_subsys *subsys = object;

    if (!lst_parse_bool(key, value, &subsys->allow_any_host, err)) {
        return false;
    }
    lst_discovery_changed(subsys->target);
    return true;
}

static char *get_allow_any_host(const void *object)
{
    return g_strdup(((const struct lst_subsys *)object)->allow_any_host ? "1" : "0");
}

static bool set_cntlid_min(void *object, const char *key, const char *value, GError **err)
{
    struct lst_subsys *subsys = object;

    if (!lst_parse_uint(key, value, 1, subsys->cntlid_max, &subsys->cntlid_min, err)) {
        return false;
    }
    subsys->next_cntlid = subsys->cntlid_min;
    return true;
}

static char *get_cntlid_min(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_subsys *)object)->cntlid_min);
}

static bool set_cntlid_max(void *object, const char *key, const char *value, GError **err)
{
    struct lst_subsys *subsys = object;

    return lst_parse_uint(key, value, subsys->cntlid_min, NV_CNTLID_MAX, &subsys->cntlid_max, err);
}

static char *get_cntlid_max(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_subsys *)object)->cntlid_max);
}

/* Those that there are stay as they are. */
static bool set_controller_model(void *object, const char *key, const char *value, GError **err)
{
    static const char *const names[] = { "dynamic", "static", NULL };
    struct lst_subsys *subsys = object;
    unsigned which;

    if (!lst_parse_choice(key, value, names, &which, err)) {
        return false;
    }
    subsys->static_ctrls = which == 1;
    lst_discovery_changed(subsys->target);
    return true;
}

static char *get_controller_model(const void *object)
{
    return g_strdup(((const struct lst_subsys *)object)->static_ctrls ? "static" : "dynamic");
}

static bool set_qid_max(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_uint(key, value, 1, LST_QID_MAX, &((struct lst_subsys *)object)->qid_max, err);
}

static char *get_qid_max(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_subsys *)object)->qid_max);
}

static bool set_queue_size(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_queue_size(key, value, 0, &((struct lst_subsys *)object)->queue_size, err);
}

static char *get_queue_size(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_subsys *)object)->queue_size);
}

static const struct lst_attr subsys_attrs[] = {
    { "attr_serial", set_serial, get_serial },
    { "attr_model", set_model, get_model },
    { "attr_firmware", set_firmware, get_firmware },
    { "attr_version", set_version, get_version },
    { "attr_ieee_oui", set_ieee_oui, get_ieee_oui },
    { "attr_allow_any_host", set_allow_any_host, get_allow_any_host },
    { "attr_cntlid_min", set_cntlid_min, get_cntlid_min },
    { "attr_cntlid_max", set_cntlid_max, get_cntlid_max },
    { "attr_controller_model", set_controller_model, get_controller_model },
    { "attr_qid_max", set_qid_max, get_qid_max },
    { "attr_max_queue_size", set_queue_size, get_queue_size },
    { "attr_pi_enable", lst_attr_set_zero, lst_attr_get_zero },
};

bool lst_subsys_set(struct lst_subsys *subsys, const char *key, const char *value, GError **err)
{
    return lst_attr_set(subsys_attrs, G_N_ELEMENTS(subsys_attrs), subsys, key, value, err);
}

char *lst_subsys_get(const struct lst_subsys *subsys, const char *key, GError **err)
{
    return lst_attr_get(subsys_attrs, G_N_ELEMENTS(subsys_attrs), subsys, key, err);
}

const char *lst_subsys_key(unsigned index)
{
    return index < G_N_ELEMENTS(subsys_attrs) ? subsys_attrs[index].key : NULL;
}

/* ---- Hosts */

static bool host_find(const struct lst_subsys *subsys, const char *hostnqn, unsigned *index)
{
    return g_ptr_array_find_with_equal_func(subsys->hosts, hostnqn, g_str_equal, index);
}

bool lst_subsys_host_allowed(const struct lst_subsys *subsys, const char *hostnqn)
{
    return subsys->allow_any_host || host_find(subsys, hostnqn, NULL);
}

bool lst_subsys_allow_host(struct lst_subsys *subsys, const char *hostnqn, GError **err)
{
    if (!lst_parse_nqn("allowed_hosts", hostnqn, err)) {
        return false;
    }
    if (host_find(subsys, hostnqn, NULL)) {
        g_set_error(err, LST_ERROR, LST_ERROR_EXISTS, "allowed_hosts: '%s' is there already",
                    hostnqn);
        return false;
    }
    if (subsys->hosts->len >= LST_HOSTS_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_LIMIT,
                    "allowed_hosts: '%s' is one too many: %d at most", hostnqn, LST_HOSTS_MAX);
        return false;
    }
    g_ptr_array_add(subsys->hosts, g_strdup(hostnqn));
    lst_discovery_changed(subsys->target);
    return true;
}

static bool ctrl_of_stranger(const struct lst_ctrl *ctrl, const void *key)
{
    return ctrl->subsys == key && !lst_subsys_host_allowed(ctrl->subsys, ctrl->hostnqn);
}

bool lst_subsys_disallow_host(struct lst_subsys *subsys, const char *hostnqn, GError **err)
{
    unsigned index;

    if (!host_find(subsys, hostnqn, &index)) {
        return lst_bad_value(err, "allowed_hosts", hostnqn, "a host of this subsystem");
    }
    g_ptr_array_remove_index(subsys->hosts, index);
    lst_ctrls_drop(subsys->target, ctrl_of_stranger, subsys);
    lst_discovery_changed(subsys->target);
    return true;
}

const char *lst_subsys_host(const struct lst_subsys *subsys, unsigned index)
{
    return index < subsys->hosts->len ? g_ptr_array_index(subsys->hosts, index) : NULL;
}
