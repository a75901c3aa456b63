/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a fault rule fires for a PDU: place, time, counts, chance.
 * Not here: what happens then (fault_conn.c).
 * No standard.
 */
#include "engine/fault_rule.h"

#include <string.h>

/* Commands whose CDW10 and CDW11 are the first logical block, and how many blocks follow. */
static bool lba_range(const struct nv_sqe *sqe, uint64_t *first, uint64_t *last)
{
    static const uint8_t ranged[] = {
        NV_IO_WRITE,        NV_IO_READ,   NV_IO_WRITE_UNCORRECTABLE, NV_IO_COMPARE,
        NV_IO_WRITE_ZEROES, NV_IO_VERIFY, NV_IO_ZONE_APPEND,
    };

    if (!memchr(ranged, sqe->opcode, sizeof(ranged))) {
        return false;
    }
    *first = (uint64_t)sqe->cdw11 << 32 | sqe->cdw10;
    *last = *first + (sqe->cdw12 & 0xffff);
    return *last >= *first;
}

static bool number_is(const struct lst_fault *fault, enum lst_fault_key key, uint64_t number)
{
    return !lst_fault_has(fault, key) || fault->value[key] == number;
}

static bool command_matches(const struct lst_fault *fault, const struct lst_fault_site *site)
{
    const struct nv_sqe *sqe = site->sqe;
    bool fabrics = sqe->opcode == NVF_OPCODE;
    uint64_t first, last;

    if (!number_is(fault, LST_FAULT_KEY_OPCODE, sqe->opcode) ||
        lst_fault_has(fault, fabrics ? LST_FAULT_KEY_NSID : LST_FAULT_KEY_FCTYPE)) {
        return false;
    }
    /* Fabrics commands have their type where all others have the namespace. */
    if (fabrics ? !number_is(fault, LST_FAULT_KEY_FCTYPE, ((const struct nvf_sqe *)sqe)->fctype) :
                  !number_is(fault, LST_FAULT_KEY_NSID, sqe->nsid)) {
        return false;
    }
    if (!lst_fault_has(fault, LST_FAULT_KEY_LBA_FIRST) &&
        !lst_fault_has(fault, LST_FAULT_KEY_LBA_LAST)) {
        return true;
    }
    return site->conn->queue.qid && lba_range(sqe, &first, &last) &&
           last >= lst_fault_value(fault, LST_FAULT_KEY_LBA_FIRST, 0) &&
           first <= lst_fault_value(fault, LST_FAULT_KEY_LBA_LAST, UINT64_MAX);
}

/* The queue's id; for a Connect the one that it asks for. False: it has none yet. */
static bool queue_id(const struct lst_fault_site *site, uint16_t *qid)
{
    const struct nvf_connect_sqe *connect = (const struct nvf_connect_sqe *)site->sqe;

    *qid = site->conn->queue.qid;
    if (site->conn->queue.connected) {
        return true;
    }
    if (!connect || connect->opcode != NVF_OPCODE || connect->fctype != NVF_CONNECT) {
        return false;
    }
    *qid = connect->qid;
    return true;
}

static bool queue_matches(const struct lst_fault *fault, const struct lst_fault_site *site)
{
    uint16_t qid;

    if (!lst_fault_has(fault, LST_FAULT_KEY_QUEUE) && !lst_fault_has(fault, LST_FAULT_KEY_QID)) {
        return true;
    }
    return queue_id(site, &qid) && number_is(fault, LST_FAULT_KEY_QID, qid) &&
           number_is(fault, LST_FAULT_KEY_QUEUE, qid != 0);
}

static bool owner_matches(const struct lst_fault *fault, const struct lst_queue *queue)
{
    if (lst_fault_has(fault, LST_FAULT_KEY_PORT) &&
        (!queue->port || queue->port->portid != fault->value[LST_FAULT_KEY_PORT])) {
        return false;
    }
    if (lst_fault_has(fault, LST_FAULT_KEY_CONTROLLER) &&
        (!queue->ctrl || queue->ctrl->cntlid != fault->value[LST_FAULT_KEY_CONTROLLER])) {
        return false;
    }
    if (lst_fault_has(fault, LST_FAULT_KEY_SUBSYSTEM) &&
        (!queue->ctrl || strcmp(queue->ctrl->subsys->nqn, fault->subsystem))) {
        return false;
    }
    return number_is(fault, LST_FAULT_KEY_CONNECTION, queue->trace_id);
}

static bool within(const struct lst_fault *fault, uint64_t since_ns, enum lst_fault_key after,
                   enum lst_fault_key before)
{
    uint64_t us = since_ns / 1000;

    return us >= lst_fault_value(fault, after, 0) &&
           us < lst_fault_value(fault, before, UINT64_MAX);
}

static bool time_matches(const struct lst_fault *fault, const struct lst_conn *conn)
{
    const struct lst_target *target = fault->target;

    return within(fault, target->now_ns - target->start_ns, LST_FAULT_KEY_AFTER,
                  LST_FAULT_KEY_BEFORE) &&
           within(fault, target->now_ns - conn->opened_ns, LST_FAULT_KEY_AFTER_CONNECT,
                  LST_FAULT_KEY_BEFORE_CONNECT);
}

/* Is there anything to do it to? */
static bool can_act(const struct lst_fault *fault, const struct nvtcp_hdr *hdr)
{
    struct lst_fault_extent extent;

    if (fault->value[LST_FAULT_KEY_ACTION] == LST_FAULT_TRUNCATE) {
        return fault->value[LST_FAULT_KEY_BYTES] < hdr->plen;
    }
    if (fault->value[LST_FAULT_KEY_ACTION] != LST_FAULT_CORRUPT) {
        return true;
    }
    extent = lst_fault_extent(hdr, fault->value[LST_FAULT_KEY_PART]);
    return extent.len && lst_fault_value(fault, LST_FAULT_KEY_OFFSET, 0) < extent.len;
}

static bool matches(const struct lst_fault *fault, const struct lst_fault_site *site)
{
    return fault->enabled && lst_fault_pdu(fault) == site->hdr->type &&
           owner_matches(fault, &site->conn->queue) && queue_matches(fault, site) &&
           (!site->sqe || command_matches(fault, site)) && time_matches(fault, site->conn) &&
           can_act(fault, site->hdr);
}

/*
 * Counter-based: the n-th number is a function of the seed and n, mixed by multiplications with odd
 * constants and shifts, so that neighbours have nothing in common. Plenty for a lottery.
 */
uint64_t lst_fault_random(struct lst_fault *fault, uint64_t limit)
{
    uint64_t x = lst_fault_value(fault, LST_FAULT_KEY_SEED, fault->own_seed) * 0xd1342543de82ef95u +
                 ++fault->draws * 0x9e3779b97f4a7c15u;

    for (unsigned round = 0; round < 3; round++) {
        x ^= x >> 31;
        x *= 0xda942042e4dd58b5u;
    }
    return (x ^ x >> 29) % limit;
}

/* Each condition counts what passed those before it; the last ones see what nth and every left. */
static bool fires(struct lst_fault *fault)
{
    fault->seen++;
    if (!number_is(fault, LST_FAULT_KEY_NTH, fault->seen) ||
        (lst_fault_has(fault, LST_FAULT_KEY_EVERY) &&
         fault->seen % fault->value[LST_FAULT_KEY_EVERY]) ||
        fault->fired >= lst_fault_value(fault, LST_FAULT_KEY_LIMIT, UINT64_MAX)) {
        return false;
    }
    if (lst_fault_has(fault, LST_FAULT_KEY_PROBABILITY) &&
        lst_fault_random(fault, 1000000) >= fault->value[LST_FAULT_KEY_PROBABILITY]) {
        return false;
    }
    fault->fired++;
    return true;
}

unsigned lst_faults_fire(const struct lst_fault_site *site, struct lst_fault **fired)
{
    struct lst_target *target = site->conn->queue.target;
    unsigned count = 0;

    for (unsigned i = 0; i < target->faults->len; i++) {
        struct lst_fault *fault = g_ptr_array_index(target->faults, i);

        if (matches(fault, site) && fires(fault)) {
            lst_trace(target, LST_EVENT_FAULT, &site->conn->queue, NULL, site->hdr->type,
                      fault->fired, fault->name);
            fired[count++] = fault;
        }
    }
    return count;
}
