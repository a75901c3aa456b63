/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a target is doing: connections, controllers, queues and their counters, as plain structures.
 * Not here: how they are shown (the front); latencies, which need the front's clock.
 * No standard.
 */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include "engine/conn.h"
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
    struct lst_conn_counters counters;
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
};
void lst_target_get_stats(const struct lst_target *target, struct lst_target_stats *stats);

#endif
