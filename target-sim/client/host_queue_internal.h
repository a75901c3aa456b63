/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a HostQueue, shared by host_queue.c (sending) and host_rx.c (receiving).
 * Not here: anything a user of the library may see.
 * NVMe/TCP transport specification 1.0, sections 3.3 to 3.6.
 */
#ifndef LOCKSTEP_CLIENT_HOST_QUEUE_INTERNAL_H
#define LOCKSTEP_CLIENT_HOST_QUEUE_INTERNAL_H

#include "client/host_queue.h"

/* One command identifier. */
typedef struct HostSlot {
    HostCompleteFn *complete;
    void *opaque;
    uint8_t *buf;               /* the caller's */
    uint32_t length;            /* of buf, bytes */
    uint32_t transferred;       /* received by C2HData, or asked for by R2T */
    uint32_t open_r2ts;         /* R2Ts whose last byte of data has not been sent */
    uint8_t kind;               /* HostDataKind */
    bool busy;
    bool connect;               /* Connect: its completion settles SQ flow control */
    bool last_seen;             /* C2HData with LAST has come */
    bool digest_error;
} HostSlot;

/* The end of the answer to an R2T, as a position in the stream we send. */
typedef struct HostAnswer {
    uint64_t end;
    uint16_t cid;
} HostAnswer;

typedef enum {
    HOST_RX_COMMON,             /* the 8 bytes that all PDUs begin with */
    HOST_RX_HEADER,             /* the rest of the header and its digest */
    HOST_RX_PAD,                /* from there to PDO */
    HOST_RX_DATA,
    HOST_RX_DIGEST,             /* data digest */
} HostRxPhase;

typedef struct HostRx {
    HostRxPhase phase;
    uint32_t have;              /* bytes of this phase */
    uint32_t need;
    uint32_t crc;               /* of the data so far */
    uint32_t data_left;
    uint8_t *sink;              /* where the data goes */
    uint8_t digest[4];
    uint8_t header[152];        /* the largest PDU without user data: C2HTermReq */
} HostRx;

struct HostQueue {
    HostQueueConfig config;
    HostState state;
    HostFault fault;
    HostCounters counters;
    HostPduFormat tx;
    HostPduFormat rx_format;
    uint32_t maxh2cdata;
    GByteArray *out;
    size_t out_head;            /* bytes at the front of out that have been sent */
    GQueue answers;             /* HostAnswer, by end */
    HostRx rx;
    uint32_t outstanding;
    bool sq_flow_control;
    uint16_t sq_head;           /* as last reported */
    uint16_t sq_tail;
    uint16_t *free_cids;        /* ring, oldest first, so that a stale completion is noticed */
    uint32_t free_head;
    HostSlot *slots;            /* config.entries */
};

void host_queue_set_state(HostQueue *queue, HostState state);

/* Ends the connection from our side: H2CTermReq with what was wrong and the header at fault. */
void host_queue_terminate(HostQueue *queue, HostPduVerdict verdict, const void *header,
                          uint32_t length);

/* Frees the command id and calls the completion callback. */
void host_queue_finish(HostQueue *queue, uint16_t cid, HostCompletion *completion);

#endif
