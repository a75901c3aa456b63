/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One NVMe/TCP connection: bytes from the host in, bytes for the host out. A connection becomes one
 * queue of a controller.
 * Not here: sockets; how a queue's commands are executed (ctrl.h).
 * NVMe/TCP Transport Specification 1.0.
 */
/*
 * The life of a connection in a front:
 *
 *     conn = lst_conn_new(target, port, &info);
 *     loop:
 *         lst_target_tick(target, now);
 *         n = read(fd, buf);           lst_conn_receive(conn, buf, n);
 *         n = lst_conn_output(conn, iov, 64);
 *         n = writev(fd, iov, n);      lst_conn_consumed(conn, n);
 *         if (lst_conn_wants_close(conn)) { lst_conn_free(conn); close(fd); }
 *     the peer closed or the socket failed: lst_conn_free(conn); close(fd);
 */
#ifndef ENGINE_CONN_H
#define ENGINE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "engine/target.h"

struct lst_conn;

struct lst_conn_info {
    void *opaque;            /* lst_conn_opaque() gives it back */
    /* numeric address the host connected to, for a port on 0.0.0.0 or ::; may be NULL; copied */
    const char *local;
    /* for listings and traces, for example "10.0.2.15:40312"; may be NULL; copied */
    const char *peer;
};

/* The states of a connection, in order. */
enum lst_conn_state {
    LST_CONN_IC,             /* waiting for ICReq */
    LST_CONN_CONNECT,        /* waiting for a successful Connect */
    LST_CONN_LIVE,           /* a queue of a controller */
    /* C2HTermReq is on its way or sent; input is thrown away; waiting for the host to close */
    LST_CONN_TERM,
    /* to be closed by the front; input is thrown away, there is no output */
    LST_CONN_CLOSED,
};

/*
 * lst_conn_new: the front accepted a TCP connection on @port.
 * Returns the connection; the caller frees it with lst_conn_free(). Never fails.
 */
struct lst_conn *lst_conn_new(struct lst_target *target, struct lst_port *port,
                              const struct lst_conn_info *info);

/*
 * lst_conn_free: the TCP connection is gone or about to be closed. If it was a controller's Admin
 * queue, the controller goes and its other connections want to be closed. Requests at backends stay
 * alive until they are completed.
 */
void lst_conn_free(struct lst_conn *conn);

/*
 * lst_conn_receive: @len bytes came from the host, cut anywhere. All are taken; nothing is kept of
 * @data after return. The engine's memory stays bounded whatever comes. What is wrong with the
 * bytes shows in the output and the state.
 */
void lst_conn_receive(struct lst_conn *conn, const void *data, size_t len);

/*
 * lst_conn_output: what is to be sent, as at most @max pieces in @iov.
 * Returns the number of pieces, 0 if there is nothing. The memory is the engine's and stays valid
 * and unchanged until the bytes are consumed or the connection freed; asking again gives the same
 * bytes (and perhaps more).
 */
unsigned lst_conn_output(struct lst_conn *conn, struct iovec *iov, unsigned max);

/*
 * lst_conn_consumed: the first @len bytes of the output were sent (or copied). @len must not exceed
 * what lst_conn_output() gave last. Call it before handing in bytes that the host could have sent
 * in answer.
 */
void lst_conn_consumed(struct lst_conn *conn, size_t len);

/* Bytes waiting to be sent. */
size_t lst_conn_pending(const struct lst_conn *conn);

/* True: send nothing more, free and close the connection now. */
bool lst_conn_wants_close(struct lst_conn *conn);

/*
 * For an orderly end: commands that the host waits for (it does not for Asynchronous Event
 * Requests), and for an Admin queue the I/O queues that would end with it; and whether a command
 * needs more of the host's bytes to end, or a PDU has come in part.
 */
unsigned lst_conn_unfinished(const struct lst_conn *conn);
bool lst_conn_needs_input(const struct lst_conn *conn);
/* No PDU has come in part: the next byte begins one. */
bool lst_conn_between_pdus(const struct lst_conn *conn);

/*
 * A connection's way from one target to another of the same configuration, between its ICReq and
 * its first command: for fronts with a target for each thread. The fields are the engine's.
 */
struct lst_conn_pass {
    uint64_t id;
    uint8_t ic_req[128];
};

/*
 * lst_conn_leave: @conn is freed without a word if it can leave now (ICResp is sent, nothing has
 * come after ICReq): fills @pass and returns true.
 * lst_conn_enter: goes on with it in @target, whose numbers of connections do not count it; the
 * next bytes are those behind the ICReq. As lst_conn_new() in all else.
 */
bool lst_conn_leave(struct lst_conn *conn, struct lst_conn_pass *pass);
struct lst_conn *lst_conn_enter(struct lst_target *target, struct lst_port *port,
                                const struct lst_conn_info *info,
                                const struct lst_conn_pass *pass);

enum lst_conn_state lst_conn_state(const struct lst_conn *conn);
void *lst_conn_opaque(const struct lst_conn *conn);
/* 1, 2, 3, ... in the order of lst_conn_new(), for traces and listings. */
uint64_t lst_conn_id(const struct lst_conn *conn);

#endif
