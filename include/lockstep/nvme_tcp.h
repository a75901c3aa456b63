/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVMe/TCP protocol data units, byte by byte, and the numbers that limit them.
 * Not here: what a capsule carries (nvme.h, nvme_fabrics.h), what to do with a bad PDU
 * (target-sim/engine/pdu.h).
 * NVM Express TCP Transport Specification 1.0.
 */
#ifndef LOCKSTEP_NVME_TCP_H
#define LOCKSTEP_NVME_TCP_H

#include "lockstep/nvme.h"

enum {
    NVTCP_PORT = 4420,
    NVTCP_DISCOVERY_PORT = 8009,
    NVTCP_PFV = 0,
    NVTCP_DIGEST_BYTES = 4,
    NVTCP_PDA_MAX = 31,              /* HPDA, CPDA; the alignment is (value + 1) * 4 bytes */
    NVTCP_PDO_MAX = 128,             /* 4 * (NVTCP_PDA_MAX + 1) */
    NVTCP_MAXH2CDATA_MIN = 4096,
    NVTCP_ADMIN_INLINE = 8192,       /* in-capsule data of Admin and Fabrics commands */
    NVTCP_TERM_DATA_MAX = 128,       /* bytes of the offending header in a TermReq */
    NVTCP_TERM_PLEN_MIN = 24,
    NVTCP_TERM_PLEN_MAX = 152,
};

enum nvtcp_type {
    NVTCP_IC_REQ = 0x00,
    NVTCP_IC_RESP = 0x01,
    NVTCP_H2C_TERM = 0x02,
    NVTCP_C2H_TERM = 0x03,
    NVTCP_CAPSULE_CMD = 0x04,
    NVTCP_CAPSULE_RESP = 0x05,
    NVTCP_H2C_DATA = 0x06,
    NVTCP_C2H_DATA = 0x07,
    NVTCP_R2T = 0x09,
};

enum nvtcp_flags {
    NVTCP_F_HDGST = 1 << 0,
    NVTCP_F_DDGST = 1 << 1,
    NVTCP_F_LAST = 1 << 2,
    NVTCP_F_SUCCESS = 1 << 3,
};

/* ICReq.dgst, ICResp.dgst */
enum nvtcp_digest { NVTCP_DGST_HEADER = 1 << 0, NVTCP_DGST_DATA = 1 << 1 };

enum nvtcp_fes {
    NVTCP_FES_HEADER = 1,            /* invalid header field; FEI: its lowest bad byte */
    NVTCP_FES_SEQUENCE = 2,
    NVTCP_FES_HDGST = 3,             /* FEI: the digest as received */
    NVTCP_FES_RANGE = 4,             /* data transfer out of range */
    NVTCP_FES_LIMIT = 5,             /* data transfer limit exceeded */
    NVTCP_FES_UNSUPPORTED = 6,       /* FEI: offset of the parameter */
};

struct nvtcp_hdr {
    uint8_t type;
    uint8_t flags;
    uint8_t hlen;
    uint8_t pdo;
    uint32_t plen;
};
NV_SIZE_ASSERT(struct nvtcp_hdr, 8);

struct nvtcp_ic_req {
    struct nvtcp_hdr hdr;
    uint16_t pfv;
    uint8_t hpda;
    uint8_t dgst;
    uint32_t maxr2t;                 /* zero-based, per command */
    uint8_t rsvd16[112];
};
NV_SIZE_ASSERT(struct nvtcp_ic_req, 128);
NV_OFFSET_ASSERT(struct nvtcp_ic_req, hpda, 10);
NV_OFFSET_ASSERT(struct nvtcp_ic_req, dgst, 11);
NV_OFFSET_ASSERT(struct nvtcp_ic_req, maxr2t, 12);

struct nvtcp_ic_resp {
    struct nvtcp_hdr hdr;
    uint16_t pfv;
    uint8_t cpda;
    uint8_t dgst;
    uint32_t maxh2cdata;             /* bytes, a multiple of 4 */
    uint8_t rsvd16[112];
};
NV_SIZE_ASSERT(struct nvtcp_ic_resp, 128);
NV_OFFSET_ASSERT(struct nvtcp_ic_resp, maxh2cdata, 12);

/* H2CTermReq and C2HTermReq; up to 128 bytes of the offending header follow. */
struct nvtcp_term {
    struct nvtcp_hdr hdr;
    uint16_t fes;
    uint32_t fei;                    /* off its natural alignment */
    uint8_t rsvd14[10];
} __attribute__((packed));
NV_SIZE_ASSERT(struct nvtcp_term, 24);
NV_OFFSET_ASSERT(struct nvtcp_term, fei, 10);

struct nvtcp_capsule_cmd {
    struct nvtcp_hdr hdr;
    struct nv_sqe sqe;
};
NV_SIZE_ASSERT(struct nvtcp_capsule_cmd, 72);

struct nvtcp_capsule_resp {
    struct nvtcp_hdr hdr;
    struct nv_cqe cqe;
};
NV_SIZE_ASSERT(struct nvtcp_capsule_resp, 24);

/* H2CData and C2HData; ttag is reserved in C2HData. */
struct nvtcp_data {
    struct nvtcp_hdr hdr;
    uint16_t cccid;
    uint16_t ttag;
    uint32_t datao;
    uint32_t datal;
    uint8_t rsvd20[4];
};
NV_SIZE_ASSERT(struct nvtcp_data, 24);
NV_OFFSET_ASSERT(struct nvtcp_data, ttag, 10);
NV_OFFSET_ASSERT(struct nvtcp_data, datao, 12);
NV_OFFSET_ASSERT(struct nvtcp_data, datal, 16);

struct nvtcp_r2t {
    struct nvtcp_hdr hdr;
    uint16_t cccid;
    uint16_t ttag;
    uint32_t r2to;
    uint32_t r2tl;
    uint8_t rsvd20[4];
};
NV_SIZE_ASSERT(struct nvtcp_r2t, 24);
NV_OFFSET_ASSERT(struct nvtcp_r2t, r2to, 12);

#endif
