/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire headers against the published layout, and the engine's PDU validator row by row.
 * Not here: what a connection does with a verdict (test_malformed.c).
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#include <string.h>

#include "client/host_pdu.h"
#include "engine/digest.h"
#include "engine/pdu.h"
#include "lockstep/nvme_fabrics.h"

/* Offsets and sizes as the specifications print them, apart from the asserts in the headers. */
static void test_wire_offsets_are_those_of_the_standard(void)
{
    static const struct {
        size_t got, expected;
    } rows[] = {
        { offsetof(struct nvtcp_hdr, type), 0 },
        { offsetof(struct nvtcp_hdr, flags), 1 },
        { offsetof(struct nvtcp_hdr, hlen), 2 },
        { offsetof(struct nvtcp_hdr, pdo), 3 },
        { offsetof(struct nvtcp_hdr, plen), 4 },
        { sizeof(struct nvtcp_hdr), 8 },
        { offsetof(struct nvtcp_ic_req, pfv), 8 },
        { offsetof(struct nvtcp_ic_req, hpda), 10 },
        { offsetof(struct nvtcp_ic_req, dgst), 11 },
        { offsetof(struct nvtcp_ic_req, maxr2t), 12 },
        { sizeof(struct nvtcp_ic_req), 128 },
        { offsetof(struct nvtcp_ic_resp, cpda), 10 },
        { offsetof(struct nvtcp_ic_resp, maxh2cdata), 12 },
        { sizeof(struct nvtcp_ic_resp), 128 },
        { offsetof(struct nvtcp_term, fes), 8 },
        { offsetof(struct nvtcp_term, fei), 10 },
        { sizeof(struct nvtcp_term), 24 },
        { sizeof(struct nvtcp_capsule_cmd), 72 },
        { sizeof(struct nvtcp_capsule_resp), 24 },
        { offsetof(struct nvtcp_data, cccid), 8 },
        { offsetof(struct nvtcp_data, ttag), 10 },
        { offsetof(struct nvtcp_data, datao), 12 },
        { offsetof(struct nvtcp_data, datal), 16 },
        { sizeof(struct nvtcp_data), 24 },
        { offsetof(struct nvtcp_r2t, r2to), 12 },
        { offsetof(struct nvtcp_r2t, r2tl), 16 },
        { sizeof(struct nvtcp_r2t), 24 },
        { sizeof(struct nv_sqe), 64 },
        { sizeof(struct nv_cqe), 16 },
        { offsetof(struct nvf_connect_sqe, recfmt), 40 },
        { offsetof(struct nvf_connect_sqe, kato), 48 },
        { offsetof(struct nvf_connect_data, cntlid), 16 },
        { offsetof(struct nvf_connect_data, hostnqn), 512 },
        { sizeof(struct nvf_connect_data), 1024 },
        { sizeof(struct nv_id_ctrl), 4096 },
        { offsetof(struct nv_id_ctrl, mdts), 77 },
        { offsetof(struct nv_id_ctrl, ver), 80 },
        { offsetof(struct nv_id_ctrl, oaes), 92 },
        { offsetof(struct nv_id_ctrl, ctratt), 96 },
        { offsetof(struct nv_id_ctrl, acl), 258 },
        { offsetof(struct nv_id_ctrl, aerl), 259 },
        { offsetof(struct nv_id_ctrl, lpa), 261 },
        { offsetof(struct nv_id_ctrl, elpe), 262 },
        { offsetof(struct nv_id_ctrl, kas), 320 },
        { offsetof(struct nv_id_ctrl, anacap), 343 },
        { offsetof(struct nv_id_ctrl, anagrpmax), 344 },
        { offsetof(struct nv_id_ctrl, maxcmd), 514 },
        { offsetof(struct nv_id_ctrl, oncs), 520 },
        { offsetof(struct nv_id_ctrl, sgls), 536 },
        { offsetof(struct nv_id_ctrl, mnan), 540 },
        { offsetof(struct nv_id_ctrl, ioccsz), 1792 },
        { offsetof(struct nv_id_ctrl, icdoff), 1800 },
        { offsetof(struct nv_id_ctrl, msdbd), 1803 },
        { offsetof(struct nv_id_ctrl, dctype), 1806 },
        { offsetof(struct nv_id_ns, nsfeat), 24 },
        { offsetof(struct nv_id_ns, nguid), 104 },
        { offsetof(struct nv_id_ns, eui64), 120 },
        { offsetof(struct nv_id_ns, nsattr), 99 },
        { offsetof(struct nvf_discovery_header, numrec), 8 },
        { offsetof(struct nvf_discovery_header, recfmt), 16 },
        { offsetof(struct nvf_discovery_entry, eflags), 10 },
        { offsetof(struct nv_log_ana_group, state), 16 },
        { sizeof(struct nv_log_ana_group), 32 },
        { sizeof(struct nv_log_ana_header), 16 },
        { sizeof(struct nv_log_error), 64 },
        { sizeof(struct nv_log_smart), 512 },
        { offsetof(struct nv_log_smart, temp_sensor), 200 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("row %u", i);
        g_assert_cmpuint(rows[i].got, ==, rows[i].expected);
    }
}

/*
 * RFC 3720, appendix B.4, as its bytes read in little-endian order; and the check value of CRC-32C.
 */
static void test_digest_matches_published_vectors(void)
{
    uint8_t bytes[32];

    memset(bytes, 0, sizeof(bytes));
    g_assert_cmphex(host_crc32c(bytes, 32), ==, 0x8a9136aa);
    g_assert_cmphex(lst_digest(bytes, 32), ==, 0x8a9136aa);
    memset(bytes, 0xff, sizeof(bytes));
    g_assert_cmphex(host_crc32c(bytes, 32), ==, 0x62a8ab43);
    g_assert_cmphex(lst_digest(bytes, 32), ==, 0x62a8ab43);
    for (unsigned i = 0; i < 32; i++) {
        bytes[i] = i;
    }
    g_assert_cmphex(host_crc32c(bytes, 32), ==, 0x46dd794e);
    g_assert_cmphex(lst_digest(bytes, 32), ==, 0x46dd794e);
    g_assert_cmphex(host_crc32c("123456789", 9), ==, 0xe3069283);
    g_assert_cmphex(
        host_crc32c_end(host_crc32c_add(host_crc32c_add(HOST_CRC32C_START, "1234", 4), "56789", 5)),
        ==, 0xe3069283);
}

enum { H = NVTCP_F_HDGST, D = NVTCP_F_DDGST, L = NVTCP_F_LAST, INLINE = 16384 };

typedef struct Row {
    bool ic_done, hdgst, ddgst;
    struct nvtcp_hdr hdr;
    uint16_t fes;               /* 0: accepted; DROP: closed */
    uint32_t fei;
    uint32_t pad, data, digest; /* of the layout, if accepted */
} Row;
enum { DROP = 0xffff };

static void check(const Row *row)
{
    struct lst_pdu_context ctx = {
        .ic_done = row->ic_done, .header_digest = row->hdgst, .data_digest = row->ddgst,
        .inline_max = INLINE, .maxh2cdata = 131072,
    };
    struct lst_pdu_layout layout;
    struct lst_verdict verdict = lst_pdu_check_common(&ctx, &row->hdr, &layout);

    if (row->fes == 0) {
        g_assert_cmpint(verdict.outcome, ==, LST_ACCEPT);
        g_assert_cmpuint(layout.hlen, ==, row->hdr.hlen);
        g_assert_cmpuint(layout.hdgst_len, ==, row->hdr.flags & H ? 4 : 0);
        g_assert_cmpuint(layout.pad_len, ==, row->pad);
        g_assert_cmpuint(layout.data_len, ==, row->data);
        g_assert_cmpuint(layout.ddgst_len, ==, row->digest);
    } else if (row->fes == DROP) {
        g_assert_cmpint(verdict.outcome, ==, LST_DROP);
    } else {
        g_assert_cmpint(verdict.outcome, ==, LST_TERMINATE);
        g_assert_cmpuint(verdict.fes, ==, row->fes);
        g_assert_cmpuint(verdict.fei, ==, row->fei);
        g_assert_nonnull(verdict.why);
    }
}

#define ROWS(...)                                                                                  \
    do {                                                                                           \
        static const Row rows_[] = { __VA_ARGS__ };                                                \
        check_all(rows_, G_N_ELEMENTS(rows_));                                                     \
    } while (0)

static void check_all(const Row *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        g_test_message("row %u", i);
        check(&rows[i]);
    }
}

static void test_pdu_right_headers_are_accepted(void)
{
    ROWS({ false, false, false, { 0, 0, 128, 0, 128 }, 0, 0, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 0, 72 }, 0, 0, 0, 0, 0 },
         { true, true, false, { 4, H, 72, 0, 76 }, 0, 0, 0, 0, 0 },
         { true, true, true, { 4, H, 72, 0, 76 }, 0, 0, 0, 0, 0 },
         { true, true, true, { 4, H | D, 72, 0, 76 }, 0, 0, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 72, 72 + 512 }, 0, 0, 0, 512, 0 },
         { true, true, false, { 4, H, 72, 76, 76 + 512 }, 0, 0, 0, 512, 0 },
         { true, false, true, { 4, D, 72, 72, 72 + 512 + 4 }, 0, 0, 0, 512, 4 },
         { true, true, true, { 4, H | D, 72, 76, 76 + 512 + 4 }, 0, 0, 0, 512, 4 },
         { true, true, true, { 4, H | D, 72, 128, 128 + 1024 + 4 }, 0, 0, 52, 1024, 4 },
         { true, false, false, { 4, 0, 72, 72, 72 + INLINE }, 0, 0, 0, INLINE, 0 },
         { true, false, false, { 6, 0, 24, 24, 24 + 4096 }, 0, 0, 0, 4096, 0 },
         { true, false, false, { 6, L, 24, 24, 24 + 131072 }, 0, 0, 0, 131072, 0 },
         { true, true, true, { 6, L | H | D, 24, 28, 28 + 4096 + 4 }, 0, 0, 0, 4096, 4 },
         { true, false, false, { 6, L, 24, 252, 252 + 4 }, 0, 0, 228, 4, 0 });
}

static void test_pdu_type_is_the_first_thing_wrong(void)
{
    for (unsigned type = 0; type < 256; type++) {
        bool host = type == 0 || type == 2 || type == 4 || type == 6;
        Row row = { false, false, false, { type, 0xff, 0xff, 0xff, 0xffffffff }, 1, 0, 0, 0, 0 };

        if (!host) {
            check(&row);
            row.ic_done = true;
            check(&row);
        }
    }
}

static void test_pdu_order_of_icreq(void)
{
    ROWS({ false, false, false, { 4, 0, 72, 0, 72 }, 2, 0, 0, 0, 0 },
         { false, false, false, { 6, 0, 24, 24, 28 }, 2, 0, 0, 0, 0 },
         { true, false, false, { 0, 0, 128, 0, 128 }, 2, 0, 0, 0, 0 });
}

static void test_pdu_term_is_dropped_whatever_it_says(void)
{
    ROWS({ false, false, false, { 2, 0, 24, 0, 24 }, DROP, 0, 0, 0, 0 },
         { true, false, false, { 2, 0, 24, 0, 152 }, DROP, 0, 0, 0, 0 },
         { true, true, true, { 2, 0, 24, 0, 23 }, DROP, 0, 0, 0, 0 },
         { true, true, true, { 2, 0xff, 1, 3, 0xffffffff }, DROP, 0, 0, 0, 0 });
}

static void test_pdu_flags_every_value(void)
{
    for (unsigned digests = 0; digests < 4; digests++) {
        for (unsigned flags = 0; flags < 256; flags++) {
            uint32_t pdo = 72 + (digests & H ? 4 : 0);
            uint32_t plen = pdo + 512 + (digests & D ? 4 : 0);
            /* With data, both digest flags are exactly those negotiated. */
            bool capsule_ok = flags == digests;
            bool data_ok = (flags & ~(unsigned)L) == digests;
            Row capsule = {
                true, digests & H, digests & D, { 4, flags, 72, pdo, plen }, capsule_ok ? 0 : 1,
                1,    0,           512,         digests & D ? 4 : 0
            };
            Row data = { true,
                         digests & H,
                         digests & D,
                         { 6, flags, 24, pdo - 48, plen - 48 },
                         data_ok ? 0 : 1,
                         1,
                         0,
                         512,
                         digests & D ? 4 : 0 };

            check(&capsule);
            check(&data);
        }
    }
}

static void test_pdu_hlen_every_value(void)
{
    static const struct {
        uint8_t type, hlen;
    } types[] = { { 0, 128 }, { 4, 72 }, { 6, 24 } };

    for (unsigned t = 0; t < G_N_ELEMENTS(types); t++) {
        for (unsigned hlen = 0; hlen < 256; hlen++) {
            Row row = {
                types[t].type != 0, false, false, { types[t].type, 0, hlen, 0, hlen }, 1, 2, 0, 0, 0
            };

            if (hlen != types[t].hlen) {
                check(&row);
            }
        }
    }
}

/*
 * Capsule of 512 bytes of data: PDO may be any multiple of 4 behind the header that leaves PLEN
 * right.
 */
static void test_pdu_pdo_every_value(void)
{
    for (unsigned hdgst = 0; hdgst < 2; hdgst++) {
        for (unsigned pdo = 0; pdo < 256; pdo++) {
            bool ok = pdo % 4 == 0 && pdo >= 72 + 4 * hdgst;
            Row row = { true, hdgst, false, { 4, hdgst ? H : 0, 72, pdo, 600 }, ok ? 0 : 1, 3,
                        pdo - 72 - 4 * hdgst, 600 - pdo, 0 };

            check(&row);
        }
    }
}

static void test_pdu_plen_limits(void)
{
    ROWS({ true, false, false, { 4, 0, 72, 0, 71 }, 1, 4, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 0, 0 }, 1, 4, 0, 0, 0 },
         { true, true, false, { 4, H, 72, 0, 72 }, 1, 4, 0, 0, 0 },
         { true, true, false, { 4, H, 72, 0, 75 }, 1, 4, 0, 0, 0 },
         { true, false, true, { 4, D, 72, 72, 72 + 3 }, 1, 4, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 72, 0x7fffffff }, 1, 4, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 72, 0xffffffff }, 1, 4, 0, 0, 0 },
         { true, false, false, { 6, 0, 24, 24, 0xffffffff }, 1, 4, 0, 0, 0 },
         { true, true, true, { 6, H | D, 24, 28, 0xffffffff }, 1, 4, 0, 0, 0 },
         { false, false, false, { 0, 0, 128, 0, 127 }, 1, 4, 0, 0, 0 },
         { false, false, false, { 0, 0, 128, 0, 0xffffffff }, 1, 4, 0, 0, 0 });
}

/* FEI names the lowest bad byte, whatever else is wrong behind it. */
static void test_pdu_lowest_bad_byte_wins(void)
{
    ROWS({ true, false, false, { 4, 0x10, 1, 3, 0 }, 1, 1, 0, 0, 0 },
         { true, false, false, { 4, 0, 1, 3, 0 }, 1, 2, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 3, 0 }, 1, 3, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 68, 71 }, 1, 3, 0, 0, 0 },
         { true, false, false, { 4, 0, 72, 74, 0xffffffff }, 1, 3, 0, 0, 0 },
         { true, true, false, { 6, H, 24, 24, 0xffffffff }, 1, 3, 0, 0, 0 },
         { false, false, false, { 0, 0, 128, 4, 0 }, 1, 3, 0, 0, 0 });
}

static void test_pdu_capsule_over_the_queues_limit(void)
{
    ROWS({ true, false, false, { 4, 0, 72, 72, 72 + INLINE + 4 }, 5, 0, 0, 0, 0 },
         { true, true, true, { 4, H | D, 72, 76, 76 + INLINE + 16 + 4 }, 5, 0, 0, 0, 0 });
}

static void test_pdu_icreq_fields_every_value(void)
{
    for (unsigned value = 0; value < 256; value++) {
        struct nvtcp_ic_req req = { .hdr = { 0, 0, 128, 0, 128 } };
        struct lst_verdict verdict;

        req.hpda = value;
        verdict = lst_pdu_check_ic_req(&req);
        g_assert_cmpint(verdict.outcome, ==, value <= 31 ? LST_ACCEPT : LST_TERMINATE);
        g_assert_true(value <= 31 || (verdict.fes == 1 && verdict.fei == 10));

        req.hpda = 0;
        req.dgst = value;
        verdict = lst_pdu_check_ic_req(&req);
        g_assert_cmpint(verdict.outcome, ==, value <= 3 ? LST_ACCEPT : LST_TERMINATE);
        g_assert_true(value <= 3 || (verdict.fes == 1 && verdict.fei == 11));

        req.hpda = 32;
        req.pfv = value;
        verdict = lst_pdu_check_ic_req(&req);
        g_assert_cmpuint(verdict.fes, ==, value ? 6 : 1);
        g_assert_cmpuint(verdict.fei, ==, value ? 8 : 10);
    }
}

typedef struct DataRow {
    uint16_t cccid;
    uint32_t datao, datal, data_len;
    bool last;
    uint16_t fes;
    uint32_t fei;
} DataRow;

/* One R2T for bytes 8192..24575 of command 7, of which 4096 have come. */
static void test_pdu_h2cdata_window(void)
{
    static const struct lst_pdu_context ctx = { .ic_done = true,
                                                .inline_max = INLINE,
                                                .maxh2cdata = 8192 };
    static const struct lst_pdu_window window = { true, 7, 8192, 16384, 12288 };
    static const DataRow rows[] = {
        { 7, 12288, 4096, 4096, false, 0, 0 },
        { 7, 12288, 8192, 8192, false, 0, 0 },
        { 6, 12288, 4096, 4096, false, 1, 8 },
        { 7, 12288, 0, 0, false, 1, 16 },
        { 7, 12288, 4096, 4092, false, 1, 16 },
        { 7, 12288, 4092, 4096, false, 1, 16 },
        { 7, 12288, 8196, 8196, false, 5, 0 },
        { 7, 4096, 4096, 4096, false, 4, 0 },           /* before the window */
        { 7, 20480, 8192, 8192, true, 4, 0 },           /* past its end */
        { 7, 24576, 4096, 4096, true, 4, 0 },           /* behind it */
        { 7, 0xfffffffc, 4096, 4096, false, 4, 0 },     /* the sum wraps into it */
        { 7, 0xffffffff, 1, 1, false, 4, 0 },
        { 7, 16384, 4096, 4096, false, 2, 0 },          /* gap */
        { 7, 8192, 4096, 4096, false, 2, 0 },           /* again */
        { 7, 12288, 4096, 4096, true, 2, 0 },           /* LAST early */
    };
    static const struct lst_pdu_window end = { true, 7, 8192, 16384, 20480 };
    struct nvtcp_data pdu = {
        .hdr = { 6, 0, 24, 24, 24 + 4096 }, .cccid = 7, .datao = 20480, .datal = 4096
    };
    struct lst_verdict verdict;

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        const DataRow *row = &rows[i];
        struct nvtcp_data one = {
            .hdr = { 6, row->last ? L : 0, 24, 24, 24 + row->data_len },
            .cccid = row->cccid, .ttag = 1, .datao = row->datao, .datal = row->datal,
        };

        g_test_message("row %u", i);
        verdict = lst_pdu_check_h2c_data(&ctx, &one, &window, row->data_len);
        g_assert_cmpint(verdict.outcome, ==, row->fes ? LST_TERMINATE : LST_ACCEPT);
        g_assert_cmpuint(verdict.fes, ==, row->fes);
        g_assert_cmpuint(verdict.fei, ==, row->fei);
    }

    verdict = lst_pdu_check_h2c_data(&ctx, &pdu, &end, 4096);
    g_assert_cmpuint(verdict.fes, ==, 2);               /* LAST missing */
    pdu.hdr.flags = L;
    verdict = lst_pdu_check_h2c_data(&ctx, &pdu, &end, 4096);
    g_assert_cmpint(verdict.outcome, ==, LST_ACCEPT);
    verdict = lst_pdu_check_h2c_data(&ctx, &pdu, &(struct lst_pdu_window){ 0 }, 4096);
    g_assert_cmpuint(verdict.fes, ==, 1);
    g_assert_cmpuint(verdict.fei, ==, 10);
}

static void test_pdu_header_digest(void)
{
    struct lst_verdict verdict = lst_pdu_check_header_digest(0x12345678, 0x12345678);

    g_assert_cmpint(verdict.outcome, ==, LST_ACCEPT);
    verdict = lst_pdu_check_header_digest(0x12345678, 0x12345679);
    g_assert_cmpint(verdict.outcome, ==, LST_TERMINATE);
    g_assert_cmpuint(verdict.fes, ==, 3);
    g_assert_cmphex(verdict.fei, ==, 0x12345679);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/offsets_are_those_of_the_standard",
                    test_wire_offsets_are_those_of_the_standard);
    g_test_add_func("/digest/matches_published_vectors", test_digest_matches_published_vectors);
    g_test_add_func("/pdu/right_headers_are_accepted", test_pdu_right_headers_are_accepted);
    g_test_add_func("/pdu/type_is_the_first_thing_wrong", test_pdu_type_is_the_first_thing_wrong);
    g_test_add_func("/pdu/order_of_icreq", test_pdu_order_of_icreq);
    g_test_add_func("/pdu/term_is_dropped_whatever_it_says",
                    test_pdu_term_is_dropped_whatever_it_says);
    g_test_add_func("/pdu/flags_every_value", test_pdu_flags_every_value);
    g_test_add_func("/pdu/hlen_every_value", test_pdu_hlen_every_value);
    g_test_add_func("/pdu/pdo_every_value", test_pdu_pdo_every_value);
    g_test_add_func("/pdu/plen_limits", test_pdu_plen_limits);
    g_test_add_func("/pdu/lowest_bad_byte_wins", test_pdu_lowest_bad_byte_wins);
    g_test_add_func("/pdu/capsule_over_the_queues_limit", test_pdu_capsule_over_the_queues_limit);
    g_test_add_func("/pdu/icreq_fields_every_value", test_pdu_icreq_fields_every_value);
    g_test_add_func("/pdu/h2cdata_window", test_pdu_h2cdata_window);
    g_test_add_func("/pdu/header_digest", test_pdu_header_digest);
    return g_test_run();
}
