/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults on demand: rules that say where and when a target misbehaves, and how. For the front and
 * whoever configures a target.
 * Not here: what a rule does to a connection (fault_conn.c).
 * No standard; docs/faults.md is the manual.
 */
#ifndef ENGINE_FAULT_H
#define ENGINE_FAULT_H

#include "engine/conn.h"
#include "engine/target.h"

struct lst_fault;

/* X(ENUM, "key"): where, when, what, in this order. "name" and "enable" are keys as well. */
#define LST_FAULT_KEYS(X) \
    X(PORT, "port") \
    X(SUBSYSTEM, "subsystem") \
    X(CONNECTION, "connection") \
    X(CONTROLLER, "controller") \
    X(QUEUE, "queue") \
    X(QID, "qid") \
    X(PDU, "pdu") \
    X(OPCODE, "opcode") \
    X(FCTYPE, "fctype") \
    X(NSID, "nsid") \
    X(LBA_FIRST, "lba_first") \
    X(LBA_LAST, "lba_last") \
    X(NTH, "nth") \
    X(EVERY, "every") \
    X(PROBABILITY, "probability_ppm") \
    X(SEED, "seed") \
    X(LIMIT, "limit") \
    X(AFTER, "after_us") \
    X(BEFORE, "before_us") \
    X(AFTER_CONNECT, "after_connect_us") \
    X(BEFORE_CONNECT, "before_connect_us") \
    X(ACTION, "action") \
    X(STATUS, "status") \
    X(DNR, "dnr") \
    X(US, "us") \
    X(PASS, "pass") \
    X(PART, "part") \
    X(OFFSET, "offset") \
    X(MASK, "mask") \
    X(BYTES, "bytes") \
    X(FIELD, "field") \
    X(VALUE, "value") \
    X(XOR, "xor") \
    X(FES, "fes") \
    X(FEI, "fei")

/*
 * lst_target_add_fault: a rule that does nothing until it is enabled. Rules are asked in the order
 * of their making; all that fire for a PDU act on it. Errors: LIMIT.
 */
struct lst_fault *lst_target_add_fault(struct lst_target *target, GError **err);
/* What it started (a delay, a stall) goes on; the pointer is dead. */
void lst_target_remove_fault(struct lst_target *target, struct lst_fault *fault);
/* Calls @fn for each, in order. @fn must not add or remove rules. */
void lst_target_each_fault(struct lst_target *target, void (*fn)(void *, struct lst_fault *),
                           void *opaque);

/*
 * lst_fault_set, lst_fault_get: keys as text, all but "enable" and "name" only while disabled.
 * docs/faults.md describes them; enabling checks that they go together. A key that was not set is
 * "" to lst_fault_get(), and setting "" clears one. lst_fault_get() returns a new string to be
 * freed with g_free(), or NULL. Errors: KEY, VALUE, STATE.
 */
bool lst_fault_set(struct lst_fault *fault, const char *key, const char *value, GError **err);
char *lst_fault_get(const struct lst_fault *fault, const char *key, GError **err);
/* All keys, "enable" last, a NULL at the end. */
const char *const *lst_fault_keys(void);

/* How often PDUs were where the rule is about, and how often it acted. */
void lst_fault_counts(const struct lst_fault *fault, uint64_t *seen, uint64_t *fired);

/*
 * How a front is to close a connection that lst_conn_wants_close(): true means with a TCP reset
 * (SO_LINGER 0), without waiting for anything.
 */
bool lst_conn_wants_reset(const struct lst_conn *conn);
/*
 * True: play dead. Read nothing from the connection any more, so that the host's data pile up, but
 * notice if the host closes it. The engine has no output meanwhile and ends it by itself
 * (lst_conn_wants_close()) some time.
 */
bool lst_conn_is_half_open(const struct lst_conn *conn);

#endif
