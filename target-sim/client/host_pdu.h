/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVMe/TCP PDUs as the host builds them and checks them; pure functions over bytes.
 * Not here: any state of a queue or a command.
 * NVMe/TCP transport specification 1.0, section 3.6 (PDU layout, digests, alignment).
 */
#ifndef LOCKSTEP_CLIENT_HOST_PDU_H
#define LOCKSTEP_CLIENT_HOST_PDU_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* PDU types fit in this many; 0Ah and above are reserved. */
enum { HOST_PDU_TYPES = 16 };

/* What ICReq and ICResp agreed on, as far as it shapes PDUs of one direction. */
typedef struct HostPduFormat {
    bool header_digest;
    bool data_digest;
    uint32_t align; /* of the data, bytes from the start of the PDU: (CPDA or HPDA + 1) * 4 */
} HostPduFormat;

/* Outcome of a check: fes 0 accepts, anything else is the fatal error status to terminate with. */
typedef struct HostPduVerdict {
    uint16_t fes;
    uint32_t fei;
    const char *reason;
} HostPduVerdict;

/* CRC32C as NVMe/TCP uses it (section 3.3.1.1), of one buffer. */
uint32_t host_crc32c(const void *bytes, size_t length);

/*
 * The same over pieces: start with HOST_CRC32C_START, pass each result on, finish with
 * host_crc32c_end().
 */
#define HOST_CRC32C_START 0xFFFFFFFFu
uint32_t host_crc32c_add(uint32_t crc, const void *bytes, size_t length);
uint32_t host_crc32c_end(uint32_t crc);

/* Offset of the data in a PDU with a header of @hlen bytes. */
uint32_t host_pdu_data_offset(const HostPduFormat *format, uint32_t hlen);

/*
 * Appends a PDU to @out: the header (whose type, hlen and fields beyond the common header are set),
 * padding, data and digests. Fills in flags HDGST and DDGST (or'ed to those set), PDO and PLEN of
 * the copy, not of @header.
 */
void host_pdu_append(GByteArray *out, const HostPduFormat *format, const void *header,
                     const void *data, uint32_t length);

/* Recomputes the header digest of a complete PDU that a test has changed. */
void host_pdu_reseal(uint8_t *pdu);

/*
 * Checks the common header of a PDU from the controller, in the order of its bytes. @connected:
 * ICResp has come.
 * Everything that can be known from 8 bytes is checked here, so that no byte behind a bad header is
 * looked at.
 */
HostPduVerdict host_pdu_check_common(const uint8_t header[8], const HostPduFormat *format,
                                     bool connected);

/* Checks ICResp (128 bytes): section 3.6.2.3. The digests must be exactly those asked for. */
HostPduVerdict host_pdu_check_icresp(const uint8_t *pdu, bool header_digest, bool data_digest);

#endif
