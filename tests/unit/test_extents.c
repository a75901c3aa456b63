/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set of blocks: against an array of booleans.
 * Not here: what it is used for (test_uncorrectable.c). No standard.
 */
#include "engine/extents.h"

enum { BLOCKS = 200, ROUNDS = 2000 };

static void compare(const struct lst_extents *set, const bool *model)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < BLOCKS; i++) {
        g_assert_cmpuint(lst_extents_count(set, i, 1), ==, model[i]);
        total += model[i];
    }
    g_assert_cmpuint(set->blocks, ==, total);
    g_assert_cmpuint(lst_extents_count(set, 0, BLOCKS), ==, total);
}

static void test_extents_random_operations(void)
{
    struct lst_extents set = { 0 };
    bool model[BLOCKS] = { false };
    GRand *rand = g_rand_new_with_seed(7);

    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned start = (unsigned)g_rand_int_range(rand, 0, BLOCKS);
        unsigned count = (unsigned)g_rand_int_range(rand, 1, (gint32)MIN(BLOCKS - start, 20) + 1);
        int what = g_rand_int_range(rand, 0, 100);

        if (what == 0) {
            lst_extents_truncate(&set, start);
            count = BLOCKS - start;
        } else if (what < 50) {
            g_assert_true(lst_extents_add(&set, start, count, BLOCKS));
        } else {
            lst_extents_remove(&set, start, count);
        }
        for (unsigned i = start; i < start + count; i++) {
            model[i] = what > 0 && what < 50;
        }
        compare(&set, model);
    }
    lst_extents_clear(&set);
    g_assert_cmpuint(lst_extents_count(&set, 0, BLOCKS), ==, 0);
    g_rand_free(rand);
}

static void test_extents_neighbours_become_one(void)
{
    struct lst_extents set = { 0 };

    g_assert_true(lst_extents_add(&set, 10, 10, 100));
    g_assert_true(lst_extents_add(&set, 30, 10, 100));
    g_assert_cmpint(g_sequence_get_length(set.ranges), ==, 2);
    g_assert_true(lst_extents_add(&set, 20, 10, 100));
    g_assert_cmpint(g_sequence_get_length(set.ranges), ==, 1);
    g_assert_true(lst_extents_add(&set, 9, 1, 100));
    g_assert_true(lst_extents_add(&set, 40, 1, 100));
    g_assert_cmpint(g_sequence_get_length(set.ranges), ==, 1);
    lst_extents_remove(&set, 20, 1);
    g_assert_cmpint(g_sequence_get_length(set.ranges), ==, 2);
    lst_extents_clear(&set);
}

/* What is in the set already counts once. */
static void test_extents_limit(void)
{
    struct lst_extents set = { 0 };

    g_assert_true(lst_extents_add(&set, 0, 8, 10));
    g_assert_false(lst_extents_add(&set, 7, 4, 10));
    g_assert_cmpuint(set.blocks, ==, 8);
    g_assert_true(lst_extents_add(&set, 7, 3, 10));
    g_assert_false(lst_extents_add(&set, UINT64_MAX - 1, 1, 10));
    lst_extents_remove(&set, 3, 1);
    g_assert_true(lst_extents_add(&set, UINT64_MAX - 1, 1, 10));
    lst_extents_truncate(&set, 5);
    g_assert_cmpuint(set.blocks, ==, 4);
    lst_extents_clear(&set);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extents/random_operations", test_extents_random_operations);
    g_test_add_func("/extents/neighbours_become_one", test_extents_neighbours_become_one);
    g_test_add_func("/extents/limit", test_extents_limit);
    return g_test_run();
}
