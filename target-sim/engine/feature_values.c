/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features that are more than a value that is kept: temperature, queues, events, time, identity.
 * Not here: those that concern the media (feature_media.c) and reservations (resv_notice.c).
 * NVM Express Base 2.0, 5.27.1.
 */
#include "engine/feature.h"

#include <string.h>

/* ---- Temperature: the composite sensor, over and under thresholds */

enum { THSEL_OVER = 0, THSEL_UNDER = 1, TMPSEL_COMPOSITE = 0, TMPSEL_ALL = 0xf };

static unsigned thsel(uint32_t cdw11)
{
    return cdw11 >> 20 & 3;
}

static unsigned tmpsel(uint32_t cdw11)
{
    return cdw11 >> 16 & 0xf;
}

bool lst_check_temperature(const struct lst_req *req)
{
    return thsel(req->sqe.cdw11) <= THSEL_UNDER && tmpsel(req->sqe.cdw11) == TMPSEL_COMPOSITE;
}

uint32_t lst_initial_temperature(const struct lst_req *req)
{
    return thsel(req->sqe.cdw11) == THSEL_UNDER ? 0 : LST_TEMP_WARNING_K;
}

uint16_t lst_get_temperature(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = thsel(req->sqe.cdw11) == THSEL_UNDER ? ctrl->features.temp_under :
                                                          ctrl->features.temp_over;
    return NV_SC_SUCCESS;
}

uint16_t lst_set_temperature(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    bool sensor = tmpsel(value) == TMPSEL_COMPOSITE || tmpsel(value) == TMPSEL_ALL;

    if (thsel(value) > THSEL_UNDER || !sensor) {
        return lst_feature_invalid(req);
    }
    *(thsel(value) == THSEL_UNDER ? &ctrl->features.temp_under : &ctrl->features.temp_over) =
        (uint16_t)value;
    lst_health_check(ctrl);
    return NV_SC_SUCCESS;
}

uint8_t lst_health_warnings(const struct lst_ctrl *ctrl)
{
    return LST_TEMP_K >= ctrl->features.temp_over || LST_TEMP_K <= ctrl->features.temp_under ?
               NV_SMART_TEMPERATURE :
               0;
}

void lst_health_check(struct lst_ctrl *ctrl)
{
    bool warns = lst_health_warnings(ctrl) & ctrl->aer.config;

    if (warns && !ctrl->features.temp_warned) {
        lst_aer_notify(ctrl, LST_NOTICE_TEMPERATURE);
    }
    ctrl->features.temp_warned = warns;
}

/* ---- Queues */

static uint32_t queues_value(uint32_t count)
{
    return (count - 1) << 16 | (count - 1);
}

uint32_t lst_initial_queues(const struct lst_req *req)
{
    return queues_value(req->queue->ctrl->subsys->qid_max);
}

uint16_t lst_get_queues(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = queues_value(ctrl->io_queues_granted);
    return NV_SC_SUCCESS;
}

/*
 * A Fabrics queue is both kinds at once: the smaller wish decides. Not once there are I/O queues
 * (5.27.1.5).
 */
uint16_t lst_set_queues(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    uint32_t submission = value & 0xffff;
    uint32_t completion = value >> 16;

    if (submission == 0xffff || completion == 0xffff) {
        return lst_feature_invalid(req);
    }
    if (ctrl->io_queue_count) {
        return lst_no_retry(NV_SC_COMMAND_SEQUENCE);
    }
    ctrl->io_queues_granted = MIN(MIN(submission, completion) + 1, ctrl->subsys->qid_max);
    return lst_get_queues(req, ctrl);
}

/* ---- Events, keep-alive */

uint16_t lst_get_async_event(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->aer.config;
    return NV_SC_SUCCESS;
}

/* Of the critical warnings, the temperature is the one that can happen here. */
uint16_t lst_set_async_event(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    uint32_t allowed = ctrl->subsys->discovery ?
                           NV_OAES_DISCOVERY :
                           NV_SMART_WARNINGS | NV_OAES_NS_ATTR | NV_OAES_ANA | NV_OAES_ZONE;

    if (value & ~allowed) {
        return lst_feature_invalid(req);
    }
    ctrl->aer.config = value;
    lst_health_check(ctrl);
    return NV_SC_SUCCESS;
}

uint16_t lst_get_kato(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->kato_ms;
    return NV_SC_SUCCESS;
}

uint16_t lst_set_kato(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    lst_keepalive_start(ctrl, value);
    return NV_SC_SUCCESS;
}

/* ---- Timestamp (5.27.1.10): milliseconds in 47:0, attributes in byte 6 */

uint16_t lst_get_timestamp(struct lst_req *req, struct lst_ctrl *ctrl)
{
    const struct lst_features *features = &ctrl->features;
    uint64_t elapsed_ms = (ctrl->target->now_ns - features->timestamp_at_ns) / 1000000;
    uint64_t value = (features->timestamp_ms + elapsed_ms) & 0xffffffffffffu;

    if (features->timestamp_set) {
        value |= (uint64_t)1 << 49;      /* origin: Set Features */
    }
    memcpy(req->data, &value, sizeof(value));
    return NV_SC_SUCCESS;
}

uint16_t lst_set_timestamp(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t unused)
{
    uint64_t value;

    (void)unused;
    memcpy(&value, req->data, sizeof(value));
    ctrl->features.timestamp_ms = value & 0xffffffffffffu;
    ctrl->features.timestamp_at_ns = ctrl->target->now_ns;
    ctrl->features.timestamp_set = true;
    return NV_SC_SUCCESS;
}

/* ---- Command set profile: the one combination of Identify CNS 1Ch */

uint16_t lst_get_profile(struct lst_req *req, struct lst_ctrl *ctrl)
{
    (void)ctrl;
    req->cqe.dw0 = 0;
    return NV_SC_SUCCESS;
}

uint16_t lst_set_profile(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    if (value & 0x1ff) {
        return lst_no_retry(NV_SC_CSI_COMBINATION_REJECTED);
    }
    return lst_get_profile(req, ctrl);
}

/* ---- The host: how it behaves, who it is */

uint16_t lst_get_host_behavior(struct lst_req *req, struct lst_ctrl *ctrl)
{
    memcpy(req->data, ctrl->features.host_behavior, sizeof(ctrl->features.host_behavior));
    return NV_SC_SUCCESS;
}

uint16_t lst_set_host_behavior(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)value;
    /* ACRE, ETDAS, LBAFEE are yes or no. */
    if (req->data[0] > 1 || req->data[1] > 1 || req->data[2] > 1) {
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    memcpy(ctrl->features.host_behavior, req->data, 3);
    return NV_SC_SUCCESS;
}

/* Fabrics knows the 128-bit form only: EXHID must be set. */
bool lst_check_host_id(const struct lst_req *req)
{
    return req->sqe.cdw11 & 1;
}

uint16_t lst_get_host_id(struct lst_req *req, struct lst_ctrl *ctrl)
{
    memcpy(req->data, ctrl->hostid, sizeof(ctrl->hostid));
    return NV_SC_SUCCESS;
}

/* On Fabrics it comes from Connect. */
uint16_t lst_set_host_id(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    (void)ctrl;
    (void)value;
    return lst_no_retry(NV_SC_COMMAND_SEQUENCE);
}
