/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers on which well-known targets disagree, chosen once: what is answered and why.
 * Not here: answers that every implementation shares; those stand where they are checked (pdu.c,
 * fabrics.c, ...).
 * NVMe/TCP Transport 1.0 and NVM Express Base 2.0, as read by us.
 */
#ifndef ENGINE_CHOICES_H
#define ENGINE_CHOICES_H

#include "engine/limits.h"
#include "lockstep/nvme_fabrics.h"
#include "lockstep/nvme_tcp.h"

/*
 * PDUs: X(NAME, FES, FEI, words for the trace). FES 0: close without a TermReq.
 *
 * PFV             An unknown version is an unsupported parameter, not a malformed one: the host may
 *                 try another. FEI points at PFV.
 * FIRST_NOT_IC    The header is well formed; only its place is wrong: a sequence error. A type that
 *                 no host may send is still 1/0, since no place would be right for it. A TermReq
 *                 first is closed like any TermReq.
 * SECOND_IC       Likewise. The first negotiation stands until the connection is gone.
 * BAD_TTAG        A TTAG that is 0, FFFFh, unknown, stale, or of a command that awaits no data is a
 *                 bad field of this header (offset 10), even if nothing was ever asked for: before
 *                 Connect too.
 * BAD_CCCID       The TTAG is ours but the command identifier is not that of its command: field at
 *                 offset 8.
 * R2T_ORDER       Data inside the window that leaves a gap or overlaps what came; data of one R2T
 *                 come in order (TCP 1.0, 3.3.2.2), so the order of PDUs is wrong and not a range:
 *                 out of the window is FES 4.
 * R2T_LAST        LAST set before the window is full, or missing when it is: as above.
 * CAPSULE_LIMIT   In-capsule data that another queue or port might take (up to LST_PLEN_MAX) but
 *                 this one does not: the host broke a limit that it was told (IOCCSZ). Beyond
 *                 LST_PLEN_MAX the header itself is bad: 1/4.
 * QUEUE_OVERRUN   As many commands outstanding as the queue has entries: the association ends (Base
 *                 2.0, 3.3.2), and no FES describes it, so the connection closes cleanly.
 */
#define LST_PDU_CHOICES(X)                                                                        \
    X(PFV, NVTCP_FES_UNSUPPORTED, 8, "unknown PDU format version")                                \
    X(FIRST_NOT_IC, NVTCP_FES_SEQUENCE, 0, "the first PDU is not an ICReq")                       \
    X(SECOND_IC, NVTCP_FES_SEQUENCE, 0, "a second ICReq")                                         \
    X(BAD_TTAG, NVTCP_FES_HEADER, 10, "no transfer has this TTAG")                                \
    X(BAD_CCCID, NVTCP_FES_HEADER, 8, "the TTAG belongs to another command")                      \
    X(R2T_ORDER, NVTCP_FES_SEQUENCE, 0, "gap or overlap in the data of an R2T")                   \
    X(R2T_LAST, NVTCP_FES_SEQUENCE, 0, "LAST is early or missing")                                \
    X(CAPSULE_LIMIT, NVTCP_FES_LIMIT, 0, "more in-capsule data than the queue takes")             \
    X(QUEUE_OVERRUN, 0, 0, "more commands than the submission queue holds")

enum lst_pdu_choice {
#define LST_CHOICE_ENUM(name, fes, fei, why) LST_CHOICE_##name,
    LST_PDU_CHOICES(LST_CHOICE_ENUM)
#undef LST_CHOICE_ENUM
    LST_PDU_CHOICE_COUNT
};

/*
 * Statuses.
 *
 * BEFORE_CONNECT       Any command but Connect on a queue that is none yet: out of order, 0/0C.
 * CONNECT_AGAIN        A second Connect on a connection, or a queue id that is in use: 0/0C. The
 *                      identifier itself is fine.
 * CONNECT_LENGTH       Connect data that are not 1024 bytes: like all of Connect's parameters 1/82,
 *                      and it points at the length in the SQE's SGL descriptor (byte 32), not the
 *                      generic 0/0F.
 * PROPERTY             Unknown offset, wrong size, read-only or write-only: 0/02.
 * CAPSULE_SGL_LENGTH   The descriptor's length is not the command's, or not that of the data in the
 *                      capsule: 0/0F. Longer is as wrong as shorter: what would be in the rest?
 *                      Only Dataset Management may bring a list longer than its ranges, up to 4
 *                      KiB: Linux always does.
 */
#define LST_STATUS_BEFORE_CONNECT (NV_SC_COMMAND_SEQUENCE | NV_DNR)
#define LST_STATUS_CONNECT_AGAIN (NV_SC_COMMAND_SEQUENCE | NV_DNR)
#define LST_STATUS_CONNECT_LENGTH (NVF_SC_INVALID_PARAM | NV_DNR)
#define LST_STATUS_PROPERTY (NV_SC_INVALID_FIELD | NV_DNR)
#define LST_STATUS_CAPSULE_SGL_LENGTH (NV_SC_SGL_LENGTH | NV_DNR)
enum { LST_CONNECT_LENGTH_IPO = 32 };

#endif
