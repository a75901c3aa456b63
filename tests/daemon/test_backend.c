/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Backends alone: what is written is read again, what is zeroed reads as zeros,
 * and what the file system refuses becomes the right NVMe status.
 * Not here: the engine; lst_io_complete() below stands in for it.
 */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/backend.h"
#include "lockstep/nvme.h"

enum { SIZE = 1 << 20, BLOCK = 512, NOT_DONE = 0xffff };

static uint16_t last_status;

void lst_io_complete(struct lst_io *io G_GNUC_UNUSED, uint16_t status)
{
    g_assert_cmphex(last_status, ==, NOT_DONE);
    last_status = status;
}

static uint16_t submit(struct lst_io *io)
{
    last_status = NOT_DONE;
    backend_submit(io);
    return last_status;
}

static uint16_t transfer(Backend *backend, enum lst_io_op op, uint64_t offset, void *buffer,
                         size_t length)
{
    /* Two pieces, cut at an odd place, as a host's data may come. */
    struct iovec iov[] = {{buffer, length / 3}, {(char *)buffer + length / 3, length - length / 3}};
    struct lst_io io = {.op = op, .backend = backend, .offset = offset, .length = length,
                        .iov = iov, .iov_count = 2};

    return submit(&io);
}

static char *directory;

static Backend *open_backend(ConfigBackend kind)
{
    g_autofree char *path = g_build_filename(directory, "backend.img", NULL);
    ConfigDevice device = {kind, kind == CONFIG_BACKEND_FILE ? path : NULL, SIZE, BLOCK};
    g_autoptr(GError) error = NULL;
    Backend *backend = backend_open(&device, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(backend->size, ==, SIZE);
    g_assert_cmpuint(backend->block_size, ==, BLOCK);
    return backend;
}

static void close_backend(Backend *backend)
{
    g_autofree char *path = g_build_filename(directory, "backend.img", NULL);

    backend_close(backend);
    g_unlink(path);
}

static bool all(const uint8_t *bytes, size_t length, uint8_t value)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

static void check_zeroing(Backend *backend, struct lst_io *io)
{
    enum { START = BLOCK * 3, LENGTH = BLOCK * 37 };
    uint8_t *bytes = g_malloc(SIZE);

    memset(bytes, 0xa5, SIZE);
    g_assert_cmphex(transfer(backend, LST_IO_WRITE, 0, bytes, SIZE), ==, NV_SC_SUCCESS);
    g_assert_cmphex(submit(io), ==, NV_SC_SUCCESS);
    g_assert_cmphex(transfer(backend, LST_IO_READ, 0, bytes, SIZE), ==, NV_SC_SUCCESS);
    g_assert_true(all(bytes, START, 0xa5));
    g_assert_true(all(bytes + START, LENGTH, 0));
    g_assert_true(all(bytes + START + LENGTH, SIZE - START - LENGTH, 0xa5));
    g_free(bytes);
}

static void test_keeps_data(gconstpointer data)
{
    Backend *backend = open_backend((ConfigBackend)GPOINTER_TO_UINT(data));
    struct lst_io flush = {.op = LST_IO_FLUSH, .backend = backend};
    struct lst_io verify = {.op = LST_IO_VERIFY, .backend = backend, .length = SIZE};
    struct lst_io_range range = {BLOCK * 3, BLOCK * 37};
    struct lst_io zero = {.op = LST_IO_WRITE_ZEROES, .backend = backend, .offset = BLOCK * 3,
                          .length = BLOCK * 37, .fua = true};
    struct lst_io discard = {.op = LST_IO_DISCARD, .backend = backend, .ranges = &range,
                             .range_count = 1};
    uint8_t bytes[BLOCK * 2];

    memset(bytes, 1, sizeof(bytes));
    g_assert_cmphex(transfer(backend, LST_IO_READ, SIZE - sizeof(bytes), bytes, sizeof(bytes)), ==,
                    NV_SC_SUCCESS);
    g_assert_true(all(bytes, sizeof(bytes), 0));
    check_zeroing(backend, &zero);
    zero.may_unmap = true;
    check_zeroing(backend, &zero);
    check_zeroing(backend, &discard);
    g_assert_cmphex(submit(&flush), ==, NV_SC_SUCCESS);
    g_assert_cmphex(submit(&verify), ==, NV_SC_SUCCESS);
    close_backend(backend);
}

static void test_null_drops_writes(void)
{
    Backend *backend = open_backend(CONFIG_BACKEND_NULL);
    uint8_t bytes[BLOCK];

    memset(bytes, 1, sizeof(bytes));
    g_assert_cmphex(transfer(backend, LST_IO_WRITE, 0, bytes, BLOCK), ==, NV_SC_SUCCESS);
    g_assert_cmphex(transfer(backend, LST_IO_READ, 0, bytes, BLOCK), ==, NV_SC_SUCCESS);
    g_assert_true(all(bytes, BLOCK, 0));
    close_backend(backend);
}

static void test_file_keeps_data_when_opened_again(void)
{
    Backend *first = open_backend(CONFIG_BACKEND_FILE);
    Backend *second = open_backend(CONFIG_BACKEND_FILE);
    uint8_t bytes[BLOCK], back[BLOCK];

    memset(bytes, 0x5a, sizeof(bytes));
    g_assert_cmphex(transfer(first, LST_IO_WRITE, BLOCK, bytes, BLOCK), ==, NV_SC_SUCCESS);
    g_assert_cmphex(transfer(second, LST_IO_READ, BLOCK, back, BLOCK), ==, NV_SC_SUCCESS);
    g_assert_cmpmem(bytes, BLOCK, back, BLOCK);
    backend_close(first);
    close_backend(second);
}

static void test_file_cut_short_is_a_read_error(void)
{
    g_autofree char *path = g_build_filename(directory, "backend.img", NULL);
    Backend *backend = open_backend(CONFIG_BACKEND_FILE);
    uint8_t bytes[BLOCK];

    g_assert_cmpint(truncate(path, BLOCK), ==, 0);
    g_assert_cmphex(transfer(backend, LST_IO_READ, BLOCK, bytes, BLOCK), ==, NV_SC_READ_ERROR);
    close_backend(backend);
}

static void assert_not_opened(const ConfigDevice *device, ConfigError code, const char *words)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(backend_open(device, &error));
    g_assert_error(error, CONFIG_ERROR, (int)code);
    g_assert_nonnull(strstr(error->message, words));
    if (device->path) {
        g_assert_nonnull(strstr(error->message, device->path));
    }
}

static void test_file_of_another_size(void)
{
    g_autofree char *path = g_build_filename(directory, "backend.img", NULL);
    ConfigDevice device = {CONFIG_BACKEND_FILE, path, SIZE * 2, BLOCK};

    close_backend(open_backend(CONFIG_BACKEND_FILE));
    g_assert_true(g_file_set_contents(path, "0123456789", 10, NULL));
    assert_not_opened(&device, CONFIG_ERROR_INPUT,
                      "file has 10 bytes, configuration says 2097152");
    device.size = 0;
    assert_not_opened(&device, CONFIG_ERROR_INPUT,
                      "file has 10 bytes; allowed: a multiple of the block size 512");
    g_unlink(path);
}

static void test_file_that_cannot_be_opened(void)
{
    ConfigDevice device = {CONFIG_BACKEND_FILE, (char *)"/nonexistent/backend.img", 0, 0};

    assert_not_opened(&device, CONFIG_ERROR_SYSTEM, "No such file or directory");
    device.size = SIZE;
    assert_not_opened(&device, CONFIG_ERROR_SYSTEM, "cannot create a file of 1048576 bytes");
    device = (ConfigDevice){CONFIG_BACKEND_FILE, (char *)"/dev/null", 0, 0};
    assert_not_opened(&device, CONFIG_ERROR_INPUT, "a regular file or a block device");
}

/* The limit on file sizes stands in for a full disk: the same call fails. */
static void test_file_without_space_leaves_nothing(void)
{
    g_autofree char *path = g_build_filename(directory, "big.img", NULL);
    ConfigDevice device = {CONFIG_BACKEND_FILE, path, SIZE, BLOCK};
    struct rlimit old, limit;
    const char *name;
    g_autoptr(GDir) dir = NULL;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = SIZE / 2;
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_not_opened(&device, CONFIG_ERROR_SYSTEM, g_strerror(EFBIG));
    setrlimit(RLIMIT_FSIZE, &old);
    dir = g_dir_open(directory, 0, NULL);
    name = g_dir_read_name(dir);
    g_assert_cmpstr(name, ==, NULL);
}

static void test_ram_too_large(void)
{
    ConfigDevice device = {CONFIG_BACKEND_RAM, NULL, UINT64_C(1) << 62, BLOCK};

    assert_not_opened(&device, CONFIG_ERROR_SYSTEM, "4611686018427387904 bytes of memory");
}

int main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("lockstep-backend-XXXXXX", NULL);
    g_test_add_data_func("/backend/ram/keeps-data", GUINT_TO_POINTER(CONFIG_BACKEND_RAM),
                         test_keeps_data);
    g_test_add_data_func("/backend/file/keeps-data", GUINT_TO_POINTER(CONFIG_BACKEND_FILE),
                         test_keeps_data);
    g_test_add_func("/backend/null/drops-writes", test_null_drops_writes);
    g_test_add_func("/backend/file/keeps-data-when-opened-again",
                    test_file_keeps_data_when_opened_again);
    g_test_add_func("/backend/file/cut-short-is-a-read-error", test_file_cut_short_is_a_read_error);
    g_test_add_func("/backend/file/of-another-size", test_file_of_another_size);
    g_test_add_func("/backend/file/that-cannot-be-opened", test_file_that_cannot_be_opened);
    g_test_add_func("/backend/file/without-space-leaves-nothing",
                    test_file_without_space_leaves_nothing);
    g_test_add_func("/backend/ram/too-large", test_ram_too_large);
    status = g_test_run();
    g_rmdir(directory);
    g_free(directory);
    return status;
}
