/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: what lsctl can do with a device, one function per verb.
 * Not here: the command line (lsctl.c), the device itself (device.c).
 * Standard: include/lockstep/control_regs.h, docs/control.md.
 */
#ifndef LSCTL_COMMANDS_H
#define LSCTL_COMMANDS_H

#include <stdint.h>

#include "device.h"

/*
 * All return STATUS_OK, or another STATUS_* after a message. Names are passed
 * on as they are: the device refuses those it does not allow.
 */

/* End the run with this status (0 to LSCTL_STATUS_MAX); returns only if that fails. */
int command_exit(Device *device, uint32_t status);

/* Note the "begin" or "end" of name. */
int command_mark(Device *device, const char *phase, const char *name);

/* Hand all that can be read from fd to the host, as the blob name. */
int command_put(Device *device, const char *name, int fd);

/* Write the host's file name to fd. */
int command_get(Device *device, const char *name, int fd);

/* Write the names of the host's files to fd, one per line. */
int command_list(Device *device, int fd);

/* Set the watchdog; 0 milliseconds turns it off. */
int command_set_watchdog(Device *device, uint32_t milliseconds);

/* Pet the watchdog until someone turns it off. */
void command_pet(Device *device);

#endif /* LSCTL_COMMANDS_H */
