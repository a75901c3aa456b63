/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of a target: a binary heap ordered by deadline.
 * Not here: a clock; time comes from lst_target_tick().
 * No standard.
 */
#include "engine/timer.h"

static struct lst_timer *heap_at(const struct lst_timers *timers, unsigned place)
{
    return g_ptr_array_index(timers->heap, place - 1);
}

static void heap_put(struct lst_timers *timers, unsigned place, struct lst_timer *timer)
{
    g_ptr_array_index(timers->heap, place - 1) = timer;
    timer->place = place;
}

static void heap_up(struct lst_timers *timers, struct lst_timer *timer)
{
    unsigned place = timer->place;

    while (place > 1 && heap_at(timers, place / 2)->deadline_ns > timer->deadline_ns) {
        heap_put(timers, place, heap_at(timers, place / 2));
        place /= 2;
    }
    heap_put(timers, place, timer);
}

static void heap_down(struct lst_timers *timers, struct lst_timer *timer)
{
    unsigned place = timer->place;

    for (;;) {
        unsigned child = place * 2;

        if (child > timers->heap->len) {
            break;
        }
        if (child < timers->heap->len &&
            heap_at(timers, child + 1)->deadline_ns < heap_at(timers, child)->deadline_ns) {
            child++;
        }
        if (heap_at(timers, child)->deadline_ns >= timer->deadline_ns) {
            break;
        }
        heap_put(timers, place, heap_at(timers, child));
        place = child;
    }
    heap_put(timers, place, timer);
}

void lst_timers_init(struct lst_timers *timers)
{
    timers->heap = g_ptr_array_new();
}

void lst_timers_destroy(struct lst_timers *timers)
{
    g_assert(timers->heap->len == 0);
    g_ptr_array_free(timers->heap, TRUE);
}

void lst_timer_arm(struct lst_timers *timers, struct lst_timer *timer, uint64_t deadline_ns)
{
    g_assert(timer->fire);
    timer->deadline_ns = deadline_ns;
    if (!timer->place) {
        g_ptr_array_add(timers->heap, timer);
        timer->place = timers->heap->len;
    }
    heap_up(timers, timer);
    heap_down(timers, timer);
}

void lst_timer_cancel(struct lst_timers *timers, struct lst_timer *timer)
{
    unsigned place = timer->place;
    struct lst_timer *last;

    if (!place) {
        return;
    }
    last = heap_at(timers, timers->heap->len);
    g_ptr_array_set_size(timers->heap, (int)timers->heap->len - 1);
    timer->place = 0;
    if (last != timer) {
        heap_put(timers, place, last);
        heap_up(timers, last);
        heap_down(timers, last);
    }
}

uint64_t lst_timers_next(const struct lst_timers *timers)
{
    return timers->heap->len ? heap_at(timers, 1)->deadline_ns : UINT64_MAX;
}

void lst_timers_run(struct lst_timers *timers, uint64_t now_ns)
{
    /* A timer that arms itself for a past time must not keep us here for ever. */
    unsigned budget = timers->heap->len;

    while (budget-- && timers->heap->len && heap_at(timers, 1)->deadline_ns <= now_ns) {
        struct lst_timer *timer = heap_at(timers, 1);

        lst_timer_cancel(timers, timer);
        timer->fire(timer);
    }
}
