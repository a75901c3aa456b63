/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fault rules do to a connection: commands that are lost or late, silence, ends of all kinds.
 * Not here: which rules fire (fault_match.c), output that is changed or held back (fault_tx.c).
 * No standard.
 */
/*
 * The hooks are called from deep inside the core, which must not lose its controller under its
 * feet: whatever ends a connection is noted there and done by lst_fault_settle(), which only calls
 * of the front reach.
 */
#include "engine/fault_rule.h"

/* A command that is to begin later. */
struct lst_fault_late {
    struct lst_tcp_req *treq;
    struct lst_timer timer;
    GList link;                          /* of late */
};

/* ---- What stops or ends a connection */

static void mute_timeout(struct lst_timer *timer)
{
    struct lst_conn_faults *faults = lst_container(timer, struct lst_conn_faults, timer);

    faults->mute = false;
    if (faults->half_open) {
        faults->half_open = false;
        lst_conn_drop(faults->conn);
        return;
    }
    lst_conn_tell_ready(faults->conn);
}

struct lst_conn_faults *lst_conn_faults_of(struct lst_conn *conn)
{
    if (!conn->faults) {
        conn->faults = g_new0(struct lst_conn_faults, 1);
        conn->faults->conn = conn;
        conn->faults->timer.fire = mute_timeout;
        g_queue_init(&conn->faults->held);
        g_queue_init(&conn->faults->spent);
        g_queue_init(&conn->faults->late);
    }
    return conn->faults;
}

void lst_fault_mute(struct lst_conn *conn, const struct lst_fault *fault, size_t allowed)
{
    struct lst_conn_faults *faults = lst_conn_faults_of(conn);
    struct lst_target *target = conn->queue.target;
    bool half_open = lst_fault_is(fault, LST_FAULT_HALF_OPEN);
    uint64_t us = lst_fault_value(fault, LST_FAULT_KEY_US, half_open ? LST_FAULT_HALF_OPEN_US : 0);

    if (faults->mute && !half_open) {
        return;
    }
    faults->allowed = faults->mute ? MIN(faults->allowed, allowed) : allowed;
    faults->mute = true;
    if (half_open) {
        faults->half_open = true;
        conn->deaf = true;
    }
    lst_timer_cancel(&target->timers, &faults->timer);
    if (us) {
        lst_timer_arm(&target->timers, &faults->timer, lst_fault_deadline(target, us));
    }
}

void lst_fault_end(struct lst_conn *conn, const struct lst_fault *fault)
{
    struct lst_conn_faults *faults = lst_conn_faults_of(conn);

    if (faults->fate) {
        return;
    }
    faults->fate = lst_fault_is(fault, LST_FAULT_TERM) ? LST_FATE_TERM : LST_FATE_CLOSE;
    faults->fes = (uint16_t)lst_fault_value(fault, LST_FAULT_KEY_FES, 0);
    faults->fei = (uint32_t)lst_fault_value(fault, LST_FAULT_KEY_FEI, 0);
    faults->reset = lst_fault_is(fault, LST_FAULT_RST);
    conn->deaf = true;
}

/* ---- Output */

size_t lst_fault_allowed(const struct lst_conn *conn, size_t pending)
{
    return conn->faults->mute ? MIN(pending, conn->faults->allowed) : pending;
}

void lst_fault_consumed(struct lst_conn *conn, size_t len)
{
    if (conn->faults->mute) {
        g_assert(len <= conn->faults->allowed);
        conn->faults->allowed -= len;
    }
    if (conn->faults->fate && conn->tx_pending == 0) {
        lst_conn_tell_ready(conn);
    }
}

/* ---- Input */

static void late_timeout(struct lst_timer *timer)
{
    struct lst_fault_late *late = lst_container(timer, struct lst_fault_late, timer);
    struct lst_tcp_req *treq = late->treq;
    struct lst_conn *conn = treq->conn;

    g_queue_unlink(&conn->faults->late, &late->link);
    g_free(late);
    if (lst_conn_active(conn) && !conn->deaf) {
        lst_conn_proceed(conn, treq);
    }
}

static void delay_command(struct lst_conn *conn, struct lst_tcp_req *treq, uint64_t us)
{
    struct lst_target *target = conn->queue.target;
    struct lst_fault_late *late = g_new0(struct lst_fault_late, 1);

    treq->state = LST_TREQ_LATE;
    late->treq = treq;
    late->timer.fire = late_timeout;
    late->link.data = late;
    g_queue_push_tail_link(&lst_conn_faults_of(conn)->late, &late->link);
    lst_timer_arm(&target->timers, &late->timer, lst_fault_deadline(target, us));
}

/*
 * Lets the rules for the PDU that just came act on the connection. @fired and the number of them
 * are for what they do to a command. True: the PDU is lost.
 */
static bool on_input(struct lst_conn *conn, const struct nv_sqe *sqe, struct lst_fault **fired,
                     unsigned *count)
{
    const struct lst_fault_site site = { conn, &conn->hdr.common, sqe };
    bool lost = false;

    *count = lst_faults_fire(&site, fired);
    for (unsigned i = 0; i < *count; i++) {
        if (lst_fault_mutes(fired[i])) {
            lst_fault_mute(conn, fired[i], conn->tx_pending);
        } else if (lst_fault_ends(fired[i])) {
            lst_fault_end(conn, fired[i]);
        }
        lost = lost || lst_fault_ends(fired[i]) || lst_fault_is(fired[i], LST_FAULT_HALF_OPEN) ||
               lst_fault_is(fired[i], LST_FAULT_DROP);
    }
    if (*count) {
        lst_conn_tell_ready(conn);
    }
    return lost;
}

bool lst_fault_on_ic_req(struct lst_conn *conn)
{
    struct lst_fault *fired[LST_FAULTS_MAX];
    unsigned count;

    return on_input(conn, NULL, fired, &count);
}

bool lst_fault_on_data(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_fault *fired[LST_FAULTS_MAX];
    unsigned count;

    return on_input(conn, &treq->req.sqe, fired, &count);
}

bool lst_fault_on_command(struct lst_conn *conn, struct lst_tcp_req *treq)
{
    struct lst_fault *fired[LST_FAULTS_MAX];
    uint64_t us = 0;
    unsigned count;

    treq->lost = on_input(conn, &treq->req.sqe, fired, &count);
    for (unsigned i = 0; i < count; i++) {
        const struct lst_fault *fault = fired[i];

        if (lst_fault_is(fault, LST_FAULT_STATUS)) {
            treq->early_status = (uint16_t)(fault->value[LST_FAULT_KEY_STATUS] |
                                            (lst_fault_value(fault, LST_FAULT_KEY_DNR, 0) ?
                                                 NV_DNR : 0));
        } else if (lst_fault_is(fault, LST_FAULT_R2T)) {
            lst_conn_send_stray_r2t(conn, treq->req.sqe.cid, LST_FAULT_R2T_TTAG,
                                    (uint32_t)lst_fault_value(fault, LST_FAULT_KEY_BYTES,
                                                              LST_FAULT_R2T_BYTES));
        } else if (lst_fault_is(fault, LST_FAULT_DELAY)) {
            us = MAX(us, fault->value[LST_FAULT_KEY_US]);
        }
    }
    if (us && !treq->lost) {
        delay_command(conn, treq, us);
    }
    return us || treq->lost;
}

/* ---- What the front sees */

void lst_fault_settle(struct lst_conn *conn)
{
    struct lst_conn_faults *faults = conn->faults;
    GList *node;

    while ((node = g_queue_pop_head_link(&faults->spent))) {
        lst_fault_copy_sent(conn, &((struct lst_fault_copy *)node->data)->tx);
    }
    if (!lst_conn_active(conn)) {
        return;
    }
    if (faults->fate == LST_FATE_TERM) {
        const struct lst_verdict verdict = { LST_TERMINATE, faults->fes, faults->fei, "a fault" };

        faults->fate = LST_FATE_NONE;
        lst_conn_refuse(conn, verdict, 0);
    } else if (faults->fate == LST_FATE_CLOSE && !conn->tx_head) {
        lst_conn_drop(conn);
    }
}

bool lst_fault_stays_open(const struct lst_conn *conn)
{
    return conn->faults->half_open;
}

bool lst_conn_wants_reset(const struct lst_conn *conn)
{
    return conn->state == LST_CONN_CLOSED && conn->faults && conn->faults->reset;
}

bool lst_conn_is_half_open(const struct lst_conn *conn)
{
    return conn->faults && conn->faults->half_open;
}

static void forget_copies(GQueue *copies)
{
    GList *node;

    while ((node = g_queue_pop_head_link(copies))) {
        lst_fault_copy_forget(&((struct lst_fault_copy *)node->data)->tx);
    }
}

void lst_fault_conn_end(struct lst_conn *conn)
{
    struct lst_conn_faults *faults = conn->faults;
    struct lst_timers *timers = &conn->queue.target->timers;
    GList *node;

    forget_copies(&faults->held);
    forget_copies(&faults->spent);
    while ((node = g_queue_pop_head_link(&faults->late))) {
        struct lst_fault_late *late = node->data;

        lst_timer_cancel(timers, &late->timer);
        g_free(late);
    }
    lst_timer_cancel(timers, &faults->timer);
    g_free(faults);
    conn->faults = NULL;
}
