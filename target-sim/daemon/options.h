/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of target-sim. Not here: what the values mean.
 * No standard; options follow GNU's long-option style.
 */
#ifndef LOCKSTEP_DAEMON_OPTIONS_H
#define LOCKSTEP_DAEMON_OPTIONS_H

#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/server.h"

enum OptionLimits {
    OPTIONS_PATHS_MAX = 128,
    OPTIONS_NAMESPACES_MAX = 128,
};

typedef enum OptionsAction {
    OPTIONS_SERVE,
    OPTIONS_HELP,
    OPTIONS_VERSION,
} OptionsAction;

typedef struct Options {
    OptionsAction action;
    const char *config_file; /* NULL: the generator */
    const char *ready_file;  /* NULL: none */
    ConfigListen listen;     /* traddr is NULL: what the ports say */
    const char *advertise;   /* NULL: what the ports say */
    LogLevel log_level;
    ServerOptions server;
    bool die_with_parent;
    ConfigGenerator generator;

    /* Used while parsing. */
    const char *generator_flag; /* the first one given */
    unsigned ana[OPTIONS_PATHS_MAX];
    unsigned ana_count;
    char *listen_address;
    char *metrics_address;
    char *why; /* what is allowed, if the table cannot know */
} Options;

/**
 * options_parse - read the command line
 * @options: filled with defaults first; points into @argv; free what it owns
 *           with options_clear() in any case
 * @error: set on failure; domain CONFIG_ERROR: option, value, what is allowed
 *
 * Return: true on success.
 */
bool options_parse(Options *options, int argc, char **argv, GError **error);
void options_clear(Options *options);

/**
 * options_help - the text of --help
 *
 * Return: a new string, freed by g_free().
 */
char *options_help(void);

#endif
