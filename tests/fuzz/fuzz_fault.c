/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: fault rules from random keys and values, then commands on both queues of a target that
 * obeys them.
 * Not here: what a rule should do (tests/unit/test_fault*.c).
 * docs/faults.md.
 */
#include <string.h>

#include "commands.h"
#include "engine/fault.h"

enum { RULES_MAX = 6, PAIRS = 6 };

/* One key and its value: a word if the key takes words, else a number. */
struct pair {
    uint8_t key, kind;
    uint16_t value;
};

static void set(struct lst_fault *fault, const struct pair *pair)
{
    static const char *const words[] = {
        "icreq", "icresp", "capsule-cmd", "capsule-resp", "h2c-data", "c2h-data", "r2t", "c2h-term",
        "status", "drop", "delay", "duplicate", "corrupt", "truncate", "set", "reorder", "stall",
        "close", "rst", "half-open", "term", "header", "header-digest", "data", "data-digest",
        "cccid", "ttag", "r2to", "r2tl", "datao", "datal", "plen", "hlen", "flags", "type", "pdo",
        "cid", "sqhd", "admin", "io", "", RIG_NQN,
    };
    const char *const *keys = lst_fault_keys();
    unsigned count = g_strv_length((char **)(uintptr_t)keys);
    g_autofree char *number = g_strdup_printf("%u", pair->value);

    lst_fault_set(fault, keys[pair->key % count],
                  pair->kind & 1 ? words[pair->value % G_N_ELEMENTS(words)] : number, NULL);
}

static void step(struct fuzz_session *session, const struct fuzz_record *record)
{
    fuzz_command(session, record, record->queue & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_session *session = fuzz_session_new(true);
    Rig *rig = fuzz_session_rig(session);
    unsigned rules = size ? data[0] % (RULES_MAX + 1) : 0;
    size_t at = 1;

    for (unsigned i = 0; i < rules && at + PAIRS * sizeof(struct pair) <= size; i++) {
        struct lst_fault *fault = lst_target_add_fault(rig->target, NULL);

        for (unsigned n = 0; n < PAIRS; n++, at += sizeof(struct pair)) {
            struct pair pair;

            memcpy(&pair, data + at, sizeof(pair));
            set(fault, &pair);
        }
        if (!lst_fault_set(fault, "enable", "1", NULL)) {
            lst_target_remove_fault(rig->target, fault);
        }
    }
    if (at < size) {
        fuzz_each_record(data + at, size - at, step, session);
    }
    rig_advance(rig, 10 * RIG_S);
    rig_advance(rig, 400 * RIG_S);
    fuzz_session_free(session);
    return 0;
}

/* ---- Right rules, for mutations to begin with */

static void put_pair(GByteArray *out, const char *key, bool word, unsigned value)
{
    const char *const *keys = lst_fault_keys();
    struct pair pair = { .kind = word, .value = (uint16_t)value };

    while (strcmp(keys[pair.key], key)) {
        pair.key++;
    }
    g_byte_array_append(out, (const uint8_t *)&pair, sizeof(pair));
}

static void put_rule(GByteArray *out, unsigned pdu, unsigned action, const char *key, bool word,
                     unsigned value)
{
    put_pair(out, "pdu", true, pdu);
    put_pair(out, "action", true, action);
    put_pair(out, key, word, value);
    put_pair(out, "limit", false, 3);
    put_pair(out, "name", false, 1);
    put_pair(out, "name", false, 1);
}

static void put_work(GByteArray *out)
{
    for (unsigned i = 0; i < 4; i++) {
        fuzz_put(out, FUZZ_DATA_IN, 1, 4096, 0, host_cmd_rw(NV_IO_READ, 1, i, 8, 0));
        fuzz_put(out, FUZZ_DATA_R2T, 1, 4096, 0, host_cmd_rw(NV_IO_WRITE, 1, i, 8, 0));
        fuzz_put(out, FUZZ_NO_DATA, 1, 0, 0, host_cmd(NV_IO_FLUSH, 1));
        fuzz_put(out, FUZZ_NO_DATA, 0, 0, 0, host_cmd(NV_ADMIN_KEEP_ALIVE, 0));
        fuzz_put(out, FUZZ_TIME, 0, 0, 10, host_cmd(0, 0));
    }
}

void fuzz_corpus(FuzzAddFn *add)
{
    /* Indices of the words above; what the third key is for each action. */
    static const struct {
        unsigned pdu, action, value;
        const char *key;
        bool word;
    } rows[] = {
        { 2, 8, 6, "status", false },   { 3, 9, 1, "nth", false },    { 3, 10, 500, "us", false },
        { 6, 10, 500, "us", false },    { 2, 10, 500, "us", false },  { 5, 11, 2, "every", false },
        { 5, 12, 23, "part", true },    { 3, 12, 21, "part", true },  { 5, 13, 30, "bytes", false },
        { 3, 15, 2, "pass", false },    { 5, 15, 1, "pass", false },  { 3, 16, 900, "us", false },
        { 5, 17, 2, "nth", false },     { 2, 18, 3, "nth", false },   { 3, 19, 900, "us", false },
        { 2, 20, 1, "fes", false },     { 6, 20, 5, "fes", false },   { 4, 9, 1, "nth", false },
        { 0, 9, 3, "nth", false },      { 1, 10, 100, "us", false },  { 4, 17, 1, "nth", false },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        const uint8_t count = 2;

        g_byte_array_append(out, &count, 1);
        for (unsigned n = i; n < i + 2; n++) {
            unsigned row = n % G_N_ELEMENTS(rows);

            put_rule(out, rows[row].pdu, rows[row].action, rows[row].key, rows[row].word,
                     rows[row].value);
        }
        put_work(out);
        add(out->data, out->len);
    }
}
