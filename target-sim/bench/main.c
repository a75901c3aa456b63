/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target-bench: from the command line through connections and threads to a report and an exit
 * status. Not here: what each step does. No standard.
 */
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/report.h"

enum ExitStatus {
    EXIT_STATUS_DONE = 0,
    EXIT_STATUS_FAILED = 1,
    EXIT_STATUS_INPUT = 2,
    EXIT_STATUS_INTERRUPTED = 130,
};

/* Everything that is open during a run. */
typedef struct Bench {
    const BenchOptions *options;
    Place place;
    Controller *controllers;
    GPtrArray *queues;      /* of BenchQueue * */
    Worker *workers;
} Bench;

static bool interrupted;

static void on_signal(int number G_GNUC_UNUSED)
{
    __atomic_store_n(&interrupted, true, __ATOMIC_RELAXED);
}

static enum ExitStatus complain(const char *message, enum ExitStatus status)
{
    fprintf(stderr, "target-bench: error: %s\n", message);
    return status;
}

/* ---- Connecting */

static bool open_all(Bench *bench, GError **error)
{
    const BenchOptions *options = bench->options;

    if (!controller_find(options, &bench->place, error)) {
        return false;
    }
    for (unsigned c = 0; c < options->controllers; c++) {
        if (!controller_open(options, &bench->place, &bench->controllers[c], error)) {
            return false;
        }
        for (unsigned qid = 1; qid <= options->queues; qid++) {
            BenchQueue *queue = g_new0(BenchQueue, 1);

            g_ptr_array_add(bench->queues, queue);
            if (__atomic_load_n(&interrupted, __ATOMIC_RELAXED) ||
                !controller_open_queue(options, &bench->place, &bench->controllers[c],
                                       (uint16_t)qid, &queue->link, error)) {
                return false;
            }
        }
    }
    return true;
}

static bool refuse(GError **error, const char *text)
{
    g_set_error_literal(error, BENCH_ERROR, EXIT_STATUS_INPUT, text);
    return false;
}

/* Gives each queue its share: all for random places, a part for sequential or verified ones. */
static bool share_out(Bench *bench, GError **error)
{
    const BenchOptions *options = bench->options;
    const Controller *controller = &bench->controllers[0];
    uint64_t size = options->size ? options->size : controller->size;
    uint64_t blocks = size / options->block_size;
    bool whole = options->random && !options->verify;
    unsigned parts = whole ? 1 : bench->queues->len;

    if (options->block_size % controller->lba_size) {
        return refuse(error, "--block-size: must be a multiple of the namespace's block size");
    }
    if (options->block_size > controller->max_transfer) {
        return refuse(error, "--block-size: more than the controller takes in one command (MDTS)");
    }
    if (size > controller->size) {
        return refuse(error, "--size: larger than the namespace");
    }
    if (blocks / parts < (whole ? 1 : options->depth + 1)) {
        return refuse(error, "--size: too small; each queue needs a block for each command and one "
                      "more");
    }
    for (guint i = 0; i < bench->queues->len; i++) {
        BenchQueue *queue = bench->queues->pdata[i];

        queue->blocks = blocks / parts;
        queue->first = whole ? 0 : i * queue->blocks;
    }
    return true;
}

/* ---- Running */

static void set_left(Bench *bench, Phase phase)
{
    uint64_t ios = bench->options->ios;
    guint count = bench->queues->len;

    for (guint i = 0; i < count; i++) {
        BenchQueue *queue = bench->queues->pdata[i];

        queue->cursor = 0;
        if (phase != PHASE_RUN) {
            queue->left = queue->blocks;
        } else {
            queue->left = ios ? ios / count + (i < ios % count) : UINT64_MAX;
        }
    }
}

typedef struct Job {
    Worker *worker;
    Phase phase;
    pthread_t thread;
    bool ended;
} Job;

static void *job_run(void *opaque)
{
    Job *job = opaque;

    worker_run(job->worker, job->phase);
    __atomic_store_n(&job->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

static bool all_ended(Job *jobs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!__atomic_load_n(&jobs[i].ended, __ATOMIC_ACQUIRE)) {
            return false;
        }
    }
    return true;
}

/* Waits for the threads and says meanwhile how far they are. */
static void watch(const BenchOptions *options, Phase phase, Job *jobs)
{
    static const char *const names[PHASES] = {"writing all blocks", "running",
                                               "reading all blocks"};
    uint64_t start_ns = bench_now_ns(), shown_ns = start_ns, shown = 0;

    while (!all_ended(jobs, options->threads)) {
        uint64_t now_ns, done = 0;

        g_usleep(10000);
        now_ns = bench_now_ns();
        if (!options->progress || now_ns - shown_ns < options->progress * UINT64_C(1000000000)) {
            continue;
        }
        for (unsigned i = 0; i < options->threads; i++) {
            done += __atomic_load_n(&jobs[i].worker->done, __ATOMIC_RELAXED);
        }
        fprintf(stderr, "%s: %" PRIu64 " s, %" PRIu64 " commands, %.0f IOPS\n", names[phase],
                (now_ns - start_ns) / 1000000000, done,
                (double)(done - shown) * 1e9 / (double)(now_ns - shown_ns));
        shown_ns = now_ns;
        shown = done;
    }
}

static bool run_phase(Bench *bench, Phase phase, GError **error)
{
    const BenchOptions *options = bench->options;
    g_autofree Job *jobs = g_new0(Job, options->threads);
    bool ok = true;

    set_left(bench, phase);
    for (unsigned i = 0; i < options->threads; i++) {
        jobs[i].worker = &bench->workers[i];
        jobs[i].phase = phase;
        if (pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i])) {
            complain("cannot start a thread", EXIT_STATUS_FAILED);
            exit(EXIT_STATUS_FAILED);
        }
    }
    watch(options, phase, jobs);
    for (unsigned i = 0; i < options->threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        if (bench->workers[i].error && ok) {
            ok = false;
            g_propagate_error(error, g_steal_pointer(&bench->workers[i].error));
        }
    }
    return ok;
}

static bool run_all(Bench *bench, GError **error)
{
    const BenchOptions *options = bench->options;

    bench->workers = g_new0(Worker, options->threads);
    for (unsigned i = 0; i < options->threads; i++) {
        worker_init(&bench->workers[i], options, &bench->controllers[0], &interrupted);
    }
    for (guint i = 0; i < bench->queues->len; i++) {
        worker_add(&bench->workers[i % options->threads], bench->queues->pdata[i], i);
    }
    return (!options->verify || run_phase(bench, PHASE_FILL, error)) &&
           run_phase(bench, PHASE_RUN, error) &&
           (!options->verify || interrupted || run_phase(bench, PHASE_CHECK, error));
}

static enum ExitStatus show(const Bench *bench)
{
    g_autofree Report *report = g_new0(Report, 1);
    g_autofree char *text = NULL;

    report->options = bench->options;
    report->place = &bench->place;
    report->interrupted = interrupted;
    for (unsigned i = 0; i < bench->options->threads; i++) {
        report_add(report, &bench->workers[i]);
    }
    text = report_text(report);
    if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
        return complain("cannot write to standard output", EXIT_STATUS_FAILED);
    }
    if (report->errors || report->mismatches) {
        return EXIT_STATUS_FAILED;
    }
    return interrupted ? EXIT_STATUS_INTERRUPTED : EXIT_STATUS_DONE;
}

static void close_all(Bench *bench)
{
    for (guint i = 0; i < bench->queues->len; i++) {
        bench_queue_free(bench->queues->pdata[i]);
    }
    g_ptr_array_unref(bench->queues);
    for (unsigned i = 0; i < bench->options->controllers; i++) {
        link_close(&bench->controllers[i].admin);
    }
    for (unsigned i = 0; bench->workers && i < bench->options->threads; i++) {
        worker_clear(&bench->workers[i]);
    }
    g_free(bench->controllers);
    g_free(bench->workers);
    place_clear(&bench->place);
}

static enum ExitStatus measure(const BenchOptions *options)
{
    Bench bench = {.options = options};
    g_autoptr(GError) error = NULL;
    enum ExitStatus status;

    bench.controllers = g_new0(Controller, options->controllers);
    bench.queues = g_ptr_array_new();
    if (open_all(&bench, &error) && share_out(&bench, &error) && run_all(&bench, &error)) {
        status = show(&bench);
    } else if (error) {
        status = complain(error->message, error->code ? (enum ExitStatus)error->code
                                                      : EXIT_STATUS_FAILED);
    } else {
        status = EXIT_STATUS_INTERRUPTED;
    }
    close_all(&bench);
    return status;
}

static void prepare_process(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct rlimit limit;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* Each queue is a descriptor. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    g_autofree char *text = NULL;
    enum ExitStatus status = EXIT_STATUS_DONE;
    BenchOptions options;

    setlocale(LC_CTYPE, "C.UTF-8");
    if (!bench_options_parse(&options, argc, argv, &text)) {
        status = complain(text, EXIT_STATUS_INPUT);
    } else if (options.help) {
        text = bench_options_help();
        fputs(text, stdout);
    } else if (options.version) {
        puts("target-bench " LOCKSTEP_VERSION);
    } else {
        prepare_process();
        status = measure(&options);
    }
    bench_options_clear(&options);
    return (int)status;
}
