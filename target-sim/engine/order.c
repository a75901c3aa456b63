/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands on blocks that must wait for each other. See order.h.
 * Not here: what is done with the blocks (io.c, fused.c, zoned.c).
 * NVM Command Set 1.0, 2.1.4 (atomic operations); NVM Express Base 2.0, 3.4.2 (fused operations).
 */
#include "engine/ctrl.h"

static bool conflict(const struct lst_order *a, const struct lst_order *b)
{
    return (a->exclusive || b->exclusive) && a->start < b->end && b->start < a->end;
}

static unsigned count_conflicts(const GQueue *reqs, const struct lst_order *order)
{
    unsigned count = 0;

    for (const GList *node = reqs->head; node; node = node->next) {
        count += conflict(&((const struct lst_req *)node->data)->order, order);
    }
    return count;
}

bool lst_order_enter(struct lst_req *req, uint64_t start, uint64_t blocks, bool exclusive,
                     void (*resume)(struct lst_req *req))
{
    struct lst_order *order = &req->order;
    struct lst_ns *ns = req->ns;

    g_assert(order->state == LST_ORDER_OUT);
    order->start = start;
    order->end = start + blocks;
    order->exclusive = exclusive;
    order->resume = resume;
    order->link.data = req;
    order->ready_link.data = req;
    order->blockers = 0;
    if (exclusive || ns->exclusive) {
        order->blockers = count_conflicts(&ns->active, order) + count_conflicts(&ns->held, order);
    }
    ns->exclusive += exclusive;
    order->state = order->blockers ? LST_ORDER_HELD : LST_ORDER_ACTIVE;
    g_queue_push_tail_link(order->blockers ? &ns->held : &ns->active, &order->link);
    return !order->blockers;
}

static void make_ready(struct lst_req *req)
{
    struct lst_order *order = &req->order;

    g_queue_unlink(&req->ns->held, &order->link);
    g_queue_push_tail_link(&req->ns->active, &order->link);
    order->state = LST_ORDER_ACTIVE;
    order->ready = true;
    g_queue_push_tail_link(&req->queue->target->ready, &order->ready_link);
}

/*
 * Those that are held and in conflict with an active request entered behind it: else it would be
 * held as well. Of a held request only those behind it count.
 */
static void unblock(const struct lst_order *left, GList *node)
{
    GList *next;

    for (; node; node = next) {
        struct lst_req *held = node->data;

        next = node->next;
        if (conflict(left, &held->order) && --held->order.blockers == 0) {
            make_ready(held);
        }
    }
}

void lst_order_leave(struct lst_req *req)
{
    struct lst_order *order = &req->order;
    struct lst_ns *ns = req->ns;
    bool held = order->state == LST_ORDER_HELD;
    GList *behind;

    if (order->state == LST_ORDER_OUT) {
        return;
    }
    behind = held ? order->link.next : ns->held.head;
    g_queue_unlink(held ? &ns->held : &ns->active, &order->link);
    if (order->ready) {
        g_queue_unlink(&req->queue->target->ready, &order->ready_link);
        order->ready = false;
    }
    order->state = LST_ORDER_OUT;
    ns->exclusive -= order->exclusive;
    unblock(order, behind);
}

void lst_order_run(struct lst_target *target)
{
    if (target->resuming) {
        return;
    }
    target->resuming = true;
    while (target->ready.head) {
        struct lst_req *req = g_queue_pop_head_link(&target->ready)->data;

        req->order.ready = false;
        req->order.resume(req);
    }
    target->resuming = false;
}
