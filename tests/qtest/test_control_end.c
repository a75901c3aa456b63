/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: how a run ends: exit, panic, a watchdog or a boot that nobody hears of.
 * Not here: transfers (test_control_put.c, _get.c).
 * Standard: include/lockstep/control_regs.h.
 */
#include <string.h>

#include "control_fixture.h"
#include "test_control.h"

#define MS 1000000LL
#define S  1000000000LL

/* Waits for QEMU's end; checks its status and the last event. */
static void assert_ends(Control *control, int status, const char *expected)
{
    g_autoptr(GPtrArray) events = NULL;

    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, status);
    events = control_events(control);
    control_assert_event(control_event(events, -1), expected);
}

static void assert_runs(Control *control)
{
    g_autoptr(GPtrArray) events = control_events(control);

    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(events->len, ==, 0);
}

static void test_exit_gives_its_status(void)
{
    static const uint32_t statuses[] = { 0, 1, 7, 255 };

    for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++) {
        Control *control = control_start(NULL);
        g_autofree char *expected = g_strdup_printf("event=\"exit\" status=%u virtual_ns=42",
                                                    statuses[i]);

        qtest_clock_step(control->qtest, 42);
        control_write(control, LSCTL_REG_EXIT, statuses[i]);
        assert_ends(control, statuses[i], expected);
        control_stop(control);
    }
}

static void test_exit_status_beyond_255_is_refused(void)
{
    Control *control = control_start(NULL);
    static const uint32_t statuses[] = { 256, 512, 0x80000000, 0xffffffff };

    for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++) {
        control_write(control, LSCTL_REG_EXIT, statuses[i]);
        g_assert_cmpuint(control_read(control, LSCTL_REG_ERROR), ==, LSCTL_ERROR_VALUE);
    }
    assert_runs(control);
    control_stop(control);
}

static void test_exit_without_directories(void)
{
    Control *control = control_start(&(ControlSetup) { .no_in = true, .no_out = true });

    control_write(control, LSCTL_REG_EXIT, 0);
    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, 0);
    control_stop(control);
}

static void test_exit_is_the_last_word(void)
{
    static const char *const no_shutdown[] = { "-no-shutdown", NULL };
    Control *control = control_start(&(ControlSetup) { .arguments = no_shutdown });
    g_autoptr(GPtrArray) events = NULL;

    control_write(control, LSCTL_REG_WATCHDOG, 1);
    control_write(control, LSCTL_REG_EXIT, 3);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_ENDED);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, "a"), ==,
                     LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_put(control, "blob", "x", 1), ==, LSCTL_ERROR_STATE);
    control_write(control, LSCTL_REG_EXIT, 0);
    control_write(control, LSCTL_REG_PANIC, 0);
    events = control_events(control);
    g_assert_cmpuint(events->len, ==, 1);
    control_assert_event(control_event(events, 0), "event=\"exit\" status=3 virtual_ns=0");
    control_stop(control);
}

static void panic(Control *control, const char *text, size_t size, uint32_t value)
{
    qtest_memory_write(control->qtest, CONTROL_WINDOW, text, size);
    control_write(control, LSCTL_REG_PANIC, value);
}

static void test_panic_gives_its_text(void)
{
    Control *control = control_start(NULL);

    qtest_clock_step(control->qtest, 5);
    panic(control, "Fatal exception", 15, 15);
    assert_ends(control, 1, "event=\"panic\" message=\"Fatal exception\" virtual_ns=5");
    control_stop(control);
}

static void test_panic_without_text(void)
{
    Control *control = control_start(NULL);

    panic(control, "not this", 8, 0);
    assert_ends(control, 1, "event=\"panic\" message=\"\" virtual_ns=0");
    control_stop(control);
}

static void test_panic_within_put(void)
{
    Control *control = control_start(NULL);

    control_command_name(control, LSCTL_CMD_PUT_OPEN, "blob");
    panic(control, "Oops", 4, 4);
    assert_ends(control, 1, "event=\"panic\" message=\"Oops\" virtual_ns=0");
    g_assert_cmpuint(control_count_out(control), ==, 0);
    control_stop(control);
}

static void test_panic_text_is_cut_at_limit(void)
{
    static const uint32_t sizes[] = { 1025, 65536, 65537, 0xffffffff };

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        Control *control = control_start(NULL);
        g_autofree char *text = g_strnfill(2000, 'p');
        g_autofree char *kept = g_strnfill(1024, 'p');
        g_autofree char *expected = g_strdup_printf("event=\"panic\" message=\"%s\" virtual_ns=0",
                                                    kept);

        panic(control, text, 2000, sizes[i]);
        assert_ends(control, 1, expected);
        control_stop(control);
    }
}

static void test_panic_with_any_bytes_is_valid_json(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GPtrArray) events = NULL;
    char text[255];

    for (unsigned i = 0; i < sizeof(text); i++) {
        text[i] = i + 1;
    }
    panic(control, text, sizeof(text), sizeof(text));
    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, 1);
    /* control_events() checks UTF-8 and JSON. */
    events = control_events(control);
    g_assert_cmpuint(events->len, ==, 1);
    g_assert_true(g_str_has_prefix(
        json_object_get_string_member(control_event(events, 0), "message"), "\x01\x02\x03"));
    control_stop(control);
}

static void test_watchdog_ends_run_after_its_time(void)
{
    Control *control = control_start(NULL);

    control_write(control, LSCTL_REG_WATCHDOG, 1500);
    qtest_clock_step(control->qtest, 1500 * MS - 1);
    assert_runs(control);
    qtest_clock_step(control->qtest, 1);
    assert_ends(control, 1, "event=\"hang\" reason=\"watchdog\" seconds=1.5 "
                "virtual_ns=1500000000");
    control_stop(control);
}

static void test_watchdog_pet_begins_time_anew(void)
{
    Control *control = control_start(NULL);

    control_write(control, LSCTL_REG_WATCHDOG, 1000);
    for (unsigned i = 0; i < 5; i++) {
        qtest_clock_step(control->qtest, 999 * MS);
        control_write(control, LSCTL_REG_PET, i);
    }
    assert_runs(control);
    qtest_clock_step(control->qtest, 1000 * MS);
    assert_ends(control, 1, "event=\"hang\" reason=\"watchdog\" seconds=1 virtual_ns=5995000000");
    control_stop(control);
}

static void test_watchdog_zero_turns_it_off(void)
{
    Control *control = control_start(NULL);

    control_write(control, LSCTL_REG_WATCHDOG, 1000);
    control_write(control, LSCTL_REG_WATCHDOG, 0);
    qtest_clock_step(control->qtest, 1000 * S);
    assert_runs(control);
    control_stop(control);
}

static void test_watchdog_longest_time_does_not_wrap(void)
{
    Control *control = control_start(NULL);

    /* 49 days; 32 bits of nanoseconds would be over in 5 seconds. */
    control_write(control, LSCTL_REG_WATCHDOG, 0xffffffff);
    qtest_clock_step(control->qtest, 10000 * S);
    assert_runs(control);
    control_stop(control);
}

static void test_watchdog_is_off_after_reset(void)
{
    Control *control = control_start(NULL);

    control_write(control, LSCTL_REG_WATCHDOG, 1000);
    qtest_reset_machine(control->qtest);
    control_map(control);
    qtest_clock_step(control->qtest, 1000 * S);
    assert_runs(control);
    control_stop(control);
}

static const ControlSetup boot_30 = { .options = ",boot-timeout=30" };

static void test_boot_that_takes_too_long_ends_run(void)
{
    Control *control = control_start(&boot_30);

    qtest_clock_step(control->qtest, 30 * S - 1);
    assert_runs(control);
    qtest_clock_step(control->qtest, 1);
    assert_ends(control, 1, "event=\"hang\" reason=\"boot\" seconds=30 virtual_ns=30000000000");
    control_stop(control);
}

static void test_boot_ends_with_first_sign_of_life(void)
{
    static const uint32_t registers[] = { LSCTL_REG_PET, LSCTL_REG_WATCHDOG };

    for (unsigned i = 0; i < G_N_ELEMENTS(registers); i++) {
        Control *control = control_start(&boot_30);

        qtest_clock_step(control->qtest, 29 * S);
        control_write(control, registers[i], 0);
        qtest_clock_step(control->qtest, 1000 * S);
        assert_runs(control);
        control_stop(control);
    }
}

static void test_boot_time_is_not_moved_by_other_registers(void)
{
    Control *control = control_start(&boot_30);

    qtest_clock_step(control->qtest, 29 * S);
    control_write(control, LSCTL_REG_LENGTH, 1);
    control_command(control, LSCTL_CMD_ABORT, 0);
    qtest_clock_step(control->qtest, 1 * S);
    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, 1);
    control_stop(control);
}

static void test_boot_time_begins_anew_at_reset(void)
{
    Control *control = control_start(&boot_30);

    control_write(control, LSCTL_REG_PET, 0);
    qtest_clock_step(control->qtest, 100 * S);
    qtest_reset_machine(control->qtest);
    qtest_clock_step(control->qtest, 29 * S);
    control_map(control);
    assert_runs(control);
    qtest_clock_step(control->qtest, 1 * S);
    assert_ends(control, 1, "event=\"hang\" reason=\"boot\" seconds=30 virtual_ns=130000000000");
    control_stop(control);
}

void control_add_end_tests(void)
{
    g_test_add_func("/control/exit/gives-its-status", test_exit_gives_its_status);
    g_test_add_func("/control/exit/status-beyond-255-is-refused",
                    test_exit_status_beyond_255_is_refused);
    g_test_add_func("/control/exit/without-directories", test_exit_without_directories);
    g_test_add_func("/control/exit/is-the-last-word", test_exit_is_the_last_word);
    g_test_add_func("/control/panic/gives-its-text", test_panic_gives_its_text);
    g_test_add_func("/control/panic/without-text", test_panic_without_text);
    g_test_add_func("/control/panic/within-put", test_panic_within_put);
    g_test_add_func("/control/panic/text-is-cut-at-limit", test_panic_text_is_cut_at_limit);
    g_test_add_func("/control/panic/any-bytes-are-valid-json",
                    test_panic_with_any_bytes_is_valid_json);
    g_test_add_func("/control/watchdog/ends-run-after-its-time",
                    test_watchdog_ends_run_after_its_time);
    g_test_add_func("/control/watchdog/pet-begins-time-anew", test_watchdog_pet_begins_time_anew);
    g_test_add_func("/control/watchdog/zero-turns-it-off", test_watchdog_zero_turns_it_off);
    g_test_add_func("/control/watchdog/longest-time-does-not-wrap",
                    test_watchdog_longest_time_does_not_wrap);
    g_test_add_func("/control/watchdog/is-off-after-reset", test_watchdog_is_off_after_reset);
    g_test_add_func("/control/boot/too-long-ends-run", test_boot_that_takes_too_long_ends_run);
    g_test_add_func("/control/boot/ends-with-first-sign-of-life",
                    test_boot_ends_with_first_sign_of_life);
    g_test_add_func("/control/boot/time-is-not-moved-by-other-registers",
                    test_boot_time_is_not_moved_by_other_registers);
    g_test_add_func("/control/boot/time-begins-anew-at-reset", test_boot_time_begins_anew_at_reset);
}
