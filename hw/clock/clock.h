/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: what the parts of hw/clock share: the clock's state, a vCPU's state.
 * Not here: what QEMU's files call (hooks.h).
 * Standard: none; docs/lockstep.md explains the model.
 *
 * Time is counted in ticks: one tick is the time of one guest instruction.
 * All functions are called with the BQL held unless they say otherwise.
 */
#ifndef LOCKSTEP_CLOCK_H
#define LOCKSTEP_CLOCK_H

#include "hw/core/cpu.h"
#include "schedule.h"

enum {
    LOCKSTEP_CPUS_MAX = 256,        /* local APIC numbers of 8 bits */
    LOCKSTEP_SLICE_MAX = 0xffff,    /* ticks: what QEMU's 16-bit instruction counter holds */
    LOCKSTEP_QUANTUM_MIN = 100,     /* ns */
    LOCKSTEP_RATE_MAX = 16,         /* of numerator and denominator */
    LOCKSTEP_PAUSE_MAX = 10000,     /* ns */
    LOCKSTEP_VECTORS = 256,
    LOCKSTEP_CHAIN = 16,            /* digits */
    LOCKSTEP_SPIN_REGS = 17,        /* 16 general registers and the instruction pointer */
};

/* What the user set; constant once the machine runs. */
typedef struct LockstepConfig {
    uint32_t quantum;       /* ns */
    uint32_t rate_num;      /* instructions per ns, as a ratio */
    uint32_t rate_den;
    uint32_t pause;         /* ns that a PAUSE instruction takes */
    uint64_t seed;          /* 0: plain order */
    char *hash_log;         /* file, or NULL */
    uint32_t hash_rounds;   /* rounds between two records */
    uint32_t quantum_ticks;
    uint32_t pause_ticks;
} LockstepConfig;

/* Signals to a vCPU that are no vectors; each can be held once. */
typedef enum LockstepSignal {
    LOCKSTEP_SIGNAL_NMI,
    LOCKSTEP_SIGNAL_SMI,
    LOCKSTEP_SIGNAL_INIT,
    LOCKSTEP_SIGNAL_SIPI,
    LOCKSTEP_SIGNALS,
} LockstepSignal;

/* Interrupts of other vCPUs and of devices on their way to one vCPU. */
typedef struct LockstepHeld {
    uint32_t count;
    int64_t next;           /* ticks: the earliest of all, INT64_MAX: none */
    DECLARE_BITMAP(vectors, LOCKSTEP_VECTORS);
    DECLARE_BITMAP(levels, LOCKSTEP_VECTORS);   /* which are level-triggered */
    uint32_t signals;       /* 1 << LockstepSignal */
    int64_t vector_time[LOCKSTEP_VECTORS];
    int64_t signal_time[LOCKSTEP_SIGNALS];
} LockstepHeld;

typedef struct LockstepCpu {
    CPUState *cpu;
    int64_t done;           /* ticks into the round that have been run */
    int64_t ticks;          /* all that it ran since power-on, PAUSEs at their price */
    int64_t debt;           /* ticks of a PAUSE that go beyond the end of its slice */
    uint64_t spin[LOCKSTEP_SPIN_REGS];  /* the registers at the last PAUSE */
    uint32_t spins;         /* PAUSEs in a row that found the same registers */
    int64_t spun;           /* ticks since the first of them */
    bool waiting;           /* the debt is such a PAUSE's: an interrupt ends it */
    int32_t startup;        /* in snapshots only: see lockstep_startup() */
    LockstepHeld held;
} LockstepCpu;

typedef struct LockstepClock {
    LockstepConfig config;
    int64_t now;            /* ticks: start of the round, or the boundary */
    uint64_t round;         /* rounds since power-on */
    uint64_t random;        /* words drawn by the machine */
    uint8_t chain[LOCKSTEP_CHAIN];      /* the last record's hash, in hexadecimal */
    uint32_t cpus;
    LockstepCpu *cpu;       /* in the order of cpu_index */

    LockstepCpu *running;   /* whose slice runs now; NULL between slices */
    int64_t slice_from;     /* ticks into the round where it began */
    bool alone;             /* the round has one runnable vCPU and may end early */
} LockstepClock;

extern LockstepClock lockstep;

static inline int64_t lockstep_ticks_to_ns(int64_t ticks)
{
    return schedule_ticks_to_ns(ticks, lockstep.config.rate_num, lockstep.config.rate_den);
}

static inline int64_t lockstep_ns_to_ticks(int64_t ns)
{
    return schedule_ns_to_ticks(ns, lockstep.config.rate_num, lockstep.config.rate_den);
}

static inline LockstepCpu *lockstep_cpu(CPUState *cpu)
{
    return &lockstep.cpu[cpu->cpu_index];
}

/* ---- rounds.c ---- */

/* Ticks now: the running vCPU's own time, else the boundary's. Any thread. */
int64_t lockstep_now(void);
/* Guest time in ns. Any thread. */
int64_t lockstep_now_ns(void);
/* Between slices: it is @ticks now. */
void lockstep_set_now(int64_t ticks);
/* End the running slice after @ticks more, or sooner if it would have ended sooner. */
void lockstep_slice_cut(int64_t ticks);
/* A timer or bottom half is new: a vCPU that runs alone must not run past it. */
void lockstep_kick(CPUState *cpu);

/* ---- gate.c ---- */

/* Between rounds or at a debugger's stop: lets the main loop in if it wants to, waits while the
 * machine is stopped. @idle: there is nothing to run, wait for something. */
void lockstep_boundary(bool idle);
/* @cpu hit a breakpoint inside its slice: hands over to the main loop, returns when it goes on. */
void lockstep_debug_stop(CPUState *cpu);

/* ---- interrupts.c ---- */

void lockstep_held_init(LockstepHeld *held);
/* The accelerator's handle_interrupt: @mask is raised for @cpu, now or when its time comes. */
void lockstep_interrupt(CPUState *cpu, int mask);
/* Deliver what is due to @cpu at @ticks. */
void lockstep_release(LockstepCpu *cpu, int64_t ticks);

/* ---- x86.c, the only file that knows the guest's registers ---- */

/* The CPU_INTERRUPT_ bit of a signal. */
int lockstep_signal_mask(LockstepSignal signal);
DeviceState *lockstep_apic(CPUState *cpu);
/* Where a start-up signal on its way to @cpu tells it to begin. The APIC's own section has it only
 * once the INIT before it has been taken. */
int32_t lockstep_startup(CPUState *cpu);
void lockstep_set_startup(CPUState *cpu, int32_t vector);
/* The vCPU's registers by name, for the hash log: "rip=... rax=... fpu=hash". */
void lockstep_registers(CPUState *cpu, GString *text);
/* NULL, or what about this CPU model cannot be had in lockstep mode. */
const char *lockstep_cpu_refused(CPUState *cpu);

/* ---- hash_log.c ---- */

/* Open config.hash_log. Returns false and sets @errp if it cannot be. */
bool lockstep_hash_open(Error **errp);
/* At a boundary: write a record if one is due. */
void lockstep_hash_round(void);

/* ---- refuse.c ---- */

/* Look at the whole machine for what would make runs differ; exits with a message on a find. */
void lockstep_check_machine(void);

/* ---- machine.c ---- */

/* Called once, before the machine is made: its vCPUs' states, the snapshot's section. */
void lockstep_prepare_machine(void);

#endif
