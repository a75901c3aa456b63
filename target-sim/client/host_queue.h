/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sans-I/O NVMe/TCP host (initiator): one HostQueue is one queue over one connection.
 * Not here: sockets, clocks, threads, multipath, reconnecting; whoever drives a queue moves its
 * bytes.
 * NVMe/TCP transport specification 1.0, sections 3.3 to 3.6; NVMe base specification 2.0, sections
 * 3.3 and 6.3.
 */
#ifndef LOCKSTEP_CLIENT_HOST_QUEUE_H
#define LOCKSTEP_CLIENT_HOST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/host_pdu.h"
#include "lockstep/nvme.h"
#include "lockstep/nvme_fabrics.h"
#include "lockstep/nvme_tcp.h"

typedef struct HostQueue HostQueue;

enum {
    /* One entry stays empty (NVMe base 2.0, 3.3.1.5), so a queue of 1 would hold nothing. */
    HOST_QUEUE_MIN_ENTRIES = 2,
    /* MAXR2T has 32 bits; more outstanding R2Ts of one command than this make no sense. */
    HOST_MAX_R2T = 65536,
};

/* Results of the functions below. Zero and above is success. */
enum {
    HOST_OK = 0,
    HOST_ERR_STATE = -1,    /* the connection is not in a state that allows it, or is dead */
    HOST_ERR_FULL = -2,     /* queue full or no command id free; try after a completion */
    HOST_ERR_INVALID = -3,  /* the caller's parameters contradict each other or a limit */
    HOST_ERR_PROTOCOL = -4, /* the controller broke the protocol: see host_queue_fault() */
    HOST_ERR_CLOSED = -5,   /* the controller ended the connection with C2HTermReq */
};

typedef enum {
    HOST_STATE_NEW,         /* nothing sent */
    HOST_STATE_ICREQ_SENT,  /* waiting for ICResp */
    HOST_STATE_READY,       /* PDUs flow; Connect is a command like any other */
    HOST_STATE_TERMINATED,  /* a TermReq was queued or received: send what is left, then close */
} HostState;

/* Where the data of a command travels and how the SGL describes it. */
typedef enum {
    HOST_DATA_NONE,
    HOST_DATA_IN,           /* controller to host: C2HData into buf */
    HOST_DATA_OUT_CAPSULE,  /* host to controller, behind the command in its capsule */
    HOST_DATA_OUT_R2T,      /* host to controller, by H2CData when the controller asks */
} HostDataKind;

/* What a completion callback receives; valid only during the call. */
typedef struct HostCompletion {
    /* as received; made up (status 0) if C2HData carried SUCCESS */
    struct nv_cqe cqe;
    uint16_t cid;
    uint32_t bytes_in;          /* data received by C2HData, bytes */
    bool by_success_flag;       /* completed by SUCCESS in C2HData, without CapsuleResp */
    bool data_digest_error;     /* a C2HData of this command had a wrong data digest */
} HostCompletion;

typedef void HostCompleteFn(HostQueue *queue, void *opaque, const HostCompletion *completion);

/*
 * Called for each valid R2T before the queue answers it. Returns true if the caller answers itself
 * (tests that send wrong H2CData); false lets the queue answer.
 */
typedef bool HostR2TFn(HostQueue *queue, void *opaque, uint16_t cid, uint16_t ttag, uint32_t offset,
                       uint32_t length);

typedef struct HostQueueConfig {
    /* size of the submission queue; entries - 1 commands can be outstanding */
    uint16_t entries;
    bool header_digest;         /* asked for in ICReq */
    bool data_digest;
    /* alignment of the controller's data, (hpda + 1) * 4 bytes; 0..31 */
    uint8_t hpda;
    uint32_t max_r2t;           /* R2Ts outstanding per command, 1 or more */
    bool no_sq_flow_control;    /* ask for it in Connect; in force once Connect has succeeded */
    uint32_t h2c_split;         /* largest DATAL the queue sends, multiple of 4; 0: MAXH2CDATA */
    HostR2TFn *on_r2t;          /* may be NULL */
    void *opaque;               /* of on_r2t */
} HostQueueConfig;

/* Why a connection died. */
typedef struct HostFault {
    bool by_controller;         /* C2HTermReq received; else the controller's PDU was at fault */
    uint16_t fes;               /* fatal error status of the TermReq received or sent */
    uint32_t fei;
    const char *reason;         /* what was wrong, for logs; static text */
} HostFault;

typedef struct HostCounters {
    uint64_t pdus_sent[HOST_PDU_TYPES];     /* by PDU type */
    uint64_t pdus_received[HOST_PDU_TYPES];
    uint64_t bytes_sent;                    /* taken by host_queue_output_consumed() */
    uint64_t bytes_received;
    uint64_t commands;
    uint64_t completions;
    uint64_t success_flags;                 /* completions by C2HData with SUCCESS */
    uint64_t data_digest_errors;
} HostCounters;

/*
 * Makes a queue. Nothing is sent before host_queue_start().
 * Returns NULL if the configuration contradicts a limit. The caller owns it: host_queue_free().
 */
HostQueue *host_queue_new(const HostQueueConfig *config);

/* Frees a queue; outstanding commands are dropped without a callback. NULL is allowed. */
void host_queue_free(HostQueue *queue);

/* Queues ICReq (section 3.6.2.2). HOST_ERR_STATE unless the queue is new. */
int host_queue_start(HostQueue *queue);

/*
 * Takes bytes from the controller, in pieces of any size. Completion callbacks run inside.
 * Returns HOST_OK, or HOST_ERR_PROTOCOL (H2CTermReq has been queued) or HOST_ERR_CLOSED, from then
 * on for ever.
 */
int host_queue_receive(HostQueue *queue, const void *bytes, size_t length);

/*
 * Bytes to send next. Sets *length (0: nothing). The memory belongs to the queue and is valid until
 * the next call of any function on it.
 */
const uint8_t *host_queue_output(HostQueue *queue, size_t *length);

/* Says that the first @length bytes of the output have been sent. */
void host_queue_output_consumed(HostQueue *queue, size_t length);

/*
 * Submits a command (section 3.3.2). The queue fills in the command id, the SGL descriptor and
 * PSDT; all other fields of @sqe are the caller's. @buf (@length bytes, not a multiple of anything)
 * stays the caller's and must live until the completion; in-capsule data is copied at once.
 * @complete may be NULL.
 * Returns the command id, or HOST_ERR_STATE, HOST_ERR_FULL, HOST_ERR_INVALID.
 */
int host_queue_submit(HostQueue *queue, const struct nv_sqe *sqe, HostDataKind kind, void *buf,
                      uint32_t length, HostCompleteFn *complete, void *opaque);

/*
 * Submits exactly @sqe except for the command id: for tests whose SGL is wrong on purpose. @capsule
 * goes in-capsule.
 */
int host_queue_submit_verbatim(HostQueue *queue, const struct nv_sqe *sqe, const void *capsule,
                               uint32_t length, HostCompleteFn *complete, void *opaque);

/*
 * Submits Fabrics Connect for this queue (NVMe base 2.0 section 6.3): SQSIZE, CATTR and the SGL
 * come from the queue.
 * @data must live only during the call. When it succeeds, SQ flow control is switched off if asked
 * for and granted.
 */
int host_queue_connect(HostQueue *queue, uint16_t qid, uint32_t kato_ms,
                       const struct nvf_connect_data *data, HostCompleteFn *complete, void *opaque);

/* Queues bytes as they are: for tests that send what no host should. */
void host_queue_send_raw(HostQueue *queue, const void *bytes, size_t length);

/*
 * Queues H2CData PDUs for one R2T of command @cid, as the queue itself would.
 * HOST_ERR_INVALID if @cid has no such data.
 */
int host_queue_answer_r2t(HostQueue *queue, uint16_t cid, uint16_t ttag, uint32_t offset,
                          uint32_t length);

HostState host_queue_state(const HostQueue *queue);
const HostFault *host_queue_fault(const HostQueue *queue);      /* NULL while there is none */
const HostCounters *host_queue_counters(const HostQueue *queue);
bool host_queue_full(const HostQueue *queue);   /* a command would not fit now */
uint32_t host_queue_outstanding(const HostQueue *queue);        /* commands without completion */
uint32_t host_queue_max_h2c_data(const HostQueue *queue);       /* MAXH2CDATA from ICResp, bytes */
uint32_t host_queue_cpda_align(const HostQueue *queue);         /* alignment of our data, bytes */
bool host_queue_header_digest(const HostQueue *queue);          /* negotiated, not asked for */
bool host_queue_data_digest(const HostQueue *queue);
bool host_queue_sq_flow_control(const HostQueue *queue);

#endif
