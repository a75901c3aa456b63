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

bool log_shows(LogLevel level)
{
    return level <= shown;
}

void log_line(LogLevel level, const char *format, ...)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", ""};
    g_autofree char *text = NULL;
    va_list args;

    if (!log_shows(level)) {
        return;
    }
    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    /* One write, so that lines of several daemons on one pipe stay whole. */
    fprintf(stderr, "target-sim: %s%s\n", prefix[level], text);
}
