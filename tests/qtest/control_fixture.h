/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: a machine with a run-control device, its directories, and short ways to use it.
 * Not here: the tests (test_control_*.c), the qtest protocol (qtest.h).
 * Standard: include/lockstep/control_regs.h.
 */
#ifndef LOCKSTEP_CONTROL_FIXTURE_H
#define LOCKSTEP_CONTROL_FIXTURE_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

#include "lockstep/control_regs.h"
#include "qtest.h"

/* Where the tests put the BARs. */
#define CONTROL_REGISTERS 0xe0000000u
#define CONTROL_WINDOW    0xe0100000u

typedef struct Control {
    Qtest *qtest;
    char *top; /* holds the two below */
    char *in;
    char *out;
} Control;

typedef struct ControlSetup {
    const char *options;   /* of the device, with a comma in front; NULL: none */
    bool no_in, no_out;    /* leave the directory out of the options */
    uint64_t file_limit;   /* as in QtestSetup */
    const char *const *arguments; /* of QEMU, NULL at the end; NULL: none */
    const char *top;       /* use the directories of an earlier machine; NULL: new ones */
} ControlSetup;

/* Start a machine and map its device; setup may be NULL. */
Control *control_start(const ControlSetup *setup);

/* As control_start(), but QEMU may refuse the setup: nothing is mapped. */
Control *control_spawn(const ControlSetup *setup);

/* Stop the machine and remove the directories. */
void control_stop(Control *control);

/* Stop the machine; returns the directories for another ControlSetup.top. */
char *control_stop_keeping(Control *control);

/* Give the device addresses, as firmware does. */
void control_map(Control *control);

uint32_t control_read(Control *control, uint32_t offset);
void control_write(Control *control, uint32_t offset, uint32_t value);

/* Carry out a command with this LENGTH; returns ERROR. */
uint32_t control_command(Control *control, uint32_t command, uint32_t length);

/* The same with size bytes in the window, or with a name. */
uint32_t control_command_data(Control *control, uint32_t command, const void *data, size_t size);
uint32_t control_command_name(Control *control, uint32_t command, const char *name);

/* A whole put; returns the first ERROR that is not OK. */
uint32_t control_put(Control *control, const char *name, const void *data, size_t size);

/* Reads from an open file, at most room bytes at once, until its end. */
GByteArray *control_get_all(Control *control, uint32_t room);

/* Make a file in the directory in, or look at one in out (NULL: it is not there). */
void control_make_file(Control *control, const char *name, const void *data, size_t size);
GBytes *control_out_file(Control *control, const char *name);

/* The number of entries in out besides the events, hidden ones as well. */
unsigned control_count_out(Control *control);

/* The events noted so far; every line is checked to be one JSON object. */
GPtrArray *control_events(Control *control);

/* The event at this index (negative: from the end) as an object of events. */
JsonObject *control_event(GPtrArray *events, int index);

/* Every member of an event, as its name and JSON text, "event=\"mark\" ...". */
void control_assert_event(JsonObject *event, const char *expected);

#endif /* LOCKSTEP_CONTROL_FIXTURE_H */
