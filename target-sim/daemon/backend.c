/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choice of a backend by its kind, bounds, statuses, and the backend that keeps
 * nothing. Not here: memory (backend_ram.c) and files (backend_file.c).
 * NVM command set: statuses for what a medium refuses.
 */
#include "daemon/backend.h"

#include <errno.h>
#include <string.h>

#include "lockstep/nvme.h"

static void null_read(Backend *backend G_GNUC_UNUSED, struct lst_io *io)
{
    for (unsigned i = 0; i < io->iov_count; i++) {
        memset(io->iov[i].iov_base, 0, io->iov[i].iov_len);
    }
    backend_done(io, 0);
}

static void null_nothing(Backend *backend G_GNUC_UNUSED, struct lst_io *io)
{
    backend_done(io, 0);
}

static bool null_resize(Backend *backend, uint64_t size, GError **error G_GNUC_UNUSED)
{
    backend->size = size ? size : backend->size;
    return true;
}

static void null_close(Backend *backend)
{
    g_free(backend);
}

static const BackendOps null_ops = {
    .operations = {
        [LST_IO_READ] = null_read,
        [LST_IO_WRITE] = null_nothing,
        [LST_IO_FLUSH] = null_nothing,
        [LST_IO_WRITE_ZEROES] = null_nothing,
        [LST_IO_DISCARD] = null_nothing,
        [LST_IO_VERIFY] = null_nothing,
    },
    .resize = null_resize,
    .close = null_close,
};

Backend *backend_null_open(const ConfigDevice *device, GError **error G_GNUC_UNUSED)
{
    Backend *backend = g_new0(Backend, 1);

    backend->ops = &null_ops;
    backend->size = device->size;
    backend->block_size = device->block_size;
    return backend;
}

Backend *backend_open(const ConfigDevice *device, GError **error)
{
    static Backend *(*const kinds[])(const ConfigDevice *, GError **) = {
        [CONFIG_BACKEND_RAM] = backend_ram_open,
        [CONFIG_BACKEND_NULL] = backend_null_open,
        [CONFIG_BACKEND_FILE] = backend_file_open,
    };

    return kinds[device->backend](device, error);
}

bool backend_resize(Backend *backend, uint64_t size, GError **error)
{
    if (size % backend->block_size) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "size %" G_GUINT64_FORMAT " is wrong; allowed: a multiple of the block size %u",
                    (guint64)size, backend->block_size);
        return false;
    }
    return backend->ops->resize(backend, size, error);
}

void backend_close(Backend *backend)
{
    drive_free(backend->drive);
    zone_store_close(&backend->zones);
    backend->ops->close(backend);
}

static bool within(const Backend *backend, uint64_t offset, uint64_t length)
{
    return offset <= backend->size && length <= backend->size - offset;
}

void backend_submit(struct lst_io *io)
{
    Backend *backend = io->backend;

    g_assert(io->op < LST_IO_OP_COUNT && within(backend, io->offset, io->length));
    for (unsigned i = 0; i < io->range_count; i++) {
        g_assert(within(backend, io->ranges[i].offset, io->ranges[i].length));
    }
    if (io->op == LST_IO_FLUSH || io->fua) {
        int result = zone_store_sync(&backend->zones);

        if (result) {
            backend_done(io, result);
            return;
        }
    }
    backend->ops->operations[io->op](backend, io);
}

static uint16_t status_of(const struct lst_io *io, int result)
{
    switch (result) {
    case 0:
        return NV_SC_SUCCESS;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return NV_SC_CAPACITY_EXCEEDED;
    case EIO:
        return io->op == LST_IO_READ || io->op == LST_IO_VERIFY ? NV_SC_READ_ERROR
                                                                : NV_SC_WRITE_FAULT;
    default:
        return NV_SC_INTERNAL;
    }
}

void backend_done(struct lst_io *io, int result)
{
    const Backend *backend = io->backend;

    if (backend->drive) {
        drive_submit(backend->drive, io, status_of(io, result));
    } else {
        lst_io_complete(io, status_of(io, result));
    }
}
