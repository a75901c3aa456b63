/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listening sockets: one for each port of the configuration.
 * Not here: accepted connections (connection.h). NVMe/TCP 1.0: any TCP port.
 */
#ifndef LOCKSTEP_DAEMON_LISTENER_H
#define LOCKSTEP_DAEMON_LISTENER_H

#include "daemon/server.h"

typedef struct Listener {
    Source source;
    Server *server;
    struct lst_port *port; /* the engine's */
    bool wildcard;         /* listens on every address: tell the engine which it was */
} Listener;

/**
 * listener_socket - a non-blocking socket that listens
 * @adrfam, @traddr: a numeric address
 * @port: 0: any free one, which is filled in
 * @whose: for messages
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: the descriptor, or -1.
 */
int listener_socket(unsigned adrfam, const char *traddr, uint32_t *port, const char *whose,
                    GError **error);

/**
 * listener_new - listen on a port's address
 * @server: what connections will belong to
 * @port: its trsvcid is filled in if it is 0
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: a listener, freed by listener_free(), or NULL. It accepts nothing
 * until listener_start().
 */
Listener *listener_new(Server *server, ConfigPort *port, GError **error);
void listener_free(Listener *listener);

/**
 * listener_start - accept connections for an engine port
 * listener_stop - leave them to the kernel
 */
bool listener_start(Listener *listener);
void listener_stop(Listener *listener);

/**
 * listener_close - accept no connection any more; the listener stays, as it may
 *                  be among the events of this round of the loop
 */
void listener_close(Listener *listener);

#endif
