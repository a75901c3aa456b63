/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discovery controllers: the log's content, generations, offsets; change notices; what commands
 * they take; idle timer.
 * Not here: I/O controllers.
 * NVMe base specification 2.0, sections 3.1.2.3 and 5.16.1.23.
 */
#include <string.h>

#include "rig.h"

enum { ENTRY = 1024, LOG_MAX = 64 * ENTRY };

typedef struct Setup {
    Rig *rig;
    RigLink *admin;
    uint8_t buf[LOG_MAX];
} Setup;

static Setup *setup_on(Rig *rig, uint32_t kato_ms)
{
    Setup *s = g_new0(Setup, 1);

    s->rig = rig;
    s->admin = rig_admin_to(rig, NULL, NVF_DISCOVERY_NQN, NULL, kato_ms);
    return s;
}

static void teardown(Setup *s)
{
    rig_free(s->rig);
    g_free(s);
}

static uint16_t get_log(Setup *s, uint64_t offset, uint32_t length)
{
    memset(s->buf, 0xee, length);
    return rig_in(s->admin, host_cmd_get_log(NV_LOG_DISCOVERY, 0, offset, length, 0, false), s->buf,
                  length);
}

/*
 * As Linux does it: 20 bytes, then the entries, then the header again. Returns the number of
 * entries in buf.
 */
static uint64_t read_entries(Setup *s, uint64_t *genctr)
{
    struct nvf_discovery_header header = { 0 };
    uint64_t numrec;

    g_assert_cmphex(get_log(s, 0, 20), ==, 0);
    memcpy(&header, s->buf, 20);
    g_assert_cmpuint(header.recfmt, ==, 0);
    numrec = header.numrec;
    *genctr = header.genctr;
    g_assert_cmphex(get_log(s, 0, 16), ==, 0);
    g_assert_cmphex(get_log(s, ENTRY, numrec * ENTRY), ==, 0);
    return numrec;
}

static const struct nvf_discovery_entry *entry_at(Setup *s, unsigned index)
{
    return (const void *)(s->buf + index * ENTRY);
}

static void assert_padded(const char *field, size_t size, const char *text)
{
    g_assert_cmpmem(field, strlen(text), text, strlen(text));
    for (size_t i = strlen(text); i < size; i++) {
        g_assert_true(field[i] == ' ' || field[i] == 0);
    }
}

static void test_discovery_log_of_one_subsystem(void)
{
    Rig *rig = rig_new();
    const struct nvf_discovery_entry *entry;
    uint64_t genctr;
    Setup *s;

    g_assert_true(lst_port_set(rig->port, "addr_traddr", "10.0.2.2", NULL));
    g_assert_true(lst_port_set(rig->port, "addr_trsvcid", "40001", NULL));
    s = setup_on(rig, 0);
    g_assert_cmpuint(read_entries(s, &genctr), ==, 2);
    g_assert_cmpuint(genctr, ==, lst_target_genctr(rig->target));

    entry = entry_at(s, 0);                     /* this discovery subsystem itself */
    g_assert_cmpuint(entry->subtype, ==, 3);
    g_assert_cmpstr(entry->subnqn, ==, NVF_DISCOVERY_NQN);

    entry = entry_at(s, 1);
    g_assert_cmpuint(entry->trtype, ==, 3);
    g_assert_cmpuint(entry->adrfam, ==, 1);
    g_assert_cmpuint(entry->subtype, ==, 2);
    g_assert_cmpuint(entry->treq & 3, ==, 0);
    g_assert_cmpuint(entry->portid, ==, 1);
    g_assert_cmphex(entry->cntlid, ==, 0xffff);
    g_assert_cmpuint(entry->asqsz, >=, 32);
    assert_padded(entry->trsvcid, 32, "40001");
    g_assert_cmpstr(entry->subnqn, ==, RIG_NQN);
    assert_padded(entry->traddr, 256, "10.0.2.2");
    g_assert_cmpuint(entry->tsas[0], ==, 0);
    teardown(s);
}

static void test_discovery_log_of_many_ports(void)
{
    Rig *rig = rig_new();
    struct lst_port *port2 = lst_target_add_port(rig->target, 77, NULL);
    uint64_t genctr, count;
    unsigned subsystems = 0;
    Setup *s;

    g_assert_true(lst_port_set(port2, "addr_adrfam", "ipv6", NULL));
    g_assert_true(lst_port_set(port2, "addr_traddr", "::1", NULL));
    g_assert_true(lst_port_set(port2, "addr_treq", "required", NULL));
    for (unsigned i = 0; i < 20; i++) {
        g_autofree char *nqn = g_strdup_printf("nqn.2026-01.org.lockstep:many%u", i);
        struct lst_subsys *subsys = lst_target_add_subsys(rig->target, nqn, NULL);

        g_assert_true(lst_subsys_set(subsys, "attr_allow_any_host", i % 2 ? "1" : "0", NULL));
        g_assert_true(lst_port_add_subsys(i < 10 ? rig->port : port2, subsys, NULL));
    }
    s = setup_on(rig, 0);
    count = read_entries(s, &genctr);
    /* Itself, the rig's own, and the ten that this host is allowed to see. */
    g_assert_cmpuint(count, ==, 12);
    for (unsigned i = 0; i < count; i++) {
        const struct nvf_discovery_entry *entry = entry_at(s, i);

        if (entry->portid == 77) {
            g_assert_cmpuint(entry->adrfam, ==, 2);
            g_assert_cmpuint(entry->treq & 3, ==, 1);
            assert_padded(entry->traddr, 256, "::1");
            subsystems++;
        }
    }
    g_assert_cmpuint(subsystems, ==, 5);
    teardown(s);
}

/* Where the configuration says "any address", a host is told the one it came to. */
static void test_discovery_traddr_any(void)
{
    Rig *rig = rig_new();
    uint64_t genctr;
    Setup *s;

    g_assert_true(lst_port_set(rig->port, "addr_traddr", "0.0.0.0", NULL));
    s = setup_on(rig, 0);
    g_assert_cmpuint(read_entries(s, &genctr), ==, 2);
    assert_padded(entry_at(s, 1)->traddr, 256, "127.0.0.1");
    teardown(s);
}

static void test_discovery_referrals(void)
{
    Rig *rig = rig_new();
    const struct nvf_discovery_entry *entry;
    uint64_t genctr;
    Setup *s;

    g_assert_true(lst_port_add_referral(rig->port, "other", "ipv4", "10.1.2.3", "8009", 9, NULL));
    g_assert_false(lst_port_add_referral(rig->port, "other", "ipv4", "10.1.2.3", "8009", 9, NULL));
    s = setup_on(rig, 0);
    g_assert_cmpuint(read_entries(s, &genctr), ==, 3);
    entry = entry_at(s, 2);
    g_assert_cmpuint(entry->subtype, ==, 1);
    g_assert_cmpuint(entry->portid, ==, 9);
    g_assert_cmpstr(entry->subnqn, ==, NVF_DISCOVERY_NQN);
    assert_padded(entry->traddr, 256, "10.1.2.3");
    assert_padded(entry->trsvcid, 32, "8009");
    g_assert_true(lst_port_remove_referral(rig->port, "other", NULL));
    g_assert_false(lst_port_remove_referral(rig->port, "other", NULL));
    g_assert_cmpuint(read_entries(s, &genctr), ==, 2);
    teardown(s);
}

/* Entries read in pieces after the header belong to that header, whatever has changed meanwhile. */
static void test_discovery_snapshot_per_generation(void)
{
    Rig *rig = rig_new();
    struct nvf_discovery_header before, after;
    uint8_t entries[2 * ENTRY];
    Setup *s = setup_on(rig, 0);

    g_assert_cmphex(get_log(s, 0, 1024), ==, 0);
    memcpy(&before, s->buf, sizeof(before));
    g_assert_cmpuint(before.numrec, ==, 2);
    g_assert_cmphex(get_log(s, ENTRY, 2 * ENTRY), ==, 0);
    memcpy(entries, s->buf, sizeof(entries));

    g_assert_true(lst_port_remove_subsys(rig->port, rig->subsys, NULL));
    for (unsigned at = 0; at < 2 * ENTRY; at += 256) {
        g_assert_cmphex(get_log(s, ENTRY + at, 256), ==, 0);
        g_assert_cmpmem(s->buf, 256, entries + at, 256);
    }
    g_assert_cmphex(get_log(s, 0, 1024), ==, 0);
    memcpy(&after, s->buf, sizeof(after));
    g_assert_cmpuint(after.genctr, >, before.genctr);
    g_assert_cmpuint(after.numrec, ==, 1);
    g_assert_cmphex(get_log(s, 3 * ENTRY, 4), ==, NV_SC_INVALID_FIELD);
    teardown(s);
}

static void test_discovery_generation_counts_visible_changes(void)
{
    Rig *rig = rig_new();
    uint64_t generation = lst_target_genctr(rig->target);

    g_assert_true(lst_port_set(rig->port, "addr_trsvcid", "4421", NULL));
    g_assert_cmpuint(lst_target_genctr(rig->target), ==, ++generation);
    g_assert_true(lst_port_remove_subsys(rig->port, rig->subsys, NULL));
    g_assert_cmpuint(lst_target_genctr(rig->target), ==, ++generation);
    g_assert_true(lst_port_add_subsys(rig->port, rig->subsys, NULL));
    g_assert_cmpuint(lst_target_genctr(rig->target), ==, ++generation);
    /* A namespace shows in no entry. */
    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    g_assert_cmpuint(lst_target_genctr(rig->target), ==, generation);
    rig_free(rig);
}

static void test_discovery_log_offsets(void)
{
    Setup *s = setup_on(rig_new(), 0);

    g_assert_cmphex(get_log(s, 3 * ENTRY + 4, 4), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, 1ull << 32, 1024), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, UINT64_MAX - 1023, 1024), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(get_log(s, 1026, 1024), ==, NV_SC_INVALID_FIELD);
    /* More than there is: the rest reads as zeroes. */
    g_assert_cmphex(get_log(s, 2 * ENTRY, 4 * ENTRY), ==, 0);
    for (unsigned i = ENTRY; i < 4 * ENTRY; i++) {
        g_assert_cmpuint(s->buf[i], ==, 0);
    }
    teardown(s);
}

static void test_discovery_identify(void)
{
    Setup *s = setup_on(rig_new(), 0);
    const struct nv_id_ctrl *id = (const void *)s->buf;

    g_assert_cmphex(rig_in(s->admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), s->buf, 4096), ==, 0);
    g_assert_cmphex(id->cntlid, ==, s->admin->cntlid);
    g_assert_cmpuint(id->cntrltype, ==, 2);
    g_assert_cmpstr(id->subnqn, ==, NVF_DISCOVERY_NQN);
    g_assert_cmpuint(id->kas, >, 0);
    g_assert_cmphex(id->oaes, ==, 1u << 31);
    g_assert_cmpuint(id->lpa >> 2 & 1, ==, 1);          /* offsets in log pages */
    g_assert_cmpuint(id->sgls & 3, ==, 1);
    g_assert_cmpuint(id->nn, ==, 0);
    g_assert_cmphex(rig_property(s->admin, NV_REG_CSTS, false), ==, NV_CSTS_RDY);
    teardown(s);
}

static void test_discovery_commands_it_does_not_have(void)
{
    Setup *s = setup_on(rig_new(), 0);
    struct nvf_connect_data data = rig_connect_data(NVF_DISCOVERY_NQN, s->admin->cntlid);
    HostQueueConfig config = rig_io_config();
    RigResult result = { 0 };
    RigLink *io;

    g_assert_cmphex(rig_run(s->admin, host_cmd_abort(0, 1)), ==, NV_SC_INVALID_OPCODE);
    g_assert_cmphex(rig_run(s->admin, host_cmd_get_features(NV_FEAT_NUM_QUEUES, 0, 0)), ==,
                    NV_SC_INVALID_FIELD);
    g_assert_cmphex(
        rig_in(s->admin, host_cmd_get_log(NV_LOG_SMART, 0, 0, 512, 0, false), s->buf, 512), ==,
        NV_SC_INVALID_LOG_PAGE);
    /* It has no I/O queues. */
    io = rig_link(s->rig, NULL, &config);
    g_assert_cmpint(host_queue_connect(io->host, 1, 0, &data, rig_completed, &result), >=, 0);
    rig_pump(s->rig);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, !=, 0);
    teardown(s);
}

static void test_discovery_change_notice(void)
{
    Setup *s = setup_on(rig_new(), 5000);
    RigResult event, second;

    g_assert_cmphex(rig_run(s->admin, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 1u << 31)), ==, 0);
    rig_submit(s->admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &event);
    g_assert_true(lst_port_set(s->rig->port, "addr_trsvcid", "4421", NULL));
    rig_pump(s->rig);
    g_assert_true(event.done);
    g_assert_cmphex(event.dw0, ==, 0x70f002);           /* log 70h, notice F0h, type 2 */
    /* No second one before the log has been read. */
    rig_submit(s->admin, host_cmd(NV_ADMIN_ASYNC_EVENT, 0), HOST_DATA_NONE, NULL, 0, &second);
    g_assert_true(lst_port_set(s->rig->port, "addr_trsvcid", "4422", NULL));
    rig_pump(s->rig);
    g_assert_false(second.done);
    g_assert_cmphex(get_log(s, 0, 1024), ==, 0);
    g_assert_true(second.done);
    g_assert_cmphex(second.dw0, ==, 0x70f002);
    teardown(s);
}

/* Without KATO a discovery controller lives 120 s beyond its last command. */
static void test_discovery_idle_timer(void)
{
    Setup *s = setup_on(rig_new(), 0);

    rig_advance(s->rig, 119 * RIG_S);
    g_assert_cmphex(get_log(s, 0, 1024), ==, 0);
    rig_advance(s->rig, 120 * RIG_S - 1);
    g_assert_false(s->admin->closed);
    rig_advance(s->rig, 1);
    g_assert_true(s->admin->closed);
    g_assert_cmpuint(s->rig->events[LST_EVENT_CTRL_IDLE], ==, 1);
    teardown(s);
}

static void test_discovery_keep_alive(void)
{
    Setup *s = setup_on(rig_new(), 5000);

    for (unsigned i = 0; i < 100; i++) {
        rig_advance(s->rig, 4 * RIG_S);
        g_assert_cmphex(rig_run(s->admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0)), ==, 0);
    }
    rig_advance(s->rig, 5 * RIG_S - 1);
    g_assert_false(s->admin->closed);
    rig_advance(s->rig, 1);
    g_assert_true(s->admin->closed);
    teardown(s);
}

static uint16_t get_log_of(Setup *s, uint8_t lsp, uint64_t offset, uint32_t length)
{
    memset(s->buf, 0xee, length);
    return rig_in(s->admin, host_cmd_get_log(NV_LOG_DISCOVERY, 0, offset, length, lsp, false),
                  s->buf, length);
}

static uint64_t numrec_of(Setup *s, uint8_t lsp)
{
    uint64_t numrec;

    g_assert_cmphex(get_log_of(s, lsp, 0, 16), ==, 0);
    memcpy(&numrec, s->buf + 8, sizeof(numrec));
    return numrec;
}

/* Extended entries are 1032 bytes long where there are no attributes: TEL says so. */
static void test_discovery_extended_entries(void)
{
    Setup *s = setup_on(rig_new(), 0);
    uint32_t tel;
    uint16_t numexat;

    g_assert_cmpuint(numrec_of(s, 1), ==, 2);
    g_assert_cmphex(get_log_of(s, 1, ENTRY, 2 * 1032), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(&tel, s->buf + i * 1032 + 1024, sizeof(tel));
        memcpy(&numexat, s->buf + i * 1032 + 1028, sizeof(numexat));
        g_assert_cmpuint(tel, ==, 1032);
        g_assert_cmpuint(numexat, ==, 0);
    }
    g_assert_cmpstr((const char *)s->buf + 1032 + 256, ==, RIG_NQN);
    /* The same host asks in the other form in between: each answer has the form that was asked for. */
    g_assert_cmphex(get_log_of(s, 0, 2 * ENTRY, ENTRY), ==, 0);
    g_assert_cmpstr((const char *)s->buf + 256, ==, RIG_NQN);
    g_assert_cmphex(get_log_of(s, 1, ENTRY + 1032, 1032), ==, 0);
    g_assert_cmpstr((const char *)s->buf + 256, ==, RIG_NQN);
    teardown(s);
}

static void test_discovery_port_local_entries(void)
{
    Rig *rig = rig_new();
    struct lst_port *other = lst_target_add_port(rig->target, 2, NULL);
    Setup *s;

    g_assert_true(lst_port_add_subsys(other, rig->subsys, NULL));
    s = setup_on(rig, 0);
    g_assert_cmpuint(numrec_of(s, 0), ==, 3);
    g_assert_cmpuint(numrec_of(s, 2), ==, 2);
    g_assert_cmphex(get_log_of(s, 2, ENTRY, 2 * ENTRY), ==, 0);
    g_assert_cmpuint(entry_at(s, 1)->portid, ==, 1);
    g_assert_cmpuint(numrec_of(s, 3), ==, 2);
    teardown(s);
}

static void test_discovery_says_which_forms_of_the_log_there_are(void)
{
    Setup *s = setup_on(rig_new(), 0);
    uint32_t entry;

    g_assert_cmphex(rig_in(s->admin, host_cmd_get_log(NV_LOG_SUPPORTED, 0, 0x70 * 4, 4, 0, false),
                           s->buf, 4), ==, 0);
    memcpy(&entry, s->buf, sizeof(entry));
    g_assert_cmphex(entry, ==, 3u << 16 | 1);
    teardown(s);
}

static void test_discovery_entry_of_static_controllers(void)
{
    Rig *rig = rig_new();
    uint64_t genctr;
    Setup *s;

    g_assert_true(lst_subsys_set(rig->subsys, "attr_controller_model", "static", NULL));
    s = setup_on(rig, 0);
    g_assert_cmpuint(read_entries(s, &genctr), ==, 2);
    g_assert_cmphex(entry_at(s, 0)->cntlid, ==, 0xffff);
    g_assert_cmphex(entry_at(s, 1)->cntlid, ==, 0xfffe);
    teardown(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/discovery/log_of_one_subsystem", test_discovery_log_of_one_subsystem);
    g_test_add_func("/discovery/log_of_many_ports", test_discovery_log_of_many_ports);
    g_test_add_func("/discovery/traddr_any", test_discovery_traddr_any);
    g_test_add_func("/discovery/referrals", test_discovery_referrals);
    g_test_add_func("/discovery/snapshot_per_generation", test_discovery_snapshot_per_generation);
    g_test_add_func("/discovery/generation_counts_visible_changes",
                    test_discovery_generation_counts_visible_changes);
    g_test_add_func("/discovery/extended_entries", test_discovery_extended_entries);
    g_test_add_func("/discovery/port_local_entries", test_discovery_port_local_entries);
    g_test_add_func("/discovery/says_which_forms_of_the_log_there_are",
                    test_discovery_says_which_forms_of_the_log_there_are);
    g_test_add_func("/discovery/entry_of_static_controllers",
                    test_discovery_entry_of_static_controllers);
    g_test_add_func("/discovery/log_offsets", test_discovery_log_offsets);
    g_test_add_func("/discovery/identify", test_discovery_identify);
    g_test_add_func("/discovery/commands_it_does_not_have",
                    test_discovery_commands_it_does_not_have);
    g_test_add_func("/discovery/change_notice", test_discovery_change_notice);
    g_test_add_func("/discovery/idle_timer", test_discovery_idle_timer);
    g_test_add_func("/discovery/keep_alive", test_discovery_keep_alive);
    return g_test_run();
}
