/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes to PDUs: a state machine that takes any fragmentation and copies data straight to their
 * buffer.
 * Not here: which PDUs are acceptable (pdu.c), what commands do (conn_cmd.c).
 * NVMe/TCP Transport 1.0, 3.3.
 */
#include "engine/digest.h"
#include "engine/tcp.h"

#include <string.h>

static void rx_enter(struct lst_conn *conn, enum lst_rx_state state)
{
    conn->rx = state;
    conn->rx_have = 0;
}

/* ---- Whole PDUs */

void lst_conn_negotiated(struct lst_conn *conn)
{
    const struct nvtcp_ic_req *ic = &conn->hdr.ic;

    conn->ctx.ic_done = true;
    conn->ctx.header_digest = ic->dgst & NVTCP_DGST_HEADER;
    conn->ctx.data_digest = ic->dgst & NVTCP_DGST_DATA;
    conn->pda = (ic->hpda + 1u) * 4;
    /* MAXR2T is zero-based, and its whole range is legal. */
    conn->r2t_max = (uint32_t)MIN((uint64_t)ic->maxr2t + 1, conn->r2t_max);
    lst_conn_set_state(conn, LST_CONN_CONNECT);
    lst_conn_arm(conn, conn->queue.target->handshake_s * 1000ull);
}

static void ic_req(struct lst_conn *conn)
{
    const struct nvtcp_ic_req *ic = &conn->hdr.ic;
    struct lst_verdict verdict = lst_pdu_check_ic_req(ic);

    if (verdict.outcome != LST_ACCEPT) {
        lst_conn_refuse(conn, verdict, conn->layout.hlen);
        return;
    }
    lst_conn_negotiated(conn);
    lst_trace(conn->queue.target, LST_EVENT_CONN_READY, &conn->queue, NULL, ic->dgst, ic->maxr2t,
              NULL);
    if (conn->queue.target->faults_enabled && lst_fault_on_ic_req(conn)) {
        return;
    }
    lst_conn_send_ic_resp(conn);
}

static void host_term(struct lst_conn *conn)
{
    const struct nvtcp_term *term = &conn->hdr.term;

    lst_trace(conn->queue.target, LST_EVENT_CONN_HOST_TERM, &conn->queue, NULL, term->fes,
              term->fei, NULL);
    lst_conn_drop(conn);
}

static void pdu_end(struct lst_conn *conn, bool digest_ok)
{
    conn->counters.rx_pdus++;
    rx_enter(conn, LST_RX_COMMON);
    if (conn->hdr.common.type == NVTCP_CAPSULE_CMD) {
        lst_conn_capsule_end(conn, digest_ok);
    } else if (conn->hdr.common.type == NVTCP_H2C_DATA) {
        lst_conn_h2c_data_end(conn, digest_ok);
    }
}

/* What comes after the part of the PDU that is complete; parts of length 0 are passed over. */
static void after_header(struct lst_conn *conn)
{
    if (conn->layout.pad_len) {
        rx_enter(conn, LST_RX_PAD);
    } else if (conn->layout.data_len) {
        rx_enter(conn, LST_RX_DATA);
    } else if (conn->layout.ddgst_len) {
        rx_enter(conn, LST_RX_DDGST);
    } else {
        pdu_end(conn, true);
    }
}

static void after_pad(struct lst_conn *conn)
{
    conn->layout.pad_len = 0;
    after_header(conn);
}

static void after_data(struct lst_conn *conn)
{
    if (conn->layout.ddgst_len) {
        rx_enter(conn, LST_RX_DDGST);
    } else {
        pdu_end(conn, true);
    }
}

static void header_complete(struct lst_conn *conn)
{
    uint8_t type = conn->hdr.common.type;

    if (conn->layout.hdgst_len) {
        struct lst_verdict verdict;
        uint32_t received;

        memcpy(&received, conn->hdr.bytes + conn->layout.hlen, sizeof(received));
        verdict = lst_pdu_check_header_digest(lst_digest(conn->hdr.bytes, conn->layout.hlen),
                                              received);
        if (verdict.outcome != LST_ACCEPT) {
            lst_conn_refuse(conn, verdict, conn->layout.hlen);
            return;
        }
    }
    conn->rx_crc = LST_DIGEST_START;
    if (type == NVTCP_IC_REQ) {
        ic_req(conn);
    } else if (type == NVTCP_H2C_TERM) {
        host_term(conn);
    } else if (type == NVTCP_CAPSULE_CMD) {
        lst_conn_capsule(conn);
    } else {
        lst_conn_h2c_data(conn);
    }
    if (lst_conn_active(conn)) {
        after_header(conn);
    }
}

/* ---- Parts. Each takes what it can use of @len bytes and returns how many. */

static size_t rx_common(struct lst_conn *conn, const uint8_t *data, size_t len)
{
    size_t now = MIN(len, sizeof(conn->hdr.common) - conn->rx_have);
    struct lst_verdict verdict;

    memcpy(conn->hdr.bytes + conn->rx_have, data, now);
    conn->rx_have += (uint32_t)now;
    if (conn->rx_have < sizeof(conn->hdr.common)) {
        return now;
    }
    verdict = lst_pdu_check_common(&conn->ctx, &conn->hdr.common, &conn->layout);
    if (verdict.outcome == LST_TERMINATE) {
        lst_conn_refuse(conn, verdict, sizeof(conn->hdr.common));
    } else if (verdict.outcome == LST_DROP) {
        const struct nvtcp_hdr *hdr = &conn->hdr.common;

        /*
         * Worth reading to its end only for the trace, and only if it can be trusted to have one.
         */
        if (hdr->hlen != sizeof(struct nvtcp_term) || hdr->plen < NVTCP_TERM_PLEN_MIN ||
            hdr->plen > NVTCP_TERM_PLEN_MAX) {
            lst_conn_refuse(conn, verdict, 0);
        } else {
            lst_conn_arm(conn, LST_TERM_TIMEOUT_MS);
        }
    }
    conn->rx = LST_RX_HEADER;
    return now;
}

static size_t rx_header(struct lst_conn *conn, const uint8_t *data, size_t len)
{
    uint32_t whole = (uint32_t)conn->layout.hlen + conn->layout.hdgst_len;
    size_t now = MIN(len, whole - conn->rx_have);

    memcpy(conn->hdr.bytes + conn->rx_have, data, now);
    conn->rx_have += (uint32_t)now;
    if (conn->rx_have == whole) {
        header_complete(conn);
    }
    return now;
}

static size_t rx_pad(struct lst_conn *conn, const uint8_t *data, size_t len)
{
    size_t now = MIN(len, conn->layout.pad_len - conn->rx_have);

    (void)data;
    conn->rx_have += (uint32_t)now;
    if (conn->rx_have == conn->layout.pad_len) {
        after_pad(conn);
    }
    return now;
}

static size_t rx_data(struct lst_conn *conn, const uint8_t *data, size_t len)
{
    size_t now = MIN(len, conn->layout.data_len - conn->rx_have);

    if (conn->rx_data) {
        memcpy(conn->rx_data + conn->rx_have, data, now);
    }
    if (conn->layout.ddgst_len) {
        conn->rx_crc = lst_digest_update(conn->rx_crc, data, now);
    }
    conn->rx_have += (uint32_t)now;
    if (conn->rx_have == conn->layout.data_len) {
        after_data(conn);
    }
    return now;
}

static size_t rx_ddgst(struct lst_conn *conn, const uint8_t *data, size_t len)
{
    size_t now = MIN(len, NVTCP_DIGEST_BYTES - conn->rx_have);

    memcpy((uint8_t *)&conn->rx_ddgst + conn->rx_have, data, now);
    conn->rx_have += (uint32_t)now;
    if (conn->rx_have == NVTCP_DIGEST_BYTES) {
        pdu_end(conn, lst_digest_final(conn->rx_crc) == conn->rx_ddgst);
    }
    return now;
}

void lst_conn_receive(struct lst_conn *conn, const void *data, size_t len)
{
    static size_t (*const parts[])(struct lst_conn *conn, const uint8_t *data, size_t len) = {
        [LST_RX_COMMON] = rx_common,
        [LST_RX_HEADER] = rx_header,
        [LST_RX_PAD] = rx_pad,
        [LST_RX_DATA] = rx_data,
        [LST_RX_DDGST] = rx_ddgst,
    };
    const uint8_t *at = data;

    conn->counters.rx_bytes += len;
    conn->queue.target->arrived_ns = 0;
    while (len && lst_conn_active(conn) && !conn->deaf) {
        size_t used = parts[conn->rx](conn, at, len);

        at += used;
        len -= used;
    }
}
