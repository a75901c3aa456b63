/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: lsctl's device.h over the device's own core, with a host that is in memory.
 * Not here: sysfs (test_lsctl.py), the device in QEMU (tests/qtest).
 * Standard: include/lockstep/control_regs.h.
 */
#ifndef LOCKSTEP_DEVICE_MODEL_H
#define LOCKSTEP_DEVICE_MODEL_H

#include <glib.h>

#include "device.h"

/* The one device; device_model_new() makes it, device_close() of lsctl frees it. */
typedef struct DeviceModel {
    GHashTable *files;   /* name to GBytes: what the host offers */
    GHashTable *blobs;   /* name to GBytes: what the guest has put */
    GPtrArray *events;   /* "mark begin x", "exit 3" and so on */
    uint64_t disk_room;  /* bytes until the host's disk is full */
    unsigned pets;       /* writes to PET */
    unsigned pets_until_off; /* then someone turns the watchdog off; 0: never */
} DeviceModel;

Device *device_model_new(void);
DeviceModel *device_model(Device *device);

/* Offer a file to the guest. */
void device_model_add_file(Device *device, const char *name, const void *data, size_t size);

/* A caller of the device that dies in the middle of a put or get. */
void device_model_die_in_transfer(Device *device, enum lsctl_command open, const char *name);

#endif /* LOCKSTEP_DEVICE_MODEL_H */
