/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small server of requests and answers beside the data path: the control socket and the page of
 * metrics. Not here: what is asked and answered (control.h, metrics.h). No standard.
 */
/*
 * Peers are not trusted: a request is bounded, so are the peers and what is done for one of them
 * in a round of the loop; while an answer is not taken nothing more is read; who is silent for too
 * long is closed. Nothing blocks.
 */
#ifndef LOCKSTEP_DAEMON_SERVICE_H
#define LOCKSTEP_DAEMON_SERVICE_H

#include "daemon/server.h"

enum ServiceLimits {
    SERVICE_PEERS_MAX = 16,    /* of one service; more are closed at once */
    SERVICE_READ_BYTES = 1024, /* read from a peer before the next has its turn */
};

typedef struct ServiceRules {
    const char *what;     /* for messages */
    const char *end;      /* of a request */
    size_t request_max;   /* bytes, without the end */
    uint64_t patience_ms; /* for a request, or for an answer to be taken */
    /*
     * Appends the answer to a request (NUL-terminated, without its end). Returns false if the
     * connection ends with it.
     */
    bool (*answer)(Server *server, const char *request, size_t length, GString *reply);
    /* Appends what a peer is told whose request is longer; then its connection ends. */
    void (*too_long)(GString *reply);
} ServiceRules;

/**
 * service_new - answer on a listening socket
 * @rules: must outlive the service
 * @fd: non-blocking; closed by the service, on failure too
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: a service, freed by service_free(), or NULL.
 */
Service *service_new(Server *server, const ServiceRules *rules, int fd, GError **error);
void service_free(Service *service);

/**
 * service_close - end listening and all connections
 */
void service_close(Service *service);

/**
 * service_end_round - close who was silent for too long, free what was closed
 */
void service_end_round(Service *service, uint64_t now_ns);

/**
 * service_next_deadline - when service_end_round() must be called at the latest; UINT64_MAX: never
 */
uint64_t service_next_deadline(const Service *service);

#endif
