/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ports/N/referrals/: other discovery services that ours lists. Only the enabled ones are the
 * engine's.
 * Not here: ports (tree_port.c), paths (tree.c). Names as in Linux' nvmet configfs.
 */
#include "daemon/tree_internal.h"

#include <string.h>

#include "daemon/setup.h"

/* Values with one choice only: what a saved configuration has, too. */
static const struct {
    const char *key, *value;
} fixed[] = {{"addr_trtype", "tcp"}, {"addr_treq", "not specified"}, {"addr_tsas", "none"}};

static bool set_fixed(Node *node G_GNUC_UNUSED, const char *key, const char *value, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++) {
        if (!strcmp(fixed[i].key, key) && strcmp(fixed[i].value, value)) {
            return tree_refuse(error, key, value, fixed[i].value);
        }
    }
    return true;
}

static char *get_trtype(const Node *node G_GNUC_UNUSED) { return g_strdup(fixed[0].value); }
static char *get_treq(const Node *node G_GNUC_UNUSED) { return g_strdup(fixed[1].value); }
static char *get_tsas(const Node *node G_GNUC_UNUSED) { return g_strdup(fixed[2].value); }

static bool is_disabled(const Node *node, const char *key, const char *value, GError **error)
{
    return !node->referral->enable || tree_refuse(error, key, value, "only while enable is 0");
}

static bool set_referral_adrfam(Node *node, const char *key, const char *value, GError **error)
{
    return is_disabled(node, key, value, error) &&
           tree_set_name(config_adrfams, &node->referral->adrfam, key, value, error);
}

static char *get_referral_adrfam(const Node *node)
{
    return g_strdup(parse_name_of(config_adrfams, node->referral->adrfam));
}

static bool set_referral_traddr(Node *node, const char *key, const char *value, GError **error)
{
    if (!is_disabled(node, key, value, error) || !tree_check_address(key, value, error)) {
        return false;
    }
    tree_replace(&node->referral->traddr, value);
    return true;
}

static char *get_referral_traddr(const Node *node)
{
    return g_strdup(node->referral->traddr);
}

static bool set_referral_trsvcid(Node *node, const char *key, const char *value, GError **error)
{
    return is_disabled(node, key, value, error) &&
           tree_parse_id(key, value, 1, UINT16_MAX, &node->referral->trsvcid, error);
}

static char *get_referral_trsvcid(const Node *node)
{
    return g_strdup_printf("%u", node->referral->trsvcid);
}

static bool set_referral_portid(Node *node, const char *key, const char *value, GError **error)
{
    return is_disabled(node, key, value, error) &&
           tree_parse_id(key, value, 0, UINT16_MAX, &node->referral->portid, error);
}

static char *get_referral_portid(const Node *node)
{
    return g_strdup_printf("%u", node->referral->portid);
}

static bool set_referral_enable(Node *node, const char *key, const char *value, GError **error)
{
    ConfigReferral *referral = node->referral;
    bool enable;

    if (!tree_parse_bool(key, value, &enable, error)) {
        return false;
    }
    if (enable == referral->enable) {
        return true;
    }
    if (enable ? !tree_check_family(referral->adrfam, referral->traddr, error) ||
                     !setup_add_referral(tree_port(node), referral, error)
               : !lst_port_remove_referral(tree_port(node), referral->name, error)) {
        return false;
    }
    referral->enable = enable;
    return true;
}

static char *get_referral_enable(const Node *node)
{
    return g_strdup(node->referral->enable ? "1" : "0");
}

static const NodeAttr referral_attrs[] = {
    {"addr_trtype", set_fixed, get_trtype, true},
    {"addr_adrfam", set_referral_adrfam, get_referral_adrfam, true},
    {"addr_traddr", set_referral_traddr, get_referral_traddr, true},
    {"addr_trsvcid", set_referral_trsvcid, get_referral_trsvcid, true},
    {"addr_portid", set_referral_portid, get_referral_portid, true},
    {"addr_treq", set_fixed, get_treq, true},
    {"addr_tsas", set_fixed, get_tsas, true},
    {"enable", set_referral_enable, get_referral_enable, true},
    {NULL, NULL, NULL, false},
};
static const NodeKind referral_kind = {
    .what = "referral", .attrs = referral_attrs, .id = "name",
};

static guint referrals_count(const Node *node)
{
    return node->port->referrals->len;
}

static char *referrals_name(const Node *node, guint index)
{
    return g_strdup(((ConfigReferral *)node->port->referrals->pdata[index])->name);
}

static void referrals_enter(Node *node, guint index)
{
    node->referral = node->port->referrals->pdata[index];
}

static bool referrals_add(Node *node, const char *name, GError **error)
{
    ConfigReferral *referral;

    if (strlen(name) > CONFIG_TRADDR_MAX || referrals_count(node) >= LST_REFERRALS_MAX) {
        return tree_refuse(error, "referrals", name,
                           "names of up to 255 bytes, and 64 referrals at most");
    }
    referral = config_referral_new();
    referral->name = g_strdup(name);
    referral->traddr = g_strdup("127.0.0.1");
    referral->enable = 0;
    g_ptr_array_add(node->port->referrals, referral);
    return true;
}

static bool referrals_remove(Node *node, guint index, GError **error)
{
    referrals_enter(node, index);
    if (node->referral->enable &&
        !lst_port_remove_referral(tree_port(node), node->referral->name, error)) {
        return false;
    }
    g_ptr_array_remove_index(node->port->referrals, index);
    return true;
}

const NodeKind tree_referrals = {
    .what = "list of referrals",
    .element = &referral_kind,
    .count = referrals_count,
    .name = referrals_name,
    .enter = referrals_enter,
    .add = referrals_add,
    .remove = referrals_remove,
};
