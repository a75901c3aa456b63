/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: blobs from the guest to the host, and every way they can go wrong.
 * Not here: files from the host (test_control_get.c).
 * Standard: include/lockstep/control_regs.h.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control_fixture.h"
#include "test_control.h"

static void assert_blob(Control *control, const char *name, const void *data, size_t size)
{
    g_autoptr(GBytes) bytes = control_out_file(control, name);

    g_assert_nonnull(bytes);
    g_assert_cmpmem(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), data, size);
}

static void test_put_one_piece(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GPtrArray) events = NULL;

    qtest_clock_step(control->qtest, 77);
    g_assert_cmpuint(control_put(control, "result.json", "{}\n", 3), ==, LSCTL_OK);
    assert_blob(control, "result.json", "{}\n", 3);
    g_assert_cmpuint(control_count_out(control), ==, 1);
    events = control_events(control);
    g_assert_cmpuint(events->len, ==, 1);
    control_assert_event(control_event(events, 0), "event=\"blob\" name=\"result.json\" bytes=3 "
                         "virtual_ns=77");
    control_stop(control);
}

static void test_put_many_pieces(void)
{
    Control *control = control_start(NULL);
    size_t size = 5 * LSCTL_WINDOW_SIZE + 12345;
    g_autofree uint8_t *data = g_malloc(size);

    for (size_t i = 0; i < size; i++) {
        data[i] = i * 31 + (i >> 8) * 17;
    }
    g_assert_cmpuint(control_put(control, "big", data, size), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_SIZE_LOW), ==, size);
    g_assert_cmpuint(control_read(control, LSCTL_REG_SIZE_HIGH), ==, 0);
    assert_blob(control, "big", data, size);
    control_stop(control);
}

static void test_put_empty_blob(void)
{
    Control *control = control_start(NULL);

    g_assert_cmpuint(control_put(control, "empty", "", 0), ==, LSCTL_OK);
    assert_blob(control, "empty", "", 0);
    control_stop(control);
}

static void test_put_again_replaces(void)
{
    Control *control = control_start(NULL);

    g_assert_cmpuint(control_put(control, "blob", "longer", 6), ==, LSCTL_OK);
    g_assert_cmpuint(control_put(control, "blob", "new", 3), ==, LSCTL_OK);
    assert_blob(control, "blob", "new", 3);
    control_stop(control);
}

static void test_put_is_invisible_until_closed(void)
{
    Control *control = control_start(NULL);

    control_command_name(control, LSCTL_CMD_PUT_OPEN, "blob");
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_PUT);
    control_command_data(control, LSCTL_CMD_PUT_DATA, "half", 4);
    g_assert_null(control_out_file(control, "blob"));
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_CLOSE, 0), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    assert_blob(control, "blob", "half", 4);
    control_stop(control);
}

static void open_half_a_blob(Control *control)
{
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_PUT_OPEN, "blob"), ==, LSCTL_OK);
    g_assert_cmpuint(control_command_data(control, LSCTL_CMD_PUT_DATA, "half", 4), ==, LSCTL_OK);
    g_assert_cmpuint(control_count_out(control), ==, 1);
}

static void test_put_aborted_leaves_nothing(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GPtrArray) events = NULL;

    open_half_a_blob(control);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_ABORT, 0), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(control_count_out(control), ==, 0);
    events = control_events(control);
    control_assert_event(control_event(events, -1), "event=\"error\" name=\"blob\" "
                         "reason=\"dropped\" virtual_ns=0");
    control_stop(control);
}

static void test_put_at_reset_leaves_nothing(void)
{
    Control *control = control_start(NULL);

    open_half_a_blob(control);
    qtest_reset_machine(control->qtest);
    g_assert_cmpuint(control_count_out(control), ==, 0);
    control_stop(control);
}

static void test_put_at_exit_leaves_nothing(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GPtrArray) events = NULL;

    open_half_a_blob(control);
    control_write(control, LSCTL_REG_EXIT, 0);
    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, 0);
    g_assert_cmpuint(control_count_out(control), ==, 0);
    events = control_events(control);
    g_assert_cmpuint(events->len, ==, 2);
    g_assert_cmpstr(json_object_get_string_member(control_event(events, 0), "reason"), ==,
                    "dropped");
    control_stop(control);
}

static void test_put_left_by_killed_qemu_is_removed(void)
{
    Control *control = control_start(NULL);
    g_autofree char *top = NULL;

    open_half_a_blob(control);
    top = control_stop_keeping(control);
    control = control_start(&(ControlSetup) { .top = top });
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(control_count_out(control), ==, 0);
    control_stop(control);
}

static void test_put_out_of_order_is_refused(void)
{
    Control *control = control_start(NULL);

    g_assert_cmpuint(control_command_data(control, LSCTL_CMD_PUT_DATA, "x", 1), ==,
                     LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_CLOSE, 0), ==, LSCTL_ERROR_STATE);
    open_half_a_blob(control);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_PUT_OPEN, "b"), ==,
                     LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "b"), ==,
                     LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_LIST_OPEN, 0), ==, LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, 1), ==, LSCTL_ERROR_STATE);
    /* None of it has disturbed the transfer. */
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_CLOSE, 0), ==, LSCTL_OK);
    assert_blob(control, "blob", "half", 4);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_CLOSE, 0), ==, LSCTL_ERROR_STATE);
    control_stop(control);
}

static void test_put_length_beyond_window_is_refused(void)
{
    Control *control = control_start(NULL);
    static const uint32_t lengths[] = { 0, 65537, 0x7fffffff, 0x80000000, 0xffffffff };

    open_half_a_blob(control);
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_DATA, lengths[i]), ==,
                         LSCTL_ERROR_LENGTH);
    }
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_CLOSE, 0), ==, LSCTL_OK);
    assert_blob(control, "blob", "half", 4);
    control_stop(control);
}

static void test_put_name_of_events_is_refused(void)
{
    Control *control = control_start(NULL);

    g_assert_cmpuint(control_put(control, "events.jsonl", "x", 1), ==, LSCTL_ERROR_NAME);
    control_stop(control);
}

static void test_put_name_of_directory_fails(void)
{
    Control *control = control_start(NULL);
    g_autofree char *path = g_build_filename(control->out, "blob", NULL);
    g_autoptr(GPtrArray) events = NULL;

    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    g_assert_cmpuint(control_put(control, "blob", "x", 1), ==, LSCTL_ERROR_IO);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(control_count_out(control), ==, 1);
    events = control_events(control);
    control_assert_event(control_event(events, -1), "event=\"error\" name=\"blob\" "
                         "reason=\"io\" virtual_ns=0");
    control_stop(control);
}

static void test_put_does_not_follow_links(void)
{
    Control *control = control_start(NULL);
    g_autofree char *target = g_build_filename(control->in, "target", NULL);
    g_autofree char *blob = g_build_filename(control->out, "blob", NULL);
    g_autofree char *temporary = g_build_filename(control->out, ".lockstep-put", NULL);
    g_autofree char *content = NULL;

    control_make_file(control, "target", "precious", 8);
    g_assert_cmpint(symlink(target, blob), ==, 0);
    g_assert_cmpint(symlink(target, temporary), ==, 0);
    g_assert_cmpuint(control_put(control, "blob", "x", 1), ==, LSCTL_ERROR_IO);
    g_assert_cmpint(g_unlink(temporary), ==, 0);
    g_assert_cmpuint(control_put(control, "blob", "x", 1), ==, LSCTL_OK);
    assert_blob(control, "blob", "x", 1);
    g_assert_true(g_file_get_contents(target, &content, NULL, NULL));
    g_assert_cmpstr(content, ==, "precious");
    control_stop(control);
}

static void test_put_without_out_directory(void)
{
    Control *control = control_start(&(ControlSetup) { .no_out = true });

    g_assert_cmpuint(control_put(control, "blob", "x", 1), ==, LSCTL_ERROR_NO_DIR);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    control_stop(control);
}

static void test_put_beyond_blob_limit_is_refused(void)
{
    Control *control = control_start(&(ControlSetup) { .options = ",blob-limit=10" });

    g_assert_cmpuint(control_put(control, "first", "123456", 6), ==, LSCTL_OK);
    g_assert_cmpuint(control_put(control, "second", "12345", 5), ==, LSCTL_ERROR_LIMIT);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(control_count_out(control), ==, 1);
    /* What was dropped does not count. */
    g_assert_cmpuint(control_put(control, "third", "1234", 4), ==, LSCTL_OK);
    g_assert_cmpuint(control_put(control, "fourth", "1", 1), ==, LSCTL_ERROR_LIMIT);
    g_assert_cmpuint(control_put(control, "empty", "", 0), ==, LSCTL_OK);
    control_stop(control);
}

static void test_put_beyond_number_limit_is_refused(void)
{
    Control *control = control_start(NULL);
    uint32_t error = LSCTL_OK;

    /* docs/control.md: 4096 blobs. */
    control_command_name(control, LSCTL_CMD_ABORT, "blob");
    for (unsigned i = 0; i < 4096; i++) {
        control_write(control, LSCTL_REG_COMMAND, LSCTL_CMD_PUT_OPEN);
        control_write(control, LSCTL_REG_COMMAND, LSCTL_CMD_PUT_CLOSE);
        error |= control_read(control, LSCTL_REG_ERROR);
    }
    g_assert_cmpuint(error, ==, LSCTL_OK);
    control_write(control, LSCTL_REG_COMMAND, LSCTL_CMD_PUT_OPEN);
    g_assert_cmpuint(control_read(control, LSCTL_REG_ERROR), ==, LSCTL_ERROR_LIMIT);
    control_stop(control);
}

static void test_put_on_full_disk_tells_guest_and_host(void)
{
    /* A limit on the size of files fails as a full disk does: room for the events only. */
    Control *control = control_start(&(ControlSetup) { .file_limit = 4096 });
    static const char data[5000] = "x";
    g_autoptr(GPtrArray) events = NULL;
    g_autofree char *messages = NULL;

    g_assert_cmpuint(control_put(control, "blob", data, sizeof(data)), ==, LSCTL_ERROR_NO_SPACE);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(control_count_out(control), ==, 0);
    g_assert_cmpuint(control_put(control, "small", data, 4096), ==, LSCTL_OK);
    control_write(control, LSCTL_REG_EXIT, 0);
    g_assert_cmpint(qtest_wait(control->qtest, &messages), ==, 0);
    g_assert_nonnull(strstr(messages, "lockstep-control: blob: "));
    events = control_events(control);
    control_assert_event(control_event(events, 0), "event=\"error\" name=\"blob\" "
                         "reason=\"no-space\" virtual_ns=0");
    control_stop(control);
}

static void test_events_on_full_disk_stay_whole_and_fail_the_run(void)
{
    Control *control = control_start(&(ControlSetup) { .file_limit = 100 });
    g_autoptr(GPtrArray) events = NULL;

    /* 68 bytes a line: one fits. */
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, "a"), ==, LSCTL_OK);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_MARK_BEGIN, "a"), ==,
                     LSCTL_ERROR_NO_SPACE);
    events = control_events(control);
    g_assert_cmpuint(events->len, ==, 1);
    /* The exit cannot be noted: status 0 would hide that. */
    control_write(control, LSCTL_REG_EXIT, 0);
    g_assert_cmpint(qtest_wait(control->qtest, NULL), ==, 1);
    control_stop(control);
}

void control_add_put_tests(void)
{
    g_test_add_func("/control/put/one-piece", test_put_one_piece);
    g_test_add_func("/control/put/many-pieces", test_put_many_pieces);
    g_test_add_func("/control/put/empty-blob", test_put_empty_blob);
    g_test_add_func("/control/put/again-replaces", test_put_again_replaces);
    g_test_add_func("/control/put/is-invisible-until-closed", test_put_is_invisible_until_closed);
    g_test_add_func("/control/put/aborted-leaves-nothing", test_put_aborted_leaves_nothing);
    g_test_add_func("/control/put/at-reset-leaves-nothing", test_put_at_reset_leaves_nothing);
    g_test_add_func("/control/put/at-exit-leaves-nothing", test_put_at_exit_leaves_nothing);
    g_test_add_func("/control/put/left-by-killed-qemu-is-removed",
                    test_put_left_by_killed_qemu_is_removed);
    g_test_add_func("/control/put/out-of-order-is-refused", test_put_out_of_order_is_refused);
    g_test_add_func("/control/put/length-beyond-window-is-refused",
                    test_put_length_beyond_window_is_refused);
    g_test_add_func("/control/put/name-of-events-is-refused", test_put_name_of_events_is_refused);
    g_test_add_func("/control/put/name-of-directory-fails", test_put_name_of_directory_fails);
    g_test_add_func("/control/put/does-not-follow-links", test_put_does_not_follow_links);
    g_test_add_func("/control/put/without-out-directory", test_put_without_out_directory);
    g_test_add_func("/control/put/beyond-blob-limit-is-refused",
                    test_put_beyond_blob_limit_is_refused);
    g_test_add_func("/control/put/beyond-number-limit-is-refused",
                    test_put_beyond_number_limit_is_refused);
    g_test_add_func("/control/put/on-full-disk-tells-guest-and-host",
                    test_put_on_full_disk_tells_guest_and_host);
    g_test_add_func("/control/events/on-full-disk-stay-whole-and-fail-the-run",
                    test_events_on_full_disk_stay_whole_and_fail_the_run);
}
