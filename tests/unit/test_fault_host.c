/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host that follows the standard makes of each fault: the host queue's own verdict.
 * Not here: the bytes (test_fault.c).
 * NVMe/TCP transport specification 1.0, sections 3.3 to 3.6 (FES and FEI of a host's TermReq).
 */
#include <string.h>

#include "fault_rig.h"

enum { US = 1000 };                     /* ns */

typedef enum Command { READ, WRITE, FLUSH } Command;

static void submit(RigIo *s, Command command, uint64_t slba, RigResult *result)
{
    if (command == FLUSH) {
        rig_submit(s->io, host_cmd(NV_IO_FLUSH, 1), HOST_DATA_NONE, NULL, 0, result);
    } else if (command == READ) {
        rig_submit(s->io, host_cmd_rw(NV_IO_READ, 1, slba, 8, 0), HOST_DATA_IN, s->in, 4096,
                   result);
    } else {
        rig_submit(s->io, host_cmd_rw(NV_IO_WRITE, 1, slba, 8, 0), HOST_DATA_OUT_R2T, s->out, 4096,
                   result);
    }
}

static RigIo setup(bool digests, bool no_flow_control)
{
    HostQueueConfig config = rig_io_config();
    RigIo s;

    config.header_digest = config.data_digest = digests;
    config.no_sq_flow_control = no_flow_control;
    s = rig_io_setup(&config);
    s.io->fault_expected = true;
    rig_pattern(s.rig->media.bytes, RIG_BLOCKS * RIG_BLOCK, 5);
    return s;
}

/* The host ends the connection and says why; or the target does, after the host's answer. */
static void test_broken_protocol(void)
{
    static const struct {
        const char *rule;
        Command command;
        bool by_controller;
        uint16_t fes;
        uint32_t fei;
    } rows[] = {
        /* Wrong header fields: FES 1, FEI is the field's offset. */
        { "pdu=c2h-data action=set field=type value=8", READ, false, 1, 0 },
        { "pdu=c2h-data action=set field=flags value=0x14", READ, false, 1, 1 },
        { "pdu=c2h-data action=set field=hlen value=25", READ, false, 1, 2 },
        { "pdu=c2h-data action=set field=pdo value=0", READ, false, 1, 3 },
        { "pdu=capsule-resp action=set field=plen value=0", FLUSH, false, 1, 4 },
        { "pdu=c2h-data action=set field=cccid xor=0x40", READ, false, 1, 8 },
        { "pdu=c2h-data action=set field=datal value=0", READ, false, 1, 16 },
        { "pdu=c2h-data action=set field=datao value=0xffffffff", READ, false, 4, 0 },
        { "pdu=capsule-resp action=set field=cid xor=0x20", FLUSH, false, 1, 20 },
        { "pdu=capsule-resp action=set field=status value=1", FLUSH, false, 1, 22 },
        { "pdu=capsule-resp action=set field=sqhd value=60", FLUSH, false, 1, 16 },
        { "pdu=r2t action=set field=cccid xor=0x40", WRITE, false, 1, 8 },
        { "pdu=r2t action=set field=r2tl value=0", WRITE, false, 1, 16 },
        { "pdu=r2t action=set field=r2tl value=4100", WRITE, false, 4, 0 },
        { "pdu=r2t action=set field=r2to value=4", WRITE, false, 4, 0 },
        { "pdu=capsule-cmd opcode=2 action=r2t", READ, false, 1, 8 },
        { "pdu=capsule-cmd opcode=1 action=r2t bytes=0", WRITE, false, 1, 16 },
        /* What a host cannot see comes back to the target. */
        { "pdu=r2t action=set field=ttag xor=0x7ff", WRITE, true, 1, 10 },
        { "pdu=r2t action=set field=r2tl value=512", WRITE, true, 2, 0 },
        /* Order: a second completion, a second time the data, too few of them. */
        { "pdu=capsule-resp action=duplicate", FLUSH, false, 1, 20 },
        { "pdu=c2h-data action=duplicate", READ, false, 2, 0 },
        { "pdu=c2h-data action=drop", READ, false, 2, 0 },
        { "pdu=r2t action=duplicate", WRITE, false, 2, 0 },
        /* TermReq as the rule says. */
        { "pdu=capsule-cmd opcode=0 action=term fes=6 fei=8", FLUSH, true, 6, 8 },
        { "pdu=c2h-data action=term fes=4", READ, true, 4, 0 },
        { "pdu=r2t action=term fes=2", WRITE, true, 2, 0 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        RigIo s = setup(false, false);
        const HostFault *fault;
        RigResult result;

        g_test_message("%s", rows[i].rule);
        fault_add(s.rig, rows[i].rule);
        submit(&s, rows[i].command, 0, &result);
        fault = host_queue_fault(s.io->host);
        g_assert_nonnull(fault);
        g_assert_cmpint(fault->by_controller, ==, rows[i].by_controller);
        g_assert_cmpuint(fault->fes, ==, rows[i].fes);
        g_assert_cmphex(fault->fei, ==, rows[i].fei);
        rig_io_teardown(&s);
    }
}

static void test_digests(void)
{
    static const struct {
        const char *rule;
        Command command;
        bool header;
    } rows[] = {
        { "pdu=c2h-data action=corrupt part=header offset=17", READ, true },
        { "pdu=c2h-data action=corrupt part=header-digest offset=0 mask=1", READ, true },
        { "pdu=capsule-resp action=corrupt part=header offset=12", FLUSH, true },
        { "pdu=r2t action=corrupt part=header offset=16 seed=3", WRITE, true },
        { "pdu=c2h-data action=corrupt part=data seed=4", READ, false },
        { "pdu=c2h-data action=corrupt part=data-digest seed=5", READ, false },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        RigIo s = setup(true, false);
        RigResult result;

        g_test_message("%s", rows[i].rule);
        fault_add(s.rig, rows[i].rule);
        submit(&s, rows[i].command, 0, &result);
        if (rows[i].header) {
            g_assert_nonnull(host_queue_fault(s.io->host));
            g_assert_cmpuint(host_queue_fault(s.io->host)->fes, ==, NVTCP_FES_HDGST);
            g_assert_false(result.done);
        } else {
            g_assert_null(host_queue_fault(s.io->host));
            g_assert_true(result.done);
            g_assert_true(result.completion.data_digest_error);
        }
        rig_io_teardown(&s);
    }
}

/* Without digests nobody notices: this is what they are for. */
static void test_silent_corruption(void)
{
    RigIo s = setup(false, true);
    RigResult result;

    fault_add(s.rig, "pdu=c2h-data action=corrupt part=data offset=100 mask=0x40");
    submit(&s, READ, 16, &result);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, 0);
    g_assert_cmphex(s.in[100], ==, s.rig->media.bytes[16 * RIG_BLOCK + 100] ^ 0x40);
    s.in[100] ^= 0x40;
    g_assert_cmpmem(s.in, 4096, s.rig->media.bytes + 16 * RIG_BLOCK, 4096);
    rig_io_teardown(&s);
}

static void test_status(void)
{
    for (unsigned dnr = 0; dnr < 2; dnr++) {
        g_autofree char *rule = g_strdup_printf(
            "pdu=capsule-cmd opcode=1 action=status status=0x280 dnr=%u limit=1", dnr);
        RigIo s = setup(false, true);
        RigResult result;

        fault_add(s.rig, rule);
        submit(&s, WRITE, 0, &result);
        g_assert_true(result.done);
        g_assert_cmphex(result.status, ==, 0x280);
        g_assert_cmpint(result.dnr, ==, dnr);
        g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
        rig_round_trip(&s, 0, 4096, HOST_DATA_OUT_R2T, 1);
        rig_io_teardown(&s);
    }
}

/* Executed all the same: the host hears of a failure that was none. */
static void test_status_after_execution(void)
{
    RigIo s = setup(false, false);
    RigResult result;

    /* SCT 0, SC 06, as it stands in the CQE: one bit up. */
    fault_add(s.rig, "pdu=capsule-resp opcode=1 action=set field=status value=0xc");
    rig_pattern(s.out, 4096, 77);
    submit(&s, WRITE, 0, &result);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, NV_SC_INTERNAL);
    g_assert_cmpmem(s.rig->media.bytes, 4096, s.out, 4096);
    rig_io_teardown(&s);
}

/* The host waits; its own time-out is all that helps it. */
static void test_commands_without_an_answer(void)
{
    static const struct {
        const char *rule;
        Command command;
    } rows[] = {
        { "pdu=capsule-cmd action=drop", READ },
        { "pdu=capsule-resp action=drop", FLUSH },
        { "pdu=h2c-data action=drop", WRITE },
        { "pdu=r2t action=drop", WRITE },
        { "pdu=capsule-resp action=stall", READ },
        { "pdu=c2h-data action=truncate bytes=100", READ },
        { "pdu=r2t action=truncate bytes=10", WRITE },
        { "pdu=capsule-cmd action=half-open", WRITE },
        { "pdu=h2c-data action=half-open", WRITE },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        RigIo s = setup(false, false);
        RigResult result;

        g_test_message("%s", rows[i].rule);
        fault_add(s.rig, rows[i].rule);
        submit(&s, rows[i].command, 0, &result);
        rig_advance(s.rig, 60 * RIG_S);
        g_assert_false(result.done);
        g_assert_null(host_queue_fault(s.io->host));
        g_assert_false(s.io->closed);
        rig_io_teardown(&s);
    }
}

static void test_keep_alive_is_never_answered(void)
{
    HostQueueConfig config = rig_admin_config();
    Rig *rig = rig_new();
    RigLink *admin = rig_admin_to(rig, NULL, NULL, &config, 5000);
    RigResult results[3];

    fault_add(rig, "pdu=capsule-cmd queue=admin opcode=0x18 action=drop");
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        rig_submit(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0), HOST_DATA_NONE, NULL, 0, &results[i]);
        rig_advance(rig, 2500 * RIG_MS);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        g_assert_false(results[i].done);
    }
    /* The controller lives: it has seen them. */
    g_assert_cmphex(rig_run(admin, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 0)), ==, 0);
    rig_free(rig);
}

static void test_completions_in_another_order(void)
{
    for (unsigned no_flow_control = 0; no_flow_control < 2; no_flow_control++) {
        RigIo s = setup(true, no_flow_control);
        RigResult results[4];

        fault_add(s.rig, no_flow_control ? "pdu=c2h-data nth=1 action=reorder pass=2" :
                                           "pdu=capsule-resp opcode=2 nth=1 action=reorder pass=2");
        for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
            submit(&s, READ, i * 8, &results[i]);
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
            g_assert_true(results[i].done);
            g_assert_cmphex(results[i].status, ==, 0);
        }
        g_assert_cmpuint(results[1].order, <, results[2].order);
        g_assert_cmpuint(results[2].order, <, results[0].order);
        g_assert_cmpuint(results[0].order, <, results[3].order);
        g_assert_null(host_queue_fault(s.io->host));
        rig_io_teardown(&s);
    }
}

static void test_closed_under_a_command(void)
{
    static const char *const actions[] = { "close", "rst" };

    for (unsigned i = 0; i < G_N_ELEMENTS(actions); i++) {
        g_autofree char *rule =
            g_strdup_printf("pdu=capsule-cmd opcode=1 nth=3 action=%s", actions[i]);
        RigIo s = setup(true, false);
        RigResult results[3];

        fault_add(s.rig, rule);
        for (unsigned n = 0; n < 3; n++) {
            submit(&s, WRITE, 0, &results[n]);
        }
        g_assert_true(results[1].done);
        g_assert_false(results[2].done);
        g_assert_true(s.io->closed);
        g_assert_cmpint(s.io->reset, ==, i);
        /* The queue can be connected again at once. */
        rig_unlink(s.io);
        s.io = rig_io(s.rig, s.admin, 1, NULL);
        rig_round_trip(&s, 0, 4096, HOST_DATA_OUT_R2T, 1);
        rig_io_teardown(&s);
    }
}

/* 3.6.2.3: what a host has to check in ICResp. */
static void test_icresp(void)
{
    static const struct {
        const char *rule;
        uint16_t fes;
        uint32_t fei;
    } rows[] = {
        { "field=pfv value=1", 6, 8 },
        { "field=cpda value=32", 1, 10 },
        { "field=dgst value=1", 1, 11 },
        { "field=maxh2cdata value=4092", 1, 12 },
        { "field=maxh2cdata value=4098", 1, 12 },
        { "field=hlen value=127", 1, 2 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *rule = g_strdup_printf("pdu=icresp action=set %s", rows[i].rule);
        HostQueueConfig config = rig_admin_config();
        Rig *rig = rig_new();
        RigLink *link = rig_link_raw(rig, NULL);

        fault_add(rig, rule);
        link->host = host_queue_new(&config);
        link->fault_expected = true;
        host_queue_start(link->host);
        rig_pump(rig);
        g_assert_nonnull(host_queue_fault(link->host));
        g_assert_cmpuint(host_queue_fault(link->host)->fes, ==, rows[i].fes);
        g_assert_cmphex(host_queue_fault(link->host)->fei, ==, rows[i].fei);
        rig_free(rig);
    }
}

/* Late, but in order: nothing is wrong for the host, whatever the pieces of the stream. */
static void test_delays_change_nothing_but_time(void)
{
    RigIo s = setup(true, false);
    RigResult results[32];

    fault_add(s.rig, "pdu=capsule-cmd action=delay us=300 probability_ppm=300000 seed=1");
    fault_add(s.rig, "pdu=capsule-resp action=delay us=200 probability_ppm=300000 seed=2");
    fault_add(s.rig, "pdu=r2t action=delay us=100 probability_ppm=300000 seed=3");
    fault_add(s.rig, "pdu=capsule-resp action=reorder pass=3 probability_ppm=200000 seed=4");
    fault_add(s.rig, "pdu=c2h-data action=stall us=50 probability_ppm=100000 seed=5");
    s.io->to_target = s.io->to_host = 1000;
    s.io->split = g_rand_new_with_seed(1);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
            submit(&s, i % 3 == 0 ? READ : i % 3 == 1 ? WRITE : FLUSH, i * 8, &results[i]);
            rig_advance(s.rig, 10 * US);
        }
        /* One fault may begin when another has ended: command, R2T, completion, its order. */
        for (unsigned step = 0; step < 8; step++) {
            rig_advance(s.rig, RIG_S);
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
            g_assert_true(results[i].done);
            g_assert_cmphex(results[i].status, ==, 0);
        }
    }
    g_assert_null(host_queue_fault(s.io->host));
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fault_host/broken_protocol", test_broken_protocol);
    g_test_add_func("/fault_host/digests", test_digests);
    g_test_add_func("/fault_host/silent_corruption", test_silent_corruption);
    g_test_add_func("/fault_host/status", test_status);
    g_test_add_func("/fault_host/status_after_execution", test_status_after_execution);
    g_test_add_func("/fault_host/commands_without_an_answer", test_commands_without_an_answer);
    g_test_add_func("/fault_host/keep_alive_is_never_answered", test_keep_alive_is_never_answered);
    g_test_add_func("/fault_host/completions_in_another_order", test_completions_in_another_order);
    g_test_add_func("/fault_host/closed_under_a_command", test_closed_under_a_command);
    g_test_add_func("/fault_host/icresp", test_icresp);
    g_test_add_func("/fault_host/delays_change_nothing_but_time",
                    test_delays_change_nothing_but_time);
    return g_test_run();
}
