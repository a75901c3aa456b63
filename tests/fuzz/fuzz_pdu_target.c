/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: any bytes from a host into a connection of the engine, fresh or as a live I/O queue.
 * Not here: the driver. The answer must be whole PDUs, and the target must go on for others.
 * NVMe/TCP transport specification 1.0.
 */
#include "fuzz.h"
#include "wire.h"

enum {
    LIVE = 1 << 0, /* flags in byte 0: the connection is I/O queue 1 already */
    MANY = 1 << 1, /* up to 16 R2Ts of 4 KiB for a command */
    WIDE = 1 << 2, /* CPDA asks for multiples of 32 bytes */
    BLOCKS = 64,
    HEADER = 2, /* byte 1: size of the pieces the input is cut into; 0: whole */
};

static HostQueueConfig setup(Rig *rig, uint8_t flags)
{
    HostQueueConfig config = rig_io_config();

    if (flags & MANY) {
        config.max_r2t = 16;
        g_assert_true(lst_port_set(rig->port, "tcp_max_r2t", "16", NULL));
        g_assert_true(lst_port_set(rig->port, "tcp_r2t_size", "4096", NULL));
    }
    if (flags & WIDE) {
        g_assert_true(lst_port_set(rig->port, "tcp_cpda", "7", NULL));
    }
    return config;
}

static void ignore(void *opaque, const struct nvtcp_hdr *hdr, const uint8_t *pdu)
{
    (void)opaque;
    (void)hdr;
    (void)pdu;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Rig *rig = rig_new_sized(BLOCKS);
    RigLink *admin = rig_admin(rig), *victim;

    if (size > HEADER) {
        size_t piece = data[1] ? data[1] : size;
        HostQueueConfig config = setup(rig, data[0]);

        victim = data[0] & LIVE ? rig_io(rig, admin, 1, &config) : rig_link_raw(rig, NULL);
        victim->capture = true;
        for (size_t at = HEADER; at < size && !victim->closed; at += piece) {
            rig_send(victim, data + at, MIN(piece, size - at));
        }
        wire_each(victim->received, ignore, NULL);
        rig_advance(rig, 31 * RIG_S);
    }
    g_assert_nonnull(rig_admin(rig)->conn);
    rig_free(rig);
    return 0;
}

/* The bytes of right sessions: an admin queue and I/O queues, in all digest settings. */
static void record(FuzzAddFn *add, uint8_t flags, bool digests)
{
    const uint8_t header[HEADER] = { flags, 0 };
    g_autoptr(GByteArray) input = g_byte_array_new();
    struct nvf_connect_data connect;
    uint8_t buf[12288] = { 0 };
    Rig *rig = rig_new_sized(BLOCKS);
    HostQueueConfig config = setup(rig, flags);
    RigLink *link;

    config.header_digest = config.data_digest = digests;
    connect = rig_connect_data(NULL, rig_admin(rig)->cntlid);
    g_byte_array_append(input, header, HEADER);
    link = rig_link_raw(rig, NULL);
    link->host = host_queue_new(&config);
    link->sent = flags & LIVE ? NULL : input;
    host_queue_start(link->host);
    rig_pump(rig);
    host_queue_connect(link->host, 1, 0, &connect, NULL, NULL);
    rig_pump(rig);
    link->sent = input;
    rig_do(link, host_cmd_rw(NV_IO_WRITE, 1, 1, 1, 0), HOST_DATA_OUT_CAPSULE, buf, 512, NULL);
    rig_do(link, host_cmd_rw(NV_IO_WRITE, 1, 2, 4, 0), HOST_DATA_OUT_R2T, buf, 2048, NULL);
    if (flags & MANY) {
        rig_do(link, host_cmd_rw(NV_IO_WRITE, 1, 2, 24, 0), HOST_DATA_OUT_R2T, buf, 12288, NULL);
    }
    rig_in(link, host_cmd_rw(NV_IO_READ, 1, 0, 16, 0), buf, 8192);
    rig_run(link, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 0, 8, 0));
    rig_do(link, host_cmd_rw(NV_IO_COMPARE, 1, 0, 1, 0), HOST_DATA_OUT_CAPSULE, buf, 512, NULL);
    rig_do(link, host_cmd_dsm(1, 1, NV_DSM_DEALLOCATE), HOST_DATA_OUT_CAPSULE, buf, 16, NULL);
    add(input->data, input->len);
    rig_free(rig);
}

static void record_admin(FuzzAddFn *add, const char *subnqn, uint8_t lid)
{
    const uint8_t header[HEADER] = { 0, 0 };
    g_autoptr(GByteArray) input = g_byte_array_new();
    struct nvf_connect_data connect = rig_connect_data(subnqn, NV_CNTLID_DYNAMIC);
    HostQueueConfig config = rig_admin_config();
    Rig *rig = rig_new_sized(BLOCKS);
    RigLink *link = rig_link_raw(rig, NULL);
    uint8_t buf[4096] = { 0 };

    g_byte_array_append(input, header, HEADER);
    link->host = host_queue_new(&config);
    link->sent = input;
    host_queue_start(link->host);
    rig_pump(rig);
    host_queue_connect(link->host, 0, 5000, &connect, NULL, NULL);
    rig_pump(rig);
    rig_enable(link);
    rig_property(link, NV_REG_CAP, true);
    rig_in(link, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0), buf, 4096);
    rig_in(link, host_cmd_identify(NV_CNS_NS_LIST, 0, 0, 0), buf, 4096);
    rig_in(link, host_cmd_get_log(lid, NV_NSID_ALL, 0, 1024, 0, false), buf, 1024);
    rig_run(link, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 0));
    rig_do(link, host_cmd_set_features(NV_FEAT_TIMESTAMP, 0), HOST_DATA_OUT_R2T, buf, 8, NULL);
    rig_in(link, host_cmd_get_features(NV_FEAT_HOST_ID, 0, 1), buf, 16);
    rig_run(link, host_cmd(NV_ADMIN_KEEP_ALIVE, 0));
    add(input->data, input->len);
    rig_free(rig);
}

void fuzz_corpus(FuzzAddFn *add)
{
    record(add, 0, false);
    record(add, 0, true);
    record(add, LIVE, false);
    record(add, MANY, true);
    record(add, LIVE | MANY, false);
    record(add, LIVE | MANY | WIDE, false);
    record_admin(add, NULL, NV_LOG_SMART);
    record_admin(add, NULL, NV_LOG_ANA);
    record_admin(add, NVF_DISCOVERY_NQN, NV_LOG_DISCOVERY);
}
