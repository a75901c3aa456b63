/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the run-control device through sysfs, without a kernel driver.
 * Not here: the commands of lsctl (commands.c), its options (lsctl.c).
 * Standard: Linux Documentation/PCI/sysfs-pci.rst.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "message.h"

#define REGISTERS_SIZE 4096
#define PCI_DEVICES    "/sys/bus/pci/devices"
#define LOCK_FILE      "/run/lsctl.lock"

struct Device {
    volatile uint32_t *registers;
    uint8_t *window;
    int lock_fd;
};

/* Reads a small number of sysfs; -1 if there is none. */
static long read_number(int dir, const char *name)
{
    char text[32];
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0) {
        close(fd);
    }
    if (size <= 0) {
        return -1;
    }
    text[size] = '\0';
    return strtol(text, NULL, 0);
}

/* Returns the directory of our device, -1 without a message if there is none. */
static int find_device(DIR *devices)
{
    struct dirent *entry;

    while ((entry = readdir(devices))) {
        int dir = openat(dirfd(devices), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dir < 0) {
            continue;
        }
        if (read_number(dir, "vendor") == LSCTL_PCI_VENDOR &&
            read_number(dir, "device") == LSCTL_PCI_DEVICE) {
            return dir;
        }
        close(dir);
    }
    return -1;
}

/* Without a driver nobody has told the device to answer at its addresses. */
static bool enable_device(int dir)
{
    int fd;
    bool done;

    if (read_number(dir, "enable") != 0) {
        return true;
    }
    fd = openat(dir, "enable", O_WRONLY | O_CLOEXEC);
    done = fd >= 0 && write(fd, "1", 1) == 1;
    if (!done) {
        message("cannot enable the run-control device: %s", strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return done;
}

/* Returns NULL, with a message, if the resource file cannot be mapped. */
static void *map_resource(int dir, int bar, size_t size)
{
    char name[16];
    void *map = MAP_FAILED;
    int fd;

    snprintf(name, sizeof(name), "resource%d", bar);
    fd = openat(dir, name, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (map == MAP_FAILED) {
        message("cannot map %s of the run-control device: %s", name, strerror(errno));
        map = NULL;
    }
    if (fd >= 0) {
        close(fd);
    }
    return map;
}

static bool map_device(Device *device, int dir)
{
    device->registers = map_resource(dir, LSCTL_BAR_REGISTERS, REGISTERS_SIZE);
    device->window = map_resource(dir, LSCTL_BAR_WINDOW, LSCTL_WINDOW_SIZE);
    if (!device->registers || !device->window) {
        return false;
    }
    if (device_read(device, LSCTL_REG_ID) != LSCTL_ID_VALUE ||
        device_read(device, LSCTL_REG_VERSION) != LSCTL_VERSION_VALUE ||
        device_read(device, LSCTL_REG_WINDOW) != LSCTL_WINDOW_SIZE) {
        message("the run-control device is of another version (id 0x%x, version %u); "
                "this lsctl needs version %d", device_read(device, LSCTL_REG_ID),
                device_read(device, LSCTL_REG_VERSION), LSCTL_VERSION_VALUE);
        return false;
    }
    return true;
}

/* Path below the root of the system, which tests move (LSCTL_ROOT). */
static const char *rooted(const char *path, char *buffer, size_t size)
{
    const char *root = getenv("LSCTL_ROOT");

    snprintf(buffer, size, "%s%s", root ? root : "", path);
    return buffer;
}

int device_open(Device **result)
{
    Device *device = calloc(1, sizeof(*device));
    char path[4096];
    DIR *devices;
    int dir = -1;
    int status = STATUS_FAILED;

    if (!device) {
        message("out of memory");
        return STATUS_FAILED;
    }
    device->lock_fd = open(rooted(LOCK_FILE, path, sizeof(path)), O_RDWR | O_CREAT | O_CLOEXEC,
                           0600);
    if (device->lock_fd < 0) {
        message("cannot open %s: %s", path, strerror(errno));
        goto out;
    }
    devices = opendir(rooted(PCI_DEVICES, path, sizeof(path)));
    if (devices) {
        dir = find_device(devices);
        closedir(devices);
    }
    if (dir < 0) {
        message("no run-control device (PCI %04x:%04x) in %s; QEMU needs "
                "-device lockstep-control", LSCTL_PCI_VENDOR, LSCTL_PCI_DEVICE, path);
        status = STATUS_NO_DEVICE;
        goto out;
    }
    if (enable_device(dir) && map_device(device, dir)) {
        status = STATUS_OK;
    }
    close(dir);

out:
    if (status == STATUS_OK) {
        *result = device;
    } else {
        device_close(device);
    }
    return status;
}

void device_close(Device *device)
{
    if (device->registers) {
        munmap((void *)device->registers, REGISTERS_SIZE);
    }
    if (device->window) {
        munmap(device->window, LSCTL_WINDOW_SIZE);
    }
    if (device->lock_fd >= 0) {
        close(device->lock_fd);
    }
    free(device);
}

uint32_t device_read(Device *device, enum lsctl_register offset)
{
    return device->registers[offset / 4];
}

void device_write(Device *device, enum lsctl_register offset, uint32_t value)
{
    /* What is in the window must be there before the device looks. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    device->registers[offset / 4] = value;
}

void device_fill_window(Device *device, const void *data, size_t size)
{
    memcpy(device->window, data, size);
}

void device_copy_window(Device *device, void *data, size_t size)
{
    memcpy(data, device->window, size);
}

/* One byte of the lock file for each kind of turn; a caller that dies loses them. */
static void set_lock(Device *device, DeviceTurn turn, short type)
{
    struct flock lock = {
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = turn,
        .l_len = 1,
    };

    while (fcntl(device->lock_fd, F_OFD_SETLKW, &lock) < 0) {
        if (errno != EINTR) {
            message("cannot lock " LOCK_FILE ": %s", strerror(errno));
            exit(STATUS_FAILED);
        }
    }
}

void device_begin_turn(Device *device, DeviceTurn turn)
{
    set_lock(device, turn, F_WRLCK);
}

void device_end_turn(Device *device, DeviceTurn turn)
{
    set_lock(device, turn, F_UNLCK);
}
