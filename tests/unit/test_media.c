/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The media model: times against arithmetic, to the nanosecond where nothing is left to chance.
 * Not here: the text of a configuration (test_media_config.c).
 */
#include "test_media.h"

#include <string.h>

/* A command's serial number stands for it. */
#define TAG(n) GSIZE_TO_POINTER((gsize)(n) + 1)

static struct media *media_of(const char *text, uint64_t seed)
{
    struct media_config config;
    char *why;

    if (!media_config_parse(text, &config, &why)) {
        g_error("%s: %s", text, why);
    }
    return media_new(&config, seed);
}

static void submit(struct media *media, uint64_t now, enum media_op op, uint64_t offset,
                   uint64_t length, bool fua, gsize tag)
{
    struct media_request request = { op, fua, offset, length, TAG(tag) };

    media_submit(media, now, &request);
}

/* When the only command in flight ends. */
static uint64_t end_of(struct media *media)
{
    uint64_t when = 0;

    g_assert_nonnull(media_complete(media, MEDIA_NEVER, &when));
    return when;
}

static uint64_t alone(struct media *media, uint64_t now, enum media_op op, uint64_t offset,
                      uint64_t length)
{
    submit(media, now, op, offset, length, false, 0);
    return end_of(media) - now;
}

static uint64_t lcg(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/*
 * @count commands of @length bytes, @depth at a time; @stride 0: at random. Returns the time of all
 * of them in ns.
 */
static uint64_t run(struct media *media, enum media_op op, unsigned depth, unsigned count,
                    uint64_t length, uint64_t stride)
{
    uint64_t now = 0, random = 1, at = 0;
    unsigned sent = 0, done = 0;

    while (done < count) {
        while (sent < count && sent - done < depth) {
            uint64_t offset = stride ? at : lcg(&random) * length;

            submit(media, now, op, offset, length, false, sent++);
            at += stride;
        }
        g_assert_nonnull(media_complete(media, MEDIA_NEVER, &now));
        done++;
    }
    return now;
}

static void assert_near(double value, double expected, double percent)
{
    if (value < expected * (1 - percent / 100) || value > expected * (1 + percent / 100)) {
        g_error("%.1f is not within %.1f %% of %.1f", value, percent, expected);
    }
}

/* ---- One command at a time */

static void test_media_null_takes_no_time(void)
{
    struct media *media = media_of("null", 1);

    g_assert_cmpuint(alone(media, 5, MEDIA_READ, 0, 4096), ==, 0);
    g_assert_cmpuint(alone(media, 6, MEDIA_WRITE, 0, 1 << 20), ==, 0);
    g_assert_cmpuint(alone(media, 7, MEDIA_FLUSH, 0, 0), ==, 0);
    g_assert_cmpuint(media_next(media), ==, MEDIA_NEVER);
    media_free(media);
}

static void test_media_read_alone_equals_the_sum(void)
{
    /*
     * p3700: command 2174, read 50000, channel 4096 B at 333 MB/s = 12301 (rounded up), link 4096 B
     * at 2800 MB/s = 1463, overhead 11962: the 77.9 us measured.
     */
    struct media *media = media_of("p3700,jitter_pm=0,outlier_ppm=0", 1);

    g_assert_cmpuint(alone(media, 0, MEDIA_READ, 0, 4096), ==, 77900);
    g_assert_cmpuint(alone(media, 1000000, MEDIA_READ, 12345 * 4096, 4096), ==, 77900);
    /* Verify: the same without the link. */
    g_assert_cmpuint(alone(media, 2000000, MEDIA_VERIFY, 0, 4096), ==, 77900 - 1463);
    media_free(media);

    /* tlc: 1111 + 60000 + 4096/1200 -> 3414 + 4096/6500 -> 631 + 14844 */
    media = media_of("tlc,jitter_pm=0,outlier_ppm=0", 1);
    g_assert_cmpuint(alone(media, 0, MEDIA_READ, 4096, 4096), ==, 80000);
    media_free(media);

    /* optane: 1818 + 1500 + 4096/1600 = 2560 + 4096/2400 -> 1707 + 1315 */
    media = media_of("optane,jitter_pm=0,outlier_ppm=0", 1);
    g_assert_cmpuint(alone(media, 0, MEDIA_READ, 4096, 4096), ==, 8900);
    media_free(media);

    /* ram: tRC 46 + 4096/25600 = 160 */
    media = media_of("ram", 1);
    g_assert_cmpuint(alone(media, 0, MEDIA_READ, 4096, 4096), ==, 206);
    media_free(media);
}

static void test_media_write_alone_equals_the_sum(void)
{
    /* p3700: 2174 + 1463 + into the cache 4401 + 11962 */
    struct media *media = media_of("p3700,jitter_pm=0,outlier_ppm=0", 1);

    g_assert_cmpuint(alone(media, 0, MEDIA_WRITE, 0, 4096), ==, 20000);
    /* Power loss protection: FUA and Flush wait for no die. Flush: 2174 + 11962. */
    submit(media, 1000000, MEDIA_WRITE, 0, 4096, true, 0);
    g_assert_cmpuint(end_of(media), ==, 1020000);
    g_assert_cmpuint(alone(media, 2000000, MEDIA_FLUSH, 0, 0), ==, 14136);
    media_free(media);

    /* tlc: 1111 + 4096/6500 = 631 + 14844 */
    media = media_of("tlc,jitter_pm=0,outlier_ppm=0", 1);
    g_assert_cmpuint(alone(media, 0, MEDIA_WRITE, 0, 4096), ==, 16586);
    media_free(media);

    /* optane has no cache: 1818 + 4096/2048 = 2000 + channel 2560 + program 1500 + 1315 */
    media = media_of("optane,jitter_pm=0,outlier_ppm=0", 1);
    g_assert_cmpuint(alone(media, 0, MEDIA_WRITE, 0, 4096), ==, 9193);
    media_free(media);
}

static void test_media_read_of_several_pages(void)
{
    /*
     * Pages of 4096 on two channels of two dies; 1 us for 4096 bytes at 4096 MB/s. Five pages: die
     * 0 has two, and reads the second while the first is on channel 0, where die 2's page waits:
     * read 10, channel 0: 10-11 die 0, 11-12 die 2; second page of die 0: 20-21.
     */
    struct media *media =
        media_of("null,channels=2,dies=2,read_ns=10000,channel_mbps=4096", 1);

    g_assert_cmpuint(alone(media, 0, MEDIA_READ, 0, 4 * 4096), ==, 12000);
    g_assert_cmpuint(alone(media, 100000, MEDIA_READ, 0, 5 * 4096), ==, 21000);
    /* Two half pages of two dies on two channels: half the transfer each. */
    g_assert_cmpuint(alone(media, 200000, MEDIA_READ, 2048, 4096), ==, 10500);
    media_free(media);
}

static void test_media_other_commands_need_the_controller_alone(void)
{
    struct media *media = media_of("p3700,jitter_pm=0,outlier_ppm=0", 1);

    g_assert_cmpuint(alone(media, 0, MEDIA_OTHER, 0, UINT64_MAX), ==, 14136);
    media_free(media);
}

/* ---- Many at a time */

static void test_media_throughput_is_that_of_the_dies(void)
{
    /* 8 dies of 50 us: 160000 pages a second, however many commands wait. */
    struct media *media = media_of("null,channels=4,dies=2,read_ns=50000", 1);
    uint64_t time = run(media, MEDIA_READ, 256, 40000, 4096, 4096);

    assert_near(40000 * 1e9 / (double)time, 160000, 1);
    media_free(media);
}

static void test_media_throughput_is_that_of_the_channels(void)
{
    /* 2 channels of 400 MB/s, dies that are faster: 800 MB/s. */
    struct media *media =
        media_of("null,channels=2,dies=16,read_ns=10000,channel_mbps=400", 1);
    uint64_t time = run(media, MEDIA_READ, 256, 40000, 4096, 4096);

    assert_near(40000 * 4096e3 / (double)time, 800, 1);
    media_free(media);
}

static void test_media_presets_reach_their_data_sheets(void)
{
    static const struct {
        const char *text;
        enum media_op op;
        unsigned depth, count;
        uint64_t length, stride;
        double iops, percent;
    } rows[] = {
        /* A small cache, or what is in it at the end would count as written. */
        /* P3700: 460K and 175K IOPS, 2800 and 2000 MB/s */
        { "p3700", MEDIA_READ, 256, 200000, 4096, 0, 460e3, 1 },
        { "p3700,cache=16M", MEDIA_WRITE, 256, 1000000, 4096, 0, 175e3, 1 },
        { "p3700", MEDIA_READ, 128, 20000, 131072, 131072, 2800e6 / 131072, 1 },
        { "p3700,cache=16M", MEDIA_WRITE, 128, 60000, 131072, 131072, 2000e6 / 131072, 1 },
        /* PM9A3: 900K and 200K IOPS, 6500 and 3500 MB/s */
        { "tlc", MEDIA_READ, 512, 400000, 4096, 0, 900e3, 1 },
        { "tlc,cache=16M", MEDIA_WRITE, 256, 1000000, 4096, 0, 200e3, 1 },
        { "tlc", MEDIA_READ, 128, 20000, 131072, 131072, 6500e6 / 131072, 1 },
        { "tlc,cache=16M", MEDIA_WRITE, 128, 60000, 131072, 131072, 3500e6 / 131072, 1 },
        /* P4800X: 550K and 500K IOPS at QD 16, 2400 and 2000 MB/s */
        { "optane", MEDIA_READ, 16, 200000, 4096, 0, 550e3, 1 },
        { "optane", MEDIA_WRITE, 16, 200000, 4096, 0, 500e3, 1 },
        { "optane", MEDIA_READ, 32, 20000, 65536, 65536, 2400e6 / 65536, 1 },
        { "optane", MEDIA_WRITE, 32, 20000, 65536, 65536, 2048e6 / 65536, 1 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct media *media = media_of(rows[i].text, 1);
        uint64_t time = run(media, rows[i].op, rows[i].depth, rows[i].count, rows[i].length,
                            rows[i].stride);
        double iops = rows[i].count * 1e9 / (double)time;

        g_test_message("%s %s %" G_GUINT64_FORMAT " bytes: %.0f IOPS, data sheet %.0f",
                       rows[i].text, rows[i].op == MEDIA_READ ? "read" : "write",
                       rows[i].length, iops, rows[i].iops);
        assert_near(iops, rows[i].iops, rows[i].percent);
        media_free(media);
    }
}

static void test_media_commands_end_in_order_of_time(void)
{
    struct media *media = media_of("tlc", 3);
    uint64_t last = 0, when, random = 5;

    for (unsigned i = 0; i < 5000; i++) {
        submit(media, i * 100, i % 3 ? MEDIA_READ : MEDIA_WRITE, lcg(&random) * 512,
               512 + lcg(&random) % 65536, i % 7 == 0, i);
    }
    for (unsigned i = 0; i < 5000; i++) {
        g_assert_cmpuint(media_outstanding(media), ==, 5000 - i);
        g_assert_nonnull(media_complete(media, MEDIA_NEVER, &when));
        g_assert_cmpuint(when, >=, last);
        last = when;
    }
    g_assert_null(media_complete(media, MEDIA_NEVER, &when));
    media_free(media);
}

static void test_media_nothing_ends_before_its_time(void)
{
    struct media *media = media_of("null,read_ns=1000", 1);
    uint64_t when;

    submit(media, 10, MEDIA_READ, 0, 512, false, 7);
    g_assert_null(media_complete(media, 1009, &when));
    g_assert_cmpuint(media_next(media), ==, 1010);
    g_assert_true(media_complete(media, 1010, &when) == TAG(7));
    g_assert_cmpuint(when, ==, 1010);
    /* A clock that goes back counts as standing still. */
    submit(media, 0, MEDIA_READ, 0, 512, false, 8);
    g_assert_cmpuint(end_of(media), ==, 2010);
    media_free(media);
}

/* ---- Reads and programs on one die */

static void test_media_reads_pass_programs_that_wait(void)
{
    /*
     * One die: a program of 100 us runs, another waits, reads of 1 us come: two of them, then the
     * program, then the rest.
     */
    struct media *media = media_of("null,program_ns=100000,read_ns=1000,read_burst=2", 1);
    static const uint64_t ends[] = { 100000, 101000, 102000, 202000, 203000 };
    static const gsize tags[] = { 0, 2, 3, 1, 4 };
    uint64_t when;

    submit(media, 0, MEDIA_WRITE, 0, 4096, false, 0);
    submit(media, 1, MEDIA_WRITE, 0, 4096, false, 1);
    for (gsize i = 2; i < 5; i++) {
        submit(media, i, MEDIA_READ, 0, 4096, false, i);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(tags); i++) {
        g_assert_true(media_complete(media, MEDIA_NEVER, &when) == TAG(tags[i]));
        g_assert_cmpuint(when, ==, ends[i]);
    }
    media_free(media);
}

/* ---- Write cache */

static void test_media_cache_takes_writes_until_it_is_full(void)
{
    /*
     * Two pages of cache, one die of 100 us. The third write waits for the first page's room, the
     * fourth for the second's.
     */
    struct media *media = media_of("null,program_ns=100000,cache=8K,cache_ns=10", 1);
    static const uint64_t ends[] = { 10, 10, 100010, 200010 };
    uint64_t when;

    for (gsize i = 0; i < 4; i++) {
        submit(media, 0, MEDIA_WRITE, i * 4096, 4096, false, i);
    }
    for (gsize i = 0; i < 4; i++) {
        g_assert_true(media_complete(media, MEDIA_NEVER, &when) == TAG(i));
        g_assert_cmpuint(when, ==, ends[i]);
    }
    media_free(media);
}

static void test_media_small_writes_share_a_page(void)
{
    /* Eight of 512 bytes make one page: the ninth finds the cache full until that is programmed. */
    struct media *media = media_of("null,program_ns=100000,cache=4K", 1);

    for (unsigned i = 0; i < 8; i++) {
        g_assert_cmpuint(alone(media, i, MEDIA_WRITE, i * 512, 512), ==, 0);
    }
    g_assert_cmpuint(alone(media, 7, MEDIA_WRITE, 0, 512), ==, 100000);
    media_free(media);
}

static void test_media_write_larger_than_the_cache(void)
{
    /* 10 pages through 2: the last enters when the eighth has left. */
    struct media *media = media_of("null,program_ns=100000,cache=8K", 1);

    g_assert_cmpuint(alone(media, 0, MEDIA_WRITE, 0, 10 * 4096), ==, 800000);
    media_free(media);
}

static void test_media_flush_waits_for_what_was_cached_before(void)
{
    struct media *media = media_of("null,program_ns=100000,cache=1M", 1);
    uint64_t when;

    /* Nothing cached: nothing to wait for. */
    g_assert_cmpuint(alone(media, 0, MEDIA_FLUSH, 0, 0), ==, 0);
    /* Half a page is programmed by the flush alone. */
    g_assert_cmpuint(alone(media, 0, MEDIA_WRITE, 0, 2048), ==, 0);
    g_assert_cmpuint(alone(media, 0, MEDIA_FLUSH, 0, 0), ==, 100000);
    /* Two pages before it, two behind it: the flush ends with the second. */
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(alone(media, 1000000, MEDIA_WRITE, 0, 4096), ==, 0);
    }
    submit(media, 1000000, MEDIA_FLUSH, 0, 0, false, 1);
    submit(media, 1000000, MEDIA_FLUSH, 0, 0, false, 2);
    submit(media, 1000000, MEDIA_WRITE, 0, 8192, false, 3);
    g_assert_true(media_complete(media, MEDIA_NEVER, &when) == TAG(3));
    g_assert_cmpuint(when, ==, 1000000);
    g_assert_true(media_complete(media, MEDIA_NEVER, &when) == TAG(1));
    g_assert_cmpuint(when, ==, 1200000);
    g_assert_true(media_complete(media, MEDIA_NEVER, &when) == TAG(2));
    g_assert_cmpuint(when, ==, 1200000);
    media_free(media);
}

static void test_media_fua_waits_for_its_own_pages(void)
{
    struct media *media = media_of("null,channels=2,program_ns=100000,cache=1M", 1);

    g_assert_cmpuint(alone(media, 0, MEDIA_WRITE, 0, 4096), ==, 0);
    /* The first die is busy, the second one free. */
    submit(media, 10, MEDIA_WRITE, 0, 4096, true, 0);
    g_assert_cmpuint(end_of(media), ==, 100010);
    media_free(media);
}

/* ---- Garbage collection */

static void test_media_random_writes_move_and_erase(void)
{
    /*
     * One die, blocks of 4 pages of which 2 are still valid: each page written moves another
     * (2 / (4 - 2)), and every 4 programs cost an erase. Programs 100, moves 10 + 100, erase 1000
     * us: a page written at random costs 100 + 110 + 2 / 4 * 1000 = 710, in sequence
     * 100 + 1000 / 4 = 350.
     */
    static const char text[] =
        "null,program_ns=100000,read_ns=10000,erase_ns=1000000,block_pages=4,gc_moves=2,cache=4K";
    struct media *media = media_of(text, 1);

    assert_near((double)run(media, MEDIA_WRITE, 1, 10000, 4096, 8192) / 10000, 710000, 1);
    media_free(media);
    media = media_of(text, 1);
    assert_near((double)run(media, MEDIA_WRITE, 1, 10000, 4096, 4096) / 10000, 350000, 1);
    media_free(media);
}

/* ---- Chance */

static void test_media_same_seed_same_times(void)
{
    uint64_t a, b, c;
    struct media *media = media_of("p3700", 42);

    a = run(media, MEDIA_READ, 32, 20000, 4096, 0);
    media_free(media);
    media = media_of("p3700", 42);
    b = run(media, MEDIA_READ, 32, 20000, 4096, 0);
    media_free(media);
    media = media_of("p3700", 43);
    c = run(media, MEDIA_READ, 32, 20000, 4096, 0);
    media_free(media);
    g_assert_cmpuint(a, ==, b);
    g_assert_cmpuint(a, !=, c);
}

/* How often the answer is asked for must not matter. */
static void test_media_times_do_not_depend_on_the_caller_s_rhythm(void)
{
    struct media *a = media_of("tlc", 9), *b = media_of("tlc", 9);
    uint64_t random = 1, when_a, when_b;
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));

    for (unsigned i = 0; i < 2000; i++) {
        uint64_t now = i * 3000, offset = lcg(&random) * 4096;

        while (media_complete(a, now, &when_a)) {
            g_array_append_val(ends, when_a);
        }
        submit(a, now, i % 2 ? MEDIA_READ : MEDIA_WRITE, offset, 4096, false, i);
        submit(b, now, i % 2 ? MEDIA_READ : MEDIA_WRITE, offset, 4096, false, i);
    }
    while (media_complete(a, MEDIA_NEVER, &when_a)) {
        g_array_append_val(ends, when_a);
    }
    for (guint i = 0; i < ends->len; i++) {
        g_assert_nonnull(media_complete(b, MEDIA_NEVER, &when_b));
        g_assert_cmpuint(when_b, ==, g_array_index(ends, uint64_t, i));
    }
    g_array_unref(ends);
    media_free(a);
    media_free(b);
}

static void test_media_jitter_is_even_and_bounded(void)
{
    struct media *media = media_of("null,read_ns=100000,jitter_pm=250", 1);
    uint64_t sum = 0, low = UINT64_MAX, high = 0;
    unsigned quarter = 0;

    for (unsigned i = 0; i < 100000; i++) {
        uint64_t time = alone(media, i * UINT64_C(1000000), MEDIA_READ, 0, 4096);

        sum += time;
        low = MIN(low, time);
        high = MAX(high, time);
        quarter += time < 87500;
    }
    g_assert_cmpuint(low, >=, 75000);
    g_assert_cmpuint(high, <=, 125000);
    assert_near((double)sum / 100000, 100000, 0.3);
    assert_near(quarter, 25000, 3);
    media_free(media);
}

static void test_media_outliers_come_at_their_rate(void)
{
    /* 1 % of 200000: 2000, standard deviation 44.5; five of these are 11 %. */
    struct media *media = media_of("null,outlier_ppm=10000,outlier_ns=777", 1);
    unsigned outliers = 0;

    for (unsigned i = 0; i < 200000; i++) {
        uint64_t time = alone(media, i * UINT64_C(1000), MEDIA_READ, 0, 4096);

        g_assert_true(time == 0 || time == 777);
        outliers += time == 777;
    }
    assert_near(outliers, 2000, 11);
    media_free(media);
    media = media_of("null,outlier_ppm=1000000,outlier_ns=777", 1);
    g_assert_cmpuint(alone(media, 0, MEDIA_FLUSH, 0, 0), ==, 777);
    media_free(media);
}

/* Whatever the drive and whatever is asked of it: all commands end, in order, once. */
static void test_media_every_command_ends_on_any_drive(void)
{
    uint64_t state = 2;

    for (unsigned i = 0; i < 1500; i++) {
        uint64_t page = 4096 + lcg(&state) % 8 * 512;
        g_autofree char *text = g_strdup_printf(
            "%s,channels=%u,dies=%u,page=%u,cache=%u,plp=%u,read_burst=%u,block_pages=%u,"
            "gc_moves=%u,erase_ns=5000,program_ns=%u,write_mbps=%u,jitter_pm=%u",
            media_preset_name((unsigned)(lcg(&state) % 5)), (unsigned)(1 + lcg(&state) % 4),
            (unsigned)(1 + lcg(&state) % 3), (unsigned)page,
            (unsigned)(lcg(&state) % 3 ? page + lcg(&state) % 40000 : 0),
            (unsigned)(lcg(&state) % 2), (unsigned)(1 + lcg(&state) % 3), 32u,
            (unsigned)(lcg(&state) % 32), (unsigned)(lcg(&state) % 9000),
            (unsigned)(lcg(&state) % 2 * 100), (unsigned)(lcg(&state) % 1001));
        struct media *media = media_of(text, i);
        unsigned ended[60] = { 0 };
        uint64_t last = 0, when;
        void *tag;

        for (gsize n = 0; n < G_N_ELEMENTS(ended); n++) {
            submit(media, lcg(&state) % 50000, (enum media_op)(lcg(&state) % 5),
                   lcg(&state) % 100000, lcg(&state) % 70000, lcg(&state) % 2, n);
        }
        while ((tag = media_complete(media, MEDIA_NEVER, &when))) {
            g_assert_cmpuint(when, >=, last);
            last = when;
            ended[GPOINTER_TO_SIZE(tag) - 1]++;
        }
        for (gsize n = 0; n < G_N_ELEMENTS(ended); n++) {
            g_assert_cmpuint(ended[n], ==, 1);
        }
        g_assert_cmpuint(media_next(media), ==, MEDIA_NEVER);
        media_free(media);
    }
}

/* ---- What no caller should ask for */

static void test_media_hostile_requests(void)
{
    static const uint64_t values[] = { 0, 1, 511, 4095, 4097, 1 << 20, UINT64_C(1) << 50,
                                       UINT64_MAX - 4096, UINT64_MAX - 1, UINT64_MAX };
    struct media *media = media_of("p3700,plp=0,write_mbps=1,channel_mbps=1", 1);
    unsigned count = 0, ended = 0;

    for (unsigned o = 0; o < G_N_ELEMENTS(values); o++) {
        for (unsigned l = 0; l < G_N_ELEMENTS(values); l++) {
            for (enum media_op op = MEDIA_READ; op <= MEDIA_OTHER; op++) {
                submit(media, values[(o + l) % 6], op, values[o], values[l], l % 2, count++);
            }
        }
    }
    /* The long ones take years; some steps show that time goes on and memory does not grow. */
    for (unsigned i = 0; i < 200000; i++) {
        ended += !!media_complete(media, media_next(media), NULL);
    }
    g_assert_cmpuint(media_outstanding(media), ==, count - ended);
    media_free(media);
    media_free(NULL);
}

static void test_media_end_of_time(void)
{
    struct media *media = media_of("p3700", 1);
    uint64_t when = 0;

    submit(media, UINT64_MAX, MEDIA_READ, 0, 4096, false, 1);
    submit(media, UINT64_MAX, MEDIA_WRITE, 0, 4096, false, 2);
    g_assert_nonnull(media_complete(media, MEDIA_NEVER, &when));
    g_assert_nonnull(media_complete(media, MEDIA_NEVER, &when));
    g_assert_cmpuint(when, ==, MEDIA_NEVER - 1);
    media_free(media);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_media_config_add();
#define ADD(name) g_test_add_func("/media/" #name, test_media_##name)
    ADD(null_takes_no_time);
    ADD(read_alone_equals_the_sum);
    ADD(write_alone_equals_the_sum);
    ADD(read_of_several_pages);
    ADD(other_commands_need_the_controller_alone);
    ADD(throughput_is_that_of_the_dies);
    ADD(throughput_is_that_of_the_channels);
    ADD(presets_reach_their_data_sheets);
    ADD(commands_end_in_order_of_time);
    ADD(nothing_ends_before_its_time);
    ADD(reads_pass_programs_that_wait);
    ADD(cache_takes_writes_until_it_is_full);
    ADD(small_writes_share_a_page);
    ADD(write_larger_than_the_cache);
    ADD(flush_waits_for_what_was_cached_before);
    ADD(fua_waits_for_its_own_pages);
    ADD(random_writes_move_and_erase);
    ADD(same_seed_same_times);
    ADD(times_do_not_depend_on_the_caller_s_rhythm);
    ADD(jitter_is_even_and_bounded);
    ADD(outliers_come_at_their_rate);
    ADD(every_command_ends_on_any_drive);
    ADD(hostile_requests);
    ADD(end_of_time);
#undef ADD
    return g_test_run();
}
