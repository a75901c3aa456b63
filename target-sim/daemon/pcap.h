/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture of one connection as a pcap file: its bytes, in packets that are made up around them.
 * Not here: which connections, and when (connection.c). Nothing of it is on the wire: segments,
 * acknowledgements and addresses of the link are ours, bytes, order and times are those of the
 * connection.
 * pcap with times in ns (magic A1B23C4Dh), Ethernet II, IPv4 (RFC 791), IPv6 (RFC 8200), TCP
 * (RFC 9293).
 */
#ifndef LOCKSTEP_DAEMON_PCAP_H
#define LOCKSTEP_DAEMON_PCAP_H

#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

enum PcapLimits {
    PCAP_SEGMENT = 32 << 10, /* bytes of a packet's data at most */
    PCAP_BUFFER = 64 << 10,  /* bytes kept until they are written */
};

typedef enum PcapSide { PCAP_HOST, PCAP_TARGET } PcapSide;

typedef union PcapAddress {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
} PcapAddress;

typedef struct Pcap Pcap;

/**
 * pcap_open - begin a capture
 * @file: made, or emptied if it is there
 * @ends: of the host and of the target, of one family
 * @begin: whether the connection begins now: then with a handshake of TCP
 * @time_ns: since 1970
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: a capture, ended by pcap_close(), or NULL.
 */
Pcap *pcap_open(const char *file, const PcapAddress ends[2], bool begin, uint64_t time_ns,
                GError **error);

/**
 * pcap_data - add bytes that a side sent
 * @iov: the bytes, at least @length
 *
 * After a failure to write, which a message tells, nothing is added any more.
 */
void pcap_data(Pcap *pcap, PcapSide from, const struct iovec *iov, size_t length,
               uint64_t time_ns);

/**
 * pcap_close - end a capture
 * @end: whether the connection ends now: then both sides do so
 */
void pcap_close(Pcap *pcap, bool end, uint64_t time_ns);

/**
 * pcap_file - the file's name, the capture's
 */
const char *pcap_file(const Pcap *pcap);

#endif
