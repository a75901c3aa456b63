/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target-bench's parts: percentiles against arithmetic, the pattern against damage, the command
 * line.
 * Not here: connections and runs (tests/daemon/test_bench.py).
 */
#include <glib.h>
#include <string.h>

#include "bench/histogram.h"
#include "bench/options.h"
#include "bench/pattern.h"

/* ---- Histogram */

static void test_histogram_small_values_are_exact(void)
{
    g_autofree Histogram *h = g_new0(Histogram, 1);

    g_assert_cmpuint(histogram_quantile(h, 500000), ==, 0);
    for (unsigned i = 1; i <= 100; i++) {
        histogram_add(h, i);
    }
    g_assert_cmpuint(h->count, ==, 100);
    g_assert_cmpuint(h->sum, ==, 5050);
    g_assert_cmpuint(h->min, ==, 1);
    g_assert_cmpuint(h->max, ==, 100);
    g_assert_cmpuint(histogram_quantile(h, 1), ==, 1);
    g_assert_cmpuint(histogram_quantile(h, 500000), ==, 50);
    g_assert_cmpuint(histogram_quantile(h, 500001), ==, 51);
    g_assert_cmpuint(histogram_quantile(h, 990000), ==, 99);
    g_assert_cmpuint(histogram_quantile(h, 1000000), ==, 100);
}

static void test_histogram_every_value_is_within_one_part_of_128(void)
{
    for (uint64_t value = 1; value < UINT64_C(1) << 62; value += value / 3 + 1) {
        g_autofree Histogram *h = g_new0(Histogram, 1);
        uint64_t got;

        histogram_add(h, value);
        histogram_add(h, UINT64_MAX);       /* so that the maximum does not help */
        got = histogram_quantile(h, 500000);
        g_assert_cmpuint(got, >=, value);
        g_assert_cmpuint(got - value, <=, value / 128);
        g_assert_cmpuint(histogram_quantile(h, 1000000), ==, UINT64_MAX);
    }
}

static void test_histogram_merge_is_as_if_counted_together(void)
{
    g_autofree Histogram *a = g_new0(Histogram, 1), *b = g_new0(Histogram, 1);
    g_autofree Histogram *both = g_new0(Histogram, 1), *none = g_new0(Histogram, 1);

    for (uint64_t i = 0; i < 1000; i++) {
        histogram_add(i % 3 ? a : b, i * i);
        histogram_add(both, i * i);
    }
    histogram_merge(a, b);
    histogram_merge(a, none);
    g_assert_cmpmem(a, sizeof(*a), both, sizeof(*both));
    histogram_merge(none, both);
    g_assert_cmpmem(none, sizeof(*none), both, sizeof(*both));
}

/* ---- Pattern */

static void test_pattern_is_recognised(void)
{
    Pattern pattern = {.seed = 1, .offset = 8192, .generation = 3};
    uint8_t bytes[4096];

    pattern_fill(&pattern, bytes, sizeof(bytes));
    g_assert_null(pattern_check(&pattern, bytes, sizeof(bytes)));
}

static void test_pattern_shows_every_flipped_bit(void)
{
    Pattern pattern = {.seed = 1, .offset = 0, .generation = 1};
    uint8_t bytes[1024];

    pattern_fill(&pattern, bytes, sizeof(bytes));
    for (unsigned bit = 0; bit < sizeof(bytes) * 8; bit++) {
        g_autofree char *why = NULL;

        bytes[bit / 8] ^= 1 << bit % 8;
        why = pattern_check(&pattern, bytes, sizeof(bytes));
        g_assert_nonnull(why);
        bytes[bit / 8] ^= 1 << bit % 8;
    }
}

static void test_pattern_tells_what_is_wrong(void)
{
    static const struct {
        Pattern other;
        const char *why;
    } rows[] = {
        { {1, 4096, 1}, "offset 4096: seed 1 write 1 of offset 4096, expected seed 1 write 2" },
        { {1, 0, 2}, "offset 4096: seed 1 write 2 of offset 0, expected seed 1 write 2" },
        { {9, 4096, 2}, "offset 4096: seed 9 write 2 of offset 4096, expected seed 1 write 2" },
    };
    Pattern pattern = {.seed = 1, .offset = 4096, .generation = 2};
    uint8_t bytes[512];
    g_autofree char *why = NULL;

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = NULL;

        pattern_fill(&rows[i].other, bytes, sizeof(bytes));
        text = pattern_check(&pattern, bytes, sizeof(bytes));
        g_assert_cmpstr(text, ==, rows[i].why);
    }
    memset(bytes, 0, sizeof(bytes));
    why = pattern_check(&pattern, bytes, sizeof(bytes));
    g_assert_cmpstr(why, ==, "offset 4096: not written by this program");
}

/* The second half of a block is from another write: no CRC over all would be needed to see it. */
static void test_pattern_shows_a_torn_block(void)
{
    Pattern old = {1, 0, 1}, new = {1, 0, 2};
    uint8_t bytes[1024], half[1024];
    g_autofree char *why = NULL;

    pattern_fill(&new, bytes, sizeof(bytes));
    pattern_fill(&old, half, sizeof(half));
    memcpy(bytes + 512, half + 512, 512);
    why = pattern_check(&new, bytes, sizeof(bytes));
    g_assert_cmpstr(why, ==, "offset 512: seed 1 write 1 of offset 512, expected seed 1 write 2");
}

/* ---- Command line */

static bool parse(const char *line, BenchOptions *options, char **why)
{
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    bool ok = bench_options_parse(options, (int)g_strv_length(argv), argv, why);

    bench_options_clear(options);
    return ok;
}

static void test_options_defaults(void)
{
    BenchOptions options;
    char *why = NULL;

    g_assert_true(parse("bench --address 127.0.0.1:4420", &options, &why));
    g_assert_cmpuint(options.trsvcid, ==, 4420);
    g_assert_null(options.nqn);
    g_assert_cmpuint(options.block_size, ==, 4096);
    g_assert_cmpuint(options.depth, ==, 1);
    g_assert_cmpuint(options.runtime, ==, 5);
    g_assert_cmpuint(options.read_percent, ==, 100);
    g_assert_true(options.random);
    /* With a number of commands there is no limit on time. */
    g_assert_true(parse("bench --address [::1]:1 --ios 7 --rw rw", &options, &why));
    g_assert_cmpuint(options.runtime, ==, 0);
    g_assert_cmpuint(options.read_percent, ==, 50);
    g_assert_false(options.random);
    g_assert_true(parse("bench --address [::1]:1 --rw randrw --mix 0", &options, &why));
    g_assert_cmpuint(options.read_percent, ==, 0);
}

static void test_options_refuse(void)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        { "bench", "--address must be given (see --help)" },
        { "bench x", "\"x\": unexpected argument; allowed: options only (see --help)" },
        { "bench --speed 1", "--speed: unknown option or unexpected value (see --help)" },
        { "bench --json=1", "--json=1: unknown option or unexpected value (see --help)" },
        { "bench --depth", "--depth: needs a value (see --help)" },
        { "bench --address 127.0.0.1", "--address: wrong value \"127.0.0.1\"; allowed: a numeric "
          "address and a port, ADDR:PORT or [ADDR6]:PORT" },
        { "bench --address ::1:80", "--address: wrong value \"::1:80\"; allowed: a numeric "
          "address and a port, ADDR:PORT or [ADDR6]:PORT" },
        { "bench --address 1.2.3.4:0", "--address: wrong value \"1.2.3.4:0\"; allowed: a numeric "
          "address and a port, ADDR:PORT or [ADDR6]:PORT" },
        { "bench --address []:1", "--address: wrong value \"[]:1\"; allowed: a numeric "
          "address and a port, ADDR:PORT or [ADDR6]:PORT" },
        { "bench --nqn ", "--nqn: wrong value \"\"; allowed: 1 to 223 characters" },
        { "bench --nsid 0", "--nsid: wrong value \"0\"; allowed: a number from 1 to 4294967294" },
        { "bench --controllers 1025",
          "--controllers: wrong value \"1025\"; allowed: a number from 1 to 1024" },
        { "bench --queues 0", "--queues: wrong value \"0\"; allowed: a number from 1 to 1024" },
        { "bench --depth 1024", "--depth: wrong value \"1024\"; allowed: a number from 1 to 1023" },
        { "bench --threads 257",
          "--threads: wrong value \"257\"; allowed: a number from 1 to 256" },
        { "bench --block-size 513", "--block-size: wrong value \"513\"; allowed: a multiple of 512 "
          "from 512 to 1M" },
        { "bench --rw trim", "--rw: wrong value \"trim\"; allowed: read, write, rw, randread, "
          "randwrite or randrw" },
        { "bench --rw rw --mix 101",
          "--mix: wrong value \"101\"; allowed: a number from 0 to 100" },
        { "bench --address 1.2.3.4:1 --mix 5", "--mix: only with --rw rw or randrw" },
        { "bench --size 0", "--size: wrong value \"0\"; allowed: a size over 0 with suffix K, M, G "
          "or T, such as 256M" },
        { "bench --runtime 0",
          "--runtime: wrong value \"0\"; allowed: a number from 1 to 1000000" },
        { "bench --ios -1",
          "--ios: wrong value \"-1\"; allowed: a number from 1 to 9223372036854775807" },
        { "bench --timeout 0",
          "--timeout: wrong value \"0\"; allowed: a number from 1 to 1000000" },
        { "bench --progress x",
          "--progress: wrong value \"x\"; allowed: a number from 0 to 1000000" },
        { "bench --seed 18446744073709551616", "--seed: wrong value \"18446744073709551616\"; "
          "allowed: a number from 0 to 18446744073709551615" },
        { "bench --address 1.2.3.4:1 --threads 3 --queues 2",
          "--threads: wrong value 3; allowed: up to one for each of the 2 queues" },
        { "bench --address 1.2.3.4:1 --controllers 1024 --queues 1024",
          "--queues: 1024 queues of 1024 controllers are too many; allowed: 65536 in all" },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        BenchOptions options;
        g_autofree char *why = NULL;

        g_assert_false(parse(rows[i].line, &options, &why));
        g_assert_cmpstr(why, ==, rows[i].why);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/histogram/small_values_are_exact",
                    test_histogram_small_values_are_exact);
    g_test_add_func("/bench/histogram/every_value_is_within_one_part_of_128",
                    test_histogram_every_value_is_within_one_part_of_128);
    g_test_add_func("/bench/histogram/merge_is_as_if_counted_together",
                    test_histogram_merge_is_as_if_counted_together);
    g_test_add_func("/bench/pattern/is_recognised", test_pattern_is_recognised);
    g_test_add_func("/bench/pattern/shows_every_flipped_bit", test_pattern_shows_every_flipped_bit);
    g_test_add_func("/bench/pattern/tells_what_is_wrong", test_pattern_tells_what_is_wrong);
    g_test_add_func("/bench/pattern/shows_a_torn_block", test_pattern_shows_a_torn_block);
    g_test_add_func("/bench/options/defaults", test_options_defaults);
    g_test_add_func("/bench/options/refuse", test_options_refuse);
    return g_test_run();
}
