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

enum LogLimits {
    LOG_BURST = 100,       /* messages of one kind at once */
    LOG_REFILL_MS = 1000,  /* and then one in each of these times */
};

/* How much of a kind of message has been shown; zero at first. */
typedef struct LogLimit {
    unsigned shown;
    gint64 refilled_ms;
    guint64 left_out;
} LogLimit;

/**
 * log_set_level - show messages up to this level (at first LOG_LEVEL_INFO)
 */
void log_set_level(LogLevel level);

/**
 * log_admits - whether to show a message of a kind that a peer can cause at will,
 *              so that it cannot fill a disk
 * @limit: of this kind; the message must be shown if the answer is true
 *
 * How many were left out is said in front of the next that is shown. At
 * LOG_LEVEL_TRACE nothing is left out.
 */
bool log_admits(LogLimit *limit, LogLevel level);

/**
 * log_line - write "target-sim: [LEVEL: ]message\n"
 * @format: printf's, without a newline
 */
void log_line(LogLevel level, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
