/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sending half of a host queue: negotiation, submission, command identifiers, answers to R2T.
 * Not here: what arrives (host_rx.c), the layout of PDUs (host_pdu.c).
 * NVMe/TCP transport specification 1.0, sections 3.3 and 3.6; NVMe base specification 2.0, sections
 * 3.3.1 and 6.3.
 */
#include <string.h>

#include "client/host_cmd.h"
#include "client/host_queue_internal.h"

enum {
    /* Sent bytes at the front of the output are dropped when there are this many of them. */
    OUTPUT_COMPACT_BYTES = 256 * 1024,
};

void host_queue_set_state(HostQueue *queue, HostState state)
{
    static const bool allowed[4][4] = {
        [HOST_STATE_NEW] = { [HOST_STATE_ICREQ_SENT] = true, [HOST_STATE_TERMINATED] = true },
        [HOST_STATE_ICREQ_SENT] = { [HOST_STATE_READY] = true, [HOST_STATE_TERMINATED] = true },
        [HOST_STATE_READY] = { [HOST_STATE_TERMINATED] = true },
    };

    g_assert(allowed[queue->state][state]);
    queue->state = state;
}

HostQueue *host_queue_new(const HostQueueConfig *config)
{
    HostQueue *queue;

    if (config->entries < HOST_QUEUE_MIN_ENTRIES || config->hpda > NVTCP_PDA_MAX ||
        config->max_r2t < 1 || config->max_r2t > HOST_MAX_R2T || config->h2c_split % 4 != 0) {
        return NULL;
    }
    queue = g_new0(HostQueue, 1);
    queue->config = *config;
    queue->state = HOST_STATE_NEW;
    queue->sq_flow_control = true;
    queue->tx.align = queue->rx_format.align = 4;
    queue->rx.need = sizeof(struct nvtcp_hdr);
    queue->out = g_byte_array_new();
    g_queue_init(&queue->answers);
    queue->slots = g_new0(HostSlot, config->entries);
    queue->free_cids = g_new(uint16_t, config->entries);
    for (uint32_t i = 0; i < config->entries; i++) {
        queue->free_cids[i] = i;
    }
    return queue;
}

void host_queue_free(HostQueue *queue)
{
    if (!queue) {
        return;
    }
    g_queue_clear_full(&queue->answers, g_free);
    g_byte_array_free(queue->out, TRUE);
    g_free(queue->slots);
    g_free(queue->free_cids);
    g_free(queue);
}

static void count_sent(HostQueue *queue, uint8_t type)
{
    queue->counters.pdus_sent[type % HOST_PDU_TYPES]++;
}

int host_queue_start(HostQueue *queue)
{
    const HostQueueConfig *config = &queue->config;
    struct nvtcp_ic_req req = {
        .hdr = { .type = NVTCP_IC_REQ, .hlen = sizeof(req), .plen = sizeof(req) },
        .pfv = NVTCP_PFV,
        .hpda = config->hpda,
        .dgst = (config->header_digest ? NVTCP_DGST_HEADER : 0) |
                (config->data_digest ? NVTCP_DGST_DATA : 0),
        .maxr2t = config->max_r2t - 1,
    };

    if (queue->state != HOST_STATE_NEW) {
        return HOST_ERR_STATE;
    }
    g_byte_array_append(queue->out, (const uint8_t *)&req, sizeof(req));
    count_sent(queue, NVTCP_IC_REQ);
    host_queue_set_state(queue, HOST_STATE_ICREQ_SENT);
    return HOST_OK;
}

void host_queue_terminate(HostQueue *queue, HostPduVerdict verdict, const void *header,
                          uint32_t length)
{
    struct nvtcp_term term = {
        .hdr = { .type = NVTCP_H2C_TERM, .hlen = sizeof(term) },
        .fes = verdict.fes,
        .fei = verdict.fei,
    };

    length = MIN(length, NVTCP_TERM_DATA_MAX);
    term.hdr.plen = sizeof(term) + length;
    queue->fault = (HostFault){ .fes = verdict.fes, .fei = verdict.fei, .reason = verdict.reason };
    g_byte_array_append(queue->out, (const uint8_t *)&term, sizeof(term));
    g_byte_array_append(queue->out, header, length);
    count_sent(queue, NVTCP_H2C_TERM);
    host_queue_set_state(queue, HOST_STATE_TERMINATED);
}

/* ---- Output */

const uint8_t *host_queue_output(HostQueue *queue, size_t *length)
{
    *length = queue->out->len - queue->out_head;
    return queue->out->data + queue->out_head;
}

void host_queue_output_consumed(HostQueue *queue, size_t length)
{
    HostAnswer *answer;

    g_assert(length <= queue->out->len - queue->out_head);
    queue->out_head += length;
    queue->counters.bytes_sent += length;
    if (queue->out_head == queue->out->len) {
        g_byte_array_set_size(queue->out, 0);
        queue->out_head = 0;
    } else if (queue->out_head >= OUTPUT_COMPACT_BYTES) {
        g_byte_array_remove_range(queue->out, 0, queue->out_head);
        queue->out_head = 0;
    }
    while ((answer = g_queue_peek_head(&queue->answers)) &&
           answer->end <= queue->counters.bytes_sent) {
        HostSlot *slot = &queue->slots[answer->cid];

        if (slot->open_r2ts > 0) {
            slot->open_r2ts--;
        }
        g_free(g_queue_pop_head(&queue->answers));
    }
}

void host_queue_send_raw(HostQueue *queue, const void *bytes, size_t length)
{
    g_byte_array_append(queue->out, bytes, length);
}

/* ---- Submission */

bool host_queue_full(const HostQueue *queue)
{
    uint16_t entries = queue->config.entries;

    /* One entry stays empty, so that a full queue differs from an empty one. */
    return queue->outstanding >= entries - 1u ||
           (queue->sq_flow_control && (queue->sq_tail + 1) % entries == queue->sq_head);
}

static int take_cid(HostQueue *queue)
{
    uint16_t entries = queue->config.entries;
    uint16_t cid;

    if (queue->state != HOST_STATE_READY) {
        return HOST_ERR_STATE;
    }
    if (host_queue_full(queue)) {
        return HOST_ERR_FULL;
    }
    cid = queue->free_cids[queue->free_head];
    queue->free_head = (queue->free_head + 1) % entries;
    queue->outstanding++;
    queue->sq_tail = (queue->sq_tail + 1) % entries;
    queue->counters.commands++;
    g_assert(!queue->slots[cid].busy);
    return cid;
}

void host_queue_finish(HostQueue *queue, uint16_t cid, HostCompletion *completion)
{
    uint16_t entries = queue->config.entries;
    HostSlot slot = queue->slots[cid];

    g_assert(slot.busy);
    completion->cid = cid;
    completion->bytes_in = slot.kind == HOST_DATA_IN ? slot.transferred : 0;
    completion->data_digest_error = slot.digest_error;
    memset(&queue->slots[cid], 0, sizeof(slot));
    queue->outstanding--;
    queue->free_cids[(queue->free_head + entries - 1 - queue->outstanding) % entries] = cid;
    queue->counters.completions++;
    if (slot.complete) {
        slot.complete(queue, slot.opaque, completion);
    }
}

static void send_command(HostQueue *queue, const struct nv_sqe *sqe, uint16_t cid, const void *data,
                         uint32_t length)
{
    struct nvtcp_capsule_cmd capsule = {
        .hdr = { .type = NVTCP_CAPSULE_CMD, .hlen = sizeof(capsule) },
        .sqe = *sqe,
    };

    capsule.sqe.cid = cid;
    host_pdu_append(queue->out, &queue->tx, &capsule, data, length);
    count_sent(queue, NVTCP_CAPSULE_CMD);
}

int host_queue_submit(HostQueue *queue, const struct nv_sqe *sqe, HostDataKind kind, void *buf,
                      uint32_t length, HostCompleteFn *complete, void *opaque)
{
    bool in_capsule = kind == HOST_DATA_OUT_CAPSULE;
    struct nv_sqe copy = *sqe;
    int cid;

    if ((kind == HOST_DATA_NONE) != (length == 0) || (length > 0 && !buf)) {
        return HOST_ERR_INVALID;
    }
    cid = take_cid(queue);
    if (cid < 0) {
        return cid;
    }
    /* Without data the descriptor is a transport one of length 0: no type means "no data". */
    copy.flags = (copy.flags & ~NV_PSDT_MASK) | NV_PSDT_SGL;
    copy.sgl = (struct nv_sgl) { .length = length,
                                 .sgl_id = in_capsule ? NV_SGL_OFFSET : NV_SGL_TRANSPORT };
    queue->slots[cid] = (HostSlot) {
        .complete = complete,
        .opaque = opaque,
        .buf = in_capsule ? NULL : buf,
        .length = in_capsule ? 0 : length,
        .kind = kind,
        .busy = true,
    };
    send_command(queue, &copy, cid, in_capsule ? buf : NULL, in_capsule ? length : 0);
    return cid;
}

int host_queue_submit_verbatim(HostQueue *queue, const struct nv_sqe *sqe, const void *capsule,
                               uint32_t length, HostCompleteFn *complete, void *opaque)
{
    int cid = take_cid(queue);

    if (cid < 0) {
        return cid;
    }
    queue->slots[cid] = (HostSlot){ .complete = complete, .opaque = opaque, .busy = true };
    send_command(queue, sqe, cid, capsule, length);
    return cid;
}

int host_queue_connect(HostQueue *queue, uint16_t qid, uint32_t kato_ms,
                       const struct nvf_connect_data *data, HostCompleteFn *complete, void *opaque)
{
    uint8_t cattr = queue->config.no_sq_flow_control ? NVF_CATTR_NO_SQ_FLOW_CONTROL : 0;
    struct nv_sqe sqe = host_cmd_connect(qid, queue->config.entries - 1, cattr, kato_ms);
    struct nvf_connect_data copy = *data;
    int cid = host_queue_submit(queue, &sqe, HOST_DATA_OUT_CAPSULE, &copy, sizeof(copy), complete,
                                opaque);

    if (cid >= 0) {
        queue->slots[cid].connect = true;
    }
    return cid;
}

int host_queue_answer_r2t(HostQueue *queue, uint16_t cid, uint16_t ttag, uint32_t offset,
                          uint32_t length)
{
    uint32_t split = queue->config.h2c_split ? MIN(queue->config.h2c_split, queue->maxh2cdata)
                                             : queue->maxh2cdata;
    uint32_t end = offset + length;
    HostAnswer *answer;
    HostSlot *slot;

    if (cid >= queue->config.entries || queue->state != HOST_STATE_READY) {
        return HOST_ERR_INVALID;
    }
    slot = &queue->slots[cid];
    if (!slot->busy || slot->kind != HOST_DATA_OUT_R2T || end < offset || end > slot->length) {
        return HOST_ERR_INVALID;
    }
    while (offset < end) {
        uint32_t part = MIN(split, end - offset);
        struct nvtcp_data pdu = {
            .hdr = { .type = NVTCP_H2C_DATA, .hlen = sizeof(pdu),
                     .flags = offset + part == end ? NVTCP_F_LAST : 0 },
            .cccid = cid, .ttag = ttag, .datao = offset, .datal = part,
        };

        host_pdu_append(queue->out, &queue->tx, &pdu, slot->buf + offset, part);
        count_sent(queue, NVTCP_H2C_DATA);
        offset += part;
    }
    answer = g_new(HostAnswer, 1);
    *answer = (HostAnswer) { .end = queue->counters.bytes_sent + queue->out->len - queue->out_head,
                             .cid = cid };
    g_queue_push_tail(&queue->answers, answer);
    return HOST_OK;
}

/* ---- What a caller may ask */

HostState host_queue_state(const HostQueue *queue)
{
    return queue->state;
}

const HostFault *host_queue_fault(const HostQueue *queue)
{
    return queue->fault.reason ? &queue->fault : NULL;
}

const HostCounters *host_queue_counters(const HostQueue *queue)
{
    return &queue->counters;
}

uint32_t host_queue_outstanding(const HostQueue *queue)
{
    return queue->outstanding;
}

uint32_t host_queue_max_h2c_data(const HostQueue *queue)
{
    return queue->maxh2cdata;
}

uint32_t host_queue_cpda_align(const HostQueue *queue)
{
    return queue->tx.align;
}

bool host_queue_header_digest(const HostQueue *queue)
{
    return queue->tx.header_digest;
}

bool host_queue_data_digest(const HostQueue *queue)
{
    return queue->tx.data_digest;
}

bool host_queue_sq_flow_control(const HostQueue *queue)
{
    return queue->sq_flow_control;
}
