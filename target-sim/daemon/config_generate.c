/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration behind `target-sim --subsystems N --paths N ...`.
 * Not here: the flags themselves (options.c), identifiers that are derived in
 * the same way for a file (config_check.c). No standard.
 */
#include "daemon/config.h"

static ConfigPort *generate_port(const ConfigGenerator *generator, uint32_t path)
{
    ConfigPort *port = config_port_new();
    ConfigAnaGroup *group = config_ana_group_new();

    port->portid = path;
    port->traddr = g_strdup("127.0.0.1");
    port->inline_data_size = generator->inline_data_size;
    port->max_queue_size = generator->max_queue_size;
    group->state = generator->ana[path - 1];
    g_ptr_array_add(port->ana_groups, group);
    return port;
}

static ConfigNamespace *generate_namespace(const ConfigGenerator *generator, uint32_t subsystem,
                                           uint32_t nsid)
{
    ConfigNamespace *ns = config_namespace_new();

    ns->nsid = nsid;
    ns->device = generator->device;
    ns->media = generator->media;
    ns->zoned = generator->zoned;
    ns->resv_enable = generator->resv_enable;
    if (generator->device.path) {
        ns->device.path = g_strdup_printf("%s/subsystem%u-namespace%u.img",
                                          generator->device.path, subsystem, nsid);
    }
    return ns;
}

static ConfigSubsystem *generate_subsystem(const ConfigGenerator *generator, uint32_t number)
{
    ConfigSubsystem *subsystem = config_subsystem_new();

    subsystem->nqn = g_strdup_printf("nqn.2026-01.org.lockstep:subsystem%u", number);
    subsystem->serial = g_strdup_printf("LOCKSTEP%04u", number);
    subsystem->allow_any_host = 1;
    subsystem->qid_max = generator->qid_max;
    for (uint32_t nsid = 1; nsid <= generator->namespaces; nsid++) {
        g_ptr_array_add(subsystem->namespaces, generate_namespace(generator, number, nsid));
    }
    return subsystem;
}

Config *config_generate(const ConfigGenerator *generator)
{
    Config *config = config_new();

    for (uint32_t path = 1; path <= generator->paths; path++) {
        g_ptr_array_add(config->ports, generate_port(generator, path));
    }
    for (uint32_t number = 1; number <= generator->subsystems; number++) {
        ConfigSubsystem *subsystem = generate_subsystem(generator, number);

        g_ptr_array_add(config->subsystems, subsystem);
        for (guint i = 0; i < config->ports->len; i++) {
            ConfigPort *port = config->ports->pdata[i];
            g_ptr_array_add(port->subsystems, g_strdup(subsystem->nqn));
        }
    }
    return config;
}
