/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the run-control device as QEMU sees it: PCI function, properties, timer, snapshot.
 * Not here: what the registers do (control_core.c), what it does on the host (control_host.c).
 * Standard: PCI Local Bus 3.0, section 6.1 (configuration header), by way of QEMU's PCI core.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "hw/pci/pci_device.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "system/system.h"
#include "control_core.h"
#include "control_host.h"

#define TYPE_LOCKSTEP_CONTROL "lockstep-control"
OBJECT_DECLARE_SIMPLE_TYPE(ControlState, LOCKSTEP_CONTROL)

/* A page, so that the BAR can be mapped by itself. */
#define REGISTERS_SIZE 4096

struct ControlState {
    PCIDevice parent_obj;

    MemoryRegion registers;
    MemoryRegion window;
    ControlCore core;
    ControlHost host;
    QEMUTimer *timer;
    Notifier exit;

    char *in;
    char *out;
    char *pause_at;
    uint32_t boot_timeout; /* seconds, 0: none */
    uint64_t blob_limit;   /* bytes */
};

static int64_t guest_time(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void update_timer(ControlState *s)
{
    int64_t deadline = control_core_deadline(&s->core);

    if (deadline == CONTROL_NO_DEADLINE) {
        timer_del(s->timer);
    } else {
        timer_mod(s->timer, deadline);
    }
}

static void control_timer_expired(void *opaque)
{
    ControlState *s = opaque;

    control_core_expire(&s->core, guest_time());
    update_timer(s);
}

static uint64_t registers_read(void *opaque, hwaddr offset, unsigned size)
{
    ControlState *s = opaque;

    return control_core_read(&s->core, offset, size);
}

static void registers_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    ControlState *s = opaque;

    control_core_write(&s->core, offset, value, size, guest_time());
    update_timer(s);
}

/* Every access reaches the core, which knows what to do with an odd one. */
static const MemoryRegionOps registers_ops = {
    .read = registers_read,
    .write = registers_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

static void control_reset(DeviceState *dev)
{
    ControlState *s = LOCKSTEP_CONTROL(dev);

    control_core_reset(&s->core, guest_time());
    update_timer(s);
}

/* QEMU ends without unrealizing its devices. */
static void control_qemu_exits(Notifier *notifier, void *data)
{
    ControlState *s = container_of(notifier, ControlState, exit);

    control_host_close(&s->host);
}

static void control_realize(PCIDevice *dev, Error **errp)
{
    ControlState *s = LOCKSTEP_CONTROL(dev);

    memory_region_init_io(&s->registers, OBJECT(s), &registers_ops, s,
                          "lockstep-control.registers", REGISTERS_SIZE);
    if (!memory_region_init_ram(&s->window, OBJECT(s), "lockstep-control.window",
                                LSCTL_WINDOW_SIZE, errp) ||
        !control_host_open(&s->host, s->in, s->out, s->blob_limit, errp)) {
        return;
    }
    s->host.pause_at = s->pause_at;
    pci_register_bar(dev, LSCTL_BAR_REGISTERS, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->registers);
    pci_register_bar(dev, LSCTL_BAR_WINDOW,
                     PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_PREFETCH, &s->window);
    control_core_init(&s->core, &control_host_ops, &s->host,
                      memory_region_get_ram_ptr(&s->window), s->boot_timeout);
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, control_timer_expired, s);
    s->exit.notify = control_qemu_exits;
    qemu_add_exit_notifier(&s->exit);
}

static void control_unrealize(PCIDevice *dev)
{
    ControlState *s = LOCKSTEP_CONTROL(dev);

    qemu_remove_exit_notifier(&s->exit);
    timer_free(s->timer);
    control_host_close(&s->host);
}

static int control_post_load(void *opaque, int version_id)
{
    ControlState *s = opaque;

    if (!control_core_restored(&s->core)) {
        return -EINVAL;
    }
    update_timer(s);
    return 0;
}

/* A transfer under way is not part of it: the guest is told that it is lost. */
static const VMStateDescription control_vmstate = {
    .name = TYPE_LOCKSTEP_CONTROL,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = control_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, ControlState),
        VMSTATE_UINT32(core.length, ControlState),
        VMSTATE_UINT32(core.error, ControlState),
        VMSTATE_UINT32(core.state, ControlState),
        VMSTATE_UINT64(core.size, ControlState),
        VMSTATE_UINT32(core.watchdog_ms, ControlState),
        VMSTATE_BOOL(core.booting, ControlState),
        VMSTATE_INT64(core.heard_ns, ControlState),
        VMSTATE_END_OF_LIST()
    },
};

static const Property control_properties[] = {
    DEFINE_PROP_STRING("in", ControlState, in),
    DEFINE_PROP_STRING("out", ControlState, out),
    DEFINE_PROP_STRING("pause-at", ControlState, pause_at),
    DEFINE_PROP_UINT32("boot-timeout", ControlState, boot_timeout, 0),
    DEFINE_PROP_SIZE("blob-limit", ControlState, blob_limit, 1 * GiB),
};

static void control_class_init(ObjectClass *class, void *data)
{
    DeviceClass *device = DEVICE_CLASS(class);
    PCIDeviceClass *pci = PCI_DEVICE_CLASS(class);

    pci->realize = control_realize;
    pci->exit = control_unrealize;
    pci->vendor_id = LSCTL_PCI_VENDOR;
    pci->device_id = LSCTL_PCI_DEVICE;
    pci->class_id = PCI_CLASS_SYSTEM_OTHER;

    device->desc = "Lockstep run control";
    device->vmsd = &control_vmstate;
    device->hotpluggable = false;
    device_class_set_legacy_reset(device, control_reset);
    device_class_set_props(device, control_properties);
    set_bit(DEVICE_CATEGORY_MISC, device->categories);
}

static const TypeInfo control_type = {
    .name = TYPE_LOCKSTEP_CONTROL,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(ControlState),
    .class_init = control_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_CONVENTIONAL_PCI_DEVICE },
        { },
    },
};

static void control_register_types(void)
{
    type_register_static(&control_type);
}

type_init(control_register_types)
