/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers under everything that host and port may agree on: R2Ts in flight, their size,
 * MAXH2CDATA, CPDA and HPDA, digests, SQ flow control, SUCCESS.
 * Not here: one setting at a time (test_rw.c); malformed transfers (test_malformed.c).
 * NVMe/TCP transport specification 1.0, sections 3.3.2 and 3.6.
 */
#include <string.h>

#include "wire.h"

enum { BYTES = 40960 };

/* ---- R2Ts that are not answered at once */

typedef struct Ask {
    uint16_t cid, ttag;
    uint32_t offset, length;
} Ask;

static GArray *asks;

static bool keep_r2t(HostQueue *queue, void *opaque, uint16_t cid, uint16_t ttag, uint32_t offset,
                     uint32_t length)
{
    const Ask ask = { cid, ttag, offset, length };

    (void)queue, (void)opaque;
    g_array_append_val(asks, ask);
    return true;
}

static const Ask *ask_at(unsigned i)
{
    return &g_array_index(asks, Ask, i);
}

static void answer(RigIo *s, unsigned i)
{
    const Ask *ask = ask_at(i);

    g_assert_cmpint(
        host_queue_answer_r2t(s->io->host, ask->cid, ask->ttag, ask->offset, ask->length), ==,
        HOST_OK);
    rig_pump(s->rig);
}

static void set_port(Rig *rig, const char *key, uint32_t value)
{
    g_autofree char *text = g_strdup_printf("%u", value);

    g_assert_true(lst_port_set(rig->port, key, text, NULL));
}

/* A controller whose I/O queue has @config, behind a port that was set up by then. */
static RigIo setup(Rig *rig, const HostQueueConfig *config)
{
    RigIo s = { .rig = rig };

    s.admin = rig_admin(rig);
    s.io = rig_io(rig, s.admin, 1, config);
    s.out = g_malloc0(RIG_MDTS_BYTES);
    s.in = g_malloc0(RIG_MDTS_BYTES);
    return s;
}

/* A write of BYTES whose R2Ts, of 4 KiB each, are kept. */
static RigIo begin_write(uint32_t host_max, uint32_t port_max, RigResult *result)
{
    HostQueueConfig config = rig_io_config();
    Rig *rig = rig_new();
    RigIo s;

    config.max_r2t = host_max;
    config.on_r2t = keep_r2t;
    set_port(rig, "tcp_r2t_size", 4096);
    set_port(rig, "tcp_max_r2t", port_max);
    s = setup(rig, &config);
    asks = g_array_new(FALSE, FALSE, sizeof(Ask));
    rig_pattern(s.out, BYTES, host_max);
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, BYTES / RIG_BLOCK, 0), HOST_DATA_OUT_R2T, s.out,
               BYTES, result);
    return s;
}

static void end_write(RigIo *s)
{
    g_array_free(asks, TRUE);
    rig_io_teardown(s);
}

static void test_as_many_r2ts_as_both_sides_take(void)
{
    static const struct {
        uint32_t host, port, expect;
    } rows[] = { { 1, 16, 1 }, { 2, 16, 2 },  { 16, 1, 1 },     { 16, 3, 3 },
                 { 3, 3, 3 },  { 16, 16, 10 }, { 65536, 16, 10 }, { 10, 16, 10 } };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        RigResult result;
        RigIo s = begin_write(rows[i].host, rows[i].port, &result);

        g_test_message("row %u", i);
        g_assert_cmpuint(asks->len, ==, rows[i].expect);
        for (unsigned r = 0; r < asks->len; r++) {
            g_assert_cmpuint(ask_at(r)->offset, ==, r * 4096);
            g_assert_cmpuint(ask_at(r)->length, ==, 4096);
            for (unsigned other = 0; other < r; other++) {
                g_assert_cmphex(ask_at(r)->ttag, !=, ask_at(other)->ttag);
            }
        }
        /* One answered: one more, until all 10 were asked for. */
        for (unsigned r = 0; r < 10; r++) {
            g_assert_false(result.done);
            answer(&s, r);
            g_assert_cmpuint(asks->len, ==, MIN(rows[i].expect + r + 1, 10));
        }
        g_assert_true(result.done);
        g_assert_cmphex(result.status, ==, 0);
        g_assert_cmpmem(s.rig->media.bytes, BYTES, s.out, BYTES);
        end_write(&s);
    }
}

/* ICReq's MAXR2T is zero-based and may be FFFFFFFFh: the port's limit counts. */
static void test_maxr2t_of_all_ones(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *link;
    struct nvf_connect_data data = rig_connect_data(NULL, admin->cntlid);
    const HostPduFormat format = { false, false, 4 };
    g_autoptr(GByteArray) out = g_byte_array_new();
    const uint32_t maximum = UINT32_MAX;
    struct nv_sqe sqe;

    set_port(rig, "tcp_r2t_size", 4096);
    set_port(rig, "tcp_max_r2t", 16);
    link = rig_link_raw(rig, NULL);
    wire_icreq(out, 0);
    memcpy(out->data + offsetof(struct nvtcp_ic_req, maxr2t), &maximum, sizeof(maximum));
    sqe = wire_sgl(host_cmd_connect(1, 63, 0, 0), NV_SGL_OFFSET, 0, sizeof(data));
    wire_capsule(out, &format, &sqe, 1, &data, sizeof(data));
    sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, BYTES / RIG_BLOCK, 0), NV_SGL_TRANSPORT, 0,
                   BYTES);
    wire_capsule(out, &format, &sqe, 2, NULL, 0);
    rig_send(link, out->data, out->len);
    g_assert_cmpuint(wire_count(link->received, NVTCP_R2T), ==, 10);
    rig_free(rig);
}

/*
 * The first R2T stays open while 255 more come and go: TTAGs are used again, but not that one.
 * 1 MiB in pieces of 4 KiB.
 */
static void test_ttag_of_an_open_r2t_is_not_used_again(void)
{
    HostQueueConfig config = rig_io_config();
    Rig *rig = rig_new();
    RigResult result;
    RigIo s;

    config.max_r2t = 2;
    config.on_r2t = keep_r2t;
    set_port(rig, "tcp_r2t_size", 4096);
    s = setup(rig, &config);
    asks = g_array_new(FALSE, FALSE, sizeof(Ask));
    rig_pattern(s.out, RIG_MDTS_BYTES, 3);
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, RIG_MDTS_BYTES / RIG_BLOCK, 0),
               HOST_DATA_OUT_R2T, s.out, RIG_MDTS_BYTES, &result);
    for (unsigned r = 1; r < 256; r++) {
        g_assert_cmpuint(asks->len, ==, r + 1);
        g_assert_cmphex(ask_at(r)->ttag, !=, ask_at(0)->ttag);
        answer(&s, r);
    }
    answer(&s, 0);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, 0);
    g_assert_cmpmem(rig->media.bytes, RIG_MDTS_BYTES, s.out, RIG_MDTS_BYTES);
    end_write(&s);
}

/* A guess: nobody can know a TTAG that has not been sent. 1/10. */
static void test_data_before_their_r2t(void)
{
    RigIo s = rig_io_setup(NULL);
    struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), NV_SGL_TRANSPORT, 0, 512);
    const HostPduFormat format = { false, false, 4 };
    g_autoptr(GByteArray) out = g_byte_array_new();
    struct nvtcp_term term;
    struct nvtcp_r2t r2t;
    struct iovec iov;

    s.io->capture = true;
    wire_capsule(out, &format, &sqe, 7, NULL, 0);
    lst_conn_receive(s.io->conn, out->data, out->len);
    g_assert_cmpuint(lst_conn_output(s.io->conn, &iov, 1), ==, 1);
    s.io->ready = false;
    s.io->more = true;
    memcpy(&r2t, iov.iov_base, sizeof(r2t));
    g_assert_cmphex(r2t.hdr.type, ==, NVTCP_R2T);
    g_byte_array_set_size(out, 0);
    wire_h2c_data(out, &format, 7, r2t.ttag, 0, s.out, 512, true);
    lst_conn_receive(s.io->conn, out->data, out->len);
    rig_pump(s.rig);
    g_assert_nonnull(wire_find_term(s.io->received));
    memcpy(&term, wire_find_term(s.io->received), sizeof(term));
    g_assert_cmpuint(term.fes, ==, NVTCP_FES_HEADER);
    g_assert_cmpuint(term.fei, ==, 10);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    rig_io_teardown(&s);
}

/* Each R2T's data come in order; which R2T is served first is the host's choice. */
static void test_r2ts_answered_last_first(void)
{
    RigResult result;
    RigIo s = begin_write(16, 16, &result);

    for (unsigned r = 10; r-- > 0;) {
        g_assert_false(result.done);
        answer(&s, r);
    }
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, 0);
    g_assert_cmpmem(s.rig->media.bytes, BYTES, s.out, BYTES);
    end_write(&s);
}

static void send_part(RigIo *s, const Ask *ask, uint32_t from, uint32_t length, bool spoil)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    const HostPduFormat format = { false, host_queue_data_digest(s->io->host), 4 };

    wire_h2c_data(out, &format, ask->cid, ask->ttag, ask->offset + from,
                  s->out + ask->offset + from, length, from + length == ask->length);
    if (spoil) {
        out->data[24] ^= 1;
    }
    rig_send(s->io, out->data, out->len);
}

static void test_r2ts_answered_piece_by_piece(void)
{
    RigResult result;
    RigIo s = begin_write(16, 16, &result);

    for (uint32_t from = 0; from < 4096; from += 1024) {
        for (unsigned r = 0; r < 10; r++) {
            g_assert_false(result.done);
            send_part(&s, ask_at(r), from, 1024, false);
        }
    }
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, 0);
    g_assert_cmpmem(s.rig->media.bytes, BYTES, s.out, BYTES);
    end_write(&s);
}

/* An R2T that has its data is stale while others of the command are open: 1/10. */
static void test_ttag_of_a_served_r2t(void)
{
    RigResult result;
    RigIo s = begin_write(16, 4, &result);

    send_part(&s, ask_at(1), 0, 4096, false);
    s.io->fault_expected = true;
    send_part(&s, ask_at(1), 0, 4096, false);
    g_assert_nonnull(host_queue_fault(s.io->host));
    g_assert_cmpuint(host_queue_fault(s.io->host)->fes, ==, NVTCP_FES_HEADER);
    g_assert_cmpuint(host_queue_fault(s.io->host)->fei, ==, 10);
    end_write(&s);
}

/* Data of one open R2T under the TTAG of another: out of its window, 4. */
static void test_data_of_another_r2t(void)
{
    RigResult result;
    RigIo s = begin_write(16, 4, &result);
    const Ask wrong = { ask_at(0)->cid, ask_at(0)->ttag, 4096, 4096 };

    s.io->fault_expected = true;
    send_part(&s, &wrong, 0, 4096, false);
    g_assert_nonnull(host_queue_fault(s.io->host));
    g_assert_cmpuint(host_queue_fault(s.io->host)->fes, ==, NVTCP_FES_RANGE);
    end_write(&s);
}

/* The status comes when the host has nothing more to send: after the last R2T in flight. */
static void test_bad_data_digest_with_r2ts_in_flight(void)
{
    HostQueueConfig config = rig_io_config();
    Rig *rig = rig_new();
    RigResult result;
    RigIo s;

    config.max_r2t = 3;
    config.data_digest = true;
    config.on_r2t = keep_r2t;
    set_port(rig, "tcp_r2t_size", 4096);
    s = setup(rig, &config);
    asks = g_array_new(FALSE, FALSE, sizeof(Ask));
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, BYTES / RIG_BLOCK, 0), HOST_DATA_OUT_R2T, s.out,
               BYTES, &result);
    g_assert_cmpuint(asks->len, ==, 3);
    send_part(&s, ask_at(1), 0, 4096, true);
    send_part(&s, ask_at(0), 0, 4096, false);
    g_assert_false(result.done);
    send_part(&s, ask_at(2), 0, 4096, false);
    g_assert_cmpuint(asks->len, ==, 3);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, NV_SC_TRANSIENT_TRANSPORT);
    g_assert_false(result.dnr);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    end_write(&s);
}

/* ---- What both sides may ask for, all together */

typedef struct Setting {
    uint32_t host_r2t, port_r2t, r2t_size, maxh2cdata;
    uint8_t hpda, cpda;
    bool header_digest, data_digest, no_flow_control;
} Setting;

static uint32_t parts(uint32_t whole, uint32_t part)
{
    return (whole + part - 1) / part;
}

static void check_counters(const RigIo *s, const Setting *set)
{
    const HostCounters *seen = host_queue_counters(s->io->host);
    uint32_t r2ts = parts(BYTES, set->r2t_size);
    uint32_t rest = BYTES % set->r2t_size ? BYTES % set->r2t_size : set->r2t_size;

    g_assert_cmpuint(seen->pdus_received[NVTCP_R2T], ==, r2ts);
    g_assert_cmpuint(seen->pdus_sent[NVTCP_H2C_DATA], ==,
                     (r2ts - 1) * parts(set->r2t_size, set->maxh2cdata) +
                         parts(rest, set->maxh2cdata));
    g_assert_cmpuint(host_queue_max_h2c_data(s->io->host), ==, set->maxh2cdata);
    g_assert_cmpuint(host_queue_cpda_align(s->io->host), ==, (set->cpda + 1) * 4);
    /* Two reads; Connect and two writes have nothing to put the flag on. */
    g_assert_cmpuint(seen->success_flags, ==, set->no_flow_control ? 2 : 0);
    g_assert_cmpuint(seen->pdus_received[NVTCP_CAPSULE_RESP], ==, set->no_flow_control ? 3 : 5);
}

static void run_setting(const Setting *set, unsigned number)
{
    HostQueueConfig config = rig_io_config();
    Rig *rig = rig_new_sized(128);
    RigIo s;

    set_port(rig, "tcp_max_r2t", set->port_r2t);
    set_port(rig, "tcp_r2t_size", set->r2t_size);
    set_port(rig, "tcp_maxh2cdata", set->maxh2cdata);
    set_port(rig, "tcp_cpda", set->cpda);
    config.max_r2t = set->host_r2t;
    config.hpda = set->hpda;
    config.header_digest = set->header_digest;
    config.data_digest = set->data_digest;
    config.no_sq_flow_control = set->no_flow_control;
    s = setup(rig, &config);
    rig_round_trip(&s, 3, BYTES, HOST_DATA_OUT_R2T, number);
    rig_round_trip(&s, 1, 1024, HOST_DATA_OUT_CAPSULE, number);
    check_counters(&s, set);
    rig_io_teardown(&s);
}

static void test_every_combination(void)
{
    static const uint32_t host_r2t[] = { 1, 2, 16 }, port_r2t[] = { 1, 3, 16 };
    static const uint32_t r2t_size[] = { 4096, 10004, 262144 }, maxh2cdata[] = { 4096, 131072 };
    static const uint8_t pda[] = { 0, 1, 18, 31 };
    unsigned number = 0;

    for (unsigned i = 0; i < 3 * 3 * 3 * 2; i++) {
        for (unsigned align = 0; align < 16; align++) {
            for (unsigned bits = 0; bits < 8; bits++) {
                const Setting set = {
                    .host_r2t = host_r2t[i % 3],
                    .port_r2t = port_r2t[i / 3 % 3],
                    .r2t_size = r2t_size[i / 9 % 3],
                    .maxh2cdata = maxh2cdata[i / 27],
                    .hpda = pda[align % 4],
                    .cpda = pda[align / 4],
                    .header_digest = bits & 1,
                    .data_digest = bits & 2,
                    .no_flow_control = bits & 4,
                };

                run_setting(&set, number++);
            }
        }
    }
}

/* ---- CPDA */

/* 3.6.2.3: alignment (CPDA + 1) * 4; a PDO that does not have it is a bad byte 3. */
static void test_pdo_against_cpda(void)
{
    static const struct {
        uint8_t cpda, pdo;
        bool good;
    } rows[] = { { 0, 72, true },  { 1, 72, true },   { 2, 72, true },  { 3, 72, false },
                 { 3, 80, true },  { 18, 76, true },  { 18, 72, false }, { 31, 72, false },
                 { 31, 124, false }, { 31, 128, true } };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        const HostPduFormat format = { false, false, rows[i].pdo };
        struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), NV_SGL_OFFSET, 0, 512);
        Rig *rig = rig_new();
        struct nvtcp_term term;
        RigIo s;

        set_port(rig, "tcp_cpda", rows[i].cpda);
        s = setup(rig, NULL);
        s.io->capture = true;
        wire_capsule(out, &format, &sqe, 7, s.out, 512);
        g_assert_cmpuint(out->data[3], ==, rows[i].pdo);
        rig_send(s.io, out->data, out->len);
        if (rows[i].good) {
            g_assert_cmpuint(wire_count(s.io->received, NVTCP_CAPSULE_RESP), ==, 1);
        } else {
            g_assert_nonnull(wire_find_term(s.io->received));
            memcpy(&term, wire_find_term(s.io->received), sizeof(term));
            g_assert_cmpuint(term.fes, ==, NVTCP_FES_HEADER);
            g_assert_cmpuint(term.fei, ==, 3);
        }
        rig_io_teardown(&s);
    }
}

/* Without data there is nothing to align: PDO 0, or as some hosts say, the end of the header. */
static void test_pdo_without_data_under_cpda(void)
{
    for (unsigned pdo = 0; pdo <= 72; pdo += 72) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        struct nv_sqe sqe = wire_sgl(host_cmd(NV_IO_FLUSH, 1), NV_SGL_TRANSPORT, 0, 0);
        Rig *rig = rig_new();
        RigIo s;

        set_port(rig, "tcp_cpda", 31);
        s = setup(rig, NULL);
        s.io->capture = true;
        wire_capsule(out, &(HostPduFormat) { false, false, 4 }, &sqe, 7, NULL, 0);
        out->data[3] = (uint8_t)pdo;
        rig_send(s.io, out->data, out->len);
        g_assert_cmpuint(wire_count(s.io->received, NVTCP_CAPSULE_RESP), ==, 1);
        rig_io_teardown(&s);
    }
}

static void test_wrong_values_of_the_attributes(void)
{
    static const struct {
        const char *key, *value, *allowed;
    } rows[] = {
        { "tcp_cpda", "32", "a number from 0 to 31" },
        { "tcp_cpda", "-1", "a number from 0 to 31" },
        { "tcp_max_r2t", "0", "a number from 1 to 16" },
        { "tcp_max_r2t", "17", "a number from 1 to 16" },
        { "tcp_r2t_size", "4092", "a number from 4096 to 1048576" },
        { "tcp_r2t_size", "4098", "a multiple of 4" },
        { "tcp_maxh2cdata", "1048580", "a number from 4096 to 1048576" },
        { "tcp_maxh2cdata", "4097", "a multiple of 4" },
    };
    Rig *rig = rig_new();

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *before = lst_port_get(rig->port, rows[i].key, NULL);
        g_autofree char *words = g_strdup_printf("%s: '%s' is not allowed: %s", rows[i].key,
                                                 rows[i].value, rows[i].allowed);
        g_autofree char *after = NULL;
        g_autoptr(GError) error = NULL;

        g_assert_false(lst_port_set(rig->port, rows[i].key, rows[i].value, &error));
        g_assert_error(error, LST_ERROR, LST_ERROR_VALUE);
        g_assert_cmpstr(error->message, ==, words);
        after = lst_port_get(rig->port, rows[i].key, NULL);
        g_assert_cmpstr(after, ==, before);
    }
    rig_free(rig);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/transfer/as_many_r2ts_as_both_sides_take",
                    test_as_many_r2ts_as_both_sides_take);
    g_test_add_func("/transfer/maxr2t_of_all_ones", test_maxr2t_of_all_ones);
    g_test_add_func("/transfer/ttag_of_an_open_r2t_is_not_used_again",
                    test_ttag_of_an_open_r2t_is_not_used_again);
    g_test_add_func("/transfer/data_before_their_r2t", test_data_before_their_r2t);
    g_test_add_func("/transfer/r2ts_answered_last_first", test_r2ts_answered_last_first);
    g_test_add_func("/transfer/r2ts_answered_piece_by_piece", test_r2ts_answered_piece_by_piece);
    g_test_add_func("/transfer/ttag_of_a_served_r2t", test_ttag_of_a_served_r2t);
    g_test_add_func("/transfer/data_of_another_r2t", test_data_of_another_r2t);
    g_test_add_func("/transfer/bad_data_digest_with_r2ts_in_flight",
                    test_bad_data_digest_with_r2ts_in_flight);
    g_test_add_func("/transfer/every_combination", test_every_combination);
    g_test_add_func("/transfer/pdo_against_cpda", test_pdo_against_cpda);
    g_test_add_func("/transfer/pdo_without_data_under_cpda", test_pdo_without_data_under_cpda);
    g_test_add_func("/transfer/wrong_values_of_the_attributes",
                    test_wrong_values_of_the_attributes);
    return g_test_run();
}
