/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keep-alive timer of a controller, and the activity timer of a controller without one.
 * Not here: the commands and the feature that set it (admin.c, features.c, fabrics.c).
 * NVM Express Base 2.0, 3.9: traffic based, so every Admin or I/O command counts as a sign of life.
 */
#include "engine/ctrl.h"

/* Silence that a controller without a keep-alive timer may keep; 0: any. */
static uint64_t patience_ms(const struct lst_ctrl *ctrl)
{
    if (ctrl->kato_ms) {
        return ctrl->kato_ms;
    }
    return ctrl->subsys->discovery ? LST_DISCOVERY_TIMEOUT_MS : ctrl->target->idle_s * 1000ull;
}

/*
 * Commands only note the time; the timer, when it fires too early, moves itself to what the last
 * command asks for. This keeps the heap out of the way of every command.
 */
static void keepalive_fire(struct lst_timer *timer)
{
    struct lst_ctrl *ctrl = lst_container(timer, struct lst_ctrl, timer);
    bool kato = ctrl->kato_ms != 0;
    uint64_t deadline = ctrl->last_command_ns + lst_ms(patience_ms(ctrl));

    if (deadline > ctrl->target->now_ns) {
        lst_timer_arm(&ctrl->target->timers, timer, deadline);
        return;
    }
    if (!kato) {
        lst_trace(ctrl->target, LST_EVENT_CTRL_IDLE, NULL, ctrl, ctrl->cntlid, 0, NULL);
        lst_ctrl_destroy(ctrl);
        return;
    }
    ctrl->target->stats.kato_expired++;
    lst_trace(ctrl->target, LST_EVENT_CTRL_KATO_EXPIRED, NULL, ctrl, ctrl->cntlid, ctrl->kato_ms,
              ctrl->hostnqn);
    lst_ctrl_fatal(ctrl);
}

void lst_keepalive_start(struct lst_ctrl *ctrl, uint32_t kato_ms)
{
    const uint64_t unit = LST_KAS_100MS * 100;
    uint64_t rounded = (kato_ms + unit - 1) / unit * unit;

    ctrl->kato_ms = rounded > UINT32_MAX ? (uint32_t)(UINT32_MAX / unit * unit) : (uint32_t)rounded;
    ctrl->last_command_ns = ctrl->target->now_ns;
    ctrl->timer.fire = keepalive_fire;
    if (patience_ms(ctrl)) {
        lst_timer_arm(&ctrl->target->timers, &ctrl->timer,
                      ctrl->target->now_ns + lst_ms(patience_ms(ctrl)));
    } else {
        lst_timer_cancel(&ctrl->target->timers, &ctrl->timer);
    }
}

void lst_keepalive_seen(struct lst_ctrl *ctrl)
{
    ctrl->last_command_ns = ctrl->target->now_ns;
}

void lst_keepalive_stop(struct lst_ctrl *ctrl)
{
    lst_timer_cancel(&ctrl->target->timers, &ctrl->timer);
}
