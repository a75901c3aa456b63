/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backend in anonymous memory: pages appear when they are first written and
 * go when a range is zeroed. Contents end with the process. No standard.
 */
#include "daemon/backend.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct RamBackend {
    Backend backend;
    uint8_t *memory;
} RamBackend;

static uint8_t *ram_memory(Backend *backend)
{
    return ((RamBackend *)backend)->memory;
}

static void ram_read(Backend *backend, struct lst_io *io)
{
    const uint8_t *from = ram_memory(backend) + io->offset;

    for (unsigned i = 0; i < io->iov_count; i++) {
        memcpy(io->iov[i].iov_base, from, io->iov[i].iov_len);
        from += io->iov[i].iov_len;
    }
    backend_done(io, 0);
}

static void ram_write(Backend *backend, struct lst_io *io)
{
    uint8_t *to = ram_memory(backend) + io->offset;

    for (unsigned i = 0; i < io->iov_count; i++) {
        memcpy(to, io->iov[i].iov_base, io->iov[i].iov_len);
        to += io->iov[i].iov_len;
    }
    backend_done(io, 0);
}

static void ram_nothing(Backend *backend G_GNUC_UNUSED, struct lst_io *io)
{
    backend_done(io, 0);
}

static void zero_range(uint8_t *memory, uint64_t start, uint64_t length)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t end = start + length;
    uint64_t first = (start + page - 1) / page * page;
    uint64_t last = end / page * page;

    /* Whole pages go back to the kernel; a mapping without a file then reads zeros. */
    if (first < last && madvise(memory + first, last - first, MADV_DONTNEED) == 0) {
        memset(memory + start, 0, first - start);
        memset(memory + last, 0, end - last);
    } else {
        memset(memory + start, 0, length);
    }
}

static void ram_write_zeroes(Backend *backend, struct lst_io *io)
{
    zero_range(ram_memory(backend), io->offset, io->length);
    backend_done(io, 0);
}

static void ram_discard(Backend *backend, struct lst_io *io)
{
    for (unsigned i = 0; i < io->range_count; i++) {
        zero_range(ram_memory(backend), io->ranges[i].offset, io->ranges[i].length);
    }
    backend_done(io, 0);
}

static bool ram_resize(Backend *backend, uint64_t size, GError **error)
{
    void *memory = ram_memory(backend);

    if (size && size != backend->size) {
        memory = mremap(memory, backend->size, size, MREMAP_MAYMOVE);
        if (memory == MAP_FAILED) {
            g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM,
                        "cannot map %" G_GUINT64_FORMAT " bytes of memory for a namespace: %s",
                        (guint64)size, g_strerror(errno));
            return false;
        }
        ((RamBackend *)backend)->memory = memory;
        backend->size = size;
    }
    return true;
}

static void ram_close(Backend *backend)
{
    munmap(ram_memory(backend), backend->size);
    g_free(backend);
}

static const BackendOps ram_ops = {
    .operations = {
        [LST_IO_READ] = ram_read,
        [LST_IO_WRITE] = ram_write,
        [LST_IO_FLUSH] = ram_nothing,
        [LST_IO_WRITE_ZEROES] = ram_write_zeroes,
        [LST_IO_DISCARD] = ram_discard,
        [LST_IO_VERIFY] = ram_nothing,
    },
    .resize = ram_resize,
    .close = ram_close,
};

Backend *backend_ram_open(const ConfigDevice *device, GError **error)
{
    RamBackend *ram;
    void *memory = mmap(NULL, device->size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM,
                    "cannot map %" G_GUINT64_FORMAT " bytes of memory for a namespace: %s",
                    (guint64)device->size, g_strerror(errno));
        return NULL;
    }
    ram = g_new0(RamBackend, 1);
    ram->backend.ops = &ram_ops;
    ram->backend.size = device->size;
    ram->backend.block_size = device->block_size;
    ram->memory = memory;
    return &ram->backend;
}
