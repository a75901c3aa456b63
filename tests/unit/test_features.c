/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Get Features and Set Features: what holds for all of them by table, and those that wait for the
 * media or cause events.
 * Not here: single values (test_admin.c), reservations (test_resv.c), keep-alive (test_async.c).
 * NVMe base specification 2.0, 5.15, 5.27, 8.12.
 */
#include <string.h>

#include "rig.h"

typedef struct Setup {
    Rig *rig;
    RigLink *admin, *io;
    uint8_t buf[4096];
    RigResult result;
} Setup;

static Setup *setup_on(Rig *rig)
{
    Setup *s = g_new0(Setup, 1);

    s->rig = rig;
    s->admin = rig_admin(rig);
    s->io = rig_io(rig, s->admin, 1, NULL);
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

static uint16_t run(Setup *s, struct nv_sqe sqe, uint32_t nsid)
{
    sqe.nsid = nsid;
    return rig_do(s->admin, sqe, HOST_DATA_NONE, NULL, 0, &s->result);
}

static uint16_t get(Setup *s, uint8_t fid, uint8_t select, uint32_t nsid)
{
    return run(s, host_cmd_get_features(fid, select, 0), nsid);
}

static uint16_t set(Setup *s, uint8_t fid, uint32_t value, uint32_t nsid)
{
    return run(s, host_cmd_set_features(fid, value), nsid);
}

/* ---- The table */

enum { CONTROLLER, NAMESPACE, ABSENT };

/* By feature: its scope, DW0 of what it can do (bit 1 namespace specific, bit 2 changeable), its default. */
static const struct {
    uint8_t fid;
    unsigned scope;
    uint32_t caps, initial;
    unsigned data;
} rows[] = {
    { 0x00, ABSENT, 0, 0, 0 },
    { NV_FEAT_ARBITRATION, CONTROLLER, 4, 0, 0 },
    { NV_FEAT_POWER_MGMT, CONTROLLER, 4, 0, 0 },
    { 0x03, ABSENT, 0, 0, 0 },           /* LBA Range Type */
    { NV_FEAT_TEMP_THRESHOLD, CONTROLLER, 4, 343, 0 },
    { NV_FEAT_ERROR_RECOVERY, CONTROLLER, 4, 0, 0 },
    { NV_FEAT_VOLATILE_WC, CONTROLLER, 4, 1, 0 },
    { NV_FEAT_NUM_QUEUES, CONTROLLER, 4, 127u << 16 | 127, 0 },
    { 0x08, ABSENT, 0, 0, 0 },           /* Interrupt Coalescing: not on Fabrics */
    { 0x09, ABSENT, 0, 0, 0 },           /* Interrupt Vector Configuration */
    { NV_FEAT_WRITE_ATOMICITY, CONTROLLER, 4, 0, 0 },
    { NV_FEAT_ASYNC_EVENT, CONTROLLER, 4, 0, 0 },
    { 0x0c, ABSENT, 0, 0, 0 },           /* Autonomous Power State Transition */
    { 0x0d, ABSENT, 0, 0, 0 },           /* Host Memory Buffer */
    { NV_FEAT_TIMESTAMP, CONTROLLER, 4, 0, 8 },
    { NV_FEAT_KATO, CONTROLLER, 4, 0, 0 },
    { NV_FEAT_HOST_BEHAVIOR, CONTROLLER, 4, 0, 512 },
    { NV_FEAT_COMMAND_SET_PROFILE, CONTROLLER, 4, 0, 0 },
    { NV_FEAT_RESV_NOTICE_MASK, NAMESPACE, 6, 0, 0 },
    { NV_FEAT_RESV_PERSIST, NAMESPACE, 6, 0, 0 },
    { NV_FEAT_WRITE_PROTECT, NAMESPACE, 6, 0, 0 },
    { 0xff, ABSENT, 0, 0, 0 },
};

static void test_selects_of_every_feature(void)
{
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint32_t nsid = rows[i].scope == NAMESPACE;

        g_test_message("feature %02x", rows[i].fid);
        if (rows[i].scope == ABSENT) {
            for (uint8_t select = 0; select < 8; select++) {
                g_assert_cmphex(get(s, rows[i].fid, select, 0), ==, NV_SC_INVALID_FIELD);
            }
            g_assert_cmphex(set(s, rows[i].fid, 0, 0), ==, NV_SC_INVALID_FIELD);
            continue;
        }
        g_assert_cmphex(get(s, rows[i].fid, NV_SEL_SUPPORTED, nsid), ==, 0);
        g_assert_cmphex(s->result.dw0, ==, rows[i].caps);
        for (uint8_t select = NV_SEL_DEFAULT; select <= NV_SEL_SAVED; select++) {
            struct nv_sqe sqe = host_cmd_get_features(rows[i].fid, select, 0);

            sqe.nsid = nsid;
            g_assert_cmphex(rig_do(s->admin, sqe, rows[i].data ? HOST_DATA_IN : HOST_DATA_NONE,
                                   rows[i].data ? s->buf : NULL, rows[i].data, &s->result),
                            ==, 0);
            g_assert_cmphex(s->result.dw0, ==, rows[i].initial);
        }
        for (uint8_t select = 4; select < 8; select++) {
            g_assert_cmphex(get(s, rows[i].fid, select, nsid), ==, NV_SC_INVALID_FIELD);
        }
    }
    teardown(s);
}

static void test_save_is_refused_by_every_feature(void)
{
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct nv_sqe sqe = host_cmd_set_features(rows[i].fid, 0);

        sqe.cdw10 |= 1u << 31;
        g_assert_cmphex(run(s, sqe, rows[i].scope == NAMESPACE), ==,
                        rows[i].scope == ABSENT ? NV_SC_INVALID_FIELD :
                                                  NV_SC_FEATURE_NOT_SAVEABLE);
    }
    teardown(s);
}

static void test_namespaces_of_every_feature(void)
{
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("feature %02x", rows[i].fid);
        if (rows[i].scope == CONTROLLER && !rows[i].data && rows[i].fid != NV_FEAT_NUM_QUEUES) {
            uint32_t value = rows[i].initial;

            g_assert_cmphex(set(s, rows[i].fid, value, 0), ==, 0);
            g_assert_cmphex(set(s, rows[i].fid, value, NV_NSID_ALL), ==, 0);
            g_assert_cmphex(set(s, rows[i].fid, value, 1), ==, NV_SC_FEATURE_NOT_NS_SPECIFIC);
            g_assert_cmphex(set(s, rows[i].fid, value, 2), ==, NV_SC_FEATURE_NOT_NS_SPECIFIC);
            g_assert_cmphex(set(s, rows[i].fid, value, 1025), ==, NV_SC_INVALID_NAMESPACE);
            g_assert_cmphex(get(s, rows[i].fid, NV_SEL_CURRENT, 1), ==, 0);
        }
        if (rows[i].scope == NAMESPACE) {
            g_assert_cmphex(get(s, rows[i].fid, NV_SEL_CURRENT, 0), ==, NV_SC_INVALID_NAMESPACE);
            g_assert_cmphex(get(s, rows[i].fid, NV_SEL_DEFAULT, 2), ==, NV_SC_INVALID_NAMESPACE);
            g_assert_cmphex(set(s, rows[i].fid, 0, 0), ==, NV_SC_INVALID_NAMESPACE);
            g_assert_cmphex(set(s, rows[i].fid, 0, 1025), ==, NV_SC_INVALID_NAMESPACE);
        }
    }
    g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, 1, NV_NSID_ALL), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(get(s, NV_FEAT_WRITE_PROTECT, 0, NV_NSID_ALL), ==, NV_SC_INVALID_NAMESPACE);
    teardown(s);
}

static void test_discovery_controllers_have_three(void)
{
    Rig *rig = rig_new();
    Setup *s = g_new0(Setup, 1);
    const uint32_t *entries = (const void *)s->buf;

    s->rig = rig;
    s->admin = rig_admin_to(rig, NULL, NVF_DISCOVERY_NQN, NULL, 0);
    g_assert_cmphex(get(s, NV_FEAT_KATO, 0, 0), ==, 0);
    g_assert_cmphex(get(s, NV_FEAT_ASYNC_EVENT, 0, 0), ==, 0);
    g_assert_cmphex(get(s, NV_FEAT_ARBITRATION, 0, 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(rig_in(s->admin, host_cmd_get_log(NV_LOG_FEATURES, NV_NSID_ALL, 0, 1024, 0,
                                                      false),
                           s->buf, 1024),
                    ==, 0);
    for (unsigned fid = 0; fid < 256; fid++) {
        bool expected = fid == NV_FEAT_KATO || fid == NV_FEAT_ASYNC_EVENT ||
                        fid == NV_FEAT_HOST_ID;

        g_assert_cmpuint(entries[fid] & 1, ==, expected);
    }
    teardown(s);
}

/* ---- Temperature, and what depends on it */

static uint16_t smart(Setup *s, bool retain)
{
    return rig_in(s->admin, host_cmd_get_log(NV_LOG_SMART, NV_NSID_ALL, 0, 512, 0, retain), s->buf,
                  512);
}

static void test_temperature_defaults_and_sensors(void)
{
    Setup *s = setup();
    const uint32_t under = 1u << 20;

    /* The under threshold begins with 0, whatever the over threshold does (5.27.1.3). */
    g_assert_cmphex(
        run(s, host_cmd_get_features(NV_FEAT_TEMP_THRESHOLD, NV_SEL_DEFAULT, under), 0), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 0);
    /* Fh: all sensors there are, in Set Features only. */
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 0xfu << 16 | 350, 0), ==, 0);
    g_assert_cmphex(get(s, NV_FEAT_TEMP_THRESHOLD, 0, 0), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 350);
    g_assert_cmphex(
        run(s, host_cmd_get_features(NV_FEAT_TEMP_THRESHOLD, NV_SEL_CURRENT, 0xfu << 16), 0), ==,
        NV_SC_INVALID_FIELD);
    for (uint32_t sensor = 1; sensor < 0xf; sensor++) {
        g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, sensor << 16, 0), ==, NV_SC_INVALID_FIELD);
        g_assert_cmphex(
            run(s, host_cmd_get_features(NV_FEAT_TEMP_THRESHOLD, NV_SEL_DEFAULT, sensor << 16), 0),
            ==, NV_SC_INVALID_FIELD);
    }
    teardown(s);
}

/* The simulated drive has 308 K. */
static void test_temperature_over_and_under_the_threshold(void)
{
    static const struct {
        uint32_t value;
        uint8_t warning;
    } thresholds[] = {
        { 309, 0 }, { 308, 2 }, { 307, 2 }, { 0xffff, 0 },
        { 1u << 20 | 307, 0 }, { 1u << 20 | 308, 2 }, { 1u << 20 | 309, 2 }, { 1u << 20, 0 },
    };
    Setup *s = setup();

    for (unsigned i = 0; i < G_N_ELEMENTS(thresholds); i++) {
        g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, thresholds[i].value, 0), ==, 0);
        g_assert_cmphex(smart(s, false), ==, 0);
        g_assert_cmphex(s->buf[0], ==, thresholds[i].warning);
    }
    teardown(s);
}

static void test_temperature_event(void)
{
    Setup *s = setup();
    RigResult event = { 0 }, again = { 0 };

    rig_submit(s->admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &event);
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 300, 0), ==, 0);
    g_assert_false(event.done);          /* nobody wants to know */
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 350, 0), ==, 0);
    g_assert_cmphex(set(s, NV_FEAT_ASYNC_EVENT, 1u << 1, 0), ==, 0);
    g_assert_false(event.done);
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 300, 0), ==, 0);
    g_assert_true(event.done);           /* type 1, information 1, log page 2 */
    g_assert_cmphex(event.dw0, ==, 0x020101);
    /* Not again until the log page was read and the threshold is crossed anew. */
    rig_submit(s->admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &again);
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 350, 0), ==, 0);
    g_assert_cmphex(set(s, NV_FEAT_TEMP_THRESHOLD, 300, 0), ==, 0);
    g_assert_cmphex(smart(s, true), ==, 0);
    g_assert_false(again.done);
    g_assert_cmphex(smart(s, false), ==, 0);
    g_assert_true(again.done);
    teardown(s);
}

static void test_async_event_bits(void)
{
    Setup *s = setup();

    /* Critical warnings 4:0; persistent memory region (5) and 7:6 are not there. */
    g_assert_cmphex(set(s, NV_FEAT_ASYNC_EVENT, 0x1f, 0), ==, 0);
    for (unsigned bit = 5; bit < 32; bit++) {
        bool known = bit == 8 || bit == 11 || bit == 27;    /* the last: Changed Zone List */

        g_assert_cmphex(set(s, NV_FEAT_ASYNC_EVENT, 1u << bit, 0), ==,
                        known ? 0 : NV_SC_INVALID_FIELD);
    }
    teardown(s);
}

/* ---- Write cache */

static void submit_write(Setup *s, RigResult *result)
{
    rig_submit(s->io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512,
               result);
}

static bool next_is_fua(Setup *s)
{
    const struct lst_io *io = g_queue_peek_head(&s->rig->ios);

    return io->fua;
}

static void test_write_cache_off_flushes_and_means_fua(void)
{
    Setup *s = setup();
    RigMedia second;
    RigResult off = { 0 }, write = { 0 };

    rig_add_ns(s->rig->subsys, 7, &second, 1 << 20, 512);
    s->rig->defer = true;
    submit_write(s, &write);
    g_assert_false(next_is_fua(s));
    rig_complete_io(s->rig, 0);
    rig_submit(s->admin, host_cmd_set_features(NV_FEAT_VOLATILE_WC, 0), HOST_DATA_NONE, NULL, 0,
               &off);
    g_assert_cmpuint(s->rig->ios_by_op[LST_IO_FLUSH], ==, 1);
    g_assert_false(off.done);
    rig_complete_io(s->rig, 0);
    g_assert_cmpuint(s->rig->ios_by_op[LST_IO_FLUSH], ==, 2);    /* of the other namespace */
    g_assert_false(off.done);
    rig_complete_io(s->rig, 0);
    g_assert_true(off.done);
    g_assert_cmphex(off.status, ==, 0);
    submit_write(s, &write);
    g_assert_true(next_is_fua(s));
    rig_complete_io(s->rig, 0);
    /* On again: nothing to flush. */
    g_assert_cmphex(set(s, NV_FEAT_VOLATILE_WC, 1, 0), ==, 0);
    submit_write(s, &write);
    g_assert_false(next_is_fua(s));
    rig_complete_io(s->rig, 0);
    lst_subsys_remove_ns(s->rig->subsys, lst_subsys_find_ns(s->rig->subsys, 7), NULL);
    g_free(second.bytes);
    teardown(s);
}

/* It began with the cache on and would end with it off: durable all the same. */
static void test_write_cache_off_while_a_write_is_under_way(void)
{
    Setup *s = setup();
    RigResult off = { 0 }, write = { 0 };

    s->rig->defer = true;
    submit_write(s, &write);
    rig_submit(s->admin, host_cmd_set_features(NV_FEAT_VOLATILE_WC, 0), HOST_DATA_NONE, NULL, 0,
               &off);
    rig_complete_io(s->rig, 0);
    g_assert_false(write.done);
    g_assert_cmpuint(s->rig->ios_by_op[LST_IO_FLUSH], ==, 2);
    rig_complete_io(s->rig, 0);
    g_assert_true(off.done);
    g_assert_false(write.done);
    rig_complete_io(s->rig, 0);
    g_assert_true(write.done);
    g_assert_cmphex(write.status, ==, 0);
    teardown(s);
}

static void test_write_cache_that_cannot_be_flushed_stays_on(void)
{
    Setup *s = setup();
    RigResult off = { 0 };

    s->rig->defer = true;
    rig_submit(s->admin, host_cmd_set_features(NV_FEAT_VOLATILE_WC, 0), HOST_DATA_NONE, NULL, 0,
               &off);
    rig_complete_io(s->rig, NV_SC_WRITE_FAULT);
    g_assert_cmphex(off.status, ==, NV_SC_WRITE_FAULT);
    g_assert_cmphex(get(s, NV_FEAT_VOLATILE_WC, 0, 0), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 1);
    teardown(s);
}

static void test_write_cache_of_a_host_that_goes_meanwhile(void)
{
    Setup *s = setup();
    RigResult off = { 0 };

    s->rig->defer = true;
    rig_submit(s->admin, host_cmd_set_features(NV_FEAT_VOLATILE_WC, 0), HOST_DATA_NONE, NULL, 0,
               &off);
    rig_unlink(s->admin);
    rig_complete_io(s->rig, 0);
    g_assert_false(off.done);
    teardown(s);
}

/* ---- Write protection */

static uint16_t writes(Setup *s)
{
    return rig_do(s->io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512,
                  NULL);
}

static uint8_t nwpc(Setup *s)
{
    struct nv_id_ctrl *id = (void *)s->buf;

    g_assert_cmphex(rig_in(s->admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s->buf, 4096), ==, 0);
    return id->nwpc;
}

/* 8.12: from which state to which; E: Feature Not Changeable. */
static void test_write_protect_states(void)
{
    static const struct {
        uint8_t from;
        uint16_t to[4];
    } states[] = {
        { 0, { 0, 0, 0, 0 } },
        { 1, { 0, 0, 0, 0 } },
        { 2, { 0x10e, 0x10e, 0x10e, 0x10e } },
        { 3, { 0x10e, 0x10e, 0x10e, 0x10e } },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
        for (uint8_t to = 0; to < 4; to++) {
            Setup *s = setup_on(rig_new_keeping());

            g_assert_cmphex(nwpc(s), ==, 7);
            g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, states[i].from, 1), ==, 0);
            g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, to, 1), ==, states[i].to[to]);
            g_assert_cmphex(get(s, NV_FEAT_WRITE_PROTECT, 0, 1), ==, 0);
            g_assert_cmpuint(s->result.dw0, ==, states[i].to[to] ? states[i].from : to);
            g_assert_cmphex(writes(s), ==, s->result.dw0 ? NV_SC_NS_WRITE_PROTECTED : 0);
            teardown(s);
        }
    }
}

static void test_write_protect_for_ever_needs_somebody_who_remembers(void)
{
    Setup *s = setup();

    g_assert_cmphex(nwpc(s), ==, 3);
    g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, 3, 1), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, 4, 1), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, 2, 1), ==, 0);
    teardown(s);
}

static void test_write_protect_flushes_first(void)
{
    Setup *s = setup();
    struct nv_sqe sqe = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 1);
    RigResult protect = { 0 };

    sqe.nsid = 1;
    s->rig->defer = true;
    rig_submit(s->admin, sqe, HOST_DATA_NONE, NULL, 0, &protect);
    g_assert_false(protect.done);
    g_assert_cmphex(writes(s), ==, NV_SC_NS_WRITE_PROTECTED);
    rig_complete_io(s->rig, NV_SC_WRITE_FAULT);
    g_assert_cmphex(protect.status, ==, NV_SC_WRITE_FAULT);
    s->rig->defer = false;
    g_assert_cmphex(writes(s), ==, 0);   /* it did not come to it */
    g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, 1, 1), ==, 0);
    g_assert_cmphex(writes(s), ==, NV_SC_NS_WRITE_PROTECTED);
    teardown(s);
}

static void test_write_protect_of_a_namespace_that_goes_meanwhile(void)
{
    Setup *s = setup();
    struct nv_sqe sqe = host_cmd_set_features(NV_FEAT_WRITE_PROTECT, 1);
    RigResult protect = { 0 };

    sqe.nsid = 1;
    s->rig->defer = true;
    rig_submit(s->admin, sqe, HOST_DATA_NONE, NULL, 0, &protect);
    lst_subsys_remove_ns(s->rig->subsys, s->rig->ns, NULL);
    rig_complete_io(s->rig, 0);
    g_assert_true(protect.done);
    teardown(s);
}

/* What lasts over a power cycle: 1 and 3, not 2. */
static void test_write_protect_is_kept(void)
{
    static const char *const texts[] = {
        NULL, "lockstep namespace 1\nwrite_protect 1\n", NULL,
        "lockstep namespace 1\nwrite_protect 3\n",
    };

    for (uint8_t state = 1; state < 4; state++) {
        Setup *s = setup_on(rig_new_keeping());
        g_autofree char *kept = NULL;
        Rig *rig;

        g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, state, 1), ==, 0);
        g_assert_cmpstr(s->rig->kept, ==, texts[state]);
        kept = g_strdup(s->rig->kept);
        teardown(s);
        rig = rig_new_keeping();
        lst_subsys_remove_ns(rig->subsys, rig->ns, NULL);
        rig->ns = lst_subsys_add_ns(rig->subsys, 1, NULL);
        g_assert_true(lst_ns_attach(rig->ns, &rig->media, rig->media.size, RIG_BLOCK, NULL));
        rig->kept = g_strdup("lockstep namespace 1\nwrite_protect 2\n");
        g_assert_false(lst_ns_enable(rig->ns, true, NULL));
        g_free(rig->kept);
        rig->kept = g_strdup(kept);
        g_assert_true(lst_ns_enable(rig->ns, true, NULL));
        s = setup_on(rig);
        g_assert_cmphex(writes(s), ==, kept ? NV_SC_NS_WRITE_PROTECTED : 0);
        teardown(s);
    }
}

static void test_write_protect_that_cannot_be_kept(void)
{
    Setup *s = setup_on(rig_new_keeping());

    s->rig->keep_fails = true;
    g_assert_cmphex(set(s, NV_FEAT_WRITE_PROTECT, 3, 1), ==, NV_SC_INTERNAL);
    g_assert_cmphex(writes(s), ==, 0);
    teardown(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/table/selects", test_selects_of_every_feature);
    g_test_add_func("/table/save", test_save_is_refused_by_every_feature);
    g_test_add_func("/table/namespaces", test_namespaces_of_every_feature);
    g_test_add_func("/table/discovery_controllers_have_three",
                    test_discovery_controllers_have_three);
    g_test_add_func("/temperature/defaults_and_sensors", test_temperature_defaults_and_sensors);
    g_test_add_func("/temperature/over_and_under_the_threshold",
                    test_temperature_over_and_under_the_threshold);
    g_test_add_func("/temperature/event", test_temperature_event);
    g_test_add_func("/async_event/bits", test_async_event_bits);
    g_test_add_func("/write_cache/off_flushes_and_means_fua",
                    test_write_cache_off_flushes_and_means_fua);
    g_test_add_func("/write_cache/off_while_a_write_is_under_way",
                    test_write_cache_off_while_a_write_is_under_way);
    g_test_add_func("/write_cache/that_cannot_be_flushed_stays_on",
                    test_write_cache_that_cannot_be_flushed_stays_on);
    g_test_add_func("/write_cache/of_a_host_that_goes_meanwhile",
                    test_write_cache_of_a_host_that_goes_meanwhile);
    g_test_add_func("/write_protect/states", test_write_protect_states);
    g_test_add_func("/write_protect/for_ever_needs_somebody_who_remembers",
                    test_write_protect_for_ever_needs_somebody_who_remembers);
    g_test_add_func("/write_protect/flushes_first", test_write_protect_flushes_first);
    g_test_add_func("/write_protect/of_a_namespace_that_goes_meanwhile",
                    test_write_protect_of_a_namespace_that_goes_meanwhile);
    g_test_add_func("/write_protect/is_kept", test_write_protect_is_kept);
    g_test_add_func("/write_protect/that_cannot_be_kept", test_write_protect_that_cannot_be_kept);
    return g_test_run();
}
