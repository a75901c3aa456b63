/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the run-control device's registers, states and watchdog, free of QEMU and of I/O.
 * Not here: PCI, timers and snapshots (control_pci.c), files and events (control_host.c).
 * Standard: none; include/lockstep/control_regs.h is the data sheet.
 */
#ifndef LOCKSTEP_CONTROL_CORE_H
#define LOCKSTEP_CONTROL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep/control_regs.h"

typedef enum ControlEventKind {
    CONTROL_EVENT_MARK,
    CONTROL_EVENT_BLOB,  /* a blob was closed */
    CONTROL_EVENT_ERROR, /* a transfer failed, or ended without a close */
    CONTROL_EVENT_EXIT,
    CONTROL_EVENT_PANIC,
    CONTROL_EVENT_HANG,
} ControlEventKind;

/* Something for the host's record of the run; fields that a kind has not are 0 or NULL. */
typedef struct ControlEvent {
    ControlEventKind kind;
    int64_t virtual_ns;
    const char *phase;   /* MARK: "begin" or "end" */
    const char *name;    /* MARK, BLOB, ERROR: UTF-8 */
    const char *message; /* PANIC: what the guest said, unchecked bytes */
    const char *reason;  /* ERROR: control_error_name(); HANG: "boot" or "watchdog" */
    uint64_t bytes;      /* BLOB */
    uint32_t status;     /* EXIT */
    double seconds;      /* HANG: how long nothing was heard */
} ControlEvent;

/*
 * What the core asks of its surroundings. Those that return a value return
 * LSCTL_OK or the enum lsctl_error that the guest is to see. Names are checked.
 */
typedef struct ControlHostOps {
    uint32_t (*put_open)(void *host, const char *name);
    uint32_t (*put_data)(void *host, const uint8_t *data, size_t size);
    uint32_t (*put_close)(void *host);
    void (*put_drop)(void *host);
    /* Set *size to the bytes there are to read. */
    uint32_t (*get_open)(void *host, const char *name, uint64_t *size);
    uint32_t (*list_open)(void *host, uint64_t *size);
    /* Puts at most room bytes into data, sets *size to their number, 0 at the end. */
    uint32_t (*get_data)(void *host, uint8_t *data, size_t room, size_t *size);
    void (*get_drop)(void *host);
    uint32_t (*event)(void *host, const ControlEvent *event);
    /* The run is over, with this process status. Called once until a reset. */
    void (*end)(void *host, ControlEventKind why, uint32_t status);
    /* For traces: the guest did something the data sheet forbids. */
    void (*bad_access)(void *host, uint64_t offset, unsigned size, bool is_write);
    void (*bad_command)(void *host, uint32_t command, const char *error);
} ControlHostOps;

/* The fields are the caller's business for saving and restoring only. */
typedef struct ControlCore {
    const ControlHostOps *ops;
    void *host;
    uint8_t *window; /* LSCTL_WINDOW_SIZE bytes, the caller's; the guest may write any time */

    uint32_t length;
    uint32_t error;
    uint32_t state; /* enum lsctl_state; change it with set_state() only */
    uint64_t size;
    uint32_t watchdog_ms;
    uint32_t boot_timeout_s; /* 0: the guest may take for ever to boot */
    bool booting;            /* nothing was heard since the reset */
    int64_t heard_ns;        /* when the watchdog's time last began */
    char name[LSCTL_NAME_MAX + 1]; /* of the blob being put */
} ControlCore;

#define CONTROL_NO_DEADLINE INT64_MAX

/*
 * Set up a core, not yet reset. ops, host and window stay the caller's and must
 * outlive it; boot_timeout_s is in seconds of guest time, 0 for none.
 */
void control_core_init(ControlCore *core, const ControlHostOps *ops, void *host,
                       uint8_t *window, uint32_t boot_timeout_s);

/* As at power on; a transfer under way is dropped. now_ns: guest time, as below. */
void control_core_reset(ControlCore *core, int64_t now_ns);

/* The guest reads or writes size bytes (1 to 8) at this offset of BAR 0. */
uint64_t control_core_read(ControlCore *core, uint64_t offset, unsigned size);
void control_core_write(ControlCore *core, uint64_t offset, uint64_t value, unsigned size,
                        int64_t now_ns);

/* When to call control_core_expire(), in guest ns; CONTROL_NO_DEADLINE for never. */
int64_t control_core_deadline(const ControlCore *core);

/* Ends the run as a hang if the deadline has passed. */
void control_core_expire(ControlCore *core, int64_t now_ns);

/*
 * Call after the fields were restored from a snapshot: the host's side of a
 * transfer cannot be restored, so the guest is told that it is lost. Returns
 * false if the restored values are not ones that a core could have had.
 */
bool control_core_restored(ControlCore *core);

/* Whether the guest may use this name; the data sheet's rule for names. */
bool control_name_is_valid(const char *name);

/* "no-space" for LSCTL_ERROR_NO_SPACE and so on; error < LSCTL_ERROR_END. */
const char *control_error_name(uint32_t error);

#endif /* LOCKSTEP_CONTROL_CORE_H */
