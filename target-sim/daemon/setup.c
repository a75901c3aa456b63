/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the configuration to an engine target with its backends open.
 * Not here: sockets (listener.c), the loop (server.c). No standard.
 */
#include "daemon/setup.h"

#include <string.h>

#include "daemon/backend.h"
#include "engine/fault.h"

/*
 * Says which part of the configuration an error is about. The engine's own
 * messages name attribute, value and what is allowed.
 */
static bool refuse(const Config *config, unsigned line, const char *part, GError *cause,
                   GError **error)
{
    /* Only our own errors know that it is the machine's fault. */
    int code = cause->domain == CONFIG_ERROR ? cause->code : CONFIG_ERROR_INPUT;
    g_autofree char *place = config_place(config, line, part);

    g_set_error(error, CONFIG_ERROR, code, "%s: %s", place, cause->message);
    g_error_free(cause);
    return false;
}

typedef bool SetAttribute(void *object, const char *key, const char *value, GError **error);

static bool set_subsystem(void *object, const char *key, const char *value, GError **error)
{
    return lst_subsys_set(object, key, value, error);
}

static bool set_namespace(void *object, const char *key, const char *value, GError **error)
{
    return lst_ns_set(object, key, value, error);
}

static bool set_port(void *object, const char *key, const char *value, GError **error)
{
    return lst_port_set(object, key, value, error);
}

static bool set_number(SetAttribute *set, void *object, const char *key, uint32_t value,
                       GError **error)
{
    g_autofree char *text = g_strdup_printf("%u", value);

    return set(object, key, text, error);
}

/* 16 bytes as 8-4-4-4-12 hexadecimal digits; all zero stands for "none". */
static bool set_id(struct lst_ns *ns, const char *key, const uint8_t *id, GError **error)
{
    g_autofree char *text = config_format_uuid(id);

    return lst_ns_set(ns, key, text, error);
}

static bool set_subsystem_attributes(struct lst_subsys *subsystem, const ConfigSubsystem *from,
                                     GError **error)
{
    g_autofree char *version =
        g_strdup_printf("%u.%u", from->version >> 16, from->version >> 8 & 0xff);

    /* The maximum first: the minimum must not pass it. */
    return lst_subsys_set(subsystem, "attr_serial", from->serial, error) &&
           lst_subsys_set(subsystem, "attr_model", from->model, error) &&
           (!from->firmware ||
            lst_subsys_set(subsystem, "attr_firmware", from->firmware, error)) &&
           lst_subsys_set(subsystem, "attr_version", version, error) &&
           set_number(set_subsystem, subsystem, "attr_ieee_oui", from->ieee_oui, error) &&
           set_number(set_subsystem, subsystem, "attr_allow_any_host", from->allow_any_host,
                      error) &&
           set_number(set_subsystem, subsystem, "attr_cntlid_max", from->cntlid_max, error) &&
           set_number(set_subsystem, subsystem, "attr_cntlid_min", from->cntlid_min, error) &&
           lst_subsys_set(subsystem, "attr_controller_model",
                          parse_name_of(config_controller_models, from->controller_model),
                          error) &&
           set_number(set_subsystem, subsystem, "attr_qid_max", from->qid_max, error) &&
           set_number(set_subsystem, subsystem, "attr_max_queue_size", from->max_queue_size,
                      error);
}

struct lst_ns *setup_add_namespace(struct lst_subsys *subsystem, const ConfigNamespace *from,
                                   GError **error)
{
    struct lst_ns *ns = lst_subsys_add_ns(subsystem, from->nsid, error);

    if (!ns || !set_id(ns, "device_uuid", from->uuid, error) ||
        !set_id(ns, "device_nguid", from->nguid, error) ||
        (from->eui64 && !lst_ns_set(ns, "device_eui64", from->eui64, error)) ||
        !set_number(set_namespace, ns, "ana_grpid", from->ana_grpid, error) ||
        !set_number(set_namespace, ns, "resv_enable", from->resv_enable, error)) {
        return NULL;
    }
    return ns;
}

bool setup_zones(struct lst_ns *ns, const ConfigNamespace *from, GError **error)
{
    Backend *backend = lst_ns_backend(ns);
    bool in_file = from->device.backend == CONFIG_BACKEND_FILE;

    if (!from->zoned.size || lst_ns_zones(ns)) {
        return true;
    }
    if (in_file && !backend->zones.memory) {
        g_autofree char *text = zone_config_format(&from->zoned);
        g_autofree char *why = NULL;

        /* A file would only be made for zones that there can be. */
        if (!zone_config_fits(&from->zoned, backend->size, backend->block_size, &why)) {
            g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                        "zoned: '%s' is not allowed: %s", text, why);
            return false;
        }
        if (!zone_store_open(&backend->zones, from->device.path,
                             zones_store_bytes(&from->zoned, backend->size), error)) {
            return false;
        }
    }
    return lst_ns_set_zones(ns, &from->zoned, backend->zones.memory, error);
}

bool setup_open_namespace(struct lst_ns *ns, ConfigNamespace *from, GPtrArray *backends,
                          Delay *delay, GError **error)
{
    Backend *backend = backend_open(&from->device, error);

    if (!backend) {
        return false;
    }
    g_ptr_array_add(backends, backend);
    backend->drive = drive_new(delay, &from->media, from->uuid);
    from->device.size = backend->size;
    from->device.block_size = backend->block_size;
    return lst_ns_attach(ns, backend, backend->size, backend->block_size, error) &&
           setup_zones(ns, from, error);
}

static bool add_namespace(struct lst_subsys *subsystem, ConfigNamespace *from,
                          GPtrArray *backends, Delay *delay, GError **error)
{
    struct lst_ns *ns = setup_add_namespace(subsystem, from, error);

    return ns && (!from->enable || (setup_open_namespace(ns, from, backends, delay, error) &&
                                    lst_ns_enable(ns, true, error)));
}

static bool add_allowed_hosts(struct lst_subsys *subsystem, const ConfigSubsystem *from,
                              GError **error)
{
    for (guint i = 0; i < from->allowed_hosts->len; i++) {
        if (!lst_subsys_allow_host(subsystem, from->allowed_hosts->pdata[i], error)) {
            return false;
        }
    }
    return true;
}

struct lst_subsys *setup_add_subsystem(struct lst_target *target, const ConfigSubsystem *from,
                                       GError **error)
{
    struct lst_subsys *subsystem = lst_target_add_subsys(target, from->nqn, error);

    if (!subsystem || !set_subsystem_attributes(subsystem, from, error) ||
        !add_allowed_hosts(subsystem, from, error)) {
        return NULL;
    }
    return subsystem;
}

static bool setup_subsystem(struct lst_target *target, Config *config, guint index,
                            GPtrArray *backends, Delay *delay, GError **error)
{
    ConfigSubsystem *from = config->subsystems->pdata[index];
    g_autofree char *part = g_strdup_printf("subsystems[%u]", index);
    GError *cause = NULL;
    struct lst_subsys *subsystem = setup_add_subsystem(target, from, &cause);

    if (!subsystem) {
        return refuse(config, from->line, part, cause, error);
    }
    for (guint i = 0; i < from->namespaces->len; i++) {
        ConfigNamespace *ns = from->namespaces->pdata[i];

        if (!add_namespace(subsystem, ns, backends, delay, &cause)) {
            g_autofree char *ns_part = g_strdup_printf("%s.namespaces[%u]", part, i);

            return refuse(config, ns->line, ns_part, cause, error);
        }
    }
    return true;
}

bool setup_subsystems(struct lst_target *target, Config *config, GPtrArray *backends,
                      Delay *delay, GError **error)
{
    for (guint i = 0; i < config->subsystems->len; i++) {
        if (!setup_subsystem(target, config, i, backends, delay, error)) {
            return false;
        }
    }
    return true;
}

static bool set_port_attributes(struct lst_port *port, const ConfigPort *from, GError **error)
{
    const char *traddr = from->advertise ? from->advertise : from->traddr;

    return lst_port_set(port, "addr_adrfam", parse_name_of(config_adrfams, from->adrfam),
                        error) &&
           lst_port_set(port, "addr_traddr", traddr, error) &&
           set_number(set_port, port, "addr_trsvcid", from->trsvcid, error) &&
           lst_port_set(port, "addr_treq", parse_name_of(config_treqs, from->treq), error) &&
           set_number(set_port, port, "param_inline_data_size", from->inline_data_size, error) &&
           set_number(set_port, port, "param_max_queue_size", from->max_queue_size, error) &&
           set_number(set_port, port, "tcp_cpda", from->cpda, error) &&
           set_number(set_port, port, "tcp_maxh2cdata", from->maxh2cdata, error) &&
           set_number(set_port, port, "tcp_max_r2t", from->max_r2t, error) &&
           set_number(set_port, port, "tcp_r2t_size", from->r2t_size, error);
}

static bool add_port_subsystems(struct lst_target *target, struct lst_port *port,
                                const ConfigPort *from, GError **error)
{
    for (guint i = 0; i < from->subsystems->len; i++) {
        struct lst_subsys *subsystem =
            lst_target_find_subsys(target, from->subsystems->pdata[i]);

        g_assert(subsystem);
        if (!lst_port_add_subsys(port, subsystem, error)) {
            return false;
        }
    }
    return true;
}

static bool add_ana_groups(struct lst_port *port, const ConfigPort *from, GError **error)
{
    for (guint i = 0; i < from->ana_groups->len; i++) {
        const ConfigAnaGroup *group = from->ana_groups->pdata[i];

        if (!lst_port_set_ana_state(port, group->grpid,
                                    parse_name_of(config_ana_states, group->state), error)) {
            return false;
        }
    }
    return true;
}

bool setup_add_referral(struct lst_port *port, const ConfigReferral *from, GError **error)
{
    g_autofree char *trsvcid = g_strdup_printf("%u", from->trsvcid);

    return lst_port_add_referral(port, from->name, parse_name_of(config_adrfams, from->adrfam),
                                 from->traddr, trsvcid, from->portid, error);
}

static bool add_referrals(struct lst_port *port, const ConfigPort *from, GError **error)
{
    for (guint i = 0; i < from->referrals->len; i++) {
        const ConfigReferral *referral = from->referrals->pdata[i];

        if (referral->enable && !setup_add_referral(port, referral, error)) {
            return false;
        }
    }
    return true;
}

struct lst_port *setup_add_port(struct lst_target *target, const ConfigPort *from,
                                GError **error)
{
    struct lst_port *port = lst_target_add_port(target, from->portid, error);

    if (!port || !set_port_attributes(port, from, error) ||
        !add_ana_groups(port, from, error) || !add_referrals(port, from, error) ||
        !add_port_subsystems(target, port, from, error)) {
        return NULL;
    }
    return port;
}

struct lst_port *setup_port(struct lst_target *target, const Config *config, guint index,
                            GError **error)
{
    const ConfigPort *from = config->ports->pdata[index];
    GError *cause = NULL;
    struct lst_port *port = setup_add_port(target, from, &cause);

    if (!port) {
        g_autofree char *part = g_strdup_printf("ports[%u]", index);

        refuse(config, from->line, part, cause, error);
        return NULL;
    }
    return port;
}

/* Enabled unless the file says otherwise, and last: then the engine looks at the rule as a whole. */
static bool set_fault(struct lst_fault *fault, const ConfigFault *from, GError **error)
{
    const char *enable = "1";

    for (guint i = 0; i < from->values->len; i += 2) {
        const char *key = from->values->pdata[i], *value = from->values->pdata[i + 1];

        if (!strcmp(key, "enable")) {
            enable = value;
        } else if (!lst_fault_set(fault, key, value, error)) {
            return false;
        }
    }
    return lst_fault_set(fault, "enable", enable, error);
}

bool setup_faults(struct lst_target *target, const Config *config, GError **error)
{
    for (guint i = 0; i < config->faults->len; i++) {
        const ConfigFault *from = config->faults->pdata[i];
        GError *cause = NULL;
        struct lst_fault *fault = lst_target_add_fault(target, &cause);

        if (!fault || !set_fault(fault, from, &cause)) {
            g_autofree char *part = g_strdup_printf("faults[%u]", i);

            return refuse(config, from->line, part, cause, error);
        }
    }
    return true;
}
