/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address to a controller that is ready: discovery, Connect, properties, Identify.
 * Not here: sockets (link.c). Fabrics 1.1, 3 and 5; NVMe base 2.0, 3.5.1.
 */
#include <string.h>

#include "bench/link_internal.h"
#include "client/host_cmd.h"
#include "daemon/parse.h"

enum {
    ADMIN_ENTRIES = 16, /* the smallest maximum that a port may have */
    READY_POLL_US = 10000,
    DISCOVERY_ENTRIES_MAX = 16384,  /* looked at */
};

void place_clear(Place *place)
{
    g_clear_pointer(&place->traddr, g_free);
    g_clear_pointer(&place->nqn, g_free);
}

static void fill_connect(struct nvf_connect_data *data, const BenchOptions *options,
                         const char *nqn, uint16_t cntlid)
{
    /* Any but zero: the host is known by its NQN. */
    static const uint8_t hostid[16] = "target-bench";

    memset(data, 0, sizeof(*data));
    memcpy(data->hostid, hostid, sizeof(hostid));
    data->cntlid = cntlid;
    g_strlcpy(data->subnqn, nqn, sizeof(data->subnqn));
    g_strlcpy(data->hostnqn, options->hostnqn, sizeof(data->hostnqn));
}

static bool get_property(Link *link, uint32_t offset, bool wide, uint64_t *value, GError **error)
{
    struct nv_sqe sqe = host_cmd_property_get(offset, wide);

    return link_command(link, "Property Get", &sqe, NULL, 0, value, error);
}

static bool enable(Link *link, GError **error)
{
    struct nv_sqe sqe = host_cmd_property_set(NV_REG_CC, false,
        NV_CC_EN | 6 << NV_CC_IOSQES_SHIFT | 4 << NV_CC_IOCQES_SHIFT);
    gint64 end = g_get_monotonic_time() + (gint64)link->timeout_ms * 1000;
    uint64_t csts = 0;

    if (!link_command(link, "Property Set of CC", &sqe, NULL, 0, NULL, error)) {
        return false;
    }
    while (get_property(link, NV_REG_CSTS, false, &csts, error) && !(csts & NV_CSTS_RDY)) {
        if ((csts & NV_CSTS_CFS) || g_get_monotonic_time() > end) {
            return link_fail(error, "the controller does not become ready: CSTS %#x",
                             (unsigned)csts);
        }
        g_usleep(READY_POLL_US);
    }
    return csts & NV_CSTS_RDY;
}

/* An Admin queue whose controller is enabled. */
static bool open_admin(const BenchOptions *options, const Place *place, Link *link,
                       uint16_t *cntlid, GError **error)
{
    HostQueueConfig config = {
        .entries = ADMIN_ENTRIES, .max_r2t = 1,
        .header_digest = options->header_digest, .data_digest = options->data_digest,
    };
    struct nvf_connect_data data;
    uint64_t result = 0;

    fill_connect(&data, options, place->nqn, 0xffff);
    if (!link_open(link, options, place, &config, error)) {
        return false;
    }
    if (link_connect(link, 0, &data, &result, error) && enable(link, error)) {
        *cntlid = (uint16_t)result;
        return true;
    }
    g_prefix_error(error, "%s: ", place->nqn);
    link_close(link);
    return false;
}

/* ---- Discovery */

static bool get_log(Link *link, uint64_t offset, void *buffer, uint32_t length, GError **error)
{
    struct nv_sqe sqe = host_cmd_get_log(NV_LOG_DISCOVERY, 0, offset, length, 0, true);

    return link_command(link, "Get Log Page of discovery", &sqe, buffer, length, NULL, error);
}

/* A fixed field of the log, padded with blanks or zeros. */
static char *field(const char *text, size_t size)
{
    return g_strstrip(g_strndup(text, size));
}

static bool find_entry(Link *link, Place *place, GError **error)
{
    struct nvf_discovery_header header;
    struct nvf_discovery_entry entry;
    uint64_t port;

    if (!get_log(link, 0, &header, sizeof(header), error)) {
        return false;
    }
    for (uint64_t i = 0; i < MIN(header.numrec, DISCOVERY_ENTRIES_MAX); i++) {
        g_autofree char *trsvcid = NULL;

        if (!get_log(link, sizeof(header) + i * sizeof(entry), &entry, sizeof(entry), error)) {
            return false;
        }
        trsvcid = field(entry.trsvcid, sizeof(entry.trsvcid));
        if (entry.subtype == NVF_SUBTYPE_NVME && entry.trtype == NVF_TRTYPE_TCP &&
            parse_uint(trsvcid, 1, UINT16_MAX, &port)) {
            place_clear(place);
            place->traddr = field(entry.traddr, sizeof(entry.traddr));
            place->nqn = field(entry.subnqn, sizeof(entry.subnqn));
            place->trsvcid = (uint32_t)port;
            return true;
        }
    }
    return link_fail(error, "the discovery service at %s port %u knows no NVM subsystem",
                     place->traddr, place->trsvcid);
}

bool controller_find(const BenchOptions *options, Place *place, GError **error)
{
    Link link = {0};
    uint16_t cntlid;
    bool ok;

    place->traddr = g_strdup(options->traddr);
    place->trsvcid = options->trsvcid;
    place->nqn = g_strdup(options->nqn ? options->nqn : NVF_DISCOVERY_NQN);
    if (options->nqn) {
        return true;
    }
    ok = open_admin(options, place, &link, &cntlid, error) && find_entry(&link, place, error);
    link_close(&link);
    return ok;
}

/* ---- An I/O controller */

static bool identify(Link *link, uint8_t cns, uint32_t nsid, void *buffer, GError **error)
{
    struct nv_sqe sqe = host_cmd_identify(cns, nsid, 0, 0);

    return link_command(link, "Identify", &sqe, buffer, NV_IDENTIFY_BYTES, NULL, error);
}

static bool ask_controller(const BenchOptions *options, Controller *controller, GError **error)
{
    uint32_t ask = options->queues - 1;
    struct nv_sqe sqe = host_cmd_set_features(NV_FEAT_NUM_QUEUES, ask << 16 | ask);
    struct nv_id_ctrl id;
    uint64_t cap, granted;

    if (!identify(&controller->admin, NV_CNS_CTRL, 0, &id, error) ||
        !get_property(&controller->admin, NV_REG_CAP, true, &cap, error) ||
        !link_command(&controller->admin, "Set Features of Number of Queues", &sqe, NULL, 0,
                      &granted, error)) {
        return false;
    }
    controller->inline_bytes = id.ioccsz > 4 && id.ioccsz < 1 << 20 ? (id.ioccsz - 4) * 16 : 0;
    controller->max_transfer = id.mdts && id.mdts < 19 ? 4096u << id.mdts : UINT32_MAX;
    /* Both counts are zero-based, submission queues below. */
    granted = MIN(granted & 0xffff, granted >> 16 & 0xffff) + 1;
    if (granted < options->queues) {
        return link_fail(error, "--queues: wrong value %u; the controller allows %u",
                         options->queues, (unsigned)granted);
    }
    /* One entry of a queue stays empty. */
    if (options->depth > (cap & 0xffff)) {
        return link_fail(error, "--depth: wrong value %u; the controller's queues allow %u",
                         options->depth, (unsigned)(cap & 0xffff));
    }
    return true;
}

static bool ask_namespace(const BenchOptions *options, Controller *controller, GError **error)
{
    struct nv_id_ns id;
    const struct nv_lbaf *format;

    if (!identify(&controller->admin, NV_CNS_NS, options->nsid, &id, error)) {
        return false;
    }
    format = &id.lbaf[(id.flbas & 0xf) | (id.flbas >> 1 & 0x30)];
    if (!id.nsze || format->lbads < 9 || format->lbads > 20 || format->ms ||
        id.nsze > UINT64_MAX >> format->lbads) {
        return link_fail(error, "--nsid: namespace %u is not there, or not in blocks of 512 bytes "
                         "to 1M without metadata", options->nsid);
    }
    controller->lba_size = 1u << format->lbads;
    controller->size = id.nsze << format->lbads;
    return true;
}

bool controller_open(const BenchOptions *options, const Place *place, Controller *controller,
                     GError **error)
{
    if (!open_admin(options, place, &controller->admin, &controller->cntlid, error)) {
        return false;
    }
    if (ask_controller(options, controller, error) && ask_namespace(options, controller, error)) {
        return true;
    }
    link_close(&controller->admin);
    return false;
}

bool controller_open_queue(const BenchOptions *options, const Place *place,
                           const Controller *controller, uint16_t qid, Link *link, GError **error)
{
    HostQueueConfig config = {
        .entries = (uint16_t)(options->depth + 1), .max_r2t = 1,
        .header_digest = options->header_digest, .data_digest = options->data_digest,
        .no_sq_flow_control = options->no_sq_flow_control,
    };
    struct nvf_connect_data data;

    fill_connect(&data, options, place->nqn, controller->cntlid);
    if (!link_open(link, options, place, &config, error)) {
        return false;
    }
    if (!link_connect(link, qid, &data, NULL, error)) {
        g_prefix_error(error, "I/O queue %u: ", qid);
        link_close(link);
        return false;
    }
    return true;
}
