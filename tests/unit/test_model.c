/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random commands, sizes, splits, settings and completion orders against an array that says what
 * the namespace holds.
 * Not here: single features (the other test files).
 * No standard beyond theirs: what was written last is what is read.
 */
/*
 * A run is a function of its seed. To replay one: test_model --seed N. Every seed is a test of its
 * own; without --seed the first SEEDS seeds run.
 */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum {
    SEEDS = 60,
    COMMANDS = 300,
    BYTES = 1 << 20,                    /* of the namespace */
    DEPTH = 15,
    LARGEST = 200 * 1024,               /* of a transfer: past MAXH2CDATA and in-capsule limits */
};

typedef struct Model Model;

typedef struct Slot {
    Model *model;
    bool busy;
    uint8_t opcode;
    uint64_t slba;
    uint32_t blocks;
    uint16_t expected;                  /* status */
    uint8_t *buf;
} Slot;

struct Model {
    Rig *rig;
    RigLink *io;
    GRand *rand;
    uint32_t block;
    uint32_t blocks;
    uint8_t *bytes;                     /* what the namespace must hold */
    int8_t *users;                      /* per block: readers under way, or -1 for a writer */
    Slot slots[DEPTH];
    unsigned completed;
};

static uint32_t below(Model *m, uint32_t limit)
{
    return (uint32_t)g_rand_int_range(m->rand, 0, (gint32)limit);
}

static bool changes(uint8_t opcode)
{
    return opcode == NV_IO_WRITE || opcode == NV_IO_WRITE_ZEROES || opcode == NV_IO_DSM;
}

/* Commands under way at the same time may meet only as readers: their order is not defined. */
static bool claim(Model *m, const Slot *slot)
{
    for (uint32_t i = 0; i < slot->blocks; i++) {
        int8_t users = m->users[slot->slba + i];

        if (users < 0 || (users > 0 && changes(slot->opcode))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < slot->blocks; i++) {
        if (changes(slot->opcode)) {
            m->users[slot->slba + i] = -1;
        } else {
            m->users[slot->slba + i]++;
        }
    }
    return true;
}

static void completed(HostQueue *queue, void *opaque, const HostCompletion *completion)
{
    Slot *slot = opaque;
    Model *m = slot->model;
    uint8_t *model = m->bytes + slot->slba * m->block;
    uint32_t length = slot->blocks * m->block;

    (void)queue;
    g_assert_true(slot->busy);
    g_assert_cmphex(NV_STATUS_CODE(completion->cqe.status >> 1), ==, slot->expected);
    g_assert_false(completion->data_digest_error);
    if (slot->expected == 0) {
        if (slot->opcode == NV_IO_READ) {
            g_assert_true(memcmp(slot->buf, model, length) == 0);
        } else if (slot->opcode == NV_IO_WRITE) {
            memcpy(model, slot->buf, length);
        } else if (changes(slot->opcode)) {
            memset(model, 0, length);
        }
        for (uint32_t i = 0; i < slot->blocks; i++) {
            if (changes(slot->opcode)) {
                m->users[slot->slba + i] = 0;
            } else {
                m->users[slot->slba + i]--;
            }
        }
    }
    g_free(slot->buf);
    slot->buf = NULL;
    slot->busy = false;
    m->completed++;
}

static void choose(Model *m, Slot *slot)
{
    static const uint8_t opcodes[] = { NV_IO_READ,         NV_IO_READ,  NV_IO_READ,
                                       NV_IO_WRITE,        NV_IO_WRITE, NV_IO_WRITE,
                                       NV_IO_WRITE_ZEROES, NV_IO_DSM,   NV_IO_FLUSH };
    uint32_t most = LARGEST / m->block;

    memset(slot, 0, sizeof(*slot));
    slot->model = m;
    slot->opcode = opcodes[below(m, G_N_ELEMENTS(opcodes))];
    /* Small ones are the rule. */
    slot->blocks = 1 + below(m, below(m, 4) ? 8 : most);
    slot->slba = below(m, m->blocks - slot->blocks + 1);
    if (slot->opcode == NV_IO_FLUSH) {
        slot->blocks = 0;
    } else if (below(m, 20) == 0) {
        slot->slba = m->blocks - slot->blocks + 1 + below(m, 3);
        slot->expected = NV_SC_LBA_RANGE;
    }
}

static HostDataKind out_kind(Model *m, uint32_t length)
{
    return length <= 16384 && below(m, 2) ? HOST_DATA_OUT_CAPSULE : HOST_DATA_OUT_R2T;
}

static void start(Model *m, Slot *slot)
{
    uint32_t length = slot->blocks * m->block;
    HostDataKind kind = HOST_DATA_NONE;
    struct nv_sqe sqe;

    switch (slot->opcode) {
    case NV_IO_READ:
        kind = HOST_DATA_IN;
        break;
    case NV_IO_WRITE:
        kind = out_kind(m, length);
        break;
    case NV_IO_DSM:
        length = sizeof(struct nv_dsm_range);
        kind = out_kind(m, length);
        break;
    default:
        length = 0;
    }
    sqe = slot->opcode == NV_IO_FLUSH ? host_cmd(NV_IO_FLUSH, 1) :
          slot->opcode == NV_IO_DSM ? host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE) :
          host_cmd_rw(slot->opcode, 1, slot->slba, slot->blocks, 0);
    slot->buf = g_malloc(length + 1);
    if (slot->opcode == NV_IO_WRITE) {
        rig_pattern(slot->buf, length, g_rand_int(m->rand));
    } else if (slot->opcode == NV_IO_DSM) {
        struct nv_dsm_range range = { .slba = slot->slba, .nlb = slot->blocks };

        memcpy(slot->buf, &range, sizeof(range));
    } else {
        memset(slot->buf, 0xdb, length);
    }
    slot->busy = true;
    g_assert_cmpint(host_queue_submit(m->io->host, &sqe, kind, length ? slot->buf : NULL, length,
                                      completed, slot),
                    >=, 0);
}

/* The media answers some request, not always the oldest. */
static bool complete_one(Model *m)
{
    unsigned waiting = g_queue_get_length(&m->rig->ios);

    if (waiting == 0) {
        return false;
    }
    g_queue_push_head(&m->rig->ios, g_queue_pop_nth(&m->rig->ios, below(m, waiting)));
    rig_complete_io(m->rig, 0);
    return true;
}

static void step(Model *m)
{
    Slot *slot = &m->slots[below(m, DEPTH)];

    if (!slot->busy) {
        choose(m, slot);
        if (slot->expected || claim(m, slot)) {
            start(m, slot);
        }
    }
    if (below(m, 3) == 0) {
        rig_pump(m->rig);
    }
    if (below(m, 3) == 0) {
        complete_one(m);
    }
}

static void set_port(Model *m, const char *key, uint32_t value)
{
    g_autofree char *text = g_strdup_printf("%u", value);

    g_assert_true(lst_port_set(m->rig->port, key, text, NULL));
}

static Model *model_new(uint32_t seed)
{
    Model *m = g_new0(Model, 1);
    HostQueueConfig config = rig_io_config();
    static const size_t pieces[] = { 0, 0, 0, 1, 7, 100, 1448, 4096, 65536 };

    m->rand = g_rand_new_with_seed(seed);
    m->block = below(m, 2) ? 4096 : 512;
    m->blocks = BYTES / m->block;
    m->bytes = g_malloc0(BYTES);
    m->users = g_malloc0(m->blocks);
    config.header_digest = below(m, 2);
    config.data_digest = below(m, 2);
    config.hpda = below(m, 3) ? 0 : below(m, 32);
    config.max_r2t = below(m, 2) ? 1 : 1 + below(m, 8);
    config.h2c_split = below(m, 2) ? 0 : 4 * (1 + below(m, 5000));
    config.no_sq_flow_control = below(m, 2);
    config.entries = DEPTH + 1 + below(m, 40);

    m->rig = rig_new();
    g_assert_true(lst_ns_enable(m->rig->ns, false, NULL));
    g_assert_true(lst_ns_attach(m->rig->ns, &m->rig->media, BYTES, m->block, NULL));
    g_assert_true(lst_ns_enable(m->rig->ns, true, NULL));
    set_port(m, "tcp_cpda", below(m, 3) ? 0 : below(m, 32));
    set_port(m, "tcp_max_r2t", 1 + below(m, 16));
    set_port(m, "tcp_r2t_size", below(m, 2) ? 262144 : 4096 + 4 * below(m, 5000));
    set_port(m, "tcp_maxh2cdata", below(m, 2) ? 131072 : 4096 + 4 * below(m, 5000));
    m->io = rig_io(m->rig, rig_admin(m->rig), 1, &config);
    m->rig->defer = below(m, 3) != 0;
    m->io->to_target = pieces[below(m, G_N_ELEMENTS(pieces))];
    m->io->to_host = pieces[below(m, G_N_ELEMENTS(pieces))];
    if (below(m, 2)) {
        m->io->split = g_rand_new_with_seed(seed + 1);
    }
    return m;
}

static void test_model_random_commands(const void *data)
{
    uint32_t seed = GPOINTER_TO_UINT(data);
    Model *m = model_new(seed);

    g_test_message("replay: test_model --seed %u", seed);
    while (m->completed < COMMANDS) {
        step(m);
    }
    do {
        rig_pump(m->rig);
    } while (complete_one(m));
    g_assert_cmpuint(host_queue_outstanding(m->io->host), ==, 0);
    g_assert_true(memcmp(m->rig->media.bytes, m->bytes, BYTES) == 0);
    g_assert_null(host_queue_fault(m->io->host));
    rig_free(m->rig);
    g_rand_free(m->rand);
    g_free(m->bytes);
    g_free(m->users);
    g_free(m);
}

static void add(uint32_t seed)
{
    g_autofree char *path = g_strdup_printf("/model/random_commands/seed_%u", seed);

    g_test_add_data_func(path, GUINT_TO_POINTER(seed), test_model_random_commands);
}

int main(int argc, char **argv)
{
    uint32_t seed = 0;

    if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
        seed = (uint32_t)strtoul(argv[2], NULL, 0);
        argc = 1;
    }
    g_test_init(&argc, &argv, NULL);
    if (seed) {
        add(seed);
    } else {
        for (seed = 1; seed <= SEEDS; seed++) {
            add(seed);
        }
    }
    return g_test_run();
}
