/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection of target-bench: a socket and a host queue; commands one at a time, waited for.
 * Not here: what is asked while connecting (controller.c), keeping queues full (worker.c).
 */
#include "bench/link_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

G_DEFINE_QUARK(lockstep-bench-error, bench_error)

enum { RECEIVE_BYTES = 65536 };

bool link_fail(GError **error, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, BENCH_ERROR, 0, text);
    return false;
}

void link_close(Link *link)
{
    if (link->queue) {
        close(link->fd);
        host_queue_free(link->queue);
        memset(link, 0, sizeof(*link));
    }
}

bool link_flush(Link *link, bool *blocked, GError **error)
{
    const uint8_t *bytes;
    size_t length;

    *blocked = false;
    while (bytes = host_queue_output(link->queue, &length), length > 0) {
        ssize_t sent = send(link->fd, bytes, length, MSG_NOSIGNAL);

        if (sent >= 0) {
            host_queue_output_consumed(link->queue, (size_t)sent);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            *blocked = true;
            return true;
        } else if (errno != EINTR) {
            return link_fail(error, "connection lost: %s", g_strerror(errno));
        }
    }
    return true;
}

ssize_t link_receive(Link *link, void *buffer, size_t size, GError **error)
{
    ssize_t count = recv(link->fd, buffer, size, 0);
    const HostFault *fault;

    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return 0;
    }
    if (count <= 0) {
        link_fail(error, "connection lost: %s", count ? g_strerror(errno) : "the target closed it");
        return -1;
    }
    if (host_queue_receive(link->queue, buffer, (size_t)count) == HOST_OK) {
        return count;
    }
    fault = host_queue_fault(link->queue);
    link_fail(error, "%s: %s, FES %u, FEI %u",
              fault->by_controller ? "the target ended the connection" : "the target broke the "
              "protocol", fault->reason, fault->fes, fault->fei);
    return -1;
}

/* Moves bytes until @done; false with @error if that takes longer than the time-out. */
static bool wait_until(Link *link, bool (*done)(Link *link, void *opaque), void *opaque,
                       GError **error)
{
    g_autofree uint8_t *buffer = g_malloc(RECEIVE_BYTES);
    gint64 end = g_get_monotonic_time() + (gint64)link->timeout_ms * 1000;

    while (!done(link, opaque)) {
        gint64 left = (end - g_get_monotonic_time()) / 1000;
        struct pollfd fd = {.fd = link->fd, .events = POLLIN};
        bool blocked;

        if (left <= 0) {
            return link_fail(error, "no answer within %u s", link->timeout_ms / 1000);
        }
        if (!link_flush(link, &blocked, error)) {
            return false;
        }
        fd.events |= blocked ? POLLOUT : 0;
        if (poll(&fd, 1, (int)MIN(left, 1000)) > 0 && (fd.revents & ~POLLOUT) &&
            link_receive(link, buffer, RECEIVE_BYTES, error) < 0) {
            return false;
        }
    }
    return true;
}

static bool is_ready(Link *link, void *opaque G_GNUC_UNUSED)
{
    return host_queue_state(link->queue) == HOST_STATE_READY;
}

static int connect_socket(const char *traddr, uint32_t port, uint32_t timeout_ms, GError **error)
{
    bool six = strchr(traddr, ':');
    struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const struct sockaddr *to = six ? (struct sockaddr *)&to6 : (struct sockaddr *)&to4;
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    int on = 1, status = 0;
    socklen_t length = sizeof(status);

    if (fd < 0) {
        link_fail(error, "socket: %s", g_strerror(errno));
        return -1;
    }
    if (inet_pton(six ? AF_INET6 : AF_INET, traddr,
                  six ? (void *)&to6.sin6_addr : (void *)&to4.sin_addr) != 1) {
        status = EINVAL;
    } else if (connect(fd, to, six ? sizeof(to6) : sizeof(to4)) < 0) {
        status = errno;
        if (status == EINPROGRESS) {
            status = ETIMEDOUT;
            if (poll(&poll_fd, 1, (int)MIN(timeout_ms, (uint32_t)G_MAXINT)) > 0) {
                getsockopt(fd, SOL_SOCKET, SO_ERROR, &status, &length);
            }
        }
    }
    if (status) {
        close(fd);
        link_fail(error, "cannot connect to %s port %u: %s", traddr, port, g_strerror(status));
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

bool link_open(Link *link, const BenchOptions *options, const Place *place,
               const HostQueueConfig *config, GError **error)
{
    /* poll() takes an int of milliseconds. */
    link->timeout_ms = MIN(options->timeout, G_MAXINT / 1000) * 1000u;
    link->fd = connect_socket(place->traddr, place->trsvcid, link->timeout_ms, error);
    if (link->fd < 0) {
        return false;
    }
    link->queue = host_queue_new(config);
    g_assert(link->queue);
    host_queue_start(link->queue);
    if (!wait_until(link, is_ready, NULL, error)) {
        g_prefix_error(error, "%s port %u: ", place->traddr, place->trsvcid);
        link_close(link);
        return false;
    }
    return true;
}

typedef struct Answer {
    bool done;
    struct nv_cqe cqe;
} Answer;

static void answered(HostQueue *queue G_GNUC_UNUSED, void *opaque,
                     const HostCompletion *completion)
{
    Answer *answer = opaque;

    answer->done = true;
    answer->cqe = completion->cqe;
}

static bool is_done(Link *link G_GNUC_UNUSED, void *opaque)
{
    return ((Answer *)opaque)->done;
}

static bool wait_answer(Link *link, const char *what, int cid, Answer *answer, uint64_t *result,
                        GError **error)
{
    if (cid < 0) {
        return link_fail(error, "%s: cannot be sent", what);
    }
    if (!wait_until(link, is_done, answer, error)) {
        g_prefix_error(error, "%s: ", what);
        return false;
    }
    if (answer->cqe.status >> 1 & 0x7ff) {
        return link_fail(error, "%s: status " STATUS_FORMAT, what,
                         STATUS_PARTS(answer->cqe.status >> 1));
    }
    if (result) {
        *result = answer->cqe.result;
    }
    return true;
}

bool link_connect(Link *link, uint16_t qid, const struct nvf_connect_data *data, uint64_t *result,
                  GError **error)
{
    Answer answer = {0};
    int cid = host_queue_connect(link->queue, qid, 0, data, answered, &answer);

    return wait_answer(link, "Connect", cid, &answer, result, error);
}

bool link_command(Link *link, const char *what, const struct nv_sqe *sqe, void *buffer,
                  uint32_t length, uint64_t *result, GError **error)
{
    Answer answer = {0};
    int cid = host_queue_submit(link->queue, sqe, length ? HOST_DATA_IN : HOST_DATA_NONE, buffer,
                                length, answered, &answer);

    return wait_answer(link, what, cid, &answer, result, error);
}
