/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --metrics: a page for Prometheus, by a minimum of HTTP/1.1 (GET /metrics, one a connection).
 * Not here: the numbers (engine/stats.h). RFC 9112; Prometheus text exposition format 0.0.4.
 */
#ifndef LOCKSTEP_DAEMON_METRICS_H
#define LOCKSTEP_DAEMON_METRICS_H

#include "daemon/server.h"

enum MetricsLimits {
    METRICS_REQUEST_MAX = 4096,   /* bytes of a request's header */
    METRICS_PATIENCE_MS = 5000,   /* for a request, or for the page to be taken */
};

/**
 * metrics_new - serve the page on an address
 * @listen: numeric address and port; port 0 takes any free one, which a message tells
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: a service for service_free(), or NULL.
 */
Service *metrics_new(Server *server, const ConfigListen *listen, GError **error);

/**
 * metrics_answer - answer one request, without the empty line at its end
 *
 * Return: false: the connection ends with it.
 */
bool metrics_answer(Server *server, const char *request, size_t length, GString *reply);

#endif
