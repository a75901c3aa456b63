/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations over connections: commands and their checks, conflicts of other commands, Preempt
 * and Abort, notifications, features, and what survives the loss of power.
 * Not here: what each command changes (test_resv_rules.c).
 * NVMe base specification 2.0, 7.2 to 7.5, 8.19, 5.16.1.25, 5.27.1.26, 5.27.1.27.
 */
#include <string.h>

#include "rig.h"

typedef struct Host {
    RigLink *admin, *io;
} Host;

typedef struct Setup {
    Rig *rig;
    Host a, b;                           /* of different host identifiers */
    uint8_t buf[4096];
    RigResult result;
} Setup;

enum { KEY_A = 0xaaaa, KEY_B = 0xbbbb };

static Host host(Rig *rig, uint8_t who)
{
    Host new;

    rig->who = who;
    new.admin = rig_admin(rig);
    new.io = rig_io(rig, new.admin, 1, NULL);
    return new;
}

static void resv_enable(struct lst_ns *ns, const char *value)
{
    g_assert_true(lst_ns_enable(ns, false, NULL));
    g_assert_true(lst_ns_set(ns, "resv_enable", value, NULL));
    g_assert_true(lst_ns_enable(ns, true, NULL));
}

static Setup *setup_on(Rig *rig)
{
    Setup *s = g_new0(Setup, 1);

    s->rig = rig;
    resv_enable(rig->ns, "1");
    s->a = host(rig, 0);
    s->b = host(rig, 1);
    return s;
}

static Setup *setup(void)
{
    return setup_on(rig_new());
}

static void teardown(Setup *s)
{
    rig_free(s->rig);
    g_free(s);
}

static struct nv_sqe command(uint8_t opcode, uint32_t cdw10)
{
    struct nv_sqe sqe = host_cmd(opcode, 1);

    sqe.cdw10 = cdw10;
    return sqe;
}

static uint16_t keys(Host host, uint8_t opcode, uint32_t cdw10, uint64_t first, uint64_t second)
{
    uint64_t data[2] = { first, second };

    return rig_do(host.io, command(opcode, cdw10), HOST_DATA_OUT_CAPSULE, data,
                  opcode == NV_IO_RESV_RELEASE ? 8 : 16, NULL);
}

static uint16_t registers(Host host, uint64_t key)
{
    return keys(host, NV_IO_RESV_REGISTER, NV_RESV_REGISTER, 0, key);
}

static uint16_t acquires(Host host, unsigned action, uint8_t type, uint64_t key, uint64_t prkey)
{
    return keys(host, NV_IO_RESV_ACQUIRE, action | (uint32_t)type << 8, key, prkey);
}

static uint16_t releases(Host host, unsigned action, uint8_t type, uint64_t key)
{
    return keys(host, NV_IO_RESV_RELEASE, action | (uint32_t)type << 8, key, 0);
}

static void both_register(Setup *s)
{
    g_assert_cmphex(registers(s->a, KEY_A), ==, 0);
    g_assert_cmphex(registers(s->b, KEY_B), ==, 0);
}

static struct nv_sqe report(uint32_t bytes)
{
    struct nv_sqe sqe = command(NV_IO_RESV_REPORT, bytes / 4 - 1);

    sqe.cdw11 = NV_RESV_EDS;
    return sqe;
}

static uint16_t writes(Setup *s, Host host)
{
    return rig_do(host.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf,
                  512, &s->result);
}

static uint16_t reads(Setup *s, Host host)
{
    return rig_in(host.io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), s->buf, 512);
}

/* ---- What a host sees before it begins */

static void test_identify_says_what_there_is(void)
{
    Setup *s = setup_on(rig_new_keeping());
    struct nv_id_ctrl *ctrl = (void *)s->buf;
    struct nv_id_ns *ns = (void *)s->buf;
    struct nv_id_ns_independent *independent = (void *)s->buf;

    g_assert_cmphex(rig_in(s->a.admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s->buf, 4096), ==,
                    0);
    g_assert_cmphex(ctrl->oncs & 1u << 5, ==, 1u << 5);
    g_assert_cmphex(ctrl->ctratt & 1, ==, 1);    /* 128-bit host identifiers */
    g_assert_cmphex(rig_in(s->a.admin, host_cmd_identify(NV_CNS_NS, 1, 0, 0), s->buf, 4096), ==, 0);
    g_assert_cmphex(ns->rescap, ==, 0xff);
    g_assert_cmphex(
        rig_in(s->a.admin, host_cmd_identify(NV_CNS_NS_INDEPENDENT, 1, 0, 0), s->buf, 4096), ==, 0);
    g_assert_cmphex(independent->rescap, ==, 0xff);
    resv_enable(s->rig->ns, "0");
    g_assert_cmphex(rig_in(s->a.admin, host_cmd_identify(NV_CNS_NS, 1, 0, 0), s->buf, 4096), ==, 0);
    g_assert_cmphex(ns->rescap, ==, 0);
    teardown(s);
    s = setup();                         /* nobody keeps the state: no persistence */
    g_assert_cmphex(rig_in(s->a.admin, host_cmd_identify(NV_CNS_NS, 1, 0, 0), s->buf, 4096), ==, 0);
    g_assert_cmphex(((struct nv_id_ns *)(void *)s->buf)->rescap, ==, 0xfe);
    teardown(s);
}

static void test_commands_of_a_namespace_without_reservations(void)
{
    Setup *s = setup();

    resv_enable(s->rig->ns, "0");
    g_assert_cmphex(registers(s->a, KEY_A), ==, NV_SC_INVALID_OPCODE);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_WE, KEY_A, 0), ==, NV_SC_INVALID_OPCODE);
    g_assert_cmphex(releases(s->a, 0, NV_RESV_WE, KEY_A), ==, NV_SC_INVALID_OPCODE);
    g_assert_cmphex(rig_in(s->a.io, report(64), s->buf, 64), ==, NV_SC_INVALID_OPCODE);
    teardown(s);
}

static void test_resv_enable_is_for_disabled_namespaces(void)
{
    Setup *s = setup();
    g_autofree char *value = lst_ns_get(s->rig->ns, "resv_enable", NULL);
    GError *err = NULL;

    g_assert_cmpstr(value, ==, "1");
    g_assert_false(lst_ns_set(s->rig->ns, "resv_enable", "0", &err));
    g_assert_error(err, LST_ERROR, LST_ERROR_STATE);
    g_clear_error(&err);
    g_assert_false(lst_ns_set(s->rig->ns, "resv_enable", "2", &err));
    g_assert_error(err, LST_ERROR, LST_ERROR_VALUE);
    g_clear_error(&err);
    /* Off and on again: nobody is registered; hidden and shown again: all are. */
    both_register(s);
    g_assert_true(lst_ns_enable(s->rig->ns, false, NULL));
    g_assert_true(lst_ns_enable(s->rig->ns, true, NULL));
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, 0);
    g_assert_cmphex(reads(s, s->b), ==, NV_SC_RESERVATION_CONFLICT);
    resv_enable(s->rig->ns, "0");
    g_assert_cmphex(reads(s, s->b), ==, 0);
    resv_enable(s->rig->ns, "1");
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, NV_SC_RESERVATION_CONFLICT);
    teardown(s);
}

/* ---- Report */

static void test_report(void)
{
    Setup *s = setup();
    struct nvf_connect_data data = rig_connect_data(NULL, 0);

    both_register(s);
    g_assert_cmphex(acquires(s->b, 0, NV_RESV_WE_RO, KEY_B, 0), ==, 0);
    g_assert_cmphex(rig_in(s->a.io, report(192), s->buf, 192), ==, 0);
    g_assert_cmpuint(s->buf[0], ==, 2);
    g_assert_cmpuint(s->buf[4], ==, NV_RESV_WE_RO);
    g_assert_cmpuint(s->buf[5], ==, 2);
    g_assert_cmpmem(s->buf + 64 + 16, 16, data.hostid, 16);
    g_assert_cmpuint(s->buf[64 + 2], ==, 0);
    g_assert_cmpuint(s->buf[128 + 2], ==, 1);
    /* Less than there is, down to one dword. */
    g_assert_cmphex(rig_in(s->a.io, report(4), s->buf, 4), ==, 0);
    g_assert_cmpuint(s->buf[0], ==, 2);
    teardown(s);
}

/* Static controllers have numbers of their own; a host that is gone has none. */
static void test_report_of_static_controllers(void)
{
    Setup *s = setup();

    g_assert_true(lst_subsys_set(s->rig->subsys, "attr_controller_model", "static", NULL));
    both_register(s);
    g_assert_cmphex(rig_in(s->a.io, report(192), s->buf, 192), ==, 0);
    g_assert_cmpuint(s->buf[64] | s->buf[65] << 8, ==, s->a.admin->cntlid);
    g_assert_cmpuint(s->buf[128] | s->buf[129] << 8, ==, s->b.admin->cntlid);
    rig_unlink(s->b.io);
    rig_unlink(s->b.admin);
    g_assert_cmphex(rig_in(s->a.io, report(192), s->buf, 192), ==, 0);
    g_assert_cmpuint(s->buf[128] | s->buf[129] << 8, ==, 0xffff);
    teardown(s);
}

static void test_report_that_is_wrong(void)
{
    Setup *s = setup();
    struct nv_sqe sqe = report(64);

    /* The short form has no room for a host identifier of 128 bits (7.5). */
    sqe.cdw11 = 0;
    g_assert_cmphex(rig_in(s->a.io, sqe, s->buf, 64), ==, NV_SC_HOSTID_INCONSISTENT);
    g_assert_cmphex(rig_in(s->a.io, report(2 << 20), s->buf, 64), ==, NV_SC_INVALID_FIELD);
    sqe = report(64);
    sqe.cdw10 = 0xffffffff;
    g_assert_cmphex(rig_in(s->a.io, sqe, s->buf, 64), ==, NV_SC_INVALID_FIELD);
    sqe = report(64);
    sqe.nsid = NV_NSID_ALL;
    g_assert_cmphex(rig_in(s->a.io, sqe, s->buf, 64), ==, NV_SC_INVALID_NAMESPACE);
    g_assert_cmphex(rig_in(s->a.io, report(64), s->buf, 128), ==, NV_SC_SGL_LENGTH);
    teardown(s);
}

static void test_commands_with_the_wrong_length(void)
{
    Setup *s = setup();

    g_assert_cmphex(rig_do(s->a.io, command(NV_IO_RESV_REGISTER, 0), HOST_DATA_OUT_CAPSULE, s->buf,
                           8, NULL),
                    ==, NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_do(s->a.io, command(NV_IO_RESV_RELEASE, 0), HOST_DATA_OUT_CAPSULE, s->buf,
                           16, NULL),
                    ==, NV_SC_SGL_LENGTH);
    g_assert_cmphex(rig_run(s->a.io, command(NV_IO_RESV_ACQUIRE, 0)), ==, NV_SC_SGL_LENGTH);
    teardown(s);
}

/* ---- Conflicts */

static void test_conflict_of_a_write_between_two_hosts(void)
{
    Setup *s = setup();

    both_register(s);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_WE, KEY_A, 0), ==, 0);
    g_assert_cmphex(writes(s, s->a), ==, 0);
    g_assert_cmphex(writes(s, s->b), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_true(s->result.dnr);
    g_assert_cmphex(reads(s, s->b), ==, 0);
    g_assert_cmphex(rig_run(s->b.io, host_cmd(NV_IO_FLUSH, 1)), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(releases(s->a, 0, NV_RESV_WE, KEY_A), ==, 0);
    g_assert_cmphex(writes(s, s->b), ==, 0);
    teardown(s);
}

/* The identity is the host's, not the controller's: a second path of the holder may write. */
static void test_conflict_not_on_another_path_of_the_holder(void)
{
    Setup *s = setup();
    Host path = host(s->rig, 0);

    both_register(s);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, 0);
    g_assert_cmphex(writes(s, path), ==, 0);
    g_assert_cmphex(releases(path, 0, NV_RESV_EA, KEY_A), ==, 0);
    g_assert_cmphex(reads(s, s->b), ==, 0);
    teardown(s);
}

/* The capsule of a write reaches the target, but the R2T does not reach the host ... */
static void write_without_data(Setup *s, RigLink *io, RigResult *result)
{
    struct nv_sqe sqe = host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0);
    const uint8_t *bytes;
    size_t length;

    memset(result, 0, sizeof(*result));
    memset(s->buf, 0x77, sizeof(s->buf));
    g_assert_cmpint(host_queue_submit(io->host, &sqe, HOST_DATA_OUT_R2T, s->buf, 4096,
                                      rig_completed, result),
                    >=, 0);
    bytes = host_queue_output(io->host, &length);
    lst_conn_receive(io->conn, bytes, length);
    host_queue_output_consumed(io->host, length);
    io->capture = true;
}

/* ... until now. */
static void data_follow(Setup *s, RigLink *io, const RigResult *result)
{
    g_assert_false(result->done);
    io->capture = false;
    g_assert_cmpint(host_queue_receive(io->host, io->received->data, io->received->len), ==,
                    HOST_OK);
    g_byte_array_set_size(io->received, 0);
    rig_pump(s->rig);
    g_assert_true(result->done);
    g_assert_cmpuint(s->rig->media.bytes[0], ==, 0);     /* it was not written */
}

static void test_conflict_that_came_before_the_data(void)
{
    Setup *s = setup();
    RigResult write;

    both_register(s);
    write_without_data(s, s->b.io, &write);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_WE, KEY_A, 0), ==, 0);
    data_follow(s, s->b.io, &write);
    g_assert_cmphex(write.status, ==, NV_SC_RESERVATION_CONFLICT);
    teardown(s);
}

/* ---- Preempt and Abort */

static void test_preempt_and_abort_waits_for_the_media(void)
{
    Setup *s = setup();
    uint64_t data[2] = { KEY_B, KEY_A };
    RigResult write = { 0 }, other = { 0 }, acquire = { 0 };

    both_register(s);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_WE, KEY_A, 0), ==, 0);
    s->rig->defer = true;
    rig_submit(s->a.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512,
               &write);
    rig_submit(s->b.io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), HOST_DATA_IN, s->buf, 512, &other);
    rig_submit(s->b.io, command(NV_IO_RESV_ACQUIRE, NV_RESV_PREEMPT_ABORT | NV_RESV_WE << 8),
               HOST_DATA_OUT_CAPSULE, data, 16, &acquire);
    g_assert_false(acquire.done);
    rig_complete_io(s->rig, 0);          /* the write of the host that was preempted */
    g_assert_true(write.done);
    g_assert_cmphex(write.status, ==, 0);
    g_assert_true(acquire.done);
    g_assert_cmphex(acquire.status, ==, 0);
    g_assert_cmpuint(write.order, <, acquire.order);
    g_assert_false(other.done);          /* the preempting host's own are not waited for */
    rig_complete_io(s->rig, 0);
    s->rig->defer = false;
    g_assert_cmphex(writes(s, s->a), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(writes(s, s->b), ==, 0);
    teardown(s);
}

/* The preempted host's connection ended meanwhile; its write is still at the media. */
static void test_preempt_and_abort_waits_for_a_host_that_is_gone(void)
{
    Setup *s = setup();
    uint64_t data[2] = { KEY_B, KEY_A };
    RigResult write = { 0 }, acquire = { 0 };

    both_register(s);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_WE, KEY_A, 0), ==, 0);
    s->rig->defer = true;
    rig_submit(s->a.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512,
               &write);
    rig_unlink(s->a.io);
    rig_submit(s->b.io, command(NV_IO_RESV_ACQUIRE, NV_RESV_PREEMPT_ABORT | NV_RESV_WE << 8),
               HOST_DATA_OUT_CAPSULE, data, 16, &acquire);
    g_assert_false(acquire.done);
    rig_complete_io(s->rig, 0);
    g_assert_true(acquire.done);
    g_assert_cmphex(acquire.status, ==, 0);
    teardown(s);
}

static void test_preempt_and_abort_from_a_host_that_goes(void)
{
    Setup *s = setup();
    uint64_t data[2] = { KEY_B, KEY_A };
    RigResult write = { 0 }, acquire = { 0 };

    both_register(s);
    s->rig->defer = true;
    rig_submit(s->a.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, s->buf, 512,
               &write);
    rig_submit(s->b.io, command(NV_IO_RESV_ACQUIRE, NV_RESV_PREEMPT_ABORT | NV_RESV_WE << 8),
               HOST_DATA_OUT_CAPSULE, data, 16, &acquire);
    rig_unlink(s->b.io);
    rig_complete_io(s->rig, 0);
    g_assert_true(write.done);
    g_assert_cmphex(registers(s->a, KEY_A), ==, 0);      /* it was preempted all the same */
    teardown(s);
}

/* No reservation stands against it, but it is of before the preemption. */
static void test_preempt_and_abort_of_a_write_without_its_data(void)
{
    Setup *s = setup();
    RigResult write;

    both_register(s);
    write_without_data(s, s->a.io, &write);
    g_assert_cmphex(acquires(s->b, NV_RESV_PREEMPT_ABORT, NV_RESV_WE, KEY_B, KEY_A), ==, 0);
    data_follow(s, s->a.io, &write);
    g_assert_cmphex(write.status, ==, NV_SC_PREEMPT_ABORT);
    teardown(s);
}

/* ---- Notifications */

static uint16_t next_page(Setup *s, Host host, struct nv_log_reservation *page, bool retain)
{
    uint16_t status = rig_in(host.admin, host_cmd_get_log(NV_LOG_RESERVATION, NV_NSID_ALL, 0, 64,
                                                          0, retain),
                             s->buf, 64);

    memcpy(page, s->buf, sizeof(*page));
    return status;
}

static uint16_t feature(Setup *s, Host host, struct nv_sqe sqe, uint32_t nsid)
{
    sqe.nsid = nsid;
    return rig_do(host.admin, sqe, HOST_DATA_NONE, NULL, 0, &s->result);
}

static void test_notice_by_event_and_log_page(void)
{
    Setup *s = setup();
    struct nv_log_reservation page;
    RigResult event = { 0 };

    rig_submit(s->a.admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &event);
    both_register(s);
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_LOG_EMPTY);
    g_assert_cmpuint(page.count, ==, 0);
    g_assert_false(event.done);
    g_assert_cmphex(acquires(s->b, NV_RESV_PREEMPT, NV_RESV_WE, KEY_B, KEY_A), ==, 0);
    g_assert_true(event.done);           /* type 6, information 0, log page 80h */
    g_assert_cmphex(event.dw0, ==, 0x800006);
    g_assert_cmphex(next_page(s, s->a, &page, true), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_REGISTRATION_PREEMPTED);
    g_assert_cmpuint(page.count, ==, 1);
    g_assert_cmpuint(page.nsid, ==, 1);
    g_assert_cmpuint(page.available, ==, 0);
    /* Retained, so it is there again; then it is read for good. */
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.count, ==, 1);
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_LOG_EMPTY);
    /* Who caused it is not told. */
    g_assert_cmphex(next_page(s, s->b, &page, false), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_LOG_EMPTY);
    teardown(s);
}

static void test_notice_of_each_type(void)
{
    Setup *s = setup();
    struct nv_log_reservation page;

    both_register(s);
    g_assert_cmphex(acquires(s->b, 0, NV_RESV_WE_RO, KEY_B, 0), ==, 0);
    g_assert_cmphex(releases(s->b, 0, NV_RESV_WE_RO, KEY_B), ==, 0);
    g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    both_register(s);
    g_assert_cmphex(acquires(s->b, NV_RESV_PREEMPT, NV_RESV_WE, KEY_B, KEY_A), ==, 0);
    for (unsigned i = 0; i < 3; i++) {
        static const uint8_t types[] = { NV_RESV_RESERVATION_RELEASED,
                                         NV_RESV_RESERVATION_PREEMPTED,
                                         NV_RESV_REGISTRATION_PREEMPTED };

        g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
        g_assert_cmpuint(page.type, ==, types[i]);
        g_assert_cmpuint(page.count, ==, i + 1);
        g_assert_cmpuint(page.available, ==, 2 - i);
    }
    teardown(s);
}

static void test_notice_masks(void)
{
    Setup *s = setup();
    struct nv_log_reservation page;

    both_register(s);
    g_assert_cmphex(feature(s, s->a, host_cmd_set_features(NV_FEAT_RESV_NOTICE_MASK, 0xc), 1), ==,
                    0);
    g_assert_cmphex(feature(s, s->a, host_cmd_get_features(NV_FEAT_RESV_NOTICE_MASK, 0, 0), 1), ==,
                    0);
    g_assert_cmphex(s->result.dw0, ==, 0xc);
    /* Another controller has masks of its own. */
    g_assert_cmphex(feature(s, s->b, host_cmd_get_features(NV_FEAT_RESV_NOTICE_MASK, 0, 0), 1), ==,
                    0);
    g_assert_cmphex(s->result.dw0, ==, 0);
    g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_LOG_EMPTY);
    g_assert_cmphex(feature(s, s->a, host_cmd_set_features(NV_FEAT_RESV_NOTICE_MASK, 0x2),
                            NV_NSID_ALL),
                    ==, 0);
    both_register(s);
    g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_RESERVATION_PREEMPTED);
    teardown(s);
}

static void test_notice_log_that_overflows(void)
{
    Setup *s = setup();
    struct nv_log_reservation page;
    unsigned pages = 0;

    for (unsigned i = 0; i < 40; i++) {
        both_register(s);
        g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    }
    for (;;) {
        g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
        if (page.type == NV_RESV_LOG_EMPTY) {
            break;
        }
        g_assert_cmpuint(page.count, ==, ++pages);
    }
    g_assert_cmpuint(pages, ==, 32);
    both_register(s);
    g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.count, ==, 41);        /* the gap shows what was lost */
    teardown(s);
}

static void test_notice_gone_after_a_controller_reset(void)
{
    Setup *s = setup();
    struct nv_log_reservation page;

    both_register(s);
    g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    g_assert_cmphex(rig_run(s->a.admin, host_cmd_property_set(NV_REG_CC, false, 0x00460000)), ==,
                    0);
    rig_enable(s->a.admin);
    g_assert_cmphex(next_page(s, s->a, &page, false), ==, 0);
    g_assert_cmpuint(page.type, ==, NV_RESV_LOG_EMPTY);
    teardown(s);
}

/* ---- Features */

static void test_features_and_namespaces(void)
{
    static const uint8_t fids[] = { NV_FEAT_RESV_NOTICE_MASK, NV_FEAT_RESV_PERSIST };
    Setup *s = setup_on(rig_new_keeping());
    RigMedia media;

    rig_add_ns(s->rig->subsys, 2, &media, 1 << 20, 512);     /* without reservations */
    for (unsigned i = 0; i < G_N_ELEMENTS(fids); i++) {
        struct nv_sqe get = host_cmd_get_features(fids[i], 0, 0);
        struct nv_sqe set = host_cmd_set_features(fids[i], 0);

        g_assert_cmphex(feature(s, s->a, get, NV_NSID_ALL), ==, NV_SC_INVALID_FIELD);
        g_assert_cmphex(feature(s, s->a, get, 2), ==, NV_SC_INVALID_FIELD);
        g_assert_cmphex(feature(s, s->a, set, 2), ==, NV_SC_INVALID_FIELD);
        g_assert_cmphex(feature(s, s->a, get, 3), ==, NV_SC_INVALID_NAMESPACE);
        g_assert_cmphex(feature(s, s->a, set, 3), ==, NV_SC_INVALID_NAMESPACE);
        g_assert_cmphex(feature(s, s->a, set, NV_NSID_ALL), ==, 0);
        set.cdw11 = 0x10;                /* reserved */
        g_assert_cmphex(feature(s, s->a, set, 1), ==, NV_SC_INVALID_FIELD);
    }
    lst_subsys_remove_ns(s->rig->subsys, lst_subsys_find_ns(s->rig->subsys, 2), NULL);
    g_free(media.bytes);
    teardown(s);
}

/* ---- The loss of power */

static void test_persistence_by_feature_and_command(void)
{
    Setup *s = setup_on(rig_new_keeping());

    both_register(s);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, 0);
    g_assert_null(s->rig->kept);
    g_assert_cmphex(feature(s, s->b, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 1), 1), ==, 0);
    g_assert_nonnull(s->rig->kept);
    g_assert_cmphex(feature(s, s->a, host_cmd_get_features(NV_FEAT_RESV_PERSIST, 0, 0), 1), ==, 0);
    g_assert_cmpuint(s->result.dw0, ==, 1);
    g_assert_cmphex(rig_in(s->a.io, report(64), s->buf, 64), ==, 0);
    g_assert_cmpuint(s->buf[9], ==, 1);
    g_assert_cmphex(keys(s->a, NV_IO_RESV_REGISTER, NV_RESV_REPLACE | 2u << 30, KEY_A, KEY_A), ==,
                    0);
    g_assert_null(s->rig->kept);
    g_assert_cmphex(keys(s->a, NV_IO_RESV_REGISTER, NV_RESV_REPLACE | 3u << 30, KEY_A, KEY_A), ==,
                    0);
    g_assert_nonnull(s->rig->kept);
    g_assert_cmphex(releases(s->b, NV_RESV_CLEAR, 0, KEY_B), ==, 0);
    g_assert_cmpstr(s->rig->kept, ==, "lockstep namespace 1\nptpl 1\n");
    teardown(s);
}

static void test_persistence_over_a_restart(void)
{
    Setup *s = setup_on(rig_new_keeping());
    g_autofree char *kept = NULL;
    GError *err = NULL;
    Rig *rig = rig_new_keeping();

    both_register(s);
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, 0);
    g_assert_cmphex(feature(s, s->b, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 1), 1), ==, 0);
    kept = g_strdup(s->rig->kept);
    teardown(s);
    /* A namespace takes up what is kept when it is first enabled. */
    lst_subsys_remove_ns(rig->subsys, rig->ns, NULL);
    rig->ns = lst_subsys_add_ns(rig->subsys, 1, NULL);
    g_assert_true(lst_ns_attach(rig->ns, &rig->media, rig->media.size, RIG_BLOCK, NULL));
    g_assert_true(lst_ns_set(rig->ns, "resv_enable", "1", NULL));
    rig->kept = g_strdup("lockstep namespace 1\nnonsense\n");
    g_assert_false(lst_ns_enable(rig->ns, true, &err));
    g_assert_error(err, LST_ERROR, LST_ERROR_VALUE);
    g_assert_nonnull(strstr(err->message, "line 2: 'nonsense'"));
    g_clear_error(&err);
    g_free(rig->kept);
    rig->kept = g_strdup("");
    g_assert_false(lst_ns_enable(rig->ns, true, NULL));
    g_free(rig->kept);
    rig->kept = g_strdup(kept);
    g_assert_true(lst_ns_enable(rig->ns, true, NULL));
    s = g_new0(Setup, 1);
    s->rig = rig;
    s->a = host(rig, 0);
    s->b = host(rig, 1);
    g_assert_cmphex(reads(s, s->b), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(rig_in(s->a.io, report(192), s->buf, 192), ==, 0);
    g_assert_cmpuint(s->buf[0], ==, 0);          /* GEN begins anew */
    g_assert_cmpuint(s->buf[5], ==, 2);
    g_assert_cmphex(releases(s->a, 0, NV_RESV_EA, KEY_A), ==, 0);
    g_assert_cmphex(reads(s, s->b), ==, 0);
    teardown(s);
}

/* What cannot be kept has not happened. */
static void test_persistence_that_fails(void)
{
    Setup *s = setup_on(rig_new_keeping());

    both_register(s);
    g_assert_cmphex(feature(s, s->b, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 1), 1), ==, 0);
    s->rig->keep_fails = true;
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, NV_SC_INTERNAL);
    g_assert_cmphex(reads(s, s->b), ==, 0);
    g_assert_cmphex(feature(s, s->b, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 0), 1), ==,
                    NV_SC_INTERNAL);
    g_assert_cmpuint(s->rig->events[LST_EVENT_STATE_NOT_KEPT], ==, 2);
    s->rig->keep_fails = false;
    g_assert_cmphex(acquires(s->a, 0, NV_RESV_EA, KEY_A, 0), ==, 0);
    teardown(s);
}

static void test_persistence_nobody_offers(void)
{
    Setup *s = setup();

    g_assert_cmphex(feature(s, s->a, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 1), 1), ==,
                    NV_SC_INVALID_FIELD);
    g_assert_cmphex(keys(s->a, NV_IO_RESV_REGISTER, 3u << 30, 0, KEY_A), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(feature(s, s->a, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 0), 1), ==, 0);
    teardown(s);
}

static void test_persistence_ends_with_the_namespace(void)
{
    Setup *s = setup_on(rig_new_keeping());

    both_register(s);
    g_assert_cmphex(feature(s, s->b, host_cmd_set_features(NV_FEAT_RESV_PERSIST, 1), 1), ==, 0);
    g_assert_nonnull(s->rig->kept);
    lst_subsys_remove_ns(s->rig->subsys, s->rig->ns, NULL);
    g_assert_null(s->rig->kept);
    teardown(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/identify/says_what_there_is", test_identify_says_what_there_is);
    g_test_add_func("/commands/of_a_namespace_without_reservations",
                    test_commands_of_a_namespace_without_reservations);
    g_test_add_func("/commands/with_the_wrong_length", test_commands_with_the_wrong_length);
    g_test_add_func("/resv_enable/is_for_disabled_namespaces",
                    test_resv_enable_is_for_disabled_namespaces);
    g_test_add_func("/report/extended", test_report);
    g_test_add_func("/report/of_static_controllers", test_report_of_static_controllers);
    g_test_add_func("/report/that_is_wrong", test_report_that_is_wrong);
    g_test_add_func("/conflict/of_a_write_between_two_hosts",
                    test_conflict_of_a_write_between_two_hosts);
    g_test_add_func("/conflict/not_on_another_path_of_the_holder",
                    test_conflict_not_on_another_path_of_the_holder);
    g_test_add_func("/conflict/that_came_before_the_data",
                    test_conflict_that_came_before_the_data);
    g_test_add_func("/preempt_and_abort/waits_for_the_media",
                    test_preempt_and_abort_waits_for_the_media);
    g_test_add_func("/preempt_and_abort/waits_for_a_host_that_is_gone",
                    test_preempt_and_abort_waits_for_a_host_that_is_gone);
    g_test_add_func("/preempt_and_abort/from_a_host_that_goes",
                    test_preempt_and_abort_from_a_host_that_goes);
    g_test_add_func("/preempt_and_abort/of_a_write_without_its_data",
                    test_preempt_and_abort_of_a_write_without_its_data);
    g_test_add_func("/notice/by_event_and_log_page", test_notice_by_event_and_log_page);
    g_test_add_func("/notice/of_each_type", test_notice_of_each_type);
    g_test_add_func("/notice/masks", test_notice_masks);
    g_test_add_func("/notice/log_that_overflows", test_notice_log_that_overflows);
    g_test_add_func("/notice/gone_after_a_controller_reset",
                    test_notice_gone_after_a_controller_reset);
    g_test_add_func("/features/and_namespaces", test_features_and_namespaces);
    g_test_add_func("/persistence/by_feature_and_command", test_persistence_by_feature_and_command);
    g_test_add_func("/persistence/over_a_restart", test_persistence_over_a_restart);
    g_test_add_func("/persistence/that_fails", test_persistence_that_fails);
    g_test_add_func("/persistence/nobody_offers", test_persistence_nobody_offers);
    g_test_add_func("/persistence/ends_with_the_namespace",
                    test_persistence_ends_with_the_namespace);
    return g_test_run();
}
