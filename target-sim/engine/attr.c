/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes as text: tables of them, parsers for their values, and the words for what is not
 * allowed.
 * Not here: which attributes exist (subsys.c, ns.c, port.c).
 * No standard.
 */
#include "engine/model.h"

#include <string.h>

G_DEFINE_QUARK(lst-error, lst_error)

bool lst_bad_value(GError **err, const char *key, const char *value, const char *allowed)
{
    g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "%s: '%s' is not allowed: %s", key, value,
                allowed);
    return false;
}

static const struct lst_attr *attr_find(const struct lst_attr *attrs, size_t count, const char *key,
                                        GError **err)
{
    GString *known = g_string_new(NULL);
    const struct lst_attr *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!strcmp(attrs[i].key, key)) {
            found = &attrs[i];
        }
        g_string_append_printf(known, "%s%s", i ? ", " : "", attrs[i].key);
    }
    if (!found) {
        g_set_error(err, LST_ERROR, LST_ERROR_KEY, "%s: no such attribute; there are %s", key,
                    known->str);
    }
    g_string_free(known, TRUE);
    return found;
}

bool lst_attr_set(const struct lst_attr *attrs, size_t count, void *object, const char *key,
                  const char *value, GError **err)
{
    const struct lst_attr *attr = attr_find(attrs, count, key, err);

    return attr && attr->set(object, key, value, err);
}

char *lst_attr_get(const struct lst_attr *attrs, size_t count, const void *object, const char *key,
                   GError **err)
{
    const struct lst_attr *attr = attr_find(attrs, count, key, err);

    return attr ? attr->get(object) : NULL;
}

bool lst_parse_uint(const char *key, const char *value, uint32_t min, uint32_t max,
                    uint32_t *result, GError **err)
{
    bool hex = g_str_has_prefix(value, "0x");
    guint64 number;

    if (!g_ascii_string_to_unsigned(hex ? value + 2 : value, hex ? 16 : 10, min, max, &number,
                                    NULL)) {
        char *allowed = g_strdup_printf("a number from %u to %u", min, max);

        lst_bad_value(err, key, value, allowed);
        g_free(allowed);
        return false;
    }
    *result = (uint32_t)number;
    return true;
}

bool lst_parse_queue_size(const char *key, const char *value, uint32_t none, uint32_t *result,
                          GError **err)
{
    uint32_t number;

    if (!lst_parse_uint(key, value, 0, LST_QUEUE_SIZE_MAX, &number, NULL) ||
        (number && number < LST_QUEUE_SIZE_MIN)) {
        return lst_bad_value(err, key, value,
                             "0 or a number from 16 to 1024");
    }
    *result = number ? number : none;
    return true;
}

bool lst_parse_bool(const char *key, const char *value, bool *result, GError **err)
{
    uint32_t number;

    if (!lst_parse_uint(key, value, 0, 1, &number, err)) {
        return false;
    }
    *result = number;
    return true;
}

/* Dashes are taken only where a UUID has them. */
bool lst_parse_hex(const char *key, const char *value, uint8_t *bytes, size_t count,
                   const char *allowed, GError **err)
{
    bool dashes = count == 16 && strlen(value) == 36;
    uint8_t parsed[16];
    const char *at = value;

    g_assert(count <= sizeof(parsed));
    for (size_t i = 0; i < count; i++) {
        if (dashes && (i == 4 || i == 6 || i == 8 || i == 10) && *at++ != '-') {
            return lst_bad_value(err, key, value, allowed);
        }
        if (!g_ascii_isxdigit(at[0]) || !g_ascii_isxdigit(at[1])) {
            return lst_bad_value(err, key, value, allowed);
        }
        parsed[i] = (uint8_t)(g_ascii_xdigit_value(at[0]) << 4 | g_ascii_xdigit_value(at[1]));
        at += 2;
    }
    if (*at) {
        return lst_bad_value(err, key, value, allowed);
    }
    memcpy(bytes, parsed, count);
    return true;
}

bool lst_parse_ascii(const char *key, const char *value, size_t max, char **result, GError **err)
{
    size_t len = strlen(value);
    bool good = len >= 1 && len <= max;

    for (size_t i = 0; good && i < len; i++) {
        good = value[i] >= 0x20 && value[i] <= 0x7e;
    }
    if (!good) {
        char *allowed = g_strdup_printf("1 to %zu printable ASCII characters", max);

        lst_bad_value(err, key, value, allowed);
        g_free(allowed);
        return false;
    }
    g_free(*result);
    *result = g_strdup(value);
    return true;
}

bool lst_parse_choice(const char *key, const char *value, const char *const *names,
                      unsigned *result, GError **err)
{
    char *allowed;

    for (unsigned i = 0; names[i]; i++) {
        if (!strcmp(names[i], value)) {
            *result = i;
            return true;
        }
    }
    allowed = g_strjoinv(", ", (char **)(uintptr_t)names);
    lst_bad_value(err, key, value, allowed);
    g_free(allowed);
    return false;
}

bool lst_parse_nqn(const char *key, const char *value, GError **err)
{
    size_t len = strlen(value);

    /* Names without "nqn." are common in test configurations, and nvmet takes them. */
    if (len < 1 || len > NV_NQN_MAX || !g_utf8_validate(value, -1, NULL)) {
        return lst_bad_value(err, key, value, "1 to 223 bytes of UTF-8");
    }
    return true;
}

void lst_hash_bytes(const char *text, uint32_t number, uint8_t *bytes, size_t count)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    uint8_t hash[32];
    gsize len = sizeof(hash);

    g_assert(count <= sizeof(hash));
    g_checksum_update(sum, (const guchar *)text, -1);
    g_checksum_update(sum, (const guchar *)&number, sizeof(number));
    g_checksum_get_digest(sum, hash, &len);
    g_checksum_free(sum);
    memcpy(bytes, hash, count);
}

bool lst_attr_set_zero(void *object, const char *key, const char *value, GError **err)
{
    uint32_t zero;

    (void)object;
    return lst_parse_uint(key, value, 0, 0, &zero, err);
}

char *lst_attr_get_zero(const void *object)
{
    (void)object;
    return g_strdup("0");
}
