/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drives that have a name, and the text that chooses and changes one.
 * Not here: what the figures do (media.c). docs/media.md says where each comes from.
 */
#include "media.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

static const struct media_preset {
    const char *name;
    struct media_config config;
} presets[] = {
    /* Takes no time at all. */
    { "null", { .channels = 1, .dies = 1, .page = 4096, .read_burst = 1 } },
    /* One channel of DDR4-3200: 25.6 GB/s, tRC 45.75 ns, 16 banks with pages of 8 KiB. */
    { "ram", {
        .channels = 1, .dies = 16, .page = 8192, .channel_mbps = 25600,
        .read_ns = 46, .program_ns = 46, .read_burst = 1 } },
    /* Intel SSD DC P3700 2 TB, 20 nm MLC. */
    { "p3700", {
        .command_ns = 2174, .overhead_ns = 11962, .read_mbps = 2800, .write_mbps = 2800,
        .channels = 18, .dies = 8, .page = 16384, .channel_mbps = 333,
        .read_ns = 50000, .program_ns = 1118727, .erase_ns = 3000000, .read_burst = 8,
        .block_pages = 256, .gc_moves = 164,
        .cache = 64 << 20, .cache_ns = 4401, .plp = 1,
        .jitter_pm = 350, .outlier_ppm = 20, .outlier_ns = 2690000 } },
    /* Samsung PM9A3 U.2, 128-layer TLC. */
    { "tlc", {
        .command_ns = 1111, .overhead_ns = 14844, .read_mbps = 6500, .write_mbps = 6500,
        .channels = 8, .dies = 16, .page = 16384, .channel_mbps = 1200,
        .read_ns = 60000, .program_ns = 575766, .erase_ns = 5000000, .read_burst = 8,
        .block_pages = 512, .gc_moves = 385,
        .cache = 64 << 20, .plp = 1,
        .jitter_pm = 200, .outlier_ppm = 20, .outlier_ns = 1000000 } },
    /* Intel Optane SSD DC P4800X 375 GB, 3D XPoint: written in place, nothing is erased. */
    { "optane", {
        .command_ns = 1818, .overhead_ns = 1315, .read_mbps = 2400, .write_mbps = 2048,
        .channels = 7, .dies = 4, .page = 4096, .channel_mbps = 1600,
        .read_ns = 1500, .program_ns = 1500, .read_burst = 1,
        .jitter_pm = 700, .outlier_ppm = 20, .outlier_ns = 50000 } },
};

static const struct media_key {
    const char *name;
    size_t offset;
    uint64_t min, max;
    bool size;              /* takes a suffix K, M or G */
} keys[] = {
#define KEY(key, low, high) { #key, offsetof(struct media_config, key), low, high, false }
#define SIZE(key, low, high) { #key, offsetof(struct media_config, key), low, high, true }
    KEY(command_ns, 0, MEDIA_NS_MAX),
    KEY(overhead_ns, 0, MEDIA_NS_MAX),
    KEY(read_mbps, 0, MEDIA_MBPS_MAX),
    KEY(write_mbps, 0, MEDIA_MBPS_MAX),
    KEY(channels, 1, MEDIA_CHANNELS_MAX),
    KEY(dies, 1, MEDIA_DIES_MAX),
    SIZE(page, MEDIA_PAGE_MIN, MEDIA_PAGE_MAX),
    KEY(channel_mbps, 0, MEDIA_MBPS_MAX),
    KEY(read_ns, 0, MEDIA_NS_MAX),
    KEY(program_ns, 0, MEDIA_NS_MAX),
    KEY(erase_ns, 0, MEDIA_NS_MAX),
    KEY(read_burst, 1, MEDIA_READ_BURST_MAX),
    KEY(block_pages, 0, MEDIA_BLOCK_PAGES_MAX),
    KEY(gc_moves, 0, MEDIA_BLOCK_PAGES_MAX - 1),
    SIZE(cache, 0, MEDIA_CACHE_MAX),
    KEY(cache_ns, 0, MEDIA_NS_MAX),
    KEY(plp, 0, 1),
    KEY(jitter_pm, 0, 1000),
    KEY(outlier_ppm, 0, 1000000),
    KEY(outlier_ns, 0, MEDIA_NS_MAX),
#undef KEY
#undef SIZE
};

const char *media_preset_name(unsigned index)
{
    return index < G_N_ELEMENTS(presets) ? presets[index].name : NULL;
}

static char *allowed_presets(void)
{
    GString *text = g_string_new("PRESET[,key=value...], PRESET one of ");

    for (unsigned i = 0; i < G_N_ELEMENTS(presets); i++) {
        g_string_append_printf(text, "%s%s", i ? ", " : "", presets[i].name);
    }
    return g_string_free(text, FALSE);
}

static char *allowed_keys(void)
{
    GString *text = g_string_new("after the preset key=value, key one of ");

    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_string_append_printf(text, "%s%s", i ? ", " : "", keys[i].name);
    }
    return g_string_free(text, FALSE);
}

static bool parse_value(const struct media_key *key, const char *text, uint64_t *value)
{
    static const char suffixes[] = "KMG";
    g_autofree char *digits = g_strdup(text);
    size_t length = strlen(digits);
    const char *suffix = NULL;
    guint64 number;

    if (key->size && length) {
        suffix = strchr(suffixes, g_ascii_toupper(digits[length - 1]));
    }
    if (suffix) {
        digits[length - 1] = '\0';
    }
    if (!g_ascii_string_to_unsigned(digits, 10, 0, UINT64_MAX >> 30, &number, NULL)) {
        return false;
    }
    *value = number << (suffix ? 10 * (suffix - suffixes + 1) : 0);
    return *value >= key->min && *value <= key->max;
}

static bool parse_option(const char *option, struct media_config *config, char **why)
{
    const char *equals = strchr(option, '=');
    size_t length = equals ? (size_t)(equals - option) : 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(keys) && equals; i++) {
        const struct media_key *key = &keys[i];

        if (strlen(key->name) == length && !strncmp(key->name, option, length)) {
            if (parse_value(key, equals + 1, (uint64_t *)((char *)config + key->offset))) {
                return true;
            }
            *why = g_strdup_printf("%s from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s",
                                   key->name, key->min, key->max,
                                   key->size ? ", with suffix K, M or G" : "");
            return false;
        }
    }
    *why = allowed_keys();
    return false;
}

/* What one value alone cannot show to be wrong. */
static bool check(const struct media_config *config, char **why)
{
    if (config->page % 512) {
        *why = g_strdup("page a multiple of 512");
    } else if (config->cache && config->cache < config->page) {
        *why = g_strdup_printf("cache 0 or at least page, which is %" G_GUINT64_FORMAT,
                               config->page);
    } else if (config->gc_moves * 32 > config->block_pages * 31) {
        *why = g_strdup_printf("gc_moves up to 31/32 of block_pages, which is %" G_GUINT64_FORMAT,
                               config->block_pages);
    }
    return !*why;
}

bool media_config_parse(const char *text, struct media_config *config, char **why)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    struct media_config parsed;
    unsigned preset = 0;

    *why = NULL;
    while (preset < G_N_ELEMENTS(presets) && g_strcmp0(presets[preset].name, parts[0])) {
        preset++;
    }
    if (preset == G_N_ELEMENTS(presets)) {
        *why = allowed_presets();
        return false;
    }
    parsed = presets[preset].config;
    for (char **part = parts + 1; *part; part++) {
        if (!parse_option(*part, &parsed, why)) {
            return false;
        }
    }
    if (!check(&parsed, why)) {
        return false;
    }
    *config = parsed;
    return true;
}

bool media_config_is_null(const struct media_config *config)
{
    return !config->command_ns && !config->overhead_ns && !config->read_mbps &&
           !config->write_mbps && !config->channel_mbps && !config->read_ns &&
           !config->program_ns && !config->cache_ns &&
           (!config->erase_ns || !config->block_pages) &&
           (!config->outlier_ppm || !config->outlier_ns);
}

static uint64_t value_of(const struct media_config *config, const struct media_key *key)
{
    return *(const uint64_t *)((const char *)config + key->offset);
}

static unsigned differences(const struct media_config *one, const struct media_config *other)
{
    unsigned count = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        count += value_of(one, &keys[i]) != value_of(other, &keys[i]);
    }
    return count;
}

char *media_config_format(const struct media_config *config)
{
    const struct media_preset *nearest = presets;
    GString *text;

    if (media_config_is_null(config)) {
        return g_strdup("null"); /* whatever its channels are: nothing passes them */
    }
    for (size_t i = 0; i < G_N_ELEMENTS(presets); i++) {
        if (differences(config, &presets[i].config) < differences(config, &nearest->config)) {
            nearest = &presets[i];
        }
    }
    text = g_string_new(nearest->name);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        uint64_t value = value_of(config, &keys[i]);

        if (value != value_of(&nearest->config, &keys[i])) {
            g_string_append_printf(text, ",%s=%" G_GUINT64_FORMAT, keys[i].name, (guint64)value);
        }
    }
    return g_string_free(text, FALSE);
}
