/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw PDUs for tests that send what no host should, and a look at what came back.
 * Not here: the host queue, which builds only right PDUs.
 * NVMe/TCP transport specification 1.0, section 3.6.
 */
#ifndef TESTS_UNIT_WIRE_H
#define TESTS_UNIT_WIRE_H

#include "rig.h"

/*
 * Each appends one right PDU to @out; tests then spoil it and, with host_pdu_reseal(), make its
 * digest fit.
 */
void wire_icreq(GByteArray *out, uint8_t dgst);
void wire_capsule(GByteArray *out, const HostPduFormat *format, const struct nv_sqe *sqe,
                  uint16_t cid, const void *data, uint32_t length);
void wire_h2c_data(GByteArray *out, const HostPduFormat *format, uint16_t cid, uint16_t ttag,
                   uint32_t offset, const void *data, uint32_t length, bool last);

/* SQEs with SGL filled in: data in the capsule, by R2T or C2HData, or none. */
struct nv_sqe wire_sgl(struct nv_sqe sqe, uint8_t sgl_id, uint64_t addr, uint32_t length);

/*
 * Walks the PDUs in @received; asserts that they are whole and of types that a controller sends.
 * Calls @fn for each.
 */
typedef void WireFn(void *opaque, const struct nvtcp_hdr *hdr, const uint8_t *pdu);
void wire_each(const GByteArray *received, WireFn *fn, void *opaque);

/* Finds the CQE of command @cid. Asserts that there is at most one. */
bool wire_find_cqe(const GByteArray *received, uint16_t cid, struct nv_cqe *cqe);
/*
 * Finds a C2HTermReq: asserts that there is at most one and that it is the last PDU. NULL if there
 * is none.
 */
const uint8_t *wire_find_term(const GByteArray *received);
/* PDUs of one type. */
unsigned wire_count(const GByteArray *received, uint8_t type);

#endif
