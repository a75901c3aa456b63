/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of a connection: from capsule to execution, with SGL checks, data buffers and R2T.
 * Not here: what a command means (req.c), PDU bytes (conn_rx.c, conn_tx.c).
 * NVMe/TCP Transport 1.0, 3.3.2 and 3.3.3.
 */
#include "engine/tcp.h"

#include <string.h>

/* ---- Slots and command identifiers */

static struct lst_tcp_req **cid_chain(struct lst_conn *conn, uint16_t cid)
{
    return &conn->by_cid[cid & (conn->capacity - 1)];
}

struct lst_tcp_req *lst_conn_by_cid(struct lst_conn *conn, uint16_t cid)
{
    struct lst_tcp_req *treq = *cid_chain(conn, cid);

    while (treq && treq->req.sqe.cid != cid) {
        treq = treq->cid_next;
    }
    return treq;
}

static void cid_add(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_tcp_req **chain = cid_chain(conn, treq->req.sqe.cid);

    treq->cid_next = *chain;
    *chain = treq;
    treq->hashed = true;
}

static void cid_remove(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_tcp_req **at = cid_chain(conn, treq->req.sqe.cid);

    while (*at != treq) {
        at = &(*at)->cid_next;
    }
    *at = treq->cid_next;
}

/* Never smaller than before: commands in flight keep their slots. */
void lst_conn_set_capacity(struct lst_conn *conn, unsigned entries)
{
    unsigned before = conn->capacity;
    unsigned capacity = MAX(before, 16);

    while (capacity < entries) {
        capacity *= 2;
    }
    if (capacity == before) {
        return;
    }
    conn->slots = g_renew(struct lst_tcp_req *, conn->slots, capacity);
    memset(conn->slots + before, 0, (capacity - before) * sizeof(*conn->slots));
    conn->free_slots = g_renew(uint16_t, conn->free_slots, capacity);
    g_free(conn->by_cid);
    conn->by_cid = g_new0(struct lst_tcp_req *, capacity);
    conn->capacity = capacity;
    for (unsigned i = 0; i < before; i++) {
        if (conn->slots[i] && conn->slots[i]->hashed) {
            cid_add(conn, conn->slots[i]);
        }
    }
    /* The free slots are a stack of capacity - outstanding entries, lowest number on top. */
    for (unsigned i = capacity, at = 0; i-- > 0;) {
        if (!conn->slots[i]) {
            conn->free_slots[at++] = (uint16_t)i;
        }
    }
}

static struct lst_tcp_req *request_new(struct lst_conn *conn)
{
    struct lst_tcp_req *treq = lst_pool_get_req(&conn->queue.target->pool, sizeof(*treq));

    memset(treq, 0, offsetof(struct lst_tcp_req, header));
    treq->conn = conn;
    treq->req.queue = &conn->queue;
    treq->req.param_location = 0xffff;
    treq->req.sqe = conn->hdr.capsule.sqe;
    treq->slot = conn->free_slots[conn->capacity - conn->outstanding - 1];
    g_assert(!conn->slots[treq->slot]);
    conn->slots[treq->slot] = treq;
    conn->outstanding++;
    conn->counters.commands++;
    return treq;
}

/* ---- Data buffers */

static void buffer_get(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    treq->req.data = lst_pool_get(&conn->queue.target->pool, treq->req.data_len);
    conn->buffer_bytes += lst_pool_size(treq->req.data_len);
    conn->queue.target->buffer_bytes += lst_pool_size(treq->req.data_len);
}

static void execute(struct lst_tcp_req *treq)
{
    treq->state = LST_TREQ_EXECUTING;
    lst_req_execute(&treq->req);
}

/* As many R2Ts as may be in flight. */
static void ask_for_data(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    while (treq->asked < treq->req.data_len && treq->r2t_count < conn->r2t_max) {
        lst_conn_send_r2t(conn, treq);
    }
}

static void start_transfer(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    buffer_get(conn, treq);
    if (treq->req.dir == LST_DIR_IN) {
        treq->state = LST_TREQ_TRANSFER;
        ask_for_data(conn, treq);
    } else {
        execute(treq);
    }
}

/*
 * A connection without any buffer gets one in any case: so each goes on, and what waits is taken up
 * when a buffer of its own connection is given back.
 */
static bool buffers_full(const struct lst_conn *conn, uint32_t len)
{
    const struct lst_target *target = conn->queue.target;
    size_t size = lst_pool_size(len);

    return conn->buffer_bytes &&
           (conn->buffer_bytes + size > LST_CONN_BUFFERS ||
            (target->memory_limit && target->buffer_bytes + size > target->memory_limit));
}

static void wait_for_buffer(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    treq->state = LST_TREQ_WAIT_BUFFER;
    if (conn->wait_tail) {
        conn->wait_tail->wait_next = treq;
    } else {
        conn->wait_head = treq;
    }
    conn->wait_tail = treq;
    lst_trace(conn->queue.target, LST_EVENT_CONN_BUFFER_WAIT, &conn->queue, NULL, treq->req.sqe.cid,
              treq->req.data_len, NULL);
}

void lst_conn_unwait(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_tcp_req **at = &conn->wait_head, *before = NULL;

    while (*at != treq) {
        before = *at;
        at = &before->wait_next;
    }
    *at = treq->wait_next;
    if (conn->wait_tail == treq) {
        conn->wait_tail = before;
    }
}

/*
 * A backend that completes at once releases from inside start_transfer(): the loop, not recursion,
 * takes the next.
 */
static void buffers_freed(struct lst_conn *conn)
{
    while (conn->wait_head && lst_conn_active(conn) &&
           !buffers_full(conn, conn->wait_head->req.data_len)) {
        struct lst_tcp_req *treq = conn->wait_head;

        conn->wait_head = treq->wait_next;
        if (!conn->wait_head) {
            conn->wait_tail = NULL;
        }
        start_transfer(conn, treq);
    }
}

static void r2t_close(struct lst_conn *conn, struct lst_r2t *r2t)
{
    struct lst_r2t **at = &r2t->treq->r2ts;

    while (*at != r2t) {
        at = &(*at)->next;
    }
    *at = r2t->next;
    r2t->treq->r2t_count--;
    if (conn->rx_r2t == r2t) {
        conn->rx_r2t = NULL;
    }
    g_free(r2t);
}

void lst_conn_release(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_pool *pool = &conn->queue.target->pool;

    lst_req_release(&treq->req);
    while (treq->r2ts) {
        r2t_close(conn, treq->r2ts);
    }
    if (treq->req.data) {
        conn->buffer_bytes -= lst_pool_size(treq->req.data_len);
        conn->queue.target->buffer_bytes -= lst_pool_size(treq->req.data_len);
        lst_pool_put(pool, treq->req.data, treq->req.data_len);
    }
    if (treq->hashed) {
        cid_remove(conn, treq);
    }
    if (conn->rx_req == treq) {
        conn->rx_req = NULL;
    }
    conn->slots[treq->slot] = NULL;
    conn->free_slots[conn->capacity - conn->outstanding] = treq->slot;
    conn->outstanding--;
    lst_pool_put_req(pool, treq);
    buffers_freed(conn);
}

/* ---- Capsules */

/*
 * The SGL descriptor against what the command moves and what the capsule holds: type first, then
 * offset, then lengths. Commands without data may have any descriptor of length 0.
 */
static uint16_t check_sgl(struct lst_req *req, uint32_t in_capsule)
{
    const struct nv_sgl *sgl = &req->sqe.sgl;
    bool inline_ok = req->dir == LST_DIR_IN && sgl->sgl_id == NV_SGL_OFFSET;

    if (req->dir != LST_DIR_NONE && !inline_ok && sgl->sgl_id != NV_SGL_TRANSPORT) {
        req->param_location = offsetof(struct nv_sqe, sgl.sgl_id);
        return lst_no_retry(NV_SC_SGL_TYPE);
    }
    if (inline_ok && sgl->addr != 0) {
        req->param_location = offsetof(struct nv_sqe, sgl.addr);
        return lst_no_retry(NV_SC_SGL_OFFSET);
    }
    if (sgl->length > req->data_len && sgl->length <= req->data_max) {
        req->data_len = sgl->length;
    }
    if (sgl->length != req->data_len || in_capsule != (inline_ok ? sgl->length : 0)) {
        req->param_location = offsetof(struct nv_sqe, sgl.length);
        return lst_req_length_error(req);
    }
    return NV_SC_SUCCESS;
}

static bool queue_overrun(const struct lst_conn *conn)
{
    /* A queue of N entries holds N - 1 commands; before Connect there is no queue, only room. */
    unsigned limit = conn->queue.size ? conn->queue.size - 1u : LST_ADMIN_QUEUE_SIZE;

    return conn->outstanding >= limit;
}

static void refuse_overrun(struct lst_conn *conn)
{
    struct lst_verdict verdict = lst_pdu_choice(LST_CHOICE_QUEUE_OVERRUN);

    lst_trace(conn->queue.target, LST_EVENT_CONN_QUEUE_OVERRUN, &conn->queue, NULL,
              conn->outstanding, conn->queue.size, NULL);
    if (conn->queue.ctrl) {
        lst_ctrl_fatal(conn->queue.ctrl);
    } else {
        lst_conn_refuse(conn, verdict, 0);
    }
}

void lst_conn_capsule(struct lst_conn *conn)
{
    uint32_t in_capsule = conn->layout.data_len;
    struct lst_tcp_req *treq;

    conn->rx_req = NULL;
    conn->rx_data = NULL;
    if (!conn->capacity) {
        lst_conn_set_capacity(conn, LST_ADMIN_QUEUE_SIZE);
    }
    if (queue_overrun(conn)) {
        refuse_overrun(conn);
        return;
    }
    treq = request_new(conn);
    conn->rx_req = treq;
    if (lst_conn_by_cid(conn, treq->req.sqe.cid)) {
        lst_fused_arrived(&treq->req);
        treq->early_status = lst_no_retry(NV_SC_CID_CONFLICT);
        return;
    }
    cid_add(conn, treq);
    treq->early_status = lst_req_prepare(&treq->req);
    if (!treq->early_status) {
        treq->early_status = check_sgl(&treq->req, in_capsule);
    }
    if (!treq->early_status && in_capsule) {
        /* Bounded by the queue size and the in-capsule limit, so these never wait. */
        buffer_get(conn, treq);
        conn->rx_data = treq->req.data;
    }
}

static void note_data_digest(struct lst_conn *conn, const struct lst_tcp_req *treq)
{
    lst_trace(conn->queue.target, LST_EVENT_CONN_DATA_DIGEST, &conn->queue, NULL, treq->req.sqe.cid,
              conn->rx_ddgst, NULL);
}

void lst_conn_capsule_end(struct lst_conn *conn, bool digest_ok)
{
    struct lst_tcp_req *treq = conn->rx_req;

    conn->rx_req = NULL;
    if (!digest_ok) {
        note_data_digest(conn, treq);
    }
    if (!digest_ok && !treq->early_status) {
        treq->early_status = NV_SC_TRANSIENT_TRANSPORT;
    }
    if (conn->queue.target->faults_enabled && lst_fault_on_command(conn, treq)) {
        return;
    }
    lst_conn_proceed(conn, treq);
}

void lst_conn_proceed(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    if (treq->early_status) {
        lst_req_complete(&treq->req, treq->early_status);
    } else if (treq->req.data || !treq->req.data_len) {
        execute(treq);
    } else if (treq->req.sqe.flags & NV_FUSE_MASK) {
        /*
         * Its other half holds a buffer until this one has its own. Bounded by the queue size and
         * LST_FUSED_BYTES, so they never wait.
         */
        start_transfer(conn, treq);
    } else if (conn->wait_head || buffers_full(conn, treq->req.data_len)) {
        wait_for_buffer(conn, treq);
    } else {
        start_transfer(conn, treq);
    }
}

/* ---- H2CData */

/* The lower bits of a TTAG name the slot; the upper ones show whether it is a stale one. */
static struct lst_r2t *r2t_find(const struct lst_conn *conn, uint16_t ttag)
{
    unsigned slot = (ttag & ((1u << LST_TTAG_SHIFT) - 1)) - 1u;
    struct lst_tcp_req *treq = slot < conn->capacity ? conn->slots[slot] : NULL;
    struct lst_r2t *r2t = treq ? treq->r2ts : NULL;

    while (r2t && (r2t->ttag != ttag || !r2t->sent)) {
        r2t = r2t->next;
    }
    return r2t;
}

void lst_conn_h2c_data(struct lst_conn *conn)
{
    const struct nvtcp_data *pdu = &conn->hdr.data;
    struct lst_r2t *r2t = r2t_find(conn, pdu->ttag);
    struct lst_pdu_window window = { .valid = r2t != NULL };
    struct lst_verdict verdict;

    conn->rx_r2t = r2t;
    conn->rx_data = NULL;
    if (r2t) {
        window.cccid = r2t->treq->req.sqe.cid;
        window.start = r2t->start;
        window.length = r2t->len;
        window.next = r2t->start + r2t->received;
    }
    verdict = lst_pdu_check_h2c_data(&conn->ctx, pdu, &window, conn->layout.data_len);
    if (verdict.outcome != LST_ACCEPT) {
        conn->rx_r2t = NULL;
        lst_conn_refuse(conn, verdict, conn->layout.hlen);
        return;
    }
    conn->rx_data = r2t->treq->req.data + window.next;
}

/*
 * A bad digest fails the command, but only after the rest of the data that was asked for came: the
 * host sends them anyway.
 */
void lst_conn_h2c_data_end(struct lst_conn *conn, bool digest_ok)
{
    struct lst_r2t *r2t = conn->rx_r2t;
    struct lst_tcp_req *treq = r2t->treq;

    conn->rx_r2t = NULL;
    r2t->received += conn->layout.data_len;
    if (!digest_ok) {
        note_data_digest(conn, treq);
        treq->digest_failed = true;
    }
    if (conn->queue.target->faults_enabled && lst_fault_on_data(conn, treq)) {
        treq->lost = true;
    }
    if (r2t->received < r2t->len) {
        return;
    }
    r2t_close(conn, r2t);
    if (treq->lost) {
        return;
    }
    if (!treq->digest_failed && !treq->aborted) {
        ask_for_data(conn, treq);
    }
    if (treq->r2t_count) {
        return;
    }
    if (treq->digest_failed) {
        treq->state = LST_TREQ_EXECUTING;
        lst_req_complete(&treq->req, NV_SC_TRANSIENT_TRANSPORT);
    } else if (treq->aborted) {
        treq->state = LST_TREQ_EXECUTING;
        lst_req_complete(&treq->req, NV_SC_ABORT_REQUESTED);
    } else {
        execute(treq);
    }
}
