/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host is told about reservations: the Reservation Notification log page, and the features
 * Reservation Notification Mask and Reservation Persistence.
 * Not here: which change tells whom (resv.c), the event (aer.c).
 * NVM Express Base 2.0, 5.16.1.25, 5.27.1.26 and 5.27.1.27.
 */
#include "engine/ctrl.h"

#include <string.h>

/* ---- Log page 80h */

static struct lst_resv_log *log_of(struct lst_ctrl *ctrl)
{
    if (!ctrl->resv_log) {
        ctrl->resv_log = g_new0(struct lst_resv_log, 1);
    }
    return ctrl->resv_log;
}

/* With no room it is lost; the host sees a gap in the numbers. */
static void add_page(struct lst_ctrl *ctrl, uint32_t nsid, uint8_t type)
{
    struct lst_resv_log *log = log_of(ctrl);

    if (log->masks[nsid] & 1u << type) {
        return;
    }
    log->number++;
    if (log->count < LST_RESV_PAGES) {
        log->pages[(log->first + log->count++) % LST_RESV_PAGES] = (struct nv_log_reservation) {
            .count = log->number,
            .type = type,
            .nsid = nsid,
        };
    }
    lst_aer_notify(ctrl, LST_NOTICE_RESV);
}

void lst_resv_notify(const struct lst_ns *ns, const struct lst_resv_notices *notices)
{
    for (GList *node = notices->count ? ns->subsys->target->ctrls.head : NULL; node;
         node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        for (unsigned i = 0; ctrl->subsys == ns->subsys && i < notices->count; i++) {
            if (!memcmp(ctrl->hostid, notices->to[i].host, LST_HOST_ID_BYTES)) {
                add_page(ctrl, ns->nsid, notices->to[i].type);
            }
        }
    }
}

void lst_resv_log_page(const struct lst_ctrl *ctrl, struct nv_log_reservation *page)
{
    const struct lst_resv_log *log = ctrl->resv_log;

    memset(page, 0, sizeof(*page));
    if (log && log->count) {
        *page = log->pages[log->first];
        page->available = (uint8_t)MIN(log->count - 1, 255);
    }
}

void lst_resv_log_drop(struct lst_ctrl *ctrl)
{
    struct lst_resv_log *log = ctrl->resv_log;

    if (log && log->count) {
        log->first = (log->first + 1) % LST_RESV_PAGES;
        log->count--;
    }
}

void lst_resv_log_reset(struct lst_ctrl *ctrl)
{
    g_free(ctrl->resv_log);
    ctrl->resv_log = NULL;
}

/* ---- Features: features.c has looked at the NSID; FFFFFFFFh means all that have reservations */

static uint16_t feature_ns(struct lst_req *req, struct lst_ns **ns)
{
    *ns = lst_ns_lookup(req->queue->ctrl->subsys, req->sqe.nsid);
    if (!lst_resv_enabled((*ns)->resv)) {
        req->param_location = 4;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    return NV_SC_SUCCESS;
}

static uint16_t set_each(struct lst_req *req, uint16_t (*set)(struct lst_req *, struct lst_ns *))
{
    struct lst_ctrl *ctrl = req->queue->ctrl;
    struct lst_ns *ns;
    uint16_t status = NV_SC_SUCCESS;

    if (req->sqe.nsid != NV_NSID_ALL) {
        status = feature_ns(req, &ns);
        return status ? status : set(req, ns);
    }
    for (uint32_t nsid = 1; nsid <= LST_NSID_MAX && !status; nsid++) {
        ns = lst_ns_lookup(ctrl->subsys, nsid);
        if (ns && lst_resv_enabled(ns->resv)) {
            status = set(req, ns);
        }
    }
    return status;
}

uint16_t lst_resv_get_mask(struct lst_req *req, struct lst_ctrl *ctrl)
{
    struct lst_ns *ns;
    uint16_t status = feature_ns(req, &ns);

    if (!status && ctrl->resv_log) {
        req->cqe.dw0 = ctrl->resv_log->masks[ns->nsid];
    }
    return status;
}

static uint16_t set_mask(struct lst_req *req, struct lst_ns *ns)
{
    log_of(req->queue->ctrl)->masks[ns->nsid] = (uint8_t)req->sqe.cdw11;
    return NV_SC_SUCCESS;
}

uint16_t lst_resv_set_mask(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)ctrl;
    if (value & ~(uint32_t)(NV_RESV_MASK_REGPRE | NV_RESV_MASK_RESREL | NV_RESV_MASK_RESPRE)) {
        req->param_location = 44;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    return set_each(req, set_mask);
}

uint16_t lst_resv_get_persist(struct lst_req *req, struct lst_ctrl *ctrl)
{
    struct lst_ns *ns;
    uint16_t status = feature_ns(req, &ns);

    (void)ctrl;
    if (!status) {
        req->cqe.dw0 = ns->resv->state.ptpl;
    }
    return status;
}

static uint16_t set_persist(struct lst_req *req, struct lst_ns *ns)
{
    struct lst_resv *state = &ns->resv->state;
    bool before = state->ptpl;

    if (req->sqe.cdw11 && !state->ptpl_capable) {
        req->param_location = 44;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    state->ptpl = req->sqe.cdw11;
    if (state->ptpl != before && !lst_ns_keep(ns)) {
        state->ptpl = before;
        return lst_no_retry(NV_SC_INTERNAL);
    }
    return NV_SC_SUCCESS;
}

uint16_t lst_resv_set_persist(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)ctrl;
    if (value > 1) {
        req->param_location = 44;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    return set_each(req, set_persist);
}
