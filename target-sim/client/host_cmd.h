/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builders of submission queue entries: each returns a complete SQE but for command id and SGL.
 * Not here: anything about queues or PDUs.
 * NVMe base specification 2.0, sections 5 and 6; NVM command set specification 1.0, section 3.
 */
#ifndef LOCKSTEP_CLIENT_HOST_CMD_H
#define LOCKSTEP_CLIENT_HOST_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep/nvme.h"
#include "lockstep/nvme_fabrics.h"

/* Any command without further dwords: Flush, Keep Alive, Asynchronous Event Request. */
struct nv_sqe host_cmd(uint8_t opcode, uint32_t nsid);

/*
 * Read, Write, Compare, Write Zeroes, Verify: @blocks is one-based, 1..65536; @control is the upper
 * half of CDW12.
 */
struct nv_sqe host_cmd_rw(uint8_t opcode, uint32_t nsid, uint64_t slba, uint32_t blocks,
                          uint16_t control);

/* Dataset Management with @ranges ranges (1..256) and the attributes of CDW11 (4: deallocate). */
struct nv_sqe host_cmd_dsm(uint32_t nsid, uint32_t ranges, uint32_t attributes);

/* Copy to @slba with @ranges source ranges (1..256) of @format. */
struct nv_sqe host_cmd_copy(uint32_t nsid, uint64_t slba, uint32_t ranges, unsigned format);

/*
 * Zone Append of @blocks blocks to the zone at @zslba; Zone Management Send with @action (and
 * NV_ZSEND_ALL); Zone Management Receive of @length bytes, a multiple of 4, with CDW13 @what.
 */
struct nv_sqe host_cmd_zone_append(uint32_t nsid, uint64_t zslba, uint32_t blocks);
struct nv_sqe host_cmd_zone_send(uint32_t nsid, uint64_t slba, uint32_t action);
struct nv_sqe host_cmd_zone_receive(uint32_t nsid, uint64_t slba, uint32_t length, uint32_t what);

/* Identify: CNS, CNTID and CSI (section 5.17). */
struct nv_sqe host_cmd_identify(uint8_t cns, uint32_t nsid, uint16_t cntid, uint8_t csi);

/*
 * Get Log Page: @length in bytes (multiple of 4), @offset in bytes, @lsp the 7 bits of CDW10, @rae
 * retains the event.
 */
struct nv_sqe host_cmd_get_log(uint8_t lid, uint32_t nsid, uint64_t offset, uint32_t length,
                               uint8_t lsp, bool rae);

/* Get Features; @select 0 current, 1 default, 2 saved, 3 capabilities. */
struct nv_sqe host_cmd_get_features(uint8_t fid, uint8_t select, uint32_t cdw11);
struct nv_sqe host_cmd_set_features(uint8_t fid, uint32_t cdw11);

/* Abort command @cid of submission queue @sqid. */
struct nv_sqe host_cmd_abort(uint16_t sqid, uint16_t cid);

/* Fabrics Property Get and Set (section 6.6, 6.5); @wide: 8 bytes, else 4. */
struct nv_sqe host_cmd_property_get(uint32_t offset, bool wide);
struct nv_sqe host_cmd_property_set(uint32_t offset, bool wide, uint64_t value);

/* Fabrics Disconnect; @recfmt is 0 (section 6.4). */
struct nv_sqe host_cmd_disconnect(uint16_t recfmt);

/* Fabrics Connect; @sqsize is zero-based as on the wire (section 6.3). */
struct nv_sqe host_cmd_connect(uint16_t qid, uint16_t sqsize, uint8_t cattr, uint32_t kato_ms);

#endif
