/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asymmetric namespace access: the log page, and what a group's state means for a command.
 * Not here: setting states (port.c).
 * NVM Express Base 2.0, 8.1 and 5.16.1.13.
 */
#include "engine/ctrl.h"

uint16_t lst_ana_status(const struct lst_ctrl *ctrl, const struct lst_ns *ns)
{
    switch (ctrl->port->ana[ns->ana_grpid]) {
    case NV_ANA_INACCESSIBLE:
        return NV_SC_ANA_INACCESSIBLE;
    case NV_ANA_PERSISTENT_LOSS:
        return NV_SC_ANA_PERSISTENT_LOSS;
    case NV_ANA_CHANGE:
        return NV_SC_ANA_TRANSITION;
    default:
        return NV_SC_SUCCESS;
    }
}

static void add_group(GByteArray *log, const struct lst_port *port, const GArray *nsids,
                      uint32_t grpid, bool groups_only)
{
    struct nv_log_ana_group group = {
        .grpid = grpid,
        .nnsids = groups_only ? 0 : nsids->len,
        .chgcnt = port->ana_chgcnt,
        .state = port->ana[grpid],
    };

    g_byte_array_append(log, (const guint8 *)&group, sizeof(group));
    if (!groups_only) {
        g_byte_array_append(log, (const guint8 *)nsids->data, nsids->len * (guint)sizeof(uint32_t));
    }
}

void lst_ana_log(struct lst_ctrl *ctrl, GByteArray *log, bool groups_only)
{
    struct nv_log_ana_header header = { .chgcnt = ctrl->port->ana_chgcnt };
    GArray *members[LST_ANA_GROUPS_MAX + 1] = { NULL };

    for (uint32_t nsid = 1; nsid <= LST_NSID_MAX; nsid++) {
        const struct lst_ns *ns = lst_ns_lookup(ctrl->subsys, nsid);

        if (!ns) {
            continue;
        }
        if (!members[ns->ana_grpid]) {
            members[ns->ana_grpid] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            header.ngrps++;
        }
        g_array_append_val(members[ns->ana_grpid], nsid);
    }
    g_byte_array_append(log, (const guint8 *)&header, sizeof(header));
    for (uint32_t grpid = 1; grpid <= LST_ANA_GROUPS_MAX; grpid++) {
        if (members[grpid]) {
            add_group(log, ctrl->port, members[grpid], grpid, groups_only);
            g_array_free(members[grpid], TRUE);
        }
    }
}
