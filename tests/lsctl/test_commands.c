/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: lsctl's verbs against the device's own core.
 * Not here: its command line and sysfs (test_lsctl.py).
 * Standard: include/lockstep/control_regs.h, docs/control.md.
 */
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "device_model.h"

/* A file without a name, with this content, to be read from its beginning. */
static int file_with(const void *data, size_t size)
{
    FILE *file = tmpfile();
    int fd = dup(fileno(file));

    g_assert_cmpuint(fwrite(data, 1, size, file), ==, size);
    fclose(file);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    return fd;
}

static void assert_content(int fd, const void *data, size_t size)
{
    g_autofree uint8_t *got = g_malloc(size + 1);

    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    g_assert_cmpint(read(fd, got, size + 1), ==, size);
    g_assert_cmpmem(got, size, data, size);
    close(fd);
}

static void assert_blob(Device *device, const char *name, const void *data, size_t size)
{
    GBytes *blob = g_hash_table_lookup(device_model(device)->blobs, name);

    g_assert_nonnull(blob);
    g_assert_cmpmem(g_bytes_get_data(blob, NULL), g_bytes_get_size(blob), data, size);
}

static void assert_event(Device *device, unsigned index, const char *expected)
{
    GPtrArray *events = device_model(device)->events;

    g_assert_cmpuint(index, <, events->len);
    g_assert_cmpstr(g_ptr_array_index(events, index), ==, expected);
}

static int put(Device *device, const char *name, const void *data, size_t size)
{
    int fd = file_with(data, size);
    int status = command_put(device, name, fd);

    close(fd);
    return status;
}

/* Around the size of the window, where pieces begin and end. */
static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 131072, 200000 };

static uint8_t *pattern(size_t size)
{
    uint8_t *data = g_malloc(size + 1);

    for (size_t i = 0; i < size; i++) {
        data[i] = i * 7 + (i >> 8);
    }
    return data;
}

static void test_put_of_any_size(void)
{
    Device *device = device_model_new();

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree uint8_t *data = pattern(sizes[i]);

        g_assert_cmpint(put(device, "blob", data, sizes[i]), ==, STATUS_OK);
        assert_blob(device, "blob", data, sizes[i]);
    }
    device_close(device);
}

static void test_put_from_pipe_in_bits(void)
{
    Device *device = device_model_new();
    int ends[2];
    pid_t child;

    g_assert_cmpint(pipe(ends), ==, 0);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 10; i++) {
            g_usleep(1000);
            if (write(ends[1], "0123456789", 10) != 10) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    g_assert_cmpint(command_put(device, "log", ends[0]), ==, STATUS_OK);
    assert_event(device, 0, "blob log 100");
    close(ends[0]);
    device_close(device);
}

static void test_put_of_unreadable_input_leaves_nothing(void)
{
    Device *device = device_model_new();
    int fd = open("/", O_RDONLY | O_DIRECTORY);

    g_assert_cmpint(command_put(device, "blob", fd), ==, STATUS_FAILED);
    g_assert_cmpuint(device_read(device, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(g_hash_table_size(device_model(device)->blobs), ==, 0);
    close(fd);
    device_close(device);
}

static void test_put_on_full_disk_fails(void)
{
    Device *device = device_model_new();
    g_autofree uint8_t *data = pattern(200000);

    device_model(device)->disk_room = 100000;
    g_assert_cmpint(put(device, "blob", data, 200000), ==, STATUS_FAILED);
    assert_event(device, 0, "error blob no-space");
    g_assert_cmpint(put(device, "blob", data, 1), ==, STATUS_OK);
    device_close(device);
}

static void test_put_with_forbidden_name_fails(void)
{
    Device *device = device_model_new();
    g_autofree char *longest = g_strnfill(LSCTL_NAME_MAX, 'n');
    g_autofree char *too_long = g_strnfill(LSCTL_NAME_MAX + 1, 'n');
    g_autofree char *much_too_long = g_strnfill(2 * LSCTL_WINDOW_SIZE, 'n');
    const char *const names[] = { "", ".", "../x", "a/b", "a b", "events.jsonl", too_long,
                                  much_too_long };

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_cmpint(put(device, names[i], "x", 1), ==, STATUS_FAILED);
    }
    g_assert_cmpint(put(device, longest, "x", 1), ==, STATUS_OK);
    device_close(device);
}

static void test_transfer_of_dead_caller_is_ended(void)
{
    Device *device = device_model_new();

    device_model_add_file(device, "file", "x", 1);
    device_model_die_in_transfer(device, LSCTL_CMD_PUT_OPEN, "left");
    g_assert_cmpint(put(device, "blob", "x", 1), ==, STATUS_OK);
    assert_event(device, 0, "error left dropped");
    device_model_die_in_transfer(device, LSCTL_CMD_GET_OPEN, "file");
    g_assert_cmpint(put(device, "blob", "y", 1), ==, STATUS_OK);
    assert_blob(device, "blob", "y", 1);
    device_close(device);
}

static void test_get_of_any_size(void)
{
    Device *device = device_model_new();

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree uint8_t *data = pattern(sizes[i]);
        int fd = file_with("", 0);

        device_model_add_file(device, "file", data, sizes[i]);
        g_assert_cmpint(command_get(device, "file", fd), ==, STATUS_OK);
        assert_content(fd, data, sizes[i]);
    }
    device_close(device);
}

static void test_get_of_missing_file_has_its_own_status(void)
{
    Device *device = device_model_new();

    g_assert_cmpint(command_get(device, "missing", -1), ==, STATUS_NOT_FOUND);
    g_assert_cmpint(command_get(device, "../missing", -1), ==, STATUS_FAILED);
    device_close(device);
}

static void test_get_to_full_output_fails_and_ends_transfer(void)
{
    Device *device = device_model_new();
    int fd = open("/dev/full", O_WRONLY);

    device_model_add_file(device, "file", "x", 1);
    g_assert_cmpint(command_get(device, "file", fd), ==, STATUS_FAILED);
    g_assert_cmpuint(device_read(device, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    close(fd);
    device_close(device);
}

static void test_list_names_files(void)
{
    Device *device = device_model_new();
    int fd = file_with("", 0);

    device_model_add_file(device, "b", "", 0);
    device_model_add_file(device, "a", "", 0);
    g_assert_cmpint(command_list(device, fd), ==, STATUS_OK);
    assert_content(fd, "a\nb\n", 4);
    device_close(device);
}

static void test_mark_notes_phase_and_name(void)
{
    Device *device = device_model_new();

    g_assert_cmpint(command_mark(device, "begin", "fio"), ==, STATUS_OK);
    g_assert_cmpint(command_mark(device, "end", "fio"), ==, STATUS_OK);
    g_assert_cmpint(command_mark(device, "end", "f/o"), ==, STATUS_FAILED);
    assert_event(device, 0, "mark begin fio");
    assert_event(device, 1, "mark end fio");
    device_close(device);
}

static void test_mark_leaves_transfer_of_other_caller_alone(void)
{
    Device *device = device_model_new();

    device_model_die_in_transfer(device, LSCTL_CMD_PUT_OPEN, "blob");
    g_assert_cmpint(command_mark(device, "begin", "fio"), ==, STATUS_OK);
    g_assert_cmpuint(device_read(device, LSCTL_REG_STATE), ==, LSCTL_PUT);
    device_close(device);
}

static void wake(int signal_number)
{
    (void)signal_number;
}

static void test_exit_ends_run_with_status(void)
{
    Device *device = device_model_new();

    signal(SIGALRM, wake);
    /* A machine would have stopped; that it goes on is a failure. */
    g_assert_cmpint(command_exit(device, 3), ==, STATUS_FAILED);
    assert_event(device, 0, "exit 3");
    g_assert_cmpuint(device_read(device, LSCTL_REG_STATE), ==, LSCTL_ENDED);
    g_assert_cmpint(command_mark(device, "begin", "a"), ==, STATUS_FAILED);
    g_assert_cmpint(command_set_watchdog(device, 1000), ==, STATUS_FAILED);
    device_close(device);
}

static void test_exit_with_refused_status_returns_at_once(void)
{
    Device *device = device_model_new();

    g_assert_cmpint(command_exit(device, 256), ==, STATUS_FAILED);
    g_assert_cmpuint(device_read(device, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    device_close(device);
}

static void test_watchdog_is_petted_until_off(void)
{
    Device *device = device_model_new();

    g_assert_cmpint(command_set_watchdog(device, 3), ==, STATUS_OK);
    g_assert_cmpuint(device_read(device, LSCTL_REG_WATCHDOG), ==, 3);
    device_model(device)->pets_until_off = 4;
    command_pet(device);
    g_assert_cmpuint(device_model(device)->pets, ==, 4);
    /* Off already: nothing to pet. */
    command_pet(device);
    g_assert_cmpuint(device_model(device)->pets, ==, 4);
    device_close(device);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lsctl/put/of-any-size", test_put_of_any_size);
    g_test_add_func("/lsctl/put/from-pipe-in-bits", test_put_from_pipe_in_bits);
    g_test_add_func("/lsctl/put/of-unreadable-input-leaves-nothing",
                    test_put_of_unreadable_input_leaves_nothing);
    g_test_add_func("/lsctl/put/on-full-disk-fails", test_put_on_full_disk_fails);
    g_test_add_func("/lsctl/put/with-forbidden-name-fails", test_put_with_forbidden_name_fails);
    g_test_add_func("/lsctl/transfer/of-dead-caller-is-ended",
                    test_transfer_of_dead_caller_is_ended);
    g_test_add_func("/lsctl/get/of-any-size", test_get_of_any_size);
    g_test_add_func("/lsctl/get/of-missing-file-has-its-own-status",
                    test_get_of_missing_file_has_its_own_status);
    g_test_add_func("/lsctl/get/to-full-output-fails-and-ends-transfer",
                    test_get_to_full_output_fails_and_ends_transfer);
    g_test_add_func("/lsctl/list/names-files", test_list_names_files);
    g_test_add_func("/lsctl/mark/notes-phase-and-name", test_mark_notes_phase_and_name);
    g_test_add_func("/lsctl/mark/leaves-transfer-of-other-caller-alone",
                    test_mark_leaves_transfer_of_other_caller_alone);
    g_test_add_func("/lsctl/exit/ends-run-with-status", test_exit_ends_run_with_status);
    g_test_add_func("/lsctl/exit/with-refused-status-returns-at-once",
                    test_exit_with_refused_status_returns_at_once);
    g_test_add_func("/lsctl/watchdog/is-petted-until-off", test_watchdog_is_petted_until_off);
    return g_test_run();
}
