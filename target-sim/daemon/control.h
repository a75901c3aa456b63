/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: JSON objects, one a line, each answered by one.
 * Not here: what they change (tree.h), the program that sends them (ctl.h). JSON: RFC 8259.
 */
#ifndef LOCKSTEP_DAEMON_CONTROL_H
#define LOCKSTEP_DAEMON_CONTROL_H

#include <json-glib/json-glib.h>

#include "daemon/server.h"

enum ControlLimits {
    CONTROL_LINE_MAX = 64 << 10,   /* bytes of a request */
    CONTROL_DEPTH_MAX = 2,         /* nesting of it; a right one has 1 */
    CONTROL_PATIENCE_MS = 60000,   /* for the next request, or for an answer to be taken */
};

/* What was asked for; missing parts are NULL. */
typedef struct ControlRequest {
    char *verb;
    char *path;
    char *value;
} ControlRequest;

/* One verb; the last of the table has no name. */
typedef struct ControlVerb {
    const char *name;
    unsigned arguments; /* 0: none, 1: path, 2: path and value */
    const char *help;
    /* Adds to the answer; false with an error of domain CONFIG_ERROR or LST_ERROR. */
    bool (*run)(Server *server, const ControlRequest *request, JsonObject *reply, GError **error);
    bool changes; /* every thread's server is to change */
} ControlVerb;

extern const ControlVerb control_verbs[];

/**
 * control_new - listen for control at a path of the file system
 * @path: a socket that nobody listens at any more is replaced, anything else is not
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Only the user of this process may connect. The path goes with control_remove().
 *
 * Return: a service for service_free(), or NULL.
 */
Service *control_new(Server *server, const char *path, GError **error);
void control_remove(const char *path);

/**
 * control_parse - read a request
 * @text: NUL-terminated
 * @request: filled; free what it owns with control_request_clear() in any case
 * @error: set on failure: key, value, what is allowed
 *
 * Return: the verb, or NULL.
 */
const ControlVerb *control_parse(const char *text, size_t length, ControlRequest *request,
                                 GError **error);
void control_request_clear(ControlRequest *request);

/**
 * control_answer - carry out a request and append its answer, a line
 *
 * Return: true: a connection goes on whatever was asked.
 */
bool control_answer(Server *server, const char *text, size_t length, GString *reply);

#endif
