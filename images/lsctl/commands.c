/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: what lsctl does with a device, one function per verb.
 * Not here: the command line (lsctl.c), the device itself (device.c).
 * Standard: include/lockstep/control_regs.h, docs/control.md.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"

/* How long an exit may take until it is reported as one that did not happen. */
#define EXIT_SECONDS 10

static const char *const error_texts[LSCTL_ERROR_END] = {
    [LSCTL_OK] = "the device has not done it",
    [LSCTL_ERROR_COMMAND] = "the device does not know this command",
    [LSCTL_ERROR_STATE] = "another transfer is under way, or the run has ended",
    [LSCTL_ERROR_LENGTH] = "a name has 1 to 128 characters",
    [LSCTL_ERROR_NAME] = "a name is made of A-Z a-z 0-9 . _ - and does not begin with a dot; "
                         LSCTL_EVENTS_NAME " is taken",
    [LSCTL_ERROR_VALUE] = "a status is 0 to 255",
    [LSCTL_ERROR_NOT_FOUND] = "the host offers no such file",
    [LSCTL_ERROR_LIMIT] = "a limit of the host is reached (blob-limit, number of blobs or marks)",
    [LSCTL_ERROR_NO_SPACE] = "the host's disk is full",
    [LSCTL_ERROR_IO] = "the host could not read or write; its QEMU says why",
    [LSCTL_ERROR_NO_DIR] = "the host gave the device no directory for this (in=, out=)",
    [LSCTL_ERROR_LOST] = "the transfer was cut by a restored snapshot",
};

/* Prints what went wrong with a verb and its name, if any; returns the STATUS_* for it. */
static int failed(const char *verb, const char *name, uint32_t error)
{
    /* No more of the name than is needed to know it again. */
    message("%s%s%.*s: %s", verb, name ? " " : "", LSCTL_NAME_MAX, name ? name : "",
            error < LSCTL_ERROR_END ? error_texts[error] : "the device reports an unknown error");
    return error == LSCTL_ERROR_NOT_FOUND ? STATUS_NOT_FOUND : STATUS_FAILED;
}

/*
 * Carries out a command on size bytes of data (NULL: leaves the window as it is),
 * sets *got to what LENGTH is then (unless NULL). Returns the device's ERROR.
 */
static uint32_t run(Device *device, enum lsctl_command command, const void *data, size_t size,
                    void *room, size_t *got)
{
    uint32_t error;

    device_begin_turn(device, TURN_COMMAND);
    if (data) {
        device_fill_window(device, data, size);
    }
    device_write(device, LSCTL_REG_LENGTH, size);
    device_write(device, LSCTL_REG_COMMAND, command);
    error = device_read(device, LSCTL_REG_ERROR);
    if (room && error == LSCTL_OK) {
        *got = device_read(device, LSCTL_REG_LENGTH);
        *got = *got < size ? *got : size;
        device_copy_window(device, room, *got);
    }
    device_end_turn(device, TURN_COMMAND);
    return error;
}

/* A name too long for the device goes there cut, but long enough to be refused. */
static uint32_t run_named(Device *device, enum lsctl_command command, const char *name)
{
    return run(device, command, name, strnlen(name, LSCTL_NAME_MAX + 1), NULL, NULL);
}

int command_exit(Device *device, uint32_t status)
{
    device_write(device, LSCTL_REG_EXIT, status);
    if (device_read(device, LSCTL_REG_STATE) != LSCTL_ENDED) {
        return failed("exit", NULL, device_read(device, LSCTL_REG_ERROR));
    }
    /* The machine stops at its next convenience: nothing must happen until then. */
    nanosleep(&(struct timespec) { .tv_sec = EXIT_SECONDS }, NULL);
    message("exit: the run did not end in %d seconds", EXIT_SECONDS);
    return STATUS_FAILED;
}

int command_mark(Device *device, const char *phase, const char *name)
{
    bool begin = strcmp(phase, "begin") == 0;
    uint32_t error = run_named(device, begin ? LSCTL_CMD_MARK_BEGIN : LSCTL_CMD_MARK_END, name);

    return error == LSCTL_OK ? STATUS_OK : failed("mark", name, error);
}

/* Begins a transfer, after ending one whose owner has died. Returns the ERROR. */
static uint32_t begin_transfer(Device *device, enum lsctl_command command, const char *name)
{
    uint32_t state;

    device_begin_turn(device, TURN_TRANSFER);
    state = device_read(device, LSCTL_REG_STATE);
    if (state == LSCTL_PUT || state == LSCTL_GET) {
        run(device, LSCTL_CMD_ABORT, NULL, 0, NULL, NULL);
    }
    return name ? run_named(device, command, name) : run(device, command, NULL, 0, NULL, NULL);
}

static void end_transfer(Device *device)
{
    device_end_turn(device, TURN_TRANSFER);
}

/* Reads until size bytes are there or the input ends; returns their number or -1. */
static ssize_t read_full(int fd, uint8_t *data, size_t size)
{
    size_t have = 0;
    ssize_t got = 1;

    while (have < size && got > 0) {
        got = read(fd, data + have, size - have);
        if (got > 0) {
            have += got;
        } else if (got < 0 && errno == EINTR) {
            got = 1;
        }
    }
    return got < 0 ? -1 : (ssize_t)have;
}

static bool write_full(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, data, size);

        if (done >= 0) {
            data += done;
            size -= done;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* The input is read between commands, so that marks need not wait for a slow one. */
static int put_all(Device *device, const char *name, int fd)
{
    static uint8_t data[LSCTL_WINDOW_SIZE];
    uint32_t error = LSCTL_OK;
    ssize_t size;

    while ((size = read_full(fd, data, sizeof(data))) > 0) {
        error = run(device, LSCTL_CMD_PUT_DATA, data, size, NULL, NULL);
        if (error != LSCTL_OK) {
            return failed("put", name, error);
        }
    }
    if (size < 0) {
        message("put: cannot read standard input: %s", strerror(errno));
        run(device, LSCTL_CMD_ABORT, NULL, 0, NULL, NULL);
        return STATUS_FAILED;
    }
    error = run(device, LSCTL_CMD_PUT_CLOSE, NULL, 0, NULL, NULL);
    return error == LSCTL_OK ? STATUS_OK : failed("put", name, error);
}

int command_put(Device *device, const char *name, int fd)
{
    uint32_t error = begin_transfer(device, LSCTL_CMD_PUT_OPEN, name);
    int status = error == LSCTL_OK ? put_all(device, name, fd) : failed("put", name, error);

    end_transfer(device);
    return status;
}

static int get_all(Device *device, const char *verb, const char *name, int fd)
{
    static uint8_t data[LSCTL_WINDOW_SIZE];
    uint32_t error;
    size_t size = 0;

    for (;;) {
        error = run(device, LSCTL_CMD_GET_DATA, NULL, sizeof(data), data, &size);
        if (error != LSCTL_OK) {
            return failed(verb, name, error);
        }
        if (size == 0) {
            return STATUS_OK;
        }
        if (!write_full(fd, data, size)) {
            message("%s: cannot write standard output: %s", verb, strerror(errno));
            run(device, LSCTL_CMD_ABORT, NULL, 0, NULL, NULL);
            return STATUS_FAILED;
        }
    }
}

int command_get(Device *device, const char *name, int fd)
{
    uint32_t error = begin_transfer(device, LSCTL_CMD_GET_OPEN, name);
    int status = error == LSCTL_OK ? get_all(device, "get", name, fd)
                                   : failed("get", name, error);

    end_transfer(device);
    return status;
}

int command_list(Device *device, int fd)
{
    uint32_t error = begin_transfer(device, LSCTL_CMD_LIST_OPEN, NULL);
    int status = error == LSCTL_OK ? get_all(device, "list", NULL, fd) : failed("list", NULL, error);

    end_transfer(device);
    return status;
}

int command_set_watchdog(Device *device, uint32_t milliseconds)
{
    device_write(device, LSCTL_REG_WATCHDOG, milliseconds);
    if (device_read(device, LSCTL_REG_WATCHDOG) != milliseconds) {
        return failed("watchdog", NULL, LSCTL_ERROR_STATE);
    }
    return STATUS_OK;
}

void command_pet(Device *device)
{
    uint32_t milliseconds;

    while ((milliseconds = device_read(device, LSCTL_REG_WATCHDOG)) != 0) {
        /* Three chances, for a guest that is slow but not dead. */
        uint64_t pause_ns = milliseconds * UINT64_C(1000000) / 3;

        device_write(device, LSCTL_REG_PET, 1);
        nanosleep(&(struct timespec) {
            .tv_sec = pause_ns / 1000000000,
            .tv_nsec = pause_ns % 1000000000,
        }, NULL);
    }
}
