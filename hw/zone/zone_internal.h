/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones from inside: what is kept, and what is counted. Not here: what users see (zone.h).
 * No standard.
 */
#ifndef LOCKSTEP_ZONE_INTERNAL_H
#define LOCKSTEP_ZONE_INTERNAL_H

#include "zone.h"

#include <glib.h>

#define ZONE_NONE UINT32_MAX

/* The beginning of the memory that is kept; the records and then the extensions are behind it. */
struct zone_store {
    uint64_t magic;                      /* 0: nothing is kept yet */
    uint64_t size;                       /* blocks of a zone */
    uint64_t capacity;                   /* blocks */
    uint32_t block;                      /* bytes */
    uint32_t extension;                  /* bytes */
    uint32_t count;                      /* zones */
    uint32_t rsvd;
};

struct zone_record {
    uint64_t written;                    /* blocks before the write pointer */
    uint8_t state;                       /* enum nv_zone_state */
    uint8_t attributes;                  /* enum nv_zone_attributes */
    uint8_t rsvd[6];
};

struct zone_link {
    uint32_t before, behind;             /* zones, or ZONE_NONE */
};

struct zones {
    struct zone_config config;
    uint32_t count;
    uint64_t size, capacity;             /* blocks of a zone */
    struct zone_store *store;
    struct zone_record *records;         /* in the store */
    uint8_t *extensions;                 /* in the store */
    void *own;                           /* the store, if nobody gave one */
    struct zone_link *links;             /* of implicitly open zones */
    uint32_t oldest, newest;
    unsigned open, explicitly_open, closed;
};

#endif
