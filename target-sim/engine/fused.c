/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fused Compare and Write: finding the two halves, waiting until both have their data, executing
 * them with their blocks for themselves.
 * Not here: waiting for other commands on these blocks (order.c), the halves themselves (io.c).
 * NVM Express Base 2.0, 3.4.2; NVM Command Set 1.0, 2.1.4 and 3.1.
 */
/*
 * The halves are one behind the other in the queue, that is in the order of capsules; their data
 * may come in any order. A half that fails before both have their data fails the other: "Failed
 * Fused Command". It completes only when its data have come, as the host sends them anyway.
 */
#include "engine/ctrl.h"

static unsigned fuse_bits(const struct lst_req *req)
{
    return req->sqe.flags & NV_FUSE_MASK;
}

uint16_t lst_fused_check(const struct lst_req *req)
{
    switch (fuse_bits(req)) {
    case 0:
        return NV_SC_SUCCESS;
    case NV_FUSE_FIRST:
        return req->queue->qid && req->sqe.opcode == NV_IO_COMPARE ?
                   req->fused.status : lst_no_retry(NV_SC_INVALID_FIELD);
    case NV_FUSE_SECOND:
        return req->queue->qid && req->sqe.opcode == NV_IO_WRITE ?
                   req->fused.status : lst_no_retry(NV_SC_INVALID_FIELD);
    default:
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
}

static bool same_blocks(const struct nv_sqe *a, const struct nv_sqe *b)
{
    return a->nsid == b->nsid && a->cdw10 == b->cdw10 && a->cdw11 == b->cdw11 &&
           (a->cdw12 & 0xffff) == (b->cdw12 & 0xffff);
}

/* The half cannot be executed any more: at once if it is here already. */
static void fail(struct lst_req *req, uint16_t status)
{
    if (!req->fused.status) {
        req->fused.status = status;
    }
    if (req->fused.here && !req->at_backend) {
        lst_req_complete(req, req->fused.status);
    }
}

static void pair(struct lst_req *first, struct lst_req *second)
{
    first->fused.partner = second;
    second->fused.partner = first;
    if (!same_blocks(&first->sqe, &second->sqe)) {
        second->fused.status = lst_no_retry(NV_SC_INVALID_FIELD);
        fail(first, lst_no_retry(NV_SC_INVALID_FIELD));
    }
}

void lst_fused_arrived(struct lst_req *req)
{
    struct lst_queue *queue = req->queue;
    struct lst_req *first = queue->fuse_first;
    bool failed = queue->fuse_failed;

    queue->fuse_first = NULL;
    queue->fuse_failed = false;
    if (fuse_bits(req) == NV_FUSE_SECOND) {
        if (first) {
            pair(first, req);
        } else {
            req->fused.status = failed ? NV_SC_FAILED_FUSED : lst_no_retry(NV_SC_MISSING_FUSED);
        }
    } else if (first) {
        fail(first, lst_no_retry(NV_SC_MISSING_FUSED));
    }
    if (fuse_bits(req) == NV_FUSE_FIRST) {
        queue->fuse_first = req;
    }
}

/* The write, which holds the blocks for both, may begin. */
static void begin(struct lst_req *write)
{
    struct lst_req *compare = write->fused.partner;

    if (lst_queue_gone(write->queue)) {
        lst_req_complete(write, NV_SC_ABORT_SQ_DELETION);
    } else {
        compare->command->run(compare);
    }
}

void lst_fused_execute(struct lst_req *req)
{
    struct lst_req *partner = req->fused.partner, *write;

    if (req->fused.status) {
        lst_req_complete(req, req->fused.status);
        return;
    }
    req->fused.here = true;
    if (!partner || !partner->fused.here) {
        return;
    }
    write = fuse_bits(req) == NV_FUSE_SECOND ? req : partner;
    if (lst_order_enter(write, lst_io_slba(write), lst_io_blocks(write), true, begin)) {
        begin(write);
    }
}

struct lst_req *lst_fused_detach(struct lst_req *req)
{
    struct lst_queue *queue = req->queue;
    struct lst_req *partner = req->fused.partner;

    if (queue->fuse_first == req) {
        queue->fuse_first = NULL;
        queue->fuse_failed = true;
    }
    if (partner) {
        partner->fused.partner = NULL;
        req->fused.partner = NULL;
    }
    return partner;
}

void lst_fused_ended(struct lst_req *partner, uint16_t status)
{
    if (status) {
        fail(partner, NV_SC_FAILED_FUSED);
    } else {
        partner->command->run(partner);
    }
}
