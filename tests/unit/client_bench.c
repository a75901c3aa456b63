/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See client_bench.h.
 * Not here: what a test expects.
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#include <string.h>

#include "client_bench.h"

GByteArray *bench_drain(HostQueue *queue)
{
    GByteArray *out = g_byte_array_new();
    size_t length;
    const uint8_t *bytes = host_queue_output(queue, &length);

    g_byte_array_append(out, bytes, length);
    host_queue_output_consumed(queue, length);
    return out;
}

void bench_drop_output(Bench *b)
{
    g_byte_array_unref(bench_drain(b->queue));
}

int bench_deliver(Bench *b)
{
    int ret = host_queue_receive(b->queue, b->in->data, b->in->len);

    g_byte_array_set_size(b->in, 0);
    return ret;
}

void bench_put_icresp(Bench *b, uint8_t cpda, uint8_t dgst, uint32_t maxh2cdata)
{
    struct nvtcp_ic_resp resp = {
        .hdr = { NVTCP_IC_RESP, 0, 128, 0, 128 },
        .cpda = cpda,
        .dgst = dgst,
        .maxh2cdata = maxh2cdata,
    };

    g_byte_array_append(b->in, (const uint8_t *)&resp, sizeof(resp));
}

void bench_put_resp(Bench *b, uint16_t cid, uint16_t sqhd, uint16_t status)
{
    struct nvtcp_capsule_resp resp = {
        .hdr = { .type = NVTCP_CAPSULE_RESP, .hlen = 24 },
        .cqe = { .sqhd = sqhd, .cid = cid, .status = (uint16_t)(status << 1) },
    };

    host_pdu_append(b->in, &b->format, &resp, NULL, 0);
}

void bench_put_r2t(Bench *b, uint16_t cid, uint16_t ttag, uint32_t offset, uint32_t length)
{
    struct nvtcp_r2t r2t = {
        .hdr = { .type = NVTCP_R2T, .hlen = 24 },
        .cccid = cid,
        .ttag = ttag,
        .r2to = offset,
        .r2tl = length,
    };

    host_pdu_append(b->in, &b->format, &r2t, NULL, 0);
}

void bench_put_data(Bench *b, uint16_t cid, uint32_t offset, uint32_t length, uint8_t flags)
{
    struct nvtcp_data data = {
        .hdr = { .type = NVTCP_C2H_DATA, .hlen = 24, .flags = flags },
        .cccid = cid,
        .datao = offset,
        .datal = length,
    };
    g_autofree uint8_t *bytes = g_malloc(length);

    rig_pattern(bytes, length, offset);
    host_pdu_append(b->in, &b->format, &data, bytes, length);
}

Bench *bench_new(bool hdgst, bool ddgst, uint8_t hpda)
{
    HostQueueConfig config = {
        .entries = ENTRIES,
        .header_digest = hdgst,
        .data_digest = ddgst,
        .hpda = hpda,
        .max_r2t = 2,
        .no_sq_flow_control = true,
    };
    Bench *b = g_new0(Bench, 1);

    b->in = g_byte_array_new();
    b->queue = host_queue_new(&config);
    b->format = (HostPduFormat){ hdgst, ddgst, (hpda + 1) * 4 };
    g_assert_cmpint(host_queue_start(b->queue), ==, HOST_OK);
    bench_drop_output(b);
    bench_put_icresp(b, 0, (hdgst ? 1 : 0) | (ddgst ? 2 : 0), MAXH2C);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    return b;
}

void bench_free(Bench *b)
{
    host_queue_free(b->queue);
    g_byte_array_unref(b->in);
    g_free(b);
}

void bench_assert_refused(Bench *b, int ret, uint16_t fes, uint32_t fei)
{
    g_autoptr(GByteArray) out = bench_drain(b->queue);
    const HostFault *fault = host_queue_fault(b->queue);
    struct nvtcp_term term;

    g_assert_cmpint(ret, ==, HOST_ERR_PROTOCOL);
    g_assert_cmpint(host_queue_state(b->queue), ==, HOST_STATE_TERMINATED);
    g_assert_nonnull(fault);
    g_assert_false(fault->by_controller);
    g_assert_cmpuint(fault->fes, ==, fes);
    g_assert_cmphex(fault->fei, ==, fei);
    g_assert_cmpuint(out->len, >=, sizeof(term));
    memcpy(&term, out->data, sizeof(term));
    g_assert_cmpuint(term.hdr.type, ==, NVTCP_H2C_TERM);
    g_assert_cmpuint(term.hdr.plen, ==, out->len);
    g_assert_cmpuint(term.fes, ==, fes);
    g_assert_cmphex(term.fei, ==, fei);
    /* Dead for good. */
    bench_put_resp(b, 0, 0, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_ERR_PROTOCOL);
    g_assert_cmpint(
        host_queue_submit(b->queue, &(struct nv_sqe) { 0 }, HOST_DATA_NONE, NULL, 0, NULL, NULL),
        ==, HOST_ERR_STATE);
}

int bench_submit(Bench *b, HostDataKind kind, uint32_t length)
{
    struct nv_sqe sqe = host_cmd(kind == HOST_DATA_IN ? NV_IO_READ : NV_IO_WRITE, 1);
    int cid = host_queue_submit(b->queue, &sqe, kind, length ? b->buf : NULL, length, rig_completed,
                                &b->result);

    b->result.done = false;
    g_assert_cmpint(cid, >=, 0);
    return cid;
}
