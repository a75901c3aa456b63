/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One accepted socket and the engine's connection behind it.
 * Not here: what the bytes mean (engine/conn.h). NVMe/TCP 1.0: one queue each.
 */
#include "daemon/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/crew.h"
#include "daemon/log.h"
#include "engine/fault.h"
#include "engine/stats.h"
#include "lockstep/nvme_tcp.h"

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
    if (lst_conn_is_half_open(connection->engine)) {
        /* A fault: read nothing, but do not miss that the host is gone. */
        events = EPOLLRDHUP;
    } else if (!connection->held && (!connection->server->draining ||
                                     lst_conn_needs_input(connection->engine))) {
        /* At the end only what commands need that are under way. */
        events |= EPOLLIN;
    }
    if (!server_watch(connection->server, &connection->source, events)) {
        connection_close(connection);
    }
}

/* ---- Capture */

static uint64_t wall_clock_ns(void)
{
    return (uint64_t)g_get_real_time() * 1000;
}

/* Before the engine has seen the bytes, or hears that they are sent. */
static void capture(Connection *connection, PcapSide from, const struct iovec *iov, size_t length)
{
    if (!connection->captured[from]) {
        connection->captured[from] =
            from == PCAP_HOST && lst_conn_between_pdus(connection->engine);
    }
    if (connection->captured[from]) {
        pcap_data(connection->pcap, from, iov, length, wall_clock_ns());
    }
}

static void end_capture(Connection *connection, bool end)
{
    if (connection->pcap) {
        pcap_close(g_steal_pointer(&connection->pcap), end, wall_clock_ns());
    }
}

static bool begin_capture(Connection *connection, const char *file, bool begin, GError **error)
{
    PcapAddress ends[2];
    socklen_t host = sizeof(ends[0]), target = sizeof(ends[0]);
    int fd = connection->source.fd;
    Pcap *pcap;

    if (getpeername(fd, &ends[PCAP_HOST].any, &host) < 0 ||
        getsockname(fd, &ends[PCAP_TARGET].any, &target) < 0) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "pcap: %s", g_strerror(errno));
        return false;
    }
    pcap = pcap_open(file, ends, begin, wall_clock_ns(), error);
    if (!pcap) {
        return false;
    }
    end_capture(connection, false);
    connection->pcap = pcap;
    connection->captured[PCAP_HOST] = begin;
    /* What waits to be sent may be the rest of a PDU. */
    connection->captured[PCAP_TARGET] = begin || !lst_conn_pending(connection->engine);
    return true;
}

bool connection_capture(Connection *connection, const char *file, GError **error)
{
    if (!file) {
        end_capture(connection, false);
        return true;
    }
    return begin_capture(connection, file, false, error);
}

/* --pcap: a connection whose capture cannot be made is served all the same. */
static void capture_from_begin(Connection *connection)
{
    static LogLimit limit;
    const char *folder = connection->server->options.pcap;
    g_autoptr(GError) error = NULL;
    g_autofree char *file =
        folder ? g_strdup_printf("%s/%d-%" PRIu64 ".pcap", folder, (int)getpid(),
                                 lst_conn_id(connection->engine))
               : NULL;

    if (file && !begin_capture(connection, file, true, &error) &&
        log_admits(&limit, LOG_LEVEL_WARN)) {
        log_line(LOG_LEVEL_WARN, "--pcap: %s", error->message);
    }
}

/* ---- Several threads: whose it is */

/* It is this one's, or stays for a while, or has gone. */
static void settle(Connection *connection)
{
    CrewPlace place = crew_place(connection);

    if (place == CREW_HERE) {
        g_autoptr(GByteArray) early = g_steal_pointer(&connection->early);

        lst_conn_receive(connection->engine, early->data, early->len);
    } else if (place == CREW_LATER && connection->early->len > CREW_EARLY_MAX) {
        connection_close(connection);
    }
}

/* Bytes while that is not known: the engine gets the ICReq, nothing behind it. */
static void receive_early(Connection *connection, const uint8_t *bytes, size_t length)
{
    size_t ic = MIN(length, sizeof(struct nvtcp_ic_req) - connection->ic_bytes);

    connection->ic_bytes += ic;
    lst_conn_receive(connection->engine, bytes, ic);
    g_byte_array_append(connection->early, bytes + ic, (guint)(length - ic));
    settle(connection);
}

bool connection_leave(Connection *connection, ConnectionMove *move, uint32_t *portid)
{
    Server *server = connection->server;
    struct lst_conn_stats stats;

    lst_conn_get_stats(connection->engine, &stats);
    *portid = stats.portid;
    move->fd = -1;
    move->peer = g_strdup(stats.peer);
    if (!lst_conn_leave(connection->engine, &move->pass)) {
        return false;
    }
    epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, connection->source.fd, NULL);
    connection->engine = NULL;
    move->fd = connection->source.fd;
    move->local = g_steal_pointer(&connection->local);
    move->early = g_steal_pointer(&connection->early);
    move->pcap = g_steal_pointer(&connection->pcap);
    memcpy(move->captured, connection->captured, sizeof(move->captured));
    connection->source.fd = -1;
    if (connection->has_output) {
        connection->has_output = false;
        g_queue_unlink(&server->output, &connection->output_node);
    }
    g_queue_unlink(&server->connections, &connection->node);
    g_queue_push_tail_link(&server->dead, &connection->node);
    return true;
}

void connection_move_clear(ConnectionMove *move)
{
    if (move->fd >= 0) {
        close(move->fd);
    }
    if (move->pcap) {
        pcap_close(move->pcap, true, wall_clock_ns());
    }
    g_clear_pointer(&move->early, g_byte_array_unref);
    g_free(move->peer);
    g_free(move->local);
}

/* ---- Input */

static void receive(Connection *connection)
{
    Server *server = connection->server;
    ssize_t count = read(connection->source.fd, server->read_buffer, SERVER_READ_BYTES);

    if (count > 0) {
        if (connection->pcap) {
            capture(connection, PCAP_HOST, &(struct iovec){server->read_buffer, (size_t)count},
                    (size_t)count);
        }
        if (connection->early) {
            receive_early(connection, server->read_buffer, (size_t)count);
        } else {
            lst_conn_receive(connection->engine, server->read_buffer, (size_t)count);
        }
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        connection_close(connection);
    }
}

/*
 * Answers that are ready at once leave at once: the next connection's commands then find the same
 * memory, still in the processor's cache.
 */
static void flush_now(Connection *connection)
{
    if (is_open(connection) && connection->has_output) {
        connection->has_output = false;
        g_queue_unlink(&connection->server->output, &connection->output_node);
        connection_flush(connection);
    }
}

static void connection_ready(Source *source, uint32_t events)
{
    Connection *connection = (Connection *)source;

    /* An earlier event of the same round may have closed it. */
    if (is_open(connection) && (events & EPOLLIN)) {
        receive(connection);
        flush_now(connection);
    }
    if (is_open(connection) && (events & EPOLLOUT)) {
        connection_has_output(connection);
    }
    if (is_open(connection) && !(events & (EPOLLIN | EPOLLOUT))) {
        /* EPOLLERR or EPOLLHUP while nothing was waited for. */
        connection_close(connection);
    }
}

static Connection *make(Server *server, int fd)
{
    Connection *connection = g_new0(Connection, 1);

    connection->source.fd = fd;
    connection->source.ready = connection_ready;
    connection->server = server;
    connection->node.data = connection;
    connection->output_node.data = connection;
    g_queue_push_tail_link(&server->connections, &connection->node);
    return connection;
}

void connection_arrive(Server *server, struct lst_port *port, ConnectionMove *move)
{
    g_autoptr(GByteArray) early = g_steal_pointer(&move->early);
    struct lst_conn_info info = {.local = move->local, .peer = move->peer};
    Connection *connection;

    if (!port || server->draining) {
        g_atomic_int_add(server->open, -1);
        return;
    }
    connection = make(server, move->fd);
    info.opaque = connection;
    move->fd = -1;
    connection->engine = lst_conn_enter(server->target, port, &info, &move->pass);
    connection->pcap = g_steal_pointer(&move->pcap);
    memcpy(connection->captured, move->captured, sizeof(connection->captured));
    if (!server_watch(server, &connection->source, EPOLLIN)) {
        log_line(LOG_LEVEL_WARN, "connection from %s dropped: %s", move->peer, g_strerror(errno));
        connection_close(connection);
        return;
    }
    lst_conn_receive(connection->engine, early->data, early->len);
    flush_now(connection);
}

void connection_new(Server *server, struct lst_port *port, int fd, const char *peer,
                    const char *local)
{
    Connection *connection = make(server, fd);
    struct lst_conn_info info = {.opaque = connection, .local = local, .peer = peer};
    int on = 1;

    /* Answers are whole PDUs: waiting for more would only add latency. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    g_atomic_int_add(server->open, 1);
    connection->engine = lst_conn_new(server->target, port, &info);
    if (server->crew) {
        connection->early = g_byte_array_new();
        connection->local = g_strdup(local);
    }
    capture_from_begin(connection);
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
    if (sent > 0 && connection->pcap) {
        capture(connection, PCAP_TARGET, iov, (size_t)sent);
    }
    if (sent > 0) {
        lst_conn_consumed(connection->engine, (size_t)sent);
    }
    if (sent > 0 && connection->pcap && !lst_conn_pending(connection->engine)) {
        connection->captured[PCAP_TARGET] = true;
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
    if (connection->early) {
        settle(connection);
    }
    if (is_open(connection)) {
        watch(connection, blocked);
    }
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

    end_capture(connection, true);
    connection->source.fd = -1;
    if (connection->has_output) {
        connection->has_output = false;
        g_queue_unlink(&server->output, &connection->output_node);
    }
    if (lst_conn_wants_reset(connection->engine)) {
        const struct linger now = {.l_onoff = 1, .l_linger = 0};

        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    /* Closing takes it out of the epoll set as well. */
    close(fd);
    lst_conn_free(g_steal_pointer(&connection->engine));
    g_queue_unlink(&server->connections, &connection->node);
    g_queue_push_tail_link(&server->dead, &connection->node);
    g_atomic_int_add(server->open, -1);
}

void connection_free(Connection *connection)
{
    g_clear_pointer(&connection->early, g_byte_array_unref);
    g_free(connection->local);
    g_free(connection);
}
