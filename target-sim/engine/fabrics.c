/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fabrics commands: Connect, Disconnect, Property Get, Property Set.
 * Not here: authentication, which is not implemented (Invalid Opcode, as Connect's DW0 tells).
 * NVM Express Base 2.0, chapter 6; answers on which implementations disagree: choices.h.
 */
#include "engine/choices.h"
#include "engine/ctrl.h"

#include <string.h>

static void connect_fail(struct lst_req *req, uint16_t status, uint32_t dw0)
{
    req->cqe.dw0 = dw0;
    lst_trace(req->queue->target, LST_EVENT_CONNECT_REFUSED, req->queue, NULL, status, dw0, NULL);
    lst_req_complete(req, lst_no_retry(status));
}

/* A parameter of the SQE or of the data is bad; @offset is its place there. */
static void connect_bad_sqe(struct lst_req *req, uint32_t offset)
{
    connect_fail(req, NVF_SC_INVALID_PARAM, offset);
}

static void connect_bad_data(struct lst_req *req, uint32_t offset)
{
    connect_fail(req, NVF_SC_INVALID_PARAM, NVF_CONNECT_IATTR | offset);
}

static uint16_t connect_length(struct lst_req *req, uint32_t *len)
{
    if (req->queue->connected) {
        return LST_STATUS_CONNECT_AGAIN;
    }
    *len = sizeof(struct nvf_connect_data);
    return NV_SC_SUCCESS;
}

static bool nqn_field_ok(const char *nqn)
{
    size_t len = strnlen(nqn, NV_NQN_FIELD);

    return len > 0 && len <= NV_NQN_MAX;
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/*
 * What needs no controller or subsystem to be judged. True: fine so far; false: the request is
 * completed.
 */
static bool connect_check_form(struct lst_req *req, const struct nvf_connect_sqe *sqe,
                               const struct nvf_connect_data *data)
{
    if (sqe->recfmt != 0) {
        connect_fail(req, NVF_SC_INCOMPATIBLE_FORMAT, 0);
    } else if (sqe->sqsize == 0) {
        connect_bad_sqe(req, offsetof(struct nvf_connect_sqe, sqsize));
    } else if (all_zero(data->hostid, sizeof(data->hostid))) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, hostid));
    } else if (!nqn_field_ok(data->subnqn)) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, subnqn));
    } else if (!nqn_field_ok(data->hostnqn)) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, hostnqn));
    } else {
        return true;
    }
    return false;
}

static struct lst_subsys *connect_find_subsys(const struct lst_queue *queue, const char *subnqn)
{
    struct lst_subsys *subsys;

    if (!strcmp(subnqn, NVF_DISCOVERY_NQN)) {
        return queue->target->discovery;
    }
    subsys = lst_target_find_subsys(queue->target, subnqn);
    return subsys && queue->port && lst_port_has(queue->port, subsys) ? subsys : NULL;
}

static bool served_here(const struct lst_target *target, const char *subnqn)
{
    return !target->ops.serves || target->ops.serves(target->front, subnqn);
}

static void connect_accept(struct lst_req *req, struct lst_ctrl *ctrl,
                           const struct nvf_connect_sqe *sqe)
{
    struct lst_queue *queue = req->queue;

    queue->ctrl = ctrl;
    queue->connected = true;
    queue->qid = sqe->qid;
    queue->size = (uint16_t)(sqe->sqsize + 1);
    queue->flow_control = !(sqe->cattr & NVF_CATTR_NO_SQ_FLOW_CONTROL);
    if (queue->qid) {
        lst_ctrl_add_io_queue(ctrl, queue);
    }
    req->cqe.dw0 = ctrl->cntlid;
    lst_trace(queue->target, LST_EVENT_CONNECT_OK, queue, ctrl, queue->qid, sqe->sqsize,
              ctrl->subsys->nqn);
    queue->ops->connected(queue);
    lst_req_complete(req, NV_SC_SUCCESS);
}

/*
 * The dynamic model has no controllers to choose from; the static one has those of the subsystem's
 * range, or any of them (Base 2.0, 3.1.1).
 */
static bool cntlid_fits(const struct lst_subsys *subsys, uint16_t cntlid)
{
    if (!subsys->static_ctrls) {
        return cntlid == NV_CNTLID_DYNAMIC;
    }
    return cntlid == NV_CNTLID_STATIC ||
           (cntlid >= subsys->cntlid_min && cntlid <= subsys->cntlid_max);
}

static void connect_admin(struct lst_req *req, struct lst_subsys *subsys,
                          const struct nvf_connect_sqe *sqe, const struct nvf_connect_data *data)
{
    struct lst_ctrl *ctrl;

    if (!cntlid_fits(subsys, data->cntlid)) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, cntlid));
        return;
    }
    ctrl = lst_ctrl_new(req->queue, subsys, data, sqe->kato);
    if (!ctrl) {
        connect_fail(req, NVF_SC_CONTROLLER_BUSY, 0);
        return;
    }
    connect_accept(req, ctrl, sqe);
}

static void connect_io(struct lst_req *req, struct lst_subsys *subsys,
                       const struct nvf_connect_sqe *sqe, const struct nvf_connect_data *data)
{
    struct lst_ctrl *ctrl = lst_ctrl_find(subsys, data->cntlid);

    if (!ctrl || ctrl->port != req->queue->port) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, cntlid));
    } else if (strcmp(ctrl->hostnqn, data->hostnqn)) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, hostnqn));
    } else if (memcmp(ctrl->hostid, data->hostid, sizeof(ctrl->hostid))) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, hostid));
    } else if (!lst_ctrl_ready(ctrl)) {
        connect_fail(req, NV_SC_COMMAND_SEQUENCE, 0);
    } else if (sqe->qid > ctrl->io_queues_granted) {
        connect_bad_sqe(req, offsetof(struct nvf_connect_sqe, qid));
    } else if (lst_ctrl_io_queue(ctrl, sqe->qid)) {
        connect_fail(req, LST_STATUS_CONNECT_AGAIN, 0);
    } else {
        connect_accept(req, ctrl, sqe);
    }
}

/*
 * Port and subsystem limit I/O queues only, as MQES does (Base 2.0, 3.1.3.1): a host cannot know
 * them when it makes its Admin queue.
 */
static uint32_t queue_size_max(const struct lst_queue *queue, const struct lst_subsys *subsys,
                               uint16_t qid)
{
    uint32_t max = lst_subsys_queue_size(subsys, queue->max_size);

    return qid ? max : MAX(max, LST_ADMIN_QUEUE_SIZE);
}

static void connect_run(struct lst_req *req)
{
    const struct nvf_connect_sqe *sqe = (const struct nvf_connect_sqe *)&req->sqe;
    const struct nvf_connect_data *data = (const struct nvf_connect_data *)req->data;
    struct lst_subsys *subsys;

    if (req->queue->connected) {
        /* A second one was prepared before the first was executed. */
        connect_fail(req, LST_STATUS_CONNECT_AGAIN, 0);
        return;
    }
    if (!connect_check_form(req, sqe, data)) {
        return;
    }
    subsys = connect_find_subsys(req->queue, data->subnqn);
    if (!subsys) {
        connect_bad_data(req, offsetof(struct nvf_connect_data, subnqn));
    } else if (!lst_subsys_host_allowed(subsys, data->hostnqn)) {
        connect_fail(req, NVF_SC_INVALID_HOST, 0);
    } else if (sqe->sqsize >= queue_size_max(req->queue, subsys, sqe->qid)) {
        connect_bad_sqe(req, offsetof(struct nvf_connect_sqe, sqsize));
    } else if (sqe->qid > subsys->qid_max) {
        connect_bad_sqe(req, offsetof(struct nvf_connect_sqe, qid));
    } else if (!served_here(req->queue->target, data->subnqn)) {
        connect_fail(req, NVF_SC_CONTROLLER_BUSY, 0);
    } else if (sqe->qid == 0) {
        connect_admin(req, subsys, sqe, data);
    } else {
        connect_io(req, subsys, sqe, data);
    }
}

/* 6.4: an I/O queue ends, its controller stays. */
static void disconnect_run(struct lst_req *req)
{
    const struct nvf_disconnect_sqe *sqe = (const struct nvf_disconnect_sqe *)&req->sqe;

    if (sqe->recfmt != 0) {
        lst_req_complete(req, lst_no_retry(NVF_SC_INCOMPATIBLE_FORMAT));
    } else if (req->queue->qid == 0) {
        lst_req_complete(req, lst_no_retry(NVF_SC_INVALID_QUEUE_TYPE));
    } else {
        req->queue->ops->disconnect(req);
    }
}

/* ---- Properties */

static unsigned property_size(const struct nvf_property_sqe *sqe)
{
    switch (sqe->attrib & 7) {
    case NVF_PROPERTY_4:
        return 4;
    case NVF_PROPERTY_8:
        return 8;
    default:
        return 0;
    }
}

static void property_get_run(struct lst_req *req)
{
    const struct nvf_property_sqe *sqe = (const struct nvf_property_sqe *)&req->sqe;
    uint64_t value = 0;
    uint16_t status = lst_property_get(req->queue->ctrl, sqe->offset, property_size(sqe), &value);

    req->cqe.result = value;
    lst_req_complete(req, status);
}

static void property_set_run(struct lst_req *req)
{
    const struct nvf_property_sqe *sqe = (const struct nvf_property_sqe *)&req->sqe;

    lst_req_complete(
        req, lst_property_set(req->queue->ctrl, sqe->offset, property_size(sqe), sqe->value));
}

const struct lst_command lst_fabrics_commands[256] = {
    [NVF_PROPERTY_SET] = { LST_CMD_DISCOVERY | LST_CMD_DISABLED, NULL, property_set_run },
    [NVF_CONNECT] = {
        LST_CMD_IN | LST_CMD_DISCOVERY | LST_CMD_DISABLED | LST_CMD_CONNECT | LST_CMD_IO_QUEUE,
        connect_length, connect_run,
    },
    [NVF_DISCONNECT] = {
        LST_CMD_DISCOVERY | LST_CMD_DISABLED | LST_CMD_IO_QUEUE, NULL, disconnect_run,
    },
    [NVF_PROPERTY_GET] = { LST_CMD_DISCOVERY | LST_CMD_DISABLED, NULL, property_get_run },
};
