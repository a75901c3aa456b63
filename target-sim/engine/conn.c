/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection's life: making, states, time-outs, end.
 * Not here: receiving (conn_rx.c), commands (conn_cmd.c), sending (conn_tx.c).
 * NVMe/TCP Transport 1.0, 3.2 and 3.3.2.
 */
#include "engine/tcp.h"

#include <string.h>

static void conn_timeout(struct lst_timer *timer)
{
    static const struct {
        bool trace;
        enum lst_event_id event;
    } events[] = {
        [LST_CONN_IC] = { true, LST_EVENT_CONN_IC_TIMEOUT },
        [LST_CONN_CONNECT] = { true, LST_EVENT_CONN_CONNECT_TIMEOUT },
        [LST_CONN_TERM] = { true, LST_EVENT_CONN_TERM_TIMEOUT },
        [LST_CONN_CLOSED] = { false, 0 },
    };
    struct lst_conn *conn = lst_container(timer, struct lst_conn, timer);

    if (events[conn->state].trace) {
        lst_trace(conn->queue.target, events[conn->state].event, &conn->queue, NULL, 0, 0,
                  conn->peer);
    }
    lst_conn_drop(conn);
}

void lst_conn_arm(struct lst_conn *conn, uint64_t ms)
{
    struct lst_target *target = conn->queue.target;

    lst_timer_arm(&target->timers, &conn->timer, target->now_ns + lst_ms(ms));
}

void lst_conn_tell_ready(struct lst_conn *conn)
{
    struct lst_target *target = conn->queue.target;

    if (!conn->ready_told && !conn->freed && target->ops.conn_ready) {
        conn->ready_told = true;
        target->ops.conn_ready(target->front, conn);
    }
}

void lst_conn_set_state(struct lst_conn *conn, enum lst_conn_state state)
{
    static const unsigned allowed[] = {
        [LST_CONN_IC] = 1u << LST_CONN_CONNECT | 1u << LST_CONN_TERM | 1u << LST_CONN_CLOSED,
        [LST_CONN_CONNECT] = 1u << LST_CONN_LIVE | 1u << LST_CONN_TERM | 1u << LST_CONN_CLOSED,
        [LST_CONN_LIVE] = 1u << LST_CONN_TERM | 1u << LST_CONN_CLOSED,
        [LST_CONN_TERM] = 1u << LST_CONN_CLOSED,
        [LST_CONN_CLOSED] = 0,
    };

    g_assert(allowed[conn->state] & 1u << state);
    conn->state = state;
}

static struct lst_conn *conn_make(struct lst_target *target, struct lst_port *port,
                                  const struct lst_conn_info *info, uint64_t id)
{
    struct lst_conn *conn = g_new0(struct lst_conn, 1);

    conn->local = g_strdup(info->local ? info->local : "");
    conn->peer = g_strdup(info->peer ? info->peer : "");
    conn->opaque = info->opaque;
    conn->queue.ops = &lst_conn_queue_ops;
    conn->queue.target = target;
    conn->queue.port = port;
    conn->queue.local_addr = conn->local;
    conn->queue.fabrics = true;
    conn->queue.inline_size = port->inline_size;
    conn->queue.max_size = port->queue_size;
    conn->queue.trace_id = id;
    conn->opened_ns = target->now_ns;
    conn->ctx.inline_max = NVTCP_ADMIN_INLINE;
    conn->ctx.maxh2cdata = port->maxh2cdata;
    conn->ctx.cpda = (uint8_t)port->cpda;
    conn->pda = 4;
    conn->r2t_max = port->max_r2t;
    conn->r2t_size = port->r2t_size;
    conn->timer.fire = conn_timeout;
    lst_conn_arm(conn, MIN(LST_IC_TIMEOUT_MS, target->handshake_s * 1000));
    conn->link.data = conn;
    g_queue_push_tail_link(&target->conns, &conn->link);
    return conn;
}

struct lst_conn *lst_conn_new(struct lst_target *target, struct lst_port *port,
                              const struct lst_conn_info *info)
{
    struct lst_conn *conn = conn_make(target, port, info, ++target->next_conn_id);

    target->stats.conns_opened++;
    lst_trace(target, LST_EVENT_CONN_OPEN, &conn->queue, NULL, 0, 0, conn->peer);
    return conn;
}

static void conn_destroy(struct lst_conn *conn)
{
    g_assert(conn->outstanding == 0);
    g_free(conn->slots);
    g_free(conn->free_slots);
    g_free(conn->by_cid);
    lst_stats_merge(&conn->queue.target->ended, conn->queue.commands);
    g_free(conn->local);
    g_free(conn->peer);
    g_free(conn);
}

static void conn_free(struct lst_conn *conn)
{
    struct lst_target *target = conn->queue.target;

    lst_queue_detach(&conn->queue);
    lst_timer_cancel(&target->timers, &conn->timer);
    g_queue_unlink(&target->conns, &conn->link);
    conn->freed = true;
    conn->state = LST_CONN_CLOSED;
    lst_conn_forget_output(conn);
    if (conn->faults) {
        lst_fault_conn_end(conn);
    }
    conn->wait_head = NULL;
    conn->wait_tail = NULL;
    for (unsigned slot = 0; slot < conn->capacity; slot++) {
        struct lst_tcp_req *treq = conn->slots[slot];

        if (treq && treq->req.at_backend) {
            conn->orphans++;
        } else if (treq) {
            lst_conn_release(conn, treq);
        }
    }
    /* What waited for one of these, on other connections. */
    lst_order_run(target);
    if (!conn->orphans) {
        conn_destroy(conn);
    }
}

void lst_conn_free(struct lst_conn *conn)
{
    lst_trace(conn->queue.target, LST_EVENT_CONN_CLOSED, &conn->queue, NULL, 0, 0, conn->peer);
    conn_free(conn);
}

bool lst_conn_leave(struct lst_conn *conn, struct lst_conn_pass *pass)
{
    if (conn->state != LST_CONN_CONNECT || conn->tx_pending || conn->outstanding ||
        conn->counters.rx_pdus != 1 || !lst_conn_between_pdus(conn)) {
        return false;
    }
    _Static_assert(sizeof(pass->ic_req) == sizeof(conn->hdr.ic), "an ICReq as it came");
    pass->id = conn->queue.trace_id;
    memcpy(pass->ic_req, &conn->hdr.ic, sizeof(pass->ic_req));
    conn_free(conn);
    return true;
}

struct lst_conn *lst_conn_enter(struct lst_target *target, struct lst_port *port,
                                const struct lst_conn_info *info,
                                const struct lst_conn_pass *pass)
{
    struct lst_conn *conn = conn_make(target, port, info, pass->id);

    memcpy(&conn->hdr.ic, pass->ic_req, sizeof(pass->ic_req));
    conn->counters.rx_pdus = 1;
    conn->counters.tx_pdus = 1;
    conn->counters.rx_bytes = sizeof(pass->ic_req);
    conn->counters.tx_bytes = sizeof(struct nvtcp_ic_resp);
    lst_conn_negotiated(conn);
    return conn;
}

void lst_conn_refuse(struct lst_conn *conn, struct lst_verdict verdict, uint32_t header_len)
{
    struct lst_target *target = conn->queue.target;

    g_assert(verdict.outcome != LST_ACCEPT);
    if (verdict.outcome == LST_DROP) {
        lst_trace(target, LST_EVENT_CONN_DROP, &conn->queue, NULL, 0, 0, verdict.why);
        lst_conn_drop(conn);
        return;
    }
    target->stats.conns_terminated++;
    lst_trace(target, LST_EVENT_CONN_TERMINATE, &conn->queue, NULL, verdict.fes, verdict.fei,
              verdict.why);
    lst_conn_send_term(conn, verdict.fes, verdict.fei, conn->hdr.bytes, header_len);
    lst_conn_set_state(conn, LST_CONN_TERM);
    lst_conn_arm(conn, LST_TERM_TIMEOUT_MS);
    lst_queue_detach(&conn->queue);
}

void lst_conn_drop(struct lst_conn *conn)
{
    if (conn->state == LST_CONN_CLOSED) {
        return;
    }
    if (conn->faults && lst_fault_stays_open(conn)) {
        lst_queue_detach(&conn->queue);
        return;
    }
    lst_conn_set_state(conn, LST_CONN_CLOSED);
    lst_timer_cancel(&conn->queue.target->timers, &conn->timer);
    lst_queue_detach(&conn->queue);
    lst_conn_tell_ready(conn);
}

void lst_conns_forget_port(struct lst_target *target, struct lst_port *port)
{
    for (GList *node = target->conns.head; node; node = node->next) {
        struct lst_conn *conn = node->data;

        if (conn->queue.port == port) {
            lst_conn_drop(conn);
            conn->queue.port = NULL;
        }
    }
}

/* ---- What the core tells */

static void conn_complete(struct lst_req *req)
{
    struct lst_tcp_req *treq = lst_container(req, struct lst_tcp_req, req);
    struct lst_conn *conn = treq->conn;

    if (lst_conn_active(conn)) {
        lst_conn_send_response(conn, treq);
        lst_conn_disconnect_next(conn);
        return;
    }
    lst_conn_release(conn, treq);
    if (conn->freed && --conn->orphans == 0) {
        conn_destroy(conn);
    }
}

static void conn_connected(struct lst_queue *queue)
{
    struct lst_conn *conn = lst_container(queue, struct lst_conn, queue);

    lst_conn_set_state(conn, LST_CONN_LIVE);
    lst_timer_cancel(&queue->target->timers, &conn->timer);
    if (queue->qid) {
        conn->ctx.inline_max = queue->inline_size;
    }
    lst_conn_set_capacity(conn, queue->size);
    lst_conn_trace_memory(conn);
}

static void conn_shutdown(struct lst_queue *queue)
{
    lst_conn_drop(lst_container(queue, struct lst_conn, queue));
}

const struct lst_queue_ops lst_conn_queue_ops = {
    .complete = conn_complete,
    .connected = conn_connected,
    .find = lst_conn_find,
    .abort = lst_conn_abort,
    .disconnect = lst_conn_disconnect,
    .shutdown = conn_shutdown,
};

/* ---- Asked by the front */

bool lst_conn_wants_close(struct lst_conn *conn)
{
    if (conn->faults) {
        lst_fault_settle(conn);
    }
    conn->ready_told = false;
    return conn->state == LST_CONN_CLOSED;
}

enum lst_conn_state lst_conn_state(const struct lst_conn *conn)
{
    return conn->state;
}

void *lst_conn_opaque(const struct lst_conn *conn)
{
    return conn->opaque;
}

uint64_t lst_conn_id(const struct lst_conn *conn)
{
    return conn->queue.trace_id;
}

size_t lst_conn_pending(const struct lst_conn *conn)
{
    if (conn->state == LST_CONN_CLOSED) {
        return 0;
    }
    return conn->faults ? lst_fault_allowed(conn, conn->tx_pending) : conn->tx_pending;
}

unsigned lst_conn_unfinished(const struct lst_conn *conn)
{
    const struct lst_ctrl *ctrl = conn->queue.ctrl;

    if (!ctrl || ctrl->admin != &conn->queue) {
        return conn->outstanding;
    }
    return conn->outstanding - ctrl->aer.count + ctrl->io_queue_count;
}

bool lst_conn_needs_input(const struct lst_conn *conn)
{
    if (!lst_conn_active(conn)) {
        return false;
    }
    for (unsigned slot = 0; slot < conn->capacity; slot++) {
        if (conn->slots[slot] && conn->slots[slot]->state < LST_TREQ_EXECUTING) {
            return true;
        }
    }
    return !lst_conn_between_pdus(conn);
}

bool lst_conn_between_pdus(const struct lst_conn *conn)
{
    return conn->rx == LST_RX_COMMON && conn->rx_have == 0;
}
