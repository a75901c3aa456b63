/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that says which zones a namespace has. Not here: zones (zone.c). No standard.
 */
#include "zone.h"

#include <glib.h>
#include <string.h>

static const struct zone_key {
    const char *name;
    size_t offset;
    uint64_t min, max;
    bool size;                           /* may have a suffix */
} keys[] = {
#define KEY(field, min, max) { #field, offsetof(struct zone_config, field), min, max, false }
#define SIZE(field, min, max) { #field, offsetof(struct zone_config, field), min, max, true }
    SIZE(size, 512, ZONE_SIZE_MAX),
    SIZE(capacity, 512, ZONE_SIZE_MAX),
    KEY(max_open, 0, ZONE_OPEN_MAX),
    KEY(max_active, 0, ZONE_OPEN_MAX),
    KEY(extension, 0, ZONE_EXTENSION_MAX),
#undef KEY
#undef SIZE
};

static const char allowed[] = "none, or size=SIZE[,capacity=SIZE][,max_open=N][,max_active=N]"
                              "[,extension=BYTES]";

static bool parse_value(const struct zone_key *key, const char *text, uint64_t *value)
{
    static const char suffixes[] = "KMGT";
    g_autofree char *digits = g_strdup(text);
    size_t length = strlen(digits);
    const char *suffix = key->size && length ?
                             strchr(suffixes, g_ascii_toupper(digits[length - 1])) : NULL;
    guint64 number;

    if (suffix) {
        digits[length - 1] = '\0';
    }
    if (!g_ascii_string_to_unsigned(digits, 10, 0, UINT64_MAX >> 40, &number, NULL)) {
        return false;
    }
    *value = number << (suffix ? 10 * (suffix - suffixes + 1) : 0);
    return *value >= key->min && *value <= key->max;
}

static bool parse_option(const char *option, struct zone_config *config, char **why)
{
    const char *equals = strchr(option, '=');
    size_t length = equals ? (size_t)(equals - option) : 0;

    for (size_t i = 0; equals && i < G_N_ELEMENTS(keys); i++) {
        const struct zone_key *key = &keys[i];

        if (strlen(key->name) == length && !strncmp(key->name, option, length)) {
            if (parse_value(key, equals + 1, (uint64_t *)((char *)config + key->offset))) {
                return true;
            }
            *why = g_strdup_printf("%s from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s",
                                   key->name, key->min, key->max,
                                   key->size ? ", with suffix K, M, G or T" : "");
            return false;
        }
    }
    *why = g_strdup(allowed);
    return false;
}

/* What one value alone cannot show to be wrong. */
static bool check(struct zone_config *config, char **why)
{
    if (!config->capacity) {
        config->capacity = config->size;
    }
    if (!config->size) {
        *why = g_strdup(allowed);
    } else if (config->capacity > config->size) {
        *why = g_strdup_printf("capacity up to size, which is %" G_GUINT64_FORMAT, config->size);
    } else if (config->max_active && config->max_open > config->max_active) {
        *why = g_strdup_printf("max_open up to max_active, which is %" G_GUINT64_FORMAT,
                               config->max_active);
    } else if (config->extension % NV_ZONE_EXTENSION_UNIT) {
        *why = g_strdup_printf("extension a multiple of %d", NV_ZONE_EXTENSION_UNIT);
    }
    return !*why;
}

bool zone_config_parse(const char *text, struct zone_config *config, char **why)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    struct zone_config parsed = { 0 };

    *why = NULL;
    if (!strcmp(text, "none")) {
        *config = parsed;
        return true;
    }
    for (char **part = parts; *part; part++) {
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

char *zone_config_format(const struct zone_config *config)
{
    GString *text;

    if (!config->size) {
        return g_strdup("none");
    }
    text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        uint64_t value = *(const uint64_t *)((const char *)config + keys[i].offset);

        if (value) {
            g_string_append_printf(text, "%s%s=%" G_GUINT64_FORMAT, text->len ? "," : "",
                                   keys[i].name, value);
        }
    }
    return g_string_free(text, FALSE);
}

bool zone_config_fits(const struct zone_config *config, uint64_t bytes, uint32_t block, char **why)
{
    *why = NULL;
    if (config->size % block || config->capacity % block) {
        *why = g_strdup_printf("size and capacity multiples of the block size, which is %u", block);
    } else if (bytes % config->size || bytes / config->size > ZONE_COUNT_MAX) {
        *why = g_strdup_printf("a namespace of 1 to %d whole zones; this one has %" G_GUINT64_FORMAT
                               " bytes", ZONE_COUNT_MAX, bytes);
    }
    return !*why;
}
