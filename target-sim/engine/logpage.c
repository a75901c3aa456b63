/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Get Log Page: a table by log identifier; each page is made whole, then the part asked for is cut
 * out.
 * Not here: the pages that have a file of their own (ana.c, discovery.c, features.c).
 * NVM Express Base 2.0, 5.16.
 */
#include "engine/ctrl.h"

#include <string.h>

static void *append_zeroes(GByteArray *log, unsigned size)
{
    unsigned start = log->len;

    g_byte_array_set_size(log, start + size);
    memset(log->data + start, 0, size);
    return log->data + start;
}

static void fill_error(struct lst_req *req, GByteArray *log)
{
    const struct lst_ctrl *ctrl = req->queue->ctrl;
    struct nv_log_error *entries = append_zeroes(log, LST_ERROR_LOG_ENTRIES * sizeof(*entries));
    uint64_t count = MIN(ctrl->error_count, LST_ERROR_LOG_ENTRIES);

    /* Newest first. */
    for (uint64_t i = 0; i < count; i++) {
        entries[i] = ctrl->errors[(ctrl->error_count - 1 - i) % LST_ERROR_LOG_ENTRIES];
    }
}

static void fill_smart(struct lst_req *req, GByteArray *log)
{
    const struct lst_ctrl *ctrl = req->queue->ctrl;
    const struct lst_subsys *subsys = ctrl->subsys;
    struct nv_log_smart *smart = append_zeroes(log, sizeof(*smart));

    smart->critical_warning = lst_health_warnings(ctrl);
    smart->temperature[0] = LST_TEMP_K & 0xff;
    smart->temperature[1] = LST_TEMP_K >> 8;
    smart->avail_spare = 100;
    smart->spare_thresh = 10;
    smart->data_units_read.lo = (subsys->read_units + 999) / 1000;
    smart->data_units_written.lo = (subsys->write_units + 999) / 1000;
    smart->host_reads.lo = subsys->reads;
    smart->host_writes.lo = subsys->writes;
    smart->power_cycles.lo = 1;
    smart->power_on_hours.lo = (ctrl->target->now_ns - ctrl->target->start_ns) / lst_ms(3600000);
    smart->media_errors.lo = subsys->media_errors;
    smart->num_err_log_entries.lo = ctrl->error_count;
}

static void fill_firmware(struct lst_req *req, GByteArray *log)
{
    const char *revision = req->queue->ctrl->subsys->firmware;
    struct nv_log_firmware *page = append_zeroes(log, sizeof(*page));

    page->afi = 1;
    memset(page->frs[0], ' ', sizeof(page->frs[0]));
    memcpy(page->frs[0], revision, MIN(strlen(revision), sizeof(page->frs[0])));
}

static void fill_changed_ns(struct lst_req *req, GByteArray *log)
{
    struct lst_ctrl *ctrl = req->queue->ctrl;
    struct nv_log_changed_ns *page = append_zeroes(log, sizeof(*page));
    unsigned count = 0;

    for (uint32_t nsid = 1; nsid <= LST_NSID_MAX; nsid++) {
        if (ctrl->changed_ns[nsid / 32] & 1u << nsid % 32) {
            page->nsid[count++] = nsid;
        }
    }
}

static void fill_changed_zones(struct lst_req *req, GByteArray *log)
{
    lst_zone_log(req->queue->ctrl, req->sqe.nsid,
                 append_zeroes(log, sizeof(struct nv_log_changed_zones)));
}

/* @without: flags of commands that the set has not. */
static void fill_command_set(const struct lst_command *commands, unsigned without,
                             uint32_t *effects)
{
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        if (commands[opcode].run && !(commands[opcode].flags & without)) {
            effects[opcode] = NV_EFFECT_CSUPP |
                              (commands[opcode].flags & LST_CMD_WRITES ? NV_EFFECT_LBCC : 0);
        }
    }
}

static void fill_effects(struct lst_req *req, GByteArray *log)
{
    struct nv_log_effects *page = append_zeroes(log, sizeof(*page));
    unsigned csi = req->sqe.cdw14 >> 24;

    fill_command_set(lst_admin_commands, 0, page->acs);
    /* Hosts that see CAP.CSS bit 6 ask for any command set: in those that we have not are none. */
    if (csi == NV_CSI_NVM || csi == NV_CSI_ZNS) {
        fill_command_set(lst_io_commands, csi == NV_CSI_NVM ? LST_CMD_ZONED : 0, page->iocs);
    }
}

static void fill_ana(struct lst_req *req, GByteArray *log)
{
    lst_ana_log(req->queue->ctrl, log, req->sqe.cdw10 >> 8 & NV_LSP_ANA_RGO);
}

static void fill_features(struct lst_req *req, GByteArray *log)
{
    lst_features_log(req->queue->ctrl, append_zeroes(log, 256 * sizeof(uint32_t)));
}

static void fill_reservation(struct lst_req *req, GByteArray *log)
{
    lst_resv_log_page(req->queue->ctrl, append_zeroes(log, sizeof(struct nv_log_reservation)));
}

static void fill_supported(struct lst_req *req, GByteArray *log);

enum ack { ACK_NONE, ACK_NS, ACK_ANA, ACK_DISCOVERY, ACK_RESERVATION, ACK_HEALTH, ACK_ZONES };

static const struct log_page {
    /* NULL but listed: the discovery snapshot */
    void (*fill)(struct lst_req *req, GByteArray *log);
    bool io;                             /* I/O controllers have it */
    bool discovery;                      /* discovery controllers have it */
    enum ack ack;                        /* the notice that reading it acknowledges */
} log_pages[256] = {
    [NV_LOG_SUPPORTED] = { fill_supported, true, true, ACK_NONE },
    [NV_LOG_ERROR] = { fill_error, true, true, ACK_NONE },
    [NV_LOG_SMART] = { fill_smart, true, false, ACK_HEALTH },
    [NV_LOG_FIRMWARE] = { fill_firmware, true, false, ACK_NONE },
    [NV_LOG_CHANGED_NS] = { fill_changed_ns, true, false, ACK_NS },
    [NV_LOG_EFFECTS] = { fill_effects, true, false, ACK_NONE },
    [NV_LOG_ANA] = { fill_ana, true, false, ACK_ANA },
    [NV_LOG_FEATURES] = { fill_features, true, true, ACK_NONE },
    [NV_LOG_RESERVATION] = { fill_reservation, true, false, ACK_RESERVATION },
    [NV_LOG_CHANGED_ZONES] = { fill_changed_zones, true, false, ACK_ZONES },
    [NV_LOG_DISCOVERY] = { NULL, false, true, ACK_DISCOVERY },
};

static bool log_page_here(const struct lst_ctrl *ctrl, const struct log_page *page)
{
    return ctrl->subsys->discovery ? page->discovery : page->io;
}

static void fill_supported(struct lst_req *req, GByteArray *log)
{
    uint32_t *entries = append_zeroes(log, 256 * sizeof(uint32_t));

    for (unsigned lid = 0; lid < 256; lid++) {
        if (log_page_here(req->queue->ctrl, &log_pages[lid])) {
            entries[lid] = NV_LSUPP;
            if (lid == NV_LOG_DISCOVERY) {
                entries[lid] |= (NVF_LSP_EXTDLPE | NVF_LSP_PLEO) << NV_LIDS_PARAMETER_SHIFT;
            }
        }
    }
}

static uint64_t log_offset(const struct lst_req *req)
{
    return (uint64_t)req->sqe.cdw13 << 32 | req->sqe.cdw12;
}

uint16_t lst_log_length(struct lst_req *req, uint32_t *len)
{
    uint64_t dwords = (req->sqe.cdw10 >> 16 | (uint64_t)(req->sqe.cdw11 & 0xffff) << 16) + 1;

    if (!log_page_here(req->queue->ctrl, &log_pages[req->sqe.cdw10 & 0xff])) {
        req->param_location = 40;
        return lst_no_retry(NV_SC_INVALID_LOG_PAGE);
    }
    if (dwords * 4 > LST_TRANSFER_MAX) {
        req->param_location = 42;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    /* CDW14 bit 23 would make the offset an index: no page has one (00h says so). */
    if (req->sqe.cdw14 & 1u << 23) {
        req->param_location = 58 | 7 << 8;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    /* There is one health log, the controller's (LPA bit 0). */
    if ((req->sqe.cdw10 & 0xff) == NV_LOG_SMART && req->sqe.nsid && req->sqe.nsid != NV_NSID_ALL) {
        req->param_location = 4;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if ((req->sqe.cdw10 & 0xff) == NV_LOG_CHANGED_ZONES) {
        const struct lst_ns *ns = lst_ns_lookup(req->queue->ctrl->subsys, req->sqe.nsid);

        req->param_location = 4;
        if (!ns || !ns->zones) {
            return lst_no_retry(ns ? NV_SC_INVALID_FIELD : NV_SC_INVALID_NAMESPACE);
        }
    }
    if (log_offset(req) % 4) {
        req->param_location = 48;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    *len = (uint32_t)dwords * 4;
    return NV_SC_SUCCESS;
}

/* Reading with Retain Asynchronous Event clear ends what the notice began. */
static void acknowledge(struct lst_ctrl *ctrl, enum ack ack, uint32_t nsid)
{
    switch (ack) {
    case ACK_NS:
        memset(ctrl->changed_ns, 0, sizeof(ctrl->changed_ns));
        lst_aer_acknowledge(ctrl, LST_NOTICE_NS);
        break;
    case ACK_ANA:
        lst_aer_acknowledge(ctrl, LST_NOTICE_ANA);
        break;
    case ACK_DISCOVERY:
        lst_aer_acknowledge(ctrl, LST_NOTICE_DISCOVERY);
        break;
    case ACK_RESERVATION:
        lst_resv_log_drop(ctrl);
        lst_aer_acknowledge(ctrl, LST_NOTICE_RESV);
        break;
    case ACK_HEALTH:
        lst_aer_acknowledge(ctrl, LST_NOTICE_TEMPERATURE);
        break;
    case ACK_ZONES:
        lst_zone_log_drop(ctrl, nsid);
        break;
    case ACK_NONE:
        break;
    }
}

/* What lies past the end of a page reads as zeroes; an offset past the end is an error (5.16.1). */
static uint16_t log_cut(struct lst_req *req, const GByteArray *log)
{
    uint64_t offset = log_offset(req);
    uint64_t there;

    if (offset > log->len) {
        req->param_location = 48;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    there = MIN(log->len - offset, req->data_len);
    memcpy(req->data, log->data + offset, there);
    memset(req->data + there, 0, req->data_len - there);
    return NV_SC_SUCCESS;
}

/* Bits that we do not know are reserved: they are ignored. */
static unsigned discovery_lsp(const struct lst_req *req)
{
    return req->sqe.cdw10 >> 8 & (NVF_LSP_EXTDLPE | NVF_LSP_PLEO);
}

/*
 * A host reads the header, then the entries, then the header again. The snapshot is renewed only
 * when the header is read, so the entries belong to the header before them; the generation in the
 * last header tells whether that is still true.
 */
static uint16_t discovery_cut(struct lst_req *req)
{
    struct lst_ctrl *ctrl = req->queue->ctrl;

    if (!ctrl->discovery_log || ctrl->discovery_lsp != discovery_lsp(req) ||
        log_offset(req) < sizeof(struct nvf_discovery_header)) {
        lst_discovery_snapshot(ctrl, discovery_lsp(req));
    }
    return log_cut(req, ctrl->discovery_log);
}

void lst_log_run(struct lst_req *req)
{
    const struct log_page *page = &log_pages[req->sqe.cdw10 & 0xff];
    bool retain = req->sqe.cdw10 & 1u << 15;
    struct lst_ctrl *ctrl = req->queue->ctrl;
    uint32_t nsid = req->sqe.nsid;
    uint16_t status;

    if (page->fill) {
        GByteArray *log = g_byte_array_new();

        page->fill(req, log);
        status = log_cut(req, log);
        g_byte_array_unref(log);
    } else {
        status = discovery_cut(req);
    }
    lst_req_complete(req, status);
    if (!status && !retain) {
        acknowledge(ctrl, page->ack, nsid);
    }
}
