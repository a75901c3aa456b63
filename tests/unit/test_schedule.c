/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arithmetic of lockstep rounds (hw/clock/schedule.c): conversions, and what a seed may change.
 * Expected values: arithmetic; bounds as schedule.h states them.
 */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "../../hw/clock/schedule.h"

enum { ROUNDS = 2000, CPUS = 8, QUANTUM = 1000 };

static void test_ticks_and_ns_at_rate_one(void)
{
    g_assert_cmpint(schedule_ticks_to_ns(123456789, 1, 1), ==, 123456789);
    g_assert_cmpint(schedule_ns_to_ticks(123456789, 1, 1), ==, 123456789);
}

static void test_ticks_and_ns_at_three_instructions_in_two_ns(void)
{
    g_assert_cmpint(schedule_ticks_to_ns(3, 3, 2), ==, 2);
    g_assert_cmpint(schedule_ticks_to_ns(4, 3, 2), ==, 2);     /* 2.67 */
    g_assert_cmpint(schedule_ns_to_ticks(2, 3, 2), ==, 3);
    g_assert_cmpint(schedule_ns_to_ticks(1, 3, 2), ==, 2);     /* 1.5: the second tick is past it */
}

static void test_the_first_tick_at_a_time_is_not_before_it(void)
{
    for (uint32_t num = 1; num <= 16; num++) {
        for (uint32_t den = 1; den <= 16; den++) {
            for (int64_t ns = 0; ns < 200; ns++) {
                int64_t tick = schedule_ns_to_ticks(ns, num, den);

                g_assert_cmpint(schedule_ticks_to_ns(tick, num, den), >=, ns);
                if (tick) {
                    g_assert_cmpint(schedule_ticks_to_ns(tick - 1, num, den), <, ns);
                }
            }
        }
    }
}

static void test_conversions_of_a_century_do_not_overflow(void)
{
    int64_t century = INT64_C(100) * 365 * 86400 * 1000000000;

    g_assert_cmpint(schedule_ns_to_ticks(century, 2, 1), ==, 2 * century);
    g_assert_cmpint(schedule_ticks_to_ns(century, 16, 15), ==, century / 16 * 15);
}

static void test_seed_zero_is_the_plain_order_with_full_rounds(void)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint16_t order[CPUS];

        schedule_order(0, round, order, CPUS);
        for (unsigned i = 0; i < CPUS; i++) {
            g_assert_cmpuint(order[i], ==, i);
        }
        g_assert_cmpint(schedule_length(0, round, QUANTUM), ==, QUANTUM);
        g_assert_cmpint(schedule_latency(0, round, 7, QUANTUM), ==, 0);
    }
}

static void test_any_seed_gives_a_permutation_and_every_vcpu_comes_first_at_times(void)
{
    unsigned first[CPUS] = { 0 };

    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint16_t order[CPUS];
        bool seen[CPUS] = { false };

        schedule_order(42, round, order, CPUS);
        for (unsigned i = 0; i < CPUS; i++) {
            g_assert_cmpuint(order[i], <, CPUS);
            g_assert_false(seen[order[i]]);
            seen[order[i]] = true;
        }
        first[order[0]]++;
    }
    for (unsigned i = 0; i < CPUS; i++) {
        g_assert_cmpuint(first[i], >, 0);
    }
}

static void test_lengths_and_latencies_stay_within_their_bounds(void)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        int64_t length = schedule_length(42, round, QUANTUM);
        int64_t latency = schedule_latency(42, round, round % 300, QUANTUM / 2);

        g_assert_cmpint(length, >=, QUANTUM / 2);
        g_assert_cmpint(length, <=, QUANTUM);
        g_assert_cmpint(latency, >=, 0);
        g_assert_cmpint(latency, <=, QUANTUM / 2);
    }
}

static void test_the_same_seed_and_round_give_the_same_and_others_differ(void)
{
    uint16_t one[64], again[64], other[64];

    schedule_order(7, 11, one, 64);
    schedule_order(7, 11, again, 64);
    g_assert_cmpmem(one, sizeof(one), again, sizeof(again));
    schedule_order(8, 11, other, 64);
    g_assert_true(memcmp(one, other, sizeof(one)));
    schedule_order(7, 12, other, 64);
    g_assert_true(memcmp(one, other, sizeof(one)));
    g_assert_cmpuint(schedule_random(7, 1), ==, schedule_random(7, 1));
    g_assert_cmpuint(schedule_random(7, 1), !=, schedule_random(7, 2));
    g_assert_cmpuint(schedule_random(7, 1), !=, schedule_random(8, 1));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/schedule/rate_one", test_ticks_and_ns_at_rate_one);
    g_test_add_func("/schedule/rate_three_halves",
                    test_ticks_and_ns_at_three_instructions_in_two_ns);
    g_test_add_func("/schedule/first_tick", test_the_first_tick_at_a_time_is_not_before_it);
    g_test_add_func("/schedule/century", test_conversions_of_a_century_do_not_overflow);
    g_test_add_func("/schedule/seed_zero", test_seed_zero_is_the_plain_order_with_full_rounds);
    g_test_add_func("/schedule/permutation",
                    test_any_seed_gives_a_permutation_and_every_vcpu_comes_first_at_times);
    g_test_add_func("/schedule/bounds", test_lengths_and_latencies_stay_within_their_bounds);
    g_test_add_func("/schedule/repeatable",
                    test_the_same_seed_and_round_give_the_same_and_others_differ);
    return g_test_run();
}
