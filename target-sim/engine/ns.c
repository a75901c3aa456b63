/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Namespaces: identity, media, visibility, and the life of a namespace that is removed under I/O.
 * Not here: commands on them (io.c), what Identify says (identify.c).
 * NVM Express Base 2.0, 2.1 and 4.5; attribute names as in Linux's nvmet configfs.
 */
#include "engine/ctrl.h"

#include <string.h>

void lst_ns_changed(struct lst_ns *ns)
{
    struct lst_target *target = ns->subsys->target;

    for (GList *node = target->ctrls.head; node; node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        if (ctrl->subsys == ns->subsys) {
            ctrl->changed_ns[ns->nsid / 32] |= 1u << ns->nsid % 32;
            lst_aer_notify(ctrl, LST_NOTICE_NS);
        }
    }
}

/*
 * The log's contents may differ though no state changed: a namespace came, went, or moved to
 * another group.
 */
static void ana_membership_changed(struct lst_ns *ns)
{
    struct lst_target *target = ns->subsys->target;

    for (unsigned i = 0; i < target->ports->len; i++) {
        struct lst_port *port = g_ptr_array_index(target->ports, i);

        port->ana_chgcnt++;
    }
    for (GList *node = target->ctrls.head; node; node = node->next) {
        struct lst_ctrl *ctrl = node->data;

        if (ctrl->subsys == ns->subsys) {
            lst_aer_notify(ctrl, LST_NOTICE_ANA);
        }
    }
}

struct lst_ns *lst_subsys_add_ns(struct lst_subsys *subsys, uint32_t nsid, GError **err)
{
    struct lst_ns *ns;

    if (nsid < 1 || nsid > LST_NSID_MAX) {
        g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "nsid: '%u' is not allowed: 1 to %d", nsid,
                    LST_NSID_MAX);
        return NULL;
    }
    if (subsys->ns[nsid]) {
        g_set_error(err, LST_ERROR, LST_ERROR_EXISTS, "nsid: '%u' is there already", nsid);
        return NULL;
    }
    ns = g_new0(struct lst_ns, 1);
    ns->subsys = subsys;
    ns->nsid = nsid;
    ns->ana_grpid = 1;
    lst_hash_bytes(subsys->nqn, nsid, ns->uuid, sizeof(ns->uuid));
    /* RFC 9562: version 8 (custom), variant 1. */
    ns->uuid[6] = (uint8_t)((ns->uuid[6] & 0x0f) | 0x80);
    ns->uuid[8] = (uint8_t)((ns->uuid[8] & 0x3f) | 0x80);
    memcpy(ns->nguid, ns->uuid, sizeof(ns->nguid));
    subsys->ns[nsid] = ns;
    return ns;
}

struct lst_ns *lst_subsys_find_ns(struct lst_subsys *subsys, uint32_t nsid)
{
    return nsid <= LST_NSID_MAX ? subsys->ns[nsid] : NULL;
}

struct lst_ns *lst_ns_lookup(const struct lst_subsys *subsys, uint32_t nsid)
{
    struct lst_ns *ns = nsid <= LST_NSID_MAX ? subsys->ns[nsid] : NULL;

    return ns && ns->enabled ? ns : NULL;
}

uint32_t lst_ns_id(const struct lst_ns *ns)
{
    return ns->nsid;
}

const char *lst_ns_nqn(const struct lst_ns *ns)
{
    return ns->subsys->nqn;
}

bool lst_ns_enabled(const struct lst_ns *ns)
{
    return ns->enabled;
}

void *lst_ns_backend(const struct lst_ns *ns)
{
    return ns->backend;
}

void lst_ns_ref(struct lst_ns *ns)
{
    ns->users++;
}

static void ns_free_if_unused(struct lst_ns *ns)
{
    if (!ns->removed || ns->users) {
        return;
    }
    zones_free(ns->zones);
    if (ns->done) {
        ns->done(ns->backend);
    }
    g_free(ns->resv);
    lst_extents_clear(&ns->uncorrectable);
    g_free(ns);
}

void lst_ns_unref(struct lst_ns *ns)
{
    g_assert(ns->users > 0);
    ns->users--;
    ns_free_if_unused(ns);
}

void lst_ns_drop(struct lst_ns *ns, void (*done)(void *backend))
{
    ns->subsys->ns[ns->nsid] = NULL;
    ns->subsys = NULL;
    ns->enabled = false;
    ns->removed = true;
    ns->done = done;
    ns_free_if_unused(ns);
}

void lst_subsys_remove_ns(struct lst_subsys *subsys, struct lst_ns *ns, void (*done)(void *backend))
{
    g_assert(ns->subsys == subsys);
    lst_ns_enable(ns, false, NULL);
    lst_ns_forget(ns);
    lst_ns_drop(ns, done);
}

bool lst_ns_attach(struct lst_ns *ns, void *backend, uint64_t size, uint32_t block_size,
                   GError **err)
{
    if (block_size != 512 && block_size != 4096) {
        g_set_error(err, LST_ERROR, LST_ERROR_VALUE, "block_size: '%u' is not allowed: 512 or 4096",
                    block_size);
        return false;
    }
    if (size == 0 || size % block_size != 0) {
        g_set_error(err, LST_ERROR, LST_ERROR_VALUE,
                    "size: '%" G_GUINT64_FORMAT
                    "' is not allowed: a multiple of the block size, %u, and not 0",
                    size, block_size);
        return false;
    }
    if (ns->enabled && block_size != 1u << ns->shift) {
        g_set_error(err, LST_ERROR, LST_ERROR_STATE,
                    "block_size: '%u' is not allowed: %u while the namespace is enabled",
                    block_size, 1u << ns->shift);
        return false;
    }
    if (ns->zones && (size != ns->blocks << ns->shift || block_size != 1u << ns->shift)) {
        g_set_error(err, LST_ERROR, LST_ERROR_STATE,
                    "size: '%" G_GUINT64_FORMAT "' is not allowed: a zoned namespace keeps %"
                    G_GUINT64_FORMAT " bytes in blocks of %u", size, ns->blocks << ns->shift,
                    1u << ns->shift);
        return false;
    }
    ns->backend = backend;
    ns->shift = block_size == 512 ? 9 : 12;
    ns->blocks = size >> ns->shift;
    lst_extents_truncate(&ns->uncorrectable, ns->blocks);
    ns->attached = true;
    if (ns->enabled) {
        lst_ns_changed(ns);
    }
    return true;
}

bool lst_ns_enable(struct lst_ns *ns, bool enable, GError **err)
{
    if (enable == ns->enabled) {
        return true;
    }
    if (enable && !ns->attached) {
        g_set_error(err, LST_ERROR, LST_ERROR_STATE,
                    "enable: '1' is not allowed: namespace %u has no media yet", ns->nsid);
        return false;
    }
    if (enable && !lst_ns_restore(ns, err)) {
        return false;
    }
    ns->enabled = enable;
    ana_membership_changed(ns);
    lst_ns_changed(ns);
    return true;
}

/* ---- Attributes */

static bool must_be_disabled(const struct lst_ns *ns, const char *key, const char *value,
                             GError **err)
{
    if (!ns->enabled) {
        return true;
    }
    g_set_error(err, LST_ERROR, LST_ERROR_STATE, "%s: '%s' is not allowed: namespace %u is enabled",
                key, value, ns->nsid);
    return false;
}

static char *uuid_text(const uint8_t *b)
{
    return g_strdup_printf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                           b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                           b[12], b[13], b[14], b[15]);
}

static bool set_uuid(void *object, const char *key, const char *value, GError **err)
{
    static const char allowed[] = "a UUID: xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    struct lst_ns *ns = object;

    if (strlen(value) != 36) {
        return lst_bad_value(err, key, value, allowed);
    }
    return must_be_disabled(ns, key, value, err) &&
           lst_parse_hex(key, value, ns->uuid, 16, allowed, err);
}

static char *get_uuid(const void *object)
{
    return uuid_text(((const struct lst_ns *)object)->uuid);
}

static bool set_nguid(void *object, const char *key, const char *value, GError **err)
{
    struct lst_ns *ns = object;

    return must_be_disabled(ns, key, value, err) &&
           lst_parse_hex(key, value, ns->nguid, 16, "32 hex digits, or in the form of a UUID", err);
}

static char *get_nguid(const void *object)
{
    return uuid_text(((const struct lst_ns *)object)->nguid);
}

static bool set_eui64(void *object, const char *key, const char *value, GError **err)
{
    struct lst_ns *ns = object;

    return must_be_disabled(ns, key, value, err) &&
           lst_parse_hex(key, value, ns->eui64, 8, "16 hex digits", err);
}

static char *get_eui64(const void *object)
{
    const uint8_t *b = ((const struct lst_ns *)object)->eui64;

    return g_strdup_printf("%02x%02x%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5],
                           b[6], b[7]);
}

static bool set_ana_grpid(void *object, const char *key, const char *value, GError **err)
{
    struct lst_ns *ns = object;
    uint32_t grpid;

    if (!lst_parse_uint(key, value, 1, LST_ANA_GROUPS_MAX, &grpid, err)) {
        return false;
    }
    if (grpid != ns->ana_grpid) {
        ns->ana_grpid = grpid;
        if (ns->enabled) {
            ana_membership_changed(ns);
            lst_ns_changed(ns);
        }
    }
    return true;
}

static char *get_ana_grpid(const void *object)
{
    return g_strdup_printf("%u", ((const struct lst_ns *)object)->ana_grpid);
}

static bool set_resv_enable(void *object, const char *key, const char *value, GError **err)
{
    struct lst_ns *ns = object;
    bool enable;

    if (!lst_parse_bool(key, value, &enable, err) || !must_be_disabled(ns, key, value, err)) {
        return false;
    }
    if (enable != lst_resv_enabled(ns->resv)) {
        lst_resv_set_enabled(ns, enable, ns->subsys->target->ops.ns_keep);
        /* When it begins, something may be kept that is still to be restored. */
        if (!enable) {
            lst_ns_keep(ns);
        }
    }
    return true;
}

static char *get_resv_enable(const void *object)
{
    return g_strdup(lst_resv_enabled(((const struct lst_ns *)object)->resv) ? "1" : "0");
}

static bool set_enable(void *object, const char *key, const char *value, GError **err)
{
    bool enable;

    return lst_parse_bool(key, value, &enable, err) && lst_ns_enable(object, enable, err);
}

static char *get_enable(const void *object)
{
    return g_strdup(((const struct lst_ns *)object)->enabled ? "1" : "0");
}

static const struct lst_attr ns_attrs[] = {
    { "device_uuid", set_uuid, get_uuid },
    { "device_nguid", set_nguid, get_nguid },
    { "device_eui64", set_eui64, get_eui64 },
    { "ana_grpid", set_ana_grpid, get_ana_grpid },
    { "resv_enable", set_resv_enable, get_resv_enable },
    { "enable", set_enable, get_enable },
};

bool lst_ns_set(struct lst_ns *ns, const char *key, const char *value, GError **err)
{
    return lst_attr_set(ns_attrs, G_N_ELEMENTS(ns_attrs), ns, key, value, err);
}

char *lst_ns_get(const struct lst_ns *ns, const char *key, GError **err)
{
    return lst_attr_get(ns_attrs, G_N_ELEMENTS(ns_attrs), ns, key, err);
}

const char *lst_ns_key(unsigned index)
{
    return index < G_N_ELEMENTS(ns_attrs) ? ns_attrs[index].key : NULL;
}
