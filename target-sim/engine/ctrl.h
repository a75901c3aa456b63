/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NVMe core under any transport: controllers, queues, and requests (a command on its way to its
 * completion).
 * Not here: how commands and data reach the core (TCP: tcp.h; a PCIe front would map PRPs), media
 * (io.h).
 * NVM Express Base 2.0; Fabrics properties and Connect as in chapters 3.1.3 and 6.3.
 */
/*
 * What a transport does for each command:
 *
 *     req->queue = queue; req->sqe = ...; status = lst_req_prepare(req);
 *     status 0: req->dir and req->data_len say what data move; the transport checks its
 *               descriptors against them (lst_req_length_error() if they differ), gets a buffer,
 *               fills it if LST_DIR_IN, then lst_req_execute(req).
 *     else:     lst_req_complete(req, status)
 *     queue->ops->complete(req) is called exactly once, now or later: req->cqe is filled, the data
 *     are there if LST_DIR_OUT and the status is 0. Then, or to give a request up before it was
 *     executed: lst_req_release(req).
 */
#ifndef ENGINE_CTRL_H
#define ENGINE_CTRL_H

#include "engine/io.h"
#include "engine/model.h"
#include "engine/order.h"
#include "engine/resv_cmd.h"
#include "lockstep/nvme.h"
#include "lockstep/nvme_fabrics.h"

struct lst_queue;
struct lst_req;

enum lst_dir {
    LST_DIR_NONE,
    LST_DIR_IN,                          /* host to controller */
    LST_DIR_OUT,                         /* controller to host */
};

enum lst_command_flags {
    LST_CMD_IN = 1 << 0,
    LST_CMD_OUT = 1 << 1,
    LST_CMD_NS = 1 << 2,                 /* needs an accessible namespace */
    /* changes logical blocks: refused on a write-protected namespace */
    LST_CMD_WRITES = 1 << 3,
    LST_CMD_DISCOVERY = 1 << 4,          /* discovery controllers have it too */
    LST_CMD_DISABLED = 1 << 5,           /* allowed while the controller is not enabled */
    LST_CMD_CONNECT = 1 << 6,            /* allowed before Connect */
    LST_CMD_IO_QUEUE = 1 << 7,           /* Fabrics commands: allowed on I/O queues */
    LST_CMD_ZONED = 1 << 8,              /* for zoned namespaces only */
};

/* One command of a command set. Missing entries have no run function. */
struct lst_command {
    unsigned flags;
    /* Checks the command's fields and says how many bytes of data it moves; NULL: none. */
    uint16_t (*length)(struct lst_req *req, uint32_t *len);
    /* Executes; must end, now or later, in lst_req_complete(). */
    void (*run)(struct lst_req *req);
};
extern const struct lst_command lst_admin_commands[256];
extern const struct lst_command lst_io_commands[256];
extern const struct lst_command lst_fabrics_commands[256];   /* by FCTYPE */

struct lst_queue_ops {
    void (*complete)(struct lst_req *req);
    /* Connect succeeded: qid, size and flow_control are set. */
    void (*connected)(struct lst_queue *queue);
    /* The command of that identifier that is not completed yet and can be aborted; or NULL. */
    struct lst_req *(*find)(struct lst_queue *queue, uint16_t cid);
    /* Ends @req with NV_SC_ABORT_REQUESTED, now or later; false: it ends as it would anyway. */
    bool (*abort)(struct lst_req *req);
    /*
     * Ends the queue: nothing more is taken, all its commands end, and @req with success as the
     * last of them.
     */
    void (*disconnect)(struct lst_req *req);
    /* The core gave the queue up (queue->ctrl is NULL already): end the connection. */
    void (*shutdown)(struct lst_queue *queue);
};

struct lst_queue {
    const struct lst_queue_ops *ops;
    struct lst_target *target;
    struct lst_port *port;
    /* numeric, "" if unknown: for discovery entries of wildcard ports */
    const char *local_addr;
    bool fabrics;                        /* properties, Connect, SGLs */
    uint32_t inline_size;                /* the port's, as of the connection's making */
    uint32_t max_size;                   /* entries */
    struct lst_ctrl *ctrl;               /* NULL before Connect and after the end */
    bool connected;                      /* a Connect succeeded, whatever happened since */
    uint16_t qid;
    uint16_t size;                       /* entries; 0 before Connect */
    bool flow_control;
    uint16_t sqhd;
    uint64_t trace_id;                   /* the connection's id */
    uint64_t read_bytes, write_bytes, failed;
    struct lst_command_stats *commands;
    struct lst_req *fuse_first;          /* the last command, if its other half must be next */
    bool fuse_failed;                    /* so was the last command, but it has failed already */
};

/* How far a reset of zones has come. */
struct lst_zone_reset {
    uint32_t zone, count;                /* that the backend discards */
    struct lst_io_range range;
};

/* A half of a fused pair. */
struct lst_fused {
    struct lst_req *partner;             /* NULL: not there yet, or not any more */
    bool here;                           /* with its data */
    uint16_t status;                     /* what it is to be completed with; 0: execute it */
};

/* See lst_io_steps(). */
typedef bool lst_step_fn(struct lst_req *req, uint16_t status);

/* How far a Copy has come. */
struct lst_copy {
    uint32_t range;                      /* in the host's list */
    uint32_t done;                       /* blocks of it */
    uint64_t to;                         /* the block that is written next */
    bool writing;                        /* the last request was a write: a read is next */
};

struct lst_req {
    struct nv_sqe sqe;
    struct nv_cqe cqe;
    struct lst_queue *queue;
    const struct lst_command *command;
    enum lst_dir dir;
    bool at_backend;                     /* an lst_io is out: the request must not be freed */
    uint16_t param_location;             /* for the error log */
    uint64_t start_ns;                   /* of lst_front_ops.clock */
    uint32_t data_len;
    /* a descriptor may be this long; data_len for all but few commands */
    uint32_t data_max;
    uint8_t *data;                       /* the transport's buffer */
    struct lst_ns *ns;                   /* holds a reference */
    enum lst_resv_part resv_part;
    GList resv_link;                     /* of lst_ns_resv */
    /* Compare, Copy: what the media hold; from the target's pool */
    uint8_t *scratch;
    uint32_t scratch_len;
    struct lst_io io;
    /* who gets the backend's answer instead of completing the command with it; NULL: nobody */
    void (*io_done)(struct lst_req *req, uint16_t status);
    struct iovec iov;
    /* a command of several requests to the backend, see lst_io_steps() */
    lst_step_fn *step;
    bool stepping, step_ready;
    uint16_t step_status;
    uint16_t abort_status;               /* of a command that takes no further step; 0: it does */
    struct lst_copy copy;
    struct lst_zone_reset reset;
    bool placed;                         /* Zone Append: its blocks are behind the write pointer */
    struct lst_order order;
    struct lst_fused fused;
    struct lst_req *aborting;            /* of an Abort: the command that it waits for */
    struct lst_req *aborted_by;          /* and the reverse */
};

/* Controllers keep these per event kind, see aer.c. */
struct lst_aer {
    struct lst_req *reqs[LST_AER_MAX];
    unsigned count;
    uint32_t config;                     /* feature 0Bh */
    unsigned pending;                    /* bits by enum lst_notice: to be told */
    unsigned masked;                     /* told, log page not read yet */
};

struct lst_features {
    uint32_t arbitration;
    uint32_t power;
    uint16_t temp_over, temp_under;      /* kelvin */
    bool temp_warned;                    /* the event for what is the matter now was made */
    uint32_t error_recovery;
    bool write_cache;
    uint32_t write_atomicity;
    uint64_t timestamp_ms;               /* as set */
    uint64_t timestamp_at_ns;
    bool timestamp_set;
    uint8_t host_behavior[512];
};

struct lst_ctrl {
    GList link;                          /* of target->ctrls */
    struct lst_target *target;
    struct lst_subsys *subsys;
    struct lst_port *port;
    uint16_t cntlid;
    uint8_t hostid[16];
    char hostnqn[NV_NQN_FIELD];
    char *local_addr;
    uint32_t inline_size;
    uint32_t max_queue_size;
    struct lst_queue *admin;
    GPtrArray *io_queues;                /* by qid - 1, with holes */
    unsigned io_queue_count;
    uint32_t io_queues_granted;          /* Number of Queues */
    uint32_t cc;
    uint32_t csts;
    uint32_t kato_ms;
    uint64_t last_command_ns;
    struct lst_timer timer;              /* keep-alive, or idle */
    struct lst_aer aer;
    struct lst_features features;
    uint32_t changed_ns[LST_NSID_MAX / 32 + 1];
    /* ring of LST_ERROR_LOG_ENTRIES, made at the first error */
    struct nv_log_error *errors;
    uint64_t error_count;
    struct lst_resv_log *resv_log;       /* NULL: no pages, no masks */
    GHashTable *changed_zones;           /* struct nv_log_changed_zones by NSID; NULL: none */
    unsigned aborts;                     /* that wait for their command */
    GByteArray *discovery_log;           /* the snapshot that is being read; NULL: none yet */
    unsigned discovery_lsp;              /* which form it has */
};

/* ---- req.c */
uint16_t lst_req_prepare(struct lst_req *req);
/*
 * The descriptor's length does not fit: the status to complete with (Connect's own, or Data SGL
 * Length Invalid).
 */
uint16_t lst_req_length_error(struct lst_req *req);
void lst_req_execute(struct lst_req *req);
/* @status: SCT << 8 | SC with or without NV_DNR. DW0 and DW1 must be set before. */
void lst_req_complete(struct lst_req *req, uint16_t status);
void lst_req_release(struct lst_req *req);

/* ---- ctrl.c */
/* Makes a controller for Connect, with the CNTLID of @data or a free one; NULL if it is not free. */
struct lst_ctrl *lst_ctrl_new(struct lst_queue *admin, struct lst_subsys *subsys,
                              const struct nvf_connect_data *data, uint32_t kato_ms);
struct lst_ctrl *lst_ctrl_find(const struct lst_subsys *subsys, uint16_t cntlid);
/* Ends the association: all queues are given up; the controller is freed. */
void lst_ctrl_destroy(struct lst_ctrl *ctrl);
void lst_ctrl_fatal(struct lst_ctrl *ctrl);
/* Writes CC: enable, reset, shutdown. */
void lst_ctrl_write_cc(struct lst_ctrl *ctrl, uint32_t cc);
uint64_t lst_ctrl_cap(const struct lst_ctrl *ctrl);
bool lst_ctrl_ready(const struct lst_ctrl *ctrl);
/* The host has enabled all command sets, not the NVM Command Set alone. */
bool lst_ctrl_has_csi(const struct lst_ctrl *ctrl);
struct lst_queue *lst_ctrl_io_queue(const struct lst_ctrl *ctrl, uint16_t qid);
void lst_ctrl_add_io_queue(struct lst_ctrl *ctrl, struct lst_queue *queue);
/*
 * The transport lost the queue. Its Admin queue takes the controller along. Does nothing for a
 * queue without controller.
 */
void lst_queue_detach(struct lst_queue *queue);
/* Every controller for which @match is true goes. */
void lst_ctrls_drop(struct lst_target *target,
                    bool (*match)(const struct lst_ctrl *ctrl, const void *key), const void *key);
void lst_ctrl_log_error(struct lst_ctrl *ctrl, const struct lst_req *req, uint16_t status);

/* ---- io.c */
/* Whether these blocks are in the namespace. */
bool lst_ns_has(const struct lst_ns *ns, uint64_t slba, uint64_t blocks);
/* CDW10 and CDW11 of commands on blocks. */
uint64_t lst_io_slba(const struct lst_req *req);
uint32_t lst_io_blocks(const struct lst_req *req);
/* What the next request to the backend is about; @data (NULL: none) holds all its bytes. */
void lst_io_set(struct lst_req *req, uint64_t slba, uint64_t blocks, void *data);
/* A buffer that belongs to the request, in req->scratch. */
void lst_io_scratch(struct lst_req *req, uint32_t len);
/*
 * lst_io_submit: sends req->io to the backend, or not if the namespace is gone or cannot take it.
 * When that has ended, now or later, the next step is taken; a request without steps is completed.
 */
void lst_io_submit(struct lst_req *req, enum lst_io_op op);
/*
 * lst_io_steps: executes a command of several requests to the backend, or of none.
 * @step: called with status 0 first, then with that of each request that it submitted. It submits
 * one and returns true, or completes the command and returns false.
 */
void lst_io_steps(struct lst_req *req, lst_step_fn *step);
/* Whether a request that waited for others may still execute: its queue, reservations. */
uint16_t lst_io_recheck(const struct lst_req *req);
/* True: the host or its queue is gone, nothing more is to be done for them. */
bool lst_queue_gone(const struct lst_queue *queue);

/* ---- abort.c */
void lst_abort_run(struct lst_req *abort);
/*
 * lst_req_abort: ends a request, which was given to lst_req_execute(), with @status, now or later.
 * Returns false if it ends as it would have anyway.
 */
bool lst_req_abort(struct lst_req *req, uint16_t status);
/* The request ends, or is given up: the Abort that waits for it, for lst_abort_ended(), or NULL. */
struct lst_req *lst_abort_detach(struct lst_req *req);
void lst_abort_ended(struct lst_req *abort, uint16_t status);

/* ---- fused.c */
/* To be called for each command of a queue in the order of submission. */
void lst_fused_arrived(struct lst_req *req);
/* Whether the fuse bits of the command are right. */
uint16_t lst_fused_check(const struct lst_req *req);
/* In place of the command's own function. */
void lst_fused_execute(struct lst_req *req);
/* The request ends, or is given up: its partner, which is to be told with lst_fused_ended(), or NULL. */
struct lst_req *lst_fused_detach(struct lst_req *req);
/* @status: that the other half was completed with. */
void lst_fused_ended(struct lst_req *partner, uint16_t status);

/* ---- copy.c: for the I/O command table */
uint16_t lst_copy_length(struct lst_req *req, uint32_t *len);
void lst_copy_run(struct lst_req *req);

/* ---- props.c */
uint16_t lst_property_get(struct lst_ctrl *ctrl, uint32_t offset, unsigned size, uint64_t *value);
uint16_t lst_property_set(struct lst_ctrl *ctrl, uint32_t offset, unsigned size, uint64_t value);

/* ---- identify.c, features.c, feature_values.c, feature_media.c, logpage.c, discovery.c, ana.c: for the Admin command table */
uint16_t lst_identify_length(struct lst_req *req, uint32_t *len);
void lst_identify_run(struct lst_req *req);
/* identify_lists.c: for the table by CNS; @data is zeroed */
uint16_t lst_identify_active(struct lst_req *req, uint8_t *data);
uint16_t lst_identify_active_csi(struct lst_req *req, uint8_t *data);
uint16_t lst_identify_allocated(struct lst_req *req, uint8_t *data);
uint16_t lst_identify_allocated_csi(struct lst_req *req, uint8_t *data);
uint16_t lst_identify_ctrls(struct lst_req *req, uint8_t *data);
uint16_t lst_identify_ns_ctrls(struct lst_req *req, uint8_t *data);
uint16_t lst_feature_get_length(struct lst_req *req, uint32_t *len);
uint16_t lst_feature_set_length(struct lst_req *req, uint32_t *len);
void lst_feature_get_run(struct lst_req *req);
void lst_feature_set_run(struct lst_req *req);
void lst_features_reset(struct lst_ctrl *ctrl);
/* Critical Warning of the SMART log; and to be called when it, or who wants to know, may differ. */
uint8_t lst_health_warnings(const struct lst_ctrl *ctrl);
void lst_health_check(struct lst_ctrl *ctrl);
/*
 * A write has ended. If the write cache was turned off since it began, what it wrote is flushed
 * first: true, and lst_io_complete() comes again.
 */
bool lst_write_cache_late(struct lst_req *req);
/* NWPC */
uint8_t lst_write_protect_capabilities(const struct lst_target *target);
void lst_features_log(const struct lst_ctrl *ctrl, uint32_t *entries);
uint16_t lst_log_length(struct lst_req *req, uint32_t *len);
void lst_log_run(struct lst_req *req);
void lst_ana_log(struct lst_ctrl *ctrl, GByteArray *log, bool groups_only);
uint16_t lst_ana_status(const struct lst_ctrl *ctrl, const struct lst_ns *ns);
/* Brings the controller's snapshot up to date. @lsp: enum nvf_lsp_discovery, known bits only. */
void lst_discovery_snapshot(struct lst_ctrl *ctrl, unsigned lsp);

/* ---- keepalive.c */
void lst_keepalive_start(struct lst_ctrl *ctrl, uint32_t kato_ms);
void lst_keepalive_seen(struct lst_ctrl *ctrl);
void lst_keepalive_stop(struct lst_ctrl *ctrl);

/* ---- aer.c */
void lst_aer_run(struct lst_req *req);
void lst_aer_notify(struct lst_ctrl *ctrl, enum lst_notice notice);
/* The log page that belongs to @notice was read with RAE clear. */
void lst_aer_acknowledge(struct lst_ctrl *ctrl, enum lst_notice notice);
/* Completes the waiting request with that CID, if there is one. */
bool lst_aer_abort(struct lst_ctrl *ctrl, uint16_t cid);
void lst_aer_flush(struct lst_ctrl *ctrl);
/* Gives all waiting requests back and forgets what was to be told. */
void lst_aer_reset(struct lst_ctrl *ctrl);

/* ---- command_stats.c */
void lst_stats_start(struct lst_req *req);
void lst_stats_end(struct lst_req *req, uint16_t status);
/* Adds @from to @to and frees it. */
void lst_stats_merge(struct lst_command_stats **to, struct lst_command_stats *from);
void lst_stats_free(struct lst_command_stats *stats);
size_t lst_stats_memory(const struct lst_command_stats *stats);

/* ---- trace.c; any of queue, ctrl, text may be NULL */
void lst_trace(struct lst_target *target, enum lst_event_id id, const struct lst_queue *queue,
               const struct lst_ctrl *ctrl, uint64_t arg0, uint64_t arg1, const char *text);

static inline uint64_t lst_ms(uint64_t ms)
{
    return ms * 1000000u;
}

static inline uint16_t lst_no_retry(unsigned status)
{
    return (uint16_t)(status | NV_DNR);
}

#endif
