/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fault rule from inside, between its configuration (fault.c, fault_check.c), the decision
 * whether it fires (fault_match.c) and what it does (fault_conn.c, fault_tx.c, fault_pdu.c).
 * Not here: the public calls (fault.h), the hooks of the transport (tcp.h).
 * No standard.
 */
#ifndef ENGINE_FAULT_RULE_H
#define ENGINE_FAULT_RULE_H

#include "engine/fault.h"
#include "engine/tcp.h"

enum lst_fault_action {
    LST_FAULT_STATUS,
    LST_FAULT_DROP,
    LST_FAULT_DELAY,
    LST_FAULT_DUPLICATE,
    LST_FAULT_CORRUPT,
    LST_FAULT_TRUNCATE,
    LST_FAULT_SET,
    LST_FAULT_REORDER,
    LST_FAULT_R2T,
    LST_FAULT_STALL,
    LST_FAULT_CLOSE,
    LST_FAULT_RST,
    LST_FAULT_HALF_OPEN,
    LST_FAULT_TERM,
    LST_FAULT_ACTION_COUNT
};

enum lst_fault_part {
    LST_FAULT_PART_HEADER,
    LST_FAULT_PART_HEADER_DIGEST,
    LST_FAULT_PART_DATA,
    LST_FAULT_PART_DATA_DIGEST,
};

enum lst_fault_key {
#define LST_FAULT_KEY_ENUM(id, name) LST_FAULT_KEY_##id,
    LST_FAULT_KEYS(LST_FAULT_KEY_ENUM)
#undef LST_FAULT_KEY_ENUM
    LST_FAULT_KEY_COUNT
};

/* A field of a PDU's header that "set" can change. */
struct lst_fault_field {
    const char *name;
    unsigned pdus;                       /* bits by enum nvtcp_type */
    uint8_t offset;
    uint8_t size;                        /* bytes, 1, 2 or 4; little-endian */
};
enum { LST_FAULT_FIELD_COUNT = 23 };
extern const struct lst_fault_field lst_fault_fields[LST_FAULT_FIELD_COUNT];

struct lst_fault {
    struct lst_target *target;
    char *name;
    bool enabled;
    uint64_t given;                      /* bits by key */
    uint64_t value[LST_FAULT_KEY_COUNT]; /* numbers, or the index of a name */
    char *subsystem;
    uint64_t seen;
    uint64_t fired;
    uint64_t own_seed;                   /* while none is set */
    uint64_t draws;                      /* random numbers taken so far */
};

static inline bool lst_fault_has(const struct lst_fault *fault, enum lst_fault_key key)
{
    return fault->given >> key & 1;
}

/* What was set, else @otherwise. */
static inline uint64_t lst_fault_value(const struct lst_fault *fault, enum lst_fault_key key,
                                       uint64_t otherwise)
{
    return lst_fault_has(fault, key) ? fault->value[key] : otherwise;
}

/* ---- fault.c */
enum nvtcp_type lst_fault_pdu(const struct lst_fault *fault);
const char *lst_fault_key_name(unsigned key);
/* The word that a key with words has. */
const char *lst_fault_name_of(const struct lst_fault *fault, enum lst_fault_key key);

/* ---- fault_check.c */
/* Do the keys make a rule? Errors: VALUE. */
bool lst_fault_check(const struct lst_fault *fault, GError **err);

/* ---- fault_match.c */
/* A PDU that came or is about to leave. */
struct lst_fault_site {
    struct lst_conn *conn;
    const struct nvtcp_hdr *hdr;
    const struct nv_sqe *sqe;            /* of its command; NULL if it has none */
};
/* The rules that fire here, in order, in @fired; how many. Counts, draws and traces. */
unsigned lst_faults_fire(const struct lst_fault_site *site, struct lst_fault **fired);
/* The next number of the rule's own generator, below @limit (not 0). */
uint64_t lst_fault_random(struct lst_fault *fault, uint64_t limit);

/* ---- fault_pdu.c: what is done to the bytes of one PDU of ours, before it is sent */
struct lst_fault_extent {
    uint32_t offset, len;                /* len 0: the PDU has no such part */
};
struct lst_fault_extent lst_fault_extent(const struct nvtcp_hdr *hdr, enum lst_fault_part part);
/*
 * Changes @pdu, which had the header @hdr before any rule changed it, as @fault says; what is no
 * matter of bytes does nothing.
 */
void lst_fault_spoil(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu);
/* Makes the header digest of a PDU of ours anew, if it has one. */
void lst_fault_reseal(uint8_t *pdu);

/* ---- fault_conn.c: what has become of a connection */
enum lst_fate {
    LST_FATE_NONE,
    LST_FATE_CLOSE,                      /* when all output has left */
    LST_FATE_TERM,                       /* a C2HTermReq follows the output */
};

/* A PDU or the PDUs of a response, as a rule left them. */
struct lst_fault_copy {
    struct lst_tx tx;
    struct lst_tx *original;             /* is told that it left when the copy has */
    struct lst_conn *conn;
    GByteArray *bytes;
    bool as_it_was;                      /* nothing but late */
    unsigned pass;                       /* responses that are still to overtake it */
    struct lst_timer timer;              /* sends it, if it is held back */
    GList link;                          /* of held or spent */
};

struct lst_conn_faults {
    struct lst_conn *conn;
    enum lst_fate fate;
    uint16_t fes;
    uint32_t fei;
    bool reset;
    bool mute;                           /* only @allowed bytes of the output may leave */
    bool half_open;
    size_t allowed;
    struct lst_timer timer;              /* ends mute */
    GQueue held;                         /* struct lst_fault_copy, oldest first */
    GQueue spent;                        /* the same: never sent, owners not told yet */
    GQueue late;                         /* struct lst_fault_late */
};

static inline bool lst_fault_is(const struct lst_fault *fault, enum lst_fault_action action)
{
    return fault->value[LST_FAULT_KEY_ACTION] == action;
}

static inline bool lst_fault_ends(const struct lst_fault *fault)
{
    return lst_fault_is(fault, LST_FAULT_CLOSE) || lst_fault_is(fault, LST_FAULT_RST) ||
           lst_fault_is(fault, LST_FAULT_TERM);
}

static inline bool lst_fault_mutes(const struct lst_fault *fault)
{
    return lst_fault_is(fault, LST_FAULT_STALL) || lst_fault_is(fault, LST_FAULT_HALF_OPEN);
}

static inline uint64_t lst_fault_deadline(const struct lst_target *target, uint64_t us)
{
    return target->now_ns + us * 1000;
}

struct lst_conn_faults *lst_conn_faults_of(struct lst_conn *conn);
/* Of the output all but the next @allowed bytes stay here. */
void lst_fault_mute(struct lst_conn *conn, const struct lst_fault *fault, size_t allowed);
/* To be done by lst_fault_settle(). */
void lst_fault_end(struct lst_conn *conn, const struct lst_fault *fault);

/* ---- fault_tx.c */
/* The copy has left, or never will: its owner is told, it is freed. */
void lst_fault_copy_sent(struct lst_conn *conn, struct lst_tx *tx);
void lst_fault_copy_forget(struct lst_tx *tx);

#endif
