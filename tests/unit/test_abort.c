/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Abort of I/O commands wherever they are, and Disconnect of a queue with commands in flight.
 * Not here: Abort of Asynchronous Event Requests (test_admin.c).
 * NVMe base specification 2.0, 5.1 and 6.4.
 */
#include <string.h>

#include "wire.h"

enum { FIRST = 1, SECOND = 2, ABORTED = 0x007, SQ_DELETED = 0x008 };

static void start_abort(RigIo *s, uint16_t qid, int cid, RigResult *result)
{
    rig_submit(s->admin, host_cmd_abort(qid, (uint16_t)cid), HOST_DATA_NONE, NULL, 0, result);
}

/* DW0 of an Abort that is done; bit 0: not aborted. */
static uint32_t do_abort(RigIo *s, uint16_t qid, int cid)
{
    RigResult result;

    start_abort(s, qid, cid, &result);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, 0);
    return result.dw0;
}

static int submit_read(RigIo *s, RigResult *result)
{
    return rig_submit(s->io, host_cmd_rw(NV_IO_READ, 1, 0, 8, 0), HOST_DATA_IN, s->in, 4096,
                      result);
}

static void test_abort_of_nothing(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;
    int cid = submit_read(&s, &result);

    g_assert_cmpuint(do_abort(&s, 1, cid), ==, 1);      /* it is done */
    g_assert_cmpuint(do_abort(&s, 1, 0x7777), ==, 1);
    g_assert_cmpuint(do_abort(&s, 2, cid), ==, 1);
    g_assert_cmpuint(do_abort(&s, 0xffff, cid), ==, 1);
    rig_io_teardown(&s);
}

static void test_abort_at_the_backend(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult result;
    int cid;

    s.rig->defer = true;
    cid = submit_read(&s, &result);
    g_assert_cmpuint(do_abort(&s, 1, cid), ==, 0);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, ABORTED);
    g_assert_true(g_queue_is_empty(&s.rig->ios));
    /* One that goes on as if nothing had been said. */
    s.rig->stubborn = true;
    cid = submit_read(&s, &result);
    g_assert_cmpuint(do_abort(&s, 1, cid), ==, 1);
    g_assert_false(result.done);
    rig_complete_io(s.rig, 0);
    g_assert_cmphex(result.status, ==, 0);
    rig_io_teardown(&s);
}

/* Commands behind what one connection may hold wait for a buffer. */
static void test_abort_of_what_waits_for_a_buffer(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult results[4];
    int cids[4];
    struct nv_sqe sqe = host_cmd_rw(NV_IO_READ, 1, 0, 8, 0);

    g_assert_true(lst_target_set(s.rig->target, "limit_memory", "4096", NULL));
    s.rig->defer = true;
    for (unsigned i = 0; i < 4; i++) {
        cids[i] = rig_submit(s.io, sqe, HOST_DATA_IN, s.in, 4096, &results[i]);
    }
    g_assert_cmpuint(g_queue_get_length(&s.rig->ios), ==, 1);
    g_assert_cmpuint(do_abort(&s, 1, cids[2]), ==, 0);
    g_assert_cmphex(results[2].status, ==, ABORTED);
    g_assert_cmpuint(do_abort(&s, 1, cids[3]), ==, 0);
    g_assert_cmphex(results[3].status, ==, ABORTED);
    rig_complete_io(s.rig, 0);
    g_assert_true(results[0].done);
    rig_complete_io(s.rig, 0);
    g_assert_true(results[1].done);
    g_assert_cmphex(results[1].status, ==, 0);
    rig_io_teardown(&s);
}

/* The host was asked for data, and sends them: so long does the Abort take. */
static void test_abort_of_what_waits_for_data(void)
{
    RigIo s = rig_io_setup(NULL);
    g_autoptr(GByteArray) out = g_byte_array_new();
    const HostPduFormat format = { .align = 4 };
    struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, 2048, 0), NV_SGL_TRANSPORT, 0,
                                 1 << 20);
    struct nvtcp_r2t r2t;
    RigResult abort;
    struct nv_cqe cqe;

    s.io->capture = true;
    wire_capsule(out, &format, &sqe, 0x33, NULL, 0);
    rig_send(s.io, out->data, out->len);
    g_assert_cmpuint(s.io->received->len, ==, sizeof(r2t));
    memcpy(&r2t, s.io->received->data, sizeof(r2t));
    g_assert_cmpuint(r2t.r2tl, ==, 262144);
    start_abort(&s, 1, 0x33, &abort);
    g_assert_false(abort.done);
    for (uint32_t at = 0; at < r2t.r2tl; at += 65536) {
        g_byte_array_set_size(out, 0);
        wire_h2c_data(out, &format, 0x33, r2t.ttag, at, s.out, 65536, at + 65536 == r2t.r2tl);
        rig_send(s.io, out->data, out->len);
    }
    g_assert_true(wire_find_cqe(s.io->received, 0x33, &cqe));
    g_assert_cmphex(NV_STATUS_CODE(cqe.status >> 1), ==, ABORTED);
    g_assert_true(abort.done);
    g_assert_cmphex(abort.dw0, ==, 0);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    /* No further R2T: the one, and the completion. */
    g_assert_cmpuint(s.io->received->len, ==, sizeof(r2t) + sizeof(struct nvtcp_capsule_resp));
    rig_io_teardown(&s);
}

/* ACL: four may wait. They end with the queue of their commands, too. */
static void test_abort_limit(void)
{
    RigIo s = rig_io_setup(NULL);
    g_autoptr(GByteArray) out = g_byte_array_new();
    const HostPduFormat format = { .align = 4 };
    struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0), NV_SGL_TRANSPORT, 0, 4096);
    RigResult aborts[5];

    s.io->capture = true;
    for (uint16_t cid = 0; cid < 5; cid++) {
        wire_capsule(out, &format, &sqe, cid, NULL, 0);
    }
    rig_send(s.io, out->data, out->len);
    for (unsigned i = 0; i < 5; i++) {
        start_abort(&s, 1, (int)i, &aborts[i]);
        g_assert_cmpint(aborts[i].done, ==, i == 4);
    }
    g_assert_cmphex(aborts[4].status, ==, NV_SC_ABORT_LIMIT);
    g_assert_cmpuint(do_abort(&s, 1, 0), ==, 1);        /* is being aborted */
    rig_unlink(s.io);
    rig_pump(s.rig);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_true(aborts[i].done);
        g_assert_cmpuint(aborts[i].dw0, ==, 0);
    }
    s.io = rig_io(s.rig, s.admin, 1, NULL);
    rig_io_teardown(&s);
}

/* The Admin queue goes first; the command ends into nothing. */
static void test_abort_goes_before_its_command(void)
{
    RigIo s = rig_io_setup(NULL);
    g_autoptr(GByteArray) out = g_byte_array_new();
    struct nv_sqe sqe = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0), NV_SGL_TRANSPORT, 0, 4096);
    RigResult abort;

    s.io->capture = true;
    wire_capsule(out, &(HostPduFormat){ .align = 4 }, &sqe, 1, NULL, 0);
    rig_send(s.io, out->data, out->len);
    start_abort(&s, 1, 1, &abort);
    rig_unlink(s.admin);
    rig_pump(s.rig);
    g_assert_true(s.io->closed);
    rig_io_teardown(&s);
}

static void test_abort_of_a_copy(void)
{
    RigIo s = rig_io_setup(NULL);
    const struct nv_copy_range range = { .slba = 0, .nlb = 1023 };
    RigResult result, abort;
    int cid;

    memcpy(s.out, &range, sizeof(range));
    s.rig->defer = true;
    s.rig->stubborn = true;
    cid = rig_submit(s.io, host_cmd_copy(1, 4000, 1, 0), HOST_DATA_OUT_R2T, s.out, 32, &result);
    start_abort(&s, 1, cid, &abort);
    g_assert_false(abort.done);
    rig_complete_io(s.rig, 0);
    g_assert_cmphex(result.status, ==, ABORTED);
    g_assert_true(abort.done);
    g_assert_cmpuint(abort.dw0, ==, 0);
    g_assert_true(g_queue_is_empty(&s.rig->ios));
    rig_io_teardown(&s);
}

static int submit_half(RigIo *s, uint8_t opcode, uint8_t fuse, RigResult *result)
{
    struct nv_sqe sqe = host_cmd_rw(opcode, 1, 0, 1, 0);

    sqe.flags = fuse;
    return rig_submit(s->io, sqe, HOST_DATA_OUT_CAPSULE, s->out, 512, result);
}

static void test_abort_of_fused_halves(void)
{
    RigIo s = rig_io_setup(NULL);
    RigLink *other = rig_io(s.rig, s.admin, 2, NULL);
    RigResult first, second, before;
    int cid;

    /* The first before the second is there. */
    cid = submit_half(&s, NV_IO_COMPARE, FIRST, &first);
    g_assert_cmpuint(do_abort(&s, 1, cid), ==, 0);
    g_assert_cmphex(first.status, ==, ABORTED);
    submit_half(&s, NV_IO_WRITE, SECOND, &second);
    g_assert_cmphex(second.status, ==, 0x009);
    /* The second while both wait for their blocks. */
    s.rig->defer = true;
    rig_submit(other, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s.out, 512,
               &before);
    submit_half(&s, NV_IO_COMPARE, FIRST, &first);
    cid = submit_half(&s, NV_IO_WRITE, SECOND, &second);
    g_assert_cmpuint(do_abort(&s, 1, cid), ==, 0);
    g_assert_cmphex(second.status, ==, ABORTED);
    g_assert_cmphex(first.status, ==, 0x009);
    rig_complete_io(s.rig, 0);
    /* The first while it reads. */
    cid = submit_half(&s, NV_IO_COMPARE, FIRST, &first);
    submit_half(&s, NV_IO_WRITE, SECOND, &second);
    g_assert_cmpuint(do_abort(&s, 1, cid), ==, 0);
    g_assert_cmphex(first.status, ==, ABORTED);
    g_assert_cmphex(second.status, ==, 0x009);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 1);
    rig_io_teardown(&s);
}

/* ---- Disconnect */

static void test_disconnect_of_an_idle_queue(void)
{
    RigIo s = rig_io_setup(NULL);
    RigLink *again;

    g_assert_cmphex(rig_run(s.io, host_cmd_disconnect(1)), ==, 0x180);
    g_assert_cmphex(rig_run(s.admin, host_cmd_disconnect(0)), ==, 0x185);
    g_assert_cmphex(rig_run(s.io, host_cmd_disconnect(0)), ==, 0);
    g_assert_false(s.io->closed);
    /* The controller has queue 1 for others. */
    again = rig_io(s.rig, s.admin, 1, NULL);
    g_assert_cmphex(rig_run(again, host_cmd(NV_IO_FLUSH, 1)), ==, 0);
    /* A host that does not close is not waited for for ever. */
    rig_advance(s.rig, 30 * RIG_S);
    g_assert_true(s.io->closed);
    g_assert_false(again->closed);
    g_assert_false(s.admin->closed);
    rig_io_teardown(&s);
}

/* What waits, what is at the backend, what is sent behind it: Disconnect is answered last. */
static void test_disconnect_with_commands_in_flight(void)
{
    RigIo s = rig_io_setup(NULL);
    g_autoptr(GByteArray) out = g_byte_array_new();
    const HostPduFormat format = { .align = 4 };
    struct nv_sqe read = wire_sgl(host_cmd_rw(NV_IO_READ, 1, 0, 8, 0), NV_SGL_TRANSPORT, 0, 4096);
    struct nv_sqe write = wire_sgl(host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0), NV_SGL_TRANSPORT, 0, 4096);
    struct nv_sqe end = wire_sgl(host_cmd_disconnect(0), NV_SGL_TRANSPORT, 0, 0);
    struct nv_cqe cqe;
    unsigned received;

    s.rig->defer = true;
    s.rig->stubborn = true;
    s.io->capture = true;
    wire_capsule(out, &format, &read, 1, NULL, 0);
    wire_capsule(out, &format, &write, 2, NULL, 0);
    wire_capsule(out, &format, &end, 3, NULL, 0);
    wire_capsule(out, &format, &read, 4, NULL, 0);
    rig_send(s.io, out->data, out->len);
    g_assert_true(wire_find_cqe(s.io->received, 2, &cqe));
    g_assert_cmphex(NV_STATUS_CODE(cqe.status >> 1), ==, SQ_DELETED);
    g_assert_false(wire_find_cqe(s.io->received, 1, &cqe));
    g_assert_false(wire_find_cqe(s.io->received, 3, &cqe));
    rig_complete_io(s.rig, 0);
    g_assert_true(wire_find_cqe(s.io->received, 1, &cqe));
    g_assert_cmphex(cqe.status, ==, 0);
    g_assert_true(wire_find_cqe(s.io->received, 3, &cqe));
    g_assert_cmphex(cqe.status, ==, 0);
    received = s.io->received->len;
    struct nvtcp_capsule_resp last;

    memcpy(&last, s.io->received->data + received - sizeof(last), sizeof(last));
    g_assert_cmphex(last.cqe.cid, ==, 3);
    /* Data that the host was asked for before, and commands: nobody listens. */
    rig_send(s.io, out->data, out->len);
    g_assert_cmpuint(s.io->received->len, ==, received);
    g_assert_cmpuint(s.rig->ios_by_op[LST_IO_WRITE], ==, 0);
    rig_io_teardown(&s);
}

/* With all of them cancelled the answer needs no backend. */
static void test_disconnect_cancels(void)
{
    RigIo s = rig_io_setup(NULL);
    RigResult reads[3], end;

    s.rig->defer = true;
    for (unsigned i = 0; i < 2; i++) {
        submit_read(&s, &reads[i]);
    }
    submit_half(&s, NV_IO_COMPARE, FIRST, &reads[2]);
    rig_submit(s.io, host_cmd_disconnect(0), HOST_DATA_NONE, NULL, 0, &end);
    g_assert_true(end.done);
    g_assert_cmphex(end.status, ==, 0);
    g_assert_cmphex(reads[0].status, ==, ABORTED);
    g_assert_cmphex(reads[1].status, ==, ABORTED);
    g_assert_true(reads[2].done);
    g_assert_true(g_queue_is_empty(&s.rig->ios));
    rig_io_teardown(&s);
}

static void test_disconnect_is_reported(void)
{
    RigIo s = rig_io_setup(NULL);
    const struct nv_id_ctrl *ctrl = (const void *)s.in;

    g_assert_cmphex(rig_in(s.admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s.in, 4096), ==, 0);
    g_assert_cmpuint(ctrl->ofcs, ==, 1);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/abort/of_nothing", test_abort_of_nothing);
    g_test_add_func("/abort/at_the_backend", test_abort_at_the_backend);
    g_test_add_func("/abort/of_what_waits_for_a_buffer", test_abort_of_what_waits_for_a_buffer);
    g_test_add_func("/abort/of_what_waits_for_data", test_abort_of_what_waits_for_data);
    g_test_add_func("/abort/limit", test_abort_limit);
    g_test_add_func("/abort/goes_before_its_command", test_abort_goes_before_its_command);
    g_test_add_func("/abort/of_a_copy", test_abort_of_a_copy);
    g_test_add_func("/abort/of_fused_halves", test_abort_of_fused_halves);
    g_test_add_func("/disconnect/of_an_idle_queue", test_disconnect_of_an_idle_queue);
    g_test_add_func("/disconnect/with_commands_in_flight", test_disconnect_with_commands_in_flight);
    g_test_add_func("/disconnect/cancels", test_disconnect_cancels);
    g_test_add_func("/disconnect/is_reported", test_disconnect_is_reported);
    return g_test_run();
}
