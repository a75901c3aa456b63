/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: all that depends on the guest's architecture: PAUSE, registers, the local APIC's place.
 * Not here: what is done with them.
 * Standard: Intel SDM volume 2, PAUSE; volume 3, chapter 11 (APIC).
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "clock.h"
#include "exec/helper-proto.h"
#include "hooks.h"
#include "hw/i386/apic_internal.h"

#pragma GCC diagnostic error "-Wall"
#pragma GCC diagnostic error "-Wextra"

/* After so many PAUSEs at one place with the same registers, a vCPU only waits. */
#define SPINS_TO_WAIT 2
#define SPIN_SHARE 32
#define WAIT_QUANTA_MAX 32

QEMU_BUILD_BUG_ON(LOCKSTEP_SPIN_REGS != CPU_NB_REGS + 1);

/* Whether the vCPU comes by with the same registers as at its last PAUSE; notes them. */
static bool spins(LockstepCpu *lc, CPUX86State *env)
{
    if (lc->spin[CPU_NB_REGS] == env->eip &&
        !memcmp(lc->spin, env->regs, sizeof(env->regs))) {
        lc->spins++;
        return lc->spins >= SPINS_TO_WAIT;
    }
    memcpy(lc->spin, env->regs, sizeof(env->regs));
    lc->spin[CPU_NB_REGS] = env->eip;
    lc->spins = 0;
    lc->spun = 0;
    return false;
}

/*
 * How long such a PAUSE lasts beyond the slice: whole quanta, so that one who waits for W looks
 * again at most W / SPIN_SHARE too late, and one who waits long costs the host next to nothing.
 */
static int64_t long_wait(LockstepCpu *lc, int64_t left)
{
    int64_t quantum = lockstep.config.quantum_ticks, quanta;

    lc->spun += left;
    quanta = MIN(lc->spun / SPIN_SHARE / quantum, WAIT_QUANTA_MAX);
    lc->spun += quanta * quantum;
    lc->waiting = quanta != 0;
    return quanta * quantum;
}

/*
 * PAUSE, the last instruction of its block. It takes its time from the slice, and what does not
 * fit from the next one. Nothing but this vCPU writes to memory during its slice, so that one
 * that only looks again and again will see no news before the slice's end: the PAUSE lasts till
 * then, and longer the longer it has waited.
 */
void helper_lockstep_pause(CPUX86State *env)
{
    CPUState *cpu = env_cpu(env);
    LockstepCpu *lc = lockstep_cpu(cpu);
    int64_t left = cpu->neg.icount_decr.u16.low;
    int64_t cost = lockstep.config.pause_ticks - 1;     /* the counter has the first */

    if (spins(lc, env)) {
        cost = MAX(cost, left + long_wait(lc, left));
    }
    if (cost > left) {
        lc->debt += cost - left;
        cost = left;
    }
    cpu->neg.icount_decr.u16.low = left - cost;
}

int lockstep_signal_mask(LockstepSignal signal)
{
    static const int mask[LOCKSTEP_SIGNALS] = {
        [LOCKSTEP_SIGNAL_NMI] = CPU_INTERRUPT_NMI,
        [LOCKSTEP_SIGNAL_SMI] = CPU_INTERRUPT_SMI,
        [LOCKSTEP_SIGNAL_INIT] = CPU_INTERRUPT_INIT,
        [LOCKSTEP_SIGNAL_SIPI] = CPU_INTERRUPT_SIPI,
    };

    return mask[signal];
}

DeviceState *lockstep_apic(CPUState *cpu)
{
    return X86_CPU(cpu)->apic_state;
}

int32_t lockstep_startup(CPUState *cpu)
{
    return APIC_COMMON(lockstep_apic(cpu))->sipi_vector;
}

void lockstep_set_startup(CPUState *cpu, int32_t vector)
{
    APIC_COMMON(lockstep_apic(cpu))->sipi_vector = vector;
}

const char *lockstep_cpu_refused(CPUState *cpu)
{
    if (X86_CPU(cpu)->env.features[FEAT_1_ECX] & CPUID_EXT_MONITOR) {
        return "the CPU model has MWAIT, which waits for memory instead of time: "
               "add ',-monitor' to -cpu";
    }
    return NULL;
}

static void add_hash(GString *text, const char *name, const void *data, size_t size)
{
    g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, data, size);

    g_string_append_printf(text, " %s=%.16s", name, sum);
}

static void segment_bytes(GByteArray *bytes, const SegmentCache *segment)
{
    uint64_t words[4] = { segment->selector, segment->base, segment->limit, segment->flags };

    g_byte_array_append(bytes, (const uint8_t *)words, sizeof(words));
}

/* Segments, control and debug registers, the MSRs that the kernel sets. */
static void add_system(GString *text, CPUX86State *env)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    uint64_t words[] = {
        env->cr[0], env->cr[2], env->cr[3], env->cr[4], env->efer, env->star, env->lstar,
        env->cstar, env->fmask, env->kernelgsbase, env->tsc_offset, env->tsc_aux, env->pat,
        env->sysenter_cs, env->sysenter_esp, env->sysenter_eip, env->dr[6], env->dr[7],
        env->hflags & HF_CPL_MASK,
    };

    for (int i = 0; i < 6; i++) {
        segment_bytes(bytes, &env->segs[i]);
    }
    segment_bytes(bytes, &env->tr);
    segment_bytes(bytes, &env->gdt);
    segment_bytes(bytes, &env->idt);
    g_byte_array_append(bytes, (const uint8_t *)words, sizeof(words));
    add_hash(text, "system", bytes->data, bytes->len);
}

static void add_vectors(GString *text, CPUX86State *env)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    uint64_t words[] = { env->fpstt, env->fpus, env->fpuc, env->mxcsr, env->xcr0 };

    g_byte_array_append(bytes, (const uint8_t *)words, sizeof(words));
    for (int i = 0; i < 8; i++) {
        g_byte_array_append(bytes, (const uint8_t *)&env->fpregs[i], 10);
    }
    for (int i = 0; i < CPU_NB_REGS; i++) {
        g_byte_array_append(bytes, (const uint8_t *)&env->xmm_regs[i], 32);
    }
    add_hash(text, "vector", bytes->data, bytes->len);
}

void lockstep_registers(CPUState *cpu, GString *text)
{
    static const char names[CPU_NB_REGS][4] = {
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
        "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
    };
    CPUX86State *env = &X86_CPU(cpu)->env;

    g_string_append_printf(text, " rip=%" PRIx64 " rflags=%" PRIx64, (uint64_t)env->eip,
                           (uint64_t)cpu_compute_eflags(env));
    for (int i = 0; i < CPU_NB_REGS; i++) {
        g_string_append_printf(text, " %s=%" PRIx64, names[i], (uint64_t)env->regs[i]);
    }
    add_system(text, env);
    add_vectors(text, env);
}
