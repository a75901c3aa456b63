/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One feature's row in the table of Get Features and Set Features, and the rows' functions.
 * Not here: the table and the rules for all (features.c).
 * NVM Express Base 2.0, 5.15 and 5.27.
 */
#ifndef ENGINE_FEATURE_H
#define ENGINE_FEATURE_H

#include "engine/ctrl.h"

/* What a set function returns when it completes the request itself, later. */
enum { LST_FEATURE_LATER = 0xffff };

struct lst_feature {
    bool supported;
    bool discovery;                      /* discovery controllers have it */
    /* namespace specific: Set Features of NSID FFFFFFFFh means all of them (else it is an error) */
    bool all;
    uint8_t caps;                        /* enum nv_feature_caps */
    uint16_t data_len;
    /* Without get and set: a value that is only kept, the uint32_t at this place of lst_features. */
    size_t plain;
    uint32_t refused;                    /* bits that must be 0 */
    uint32_t kept;                       /* bits that are remembered */
    /* The default value; NULL: 0. */
    uint32_t (*initial)(const struct lst_req *req);
    /* The current value, into DW0 and req->data. */
    uint16_t (*get)(struct lst_req *req, struct lst_ctrl *ctrl);
    uint16_t (*set)(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value);
    /* Of Get Features, whatever is selected; NULL: nothing to check. */
    bool (*check)(const struct lst_req *req);
};

/* Invalid Field, CDW11. */
static inline uint16_t lst_feature_invalid(struct lst_req *req)
{
    req->param_location = 44;
    return lst_no_retry(NV_SC_INVALID_FIELD);
}

#define LST_FEATURE(name) \
    uint16_t lst_get_##name(struct lst_req *req, struct lst_ctrl *ctrl); \
    uint16_t lst_set_##name(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)

/* ---- feature_values.c */
LST_FEATURE(temperature);
LST_FEATURE(queues);
LST_FEATURE(async_event);
LST_FEATURE(timestamp);
LST_FEATURE(kato);
LST_FEATURE(host_behavior);
LST_FEATURE(profile);
LST_FEATURE(host_id);
uint32_t lst_initial_temperature(const struct lst_req *req);
uint32_t lst_initial_queues(const struct lst_req *req);
bool lst_check_temperature(const struct lst_req *req);
bool lst_check_host_id(const struct lst_req *req);

/* ---- feature_media.c */
LST_FEATURE(write_cache);
LST_FEATURE(write_protect);
uint32_t lst_initial_write_cache(const struct lst_req *req);

#endif
