/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identify: lists of namespaces and of controllers.
 * Not here: the structures about one of them, and the table by CNS (identify.c).
 * NVM Express Base 2.0, 5.17.2.2 and 5.17.2.8 to 5.17.2.11; NVM Command Set 1.0, 4.1.5.
 */
/*
 * A namespace that has media is allocated; one that hosts may see is active, and then attached to
 * every controller of its subsystem.
 */
#include "engine/ctrl.h"

typedef bool (*ns_in_list)(const struct lst_ns *ns);

static bool is_active(const struct lst_ns *ns)
{
    return ns->enabled;
}

static bool is_allocated(const struct lst_ns *ns)
{
    return ns->attached;
}

/* @csi: of this command set only; -1: of any. */
static uint16_t ns_list(struct lst_req *req, uint8_t *data, ns_in_list belongs, int csi)
{
    const struct lst_subsys *subsys = req->queue->ctrl->subsys;
    uint32_t *list = (uint32_t *)data;
    unsigned count = 0;

    if (req->sqe.nsid >= NV_NSID_ALL - 1) {
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    for (uint32_t nsid = req->sqe.nsid + 1;
         nsid <= LST_NSID_MAX && count < NV_IDENTIFY_BYTES / sizeof(*list); nsid++) {
        const struct lst_ns *ns = subsys->ns[nsid];

        if (ns && belongs(ns) && (csi < 0 || lst_ns_csi(ns) == csi)) {
            list[count++] = nsid;
        }
    }
    return NV_SC_SUCCESS;
}

static int csi_of(const struct lst_req *req)
{
    return (int)(req->sqe.cdw11 >> 24);
}

uint16_t lst_identify_active(struct lst_req *req, uint8_t *data)
{
    return ns_list(req, data, is_active, -1);
}

uint16_t lst_identify_active_csi(struct lst_req *req, uint8_t *data)
{
    return ns_list(req, data, is_active, csi_of(req));
}

uint16_t lst_identify_allocated(struct lst_req *req, uint8_t *data)
{
    return ns_list(req, data, is_allocated, -1);
}

uint16_t lst_identify_allocated_csi(struct lst_req *req, uint8_t *data)
{
    return ns_list(req, data, is_allocated, csi_of(req));
}

static gint compare_ids(gconstpointer a, gconstpointer b)
{
    uint16_t left = *(const uint16_t *)a, right = *(const uint16_t *)b;

    return left < right ? -1 : left > right;
}

/* A count and as many identifiers, from CNTID on, ascending (Base 2.0, 4.4.1). */
static void ctrl_list(const struct lst_req *req, uint8_t *data)
{
    const struct lst_subsys *subsys = req->queue->ctrl->subsys;
    uint16_t first = (uint16_t)(req->sqe.cdw10 >> 16);
    uint16_t *list = (uint16_t *)data;
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, subsys->ctrls);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        uint16_t id = (uint16_t)GPOINTER_TO_UINT(key);

        if (id >= first) {
            g_array_append_val(ids, id);
        }
    }
    g_array_sort(ids, compare_ids);
    list[0] = (uint16_t)MIN(ids->len, NV_CTRL_LIST_MAX);
    for (unsigned i = 0; i < list[0]; i++) {
        list[1 + i] = g_array_index(ids, uint16_t, i);
    }
}

uint16_t lst_identify_ctrls(struct lst_req *req, uint8_t *data)
{
    ctrl_list(req, data);
    return NV_SC_SUCCESS;
}

/* Those that a namespace is attached to: all or, of one that no host may see, none. */
uint16_t lst_identify_ns_ctrls(struct lst_req *req, uint8_t *data)
{
    const struct lst_subsys *subsys = req->queue->ctrl->subsys;
    uint32_t nsid = req->sqe.nsid;

    if (nsid < 1 || nsid > LST_NSID_MAX) {
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    if (lst_ns_lookup(subsys, nsid)) {
        ctrl_list(req, data);
    }
    return NV_SC_SUCCESS;
}
