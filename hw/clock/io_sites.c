/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the instructions known to reach a device, so that a block ends with them.
 * Not here: the clock. What is kept here never shows in a run: where blocks are cut has no
 *       influence on what the guest computes or when.
 * Standard: none.
 *
 * An instruction counter is exact only at a block's last instruction. QEMU finds out at an access
 * to a device that it is in mid-block, goes back and runs the instruction again by itself, each
 * time. Remembered by address, the next translation ends there and it happens once.
 */
#include "qemu/osdep.h"
#include "clock.h"
#include "hooks.h"

/* A newer site replaces one in its place: that costs time only. */
#define SITES 8192

static uint64_t sites[SITES];

static uint64_t *site_of(uint64_t pc)
{
    return &sites[(pc ^ pc >> 13) % SITES];
}

void lockstep_io_site_add(uint64_t pc)
{
    *site_of(pc) = pc;
}

bool lockstep_io_site(uint64_t pc)
{
    return *site_of(pc) == pc && pc;
}
