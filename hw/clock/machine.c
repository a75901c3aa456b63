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
#include "qemu/notify.h"
#include "system/system.h"

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
}

void lockstep_prepare_machine(void)
{
    static Notifier done = { .notify = machine_done };

    qemu_add_machine_init_done_notifier(&done);
}
