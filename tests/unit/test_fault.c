/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every fault action: exactly the bytes that it puts on the wire, and what becomes of the
 * connection.
 * Not here: which PDUs a rule is for (test_fault_rules.c), what a host makes of it
 * (test_fault_host.c).
 * NVMe/TCP transport specification 1.0, section 3.6; docs/faults.md.
 */
#include <string.h>

#include "fault_rig.h"

enum { US = 1000 };                     /* ns */

/* ---- Commands */

static void test_status_instead_of_execution(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-cmd opcode=2 action=status status=0x281 limit=1");
    fault_add(w.s.rig, "pdu=capsule-cmd opcode=1 action=status status=0x80 dnr=1 limit=1");
    fault_read(&w, 7, 0);
    fault_expect_resp(&w, 7, 2, 0x281);
    fault_write(&w, 8, 0, 16);
    fault_expect_resp(&w, 8, 3, 0x4080);
    fault_check(&w);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_READ], ==, 0);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    fault_read(&w, 9, 3);
    fault_expect_data(&w, 9, 3);
    fault_expect_resp(&w, 9, 4, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

static void test_drop_of_a_command(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-cmd nth=1 action=drop");
    fault_read(&w, 7, 0);
    fault_check(&w);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_READ], ==, 0);
    /* It was never fetched as far as the host can see: SQHD lags behind by one. */
    fault_flush(&w, 8);
    fault_expect_resp(&w, 8, 2, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

static void test_delay_of_a_command(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-cmd opcode=2 action=delay us=250");
    fault_read(&w, 7, 0);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_READ], ==, 0);
    fault_flush(&w, 8);
    fault_expect_resp(&w, 8, 2, 0);
    fault_check(&w);
    rig_advance(w.s.rig, 249 * US);
    fault_check(&w);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_READ], ==, 0);
    rig_advance(w.s.rig, 1 * US);
    fault_expect_data(&w, 7, 0);
    fault_expect_resp(&w, 7, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* 3.6.2.8: an R2T for a command that moves its data the other way. */
static void test_r2t_for_a_read(void)
{
    for (unsigned digests = 0; digests < 2; digests++) {
        FaultWire w = fault_wire(digests);

        fault_add(w.s.rig, "pdu=capsule-cmd opcode=2 action=r2t limit=1");
        fault_read(&w, 7, 5);
        fault_expect_r2t(&w, 7, 0xfffe, 512);
        fault_expect_data(&w, 7, 5);
        fault_expect_resp(&w, 7, 2, 0);
        fault_add(w.s.rig, "pdu=capsule-cmd opcode=0 action=r2t bytes=0");
        fault_flush(&w, 8);
        fault_expect_r2t(&w, 8, 0xfffe, 0);
        fault_expect_resp(&w, 8, 3, 0);
        fault_check(&w);
        fault_wire_free(&w);
    }
}

static void send_write_data(FaultWire *w, uint16_t cid, uint16_t ttag, uint32_t length)
{
    g_autoptr(GByteArray) out = g_byte_array_new();

    wire_h2c_data(out, &w->format, cid, ttag, 0, w->s.out, length, true);
    rig_send(w->s.io, out->data, out->len);
}

static uint16_t last_ttag(const FaultWire *w)
{
    struct nvtcp_r2t r2t;

    g_assert_cmpuint(w->s.io->received->len, >=, sizeof(r2t));
    memcpy(&r2t, w->s.io->received->data, sizeof(r2t));
    g_assert_cmphex(r2t.hdr.type, ==, NVTCP_R2T);
    return r2t.ttag;
}

static void test_drop_of_data(void)
{
    FaultWire w = fault_wire(false);
    uint16_t ttag;

    fault_add(w.s.rig, "pdu=h2c-data action=drop limit=1");
    for (unsigned round = 0; round < 2; round++) {
        fault_write(&w, (uint16_t)round, 0, 1);
        ttag = last_ttag(&w);
        fault_expect_r2t(&w, (uint16_t)round, ttag, 512);
        fault_check(&w);
        send_write_data(&w, (uint16_t)round, ttag, 512);
        if (round) {
            fault_expect_resp(&w, 1, 2, 0);
        }
        fault_check(&w);
    }
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_WRITE], ==, 1);
    fault_wire_free(&w);
}

/* ---- PDUs that are lost, come twice, late, in another order */

static void test_drop_of_pdus(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=drop");
    fault_add(w.s.rig, "pdu=c2h-data nth=2 action=drop");
    fault_read(&w, 1, 0);
    fault_expect_data(&w, 1, 0);
    fault_check(&w);
    fault_read(&w, 2, 0);
    fault_expect_resp(&w, 2, 3, 0);
    fault_check(&w);
    /* Both dropped: nothing at all. */
    fault_add(w.s.rig, "pdu=capsule-resp action=drop");
    fault_add(w.s.rig, "pdu=r2t action=drop");
    fault_flush(&w, 3);
    fault_write(&w, 4, 0, 1);
    fault_check(&w);
    g_assert_false(w.s.io->closed);
    fault_wire_free(&w);
}

/* The command id of a completion that got lost is free again as far as the target knows. */
static void test_drop_of_every_completion_leaks_nothing(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-resp action=drop");
    for (unsigned i = 0; i < 4 * RIG_IO_ENTRIES; i++) {
        fault_flush(&w, 1);
    }
    fault_check(&w);
    g_assert_false(w.s.io->closed);
    fault_wire_free(&w);
}

static void test_duplicate(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-resp action=duplicate limit=1");
    fault_flush(&w, 1);
    fault_expect_resp(&w, 1, 2, 0);
    fault_expect_resp(&w, 1, 2, 0);
    fault_check(&w);
    fault_add(w.s.rig, "pdu=c2h-data action=duplicate limit=1");
    fault_read(&w, 2, 9);
    fault_expect_data(&w, 2, 9);
    fault_expect_data(&w, 2, 9);
    fault_expect_resp(&w, 2, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* Others overtake it; it says how far the queue is when it leaves. */
static void test_delay_of_a_completion(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=delay us=1000");
    fault_read(&w, 1, 4);
    fault_check(&w);
    fault_flush(&w, 2);
    fault_expect_resp(&w, 2, 3, 0);
    fault_check(&w);
    rig_advance(w.s.rig, 999 * US);
    fault_check(&w);
    rig_advance(w.s.rig, 1 * US);
    fault_expect_data(&w, 1, 4);
    fault_expect_resp(&w, 1, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

static void test_delay_of_an_r2t(void)
{
    FaultWire w = fault_wire(false);
    uint16_t ttag;

    fault_add(w.s.rig, "pdu=r2t action=delay us=10");
    fault_write(&w, 1, 0, 1);
    fault_check(&w);
    rig_advance(w.s.rig, 10 * US);
    ttag = last_ttag(&w);
    fault_expect_r2t(&w, 1, ttag, 512);
    fault_check(&w);
    send_write_data(&w, 1, ttag, 512);
    fault_expect_resp(&w, 1, 2, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

static void test_reorder_completions(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=reorder pass=2");
    fault_read(&w, 1, 4);
    fault_check(&w);
    fault_flush(&w, 2);
    fault_expect_resp(&w, 2, 3, 0);
    fault_flush(&w, 3);
    fault_expect_resp(&w, 3, 4, 0);
    fault_expect_data(&w, 1, 4);
    fault_expect_resp(&w, 1, 4, 0);
    fault_flush(&w, 4);
    fault_expect_resp(&w, 4, 5, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* Nothing comes to overtake it: it leaves after a second, or after what the rule says. */
static void test_reorder_without_others(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=reorder pass=1");
    fault_add(w.s.rig, "pdu=capsule-resp nth=2 action=reorder pass=1 us=50");
    fault_flush(&w, 1);
    rig_advance(w.s.rig, 1000000 * US - 1);
    fault_check(&w);
    rig_advance(w.s.rig, 1);
    fault_expect_resp(&w, 1, 2, 0);
    fault_check(&w);
    fault_flush(&w, 2);
    rig_advance(w.s.rig, 50 * US);
    fault_expect_resp(&w, 2, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* ---- Bytes that are wrong */

static void test_corrupt_one_byte_of_each_part(void)
{
    /* A C2HData of 512 bytes with digests: header 24, digest 4, PDO 28, data, digest at 540. */
    static const struct {
        const char *rule;
        unsigned at;
        uint8_t mask;
    } rows[] = {
        { "part=header offset=0 mask=0x80", 0, 0x80 },
        { "part=header offset=23 mask=1", 23, 1 },
        { "part=header-digest offset=3 mask=2", 27, 2 },
        { "part=data offset=0 mask=255", 28, 255 },
        { "part=data offset=511 mask=0x10", 28 + 511, 0x10 },
        { "part=data-digest offset=1 mask=4", 541, 4 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strdup_printf("pdu=c2h-data action=corrupt %s", rows[i].rule);
        FaultWire w = fault_wire(true);

        fault_add(w.s.rig, text);
        fault_read(&w, 3, 2);
        fault_expect_data(&w, 3, 2);
        w.expect->data[rows[i].at] ^= rows[i].mask;
        fault_expect_resp(&w, 3, 2, 0);
        fault_check(&w);
        fault_wire_free(&w);
    }
}

/* One bit somewhere in the part, the same for the same seed. */
static unsigned random_bit(const char *seed)
{
    g_autofree char *text = g_strdup_printf("pdu=c2h-data action=corrupt part=data seed=%s", seed);
    FaultWire w = fault_wire(false);
    unsigned bit = 0, bits = 0;

    fault_add(w.s.rig, text);
    fault_read(&w, 3, 2);
    fault_expect_data(&w, 3, 2);
    fault_expect_resp(&w, 3, 2, 0);
    g_assert_cmpuint(w.s.io->received->len, ==, w.expect->len);
    for (unsigned i = 0; i < w.expect->len * 8; i++) {
        if ((w.s.io->received->data[i / 8] ^ w.expect->data[i / 8]) >> i % 8 & 1) {
            g_assert_cmpuint(i, >=, 24 * 8);
            g_assert_cmpuint(i, <, (24 + 512) * 8);
            bit = i;
            bits++;
        }
    }
    g_assert_cmpuint(bits, ==, 1);
    fault_wire_free(&w);
    return bit;
}

static void test_corrupt_at_random(void)
{
    unsigned first = random_bit("1"), same = 0;

    g_assert_cmpuint(random_bit("1"), ==, first);
    for (unsigned seed = 2; seed < 12; seed++) {
        g_autofree char *text = g_strdup_printf("%u", seed);

        same += random_bit(text) == first;
    }
    g_assert_cmpuint(same, <=, 1);
}

/* A part that the PDU does not have: nothing happens, nothing is counted. */
static void test_corrupt_a_part_that_is_not_there(void)
{
    FaultWire w = fault_wire(false);
    struct lst_fault *rules[] = {
        fault_add(w.s.rig, "pdu=c2h-data action=corrupt part=header-digest"),
        fault_add(w.s.rig, "pdu=c2h-data action=corrupt part=data-digest"),
        fault_add(w.s.rig, "pdu=capsule-resp action=corrupt part=data"),
        fault_add(w.s.rig, "pdu=c2h-data action=corrupt part=data offset=512"),
        fault_add(w.s.rig, "pdu=capsule-resp action=truncate bytes=24"),
    };

    fault_read(&w, 3, 2);
    fault_expect_data(&w, 3, 2);
    fault_expect_resp(&w, 3, 2, 0);
    fault_check(&w);
    for (unsigned i = 0; i < G_N_ELEMENTS(rules); i++) {
        g_assert_cmpuint(fault_seen(rules[i]), ==, 0);
    }
    fault_wire_free(&w);
}

static void test_truncate(void)
{
    static const unsigned lengths[] = { 0, 1, 8, 23, 24, 30, 551 };

    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree char *text =
            g_strdup_printf("pdu=c2h-data action=truncate bytes=%u", lengths[i]);
        FaultWire w = fault_wire(true);

        fault_add(w.s.rig, text);
        fault_read(&w, 3, 2);
        fault_expect_data(&w, 3, 2);
        /* 28 + 512 + 4 bytes: the last length cuts nothing. */
        g_byte_array_set_size(w.expect, MIN(lengths[i], 544));
        fault_expect_resp(&w, 3, 2, 0);
        fault_check(&w);
        fault_wire_free(&w);
    }
}

/* The PDU's bytes at @at become @value; its header digest is right again. */
static void check_set(const char *rule, uint8_t pdu, unsigned at, unsigned size, uint32_t value)
{
    FaultWire w = fault_wire(true);
    GByteArray *got = w.s.io->received;
    unsigned start = 0;

    fault_add(w.s.rig, rule);
    if (pdu == NVTCP_R2T) {
        fault_write(&w, 3, 0, 1);
        fault_expect_r2t(&w, 3, 0, 512);
        /* The TTAG is the target's to choose, unless it is what the rule changes. */
        memcpy(w.expect->data + 10, got->data + 10, 2);
    } else {
        fault_read(&w, 3, 2);
        fault_expect_data(&w, 3, 2);
        start = pdu == NVTCP_CAPSULE_RESP ? w.expect->len : 0;
        fault_expect_resp(&w, 3, 2, 0);
    }
    memcpy(w.expect->data + start + at, &value, size);
    w.expect->data[start + 1] &= NVTCP_F_HDGST | NVTCP_F_DDGST | NVTCP_F_LAST;
    uint32_t crc = host_crc32c(w.expect->data + start, 24);

    memcpy(w.expect->data + start + 24, &crc, 4);
    fault_check(&w);
    fault_wire_free(&w);
}

static void test_set_fields(void)
{
    static const struct {
        const char *pdu, *field;
        uint8_t type;
        unsigned at, size;
        uint32_t value;
    } rows[] = {
        { "c2h-data", "cccid", NVTCP_C2H_DATA, 8, 2, 0x7777 },
        { "c2h-data", "datao", NVTCP_C2H_DATA, 12, 4, 4 },
        { "c2h-data", "datal", NVTCP_C2H_DATA, 16, 4, 0 },
        { "c2h-data", "plen", NVTCP_C2H_DATA, 4, 4, 0xffffffff },
        { "c2h-data", "pdo", NVTCP_C2H_DATA, 3, 1, 32 },
        { "c2h-data", "type", NVTCP_C2H_DATA, 0, 1, 8 },
        { "r2t", "cccid", NVTCP_R2T, 8, 2, 0x1234 },
        { "r2t", "ttag", NVTCP_R2T, 10, 2, 0xdead },
        { "r2t", "r2to", NVTCP_R2T, 12, 4, 0x80000000 },
        { "r2t", "r2tl", NVTCP_R2T, 16, 4, 0 },
        { "capsule-resp", "cid", NVTCP_CAPSULE_RESP, 20, 2, 0xffff },
        { "capsule-resp", "sqhd", NVTCP_CAPSULE_RESP, 16, 2, 63 },
        { "capsule-resp", "sqid", NVTCP_CAPSULE_RESP, 18, 2, 9 },
        { "capsule-resp", "status", NVTCP_CAPSULE_RESP, 22, 2, 0x102 },
        { "capsule-resp", "dw0", NVTCP_CAPSULE_RESP, 8, 4, 0xcafe },
        { "capsule-resp", "dw1", NVTCP_CAPSULE_RESP, 12, 4, 0xbeef },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *rule = g_strdup_printf("pdu=%s action=set field=%s value=0x%x",
                                                rows[i].pdu, rows[i].field, rows[i].value);

        check_set(rule, rows[i].type, rows[i].at, rows[i].size, rows[i].value);
    }
    /* HLEN and flags too: the digest stays where it was, over what is there. */
    check_set("pdu=capsule-resp action=set field=hlen value=255", NVTCP_CAPSULE_RESP, 2, 1, 255);
    /* XOR: CCCID 3 becomes 2. */
    check_set("pdu=r2t action=set field=cccid xor=1", NVTCP_R2T, 8, 2, 2);
}

static void test_icresp(void)
{
    static const struct {
        const char *rule;
        unsigned at;
        uint8_t value;
    } rows[] = {
        { "field=pfv value=1", 8, 1 },
        { "field=cpda value=32", 10, 32 },
        { "field=dgst value=4", 11, 4 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *rule = g_strdup_printf("pdu=icresp action=set %s", rows[i].rule);
        g_autoptr(GByteArray) out = g_byte_array_new();
        struct nvtcp_ic_resp expect = { .hdr = { .type = 1, .hlen = 128, .plen = 128 },
                                        .maxh2cdata = 131072 };
        Rig *rig = rig_new();
        RigLink *link = rig_link_raw(rig, NULL);

        fault_add(rig, rule);
        ((uint8_t *)&expect)[rows[i].at] = rows[i].value;
        wire_icreq(out, 0);
        rig_send(link, out->data, out->len);
        g_assert_cmpmem(link->received->data, link->received->len, &expect, sizeof(expect));
        rig_free(rig);
    }
}

static void test_icreq_without_answer(void)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    Rig *rig = rig_new();
    RigLink *link = rig_link_raw(rig, NULL);

    fault_add(rig, "pdu=icreq action=drop limit=1");
    wire_icreq(out, 0);
    rig_send(link, out->data, out->len);
    g_assert_cmpuint(link->received->len, ==, 0);
    g_assert_false(link->closed);
    /* No Connect comes either: 30 s later it ends as it always does. */
    rig_advance(rig, 30 * RIG_S);
    g_assert_true(link->closed);
    rig_free(rig);
}

/* ---- Queues that stop */

static void test_stall_for_a_time(void)
{
    FaultWire w = fault_wire(true);

    /* The data leave, the completion is the first that waits. */
    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=stall us=100");
    fault_read(&w, 1, 3);
    fault_expect_data(&w, 1, 3);
    fault_check(&w);
    fault_flush(&w, 2);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_FLUSH], ==, 1);
    fault_check(&w);
    rig_advance(w.s.rig, 100 * US - 1);
    fault_check(&w);
    rig_advance(w.s.rig, 1);
    fault_expect_resp(&w, 1, 2, 0);
    fault_expect_resp(&w, 2, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* A stall within a stall is none: the first one's time counts. */
static void test_stall_within_a_stall(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=stall us=100");
    fault_add(w.s.rig, "pdu=capsule-resp nth=2 action=stall us=1000");
    fault_flush(&w, 1);
    fault_flush(&w, 2);
    rig_advance(w.s.rig, 100 * US - 1);
    fault_check(&w);
    rig_advance(w.s.rig, 1);
    fault_expect_resp(&w, 1, 2, 0);
    fault_expect_resp(&w, 2, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* Whoever is silent already can still die: nothing of what waits leaves any more. */
static void test_half_open_within_a_stall(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-resp nth=1 action=stall us=100");
    fault_add(w.s.rig, "pdu=capsule-resp nth=2 action=half-open us=1000");
    fault_flush(&w, 1);
    fault_flush(&w, 2);
    rig_advance(w.s.rig, 1000 * US - 1);
    g_assert_false(w.s.io->closed);
    rig_advance(w.s.rig, 1);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    fault_wire_free(&w);
}

static void test_stall_for_ever(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-cmd opcode=0 action=stall limit=1");
    fault_flush(&w, 1);
    fault_flush(&w, 2);
    rig_advance(w.s.rig, 3600 * RIG_S);
    fault_check(&w);
    g_assert_false(w.s.io->closed);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_FLUSH], ==, 2);
    /* The Admin queue goes on. */
    g_assert_cmphex(rig_run(w.s.admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0)), ==, 0);
    fault_wire_free(&w);
}

/* ---- Ends */

static void test_close_behind_a_pdu(void)
{
    static const char *const actions[] = { "close", "rst" };

    for (unsigned i = 0; i < G_N_ELEMENTS(actions); i++) {
        g_autofree char *rule = g_strdup_printf("pdu=c2h-data action=%s", actions[i]);
        FaultWire w = fault_wire(true);

        fault_add(w.s.rig, rule);
        fault_read(&w, 1, 3);
        fault_expect_data(&w, 1, 3);
        fault_check(&w);
        g_assert_true(w.s.io->closed);
        g_assert_cmpint(w.s.io->reset, ==, i);
        g_assert_false(w.s.admin->closed);
        fault_wire_free(&w);
    }
}

static void test_close_in_place_of_a_pdu(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-resp action=drop");
    fault_add(w.s.rig, "pdu=capsule-resp action=rst");
    fault_flush(&w, 1);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    g_assert_true(w.s.io->reset);
    fault_wire_free(&w);
}

static void test_close_within_a_pdu(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=c2h-data action=truncate bytes=100");
    fault_add(w.s.rig, "pdu=c2h-data action=close");
    fault_read(&w, 1, 3);
    fault_expect_data(&w, 1, 3);
    g_byte_array_set_size(w.expect, 100);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    fault_wire_free(&w);
}

/* An end does not wait for a delay. */
static void test_close_and_delay(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-resp action=delay us=100");
    fault_add(w.s.rig, "pdu=capsule-resp action=close");
    fault_flush(&w, 1);
    fault_expect_resp(&w, 1, 2, 0);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    fault_wire_free(&w);
}

/* Completions that come before the front has looked: behind the end there is nothing. */
static void test_nothing_follows_an_end(void)
{
    static const char *const actions[] = { "close", "rst", "term fes=1" };

    for (unsigned i = 0; i < G_N_ELEMENTS(actions); i++) {
        g_autofree char *rule = g_strdup_printf("pdu=capsule-resp nth=1 action=%s", actions[i]);
        const struct nvtcp_term term = { .hdr = { 3, 0, 24, 0, 24 }, .fes = 1 };
        FaultWire w = fault_wire(true);

        w.s.rig->defer = true;
        fault_add(w.s.rig, rule);
        for (uint16_t cid = 1; cid <= 3; cid++) {
            fault_flush(&w, cid);
        }
        for (unsigned n = 0; n < 3; n++) {
            lst_io_complete(g_queue_pop_head(&w.s.rig->ios), 0);
        }
        rig_pump(w.s.rig);
        fault_expect_resp(&w, 1, 2, 0);
        if (i == 2) {
            g_byte_array_append(w.expect, (const uint8_t *)&term, sizeof(term));
        }
        fault_check(&w);
        g_assert_cmpint(w.s.io->closed, ==, i < 2);
        fault_wire_free(&w);
    }
}

/* What is left of a PDU has no parts and no fields. */
static void test_cut_and_spoilt(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=c2h-data action=truncate bytes=10");
    fault_add(w.s.rig, "pdu=c2h-data action=corrupt part=data offset=100 mask=1");
    fault_add(w.s.rig, "pdu=c2h-data action=set field=datal value=0");
    fault_add(w.s.rig, "pdu=c2h-data action=duplicate");
    fault_read(&w, 3, 2);
    fault_expect_data(&w, 3, 2);
    g_byte_array_set_size(w.expect, 10);
    fault_expect_resp(&w, 3, 2, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

/* Where the parts of a PDU are is what its right header says, whatever an earlier rule made of it. */
static void test_header_changed_before(void)
{
    /* A C2HData without digests: header 24, PDO 24, 512 bytes of data. */
    static const struct {
        const char *first, *second;
        unsigned first_at, second_at;
        uint8_t first_value, second_mask;
    } rows[] = {
        { "field=flags value=7", "action=corrupt part=data offset=511 mask=1", 1, 535, 7, 1 },
        { "field=pdo value=255", "action=corrupt part=data offset=0 mask=2", 3, 24, 255, 2 },
        { "field=plen value=0", "action=corrupt part=data offset=9 mask=4", 4, 33, 0, 4 },
        { "field=hlen value=255", "action=set field=cccid xor=8", 2, 8, 255, 8 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *first = g_strdup_printf("pdu=c2h-data action=set %s", rows[i].first);
        g_autofree char *second = g_strdup_printf("pdu=c2h-data %s", rows[i].second);
        FaultWire w = fault_wire(false);

        fault_add(w.s.rig, first);
        fault_add(w.s.rig, second);
        fault_read(&w, 3, 2);
        fault_expect_data(&w, 3, 2);
        w.expect->data[rows[i].first_at] = rows[i].first_value;
        if (rows[i].first_at == 4) {
            memset(w.expect->data + 4, 0, 4);
        }
        w.expect->data[rows[i].second_at] ^= rows[i].second_mask;
        fault_expect_resp(&w, 3, 2, 0);
        fault_check(&w);
        fault_wire_free(&w);
    }
}

static void test_close_at_a_command(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-cmd opcode=2 action=close");
    fault_flush(&w, 1);
    fault_expect_resp(&w, 1, 2, 0);
    fault_read(&w, 2, 0);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_READ], ==, 0);
    fault_wire_free(&w);
}

/* The Admin queue's end takes the controller along. */
static void test_close_of_the_admin_queue(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    RigResult result;

    fault_add(rig, "pdu=capsule-resp queue=admin opcode=0x18 action=close");
    rig_submit(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0), HOST_DATA_NONE, NULL, 0, &result);
    g_assert_true(result.done);
    g_assert_true(admin->closed);
    g_assert_true(io->closed);
    rig_free(rig);
}

static void check_term(FaultWire *w, uint16_t fes, uint32_t fei)
{
    const struct nvtcp_term term = { .hdr = { .type = 3, .hlen = 24, .plen = 24 },
                                     .fes = fes,
                                     .fei = fei };

    g_byte_array_append(w->expect, (const uint8_t *)&term, sizeof(term));
    fault_check(w);
    g_assert_cmpint(lst_conn_state(w->s.io->conn), ==, LST_CONN_TERM);
    rig_advance(w->s.rig, 30 * RIG_S);
    g_assert_true(w->s.io->closed);
}

static void test_term(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-cmd opcode=0 action=term fes=1 fei=0x12345");
    fault_flush(&w, 1);
    check_term(&w, 1, 0x12345);
    fault_wire_free(&w);

    w = fault_wire(true);
    fault_add(w.s.rig, "pdu=c2h-data action=term fes=5");
    fault_read(&w, 1, 3);
    fault_expect_data(&w, 1, 3);
    check_term(&w, 5, 0);
    fault_wire_free(&w);
}

/* 3.6.2.5: the answer to a bad PDU gets lost, or is spoilt. */
static void test_faults_of_a_termination(void)
{
    static const uint8_t bad[8] = { 0x33, 0, 24, 0, 24 };
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=c2h-term action=corrupt part=data offset=7 mask=1");
    rig_send(w.s.io, bad, sizeof(bad));
    g_assert_cmpuint(w.s.io->received->len, ==, 32);
    g_assert_cmphex(w.s.io->received->data[24], ==, 0x33);
    g_assert_cmphex(w.s.io->received->data[31], ==, 1);
    fault_wire_free(&w);
    w = fault_wire(false);
    fault_add(w.s.rig, "pdu=c2h-term action=drop");
    rig_send(w.s.io, bad, sizeof(bad));
    fault_check(&w);
    g_assert_false(w.s.io->closed);
    fault_wire_free(&w);
}

static void test_half_open(void)
{
    FaultWire w = fault_wire(false);

    fault_add(w.s.rig, "pdu=capsule-cmd opcode=2 action=half-open");
    fault_read(&w, 1, 0);
    fault_flush(&w, 2);
    fault_check(&w);
    g_assert_true(lst_conn_is_half_open(w.s.io->conn));
    g_assert_cmpuint(w.s.rig->ios_by_op[LST_IO_FLUSH], ==, 0);
    rig_advance(w.s.rig, 300 * RIG_S - 1);
    fault_check(&w);
    g_assert_false(w.s.io->closed);
    rig_advance(w.s.rig, 1);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    fault_wire_free(&w);
}

/* What is on its way when it happens leaves; what follows does not. */
static void test_half_open_within_a_response(void)
{
    FaultWire w = fault_wire(true);

    fault_add(w.s.rig, "pdu=capsule-resp action=half-open us=500");
    fault_read(&w, 1, 3);
    fault_expect_data(&w, 1, 3);
    fault_check(&w);
    rig_advance(w.s.rig, 500 * US);
    fault_check(&w);
    g_assert_true(w.s.io->closed);
    fault_wire_free(&w);
}

/* Keep-alive time-out, removal of the port, IC time-out: nobody at the other end hears of it. */
static void test_half_open_outlives_the_controller(void)
{
    HostQueueConfig config = rig_admin_config();
    Rig *rig = rig_new();
    RigLink *admin = rig_admin_to(rig, NULL, NULL, &config, 1000);
    RigLink *io = rig_io(rig, admin, 1, NULL);
    struct lst_target_stats stats;
    RigResult result;

    fault_add(rig, "pdu=capsule-cmd queue=admin action=half-open");
    rig_submit(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0), HOST_DATA_NONE, NULL, 0, &result);
    rig_advance(rig, 5 * RIG_S);
    g_assert_false(result.done);
    lst_target_get_stats(rig->target, &stats);
    g_assert_cmpuint(stats.ctrls, ==, 0);
    g_assert_cmpuint(stats.kato_expired, ==, 1);
    g_assert_true(io->closed);
    g_assert_false(admin->closed);
    lst_target_remove_port(rig->target, rig->port);
    rig_pump(rig);
    g_assert_false(admin->closed);
    rig_advance(rig, 300 * RIG_S);
    g_assert_true(admin->closed);
    rig_free(rig);
}

/* ---- A connection that goes while rules hold something of it */

static void test_connection_freed_in_the_middle(void)
{
    static const char *const rules[] = {
        "pdu=capsule-resp action=delay us=1000",
        "pdu=capsule-resp action=reorder pass=9",
        "pdu=capsule-cmd action=delay us=1000",
        "pdu=capsule-cmd action=drop",
        "pdu=r2t action=delay us=1000",
        "pdu=r2t action=drop",
        "pdu=capsule-resp action=stall",
        "pdu=capsule-resp action=half-open",
        "pdu=capsule-resp action=corrupt part=header",
        "pdu=c2h-term action=delay us=1000",
        "pdu=c2h-term action=stall",
        "pdu=icresp action=delay us=1000",
    };
    static const uint8_t bad[8] = { 0x33, 0, 24, 0, 24 };

    for (unsigned i = 0; i < G_N_ELEMENTS(rules); i++) {
        for (unsigned deferred = 0; deferred < 2; deferred++) {
            FaultWire w = fault_wire(true);
            g_autoptr(GByteArray) out = g_byte_array_new();
            RigLink *fresh = rig_link_raw(w.s.rig, NULL);

            w.s.rig->defer = deferred;
            fault_add(w.s.rig, rules[i]);
            fault_read(&w, 1, 0);
            fault_write(&w, 2, 0, 1);
            fault_flush(&w, 3);
            rig_send(w.s.io, bad, sizeof(bad));
            wire_icreq(out, 0);
            rig_send(fresh, out->data, out->len);
            rig_unlink(w.s.io);
            rig_unlink(fresh);
            rig_advance(w.s.rig, RIG_S);
            w.s.io = NULL;
            fault_wire_free(&w);
        }
    }
}

/* Rules that are gone leave what they started. */
static void test_rule_removed_while_it_holds(void)
{
    FaultWire w = fault_wire(false);
    struct lst_fault *fault = fault_add(w.s.rig, "pdu=capsule-resp action=delay us=1000");

    fault_flush(&w, 1);
    lst_target_remove_fault(w.s.rig->target, fault);
    fault_flush(&w, 2);
    fault_expect_resp(&w, 2, 3, 0);
    rig_advance(w.s.rig, 1000 * US);
    fault_expect_resp(&w, 1, 3, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } tests[] = {
#define TEST(name) { "/fault/" #name, test_##name }
        TEST(status_instead_of_execution),
        TEST(drop_of_a_command),
        TEST(delay_of_a_command),
        TEST(r2t_for_a_read),
        TEST(drop_of_data),
        TEST(drop_of_pdus),
        TEST(drop_of_every_completion_leaks_nothing),
        TEST(duplicate),
        TEST(delay_of_a_completion),
        TEST(delay_of_an_r2t),
        TEST(reorder_completions),
        TEST(reorder_without_others),
        TEST(corrupt_one_byte_of_each_part),
        TEST(corrupt_at_random),
        TEST(corrupt_a_part_that_is_not_there),
        TEST(truncate),
        TEST(set_fields),
        TEST(icresp),
        TEST(icreq_without_answer),
        TEST(stall_for_a_time),
        TEST(stall_within_a_stall),
        TEST(half_open_within_a_stall),
        TEST(stall_for_ever),
        TEST(close_behind_a_pdu),
        TEST(close_in_place_of_a_pdu),
        TEST(close_within_a_pdu),
        TEST(close_and_delay),
        TEST(nothing_follows_an_end),
        TEST(cut_and_spoilt),
        TEST(header_changed_before),
        TEST(close_at_a_command),
        TEST(close_of_the_admin_queue),
        TEST(term),
        TEST(faults_of_a_termination),
        TEST(half_open),
        TEST(half_open_within_a_response),
        TEST(half_open_outlives_the_controller),
        TEST(connection_freed_in_the_middle),
        TEST(rule_removed_while_it_holds),
#undef TEST
    };

    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_test_add_func(tests[i].name, tests[i].fn);
    }
    return g_test_run();
}
