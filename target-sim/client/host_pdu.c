/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Building and checking of single PDUs, without state.
 * Not here: what a valid PDU means for a command (host_rx.c).
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#include <isa-l/crc.h>
#include <string.h>

#include "client/host_pdu.h"
#include "lockstep/nvme_tcp.h"

uint32_t host_crc32c_add(uint32_t crc, const void *bytes, size_t length)
{
    /* The length is an int there, and our pieces are at most one PDU's. */
    g_assert(length <= G_MAXINT);
    return crc32_iscsi((unsigned char *)bytes, (int)length, crc);
}

uint32_t host_crc32c_end(uint32_t crc)
{
    return ~crc;
}

uint32_t host_crc32c(const void *bytes, size_t length)
{
    return host_crc32c_end(host_crc32c_add(HOST_CRC32C_START, bytes, length));
}

uint32_t host_pdu_data_offset(const HostPduFormat *format, uint32_t hlen)
{
    uint32_t end = hlen + (format->header_digest ? NVTCP_DIGEST_BYTES : 0);

    return (end + format->align - 1) / format->align * format->align;
}

void host_pdu_append(GByteArray *out, const HostPduFormat *format, const void *header,
                     const void *data, uint32_t length)
{
    static const uint8_t zeroes[NVTCP_PDO_MAX];
    struct nvtcp_hdr hdr;
    uint32_t start = out->len;
    uint32_t crc;

    memcpy(&hdr, header, sizeof(hdr));
    hdr.flags |= format->header_digest ? NVTCP_F_HDGST : 0;
    hdr.pdo = 0;
    hdr.plen = hdr.hlen + (format->header_digest ? NVTCP_DIGEST_BYTES : 0);
    if (length > 0) {
        hdr.flags |= format->data_digest ? NVTCP_F_DDGST : 0;
        hdr.pdo = host_pdu_data_offset(format, hdr.hlen);
        hdr.plen = hdr.pdo + length + (format->data_digest ? NVTCP_DIGEST_BYTES : 0);
    }

    g_byte_array_append(out, (const uint8_t *)&hdr, sizeof(hdr));
    g_byte_array_append(out, (const uint8_t *)header + sizeof(hdr), hdr.hlen - sizeof(hdr));
    if (format->header_digest) {
        crc = host_crc32c(out->data + start, hdr.hlen);
        g_byte_array_append(out, (const uint8_t *)&crc, sizeof(crc));
    }
    if (length > 0) {
        g_byte_array_append(out, zeroes, hdr.pdo - (out->len - start));
        g_byte_array_append(out, data, length);
        if (format->data_digest) {
            crc = host_crc32c(data, length);
            g_byte_array_append(out, (const uint8_t *)&crc, sizeof(crc));
        }
    }
    g_assert(out->len - start == hdr.plen);
}

void host_pdu_reseal(uint8_t *pdu)
{
    struct nvtcp_hdr hdr;
    uint32_t crc;

    memcpy(&hdr, pdu, sizeof(hdr));
    if (hdr.flags & NVTCP_F_HDGST) {
        crc = host_crc32c(pdu, hdr.hlen);
        memcpy(pdu + hdr.hlen, &crc, sizeof(crc));
    }
}

/* What a controller may send; types that are not here have hlen 0. */
typedef struct PduRule {
    uint8_t hlen;
    uint8_t flags;              /* allowed besides the digest flags */
    bool digests;               /* carries digests if negotiated */
    bool data;
} PduRule;

static const PduRule rules[HOST_PDU_TYPES] = {
    [NVTCP_IC_RESP] = { .hlen = sizeof(struct nvtcp_ic_resp) },
    [NVTCP_C2H_TERM] = { .hlen = sizeof(struct nvtcp_term) },
    [NVTCP_CAPSULE_RESP] = { .hlen = sizeof(struct nvtcp_capsule_resp), .digests = true },
    [NVTCP_C2H_DATA] = { .hlen = sizeof(struct nvtcp_data), .digests = true, .data = true,
                         .flags = NVTCP_F_LAST | NVTCP_F_SUCCESS },
    [NVTCP_R2T] = { .hlen = sizeof(struct nvtcp_r2t), .digests = true },
};

static HostPduVerdict refuse(uint16_t fes, uint32_t fei, const char *reason)
{
    return (HostPduVerdict){ .fes = fes, .fei = fei, .reason = reason };
}

static HostPduVerdict check_plen(const PduRule *rule, const struct nvtcp_hdr *hdr,
                                 const HostPduFormat *format)
{
    const uint32_t at = offsetof(struct nvtcp_hdr, plen);
    uint32_t header = hdr->hlen + (rule->digests && format->header_digest ? NVTCP_DIGEST_BYTES : 0);

    if (hdr->type == NVTCP_C2H_TERM) {
        if (hdr->plen < NVTCP_TERM_PLEN_MIN || hdr->plen > NVTCP_TERM_PLEN_MAX) {
            return refuse(NVTCP_FES_HEADER, at, "PLEN of C2HTermReq");
        }
    } else if (rule->data) {
        /* The exact length is compared with DATAL once that has come. */
        if (hdr->plen <= hdr->pdo + (hdr->flags & NVTCP_F_DDGST ? NVTCP_DIGEST_BYTES : 0u)) {
            return refuse(NVTCP_FES_HEADER, at, "PLEN leaves no room for data");
        }
    } else if (hdr->plen != header) {
        return refuse(NVTCP_FES_HEADER, at, "PLEN is not the header's length");
    }
    return (HostPduVerdict){ 0 };
}

HostPduVerdict host_pdu_check_common(const uint8_t header[8], const HostPduFormat *format,
                                     bool connected)
{
    const PduRule *rule;
    struct nvtcp_hdr hdr;
    uint8_t digests = 0;
    uint32_t end;

    memcpy(&hdr, header, sizeof(hdr));
    if (hdr.type >= HOST_PDU_TYPES || rules[hdr.type].hlen == 0) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_hdr, type), "PDU type");
    }
    rule = &rules[hdr.type];
    if (hdr.type != NVTCP_C2H_TERM && connected != (hdr.type != NVTCP_IC_RESP)) {
        return refuse(NVTCP_FES_SEQUENCE, 0, "ICResp out of sequence");
    }

    if (rule->digests) {
        digests = (format->header_digest ? NVTCP_F_HDGST : 0) |
                  (rule->data && format->data_digest ? NVTCP_F_DDGST : 0);
    }
    if ((hdr.flags & ~rule->flags) != digests ||
        ((hdr.flags & NVTCP_F_SUCCESS) && !(hdr.flags & NVTCP_F_LAST))) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_hdr, flags), "flags");
    }
    if (hdr.hlen != rule->hlen) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_hdr, hlen), "HLEN");
    }
    end = hdr.hlen + (digests & NVTCP_F_HDGST ? NVTCP_DIGEST_BYTES : 0);
    if (rule->data ? hdr.pdo < end || hdr.pdo % format->align != 0 : hdr.pdo != 0) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_hdr, pdo), "PDO");
    }
    return check_plen(rule, &hdr, format);
}

HostPduVerdict host_pdu_check_icresp(const uint8_t *pdu, bool header_digest, bool data_digest)
{
    struct nvtcp_ic_resp resp;
    uint8_t asked = (header_digest ? NVTCP_DGST_HEADER : 0) | (data_digest ? NVTCP_DGST_DATA : 0);

    memcpy(&resp, pdu, sizeof(resp));
    if (resp.pfv != NVTCP_PFV) {
        return refuse(NVTCP_FES_UNSUPPORTED, offsetof(struct nvtcp_ic_resp, pfv), "PFV");
    }
    if (resp.cpda > NVTCP_PDA_MAX) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_ic_resp, cpda), "CPDA");
    }
    if (resp.dgst != asked) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_ic_resp, dgst),
                      "digests are not those asked for");
    }
    if (resp.maxh2cdata < NVTCP_MAXH2CDATA_MIN || resp.maxh2cdata % 4 != 0) {
        return refuse(NVTCP_FES_HEADER, offsetof(struct nvtcp_ic_resp, maxh2cdata), "MAXH2CDATA");
    }
    return (HostPduVerdict){ 0 };
}
