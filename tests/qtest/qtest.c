/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: a client of QEMU's qtest protocol: starts a QEMU without CPUs and does their accesses.
 * Not here: what is tested; one fixture per device does that (control_fixture.h).
 * Standard: the qtest protocol of QEMU 10.0, the comment in its system/qtest.c.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qtest.h"

/* PCI configuration mechanism #1, PCI Local Bus 3.0, section 3.2.2.3.2. */
#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA    0xcfc
#define CONFIG_ENABLE  0x80000000u

/* ICH9's reset control register: system reset, then do it. */
#define RESET_CONTROL  0xcf9
#define RESET_COLD     0x06

/* Bytes of a memory access that go into one line of the protocol. */
#define CHUNK 4096

struct Qtest {
    GPid pid; /* 0 once it has been waited for */
    FILE *to;
    FILE *from;
    FILE *messages;
    char *line;
    size_t line_size;
    char *firmware;
};

/* In the child, before QEMU. */
static void prepare_child(gpointer data)
{
    const QtestSetup *setup = data;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setup->file_limit) {
        struct rlimit limit = { setup->file_limit, setup->file_limit };

        /* Ignored, the signal becomes an error of write(), as on a full disk. */
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
}

/* The machine asks for a firmware though no CPU will run it. */
static char *make_firmware(void)
{
    g_autofree char *zeros = g_malloc0(65536);
    char *path;
    int fd = g_file_open_tmp("lockstep-qtest-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(path, zeros, 65536, NULL));
    return path;
}

Qtest *qtest_start(const QtestSetup *setup)
{
    const char *build = g_getenv("LOCKSTEP_BUILD");
    g_autofree char *program = NULL;
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    Qtest *qtest = g_new0(Qtest, 1);
    int to, from, messages;

    g_assert_nonnull(build);
    program = g_build_filename(build, "qemu", "qemu-system-x86_64", NULL);
    qtest->firmware = make_firmware();
    const char *const fixed[] = {
        program, "-M", "q35", "-accel", "qtest", "-m", "16", "-display", "none", "-nodefaults",
        "-no-user-config", "-bios", qtest->firmware, "-qtest", "stdio", "-qtest-log", "none",
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(fixed); i++) {
        g_ptr_array_add(argv, (gpointer)fixed[i]);
    }
    for (const char *const *argument = setup->arguments; *argument; argument++) {
        g_ptr_array_add(argv, (gpointer)*argument);
    }
    g_ptr_array_add(argv, NULL);
    if (!g_spawn_async_with_pipes(NULL, (char **)argv->pdata, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                                  prepare_child, (gpointer)setup, &qtest->pid,
                                  &to, &from, &messages, &error)) {
        g_error("cannot start %s: %s", program, error->message);
    }
    /* A write to a QEMU that has ended is an answer, not our end. */
    signal(SIGPIPE, SIG_IGN);
    qtest->to = fdopen(to, "w");
    qtest->from = fdopen(from, "r");
    qtest->messages = fdopen(messages, "r");
    return qtest;
}

int qtest_wait(Qtest *qtest, char **messages)
{
    g_autoptr(GString) text = g_string_new(NULL);
    int status, c;

    while ((c = fgetc(qtest->messages)) != EOF) {
        g_string_append_c(text, c);
    }
    g_assert_cmpint(waitpid(qtest->pid, &status, 0), ==, qtest->pid);
    qtest->pid = 0;
    if (messages) {
        *messages = g_strdup(text->str);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void qtest_stop(Qtest *qtest)
{
    if (qtest->pid) {
        kill(qtest->pid, SIGKILL);
        waitpid(qtest->pid, NULL, 0);
    }
    fclose(qtest->to);
    fclose(qtest->from);
    fclose(qtest->messages);
    g_unlink(qtest->firmware);
    g_free(qtest->firmware);
    free(qtest->line);
    g_free(qtest);
}

/* Reads a line, without its newline; the test fails if QEMU has ended. */
static const char *next_line(Qtest *qtest)
{
    ssize_t length = getline(&qtest->line, &qtest->line_size, qtest->from);

    if (length <= 0) {
        g_autofree char *messages = NULL;
        int status = qtest_wait(qtest, &messages);

        g_error("QEMU has ended with status %d: %s", status, messages);
    }
    qtest->line[length - 1] = '\0';
    return qtest->line;
}

/* Sends a command; returns what follows "OK", until the next command. */
G_GNUC_PRINTF(2, 3)
static const char *command(Qtest *qtest, const char *format, ...)
{
    const char *line;
    va_list arguments;

    va_start(arguments, format);
    vfprintf(qtest->to, format, arguments);
    va_end(arguments);
    fputc('\n', qtest->to);
    fflush(qtest->to);
    do {
        line = next_line(qtest);
    } while (g_str_has_prefix(line, "IRQ "));
    if (!g_str_has_prefix(line, "OK")) {
        g_error("qtest answers '%s'", line);
    }
    return line[2] == ' ' ? line + 3 : line + 2;
}

static char access_letter(unsigned size)
{
    switch (size) {
    case 1:
        return 'b';
    case 2:
        return 'w';
    case 4:
        return 'l';
    default:
        g_assert_cmpuint(size, ==, 8);
        return 'q';
    }
}

uint64_t qtest_read(Qtest *qtest, uint64_t address, unsigned size)
{
    return g_ascii_strtoull(command(qtest, "read%c 0x%" PRIx64, access_letter(size), address),
                            NULL, 0);
}

void qtest_write(Qtest *qtest, uint64_t address, uint64_t value, unsigned size)
{
    command(qtest, "write%c 0x%" PRIx64 " 0x%" PRIx64, access_letter(size), address, value);
}

void qtest_memory_read(Qtest *qtest, uint64_t address, void *data, size_t size)
{
    for (size_t done = 0, part; done < size; done += part) {
        gsize got;
        g_autofree guchar *bytes = NULL;

        part = MIN(size - done, CHUNK);
        bytes = g_base64_decode(command(qtest, "b64read 0x%" PRIx64 " 0x%zx", address + done,
                                        part), &got);
        g_assert_cmpuint(got, ==, part);
        memcpy((char *)data + done, bytes, part);
    }
}

void qtest_memory_write(Qtest *qtest, uint64_t address, const void *data, size_t size)
{
    for (size_t done = 0, part; done < size; done += part) {
        g_autofree char *text = NULL;

        part = MIN(size - done, CHUNK);
        text = g_base64_encode((const guchar *)data + done, part);
        command(qtest, "b64write 0x%" PRIx64 " 0x%zx %s", address + done, part, text);
    }
}

void qtest_clock_step(Qtest *qtest, int64_t ns)
{
    command(qtest, "clock_step %" PRId64, ns);
}

uint32_t qtest_config_read(Qtest *qtest, uint8_t offset)
{
    command(qtest, "outl 0x%x 0x%x", CONFIG_ADDRESS, CONFIG_ENABLE | QTEST_SLOT << 11 | offset);
    return g_ascii_strtoull(command(qtest, "inl 0x%x", CONFIG_DATA), NULL, 0);
}

void qtest_config_write(Qtest *qtest, uint8_t offset, uint32_t value)
{
    command(qtest, "outl 0x%x 0x%x", CONFIG_ADDRESS, CONFIG_ENABLE | QTEST_SLOT << 11 | offset);
    command(qtest, "outl 0x%x 0x%x", CONFIG_DATA, value);
}

void qtest_reset_machine(Qtest *qtest)
{
    /* A reset clears BAR 0 (offset 0x10): that is how its end is seen. */
    qtest_config_write(qtest, 0x10, 0xfffff000);
    command(qtest, "outb 0x%x 0x%x", RESET_CONTROL, RESET_COLD);
    for (int i = 0; (qtest_config_read(qtest, 0x10) & 0xfffff000) != 0; i++) {
        g_assert_cmpint(i, <, 1000);
        g_usleep(1000);
    }
}
