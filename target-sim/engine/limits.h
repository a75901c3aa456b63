/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every limit of the engine, in one place: what a peer or a configuration may ask for, and how long
 * the engine waits.
 * Not here: limits that a standard fixes (include/lockstep/).
 * Fabrics 1.1, TCP transport 1.0 where a comment says so; the rest are choices.
 */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

enum lst_limits {
    /* configuration objects */
    LST_SUBSYS_MAX = 1024,               /* subsystems of a target */
    LST_PORTS_MAX = 1024,                /* ports of a target, and the highest port id is 65535 */
    LST_HOSTS_MAX = 1024,                /* allowed hosts of a subsystem */
    LST_REFERRALS_MAX = 64,              /* referrals of a port */
    /* subsystems on ports, all told: entries of the discovery log */
    LST_LINKS_MAX = 16384,
    LST_NSID_MAX = 1024,                 /* namespaces of a subsystem; Identify NN and MNAN */
    LST_ANA_GROUPS_MAX = 128,            /* ANA group ids are 1..128 */

    /* controllers and queues */
    LST_QUEUE_SIZE_MIN = 16,             /* param_max_queue_size */
    LST_QUEUE_SIZE_MAX = 1024,
    LST_QUEUE_SIZE_DEFAULT = 128,
    LST_ADMIN_QUEUE_SIZE = 32,           /* ASQSZ in discovery entries */
    LST_QID_MAX = 1024,                  /* attr_qid_max */
    LST_QID_DEFAULT = 128,
    /* outstanding Asynchronous Event Requests; AERL is this less one */
    LST_AER_MAX = 4,
    /* Aborts that wait for the command that they abort; ACL is this less one */
    LST_ABORT_MAX = 4,
    LST_REGISTRANTS_MAX = 256,           /* hosts registered with a namespace */
    LST_RESV_PAGES = 32,                 /* reservation notifications that wait to be read */
    LST_ERROR_LOG_ENTRIES = 64,          /* ELPE is this less one */
    LST_READY_TIMEOUT_500MS = 15,        /* CAP.TO and CRTO; enabling takes no time at all */
    LST_KAS_100MS = 10,                  /* keep-alive granularity: one second */

    /* what a simulated drive reports; nothing depends on it */
    LST_TEMP_K = 308,
    LST_TEMP_WARNING_K = 343,
    LST_TEMP_CRITICAL_K = 358,
    LST_ANATT_S = 10,

    /* transfers */
    LST_MDTS = 8,                        /* log2 of 4 KiB units: 1 MiB */
    LST_TRANSFER_MAX = 4096 << LST_MDTS,
    LST_INLINE_MAX = 65536,              /* param_inline_data_size */
    LST_INLINE_DEFAULT = 16384,
    LST_MAXH2CDATA_DEFAULT = 131072,     /* tcp_maxh2cdata: ICResp.MAXH2CDATA */
    LST_R2T_SIZE_MIN = 4096,             /* tcp_r2t_size: bytes that one R2T asks for at most */
    LST_R2T_SIZE_DEFAULT = 262144,
    LST_R2TS_MAX = 16,                   /* tcp_max_r2t: R2Ts in flight for one command */
    LST_R2TS_DEFAULT = 4,
    /* TTAG: slot number plus one below, a generation above; FFFFh is never one */
    LST_TTAG_SHIFT = 11,
    LST_TTAG_GENERATIONS = 31,
    /* no PDU of any connection is longer: the header is damaged */
    LST_PLEN_MAX = 2 << 20,
    LST_ZASL = 7,                        /* as LST_MDTS, for Zone Append: 512 KiB */
    LST_ZONE_APPEND_MAX = 4096 << LST_ZASL,
    LST_FUSED_BYTES = 64 << 10,          /* of a fused Compare and Write: ACWU, NACWU */
    LST_COPY_RANGES = 128,               /* of a Copy; MSRC is this less one */
    LST_COPY_RANGE_BLOCKS = 2048,        /* MSSRL */
    LST_COPY_BLOCKS = 8192,              /* MCL */
    LST_COPY_CHUNK = 128 << 10,          /* bytes that a Copy has in memory */
    /* blocks of a namespace that Write Uncorrectable has marked and nothing has written since */
    LST_UNCORRECTABLE_MAX = 1 << 20,
    /* bytes of data buffers of one connection; commands beyond wait their turn */
    LST_CONN_BUFFERS = 16 << 20,
    LST_IOV_MAX = 192,                   /* more entries per lst_conn_output() bring nothing */

    /* faults on demand */
    LST_FAULTS_MAX = 64,                 /* rules of a target */
    LST_FAULT_US_MAX = 2000000000,       /* any time in a rule, microseconds */
    LST_FAULT_REORDER_US = 1000000,      /* nothing comes to pass the completion: send it anyway */
    LST_FAULT_HALF_OPEN_US = 300000000,  /* a host that never notices does not keep us for ever */
    LST_FAULT_R2T_BYTES = 512,           /* R2TL of an R2T that nobody needs */
    LST_FAULT_R2T_TTAG = 0xfffe,         /* and its TTAG, which none of ours has */

    /* cost of what is idle: buffers kept for reuse by a target */
    LST_POOL_BYTES = 64 << 20,
    LST_POOL_REQS = 65536,

    /* times, milliseconds */
    LST_IC_TIMEOUT_MS = 10000,           /* connection made, no ICReq */
    LST_HANDSHAKE_S = 30,                /* limit_handshake: ICReq seen, no successful Connect */
    LST_HANDSHAKE_MAX_S = 3600,
    LST_IDLE_MAX_S = 86400,              /* limit_idle */
    /* C2HTermReq sent, the host does not close (TCP 1.0, 3.3.2.1) */
    LST_TERM_TIMEOUT_MS = 30000,
    /* discovery controller without a keep-alive timer and without commands */
    LST_DISCOVERY_TIMEOUT_MS = 120000,
};

#endif
