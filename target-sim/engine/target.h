/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target and its configuration: subsystems, namespaces, ports, hosts, ANA, referrals; time; the
 * calls to the front.
 * Not here: connections (conn.h), media (io.h), listings (stats.h). No sockets, clock, threads,
 * globals, randomness.
 * NVM Express Base 2.0, chapters 2 to 5; the names of attributes are those of Linux's nvmet
 * configfs.
 */
/*
 * One thread at a time may call into a target and what hangs below it. Calls never block.
 *
 * Errors of configuration calls: false (or NULL) and, if err is not NULL, a GError of domain
 * LST_ERROR whose message names the key, the value and what is allowed. Nothing is changed by a
 * call that failed.
 */
#ifndef ENGINE_TARGET_H
#define ENGINE_TARGET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/io.h"
#include "engine/limits.h"
#include "engine/trace.h"
#include "lockstep/nvme.h"

struct lst_target;
struct lst_port;
struct lst_subsys;
struct lst_ns;
struct zone_config;
struct zones;

#define LST_ERROR lst_error_quark()
GQuark lst_error_quark(void);
enum lst_error {
    LST_ERROR_VALUE,         /* the value is not allowed */
    LST_ERROR_KEY,           /* no such attribute */
    LST_ERROR_EXISTS,        /* there is already one of that name or number */
    LST_ERROR_LIMIT,         /* a limit of limits.h */
    LST_ERROR_STATE,         /* not now: for example a namespace's size while it is enabled */
};

/*
 * What the engine asks of whoever drives it. All are called from inside engine calls; @front is the
 * pointer given.
 */
struct lst_front_ops {
    /*
     * Execute @io against its backend; complete it now or later with lst_io_complete(). Mandatory.
     */
    void (*io_submit)(void *front, struct lst_io *io);
    /*
     * The host wants @io no more. True: it was or will be completed, with NV_SC_ABORT_REQUESTED or
     * as it ended, sooner than without this call. False: it cannot be hurried. May be NULL.
     */
    bool (*io_cancel)(void *front, struct lst_io *io);
    /*
     * @conn has output or wants to be closed. Called when that becomes so, not again until the
     * front has looked (lst_conn_output() or lst_conn_wants_close()). Put it in a list and look
     * after the current engine call: the callback itself must not call into the engine. May be NULL
     * if the front polls every connection.
     */
    void (*conn_ready)(void *front, struct lst_conn *conn);
    /*
     * The time now in ns, of any origin: for latencies in statistics, and nothing else depends on
     * it. May be NULL: then there are none.
     */
    uint64_t (*clock)(void *front);
    /*
     * Whether this target serves hosts of a subsystem, for fronts that have several of the same
     * configuration. May be NULL: it does. Else a Connect is told Controller Busy.
     */
    bool (*serves)(void *front, const char *subnqn);
    /*
     * Keep @text for the namespace, which lst_ns_nqn() and lst_ns_id() name, over a restart; NULL:
     * keep nothing any more. True once it is safe. May be NULL: then nothing survives a restart,
     * and hosts are told so (RESCAP).
     */
    bool (*ns_keep)(void *front, const struct lst_ns *ns, const char *text);
    /*
     * What is kept, asked for when a namespace is first enabled. *text: for g_free(), NULL if there
     * is nothing. False with an error if it cannot be read: then the namespace stays disabled. May
     * be NULL only if ns_keep is.
     */
    bool (*ns_kept)(void *front, const struct lst_ns *ns, char **text, GError **err);
    /* An event; see trace.h. Must not call into the engine. May be NULL. */
    void (*trace)(void *front, const struct lst_event *event);
};

/*
 * lst_target_new: an empty target.
 * @ops: copied. @front: handed back in each call. @seed: where what a host must not predict begins
 * (the generations in transfer tags, faults by chance); the same seed and the same calls give the same bytes.
 * Returns the target; free it with lst_target_free(). Never fails.
 */
struct lst_target *lst_target_new(const struct lst_front_ops *ops, void *front, uint64_t seed);

/*
 * Frees the target and its configuration. All connections must be freed and all lst_io completed
 * before.
 */
void lst_target_free(struct lst_target *target);

/* ---- Limits ---------------------------------------------------------------------------------- */

/*
 * lst_target_set, lst_target_get: limits that belong to no object, as text; they hold from then on.
 *   limit_handshake  1..3600 seconds from a connection's ICReq to its Connect (default 30); the
 *                    ICReq itself has as long, but 10 seconds at most
 *   limit_idle       0..86400 seconds without a command, after which a controller without
 *                    keep-alive timer goes; 0 = never (default). Discovery controllers have two
 *                    minutes anyway
 *   limit_memory     bytes of data buffers of all connections, 0 = no limit (default). Beyond it a
 *                    connection has room for one transfer at a time; data in capsules do not wait
 * Errors: KEY, VALUE.
 */
bool lst_target_set(struct lst_target *target, const char *key, const char *value, GError **err);
char *lst_target_get(const struct lst_target *target, const char *key, GError **err);
const char *lst_target_key(unsigned index);

/* ---- Time ------------------------------------------------------------------------------------ */

/*
 * lst_target_tick: time is now @now_ns, counted from any origin; it never goes back (an earlier
 * value is ignored). Due timers fire: keep-alive, IC and Connect time-outs, linger after a TermReq,
 * idle discovery controllers. Call it first in each round of an event loop: the engine has no other
 * notion of time.
 */
void lst_target_tick(struct lst_target *target, uint64_t now_ns);

/* When lst_target_tick() must be called at the latest, in ns; UINT64_MAX: no timer is running. */
uint64_t lst_target_next_deadline(const struct lst_target *target);

/* ---- Subsystems ------------------------------------------------------------------------------ */

/*
 * lst_target_add_subsys: a new NVM subsystem without namespaces, on no port, with default
 * attributes.
 * @nqn: 1 to 223 bytes of UTF-8, not the discovery NQN; copied. Errors: VALUE, EXISTS, LIMIT.
 * The subsystem belongs to the target.
 */
struct lst_subsys *lst_target_add_subsys(struct lst_target *target, const char *nqn, GError **err);
struct lst_subsys *lst_target_find_subsys(struct lst_target *target, const char *nqn);
/* Removes it from all ports, drops its connections, removes its namespaces; the pointer is dead. */
void lst_target_remove_subsys(struct lst_target *target, struct lst_subsys *subsys);
const char *lst_subsys_nqn(const struct lst_subsys *subsys);

/*
 * lst_subsys_set, lst_subsys_get: attributes as text.
 *   attr_serial          1..20 printable ASCII characters (default: derived from the NQN)
 *   attr_model           1..40 printable ASCII characters (default "Lockstep target")
 *   attr_firmware        1..8 printable ASCII characters (default "1.0")
 *   attr_version         1.3, 1.4, 2.0 or 2.1, also as x.y.0 (default 2.0)
 *   attr_ieee_oui        0..0xffffff (default 0)
 *   attr_allow_any_host  0 or 1 (default 0)
 *   attr_cntlid_min, attr_cntlid_max   1..65519, min <= max (default 1, 65519)
 *   attr_qid_max         1..1024 I/O queues per controller (default 128)
 *   attr_max_queue_size  16..1024 entries of an I/O queue, 0 = what the port allows (default); the
 *                        smaller of port's and subsystem's counts
 *   attr_pi_enable       0 only: end-to-end protection is not implemented
 * get returns a new string to be freed with g_free(), or NULL. Errors: KEY, VALUE.
 */
bool lst_subsys_set(struct lst_subsys *subsys, const char *key, const char *value, GError **err);
char *lst_subsys_get(const struct lst_subsys *subsys, const char *key, GError **err);
/* The attributes' names by number, for listings: NULL behind the last. */
const char *lst_subsys_key(unsigned index);

/*
 * Hosts that may connect while attr_allow_any_host is 0. Removing one drops its connections.
 * Errors: VALUE, EXISTS, LIMIT.
 */
bool lst_subsys_allow_host(struct lst_subsys *subsys, const char *hostnqn, GError **err);
bool lst_subsys_disallow_host(struct lst_subsys *subsys, const char *hostnqn, GError **err);
/* The hosts by number, in the order they were allowed; NULL behind the last. */
const char *lst_subsys_host(const struct lst_subsys *subsys, unsigned index);

/* ---- Namespaces ------------------------------------------------------------------------------ */

/*
 * lst_subsys_add_ns: namespace @nsid, 1..LST_NSID_MAX, disabled, without media. Errors: VALUE,
 * EXISTS.
 */
struct lst_ns *lst_subsys_add_ns(struct lst_subsys *subsys, uint32_t nsid, GError **err);
struct lst_ns *lst_subsys_find_ns(struct lst_subsys *subsys, uint32_t nsid);
/*
 * Disables and removes it; what was kept for it is forgotten. Requests in flight finish; @done (may be NULL) is called when the last
 * has: then the backend may be freed.
 */
void lst_subsys_remove_ns(struct lst_subsys *subsys, struct lst_ns *ns,
                          void (*done)(void *backend));

/*
 * lst_ns_set, lst_ns_get: attributes as text.
 *   device_uuid    xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx (default: derived from NQN and NSID)
 *   device_nguid   the same form or 32 hex digits, all 0 = none (default: the UUID's bytes)
 *   device_eui64   16 hex digits, all 0 = none (default: none)
 *   ana_grpid      1..128 (default 1)
 *   resv_enable    0 or 1 (default 0): reservations. 0 forgets what was registered and held
 *   enable         0 or 1, as lst_ns_enable()
 * All but ana_grpid and enable: only while disabled. Errors: KEY, VALUE, STATE.
 */
bool lst_ns_set(struct lst_ns *ns, const char *key, const char *value, GError **err);
char *lst_ns_get(const struct lst_ns *ns, const char *key, GError **err);
const char *lst_ns_key(unsigned index);

/*
 * lst_ns_attach: the media.
 * @backend: opaque, in each lst_io. @size: bytes, a multiple of @block_size, not 0. @block_size:
 * 512 or 4096. May be called again on an enabled namespace to change the size (hosts get a notice);
 * then @block_size must stay the same. Errors: VALUE, STATE.
 */
bool lst_ns_attach(struct lst_ns *ns, void *backend, uint64_t size, uint32_t block_size,
                   GError **err);
/*
 * lst_ns_set_zones: makes a namespace zoned that has media and is not enabled. Its size stays.
 * @config: copied; its size is not 0. @store: where the state of the zones is kept, see zones_new();
 * must live as long as the backend. May be NULL. Errors: VALUE, STATE.
 */
bool lst_ns_set_zones(struct lst_ns *ns, const struct zone_config *config, void *store,
                      GError **err);
/* NULL: not zoned. Valid until the next lst_ns_set_zones() and no longer than the namespace. */
const struct zones *lst_ns_zones(const struct lst_ns *ns);
/*
 * lst_ns_set_zone_state: a zone, by number, changes as if by a fault of the medium: hosts get a
 * notice, and the Changed Zone List says which it was.
 * @state: full, read-only or offline; a zone that is offline stays so. Errors: VALUE.
 */
bool lst_ns_set_zone_state(struct lst_ns *ns, uint32_t zone, const char *state, GError **err);
/*
 * lst_ns_enable: make it visible to hosts or hide it; hosts get a notice. Enabling needs media:
 * else STATE. The first time it takes up what lst_front_ops.ns_kept has for it: VALUE if that is
 * not what ns_keep was given, or the front's error.
 */
bool lst_ns_enable(struct lst_ns *ns, bool enable, GError **err);
bool lst_ns_enabled(const struct lst_ns *ns);
uint32_t lst_ns_id(const struct lst_ns *ns);
/* Of its subsystem. */
const char *lst_ns_nqn(const struct lst_ns *ns);
/* What lst_ns_attach() was given last, or NULL. */
void *lst_ns_backend(const struct lst_ns *ns);

/* ---- Ports ----------------------------------------------------------------------------------- */

/*
 * lst_target_add_port: @portid 0..65535; no address yet, no subsystems. Errors: VALUE, EXISTS,
 * LIMIT.
 */
struct lst_port *lst_target_add_port(struct lst_target *target, uint32_t portid, GError **err);
struct lst_port *lst_target_find_port(struct lst_target *target, uint32_t portid);
/* Drops its connections; the pointer is dead. */
void lst_target_remove_port(struct lst_target *target, struct lst_port *port);
uint32_t lst_port_id(const struct lst_port *port);

/*
 * lst_port_set, lst_port_get: attributes as text. Addresses are what discovery log entries say;
 * listening is the front's.
 *   addr_trtype   "tcp" only (default)
 *   addr_adrfam   ipv4 or ipv6 (default ipv4)
 *   addr_traddr   1..255 characters (default 127.0.0.1). 0.0.0.0 and :: are shown to a host as the
 *                 address it came to
 *   addr_trsvcid  1..65535 (default 4420)
 *   addr_treq     "not specified", "required" or "not required" (default "not specified")
 *   addr_tsas     "none" only (default): TLS is not implemented
 *   param_inline_data_size   0..65536, a multiple of 16 (default 16384): in-capsule data of I/O
 *                            commands
 *   param_max_queue_size     16..1024, 0 = 128 (default 128): entries of an I/O queue; CAP.MQES
 *                            is this less one
 *   param_pi_enable          0 only
 *   tcp_cpda        0..31 (default 0): ICResp.CPDA; hosts must start data at multiples of
 *                   (tcp_cpda + 1) * 4 bytes. Linux takes only 0
 *   tcp_maxh2cdata  4096..1048576, a multiple of 4 (default 131072): ICResp.MAXH2CDATA
 *   tcp_max_r2t     1..16 (default 4): R2Ts in flight for one command, if the host's MAXR2T allows
 *   tcp_r2t_size    4096..1048576, a multiple of 4 (default 262144): what one R2T asks for at most
 * Errors: KEY, VALUE. param_ and tcp_ changes hold for connections made afterwards; the names with
 * tcp_ are ours, not nvmet's.
 */
bool lst_port_set(struct lst_port *port, const char *key, const char *value, GError **err);
char *lst_port_get(const struct lst_port *port, const char *key, GError **err);
const char *lst_port_key(unsigned index);

/*
 * Subsystems that are reached through the port. Removing one drops its connections there. Errors:
 * EXISTS; VALUE if absent.
 */
bool lst_port_add_subsys(struct lst_port *port, struct lst_subsys *subsys, GError **err);
bool lst_port_remove_subsys(struct lst_port *port, struct lst_subsys *subsys, GError **err);
/* The subsystems by number, in the order they were added; NULL behind the last. */
struct lst_subsys *lst_port_subsys(const struct lst_port *port, unsigned index);

/*
 * lst_port_set_ana_state: the state of group @grpid (1..128) through this port; hosts get a notice.
 * @state: optimized (what every group starts with), non-optimized, inaccessible, persistent-loss,
 * change. Errors: VALUE.
 */
bool lst_port_set_ana_state(struct lst_port *port, uint32_t grpid, const char *state, GError **err);
/* The state as the same text; grpid must be valid. */
const char *lst_port_ana_state(const struct lst_port *port, uint32_t grpid);

/*
 * lst_port_add_referral: another discovery service, listed by this target's discovery controllers
 * on every port.
 * @name: unique in the port. @adrfam, @traddr, @trsvcid, @portid: as for a port. Errors: VALUE,
 * EXISTS, LIMIT.
 */
bool lst_port_add_referral(struct lst_port *port, const char *name, const char *adrfam,
                           const char *traddr, const char *trsvcid, uint32_t portid, GError **err);
bool lst_port_remove_referral(struct lst_port *port, const char *name, GError **err);

/* GENCTR of the discovery log: one more after each change that a host could see in it. */
uint64_t lst_target_genctr(const struct lst_target *target);

#endif
