/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of commands, the histogram behind them, and the limits of a target.
 * Not here: how they are shown (tests/daemon).
 * No standard; expected values are arithmetic and virtual time.
 */
#include <string.h>

#include "engine/histogram.h"
#include "rig.h"

/* ---- Histogram */

static void check_bucket(uint64_t value)
{
    unsigned bucket = lst_histogram_bucket(value);
    uint64_t below = bucket ? lst_histogram_limit(bucket - 1) + 1 : 0;
    uint64_t limit = lst_histogram_limit(bucket);

    g_assert_cmpuint(bucket, <, LST_HISTOGRAM_BUCKETS);
    g_assert_cmpuint(value, >=, below);
    g_assert_cmpuint(value, <=, limit);
    /* Exact below 8, then an eighth of a power of two. */
    g_assert_cmpuint(limit - below, <=, value / 8);
}

static void test_histogram_buckets(void)
{
    for (uint64_t value = 0; value < 100000; value++) {
        check_bucket(value);
    }
    for (unsigned bit = 3; bit < 40; bit++) {
        check_bucket((1ull << bit) - 1);
        check_bucket(1ull << bit);
        check_bucket((1ull << bit) + 1);
        g_assert_cmpuint(lst_histogram_bucket(1ull << bit), ==,
                         lst_histogram_bucket((1ull << bit) - 1) + 1);
    }
}

static void test_histogram_ends(void)
{
    const unsigned last = LST_HISTOGRAM_BUCKETS - 1;

    g_assert_cmpuint(LST_HISTOGRAM_BUCKETS, ==, 304); /* (40 - 3 + 1) * 8 */
    g_assert_cmpuint(lst_histogram_limit(last), ==, (1ull << 40) - 1);
    g_assert_cmpuint(lst_histogram_bucket((1ull << 40) - 1), ==, last);
    g_assert_cmpuint(lst_histogram_bucket(1ull << 40), ==, last);
    g_assert_cmpuint(lst_histogram_bucket(UINT64_MAX), ==, last);
}

static void test_histogram_quantiles(void)
{
    uint64_t buckets[LST_HISTOGRAM_BUCKETS] = { 0 };

    g_assert_cmpuint(lst_histogram_quantile(buckets, 500000), ==, 0);
    for (unsigned value = 0; value < 8; value++) {
        buckets[value] = 1;
    }
    g_assert_cmpuint(lst_histogram_quantile(buckets, 0), ==, 0);
    g_assert_cmpuint(lst_histogram_quantile(buckets, 125000), ==, 0);
    g_assert_cmpuint(lst_histogram_quantile(buckets, 125001), ==, 1);
    g_assert_cmpuint(lst_histogram_quantile(buckets, 500000), ==, 3);
    g_assert_cmpuint(lst_histogram_quantile(buckets, 1000000), ==, 7);
    /* One in a thousand: 99.9% do not include it, anything more does. */
    memset(buckets, 0, sizeof(buckets));
    buckets[1] = 999;
    buckets[LST_HISTOGRAM_BUCKETS - 1] = 1;
    g_assert_cmpuint(lst_histogram_quantile(buckets, 999000), ==, 1);
    g_assert_cmpuint(lst_histogram_quantile(buckets, 999001), ==, (1ull << 40) - 1);
    /* Counts that would pass 64 bits when multiplied. */
    buckets[1] = UINT64_MAX / 4;
    g_assert_cmpuint(lst_histogram_quantile(buckets, 999000), ==, 1);
}

/* ---- Commands */

typedef struct Found {
    enum lst_command_kind kind;
    unsigned opcode;
    struct lst_command_stats stats;
    unsigned entries;
} Found;

static void look(void *opaque, const struct lst_command_stats *stats)
{
    Found *found = opaque;

    if (stats->kind == found->kind && stats->opcode == found->opcode) {
        found->stats = *stats;
        found->entries++;
    }
}

static struct lst_command_stats of_target(Rig *rig, enum lst_command_kind kind, unsigned opcode)
{
    Found found = { .kind = kind, .opcode = opcode };

    lst_target_each_command(rig->target, look, &found);
    g_assert_cmpuint(found.entries, <=, 1);
    return found.stats;
}

static void test_stats_latency_is_that_of_the_device(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;
    struct lst_command_stats stats;

    s.rig->defer = true;
    for (unsigned ms = 1; ms <= 3; ms++) {
        rig_submit(s.io, host_cmd_rw(NV_IO_READ, 1, 0, 8, 0), HOST_DATA_IN, s.in, 4096, &result);
        rig_advance(s.rig, ms * RIG_MS);
        rig_complete_io(s.rig, 0);
        g_assert_true(result.done);
    }
    stats = of_target(s.rig, LST_KIND_IO, NV_IO_READ);
    g_assert_cmpuint(stats.count, ==, 3);
    g_assert_cmpuint(stats.errors, ==, 0);
    g_assert_cmpuint(stats.bytes, ==, 3 * 4096);
    g_assert_cmpuint(stats.time_ns, ==, 6 * RIG_MS);
    g_assert_cmpuint(stats.longest_ns, ==, 3 * RIG_MS);
    for (unsigned ms = 1; ms <= 3; ms++) {
        g_assert_cmpuint(stats.buckets[lst_histogram_bucket(ms * RIG_MS)], ==, 1);
    }
    rig_io_teardown(&s);
}

static void test_stats_errors_and_opcodes_that_do_not_exist(void)
{
    RigIo s = rig_io_setup(NULL);
    struct lst_command_stats stats;

    g_assert_cmphex(rig_rw(&s, NV_IO_READ, RIG_BLOCKS, 512, HOST_DATA_IN), ==, NV_SC_LBA_RANGE);
    for (unsigned opcode = 0x60; opcode < 0x70; opcode++) {
        g_assert_cmphex(rig_run(s.io, host_cmd((uint8_t)opcode, 1)), ==, NV_SC_INVALID_OPCODE);
    }
    stats = of_target(s.rig, LST_KIND_IO, NV_IO_READ);
    g_assert_cmpuint(stats.count, ==, 1);
    g_assert_cmpuint(stats.errors, ==, 1);
    g_assert_cmpuint(stats.bytes, ==, 0);
    stats = of_target(s.rig, LST_KIND_IO, LST_OPCODE_INVALID);
    g_assert_cmpuint(stats.count, ==, 16);
    g_assert_cmpuint(stats.errors, ==, 16);
    rig_io_teardown(&s);
}

static void test_stats_outlive_their_connection(void)
{
    RigIo s = rig_io_setup(NULL);
    struct lst_command_stats stats;

    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 0, 4096, HOST_DATA_OUT_R2T), ==, 0);
    rig_unlink(s.io);
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 0, 512, HOST_DATA_OUT_R2T), ==, 0);
    stats = of_target(s.rig, LST_KIND_IO, NV_IO_WRITE);
    g_assert_cmpuint(stats.count, ==, 2);
    g_assert_cmpuint(stats.bytes, ==, 4096 + 512);
    /* Three Connects, and the Property Set that enables the controller. */
    g_assert_cmpuint(of_target(s.rig, LST_KIND_FABRICS, 0x7f).count, >=, 4);
    rig_io_teardown(&s);
}

static void test_stats_waiting_event_requests_have_no_latency(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult event;
    struct lst_command_stats stats;

    g_assert_cmphex(rig_run(s.admin, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 1u << 8)), ==, 0);
    rig_submit(s.admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &event);
    rig_advance(s.rig, RIG_S);
    g_assert_true(lst_ns_enable(s.rig->ns, false, NULL));
    rig_pump(s.rig);
    g_assert_true(event.done);
    stats = of_target(s.rig, LST_KIND_ADMIN, NV_ADMIN_ASYNC_EVENT);
    g_assert_cmpuint(stats.count, ==, 1);
    g_assert_cmpuint(stats.time_ns, ==, 0);
    rig_io_teardown(&s);
}

/* ---- Limits */

static void test_limit_handshake(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *silent, *half;

    g_assert_true(lst_target_set(rig->target, "limit_handshake", "5", NULL));
    silent = rig_link_raw(rig, rig->port);
    half = rig_link(rig, NULL, &config);
    rig_advance(rig, 5 * RIG_S - 1);
    g_assert_false(silent->closed || half->closed);
    rig_advance(rig, 1);
    g_assert_true(silent->closed && half->closed);
    /* The ICReq has ten seconds however long all may take. */
    g_assert_true(lst_target_set(rig->target, "limit_handshake", "60", NULL));
    silent = rig_link_raw(rig, rig->port);
    half = rig_link(rig, NULL, &config);
    rig_advance(rig, 10 * RIG_S);
    g_assert_true(silent->closed);
    rig_advance(rig, 50 * RIG_S - 1);
    g_assert_false(half->closed);
    rig_advance(rig, 1);
    g_assert_true(half->closed);
    rig_free(rig);
}

static void test_limit_idle(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *without = rig_admin_to(rig, NULL, NULL, &config, 0);
    RigLink *with = rig_admin_to(rig, NULL, NULL, &config, 100000);

    rig_advance(rig, 50 * RIG_S);
    g_assert_true(lst_target_set(rig->target, "limit_idle", "10", NULL));
    rig_advance(rig, 9 * RIG_S);
    g_assert_cmphex(rig_run(without, host_cmd(NV_ADMIN_KEEP_ALIVE, 0)), ==, 0);
    rig_advance(rig, 10 * RIG_S - 1);
    g_assert_false(without->closed);
    rig_advance(rig, 1);
    g_assert_true(without->closed);
    g_assert_false(with->closed);
    rig_free(rig);
}

static void test_limit_memory_leaves_each_connection_one_transfer(void)
{
    RigIo s = rig_io_setup(NULL);
    RigLink *second = rig_io(s.rig, s.admin, 2, NULL);
    RigResult results[6];

    s.rig->defer = true;
    g_assert_true(lst_target_set(s.rig->target, "limit_memory", "4096", NULL));
    for (unsigned i = 0; i < 6; i++) {
        rig_submit(i % 2 ? second : s.io, host_cmd_rw(NV_IO_READ, 1, 8 * i, 8, 0), HOST_DATA_IN,
                   s.in + 4096 * i, 4096, &results[i]);
    }
    for (unsigned i = 0; i < 6; i++) {
        g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, i == 5 ? 1 : 2);
        rig_complete_io(s.rig, 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        g_assert_true(results[i].done);
        g_assert_cmphex(results[i].status, ==, 0);
    }
    /* Without the limit all are at the backend at once. */
    g_assert_true(lst_target_set(s.rig->target, "limit_memory", "0", NULL));
    for (unsigned i = 0; i < 6; i++) {
        rig_submit(s.io, host_cmd_rw(NV_IO_READ, 1, 8 * i, 8, 0), HOST_DATA_IN, s.in + 4096 * i,
                   4096, &results[i]);
    }
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 6);
    while (!g_queue_is_empty(&s.rig->ios)) {
        rig_complete_io(s.rig, 0);
    }
    rig_io_teardown(&s);
}

static void test_limit_wrong_values(void)
{
    static const struct {
        const char *key, *value, *message;
    } rows[] = {
        { "limit_handshake", "0", "limit_handshake: '0' is not allowed: a number from 1 to 3600" },
        { "limit_idle", "86401", "limit_idle: '86401' is not allowed: a number from 0 to 86400" },
        { "limit_memory", "1K",
          "limit_memory: '1K' is not allowed: a number of bytes, or 0 for no limit" },
        { "limit", "1",
          "limit: no such attribute; there are limit_handshake, limit_idle, limit_memory" },
    };
    Rig *rig = rig_new();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        GError *error = NULL;

        g_assert_false(lst_target_set(rig->target, rows[i].key, rows[i].value, &error));
        g_assert_cmpstr(error->message, ==, rows[i].message);
        g_error_free(error);
    }
    rig_free(rig);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stats/histogram_buckets", test_histogram_buckets);
    g_test_add_func("/stats/histogram_ends", test_histogram_ends);
    g_test_add_func("/stats/histogram_quantiles", test_histogram_quantiles);
    g_test_add_func("/stats/latency_is_that_of_the_device",
                    test_stats_latency_is_that_of_the_device);
    g_test_add_func("/stats/errors_and_opcodes_that_do_not_exist",
                    test_stats_errors_and_opcodes_that_do_not_exist);
    g_test_add_func("/stats/outlive_their_connection", test_stats_outlive_their_connection);
    g_test_add_func("/stats/waiting_event_requests_have_no_latency",
                    test_stats_waiting_event_requests_have_no_latency);
    g_test_add_func("/limit/handshake", test_limit_handshake);
    g_test_add_func("/limit/idle", test_limit_idle);
    g_test_add_func("/limit/memory_leaves_each_connection_one_transfer",
                    test_limit_memory_leaves_each_connection_one_transfer);
    g_test_add_func("/limit/wrong_values", test_limit_wrong_values);
    return g_test_run();
}
