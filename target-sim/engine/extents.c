/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of blocks, kept as ranges that neither touch nor overlap.
 * Not here: what the blocks have in common (io.c). No standard.
 */
#include "engine/extents.h"

struct extent {
    uint64_t start;
    uint64_t end;                        /* the first block behind it */
};

static gint compare_ends(gconstpointer a, gconstpointer b, gpointer unused)
{
    const struct extent *left = a, *right = b;

    (void)unused;
    return (left->end > right->end) - (left->end < right->end);
}

/* The first range with a block behind @start or at it. */
static GSequenceIter *find(const struct lst_extents *set, uint64_t start)
{
    struct extent key = { .end = start };

    return g_sequence_search(set->ranges, &key, compare_ends, NULL);
}

static struct extent *extent_at(GSequenceIter *at)
{
    return g_sequence_iter_is_end(at) ? NULL : g_sequence_get(at);
}

static void insert_before(GSequenceIter *at, uint64_t start, uint64_t end)
{
    struct extent *extent = g_new(struct extent, 1);

    *extent = (struct extent) { start, end };
    g_sequence_insert_before(at, extent);
}

uint64_t lst_extents_count(const struct lst_extents *set, uint64_t start, uint64_t count)
{
    const struct extent *extent;
    uint64_t end = start + count, found = 0;

    if (!set->blocks) {
        return 0;
    }
    for (GSequenceIter *at = find(set, start); (extent = extent_at(at)) && extent->start < end;
         at = g_sequence_iter_next(at)) {
        found += MIN(extent->end, end) - MAX(extent->start, start);
    }
    return found;
}

static void take_out(struct lst_extents *set, uint64_t start, uint64_t end)
{
    GSequenceIter *at = find(set, start), *next;
    struct extent *extent;

    for (; (extent = extent_at(at)) && extent->start < end; at = next) {
        next = g_sequence_iter_next(at);
        set->blocks -= MIN(extent->end, end) - MAX(extent->start, start);
        if (extent->start >= start && extent->end <= end) {
            g_sequence_remove(at);
        } else if (extent->start >= start) {
            extent->start = end;
        } else {
            if (extent->end > end) {
                insert_before(next, end, extent->end);
                next = g_sequence_iter_next(at);
            }
            extent->end = start;
        }
    }
}

void lst_extents_remove(struct lst_extents *set, uint64_t start, uint64_t count)
{
    if (set->blocks) {
        take_out(set, start, start + count);
    }
}

void lst_extents_truncate(struct lst_extents *set, uint64_t start)
{
    if (set->blocks) {
        take_out(set, start, UINT64_MAX);
    }
}

bool lst_extents_add(struct lst_extents *set, uint64_t start, uint64_t count, uint64_t max)
{
    uint64_t end = start + count;
    struct extent *before, *behind;
    GSequenceIter *at;

    if (set->blocks - lst_extents_count(set, start, count) + count > max) {
        return false;
    }
    if (!set->ranges) {
        set->ranges = g_sequence_new(g_free);
    }
    take_out(set, start, end);
    set->blocks += count;
    at = find(set, start);
    behind = extent_at(at);
    before = g_sequence_iter_is_begin(at) ? NULL : g_sequence_get(g_sequence_iter_prev(at));
    if (before && before->end == start) {
        if (behind && behind->start == end) {
            end = behind->end;
            g_sequence_remove(at);
        }
        before->end = end;
    } else if (behind && behind->start == end) {
        behind->start = start;
    } else {
        insert_before(at, start, end);
    }
    return true;
}

void lst_extents_clear(struct lst_extents *set)
{
    if (set->ranges) {
        g_sequence_free(set->ranges);
    }
    *set = (struct lst_extents) { NULL, 0 };
}
