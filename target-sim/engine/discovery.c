/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The discovery log page: what this host may see, as one snapshot per generation.
 * Not here: Get Log Page itself (logpage.c), keep-alive of discovery controllers (keepalive.c).
 * NVM Express Base 2.0, 5.16.1.23 and 3.1.2.3.
 */
#include "engine/ctrl.h"

#include <string.h>

/* The host is told the address that it knows us by where the configuration says "any". */
static const char *visible_traddr(const struct lst_ctrl *ctrl, const struct lst_port *port)
{
    bool any = !strcmp(port->traddr, "0.0.0.0") || !strcmp(port->traddr, "::");

    return any && ctrl->local_addr[0] ? ctrl->local_addr : port->traddr;
}

/* Where entries go, and in which form. */
struct log {
    GByteArray *bytes;
    unsigned lsp;                        /* enum nvf_lsp_discovery */
    uint64_t count;
};

/* @template has what differs from entry to entry, but for texts. */
static void add_entry(struct log *log, const struct nvf_discovery_entry *template,
                      const char *subnqn, const char *traddr, const char *trsvcid)
{
    /* An extended entry without attributes: we have none to tell. */
    static const struct nvf_discovery_extension extension = {
        .tel = sizeof(struct nvf_discovery_entry) + sizeof(struct nvf_discovery_extension),
    };
    struct nvf_discovery_entry entry = *template;

    entry.trtype = NVF_TRTYPE_TCP;
    entry.asqsz = LST_ADMIN_QUEUE_SIZE;
    memcpy(entry.subnqn, subnqn, strlen(subnqn));
    memcpy(entry.traddr, traddr, strlen(traddr));
    /* Text fields that are not NQNs are padded with spaces. */
    memset(entry.traddr + strlen(traddr), ' ', sizeof(entry.traddr) - strlen(traddr));
    memset(entry.trsvcid, ' ', sizeof(entry.trsvcid));
    memcpy(entry.trsvcid, trsvcid, strlen(trsvcid));
    entry.tsas[0] = NVF_TSAS_TCP_NO_SECURITY;
    g_byte_array_append(log->bytes, (const guint8 *)&entry, sizeof(entry));
    if (log->lsp & NVF_LSP_EXTDLPE) {
        g_byte_array_append(log->bytes, (const guint8 *)&extension, sizeof(extension));
    }
    log->count++;
}

static void add_port_entry(struct log *log, const struct lst_ctrl *ctrl,
                           const struct lst_port *port, const struct lst_subsys *subsys)
{
    struct nvf_discovery_entry entry = {
        .adrfam = port->adrfam,
        .subtype = subsys->discovery ? NVF_SUBTYPE_SELF : NVF_SUBTYPE_NVME,
        .treq = port->treq | NVF_TREQ_NO_SQ_FLOW_CONTROL,
        .portid = (uint16_t)port->portid,
        .cntlid = subsys->static_ctrls ? NV_CNTLID_STATIC : NV_CNTLID_DYNAMIC,
        .eflags = subsys->discovery ? NVF_EFLAG_EPCSD | NVF_EFLAG_DUPRETINFO : 0,
    };

    add_entry(log, &entry, subsys->nqn, visible_traddr(ctrl, port), port->trsvcid);
}

static void add_referrals(struct log *log, const struct lst_port *port)
{
    for (unsigned i = 0; i < port->referrals->len; i++) {
        const struct lst_referral *referral = g_ptr_array_index(port->referrals, i);
        struct nvf_discovery_entry entry = {
            .adrfam = referral->adrfam,
            .subtype = NVF_SUBTYPE_REFERRAL,
            .treq = NVF_TREQ_UNSPECIFIED,
            .portid = (uint16_t)referral->portid,
            .cntlid = NV_CNTLID_DYNAMIC,
        };

        add_entry(log, &entry, NVF_DISCOVERY_NQN, referral->traddr, referral->trsvcid);
    }
}

static void add_port(struct log *log, const struct lst_ctrl *ctrl, const struct lst_port *port)
{
    for (unsigned i = 0; i < port->subsystems->len; i++) {
        const struct lst_subsys *subsys = g_ptr_array_index(port->subsystems, i);

        if (lst_subsys_host_allowed(subsys, ctrl->hostnqn)) {
            add_port_entry(log, ctrl, port, subsys);
        }
    }
    add_referrals(log, port);
}

void lst_discovery_snapshot(struct lst_ctrl *ctrl, unsigned lsp)
{
    struct lst_target *target = ctrl->target;
    struct nvf_discovery_header header = { .genctr = target->genctr };
    struct log log = { .bytes = ctrl->discovery_log, .lsp = lsp };

    if (log.bytes && ctrl->discovery_lsp == lsp &&
        ((const struct nvf_discovery_header *)log.bytes->data)->genctr == target->genctr) {
        return;
    }
    if (!log.bytes) {
        log.bytes = g_byte_array_new();
        ctrl->discovery_log = log.bytes;
    }
    ctrl->discovery_lsp = lsp;
    g_byte_array_set_size(log.bytes, 0);
    g_byte_array_append(log.bytes, (const guint8 *)&header, sizeof(header));
    add_port_entry(&log, ctrl, ctrl->port, ctrl->subsys);
    for (unsigned i = 0; i < target->ports->len; i++) {
        const struct lst_port *port = g_ptr_array_index(target->ports, i);

        if (!(lsp & NVF_LSP_PLEO) || port == ctrl->port) {
            add_port(&log, ctrl, port);
        }
    }
    ((struct nvf_discovery_header *)log.bytes->data)->numrec = log.count;
}

void lst_discovery_changed(struct lst_target *target)
{
    target->genctr++;
    for (GList *node = target->ctrls.head; node; node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        if (ctrl->subsys->discovery) {
            lst_aer_notify(ctrl, LST_NOTICE_DISCOVERY);
        }
    }
}
