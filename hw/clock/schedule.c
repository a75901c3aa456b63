/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the arithmetic of rounds: ticks and ns, and what a seed changes about a round.
 * Not here: running anything (rounds.c); knows nothing of QEMU.
 * Standard: none. The generator is splitmix64 (Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators, OOPSLA 2014): any (seed, round) starts it anew, so that
 * no state has to be saved.
 */
#include "schedule.h"

typedef struct Random {
    uint64_t state;
} Random;

static uint64_t random_next(Random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Separate streams for separate questions, so that one does not shift another. */
static Random random_of(uint64_t seed, uint64_t round, uint64_t question)
{
    Random random = { seed };

    random.state = random_next(&random) ^ round;
    random.state = random_next(&random) ^ question;
    return random;
}

/* 0 to @bound - 1; the bias of 2^-32 or so does not matter here. */
static uint64_t random_below(Random *random, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random_next(random) * bound) >> 64);
}

int64_t schedule_ticks_to_ns(int64_t ticks, uint32_t num, uint32_t den)
{
    return num == den ? ticks : (int64_t)((__int128)ticks * den / num);
}

int64_t schedule_ns_to_ticks(int64_t ns, uint32_t num, uint32_t den)
{
    return num == den ? ns : (int64_t)(((__int128)ns * num + den - 1) / den);
}

int64_t schedule_length(uint64_t seed, uint64_t round, int64_t quantum)
{
    Random random;

    if (!seed) {
        return quantum;
    }
    random = random_of(seed, round, 'L');
    return quantum - (int64_t)random_below(&random, (uint64_t)quantum / 2 + 1);
}

void schedule_order(uint64_t seed, uint64_t round, uint16_t *order, unsigned count)
{
    Random random = random_of(seed, round, 'O');

    for (unsigned i = 0; i < count; i++) {
        order[i] = i;
    }
    if (!seed) {
        return;
    }
    for (unsigned i = count; i > 1; i--) {
        unsigned j = random_below(&random, i);
        uint16_t other = order[j];

        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}

int64_t schedule_latency(uint64_t seed, uint64_t round, uint64_t salt, int64_t bound)
{
    Random random;

    if (!seed) {
        return 0;
    }
    random = random_of(seed, round, salt << 8 | 'I');
    return (int64_t)random_below(&random, (uint64_t)bound + 1);
}

uint64_t schedule_random(uint64_t seed, uint64_t index)
{
    Random random = random_of(seed, index, 'R');

    return random_next(&random);
}
