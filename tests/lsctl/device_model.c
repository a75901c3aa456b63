/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: lsctl's device.h over the device's own core, with a host that is in memory.
 * Not here: sysfs (test_lsctl.py), the device in QEMU (tests/qtest).
 * Standard: include/lockstep/control_regs.h.
 */
#include <string.h>
#include <sys/time.h>

#include "control_core.h"
#include "device_model.h"

struct Device {
    DeviceModel model;
    ControlCore core;
    uint8_t window[LSCTL_WINDOW_SIZE];
    bool turns[2];

    char *put_name;
    GByteArray *put;
    GBytes *get;
    size_t get_at;
};

/* ---- the host ---- */

static uint32_t put_open(void *opaque, const char *name)
{
    Device *device = opaque;

    device->put_name = g_strdup(name);
    device->put = g_byte_array_new();
    return LSCTL_OK;
}

static uint32_t put_data(void *opaque, const uint8_t *data, size_t size)
{
    Device *device = opaque;

    if (size > device->model.disk_room) {
        return LSCTL_ERROR_NO_SPACE;
    }
    device->model.disk_room -= size;
    g_byte_array_append(device->put, data, size);
    return LSCTL_OK;
}

static uint32_t put_close(void *opaque)
{
    Device *device = opaque;

    g_hash_table_replace(device->model.blobs, g_steal_pointer(&device->put_name),
                         g_byte_array_free_to_bytes(g_steal_pointer(&device->put)));
    return LSCTL_OK;
}

static void put_drop(void *opaque)
{
    Device *device = opaque;

    g_clear_pointer(&device->put_name, g_free);
    g_clear_pointer(&device->put, g_byte_array_unref);
}

static uint32_t get_open(void *opaque, const char *name, uint64_t *size)
{
    Device *device = opaque;
    GBytes *bytes = g_hash_table_lookup(device->model.files, name);

    if (!bytes) {
        return LSCTL_ERROR_NOT_FOUND;
    }
    device->get = g_bytes_ref(bytes);
    device->get_at = 0;
    *size = g_bytes_get_size(bytes);
    return LSCTL_OK;
}

static uint32_t list_open(void *opaque, uint64_t *size)
{
    Device *device = opaque;
    g_autoptr(GList) names = g_hash_table_get_keys(device->model.files);
    GString *list = g_string_new(NULL);

    names = g_list_sort(names, (GCompareFunc)strcmp);
    for (GList *name = names; name; name = name->next) {
        g_string_append_printf(list, "%s\n", (char *)name->data);
    }
    *size = list->len;
    device->get = g_string_free_to_bytes(list);
    device->get_at = 0;
    return LSCTL_OK;
}

static uint32_t get_data(void *opaque, uint8_t *data, size_t room, size_t *size)
{
    Device *device = opaque;

    *size = MIN(room, g_bytes_get_size(device->get) - device->get_at);
    if (*size > 0) {
        memcpy(data, (const uint8_t *)g_bytes_get_data(device->get, NULL) + device->get_at, *size);
    }
    device->get_at += *size;
    return LSCTL_OK;
}

static void get_drop(void *opaque)
{
    Device *device = opaque;

    g_clear_pointer(&device->get, g_bytes_unref);
}

static uint32_t event(void *opaque, const ControlEvent *what)
{
    Device *device = opaque;
    char *text = NULL;

    switch (what->kind) {
    case CONTROL_EVENT_MARK:
        text = g_strdup_printf("mark %s %s", what->phase, what->name);
        break;
    case CONTROL_EVENT_BLOB:
        text = g_strdup_printf("blob %s %" G_GUINT64_FORMAT, what->name, what->bytes);
        break;
    case CONTROL_EVENT_ERROR:
        text = g_strdup_printf("error %s %s", what->name, what->reason);
        break;
    case CONTROL_EVENT_EXIT:
        text = g_strdup_printf("exit %u", what->status);
        break;
    case CONTROL_EVENT_PANIC:
    case CONTROL_EVENT_HANG:
        g_assert_not_reached();
    }
    g_ptr_array_add(device->model.events, text);
    return LSCTL_OK;
}

/* No machine stops here: a signal has to end the wait for that. */
static void end(void *opaque, ControlEventKind why, uint32_t status)
{
    const struct itimerval soon = { .it_value.tv_usec = 10000 };

    setitimer(ITIMER_REAL, &soon, NULL);
}

/* lsctl keeps to the data sheet, but for a name that the device shall judge. */
static void bad_access(void *opaque, uint64_t offset, unsigned size, bool is_write)
{
    g_assert_not_reached();
}

static void bad_command(void *opaque, uint32_t command, const char *error)
{
}

static const ControlHostOps ops = {
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

/* ---- device.h ---- */

uint32_t device_read(Device *device, enum lsctl_register offset)
{
    return control_core_read(&device->core, offset, 4);
}

void device_write(Device *device, enum lsctl_register offset, uint32_t value)
{
    if (offset == LSCTL_REG_COMMAND || offset == LSCTL_REG_LENGTH) {
        g_assert_true(device->turns[TURN_COMMAND]);
    }
    if (offset == LSCTL_REG_COMMAND && value >= LSCTL_CMD_PUT_OPEN) {
        g_assert_true(device->turns[TURN_TRANSFER]);
    }
    control_core_write(&device->core, offset, value, 4, 0);
    if (offset == LSCTL_REG_PET && ++device->model.pets == device->model.pets_until_off) {
        control_core_write(&device->core, LSCTL_REG_WATCHDOG, 0, 4, 0);
    }
}

void device_fill_window(Device *device, const void *data, size_t size)
{
    g_assert_true(device->turns[TURN_COMMAND]);
    g_assert_cmpuint(size, <=, LSCTL_WINDOW_SIZE);
    memcpy(device->window, data, size);
}

void device_copy_window(Device *device, void *data, size_t size)
{
    g_assert_true(device->turns[TURN_COMMAND]);
    g_assert_cmpuint(size, <=, LSCTL_WINDOW_SIZE);
    memcpy(data, device->window, size);
}

void device_begin_turn(Device *device, DeviceTurn turn)
{
    g_assert_false(device->turns[turn]);
    device->turns[turn] = true;
}

void device_end_turn(Device *device, DeviceTurn turn)
{
    g_assert_true(device->turns[turn]);
    device->turns[turn] = false;
}

void device_close(Device *device)
{
    /* lsctl has ended every turn it began. */
    g_assert_false(device->turns[TURN_TRANSFER]);
    g_assert_false(device->turns[TURN_COMMAND]);
    put_drop(device);
    get_drop(device);
    g_hash_table_unref(device->model.files);
    g_hash_table_unref(device->model.blobs);
    g_ptr_array_unref(device->model.events);
    g_free(device);
}

/* ---- device_model.h ---- */

Device *device_model_new(void)
{
    Device *device = g_new0(Device, 1);

    device->model.files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                (GDestroyNotify)g_bytes_unref);
    device->model.blobs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                (GDestroyNotify)g_bytes_unref);
    device->model.events = g_ptr_array_new_with_free_func(g_free);
    device->model.disk_room = UINT64_MAX;
    control_core_init(&device->core, &ops, device, device->window, 0);
    control_core_reset(&device->core, 0);
    return device;
}

DeviceModel *device_model(Device *device)
{
    return &device->model;
}

void device_model_add_file(Device *device, const char *name, const void *data, size_t size)
{
    g_hash_table_replace(device->model.files, g_strdup(name), g_bytes_new(data, size));
}

void device_model_die_in_transfer(Device *device, enum lsctl_command open, const char *name)
{
    memcpy(device->window, name, strlen(name));
    control_core_write(&device->core, LSCTL_REG_LENGTH, strlen(name), 4, 0);
    control_core_write(&device->core, LSCTL_REG_COMMAND, open, 4, 0);
    g_assert_cmpuint(device_read(device, LSCTL_REG_ERROR), ==, LSCTL_OK);
}
