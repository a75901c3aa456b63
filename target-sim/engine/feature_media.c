/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features that wait for the media: Volatile Write Cache and Namespace Write Protection.
 * Not here: what they do to other commands (io.c, req.c), what is kept (ns_state.c).
 * NVM Express Base 2.0, 5.27.1.4, 5.27.1.28 and 8.12.
 */
#include "engine/feature.h"

/* @req is given back to @done with the backend's status; it holds a reference to @ns meanwhile. */
static void flush(struct lst_req *req, struct lst_ns *ns,
                  void (*done)(struct lst_req *req, uint16_t status))
{
    struct lst_target *target = req->queue->target;

    req->ns = ns;
    lst_ns_ref(ns);
    req->io_done = done;
    req->io.op = LST_IO_FLUSH;
    req->io.nsid = ns->nsid;
    req->io.backend = ns->backend;
    req->at_backend = true;
    target->ops.io_submit(target->front, &req->io);
}

/* ---- Write cache */

uint32_t lst_initial_write_cache(const struct lst_req *req)
{
    (void)req;
    return 1;
}

uint16_t lst_get_write_cache(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = ctrl->features.write_cache;
    return NV_SC_SUCCESS;
}

static void flush_from(struct lst_req *req, uint32_t nsid);

static void cache_flushed(struct lst_req *req, uint16_t status)
{
    uint32_t nsid = req->ns->nsid;

    lst_ns_unref(req->ns);
    req->ns = NULL;
    if (!req->queue->ctrl) {
        lst_req_complete(req, NV_SC_ABORT_SQ_DELETION);
    } else if (status) {
        req->queue->ctrl->features.write_cache = true;
        lst_req_complete(req, status);
    } else {
        flush_from(req, nsid + 1);
    }
}

static void flush_from(struct lst_req *req, uint32_t nsid)
{
    for (; nsid <= LST_NSID_MAX; nsid++) {
        struct lst_ns *ns = lst_ns_lookup(req->queue->ctrl->subsys, nsid);

        if (ns) {
            flush(req, ns, cache_flushed);
            return;
        }
    }
    lst_req_complete(req, NV_SC_SUCCESS);
}

/* Off: from now on every write is as with FUA, and what was written before is flushed. */
uint16_t lst_set_write_cache(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    bool before = ctrl->features.write_cache;

    ctrl->features.write_cache = value & 1;
    if (!before || ctrl->features.write_cache) {
        return NV_SC_SUCCESS;
    }
    flush_from(req, 1);
    return LST_FEATURE_LATER;
}

bool lst_write_cache_late(struct lst_req *req)
{
    const struct lst_ctrl *ctrl = req->queue->ctrl;
    struct lst_target *target = req->queue->target;
    bool wrote = req->io.op == LST_IO_WRITE || req->io.op == LST_IO_WRITE_ZEROES;

    if (!wrote || req->io.fua || !ctrl || ctrl->features.write_cache) {
        return false;
    }
    req->io.op = LST_IO_FLUSH;
    req->io.iov_count = 0;
    req->at_backend = true;
    target->ops.io_submit(target->front, &req->io);
    return true;
}

/* ---- Write protection */

uint8_t lst_write_protect_capabilities(const struct lst_target *target)
{
    /* Until the next power cycle; for ever needs somebody who remembers. */
    return NV_NWPC_WRITE_PROTECT | NV_NWPC_UNTIL_POWER_CYCLE |
           (target->ops.ns_keep ? NV_NWPC_PERMANENT : 0);
}

uint16_t lst_get_write_protect(struct lst_req *req, struct lst_ctrl *ctrl)
{
    req->cqe.dw0 = lst_ns_lookup(ctrl->subsys, req->sqe.nsid)->write_protected;
    return NV_SC_SUCCESS;
}

/* Takes the state on, or stays as it is if it cannot be kept. */
static uint16_t change_state(struct lst_ns *ns, uint8_t state)
{
    uint8_t before = ns->write_protected;

    ns->write_protected = state;
    if (!lst_ns_keep(ns)) {
        ns->write_protected = before;
        return lst_no_retry(NV_SC_INTERNAL);
    }
    return NV_SC_SUCCESS;
}

static void protect_flushed(struct lst_req *req, uint16_t status)
{
    struct lst_ns *ns = req->ns;
    uint8_t state = req->sqe.cdw11 & 7;

    if (!status) {
        status = change_state(ns, state);
    }
    if (status) {
        ns->write_protected = NV_WP_NONE;
    } else if (ns->subsys) {
        lst_ns_changed(ns);
    }
    lst_req_complete(req, status);
}

/*
 * What was written before is durable when the namespace is protected (8.12); meanwhile nothing more
 * is written.
 */
uint16_t lst_set_write_protect(struct lst_req *req, struct lst_ctrl *ctrl, uint32_t value)
{
    struct lst_ns *ns = lst_ns_lookup(ctrl->subsys, req->sqe.nsid);
    uint8_t state = value & 7;
    uint16_t status;

    if (state > NV_WP_PERMANENT ||
        (state == NV_WP_PERMANENT &&
         !(lst_write_protect_capabilities(ctrl->target) & NV_NWPC_PERMANENT))) {
        return lst_feature_invalid(req);
    }
    if (ns->write_protected >= NV_WP_UNTIL_POWER_CYCLE) {
        return lst_no_retry(NV_SC_FEATURE_NOT_CHANGEABLE);
    }
    if (ns->write_protected == state) {
        return NV_SC_SUCCESS;
    }
    if (ns->write_protected == NV_WP_NONE) {
        ns->write_protected = NV_WP_WRITE_PROTECT;
        flush(req, ns, protect_flushed);
        return LST_FEATURE_LATER;
    }
    status = change_state(ns, state);
    if (!status) {
        lst_ns_changed(ns);
    }
    return status;
}
