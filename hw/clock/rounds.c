/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: rounds. All vCPUs run in one host thread, each for the same stretch of guest time.
 * Not here: the way in for the main loop (gate.c), interrupts between vCPUs (interrupts.c).
 * Standard: none; docs/lockstep.md explains the model.
 */
#include "qemu/osdep.h"
#include "accel/tcg/tcg-accel-ops.h"
#include "block/aio.h"
#include "clock.h"
#include "exec/cpu-common.h"
#include "hooks.h"
#include "hw/core/cpu.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "system/cpus.h"

/* Timers and bottom halves may start each other; a model that never ends is told on. */
#define SETTLE_MAX 100000

bool lockstep_on;
LockstepClock lockstep;

/* lockstep.now for other threads, in ns */
static int64_t boundary_ns;

static uint16_t order[LOCKSTEP_CPUS_MAX];

/* ---- time ---- */

/* What the running slice has used of its budget. */
static int64_t slice_used(CPUState *cpu)
{
    return cpu->icount_budget - cpu->neg.icount_decr.u16.low;
}

int64_t lockstep_now(void)
{
    LockstepCpu *running = lockstep.running;

    if (running && current_cpu) {
        if (!running->cpu->neg.can_do_io) {
            cpu_abort(running->cpu, "lockstep: the clock is read in the middle of a block");
        }
        return lockstep.now + lockstep.slice_from + slice_used(running->cpu);
    }
    return lockstep.now;
}

int64_t lockstep_now_ns(void)
{
    return current_cpu ? lockstep_ticks_to_ns(lockstep_now()) : qatomic_read_i64(&boundary_ns);
}

int64_t lockstep_tlb_clock(void)
{
    return lockstep_on ? lockstep_ticks_to_ns(lockstep.now) : get_clock_realtime();
}

void lockstep_set_now(int64_t ticks)
{
    lockstep.now = ticks;
    qatomic_set_i64(&boundary_ns, lockstep_ticks_to_ns(ticks));
}

/* ---- a slice ---- */

uint32_t lockstep_tail(CPUState *cpu, uint32_t block_insns)
{
    uint32_t left = cpu->neg.icount_decr.u16.low;

    /*
     * A slice ends at an exact count, which nearly always is in mid-block. Powers of two
     * keep the number of different blocks at one address small, so that they are found again.
     */
    assert(left < block_insns);
    return left ? 1u << (31 - clz32(left)) : 0;
}

void lockstep_slice_cut(int64_t ticks)
{
    CPUState *cpu = lockstep.running->cpu;
    int64_t left = cpu->neg.icount_decr.u16.low;

    ticks = MAX(ticks, 0);
    if (ticks < left) {
        cpu->icount_budget -= left - ticks;
        cpu->neg.icount_decr.u16.low = ticks;
    }
}

void lockstep_kick(CPUState *cpu)
{
    int64_t deadline, ticks;

    if (!lockstep.running || !current_cpu) {
        return;     /* qemu_cpu_kick() has woken the thread */
    }
    if (lockstep.alone) {
        deadline = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
        ticks = lockstep.config.quantum_ticks;
        if (deadline >= 0) {
            ticks = MIN(ticks, lockstep_ns_to_ticks(deadline));
        }
        lockstep_slice_cut(ticks);
    }
}

/* Run @lc from @lc->done to @to, both ticks into the round, or until it halts. */
static void run_slice(LockstepCpu *lc, int64_t to)
{
    CPUState *cpu = lc->cpu;
    int64_t used;

    cpu->icount_budget = to - lc->done;
    cpu->icount_extra = 0;
    cpu->neg.icount_decr.u16.low = cpu->icount_budget;
    lockstep.slice_from = lc->done;
    lockstep.running = lc;
    current_cpu = cpu;

    do {
        int reason;

        if (!cpu_work_list_empty(cpu)) {
            process_queued_cpu_work(cpu);
        }
        bql_unlock();
        reason = tcg_cpu_exec(cpu);
        bql_lock();
        if (reason == EXCP_DEBUG) {
            lockstep_debug_stop(cpu);
        }
        /* Every other reason to come back is the host's; the guest must not notice. */
    } while (cpu->neg.icount_decr.u16.low && !(cpu->halted && !cpu_has_work(cpu)));

    used = slice_used(cpu);
    cpu->neg.icount_decr.u16.low = 0;
    cpu->icount_budget = 0;
    lockstep.running = NULL;
    lc->done += used;
    lc->ticks += used;
}

static bool has_work(LockstepCpu *lc)
{
    return !lc->cpu->halted || cpu_has_work(lc->cpu);
}

/* The rest of a PAUSE that did not fit into the last slice, up to @to. */
static void pay_debt(LockstepCpu *lc, int64_t to)
{
    int64_t part = MIN(lc->debt, to - lc->done);

    lc->debt -= part;
    lc->done += part;
    lc->waiting &= lc->debt != 0;
}

/* An interrupt ends a spinning vCPU's wait. */
static void end_wait(LockstepCpu *lc)
{
    if (lc->waiting && lc->cpu->interrupt_request) {
        lc->debt = 0;
        lc->waiting = false;
    }
}

/*
 * Run @lc to the end of the round at @length, stopping where an interrupt is due. It may be done
 * earlier: asleep, or alone and cut short.
 */
static void run_cpu(LockstepCpu *lc, int64_t length)
{
    int64_t start = lockstep.now;

    while (lc->done < length) {
        int64_t to;

        if (lc->held.count) {
            lockstep_release(lc, start + lc->done);
        }
        end_wait(lc);
        to = MIN(start + length, lc->held.next) - start;
        pay_debt(lc, lc->waiting ? to : length);
        if (lc->done >= to) {
            continue;
        }
        if (has_work(lc)) {
            run_slice(lc, to);
            if (lockstep.alone && lc->done < to) {
                break;
            }
        } else if (to < length) {
            lc->done = to;      /* asleep until the interrupt */
        } else {
            break;
        }
    }
}

/* ---- a round ---- */

/* Timers and bottom halves, until there is nothing left to do at this time. */
static void settle(void)
{
    AioContext *ctx = qemu_get_aio_context();
    unsigned turns = 0;
    bool progress;

    current_cpu = first_cpu;
    do {
        progress = aio_bh_poll(ctx) > 0;
        progress |= qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
        progress |= timerlist_run_timers(ctx->tlg.tl[QEMU_CLOCK_VIRTUAL]);
    } while (progress && ++turns < SETTLE_MAX);
    g_assert(turns < SETTLE_MAX);
}

static void release_all(void)
{
    for (unsigned i = 0; i < lockstep.cpus; i++) {
        LockstepCpu *lc = &lockstep.cpu[i];

        if (lc->held.count) {
            lockstep_release(lc, lockstep.now);
        }
    }
}

/* How many vCPUs have something to do in the round, and the interrupts on their way. */
static unsigned count_runnable(bool *held)
{
    unsigned runnable = 0;

    *held = false;
    for (unsigned i = 0; i < lockstep.cpus; i++) {
        LockstepCpu *lc = &lockstep.cpu[i];

        runnable += has_work(lc);
        *held |= lc->held.count != 0;
    }
    return runnable;
}

/*
 * The round of the only vCPU awake. Those that it wakes begin with the next round, which begins
 * where it was cut for them. Returns how far it came.
 */
static int64_t run_alone(int64_t length)
{
    unsigned i = 0;

    while (!has_work(&lockstep.cpu[i])) {
        i++;
    }
    lockstep.cpu[i].done = 0;
    run_cpu(&lockstep.cpu[i], length);
    return lockstep.cpu[i].done;
}

/* Returns how far the vCPU that came farthest has come. */
static int64_t run_all(int64_t length)
{
    int64_t most = 0;

    schedule_order(lockstep.config.seed, lockstep.round, order, lockstep.cpus);
    for (unsigned i = 0; i < lockstep.cpus; i++) {
        LockstepCpu *lc = &lockstep.cpu[order[i]];

        lc->done = 0;
        if (has_work(lc) || lc->held.count) {
            run_cpu(lc, length);
            most = MAX(most, lc->done);
        } else {
            lc->debt = MAX(lc->debt - length, 0);
        }
    }
    return most;
}

static void one_round(void)
{
    int64_t deadline, length, most;
    unsigned runnable;
    bool held, idle;

    lockstep_boundary(false);
    settle();
    release_all();
    runnable = count_runnable(&held);
    deadline = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    if (deadline >= 0) {
        deadline = lockstep_ns_to_ticks(lockstep_ticks_to_ns(lockstep.now) + deadline) -
                   lockstep.now;
        deadline = MAX(deadline, 1);
    }

    if (!runnable && !held) {
        if (deadline < 0) {
            lockstep_boundary(true);
        } else {
            lockstep_set_now(lockstep.now + deadline);
        }
        return;
    }

    lockstep.alone = runnable == 1 && !held;
    length = lockstep.alone ? LOCKSTEP_SLICE_MAX
             : schedule_length(lockstep.config.seed, lockstep.round, lockstep.config.quantum_ticks);
    if (deadline >= 0) {
        length = MIN(length, deadline);
    }
    most = lockstep.alone ? run_alone(length) : run_all(length);

    /* A round in which all went to sleep early ends there. */
    idle = count_runnable(&held) == 0 && !held;
    if (lockstep.alone || idle) {
        length = MAX(MIN(most, length), 1);
    }
    lockstep.alone = false;
    lockstep.round++;
    lockstep_set_now(lockstep.now + length);
    lockstep_hash_round();
}

void lockstep_run(void)
{
    for (;;) {
        one_round();
    }
}
