/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identify, features and Abort of an I/O controller.
 * Not here: log pages (test_log.c); discovery controllers (test_discovery.c); events, ANA
 * (test_async.c).
 * NVMe base specification 2.0, sections 5.1, 5.15, 5.17 and 5.27.
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

static void assert_zero(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        g_assert_cmpuint(bytes[i], ==, 0);
    }
}

/* ---- Identify */

/* What the Linux host refuses a controller for, and what it needs for multipath. */
static void test_identify_controller_for_linux(void)
{
    Setup *s = setup();
    const struct nv_id_ctrl *id = (const void *)s->buf;

    g_assert_cmphex(identify(s, NV_CNS_CTRL, 0), ==, 0);
    g_assert_cmphex(id->cntlid, ==, s->admin->cntlid);
    g_assert_cmphex(id->ver, ==, 0x00020000);
    g_assert_cmpuint(id->kas, >, 0);
    g_assert_cmpuint(id->ioccsz, ==, (64 + 16384) / 16);
    g_assert_cmpuint(id->iorcsz, ==, 1);
    g_assert_cmpuint(id->icdoff, ==, 0);
    g_assert_cmpuint(id->sgls & 3, ==, 1);
    g_assert_cmpuint(id->sgls >> 20 & 1, ==, 1);
    g_assert_cmphex(id->sqes, ==, 0x66);
    g_assert_cmphex(id->cqes, ==, 0x44);
    g_assert_cmpuint(id->cntrltype, ==, 1);
    g_assert_cmpuint(id->mdts, ==, 8);                  /* 2^8 * 4 KiB = 1 MiB */
    g_assert_cmpuint(id->maxcmd, ==, 128);
    g_assert_cmpstr(id->subnqn, ==, RIG_NQN);
    g_assert_cmphex(id->cmic & 0x0b, ==, 0x0b);         /* ports, controllers, ANA */
    g_assert_cmpuint(id->nn, >=, 1);
    g_assert_cmpuint(id->mnan, <=, id->nn);
    g_assert_cmphex(id->oncs & NV_ONCS_DSM, !=, 0);
    g_assert_cmphex(id->oncs & NV_ONCS_WRITE_ZEROES, !=, 0);
    g_assert_cmphex(id->oaes & NV_OAES_NS_ATTR, !=, 0);
    g_assert_cmphex(id->oaes & NV_OAES_ANA, !=, 0);
    g_assert_cmphex(id->ctratt & NV_CTRATT_HOSTID_128, !=, 0);
    g_assert_cmpuint(id->anagrpmax, >=, id->nanagrpid);
    g_assert_cmpuint(id->nanagrpid, >=, 1);
    g_assert_cmpuint(id->anatt, >, 0);
    g_assert_cmpuint(id->ofcs, ==, 1);                  /* Disconnect */
    teardown(s);
}

static void test_identify_controller_strings(void)
{
    Rig *rig = rig_new();
    Setup *s;
    const struct nv_id_ctrl *id;

    g_assert_true(lst_subsys_set(rig->subsys, "attr_serial", "SN-42", NULL));
    g_assert_true(lst_subsys_set(rig->subsys, "attr_model",
                                 "0123456789012345678901234567890123456789", NULL));
    g_assert_true(lst_subsys_set(rig->subsys, "attr_firmware", "9.9", NULL));
    g_assert_true(lst_subsys_set(rig->subsys, "attr_ieee_oui", "0x123456", NULL));
    s = setup_on(rig);
    id = (const void *)s->buf;
    g_assert_cmphex(identify(s, NV_CNS_CTRL, 0), ==, 0);
    g_assert_cmpmem(id->sn, 20, "SN-42               ", 20);
    g_assert_cmpmem(id->mn, 40, "0123456789012345678901234567890123456789", 40);
    g_assert_cmpmem(id->fr, 8, "9.9     ", 8);
    g_assert_cmpmem(id->ieee, 3, "\x56\x34\x12", 3);
    teardown(s);
}

static void test_identify_namespace(void)
{
    static const uint8_t uuid[16] = { 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0,
                                      1,    2,    3,    4,    5,    6,    7,    8 };
    Rig *rig = rig_new();
    Setup *s;
    const struct nv_id_ns *id;

    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    g_assert_true(lst_ns_set(rig->ns, "device_uuid", "12345678-9abc-def0-0102-030405060708", NULL));
    g_assert_true(lst_ns_set(rig->ns, "device_nguid", "00112233445566778899aabbccddeeff", NULL));
    g_assert_true(lst_ns_set(rig->ns, "device_eui64", "0011223344556677", NULL));
    g_assert_true(lst_ns_set(rig->ns, "ana_grpid", "7", NULL));
    g_assert_true(lst_ns_enable(rig->ns, true, NULL));
    s = setup_on(rig);
    id = (const void *)s->buf;

    g_assert_cmphex(identify(s, NV_CNS_NS, 1), ==, 0);
    g_assert_cmpuint(id->nsze, ==, RIG_BLOCKS);
    g_assert_cmpuint(id->ncap, ==, RIG_BLOCKS);
    g_assert_cmpuint(id->nlbaf, ==, 0);
    g_assert_cmpuint(id->flbas & 0xf, ==, 0);
    g_assert_cmpuint(id->lbaf[0].lbads, ==, 9);
    g_assert_cmpuint(id->lbaf[0].ms, ==, 0);
    g_assert_cmpuint(id->nmic & 1, ==, 1);
    g_assert_cmpuint(id->anagrpid, ==, 7);
    g_assert_cmpuint(id->dlfeat & 7, ==, 1);
    g_assert_cmpmem(id->nguid, 16,
                    "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
    g_assert_cmpmem(id->eui64, 8, "\x00\x11\x22\x33\x44\x55\x66\x77", 8);

    /* Descriptors: EUI-64, NGUID, UUID, CSI, in the order of their types; zero behind. */
    g_assert_cmphex(identify(s, NV_CNS_NS_DESCS, 1), ==, 0);
    g_assert_cmpmem(s->buf, 4, "\x01\x08\x00\x00", 4);
    g_assert_cmpmem(s->buf + 12, 4, "\x02\x10\x00\x00", 4);
    g_assert_cmpmem(s->buf + 32, 4, "\x03\x10\x00\x00", 4);
    g_assert_cmpmem(s->buf + 36, 16, uuid, 16);
    g_assert_cmpmem(s->buf + 52, 5, "\x04\x01\x00\x00\x00", 5);
    assert_zero(s->buf + 57, 4096 - 57);
    teardown(s);
}

static void test_identify_namespace_lists(void)
{
    Rig *rig = rig_new();
    RigMedia media[2] = { 0 };
    Setup *s;
    const uint32_t *list;

    rig_add_ns(rig->subsys, 5, &media[0], 4096, 512);
    rig_add_ns(rig->subsys, 1024, &media[1], 4096, 512);
    s = setup_on(rig);
    list = (const uint32_t *)(void *)s->buf;
    g_assert_cmphex(identify(s, NV_CNS_NS_LIST, 0), ==, 0);
    g_assert_cmpuint(list[0], ==, 1);
    g_assert_cmpuint(list[1], ==, 5);
    g_assert_cmpuint(list[2], ==, 1024);
    assert_zero(s->buf + 12, 4096 - 12);
    g_assert_cmphex(identify(s, NV_CNS_NS_LIST, 5), ==, 0);
    g_assert_cmpuint(list[0], ==, 1024);
    g_assert_cmpuint(list[1], ==, 0);
    g_assert_cmphex(identify(s, NV_CNS_NS_LIST, 1024), ==, 0);
    assert_zero(s->buf, 4096);
    /* FFFFFFFEh and FFFFFFFFh begin no list. */
    g_assert_cmphex(identify(s, NV_CNS_NS_LIST, 0xfffffffe), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(identify(s, NV_CNS_NS_LIST, 0xffffffff), ==, NV_SC_INVALID_NAMESPACE);
    /* The NVM command set's list is the same. */
    g_assert_cmphex(identify(s, NV_CNS_CSI_NS_LIST, 0), ==, 0);
    g_assert_cmpuint(list[2], ==, 1024);
    teardown(s);
    g_free(media[0].bytes);
    g_free(media[1].bytes);
}

/* Allocated: with media, whether hosts may see it or not (Base 2.0, 3.2.1.4). */
static void test_identify_allocated_namespaces(void)
{
    Rig *rig = rig_new();
    RigMedia media[2] = { 0 };
    struct lst_ns *hidden = rig_add_ns(rig->subsys, 5, &media[0], 4096, 512);
    Setup *s;
    const uint32_t *list;
    const struct nv_id_ns *id;

    g_assert_true(lst_ns_enable(hidden, false, NULL));
    g_assert_nonnull(lst_subsys_add_ns(rig->subsys, 7, NULL));
    rig_add_ns(rig->subsys, 9, &media[1], 8192, 512);
    s = setup_on(rig);
    list = (const uint32_t *)(void *)s->buf;
    id = (const void *)s->buf;
    for (unsigned csi = 0; csi < 2; csi++) {
        g_assert_cmphex(identify(s, csi ? NV_CNS_CSI_NS_LIST : NV_CNS_NS_LIST, 0), ==, 0);
        g_assert_cmpuint(list[1], ==, 9);
        g_assert_cmphex(identify(s, csi ? 0x1a : 0x10, 0), ==, 0);
        g_assert_cmpuint(list[0], ==, 1);
        g_assert_cmpuint(list[1], ==, 5);
        g_assert_cmpuint(list[2], ==, 9);
        g_assert_cmpuint(list[3], ==, 0);
        g_assert_cmphex(identify(s, csi ? 0x1a : 0x10, 0xfffffffe), ==, NV_SC_INVALID_NAMESPACE);
    }
    g_assert_cmphex(identify(s, 0x11, 5), ==, 0);
    g_assert_cmpuint(id->nsze, ==, 8);
    g_assert_cmphex(identify(s, 0x1b, 5), ==, 0);
    g_assert_cmphex(identify(s, NV_CNS_NS, 5), ==, 0);
    assert_zero(s->buf, 4096);
    g_assert_cmphex(identify(s, 0x11, 7), ==, 0);
    assert_zero(s->buf, 4096);
    g_assert_cmphex(identify(s, 0x11, 1025), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(identify(s, 0x11, 0xffffffff), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(rig_in(s->admin, host_cmd_identify(0x1a, 0, 0, NV_CSI_KV), s->buf, 4096), ==,
                    NV_SC_INVALID_FIELD);
    teardown(s);
    g_free(media[0].bytes);
    g_free(media[1].bytes);
}

/* A count, then identifiers from CNTID on in ascending order (Base 2.0, 4.4.1). */
static void test_identify_controller_lists(void)
{
    Rig *rig = rig_new();
    const uint16_t *list;
    Setup *s;

    g_assert_true(lst_subsys_set(rig->subsys, "attr_cntlid_min", "10", NULL));
    s = setup_on(rig);
    list = (const uint16_t *)(void *)s->buf;
    for (unsigned i = 0; i < 5; i++) {
        rig_admin(rig);
    }
    rig_unlink(g_ptr_array_index(rig->links, 2));
    for (unsigned i = 0; i < 2; i++) {
        uint8_t cns = i ? 0x12 : 0x13;

        g_assert_cmphex(identify(s, cns, 1), ==, 0);
        g_assert_cmpuint(list[0], ==, 5);
        g_assert_cmpuint(list[1], ==, 10);
        g_assert_cmpuint(list[2], ==, 11);
        g_assert_cmpuint(list[3], ==, 13);
        g_assert_cmpuint(list[5], ==, 15);
        assert_zero(s->buf + 12, 4096 - 12);
        g_assert_cmphex(rig_in(s->admin, host_cmd_identify(cns, 1, 14, 0), s->buf, 4096), ==, 0);
        g_assert_cmpuint(list[0], ==, 2);
        g_assert_cmpuint(list[1], ==, 14);
        g_assert_cmphex(rig_in(s->admin, host_cmd_identify(cns, 1, 16, 0), s->buf, 4096), ==, 0);
        g_assert_cmpuint(list[0], ==, 0);
    }
    /* To a namespace that nobody may see none is attached. */
    g_assert_cmphex(identify(s, 0x12, 2), ==, 0);
    assert_zero(s->buf, 4096);
    g_assert_cmphex(identify(s, 0x12, 0), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(identify(s, 0x12, 0xffffffff), ==, NV_SC_INVALID_NAMESPACE);
    teardown(s);
}

static void test_identify_inactive_and_invalid_namespaces(void)
{
    Setup *s = setup();

    g_assert_cmphex(identify(s, NV_CNS_NS, 2), ==, 0);
    assert_zero(s->buf, 4096);
    g_assert_cmphex(identify(s, NV_CNS_NS, 0), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(identify(s, NV_CNS_NS, 1025), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_true(s->result.dnr);
    g_assert_cmphex(identify(s, NV_CNS_NS_INDEPENDENT, 1025), ==, NV_SC_INVALID_NAMESPACE);
    /* All namespaces: what they have in common. */
    g_assert_cmphex(identify(s, NV_CNS_NS, 0xffffffff), ==, 0);
    g_assert_cmphex(identify(s, NV_CNS_NS_DESCS, 2), ==, NV_SC_INVALID_NAMESPACE);
    teardown(s);
}

static void test_identify_independent_namespace(void)
{
    Setup *s = setup();
    const struct nv_id_ns_independent *id = (const void *)s->buf;

    g_assert_cmphex(identify(s, NV_CNS_NS_INDEPENDENT, 1), ==, 0);
    g_assert_cmpuint(id->nmic & 1, ==, 1);
    g_assert_cmpuint(id->anagrpid, ==, 1);
    g_assert_cmpuint(id->nstat & 1, ==, 1);
    teardown(s);
}

static void test_identify_command_sets(void)
{
    Setup *s = setup();

    g_assert_cmphex(identify(s, NV_CNS_CSI_NS, 1), ==, 0);
    g_assert_cmphex(identify(s, NV_CNS_CSI_CTRL, 0), ==, 0);
    g_assert_cmphex(
        rig_in(s->admin, host_cmd_identify(NV_CNS_CSI_CTRL, 0, 0, NV_CSI_KV), s->buf, 4096), !=, 0);
    teardown(s);
}

static void test_identify_unknown_cns_and_length(void)
{
    Setup *s = setup();

    g_assert_cmphex(identify(s, 0x77, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(identify(s, 0xff, 1), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(rig_in(s->admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s->buf, 512), ==,
                    NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_run(s->admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0)), ==,
                    NV_SC_SGL_LENGTH);
    teardown(s);
}

/* ---- Features */

static uint16_t get(Setup *s, uint8_t fid, uint8_t select)
{
    return rig_do(s->admin, host_cmd_get_features(fid, select, 0), HOST_DATA_NONE, NULL, 0,
                  &s->result);
}

static uint16_t set(Setup *s, uint8_t fid, uint32_t value)
{
    return rig_do(s->admin, host_cmd_set_features(fid, value), HOST_DATA_NONE, NULL, 0, &s->result);
}

static void test_features_number_of_queues(void)
{
    Setup *s = setup();

    g_assert_cmphex(get(s, NV_FEAT_NUM_QUEUES, NV_SEL_DEFAULT), ==, 0);
    g_assert_cmphex(s->result.dw0, ==, 127u << 16 | 127);
    g_assert_cmphex(set(s, NV_FEAT_NUM_QUEUES, 3u << 16 | 3), ==, 0);
    g_assert_cmphex(s->result.dw0, ==, 3u << 16 | 3);
    g_assert_cmphex(get(s, NV_FEAT_NUM_QUEUES, NV_SEL_CURRENT), ==, 0);
    g_assert_cmphex(s->result.dw0, ==, 3u << 16 | 3);
    g_assert_cmphex(set(s, NV_FEAT_NUM_QUEUES, 999u << 16 | 999), ==, 0);
    g_assert_cmphex(s->result.dw0, ==, 127u << 16 | 127);
    g_assert_cmphex(set(s, NV_FEAT_NUM_QUEUES, 0xffff), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, NV_FEAT_NUM_QUEUES, 0xffff0000), ==, NV_SC_INVALID_FIELD);
    rig_io(s->rig, s->admin, 1, NULL);
    g_assert_cmphex(set(s, NV_FEAT_NUM_QUEUES, 3u << 16 | 3), ==, NV_SC_COMMAND_SEQUENCE);
    teardown(s);
}

static void test_features_plain_values(void)
{
    static const struct {
        uint8_t fid;
        uint32_t value, first;
    } rows[] = {
        { NV_FEAT_ARBITRATION, 0x01020303, 0 },
        { NV_FEAT_VOLATILE_WC, 0, 1 },
        { NV_FEAT_ERROR_RECOVERY, 100, 0 },
        { NV_FEAT_WRITE_ATOMICITY, 1, 0 },
        { NV_FEAT_ASYNC_EVENT, NV_OAES_NS_ATTR | NV_OAES_ANA, 0 },
    };
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("feature %02x", rows[i].fid);
        g_assert_cmphex(get(s, rows[i].fid, NV_SEL_CURRENT), ==, 0);
        g_assert_cmphex(s->result.dw0, ==, rows[i].first);
        g_assert_cmphex(set(s, rows[i].fid, rows[i].value), ==, 0);
        g_assert_cmphex(get(s, rows[i].fid, NV_SEL_CURRENT), ==, 0);
        g_assert_cmphex(s->result.dw0, ==, rows[i].value);
        g_assert_cmphex(get(s, rows[i].fid, NV_SEL_DEFAULT), ==, 0);
        g_assert_cmphex(s->result.dw0, ==, rows[i].first);
        g_assert_cmphex(get(s, rows[i].fid, NV_SEL_SUPPORTED), ==, 0);
        g_assert_cmphex(s->result.dw0 & 4, ==, 4);
    }
    /* A controller reset brings the defaults back. */
    g_assert_cmphex(rig_run(s->admin, host_cmd_property_set(NV_REG_CC, false, 0x00460000)), ==, 0);
    rig_enable(s->admin);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_cmphex(get(s, rows[i].fid, NV_SEL_CURRENT), ==, 0);
        g_assert_cmphex(s->result.dw0, ==, rows[i].first);
    }
    teardown(s);
}

static void test_features_power_state_0_only(void)
{
    Setup *s = setup();

    g_assert_cmphex(set(s, NV_FEAT_POWER_MGMT, 0), ==, 0);
    g_assert_cmphex(set(s, NV_FEAT_POWER_MGMT, 1), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get(s, NV_FEAT_POWER_MGMT, NV_SEL_CURRENT), ==, 0);
    g_assert_cmphex(s->result.dw0 & 0x1f, ==, 0);
    teardown(s);
}

static void test_features_temperature_thresholds(void)
{
    Setup *s = setup();

    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 350), ==, 0);                /* over */
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 1u << 20 | 270), ==, 0);     /* under */
    g_assert_cmphex(get(s, NV_FEAT_TEMP_THRESHOLD, NV_SEL_CURRENT), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 350);
    g_assert_cmphex(rig_do(s->admin, host_cmd_get_features(NV_FEAT_TEMP_THRESHOLD, 0, 1u << 20),
                           HOST_DATA_NONE, NULL, 0, &s->result),
                    ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 270);
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 2u << 20), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 1u << 16), ==, NV_SC_INVALID_FIELD);
    teardown(s);
}

static void test_features_kato_is_rounded_up_to_kas(void)
{
    Setup *s = setup();

    g_assert_cmphex(set(s, NV_FEAT_KATO, 1001), ==, 0);
    g_assert_cmphex(get(s, NV_FEAT_KATO, NV_SEL_CURRENT), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 2000);          /* KAS is 10 units of 100 ms */
    g_assert_cmphex(set(s, NV_FEAT_KATO, 0), ==, 0);
    g_assert_cmpuint(lst_target_next_deadline(s->rig->target), ==, UINT64_MAX);
    teardown(s);
}

static void test_features_timestamp_runs_with_virtual_time(void)
{
    Setup *s = setup();
    uint64_t value = 1700000000000;

    g_assert_cmphex(rig_do(s->admin, host_cmd_set_features(NV_FEAT_TIMESTAMP, 0),
                           HOST_DATA_OUT_CAPSULE, &value, 8, NULL),
                    ==, 0);
    rig_advance(s->rig, 1234 * RIG_MS);
    g_assert_cmphex(rig_in(s->admin, host_cmd_get_features(NV_FEAT_TIMESTAMP, 0, 0), &value, 8), ==,
                    0);
    g_assert_cmpuint(value & 0xffffffffffff, ==, 1700000001234);
    g_assert_cmpuint(value >> 49 & 7, ==, 1);           /* origin: Set Features */
    teardown(s);
}

static void test_features_host_identifier(void)
{
    Setup *s = setup();
    struct nvf_connect_data data = rig_connect_data(NULL, 0);
    uint8_t id[16];

    g_assert_cmphex(rig_in(s->admin, host_cmd_get_features(NV_FEAT_HOST_ID, 0, 1), id, 16), ==, 0);
    g_assert_cmpmem(id, 16, data.hostid, 16);
    /* On Fabrics it comes from Connect alone (5.27.1.25). */
    g_assert_cmphex(rig_do(s->admin, host_cmd_set_features(NV_FEAT_HOST_ID, 1),
                           HOST_DATA_OUT_CAPSULE, id, 16, NULL),
                    ==, NV_SC_COMMAND_SEQUENCE);
    teardown(s);
}

static void test_features_host_behavior(void)
{
    Setup *s = setup();
    uint8_t data[512] = { 1 }, back[512];

    g_assert_cmphex(rig_do(s->admin, host_cmd_set_features(NV_FEAT_HOST_BEHAVIOR, 0),
                           HOST_DATA_OUT_R2T, data, 512, NULL),
                    ==, 0);
    g_assert_cmphex(rig_in(s->admin, host_cmd_get_features(NV_FEAT_HOST_BEHAVIOR, 0, 0), back, 512),
                    ==, 0);
    g_assert_cmpmem(back, 512, data, 512);
    data[0] = 2;
    g_assert_cmphex(rig_do(s->admin, host_cmd_set_features(NV_FEAT_HOST_BEHAVIOR, 0),
                           HOST_DATA_OUT_CAPSULE, data, 512, NULL),
                    ==, NV_SC_INVALID_FIELD);
    teardown(s);
}

static void test_features_write_protect(void)
{
    Setup *s = setup();
    RigLink *io = rig_io(s->rig, s->admin, 1, NULL);
    struct nv_sqe sqe = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 1);
    struct nv_dsm_range range = { .nlb = 1 };

    sqe.nsid = 1;
    g_assert_cmphex(rig_run(s->admin, sqe), ==, 0);
    g_assert_cmphex(
        rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512, NULL),
        ==, NV_SC_NS_WRITE_PROTECTED);
    g_assert_cmphex(rig_run(io, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 0, 1, 0)), ==,
                    NV_SC_NS_WRITE_PROTECTED);
    g_assert_cmphex(rig_do(io, host_cmd_dsm(1, 1, 4), HOST_DATA_OUT_CAPSULE, &range, 16, NULL), ==,
                    NV_SC_NS_WRITE_PROTECTED);
    g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), s->buf, 512), ==, 0);
    g_assert_cmphex(identify(s, NV_CNS_NS, 1), ==, 0);
    g_assert_cmpuint(((const struct nv_id_ns *)(const void *)s->buf)->nsattr, ==, 1);
    sqe.cdw11 = 0;
    g_assert_cmphex(rig_run(s->admin, sqe), ==, 0);
    g_assert_cmphex(
        rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512, NULL),
        ==, 0);
    sqe = host_cmd_get_features(NV_FEAT_WRITE_PROTECT, 0, 0);
    sqe.nsid = 1;
    g_assert_cmphex(rig_do(s->admin, sqe, HOST_DATA_NONE, NULL, 0, &s->result), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 0);
    sqe.nsid = 9;
    g_assert_cmphex(rig_run(s->admin, sqe), ==, NV_SC_INVALID_NAMESPACE);
    sqe = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 5);
    sqe.nsid = 1;
    g_assert_cmphex(rig_run(s->admin, sqe), ==, NV_SC_INVALID_FIELD);
    sqe.nsid = 9;
    g_assert_cmphex(rig_run(s->admin, sqe), ==, NV_SC_INVALID_NAMESPACE);
    teardown(s);
}

/* One combination of command sets exists: 0, the NVM command set alone. */
static void test_features_command_set_profile(void)
{
    Setup *s = setup();

    g_assert_cmphex(identify(s, NV_CNS_COMMAND_SETS, 0), ==,
                    NV_SC_INVALID_FIELD); /* CNTID 0 is not this one */
    g_assert_cmphex(
        rig_in(s->admin, host_cmd_identify(NV_CNS_COMMAND_SETS, 0, 0xffff, 0), s->buf, 4096), ==,
        0);
    g_assert_cmphex(s->buf[0], ==, 5);        /* NVM, ZNS */
    assert_zero(s->buf + 1, 4095);
    g_assert_cmphex(set(s, NV_FEAT_COMMAND_SET_PROFILE, 0), ==, 0);
    g_assert_cmphex(set(s, NV_FEAT_COMMAND_SET_PROFILE, 1), ==, NV_SC_CSI_COMBINATION_REJECTED);
    teardown(s);
}

static void test_features_refused(void)
{
    Setup *s = setup();
    struct nv_sqe save = host_cmd_set_features(NV_FEAT_ARBITRATION, 0);

    g_assert_cmphex(get(s, 0, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get(s, 0x7f, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, 0xff, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get(s, NV_FEAT_ARBITRATION, 4), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, NV_FEAT_ASYNC_EVENT, 1u << 30), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, NV_FEAT_ERROR_RECOVERY, 1u << 16), ==, NV_SC_INVALID_FIELD);
    /* EXHID 0: the 64-bit host identifier does not exist on Fabrics. */
    g_assert_cmphex(get(s, NV_FEAT_HOST_ID, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get(s, NV_FEAT_TEMP_THRESHOLD, NV_SEL_DEFAULT), ==, 0);
    g_assert_cmpuint(s->result.dw0, >, 273);
    save.cdw10 |= 1u << 31;
    g_assert_cmphex(rig_run(s->admin, save), ==, NV_SC_FEATURE_NOT_SAVEABLE);
    teardown(s);
}

/* ---- Other */

static void test_admin_unknown_opcodes(void)
{
    /* Queues are made by Connect, not by these commands (00h, 01h, 04h, 05h). */
    static const uint8_t opcodes[] = { 0x00, 0x01, 0x04, 0x05, 0x10, 0x80, 0xc0, 0xff };
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(opcodes); i++) {
        g_assert_cmphex(
            rig_do(s->admin, host_cmd(opcodes[i], 0), HOST_DATA_NONE, NULL, 0, &s->result), ==,
            NV_SC_INVALID_OPCODE);
        g_assert_true(s->result.dnr);
    }
    teardown(s);
}

static void test_abort_of_an_event_request_and_of_nothing(void)
{
    Setup *s = setup();
    RigResult event;
    int cid = rig_submit(s->admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0,
                         &event);

    g_assert_false(event.done);
    g_assert_cmphex(
        rig_do(s->admin, host_cmd_abort(0, cid + 1000), HOST_DATA_NONE, NULL, 0, &s->result), ==,
        0);
    g_assert_cmpuint(s->result.dw0 & 1, ==, 1);
    g_assert_false(event.done);
    g_assert_cmphex(rig_do(s->admin, host_cmd_abort(0, cid), HOST_DATA_NONE, NULL, 0, &s->result),
                    ==, 0);
    g_assert_cmpuint(s->result.dw0 & 1, ==, 0);
    g_assert_true(event.done);
    g_assert_cmphex(event.status, ==, NV_SC_ABORT_REQUESTED);
    teardown(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/identify/controller_for_linux", test_identify_controller_for_linux);
    g_test_add_func("/identify/controller_strings", test_identify_controller_strings);
    g_test_add_func("/identify/namespace", test_identify_namespace);
    g_test_add_func("/identify/allocated_namespaces", test_identify_allocated_namespaces);
    g_test_add_func("/identify/controller_lists", test_identify_controller_lists);
    g_test_add_func("/identify/namespace_lists", test_identify_namespace_lists);
    g_test_add_func("/identify/inactive_and_invalid_namespaces",
                    test_identify_inactive_and_invalid_namespaces);
    g_test_add_func("/identify/independent_namespace", test_identify_independent_namespace);
    g_test_add_func("/identify/command_sets", test_identify_command_sets);
    g_test_add_func("/identify/unknown_cns_and_length", test_identify_unknown_cns_and_length);
    g_test_add_func("/features/number_of_queues", test_features_number_of_queues);
    g_test_add_func("/features/plain_values", test_features_plain_values);
    g_test_add_func("/features/power_state_0_only", test_features_power_state_0_only);
    g_test_add_func("/features/temperature_thresholds", test_features_temperature_thresholds);
    g_test_add_func("/features/kato_is_rounded_up_to_kas", test_features_kato_is_rounded_up_to_kas);
    g_test_add_func("/features/timestamp_runs_with_virtual_time",
                    test_features_timestamp_runs_with_virtual_time);
    g_test_add_func("/features/host_identifier", test_features_host_identifier);
    g_test_add_func("/features/host_behavior", test_features_host_behavior);
    g_test_add_func("/features/write_protect", test_features_write_protect);
    g_test_add_func("/features/command_set_profile", test_features_command_set_profile);
    g_test_add_func("/features/refused", test_features_refused);
    g_test_add_func("/admin/unknown_opcodes", test_admin_unknown_opcodes);
    g_test_add_func("/abort/of_an_event_request_and_of_nothing",
                    test_abort_of_an_event_request_and_of_nothing);
    return g_test_run();
}
