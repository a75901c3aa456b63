/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fused Compare and Write: both halves, halves without the other, and other commands on the same
 * blocks meanwhile.
 * Not here: Compare and Write by themselves (test_io.c, test_rw.c).
 * NVMe base specification 2.0, 3.4.2; NVM command set specification 1.0, 2.1.4 and 3.1.
 */
#include <string.h>

#include "rig.h"

enum { FIRST = 1, SECOND = 2, ATOMIC_BLOCKS = 128 };    /* 64 KiB, ACWU and NACWU */

static struct nv_sqe half(uint8_t opcode, uint8_t fuse, uint64_t slba, uint32_t blocks)
{
    struct nv_sqe sqe = host_cmd_rw(opcode, 1, slba, blocks, 0);

    sqe.flags = fuse;
    return sqe;
}

static struct nv_sqe compare(uint64_t slba, uint32_t blocks)
{
    return half(NV_IO_COMPARE, FIRST, slba, blocks);
}

static struct nv_sqe write_sqe(uint64_t slba, uint32_t blocks)
{
    return half(NV_IO_WRITE, SECOND, slba, blocks);
}

/* Both at once: the capsules are adjacent in the stream. */
static void submit_pair(RigIo *s, RigLink *link, struct nv_sqe first, struct nv_sqe second,
                        HostDataKind first_kind, HostDataKind second_kind, RigResult results[2])
{
    memset(results, 0, 2 * sizeof(*results));
    g_assert_cmpint(host_queue_submit(link->host, &first, first_kind, s->out,
                                      ((first.cdw12 & 0xffff) + 1) * RIG_BLOCK, rig_completed,
                                      &results[0]), >=, 0);
    g_assert_cmpint(host_queue_submit(link->host, &second, second_kind, s->in,
                                      ((second.cdw12 & 0xffff) + 1) * RIG_BLOCK, rig_completed,
                                      &results[1]), >=, 0);
    rig_pump(s->rig);
}

static void do_pair(RigIo *s, struct nv_sqe first, struct nv_sqe second, uint16_t first_status,
                    uint16_t second_status)
{
    RigResult results[2];

    submit_pair(s, s->io, first, second, HOST_DATA_OUT_CAPSULE, HOST_DATA_OUT_R2T, results);
    g_assert_true(results[0].done && results[1].done);
    g_assert_cmphex(results[0].status, ==, first_status);
    g_assert_cmphex(results[1].status, ==, second_status);
}

/* Data in the capsule or by R2T: each half may have its own first. */
static void test_fused_equal_and_different(void)
{
    for (unsigned kinds = 0; kinds < 4; kinds++) {
        RigIo s = rig_io_setup(NULL);
        uint8_t *media = s.rig->media.bytes + 8 * RIG_BLOCK;
        RigResult results[2];

        rig_pattern(media, 4096, 1);
        rig_pattern(s.out, 4096, 1);
        rig_pattern(s.in, 4096, 2);
        submit_pair(&s, s.io, compare(8, 8), write_sqe(8, 8),
                    kinds & 1 ? HOST_DATA_OUT_R2T : HOST_DATA_OUT_CAPSULE,
                    kinds & 2 ? HOST_DATA_OUT_R2T : HOST_DATA_OUT_CAPSULE, results);
        g_assert_true(results[0].done && results[1].done);
        g_assert_cmphex(results[0].status, ==, 0);
        g_assert_cmphex(results[1].status, ==, 0);
        g_assert_cmpmem(media, 4096, s.in, 4096);
        /* The media differ now. */
        submit_pair(&s, s.io, compare(8, 8), write_sqe(8, 8),
                    kinds & 1 ? HOST_DATA_OUT_R2T : HOST_DATA_OUT_CAPSULE,
                    kinds & 2 ? HOST_DATA_OUT_R2T : HOST_DATA_OUT_CAPSULE, results);
        g_assert_true(results[0].done && results[1].done);
        g_assert_cmphex(results[0].status, ==, 0x285);
        g_assert_cmphex(results[1].status, ==, 0x009);
        g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 1);
        rig_io_teardown(&s);
    }
}

static void test_fused_without_its_other_half(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult first, second;

    /* Second alone. */
    g_assert_cmphex(rig_do(s.io, write_sqe(0, 1), HOST_DATA_OUT_CAPSULE, s.out, 512, NULL), ==,
                    0x00a);
    /* First, then something else. */
    rig_submit(s.io, compare(0, 1), HOST_DATA_OUT_CAPSULE, s.out, 512, &first);
    g_assert_false(first.done);
    g_assert_cmphex(rig_run(s.io, host_cmd(NV_IO_FLUSH, 1)), ==, 0);
    g_assert_true(first.done);
    g_assert_cmphex(first.status, ==, 0x00a);
    g_assert_cmphex(rig_do(s.io, write_sqe(0, 1), HOST_DATA_OUT_CAPSULE, s.out, 512, NULL), ==,
                    0x00a);
    /* First, first, second: the second first has it. */
    rig_submit(s.io, compare(0, 1), HOST_DATA_OUT_R2T, s.out, 512, &first);
    rig_submit(s.io, compare(0, 1), HOST_DATA_OUT_R2T, s.out, 512, &second);
    g_assert_true(first.done);
    g_assert_cmphex(first.status, ==, 0x00a);
    g_assert_cmphex(rig_do(s.io, write_sqe(0, 1), HOST_DATA_OUT_CAPSULE, s.out, 512, NULL), ==, 0);
    g_assert_true(second.done);
    g_assert_cmphex(second.status, ==, 0);
    /* The queue of the other half is another one. */
    RigLink *other = rig_io(s.rig, s.admin, 2, NULL);

    rig_submit(s.io, compare(0, 1), HOST_DATA_OUT_R2T, s.out, 512, &first);
    g_assert_cmphex(rig_do(other, write_sqe(0, 1), HOST_DATA_OUT_CAPSULE, s.out, 512, NULL), ==,
                    0x00a);
    g_assert_false(first.done);
    rig_io_teardown(&s);
}

static void test_fused_wrong_halves(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe elsewhere = write_sqe(0, 1);
    RigResult result;

    do_pair(&s, compare(0, 1), write_sqe(1, 1), 0x002, 0x002);
    do_pair(&s, compare(0, 2), write_sqe(0, 1), 0x002, 0x002);
    elsewhere.nsid = 7;
    do_pair(&s, compare(0, 1), elsewhere, 0x002, 0x002);
    /* Opcodes and bits that make no pair. */
    do_pair(&s, compare(0, 1), half(NV_IO_COMPARE, SECOND, 0, 1), 0x009, 0x002);
    do_pair(&s, half(NV_IO_WRITE, FIRST, 0, 1), write_sqe(0, 1), 0x002, 0x009);
    do_pair(&s, compare(0, 1), half(NV_IO_WRITE, 3, 0, 1), 0x00a, 0x002);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_READ], ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    /* Admin commands are never fused. */
    struct nv_sqe abort = host_cmd_abort(0, 1);

    abort.flags = FIRST;
    g_assert_cmphex(rig_do(s.admin, abort, HOST_DATA_NONE, NULL, 0, &result), ==, 0x002);
    rig_io_teardown(&s);
}

static void test_fused_half_that_fails_by_itself(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe protect = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 1);

    do_pair(&s, compare(0, ATOMIC_BLOCKS / 4), write_sqe(0, ATOMIC_BLOCKS / 4), 0, 0);
    do_pair(&s, compare(RIG_BLOCKS, 1), write_sqe(RIG_BLOCKS, 1), 0x080, 0x009);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, 5, 1, 0)), ==, 0);
    do_pair(&s, compare(5, 1), write_sqe(5, 1), 0x281, 0x009);
    protect.nsid = 1;
    g_assert_cmphex(rig_run(s.admin, protect), ==, 0);
    do_pair(&s, compare(0, 1), write_sqe(0, 1), 0x009, 0x020);
    rig_io_teardown(&s);
}

static void test_fused_size(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult results[2];

    submit_pair(&s, s.io, compare(0, ATOMIC_BLOCKS), write_sqe(0, ATOMIC_BLOCKS),
                HOST_DATA_OUT_R2T, HOST_DATA_OUT_R2T, results);
    g_assert_cmphex(results[0].status, ==, 0);
    g_assert_cmphex(results[1].status, ==, 0);
    submit_pair(&s, s.io, compare(0, ATOMIC_BLOCKS + 1), write_sqe(0, ATOMIC_BLOCKS + 1),
                HOST_DATA_OUT_R2T, HOST_DATA_OUT_R2T, results);
    g_assert_cmphex(results[0].status, ==, 0x014);
    g_assert_true(results[1].done);
    g_assert_cmphex(results[1].status, ==, 0x009);
    rig_io_teardown(&s);
}

static void test_fused_write_that_fails(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult results[2];

    s.rig->defer = true;
    submit_pair(&s, s.io, compare(0, 1), write_sqe(0, 1), HOST_DATA_OUT_CAPSULE,
                HOST_DATA_OUT_CAPSULE, results);
    rig_complete_io(s.rig, 0);
    g_assert_true(results[0].done);
    g_assert_false(results[1].done);
    rig_complete_io(s.rig, NV_SC_WRITE_FAULT);
    g_assert_cmphex(results[0].status, ==, 0);
    g_assert_cmphex(results[1].status, ==, 0x280);
    rig_io_teardown(&s);
}

static enum lst_io_op next_op(const Rig *rig)
{
    return ((struct lst_io *)g_queue_peek_head((GQueue *)&rig->ios))->op;
}

/* What overlaps waits, behind or before; what does not, does not. */
static void test_fused_has_its_blocks_for_itself(void)
{
    RigIo s = rig_io_setup(NULL);
    RigLink *other = rig_io(s.rig, s.admin, 2, NULL);
    RigResult before, pair[2], behind, reader, beside, marked;

    s.rig->defer = true;
    rig_submit(other, host_cmd_rw(NV_IO_WRITE, 1, 7, 2, 0), HOST_DATA_OUT_CAPSULE, s.out, 1024,
               &before);
    submit_pair(&s, s.io, compare(8, 4), write_sqe(8, 4), HOST_DATA_OUT_CAPSULE,
                HOST_DATA_OUT_CAPSULE, pair);
    rig_submit(other, host_cmd_rw(NV_IO_WRITE, 1, 11, 4, 0), HOST_DATA_OUT_CAPSULE, s.out, 2048,
               &behind);
    rig_submit(other, host_cmd_rw(NV_IO_READ, 1, 0, 16, 0), HOST_DATA_IN, s.in, 8192, &reader);
    rig_submit(other, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, 8, 1, 0), HOST_DATA_NONE, NULL, 0,
               &marked);
    rig_submit(other, host_cmd_rw(NV_IO_READ, 1, 12, 2, 0), HOST_DATA_IN, s.in, 1024, &beside);
    /* The first write and the read beside the pair. */
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 2);
    rig_complete_io(s.rig, 0);
    g_assert_true(before.done);
    rig_complete_io(s.rig, 0);
    g_assert_true(beside.done);
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 1);
    g_assert_cmpint(next_op(s.rig), ==, LST_IO_READ);
    rig_complete_io(s.rig, 0);
    g_assert_true(pair[0].done);
    g_assert_cmphex(pair[0].status, ==, 0);
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 1);
    g_assert_cmpint(next_op(s.rig), ==, LST_IO_WRITE);
    g_assert_false(marked.done);
    rig_complete_io(s.rig, 0);
    g_assert_true(pair[1].done);
    g_assert_true(marked.done);
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 2);
    rig_complete_io(s.rig, 0);
    rig_complete_io(s.rig, 0);
    g_assert_true(behind.done && reader.done);
    rig_io_teardown(&s);
}

/* A hundred hosts' counter: no step is lost, in whatever order the media work. */
static void test_fused_pairs_of_many_queues(void)
{
    enum { QUEUES = 8, ROUNDS = 200 };
    RigIo s = rig_io_setup(NULL);
    RigLink *links[QUEUES];
    RigResult results[QUEUES][2];
    uint32_t expected = 0;
    GRand *rand = g_rand_new_with_seed(5);
    g_autofree uint8_t *old = g_malloc0(QUEUES * 512), *new = g_malloc0(QUEUES * 512);

    for (unsigned i = 0; i < QUEUES; i++) {
        links[i] = i ? rig_io(s.rig, s.admin, (uint16_t)(i + 1), NULL) : s.io;
    }
    s.rig->defer = true;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned won = 0;
        uint32_t value;

        for (unsigned i = 0; i < QUEUES; i++) {
            struct nv_sqe first = compare(3, 1), second = write_sqe(3, 1);

            value = expected + 1;
            memcpy(old + i * 512, &expected, 4);
            memcpy(new + i * 512, &value, 4);
            memset(results[i], 0, sizeof(results[i]));
            host_queue_submit(links[i]->host, &first, HOST_DATA_OUT_CAPSULE, old + i * 512, 512,
                              rig_completed, &results[i][0]);
            host_queue_submit(links[i]->host, &second, HOST_DATA_OUT_CAPSULE, new + i * 512, 512,
                              rig_completed, &results[i][1]);
        }
        rig_pump(s.rig);
        while (!g_queue_is_empty(&s.rig->ios)) {
            guint at = (guint)g_rand_int_range(rand, 0, (gint32)g_queue_get_length(&s.rig->ios));

            g_queue_push_head(&s.rig->ios, g_queue_pop_nth(&s.rig->ios, at));
            rig_complete_io(s.rig, 0);
        }
        for (unsigned i = 0; i < QUEUES; i++) {
            g_assert_true(results[i][0].done && results[i][1].done);
            won += results[i][1].status == 0;
        }
        memcpy(&value, s.rig->media.bytes + 3 * RIG_BLOCK, 4);
        g_assert_cmpuint(won, ==, 1);
        g_assert_cmpuint(value, ==, ++expected);
    }
    g_rand_free(rand);
    rig_io_teardown(&s);
}

/* The host goes at every moment; others on the same blocks go on. */
static void test_fused_host_goes(void)
{
    for (unsigned moment = 0; moment < 4; moment++) {
        RigIo s = rig_io_setup(NULL);
        RigLink *other = rig_io(s.rig, s.admin, 2, NULL);
        RigResult before, pair[2], behind;

        s.rig->defer = true;
        rig_submit(other, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s.out, 512,
                   &before);
        if (moment == 0) {
            rig_submit(s.io, compare(0, 1), HOST_DATA_OUT_CAPSULE, s.out, 512, &pair[0]);
        } else {
            submit_pair(&s, s.io, compare(0, 1), write_sqe(0, 1), HOST_DATA_OUT_CAPSULE,
                        HOST_DATA_OUT_R2T, pair);
        }
        rig_submit(other, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s.out, 512,
                   &behind);
        for (unsigned i = 1; i < moment; i++) {
            rig_complete_io(s.rig, 0);
        }
        rig_unlink(s.io);
        rig_pump(s.rig);
        while (!g_queue_is_empty(&s.rig->ios)) {
            rig_complete_io(s.rig, 0);
        }
        g_assert_true(before.done && behind.done);
        g_assert_cmphex(behind.status, ==, 0);
        rig_io_teardown(&s);
    }
}

/* A late half is not kept from its buffer by the memory limit: its other half holds one. */
static void test_fused_at_the_memory_limit(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult results[2];

    g_assert_true(lst_target_set(s.rig->target, "limit_memory", "4096", NULL));
    submit_pair(&s, s.io, compare(0, 8), write_sqe(0, 8), HOST_DATA_OUT_R2T, HOST_DATA_OUT_R2T,
                results);
    g_assert_true(results[0].done && results[1].done);
    g_assert_cmphex(results[0].status, ==, 0);
    g_assert_cmphex(results[1].status, ==, 0);
    rig_io_teardown(&s);
}

static void test_fused_is_reported(void)
{
    RigIo s = rig_io_setup(NULL);
    const struct nv_id_ctrl *ctrl = (const void *)s.in;
    const struct nv_id_ns *ns = (const void *)s.in;

    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmpuint(ctrl->fuses, ==, 1);
    /* 64 KiB of blocks of 4096 bytes, and of 512. */
    g_assert_cmpuint(ctrl->acwu, ==, 15);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_NS, 1, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmphex(ns->nsfeat & 2, ==, 2);
    g_assert_cmpuint(ns->nacwu, ==, 127);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fused/equal_and_different", test_fused_equal_and_different);
    g_test_add_func("/fused/without_its_other_half", test_fused_without_its_other_half);
    g_test_add_func("/fused/wrong_halves", test_fused_wrong_halves);
    g_test_add_func("/fused/half_that_fails_by_itself", test_fused_half_that_fails_by_itself);
    g_test_add_func("/fused/size", test_fused_size);
    g_test_add_func("/fused/write_that_fails", test_fused_write_that_fails);
    g_test_add_func("/fused/has_its_blocks_for_itself", test_fused_has_its_blocks_for_itself);
    g_test_add_func("/fused/pairs_of_many_queues", test_fused_pairs_of_many_queues);
    g_test_add_func("/fused/host_goes", test_fused_host_goes);
    g_test_add_func("/fused/at_the_memory_limit", test_fused_at_the_memory_limit);
    g_test_add_func("/fused/is_reported", test_fused_is_reported);
    return g_test_run();
}
