/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the clock's state as part of a machine: made when the machine is done, saved, restored.
 * Not here: options (options.c), rounds (rounds.c).
 * Standard: none.
 */
#include "qemu/osdep.h"
#include "clock.h"
#include "hooks.h"
#include "hw/boards.h"
#include "hw/qdev-core.h"
#include "migration/vmstate.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "system/reset.h"
#include "system/system.h"

typedef struct SavedConfig {
    uint32_t quantum_ticks, rate_num, rate_den, pause_ticks;
    uint64_t seed;
} SavedConfig;

static SavedConfig saved;

static SavedConfig own_config(void)
{
    const LockstepConfig *config = &lockstep.config;

    return (SavedConfig) { config->quantum_ticks, config->rate_num, config->rate_den,
                           config->pause_ticks, config->seed };
}

/* At a boundary only: a slice that a debugger has stopped is in no snapshot. */
static int config_pre_save(void *opaque)
{
    if (lockstep.running) {
        error_report("lockstep: a debugger has stopped in the middle of a round; let the machine "
                     "run on and stop it before a snapshot");
        return -EBUSY;
    }
    saved = own_config();
    return 0;
}

/* With other options the continuation would be another run. */
static int config_post_load(void *opaque, int version)
{
    SavedConfig own = own_config();

    if (saved.quantum_ticks != own.quantum_ticks || saved.rate_num != own.rate_num ||
        saved.rate_den != own.rate_den || saved.pause_ticks != own.pause_ticks ||
        saved.seed != own.seed) {
        error_report("lockstep: the snapshot is of a run with quantum %u and pause %u "
                     "instructions, rate %u/%u, seed %" PRIu64 "; set the same",
                     saved.quantum_ticks, saved.pause_ticks, saved.rate_num, saved.rate_den,
                     saved.seed);
        return -EINVAL;
    }
    return 0;
}

static int clock_post_load(void *opaque, int version)
{
    lockstep_set_now(lockstep.now);
    return 0;
}

static int cpu_pre_save(void *opaque)
{
    LockstepCpu *lc = opaque;

    lc->startup = lockstep_startup(lc->cpu);
    return 0;
}

static int cpu_post_load(void *opaque, int version)
{
    LockstepCpu *lc = opaque;

    lockstep_set_startup(lc->cpu, lc->startup);
    return 0;
}

static const VMStateDescription vmstate_held = {
    .name = "lockstep/held",
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(count, LockstepHeld),
        VMSTATE_INT64(next, LockstepHeld),
        VMSTATE_UINT64_ARRAY(vectors, LockstepHeld, BITS_TO_LONGS(LOCKSTEP_VECTORS)),
        VMSTATE_UINT64_ARRAY(levels, LockstepHeld, BITS_TO_LONGS(LOCKSTEP_VECTORS)),
        VMSTATE_UINT32(signals, LockstepHeld),
        VMSTATE_INT64_ARRAY(vector_time, LockstepHeld, LOCKSTEP_VECTORS),
        VMSTATE_INT64_ARRAY(signal_time, LockstepHeld, LOCKSTEP_SIGNALS),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_cpu = {
    .name = "lockstep/cpu",
    .pre_save = cpu_pre_save,
    .post_load = cpu_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(ticks, LockstepCpu),
        VMSTATE_INT64(debt, LockstepCpu),
        VMSTATE_UINT64_ARRAY(spin, LockstepCpu, LOCKSTEP_SPIN_REGS),
        VMSTATE_UINT32(spins, LockstepCpu),
        VMSTATE_INT64(spun, LockstepCpu),
        VMSTATE_BOOL(waiting, LockstepCpu),
        VMSTATE_INT32(startup, LockstepCpu),
        VMSTATE_STRUCT(held, LockstepCpu, 0, vmstate_held, LockstepHeld),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_config = {
    .name = "lockstep/config",
    .pre_save = config_pre_save,
    .post_load = config_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(quantum_ticks, SavedConfig),
        VMSTATE_UINT32(rate_num, SavedConfig),
        VMSTATE_UINT32(rate_den, SavedConfig),
        VMSTATE_UINT32(pause_ticks, SavedConfig),
        VMSTATE_UINT64(seed, SavedConfig),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_clock = {
    .name = "lockstep",
    .post_load = clock_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(now, LockstepClock),
        VMSTATE_UINT64(round, LockstepClock),
        VMSTATE_UINT64(random, LockstepClock),
        VMSTATE_UINT8_ARRAY(chain, LockstepClock, LOCKSTEP_CHAIN),
        VMSTATE_UINT32_EQUAL(cpus, LockstepClock, "number of vCPUs"),
        VMSTATE_STRUCT_VARRAY_POINTER_UINT32(cpu, LockstepClock, cpus, vmstate_cpu, LockstepCpu),
        VMSTATE_END_OF_LIST()
    }
};

/* A machine that is reset has no interrupts on their way and no PAUSE to finish; time goes on. */
static void machine_reset(void *opaque)
{
    for (unsigned i = 0; i < lockstep.cpus; i++) {
        LockstepCpu *lc = &lockstep.cpu[i];

        lockstep_held_init(&lc->held);
        lc->debt = 0;
        lc->waiting = false;
        lc->spins = 0;
        lc->spun = 0;
    }
}

static void machine_done(Notifier *notifier, void *data)
{
    CPUState *cpu;

    lockstep_check_machine();
    CPU_FOREACH(cpu) {
        lockstep.cpus++;
    }
    lockstep.cpu = g_new0(LockstepCpu, lockstep.cpus);
    CPU_FOREACH(cpu) {
        LockstepCpu *lc = lockstep_cpu(cpu);

        assert(cpu->cpu_index < (int)lockstep.cpus && !lc->cpu);
        lc->cpu = cpu;
        lockstep_held_init(&lc->held);
    }
    qemu_register_reset(machine_reset, NULL);
    vmstate_register(NULL, 0, &vmstate_config, &saved);
    vmstate_register(NULL, 0, &vmstate_clock, &lockstep);
}

void lockstep_prepare_machine(void)
{
    static Notifier done = { .notify = machine_done };

    qemu_add_machine_init_done_notifier(&done);
}
