/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the run-control device's registers, states and watchdog, free of QEMU and of I/O.
 * Not here: PCI, timers and snapshots (control_pci.c), files and events (control_host.c).
 * Standard: none; include/lockstep/control_regs.h is the data sheet.
 */
#include <assert.h>
#include <string.h>

#include "control_core.h"

#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

static const char *const error_names[LSCTL_ERROR_END] = {
    [LSCTL_OK] = "ok",
    [LSCTL_ERROR_COMMAND] = "command",
    [LSCTL_ERROR_STATE] = "state",
    [LSCTL_ERROR_LENGTH] = "length",
    [LSCTL_ERROR_NAME] = "name",
    [LSCTL_ERROR_VALUE] = "value",
    [LSCTL_ERROR_NOT_FOUND] = "not-found",
    [LSCTL_ERROR_LIMIT] = "limit",
    [LSCTL_ERROR_NO_SPACE] = "no-space",
    [LSCTL_ERROR_IO] = "io",
    [LSCTL_ERROR_NO_DIR] = "no-directory",
    [LSCTL_ERROR_LOST] = "lost",
};

const char *control_error_name(uint32_t error)
{
    assert(error < LSCTL_ERROR_END);
    return error_names[error];
}

#define STATE_BIT(state) (1u << (state))

/* From each state, the states that may follow; a reset leads to idle from anywhere. */
static const uint8_t next_states[LSCTL_STATE_END] = {
    [LSCTL_IDLE] = STATE_BIT(LSCTL_PUT) | STATE_BIT(LSCTL_GET) | STATE_BIT(LSCTL_ENDED),
    [LSCTL_PUT] = STATE_BIT(LSCTL_IDLE),
    [LSCTL_GET] = STATE_BIT(LSCTL_IDLE),
    [LSCTL_LOST] = STATE_BIT(LSCTL_IDLE),
    [LSCTL_ENDED] = STATE_BIT(LSCTL_IDLE),
};

static void set_state(ControlCore *core, enum lsctl_state state)
{
    assert(next_states[core->state] & STATE_BIT(state));
    core->state = state;
}

void control_core_init(ControlCore *core, const ControlHostOps *ops, void *host,
                       uint8_t *window, uint32_t boot_timeout_s)
{
    *core = (ControlCore) {
        .ops = ops,
        .host = host,
        .window = window,
        .boot_timeout_s = boot_timeout_s,
    };
}

/* Ends any transfer; the guest or a failure wants it gone. */
static void drop_transfer(ControlCore *core, uint32_t why, int64_t now_ns)
{
    if (core->state == LSCTL_PUT) {
        core->ops->put_drop(core->host);
        core->ops->event(core->host, &(ControlEvent) {
            .kind = CONTROL_EVENT_ERROR,
            .virtual_ns = now_ns,
            .name = core->name,
            .reason = why == LSCTL_OK ? "dropped" : control_error_name(why),
        });
    } else if (core->state == LSCTL_GET) {
        core->ops->get_drop(core->host);
    }
    if (core->state != LSCTL_IDLE) {
        set_state(core, LSCTL_IDLE);
    }
}

void control_core_reset(ControlCore *core, int64_t now_ns)
{
    drop_transfer(core, LSCTL_OK, now_ns);
    core->length = 0;
    core->error = LSCTL_OK;
    core->size = 0;
    core->watchdog_ms = 0;
    core->booting = true;
    core->heard_ns = now_ns;
}

static void end_run(ControlCore *core, const ControlEvent *event, uint32_t status)
{
    uint32_t error;

    drop_transfer(core, LSCTL_OK, event->virtual_ns);
    error = core->ops->event(core->host, event);
    /* A run whose record is incomplete must not pass for a success. */
    if (error != LSCTL_OK && error != LSCTL_ERROR_NO_DIR && status == 0) {
        status = 1;
    }
    set_state(core, LSCTL_ENDED);
    core->ops->end(core->host, event->kind, status);
}

static uint32_t mark(ControlCore *core, const char *phase, const char *name, int64_t now_ns)
{
    return core->ops->event(core->host, &(ControlEvent) {
        .kind = CONTROL_EVENT_MARK,
        .virtual_ns = now_ns,
        .phase = phase,
        .name = name,
    });
}

static uint32_t mark_begin(ControlCore *core, const char *name, int64_t now_ns)
{
    return mark(core, "begin", name, now_ns);
}

static uint32_t mark_end(ControlCore *core, const char *name, int64_t now_ns)
{
    return mark(core, "end", name, now_ns);
}

static uint32_t put_open(ControlCore *core, const char *name, int64_t now_ns)
{
    uint32_t error;

    if (strcmp(name, LSCTL_EVENTS_NAME) == 0) {
        return LSCTL_ERROR_NAME;
    }
    drop_transfer(core, LSCTL_OK, now_ns);
    error = core->ops->put_open(core->host, name);
    if (error == LSCTL_OK) {
        memcpy(core->name, name, strlen(name) + 1);
        core->size = 0;
        set_state(core, LSCTL_PUT);
    }
    return error;
}

static uint32_t put_data(ControlCore *core, const char *name, int64_t now_ns)
{
    uint32_t error = core->ops->put_data(core->host, core->window, core->length);

    if (error == LSCTL_OK) {
        core->size += core->length;
    } else {
        drop_transfer(core, error, now_ns);
    }
    return error;
}

static uint32_t put_close(ControlCore *core, const char *name, int64_t now_ns)
{
    uint32_t error = core->ops->put_close(core->host);

    if (error != LSCTL_OK) {
        drop_transfer(core, error, now_ns);
        return error;
    }
    set_state(core, LSCTL_IDLE);
    return core->ops->event(core->host, &(ControlEvent) {
        .kind = CONTROL_EVENT_BLOB,
        .virtual_ns = now_ns,
        .name = core->name,
        .bytes = core->size,
    });
}

/* Takes what a host's open said; size is valid only if it went well. */
static uint32_t get_opened(ControlCore *core, uint32_t error, uint64_t size)
{
    if (error == LSCTL_OK) {
        core->size = size;
        set_state(core, LSCTL_GET);
    }
    return error;
}

static uint32_t get_open(ControlCore *core, const char *name, int64_t now_ns)
{
    uint64_t size = 0;
    uint32_t error;

    drop_transfer(core, LSCTL_OK, now_ns);
    error = core->ops->get_open(core->host, name, &size);
    return get_opened(core, error, size);
}

static uint32_t list_open(ControlCore *core, const char *name, int64_t now_ns)
{
    uint64_t size = 0;
    uint32_t error;

    drop_transfer(core, LSCTL_OK, now_ns);
    error = core->ops->list_open(core->host, &size);
    return get_opened(core, error, size);
}

static uint32_t get_data(ControlCore *core, const char *name, int64_t now_ns)
{
    size_t got = 0;
    uint32_t error = core->ops->get_data(core->host, core->window, core->length, &got);

    assert(got <= core->length);
    core->length = got;
    if (error != LSCTL_OK || got == 0) {
        drop_transfer(core, error, now_ns);
    }
    return error;
}

static uint32_t abort_transfer(ControlCore *core, const char *name, int64_t now_ns)
{
    drop_transfer(core, LSCTL_OK, now_ns);
    return LSCTL_OK;
}

enum {
    BETWEEN = STATE_BIT(LSCTL_IDLE) | STATE_BIT(LSCTL_LOST),
    NOT_ENDED = BETWEEN | STATE_BIT(LSCTL_PUT) | STATE_BIT(LSCTL_GET),
};

typedef enum CommandInput {
    INPUT_NONE,
    INPUT_NAME, /* LENGTH bytes of the window are a name */
    INPUT_DATA, /* LENGTH bytes of the window are data, or room for it */
} CommandInput;

static const struct {
    uint8_t states;
    CommandInput input;
    uint32_t (*run)(ControlCore *core, const char *name, int64_t now_ns);
} commands[LSCTL_CMD_END] = {
    [LSCTL_CMD_MARK_BEGIN] = { NOT_ENDED, INPUT_NAME, mark_begin },
    [LSCTL_CMD_MARK_END] = { NOT_ENDED, INPUT_NAME, mark_end },
    [LSCTL_CMD_PUT_OPEN] = { BETWEEN, INPUT_NAME, put_open },
    [LSCTL_CMD_PUT_DATA] = { STATE_BIT(LSCTL_PUT), INPUT_DATA, put_data },
    [LSCTL_CMD_PUT_CLOSE] = { STATE_BIT(LSCTL_PUT), INPUT_NONE, put_close },
    [LSCTL_CMD_GET_OPEN] = { BETWEEN, INPUT_NAME, get_open },
    [LSCTL_CMD_LIST_OPEN] = { BETWEEN, INPUT_NONE, list_open },
    [LSCTL_CMD_GET_DATA] = { STATE_BIT(LSCTL_GET), INPUT_DATA, get_data },
    [LSCTL_CMD_ABORT] = { NOT_ENDED, INPUT_NONE, abort_transfer },
};

bool control_name_is_valid(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";
    size_t length = strlen(name);

    return length > 0 && length <= LSCTL_NAME_MAX && name[0] != '.' &&
           strspn(name, allowed) == length;
}

/* name has room for LSCTL_NAME_MAX + 1; a copy, as the guest can change the window. */
static uint32_t take_name(const ControlCore *core, char *name)
{
    if (core->length == 0 || core->length > LSCTL_NAME_MAX) {
        return LSCTL_ERROR_LENGTH;
    }
    memcpy(name, core->window, core->length);
    name[core->length] = '\0';
    /* A NUL in the middle would make it a shorter, perhaps valid name. */
    return strlen(name) == core->length && control_name_is_valid(name) ? LSCTL_OK
                                                                       : LSCTL_ERROR_NAME;
}

static uint32_t run_command(ControlCore *core, uint32_t command, int64_t now_ns)
{
    char name[LSCTL_NAME_MAX + 1] = "";
    uint32_t error = LSCTL_OK;

    if (command >= LSCTL_CMD_END || !commands[command].run) {
        return LSCTL_ERROR_COMMAND;
    }
    if (!(commands[command].states & STATE_BIT(core->state))) {
        return core->state == LSCTL_LOST ? LSCTL_ERROR_LOST : LSCTL_ERROR_STATE;
    }
    if (commands[command].input == INPUT_NAME) {
        error = take_name(core, name);
    } else if (commands[command].input == INPUT_DATA &&
               (core->length == 0 || core->length > LSCTL_WINDOW_SIZE)) {
        error = LSCTL_ERROR_LENGTH;
    }
    return error ? error : commands[command].run(core, name, now_ns);
}

static void write_command(ControlCore *core, uint32_t value, int64_t now_ns)
{
    core->error = run_command(core, value, now_ns);
    if (core->error != LSCTL_OK) {
        core->ops->bad_command(core->host, value, control_error_name(core->error));
    }
}

static void write_length(ControlCore *core, uint32_t value, int64_t now_ns)
{
    core->length = value;
}

static void write_exit(ControlCore *core, uint32_t value, int64_t now_ns)
{
    if (value > LSCTL_STATUS_MAX) {
        core->error = LSCTL_ERROR_VALUE;
        core->ops->bad_command(core->host, value, control_error_name(core->error));
        return;
    }
    core->error = LSCTL_OK;
    end_run(core, &(ControlEvent) {
        .kind = CONTROL_EVENT_EXIT,
        .virtual_ns = now_ns,
        .status = value,
    }, value);
}

static void write_panic(ControlCore *core, uint32_t value, int64_t now_ns)
{
    char text[LSCTL_PANIC_TEXT_MAX + 1];
    size_t length = value < LSCTL_PANIC_TEXT_MAX ? value : LSCTL_PANIC_TEXT_MAX;

    memcpy(text, core->window, length);
    text[length] = '\0';
    end_run(core, &(ControlEvent) {
        .kind = CONTROL_EVENT_PANIC,
        .virtual_ns = now_ns,
        .message = text,
    }, 1);
}

static void write_pet(ControlCore *core, uint32_t value, int64_t now_ns)
{
    core->booting = false;
    core->heard_ns = now_ns;
}

static void write_watchdog(ControlCore *core, uint32_t value, int64_t now_ns)
{
    core->watchdog_ms = value;
    write_pet(core, value, now_ns);
}

static uint32_t read_id(const ControlCore *core)
{
    return LSCTL_ID_VALUE;
}

static uint32_t read_version(const ControlCore *core)
{
    return LSCTL_VERSION_VALUE;
}

static uint32_t read_window(const ControlCore *core)
{
    return LSCTL_WINDOW_SIZE;
}

static uint32_t read_length(const ControlCore *core)
{
    return core->length;
}

static uint32_t read_error(const ControlCore *core)
{
    return core->error;
}

static uint32_t read_state(const ControlCore *core)
{
    return core->state;
}

static uint32_t read_size_low(const ControlCore *core)
{
    return (uint32_t)core->size;
}

static uint32_t read_size_high(const ControlCore *core)
{
    return core->size >> 32;
}

static uint32_t read_watchdog(const ControlCore *core)
{
    return core->watchdog_ms;
}

/* One entry for each register; without read it reads as 0, without write it is RO. */
static const struct {
    uint32_t (*read)(const ControlCore *core);
    void (*write)(ControlCore *core, uint32_t value, int64_t now_ns);
} registers[LSCTL_REG_END / 4] = {
    [LSCTL_REG_ID / 4] = { read_id, NULL },
    [LSCTL_REG_VERSION / 4] = { read_version, NULL },
    [LSCTL_REG_WINDOW / 4] = { read_window, NULL },
    [LSCTL_REG_COMMAND / 4] = { NULL, write_command },
    [LSCTL_REG_LENGTH / 4] = { read_length, write_length },
    [LSCTL_REG_ERROR / 4] = { read_error, NULL },
    [LSCTL_REG_STATE / 4] = { read_state, NULL },
    [LSCTL_REG_SIZE_LOW / 4] = { read_size_low, NULL },
    [LSCTL_REG_SIZE_HIGH / 4] = { read_size_high, NULL },
    [LSCTL_REG_EXIT / 4] = { NULL, write_exit },
    [LSCTL_REG_PANIC / 4] = { NULL, write_panic },
    [LSCTL_REG_WATCHDOG / 4] = { read_watchdog, write_watchdog },
    [LSCTL_REG_PET / 4] = { NULL, write_pet },
};

static bool is_register(uint64_t offset, unsigned size)
{
    return offset < LSCTL_REG_END && offset % 4 == 0 && size == 4;
}

uint64_t control_core_read(ControlCore *core, uint64_t offset, unsigned size)
{
    if (!is_register(offset, size)) {
        core->ops->bad_access(core->host, offset, size, false);
        return 0;
    }
    return registers[offset / 4].read ? registers[offset / 4].read(core) : 0;
}

void control_core_write(ControlCore *core, uint64_t offset, uint64_t value, unsigned size,
                        int64_t now_ns)
{
    if (!is_register(offset, size) || !registers[offset / 4].write) {
        core->ops->bad_access(core->host, offset, size, true);
        return;
    }
    if (core->state == LSCTL_ENDED) {
        core->error = LSCTL_ERROR_STATE;
        return;
    }
    registers[offset / 4].write(core, value, now_ns);
}

int64_t control_core_deadline(const ControlCore *core)
{
    if (core->state == LSCTL_ENDED) {
        return CONTROL_NO_DEADLINE;
    }
    if (core->booting) {
        return core->boot_timeout_s ? core->heard_ns + core->boot_timeout_s * NS_PER_S
                                    : CONTROL_NO_DEADLINE;
    }
    return core->watchdog_ms ? core->heard_ns + core->watchdog_ms * NS_PER_MS
                             : CONTROL_NO_DEADLINE;
}

void control_core_expire(ControlCore *core, int64_t now_ns)
{
    if (now_ns < control_core_deadline(core)) {
        return;
    }
    end_run(core, &(ControlEvent) {
        .kind = CONTROL_EVENT_HANG,
        .virtual_ns = now_ns,
        .reason = core->booting ? "boot" : "watchdog",
        .seconds = core->booting ? core->boot_timeout_s : core->watchdog_ms / 1000.0,
    }, 1);
}

bool control_core_restored(ControlCore *core)
{
    if (core->state >= LSCTL_STATE_END || core->error >= LSCTL_ERROR_END ||
        core->heard_ns < 0) {
        return false;
    }
    if (core->state == LSCTL_PUT || core->state == LSCTL_GET) {
        core->state = LSCTL_LOST;
    }
    return true;
}
