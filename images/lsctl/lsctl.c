/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: lsctl's command line and its watchdog process; a guest drives its run with it.
 * Not here: what the verbs do (commands.c), the run-control device (device.c).
 * Standard: none; docs/control.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"

/* Holds the number of the process that pets, which also holds a lock on it. */
#define PETTING_FILE "/run/lsctl.watchdog"

/* A day: what is longer is a mistake of units. */
#define WATCHDOG_MAX_SECONDS 86400

static const char help[] =
    "usage: lsctl exit STATUS             end the run with a status, 0 to 255\n"
    "       lsctl mark begin|end NAME     note where something measured begins or ends\n"
    "       lsctl put NAME < FILE         give the host a blob of any size\n"
    "       lsctl get NAME > FILE         take a file from the host\n"
    "       lsctl list                    print the names of the host's files\n"
    "       lsctl watchdog SECONDS        end the run if this guest stops for so long;\n"
    "                                     pets in the background; 0 turns it off\n"
    "       lsctl --help\n"
    "\n"
    "Drives QEMU's lockstep-control device. A NAME is made of A-Z a-z 0-9 . _ - and\n"
    "does not begin with a dot. Exit status: 0 done, 1 failed, 2 wrong usage, 3 this\n"
    "machine has no such device, 4 the host has no file of this name.\n"
    "LSCTL_ROOT=DIRECTORY is put before /sys and /run (for tests).\n";

/* Takes a decimal number of at most max; prints what is wrong otherwise. */
static bool parse_number(const char *what, const char *text, uint32_t max, uint32_t *number)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > max) {
        message("%s '%s': must be a number from 0 to %u", what, text, max);
        return false;
    }
    *number = value;
    return true;
}

static int verb_exit(Device *device, char **arguments)
{
    uint32_t status = strtoul(arguments[0], NULL, 10);

    return command_exit(device, status);
}

static int verb_mark(Device *device, char **arguments)
{
    return command_mark(device, arguments[0], arguments[1]);
}

static int verb_put(Device *device, char **arguments)
{
    return command_put(device, arguments[0], STDIN_FILENO);
}

static int verb_get(Device *device, char **arguments)
{
    return command_get(device, arguments[0], STDOUT_FILENO);
}

static int verb_list(Device *device, char **arguments)
{
    (void)arguments;
    return command_list(device, STDOUT_FILENO);
}

/*
 * Becomes the one process that pets: ends an earlier one, whose pace may not
 * suit the new time. Does not return if all is well.
 */
static void pet_alone(Device *device)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const char *root = getenv("LSCTL_ROOT");
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s" PETTING_FILE, root ? root : "");
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        message("cannot open %s: %s", path, strerror(errno));
        return;
    }
    while (fcntl(fd, F_SETLK, &lock) < 0) {
        struct flock holder = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        if (fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK && holder.l_pid > 0) {
            kill(holder.l_pid, SIGTERM);
        }
        nanosleep(&(struct timespec) { .tv_nsec = 10000000 }, NULL);
    }
    command_pet(device);
    exit(STATUS_OK);
}

static int verb_watchdog(Device *device, char **arguments)
{
    uint32_t seconds = strtoul(arguments[0], NULL, 10);
    int status = command_set_watchdog(device, seconds * 1000);
    pid_t child;

    if (status != STATUS_OK || seconds == 0) {
        return status;
    }
    child = fork();
    if (child < 0) {
        message("watchdog: cannot fork: %s", strerror(errno));
        return STATUS_FAILED;
    }
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);

        /* Whoever waits for the end of our output must not wait for this process. */
        setsid();
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        pet_alone(device);
        _exit(STATUS_FAILED);
    }
    return STATUS_OK;
}

static bool check_exit(char **arguments)
{
    uint32_t number;

    return parse_number("exit status", arguments[0], LSCTL_STATUS_MAX, &number);
}

static bool check_mark(char **arguments)
{
    if (strcmp(arguments[0], "begin") != 0 && strcmp(arguments[0], "end") != 0) {
        message("mark '%s': must be begin or end", arguments[0]);
        return false;
    }
    return true;
}

static bool check_watchdog(char **arguments)
{
    uint32_t number;

    return parse_number("watchdog seconds", arguments[0], WATCHDOG_MAX_SECONDS, &number);
}

static const struct {
    const char *name;
    int arguments;
    int stream; /* of ours that it reads or writes, -1: none */
    bool (*check)(char **arguments); /* before the device is looked for; NULL: nothing */
    int (*run)(Device *device, char **arguments);
} verbs[] = {
    { "exit", 1, -1, check_exit, verb_exit },
    { "mark", 2, -1, check_mark, verb_mark },
    { "put", 1, STDIN_FILENO, NULL, verb_put },
    { "get", 1, STDOUT_FILENO, NULL, verb_get },
    { "list", 0, STDOUT_FILENO, NULL, verb_list },
    { "watchdog", 1, -1, check_watchdog, verb_watchdog },
};

int main(int argc, char **argv)
{
    Device *device;
    int status;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return STATUS_OK;
    }
    for (size_t i = 0; argc >= 2 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(argv[1], verbs[i].name) != 0) {
            continue;
        }
        if (argc - 2 != verbs[i].arguments) {
            message("%s: %d argument(s) needed, %d given", argv[1], verbs[i].arguments, argc - 2);
            return STATUS_USAGE;
        }
        if (verbs[i].check && !verbs[i].check(argv + 2)) {
            return STATUS_USAGE;
        }
        /* Its number would go to the next file that is opened. */
        if (verbs[i].stream >= 0 && fcntl(verbs[i].stream, F_GETFD) < 0) {
            message("%s: standard %s is closed", argv[1],
                    verbs[i].stream == STDIN_FILENO ? "input" : "output");
            return STATUS_FAILED;
        }
        status = device_open(&device);
        if (status == STATUS_OK) {
            status = verbs[i].run(device, argv + 2);
            device_close(device);
        }
        return status;
    }
    if (argc >= 2) {
        message("unknown verb '%s'", argv[1]);
    }
    fputs(help, stderr);
    return STATUS_USAGE;
}
