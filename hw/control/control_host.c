/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the host's side of the run-control device: its directories, events, the end of a run.
 * Not here: registers and states (control_core.c), PCI and snapshots (control_pci.c).
 * Standard: none; docs/control.md describes the events.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "qobject/json-writer.h"
#include "system/runstate.h"
#include "control_host.h"
#include "../trace.h"

/* Hidden from the guest's names, and one is enough: there is one transfer at a time. */
#define PUT_TEMPORARY ".lockstep-put"

/* What the guest is told when the host fails with errno; the user is told once. */
static uint32_t host_failed(ControlHost *host, const char *what)
{
    int failure = errno;

    if (!host->warned) {
        host->warned = true;
        warn_report("lockstep-control: %s: %s", what, strerror(failure));
    }
    switch (failure) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return LSCTL_ERROR_NO_SPACE;
    default:
        return LSCTL_ERROR_IO;
    }
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* ---- blobs ---- */

static void put_drop(void *opaque)
{
    ControlHost *host = opaque;

    if (host->put_fd >= 0) {
        close_fd(&host->put_fd);
        unlinkat(host->out_fd, PUT_TEMPORARY, 0);
        host->put_bytes = 0;
    }
}

static uint32_t put_open(void *opaque, const char *name)
{
    ControlHost *host = opaque;

    assert(host->put_fd < 0);
    if (host->out_fd < 0) {
        return LSCTL_ERROR_NO_DIR;
    }
    if (host->blobs >= CONTROL_BLOBS_MAX) {
        return LSCTL_ERROR_LIMIT;
    }
    host->put_fd = openat(host->out_fd, PUT_TEMPORARY,
                          O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (host->put_fd < 0) {
        return host_failed(host, name);
    }
    pstrcpy(host->put_name, sizeof(host->put_name), name);
    host->put_bytes = 0;
    return LSCTL_OK;
}

static uint32_t put_data(void *opaque, const uint8_t *data, size_t size)
{
    ControlHost *host = opaque;

    if (size > host->blob_limit - host->blob_bytes - host->put_bytes) {
        return LSCTL_ERROR_LIMIT;
    }
    if (qemu_write_full(host->put_fd, data, size) != size) {
        return host_failed(host, host->put_name);
    }
    host->put_bytes += size;
    return LSCTL_OK;
}

static uint32_t put_close(void *opaque)
{
    ControlHost *host = opaque;

    if (renameat(host->out_fd, PUT_TEMPORARY, host->out_fd, host->put_name) < 0) {
        return host_failed(host, host->put_name);
    }
    close_fd(&host->put_fd);
    host->blob_bytes += host->put_bytes;
    host->put_bytes = 0;
    host->blobs++;
    return LSCTL_OK;
}

/* ---- files of the host ---- */

static void get_drop(void *opaque)
{
    ControlHost *host = opaque;

    close_fd(&host->get_fd);
    if (host->list) {
        g_string_free(host->list, true);
        host->list = NULL;
    }
}

static uint32_t get_open(void *opaque, const char *name, uint64_t *size)
{
    ControlHost *host = opaque;
    struct stat status;

    assert(host->get_fd < 0 && !host->list);
    if (host->in_fd < 0) {
        return LSCTL_ERROR_NO_DIR;
    }
    /* O_NONBLOCK: a pipe in the directory must not stop the whole machine. */
    host->get_fd = openat(host->in_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (host->get_fd < 0) {
        return errno == ENOENT ? LSCTL_ERROR_NOT_FOUND : host_failed(host, name);
    }
    if (fstat(host->get_fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        close_fd(&host->get_fd);
        return LSCTL_ERROR_NOT_FOUND;
    }
    *size = status.st_size;
    return LSCTL_OK;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint32_t list_open(void *opaque, uint64_t *size)
{
    ControlHost *host = opaque;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    struct dirent *entry;
    struct stat status;
    DIR *directory;
    int fd;

    assert(host->get_fd < 0 && !host->list);
    if (host->in_fd < 0) {
        return LSCTL_ERROR_NO_DIR;
    }
    fd = openat(host->in_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        uint32_t error = host_failed(host, "list");

        close_fd(&fd);
        return error;
    }
    while ((entry = readdir(directory))) {
        if (control_name_is_valid(entry->d_name) &&
            fstatat(fd, entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)) {
            g_ptr_array_add(names, g_strdup(entry->d_name));
        }
    }
    closedir(directory);
    /* The order of a directory differs between hosts; the guest must not see that. */
    g_ptr_array_sort(names, compare_names);
    host->list = g_string_new(NULL);
    host->list_at = 0;
    for (unsigned i = 0; i < names->len; i++) {
        g_string_append_printf(host->list, "%s\n", (char *)g_ptr_array_index(names, i));
    }
    *size = host->list->len;
    return LSCTL_OK;
}

static uint32_t get_data(void *opaque, uint8_t *data, size_t room, size_t *size)
{
    ControlHost *host = opaque;
    ssize_t got = 0;

    *size = 0;
    if (host->list) {
        *size = MIN(room, host->list->len - host->list_at);
        memcpy(data, host->list->str + host->list_at, *size);
        host->list_at += *size;
        return LSCTL_OK;
    }
    while (*size < room) {
        got = RETRY_ON_EINTR(read(host->get_fd, data + *size, room - *size));
        if (got <= 0) {
            break;
        }
        *size += got;
    }
    return got < 0 ? host_failed(host, "get") : LSCTL_OK;
}

/* ---- events ---- */

static const char *const event_names[] = {
    [CONTROL_EVENT_MARK] = "mark",
    [CONTROL_EVENT_BLOB] = "blob",
    [CONTROL_EVENT_ERROR] = "error",
    [CONTROL_EVENT_EXIT] = "exit",
    [CONTROL_EVENT_PANIC] = "panic",
    [CONTROL_EVENT_HANG] = "hang",
};

/* One line of JSON with its newline; the caller frees it. */
static GString *event_line(const ControlEvent *event)
{
    g_autoptr(JSONWriter) writer = json_writer_new(false);
    const struct {
        const char *key;
        const char *value;
    } texts[] = {
        { "phase", event->phase },
        { "name", event->name },
        { "message", event->message },
        { "reason", event->reason },
    };

    json_writer_start_object(writer, NULL);
    json_writer_str(writer, "event", event_names[event->kind]);
    for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
        if (texts[i].value) {
            json_writer_str(writer, texts[i].key, texts[i].value);
        }
    }
    if (event->kind == CONTROL_EVENT_BLOB) {
        json_writer_uint64(writer, "bytes", event->bytes);
    } else if (event->kind == CONTROL_EVENT_EXIT) {
        json_writer_uint64(writer, "status", event->status);
    } else if (event->kind == CONTROL_EVENT_HANG) {
        json_writer_double(writer, "seconds", event->seconds);
    }
    json_writer_int64(writer, "virtual_ns", event->virtual_ns);
    json_writer_end_object(writer);
    return g_string_append_c(json_writer_get_and_free(g_steal_pointer(&writer)), '\n');
}

/* Writes a line behind the others, or not at all; returns false with errno set. */
static bool append_line(ControlHost *host, const GString *line)
{
    size_t done = 0;

    while (done < line->len) {
        /* A disk that fills up takes a part first, and says why it takes no more after that. */
        ssize_t written = RETRY_ON_EINTR(pwrite(host->events_fd, line->str + done,
                                                line->len - done, host->events_size + done));

        if (written <= 0) {
            int failure = errno;

            if (ftruncate(host->events_fd, host->events_size) < 0) {
                failure = errno;
            }
            errno = failure;
            return false;
        }
        done += written;
    }
    host->events_size += line->len;
    return true;
}

/* In lockstep mode the machine stops at the end of the round, so always at the same place. */
static void pause_at_mark(ControlHost *host, const ControlEvent *what)
{
    if (what->kind == CONTROL_EVENT_MARK && host->pause_at && !strcmp(what->phase, "begin") &&
        !strcmp(what->name, host->pause_at)) {
        vm_stop(RUN_STATE_PAUSED);
    }
}

static uint32_t event(void *opaque, const ControlEvent *what)
{
    ControlHost *host = opaque;
    g_autoptr(GString) line = NULL;

    trace_lockstep_control_event(event_names[what->kind], what->name ?: what->reason ?: "",
                                 what->virtual_ns);
    pause_at_mark(host, what);
    if (host->out_fd < 0) {
        return LSCTL_ERROR_NO_DIR;
    }
    if (what->kind == CONTROL_EVENT_MARK || what->kind == CONTROL_EVENT_ERROR) {
        if (host->events >= CONTROL_EVENTS_MAX) {
            return LSCTL_ERROR_LIMIT;
        }
        host->events++;
    }
    line = event_line(what);
    return append_line(host, line) ? LSCTL_OK : host_failed(host, LSCTL_EVENTS_NAME);
}

static void end(void *opaque, ControlEventKind why, uint32_t status)
{
    if (why == CONTROL_EVENT_PANIC) {
        error_report("lockstep-control: the guest has panicked");
    } else if (why == CONTROL_EVENT_HANG) {
        error_report("lockstep-control: the guest hangs: nothing was heard in time");
    }
    qemu_system_shutdown_request_with_code(why == CONTROL_EVENT_PANIC ?
                                           SHUTDOWN_CAUSE_GUEST_PANIC :
                                           SHUTDOWN_CAUSE_GUEST_SHUTDOWN, status);
}

static void bad_access(void *opaque, uint64_t offset, unsigned size, bool is_write)
{
    trace_lockstep_control_bad_access(is_write ? "write" : "read", offset, size);
}

static void bad_command(void *opaque, uint32_t command, const char *error)
{
    trace_lockstep_control_bad_command(command, error);
}

const ControlHostOps control_host_ops = {
    .put_open = put_open,
    .put_data = put_data,
    .put_close = put_close,
    .put_drop = put_drop,
    .get_open = get_open,
    .list_open = list_open,
    .get_data = get_data,
    .get_drop = get_drop,
    .event = event,
    .end = end,
    .bad_access = bad_access,
    .bad_command = bad_command,
};

/* Returns false with errp set; *fd stays -1 if path is NULL. */
static bool open_directory(int *fd, const char *property, const char *path, Error **errp)
{
    if (!path) {
        return true;
    }
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) {
        error_setg_errno(errp, errno, "lockstep-control: %s=%s: a directory is needed",
                         property, path);
    }
    return *fd >= 0;
}

bool control_host_open(ControlHost *host, const char *in, const char *out,
                       uint64_t blob_limit, Error **errp)
{
    *host = (ControlHost) {
        .in_fd = -1,
        .out_fd = -1,
        .events_fd = -1,
        .put_fd = -1,
        .get_fd = -1,
        .blob_limit = blob_limit,
    };
    if (!open_directory(&host->in_fd, "in", in, errp) ||
        !open_directory(&host->out_fd, "out", out, errp)) {
        goto fail;
    }
    if (out) {
        /* Left by a QEMU that was killed. */
        unlinkat(host->out_fd, PUT_TEMPORARY, 0);
        host->events_fd = openat(host->out_fd, LSCTL_EVENTS_NAME,
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (host->events_fd < 0) {
            error_setg_errno(errp, errno, "lockstep-control: out=%s: cannot write %s",
                             out, LSCTL_EVENTS_NAME);
            goto fail;
        }
    }
    return true;

fail:
    control_host_close(host);
    return false;
}

void control_host_close(ControlHost *host)
{
    put_drop(host);
    get_drop(host);
    close_fd(&host->events_fd);
    close_fd(&host->out_fd);
    close_fd(&host->in_fd);
}
