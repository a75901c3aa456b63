/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The twenty malformed inputs as a table: where each is sent, how it is made, the one right answer.
 * Not here: how an input is delivered and its answer checked (test_malformed.c).
 * NVMe/TCP transport specification 1.0, section 3; NVMe base specification 2.0, sections 4.1.2 and
 * 6.
 */
#ifndef TESTS_UNIT_MALFORMED_H
#define TESTS_UNIT_MALFORMED_H

#include "wire.h"

enum {
    MALFORMED_ROWS = 20,
    BAD_CID = 0x7abc,                   /* command id of bad capsules */
    BEFORE_CID = 0x7001,                /* of the good neighbours */
    AFTER_CID = 0x7002,
    MALFORMED_WRITE_BYTES = 32768,      /* the write that has its R2T in STAGE_WRITE */
    MALFORMED_WRITE_LBA = 64,
    MALFORMED_CAPSULE_LBA = 5,
    MALFORMED_POKES = 3,
};

/*
 * What the connection has been through before the bad input. An admin queue and I/O queue 1 exist
 * beside it.
 */
typedef enum Stage {
    STAGE_FRESH, /* nothing */
    STAGE_IC, /* ICReq, ICResp */
    STAGE_ADMIN, /* a connected admin queue */
    STAGE_IO, /* a connected I/O queue */
    STAGE_WRITE, /* an I/O queue with a Write that has got its R2T */
    STAGE_READ, /* an I/O queue with a Read that waits for the media */
    STAGE_STALE, /* an I/O queue with a Write that has got its R2T, data and completion */
} Stage;

typedef enum Answer {
    ANSWER_TERM,                        /* C2HTermReq with fes and fei */
    ANSWER_STATUS,                      /* CQE with status (and DW0); the connection goes on */
    ANSWER_CLOSE,                       /* close, nothing sent */
} Answer;

typedef struct MalformedContext {
    Rig *rig;
    RigLink *admin;
    RigLink *io;
    RigLink *link;                      /* the victim */
    HostPduFormat format;               /* of PDUs to the target */
    uint16_t cid;                       /* of the command of STAGE_WRITE, STAGE_READ, STAGE_STALE */
    uint16_t ttag;
    uint32_t r2t_offset;
    uint32_t r2t_length;
    uint8_t *data;                      /* of that command */
    bool answer_r2t;
} MalformedContext;

typedef struct Poke {
    uint32_t at;                        /* offset in the last PDU of the input */
    uint32_t value;                     /* little-endian */
    uint8_t width;                      /* bytes; 0: no poke */
    uint16_t times;                     /* repeated so often; 0: once */
} Poke;

typedef struct Malformed {
    unsigned row;                       /* 1..20 */
    const char *name;
    Stage stage;
    uint8_t digests;                    /* NVTCP_DGST_ bits negotiated */
    void (*build)(MalformedContext *c, GByteArray *bad);
    Poke poke[MALFORMED_POKES];
    bool keep_digest;                   /* do not make the header digest fit after poking */
    Answer answer;
    uint16_t fes;
    uint32_t fei;
    bool fei_is_digest;                 /* FEI is the header digest as sent */
    uint16_t status;
    bool ends_association;              /* the controller's other connections close, too */
    /* the CQE is that of the command of STAGE_WRITE, not of BAD_CID */
    bool on_write;
    bool check_dw0;
    uint32_t dw0;
} Malformed;

extern const Malformed malformed[];
extern const unsigned malformed_count;

#endif
