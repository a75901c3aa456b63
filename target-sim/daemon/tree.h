/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that can be changed at run time, as a tree of paths and values in the manner of
 * nvmet's configfs: "subsystems/NQN/namespaces/1/enable".
 * Not here: who asks (control.h). Names are those of Linux' nvmet; docs/target-control.md lists
 * ours beside them.
 */
/*
 * Values live in the engine; of the configuration the tree uses what the engine does not know:
 * hosts, devices, addresses to listen on, which ANA groups and referrals have a directory.
 *
 * In a component of a path "%2F" stands for "/" and "%25" for "%". Errors, of domain CONFIG_ERROR
 * or LST_ERROR, begin with the path and name key, value and what is allowed; a call that failed has
 * changed nothing.
 */
#ifndef LOCKSTEP_DAEMON_TREE_H
#define LOCKSTEP_DAEMON_TREE_H

#include <json-glib/json-glib.h>

#include "daemon/server.h"

enum TreeLimits {
    TREE_HOSTS_MAX = 16384, /* directories in hosts/ */
    TREE_SHOWN_MAX = 32,    /* names in a message that says what there is */
};

/**
 * tree_init - make the directories that are always there: ANA group 1 of each port
 */
void tree_init(Config *config);

/**
 * tree_get - the value of an attribute
 *
 * Return: a new string, freed by g_free(), or NULL.
 */
char *tree_get(Server *server, const char *path, GError **error);

/**
 * tree_set - give an attribute a value; hosts get the notices that belong to the change
 */
bool tree_set(Server *server, const char *path, const char *value, GError **error);

/**
 * tree_mkdir, tree_rmdir - make and remove subsystems, namespaces, ports, hosts, ANA groups,
 *                          referrals and faults. Removing a connection closes it
 */
bool tree_mkdir(Server *server, const char *path, GError **error);
bool tree_rmdir(Server *server, const char *path, GError **error);

/**
 * tree_link, tree_unlink - let a host in ("subsystems/NQN/allowed_hosts/HOSTNQN") or put a
 *                          subsystem on a port ("ports/1/subsystems/NQN")
 */
bool tree_link(Server *server, const char *path, GError **error);
bool tree_unlink(Server *server, const char *path, GError **error);

/**
 * tree_list - what a directory has: attributes, then directories with a "/" behind them
 * @names: of char *, to which is added
 */
bool tree_list(Server *server, const char *path, GPtrArray *names, GError **error);

/**
 * tree_dump - the configuration file that would make the present state
 *
 * Namespaces whose device_path is not set yet are left out.
 *
 * Return: an object as the file's top level, freed by json_node_unref().
 */
JsonNode *tree_dump(Server *server);

#endif
