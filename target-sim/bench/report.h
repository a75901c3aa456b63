/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What target-bench found out, as a table or as JSON. Not here: finding it out. No standard.
 */
#ifndef LOCKSTEP_BENCH_REPORT_H
#define LOCKSTEP_BENCH_REPORT_H

#include "bench/worker.h"

typedef struct Report {
    const BenchOptions *options;
    const Place *place;
    uint64_t elapsed_ns;
    Tally reads, writes;
    uint64_t phase_done[PHASES];
    uint64_t errors, mismatches;
    const char *complaint;  /* the first error or mismatch; NULL: none */
    bool interrupted;
} Report;

/**
 * report_add - what one thread has done
 */
void report_add(Report *report, const Worker *worker);

/**
 * report_text - the table, or JSON if the options say so
 *
 * Return: a new string that ends a line, freed by g_free().
 */
char *report_text(const Report *report);

#endif
