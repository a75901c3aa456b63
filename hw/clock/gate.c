/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the gate that lets the main loop in between two rounds only, and stops of the machine.
 * Not here: the rounds (rounds.c).
 * Standard: none.
 *
 * The main loop asks for the gate after poll() and gives it back before the next poll(). The
 * vCPU thread opens it at a boundary and waits until it is given back. Without a request, a round
 * costs the gate one comparison. All of it is guarded by the BQL.
 */
#include "qemu/osdep.h"
#include "block/aio.h"
#include "clock.h"
#include "exec/cpu-common.h"
#include "hooks.h"
#include "qemu/main-loop.h"
#include "system/cpus.h"
#include "system/runstate.h"

/* Rounds after which the main loop is woken if something may be waiting for it. */
#define WAKE_ROUNDS 2048

static struct {
    bool started;           /* the vCPU thread is in lockstep_run() */
    bool wanted;            /* the main loop asks */
    bool open;              /* the main loop is in */
    bool missed;            /* a wake-up was left out */
    bool stopping;          /* a device has asked for a stop, which the main loop has to make */
    unsigned quiet_rounds;
    QemuCond opened;
} gate;

/* The vCPU thread, while it does not hand over. Thread-local: asked from everywhere. */
static __thread bool quiet_thread;

bool lockstep_quiet(void)
{
    if (quiet_thread) {
        gate.missed = true;
    }
    return quiet_thread;
}

void lockstep_gate_enter(void)
{
    if (!lockstep_on || !gate.started) {
        return;
    }
    gate.wanted = true;
    qemu_cond_broadcast(first_cpu->halt_cond);
    while (!gate.open) {
        qemu_cond_wait_bql(&gate.opened);
    }
}

void lockstep_gate_leave(void)
{
    if (!lockstep_on || !gate.started || !gate.open) {
        return;
    }
    gate.wanted = false;
    gate.open = false;
    gate.stopping = false;      /* it has looked at all requests */
    qemu_cond_broadcast(first_cpu->halt_cond);
}

static void wake_main_loop(void)
{
    gate.missed = false;
    gate.quiet_rounds = 0;
    quiet_thread = false;
    qemu_notify_event();
    quiet_thread = true;
}

/* The machine runs unless it is stopped as a whole; a debugger that goes on with one vCPU only
 * goes on with all: the others' time cannot stand still. */
static bool machine_runs(void)
{
    CPUState *cpu;
    bool any = false;

    if (gate.stopping || !runstate_is_running() || qemu_shutdown_requested_get() ||
        qemu_reset_requested_get()) {
        return false;
    }
    CPU_FOREACH(cpu) {
        if (cpu->stop) {
            return false;
        }
        any |= !cpu->stopped;
    }
    if (!any) {
        return false;
    }
    CPU_FOREACH(cpu) {
        cpu->stopped = false;
    }
    return true;
}

static void serve_stops(void)
{
    bool running = runstate_is_running();
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        /* The main loop stops with the gate open, or says first that the machine does not run. */
        gate.stopping |= cpu->stop && running && !gate.open;
        if (cpu->stop || !cpu_work_list_empty(cpu)) {
            current_cpu = cpu;
            qemu_wait_io_event_common(cpu);
        }
    }
}

void lockstep_boundary(bool idle)
{
    if (!gate.started) {
        gate.started = true;    /* the BQL is ours: the main loop is in poll() or before it */
        qemu_cond_init(&gate.opened);
        quiet_thread = true;
    }
    serve_stops();
    if (gate.missed && (idle || ++gate.quiet_rounds >= WAKE_ROUNDS)) {
        wake_main_loop();
    }
    while (gate.wanted || gate.open || idle || !machine_runs()) {
        if (gate.wanted && !gate.open) {
            gate.open = true;
            qemu_cond_broadcast(&gate.opened);
        }
        if (!gate.open && !machine_runs()) {
            wake_main_loop();
        }
        qemu_cond_wait_bql(first_cpu->halt_cond);
        serve_stops();
        if (!gate.open) {
            idle = false;       /* something happened: look again */
        }
    }
}

void lockstep_debug_stop(CPUState *cpu)
{
    AioContext *ctx = qemu_get_aio_context();
    BHList round_work;
    bool stopped = false, alone = lockstep.alone;

    /* Wake-ups from here on are the host's: they must not cut the slice. */
    lockstep.alone = false;
    cpu_handle_guest_debug(cpu);
    /* What the round has left for its end is not for the main loop to do now. */
    QSLIST_MOVE_ATOMIC(&round_work, &ctx->bh_list);
    wake_main_loop();
    for (;;) {
        stopped |= !runstate_is_running();
        if (gate.wanted && !gate.open) {
            gate.open = true;
            qemu_cond_broadcast(&gate.opened);
        }
        if (stopped && !gate.open && machine_runs()) {
            break;
        }
        qemu_cond_wait_bql(first_cpu->halt_cond);
        serve_stops();
    }
    while (aio_bh_poll(ctx)) {
        /* what the main loop has left */
    }
    ctx->bh_list = round_work;
    lockstep.alone = alone;
    current_cpu = cpu;
}
