/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NVM command set: blocks become bytes, commands become requests to the backend.
 * Not here: the backends (front), the checks that all commands share (req.c).
 * NVM Command Set 1.0, chapter 3.
 */
#include "engine/ctrl.h"

#include <string.h>

static struct lst_req *req_of_io(struct lst_io *io)
{
    return lst_container(io, struct lst_req, io);
}

uint64_t lst_io_slba(const struct lst_req *req)
{
    return (uint64_t)req->sqe.cdw11 << 32 | req->sqe.cdw10;
}

uint32_t lst_io_blocks(const struct lst_req *req)
{
    return (req->sqe.cdw12 & 0xffff) + 1;
}

bool lst_ns_has(const struct lst_ns *ns, uint64_t slba, uint64_t blocks)
{
    return slba <= ns->blocks && blocks <= ns->blocks - slba;
}

static uint16_t rw_check_range(const struct lst_req *req)
{
    return lst_ns_has(req->ns, lst_io_slba(req), lst_io_blocks(req)) ? NV_SC_SUCCESS :
                                                             lst_no_retry(NV_SC_LBA_RANGE);
}

/* Read, Write, Compare: blocks that are transferred. */
static uint16_t rw_length(struct lst_req *req, uint32_t *len)
{
    uint64_t bytes = (uint64_t)lst_io_blocks(req) << req->ns->shift;

    if (bytes > LST_TRANSFER_MAX) {
        req->param_location = 48;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if (req->sqe.flags & NV_FUSE_MASK && bytes > LST_FUSED_BYTES) {
        return lst_no_retry(NV_SC_ATOMIC_UNIT);
    }
    *len = (uint32_t)bytes;
    return rw_check_range(req);
}

/* Write Zeroes, Write Uncorrectable, Verify: blocks that are not transferred, so MDTS does not matter. */
static uint16_t no_data_length(struct lst_req *req, uint32_t *len)
{
    *len = 0;
    return rw_check_range(req);
}

/* The first and the number of the blocks that the request is about. */
static uint64_t io_first(const struct lst_req *req)
{
    return req->io.offset >> req->ns->shift;
}

static uint64_t io_blocks(const struct lst_req *req)
{
    return req->io.length >> req->ns->shift;
}

/* The namespace may have been hidden or made smaller while data were on their way. */
static uint16_t still_fits(const struct lst_req *req)
{
    if (!req->ns->enabled) {
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    return lst_ns_has(req->ns, io_first(req), io_blocks(req)) ? NV_SC_SUCCESS :
                                                             lst_no_retry(NV_SC_LBA_RANGE);
}

static uint16_t readable(const struct lst_req *req)
{
    if (!lst_extents_count(&req->ns->uncorrectable, io_first(req), io_blocks(req))) {
        return NV_SC_SUCCESS;
    }
    req->ns->subsys->media_errors++;
    return NV_SC_READ_ERROR;
}

static void ended(struct lst_req *req, uint16_t status);

static void go(struct lst_req *req)
{
    struct lst_target *target = req->queue->target;
    uint16_t status = lst_queue_gone(req->queue) ? NV_SC_ABORT_SQ_DELETION : still_fits(req);

    if (!status && (req->io.op == LST_IO_READ || req->io.op == LST_IO_VERIFY)) {
        status = readable(req);
    }
    if (!status) {
        status = lst_zone_check(req);
    }
    if (status) {
        ended(req, status);
        return;
    }
    req->io.nsid = req->ns->nsid;
    req->io.backend = req->ns->backend;
    req->at_backend = true;
    target->ops.io_submit(target->front, &req->io);
}

/* Meanwhile the host may have gone, or another may have taken a reservation. */
uint16_t lst_io_recheck(const struct lst_req *req)
{
    return lst_queue_gone(req->queue) ? NV_SC_ABORT_SQ_DELETION :
           !req->ns->enabled ? lst_no_retry(NV_SC_INVALID_NAMESPACE) : lst_resv_check(req);
}

static void resume(struct lst_req *req)
{
    uint16_t status = lst_io_recheck(req);

    if (status) {
        ended(req, status);
    } else {
        go(req);
    }
}

/* From the first block of a list of ranges to the last. */
static void list_bounds(const struct lst_req *req, uint64_t *start, uint64_t *blocks)
{
    uint64_t end = 0;

    *start = UINT64_MAX;
    for (unsigned i = 0; i < req->io.range_count; i++) {
        const struct lst_io_range *range = &req->io.ranges[i];

        if (range->length) {
            *start = MIN(*start, range->offset >> req->ns->shift);
            end = MAX(end, (range->offset + range->length) >> req->ns->shift);
        }
    }
    *blocks = end ? end - *start : 0;
}

void lst_io_submit(struct lst_req *req, enum lst_io_op op)
{
    uint64_t start = io_first(req), blocks = io_blocks(req);

    req->io.op = op;
    if (op == LST_IO_DISCARD) {
        list_bounds(req, &start, &blocks);
    }
    /* The halves of a fused pair have their blocks already: the second has entered for both. */
    if (req->order.state != LST_ORDER_OUT || req->sqe.flags & NV_FUSE_MASK ||
        lst_order_enter(req, start, blocks, false, resume)) {
        go(req);
    }
}

void lst_io_set(struct lst_req *req, uint64_t slba, uint64_t blocks, void *data)
{
    req->io.offset = slba << req->ns->shift;
    req->io.length = blocks << req->ns->shift;
    req->io.fua = req->sqe.cdw12 & NV_RW_FUA || !req->queue->ctrl->features.write_cache;
    req->iov.iov_base = data;
    req->iov.iov_len = req->io.length;
    req->io.iov = data ? &req->iov : NULL;
    req->io.iov_count = data ? 1 : 0;
}

void lst_io_scratch(struct lst_req *req, uint32_t len)
{
    req->scratch = lst_pool_get(&req->queue->target->pool, len);
    req->scratch_len = len;
}

static void set_range(struct lst_req *req, void *data)
{
    lst_io_set(req, lst_io_slba(req), lst_io_blocks(req), data);
}

static void read_run(struct lst_req *req)
{
    set_range(req, req->data);
    lst_io_submit(req, LST_IO_READ);
}

static void write_run(struct lst_req *req)
{
    set_range(req, req->data);
    lst_io_submit(req, LST_IO_WRITE);
}

/* Reads into a buffer of its own; the comparison is made when the backend is done. */
static void compare_run(struct lst_req *req)
{
    lst_io_scratch(req, req->data_len);
    set_range(req, req->scratch);
    lst_io_submit(req, LST_IO_READ);
}

static void flush_run(struct lst_req *req)
{
    lst_io_submit(req, LST_IO_FLUSH);
}

static void write_zeroes_run(struct lst_req *req)
{
    set_range(req, NULL);
    req->io.may_unmap = req->sqe.cdw12 & NV_RW_DEAC;
    lst_io_submit(req, LST_IO_WRITE_ZEROES);
}

static void verify_run(struct lst_req *req)
{
    set_range(req, NULL);
    lst_io_submit(req, LST_IO_VERIFY);
}

/* Marks blocks in the engine; the backend has no part in it. */
static void mark_uncorrectable(struct lst_req *req)
{
    uint64_t slba = io_first(req), blocks = io_blocks(req);
    struct lst_ns *ns = req->ns;
    uint16_t status = lst_io_recheck(req);

    if (!status) {
        status = still_fits(req);
    }
    if (!status) {
        status = lst_zone_check_write(ns, slba, blocks);
    }
    if (!status &&
        !lst_extents_add(&ns->uncorrectable, slba, blocks, LST_UNCORRECTABLE_MAX)) {
        status = lst_no_retry(NV_SC_INTERNAL);
    } else if (!status && (status = lst_zone_write(ns, slba, blocks))) {
        lst_extents_remove(&ns->uncorrectable, slba, blocks);
    }
    lst_req_complete(req, status);
}

static void write_uncorrectable_run(struct lst_req *req)
{
    set_range(req, NULL);
    if (lst_order_enter(req, io_first(req), io_blocks(req), false, mark_uncorrectable)) {
        mark_uncorrectable(req);
    }
}

static uint32_t dsm_count(const struct lst_req *req)
{
    return (req->sqe.cdw10 & 0xff) + 1;
}

/* Linux sends the whole 4 KiB list however many ranges are in use. */
static uint16_t dsm_length(struct lst_req *req, uint32_t *len)
{
    *len = dsm_count(req) * (uint32_t)sizeof(struct nv_dsm_range);
    req->data_max = NV_DSM_RANGES_MAX * sizeof(struct nv_dsm_range);
    return NV_SC_SUCCESS;
}

/* A range of the wire and one of ours have the same size, so the list is rewritten where it is. */
static uint16_t dsm_convert(struct lst_req *req, unsigned count)
{
    _Static_assert(sizeof(struct nv_dsm_range) == sizeof(struct lst_io_range),
                   "converted in place");

    for (unsigned i = 0; i < count; i++) {
        uint8_t *at = req->data + i * sizeof(struct nv_dsm_range);
        struct nv_dsm_range wire;
        struct lst_io_range range;

        memcpy(&wire, at, sizeof(wire));
        if (!lst_ns_has(req->ns, wire.slba, wire.nlb)) {
            return lst_no_retry(NV_SC_LBA_RANGE);
        }
        range.offset = wire.slba << req->ns->shift;
        range.length = (uint64_t)wire.nlb << req->ns->shift;
        memcpy(at, &range, sizeof(range));
    }
    return NV_SC_SUCCESS;
}

static void dsm_run(struct lst_req *req)
{
    uint32_t count = dsm_count(req);
    uint16_t status = dsm_convert(req, count);

    /*
     * The other attributes are hints about access, which we do not use. Zones are deallocated by
     * Reset only.
     */
    if (status || !(req->sqe.cdw11 & NV_DSM_DEALLOCATE) || req->ns->zones) {
        lst_req_complete(req, status);
        return;
    }
    req->io.ranges = (const struct lst_io_range *)req->data;
    req->io.range_count = count;
    lst_io_submit(req, LST_IO_DISCARD);
}

/* Blocks that were written, or deallocated, can be read again (NVM 1.0, 3.2.7). */
static void make_readable(struct lst_req *req)
{
    const struct lst_io *io = &req->io;
    struct lst_ns *ns = req->ns;

    if (io->op == LST_IO_WRITE || io->op == LST_IO_WRITE_ZEROES) {
        lst_extents_remove(&ns->uncorrectable, io_first(req), io_blocks(req));
    } else if (io->op == LST_IO_DISCARD) {
        for (unsigned i = 0; i < io->range_count; i++) {
            lst_extents_remove(&ns->uncorrectable, io->ranges[i].offset >> ns->shift,
                               io->ranges[i].length >> ns->shift);
        }
    }
}

static void count_success(struct lst_req *req)
{
    struct lst_subsys *subsys = req->ns->subsys;
    uint64_t units = req->io.length / 512;

    if (!subsys) {
        return;
    }
    switch (req->sqe.opcode) {
    case NV_IO_READ:
        req->queue->read_bytes += req->data_len;
        subsys->reads++;
        subsys->read_units += units;
        break;
    case NV_IO_COMPARE:
        subsys->reads++;
        subsys->read_units += units;
        break;
    case NV_IO_WRITE:
    case NV_IO_ZONE_APPEND:
        req->queue->write_bytes += req->data_len;
        subsys->writes++;
        subsys->write_units += units;
        break;
    default:
        break;
    }
}

/* ---- The end of a request to the backend */

static void end_command(struct lst_req *req, uint16_t status)
{
    if (!status && req->scratch && memcmp(req->scratch, req->data, req->data_len)) {
        status = lst_no_retry(NV_SC_COMPARE_FAILURE);
    }
    if (!status) {
        count_success(req);
    }
    lst_req_complete(req, status);
}

/* A backend that ends at once calls from inside a step: the loop, not recursion, takes the next. */
static void next_step(struct lst_req *req, uint16_t status)
{
    req->step_status = status ? status : req->abort_status;
    req->step_ready = true;
    if (req->stepping) {
        return;
    }
    req->stepping = true;
    while (req->step_ready) {
        req->step_ready = false;
        if (!req->step(req, req->step_status)) {
            return;
        }
    }
    req->stepping = false;
}

static void ended(struct lst_req *req, uint16_t status)
{
    struct lst_target *target = req->queue->target;

    if (!req->order.exclusive) {
        lst_order_leave(req);
    }
    if (req->step) {
        next_step(req, status);
    } else {
        end_command(req, status);
    }
    lst_order_run(target);
}

void lst_io_steps(struct lst_req *req, lst_step_fn *step)
{
    req->step = step;
    next_step(req, NV_SC_SUCCESS);
}

void lst_io_complete(struct lst_io *io, uint16_t status)
{
    struct lst_req *req = req_of_io(io);

    g_assert(req->at_backend);
    req->at_backend = false;
    if (status) {
        lst_trace(req->queue->target, LST_EVENT_BACKEND_FAILED, req->queue, NULL, io->op, status,
                  NULL);
        if (req->ns->subsys) {
            req->ns->subsys->media_errors += (status & 0x700) == 0x200;
        }
    } else {
        make_readable(req);
    }
    if (req->io_done) {
        req->io_done(req, status);
    } else if (status || !lst_write_cache_late(req)) {
        ended(req, status);
    }
}

const struct lst_command lst_io_commands[256] = {
    [NV_IO_FLUSH] = { LST_CMD_NS, NULL, flush_run },
    [NV_IO_WRITE] = { LST_CMD_NS | LST_CMD_IN | LST_CMD_WRITES, rw_length, write_run },
    [NV_IO_READ] = { LST_CMD_NS | LST_CMD_OUT, rw_length, read_run },
    [NV_IO_WRITE_UNCORRECTABLE] = { LST_CMD_NS | LST_CMD_WRITES, no_data_length,
                                    write_uncorrectable_run },
    [NV_IO_COMPARE] = { LST_CMD_NS | LST_CMD_IN, rw_length, compare_run },
    [NV_IO_WRITE_ZEROES] = { LST_CMD_NS | LST_CMD_WRITES, no_data_length, write_zeroes_run },
    [NV_IO_DSM] = { LST_CMD_NS | LST_CMD_IN | LST_CMD_WRITES, dsm_length, dsm_run },
    [NV_IO_RESV_REGISTER] = { LST_CMD_NS | LST_CMD_IN, lst_resv_keys_length,
                              lst_resv_register_run },
    [NV_IO_RESV_REPORT] = { LST_CMD_NS | LST_CMD_OUT, lst_resv_report_length,
                            lst_resv_report_run },
    [NV_IO_RESV_ACQUIRE] = { LST_CMD_NS | LST_CMD_IN, lst_resv_keys_length,
                             lst_resv_acquire_run },
    [NV_IO_RESV_RELEASE] = { LST_CMD_NS | LST_CMD_IN, lst_resv_release_length,
                             lst_resv_release_run },
    [NV_IO_COPY] = { LST_CMD_NS | LST_CMD_IN | LST_CMD_WRITES, lst_copy_length, lst_copy_run },
    [NV_IO_ZONE_SEND] = { LST_CMD_NS | LST_CMD_IN | LST_CMD_WRITES | LST_CMD_ZONED,
                          lst_zone_send_length, lst_zone_send_run },
    [NV_IO_ZONE_RECEIVE] = { LST_CMD_NS | LST_CMD_OUT | LST_CMD_ZONED, lst_zone_receive_length,
                             lst_zone_receive_run },
    [NV_IO_ZONE_APPEND] = { LST_CMD_NS | LST_CMD_IN | LST_CMD_WRITES | LST_CMD_ZONED,
                            lst_zone_append_length, lst_zone_append_run },
    [NV_IO_VERIFY] = { LST_CMD_NS, no_data_length, verify_run },
};
