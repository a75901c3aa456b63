/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations where they meet requests and controllers.
 * Not here: what a command changes (resv.h).
 * NVM Express Base 2.0, 7.2 to 7.5, 8.19, 5.16.1.25, 5.27.1.26 and 5.27.1.27.
 */
#ifndef ENGINE_RESV_CMD_H
#define ENGINE_RESV_CMD_H

#include "engine/resv.h"

struct lst_ctrl;
struct lst_ns;
struct lst_req;

/* A request's part in the reservations of its namespace. */
enum lst_resv_part {
    LST_RESV_NO_PART,                    /* the namespace has none, or the request has ended */
    LST_RESV_ACTIVE,                     /* in lst_ns_resv.reqs */
    LST_RESV_PREEMPTED,                  /* the same; it must not execute any more */
    LST_RESV_AWAITED,                    /* the same; with the backend, and waiters wait for it */
    LST_RESV_WAITER,                     /* Preempt and Abort, in lst_ns_resv.waiters */
};

/* Made when a namespace is first given reservations, and kept as long as it. */
struct lst_ns_resv {
    bool enabled;                        /* resv_enable */
    struct lst_resv state;
    GQueue reqs;                         /* struct lst_req.resv_link */
    GQueue waiters;
    unsigned awaited;                    /* requests that waiters wait for */
};

/* Notifications that a controller keeps for its host. */
struct lst_resv_log {
    struct nv_log_reservation pages[LST_RESV_PAGES];
    unsigned first, count;
    uint64_t number;                     /* of the last one, whether there was room or not */
    uint8_t masks[LST_NSID_MAX + 1];     /* Reservation Notification Mask */
};

static inline bool lst_resv_enabled(const struct lst_ns_resv *resv)
{
    return resv && resv->enabled;
}

/* ---- resv_cmd.c */
/* resv_enable; 0 forgets what was registered and held. @persistent: somebody keeps the state. */
void lst_resv_set_enabled(struct lst_ns *ns, bool enabled, bool persistent);
/* RESCAP. */
uint8_t lst_resv_capabilities(const struct lst_ns *ns);
/* A request begins to use, and ends to use, its namespace. */
void lst_resv_enter(struct lst_req *req);
void lst_resv_leave(struct lst_req *req);
/* May it execute? Asked when the command comes and again when its data are there. */
uint16_t lst_resv_check(const struct lst_req *req);

uint16_t lst_resv_keys_length(struct lst_req *req, uint32_t *len);
uint16_t lst_resv_release_length(struct lst_req *req, uint32_t *len);
uint16_t lst_resv_report_length(struct lst_req *req, uint32_t *len);
void lst_resv_register_run(struct lst_req *req);
void lst_resv_acquire_run(struct lst_req *req);
void lst_resv_release_run(struct lst_req *req);
void lst_resv_report_run(struct lst_req *req);

/* ---- resv_notice.c */
void lst_resv_notify(const struct lst_ns *ns, const struct lst_resv_notices *notices);
/* The page to be read next, all zero if none waits; then the same is dropped. */
void lst_resv_log_page(const struct lst_ctrl *ctrl, struct nv_log_reservation *page);
void lst_resv_log_drop(struct lst_ctrl *ctrl);
/* A controller reset: no pages, no masks. */
void lst_resv_log_reset(struct lst_ctrl *ctrl);
uint16_t lst_resv_get_mask(struct lst_req *req, struct lst_ctrl *ctrl);
uint16_t lst_resv_set_mask(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value);
uint16_t lst_resv_get_persist(struct lst_req *req, struct lst_ctrl *ctrl);
uint16_t lst_resv_set_persist(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value);

#endif
