/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the machine's random numbers (RDRAND, RDSEED, virtio-rng): saved as a count of words.
 * Not here: the generator (schedule.c).
 * Standard: none.
 */
#include "qemu/osdep.h"
#include "clock.h"
#include "hooks.h"

void lockstep_random(void *data, size_t size)
{
    uint8_t *bytes = data;

    while (size) {
        uint64_t word = cpu_to_le64(schedule_random(lockstep.config.seed, lockstep.random++));
        size_t part = MIN(size, sizeof(word));

        memcpy(bytes, &word, part);
        bytes += part;
        size -= part;
    }
}
