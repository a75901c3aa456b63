/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verified blocks hold: where they belong, which write they are from, and a CRC32C of it all.
 * Not here: I/O. No standard but CRC32C (RFC 3720).
 */
#include "bench/pattern.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "client/host_pdu.h"

/* Every 512 bytes: data that came from two writes show even within a block. */
enum { UNIT = 512 };

struct Header {
    uint32_t crc;       /* of the rest of the unit */
    uint32_t magic;
    Pattern pattern;    /* its offset is that of the unit */
};

static const uint32_t magic = 0x4b434f4c; /* "LOCK" */

void pattern_fill(const Pattern *pattern, void *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += UNIT) {
        uint8_t *unit = (uint8_t *)bytes + at;
        struct Header header = {.magic = magic, .pattern = *pattern};
        uint64_t state = pattern->seed ^ (pattern->offset + at) ^ pattern->generation << 48;

        header.pattern.offset += at;
        for (size_t i = sizeof(header); i < UNIT; i += sizeof(state)) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            memcpy(unit + i, &state, sizeof(state));
        }
        memcpy(unit, &header, sizeof(header));
        header.crc = host_crc32c(unit + sizeof(header.crc), UNIT - sizeof(header.crc));
        memcpy(unit, &header.crc, sizeof(header.crc));
    }
}

static char *check_unit(const Pattern *expected, const uint8_t *unit)
{
    struct Header header;

    memcpy(&header, unit, sizeof(header));
    if (header.magic != magic) {
        return g_strdup_printf("offset %" PRIu64 ": not written by this program",
                               expected->offset);
    }
    if (header.crc != host_crc32c(unit + sizeof(header.crc), UNIT - sizeof(header.crc))) {
        return g_strdup_printf("offset %" PRIu64 ": CRC32C is wrong", expected->offset);
    }
    if (memcmp(&header.pattern, expected, sizeof(*expected))) {
        return g_strdup_printf("offset %" PRIu64 ": seed %" PRIu64 " write %" PRIu64
                               " of offset %" PRIu64 ", expected seed %" PRIu64 " write %" PRIu64,
                               expected->offset, header.pattern.seed, header.pattern.generation,
                               header.pattern.offset, expected->seed, expected->generation);
    }
    return NULL;
}

char *pattern_check(const Pattern *pattern, const void *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += UNIT) {
        Pattern expected = *pattern;
        char *why;

        expected.offset += at;
        why = check_unit(&expected, (const uint8_t *)bytes + at);
        if (why) {
            return why;
        }
    }
    return NULL;
}
