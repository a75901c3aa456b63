/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Get Features and Set Features: a table by feature identifier {capabilities, data length, get,
 * set}.
 * Not here: what features act on elsewhere (keepalive.c, aer.c, io.c).
 * NVM Express Base 2.0, 5.15 and 5.27; nothing is saveable, so the saved value is the default.
 */
#include "engine/ctrl.h"

#include <string.h>

struct feature {
    bool supported;
    bool discovery;
    uint8_t caps;                        /* enum nv_feature_caps */
    uint16_t data_len;
    uint32_t (*initial)(const struct lst_ctrl *ctrl);    /* the default value; NULL: 0 */
    /* Current value: into DW0 and req->data. */
    uint16_t (*get)(struct lst_req *req, struct lst_ctrl *ctrl);
    uint16_t (*set)(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value);
    /* of Get Features, before its data length; NULL: no more to check */
    bool (*check)(const struct lst_req *req);
};

static uint16_t invalid_field(struct lst_req *req)
{
    req->param_location = 44;            /* CDW11 */
    return lst_no_retry(NV_SC_INVALID_FIELD);
}

/* ---- Values that are only kept */

static uint16_t get_arbitration(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->features.arbitration;
    return NV_SC_SUCCESS;
}

static uint16_t set_arbitration(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    ctrl->features.arbitration = value & 0xffffff07;
    return NV_SC_SUCCESS;
}

static uint16_t get_power(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->features.power;
    return NV_SC_SUCCESS;
}

/* There is power state 0 only. */
static uint16_t set_power(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    if (value & 0x1f) {
        return invalid_field(req);
    }
    ctrl->features.power = value & 0xe0;
    return NV_SC_SUCCESS;
}

static uint16_t get_error_recovery(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->features.error_recovery;
    return NV_SC_SUCCESS;
}

/* Bit 16, an error for deallocated blocks, is not supported (Identify NSFEAT bit 2). */
static uint16_t set_error_recovery(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    if (value & ~0xffffu) {
        return invalid_field(req);
    }
    ctrl->features.error_recovery = value;
    return NV_SC_SUCCESS;
}

static uint16_t get_write_atomicity(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->features.write_atomicity;
    return NV_SC_SUCCESS;
}

static uint16_t set_write_atomicity(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    ctrl->features.write_atomicity = value & 1;
    return NV_SC_SUCCESS;
}

static uint16_t get_host_behavior(struct lst_req *req, struct lst_ctrl *ctrl)
{
    memcpy(req->data, ctrl->features.host_behavior, sizeof(ctrl->features.host_behavior));
    return NV_SC_SUCCESS;
}

static uint16_t set_host_behavior(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)value;
    /* ACRE, ETDAS, LBAFEE are yes or no. */
    if (req->data[0] > 1 || req->data[1] > 1 || req->data[2] > 1) {
        return invalid_field(req);
    }
    memcpy(ctrl->features.host_behavior, req->data, 3);
    return NV_SC_SUCCESS;
}

/* ---- Temperature: the composite sensor, over and under thresholds */

static uint32_t initial_temp(const struct lst_ctrl *ctrl)
{
    (void)ctrl;
    return LST_TEMP_WARNING_K;
}

static bool temp_select(uint32_t cdw11, bool *under)
{
    *under = (cdw11 >> 20 & 3) == 1;
    return (cdw11 >> 16 & 0xf) == 0 && (cdw11 >> 20 & 3) <= 1;
}

static uint16_t get_temp(struct lst_req *req, struct lst_ctrl *ctrl)
{
    bool under;

    if (!temp_select(req->sqe.cdw11, &under)) {
        return invalid_field(req);
    }
    req->cqe.dw0 = under ? ctrl->features.temp_under : ctrl->features.temp_over;
    return NV_SC_SUCCESS;
}

static uint16_t set_temp(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    bool under;

    if (!temp_select(value, &under)) {
        return invalid_field(req);
    }
    *(under ? &ctrl->features.temp_under : &ctrl->features.temp_over) = (uint16_t)value;
    return NV_SC_SUCCESS;
}

/* ---- Write cache */

static uint32_t initial_one(const struct lst_ctrl *ctrl)
{
    (void)ctrl;
    return 1;
}

static uint16_t get_write_cache(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->features.write_cache;
    return NV_SC_SUCCESS;
}

static uint16_t set_write_cache(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    ctrl->features.write_cache = value & 1;
    return NV_SC_SUCCESS;
}

/* ---- Queues */

static uint32_t queues_value(uint32_t count)
{
    return (count - 1) << 16 | (count - 1);
}

static uint32_t initial_queues(const struct lst_ctrl *ctrl)
{
    return queues_value(ctrl->subsys->qid_max);
}

static uint16_t get_queues(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = queues_value(ctrl->io_queues_granted);
    return NV_SC_SUCCESS;
}

/*
 * A Fabrics queue is both kinds at once: the smaller wish decides. Not once there are I/O queues
 * (5.27.1.5).
 */
static uint16_t set_queues(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    uint32_t submission = value & 0xffff;
    uint32_t completion = value >> 16;

    if (submission == 0xffff || completion == 0xffff) {
        return invalid_field(req);
    }
    if (ctrl->io_queue_count) {
        return lst_no_retry(NV_SC_COMMAND_SEQUENCE);
    }
    ctrl->io_queues_granted = MIN(MIN(submission, completion) + 1, ctrl->subsys->qid_max);
    return get_queues(req, ctrl);
}

/* ---- Events, keep-alive */

static uint16_t get_async_event(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->aer.config;
    return NV_SC_SUCCESS;
}

static uint16_t set_async_event(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    uint32_t allowed = ctrl->subsys->discovery ? NV_OAES_DISCOVERY :
                                                 0xffu | NV_OAES_NS_ATTR | NV_OAES_ANA;

    if (value & ~allowed) {
        return invalid_field(req);
    }
    ctrl->aer.config = value;
    return NV_SC_SUCCESS;
}

static uint16_t get_kato(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->kato_ms;
    return NV_SC_SUCCESS;
}

static uint16_t set_kato(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    lst_keepalive_start(ctrl, value);
    return NV_SC_SUCCESS;
}

/* ---- Timestamp (5.27.1.10): milliseconds in 47:0, attributes in byte 6 */

static uint16_t get_timestamp(struct lst_req *req, struct lst_ctrl *ctrl)
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

static uint16_t set_timestamp(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t unused)
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

static uint16_t get_profile(struct lst_req *req, struct lst_ctrl *ctrl)
{
    (void)ctrl;
    req->cqe.dw0 = 0;
    return NV_SC_SUCCESS;
}

static uint16_t set_profile(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)ctrl;
    if (value & 0x1ff) {
        return lst_no_retry(NV_SC_CSI_COMBINATION_REJECTED);
    }
    return get_profile(req, ctrl);
}

/* ---- Host identifier: Connect gave it */

/* Fabrics knows the 128-bit form only: EXHID must be set. */
static bool check_host_id(const struct lst_req *req)
{
    return req->sqe.cdw11 & 1;
}

static uint16_t get_host_id(struct lst_req *req, struct lst_ctrl *ctrl)
{
    memcpy(req->data, ctrl->hostid, sizeof(ctrl->hostid));
    return NV_SC_SUCCESS;
}

static uint16_t set_host_id(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    (void)req;
    (void)ctrl;
    (void)value;
    return lst_no_retry(NV_SC_COMMAND_SEQUENCE);
}

/* ---- Namespace write protection: states 0 and 1 */

static uint16_t get_write_protect(struct lst_req *req, struct lst_ctrl *ctrl)
{
    const struct lst_ns *ns = lst_ns_lookup(ctrl->subsys, req->sqe.nsid);

    if (!ns) {
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    req->cqe.dw0 = ns->write_protected;
    return NV_SC_SUCCESS;
}

static uint16_t set_write_protect(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    struct lst_ns *ns = lst_ns_lookup(ctrl->subsys, req->sqe.nsid);

    if (!ns) {
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    if ((value & 7) > 1) {
        return invalid_field(req);
    }
    lst_ns_write_protect(ns, value & 7);
    return NV_SC_SUCCESS;
}

enum {
    CHANGEABLE = NV_FEATCAP_CHANGEABLE,
    PER_NS = NV_FEATCAP_PER_NS | NV_FEATCAP_CHANGEABLE,
};

#define FEATURE(discovery, caps, data_len, initial, name) \
    { true, discovery, caps, data_len, initial, get_##name, set_##name, NULL }

static const struct feature features[256] = {
    [NV_FEAT_ARBITRATION] = FEATURE(false, CHANGEABLE, 0, NULL, arbitration),
    [NV_FEAT_POWER_MGMT] = FEATURE(false, CHANGEABLE, 0, NULL, power),
    [NV_FEAT_TEMP_THRESHOLD] = FEATURE(false, CHANGEABLE, 0, initial_temp, temp),
    [NV_FEAT_ERROR_RECOVERY] = FEATURE(false, CHANGEABLE, 0, NULL, error_recovery),
    [NV_FEAT_VOLATILE_WC] = FEATURE(false, CHANGEABLE, 0, initial_one, write_cache),
    [NV_FEAT_NUM_QUEUES] = FEATURE(false, CHANGEABLE, 0, initial_queues, queues),
    [NV_FEAT_WRITE_ATOMICITY] = FEATURE(false, CHANGEABLE, 0, NULL, write_atomicity),
    [NV_FEAT_ASYNC_EVENT] = FEATURE(true, CHANGEABLE, 0, NULL, async_event),
    [NV_FEAT_TIMESTAMP] = FEATURE(false, CHANGEABLE, 8, NULL, timestamp),
    [NV_FEAT_KATO] = FEATURE(true, CHANGEABLE, 0, NULL, kato),
    [NV_FEAT_HOST_BEHAVIOR] = FEATURE(false, CHANGEABLE, 512, NULL, host_behavior),
    [NV_FEAT_COMMAND_SET_PROFILE] = FEATURE(false, CHANGEABLE, 0, NULL, profile),
    [NV_FEAT_HOST_ID] = { true, true, 0, 16, NULL, get_host_id, set_host_id, check_host_id },
    [NV_FEAT_RESV_NOTICE_MASK] = { true, false, PER_NS, 0, NULL, lst_resv_get_mask,
                                   lst_resv_set_mask, NULL },
    [NV_FEAT_RESV_PERSIST] = { true, false, PER_NS, 0, NULL, lst_resv_get_persist,
                               lst_resv_set_persist, NULL },
    [NV_FEAT_WRITE_PROTECT] = FEATURE(false, PER_NS, 0, NULL, write_protect),
};

static const struct feature *feature_find(struct lst_req *req)
{
    const struct feature *feature = &features[req->sqe.cdw10 & 0xff];

    if (!feature->supported || (req->queue->ctrl->subsys->discovery && !feature->discovery)) {
        req->param_location = 40;
        return NULL;
    }
    return feature;
}

static unsigned feature_select(const struct lst_req *req)
{
    return req->sqe.cdw10 >> 8 & 7;
}

uint16_t lst_feature_get_length(struct lst_req *req, uint32_t *len)
{
    const struct feature *feature = feature_find(req);
    unsigned select = feature_select(req);

    if (!feature || select > NV_SEL_SUPPORTED) {
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if (feature->check && !feature->check(req)) {
        return invalid_field(req);
    }
    /*
     * Capabilities come in DW0 alone; some hosts offer a buffer all the same, which is then too
     * long.
     */
    *len = select == NV_SEL_SUPPORTED ? 0 : feature->data_len;
    return NV_SC_SUCCESS;
}

uint16_t lst_feature_set_length(struct lst_req *req, uint32_t *len)
{
    const struct feature *feature = feature_find(req);

    if (!feature) {
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if (req->sqe.cdw10 & NV_FEAT_SAVE) {
        return lst_no_retry(NV_SC_FEATURE_NOT_SAVEABLE);
    }
    *len = feature->data_len;
    return NV_SC_SUCCESS;
}

void lst_feature_get_run(struct lst_req *req)
{
    const struct feature *feature = feature_find(req);
    struct lst_ctrl *ctrl = req->queue->ctrl;
    uint16_t status = NV_SC_SUCCESS;

    g_assert(feature);
    if (req->data_len) {
        memset(req->data, 0, req->data_len);
    }
    switch (feature_select(req)) {
    case NV_SEL_CURRENT:
        status = feature->get(req, ctrl);
        break;
    case NV_SEL_SUPPORTED:
        req->cqe.dw0 = feature->caps;
        break;
    default:
        req->cqe.dw0 = feature->initial ? feature->initial(ctrl) : 0;
        break;
    }
    lst_req_complete(req, status);
}

void lst_feature_set_run(struct lst_req *req)
{
    const struct feature *feature = feature_find(req);

    g_assert(feature);
    lst_req_complete(req, feature->set(req, req->queue->ctrl, req->sqe.cdw11));
}

void lst_features_reset(struct lst_ctrl *ctrl)
{
    memset(&ctrl->features, 0, sizeof(ctrl->features));
    ctrl->features.temp_over = LST_TEMP_WARNING_K;
    ctrl->features.write_cache = true;
    ctrl->features.timestamp_at_ns = ctrl->target->now_ns;
    ctrl->aer.config = 0;
    lst_resv_log_reset(ctrl);
}

void lst_features_log(const struct lst_ctrl *ctrl, uint32_t *entries)
{
    (void)ctrl;
    for (unsigned i = 0; i < 256; i++) {
        if (features[i].supported) {
            entries[i] = NV_FSUPP | (features[i].caps & NV_FEATCAP_PER_NS ? NV_FSP_SCOPE_NS :
                                                                            NV_FSP_SCOPE_CTRL);
        }
    }
}
