/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVMe over Fabrics: Connect, properties, discovery log page, status codes of Fabrics commands.
 * Not here: what every transport shares with PCIe (nvme.h), PDUs of the TCP transport (nvme_tcp.h).
 * NVM Express Base Specification 2.0, chapters 3.1.3.1, 5.16.1.23 and 6.
 */
#ifndef LOCKSTEP_NVME_FABRICS_H
#define LOCKSTEP_NVME_FABRICS_H

#include "lockstep/nvme.h"

#define NVF_DISCOVERY_NQN "nqn.2014-08.org.nvmexpress.discovery"

enum { NVF_OPCODE = 0x7f };

enum nvf_fctype {
    NVF_PROPERTY_SET = 0x00,
    NVF_CONNECT = 0x01,
    NVF_PROPERTY_GET = 0x04,
    NVF_AUTH_SEND = 0x05,
    NVF_AUTH_RECEIVE = 0x06,
    NVF_DISCONNECT = 0x08,
};

/* What all Fabrics commands have in common; fctype takes the place of the NSID. */
struct nvf_sqe {
    uint8_t opcode;
    uint8_t flags;
    uint16_t cid;
    uint8_t fctype;
    uint8_t rsvd5[19];
    struct nv_sgl sgl;
    uint8_t specific[24];
};
NV_SIZE_ASSERT(struct nvf_sqe, NV_SQE_BYTES);

struct nvf_connect_sqe {
    uint8_t opcode;
    uint8_t flags;
    uint16_t cid;
    uint8_t fctype;
    uint8_t rsvd5[19];
    struct nv_sgl sgl;
    uint16_t recfmt;
    uint16_t qid;
    uint16_t sqsize;                 /* zero-based */
    uint8_t cattr;
    uint8_t rsvd47;
    uint32_t kato;                   /* milliseconds; 0 = no keep-alive timer */
    uint8_t rsvd52[12];
};
NV_SIZE_ASSERT(struct nvf_connect_sqe, NV_SQE_BYTES);
NV_OFFSET_ASSERT(struct nvf_connect_sqe, recfmt, 40);
NV_OFFSET_ASSERT(struct nvf_connect_sqe, qid, 42);
NV_OFFSET_ASSERT(struct nvf_connect_sqe, sqsize, 44);
NV_OFFSET_ASSERT(struct nvf_connect_sqe, cattr, 46);
NV_OFFSET_ASSERT(struct nvf_connect_sqe, kato, 48);

enum nvf_cattr { NVF_CATTR_NO_SQ_FLOW_CONTROL = 1 << 2 };

struct nvf_connect_data {
    uint8_t hostid[16];
    uint16_t cntlid;
    uint8_t rsvd18[238];
    char subnqn[NV_NQN_FIELD];
    char hostnqn[NV_NQN_FIELD];
    uint8_t rsvd768[256];
};
NV_SIZE_ASSERT(struct nvf_connect_data, 1024);
NV_OFFSET_ASSERT(struct nvf_connect_data, cntlid, 16);
NV_OFFSET_ASSERT(struct nvf_connect_data, subnqn, 256);
NV_OFFSET_ASSERT(struct nvf_connect_data, hostnqn, 512);

/*
 * DW0 of a Connect completion: CNTLID and what authentication is required, or where the bad
 * parameter is.
 */
enum nvf_connect_result {
    NVF_CONNECT_ATR = 1 << 17,
    NVF_CONNECT_ASCR = 1 << 18,
    /* 1: IPO (bits 15:0) is an offset in the data, 0: in the SQE */
    NVF_CONNECT_IATTR = 1 << 16,
};
enum { NVF_SQHD_NO_FLOW_CONTROL = 0xffff };

enum nvf_status {
    NVF_SC_INCOMPATIBLE_FORMAT = 0x180,
    NVF_SC_CONTROLLER_BUSY = 0x181,
    NVF_SC_INVALID_PARAM = 0x182,
    NVF_SC_RESTART_DISCOVERY = 0x183,
    NVF_SC_INVALID_HOST = 0x184,
    NVF_SC_INVALID_QUEUE_TYPE = 0x185,
    NVF_SC_DISCOVERY_RESTART = 0x190,
    NVF_SC_AUTH_REQUIRED = 0x191,
};

/* Ends the I/O queue that it is sent on. */
struct nvf_disconnect_sqe {
    uint8_t opcode;
    uint8_t flags;
    uint16_t cid;
    uint8_t fctype;
    uint8_t rsvd5[35];
    uint16_t recfmt;
    uint8_t rsvd42[22];
};
NV_SIZE_ASSERT(struct nvf_disconnect_sqe, NV_SQE_BYTES);
NV_OFFSET_ASSERT(struct nvf_disconnect_sqe, recfmt, 40);

struct nvf_property_sqe {
    uint8_t opcode;
    uint8_t flags;
    uint16_t cid;
    uint8_t fctype;
    uint8_t rsvd5[35];
    uint8_t attrib;                  /* bits 2:0: NVF_PROPERTY_4 or NVF_PROPERTY_8 */
    uint8_t rsvd41[3];
    uint32_t offset;
    uint64_t value;                  /* Property Set only */
    uint8_t rsvd56[8];
};
NV_SIZE_ASSERT(struct nvf_property_sqe, NV_SQE_BYTES);
NV_OFFSET_ASSERT(struct nvf_property_sqe, attrib, 40);
NV_OFFSET_ASSERT(struct nvf_property_sqe, offset, 44);
NV_OFFSET_ASSERT(struct nvf_property_sqe, value, 48);
enum nvf_property_size { NVF_PROPERTY_4 = 0, NVF_PROPERTY_8 = 1 };

/* Discovery log page (70h): one header, then numrec entries. */
struct nvf_discovery_header {
    uint64_t genctr;
    uint64_t numrec;
    uint16_t recfmt;
    uint8_t rsvd18[1006];
};
NV_SIZE_ASSERT(struct nvf_discovery_header, 1024);

struct nvf_discovery_entry {
    uint8_t trtype;
    uint8_t adrfam;
    uint8_t subtype;
    uint8_t treq;
    uint16_t portid;
    uint16_t cntlid;
    uint16_t asqsz;
    uint16_t eflags;
    uint8_t rsvd12[20];
    char trsvcid[32];
    uint8_t rsvd64[192];
    char subnqn[NV_NQN_FIELD];
    char traddr[256];
    uint8_t tsas[256];               /* TCP: byte 0 is the security type */
};
NV_SIZE_ASSERT(struct nvf_discovery_entry, 1024);
NV_OFFSET_ASSERT(struct nvf_discovery_entry, portid, 4);
NV_OFFSET_ASSERT(struct nvf_discovery_entry, asqsz, 8);
NV_OFFSET_ASSERT(struct nvf_discovery_entry, trsvcid, 32);
NV_OFFSET_ASSERT(struct nvf_discovery_entry, subnqn, 256);
NV_OFFSET_ASSERT(struct nvf_discovery_entry, traddr, 512);
NV_OFFSET_ASSERT(struct nvf_discovery_entry, tsas, 768);

/* Behind an entry of the extended form; then attributes, of which there may be none. */
struct nvf_discovery_extension {
    uint32_t tel;                        /* bytes of the entry with all that belongs to it */
    uint16_t numexat;
    uint8_t rsvd1030[2];
};
NV_SIZE_ASSERT(struct nvf_discovery_extension, 8);

/* Log specific field of Get Log Page 70h. */
enum nvf_lsp_discovery {
    NVF_LSP_EXTDLPE = 1 << 0,            /* extended entries */
    NVF_LSP_PLEO = 1 << 1,               /* of the port only that is asked */
};

enum nvf_trtype {
    NVF_TRTYPE_RDMA = 1,
    NVF_TRTYPE_FC = 2,
    NVF_TRTYPE_TCP = 3,
    NVF_TRTYPE_LOOP = 254
};
enum nvf_adrfam { NVF_ADRFAM_IPV4 = 1, NVF_ADRFAM_IPV6 = 2 };
enum nvf_subtype { NVF_SUBTYPE_REFERRAL = 1, NVF_SUBTYPE_NVME = 2, NVF_SUBTYPE_SELF = 3 };
enum nvf_treq {
    NVF_TREQ_UNSPECIFIED = 0,
    NVF_TREQ_REQUIRED = 1,
    NVF_TREQ_NOT_REQUIRED = 2,
    NVF_TREQ_NO_SQ_FLOW_CONTROL = 1 << 2,  /* the controller can do without SQ flow control */
};
enum nvf_eflags { NVF_EFLAG_DUPRETINFO = 1 << 0, NVF_EFLAG_EPCSD = 1 << 1, NVF_EFLAG_NCC = 1 << 2 };
enum { NVF_TSAS_TCP_NO_SECURITY = 0 };

#endif
