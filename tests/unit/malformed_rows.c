/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of malformed inputs and the right PDUs that they are spoiled from.
 * Not here: delivery and checks (test_malformed.c).
 * NVMe/TCP transport specification 1.0, section 3; NVMe base specification 2.0, sections 4.1.2 and
 * 6.
 */
#include <string.h>

#include "malformed.h"

/* ---- Right PDUs */

static void icreq(MalformedContext *c, GByteArray *bad)
{
    (void)c;
    wire_icreq(bad, 0);
}

static void capsule_of(MalformedContext *c, GByteArray *bad, struct nv_sqe sqe)
{
    sqe = wire_sgl(sqe, NV_SGL_TRANSPORT, 0, 0);
    wire_capsule(bad, &c->format, &sqe, BAD_CID, NULL, 0);
}

static void keep_alive(MalformedContext *c, GByteArray *bad)
{
    capsule_of(c, bad, host_cmd(NV_ADMIN_KEEP_ALIVE, 0));
}

static void flush(MalformedContext *c, GByteArray *bad)
{
    capsule_of(c, bad, host_cmd(NV_IO_FLUSH, 1));
}

static void property_get(MalformedContext *c, GByteArray *bad)
{
    capsule_of(c, bad, host_cmd_property_get(NV_REG_VS, false));
}

static void property_set(MalformedContext *c, GByteArray *bad)
{
    capsule_of(c, bad, host_cmd_property_set(NV_REG_CC, false, 0x00460001));
}

static void in_data(MalformedContext *c, GByteArray *bad, struct nv_sqe sqe, uint32_t length)
{
    sqe = wire_sgl(sqe, NV_SGL_TRANSPORT, 0, length);
    wire_capsule(bad, &c->format, &sqe, BAD_CID, NULL, 0);
}

static void identify(MalformedContext *c, GByteArray *bad)
{
    in_data(c, bad, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), NV_IDENTIFY_BYTES);
}

static void read_block(MalformedContext *c, GByteArray *bad)
{
    in_data(c, bad, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), RIG_BLOCK);
}

static void smart_log(MalformedContext *c, GByteArray *bad)
{
    in_data(c, bad, host_cmd_get_log(NV_LOG_SMART, NV_NSID_ALL, 0, 512, 0, false), 512);
}

static void write_in_capsule(MalformedContext *c, GByteArray *bad, uint32_t sgl_length,
                             uint32_t length)
{
    struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, MALFORMED_CAPSULE_LBA, 1, 0),
                                 NV_SGL_OFFSET, 0, sgl_length);

    wire_capsule(bad, &c->format, &sqe, BAD_CID, c->data, length);
}

static void write_capsule(MalformedContext *c, GByteArray *bad)
{
    write_in_capsule(c, bad, RIG_BLOCK, RIG_BLOCK);
}

static void write_capsule_long(MalformedContext *c, GByteArray *bad)
{
    write_in_capsule(c, bad, RIG_BLOCK, RIG_BLOCK + 4);
}

static void write_capsule_short(MalformedContext *c, GByteArray *bad)
{
    write_in_capsule(c, bad, RIG_BLOCK, RIG_BLOCK - 4);
}

/* IOCCSZ is (64 + 16384) / 16: 16384 bytes fit, 16400 do not. */
static void write_capsule_over(MalformedContext *c, GByteArray *bad)
{
    write_in_capsule(c, bad, 16400, 16400);
}

static void h2c(MalformedContext *c, GByteArray *bad, uint32_t from, uint32_t length, bool last)
{
    wire_h2c_data(bad, &c->format, c->cid, c->ttag, c->r2t_offset + from, c->data, length, last);
}

static void h2c_part(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, 0, 4096, false);
}

static void h2c_all(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, 0, c->r2t_length, true);
}

static void h2c_all_but_last_flag(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, 0, c->r2t_length, false);
}

static void h2c_last_early(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, 0, 4096, true);
}

static void h2c_gap(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, 4, 4096, false);
}

static void h2c_overlap(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, 0, 4096, false);
    h2c(c, bad, 4092, 4096, false);
}

static void h2c_past_end(MalformedContext *c, GByteArray *bad)
{
    h2c(c, bad, c->r2t_length - 4096, 4100, true);
}

/* LST_MAXH2CDATA is 131072; the ICResp says the same (test_malformed.c checks). */
static void h2c_over_limit(MalformedContext *c, GByteArray *bad)
{
    g_autofree uint8_t *data = g_malloc0(131076);

    wire_h2c_data(bad, &c->format, c->cid, c->ttag, 0, data, 131076, false);
}

static void terminate_reason(GByteArray *bad, uint16_t fes, uint32_t length)
{
    struct nvtcp_term term = { .hdr = { .type = NVTCP_H2C_TERM, .hlen = 24, .plen = 24 + length },
                               .fes = fes };
    g_autofree uint8_t *header = g_malloc0(length + 1);

    g_byte_array_append(bad, (const uint8_t *)&term, sizeof(term));
    g_byte_array_append(bad, header, length);
}

static void term_bare(MalformedContext *c, GByteArray *bad)
{
    (void)c;
    terminate_reason(bad, NVTCP_FES_SEQUENCE, 0);
}

static void term_full(MalformedContext *c, GByteArray *bad)
{
    (void)c;
    terminate_reason(bad, NVTCP_FES_HEADER, NVTCP_TERM_DATA_MAX);
}

static void term_long(MalformedContext *c, GByteArray *bad)
{
    (void)c;
    terminate_reason(bad, NVTCP_FES_HEADER, NVTCP_TERM_DATA_MAX + 1);
}

static void connect_with(MalformedContext *c, GByteArray *bad, uint16_t qid, uint16_t cntlid,
                         uint32_t length)
{
    struct nvf_connect_data data = rig_connect_data(NULL, cntlid);
    uint16_t entries = qid == 0 ? RIG_ADMIN_ENTRIES : RIG_IO_ENTRIES;
    struct nv_sqe sqe = wire_sgl(host_cmd_connect(qid, entries - 1, 0, 0), NV_SGL_OFFSET, 0,
                                 length);

    wire_capsule(bad, &c->format, &sqe, BAD_CID, &data, length);
}

static void connect_admin(MalformedContext *c, GByteArray *bad)
{
    connect_with(c, bad, 0, NV_CNTLID_DYNAMIC, 1024);
}

static void connect_short(MalformedContext *c, GByteArray *bad)
{
    connect_with(c, bad, 0, NV_CNTLID_DYNAMIC, 1020);
}

/* Queue 2 of the controller that has queue 1. */
static void connect_io(MalformedContext *c, GByteArray *bad)
{
    connect_with(c, bad, 2, c->admin->cntlid, 1024);
}

/* As many commands as the queue has entries, while the media answers none. */
static void too_many(MalformedContext *c, GByteArray *bad)
{
    struct nv_sqe sqe = wire_sgl(host_cmd(NV_IO_FLUSH, 1), NV_SGL_TRANSPORT, 0, 0);

    c->rig->defer = true;
    for (unsigned i = 0; i < RIG_IO_ENTRIES; i++) {
        wire_capsule(bad, &c->format, &sqe, 0x6000 + i, NULL, 0);
    }
}

/* ---- The table */

enum { H = NVTCP_DGST_HEADER, D = NVTCP_DGST_DATA };
/* Offsets in a capsule: fields of the SQE, and of Connect's data behind it. */
#define SQE(field) (8 + (field))
#define DATA(field) (72 + (field))
#define P(at_, value_, width_) { .at = (at_), .value = (value_), .width = (width_) }
/* DW0 of a refused Connect: the offset of the parameter, in the SQE or in the data. */
#define IPO_SQE(offset) .check_dw0 = true, .dw0 = (offset)
#define IPO_DATA(offset) .check_dw0 = true, .dw0 = (1u << 16) | (offset)
#define TERM(fes_, fei_) .answer = ANSWER_TERM, .fes = (fes_), .fei = (fei_)
#define STATUS(sct, sc) .answer = ANSWER_STATUS, .status = (sct) << 8 | (sc)
#define CLOSE .answer = ANSWER_CLOSE

const Malformed malformed[] = {
    { 1, "pfv 1", STAGE_FRESH, 0, icreq, { P(8, 1, 2) }, TERM(6, 8) },
    { 1, "pfv ffff", STAGE_FRESH, 0, icreq, { P(8, 0xffff, 2) }, TERM(6, 8) },
    { 1, "pfv 100", STAGE_FRESH, 0, icreq, { P(9, 1, 1) }, TERM(6, 8) },

    { 2, "hpda 32", STAGE_FRESH, 0, icreq, { P(10, 32, 1) }, TERM(1, 10) },
    { 2, "hpda 255", STAGE_FRESH, 0, icreq, { P(10, 255, 1) }, TERM(1, 10) },
    { 2, "dgst 4", STAGE_FRESH, 0, icreq, { P(11, 4, 1) }, TERM(1, 11) },
    { 2, "dgst 83", STAGE_FRESH, 0, icreq, { P(11, 0x83, 1) }, TERM(1, 11) },
    { 2, "hpda and dgst", STAGE_FRESH, 0, icreq, { P(10, 32, 1), P(11, 4, 1) }, TERM(1, 10) },

    { 3, "flags 1", STAGE_FRESH, 0, icreq, { P(1, 1, 1) }, TERM(1, 1) },
    { 3, "flags 80", STAGE_FRESH, 0, icreq, { P(1, 0x80, 1) }, TERM(1, 1) },
    { 3, "hlen 127", STAGE_FRESH, 0, icreq, { P(2, 127, 1) }, TERM(1, 2) },
    { 3, "hlen 0", STAGE_FRESH, 0, icreq, { P(2, 0, 1) }, TERM(1, 2) },
    { 3, "pdo 4", STAGE_FRESH, 0, icreq, { P(3, 4, 1) }, TERM(1, 3) },
    { 3, "plen 127", STAGE_FRESH, 0, icreq, { P(4, 127, 4) }, TERM(1, 4) },
    { 3, "plen 129", STAGE_FRESH, 0, icreq, { P(4, 129, 4) }, TERM(1, 4) },
    { 3, "plen 0", STAGE_FRESH, 0, icreq, { P(4, 0, 4) }, TERM(1, 4) },
    { 3, "hlen, pdo and plen", STAGE_FRESH, 0, icreq, { P(2, 1, 1), P(3, 4, 1), P(4, 0, 4) },
      TERM(1, 2) },
    { 3, "plen and pfv", STAGE_FRESH, 0, icreq, { P(4, 8, 4), P(8, 1, 2) }, TERM(1, 4) },

    { 4, "capsule first", STAGE_FRESH, 0, keep_alive, { { 0 } }, TERM(2, 0) },
    { 4, "connect first", STAGE_FRESH, 0, connect_admin, { { 0 } }, TERM(2, 0) },
    { 4, "h2cdata first", STAGE_FRESH, 0, h2c_part, { { 0 } }, TERM(2, 0) },

    { 5, "after icreq", STAGE_IC, 0, icreq, { { 0 } }, TERM(2, 0) },
    { 5, "on an admin queue", STAGE_ADMIN, 0, icreq, { { 0 } }, TERM(2, 0) },
    { 5, "on an i/o queue with digests", STAGE_IO, H | D, icreq, { { 0 } }, TERM(2, 0) },

    { 6, "type 08", STAGE_ADMIN, 0, keep_alive, { P(0, 0x08, 1) }, TERM(1, 0) },
    { 6, "type 0a", STAGE_ADMIN, 0, keep_alive, { P(0, 0x0a, 1) }, TERM(1, 0) },
    { 6, "type ff", STAGE_IO, 0, flush, { P(0, 0xff, 1) }, TERM(1, 0) },
    { 6, "icresp", STAGE_IC, 0, icreq, { P(0, 0x01, 1) }, TERM(1, 0) },
    { 6, "c2htermreq", STAGE_ADMIN, 0, term_bare, { P(0, 0x03, 1) }, TERM(1, 0) },
    { 6, "capsuleresp", STAGE_ADMIN, 0, keep_alive, { P(0, 0x05, 1) }, TERM(1, 0) },
    { 6, "c2hdata", STAGE_WRITE, 0, h2c_part, { P(0, 0x07, 1) }, TERM(1, 0) },
    { 6, "r2t", STAGE_IO, 0, flush, { P(0, 0x09, 1) }, TERM(1, 0) },
    { 6, "type and flags", STAGE_IO, 0, flush, { P(0, 0xfe, 1), P(1, 0xff, 1) }, TERM(1, 0) },

    { 7, "reserved flag", STAGE_ADMIN, 0, keep_alive, { P(1, 0x10, 1) }, TERM(1, 1) },
    { 7, "last on a capsule", STAGE_ADMIN, 0, keep_alive, { P(1, 0x04, 1) }, TERM(1, 1) },
    { 7, "success on h2cdata", STAGE_WRITE, 0, h2c_part, { P(1, 0x08, 1) }, TERM(1, 1) },
    { 7, "header digest not agreed", STAGE_ADMIN, 0, keep_alive, { P(1, 0x01, 1) }, TERM(1, 1) },
    { 7, "header digest missing", STAGE_ADMIN, H, keep_alive, { P(1, 0, 1) }, TERM(1, 1) },
    { 7, "data digest not negotiated", STAGE_IO, 0, write_capsule, { P(1, 0x02, 1) }, TERM(1, 1) },
    { 7, "data digest missing", STAGE_IO, D, write_capsule, { P(1, 0, 1) }, TERM(1, 1) },
    { 7, "data digest missing on h2cdata", STAGE_WRITE, D, h2c_part, { P(1, 0, 1) }, TERM(1, 1) },

    { 8, "capsule 71", STAGE_ADMIN, 0, keep_alive, { P(2, 71, 1) }, TERM(1, 2) },
    { 8, "capsule 255", STAGE_ADMIN, 0, keep_alive, { P(2, 255, 1) }, TERM(1, 2) },
    { 8, "capsule 0", STAGE_IO, H, flush, { P(2, 0, 1) }, .keep_digest = true, TERM(1, 2) },
    { 8, "h2cdata 255", STAGE_WRITE, 0, h2c_part, { P(2, 255, 1) }, TERM(1, 2) },
    { 8, "h2cdata 23", STAGE_WRITE, 0, h2c_part, { P(2, 23, 1) }, TERM(1, 2) },

    { 9, "below header", STAGE_IO, 0, write_capsule, { P(3, 68, 1) }, TERM(1, 3) },
    { 9, "below header digest", STAGE_IO, H, write_capsule, { P(3, 72, 1) }, TERM(1, 3) },
    { 9, "0 with data", STAGE_IO, 0, write_capsule, { P(3, 0, 1) }, TERM(1, 3) },
    { 9, "unaligned", STAGE_IO, 0, write_capsule, { P(3, 74, 1) }, TERM(1, 3) },
    { 9, "over plen", STAGE_WRITE, 0, h2c_part, { P(3, 252, 1), P(4, 128, 4) }, TERM(1, 3) },
    { 9, "h2cdata below header", STAGE_WRITE, 0, h2c_part, { P(3, 20, 1) }, TERM(1, 3) },

    { 10, "0", STAGE_ADMIN, 0, keep_alive, { P(4, 0, 4) }, TERM(1, 4) },
    { 10, "8", STAGE_ADMIN, 0, keep_alive, { P(4, 8, 4) }, TERM(1, 4) },
    { 10, "71", STAGE_ADMIN, 0, keep_alive, { P(4, 71, 4) }, TERM(1, 4) },
    { 10, "without room for the digest", STAGE_ADMIN, H, keep_alive, { P(4, 72, 4) }, TERM(1, 4) },
    { 10, "7fffffff", STAGE_IO, 0, write_capsule, { P(4, 0x7fffffff, 4) }, TERM(1, 4) },
    { 10, "ffffffff", STAGE_IO, 0, write_capsule, { P(4, 0xffffffff, 4) }, TERM(1, 4) },
    { 10, "ffffffff on h2cdata", STAGE_WRITE, 0, h2c_part, { P(4, 0xffffffff, 4) }, TERM(1, 4) },

    { 11, "capsule", STAGE_ADMIN, H, keep_alive, { P(72, 0xdeadbeef, 4) },
      .keep_digest = true, .fei_is_digest = true, TERM(3, 0) },
    { 11, "changed field", STAGE_IO, H, flush, { P(SQE(4), 2, 4) },
      .keep_digest = true, .fei_is_digest = true, TERM(3, 0) },
    { 11, "h2cdata", STAGE_WRITE, H | D, h2c_part, { P(12, 4, 4) },
      .keep_digest = true, .fei_is_digest = true, TERM(3, 0) },

    /* The data begin at 72, or behind the header digest at 76; their digest follows. */
    { 12, "capsule", STAGE_IO, D, write_capsule, { P(72 + 512, 0xdeadbeef, 4) }, STATUS(0, 0x22) },
    { 12, "capsule, both digests", STAGE_IO, H | D, write_capsule, { P(76 + 100, 0xdeadbeef, 4) },
      STATUS(0, 0x22) },
    { 12, "h2cdata", STAGE_WRITE, D, h2c_all, { P(24 + 7, 0xdeadbeef, 4) },
      .on_write = true, STATUS(0, 0x22) },

    { 13, "ttag 0", STAGE_WRITE, 0, h2c_part, { P(10, 0, 2) }, TERM(1, 10) },
    { 13, "ttag ffff", STAGE_WRITE, 0, h2c_part, { P(10, 0xffff, 2) }, TERM(1, 10) },
    { 13, "stale", STAGE_STALE, 0, h2c_part, { { 0 } }, TERM(1, 10) },
    { 13, "stale with digests", STAGE_STALE, H | D, h2c_all, { { 0 } }, TERM(1, 10) },
    { 13, "for a read", STAGE_READ, 0, h2c_part, { P(10, 1, 2) }, TERM(1, 10) },
    { 13, "on an admin queue", STAGE_ADMIN, 0, h2c_part, { P(10, 1, 2) }, TERM(1, 10) },
    { 13, "before connect", STAGE_IC, 0, h2c_part, { P(10, 1, 2) }, TERM(1, 10) },
    { 13, "before connect with digests", STAGE_IC, H | D, h2c_part, { P(10, 0, 2) }, TERM(1, 10) },

    { 14, "datal more than plen", STAGE_WRITE, 0, h2c_part, { P(16, 4100, 4) }, TERM(1, 16) },
    { 14, "datal less than plen", STAGE_WRITE, 0, h2c_part, { P(16, 4092, 4) }, TERM(1, 16) },
    { 14, "datal 0", STAGE_WRITE, 0, h2c_part, { P(16, 0, 4) }, TERM(1, 16) },
    { 14, "datal ffffffff", STAGE_WRITE, H, h2c_part, { P(16, 0xffffffff, 4) }, TERM(1, 16) },
    { 14, "over maxh2cdata", STAGE_WRITE, 0, h2c_over_limit, { { 0 } }, TERM(5, 0) },

    { 15, "past the end", STAGE_WRITE, 0, h2c_past_end, { { 0 } }, TERM(4, 0) },
    { 15, "behind the end", STAGE_WRITE, 0, h2c_part, { P(12, MALFORMED_WRITE_BYTES, 4) },
      TERM(4, 0) },
    { 15, "wraps to 0", STAGE_WRITE, 0, h2c_part, { P(12, 0xfffff000, 4) }, TERM(4, 0) },
    { 15, "wraps into the window", STAGE_WRITE, H | D, h2c_part, { P(12, 0xfffffffc, 4) },
      TERM(4, 0) },

    { 16, "gap", STAGE_WRITE, 0, h2c_gap, { { 0 } }, TERM(2, 0) },
    { 16, "overlap", STAGE_WRITE, 0, h2c_overlap, { { 0 } }, TERM(2, 0) },
    { 16, "last early", STAGE_WRITE, 0, h2c_last_early, { { 0 } }, TERM(2, 0) },
    { 16, "last missing", STAGE_WRITE, H | D, h2c_all_but_last_flag, { { 0 } }, TERM(2, 0) },

    { 17, "capsule longer than sgl", STAGE_IO, 0, write_capsule_long, { { 0 } }, STATUS(0, 0x0f) },
    { 17, "capsule shorter than sgl", STAGE_IO, 0, write_capsule_short, { { 0 } },
      STATUS(0, 0x0f) },
    { 17, "bit bucket", STAGE_IO, 0, write_capsule, { P(SQE(39), 0x10, 1) }, STATUS(0, 0x11) },
    { 17, "keyed", STAGE_IO, 0, write_capsule, { P(SQE(39), 0x40, 1) }, STATUS(0, 0x11) },
    { 17, "segment", STAGE_IO, D, write_capsule, { P(SQE(39), 0x20, 1) }, STATUS(0, 0x11) },
    { 17, "address", STAGE_IO, 0, write_capsule, { P(SQE(39), 0x00, 1) }, STATUS(0, 0x11) },
    { 17, "offset 4", STAGE_IO, 0, write_capsule, { P(SQE(24), 4, 4) }, STATUS(0, 0x16) },
    { 17, "offset 1 << 32", STAGE_IO, 0, write_capsule, { P(SQE(28), 1, 4) }, STATUS(0, 0x16) },
    { 17, "over ioccsz", STAGE_IO, 0, write_capsule_over, { { 0 } }, TERM(5, 0) },

    { 18, "on a fresh connection", STAGE_FRESH, 0, term_bare, { { 0 } }, CLOSE },
    { 18, "after icreq", STAGE_IC, 0, term_bare, { { 0 } }, CLOSE },
    { 18, "with a header", STAGE_IO, H | D, term_full, { { 0 } }, CLOSE },
    { 18, "fes 0", STAGE_ADMIN, 0, term_bare, { P(8, 0, 2) }, CLOSE },
    { 18, "fes ffff", STAGE_ADMIN, 0, term_bare, { P(8, 0xffff, 2) }, CLOSE },
    { 18, "plen 23", STAGE_ADMIN, 0, term_bare, { P(4, 23, 4) }, CLOSE },
    { 18, "plen 153", STAGE_ADMIN, 0, term_long, { { 0 } }, CLOSE },
    { 18, "plen ffffffff", STAGE_WRITE, 0, term_bare, { P(4, 0xffffffff, 4) }, CLOSE },

    { 19, "recfmt", STAGE_IC, 0, connect_admin, { P(SQE(40), 1, 2) }, STATUS(1, 0x80) },
    { 19, "data 1020 bytes", STAGE_IC, 0, connect_short, { { 0 } }, STATUS(1, 0x82), IPO_SQE(32) },
    { 19, "empty subnqn", STAGE_IC, 0, connect_admin, { P(DATA(256), 0, 1) },
      STATUS(1, 0x82), IPO_DATA(256) },
    { 19, "unknown subnqn", STAGE_IC, 0, connect_admin, { P(DATA(260), 'X', 1) },
      STATUS(1, 0x82), IPO_DATA(256) },
    { 19, "unterminated subnqn", STAGE_IC, 0, connect_admin, { { DATA(256), 'a', 1, 256 } },
      STATUS(1, 0x82), IPO_DATA(256) },
    { 19, "empty hostnqn", STAGE_IC, 0, connect_admin, { P(DATA(512), 0, 1) },
      STATUS(1, 0x82), IPO_DATA(512) },
    { 19, "unterminated hostnqn", STAGE_IC, 0, connect_admin, { { DATA(512), 'a', 1, 256 } },
      STATUS(1, 0x82), IPO_DATA(512) },
    { 19, "hostid 0", STAGE_IC, 0, connect_admin, { { DATA(0), 0, 1, 16 } },
      STATUS(1, 0x82), IPO_DATA(0) },
    { 19, "sqsize 0", STAGE_IC, 0, connect_admin, { P(SQE(44), 0, 2) },
      STATUS(1, 0x82), IPO_SQE(44) },
    { 19, "sqsize ffff", STAGE_IC, 0, connect_admin, { P(SQE(44), 0xffff, 2) },
      STATUS(1, 0x82), IPO_SQE(44) },
    { 19, "i/o sqsize over mqes", STAGE_IC, 0, connect_io, { P(SQE(44), 128, 2) },
      STATUS(1, 0x82), IPO_SQE(44) },
    { 19, "i/o sqsize 0", STAGE_IC, 0, connect_io, { P(SQE(44), 0, 2) },
      STATUS(1, 0x82), IPO_SQE(44) },
    { 19, "qid over the maximum", STAGE_IC, 0, connect_io, { P(SQE(42), 129, 2) },
      STATUS(1, 0x82), IPO_SQE(42) },
    { 19, "cntlid of an admin queue", STAGE_IC, 0, connect_admin, { P(DATA(16), 77, 2) },
      STATUS(1, 0x82), IPO_DATA(16) },
    { 19, "cntlid of no controller", STAGE_IC, 0, connect_io, { P(DATA(16), 0x7777, 2) },
      STATUS(1, 0x82), IPO_DATA(16) },
    { 19, "other hostnqn on an i/o queue", STAGE_IC, 0, connect_io, { P(DATA(516), 'X', 1) },
      STATUS(1, 0x82), IPO_DATA(512) },
    { 19, "other hostid on an i/o queue", STAGE_IC, 0, connect_io, { P(DATA(0), 1, 1) },
      STATUS(1, 0x82), IPO_DATA(0) },
    { 19, "qid in use", STAGE_IC, 0, connect_io, { P(SQE(42), 1, 2) }, STATUS(0, 0x0c) },
    { 19, "repeated on an admin queue", STAGE_ADMIN, 0, connect_admin, { { 0 } }, STATUS(0, 0x0c) },
    { 19, "repeated on an i/o queue", STAGE_IO, 0, connect_io, { { 0 } }, STATUS(0, 0x0c) },

    { 20, "identify before connect", STAGE_IC, 0, identify, { { 0 } }, STATUS(0, 0x0c) },
    { 20, "read before connect", STAGE_IC, H | D, read_block, { { 0 } }, STATUS(0, 0x0c) },
    { 20, "write before connect", STAGE_IC, D, write_capsule, { { 0 } }, STATUS(0, 0x0c) },
    { 20, "property get before connect", STAGE_IC, 0, property_get, { { 0 } }, STATUS(0, 0x0c) },
    { 20, "log offset past the end", STAGE_ADMIN, 0, smart_log, { P(SQE(48), 516, 4) },
      STATUS(0, 0x02) },
    { 20, "log offset ffffffff00000000", STAGE_ADMIN, 0, smart_log, { P(SQE(52), 0xffffffff, 4) },
      STATUS(0, 0x02) },
    { 20, "log offset unaligned", STAGE_ADMIN, 0, smart_log, { P(SQE(48), 2, 4) },
      STATUS(0, 0x02) },
    { 20, "property offset", STAGE_ADMIN, 0, property_get, { P(SQE(44), 0x1000, 4) },
      STATUS(0, 0x02) },
    { 20, "property size", STAGE_ADMIN, 0, property_get, { P(SQE(40), 1, 1) }, STATUS(0, 0x02) },
    { 20, "property size reserved", STAGE_ADMIN, 0, property_get, { P(SQE(40), 7, 1) },
      STATUS(0, 0x02) },
    { 20, "read-only property", STAGE_ADMIN, 0, property_set, { P(SQE(44), NV_REG_VS, 4) },
      STATUS(0, 0x02) },
    { 20, "more commands than entries", STAGE_IO, 0, too_many, { { 0 } },
      CLOSE, .ends_association = true },
};
const unsigned malformed_count = G_N_ELEMENTS(malformed);
