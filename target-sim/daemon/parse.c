/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text to numbers for the command line and the configuration file.
 * Error texts and key names do not live here: the callers know them.
 * No standard; the suffixes are powers of 1024 as in QEMU and fio.
 */
#include "daemon/parse.h"

#include <glib.h>
#include <string.h>

bool parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    guint64 number;

    /* GLib's reader refuses blanks and signs, but also the prefix. */
    if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10,
                                    min, max, &number, NULL)) {
        return false;
    }
    *value = number;
    return true;
}

bool parse_size(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "KMGT";
    size_t length = strlen(text);
    unsigned shift = 0;
    char digits[24];
    uint64_t number;

    if (length == 0 || length >= sizeof(digits)) {
        return false;
    }
    const char *suffix = strchr(suffixes, g_ascii_toupper(text[length - 1]));
    if (suffix) {
        shift = 10 * (unsigned)(suffix - suffixes + 1);
        length--;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!g_ascii_string_to_unsigned(digits, 10, 0, INT64_MAX >> shift, &number, NULL)) {
        return false;
    }
    *bytes = number << shift;
    return true;
}

bool parse_uuid(const char *text, uint8_t id[16])
{
    uint8_t bytes[16];
    size_t count = 0;

    while (*text) {
        if (*text == '-' && count > 0 && text[-1] != '-') {
            text++;
            continue;
        }
        if (count == sizeof(bytes) || !g_ascii_isxdigit(text[0]) || !g_ascii_isxdigit(text[1])) {
            return false;
        }
        bytes[count++] = (uint8_t)(g_ascii_xdigit_value(text[0]) << 4 |
                                   g_ascii_xdigit_value(text[1]));
        text += 2;
    }
    if (count != sizeof(bytes) || text[-1] == '-') {
        return false;
    }
    memcpy(id, bytes, sizeof(bytes));
    return true;
}

bool parse_version(const char *text, uint32_t *version)
{
    static const uint64_t limits[] = {0xffff, 0xff, 0xff};
    g_auto(GStrv) parts = g_strsplit(text, ".", 4);
    guint count = g_strv_length(parts);
    uint64_t numbers[3] = {0};

    if (count < 2 || count > 3) {
        return false;
    }
    for (guint i = 0; i < count; i++) {
        if (!parse_uint(parts[i], 0, limits[i], &numbers[i])) {
            return false;
        }
    }
    *version = (uint32_t)(numbers[0] << 16 | numbers[1] << 8 | numbers[2]);
    return true;
}

bool parse_name(const ParseName *names, const char *text, unsigned *value)
{
    for (; names->name; names++) {
        if (!strcmp(names->name, text)) {
            *value = names->value;
            return true;
        }
    }
    return false;
}

const char *parse_name_of(const ParseName *names, unsigned value)
{
    while (names->name && names->value != value) {
        names++;
    }
    g_assert(names->name);
    return names->name;
}

char *parse_names_allowed(const ParseName *names)
{
    GString *list = g_string_new(NULL);

    for (; names->name; names++) {
        g_string_append_printf(list, "%s%s", list->len ? ", " : "", names->name);
    }
    return g_string_free(list, FALSE);
}
