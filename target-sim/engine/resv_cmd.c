/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservation commands on queues, commands that conflict, and Preempt and Abort.
 * Not here: what a command changes and who conflicts (resv.c), notifications (resv_notice.c).
 * NVM Express Base 2.0, 7.2 to 7.5 and 8.19.
 */
#include "engine/ctrl.h"

#include <string.h>

void lst_resv_set_enabled(struct lst_ns *ns, bool enabled, bool persistent)
{
    if (!ns->resv) {
        ns->resv = g_new0(struct lst_ns_resv, 1);
    }
    ns->resv->enabled = enabled;
    memset(&ns->resv->state, 0, sizeof(ns->resv->state));
    ns->resv->state.ptpl_capable = persistent;
}

uint8_t lst_resv_capabilities(const struct lst_ns *ns)
{
    if (!lst_resv_enabled(ns->resv)) {
        return 0;
    }
    return NV_RESCAP_TYPES | NV_RESCAP_IEKEY_13 |
           (ns->resv->state.ptpl_capable ? NV_RESCAP_PTPL : 0);
}

/* ---- Requests of a namespace */

void lst_resv_enter(struct lst_req *req)
{
    struct lst_ns_resv *resv = req->ns->resv;

    if (lst_resv_enabled(resv)) {
        req->resv_link.data = req;
        g_queue_push_tail_link(&resv->reqs, &req->resv_link);
        req->resv_part = LST_RESV_ACTIVE;
    }
}

static void wake_waiters(struct lst_ns_resv *resv)
{
    GList *link;

    while ((link = g_queue_pop_head_link(&resv->waiters))) {
        struct lst_req *req = link->data;

        req->resv_part = LST_RESV_NO_PART;
        lst_req_complete(req, NV_SC_SUCCESS);
    }
}

void lst_resv_leave(struct lst_req *req)
{
    enum lst_resv_part part = req->resv_part;
    struct lst_ns_resv *resv = req->ns->resv;

    if (part == LST_RESV_NO_PART) {
        return;
    }
    req->resv_part = LST_RESV_NO_PART;
    g_queue_unlink(part == LST_RESV_WAITER ? &resv->waiters : &resv->reqs, &req->resv_link);
    if (part == LST_RESV_AWAITED && --resv->awaited == 0) {
        wake_waiters(resv);
    }
}

uint16_t lst_resv_check(const struct lst_req *req)
{
    const struct lst_ns_resv *resv = req->ns ? req->ns->resv : NULL;

    if (!lst_resv_enabled(resv)) {
        return NV_SC_SUCCESS;
    }
    if (req->resv_part == LST_RESV_PREEMPTED) {
        return lst_no_retry(NV_SC_PREEMPT_ABORT);
    }
    return lst_resv_conflicts(&resv->state, req->queue->ctrl->hostid, req->sqe.opcode) ?
               lst_no_retry(NV_SC_RESERVATION_CONFLICT) :
               NV_SC_SUCCESS;
}

/* ---- Preempt and Abort */

static bool preempted(const struct lst_resv_notices *notices, const uint8_t *host)
{
    for (unsigned i = 0; i < notices->count; i++) {
        if (notices->to[i].type == NV_RESV_REGISTRATION_PREEMPTED &&
            !memcmp(notices->to[i].host, host, LST_HOST_ID_BYTES)) {
            return true;
        }
    }
    return false;
}

/*
 * What has not gone to the media must not go there any more; what has cannot be taken back, so it
 * is waited for. Of a connection that is gone nobody knows the host: such a request is waited for
 * too.
 */
static void abort_commands(struct lst_ns_resv *resv, const struct lst_resv_notices *notices)
{
    for (GList *node = resv->reqs.head; node; node = node->next) {
        struct lst_req *req = node->data;
        const struct lst_ctrl *ctrl = req->queue->ctrl;

        if (req->resv_part != LST_RESV_ACTIVE || (ctrl && !preempted(notices, ctrl->hostid))) {
            continue;
        }
        if (req->at_backend) {
            req->resv_part = LST_RESV_AWAITED;
            resv->awaited++;
        } else {
            req->resv_part = LST_RESV_PREEMPTED;
        }
    }
}

/* Returns true if @req has to wait. */
static bool wait_for_others(struct lst_ns_resv *resv, struct lst_req *req)
{
    if (!resv->awaited) {
        return false;
    }
    g_queue_unlink(&resv->reqs, &req->resv_link);
    g_queue_push_tail_link(&resv->waiters, &req->resv_link);
    req->resv_part = LST_RESV_WAITER;
    return true;
}

/* ---- Commands */

static uint16_t data_length(struct lst_req *req, uint32_t bytes, uint32_t *len)
{
    if (!lst_resv_enabled(req->ns->resv)) {
        return lst_no_retry(NV_SC_INVALID_OPCODE);
    }
    *len = bytes;
    return NV_SC_SUCCESS;
}

uint16_t lst_resv_keys_length(struct lst_req *req, uint32_t *len)
{
    return data_length(req, sizeof(struct nv_resv_keys), len);
}

uint16_t lst_resv_release_length(struct lst_req *req, uint32_t *len)
{
    return data_length(req, sizeof(uint64_t), len);
}

uint16_t lst_resv_report_length(struct lst_req *req, uint32_t *len)
{
    uint64_t bytes = ((uint64_t)req->sqe.cdw10 + 1) * 4;

    if (bytes > LST_TRANSFER_MAX) {
        req->param_location = 40;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    /* Fabrics hosts have identifiers of 128 bits, which the short form cannot show. */
    if (req->queue->fabrics && !(req->sqe.cdw11 & NV_RESV_EDS)) {
        req->param_location = 44;
        return lst_no_retry(NV_SC_HOSTID_INCONSISTENT);
    }
    return data_length(req, (uint32_t)bytes, len);
}

typedef uint16_t change_fn(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                           const struct nv_resv_keys *keys, struct lst_resv_notices *notices);

/* A change that persists is there when the command ends, or there was none. */
static uint16_t change(struct lst_req *req, change_fn *fn, struct lst_resv_notices *notices)
{
    struct lst_ns_resv *resv = req->ns->resv;
    struct lst_resv *before = g_memdup2(&resv->state, sizeof(resv->state));
    struct nv_resv_keys keys = { 0 };
    uint16_t status;

    memcpy(&keys, req->data, MIN(req->data_len, sizeof(keys)));
    status = fn(&resv->state, req->queue->ctrl->hostid, req->sqe.cdw10, &keys, notices);
    if (!status && (before->ptpl || resv->state.ptpl) && !lst_ns_keep(req->ns)) {
        resv->state = *before;
        status = NV_SC_INTERNAL;
    }
    g_free(before);
    if (status == NV_SC_INVALID_FIELD) {
        req->param_location = 40;
    }
    return status == NV_SC_SUCCESS ? status : lst_no_retry(status);
}

/* The namespace may have been hidden while data were on their way. */
static void run(struct lst_req *req, change_fn *fn, bool abort)
{
    struct lst_ns_resv *resv = req->ns->resv;
    struct lst_resv_notices *notices = NULL;
    uint16_t status = lst_no_retry(NV_SC_INVALID_NAMESPACE);
    bool waits = false;

    if (req->ns->enabled && lst_resv_enabled(resv)) {
        notices = g_new0(struct lst_resv_notices, 1);
        status = change(req, fn, notices);
    }
    if (!status) {
        lst_trace(req->queue->target, LST_EVENT_RESERVATION, req->queue, NULL, req->ns->nsid,
                  resv->state.type, NULL);
        if (abort) {
            abort_commands(resv, notices);
            waits = wait_for_others(resv, req);
        }
        lst_resv_notify(req->ns, notices);
    }
    g_free(notices);
    if (!waits) {
        lst_req_complete(req, status);
    }
}

void lst_resv_register_run(struct lst_req *req)
{
    run(req, lst_resv_register, false);
}

void lst_resv_acquire_run(struct lst_req *req)
{
    run(req, lst_resv_acquire, (req->sqe.cdw10 & NV_RESV_ACTION) == NV_RESV_PREEMPT_ABORT);
}

void lst_resv_release_run(struct lst_req *req)
{
    run(req, lst_resv_release, false);
}

/* The first that the host has now. */
static uint16_t cntlid_of(const void *opaque, const uint8_t *host)
{
    const struct lst_subsys *subsys = opaque;

    for (GList *node = subsys->target->ctrls.head; node; node = node->next) {
        const struct lst_ctrl *ctrl = node->data;

        if (ctrl->subsys == subsys && !memcmp(ctrl->hostid, host, LST_HOST_ID_BYTES)) {
            return ctrl->cntlid;
        }
    }
    return NV_CNTLID_DYNAMIC;
}

void lst_resv_report_run(struct lst_req *req)
{
    const struct lst_subsys *subsys = req->queue->ctrl->subsys;

    lst_resv_report(&req->ns->resv->state, req->sqe.cdw11 & NV_RESV_EDS,
                    subsys->static_ctrls ? cntlid_of : NULL, subsys, req->data, req->data_len);
    lst_req_complete(req, NV_SC_SUCCESS);
}
