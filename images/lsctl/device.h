/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: how lsctl reaches the run-control device: registers, window, turns among callers.
 * Not here: what is done with it (commands.c); tests put a device model behind this header.
 * Standard: include/lockstep/control_regs.h is the device's data sheet.
 */
#ifndef LSCTL_DEVICE_H
#define LSCTL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "lockstep/control_regs.h"

/* Exit statuses of lsctl; docs/control.md lists them. */
enum {
    STATUS_OK = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_NO_DEVICE = 3,
    STATUS_NOT_FOUND = 4,
};

typedef struct Device Device;

/* What callers take turns at. */
typedef enum DeviceTurn {
    TURN_TRANSFER, /* from the opening of a put, get or list to its end */
    TURN_COMMAND,  /* the window and registers of one command */
} DeviceTurn;

/*
 * Find and map the device. Returns a STATUS_*; unless STATUS_OK a message was
 * printed. The caller closes *device.
 */
int device_open(Device **device);

/* Unmap and free; ends this caller's turns. */
void device_close(Device *device);

uint32_t device_read(Device *device, enum lsctl_register offset);
void device_write(Device *device, enum lsctl_register offset, uint32_t value);

/* Copy size bytes, at most LSCTL_WINDOW_SIZE, into or out of the window. */
void device_fill_window(Device *device, const void *data, size_t size);
void device_copy_window(Device *device, void *data, size_t size);

/* Wait for this caller's turn, end it. */
void device_begin_turn(Device *device, DeviceTurn turn);
void device_end_turn(Device *device, DeviceTurn turn);

#endif /* LSCTL_DEVICE_H */
