/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a drive's model: commands, page operations, and the heap of events.
 * Not here: what they mean (media.c).
 */
#include "media_internal.h"

#include <glib.h>

enum { FIRST_ROOM = 64 };

uint32_t media_req_new(struct media *media)
{
    uint32_t index = media->req_free;

    if (index == NONE) {
        uint32_t room = MAX(media->req_room * 2, FIRST_ROOM);

        media->reqs = g_renew(struct media_req, media->reqs, room);
        for (uint32_t i = room; i-- > media->req_room;) {
            media->reqs[i].next = media->req_free;
            media->req_free = i;
        }
        index = media->req_room;
        media->req_room = room;
    }
    media->req_free = media->reqs[index].next;
    media->reqs[index] = (struct media_req) { .next = NONE };
    return index;
}

void media_req_free(struct media *media, uint32_t index)
{
    media->reqs[index].next = media->req_free;
    media->req_free = index;
}

uint32_t media_op_new(struct media *media)
{
    uint32_t index = media->op_free;

    if (index == NONE) {
        uint32_t room = MAX(media->op_room * 2, FIRST_ROOM);

        media->ops = g_renew(struct media_page_op, media->ops, room);
        for (uint32_t i = room; i-- > media->op_room;) {
            media->ops[i].next = media->op_free;
            media->op_free = i;
        }
        index = media->op_room;
        media->op_room = room;
    }
    media->op_free = media->ops[index].next;
    media->ops[index] = (struct media_page_op) { .req = NONE, .group = NONE, .next = NONE };
    return index;
}

void media_op_free(struct media *media, uint32_t index)
{
    media->ops[index].next = media->op_free;
    media->op_free = index;
}

static bool before(const struct media_event *a, const struct media_event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void media_event_push(struct media *media, uint64_t time, enum event_kind kind, uint32_t index)
{
    struct media_event event = { time, media->order++, kind, index };
    uint32_t at = media->event_count++;

    if (at == media->event_room) {
        media->event_room = MAX(media->event_room * 2, FIRST_ROOM);
        media->events = g_renew(struct media_event, media->events, media->event_room);
    }
    while (at > 0 && before(&event, &media->events[(at - 1) / 2])) {
        media->events[at] = media->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    media->events[at] = event;
}

struct media_event media_event_pop(struct media *media)
{
    struct media_event first = media->events[0];
    struct media_event last = media->events[--media->event_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= media->event_count) {
            break;
        }
        if (child + 1 < media->event_count &&
            before(&media->events[child + 1], &media->events[child])) {
            child++;
        }
        if (!before(&media->events[child], &last)) {
            break;
        }
        media->events[at] = media->events[child];
        at = child;
    }
    media->events[at] = last;
    return first;
}
