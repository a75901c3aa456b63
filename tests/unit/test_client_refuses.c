/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host queue against bytes written by hand: that it refuses what no controller may send.
 * Not here: what is right (test_client.c); the engine (the other test files).
 * NVMe/TCP transport specification 1.0, sections 3.3 and 3.6.
 */
#include <string.h>

#include "client_bench.h"

static void test_client_refuses_icresp(void)
{
    static const struct {
        uint8_t at;
        uint16_t value;
        uint16_t fes;
        uint32_t fei;
    } rows[] = {
        { 1, 1, 1, 1 },
        { 2, 127, 1, 2 },
        { 3, 4, 1, 3 },
        { 4, 127, 1, 4 },
        { 8, 1, 6, 8 },
        { 10, 32, 1, 10 },
        { 11, 1, 1, 11 },
        { 11, 4, 1, 11 },
        { 13, 0x0f, 1, 12 },
        { 12, 2, 1, 12 },
        { 0, NVTCP_CAPSULE_RESP, 2, 0 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        HostQueueConfig config = { .entries = 4, .max_r2t = 1 };
        Bench b = { .queue = host_queue_new(&config),
                    .in = g_byte_array_new(),
                    .format = { .align = 4 } };

        g_test_message("row %u", i);
        host_queue_start(b.queue);
        bench_drop_output(&b);
        bench_put_icresp(&b, 0, 0, MAXH2C);
        b.in->data[rows[i].at] = rows[i].value;
        bench_assert_refused(&b, bench_deliver(&b), rows[i].fes, rows[i].fei);
        host_queue_free(b.queue);
        g_byte_array_unref(b.in);
    }
}

/*
 * One right PDU for command 0 (a flush, a read of 8192 bytes or a write of 8192), then one byte
 * changed.
 */
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
        { NVTCP_CAPSULE_RESP, 0, 0x00, 1, 0 },
        { NVTCP_CAPSULE_RESP, 0, 0x04, 1, 0 },
        { NVTCP_CAPSULE_RESP, 0, 0x08, 1, 0 },
        { NVTCP_CAPSULE_RESP, 0, 0xff, 1, 0 },
        { NVTCP_CAPSULE_RESP, 0, NVTCP_IC_RESP, 2, 0 },
        { NVTCP_CAPSULE_RESP, 1, 0x01, 1, 1 },
        { NVTCP_CAPSULE_RESP, 1, 0x04, 1, 1 },
        { NVTCP_CAPSULE_RESP, 2, 25, 1, 2 },
        { NVTCP_CAPSULE_RESP, 3, 24, 1, 3 },
        { NVTCP_CAPSULE_RESP, 4, 25, 1, 4 },
        { NVTCP_CAPSULE_RESP, 7, 0xff, 1, 4 },
        { NVTCP_CAPSULE_RESP, 20, 5, 1, 20 },
        { NVTCP_CAPSULE_RESP, 21, 0xff, 1, 20 },
        { NVTCP_CAPSULE_RESP, 22, 1, 1, 22 },
        { NVTCP_CAPSULE_RESP, 16, 2, 1, 16 },
        { NVTCP_CAPSULE_RESP, 17, 2, 1, 16 },
        { NVTCP_R2T, 1, 0x02, 1, 1 },
        { NVTCP_R2T, 3, 24, 1, 3 },
        { NVTCP_R2T, 4, 28, 1, 4 },
        { NVTCP_R2T, 8, 1, 1, 8 },
        { NVTCP_R2T, 9, 9, 1, 8 },
        { NVTCP_R2T, 17, 0, 1, 16 },
        { NVTCP_R2T, 18, 1, 4, 0 },
        { NVTCP_R2T, 19, 0xff, 4, 0 },
        { NVTCP_R2T, 12, 4, 2, 0 },
        { NVTCP_R2T, 15, 0xff, 4, 0 },
        { NVTCP_C2H_DATA, 1, 0x08, 1, 1 },
        { NVTCP_C2H_DATA, 1, 0x10, 1, 1 },
        { NVTCP_C2H_DATA, 1, 0x01, 1, 1 },
        { NVTCP_C2H_DATA, 1, 0x04, 2, 0 }, /* LAST early */
        { NVTCP_C2H_DATA, 3, 0, 1, 3 },
        { NVTCP_C2H_DATA, 3, 20, 1, 3 },
        { NVTCP_C2H_DATA, 3, 26, 1, 3 },
        { NVTCP_C2H_DATA, 5, 0, 1, 4 },
        { NVTCP_C2H_DATA, 5, 0x11, 1, 16 },
        { NVTCP_C2H_DATA, 7, 0xff, 1, 16 },
        { NVTCP_C2H_DATA, 8, 1, 1, 8 },
        { NVTCP_C2H_DATA, 9, 9, 1, 8 },
        { NVTCP_C2H_DATA, 12, 4, 2, 0 },
        { NVTCP_C2H_DATA, 13, 0x14, 4, 0 },
        { NVTCP_C2H_DATA, 15, 0xff, 4, 0 },
        { NVTCP_C2H_DATA, 16, 1, 1, 16 },
        { NVTCP_C2H_DATA, 17, 0, 1, 16 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        const Refusal *row = &rows[i];
        Bench *b = bench_new(false, false, 0);

        g_test_message("row %u: type %02x, byte %u", i, row->type, row->at);
        if (row->type == NVTCP_CAPSULE_RESP) {
            bench_submit(b, HOST_DATA_NONE, 0);
            bench_put_resp(b, 0, 1, 0);
        } else if (row->type == NVTCP_R2T) {
            bench_submit(b, HOST_DATA_OUT_R2T, 8192);
            bench_put_r2t(b, 0, 1, 0, 4096);
        } else {
            bench_submit(b, HOST_DATA_IN, 8192);
            bench_put_data(b, 0, 0, 4096, 0);
        }
        bench_drop_output(b);
        b->in->data[row->at] = row->value;
        bench_assert_refused(b, bench_deliver(b), row->fes, row->fei);
        bench_free(b);
    }
}

static void test_client_refuses_header_digest(void)
{
    Bench *b = bench_new(true, false, 0);
    int cid = bench_submit(b, HOST_DATA_NONE, 0);
    uint32_t got;

    bench_drop_output(b);
    bench_put_resp(b, cid, 1, 0);
    b->in->data[25] ^= 0x40;
    memcpy(&got, b->in->data + 24, 4);
    bench_assert_refused(b, bench_deliver(b), NVTCP_FES_HDGST, got);
    bench_free(b);
}

static void test_client_refuses_sequences(void)
{
    Bench *b;
    int cid;

    /* data after LAST */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_IN, 512);
    bench_drop_output(b);
    bench_put_data(b, cid, 0, 512, NVTCP_F_LAST);
    bench_put_data(b, cid, 0, 512, NVTCP_F_LAST);
    bench_assert_refused(b, bench_deliver(b), 2, 0);
    bench_free(b);

    /* the end without LAST */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_IN, 512);
    bench_drop_output(b);
    bench_put_data(b, cid, 0, 512, 0);
    bench_assert_refused(b, bench_deliver(b), 2, 0);
    bench_free(b);

    /* SUCCESS while SQHD is needed */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_IN, 512);
    bench_drop_output(b);
    bench_put_data(b, cid, 0, 512, NVTCP_F_LAST | NVTCP_F_SUCCESS);
    bench_assert_refused(b, bench_deliver(b), 1, 1);
    bench_free(b);

    /* a second completion */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_NONE, 0);
    bench_drop_output(b);
    bench_put_resp(b, cid, 1, 0);
    bench_put_resp(b, cid, 1, 0);
    bench_assert_refused(b, bench_deliver(b), 1, 20);
    bench_free(b);

    /* success of a read without data */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_IN, 512);
    bench_drop_output(b);
    bench_put_resp(b, cid, 1, 0);
    bench_assert_refused(b, bench_deliver(b), 2, 0);
    bench_free(b);

    /* success of a write whose data were not asked for */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_OUT_R2T, 1024);
    bench_drop_output(b);
    bench_put_r2t(b, cid, 1, 0, 512);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    bench_drop_output(b);
    bench_put_resp(b, cid, 1, 0);
    bench_assert_refused(b, bench_deliver(b), 2, 0);
    bench_free(b);

    /* a third R2T while two are open: MAXR2T was 2 */
    b = bench_new(false, false, 0);
    cid = bench_submit(b, HOST_DATA_OUT_R2T, 1536);
    bench_drop_output(b);
    bench_put_r2t(b, cid, 1, 0, 512);
    bench_put_r2t(b, cid, 2, 512, 512);
    g_assert_cmpint(bench_deliver(b), ==, HOST_OK);
    bench_put_r2t(b, cid, 3, 1024, 512);
    g_assert_cmpint(bench_deliver(b), ==, HOST_ERR_PROTOCOL);
    g_assert_cmpuint(host_queue_fault(b->queue)->fes, ==, NVTCP_FES_LIMIT);
    bench_free(b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/refuses_icresp", test_client_refuses_icresp);
    g_test_add_func("/client/refuses_headers", test_client_refuses_headers);
    g_test_add_func("/client/refuses_header_digest", test_client_refuses_header_digest);
    g_test_add_func("/client/refuses_sequences", test_client_refuses_sequences);
    return g_test_run();
}
