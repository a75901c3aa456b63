/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVMe structures and codes as they are on the wire: commands, completions, Identify, log pages,
 * features, properties.
 * Not here: Fabrics commands (nvme_fabrics.h), NVMe/TCP PDUs (nvme_tcp.h), anything that only one
 * implementation needs.
 * NVM Express Base Specification 2.0, NVM Command Set Specification 1.0.
 */
/*
 * Every multi-byte field is little-endian; so must be the machine (asserted below), which keeps
 * field access plain. The prefixes (nv_, NV_; nvf_, NVF_; nvtcp_, NVTCP_) keep these headers usable
 * next to linux/nvme.h and QEMU's block/nvme.h. A structure is packed only where the wire puts a
 * field off its natural alignment.
 */
#ifndef LOCKSTEP_NVME_H
#define LOCKSTEP_NVME_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/stddef.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the Lockstep wire headers need a little-endian machine"
#endif

#define NV_SIZE_ASSERT(type, size) \
    _Static_assert(sizeof(type) == (size), #type " is not " #size " bytes")
#define NV_OFFSET_ASSERT(type, field, offset) \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field " is not at " #offset)

/* Sizes that the standard fixes. */
enum {
    NV_SQE_BYTES = 64,
    NV_CQE_BYTES = 16,
    NV_IDENTIFY_BYTES = 4096,
    NV_CNTLID_MAX = 0xffef,          /* the highest identifier a controller may have */
    NV_CNTLID_STATIC = 0xfffe,       /* Connect: any static controller */
    NV_CNTLID_DYNAMIC = 0xffff,      /* Connect: let the controller choose */
    NV_NQN_FIELD = 256,              /* bytes of an NQN field, with the terminating zero */
    NV_NQN_MAX = 223,                /* characters of an NQN */
    NV_DSM_RANGES_MAX = 256,
};
#define NV_NSID_ALL 0xffffffffu      /* an enumerator must fit an int */

/* ---- Commands -------------------------------------------------------------------------------- */

/* SGL descriptor (Base 2.0, 4.1.2). sgl_id: type in bits 7:4, sub type in bits 3:0. */
struct nv_sgl {
    uint64_t addr;       /* an offset for NV_SGL_OFFSET, reserved for NV_SGL_TRANSPORT */
    uint32_t length;     /* bytes */
    uint8_t rsvd12[3];
    uint8_t sgl_id;
};
NV_SIZE_ASSERT(struct nv_sgl, 16);
NV_OFFSET_ASSERT(struct nv_sgl, length, 8);
NV_OFFSET_ASSERT(struct nv_sgl, sgl_id, 15);

enum nv_sgl_id {
    NV_SGL_ADDRESS = 0x00,           /* data block, address */
    /* data block, offset into the capsule's data: in-capsule data */
    NV_SGL_OFFSET = 0x01,
    /* transport data block, transport specific sub type: R2T or C2HData */
    NV_SGL_TRANSPORT = 0x5a,
};

/* Submission queue entry (Base 2.0, 3.3.3.1). */
struct nv_sqe {
    uint8_t opcode;
    uint8_t flags;       /* fuse 1:0, psdt 7:6 */
    uint16_t cid;
    uint32_t nsid;
    uint32_t cdw2;
    uint32_t cdw3;
    uint64_t mptr;
    union {
        struct nv_sgl sgl;
        struct {
            uint64_t prp1;
            uint64_t prp2;
        };
    };
    uint32_t cdw10;
    uint32_t cdw11;
    uint32_t cdw12;
    uint32_t cdw13;
    uint32_t cdw14;
    uint32_t cdw15;
};
NV_SIZE_ASSERT(struct nv_sqe, NV_SQE_BYTES);
NV_OFFSET_ASSERT(struct nv_sqe, cid, 2);
NV_OFFSET_ASSERT(struct nv_sqe, nsid, 4);
NV_OFFSET_ASSERT(struct nv_sqe, sgl, 24);
NV_OFFSET_ASSERT(struct nv_sqe, cdw10, 40);

enum nv_sqe_flags {
    NV_FUSE_MASK = 0x03,
    NV_FUSE_FIRST = 0x01,
    NV_FUSE_SECOND = 0x02,
    NV_PSDT_MASK = 0xc0,
    NV_PSDT_PRP = 0x00,
    /* SGL for data, metadata (if any) contiguous: the value Fabrics hosts must use */
    NV_PSDT_SGL = 0x40,
};

/* Completion queue entry (Base 2.0, 3.3.3.2). */
struct nv_cqe {
    union {
        uint64_t result;             /* Fabrics: DW0 and DW1, e.g. a property's value */
        struct {
            uint32_t dw0;
            uint32_t dw1;
        };
    };
    uint16_t sqhd;
    uint16_t sqid;
    uint16_t cid;
    /* NV_STATUS() shifted left by one; bit 0 is the phase tag (0 on Fabrics) */
    uint16_t status;
};
NV_SIZE_ASSERT(struct nv_cqe, NV_CQE_BYTES);
NV_OFFSET_ASSERT(struct nv_cqe, sqhd, 8);
NV_OFFSET_ASSERT(struct nv_cqe, cid, 12);
NV_OFFSET_ASSERT(struct nv_cqe, status, 14);

/* A status without the phase tag: SC in bits 7:0, SCT in 10:8, CRD 12:11, More 13, DNR 14. */
#define NV_STATUS(sct, sc) ((uint16_t)((sct) << 8 | (sc)))
#define NV_STATUS_CODE(status) ((uint16_t)((status) & 0x7ff))
enum {
    NV_DNR = 0x4000,                 /* do not retry */
    NV_MORE = 0x2000,                /* more in the error log */
};

/* Status codes, as SCT << 8 | SC. */
enum nv_status {
    NV_SC_SUCCESS = 0x000,
    NV_SC_INVALID_OPCODE = 0x001,
    NV_SC_INVALID_FIELD = 0x002,
    NV_SC_CID_CONFLICT = 0x003,
    NV_SC_DATA_TRANSFER_ERROR = 0x004,
    NV_SC_INTERNAL = 0x006,
    NV_SC_ABORT_REQUESTED = 0x007,
    NV_SC_ABORT_SQ_DELETION = 0x008,
    NV_SC_FAILED_FUSED = 0x009,      /* Aborted due to Failed Fused Command */
    NV_SC_MISSING_FUSED = 0x00a,     /* Aborted due to Missing Fused Command */
    NV_SC_INVALID_NAMESPACE = 0x00b,
    NV_SC_COMMAND_SEQUENCE = 0x00c,
    NV_SC_SGL_LENGTH = 0x00f,        /* Data SGL Length Invalid */
    NV_SC_SGL_TYPE = 0x011,          /* SGL Descriptor Type Invalid */
    NV_SC_ATOMIC_UNIT = 0x014,       /* Atomic Write Unit Exceeded */
    NV_SC_SGL_OFFSET = 0x016,
    NV_SC_HOSTID_INCONSISTENT = 0x018,
    NV_SC_KATO_EXPIRED = 0x019,
    NV_SC_KATO_INVALID = 0x01a,
    NV_SC_PREEMPT_ABORT = 0x01b,     /* Command Aborted due to Preempt and Abort */
    NV_SC_NS_WRITE_PROTECTED = 0x020,
    NV_SC_COMMAND_INTERRUPTED = 0x021,
    NV_SC_TRANSIENT_TRANSPORT = 0x022,
    NV_SC_LBA_RANGE = 0x080,
    NV_SC_CAPACITY_EXCEEDED = 0x081,
    NV_SC_NS_NOT_READY = 0x082,
    NV_SC_RESERVATION_CONFLICT = 0x083,

    NV_SC_INVALID_QUEUE_ID = 0x101,
    NV_SC_ABORT_LIMIT = 0x103,
    NV_SC_AER_LIMIT = 0x105,
    NV_SC_INVALID_LOG_PAGE = 0x109,
    NV_SC_FEATURE_NOT_SAVEABLE = 0x10d,
    NV_SC_FEATURE_NOT_CHANGEABLE = 0x10e,
    NV_SC_FEATURE_NOT_NS_SPECIFIC = 0x10f,
    NV_SC_CSI_NOT_SUPPORTED = 0x129,
    NV_SC_CSI_COMBINATION_REJECTED = 0x12b,
    NV_SC_CSI_INVALID = 0x12c,       /* Invalid I/O Command Set */
    /* the same value is Fabrics' NVF_SC_INCOMPATIBLE_FORMAT */
    NV_SC_CONFLICTING_ATTRIBUTES = 0x180,
    NV_SC_READ_ONLY = 0x182,
    NV_SC_SIZE_LIMIT = 0x183,        /* Command Size Limit Exceeded */
    NV_SC_OVERLAPPING_RANGE = 0x187, /* Overlapping I/O Range */

    NV_SC_ZONE_BOUNDARY = 0x1b8,
    NV_SC_ZONE_FULL = 0x1b9,
    NV_SC_ZONE_READ_ONLY = 0x1ba,
    NV_SC_ZONE_OFFLINE = 0x1bb,
    NV_SC_ZONE_INVALID_WRITE = 0x1bc,
    NV_SC_TOO_MANY_ACTIVE = 0x1bd,
    NV_SC_TOO_MANY_OPEN = 0x1be,
    NV_SC_ZONE_TRANSITION = 0x1bf,   /* Invalid Zone State Transition */

    NV_SC_WRITE_FAULT = 0x280,
    NV_SC_READ_ERROR = 0x281,
    NV_SC_COMPARE_FAILURE = 0x285,
    NV_SC_DEALLOCATED = 0x287,

    NV_SC_PATH_INTERNAL = 0x300,
    NV_SC_ANA_PERSISTENT_LOSS = 0x301,
    NV_SC_ANA_INACCESSIBLE = 0x302,
    NV_SC_ANA_TRANSITION = 0x303,
    NV_SC_ABORTED_BY_HOST = 0x371,
};

enum nv_admin_opcode {
    NV_ADMIN_DELETE_SQ = 0x00,
    NV_ADMIN_CREATE_SQ = 0x01,
    NV_ADMIN_GET_LOG_PAGE = 0x02,
    NV_ADMIN_DELETE_CQ = 0x04,
    NV_ADMIN_CREATE_CQ = 0x05,
    NV_ADMIN_IDENTIFY = 0x06,
    NV_ADMIN_ABORT = 0x08,
    NV_ADMIN_SET_FEATURES = 0x09,
    NV_ADMIN_GET_FEATURES = 0x0a,
    NV_ADMIN_ASYNC_EVENT = 0x0c,
    NV_ADMIN_KEEP_ALIVE = 0x18,
};

enum nv_io_opcode {
    NV_IO_FLUSH = 0x00,
    NV_IO_WRITE = 0x01,
    NV_IO_READ = 0x02,
    NV_IO_WRITE_UNCORRECTABLE = 0x04,
    NV_IO_COMPARE = 0x05,
    NV_IO_WRITE_ZEROES = 0x08,
    NV_IO_DSM = 0x09,
    NV_IO_VERIFY = 0x0c,
    NV_IO_RESV_REGISTER = 0x0d,
    NV_IO_RESV_REPORT = 0x0e,
    NV_IO_RESV_ACQUIRE = 0x11,
    NV_IO_RESV_RELEASE = 0x15,
    NV_IO_COPY = 0x19,
    NV_IO_ZONE_SEND = 0x79,          /* Zone Management Send */
    NV_IO_ZONE_RECEIVE = 0x7a,
    NV_IO_ZONE_APPEND = 0x7d,
};

/* CDW12 of Read, Write, Write Zeroes, Compare, Verify: NLB (zero-based) in 15:0 and these. */
enum nv_rw_cdw12 {
    NV_RW_DEAC = 1u << 25,           /* Write Zeroes: deallocate */
    NV_RW_PRINFO_MASK = 0xfu << 26,
    NV_RW_FUA = 1u << 30,
};
#define NV_RW_LR (1u << 31)          /* limited retry */

/*
 * Dataset Management (NVM 1.0, 3.2.3): CDW10 is the zero-based number of ranges, CDW11 bit 2 asks
 * to deallocate.
 */
struct nv_dsm_range {
    uint32_t cattr;
    uint32_t nlb;                    /* blocks, not zero-based */
    uint64_t slba;
};
NV_SIZE_ASSERT(struct nv_dsm_range, 16);
enum { NV_DSM_DEALLOCATE = 1u << 2 };

/* ---- Reservations (Base 2.0, 7.2 to 7.5, 8.19) ----------------------------------------------- */

enum nv_resv_type {
    NV_RESV_NONE = 0,
    NV_RESV_WE = 1,                  /* Write Exclusive */
    NV_RESV_EA = 2,                  /* Exclusive Access */
    NV_RESV_WE_RO = 3,               /* - Registrants Only */
    NV_RESV_EA_RO = 4,
    NV_RESV_WE_AR = 5,               /* - All Registrants */
    NV_RESV_EA_AR = 6,
    NV_RESV_TYPES
};

/* CDW10 of Register, Acquire and Release: action 2:0, IEKEY 3; type 15:8; Register: CPTPL 31:30. */
enum nv_resv_cdw10 { NV_RESV_ACTION = 7, NV_RESV_IEKEY = 1 << 3 };
enum nv_resv_register_action {
    NV_RESV_REGISTER = 0,
    NV_RESV_UNREGISTER = 1,
    NV_RESV_REPLACE = 2
};
enum nv_resv_acquire_action {
    NV_RESV_ACQUIRE = 0,
    NV_RESV_PREEMPT = 1,
    NV_RESV_PREEMPT_ABORT = 2
};
enum nv_resv_release_action { NV_RESV_RELEASE = 0, NV_RESV_CLEAR = 1 };
enum nv_resv_cptpl { NV_CPTPL_KEEP = 0, NV_CPTPL_CLEAR = 2, NV_CPTPL_SET = 3 };

/* Data of Register and Acquire; Release brings the first key only. */
struct nv_resv_keys {
    uint64_t crkey;
    uint64_t second;                 /* Register: NRKEY; Acquire: PRKEY */
};
NV_SIZE_ASSERT(struct nv_resv_keys, 16);

/* Report: the header, padded to 64 bytes in the extended form, then one entry per registrant. */
struct nv_resv_status {
    uint32_t gen;
    uint8_t rtype;
    uint8_t regstrnt[2];             /* off its natural alignment */
    uint8_t rsvd7[2];
    uint8_t ptpls;
    uint8_t rsvd10[14];
};
NV_SIZE_ASSERT(struct nv_resv_status, 24);
NV_OFFSET_ASSERT(struct nv_resv_status, ptpls, 9);
struct nv_resv_registrant {
    uint16_t cntlid;                 /* FFFFh: a dynamic controller */
    uint8_t rcsts;                   /* bit 0: holds the reservation */
    uint8_t rsvd3[5];
    uint64_t hostid;
    uint64_t rkey;
};
NV_SIZE_ASSERT(struct nv_resv_registrant, 24);
struct nv_resv_registrant_ext {
    uint16_t cntlid;
    uint8_t rcsts;
    uint8_t rsvd3[5];
    uint64_t rkey;
    uint8_t hostid[16];
    uint8_t rsvd32[32];
};
NV_SIZE_ASSERT(struct nv_resv_registrant_ext, 64);
enum { NV_RESV_STATUS_EXT_BYTES = 64, NV_RESV_EDS = 1 };

/*
 * Copy (NVM 1.0, 3.2.2): CDW10 and CDW11 are the first block of the destination; the data are a list
 * of source ranges in one of these two formats. NLB is zero-based.
 */
struct nv_copy_range {
    uint8_t rsvd0[8];
    uint64_t slba;
    uint16_t nlb;
    uint8_t rsvd18[6];
    uint32_t eilbrt;
    uint16_t elbat;
    uint16_t elbatm;
};
NV_SIZE_ASSERT(struct nv_copy_range, 32);
NV_OFFSET_ASSERT(struct nv_copy_range, eilbrt, 24);

/* Format 1h: wider tags for protection information, and else the same. */
struct nv_copy_range1 {
    uint8_t rsvd0[8];
    uint64_t slba;
    uint16_t nlb;
    uint8_t rsvd18[8];
    uint8_t elbst[10];
    uint16_t elbat;
    uint16_t elbatm;
};
NV_SIZE_ASSERT(struct nv_copy_range1, 40);
NV_OFFSET_ASSERT(struct nv_copy_range1, elbst, 26);

/* CDW12 of Copy: the zero-based number of ranges in 7:0, their format in 11:8, FUA in 30. */
enum nv_copy_cdw12 {
    NV_COPY_NR_MASK = 0xff,
    NV_COPY_FORMAT_SHIFT = 8, NV_COPY_FORMAT_MASK = 0xf << 8,
};

/* ---- Zones (ZNS 1.1, chapters 2 and 3) ------------------------------------------------------- */

enum nv_zone_state {
    NV_ZONE_EMPTY = 0x1,
    NV_ZONE_IMPLICITLY_OPEN = 0x2,
    NV_ZONE_EXPLICITLY_OPEN = 0x3,
    NV_ZONE_CLOSED = 0x4,
    NV_ZONE_READ_ONLY = 0xd,
    NV_ZONE_FULL = 0xe,
    NV_ZONE_OFFLINE = 0xf,
};

/* CDW13 7:0 of Zone Management Send. */
enum nv_zone_action {
    NV_ZSA_CLOSE = 0x01,
    NV_ZSA_FINISH = 0x02,
    NV_ZSA_OPEN = 0x03,
    NV_ZSA_RESET = 0x04,
    NV_ZSA_OFFLINE = 0x05,
    NV_ZSA_EXTENSION = 0x10,         /* Set Zone Descriptor Extension */
};
enum { NV_ZSEND_ALL = 1 << 8 };      /* Select All */

/* CDW13 of Zone Management Receive: action in 7:0, which zones in 15:8. */
enum nv_zone_receive { NV_ZRA_REPORT = 0, NV_ZRA_EXTENDED_REPORT = 1 };
enum nv_zone_filter {
    NV_ZRASF_ALL = 0,
    NV_ZRASF_EMPTY = 1,
    NV_ZRASF_IMPLICITLY_OPEN = 2,
    NV_ZRASF_EXPLICITLY_OPEN = 3,
    NV_ZRASF_CLOSED = 4,
    NV_ZRASF_FULL = 5,
    NV_ZRASF_READ_ONLY = 6,
    NV_ZRASF_OFFLINE = 7,
};
enum { NV_ZRECEIVE_PARTIAL = 1 << 16 };

struct nv_zone_report_header {
    uint64_t count;                  /* zones */
    uint8_t rsvd8[56];
};
NV_SIZE_ASSERT(struct nv_zone_report_header, 64);

struct nv_zone_descriptor {
    uint8_t zt;
    uint8_t zs;                      /* enum nv_zone_state in 7:4 */
    uint8_t za;
    uint8_t zai;
    uint8_t rsvd4[4];
    uint64_t zcap;
    uint64_t zslba;
    uint64_t wp;
    uint8_t rsvd32[32];
};
NV_SIZE_ASSERT(struct nv_zone_descriptor, 64);
NV_OFFSET_ASSERT(struct nv_zone_descriptor, wp, 24);
enum { NV_ZT_SEQUENTIAL = 2 };
enum nv_zone_attributes {
    NV_ZA_FINISHED = 1 << 0,         /* by the controller */
    NV_ZA_EXTENSION_VALID = 1 << 7,
};
enum { NV_ZONE_EXTENSION_UNIT = 64 };    /* bytes */

/* CNS 05h with CSI 2. */
struct nv_zone_format {
    uint64_t zsze;                   /* blocks */
    uint8_t zdes;                    /* NV_ZONE_EXTENSION_UNITs */
    uint8_t rsvd9[7];
};
NV_SIZE_ASSERT(struct nv_zone_format, 16);

struct nv_id_ns_zoned {
    uint16_t zoc;
    uint16_t ozcs;
    uint32_t mar;                    /* zero-based; FFFFFFFFh: no limit */
    uint32_t mor;
    uint8_t rsvd12[2804];            /* limits and random write areas that we have not */
    struct nv_zone_format lbafe[64];
    uint8_t vs[256];
};
NV_SIZE_ASSERT(struct nv_id_ns_zoned, 4096);
NV_OFFSET_ASSERT(struct nv_id_ns_zoned, lbafe, 2816);
enum { NV_OZCS_READ_ACROSS = 1 << 0 };

/* CNS 06h with CSI 2. */
struct nv_id_ctrl_zoned {
    uint8_t zasl;                    /* as MDTS, for Zone Append */
    uint8_t rsvd1[4095];
};
NV_SIZE_ASSERT(struct nv_id_ctrl_zoned, 4096);

/* BFh: zones that changed without a command. */
struct nv_log_changed_zones {
    uint16_t count;                  /* FFFFh: more than fit */
    uint8_t rsvd2[6];
    uint64_t zslba[511];
};
NV_SIZE_ASSERT(struct nv_log_changed_zones, 4096);

/* ---- Properties (controller registers; Base 2.0, 3.1.3) -------------------------------------- */

enum nv_property {
    NV_REG_CAP = 0x00,               /* 8 bytes */
    NV_REG_VS = 0x08,
    NV_REG_CC = 0x14,
    NV_REG_CSTS = 0x1c,
    NV_REG_NSSR = 0x20,
    NV_REG_CRTO = 0x68,
};

#define NV_CAP_MQES(x) ((uint64_t)(x))            /* zero-based */
#define NV_CAP_CQR ((uint64_t)1 << 16)            /* queues must be contiguous: 1 on Fabrics */
#define NV_CAP_TO(x) ((uint64_t)(x) << 24)        /* 500 ms units */
#define NV_CAP_NSSRS ((uint64_t)1 << 36)
#define NV_CAP_CSS_NVM ((uint64_t)1 << 37)
#define NV_CAP_CSS_CSI ((uint64_t)1 << 43)        /* Identify with CSI, command set profiles */
#define NV_CAP_CRWMS ((uint64_t)1 << 59)          /* controller ready with media */
#define NV_CAP_CRIMS ((uint64_t)1 << 60)

#define NV_VS(major, minor, tertiary) ((uint32_t)((major) << 16 | (minor) << 8 | (tertiary)))

enum nv_cc {
    NV_CC_EN = 1u << 0,
    NV_CC_CSS_SHIFT = 4,  NV_CC_CSS_MASK = 7u << 4,
    NV_CC_MPS_SHIFT = 7,  NV_CC_MPS_MASK = 0xfu << 7,
    NV_CC_AMS_SHIFT = 11, NV_CC_AMS_MASK = 7u << 11,
    NV_CC_SHN_SHIFT = 14, NV_CC_SHN_MASK = 3u << 14,
    NV_CC_IOSQES_SHIFT = 16, NV_CC_IOSQES_MASK = 0xfu << 16,
    NV_CC_IOCQES_SHIFT = 20, NV_CC_IOCQES_MASK = 0xfu << 20,
    NV_CC_CRIME = 1u << 24,
};
enum nv_cc_css { NV_CC_CSS_NVM = 0, NV_CC_CSS_CSI = 6, NV_CC_CSS_ADMIN = 7 };

enum nv_csts {
    NV_CSTS_RDY = 1u << 0,
    NV_CSTS_CFS = 1u << 1,
    NV_CSTS_SHST_MASK = 3u << 2,
    NV_CSTS_SHST_OCCURRING = 1u << 2,
    NV_CSTS_SHST_COMPLETE = 2u << 2,
    NV_CSTS_NSSRO = 1u << 4,
};
enum { NV_NSSR_MAGIC = 0x4e564d65u };             /* "NVMe" */

/* ---- Identify (Base 2.0, 5.17) --------------------------------------------------------------- */

enum nv_cns {
    NV_CNS_NS = 0x00,
    NV_CNS_CTRL = 0x01,
    NV_CNS_NS_LIST = 0x02,
    NV_CNS_NS_DESCS = 0x03,
    NV_CNS_CSI_NS = 0x05,
    NV_CNS_CSI_CTRL = 0x06,
    NV_CNS_CSI_NS_LIST = 0x07,
    NV_CNS_NS_INDEPENDENT = 0x08,
    NV_CNS_ALLOCATED_NS_LIST = 0x10,
    NV_CNS_ALLOCATED_NS = 0x11,
    NV_CNS_NS_CTRL_LIST = 0x12,
    NV_CNS_CTRL_LIST = 0x13,
    NV_CNS_ALLOCATED_CSI_NS_LIST = 0x1a,
    NV_CNS_ALLOCATED_CSI_NS = 0x1b,
    NV_CNS_COMMAND_SETS = 0x1c,
};
enum { NV_CTRL_LIST_MAX = 2047 };        /* identifiers in a controller list */
enum nv_csi { NV_CSI_NVM = 0, NV_CSI_KV = 1, NV_CSI_ZNS = 2 };

struct nv_id_power_state {
    uint16_t mp;
    uint8_t rsvd2;
    uint8_t flags;
    uint32_t enlat;
    uint32_t exlat;
    uint8_t rrt;
    uint8_t rrl;
    uint8_t rwt;
    uint8_t rwl;
    uint16_t idlp;
    uint8_t ips;
    uint8_t rsvd19;
    uint16_t actp;
    uint8_t apw;
    uint8_t rsvd23[9];
};
NV_SIZE_ASSERT(struct nv_id_power_state, 32);

/* CNS 01h. Fields that we neither fill nor read are left in the reserved arrays. */
struct nv_id_ctrl {
    uint16_t vid;
    uint16_t ssvid;
    char sn[20];                     /* padded with spaces, as mn and fr */
    char mn[40];
    char fr[8];
    uint8_t rab;
    uint8_t ieee[3];
    uint8_t cmic;
    uint8_t mdts;                    /* log2 of units of CAP.MPSMIN (4096 bytes); 0 = no limit */
    uint16_t cntlid;
    uint32_t ver;
    uint32_t rtd3r;
    uint32_t rtd3e;
    uint32_t oaes;
    uint32_t ctratt;
    uint16_t rrls;
    uint8_t rsvd102[9];
    uint8_t cntrltype;
    uint8_t fguid[16];
    uint16_t crdt[3];
    uint8_t rsvd134[119];
    uint8_t nvmsr;
    uint8_t vwci;
    uint8_t mec;
    uint16_t oacs;
    uint8_t acl;
    uint8_t aerl;
    uint8_t frmw;
    uint8_t lpa;
    uint8_t elpe;
    uint8_t npss;
    uint8_t avscc;
    uint8_t apsta;
    uint16_t wctemp;
    uint16_t cctemp;
    uint16_t mtfa;
    uint32_t hmpre;
    uint32_t hmmin;
    uint8_t tnvmcap[16];
    uint8_t unvmcap[16];
    uint32_t rpmbs;
    uint16_t edstt;
    uint8_t dsto;
    uint8_t fwug;
    uint16_t kas;                    /* keep-alive granularity in 100 ms units */
    uint16_t hctma;
    uint16_t mntmt;
    uint16_t mxtmt;
    uint32_t sanicap;
    uint32_t hmminds;
    uint16_t hmmaxd;
    uint16_t nsetidmax;
    uint16_t endgidmax;
    uint8_t anatt;
    uint8_t anacap;
    uint32_t anagrpmax;
    uint32_t nanagrpid;
    uint32_t pels;
    uint16_t domainid;
    uint8_t rsvd358[10];
    uint8_t megcap[16];
    uint8_t rsvd384[128];
    uint8_t sqes;
    uint8_t cqes;
    uint16_t maxcmd;
    uint32_t nn;
    uint16_t oncs;
    uint16_t fuses;
    uint8_t fna;
    uint8_t vwc;
    uint16_t awun;
    uint16_t awupf;
    uint8_t icsvscc;
    uint8_t nwpc;
    uint16_t acwu;
    uint16_t ocfs;
    uint32_t sgls;
    uint32_t mnan;
    uint8_t maxdna[16];
    uint32_t maxcna;
    uint8_t rsvd564[204];
    char subnqn[256];
    uint8_t rsvd1024[768];
    uint32_t ioccsz;                 /* I/O command capsule, 16-byte units */
    uint32_t iorcsz;                 /* I/O response capsule, 16-byte units */
    uint16_t icdoff;
    uint8_t fcatt;
    uint8_t msdbd;
    uint16_t ofcs;
    uint8_t dctype;
    uint8_t rsvd1807[241];
    struct nv_id_power_state psd[32];
    uint8_t vs[1024];
};
NV_SIZE_ASSERT(struct nv_id_ctrl, NV_IDENTIFY_BYTES);
NV_OFFSET_ASSERT(struct nv_id_ctrl, cmic, 76);
NV_OFFSET_ASSERT(struct nv_id_ctrl, cntlid, 78);
NV_OFFSET_ASSERT(struct nv_id_ctrl, oaes, 92);
NV_OFFSET_ASSERT(struct nv_id_ctrl, cntrltype, 111);
NV_OFFSET_ASSERT(struct nv_id_ctrl, crdt, 128);
NV_OFFSET_ASSERT(struct nv_id_ctrl, oacs, 256);
NV_OFFSET_ASSERT(struct nv_id_ctrl, tnvmcap, 280);
NV_OFFSET_ASSERT(struct nv_id_ctrl, kas, 320);
NV_OFFSET_ASSERT(struct nv_id_ctrl, anatt, 342);
NV_OFFSET_ASSERT(struct nv_id_ctrl, nanagrpid, 348);
NV_OFFSET_ASSERT(struct nv_id_ctrl, sqes, 512);
NV_OFFSET_ASSERT(struct nv_id_ctrl, nn, 516);
NV_OFFSET_ASSERT(struct nv_id_ctrl, fuses, 522);
NV_OFFSET_ASSERT(struct nv_id_ctrl, vwc, 525);
NV_OFFSET_ASSERT(struct nv_id_ctrl, acwu, 532);
NV_OFFSET_ASSERT(struct nv_id_ctrl, ocfs, 534);
NV_OFFSET_ASSERT(struct nv_id_ctrl, sgls, 536);
NV_OFFSET_ASSERT(struct nv_id_ctrl, subnqn, 768);
NV_OFFSET_ASSERT(struct nv_id_ctrl, ioccsz, 1792);
NV_OFFSET_ASSERT(struct nv_id_ctrl, ofcs, 1804);
NV_OFFSET_ASSERT(struct nv_id_ctrl, psd, 2048);

enum nv_id_ctrl_bits {
    NV_CMIC_MULTI_PORT = 1 << 0,
    NV_CMIC_MULTI_CTRL = 1 << 1,
    NV_CMIC_ANA = 1 << 3,
    NV_OAES_NS_ATTR = 1 << 8,
    NV_OAES_ANA = 1 << 11,
    NV_OAES_ZONE = 1 << 27,          /* Zone Descriptor Changed */
    NV_CTRATT_HOSTID_128 = 1 << 0,
    NV_CTRATT_TBKAS = 1 << 6,
    NV_LPA_SMART_PER_NS = 1 << 0,
    NV_LPA_EFFECTS = 1 << 1,
    NV_LPA_EXTENDED = 1 << 2,
    NV_LPA_SUPPORTED_PAGES = 1 << 5,
    NV_ANACAP_OPTIMIZED = 1 << 0,
    NV_ANACAP_NONOPTIMIZED = 1 << 1,
    NV_ANACAP_INACCESSIBLE = 1 << 2,
    NV_ANACAP_PERSISTENT_LOSS = 1 << 3,
    NV_ANACAP_CHANGE = 1 << 4,
    NV_ONCS_COMPARE = 1 << 0,
    NV_ONCS_WRITE_UNCORRECTABLE = 1 << 1,
    NV_ONCS_DSM = 1 << 2,
    NV_ONCS_WRITE_ZEROES = 1 << 3,
    NV_ONCS_SAVE_SELECT = 1 << 4,
    NV_ONCS_RESERVATIONS = 1 << 5,
    NV_ONCS_TIMESTAMP = 1 << 6,
    NV_ONCS_VERIFY = 1 << 7,
    NV_NWPC_WRITE_PROTECT = 1 << 0,
    NV_NWPC_UNTIL_POWER_CYCLE = 1 << 1,
    NV_NWPC_PERMANENT = 1 << 2,
    NV_ONCS_COPY = 1 << 8,
    NV_OCFS_FORMAT_0 = 1 << 0,
    NV_OCFS_FORMAT_1 = 1 << 1,
    NV_OFCS_DISCONNECT = 1 << 0,
    NV_FUSES_COMPARE_WRITE = 1 << 0,
    NV_VWC_PRESENT = 1 << 0,
    NV_VWC_FLUSH_ALL_NO = 2 << 1,    /* Flush of NSID FFFFFFFFh is an error */
    NV_SGLS_SUPPORTED = 1 << 0,
    NV_SGLS_OFFSET = 1 << 20,        /* the address of an in-capsule descriptor is an offset */
};
#define NV_OAES_DISCOVERY (1u << 31)
enum nv_cntrltype { NV_CNTRLTYPE_IO = 1, NV_CNTRLTYPE_DISCOVERY = 2, NV_CNTRLTYPE_ADMIN = 3 };

struct nv_lbaf {
    uint16_t ms;
    uint8_t lbads;                   /* log2 of bytes */
    uint8_t rp;
};

/* CNS 00h (NVM 1.0, 4.1.5.1). */
struct nv_id_ns {
    uint64_t nsze;                   /* blocks */
    uint64_t ncap;
    uint64_t nuse;
    uint8_t nsfeat;
    uint8_t nlbaf;                   /* zero-based */
    uint8_t flbas;
    uint8_t mc;
    uint8_t dpc;
    uint8_t dps;
    uint8_t nmic;
    uint8_t rescap;
    uint8_t fpi;
    uint8_t dlfeat;
    uint16_t nawun;
    uint16_t nawupf;
    uint16_t nacwu;
    uint16_t nabsn;
    uint16_t nabo;
    uint16_t nabspf;
    uint16_t noiob;
    uint8_t nvmcap[16];
    uint16_t npwg;
    uint16_t npwa;
    uint16_t npdg;
    uint16_t npda;
    uint16_t nows;
    uint16_t mssrl;
    uint32_t mcl;
    uint8_t msrc;
    uint8_t rsvd81[11];
    uint32_t anagrpid;
    uint8_t rsvd96[3];
    uint8_t nsattr;
    uint16_t nvmsetid;
    uint16_t endgid;
    uint8_t nguid[16];
    uint8_t eui64[8];
    struct nv_lbaf lbaf[64];
    uint8_t vs[3712];
};
NV_SIZE_ASSERT(struct nv_id_ns, NV_IDENTIFY_BYTES);
NV_OFFSET_ASSERT(struct nv_id_ns, nmic, 30);
NV_OFFSET_ASSERT(struct nv_id_ns, dlfeat, 33);
NV_OFFSET_ASSERT(struct nv_id_ns, nacwu, 38);
NV_OFFSET_ASSERT(struct nv_id_ns, nvmcap, 48);
NV_OFFSET_ASSERT(struct nv_id_ns, mssrl, 74);
NV_OFFSET_ASSERT(struct nv_id_ns, msrc, 80);
NV_OFFSET_ASSERT(struct nv_id_ns, anagrpid, 92);
NV_OFFSET_ASSERT(struct nv_id_ns, nguid, 104);
NV_OFFSET_ASSERT(struct nv_id_ns, lbaf, 128);

enum nv_id_ns_bits {
    NV_NSFEAT_ATOMIC = 1 << 1,       /* NAWUN, NAWUPF and NACWU hold, not AWUN, AWUPF, ACWU */
    NV_NMIC_SHARED = 1 << 0,
    NV_RESCAP_PTPL = 1 << 0,
    NV_RESCAP_TYPES = 0x3f << 1,     /* bit n: type n */
    NV_RESCAP_IEKEY_13 = 1 << 7,     /* IEKEY as of revision 1.3 */
    NV_NSATTR_WRITE_PROTECTED = 1 << 0,
    NV_DLFEAT_READ_ZEROES = 1 << 0,
    NV_DLFEAT_WZ_DEALLOCATE = 1 << 3,
};

/* CNS 08h, I/O command set independent (Base 2.0, 5.17.2.8). */
struct nv_id_ns_independent {
    uint8_t nsfeat;
    uint8_t nmic;
    uint8_t rescap;
    uint8_t fpi;
    uint32_t anagrpid;
    uint8_t nsattr;
    uint8_t rsvd9;
    uint16_t nvmsetid;
    uint16_t endgid;
    uint8_t nstat;                   /* bit 0: ready */
    uint8_t rsvd15[4081];
};
NV_SIZE_ASSERT(struct nv_id_ns_independent, NV_IDENTIFY_BYTES);
NV_OFFSET_ASSERT(struct nv_id_ns_independent, nstat, 14);

/* CNS 03h: a list of these headers, each followed by nidl bytes. */
struct nv_ns_id_desc {
    uint8_t nidt;
    uint8_t nidl;
    uint8_t rsvd2[2];
};
NV_SIZE_ASSERT(struct nv_ns_id_desc, 4);
enum nv_nidt { NV_NIDT_EUI64 = 1, NV_NIDT_NGUID = 2, NV_NIDT_UUID = 3, NV_NIDT_CSI = 4 };

/* ---- Features (Base 2.0, 5.27) --------------------------------------------------------------- */

enum nv_feature {
    NV_FEAT_ARBITRATION = 0x01,
    NV_FEAT_POWER_MGMT = 0x02,
    NV_FEAT_TEMP_THRESHOLD = 0x04,
    NV_FEAT_ERROR_RECOVERY = 0x05,
    NV_FEAT_VOLATILE_WC = 0x06,
    NV_FEAT_NUM_QUEUES = 0x07,
    NV_FEAT_WRITE_ATOMICITY = 0x0a,
    NV_FEAT_ASYNC_EVENT = 0x0b,
    NV_FEAT_TIMESTAMP = 0x0e,
    NV_FEAT_KATO = 0x0f,
    NV_FEAT_HOST_BEHAVIOR = 0x16,
    NV_FEAT_COMMAND_SET_PROFILE = 0x19,
    NV_FEAT_HOST_ID = 0x81,
    NV_FEAT_RESV_NOTICE_MASK = 0x82,
    NV_FEAT_RESV_PERSIST = 0x83,
    NV_FEAT_WRITE_PROTECT = 0x84,
};
/* Get Features CDW10 10:8. */
enum nv_feature_select {
    NV_SEL_CURRENT = 0,
    NV_SEL_DEFAULT = 1,
    NV_SEL_SAVED = 2,
    NV_SEL_SUPPORTED = 3
};
/* What NV_SEL_SUPPORTED answers in DW0. */
enum nv_feature_caps { NV_FEATCAP_SAVEABLE = 1, NV_FEATCAP_PER_NS = 2, NV_FEATCAP_CHANGEABLE = 4 };
#define NV_FEAT_SAVE (1u << 31)      /* Set Features CDW10 */

enum nv_write_protect {
    NV_WP_NONE = 0,
    NV_WP_WRITE_PROTECT = 1,
    NV_WP_UNTIL_POWER_CYCLE = 2,
    NV_WP_PERMANENT = 3,
};
enum nv_resv_mask { NV_RESV_MASK_REGPRE = 2, NV_RESV_MASK_RESREL = 4, NV_RESV_MASK_RESPRE = 8 };

/* ---- Log pages (Base 2.0, 5.16) -------------------------------------------------------------- */

enum nv_log_page {
    NV_LOG_SUPPORTED = 0x00,
    NV_LOG_ERROR = 0x01,
    NV_LOG_SMART = 0x02,
    NV_LOG_FIRMWARE = 0x03,
    NV_LOG_CHANGED_NS = 0x04,
    NV_LOG_EFFECTS = 0x05,
    NV_LOG_ANA = 0x0c,
    NV_LOG_FEATURES = 0x12,
    NV_LOG_DISCOVERY = 0x70,
    NV_LOG_RESERVATION = 0x80,
    NV_LOG_CHANGED_ZONES = 0xbf,
};

struct nv_log_error {
    uint64_t error_count;
    uint16_t sqid;
    uint16_t cid;
    uint16_t status;                 /* as in the completion: shifted left by one */
    uint16_t param_location;         /* byte 7:0, bit 10:8; FFFFh: not about one parameter */
    uint64_t lba;
    uint32_t nsid;
    uint8_t vs;
    uint8_t trtype;
    uint8_t rsvd30[2];
    uint64_t cs;
    uint16_t trtype_info;
    uint8_t rsvd42[22];
};
NV_SIZE_ASSERT(struct nv_log_error, 64);
NV_OFFSET_ASSERT(struct nv_log_error, lba, 16);

struct nv_u128 {
    uint64_t lo;
    uint64_t hi;
};

struct nv_log_smart {
    uint8_t critical_warning;
    uint8_t temperature[2];          /* kelvin; off its natural alignment */
    uint8_t avail_spare;
    uint8_t spare_thresh;
    uint8_t percent_used;
    uint8_t endu_grp_crit_warn;
    uint8_t rsvd7[25];
    struct nv_u128 data_units_read;  /* thousands of 512-byte units, rounded up */
    struct nv_u128 data_units_written;
    struct nv_u128 host_reads;
    struct nv_u128 host_writes;
    struct nv_u128 ctrl_busy_minutes;
    struct nv_u128 power_cycles;
    struct nv_u128 power_on_hours;
    struct nv_u128 unsafe_shutdowns;
    struct nv_u128 media_errors;
    struct nv_u128 num_err_log_entries;
    uint32_t warning_temp_minutes;
    uint32_t critical_temp_minutes;
    uint16_t temp_sensor[8];
    uint8_t rsvd216[296];
};
NV_SIZE_ASSERT(struct nv_log_smart, 512);
NV_OFFSET_ASSERT(struct nv_log_smart, data_units_read, 32);
NV_OFFSET_ASSERT(struct nv_log_smart, num_err_log_entries, 176);

/* Critical Warning, and the same bits of Asynchronous Event Configuration. */
enum nv_smart_warning {
    NV_SMART_SPARE = 1 << 0,
    NV_SMART_TEMPERATURE = 1 << 1,
    NV_SMART_RELIABILITY = 1 << 2,
    NV_SMART_READ_ONLY = 1 << 3,
    NV_SMART_BACKUP = 1 << 4,
    NV_SMART_WARNINGS = 0x1f,        /* all but that of a persistent memory region */
};

struct nv_log_firmware {
    uint8_t afi;
    uint8_t rsvd1[7];
    char frs[7][8];
    uint8_t rsvd64[448];
};
NV_SIZE_ASSERT(struct nv_log_firmware, 512);

struct nv_log_changed_ns {
    uint32_t nsid[1024];             /* FFFFFFFFh in the first entry: more than 1024 */
};

struct nv_log_effects {
    uint32_t acs[256];
    uint32_t iocs[256];
    uint8_t rsvd2048[2048];
};
NV_SIZE_ASSERT(struct nv_log_effects, 4096);
enum nv_effects {
    NV_EFFECT_CSUPP = 1 << 0,
    NV_EFFECT_LBCC = 1 << 1,         /* changes logical block contents */
};

struct nv_log_ana_header {
    uint64_t chgcnt;
    uint16_t ngrps;
    uint8_t rsvd10[6];
};
NV_SIZE_ASSERT(struct nv_log_ana_header, 16);

struct nv_log_ana_group {
    uint32_t grpid;
    uint32_t nnsids;
    uint64_t chgcnt;
    uint8_t state;
    uint8_t rsvd17[15];
    /* uint32_t nsid[nnsids] follows unless Return Groups Only was asked */
};
NV_SIZE_ASSERT(struct nv_log_ana_group, 32);
enum { NV_LSP_ANA_RGO = 1 };         /* Log Specific Field: return groups only */

enum nv_ana_state {
    NV_ANA_OPTIMIZED = 0x1,
    NV_ANA_NONOPTIMIZED = 0x2,
    NV_ANA_INACCESSIBLE = 0x3,
    NV_ANA_PERSISTENT_LOSS = 0x4,
    NV_ANA_CHANGE = 0xf,
};

struct nv_log_reservation {
    uint64_t count;
    uint8_t type;
    uint8_t available;               /* pages behind this one; 255: or more */
    uint8_t rsvd10[2];
    uint32_t nsid;
    uint8_t rsvd16[48];
};
NV_SIZE_ASSERT(struct nv_log_reservation, 64);
/* Each but the first has its bit (1 << type) in the Reservation Notification Mask. */
enum nv_resv_notice {
    NV_RESV_LOG_EMPTY = 0,
    NV_RESV_REGISTRATION_PREEMPTED = 1,
    NV_RESV_RESERVATION_RELEASED = 2,
    NV_RESV_RESERVATION_PREEMPTED = 3,
};

/* 00h and 12h: 256 dwords, one per log page or feature. */
enum nv_supported_log { NV_LSUPP = 1 << 0, NV_LIDS_PARAMETER_SHIFT = 16 };
enum nv_supported_feature {
    NV_FSUPP = 1 << 0,
    NV_FSP_UDCC = 1 << 1,            /* changes user data content (unused) */
    NV_FSP_SCOPE_NS = 1 << 20,
    NV_FSP_SCOPE_CTRL = 1 << 21,
};

/* ---- Asynchronous events (Base 2.0, 5.2) ----------------------------------------------------- */

/* DW0: type in 2:0, information in 15:8, log page in 23:16. */
#define NV_AEN(type, info, log) ((uint32_t)(type) | (uint32_t)(info) << 8 | (uint32_t)(log) << 16)
enum nv_aen_type { NV_AEN_ERROR = 0, NV_AEN_SMART = 1, NV_AEN_NOTICE = 2, NV_AEN_IO = 6 };
enum nv_aen_smart { NV_AEN_TEMPERATURE = 0x01 };
enum nv_aen_io { NV_AEN_RESV_LOG = 0x00 };
enum nv_aen_notice {
    NV_AEN_NS_CHANGED = 0x00,
    NV_AEN_ANA_CHANGED = 0x03,
    NV_AEN_ZONE_CHANGED = 0xef,      /* DW1: the NSID */
    NV_AEN_DISCOVERY_CHANGED = 0xf0,
};

#endif
