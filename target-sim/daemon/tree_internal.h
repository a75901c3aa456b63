/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the tree is described: a kind for each sort of directory, and a node for one directory.
 * Not here: the kinds themselves (tree_subsys.c, tree_port.c, tree_conn.c). No standard.
 */
#ifndef LOCKSTEP_DAEMON_TREE_INTERNAL_H
#define LOCKSTEP_DAEMON_TREE_INTERNAL_H

#include "daemon/connection.h"
#include "daemon/tree.h"

typedef struct NodeKind NodeKind;

/* One directory, reached by a path: what is on the way to it is filled in. */
typedef struct Node {
    Server *server;
    const NodeKind *kind;
    ConfigHost *host;
    ConfigSubsystem *subsystem;
    ConfigNamespace *ns;
    ConfigPort *port;
    ConfigAnaGroup *group;
    ConfigReferral *referral;
    Connection *connection;
    struct lst_fault *fault;
} Node;

/* An attribute that the front keeps; it stands before one of the engine of the same name. */
typedef struct NodeAttr {
    const char *key;
    bool (*set)(Node *node, const char *key, const char *value, GError **error); /* or NULL */
    char *(*get)(const Node *node);                                              /* or NULL */
    bool saved; /* a configuration file has it */
} NodeAttr;

typedef struct NodeDir {
    const char *name;
    const NodeKind *kind;
} NodeDir;

struct NodeKind {
    const char *what;    /* for messages: "namespace" */
    const NodeDir *dirs; /* directories that are always there; up to a NULL name */

    /* Entries that come and go, if there is a count(). */
    const NodeKind *element; /* their kind; NULL: links, which have nothing below them */
    guint (*count)(const Node *node);
    char *(*name)(const Node *node, guint index);
    void (*enter)(Node *node, guint index);
    bool (*add)(Node *node, const char *name, GError **error);
    bool (*remove)(Node *node, guint index, GError **error);
    bool unsaved; /* no part of a configuration */

    /* Attributes: the front's up to a NULL key, then the engine's. */
    const NodeAttr *attrs;
    const char *(*engine_key)(unsigned index);
    bool (*engine_set)(Node *node, const char *key, const char *value, GError **error);
    char *(*engine_get)(const Node *node, const char *key, GError **error);

    /* How an entry of this kind is called in a configuration: {"nqn": NAME, ...}. */
    const char *id;
    bool id_is_number;
    bool (*incomplete)(const Node *node); /* cannot be in a configuration yet; or NULL */
};

extern const NodeKind tree_hosts, tree_subsystems, tree_namespaces, tree_ports, tree_referrals;
extern const NodeKind tree_connections, tree_faults, tree_root;

/* Errors about a value, and about what cannot go yet; both return false. */
bool tree_refuse(GError **error, const char *key, const char *value, const char *allowed);
bool tree_parse_bool(const char *key, const char *value, bool *result, GError **error);
bool tree_in_use(const char *what, const char *by, GError **error);
/* A number as nobody could write it otherwise: no leading zeroes, decimal. */
bool tree_parse_id(const char *key, const char *value, uint32_t min, uint32_t max,
                   uint32_t *result, GError **error);

/* The attribute by either list; NULL with @error set if there is none or it cannot be read. */
char *tree_node_get(const Node *node, const char *key, GError **error);
/* The keys by number, those of the front first; NULL behind the last. */
const char *tree_node_key(const Node *node, unsigned index);
/* The front's attribute of that name, or NULL. */
const NodeAttr *tree_node_attr(const Node *node, const char *key);
/* The entry of a collection. */
Node tree_node_entry(const Node *node, guint index);

/* A numeric address of either family: which one it must be is known when it is used. */
bool tree_check_address(const char *key, const char *value, GError **error);
bool tree_check_family(unsigned adrfam, const char *traddr, GError **error);
bool tree_set_name(const ParseName *names, unsigned *result, const char *key, const char *value,
                   GError **error);
void tree_replace(char **text, const char *value);

/* The engine's objects. */
struct lst_subsys *tree_subsys(const Node *node);
struct lst_port *tree_port(const Node *node);
bool tree_port_has(Server *server, const ConfigPort *port, const struct lst_subsys *subsys);

#endif
