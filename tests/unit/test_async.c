/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens without a command: keep-alive at exact times, asynchronous events, ANA states and
 * their log.
 * Not here: discovery notices (test_discovery.c).
 * NVMe base specification 2.0, sections 3.9, 5.2, 5.16.1.13 and 8.1.
 */
#include <string.h>

#include "rig.h"

static uint16_t do_none(RigLink *link, struct nv_sqe sqe)
{
    return rig_run(link, sqe);
}

/* ---- Keep-alive */

static void test_keepalive_expires_at_the_nanosecond(void)
{
    static const struct {
        uint32_t kato_ms, rounded_s;
    } rows[] = { { 1, 1 }, { 1000, 1 }, { 1001, 2 }, { 5000, 5 }, { 15000, 15 } };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Rig *rig = rig_new();
        RigLink *admin = rig_admin_to(rig, NULL, NULL, NULL, rows[i].kato_ms),
                *io = rig_io(rig, admin, 1, NULL);
        RigLink *other = rig_admin(rig);

        g_assert_cmpuint(lst_target_next_deadline(rig->target), ==, rows[i].rounded_s * RIG_S);
        rig_advance(rig, rows[i].rounded_s * RIG_S - 1);
        g_assert_false(admin->closed);
        g_assert_false(io->closed);
        rig_advance(rig, 1);
        g_assert_true(admin->closed);
        g_assert_true(io->closed);
        g_assert_false(other->closed);
        g_assert_cmpuint(rig->events[LST_EVENT_CTRL_KATO_EXPIRED], ==, 1);
        rig_free(rig);
    }
}

static void test_keepalive_is_renewed_by_its_command(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin_to(rig, NULL, NULL, NULL, 5000);

    for (unsigned i = 0; i < 1000; i++) {
        rig_advance(rig, 5 * RIG_S - 1);
        g_assert_cmphex(do_none(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0)), ==, 0);
    }
    rig_advance(rig, 5 * RIG_S);
    g_assert_true(admin->closed);
    rig_free(rig);
}

/* Traffic based (CTRATT bit 6): an I/O command is a sign of life as well. */
static void test_keepalive_is_renewed_by_io(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin_to(rig, NULL, NULL, NULL, 5000), *io = rig_io(rig, admin, 1, NULL);

    for (unsigned i = 0; i < 100; i++) {
        rig_advance(rig, 4 * RIG_S);
        g_assert_cmphex(do_none(io, host_cmd(NV_IO_FLUSH, 1)), ==, 0);
        g_assert_false(admin->closed);
    }
    rig_advance(rig, 5 * RIG_S);
    g_assert_true(admin->closed);
    g_assert_true(io->closed);
    rig_free(rig);
}

static void test_keepalive_set_by_feature(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);

    rig_advance(rig, 3600 * RIG_S);
    g_assert_cmphex(do_none(admin, host_cmd_set_features(NV_FEAT_KATO, 2000)), ==, 0);
    rig_advance(rig, 2 * RIG_S - 1);
    g_assert_false(admin->closed);
    g_assert_cmphex(do_none(admin, host_cmd_set_features(NV_FEAT_KATO, 0)), ==, 0);
    rig_advance(rig, 3600 * RIG_S);
    g_assert_false(admin->closed);
    rig_free(rig);
}

static void test_keepalive_expires_while_the_media_works(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin_to(rig, NULL, NULL, NULL, 1000), *io = rig_io(rig, admin, 1, NULL);
    uint8_t buf[4096];
    RigResult results[2];

    rig->defer = true;
    rig_submit(io, host_cmd_rw(NV_IO_READ, 1, 0, 8, 0), HOST_DATA_IN, buf, 4096, &results[0]);
    rig_submit(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0), HOST_DATA_OUT_R2T, buf, 4096, &results[1]);
    rig_advance(rig, RIG_S);
    g_assert_true(io->closed);
    rig_complete_io(rig, 0);
    rig_complete_io(rig, 0);
    g_assert_false(results[0].done);
    rig_free(rig);
}

static void test_time_does_not_go_back(void)
{
    Rig *rig = rig_new();
    RigLink *admin;

    rig_advance(rig, 100 * RIG_S);
    admin = rig_admin_to(rig, NULL, NULL, NULL, 1000);
    lst_target_tick(rig->target, 5);
    g_assert_cmpuint(lst_target_next_deadline(rig->target), ==, 101 * RIG_S);
    rig_advance(rig, RIG_S);
    g_assert_true(admin->closed);
    rig_free(rig);
}

/* ---- Asynchronous events */

static void enable_events(RigLink *admin, uint32_t events)
{
    g_assert_cmphex(do_none(admin, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, events)), ==, 0);
}

static void wait_event(RigLink *admin, RigResult *event)
{
    rig_submit(admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, event);
}

static void test_aer_limit(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    RigResult events[5];

    for (unsigned i = 0; i < 5; i++) {
        wait_event(admin, &events[i]);
        g_assert_cmpint(events[i].done, ==, i == 4);    /* AERL 3: four may wait */
    }
    g_assert_cmphex(events[4].status, ==, NV_SC_AER_LIMIT);
    rig_free(rig);
}

static void test_aer_namespace_notice(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    RigMedia media = { 0 };
    RigResult event, next;
    uint32_t list[1024];

    enable_events(admin, NV_OAES_NS_ATTR);
    wait_event(admin, &event);
    rig_add_ns(rig->subsys, 9, &media, 4096, 512);
    rig_pump(rig);
    g_assert_true(event.done);
    g_assert_cmphex(event.status, ==, 0);
    g_assert_cmphex(event.dw0, ==, 0x040002);           /* log 04h, notice 00h, type 2 */

    wait_event(admin, &next);
    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    rig_pump(rig);
    g_assert_false(next.done);                          /* masked until the log is read */
    g_assert_cmphex(rig_in(admin,
                           host_cmd_get_log(NV_LOG_CHANGED_NS, NV_NSID_ALL, 0, 4096, 0, true), list,
                           4096),
                    ==, 0);
    g_assert_false(next.done);                          /* read with RAE: not acknowledged */
    g_assert_cmphex(rig_in(admin,
                           host_cmd_get_log(NV_LOG_CHANGED_NS, NV_NSID_ALL, 0, 4096, 0, false),
                           list, 4096),
                    ==, 0);
    g_assert_cmpuint(list[0], ==, 1);
    g_assert_cmpuint(list[1], ==, 9);
    g_assert_cmpuint(list[2], ==, 0);
    g_assert_cmphex(rig_in(admin,
                           host_cmd_get_log(NV_LOG_CHANGED_NS, NV_NSID_ALL, 0, 4096, 0, false),
                           list, 4096),
                    ==, 0);
    g_assert_cmpuint(list[0], ==, 0);                   /* reading cleared it */
    rig_free(rig);
    g_free(media.bytes);
}

static void test_aer_notice_waits_for_a_request(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    RigResult event;

    enable_events(admin, NV_OAES_NS_ATTR);
    g_assert_true(lst_ns_attach(rig->ns, &rig->media, rig->media.size / 2, RIG_BLOCK, NULL));
    wait_event(admin, &event);
    g_assert_true(event.done);
    g_assert_cmphex(event.dw0, ==, 0x040002);
    rig_free(rig);
}

static void test_aer_notices_that_are_not_enabled(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    RigResult event;

    wait_event(admin, &event);
    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    g_assert_true(lst_port_set_ana_state(rig->port, 1, "inaccessible", NULL));
    rig_pump(rig);
    g_assert_false(event.done);
    rig_free(rig);
}

/* A controller reset takes the requests away; Linux sends new ones. */
static void test_aer_ends_with_the_controller(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    RigResult events[4];

    for (unsigned i = 0; i < 4; i++) {
        wait_event(admin, &events[i]);
    }
    g_assert_cmphex(do_none(admin, host_cmd_property_set(NV_REG_CC, false, 0x00460000)), ==, 0);
    rig_enable(admin);
    for (unsigned i = 0; i < 4; i++) {
        wait_event(admin, &events[i]);
        g_assert_false(events[i].done);
    }
    rig_free(rig);
}

/* ---- ANA */

typedef struct AnaLog {
    struct nv_log_ana_header header;
    uint8_t rest[4096 - 16];
} AnaLog;

static void read_ana(RigLink *admin, AnaLog *log, uint8_t lsp)
{
    g_assert_cmphex(rig_in(admin,
                           host_cmd_get_log(NV_LOG_ANA, NV_NSID_ALL, 0, sizeof(*log), lsp, false),
                           log, sizeof(*log)),
                    ==, 0);
}

static void test_ana_log_lists_groups_and_namespaces(void)
{
    Rig *rig = rig_new();
    RigMedia media[2] = { 0 };
    struct nv_log_ana_group group;
    RigLink *admin;
    AnaLog log;
    uint32_t nsids[2];

    g_assert_true(
        lst_ns_set(rig_add_ns(rig->subsys, 2, &media[0], 4096, 512), "ana_grpid", "1", NULL));
    g_assert_true(
        lst_ns_set(rig_add_ns(rig->subsys, 3, &media[1], 4096, 512), "ana_grpid", "128", NULL));
    g_assert_true(lst_port_set_ana_state(rig->port, 128, "non-optimized", NULL));
    admin = rig_admin(rig);
    read_ana(admin, &log, 0);
    g_assert_cmpuint(log.header.ngrps, ==, 2);
    memcpy(&group, log.rest, 32);
    g_assert_cmpuint(group.grpid, ==, 1);
    g_assert_cmpuint(group.nnsids, ==, 2);
    g_assert_cmpuint(group.state, ==, 1);
    memcpy(nsids, log.rest + 32, 8);
    g_assert_cmpuint(nsids[0], ==, 1);
    g_assert_cmpuint(nsids[1], ==, 2);
    memcpy(&group, log.rest + 40, 32);
    g_assert_cmpuint(group.grpid, ==, 128);
    g_assert_cmpuint(group.nnsids, ==, 1);
    g_assert_cmpuint(group.state, ==, 2);
    memcpy(nsids, log.rest + 72, 4);
    g_assert_cmpuint(nsids[0], ==, 3);

    /* Return Groups Only: no NSIDs. */
    read_ana(admin, &log, NV_LSP_ANA_RGO);
    memcpy(&group, log.rest + 32, 32);
    g_assert_cmpuint(group.grpid, ==, 128);
    g_assert_cmpuint(group.nnsids, ==, 0);
    rig_free(rig);
    g_free(media[0].bytes);
    g_free(media[1].bytes);
}

static void test_ana_states_and_their_statuses(void)
{
    static const struct {
        const char *state;
        uint8_t in_log;
        uint16_t status;
    } rows[] = {
        { "optimized", 0x1, 0 },
        { "non-optimized", 0x2, 0 },
        { "inaccessible", 0x3, 0x302 },
        { "persistent-loss", 0x4, 0x301 },
        { "change", 0xf, 0x303 },
    };
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    uint8_t buf[512] = { 0 };
    struct nv_log_ana_group group;
    uint64_t changes = 0;
    AnaLog log;

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_true(lst_port_set_ana_state(rig->port, 1, rows[i].state, NULL));
        g_assert_cmpstr(lst_port_ana_state(rig->port, 1), ==, rows[i].state);
        read_ana(admin, &log, 0);
        memcpy(&group, log.rest, 32);
        g_assert_cmphex(group.state, ==, rows[i].in_log);
        g_assert_true(i == 0 || log.header.chgcnt > changes);
        changes = log.header.chgcnt;
        g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), buf, 512), ==,
                        rows[i].status);
        g_assert_cmphex(
            rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, buf, 512, NULL),
            ==, rows[i].status);
        g_assert_cmphex(
            rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_R2T, buf, 512, NULL), ==,
            rows[i].status);
        g_assert_cmphex(do_none(io, host_cmd(NV_IO_FLUSH, 1)), ==, rows[i].status);
    }
    rig_free(rig);
}

/* The state is that of the port a controller is reached through. */
static void test_ana_state_is_per_port(void)
{
    Rig *rig = rig_new();
    struct lst_port *other = lst_target_add_port(rig->target, 2, NULL);
    struct nv_log_ana_group group;
    RigLink *admin[2];
    RigResult events[2];
    AnaLog log;

    g_assert_true(lst_port_add_subsys(other, rig->subsys, NULL));
    admin[0] = rig_admin(rig);
    admin[1] = rig_admin_to(rig, other, NULL, NULL, 0);
    for (unsigned i = 0; i < 2; i++) {
        enable_events(admin[i], NV_OAES_ANA);
        wait_event(admin[i], &events[i]);
    }
    g_assert_true(lst_port_set_ana_state(other, 1, "inaccessible", NULL));
    rig_pump(rig);
    g_assert_false(events[0].done);
    g_assert_true(events[1].done);
    g_assert_cmphex(events[1].dw0, ==, 0x0c0302);       /* log 0Ch, notice 03h, type 2 */
    read_ana(admin[0], &log, 0);
    memcpy(&group, log.rest, 32);
    g_assert_cmphex(group.state, ==, 1);
    read_ana(admin[1], &log, 0);
    memcpy(&group, log.rest, 32);
    g_assert_cmphex(group.state, ==, 3);
    rig_free(rig);
}

/*
 * 16 + 128 groups of 32 bytes + 1024 NSIDs of 4 bytes: far below MDTS, or Linux switches ANA off.
 */
static void test_ana_log_of_everything_is_below_mdts(void)
{
    Rig *rig = rig_new();
    g_autofree RigMedia *media = g_new0(RigMedia, 1023);
    const uint32_t size = 16 + 128 * 32 + 1024 * 4;
    g_autofree uint8_t *log = g_malloc(size);
    struct nv_log_ana_header header;
    uint32_t at = 16, namespaces = 0;
    RigLink *admin;

    for (uint32_t i = 0; i < 1023; i++) {
        struct lst_ns *ns = rig_add_ns(rig->subsys, i + 2, &media[i], 512, 512);
        g_autofree char *group = g_strdup_printf("%u", (i + 1) % 128 + 1);

        g_assert_true(lst_ns_set(ns, "ana_grpid", group, NULL));
    }
    admin = rig_admin(rig);
    g_assert_cmpuint(size, <=, RIG_MDTS_BYTES);
    g_assert_cmphex(
        rig_in(admin, host_cmd_get_log(NV_LOG_ANA, NV_NSID_ALL, 0, size, 0, false), log, size), ==,
        0);
    memcpy(&header, log, sizeof(header));
    g_assert_cmpuint(header.ngrps, ==, 128);
    for (unsigned i = 0; i < 128; i++) {
        struct nv_log_ana_group group;

        memcpy(&group, log + at, sizeof(group));
        g_assert_cmpuint(group.grpid, ==, i + 1);
        namespaces += group.nnsids;
        at += 32 + 4 * group.nnsids;
    }
    g_assert_cmpuint(namespaces, ==, 1024);
    g_assert_cmpuint(at, ==, size);
    rig_free(rig);
    for (uint32_t i = 0; i < 1023; i++) {
        g_free(media[i].bytes);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/keepalive/expires_at_the_nanosecond",
                    test_keepalive_expires_at_the_nanosecond);
    g_test_add_func("/keepalive/is_renewed_by_its_command",
                    test_keepalive_is_renewed_by_its_command);
    g_test_add_func("/keepalive/is_renewed_by_io", test_keepalive_is_renewed_by_io);
    g_test_add_func("/keepalive/set_by_feature", test_keepalive_set_by_feature);
    g_test_add_func("/keepalive/expires_while_the_media_works",
                    test_keepalive_expires_while_the_media_works);
    g_test_add_func("/time/does_not_go_back", test_time_does_not_go_back);
    g_test_add_func("/aer/limit", test_aer_limit);
    g_test_add_func("/aer/namespace_notice", test_aer_namespace_notice);
    g_test_add_func("/aer/notice_waits_for_a_request", test_aer_notice_waits_for_a_request);
    g_test_add_func("/aer/notices_that_are_not_enabled", test_aer_notices_that_are_not_enabled);
    g_test_add_func("/aer/ends_with_the_controller", test_aer_ends_with_the_controller);
    g_test_add_func("/ana/log_lists_groups_and_namespaces",
                    test_ana_log_lists_groups_and_namespaces);
    g_test_add_func("/ana/states_and_their_statuses", test_ana_states_and_their_statuses);
    g_test_add_func("/ana/state_is_per_port", test_ana_state_is_per_port);
    g_test_add_func("/ana/log_of_everything_is_below_mdts",
                    test_ana_log_of_everything_is_below_mdts);
    return g_test_run();
}
