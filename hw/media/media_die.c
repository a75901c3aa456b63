/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dies and channels of a drive: which page is read or programmed next, and for how long.
 * Not here: where pages come from (media.c, media_cache.c). docs/media.md has the rules in words.
 */
#include "media_internal.h"

#include <glib.h>

/* ---- Chance and rates */

/* The n-th draw depends on seed and n alone (splitmix64). */
uint64_t media_draw(struct media *media)
{
    uint64_t z = media->seed + ++media->draws * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t with_jitter(struct media *media, uint64_t time)
{
    uint64_t width = time / 1000 * media->c.jitter_pm + time % 1000 * media->c.jitter_pm / 1000;

    return width ? time - width + media_draw(media) % (2 * width + 1) : time;
}

/* Rounded up; 0 is no limit. */
uint64_t media_transfer_ns(uint64_t bytes, uint64_t mbps)
{
    if (!mbps) {
        return 0;
    }
    return bytes / mbps * 1000 + (bytes % mbps * 1000 + mbps - 1) / mbps;
}

/* A resource that serves one after the other: when is it done with this one? */
uint64_t media_serve(uint64_t *free_at, uint64_t now, uint64_t time)
{
    *free_at = media_later(MAX(*free_at, now), time);
    return *free_at;
}

uint64_t media_page_count(const struct media *media, const struct media_req *req)
{
    return (req->base + req->r.length - 1) / media->c.page + 1;
}

/* Bytes of a command in its @index-th page. */
static uint64_t page_bytes(const struct media *media, const struct media_req *req, uint64_t index)
{
    uint64_t start = index * media->c.page;
    uint64_t end = MIN(start + media->c.page, req->base + req->r.length);

    return end - MAX(start, req->base);
}

/* ---- Dies */

static void die_work(struct media *media, uint32_t unit, uint64_t until)
{
    media->dies[unit].working = true;
    media_event_push(media, until, EVENT_DIE, unit);
}

/* Garbage collection comes before the next program: true if the die has begun some. */
static bool collect_garbage(struct media *media, uint32_t unit, uint64_t now)
{
    const struct media_config *c = &media->c;
    struct media_die *die = &media->dies[unit];

    if (c->block_pages && die->programmed >= c->block_pages) {
        die->programmed = 0;
        die_work(media, unit, media_later(now, with_jitter(media, c->erase_ns)));
        return true;
    }
    if (c->gc_moves && die->debt >= c->block_pages - c->gc_moves) {
        die->debt -= c->block_pages - c->gc_moves;
        die->moving = true;
        die_work(media, unit,
                 media_later(now, with_jitter(media, c->read_ns + c->program_ns)));
        return true;
    }
    return false;
}

uint64_t media_op_bytes(const struct media *media, const struct media_page_op *op)
{
    return op->req == NONE ? op->bytes : page_bytes(media, &media->reqs[op->req], op->index);
}

static void die_begin(struct media *media, uint32_t unit, struct media_list *list, uint64_t now)
{
    struct media_die *die = &media->dies[unit];
    const struct media_config *c = &media->c;
    struct media_page_op *op = &media->ops[list->head];

    die->busy = list->head;
    MEDIA_LIST_POP(list, media->ops);
    if (op->kind == OP_READ) {
        die_work(media, unit, media_later(now, with_jitter(media, c->read_ns)));
    } else {
        uint64_t there = media_serve(&media->channel_free[unit % c->channels], now,
                               media_transfer_ns(media_op_bytes(media, op), c->channel_mbps));

        die_work(media, unit, media_later(there, with_jitter(media, c->program_ns)));
    }
}

/* Reads go first, but not for ever. */
void media_die_next(struct media *media, uint32_t unit, uint64_t now)
{
    struct media_die *die = &media->dies[unit];
    bool reads = die->reads.head != NONE;
    bool programs = die->programs.head != NONE;

    if (die->working) {
        return;
    }
    if (reads && (!programs || die->reads_in_row < media->c.read_burst)) {
        die->reads_in_row += programs;
        die_begin(media, unit, &die->reads, now);
    } else if (programs) {
        die->reads_in_row = 0;
        if (!collect_garbage(media, unit, now)) {
            die_begin(media, unit, &die->programs, now);
        }
    }
}

void media_op_queue(struct media *media, uint32_t index, uint64_t now)
{
    struct media_page_op *op = &media->ops[index];
    struct media_die *die = &media->dies[op->unit];
    struct media_list *list = op->kind == OP_READ ? &die->reads : &die->programs;

    MEDIA_LIST_PUSH(list, media->ops, index);
    media_die_next(media, op->unit, now);
}

/* All pages of a command: one operation for each die, which takes its pages one after the other. */
void media_queue_pages(struct media *media, uint32_t index, uint64_t first, enum op_kind kind,
                        bool random, uint64_t now)
{
    uint64_t pages = media_page_count(media, &media->reqs[index]);

    media->reqs[index].left = pages;
    for (uint64_t i = 0; i < MIN(pages, media->units); i++) {
        uint32_t at = media_op_new(media);
        struct media_page_op *op = &media->ops[at];

        op->kind = kind;
        op->random = random;
        op->req = index;
        op->unit = (uint32_t)((first + i) % media->units);
        op->index = i;
        media_op_queue(media, at, now);
    }
}

/* Back into the queue for the next page on the same die; false if there is none. */
bool media_op_again(struct media *media, uint32_t index, uint64_t now)
{
    struct media_page_op *op = &media->ops[index];

    if (op->req == NONE ||
        media_page_count(media, &media->reqs[op->req]) - op->index <= media->units) {
        return false;
    }
    op->index += media->units;
    media_op_queue(media, index, now);
    return true;
}
