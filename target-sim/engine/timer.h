/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of a target: a binary heap ordered by deadline.
 * Not here: a clock; time comes from lst_target_tick().
 * No standard.
 */
#ifndef ENGINE_TIMER_H
#define ENGINE_TIMER_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* The structure of @type that has @member at @pointer. */
#define lst_container(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

struct lst_timer {
    uint64_t deadline_ns;
    unsigned place;                      /* in the heap, from 1; 0: not armed */
    void (*fire)(struct lst_timer *timer);
};

struct lst_timers {
    GPtrArray *heap;
};

void lst_timers_init(struct lst_timers *timers);
void lst_timers_destroy(struct lst_timers *timers);
/* Arms or moves @timer. fire must be set. */
void lst_timer_arm(struct lst_timers *timers, struct lst_timer *timer, uint64_t deadline_ns);
/* Nothing happens if it is not armed. */
void lst_timer_cancel(struct lst_timers *timers, struct lst_timer *timer);
/* UINT64_MAX if none is armed. */
uint64_t lst_timers_next(const struct lst_timers *timers);
/*
 * Fires, once each, what is due at @now_ns; a fired timer is disarmed first and may arm itself
 * again.
 */
void lst_timers_run(struct lst_timers *timers, uint64_t now_ns);

#endif
