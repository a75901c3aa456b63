/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of numbers by size, fine enough for percentiles.
 * Not here: what is counted. No standard.
 */
#include "bench/histogram.h"

#include <glib.h>

enum { SUBS = 1 << HISTOGRAM_SUB_BITS };

/* Below 128 each value has a bucket, above each power of two has 128. */
static unsigned bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < SUBS) {
        return (unsigned)value;
    }
    shift = 63 - HISTOGRAM_SUB_BITS - (unsigned)__builtin_clzll(value);
    return (shift + 1) * SUBS + (unsigned)(value >> shift & (SUBS - 1));
}

static uint64_t highest_of(unsigned bucket)
{
    unsigned shift = bucket / SUBS ? bucket / SUBS - 1 : 0;
    uint64_t lowest = bucket / SUBS ? (uint64_t)(SUBS + bucket % SUBS) << shift : bucket;

    return lowest + (UINT64_C(1) << shift) - 1;
}

void histogram_add(Histogram *histogram, uint64_t value)
{
    histogram->min = histogram->count ? MIN(histogram->min, value) : value;
    histogram->max = MAX(histogram->max, value);
    histogram->count++;
    histogram->sum += value;
    histogram->buckets[bucket_of(value)]++;
}

void histogram_merge(Histogram *histogram, const Histogram *other)
{
    if (!other->count) {
        return;
    }
    histogram->min = histogram->count ? MIN(histogram->min, other->min) : other->min;
    histogram->max = MAX(histogram->max, other->max);
    histogram->count += other->count;
    histogram->sum += other->sum;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] += other->buckets[i];
    }
}

uint64_t histogram_quantile(const Histogram *histogram, uint32_t ppm)
{
    uint64_t rank, seen = 0;
    unsigned bucket = 0;

    if (!histogram->count) {
        return 0;
    }
    /* Rounded up: of three values the median is the second. */
    rank = histogram->count / 1000000 * ppm + (histogram->count % 1000000 * ppm + 999999) / 1000000;
    rank = MAX(rank, 1);
    while ((seen += histogram->buckets[bucket]) < rank) {
        bucket++;
    }
    return MIN(highest_of(bucket), histogram->max);
}
