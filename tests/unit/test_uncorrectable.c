/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write Uncorrectable: which blocks cannot be read afterwards, and what makes them readable again.
 * Not here: the set behind it (test_extents.c).
 * NVM command set specification 1.0, section 3.2.7.
 */
#include <string.h>

#include "rig.h"

static uint16_t mark(RigIo *s, uint64_t slba, uint32_t blocks)
{
    return rig_run(s->io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, slba, blocks, 0));
}

static uint16_t read_block(RigIo *s, uint64_t slba)
{
    return rig_rw(s, NV_IO_READ, slba, RIG_BLOCK, HOST_DATA_IN);
}

static void test_uncorrectable_fails_what_reads(void)
{
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(mark(&s, 10, 4), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    for (uint64_t slba = 8; slba < 16; slba++) {
        uint16_t expected = slba >= 10 && slba < 14 ? 0x281 : 0;

        g_assert_cmphex(read_block(&s, slba), ==, expected);
        g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_VERIFY, 1, slba, 1, 0)), ==, expected);
        g_assert_cmphex(rig_rw(&s, NV_IO_COMPARE, slba, RIG_BLOCK, HOST_DATA_OUT_CAPSULE), ==,
                        expected);
    }
    /* One bad block is enough. */
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, 11 * RIG_BLOCK, HOST_DATA_IN), ==, 0x281);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, 10 * RIG_BLOCK, HOST_DATA_IN), ==, 0);
    rig_io_teardown(&s);
}

static void test_uncorrectable_until_written(void)
{
    const struct nv_dsm_range range = { .slba = 13, .nlb = 1 };
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(mark(&s, 10, 4), ==, 0);
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 11, RIG_BLOCK, HOST_DATA_OUT_R2T), ==, 0);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 12, 1, 0)), ==, 0);
    g_assert_cmphex(read_block(&s, 10), ==, 0x281);
    g_assert_cmphex(read_block(&s, 11), ==, 0);
    g_assert_cmphex(read_block(&s, 12), ==, 0);
    g_assert_cmphex(read_block(&s, 13), ==, 0x281);
    memcpy(s.out, &range, sizeof(range));
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           s.out, sizeof(range), NULL),
                    ==, 0);
    g_assert_cmphex(read_block(&s, 13), ==, 0);
    rig_io_teardown(&s);
}

/* A write that failed wrote nothing. */
static void test_uncorrectable_after_a_failed_write(void)
{
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(mark(&s, 10, 1), ==, 0);
    s.rig->media.status = NV_SC_WRITE_FAULT;
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 10, RIG_BLOCK, HOST_DATA_OUT_R2T), ==, 0x280);
    s.rig->media.status = 0;
    g_assert_cmphex(read_block(&s, 10), ==, 0x281);
    rig_io_teardown(&s);
}

static void test_uncorrectable_forgotten_with_the_blocks(void)
{
    const uint64_t half = RIG_BLOCKS / 2 * (uint64_t)RIG_BLOCK;
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(mark(&s, RIG_BLOCKS / 2 - 1, 2), ==, 0);
    g_assert_true(lst_ns_attach(s.rig->ns, &s.rig->media, half, RIG_BLOCK, NULL));
    g_assert_true(lst_ns_attach(s.rig->ns, &s.rig->media, 2 * half, RIG_BLOCK, NULL));
    g_assert_cmphex(read_block(&s, RIG_BLOCKS / 2 - 1), ==, 0x281);
    g_assert_cmphex(read_block(&s, RIG_BLOCKS / 2), ==, 0);
    rig_io_teardown(&s);
}

/* A controller, and the host's connections, do not matter: the blocks are the namespace's. */
static void test_uncorrectable_for_every_controller(void)
{
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(mark(&s, 3, 1), ==, 0);
    rig_unlink(s.io);
    rig_unlink(s.admin);
    s.admin = rig_admin(s.rig);
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    g_assert_cmphex(read_block(&s, 3), ==, 0x281);
    rig_io_teardown(&s);
}

static void test_uncorrectable_refused(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe protect = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 1);

    g_assert_cmphex(mark(&s, RIG_BLOCKS - 1, 2), ==, NV_SC_LBA_RANGE);
    g_assert_cmphex(mark(&s, UINT64_MAX, 1), ==, NV_SC_LBA_RANGE);
    protect.nsid = 1;
    g_assert_cmphex(rig_run(s.admin, protect), ==, 0);
    g_assert_cmphex(mark(&s, 0, 1), ==, NV_SC_NS_WRITE_PROTECTED);
    g_assert_cmphex(read_block(&s, 0), ==, 0);
    rig_io_teardown(&s);
}

/* 2^20 blocks, as docs/target-sim.md says. */
static void test_uncorrectable_limit(void)
{
    Rig *rig = rig_new();
    RigMedia media = { 0 };
    RigLink *admin, *io;

    rig_add_ns(rig->subsys, 2, &media, ((1 << 20) + 8) * (uint64_t)RIG_BLOCK, RIG_BLOCK);
    admin = rig_admin(rig);
    io = rig_io(rig, admin, 1, NULL);
    for (uint64_t slba = 0; slba < 1 << 20; slba += 65536) {
        g_assert_cmphex(rig_run(io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 2, slba, 65536, 0)),
                        ==, 0);
    }
    g_assert_cmphex(rig_run(io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 2, 1 << 20, 1, 0)), ==,
                    NV_SC_INTERNAL);
    g_assert_cmphex(rig_run(io, host_cmd_rw(NV_IO_WRITE_ZEROES, 2, 77, 1, 0)), ==, 0);
    g_assert_cmphex(rig_run(io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 2, 1 << 20, 1, 0)), ==, 0);
    rig_free(rig);
    g_free(media.bytes);
}

static void test_uncorrectable_is_reported(void)
{
    RigIo s = rig_io_setup(NULL);
    const struct nv_id_ctrl *id = (const void *)s.in;
    const struct nv_log_effects *effects = (const void *)s.in;

    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmphex(id->oncs & 2, ==, 2);
    g_assert_cmphex(rig_in(s.admin, host_cmd_get_log(NV_LOG_EFFECTS, 0, 0, 4096, 0, false), s.in,
                           4096), ==, 0);
    g_assert_cmphex(effects->iocs[0x04], ==, 3);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/uncorrectable/fails_what_reads", test_uncorrectable_fails_what_reads);
    g_test_add_func("/uncorrectable/until_written", test_uncorrectable_until_written);
    g_test_add_func("/uncorrectable/after_a_failed_write", test_uncorrectable_after_a_failed_write);
    g_test_add_func("/uncorrectable/forgotten_with_the_blocks",
                    test_uncorrectable_forgotten_with_the_blocks);
    g_test_add_func("/uncorrectable/for_every_controller", test_uncorrectable_for_every_controller);
    g_test_add_func("/uncorrectable/refused", test_uncorrectable_refused);
    g_test_add_func("/uncorrectable/limit", test_uncorrectable_limit);
    g_test_add_func("/uncorrectable/is_reported", test_uncorrectable_is_reported);
    return g_test_run();
}
