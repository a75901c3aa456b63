/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copy: what it moves, what it refuses before it reads, how it ends early.
 * Not here: how its list travels (test_rw.c, for any command).
 * NVM command set specification 1.0, section 3.2.2.
 */
#include <string.h>

#include "rig.h"

enum { RANGES = 128, RANGE_BLOCKS = 2048, BLOCKS = 8192 };  /* MSRC + 1, MSSRL, MCL */

static void set_range(RigIo *s, unsigned format, unsigned index, uint64_t slba, uint32_t blocks)
{
    struct nv_copy_range range = { .slba = slba, .nlb = (uint16_t)(blocks - 1) };
    struct nv_copy_range1 range1 = { .slba = slba, .nlb = (uint16_t)(blocks - 1) };

    if (format == 0) {
        memcpy(s->out + index * 32, &range, 32);
    } else {
        memcpy(s->out + index * 40, &range1, 40);
    }
}

static uint16_t copy(RigIo *s, uint64_t to, uint32_t ranges, unsigned format, RigResult *result)
{
    uint32_t length = ranges * (format == 1 ? 40 : 32);

    return rig_do(s->io, host_cmd_copy(1, to, ranges, format), HOST_DATA_OUT_R2T, s->out, length,
                  result);
}

static uint16_t copy_one(RigIo *s, uint64_t from, uint32_t blocks, uint64_t to)
{
    set_range(s, 0, 0, from, blocks);
    return copy(s, to, 1, 0, NULL);
}

static unsigned ios(const RigIo *s)
{
    unsigned count = 0;

    for (unsigned op = 0; op < LST_IO_OP_COUNT; op++) {
        count += s->rig->ios_by_op[op];
    }
    return count;
}

static void test_copy_ranges_one_behind_the_other(void)
{
    for (unsigned format = 0; format < 2; format++) {
        RigIo s = rig_io_setup(NULL);
        uint8_t *media = s.rig->media.bytes;
        RigResult result;

        rig_pattern(media, s.rig->media.size, 3);
        g_autofree uint8_t *expected = g_memdup2(media, s.rig->media.size);

        memcpy(expected + 1000 * RIG_BLOCK, media + 5 * RIG_BLOCK, 3 * RIG_BLOCK);
        memcpy(expected + 1003 * RIG_BLOCK, media + 2000 * RIG_BLOCK, 700 * RIG_BLOCK);
        memcpy(expected + 1703 * RIG_BLOCK, media + 6 * RIG_BLOCK, 1 * RIG_BLOCK);
        set_range(&s, format, 0, 5, 3);
        set_range(&s, format, 1, 2000, 700);
        set_range(&s, format, 2, 6, 1);
        g_assert_cmphex(copy(&s, 1000, 3, format, &result), ==, 0);
        g_assert_true(memcmp(media, expected, s.rig->media.size) == 0);
        /* 700 blocks are 350 KiB: three chunks of 128 KiB. */
        g_assert_cmpuint(s.rig->ios_by_op[LST_IO_READ], ==, 5);
        g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 5);
        rig_io_teardown(&s);
    }
}

static void test_copy_as_much_as_the_limits_allow(void)
{
    RigIo s = rig_io_setup(NULL);
    uint8_t *media = s.rig->media.bytes;

    rig_pattern(media, s.rig->media.size, 4);
    for (unsigned i = 0; i < 4; i++) {
        set_range(&s, 0, i, i * RANGE_BLOCKS, RANGE_BLOCKS);
    }
    g_assert_cmphex(copy(&s, BLOCKS, 4, 0, NULL), ==, 0);
    g_assert_true(memcmp(media, media + BLOCKS * RIG_BLOCK, BLOCKS * RIG_BLOCK) == 0);
    for (unsigned i = 0; i < RANGES; i++) {
        set_range(&s, 1, i, 2 * i + 1, 1);
    }
    g_assert_cmphex(copy(&s, 4000, RANGES, 1, NULL), ==, 0);
    for (unsigned i = 0; i < RANGES; i++) {
        g_assert_cmpmem(media + (4000 + i) * RIG_BLOCK, RIG_BLOCK, media + (2 * i + 1) * RIG_BLOCK,
                        RIG_BLOCK);
    }
    rig_io_teardown(&s);
}

/* Every check comes before the first block is read; each row would be right but for one thing. */
static void test_copy_refused(void)
{
    static const struct {
        uint64_t from[2], to;
        uint32_t blocks[2];
        uint16_t status;
    } rows[] = {
        { { 0, 10 }, 100, { 1, RANGE_BLOCKS + 1 }, 0x183 },
        { { 0, RIG_BLOCKS - 1 }, 100, { 1, 2 }, 0x080 },
        { { 0, RIG_BLOCKS }, 100, { 1, 1 }, 0x080 },
        { { UINT64_MAX, 0 }, 100, { 1, 1 }, 0x080 },
        { { 0, 10 }, RIG_BLOCKS - 1, { 1, 1 }, 0x080 },
        { { 0, 10 }, UINT64_MAX, { 1, 1 }, 0x080 },
        { { 0, 101 }, 100, { 1, 1 }, 0x187 },
        { { 99, 0 }, 100, { 2, 1 }, 0x187 },
        { { 0, 90 }, 100, { 1, 12 }, 0x187 },
        { { 102, 0 }, 100, { 1, 3 }, 0x187 },
    };
    RigIo s = rig_io_setup(NULL);
    RigResult result;

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("row %u", i);
        set_range(&s, 0, 0, rows[i].from[0], rows[i].blocks[0]);
        set_range(&s, 0, 1, rows[i].from[1], rows[i].blocks[1]);
        g_assert_cmphex(copy(&s, rows[i].to, 2, 0, &result), ==, rows[i].status);
        g_assert_true(result.dnr);
        g_assert_cmpuint(result.dw0, ==, 0);
    }
    for (unsigned i = 0; i < 5; i++) {
        set_range(&s, 0, i, 0, i < 4 ? RANGE_BLOCKS : 1);
    }
    g_assert_cmphex(copy(&s, BLOCKS, 5, 0, NULL), ==, 0x183);
    g_assert_cmphex(copy(&s, BLOCKS, RANGES + 1, 0, NULL), ==, 0x183);
    g_assert_cmphex(copy(&s, BLOCKS, 1, 2, NULL), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(copy(&s, BLOCKS, 1, 15, NULL), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(rig_do(s.io, host_cmd_copy(1, 0, 2, 0), HOST_DATA_OUT_R2T, s.out, 32, NULL),
                    ==, NV_SC_SGL_LENGTH);
    g_assert_cmpuint(ios(&s), ==, 0);
    rig_io_teardown(&s);
}

static void test_copy_next_to_its_source(void)
{
    RigIo s = rig_io_setup(NULL);

    rig_pattern(s.rig->media.bytes, 4096, 1);
    g_assert_cmphex(copy_one(&s, 0, 4, 4), ==, 0);
    g_assert_cmpmem(s.rig->media.bytes + 2048, 2048, s.rig->media.bytes, 2048);
    g_assert_cmphex(copy_one(&s, 4, 4, 0), ==, 0);
    rig_io_teardown(&s);
}

static void test_copy_of_blocks_that_cannot_be_read(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;

    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, 20, 1, 0)), ==, 0);
    set_range(&s, 0, 0, 0, 8);
    set_range(&s, 0, 1, 16, 8);
    set_range(&s, 0, 2, 32, 8);
    rig_pattern(s.rig->media.bytes, 64 * RIG_BLOCK, 1);
    g_assert_cmphex(copy(&s, 100, 3, 0, &result), ==, NV_SC_READ_ERROR);
    g_assert_cmpuint(result.dw0, ==, 1);
    g_assert_cmpmem(s.rig->media.bytes + 100 * RIG_BLOCK, 8 * RIG_BLOCK, s.rig->media.bytes,
                    8 * RIG_BLOCK);
    g_assert_cmphex(s.rig->media.bytes[108 * RIG_BLOCK + 5], ==, 0);
    /* The destination is written, so it can be read. */
    g_assert_cmphex(copy_one(&s, 0, 8, 16), ==, 0);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 20, RIG_BLOCK, HOST_DATA_IN), ==, 0);
    rig_io_teardown(&s);
}

static void test_copy_on_a_protected_namespace(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe protect = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 1);

    protect.nsid = 1;
    g_assert_cmphex(rig_run(s.admin, protect), ==, 0);
    g_assert_cmphex(copy_one(&s, 0, 1, 8), ==, NV_SC_NS_WRITE_PROTECTED);
    rig_io_teardown(&s);
}

/* DW0 says how far it came. */
static void test_copy_whose_write_fails(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;

    set_range(&s, 0, 0, 0, 8);
    set_range(&s, 0, 1, 8, 8);
    s.rig->defer = true;
    rig_submit(s.io, host_cmd_copy(1, 100, 2, 0), HOST_DATA_OUT_R2T, s.out, 64, &result);
    rig_complete_io(s.rig, 0);
    rig_complete_io(s.rig, 0);
    rig_complete_io(s.rig, 0);
    g_assert_false(result.done);
    rig_complete_io(s.rig, NV_SC_WRITE_FAULT);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, NV_SC_WRITE_FAULT);
    g_assert_cmpuint(result.dw0, ==, 1);
    rig_io_teardown(&s);
}

/* Nobody waits for it any more: it stops with the request that is at the backend. */
static void test_copy_ends_with_its_queue(void)
{
    for (unsigned done = 0; done < 3; done++) {
        RigIo s = rig_io_setup(NULL);
        RigResult result;

        set_range(&s, 0, 0, 0, 1000);
        s.rig->defer = true;
        rig_submit(s.io, host_cmd_copy(1, 4000, 1, 0), HOST_DATA_OUT_R2T, s.out, 32, &result);
        for (unsigned i = 0; i < done; i++) {
            rig_complete_io(s.rig, 0);
        }
        rig_unlink(done == 2 ? s.admin : s.io);
        rig_pump(s.rig);
        rig_complete_io(s.rig, 0);
        g_assert_true(g_queue_is_empty(&s.rig->ios));
        rig_io_teardown(&s);
    }
}

static void test_copy_ends_with_its_namespace(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;

    set_range(&s, 0, 0, 0, 1000);
    s.rig->defer = true;
    rig_submit(s.io, host_cmd_copy(1, 4000, 1, 0), HOST_DATA_OUT_R2T, s.out, 32, &result);
    g_assert_true(lst_ns_attach(s.rig->ns, &s.rig->media, 100 * RIG_BLOCK, RIG_BLOCK, NULL));
    rig_complete_io(s.rig, 0);
    g_assert_cmphex(result.status, ==, NV_SC_LBA_RANGE);
    rig_io_teardown(&s);
}

static void test_copy_is_reported(void)
{
    RigIo s = rig_io_setup(NULL);
    const struct nv_id_ctrl *ctrl = (const void *)s.in;
    const struct nv_id_ns *ns = (const void *)s.in;

    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmphex(ctrl->oncs & 0x100, ==, 0x100);
    g_assert_cmphex(ctrl->ocfs, ==, 3);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_NS, 1, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmpuint(ns->mssrl, ==, RANGE_BLOCKS);
    g_assert_cmpuint(ns->mcl, ==, BLOCKS);
    g_assert_cmpuint(ns->msrc, ==, RANGES - 1);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/copy/ranges_one_behind_the_other", test_copy_ranges_one_behind_the_other);
    g_test_add_func("/copy/as_much_as_the_limits_allow", test_copy_as_much_as_the_limits_allow);
    g_test_add_func("/copy/refused", test_copy_refused);
    g_test_add_func("/copy/next_to_its_source", test_copy_next_to_its_source);
    g_test_add_func("/copy/of_blocks_that_cannot_be_read", test_copy_of_blocks_that_cannot_be_read);
    g_test_add_func("/copy/on_a_protected_namespace", test_copy_on_a_protected_namespace);
    g_test_add_func("/copy/whose_write_fails", test_copy_whose_write_fails);
    g_test_add_func("/copy/ends_with_its_queue", test_copy_ends_with_its_queue);
    g_test_add_func("/copy/ends_with_its_namespace", test_copy_ends_with_its_namespace);
    g_test_add_func("/copy/is_reported", test_copy_is_reported);
    return g_test_run();
}
