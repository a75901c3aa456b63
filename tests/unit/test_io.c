/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * I/O commands end to end: what they do to the media, what they refuse, what the host sees when the
 * media fails.
 * Not here: how their data travel (test_rw.c); random mixtures (test_model.c).
 * NVM command set specification 1.0, section 3.
 */
#include <string.h>

#include "wire.h"

static void test_io_namespace_must_exist(void)
{
    static const uint32_t nsids[] = { 0, 2, 1024, 0xfffffffe };
    RigIo s = rig_io_setup(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(nsids); i++) {
        g_assert_cmphex(rig_in(s.io, host_cmd_rw(NV_IO_READ, nsids[i], 0, 1, 0), s.in, 512), ==,
                        NV_SC_INVALID_NAMESPACE);
        g_assert_cmphex(rig_run(s.io, host_cmd(NV_IO_FLUSH, nsids[i])), ==,
                        NV_SC_INVALID_NAMESPACE);
    }
    g_assert_cmphex(rig_in(s.io, host_cmd_rw(NV_IO_READ, NV_NSID_ALL, 0, 1, 0), s.in, 512), ==,
                    NV_SC_INVALID_NAMESPACE);
    /* Hidden from hosts, then visible again. */
    g_assert_true(lst_ns_enable(s.rig->ns, false, NULL));
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, 512, HOST_DATA_IN), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_true(lst_ns_enable(s.rig->ns, true, NULL));
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, 512, HOST_DATA_IN), ==, 0);
    rig_io_teardown(&s);
}

static void test_io_unknown_opcodes(void)
{
    static const uint8_t opcodes[] = { 0x03, 0x7e, 0x80, 0xfc, 0xff };
    RigIo s = rig_io_setup(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(opcodes); i++) {
        g_assert_cmphex(rig_run(s.io, host_cmd(opcodes[i], 1)), ==, NV_SC_INVALID_OPCODE);
    }
    rig_io_teardown(&s);
}

static void test_flush_reaches_the_media(void)
{
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(rig_run(s.io, host_cmd(NV_IO_FLUSH, 1)), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_FLUSH], ==, 1);
    rig_io_teardown(&s);
}

static void test_write_zeroes_clears_exactly_its_blocks(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe sqe = host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 10, 20, 0);

    rig_pattern(s.rig->media.bytes, 64 * RIG_BLOCK, 1);
    g_autofree uint8_t *expected = g_memdup2(s.rig->media.bytes, 64 * RIG_BLOCK);
    memset(expected + 10 * RIG_BLOCK, 0, 20 * RIG_BLOCK);
    g_assert_cmphex(rig_run(s.io, sqe), ==, 0);
    g_assert_cmpmem(s.rig->media.bytes, 64 * RIG_BLOCK, expected, 64 * RIG_BLOCK);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE_ZEROES], ==, 1);
    rig_io_teardown(&s);
}

/* MDTS does not limit commands without data. */
static void test_write_zeroes_of_the_whole_namespace(void)
{
    RigIo s = rig_io_setup(NULL);

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 0, RIG_BLOCKS, 0)), ==, 0);
    for (uint64_t i = 0; i < s.rig->media.size; i++) {
        g_assert_cmpuint(s.rig->media.bytes[i], ==, 0);
    }
    rig_io_teardown(&s);
}

static void test_fua_and_deac_reach_the_media(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;
    struct lst_io *io;

    s.rig->defer = true;
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, NV_RW_FUA >> 16), HOST_DATA_OUT_CAPSULE,
               s.out, 512, &result);
    io = g_queue_peek_head(&s.rig->ios);
    g_assert_true(io->fua);
    g_assert_cmpuint(io->nsid, ==, 1);
    rig_complete_io(s.rig, 0);
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s.out, 512,
               &result);
    io = g_queue_peek_head(&s.rig->ios);
    g_assert_false(io->fua);
    rig_complete_io(s.rig, 0);
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 0, 1, NV_RW_DEAC >> 16), HOST_DATA_NONE,
               NULL, 0, &result);
    io = g_queue_peek_head(&s.rig->ios);
    g_assert_true(io->may_unmap);
    rig_complete_io(s.rig, 0);
    g_assert_cmphex(result.status, ==, 0);
    rig_io_teardown(&s);
}

static void test_dsm_deallocates_its_ranges(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_dsm_range ranges[3] = {
        { .slba = 2, .nlb = 3 }, { .slba = 30, .nlb = 1 }, { .slba = RIG_BLOCKS - 1, .nlb = 1 },
    };

    rig_pattern(s.rig->media.bytes, s.rig->media.size, 1);
    g_autofree uint8_t *expected = g_memdup2(s.rig->media.bytes, s.rig->media.size);
    for (unsigned i = 0; i < 3; i++) {
        memset(expected + ranges[i].slba * RIG_BLOCK, 0, ranges[i].nlb * RIG_BLOCK);
    }
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 3, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           ranges, sizeof(ranges), NULL),
                    ==, 0);
    g_assert_true(memcmp(s.rig->media.bytes, expected, s.rig->media.size) == 0);
    /* The same by R2T, as hints only: nothing changes. */
    g_assert_cmphex(
        rig_do(s.io, host_cmd_dsm(1, 3, 1), HOST_DATA_OUT_R2T, ranges, sizeof(ranges), NULL), ==,
        0);
    g_assert_true(memcmp(s.rig->media.bytes, expected, s.rig->media.size) == 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_DISCARD], ==, 1);
    rig_io_teardown(&s);
}

static void test_dsm_of_256_ranges(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_dsm_range ranges[256];

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    for (unsigned i = 0; i < 256; i++) {
        ranges[i] = (struct nv_dsm_range){ .slba = i * 2, .nlb = 1 };
    }
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 256, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           ranges, sizeof(ranges), NULL),
                    ==, 0);
    for (unsigned i = 0; i < 512; i++) {
        g_assert_cmphex(s.rig->media.bytes[i * RIG_BLOCK], ==, i % 2 ? 0xff : 0);
    }
    rig_io_teardown(&s);
}

static void test_dsm_refused(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_dsm_range range = { .slba = RIG_BLOCKS - 1, .nlb = 2 },
                        wrap = { .slba = UINT64_MAX, .nlb = 2 };
    struct nv_dsm_range two[2] = { { .slba = 0, .nlb = 1 } };

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           &range, sizeof(range), NULL),
                    ==, NV_SC_LBA_RANGE);
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           &wrap, sizeof(wrap), NULL),
                    ==, NV_SC_LBA_RANGE);
    /* Fewer ranges in the list than in the command; a list of more than 256. */
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           s.out, 4112, NULL),
                    ==, NV_SC_SGL_LENGTH);
    g_assert_cmphex(
        rig_do(s.io, host_cmd_dsm(1, 2, NV_DSM_DEALLOCATE), HOST_DATA_OUT_R2T, two, 16, NULL), ==,
        NV_SC_SGL_LENGTH);
    g_assert_cmphex(s.rig->media.bytes[0], ==, 0xff);
    rig_io_teardown(&s);
}

/*
 * Linux always sends 4096 bytes, whatever the number of ranges: the rest of the list means nothing.
 */
static void test_dsm_list_of_linux(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_dsm_range *ranges = (void *)s.out;

    memset(s.rig->media.bytes, 0xff, s.rig->media.size);
    memset(s.out, 0xee, 4096);
    ranges[0] = (struct nv_dsm_range){ .slba = 3, .nlb = 1 };
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE,
                           s.out, 4096, NULL),
                    ==, 0);
    g_assert_cmphex(
        rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_R2T, s.out, 4096, NULL),
        ==, 0);
    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmphex(s.rig->media.bytes[i * RIG_BLOCK], ==, i == 3 ? 0 : 0xff);
    }
    rig_io_teardown(&s);
}

static void test_compare_equal_and_different(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe sqe = host_cmd_rw(NV_IO_COMPARE, 1, 16, 8, 0);

    rig_pattern(s.rig->media.bytes + 16 * RIG_BLOCK, 4096, 3);
    rig_pattern(s.out, 4096, 3);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_CAPSULE, s.out, 4096, NULL), ==, 0);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_R2T, s.out, 4096, NULL), ==, 0);
    s.out[4095] ^= 1;
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_CAPSULE, s.out, 4096, NULL), ==,
                    NV_SC_COMPARE_FAILURE);
    sqe = host_cmd_rw(NV_IO_COMPARE, 1, RIG_BLOCKS - 7, 8, 0);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_R2T, s.out, 4096, NULL), ==, NV_SC_LBA_RANGE);
    s.rig->media.status = NV_SC_READ_ERROR;
    sqe = host_cmd_rw(NV_IO_COMPARE, 1, 0, 8, 0);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_R2T, s.out, 4096, NULL), ==, NV_SC_READ_ERROR);
    rig_io_teardown(&s);
}

static void count_cqes(void *opaque, const struct nvtcp_hdr *hdr, const uint8_t *pdu)
{
    unsigned *statuses = opaque;
    struct nvtcp_capsule_resp resp;

    if (hdr->type == NVTCP_CAPSULE_RESP) {
        memcpy(&resp, pdu, sizeof(resp));
        g_assert_cmphex(resp.cqe.cid, ==, 0x55);
        statuses[resp.cqe.status == 0 ? 0 : 1]++;
        g_assert_true(resp.cqe.status == 0 ||
                      NV_STATUS_CODE(resp.cqe.status >> 1) == NV_SC_CID_CONFLICT);
    }
}

/* The second command of an identifier that is in use gets 0/03; the first is not hurt. */
static void test_io_command_id_in_use(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe sqe = wire_sgl(host_cmd(NV_IO_FLUSH, 1), NV_SGL_TRANSPORT, 0, 0);
    g_autoptr(GByteArray) out = g_byte_array_new();
    unsigned statuses[2] = { 0, 0 };

    s.rig->defer = true;
    s.io->capture = true;
    wire_capsule(out, &(HostPduFormat){ .align = 4 }, &sqe, 0x55, NULL, 0);
    wire_capsule(out, &(HostPduFormat){ .align = 4 }, &sqe, 0x55, NULL, 0);
    rig_send(s.io, out->data, out->len);
    rig_complete_io(s.rig, 0);
    wire_each(s.io->received, count_cqes, statuses);
    g_assert_cmpuint(statuses[0], ==, 1);
    g_assert_cmpuint(statuses[1], ==, 1);
    g_assert_true(g_queue_is_empty(&s.rig->ios));
    rig_io_teardown(&s);
}

/* Only Compare and Write can be fused (Identify FUSES). */
static void test_io_fused_flush_is_refused(void)
{
    RigIo s = rig_io_setup(NULL);

    for (uint8_t fuse = 1; fuse <= 3; fuse++) {
        struct nv_sqe sqe = host_cmd(NV_IO_FLUSH, 1);

        sqe.flags = fuse;
        g_assert_cmphex(rig_run(s.io, sqe), ==, NV_SC_INVALID_FIELD);
    }
    rig_io_teardown(&s);
}

/* Property Get and Set belong to the Admin queue. */
static void test_io_fabrics_commands_on_an_io_queue(void)
{
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(rig_run(s.io, host_cmd_property_get(NV_REG_CAP, true)), !=, 0);
    g_assert_cmphex(rig_run(s.io, host_cmd_property_set(NV_REG_CC, false, 0)), !=, 0);
    g_assert_cmphex(rig_property(s.admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
    rig_io_teardown(&s);
}

/* Verify is advertised by ONCS bit 7; the media is asked, nothing is transferred. */
static void test_verify_asks_the_media(void)
{
    RigIo s = rig_io_setup(NULL);

    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_VERIFY, 1, 0, 8, 0)), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_VERIFY], ==, 1);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_VERIFY, 1, RIG_BLOCKS, 1, 0)), ==,
                    NV_SC_LBA_RANGE);
    rig_io_teardown(&s);
}

static void test_media_errors_reach_the_host(void)
{
    RigIo s = rig_io_setup(NULL);

    s.rig->media.status = NV_SC_READ_ERROR;
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, 4096, HOST_DATA_IN), ==, NV_SC_READ_ERROR);
    s.rig->media.status = NV_SC_WRITE_FAULT;
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 0, 4096, HOST_DATA_OUT_R2T), ==, NV_SC_WRITE_FAULT);
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 0, 512, HOST_DATA_OUT_CAPSULE), ==, NV_SC_WRITE_FAULT);
    g_assert_cmphex(rig_run(s.io, host_cmd(NV_IO_FLUSH, 1)), ==, NV_SC_WRITE_FAULT);
    g_assert_cmpuint(s.rig->events[LST_EVENT_BACKEND_FAILED], ==, 4);
    s.rig->media.status = 0;
    rig_round_trip(&s, 0, 512, HOST_DATA_OUT_R2T, 0);
    rig_io_teardown(&s);
}

/* The host goes while the media is busy; the requests end later. */
static void test_host_gone_while_the_media_works(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult results[8];

    s.rig->defer = true;
    for (unsigned i = 0; i < 4; i++) {
        rig_submit(s.io, host_cmd_rw(NV_IO_READ, 1, i, 8, 0), HOST_DATA_IN, s.in, 4096,
                   &results[i]);
        rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, i, 8, 0), HOST_DATA_OUT_R2T, s.out, 4096,
                   &results[4 + i]);
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
    rig_round_trip(&s, 0, 4096, HOST_DATA_OUT_R2T, 5);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/io/namespace_must_exist", test_io_namespace_must_exist);
    g_test_add_func("/io/unknown_opcodes", test_io_unknown_opcodes);
    g_test_add_func("/io/flush_reaches_the_media", test_flush_reaches_the_media);
    g_test_add_func("/io/write_zeroes_clears_exactly_its_blocks",
                    test_write_zeroes_clears_exactly_its_blocks);
    g_test_add_func("/io/write_zeroes_of_the_whole_namespace",
                    test_write_zeroes_of_the_whole_namespace);
    g_test_add_func("/io/fua_and_deac_reach_the_media", test_fua_and_deac_reach_the_media);
    g_test_add_func("/io/dsm_deallocates_its_ranges", test_dsm_deallocates_its_ranges);
    g_test_add_func("/io/dsm_of_256_ranges", test_dsm_of_256_ranges);
    g_test_add_func("/io/dsm_list_of_linux", test_dsm_list_of_linux);
    g_test_add_func("/io/dsm_refused", test_dsm_refused);
    g_test_add_func("/io/compare_equal_and_different", test_compare_equal_and_different);
    g_test_add_func("/io/command_id_in_use", test_io_command_id_in_use);
    g_test_add_func("/io/fused_flush_is_refused", test_io_fused_flush_is_refused);
    g_test_add_func("/io/fabrics_commands_on_an_io_queue", test_io_fabrics_commands_on_an_io_queue);
    g_test_add_func("/io/verify_asks_the_media", test_verify_asks_the_media);
    g_test_add_func("/io/media_errors_reach_the_host", test_media_errors_reach_the_host);
    g_test_add_func("/io/host_gone_while_the_media_works", test_host_gone_while_the_media_works);
    return g_test_run();
}
