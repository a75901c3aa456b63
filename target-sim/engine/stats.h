/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a target is doing: connections, controllers, queues and their counters, as plain structures.
 * Not here: how they are shown (the front).
 * No standard.
 */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include "engine/conn.h"
#include "engine/histogram.h"
#include "engine/target.h"

/* Counters of one connection. */
struct lst_conn_counters {
    uint64_t rx_bytes;
    uint64_t tx_bytes;
    uint64_t rx_pdus;
    uint64_t tx_pdus;
    uint64_t commands;       /* capsules accepted */
    uint64_t failed;         /* of these, completed with a status other than 0 */
    uint64_t r2ts;
    uint64_t read_bytes;     /* data of successful Reads */
    uint64_t write_bytes;    /* data of successful Writes */
};

/* Which of the opcodes. */
enum lst_command_kind { LST_KIND_ADMIN, LST_KIND_IO, LST_KIND_FABRICS };

/* What was done with one opcode, by one queue or by the whole target. */
struct lst_command_stats {
    struct lst_command_stats *next;      /* in the order of first use */
    enum lst_command_kind kind;
    uint16_t opcode;                     /* LST_OPCODE_INVALID: all that do not exist */
    uint64_t count;                      /* completed */
    uint64_t errors;                     /* of these, with a status other than 0 */
    uint64_t bytes;                      /* of data, of those without an error */
    /*
     * From the capsule's arrival to its completion: ns in all, the longest, and how many of each
     * size. Not of Asynchronous Event Requests, and not without lst_front_ops.clock.
     */
    uint64_t time_ns;
    uint64_t longest_ns;
    uint64_t buckets[LST_HISTOGRAM_BUCKETS];
};
enum { LST_OPCODE_INVALID = 0x100 };

/* "read", "identify"; NULL if it has no name here. */
const char *lst_command_name(enum lst_command_kind kind, unsigned opcode);

struct lst_conn_stats {
    uint64_t id;
    enum lst_conn_state state;
    const char *peer;        /* "" if unknown */
    uint32_t portid;
    const char *subnqn;      /* "" before Connect */
    const char *hostnqn;     /* "" before Connect */
    uint16_t cntlid;         /* 0 before Connect */
    uint16_t qid;
    uint16_t queue_size;     /* entries */
    uint16_t outstanding;    /* commands */
    bool header_digest;
    bool data_digest;
    bool sq_flow_control;
    size_t memory;           /* bytes held for this connection now */
    size_t memory_most;      /* that it may come to hold */
    struct lst_conn_counters counters;
    const struct lst_command_stats *commands;
};

struct lst_ctrl_stats {
    uint16_t cntlid;
    bool discovery;
    bool enabled;
    const char *subnqn;
    const char *hostnqn;
    uint8_t hostid[16];
    uint32_t portid;
    uint32_t kato_ms;
    uint16_t io_queues;      /* connected now */
};

/* The strings are valid until the next call into the target. */
void lst_conn_get_stats(const struct lst_conn *conn, struct lst_conn_stats *stats);

/*
 * One call per object, oldest first; the structure and its strings are valid during the call. @fn
 * must not change the target or free connections.
 */
void lst_target_each_conn(struct lst_target *target,
                          void (*fn)(void *opaque, const struct lst_conn_stats *stats),
                          void *opaque);
void lst_target_each_ctrl(struct lst_target *target,
                          void (*fn)(void *opaque, const struct lst_ctrl_stats *stats),
                          void *opaque);

/* Of the whole target since it was made. */
struct lst_target_stats {
    uint64_t conns_opened;
    uint64_t conns_terminated;   /* by a C2HTermReq of ours */
    uint64_t ctrls_created;
    uint64_t kato_expired;
    unsigned conns;              /* now */
    unsigned ctrls;              /* now */
    size_t pool_bytes;           /* buffers kept for reuse */
    size_t conn_bytes;           /* held for all connections now */
};
/*
 * Of all connections since the target was made, one call for each opcode that was used; valid
 * during the call.
 */
void lst_target_each_command(struct lst_target *target,
                             void (*fn)(void *opaque, const struct lst_command_stats *stats),
                             void *opaque);
void lst_target_get_stats(const struct lst_target *target, struct lst_target_stats *stats);

#endif
