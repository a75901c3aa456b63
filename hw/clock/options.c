/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the options of -accel tcg that turn lockstep on, and what turns with them.
 * Not here: what else of the machine must be refused (refuse.c).
 * Standard: none; docs/lockstep.md describes the options.
 */
#include "qemu/osdep.h"
#include "clock.h"
#include "hooks.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/accel.h"
#include "qemu/config-file.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/option.h"
#include "gdbstub/enums.h"
#include "system/accel-ops.h"
#include "system/cpu-timers.h"

#define TCG_CLASS ACCEL_CLASS_NAME("tcg")

static void (*tcg_ops_init)(AccelOpsClass *ops);

/* The first lockstep- option that was given, for a message when lockstep=on is missing. */
static const char *first_option;

typedef struct NumberOption {
    const char *name;
    const char *about;
    uint64_t min, max;
    size_t offset, size;        /* in LockstepConfig */
    const char *unit;
} NumberOption;

#define NUMBER(field) offsetof(LockstepConfig, field), sizeof_field(LockstepConfig, field)

static const NumberOption numbers[] = {
    { "lockstep-quantum", "guest time of a round, in ns", LOCKSTEP_QUANTUM_MIN, LOCKSTEP_SLICE_MAX,
      NUMBER(quantum), "ns" },
    { "lockstep-pause", "guest time of a PAUSE instruction, in ns", 1, LOCKSTEP_PAUSE_MAX,
      NUMBER(pause), "ns" },
    { "lockstep-seed", "0 for the plain order, any other for another interleaving", 0, INT64_MAX,
      NUMBER(seed), "" },
    { "lockstep-hash-rounds", "rounds between two records of the hash log", 1, UINT32_MAX,
      NUMBER(hash_rounds), "rounds" },
};

static void *number_field(const NumberOption *option)
{
    return (char *)&lockstep.config + option->offset;
}

static void set_number(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    const NumberOption *option = opaque;
    uint64_t value;

    if (!visit_type_uint64(v, name, &value, errp)) {
        return;
    }
    if (value < option->min || value > option->max) {
        error_setg(errp, "%s=%" PRIu64 ": %" PRIu64 " to %" PRIu64 "%s%s is allowed", name, value,
                   option->min, option->max, *option->unit ? " " : "", option->unit);
        return;
    }
    first_option = first_option ?: option->name;
    if (option->size == sizeof(uint32_t)) {
        *(uint32_t *)number_field(option) = value;
    } else {
        *(uint64_t *)number_field(option) = value;
    }
}

static void get_number(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
    const NumberOption *option = opaque;
    uint64_t value = option->size == sizeof(uint32_t) ? *(uint32_t *)number_field(option)
                                                      : *(uint64_t *)number_field(option);

    visit_type_uint64(v, name, &value, errp);
}

static bool rate_part(const char *text, const char **end, uint32_t *value)
{
    unsigned number;

    if (qemu_strtoui(text, end, 10, &number) < 0 || number < 1 || number > LOCKSTEP_RATE_MAX) {
        return false;
    }
    *value = number;
    return true;
}

static void set_rate(Object *obj, const char *value, Error **errp)
{
    uint32_t num, den = 1;
    const char *end;

    if (!rate_part(value, &end, &num) ||
        (*end && (*end != '/' || !rate_part(end + 1, &end, &den) || *end))) {
        error_setg(errp, "lockstep-rate=%s: instructions per ns as N or N/M is allowed, "
                   "each 1 to %d", value, LOCKSTEP_RATE_MAX);
        return;
    }
    first_option = first_option ?: "lockstep-rate";
    lockstep.config.rate_num = num;
    lockstep.config.rate_den = den;
}

static char *get_rate(Object *obj, Error **errp)
{
    return g_strdup_printf("%u/%u", lockstep.config.rate_num, lockstep.config.rate_den);
}

static void set_hash_log(Object *obj, const char *value, Error **errp)
{
    if (!*value) {
        error_setg(errp, "lockstep-hash-log=: the name of a file is needed");
        return;
    }
    first_option = first_option ?: "lockstep-hash-log";
    g_free(lockstep.config.hash_log);
    lockstep.config.hash_log = g_strdup(value);
}

static char *get_hash_log(Object *obj, Error **errp)
{
    return g_strdup(lockstep.config.hash_log);
}

/* QEMU counts instructions only if told so before the first vCPU. */
static bool count_instructions(Error **errp)
{
    QemuOpts *opts = qemu_opts_find(qemu_find_opts("accel"), NULL);

    if (icount_enabled()) {
        error_setg(errp, "lockstep=on counts instructions itself: leave out -icount");
        return false;
    }
    if (opts && !g_strcmp0(qemu_opt_get(opts, "thread"), "multi")) {
        error_setg(errp, "lockstep=on runs all vCPUs in one thread: leave out thread=multi");
        return false;
    }
    opts = qemu_opts_create(qemu_find_opts("icount"), NULL, 0, &error_abort);
    qemu_opt_set(opts, "shift", "0", &error_abort);
    qemu_opt_set(opts, "sleep", "off", &error_abort);
    return icount_configure(opts, errp);
}

static void set_lockstep(Object *obj, bool value, Error **errp)
{
    if (value == lockstep_on) {
        return;
    }
    if (!value) {
        error_setg(errp, "lockstep=off after lockstep=on");
        return;
    }
    if (count_instructions(errp) && object_property_set_str(obj, "thread", "single", errp)) {
        lockstep_on = true;
    }
}

static bool get_lockstep(Object *obj, Error **errp)
{
    return lockstep_on;
}

/* Steps of a debugger that leave interrupts or timers out would be another run. */
static int sstep_flags(void)
{
    return SSTEP_ENABLE;
}

/* All options are there: what they mean together. */
static bool finish_config(Error **errp)
{
    LockstepConfig *config = &lockstep.config;
    int64_t quantum, pause;

    quantum = schedule_ns_to_ticks(config->quantum, config->rate_num, config->rate_den);
    pause = schedule_ns_to_ticks(config->pause, config->rate_num, config->rate_den);
    if (quantum > LOCKSTEP_SLICE_MAX || quantum < LOCKSTEP_QUANTUM_MIN) {
        error_setg(errp, "lockstep-quantum=%u with lockstep-rate=%u/%u is %" PRId64
                   " instructions: %d to %d are allowed", config->quantum, config->rate_num,
                   config->rate_den, quantum, LOCKSTEP_QUANTUM_MIN, LOCKSTEP_SLICE_MAX);
        return false;
    }
    config->quantum_ticks = quantum;
    config->pause_ticks = MAX(pause, 1);
    return lockstep_hash_open(errp);
}

static void ops_init(AccelOpsClass *ops)
{
    Error *err = NULL;

    tcg_ops_init(ops);
    if (!lockstep_on) {
        if (first_option) {
            error_report("%s needs lockstep=on beside it", first_option);
            exit(EXIT_FAILURE);
        }
        return;
    }
    if (!finish_config(&err)) {
        error_report_err(err);
        exit(EXIT_FAILURE);
    }
    ops->kick_vcpu_thread = lockstep_kick;
    ops->handle_interrupt = lockstep_interrupt;
    ops->get_virtual_clock = lockstep_now_ns;
    /* The time-stamp counter: 1 GHz, whatever the rate. */
    ops->get_elapsed_ticks = lockstep_now_ns;
    ACCEL_CLASS(object_class_by_name(TCG_CLASS))->gdbstub_supported_sstep_flags = sstep_flags;
    lockstep_prepare_machine();
}

static void add_options(void)
{
    ObjectClass *tcg = object_class_by_name(TCG_CLASS);
    AccelOpsClass *ops = ACCEL_OPS_CLASS(object_class_by_name(ACCEL_OPS_NAME("tcg")));

    lockstep.config = (LockstepConfig) {
        .quantum = 1000, .rate_num = 1, .rate_den = 1, .pause = 40, .hash_rounds = 1000,
    };
    tcg_ops_init = ops->ops_init;
    ops->ops_init = ops_init;

    object_class_property_add_bool(tcg, "lockstep", get_lockstep, set_lockstep);
    object_class_property_set_description(
        tcg, "lockstep", "all vCPUs in step in guest time, every run the same");
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        object_class_property_add(tcg, numbers[i].name, "int", get_number, set_number, NULL,
                                  (void *)&numbers[i]);
        object_class_property_set_description(tcg, numbers[i].name, numbers[i].about);
    }
    object_class_property_add_str(tcg, "lockstep-rate", get_rate, set_rate);
    object_class_property_set_description(tcg, "lockstep-rate",
                                          "guest instructions per ns, as N or N/M");
    object_class_property_add_str(tcg, "lockstep-hash-log", get_hash_log, set_hash_log);
    object_class_property_set_description(tcg, "lockstep-hash-log",
                                          "file for a chained hash of the vCPUs' state");
}

/* The first stage at which all types are known; options are not yet. */
migration_init(add_options);
