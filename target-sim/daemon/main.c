/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target-sim: from the command line to a running server and back to an exit
 * status. Not here: what each step does. No standard.
 */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/ctl.h"
#include "daemon/log.h"
#include "daemon/options.h"
#include "daemon/ready.h"
#include "daemon/server.h"

enum ExitStatus {
    EXIT_STATUS_DONE = 0,
    EXIT_STATUS_SYSTEM = 1, /* the machine refused something */
    EXIT_STATUS_INPUT = 2,  /* the command line or the configuration is wrong */
};

static enum ExitStatus report(const GError *error)
{
    log_line(LOG_LEVEL_ERROR, "%s", error->message);
    return error->code == CONFIG_ERROR_SYSTEM ? EXIT_STATUS_SYSTEM : EXIT_STATUS_INPUT;
}

/*
 * A file, a socket or the epoll set must never be descriptor 2: messages would go
 * there. open() gives the lowest that is free.
 */
static bool fill_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

/* @parent: who started us, as seen first thing: it may end before prctl(). */
static void die_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        raise(SIGTERM);
    }
}

static Config *configure(const Options *options, GError **error)
{
    g_autoptr(Config) config = options->config_file ? config_load(options->config_file, error)
                                                    : config_generate(&options->generator);

    if (!config ||
        (options->listen.traddr && !config_listen(config, &options->listen, error)) ||
        (options->advertise && !config_advertise(config, options->advertise, error)) ||
        !config_finish(config, error)) {
        return NULL;
    }
    return g_steal_pointer(&config);
}

static enum ExitStatus serve(const Options *options)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = configure(options, &error);
    g_autoptr(Server) server = NULL;
    bool ok;

    if (!config) {
        return report(error);
    }
    if (options->ready_file && !ready_check(options->ready_file, &error)) {
        return report(error);
    }
    server = server_new(config, &options->server, &error);
    if (!server || (options->ready_file && !ready_write(options->ready_file, config, &error))) {
        return report(error);
    }
    ok = server_run(server, &error);
    if (options->ready_file) {
        unlink(options->ready_file);
    }
    return ok ? EXIT_STATUS_DONE : report(error);
}

static enum ExitStatus act(const Options *options)
{
    g_autofree char *help = NULL;

    switch (options->action) {
    case OPTIONS_HELP:
        help = options_help();
        fputs(help, stdout);
        return EXIT_STATUS_DONE;
    case OPTIONS_VERSION:
        puts("target-sim " LOCKSTEP_VERSION);
        return EXIT_STATUS_DONE;
    case OPTIONS_SERVE:
        return serve(options);
    }
    g_assert_not_reached();
}

int main(int argc, char **argv)
{
    pid_t parent = getppid();
    g_autoptr(GError) error = NULL;
    enum ExitStatus status;
    Options options;

    if (!fill_standard_descriptors()) {
        return EXIT_STATUS_SYSTEM;
    }
    setlocale(LC_CTYPE, "C.UTF-8");
    if (argc > 1 && !strcmp(argv[1], "ctl")) {
        return ctl_main(argc - 1, argv + 1);
    }
    if (options_parse(&options, argc, argv, &error)) {
        log_set_level(options.log_level);
        if (options.die_with_parent) {
            die_with_parent(parent);
        }
        status = act(&options);
    } else {
        status = report(error);
    }
    options_clear(&options);
    return (int)status;
}
