/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output that fault rules change, hold back or lose.
 * Not here: which rules fire (fault_match.c), the bytes of a PDU (fault_pdu.c), a connection's end
 * (fault_conn.c).
 * NVMe/TCP Transport 1.0, 3.6.
 */
#include <string.h>

#include "engine/fault_rule.h"

static void copy_free(struct lst_fault_copy *copy)
{
    lst_timer_cancel(&copy->conn->queue.target->timers, &copy->timer);
    if (copy->bytes) {
        g_byte_array_unref(copy->bytes);
    }
    g_free(copy);
}

void lst_fault_copy_sent(struct lst_conn *conn, struct lst_tx *tx)
{
    struct lst_fault_copy *copy = lst_container(tx, struct lst_fault_copy, tx);

    copy->original->sent(conn, copy->original);
    copy_free(copy);
}

void lst_fault_copy_forget(struct lst_tx *tx)
{
    struct lst_fault_copy *copy = lst_container(tx, struct lst_fault_copy, tx);

    if (copy->original->forget) {
        copy->original->forget(copy->original);
    }
    copy_free(copy);
}

/* A completion says how far the queue is when it leaves, not when it was to leave. */
static void refresh_sqhd(const struct lst_fault_copy *copy)
{
    const struct lst_queue *queue = &copy->conn->queue;
    struct nvtcp_hdr hdr;

    for (uint32_t at = 0; queue->flow_control && at < copy->bytes->len; at += hdr.plen) {
        uint8_t *pdu = copy->bytes->data + at;

        memcpy(&hdr, pdu, sizeof(hdr));
        if (hdr.type == NVTCP_CAPSULE_RESP) {
            memcpy(pdu + offsetof(struct nvtcp_capsule_resp, cqe.sqhd), &queue->sqhd,
                   sizeof(queue->sqhd));
            lst_fault_reseal(pdu);
        }
    }
}

static void spend(struct lst_conn_faults *faults, struct lst_fault_copy *copy)
{
    g_queue_push_tail_link(&faults->spent, &copy->link);
    lst_conn_tell_ready(faults->conn);
}

static void send_copy(struct lst_conn_faults *faults, struct lst_fault_copy *copy)
{
    if (faults->fate || !copy->bytes || !copy->bytes->len) {
        spend(faults, copy);
        return;
    }
    lst_tx_add(&copy->tx, copy->bytes->data, copy->bytes->len);
    lst_conn_push(faults->conn, &copy->tx);
}

static void release_held(struct lst_conn_faults *faults, struct lst_fault_copy *copy)
{
    lst_timer_cancel(&faults->conn->queue.target->timers, &copy->timer);
    g_queue_unlink(&faults->held, &copy->link);
    if (copy->as_it_was) {
        refresh_sqhd(copy);
    }
    send_copy(faults, copy);
}

static void held_timeout(struct lst_timer *timer)
{
    struct lst_fault_copy *copy = lst_container(timer, struct lst_fault_copy, timer);

    release_held(copy->conn->faults, copy);
}

/* A response left: those that it has overtaken may follow. */
static void response_passed(struct lst_conn_faults *faults)
{
    GList *next;

    for (GList *node = faults->held.head; node; node = next) {
        struct lst_fault_copy *copy = node->data;

        next = node->next;
        if (copy->pass && --copy->pass == 0) {
            release_held(faults, copy);
        }
    }
}

static struct lst_fault_copy *copy_new(struct lst_conn *conn, struct lst_tx *original)
{
    struct lst_fault_copy *copy = g_new0(struct lst_fault_copy, 1);

    lst_tx_start(&copy->tx, lst_fault_copy_sent);
    copy->tx.forget = lst_fault_copy_forget;
    copy->tx.pdus = original->pdus;
    copy->original = original;
    copy->conn = conn;
    copy->timer.fire = held_timeout;
    copy->link.data = copy;
    return copy;
}

static GByteArray *flatten(const struct lst_tx *tx)
{
    GByteArray *bytes = g_byte_array_new();

    for (unsigned i = 0; i < tx->count; i++) {
        g_byte_array_append(bytes, tx->seg[i].iov_base, (guint)tx->seg[i].iov_len);
    }
    return bytes;
}

/* The bytes of a header of @tx that begins at @at; headers do not cross pieces. */
static struct nvtcp_hdr header_at(const struct lst_tx *tx, size_t at)
{
    struct nvtcp_hdr hdr;
    unsigned i = 0;

    while (at >= tx->seg[i].iov_len) {
        at -= tx->seg[i++].iov_len;
    }
    memcpy(&hdr, (const uint8_t *)tx->seg[i].iov_base + at, sizeof(hdr));
    return hdr;
}

static size_t tx_bytes(const struct lst_tx *tx)
{
    size_t sum = 0;

    for (unsigned i = 0; i < tx->count; i++) {
        sum += tx->seg[i].iov_len;
    }
    return sum;
}

/* One PDU of a tx and the rules that fire for it. */
struct tampered {
    uint32_t at;
    struct nvtcp_hdr hdr;
    unsigned count;
    struct lst_fault *fired[LST_FAULTS_MAX];
};

enum { PDUS_MAX = 2 };                   /* C2HData and CapsuleResp */

static unsigned fire_for_output(struct lst_conn *conn, const struct lst_tx *tx,
                                const struct nv_sqe *sqe, struct tampered *pdus, bool *any)
{
    size_t whole = tx_bytes(tx), at = 0;
    unsigned count = 0;

    while (at < whole) {
        struct nvtcp_hdr hdr = header_at(tx, at);
        const struct lst_fault_site site = { conn, &hdr, sqe };

        g_assert(count < PDUS_MAX);
        pdus[count].at = (uint32_t)at;
        pdus[count].hdr = hdr;
        pdus[count].count = lst_faults_fire(&site, pdus[count].fired);
        *any = *any || pdus[count].count;
        at += hdr.plen;
        count++;
    }
    return count;
}

/* How long a copy waits and for what. */
static void note_hold(struct lst_fault_copy *copy, const struct lst_fault *fault, uint64_t *us)
{
    if (lst_fault_is(fault, LST_FAULT_DELAY)) {
        *us = MAX(*us, fault->value[LST_FAULT_KEY_US]);
    } else if (lst_fault_is(fault, LST_FAULT_REORDER)) {
        copy->pass = (unsigned)fault->value[LST_FAULT_KEY_PASS];
        *us = MAX(*us, lst_fault_value(fault, LST_FAULT_KEY_US, LST_FAULT_REORDER_US));
    } else if (!lst_fault_mutes(fault) && !lst_fault_ends(fault)) {
        copy->as_it_was = false;
    }
}

/* Applies the rules of one PDU; returns the one that ends the connection behind it, or NULL. */
static const struct lst_fault *tamper(struct lst_fault_copy *copy, const GByteArray *bytes,
                                      const struct tampered *pdu, uint64_t *us)
{
    g_autoptr(GByteArray) piece = g_byte_array_new();
    const struct lst_fault *last = NULL;

    g_byte_array_append(piece, bytes->data + pdu->at, pdu->hdr.plen);
    for (unsigned i = 0; i < pdu->count; i++) {
        struct lst_fault *fault = pdu->fired[i];

        lst_fault_spoil(fault, &pdu->hdr, piece);
        note_hold(copy, fault, us);
        if (lst_fault_mutes(fault)) {
            lst_fault_mute(copy->conn, fault, copy->conn->tx_pending + copy->bytes->len);
        } else if (lst_fault_ends(fault) && !last) {
            last = fault;
        }
    }
    g_byte_array_append(copy->bytes, piece->data, piece->len);
    return last;
}

static void take_over(struct lst_conn *conn, struct lst_tx *tx, const struct tampered *pdus,
                      unsigned count, bool response)
{
    struct lst_conn_faults *faults = lst_conn_faults_of(conn);
    struct lst_target *target = conn->queue.target;
    struct lst_fault_copy *copy = copy_new(conn, tx);
    g_autoptr(GByteArray) bytes = flatten(tx);
    const struct lst_fault *last = NULL;
    uint64_t us = 0;

    copy->as_it_was = true;
    copy->bytes = g_byte_array_new();
    for (unsigned i = 0; i < count && !last; i++) {
        last = tamper(copy, bytes, &pdus[i], &us);
    }
    if (us && !last) {
        g_queue_push_tail_link(&faults->held, &copy->link);
        lst_timer_arm(&target->timers, &copy->timer, lst_fault_deadline(target, us));
        return;
    }
    send_copy(faults, copy);
    if (last) {
        lst_fault_end(conn, last);
    }
    if (response) {
        response_passed(faults);
    }
    lst_conn_tell_ready(conn);
}

bool lst_fault_on_output(struct lst_conn *conn, struct lst_tx *tx, const struct nv_sqe *sqe)
{
    struct tampered pdus[PDUS_MAX];
    bool response = sqe && header_at(tx, 0).type != NVTCP_R2T;
    bool any = false;
    unsigned count = 0;

    if (conn->faults && conn->faults->fate) {
        spend(conn->faults, copy_new(conn, tx));
        return true;
    }
    if (conn->queue.target->faults_enabled) {
        count = fire_for_output(conn, tx, sqe, pdus, &any);
    }
    if (any) {
        take_over(conn, tx, pdus, count, response);
        return true;
    }
    if (!conn->faults || !response) {
        return false;
    }
    lst_conn_push(conn, tx);
    response_passed(conn->faults);
    return true;
}
