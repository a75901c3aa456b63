/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One accepted socket and the engine's connection behind it.
 * Not here: what the bytes mean (engine/conn.h). NVMe/TCP 1.0: one queue each.
 */
#ifndef LOCKSTEP_DAEMON_CONNECTION_H
#define LOCKSTEP_DAEMON_CONNECTION_H

#include "daemon/pcap.h"
#include "daemon/server.h"

typedef struct Connection {
    Source source; /* fd is -1 once it is closed */
    Server *server;
    struct lst_conn *engine;
    GList node;        /* in server->connections, later in server->dead */
    GList output_node; /* in server->output */
    bool has_output;   /* is in server->output */
    bool held;         /* not read from: the host takes its answers too slowly */
    Pcap *pcap;        /* NULL: not captured */
    bool captured[2];  /* by PcapSide: a capture begins with a whole PDU of each side */
    /*
     * Several threads (crew.h): what came behind the ICReq, until it is known whose this is. NULL:
     * that is known.
     */
    GByteArray *early;
    size_t ic_bytes; /* of the ICReq that have come */
    char *local;     /* as connection_new() was told; for the way to another thread */
} Connection;

/* What goes along from one thread to another. */
typedef struct ConnectionMove {
    int fd;
    char *peer, *local;
    struct lst_conn_pass pass;
    GByteArray *early;
    Pcap *pcap;
    bool captured[2];
} ConnectionMove;

/**
 * connection_new - serve an accepted socket
 * @server: keeps the connection until the socket is closed
 * @port: the engine's port that the host connected to
 * @fd: non-blocking; closed by the connection, on failure too
 * @peer: for messages
 * @local: the address the host connected to, or NULL if it is the port's
 */
void connection_new(Server *server, struct lst_port *port, int fd, const char *peer,
                    const char *local);

/**
 * connection_leave - take the socket and all else out of a connection of the first thread
 * @move: filled; cleared by connection_move_clear()
 * @portid: the port that the host connected to
 *
 * Return: false if it has to stay; then nothing has changed.
 */
bool connection_leave(Connection *connection, ConnectionMove *move, uint32_t *portid);
void connection_move_clear(ConnectionMove *move);

/**
 * connection_arrive - go on with it
 * @port: NULL: it has been removed; the connection ends
 * @move: what is used is taken out of it
 */
void connection_arrive(Server *server, struct lst_port *port, ConnectionMove *move);

/**
 * connection_capture - capture from the next PDU of each side on
 * @file: NULL: end the capture
 * @error: set on failure, domain CONFIG_ERROR; then the capture there was goes on
 */
bool connection_capture(Connection *connection, const char *file, GError **error);

/**
 * connection_has_output - note that the engine has something to send, or wants
 *                         the connection closed; safe within engine calls
 */
void connection_has_output(Connection *connection);

/**
 * connection_flush - send what the engine has, as far as the socket takes it
 *
 * Closes the connection if the engine wants that or the socket fails.
 */
void connection_flush(Connection *connection);

/**
 * connection_drain - let the commands that are under way end, then close
 */
void connection_drain(Connection *connection);

/**
 * connection_close - close the socket; the memory stays until connection_free()
 */
void connection_close(Connection *connection);

/**
 * connection_free - free a closed connection
 */
void connection_free(Connection *connection);

#endif
