/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Twenty malformed inputs, each whole, byte by byte, coalesced with good neighbours, and with the
 * peer closing in the middle: 80 cases. Not here: the inputs and their answers (malformed_rows.c).
 * NVMe/TCP transport specification 1.0, sections 3.3.2.1 and 3.6.
 */
/*
 * One case by hand: test_malformed -p /malformed/13/byte_by_byte; it covers all variants of the
 * row.
 */
#include <string.h>

#include "malformed.h"

/* ---- Stages */

static bool on_r2t(HostQueue *queue, void *opaque, uint16_t cid, uint16_t ttag, uint32_t offset,
                   uint32_t length)
{
    MalformedContext *c = opaque;

    (void)queue;
    c->cid = cid;
    c->ttag = ttag;
    c->r2t_offset = offset;
    c->r2t_length = length;
    return !c->answer_r2t;
}

static void submit(MalformedContext *c, uint8_t opcode, HostDataKind kind)
{
    struct nv_sqe sqe = host_cmd_rw(opcode, 1, MALFORMED_WRITE_LBA,
                                    MALFORMED_WRITE_BYTES / RIG_BLOCK, 0);

    c->cid = host_queue_submit(c->link->host, &sqe, kind, c->data, MALFORMED_WRITE_BYTES, NULL,
                               NULL);
    rig_pump(c->rig);
}

static MalformedContext *context_new(const Malformed *m)
{
    MalformedContext *c = g_new0(MalformedContext, 1);
    HostQueueConfig admin = rig_admin_config();
    HostQueueConfig io = rig_io_config();

    admin.header_digest = io.header_digest = m->digests & NVTCP_DGST_HEADER;
    admin.data_digest = io.data_digest = m->digests & NVTCP_DGST_DATA;
    io.on_r2t = on_r2t;
    io.opaque = c;
    c->data = g_malloc(MALFORMED_WRITE_BYTES);
    rig_pattern(c->data, MALFORMED_WRITE_BYTES, m->row);
    c->answer_r2t = m->stage == STAGE_STALE;
    c->format = (HostPduFormat){ admin.header_digest, admin.data_digest, 4 };
    c->rig = rig_new();
    c->admin = rig_admin(c->rig);
    c->io = rig_io(c->rig, c->admin, 1, NULL);

    switch (m->stage) {
    case STAGE_FRESH:
        c->link = rig_link_raw(c->rig, NULL);
        c->format = (HostPduFormat){ false, false, 4 };
        break;
    case STAGE_IC:
        c->link = rig_link(c->rig, NULL, &admin);
        break;
    case STAGE_ADMIN:
        c->link = rig_admin_to(c->rig, NULL, NULL, &admin, 0);
        break;
    case STAGE_IO:
    case STAGE_WRITE:
    case STAGE_READ:
    case STAGE_STALE:
        c->link = rig_io(c->rig, c->admin, 3, &io);
        break;
    }
    if (m->stage == STAGE_WRITE || m->stage == STAGE_STALE) {
        submit(c, NV_IO_WRITE, HOST_DATA_OUT_R2T);
        /* The table counts on one R2T for all of it and on this limit. */
        g_assert_cmpuint(c->r2t_length, ==, MALFORMED_WRITE_BYTES);
        g_assert_cmpuint(host_queue_max_h2c_data(c->link->host), ==, 131072);
        g_assert_cmpuint(host_queue_outstanding(c->link->host), ==, m->stage == STAGE_WRITE);
    } else if (m->stage == STAGE_READ) {
        c->rig->defer = true;
        submit(c, NV_IO_READ, HOST_DATA_IN);
        g_assert_cmpuint(g_queue_get_length(&c->rig->ios), ==, 1);
    } else {
        c->r2t_length = MALFORMED_WRITE_BYTES;
    }
    c->link->capture = true;
    return c;
}

static void context_free(MalformedContext *c)
{
    rig_free(c->rig);
    g_free(c->data);
    g_free(c);
}

/* ---- The input */

/* Offset of the last PDU: those before it are right. */
static uint32_t last_pdu(const GByteArray *bytes)
{
    uint32_t at = 0;

    for (;;) {
        struct nvtcp_hdr hdr;

        memcpy(&hdr, bytes->data + at, sizeof(hdr));
        if (at + hdr.plen >= bytes->len) {
            return at;
        }
        at += hdr.plen;
    }
}

static GByteArray *make_input(const Malformed *m, MalformedContext *c, uint32_t *last)
{
    GByteArray *bad = g_byte_array_new();
    uint8_t *pdu;

    m->build(c, bad);
    *last = m->build && bad->len > 0 ? last_pdu(bad) : 0;
    pdu = bad->data + *last;
    for (unsigned i = 0; i < MALFORMED_POKES; i++) {
        const Poke *poke = &m->poke[i];

        for (unsigned n = 0; poke->width && n < MAX(poke->times, 1); n++) {
            uint32_t at = poke->at + n * poke->width;

            /* SQE() and DATA() count from a header without digest. */
            g_assert_cmpuint(at + poke->width, <=, bad->len - *last);
            memcpy(pdu + at, &poke->value, poke->width);
        }
    }
    /* A spoiled HLEN must not decide where the digest goes. */
    if (!m->keep_digest && (pdu[1] & NVTCP_F_HDGST) && (pdu[2] == 72 || pdu[2] == 24) &&
        (m->digests & NVTCP_DGST_HEADER)) {
        host_pdu_reseal(pdu);
    }
    return bad;
}

/* A command that every queue answers at once, before Connect with 0/0C, after it with 0/01. */
static void neighbour(const MalformedContext *c, GByteArray *out, uint16_t cid)
{
    struct nv_sqe sqe = wire_sgl(host_cmd(0xfc, 1), NV_SGL_TRANSPORT, 0, 0);

    wire_capsule(out, &c->format, &sqe, cid, NULL, 0);
}

/* ---- The answer */

static void check_term(const Malformed *m, MalformedContext *c, const uint8_t *bad)
{
    const uint8_t *pdu = wire_find_term(c->link->received);
    struct nvtcp_term term;
    uint32_t fei = m->fei;
    uint32_t before;

    g_assert_nonnull(pdu);
    memcpy(&term, pdu, sizeof(term));
    if (m->fei_is_digest) {
        memcpy(&fei, bad + bad[2], sizeof(fei));
    }
    g_assert_cmpuint(term.fes, ==, m->fes);
    g_assert_cmphex(term.fei, ==, fei);
    g_assert_cmpuint(term.hdr.flags, ==, 0);
    g_assert_cmpuint(term.hdr.hlen, ==, 24);
    g_assert_cmpuint(term.hdr.pdo, ==, 0);
    g_assert_cmpuint(term.hdr.plen, >=, 24 + 8);
    g_assert_cmpuint(term.hdr.plen, <=, 152);
    g_assert_cmpmem(pdu + 24, term.hdr.plen - 24, bad, term.hdr.plen - 24);
    g_assert_cmpuint(c->rig->events[LST_EVENT_CONN_TERMINATE], ==, 1);
    g_assert_cmpuint(c->rig->last_terminate.args[0], ==, m->fes);

    /* Nothing more is processed; the connection waits 30 s for the host to close it, no longer. */
    g_assert_false(c->link->closed);
    g_assert_cmpint(lst_conn_state(c->link->conn), ==, LST_CONN_TERM);
    before = c->link->received->len;
    g_autoptr(GByteArray) more = g_byte_array_new();
    neighbour(c, more, 0x7fff);
    rig_send(c->link, more->data, more->len);
    rig_advance(c->rig, 30 * RIG_S - 1);
    g_assert_false(c->link->closed);
    rig_advance(c->rig, 1);
    g_assert_true(c->link->closed);
    g_assert_cmpuint(c->link->received->len, ==, before);
}

static void check_status(const Malformed *m, MalformedContext *c)
{
    struct nv_cqe cqe;

    g_assert_null(wire_find_term(c->link->received));
    g_assert_false(c->link->closed);
    g_assert_true(wire_find_cqe(c->link->received, m->on_write ? c->cid : BAD_CID, &cqe));
    g_assert_cmphex(NV_STATUS_CODE(cqe.status >> 1), ==, m->status);
    if (m->check_dw0) {
        g_assert_cmphex(cqe.dw0, ==, m->dw0);
    }

    /* The connection goes on. */
    g_autoptr(GByteArray) more = g_byte_array_new();
    neighbour(c, more, 0x7fff);
    rig_send(c->link, more->data, more->len);
    g_assert_true(wire_find_cqe(c->link->received, 0x7fff, &cqe));
}

static void check_close(MalformedContext *c)
{
    g_assert_true(c->link->closed);
    g_assert_null(wire_find_term(c->link->received));
}

static void check_answer(const Malformed *m, MalformedContext *c, const uint8_t *bad)
{
    struct nv_cqe cqe;

    switch (m->answer) {
    case ANSWER_TERM:
        check_term(m, c, bad);
        g_assert_false(wire_find_cqe(c->link->received, BAD_CID, &cqe));
        break;
    case ANSWER_STATUS:
        check_status(m, c);
        break;
    case ANSWER_CLOSE:
        check_close(c);
        break;
    }
}

/* No bad input may reach the media, nor hurt another connection or a new one. */
static void check_rest(const Malformed *m, MalformedContext *c, bool whole)
{
    bool gone = whole && m->ends_association;
    static const uint8_t zeroes[MALFORMED_WRITE_BYTES];
    const uint8_t *media = c->rig->media.bytes;
    RigLink *admin;

    if (!c->answer_r2t) {
        g_assert_cmpmem(media + MALFORMED_WRITE_LBA * RIG_BLOCK, MALFORMED_WRITE_BYTES, zeroes,
                        MALFORMED_WRITE_BYTES);
    }
    g_assert_cmpmem(media + MALFORMED_CAPSULE_LBA * RIG_BLOCK, RIG_BLOCK, zeroes, RIG_BLOCK);
    g_assert_cmpint(c->admin->closed, ==, gone);
    g_assert_cmpint(c->io->closed, ==, gone);
    if (!gone) {
        g_assert_cmphex(rig_run(c->io, host_cmd(0xfc, 1)), ==, NV_SC_INVALID_OPCODE);
    }
    admin = rig_admin(c->rig);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
}

/* ---- The four deliveries */

static void deliver_whole(const Malformed *m)
{
    MalformedContext *c = context_new(m);
    uint32_t last;
    g_autoptr(GByteArray) bad = make_input(m, c, &last);

    rig_send(c->link, bad->data, bad->len);
    check_answer(m, c, bad->data + last);
    check_rest(m, c, true);
    context_free(c);
}

static void deliver_byte_by_byte(const Malformed *m)
{
    MalformedContext *c = context_new(m);
    uint32_t last;
    g_autoptr(GByteArray) bad = make_input(m, c, &last);
    uint32_t answered = 0;

    for (uint32_t i = 0; i < bad->len && !c->link->closed; i++) {
        rig_send(c->link, bad->data + i, 1);
        if (answered == 0 && !c->link->closed && lst_conn_state(c->link->conn) == LST_CONN_TERM) {
            answered = i + 1 - last;
        }
    }
    /* A header that is wrong is refused when it is complete: nothing behind it is waited for. */
    if (m->answer == ANSWER_TERM) {
        g_assert_cmpuint(answered, >=, 1);
        g_assert_cmpuint(answered, <=, m->fes == NVTCP_FES_HEADER && m->fei < 8 ? 8 : 128);
    }
    check_answer(m, c, bad->data + last);
    check_rest(m, c, true);
    context_free(c);
}

static void deliver_coalesced(const Malformed *m)
{
    MalformedContext *c = context_new(m);
    g_autoptr(GByteArray) all = g_byte_array_new();
    struct nv_cqe cqe;
    uint32_t last;

    if (m->stage != STAGE_FRESH) {
        neighbour(c, all, BEFORE_CID);
    }
    g_autoptr(GByteArray) bad = make_input(m, c, &last);
    g_byte_array_append(all, bad->data, bad->len);
    neighbour(c, all, AFTER_CID);
    rig_send(c->link, all->data, all->len);

    check_answer(m, c, bad->data + last);
    /*
     * What came before is answered, but for a close that may overtake the answer; what came after,
     * only if all goes on.
     */
    if (m->stage != STAGE_FRESH && m->answer != ANSWER_CLOSE) {
        g_assert_true(wire_find_cqe(c->link->received, BEFORE_CID, &cqe));
    }
    g_assert_cmpint(wire_find_cqe(c->link->received, AFTER_CID, &cqe), ==,
                    m->answer == ANSWER_STATUS);
    check_rest(m, c, true);
    context_free(c);
}

static void close_after(const Malformed *m, uint32_t cut)
{
    MalformedContext *c = context_new(m);
    uint32_t last;
    g_autoptr(GByteArray) bad = make_input(m, c, &last);
    struct nv_cqe cqe;

    rig_send(c->link, bad->data, cut);
    /* Half an input gets no status, and no other termination than the whole one would. */
    g_assert_false(wire_find_cqe(c->link->received, BAD_CID, &cqe));
    if (wire_find_term(c->link->received)) {
        g_assert_cmpint(m->answer, ==, ANSWER_TERM);
        g_assert_cmpuint(c->rig->last_terminate.args[0], ==, m->fes);
    }
    rig_unlink(c->link);
    check_rest(m, c, false);
    context_free(c);
}

/*
 * Every cut of a short input and of the first header; then at growing distances, and before the
 * last byte.
 */
static void deliver_cut(const Malformed *m)
{
    MalformedContext *c = context_new(m);
    uint32_t last;
    g_autoptr(GByteArray) bad = make_input(m, c, &last);
    uint32_t step = 1;

    context_free(c);
    for (uint32_t cut = 1; cut < bad->len; cut += step) {
        close_after(m, cut);
        step = cut < 8 ? 1 : MAX(3, cut / 8);
    }
    close_after(m, bad->len - 1);
}

typedef struct Case {
    unsigned row;
    void (*deliver)(const Malformed *m);
} Case;

static void test_malformed_case(const void *data)
{
    const Case *one = data;
    unsigned found = 0;

    for (unsigned i = 0; i < malformed_count; i++) {
        if (malformed[i].row == one->row) {
            g_test_message("row %u: %s", one->row, malformed[i].name);
            one->deliver(&malformed[i]);
            found++;
        }
    }
    g_assert_cmpuint(found, >, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*deliver)(const Malformed *m);
    } deliveries[] = {
        { "whole", deliver_whole },
        { "byte_by_byte", deliver_byte_by_byte },
        { "coalesced", deliver_coalesced },
        { "peer_closes_in_the_middle", deliver_cut },
    };
    static Case cases[MALFORMED_ROWS][G_N_ELEMENTS(deliveries)];

    g_test_init(&argc, &argv, NULL);
    for (unsigned row = 1; row <= MALFORMED_ROWS; row++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(deliveries); i++) {
            g_autofree char *path = g_strdup_printf("/malformed/%02u/%s", row, deliveries[i].name);

            cases[row - 1][i] = (Case){ .row = row, .deliver = deliveries[i].deliver };
            g_test_add_data_func(path, &cases[row - 1][i], test_malformed_case);
        }
    }
    return g_test_run();
}
