/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that wait for their drive: a clock that the test moves, completions by model time.
 * Not here: the model's own times (tests/unit/test_media.c); lst_io_complete() below stands in for
 * the engine.
 */
#include <poll.h>
#include <string.h>
#include <time.h>

#include "daemon/delay.h"

enum { IOS = 8 };

static uint64_t now;
static GString *ended;              /* the requests that were completed, as letters */
static uint16_t last_status;
static Drive *resubmit_to;          /* a completion of 'a' submits 'z' here */
static struct lst_io resubmitted = {.op = LST_IO_READ, .length = 4096, .nsid = 'z'};

static uint64_t test_clock(void)
{
    return now;
}

void lst_io_complete(struct lst_io *io, uint16_t status)
{
    g_string_append_c(ended, (char)io->nsid);
    last_status = status;
    if (resubmit_to && io->nsid == 'a') {
        drive_submit(resubmit_to, &resubmitted, 0);
    }
}

static Drive *drive_of(Delay *delay, const char *text, uint8_t id)
{
    uint8_t uuid[16] = {id};
    struct media_config config;
    char *why;

    g_assert_true(media_config_parse(text, &config, &why));
    return drive_new(delay, &config, uuid);
}

static void assert_ended(Delay *delay, const char *letters)
{
    delay_run(delay);
    g_assert_cmpstr(ended->str, ==, letters);
    g_string_truncate(ended, 0);
}

static void setup(void)
{
    now = 0;
    resubmit_to = NULL;
    ended = g_string_new(NULL);
}

static void test_delay_null_drive_is_none(void)
{
    Delay *delay = delay_new(test_clock, 1);

    g_assert_null(drive_of(delay, "null", 1));
    drive_free(NULL);
    delay_free(delay);
}

static void test_delay_completes_in_order_of_time_over_drives(void)
{
    Delay *delay = delay_new(test_clock, 1);
    Drive *slow = drive_of(delay, "null,read_ns=300,program_ns=100", 1);
    Drive *fast = drive_of(delay, "null,read_ns=200", 2);
    struct lst_io io[IOS];

    setup();
    for (unsigned i = 0; i < IOS; i++) {
        io[i] = (struct lst_io){.op = LST_IO_READ, .length = 4096, .nsid = 'a' + i};
    }
    io[1].op = LST_IO_WRITE;
    drive_submit(slow, &io[0], 0);          /* a: 300 */
    drive_submit(slow, &io[1], 0x280);      /* b: the same die: 400 */
    drive_submit(fast, &io[2], 0);          /* c: 200 */
    drive_submit(fast, &io[3], 0);          /* d: 400, in as the second of that time */
    assert_ended(delay, "");
    now = 199;
    assert_ended(delay, "");
    now = 200;
    assert_ended(delay, "c");
    now = 350;
    assert_ended(delay, "a");
    now = 400;
    assert_ended(delay, "bd");
    g_assert_cmphex(last_status, ==, 0);
    drive_submit(slow, &io[4], 0x281);
    now = 1000;
    assert_ended(delay, "e");
    g_assert_cmphex(last_status, ==, 0x281);
    /* Much at once, late: still by time. */
    drive_submit(slow, &io[5], 0);
    drive_submit(fast, &io[6], 0);
    now = 5000;
    assert_ended(delay, "gf");
    drive_free(slow);
    drive_free(fast);
    delay_free(delay);
    g_string_free(ended, TRUE);
}

static void test_delay_completion_that_submits(void)
{
    Delay *delay = delay_new(test_clock, 1);
    Drive *drive = drive_of(delay, "null,read_ns=100", 1);
    struct lst_io io = {.op = LST_IO_READ, .length = 4096, .nsid = 'a'};

    setup();
    resubmit_to = drive;
    drive_submit(drive, &io, 0);
    now = 100;
    assert_ended(delay, "a");
    now = 200;
    assert_ended(delay, "z");
    drive_free(drive);
    delay_free(delay);
    g_string_free(ended, TRUE);
}

static void test_delay_cancel_completes_all(void)
{
    Delay *delay = delay_new(test_clock, 1);
    Drive *drive = drive_of(delay, "null,read_ns=1000000000,cache=1M,program_ns=100", 1);
    struct lst_io io[2] = {{.op = LST_IO_READ, .length = 4096, .nsid = 'a'},
                           {.op = LST_IO_FLUSH, .nsid = 'b'}};

    setup();
    resubmit_to = drive;
    drive_submit(drive, &io[0], 0);
    drive_submit(drive, &io[1], 0);
    delay_cancel(delay);
    g_assert_cmpstr(ended->str, ==, "baz");
    drive_free(drive);
    delay_free(delay);
    g_string_free(ended, TRUE);
}

/* With the real clock: the descriptor becomes readable, and not readable again when all is done. */
static uint64_t real_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void test_delay_descriptor_tells_when(void)
{
    Delay *delay = delay_new(real_clock, 1);
    Drive *drive = drive_of(delay, "null,read_ns=2000000", 1);
    struct pollfd fd = {delay_fd(delay), POLLIN, 0};
    struct lst_io io = {.op = LST_IO_READ, .length = 4096, .nsid = 'a'};
    uint64_t start = real_clock();

    setup();
    g_assert_cmpint(poll(&fd, 1, 0), ==, 0);
    drive_submit(drive, &io, 0);
    while (!ended->len) {
        delay_run(delay);
        g_assert_cmpint(poll(&fd, 1, ended->len ? 0 : 20000), ==, !ended->len);
    }
    g_assert_cmpuint(real_clock() - start, >=, 2000000);
    g_assert_cmpint(poll(&fd, 1, 0), ==, 0);
    drive_free(drive);
    delay_free(delay);
    g_string_free(ended, TRUE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/delay/null_drive_is_none", test_delay_null_drive_is_none);
    g_test_add_func("/delay/completes_in_order_of_time_over_drives",
                    test_delay_completes_in_order_of_time_over_drives);
    g_test_add_func("/delay/completion_that_submits", test_delay_completion_that_submits);
    g_test_add_func("/delay/cancel_completes_all", test_delay_cancel_completes_all);
    g_test_add_func("/delay/descriptor_tells_when", test_delay_descriptor_tells_when);
    return g_test_run();
}
