/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which PDUs a fault rule is for and when it fires; rules that make no sense.
 * Not here: what a rule does (test_fault.c).
 * docs/faults.md; NVMe/TCP transport specification 1.0, section 3.6 for the names.
 */
#include <string.h>

#include "fault_rig.h"

enum { US = 1000 };                     /* ns */

/* ---- Where */

/*
 * On connection 1 Connect, Property Set, Keep Alive, Identify; on connection 2 Connect, a Read of
 * block 0, a Read of 100 to 107, a Write of 50 to 53 by one R2T, a Flush.
 */
static void work(Rig *rig)
{
    RigLink *admin = rig_admin(rig), *io = rig_io(rig, admin, 1, NULL);
    uint8_t buf[4096] = { 0 };

    rig_in(io, host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), buf, 512);
    rig_in(io, host_cmd_rw(NV_IO_READ, 1, 100, 8, 0), buf, 4096);
    rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 50, 4, 0), HOST_DATA_OUT_R2T, buf, 2048, NULL);
    rig_run(io, host_cmd(NV_IO_FLUSH, 1));
    rig_run(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0));
    rig_in(admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), buf, 4096);
}

static void test_where(void)
{
    static const struct {
        const char *rule;
        unsigned seen;
    } rows[] = {
        { "pdu=icreq", 2 },
        { "pdu=icresp", 2 },
        { "pdu=capsule-cmd", 9 },
        { "pdu=capsule-resp", 9 },
        { "pdu=h2c-data", 1 },
        { "pdu=c2h-data", 3 },
        { "pdu=r2t", 1 },
        { "pdu=c2h-term", 0 },
        { "pdu=icreq port=1", 2 },
        { "pdu=icreq port=2", 0 },
        { "pdu=icreq connection=2", 1 },
        { "pdu=icreq connection=3", 0 },
        /* Which queue it becomes is not known before Connect ... */
        { "pdu=icreq queue=admin", 0 },
        { "pdu=icresp qid=0", 0 },
        /* ... which says so itself. */
        { "pdu=capsule-cmd queue=admin", 4 },
        { "pdu=capsule-cmd queue=io", 5 },
        { "pdu=capsule-cmd qid=0", 4 },
        { "pdu=capsule-cmd qid=1", 5 },
        { "pdu=capsule-cmd qid=2", 0 },
        { "pdu=capsule-cmd qid=1 queue=admin", 0 },
        { "pdu=capsule-cmd connection=1", 4 },
        { "pdu=capsule-cmd connection=2", 5 },
        /* Connect is answered by a controller, but reaches none. */
        { "pdu=capsule-cmd controller=1", 7 },
        { "pdu=capsule-resp controller=1", 9 },
        { "pdu=capsule-resp controller=2", 0 },
        { "pdu=capsule-resp subsystem=" RIG_NQN, 9 },
        { "pdu=capsule-resp subsystem=" RIG_NQN "x", 0 },
        { "pdu=capsule-cmd opcode=2", 2 },
        { "pdu=capsule-cmd opcode=0x18", 1 },
        { "pdu=capsule-cmd opcode=0x7f", 3 },
        { "pdu=capsule-cmd fctype=1", 2 },
        { "pdu=capsule-cmd fctype=0", 1 },
        { "pdu=capsule-cmd fctype=4", 0 },
        { "pdu=capsule-cmd nsid=1", 4 },
        { "pdu=capsule-resp nsid=1", 4 },
        { "pdu=capsule-cmd nsid=2", 0 },
        { "pdu=capsule-cmd lba_first=0", 3 },
        { "pdu=capsule-cmd lba_first=100", 1 },
        { "pdu=capsule-cmd lba_first=107", 1 },
        { "pdu=capsule-cmd lba_first=108", 0 },
        { "pdu=capsule-cmd lba_last=49", 1 },
        { "pdu=capsule-cmd lba_last=50", 2 },
        { "pdu=capsule-cmd lba_first=51 lba_last=52", 1 },
        { "pdu=capsule-cmd lba_first=1 lba_last=49", 0 },
        { "pdu=capsule-resp lba_first=100 opcode=2", 1 },
        { "pdu=c2h-data lba_first=100", 1 },
        { "pdu=c2h-data opcode=6", 1 },
        { "pdu=r2t lba_first=50 lba_last=53", 1 },
        { "pdu=r2t opcode=2", 0 },
        { "pdu=h2c-data opcode=1", 1 },
    };
    struct lst_fault *rules[G_N_ELEMENTS(rows)];

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text =
            g_strdup_printf("%s action=drop probability_ppm=0", rows[i].rule);
        Rig *rig = rig_new();

        rules[i] = fault_add(rig, text);
        work(rig);
        g_test_message("%s", rows[i].rule);
        g_assert_cmpuint(fault_seen(rules[i]), ==, rows[i].seen);
        g_assert_cmpuint(fault_fired(rules[i]), ==, 0);
        g_assert_cmpuint(rig->events[LST_EVENT_FAULT], ==, 0);
        rig_free(rig);
    }
}

/* A disabled rule sees nothing. */
static void test_disabled(void)
{
    Rig *rig = rig_new();
    struct lst_fault *fault = fault_add(rig, "pdu=capsule-cmd action=drop");

    g_assert_true(lst_fault_set(fault, "enable", "0", NULL));
    work(rig);
    g_assert_cmpuint(fault_seen(fault), ==, 0);
    rig_free(rig);
}

/* ---- When */

/* Which of @count Flushes got no answer, as a string of 0 and 1. */
static char *dropped(const char *when, unsigned count)
{
    g_autofree char *text = g_strdup_printf("pdu=capsule-resp queue=io action=drop %s", when);
    FaultWire w = fault_wire(false);
    struct lst_fault *fault = fault_add(w.s.rig, text);
    GString *result = g_string_new(NULL);
    unsigned fired = 0;

    for (unsigned i = 0; i < count; i++) {
        bool gone;

        g_byte_array_set_size(w.s.io->received, 0);
        fault_flush(&w, (uint16_t)i);
        gone = w.s.io->received->len == 0;
        fired += gone;
        g_string_append_c(result, gone ? '1' : '0');
    }
    g_assert_cmpuint(fault_seen(fault), ==, count);
    g_assert_cmpuint(fault_fired(fault), ==, fired);
    g_assert_cmpuint(w.s.rig->events[LST_EVENT_FAULT], ==, fired);
    fault_wire_free(&w);
    return g_string_free(result, FALSE);
}

static void test_counts(void)
{
    static const struct {
        const char *when, *dropped;
    } rows[] = {
        { "name=all", "111111111111" },
        { "nth=1", "100000000000" },
        { "nth=5", "000010000000" },
        { "nth=13", "000000000000" },
        { "every=1", "111111111111" },
        { "every=4", "000100010001" },
        { "limit=3", "111000000000" },
        { "every=4 limit=2", "000100010000" },
        { "nth=8 every=4", "000000010000" },
        { "nth=8 every=3", "000000000000" },
        { "probability_ppm=0", "000000000000" },
        { "probability_ppm=1000000", "111111111111" },
        { "probability_ppm=1000000 every=6", "000001000001" },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *got = dropped(rows[i].when, 12);

        g_test_message("%s", rows[i].when);
        g_assert_cmpstr(got, ==, rows[i].dropped);
    }
}

/* 10,000 draws at 1/4: 2500, give or take four standard deviations of 43.3. */
static void test_probability(void)
{
    g_autofree char *first = dropped("probability_ppm=250000 seed=1", 10000);
    g_autofree char *again = dropped("probability_ppm=250000 seed=1", 10000);
    g_autofree char *other = dropped("probability_ppm=250000 seed=2", 10000);
    unsigned ones = 0, pairs = 0, both = 0;

    for (unsigned i = 0; i < 10000; i++) {
        ones += first[i] == '1';
        pairs += i && first[i] == '1' && first[i - 1] == '1';
        both += first[i] == '1' && other[i] == '1';
    }
    g_assert_cmpstr(first, ==, again);
    g_assert_cmpstr(first, !=, other);
    g_assert_cmpuint(ones, >, 2500 - 174);
    g_assert_cmpuint(ones, <, 2500 + 174);
    /* Neighbours and other seeds know nothing of each other: 1/16, 625 +- 4 * 24.2. */
    g_assert_cmpuint(pairs, >, 625 - 97);
    g_assert_cmpuint(pairs, <, 625 + 97);
    g_assert_cmpuint(both, >, 625 - 97);
    g_assert_cmpuint(both, <, 625 + 97);
}

/* Two rules have generators of their own: what one draws does not change the other. */
static void test_generators_are_independent(void)
{
    g_autofree char *alone = dropped("probability_ppm=500000 seed=7", 64);
    FaultWire w = fault_wire(false);
    GString *result = g_string_new(NULL);

    fault_add(w.s.rig, "pdu=capsule-resp action=corrupt part=header seed=7 probability_ppm=300000");
    fault_add(w.s.rig, "pdu=capsule-resp action=drop probability_ppm=500000 seed=7");
    for (unsigned i = 0; i < 64; i++) {
        g_byte_array_set_size(w.s.io->received, 0);
        fault_flush(&w, (uint16_t)i);
        g_string_append_c(result, w.s.io->received->len ? '0' : '1');
    }
    g_assert_cmpstr(result->str, ==, alone);
    g_string_free(result, TRUE);
    fault_wire_free(&w);
}

static void flush_at(FaultWire *w, uint64_t us)
{
    rig_advance(w->s.rig, us * US - w->s.rig->now);
    fault_flush(w, 1);
}

static void test_time_since_start(void)
{
    FaultWire w = fault_wire(false);
    struct lst_fault *window =
        fault_add(w.s.rig, "pdu=capsule-resp action=drop after_us=1000 before_us=2000");
    struct lst_fault *from = fault_add(w.s.rig, "pdu=capsule-resp action=drop after_us=1999");

    flush_at(&w, 0);
    flush_at(&w, 999);
    flush_at(&w, 1000);
    flush_at(&w, 1999);
    flush_at(&w, 2000);
    g_assert_cmpuint(fault_fired(window), ==, 2);
    g_assert_cmpuint(fault_fired(from), ==, 2);
    fault_wire_free(&w);
}

static void test_time_since_connection(void)
{
    Rig *rig = rig_new();
    struct lst_fault *early =
        fault_add(rig, "pdu=capsule-resp opcode=0x18 action=delay us=1 before_connect_us=100");
    struct lst_fault *later =
        fault_add(rig, "pdu=capsule-resp opcode=0x18 action=delay us=1 after_connect_us=100");
    RigLink *admin;
    RigResult result;

    rig_advance(rig, 5000 * US);
    admin = rig_admin(rig);
    rig_advance(rig, 99 * US);
    rig_submit(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0), HOST_DATA_NONE, NULL, 0, &result);
    rig_advance(rig, 1 * US);
    g_assert_true(result.done);
    rig_submit(admin, host_cmd(NV_ADMIN_KEEP_ALIVE, 0), HOST_DATA_NONE, NULL, 0, &result);
    rig_advance(rig, 1 * US);
    g_assert_true(result.done);
    g_assert_cmpuint(fault_fired(early), ==, 1);
    g_assert_cmpuint(fault_fired(later), ==, 1);
    rig_free(rig);
}

/* ---- Configuration */

static void test_rules_that_are_wrong(void)
{
    static const struct {
        const char *rule, *message;
        enum lst_error code;
    } rows[] = {
        { "", "pdu: missing; every rule needs it", LST_ERROR_VALUE },
        { "pdu=r2t", "action: missing; every rule needs it", LST_ERROR_VALUE },
        { "action=drop", "pdu: missing; every rule needs it", LST_ERROR_VALUE },
        { "pdu=r2t action=status status=1", "action: 'status' is not allowed with pdu 'r2t'",
          LST_ERROR_VALUE },
        { "pdu=icreq action=corrupt part=header",
          "action: 'corrupt' is not allowed with pdu 'icreq'", LST_ERROR_VALUE },
        { "pdu=capsule-cmd action=status", "status: missing; action 'status' needs it",
          LST_ERROR_VALUE },
        { "pdu=capsule-cmd action=delay", "us: missing; action 'delay' needs it", LST_ERROR_VALUE },
        { "pdu=r2t action=drop us=5", "us: not allowed with action 'drop'", LST_ERROR_VALUE },
        { "pdu=r2t action=set field=ttag", "field: 'ttag' needs either value or xor",
          LST_ERROR_VALUE },
        { "pdu=r2t action=set field=ttag value=1 xor=1", "field: 'ttag' needs either value or xor",
          LST_ERROR_VALUE },
        { "pdu=r2t action=set field=datao value=1",
          "field: 'datao' is not allowed: pdu 'r2t' has no such field", LST_ERROR_VALUE },
        { "pdu=r2t action=set field=ttag value=65536",
          "value: '65536' is not allowed: field 'ttag' takes 0 to 65535", LST_ERROR_VALUE },
        { "pdu=icresp action=set field=cpda xor=256",
          "xor: '256' is not allowed: field 'cpda' takes 0 to 255", LST_ERROR_VALUE },
        { "pdu=icreq action=drop opcode=1",
          "opcode: not allowed with pdu 'icreq', which belongs to no command", LST_ERROR_VALUE },
        { "pdu=r2t action=drop lba_first=9 lba_last=8",
          "lba_last: '8' is not allowed: lba_first or more", LST_ERROR_VALUE },
        { "pdu=r2t action=drop seed=8",
          "seed: nothing is random without probability_ppm or action 'corrupt'", LST_ERROR_VALUE },
        { "pdu=r2t action=drop nth=0",
          "nth: '0' is not allowed: a number from 1 to 18446744073709551615", LST_ERROR_VALUE },
        { "probability_ppm=1000001",
          "probability_ppm: '1000001' is not allowed: a number from 0 to 1000000",
          LST_ERROR_VALUE },
        { "opcode=0x100", "opcode: '0x100' is not allowed: a number from 0 to 255",
          LST_ERROR_VALUE },
        { "opcode=read", "opcode: 'read' is not allowed: a number from 0 to 255", LST_ERROR_VALUE },
        { "queue=both", "queue: 'both' is not allowed: admin, io", LST_ERROR_VALUE },
        { "pdu=kdreq",
          "pdu: 'kdreq' is not allowed: icreq, icresp, capsule-cmd, capsule-resp, h2c-data, "
          "c2h-data, r2t, c2h-term",
          LST_ERROR_VALUE },
        { "enable=2", "enable: '2' is not allowed: a number from 0 to 1", LST_ERROR_VALUE },
        { "name=\n", "name: '\n' is not allowed: 1 to 63 printable ASCII characters",
          LST_ERROR_VALUE },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Rig *rig = rig_new();
        struct lst_fault *fault = lst_target_add_fault(rig->target, NULL);
        g_auto(GStrv) words = g_strsplit(rows[i].rule, " ", -1);
        g_autoptr(GError) error = NULL;
        bool ok = true;

        g_test_message("%s", rows[i].rule);
        for (char **word = words; *word && ok; word++) {
            char *value = strchr(*word, '=');

            *value++ = '\0';
            ok = lst_fault_set(fault, *word, value, &error);
        }
        g_assert_false(ok && lst_fault_set(fault, "enable", "1", &error));
        g_assert_error(error, LST_ERROR, (int)rows[i].code);
        g_assert_cmpstr(error->message, ==, rows[i].message);
        rig_free(rig);
    }
}

static void test_keys_as_text(void)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        { "name", "my rule" }, { "pdu", "r2t" },       { "action", "set" }, { "field", "r2tl" },
        { "value", "0" },      { "subsystem", "nqn" }, { "lba_last", "18446744073709551615" },
        { "queue", "io" },     { "enable", "1" },
    };
    Rig *rig = rig_new();
    struct lst_fault *fault = lst_target_add_fault(rig->target, NULL);
    g_autofree char *unset = lst_fault_get(fault, "opcode", NULL);
    g_autofree char *name = lst_fault_get(fault, "name", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_cmpstr(unset, ==, "");
    g_assert_cmpstr(name, ==, "fault1");
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *got = NULL;

        g_assert_true(lst_fault_set(fault, rows[i].key, rows[i].value, NULL));
        got = lst_fault_get(fault, rows[i].key, NULL);
        g_assert_cmpstr(got, ==, rows[i].value);
    }
    g_assert_false(lst_fault_set(fault, "field", "ttag", &error));
    g_assert_error(error, LST_ERROR, LST_ERROR_STATE);
    g_assert_cmpstr(error->message, ==,
                    "field: 'ttag' is not allowed now: only while the rule is disabled");
    g_assert_true(lst_fault_set(fault, "name", "other", NULL));
    g_assert_true(lst_fault_set(fault, "enable", "0", NULL));
    g_assert_true(lst_fault_set(fault, "queue", "", NULL));
    g_free(unset);
    unset = lst_fault_get(fault, "queue", NULL);
    g_assert_cmpstr(unset, ==, "");
    g_clear_error(&error);
    g_assert_false(lst_fault_set(fault, "colour", "red", &error));
    g_assert_error(error, LST_ERROR, LST_ERROR_KEY);
    g_assert_true(g_str_has_prefix(error->message, "colour: no such key; there are name, port, "));
    g_assert_null(lst_fault_get(fault, "colour", NULL));
    rig_free(rig);
}

static void count_fault(void *opaque, struct lst_fault *fault)
{
    g_assert_nonnull(fault);
    (*(unsigned *)opaque)++;
}

static void test_limit_of_rules(void)
{
    Rig *rig = rig_new();
    struct lst_fault *last = NULL;
    g_autoptr(GError) error = NULL;
    unsigned count = 0;

    lst_target_each_fault(rig->target, count_fault, &count);
    g_assert_cmpuint(count, ==, 0);
    for (unsigned i = 0; i < 64; i++) {
        last = fault_add(rig, "pdu=capsule-resp action=duplicate probability_ppm=0");
    }
    g_assert_null(lst_target_add_fault(rig->target, &error));
    g_assert_error(error, LST_ERROR, LST_ERROR_LIMIT);
    g_assert_cmpstr(error->message, ==, "faults: one too many: 64 at most");
    lst_target_each_fault(rig->target, count_fault, &count);
    g_assert_cmpuint(count, ==, 64);
    /* Nobody minds them while they do not fire; all 64 may fire for one PDU. */
    work(rig);
    lst_target_remove_fault(rig->target, last);
    g_assert_nonnull(lst_target_add_fault(rig->target, NULL));
    rig_free(rig);
}

static void test_all_rules_at_once(void)
{
    FaultWire w = fault_wire(false);

    for (unsigned i = 0; i < 64; i++) {
        fault_add(w.s.rig, "pdu=capsule-resp action=set field=dw0 xor=1");
    }
    fault_flush(&w, 4);
    fault_expect_resp(&w, 4, 2, 0);
    fault_check(&w);
    fault_wire_free(&w);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fault_rules/where", test_where);
    g_test_add_func("/fault_rules/disabled", test_disabled);
    g_test_add_func("/fault_rules/counts", test_counts);
    g_test_add_func("/fault_rules/probability", test_probability);
    g_test_add_func("/fault_rules/generators_are_independent", test_generators_are_independent);
    g_test_add_func("/fault_rules/time_since_start", test_time_since_start);
    g_test_add_func("/fault_rules/time_since_connection", test_time_since_connection);
    g_test_add_func("/fault_rules/rules_that_are_wrong", test_rules_that_are_wrong);
    g_test_add_func("/fault_rules/keys_as_text", test_keys_as_text);
    g_test_add_func("/fault_rules/limit_of_rules", test_limit_of_rules);
    g_test_add_func("/fault_rules/all_rules_at_once", test_all_rules_at_once);
    return g_test_run();
}
