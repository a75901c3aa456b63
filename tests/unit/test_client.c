/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host queue against bytes written by hand: what it sends, and that it refuses whatever a controller may not send.
 * Not here: the engine (other test files drive both against each other).
 * NVMe/TCP transport specification 1.0, sections 3.3 and 3.6.
 */
#include <string.h>

#include "wire.h"

typedef struct Bench {
    HostQueue *queue;
    GByteArray *in;                     /* PDUs for the queue */
    HostPduFormat format;
    RigResult result;
    uint8_t buf[16384];
} Bench;

enum { ENTRIES = 8, MAXH2C = 4096 };

static GByteArray *drain(HostQueue *queue)
{
    GByteArray *out = g_byte_array_new();
    size_t length;
    const uint8_t *bytes = host_queue_output(queue, &length);

    g_byte_array_append(out, bytes, length);
    host_queue_output_consumed(queue, length);
    return out;
}

static void drop_output(Bench *b)
{
    g_byte_array_unref(drain(b->queue));
}

static int deliver(Bench *b)
{
    int ret = host_queue_receive(b->queue, b->in->data, b->in->len);

    g_byte_array_set_size(b->in, 0);
    return ret;
}

static void put_icresp(Bench *b, uint8_t cpda, uint8_t dgst, uint32_t maxh2cdata)
{
    struct nvtcp_ic_resp resp = {
        .hdr = { NVTCP_IC_RESP, 0, 128, 0, 128 }, .cpda = cpda, .dgst = dgst, .maxh2cdata = maxh2cdata,
    };

    g_byte_array_append(b->in, (const uint8_t *)&resp, sizeof(resp));
}

static void put_resp(Bench *b, uint16_t cid, uint16_t sqhd, uint16_t status)
{
    struct nvtcp_capsule_resp resp = {
        .hdr = { .type = NVTCP_CAPSULE_RESP, .hlen = 24 },
        .cqe = { .sqhd = sqhd, .cid = cid, .status = (uint16_t)(status << 1) },
    };

    host_pdu_append(b->in, &b->format, &resp, NULL, 0);
}

static void put_r2t(Bench *b, uint16_t cid, uint16_t ttag, uint32_t offset, uint32_t length)
{
    struct nvtcp_r2t r2t = {
        .hdr = { .type = NVTCP_R2T, .hlen = 24 }, .cccid = cid, .ttag = ttag, .r2to = offset, .r2tl = length,
    };

    host_pdu_append(b->in, &b->format, &r2t, NULL, 0);
}

static void put_data(Bench *b, uint16_t cid, uint32_t offset, uint32_t length, uint8_t flags)
{
    struct nvtcp_data data = {
        .hdr = { .type = NVTCP_C2H_DATA, .hlen = 24, .flags = flags }, .cccid = cid, .datao = offset, .datal = length,
    };
    g_autofree uint8_t *bytes = g_malloc(length);

    rig_pattern(bytes, length, offset);
    host_pdu_append(b->in, &b->format, &data, bytes, length);
}

static Bench *bench_new(bool hdgst, bool ddgst, uint8_t hpda)
{
    HostQueueConfig config = {
        .entries = ENTRIES, .header_digest = hdgst, .data_digest = ddgst, .hpda = hpda, .max_r2t = 2,
        .no_sq_flow_control = true,
    };
    Bench *b = g_new0(Bench, 1);

    b->in = g_byte_array_new();
    b->queue = host_queue_new(&config);
    b->format = (HostPduFormat){ hdgst, ddgst, (hpda + 1) * 4 };
    g_assert_cmpint(host_queue_start(b->queue), ==, HOST_OK);
    drop_output(b);
    put_icresp(b, 0, (hdgst ? 1 : 0) | (ddgst ? 2 : 0), MAXH2C);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    return b;
}

static void bench_free(Bench *b)
{
    host_queue_free(b->queue);
    g_byte_array_unref(b->in);
    g_free(b);
}

/* The queue has refused something: state, reason, and an H2CTermReq that says the same. */
static void assert_refused(Bench *b, int ret, uint16_t fes, uint32_t fei)
{
    g_autoptr(GByteArray) out = drain(b->queue);
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
    put_resp(b, 0, 0, 0);
    g_assert_cmpint(deliver(b), ==, HOST_ERR_PROTOCOL);
    g_assert_cmpint(host_queue_submit(b->queue, &(struct nv_sqe){ 0 }, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==,
                    HOST_ERR_STATE);
}

static int submit(Bench *b, HostDataKind kind, uint32_t length)
{
    struct nv_sqe sqe = host_cmd(kind == HOST_DATA_IN ? NV_IO_READ : NV_IO_WRITE, 1);
    int cid = host_queue_submit(b->queue, &sqe, kind, length ? b->buf : NULL, length, rig_completed, &b->result);

    b->result.done = false;
    g_assert_cmpint(cid, >=, 0);
    return cid;
}

/* ---- What it sends ---------------------------------------------------------------------------------------------- */

static void test_client_icreq_says_what_was_configured(void)
{
    HostQueueConfig config = { .entries = 2, .header_digest = true, .hpda = 31, .max_r2t = 16 };
    HostQueue *queue = host_queue_new(&config);
    struct nvtcp_ic_req req;

    g_assert_cmpint(host_queue_start(queue), ==, HOST_OK);
    g_assert_cmpint(host_queue_start(queue), ==, HOST_ERR_STATE);
    g_autoptr(GByteArray) out = drain(queue);
    g_assert_cmpuint(out->len, ==, 128);
    memcpy(&req, out->data, sizeof(req));
    g_assert_cmpuint(req.hdr.type, ==, 0);
    g_assert_cmpuint(req.hdr.hlen, ==, 128);
    g_assert_cmpuint(req.hdr.plen, ==, 128);
    g_assert_cmpuint(req.pfv, ==, 0);
    g_assert_cmpuint(req.hpda, ==, 31);
    g_assert_cmpuint(req.dgst, ==, 1);
    g_assert_cmpuint(req.maxr2t, ==, 15);
    host_queue_free(queue);
}

static void test_client_configuration_limits(void)
{
    static const HostQueueConfig bad[] = {
        { .entries = 1, .max_r2t = 1 },
        { .entries = 2, .max_r2t = 0 },
        { .entries = 2, .max_r2t = 1, .hpda = 32 },
        { .entries = 2, .max_r2t = 1, .h2c_split = 6 },
        { .entries = 2, .max_r2t = HOST_MAX_R2T + 1 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_null(host_queue_new(&bad[i]));
    }
    host_queue_free(NULL);
}

static void test_client_capsule_layout_with_cpda_and_digests(void)
{
    HostQueueConfig config = { .entries = 4, .header_digest = true, .data_digest = true, .max_r2t = 1 };
    HostQueue *queue = host_queue_new(&config);
    Bench b = { .queue = queue, .in = g_byte_array_new() };
    uint8_t data[100];
    struct nv_sqe sqe = host_cmd(NV_IO_WRITE, 9);
    struct nvtcp_capsule_cmd capsule;
    uint32_t crc;

    memset(data, 0x5a, sizeof(data));
    host_queue_start(queue);
    drop_output(&b);
    put_icresp(&b, 15, 3, 65536);               /* CPDA 15: data at a multiple of 64 */
    g_assert_cmpint(deliver(&b), ==, HOST_OK);
    g_assert_cmpuint(host_queue_cpda_align(queue), ==, 64);
    g_assert_cmpint(host_queue_submit(queue, &sqe, HOST_DATA_OUT_CAPSULE, data, sizeof(data), NULL, NULL), ==, 0);

    g_autoptr(GByteArray) out = drain(queue);
    memcpy(&capsule, out->data, sizeof(capsule));
    g_assert_cmpuint(capsule.hdr.flags, ==, 3);
    g_assert_cmpuint(capsule.hdr.pdo, ==, 128); /* 72 + 4, rounded up to 64s */
    g_assert_cmpuint(capsule.hdr.plen, ==, 128 + 100 + 4);
    g_assert_cmpuint(out->len, ==, capsule.hdr.plen);
    g_assert_cmphex(capsule.sqe.flags, ==, 0x40);
    g_assert_cmphex(capsule.sqe.sgl.sgl_id, ==, 0x01);
    g_assert_cmpuint(capsule.sqe.sgl.length, ==, 100);
    g_assert_cmpmem(out->data + 128, 100, data, 100);
    memcpy(&crc, out->data + 228, 4);
    g_assert_cmphex(crc, ==, host_crc32c(data, 100));
    memcpy(&crc, out->data + 72, 4);
    g_assert_cmphex(crc, ==, host_crc32c(out->data, 72));
    host_queue_free(queue);
    g_byte_array_unref(b.in);
}

static void test_client_r2t_is_answered_in_parts_of_maxh2cdata(void)
{
    Bench *b = bench_new(false, false, 0);
    int cid = submit(b, HOST_DATA_OUT_R2T, 12000);
    uint32_t sizes[] = { 4096, 4096, 1808 }, at = 0, offset = 1000 * 2;

    rig_pattern(b->buf, sizeof(b->buf), 3);
    drop_output(b);
    put_r2t(b, cid, 0x1234, 0, 2000);
    put_r2t(b, cid, 0x4321, 2000, 10000);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_autoptr(GByteArray) out = drain(b->queue);
    at = 24 + 2000;
    g_assert_cmphex(out->data[1], ==, NVTCP_F_LAST);
    for (unsigned i = 0; i < 3; i++) {
        struct nvtcp_data data;

        memcpy(&data, out->data + at, sizeof(data));
        g_assert_cmphex(data.hdr.type, ==, NVTCP_H2C_DATA);
        g_assert_cmphex(data.hdr.flags, ==, i == 2 ? NVTCP_F_LAST : 0);
        g_assert_cmphex(data.ttag, ==, 0x4321);
        g_assert_cmpuint(data.cccid, ==, cid);
        g_assert_cmpuint(data.datao, ==, offset);
        g_assert_cmpuint(data.datal, ==, sizes[i]);
        g_assert_cmpmem(out->data + at + 24, sizes[i], b->buf + offset, sizes[i]);
        offset += sizes[i];
        at += 24 + sizes[i];
    }
    g_assert_cmpuint(at, ==, out->len);
    put_resp(b, cid, 1, 0);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_assert_true(b->result.done);
    g_assert_cmpuint(host_queue_counters(b->queue)->pdus_sent[NVTCP_H2C_DATA], ==, 4);
    g_assert_cmpuint(host_queue_counters(b->queue)->pdus_received[NVTCP_R2T], ==, 2);
    bench_free(b);
}

static void test_client_queue_full_until_sqhd_moves(void)
{
    Bench *b = bench_new(false, false, 0);
    struct nv_sqe sqe = host_cmd(NV_IO_FLUSH, 1);

    for (int i = 0; i < ENTRIES - 1; i++) {
        g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, i);
    }
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, HOST_ERR_FULL);
    /* A completion that leaves the head where it was frees no entry. */
    put_resp(b, 3, 0, 0);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_assert_cmpuint(host_queue_outstanding(b->queue), ==, ENTRIES - 2);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, HOST_ERR_FULL);
    put_resp(b, 0, 2, 0);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    /* The identifier that has been free for longest is used first: 7, then 3. */
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, 7);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, 3);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, HOST_ERR_FULL);
    bench_free(b);
}

static void test_client_submit_checks_its_caller(void)
{
    Bench *b = bench_new(false, false, 0);
    struct nv_sqe sqe = host_cmd(NV_IO_READ, 1);

    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_IN, b->buf, 0, NULL, NULL), ==, HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_IN, NULL, 512, NULL, NULL), ==, HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, b->buf, 512, NULL, NULL), ==, HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_answer_r2t(b->queue, 0, 1, 0, 512), ==, HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_answer_r2t(b->queue, 99, 1, 0, 512), ==, HOST_ERR_INVALID);
    bench_free(b);
}

/* ---- What it takes ---------------------------------------------------------------------------------------------- */

static void test_client_read_in_parts_every_split(void)
{
    for (unsigned digests = 0; digests < 4; digests++) {
        for (uint8_t hpda = 0; hpda < 32; hpda += 5) {
            for (size_t piece = 1; piece < 400; piece += piece < 40 ? 1 : 37) {
                Bench *b = bench_new(digests & 1, digests & 2, hpda);
                int cid = submit(b, HOST_DATA_IN, 300);
                uint8_t expected[300];

                rig_pattern(expected, 200, 0);
                rig_pattern(expected + 200, 100, 200);
                put_data(b, cid, 0, 200, 0);
                put_data(b, cid, 200, 100, NVTCP_F_LAST);
                put_resp(b, cid, 1, 0);
                for (size_t at = 0; at < b->in->len; at += piece) {
                    g_assert_false(b->result.done);
                    g_assert_cmpint(host_queue_receive(b->queue, b->in->data + at, MIN(piece, b->in->len - at)), ==,
                                    HOST_OK);
                }
                g_assert_true(b->result.done);
                g_assert_cmpuint(b->result.completion.bytes_in, ==, 300);
                g_assert_false(b->result.completion.data_digest_error);
                g_assert_cmpmem(b->buf, 300, expected, 300);
                bench_free(b);
            }
        }
    }
}

static void grant_no_flow_control(Bench *b)
{
    struct nvf_connect_data data = { .cntlid = 1 };
    int cid = host_queue_connect(b->queue, 1, 0, &data, NULL, NULL);

    put_resp(b, cid, 0xffff, 0);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_assert_false(host_queue_sq_flow_control(b->queue));
    drop_output(b);
}

static void test_client_success_flag_completes(void)
{
    Bench *b = bench_new(false, false, 0);
    int cid;

    grant_no_flow_control(b);
    cid = submit(b, HOST_DATA_IN, 512);
    put_data(b, cid, 0, 512, NVTCP_F_LAST | NVTCP_F_SUCCESS);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_assert_true(b->result.done);
    g_assert_true(b->result.completion.by_success_flag);
    g_assert_cmphex(b->result.status, ==, 0);
    g_assert_cmpuint(host_queue_counters(b->queue)->success_flags, ==, 1);
    g_assert_cmpuint(host_queue_outstanding(b->queue), ==, 0);
    /* SQHD is not looked at any more. */
    cid = submit(b, HOST_DATA_NONE, 0);
    put_resp(b, cid, 0x4444, 0);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    bench_free(b);
}

static void test_client_data_digest_error_is_reported(void)
{
    Bench *b = bench_new(true, true, 0);
    int cid = submit(b, HOST_DATA_IN, 512);

    put_data(b, cid, 0, 512, NVTCP_F_LAST);
    b->in->data[b->in->len - 1] ^= 1;
    put_resp(b, cid, 1, 0);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_assert_true(b->result.done);
    g_assert_true(b->result.completion.data_digest_error);
    g_assert_cmpuint(host_queue_counters(b->queue)->data_digest_errors, ==, 1);
    g_assert_cmpint(host_queue_state(b->queue), ==, HOST_STATE_READY);
    bench_free(b);
}

static void test_client_failed_read_without_data(void)
{
    Bench *b = bench_new(false, false, 0);
    int cid = submit(b, HOST_DATA_IN, 512);

    put_resp(b, cid, 1, NV_SC_LBA_RANGE | NV_DNR);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    g_assert_cmphex(b->result.status, ==, NV_SC_LBA_RANGE);
    g_assert_true(b->result.dnr);
    bench_free(b);
}

static void test_client_c2h_termreq(void)
{
    Bench *b = bench_new(false, false, 0);
    struct nvtcp_term term = { .hdr = { NVTCP_C2H_TERM, 0, 24, 0, 24 + 8 }, .fes = 1, .fei = 0x01020304 };

    g_byte_array_append(b->in, (const uint8_t *)&term, sizeof(term));
    g_byte_array_append(b->in, (const uint8_t *)"12345678", 8);
    g_assert_cmpint(deliver(b), ==, HOST_ERR_CLOSED);
    g_assert_true(host_queue_fault(b->queue)->by_controller);
    g_assert_cmphex(host_queue_fault(b->queue)->fei, ==, 0x01020304);
    /* A TermReq is never answered. */
    g_autoptr(GByteArray) out = drain(b->queue);
    g_assert_cmpuint(out->len, ==, 0);
    bench_free(b);
}

/* ---- What it refuses -------------------------------------------------------------------------------------------- */

static void test_client_refuses_icresp(void)
{
    static const struct {
        uint8_t at;
        uint16_t value;
        uint16_t fes;
        uint32_t fei;
    } rows[] = {
        { 1, 1, 1, 1 }, { 2, 127, 1, 2 }, { 3, 4, 1, 3 }, { 4, 127, 1, 4 }, { 8, 1, 6, 8 }, { 10, 32, 1, 10 },
        { 11, 1, 1, 11 }, { 11, 4, 1, 11 }, { 13, 0x0f, 1, 12 }, { 12, 2, 1, 12 }, { 0, NVTCP_CAPSULE_RESP, 2, 0 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        HostQueueConfig config = { .entries = 4, .max_r2t = 1 };
        Bench b = { .queue = host_queue_new(&config), .in = g_byte_array_new(), .format = { .align = 4 } };

        g_test_message("row %u", i);
        host_queue_start(b.queue);
        drop_output(&b);
        put_icresp(&b, 0, 0, MAXH2C);
        b.in->data[rows[i].at] = rows[i].value;
        assert_refused(&b, deliver(&b), rows[i].fes, rows[i].fei);
        host_queue_free(b.queue);
        g_byte_array_unref(b.in);
    }
}

/* One right PDU for command 0 (a flush, a read of 8192 bytes or a write of 8192), then one byte changed. */
typedef struct Refusal {
    uint8_t type;
    uint8_t at;
    uint8_t value;
    uint16_t fes;
    uint32_t fei;
} Refusal;

static void test_client_refuses_headers(void)
{
    static const Refusal rows[] = {
        { NVTCP_CAPSULE_RESP, 0, 0x00, 1, 0 }, { NVTCP_CAPSULE_RESP, 0, 0x04, 1, 0 },
        { NVTCP_CAPSULE_RESP, 0, 0x08, 1, 0 }, { NVTCP_CAPSULE_RESP, 0, 0xff, 1, 0 },
        { NVTCP_CAPSULE_RESP, 0, NVTCP_IC_RESP, 2, 0 }, { NVTCP_CAPSULE_RESP, 1, 0x01, 1, 1 },
        { NVTCP_CAPSULE_RESP, 1, 0x04, 1, 1 }, { NVTCP_CAPSULE_RESP, 2, 25, 1, 2 }, { NVTCP_CAPSULE_RESP, 3, 24, 1, 3 },
        { NVTCP_CAPSULE_RESP, 4, 25, 1, 4 }, { NVTCP_CAPSULE_RESP, 7, 0xff, 1, 4 },
        { NVTCP_CAPSULE_RESP, 20, 5, 1, 20 }, { NVTCP_CAPSULE_RESP, 21, 0xff, 1, 20 },
        { NVTCP_CAPSULE_RESP, 22, 1, 1, 22 }, { NVTCP_CAPSULE_RESP, 16, 2, 1, 16 }, { NVTCP_CAPSULE_RESP, 17, 2, 1, 16 },
        { NVTCP_R2T, 1, 0x02, 1, 1 }, { NVTCP_R2T, 3, 24, 1, 3 }, { NVTCP_R2T, 4, 28, 1, 4 },
        { NVTCP_R2T, 8, 1, 1, 8 }, { NVTCP_R2T, 9, 9, 1, 8 }, { NVTCP_R2T, 17, 0, 1, 16 },
        { NVTCP_R2T, 18, 1, 4, 0 }, { NVTCP_R2T, 19, 0xff, 4, 0 }, { NVTCP_R2T, 12, 4, 2, 0 },
        { NVTCP_R2T, 15, 0xff, 4, 0 },
        { NVTCP_C2H_DATA, 1, 0x08, 1, 1 }, { NVTCP_C2H_DATA, 1, 0x10, 1, 1 }, { NVTCP_C2H_DATA, 1, 0x01, 1, 1 },
        { NVTCP_C2H_DATA, 1, 0x04, 2, 0 },      /* LAST early */
        { NVTCP_C2H_DATA, 3, 0, 1, 3 }, { NVTCP_C2H_DATA, 3, 20, 1, 3 }, { NVTCP_C2H_DATA, 3, 26, 1, 3 },
        { NVTCP_C2H_DATA, 5, 0, 1, 4 }, { NVTCP_C2H_DATA, 5, 0x11, 1, 16 }, { NVTCP_C2H_DATA, 7, 0xff, 1, 16 },
        { NVTCP_C2H_DATA, 8, 1, 1, 8 }, { NVTCP_C2H_DATA, 9, 9, 1, 8 }, { NVTCP_C2H_DATA, 12, 4, 2, 0 },
        { NVTCP_C2H_DATA, 13, 0x14, 4, 0 }, { NVTCP_C2H_DATA, 15, 0xff, 4, 0 }, { NVTCP_C2H_DATA, 16, 1, 1, 16 },
        { NVTCP_C2H_DATA, 17, 0, 1, 16 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        const Refusal *row = &rows[i];
        Bench *b = bench_new(false, false, 0);

        g_test_message("row %u: type %02x, byte %u", i, row->type, row->at);
        if (row->type == NVTCP_CAPSULE_RESP) {
            submit(b, HOST_DATA_NONE, 0);
            put_resp(b, 0, 1, 0);
        } else if (row->type == NVTCP_R2T) {
            submit(b, HOST_DATA_OUT_R2T, 8192);
            put_r2t(b, 0, 1, 0, 4096);
        } else {
            submit(b, HOST_DATA_IN, 8192);
            put_data(b, 0, 0, 4096, 0);
        }
        drop_output(b);
        b->in->data[row->at] = row->value;
        assert_refused(b, deliver(b), row->fes, row->fei);
        bench_free(b);
    }
}

static void test_client_refuses_header_digest(void)
{
    Bench *b = bench_new(true, false, 0);
    int cid = submit(b, HOST_DATA_NONE, 0);
    uint32_t got;

    drop_output(b);
    put_resp(b, cid, 1, 0);
    b->in->data[25] ^= 0x40;
    memcpy(&got, b->in->data + 24, 4);
    assert_refused(b, deliver(b), NVTCP_FES_HDGST, got);
    bench_free(b);
}

static void test_client_refuses_sequences(void)
{
    Bench *b;
    int cid;

    /* data after LAST */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_IN, 512);
    drop_output(b);
    put_data(b, cid, 0, 512, NVTCP_F_LAST);
    put_data(b, cid, 0, 512, NVTCP_F_LAST);
    assert_refused(b, deliver(b), 2, 0);
    bench_free(b);

    /* the end without LAST */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_IN, 512);
    drop_output(b);
    put_data(b, cid, 0, 512, 0);
    assert_refused(b, deliver(b), 2, 0);
    bench_free(b);

    /* SUCCESS while SQHD is needed */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_IN, 512);
    drop_output(b);
    put_data(b, cid, 0, 512, NVTCP_F_LAST | NVTCP_F_SUCCESS);
    assert_refused(b, deliver(b), 1, 1);
    bench_free(b);

    /* a second completion */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_NONE, 0);
    drop_output(b);
    put_resp(b, cid, 1, 0);
    put_resp(b, cid, 1, 0);
    assert_refused(b, deliver(b), 1, 20);
    bench_free(b);

    /* success of a read without data */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_IN, 512);
    drop_output(b);
    put_resp(b, cid, 1, 0);
    assert_refused(b, deliver(b), 2, 0);
    bench_free(b);

    /* success of a write whose data were not asked for */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_OUT_R2T, 1024);
    drop_output(b);
    put_r2t(b, cid, 1, 0, 512);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    drop_output(b);
    put_resp(b, cid, 1, 0);
    assert_refused(b, deliver(b), 2, 0);
    bench_free(b);

    /* a third R2T while two are open: MAXR2T was 2 */
    b = bench_new(false, false, 0);
    cid = submit(b, HOST_DATA_OUT_R2T, 1536);
    drop_output(b);
    put_r2t(b, cid, 1, 0, 512);
    put_r2t(b, cid, 2, 512, 512);
    g_assert_cmpint(deliver(b), ==, HOST_OK);
    put_r2t(b, cid, 3, 1024, 512);
    g_assert_cmpint(deliver(b), ==, HOST_ERR_PROTOCOL);
    g_assert_cmpuint(host_queue_fault(b->queue)->fes, ==, NVTCP_FES_LIMIT);
    bench_free(b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/icreq_says_what_was_configured", test_client_icreq_says_what_was_configured);
    g_test_add_func("/client/configuration_limits", test_client_configuration_limits);
    g_test_add_func("/client/capsule_layout_with_cpda_and_digests", test_client_capsule_layout_with_cpda_and_digests);
    g_test_add_func("/client/r2t_is_answered_in_parts_of_maxh2cdata",
                    test_client_r2t_is_answered_in_parts_of_maxh2cdata);
    g_test_add_func("/client/queue_full_until_sqhd_moves", test_client_queue_full_until_sqhd_moves);
    g_test_add_func("/client/submit_checks_its_caller", test_client_submit_checks_its_caller);
    g_test_add_func("/client/read_in_parts_every_split", test_client_read_in_parts_every_split);
    g_test_add_func("/client/success_flag_completes", test_client_success_flag_completes);
    g_test_add_func("/client/data_digest_error_is_reported", test_client_data_digest_error_is_reported);
    g_test_add_func("/client/failed_read_without_data", test_client_failed_read_without_data);
    g_test_add_func("/client/c2h_termreq", test_client_c2h_termreq);
    g_test_add_func("/client/refuses_icresp", test_client_refuses_icresp);
    g_test_add_func("/client/refuses_headers", test_client_refuses_headers);
    g_test_add_func("/client/refuses_header_digest", test_client_refuses_header_digest);
    g_test_add_func("/client/refuses_sequences", test_client_refuses_sequences);
    return g_test_run();
}
