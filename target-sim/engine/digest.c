/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC32C for header and data digests, whole or in pieces.
 * Not here: where digests stand in a PDU (pdu.c).
 * NVMe/TCP Transport 1.0, 3.3.1.1 (polynomial and bit order as in iSCSI, RFC 3720).
 */
#include "engine/digest.h"

#include <isa-l/crc.h>

uint32_t lst_digest_update(uint32_t running, const void *data, size_t len)
{
    /*
     * The library takes a pointer to non-const and an int, but writes nothing, and no PDU comes
     * near 2 GiB.
     */
    return crc32_iscsi((unsigned char *)(uintptr_t)data, (int)len, running);
}

uint32_t lst_digest_final(uint32_t running)
{
    return ~running;
}

uint32_t lst_digest(const void *data, size_t len)
{
    return lst_digest_final(lst_digest_update(LST_DIGEST_START, data, len));
}
