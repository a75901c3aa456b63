/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of target-bench: a socket and a host queue; commands one at a time, waited for.
 * Not here: the protocol (client/), keeping queues full (worker.c). Fabrics 1.1: connecting.
 */
#ifndef LOCKSTEP_BENCH_LINK_H
#define LOCKSTEP_BENCH_LINK_H

#include <glib.h>

#include "bench/options.h"
#include "client/host_queue.h"

#define BENCH_ERROR bench_error_quark()
GQuark bench_error_quark(void);

/* A completion's status for a message. Base 2.0, 4.6.1: status code type and status code. */
#define STATUS_FORMAT "type %xh, code %02xh"
#define STATUS_PARTS(status) ((unsigned)(status) >> 8 & 7), ((unsigned)(status) & 0xff)

typedef struct Link {
    int fd; /* non-blocking */
    HostQueue *queue;
    uint32_t timeout_ms;
} Link;

/* Where a subsystem is. */
typedef struct Place {
    char *traddr;
    uint32_t trsvcid;
    char *nqn;
} Place;
void place_clear(Place *place);

/* A subsystem's controller, and what it says of itself. */
typedef struct Controller {
    Link admin;
    uint16_t cntlid;
    uint32_t inline_bytes;  /* in-capsule data of I/O commands */
    uint32_t max_transfer;  /* bytes */
    uint64_t size;          /* of the namespace, bytes */
    uint32_t lba_size;      /* bytes */
} Controller;

/**
 * link_close - close the socket and free the queue; a link that never was open
 *              is allowed if it is all zero
 */
void link_close(Link *link);

/**
 * link_flush - send what the queue has, as far as the socket takes it
 * @blocked: set if it did not take all
 *
 * Return: false with @error if the connection is gone.
 */
bool link_flush(Link *link, bool *blocked, GError **error);

/**
 * link_receive - read once and hand it to the queue
 * @buffer: of @size bytes
 *
 * Return: bytes, 0 if there are none now, -1 with @error if the connection is
 * gone or the controller broke the protocol.
 */
ssize_t link_receive(Link *link, void *buffer, size_t size, GError **error);

/**
 * controller_find - where the subsystem is: the address itself, or the first one
 *                   that the discovery service there knows
 */
bool controller_find(const BenchOptions *options, Place *place, GError **error);

/**
 * controller_open - connect an Admin queue, enable the controller, ask for I/O
 *                   queues and about the namespace
 */
bool controller_open(const BenchOptions *options, const Place *place, Controller *controller,
                     GError **error);

/**
 * controller_open_queue - connect I/O queue @qid of it
 */
bool controller_open_queue(const BenchOptions *options, const Place *place,
                           const Controller *controller, uint16_t qid, Link *link, GError **error);

#endif
