/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC32C for header and data digests, whole or in pieces.
 * Not here: where digests stand in a PDU (pdu.c).
 * NVMe/TCP Transport 1.0, 3.3.1.1 (polynomial and bit order as in iSCSI, RFC 3720).
 */
#ifndef ENGINE_DIGEST_H
#define ENGINE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define LST_DIGEST_START 0xffffffffu
/* The running value after @len more bytes; start with LST_DIGEST_START. */
uint32_t lst_digest_update(uint32_t running, const void *data, size_t len);
/* The digest as it goes on the wire, from the running value. */
uint32_t lst_digest_final(uint32_t running);
/* All at once. */
uint32_t lst_digest(const void *data, size_t len);

#endif
