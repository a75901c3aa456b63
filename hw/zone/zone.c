/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state machine of zones, and their memory. See zone.h.
 * Not here: the text of the configuration (zone_config.c), reports (zone_report.c).
 * NVM Express Zoned Namespace Command Set 1.1, 2.1.
 */
#include "zone_internal.h"

#include <string.h>

#define MAGIC UINT64_C(0x31736e7a6b636f6c)      /* "lockzns1" */

/* ---- Memory */

static uint32_t count_of(const struct zone_config *config, uint64_t bytes)
{
    return (uint32_t)(bytes / config->size);
}

size_t zones_store_bytes(const struct zone_config *config, uint64_t bytes)
{
    return sizeof(struct zone_store) +
           count_of(config, bytes) * (sizeof(struct zone_record) + config->extension);
}

static bool is_state(uint8_t state)
{
    return (state >= NV_ZONE_EMPTY && state <= NV_ZONE_CLOSED) ||
           (state >= NV_ZONE_READ_ONLY && state <= NV_ZONE_OFFLINE);
}

static bool is_open(uint8_t state)
{
    return state == NV_ZONE_IMPLICITLY_OPEN || state == NV_ZONE_EXPLICITLY_OPEN;
}

/* As after a power cycle (2.1.1): open zones are closed; closed ones without data are empty. */
static bool take_record(struct zones *zones, struct zone_record *record)
{
    if (!is_state(record->state) || record->written > zones->capacity) {
        return false;
    }
    if (is_open(record->state) || record->state == NV_ZONE_CLOSED) {
        bool used = record->written || record->attributes & NV_ZA_EXTENSION_VALID;

        record->state = used ? NV_ZONE_CLOSED : NV_ZONE_EMPTY;
        zones->closed += used;
    }
    return true;
}

static bool take_store(struct zones *zones, const struct zone_store *wanted, char **why)
{
    struct zone_store *store = zones->store;

    if (!store->magic) {
        *store = *wanted;
        for (uint32_t i = 0; i < zones->count; i++) {
            zones->records[i].state = NV_ZONE_EMPTY;
        }
        return true;
    }
    if (memcmp(store, wanted, sizeof(*wanted))) {
        *why = g_strdup("was kept for zones of another size or number; allowed: the same");
        return false;
    }
    for (uint32_t i = 0; i < zones->count; i++) {
        if (!take_record(zones, &zones->records[i])) {
            *why = g_strdup_printf("zone %u is in no state that there is", i);
            return false;
        }
    }
    if (zones->config.max_active && zones->closed > zones->config.max_active) {
        *why = g_strdup_printf("%u zones are active; allowed: max_active, which is %u",
                               zones->closed, (unsigned)zones->config.max_active);
        return false;
    }
    return true;
}

struct zones *zones_new(const struct zone_config *config, uint64_t bytes, uint32_t block,
                        void *store, char **why)
{
    struct zones *zones = g_new0(struct zones, 1);
    struct zone_store wanted = {
        .magic = MAGIC,
        .size = config->size / block,
        .capacity = config->capacity / block,
        .block = block,
        .extension = (uint32_t)config->extension,
        .count = count_of(config, bytes),
    };

    zones->config = *config;
    zones->count = wanted.count;
    zones->size = wanted.size;
    zones->capacity = wanted.capacity;
    zones->own = store ? NULL : g_malloc0(zones_store_bytes(config, bytes));
    zones->store = store ? store : zones->own;
    zones->records = (struct zone_record *)(zones->store + 1);
    zones->extensions = (uint8_t *)(zones->records + zones->count);
    zones->links = g_new0(struct zone_link, zones->count);
    zones->oldest = zones->newest = ZONE_NONE;
    *why = NULL;
    if (!take_store(zones, &wanted, why)) {
        zones_free(zones);
        return NULL;
    }
    return zones;
}

void zones_free(struct zones *zones)
{
    if (zones) {
        g_free(zones->own);
        g_free(zones->links);
        g_free(zones);
    }
}

uint32_t zones_count(const struct zones *zones)
{
    return zones->count;
}

uint64_t zones_size(const struct zones *zones)
{
    return zones->size;
}

uint64_t zones_capacity(const struct zones *zones)
{
    return zones->capacity;
}

const struct zone_config *zones_config(const struct zones *zones)
{
    return &zones->config;
}

enum nv_zone_state zone_state(const struct zones *zones, uint32_t zone)
{
    return zones->records[zone].state;
}

uint64_t zone_write_pointer(const struct zones *zones, uint32_t zone)
{
    const struct zone_record *record = &zones->records[zone];

    return zone * zones->size + (record->state >= NV_ZONE_READ_ONLY ? zones->size : record->written);
}

/* ---- States. Implicitly open zones are in a list, the oldest first: that is closed for others. */

static void list_remove(struct zones *zones, uint32_t zone)
{
    struct zone_link link = zones->links[zone];

    *(link.before == ZONE_NONE ? &zones->oldest : &zones->links[link.before].behind) = link.behind;
    *(link.behind == ZONE_NONE ? &zones->newest : &zones->links[link.behind].before) = link.before;
}

static void list_append(struct zones *zones, uint32_t zone)
{
    zones->links[zone] = (struct zone_link) { zones->newest, ZONE_NONE };
    *(zones->newest == ZONE_NONE ? &zones->oldest : &zones->links[zones->newest].behind) = zone;
    zones->newest = zone;
}

static void count_state(struct zones *zones, uint8_t state, int change)
{
    zones->open += is_open(state) ? (unsigned)change : 0;
    zones->explicitly_open += state == NV_ZONE_EXPLICITLY_OPEN ? (unsigned)change : 0;
    zones->closed += state == NV_ZONE_CLOSED ? (unsigned)change : 0;
}

static void set_state(struct zones *zones, uint32_t zone, enum nv_zone_state state)
{
    struct zone_record *record = &zones->records[zone];

    if (record->state == NV_ZONE_IMPLICITLY_OPEN) {
        list_remove(zones, zone);
    }
    count_state(zones, record->state, -1);
    record->state = (uint8_t)state;
    count_state(zones, record->state, 1);
    if (state == NV_ZONE_IMPLICITLY_OPEN) {
        list_append(zones, zone);
    }
}

/* Resources for a zone that is to be open, or, with @open false, closed (2.1.1.4). */
static uint16_t take_resources(struct zones *zones, uint32_t zone, bool open)
{
    const struct zone_config *config = &zones->config;
    uint8_t state = zones->records[zone].state;

    if (state == NV_ZONE_EMPTY && config->max_active &&
        zones->open + zones->closed >= config->max_active) {
        return NV_SC_TOO_MANY_ACTIVE;
    }
    if (open && !is_open(state) && config->max_open && zones->open >= config->max_open) {
        if (zones->oldest == ZONE_NONE) {
            return NV_SC_TOO_MANY_OPEN;
        }
        set_state(zones, zones->oldest, NV_ZONE_CLOSED);
    }
    return NV_SC_SUCCESS;
}

/* ---- Reading and writing */

uint16_t zones_check_read(const struct zones *zones, uint64_t slba, uint64_t blocks)
{
    for (uint64_t zone = slba / zones->size; zone <= (slba + blocks - 1) / zones->size; zone++) {
        if (zones->records[zone].state == NV_ZONE_OFFLINE) {
            return NV_SC_ZONE_OFFLINE;
        }
    }
    return NV_SC_SUCCESS;
}

static uint16_t not_writable(uint8_t state)
{
    return state == NV_ZONE_FULL ? NV_SC_ZONE_FULL :
           state == NV_ZONE_READ_ONLY ? NV_SC_ZONE_READ_ONLY :
           state == NV_ZONE_OFFLINE ? NV_SC_ZONE_OFFLINE : NV_SC_SUCCESS;
}

uint16_t zones_check_write(const struct zones *zones, uint64_t slba, uint64_t blocks)
{
    const struct zone_record *record = &zones->records[slba / zones->size];
    uint64_t at = slba % zones->size;
    uint16_t status = not_writable(record->state);

    if (status) {
        return status;
    }
    if (at + blocks > zones->capacity) {
        return NV_SC_ZONE_BOUNDARY;
    }
    return at == record->written ? NV_SC_SUCCESS : NV_SC_ZONE_INVALID_WRITE;
}

uint16_t zones_write(struct zones *zones, uint64_t slba, uint64_t blocks)
{
    uint32_t zone = (uint32_t)(slba / zones->size);
    struct zone_record *record = &zones->records[zone];
    uint16_t status = zones_check_write(zones, slba, blocks);

    if (!status) {
        status = take_resources(zones, zone, true);
    }
    if (status) {
        return status;
    }
    if (!is_open(record->state)) {
        set_state(zones, zone, NV_ZONE_IMPLICITLY_OPEN);
    }
    record->written += blocks;
    if (record->written == zones->capacity) {
        set_state(zones, zone, NV_ZONE_FULL);
    }
    return NV_SC_SUCCESS;
}

uint16_t zones_append(struct zones *zones, uint64_t zslba, uint64_t blocks, uint64_t *slba)
{
    uint32_t zone;
    uint16_t status = zones_find(zones, zslba, &zone);

    if (status) {
        return status;
    }
    *slba = zslba + zones->records[zone].written;
    return zones_write(zones, *slba, blocks);
}

/* ---- Management */

uint16_t zones_find(const struct zones *zones, uint64_t slba, uint32_t *zone)
{
    if (slba / zones->size >= zones->count) {
        return NV_SC_LBA_RANGE;
    }
    if (slba % zones->size) {
        return NV_SC_INVALID_FIELD;
    }
    *zone = (uint32_t)(slba / zones->size);
    return NV_SC_SUCCESS;
}

/* What an action makes of a zone; 0: an invalid transition. Its own state: nothing changes. */
static uint8_t transition(enum nv_zone_action action, uint8_t from)
{
    enum { E = NV_ZONE_EMPTY, IO = NV_ZONE_IMPLICITLY_OPEN, EO = NV_ZONE_EXPLICITLY_OPEN,
           C = NV_ZONE_CLOSED, RO = NV_ZONE_READ_ONLY, F = NV_ZONE_FULL, O = NV_ZONE_OFFLINE };
    static const uint8_t table[][16] = {
        [NV_ZSA_CLOSE] = { [IO] = C, [EO] = C, [C] = C },
        [NV_ZSA_FINISH] = { [E] = F, [IO] = F, [EO] = F, [C] = F, [F] = F },
        [NV_ZSA_OPEN] = { [E] = EO, [IO] = EO, [EO] = EO, [C] = EO },
        [NV_ZSA_RESET] = { [E] = E, [IO] = E, [EO] = E, [C] = E, [F] = E },
        [NV_ZSA_OFFLINE] = { [RO] = O, [O] = O },
        [NV_ZSA_EXTENSION] = { [E] = C },
    };

    return table[action][from];
}

uint16_t zones_manage(struct zones *zones, uint32_t zone, enum nv_zone_action action)
{
    uint8_t from = zones->records[zone].state, to = transition(action, from);
    uint16_t status = NV_SC_SUCCESS;

    if (!to) {
        return NV_SC_ZONE_TRANSITION;
    }
    if (to == NV_ZONE_EXPLICITLY_OPEN && from != to) {
        /* Its own place counts when it is implicitly open. */
        status = take_resources(zones, zone, true);
    }
    if (!status && from != to) {
        set_state(zones, zone, to);
    }
    return status;
}

/* With Select All an action is for zones in some states only (3.4.3). */
static bool is_selected(enum nv_zone_action action, uint8_t state)
{
    switch (action) {
    case NV_ZSA_CLOSE:
        return is_open(state);
    case NV_ZSA_FINISH:
        return is_open(state) || state == NV_ZONE_CLOSED;
    case NV_ZSA_OPEN:
        return state == NV_ZONE_CLOSED;
    case NV_ZSA_RESET:
        return is_open(state) || state == NV_ZONE_CLOSED || state == NV_ZONE_FULL;
    case NV_ZSA_OFFLINE:
        return state == NV_ZONE_READ_ONLY;
    default:
        return false;
    }
}

uint16_t zones_manage_all(struct zones *zones, enum nv_zone_action action)
{
    g_autofree uint32_t *selected = NULL;
    uint32_t count = 0;

    /* All or none: what is closed to make room is not opened in turn. */
    if (action == NV_ZSA_OPEN && zones->config.max_open &&
        zones->explicitly_open + zones->closed > zones->config.max_open) {
        return NV_SC_TOO_MANY_OPEN;
    }
    selected = g_new(uint32_t, zones->count);
    for (uint32_t zone = 0; zone < zones->count; zone++) {
        if (is_selected(action, zones->records[zone].state)) {
            selected[count++] = zone;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint16_t status = zones_manage(zones, selected[i], action);

        g_assert(!status);
    }
    return NV_SC_SUCCESS;
}

uint16_t zones_extend(struct zones *zones, uint32_t zone, const void *data)
{
    uint16_t status;

    if (!zones->config.extension) {
        return NV_SC_INVALID_FIELD;
    }
    if (!transition(NV_ZSA_EXTENSION, zones->records[zone].state)) {
        return NV_SC_ZONE_TRANSITION;
    }
    status = take_resources(zones, zone, false);
    if (status) {
        return status;
    }
    memcpy(zones->extensions + zone * zones->config.extension, data, zones->config.extension);
    zones->records[zone].attributes |= NV_ZA_EXTENSION_VALID;
    set_state(zones, zone, NV_ZONE_CLOSED);
    return NV_SC_SUCCESS;
}

uint16_t zones_check_reset(const struct zones *zones, uint32_t zone)
{
    return transition(NV_ZSA_RESET, zones->records[zone].state) ? NV_SC_SUCCESS :
                                                                  NV_SC_ZONE_TRANSITION;
}

bool zones_next_reset(const struct zones *zones, uint32_t *zone, uint32_t *count)
{
    while (*zone < zones->count && !is_selected(NV_ZSA_RESET, zones->records[*zone].state)) {
        ++*zone;
    }
    *count = 0;
    while (*zone + *count < zones->count &&
           is_selected(NV_ZSA_RESET, zones->records[*zone + *count].state)) {
        ++*count;
    }
    return *count;
}

void zones_reset_done(struct zones *zones, uint32_t zone)
{
    struct zone_record *record = &zones->records[zone];

    set_state(zones, zone, NV_ZONE_EMPTY);
    record->written = 0;
    record->attributes = 0;
}

bool zones_force(struct zones *zones, uint32_t zone, enum nv_zone_state state)
{
    struct zone_record *record = &zones->records[zone];

    if (record->state == NV_ZONE_OFFLINE || record->state == state) {
        return false;
    }
    if (state == NV_ZONE_FULL) {
        record->attributes |= NV_ZA_FINISHED;
    }
    set_state(zones, zone, state);
    return true;
}
