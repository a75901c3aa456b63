/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture of one connection as a pcap file.
 * Not here: which connections, and when (connection.c).
 * pcap with times in ns (magic A1B23C4Dh), Ethernet II, IPv4 (RFC 791), IPv6 (RFC 8200), TCP
 * (RFC 9293).
 */
#include "daemon/pcap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/log.h"

struct pcap_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, accuracy, snap_length, link_type;
};

struct pcap_record {
    uint32_t seconds, nanoseconds, captured, length;
};

enum {
    PCAP_MAGIC_NS = 0xa1b23c4d,
    PCAP_ETHERNET = 1,
    PCAP_SNAP_LENGTH = 65535,
    TTL = 64,
    WINDOW = 65535,
    WINDOW_SCALE = 14, /* so that no made-up window is ever full */
    FIRST_SEQUENCE = 1000,
};

struct Pcap {
    int fd; /* -1 after a failure */
    char *file;
    PcapAddress ends[2];
    uint32_t sequence[2]; /* of the next byte of each side */
    GByteArray *buffer;
};

/* ---- Checksums: RFC 1071, as a sum that is folded at the end */

static uint64_t sum_bytes(uint64_t sum, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i + 1 < length; i += 2) {
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    }
    return length % 2 ? sum + ((uint32_t)bytes[length - 1] << 8) : sum;
}

static uint16_t fold(uint64_t sum)
{
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return htons((uint16_t)~sum);
}

/* ---- Packets */

static bool is_ipv6(const Pcap *pcap)
{
    return pcap->ends[PCAP_HOST].any.sa_family == AF_INET6;
}

static const uint8_t *address_of(const Pcap *pcap, PcapSide side, size_t *length)
{
    const PcapAddress *end = &pcap->ends[side];

    *length = is_ipv6(pcap) ? sizeof(end->ipv6.sin6_addr) : sizeof(end->ipv4.sin_addr);
    return is_ipv6(pcap) ? (const uint8_t *)&end->ipv6.sin6_addr
                         : (const uint8_t *)&end->ipv4.sin_addr;
}

static uint16_t port_of(const Pcap *pcap, PcapSide side)
{
    const PcapAddress *end = &pcap->ends[side];

    return is_ipv6(pcap) ? end->ipv6.sin6_port : end->ipv4.sin_port;
}

static void append_ethernet(Pcap *pcap, PcapSide from)
{
    struct ether_header header = {
        .ether_dhost = {2, 0, 0, 0, 0, from == PCAP_HOST ? 2 : 1},
        .ether_shost = {2, 0, 0, 0, 0, from == PCAP_HOST ? 1 : 2},
        .ether_type = htons(is_ipv6(pcap) ? ETHERTYPE_IPV6 : ETHERTYPE_IP),
    };

    g_byte_array_append(pcap->buffer, (const guint8 *)&header, sizeof(header));
}

static void append_ip(Pcap *pcap, PcapSide from, size_t length)
{
    PcapSide to = from == PCAP_HOST ? PCAP_TARGET : PCAP_HOST;

    if (is_ipv6(pcap)) {
        struct ip6_hdr header = {
            .ip6_ctlun.ip6_un1 = {htonl(6u << 28), htons((uint16_t)length), IPPROTO_TCP, TTL},
            .ip6_src = pcap->ends[from].ipv6.sin6_addr,
            .ip6_dst = pcap->ends[to].ipv6.sin6_addr,
        };

        g_byte_array_append(pcap->buffer, (const guint8 *)&header, sizeof(header));
    } else {
        struct iphdr header = {
            .version = 4,
            .ihl = 5,
            .tot_len = htons((uint16_t)(sizeof(header) + length)),
            .frag_off = htons(IP_DF),
            .ttl = TTL,
            .protocol = IPPROTO_TCP,
            .saddr = pcap->ends[from].ipv4.sin_addr.s_addr,
            .daddr = pcap->ends[to].ipv4.sin_addr.s_addr,
        };

        header.check = fold(sum_bytes(0, (const uint8_t *)&header, sizeof(header)));
        g_byte_array_append(pcap->buffer, (const guint8 *)&header, sizeof(header));
    }
}

/* The sum over the pseudo header: both addresses, protocol, length. */
static uint64_t pseudo_sum(const Pcap *pcap, size_t length)
{
    uint64_t sum = IPPROTO_TCP + (length >> 16) + (length & 0xffff);

    for (PcapSide side = PCAP_HOST; side <= PCAP_TARGET; side++) {
        size_t bytes;
        const uint8_t *address = address_of(pcap, side, &bytes);

        sum = sum_bytes(sum, address, bytes);
    }
    return sum;
}

static size_t ip_length(const Pcap *pcap)
{
    return is_ipv6(pcap) ? sizeof(struct ip6_hdr) : sizeof(struct iphdr);
}

/*
 * One packet; @data of @length bytes follows its header. Numbers go on by what a side sent, SYN and
 * FIN counting as one byte.
 */
static void append_packet(Pcap *pcap, PcapSide from, uint8_t flags, const uint8_t *data,
                          size_t length, uint64_t time_ns)
{
    /* Maximum segment size, no operation, window scale (RFC 7323). */
    static const uint8_t options[] = {
        2, 4, PCAP_SEGMENT >> 8, PCAP_SEGMENT & 0xff, 1, 3, 3, WINDOW_SCALE,
    };
    PcapSide to = from == PCAP_HOST ? PCAP_TARGET : PCAP_HOST;
    size_t options_length = flags & TH_SYN ? sizeof(options) : 0;
    size_t segment = sizeof(struct tcphdr) + options_length + length;
    size_t frame = sizeof(struct ether_header) + ip_length(pcap) + segment;
    struct pcap_record record = {
        .seconds = (uint32_t)(time_ns / 1000000000),
        .nanoseconds = (uint32_t)(time_ns % 1000000000),
        .captured = (uint32_t)frame,
        .length = (uint32_t)frame,
    };
    struct tcphdr header = {
        .th_sport = port_of(pcap, from),
        .th_dport = port_of(pcap, to),
        .th_seq = htonl(pcap->sequence[from]),
        .th_ack = htonl(flags & TH_ACK ? pcap->sequence[to] : 0),
        .th_off = (sizeof(header) + options_length) / 4,
        .th_flags = flags,
        .th_win = htons(WINDOW),
    };
    uint64_t sum = pseudo_sum(pcap, segment);

    sum = sum_bytes(sum, (const uint8_t *)&header, sizeof(header));
    sum = sum_bytes(sum, options, options_length);
    header.th_sum = fold(sum_bytes(sum, data, length));
    g_byte_array_append(pcap->buffer, (const guint8 *)&record, sizeof(record));
    append_ethernet(pcap, from);
    append_ip(pcap, from, segment);
    g_byte_array_append(pcap->buffer, (const guint8 *)&header, sizeof(header));
    g_byte_array_append(pcap->buffer, options, (guint)options_length);
    if (length) {
        g_byte_array_append(pcap->buffer, data, (guint)length);
    }
    pcap->sequence[from] += (uint32_t)length + ((flags & (TH_SYN | TH_FIN)) != 0);
}

/* ---- The file. Only whole packets are written, so that what a kill leaves can be read. */

static void write_buffer(Pcap *pcap)
{
    static LogLimit limit;
    const guint8 *at = pcap->buffer->data;
    guint left = pcap->buffer->len;

    while (left > 0 && pcap->fd >= 0) {
        ssize_t count = write(pcap->fd, at, left);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            if (log_admits(&limit, LOG_LEVEL_WARN)) {
                log_line(LOG_LEVEL_WARN, "%s: %s; the capture ends here", pcap->file,
                         g_strerror(errno));
            }
            close(pcap->fd);
            pcap->fd = -1;
            break;
        }
        at += count;
        left -= (guint)count;
    }
    g_byte_array_set_size(pcap->buffer, 0);
}

Pcap *pcap_open(const char *file, const PcapAddress ends[2], bool begin, uint64_t time_ns,
                GError **error)
{
    static const struct pcap_header header = {
        .magic = PCAP_MAGIC_NS,
        .major = 2,
        .minor = 4,
        .snap_length = PCAP_SNAP_LENGTH,
        .link_type = PCAP_ETHERNET,
    };
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Pcap *pcap;

    if (fd < 0) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "%s: cannot open for a capture: %s",
                    file, g_strerror(errno));
        return NULL;
    }
    pcap = g_new0(Pcap, 1);
    pcap->fd = fd;
    pcap->file = g_strdup(file);
    memcpy(pcap->ends, ends, sizeof(pcap->ends));
    pcap->sequence[PCAP_HOST] = pcap->sequence[PCAP_TARGET] = FIRST_SEQUENCE;
    pcap->buffer = g_byte_array_new();
    g_byte_array_append(pcap->buffer, (const guint8 *)&header, sizeof(header));
    if (begin) {
        append_packet(pcap, PCAP_HOST, TH_SYN, NULL, 0, time_ns);
        append_packet(pcap, PCAP_TARGET, TH_SYN | TH_ACK, NULL, 0, time_ns);
        append_packet(pcap, PCAP_HOST, TH_ACK, NULL, 0, time_ns);
    }
    write_buffer(pcap);
    return pcap;
}

void pcap_data(Pcap *pcap, PcapSide from, const struct iovec *iov, size_t length,
               uint64_t time_ns)
{
    size_t done = 0; /* of the piece */

    while (length > 0 && pcap->fd >= 0) {
        size_t now = MIN(MIN(iov->iov_len - done, (size_t)PCAP_SEGMENT), length);

        if (now) {
            append_packet(pcap, from, TH_ACK | TH_PUSH, (const uint8_t *)iov->iov_base + done, now,
                          time_ns);
        }
        if (pcap->buffer->len >= PCAP_BUFFER) {
            write_buffer(pcap);
        }
        length -= now;
        done += now;
        if (done == iov->iov_len) {
            iov++;
            done = 0;
        }
    }
}

void pcap_close(Pcap *pcap, bool end, uint64_t time_ns)
{
    if (end && pcap->fd >= 0) {
        append_packet(pcap, PCAP_HOST, TH_FIN | TH_ACK, NULL, 0, time_ns);
        append_packet(pcap, PCAP_TARGET, TH_FIN | TH_ACK, NULL, 0, time_ns);
        append_packet(pcap, PCAP_HOST, TH_ACK, NULL, 0, time_ns);
    }
    write_buffer(pcap);
    if (pcap->fd >= 0) {
        close(pcap->fd);
    }
    g_byte_array_unref(pcap->buffer);
    g_free(pcap->file);
    g_free(pcap);
}

const char *pcap_file(const Pcap *pcap)
{
    return pcap->file;
}
