/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See fault_rig.h.
 * Not here: expectations of a test.
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#include <string.h>

#include "fault_rig.h"

struct lst_fault *fault_add(Rig *rig, const char *text)
{
    struct lst_fault *fault = lst_target_add_fault(rig->target, NULL);
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    GError *error = NULL;

    for (char **word = words; *word; word++) {
        char *value = strchr(*word, '=');

        g_assert_nonnull(value);
        *value++ = '\0';
        lst_fault_set(fault, *word, value, &error);
        g_assert_no_error(error);
    }
    lst_fault_set(fault, "enable", "1", &error);
    g_assert_no_error(error);
    return fault;
}

uint64_t fault_seen(const struct lst_fault *fault)
{
    uint64_t seen, fired;

    lst_fault_counts(fault, &seen, &fired);
    return seen;
}

uint64_t fault_fired(const struct lst_fault *fault)
{
    uint64_t seen, fired;

    lst_fault_counts(fault, &seen, &fired);
    return fired;
}

FaultWire fault_wire(bool digests)
{
    HostQueueConfig config = rig_io_config();
    FaultWire w = { .format = { digests, digests, 4 }, .expect = g_byte_array_new() };

    config.header_digest = config.data_digest = digests;
    w.s = rig_io_setup(&config);
    rig_pattern(w.s.rig->media.bytes, RIG_BLOCKS * RIG_BLOCK, 1);
    w.s.io->capture = true;
    return w;
}

void fault_wire_free(FaultWire *w)
{
    g_byte_array_unref(w->expect);
    rig_io_teardown(&w->s);
}

static void send(FaultWire *w, struct nv_sqe sqe, uint16_t cid, uint32_t length)
{
    g_autoptr(GByteArray) out = g_byte_array_new();

    sqe = wire_sgl(sqe, NV_SGL_TRANSPORT, 0, length);
    wire_capsule(out, &w->format, &sqe, cid, NULL, 0);
    rig_send(w->s.io, out->data, out->len);
}

void fault_flush(FaultWire *w, uint16_t cid)
{
    send(w, host_cmd(NV_IO_FLUSH, 1), cid, 0);
}

void fault_read(FaultWire *w, uint16_t cid, uint64_t slba)
{
    send(w, host_cmd_rw(NV_IO_READ, 1, slba, 1, 0), cid, RIG_BLOCK);
}

void fault_write(FaultWire *w, uint16_t cid, uint64_t slba, uint32_t blocks)
{
    send(w, host_cmd_rw(NV_IO_WRITE, 1, slba, blocks, 0), cid, blocks * RIG_BLOCK);
}

void fault_expect_resp(FaultWire *w, uint16_t cid, uint16_t sqhd, uint16_t status)
{
    const struct nvtcp_capsule_resp resp = {
        .hdr = { .type = NVTCP_CAPSULE_RESP, .hlen = 24 },
        .cqe = { .sqhd = sqhd, .cid = cid, .status = (uint16_t)(status << 1) },
    };

    host_pdu_append(w->expect, &w->format, &resp, NULL, 0);
}

void fault_expect_data(FaultWire *w, uint16_t cid, uint64_t slba)
{
    const struct nvtcp_data data = {
        .hdr = { .type = NVTCP_C2H_DATA, .hlen = 24, .flags = NVTCP_F_LAST },
        .cccid = cid,
        .datal = RIG_BLOCK,
    };

    host_pdu_append(w->expect, &w->format, &data, w->s.rig->media.bytes + slba * RIG_BLOCK,
                    RIG_BLOCK);
}

void fault_expect_r2t(FaultWire *w, uint16_t cid, uint16_t ttag, uint32_t length)
{
    const struct nvtcp_r2t r2t = {
        .hdr = { .type = NVTCP_R2T, .hlen = 24 }, .cccid = cid, .ttag = ttag, .r2tl = length,
    };

    host_pdu_append(w->expect, &w->format, &r2t, NULL, 0);
}

void fault_check(FaultWire *w)
{
    GByteArray *got = w->s.io->received;

    g_assert_cmpmem(got->data, got->len, w->expect->data, w->expect->len);
    g_byte_array_set_size(got, 0);
    g_byte_array_set_size(w->expect, 0);
}
