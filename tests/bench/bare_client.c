/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host that costs as little as it can, so that the server is what is measured: commands are made
 * once, answers are counted by their bytes and thrown away in the kernel (MSG_TRUNC). The first
 * answer on each connection is looked at, and the server must answer in order, as target-sim's null
 * backend does.
 *
 * Usage: bare_client PORT NQN CONNECTIONS DEPTH [ENTRIES]
 * Prints "connected"; then for each line "MILLISECONDS" on standard input runs that long and prints
 * "READS NANOSECONDS"; ends with its input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bare.h"

enum { EVENTS = 256, CONTROLLER_QUEUES = 128, DISCARD_BYTES = 1 << 20 };

struct conn {
    int fd;
    uint32_t next;              /* command identifier of the next command */
    uint32_t in_flight;
    uint32_t part;              /* bytes of an answer that is not whole */
    uint32_t unsent;            /* commands that the socket did not take, and ... */
    uint32_t unsent_bytes;      /* ... bytes of the first of them that it did */
    int blocked;
};

static uint32_t depth, entries;
static uint16_t port;
static const char *nqn;
static struct nvtcp_capsule_cmd *commands;      /* one for each identifier */
static uint8_t discard[DISCARD_BYTES];
static int epoll_fd;
static uint64_t reads;
static int stopping;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Connecting: blocking, one after the other */

static void put(int fd, const void *bytes, size_t length)
{
    bare_check(send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length, "send");
}

static void get(int fd, void *bytes, size_t length)
{
    bare_check(recv(fd, bytes, length, MSG_WAITALL) == (ssize_t)length, "recv");
}

static uint64_t command(int fd, const void *sqe, const void *capsule, uint32_t length)
{
    struct nvtcp_capsule_cmd cmd = {
        .hdr = {NVTCP_CAPSULE_CMD, 0, BARE_COMMAND, length ? BARE_COMMAND : 0,
                BARE_COMMAND + length},
    };
    struct nvtcp_capsule_resp resp;

    memcpy(&cmd.sqe, sqe, sizeof(cmd.sqe));
    cmd.sqe.flags = NV_PSDT_SGL;
    cmd.sqe.sgl = (struct nv_sgl){.length = length,
                                  .sgl_id = length ? NV_SGL_OFFSET : NV_SGL_TRANSPORT};
    put(fd, &cmd, sizeof(cmd));
    if (length) {
        put(fd, capsule, length);
    }
    get(fd, &resp, sizeof(resp));
    errno = EPROTO;
    bare_check(resp.hdr.type == NVTCP_CAPSULE_RESP && !resp.cqe.status, "a command failed");
    return resp.cqe.result;
}

static int connect_queue(uint16_t qid, uint16_t *cntlid)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct nvtcp_ic_req req = {.hdr = {NVTCP_IC_REQ, 0, sizeof(req), 0, sizeof(req)}};
    struct nvf_connect_sqe sqe = {
        .opcode = NVF_OPCODE, .fctype = NVF_CONNECT, .qid = qid,
        .sqsize = (uint16_t)(qid ? entries - 1 : 15),
    };
    struct nvf_connect_data data = {.hostid = "bare_client", .cntlid = *cntlid};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct nvtcp_ic_resp resp;

    bare_check(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    put(fd, &req, sizeof(req));
    get(fd, &resp, sizeof(resp));
    snprintf(data.subnqn, sizeof(data.subnqn), "%s", nqn);
    snprintf(data.hostnqn, sizeof(data.hostnqn), "nqn.2026-01.org.lockstep:bare-client");
    *cntlid = (uint16_t)command(fd, &sqe, &data, sizeof(data));
    return fd;
}

static uint16_t connect_controller(void)
{
    struct nvf_property_sqe enable = {
        .opcode = NVF_OPCODE, .fctype = NVF_PROPERTY_SET, .offset = NV_REG_CC,
        .value = NV_CC_EN | 6 << NV_CC_IOSQES_SHIFT | 4 << NV_CC_IOCQES_SHIFT,
    };
    uint16_t cntlid = 0xffff;
    int fd = connect_queue(0, &cntlid);

    command(fd, &enable, NULL, 0);
    return cntlid;
}

static void check_one_read(int fd)
{
    static uint8_t answer[BARE_ANSWER];
    struct nvtcp_data head;
    struct nvtcp_capsule_resp tail;

    put(fd, &commands[0], BARE_COMMAND);
    get(fd, answer, sizeof(answer));
    memcpy(&head, answer, sizeof(head));
    memcpy(&tail, answer + BARE_HEAD + BARE_DATA, sizeof(tail));
    errno = EPROTO;
    bare_check(head.hdr.type == NVTCP_C2H_DATA && head.hdr.plen == BARE_HEAD + BARE_DATA &&
               tail.hdr.type == NVTCP_CAPSULE_RESP && tail.hdr.plen == BARE_TAIL &&
               !tail.cqe.status, "the first answer");
}

static struct conn *connect_all(uint32_t count)
{
    struct conn *conns = calloc(count, sizeof(*conns));
    uint16_t cntlid = 0;

    bare_check(!!conns, "calloc");
    for (uint32_t i = 0; i < count; i++) {
        struct epoll_event event = {EPOLLIN, {.ptr = &conns[i]}};

        if (i % CONTROLLER_QUEUES == 0) {
            cntlid = connect_controller();
        }
        conns[i].fd = connect_queue((uint16_t)(i % CONTROLLER_QUEUES + 1), &(uint16_t){cntlid});
        conns[i].next = 1 % entries;
        if (depth) {
            check_one_read(conns[i].fd);
        }
        fcntl(conns[i].fd, F_SETFL, O_NONBLOCK);
        bare_check(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conns[i].fd, &event) == 0, "epoll_ctl");
    }
    return conns;
}

/* ---- Running */

static void send_unsent(struct conn *conn)
{
    int blocked = 0;

    while (conn->unsent && !blocked) {
        uint32_t first = (conn->next + entries - conn->unsent % entries) % entries;
        uint32_t row = entries - first < conn->unsent ? entries - first : conn->unsent;
        ssize_t sent = send(conn->fd, (uint8_t *)&commands[first] + conn->unsent_bytes,
                            (size_t)row * BARE_COMMAND - conn->unsent_bytes, MSG_NOSIGNAL);

        blocked = sent < 0 && errno == EAGAIN;
        bare_check(sent >= 0 || blocked, "send");
        if (sent > 0) {
            conn->unsent_bytes += (uint32_t)sent;
            conn->unsent -= conn->unsent_bytes / BARE_COMMAND;
            conn->unsent_bytes %= BARE_COMMAND;
        }
    }
    if (blocked != conn->blocked) {
        struct epoll_event event = {EPOLLIN | (blocked ? EPOLLOUT : 0), {.ptr = conn}};

        conn->blocked = blocked;
        epoll_ctl(epoll_fd, EPOLL_CTL_MOD, conn->fd, &event);
    }
}

static void submit(struct conn *conn, uint32_t count)
{
    conn->unsent += count;
    conn->in_flight += count;
    conn->next = (conn->next + count) % entries;
    send_unsent(conn);
}

static uint32_t receive(struct conn *conn)
{
    ssize_t count = recv(conn->fd, discard, sizeof(discard), MSG_TRUNC);
    uint32_t done;

    if (count < 0 && errno == EAGAIN) {
        return 0;
    }
    bare_check(count > 0, "recv");
    conn->part += (uint32_t)count;
    done = conn->part / BARE_ANSWER;
    conn->part %= BARE_ANSWER;
    conn->in_flight -= done;
    reads += done;
    if (done && !stopping) {
        submit(conn, done);
    }
    return done;
}

static uint32_t one_round(void)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(epoll_fd, events, EVENTS, 1000);
    uint32_t done = 0;

    for (int i = 0; i < count; i++) {
        struct conn *conn = events[i].data.ptr;

        if (events[i].events & EPOLLOUT) {
            send_unsent(conn);
        }
        if (events[i].events & ~EPOLLOUT) {
            done += receive(conn);
        }
    }
    return done;
}

static void run(struct conn *conns, uint32_t count, uint64_t ns)
{
    uint64_t start = now_ns(), in_flight = (uint64_t)count * depth, until, counted;

    reads = 0;
    stopping = 0;
    for (uint32_t i = 0; i < count; i++) {
        submit(&conns[i], depth);
    }
    do {
        one_round();
        until = now_ns();
    } while (until - start < ns);
    counted = reads;
    stopping = 1;
    while (in_flight) {
        one_round();
        in_flight = 0;
        for (uint32_t i = 0; i < count; i++) {
            in_flight += conns[i].in_flight;
        }
    }
    printf("%llu %llu\n", (unsigned long long)counted, (unsigned long long)(until - start));
    fflush(stdout);
}

static void make_commands(void)
{
    commands = calloc(entries, sizeof(*commands));
    bare_check(!!commands, "calloc");
    for (uint32_t i = 0; i < entries; i++) {
        commands[i] = (struct nvtcp_capsule_cmd){
            .hdr = {NVTCP_CAPSULE_CMD, 0, BARE_COMMAND, 0, BARE_COMMAND},
            .sqe = {.opcode = NV_IO_READ, .flags = NV_PSDT_SGL, .cid = (uint16_t)i, .nsid = 1,
                    .sgl = {.length = BARE_DATA, .sgl_id = NV_SGL_TRANSPORT},
                    .cdw12 = BARE_DATA / 512 - 1},
        };
    }
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    struct conn *conns;
    char line[64];
    uint32_t count;

    if (argc < 5) {
        fprintf(stderr, "usage: bare_client PORT NQN CONNECTIONS DEPTH [ENTRIES]\n");
        return 2;
    }
    port = (uint16_t)atoi(argv[1]);
    nqn = argv[2];
    count = (uint32_t)atoi(argv[3]);
    depth = (uint32_t)atoi(argv[4]);
    entries = argc > 5 ? (uint32_t)atoi(argv[5]) : depth + 1;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    make_commands();
    epoll_fd = epoll_create1(0);
    conns = connect_all(count);
    printf("connected\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        run(conns, count, strtoull(line, NULL, 10) * 1000000);
    }
    return 0;
}
