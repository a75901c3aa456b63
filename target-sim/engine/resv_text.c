/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations as text, for what survives the loss of power.
 * Not here: where the text is kept (the front), what else it holds (ns_state.c).
 * NVM Express Base 2.0, 8.19: with PTPL 0 nothing survives; the generation never does.
 */
/*
 *     ptpl 1
 *     reservation 3
 *     registrant 00112233445566778899aabbccddeeff 0x1234 holder
 */
#include "engine/resv.h"

#include <inttypes.h>
#include <string.h>

void lst_resv_print(const struct lst_resv *resv, GString *text)
{
    if (!resv->ptpl) {
        return;
    }
    g_string_append(text, "ptpl 1\n");
    if (resv->type) {
        g_string_append_printf(text, "reservation %u\n", resv->type);
    }
    for (unsigned i = 0; i < resv->count; i++) {
        const struct lst_registrant *reg = &resv->registrants[i];

        g_string_append(text, "registrant ");
        for (unsigned b = 0; b < LST_HOST_ID_BYTES; b++) {
            g_string_append_printf(text, "%02x", reg->host[b]);
        }
        g_string_append_printf(text, " 0x%" PRIx64 "%s\n", reg->key, reg->holder ? " holder" : "");
    }
}

static bool read_host(const char *word, uint8_t *host)
{
    if (strlen(word) != 2 * LST_HOST_ID_BYTES) {
        return false;
    }
    for (unsigned i = 0; i < LST_HOST_ID_BYTES; i++) {
        if (!g_ascii_isxdigit(word[2 * i]) || !g_ascii_isxdigit(word[2 * i + 1])) {
            return false;
        }
        host[i] = (uint8_t)(g_ascii_xdigit_value(word[2 * i]) << 4 |
                            g_ascii_xdigit_value(word[2 * i + 1]));
    }
    return true;
}

static bool read_key(const char *word, uint64_t *key)
{
    guint64 number;

    if (!g_str_has_prefix(word, "0x") ||
        !g_ascii_string_to_unsigned(word + 2, 16, 1, G_MAXUINT64, &number, NULL)) {
        return false;
    }
    *key = number;
    return true;
}

static unsigned holders(const struct lst_resv *resv)
{
    unsigned count = 0;

    for (unsigned i = 0; i < resv->count; i++) {
        count += resv->registrants[i].holder;
    }
    return count;
}

bool lst_resv_whole(const struct lst_resv *resv)
{
    bool single = resv->type >= NV_RESV_WE && resv->type <= NV_RESV_EA_RO;

    return holders(resv) == (single ? 1 : 0) && (!resv->type || resv->count);
}

static bool known(const struct lst_resv *resv, const uint8_t *host)
{
    for (unsigned i = 0; i < resv->count; i++) {
        if (!memcmp(resv->registrants[i].host, host, LST_HOST_ID_BYTES)) {
            return true;
        }
    }
    return false;
}

static bool parse_registrant(struct lst_resv *resv, char **words, guint count)
{
    struct lst_registrant reg = { .holder = count == 4 };

    if (count < 3 || count > 4 || (count == 4 && strcmp(words[3], "holder")) ||
        resv->count >= LST_REGISTRANTS_MAX || !read_host(words[1], reg.host) ||
        !read_key(words[2], &reg.key) || known(resv, reg.host) ||
        (reg.holder && holders(resv))) {
        return false;
    }
    resv->registrants[resv->count++] = reg;
    return true;
}

bool lst_resv_parse(struct lst_resv *resv, const char *line, const char **why)
{
    char **words = g_strsplit(line, " ", 5);
    guint count = g_strv_length(words);
    guint64 number;
    bool good = false;

    *why = "ptpl 1, then reservation TYPE, then registrant HOSTID KEY [holder]";
    if (count == 2 && !strcmp(words[0], "ptpl")) {
        resv->ptpl = good = !strcmp(words[1], "1");
    } else if (count == 2 && !strcmp(words[0], "reservation")) {
        good = resv->ptpl && !resv->type && !resv->count &&
               g_ascii_string_to_unsigned(words[1], 10, NV_RESV_WE, NV_RESV_EA_AR, &number, NULL);
        if (good) {
            resv->type = (uint8_t)number;
        }
    } else if (count && !strcmp(words[0], "registrant")) {
        good = resv->ptpl && parse_registrant(resv, words, count);
    }
    g_strfreev(words);
    return good;
}
