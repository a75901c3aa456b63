/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which keys of a fault rule go together, as tables of actions and of fields.
 * Not here: single values (fault.c).
 * NVMe/TCP Transport 1.0, 3.6 (PDUs and their fields).
 */
#include "engine/fault_rule.h"

#include <inttypes.h>

#define PDU(type) (1u << NVTCP_##type)
#define FROM_HOST (PDU(IC_REQ) | PDU(CAPSULE_CMD) | PDU(H2C_DATA))
#define TO_HOST (PDU(IC_RESP) | PDU(C2H_TERM) | PDU(CAPSULE_RESP) | PDU(C2H_DATA) | PDU(R2T))

/* In the order of field_names. */
const struct lst_fault_field lst_fault_fields[LST_FAULT_FIELD_COUNT] = {
    { "type", TO_HOST, 0, 1 },
    { "flags", TO_HOST, 1, 1 },
    { "hlen", TO_HOST, 2, 1 },
    { "pdo", TO_HOST, 3, 1 },
    { "plen", TO_HOST, 4, 4 },
    { "pfv", PDU(IC_RESP), 8, 2 },
    { "cpda", PDU(IC_RESP), 10, 1 },
    { "dgst", PDU(IC_RESP), 11, 1 },
    { "maxh2cdata", PDU(IC_RESP), 12, 4 },
    { "fes", PDU(C2H_TERM), 8, 2 },
    { "fei", PDU(C2H_TERM), 10, 4 },
    { "dw0", PDU(CAPSULE_RESP), 8, 4 },
    { "dw1", PDU(CAPSULE_RESP), 12, 4 },
    { "sqhd", PDU(CAPSULE_RESP), 16, 2 },
    { "sqid", PDU(CAPSULE_RESP), 18, 2 },
    { "cid", PDU(CAPSULE_RESP), 20, 2 },
    { "status", PDU(CAPSULE_RESP), 22, 2 },
    { "cccid", PDU(C2H_DATA) | PDU(R2T), 8, 2 },
    { "ttag", PDU(R2T), 10, 2 },
    { "r2to", PDU(R2T), 12, 4 },
    { "r2tl", PDU(R2T), 16, 4 },
    { "datao", PDU(C2H_DATA), 12, 4 },
    { "datal", PDU(C2H_DATA), 16, 4 },
};
#define KEY(id) (1ull << LST_FAULT_KEY_##id)

/* What an action can be done to, the keys that it needs and those that it may have as well. */
static const struct action {
    unsigned pdus;
    uint64_t needs, may;
} actions[LST_FAULT_ACTION_COUNT] = {
    [LST_FAULT_STATUS] = { PDU(CAPSULE_CMD), KEY(STATUS), KEY(DNR) },
    [LST_FAULT_DROP] = { FROM_HOST | TO_HOST, 0, 0 },
    [LST_FAULT_DELAY] = { PDU(CAPSULE_CMD) | TO_HOST, KEY(US), 0 },
    [LST_FAULT_DUPLICATE] = { TO_HOST, 0, 0 },
    [LST_FAULT_CORRUPT] = { TO_HOST, KEY(PART), KEY(OFFSET) | KEY(MASK) },
    [LST_FAULT_TRUNCATE] = { TO_HOST, KEY(BYTES), 0 },
    [LST_FAULT_SET] = { TO_HOST, KEY(FIELD), KEY(VALUE) | KEY(XOR) },
    [LST_FAULT_REORDER] = { PDU(CAPSULE_RESP) | PDU(C2H_DATA), KEY(PASS), KEY(US) },
    [LST_FAULT_R2T] = { PDU(CAPSULE_CMD), 0, KEY(BYTES) },
    [LST_FAULT_STALL] = { FROM_HOST | TO_HOST, 0, KEY(US) },
    [LST_FAULT_CLOSE] = { FROM_HOST | TO_HOST, 0, 0 },
    [LST_FAULT_RST] = { FROM_HOST | TO_HOST, 0, 0 },
    [LST_FAULT_HALF_OPEN] = { FROM_HOST | TO_HOST, 0, KEY(US) },
    [LST_FAULT_TERM] = { FROM_HOST | TO_HOST, KEY(FES), KEY(FEI) },
};
static bool refuse(GError **err, unsigned key, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool refuse(GError **err, unsigned key, const char *format, ...)
{
    va_list args;
    char *why;

    va_start(args, format);
    why = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "%s: %s", lst_fault_key_name(key), why);
    g_free(why);
    return false;
}

static bool check_action(const struct lst_fault *fault, GError **err)
{
    const struct action *action = &actions[fault->value[LST_FAULT_KEY_ACTION]];
    const char *name = lst_fault_name_of(fault, LST_FAULT_KEY_ACTION);

    if (!(action->pdus & 1u << lst_fault_pdu(fault))) {
        return refuse(err, LST_FAULT_KEY_ACTION, "'%s' is not allowed with pdu '%s'", name,
                      lst_fault_name_of(fault, LST_FAULT_KEY_PDU));
    }
    for (unsigned key = LST_FAULT_KEY_ACTION + 1; key < LST_FAULT_KEY_COUNT; key++) {
        uint64_t bit = 1ull << key;

        if (action->needs & ~fault->given & bit) {
            return refuse(err, key, "missing; action '%s' needs it", name);
        }
        if (fault->given & ~action->needs & ~action->may & bit) {
            return refuse(err, key, "not allowed with action '%s'", name);
        }
    }
    return true;
}

static bool check_field(const struct lst_fault *fault, GError **err)
{
    bool value = lst_fault_has(fault, LST_FAULT_KEY_VALUE);
    const struct lst_fault_field *field = &lst_fault_fields[fault->value[LST_FAULT_KEY_FIELD]];
    unsigned key = value ? LST_FAULT_KEY_VALUE : LST_FAULT_KEY_XOR;
    uint64_t max = UINT32_MAX >> (32 - 8 * field->size);

    if (fault->value[LST_FAULT_KEY_ACTION] != LST_FAULT_SET) {
        return true;
    }
    if (value == lst_fault_has(fault, LST_FAULT_KEY_XOR)) {
        return refuse(err, LST_FAULT_KEY_FIELD, "'%s' needs either value or xor", field->name);
    }
    if (!(field->pdus & 1u << lst_fault_pdu(fault))) {
        return refuse(err, LST_FAULT_KEY_FIELD, "'%s' is not allowed: pdu '%s' has no such field",
                      field->name, lst_fault_name_of(fault, LST_FAULT_KEY_PDU));
    }
    if (fault->value[key] > max) {
        return refuse(err, key, "'%" PRIu64 "' is not allowed: field '%s' takes 0 to %" PRIu64,
                      fault->value[key], field->name, max);
    }
    return true;
}

static bool check_where(const struct lst_fault *fault, GError **err)
{
    unsigned type = lst_fault_pdu(fault);
    uint64_t of_command = KEY(OPCODE) | KEY(FCTYPE) | KEY(NSID) | KEY(LBA_FIRST) | KEY(LBA_LAST);
    bool no_command = 1u << type & (PDU(IC_REQ) | PDU(IC_RESP) | PDU(C2H_TERM));

    for (unsigned key = 0; key < LST_FAULT_KEY_ACTION; key++) {
        if (no_command && fault->given & of_command & 1ull << key) {
            return refuse(err, key, "not allowed with pdu '%s', which belongs to no command",
                          lst_fault_name_of(fault, LST_FAULT_KEY_PDU));
        }
    }
    if (lst_fault_value(fault, LST_FAULT_KEY_LBA_LAST, UINT64_MAX) <
        lst_fault_value(fault, LST_FAULT_KEY_LBA_FIRST, 0)) {
        return refuse(err, LST_FAULT_KEY_LBA_LAST,
                      "'%" PRIu64 "' is not allowed: lba_first or more",
                      fault->value[LST_FAULT_KEY_LBA_LAST]);
    }
    if (lst_fault_has(fault, LST_FAULT_KEY_SEED) && !lst_fault_has(fault, LST_FAULT_KEY_PROBABILITY)
        && fault->value[LST_FAULT_KEY_ACTION] != LST_FAULT_CORRUPT) {
        return refuse(err, LST_FAULT_KEY_SEED, "nothing is random without probability_ppm or "
                      "action 'corrupt'");
    }
    return true;
}

bool lst_fault_check(const struct lst_fault *fault, GError **err)
{
    static const enum lst_fault_key needed[] = { LST_FAULT_KEY_PDU, LST_FAULT_KEY_ACTION };

    for (unsigned i = 0; i < G_N_ELEMENTS(needed); i++) {
        if (!lst_fault_has(fault, needed[i])) {
            return refuse(err, needed[i], "missing; every rule needs it");
        }
    }
    return check_action(fault, err) && check_field(fault, err) && check_where(fault, err);
}
