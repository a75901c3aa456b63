/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of zoned namespaces: Zone Append, Zone Management Send and Receive; what zones say to
 * reads and writes.
 * Not here: states and reports of zones (hw/zone/), Identify, notices (zoned_ns.c).
 * NVM Express Zoned Namespace Command Set 1.1, 3.
 */
#include "engine/ctrl.h"

/* What a host can do again when zones were closed is worth a retry. */
static uint16_t with_dnr(uint16_t status)
{
    return status && status != NV_SC_TOO_MANY_OPEN && status != NV_SC_TOO_MANY_ACTIVE ?
               lst_no_retry(status) : status;
}

uint16_t lst_zone_write(struct lst_ns *ns, uint64_t slba, uint64_t blocks)
{
    return ns->zones ? with_dnr(zones_write(ns->zones, slba, blocks)) : NV_SC_SUCCESS;
}

uint16_t lst_zone_check_write(const struct lst_ns *ns, uint64_t slba, uint64_t blocks)
{
    return ns->zones ? with_dnr(zones_check_write(ns->zones, slba, blocks)) : NV_SC_SUCCESS;
}

uint16_t lst_zone_check(struct lst_req *req)
{
    struct lst_ns *ns = req->ns;
    uint64_t slba = req->io.offset >> ns->shift, blocks = req->io.length >> ns->shift;

    if (!ns->zones || !blocks) {
        return NV_SC_SUCCESS;
    }
    switch (req->io.op) {
    case LST_IO_READ:
    case LST_IO_VERIFY:
        return with_dnr(zones_check_read(ns->zones, slba, blocks));
    case LST_IO_WRITE:
    case LST_IO_WRITE_ZEROES:
        return req->placed ? NV_SC_SUCCESS : lst_zone_write(ns, slba, blocks);
    default:
        return NV_SC_SUCCESS;
    }
}

/* ---- Zone Append */

uint16_t lst_zone_append_length(struct lst_req *req, uint32_t *len)
{
    uint64_t bytes = (uint64_t)lst_io_blocks(req) << req->ns->shift;

    if (bytes > LST_ZONE_APPEND_MAX) {
        req->param_location = offsetof(struct nv_sqe, cdw12);
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    *len = (uint32_t)bytes;
    return lst_ns_has(req->ns, lst_io_slba(req), 1) ? NV_SC_SUCCESS : lst_no_retry(NV_SC_LBA_RANGE);
}

/* Where it goes is known when it goes. */
static void append(struct lst_req *req)
{
    uint64_t slba;
    uint16_t status = lst_io_recheck(req);

    if (!status) {
        status = with_dnr(zones_append(req->ns->zones, lst_io_slba(req), lst_io_blocks(req),
                                       &slba));
    }
    if (status) {
        lst_req_complete(req, status);
        return;
    }
    req->placed = true;
    req->cqe.result = slba;
    lst_io_set(req, slba, lst_io_blocks(req), req->data);
    lst_io_submit(req, LST_IO_WRITE);
}

void lst_zone_append_run(struct lst_req *req)
{
    uint64_t size = zones_size(req->ns->zones);

    if (lst_order_enter(req, lst_io_slba(req) / size * size, size, false, append)) {
        append(req);
    }
}

/* ---- Zone Management Send */

static unsigned send_action(const struct lst_req *req)
{
    return req->sqe.cdw13 & 0xff;
}

static bool send_all(const struct lst_req *req)
{
    return req->sqe.cdw13 & NV_ZSEND_ALL;
}

uint16_t lst_zone_send_length(struct lst_req *req, uint32_t *len)
{
    const struct zones *zones = req->ns->zones;
    unsigned action = send_action(req);
    bool extend = action == NV_ZSA_EXTENSION;
    uint32_t zone;

    if (extend ? !zones_config(zones)->extension || send_all(req) :
                 action < NV_ZSA_CLOSE || action > NV_ZSA_OFFLINE) {
        req->param_location = offsetof(struct nv_sqe, cdw13);
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    *len = extend ? (uint32_t)zones_config(zones)->extension : 0;
    return send_all(req) ? NV_SC_SUCCESS : with_dnr(zones_find(zones, lst_io_slba(req), &zone));
}

static uint32_t send_zone(const struct lst_req *req)
{
    return send_all(req) ? 0 : (uint32_t)(lst_io_slba(req) / zones_size(req->ns->zones));
}

static void manage(struct lst_req *req)
{
    struct zones *zones = req->ns->zones;
    enum nv_zone_action action = send_action(req);
    uint16_t status = lst_io_recheck(req);

    if (status) {
        /* Too late. */
    } else if (send_all(req)) {
        status = with_dnr(zones_manage_all(zones, action));
    } else if (action == NV_ZSA_EXTENSION) {
        status = with_dnr(zones_extend(zones, send_zone(req), req->data));
    } else {
        status = with_dnr(zones_manage(zones, send_zone(req), action));
    }
    lst_req_complete(req, status);
}

/* The zones that are discarded next; false: there are none. */
static bool next_zones(struct lst_req *req)
{
    struct lst_zone_reset *reset = &req->reset;

    if (!zones_next_reset(req->ns->zones, &reset->zone, &reset->count)) {
        return false;
    }
    if (send_all(req)) {
        return true;
    }
    reset->count = 1;
    return reset->zone == send_zone(req);
}

/* Zones are discarded one run after the other; each is empty when the backend has done its run. */
static bool reset_step(struct lst_req *req, uint16_t status)
{
    struct lst_zone_reset *reset = &req->reset;
    uint64_t bytes = zones_size(req->ns->zones) << req->ns->shift;

    for (; !status && reset->count; reset->count--) {
        zones_reset_done(req->ns->zones, reset->zone++);
    }
    if (!status && lst_queue_gone(req->queue)) {
        status = NV_SC_ABORT_SQ_DELETION;
    }
    if (status || !next_zones(req)) {
        lst_req_complete(req, status);
        return false;
    }
    reset->range = (struct lst_io_range) { reset->zone * bytes, reset->count * bytes };
    lst_io_set(req, 0, 0, NULL);
    req->io.ranges = &reset->range;
    req->io.range_count = 1;
    lst_io_submit(req, LST_IO_DISCARD);
    return true;
}

static void reset(struct lst_req *req)
{
    uint16_t status = lst_io_recheck(req);

    if (!status && !send_all(req)) {
        status = with_dnr(zones_check_reset(req->ns->zones, send_zone(req)));
    }
    if (status) {
        lst_req_complete(req, status);
        return;
    }
    req->reset.zone = send_zone(req);
    lst_io_steps(req, reset_step);
}

/* Whoever uses the zone's blocks is done before they are discarded, or comes after that. */
void lst_zone_send_run(struct lst_req *req)
{
    bool is_reset = send_action(req) == NV_ZSA_RESET;
    void (*go)(struct lst_req *) = is_reset ? reset : manage;
    uint64_t size = zones_size(req->ns->zones);
    uint64_t blocks = send_all(req) ? req->ns->blocks : size;

    if (lst_order_enter(req, send_zone(req) * size, blocks, is_reset, go)) {
        go(req);
    }
}

/* ---- Zone Management Receive */

uint16_t lst_zone_receive_length(struct lst_req *req, uint32_t *len)
{
    uint64_t bytes = ((uint64_t)req->sqe.cdw12 + 1) * 4;
    unsigned action = req->sqe.cdw13 & 0xff, filter = req->sqe.cdw13 >> 8 & 0xff;

    if (bytes > LST_TRANSFER_MAX || bytes < sizeof(struct nv_zone_report_header)) {
        req->param_location = offsetof(struct nv_sqe, cdw12);
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if (action > NV_ZRA_EXTENDED_REPORT || filter > NV_ZRASF_OFFLINE ||
        (action == NV_ZRA_EXTENDED_REPORT && !zones_config(req->ns->zones)->extension)) {
        req->param_location = offsetof(struct nv_sqe, cdw13);
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    *len = (uint32_t)bytes;
    return lst_ns_has(req->ns, lst_io_slba(req), 1) ? NV_SC_SUCCESS : lst_no_retry(NV_SC_LBA_RANGE);
}

void lst_zone_receive_run(struct lst_req *req)
{
    const struct zone_report report = {
        .slba = lst_io_slba(req),
        .filter = req->sqe.cdw13 >> 8 & 0xff,
        .extended = (req->sqe.cdw13 & 0xff) == NV_ZRA_EXTENDED_REPORT,
        .partial = req->sqe.cdw13 & NV_ZRECEIVE_PARTIAL,
    };

    zones_report(req->ns->zones, &report, req->data, req->data_len);
    lst_req_complete(req, NV_SC_SUCCESS);
}
