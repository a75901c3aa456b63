/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the daemon on standard error, one line each.
 * Not here: what the engine traces (target.c maps it to these levels).
 * No standard.
 */
#ifndef LOCKSTEP_DAEMON_LOG_H
#define LOCKSTEP_DAEMON_LOG_H

#include <glib.h>

#include "daemon/parse.h"

typedef enum LogLevel {
    LOG_LEVEL_ERROR, /* the daemon cannot go on, or lost something */
    LOG_LEVEL_WARN,  /* a peer or the machine did something wrong; we go on */
    LOG_LEVEL_INFO,  /* listeners, associations, start and end */
    LOG_LEVEL_TRACE, /* every connection and every engine event */
} LogLevel;

extern const ParseName log_level_names[];

/**
 * log_set_level - show messages up to this level (at first LOG_LEVEL_INFO)
 */
void log_set_level(LogLevel level);

/**
 * log_shows - whether a message would be shown, for callers whose arguments
 *             cost something
 */
bool log_shows(LogLevel level);

/**
 * log_line - write "target-sim: [LEVEL: ]message\n"
 * @format: printf's, without a newline
 */
void log_line(LogLevel level, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
