/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host queue against bytes written by hand: what it sends, what it takes and reports.
 * Not here: what it refuses (test_client_refuses.c); the engine (the other test files).
 * NVMe/TCP transport specification 1.0, sections 3.3 and 3.6.
 */
#include <string.h>

#include "client_bench.h"

/* ---- What it sends */

static void test_client_icreq_says_what_was_configured(void)
{
    HostQueueConfig config = { .entries = 2, .header_digest = true, .hpda = 31, .max_r2t = 16 };
    HostQueue *queue = host_queue_new(&config);
    struct nvtcp_ic_req req;

    g_assert_cmpint(host_queue_start(queue), ==, HOST_OK);
    g_assert_cmpint(host_queue_start(queue), ==, HOST_ERR_STATE);
    g_autoptr(GByteArray) out = bench_drain(queue);
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
    HostQueueConfig config = {
        .entries = 4, .header_digest = true, .data_digest = true, .max_r2t = 1
    };
    HostQueue *queue = host_queue_new(&config);
    Bench b = { .queue = queue, .in = g_byte_array_new() };
    uint8_t data[100];
    struct nv_sqe sqe = host_cmd(NV_IO_WRITE, 9);
    struct nvtcp_capsule_cmd capsule;
    uint32_t crc;

    memset(data, 0x5a, sizeof(data));
    host_queue_start(queue);
    bench_drop_output(&b);
    bench_put_icresp(&b, 15, 3, 65536);               /* CPDA 15: data at a multiple of 64 */
    g_assert_cmpint(bench_deliver(&b), ==, HOST_OK);
    g_assert_cmpuint(host_queue_cpda_align(queue), ==, 64);
    g_assert_cmpint(
        host_queue_submit(queue, &sqe, HOST_DATA_OUT_CAPSULE, data, sizeof(data), NULL, NULL), ==,
        0);

    g_autoptr(GByteArray) out = bench_drain(queue);
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
    int cid = bench_submit(b, HOST_DATA_OUT_R2T, 12000);
    uint32_t sizes[] = { 4096, 4096, 1808 }, at = 0, offset = 1000 * 2;

    rig_pattern(b->buf, sizeof(b->buf), 3);
    bench_drop_output(b);
    bench_put_r2t(b, cid, 0x1234, 0, 2000);
    bench_put_r2t(b, cid, 0x4321, 2000, 10000);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    g_autoptr(GByteArray) out = bench_drain(b->queue);
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
    bench_put_resp(b, cid, 1, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
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
        g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==,
                        i);
    }
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==,
                    HOST_ERR_FULL);
    /* A completion that leaves the head where it was frees no entry. */
    bench_put_resp(b, 3, 0, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    g_assert_cmpuint(host_queue_outstanding(b->queue), ==, ENTRIES - 2);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==,
                    HOST_ERR_FULL);
    bench_put_resp(b, 0, 2, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    /* The identifier that has been free for longest is used first: 7, then 3. */
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, 7);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==, 3);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL), ==,
                    HOST_ERR_FULL);
    bench_free(b);
}

static void test_client_submit_checks_its_caller(void)
{
    Bench *b = bench_new(false, false, 0);
    struct nv_sqe sqe = host_cmd(NV_IO_READ, 1);

    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_IN, b->buf, 0, NULL, NULL), ==,
                    HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_IN, NULL, 512, NULL, NULL), ==,
                    HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_submit(b->queue, &sqe, HOST_DATA_NONE, b->buf, 512, NULL, NULL), ==,
                    HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_answer_r2t(b->queue, 0, 1, 0, 512), ==, HOST_ERR_INVALID);
    g_assert_cmpint(host_queue_answer_r2t(b->queue, 99, 1, 0, 512), ==, HOST_ERR_INVALID);
    bench_free(b);
}

/* ---- What it takes */

static void test_client_read_in_parts_every_split(void)
{
    for (unsigned digests = 0; digests < 4; digests++) {
        for (uint8_t hpda = 0; hpda < 32; hpda += 5) {
            for (size_t piece = 1; piece < 400; piece += piece < 40 ? 1 : 37) {
                Bench *b = bench_new(digests & 1, digests & 2, hpda);
                int cid = bench_submit(b, HOST_DATA_IN, 300);
                uint8_t expected[300];

                rig_pattern(expected, 200, 0);
                rig_pattern(expected + 200, 100, 200);
                bench_put_data(b, cid, 0, 200, 0);
                bench_put_data(b, cid, 200, 100, NVTCP_F_LAST);
                bench_put_resp(b, cid, 1, 0);
                for (size_t at = 0; at < b->in->len; at += piece) {
                    g_assert_false(b->result.done);
                    g_assert_cmpint(
                        host_queue_receive(b->queue, b->in->data + at, MIN(piece, b->in->len - at)),
                        ==, HOST_OK);
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

    bench_put_resp(b, cid, 0xffff, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    g_assert_false(host_queue_sq_flow_control(b->queue));
    bench_drop_output(b);
}

static void test_client_success_flag_completes(void)
{
    Bench *b = bench_new(false, false, 0);
    int cid;

    grant_no_flow_control(b);
    cid = bench_submit(b, HOST_DATA_IN, 512);
    bench_put_data(b, cid, 0, 512, NVTCP_F_LAST | NVTCP_F_SUCCESS);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    g_assert_true(b->result.done);
    g_assert_true(b->result.completion.by_success_flag);
    g_assert_cmphex(b->result.status, ==, 0);
    g_assert_cmpuint(host_queue_counters(b->queue)->success_flags, ==, 1);
    g_assert_cmpuint(host_queue_outstanding(b->queue), ==, 0);
    /* SQHD is not looked at any more. */
    cid = bench_submit(b, HOST_DATA_NONE, 0);
    bench_put_resp(b, cid, 0x4444, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    bench_free(b);
}

static void test_client_data_digest_error_is_reported(void)
{
    Bench *b = bench_new(true, true, 0);
    int cid = bench_submit(b, HOST_DATA_IN, 512);

    bench_put_data(b, cid, 0, 512, NVTCP_F_LAST);
    b->in->data[b->in->len - 1] ^= 1;
    bench_put_resp(b, cid, 1, 0);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    g_assert_true(b->result.done);
    g_assert_true(b->result.completion.data_digest_error);
    g_assert_cmpuint(host_queue_counters(b->queue)->data_digest_errors, ==, 1);
    g_assert_cmpint(host_queue_state(b->queue), ==, HOST_STATE_READY);
    bench_free(b);
}

static void test_client_failed_read_without_data(void)
{
    Bench *b = bench_new(false, false, 0);
    int cid = bench_submit(b, HOST_DATA_IN, 512);

    bench_put_resp(b, cid, 1, NV_SC_LBA_RANGE | NV_DNR);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    g_assert_cmphex(b->result.status, ==, NV_SC_LBA_RANGE);
    g_assert_true(b->result.dnr);
    bench_free(b);
}

static void test_client_c2h_termreq(void)
{
    Bench *b = bench_new(false, false, 0);
    struct nvtcp_term term = { .hdr = { NVTCP_C2H_TERM, 0, 24, 0, 24 + 8 },
                               .fes = 1,
                               .fei = 0x01020304 };

    g_byte_array_append(b->in, (const uint8_t *)&term, sizeof(term));
    g_byte_array_append(b->in, (const uint8_t *)"12345678", 8);
    g_assert_cmpint(bench_deliver(b), ==, HOST_ERR_CLOSED);
    g_assert_true(host_queue_fault(b->queue)->by_controller);
    g_assert_cmphex(host_queue_fault(b->queue)->fei, ==, 0x01020304);
    /* A TermReq is never answered. */
    g_autoptr(GByteArray) out = bench_drain(b->queue);
    g_assert_cmpuint(out->len, ==, 0);
    bench_free(b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/icreq_says_what_was_configured",
                    test_client_icreq_says_what_was_configured);
    g_test_add_func("/client/configuration_limits", test_client_configuration_limits);
    g_test_add_func("/client/capsule_layout_with_cpda_and_digests",
                    test_client_capsule_layout_with_cpda_and_digests);
    g_test_add_func("/client/r2t_is_answered_in_parts_of_maxh2cdata",
                    test_client_r2t_is_answered_in_parts_of_maxh2cdata);
    g_test_add_func("/client/queue_full_until_sqhd_moves", test_client_queue_full_until_sqhd_moves);
    g_test_add_func("/client/submit_checks_its_caller", test_client_submit_checks_its_caller);
    g_test_add_func("/client/read_in_parts_every_split", test_client_read_in_parts_every_split);
    g_test_add_func("/client/success_flag_completes", test_client_success_flag_completes);
    g_test_add_func("/client/data_digest_error_is_reported",
                    test_client_data_digest_error_is_reported);
    g_test_add_func("/client/failed_read_without_data", test_client_failed_read_without_data);
    g_test_add_func("/client/c2h_termreq", test_client_c2h_termreq);
    return g_test_run();
}
