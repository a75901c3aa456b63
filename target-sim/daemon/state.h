/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What namespaces keep over a restart: a file for each in the folder of --state.
 * Not here: what is in it (engine/ns_state.c). No standard.
 */
#ifndef LOCKSTEP_DAEMON_STATE_H
#define LOCKSTEP_DAEMON_STATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { STATE_FILE_MAX = 1 << 20 }; /* bytes; the longest that we write has some 16 KiB */

/**
 * state_write - replace a namespace's file, so that after a crash the old or the new one is there
 * @folder: of --state
 * @nqn: of its subsystem; part of the file's name, with %XX for what a name must not have
 * @text: NULL: remove the file
 * @error: set on failure, domain CONFIG_ERROR; names the file
 *
 * Return: true once the change is on the medium.
 */
bool state_write(const char *folder, const char *nqn, uint32_t nsid, const char *text,
                 GError **error);

/**
 * state_read - read a namespace's file
 * @text: for g_free(); NULL if there is no file
 *
 * Return: false if there is one that cannot be read.
 */
bool state_read(const char *folder, const char *nqn, uint32_t nsid, char **text, GError **error);

#endif
