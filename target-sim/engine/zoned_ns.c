/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a namespace zoned, what Identify says of it, and zones that change by themselves.
 * Not here: commands (zoned.c).
 * NVM Express Zoned Namespace Command Set 1.1, 4 and 5.
 */
#include "engine/ctrl.h"

#include <string.h>

bool lst_ns_set_zones(struct lst_ns *ns, const struct zone_config *config, void *store,
                      GError **err)
{
    uint64_t bytes = ns->blocks << ns->shift;
    g_autofree char *text = zone_config_format(config);
    g_autofree char *why = NULL;
    struct zones *zones;

    if (!ns->attached || ns->enabled) {
        g_set_error(err, LST_ERROR, LST_ERROR_STATE,
                    "zoned: '%s' is not allowed: only with media and while enable is 0", text);
        return false;
    }
    if (!zone_config_fits(config, bytes, 1u << ns->shift, &why)) {
        return lst_bad_value(err, "zoned", text, why);
    }
    zones = zones_new(config, bytes, 1u << ns->shift, store, &why);
    if (!zones) {
        return lst_bad_value(err, "zoned", text, why);
    }
    zones_free(ns->zones);
    ns->zones = zones;
    return true;
}

void lst_zone_identify_ns(const struct lst_ns *ns, struct nv_id_ns_zoned *id)
{
    const struct zone_config *config = zones_config(ns->zones);

    id->ozcs = NV_OZCS_READ_ACROSS;
    /* Zero-based: no limit comes out as FFFFFFFFh. */
    id->mar = (uint32_t)config->max_active - 1;
    id->mor = (uint32_t)config->max_open - 1;
    id->lbafe[0].zsze = zones_size(ns->zones);
    id->lbafe[0].zdes = (uint8_t)(config->extension / NV_ZONE_EXTENSION_UNIT);
}

/* ---- Zones that change by themselves: the log and its notice (5.1, 5.2) */

static void add_to_log(struct lst_ctrl *ctrl, uint32_t nsid, uint64_t zslba)
{
    struct nv_log_changed_zones *log;

    if (!(ctrl->aer.config & NV_OAES_ZONE)) {
        return;
    }
    if (!ctrl->changed_zones) {
        ctrl->changed_zones = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    }
    log = g_hash_table_lookup(ctrl->changed_zones, GUINT_TO_POINTER(nsid));
    if (!log) {
        log = g_new0(struct nv_log_changed_zones, 1);
        g_hash_table_insert(ctrl->changed_zones, GUINT_TO_POINTER(nsid), log);
    }
    if (log->count == G_N_ELEMENTS(log->zslba)) {
        memset(log->zslba, 0, sizeof(log->zslba));
        log->count = UINT16_MAX;
    }
    if (log->count != UINT16_MAX) {
        log->zslba[log->count++] = zslba;
    }
    lst_aer_notify(ctrl, LST_NOTICE_ZONE);
}

void lst_zone_log(const struct lst_ctrl *ctrl, uint32_t nsid, struct nv_log_changed_zones *log)
{
    const void *kept = ctrl->changed_zones ?
                           g_hash_table_lookup(ctrl->changed_zones, GUINT_TO_POINTER(nsid)) : NULL;

    if (kept) {
        memcpy(log, kept, sizeof(*log));
    }
}

void lst_zone_log_drop(struct lst_ctrl *ctrl, uint32_t nsid)
{
    if (!ctrl->changed_zones) {
        return;
    }
    g_hash_table_remove(ctrl->changed_zones, GUINT_TO_POINTER(nsid));
    lst_aer_acknowledge(ctrl, LST_NOTICE_ZONE);
    if (g_hash_table_size(ctrl->changed_zones)) {
        lst_aer_notify(ctrl, LST_NOTICE_ZONE);
    }
}

uint32_t lst_zone_notice_nsid(const struct lst_ctrl *ctrl)
{
    uint32_t lowest = UINT32_MAX;
    GHashTableIter iter;
    gpointer nsid;

    g_hash_table_iter_init(&iter, ctrl->changed_zones);
    while (g_hash_table_iter_next(&iter, &nsid, NULL)) {
        lowest = MIN(lowest, GPOINTER_TO_UINT(nsid));
    }
    return lowest;
}

bool lst_ns_set_zone_state(struct lst_ns *ns, uint32_t zone, const char *state, GError **err)
{
    static const char *const names[] = { "full", "read-only", "offline", NULL };
    static const enum nv_zone_state states[] = { NV_ZONE_FULL, NV_ZONE_READ_ONLY, NV_ZONE_OFFLINE };
    struct lst_target *target = ns->subsys->target;
    unsigned index;

    if (!ns->zones || zone >= zones_count(ns->zones)) {
        g_autofree char *text = g_strdup_printf("%u", zone);
        g_autofree char *allowed =
            ns->zones ? g_strdup_printf("a number from 0 to %u", zones_count(ns->zones) - 1) :
                        g_strdup("only in a zoned namespace");

        return lst_bad_value(err, "zone", text, allowed);
    }
    if (!lst_parse_choice("zone", state, names, &index, err)) {
        return false;
    }
    /* Another target of the same configuration, and perhaps of the same store, has the hosts. */
    if ((target->ops.serves && !target->ops.serves(target->front, ns->subsys->nqn)) ||
        !zones_force(ns->zones, zone, states[index])) {
        return true;
    }
    for (GList *node = target->ctrls.head; node; node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        if (ctrl->subsys == ns->subsys) {
            add_to_log(ctrl, ns->nsid, zone * zones_size(ns->zones));
        }
    }
    return true;
}

const struct zones *lst_ns_zones(const struct lst_ns *ns)
{
    return ns->zones;
}
