/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the run-control device saved in one QEMU and restored in another.
 * Not here: snapshots of a running guest.
 * Standard: include/lockstep/control_regs.h; QEMU's QMP reference for migrate.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control_fixture.h"
#include "test_control.h"

#define S 1000000000LL

/* A machine with a QMP monitor; a stream each way, as one for both loses what it has read ahead. */
typedef struct Machine {
    Control *control;
    FILE *to;
    FILE *from;
} Machine;

/* Sends one command; returns its "return" member as text, the caller frees it. */
static char *monitor_command(Machine *machine, const char *text)
{
    char line[65536];

    fprintf(machine->to, "%s\n", text);
    fflush(machine->to);
    while (fgets(line, sizeof(line), machine->from)) {
        g_autoptr(JsonNode) node = json_from_string(line, NULL);
        JsonObject *object = json_node_get_object(node);

        g_assert_false(json_object_has_member(object, "error"));
        if (json_object_has_member(object, "return")) {
            return json_to_string(json_object_get_member(object, "return"), false);
        }
    }
    g_error("QEMU closed its monitor");
}

/* Repeats a query until its answer says that something is so. */
static void wait_until(Machine *machine, const char *query, const char *answer)
{
    for (int i = 0; i < 1000; i++) {
        g_autofree char *text = monitor_command(machine, query);

        if (strstr(text, answer)) {
            return;
        }
        g_usleep(10000);
    }
    g_error("no %s in the answer to %s", answer, query);
}

/* top, incoming: NULL, or the directories and the snapshot of an earlier machine. */
static Machine start(const char *top, const char *incoming)
{
    Machine machine = { 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    g_autofree char *directory = g_dir_make_tmp("lockstep-qmp-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(directory, "qmp", NULL);
    g_autofree char *option = g_strdup_printf("unix:%s,server=on,wait=off", path);
    const char *arguments[] = { "-qmp", option, incoming ? "-incoming" : NULL, incoming, NULL };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    machine.control = control_spawn(&(ControlSetup) { .arguments = arguments, .top = top });
    if (!incoming) {
        control_map(machine.control);
    } else {
        /* An answer means that QEMU listens by now. */
        qtest_config_read(machine.control->qtest, 0);
    }
    g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
    g_assert_cmpint(connect(fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
    unlink(path);
    rmdir(directory);
    machine.from = fdopen(fd, "r");
    machine.to = fdopen(dup(fd), "w");
    g_free(monitor_command(&machine, "{\"execute\": \"qmp_capabilities\"}"));
    return machine;
}

static void close_monitor(Machine *machine)
{
    fclose(machine->to);
    fclose(machine->from);
}

/* Saves a machine, ends it, and restores it in another QEMU with the same directories. */
static void save_and_restore(Machine *machine)
{
    g_autofree char *file = g_build_filename(machine->control->top, "snapshot", NULL);
    g_autofree char *uri = g_strdup_printf("file:%s", file);
    g_autofree char *migrate = g_strdup_printf(
        "{\"execute\": \"migrate\", \"arguments\": {\"uri\": \"%s\"}}", uri);
    g_autofree char *top = NULL;

    g_free(monitor_command(machine, migrate));
    wait_until(machine, "{\"execute\": \"query-migrate\"}", "\"completed\"");
    close_monitor(machine);
    top = control_stop_keeping(machine->control);
    *machine = start(top, uri);
    wait_until(machine, "{\"execute\": \"query-status\"}", "\"running\"");
    unlink(file);
}

static void stop(Machine *machine)
{
    close_monitor(machine);
    control_stop(machine->control);
}

static void test_snapshot_keeps_registers_and_window(void)
{
    Machine machine = start(NULL, NULL);
    char window[4];

    control_command_name(machine.control, LSCTL_CMD_MARK_BEGIN, "name");
    control_command(machine.control, 0, 1234);
    control_write(machine.control, LSCTL_REG_WATCHDOG, 5678);
    save_and_restore(&machine);
    g_assert_cmpuint(control_read(machine.control, LSCTL_REG_LENGTH), ==, 1234);
    g_assert_cmpuint(control_read(machine.control, LSCTL_REG_ERROR), ==, LSCTL_ERROR_COMMAND);
    g_assert_cmpuint(control_read(machine.control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    g_assert_cmpuint(control_read(machine.control, LSCTL_REG_WATCHDOG), ==, 5678);
    qtest_memory_read(machine.control->qtest, CONTROL_WINDOW, window, sizeof(window));
    g_assert_cmpmem(window, 4, "name", 4);
    stop(&machine);
}

static void test_snapshot_within_transfer_loses_it(void)
{
    static const uint32_t opens[] = { LSCTL_CMD_PUT_OPEN, LSCTL_CMD_GET_OPEN };

    for (unsigned i = 0; i < G_N_ELEMENTS(opens); i++) {
        Machine machine = start(NULL, NULL);

        control_make_file(machine.control, "name", "abc", 3);
        g_assert_cmpuint(control_command_name(machine.control, opens[i], "name"), ==, LSCTL_OK);
        save_and_restore(&machine);
        g_assert_cmpuint(control_read(machine.control, LSCTL_REG_STATE), ==, LSCTL_LOST);
        g_assert_cmpuint(control_command(machine.control, LSCTL_CMD_PUT_DATA, 1), ==,
                         LSCTL_ERROR_LOST);
        g_assert_cmpuint(control_command(machine.control, LSCTL_CMD_PUT_CLOSE, 1), ==,
                         LSCTL_ERROR_LOST);
        g_assert_cmpuint(control_command(machine.control, LSCTL_CMD_GET_DATA, 1), ==,
                         LSCTL_ERROR_LOST);
        /* A mark needs no transfer, and a new transfer does not need the old one. */
        g_assert_cmpuint(control_command_name(machine.control, LSCTL_CMD_MARK_BEGIN, "a"), ==,
                         LSCTL_OK);
        g_assert_cmpuint(control_put(machine.control, "blob", "x", 1), ==, LSCTL_OK);
        stop(&machine);
    }
}

static void test_snapshot_keeps_watchdog_running(void)
{
    Machine machine = start(NULL, NULL);
    g_autoptr(GPtrArray) events = NULL;

    qtest_clock_step(machine.control->qtest, 1 * S);
    control_write(machine.control, LSCTL_REG_WATCHDOG, 5000);
    save_and_restore(&machine);
    /* qtest's clock is not part of a snapshot: it begins at 0 again. */
    qtest_clock_step(machine.control->qtest, 6 * S - 1);
    g_assert_cmpuint(control_read(machine.control, LSCTL_REG_STATE), ==, LSCTL_IDLE);
    qtest_clock_step(machine.control->qtest, 1);
    g_assert_cmpint(qtest_wait(machine.control->qtest, NULL), ==, 1);
    events = control_events(machine.control);
    control_assert_event(control_event(events, -1), "event=\"hang\" reason=\"watchdog\" seconds=5 "
                         "virtual_ns=6000000000");
    stop(&machine);
}

void control_add_snapshot_tests(void)
{
    g_test_add_func("/control/snapshot/keeps-registers-and-window",
                    test_snapshot_keeps_registers_and_window);
    g_test_add_func("/control/snapshot/within-transfer-loses-it",
                    test_snapshot_within_transfer_loses_it);
    g_test_add_func("/control/snapshot/keeps-watchdog-running",
                    test_snapshot_keeps_watchdog_running);
}
