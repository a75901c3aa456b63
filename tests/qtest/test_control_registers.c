/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the run-control device's PCI header, its registers, and its marks.
 * Not here: transfers (test_control_put.c, _get.c), the end of a run (test_control_end.c).
 * Standard: include/lockstep/control_regs.h; PCI Local Bus 3.0, section 6.
 */
#include <string.h>

#include "control_fixture.h"
#include "test_control.h"

static void test_pci_header_identifies_device(void)
{
    Control *control = control_start(NULL);

    g_assert_cmphex(qtest_config_read(control->qtest, 0x00), ==, 0x10f01af4);
    /* Base class 08h system peripheral, subclass 80h other (PCI appendix D). */
    g_assert_cmphex(qtest_config_read(control->qtest, 0x08) >> 16, ==, 0x0880);
    control_stop(control);
}

static void test_pci_bars_have_size_and_kind(void)
{
    Control *control = control_start(NULL);

    /* Section 6.2.5.1: all ones written, the size's complement comes back. */
    qtest_config_write(control->qtest, 0x10, 0xffffffff);
    g_assert_cmphex(qtest_config_read(control->qtest, 0x10), ==, 0xfffff000);
    qtest_config_write(control->qtest, 0x18, 0xffffffff);
    g_assert_cmphex(qtest_config_read(control->qtest, 0x18), ==, 0xffff0008);
    for (uint8_t offset = 0x14; offset <= 0x24; offset += 4) {
        if (offset != 0x18) {
            qtest_config_write(control->qtest, offset, 0xffffffff);
            g_assert_cmphex(qtest_config_read(control->qtest, offset), ==, 0);
        }
    }
    control_stop(control);
}

/* The data sheet, as a table. */
static const struct {
    uint32_t offset;
    uint32_t reset;
    bool writable;
    bool has_effect; /* its write does something else */
} registers[] = {
    { LSCTL_REG_ID, 0x4354534c, false, false },
    { LSCTL_REG_VERSION, 1, false, false },
    { LSCTL_REG_WINDOW, 65536, false, false },
    { LSCTL_REG_COMMAND, 0, false, true },
    { LSCTL_REG_LENGTH, 0, true, false },
    { LSCTL_REG_ERROR, 0, false, false },
    { LSCTL_REG_STATE, 0, false, false },
    { LSCTL_REG_SIZE_LOW, 0, false, false },
    { LSCTL_REG_SIZE_HIGH, 0, false, false },
    { LSCTL_REG_EXIT, 0, false, true },
    { LSCTL_REG_PANIC, 0, false, true },
    { LSCTL_REG_WATCHDOG, 0, true, false },
    { LSCTL_REG_PET, 0, false, false },
};

static void test_registers_have_reset_values(void)
{
    Control *control = control_start(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(registers); i++) {
        g_assert_cmphex(control_read(control, registers[i].offset), ==, registers[i].reset);
    }
    control_stop(control);
}

static void test_registers_keep_what_is_writable(void)
{
    Control *control = control_start(NULL);

    for (unsigned i = 0; i < G_N_ELEMENTS(registers); i++) {
        if (registers[i].has_effect) {
            continue;
        }
        control_write(control, registers[i].offset, 0xa5a5a5a5);
        g_assert_cmphex(control_read(control, registers[i].offset), ==,
                        registers[i].writable ? 0xa5a5a5a5 : registers[i].reset);
    }
    control_stop(control);
}

static void test_registers_reset_with_machine(void)
{
    Control *control = control_start(NULL);

    control_write(control, LSCTL_REG_LENGTH, 5);
    control_write(control, LSCTL_REG_WATCHDOG, 5000);
    control_write(control, LSCTL_REG_COMMAND, 0xff);
    qtest_reset_machine(control->qtest);
    control_map(control);
    for (unsigned i = 0; i < G_N_ELEMENTS(registers); i++) {
        g_assert_cmphex(control_read(control, registers[i].offset), ==, registers[i].reset);
    }
    control_stop(control);
}

static void test_registers_ignore_odd_accesses(void)
{
    Control *control = control_start(NULL);
    static const unsigned sizes[] = { 1, 2, 4, 8 };

    for (uint32_t offset = 0; offset < 2 * LSCTL_REG_END; offset++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
            if (sizes[i] == 4 && offset % 4 == 0 && offset < LSCTL_REG_END) {
                continue;
            }
            qtest_write(control->qtest, CONTROL_REGISTERS + offset, 0x0505050505050505, sizes[i]);
            g_assert_cmphex(qtest_read(control->qtest, CONTROL_REGISTERS + offset, sizes[i]), ==, 0);
        }
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(registers); i++) {
        g_assert_cmphex(control_read(control, registers[i].offset), ==, registers[i].reset);
    }
    control_stop(control);
}

static void test_registers_ignore_unmapped_offsets(void)
{
    Control *control = control_start(NULL);

    for (uint32_t offset = LSCTL_REG_END; offset < 4096; offset += 4) {
        control_write(control, offset, 0xffffffff);
        g_assert_cmphex(control_read(control, offset), ==, 0);
    }
    control_stop(control);
}

static void test_window_is_memory(void)
{
    Control *control = control_start(NULL);
    static uint8_t wrote[LSCTL_WINDOW_SIZE], got[LSCTL_WINDOW_SIZE];

    for (unsigned i = 0; i < sizeof(wrote); i++) {
        wrote[i] = i * 7 + i / 256;
    }
    qtest_memory_write(control->qtest, CONTROL_WINDOW, wrote, sizeof(wrote));
    qtest_memory_read(control->qtest, CONTROL_WINDOW, got, sizeof(got));
    g_assert_cmpmem(got, sizeof(got), wrote, sizeof(wrote));
    control_stop(control);
}

static void test_command_unknown_is_refused(void)
{
    Control *control = control_start(NULL);
    static const uint32_t unknown[] = { 0, LSCTL_CMD_END, 0x80000001, 0xffffffff };

    for (unsigned i = 0; i < G_N_ELEMENTS(unknown); i++) {
        g_assert_cmpuint(control_command(control, unknown[i], 4), ==, LSCTL_ERROR_COMMAND);
        g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    }
    /* A command that goes well takes the error back. */
    g_assert_cmpuint(control_command(control, LSCTL_CMD_ABORT, 0), ==, LSCTL_OK);
    control_stop(control);
}

static void test_mark_notes_phase_name_and_time(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GPtrArray) events = NULL;

    qtest_clock_step(control->qtest, 1000);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, "fio-1"), ==, LSCTL_OK);
    qtest_clock_step(control->qtest, 2500);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_END, "fio-1"), ==, LSCTL_OK);
    /* Noted at once: the record is whole while the machine still runs. */
    events = control_events(control);
    g_assert_cmpuint(events->len, ==, 2);
    control_assert_event(control_event(events, 0), "event=\"mark\" phase=\"begin\" "
                         "name=\"fio-1\" virtual_ns=1000");
    control_assert_event(control_event(events, 1), "event=\"mark\" phase=\"end\" "
                         "name=\"fio-1\" virtual_ns=3500");
    control_stop(control);
}

static void test_mark_within_transfers(void)
{
    Control *control = control_start(NULL);

    control_make_file(control, "file", "x", 1);
    control_command_name(control, LSCTL_CMD_PUT_OPEN, "blob");
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, "a"), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_PUT);
    control_command(control, LSCTL_CMD_PUT_CLOSE, 0);
    control_command_name(control, LSCTL_CMD_GET_OPEN, "file");
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_END, "a"), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_GET);
    control_stop(control);
}

static void test_mark_without_out_directory(void)
{
    Control *control = control_start(&(ControlSetup) { .no_out = true });

    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, "a"), ==,
                     LSCTL_ERROR_NO_DIR);
    control_stop(control);
}

static void test_mark_beyond_limit_is_refused(void)
{
    Control *control = control_start(NULL);
    uint32_t error = control_command_name(control, LSCTL_CMD_MARK_BEGIN, "a");

    /* docs/control.md: 65536 marks and errors. */
    for (unsigned i = 1; i < 65536; i++) {
        control_write(control, LSCTL_REG_COMMAND, LSCTL_CMD_MARK_BEGIN);
    }
    g_assert_cmpuint(error, ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_ERROR), ==, LSCTL_OK);
    control_write(control, LSCTL_REG_COMMAND, LSCTL_CMD_MARK_BEGIN);
    g_assert_cmpuint(control_read(control, LSCTL_REG_ERROR), ==, LSCTL_ERROR_LIMIT);
    control_stop(control);
}

static const struct {
    const char *name;
    uint32_t length;
    uint32_t error;
} names[] = {
    { "a", 1, LSCTL_OK },
    { "AZaz09._-", 9, LSCTL_OK },
    { "-", 1, LSCTL_OK },
    { "a..", 3, LSCTL_OK },
    { "", 0, LSCTL_ERROR_LENGTH },
    { ".", 1, LSCTL_ERROR_NAME },
    { "..", 2, LSCTL_ERROR_NAME },
    { ".hidden", 7, LSCTL_ERROR_NAME },
    { "../up", 5, LSCTL_ERROR_NAME },
    { "/etc", 4, LSCTL_ERROR_NAME },
    { "a/b", 3, LSCTL_ERROR_NAME },
    { "a b", 3, LSCTL_ERROR_NAME },
    { "a\n", 2, LSCTL_ERROR_NAME },
    { "a\0", 2, LSCTL_ERROR_NAME },
    { "\0a", 2, LSCTL_ERROR_NAME },
    { "a\0b", 3, LSCTL_ERROR_NAME },
    { "a\x7f", 2, LSCTL_ERROR_NAME },
    { "\xc3\xa4", 2, LSCTL_ERROR_NAME },
    { "\xff", 1, LSCTL_ERROR_NAME },
    { "a%s", 3, LSCTL_ERROR_NAME },
};

static void test_name_rules_hold_for_every_command(void)
{
    Control *control = control_start(NULL);
    static const uint32_t commands[] = {
        LSCTL_CMD_MARK_BEGIN, LSCTL_CMD_MARK_END, LSCTL_CMD_PUT_OPEN, LSCTL_CMD_GET_OPEN,
    };

    for (unsigned c = 0; c < G_N_ELEMENTS(commands); c++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
            uint32_t good = commands[c] == LSCTL_CMD_GET_OPEN ? LSCTL_ERROR_NOT_FOUND : LSCTL_OK;
            uint32_t error = control_command_data(control, commands[c], names[i].name,
                                                  names[i].length);

            g_assert_cmpuint(error, ==, names[i].error == LSCTL_OK ? good : names[i].error);
            control_command(control, LSCTL_CMD_ABORT, 0);
        }
    }
    control_stop(control);
}

static void test_name_length_limit(void)
{
    Control *control = control_start(NULL);
    g_autofree char *longest = g_strnfill(128, 'n');
    static const uint32_t lengths[] = { 129, 4096, 65536, 65537, 0x80000000, 0xffffffff };

    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, longest), ==, LSCTL_OK);
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_assert_cmpuint(control_command(control, LSCTL_CMD_MARK_BEGIN, lengths[i]), ==,
                         LSCTL_ERROR_LENGTH);
    }
    control_stop(control);
}

static void test_directory_that_does_not_exist(void)
{
    static const char *const properties[] = { "in", "out" };

    for (unsigned i = 0; i < G_N_ELEMENTS(properties); i++) {
        g_autofree char *options = g_strdup_printf(",%s=/nonexistent", properties[i]);
        g_autofree char *expected = g_strdup_printf("%s=/nonexistent", properties[i]);
        g_autofree char *messages = NULL;
        Control *control = control_spawn(&(ControlSetup) {
            .options = options, .no_in = true, .no_out = true });

        g_assert_cmpint(qtest_wait(control->qtest, &messages), ==, 1);
        g_assert_nonnull(strstr(messages, expected));
        control_stop(control);
    }
}

void control_add_register_tests(void)
{
    g_test_add_func("/control/pci/header-identifies-device", test_pci_header_identifies_device);
    g_test_add_func("/control/pci/bars-have-size-and-kind", test_pci_bars_have_size_and_kind);
    g_test_add_func("/control/registers/reset-values", test_registers_have_reset_values);
    g_test_add_func("/control/registers/keep-what-is-writable",
                    test_registers_keep_what_is_writable);
    g_test_add_func("/control/registers/reset-with-machine", test_registers_reset_with_machine);
    g_test_add_func("/control/registers/ignore-odd-accesses", test_registers_ignore_odd_accesses);
    g_test_add_func("/control/registers/ignore-unmapped-offsets",
                    test_registers_ignore_unmapped_offsets);
    g_test_add_func("/control/window/is-memory", test_window_is_memory);
    g_test_add_func("/control/command/unknown-is-refused", test_command_unknown_is_refused);
    g_test_add_func("/control/mark/notes-phase-name-and-time",
                    test_mark_notes_phase_name_and_time);
    g_test_add_func("/control/mark/within-transfers", test_mark_within_transfers);
    g_test_add_func("/control/mark/without-out-directory", test_mark_without_out_directory);
    g_test_add_func("/control/mark/beyond-limit-is-refused", test_mark_beyond_limit_is_refused);
    g_test_add_func("/control/name/rules-hold-for-every-command",
                    test_name_rules_hold_for_every_command);
    g_test_add_func("/control/name/length-limit", test_name_length_limit);
    g_test_add_func("/control/directory/does-not-exist", test_directory_that_does_not_exist);
}
