/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test rig: an engine target, RAM media, virtual time, and host queues tied to it by memory
 * instead of sockets.
 * Not here: expectations; those stand in the tests.
 * No standard.
 */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/host_cmd.h"
#include "client/host_queue.h"
#include "engine/conn.h"
#include "engine/stats.h"
#include "engine/target.h"

#define RIG_NQN "nqn.2026-01.org.lockstep:unit"
#define RIG_HOST_NQN "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555"

enum {
    RIG_BLOCK = 512,
    RIG_BLOCKS = 16384,                 /* namespace 1: 8 MiB */
    RIG_MDTS_BYTES = 1 << 20,           /* engine/limits.h LST_MDTS: 2^8 pages of 4 KiB */
    RIG_ADMIN_ENTRIES = 32,
    RIG_IO_ENTRIES = 64,
    /* CC: IOSQES 6, IOCQES 4, EN: what Linux writes for 4 KiB pages, for NVM or all command sets. */
    RIG_CC_NVM = 0x00460001,
    RIG_CC_CSI = 0x00460061,
};
#define RIG_MS ((uint64_t)1000000)      /* ns */
#define RIG_S (1000 * RIG_MS)

typedef struct RigMedia {
    uint8_t *bytes;
    uint64_t size;
    uint16_t status;                    /* of every request; 0: execute */
} RigMedia;

typedef struct RigLink RigLink;

typedef struct Rig {
    struct lst_target *target;
    struct lst_port *port;              /* id 1 */
    struct lst_subsys *subsys;          /* RIG_NQN, any host */
    struct lst_ns *ns;                  /* id 1 */
    RigMedia media;                     /* of namespace 1 */
    uint64_t now;                       /* ns */
    GPtrArray *links;                   /* RigLink, owned */
    uint8_t who;                        /* which host connects: changes the host identifier */
    char *kept;                         /* of rig_new_keeping(): namespace 1's state, or NULL */
    bool keep_fails;
    const char *elsewhere;              /* NQN of a subsystem that another target serves, or NULL */
    bool defer;                         /* keep requests in ios instead of executing them */
    bool stubborn;                      /* these cannot be cancelled */
    GQueue ios;                         /* struct lst_io, oldest first */
    uint32_t cc;                        /* what rig_enable() writes; RIG_CC_NVM at first */
    unsigned ios_by_op[LST_IO_OP_COUNT];
    unsigned events[LST_EVENT_COUNT];   /* trace events seen */
    struct lst_event last_terminate;
} Rig;

/* One connection. host is NULL for raw links, whose output is collected in received. */
struct RigLink {
    Rig *rig;
    struct lst_conn *conn;              /* NULL once closed */
    HostQueue *host;
    GByteArray *received;               /* raw links, or after capture was set */
    /* the target's output goes to received although there is a host queue */
    bool capture;
    /* if set, what the host queue has sent is kept here; the caller's */
    GByteArray *sent;
    size_t to_target;                   /* largest piece; 0: no limit */
    size_t to_host;
    /* if set, pieces have random sizes from 1 to the limits above */
    GRand *split;
    bool ready;                         /* the engine has said so since we last looked */
    bool more;                          /* output was left when we looked */
    bool closed;                        /* by the target */
    bool reset;                         /* with a TCP reset */
    bool fault_expected;                /* else a fault of the host queue fails the test */
    uint16_t cntlid;                    /* from Connect */
    uint8_t who;                        /* Rig.who when it connected */
};

/* What became of a command. */
typedef struct RigResult {
    bool done;
    uint16_t status;                    /* SCT << 8 | SC */
    bool dnr;
    uint32_t dw0;
    unsigned order;                     /* 1 for the first completion of the process, ... */
    HostCompletion completion;
} RigResult;

Rig *rig_new(void);
/* The same with a namespace of @blocks blocks. */
Rig *rig_new_sized(uint64_t blocks);
/* The same, with a front that keeps namespace 1's state. */
Rig *rig_new_keeping(void);
/* Frees links, requests and target. */
void rig_free(Rig *rig);

/* Moves bytes on all links until nothing moves any more. */
void rig_pump(Rig *rig);
/* Lets virtual time pass and pumps. */
void rig_advance(Rig *rig, uint64_t ns);

/* Completes the oldest request that was put off with @status (0: after executing it) and pumps. */
void rig_complete_io(Rig *rig, uint16_t status);

/* Host queue configurations: admin or I/O queue without digests. */
HostQueueConfig rig_admin_config(void);
HostQueueConfig rig_io_config(void);

RigLink *rig_link_raw(Rig *rig, struct lst_port *port);
/* A connection that has exchanged ICReq and ICResp. @port NULL: rig->port. */
RigLink *rig_link(Rig *rig, struct lst_port *port, const HostQueueConfig *config);
/* Closes and frees it as a host that goes away would. */
void rig_unlink(RigLink *link);

/* Sends raw bytes on a link, pumps. */
void rig_send(RigLink *link, const void *bytes, size_t length);

/* Connect data with this host's NQN and id. @subnqn NULL: RIG_NQN. */
struct nvf_connect_data rig_connect_data(const char *subnqn, uint16_t cntlid);

/*
 * Submits and pumps; the completion goes to @result, later if the command waits. Returns the
 * command id.
 */
int rig_submit(RigLink *link, struct nv_sqe sqe, HostDataKind kind, void *buf, uint32_t length,
               RigResult *result);
/* The same for commands that complete; returns the status without DNR. @result may be NULL. */
uint16_t rig_do(RigLink *link, struct nv_sqe sqe, HostDataKind kind, void *buf, uint32_t length,
                RigResult *result);
/* The same for commands without data, and for those that bring some. */
uint16_t rig_run(RigLink *link, struct nv_sqe sqe);
uint16_t rig_in(RigLink *link, struct nv_sqe sqe, void *buf, uint32_t length);
/* For callbacks of host_queue_submit() and its sisters: opaque is a RigResult. */
void rig_completed(HostQueue *queue, void *opaque, const HostCompletion *completion);

/* A connected admin queue; enabled: CC.EN has been set as Linux sets it. @subnqn NULL: RIG_NQN. */
RigLink *rig_admin_to(Rig *rig, struct lst_port *port, const char *subnqn,
                      const HostQueueConfig *config, uint32_t kato_ms);
RigLink *rig_admin(Rig *rig);
/* A connected I/O queue of the same controller. */
RigLink *rig_io(Rig *rig, const RigLink *admin, uint16_t qid, const HostQueueConfig *config);
void rig_enable(RigLink *admin);
uint64_t rig_property(RigLink *admin, uint32_t offset, bool wide);

/*
 * The usual: a rig with an admin queue, I/O queue 1 and two buffers that hold MDTS and a block
 * more.
 */
typedef struct RigIo {
    Rig *rig;
    RigLink *admin;
    RigLink *io;
    uint8_t *out;
    uint8_t *in;
} RigIo;

/* @config of the I/O queue; NULL: rig_io_config(). */
RigIo rig_io_setup(const HostQueueConfig *config);
void rig_io_teardown(RigIo *s);
/* Reads into in or writes from out, namespace 1; the status. */
uint16_t rig_rw(RigIo *s, uint8_t opcode, uint64_t slba, uint32_t bytes, HostDataKind kind);
/* Writes a pattern at @slba, looks at the media, reads it back. */
void rig_round_trip(RigIo *s, uint64_t slba, uint32_t bytes, HostDataKind kind, uint32_t seed);

/* Bytes that differ at every offset, seed and block. */
void rig_pattern(uint8_t *bytes, size_t length, uint32_t seed);

/*
 * A second namespace, subsystem and so on are made with the engine's own calls; this gives one
 * media.
 */
struct lst_ns *rig_add_ns(struct lst_subsys *subsys, uint32_t nsid, RigMedia *media, uint64_t size,
                          uint32_t block);

#endif
