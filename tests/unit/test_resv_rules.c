/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations without queues: the table of conflicts, and what each command changes and tells.
 * Not here: the same over a connection (test_resv.c).
 * NVMe base specification 2.0, 7.2 to 7.5 and 8.19.
 */
#include <string.h>

#include "engine/resv.h"

enum { A, B, C, D, HOSTS };              /* hosts; their first keys are 0xa, 0xb, ... */

static struct lst_resv resv;
static struct lst_resv_notices notices;

static const uint8_t *host(unsigned which)
{
    static uint8_t ids[HOSTS][16];

    memset(ids[which], 0x10 + (int)which, 16);
    return ids[which];
}

static uint64_t key(unsigned which)
{
    return 0xa + which;
}

static uint16_t registers(unsigned who, uint32_t cdw10, uint64_t crkey, uint64_t nrkey)
{
    const struct nv_resv_keys keys = { crkey, nrkey };

    return lst_resv_register(&resv, host(who), cdw10, &keys, &notices);
}

static uint16_t acquires(unsigned who, unsigned action, uint8_t type, uint64_t crkey,
                         uint64_t prkey)
{
    const struct nv_resv_keys keys = { crkey, prkey };

    return lst_resv_acquire(&resv, host(who), action | (uint32_t)type << 8, &keys, &notices);
}

static uint16_t releases(unsigned who, unsigned action, uint8_t type, uint64_t crkey)
{
    const struct nv_resv_keys keys = { .crkey = crkey };

    return lst_resv_release(&resv, host(who), action | (uint32_t)type << 8, &keys, &notices);
}

/* @count hosts are registered; if @type is not 0, A has acquired it. */
static void begin(unsigned count, uint8_t type)
{
    memset(&resv, 0, sizeof(resv));
    for (unsigned i = 0; i < count; i++) {
        g_assert_cmphex(registers(i, NV_RESV_REGISTER, 0, key(i)), ==, 0);
    }
    if (type) {
        g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, type, key(A), 0), ==, 0);
    }
}

static bool registered(unsigned who)
{
    for (unsigned i = 0; i < resv.count; i++) {
        if (!memcmp(resv.registrants[i].host, host(who), 16)) {
            return true;
        }
    }
    return false;
}

static bool told(unsigned who, enum nv_resv_notice type)
{
    for (unsigned i = 0; i < notices.count; i++) {
        if (!memcmp(notices.to[i].host, host(who), 16)) {
            return notices.to[i].type == type;
        }
    }
    return false;
}

/* The holder's row of the report; HOSTS: nobody's. */
static unsigned holder(void)
{
    uint8_t data[64 + HOSTS * 64];
    unsigned found = HOSTS;

    lst_resv_report(&resv, true, NULL, NULL, data, sizeof(data));
    for (unsigned i = 0; i < resv.count; i++) {
        if (data[64 + 64 * i + 2] & 1) {
            g_assert_cmpuint(found, ==, HOSTS);
            found = data[64 + 64 * i + 16] - 0x10u;
        }
    }
    return found;
}

/* ---- The table */

/* What the table's columns say: a stranger, a registrant; may read (r), may write (w). */
static const struct {
    uint8_t type;
    const char *stranger, *registrant;
} table[] = {
    { NV_RESV_NONE, "rw", "rw" },
    { NV_RESV_WE, "r", "r" },
    { NV_RESV_EA, "", "" },
    { NV_RESV_WE_RO, "r", "rw" },
    { NV_RESV_EA_RO, "", "rw" },
    { NV_RESV_WE_AR, "r", "rw" },
    { NV_RESV_EA_AR, "", "rw" },
};

static void test_conflicts_by_type_host_and_command(void)
{
    /* NVM and zoned commands: Compare, Read, Verify, Zone Management Receive ... */
    static const uint8_t reads[] = { 0x02, 0x05, 0x0c, 0x7a };
    /* ... Flush, Write, Write Uncorrectable, Write Zeroes, DSM, Copy, Zone Send, Append */
    static const uint8_t writes[] = { 0x00, 0x01, 0x04, 0x08, 0x09, 0x19, 0x79, 0x7d };
    static const uint8_t others[] = { 0x0d, 0x0e, 0x11, 0x15 };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        begin(2, table[i].type);
        for (unsigned c = 0; c < G_N_ELEMENTS(reads); c++) {
            g_test_message("type %u opcode %02x", table[i].type, reads[c]);
            g_assert_false(lst_resv_conflicts(&resv, host(A), reads[c]));
            g_assert_true(lst_resv_conflicts(&resv, host(B), reads[c]) ==
                          !strchr(table[i].registrant, 'r'));
            g_assert_true(lst_resv_conflicts(&resv, host(C), reads[c]) ==
                          !strchr(table[i].stranger, 'r'));
        }
        for (unsigned c = 0; c < G_N_ELEMENTS(writes); c++) {
            g_test_message("type %u opcode %02x", table[i].type, writes[c]);
            g_assert_false(lst_resv_conflicts(&resv, host(A), writes[c]));
            g_assert_true(lst_resv_conflicts(&resv, host(B), writes[c]) ==
                          !strchr(table[i].registrant, 'w'));
            g_assert_true(lst_resv_conflicts(&resv, host(C), writes[c]) ==
                          !strchr(table[i].stranger, 'w'));
        }
        for (unsigned c = 0; c < G_N_ELEMENTS(others); c++) {
            g_assert_false(lst_resv_conflicts(&resv, host(C), others[c]));
        }
    }
}

/* The same figure's rows of reservation commands, for every type. */
static void test_conflicts_of_reservation_commands(void)
{
    for (uint8_t type = NV_RESV_WE; type <= NV_RESV_EA_AR; type++) {
        bool all = type >= NV_RESV_WE_AR;

        begin(2, type);
        g_assert_cmphex(acquires(C, NV_RESV_ACQUIRE, type, key(C), 0), ==,
                        NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(acquires(B, NV_RESV_ACQUIRE, type, key(B), 0), ==,
                        all ? 0 : NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(releases(C, NV_RESV_RELEASE, type, key(C)), ==,
                        NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(releases(C, NV_RESV_CLEAR, 0, key(C)), ==, NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(acquires(C, NV_RESV_PREEMPT, type, key(C), key(A)), ==,
                        NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(acquires(C, NV_RESV_PREEMPT_ABORT, type, key(C), key(A)), ==,
                        NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(registers(C, NV_RESV_REGISTER, 0, key(C)), ==, 0);
        g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, type, key(B), all ? 0 : key(A)), ==, 0);
        g_assert_false(registered(A));
    }
}

/* ---- Register */

static void test_register_and_register_again(void)
{
    begin(1, 0);
    g_assert_cmpuint(resv.gen, ==, 1);
    g_assert_cmphex(registers(A, NV_RESV_REGISTER, 0, key(A)), ==, 0);
    g_assert_cmpuint(resv.gen, ==, 2);   /* every Register that succeeds counts */
    g_assert_cmpuint(resv.count, ==, 1);
    g_assert_cmphex(registers(A, NV_RESV_REGISTER, key(A), 0x99), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmpuint(resv.gen, ==, 2);
    g_assert_cmphex(registers(B, NV_RESV_REGISTER, 0, 0), ==, NV_SC_INVALID_FIELD);
    /* Two hosts may have the same key. */
    g_assert_cmphex(registers(B, NV_RESV_REGISTER, 0, key(A)), ==, 0);
    g_assert_cmpuint(resv.count, ==, 2);
}

static void test_register_replaces_keys(void)
{
    begin(1, NV_RESV_WE);
    g_assert_cmphex(registers(A, NV_RESV_REPLACE, 0x99, 0x77), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(registers(A, NV_RESV_REPLACE, key(A), 0x77), ==, 0);
    g_assert_cmphex(resv.registrants[0].key, ==, 0x77);
    g_assert_cmpuint(holder(), ==, A);   /* the reservation stays */
    g_assert_cmphex(registers(A, NV_RESV_REPLACE | NV_RESV_IEKEY, 0x99, 0x78), ==, 0);
    g_assert_cmphex(resv.registrants[0].key, ==, 0x78);
    g_assert_cmphex(registers(A, NV_RESV_REPLACE, 0x78, 0), ==, NV_SC_INVALID_FIELD);
    /* A stranger has nothing to replace, unless it says that this does not matter. */
    g_assert_cmphex(registers(B, NV_RESV_REPLACE, 0, 0x79), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(registers(B, NV_RESV_REPLACE | NV_RESV_IEKEY, 0, 0x79), ==, 0);
    g_assert_true(registered(B));
}

static void test_unregister(void)
{
    begin(2, 0);
    g_assert_cmphex(registers(C, NV_RESV_UNREGISTER, 0, 0), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(registers(C, NV_RESV_UNREGISTER | NV_RESV_IEKEY, 0, 0), ==,
                    NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(registers(A, NV_RESV_UNREGISTER, key(B), 0), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(registers(A, NV_RESV_UNREGISTER, key(A), 0), ==, 0);
    g_assert_false(registered(A));
    g_assert_cmpuint(resv.gen, ==, 3);
    g_assert_cmphex(registers(B, NV_RESV_UNREGISTER | NV_RESV_IEKEY, 0x99, 0), ==, 0);
    g_assert_cmpuint(resv.count, ==, 0);
}

/* Its reservation goes with the holder; Registrants Only ones tell the others. */
static void test_unregister_of_the_holder(void)
{
    for (uint8_t type = NV_RESV_WE; type <= NV_RESV_EA_AR; type++) {
        bool registrants_only = type == NV_RESV_WE_RO || type == NV_RESV_EA_RO;
        bool all = type >= NV_RESV_WE_AR;

        begin(3, type);
        g_assert_cmphex(registers(A, NV_RESV_UNREGISTER, key(A), 0), ==, 0);
        g_assert_cmpuint(resv.type, ==, all ? type : 0);
        g_assert_cmpuint(notices.count, ==, registrants_only ? 2 : 0);
        g_assert_true(told(B, NV_RESV_RESERVATION_RELEASED) == registrants_only);
        g_assert_true(told(C, NV_RESV_RESERVATION_RELEASED) == registrants_only);
        g_assert_cmphex(registers(B, NV_RESV_UNREGISTER, key(B), 0), ==, 0);
        g_assert_cmphex(registers(C, NV_RESV_UNREGISTER, key(C), 0), ==, 0);
        g_assert_cmpuint(resv.type, ==, 0);  /* the last registrant takes it along */
        g_assert_cmpuint(notices.count, ==, 0);
        g_assert_true(lst_resv_whole(&resv));
    }
}

static void test_register_reserved_values(void)
{
    begin(1, 0);
    for (uint32_t action = 3; action < 8; action++) {
        g_assert_cmphex(registers(A, action, key(A), key(A)), ==, NV_SC_INVALID_FIELD);
    }
    g_assert_cmphex(registers(A, 1u << 30, key(A), key(A)), ==, NV_SC_INVALID_FIELD);
}

static void test_register_changes_persistence(void)
{
    begin(0, 0);
    g_assert_cmphex(registers(A, 3u << 30, 0, key(A)), ==, NV_SC_INVALID_FIELD);
    g_assert_false(registered(A));       /* nothing has happened */
    g_assert_cmphex(registers(A, 2u << 30, 0, key(A)), ==, 0);
    resv.ptpl_capable = true;
    /* A Register that fails does not change it either. */
    g_assert_cmphex(registers(A, 3u << 30, 0, 0x99), ==, NV_SC_RESERVATION_CONFLICT);
    g_assert_false(resv.ptpl);
    g_assert_cmphex(registers(A, 3u << 30, 0, key(A)), ==, 0);
    g_assert_true(resv.ptpl);
    g_assert_cmphex(registers(A, NV_RESV_REPLACE, key(A), key(A)), ==, 0);
    g_assert_true(resv.ptpl);
    g_assert_cmphex(registers(A, NV_RESV_UNREGISTER | 2u << 30, key(A), 0), ==, 0);
    g_assert_false(resv.ptpl);
}

static void test_register_up_to_the_limit(void)
{
    uint8_t id[16] = { 0 };
    const struct nv_resv_keys keys = { .second = 1 };

    begin(0, 0);
    for (unsigned i = 0; i <= LST_REGISTRANTS_MAX; i++) {
        id[0] = (uint8_t)i;
        id[1] = (uint8_t)(i >> 8) | 0x80;
        g_assert_cmphex(lst_resv_register(&resv, id, 0, &keys, &notices), ==,
                        i < LST_REGISTRANTS_MAX ? 0 : NV_SC_INTERNAL);
    }
}

/* ---- Acquire */

static void test_acquire_needs_registration_and_key(void)
{
    begin(1, 0);
    g_assert_cmphex(acquires(B, NV_RESV_ACQUIRE, NV_RESV_WE, key(B), 0), ==,
                    NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, NV_RESV_WE, 0x99, 0), ==,
                    NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, NV_RESV_WE, key(A), 0), ==, 0);
    g_assert_cmpuint(holder(), ==, A);
    g_assert_cmpuint(resv.gen, ==, 1);   /* Acquire does not count */
}

static void test_acquire_again(void)
{
    begin(2, NV_RESV_WE);
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, NV_RESV_WE, key(A), 0), ==, 0);
    /* Another type needs a release first, or a preemption of oneself. */
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, NV_RESV_EA, key(A), 0), ==,
                    NV_SC_RESERVATION_CONFLICT);
    begin(2, NV_RESV_WE_AR);
    g_assert_cmphex(acquires(B, NV_RESV_ACQUIRE, NV_RESV_EA_AR, key(B), 0), ==,
                    NV_SC_RESERVATION_CONFLICT);
}

static void test_acquire_reserved_values(void)
{
    begin(1, 0);
    for (unsigned action = 3; action < 8; action++) {
        g_assert_cmphex(acquires(A, action, NV_RESV_WE, key(A), 0), ==, NV_SC_INVALID_FIELD);
    }
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, 0, key(A), 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, 7, key(A), 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE, 0xff, key(A), 0), ==, NV_SC_INVALID_FIELD);
    g_assert_cmphex(acquires(A, NV_RESV_ACQUIRE | NV_RESV_IEKEY, NV_RESV_WE, key(A), 0), ==,
                    NV_SC_INVALID_FIELD);
}

static void test_preempt_without_a_reservation(void)
{
    begin(3, 0);
    g_assert_cmphex(acquires(A, NV_RESV_PREEMPT, NV_RESV_WE, key(A), 0x99), ==,
                    NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(acquires(A, NV_RESV_PREEMPT, NV_RESV_WE, key(A), 0), ==,
                    NV_SC_RESERVATION_CONFLICT);
    g_assert_cmpuint(resv.gen, ==, 3);
    g_assert_cmphex(acquires(A, NV_RESV_PREEMPT, NV_RESV_WE, key(A), key(B)), ==, 0);
    g_assert_cmpuint(resv.gen, ==, 4);
    g_assert_false(registered(B));
    g_assert_true(registered(C));
    g_assert_cmpuint(resv.type, ==, 0);  /* none is made */
    g_assert_cmpuint(notices.count, ==, 1);
    g_assert_true(told(B, NV_RESV_REGISTRATION_PREEMPTED));
}

/* Old type and new type, single holders: who is told depends on whether they differ. */
static void test_preempt_of_the_holder(void)
{
    for (uint8_t from = NV_RESV_WE; from <= NV_RESV_EA_RO; from++) {
        for (uint8_t to = NV_RESV_WE; to <= NV_RESV_EA_AR; to++) {
            begin(3, from);
            g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, to, key(B), key(A)), ==, 0);
            g_assert_false(registered(A));
            g_assert_true(registered(C));
            g_assert_cmpuint(resv.type, ==, to);
            g_assert_true(told(A, NV_RESV_REGISTRATION_PREEMPTED));
            g_assert_true(told(C, NV_RESV_RESERVATION_RELEASED) == (from != to));
            g_assert_cmpuint(notices.count, ==, from == to ? 1 : 2);
            if (to <= NV_RESV_EA_RO) {
                g_assert_cmpuint(holder(), ==, B);
            }
            g_assert_true(lst_resv_whole(&resv));
        }
    }
}

static void test_preempt_takes_all_with_the_holders_key(void)
{
    begin(3, NV_RESV_EA);
    g_assert_cmphex(registers(C, NV_RESV_REPLACE, key(C), key(A)), ==, 0);
    g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_EA, key(B), key(A)), ==, 0);
    g_assert_cmpuint(resv.count, ==, 1);
    g_assert_true(told(A, NV_RESV_REGISTRATION_PREEMPTED));
    g_assert_true(told(C, NV_RESV_REGISTRATION_PREEMPTED));
    /* The preempting host keeps its registration though it has the same key. */
    begin(2, NV_RESV_EA);
    g_assert_cmphex(registers(B, NV_RESV_REPLACE, key(B), key(A)), ==, 0);
    g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_WE, key(A), key(A)), ==, 0);
    g_assert_cmpuint(resv.count, ==, 1);
    g_assert_cmpuint(holder(), ==, B);
}

/* 8.19.6: the holder preempts itself to change the type in one step. */
static void test_preempt_of_oneself(void)
{
    begin(2, NV_RESV_WE);
    g_assert_cmphex(acquires(A, NV_RESV_PREEMPT, NV_RESV_EA_RO, key(A), key(A)), ==, 0);
    g_assert_cmpuint(resv.type, ==, NV_RESV_EA_RO);
    g_assert_cmpuint(holder(), ==, A);
    g_assert_true(registered(B));
    g_assert_cmpuint(notices.count, ==, 1);
    g_assert_true(told(B, NV_RESV_RESERVATION_RELEASED));
}

static void test_preempt_of_registrants_that_do_not_hold(void)
{
    begin(3, NV_RESV_WE_RO);
    g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_EA, key(B), key(C)), ==, 0);
    g_assert_false(registered(C));
    g_assert_cmpuint(resv.type, ==, NV_RESV_WE_RO);
    g_assert_cmpuint(holder(), ==, A);
    g_assert_true(told(C, NV_RESV_REGISTRATION_PREEMPTED));
    g_assert_cmpuint(notices.count, ==, 1);
    g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_EA, key(B), 0x99), ==,
                    NV_SC_RESERVATION_CONFLICT);
    g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_EA, key(B), 0), ==, NV_SC_INVALID_FIELD);
    /* The holder too may remove others. */
    g_assert_cmphex(acquires(A, NV_RESV_PREEMPT, NV_RESV_EA, key(A), key(B)), ==, 0);
    g_assert_false(registered(B));
    g_assert_cmpuint(resv.type, ==, NV_RESV_WE_RO);
}

static void test_preempt_of_all_registrants(void)
{
    for (uint8_t type = NV_RESV_WE_AR; type <= NV_RESV_EA_AR; type++) {
        begin(3, type);
        /* A key: those who have it, and the reservation stays. */
        g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_WE, key(B), key(C)), ==, 0);
        g_assert_false(registered(C));
        g_assert_cmpuint(resv.type, ==, type);
        g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_WE, key(B), 0x99), ==,
                        NV_SC_RESERVATION_CONFLICT);
        /* 0: all others, and a new reservation. */
        g_assert_cmphex(acquires(B, NV_RESV_PREEMPT, NV_RESV_WE, key(B), 0), ==, 0);
        g_assert_cmpuint(resv.count, ==, 1);
        g_assert_cmpuint(resv.type, ==, NV_RESV_WE);
        g_assert_cmpuint(holder(), ==, B);
        g_assert_true(told(A, NV_RESV_REGISTRATION_PREEMPTED));
        g_assert_cmpuint(notices.count, ==, 1);
        /* The last one with that key takes the reservation along. */
        begin(1, type);
        g_assert_cmphex(acquires(A, NV_RESV_PREEMPT, type, key(A), key(A)), ==, 0);
        g_assert_cmpuint(resv.type, ==, 0);
        g_assert_cmpuint(notices.count, ==, 0);
    }
}

/* ---- Release */

static void test_release_tells_by_type(void)
{
    for (uint8_t type = NV_RESV_WE; type <= NV_RESV_EA_AR; type++) {
        bool tells = type >= NV_RESV_WE_RO;

        begin(2, type);
        g_assert_cmphex(releases(A, NV_RESV_RELEASE, type, 0x99), ==, NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(releases(A, NV_RESV_RELEASE, type % 6 + 1, key(A)), ==,
                        NV_SC_INVALID_FIELD);
        g_assert_cmpuint(resv.type, ==, type);
        g_assert_cmphex(releases(A, NV_RESV_RELEASE, type, key(A)), ==, 0);
        g_assert_cmpuint(resv.type, ==, 0);
        g_assert_cmpuint(resv.count, ==, 2);
        g_assert_cmpuint(notices.count, ==, tells);
        g_assert_true(told(B, NV_RESV_RESERVATION_RELEASED) == tells);
        g_assert_cmpuint(resv.gen, ==, 2);   /* Release does not count */
    }
}

static void test_release_of_what_one_does_not_hold(void)
{
    begin(2, NV_RESV_EA);
    g_assert_cmphex(releases(B, NV_RESV_RELEASE, NV_RESV_EA, key(B)), ==, 0);
    g_assert_cmpuint(holder(), ==, A);
    begin(1, 0);
    g_assert_cmphex(releases(A, NV_RESV_RELEASE, NV_RESV_EA, key(A)), ==, 0);
    /* All registrants hold: each may release. */
    begin(2, NV_RESV_EA_AR);
    g_assert_cmphex(releases(B, NV_RESV_RELEASE, NV_RESV_EA_AR, key(B)), ==, 0);
    g_assert_cmpuint(resv.type, ==, 0);
}

static void test_clear(void)
{
    for (uint8_t type = NV_RESV_NONE; type <= NV_RESV_EA_AR; type++) {
        begin(3, type);
        g_assert_cmphex(releases(D, NV_RESV_CLEAR, 0, key(D)), ==, NV_SC_RESERVATION_CONFLICT);
        g_assert_cmphex(releases(B, NV_RESV_CLEAR, 0xff, key(B)), ==, 0);
        g_assert_cmpuint(resv.count, ==, 0);
        g_assert_cmpuint(resv.type, ==, 0);
        g_assert_cmpuint(resv.gen, ==, 4);
        g_assert_cmpuint(notices.count, ==, 2);
        g_assert_true(told(A, NV_RESV_RESERVATION_PREEMPTED));
        g_assert_true(told(C, NV_RESV_RESERVATION_PREEMPTED));
    }
}

static void test_release_reserved_values(void)
{
    begin(1, NV_RESV_WE);
    for (unsigned action = 2; action < 8; action++) {
        g_assert_cmphex(releases(A, action, NV_RESV_WE, key(A)), ==, NV_SC_INVALID_FIELD);
    }
    g_assert_cmphex(releases(A, NV_RESV_RELEASE | NV_RESV_IEKEY, NV_RESV_WE, key(A)), ==,
                    NV_SC_INVALID_FIELD);
}

/* ---- Report */

static void test_report_extended(void)
{
    uint8_t data[256];

    begin(2, NV_RESV_EA_RO);
    resv.ptpl = true;
    memset(data, 0xee, sizeof(data));
    lst_resv_report(&resv, true, NULL, NULL, data, sizeof(data));
    g_assert_cmpuint(data[0], ==, 2);            /* GEN */
    g_assert_cmpuint(data[4], ==, NV_RESV_EA_RO);
    g_assert_cmpuint(data[5] | data[6] << 8, ==, 2);
    g_assert_cmpuint(data[9], ==, 1);            /* PTPLS */
    g_assert_cmpuint(data[64] | data[65] << 8, ==, 0xffff);
    g_assert_cmpuint(data[66], ==, 1);           /* A holds it */
    g_assert_cmpuint(data[72], ==, key(A));
    g_assert_cmpmem(data + 80, 16, host(A), 16);
    g_assert_cmpuint(data[130], ==, 0);
    g_assert_cmpuint(data[136], ==, key(B));
    g_assert_cmpmem(data + 144, 16, host(B), 16);
    for (unsigned i = 192; i < 256; i++) {
        g_assert_cmpuint(data[i], ==, 0);
    }
}

/* Of one host, which is @opaque. */
static uint16_t cntlid_7(const void *opaque, const uint8_t *host)
{
    return memcmp(opaque, host, 16) ? 0xffff : 7;
}

static void test_report_with_64_bit_hosts(void)
{
    uint8_t data[72];

    begin(2, NV_RESV_WE_AR);
    lst_resv_report(&resv, false, cntlid_7, host(A), data, sizeof(data));
    g_assert_cmpuint(data[5], ==, 2);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(data[24 + 24 * i], ==, i ? 0xff : 7);
        g_assert_cmpuint(data[26 + 24 * i], ==, 1);      /* all registrants hold it */
        g_assert_cmpmem(data + 32 + 24 * i, 8, host(i), 8);
        g_assert_cmpuint(data[40 + 24 * i], ==, key(i));
    }
}

static void test_report_is_cut_off(void)
{
    begin(2, NV_RESV_WE);
    for (size_t len = 1; len < 200; len++) {
        g_autofree uint8_t *data = g_malloc(len);

        lst_resv_report(&resv, true, NULL, NULL, data, len);
        lst_resv_report(&resv, false, NULL, NULL, data, len);
    }
}

/* ---- Text */

static bool parse(struct lst_resv *into, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const char *why;

    memset(into, 0, sizeof(*into));
    for (char **line = lines; *line && **line; line++) {
        if (!lst_resv_parse(into, *line, &why)) {
            return false;
        }
    }
    return lst_resv_whole(into);
}

static void test_text_holds_what_persists(void)
{
    for (uint8_t type = NV_RESV_NONE; type <= NV_RESV_EA_AR; type++) {
        g_autoptr(GString) text = g_string_new(NULL);
        struct lst_resv back;

        begin(3, type);
        lst_resv_print(&resv, text);
        g_assert_cmpstr(text->str, ==, "");      /* PTPL 0 */
        resv.ptpl = true;
        lst_resv_print(&resv, text);
        g_assert_true(parse(&back, text->str));
        g_assert_cmpuint(back.type, ==, type);
        g_assert_cmpuint(back.count, ==, 3);
        g_assert_cmpuint(back.gen, ==, 0);       /* set to 0 at power on */
        g_assert_true(back.ptpl);
        g_assert_cmpmem(back.registrants, sizeof(back.registrants[0]) * 3, resv.registrants,
                        sizeof(resv.registrants[0]) * 3);
    }
}

static void test_text_that_is_wrong(void)
{
#define ID "00112233445566778899aabbccddeeff"
    static const char *const wrong[] = {
        "", "ptpl", "ptpl 0", "ptpl 1 1", "reservation 1", "registrant " ID " 0x1", "what",
        "ptpl 1\nreservation 0", "ptpl 1\nreservation 7", "ptpl 1\nreservation x",
        "ptpl 1\nreservation 1\nreservation 1", "ptpl 1\nreservation 1",
        "ptpl 1\nreservation 5", "ptpl 1\nregistrant " ID, "ptpl 1\nregistrant " ID " 1",
        "ptpl 1\nregistrant " ID " 0x0", "ptpl 1\nregistrant " ID " 0x10000000000000000",
        "ptpl 1\nregistrant " ID "00 0x1", "ptpl 1\nregistrant zz112233445566778899aabbccddeeff 0x1",
        "ptpl 1\nregistrant " ID " 0x1\nregistrant " ID " 0x2",
        "ptpl 1\nregistrant " ID " 0x1 holder", "ptpl 1\nregistrant " ID " 0x1 owner",
        "ptpl 1\nreservation 1\nregistrant " ID " 0x1",
        "ptpl 1\nreservation 5\nregistrant " ID " 0x1 holder",
        "ptpl 1\nregistrant " ID " 0x1\nreservation 1",
        "ptpl 1\nregistrant " ID " 0x1 holder holder",
    };
#undef ID
    struct lst_resv into;
    const char *why;

    for (unsigned i = 1; i < G_N_ELEMENTS(wrong); i++) {
        g_test_message("%s", wrong[i]);
        g_assert_false(parse(&into, wrong[i]));
    }
    g_assert_false(lst_resv_parse(&into, wrong[0], &why));
    g_assert_nonnull(why);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/conflicts/by_type_host_and_command", test_conflicts_by_type_host_and_command);
    g_test_add_func("/conflicts/of_reservation_commands", test_conflicts_of_reservation_commands);
    g_test_add_func("/register/and_again", test_register_and_register_again);
    g_test_add_func("/register/replaces_keys", test_register_replaces_keys);
    g_test_add_func("/register/reserved_values", test_register_reserved_values);
    g_test_add_func("/register/changes_persistence", test_register_changes_persistence);
    g_test_add_func("/register/up_to_the_limit", test_register_up_to_the_limit);
    g_test_add_func("/unregister/key", test_unregister);
    g_test_add_func("/unregister/of_the_holder", test_unregister_of_the_holder);
    g_test_add_func("/acquire/needs_registration_and_key", test_acquire_needs_registration_and_key);
    g_test_add_func("/acquire/again", test_acquire_again);
    g_test_add_func("/acquire/reserved_values", test_acquire_reserved_values);
    g_test_add_func("/preempt/without_a_reservation", test_preempt_without_a_reservation);
    g_test_add_func("/preempt/of_the_holder", test_preempt_of_the_holder);
    g_test_add_func("/preempt/takes_all_with_the_holders_key",
                    test_preempt_takes_all_with_the_holders_key);
    g_test_add_func("/preempt/of_oneself", test_preempt_of_oneself);
    g_test_add_func("/preempt/of_registrants_that_do_not_hold",
                    test_preempt_of_registrants_that_do_not_hold);
    g_test_add_func("/preempt/of_all_registrants", test_preempt_of_all_registrants);
    g_test_add_func("/release/tells_by_type", test_release_tells_by_type);
    g_test_add_func("/release/of_what_one_does_not_hold", test_release_of_what_one_does_not_hold);
    g_test_add_func("/release/reserved_values", test_release_reserved_values);
    g_test_add_func("/clear/all_types", test_clear);
    g_test_add_func("/report/extended", test_report_extended);
    g_test_add_func("/report/with_64_bit_hosts", test_report_with_64_bit_hosts);
    g_test_add_func("/report/is_cut_off", test_report_is_cut_off);
    g_test_add_func("/text/holds_what_persists", test_text_holds_what_persists);
    g_test_add_func("/text/that_is_wrong", test_text_that_is_wrong);
    return g_test_run();
}
