/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration objects from inside: target, subsystem, namespace, port.
 * Not here: controllers and queues (ctrl.h), connections (tcp.h), the public calls (target.h).
 * NVM Express Base 2.0, chapter 2.
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include <glib.h>

#include "engine/extents.h"
#include "engine/pool.h"
#include "engine/stats.h"
#include "engine/target.h"
#include "engine/timer.h"
#include "engine/zoned.h"
#include "lockstep/nvme_fabrics.h"

struct lst_ctrl;

/* Which notice a change causes; most have a bit in Async Event Configuration. */
enum lst_notice {
    LST_NOTICE_NS,
    LST_NOTICE_ANA,
    LST_NOTICE_DISCOVERY,
    LST_NOTICE_RESV,
    LST_NOTICE_ZONE,
    LST_NOTICE_TEMPERATURE,
    LST_NOTICE_COUNT
};

struct lst_target {
    struct lst_front_ops ops;
    void *front;
    uint64_t seed;
    uint64_t generation;                 /* of transfer tags; starts from the seed */
    uint64_t now_ns;
    uint64_t start_ns;                   /* the first tick: what power-on hours count from */
    bool started;
    struct lst_timers timers;
    struct lst_pool pool;
    /* in the order of their making: discovery entries follow it */
    GPtrArray *subsystems;
    GHashTable *by_nqn;
    GPtrArray *ports;
    struct lst_subsys *discovery;        /* the discovery subsystem: no namespaces, on every port */
    /* subsystems on ports, all told: discovery entries at most */
    unsigned links;
    GQueue conns;                        /* struct lst_conn.link */
    GQueue ctrls;                        /* struct lst_ctrl.link */
    uint64_t genctr;
    uint64_t next_conn_id;
    struct lst_target_stats stats;
    struct lst_command_stats *ended;     /* of connections that are gone */
    uint64_t arrived_ns;                 /* of the bytes that are looked at; 0: clock not asked */
    uint32_t handshake_s;
    uint32_t idle_s;
    uint64_t memory_limit;               /* 0: none */
    uint64_t buffer_bytes;               /* of all connections */
    GQueue ready;                        /* struct lst_order.ready_link */
    bool resuming;
    GPtrArray *faults;                   /* struct lst_fault, in order; NULL: never any */
    unsigned faults_enabled;             /* nobody looks for faults while it is 0 */
    unsigned next_fault;
};

struct lst_subsys {
    struct lst_target *target;
    char *nqn;
    bool discovery;
    bool allow_any_host;
    char *serial;
    char *model;
    char *firmware;
    uint32_t version;                    /* as VS */
    uint32_t ieee_oui;
    uint32_t cntlid_min, cntlid_max;
    bool static_ctrls;                   /* hosts say which controller they want, or any */
    uint32_t qid_max;
    uint32_t queue_size;                 /* entries of an I/O queue; 0: only the port limits them */
    GPtrArray *hosts;                    /* allowed NQNs */
    struct lst_ns *ns[LST_NSID_MAX + 1]; /* by NSID; [0] stays NULL */
    GHashTable *ctrls;                   /* by CNTLID */
    uint32_t next_cntlid;
    uint64_t ns_chgcnt;
    /* for the SMART log */
    uint64_t reads, writes, read_units, write_units, media_errors;
};

struct lst_ns {
    struct lst_subsys *subsys;           /* NULL once removed */
    uint32_t nsid;
    bool attached;
    bool enabled;
    bool removed;
    bool restored;                       /* what was kept for it has been taken up */
    uint8_t write_protected;             /* enum nv_write_protect */
    unsigned users;                      /* commands that hold a pointer to it */
    void *backend;
    void (*done)(void *backend);
    uint64_t blocks;
    uint8_t shift;                       /* log2 of the block size */
    GQueue active, held;                 /* commands on its blocks: order.h */
    unsigned exclusive;                  /* of both */
    struct zones *zones;                 /* NULL: not zoned */
    struct lst_extents uncorrectable;    /* blocks that cannot be read until they are written */
    uint32_t ana_grpid;
    uint8_t uuid[16];
    uint8_t nguid[16];
    uint8_t eui64[8];
    struct lst_ns_resv *resv;            /* NULL: never had resv_enable */
};

struct lst_referral {
    char *name;
    uint32_t portid;
    uint8_t adrfam;
    char *traddr;
    char *trsvcid;
};

struct lst_port {
    struct lst_target *target;
    uint32_t portid;
    uint8_t adrfam;
    uint8_t treq;
    char *traddr;
    char *trsvcid;
    uint32_t inline_size;
    uint32_t queue_size;
    uint32_t cpda;                       /* as in ICResp */
    uint32_t maxh2cdata;
    uint32_t max_r2t;
    uint32_t r2t_size;
    GPtrArray *subsystems;
    GPtrArray *referrals;                /* struct lst_referral */
    uint8_t ana[LST_ANA_GROUPS_MAX + 1]; /* enum nv_ana_state by group id */
    uint64_t ana_chgcnt;
};

/* Attributes as a table; @object is the subsystem, namespace or port. */
struct lst_attr {
    const char *key;
    bool (*set)(void *object, const char *key, const char *value, GError **err);
    char *(*get)(const void *object);
};
bool lst_attr_set(const struct lst_attr *attrs, size_t count, void *object, const char *key,
                  const char *value, GError **err);
char *lst_attr_get(const struct lst_attr *attrs, size_t count, const void *object, const char *key,
                   GError **err);

/* For the table: an attribute that nvmet has, of which we do only 0. */
bool lst_attr_set_zero(void *object, const char *key, const char *value, GError **err);
char *lst_attr_get_zero(const void *object);

/* Parsers for attribute values; each complains with key, value and @allowed or the range. */
bool lst_parse_uint(const char *key, const char *value, uint32_t min, uint32_t max,
                    uint32_t *result, GError **err);
/* A queue size; 0 gives @none. */
bool lst_parse_queue_size(const char *key, const char *value, uint32_t none, uint32_t *result,
                          GError **err);
bool lst_parse_bool(const char *key, const char *value, bool *result, GError **err);
bool lst_parse_hex(const char *key, const char *value, uint8_t *bytes, size_t count,
                   const char *allowed, GError **err);
/* Printable ASCII, 1..@max characters; replaces *result. */
bool lst_parse_ascii(const char *key, const char *value, size_t max, char **result, GError **err);
/* One of @names (NULL at the end); the index in *result. */
bool lst_parse_choice(const char *key, const char *value, const char *const *names,
                      unsigned *result, GError **err);
bool lst_parse_nqn(const char *key, const char *value, GError **err);
/* Fills in VALUE: "KEY: 'VALUE' is not allowed: ALLOWED"; returns false. */
bool lst_bad_value(GError **err, const char *key, const char *value, const char *allowed);
void lst_hash_bytes(const char *text, uint32_t number, uint8_t *bytes, size_t count);

struct lst_subsys *lst_subsys_new(struct lst_target *target, const char *nqn, bool discovery);
void lst_subsys_free(struct lst_subsys *subsys);
/* Entries of an I/O queue behind a port that allows @port_max. */
static inline uint32_t lst_subsys_queue_size(const struct lst_subsys *subsys, uint32_t port_max)
{
    return subsys->queue_size ? MIN(subsys->queue_size, port_max) : port_max;
}
bool lst_subsys_host_allowed(const struct lst_subsys *subsys, const char *hostnqn);
void lst_port_free(struct lst_port *port);
bool lst_port_has(const struct lst_port *port, const struct lst_subsys *subsys);

/* The enabled namespace of that id, or NULL. */
struct lst_ns *lst_ns_lookup(const struct lst_subsys *subsys, uint32_t nsid);
/* Its command set: enum nv_csi. */
static inline uint8_t lst_ns_csi(const struct lst_ns *ns)
{
    return ns->zones ? NV_CSI_ZNS : NV_CSI_NVM;
}
void lst_ns_ref(struct lst_ns *ns);
void lst_ns_unref(struct lst_ns *ns);
/*
 * Something that Identify says of it has changed: tells all controllers. A Linux host looks again
 * only if told, even about its own change.
 */
void lst_ns_changed(struct lst_ns *ns);
/*
 * ns_state.c: the front is given what it has to keep, or told that there is nothing. False if it
 * could not: then nothing may have changed for the host.
 */
bool lst_ns_keep(const struct lst_ns *ns);
void lst_ns_forget(const struct lst_ns *ns);
/* Takes up what is kept, once; errors as lst_ns_enable(). */
bool lst_ns_restore(struct lst_ns *ns, GError **err);
/* Takes it out of its subsystem; it lives on while commands use it. */
void lst_ns_drop(struct lst_ns *ns, void (*done)(void *backend));

/*
 * conn.c: connections that are not yet queues and came through @port want to be closed, and know no
 * port any more.
 */
void lst_conns_forget_port(struct lst_target *target, struct lst_port *port);

/* fault.c */
void lst_faults_free(struct lst_target *target);

/* Something in the discovery log changed: next generation, notices to discovery controllers. */
void lst_discovery_changed(struct lst_target *target);

#endif
