/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the daemon on standard error, one line each.
 * Not here: what the engine traces (target.c maps it to these levels).
 * No standard.
 */
#include "daemon/log.h"

#include <stdio.h>

const ParseName log_level_names[] = {
    {"error", LOG_LEVEL_ERROR},
    {"warn", LOG_LEVEL_WARN},
    {"info", LOG_LEVEL_INFO},
    {"trace", LOG_LEVEL_TRACE},
    {NULL, 0},
};

static LogLevel shown = LOG_LEVEL_INFO;

void log_set_level(LogLevel level)
{
    shown = level;
}

/* One message more for each LOG_REFILL_MS that passed. */
static void refill(LogLimit *limit)
{
    gint64 now_ms = g_get_monotonic_time() / 1000;
    gint64 count = (now_ms - limit->refilled_ms) / LOG_REFILL_MS;

    if (count > 0) {
        limit->shown -= (unsigned)MIN(count, (gint64)limit->shown);
        limit->refilled_ms = now_ms;
    }
}

/* The limits are those of all threads. */
G_LOCK_DEFINE_STATIC(limits);

static bool admits(LogLimit *limit, LogLevel level)
{
    refill(limit);
    if (limit->shown == LOG_BURST) {
        limit->left_out++;
        return false;
    }
    limit->shown++;
    if (limit->left_out) {
        log_line(level, "%" G_GUINT64_FORMAT " messages like the next were left out",
                 limit->left_out);
        limit->left_out = 0;
    }
    return true;
}

bool log_admits(LogLimit *limit, LogLevel level)
{
    bool admitted;

    if (level > shown) {
        return false;
    }
    if (shown == LOG_LEVEL_TRACE) {
        return true;
    }
    G_LOCK(limits);
    admitted = admits(limit, level);
    G_UNLOCK(limits);
    return admitted;
}

void log_line(LogLevel level, const char *format, ...)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", ""};
    g_autofree char *text = NULL;
    va_list args;

    if (level > shown) {
        return;
    }
    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    /* One write, so that lines of several daemons on one pipe stay whole. */
    fprintf(stderr, "target-sim: %s%s\n", prefix[level], text);
}
