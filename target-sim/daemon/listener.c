/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listening sockets: one for each port of the configuration.
 * Not here: accepted connections (connection.c). NVMe/TCP 1.0: any TCP port.
 */
#include "daemon/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/connection.h"
#include "daemon/log.h"

typedef union Address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
} Address;

static socklen_t make_address(unsigned adrfam, const char *traddr, uint32_t port,
                              Address *address)
{
    memset(address, 0, sizeof(*address));
    if (adrfam == CONFIG_ADRFAM_IPV6) {
        address->ipv6.sin6_family = AF_INET6;
        address->ipv6.sin6_port = htons((uint16_t)port);
        inet_pton(AF_INET6, traddr, &address->ipv6.sin6_addr);
        return sizeof(address->ipv6);
    }
    address->ipv4.sin_family = AF_INET;
    address->ipv4.sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, traddr, &address->ipv4.sin_addr);
    return sizeof(address->ipv4);
}

static const void *address_bytes(const Address *address)
{
    return address->any.sa_family == AF_INET6 ? (const void *)&address->ipv6.sin6_addr
                                              : (const void *)&address->ipv4.sin_addr;
}

static uint16_t address_port(const Address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->ipv6.sin6_port
                                                    : address->ipv4.sin_port);
}

/* Returns the socket, or -1 with errno set. */
static int open_socket(const Address *address, socklen_t length)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0) {
        return -1;
    }
    /* A restarted target must get its port back while old connections linger. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->any.sa_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    if (bind(fd, &address->any, length) < 0 || listen(fd, SERVER_BACKLOG) < 0) {
        int cause = errno;

        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

/* At the limit a host is told at once: its connection ends before it began. */
static bool has_room(const Listener *listener)
{
    static LogLimit limit;
    const Server *server = listener->server;
    uint32_t most = server->options.connections_max;

    if (!most || (guint)g_atomic_int_get(server->open) < most) {
        return true;
    }
    if (log_admits(&limit, LOG_LEVEL_WARN)) {
        log_line(LOG_LEVEL_WARN, "more than %u connections: one was closed", most);
    }
    return false;
}

static void accept_one(Listener *listener, int fd, const Address *peer)
{
    char peer_text[INET6_ADDRSTRLEN] = "", local_text[INET6_ADDRSTRLEN] = "";
    g_autofree char *peer_name = NULL;
    Address local;
    socklen_t length = sizeof(local);

    inet_ntop(peer->any.sa_family, address_bytes(peer), peer_text, sizeof(peer_text));
    peer_name = g_strdup_printf("%s:%u", peer_text, address_port(peer));
    if (listener->wildcard && getsockname(fd, &local.any, &length) == 0) {
        inet_ntop(local.any.sa_family, address_bytes(&local), local_text, sizeof(local_text));
    }
    connection_new(listener->server, listener->port, fd, peer_name,
                   local_text[0] ? local_text : NULL);
}

/* Errors of one connection that is already gone; the next may be good. */
static bool is_peer_error(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN ||
           error == ENETUNREACH || error == EHOSTUNREACH || error == EHOSTDOWN;
}

static void report_accept_error(int error)
{
    static LogLimit limit;

    if (log_admits(&limit, LOG_LEVEL_WARN)) {
        log_line(LOG_LEVEL_WARN, "cannot accept a connection: %s; trying again in %d ms",
                 g_strerror(error), SERVER_ACCEPT_PAUSE_MS);
    }
}

static void listener_ready(Source *source, uint32_t events G_GNUC_UNUSED)
{
    Listener *listener = (Listener *)source;

    /* An earlier event of the same round may have closed it. */
    for (int i = 0; i < SERVER_ACCEPTS && source->fd >= 0; i++) {
        Address peer;
        socklen_t length = sizeof(peer);
        int fd = accept4(source->fd, &peer.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0 && !has_room(listener)) {
            close(fd);
        } else if (fd >= 0) {
            accept_one(listener, fd, &peer);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (!is_peer_error(errno)) {
            /* No descriptors or no memory: the connection stays readable, so
             * without a pause the loop would spin on it. */
            report_accept_error(errno);
            server_pause_accepting(listener->server);
            return;
        }
    }
}

int listener_socket(unsigned adrfam, const char *traddr, uint32_t *port, const char *whose,
                    GError **error)
{
    Address address;
    socklen_t length = make_address(adrfam, traddr, *port, &address);
    bool ipv6 = adrfam == CONFIG_ADRFAM_IPV6;
    int fd = open_socket(&address, length);

    if (fd < 0 || getsockname(fd, &address.any, &length) < 0) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM,
                    "cannot listen on %s%s%s:%u (%s): %s; port 0 takes any free one",
                    ipv6 ? "[" : "", traddr, ipv6 ? "]" : "", *port, whose, g_strerror(errno));
        return -1;
    }
    *port = address_port(&address);
    return fd;
}

static bool is_wildcard(const ConfigPort *port)
{
    Address address;

    make_address(port->adrfam, port->traddr, port->trsvcid, &address);
    if (port->adrfam == CONFIG_ADRFAM_IPV6) {
        return IN6_IS_ADDR_UNSPECIFIED(&address.ipv6.sin6_addr);
    }
    return address.ipv4.sin_addr.s_addr == htonl(INADDR_ANY);
}

Listener *listener_new(Server *server, ConfigPort *port, GError **error)
{
    bool ipv6 = port->adrfam == CONFIG_ADRFAM_IPV6;
    g_autofree char *whose = g_strdup_printf("path %u", port->portid);
    int fd = listener_socket(port->adrfam, port->traddr, &port->trsvcid, whose, error);
    Listener *listener;

    if (fd < 0) {
        return NULL;
    }
    listener = g_new0(Listener, 1);
    listener->source.fd = fd;
    listener->source.ready = listener_ready;
    listener->server = server;
    listener->wildcard = is_wildcard(port);
    log_line(LOG_LEVEL_INFO, "listening on %s%s%s:%u (path %u)", ipv6 ? "[" : "", port->traddr,
             ipv6 ? "]" : "", port->trsvcid, port->portid);
    return listener;
}

void listener_free(Listener *listener)
{
    listener_close(listener);
    g_free(listener);
}

void listener_close(Listener *listener)
{
    if (listener->source.fd >= 0) {
        close(listener->source.fd);
        listener->source.fd = -1;
    }
}

bool listener_start(Listener *listener)
{
    return server_watch(listener->server, &listener->source, EPOLLIN);
}

void listener_stop(Listener *listener)
{
    server_watch(listener->server, &listener->source, 0);
}
