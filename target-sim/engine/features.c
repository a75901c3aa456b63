/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Get Features and Set Features: the table by feature identifier, and what holds for all: selects,
 * namespaces, values that are only kept.
 * Not here: single features (feature_values.c, feature_media.c, resv_notice.c).
 * NVM Express Base 2.0, 5.15 and 5.27; nothing is saveable, so the saved value is the default.
 * Interrupt coalescing and vectors are not there on Fabrics.
 */
#include "engine/feature.h"

#include <string.h>

enum {
    CHANGEABLE = NV_FEATCAP_CHANGEABLE,
    PER_NS = NV_FEATCAP_PER_NS | NV_FEATCAP_CHANGEABLE,
};

#define BOTH(name) .get = lst_get_##name, .set = lst_set_##name
#define KEPT(field, bits) .plain = offsetof(struct lst_features, field), .kept = (bits)
#define ROW .supported = true, .caps = CHANGEABLE
#define NS_ROW .supported = true, .caps = PER_NS

static const struct lst_feature features[256] = {
    [NV_FEAT_ARBITRATION] = { ROW, KEPT(arbitration, 0xffffff07) },
    /* There is power state 0 only; the workload hint is a hint. */
    [NV_FEAT_POWER_MGMT] = { ROW, KEPT(power, 0xe0), .refused = 0x1f },
    [NV_FEAT_TEMP_THRESHOLD] = { ROW, BOTH(temperature), .initial = lst_initial_temperature,
                                 .check = lst_check_temperature },
    /* Bit 16, an error for deallocated blocks, is not there (Identify NSFEAT bit 2). */
    [NV_FEAT_ERROR_RECOVERY] = { ROW, KEPT(error_recovery, 0xffff), .refused = 0xffff0000 },
    [NV_FEAT_VOLATILE_WC] = { ROW, BOTH(write_cache), .initial = lst_initial_write_cache },
    [NV_FEAT_NUM_QUEUES] = { ROW, BOTH(queues), .initial = lst_initial_queues },
    [NV_FEAT_WRITE_ATOMICITY] = { ROW, KEPT(write_atomicity, 1) },
    [NV_FEAT_ASYNC_EVENT] = { ROW, .discovery = true, BOTH(async_event) },
    [NV_FEAT_TIMESTAMP] = { ROW, .data_len = 8, BOTH(timestamp) },
    [NV_FEAT_KATO] = { ROW, .discovery = true, BOTH(kato) },
    [NV_FEAT_HOST_BEHAVIOR] = { ROW, .data_len = 512, BOTH(host_behavior) },
    [NV_FEAT_COMMAND_SET_PROFILE] = { ROW, BOTH(profile) },
    [NV_FEAT_HOST_ID] = { .supported = true, .discovery = true, .data_len = 16, BOTH(host_id),
                          .check = lst_check_host_id },
    [NV_FEAT_RESV_NOTICE_MASK] = { NS_ROW, .all = true, .get = lst_resv_get_mask,
                                   .set = lst_resv_set_mask },
    [NV_FEAT_RESV_PERSIST] = { NS_ROW, .all = true, .get = lst_resv_get_persist,
                               .set = lst_resv_set_persist },
    [NV_FEAT_WRITE_PROTECT] = { NS_ROW, BOTH(write_protect) },
};

/* ---- What holds for all */

static uint16_t invalid(struct lst_req *req, uint16_t location)
{
    req->param_location = location;
    return lst_no_retry(NV_SC_INVALID_FIELD);
}

static const struct lst_feature *feature_find(const struct lst_req *req)
{
    const struct lst_feature *feature = &features[req->sqe.cdw10 & 0xff];
    bool discovery = req->queue->ctrl->subsys->discovery;

    return feature->supported && (!discovery || feature->discovery) ? feature : NULL;
}

static unsigned feature_select(const struct lst_req *req)
{
    return req->sqe.cdw10 >> 8 & 7;
}

/* Get Features of what is not namespace specific does not look at the NSID (5.15). */
static uint16_t check_nsid(struct lst_req *req, const struct lst_feature *feature, bool set)
{
    uint32_t nsid = req->sqe.nsid;
    bool per_ns = feature->caps & NV_FEATCAP_PER_NS;
    uint16_t status = NV_SC_SUCCESS;

    if (!per_ns && set && nsid && nsid != NV_NSID_ALL) {
        status = nsid > LST_NSID_MAX ? NV_SC_INVALID_NAMESPACE : NV_SC_FEATURE_NOT_NS_SPECIFIC;
    } else if (per_ns && nsid == NV_NSID_ALL && feature->all) {
        status = set ? NV_SC_SUCCESS : NV_SC_INVALID_FIELD;
    } else if (per_ns && !lst_ns_lookup(req->queue->ctrl->subsys, nsid)) {
        status = NV_SC_INVALID_NAMESPACE;
    }
    if (status) {
        req->param_location = 4;
        return lst_no_retry(status);
    }
    return NV_SC_SUCCESS;
}

uint16_t lst_feature_get_length(struct lst_req *req, uint32_t *len)
{
    const struct lst_feature *feature = feature_find(req);
    unsigned select = feature_select(req);

    if (!feature) {
        return invalid(req, 40);
    }
    if (select > NV_SEL_SUPPORTED) {
        return invalid(req, 41);
    }
    /*
     * Capabilities come in DW0 alone; some hosts offer a buffer all the same, which is then too
     * long.
     */
    if (select == NV_SEL_SUPPORTED) {
        *len = 0;
        return NV_SC_SUCCESS;
    }
    if (feature->check && !feature->check(req)) {
        return lst_feature_invalid(req);
    }
    *len = feature->data_len;
    return check_nsid(req, feature, false);
}

uint16_t lst_feature_set_length(struct lst_req *req, uint32_t *len)
{
    const struct lst_feature *feature = feature_find(req);

    if (!feature) {
        return invalid(req, 40);
    }
    if (req->sqe.cdw10 & NV_FEAT_SAVE) {
        req->param_location = 43 | 7 << 8;
        return lst_no_retry(NV_SC_FEATURE_NOT_SAVEABLE);
    }
    *len = feature->data_len;
    return check_nsid(req, feature, true);
}

/* ---- Values that are only kept */

static uint32_t *plain_value(struct lst_ctrl *ctrl, const struct lst_feature *feature)
{
    return (uint32_t *)((char *)&ctrl->features + feature->plain);
}

static uint16_t set_plain(struct lst_req *req, struct lst_ctrl *ctrl,
                          const struct lst_feature *feature, uint32_t value)
{
    if (value & feature->refused) {
        return lst_feature_invalid(req);
    }
    *plain_value(ctrl, feature) = value & feature->kept;
    return NV_SC_SUCCESS;
}

/* ---- Commands */

/* The namespace may have gone while data were on their way. */
static bool ns_gone(const struct lst_req *req, const struct lst_feature *feature)
{
    return (feature->caps & NV_FEATCAP_PER_NS) && req->sqe.nsid != NV_NSID_ALL &&
           !lst_ns_lookup(req->queue->ctrl->subsys, req->sqe.nsid);
}

static uint16_t get_current(struct lst_req *req, const struct lst_feature *feature)
{
    struct lst_ctrl *ctrl = req->queue->ctrl;

    if (feature->get) {
        return feature->get(req, ctrl);
    }
    req->cqe.dw0 = *plain_value(ctrl, feature);
    return NV_SC_SUCCESS;
}

void lst_feature_get_run(struct lst_req *req)
{
    const struct lst_feature *feature = feature_find(req);
    uint16_t status = NV_SC_SUCCESS;

    g_assert(feature);
    if (req->data_len) {
        memset(req->data, 0, req->data_len);
    }
    if (feature_select(req) == NV_SEL_SUPPORTED) {
        req->cqe.dw0 = feature->caps;
    } else if (ns_gone(req, feature)) {
        status = lst_no_retry(NV_SC_INVALID_NAMESPACE);
    } else if (feature_select(req) == NV_SEL_CURRENT) {
        status = get_current(req, feature);
    } else {
        req->cqe.dw0 = feature->initial ? feature->initial(req) : 0;
    }
    lst_req_complete(req, status);
}

void lst_feature_set_run(struct lst_req *req)
{
    const struct lst_feature *feature = feature_find(req);
    struct lst_ctrl *ctrl = req->queue->ctrl;
    uint16_t status;

    g_assert(feature);
    if (ns_gone(req, feature)) {
        status = lst_no_retry(NV_SC_INVALID_NAMESPACE);
    } else {
        status = feature->set ? feature->set(req, ctrl, req->sqe.cdw11) :
                                set_plain(req, ctrl, feature, req->sqe.cdw11);
    }
    if (status != LST_FEATURE_LATER) {
        lst_req_complete(req, status);
    }
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
    for (unsigned i = 0; i < 256; i++) {
        bool here = features[i].supported && (!ctrl->subsys->discovery || features[i].discovery);

        if (here) {
            entries[i] = NV_FSUPP | (features[i].caps & NV_FEATCAP_PER_NS ? NV_FSP_SCOPE_NS :
                                                                            NV_FSP_SCOPE_CTRL);
        }
    }
}
