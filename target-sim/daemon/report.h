/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the target counted, as JSON and as a page of metrics.
 * Not here: the counting (engine/stats.h), who asks (control.h, metrics.h).
 * Prometheus text exposition format 0.0.4.
 */
#ifndef LOCKSTEP_DAEMON_REPORT_H
#define LOCKSTEP_DAEMON_REPORT_H

#include <json-glib/json-glib.h>

#include "daemon/server.h"
#include "engine/stats.h"

enum ReportLimits {
    REPORT_CONNECTIONS_MAX = 4096, /* in one answer: it is made while hosts wait */
};

/**
 * report_json - totals, commands, controllers and connections
 *
 * Return: an object, freed by json_object_unref().
 */
JsonObject *report_json(Server *server);

/* Names for both: "io"; "read", or the number if it has no name. */
const char *report_kind(enum lst_command_kind kind);
char *report_opcode(const struct lst_command_stats *stats);

/**
 * report_metrics - totals and commands in Prometheus' text format
 */
void report_metrics(Server *server, GString *text);

#endif
