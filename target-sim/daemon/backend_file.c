/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backend in a regular file or a block device. Data that was written is in
 * the page cache when the request ends, so it survives the end of the process;
 * a flush makes it survive the loss of power. Several processes may share one
 * file as several paths of a namespace: nothing is cached here. No standard.
 */
#include "daemon/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 }; /* bytes moved at once where no host's buffer is involved */

typedef struct FileBackend {
    Backend backend;
    int fd;
} FileBackend;

typedef enum Direction { FROM_FILE, TO_FILE } Direction;

static int file_fd(Backend *backend)
{
    return ((FileBackend *)backend)->fd;
}

/*
 * Moves all bytes or says why not: 0 or an errno value. A file that someone cut
 * short under us gives EIO instead of an endless loop.
 */
static int transfer(int fd, Direction direction, void *buffer, size_t length, uint64_t offset)
{
    uint8_t *bytes = buffer;

    while (length > 0) {
        ssize_t count = direction == FROM_FILE ? pread(fd, bytes, length, (off_t)offset)
                                               : pwrite(fd, bytes, length, (off_t)offset);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return count < 0 ? errno : EIO;
        }
        bytes += count;
        length -= (size_t)count;
        offset += (uint64_t)count;
    }
    return 0;
}

static int transfer_all(int fd, Direction direction, const struct lst_io *io)
{
    uint64_t offset = io->offset;
    int result = 0;

    for (unsigned i = 0; i < io->iov_count && result == 0; i++) {
        result = transfer(fd, direction, io->iov[i].iov_base, io->iov[i].iov_len, offset);
        offset += io->iov[i].iov_len;
    }
    return result;
}

/* Force Unit Access: durable before the completion. */
static int sync_if(int fd, bool fua)
{
    return !fua || fdatasync(fd) == 0 ? 0 : errno;
}

static void file_read(Backend *backend, struct lst_io *io)
{
    backend_done(io, transfer_all(file_fd(backend), FROM_FILE, io));
}

static void file_write(Backend *backend, struct lst_io *io)
{
    int result = transfer_all(file_fd(backend), TO_FILE, io);

    backend_done(io, result ? result : sync_if(file_fd(backend), io->fua));
}

static void file_flush(Backend *backend, struct lst_io *io)
{
    backend_done(io, sync_if(file_fd(backend), true));
}

/* Moves a range in pieces between the file and a buffer that starts as zeros. */
static int in_chunks(int fd, Direction direction, uint64_t offset, uint64_t length)
{
    g_autofree void *buffer = g_malloc0(CHUNK);
    int result = 0;

    while (length > 0 && result == 0) {
        size_t part = (size_t)MIN(length, (uint64_t)CHUNK);

        result = transfer(fd, direction, buffer, part, offset);
        offset += part;
        length -= part;
    }
    return result;
}

/* @mode: FALLOC_FL_PUNCH_HOLE to give the space back, FALLOC_FL_ZERO_RANGE to keep it. */
static int zero_range(int fd, int mode, uint64_t offset, uint64_t length)
{
    if (length == 0 ||
        fallocate(fd, mode | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length) == 0) {
        return 0;
    }
    return errno == EOPNOTSUPP ? in_chunks(fd, TO_FILE, offset, length) : errno;
}

static void file_write_zeroes(Backend *backend, struct lst_io *io)
{
    int mode = io->may_unmap ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE;
    int result = zero_range(file_fd(backend), mode, io->offset, io->length);

    backend_done(io, result ? result : sync_if(file_fd(backend), io->fua));
}

static void file_discard(Backend *backend, struct lst_io *io)
{
    int result = 0;

    for (unsigned i = 0; i < io->range_count && result == 0; i++) {
        result = zero_range(file_fd(backend), FALLOC_FL_PUNCH_HOLE, io->ranges[i].offset,
                            io->ranges[i].length);
    }
    backend_done(io, result);
}

static void file_verify(Backend *backend, struct lst_io *io)
{
    backend_done(io, in_chunks(file_fd(backend), FROM_FILE, io->offset, io->length));
}

static void file_close(Backend *backend)
{
    close(file_fd(backend));
    g_free(backend);
}

static bool file_resize(Backend *backend, uint64_t size, GError **error);

static const BackendOps file_ops = {
    .operations = {
        [LST_IO_READ] = file_read,
        [LST_IO_WRITE] = file_write,
        [LST_IO_FLUSH] = file_flush,
        [LST_IO_WRITE_ZEROES] = file_write_zeroes,
        [LST_IO_DISCARD] = file_discard,
        [LST_IO_VERIFY] = file_verify,
    },
    .resize = file_resize,
    .close = file_close,
};

static bool fail(GError **error, ConfigError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool fail(GError **error, ConfigError code, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, CONFIG_ERROR, code, text);
    return false;
}

/*
 * The file gets its name only once all its space is there, so a full disk or a
 * kill leaves nothing behind that a later run would take for data. link() also
 * decides between two daemons that create the same file at the same time.
 * Returns 0 or an errno value.
 */
static int create_file(const char *path, uint64_t size)
{
    g_autofree char *temporary = g_strdup_printf("%s.%d.tmp", path, (int)getpid());
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    int result;

    if (fd < 0) {
        return errno;
    }
    result = posix_fallocate(fd, 0, (off_t)size);
    if (result == 0 && link(temporary, path) < 0 && errno != EEXIST) {
        result = errno;
    }
    unlink(temporary);
    close(fd);
    return result;
}

static int open_or_create(const ConfigDevice *device, GError **error)
{
    int fd = open(device->path, O_RDWR | O_CLOEXEC);
    int result;

    if (fd < 0 && errno == ENOENT && device->size) {
        result = create_file(device->path, device->size);
        if (result) {
            fail(error, CONFIG_ERROR_SYSTEM, "%s: cannot create a file of %" PRIu64 " bytes: %s",
                 device->path, device->size, g_strerror(result));
            return -1;
        }
        fd = open(device->path, O_RDWR | O_CLOEXEC);
    }
    if (fd < 0) {
        fail(error, CONFIG_ERROR_SYSTEM, "%s: cannot open the file of a namespace: %s",
             device->path, g_strerror(errno));
    }
    return fd;
}

/* What the file or device itself says about its size and blocks. */
static bool measure(int fd, const char *path, uint64_t *size, uint32_t *block_size, GError **error)
{
    struct stat status;
    int sector;

    if (fstat(fd, &status) < 0) {
        return fail(error, CONFIG_ERROR_SYSTEM, "%s: %s", path, g_strerror(errno));
    }
    if (S_ISBLK(status.st_mode)) {
        if (ioctl(fd, BLKGETSIZE64, size) < 0 || ioctl(fd, BLKSSZGET, &sector) < 0) {
            return fail(error, CONFIG_ERROR_SYSTEM, "%s: %s", path, g_strerror(errno));
        }
        *block_size = (uint32_t)sector;
        return true;
    }
    if (!S_ISREG(status.st_mode)) {
        return fail(error, CONFIG_ERROR_INPUT,
                    "%s: wrong kind of file; allowed: a regular file or a block device", path);
    }
    *size = (uint64_t)status.st_size;
    /* As nvmet does for a file, so that a saved configuration means the same here. */
    *block_size = CLAMP((uint32_t)status.st_blksize, CONFIG_BLOCK_SIZE_MIN, CONFIG_BLOCK_SIZE_MAX);
    return true;
}

static bool set_geometry(FileBackend *file, const ConfigDevice *device, GError **error)
{
    Backend *backend = &file->backend;

    if (!measure(file->fd, device->path, &backend->size, &backend->block_size, error)) {
        return false;
    }
    if (device->size && device->size != backend->size) {
        return fail(error, CONFIG_ERROR_INPUT,
                    "%s: file has %" PRIu64 " bytes, configuration says %" PRIu64
                    "; allowed: the same size, or a file that does not exist yet",
                    device->path, backend->size, device->size);
    }
    if (device->block_size) {
        backend->block_size = device->block_size;
    }
    if (backend->size == 0 || backend->size % backend->block_size) {
        return fail(error, CONFIG_ERROR_INPUT,
                    "%s: file has %" PRIu64 " bytes; allowed: a multiple of the block size %u",
                    device->path, backend->size, backend->block_size);
    }
    return true;
}

/* Returns 0 or an errno value. Space that is added is there, or nothing is. */
static int set_file_size(int fd, uint64_t from, uint64_t to)
{
    int result;

    if (to <= from) {
        return ftruncate(fd, (off_t)to) < 0 ? errno : 0;
    }
    result = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
    if (result) {
        /* What was added before the disk was full. */
        return ftruncate(fd, (off_t)from) < 0 ? errno : result;
    }
    return 0;
}

static bool file_resize(Backend *backend, uint64_t size, GError **error)
{
    int fd = file_fd(backend), result;
    uint64_t present;
    uint32_t block_size;

    if (!measure(fd, "the file of a namespace", &present, &block_size, error)) {
        return false;
    }
    if (size && size != present) {
        result = set_file_size(fd, present, size);
        if (result) {
            return fail(error, CONFIG_ERROR_SYSTEM,
                        "cannot make the file of a namespace %" PRIu64 " bytes long: %s", size,
                        g_strerror(result));
        }
        present = size;
    }
    if (present == 0 || present % backend->block_size) {
        return fail(error, CONFIG_ERROR_INPUT,
                    "the file of a namespace has %" PRIu64
                    " bytes; allowed: a multiple of the block size %u",
                    present, backend->block_size);
    }
    backend->size = present;
    return true;
}

Backend *backend_file_open(const ConfigDevice *device, GError **error)
{
    FileBackend *file;
    int fd = open_or_create(device, error);

    if (fd < 0) {
        return NULL;
    }
    file = g_new0(FileBackend, 1);
    file->backend.ops = &file_ops;
    file->fd = fd;
    if (!set_geometry(file, device, error)) {
        file_close(&file->backend);
        return NULL;
    }
    return &file->backend;
}
