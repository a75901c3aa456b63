/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: a client of QEMU's qtest protocol: starts a QEMU without CPUs and does their accesses.
 * Not here: what is tested; one fixture per device does that (control_fixture.h).
 * Standard: the qtest protocol of QEMU 10.0, the comment in its system/qtest.c.
 */
#ifndef LOCKSTEP_QTEST_H
#define LOCKSTEP_QTEST_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Qtest Qtest;

typedef struct QtestSetup {
    const char *const *arguments; /* QEMU's, NULL at the end, besides the machine itself */
    uint64_t file_limit;          /* bytes that QEMU may write to a file, 0: no limit */
} QtestSetup;

/* Where a device of the tests sits on the root bus, and QEMU's option for it. */
#define QTEST_SLOT        16
#define QTEST_SLOT_OPTION "addr=10.0"

/*
 * Start $LOCKSTEP_BUILD/qemu/qemu-system-x86_64. A failure to start, or an
 * answer that is not one, ends the test program.
 */
Qtest *qtest_start(const QtestSetup *setup);

/*
 * Wait for QEMU's own end; returns its exit status, -1 if a signal ended it.
 * messages (unless NULL): what it printed on standard error, the caller frees it.
 */
int qtest_wait(Qtest *qtest, char **messages);

/* Kill QEMU and free; qtest_wait() may have been called. */
void qtest_stop(Qtest *qtest);

/* One access of size 1, 2, 4 or 8 bytes to guest memory. */
uint64_t qtest_read(Qtest *qtest, uint64_t address, unsigned size);
void qtest_write(Qtest *qtest, uint64_t address, uint64_t value, unsigned size);

/* Any number of bytes of guest RAM. */
void qtest_memory_read(Qtest *qtest, uint64_t address, void *data, size_t size);
void qtest_memory_write(Qtest *qtest, uint64_t address, const void *data, size_t size);

/* Move the virtual clock on by ns; its timers run. */
void qtest_clock_step(Qtest *qtest, int64_t ns);

/* Ask for a reset of the machine and wait until it is done. */
void qtest_reset_machine(Qtest *qtest);

/* A configuration register of the device in QTEST_SLOT; offset is a multiple of 4. */
uint32_t qtest_config_read(Qtest *qtest, uint8_t offset);
void qtest_config_write(Qtest *qtest, uint8_t offset, uint32_t value);

#endif /* LOCKSTEP_QTEST_H */
