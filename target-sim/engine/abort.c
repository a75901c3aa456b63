/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ending commands before their time: Abort, and what Disconnect does to the other commands of its
 * queue.
 * Not here: what the transport has of a command (conn_cmd.c), Asynchronous Event Requests (aer.c).
 * NVM Express Base 2.0, 5.1.
 */
/*
 * An Abort completes behind the command that it aborts; that ends at once, or when the host has
 * sent the data that it was asked for, or when a Copy comes to its next chunk.
 */
#include "engine/ctrl.h"

bool lst_req_abort(struct lst_req *req, uint16_t status)
{
    struct lst_target *target = req->queue->target;

    if (req->order.state == LST_ORDER_HELD || req->order.ready ||
        (req->fused.here && !req->at_backend)) {
        lst_req_complete(req, status);
        return true;
    }
    if (req->step) {
        req->abort_status = status;
    }
    return (req->at_backend && target->ops.io_cancel &&
            target->ops.io_cancel(target->front, &req->io)) || req->step;
}

static void finish(struct lst_req *abort, bool aborted)
{
    abort->cqe.dw0 = !aborted;
    lst_req_complete(abort, NV_SC_SUCCESS);
}

void lst_abort_ended(struct lst_req *abort, uint16_t status)
{
    if (abort->queue->ctrl) {
        abort->queue->ctrl->aborts--;
    }
    finish(abort, NV_STATUS_CODE(status) == NV_SC_ABORT_REQUESTED);
}

struct lst_req *lst_abort_detach(struct lst_req *req)
{
    struct lst_req *abort = req->aborted_by;

    if (req->aborting) {
        req->aborting->aborted_by = NULL;
        req->aborting = NULL;
    }
    if (abort) {
        abort->aborting = NULL;
        req->aborted_by = NULL;
    }
    return abort;
}

static void abort_io(struct lst_req *abort, uint16_t qid, uint16_t cid)
{
    struct lst_ctrl *ctrl = abort->queue->ctrl;
    struct lst_queue *queue = lst_ctrl_io_queue(ctrl, qid);
    struct lst_req *req = queue ? queue->ops->find(queue, cid) : NULL;

    if (!req || req->aborted_by) {
        finish(abort, false);
        return;
    }
    if (ctrl->aborts == LST_ABORT_MAX) {
        lst_req_complete(abort, lst_no_retry(NV_SC_ABORT_LIMIT));
        return;
    }
    ctrl->aborts++;
    req->aborted_by = abort;
    abort->aborting = req;
    if (!queue->ops->abort(req)) {
        lst_abort_detach(abort);
        ctrl->aborts--;
        finish(abort, false);
    }
}

void lst_abort_run(struct lst_req *abort)
{
    uint16_t qid = (uint16_t)abort->sqe.cdw10;
    uint16_t cid = (uint16_t)(abort->sqe.cdw10 >> 16);

    if (qid) {
        abort_io(abort, qid, cid);
    } else {
        finish(abort, lst_aer_abort(abort->queue->ctrl, cid));
    }
}
