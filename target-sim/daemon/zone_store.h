/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which the zones of a namespace are kept: beside that of its blocks, mapped, so that
 * it survives what the blocks survive.
 * Not here: what is in it (hw/zone/). No standard.
 */
#ifndef LOCKSTEP_DAEMON_ZONE_STORE_H
#define LOCKSTEP_DAEMON_ZONE_STORE_H

#include <glib.h>
#include <stdbool.h>

typedef struct ZoneStore {
    void *memory; /* NULL: nothing is kept */
    size_t bytes;
} ZoneStore;

/**
 * zone_store_open - map the file of zones that belongs to a file of blocks
 * @path: of the file of blocks; the other one is called PATH.zones, and made if it is not there
 * @bytes: that it has to have
 * @error: set on failure, domain CONFIG_ERROR; names the file
 */
bool zone_store_open(ZoneStore *store, const char *path, size_t bytes, GError **error);

/**
 * zone_store_sync - what was written before survives the loss of power
 *
 * Return: 0 or an errno value.
 */
int zone_store_sync(const ZoneStore *store);

/* Nothing happens to one that was not opened. */
void zone_store_close(ZoneStore *store);

#endif
