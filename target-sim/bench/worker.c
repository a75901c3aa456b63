/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread of target-bench: keeps its queues full and notes how long each command takes.
 * Not here: connecting (controller.c), what is shown (report.c). No standard.
 */
#include "bench/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "bench/pattern.h"
#include "client/host_cmd.h"

enum {
    RECEIVE_BYTES = 256 << 10,
    EVENTS = 256,
    LOOK_MS = 100,          /* how often end, time-out and ^C are looked at at least */
};
#define NS_PER_S UINT64_C(1000000000)

/* A command that can be in flight. */
struct Slot {
    BenchQueue *queue;
    Slot *next;             /* of those that are idle */
    uint8_t *buffer;        /* --verify: its own */
    uint64_t start_ns;
    uint64_t block;
    bool write;
};

uint64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t random_next(BenchQueue *queue)
{
    uint64_t z = queue->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void complain(Worker *worker, char *text)
{
    if (worker->complaint) {
        g_free(text);
    } else {
        worker->complaint = text;
    }
}

/* ---- One command */

static bool wants_write(BenchQueue *queue)
{
    const BenchOptions *options = queue->worker->options;

    switch (queue->worker->phase) {
    case PHASE_FILL:
        return true;
    case PHASE_CHECK:
        return false;
    default:
        return options->read_percent < 100 && random_next(queue) % 100 >= options->read_percent;
    }
}

static uint64_t choose_block(BenchQueue *queue)
{
    bool random = queue->worker->options->random && queue->worker->phase == PHASE_RUN;
    uint64_t block = (random ? random_next(queue) : queue->cursor++) % queue->blocks;

    /* Two commands for one block at once have no right answer. There are more blocks than slots. */
    while (queue->busy && queue->busy[block]) {
        block = (block + 1) % queue->blocks;
    }
    return block;
}

static Pattern pattern_of(const BenchQueue *queue, uint64_t block)
{
    const BenchOptions *options = queue->worker->options;

    return (Pattern){options->seed, (queue->first + block) * options->block_size,
                     queue->generations[block]};
}

static void command_done(HostQueue *host, void *opaque, const HostCompletion *completion);

/* Chooses what the slot does next; what it needs of the buffer is ready afterwards. */
static HostDataKind choose(BenchQueue *queue, Slot *slot)
{
    Worker *worker = queue->worker;
    const BenchOptions *options = worker->options;

    slot->write = wants_write(queue);
    slot->block = choose_block(queue);
    slot->start_ns = worker->now_ns;
    if (queue->busy) {
        queue->busy[slot->block] = true;
        queue->generations[slot->block] += slot->write;
    }
    if (!slot->write) {
        return HOST_DATA_IN;
    }
    if (queue->busy) {
        Pattern pattern = pattern_of(queue, slot->block);

        pattern_fill(&pattern, slot->buffer, options->block_size);
    }
    return !options->no_inline && options->block_size <= worker->controller->inline_bytes
               ? HOST_DATA_OUT_CAPSULE : HOST_DATA_OUT_R2T;
}

static void submit(BenchQueue *queue, Slot *slot)
{
    Worker *worker = queue->worker;
    uint32_t lba_size = worker->controller->lba_size;
    uint32_t size = worker->options->block_size;
    HostDataKind kind = choose(queue, slot);
    struct nv_sqe sqe = host_cmd_rw(slot->write ? NV_IO_WRITE : NV_IO_READ, worker->options->nsid,
                                    (queue->first + slot->block) * size / lba_size,
                                    size / lba_size, 0);
    int cid = host_queue_submit(queue->link.queue, &sqe, kind,
                                slot->buffer ? slot->buffer : worker->scratch, size, command_done,
                                slot);

    g_assert(cid >= 0);
    queue->left--;
    queue->in_flight++;
}

/* As many as there are slots, and entries: under SQ flow control the head may come later. */
static void submit_idle(BenchQueue *queue)
{
    Worker *worker = queue->worker;

    while (queue->idle && queue->left && !worker->stopping) {
        Slot *slot = queue->idle;

        if (host_queue_full(queue->link.queue)) {
            if (!queue->in_flight && !worker->error) {
                g_set_error(&worker->error, BENCH_ERROR, 0,
                            "all commands are completed, but SQHD says that the queue is full");
            }
            return;
        }
        queue->idle = slot->next;
        submit(queue, slot);
    }
}

static void check_data(BenchQueue *queue, const Slot *slot, const HostCompletion *completion)
{
    Worker *worker = queue->worker;
    char *why = NULL;

    if (completion->data_digest_error) {
        why = g_strdup_printf("block %" PRIu64 ": data digest is wrong",
                              queue->first + slot->block);
    } else if (queue->busy) {
        Pattern pattern = pattern_of(queue, slot->block);

        why = pattern_check(&pattern, slot->buffer, worker->options->block_size);
    }
    if (why) {
        worker->mismatches++;
        complain(worker, why);
    }
}

static void note(Worker *worker, const Slot *slot)
{
    Tally *tally = slot->write ? &worker->writes : &worker->reads;

    if (worker->phase == PHASE_RUN) {
        histogram_add(&tally->latency, worker->now_ns - slot->start_ns);
        tally->bytes += worker->options->block_size;
    }
}

static void command_done(HostQueue *host G_GNUC_UNUSED, void *opaque,
                         const HostCompletion *completion)
{
    Slot *slot = opaque;
    BenchQueue *queue = slot->queue;
    Worker *worker = queue->worker;
    unsigned status = completion->cqe.status >> 1 & 0x7ff;

    queue->in_flight--;
    worker->answered_ns = worker->now_ns;
    if (status) {
        worker->errors++;
        complain(worker, g_strdup_printf("%s of block %" PRIu64 ": status " STATUS_FORMAT,
                                         slot->write ? "write" : "read",
                                         queue->first + slot->block, STATUS_PARTS(status)));
    } else {
        note(worker, slot);
        if (!slot->write) {
            check_data(queue, slot, completion);
        }
    }
    if (queue->busy) {
        queue->busy[slot->block] = false;
    }
    __atomic_store_n(&worker->done, worker->done + 1, __ATOMIC_RELAXED);
    slot->next = queue->idle;
    queue->idle = slot;
    submit_idle(queue);
}

/* ---- The loop */

static void flush(BenchQueue *queue)
{
    Worker *worker = queue->worker;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = queue};
    bool blocked;

    if (!link_flush(&queue->link, &blocked, worker->error ? NULL : &worker->error)) {
        worker->stopping = true;
    } else if (blocked != queue->blocked) {
        queue->blocked = blocked;
        event.events |= blocked ? EPOLLOUT : 0;
        epoll_ctl(worker->epoll_fd, EPOLL_CTL_MOD, queue->link.fd, &event);
    }
}

static void receive(BenchQueue *queue)
{
    Worker *worker = queue->worker;

    if (link_receive(&queue->link, worker->receive_buffer, RECEIVE_BYTES,
                     worker->error ? NULL : &worker->error) < 0) {
        worker->stopping = true;
    }
}

static void look(Worker *worker)
{
    uint64_t limit_ns = worker->options->timeout * NS_PER_S;

    if (worker->now_ns >= worker->end_ns ||
        __atomic_load_n(worker->interrupted, __ATOMIC_RELAXED)) {
        worker->stopping = true;
    }
    if (worker->now_ns - worker->answered_ns > limit_ns && !worker->error) {
        g_set_error(&worker->error, BENCH_ERROR, 0, "no answer within %u s",
                    worker->options->timeout);
    }
}

static bool busy(const Worker *worker)
{
    for (guint i = 0; i < worker->queues->len; i++) {
        const BenchQueue *queue = worker->queues->pdata[i];

        if (queue->in_flight) {
            return true;
        }
    }
    return false;
}

static void fill_queues(Worker *worker)
{
    for (guint i = 0; i < worker->queues->len; i++) {
        BenchQueue *queue = worker->queues->pdata[i];

        submit_idle(queue);
        flush(queue);
    }
}

static void one_round(Worker *worker)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(worker->epoll_fd, events, EVENTS, LOOK_MS);

    for (int i = 0; i < count && !worker->error; i++) {
        BenchQueue *queue = events[i].data.ptr;

        worker->now_ns = bench_now_ns();
        if (events[i].events & ~EPOLLOUT) {
            receive(queue);
        }
        if (!worker->error) {
            flush(queue);
        }
    }
    if (count <= 0) {
        worker->now_ns = bench_now_ns();
    }
    look(worker);
}

bool worker_run(Worker *worker, Phase phase)
{
    const BenchOptions *options = worker->options;
    uint64_t start_ns = bench_now_ns();
    bool more = true;

    worker->phase = phase;
    worker->done = 0;
    worker->stopping = false;
    worker->now_ns = worker->answered_ns = start_ns;
    worker->end_ns = phase == PHASE_RUN && options->runtime ? start_ns + options->runtime * NS_PER_S
                                                            : UINT64_MAX;
    fill_queues(worker);
    for (unsigned round = 0; more && !worker->error; round++) {
        one_round(worker);
        /* Going through all queues is for the end, and for a run that is shorter than its time. */
        if (worker->stopping || round % EVENTS == 0 || phase != PHASE_RUN || options->ios) {
            more = busy(worker);
        }
    }
    worker->phase_done[phase] = worker->done;
    worker->phase_ns[phase] = worker->answered_ns - start_ns;
    return !worker->error;
}

/* ---- Start and end */

void worker_init(Worker *worker, const BenchOptions *options, const Controller *controller,
                 const bool *interrupted)
{
    *worker = (Worker){.options = options, .controller = controller, .interrupted = interrupted};
    worker->queues = g_ptr_array_new();
    worker->receive_buffer = g_malloc(RECEIVE_BYTES);
    worker->scratch = g_malloc0(options->block_size);
    worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (worker->epoll_fd < 0) {
        g_set_error(&worker->error, BENCH_ERROR, 0, "epoll: %s", g_strerror(errno));
    }
}

void worker_add(Worker *worker, BenchQueue *queue, unsigned number)
{
    const BenchOptions *options = worker->options;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = queue};

    queue->worker = worker;
    queue->random = options->seed + number * UINT64_C(0xda942042e4dd58b5);
    queue->slots = g_new0(Slot, options->depth);
    for (unsigned i = 0; i < options->depth; i++) {
        queue->slots[i].queue = queue;
        queue->slots[i].buffer = options->verify ? g_malloc0(options->block_size) : NULL;
        queue->slots[i].next = queue->idle;
        queue->idle = &queue->slots[i];
    }
    if (options->verify) {
        queue->generations = g_new0(uint32_t, queue->blocks);
        queue->busy = g_new0(uint8_t, queue->blocks);
    }
    g_ptr_array_add(worker->queues, queue);
    if (epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, queue->link.fd, &event) < 0 && !worker->error) {
        g_set_error(&worker->error, BENCH_ERROR, 0, "epoll_ctl: %s", g_strerror(errno));
    }
}

void worker_clear(Worker *worker)
{
    g_ptr_array_unref(worker->queues);
    g_free(worker->receive_buffer);
    g_free(worker->scratch);
    g_free(worker->complaint);
    g_clear_error(&worker->error);
    if (worker->epoll_fd >= 0) {
        close(worker->epoll_fd);
    }
}

void bench_queue_free(BenchQueue *queue)
{
    for (unsigned i = 0; queue->slots && i < queue->worker->options->depth; i++) {
        g_free(queue->slots[i].buffer);
    }
    link_close(&queue->link);
    g_free(queue->slots);
    g_free(queue->generations);
    g_free(queue->busy);
    g_free(queue);
}
