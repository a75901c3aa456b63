/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of blocks, kept as ranges that neither touch nor overlap.
 * Not here: what the blocks have in common (io.c). No standard.
 */
#ifndef ENGINE_EXTENTS_H
#define ENGINE_EXTENTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero is the empty set. Every operation takes time logarithmic in the ranges it leaves alone. */
struct lst_extents {
    GSequence *ranges;                   /* NULL: empty */
    uint64_t blocks;                     /* in the set */
};

/*
 * lst_extents_add: @count blocks from @start on; @start + @count must not wrap.
 * Returns false, and changes nothing, if the set would then have more than @max blocks: so many
 * bound the memory, whatever is taken out again.
 */
bool lst_extents_add(struct lst_extents *set, uint64_t start, uint64_t count, uint64_t max);
void lst_extents_remove(struct lst_extents *set, uint64_t start, uint64_t count);
/* Takes out all blocks from @start on. */
void lst_extents_truncate(struct lst_extents *set, uint64_t start);
/* How many of the @count blocks from @start on are in the set. */
uint64_t lst_extents_count(const struct lst_extents *set, uint64_t start, uint64_t count);
/* Empties the set and frees its memory. */
void lst_extents_clear(struct lst_extents *set);

#endif
