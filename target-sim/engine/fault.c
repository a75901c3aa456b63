/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault rules as configuration: a target's list, keys and values.
 * Not here: which keys go together (fault_check.c), whether a rule fires (fault_match.c), what it
 * does (fault_conn.c).
 * No standard; PDU and field names are those of the NVMe/TCP Transport Specification 1.0.
 */
#include "engine/fault_rule.h"

#include <inttypes.h>
#include <string.h>

static const char *const queue_names[] = { "admin", "io", NULL };
static const char *const part_names[] = { "header", "header-digest", "data", "data-digest", NULL };

static const char *const pdu_names[] = { "icreq",        "icresp",   "capsule-cmd",
                                         "capsule-resp", "h2c-data", "c2h-data",
                                         "r2t",          "c2h-term", NULL };
static const enum nvtcp_type pdu_types[] = {
    NVTCP_IC_REQ,   NVTCP_IC_RESP,  NVTCP_CAPSULE_CMD, NVTCP_CAPSULE_RESP,
    NVTCP_H2C_DATA, NVTCP_C2H_DATA, NVTCP_R2T,         NVTCP_C2H_TERM,
};

static const char *const field_names[] = {
    "type",  "flags", "hlen", "pdo",    "plen",  "pfv",  "cpda", "dgst",
    "maxh2cdata", "fes", "fei", "dw0",  "dw1",   "sqhd", "sqid", "cid",
    "status", "cccid", "ttag", "r2to",  "r2tl",  "datao", "datal", NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(field_names) == LST_FAULT_FIELD_COUNT + 1);

static const char *const action_names[] = {
    "status", "drop",  "delay", "duplicate", "corrupt",   "truncate", "set", "reorder",
    "r2t",    "stall", "close", "rst",       "half-open", "term",     NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(action_names) == LST_FAULT_ACTION_COUNT + 1);

/* A name if there are names, text if there is nothing, else a number. */
static const struct key {
    uint64_t min, max;
    const char *const *names;
} keys[LST_FAULT_KEY_COUNT] = {
    [LST_FAULT_KEY_PORT] = { 0, 65535, NULL },
    [LST_FAULT_KEY_SUBSYSTEM] = { 0, 0, NULL },
    [LST_FAULT_KEY_CONNECTION] = { 1, UINT64_MAX, NULL },
    [LST_FAULT_KEY_CONTROLLER] = { 1, NV_CNTLID_MAX, NULL },
    [LST_FAULT_KEY_QUEUE] = { 0, 0, queue_names },
    [LST_FAULT_KEY_QID] = { 0, LST_QID_MAX, NULL },
    [LST_FAULT_KEY_PDU] = { 0, 0, pdu_names },
    [LST_FAULT_KEY_OPCODE] = { 0, 255, NULL },
    [LST_FAULT_KEY_FCTYPE] = { 0, 255, NULL },
    [LST_FAULT_KEY_NSID] = { 0, UINT32_MAX, NULL },
    [LST_FAULT_KEY_LBA_FIRST] = { 0, UINT64_MAX, NULL },
    [LST_FAULT_KEY_LBA_LAST] = { 0, UINT64_MAX, NULL },
    [LST_FAULT_KEY_NTH] = { 1, UINT64_MAX, NULL },
    [LST_FAULT_KEY_EVERY] = { 1, UINT64_MAX, NULL },
    [LST_FAULT_KEY_PROBABILITY] = { 0, 1000000, NULL },
    [LST_FAULT_KEY_SEED] = { 0, UINT64_MAX, NULL },
    [LST_FAULT_KEY_LIMIT] = { 1, UINT64_MAX, NULL },
    [LST_FAULT_KEY_AFTER] = { 0, LST_FAULT_US_MAX, NULL },
    [LST_FAULT_KEY_BEFORE] = { 1, LST_FAULT_US_MAX, NULL },
    [LST_FAULT_KEY_AFTER_CONNECT] = { 0, LST_FAULT_US_MAX, NULL },
    [LST_FAULT_KEY_BEFORE_CONNECT] = { 1, LST_FAULT_US_MAX, NULL },
    [LST_FAULT_KEY_ACTION] = { 0, 0, action_names },
    [LST_FAULT_KEY_STATUS] = { 1, 0x7ff, NULL },
    [LST_FAULT_KEY_DNR] = { 0, 1, NULL },
    [LST_FAULT_KEY_US] = { 1, LST_FAULT_US_MAX, NULL },
    [LST_FAULT_KEY_PASS] = { 1, LST_QUEUE_SIZE_MAX, NULL },
    [LST_FAULT_KEY_PART] = { 0, 0, part_names },
    [LST_FAULT_KEY_OFFSET] = { 0, LST_TRANSFER_MAX - 1, NULL },
    [LST_FAULT_KEY_MASK] = { 1, 255, NULL },
    [LST_FAULT_KEY_BYTES] = { 0, LST_TRANSFER_MAX, NULL },
    [LST_FAULT_KEY_FIELD] = { 0, 0, field_names },
    [LST_FAULT_KEY_VALUE] = { 0, UINT32_MAX, NULL },
    [LST_FAULT_KEY_XOR] = { 1, UINT32_MAX, NULL },
    [LST_FAULT_KEY_FES] = { 1, UINT16_MAX, NULL },
    [LST_FAULT_KEY_FEI] = { 0, UINT32_MAX, NULL },
};
G_STATIC_ASSERT(LST_FAULT_KEY_COUNT <= 64);

#define NAME "name"
#define ENABLE "enable"

static const char *const key_names[] = {
    NAME,
#define KEY_NAME(id, name) name,
    LST_FAULT_KEYS(KEY_NAME)
#undef KEY_NAME
    ENABLE,
    NULL,
};

const char *const *lst_fault_keys(void)
{
    return key_names;
}

const char *lst_fault_key_name(unsigned key)
{
    return key_names[key + 1];
}

const char *lst_fault_name_of(const struct lst_fault *fault, enum lst_fault_key key)
{
    return keys[key].names[fault->value[key]];
}

enum nvtcp_type lst_fault_pdu(const struct lst_fault *fault)
{
    return pdu_types[fault->value[LST_FAULT_KEY_PDU]];
}

/* ---- Rules of a target */

struct lst_fault *lst_target_add_fault(struct lst_target *target, GError **err)
{
    struct lst_fault *fault;

    if (!target->faults) {
        target->faults = g_ptr_array_new();
    }
    if (target->faults->len >= LST_FAULTS_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_LIMIT, "faults: one too many: %d at most",
                    LST_FAULTS_MAX);
        return NULL;
    }
    fault = g_new0(struct lst_fault, 1);
    fault->target = target;
    fault->name = g_strdup_printf("fault%u", ++target->next_fault);
    fault->own_seed = target->seed + target->next_fault;
    g_ptr_array_add(target->faults, fault);
    return fault;
}

static void fault_enable(struct lst_fault *fault, bool enable)
{
    fault->target->faults_enabled += enable;
    fault->target->faults_enabled -= fault->enabled;
    fault->enabled = enable;
}

static void fault_free(struct lst_fault *fault)
{
    fault_enable(fault, false);
    g_free(fault->name);
    g_free(fault->subsystem);
    g_free(fault);
}

void lst_target_remove_fault(struct lst_target *target, struct lst_fault *fault)
{
    g_ptr_array_remove(target->faults, fault);
    fault_free(fault);
}

void lst_target_each_fault(struct lst_target *target, void (*fn)(void *, struct lst_fault *),
                           void *opaque)
{
    for (unsigned i = 0; target->faults && i < target->faults->len; i++) {
        fn(opaque, g_ptr_array_index(target->faults, i));
    }
}

void lst_faults_free(struct lst_target *target)
{
    for (unsigned i = 0; target->faults && i < target->faults->len; i++) {
        fault_free(g_ptr_array_index(target->faults, i));
    }
    if (target->faults) {
        g_ptr_array_free(target->faults, TRUE);
    }
}

void lst_fault_counts(const struct lst_fault *fault, uint64_t *seen, uint64_t *fired)
{
    *seen = fault->seen;
    *fired = fault->fired;
}

/* ---- Values */

static bool parse_number(unsigned key, const char *value, uint64_t *number, GError **err)
{
    bool hex = g_str_has_prefix(value, "0x");
    guint64 parsed;
    char *allowed;

    if (g_ascii_string_to_unsigned(hex ? value + 2 : value, hex ? 16 : 10, keys[key].min,
                                   keys[key].max, &parsed, NULL)) {
        *number = parsed;
        return true;
    }
    allowed = g_strdup_printf("a number from %" PRIu64 " to %" PRIu64, keys[key].min,
                              keys[key].max);
    lst_bad_value(err, lst_fault_key_name(key), value, allowed);
    g_free(allowed);
    return false;
}

static bool parse(struct lst_fault *fault, unsigned key, const char *value, GError **err)
{
    unsigned index;

    if (keys[key].names) {
        if (!lst_parse_choice(lst_fault_key_name(key), value, keys[key].names, &index, err)) {
            return false;
        }
        fault->value[key] = index;
        return true;
    }
    if (keys[key].max) {
        return parse_number(key, value, &fault->value[key], err);
    }
    if (!lst_parse_nqn(lst_fault_key_name(key), value, err)) {
        return false;
    }
    g_free(fault->subsystem);
    fault->subsystem = g_strdup(value);
    return true;
}

static bool set_enable(struct lst_fault *fault, const char *value, GError **err)
{
    bool enable;

    if (!lst_parse_bool(ENABLE, value, &enable, err) || (enable && !lst_fault_check(fault, err))) {
        return false;
    }
    fault_enable(fault, enable);
    return true;
}

static int find_key(const char *name, GError **err)
{
    char *known;

    for (int i = 0; key_names[i]; i++) {
        if (!strcmp(key_names[i], name)) {
            return i;
        }
    }
    known = g_strjoinv(", ", (char **)(uintptr_t)key_names);
    g_set_error(err, LST_ERROR, LST_ERROR_KEY, "%s: no such key; there are %s", name, known);
    g_free(known);
    return -1;
}

bool lst_fault_set(struct lst_fault *fault, const char *name, const char *value, GError **err)
{
    int at = find_key(name, err);
    unsigned key = (unsigned)at - 1;

    if (at < 0) {
        return false;
    }
    if (!strcmp(name, NAME)) {
        return lst_parse_ascii(NAME, value, 63, &fault->name, err);
    }
    if (!strcmp(name, ENABLE)) {
        return set_enable(fault, value, err);
    }
    if (fault->enabled) {
        g_set_error(err, LST_ERROR, LST_ERROR_STATE,
                    "%s: '%s' is not allowed now: only while the rule is disabled", name, value);
        return false;
    }
    if (value[0] && !parse(fault, key, value, err)) {
        return false;
    }
    fault->given &= ~(1ull << key);
    fault->given |= (uint64_t)(value[0] != '\0') << key;
    return true;
}

char *lst_fault_get(const struct lst_fault *fault, const char *name, GError **err)
{
    int at = find_key(name, err);
    unsigned key = (unsigned)at - 1;

    if (at < 0) {
        return NULL;
    }
    if (!strcmp(name, NAME)) {
        return g_strdup(fault->name);
    }
    if (!strcmp(name, ENABLE)) {
        return g_strdup(fault->enabled ? "1" : "0");
    }
    if (!lst_fault_has(fault, key)) {
        return g_strdup("");
    }
    if (keys[key].names) {
        return g_strdup(lst_fault_name_of(fault, key));
    }
    return keys[key].max ? g_strdup_printf("%" PRIu64, fault->value[key]) :
                           g_strdup(fault->subsystem);
}
