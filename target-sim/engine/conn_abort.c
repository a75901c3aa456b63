/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the transport has of commands that are to end before their time.
 * Not here: who wants that (abort.c, fabrics.c).
 * NVM Express Base 2.0, 5.1 and 6.4; NVMe/TCP Transport 1.0, 3.3.2.
 */
#include "engine/tcp.h"

struct lst_req *lst_conn_find(struct lst_queue *queue, uint16_t cid)
{
    struct lst_conn *conn = lst_container(queue, struct lst_conn, queue);
    struct lst_tcp_req *treq = lst_conn_by_cid(conn, cid);

    return treq && !treq->lost && treq->state >= LST_TREQ_WAIT_BUFFER &&
           treq->state <= LST_TREQ_EXECUTING ? &treq->req : NULL;
}

/* The state is one that lst_conn_find() lets pass. */
static bool end_early(struct lst_tcp_req *treq, uint16_t status)
{
    if (treq->state == LST_TREQ_EXECUTING) {
        return lst_req_abort(&treq->req, status);
    }
    if (treq->state == LST_TREQ_WAIT_BUFFER) {
        lst_conn_unwait(treq->conn, treq);
    }
    treq->state = LST_TREQ_EXECUTING;
    lst_req_complete(&treq->req, status);
    return true;
}

/* The host sends the data that it was asked for in any case: they need their windows. */
bool lst_conn_abort(struct lst_req *req)
{
    struct lst_tcp_req *treq = lst_container(req, struct lst_tcp_req, req);

    if (treq->state == LST_TREQ_TRANSFER) {
        treq->aborted = true;
        return true;
    }
    return end_early(treq, NV_SC_ABORT_REQUESTED);
}

static bool is_unfinished(const struct lst_conn *conn, const struct lst_tcp_req *treq)
{
    return treq && treq != conn->disconnect && !treq->lost && treq->state < LST_TREQ_SENDING;
}

/*
 * Disconnect's response is the last capsule of the queue. Then the host closes the connection, or
 * we do.
 */
void lst_conn_disconnect_next(struct lst_conn *conn)
{
    struct lst_tcp_req *treq = conn->disconnect;

    if (!treq) {
        return;
    }
    for (unsigned slot = 0; slot < conn->capacity; slot++) {
        if (is_unfinished(conn, conn->slots[slot])) {
            return;
        }
    }
    conn->disconnect = NULL;
    lst_queue_detach(&conn->queue);
    lst_conn_arm(conn, LST_TERM_TIMEOUT_MS);
    lst_req_complete(&treq->req, NV_SC_SUCCESS);
}

void lst_conn_disconnect(struct lst_req *req)
{
    struct lst_tcp_req *treq = lst_container(req, struct lst_tcp_req, req);
    struct lst_conn *conn = treq->conn;

    lst_trace(req->queue->target, LST_EVENT_CONN_DISCONNECT, req->queue, NULL, req->queue->qid,
              conn->outstanding - 1, NULL);
    conn->deaf = true;
    for (unsigned slot = 0; slot < conn->capacity; slot++) {
        struct lst_tcp_req *other = conn->slots[slot];

        if (other && other != treq && !other->lost && other->state >= LST_TREQ_WAIT_BUFFER &&
            other->state <= LST_TREQ_EXECUTING) {
            end_early(other, NV_SC_ABORT_SQ_DELETION);
        }
    }
    conn->disconnect = treq;
    lst_conn_disconnect_next(conn);
}
