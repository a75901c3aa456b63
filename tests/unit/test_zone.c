/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zones by themselves: every action in every state, resources, what is kept, the configuration's
 * text.
 * Not here: commands (test_zoned.c).
 * NVMe zoned namespace command set specification 1.1, sections 2.1 and 3.4.
 */
#include <glib.h>
#include <string.h>

#include "zone/zone.h"

enum { BLOCK = 512, SIZE = 16, CAPACITY = 12, ZONES = 8 };      /* blocks, blocks, zones */

static const struct zone_config plain = { SIZE * BLOCK, CAPACITY * BLOCK, 0, 0, 64 };

static struct zones *make(const struct zone_config *config, void *store)
{
    char *why;
    struct zones *zones = zones_new(config, ZONES * SIZE * BLOCK, BLOCK, store, &why);

    g_assert_null(why);
    return zones;
}

/* Brings zone 0 into a state. */
static struct zones *in_state(enum nv_zone_state state)
{
    struct zones *zones = make(&plain, NULL);

    if (state != NV_ZONE_EMPTY) {
        g_assert_cmphex(zones_write(zones, 0, 1), ==, 0);
    }
    if (state == NV_ZONE_EXPLICITLY_OPEN) {
        g_assert_cmphex(zones_manage(zones, 0, NV_ZSA_OPEN), ==, 0);
    } else if (state == NV_ZONE_CLOSED) {
        g_assert_cmphex(zones_manage(zones, 0, NV_ZSA_CLOSE), ==, 0);
    } else if (state >= NV_ZONE_READ_ONLY) {
        g_assert_true(zones_force(zones, 0, state));
    }
    g_assert_cmphex(zone_state(zones, 0), ==, state);
    return zones;
}

enum { E = 0x1, IO = 0x2, EO = 0x3, C = 0x4, RO = 0xd, F = 0xe, O = 0xf, X = 0 };
static const uint8_t states[] = { E, IO, EO, C, RO, F, O };

/* Rows: states before; what each action makes of them, X: Invalid Zone State Transition. */
static void test_zone_every_action_in_every_state(void)
{
    static const struct {
        enum nv_zone_action action;
        uint8_t after[7];
    } rows[] = {
        { NV_ZSA_CLOSE, { X, C, C, C, X, X, X } },
        { NV_ZSA_FINISH, { F, F, F, F, X, F, X } },
        { NV_ZSA_OPEN, { EO, EO, EO, EO, X, X, X } },
        { NV_ZSA_RESET, { E, E, E, E, X, E, X } },
        { NV_ZSA_OFFLINE, { X, X, X, X, O, X, O } },
        { NV_ZSA_EXTENSION, { C, X, X, X, X, X, X } },
    };
    static const uint8_t extension[64] = { 1 };

    for (unsigned row = 0; row < G_N_ELEMENTS(rows); row++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
            struct zones *zones = in_state(states[i]);
            uint8_t after = rows[row].after[i];
            uint16_t status;

            g_test_message("action %x in state %x", rows[row].action, states[i]);
            switch (rows[row].action) {
            case NV_ZSA_EXTENSION:
                status = zones_extend(zones, 0, extension);
                break;
            case NV_ZSA_RESET:
                status = zones_check_reset(zones, 0);
                if (!status) {
                    zones_reset_done(zones, 0);
                }
                break;
            default:
                status = zones_manage(zones, 0, rows[row].action);
                break;
            }
            g_assert_cmphex(status, ==, after ? 0 : 0x1bf);
            g_assert_cmphex(zone_state(zones, 0), ==, after ? after : states[i]);
            zones_free(zones);
        }
    }
}

static void test_zone_write_in_every_state(void)
{
    static const uint16_t write_status[] = { 0, 0, 0, 0, 0x1ba, 0x1b9, 0x1bb };
    static const uint8_t after[] = { IO, IO, EO, IO, RO, F, O };

    for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
        struct zones *zones = in_state(states[i]);
        uint64_t at = states[i] == E ? 0 : 1, slba;

        g_assert_cmphex(zones_check_read(zones, 0, 1), ==, states[i] == O ? 0x1bb : 0);
        g_assert_cmphex(zones_write(zones, at, 2), ==, write_status[i]);
        g_assert_cmphex(zone_state(zones, 0), ==, after[i]);
        g_assert_cmphex(zones_append(zones, 0, 1, &slba), ==, write_status[i]);
        g_assert_true(write_status[i] || slba == at + 2);
        zones_free(zones);
    }
}

static void test_zone_write_pointer(void)
{
    struct zones *zones = make(&plain, NULL);

    g_assert_cmphex(zones_write(zones, 1, 1), ==, 0x1bc);
    g_assert_cmphex(zones_write(zones, 0, 5), ==, 0);
    g_assert_cmpuint(zone_write_pointer(zones, 0), ==, 5);
    g_assert_cmphex(zones_write(zones, 4, 1), ==, 0x1bc);
    g_assert_cmphex(zones_write(zones, 6, 1), ==, 0x1bc);
    g_assert_cmphex(zones_write(zones, 5, 8), ==, 0x1b8);       /* over the capacity */
    g_assert_cmphex(zones_write(zones, 5, 100), ==, 0x1b8);     /* and the zone's end */
    g_assert_cmphex(zones_write(zones, 5, 7), ==, 0);
    g_assert_cmphex(zone_state(zones, 0), ==, F);
    g_assert_cmphex(zones_write(zones, 12, 1), ==, 0x1b9);
    g_assert_cmphex(zones_write(zones, SIZE * 7, CAPACITY), ==, 0);
    g_assert_cmphex(zone_state(zones, 7), ==, F);
    zones_free(zones);
}

/* The oldest implicitly open zone makes room; explicitly open ones do not. */
static void test_zone_open_limit(void)
{
    struct zone_config config = plain;
    struct zones *zones;

    config.max_open = 2;
    zones = make(&config, NULL);
    g_assert_cmphex(zones_write(zones, 0 * SIZE, 1), ==, 0);
    g_assert_cmphex(zones_write(zones, 1 * SIZE, 1), ==, 0);
    g_assert_cmphex(zones_write(zones, 0 * SIZE + 1, 1), ==, 0);
    g_assert_cmphex(zones_write(zones, 2 * SIZE, 1), ==, 0);
    g_assert_cmphex(zone_state(zones, 0), ==, C);
    g_assert_cmphex(zone_state(zones, 1), ==, IO);
    g_assert_cmphex(zones_manage(zones, 3, NV_ZSA_OPEN), ==, 0);
    g_assert_cmphex(zone_state(zones, 1), ==, C);
    /* Zone 2's own place. */
    g_assert_cmphex(zones_manage(zones, 2, NV_ZSA_OPEN), ==, 0);
    g_assert_cmphex(zones_write(zones, 0 * SIZE + 2, 1), ==, 0x1be);
    g_assert_cmphex(zones_write(zones, 4 * SIZE, 1), ==, 0x1be);
    g_assert_cmphex(zones_manage(zones, 4, NV_ZSA_OPEN), ==, 0x1be);
    g_assert_cmphex(zone_state(zones, 4), ==, E);
    g_assert_cmphex(zones_manage(zones, 3, NV_ZSA_CLOSE), ==, 0);
    g_assert_cmphex(zones_write(zones, 0 * SIZE + 2, 1), ==, 0);
    /* Finish of an empty zone needs none. */
    g_assert_cmphex(zones_manage(zones, 5, NV_ZSA_FINISH), ==, 0);
    zones_free(zones);
}

static void test_zone_active_limit(void)
{
    static const uint8_t extension[64];
    struct zone_config config = plain;
    struct zones *zones;

    config.max_open = 1;
    config.max_active = 2;
    zones = make(&config, NULL);
    g_assert_cmphex(zones_write(zones, 0, 1), ==, 0);
    g_assert_cmphex(zones_write(zones, SIZE, 1), ==, 0);
    g_assert_cmphex(zones_write(zones, 2 * SIZE, 1), ==, 0x1bd);
    g_assert_cmphex(zones_manage(zones, 2, NV_ZSA_OPEN), ==, 0x1bd);
    g_assert_cmphex(zones_extend(zones, 2, extension), ==, 0x1bd);
    g_assert_cmphex(zones_write(zones, 1, 1), ==, 0);
    /* A full zone is not active. */
    g_assert_cmphex(zones_write(zones, 2, CAPACITY - 2), ==, 0);
    g_assert_cmphex(zones_write(zones, 2 * SIZE, 1), ==, 0);
    g_assert_cmphex(zone_state(zones, 2), ==, IO);
    g_assert_cmphex(zone_state(zones, 1), ==, C);
    zones_reset_done(zones, 1);
    g_assert_cmphex(zones_extend(zones, 3, extension), ==, 0);
    zones_free(zones);
}

/* One zone of each state; the list says which states each action is for. */
static void test_zone_select_all(void)
{
    static const struct {
        enum nv_zone_action action;
        uint8_t after[7];
    } rows[] = {
        { NV_ZSA_CLOSE, { E, C, C, C, RO, F, O } },
        { NV_ZSA_FINISH, { E, F, F, F, RO, F, O } },
        { NV_ZSA_OPEN, { E, IO, EO, EO, RO, F, O } },
        { NV_ZSA_OFFLINE, { E, IO, EO, C, O, F, O } },
        { NV_ZSA_RESET, { E, E, E, E, RO, E, O } },
    };

    for (unsigned row = 0; row < G_N_ELEMENTS(rows); row++) {
        struct zones *zones = make(&plain, NULL);

        for (uint32_t i = 1; i < 7; i++) {
            g_assert_cmphex(zones_write(zones, i * SIZE, 1), ==, 0);
        }
        g_assert_cmphex(zones_manage(zones, 2, NV_ZSA_OPEN), ==, 0);
        g_assert_cmphex(zones_manage(zones, 3, NV_ZSA_CLOSE), ==, 0);
        for (uint32_t i = 4; i < 7; i++) {
            g_assert_true(zones_force(zones, i, states[i]));
        }
        if (rows[row].action == NV_ZSA_RESET) {
            uint32_t zone = 0, count, runs = 0;

            for (; zones_next_reset(zones, &zone, &count); runs++) {
                while (count--) {
                    zones_reset_done(zones, zone++);
                }
            }
            g_assert_cmpuint(runs, ==, 2);      /* 1 to 3, and 5 */
        } else {
            g_assert_cmphex(zones_manage_all(zones, rows[row].action), ==, 0);
        }
        for (uint32_t i = 0; i < 7; i++) {
            g_assert_cmphex(zone_state(zones, i), ==, rows[row].after[i]);
        }
        zones_free(zones);
    }
}

static void test_zone_open_all_or_none(void)
{
    struct zone_config config = plain;
    struct zones *zones;

    config.max_open = 2;
    zones = make(&config, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        g_assert_cmphex(zones_write(zones, i * SIZE, 1), ==, 0);
        g_assert_cmphex(zones_manage(zones, i, NV_ZSA_CLOSE), ==, 0);
    }
    g_assert_cmphex(zones_manage_all(zones, NV_ZSA_OPEN), ==, 0x1be);
    g_assert_cmphex(zone_state(zones, 0), ==, C);
    zones_reset_done(zones, 2);
    /* Zones 3 and 4 are implicitly open: they make room, and are not opened for that. */
    g_assert_cmphex(zones_write(zones, 3 * SIZE, 1), ==, 0);
    g_assert_cmphex(zones_write(zones, 4 * SIZE, 1), ==, 0);
    g_assert_cmphex(zones_manage_all(zones, NV_ZSA_OPEN), ==, 0);
    g_assert_cmphex(zone_state(zones, 0), ==, EO);
    g_assert_cmphex(zone_state(zones, 1), ==, EO);
    g_assert_cmphex(zone_state(zones, 3), ==, C);
    g_assert_cmphex(zone_state(zones, 4), ==, C);
    zones_free(zones);
}

/* After a power cycle no zone is open; nothing else is lost. */
static void test_zone_store(void)
{
    static const uint8_t after[] = { E, C, C, C, RO, F, O, E };
    uint8_t extension[64];
    size_t bytes = zones_store_bytes(&plain, ZONES * SIZE * BLOCK);
    g_autofree void *store = g_malloc0(bytes);
    struct zones *zones = make(&plain, store);
    struct zone_report report = { .slba = 3 * SIZE, .extended = true };
    uint8_t out[64 + 128];
    char *why;

    memset(extension, 0xe5, sizeof(extension));
    g_assert_cmphex(zones_extend(zones, 3, extension), ==, 0);
    for (uint32_t i = 1; i < 7; i++) {
        g_assert_cmphex(zones_write(zones, i * SIZE, i), ==, 0);
    }
    g_assert_cmphex(zones_manage(zones, 2, NV_ZSA_OPEN), ==, 0);
    for (uint32_t i = 4; i < 7; i++) {
        g_assert_true(zones_force(zones, i, states[i]));
    }
    g_assert_cmphex(zones_manage(zones, 7, NV_ZSA_OPEN), ==, 0);
    zones_free(zones);
    zones = make(&plain, store);
    for (uint32_t i = 0; i < ZONES; i++) {
        g_assert_cmphex(zone_state(zones, i), ==, after[i]);
    }
    g_assert_cmpuint(zone_write_pointer(zones, 2), ==, 2 * SIZE + 2);
    zones_report(zones, &report, out, sizeof(out));
    g_assert_cmphex(out[64 + 2], ==, 0x80);             /* Zone Descriptor Extension Valid */
    g_assert_cmpmem(out + 128, 64, extension, 64);
    zones_free(zones);

    /* Other zones; then bytes that nobody wrote. */
    struct zone_config other = plain;

    other.capacity -= BLOCK;
    g_assert_null(zones_new(&other, ZONES * SIZE * BLOCK, BLOCK, store, &why));
    g_assert_nonnull(strstr(why, "another size"));
    g_free(why);
    for (size_t at = 0; at < bytes; at++) {
        g_autofree uint8_t *damaged = g_memdup2(store, bytes);

        damaged[at] ^= 0xff;
        zones = zones_new(&plain, ZONES * SIZE * BLOCK, BLOCK, damaged, &why);
        g_assert_true(zones || why);
        zones_free(zones);
        g_free(why);
    }
}

static unsigned reported(const struct zones *zones, struct zone_report report, uint8_t *out,
                         size_t len)
{
    struct nv_zone_report_header header;

    zones_report(zones, &report, out, len);
    memcpy(&header, out, sizeof(header));
    return (unsigned)header.count;
}

static void test_zone_report(void)
{
    struct zones *zones = make(&plain, NULL);
    struct nv_zone_descriptor zone;
    uint8_t out[64 + ZONES * 64];

    g_assert_cmphex(zones_write(zones, 2 * SIZE, 3), ==, 0);
    g_assert_cmphex(zones_manage(zones, 5, NV_ZSA_FINISH), ==, 0);
    g_assert_cmpuint(reported(zones, (struct zone_report) { 0 }, out, sizeof(out)), ==, ZONES);
    memcpy(&zone, out + 64 + 2 * 64, sizeof(zone));
    g_assert_cmpuint(zone.zt, ==, 2);
    g_assert_cmphex(zone.zs, ==, 0x20);
    g_assert_cmpuint(zone.zcap, ==, CAPACITY);
    g_assert_cmpuint(zone.zslba, ==, 2 * SIZE);
    g_assert_cmpuint(zone.wp, ==, 2 * SIZE + 3);
    memcpy(&zone, out + 64 + 5 * 64, sizeof(zone));
    g_assert_cmphex(zone.zs, ==, 0xe0);
    g_assert_true(zone.wp == UINT64_MAX);
    /* From within a zone on; a filter; what does not fit is counted, unless partial. */
    g_assert_cmpuint(reported(zones, (struct zone_report) { .slba = 3 * SIZE - 1 }, out,
                              sizeof(out)), ==, 6);
    g_assert_cmpuint(reported(zones, (struct zone_report) { .filter = NV_ZRASF_EMPTY }, out, 128),
                     ==, 6);
    g_assert_cmpuint(reported(zones, (struct zone_report) { .filter = NV_ZRASF_EMPTY,
                                                            .partial = true }, out, 191), ==, 1);
    g_assert_cmpuint(reported(zones, (struct zone_report) { .filter = NV_ZRASF_FULL }, out, 64),
                     ==, 1);
    g_assert_cmpuint(reported(zones, (struct zone_report) { .filter = NV_ZRASF_OFFLINE }, out, 64),
                     ==, 0);
    zones_free(zones);
}

static void test_zone_config_text(void)
{
    static const struct {
        const char *text, *normal;      /* normal NULL: refused */
    } rows[] = {
        { "none", "none" },
        { "size=64M", "size=67108864,capacity=67108864" },
        { "size=1G,capacity=512M,max_open=8,max_active=12,extension=64",
          "size=1073741824,capacity=536870912,max_open=8,max_active=12,extension=64" },
        { "max_open=8,size=1k", "size=1024,capacity=1024,max_open=8" },
        { "", NULL }, { "size", NULL }, { "size=", NULL }, { "size=0", NULL }, { "size=-1", NULL },
        { "capacity=1M", NULL }, { "size=1M,capacity=2M", NULL }, { "size=1M,", NULL },
        { "size=1M,max_open=3,max_active=2", NULL }, { "size=1M,extension=65", NULL },
        { "size=1M,extension=16384", NULL }, { "size=1M,colour=2", NULL }, { "size=1X", NULL },
        { "size=1M,max_open=1000000", NULL }, { "size=99999999999999999999", NULL },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct zone_config config = { 0 };
        g_autofree char *why = NULL;

        g_test_message("%s", rows[i].text);
        g_assert_cmpint(zone_config_parse(rows[i].text, &config, &why), ==, rows[i].normal != NULL);
        g_assert_cmpint(why != NULL, ==, rows[i].normal == NULL);
        if (rows[i].normal) {
            g_autofree char *text = zone_config_format(&config);

            g_assert_cmpstr(text, ==, rows[i].normal);
        }
    }
}

static void test_zone_config_fits(void)
{
    static const struct zone_config odd = { 1536, 1536, 0, 0, 0 };
    char *why;

    g_assert_true(zone_config_fits(&plain, ZONES * SIZE * BLOCK, BLOCK, &why));
    g_assert_false(zone_config_fits(&plain, ZONES * SIZE * BLOCK + BLOCK, BLOCK, &why));
    g_free(why);
    g_assert_false(zone_config_fits(&plain, (uint64_t)SIZE * BLOCK * (ZONE_COUNT_MAX + 1), BLOCK,
                                    &why));
    g_free(why);
    g_assert_false(zone_config_fits(&odd, 1536 * 8, 4096, &why));
    g_free(why);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zone/every_action_in_every_state", test_zone_every_action_in_every_state);
    g_test_add_func("/zone/write_in_every_state", test_zone_write_in_every_state);
    g_test_add_func("/zone/write_pointer", test_zone_write_pointer);
    g_test_add_func("/zone/open_limit", test_zone_open_limit);
    g_test_add_func("/zone/active_limit", test_zone_active_limit);
    g_test_add_func("/zone/select_all", test_zone_select_all);
    g_test_add_func("/zone/open_all_or_none", test_zone_open_all_or_none);
    g_test_add_func("/zone/store", test_zone_store);
    g_test_add_func("/zone/report", test_zone_report);
    g_test_add_func("/zone/config_text", test_zone_config_text);
    g_test_add_func("/zone/config_fits", test_zone_config_fits);
    return g_test_run();
}
