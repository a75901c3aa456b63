/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listings of connections, controllers and counters.
 * Not here: the counting, which is done where things happen.
 * No standard.
 */
#include "engine/stats.h"

#include <string.h>

#include "engine/tcp.h"

static size_t memory_idle(const struct lst_conn *conn)
{
    size_t per_entry = sizeof(*conn->slots) + sizeof(*conn->free_slots) + sizeof(*conn->by_cid);

    return sizeof(*conn) + conn->capacity * per_entry;
}

/*
 * A full queue of commands, each with as much as it may have: data in its capsule or of a fused
 * pair (which never wait for room), R2Ts; and the buffers that the connection shares.
 */
static size_t memory_most(const struct lst_conn *conn)
{
    size_t per_command = sizeof(struct lst_tcp_req) + conn->r2t_max * sizeof(struct lst_r2t);
    unsigned commands = conn->queue.size ? conn->queue.size - 1u : LST_ADMIN_QUEUE_SIZE;

    if (conn->ctx.inline_max) {
        per_command += lst_pool_size(conn->ctx.inline_max);
    }
    if (conn->queue.qid) {
        per_command += LST_FUSED_BYTES;
    }
    return memory_idle(conn) + commands * per_command + LST_CONN_BUFFERS;
}

static size_t memory_now(const struct lst_conn *conn)
{
    size_t r2ts = 0;

    for (unsigned slot = 0; slot < conn->capacity; slot++) {
        r2ts += conn->slots[slot] ? conn->slots[slot]->r2t_count : 0;
    }
    return memory_idle(conn) + conn->outstanding * sizeof(struct lst_tcp_req) +
           r2ts * sizeof(struct lst_r2t) + conn->buffer_bytes +
           lst_stats_memory(conn->queue.commands);
}

void lst_conn_trace_memory(const struct lst_conn *conn)
{
    lst_trace(conn->queue.target, LST_EVENT_CONN_MEMORY, &conn->queue, NULL, memory_idle(conn),
              memory_most(conn), NULL);
}

void lst_conn_get_stats(const struct lst_conn *conn, struct lst_conn_stats *stats)
{
    const struct lst_queue *queue = &conn->queue;
    const struct lst_ctrl *ctrl = queue->ctrl;

    *stats = (struct lst_conn_stats) {
        .id = queue->trace_id,
        .state = conn->state,
        .peer = conn->peer,
        .portid = queue->port ? queue->port->portid : 0,
        .subnqn = ctrl ? ctrl->subsys->nqn : "",
        .hostnqn = ctrl ? ctrl->hostnqn : "",
        .cntlid = ctrl ? ctrl->cntlid : 0,
        .qid = queue->qid,
        .queue_size = queue->size,
        .outstanding = (uint16_t)conn->outstanding,
        .header_digest = conn->ctx.header_digest,
        .data_digest = conn->ctx.data_digest,
        .sq_flow_control = queue->flow_control,
        .memory = memory_now(conn),
        .memory_most = memory_most(conn),
        .counters = conn->counters,
        .commands = queue->commands,
    };
    stats->counters.failed = queue->failed;
    stats->counters.read_bytes = queue->read_bytes;
    stats->counters.write_bytes = queue->write_bytes;
}

void lst_target_each_conn(struct lst_target *target,
                          void (*fn)(void *opaque, const struct lst_conn_stats *stats),
                          void *opaque)
{
    for (GList *node = target->conns.head; node; node = node->next) {
        struct lst_conn_stats stats;

        lst_conn_get_stats(node->data, &stats);
        fn(opaque, &stats);
    }
}

void lst_target_each_ctrl(struct lst_target *target,
                          void (*fn)(void *opaque, const struct lst_ctrl_stats *stats),
                          void *opaque)
{
    for (GList *node = target->ctrls.head; node; node = node->next) {
        const struct lst_ctrl *ctrl = node->data;
        struct lst_ctrl_stats stats = {
            .cntlid = ctrl->cntlid,
            .discovery = ctrl->subsys->discovery,
            .enabled = lst_ctrl_ready(ctrl),
            .subnqn = ctrl->subsys->nqn,
            .hostnqn = ctrl->hostnqn,
            .portid = ctrl->port->portid,
            .kato_ms = ctrl->kato_ms,
            .io_queues = (uint16_t)ctrl->io_queue_count,
        };

        memcpy(stats.hostid, ctrl->hostid, sizeof(stats.hostid));
        fn(opaque, &stats);
    }
}

void lst_target_get_stats(const struct lst_target *target, struct lst_target_stats *stats)
{
    *stats = target->stats;
    stats->conns = target->conns.length;
    stats->ctrls = target->ctrls.length;
    stats->pool_bytes = target->pool.bytes;
    stats->conn_bytes = 0;
    for (const GList *node = target->conns.head; node; node = node->next) {
        stats->conn_bytes += memory_now(node->data);
    }
}
