/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builders of submission queue entries.
 * Not here: command identifiers and SGLs, which belong to the queue.
 * NVMe base specification 2.0, sections 5 and 6; NVM command set specification 1.0, section 3.
 */
#include <glib.h>
#include <string.h>

#include "client/host_cmd.h"

struct nv_sqe host_cmd(uint8_t opcode, uint32_t nsid)
{
    return (struct nv_sqe){ .opcode = opcode, .nsid = nsid };
}

struct nv_sqe host_cmd_rw(uint8_t opcode, uint32_t nsid, uint64_t slba, uint32_t blocks,
                          uint16_t control)
{
    struct nv_sqe sqe = host_cmd(opcode, nsid);

    g_assert(blocks >= 1 && blocks <= 65536);
    sqe.cdw10 = (uint32_t)slba;
    sqe.cdw11 = (uint32_t)(slba >> 32);
    sqe.cdw12 = (blocks - 1) | (uint32_t)control << 16;
    return sqe;
}

struct nv_sqe host_cmd_dsm(uint32_t nsid, uint32_t ranges, uint32_t attributes)
{
    struct nv_sqe sqe = host_cmd(NV_IO_DSM, nsid);

    g_assert(ranges >= 1 && ranges <= NV_DSM_RANGES_MAX);
    sqe.cdw10 = ranges - 1;
    sqe.cdw11 = attributes;
    return sqe;
}

struct nv_sqe host_cmd_copy(uint32_t nsid, uint64_t slba, uint32_t ranges, unsigned format)
{
    struct nv_sqe sqe = host_cmd(NV_IO_COPY, nsid);

    g_assert(ranges >= 1 && ranges <= 256 && format <= 15);
    sqe.cdw10 = (uint32_t)slba;
    sqe.cdw11 = (uint32_t)(slba >> 32);
    sqe.cdw12 = (ranges - 1) | format << NV_COPY_FORMAT_SHIFT;
    return sqe;
}

struct nv_sqe host_cmd_zone_append(uint32_t nsid, uint64_t zslba, uint32_t blocks)
{
    return host_cmd_rw(NV_IO_ZONE_APPEND, nsid, zslba, blocks, 0);
}

struct nv_sqe host_cmd_zone_send(uint32_t nsid, uint64_t slba, uint32_t action)
{
    struct nv_sqe sqe = host_cmd(NV_IO_ZONE_SEND, nsid);

    sqe.cdw10 = (uint32_t)slba;
    sqe.cdw11 = (uint32_t)(slba >> 32);
    sqe.cdw13 = action;
    return sqe;
}

struct nv_sqe host_cmd_zone_receive(uint32_t nsid, uint64_t slba, uint32_t length, uint32_t what)
{
    struct nv_sqe sqe = host_cmd_zone_send(nsid, slba, what);

    g_assert(length >= 4 && length % 4 == 0);
    sqe.opcode = NV_IO_ZONE_RECEIVE;
    sqe.cdw12 = length / 4 - 1;
    return sqe;
}

struct nv_sqe host_cmd_identify(uint8_t cns, uint32_t nsid, uint16_t cntid, uint8_t csi)
{
    struct nv_sqe sqe = host_cmd(NV_ADMIN_IDENTIFY, nsid);

    sqe.cdw10 = cns | (uint32_t)cntid << 16;
    sqe.cdw11 = (uint32_t)csi << 24;
    return sqe;
}

struct nv_sqe host_cmd_get_log(uint8_t lid, uint32_t nsid, uint64_t offset, uint32_t length,
                               uint8_t lsp, bool rae)
{
    struct nv_sqe sqe = host_cmd(NV_ADMIN_GET_LOG_PAGE, nsid);
    uint32_t dwords = length / 4 - 1;

    g_assert(length >= 4 && length % 4 == 0);
    sqe.cdw10 = lid | (uint32_t)(lsp & 0x7f) << 8 | (uint32_t)rae << 15 | (dwords & 0xffff) << 16;
    sqe.cdw11 = dwords >> 16;
    sqe.cdw12 = (uint32_t)offset;
    sqe.cdw13 = (uint32_t)(offset >> 32);
    return sqe;
}

struct nv_sqe host_cmd_get_features(uint8_t fid, uint8_t select, uint32_t cdw11)
{
    struct nv_sqe sqe = host_cmd(NV_ADMIN_GET_FEATURES, 0);

    sqe.cdw10 = fid | (uint32_t)(select & 7) << 8;
    sqe.cdw11 = cdw11;
    return sqe;
}

struct nv_sqe host_cmd_set_features(uint8_t fid, uint32_t cdw11)
{
    struct nv_sqe sqe = host_cmd(NV_ADMIN_SET_FEATURES, 0);

    sqe.cdw10 = fid;
    sqe.cdw11 = cdw11;
    return sqe;
}

struct nv_sqe host_cmd_abort(uint16_t sqid, uint16_t cid)
{
    struct nv_sqe sqe = host_cmd(NV_ADMIN_ABORT, 0);

    sqe.cdw10 = sqid | (uint32_t)cid << 16;
    return sqe;
}

/* Fabrics commands have a layout of their own in the same 64 bytes. */
static struct nv_sqe from_bytes(const void *fabrics)
{
    struct nv_sqe sqe;

    memcpy(&sqe, fabrics, sizeof(sqe));
    return sqe;
}

struct nv_sqe host_cmd_property_get(uint32_t offset, bool wide)
{
    struct nvf_property_sqe sqe = {
        .opcode = NVF_OPCODE, .fctype = NVF_PROPERTY_GET, .offset = offset,
        .attrib = wide ? NVF_PROPERTY_8 : NVF_PROPERTY_4,
    };

    return from_bytes(&sqe);
}

struct nv_sqe host_cmd_property_set(uint32_t offset, bool wide, uint64_t value)
{
    struct nvf_property_sqe sqe = {
        .opcode = NVF_OPCODE, .fctype = NVF_PROPERTY_SET, .offset = offset, .value = value,
        .attrib = wide ? NVF_PROPERTY_8 : NVF_PROPERTY_4,
    };

    return from_bytes(&sqe);
}

struct nv_sqe host_cmd_disconnect(uint16_t recfmt)
{
    struct nvf_disconnect_sqe sqe = {
        .opcode = NVF_OPCODE, .fctype = NVF_DISCONNECT, .recfmt = recfmt,
    };

    return from_bytes(&sqe);
}

struct nv_sqe host_cmd_connect(uint16_t qid, uint16_t sqsize, uint8_t cattr, uint32_t kato_ms)
{
    struct nvf_connect_sqe sqe = {
        .opcode = NVF_OPCODE,
        .fctype = NVF_CONNECT,
        .qid = qid,
        .sqsize = sqsize,
        .cattr = cattr,
        .kato = kato_ms,
    };

    return from_bytes(&sqe);
}
