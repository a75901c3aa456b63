/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a connection sends: PDUs are built in place, data go out of the buffer they were read into.
 * Not here: when something is sent (conn_cmd.c, conn.c).
 * NVMe/TCP Transport 1.0, 3.3.
 */
#include "engine/tcp.h"

#include <string.h>

#include "engine/digest.h"

/* A PDU that belongs to no command. */
struct control_pdu {
    struct lst_tx tx;
    uint8_t bytes[NVTCP_TERM_PLEN_MAX];
};

void lst_tx_add(struct lst_tx *tx, void *base, size_t len)
{
    tx->seg[tx->count].iov_base = base;
    tx->seg[tx->count].iov_len = len;
    tx->count++;
}

void lst_tx_start(struct lst_tx *tx, void (*sent)(struct lst_conn *conn, struct lst_tx *tx))
{
    tx->next = NULL;
    tx->count = 0;
    tx->current = 0;
    tx->pdus = 0;
    tx->sent = sent;
    tx->forget = NULL;
}

void lst_conn_push(struct lst_conn *conn, struct lst_tx *tx)
{
    for (unsigned i = 0; i < tx->count; i++) {
        conn->tx_pending += tx->seg[i].iov_len;
    }
    if (conn->tx_tail) {
        conn->tx_tail->next = tx;
    } else {
        conn->tx_head = tx;
    }
    conn->tx_tail = tx;
    lst_conn_tell_ready(conn);
}

/* @sqe: of the command that @tx belongs to, or NULL. */
static void enqueue(struct lst_conn *conn, struct lst_tx *tx, const struct nv_sqe *sqe)
{
    if ((conn->faults || conn->queue.target->faults_enabled) &&
        lst_fault_on_output(conn, tx, sqe)) {
        return;
    }
    lst_conn_push(conn, tx);
}

/* Appends the header digest if there is one; returns the length of header and digest. */
static uint32_t seal_header(const struct lst_conn *conn, uint8_t *pdu, uint32_t hlen)
{
    uint32_t digest;

    if (!conn->ctx.header_digest) {
        return hlen;
    }
    digest = lst_digest(pdu, hlen);
    memcpy(pdu + hlen, &digest, sizeof(digest));
    return hlen + NVTCP_DIGEST_BYTES;
}

static uint8_t header_flag(const struct lst_conn *conn)
{
    return conn->ctx.header_digest ? NVTCP_F_HDGST : 0;
}

static uint32_t header_digest_len(const struct lst_conn *conn)
{
    return conn->ctx.header_digest ? NVTCP_DIGEST_BYTES : 0;
}

/* ---- Control PDUs */

static void control_forget(struct lst_tx *tx)
{
    g_free(lst_container(tx, struct control_pdu, tx));
}

static void control_sent(struct lst_conn *conn, struct lst_tx *tx)
{
    (void)conn;
    control_forget(tx);
}

static void send_control(struct lst_conn *conn, const void *header, uint32_t header_len,
                         const uint8_t *data, uint32_t data_len)
{
    struct control_pdu *control = g_new(struct control_pdu, 1);

    g_assert(header_len + data_len <= sizeof(control->bytes));
    memcpy(control->bytes, header, header_len);
    if (data_len) {
        memcpy(control->bytes + header_len, data, data_len);
    }
    lst_tx_start(&control->tx, control_sent);
    control->tx.forget = control_forget;
    lst_tx_add(&control->tx, control->bytes, header_len + data_len);
    control->tx.pdus = 1;
    enqueue(conn, &control->tx, NULL);
}

void lst_conn_send_ic_resp(struct lst_conn *conn)
{
    struct nvtcp_ic_resp resp = {
        .hdr = { .type = NVTCP_IC_RESP, .hlen = sizeof(resp), .plen = sizeof(resp) },
        .pfv = NVTCP_PFV,
        .cpda = conn->ctx.cpda,
        .dgst = (conn->ctx.header_digest ? NVTCP_DGST_HEADER : 0) |
                (conn->ctx.data_digest ? NVTCP_DGST_DATA : 0),
        .maxh2cdata = conn->ctx.maxh2cdata,
    };

    send_control(conn, &resp, sizeof(resp), NULL, 0);
}

void lst_conn_send_term(struct lst_conn *conn, uint16_t fes, uint32_t fei, const uint8_t *header,
                        uint32_t len)
{
    struct nvtcp_term term = {
        .hdr = { .type = NVTCP_C2H_TERM,
                 .hlen = sizeof(term),
                 .plen = (uint32_t)sizeof(term) + len },
        .fes = fes,
        .fei = fei,
    };

    g_assert(len <= NVTCP_TERM_DATA_MAX);
    send_control(conn, &term, sizeof(term), header, len);
}

/* ---- R2T */

static void r2t_sent(struct lst_conn *conn, struct lst_tx *tx)
{
    (void)conn;
    lst_container(tx, struct lst_r2t, tx)->sent = true;
}

/*
 * The slot's number plus one in the lower bits, above it a generation: no R2T of the command that
 * is still open has it. Never 0 and never FFFFh: the slot's part is 1..1024, and the upper part
 * stays below 31.
 */
static uint16_t new_ttag(const struct lst_conn *conn, const struct lst_tcp_req *treq)
{
    struct lst_target *target = conn->queue.target;
    const struct lst_r2t *other;
    uint16_t ttag;

    do {
        ttag = (uint16_t)((treq->slot + 1u) |
                          (target->generation++ % LST_TTAG_GENERATIONS) << LST_TTAG_SHIFT);
        for (other = treq->r2ts; other && other->ttag != ttag; other = other->next) {
        }
    } while (other);
    return ttag;
}

void lst_conn_send_r2t(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_r2t *r2t = g_new0(struct lst_r2t, 1);
    struct lst_r2t **end = &treq->r2ts;
    struct nvtcp_r2t pdu = {
        .hdr = {
            .type = NVTCP_R2T,
            .flags = header_flag(conn),
            .hlen = sizeof(pdu),
            .plen = (uint32_t)sizeof(pdu) + header_digest_len(conn),
        },
        .cccid = treq->req.sqe.cid,
    };

    r2t->treq = treq;
    r2t->ttag = pdu.ttag = new_ttag(conn, treq);
    r2t->start = pdu.r2to = treq->asked;
    r2t->len = pdu.r2tl = MIN(treq->req.data_len - treq->asked, conn->r2t_size);
    treq->asked += r2t->len;
    treq->r2t_count++;
    while (*end) {
        end = &(*end)->next;
    }
    *end = r2t;
    memcpy(r2t->pdu, &pdu, sizeof(pdu));
    lst_tx_start(&r2t->tx, r2t_sent);
    lst_tx_add(&r2t->tx, r2t->pdu, seal_header(conn, r2t->pdu, sizeof(pdu)));
    r2t->tx.pdus = 1;
    conn->counters.r2ts++;
    enqueue(conn, &r2t->tx, &treq->req.sqe);
}

void lst_conn_send_stray_r2t(struct lst_conn *conn, uint16_t cid, uint16_t ttag, uint32_t len)
{
    struct nvtcp_r2t pdu = {
        .hdr = {
            .type = NVTCP_R2T,
            .flags = header_flag(conn),
            .hlen = sizeof(pdu),
            .plen = (uint32_t)sizeof(pdu) + header_digest_len(conn),
        },
        .cccid = cid, .ttag = ttag, .r2tl = len,
    };
    uint8_t bytes[sizeof(pdu) + NVTCP_DIGEST_BYTES];

    memcpy(bytes, &pdu, sizeof(pdu));
    send_control(conn, bytes, seal_header(conn, bytes, sizeof(pdu)), NULL, 0);
}

/* ---- Data and responses */

static void response_sent(struct lst_conn *conn, struct lst_tx *tx)
{
    lst_conn_release(conn, lst_container(tx, struct lst_tcp_req, tx));
}

static void add_c2h_data(struct lst_conn *conn, struct lst_tcp_req *treq, bool success)
{
    uint32_t head = (uint32_t)sizeof(struct nvtcp_data) + header_digest_len(conn);
    uint32_t pdo = (head + conn->pda - 1) / conn->pda * conn->pda;
    uint32_t ddgst_len = conn->ctx.data_digest ? NVTCP_DIGEST_BYTES : 0;
    struct nvtcp_data pdu = {
        .hdr = {
            .type = NVTCP_C2H_DATA,
            .flags = header_flag(conn) | (ddgst_len ? NVTCP_F_DDGST : 0) | NVTCP_F_LAST |
                     (success ? NVTCP_F_SUCCESS : 0),
            .hlen = sizeof(pdu),
            .pdo = (uint8_t)pdo,
            .plen = pdo + treq->req.data_len + ddgst_len,
        },
        .cccid = treq->req.sqe.cid,
        .datal = treq->req.data_len,
    };

    memcpy(treq->header, &pdu, sizeof(pdu));
    seal_header(conn, treq->header, sizeof(pdu));
    memset(treq->header + head, 0, pdo - head);
    lst_tx_add(&treq->tx, treq->header, pdo);
    lst_tx_add(&treq->tx, treq->req.data, treq->req.data_len);
    treq->tx.pdus++;
}

static uint32_t put_capsule_resp(struct lst_conn *conn, struct lst_tcp_req *treq, uint8_t *at)
{
    struct nvtcp_capsule_resp resp = {
        .hdr = {
            .type = NVTCP_CAPSULE_RESP,
            .flags = header_flag(conn),
            .hlen = sizeof(resp),
            .plen = (uint32_t)sizeof(resp) + header_digest_len(conn),
        },
        .cqe = treq->req.cqe,
    };

    memcpy(at, &resp, sizeof(resp));
    treq->tx.pdus++;
    return seal_header(conn, at, sizeof(resp));
}

void lst_conn_send_response(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    const struct lst_req *req = &treq->req;
    bool data = req->dir == LST_DIR_OUT && req->cqe.status == 0;
    /* SUCCESS stands for a completion of zeroes, and cannot carry SQHD. */
    bool success = data && !conn->queue.flow_control && req->cqe.result == 0;
    uint32_t trailer = 0;

    treq->state = LST_TREQ_SENDING;
    lst_tx_start(&treq->tx, response_sent);
    if (data) {
        add_c2h_data(conn, treq, success);
    }
    if (data && conn->ctx.data_digest) {
        uint32_t digest = lst_digest(req->data, req->data_len);

        memcpy(treq->trailer, &digest, sizeof(digest));
        trailer = sizeof(digest);
    }
    if (!success) {
        trailer += put_capsule_resp(conn, treq, treq->trailer + trailer);
    }
    if (trailer) {
        lst_tx_add(&treq->tx, treq->trailer, trailer);
    }
    enqueue(conn, &treq->tx, &req->sqe);
}

/* ---- Output */

/* The first @len bytes of @iov; returns the pieces that they take. */
static unsigned cut_to(struct iovec *iov, unsigned count, size_t len)
{
    unsigned kept = 0;

    while (kept < count && len) {
        iov[kept].iov_len = MIN(iov[kept].iov_len, len);
        len -= iov[kept++].iov_len;
    }
    return kept;
}

unsigned lst_conn_output(struct lst_conn *conn, struct iovec *iov, unsigned max)
{
    unsigned count = 0;

    if (conn->faults) {
        lst_fault_settle(conn);
    }
    conn->ready_told = false;
    if (conn->state == LST_CONN_CLOSED) {
        return 0;
    }
    for (const struct lst_tx *tx = conn->tx_head; tx && count < max; tx = tx->next) {
        for (unsigned i = tx->current; i < tx->count && count < max; i++) {
            iov[count++] = tx->seg[i];
        }
    }
    return conn->faults ? cut_to(iov, count, lst_fault_allowed(conn, SIZE_MAX)) : count;
}

static void head_sent(struct lst_conn *conn)
{
    struct lst_tx *tx = conn->tx_head;

    conn->tx_head = tx->next;
    if (!conn->tx_head) {
        conn->tx_tail = NULL;
    }
    conn->counters.tx_pdus += tx->pdus;
    tx->sent(conn, tx);
}

void lst_conn_consumed(struct lst_conn *conn, size_t len)
{
    g_assert(len <= conn->tx_pending);
    conn->tx_pending -= len;
    conn->counters.tx_bytes += len;
    if (conn->faults) {
        lst_fault_consumed(conn, len);
    }
    while (len) {
        struct lst_tx *tx = conn->tx_head;
        struct iovec *seg = &tx->seg[tx->current];
        size_t now = MIN(len, seg->iov_len);

        seg->iov_base = (char *)seg->iov_base + now;
        seg->iov_len -= now;
        len -= now;
        if (seg->iov_len) {
            break;
        }
        if (++tx->current == tx->count) {
            head_sent(conn);
        }
    }
}

void lst_conn_forget_output(struct lst_conn *conn)
{
    struct lst_tx *next;

    for (struct lst_tx *tx = conn->tx_head; tx; tx = next) {
        next = tx->next;
        if (tx->forget) {
            tx->forget(tx);
        }
    }
    conn->tx_head = NULL;
    conn->tx_tail = NULL;
    conn->tx_pending = 0;
}
