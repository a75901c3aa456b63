/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identify: a table by CNS of functions that fill the 4096 bytes.
 * Not here: lists (identify_lists.c), what namespaces and subsystems are (ns.c, subsys.c).
 * NVM Express Base 2.0, 5.17; NVM Command Set 1.0, 4.1.5.
 */
#include "engine/ctrl.h"

#include <string.h>

/* All return a status; @data is zeroed. */
typedef uint16_t (*identify_fn)(struct lst_req *req, uint8_t *data);

static void fill_text(char *field, size_t size, const char *text)
{
    size_t len = strlen(text);

    memset(field, ' ', size);
    memcpy(field, text, len < size ? len : size);
}

static void identify_common(const struct lst_ctrl *ctrl, struct nv_id_ctrl *id)
{
    const struct lst_subsys *subsys = ctrl->subsys;

    fill_text(id->sn, sizeof(id->sn), subsys->serial);
    fill_text(id->mn, sizeof(id->mn), subsys->model);
    fill_text(id->fr, sizeof(id->fr), subsys->firmware);
    id->rab = 6;
    id->ieee[0] = (uint8_t)subsys->ieee_oui;
    id->ieee[1] = (uint8_t)(subsys->ieee_oui >> 8);
    id->ieee[2] = (uint8_t)(subsys->ieee_oui >> 16);
    id->mdts = LST_MDTS;
    id->cntlid = ctrl->cntlid;
    id->ver = subsys->version;
    id->ctratt = NV_CTRATT_HOSTID_128 | NV_CTRATT_TBKAS;
    id->cntrltype = subsys->discovery ? NV_CNTRLTYPE_DISCOVERY : NV_CNTRLTYPE_IO;
    id->acl = LST_ABORT_MAX - 1;
    id->aerl = LST_AER_MAX - 1;
    id->elpe = LST_ERROR_LOG_ENTRIES - 1;
    id->lpa = NV_LPA_EXTENDED;
    id->kas = LST_KAS_100MS;
    id->sqes = 0x66;
    id->cqes = 0x44;
    id->maxcmd = (uint16_t)ctrl->max_queue_size;
    id->sgls = NV_SGLS_SUPPORTED | NV_SGLS_OFFSET;
    memcpy(id->subnqn, subsys->nqn, strlen(subsys->nqn));
    id->ioccsz = (NV_SQE_BYTES + ctrl->inline_size) / 16;
    id->iorcsz = NV_CQE_BYTES / 16;
    id->msdbd = 1;
}

static uint16_t identify_ctrl(struct lst_req *req, uint8_t *data)
{
    const struct lst_ctrl *ctrl = req->queue->ctrl;
    struct nv_id_ctrl *id = (struct nv_id_ctrl *)data;

    identify_common(ctrl, id);
    if (ctrl->subsys->discovery) {
        id->oaes = NV_OAES_DISCOVERY;
        return NV_SC_SUCCESS;
    }
    id->cmic = NV_CMIC_MULTI_PORT | NV_CMIC_MULTI_CTRL | NV_CMIC_ANA;
    id->oaes = NV_OAES_NS_ATTR | NV_OAES_ANA | NV_OAES_ZONE;
    id->frmw = 1 << 1 | 1 << 0;          /* one firmware slot, read only */
    id->lpa |= NV_LPA_EFFECTS | NV_LPA_SUPPORTED_PAGES;
    id->wctemp = LST_TEMP_WARNING_K;
    id->cctemp = LST_TEMP_CRITICAL_K;
    id->anatt = LST_ANATT_S;
    id->anacap = NV_ANACAP_OPTIMIZED | NV_ANACAP_NONOPTIMIZED | NV_ANACAP_INACCESSIBLE |
                 NV_ANACAP_PERSISTENT_LOSS | NV_ANACAP_CHANGE;
    id->anagrpmax = LST_ANA_GROUPS_MAX;
    id->nanagrpid = LST_ANA_GROUPS_MAX;
    id->nn = LST_NSID_MAX;
    id->mnan = LST_NSID_MAX;
    id->oncs = NV_ONCS_COMPARE | NV_ONCS_WRITE_UNCORRECTABLE | NV_ONCS_DSM | NV_ONCS_WRITE_ZEROES |
               NV_ONCS_SAVE_SELECT | NV_ONCS_RESERVATIONS | NV_ONCS_TIMESTAMP | NV_ONCS_VERIFY |
               NV_ONCS_COPY;
    id->ocfs = NV_OCFS_FORMAT_0 | NV_OCFS_FORMAT_1;
    id->ofcs = NV_OFCS_DISCONNECT;
    id->fuses = NV_FUSES_COMPARE_WRITE;
    /* In blocks of any namespace: of the largest. */
    id->acwu = LST_FUSED_BYTES / 4096 - 1;
    id->vwc = NV_VWC_PRESENT | NV_VWC_FLUSH_ALL_NO;
    id->nwpc = lst_write_protect_capabilities(ctrl->target);
    return NV_SC_SUCCESS;
}

/*
 * The namespace of the command; NULL and *status set if there is none to speak of. Some CNS ask for
 * active namespaces, some for allocated ones: those with media, visible or not.
 */
static struct lst_ns *identify_ns_lookup(const struct lst_req *req, uint16_t *status)
{
    const struct lst_subsys *subsys = req->queue->ctrl->subsys;
    uint8_t cns = (uint8_t)req->sqe.cdw10;
    bool allocated = cns == NV_CNS_ALLOCATED_NS || cns == NV_CNS_ALLOCATED_CSI_NS;
    uint32_t nsid = req->sqe.nsid;
    struct lst_ns *ns = lst_ns_lookup(subsys, nsid);

    if (allocated && nsid <= LST_NSID_MAX && subsys->ns[nsid] && subsys->ns[nsid]->attached) {
        ns = subsys->ns[nsid];
    }
    /* A valid but inactive, or unallocated, NSID gives zeroes (5.17.2.1). */
    *status = nsid >= 1 && nsid <= LST_NSID_MAX ? NV_SC_SUCCESS :
                                                  lst_no_retry(NV_SC_INVALID_NAMESPACE);
    return ns;
}

static uint16_t identify_ns(struct lst_req *req, uint8_t *data)
{
    struct nv_id_ns *id = (struct nv_id_ns *)data;
    uint16_t status;
    const struct lst_ns *ns = identify_ns_lookup(req, &status);

    if (!ns && req->sqe.nsid == NV_NSID_ALL && (req->sqe.cdw10 & 0xff) == NV_CNS_NS) {
        /*
         * What all namespaces have in common: without namespace management there is only the
         * format.
         */
        id->lbaf[0].lbads = 9;
        return NV_SC_SUCCESS;
    }
    if (!ns) {
        return status;
    }
    id->nsze = ns->blocks;
    id->ncap = ns->blocks;
    id->nuse = ns->blocks;
    id->nsfeat = NV_NSFEAT_ATOMIC;
    id->nacwu = (uint16_t)((LST_FUSED_BYTES >> ns->shift) - 1);
    id->nmic = NV_NMIC_SHARED;
    id->rescap = lst_resv_capabilities(ns);
    id->dlfeat = NV_DLFEAT_READ_ZEROES | NV_DLFEAT_WZ_DEALLOCATE;
    id->mssrl = LST_COPY_RANGE_BLOCKS;
    id->mcl = LST_COPY_BLOCKS;
    id->msrc = LST_COPY_RANGES - 1;
    id->anagrpid = ns->ana_grpid;
    id->nsattr = ns->write_protected ? NV_NSATTR_WRITE_PROTECTED : 0;
    memcpy(id->nguid, ns->nguid, sizeof(id->nguid));
    memcpy(id->eui64, ns->eui64, sizeof(id->eui64));
    id->lbaf[0].lbads = ns->shift;
    return NV_SC_SUCCESS;
}

static uint16_t identify_ns_independent(struct lst_req *req, uint8_t *data)
{
    struct nv_id_ns_independent *id = (struct nv_id_ns_independent *)data;
    uint16_t status;
    const struct lst_ns *ns = identify_ns_lookup(req, &status);

    if (!ns) {
        return status;
    }
    id->nmic = NV_NMIC_SHARED;
    id->rescap = lst_resv_capabilities(ns);
    id->anagrpid = ns->ana_grpid;
    id->nsattr = ns->write_protected ? NV_NSATTR_WRITE_PROTECTED : 0;
    id->nstat = 1;
    return NV_SC_SUCCESS;
}

static uint8_t *add_descriptor(uint8_t *at, enum nv_nidt type, const uint8_t *bytes, uint8_t len)
{
    struct nv_ns_id_desc desc = { .nidt = (uint8_t)type, .nidl = len };

    memcpy(at, &desc, sizeof(desc));
    memcpy(at + sizeof(desc), bytes, len);
    return at + sizeof(desc) + len;
}

static bool is_set(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) {
            return true;
        }
    }
    return false;
}

static uint16_t identify_ns_descs(struct lst_req *req, uint8_t *data)
{
    const struct lst_ns *ns = lst_ns_lookup(req->queue->ctrl->subsys, req->sqe.nsid);
    uint8_t csi;

    if (!ns) {
        return lst_no_retry(NV_SC_INVALID_NAMESPACE);
    }
    csi = lst_ns_csi(ns);
    if (is_set(ns->eui64, sizeof(ns->eui64))) {
        data = add_descriptor(data, NV_NIDT_EUI64, ns->eui64, sizeof(ns->eui64));
    }
    if (is_set(ns->nguid, sizeof(ns->nguid))) {
        data = add_descriptor(data, NV_NIDT_NGUID, ns->nguid, sizeof(ns->nguid));
    }
    if (is_set(ns->uuid, sizeof(ns->uuid))) {
        data = add_descriptor(data, NV_NIDT_UUID, ns->uuid, sizeof(ns->uuid));
    }
    add_descriptor(data, NV_NIDT_CSI, &csi, sizeof(csi));
    return NV_SC_SUCCESS;
}

static unsigned identify_csi(const struct lst_req *req)
{
    return req->sqe.cdw11 >> 24;
}

/*
 * The NVM command set adds nothing that we use: no extended formats, no limits beyond MDTS. Zoned
 * namespaces have that part too.
 */
static uint16_t identify_csi_ns(struct lst_req *req, uint8_t *data)
{
    uint16_t status;
    const struct lst_ns *ns = identify_ns_lookup(req, &status);

    if (ns && identify_csi(req) == NV_CSI_ZNS) {
        if (!ns->zones) {
            req->param_location = 47;
            return lst_no_retry(NV_SC_INVALID_FIELD);
        }
        lst_zone_identify_ns(ns, (struct nv_id_ns_zoned *)data);
    }
    return status;
}

static uint16_t identify_csi_ctrl(struct lst_req *req, uint8_t *data)
{
    if (identify_csi(req) == NV_CSI_ZNS) {
        ((struct nv_id_ctrl_zoned *)data)->zasl = LST_ZASL;
    }
    return NV_SC_SUCCESS;
}

/* One combination of command sets, number 0: all that there are. */
static uint16_t identify_command_sets(struct lst_req *req, uint8_t *data)
{
    uint16_t cntid = (uint16_t)(req->sqe.cdw10 >> 16);

    if (cntid != NV_CNTLID_DYNAMIC && cntid != req->queue->ctrl->cntlid) {
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    data[0] = 1 << NV_CSI_NVM | 1 << NV_CSI_ZNS;
    return NV_SC_SUCCESS;
}

static const struct identify {
    identify_fn fill;
    bool csi;                            /* CDW11 31:24 names a command set */
    bool discovery;
} identify_table[256] = {
    [NV_CNS_NS] = { identify_ns, false, false },
    [NV_CNS_CTRL] = { identify_ctrl, false, true },
    [NV_CNS_NS_LIST] = { lst_identify_active, false, false },
    [NV_CNS_NS_DESCS] = { identify_ns_descs, false, false },
    [NV_CNS_CSI_NS] = { identify_csi_ns, true, false },
    [NV_CNS_CSI_CTRL] = { identify_csi_ctrl, true, false },
    [NV_CNS_CSI_NS_LIST] = { lst_identify_active_csi, true, false },
    [NV_CNS_NS_INDEPENDENT] = { identify_ns_independent, false, false },
    [NV_CNS_ALLOCATED_NS_LIST] = { lst_identify_allocated, false, false },
    [NV_CNS_ALLOCATED_NS] = { identify_ns, false, false },
    [NV_CNS_NS_CTRL_LIST] = { lst_identify_ns_ctrls, false, false },
    [NV_CNS_CTRL_LIST] = { lst_identify_ctrls, false, false },
    [NV_CNS_ALLOCATED_CSI_NS_LIST] = { lst_identify_allocated_csi, true, false },
    [NV_CNS_ALLOCATED_CSI_NS] = { identify_csi_ns, true, false },
    [NV_CNS_COMMAND_SETS] = { identify_command_sets, false, false },
};

uint16_t lst_identify_length(struct lst_req *req, uint32_t *len)
{
    const struct identify *identify = &identify_table[req->sqe.cdw10 & 0xff];

    if (!identify->fill || (req->queue->ctrl->subsys->discovery && !identify->discovery)) {
        req->param_location = 40;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    if (identify->csi && identify_csi(req) != NV_CSI_NVM && identify_csi(req) != NV_CSI_ZNS) {
        req->param_location = 47;
        return lst_no_retry(NV_SC_INVALID_FIELD);
    }
    *len = NV_IDENTIFY_BYTES;
    return NV_SC_SUCCESS;
}

void lst_identify_run(struct lst_req *req)
{
    memset(req->data, 0, NV_IDENTIFY_BYTES);
    lst_req_complete(req, identify_table[req->sqe.cdw10 & 0xff].fill(req, req->data));
}
