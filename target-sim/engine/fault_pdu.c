/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spoiling the bytes of one PDU of ours.
 * Not here: which PDU, and everything that is no matter of bytes (fault_conn.c).
 * NVMe/TCP Transport 1.0, 3.6.1 (the parts of a PDU).
 */
#include <string.h>

#include "engine/digest.h"
#include "engine/fault_rule.h"

struct lst_fault_extent lst_fault_extent(const struct nvtcp_hdr *hdr, enum lst_fault_part part)
{
    uint32_t hdgst = hdr->flags & NVTCP_F_HDGST ? NVTCP_DIGEST_BYTES : 0;
    uint32_t ddgst = hdr->flags & NVTCP_F_DDGST ? NVTCP_DIGEST_BYTES : 0;
    /* A TermReq has data without saying where. */
    uint32_t data = hdr->type == NVTCP_C2H_TERM ? hdr->hlen : hdr->pdo;

    switch (part) {
    case LST_FAULT_PART_HEADER:
        return (struct lst_fault_extent) { 0, hdr->hlen };
    case LST_FAULT_PART_HEADER_DIGEST:
        return (struct lst_fault_extent) { hdr->hlen, hdgst };
    case LST_FAULT_PART_DATA:
        return (struct lst_fault_extent) { data, data ? hdr->plen - data - ddgst : 0 };
    case LST_FAULT_PART_DATA_DIGEST:
        return (struct lst_fault_extent) { hdr->plen - ddgst, ddgst };
    }
    g_assert_not_reached();
}

void lst_fault_reseal(uint8_t *pdu)
{
    struct nvtcp_hdr hdr;
    uint32_t digest;

    memcpy(&hdr, pdu, sizeof(hdr));
    if (hdr.flags & NVTCP_F_HDGST) {
        digest = lst_digest(pdu, hdr.hlen);
        memcpy(pdu + hdr.hlen, &digest, sizeof(digest));
    }
}

static void spoil_drop(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu)
{
    (void)fault, (void)hdr;
    g_byte_array_set_size(pdu, 0);
}

static void spoil_duplicate(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu)
{
    guint len = pdu->len;

    (void)fault, (void)hdr;
    g_byte_array_set_size(pdu, 2 * len);
    memcpy(pdu->data + len, pdu->data, len);
}

static void spoil_truncate(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu)
{
    (void)hdr;
    g_byte_array_set_size(pdu, MIN(pdu->len, (guint)fault->value[LST_FAULT_KEY_BYTES]));
}

/* Nothing is resealed: the host sees what a bad cable makes. */
static void spoil_corrupt(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu)
{
    struct lst_fault_extent extent = lst_fault_extent(hdr, fault->value[LST_FAULT_KEY_PART]);
    uint64_t at;
    uint8_t mask;

    at = lst_fault_has(fault, LST_FAULT_KEY_OFFSET) ? fault->value[LST_FAULT_KEY_OFFSET] :
                                                      lst_fault_random(fault, extent.len);
    mask = lst_fault_has(fault, LST_FAULT_KEY_MASK) ? (uint8_t)fault->value[LST_FAULT_KEY_MASK] :
                                                      (uint8_t)(1u << lst_fault_random(fault, 8));
    pdu->data[extent.offset + at] ^= mask;
}

/* The header digest is made anew: the host sees what a wrong target makes. */
static void spoil_set(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu)
{
    const struct lst_fault_field *field = &lst_fault_fields[fault->value[LST_FAULT_KEY_FIELD]];
    uint32_t number = 0, digest;

    memcpy(&number, pdu->data + field->offset, field->size);
    number = lst_fault_has(fault, LST_FAULT_KEY_XOR) ?
                 number ^ (uint32_t)fault->value[LST_FAULT_KEY_XOR] :
                 (uint32_t)fault->value[LST_FAULT_KEY_VALUE];
    memcpy(pdu->data + field->offset, &number, field->size);
    /* Where the digest is does not change with what HLEN and flags say now. */
    if (hdr->flags & NVTCP_F_HDGST) {
        digest = lst_digest(pdu->data, hdr->hlen);
        memcpy(pdu->data + hdr->hlen, &digest, sizeof(digest));
    }
}

void lst_fault_spoil(struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu)
{
    static void (*const spoilers[LST_FAULT_ACTION_COUNT])(
        struct lst_fault *fault, const struct nvtcp_hdr *hdr, GByteArray *pdu) = {
        [LST_FAULT_DROP] = spoil_drop,         [LST_FAULT_DUPLICATE] = spoil_duplicate,
        [LST_FAULT_CORRUPT] = spoil_corrupt,   [LST_FAULT_TRUNCATE] = spoil_truncate,
        [LST_FAULT_SET] = spoil_set,
    };
    uint64_t action = fault->value[LST_FAULT_KEY_ACTION];

    /* What an earlier rule cut has no parts any more. */
    if (spoilers[action] && pdu->len >= hdr->plen) {
        spoilers[action](fault, hdr, pdu);
    }
}
