/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See state.h.
 * Not here: what is in the files (engine/ns_state.c). No standard.
 */
#include "daemon/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"

static char *file_of(const char *folder, const char *nqn, uint32_t nsid)
{
    g_autofree char *name = g_uri_escape_string(nqn, ":", FALSE);

    return g_strdup_printf("%s/%s-%u.state", folder, name, nsid);
}

static bool fail(const char *file, int number, GError **error)
{
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "--state: %s: %s", file,
                g_strerror(number));
    return false;
}

/* 0 or an errno value. */
static int write_all(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), result = 0;
    size_t length = strlen(text), done = 0;

    if (fd < 0) {
        return errno;
    }
    while (!result && done < length) {
        ssize_t count = write(fd, text + done, length - done);

        if (count >= 0) {
            done += (size_t)count;
        } else if (errno != EINTR) {
            result = errno;
        }
    }
    if (!result && fsync(fd) < 0) {
        result = errno;
    }
    if (close(fd) < 0 && !result) {
        result = errno;
    }
    return result;
}

/* A name that came or went is on the medium when its folder is. 0 or an errno value. */
static int sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 || fsync(fd) < 0 ? errno : 0;

    if (fd >= 0) {
        close(fd);
    }
    return result;
}

static int remove_file(const char *folder, const char *file)
{
    if (unlink(file) < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return sync_folder(folder);
}

static int replace_file(const char *folder, const char *file, const char *text)
{
    g_autofree char *new = g_strconcat(file, ".new", NULL);
    int result = write_all(new, text);

    if (!result && rename(new, file) < 0) {
        result = errno;
    }
    if (result) {
        unlink(new);
        return result;
    }
    return sync_folder(folder);
}

bool state_write(const char *folder, const char *nqn, uint32_t nsid, const char *text,
                 GError **error)
{
    g_autofree char *file = file_of(folder, nqn, nsid);
    int result = text ? replace_file(folder, file, text) : remove_file(folder, file);

    return !result || fail(file, result, error);
}

bool state_read(const char *folder, const char *nqn, uint32_t nsid, char **text, GError **error)
{
    g_autofree char *file = file_of(folder, nqn, nsid);
    g_autofree char *buffer = NULL;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t count;

    *text = NULL;
    if (fd < 0) {
        return errno == ENOENT || fail(file, errno, error);
    }
    buffer = g_malloc(STATE_FILE_MAX + 1);
    count = read(fd, buffer, STATE_FILE_MAX);
    if (count < 0) {
        fail(file, errno, error);
    }
    close(fd);
    if (count < 0) {
        return false;
    }
    buffer[count] = '\0';
    *text = g_steal_pointer(&buffer);
    return true;
}
