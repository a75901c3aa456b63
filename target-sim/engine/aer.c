/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asynchronous Event Requests: kept until there is a notice to tell.
 * Not here: what causes notices (ns.c, port.c, discovery.c), the log pages that acknowledge them
 * (logpage.c).
 * NVM Express Base 2.0, 5.2.
 */
#include "engine/ctrl.h"

static const struct notice {
    uint32_t enable;                     /* bit of Async Event Configuration; 0: always */
    uint32_t dw0;
} notices[LST_NOTICE_COUNT] = {
    [LST_NOTICE_NS] = { NV_OAES_NS_ATTR,
                        NV_AEN(NV_AEN_NOTICE, NV_AEN_NS_CHANGED, NV_LOG_CHANGED_NS) },
    [LST_NOTICE_ANA] = { NV_OAES_ANA, NV_AEN(NV_AEN_NOTICE, NV_AEN_ANA_CHANGED, NV_LOG_ANA) },
    [LST_NOTICE_DISCOVERY] = { NV_OAES_DISCOVERY,
                               NV_AEN(NV_AEN_NOTICE, NV_AEN_DISCOVERY_CHANGED, NV_LOG_DISCOVERY) },
    [LST_NOTICE_TEMPERATURE] = { NV_SMART_TEMPERATURE,
                                 NV_AEN(NV_AEN_SMART, NV_AEN_TEMPERATURE, NV_LOG_SMART) },
    [LST_NOTICE_ZONE] = { NV_OAES_ZONE,
                          NV_AEN(NV_AEN_NOTICE, NV_AEN_ZONE_CHANGED, NV_LOG_CHANGED_ZONES) },
    [LST_NOTICE_RESV] = { 0, NV_AEN(NV_AEN_IO, NV_AEN_RESV_LOG, NV_LOG_RESERVATION) },
};

void lst_aer_run(struct lst_req *req)
{
    struct lst_aer *aer = &req->queue->ctrl->aer;

    if (aer->count >= LST_AER_MAX) {
        lst_req_complete(req, lst_no_retry(NV_SC_AER_LIMIT));
        return;
    }
    aer->reqs[aer->count++] = req;
    lst_aer_flush(req->queue->ctrl);
}

static struct lst_req *aer_take(struct lst_aer *aer, unsigned index)
{
    struct lst_req *req = aer->reqs[index];

    aer->count--;
    for (unsigned i = index; i < aer->count; i++) {
        aer->reqs[i] = aer->reqs[i + 1];
    }
    return req;
}

void lst_aer_flush(struct lst_ctrl *ctrl)
{
    struct lst_aer *aer = &ctrl->aer;

    for (unsigned i = 0; i < LST_NOTICE_COUNT; i++) {
        unsigned bit = 1u << i;
        struct lst_req *req;

        if (!aer->count || !(aer->pending & bit) || (aer->masked & bit)) {
            continue;
        }
        aer->pending &= ~bit;
        aer->masked |= bit;
        req = aer_take(aer, 0);
        req->cqe.dw0 = notices[i].dw0;
        req->cqe.dw1 = i == LST_NOTICE_ZONE ? lst_zone_notice_nsid(ctrl) : 0;
        lst_trace(ctrl->target, LST_EVENT_AEN_SENT, ctrl->admin, ctrl, notices[i].dw0, 0, NULL);
        lst_req_complete(req, NV_SC_SUCCESS);
    }
}

void lst_aer_notify(struct lst_ctrl *ctrl, enum lst_notice notice)
{
    if (!notices[notice].enable || (ctrl->aer.config & notices[notice].enable)) {
        ctrl->aer.pending |= 1u << notice;
        lst_aer_flush(ctrl);
    }
}

void lst_aer_acknowledge(struct lst_ctrl *ctrl, enum lst_notice notice)
{
    ctrl->aer.masked &= ~(1u << notice);
    lst_aer_flush(ctrl);
}

bool lst_aer_abort(struct lst_ctrl *ctrl, uint16_t cid)
{
    struct lst_aer *aer = &ctrl->aer;

    for (unsigned i = 0; i < aer->count; i++) {
        if (aer->reqs[i]->sqe.cid == cid) {
            lst_req_complete(aer_take(aer, i), NV_SC_ABORT_REQUESTED);
            return true;
        }
    }
    return false;
}

void lst_aer_reset(struct lst_ctrl *ctrl)
{
    struct lst_aer *aer = &ctrl->aer;

    aer->pending = 0;
    aer->masked = 0;
    while (aer->count) {
        lst_req_complete(aer_take(aer, 0), NV_SC_ABORT_SQ_DELETION);
    }
}
