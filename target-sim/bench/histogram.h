/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of numbers by size, fine enough for percentiles: each bucket is at most 1/128 of its
 * values wide. Integers only. Not here: what is counted.
 * No standard; the buckets are those of "HDR" histograms with seven significant bits.
 */
#ifndef LOCKSTEP_BENCH_HISTOGRAM_H
#define LOCKSTEP_BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_SUB_BITS = 7,
    HISTOGRAM_BUCKETS = (64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS,
};

/* All zero is an empty one. */
typedef struct Histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min, max; /* exact; of nothing while count is 0 */
    uint64_t buckets[HISTOGRAM_BUCKETS];
} Histogram;

void histogram_add(Histogram *histogram, uint64_t value);

/**
 * histogram_merge - add what another one has counted
 */
void histogram_merge(Histogram *histogram, const Histogram *other);

/**
 * histogram_quantile - the value that so many millionths of all do not exceed
 * @ppm: 1 to 1000000; 990000 is the 99th percentile
 *
 * Return: the highest value of its bucket, but not more than the maximum; 0 of
 * an empty one.
 */
uint64_t histogram_quantile(const Histogram *histogram, uint32_t ppm);

#endif
