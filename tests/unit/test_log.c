/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log pages of an I/O controller: contents, offsets, lengths.
 * Not here: the ANA log and changed namespaces (test_async.c), the discovery log
 * (test_discovery.c).
 * NVMe base specification 2.0, section 5.16.
 */
#include <string.h>

#include "rig.h"

typedef struct Setup {
    Rig *rig;
    RigLink *admin;
    uint8_t buf[4096];
    RigResult result;
} Setup;

static Setup *setup_on(Rig *rig)
{
    Setup *s = g_new0(Setup, 1);

    s->rig = rig;
    s->admin = rig_admin(rig);
    return s;
}

static Setup *setup(void)
{
    return setup_on(rig_new());
}

static void teardown(Setup *s)
{
    rig_free(s->rig);
    g_free(s);
}

static uint16_t identify(Setup *s, uint8_t cns, uint32_t nsid)
{
    memset(s->buf, 0xee, sizeof(s->buf));
    return rig_do(s->admin, host_cmd_identify(cns, nsid, 0, 0), HOST_DATA_IN, s->buf, 4096,
                  &s->result);
}

static uint16_t get_log(Setup *s, uint8_t lid, uint64_t offset, uint32_t length)
{
    memset(s->buf, 0xee, sizeof(s->buf));
    return rig_do(s->admin, host_cmd_get_log(lid, NV_NSID_ALL, offset, length, 0, false),
                  HOST_DATA_IN, s->buf, length, &s->result);
}

static void test_log_smart_counts_io(void)
{
    Setup *s = setup();
    RigLink *io = rig_io(s->rig, s->admin, 1, NULL);
    const struct nv_log_smart *log = (const void *)s->buf;
    g_autofree uint8_t *data = g_malloc0(1 << 20);

    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, 0, 2048, 0), data, 1 << 20), ==, 0);
    }
    g_assert_cmphex(
        rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, data, 512, NULL),
        ==, 0);
    rig_advance(s->rig, 3 * 3600 * RIG_S);
    g_assert_cmphex(get_log(s, NV_LOG_SMART, 0, 512), ==, 0);
    g_assert_cmpuint(log->data_units_read.lo, ==,
                     7); /* 6144 units of 512 bytes, in thousands, up */
    g_assert_cmpuint(log->data_units_written.lo, ==, 1);
    g_assert_cmpuint(log->host_reads.lo, ==, 3);
    g_assert_cmpuint(log->host_writes.lo, ==, 1);
    g_assert_cmpuint(log->power_on_hours.lo, ==, 3);
    g_assert_cmpuint(log->critical_warning, ==, 0);
    g_assert_cmpuint(log->temperature[0] | log->temperature[1] << 8, >, 273);
    g_assert_cmpuint(log->percent_used, ==, 0);
    teardown(s);
}

static void test_log_error_newest_first(void)
{
    Setup *s = setup();
    const struct nv_log_error *log = (const void *)s->buf;
    int cid;

    g_assert_cmphex(get_log(s, NV_LOG_ERROR, 0, 64), ==, 0);
    g_assert_cmpuint(log->error_count, ==, 0);
    g_assert_cmphex(identify(s, 0x77, 0), ==, NV_SC_INVALID_FIELD);
    cid = rig_submit(s->admin, host_cmd_get_features(0x7f, 0, 0), HOST_DATA_NONE, NULL, 0,
                     &s->result);
    g_assert_cmphex(s->result.status, ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, NV_LOG_ERROR, 0, 128), ==, 0);
    g_assert_cmpuint(log[0].error_count, ==, 2);
    g_assert_cmpuint(log[0].sqid, ==, 0);
    g_assert_cmpuint(log[0].cid, ==, cid);
    g_assert_cmphex(NV_STATUS_CODE(log[0].status >> 1), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(log[0].param_location & 0xff, ==, 40);      /* CDW10 */
    g_assert_cmpuint(log[1].error_count, ==, 1);
    teardown(s);
}

/* 5.16.1.2: what an entry says about commands of each kind. */
static void test_log_error_entries(void)
{
    static const struct {
        uint8_t opcode, flags;
        uint32_t nsid;
        uint64_t slba;
        uint16_t status, location;
        uint64_t lba;
        uint32_t logged_nsid;
    } commands[] = {
        { 0xc7, 0x40, 1, 5, NV_SC_INVALID_OPCODE, 0, 0, 0 },
        { NV_IO_FLUSH, 0x40, 9, 0, NV_SC_INVALID_NAMESPACE, 4, 0, 9 },
        { NV_IO_FLUSH, 0x00, 1, 0, NV_SC_INVALID_FIELD, 1 | 6 << 8, 0, 1 },
        { NV_IO_VERIFY, 0x40, 1, 0x123456789a, NV_SC_LBA_RANGE, 0xffff, 0x123456789a, 1 },
        { NV_IO_READ, 0x40, 1, RIG_BLOCKS, NV_SC_LBA_RANGE, 0xffff, RIG_BLOCKS, 1 },
        { NV_IO_DSM, 0x40, 1, 5, NV_SC_SGL_TYPE, 39, 0, 1 },
    };
    Setup *s = setup();
    RigLink *io = rig_io(s->rig, s->admin, 1, NULL);
    const struct nv_log_error *log = (const void *)s->buf;

    for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++) {
        struct nv_sqe sqe = host_cmd_rw(commands[i].opcode, commands[i].nsid, commands[i].slba, 1, 0);
        RigResult result = { 0 };

        g_test_message("command %u", i);
        sqe.flags = commands[i].flags;
        g_assert_cmpint(host_queue_submit_verbatim(io->host, &sqe, NULL, 0, rig_completed,
                                                   &result),
                        >=, 0);
        rig_pump(s->rig);
        g_assert_cmphex(result.status, ==, commands[i].status);
        g_assert_cmphex(get_log(s, NV_LOG_ERROR, 0, 64), ==, 0);
        g_assert_cmpuint(log->error_count, ==, i + 1);
        g_assert_cmpuint(log->sqid, ==, 1);
        g_assert_cmphex(NV_STATUS_CODE(log->status >> 1), ==, commands[i].status);
        g_assert_cmphex(log->param_location, ==, commands[i].location);
        g_assert_cmphex(log->lba, ==, commands[i].lba);
        g_assert_cmphex(log->nsid, ==, commands[i].logged_nsid);
        g_assert_cmpuint(log->trtype, ==, 3);
    }
    teardown(s);
}

/* More errors than entries: the newest 64, and a count that goes on, in the SMART log too. */
static void test_log_error_count_goes_on(void)
{
    Setup *s = setup();
    const struct nv_log_error *log = (const void *)s->buf;

    for (unsigned i = 0; i < 100; i++) {
        g_assert_cmphex(identify(s, 0x77, 0), ==, NV_SC_INVALID_FIELD);
    }
    g_assert_cmphex(get_log(s, NV_LOG_ERROR, 0, 4096), ==, 0);
    for (unsigned i = 0; i < 64; i++) {
        g_assert_cmpuint(log[i].error_count, ==, 100 - i);
    }
    g_assert_cmphex(get_log(s, NV_LOG_SMART, 0, 512), ==, 0);
    g_assert_cmpuint(((const struct nv_log_smart *)(const void *)s->buf)->num_err_log_entries.lo, ==,
                     100);
    teardown(s);
}

static void test_log_supported_effects_features_firmware(void)
{
    Setup *s = setup();
    const uint32_t *dwords = (const uint32_t *)(void *)s->buf;

    g_assert_cmphex(get_log(s, NV_LOG_SUPPORTED, 0, 1024), ==, 0);
    for (unsigned lid = 0; lid < 256; lid++) {
        bool expected = lid <= 5 || lid == NV_LOG_ANA || lid == NV_LOG_FEATURES ||
                        lid == NV_LOG_RESERVATION || lid == NV_LOG_CHANGED_ZONES;

        g_assert_cmpuint(dwords[lid] & 1, ==, expected);
    }
    g_assert_cmphex(get_log(s, NV_LOG_EFFECTS, 0, 4096), ==, 0);
    g_assert_cmphex(dwords[NV_ADMIN_IDENTIFY] & 3, ==, 1);
    g_assert_cmphex(dwords[256 + NV_IO_READ] & 3, ==, 1);
    g_assert_cmphex(dwords[256 + NV_IO_WRITE] & 3, ==, 3);      /* changes contents */
    g_assert_cmphex(dwords[256 + NV_IO_COPY], ==, 3);
    g_assert_cmphex(get_log(s, NV_LOG_FEATURES, 0, 1024), ==, 0);
    g_assert_cmphex(dwords[NV_FEAT_KATO] & 1, ==, 1);
    g_assert_cmphex(dwords[0x7f] & 1, ==, 0);
    g_assert_cmphex(get_log(s, NV_LOG_FIRMWARE, 0, 512), ==, 0);
    g_assert_cmphex(s->buf[0], ==, 1);
    g_assert_cmpmem(s->buf + 8, 8, "1.0     ", 8);
    teardown(s);
}

static void test_log_offsets(void)
{
    Setup *s = setup();
    uint8_t whole[512];

    g_assert_cmphex(get_log(s, NV_LOG_SMART, 0, 512), ==, 0);
    memcpy(whole, s->buf, 512);
    for (uint32_t offset = 4; offset < 512; offset += 4) {
        g_assert_cmphex(get_log(s, NV_LOG_SMART, offset, 512 - offset), ==, 0);
        g_assert_cmpmem(s->buf, 512 - offset, whole + offset, 512 - offset);
    }
    /* Past the end of the page, by little and by 2^32 and 2^64. */
    g_assert_cmphex(get_log(s, NV_LOG_SMART, 516, 4), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, NV_LOG_SMART, 1ull << 32, 4), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, NV_LOG_SMART, UINT64_MAX - 3, 512), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, NV_LOG_SMART, 2, 4), ==, NV_SC_INVALID_FIELD);
    teardown(s);
}

/* Every page of an I/O controller: its length; what is asked for beyond it reads as zeroes. */
static void test_log_lengths_of_every_page(void)
{
    static const struct {
        uint8_t lid;
        uint32_t length;
    } pages[] = {
        { NV_LOG_SUPPORTED, 1024 },  { NV_LOG_ERROR, 4096 },    { NV_LOG_SMART, 512 },
        { NV_LOG_FIRMWARE, 512 },    { NV_LOG_CHANGED_NS, 4096 }, { NV_LOG_EFFECTS, 4096 },
        { NV_LOG_ANA, 16 + 32 + 4 }, { NV_LOG_FEATURES, 1024 }, { NV_LOG_RESERVATION, 64 },
    };
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        struct nv_sqe sqe = host_cmd_get_log(pages[i].lid, NV_NSID_ALL, 0, 64, 0, true);

        g_test_message("page %02x", pages[i].lid);
        g_assert_cmphex(get_log(s, pages[i].lid, pages[i].length - 4, 12), ==, 0);
        for (unsigned b = 4; b < 12; b++) {
            g_assert_cmphex(s->buf[b], ==, 0);
        }
        g_assert_cmphex(get_log(s, pages[i].lid, pages[i].length, 4), ==, 0);
        g_assert_cmphex(get_log(s, pages[i].lid, pages[i].length + 4, 4), ==, NV_SC_INVALID_FIELD);
        g_assert_cmphex(get_log(s, pages[i].lid, 1, 4), ==, NV_SC_INVALID_FIELD);
        /* Offset Type: an index. No page supports that. */
        sqe.cdw14 = 1u << 23;
        g_assert_cmphex(rig_in(s->admin, sqe, s->buf, 64), ==, NV_SC_INVALID_FIELD);
        /* A UUID index means nothing without a UUID list. */
        sqe.cdw14 = 5;
        g_assert_cmphex(rig_in(s->admin, sqe, s->buf, 64), ==, 0);
    }
    teardown(s);
}

static void test_log_smart_of_a_namespace(void)
{
    static const struct {
        uint32_t nsid;
        uint16_t status;
    } nsids[] = { { 0, 0 }, { NV_NSID_ALL, 0 }, { 1, NV_SC_INVALID_FIELD } };
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(nsids); i++) {
        g_assert_cmphex(rig_in(s->admin, host_cmd_get_log(NV_LOG_SMART, nsids[i].nsid, 0, 512, 0,
                                                          false),
                               s->buf, 512),
                        ==, nsids[i].status);
    }
    teardown(s);
}

static void test_log_refused(void)
{
    Setup *s = setup();
    g_autofree uint8_t *big = g_malloc(RIG_MDTS_BYTES + 4);

    g_assert_cmphex(get_log(s, 0x7e, 0, 512), ==, NV_SC_INVALID_LOG_PAGE);
    g_assert_cmphex(get_log(s, NV_LOG_DISCOVERY, 0, 1024), ==, NV_SC_INVALID_LOG_PAGE);
    g_assert_cmphex(
        rig_in(s->admin,
               host_cmd_get_log(NV_LOG_SMART, NV_NSID_ALL, 0, RIG_MDTS_BYTES + 4, 0, false), big,
               RIG_MDTS_BYTES + 4),
        ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(
        rig_in(s->admin, host_cmd_get_log(NV_LOG_SMART, NV_NSID_ALL, 0, 512, 0, false), big, 256),
        ==, NV_SC_SGL_LENGTH);
    teardown(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log/smart_counts_io", test_log_smart_counts_io);
    g_test_add_func("/log/error_newest_first", test_log_error_newest_first);
    g_test_add_func("/log/supported_effects_features_firmware",
                    test_log_supported_effects_features_firmware);
    g_test_add_func("/log/error_entries", test_log_error_entries);
    g_test_add_func("/log/error_count_goes_on", test_log_error_count_goes_on);
    g_test_add_func("/log/lengths_of_every_page", test_log_lengths_of_every_page);
    g_test_add_func("/log/smart_of_a_namespace", test_log_smart_of_a_namespace);
    g_test_add_func("/log/offsets", test_log_offsets);
    g_test_add_func("/log/refused", test_log_refused);
    return g_test_run();
}
