/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of a command through the core: finding it in its command set, checks that all commands
 * share, completion.
 * Not here: what single commands check and do (fabrics.c, admin.c, io.c), data and descriptors (the
 * transport).
 * NVM Express Base 2.0, 3.3 and 4.1.
 */
#include "engine/choices.h"
#include "engine/ctrl.h"

static bool allowed_on_discovery(const struct lst_req *req)
{
    return !req->queue->ctrl->subsys->discovery || (req->command->flags & LST_CMD_DISCOVERY);
}

static uint16_t find_fabrics(struct lst_req *req)
{
    const struct nvf_sqe *sqe = (const struct nvf_sqe *)&req->sqe;

    req->command = &lst_fabrics_commands[sqe->fctype];
    if (!req->queue->connected && !(req->command->flags & LST_CMD_CONNECT)) {
        return LST_STATUS_BEFORE_CONNECT;
    }
    if (!req->command->run || (req->queue->qid && !(req->command->flags & LST_CMD_IO_QUEUE))) {
        req->param_location = offsetof(struct nvf_sqe, fctype);
        return lst_no_retry(NV_SC_INVALID_OPCODE);
    }
    return NV_SC_SUCCESS;
}

static uint16_t find_command(struct lst_req *req)
{
    const struct lst_queue *queue = req->queue;

    if (queue->fabrics && req->sqe.opcode == NVF_OPCODE) {
        return find_fabrics(req);
    }
    if (!queue->connected) {
        return LST_STATUS_BEFORE_CONNECT;
    }
    req->command = queue->qid ? &lst_io_commands[req->sqe.opcode] :
                                &lst_admin_commands[req->sqe.opcode];
    if (!lst_ctrl_ready(queue->ctrl)) {
        return lst_no_retry(NV_SC_COMMAND_SEQUENCE);
    }
    if (!req->command->run || !allowed_on_discovery(req)) {
        req->param_location = offsetof(struct nv_sqe, opcode);
        return lst_no_retry(NV_SC_INVALID_OPCODE);
    }
    return NV_SC_SUCCESS;
}

static uint16_t find_namespace(struct lst_req *req)
{
    struct lst_ns *ns = lst_ns_lookup(req->queue->ctrl->subsys, req->sqe.nsid);
    uint16_t status;

    if (!ns) {
        req->param_location = offsetof(struct nv_sqe, nsid);
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    req->ns = ns;
    lst_ns_ref(ns);
    lst_resv_enter(req);
    if (req->command->flags & LST_CMD_ZONED && !ns->zones) {
        return lst_no_retry(NV_SC_INVALID_OPCODE);
    }
    if (ns->zones && !lst_ctrl_has_csi(req->queue->ctrl)) {
        return lst_no_retry(NV_SC_CSI_INVALID);
    }
    status = lst_ana_status(req->queue->ctrl, ns);
    if (!status && ns->write_protected && (req->command->flags & LST_CMD_WRITES)) {
        status = lst_no_retry(NV_SC_NS_WRITE_PROTECTED);
    }
    return status ? status : lst_resv_check(req);
}

static uint16_t check_flags(struct lst_req *req)
{
    uint16_t status;

    if (req->queue->fabrics && (req->sqe.flags & NV_PSDT_MASK) != NV_PSDT_SGL) {
        req->param_location = offsetof(struct nv_sqe, flags) | 6 << 8;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    status = lst_fused_check(req);
    if (NV_STATUS_CODE(status) == NV_SC_INVALID_FIELD) {
        req->param_location = offsetof(struct nv_sqe, flags);
    }
    return status;
}

uint16_t lst_req_prepare(struct lst_req *req)
{
    uint16_t status;

    lst_stats_start(req);
    lst_fused_arrived(req);
    if (req->queue->ctrl) {
        lst_keepalive_seen(req->queue->ctrl);
    }
    status = find_command(req);
    if (!status) {
        status = check_flags(req);
    }
    if (!status && (req->command->flags & LST_CMD_NS)) {
        status = find_namespace(req);
    }
    if (!status && req->command->length) {
        status = req->command->length(req, &req->data_len);
    }
    if (status) {
        req->data_len = 0;
        return status;
    }
    if (req->data_len) {
        g_assert(req->data_len <= LST_TRANSFER_MAX);
        req->dir = req->command->flags & LST_CMD_IN ? LST_DIR_IN : LST_DIR_OUT;
        req->data_max = MAX(req->data_max, req->data_len);
    }
    return NV_SC_SUCCESS;
}

uint16_t lst_req_length_error(struct lst_req *req)
{
    const struct nvf_sqe *sqe = (const struct nvf_sqe *)&req->sqe;

    if (sqe->opcode == NVF_OPCODE && sqe->fctype == NVF_CONNECT) {
        req->cqe.dw0 = LST_CONNECT_LENGTH_IPO;
        return LST_STATUS_CONNECT_LENGTH;
    }
    return LST_STATUS_CAPSULE_SGL_LENGTH;
}

bool lst_queue_gone(const struct lst_queue *queue)
{
    return queue->connected && !queue->ctrl;
}

void lst_req_execute(struct lst_req *req)
{
    uint16_t status;

    /* Data may have taken their time: the association can be gone, or the controller reset. */
    if (lst_queue_gone(req->queue)) {
        lst_req_complete(req, NV_SC_ABORT_SQ_DELETION);
    } else if (req->queue->ctrl && !lst_ctrl_ready(req->queue->ctrl) &&
               !(req->command->flags & LST_CMD_DISABLED)) {
        lst_req_complete(req, lst_no_retry(NV_SC_COMMAND_SEQUENCE));
    } else if (req->ns && (status = lst_resv_check(req))) {
        lst_req_complete(req, status);
    } else if (req->sqe.flags & NV_FUSE_MASK) {
        lst_fused_execute(req);
    } else {
        req->command->run(req);
    }
}

static void drop_namespace(struct lst_req *req)
{
    if (req->ns) {
        lst_order_leave(req);
        lst_resv_leave(req);
        lst_ns_unref(req->ns);
        req->ns = NULL;
    }
}

static void note_failure(struct lst_req *req, uint16_t status)
{
    struct lst_queue *queue = req->queue;

    queue->failed++;
    lst_trace(queue->target, LST_EVENT_COMMAND_FAILED, queue, NULL, req->sqe.opcode, status, NULL);
    if (queue->ctrl) {
        lst_ctrl_log_error(queue->ctrl, req, status);
    }
}

void lst_req_complete(struct lst_req *req, uint16_t status)
{
    struct lst_queue *queue = req->queue;
    struct lst_target *target = queue->target;
    struct lst_req *partner = lst_fused_detach(req);
    struct lst_req *abort = lst_abort_detach(req);

    lst_stats_end(req, status);
    if (status) {
        note_failure(req, status);
    }
    if (queue->flow_control) {
        queue->sqhd = (uint16_t)((queue->sqhd + 1) % queue->size);
    }
    req->cqe.sqhd = queue->sqhd;
    req->cqe.sqid = queue->fabrics ? 0 : queue->qid;
    req->cqe.cid = req->sqe.cid;
    req->cqe.status = (uint16_t)(status << 1);
    if (!status && queue->connected && !queue->flow_control &&
        req->command->flags & LST_CMD_CONNECT) {
        req->cqe.sqhd = NVF_SQHD_NO_FLOW_CONTROL;
    }
    drop_namespace(req);
    queue->ops->complete(req);
    if (partner) {
        lst_fused_ended(partner, status);
    }
    if (abort) {
        lst_abort_ended(abort, status);
    }
    lst_order_run(target);
}

void lst_req_release(struct lst_req *req)
{
    struct lst_req *abort;

    g_assert(!req->at_backend);
    abort = lst_abort_detach(req);
    lst_fused_detach(req);
    drop_namespace(req);
    if (req->scratch) {
        lst_pool_put(&req->queue->target->pool, req->scratch, req->scratch_len);
        req->scratch = NULL;
    }
    if (abort) {
        lst_abort_ended(abort, NV_SC_ABORT_REQUESTED);
    }
}
