/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a drive, in arrays that refer to each other by index.
 * Not here: what a caller may see (media.h).
 */
#ifndef LOCKSTEP_MEDIA_INTERNAL_H
#define LOCKSTEP_MEDIA_INTERNAL_H

#include "media.h"

#define NONE UINT32_MAX

/* A command. Also the group of cached pages that the next Flush will wait for. */
struct media_req {
    struct media_request r;
    uint64_t base;          /* of the data in its first page, bytes */
    uint64_t left;          /* pages not moved yet; in the cache's queue bytes; of a group pages */
    uint64_t last;          /* when the latest of its parts ended */
    bool random;            /* in the cache's queue: leaves garbage behind */
    uint32_t next;          /* in a list, or the next free one */
};

enum op_kind { OP_READ, OP_PROGRAM };

/* Pages of one command on one die, one after the other; or one page out of the cache. */
struct media_page_op {
    enum op_kind kind;
    bool random;            /* programs: leaves garbage behind */
    uint32_t req;           /* NONE: out of the cache */
    uint32_t group;         /* out of the cache: counts in this one */
    uint32_t unit;          /* the die, of all */
    uint64_t index;         /* of the page in its command */
    uint64_t bytes;         /* out of the cache */
    uint32_t next;
};

struct media_list {
    uint32_t head, tail;
};
#define MEDIA_LIST_EMPTY ((struct media_list) { NONE, NONE })

struct media_die {
    struct media_list reads, programs;
    uint32_t busy;          /* its operation; NONE: idle, or busy with its own garbage */
    bool working;
    uint64_t reads_in_row;
    uint64_t debt;          /* in 1 / (block_pages - gc_moves) of a page to be moved */
    uint64_t programmed;    /* pages since the last erase */
    bool moving;            /* the page it moves now counts when it is done */
};

enum event_kind {
    EVENT_ARRIVE,           /* the controller has the command, and the data of a write */
    EVENT_DIE,              /* a die is done */
    EVENT_CHANNEL,          /* a page that was read is in the controller */
    EVENT_COMPLETE,
};

struct media_event {
    uint64_t time;
    uint64_t order;         /* equal times: first in, first out */
    enum event_kind kind;
    uint32_t index;         /* of the command, the die or the operation */
};

struct media {
    struct media_config c;
    uint32_t units;         /* dies in all */
    uint64_t now;
    uint64_t outstanding;

    uint64_t seed, draws;   /* the n-th random number is a function of these two */
    uint64_t command_free, read_link_free, write_link_free;     /* when each is */
    uint64_t *channel_free;
    struct media_die *dies;

    struct media_event *events;     /* a heap */
    uint32_t event_count, event_room;
    uint64_t order;

    struct media_req *reqs;
    uint32_t req_free, req_room;
    struct media_page_op *ops;
    uint32_t op_free, op_room;

    /* the write cache */
    uint64_t used;          /* bytes, with those of pages being programmed */
    uint64_t fill;          /* bytes of the page that is not full yet */
    bool fill_random;
    struct media_list waiting;      /* writes for room */
    struct media_list flushes;
    uint32_t group;         /* of the pages that are programmed now */
    uint64_t log;           /* pages written so far: the next one goes to the next die */
    uint64_t stream_end[MEDIA_STREAMS];
    uint32_t stream_next;
};

#define MEDIA_LIST_PUSH(list, array, index)                              \
    do {                                                                 \
        (array)[index].next = NONE;                                      \
        if ((list)->head == NONE) {                                      \
            (list)->head = (index);                                      \
        } else {                                                         \
            (array)[(list)->tail].next = (index);                        \
        }                                                                \
        (list)->tail = (index);                                          \
    } while (0)

#define MEDIA_LIST_POP(list, array) ((list)->head = (array)[(list)->head].next)

/* media.c */
/* All parts of a command are done: what is left is the way back. */
void media_finish(struct media *media, uint32_t index, uint64_t time);

/* media_die.c */
uint64_t media_draw(struct media *media);
/* ns for @bytes at a rate, rounded up; a rate of 0 is no limit. */
uint64_t media_transfer_ns(uint64_t bytes, uint64_t mbps);
/* A resource that serves one after the other: when is it done with one that takes @time? */
uint64_t media_serve(uint64_t *free_at, uint64_t now, uint64_t time);
/* Pages that a command touches. */
uint64_t media_page_count(const struct media *media, const struct media_req *req);
/* Bytes that an operation's page moves over the channel. */
uint64_t media_op_bytes(const struct media *media, const struct media_page_op *op);
/* If the die is idle it takes the next operation. */
void media_die_next(struct media *media, uint32_t unit, uint64_t now);
void media_op_queue(struct media *media, uint32_t index, uint64_t now);
/*
 * All pages of a command, the first one on die @first: one operation for each die, which takes its
 * pages one after the other.
 */
void media_queue_pages(struct media *media, uint32_t index, uint64_t first, enum op_kind kind,
                       bool random, uint64_t now);
/* Back into the queue for the next page on the same die; false if there is none. */
bool media_op_again(struct media *media, uint32_t index, uint64_t now);

/* media_cache.c */
/* What is left of the page that is not full goes to a die. */
void media_cache_close_page(struct media *media, uint64_t now);
/* Waiting writes enter as far as there is room. */
void media_cache_fill(struct media *media, uint64_t now);
/* Flushes end whose pages have all been programmed. */
void media_cache_end_flushes(struct media *media, uint64_t now);

/* media_pool.c: memory and the event heap. */
uint32_t media_req_new(struct media *media);
void media_req_free(struct media *media, uint32_t index);
uint32_t media_op_new(struct media *media);
void media_op_free(struct media *media, uint32_t index);
void media_event_push(struct media *media, uint64_t time, enum event_kind kind, uint32_t index);
struct media_event media_event_pop(struct media *media);

/* Times are at most MEDIA_NEVER - 1, however late it is. */
static inline uint64_t media_later(uint64_t time, uint64_t by)
{
    return by < MEDIA_NEVER - 1 - time ? time + by : MEDIA_NEVER - 1;
}

#endif
