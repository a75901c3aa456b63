/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: a machine with a run-control device, its directories, and short ways to use it.
 * Not here: the tests (test_control_*.c), the qtest protocol (qtest.c).
 * Standard: include/lockstep/control_regs.h.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "control_fixture.h"

/* PCI Local Bus 3.0, section 6.1: command register and BARs. */
#define PCI_COMMAND        0x04
#define PCI_COMMAND_MEMORY 0x02
#define PCI_BAR(n)         (0x10 + 4 * (n))

Control *control_spawn(const ControlSetup *setup)
{
    const ControlSetup none = { 0 };
    Control *control = g_new0(Control, 1);
    g_autoptr(GString) device = g_string_new("lockstep-control," QTEST_SLOT_OPTION);
    g_autoptr(GPtrArray) arguments = g_ptr_array_new();

    setup = setup ? setup : &none;
    control->top = setup->top ? g_strdup(setup->top) : g_dir_make_tmp("lockstep-XXXXXX", NULL);
    control->in = g_build_filename(control->top, "in", NULL);
    control->out = g_build_filename(control->top, "out", NULL);
    g_mkdir_with_parents(control->in, 0700);
    g_mkdir_with_parents(control->out, 0700);
    if (!setup->no_in) {
        g_string_append_printf(device, ",in=%s", control->in);
    }
    if (!setup->no_out) {
        g_string_append_printf(device, ",out=%s", control->out);
    }
    if (setup->options) {
        g_string_append(device, setup->options);
    }
    g_ptr_array_add(arguments, (gpointer)"-device");
    g_ptr_array_add(arguments, device->str);
    for (const char *const *argument = setup->arguments; argument && *argument; argument++) {
        g_ptr_array_add(arguments, (gpointer)*argument);
    }
    g_ptr_array_add(arguments, NULL);
    control->qtest = qtest_start(&(QtestSetup) {
        .arguments = (const char *const *)arguments->pdata,
        .file_limit = setup->file_limit,
    });
    return control;
}

void control_map(Control *control)
{
    qtest_config_write(control->qtest, PCI_BAR(LSCTL_BAR_REGISTERS), CONTROL_REGISTERS);
    qtest_config_write(control->qtest, PCI_BAR(LSCTL_BAR_WINDOW), CONTROL_WINDOW);
    qtest_config_write(control->qtest, PCI_COMMAND, PCI_COMMAND_MEMORY);
}

Control *control_start(const ControlSetup *setup)
{
    Control *control = control_spawn(setup);

    control_map(control);
    return control;
}

static void remove_directory(const char *path)
{
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    const char *name;

    while (directory && (name = g_dir_read_name(directory))) {
        g_autofree char *entry = g_build_filename(path, name, NULL);

        if (g_file_test(entry, G_FILE_TEST_IS_DIR) && !g_file_test(entry, G_FILE_TEST_IS_SYMLINK)) {
            remove_directory(entry);
        } else {
            g_unlink(entry);
        }
    }
    g_rmdir(path);
}

char *control_stop_keeping(Control *control)
{
    char *top = control->top;

    qtest_stop(control->qtest);
    g_free(control->in);
    g_free(control->out);
    g_free(control);
    return top;
}

void control_stop(Control *control)
{
    g_autofree char *top = control_stop_keeping(control);

    remove_directory(top);
}

uint32_t control_read(Control *control, uint32_t offset)
{
    return qtest_read(control->qtest, CONTROL_REGISTERS + offset, 4);
}

void control_write(Control *control, uint32_t offset, uint32_t value)
{
    qtest_write(control->qtest, CONTROL_REGISTERS + offset, value, 4);
}

uint32_t control_command(Control *control, uint32_t command, uint32_t length)
{
    control_write(control, LSCTL_REG_LENGTH, length);
    control_write(control, LSCTL_REG_COMMAND, command);
    return control_read(control, LSCTL_REG_ERROR);
}

uint32_t control_command_data(Control *control, uint32_t command, const void *data, size_t size)
{
    qtest_memory_write(control->qtest, CONTROL_WINDOW, data, size);
    return control_command(control, command, size);
}

uint32_t control_command_name(Control *control, uint32_t command, const char *name)
{
    return control_command_data(control, command, name, strlen(name));
}

uint32_t control_put(Control *control, const char *name, const void *data, size_t size)
{
    uint32_t error = control_command_name(control, LSCTL_CMD_PUT_OPEN, name);

    for (size_t done = 0, part; error == LSCTL_OK && done < size; done += part) {
        part = MIN(size - done, LSCTL_WINDOW_SIZE);
        error = control_command_data(control, LSCTL_CMD_PUT_DATA, (const char *)data + done, part);
    }
    return error ? error : control_command(control, LSCTL_CMD_PUT_CLOSE, 0);
}

GByteArray *control_get_all(Control *control, uint32_t room)
{
    GByteArray *all = g_byte_array_new();
    g_autofree guint8 *data = g_malloc(room);
    uint32_t size;

    do {
        g_assert_cmpuint(control_command(control, LSCTL_CMD_GET_DATA, room), ==, LSCTL_OK);
        size = control_read(control, LSCTL_REG_LENGTH);
        g_assert_cmpuint(size, <=, room);
        qtest_memory_read(control->qtest, CONTROL_WINDOW, data, size);
        g_byte_array_append(all, data, size);
    } while (size > 0);
    return all;
}

void control_make_file(Control *control, const char *name, const void *data, size_t size)
{
    g_autofree char *path = g_build_filename(control->in, name, NULL);

    g_assert_true(g_file_set_contents(path, data, size, NULL));
}

GBytes *control_out_file(Control *control, const char *name)
{
    g_autofree char *path = g_build_filename(control->out, name, NULL);
    char *data;
    gsize size;

    return g_file_get_contents(path, &data, &size, NULL) ? g_bytes_new_take(data, size) : NULL;
}

unsigned control_count_out(Control *control)
{
    g_autoptr(GDir) directory = g_dir_open(control->out, 0, NULL);
    unsigned count = 0;
    const char *name;

    while ((name = g_dir_read_name(directory))) {
        count += strcmp(name, LSCTL_EVENTS_NAME) != 0;
    }
    return count;
}

GPtrArray *control_events(Control *control)
{
    GPtrArray *events = g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref);
    g_autoptr(GBytes) bytes = control_out_file(control, LSCTL_EVENTS_NAME);
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    g_assert_nonnull(bytes);
    text = g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        JsonNode *node;

        if (!line[1]) {
            /* Every line is whole: nothing stands behind the last newline. */
            g_assert_cmpstr(*line, ==, "");
            break;
        }
        g_assert_true(g_utf8_validate(*line, -1, NULL));
        node = json_from_string(*line, NULL);
        g_assert_nonnull(node);
        g_assert_true(JSON_NODE_HOLDS_OBJECT(node));
        g_ptr_array_add(events, node);
    }
    return events;
}

JsonObject *control_event(GPtrArray *events, int index)
{
    index = index < 0 ? (int)events->len + index : index;
    g_assert_cmpint(index, >=, 0);
    g_assert_cmpint(index, <, events->len);
    return json_node_get_object(g_ptr_array_index(events, index));
}

void control_assert_event(JsonObject *event, const char *expected)
{
    g_autoptr(GList) members = json_object_get_members(event);
    g_autoptr(GString) text = g_string_new(NULL);

    for (GList *member = members; member; member = member->next) {
        g_autofree char *value = json_to_string(json_object_get_member(event, member->data), false);

        g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", (char *)member->data, value);
    }
    g_assert_cmpstr(text->str, ==, expected);
}
