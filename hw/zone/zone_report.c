/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Zone Management Receive says. Not here: states (zone.c).
 * NVM Express Zoned Namespace Command Set 1.1, 3.4.2.
 */
#include "zone_internal.h"

#include <string.h>

/* By enum nv_zone_filter; 0: any state. */
static const uint8_t filters[] = {
    [NV_ZRASF_ALL] = 0,
    [NV_ZRASF_EMPTY] = NV_ZONE_EMPTY,
    [NV_ZRASF_IMPLICITLY_OPEN] = NV_ZONE_IMPLICITLY_OPEN,
    [NV_ZRASF_EXPLICITLY_OPEN] = NV_ZONE_EXPLICITLY_OPEN,
    [NV_ZRASF_CLOSED] = NV_ZONE_CLOSED,
    [NV_ZRASF_FULL] = NV_ZONE_FULL,
    [NV_ZRASF_READ_ONLY] = NV_ZONE_READ_ONLY,
    [NV_ZRASF_OFFLINE] = NV_ZONE_OFFLINE,
};

static void describe(const struct zones *zones, uint32_t zone, uint8_t *out)
{
    const struct zone_record *record = &zones->records[zone];
    struct nv_zone_descriptor descriptor = {
        .zt = NV_ZT_SEQUENTIAL,
        .zs = (uint8_t)(record->state << 4),
        .za = record->attributes,
        .zcap = zones->capacity,
        .zslba = zone * zones->size,
        /* Of a zone that is not written any more it means nothing. */
        .wp = record->state >= NV_ZONE_READ_ONLY ? UINT64_MAX : zone_write_pointer(zones, zone),
    };

    memcpy(out, &descriptor, sizeof(descriptor));
}

void zones_report(const struct zones *zones, const struct zone_report *report, uint8_t *out,
                  size_t len)
{
    size_t extension = report->extended ? zones->config.extension : 0;
    size_t each = sizeof(struct nv_zone_descriptor) + extension;
    struct nv_zone_report_header header = { .count = 0 };
    size_t at = sizeof(header);
    uint8_t wanted = filters[report->filter];

    memset(out, 0, len);
    for (uint32_t zone = (uint32_t)(report->slba / zones->size); zone < zones->count; zone++) {
        bool room = len - at >= each;

        if ((wanted && zones->records[zone].state != wanted) || (!room && report->partial)) {
            continue;
        }
        header.count++;
        if (room) {
            describe(zones, zone, out + at);
            memcpy(out + at + sizeof(struct nv_zone_descriptor),
                   zones->extensions + zone * zones->config.extension, extension);
            at += each;
        }
    }
    memcpy(out, &header, sizeof(header));
}
