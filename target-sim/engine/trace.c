/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events on their way to the front.
 * Not here: their list (trace.h).
 * No standard.
 */
#include "engine/trace.h"

#include "engine/ctrl.h"

const struct lst_event_info lst_event_info[LST_EVENT_COUNT] = {
#define LST_EVENT_INFO(id, name, level, arg0, arg1) \
    [LST_EVENT_##id] = { name, LST_TRACE_##level, { arg0, arg1 } },
    LST_EVENTS(LST_EVENT_INFO)
#undef LST_EVENT_INFO
};

void lst_trace(struct lst_target *target, enum lst_event_id id, const struct lst_queue *queue,
               const struct lst_ctrl *ctrl, uint64_t arg0, uint64_t arg1, const char *text)
{
    struct lst_event event = { .id = id, .args = { arg0, arg1 }, .text = text };

    if (!target->ops.trace) {
        return;
    }
    if (queue) {
        event.conn_id = queue->trace_id;
        event.qid = queue->qid;
        if (!ctrl) {
            ctrl = queue->ctrl;
        }
    }
    if (ctrl) {
        event.cntlid = ctrl->cntlid;
    }
    target->ops.trace(target->front, &event);
}
