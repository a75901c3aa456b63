/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is this PDU header acceptable here, and where do its data lie? Pure functions: the same
 * arguments, the same verdict.
 * Not here: receiving bytes (conn_rx.c), what a capsule's command means (req.c).
 * NVMe/TCP Transport 1.0, chapter 3; disagreements between implementations are settled in
 * choices.h.
 */
#include "engine/pdu.h"

#include <stddef.h>

/* What a host may send. Every other type is a bad byte 0. */
static const struct pdu_shape {
    bool known;
    uint8_t hlen;
    uint8_t flags;           /* that may be set at all */
    bool fixed;              /* PDO 0, PLEN == HLEN, no digests */
} shapes[] = {
    [NVTCP_IC_REQ] = { true, sizeof(struct nvtcp_ic_req), 0, true },
    [NVTCP_H2C_TERM] = { true, sizeof(struct nvtcp_term), 0, true },
    [NVTCP_CAPSULE_CMD] = { true, sizeof(struct nvtcp_capsule_cmd), NVTCP_F_HDGST | NVTCP_F_DDGST,
                            false },
    [NVTCP_H2C_DATA] = { true, sizeof(struct nvtcp_data),
                         NVTCP_F_HDGST | NVTCP_F_DDGST | NVTCP_F_LAST, false },
};

static const struct lst_verdict choices[LST_PDU_CHOICE_COUNT] = {
#define LST_CHOICE_VERDICT(name, fes, fei, why) \
    [LST_CHOICE_##name] = { (fes) ? LST_TERMINATE : LST_DROP, fes, fei, why },
    LST_PDU_CHOICES(LST_CHOICE_VERDICT)
#undef LST_CHOICE_VERDICT
};

static const struct lst_verdict accepted = { LST_ACCEPT, 0, 0, NULL };

static struct lst_verdict bad_field(uint32_t offset, const char *why)
{
    return (struct lst_verdict) { LST_TERMINATE, NVTCP_FES_HEADER, offset, why };
}

struct lst_verdict lst_pdu_choice(enum lst_pdu_choice choice)
{
    return choices[choice];
}

/*
 * DDGST on a PDU without data says nothing: some hosts set it on every PDU, some only where there
 * are data.
 */
static bool flags_ok(const struct lst_pdu_context *ctx, const struct nvtcp_hdr *hdr,
                     const struct pdu_shape *shape)
{
    bool hdgst = hdr->flags & NVTCP_F_HDGST;
    bool ddgst = hdr->flags & NVTCP_F_DDGST;
    bool no_data;

    if (hdr->flags & ~shape->flags) {
        return false;
    }
    if (shape->fixed) {
        return true;
    }
    if (hdgst != ctx->header_digest) {
        return false;
    }
    if (ddgst && !ctx->data_digest) {
        return false;
    }
    no_data = hdr->pdo == 0 ||
              hdr->plen <= (uint32_t)shape->hlen + (hdgst ? NVTCP_DIGEST_BYTES : 0);
    return ddgst || !ctx->data_digest || no_data;
}

static struct lst_verdict check_fixed(const struct nvtcp_hdr *hdr)
{
    if (hdr->pdo != 0) {
        return bad_field(offsetof(struct nvtcp_hdr, pdo), "PDO is not 0");
    }
    if (hdr->plen != hdr->hlen) {
        return bad_field(offsetof(struct nvtcp_hdr, plen), "PLEN is not HLEN");
    }
    return accepted;
}

/*
 * FEI names the lowest bad byte, so PDO (byte 3) is judged first by itself, then PLEN (byte 4) by
 * itself, then the one against the other, which is PDO's fault. A PDU without data may point at its
 * own end, which CPDA does not align.
 */
static struct lst_verdict check_extent(const struct lst_pdu_context *ctx,
                                       const struct nvtcp_hdr *hdr, struct lst_pdu_layout *layout)
{
    uint32_t head = hdr->hlen + layout->hdgst_len;
    uint32_t align = (ctx->cpda + 1u) * 4;
    bool empty = hdr->pdo == head && hdr->plen == head;

    if (hdr->pdo != 0 && (hdr->pdo < head || (hdr->pdo % align != 0 && !empty))) {
        return bad_field(offsetof(struct nvtcp_hdr, pdo), "PDO is inside the header or unaligned");
    }
    if (hdr->plen < head || hdr->plen > LST_PLEN_MAX) {
        return bad_field(offsetof(struct nvtcp_hdr, plen), "PLEN is impossible");
    }
    if (hdr->plen == head && (hdr->pdo == 0 || hdr->pdo == head)) {
        return accepted;
    }
    if (hdr->pdo == 0 || hdr->pdo > hdr->plen) {
        return bad_field(offsetof(struct nvtcp_hdr, pdo), "PDO is missing or past the end");
    }
    layout->ddgst_len = ctx->data_digest ? NVTCP_DIGEST_BYTES : 0;
    if (hdr->plen < hdr->pdo + layout->ddgst_len) {
        return bad_field(offsetof(struct nvtcp_hdr, plen), "PLEN has no room for the data digest");
    }
    layout->pad_len = hdr->pdo - head;
    layout->data_len = hdr->plen - hdr->pdo - layout->ddgst_len;
    return accepted;
}

struct lst_verdict lst_pdu_check_common(const struct lst_pdu_context *ctx,
                                        const struct nvtcp_hdr *hdr, struct lst_pdu_layout *layout)
{
    const struct pdu_shape *shape;
    struct lst_verdict verdict;

    *layout = (struct lst_pdu_layout) { .hlen = hdr->hlen };
    if (hdr->type >= sizeof(shapes) / sizeof(shapes[0]) || !shapes[hdr->type].known) {
        return bad_field(offsetof(struct nvtcp_hdr, type), "no host may send this type");
    }
    shape = &shapes[hdr->type];
    if (hdr->type == NVTCP_H2C_TERM) {
        return (struct lst_verdict) { LST_DROP, 0, 0, "the host sent a TermReq" };
    }
    if ((hdr->type == NVTCP_IC_REQ) == ctx->ic_done) {
        return lst_pdu_choice(ctx->ic_done ? LST_CHOICE_SECOND_IC : LST_CHOICE_FIRST_NOT_IC);
    }
    if (!flags_ok(ctx, hdr, shape)) {
        return bad_field(offsetof(struct nvtcp_hdr, flags),
                         "illegal flags, or digests other than negotiated");
    }
    if (hdr->hlen != shape->hlen) {
        return bad_field(offsetof(struct nvtcp_hdr, hlen), "HLEN is not that of the type");
    }
    if (shape->fixed) {
        return check_fixed(hdr);
    }
    layout->hdgst_len = ctx->header_digest ? NVTCP_DIGEST_BYTES : 0;
    verdict = check_extent(ctx, hdr, layout);
    if (verdict.outcome == LST_ACCEPT && hdr->type == NVTCP_CAPSULE_CMD &&
        layout->data_len > ctx->inline_max) {
        return lst_pdu_choice(LST_CHOICE_CAPSULE_LIMIT);
    }
    return verdict;
}

struct lst_verdict lst_pdu_check_header_digest(uint32_t computed, uint32_t received)
{
    if (computed == received) {
        return accepted;
    }
    return (struct lst_verdict) { LST_TERMINATE, NVTCP_FES_HDGST, received, "header digest" };
}

struct lst_verdict lst_pdu_check_ic_req(const struct nvtcp_ic_req *ic)
{
    if (ic->pfv != NVTCP_PFV) {
        return lst_pdu_choice(LST_CHOICE_PFV);
    }
    if (ic->hpda > NVTCP_PDA_MAX) {
        return bad_field(offsetof(struct nvtcp_ic_req, hpda), "HPDA over 31");
    }
    if (ic->dgst & ~(NVTCP_DGST_HEADER | NVTCP_DGST_DATA)) {
        return bad_field(offsetof(struct nvtcp_ic_req, dgst), "reserved digest bits");
    }
    return accepted;
}

struct lst_verdict lst_pdu_check_h2c_data(const struct lst_pdu_context *ctx,
                                          const struct nvtcp_data *pdu,
                                          const struct lst_pdu_window *window, uint32_t data_len)
{
    /* 64 bits: the sums must not wrap. */
    uint64_t start = pdu->datao;
    uint64_t end = start + pdu->datal;
    uint64_t window_end = (uint64_t)window->start + window->length;
    bool last = pdu->hdr.flags & NVTCP_F_LAST;

    if (!window->valid) {
        return lst_pdu_choice(LST_CHOICE_BAD_TTAG);
    }
    if (pdu->cccid != window->cccid) {
        return lst_pdu_choice(LST_CHOICE_BAD_CCCID);
    }
    if (pdu->datal == 0 || pdu->datal != data_len) {
        return bad_field(offsetof(struct nvtcp_data, datal), "DATAL is 0 or not what PLEN says");
    }
    if (pdu->datal > ctx->maxh2cdata) {
        return (struct lst_verdict) { LST_TERMINATE, NVTCP_FES_LIMIT, 0, "DATAL over MAXH2CDATA" };
    }
    if (start < window->start || end > window_end) {
        return (struct lst_verdict) { LST_TERMINATE, NVTCP_FES_RANGE, 0, "data outside the R2T" };
    }
    if (start != window->next) {
        return lst_pdu_choice(LST_CHOICE_R2T_ORDER);
    }
    if (last != (end == window_end)) {
        return lst_pdu_choice(LST_CHOICE_R2T_LAST);
    }
    return accepted;
}
