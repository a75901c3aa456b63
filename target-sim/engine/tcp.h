/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NVMe/TCP transport from inside: a connection, its requests, what it sends.
 * Not here: the core that executes commands (ctrl.h), the public calls (conn.h).
 * NVMe/TCP Transport 1.0.
 */
#ifndef ENGINE_TCP_H
#define ENGINE_TCP_H

#include "engine/conn.h"
#include "engine/ctrl.h"
#include "engine/pdu.h"

struct lst_tcp_req;

/* Where the receiver is in a PDU. */
enum lst_rx_state {
    LST_RX_COMMON,                       /* the first eight bytes */
    LST_RX_HEADER,                       /* the rest of the header, with its digest */
    LST_RX_PAD,
    LST_RX_DATA,
    LST_RX_DDGST,
};

/* Bytes that leave together: a PDU, or the data and the completion of one command. */
struct lst_tx {
    struct lst_tx *next;
    struct iovec seg[3];                 /* shrink from the front as they are consumed */
    uint8_t count;
    uint8_t current;
    uint8_t pdus;
    void (*sent)(struct lst_conn *conn, struct lst_tx *tx);
    /* in place of sent, when the connection ends; NULL: somebody else owns it */
    void (*forget)(struct lst_tx *tx);
};

/* An R2T and the window of data that it opened, until these have come. */
struct lst_r2t {
    struct lst_r2t *next;                /* of the same command, oldest first */
    struct lst_tcp_req *treq;
    struct lst_tx tx;
    bool sent;                           /* before that nothing may come for it */
    uint16_t ttag;
    uint32_t start;                      /* bytes from the start of the command's data */
    uint32_t len;
    uint32_t received;                   /* of len */
    uint8_t pdu[sizeof(struct nvtcp_r2t) + NVTCP_DIGEST_BYTES];
};

/* How far a command has come. */
enum lst_tcp_req_state {
    LST_TREQ_CAPSULE,                    /* its capsule is being received */
    LST_TREQ_LATE,                       /* a fault delays it */
    LST_TREQ_WAIT_BUFFER,                /* in conn->waiting */
    LST_TREQ_TRANSFER,                   /* R2Ts are out or about to be: H2CData are expected */
    LST_TREQ_EXECUTING,
    LST_TREQ_SENDING,                    /* the response is in the output */
};

struct lst_tcp_req {
    struct lst_req req;
    struct lst_conn *conn;
    enum lst_tcp_req_state state;
    uint16_t slot;
    bool hashed;
    bool digest_failed;
    bool lost;                           /* by a fault: never to be completed */
    bool aborted;                        /* ends when the data that it asked for have come */
    uint16_t early_status;               /* found before the data came: 0 = execute */
    struct lst_tcp_req *cid_next;
    struct lst_tcp_req *wait_next;
    uint16_t r2t_count;                  /* in r2ts */
    struct lst_r2t *r2ts;                /* that are open */
    uint32_t asked;                      /* bytes of data that R2Ts were made for */
    struct lst_tx tx;
    /* Below: not cleared for a new command. */
    uint8_t header[NVTCP_PDO_MAX];       /* C2HData: header, digest and padding */
    uint8_t trailer[NVTCP_DIGEST_BYTES + sizeof(struct nvtcp_capsule_resp) + NVTCP_DIGEST_BYTES];
};

struct lst_conn {
    struct lst_queue queue;
    GList link;                          /* of target->conns */
    enum lst_conn_state state;
    struct lst_timer timer;
    void *opaque;
    char *local;
    char *peer;
    uint64_t opened_ns;
    bool deaf;                           /* by a fault or Disconnect: input is thrown away */
    struct lst_tcp_req *disconnect;      /* a Disconnect that waits for all others to end */
    bool freed;                          /* by the front; lives on for orphans */
    bool ready_told;
    unsigned orphans;                    /* requests at backends when freed */

    struct lst_pdu_context ctx;
    uint32_t pda;                        /* the host's alignment of data, bytes */
    uint32_t r2t_max;                    /* in flight for one command: what both sides take */
    uint32_t r2t_size;                   /* bytes that one asks for at most */

    enum lst_rx_state rx;
    uint32_t rx_have;                    /* bytes of the current part */
    struct lst_pdu_layout layout;
    union {
        uint8_t bytes[sizeof(struct nvtcp_ic_req) + NVTCP_DIGEST_BYTES];
        struct nvtcp_hdr common;
        struct nvtcp_ic_req ic;
        struct nvtcp_capsule_cmd capsule;
        struct nvtcp_data data;
        struct nvtcp_term term;
    } hdr;
    uint8_t *rx_data;                    /* where data go; NULL: nowhere */
    uint32_t rx_crc;
    uint32_t rx_ddgst;
    struct lst_tcp_req *rx_req;
    struct lst_r2t *rx_r2t;              /* of the H2CData that is coming */

    struct lst_tcp_req **slots;
    uint16_t *free_slots;
    struct lst_tcp_req **by_cid;         /* chains; capacity entries, a power of two */
    unsigned capacity;
    unsigned outstanding;
    struct lst_tcp_req *wait_head, *wait_tail;
    size_t buffer_bytes;

    struct lst_tx *tx_head, *tx_tail;
    size_t tx_pending;
    struct lst_conn_faults *faults;      /* NULL: none has ever acted here */
    struct lst_conn_counters counters;
};

/* ---- conn.c */
extern const struct lst_queue_ops lst_conn_queue_ops;
/*
 * Sends a C2HTermReq with the first @header_len bytes of the current header, or just closes, as
 * @verdict says.
 */
void lst_conn_refuse(struct lst_conn *conn, struct lst_verdict verdict, uint32_t header_len);
/* Closes without a word. */
void lst_conn_drop(struct lst_conn *conn);
void lst_conn_arm(struct lst_conn *conn, uint64_t ms);
void lst_conn_set_state(struct lst_conn *conn, enum lst_conn_state state);
/* Input is processed, output made. */
static inline bool lst_conn_active(const struct lst_conn *conn)
{
    return conn->state < LST_CONN_TERM;
}
void lst_conn_tell_ready(struct lst_conn *conn);

/* ---- conn_rx.c */
/* The header is an ICReq that was accepted: what it settles, and on to Connect. */
void lst_conn_negotiated(struct lst_conn *conn);

/* ---- stats.c */
/* Tells what a queue that was just connected takes. */
void lst_conn_trace_memory(const struct lst_conn *conn);

/* ---- conn_cmd.c */
void lst_conn_set_capacity(struct lst_conn *conn, unsigned entries);
/* The header of a capsule came: makes conn->rx_req and says where its data go (conn->rx_data). */
void lst_conn_capsule(struct lst_conn *conn);
void lst_conn_capsule_end(struct lst_conn *conn, bool digest_ok);
/* The same for H2CData. */
void lst_conn_h2c_data(struct lst_conn *conn);
void lst_conn_h2c_data_end(struct lst_conn *conn, bool digest_ok);
/* The command is here: lets it begin. */
void lst_conn_proceed(struct lst_conn *conn, struct lst_tcp_req *treq);
void lst_conn_release(struct lst_conn *conn, struct lst_tcp_req *treq);

/* The request with that command identifier, or NULL. */
struct lst_tcp_req *lst_conn_by_cid(struct lst_conn *conn, uint16_t cid);
/* Takes a request out of those that wait for a buffer. */
void lst_conn_unwait(struct lst_conn *conn, struct lst_tcp_req *treq);

/* ---- conn_abort.c */
/* For lst_queue_ops. */
struct lst_req *lst_conn_find(struct lst_queue *queue, uint16_t cid);
bool lst_conn_abort(struct lst_req *req);
void lst_conn_disconnect(struct lst_req *req);
/* A command was completed: if a Disconnect waited for it as the last, it is its turn. */
void lst_conn_disconnect_next(struct lst_conn *conn);

/* ---- conn_tx.c */
void lst_conn_send_ic_resp(struct lst_conn *conn);
void lst_conn_send_term(struct lst_conn *conn, uint16_t fes, uint32_t fei, const uint8_t *header,
                        uint32_t len);
/* Sends one for @treq's next data. */
void lst_conn_send_r2t(struct lst_conn *conn, struct lst_tcp_req *treq);
void lst_conn_send_response(struct lst_conn *conn, struct lst_tcp_req *treq);
/* Sends an R2T that belongs to no window: what a fault asks for. */
void lst_conn_send_stray_r2t(struct lst_conn *conn, uint16_t cid, uint16_t ttag, uint32_t len);
/* Frees control PDUs that are still in the output; requests are released by their owner. */
void lst_conn_forget_output(struct lst_conn *conn);
void lst_tx_start(struct lst_tx *tx, void (*sent)(struct lst_conn *conn, struct lst_tx *tx));
void lst_tx_add(struct lst_tx *tx, void *base, size_t len);
/* Puts @tx behind what is to be sent, past all faults. */
void lst_conn_push(struct lst_conn *conn, struct lst_tx *tx);

/* ---- fault_conn.c; called only if a target has rules, or if conn->faults is there */
/* An ICReq, a command, data of a command are complete. True: the engine is not to act on them. */
bool lst_fault_on_ic_req(struct lst_conn *conn);
bool lst_fault_on_command(struct lst_conn *conn, struct lst_tcp_req *treq);
bool lst_fault_on_data(struct lst_conn *conn, struct lst_tcp_req *treq);
/* @tx is about to be sent; @sqe is its command's, or NULL. True: it was taken over. */
bool lst_fault_on_output(struct lst_conn *conn, struct lst_tx *tx, const struct nv_sqe *sqe);
/* Does what could not be done inside the core: ends the connection, lets owners of output go. */
void lst_fault_settle(struct lst_conn *conn);
/* Bytes of the output that may leave now, at most @pending. */
size_t lst_fault_allowed(const struct lst_conn *conn, size_t pending);
void lst_fault_consumed(struct lst_conn *conn, size_t len);
/* True: the connection is to look alive although it is not. */
bool lst_fault_stays_open(const struct lst_conn *conn);
void lst_fault_conn_end(struct lst_conn *conn);

#endif
