/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See wire.h.
 * Not here: expectations of a test.
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#include <string.h>

#include "wire.h"

void wire_icreq(GByteArray *out, uint8_t dgst)
{
    struct nvtcp_ic_req req = { .hdr = { .type = NVTCP_IC_REQ, .hlen = 128, .plen = 128 },
                                .dgst = dgst };

    g_byte_array_append(out, (const uint8_t *)&req, sizeof(req));
}

void wire_capsule(GByteArray *out, const HostPduFormat *format, const struct nv_sqe *sqe,
                  uint16_t cid, const void *data, uint32_t length)
{
    struct nvtcp_capsule_cmd capsule = { .hdr = { .type = NVTCP_CAPSULE_CMD, .hlen = 72 },
                                         .sqe = *sqe };

    capsule.sqe.cid = cid;
    host_pdu_append(out, format, &capsule, data, length);
}

void wire_h2c_data(GByteArray *out, const HostPduFormat *format, uint16_t cid, uint16_t ttag,
                   uint32_t offset, const void *data, uint32_t length, bool last)
{
    struct nvtcp_data pdu = {
        .hdr = { .type = NVTCP_H2C_DATA, .hlen = 24, .flags = last ? NVTCP_F_LAST : 0 },
        .cccid = cid, .ttag = ttag, .datao = offset, .datal = length,
    };

    host_pdu_append(out, format, &pdu, data, length);
}

struct nv_sqe wire_sgl(struct nv_sqe sqe, uint8_t sgl_id, uint64_t addr, uint32_t length)
{
    sqe.flags |= NV_PSDT_SGL;
    sqe.sgl = (struct nv_sgl){ .addr = addr, .length = length, .sgl_id = sgl_id };
    return sqe;
}

void wire_each(const GByteArray *received, WireFn *fn, void *opaque)
{
    size_t at = 0;

    while (at < received->len) {
        struct nvtcp_hdr hdr;

        g_assert_cmpuint(received->len - at, >=, sizeof(hdr));
        memcpy(&hdr, received->data + at, sizeof(hdr));
        g_assert_cmpuint(hdr.plen, >=, sizeof(hdr));
        g_assert_cmpuint(received->len - at, >=, hdr.plen);
        g_assert_true(hdr.type == NVTCP_IC_RESP || hdr.type == NVTCP_C2H_TERM ||
                      hdr.type == NVTCP_CAPSULE_RESP || hdr.type == NVTCP_C2H_DATA ||
                      hdr.type == NVTCP_R2T);
        fn(opaque, &hdr, received->data + at);
        at += hdr.plen;
    }
}

typedef struct Find {
    uint16_t cid;
    struct nv_cqe *cqe;
    uint8_t type;
    unsigned count;
    const uint8_t *pdu;
    const uint8_t *last;
} Find;

static void match_cqe(void *opaque, const struct nvtcp_hdr *hdr, const uint8_t *pdu)
{
    struct nvtcp_capsule_resp resp;
    Find *find = opaque;

    if (hdr->type != NVTCP_CAPSULE_RESP) {
        return;
    }
    memcpy(&resp, pdu, sizeof(resp));
    if (resp.cqe.cid == find->cid) {
        find->count++;
        *find->cqe = resp.cqe;
    }
}

bool wire_find_cqe(const GByteArray *received, uint16_t cid, struct nv_cqe *cqe)
{
    Find find = { .cid = cid, .cqe = cqe };

    wire_each(received, match_cqe, &find);
    g_assert_cmpuint(find.count, <=, 1);
    return find.count == 1;
}

static void match_type(void *opaque, const struct nvtcp_hdr *hdr, const uint8_t *pdu)
{
    Find *find = opaque;

    find->last = pdu;
    if (hdr->type == find->type) {
        find->count++;
        find->pdu = pdu;
    }
}

const uint8_t *wire_find_term(const GByteArray *received)
{
    Find find = { .type = NVTCP_C2H_TERM };

    wire_each(received, match_type, &find);
    g_assert_cmpuint(find.count, <=, 1);
    g_assert_true(find.count == 0 || find.pdu == find.last);
    return find.pdu;
}

unsigned wire_count(const GByteArray *received, uint8_t type)
{
    Find find = { .type = type };

    wire_each(received, match_type, &find);
    return find.count;
}
