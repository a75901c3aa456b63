/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zoned namespaces end to end: Append, Send, Receive, what other commands do there, Identify, logs.
 * Not here: the states of zones (test_zone.c).
 * NVMe zoned namespace command set specification 1.1.
 */
#include <string.h>

#include "rig.h"
#include "zone/zone.h"

enum { SIZE = 2048, CAPACITY = 1536, ZONES = 8 };       /* blocks of 512 bytes; namespace 1 */

static RigIo setup(const char *config)
{
    RigIo s = { .rig = rig_new() };
    struct zone_config zones;
    char *why;

    g_assert_true(zone_config_parse(config ? config : "size=1M,capacity=768K,max_open=3,"
                                                      "max_active=5,extension=64",
                                    &zones, &why));
    g_assert_true(lst_ns_enable(s.rig->ns, false, NULL));
    g_assert_true(lst_ns_set_zones(s.rig->ns, &zones, NULL, NULL));
    g_assert_true(lst_ns_enable(s.rig->ns, true, NULL));
    s.rig->cc = RIG_CC_CSI;
    s.admin = rig_admin(s.rig);
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    s.out = g_malloc0(RIG_MDTS_BYTES + RIG_BLOCK);
    s.in = g_malloc0(RIG_MDTS_BYTES + RIG_BLOCK);
    return s;
}

static uint16_t write_at(RigIo *s, uint64_t slba, uint32_t blocks)
{
    return rig_rw(s, NV_IO_WRITE, slba, blocks * RIG_BLOCK, HOST_DATA_OUT_R2T);
}

static uint16_t append(RigIo *s, uint64_t zslba, uint32_t blocks, uint64_t *alba)
{
    RigResult result;
    uint16_t status = rig_do(s->io, host_cmd_zone_append(1, zslba, blocks), HOST_DATA_OUT_R2T,
                             s->out, blocks * RIG_BLOCK, &result);

    *alba = result.completion.cqe.result;
    return status;
}

static uint16_t send(RigIo *s, uint64_t slba, uint32_t action)
{
    return rig_run(s->io, host_cmd_zone_send(1, slba, action));
}

static struct nv_zone_descriptor descriptor(RigIo *s, uint32_t zone)
{
    struct nv_zone_descriptor descriptor;
    uint8_t report[128];

    g_assert_cmphex(rig_in(s->io, host_cmd_zone_receive(1, zone * SIZE, 128, 0), report, 128), ==,
                    0);
    memcpy(&descriptor, report + 64, sizeof(descriptor));
    g_assert_cmpuint(descriptor.zslba, ==, zone * SIZE);
    return descriptor;
}

static unsigned state(RigIo *s, uint32_t zone)
{
    return descriptor(s, zone).zs >> 4;
}

static void test_zoned_write_and_append(void)
{
    RigIo s = setup(NULL);
    uint64_t alba;

    rig_pattern(s.out, 65536, 1);
    g_assert_cmphex(write_at(&s, 0, 8), ==, 0);
    g_assert_cmphex(append(&s, 0, 4, &alba), ==, 0);
    g_assert_cmpuint(alba, ==, 8);
    g_assert_cmphex(append(&s, SIZE, 4, &alba), ==, 0);
    g_assert_cmpuint(alba, ==, SIZE);
    g_assert_cmpmem(s.rig->media.bytes + 8 * RIG_BLOCK, 2048, s.out, 2048);
    g_assert_cmpmem(s.rig->media.bytes + SIZE * RIG_BLOCK, 2048, s.out, 2048);
    g_assert_cmpuint(descriptor(&s, 0).wp, ==, 12);
    g_assert_cmphex(write_at(&s, 8, 1), ==, 0x1bc);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 12, 4, 0)), ==, 0);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 12, 4, 0)), ==, 0x1bc);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, 16, 4, 0)), ==, 0);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, 16, 4, 0)), ==, 0x1bc);
    g_assert_cmpuint(descriptor(&s, 0).wp, ==, 20);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 17, RIG_BLOCK, HOST_DATA_IN), ==, 0x281);
    /* Reads go across zones and beyond write pointers: zeroes. */
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, SIZE - 8, 16 * RIG_BLOCK, HOST_DATA_IN), ==, 0);
    g_assert_cmpmem(s.in + 8 * RIG_BLOCK, 2048, s.out, 2048);
    g_assert_cmpuint(s.in[0], ==, 0);
    rig_io_teardown(&s);
}

static void test_zoned_append_refused(void)
{
    RigIo s = setup(NULL);
    uint64_t alba;

    g_assert_cmphex(append(&s, 1, 1, &alba), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(append(&s, ZONES * SIZE, 1, &alba), ==, NV_SC_LBA_RANGE);
    /* ZASL 7: 512 KiB are 1024 blocks. */
    g_assert_cmphex(append(&s, 0, 1025, &alba), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(append(&s, 0, 1024, &alba), ==, 0);
    g_assert_cmphex(append(&s, 0, 513, &alba), ==, 0x1b8);
    g_assert_cmphex(append(&s, 0, 512, &alba), ==, 0);
    g_assert_cmpuint(alba, ==, 1024);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_FULL);
    g_assert_cmphex(append(&s, 0, 1, &alba), ==, 0x1b9);
    rig_io_teardown(&s);
}

/* Appends of many queues get blocks of their own, in whatever order the media work. */
static void test_zoned_appends_in_flight(void)
{
    enum { APPENDS = 32 };
    RigIo s = setup(NULL);
    RigResult results[APPENDS];
    bool seen[APPENDS] = { false };

    s.rig->defer = true;
    for (unsigned i = 0; i < APPENDS; i++) {
        rig_submit(s.io, host_cmd_zone_append(1, 0, 2), HOST_DATA_OUT_CAPSULE, s.out, 1024,
                   &results[i]);
    }
    while (!g_queue_is_empty(&s.rig->ios)) {
        g_queue_push_head(&s.rig->ios, g_queue_pop_tail(&s.rig->ios));
        rig_complete_io(s.rig, 0);
    }
    for (unsigned i = 0; i < APPENDS; i++) {
        uint64_t alba = results[i].completion.cqe.result;

        g_assert_cmphex(results[i].status, ==, 0);
        g_assert_cmpuint(alba % 2, ==, 0);
        g_assert_false(seen[alba / 2]);
        seen[alba / 2] = true;
    }
    rig_io_teardown(&s);
}

static void test_zoned_send(void)
{
    RigIo s = setup(NULL);

    g_assert_cmphex(write_at(&s, 0, 8), ==, 0);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_IMPLICITLY_OPEN);
    g_assert_cmphex(send(&s, 0, NV_ZSA_OPEN), ==, 0);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_EXPLICITLY_OPEN);
    g_assert_cmphex(send(&s, 0, NV_ZSA_CLOSE), ==, 0);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_CLOSED);
    g_assert_cmphex(send(&s, 0, NV_ZSA_FINISH), ==, 0);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_FULL);
    g_assert_cmphex(send(&s, 0, NV_ZSA_CLOSE), ==, 0x1bf);
    g_assert_cmphex(send(&s, 0, NV_ZSA_OFFLINE), ==, 0x1bf);
    g_assert_cmphex(send(&s, 0, NV_ZSA_RESET), ==, 0);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_EMPTY);
    for (uint32_t zone = 0; zone < 3; zone++) {
        g_assert_cmphex(send(&s, zone * SIZE, NV_ZSA_OPEN), ==, 0);
    }
    g_assert_cmphex(write_at(&s, 3 * SIZE, 1), ==, 0x1be);
    g_assert_cmphex(send(&s, 0, NV_ZSEND_ALL | NV_ZSA_CLOSE), ==, 0);
    g_assert_cmphex(write_at(&s, 3 * SIZE, 1), ==, 0);
    g_assert_cmphex(write_at(&s, 4 * SIZE, 1), ==, 0);
    g_assert_cmphex(write_at(&s, 5 * SIZE, 1), ==, 0x1bd);
    /* Values that there are not. */
    g_assert_cmphex(send(&s, 0, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(send(&s, 0, 6), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(send(&s, 0, 0x11), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(send(&s, 8, NV_ZSA_OPEN), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(send(&s, ZONES * SIZE, NV_ZSA_OPEN), ==, NV_SC_LBA_RANGE);
    g_assert_cmphex(send(&s, UINT64_MAX, NV_ZSA_RESET), ==, NV_SC_LBA_RANGE);
    rig_io_teardown(&s);
}

static void test_zoned_reset_zeroes_the_blocks(void)
{
    RigIo s = setup(NULL);

    memset(s.out, 0xff, 65536);
    for (uint32_t zone = 0; zone < 4; zone++) {
        g_assert_cmphex(write_at(&s, zone * SIZE, 64), ==, 0);
    }
    g_assert_cmphex(send(&s, SIZE, NV_ZSA_RESET), ==, 0);
    g_assert_cmpuint(s.rig->media.bytes[SIZE * RIG_BLOCK], ==, 0);
    g_assert_cmpuint(s.rig->media.bytes[2 * SIZE * RIG_BLOCK], ==, 0xff);
    g_assert_cmphex(send(&s, SIZE, NV_ZSA_RESET), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_DISCARD], ==, 1);  /* an empty one needs none */
    g_assert_cmphex(send(&s, 12345, NV_ZSEND_ALL | NV_ZSA_RESET), ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_DISCARD], ==, 3);  /* zone 0; zones 2 and 3 */
    for (uint64_t i = 0; i < s.rig->media.size; i++) {
        g_assert_cmpuint(s.rig->media.bytes[i], ==, 0);
    }
    for (uint32_t zone = 0; zone < ZONES; zone++) {
        g_assert_cmpuint(state(&s, zone), ==, NV_ZONE_EMPTY);
    }
    /* The medium fails: nothing was reset. */
    g_assert_cmphex(write_at(&s, 0, 1), ==, 0);
    s.rig->media.status = NV_SC_WRITE_FAULT;
    g_assert_cmphex(send(&s, 0, NV_ZSA_RESET), ==, NV_SC_WRITE_FAULT);
    s.rig->media.status = 0;
    g_assert_cmpuint(descriptor(&s, 0).wp, ==, 1);
    rig_io_teardown(&s);
}

/* What is under way in the zone ends before it is reset, what comes later waits. */
static void test_zoned_reset_between_writes(void)
{
    RigIo s = setup(NULL);
    RigResult before, reset, behind, other;

    memset(s.out, 0xaa, 4096);
    s.rig->defer = true;
    rig_submit(s.io, host_cmd_zone_append(1, 0, 8), HOST_DATA_OUT_CAPSULE, s.out, 4096, &before);
    rig_submit(s.io, host_cmd_zone_send(1, 0, NV_ZSA_RESET), HOST_DATA_NONE, NULL, 0, &reset);
    rig_submit(s.io, host_cmd_zone_append(1, 0, 4), HOST_DATA_OUT_CAPSULE, s.out, 2048, &behind);
    rig_submit(s.io, host_cmd_zone_append(1, SIZE, 4), HOST_DATA_OUT_CAPSULE, s.out, 2048, &other);
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 2);
    rig_complete_io(s.rig, 0);
    g_assert_true(before.done);
    g_assert_false(reset.done);
    rig_complete_io(s.rig, 0);
    g_assert_true(other.done);
    rig_complete_io(s.rig, 0);
    g_assert_true(reset.done);
    g_assert_false(behind.done);
    rig_complete_io(s.rig, 0);
    g_assert_true(behind.done);
    g_assert_cmpuint(behind.completion.cqe.result, ==, 0);
    g_assert_cmphex(s.rig->media.bytes[0], ==, 0xaa);
    g_assert_cmphex(s.rig->media.bytes[4 * RIG_BLOCK], ==, 0);
    rig_io_teardown(&s);
}

static void test_zoned_reset_ends_with_its_queue(void)
{
    RigIo s = setup(NULL);
    RigResult reset;

    for (uint32_t zone = 0; zone < 6; zone += 2) {
        g_assert_cmphex(write_at(&s, zone * SIZE, 1), ==, 0);
    }
    s.rig->defer = true;
    rig_submit(s.io, host_cmd_zone_send(1, 0, NV_ZSEND_ALL | NV_ZSA_RESET), HOST_DATA_NONE, NULL, 0,
               &reset);
    rig_unlink(s.io);
    rig_complete_io(s.rig, 0);
    g_assert_true(g_queue_is_empty(&s.rig->ios));
    s.rig->defer = false;
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    g_assert_cmpuint(state(&s, 0), ==, NV_ZONE_EMPTY);
    g_assert_cmpuint(state(&s, 2), !=, NV_ZONE_EMPTY);
    rig_io_teardown(&s);
}

static void test_zoned_descriptor_extension(void)
{
    RigIo s = setup(NULL);
    struct nv_sqe sqe = host_cmd_zone_send(1, 2 * SIZE, NV_ZSA_EXTENSION);
    uint8_t report[64 + 3 * 128];

    rig_pattern(s.out, 64, 9);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_CAPSULE, s.out, 64, NULL), ==, 0);
    g_assert_cmpuint(state(&s, 2), ==, NV_ZONE_CLOSED);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_R2T, s.out, 64, NULL), ==, 0x1bf);
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_R2T, s.out, 128, NULL), ==, NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_in(s.io, host_cmd_zone_receive(1, 0, sizeof(report), 1), report,
                           sizeof(report)), ==, 0);
    g_assert_cmphex(report[64 + 2 * 128 + 2], ==, 0x80);
    g_assert_cmpmem(report + 64 + 2 * 128 + 64, 64, s.out, 64);
    sqe.cdw13 |= NV_ZSEND_ALL;
    g_assert_cmphex(rig_do(s.io, sqe, HOST_DATA_OUT_R2T, s.out, 64, NULL), ==, NV_SC_INVALID_FIELD);
    rig_io_teardown(&s);
    /* Without any. */
    s = setup("size=1M");
    sqe = host_cmd_zone_send(1, 0, NV_ZSA_EXTENSION);
    g_assert_cmphex(rig_run(s.io, sqe), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(rig_in(s.io, host_cmd_zone_receive(1, 0, 64, 1), report, 64), ==,
                    NV_SC_INVALID_FIELD);
    rig_io_teardown(&s);
}

static void test_zoned_receive_refused(void)
{
    static const struct {
        uint64_t slba;
        uint32_t length, what;
        uint16_t status;
    } rows[] = {
        { 0, 60, 0, NV_SC_INVALID_FIELD },
        { 0, RIG_MDTS_BYTES + 4, 0, NV_SC_INVALID_FIELD },
        { 0, 64, 2, NV_SC_INVALID_FIELD },
        { 0, 64, 8 << 8, NV_SC_INVALID_FIELD },
        { ZONES * SIZE, 64, 0, NV_SC_LBA_RANGE },
        { UINT64_MAX, 64, 0, NV_SC_LBA_RANGE },
        { ZONES * SIZE - 1, 64, 0, 0 },
        { 0, RIG_MDTS_BYTES, 0, 0 },
    };
    RigIo s = setup(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("row %u", i);
        g_assert_cmphex(rig_in(s.io, host_cmd_zone_receive(1, rows[i].slba, rows[i].length,
                                                           rows[i].what), s.in, rows[i].length),
                        ==, rows[i].status);
    }
    rig_io_teardown(&s);
}

static void test_zoned_copy_and_deallocate(void)
{
    RigIo s = setup(NULL);
    struct nv_copy_range range = { .slba = 0, .nlb = 399 };
    struct nv_dsm_range dsm = { .slba = 0, .nlb = 8 };

    rig_pattern(s.out, 400 * RIG_BLOCK, 3);
    g_assert_cmphex(write_at(&s, 0, 400), ==, 0);
    memcpy(s.in, &range, sizeof(range));
    g_assert_cmphex(rig_do(s.io, host_cmd_copy(1, SIZE, 1, 0), HOST_DATA_OUT_R2T, s.in, 32, NULL),
                    ==, 0);
    g_assert_cmpuint(descriptor(&s, 1).wp, ==, SIZE + 400);
    g_assert_true(memcmp(s.rig->media.bytes + SIZE * RIG_BLOCK, s.out, 400 * RIG_BLOCK) == 0);
    g_assert_cmphex(rig_do(s.io, host_cmd_copy(1, SIZE, 1, 0), HOST_DATA_OUT_R2T, s.in, 32, NULL),
                    ==, 0x1bc);
    memcpy(s.in, &dsm, sizeof(dsm));
    g_assert_cmphex(rig_do(s.io, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_R2T, s.in, 16,
                           NULL), ==, 0);
    g_assert_true(memcmp(s.rig->media.bytes, s.out, 4096) == 0);
    rig_io_teardown(&s);
}

static void test_zoned_states_from_outside(void)
{
    RigIo s = setup(NULL);
    struct nv_log_changed_zones log;
    RigResult event;
    struct nv_sqe get = host_cmd_get_log(NV_LOG_CHANGED_ZONES, 1, 0, 4096, 0, false);
    uint64_t alba;

    g_assert_cmphex(rig_run(s.admin, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 1 << 27)), ==, 0);
    rig_submit(s.admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &event);
    g_assert_cmphex(write_at(&s, SIZE, 1), ==, 0);
    g_assert_false(event.done);                 /* a command of a host is no news */
    g_assert_true(lst_ns_set_zone_state(s.rig->ns, 1, "read-only", NULL));
    g_assert_true(lst_ns_set_zone_state(s.rig->ns, 3, "offline", NULL));
    rig_pump(s.rig);
    g_assert_true(event.done);
    g_assert_cmphex(event.dw0, ==, 0xbfef02);
    g_assert_cmpuint(event.completion.cqe.dw1, ==, 1);
    g_assert_cmphex(rig_in(s.admin, get, &log, 4096), ==, 0);
    g_assert_cmpuint(log.count, ==, 2);
    g_assert_cmpuint(log.zslba[0], ==, SIZE);
    g_assert_cmpuint(log.zslba[1], ==, 3 * SIZE);
    g_assert_cmphex(rig_in(s.admin, get, &log, 4096), ==, 0);
    g_assert_cmpuint(log.count, ==, 0);

    g_assert_cmphex(write_at(&s, SIZE + 1, 1), ==, 0x1ba);
    g_assert_cmphex(append(&s, 3 * SIZE, 1, &alba), ==, 0x1bb);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, SIZE, RIG_BLOCK, HOST_DATA_IN), ==, 0);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 3 * SIZE, RIG_BLOCK, HOST_DATA_IN), ==, 0x1bb);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 4 * SIZE - 1, 1024, HOST_DATA_IN), ==, 0x1bb);
    g_assert_cmphex(rig_run(s.io, host_cmd_rw(NV_IO_VERIFY, 1, 3 * SIZE, 1, 0)), ==, 0x1bb);
    g_assert_cmphex(send(&s, SIZE, NV_ZSA_OFFLINE), ==, 0);
    g_assert_cmpuint(state(&s, 1), ==, NV_ZONE_OFFLINE);
    /* A zone that the controller filled says so. */
    g_assert_true(lst_ns_set_zone_state(s.rig->ns, 0, "full", NULL));
    g_assert_cmphex(descriptor(&s, 0).za, ==, 1);
    get.nsid = 2;
    g_assert_cmphex(rig_in(s.admin, get, &log, 4096), ==, NV_SC_INVALID_NAMESPACE);
    rig_io_teardown(&s);
}

/* 511 zones fit in the list; of more it says only that. */
static void test_zoned_changed_list_overflows(void)
{
    RigIo s = setup("size=4K");
    struct nv_log_changed_zones log;

    g_assert_cmphex(rig_run(s.admin, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 1 << 27)), ==, 0);
    for (uint32_t zone = 0; zone < 512; zone++) {
        g_assert_true(lst_ns_set_zone_state(s.rig->ns, zone, "full", NULL));
    }
    g_assert_cmphex(rig_in(s.admin, host_cmd_get_log(NV_LOG_CHANGED_ZONES, 1, 0, 4096, 0, false),
                           &log, 4096), ==, 0);
    g_assert_cmphex(log.count, ==, 0xffff);
    g_assert_cmpuint(log.zslba[0], ==, 0);
    rig_io_teardown(&s);
}

static void test_zoned_configuration_refused(void)
{
    Rig *rig = rig_new();
    struct zone_config config = { .size = 1 << 20, .capacity = 1 << 20 };
    struct zone_config odd = { .size = 3 << 20, .capacity = 3 << 20 };
    g_autoptr(GError) error = NULL;

    g_assert_false(lst_ns_set_zones(rig->ns, &config, NULL, &error));
    g_assert_cmpint(error->code, ==, LST_ERROR_STATE);
    g_clear_error(&error);
    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    g_assert_false(lst_ns_set_zones(rig->ns, &odd, NULL, &error));
    g_assert_cmpint(error->code, ==, LST_ERROR_VALUE);
    g_clear_error(&error);
    g_assert_false(lst_ns_set_zone_state(rig->ns, 0, "full", &error));
    g_assert_nonnull(strstr(error->message, "only in a zoned namespace"));
    g_clear_error(&error);
    g_assert_true(lst_ns_set_zones(rig->ns, &config, NULL, NULL));
    g_assert_false(lst_ns_set_zone_state(rig->ns, 8, "full", &error));
    g_assert_nonnull(strstr(error->message, "0 to 7"));
    g_clear_error(&error);
    g_assert_false(lst_ns_set_zone_state(rig->ns, 0, "empty", &error));
    g_clear_error(&error);
    g_assert_false(lst_ns_attach(rig->ns, &rig->media, 4 << 20, RIG_BLOCK, &error));
    g_assert_cmpint(error->code, ==, LST_ERROR_STATE);
    rig_free(rig);
}

static void test_zoned_identify(void)
{
    RigIo s = setup(NULL);
    const struct nv_id_ns_zoned *id = (const void *)s.in;
    const struct nv_log_effects *effects = (const void *)s.in;
    const uint32_t *list = (const void *)s.in;
    RigMedia media = { 0 };
    struct nv_sqe sqe;

    rig_add_ns(s.rig->subsys, 2, &media, 4096, 512);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CSI_NS, 1, 0, 2), s.in, 4096), ==, 0);
    g_assert_cmpuint(id->mor, ==, 2);
    g_assert_cmpuint(id->mar, ==, 4);
    g_assert_cmpuint(id->ozcs, ==, 1);
    g_assert_cmpuint(id->lbafe[0].zsze, ==, SIZE);
    g_assert_cmpuint(id->lbafe[0].zdes, ==, 1);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CSI_NS, 1, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CSI_NS, 2, 0, 2), s.in, 4096), ==,
                    NV_SC_INVALID_FIELD);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CSI_CTRL, 0, 0, 2), s.in, 4096), ==,
                    0);
    g_assert_cmpuint(s.in[0], ==, 7);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CSI_NS_LIST, 0, 0, 2), s.in, 4096), ==,
                    0);
    g_assert_cmpuint(list[0], ==, 1);
    g_assert_cmpuint(list[1], ==, 0);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CSI_NS_LIST, 0, 0, 0), s.in, 4096), ==,
                    0);
    g_assert_cmpuint(list[0], ==, 2);
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_COMMAND_SETS, 0, 0xffff, 0), s.in,
                           4096), ==, 0);
    g_assert_cmpuint(s.in[0], ==, 5);           /* NVM and ZNS, in combination 0 */
    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_NS_DESCS, 1, 0, 0), s.in, 4096), ==,
                    0);
    /* NGUID and UUID of 16 bytes, then the command set: type 4, length 1. */
    g_assert_cmpuint(s.in[40], ==, 4);
    g_assert_cmpuint(s.in[44], ==, 2);
    /* Effects: zone commands in command set 2 only. */
    sqe = host_cmd_get_log(NV_LOG_EFFECTS, 0, 0, 4096, 0, false);
    g_assert_cmphex(rig_in(s.admin, sqe, s.in, 4096), ==, 0);
    g_assert_cmphex(effects->iocs[0x79] | effects->iocs[0x7a] | effects->iocs[0x7d], ==, 0);
    sqe.cdw14 = 2u << 24;
    g_assert_cmphex(rig_in(s.admin, sqe, s.in, 4096), ==, 0);
    g_assert_cmphex(effects->iocs[0x79], ==, 3);
    g_assert_cmphex(effects->iocs[0x7a], ==, 1);
    g_assert_cmphex(effects->iocs[0x7d], ==, 3);
    g_assert_cmphex(effects->iocs[0x02], ==, 1);
    /* Where there are no zones there are no zone commands. */
    g_assert_cmphex(rig_run(s.io, host_cmd_zone_send(2, 0, NV_ZSA_OPEN)), ==, NV_SC_INVALID_OPCODE);
    rig_io_teardown(&s);
    g_free(media.bytes);
}

/* CC.CSS 000b: the NVM Command Set alone, in which there is no such namespace. */
static void test_zoned_for_a_host_of_the_nvm_command_set(void)
{
    RigIo s = setup(NULL);

    g_assert_cmphex(rig_run(s.admin, host_cmd_property_set(NV_REG_CC, false, 0x00460000)), ==, 0);
    s.rig->cc = RIG_CC_NVM;
    rig_enable(s.admin);
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    g_assert_cmphex(rig_rw(&s, NV_IO_READ, 0, RIG_BLOCK, HOST_DATA_IN), ==, NV_SC_CSI_INVALID);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zoned/write_and_append", test_zoned_write_and_append);
    g_test_add_func("/zoned/append_refused", test_zoned_append_refused);
    g_test_add_func("/zoned/appends_in_flight", test_zoned_appends_in_flight);
    g_test_add_func("/zoned/send", test_zoned_send);
    g_test_add_func("/zoned/reset_zeroes_the_blocks", test_zoned_reset_zeroes_the_blocks);
    g_test_add_func("/zoned/reset_between_writes", test_zoned_reset_between_writes);
    g_test_add_func("/zoned/reset_ends_with_its_queue", test_zoned_reset_ends_with_its_queue);
    g_test_add_func("/zoned/descriptor_extension", test_zoned_descriptor_extension);
    g_test_add_func("/zoned/receive_refused", test_zoned_receive_refused);
    g_test_add_func("/zoned/copy_and_deallocate", test_zoned_copy_and_deallocate);
    g_test_add_func("/zoned/states_from_outside", test_zoned_states_from_outside);
    g_test_add_func("/zoned/changed_list_overflows", test_zoned_changed_list_overflows);
    g_test_add_func("/zoned/configuration_refused", test_zoned_configuration_refused);
    g_test_add_func("/zoned/identify", test_zoned_identify);
    g_test_add_func("/zoned/for_a_host_of_the_nvm_command_set",
                    test_zoned_for_a_host_of_the_nvm_command_set);
    return g_test_run();
}
