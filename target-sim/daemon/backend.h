/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a namespace's bytes are kept: memory, nothing or a file, behind one
 * table of operations. Not here: NVMe commands; the engine's requests (engine/io.h)
 * come checked and in bytes. NVM command set: statuses for what a medium refuses.
 */
#ifndef LOCKSTEP_DAEMON_BACKEND_H
#define LOCKSTEP_DAEMON_BACKEND_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/config.h"
#include "daemon/delay.h"
#include "daemon/zone_store.h"
#include "engine/io.h"

typedef struct Backend Backend;

/*
 * One operation. It ends with backend_done(), exactly once: before it returns,
 * or later from the event loop; until then request and buffers stay valid.
 */
typedef void BackendOperation(Backend *backend, struct lst_io *io);

typedef struct BackendOps {
    BackendOperation *operations[LST_IO_OP_COUNT];
    /* See backend_resize(). */
    bool (*resize)(Backend *backend, uint64_t size, GError **error);
    void (*close)(Backend *backend);
} BackendOps;

struct Backend {
    const BackendOps *ops;
    uint64_t size;       /* bytes, a multiple of block_size */
    uint32_t block_size; /* bytes */
    Drive *drive;        /* how long it takes; NULL: no longer than it does */
    ZoneStore zones;     /* of a zoned namespace; durable when the blocks are */
};

/**
 * backend_open - open, or create, what a configuration asks for
 * @device: as config_finish() left it
 * @error: set on failure, domain CONFIG_ERROR; names the path
 *
 * A file that is not there is created at its full size, or not at all.
 *
 * Return: a backend for backend_close(), or NULL.
 */
Backend *backend_open(const ConfigDevice *device, GError **error);

/**
 * backend_close - free a backend and its drive; all its requests must have ended
 */
void backend_close(Backend *backend);

/**
 * backend_resize - change the size, or see what it has become
 * @size: bytes, a multiple of the block size; 0: what the medium itself says now
 * @error: set on failure, domain CONFIG_ERROR; then nothing has changed
 *
 * What lies behind the new end is lost. backend->size has the result.
 */
bool backend_resize(Backend *backend, uint64_t size, GError **error);

/**
 * backend_submit - start a request of the engine
 * @io: its backend is the one to use, its range lies within that (asserted)
 */
void backend_submit(struct lst_io *io);

/**
 * backend_done - end a request, or hand it to the drive to end it in its time
 * @result: 0 or an errno value; the host gets the NVMe status for it
 */
void backend_done(struct lst_io *io, int result);

/* One constructor per kind, for backend_open(). */
Backend *backend_ram_open(const ConfigDevice *device, GError **error);
Backend *backend_null_open(const ConfigDevice *device, GError **error);
Backend *backend_file_open(const ConfigDevice *device, GError **error);

#endif
