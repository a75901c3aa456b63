/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations of one namespace: who is registered, who holds what, what a command changes, and
 * which commands conflict. A state and functions on it: it knows no controllers, queues, time or
 * storage, so any NVMe model can use it.
 * Not here: commands on queues, notifications to controllers (resv_cmd.c, resv_notice.c).
 * NVM Express Base 2.0, 7.2 to 7.5 and 8.19.
 */
#ifndef ENGINE_RESV_H
#define ENGINE_RESV_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/limits.h"
#include "lockstep/nvme.h"

enum { LST_HOST_ID_BYTES = 16 };

struct lst_registrant {
    uint8_t host[LST_HOST_ID_BYTES];     /* a 64-bit Host Identifier: the rest is 0 */
    uint64_t key;
    bool holder;                         /* false for all while the type is an All Registrants one */
};

/* All zero: nobody is registered, nothing is held. Copies are whole. */
struct lst_resv {
    uint32_t gen;
    uint8_t type;                        /* enum nv_resv_type */
    bool ptpl;                           /* Persist Through Power Loss */
    bool ptpl_capable;                   /* whoever keeps the state can keep it that long */
    unsigned count;
    struct lst_registrant registrants[LST_REGISTRANTS_MAX];
};

/* What a command lets other hosts know: one notice for a host at most. */
struct lst_resv_notices {
    unsigned count;
    struct {
        uint8_t host[LST_HOST_ID_BYTES];
        uint8_t type;                    /* enum nv_resv_notice */
    } to[LST_REGISTRANTS_MAX];
};

/*
 * lst_resv_register, lst_resv_acquire, lst_resv_release: the commands.
 * @host: who sent it. @cdw10: of the command. @keys: its data; Release uses crkey only.
 * @notices: overwritten. Hosts that Preempt and Abort has to do with are those with
 * NV_RESV_REGISTRATION_PREEMPTED.
 * Return a status without NV_DNR; not 0: nothing has changed, there are no notices.
 */
uint16_t lst_resv_register(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                           const struct nv_resv_keys *keys, struct lst_resv_notices *notices);
uint16_t lst_resv_acquire(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                          const struct nv_resv_keys *keys, struct lst_resv_notices *notices);
uint16_t lst_resv_release(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                          const struct nv_resv_keys *keys, struct lst_resv_notices *notices);

/* The controller of a registrant; FFFFh if it has none, or none of its own (dynamic ones). */
typedef uint16_t lst_resv_cntlid_fn(const void *opaque, const uint8_t *host);
/*
 * lst_resv_report: Reservation Status, or its extended form, cut off or filled with zeroes to
 * @len bytes.
 * @cntlid: called with @opaque for each registrant; NULL: FFFFh for all.
 */
void lst_resv_report(const struct lst_resv *resv, bool extended, lst_resv_cntlid_fn *cntlid,
                     const void *opaque, uint8_t *data, size_t len);

/*
 * lst_resv_conflicts: must this I/O command end with Reservation Conflict?
 * @opcode: enum nv_io_opcode or an opcode of another I/O command set. Commands about reservations
 * never do by this; they find out themselves.
 */
bool lst_resv_conflicts(const struct lst_resv *resv, const uint8_t *host, uint8_t opcode);

/* ---- Power loss: resv_text.c ----------------------------------------------------------------- */

/* lst_resv_print: appends what survives the loss of power as lines of text; nothing if nothing. */
void lst_resv_print(const struct lst_resv *resv, GString *text);
/*
 * lst_resv_parse: one line of lst_resv_print()'s, without its end.
 * Returns false, with *why a static text, if it is none or does not fit to those before.
 */
bool lst_resv_parse(struct lst_resv *resv, const char *line, const char **why);
/* After the last line: is a reservation that needs a holder held by one? */
bool lst_resv_whole(const struct lst_resv *resv);

#endif
