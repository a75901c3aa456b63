/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ready file: tells the process that started target-sim that all ports
 * listen, and where. Not here: when that is. No standard; JSON, RFC 8259.
 */
#ifndef LOCKSTEP_DAEMON_READY_H
#define LOCKSTEP_DAEMON_READY_H

#include "daemon/config.h"

/**
 * ready_check - see before anything is served whether the file could be written
 * @path: its name
 * @error: set if not, domain CONFIG_ERROR
 *
 * Return: true if nothing is in the way as it looks now.
 */
bool ready_check(const char *path, GError **error);

/**
 * ready_write - write the file whole or not at all
 * @path: its name; replaced if it is there
 * @config: with the ports' numbers and the namespaces' sizes filled in
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: true on success.
 */
bool ready_write(const char *path, const Config *config, GError **error);

#endif
