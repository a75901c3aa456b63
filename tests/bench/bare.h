/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bare server and bare client agree on: 4 KiB reads with SQ flow control, no digests. Per read
 * 72 bytes go one way, a C2HData of 24 + 4096 bytes and a CapsuleResp of 24 the other.
 */
#ifndef TESTS_BENCH_BARE_H
#define TESTS_BENCH_BARE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/nvme_fabrics.h"
#include "lockstep/nvme_tcp.h"

enum {
    BARE_DATA = 4096,
    BARE_COMMAND = sizeof(struct nvtcp_capsule_cmd),
    BARE_HEAD = sizeof(struct nvtcp_data),
    BARE_TAIL = sizeof(struct nvtcp_capsule_resp),
    BARE_ANSWER = BARE_HEAD + BARE_DATA + BARE_TAIL,
};

static inline void bare_check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

#endif
