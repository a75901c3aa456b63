/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving half of a host queue: reassembles PDUs from bytes in pieces of any size, checks and
 * acts on them.
 * Not here: what can be checked without a queue (host_pdu.c), sending (host_queue.c).
 * NVMe/TCP transport specification 1.0, sections 3.3.2, 3.5 and 3.6.
 */
#include <string.h>

#include "client/host_queue_internal.h"

static const HostPduVerdict accepted;

static HostPduVerdict refuse(uint16_t fes, uint32_t fei, const char *reason)
{
    return (HostPduVerdict){ .fes = fes, .fei = fei, .reason = reason };
}

static HostSlot *find_slot(HostQueue *queue, uint16_t cid)
{
    return cid < queue->config.entries && queue->slots[cid].busy ? &queue->slots[cid] : NULL;
}

/* ---- One handler per PDU type; the header is complete and its digest right */

static HostPduVerdict on_icresp(HostQueue *queue, const uint8_t *pdu)
{
    const HostQueueConfig *config = &queue->config;
    HostPduVerdict verdict = host_pdu_check_icresp(pdu, config->header_digest, config->data_digest);
    struct nvtcp_ic_resp resp;

    if (verdict.fes) {
        return verdict;
    }
    memcpy(&resp, pdu, sizeof(resp));
    queue->maxh2cdata = resp.maxh2cdata;
    queue->tx = (HostPduFormat){ config->header_digest, config->data_digest, (resp.cpda + 1) * 4 };
    queue->rx_format = (HostPduFormat) { config->header_digest, config->data_digest,
                                         (config->hpda + 1) * 4 };
    host_queue_set_state(queue, HOST_STATE_READY);
    return accepted;
}

static HostPduVerdict on_term(HostQueue *queue, const uint8_t *pdu)
{
    struct nvtcp_term term;

    memcpy(&term, pdu, sizeof(term));
    queue->fault = (HostFault) {
        .by_controller = true, .fes = term.fes, .fei = term.fei, .reason = "C2HTermReq"
    };
    host_queue_set_state(queue, HOST_STATE_TERMINATED);
    return accepted;
}

/*
 * The head may only move towards the tail: entries that have not been sent cannot have been
 * fetched.
 */
static HostPduVerdict advance_sq_head(HostQueue *queue, HostSlot *slot, const struct nv_cqe *cqe)
{
    const uint32_t at = offsetof(struct nvtcp_capsule_resp, cqe) + offsetof(struct nv_cqe, sqhd);
    uint16_t entries = queue->config.entries;

    if (slot->connect && cqe->status == 0 && cqe->sqhd == NVF_SQHD_NO_FLOW_CONTROL) {
        if (!queue->config.no_sq_flow_control) {
            return refuse(NVTCP_FES_HEADER, at, "SQ flow control switched off unasked");
        }
        queue->sq_flow_control = false;
    }
    if (!queue->sq_flow_control || (slot->connect && cqe->status != 0)) {
        return accepted;
    }
    if (cqe->sqhd >= entries || (cqe->sqhd + entries - queue->sq_head) % entries >
                                    (queue->sq_tail + entries - queue->sq_head) % entries) {
        return refuse(NVTCP_FES_HEADER, at, "SQHD");
    }
    queue->sq_head = cqe->sqhd;
    return accepted;
}

static HostPduVerdict on_capsule_resp(HostQueue *queue, const uint8_t *pdu)
{
    const uint32_t at = offsetof(struct nvtcp_capsule_resp, cqe);
    struct nvtcp_capsule_resp resp;
    HostPduVerdict verdict;
    HostSlot *slot;

    memcpy(&resp, pdu, sizeof(resp));
    slot = find_slot(queue, resp.cqe.cid);
    if (!slot) {
        return refuse(NVTCP_FES_HEADER, at + offsetof(struct nv_cqe, cid),
                      "completion for no command");
    }
    if (resp.cqe.status & 1) {
        return refuse(NVTCP_FES_HEADER, at + offsetof(struct nv_cqe, status), "phase tag");
    }
    /* A command that failed may have moved less; one that succeeded has moved all. */
    if (resp.cqe.status == 0 && slot->length != slot->transferred) {
        return refuse(NVTCP_FES_SEQUENCE, 0, "success before all data was moved");
    }
    verdict = advance_sq_head(queue, slot, &resp.cqe);
    if (verdict.fes == 0) {
        host_queue_finish(queue, resp.cqe.cid, &(HostCompletion){ .cqe = resp.cqe });
    }
    return verdict;
}

static HostPduVerdict on_r2t(HostQueue *queue, const uint8_t *pdu)
{
    struct nvtcp_r2t r2t;
    HostSlot *slot;

    memcpy(&r2t, pdu, sizeof(r2t));
    slot = find_slot(queue, r2t.cccid);
    if (!slot || slot->kind != HOST_DATA_OUT_R2T) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_r2t, cccid), "R2T for no write");
    }
    if (r2t.r2tl == 0) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_r2t, r2tl), "R2TL is 0");
    }
    if ((uint64_t)r2t.r2to + r2t.r2tl > slot->length) {
        return refuse(NVTCP_FES_RANGE, 0, "R2T past the end of the data");
    }
    if (r2t.r2to != slot->transferred) {
        return refuse(NVTCP_FES_SEQUENCE, 0, "R2TO is not where the last R2T ended");
    }
    if (slot->open_r2ts >= queue->config.max_r2t) {
        return refuse(NVTCP_FES_LIMIT, 0, "more R2Ts than MAXR2T");
    }
    slot->open_r2ts++;
    slot->transferred += r2t.r2tl;
    if (!queue->config.on_r2t || !queue->config.on_r2t(queue, queue->config.opaque, r2t.cccid,
                                                       r2t.ttag, r2t.r2to, r2t.r2tl)) {
        int ret = host_queue_answer_r2t(queue, r2t.cccid, r2t.ttag, r2t.r2to, r2t.r2tl);

        g_assert(ret == HOST_OK);
    }
    return accepted;
}

static HostPduVerdict check_c2h_data(HostQueue *queue, const struct nvtcp_data *data)
{
    uint32_t digest = data->hdr.flags & NVTCP_F_DDGST ? NVTCP_DIGEST_BYTES : 0;
    bool last = data->hdr.flags & NVTCP_F_LAST;
    HostSlot *slot = find_slot(queue, data->cccid);
    uint64_t end = (uint64_t)data->datao + data->datal;

    if (!slot || slot->kind != HOST_DATA_IN) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_data, cccid), "C2HData for no read");
    }
    if ((uint64_t)data->hdr.pdo + data->datal + digest != data->hdr.plen) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_data, datal),
                      "DATAL is not what PLEN says");
    }
    if (end > slot->length) {
        return refuse(NVTCP_FES_RANGE, 0, "C2HData past the end of the buffer");
    }
    if (slot->last_seen || data->datao != slot->transferred) {
        return refuse(NVTCP_FES_SEQUENCE, 0, "C2HData out of order");
    }
    if (last != (end == slot->length)) {
        return refuse(NVTCP_FES_SEQUENCE, 0, "LAST early or missing");
    }
    /* SUCCESS hides SQHD, so it is for queues that do not need it (section 3.3.2.1). */
    if ((data->hdr.flags & NVTCP_F_SUCCESS) && queue->sq_flow_control) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_hdr, flags),
                      "SUCCESS under SQ flow control");
    }
    return accepted;
}

static HostPduVerdict on_c2h_data(HostQueue *queue, const uint8_t *pdu)
{
    HostPduVerdict verdict;
    struct nvtcp_data data;

    memcpy(&data, pdu, sizeof(data));
    verdict = check_c2h_data(queue, &data);
    if (verdict.fes == 0) {
        queue->rx.sink = queue->slots[data.cccid].buf + data.datao;
        queue->rx.data_left = data.datal;
        queue->rx.crc = HOST_CRC32C_START;
    }
    return verdict;
}

/* All bytes of a C2HData are here. */
static void c2h_data_done(HostQueue *queue)
{
    struct nvtcp_data data;
    HostSlot *slot;

    memcpy(&data, queue->rx.header, sizeof(data));
    slot = &queue->slots[data.cccid];
    slot->transferred += data.datal;
    slot->last_seen = data.hdr.flags & NVTCP_F_LAST;
    if (data.hdr.flags & NVTCP_F_DDGST) {
        uint32_t crc = host_crc32c_end(queue->rx.crc);

        if (memcmp(&crc, queue->rx.digest, sizeof(crc)) != 0) {
            slot->digest_error = true;
            queue->counters.data_digest_errors++;
        }
    }
    if (data.hdr.flags & NVTCP_F_SUCCESS) {
        queue->counters.success_flags++;
        host_queue_finish(
            queue, data.cccid,
            &(HostCompletion) { .cqe = { .cid = data.cccid, .sqhd = NVF_SQHD_NO_FLOW_CONTROL },
                                .by_success_flag = true });
    }
}

/* ---- From bytes to PDUs */

typedef HostPduVerdict PduFn(HostQueue *queue, const uint8_t *pdu);

static PduFn *const handlers[HOST_PDU_TYPES] = {
    [NVTCP_IC_RESP] = on_icresp,
    [NVTCP_C2H_TERM] = on_term,
    [NVTCP_CAPSULE_RESP] = on_capsule_resp,
    [NVTCP_C2H_DATA] = on_c2h_data,
    [NVTCP_R2T] = on_r2t,
};

static void enter(HostRx *rx, HostRxPhase phase, uint32_t need)
{
    rx->phase = phase;
    rx->have = 0;
    rx->need = need;
}

static void next_pdu(HostRx *rx)
{
    enter(rx, HOST_RX_COMMON, sizeof(struct nvtcp_hdr));
}

static HostPduVerdict common_done(HostQueue *queue)
{
    HostRx *rx = &queue->rx;
    HostPduVerdict verdict;
    struct nvtcp_hdr hdr;

    verdict = host_pdu_check_common(rx->header, &queue->rx_format,
                                    queue->state == HOST_STATE_READY);
    if (verdict.fes == 0) {
        memcpy(&hdr, rx->header, sizeof(hdr));
        rx->phase = HOST_RX_HEADER;
        /* C2HTermReq brings up to 128 bytes of a header as data; they fit behind its own. */
        rx->need = hdr.type == NVTCP_C2H_TERM ? hdr.plen :
                   hdr.hlen + (hdr.flags & NVTCP_F_HDGST ? NVTCP_DIGEST_BYTES : 0u);
    }
    return verdict;
}

static HostPduVerdict header_done(HostQueue *queue)
{
    HostRx *rx = &queue->rx;
    HostPduVerdict verdict;
    struct nvtcp_hdr hdr;
    uint32_t got;

    memcpy(&hdr, rx->header, sizeof(hdr));
    if (hdr.flags & NVTCP_F_HDGST) {
        memcpy(&got, rx->header + hdr.hlen, sizeof(got));
        if (got != host_crc32c(rx->header, hdr.hlen)) {
            return refuse(NVTCP_FES_HDGST, got, "header digest");
        }
    }
    queue->counters.pdus_received[hdr.type]++;
    verdict = handlers[hdr.type](queue, rx->header);
    if (hdr.type == NVTCP_C2H_DATA) {
        enter(rx, HOST_RX_PAD, hdr.pdo - rx->have);
    } else {
        next_pdu(rx);
    }
    return verdict;
}

/* A phase has all its bytes. */
static HostPduVerdict phase_done(HostQueue *queue)
{
    HostRx *rx = &queue->rx;

    switch (rx->phase) {
    case HOST_RX_COMMON:
        return common_done(queue);
    case HOST_RX_HEADER:
        return header_done(queue);
    case HOST_RX_PAD:
        enter(rx, HOST_RX_DATA, rx->data_left);
        return accepted;
    case HOST_RX_DATA:
        if (rx->header[offsetof(struct nvtcp_hdr, flags)] & NVTCP_F_DDGST) {
            enter(rx, HOST_RX_DIGEST, NVTCP_DIGEST_BYTES);
            return accepted;
        }
        break;
    case HOST_RX_DIGEST:
        break;
    }
    c2h_data_done(queue);
    next_pdu(rx);
    return accepted;
}

/* Takes up to @length bytes for the present phase; returns how many. */
static size_t take(HostQueue *queue, const uint8_t *bytes, size_t length)
{
    HostRx *rx = &queue->rx;
    uint32_t part = MIN(length, rx->need - rx->have);

    switch (rx->phase) {
    case HOST_RX_COMMON:
    case HOST_RX_HEADER:
        memcpy(rx->header + rx->have, bytes, part);
        break;
    case HOST_RX_PAD:
        break;
    case HOST_RX_DATA:
        memcpy(rx->sink + rx->have, bytes, part);
        if (rx->header[offsetof(struct nvtcp_hdr, flags)] & NVTCP_F_DDGST) {
            rx->crc = host_crc32c_add(rx->crc, bytes, part);
        }
        break;
    case HOST_RX_DIGEST:
        memcpy(rx->digest + rx->have, bytes, part);
        break;
    }
    rx->have += part;
    return part;
}

static int dead_code(const HostQueue *queue)
{
    return queue->fault.by_controller ? HOST_ERR_CLOSED : HOST_ERR_PROTOCOL;
}

int host_queue_receive(HostQueue *queue, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    HostRx *rx = &queue->rx;

    while (queue->state != HOST_STATE_TERMINATED) {
        size_t part = take(queue, p, length);

        p += part;
        length -= part;
        queue->counters.bytes_received += part;
        if (rx->have < rx->need) {
            return HOST_OK;
        }
        uint32_t have = rx->have;
        bool in_header = rx->phase <= HOST_RX_HEADER;
        HostPduVerdict verdict = phase_done(queue);

        if (verdict.fes) {
            g_assert(in_header);
            host_queue_terminate(queue, verdict, rx->header, have);
        }
    }
    return dead_code(queue);
}
