/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data end to end: by capsule, R2T and C2HData in all digest settings, alignments and splits;
 * lengths that do not fit.
 * Not here: malformed transfers (test_malformed.c); other I/O commands (test_io.c); random mixtures
 * (test_model.c).
 * NVMe/TCP transport specification 1.0, section 3.3.2; NVM command set specification 1.0, section
 * 3.
 */
#include <string.h>

#include "wire.h"

/* 512 bytes to MDTS: in the capsule up to 16384, by R2T from 512 on. */
static void all_sizes(const HostQueueConfig *config)
{
    static const uint32_t sizes[] = { 512,
                                      1024,
                                      4096,
                                      8192,
                                      15872,
                                      16384,
                                      16896,
                                      65536,
                                      130560,
                                      131072,
                                      131584,
                                      262144,
                                      RIG_MDTS_BYTES - 512,
                                      RIG_MDTS_BYTES };
    RigIo s = rig_io_setup(config);

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        if (sizes[i] <= 16384) {
            rig_round_trip(&s, i, sizes[i], HOST_DATA_OUT_CAPSULE, i);
        }
        rig_round_trip(&s, 100 + i, sizes[i], HOST_DATA_OUT_R2T, 100 + i);
    }
    /* The last blocks of the namespace. */
    rig_round_trip(&s, RIG_BLOCKS - 8, 4096, HOST_DATA_OUT_R2T, 1);
    rig_round_trip(&s, RIG_BLOCKS - 1, 512, HOST_DATA_OUT_CAPSULE, 2);
    rig_io_teardown(&s);
}

static void test_rw_sizes_without_digests(void)
{
    HostQueueConfig config = rig_io_config();

    all_sizes(&config);
}

static void test_rw_sizes_with_header_digest(void)
{
    HostQueueConfig config = rig_io_config();

    config.header_digest = true;
    all_sizes(&config);
}

static void test_rw_sizes_with_data_digest(void)
{
    HostQueueConfig config = rig_io_config();

    config.data_digest = true;
    all_sizes(&config);
}

static void test_rw_sizes_with_both_digests(void)
{
    HostQueueConfig config = rig_io_config();

    config.header_digest = config.data_digest = true;
    all_sizes(&config);
}

static void test_rw_sizes_without_flow_control(void)
{
    HostQueueConfig config = rig_io_config();

    config.header_digest = config.data_digest = config.no_sq_flow_control = true;
    all_sizes(&config);
}

static void test_rw_every_hpda(void)
{
    for (unsigned hpda = 0; hpda <= 31; hpda++) {
        for (unsigned digests = 0; digests < 4; digests++) {
            HostQueueConfig config = rig_io_config();

            config.hpda = hpda;
            config.header_digest = digests & 1;
            config.data_digest = digests & 2;
            RigIo s = rig_io_setup(&config);
            rig_round_trip(&s, 3, 512, HOST_DATA_OUT_CAPSULE, hpda);
            rig_round_trip(&s, 7, 4096, HOST_DATA_OUT_R2T, hpda);
            rig_io_teardown(&s);
        }
    }
}

static void test_rw_max_r2t_and_h2c_splits(void)
{
    static const uint32_t splits[] = { 4, 512, 4092, 4096, 100000 };

    for (unsigned i = 0; i < G_N_ELEMENTS(splits); i++) {
        for (uint32_t max_r2t = 1; max_r2t <= 16; max_r2t *= 4) {
            HostQueueConfig config = rig_io_config();

            config.h2c_split = splits[i];
            config.max_r2t = max_r2t;
            config.data_digest = true;
            RigIo s = rig_io_setup(&config);
            rig_round_trip(&s, 1, splits[i] < 512 ? 8192 : 524288, HOST_DATA_OUT_R2T, i);
            g_assert_cmpuint(host_queue_counters(s.io->host)->pdus_received[NVTCP_R2T], >=, 1);
            rig_io_teardown(&s);
        }
    }
}

/* The stream is cut at sizes that never fit a PDU, in both directions. */
static void test_rw_odd_pieces_of_the_stream(void)
{
    static const size_t pieces[] = { 1,  2,  3,   5,   7,   11,  23,   25,
                                     71, 73, 127, 129, 511, 513, 4095, 4097 };

    for (unsigned i = 0; i < G_N_ELEMENTS(pieces); i++) {
        HostQueueConfig config = rig_io_config();

        config.header_digest = i & 1;
        config.data_digest = i & 2;
        config.hpda = i;
        RigIo s = rig_io_setup(&config);
        s.io->to_target = pieces[i];
        s.io->to_host = pieces[G_N_ELEMENTS(pieces) - 1 - i];
        rig_round_trip(&s, 9, 2048, HOST_DATA_OUT_CAPSULE, i);
        rig_round_trip(&s, 19, 20480, HOST_DATA_OUT_R2T, i);
        rig_io_teardown(&s);
    }
}

static void test_rw_larger_than_mdts(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;

    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, RIG_MDTS_BYTES + 512, HOST_DATA_IN), ==,
                    NV_SC_INVALID_FIELD);
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 0, RIG_MDTS_BYTES + 512, HOST_DATA_OUT_R2T), ==,
                    NV_SC_INVALID_FIELD);
    g_assert_cmpuint(host_queue_counters(s.io->host)->pdus_received[NVTCP_R2T], ==, 0);
    /* NLB FFFFh: 65536 blocks. */
    g_assert_cmphex(
        rig_do(s.io, host_cmd_rw(NV_IO_READ, 1, 0, 65536, 0), HOST_DATA_IN, s.in, 512, &result), !=,
        0);
    rig_round_trip(&s, 0, 512, HOST_DATA_OUT_R2T, 0);
    rig_io_teardown(&s);
}

static void test_rw_lba_out_of_range(void)
{
    static const struct {
        uint64_t slba;
        uint32_t blocks;
    } rows[] = {
        { RIG_BLOCKS, 1 }, { RIG_BLOCKS - 1, 2 }, { UINT64_MAX, 1 },       { UINT64_MAX - 7, 8 },
        { UINT64_MAX, 2 }, { 1ull << 55, 1 },     { (1ull << 55) - 1, 2 }, { 0x100000000ull, 1 },
    };
    RigIo s = rig_io_setup(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint32_t bytes = rows[i].blocks * RIG_BLOCK;

        g_test_message("row %u", i);
        g_assert_cmphex(rig_rw(&s, NV_IO_READ, rows[i].slba, bytes, HOST_DATA_IN), ==,
                        NV_SC_LBA_RANGE);
        g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, rows[i].slba, bytes, HOST_DATA_OUT_CAPSULE), ==,
                        NV_SC_LBA_RANGE);
        g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, rows[i].slba, bytes, HOST_DATA_OUT_R2T), ==,
                        NV_SC_LBA_RANGE);
        g_assert_cmphex(
            rig_run(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, rows[i].slba, rows[i].blocks, 0)), ==,
            NV_SC_LBA_RANGE);
    }
    for (unsigned op = 0; op < LST_IO_OP_COUNT; op++) {
        g_assert_cmpuint(s.rig->ios_by_op[op], ==, 0);
    }
    rig_io_teardown(&s);
}

/* A length that is not that of the blocks: the SGL is wrong (0/0F). */
static void test_rw_sgl_length_differs_from_nlb(void)
{
    static const uint32_t lengths[] = { 508, 516, 1024, 4 };
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe read = host_cmd_rw(NV_IO_READ, 1, 0, 1, 0),
                  write = host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0);

    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_assert_cmphex(rig_in(s.io, read, s.in, lengths[i]), ==, NV_SC_SGL_LENGTH);
        g_assert_cmphex(rig_do(s.io, write, HOST_DATA_OUT_R2T, s.out, lengths[i], NULL), ==,
                        NV_SC_SGL_LENGTH);
        g_assert_cmphex(rig_do(s.io, write, HOST_DATA_OUT_CAPSULE, s.out, lengths[i], NULL), ==,
                        NV_SC_SGL_LENGTH);
    }
    g_assert_cmphex(rig_run(s.io, read), ==, NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_run(s.io, write), ==, NV_SC_SGL_LENGTH);
    rig_io_teardown(&s);
}

/* PSDT must say SGL: a PRP has no meaning on Fabrics (0/02). */
static void test_rw_prp_is_refused(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe sqe = host_cmd_rw(NV_IO_READ, 1, 0, 1, 0);
    RigResult result = { 0 };

    sqe.sgl = (struct nv_sgl){ .length = 512, .sgl_id = NV_SGL_TRANSPORT };
    g_assert_cmpint(host_queue_submit_verbatim(s.io->host, &sqe, NULL, 0, rig_completed, &result),
                    >=, 0);
    rig_pump(s.rig);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, NV_SC_INVALID_FIELD);
    rig_io_teardown(&s);
}

/*
 * 63 writes of 1 MiB want more buffers than one connection may hold: they wait their turn and all
 * complete.
 */
static void test_many_large_writes_wait_for_buffers(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult results[RIG_IO_ENTRIES - 1];
    struct nv_sqe sqe = host_cmd_rw(NV_IO_WRITE, 1, 0, RIG_MDTS_BYTES / RIG_BLOCK, 0);

    rig_pattern(s.out, RIG_MDTS_BYTES, 9);
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        memset(&results[i], 0, sizeof(results[i]));
        sqe.cdw10 = (i % 8) * (RIG_MDTS_BYTES / RIG_BLOCK);
        g_assert_cmpint(host_queue_submit(s.io->host, &sqe, HOST_DATA_OUT_R2T, s.out,
                                          RIG_MDTS_BYTES, rig_completed, &results[i]),
                        >=, 0);
    }
    rig_pump(s.rig);
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        g_assert_true(results[i].done);
        g_assert_cmphex(results[i].status, ==, 0);
    }
    g_assert_true(memcmp(s.rig->media.bytes + 7 * RIG_MDTS_BYTES, s.out, RIG_MDTS_BYTES) == 0);
    rig_io_teardown(&s);
}

static void test_block_size_4096(void)
{
    Rig *rig = rig_new();
    RigMedia media = { 0 };
    RigLink *admin, *io;
    uint8_t out[8192], in[8192];

    rig_add_ns(rig->subsys, 2, &media, 1 << 20, 4096);
    admin = rig_admin(rig);
    io = rig_io(rig, admin, 1, NULL);
    rig_pattern(out, sizeof(out), 4);
    g_assert_cmphex(
        rig_do(io, host_cmd_rw(NV_IO_WRITE, 2, 254, 2, 0), HOST_DATA_OUT_CAPSULE, out, 8192, NULL),
        ==, 0);
    g_assert_cmpmem(media.bytes + 254 * 4096, 8192, out, 8192);
    g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 2, 254, 2, 0), in, 8192), ==, 0);
    g_assert_cmpmem(in, 8192, out, 8192);
    g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 2, 255, 2, 0), in, 8192), ==,
                    NV_SC_LBA_RANGE);
    rig_free(rig);
    g_free(media.bytes);
}

static void test_inline_size_of_the_port(void)
{
    static const struct {
        const char *value;
        uint32_t fits;
    } rows[] = { { "0", 0 }, { "4096", 4096 }, { "65536", 65536 } };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Rig *rig = rig_new();
        g_autofree uint8_t *buf = g_malloc0(65536 + 512);
        RigLink *admin, *io;
        uint32_t over = rows[i].fits + 512;

        g_assert_true(lst_port_set(rig->port, "param_inline_data_size", rows[i].value, NULL));
        admin = rig_admin(rig);
        io = rig_io(rig, admin, 1, NULL);
        if (rows[i].fits) {
            g_assert_cmphex(rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, rows[i].fits / 512, 0),
                                   HOST_DATA_OUT_CAPSULE, buf, rows[i].fits, NULL),
                            ==, 0);
        }
        io->fault_expected = true;
        host_queue_submit(
            io->host,
            &(struct nv_sqe) { .opcode = NV_IO_WRITE, .nsid = 1, .cdw12 = over / 512 - 1 },
            HOST_DATA_OUT_CAPSULE, buf, over, NULL, NULL);
        rig_pump(rig);
        g_assert_nonnull(host_queue_fault(io->host));
        g_assert_cmpuint(host_queue_fault(io->host)->fes, ==, NVTCP_FES_LIMIT);
        rig_free(rig);
    }
}

/* DDGST on a capsule without data says nothing: set or clear, both are taken. */
static void test_ddgst_flag_without_data(void)
{
    for (unsigned set = 0; set < 2; set++) {
        HostQueueConfig config = rig_io_config();

        config.data_digest = true;
        RigIo s = rig_io_setup(&config);
        g_autoptr(GByteArray) capsule = g_byte_array_new();
        struct nv_sqe sqe = wire_sgl(host_cmd(NV_IO_FLUSH, 1), NV_SGL_TRANSPORT, 0, 0);
        struct nv_cqe cqe;

        wire_capsule(capsule, &(HostPduFormat){ false, true, 4 }, &sqe, 0x77, NULL, 0);
        capsule->data[1] = set ? NVTCP_F_DDGST : 0;
        s.io->capture = true;
        rig_send(s.io, capsule->data, capsule->len);
        g_assert_true(wire_find_cqe(s.io->received, 0x77, &cqe));
        g_assert_cmphex(cqe.status, ==, 0);
        rig_io_teardown(&s);
    }
}

/* A host may align its data more than CPDA asks: PDO up to what a byte holds. */
static void test_rw_data_behind_padding(void)
{
    for (unsigned digests = 0; digests < 4; digests++) {
        HostQueueConfig config = rig_io_config();
        const HostPduFormat format = { digests & 1, digests & 2, 84 };
        g_autoptr(GByteArray) out = g_byte_array_new();
        struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 4, 1, 0), NV_SGL_OFFSET, 0, 512);
        struct nvtcp_r2t r2t;
        struct nv_cqe cqe;

        config.header_digest = digests & 1;
        config.data_digest = digests & 2;
        RigIo s = rig_io_setup(&config);
        rig_pattern(s.out, 4096, digests);
        wire_capsule(out, &format, &sqe, 0x100, s.out, 512);
        g_assert_cmpuint(out->data[3], ==, 84);
        sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 8, 8, 0), NV_SGL_TRANSPORT, 0, 4096);
        wire_capsule(out, &format, &sqe, 0x101, NULL, 0);
        s.io->capture = true;
        /* Byte by byte as well, so that each part of a PDU is cut. */
        for (unsigned i = 0; i < out->len; i++) {
            rig_send(s.io, out->data + i, 1);
        }
        g_assert_true(wire_find_cqe(s.io->received, 0x100, &cqe));
        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_true(memcmp(s.rig->media.bytes + 4 * RIG_BLOCK, s.out, 512) == 0);

        memcpy(&r2t, s.io->received->data + s.io->received->len - (digests & 1 ? 28 : 24),
               sizeof(r2t));
        g_assert_cmphex(r2t.hdr.type, ==, NVTCP_R2T);
        g_byte_array_set_size(out, 0);
        wire_h2c_data(out, &format, 0x101, r2t.ttag, 0, s.out, 4096, true);
        rig_send(s.io, out->data, out->len);
        g_assert_true(wire_find_cqe(s.io->received, 0x101, &cqe));
        g_assert_cmphex(cqe.status, ==, 0);
        g_assert_true(memcmp(s.rig->media.bytes + 8 * RIG_BLOCK, s.out, 4096) == 0);
        rig_io_teardown(&s);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rw/sizes_without_digests", test_rw_sizes_without_digests);
    g_test_add_func("/rw/sizes_with_header_digest", test_rw_sizes_with_header_digest);
    g_test_add_func("/rw/sizes_with_data_digest", test_rw_sizes_with_data_digest);
    g_test_add_func("/rw/sizes_with_both_digests", test_rw_sizes_with_both_digests);
    g_test_add_func("/rw/sizes_without_flow_control", test_rw_sizes_without_flow_control);
    g_test_add_func("/rw/every_hpda", test_rw_every_hpda);
    g_test_add_func("/rw/max_r2t_and_h2c_splits", test_rw_max_r2t_and_h2c_splits);
    g_test_add_func("/rw/odd_pieces_of_the_stream", test_rw_odd_pieces_of_the_stream);
    g_test_add_func("/rw/larger_than_mdts", test_rw_larger_than_mdts);
    g_test_add_func("/rw/lba_out_of_range", test_rw_lba_out_of_range);
    g_test_add_func("/rw/sgl_length_differs_from_nlb", test_rw_sgl_length_differs_from_nlb);
    g_test_add_func("/rw/prp_is_refused", test_rw_prp_is_refused);
    g_test_add_func("/rw/inline_size_of_the_port", test_inline_size_of_the_port);
    g_test_add_func("/rw/block_size_4096", test_block_size_4096);
    g_test_add_func("/rw/many_large_writes_wait_for_buffers",
                    test_many_large_writes_wait_for_buffers);
    g_test_add_func("/rw/data_behind_padding", test_rw_data_behind_padding);
    g_test_add_func("/rw/ddgst_flag_without_data", test_ddgst_flag_without_data);
    return g_test_run();
}
