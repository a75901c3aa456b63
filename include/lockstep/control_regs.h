/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the data sheet of the run-control device lockstep-control.
 * Not here: the device (hw/control/), lsctl (images/lsctl/), its module (guest-driver/control/).
 * Standard: none, the device is our own; docs/control.md describes its use.
 *
 * The device ends a run with a status, notes marks, takes blobs (named byte
 * strings) from the guest, gives it files of the host, and notices a guest
 * that panics or hangs.
 *
 * All registers are 32 bits wide, little endian, in BAR 0; accesses of another
 * size or alignment and to other offsets read as 0, and their writes are
 * ignored. BAR 2 is the window: plain memory through which names and data go.
 * A write to COMMAND carries the command out before it returns; ERROR then says
 * how it went. One transfer at a time: users take turns (lsctl holds a lock).
 * EXIT, PANIC, WATCHDOG and PET may be written at any time.
 */
#ifndef LOCKSTEP_CONTROL_REGS_H
#define LOCKSTEP_CONTROL_REGS_H

/*
 * 1af4:10f0 to 1af4:10ff is what QEMU's docs/specs/pci-ids.rst sets aside for
 * experiments without registration. Linux' virtio_pci looks at every device of
 * this vendor and leaves those from 1080 up alone.
 */
#define LSCTL_PCI_VENDOR 0x1af4
#define LSCTL_PCI_DEVICE 0x10f0

#define LSCTL_BAR_REGISTERS 0
#define LSCTL_BAR_WINDOW    2

/* Offsets in BAR 0. RO: writes are ignored. WO: reads as 0. */
enum lsctl_register {
    /* RO, reset LSCTL_ID_VALUE: tells that the right BAR is mapped. */
    LSCTL_REG_ID        = 0x00,

    /* RO, reset LSCTL_VERSION_VALUE: changes when old software would go wrong. */
    LSCTL_REG_VERSION   = 0x04,

    /* RO, reset LSCTL_WINDOW_SIZE: size of the window in bytes. */
    LSCTL_REG_WINDOW    = 0x08,

    /* WO: carries out an enum lsctl_command, then sets ERROR. */
    LSCTL_REG_COMMAND   = 0x0c,

    /*
     * RW, reset 0: bytes in the window that belong to the next command (a name,
     * a piece of data, or room for one). After GET_DATA: the bytes it put there.
     */
    LSCTL_REG_LENGTH    = 0x10,

    /* RO, reset 0: enum lsctl_error of the last command or EXIT. */
    LSCTL_REG_ERROR     = 0x14,

    /* RO, reset 0: enum lsctl_state. */
    LSCTL_REG_STATE     = 0x18,

    /*
     * RO, reset 0: low and high half of a size in bytes: of the file after
     * GET_OPEN, of the list after LIST_OPEN, of what was taken during a put.
     */
    LSCTL_REG_SIZE_LOW  = 0x1c,
    LSCTL_REG_SIZE_HIGH = 0x20,

    /*
     * WO: ends the run with this status, 0 to LSCTL_STATUS_MAX. A greater value
     * is ERROR_VALUE and ends nothing (its low byte might be 0, a success).
     */
    LSCTL_REG_EXIT      = 0x24,

    /*
     * WO: ends the run as a panic; the value is the number of bytes of text in
     * the window, of which the first LSCTL_PANIC_TEXT_MAX are kept.
     */
    LSCTL_REG_PANIC     = 0x28,

    /*
     * RW, reset 0: milliseconds of guest time without a write to this register
     * or PET after which the run ends as a hang; 0 is never. The first write
     * to this register or PET also ends the wait for the boot (boot-timeout).
     */
    LSCTL_REG_WATCHDOG  = 0x2c,

    /* WO: any value; the watchdog's time starts anew. */
    LSCTL_REG_PET       = 0x30,

    LSCTL_REG_END       = 0x34,
};

/* Values of COMMAND. "name": LENGTH bytes at the start of the window. */
enum lsctl_command {
    /* name: notes the beginning or the end of something measured. State: any. */
    LSCTL_CMD_MARK_BEGIN = 1,
    LSCTL_CMD_MARK_END   = 2,

    /* name: begins a blob. State: idle or lost, then put. */
    LSCTL_CMD_PUT_OPEN   = 3,
    /* Appends LENGTH bytes of the window. State: put. An error drops the blob. */
    LSCTL_CMD_PUT_DATA   = 4,
    /* Makes the blob visible on the host, all of it at once. State: put, then idle. */
    LSCTL_CMD_PUT_CLOSE  = 5,

    /* name: begins to read a file of the host. State: idle or lost, then get. */
    LSCTL_CMD_GET_OPEN   = 6,
    /* Begins to read the list of these files: name, newline, sorted. As GET_OPEN. */
    LSCTL_CMD_LIST_OPEN  = 7,
    /*
     * Puts up to LENGTH bytes into the window and sets LENGTH to their number;
     * 0 is the end of the file. State: get. An error ends the transfer.
     */
    LSCTL_CMD_GET_DATA   = 8,

    /* Drops the transfer, if there is one; an unclosed blob leaves no trace. */
    LSCTL_CMD_ABORT      = 9,

    LSCTL_CMD_END,
};

/* Values of ERROR. */
enum lsctl_error {
    LSCTL_OK              = 0,
    LSCTL_ERROR_COMMAND   = 1,  /* no such command */
    LSCTL_ERROR_STATE     = 2,  /* not a command for this STATE */
    LSCTL_ERROR_LENGTH    = 3,  /* LENGTH is 0 or more than fits */
    LSCTL_ERROR_NAME      = 4,  /* a forbidden name, see below */
    LSCTL_ERROR_VALUE     = 5,  /* a status beyond LSCTL_STATUS_MAX */
    LSCTL_ERROR_NOT_FOUND = 6,  /* the host offers no such file */
    LSCTL_ERROR_LIMIT     = 7,  /* a limit of the host on blobs, bytes or marks */
    LSCTL_ERROR_NO_SPACE  = 8,  /* the host's disk is full */
    LSCTL_ERROR_IO        = 9,  /* the host could not read or write */
    LSCTL_ERROR_NO_DIR    = 10, /* the host gave no directory for this direction */
    LSCTL_ERROR_LOST      = 11, /* the transfer was cut by a restored snapshot */
    LSCTL_ERROR_END,
};

/* Values of STATE. */
enum lsctl_state {
    LSCTL_IDLE  = 0, /* no transfer */
    LSCTL_PUT   = 1, /* between PUT_OPEN and PUT_CLOSE */
    LSCTL_GET   = 2, /* after GET_OPEN or LIST_OPEN, until GET_DATA finds the end */
    LSCTL_LOST  = 3, /* a snapshot was taken during a transfer, and restored */
    LSCTL_ENDED = 4, /* after EXIT, PANIC or a hang: nothing is taken any more */
    LSCTL_STATE_END,
};

enum lsctl_limits {
    LSCTL_ID_VALUE       = 0x4354534c, /* "LSTC" in memory order */
    LSCTL_VERSION_VALUE  = 1,

    /* 64 KiB: copying it costs far more than the one exit it takes. */
    LSCTL_WINDOW_SIZE    = 0x10000,

    LSCTL_STATUS_MAX     = 255, /* what a process can report */
    LSCTL_PANIC_TEXT_MAX = 1024,

    /*
     * A name is 1 to LSCTL_NAME_MAX of A-Z a-z 0-9 . _ - and does not begin with
     * a dot; no blob is called LSCTL_EVENTS_NAME.
     */
    LSCTL_NAME_MAX       = 128,
};

/* The host's own record of a run, next to the blobs. */
#define LSCTL_EVENTS_NAME "events.jsonl"

#endif /* LOCKSTEP_CONTROL_REGS_H */
