/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: what QEMU's own files call in hw/clock; hw/qemu/hooks.toml has the calls.
 * Not here: what the parts of hw/clock need from each other (clock.h).
 * Standard: none; docs/lockstep.md explains the model.
 *
 * Every function may be called with lockstep off, and then does nothing.
 */
#ifndef LOCKSTEP_CLOCK_HOOKS_H
#define LOCKSTEP_CLOCK_HOOKS_H

#include "qemu/timer.h"

/* Set once, before the accelerator starts, by -object lockstep-clock. */
extern bool lockstep_on;

/* ---- rounds.c, called from accel/tcg ---- */

/* The vCPU thread's life in lockstep mode: never returns. Caller holds the BQL. */
void lockstep_run(void);

/*
 * @cpu's budget does not cover the block it came to, of @block_insns
 * instructions. Returns how many to run as a block of their own, 0 when the
 * slice is over.
 */
uint32_t lockstep_tail(CPUState *cpu, uint32_t block_insns);

/* The TLB's resize policy looks at the age of a table: guest time in lockstep mode. */
int64_t lockstep_tlb_clock(void);

/* ---- io_sites.c, called from accel/tcg ---- */

/* The instruction at linear address @pc came to a device in the middle of a block. */
void lockstep_io_site_add(uint64_t pc);

/* Whether a block should end after the instruction at linear address @pc. */
bool lockstep_io_site(uint64_t pc);

/* ---- random.c, called from util/ ---- */

/* Fills @data with what the machine takes for random: a function of the seed and of what was
 * drawn before. */
void lockstep_random(void *data, size_t size);

/* ---- gate.c, called from util/ ---- */

/* The main loop wants to handle what poll() found; waits for a boundary. Holds the BQL. */
void lockstep_gate_enter(void);
/* The main loop goes back to poll(). Holds the BQL. */
void lockstep_gate_leave(void);
/* Whether a wake-up of the main loop can be left out: the vCPU thread does the work itself. */
bool lockstep_quiet(void);

/* ---- interrupts.c, called from hw/intc/apic.c ---- */

/*
 * Interrupt @vector for @cpu. Returns true when it is held back until @cpu's own
 * time has come to the sender's; it is delivered then by lockstep_apic_set_irq().
 */
bool lockstep_hold_vector(CPUState *cpu, int vector, int trigger_mode);
/* In hw/intc/apic.c: delivers @vector to the local APIC @apic. */
void lockstep_apic_set_irq(DeviceState *apic, int vector, int trigger_mode);

#endif
