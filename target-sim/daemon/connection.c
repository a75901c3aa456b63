/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One accepted socket and the engine's connection behind it.
 * Not here: what the bytes mean (engine/conn.h). NVMe/TCP 1.0: one queue each.
 */
#include "daemon/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/log.h"

static bool is_open(const Connection *connection)
{
    return connection->source.fd >= 0;
}

/*
 * What to wait for now. A host that does not take its answers is not read from,
 * so that they cannot pile up.
 */
static void watch(Connection *connection, bool blocked)
{
    size_t pending = lst_conn_pending(connection->engine);
    uint32_t events = blocked ? EPOLLOUT : 0;

    if (pending > SERVER_PENDING_HIGH) {
        connection->held = true;
    } else if (pending <= SERVER_PENDING_LOW) {
        connection->held = false;
    }
    /* At the end only what commands need that are under way. */
    if (!connection->held &&
        (!connection->server->draining || lst_conn_needs_input(connection->engine))) {
        events |= EPOLLIN;
    }
    if (!server_watch(connection->server, &connection->source, events)) {
        connection_close(connection);
    }
}

static void receive(Connection *connection)
{
    Server *server = connection->server;
    ssize_t count = read(connection->source.fd, server->read_buffer, SERVER_READ_BYTES);

    if (count > 0) {
        lst_conn_receive(connection->engine, server->read_buffer, (size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        connection_close(connection);
    }
}

static void connection_ready(Source *source, uint32_t events)
{
    Connection *connection = (Connection *)source;

    /* An earlier event of the same round may have closed it. */
    if (is_open(connection) && (events & EPOLLIN)) {
        receive(connection);
    }
    if (is_open(connection) && (events & EPOLLOUT)) {
        connection_has_output(connection);
    }
    if (is_open(connection) && !(events & (EPOLLIN | EPOLLOUT))) {
        /* EPOLLERR or EPOLLHUP while nothing was waited for. */
        connection_close(connection);
    }
}

void connection_new(Server *server, struct lst_port *port, int fd, const char *peer,
                    const char *local)
{
    Connection *connection = g_new0(Connection, 1);
    struct lst_conn_info info = {.opaque = connection, .local = local, .peer = peer};
    int on = 1;

    /* Answers are whole PDUs: waiting for more would only add latency. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    connection->source.fd = fd;
    connection->source.ready = connection_ready;
    connection->server = server;
    connection->node.data = connection;
    connection->output_node.data = connection;
    connection->engine = lst_conn_new(server->target, port, &info);
    g_queue_push_tail_link(&server->connections, &connection->node);
    if (!server_watch(server, &connection->source, EPOLLIN)) {
        log_line(LOG_LEVEL_WARN, "connection from %s dropped: %s", peer, g_strerror(errno));
        connection_close(connection);
    }
}

void connection_has_output(Connection *connection)
{
    if (!connection->has_output && is_open(connection)) {
        connection->has_output = true;
        g_queue_push_tail_link(&connection->server->output, &connection->output_node);
    }
}

/* Returns bytes sent, 0 if nothing was to be sent, -1 with errno if nothing could. */
static ssize_t send_some(Connection *connection)
{
    struct iovec iov[LST_IOV_MAX];
    unsigned count = lst_conn_output(connection->engine, iov, LST_IOV_MAX);
    ssize_t sent;

    if (count == 0) {
        return 0;
    }
    sent = writev(connection->source.fd, iov, (int)count);
    if (sent > 0) {
        lst_conn_consumed(connection->engine, (size_t)sent);
    }
    return sent;
}

static bool is_drained(const Connection *connection)
{
    return connection->server->draining && !lst_conn_unfinished(connection->engine) &&
           !lst_conn_needs_input(connection->engine);
}

void connection_flush(Connection *connection)
{
    size_t total = 0;
    ssize_t sent;
    bool blocked;

    do {
        sent = send_some(connection);
        total += sent > 0 ? (size_t)sent : 0;
    } while ((sent > 0 && total < SERVER_SEND_BYTES) || (sent < 0 && errno == EINTR));

    blocked = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if ((sent < 0 && !blocked) || (!blocked && lst_conn_wants_close(connection->engine)) ||
        (sent == 0 && is_drained(connection))) {
        connection_close(connection);
        return;
    }
    if (sent > 0) {
        /* Its turn is over, not its output. */
        connection_has_output(connection);
    }
    watch(connection, blocked);
}

void connection_drain(Connection *connection)
{
    /* The flush stops reading, and closes if there is nothing left to do. */
    connection_has_output(connection);
}

void connection_close(Connection *connection)
{
    Server *server = connection->server;
    int fd = connection->source.fd;

    connection->source.fd = -1;
    if (connection->has_output) {
        connection->has_output = false;
        g_queue_unlink(&server->output, &connection->output_node);
    }
    /* Closing takes it out of the epoll set as well. */
    close(fd);
    lst_conn_free(g_steal_pointer(&connection->engine));
    g_queue_unlink(&server->connections, &connection->node);
    g_queue_push_tail_link(&server->dead, &connection->node);
}

void connection_free(Connection *connection)
{
    g_free(connection);
}
