/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: what a machine must not have in lockstep mode, because the host would show in the run.
 * Not here: options of lockstep itself (options.c).
 * Standard: none; docs/lockstep.md lists the refusals.
 */
#include "qemu/osdep.h"
#include "block/block_int-common.h"
#include "clock.h"
#include "hooks.h"
#include "hw/boards.h"
#include "hw/core/cpu.h"
#include "net/net.h"
#include "qemu/config-file.h"
#include "qemu/error-report.h"
#include "qemu/option.h"
#include "qom/object.h"
#include "system/block-backend.h"
#include "system/iothread.h"
#include "system/rng.h"
#include "system/system.h"

G_GNUC_PRINTF(1, 2) G_NORETURN
static void refuse(const char *format, ...)
{
    va_list args;
    g_autofree char *text = NULL;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    error_report("lockstep: %s", text);
    exit(EXIT_FAILURE);
}

static int check_object(Object *child, void *opaque)
{
    const char *name = object_get_canonical_path_component(child);

    if (object_dynamic_cast(child, TYPE_IOTHREAD)) {
        refuse("-object iothread,id=%s: an I/O thread runs beside the vCPUs; leave it out", name);
    }
    if (object_dynamic_cast(child, TYPE_RNG_BACKEND) &&
        !object_dynamic_cast(child, TYPE_RNG_BUILTIN)) {
        refuse("-object %s,id=%s: it has the host's random numbers; use rng-builtin",
               object_get_typename(child), name);
    }
    return 0;
}

static void check_cpus(void)
{
    MachineState *machine = MACHINE(qdev_get_machine());
    const char *why;

    if (machine->smp.max_cpus > LOCKSTEP_CPUS_MAX) {
        refuse("-smp %u: up to %d vCPUs are allowed", machine->smp.max_cpus, LOCKSTEP_CPUS_MAX);
    }
    if (machine->smp.max_cpus > machine->smp.cpus) {
        refuse("-smp %u,maxcpus=%u: vCPUs cannot be plugged; set maxcpus=%u", machine->smp.cpus,
               machine->smp.max_cpus, machine->smp.cpus);
    }
    why = lockstep_cpu_refused(first_cpu);
    if (why) {
        refuse("-cpu: %s", why);
    }
}

static void check_clocks(void)
{
    QemuOpts *opts = qemu_find_opts_singleton("rtc");
    const char *base = qemu_opt_get(opts, "base");

    if (rtc_clock != QEMU_CLOCK_VIRTUAL) {
        refuse("-rtc clock=%s: the host's clock would show; set clock=vm",
               rtc_clock == QEMU_CLOCK_HOST ? "host" : "rt");
    }
    if (!base || !strcmp(base, "utc") || !strcmp(base, "localtime")) {
        refuse("-rtc base=%s: the host's date would show; set a date such as "
               "base=2025-01-01T00:00:00", base ?: "utc");
    }
}

/* Back ends that answer in the caller's own time, without a file descriptor or a thread. */
static bool net_is_inside(NetClientDriver type)
{
    return type == NET_CLIENT_DRIVER_NIC || type == NET_CLIENT_DRIVER_HUBPORT ||
           type == NET_CLIENT_DRIVER_NONE;
}

static void check_net(void)
{
    NetClientState *clients[64];
    int count = qemu_find_net_clients_except(NULL, clients, NET_CLIENT_DRIVER_NIC,
                                             ARRAY_SIZE(clients));

    for (int i = 0; i < MIN(count, (int)ARRAY_SIZE(clients)); i++) {
        if (!net_is_inside(clients[i]->info->type)) {
            refuse("-netdev %s,id=%s: packets of the host come at the host's time; use "
                   "-netdev hubport or none", NetClientDriver_str(clients[i]->info->type),
                   clients[i]->name);
        }
    }
}

/* Of a chain of nodes, the first that does not answer at once; NULL: all do. */
static BlockDriverState *slow_node(BlockDriverState *bs)
{
    BdrvChild *child;

    if (bs->drv && bs->drv->protocol_name && strncmp(bs->drv->format_name, "null-", 5)) {
        return bs;
    }
    QLIST_FOREACH(child, &bs->children, next) {
        BlockDriverState *found = slow_node(child->bs);

        if (found) {
            return found;
        }
    }
    return NULL;
}

static void check_block(void)
{
    BlockBackend *blk = NULL;

    while ((blk = blk_all_next(blk))) {
        BlockDriverState *bs = blk_bs(blk);
        BlockDriverState *slow = bs && blk_get_attached_dev(blk) ? slow_node(bs) : NULL;

        if (slow) {
            refuse("-blockdev driver=%s,node-name=%s: it completes in a thread of the host; use "
                   "driver=null-co or a disk in guest memory", slow->drv->format_name,
                   slow->node_name);
        }
    }
}

/* Between its expiry and its next period QEMU's model saves less than it needs to go on. */
static void check_hpet(void)
{
    if (object_resolve_path_type("", "hpet", NULL)) {
        refuse("-M hpet=on: a restored snapshot may lose the timer's next period; set hpet=off");
    }
}

void lockstep_check_machine(void)
{
    object_child_foreach_recursive(object_get_objects_root(), check_object, NULL);
    check_cpus();
    check_clocks();
    check_net();
    check_block();
    check_hpet();
}
