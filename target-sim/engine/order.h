/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands on blocks that must wait for each other: an exclusive one (a fused pair, the reset of a
 * zone) has its blocks for itself.
 * Not here: what is done with the blocks (io.c, fused.c, zoned.c).
 * NVM Command Set 1.0, 2.1.4 (atomic operations); NVM Express Base 2.0, 3.4.2 (fused operations).
 */
/*
 * A request enters when it is to begin and leaves when it has ended. Two of which one is exclusive
 * and whose blocks overlap are executed in the order in which they entered; all others are not kept
 * from anything. While a namespace has no exclusive request, entering costs a link in a list.
 */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct lst_req;
struct lst_target;

enum lst_order_state {
    LST_ORDER_OUT,
    LST_ORDER_ACTIVE,                    /* executed, or about to be (in target->ready) */
    LST_ORDER_HELD,                      /* waits for others */
};

/* A member of the request. */
struct lst_order {
    enum lst_order_state state;
    bool exclusive;
    bool ready;                          /* in target->ready */
    unsigned blockers;                   /* requests that it waits for */
    uint64_t start, end;                 /* blocks; equal: none */
    GList link;                          /* of the namespace's active or held ones */
    GList ready_link;
    void (*resume)(struct lst_req *req);
};

/*
 * lst_order_enter: true: go on. false: @resume is called when it is time, unless the request leaves
 * before.
 */
bool lst_order_enter(struct lst_req *req, uint64_t start, uint64_t blocks, bool exclusive,
                     void (*resume)(struct lst_req *req));
/* Nothing happens to a request that did not enter. Others that may go on do so in lst_order_run(). */
void lst_order_leave(struct lst_req *req);
/* Resumes those whose time has come. From inside itself it does nothing: the outer call goes on. */
void lst_order_run(struct lst_target *target);

#endif
