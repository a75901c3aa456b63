/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that comes and goes with each command: data buffers in sizes of powers of two, and request
 * structures.
 * Not here: who may have how much (LST_CONN_BUFFERS is kept by conn_cmd.c).
 * No standard.
 */
#include "engine/pool.h"

#include <glib.h>
#include <stdlib.h>

struct lst_pool_item {
    struct lst_pool_item *next;
};

static unsigned class_of(size_t len)
{
    g_assert(len > 0 && len <= LST_TRANSFER_MAX);
    /* g_bit_storage(0) is 1. */
    return len > (size_t)1 << LST_POOL_MIN_SHIFT ?
               (unsigned)g_bit_storage((len - 1) >> LST_POOL_MIN_SHIFT) : 0;
}

size_t lst_pool_size(size_t len)
{
    return (size_t)1 << (class_of(len) + LST_POOL_MIN_SHIFT);
}

void *lst_pool_get(struct lst_pool *pool, size_t len)
{
    unsigned class = class_of(len);
    struct lst_pool_item *item = pool->buffers[class];
    void *buffer;

    if (item) {
        pool->buffers[class] = item->next;
        pool->bytes -= lst_pool_size(len);
        return item;
    }
    buffer = aligned_alloc(4096, lst_pool_size(len));
    if (!buffer) {
        g_error("out of memory for a buffer of %zu bytes", lst_pool_size(len));
    }
    return buffer;
}

void lst_pool_put(struct lst_pool *pool, void *buffer, size_t len)
{
    unsigned class = class_of(len);
    struct lst_pool_item *item = buffer;

    if (pool->bytes + lst_pool_size(len) > LST_POOL_BYTES) {
        free(buffer);
        return;
    }
    item->next = pool->buffers[class];
    pool->buffers[class] = item;
    pool->bytes += lst_pool_size(len);
}

void *lst_pool_get_req(struct lst_pool *pool, size_t size)
{
    struct lst_pool_item *item = pool->reqs;

    if (!item) {
        return g_malloc(size);
    }
    pool->reqs = item->next;
    pool->free_reqs--;
    return item;
}

void lst_pool_put_req(struct lst_pool *pool, void *req)
{
    struct lst_pool_item *item = req;

    if (pool->free_reqs >= LST_POOL_REQS) {
        g_free(req);
        return;
    }
    item->next = pool->reqs;
    pool->reqs = item;
    pool->free_reqs++;
}

void lst_pool_destroy(struct lst_pool *pool)
{
    for (unsigned class = 0; class < LST_POOL_CLASSES; class++) {
        while (pool->buffers[class]) {
            struct lst_pool_item *item = pool->buffers[class];

            pool->buffers[class] = item->next;
            free(item);
        }
    }
    while (pool->reqs) {
        struct lst_pool_item *item = pool->reqs;

        pool->reqs = item->next;
        g_free(item);
    }
    pool->bytes = 0;
    pool->free_reqs = 0;
}
