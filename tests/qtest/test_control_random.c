/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: a guest that writes anything anywhere in the run-control device, from a seed.
 * Not here: chosen hostile values; they are with the feature they attack.
 * Standard: include/lockstep/control_regs.h.
 */
#include <stdlib.h>
#include <string.h>

#include "control_fixture.h"
#include "test_control.h"

/* 3 seconds in every test run; LOCKSTEP_RANDOM_SECONDS for longer, LOCKSTEP_SEED to repeat. */
#define DEFAULT_SECONDS 3

static uint32_t pick(GRand *random, const uint32_t *values, unsigned count)
{
    return values[g_rand_int_range(random, 0, count)];
}

/* Names that work, that do not, and that are taken, so that transfers get under way. */
static void write_window(Control *control, GRand *random)
{
    static const char *const texts[] = { "a", "b", "file", "events.jsonl", "../x", ".x", "", "\xff" };
    const char *text = texts[g_rand_int_range(random, 0, G_N_ELEMENTS(texts))];
    uint32_t at = g_rand_boolean(random) ? 0 : g_rand_int_range(random, 0, LSCTL_WINDOW_SIZE - 16);

    qtest_memory_write(control->qtest, CONTROL_WINDOW + at, text, strlen(text) + 1);
}

static void write_register(Control *control, GRand *random)
{
    static const uint32_t odd[] = { 0, 1, 4, 128, 129, 255, 256, 65535, 65536, 65537,
                                    0x7fffffff, 0x80000000, 0xffffffff };
    static const unsigned sizes[] = { 1, 2, 4, 4, 4, 4, 4, 8 };
    uint32_t offset = g_rand_int_range(random, 0, 16) ? g_rand_int_range(random, 0, 14) * 4
                                                      : g_rand_int_range(random, 0, 4088);
    uint32_t value = pick(random, odd, G_N_ELEMENTS(odd));
    unsigned size = sizes[g_rand_int_range(random, 0, G_N_ELEMENTS(sizes))];

    /* An end of the run is tested elsewhere; here it would be the end of the test. */
    if (offset + size > LSCTL_REG_EXIT && offset < LSCTL_REG_WATCHDOG && size == 4) {
        return;
    }
    if (offset == LSCTL_REG_COMMAND && g_rand_boolean(random)) {
        value = g_rand_int_range(random, 0, LSCTL_CMD_END + 1);
    }
    qtest_write(control->qtest, CONTROL_REGISTERS + offset, value, size);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), <, LSCTL_STATE_END);
    g_assert_cmpuint(control_read(control, LSCTL_REG_ERROR), <, LSCTL_ERROR_END);
}

static void test_random_accesses_do_no_harm(void)
{
    Control *control = control_start(&(ControlSetup) { .options = ",blob-limit=1M" });
    const char *seed_text = g_getenv("LOCKSTEP_SEED");
    const char *seconds_text = g_getenv("LOCKSTEP_RANDOM_SECONDS");
    uint32_t seed = seed_text ? strtoul(seed_text, NULL, 0) : g_random_int();
    int64_t end = g_get_monotonic_time() +
                  (seconds_text ? atoi(seconds_text) : DEFAULT_SECONDS) * G_USEC_PER_SEC;
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    unsigned long steps = 0;

    g_test_message("LOCKSTEP_SEED=%u repeats this", seed);
    control_make_file(control, "file", "content", 7);
    for (; g_get_monotonic_time() < end; steps++) {
        switch (g_rand_int_range(random, 0, 100)) {
        case 0:
            qtest_reset_machine(control->qtest);
            control_map(control);
            break;
        case 1 ... 20:
            write_window(control, random);
            break;
        default:
            write_register(control, random);
        }
    }
    g_test_message("%lu steps", steps);
    /* It still works, and the record is whole. */
    control_command(control, LSCTL_CMD_ABORT, 0);
    control_write(control, LSCTL_REG_EXIT, 9);
    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, 9);
    g_ptr_array_unref(control_events(control));
    control_stop(control);
}

void control_add_random_tests(void)
{
    g_test_add_func("/control/random/accesses-do-no-harm", test_random_accesses_do_no_harm);
}
