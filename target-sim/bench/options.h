/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of target-bench. Not here: what the values mean.
 * No standard; the names of workloads are fio's.
 */
#ifndef LOCKSTEP_BENCH_OPTIONS_H
#define LOCKSTEP_BENCH_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum BenchLimits {
    BENCH_CONTROLLERS_MAX = 1024,
    BENCH_QUEUES_MAX = 1024,        /* of one controller */
    BENCH_CONNECTIONS_MAX = 65536,  /* of all */
    BENCH_DEPTH_MAX = 1023,
    BENCH_THREADS_MAX = 256,
    BENCH_BLOCK_MAX = 1 << 20,
    BENCH_SECONDS_MAX = 1000000,
};

typedef struct BenchOptions {
    bool help, version;
    char *traddr;           /* numeric */
    uint32_t trsvcid;
    const char *nqn;        /* NULL: the address is that of a discovery service, which knows one */
    const char *hostnqn;
    uint32_t nsid;
    uint32_t controllers;
    uint32_t queues;        /* I/O queues of each controller */
    uint32_t depth;         /* commands in flight in each queue */
    uint32_t threads;
    uint32_t block_size;    /* bytes of a command */
    const char *rw;         /* the workload's name */
    bool random;
    uint32_t read_percent;
    uint64_t size;          /* bytes of the namespace that are used; 0: all */
    uint32_t runtime;       /* seconds; 0: until ios have been done */
    uint64_t ios;           /* commands of all queues; 0: until runtime has passed */
    uint64_t seed;
    uint32_t timeout;       /* seconds without an answer that are an error */
    uint32_t progress;      /* seconds between two reports; 0: none */
    bool header_digest, data_digest;
    bool no_sq_flow_control;
    bool no_inline;         /* writes always wait for R2T */
    bool verify;
    bool json;
    uint32_t mix;           /* read percent of rw and randrw */
    bool has_mix;
} BenchOptions;

/**
 * bench_options_parse - read the command line
 * @options: filled with defaults first; points into @argv; free what it owns
 *           with bench_options_clear() in any case
 * @why: on failure the message, freed by g_free(): option, value, what is allowed
 *
 * Return: true on success.
 */
bool bench_options_parse(BenchOptions *options, int argc, char **argv, char **why);
void bench_options_clear(BenchOptions *options);

/**
 * bench_options_help - the text of --help, freed by g_free()
 */
char *bench_options_help(void);

#endif
