/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that need more than one value of the configuration, and identifiers
 * that are derived when they are left out. Not here: ranges of single values.
 * NVMe base: NQNs, CNTLID; RFC 9562: name-based UUIDs (version 5).
 */
#include "daemon/config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#define DISCOVERY_NQN "nqn.2014-08.org.nvmexpress.discovery"

/* Where a message points to: the file, the line of the object, the key's path. */
typedef struct Place {
    const Config *config;
    unsigned line;
    char path[128];
    GError **error;
} Place;

static bool fail(const Place *place, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(const Place *place, const char *format, ...)
{
    g_autofree char *where = config_place(place->config, place->line, place->path);
    g_autofree char *what = NULL;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(place->error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s: %s", where, what);
    return false;
}

static Place at(const Config *config, unsigned line, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static Place at(const Config *config, unsigned line, GError **error, const char *format, ...)
{
    Place place = {.config = config, .line = line, .error = error};
    va_list args;

    va_start(args, format);
    g_vsnprintf(place.path, sizeof(place.path), format, args);
    va_end(args);
    return place;
}

bool config_address_valid(unsigned adrfam, const char *text)
{
    uint8_t address[sizeof(struct in6_addr)];

    return inet_pton(adrfam == CONFIG_ADRFAM_IPV6 ? AF_INET6 : AF_INET, text, address) == 1;
}

static bool check_address(Place place, unsigned adrfam, const char *text)
{
    if (!config_address_valid(adrfam, text)) {
        return fail(&place, "wrong value \"%s\"; allowed: a numeric %s address", text,
                    adrfam == CONFIG_ADRFAM_IPV6 ? "IPv6" : "IPv4");
    }
    return true;
}

static bool check_ana_groups(const Config *config, guint index, GError **error)
{
    const ConfigPort *port = config->ports->pdata[index];
    bool seen[LST_ANA_GROUPS_MAX + 1] = {false};

    for (guint i = 0; i < port->ana_groups->len; i++) {
        const ConfigAnaGroup *group = port->ana_groups->pdata[i];

        if (seen[group->grpid]) {
            Place place =
                at(config, group->line, error, "ports[%u].ana_groups[%u].grpid", index, i);

            return fail(&place, "group %u is given twice; allowed: once per port", group->grpid);
        }
        seen[group->grpid] = true;
    }
    return true;
}

static bool check_port_subsystems(const Config *config, guint index, GError **error)
{
    const ConfigPort *port = config->ports->pdata[index];
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < port->subsystems->len; i++) {
        char *nqn = port->subsystems->pdata[i];
        Place place = at(config, port->line, error, "ports[%u].subsystems[%u]", index, i);

        if (!config_find_subsystem(config, nqn)) {
            return fail(&place, "wrong value \"%s\"; allowed: the nqn of one of the subsystems",
                        nqn);
        }
        if (!g_hash_table_add(seen, nqn)) {
            return fail(&place, "\"%s\" is given twice; allowed: once per port", nqn);
        }
    }
    return true;
}

static bool check_referrals(const Config *config, guint index, GError **error)
{
    const ConfigPort *port = config->ports->pdata[index];

    for (guint i = 0; i < port->referrals->len; i++) {
        const ConfigReferral *referral = port->referrals->pdata[i];
        Place place = at(config, referral->line, error, "ports[%u].referrals[%u].addr.traddr",
                         index, i);

        if (!check_address(place, referral->adrfam, referral->traddr)) {
            return false;
        }
    }
    return true;
}

/* Two ports on one address: the kernel would only say "in use" at bind. */
static bool check_listen_address(const Config *config, guint index, GError **error)
{
    const ConfigPort *port = config->ports->pdata[index];

    for (guint i = 0; i < index && port->trsvcid; i++) {
        const ConfigPort *other = config->ports->pdata[i];

        if (other->trsvcid == port->trsvcid && !strcmp(other->traddr, port->traddr)) {
            Place place = at(config, port->line, error, "ports[%u].addr.trsvcid", index);
            return fail(&place, "address %s port %u is that of ports[%u] as well; allowed: "
                        "a port of its own, or 0 for any free one", port->traddr, port->trsvcid, i);
        }
    }
    return true;
}

static bool check_port(const Config *config, guint index, bool *seen, GError **error)
{
    const ConfigPort *port = config->ports->pdata[index];
    Place id = at(config, port->line, error, "ports[%u].portid", index);
    Place traddr = at(config, port->line, error, "ports[%u].addr.traddr", index);
    Place inline_data =
        at(config, port->line, error, "ports[%u].param.inline_data_size", index);
    Place advertise = at(config, port->line, error, "ports[%u].lockstep.advertise", index);

    if (seen[port->portid]) {
        return fail(&id, "port %u is given twice; allowed: once", port->portid);
    }
    seen[port->portid] = true;
    if (port->inline_data_size % CONFIG_INLINE_UNIT) {
        return fail(&inline_data, "wrong value %u; allowed: a multiple of %d",
                    port->inline_data_size, CONFIG_INLINE_UNIT);
    }
    return check_address(traddr, port->adrfam, port->traddr) &&
           (!port->advertise || check_address(advertise, port->adrfam, port->advertise)) &&
           check_listen_address(config, index, error) &&
           check_ana_groups(config, index, error) &&
           check_referrals(config, index, error) &&
           check_port_subsystems(config, index, error);
}

static bool check_ports(const Config *config, GError **error)
{
    g_autofree bool *seen = g_new0(bool, UINT16_MAX + 1);

    if (config->ports->len == 0 || config->ports->len > LST_PORTS_MAX) {
        Place place = at(config, 0, error, "ports");
        return fail(&place, "%u ports; allowed: 1 to %d", config->ports->len, LST_PORTS_MAX);
    }
    for (guint i = 0; i < config->ports->len; i++) {
        if (!check_port(config, i, seen, error)) {
            return false;
        }
    }
    return true;
}

static bool check_namespaces(const Config *config, guint index, GError **error)
{
    const ConfigSubsystem *subsystem = config->subsystems->pdata[index];
    bool seen[LST_NSID_MAX + 1] = {false};

    for (guint i = 0; i < subsystem->namespaces->len; i++) {
        const ConfigNamespace *ns = subsystem->namespaces->pdata[i];
        const ConfigDevice *device = &ns->device;
        Place id = at(config, ns->line, error, "subsystems[%u].namespaces[%u].nsid", index, i);
        Place path = at(config, ns->line, error, "subsystems[%u].namespaces[%u].device.path",
                        index, i);

        if (seen[ns->nsid]) {
            return fail(&id, "namespace %u is given twice; allowed: once per subsystem", ns->nsid);
        }
        seen[ns->nsid] = true;
        if (device->block_size && device->size % device->block_size) {
            return fail(&path, "size %" PRIu64 " is wrong; allowed: a multiple of the block size "
                        "%u", device->size, device->block_size);
        }
    }
    return true;
}

static bool host_known(const Config *config, const char *nqn)
{
    for (guint i = 0; i < config->hosts->len; i++) {
        const ConfigHost *host = config->hosts->pdata[i];
        if (!strcmp(host->nqn, nqn)) {
            return true;
        }
    }
    return false;
}

static bool check_allowed_hosts(const Config *config, guint index, GError **error)
{
    const ConfigSubsystem *subsystem = config->subsystems->pdata[index];

    for (guint i = 0; i < subsystem->allowed_hosts->len; i++) {
        const char *nqn = subsystem->allowed_hosts->pdata[i];

        if (!host_known(config, nqn)) {
            Place place = at(config, subsystem->line, error, "subsystems[%u].allowed_hosts[%u]",
                             index, i);
            return fail(&place, "wrong value \"%s\"; allowed: the nqn of one of the hosts", nqn);
        }
    }
    return true;
}

static bool check_subsystem(const Config *config, guint index, GHashTable *seen, GError **error)
{
    ConfigSubsystem *subsystem = config->subsystems->pdata[index];
    Place nqn = at(config, subsystem->line, error, "subsystems[%u].nqn", index);
    Place cntlid = at(config, subsystem->line, error, "subsystems[%u].attr.cntlid_min", index);

    if (!strcmp(subsystem->nqn, DISCOVERY_NQN)) {
        return fail(&nqn, "wrong value \"%s\"; allowed: any other, as each port serves the "
                    "discovery subsystem anyway", subsystem->nqn);
    }
    if (!g_hash_table_add(seen, subsystem->nqn)) {
        return fail(&nqn, "\"%s\" is given twice; allowed: once", subsystem->nqn);
    }
    if (subsystem->cntlid_min > subsystem->cntlid_max) {
        return fail(&cntlid, "wrong value %u; allowed: 1 to cntlid_max, which is %u",
                    subsystem->cntlid_min, subsystem->cntlid_max);
    }
    return check_allowed_hosts(config, index, error) && check_namespaces(config, index, error);
}

static bool check_subsystems(const Config *config, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    if (config->subsystems->len > LST_SUBSYS_MAX) {
        Place place = at(config, 0, error, "subsystems");
        return fail(&place, "%u subsystems; allowed: at most %d", config->subsystems->len,
                    LST_SUBSYS_MAX);
    }
    for (guint i = 0; i < config->subsystems->len; i++) {
        if (!check_subsystem(config, i, seen, error)) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/* A version 5 UUID of "NQN/NSID" in the URL name space (RFC 9562, 5.5). */
static void derive_uuid(ConfigNamespace *ns, const char *nqn)
{
    static const uint8_t url_space[16] = {0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1,
                                          0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_autofree char *name = g_strdup_printf("%s/%u", nqn, ns->nsid);
    uint8_t digest[20];
    gsize length = sizeof(digest);

    g_checksum_update(sum, url_space, sizeof(url_space));
    g_checksum_update(sum, (const guchar *)name, (gssize)strlen(name));
    g_checksum_get_digest(sum, digest, &length);
    memcpy(ns->uuid, digest, sizeof(ns->uuid));
    ns->uuid[6] = (uint8_t)((ns->uuid[6] & 0x0f) | 0x50);
    ns->uuid[8] = (uint8_t)((ns->uuid[8] & 0x3f) | 0x80);
}

void config_derive_identifiers(ConfigSubsystem *subsystem)
{
    if (!subsystem->serial) {
        g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, subsystem->nqn, -1);
        subsystem->serial = g_strndup(sum, CONFIG_SERIAL_MAX);
    }
    for (guint i = 0; i < subsystem->namespaces->len; i++) {
        ConfigNamespace *ns = subsystem->namespaces->pdata[i];

        if (is_zero(ns->uuid, sizeof(ns->uuid))) {
            derive_uuid(ns, subsystem->nqn);
        }
    }
}

bool config_finish(Config *config, GError **error)
{
    if (!check_subsystems(config, error) || !check_ports(config, error)) {
        return false;
    }
    for (guint i = 0; i < config->subsystems->len; i++) {
        config_derive_identifiers(config->subsystems->pdata[i]);
    }
    return true;
}
