/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connect, controllers and their identifiers, properties, enable and shutdown, connection time-
 * outs.
 * Not here: malformed Connects (test_malformed.c); keep-alive (test_async.c).
 * NVMe base specification 2.0, sections 3.1.3, 3.6 and 6; NVMe/TCP transport specification 1.0,
 * section 3.6.2.
 */
#include <string.h>

#include "wire.h"

/* Connects on a link that has exchanged ICReq and ICResp. */
static RigResult connect_on(RigLink *link, uint16_t qid, const struct nvf_connect_data *data)
{
    RigResult result = { 0 };

    g_assert_cmpint(host_queue_connect(link->host, qid, 0, data, rig_completed, &result), >=, 0);
    rig_pump(link->rig);
    g_assert_true(result.done);
    return result;
}

static RigResult connect_new(Rig *rig, uint16_t qid, const struct nvf_connect_data *data,
                             RigLink **link)
{
    HostQueueConfig config = qid == 0 ? rig_admin_config() : rig_io_config();
    RigLink *local;

    if (!link) {
        link = &local;
    }
    *link = rig_link(rig, NULL, &config);
    return connect_on(*link, qid, data);
}

static void test_connect_gives_a_controller(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    RigLink *link;
    RigResult result = connect_new(rig, 0, &data, &link);

    g_assert_cmphex(result.status, ==, 0);
    g_assert_cmphex(result.dw0 & 0xffff, >=, 1);
    g_assert_cmphex(result.dw0 & 0xffff, <=, NV_CNTLID_MAX);
    g_assert_cmphex(result.dw0 >> 16, ==, 0);           /* ATR, ASCR: no authentication */
    g_assert_cmpint(lst_conn_state(link->conn), ==, LST_CONN_LIVE);
    g_assert_cmpuint(rig->events[LST_EVENT_CONNECT_OK], ==, 1);
    g_assert_cmpuint(rig->events[LST_EVENT_CTRL_NEW], ==, 1);
    g_assert_true(host_queue_sq_flow_control(link->host));
    rig_free(rig);
}

static void test_connect_cntlids_differ_and_stay_in_range(void)
{
    Rig *rig = rig_new();
    uint16_t seen[5];

    g_assert_true(lst_subsys_set(rig->subsys, "attr_cntlid_max", "104", NULL));
    g_assert_true(lst_subsys_set(rig->subsys, "attr_cntlid_min", "100", NULL));
    for (unsigned i = 0; i < 5; i++) {
        seen[i] = rig_admin(rig)->cntlid;
        g_assert_cmpuint(seen[i], >=, 100);
        g_assert_cmpuint(seen[i], <=, 104);
        for (unsigned j = 0; j < i; j++) {
            g_assert_cmpuint(seen[i], !=, seen[j]);
        }
    }
    /* None is left: busy, until one goes. */
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    g_assert_cmphex(connect_new(rig, 0, &data, NULL).status, ==, NVF_SC_CONTROLLER_BUSY);
    rig_unlink(g_ptr_array_index(rig->links, 0));
    g_assert_cmphex(connect_new(rig, 0, &data, NULL).status, ==, 0);
    rig_free(rig);
}

static void test_connect_host_must_be_allowed(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    RigLink *link;

    g_assert_true(lst_subsys_set(rig->subsys, "attr_allow_any_host", "0", NULL));
    g_assert_cmphex(connect_new(rig, 0, &data, &link).status, ==, NVF_SC_INVALID_HOST);
    g_assert_true(lst_subsys_allow_host(rig->subsys, RIG_HOST_NQN, NULL));
    /* The connection is still good for a second try. */
    g_assert_cmphex(connect_on(link, 0, &data).status, ==, 0);
    g_assert_true(lst_subsys_disallow_host(rig->subsys, RIG_HOST_NQN, NULL));
    rig_pump(rig);
    g_assert_true(link->closed);
    rig_free(rig);
}

static void test_connect_subsystem_must_be_on_the_port(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data data = rig_connect_data("nqn.2026-01.org.lockstep:other",
                                                    NV_CNTLID_DYNAMIC);
    struct lst_subsys *other = lst_target_add_subsys(rig->target, data.subnqn, NULL);
    RigResult result;

    g_assert_true(lst_subsys_set(other, "attr_allow_any_host", "1", NULL));
    result = connect_new(rig, 0, &data, NULL);
    g_assert_cmphex(result.status, ==, NVF_SC_INVALID_PARAM);
    g_assert_cmphex(result.dw0, ==, 1u << 16 | 256);
    g_assert_true(lst_port_add_subsys(rig->port, other, NULL));
    g_assert_cmphex(connect_new(rig, 0, &data, NULL).status, ==, 0);
    rig_free(rig);
}

/* Base 2.0, 3.1.1: FFFFh is for the dynamic model; a number or FFFEh for the static one. */
static void test_connect_controller_models(void)
{
    static const struct {
        bool fixed;
        uint16_t cntlid;
        uint16_t status;
    } rows[] = {
        { false, 0xffff, 0 },
        { false, 0xfffe, NVF_SC_INVALID_PARAM },
        { false, 5, NVF_SC_INVALID_PARAM },
        { true, 0xffff, NVF_SC_INVALID_PARAM },
        { true, 0xfffe, 0 },
        { true, 0, NVF_SC_INVALID_PARAM },
        { true, 4, NVF_SC_INVALID_PARAM },
        { true, 5, 0 },
        { true, 6, 0 },
        { true, 7, NVF_SC_INVALID_PARAM },
        { true, 0xfff0, NVF_SC_INVALID_PARAM },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Rig *rig = rig_new();
        struct nvf_connect_data data = rig_connect_data(NULL, rows[i].cntlid);
        RigResult result;

        g_assert_true(lst_subsys_set(rig->subsys, "attr_cntlid_max", "6", NULL));
        g_assert_true(lst_subsys_set(rig->subsys, "attr_cntlid_min", "5", NULL));
        g_assert_true(lst_subsys_set(rig->subsys, "attr_controller_model",
                                     rows[i].fixed ? "static" : "dynamic", NULL));
        result = connect_new(rig, 0, &data, NULL);
        g_assert_cmphex(result.status, ==, rows[i].status);
        if (rows[i].status) {
            g_assert_cmphex(result.dw0, ==, 1u << 16 | 16);     /* CNTLID, in the data */
        } else if (rows[i].cntlid < 0xfffe) {
            g_assert_cmpuint(result.dw0 & 0xffff, ==, rows[i].cntlid);
        }
        rig_free(rig);
    }
}

static void test_connect_static_controller_serves_one_host_at_a_time(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data exact = rig_connect_data(NULL, 2), any = rig_connect_data(NULL, 0xfffe);
    RigLink *admin;

    g_assert_true(lst_subsys_set(rig->subsys, "attr_controller_model", "static", NULL));
    g_assert_true(lst_subsys_set(rig->subsys, "attr_cntlid_max", "2", NULL));
    g_assert_cmphex(connect_new(rig, 0, &exact, &admin).status, ==, 0);
    g_assert_cmphex(connect_new(rig, 0, &exact, NULL).status, ==, NVF_SC_CONTROLLER_BUSY);
    g_assert_cmpuint(connect_new(rig, 0, &any, NULL).dw0 & 0xffff, ==, 1);
    g_assert_cmphex(connect_new(rig, 0, &any, NULL).status, ==, NVF_SC_CONTROLLER_BUSY);
    rig_unlink(admin);
    g_assert_cmphex(connect_new(rig, 0, &exact, NULL).status, ==, 0);
    rig_free(rig);
}

static void test_connect_io_queue_before_enable(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    RigLink *admin;
    RigResult result = connect_new(rig, 0, &data, &admin);

    data.cntlid = result.dw0 & 0xffff;
    g_assert_cmphex(connect_new(rig, 1, &data, NULL).status, !=, 0);
    rig_enable(admin);
    g_assert_cmphex(connect_new(rig, 1, &data, NULL).status, ==, 0);
    rig_free(rig);
}

static void test_connect_io_queue_of_every_id(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    struct lst_target_stats stats;

    for (uint16_t qid = 1; qid <= 128; qid++) {
        rig_io(rig, admin, qid, NULL);
    }
    lst_target_get_stats(rig->target, &stats);
    g_assert_cmpuint(stats.conns, ==, 129);
    g_assert_cmpuint(stats.ctrls, ==, 1);
    rig_free(rig);
}

/* A queue id is free again when its connection is gone. */
static void test_connect_io_queue_again_after_its_connection(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    RigLink *io = rig_io(rig, admin, 5, NULL);

    rig_unlink(io);
    io = rig_io(rig, admin, 5, NULL);
    g_assert_cmphex(rig_run(io, host_cmd(NV_IO_FLUSH, 1)), ==, 0);
    rig_free(rig);
}

static void test_connect_admin_gone_takes_io_queues_along(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL), *other = rig_admin(rig);
    struct lst_target_stats stats;

    rig_unlink(admin);
    rig_pump(rig);
    g_assert_true(io->closed);
    g_assert_false(other->closed);
    lst_target_get_stats(rig->target, &stats);
    g_assert_cmpuint(stats.ctrls, ==, 1);
    g_assert_cmpuint(rig->events[LST_EVENT_CTRL_GONE], ==, 1);
    rig_free(rig);
}

static void test_connect_sq_flow_control_off(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_io_config();
    RigLink *admin = rig_admin(rig), *io;
    uint8_t buf[512];

    config.no_sq_flow_control = true;
    config.entries = 16;
    io = rig_io(rig, admin, 1, &config);
    g_assert_false(host_queue_sq_flow_control(io->host));
    for (unsigned i = 0; i < 100; i++) {
        g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, i, 1, 0), buf, 512), ==, 0);
    }
    /* SUCCESS saves the response capsule; it may only be used here. */
    g_assert_cmpuint(host_queue_counters(io->host)->success_flags, ==, 100);
    g_assert_cmpuint(host_queue_counters(io->host)->pdus_received[NVTCP_CAPSULE_RESP], ==, 1);
    rig_free(rig);
}

static void test_connect_sq_flow_control_on_uses_no_success_flag(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    uint8_t buf[512];

    /* More commands than entries: SQHD must wrap as the queue does. */
    for (unsigned i = 0; i < 3 * RIG_IO_ENTRIES; i++) {
        g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, i, 1, 0), buf, 512), ==, 0);
    }
    g_assert_cmpuint(host_queue_counters(io->host)->success_flags, ==, 0);
    rig_free(rig);
}

/* All entries but one in use at once, answered backwards. */
static void test_connect_full_queue_completes(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    RigResult results[RIG_IO_ENTRIES - 1];

    rig->defer = true;
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        rig_submit(io, host_cmd(NV_IO_FLUSH, 1), HOST_DATA_NONE, NULL, 0, &results[i]);
    }
    g_assert_cmpuint(g_queue_get_length(&rig->ios), ==, RIG_IO_ENTRIES - 1);
    g_assert_cmpint(
        host_queue_submit(io->host, &(struct nv_sqe) { 0 }, HOST_DATA_NONE, NULL, 0, NULL, NULL),
        ==, HOST_ERR_FULL);
    g_queue_reverse(&rig->ios);
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        rig_complete_io(rig, 0);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(results); i++) {
        g_assert_true(results[i].done);
        g_assert_cmphex(results[i].status, ==, 0);
        g_assert_true(i == 0 || results[i].order < results[i - 1].order);
    }
    g_assert_false(io->closed);
    rig_free(rig);
}

static void test_icresp_is_what_linux_insists_on(void)
{
    for (uint8_t dgst = 0; dgst < 4; dgst++) {
        Rig *rig = rig_new();
        RigLink *link = rig_link_raw(rig, NULL);
        g_autoptr(GByteArray) req = g_byte_array_new();
        struct nvtcp_ic_resp resp;

        wire_icreq(req, dgst);
        rig_send(link, req->data, req->len);
        g_assert_cmpuint(link->received->len, ==, 128);
        memcpy(&resp, link->received->data, sizeof(resp));
        g_assert_cmpuint(resp.hdr.type, ==, NVTCP_IC_RESP);
        g_assert_cmpuint(resp.hdr.flags, ==, 0);
        g_assert_cmpuint(resp.hdr.hlen, ==, 128);
        g_assert_cmpuint(resp.hdr.pdo, ==, 0);
        g_assert_cmpuint(resp.hdr.plen, ==, 128);
        g_assert_cmpuint(resp.pfv, ==, 0);
        g_assert_cmpuint(resp.cpda, ==, 0);
        g_assert_cmpuint(resp.dgst, ==, dgst);
        g_assert_cmpuint(resp.maxh2cdata, >=, 4096);
        g_assert_cmpuint(resp.maxh2cdata % 4, ==, 0);
        for (unsigned i = 16; i < 128; i++) {
            g_assert_cmpuint(link->received->data[i], ==, 0);
        }
        rig_free(rig);
    }
}

/* Connect's data may also be asked for by R2T. */
static void test_connect_data_by_r2t(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *link = rig_link(rig, NULL, &config);
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    struct nv_sqe sqe = host_cmd_connect(0, RIG_ADMIN_ENTRIES - 1, 0, 0);

    g_assert_cmphex(rig_do(link, sqe, HOST_DATA_OUT_R2T, &data, sizeof(data), NULL), ==, 0);
    rig_enable(link);
    rig_free(rig);
}

/* Two in one piece: the first makes the queue, the second is out of order. */
static void test_connect_twice_at_once(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *link = rig_link(rig, NULL, &config);
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    struct nv_sqe sqe = wire_sgl(host_cmd_connect(0, RIG_ADMIN_ENTRIES - 1, 0, 0), NV_SGL_TRANSPORT,
                                 0, 1024);
    const HostPduFormat format = { .align = 4 };
    g_autoptr(GByteArray) out = g_byte_array_new();
    struct nvtcp_r2t r2t[2];
    struct nv_cqe cqe[2];

    link->capture = true;
    wire_capsule(out, &format, &sqe, 1, NULL, 0);
    wire_capsule(out, &format, &sqe, 2, NULL, 0);
    rig_send(link, out->data, out->len);
    g_assert_cmpuint(wire_count(link->received, NVTCP_R2T), ==, 2);
    memcpy(r2t, link->received->data, sizeof(r2t));
    g_byte_array_set_size(out, 0);
    wire_h2c_data(out, &format, r2t[0].cccid, r2t[0].ttag, 0, &data, 1024, true);
    wire_h2c_data(out, &format, r2t[1].cccid, r2t[1].ttag, 0, &data, 1024, true);
    rig_send(link, out->data, out->len);
    g_assert_true(wire_find_cqe(link->received, 1, &cqe[0]));
    g_assert_true(wire_find_cqe(link->received, 2, &cqe[1]));
    g_assert_cmphex(cqe[0].status, ==, 0);
    g_assert_cmphex(NV_STATUS_CODE(cqe[1].status >> 1), ==, NV_SC_COMMAND_SEQUENCE);
    g_assert_cmpuint(rig->events[LST_EVENT_CTRL_NEW], ==, 1);
    rig_free(rig);
}

/* Set Features granted fewer queues than the subsystem allows. */
static void test_connect_qid_over_those_granted(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    struct nvf_connect_data data = rig_connect_data(NULL, admin->cntlid);
    RigResult result;

    g_assert_cmphex(rig_run(admin, host_cmd_set_features(NV_FEAT_NUM_QUEUES, 1u << 16 | 1)), ==, 0);
    g_assert_cmphex(connect_new(rig, 2, &data, NULL).status, ==, 0);
    result = connect_new(rig, 3, &data, NULL);
    g_assert_cmphex(result.status, ==, NVF_SC_INVALID_PARAM);
    g_assert_cmphex(result.dw0, ==, 42);
    rig_free(rig);
}

/* ---- Properties */

static void test_properties_of_an_io_controller(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);
    uint64_t cap = rig_property(admin, NV_REG_CAP, true);

    g_assert_cmpuint(cap & 0xffff, ==, 127); /* MQES: param_max_queue_size 128, zero-based */
    g_assert_cmpuint(cap >> 16 & 1, ==, 1);                     /* CQR */
    g_assert_cmpuint(cap >> 24 & 0xff, >, 0);                   /* TO */
    g_assert_cmpuint(cap >> 32 & 0xf, ==, 0);                   /* DSTRD is 0 on Fabrics */
    g_assert_cmpuint(cap >> 37 & 1, ==, 1);                     /* CSS: NVM command set */
    g_assert_cmpuint(cap >> 48 & 0xf, ==, 0);                   /* MPSMIN: 4 KiB */
    g_assert_cmphex(rig_property(admin, NV_REG_VS, false), ==, 0x00020000);
    g_assert_cmphex(rig_property(admin, NV_REG_CC, false), ==, 0x00460001);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
    rig_free(rig);
}

static void test_properties_follow_the_configuration(void)
{
    Rig *rig = rig_new();
    RigLink *admin;

    g_assert_true(lst_port_set(rig->port, "param_max_queue_size", "1024", NULL));
    g_assert_true(lst_subsys_set(rig->subsys, "attr_version", "1.4", NULL));
    admin = rig_admin(rig);
    g_assert_cmpuint(rig_property(admin, NV_REG_CAP, true) & 0xffff, ==, 1023);
    g_assert_cmphex(rig_property(admin, NV_REG_VS, false), ==, 0x00010400);
    rig_free(rig);
}

static void test_properties_enable_disable_shutdown(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    RigLink *admin;

    connect_new(rig, 0, &data, &admin);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false), ==, 0);
    rig_enable(admin);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
    /* CC.EN 0 is a controller reset: RDY goes away. */
    g_assert_cmphex(rig_run(admin, host_cmd_property_set(NV_REG_CC, false, 0x00460000)), ==, 0);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false) & NV_CSTS_RDY, ==, 0);
    rig_enable(admin);
    /* CC.SHN 1: shutdown processing complete is SHST 2. */
    g_assert_cmphex(rig_run(admin, host_cmd_property_set(NV_REG_CC, false, 0x00464001)), ==, 0);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false) & NV_CSTS_SHST_MASK, ==,
                    NV_CSTS_SHST_COMPLETE);
    rig_free(rig);
}

/* A reset deletes the I/O queues, and with them their connections. */
static void test_properties_reset_closes_io_queues(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    uint8_t buf[512];
    RigResult result;

    rig->defer = true;
    rig_submit(io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), HOST_DATA_IN, buf, 512, &result);
    g_assert_cmphex(rig_run(admin, host_cmd_property_set(NV_REG_CC, false, 0x00460000)), ==, 0);
    g_assert_true(io->closed);
    rig_complete_io(rig, 0);
    g_assert_false(admin->closed);
    rig->defer = false;
    rig_enable(admin);
    rig_io(rig, admin, 1, NULL);
    rig_free(rig);
}

/* CSTS.CFS instead of RDY, until a reset. */
static void test_properties_cc_values_that_cannot_be_enabled(void)
{
    static const uint32_t values[] = {
        0x00460001 | 1 << 7,            /* MPS 8 KiB; CAP.MPSMAX is 4 KiB */
        0x00460001 | 1 << 11,           /* AMS: weighted round robin */
        0x00460001 | 1 << 4,            /* CSS 1: reserved */
        0x00460001 | 7 << 4,            /* CSS 7: not in CAP.CSS */
        0x00450001, 0x00360001,         /* IOSQES, IOCQES */
    };
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);

    g_assert_cmpuint(rig_property(admin, NV_REG_CAP, true) >> 44 & 1, ==, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(values); i++) {
        g_test_message("CC %08x", values[i]);
        rig_run(admin, host_cmd_property_set(NV_REG_CC, false, 0));
        rig_run(admin, host_cmd_property_set(NV_REG_CC, false, values[i]));
        g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false) & 3, ==, NV_CSTS_CFS);
    }
    rig_run(admin, host_cmd_property_set(NV_REG_CC, false, 0));
    rig_enable(admin);
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
    rig_free(rig);
}

/* What Linux reads besides: CRTO if CAP.CRMS is not 0, and NSSR, which says nothing. */
static void test_properties_crto_and_nssr(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);

    g_assert_cmpuint(rig_property(admin, NV_REG_CAP, true) >> 59 & 3, ==, 1);
    g_assert_cmpuint(rig_property(admin, NV_REG_CRTO, false) & 0xffff, >, 0);
    g_assert_cmpuint(rig_property(admin, NV_REG_NSSR, false), ==, 0);
    rig_free(rig);
    /* Before 2.0 there is neither. */
    rig = rig_new();
    g_assert_true(lst_subsys_set(rig->subsys, "attr_version", "1.4", NULL));
    admin = rig_admin(rig);
    g_assert_cmpuint(rig_property(admin, NV_REG_CAP, true) >> 59 & 3, ==, 0);
    g_assert_cmphex(rig_run(admin, host_cmd_property_get(NV_REG_CRTO, false)), ==,
                    NV_SC_INVALID_FIELD);
    rig_free(rig);
}

/* Identify needs an enabled controller; Property Get and Set do not. */
static void test_properties_admin_commands_before_enable(void)
{
    Rig *rig = rig_new();
    struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);
    RigLink *admin;
    uint8_t buf[4096];

    connect_new(rig, 0, &data, &admin);
    g_assert_cmphex(rig_in(admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), buf, 4096), ==,
                    NV_SC_COMMAND_SEQUENCE);
    rig_enable(admin);
    g_assert_cmphex(rig_in(admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), buf, 4096), ==, 0);
    rig_free(rig);
}

static void test_properties_refused(void)
{
    static const struct {
        bool set;
        uint32_t offset;
        bool wide;
        uint64_t value;
    } rows[] = {
        { false, NV_REG_CAP, false, 0 },        /* 8 bytes wide */
        { false, NV_REG_VS, true, 0 },
        { false, NV_REG_CSTS, true, 0 },
        { false, 1, false, 0 },
        { false, 0x0c, false, 0 },              /* INTMS: no interrupts on Fabrics */
        { false, 0x1000, false, 0 },
        { false, 0xfffffffc, false, 0 },
        { true, NV_REG_CAP, true, 0 },          /* read-only */
        { true, NV_REG_VS, false, 0 },
        { true, NV_REG_CSTS, false, 0 },
        { true, NV_REG_CC, true, 0 },           /* 4 bytes wide */
        { true, 0x1234, false, 0 },
    };
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig);

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct nv_sqe sqe = rows[i].set
                                ? host_cmd_property_set(rows[i].offset, rows[i].wide, rows[i].value)
                                : host_cmd_property_get(rows[i].offset, rows[i].wide);

        g_test_message("row %u", i);
        g_assert_cmphex(rig_run(admin, sqe), ==, NV_SC_INVALID_FIELD);
    }
    g_assert_cmphex(rig_property(admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
    rig_free(rig);
}

/* ---- Time-outs of a connection */

static void test_timeout_without_icreq(void)
{
    Rig *rig = rig_new();
    RigLink *link = rig_link_raw(rig, NULL);

    rig_advance(rig, 10 * RIG_S - 1);
    g_assert_false(link->closed);
    g_assert_cmpuint(lst_target_next_deadline(rig->target), ==, 10 * RIG_S);
    rig_advance(rig, 1);
    g_assert_true(link->closed);
    g_assert_cmpuint(link->received->len, ==, 0);
    g_assert_cmpuint(rig->events[LST_EVENT_CONN_IC_TIMEOUT], ==, 1);
    rig_free(rig);
}

/* Bytes that never become an ICReq do not buy time. */
static void test_timeout_of_a_slow_icreq(void)
{
    Rig *rig = rig_new();
    RigLink *link = rig_link_raw(rig, NULL);
    g_autoptr(GByteArray) req = g_byte_array_new();

    wire_icreq(req, 0);
    for (unsigned second = 0; second < 10; second++) {
        g_assert_false(link->closed);
        rig_send(link, req->data + second, 1);
        rig_advance(rig, RIG_S);
    }
    g_assert_true(link->closed);
    rig_free(rig);
}

static void test_timeout_without_connect(void)
{
    Rig *rig = rig_new();
    HostQueueConfig config = rig_admin_config();
    RigLink *link = rig_link(rig, NULL, &config);

    rig_advance(rig, 30 * RIG_S - 1);
    g_assert_false(link->closed);
    rig_advance(rig, 1);
    g_assert_true(link->closed);
    g_assert_cmpuint(rig->events[LST_EVENT_CONN_CONNECT_TIMEOUT], ==, 1);
    rig_free(rig);
}

static void test_timeout_none_on_a_live_queue_without_kato(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);

    g_assert_cmpuint(lst_target_next_deadline(rig->target), ==, UINT64_MAX);
    rig_advance(rig, 1000000 * RIG_S);
    g_assert_false(admin->closed);
    g_assert_false(io->closed);
    rig_free(rig);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/connect/gives_a_controller", test_connect_gives_a_controller);
    g_test_add_func("/connect/cntlids_differ_and_stay_in_range",
                    test_connect_cntlids_differ_and_stay_in_range);
    g_test_add_func("/connect/host_must_be_allowed", test_connect_host_must_be_allowed);
    g_test_add_func("/connect/subsystem_must_be_on_the_port",
                    test_connect_subsystem_must_be_on_the_port);
    g_test_add_func("/connect/controller_models", test_connect_controller_models);
    g_test_add_func("/connect/static_controller_serves_one_host_at_a_time",
                    test_connect_static_controller_serves_one_host_at_a_time);
    g_test_add_func("/connect/io_queue_before_enable", test_connect_io_queue_before_enable);
    g_test_add_func("/connect/io_queue_of_every_id", test_connect_io_queue_of_every_id);
    g_test_add_func("/connect/io_queue_again_after_its_connection",
                    test_connect_io_queue_again_after_its_connection);
    g_test_add_func("/connect/admin_gone_takes_io_queues_along",
                    test_connect_admin_gone_takes_io_queues_along);
    g_test_add_func("/connect/sq_flow_control_off", test_connect_sq_flow_control_off);
    g_test_add_func("/connect/sq_flow_control_on_uses_no_success_flag",
                    test_connect_sq_flow_control_on_uses_no_success_flag);
    g_test_add_func("/connect/full_queue_completes", test_connect_full_queue_completes);
    g_test_add_func("/connect/data_by_r2t", test_connect_data_by_r2t);
    g_test_add_func("/connect/twice_at_once", test_connect_twice_at_once);
    g_test_add_func("/connect/qid_over_those_granted", test_connect_qid_over_those_granted);
    g_test_add_func("/icresp/is_what_linux_insists_on", test_icresp_is_what_linux_insists_on);
    g_test_add_func("/properties/of_an_io_controller", test_properties_of_an_io_controller);
    g_test_add_func("/properties/follow_the_configuration",
                    test_properties_follow_the_configuration);
    g_test_add_func("/properties/enable_disable_shutdown", test_properties_enable_disable_shutdown);
    g_test_add_func("/properties/reset_closes_io_queues", test_properties_reset_closes_io_queues);
    g_test_add_func("/properties/cc_values_that_cannot_be_enabled",
                    test_properties_cc_values_that_cannot_be_enabled);
    g_test_add_func("/properties/crto_and_nssr", test_properties_crto_and_nssr);
    g_test_add_func("/properties/admin_commands_before_enable",
                    test_properties_admin_commands_before_enable);
    g_test_add_func("/properties/refused", test_properties_refused);
    g_test_add_func("/timeout/without_icreq", test_timeout_without_icreq);
    g_test_add_func("/timeout/of_a_slow_icreq", test_timeout_of_a_slow_icreq);
    g_test_add_func("/timeout/without_connect", test_timeout_without_connect);
    g_test_add_func("/timeout/none_on_a_live_queue_without_kato",
                    test_timeout_none_on_a_live_queue_without_kato);
    return g_test_run();
}
