/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the hash log: every N rounds the state of each vCPU, and a hash chained over all before.
 * Not here: the registers (x86.c); reading logs (scripts/lockstep/diverge.py).
 * Standard: none; docs/lockstep.md describes the format. The hash is SHA-256 (FIPS 180-4, glib's),
 *           of which 16 hexadecimal digits are written.
 */
#include "qemu/osdep.h"
#include "clock.h"
#include "qapi/error.h"
#include "qemu/error-report.h"

static FILE *hash_file;

bool lockstep_hash_open(Error **errp)
{
    if (!lockstep.config.hash_log) {
        return true;
    }
    hash_file = fopen(lockstep.config.hash_log, "w");
    if (!hash_file) {
        error_setg_errno(errp, errno, "lockstep-hash-log=%s", lockstep.config.hash_log);
        return false;
    }
    return true;
}

static void write_record(void)
{
    g_autoptr(GString) text = g_string_sized_new(1024);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

    for (unsigned i = 0; i < lockstep.cpus; i++) {
        LockstepCpu *lc = &lockstep.cpu[i];

        g_string_append_printf(text, "cpu %u ticks=%" PRId64 " debt=%" PRId64 " halted=%u irq=%x",
                               i, lc->ticks, lc->debt, lc->cpu->halted,
                               lc->cpu->interrupt_request);
        lockstep_registers(lc->cpu, text);
        g_string_append_c(text, '\n');
    }
    g_checksum_update(sum, lockstep.chain, LOCKSTEP_CHAIN);
    g_checksum_update(sum, (const guchar *)text->str, text->len);
    memcpy(lockstep.chain, g_checksum_get_string(sum), LOCKSTEP_CHAIN);
    /* A full disk must not change the run: it shows as a log that ends early. */
    if (fprintf(hash_file, "round %" PRIu64 " time %" PRId64 " chain %.*s\n%s", lockstep.round,
                lockstep_ticks_to_ns(lockstep.now), LOCKSTEP_CHAIN, lockstep.chain,
                text->str) < 0 ||
        fflush(hash_file)) {
        warn_report("lockstep-clock: hash-log %s: %s; the log ends here", lockstep.config.hash_log,
                    strerror(errno));
        fclose(hash_file);
        hash_file = NULL;
    }
}

void lockstep_hash_round(void)
{
    if (hash_file && lockstep.round % lockstep.config.hash_rounds == 0) {
        write_record();
    }
}
