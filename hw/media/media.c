/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a solid-state drive takes: commands become pages, pages wait for dies and channels.
 * Not here: presets (media_config.c), memory (media_pool.c), data, clocks.
 * No standard; docs/media.md has the same rules in words.
 */
#include "media.h"

#include <glib.h>
#include <string.h>

#include "media_internal.h"

/* ---- Chance and rates */

/* The n-th draw depends on seed and n alone (splitmix64). */
static uint64_t draw(struct media *media)
{
    uint64_t z = media->seed + ++media->draws * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t with_jitter(struct media *media, uint64_t time)
{
    uint64_t width = time / 1000 * media->c.jitter_pm + time % 1000 * media->c.jitter_pm / 1000;

    return width ? time - width + draw(media) % (2 * width + 1) : time;
}

/* Rounded up; 0 is no limit. */
static uint64_t transfer_ns(uint64_t bytes, uint64_t mbps)
{
    if (!mbps) {
        return 0;
    }
    return bytes / mbps * 1000 + (bytes % mbps * 1000 + mbps - 1) / mbps;
}

/* A resource that serves one after the other: when is it done with this one? */
static uint64_t serve(uint64_t *free_at, uint64_t now, uint64_t time)
{
    *free_at = media_later(MAX(*free_at, now), time);
    return *free_at;
}

/* ---- Lists of commands and of operations */

#define LIST_PUSH(list, array, index)                                    \
    do {                                                                 \
        (array)[index].next = NONE;                                      \
        if ((list)->head == NONE) {                                      \
            (list)->head = (index);                                      \
        } else {                                                         \
            (array)[(list)->tail].next = (index);                        \
        }                                                                \
        (list)->tail = (index);                                          \
    } while (0)

#define LIST_POP(list, array) ((list)->head = (array)[(list)->head].next)

static const struct media_list empty = { NONE, NONE };

/* ---- Commands */

static void finish(struct media *media, uint32_t index, uint64_t time)
{
    const struct media_config *c = &media->c;

    time = media_later(time, c->overhead_ns);
    if (c->outlier_ppm && draw(media) % 1000000 < c->outlier_ppm) {
        time = media_later(time, c->outlier_ns);
    }
    media_event_push(media, time, EVENT_COMPLETE, index);
}

static uint64_t page_count(const struct media *media, const struct media_req *req)
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

static void page_done(struct media *media, uint32_t index, uint64_t time)
{
    struct media_req *req = &media->reqs[index];

    req->last = MAX(req->last, time);
    if (--req->left == 0) {
        finish(media, index, req->last);
    }
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

static uint64_t op_bytes(const struct media *media, const struct media_page_op *op)
{
    return op->req == NONE ? op->bytes : page_bytes(media, &media->reqs[op->req], op->index);
}

static void die_begin(struct media *media, uint32_t unit, struct media_list *list, uint64_t now)
{
    struct media_die *die = &media->dies[unit];
    const struct media_config *c = &media->c;
    struct media_page_op *op = &media->ops[list->head];

    die->busy = list->head;
    LIST_POP(list, media->ops);
    if (op->kind == OP_READ) {
        die_work(media, unit, media_later(now, with_jitter(media, c->read_ns)));
    } else {
        uint64_t there = serve(&media->channel_free[unit % c->channels], now,
                               transfer_ns(op_bytes(media, op), c->channel_mbps));

        die_work(media, unit, media_later(there, with_jitter(media, c->program_ns)));
    }
}

/* Reads go first, but not for ever. */
static void die_next(struct media *media, uint32_t unit, uint64_t now)
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

static void op_queue(struct media *media, uint32_t index, uint64_t now)
{
    struct media_page_op *op = &media->ops[index];
    struct media_die *die = &media->dies[op->unit];
    struct media_list *list = op->kind == OP_READ ? &die->reads : &die->programs;

    LIST_PUSH(list, media->ops, index);
    die_next(media, op->unit, now);
}

/* All pages of a command: one operation for each die, which takes its pages one after the other. */
static void queue_pages(struct media *media, uint32_t index, uint64_t first, enum op_kind kind,
                        bool random, uint64_t now)
{
    uint64_t pages = page_count(media, &media->reqs[index]);

    media->reqs[index].left = pages;
    for (uint64_t i = 0; i < MIN(pages, media->units); i++) {
        uint32_t at = media_op_new(media);
        struct media_page_op *op = &media->ops[at];

        op->kind = kind;
        op->random = random;
        op->req = index;
        op->unit = (uint32_t)((first + i) % media->units);
        op->index = i;
        op_queue(media, at, now);
    }
}

/* Back into the queue for the next page on the same die; false if there is none. */
static bool op_again(struct media *media, uint32_t index, uint64_t now)
{
    struct media_page_op *op = &media->ops[index];

    if (op->req == NONE ||
        page_count(media, &media->reqs[op->req]) - op->index <= media->units) {
        return false;
    }
    op->index += media->units;
    op_queue(media, index, now);
    return true;
}

/* ---- Write cache */

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
    op_queue(media, at, now);
}

static void close_page(struct media *media, uint64_t now)
{
    if (media->fill) {
        program_from_cache(media, media->fill, now);
    }
}

/* Writes enter as far as there is room, in order; each full page goes to a die. */
static void fill_cache(struct media *media, uint64_t now)
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
            LIST_POP(&media->waiting, media->reqs);
            finish(media, index, media_later(now, c->cache_ns));
        }
        if (media->fill == c->page) {
            program_from_cache(media, c->page, now);
        }
    }
}

static void end_flushes(struct media *media, uint64_t now)
{
    while (media->flushes.head != NONE && !media->reqs[media->flushes.head].left) {
        uint32_t index = media->flushes.head;

        LIST_POP(&media->flushes, media->reqs);
        finish(media, index, now);
    }
}

/* A write that goes on where one of the last ones ended leaves whole blocks to erase. */
static bool is_random(struct media *media, const struct media_request *r)
{
    for (unsigned i = 0; i < MEDIA_STREAMS; i++) {
        if (media->stream_end[i] == r->offset) {
            media->stream_end[i] = r->offset + r->length;
            return false;
        }
    }
    media->stream_end[media->stream_next] = r->offset + r->length;
    media->stream_next = (media->stream_next + 1) % MEDIA_STREAMS;
    return true;
}

/* ---- What happens */

static void arrive_write(struct media *media, uint32_t index, uint64_t now)
{
    struct media_req *req = &media->reqs[index];
    const struct media_config *c = &media->c;
    bool random = c->gc_moves && is_random(media, &req->r);
    uint64_t first = req->r.offset / c->page;

    if (!c->cache) {
        queue_pages(media, index, first, OP_PROGRAM, random, now);
    } else if (req->r.fua && !c->plp) {
        close_page(media, now);
        first = media->log;
        req->base = 0;
        media->log += page_count(media, req);
        queue_pages(media, index, first, OP_PROGRAM, random, now);
    } else {
        req->left = req->r.length;
        req->random = random;
        LIST_PUSH(&media->waiting, media->reqs, index);
        fill_cache(media, now);
    }
}

/* The group of cached pages becomes the command that waits for it. */
static void arrive_flush(struct media *media, uint32_t index, uint64_t now)
{
    uint32_t group;

    close_page(media, now);
    group = media->group;
    media->reqs[group].r = media->reqs[index].r;
    media_req_free(media, index);
    media->group = media_req_new(media);
    LIST_PUSH(&media->flushes, media->reqs, group);
    end_flushes(media, now);
}

static void arrive(struct media *media, uint32_t index, uint64_t now)
{
    struct media_req *req = &media->reqs[index];
    const struct media_config *c = &media->c;

    if (req->r.op == MEDIA_FLUSH && c->cache && !c->plp) {
        arrive_flush(media, index, now);
    } else if (req->r.op == MEDIA_WRITE && req->r.length) {
        arrive_write(media, index, now);
    } else if ((req->r.op == MEDIA_READ || req->r.op == MEDIA_VERIFY) && req->r.length) {
        queue_pages(media, index, req->r.offset / c->page, OP_READ, false, now);
    } else {
        finish(media, index, now);
    }
}

/* The page leaves the die: that can read the next one meanwhile. */
static void read_done(struct media *media, uint32_t index, uint64_t now)
{
    struct media_page_op *op = &media->ops[index];
    const struct media_config *c = &media->c;
    uint32_t at = media_op_new(media);

    op = &media->ops[index];
    media->ops[at] = *op;
    media_event_push(media,
                     serve(&media->channel_free[op->unit % c->channels], now,
                           transfer_ns(op_bytes(media, op), c->channel_mbps)),
                     EVENT_CHANNEL, at);
    if (!op_again(media, index, now)) {
        media_op_free(media, index);
    }
}

static void program_done(struct media *media, uint32_t index, uint64_t now)
{
    struct media_page_op *op = &media->ops[index];
    struct media_die *die = &media->dies[op->unit];
    uint32_t group = op->group;

    die->programmed++;
    die->debt += op->random ? media->c.gc_moves : 0;
    if (group == NONE) {
        uint32_t req = op->req;

        if (!op_again(media, index, now)) {
            media_op_free(media, index);
        }
        page_done(media, req, now);
        return;
    }
    media->used -= op->bytes;
    media_op_free(media, index);
    media->reqs[group].left--;
    end_flushes(media, now);
    fill_cache(media, now);
}

static void die_done(struct media *media, uint32_t unit, uint64_t now)
{
    struct media_die *die = &media->dies[unit];
    uint32_t index = die->busy;

    die->busy = NONE;
    die->programmed += die->moving;
    die->moving = false;
    if (index != NONE && media->ops[index].kind == OP_READ) {
        read_done(media, index, now);
    } else if (index != NONE) {
        program_done(media, index, now);
    }
    die->working = false;
    die_next(media, unit, now);
}

static void channel_done(struct media *media, uint32_t index, uint64_t now)
{
    const struct media_page_op *op = &media->ops[index];
    uint32_t req = op->req;

    if (media->reqs[req].r.op == MEDIA_READ) {
        now = serve(&media->read_link_free, now,
                    transfer_ns(op_bytes(media, op), media->c.read_mbps));
    }
    media_op_free(media, index);
    page_done(media, req, now);
}

/* ---- What a caller sees */

struct media *media_new(const struct media_config *config, uint64_t seed)
{
    struct media *media = g_new0(struct media, 1);

    media->c = *config;
    media->units = (uint32_t)(config->channels * config->dies);
    media->seed = seed;
    media->channel_free = g_new0(uint64_t, config->channels);
    media->dies = g_new0(struct media_die, media->units);
    for (uint32_t i = 0; i < media->units; i++) {
        media->dies[i].reads = media->dies[i].programs = empty;
        media->dies[i].busy = NONE;
    }
    media->req_free = media->op_free = NONE;
    media->waiting = media->flushes = empty;
    for (unsigned i = 0; i < MEDIA_STREAMS; i++) {
        media->stream_end[i] = UINT64_MAX;
    }
    media->group = media_req_new(media);
    return media;
}

void media_free(struct media *media)
{
    if (media) {
        g_free(media->channel_free);
        g_free(media->dies);
        g_free(media->events);
        g_free(media->reqs);
        g_free(media->ops);
        g_free(media);
    }
}

void media_submit(struct media *media, uint64_t now, const struct media_request *request)
{
    const struct media_config *c = &media->c;
    uint32_t index = media_req_new(media);
    struct media_req *req = &media->reqs[index];
    uint64_t time;

    media->now = MIN(MAX(media->now, now), MEDIA_NEVER - 1);
    media->outstanding++;
    req->r = *request;
    req->r.length = MIN(req->r.length, MEDIA_LENGTH_MAX);
    req->base = req->r.offset % c->page;
    time = serve(&media->command_free, media->now, c->command_ns);
    if (request->op == MEDIA_WRITE) {
        time = serve(&media->write_link_free, time, transfer_ns(req->r.length, c->write_mbps));
    }
    media_event_push(media, time, EVENT_ARRIVE, index);
}

void *media_complete(struct media *media, uint64_t now, uint64_t *when)
{
    while (media->event_count && media->events[0].time <= now) {
        struct media_event event = media_event_pop(media);

        media->now = MAX(media->now, event.time);
        switch (event.kind) {
        case EVENT_ARRIVE:
            arrive(media, event.index, event.time);
            break;
        case EVENT_DIE:
            die_done(media, event.index, event.time);
            break;
        case EVENT_CHANNEL:
            channel_done(media, event.index, event.time);
            break;
        case EVENT_COMPLETE:
            if (when) {
                *when = event.time;
            }
            media->outstanding--;
            media_req_free(media, event.index);
            return media->reqs[event.index].r.opaque;
        }
    }
    return NULL;
}

uint64_t media_next(const struct media *media)
{
    return media->event_count ? media->events[0].time : MEDIA_NEVER;
}

uint64_t media_outstanding(const struct media *media)
{
    return media->outstanding;
}
