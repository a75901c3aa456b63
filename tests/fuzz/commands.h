/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands from fuzz input: records of a fixed size, each a step of a session between a host that
 * keeps to the transport's rules and a target.
 * Not here: PDUs that are wrong (fuzz_pdu_target.c).
 * No standard.
 */
#ifndef TESTS_FUZZ_COMMANDS_H
#define TESTS_FUZZ_COMMANDS_H

#include "fuzz.h"
#include "rig.h"

enum fuzz_step {
    FUZZ_NO_DATA,
    FUZZ_DATA_IN,
    FUZZ_DATA_CAPSULE,
    FUZZ_DATA_R2T,
    FUZZ_VERBATIM,                       /* the SGL of the record; len bytes in the capsule */
    FUZZ_TIME,                           /* arg milliseconds pass */
    FUZZ_CONFIG,                         /* something is changed under the host's feet */
    FUZZ_BACKEND,                        /* requests are kept, or the oldest ends with a status */
    FUZZ_STEPS
};

struct fuzz_record {
    uint8_t step;                        /* enum fuzz_step */
    uint8_t queue;
    uint16_t len;                        /* of the data, bytes */
    uint32_t arg;
    struct nv_sqe sqe;
};
NV_SIZE_ASSERT(struct fuzz_record, 72);

struct fuzz_session;

/* @tolerant: the target may break the protocol, because it was told to. */
struct fuzz_session *fuzz_session_new(bool tolerant);
void fuzz_session_free(struct fuzz_session *session);
/* The host connects to @subnqn, static, from then on; at first to RIG_NQN. */
void fuzz_session_to(struct fuzz_session *session, const char *subnqn);
Rig *fuzz_session_rig(struct fuzz_session *session);

/*
 * Takes one record; the command goes to the Admin queue (@io false) or to I/O queue 1, which are
 * connected again if they are gone. Fails (aborts) if the host finds fault with what comes back.
 */
void fuzz_command(struct fuzz_session *session, const struct fuzz_record *record, bool io);
/* A connection of its own, before Connect, takes the record's command. */
void fuzz_fresh_command(struct fuzz_session *session, const struct fuzz_record *record);

/* Calls @fn for each whole record. */
void fuzz_each_record(const uint8_t *data, size_t size,
                      void (*fn)(struct fuzz_session *, const struct fuzz_record *),
                      struct fuzz_session *session);

/* Appends a record to a corpus entry. */
void fuzz_put(GByteArray *out, enum fuzz_step step, uint8_t queue, uint16_t len, uint32_t arg,
              struct nv_sqe sqe);

#endif
