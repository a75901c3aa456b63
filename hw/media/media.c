/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a solid-state drive takes: commands become pages, pages wait for dies and channels.
 * Not here: presets (media_config.c), dies (media_die.c), the write cache (media_cache.c), memory
 * (media_pool.c), data, clocks.
 * No standard; docs/media.md has the same rules in words.
 */
#include "media.h"

#include <glib.h>

#include "media_internal.h"

/* ---- Commands */

void media_finish(struct media *media, uint32_t index, uint64_t time)
{
    const struct media_config *c = &media->c;

    time = media_later(time, c->overhead_ns);
    if (c->outlier_ppm && media_draw(media) % 1000000 < c->outlier_ppm) {
        time = media_later(time, c->outlier_ns);
    }
    media_event_push(media, time, EVENT_COMPLETE, index);
}

static void page_done(struct media *media, uint32_t index, uint64_t time)
{
    struct media_req *req = &media->reqs[index];

    req->last = MAX(req->last, time);
    if (--req->left == 0) {
        media_finish(media, index, req->last);
    }
}

/* ---- What happens */

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

static void arrive_write(struct media *media, uint32_t index, uint64_t now)
{
    struct media_req *req = &media->reqs[index];
    const struct media_config *c = &media->c;
    bool random = c->gc_moves && is_random(media, &req->r);
    uint64_t first = req->r.offset / c->page;

    if (!c->cache) {
        media_queue_pages(media, index, first, OP_PROGRAM, random, now);
    } else if (req->r.fua && !c->plp) {
        media_cache_close_page(media, now);
        first = media->log;
        req->base = 0;
        media->log += media_page_count(media, req);
        media_queue_pages(media, index, first, OP_PROGRAM, random, now);
    } else {
        req->left = req->r.length;
        req->random = random;
        MEDIA_LIST_PUSH(&media->waiting, media->reqs, index);
        media_cache_fill(media, now);
    }
}

/* The group of cached pages becomes the command that waits for it. */
static void arrive_flush(struct media *media, uint32_t index, uint64_t now)
{
    uint32_t group;

    media_cache_close_page(media, now);
    group = media->group;
    media->reqs[group].r = media->reqs[index].r;
    media_req_free(media, index);
    media->group = media_req_new(media);
    MEDIA_LIST_PUSH(&media->flushes, media->reqs, group);
    media_cache_end_flushes(media, now);
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
        media_queue_pages(media, index, req->r.offset / c->page, OP_READ, false, now);
    } else {
        media_finish(media, index, now);
    }
}

/* The page leaves the die: that can read the next one meanwhile. */
static void read_done(struct media *media, uint32_t index, uint64_t now)
{
    uint32_t at = media_op_new(media);
    struct media_page_op *op = &media->ops[at];
    uint64_t *channel_free;

    *op = media->ops[index];
    channel_free = &media->channel_free[op->unit % media->c.channels];
    media_event_push(media,
                     media_serve(channel_free, now,
                                 media_transfer_ns(media_op_bytes(media, op),
                                                   media->c.channel_mbps)),
                     EVENT_CHANNEL, at);
    if (!media_op_again(media, index, now)) {
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

        if (!media_op_again(media, index, now)) {
            media_op_free(media, index);
        }
        page_done(media, req, now);
        return;
    }
    media->used -= op->bytes;
    media_op_free(media, index);
    media->reqs[group].left--;
    media_cache_end_flushes(media, now);
    media_cache_fill(media, now);
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
    media_die_next(media, unit, now);
}

static void channel_done(struct media *media, uint32_t index, uint64_t now)
{
    const struct media_page_op *op = &media->ops[index];
    uint32_t req = op->req;

    if (media->reqs[req].r.op == MEDIA_READ) {
        now = media_serve(&media->read_link_free, now,
                    media_transfer_ns(media_op_bytes(media, op), media->c.read_mbps));
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
        media->dies[i].reads = media->dies[i].programs = MEDIA_LIST_EMPTY;
        media->dies[i].busy = NONE;
    }
    media->req_free = media->op_free = NONE;
    media->waiting = media->flushes = MEDIA_LIST_EMPTY;
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
    time = media_serve(&media->command_free, media->now, c->command_ns);
    if (request->op == MEDIA_WRITE) {
        time = media_serve(&media->write_link_free, time,
                           media_transfer_ns(req->r.length, c->write_mbps));
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
