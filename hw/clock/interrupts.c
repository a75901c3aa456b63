/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: interrupts on their way from one vCPU, or a device it talks to, to another vCPU.
 * Not here: the local APIC (QEMU's), when a slice ends (rounds.c).
 * Standard: Intel SDM volume 3, chapter 11 (APIC) for what can be sent; nothing of it is
 *           implemented here.
 *
 * In a round the sender may be ahead of the receiver. What it sends is kept until the receiver's
 * own time has come to the sender's. A vector is held once, at its earliest time: the APIC keeps
 * one bit for each, so a second one would be lost there as well.
 */
#include "qemu/osdep.h"
#include "clock.h"
#include "hooks.h"
#include "qemu/bitmap.h"
#include "qemu/main-loop.h"
#include "system/cpus.h"

void lockstep_held_init(LockstepHeld *held)
{
    memset(held, 0, sizeof(*held));
    held->next = INT64_MAX;
}

/* Only what comes out of another vCPU's slice; at a boundary all have the same time. */
static bool comes_from_another(CPUState *cpu)
{
    return lockstep.running && current_cpu && lockstep.running->cpu != cpu;
}

/* The sender's time. A vCPU that runs alone stops here, so that both go on from this time. */
static int64_t sent(void)
{
    if (lockstep.alone) {
        lockstep_slice_cut(0);
    }
    return lockstep_now();
}

/* Vectors only: a start-up signal that overtook the INIT before it would be lost. */
static int64_t latency(LockstepCpu *to, unsigned vector)
{
    return schedule_latency(lockstep.config.seed, lockstep.round,
                            (uint64_t)to->cpu->cpu_index << 16 | vector,
                            lockstep.config.quantum_ticks / 2);
}

bool lockstep_hold_vector(CPUState *cpu, int vector, int trigger_mode)
{
    LockstepHeld *held;
    LockstepCpu *to;
    int64_t time;

    if (!lockstep_on || !comes_from_another(cpu)) {
        return false;
    }
    to = lockstep_cpu(cpu);
    held = &to->held;
    vector &= LOCKSTEP_VECTORS - 1;
    time = sent() + latency(to, vector);
    if (!test_and_set_bit(vector, held->vectors)) {
        held->count++;
        held->vector_time[vector] = time;
    } else {
        held->vector_time[vector] = MIN(held->vector_time[vector], time);
    }
    if (trigger_mode) {
        set_bit(vector, held->levels);
    } else {
        clear_bit(vector, held->levels);
    }
    held->next = MIN(held->next, held->vector_time[vector]);
    return true;
}

static void hold_signal(LockstepCpu *to, LockstepSignal signal)
{
    LockstepHeld *held = &to->held;
    int64_t time = sent();

    if (!(held->signals & 1u << signal)) {
        held->signals |= 1u << signal;
        held->count++;
        held->signal_time[signal] = time;
    } else {
        held->signal_time[signal] = MIN(held->signal_time[signal], time);
    }
    held->next = MIN(held->next, held->signal_time[signal]);
}

void lockstep_interrupt(CPUState *cpu, int mask)
{
    if (comes_from_another(cpu)) {
        for (LockstepSignal s = 0; s < LOCKSTEP_SIGNALS; s++) {
            if (mask & lockstep_signal_mask(s)) {
                hold_signal(lockstep_cpu(cpu), s);
                mask &= ~lockstep_signal_mask(s);
            }
        }
        if (!mask) {
            return;
        }
        if (lockstep.alone) {
            lockstep_slice_cut(0);
        }
    } else if (lockstep.running && current_cpu == cpu && !cpu->neg.can_do_io &&
               (mask & ~cpu->interrupt_request)) {
        cpu_abort(cpu, "lockstep: an interrupt is raised in the middle of a block");
    }
    cpu->interrupt_request |= mask;
    qatomic_set(&cpu->neg.icount_decr.u16.high, -1);
    if (!current_cpu) {
        qemu_cpu_kick(cpu);     /* from the main loop: the thread may wait for work */
    }
}

static void release_vectors(LockstepCpu *to, int64_t now)
{
    LockstepHeld *held = &to->held;

    for (int v = find_first_bit(held->vectors, LOCKSTEP_VECTORS); v < LOCKSTEP_VECTORS;
         v = find_next_bit(held->vectors, LOCKSTEP_VECTORS, v + 1)) {
        if (held->vector_time[v] <= now) {
            clear_bit(v, held->vectors);
            held->count--;
            lockstep_apic_set_irq(lockstep_apic(to->cpu), v, test_bit(v, held->levels));
        } else {
            held->next = MIN(held->next, held->vector_time[v]);
        }
    }
}

static void release_signals(LockstepCpu *to, int64_t now)
{
    LockstepHeld *held = &to->held;

    for (LockstepSignal s = 0; s < LOCKSTEP_SIGNALS; s++) {
        if (!(held->signals & 1u << s)) {
            continue;
        }
        if (held->signal_time[s] <= now) {
            held->signals &= ~(1u << s);
            held->count--;
            lockstep_interrupt(to->cpu, lockstep_signal_mask(s));
        } else {
            held->next = MIN(held->next, held->signal_time[s]);
        }
    }
}

void lockstep_release(LockstepCpu *to, int64_t now)
{
    g_assert(!lockstep.running);
    if (to->held.next > now) {
        return;
    }
    current_cpu = to->cpu;
    to->held.next = INT64_MAX;
    release_vectors(to, now);
    release_signals(to, now);
}
