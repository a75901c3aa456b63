/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection that goes from one target to another between its ICReq and its Connect.
 * Not here: when a front does that (tests/daemon/test_threads.py).
 * NVMe/TCP transport specification 1.0, section 3.3.1.
 */
#include <string.h>

#include "rig.h"

/* What the host queue sends next goes to @to; its rig pumps from now on. */
static bool move(RigLink *link, Rig *to)
{
    struct lst_conn_info info = { .opaque = link, .peer = "10.0.0.1:1" };
    struct lst_conn_pass pass;

    if (!lst_conn_leave(link->conn, &pass)) {
        return false;
    }
    g_assert_true(g_ptr_array_remove(link->rig->links, link));
    link->conn = lst_conn_enter(to->target, to->port, &info, &pass);
    link->rig = to;
    g_ptr_array_add(to->links, link);
    return true;
}

static uint16_t connect_admin(RigLink *link)
{
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);

    return rig_do(link, host_cmd_connect(0, RIG_ADMIN_ENTRIES - 1, 0, 0), HOST_DATA_OUT_CAPSULE, &data,
                  sizeof(data), NULL);
}

static void test_pass_keeps_what_the_icreq_settled(void)
{
    for (unsigned digests = 0; digests < 4; digests++) {
        Rig *from = rig_new(), *to = rig_new();
        HostQueueConfig config = rig_admin_config();
        struct lst_conn_stats stats;
        RigLink *link;

        config.header_digest = digests & 1;
        config.data_digest = digests & 2;
        link = rig_link(from, NULL, &config);
        g_assert_true(move(link, to));
        lst_conn_get_stats(link->conn, &stats);
        g_assert_cmpuint(stats.id, ==, 1);
        g_assert_cmpuint(stats.counters.rx_bytes, ==, 128);
        g_assert_cmpuint(stats.counters.tx_bytes, ==, 128);
        g_assert_cmpint(stats.header_digest, ==, digests & 1);
        g_assert_cmpint(stats.data_digest, ==, !!(digests & 2));
        g_assert_cmphex(connect_admin(link), ==, 0);
        g_assert_cmpuint(from->events[LST_EVENT_CONN_CLOSED], ==, 0);
        g_assert_cmpuint(to->events[LST_EVENT_CONN_OPEN], ==, 0);
        g_assert_cmpuint(to->events[LST_EVENT_CTRL_NEW], ==, 1);
        rig_free(to);
        rig_free(from);
    }
}

static void test_pass_is_for_connections_between_icreq_and_connect(void)
{
    Rig *from = rig_new(), *to = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *raw = rig_link_raw(from, from->port), *link = rig_link(from, NULL, &config);
    struct lst_conn_pass pass;

    g_assert_false(lst_conn_leave(raw->conn, &pass));           /* no ICReq yet */
    g_assert_cmphex(connect_admin(link), ==, 0);
    g_assert_false(move(link, to));                             /* it is a queue already */
    link = rig_link(from, NULL, &config);
    rig_send(link, "\x04", 1);
    g_assert_false(lst_conn_leave(link->conn, &pass));          /* a PDU has begun */
    rig_free(to);
    rig_free(from);
}

/* The time for the Connect begins again. */
static void test_pass_does_not_end_the_wait_for_a_connect(void)
{
    Rig *from = rig_new(), *to = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *link = rig_link(from, NULL, &config);

    g_assert_true(move(link, to));
    rig_advance(to, 30 * RIG_S - 1);
    g_assert_false(link->closed);
    rig_advance(to, 1);
    g_assert_true(link->closed);
    rig_free(to);
    rig_free(from);
}

static void test_connect_to_what_another_target_serves_is_told_busy(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_admin_config();

    rig->elsewhere = RIG_NQN;
    g_assert_cmphex(connect_admin(rig_link(rig, NULL, &config)), ==, NVF_SC_CONTROLLER_BUSY);
    rig->elsewhere = NULL;
    g_assert_cmphex(connect_admin(rig_link(rig, NULL, &config)), ==, 0);
    rig_free(rig);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pass/keeps_what_the_icreq_settled", test_pass_keeps_what_the_icreq_settled);
    g_test_add_func("/pass/is_for_connections_between_icreq_and_connect",
                    test_pass_is_for_connections_between_icreq_and_connect);
    g_test_add_func("/pass/does_not_end_the_wait_for_a_connect",
                    test_pass_does_not_end_the_wait_for_a_connect);
    g_test_add_func("/pass/connect_to_what_another_target_serves_is_told_busy",
                    test_connect_to_what_another_target_serves_is_told_busy);
    return g_test_run();
}
