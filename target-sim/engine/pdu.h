/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is this PDU header acceptable here, and where do its data lie? Pure functions: the same
 * arguments, the same verdict.
 * Not here: receiving bytes (conn_rx.c), what a capsule's command means (req.c).
 * NVMe/TCP Transport 1.0, chapter 3; disagreements between implementations are settled in
 * choices.h.
 */
#ifndef ENGINE_PDU_H
#define ENGINE_PDU_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/choices.h"
#include "lockstep/nvme_tcp.h"

enum lst_outcome {
    LST_ACCEPT,
    LST_TERMINATE,           /* send C2HTermReq with fes and fei */
    LST_DROP,                /* close without a word */
};

struct lst_verdict {
    enum lst_outcome outcome;
    uint16_t fes;
    uint32_t fei;
    const char *why;         /* static text; NULL if accepted */
};

/* What a verdict depends on besides the header. */
struct lst_pdu_context {
    bool ic_done;            /* ICReq was accepted */
    bool header_digest;      /* negotiated */
    bool data_digest;
    uint32_t inline_max;     /* in-capsule bytes that this queue takes */
    uint32_t maxh2cdata;     /* as in our ICResp */
    uint8_t cpda;            /* as in our ICResp: data start at multiples of (cpda + 1) * 4 bytes */
};

/* The R2T that an H2CData refers to; cccid and the window are meaningless unless valid. */
struct lst_pdu_window {
    bool valid;
    uint16_t cccid;
    uint32_t start;          /* R2TO */
    uint32_t length;         /* R2TL */
    uint32_t next;           /* offset of the next byte expected */
};

/* How an accepted PDU is laid out. */
struct lst_pdu_layout {
    uint8_t hlen;            /* header without digest */
    uint8_t hdgst_len;       /* 0 or 4 */
    uint32_t pad_len;        /* between header (with digest) and data */
    uint32_t data_len;
    uint8_t ddgst_len;       /* 0 or 4 */
};

/*
 * lst_pdu_check_common: the first eight bytes, in wire order: type, flags, hlen, pdo, plen.
 * On LST_ACCEPT @layout is filled. A TermReq from the host is LST_DROP.
 */
struct lst_verdict lst_pdu_check_common(const struct lst_pdu_context *ctx,
                                        const struct nvtcp_hdr *hdr, struct lst_pdu_layout *layout);

/* lst_pdu_check_header_digest: @computed over the hlen bytes against @received. */
struct lst_verdict lst_pdu_check_header_digest(uint32_t computed, uint32_t received);

/* lst_pdu_check_ic_req: the ICReq's own fields: PFV, HPDA, DGST. */
struct lst_verdict lst_pdu_check_ic_req(const struct nvtcp_ic_req *ic);

/*
 * lst_pdu_check_h2c_data: TTAG, CCCID, then DATAL, DATAO against @window. @data_len is the
 * layout's: what PLEN leaves for data.
 */
struct lst_verdict lst_pdu_check_h2c_data(const struct lst_pdu_context *ctx,
                                          const struct nvtcp_data *pdu,
                                          const struct lst_pdu_window *window, uint32_t data_len);

/* The verdict of a row of choices.h. */
struct lst_verdict lst_pdu_choice(enum lst_pdu_choice choice);

#endif
