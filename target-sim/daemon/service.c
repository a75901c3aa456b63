/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small server of requests and answers beside the data path.
 * Not here: what is asked and answered (control.c, metrics.c). No standard.
 */
#include "daemon/service.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log.h"

typedef struct Peer {
    Source source; /* fd is -1 once it is closed */
    Service *service;
    GList node;      /* in service->peers, later in service->dead */
    GString *input;  /* less than a request and what was read at once */
    GString *output;
    size_t sent;     /* of it */
    bool ending;     /* closed when the output is sent */
    uint64_t seen_ns;
} Peer;

struct Service {
    Source source; /* the listening socket; fd is -1 once it is closed */
    Server *server;
    const ServiceRules *rules;
    GQueue peers, dead;
};

static void peer_close(Peer *peer)
{
    close(peer->source.fd);
    peer->source.fd = -1;
    g_queue_unlink(&peer->service->peers, &peer->node);
    g_queue_push_tail_link(&peer->service->dead, &peer->node);
}

static void peer_free(Peer *peer)
{
    g_string_free(peer->input, TRUE);
    g_string_free(peer->output, TRUE);
    g_free(peer);
}

/* Returns false if the peer is gone. */
static bool peer_send(Peer *peer)
{
    GString *output = peer->output;

    while (peer->sent < output->len) {
        ssize_t count = send(peer->source.fd, output->str + peer->sent, output->len - peer->sent,
                             MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        peer->sent += (size_t)count;
        peer->seen_ns = server_now_ns();
    }
    /* The next one may be short: a long answer's memory goes. */
    g_string_free(output, TRUE);
    peer->output = g_string_new(NULL);
    peer->sent = 0;
    return !peer->ending;
}

/* Answers what is there, until an answer is not taken at once. False if the peer is gone. */
static bool peer_answer(Peer *peer)
{
    const ServiceRules *rules = peer->service->rules;
    GString *input = peer->input;
    char *end;

    while (!peer->output->len && (end = strstr(input->str, rules->end))) {
        size_t length = (size_t)(end - input->str);

        *end = '\0';
        if (!rules->answer(peer->service->server, input->str, length, peer->output)) {
            peer->ending = true;
        }
        g_string_erase(input, 0, (gssize)(length + strlen(rules->end)));
        if (!peer_send(peer)) {
            return false;
        }
    }
    if (!peer->output->len && input->len > rules->request_max) {
        rules->too_long(peer->output);
        peer->ending = true;
        return peer_send(peer);
    }
    return true;
}

static bool peer_read(Peer *peer)
{
    char buffer[SERVICE_READ_BYTES];
    ssize_t count = read(peer->source.fd, buffer, sizeof(buffer));

    if (count < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    }
    /* No request has a NUL, and behind it the end would not be found. */
    if (count == 0 || memchr(buffer, '\0', (size_t)count)) {
        return false;
    }
    peer->seen_ns = server_now_ns();
    g_string_append_len(peer->input, buffer, count);
    return peer_answer(peer);
}

static void peer_ready(Source *source, uint32_t events)
{
    Peer *peer = (Peer *)source;
    bool alive;

    if (source->fd < 0) {
        return; /* an earlier event of the same round closed it */
    }
    if (peer->output->len) {
        alive = peer_send(peer) && peer_answer(peer);
    } else {
        alive = (events & EPOLLIN) && peer_read(peer);
    }
    if (!alive || !server_watch(peer->service->server, source,
                                peer->output->len ? EPOLLOUT : EPOLLIN)) {
        peer_close(peer);
    }
}

static void peer_new(Service *service, int fd)
{
    Peer *peer = g_new0(Peer, 1);

    peer->source.fd = fd;
    peer->source.ready = peer_ready;
    peer->service = service;
    peer->node.data = peer;
    peer->input = g_string_new(NULL);
    peer->output = g_string_new(NULL);
    peer->seen_ns = server_now_ns();
    g_queue_push_tail_link(&service->peers, &peer->node);
    if (!server_watch(service->server, &peer->source, EPOLLIN)) {
        peer_close(peer);
    }
}

static void service_ready(Source *source, uint32_t events G_GNUC_UNUSED)
{
    static LogLimit limit;
    Service *service = (Service *)source;
    int fd = source->fd < 0 ? -1 : accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0) {
        return; /* without descriptors it stays readable, and so it is tried in each round */
    }
    if (service->peers.length >= SERVICE_PEERS_MAX) {
        if (log_admits(&limit, LOG_LEVEL_WARN)) {
            log_line(LOG_LEVEL_WARN, "%s: more than %d connections: one was closed",
                     service->rules->what, SERVICE_PEERS_MAX);
        }
        close(fd);
        return;
    }
    peer_new(service, fd);
}

Service *service_new(Server *server, const ServiceRules *rules, int fd, GError **error)
{
    Service *service = g_new0(Service, 1);

    service->source.fd = fd;
    service->source.ready = service_ready;
    service->server = server;
    service->rules = rules;
    if (!server_watch(server, &service->source, EPOLLIN)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "%s: epoll_ctl: %s", rules->what,
                    g_strerror(errno));
        service_free(service);
        return NULL;
    }
    return service;
}

void service_close(Service *service)
{
    if (service->source.fd >= 0) {
        close(service->source.fd);
        service->source.fd = -1;
    }
    while (service->peers.head) {
        peer_close(service->peers.head->data);
    }
}

static void free_dead(Service *service)
{
    GList *node;

    while ((node = g_queue_pop_head_link(&service->dead))) {
        peer_free(node->data);
    }
}

void service_free(Service *service)
{
    service_close(service);
    free_dead(service);
    g_free(service);
}

static uint64_t deadline_of(const Peer *peer)
{
    return peer->seen_ns + peer->service->rules->patience_ms * 1000000;
}

void service_end_round(Service *service, uint64_t now_ns)
{
    GList *next;

    for (GList *node = service->peers.head; node; node = next) {
        next = node->next;
        if (deadline_of(node->data) <= now_ns) {
            peer_close(node->data);
        }
    }
    free_dead(service);
}

uint64_t service_next_deadline(const Service *service)
{
    uint64_t deadline = UINT64_MAX;

    for (const GList *node = service->peers.head; node; node = node->next) {
        deadline = MIN(deadline, deadline_of(node->data));
    }
    return deadline;
}
