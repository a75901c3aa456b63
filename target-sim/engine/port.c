/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports: addresses as discovery shows them, the subsystems behind them, ANA states, referrals.
 * Not here: listening sockets (the front), the discovery log itself (discovery.c).
 * NVM Express Base 2.0, 2.4 (ports), 8.1 (ANA); attribute names as in Linux's nvmet configfs.
 */
#include "engine/ctrl.h"

#include <string.h>

#include "lockstep/nvme_tcp.h"

static const char *const adrfam_names[] = { "ipv4", "ipv6", NULL };
static const char *const treq_names[] = { "not specified", "required", "not required", NULL };
static const char *const ana_names[] = {
    "optimized", "non-optimized", "inaccessible", "persistent-loss", "change", NULL,
};
static const uint8_t ana_states[] = {
    NV_ANA_OPTIMIZED,       NV_ANA_NONOPTIMIZED, NV_ANA_INACCESSIBLE,
    NV_ANA_PERSISTENT_LOSS, NV_ANA_CHANGE,
};

static void referral_free(void *data)
{
    struct lst_referral *referral = data;

    g_free(referral->name);
    g_free(referral->traddr);
    g_free(referral->trsvcid);
    g_free(referral);
}

struct lst_port *lst_target_add_port(struct lst_target *target, uint32_t portid, GError **err)
{
    struct lst_port *port;

    if (portid > 0xffff) {
        g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "portid: '%u' is not allowed: 0 to 65535",
                    portid);
        return NULL;
    }
    if (lst_target_find_port(target, portid)) {
        g_set_error(err, LST_ERROR, LST_ERROR_EXISTS, "portid: '%u' is there already", portid);
        return NULL;
    }
    if (target->ports->len >= LST_PORTS_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_LIMIT,
                    "portid: '%u' is one too many: %d ports at most", portid, LST_PORTS_MAX);
        return NULL;
    }
    port = g_new0(struct lst_port, 1);
    port->target = target;
    port->portid = portid;
    port->adrfam = NVF_ADRFAM_IPV4;
    port->traddr = g_strdup("127.0.0.1");
    port->trsvcid = g_strdup("4420");
    port->inline_size = LST_INLINE_DEFAULT;
    port->queue_size = LST_QUEUE_SIZE_DEFAULT;
    port->maxh2cdata = LST_MAXH2CDATA_DEFAULT;
    port->max_r2t = LST_R2TS_DEFAULT;
    port->r2t_size = LST_R2T_SIZE_DEFAULT;
    port->subsystems = g_ptr_array_new();
    port->referrals = g_ptr_array_new_with_free_func(referral_free);
    memset(port->ana, NV_ANA_OPTIMIZED, sizeof(port->ana));
    g_ptr_array_add(target->ports, port);
    return port;
}

struct lst_port *lst_target_find_port(struct lst_target *target, uint32_t portid)
{
    for (unsigned i = 0; i < target->ports->len; i++) {
        struct lst_port *port = g_ptr_array_index(target->ports, i);

        if (port->portid == portid) {
            return port;
        }
    }
    return NULL;
}

void lst_port_free(struct lst_port *port)
{
    port->target->links -= port->subsystems->len;
    g_ptr_array_free(port->subsystems, TRUE);
    g_ptr_array_free(port->referrals, TRUE);
    g_free(port->traddr);
    g_free(port->trsvcid);
    g_free(port);
}

uint32_t lst_port_id(const struct lst_port *port)
{
    return port->portid;
}

/* ---- Attributes */

static bool set_trtype(void *object, const char *key, const char *value, GError **err)
{
    static const char *const names[] = { "tcp", NULL };
    unsigned which;

    (void)object;
    return lst_parse_choice(key, value, names, &which, err);
}

static char *get_trtype(const void *object)
{
    (void)object;
    return g_strdup("tcp");
}

static bool set_adrfam(void *object, const char *key, const char *value, GError **err)
{
    struct lst_port *port = object;
    unsigned which;

    if (!lst_parse_choice(key, value, adrfam_names, &which, err)) {
        return false;
    }
    port->adrfam = (uint8_t)(which + NVF_ADRFAM_IPV4);
    lst_discovery_changed(port->target);
    return true;
}

static char *get_adrfam(const void *object)
{
    return g_strdup(adrfam_names[((const struct lst_port *)object)->adrfam - NVF_ADRFAM_IPV4]);
}

static bool set_traddr(void *object, const char *key, const char *value, GError **err)
{
    struct lst_port *port = object;

    if (!lst_parse_ascii(key, value, 255, &port->traddr, err)) {
        return false;
    }
    lst_discovery_changed(port->target);
    return true;
}

static char *get_traddr(const void *object)
{
    return g_strdup(((const struct lst_port *)object)->traddr);
}

static bool set_trsvcid(void *object, const char *key, const char *value, GError **err)
{
    struct lst_port *port = object;
    uint32_t number;

    if (!lst_parse_uint(key, value, 1, 65535, &number, err)) {
        return false;
    }
    g_free(port->trsvcid);
    port->trsvcid = g_strdup_printf("%u", number);
    lst_discovery_changed(port->target);
    return true;
}

static char *get_trsvcid(const void *object)
{
    return g_strdup(((const struct lst_port *)object)->trsvcid);
}

static bool set_treq(void *object, const char *key, const char *value, GError **err)
{
    struct lst_port *port = object;
    unsigned which;

    if (!lst_parse_choice(key, value, treq_names, &which, err)) {
        return false;
    }
    port->treq = (uint8_t)which;
    lst_discovery_changed(port->target);
    return true;
}

static char *get_treq(const void *object)
{
    return g_strdup(treq_names[((const struct lst_port *)object)->treq]);
}

static bool set_tsas(void *object, const char *key, const char *value, GError **err)
{
    static const char *const names[] = { "none", NULL };
    unsigned which;

    (void)object;
    return lst_parse_choice(key, value, names, &which, err);
}

static char *get_tsas(const void *object)
{
    (void)object;
    return g_strdup("none");
}

static bool set_inline_size(void *object, const char *key, const char *value, GError **err)
{
    struct lst_port *port = object;
    uint32_t size;

    if (!lst_parse_uint(key, value, 0, LST_INLINE_MAX, &size, err)) {
        return false;
    }
    if (size % 16) {
        return lst_bad_value(err, key, value, "a multiple of 16");
    }
    port->inline_size = size;
    return true;
}

static char *get_inline_size(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_port *)object)->inline_size);
}

static bool set_queue_size(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_queue_size(key, value, LST_QUEUE_SIZE_DEFAULT,
                                &((struct lst_port *)object)->queue_size, err);
}

static char *get_queue_size(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_port *)object)->queue_size);
}

static bool set_cpda(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_uint(key, value, 0, NVTCP_PDA_MAX, &((struct lst_port *)object)->cpda, err);
}

static char *get_cpda(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_port *)object)->cpda);
}

/* A number of bytes in whole dwords. */
static bool set_dwords(const char *key, const char *value, uint32_t min, uint32_t *bytes,
                       GError **err)
{
    uint32_t number;

    if (!lst_parse_uint(key, value, min, LST_TRANSFER_MAX, &number, err)) {
        return false;
    }
    if (number % 4) {
        return lst_bad_value(err, key, value, "a multiple of 4");
    }
    *bytes = number;
    return true;
}

static bool set_maxh2cdata(void *object, const char *key, const char *value, GError **err)
{
    return set_dwords(key, value, NVTCP_MAXH2CDATA_MIN, &((struct lst_port *)object)->maxh2cdata,
                      err);
}

static char *get_maxh2cdata(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_port *)object)->maxh2cdata);
}

static bool set_r2t_size(void *object, const char *key, const char *value, GError **err)
{
    return set_dwords(key, value, LST_R2T_SIZE_MIN, &((struct lst_port *)object)->r2t_size, err);
}

static char *get_r2t_size(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_port *)object)->r2t_size);
}

static bool set_max_r2t(void *object, const char *key, const char *value, GError **err)
{
    return lst_parse_uint(key, value, 1, LST_R2TS_MAX, &((struct lst_port *)object)->max_r2t, err);
}

static char *get_max_r2t(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_port *)object)->max_r2t);
}

static const struct lst_attr port_attrs[] = {
    { "addr_trtype", set_trtype, get_trtype },
    { "addr_adrfam", set_adrfam, get_adrfam },
    { "addr_traddr", set_traddr, get_traddr },
    { "addr_trsvcid", set_trsvcid, get_trsvcid },
    { "addr_treq", set_treq, get_treq },
    { "addr_tsas", set_tsas, get_tsas },
    { "param_inline_data_size", set_inline_size, get_inline_size },
    { "param_max_queue_size", set_queue_size, get_queue_size },
    { "param_pi_enable", lst_attr_set_zero, lst_attr_get_zero },
    { "tcp_cpda", set_cpda, get_cpda },
    { "tcp_maxh2cdata", set_maxh2cdata, get_maxh2cdata },
    { "tcp_max_r2t", set_max_r2t, get_max_r2t },
    { "tcp_r2t_size", set_r2t_size, get_r2t_size },
};

bool lst_port_set(struct lst_port *port, const char *key, const char *value, GError **err)
{
    return lst_attr_set(port_attrs, G_N_ELEMENTS(port_attrs), port, key, value, err);
}

char *lst_port_get(const struct lst_port *port, const char *key, GError **err)
{
    return lst_attr_get(port_attrs, G_N_ELEMENTS(port_attrs), port, key, err);
}

const char *lst_port_key(unsigned index)
{
    return index < G_N_ELEMENTS(port_attrs) ? port_attrs[index].key : NULL;
}

/* ---- Subsystems behind the port */

bool lst_port_has(const struct lst_port *port, const struct lst_subsys *subsys)
{
    return subsys->discovery || g_ptr_array_find(port->subsystems, subsys, NULL);
}

bool lst_port_add_subsys(struct lst_port *port, struct lst_subsys *subsys, GError **err)
{
    if (lst_port_has(port, subsys)) {
        g_set_error(err, LST_ERROR, LST_ERROR_EXISTS, "subsystems: '%s' is on port %u already",
                    subsys->nqn, port->portid);
        return false;
    }
    if (port->target->links >= LST_LINKS_MAX) {
        g_set_error(
            err, LST_ERROR, LST_ERROR_LIMIT,
            "subsystems: '%s' on port %u is one too many: the discovery log has %d entries at most",
            subsys->nqn, port->portid, LST_LINKS_MAX);
        return false;
    }
    port->target->links++;
    g_ptr_array_add(port->subsystems, subsys);
    lst_discovery_changed(port->target);
    return true;
}

struct link_key {
    const struct lst_port *port;
    const struct lst_subsys *subsys;     /* NULL: any */
};

static bool ctrl_on_link(const struct lst_ctrl *ctrl, const void *key)
{
    const struct link_key *link = key;

    return ctrl->port == link->port && (!link->subsys || ctrl->subsys == link->subsys);
}

bool lst_port_remove_subsys(struct lst_port *port, struct lst_subsys *subsys, GError **err)
{
    struct link_key key = { port, subsys };

    if (!g_ptr_array_remove(port->subsystems, subsys)) {
        return lst_bad_value(err, "subsystems", subsys->nqn, "a subsystem of this port");
    }
    port->target->links--;
    lst_ctrls_drop(port->target, ctrl_on_link, &key);
    lst_discovery_changed(port->target);
    return true;
}

struct lst_subsys *lst_port_subsys(const struct lst_port *port, unsigned index)
{
    return index < port->subsystems->len ? g_ptr_array_index(port->subsystems, index) : NULL;
}

/* ---- ANA */

bool lst_port_set_ana_state(struct lst_port *port, uint32_t grpid, const char *state, GError **err)
{
    unsigned which;

    if (grpid < 1 || grpid > LST_ANA_GROUPS_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "grpid: '%u' is not allowed: 1 to %d", grpid,
                    LST_ANA_GROUPS_MAX);
        return false;
    }
    if (!lst_parse_choice("ana_state", state, ana_names, &which, err)) {
        return false;
    }
    if (port->ana[grpid] == ana_states[which]) {
        return true;
    }
    port->ana[grpid] = ana_states[which];
    port->ana_chgcnt++;
    for (GList *node = port->target->ctrls.head; node; node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        if (ctrl->port == port && !ctrl->subsys->discovery) {
            lst_aer_notify(ctrl, LST_NOTICE_ANA);
        }
    }
    return true;
}

const char *lst_port_ana_state(const struct lst_port *port, uint32_t grpid)
{
    g_assert(grpid >= 1 && grpid <= LST_ANA_GROUPS_MAX);
    for (unsigned i = 0; i < G_N_ELEMENTS(ana_states); i++) {
        if (ana_states[i] == port->ana[grpid]) {
            return ana_names[i];
        }
    }
    g_assert_not_reached();
}

/* ---- Referrals */

static struct lst_referral *referral_find(const struct lst_port *port, const char *name)
{
    for (unsigned i = 0; i < port->referrals->len; i++) {
        struct lst_referral *referral = g_ptr_array_index(port->referrals, i);

        if (!strcmp(referral->name, name)) {
            return referral;
        }
    }
    return NULL;
}

bool lst_port_add_referral(struct lst_port *port, const char *name, const char *adrfam,
                           const char *traddr, const char *trsvcid, uint32_t portid, GError **err)
{
    struct lst_referral *referral;
    unsigned family;
    uint32_t service;

    if (!lst_parse_choice("adrfam", adrfam, adrfam_names, &family, err) ||
        !lst_parse_uint("trsvcid", trsvcid, 1, 65535, &service, err)) {
        return false;
    }
    if (portid > 0xffff) {
        g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "portid: '%u' is not allowed: 0 to 65535",
                    portid);
        return false;
    }
    if (referral_find(port, name)) {
        g_set_error(err, LST_ERROR, LST_ERROR_EXISTS, "referral: '%s' is there already", name);
        return false;
    }
    if (port->referrals->len >= LST_REFERRALS_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_LIMIT, "referral: '%s' is one too many: %d at most",
                    name, LST_REFERRALS_MAX);
        return false;
    }
    referral = g_new0(struct lst_referral, 1);
    if (!lst_parse_ascii("traddr", traddr, 255, &referral->traddr, err)) {
        referral_free(referral);
        return false;
    }
    referral->name = g_strdup(name);
    referral->adrfam = (uint8_t)(family + NVF_ADRFAM_IPV4);
    referral->trsvcid = g_strdup_printf("%u", service);
    referral->portid = portid;
    g_ptr_array_add(port->referrals, referral);
    lst_discovery_changed(port->target);
    return true;
}

bool lst_port_remove_referral(struct lst_port *port, const char *name, GError **err)
{
    struct lst_referral *referral = referral_find(port, name);

    if (!referral) {
        return lst_bad_value(err, "referral", name, "a referral of this port");
    }
    g_ptr_array_remove(port->referrals, referral);
    lst_discovery_changed(port->target);
    return true;
}
