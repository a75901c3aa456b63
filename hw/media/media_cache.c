/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The write cache of a drive: writes fill pages, pages go to dies, flushes wait for them.
 * Not here: dies (media_die.c), writes that go past the cache (media.c).
 */
#include "media_internal.h"

#include <glib.h>

static void program_from_cache(struct media *media, uint64_t bytes, uint64_t now)
{
    uint32_t at = media_op_new(media);
    struct media_page_op *op = &media->ops[at];

    op->kind = OP_PROGRAM;
    op->random = media->fill_random;
    op->group = media->group;
    op->unit = (uint32_t)(media->log++ % media->units);
    op->bytes = bytes;
    media->fill -= bytes;
    media->reqs[media->group].left++;
    media_op_queue(media, at, now);
}

void media_cache_close_page(struct media *media, uint64_t now)
{
    if (media->fill) {
        program_from_cache(media, media->fill, now);
    }
}

/* Writes enter as far as there is room, in order; each full page goes to a die. */
void media_cache_fill(struct media *media, uint64_t now)
{
    const struct media_config *c = &media->c;

    while (media->waiting.head != NONE && media->used < c->cache) {
        uint32_t index = media->waiting.head;
        struct media_req *req = &media->reqs[index];
        uint64_t bytes = MIN(MIN(req->left, c->cache - media->used), c->page - media->fill);

        req->left -= bytes;
        media->used += bytes;
        media->fill += bytes;
        media->fill_random = req->random;
        if (!req->left) {
            MEDIA_LIST_POP(&media->waiting, media->reqs);
            media_finish(media, index, media_later(now, c->cache_ns));
        }
        if (media->fill == c->page) {
            program_from_cache(media, c->page, now);
        }
    }
}

void media_cache_end_flushes(struct media *media, uint64_t now)
{
    while (media->flushes.head != NONE && !media->reqs[media->flushes.head].left) {
        uint32_t index = media->flushes.head;

        MEDIA_LIST_POP(&media->flushes, media->reqs);
        media_finish(media, index, now);
    }
}
