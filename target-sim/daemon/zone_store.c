/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which the zones of a namespace are kept. See zone_store.h.
 * Not here: what is in it (hw/zone/). No standard.
 */
#include "daemon/zone_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config.h"

static bool fail(GError **error, const char *file, int reason)
{
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM,
                "%s: cannot keep the zones of a namespace: %s", file, g_strerror(reason));
    return false;
}

/* The space is there before it is mapped: a full disk would be a signal later. */
static bool give_size(int fd, const char *file, size_t bytes, GError **error)
{
    struct stat status;
    int result;

    if (fstat(fd, &status) < 0) {
        return fail(error, file, errno);
    }
    if (status.st_size && (size_t)status.st_size != bytes) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "%s: file has %" PRId64 " bytes; allowed: %zu, for such zones, or no file", file,
                    (int64_t)status.st_size, bytes);
        return false;
    }
    result = posix_fallocate(fd, 0, (off_t)bytes);
    return result ? fail(error, file, result) : true;
}

bool zone_store_open(ZoneStore *store, const char *path, size_t bytes, GError **error)
{
    g_autofree char *file = g_strconcat(path, ".zones", NULL);
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    void *memory;
    bool ok;

    if (fd < 0) {
        return fail(error, file, errno);
    }
    if (!give_size(fd, file, bytes, error)) {
        close(fd);
        return false;
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ok = memory != MAP_FAILED || fail(error, file, errno);
    if (ok) {
        *store = (ZoneStore){memory, bytes};
    }
    close(fd);
    return ok;
}

int zone_store_sync(const ZoneStore *store)
{
    return !store->memory || msync(store->memory, store->bytes, MS_SYNC) == 0 ? 0 : errno;
}

void zone_store_close(ZoneStore *store)
{
    if (store->memory) {
        munmap(store->memory, store->bytes);
    }
    *store = (ZoneStore){NULL, 0};
}
