/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds requests back that a backend has done until the drive that is played would have done them.
 * Not here: how long that takes (hw/media/), what a backend does. No standard.
 */
#ifndef LOCKSTEP_DAEMON_DELAY_H
#define LOCKSTEP_DAEMON_DELAY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/io.h"
#include "media/media.h"

/* The drives of one event loop, and one timer for all of them. */
typedef struct Delay Delay;

/* One drive: that of a namespace. */
typedef struct Drive Drive;

/**
 * delay_new - no drives yet
 * @clock: nanoseconds that never go back; submissions are dated with it
 * @seed: of the jitter of all drives
 *
 * Return: to be freed by delay_free(), after its drives. NULL, with errno, if
 * the kernel has no timer.
 */
Delay *delay_new(uint64_t (*clock)(void), uint64_t seed);
void delay_free(Delay *delay);

/**
 * delay_fd - becomes readable when delay_run() has something to do
 */
int delay_fd(const Delay *delay);

/**
 * delay_run - complete the requests whose time has come, in order of that time,
 *             and set the timer for the next
 */
void delay_run(Delay *delay);

/**
 * delay_cancel - complete every request at once, in order of its time
 */
void delay_cancel(Delay *delay);

/**
 * drive_new - a drive with nothing to do
 * @config: copied
 * @id: 16 bytes that tell it from others, for its seed
 *
 * Return: to be freed by drive_free() when no request is in it. NULL for a
 * drive that takes no time.
 */
Drive *drive_new(Delay *delay, const struct media_config *config, const uint8_t id[16]);
void drive_free(Drive *drive);

/**
 * drive_submit - the backend has done a request
 * @io: completed by delay_run(); its member "front" is used meanwhile
 * @status: that the host gets then
 */
void drive_submit(Drive *drive, struct lst_io *io, uint16_t status);

/**
 * drive_cancel - complete a request of drive_submit() at once, as aborted
 *
 * The drive works for it as long as it would have.
 *
 * Return: true.
 */
bool drive_cancel(struct lst_io *io);

#endif
