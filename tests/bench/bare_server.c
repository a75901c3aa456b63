/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit for an NVMe/TCP target on sockets: one thread and one epoll set, answers every read
 * with the PDUs it would get from a target, and does nothing else. No checks, no state, no data: it
 * trusts its peer (bare_client.c).
 * Usage: bare_server; prints its port on 127.0.0.1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bare.h"

enum {
    EVENTS = 256,
    READ_BYTES = 256 << 10,
    LEFT_MAX = BARE_COMMAND + sizeof(struct nvf_connect_data),
    OWED_MAX = 1024,            /* reads of a connection, a power of two */
    BATCH = 64,                 /* answers in one writev() */
};

struct conn {
    int fd;
    int blocked;
    uint32_t left;              /* bytes of a command that is not whole */
    uint8_t rest[LEFT_MAX];
    uint16_t owed[OWED_MAX];    /* command identifiers of the answers to be sent */
    uint32_t first, end;
    uint32_t sent;              /* bytes of the first one */
};

static int epoll_fd;
static uint8_t input[READ_BYTES + LEFT_MAX];
static uint8_t data[BARE_DATA];

static struct iovec piece(void *base, size_t length, uint32_t *skip)
{
    uint32_t now = *skip < length ? *skip : (uint32_t)length;

    *skip -= now;
    return (struct iovec){(char *)base + now, length - now};
}

static void flush(struct conn *conn)
{
    static struct { struct nvtcp_data head; struct nvtcp_capsule_resp tail; } headers[BATCH];
    struct iovec iov[3 * BATCH];
    int blocked = 0;

    while (conn->first != conn->end && !blocked) {
        uint32_t count = conn->end - conn->first < BATCH ? conn->end - conn->first : BATCH;
        uint32_t skip = conn->sent;
        ssize_t sent;

        for (uint32_t i = 0; i < count; i++) {
            uint16_t cid = conn->owed[(conn->first + i) % OWED_MAX];

            headers[i].head = (struct nvtcp_data){
                .hdr = {NVTCP_C2H_DATA, NVTCP_F_LAST, BARE_HEAD, BARE_HEAD, BARE_HEAD + BARE_DATA},
                .cccid = cid, .datal = BARE_DATA,
            };
            headers[i].tail = (struct nvtcp_capsule_resp){
                .hdr = {NVTCP_CAPSULE_RESP, 0, BARE_TAIL, 0, BARE_TAIL}, .cqe.cid = cid,
            };
            iov[3 * i] = piece(&headers[i].head, BARE_HEAD, &skip);
            iov[3 * i + 1] = piece(data, BARE_DATA, &skip);
            iov[3 * i + 2] = piece(&headers[i].tail, BARE_TAIL, &skip);
        }
        sent = writev(conn->fd, iov, (int)(3 * count));
        blocked = sent < 0 && errno == EAGAIN;
        if (sent > 0) {
            conn->sent += (uint32_t)sent;
            conn->first += conn->sent / BARE_ANSWER;
            conn->sent %= BARE_ANSWER;
        } else if (!blocked) {
            return;
        }
    }
    if (blocked != conn->blocked) {
        struct epoll_event event = {EPOLLIN | (blocked ? EPOLLOUT : 0), {.ptr = conn}};

        conn->blocked = blocked;
        epoll_ctl(epoll_fd, EPOLL_CTL_MOD, conn->fd, &event);
    }
}

static void answer_setup(struct conn *conn, const struct nvtcp_hdr *hdr, uint16_t cid)
{
    struct nvtcp_ic_resp ic = {
        .hdr = {NVTCP_IC_RESP, 0, sizeof(ic), 0, sizeof(ic)}, .maxh2cdata = 131072,
    };
    struct nvtcp_capsule_resp resp = {
        .hdr = {NVTCP_CAPSULE_RESP, 0, BARE_TAIL, 0, BARE_TAIL},
        .cqe = {.result = 1, .cid = cid},
    };

    if (hdr->type == NVTCP_IC_REQ) {
        bare_check(write(conn->fd, &ic, sizeof(ic)) == sizeof(ic), "write");
    } else {
        bare_check(write(conn->fd, &resp, sizeof(resp)) == sizeof(resp), "write");
    }
}

/* Returns false if the peer is gone. */
static int receive(struct conn *conn)
{
    uint8_t *at = input, *end;
    ssize_t count;

    memcpy(input, conn->rest, conn->left);
    count = read(conn->fd, input + conn->left, READ_BYTES);
    if (count <= 0) {
        return count < 0 && errno == EAGAIN;
    }
    end = input + conn->left + count;
    while (end - at >= (ssize_t)sizeof(struct nvtcp_hdr)) {
        struct nvtcp_hdr hdr;
        struct nvtcp_capsule_cmd command;

        memcpy(&hdr, at, sizeof(hdr));
        if ((size_t)(end - at) < hdr.plen) {
            break;
        }
        memcpy(&command, at, sizeof(command));
        if (hdr.type == NVTCP_CAPSULE_CMD && command.sqe.opcode == NV_IO_READ) {
            conn->owed[conn->end++ % OWED_MAX] = command.sqe.cid;
        } else {
            answer_setup(conn, &hdr, command.sqe.cid);
        }
        at += hdr.plen;
    }
    conn->left = (uint32_t)(end - at);
    bare_check(conn->left <= sizeof(conn->rest), "a command too long");
    memcpy(conn->rest, at, conn->left);
    flush(conn);
    return 1;
}

static void accept_all(int listener)
{
    int fd, on = 1;

    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct conn *conn = calloc(1, sizeof(*conn));
        struct epoll_event event = {EPOLLIN, {.ptr = conn}};

        bare_check(!!conn, "calloc");
        conn->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        bare_check(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
    }
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct epoll_event events[EVENTS], event = {EPOLLIN, {.ptr = NULL}};
    socklen_t length = sizeof(address);
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    bare_check(bind(listener, (struct sockaddr *)&address, length) == 0 &&
               listen(listener, 1024) == 0 &&
               getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listen");
    epoll_fd = epoll_create1(0);
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int count = epoll_wait(epoll_fd, events, EVENTS, -1);

        for (int i = 0; i < count; i++) {
            struct conn *conn = events[i].data.ptr;

            if (!conn) {
                accept_all(listener);
            } else if ((events[i].events & ~EPOLLOUT) && !receive(conn)) {
                close(conn->fd);
                free(conn);
            } else if (events[i].events & EPOLLOUT) {
                flush(conn);
            }
        }
    }
}
