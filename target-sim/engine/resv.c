/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See resv.h: the commands' effects and the table of conflicts.
 * Not here: the text form (resv_text.c), commands on queues (resv_cmd.c).
 * NVM Express Base 2.0, 7.2 to 7.5 and 8.19; who may do what is its figure "Command Behavior in
 * the Presence of a Reservation".
 */
#include "engine/resv.h"

#include <string.h>

/* ---- Who may do what */

enum group {
    GROUP_OTHER,                         /* always allowed */
    GROUP_READ,
    GROUP_WRITE,
    GROUP_ACQUIRE,                       /* not Preempt, not Release: those go by the key alone */
    GROUP_COUNT
};

static const uint8_t io_groups[256] = {
    [NV_IO_READ] = GROUP_READ,
    [NV_IO_COMPARE] = GROUP_READ,
    [NV_IO_VERIFY] = GROUP_READ,
    [NV_IO_ZONE_RECEIVE] = GROUP_READ,
    [NV_IO_FLUSH] = GROUP_WRITE,
    [NV_IO_WRITE] = GROUP_WRITE,
    [NV_IO_WRITE_UNCORRECTABLE] = GROUP_WRITE,
    [NV_IO_WRITE_ZEROES] = GROUP_WRITE,
    [NV_IO_DSM] = GROUP_WRITE,
    [NV_IO_COPY] = GROUP_WRITE,          /* its source is the same namespace */
    [NV_IO_ZONE_SEND] = GROUP_WRITE,
    [NV_IO_ZONE_APPEND] = GROUP_WRITE,
};

/* The holder may do everything; of the others, strangers (not registered) and registrants: */
enum { STRANGER = 1, REGISTRANT = 2 };

/* Who conflicts, by type of the reservation and group of the command. */
static const uint8_t conflicts[NV_RESV_TYPES][GROUP_COUNT] = {
#define COMMON(readers, writers) \
    { [GROUP_READ] = (readers), [GROUP_WRITE] = (writers), \
      [GROUP_ACQUIRE] = STRANGER | REGISTRANT }
    [NV_RESV_WE] = COMMON(0, STRANGER | REGISTRANT),
    [NV_RESV_EA] = COMMON(STRANGER | REGISTRANT, STRANGER | REGISTRANT),
    [NV_RESV_WE_RO] = COMMON(0, STRANGER),
    [NV_RESV_EA_RO] = COMMON(STRANGER, STRANGER),
    [NV_RESV_WE_AR] = COMMON(0, STRANGER),
    [NV_RESV_EA_AR] = COMMON(STRANGER, STRANGER),
#undef COMMON
};

static bool all_registrants(uint8_t type)
{
    return type == NV_RESV_WE_AR || type == NV_RESV_EA_AR;
}

static struct lst_registrant *find(const struct lst_resv *resv, const uint8_t *host)
{
    for (unsigned i = 0; i < resv->count; i++) {
        const struct lst_registrant *reg = &resv->registrants[i];

        if (!memcmp(reg->host, host, LST_HOST_ID_BYTES)) {
            return (struct lst_registrant *)reg;
        }
    }
    return NULL;
}

/* @reg may be NULL: a stranger */
static bool holds(const struct lst_resv *resv, const struct lst_registrant *reg)
{
    return reg && (reg->holder || all_registrants(resv->type));
}

static bool conflict(const struct lst_resv *resv, const struct lst_registrant *reg,
                     enum group group)
{
    return !holds(resv, reg) && (conflicts[resv->type][group] & (reg ? REGISTRANT : STRANGER));
}

bool lst_resv_conflicts(const struct lst_resv *resv, const uint8_t *host, uint8_t opcode)
{
    return resv->type && conflict(resv, find(resv, host), io_groups[opcode]);
}

/* ---- Changes */

static void notify(struct lst_resv_notices *notices, const uint8_t *host, enum nv_resv_notice type)
{
    g_assert(notices->count < LST_REGISTRANTS_MAX);
    memcpy(notices->to[notices->count].host, host, LST_HOST_ID_BYTES);
    notices->to[notices->count++].type = (uint8_t)type;
}

static void notify_others(const struct lst_resv *resv, const uint8_t *host,
                          struct lst_resv_notices *notices, enum nv_resv_notice type)
{
    for (unsigned i = 0; i < resv->count; i++) {
        if (memcmp(resv->registrants[i].host, host, LST_HOST_ID_BYTES)) {
            notify(notices, resv->registrants[i].host, type);
        }
    }
}

static void end_reservation(struct lst_resv *resv)
{
    resv->type = NV_RESV_NONE;
    for (unsigned i = 0; i < resv->count; i++) {
        resv->registrants[i].holder = false;
    }
}

static void begin_reservation(struct lst_resv *resv, const uint8_t *host, uint8_t type)
{
    end_reservation(resv);
    resv->type = type;
    find(resv, host)->holder = !all_registrants(type);
}

/* What the holder had goes with it; what all registrants have goes with the last of them. */
static void remove_registrant(struct lst_resv *resv, struct lst_registrant *reg)
{
    bool end = reg->holder || resv->count == 1;

    resv->count--;
    memmove(reg, reg + 1, (size_t)(resv->registrants + resv->count - reg) * sizeof(*reg));
    if (end) {
        end_reservation(resv);
    }
}

/* ---- Register */

static uint16_t add_registrant(struct lst_resv *resv, const uint8_t *host, uint64_t key)
{
    struct lst_registrant *reg;

    if (resv->count >= LST_REGISTRANTS_MAX) {
        return NV_SC_INTERNAL;
    }
    reg = &resv->registrants[resv->count++];
    memcpy(reg->host, host, LST_HOST_ID_BYTES);
    reg->key = key;
    reg->holder = false;
    return NV_SC_SUCCESS;
}

static uint16_t unregister(struct lst_resv *resv, struct lst_registrant *reg,
                           struct lst_resv_notices *notices)
{
    uint8_t before = resv->type;

    remove_registrant(resv, reg);
    if (!resv->type && (before == NV_RESV_WE_RO || before == NV_RESV_EA_RO)) {
        /* The host itself is not among them any more. */
        for (unsigned i = 0; i < resv->count; i++) {
            notify(notices, resv->registrants[i].host, NV_RESV_RESERVATION_RELEASED);
        }
    }
    return NV_SC_SUCCESS;
}

static uint16_t do_register(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                            const struct nv_resv_keys *keys, struct lst_resv_notices *notices)
{
    struct lst_registrant *reg = find(resv, host);
    unsigned action = cdw10 & NV_RESV_ACTION;
    bool ignore = cdw10 & NV_RESV_IEKEY;

    /* A key of 0 could not be preempted: PRKEY 0 has a meaning of its own. */
    if (action != NV_RESV_UNREGISTER && !keys->second) {
        return NV_SC_INVALID_FIELD;
    }
    if (action == NV_RESV_REGISTER) {
        if (!reg) {
            return add_registrant(resv, host, keys->second);
        }
        return reg->key == keys->second ? NV_SC_SUCCESS : NV_SC_RESERVATION_CONFLICT;
    }
    if (action == NV_RESV_REPLACE && ignore && !reg) {
        /* "without regard to its registration status" (8.19.3) */
        return add_registrant(resv, host, keys->second);
    }
    if (!reg || (!ignore && reg->key != keys->crkey)) {
        return NV_SC_RESERVATION_CONFLICT;
    }
    if (action == NV_RESV_UNREGISTER) {
        return unregister(resv, reg, notices);
    }
    reg->key = keys->second;
    return NV_SC_SUCCESS;
}

uint16_t lst_resv_register(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                           const struct nv_resv_keys *keys, struct lst_resv_notices *notices)
{
    unsigned cptpl = cdw10 >> 30;
    uint16_t status;

    notices->count = 0;
    if ((cdw10 & NV_RESV_ACTION) > NV_RESV_REPLACE || cptpl == 1 ||
        (cptpl == NV_CPTPL_SET && !resv->ptpl_capable)) {
        return NV_SC_INVALID_FIELD;
    }
    status = do_register(resv, host, cdw10, keys, notices);
    if (status) {
        return status;
    }
    if (cptpl != NV_CPTPL_KEEP) {
        resv->ptpl = cptpl == NV_CPTPL_SET;
    }
    resv->gen++;
    return NV_SC_SUCCESS;
}

/* ---- Acquire */

/* Removes those with that key, or all if 0; @host itself only if @self. Returns how many. */
static unsigned preempt_registrants(struct lst_resv *resv, const uint8_t *host, uint64_t key,
                                    bool self, struct lst_resv_notices *notices)
{
    unsigned removed = 0;

    for (unsigned i = 0; i < resv->count;) {
        struct lst_registrant *reg = &resv->registrants[i];
        bool own = !memcmp(reg->host, host, LST_HOST_ID_BYTES);

        if ((key && reg->key != key) || (own && !self)) {
            i++;
            continue;
        }
        if (!own) {
            notify(notices, reg->host, NV_RESV_REGISTRATION_PREEMPTED);
        }
        remove_registrant(resv, reg);
        removed++;
    }
    return removed;
}

/* Of a reservation that a single host holds. */
static uint64_t holder_key(const struct lst_resv *resv)
{
    for (unsigned i = 0; i < resv->count; i++) {
        if (resv->registrants[i].holder) {
            return resv->registrants[i].key;
        }
    }
    g_assert_not_reached();
}

/* The reservation, and whoever has the same key as its holder, give way to the new one. */
static void replace_reservation(struct lst_resv *resv, const uint8_t *host, uint64_t prkey,
                                uint8_t type, struct lst_resv_notices *notices)
{
    uint8_t before = resv->type;

    preempt_registrants(resv, host, prkey, false, notices);
    begin_reservation(resv, host, type);
    if (type != before) {
        notify_others(resv, host, notices, NV_RESV_RESERVATION_RELEASED);
    }
}

static uint16_t preempt(struct lst_resv *resv, const uint8_t *host, uint64_t prkey, uint8_t type,
                        struct lst_resv_notices *notices)
{
    bool all = all_registrants(resv->type);

    if (resv->type && (all ? !prkey : prkey == holder_key(resv))) {
        replace_reservation(resv, host, prkey, type, notices);
        return NV_SC_SUCCESS;
    }
    if (!prkey) {
        return resv->type ? NV_SC_INVALID_FIELD : NV_SC_RESERVATION_CONFLICT;
    }
    /* Registrants that hold nothing, or not alone: the reservation stays as it is. */
    return preempt_registrants(resv, host, prkey, true, notices) ? NV_SC_SUCCESS :
                                                                   NV_SC_RESERVATION_CONFLICT;
}

static uint16_t acquire(struct lst_resv *resv, const struct lst_registrant *reg,
                        const uint8_t *host, uint8_t type)
{
    if (!resv->type) {
        begin_reservation(resv, host, type);
        return NV_SC_SUCCESS;
    }
    if (conflict(resv, reg, GROUP_ACQUIRE) || resv->type != type) {
        return NV_SC_RESERVATION_CONFLICT;
    }
    return NV_SC_SUCCESS;
}

uint16_t lst_resv_acquire(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                          const struct nv_resv_keys *keys, struct lst_resv_notices *notices)
{
    const struct lst_registrant *reg = find(resv, host);
    unsigned action = cdw10 & NV_RESV_ACTION;
    uint8_t type = (uint8_t)(cdw10 >> 8);
    uint16_t status;

    notices->count = 0;
    if (action > NV_RESV_PREEMPT_ABORT || (cdw10 & NV_RESV_IEKEY) || type == NV_RESV_NONE ||
        type >= NV_RESV_TYPES) {
        return NV_SC_INVALID_FIELD;
    }
    if (!reg || reg->key != keys->crkey) {
        return NV_SC_RESERVATION_CONFLICT;
    }
    if (action == NV_RESV_ACQUIRE) {
        return acquire(resv, reg, host, type);
    }
    status = preempt(resv, host, keys->second, type, notices);
    if (!status) {
        resv->gen++;
    }
    return status;
}

/* ---- Release */

static uint16_t release(struct lst_resv *resv, const struct lst_registrant *reg,
                        const uint8_t *host, uint8_t type, struct lst_resv_notices *notices)
{
    if (!resv->type || !holds(resv, reg)) {
        return NV_SC_SUCCESS;            /* nothing of this host's to release: no error (8.19.4) */
    }
    if (type != resv->type) {
        return NV_SC_INVALID_FIELD;
    }
    if (type != NV_RESV_WE && type != NV_RESV_EA) {
        notify_others(resv, host, notices, NV_RESV_RESERVATION_RELEASED);
    }
    end_reservation(resv);
    return NV_SC_SUCCESS;
}

uint16_t lst_resv_release(struct lst_resv *resv, const uint8_t *host, uint32_t cdw10,
                          const struct nv_resv_keys *keys, struct lst_resv_notices *notices)
{
    const struct lst_registrant *reg = find(resv, host);
    unsigned action = cdw10 & NV_RESV_ACTION;

    notices->count = 0;
    if (action > NV_RESV_CLEAR || (cdw10 & NV_RESV_IEKEY)) {
        return NV_SC_INVALID_FIELD;
    }
    if (!reg || reg->key != keys->crkey) {
        return NV_SC_RESERVATION_CONFLICT;
    }
    if (action == NV_RESV_RELEASE) {
        return release(resv, reg, host, (uint8_t)(cdw10 >> 8), notices);
    }
    notify_others(resv, host, notices, NV_RESV_RESERVATION_PREEMPTED);
    resv->count = 0;
    end_reservation(resv);
    resv->gen++;
    return NV_SC_SUCCESS;
}

/* ---- Report */

static void put(uint8_t *data, size_t len, size_t at, const void *bytes, size_t count)
{
    if (at < len) {
        memcpy(data + at, bytes, MIN(count, len - at));
    }
}

static void put_registrant(const struct lst_resv *resv, unsigned index, bool extended,
                           uint16_t cntlid, uint8_t *data, size_t len)
{
    const struct lst_registrant *reg = &resv->registrants[index];
    uint8_t rcsts = resv->type && holds(resv, reg);

    if (extended) {
        struct nv_resv_registrant_ext entry = { .cntlid = cntlid, .rcsts = rcsts,
                                                .rkey = reg->key };

        memcpy(entry.hostid, reg->host, sizeof(entry.hostid));
        put(data, len, NV_RESV_STATUS_EXT_BYTES + index * sizeof(entry), &entry, sizeof(entry));
    } else {
        struct nv_resv_registrant entry = { .cntlid = cntlid, .rcsts = rcsts, .rkey = reg->key };

        memcpy(&entry.hostid, reg->host, sizeof(entry.hostid));
        put(data, len, sizeof(struct nv_resv_status) + index * sizeof(entry), &entry,
            sizeof(entry));
    }
}

void lst_resv_report(const struct lst_resv *resv, bool extended, lst_resv_cntlid_fn *cntlid,
                     const void *opaque, uint8_t *data, size_t len)
{
    struct nv_resv_status status = {
        .gen = resv->gen,
        .rtype = resv->type,
        .regstrnt = { (uint8_t)resv->count, (uint8_t)(resv->count >> 8) },
        .ptpls = resv->ptpl,
    };

    memset(data, 0, len);
    put(data, len, 0, &status, sizeof(status));
    for (unsigned i = 0; i < resv->count; i++) {
        put_registrant(resv, i, extended,
                       cntlid ? cntlid(opaque, resv->registrants[i].host) : NV_CNTLID_DYNAMIC,
                       data, len);
    }
}
