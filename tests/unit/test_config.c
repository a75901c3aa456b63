/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's configuration calls: every attribute with right and wrong values, limits, removal
 * under use, statistics.
 * Not here: what attributes mean to a host (the other test files); files (tests/daemon).
 * No standard; names and ranges are those of engine/target.h.
 */
#include <string.h>

#include "rig.h"

typedef struct Attr {
    const char *key, *value;
    bool ok;
    int code;                           /* enum lst_error, if not ok */
    const char *reads_as;               /* NULL: as written */
} Attr;

typedef bool SetFn(void *object, const char *key, const char *value, GError **err);
typedef char *GetFn(void *object, const char *key, GError **err);

/* A refusal names the key, the value and what is allowed, and changes nothing. */
static void check_attrs(void *object, SetFn *set, GetFn *get, const Attr *attrs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const Attr *attr = &attrs[i];
        g_autoptr(GError) error = NULL;
        g_autofree char *before = get(object, attr->key, NULL);
        g_autofree char *after = NULL;
        bool ok = set(object, attr->key, attr->value, &error);

        g_test_message("%s = \"%s\"", attr->key, attr->value);
        after = get(object, attr->key, NULL);
        g_assert_cmpint(ok, ==, attr->ok);
        if (ok) {
            g_assert_no_error(error);
            g_assert_cmpstr(after, ==, attr->reads_as ? attr->reads_as : attr->value);
        } else {
            g_assert_error(error, LST_ERROR, attr->code);
            g_assert_nonnull(strstr(error->message, attr->key));
            if (attr->code == LST_ERROR_VALUE) {
                g_assert_nonnull(strstr(error->message, attr->value));
            }
            g_assert_cmpstr(after, ==, before);
        }
    }
}

static bool set_subsys(void *object, const char *key, const char *value, GError **err)
{
    return lst_subsys_set(object, key, value, err);
}

static char *get_subsys(void *object, const char *key, GError **err)
{
    return lst_subsys_get(object, key, err);
}

#define BAD .ok = false, .code = LST_ERROR_VALUE
#define OK .ok = true

static void test_config_subsystem_attributes(void)
{
    static const Attr attrs[] = {
        { "attr_serial", "A", OK },
        { "attr_serial", "01234567890123456789", OK },
        { "attr_serial", "", BAD },
        { "attr_serial", "012345678901234567890", BAD },
        { "attr_serial", "a\tb", BAD },
        { "attr_model", "0123456789012345678901234567890123456789", OK },
        { "attr_model", "01234567890123456789012345678901234567890", BAD },
        { "attr_model", "\xc3\xa4", BAD },
        { "attr_firmware", "12345678", OK },
        { "attr_firmware", "123456789", BAD },
        { "attr_version", "1.3", OK },
        { "attr_version", "2.1", OK },
        { "attr_version", "2.0", OK },
        { "attr_version", "1.2", BAD },
        { "attr_version", "2", BAD },
        { "attr_version", "2.0.1", BAD },
        { "attr_ieee_oui", "0xffffff", OK, .reads_as = "0xffffff" },
        { "attr_ieee_oui", "0x1000000", BAD },
        { "attr_allow_any_host", "1", OK },
        { "attr_allow_any_host", "0", OK },
        { "attr_allow_any_host", "2", BAD },
        { "attr_allow_any_host", "yes", BAD },
        { "attr_cntlid_max", "100", OK },
        { "attr_cntlid_min", "100", OK },
        { "attr_cntlid_min", "101", BAD },
        { "attr_cntlid_max", "99", BAD },
        { "attr_cntlid_min", "0", BAD },
        { "attr_cntlid_max", "65520", BAD },
        { "attr_cntlid_max", "65519", OK },
        { "attr_cntlid_min", "-1", BAD },
        { "attr_qid_max", "1", OK },
        { "attr_qid_max", "1024", OK },
        { "attr_controller_model", "static", OK },
        { "attr_controller_model", "fixed", BAD },
        { "attr_controller_model", "", BAD },
        { "attr_controller_model", "dynamic", OK },
        { "attr_max_queue_size", "16", OK },
        { "attr_max_queue_size", "1024", OK },
        { "attr_max_queue_size", "0", OK },
        { "attr_max_queue_size", "15", BAD },
        { "attr_max_queue_size", "1025", BAD },
        { "attr_qid_max", "0", BAD },
        { "attr_qid_max", "1025", BAD },
        { "attr_qid_max", "1x", BAD },
        { "attr_qid_max", "", BAD },
        { "attr_pi_enable", "0", OK },
        { "attr_pi_enable", "1", BAD },
        { "attr_nothing", "1", .ok = false, .code = LST_ERROR_KEY },
    };
    Rig *rig = rig_new();

    check_attrs(rig->subsys, set_subsys, get_subsys, attrs, G_N_ELEMENTS(attrs));
    rig_free(rig);
}

static bool set_port(void *object, const char *key, const char *value, GError **err)
{
    return lst_port_set(object, key, value, err);
}

static char *get_port(void *object, const char *key, GError **err)
{
    return lst_port_get(object, key, err);
}

static void test_config_port_attributes(void)
{
    static const Attr attrs[] = {
        { "addr_trtype", "tcp", OK },
        { "addr_trtype", "rdma", BAD },
        { "addr_adrfam", "ipv6", OK },
        { "addr_adrfam", "ipv4", OK },
        { "addr_adrfam", "ib", BAD },
        { "addr_traddr", "192.0.2.1", OK },
        { "addr_traddr", "", BAD },
        { "addr_trsvcid", "1", OK },
        { "addr_trsvcid", "65535", OK },
        { "addr_trsvcid", "0", BAD },
        { "addr_trsvcid", "65536", BAD },
        { "addr_trsvcid", "http", BAD },
        { "addr_treq", "required", OK },
        { "addr_treq", "not required", OK },
        { "addr_treq", "not specified", OK },
        { "addr_treq", "maybe", BAD },
        { "addr_tsas", "none", OK },
        { "addr_tsas", "tls1.3", BAD },
        { "param_inline_data_size", "0", OK },
        { "param_inline_data_size", "65536", OK },
        { "param_inline_data_size", "65552", BAD },
        { "param_inline_data_size", "100", BAD },
        { "param_max_queue_size", "16", OK },
        { "param_max_queue_size", "1024", OK },
        { "param_max_queue_size", "15", BAD },
        { "param_max_queue_size", "1025", BAD },
        { "param_pi_enable", "0", OK },
        { "param_pi_enable", "1", BAD },
        { "param_nothing", "0", .ok = false, .code = LST_ERROR_KEY },
    };
    Rig *rig = rig_new();

    check_attrs(rig->port, set_port, get_port, attrs, G_N_ELEMENTS(attrs));
    g_assert_cmpuint(lst_port_id(rig->port), ==, 1);
    rig_free(rig);
}

static bool set_ns(void *object, const char *key, const char *value, GError **err)
{
    return lst_ns_set(object, key, value, err);
}

static char *get_ns(void *object, const char *key, GError **err)
{
    return lst_ns_get(object, key, err);
}

static void test_config_namespace_attributes(void)
{
    static const Attr disabled[] = {
        { "device_uuid", "01234567-89ab-cdef-0123-456789abcdef", OK },
        { "device_uuid", "01234567-89ab-cdef-0123-456789abcde", BAD },
        { "device_uuid", "01234567089ab-cdef-0123-456789abcdef", BAD }, { "device_uuid", "", BAD },
        { "device_nguid", "00112233-4455-6677-8899-aabbccddeeff", OK, .reads_as =
          "00112233-4455-6677-8899-aabbccddeeff" },
        { "device_nguid", "xx112233445566778899aabbccddeeff", BAD },
        { "device_eui64", "0011223344556677", OK }, { "device_eui64", "00112233445566778", BAD },
        { "ana_grpid", "128", OK }, { "ana_grpid", "129", BAD }, { "ana_grpid", "0", BAD },
        { "enable", "1", OK },
    };
    static const Attr enabled[] = {
        { "ana_grpid", "1", OK },
        { "device_uuid", "01234567-89ab-cdef-0123-456789abcdef", .ok = false, .code =
          LST_ERROR_STATE },
        { "device_nguid", "00112233445566778899aabbccddeeff", .ok = false, .code = LST_ERROR_STATE
          },
        { "device_eui64", "0011223344556677", .ok = false, .code = LST_ERROR_STATE },
        { "enable", "2", BAD },
        { "device_path", "x", .ok = false, .code = LST_ERROR_KEY },
        { "enable", "0", OK },
    };
    Rig *rig = rig_new();

    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    check_attrs(rig->ns, set_ns, get_ns, disabled, G_N_ELEMENTS(disabled));
    check_attrs(rig->ns, set_ns, get_ns, enabled, G_N_ELEMENTS(enabled));
    g_assert_cmpuint(lst_ns_id(rig->ns), ==, 1);
    rig_free(rig);
}

/* @error is cleared for the next call. */
static void assert_refused(bool ok, GError **error, int code)
{
    g_assert_false(ok);
    g_assert_error(*error, LST_ERROR, code);
    g_clear_error(error);
}

static void test_config_namespace_media(void)
{
    static const struct {
        uint64_t size;
        uint32_t block;
    } bad[] = { { 0, 512 },  { 511, 512 },   { 4096, 1024 },
                { 4096, 0 }, { 4096, 8192 }, { 6144, 4096 } };
    Rig *rig = rig_new();
    struct lst_ns *ns = lst_subsys_add_ns(rig->subsys, 2, NULL);
    GError *error = NULL;

    /* Nothing to show yet. */
    assert_refused(lst_ns_enable(ns, true, &error), &error, LST_ERROR_STATE);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_refused(lst_ns_attach(ns, &rig->media, bad[i].size, bad[i].block, &error), &error,
                       LST_ERROR_VALUE);
    }
    g_assert_true(lst_ns_attach(ns, &rig->media, 8192, 4096, NULL));
    g_assert_true(lst_ns_enable(ns, true, NULL));
    assert_refused(lst_ns_attach(ns, &rig->media, 8192, 512, &error), &error, LST_ERROR_STATE);
    g_assert_true(lst_ns_attach(ns, &rig->media, 16384, 4096, NULL));
    rig_free(rig);
}

static void test_config_names_and_limits(void)
{
    g_autofree char *longest = g_strnfill(223, 'a'), *too_long = g_strnfill(224, 'a');
    const char *const bad[] = { "", "nqn.\xff", NVF_DISCOVERY_NQN, too_long };
    Rig *rig = rig_new();
    GError *error = NULL;

    memcpy(longest, "nqn.2026-01.org.lockstep:", 25);
    memcpy(too_long, "nqn.2026-01.org.lockstep:", 25);
    g_assert_nonnull(lst_target_add_subsys(rig->target, longest, NULL));
    g_assert_cmpstr(lst_subsys_nqn(lst_target_find_subsys(rig->target, longest)), ==, longest);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_refused(lst_target_add_subsys(rig->target, bad[i], &error), &error, LST_ERROR_VALUE);
    }
    assert_refused(lst_target_add_subsys(rig->target, RIG_NQN, &error), &error, LST_ERROR_EXISTS);
    assert_refused(lst_subsys_add_ns(rig->subsys, 0, &error), &error, LST_ERROR_VALUE);
    assert_refused(lst_subsys_add_ns(rig->subsys, 1025, &error), &error, LST_ERROR_VALUE);
    assert_refused(lst_subsys_add_ns(rig->subsys, 1, &error), &error, LST_ERROR_EXISTS);
    assert_refused(lst_target_add_port(rig->target, 65536, &error), &error, LST_ERROR_VALUE);
    assert_refused(lst_target_add_port(rig->target, 1, &error), &error, LST_ERROR_EXISTS);
    assert_refused(lst_port_add_subsys(rig->port, rig->subsys, &error), &error, LST_ERROR_EXISTS);
    assert_refused(lst_subsys_disallow_host(rig->subsys, RIG_HOST_NQN, &error), &error,
                   LST_ERROR_VALUE);
    g_assert_true(lst_subsys_allow_host(rig->subsys, RIG_HOST_NQN, NULL));
    assert_refused(lst_subsys_allow_host(rig->subsys, RIG_HOST_NQN, &error), &error,
                   LST_ERROR_EXISTS);
    assert_refused(lst_port_set_ana_state(rig->port, 129, "optimized", &error), &error,
                   LST_ERROR_VALUE);
    assert_refused(lst_port_set_ana_state(rig->port, 1, "good", &error), &error, LST_ERROR_VALUE);
    assert_refused(lst_port_add_referral(rig->port, "r", "ipv5", "192.0.2.1", "8009", 1, &error),
                   &error, LST_ERROR_VALUE);
    assert_refused(lst_port_add_referral(rig->port, "r", "ipv4", "192.0.2.1", "0", 1, &error),
                   &error, LST_ERROR_VALUE);
    g_assert_null(lst_target_find_subsys(rig->target, "nqn.2026-01.org.lockstep:nothing"));
    g_assert_null(lst_target_find_port(rig->target, 2));
    g_assert_null(lst_subsys_find_ns(rig->subsys, 2));
    rig_free(rig);
}

static void test_config_ports_limit(void)
{
    Rig *rig = rig_new();
    GError *error = NULL;

    for (uint32_t id = 2; id <= 1024; id++) {
        g_assert_nonnull(lst_target_add_port(rig->target, id, NULL));
    }
    assert_refused(lst_target_add_port(rig->target, 65535, &error), &error, LST_ERROR_LIMIT);
    rig_free(rig);
}

/* ---- Removal under use */

static unsigned backends_done;

static void backend_done(void *backend)
{
    g_assert_nonnull(backend);
    backends_done++;
}

static void test_config_remove_namespace_while_the_media_works(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    uint8_t buf[512] = { 0 };
    RigResult results[2];

    backends_done = 0;
    rig->defer = true;
    rig_submit(io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), HOST_DATA_IN, buf, 512, &results[0]);
    rig_submit(io, host_cmd(NV_IO_FLUSH, 1), HOST_DATA_NONE, NULL, 0, &results[1]);
    lst_subsys_remove_ns(rig->subsys, rig->ns, backend_done);
    g_assert_cmpuint(backends_done, ==, 0);
    rig_complete_io(rig, 0);
    g_assert_cmpuint(backends_done, ==, 0);
    rig_complete_io(rig, 0);
    g_assert_cmpuint(backends_done, ==, 1);
    g_assert_true(results[0].done && results[1].done);
    g_assert_cmphex(rig_run(io, host_cmd(NV_IO_FLUSH, 1)), ==, NV_SC_INVALID_NAMESPACE);
    /* The number can be used again. */
    rig->defer = false;
    g_free(rig->media.bytes);
    rig->ns = rig_add_ns(rig->subsys, 1, &rig->media, 4096, 512);
    g_assert_cmphex(rig_run(io, host_cmd(NV_IO_FLUSH, 1)), ==, 0);
    rig_free(rig);
}

/* An R2T is out when its namespace goes: the data are taken, the command fails. */
static bool hold_r2t(HostQueue *queue, void *opaque, uint16_t cid, uint16_t ttag, uint32_t offset,
                     uint32_t length)
{
    uint16_t *held = opaque;

    (void)queue;
    (void)offset;
    (void)length;
    held[0] = cid;
    held[1] = ttag;
    return true;
}

static void test_config_remove_namespace_with_an_r2t_out(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io;
    HostQueueConfig config = rig_io_config();
    uint16_t held[2];
    uint8_t buf[4096] = { 0 };
    RigResult result;

    config.on_r2t = hold_r2t;
    config.opaque = held;
    io = rig_io(rig, admin, 1, &config);
    rig_submit(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0), HOST_DATA_OUT_R2T, buf, 4096, &result);
    g_assert_false(result.done);
    lst_subsys_remove_ns(rig->subsys, rig->ns, backend_done);
    g_assert_cmpint(host_queue_answer_r2t(io->host, held[0], held[1], 0, 4096), ==, HOST_OK);
    rig_pump(rig);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, !=, 0);
    g_assert_cmpuint(rig->ios_by_op[LST_IO_WRITE], ==, 0);
    rig_free(rig);
}

static void test_config_shrink_with_an_r2t_out(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io;
    HostQueueConfig config = rig_io_config();
    uint16_t held[2];
    uint8_t buf[4096] = { 0 };
    RigResult result;

    config.on_r2t = hold_r2t;
    config.opaque = held;
    io = rig_io(rig, admin, 1, &config);
    rig_submit(io, host_cmd_rw(NV_IO_WRITE, 1, 100, 8, 0), HOST_DATA_OUT_R2T, buf, 4096, &result);
    rig->media.size = 50 * RIG_BLOCK;
    g_assert_true(lst_ns_attach(rig->ns, &rig->media, rig->media.size, RIG_BLOCK, NULL));
    host_queue_answer_r2t(io->host, held[0], held[1], 0, 4096);
    rig_pump(rig);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, NV_SC_LBA_RANGE);
    rig_free(rig);
}

static void test_config_remove_subsystem_and_port_close_connections(void)
{
    Rig *rig = rig_new();
    struct lst_port *other = lst_target_add_port(rig->target, 2, NULL);
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL), *on_other, *discovery;

    g_assert_true(lst_port_add_subsys(other, rig->subsys, NULL));
    on_other = rig_admin_to(rig, other, NULL, NULL, 0);
    discovery = rig_admin_to(rig, other, NVF_DISCOVERY_NQN, NULL, 0);
    lst_target_remove_port(rig->target, other);
    rig_pump(rig);
    g_assert_true(on_other->closed && discovery->closed);
    g_assert_false(admin->closed);
    g_assert_null(lst_target_find_port(rig->target, 2));

    g_assert_true(lst_port_remove_subsys(rig->port, rig->subsys, NULL));
    rig_pump(rig);
    g_assert_true(admin->closed && io->closed);
    g_assert_true(lst_port_add_subsys(rig->port, rig->subsys, NULL));
    admin = rig_admin(rig);
    lst_target_remove_subsys(rig->target, rig->subsys);
    rig_pump(rig);
    g_assert_true(admin->closed);
    g_assert_null(lst_target_find_subsys(rig->target, RIG_NQN));
    rig_free(rig);
}

/* ---- Statistics */

typedef struct Seen {
    unsigned conns, ctrls;
    struct lst_conn_stats io;
    char subnqn[256];
} Seen;

static void see_conn(void *opaque, const struct lst_conn_stats *stats)
{
    Seen *seen = opaque;

    seen->conns++;
    if (stats->qid == 1) {
        seen->io = *stats;
        g_strlcpy(seen->subnqn, stats->subnqn, sizeof(seen->subnqn));
    }
}

static void see_ctrl(void *opaque, const struct lst_ctrl_stats *stats)
{
    Seen *seen = opaque;

    seen->ctrls++;
    g_assert_cmpstr(stats->hostnqn, ==, RIG_HOST_NQN);
    g_assert_true(stats->enabled);
    g_assert_cmpuint(stats->kato_ms, ==, stats->discovery ? 5000 : 0);
    g_assert_cmpuint(stats->io_queues, ==, stats->discovery ? 0 : 1);
}

static void test_stats_agree_with_the_host(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io;
    HostQueueConfig config = rig_io_config();
    const HostCounters *host;
    Seen seen = { 0 };
    uint8_t buf[8192] = { 0 };
    struct lst_target_stats total;

    config.data_digest = config.no_sq_flow_control = true;
    io = rig_io(rig, admin, 1, &config);
    rig_admin_to(rig, NULL, NVF_DISCOVERY_NQN, NULL, 5000);
    g_assert_cmphex(
        rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 16, 0), HOST_DATA_OUT_R2T, buf, 8192, NULL), ==,
        0);
    g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, 0, 8, 0), buf, 4096), ==, 0);
    g_assert_cmphex(rig_run(io, host_cmd(0xfc, 1)), !=, 0);
    lst_target_each_conn(rig->target, see_conn, &seen);
    lst_target_each_ctrl(rig->target, see_ctrl, &seen);
    lst_target_get_stats(rig->target, &total);
    host = host_queue_counters(io->host);

    g_assert_cmpuint(seen.conns, ==, 3);
    g_assert_cmpuint(seen.ctrls, ==, 2);
    g_assert_cmpstr(seen.subnqn, ==, RIG_NQN);
    g_assert_cmpint(seen.io.state, ==, LST_CONN_LIVE);
    g_assert_cmpuint(seen.io.queue_size, ==, RIG_IO_ENTRIES);
    g_assert_cmpuint(seen.io.portid, ==, 1);
    g_assert_cmpuint(seen.io.cntlid, ==, admin->cntlid);
    g_assert_cmpuint(seen.io.outstanding, ==, 0);
    g_assert_true(seen.io.data_digest);
    g_assert_false(seen.io.header_digest);
    g_assert_false(seen.io.sq_flow_control);
    g_assert_cmpuint(seen.io.counters.rx_bytes, ==, host->bytes_sent);
    g_assert_cmpuint(seen.io.counters.tx_bytes, ==, host->bytes_received);
    g_assert_cmpuint(seen.io.counters.commands, ==, host->commands);
    g_assert_cmpuint(seen.io.counters.failed, ==, 1);
    g_assert_cmpuint(seen.io.counters.r2ts, ==, host->pdus_received[NVTCP_R2T]);
    g_assert_cmpuint(seen.io.counters.read_bytes, ==, 4096);
    g_assert_cmpuint(seen.io.counters.write_bytes, ==, 8192);
    g_assert_cmpuint(seen.io.memory, >, 0);
    g_assert_cmpuint(total.conns, ==, 3);
    g_assert_cmpuint(total.conns_opened, ==, 3);
    g_assert_cmpuint(total.ctrls_created, ==, 2);
    g_assert_cmpuint(total.conns_terminated, ==, 0);
    rig_free(rig);
}

/* 1024 idle queues: what each holds must stay small. */
static void sum_memory(void *opaque, const struct lst_conn_stats *stats)
{
    size_t *most = opaque;

    *most = MAX(*most, stats->memory);
}

static void test_stats_idle_queue_is_small(void)
{
    Rig *rig = rig_new();
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    g_autofree uint8_t *buf = g_malloc0(1 << 20);
    size_t most = 0;

    g_assert_cmphex(
        rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 2048, 0), HOST_DATA_OUT_R2T, buf, 1 << 20, NULL),
        ==, 0);
    g_assert_cmphex(rig_in(io, host_cmd_rw(NV_IO_READ, 1, 0, 2048, 0), buf, 1 << 20), ==, 0);
    lst_target_each_conn(rig->target, sum_memory, &most);
    g_assert_cmpuint(most, <=, 32 * 1024);
    rig_free(rig);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/subsystem_attributes", test_config_subsystem_attributes);
    g_test_add_func("/config/port_attributes", test_config_port_attributes);
    g_test_add_func("/config/namespace_attributes", test_config_namespace_attributes);
    g_test_add_func("/config/namespace_media", test_config_namespace_media);
    g_test_add_func("/config/names_and_limits", test_config_names_and_limits);
    g_test_add_func("/config/ports_limit", test_config_ports_limit);
    g_test_add_func("/config/remove_namespace_while_the_media_works",
                    test_config_remove_namespace_while_the_media_works);
    g_test_add_func("/config/remove_namespace_with_an_r2t_out",
                    test_config_remove_namespace_with_an_r2t_out);
    g_test_add_func("/config/shrink_with_an_r2t_out", test_config_shrink_with_an_r2t_out);
    g_test_add_func("/config/remove_subsystem_and_port_close_connections",
                    test_config_remove_subsystem_and_port_close_connections);
    g_test_add_func("/stats/agree_with_the_host", test_stats_agree_with_the_host);
    g_test_add_func("/stats/idle_queue_is_small", test_stats_idle_queue_is_small);
    return g_test_run();
}
