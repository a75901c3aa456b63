/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones of a namespace: their states, what may be written where, what a report says. target-sim
 * and the SSD device model use the same code.
 * Not here: data, I/O, clocks, QEMU; who discards the blocks of a zone that is reset.
 * NVM Express Zoned Namespace Command Set 1.1, chapters 2 and 3.
 */
/*
 * Everything is in logical blocks but for zone_config, which is in bytes. Statuses are those of
 * lockstep/nvme.h without DNR. The state is in memory that the caller may keep (a mapped file): it
 * is right after each call.
 */
#ifndef LOCKSTEP_ZONE_H
#define LOCKSTEP_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep/nvme.h"

enum zone_limits {
    ZONE_COUNT_MAX = 1 << 18,            /* of a namespace */
    ZONE_OPEN_MAX = ZONE_COUNT_MAX,      /* max_open, max_active */
    ZONE_EXTENSION_MAX = 255 * NV_ZONE_EXTENSION_UNIT,
};
#define ZONE_SIZE_MAX (UINT64_C(1) << 50)       /* bytes */

struct zone_config {
    uint64_t size;                       /* of a zone, bytes; 0: not zoned */
    uint64_t capacity;                   /* bytes that can be written; not over size */
    uint64_t max_open;                   /* zones open at a time; 0: no limit */
    uint64_t max_active;                 /* zones open or closed; 0: no limit, else >= max_open */
    uint64_t extension;                  /* bytes of a zone's descriptor extension; 0: none */
};

/*
 * zone_config_parse: "none", or "size=SIZE[,capacity=SIZE][,max_open=N][,max_active=N]
 * [,extension=BYTES]".
 * @config: written only on success. @why: NULL, or on failure what is allowed, for a message; freed
 * by g_free().
 */
bool zone_config_parse(const char *text, struct zone_config *config, char **why);
/* The reverse: a new string, freed by g_free(). */
char *zone_config_format(const struct zone_config *config);

/*
 * zone_config_fits: whether a namespace of @bytes in blocks of @block bytes can have such zones: a
 * whole number of zones, each of whole blocks.
 * @why: on failure what is allowed, freed by g_free().
 */
bool zone_config_fits(const struct zone_config *config, uint64_t bytes, uint32_t block, char **why);

struct zones;

/* Bytes of the memory in which zones of such a namespace keep their state. */
size_t zones_store_bytes(const struct zone_config *config, uint64_t bytes);

/*
 * zones_new: the zones of a namespace that zone_config_fits() has found good.
 * @store: zones_store_bytes() of memory, aligned to 8, that outlives the zones: all zero, or what
 * zones kept there before. These are as after a power cycle: none is open. NULL: nothing is kept,
 * all zones are empty.
 * @why: on failure what is wrong with the store, freed by g_free(): other zones, or damage.
 * Returns NULL on failure; freed by zones_free().
 */
struct zones *zones_new(const struct zone_config *config, uint64_t bytes, uint32_t block,
                        void *store, char **why);
void zones_free(struct zones *zones);

uint32_t zones_count(const struct zones *zones);
uint64_t zones_size(const struct zones *zones);          /* blocks of a zone */
uint64_t zones_capacity(const struct zones *zones);      /* blocks of a zone */
const struct zone_config *zones_config(const struct zones *zones);

enum nv_zone_state zone_state(const struct zones *zones, uint32_t zone);
/* The block that is written next; zone's end if it is not written any more. */
uint64_t zone_write_pointer(const struct zones *zones, uint32_t zone);

/* ---- Reading and writing; @slba and @blocks are within the namespace, @blocks is not 0 */

/* NV_SC_ZONE_OFFLINE if one of the zones is. */
uint16_t zones_check_read(const struct zones *zones, uint64_t slba, uint64_t blocks);
/* Whether a write could be done now, but for the number of open zones. */
uint16_t zones_check_write(const struct zones *zones, uint64_t slba, uint64_t blocks);
/* The blocks are about to be written: opens the zone if need be, moves its write pointer. */
uint16_t zones_write(struct zones *zones, uint64_t slba, uint64_t blocks);
/* The same at the write pointer of the zone that begins at @zslba; where that was is in *@slba. */
uint16_t zones_append(struct zones *zones, uint64_t zslba, uint64_t blocks, uint64_t *slba);

/* ---- Zone Management Send */

/* The zone that begins at @slba. Returns a status: *@zone is set if it is 0. */
uint16_t zones_find(const struct zones *zones, uint64_t slba, uint32_t *zone);

/*
 * zones_manage: close, finish, open or offline of one zone.
 * zones_manage_all: the same with Select All.
 */
uint16_t zones_manage(struct zones *zones, uint32_t zone, enum nv_zone_action action);
uint16_t zones_manage_all(struct zones *zones, enum nv_zone_action action);
/* Set Zone Descriptor Extension; @data has the configured number of bytes. */
uint16_t zones_extend(struct zones *zones, uint32_t zone, const void *data);

/*
 * Reset is in two parts: first the blocks of the zone become zeroes, which is the caller's; then
 * zones_reset_done() makes it empty. zones_next_reset() finds what to reset: the first zone from
 * @zone on, and in *@count it and those right behind it. Returns false if there is none.
 */
uint16_t zones_check_reset(const struct zones *zones, uint32_t zone);
bool zones_next_reset(const struct zones *zones, uint32_t *zone, uint32_t *count);
void zones_reset_done(struct zones *zones, uint32_t zone);

/*
 * zones_force: what no command of a host does: the zone becomes NV_ZONE_FULL, NV_ZONE_READ_ONLY or
 * NV_ZONE_OFFLINE. Returns false if it is offline, or that already.
 */
bool zones_force(struct zones *zones, uint32_t zone, enum nv_zone_state state);

/* ---- Zone Management Receive */

struct zone_report {
    uint64_t slba;                       /* the zone with this block and those behind it */
    unsigned filter;                     /* enum nv_zone_filter */
    bool extended;                       /* with descriptor extensions */
    bool partial;                        /* the number of zones is that of the descriptors */
};

/* Writes a report of @len bytes, of which there is at least the header. */
void zones_report(const struct zones *zones, const struct zone_report *report, uint8_t *out,
                  size_t len);

#endif
