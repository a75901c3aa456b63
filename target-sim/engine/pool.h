/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that comes and goes with each command: data buffers in sizes of powers of two, and request
 * structures.
 * Not here: who may have how much (LST_CONN_BUFFERS is kept by conn_cmd.c).
 * No standard.
 */
#ifndef ENGINE_POOL_H
#define ENGINE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/limits.h"

enum lst_pool_limits {
    LST_POOL_MIN_SHIFT = 12,
    LST_POOL_CLASSES = 9,                /* 4 KiB to 1 MiB */
};
_Static_assert(4096 << (LST_POOL_CLASSES - 1) >= LST_TRANSFER_MAX,
               "the largest transfer needs a class");

struct lst_pool {
    struct lst_pool_item *buffers[LST_POOL_CLASSES];
    struct lst_pool_item *reqs;
    size_t bytes;                        /* of the free buffers */
    unsigned free_reqs;
};

/*
 * A page-aligned buffer of at least @len bytes (1..LST_TRANSFER_MAX), contents unspecified. Never
 * fails.
 */
void *lst_pool_get(struct lst_pool *pool, size_t len);
/* @len: as given to lst_pool_get(). */
void lst_pool_put(struct lst_pool *pool, void *buffer, size_t len);
/* What a buffer for @len bytes really takes. */
size_t lst_pool_size(size_t len);

/*
 * One structure of @size bytes, contents unspecified; the size must always be the same in one pool.
 */
void *lst_pool_get_req(struct lst_pool *pool, size_t size);
void lst_pool_put_req(struct lst_pool *pool, void *req);

void lst_pool_destroy(struct lst_pool *pool);

#endif
