/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of faults share: rules as one line of text, an I/O queue whose bytes are looked
 * at.
 * Not here: expectations.
 * No standard.
 */
#ifndef TESTS_UNIT_FAULT_RIG_H
#define TESTS_UNIT_FAULT_RIG_H

#include "engine/fault.h"
#include "wire.h"

/* A rule from "key=value key=value ..."; enabled. */
struct lst_fault *fault_add(Rig *rig, const char *text);
uint64_t fault_seen(const struct lst_fault *fault);
uint64_t fault_fired(const struct lst_fault *fault);

/*
 * A controller with I/O queue 1 of RIG_IO_ENTRIES entries, SQ flow control on, whose output is
 * captured. One command was completed there: Connect, so SQHD is 1.
 */
typedef struct FaultWire {
    RigIo s;
    HostPduFormat format;
    GByteArray *expect;
} FaultWire;

FaultWire fault_wire(bool digests);
void fault_wire_free(FaultWire *w);

/* Sends a command; data for a write come by R2T. */
void fault_flush(FaultWire *w, uint16_t cid);
void fault_read(FaultWire *w, uint16_t cid, uint64_t slba);
void fault_write(FaultWire *w, uint16_t cid, uint64_t slba, uint32_t blocks);

/* Right PDUs, appended to w->expect. */
void fault_expect_resp(FaultWire *w, uint16_t cid, uint16_t sqhd, uint16_t status);
/* One block from @slba of the media. */
void fault_expect_data(FaultWire *w, uint16_t cid, uint64_t slba);
void fault_expect_r2t(FaultWire *w, uint16_t cid, uint16_t ttag, uint32_t length);

/* What was captured is exactly w->expect; both are emptied. */
void fault_check(FaultWire *w);

#endif
