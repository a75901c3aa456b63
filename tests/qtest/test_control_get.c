/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: files from the host to the guest, their list, and every way they can go wrong.
 * Not here: blobs to the host (test_control_put.c).
 * Standard: include/lockstep/control_regs.h.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control_fixture.h"
#include "test_control.h"

static void test_get_whole_file(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GByteArray) got = NULL;

    control_make_file(control, "boot.sh", "lsctl exit 0\n", 13);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "boot.sh"), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_GET);
    g_assert_cmpuint(control_read(control, LSCTL_REG_SIZE_LOW), ==, 13);
    got = control_get_all(control, LSCTL_WINDOW_SIZE);
    g_assert_cmpmem(got->data, got->len, "lsctl exit 0\n", 13);
    g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    control_stop(control);
}

static void test_get_in_small_pieces(void)
{
    Control *control = control_start(NULL);
    static uint8_t data[LSCTL_WINDOW_SIZE + 1000];
    static const uint32_t rooms[] = { 999, 65535, 65536 };

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = i * 13 + (i >> 8);
    }
    control_make_file(control, "file", data, sizeof(data));
    for (unsigned i = 0; i < G_N_ELEMENTS(rooms); i++) {
        g_autoptr(GByteArray) got = NULL;

        control_command_name(control, LSCTL_CMD_GET_OPEN, "file");
        got = control_get_all(control, rooms[i]);
        g_assert_cmpmem(got->data, got->len, data, sizeof(data));
    }
    control_stop(control);
}

static void test_get_leaves_rest_of_window(void)
{
    Control *control = control_start(NULL);
    char window[8];

    control_make_file(control, "file", "abcdefgh", 8);
    control_command_name(control, LSCTL_CMD_GET_OPEN, "file");
    qtest_memory_write(control->qtest, CONTROL_WINDOW, "--------", 8);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, 3), ==, LSCTL_OK);
    qtest_memory_read(control->qtest, CONTROL_WINDOW, window, 8);
    g_assert_cmpmem(window, 8, "abc-----", 8);
    control_stop(control);
}

static void test_get_size_beyond_4_gib(void)
{
    Control *control = control_start(NULL);
    g_autofree char *path = g_build_filename(control->in, "huge", NULL);

    control_make_file(control, "huge", "", 0);
    g_assert_cmpint(truncate(path, 0x123456789), ==, 0);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "huge"), ==, LSCTL_OK);
    g_assert_cmphex(control_read(control, LSCTL_REG_SIZE_HIGH), ==, 0x1);
    g_assert_cmphex(control_read(control, LSCTL_REG_SIZE_LOW), ==, 0x23456789);
    control_stop(control);
}

static void test_get_empty_file(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GByteArray) got = NULL;

    control_make_file(control, "empty", "", 0);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "empty"), ==, LSCTL_OK);
    got = control_get_all(control, 100);
    g_assert_cmpuint(got->len, ==, 0);
    control_stop(control);
}

static void test_get_what_is_no_file(void)
{
    Control *control = control_start(NULL);
    static const char *const names[] = { "missing", "directory", "pipe", "dangling" };
    g_autofree char *directory = g_build_filename(control->in, "directory", NULL);
    g_autofree char *pipe_path = g_build_filename(control->in, "pipe", NULL);
    g_autofree char *dangling = g_build_filename(control->in, "dangling", NULL);

    g_assert_cmpint(g_mkdir(directory, 0700), ==, 0);
    g_assert_cmpint(mkfifo(pipe_path, 0600), ==, 0);
    g_assert_cmpint(symlink("nowhere", dangling), ==, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, names[i]), ==,
                         LSCTL_ERROR_NOT_FOUND);
        g_assert_cmpuint(control_read(control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    }
    control_stop(control);
}

static void test_get_through_link_of_host(void)
{
    Control *control = control_start(NULL);
    g_autofree char *target = g_build_filename(control->out, "elsewhere", NULL);
    g_autofree char *link = g_build_filename(control->in, "link", NULL);
    g_autoptr(GByteArray) got = NULL;

    g_assert_true(g_file_set_contents(target, "there", 5, NULL));
    g_assert_cmpint(symlink(target, link), ==, 0);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "link"), ==, LSCTL_OK);
    got = control_get_all(control, 100);
    g_assert_cmpmem(got->data, got->len, "there", 5);
    control_stop(control);
}

static void test_get_out_of_order_is_refused(void)
{
    Control *control = control_start(NULL);

    control_make_file(control, "file", "abc", 3);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, 1), ==, LSCTL_ERROR_STATE);
    control_command_name(control, LSCTL_CMD_GET_OPEN, "file");
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "file"), ==,
                     LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_LIST_OPEN, 0), ==, LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_PUT_OPEN, "b"), ==,
                     LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_DATA, 1), ==, LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_PUT_CLOSE, 1), ==, LSCTL_ERROR_STATE);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_ABORT, 0), ==, LSCTL_OK);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, 1), ==, LSCTL_ERROR_STATE);
    control_stop(control);
}

static void test_get_beyond_end_is_refused(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GByteArray) got = NULL;

    control_make_file(control, "file", "abc", 3);
    control_command_name(control, LSCTL_CMD_GET_OPEN, "file");
    got = control_get_all(control, 2);
    g_assert_cmpuint(got->len, ==, 3);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, 2), ==, LSCTL_ERROR_STATE);
    control_stop(control);
}

static void test_get_room_beyond_window_is_refused(void)
{
    Control *control = control_start(NULL);
    static const uint32_t rooms[] = { 0, 65537, 0x80000000, 0xffffffff };
    g_autoptr(GByteArray) got = NULL;

    control_make_file(control, "file", "abc", 3);
    control_command_name(control, LSCTL_CMD_GET_OPEN, "file");
    for (unsigned i = 0; i < G_N_ELEMENTS(rooms); i++) {
        g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, rooms[i]), ==,
                         LSCTL_ERROR_LENGTH);
    }
    got = control_get_all(control, 3);
    g_assert_cmpmem(got->data, got->len, "abc", 3);
    control_stop(control);
}

static void test_get_without_in_directory(void)
{
    Control *control = control_start(&(ControlSetup) { .no_in = true });

    g_assert_cmpuint(control_command_name(control, LSCTL_CMD_GET_OPEN, "file"), ==,
                     LSCTL_ERROR_NO_DIR);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_LIST_OPEN, 0), ==, LSCTL_ERROR_NO_DIR);
    control_stop(control);
}

static void test_list_is_sorted_and_has_files_only(void)
{
    Control *control = control_start(NULL);
    g_autofree char *directory = g_build_filename(control->in, "directory", NULL);
    g_autoptr(GByteArray) got = NULL;

    control_make_file(control, "b", "", 0);
    control_make_file(control, "a.sh", "", 0);
    control_make_file(control, "C", "", 0);
    control_make_file(control, ".hidden", "", 0);
    control_make_file(control, "a name", "", 0);
    g_assert_cmpint(g_mkdir(directory, 0700), ==, 0);
    g_assert_cmpuint(control_command(control, LSCTL_CMD_LIST_OPEN, 0), ==, LSCTL_OK);
    g_assert_cmpuint(control_read(control, LSCTL_REG_SIZE_LOW), ==, 9);
    got = control_get_all(control, 4);
    g_assert_cmpmem(got->data, got->len, "C\na.sh\nb\n", 9);
    control_stop(control);
}

static void test_list_of_empty_directory(void)
{
    Control *control = control_start(NULL);
    g_autoptr(GByteArray) got = NULL;

    g_assert_cmpuint(control_command(control, LSCTL_CMD_LIST_OPEN, 0), ==, LSCTL_OK);
    got = control_get_all(control, 100);
    g_assert_cmpuint(got->len, ==, 0);
    control_stop(control);
}

void control_add_get_tests(void)
{
    g_test_add_func("/control/get/whole-file", test_get_whole_file);
    g_test_add_func("/control/get/in-small-pieces", test_get_in_small_pieces);
    g_test_add_func("/control/get/leaves-rest-of-window", test_get_leaves_rest_of_window);
    g_test_add_func("/control/get/size-beyond-4-gib", test_get_size_beyond_4_gib);
    g_test_add_func("/control/get/empty-file", test_get_empty_file);
    g_test_add_func("/control/get/what-is-no-file", test_get_what_is_no_file);
    g_test_add_func("/control/get/through-link-of-host", test_get_through_link_of_host);
    g_test_add_func("/control/get/out-of-order-is-refused", test_get_out_of_order_is_refused);
    g_test_add_func("/control/get/beyond-end-is-refused", test_get_beyond_end_is_refused);
    g_test_add_func("/control/get/room-beyond-window-is-refused",
                    test_get_room_beyond_window_is_refused);
    g_test_add_func("/control/get/without-in-directory", test_get_without_in_directory);
    g_test_add_func("/control/list/is-sorted-and-has-files-only",
                    test_list_is_sorted_and_has_files_only);
    g_test_add_func("/control/list/of-empty-directory", test_list_of_empty_directory);
}
