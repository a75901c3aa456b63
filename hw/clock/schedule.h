/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the arithmetic of rounds: ticks and ns, and what a seed changes about a round.
 * Not here: running anything (rounds.c); knows nothing of QEMU.
 * Standard: none; docs/lockstep.md explains the model.
 */
#ifndef LOCKSTEP_SCHEDULE_H
#define LOCKSTEP_SCHEDULE_H

#include <stdint.h>

/* Guest time of a count of ticks, rounded down; @num instructions take @den ns. */
int64_t schedule_ticks_to_ns(int64_t ticks, uint32_t num, uint32_t den);

/* The first tick at which guest time is @ns or later. */
int64_t schedule_ns_to_ticks(int64_t ns, uint32_t num, uint32_t den);

/*
 * Length of a round in ticks: @quantum for seed 0, else between half of it and all of it.
 * A function of the arguments alone.
 */
int64_t schedule_length(uint64_t seed, uint64_t round, int64_t quantum);

/*
 * The order of @count vCPUs in a round: order[] becomes a permutation of 0 to @count - 1,
 * the identity for seed 0.
 */
void schedule_order(uint64_t seed, uint64_t round, uint16_t *order, unsigned count);

/*
 * What an interrupt to another vCPU takes beside the time it was sent, 0 to @bound ticks, 0 for
 * seed 0. @salt tells apart several in one round.
 */
int64_t schedule_latency(uint64_t seed, uint64_t round, uint64_t salt, int64_t bound);

/* Word @index of the machine's random numbers; seed 0 has numbers as well. */
uint64_t schedule_random(uint64_t seed, uint64_t index);

#endif
