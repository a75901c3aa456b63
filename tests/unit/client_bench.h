/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host queue alone on a bench: PDUs for it are written by hand, what it sends is looked at.
 * Not here: the engine (rig.h).
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#ifndef TESTS_UNIT_CLIENT_BENCH_H
#define TESTS_UNIT_CLIENT_BENCH_H

#include "wire.h"

typedef struct Bench {
    HostQueue *queue;
    GByteArray *in;                     /* PDUs for the queue */
    HostPduFormat format;
    RigResult result;
    uint8_t buf[16384];
} Bench;

enum { ENTRIES = 8, MAXH2C = 4096 };

GByteArray *bench_drain(HostQueue *queue);
void bench_drop_output(Bench *b);
int bench_deliver(Bench *b);
void bench_put_icresp(Bench *b, uint8_t cpda, uint8_t dgst, uint32_t maxh2cdata);
void bench_put_resp(Bench *b, uint16_t cid, uint16_t sqhd, uint16_t status);
void bench_put_r2t(Bench *b, uint16_t cid, uint16_t ttag, uint32_t offset, uint32_t length);
void bench_put_data(Bench *b, uint16_t cid, uint32_t offset, uint32_t length, uint8_t flags);
Bench *bench_new(bool hdgst, bool ddgst, uint8_t hpda);
void bench_free(Bench *b);
/* The queue has refused something: state, reason, and an H2CTermReq that says the same. */
void bench_assert_refused(Bench *b, int ret, uint16_t fes, uint32_t fei);
int bench_submit(Bench *b, HostDataKind kind, uint32_t length);

#endif
