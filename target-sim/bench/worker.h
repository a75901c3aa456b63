/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread of target-bench: keeps its queues full and notes how long each command takes.
 * Not here: connecting (controller.c), what is shown (report.c). No standard.
 */
#ifndef LOCKSTEP_BENCH_WORKER_H
#define LOCKSTEP_BENCH_WORKER_H

#include <glib.h>

#include "bench/histogram.h"
#include "bench/link.h"

/* What a thread does with its queues, one after the other. */
typedef enum Phase {
    PHASE_FILL,  /* --verify: write every block once, in sequence */
    PHASE_RUN,   /* what the options say */
    PHASE_CHECK, /* --verify: read every block once, in sequence */
    PHASES
} Phase;

typedef struct Worker Worker;
typedef struct Slot Slot;

/* One I/O queue and its share of the namespace, in blocks of --block-size. */
typedef struct BenchQueue {
    Link link;
    Worker *worker;
    Slot *slots;
    Slot *idle;             /* a stack: the latest is warm in the cache */
    uint64_t first, blocks;
    uint64_t cursor;        /* sequential: commands so far */
    uint64_t left;          /* commands to submit in this phase */
    uint64_t random;        /* state of the generator */
    uint32_t *generations;  /* --verify: writes of each block */
    uint8_t *busy;          /* --verify: a command for the block is in flight */
    unsigned in_flight;
    bool blocked;           /* waits for EPOLLOUT */
} BenchQueue;

typedef struct Tally {
    Histogram latency;      /* ns */
    uint64_t bytes;
} Tally;

struct Worker {
    const BenchOptions *options;
    const Controller *controller; /* any: what they say of the namespace is the same */
    const bool *interrupted;
    GPtrArray *queues;      /* of BenchQueue *, which are the caller's */
    uint64_t done;          /* commands of this phase; others may read it */
    uint64_t phase_done[PHASES];
    uint64_t phase_ns[PHASES];
    Tally reads, writes;    /* of PHASE_RUN */
    uint64_t errors;        /* commands with a status */
    uint64_t mismatches;    /* reads with wrong data */
    char *complaint;        /* the first of either */
    GError *error;          /* the connection was lost, or no answer came */

    /* Used while running. */
    Phase phase;
    int epoll_fd;
    uint64_t now_ns, end_ns, answered_ns;
    bool stopping;
    uint8_t *receive_buffer;
    uint8_t *scratch;       /* data that nobody looks at, for all queues */
};

uint64_t bench_now_ns(void);

/**
 * worker_add - give it a queue
 * @queue: with link, first and blocks set
 * @number: of the queue among all, for its random numbers
 */
void worker_add(Worker *worker, BenchQueue *queue, unsigned number);

/**
 * worker_run - one phase, from full queues to empty ones
 *
 * Return: false with worker->error.
 */
bool worker_run(Worker *worker, Phase phase);

void worker_init(Worker *worker, const BenchOptions *options, const Controller *controller,
                 const bool *interrupted);
void worker_clear(Worker *worker);
void bench_queue_free(BenchQueue *queue);

#endif
