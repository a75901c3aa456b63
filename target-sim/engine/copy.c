/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copy: reads and writes by turns, a chunk at a time, until the list of source ranges is done.
 * Not here: the backend, which knows nothing of copying (io.c).
 * NVM Command Set 1.0, 3.2.2: source range formats 0h and 1h, within one namespace.
 */
#include "engine/ctrl.h"

#include <string.h>

static unsigned range_format(const struct lst_req *req)
{
    return (req->sqe.cdw12 & NV_COPY_FORMAT_MASK) >> NV_COPY_FORMAT_SHIFT;
}

static uint32_t range_bytes(const struct lst_req *req)
{
    return range_format(req) ? sizeof(struct nv_copy_range1) : sizeof(struct nv_copy_range);
}

static uint32_t range_count(const struct lst_req *req)
{
    return (req->sqe.cdw12 & NV_COPY_NR_MASK) + 1;
}

/* What we use of an entry is at the same place in both formats. */
static uint32_t get_range(const struct lst_req *req, uint32_t index, uint64_t *slba)
{
    const uint8_t *entry = req->data + index * range_bytes(req);
    struct nv_copy_range range;

    _Static_assert(offsetof(struct nv_copy_range, slba) == offsetof(struct nv_copy_range1, slba) &&
                   offsetof(struct nv_copy_range, nlb) == offsetof(struct nv_copy_range1, nlb),
                   "one reader for both formats");
    memcpy(&range, entry, sizeof(range));
    *slba = range.slba;
    return range.nlb + 1u;
}

uint16_t lst_copy_length(struct lst_req *req, uint32_t *len)
{
    if (range_format(req) > 1) {
        req->param_location = 49;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if (range_count(req) > LST_COPY_RANGES) {
        return lst_no_retry(NV_SC_SIZE_LIMIT);
    }
    *len = range_count(req) * range_bytes(req);
    return NV_SC_SUCCESS;
}

static uint16_t check_sizes(const struct lst_req *req, uint64_t *total)
{
    *total = 0;
    for (uint32_t i = 0; i < range_count(req); i++) {
        uint64_t slba;
        uint32_t blocks = get_range(req, i, &slba);

        *total += blocks;
        if (blocks > LST_COPY_RANGE_BLOCKS || *total > LST_COPY_BLOCKS) {
            return lst_no_retry(NV_SC_SIZE_LIMIT);
        }
    }
    return NV_SC_SUCCESS;
}

static uint16_t check_blocks(const struct lst_req *req, uint64_t total)
{
    uint64_t to = lst_io_slba(req);
    bool overlap = false;

    if (!lst_ns_has(req->ns, to, total)) {
        return lst_no_retry(NV_SC_LBA_RANGE);
    }
    for (uint32_t i = 0; i < range_count(req); i++) {
        uint64_t slba;
        uint32_t blocks = get_range(req, i, &slba);

        if (!lst_ns_has(req->ns, slba, blocks)) {
            return lst_no_retry(NV_SC_LBA_RANGE);
        }
        overlap = overlap || (slba < to + total && to < slba + blocks);
    }
    return overlap ? lst_no_retry(NV_SC_OVERLAPPING_RANGE) :
                     lst_zone_check_write(req->ns, to, total);
}

/* DW0 of a Copy that failed: the first range that is not copied whole. */
static bool end_copy(struct lst_req *req, uint16_t status)
{
    req->cqe.dw0 = req->copy.range;
    lst_req_complete(req, status);
    return false;
}

static bool copy_step(struct lst_req *req, uint16_t status)
{
    struct lst_copy *copy = &req->copy;
    uint64_t slba;
    uint32_t blocks, chunk = LST_COPY_CHUNK >> req->ns->shift;

    if (!status && lst_queue_gone(req->queue)) {
        status = NV_SC_ABORT_SQ_DELETION;
    }
    if (status) {
        return end_copy(req, status);
    }
    if (copy->done && copy->done == get_range(req, copy->range, &slba)) {
        copy->range++;
        copy->done = 0;
    }
    if (copy->range == range_count(req)) {
        return end_copy(req, NV_SC_SUCCESS);
    }
    blocks = get_range(req, copy->range, &slba);
    chunk = MIN(chunk, blocks - copy->done);
    copy->writing = !copy->writing;
    if (copy->writing) {
        lst_io_set(req, copy->to, chunk, req->scratch);
        copy->to += chunk;
        copy->done += chunk;
        lst_io_submit(req, LST_IO_WRITE);
    } else {
        lst_io_set(req, slba + copy->done, chunk, req->scratch);
        lst_io_submit(req, LST_IO_READ);
    }
    return true;
}

void lst_copy_run(struct lst_req *req)
{
    uint64_t total;
    uint16_t status = check_sizes(req, &total);

    if (!status) {
        status = check_blocks(req, total);
    }
    if (status) {
        lst_req_complete(req, status);
        return;
    }
    req->copy.to = lst_io_slba(req);
    req->copy.writing = true;
    lst_io_scratch(req, LST_COPY_CHUNK);
    lst_io_steps(req, copy_step);
}
