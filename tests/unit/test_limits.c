/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What port and subsystem allow a queue: entries, in-capsule data; the memory that it takes.
 * Not here: texts that are no value of an attribute (test_config.c).
 * NVMe base specification 2.0, 3.1.3.1 (CAP.MQES), 5.17.2.1 (IOCCSZ); Fabrics Connect, 6.3.
 */
#include <string.h>

#include "wire.h"

static uint16_t connect_queue(Rig *rig, const RigLink *admin, uint16_t qid, uint16_t entries,
                              uint32_t *dw0)
{
    const HostQueueConfig config = { .entries = entries, .max_r2t = 1 };
    struct nvf_connect_data data =
        rig_connect_data(NULL, admin ? admin->cntlid : NV_CNTLID_DYNAMIC);
    RigLink *link = rig_link(rig, NULL, &config);
    RigResult result = { 0 };

    host_queue_connect(link->host, qid, 0, &data, rig_completed, &result);
    rig_pump(rig);
    g_assert_true(result.done);
    *dw0 = result.dw0;
    rig_unlink(link);
    return result.status;
}

static void test_queue_size_of_port_and_subsystem(void)
{
    static const struct {
        const char *port, *subsys;
        uint16_t entries;
    } rows[] = {
        { "0", "0", 128 },     { "128", "0", 128 },  { "16", "0", 16 },    { "1024", "0", 1024 },
        { "1024", "16", 16 },  { "16", "1024", 16 }, { "0", "1024", 128 }, { "0", "64", 64 },
        { "1024", "1024", 1024 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Rig *rig = rig_new();
        RigLink *admin;
        uint32_t dw0;

        g_test_message("row %u", i);
        g_assert_true(lst_port_set(rig->port, "param_max_queue_size", rows[i].port, NULL));
        g_assert_true(lst_subsys_set(rig->subsys, "attr_max_queue_size", rows[i].subsys, NULL));
        admin = rig_admin(rig);
        g_assert_cmpuint(rig_property(admin, NV_REG_CAP, true) & 0xffff, ==, rows[i].entries - 1);
        g_assert_cmphex(connect_queue(rig, admin, 1, rows[i].entries, &dw0), ==, 0);
        /* One more entry: Connect Invalid Parameters, SQSIZE at byte 44 of the SQE. */
        g_assert_cmphex(connect_queue(rig, admin, 1, rows[i].entries + 1, &dw0), ==,
                        NVF_SC_INVALID_PARAM);
        g_assert_cmphex(dw0, ==, 44);
        rig_free(rig);
    }
}

/*
 * MQES is about I/O queues: a host with an Admin queue of 32 entries, as Linux has, must get in
 * whatever it says.
 */
static void test_admin_queue_is_not_under_mqes(void)
{
    Rig *rig = rig_new();
    uint32_t dw0;

    g_assert_true(lst_port_set(rig->port, "param_max_queue_size", "16", NULL));
    g_assert_cmphex(connect_queue(rig, NULL, 0, 32, &dw0), ==, 0);
    g_assert_cmphex(connect_queue(rig, NULL, 0, 33, &dw0), ==, NVF_SC_INVALID_PARAM);
    g_assert_cmphex(dw0, ==, 44);
    rig_free(rig);
}

/* IOCCSZ in units of 16 bytes: the SQE's 64 and the data. */
static void test_inline_size_in_identify(void)
{
    static const uint32_t sizes[] = { 0, 16, 512, 4096, 16384, 65536 };

    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *text = g_strdup_printf("%u", sizes[i]);
        struct nv_id_ctrl id;
        Rig *rig = rig_new();
        RigLink *admin, *io;
        uint8_t data[1024] = { 1 };

        g_assert_true(lst_port_set(rig->port, "param_inline_data_size", text, NULL));
        admin = rig_admin(rig);
        g_assert_cmphex(rig_in(admin, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), &id, sizeof(id)), ==,
                        0);
        g_assert_cmpuint(id.ioccsz, ==, 4 + sizes[i] / 16);
        g_assert_cmpuint(id.icdoff, ==, 0);
        /* By R2T the data come in any case. */
        io = rig_io(rig, admin, 1, NULL);
        g_assert_cmphex(rig_do(io, host_cmd_rw(NV_IO_WRITE, 1, 0, 2, 0), HOST_DATA_OUT_R2T, data,
                               sizeof(data), NULL),
                        ==, 0);
        g_assert_cmpmem(rig->media.bytes, sizeof(data), data, sizeof(data));
        rig_free(rig);
    }
}

/* ---- Memory */

typedef struct Seen {
    size_t now, most;                   /* of the I/O queue */
    size_t sum;
} Seen;

static void look(void *opaque, const struct lst_conn_stats *stats)
{
    Seen *seen = opaque;

    seen->sum += stats->memory;
    if (stats->qid) {
        seen->now = stats->memory;
        seen->most = stats->memory_most;
    }
}

static Seen memory_of(Rig *rig)
{
    struct lst_target_stats stats;
    Seen seen = { 0 };

    lst_target_each_conn(rig->target, look, &seen);
    lst_target_get_stats(rig->target, &stats);
    g_assert_cmpuint(stats.conn_bytes, ==, seen.sum);
    return seen;
}

static Seen memory_with_inline(const char *inline_size)
{
    const HostQueueConfig config = { .entries = 128, .max_r2t = 1 };
    Rig *rig = rig_new();
    Seen seen;

    g_assert_true(lst_port_set(rig->port, "param_inline_data_size", inline_size, NULL));
    rig_io(rig, rig_admin(rig), 1, &config);
    seen = memory_of(rig);
    g_assert_cmpuint(rig->events[LST_EVENT_CONN_MEMORY], ==, 2);
    rig_free(rig);
    return seen;
}

static void test_memory_of_an_idle_queue(void)
{
    Seen without = memory_with_inline("0"), with = memory_with_inline("16384");

    g_assert_cmpuint(with.now, >, 0);
    g_assert_cmpuint(with.now, <=, 32768);
    g_assert_cmpuint(with.now, ==, without.now);
    /* 127 commands, each with 16 KiB in its capsule; 16 MiB of other buffers. */
    g_assert_cmpuint(with.most - without.most, ==, 127 * 16384);
    g_assert_cmpuint(without.most, >, 16 << 20);
}

/* While a write waits for its data its buffer counts, in powers of two; afterwards it does not. */
static void test_memory_of_a_busy_queue(void)
{
    RigIo s = rig_io_setup(NULL);
    Seen idle, busy;
    RigResult result;

    /* The first write leaves its statistics with the queue. */
    g_assert_cmphex(rig_rw(&s, NV_IO_WRITE, 0, 512, HOST_DATA_OUT_R2T), ==, 0);
    idle = memory_of(s.rig);
    s.rig->defer = true;
    rig_submit(s.io, host_cmd_rw(NV_IO_WRITE, 1, 0, 96, 0), HOST_DATA_OUT_R2T, s.out, 96 * 512,
               &result);
    busy = memory_of(s.rig);
    g_assert_cmpuint(busy.now - idle.now, >=, 65536);
    g_assert_cmpuint(busy.now - idle.now, <, 65536 + 2048);
    g_assert_cmpuint(busy.most, ==, idle.most);
    rig_complete_io(s.rig, 0);
    g_assert_true(result.done);
    g_assert_cmpuint(memory_of(s.rig).now, ==, idle.now);
    rig_io_teardown(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/limits/queue_size_of_port_and_subsystem",
                    test_queue_size_of_port_and_subsystem);
    g_test_add_func("/limits/admin_queue_is_not_under_mqes", test_admin_queue_is_not_under_mqes);
    g_test_add_func("/limits/inline_size_in_identify", test_inline_size_in_identify);
    g_test_add_func("/limits/memory_of_an_idle_queue", test_memory_of_an_idle_queue);
    g_test_add_func("/limits/memory_of_a_busy_queue", test_memory_of_a_busy_queue);
    return g_test_run();
}
