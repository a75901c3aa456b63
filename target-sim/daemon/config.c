/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration's model: making, freeing, tables of names, the device text.
 * Not here: reading JSON (config_json.c), checking (config_check.c), the
 * generator (config_generate.c). Defaults are those of Linux' nvmet.
 */
#include "daemon/config.h"

#include <inttypes.h>
#include <string.h>

G_DEFINE_QUARK(lockstep-config-error, config_error)

const ParseName config_adrfams[] = {
    {"ipv4", CONFIG_ADRFAM_IPV4},
    {"ipv6", CONFIG_ADRFAM_IPV6},
    {NULL, 0},
};

/* NVMe base, log page 0Ch, ANA group descriptor; the names are nvmet's. */
const ParseName config_ana_states[] = {
    {"optimized", 0x1},
    {"non-optimized", 0x2},
    {"inaccessible", 0x3},
    {"persistent-loss", 0x4},
    {"change", 0xf},
    {NULL, 0},
};

/* NVMe base, log page 70h, TREQ bits 1:0; the names are nvmet's. */
const ParseName config_controller_models[] = {
    {"dynamic", 0},
    {"static", 1},
    {NULL, 0},
};

const ParseName config_treqs[] = {
    {"not specified", 0},
    {"required", 1},
    {"not required", 2},
    {NULL, 0},
};

void config_device_clear(ConfigDevice *device)
{
    g_clear_pointer(&device->path, g_free);
}

static void host_free(void *data)
{
    ConfigHost *host = data;

    g_free(host->nqn);
    g_free(host);
}

static void namespace_free(void *data)
{
    ConfigNamespace *ns = data;

    config_device_clear(&ns->device);
    g_free(ns->eui64);
    g_free(ns);
}

static void subsystem_free(void *data)
{
    ConfigSubsystem *subsystem = data;

    g_free(subsystem->nqn);
    g_free(subsystem->serial);
    g_free(subsystem->model);
    g_free(subsystem->firmware);
    g_ptr_array_unref(subsystem->allowed_hosts);
    g_ptr_array_unref(subsystem->namespaces);
    g_free(subsystem);
}

static void referral_free(void *data)
{
    ConfigReferral *referral = data;

    g_free(referral->name);
    g_free(referral->traddr);
    g_free(referral);
}

static void port_free(void *data)
{
    ConfigPort *port = data;

    g_free(port->traddr);
    g_free(port->advertise);
    g_ptr_array_unref(port->ana_groups);
    g_ptr_array_unref(port->referrals);
    g_ptr_array_unref(port->subsystems);
    g_free(port);
}

static void fault_free(void *data)
{
    ConfigFault *fault = data;

    g_ptr_array_unref(fault->values);
    g_free(fault);
}

Config *config_new(void)
{
    Config *config = g_new0(Config, 1);

    config->hosts = g_ptr_array_new_with_free_func(host_free);
    config->ports = g_ptr_array_new_with_free_func(port_free);
    config->subsystems = g_ptr_array_new_with_free_func(subsystem_free);
    config->faults = g_ptr_array_new_with_free_func(fault_free);
    return config;
}

void config_free(Config *config)
{
    g_free(config->file);
    g_ptr_array_unref(config->hosts);
    g_ptr_array_unref(config->ports);
    g_ptr_array_unref(config->subsystems);
    g_ptr_array_unref(config->faults);
    g_free(config);
}

ConfigHost *config_host_new(void)
{
    return g_new0(ConfigHost, 1);
}

ConfigPort *config_port_new(void)
{
    ConfigPort *port = g_new0(ConfigPort, 1);

    port->adrfam = CONFIG_ADRFAM_IPV4;
    port->inline_data_size = LST_INLINE_DEFAULT;
    port->max_queue_size = LST_QUEUE_SIZE_DEFAULT;
    port->maxh2cdata = LST_MAXH2CDATA_DEFAULT;
    port->max_r2t = LST_R2TS_DEFAULT;
    port->r2t_size = LST_R2T_SIZE_DEFAULT;
    port->ana_groups = g_ptr_array_new_with_free_func(g_free);
    port->referrals = g_ptr_array_new_with_free_func(referral_free);
    port->subsystems = g_ptr_array_new_with_free_func(g_free);
    return port;
}

ConfigSubsystem *config_subsystem_new(void)
{
    ConfigSubsystem *subsystem = g_new0(ConfigSubsystem, 1);

    subsystem->model = g_strdup("Lockstep target");
    subsystem->version = 0x00020000;
    subsystem->cntlid_min = 1;
    subsystem->cntlid_max = CONFIG_CNTLID_MAX;
    subsystem->qid_max = LST_QID_DEFAULT;
    subsystem->allowed_hosts = g_ptr_array_new_with_free_func(g_free);
    subsystem->namespaces = g_ptr_array_new_with_free_func(namespace_free);
    return subsystem;
}

ConfigNamespace *config_namespace_new(void)
{
    ConfigNamespace *ns = g_new0(ConfigNamespace, 1);

    ns->ana_grpid = 1;
    ns->enable = 1;
    return ns;
}

ConfigAnaGroup *config_ana_group_new(void)
{
    ConfigAnaGroup *group = g_new0(ConfigAnaGroup, 1);

    group->grpid = 1;
    group->state = config_ana_states[0].value;
    return group;
}

ConfigReferral *config_referral_new(void)
{
    ConfigReferral *referral = g_new0(ConfigReferral, 1);

    referral->adrfam = CONFIG_ADRFAM_IPV4;
    referral->trsvcid = CONFIG_PORT_DISCOVERY;
    referral->enable = 1;
    return referral;
}

ConfigFault *config_fault_new(void)
{
    ConfigFault *fault = g_new0(ConfigFault, 1);

    fault->values = g_ptr_array_new_with_free_func(g_free);
    return fault;
}

ConfigSubsystem *config_find_subsystem(const Config *config, const char *nqn)
{
    for (guint i = 0; i < config->subsystems->len; i++) {
        ConfigSubsystem *subsystem = config->subsystems->pdata[i];
        if (!strcmp(subsystem->nqn, nqn)) {
            return subsystem;
        }
    }
    return NULL;
}

bool config_listen(Config *config, const ConfigListen *listen, GError **error)
{
    guint count = config->ports->len;

    if (listen->trsvcid && listen->trsvcid + count - 1 > UINT16_MAX) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "--listen: wrong port %u for %u paths; allowed: up to %u", listen->trsvcid,
                    count, UINT16_MAX - count + 1);
        return false;
    }
    for (guint i = 0; i < count; i++) {
        ConfigPort *port = config->ports->pdata[i];

        g_free(port->traddr);
        port->traddr = g_strdup(listen->traddr);
        port->adrfam = listen->adrfam;
        if (listen->has_port) {
            port->trsvcid = listen->trsvcid ? listen->trsvcid + i : 0;
        }
    }
    return true;
}

bool config_advertise(Config *config, const char *address, GError **error)
{
    unsigned adrfam = strchr(address, ':') ? CONFIG_ADRFAM_IPV6 : CONFIG_ADRFAM_IPV4;
    bool found = false;

    for (guint i = 0; i < config->ports->len; i++) {
        ConfigPort *port = config->ports->pdata[i];

        if (port->adrfam == adrfam) {
            found = true;
            if (!port->advertise) {
                port->advertise = g_strdup(address);
            }
        }
    }
    if (!found) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "--advertise: wrong value \"%s\"; allowed: an address of the family of a port",
                    address);
    }
    return found;
}

char *config_place(const Config *config, unsigned line, const char *path)
{
    if (!config->file) {
        return g_strdup(path);
    }
    if (!line) {
        return g_strdup_printf("%s: %s", config->file, path);
    }
    return g_strdup_printf("%s:%u: %s", config->file, line, path);
}

char *config_format_uuid(const uint8_t id[16])
{
    GString *text = g_string_new(NULL);

    for (int i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;

        g_string_append_printf(text, "%s%02x", dash ? "-" : "", id[i]);
    }
    return g_string_free(text, FALSE);
}

/* One "key=value" behind the question mark of a device text. */
static bool device_option(const char *option, ConfigDevice *device)
{
    uint64_t number;

    if (g_str_has_prefix(option, "size=")) {
        return parse_size(option + strlen("size="), &device->size) && device->size > 0;
    }
    if (g_str_has_prefix(option, "block_size=") &&
        parse_size(option + strlen("block_size="), &number) &&
        (number == CONFIG_BLOCK_SIZE_MIN || number == CONFIG_BLOCK_SIZE_MAX)) {
        device->block_size = (uint32_t)number;
        return true;
    }
    return false;
}

bool config_device_parse(const char *text, ConfigDevice *device, const char **why)
{
    static const struct {
        const char *prefix;
        ConfigBackend backend;
    } forms[] = {
        {"ram:", CONFIG_BACKEND_RAM},
        {"null:", CONFIG_BACKEND_NULL},
        {"file:", CONFIG_BACKEND_FILE},
    };
    g_autofree char *base = NULL;
    g_auto(GStrv) options = NULL;
    ConfigDevice parsed = {.backend = CONFIG_BACKEND_FILE};

    *why = "an absolute path, ram:SIZE, null:SIZE or file:/PATH, the last three with "
           "?size=SIZE&block_size=512 or 4096; SIZE over 0, with suffix K, M, G or T";
    if (text[0] == '/') {
        parsed.path = g_strdup(text);
        *device = parsed;
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (g_str_has_prefix(text, forms[i].prefix)) {
            const char *rest = text + strlen(forms[i].prefix);
            const char *mark = strchr(rest, '?');

            parsed.backend = forms[i].backend;
            base = mark ? g_strndup(rest, (gsize)(mark - rest)) : g_strdup(rest);
            options = g_strsplit(mark ? mark + 1 : "", "&", -1);
            if (mark && !mark[1]) {
                return false;
            }
            break;
        }
    }
    if (!base) {
        return false;
    }
    for (char **option = options; *option; option++) {
        if (!device_option(*option, &parsed)) {
            return false;
        }
    }
    if (parsed.backend == CONFIG_BACKEND_FILE) {
        if (base[0] != '/') {
            return false;
        }
        parsed.path = g_steal_pointer(&base);
    } else if (parsed.size || !parse_size(base, &parsed.size) || !parsed.size) {
        return false;
    }
    if (!parsed.block_size && parsed.size) {
        parsed.block_size = CONFIG_BLOCK_SIZE_MIN;
    }
    *device = parsed;
    return true;
}

char *config_device_format(const ConfigDevice *device)
{
    static const char *const prefixes[] = {
        [CONFIG_BACKEND_RAM] = "ram",
        [CONFIG_BACKEND_NULL] = "null",
    };

    if (device->backend != CONFIG_BACKEND_FILE) {
        return g_strdup_printf("%s:%" PRIu64 "?block_size=%u", prefixes[device->backend],
                               device->size, device->block_size);
    }
    if (!device->path) {
        return g_strdup("");
    }
    if (!device->size) {
        return g_strdup(device->path);
    }
    return g_strdup_printf("file:%s?size=%" PRIu64 "&block_size=%u", device->path, device->size,
                           device->block_size);
}
