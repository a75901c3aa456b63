/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of times by size: eight buckets for each power of two, so that a bucket's values differ by
 * less than an eighth. Integers only: the same values give the same counts everywhere.
 * Not here: whose times (stats.h). No standard.
 */
#ifndef ENGINE_HISTOGRAM_H
#define ENGINE_HISTOGRAM_H

#include <stdint.h>

enum lst_histogram_limits {
    LST_HISTOGRAM_BITS = 3,              /* of a value that tell buckets apart, below the first */
    LST_HISTOGRAM_MAX_BITS = 40,         /* ns: 18 minutes; what is longer is in the last bucket */
    LST_HISTOGRAM_BUCKETS = (LST_HISTOGRAM_MAX_BITS - LST_HISTOGRAM_BITS + 1)
                            << LST_HISTOGRAM_BITS,
};

/* The bucket of @value. */
static inline unsigned lst_histogram_bucket(uint64_t value)
{
    const unsigned low = 1u << LST_HISTOGRAM_BITS;
    unsigned shift;

    if (value >> LST_HISTOGRAM_MAX_BITS) {
        return LST_HISTOGRAM_BUCKETS - 1;
    }
    if (value < low) {
        return (unsigned)value;
    }
    shift = 63u - (unsigned)__builtin_clzll(value) - LST_HISTOGRAM_BITS;
    return ((shift + 1) << LST_HISTOGRAM_BITS) + (unsigned)((value >> shift) & (low - 1));
}

/* The largest value of @bucket. */
static inline uint64_t lst_histogram_limit(unsigned bucket)
{
    const unsigned low = 1u << LST_HISTOGRAM_BITS;
    unsigned shift;

    if (bucket < low) {
        return bucket;
    }
    shift = (bucket >> LST_HISTOGRAM_BITS) - 1;
    return ((uint64_t)(low + (bucket & (low - 1)) + 1) << shift) - 1;
}

/*
 * lst_histogram_quantile: the limit of the first bucket up to which @millionths of all counted
 * values lie.
 * @buckets: LST_HISTOGRAM_BUCKETS counts. Returns 0 if nothing was counted.
 */
uint64_t lst_histogram_quantile(const uint64_t *buckets, uint64_t millionths);

#endif
