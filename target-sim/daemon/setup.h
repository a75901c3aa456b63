/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the configuration to an engine target with its backends open.
 * Not here: sockets (listener.c), the loop (server.c). No standard.
 */
#ifndef LOCKSTEP_DAEMON_SETUP_H
#define LOCKSTEP_DAEMON_SETUP_H

#include "daemon/config.h"
#include "daemon/delay.h"
#include "engine/target.h"

/**
 * setup_subsystems - open the backends and give the target its subsystems
 * @target: empty
 * @config: after config_finish(); the sizes of namespaces are filled in
 * @backends: of Backend *, whose free function is backend_close(); those that
 *            were opened are added, on failure too
 * @delay: of the drives that namespaces with a medium are given
 * @error: set on failure, domain CONFIG_ERROR; names file, line and key
 *
 * Return: true on success.
 */
bool setup_subsystems(struct lst_target *target, Config *config, GPtrArray *backends,
                      Delay *delay, GError **error);

/**
 * setup_faults - make the engine's fault rules
 * @target: gets the rules, in the order of the file
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: true on success.
 */
bool setup_faults(struct lst_target *target, const Config *config, GError **error);

/**
 * setup_port - give the target one port, once its port number is known
 * @target: with its subsystems
 * @config: for messages
 * @index: of the port in config->ports
 * @error: as above
 *
 * Return: the port, owned by @target, or NULL.
 */
struct lst_port *setup_port(struct lst_target *target, const Config *config, guint index,
                            GError **error);

/*
 * The parts one by one, for what is made at run time. Errors name key, value and what is allowed,
 * domain CONFIG_ERROR or LST_ERROR; what was made before the error stays in the target.
 */
struct lst_subsys *setup_add_subsystem(struct lst_target *target, const ConfigSubsystem *from,
                                       GError **error);
/* Without media, not enabled. */
struct lst_ns *setup_add_namespace(struct lst_subsys *subsystem, const ConfigNamespace *from,
                                   GError **error);
/* Opens the device and attaches it; its size is filled in. */
bool setup_open_namespace(struct lst_ns *ns, ConfigNamespace *from, GPtrArray *backends,
                          Delay *delay, GError **error);
/* Makes an attached namespace zoned that is to be and is not yet. */
bool setup_zones(struct lst_ns *ns, const ConfigNamespace *from, GError **error);
struct lst_port *setup_add_port(struct lst_target *target, const ConfigPort *from,
                                GError **error);
bool setup_add_referral(struct lst_port *port, const ConfigReferral *from, GError **error);

#endif
