/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * I/O commands end to end: data by capsule, R2T and C2HData in all digest settings, alignments and splits; ranges.
 * Not here: malformed transfers (test_malformed.c); random mixtures (test_model.c).
 * NVM command set specification 1.0, section 3; NVMe/TCP transport specification 1.0, section 3.3.2.
 */
#include <string.h>

#include "wire.h"

typedef struct Setup {
    Rig *rig;
    RigLink *admin;
    RigLink *io;
    uint8_t *out;                       /* RIG_MDTS_BYTES + RIG_BLOCK each */
    uint8_t *in;
} Setup;

static Setup setup_with(const HostQueueConfig *config)
{
    Setup s = { .rig = rig_new() };

    s.admin = rig_admin(s.rig);
    s.io = rig_io(s.rig, s.admin, 1, config);
    s.out = g_malloc0(RIG_MDTS_BYTES + 4096);
    s.in = g_malloc0(RIG_MDTS_BYTES + 4096);
    return s;
}

static Setup setup(void)
{
    HostQueueConfig config = rig_io_config();

    return setup_with(&config);
}

static void teardown(Setup *s)
{
    rig_free(s->rig);
    g_free(s->out);
    g_free(s->in);
}

static uint16_t rw(Setup *s, uint8_t opcode, uint64_t slba, uint32_t bytes, HostDataKind kind)
{
    return rig_do(s->io, host_cmd_rw(opcode, 1, slba, bytes / RIG_BLOCK, 0), kind,
                  kind == HOST_DATA_IN ? s->in : s->out, bytes, NULL);
}

/* Writes a pattern at @slba, looks at the media, reads it back. */
static void round_trip(Setup *s, uint64_t slba, uint32_t bytes, HostDataKind kind, uint32_t seed)
{
    rig_pattern(s->out, bytes, seed);
    memset(s->in, 0, bytes);
    g_assert_cmphex(rw(s, NV_IO_WRITE, slba, bytes, kind), ==, 0);
    g_assert_true(memcmp(s->rig->media.bytes + slba * RIG_BLOCK, s->out, bytes) == 0);
    g_assert_cmphex(rw(s, NV_IO_READ, slba, bytes, HOST_DATA_IN), ==, 0);
    g_assert_true(memcmp(s->in, s->out, bytes) == 0);
}

/* 512 bytes to MDTS: in the capsule up to 16384, by R2T from 512 on. */
static void all_sizes(const HostQueueConfig *config)
{
    static const uint32_t sizes[] = { 512, 1024, 4096, 8192, 15872, 16384, 16896, 65536, 130560, 131072, 131584,
                                      262144, RIG_MDTS_BYTES - 512, RIG_MDTS_BYTES };
    Setup s = setup_with(config);

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        if (sizes[i] <= 16384) {
            round_trip(&s, i, sizes[i], HOST_DATA_OUT_CAPSULE, i);
        }
        round_trip(&s, 100 + i, sizes[i], HOST_DATA_OUT_R2T, 100 + i);
    }
    /* The last blocks of the namespace. */
    round_trip(&s, RIG_BLOCKS - 8, 4096, HOST_DATA_OUT_R2T, 1);
    round_trip(&s, RIG_BLOCKS - 1, 512, HOST_DATA_OUT_CAPSULE, 2);
    teardown(&s);
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
            Setup s = setup_with(&config);
            round_trip(&s, 3, 512, HOST_DATA_OUT_CAPSULE, hpda);
            round_trip(&s, 7, 4096, HOST_DATA_OUT_R2T, hpda);
            teardown(&s);
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
            Setup s = setup_with(&config);
            round_trip(&s, 1, splits[i] < 512 ? 8192 : 524288, HOST_DATA_OUT_R2T, i);
            g_assert_cmpuint(host_queue_counters(s.io->host)->pdus_received[NVTCP_R2T], >=, 1);
            teardown(&s);
        }
    }
}

/* The stream is cut at sizes that never fit a PDU, in both directions. */
static void test_rw_odd_pieces_of_the_stream(void)
{
    static const size_t pieces[] = { 1, 2, 3, 5, 7, 11, 23, 25, 71, 73, 127, 129, 511, 513, 4095, 4097 };

    for (unsigned i = 0; i < G_N_ELEMENTS(pieces); i++) {
        HostQueueConfig config = rig_io_config();

        config.header_digest = i & 1;
        config.data_digest = i & 2;
        config.hpda = i;
        Setup s = setup_with(&config);
        s.io->to_target = pieces[i];
        s.io->to_host = pieces[G_N_ELEMENTS(pieces) - 1 - i];
        round_trip(&s, 9, 2048, HOST_DATA_OUT_CAPSULE, i);
        round_trip(&s, 19, 20480, HOST_DATA_OUT_R2T, i);
        teardown(&s);
    }
}

static void test_rw_larger_than_mdts(void)
{
    Setup s = setup();
    RigResult result;

    g_assert_cmphex(rw(&s, NV_IO_READ, 0, RIG_MDTS_BYTES + 512, HOST_DATA_IN), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(rw(&s, NV_IO_WRITE, 0, RIG_MDTS_BYTES + 512, HOST_DATA_OUT_R2T), ==, NV_SC_INVALID_FIELD);
    g_assert_cmpuint(host_queue_counters(s.io->host)->pdus_received[NVTCP_R2T], ==, 0);
    /* NLB FFFFh: 65536 blocks. */
    g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_READ, 1, 0, 65536, 0), HOST_DATA_IN, s.in, 512, &result), !=, 0);
    round_trip(&s, 0, 512, HOST_DATA_OUT_R2T, 0);
    teardown(&s);
}

static void test_rw_lba_out_of_range(void)
{
    static const struct {
        uint64_t slba;
        uint32_t blocks;
    } rows[] = {
        { RIG_BLOCKS, 1 }, { RIG_BLOCKS - 1, 2 }, { UINT64_MAX, 1 }, { UINT64_MAX - 7, 8 }, { UINT64_MAX, 2 },
        { 1ull << 55, 1 }, { (1ull << 55) - 1, 2 }, { 0x100000000ull, 1 },
    };
    Setup s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint32_t bytes = rows[i].blocks * RIG_BLOCK;

        g_test_message("row %u", i);
        g_assert_cmphex(rw(&s, NV_IO_READ, rows[i].slba, bytes, HOST_DATA_IN), ==, NV_SC_LBA_RANGE);
        g_assert_cmphex(rw(&s, NV_IO_WRITE, rows[i].slba, bytes, HOST_DATA_OUT_CAPSULE), ==, NV_SC_LBA_RANGE);
        g_assert_cmphex(rw(&s, NV_IO_WRITE, rows[i].slba, bytes, HOST_DATA_OUT_R2T), ==, NV_SC_LBA_RANGE);
        g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, rows[i].slba, rows[i].blocks, 0),
                               HOST_DATA_NONE, NULL, 0, NULL), ==, NV_SC_LBA_RANGE);
    }
    for (unsigned op = 0; op < LST_IO_OP_COUNT; op++) {
        g_assert_cmpuint(s.rig->ios_by_op[op], ==, 0);
    }
    teardown(&s);
}

static void test_io_namespace_must_exist(void)
{
    static const uint32_t nsids[] = { 0, 2, 1024, 0xfffffffe };
    Setup s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(nsids); i++) {
        g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_READ, nsids[i], 0, 1, 0), HOST_DATA_IN, s.in, 512, NULL), ==,
                        NV_SC_INVALID_NAMESPACE);
        g_assert_cmphex(rig_do(s.io, host_cmd(NV_IO_FLUSH, nsids[i]), HOST_DATA_NONE, NULL, 0, NULL), ==,
                        NV_SC_INVALID_NAMESPACE);
    }
    g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_READ, NV_NSID_ALL, 0, 1, 0), HOST_DATA_IN, s.in, 512, NULL), ==,
                    NV_SC_INVALID_NAMESPACE);
    /* Hidden from hosts, then visible again. */
    g_assert_true(lst_ns_enable(s.rig->ns, false, NULL));
    g_assert_cmphex(rw(&s, NV_IO_READ, 0, 512, HOST_DATA_IN), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_true(lst_ns_enable(s.rig->ns, true, NULL));
    g_assert_cmphex(rw(&s, NV_IO_READ, 0, 512, HOST_DATA_IN), ==, 0);
    teardown(&s);
}

/* A length that is not that of the blocks: the SGL is wrong (0/0F). */
static void test_rw_sgl_length_differs_from_nlb(void)
{
    static const uint32_t lengths[] = { 508, 516, 1024, 4 };
    Setup s = setup();
    struct nv_sqe read = host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), write = host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0);

    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_assert_cmphex(rig_do(s.io, read, HOST_DATA_IN, s.in, lengths[i], NULL), ==, NV_SC_SGL_LENGTH);
        g_assert_cmphex(rig_do(s.io, write, HOST_DATA_OUT_R2T, s.out, lengths[i], NULL), ==, NV_SC_SGL_LENGTH);
        g_assert_cmphex(rig_do(s.io, write, HOST_DATA_OUT_CAPSULE, s.out, lengths[i], NULL), ==, NV_SC_SGL_LENGTH);
    }
    g_assert_cmphex(rig_do(s.io, read, HOST_DATA_NONE, NULL, 0, NULL), ==, NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_do(s.io, write, HOST_DATA_NONE, NULL, 0, NULL), ==, NV_SC_SGL_LENGTH);
    teardown(&s);
}

/* PSDT must say SGL: a PRP has no meaning on Fabrics (0/02). */
static void test_rw_prp_is_refused(void)
{
    Setup s = setup();
    struct nv_sqe sqe = host_cmd_rw(NV_IO_READ, 1, 0, 1, 0);
    RigResult result = { 0 };

    sqe.sgl = (struct nv_sgl){ .length = 512, .sgl_id = NV_SGL_TRANSPORT };
    g_assert_cmpint(host_queue_submit_verbatim(s.io->host, &sqe, NULL, 0, rig_completed, &result), >=, 0);
    rig_pump(s.rig);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, NV_SC_INVALID_FIELD);
    teardown(&s);
}

static void test_io_unknown_opcodes(void)
{
    static const uint8_t opcodes[] = { 0x03, 0x7e, 0x80, 0xfc, 0xff };
    Setup s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(opcodes); i++) {
        g_assert_cmphex(rig_do(s.io, host_cmd(opcodes[i], 1), HOST_DATA_NONE, NULL, 0, NULL), ==, NV_SC_INVALID_OPCODE);
    }
    teardown(&s);
}

static void test_flush_reaches_the_media(void)
{
    Setup s = setup();

    g_assert_cmphex(rig_do(s.io, host_cmd(NV_IO_FLUSH, 1), HOST_DATA_NONE, NULL, 0, NULL), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_FLUSH], ==, 1);
    teardown(&s);
}

static void test_write_zeroes_clears_exactly_its_blocks(void)
{
    Setup s = setup();
    struct nv_sqe sqe = host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 10, 20, 0);

    rig_pattern(s.rig->media.bytes, 64 * RIG_BLOCK, 1);
    g_autofree uint8_t *expected = g_memdup2(s.rig->media.bytes, 64 * RIG_BLOCK);
    memset(expected + 10 * RIG_BLOCK, 0, 20 * RIG_BLOCK);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_NONE, NULL, 0, NULL), ==, 0);
    g_assert_cmpmem(s.rig->media.bytes, 64 * RIG_BLOCK, expected, 64 * RIG_BLOCK);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE_ZEROES], ==, 1);
    teardown(&s);
}

/* MDTS does not limit commands without data. */
static void test_write_zeroes_of_the_whole_namespace(void)
{
    Setup s = setup();

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 0, RIG_BLOCKS, 0), HOST_DATA_NONE, NULL, 0, NULL),
                    ==, 0);
    for (uint64_t i = 0; i < s.rig->media.size; i++) {
        g_assert_cmpuint(s.rig->media.bytes[i], ==, 0);
    }
    teardown(&s);
}

static void test_fua_and_deac_reach_the_media(void)
{
    Setup s = setup();
    RigResult result;
    struct lst_io *io;

    s.rig->defer = true;
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, NV_RW_FUA >> 16), HOST_DATA_OUT_CAPSULE, s.out, 512, &result);
    io = g_queue_peek_head(&s.rig->ios);
    g_assert_true(io->fua);
    g_assert_cmpuint(io->nsid, ==, 1);
    rig_complete_io(s.rig, 0);
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s.out, 512, &result);
    io = g_queue_peek_head(&s.rig->ios);
    g_assert_false(io->fua);
    rig_complete_io(s.rig, 0);
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 0, 1, NV_RW_DEAC >> 16), HOST_DATA_NONE, NULL, 0, &result);
    io = g_queue_peek_head(&s.rig->ios);
    g_assert_true(io->may_unmap);
    rig_complete_io(s.rig, 0);
    g_assert_cmphex(result.status, ==, 0);
    teardown(&s);
}

static void test_dsm_deallocates_its_ranges(void)
{
    Setup s = setup();
    struct nv_dsm_range ranges[3] = {
        { .slba = 2, .nlb = 3 }, { .slba = 30, .nlb = 1 }, { .slba = RIG_BLOCKS - 1, .nlb = 1 },
    };

    rig_pattern(s.rig->media.bytes, s.rig->media.size, 1);
    g_autofree uint8_t *expected = g_memdup2(s.rig->media.bytes, s.rig->media.size);
    for (unsigned i = 0; i < 3; i++) {
        memset(expected + ranges[i].slba * RIG_BLOCK, 0, ranges[i].nlb * RIG_BLOCK);
    }
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 3, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, ranges, sizeof(ranges),
                           NULL), ==, 0);
    g_assert_true(memcmp(s.rig->media.bytes, expected, s.rig->media.size) == 0);
    /* The same by R2T, as hints only: nothing changes. */
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 3, 1), HOST_DATA_OUT_R2T, ranges, sizeof(ranges), NULL), ==, 0);
    g_assert_true(memcmp(s.rig->media.bytes, expected, s.rig->media.size) == 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_DISCARD], ==, 1);
    teardown(&s);
}

static void test_dsm_of_256_ranges(void)
{
    Setup s = setup();
    struct nv_dsm_range ranges[256];

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    for (unsigned i = 0; i < 256; i++) {
        ranges[i] = (struct nv_dsm_range){ .slba = i * 2, .nlb = 1 };
    }
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 256, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, ranges,
                           sizeof(ranges), NULL), ==, 0);
    for (unsigned i = 0; i < 512; i++) {
        g_assert_cmphex(s.rig->media.bytes[i * RIG_BLOCK], ==, i % 2 ? 0xff : 0);
    }
    teardown(&s);
}

static void test_dsm_refused(void)
{
    Setup s = setup();
    struct nv_dsm_range range = { .slba = RIG_BLOCKS - 1, .nlb = 2 }, wrap = { .slba = UINT64_MAX, .nlb = 2 };
    struct nv_dsm_range two[2] = { { .slba = 0, .nlb = 1 } };

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, &range, sizeof(range),
                           NULL), ==, NV_SC_LBA_RANGE);
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, &wrap, sizeof(wrap),
                           NULL), ==, NV_SC_LBA_RANGE);
    /* Fewer ranges in the list than in the command; a list of more than 256. */
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, s.out, 4112, NULL), ==,
                    NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 2, NV_DSM_DEALLOCATE), HOST_DATA_OUT_R2T, two, 16, NULL), ==,
                    NV_SC_SGL_LENGTH);
    g_assert_cmphex(s.rig->media.bytes[0], ==, 0xff);
    teardown(&s);
}

/* Linux always sends 4096 bytes, whatever the number of ranges: the rest of the list means nothing. */
static void test_dsm_list_of_linux(void)
{
    Setup s = setup();
    struct nv_dsm_range *ranges = (void *)s.out;

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    memset(s.out, 0xee, 4096);
    ranges[0] = (struct nv_dsm_range){ .slba = 3, .nlb = 1 };
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, s.out, 4096, NULL), ==,
                    0);
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_R2T, s.out, 4096, NULL), ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmphex(s.rig->media.bytes[i * RIG_BLOCK], ==, i == 3 ? 0 : 0xff);
    }
    teardown(&s);
}

/* Verify is advertised by ONCS bit 7; the media is asked, nothing is transferred. */
static void test_verify_asks_the_media(void)
{
    Setup s = setup();

    g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_VERIFY, 1, 0, 8, 0), HOST_DATA_NONE, NULL, 0, NULL), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_VERIFY], ==, 1);
    g_assert_cmphex(rig_do(s.io, host_cmd_rw(NV_IO_VERIFY, 1, RIG_BLOCKS, 1, 0), HOST_DATA_NONE, NULL, 0, NULL), ==,
                    NV_SC_LBA_RANGE);
    teardown(&s);
}

static void test_media_errors_reach_the_host(void)
{
    Setup s = setup();

    s.rig->media.status = NV_SC_READ_ERROR;
    g_assert_cmphex(rw(&s, NV_IO_READ, 0, 4096, HOST_DATA_IN), ==, NV_SC_READ_ERROR);
    s.rig->media.status = NV_SC_WRITE_FAULT;
    g_assert_cmphex(rw(&s, NV_IO_WRITE, 0, 4096, HOST_DATA_OUT_R2T), ==, NV_SC_WRITE_FAULT);
    g_assert_cmphex(rw(&s, NV_IO_WRITE, 0, 512, HOST_DATA_OUT_CAPSULE), ==, NV_SC_WRITE_FAULT);
    g_assert_cmphex(rig_do(s.io, host_cmd(NV_IO_FLUSH, 1), HOST_DATA_NONE, NULL, 0, NULL), ==, NV_SC_WRITE_FAULT);
    g_assert_cmpuint(s.rig->events[LST_EVENT_BACKEND_FAILED], ==, 4);
    s.rig->media.status = 0;
    round_trip(&s, 0, 512, HOST_DATA_OUT_R2T, 0);
    teardown(&s);
}

/* The host goes while the media is busy; the requests end later. */
static void test_host_gone_while_the_media_works(void)
{
    Setup s = setup();
    RigResult results[8];

    s.rig->defer = true;
    for (unsigned i = 0; i < 4; i++) {
        rig_submit(s.io, host_cmd_rw(NV_IO_READ, 1, i, 8, 0), HOST_DATA_IN, s.in, 4096, &results[i]);
        rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, i, 8, 0), HOST_DATA_OUT_R2T, s.out, 4096, &results[4 + i]);
    }
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 8);
    rig_unlink(s.io);
    rig_unlink(s.admin);
    while (!g_queue_is_empty(&s.rig->ios)) {
        rig_complete_io(s.rig, 0);
    }
    s.rig->defer = false;
    s.admin = rig_admin(s.rig);
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    round_trip(&s, 0, 4096, HOST_DATA_OUT_R2T, 5);
    teardown(&s);
}

/* 63 writes of 1 MiB want more buffers than one connection may hold: they wait their turn and all complete. */
static void test_many_large_writes_wait_for_buffers(void)
{
    Setup s = setup();
    RigResult results[RIG_IO_ENTRIES - 1];
    struct nv_sqe sqe = host_cmd_rw(NV_IO_WRITE, 1, 0, RIG_MDTS_BYTES / RIG_BLOCK, 0);

    rig_pattern(s.out, RIG_MDTS_BYTES, 9);
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        memset(&results[i], 0, sizeof(results[i]));
        sqe.cdw10 = (i % 8) * (RIG_MDTS_BYTES / RIG_BLOCK);
        g_assert_cmpint(host_queue_submit(s.io->host, &sqe, HOST_DATA_OUT_R2T, s.out, RIG_MDTS_BYTES, rig_completed,
                                          &results[i]), >=, 0);
    }
    rig_pump(s.rig);
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        g_assert_true(results[i].done);
        g_assert_cmphex(results[i].status, ==, 0);
    }
    g_assert_true(memcmp(s.rig->media.bytes + 7 * RIG_MDTS_BYTES, s.out, RIG_MDTS_BYTES) == 0);
    teardown(&s);
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
    g_assert_cmphex(rig_do(io, host_cmd_rw(NV_IO_WRITE, 2, 254, 2, 0), HOST_DATA_OUT_CAPSULE, out, 8192, NULL), ==, 0);
    g_assert_cmpmem(media.bytes + 254 * 4096, 8192, out, 8192);
    g_assert_cmphex(rig_do(io, host_cmd_rw(NV_IO_READ, 2, 254, 2, 0), HOST_DATA_IN, in, 8192, NULL), ==, 0);
    g_assert_cmpmem(in, 8192, out, 8192);
    g_assert_cmphex(rig_do(io, host_cmd_rw(NV_IO_READ, 2, 255, 2, 0), HOST_DATA_IN, in, 8192, NULL), ==,
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
            g_assert_cmphex(rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, rows[i].fits / 512, 0), HOST_DATA_OUT_CAPSULE,
                                   buf, rows[i].fits, NULL), ==, 0);
        }
        io->fault_expected = true;
        host_queue_submit(io->host, &(struct nv_sqe){ .opcode = NV_IO_WRITE, .nsid = 1, .cdw12 = over / 512 - 1 },
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
        Setup s = setup_with(&config);
        g_autoptr(GByteArray) capsule = g_byte_array_new();
        struct nv_sqe sqe = wire_sgl(host_cmd(NV_IO_FLUSH, 1), NV_SGL_TRANSPORT, 0, 0);
        struct nv_cqe cqe;

        wire_capsule(capsule, &(HostPduFormat){ false, true, 4 }, &sqe, 0x77, NULL, 0);
        capsule->data[1] = set ? NVTCP_F_DDGST : 0;
        s.io->capture = true;
        rig_send(s.io, capsule->data, capsule->len);
        g_assert_true(wire_find_cqe(s.io->received, 0x77, &cqe));
        g_assert_cmphex(cqe.status, ==, 0);
        teardown(&s);
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
    g_test_add_func("/rw/many_large_writes_wait_for_buffers", test_many_large_writes_wait_for_buffers);
    g_test_add_func("/rw/ddgst_flag_without_data", test_ddgst_flag_without_data);
    g_test_add_func("/io/namespace_must_exist", test_io_namespace_must_exist);
    g_test_add_func("/io/unknown_opcodes", test_io_unknown_opcodes);
    g_test_add_func("/io/flush_reaches_the_media", test_flush_reaches_the_media);
    g_test_add_func("/io/write_zeroes_clears_exactly_its_blocks", test_write_zeroes_clears_exactly_its_blocks);
    g_test_add_func("/io/write_zeroes_of_the_whole_namespace", test_write_zeroes_of_the_whole_namespace);
    g_test_add_func("/io/fua_and_deac_reach_the_media", test_fua_and_deac_reach_the_media);
    g_test_add_func("/io/dsm_deallocates_its_ranges", test_dsm_deallocates_its_ranges);
    g_test_add_func("/io/dsm_of_256_ranges", test_dsm_of_256_ranges);
    g_test_add_func("/io/dsm_list_of_linux", test_dsm_list_of_linux);
    g_test_add_func("/io/dsm_refused", test_dsm_refused);
    g_test_add_func("/io/verify_asks_the_media", test_verify_asks_the_media);
    g_test_add_func("/io/media_errors_reach_the_host", test_media_errors_reach_the_host);
    g_test_add_func("/io/host_gone_while_the_media_works", test_host_gone_while_the_media_works);
    return g_test_run();
}
