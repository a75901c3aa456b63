/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: a zoned namespace under any commands, late or failing backends and zones that break;
 * after each step the zones keep to their limits.
 * Not here: other I/O (fuzz_io.c).
 * NVMe zoned namespace command set specification 1.1.
 */
#include "commands.h"

#include "zone/zone.h"

enum { BLOCKS = 32, CAPACITY = 24, ZONES = 8, MAX_OPEN = 2, MAX_ACTIVE = 4 };  /* of 512 bytes */

static void check_zones(const struct zones *zones)
{
    unsigned open = 0, active = 0;

    for (uint32_t zone = 0; zone < ZONES; zone++) {
        enum nv_zone_state state = zone_state(zones, zone);
        uint64_t written = zone_write_pointer(zones, zone) - zone * (uint64_t)BLOCKS;
        bool is_open = state == NV_ZONE_IMPLICITLY_OPEN || state == NV_ZONE_EXPLICITLY_OPEN;

        open += is_open;
        active += is_open || state == NV_ZONE_CLOSED;
        g_assert_cmpuint(written, <=, BLOCKS);
        g_assert_true(!is_open || written < CAPACITY);
        g_assert_true(state != NV_ZONE_EMPTY || written == 0);
    }
    g_assert_cmpuint(open, <=, MAX_OPEN);
    g_assert_cmpuint(active, <=, MAX_ACTIVE);
}

static void step(struct fuzz_session *session, const struct fuzz_record *record)
{
    static const char *const states[] = { "full", "read-only", "offline" };
    struct lst_ns *ns = fuzz_session_rig(session)->ns;
    struct fuzz_record io = *record;

    if (io.step == FUZZ_CONFIG && io.arg & 0x100) {
        lst_ns_set_zone_state(ns, io.arg % ZONES, states[(io.arg >> 4) % 3], NULL);
        rig_pump(fuzz_session_rig(session));
    } else {
        if (io.sqe.opcode == NVF_OPCODE) {
            io.sqe.opcode = NV_IO_ZONE_SEND;
        }
        /* Any other would hardly ever be in the namespace. */
        io.sqe.cdw11 &= io.queue & 1 ? UINT32_MAX : 0;
        fuzz_command(session, &io, true);
    }
    check_zones(lst_ns_zones(ns));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct zone_config config = { BLOCKS * RIG_BLOCK, CAPACITY * RIG_BLOCK, MAX_OPEN,
                                               MAX_ACTIVE, 64 };
    struct fuzz_session *session = fuzz_session_new(false);
    Rig *rig = fuzz_session_rig(session);

    rig->cc = RIG_CC_CSI;
    g_assert_true(lst_ns_enable(rig->ns, false, NULL));
    g_assert_true(lst_ns_set_zones(rig->ns, &config, NULL, NULL));
    g_assert_true(lst_ns_enable(rig->ns, true, NULL));
    fuzz_each_record(data, size, step, session);
    fuzz_session_free(session);
    return 0;
}

static void put_writes(GByteArray *out, unsigned zone)
{
    uint64_t slba = zone * BLOCKS;

    fuzz_put(out, FUZZ_DATA_CAPSULE, 0, 1024, zone, host_cmd_rw(NV_IO_WRITE, 1, slba, 2, 0));
    fuzz_put(out, FUZZ_DATA_R2T, 0, 4096, zone, host_cmd_zone_append(1, slba, 8));
    fuzz_put(out, FUZZ_NO_DATA, 0, 0, 0, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, slba + 10, 2, 0));
    fuzz_put(out, FUZZ_NO_DATA, 0, 0, 0,
             host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, slba + 12, 1, 0));
    fuzz_put(out, FUZZ_DATA_IN, 0, 8192, 0, host_cmd_rw(NV_IO_READ, 1, slba, 16, 0));
    fuzz_put(out, FUZZ_DATA_R2T, 0, 32, 2, host_cmd_copy(1, slba + 13, 1, 0));
}

void fuzz_corpus(FuzzAddFn *add)
{
    g_autoptr(GByteArray) writes = g_byte_array_new(), actions = g_byte_array_new(),
                          late = g_byte_array_new();

    for (unsigned zone = 0; zone < ZONES; zone++) {
        put_writes(writes, zone);
    }
    for (unsigned action = NV_ZSA_CLOSE; action <= NV_ZSA_OFFLINE; action++) {
        put_writes(actions, action);
        fuzz_put(actions, FUZZ_NO_DATA, 0, 0, 0, host_cmd_zone_send(1, action * BLOCKS, action));
        fuzz_put(actions, FUZZ_NO_DATA, 0, 0, 0, host_cmd_zone_send(1, 0, action | NV_ZSEND_ALL));
        fuzz_put(actions, FUZZ_CONFIG, 0, 0, 0x100 | action << 4 | action, host_cmd(0, 0));
        fuzz_put(actions, FUZZ_DATA_IN, 0, 1024, 0,
                 host_cmd_zone_receive(1, 0, 1024, (action & 1) | action << 8));
    }
    fuzz_put(actions, FUZZ_DATA_R2T, 0, 64, 1, host_cmd_zone_send(1, 0, NV_ZSA_EXTENSION));
    fuzz_put(late, FUZZ_BACKEND, 0, 0, 1, host_cmd(0, 0));
    for (unsigned i = 0; i < 4; i++) {
        put_writes(late, 0);
        fuzz_put(late, FUZZ_NO_DATA, 0, 0, 0,
                 host_cmd_zone_send(1, 0, NV_ZSA_RESET | (i & 1 ? NV_ZSEND_ALL : 0)));
        fuzz_put(late, FUZZ_BACKEND, 0, 0, i & 1 ? 3 | 0x28000 : 1, host_cmd(0, 0));
    }
    add(writes->data, writes->len);
    add(actions->data, actions->len);
    add(late->data, late->len);
}
