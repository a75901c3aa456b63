/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verified blocks hold: where they belong, which write they are from, and a CRC32C of it all.
 * Not here: I/O. No standard but CRC32C (RFC 3720).
 */
#ifndef LOCKSTEP_BENCH_PATTERN_H
#define LOCKSTEP_BENCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Pattern {
    uint64_t seed;
    uint64_t offset;     /* bytes from the start of the namespace */
    uint64_t generation; /* 1 for the first write of this place */
} Pattern;

/**
 * pattern_fill - the bytes of one write
 * @length: a multiple of 512
 */
void pattern_fill(const Pattern *pattern, void *bytes, size_t length);

/**
 * pattern_check - are these the bytes of that write?
 *
 * Return: NULL if so, else what is wrong with them, freed by g_free().
 */
char *pattern_check(const Pattern *pattern, const void *bytes, size_t length);

#endif
