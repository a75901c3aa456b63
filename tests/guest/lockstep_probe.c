/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: runs in the guest and measures what the lockstep clock promises: busy vCPUs are parallel
 *       in guest time, no vCPU's time goes back, wake-ups do not come before they are sent.
 * Not here: judgement; each line is "name value" for the tests.
 * Standard: none; docs/lockstep.md explains the figures.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS_MAX = 128,
    BUSY_ROUNDS = 10000000,     /* of 2 instructions */
    WORK_ROUNDS = 500000000,
    HANDOFFS = 5000,
    WAKES = 500,
    READS = 50000,
};

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set)) {
        perror("sched_setaffinity");
        exit(1);
    }
}

static atomic_int ready, go;

/* Threads start together, so that their starts are not what is measured. */
static void line_up(void)
{
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&go)) {
        sched_yield();
    }
}

static void run(int count, void *(*body)(void *))
{
    pthread_t threads[THREADS_MAX];

    atomic_store(&ready, 0);
    atomic_store(&go, 0);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i)) {
            perror("pthread_create");
            exit(1);
        }
    }
    while (atomic_load(&ready) < count) {
        usleep(100);
    }
    atomic_store(&go, 1);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- busy loops ---- */

static int64_t took[THREADS_MAX];

static void *busy(void *arg)
{
    int me = (intptr_t)arg;
    uint64_t left = BUSY_ROUNDS;
    int64_t start;

    pin(me);
    line_up();
    start = now();
    __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left));
    took[me] = now() - start;
    return NULL;
}

static void measure_busy(int count)
{
    int64_t most = 0;

    run(count, busy);
    for (int i = 0; i < count; i++) {
        most = took[i] > most ? took[i] : most;
    }
    printf("busy_%d_ns %lld\n", count, (long long)most);
}

/* ---- handing a word to and fro by spinning ---- */

static atomic_int turn;
static int64_t handoff_ns;

static void *handoff(void *arg)
{
    int me = (intptr_t)arg;
    int64_t start;

    pin(me);
    line_up();
    start = now();
    for (int i = 0; i < HANDOFFS; i++) {
        while (atomic_load(&turn) != me) {
            __asm__ volatile("pause");
        }
        atomic_store(&turn, !me);
    }
    if (!me) {
        handoff_ns = (now() - start) / HANDOFFS;
    }
    return NULL;
}

/* ---- waking a sleeper: an interrupt to another vCPU ---- */

static atomic_int word;
static _Atomic int64_t sent;
static int64_t early, least = INT64_MAX;

static void *wake(void *arg)
{
    int me = (intptr_t)arg;

    pin(me);
    line_up();
    for (int i = 1; i <= WAKES; i++) {
        if (me) {
            while (atomic_load(&word) != i) {
                syscall(SYS_futex, &word, FUTEX_WAIT, i - 1, NULL, NULL, 0);
            }
            int64_t delay = now() - atomic_load(&sent);
            early += delay < 0;
            least = delay < least ? delay : least;
            atomic_store(&turn, i);
        } else {
            usleep(50);         /* the other one sleeps by now */
            atomic_store(&sent, now());
            atomic_store(&word, i);
            syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
            while (atomic_load(&turn) != i) {
                sched_yield();
            }
        }
    }
    return NULL;
}

/* ---- time of one vCPU, and of one beside another's ---- */

static _Atomic int64_t published;
static atomic_int done;
static int64_t own_back, across_back;

static void *clocks(void *arg)
{
    int me = (intptr_t)arg;
    int64_t last = 0;

    pin(me);
    line_up();
    if (me) {
        while (!atomic_load(&done)) {
            atomic_store(&published, now());
        }
        return NULL;
    }
    for (int i = 0; i < READS; i++) {
        int64_t theirs = atomic_load(&published);
        int64_t mine = now();

        own_back += mine < last;
        last = mine;
        across_back = theirs - mine > across_back ? theirs - mine : across_back;
    }
    atomic_store(&done, 1);
    return NULL;
}

/* ---- work for a benchmark: some busy, the others spinning until those are done ---- */

static int workers;
static atomic_int working;

static void *work(void *arg)
{
    int me = (intptr_t)arg;
    uint64_t left = (uint64_t)WORK_ROUNDS;

    pin(me);
    line_up();
    if (me < workers) {
        __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left));
        atomic_fetch_sub(&working, 1);
    }
    while (atomic_load(&working)) {
        __asm__ volatile("pause");
    }
    return NULL;
}

static int work_main(int busy_count, int spin_count)
{
    if (busy_count < 1 || spin_count < 0 || busy_count + spin_count > THREADS_MAX) {
        fprintf(stderr, "lockstep_probe work BUSY SPINNING: 1 to %d threads\n", THREADS_MAX);
        return 2;
    }
    workers = busy_count;
    atomic_store(&working, busy_count);
    run(busy_count + spin_count, work);
    return 0;
}

int main(int argc, char **argv)
{
    int cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (argc == 4) {
        return work_main(atoi(argv[2]), atoi(argv[3]));
    }
    cpus = cpus < THREADS_MAX ? cpus : THREADS_MAX;
    printf("cpus %d\n", cpus);
    for (int count = 1; count <= cpus; count *= 2) {
        measure_busy(count);
    }
    if (cpus > 1) {
        run(2, handoff);
        printf("handoff_ns %lld\n", (long long)handoff_ns);
        atomic_store(&turn, 0);
        run(2, wake);
        printf("wake_early %lld\nwake_least_ns %lld\n", (long long)early, (long long)least);
        run(2, clocks);
        printf("own_back %lld\nacross_back_ns %lld\n", (long long)own_back, (long long)across_back);
    }
    return 0;
}
