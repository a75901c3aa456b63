/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of target-sim. Not here: what the values mean.
 * No standard; options follow GNU's long-option style.
 */
#include "daemon/options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/crew.h"

typedef struct OptionSpec OptionSpec;

/* Reads one value; false if it is not one of spec->allowed. */
typedef bool OptionRead(Options *options, const OptionSpec *spec, const char *value);

struct OptionSpec {
    const char *name;
    const char *value;   /* placeholder in the help text; NULL: a switch */
    OptionRead *read;
    const char *allowed; /* for the error message; NULL: from min and max */
    const char *help;    /* lines separated by newlines */
    size_t offset;       /* of a uint32_t or a const char * in Options */
    uint64_t min, max;
    bool generator;      /* describes what to serve: excludes --config */
};

static bool read_number(Options *options, const OptionSpec *spec, const char *value)
{
    uint64_t number;

    if (!parse_uint(value, spec->min, spec->max, &number)) {
        return false;
    }
    *(uint32_t *)((char *)options + spec->offset) = (uint32_t)number;
    return true;
}

static bool read_text(Options *options, const OptionSpec *spec, const char *value)
{
    *(const char **)((char *)options + spec->offset) = value;
    return value[0] != '\0';
}

static bool read_size(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    return parse_size(value, &options->generator.device.size) &&
           options->generator.device.size > 0;
}

static bool read_memory(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    return parse_size(value, &options->server.memory_max);
}

static bool read_block_size(Options *options, const OptionSpec *spec G_GNUC_UNUSED,
                            const char *value)
{
    uint64_t size;

    if (!parse_size(value, &size) ||
        (size != CONFIG_BLOCK_SIZE_MIN && size != CONFIG_BLOCK_SIZE_MAX)) {
        return false;
    }
    options->generator.device.block_size = (uint32_t)size;
    return true;
}

static bool read_backend(Options *options, const OptionSpec *spec G_GNUC_UNUSED,
                         const char *value)
{
    static const ParseName names[] = {
        {"ram", CONFIG_BACKEND_RAM},
        {"null", CONFIG_BACKEND_NULL},
        {NULL, 0},
    };
    ConfigDevice *device = &options->generator.device;
    unsigned backend = CONFIG_BACKEND_FILE;

    g_clear_pointer(&device->path, g_free);
    if (g_str_has_prefix(value, "file:") && value[strlen("file:")]) {
        device->path = g_strdup(value + strlen("file:"));
    } else if (!parse_name(names, value, &backend)) {
        return false;
    }
    device->backend = (ConfigBackend)backend;
    return true;
}

static bool address_of(const char *text, unsigned *adrfam)
{
    uint8_t address[sizeof(struct in6_addr)];

    *adrfam = strchr(text, ':') ? CONFIG_ADRFAM_IPV6 : CONFIG_ADRFAM_IPV4;
    return inet_pton(*adrfam == CONFIG_ADRFAM_IPV6 ? AF_INET6 : AF_INET, text, address) == 1;
}

/* "ADDR", "ADDR:PORT", "[ADDR6]:PORT" or "[ADDR6]"; @address holds the text that is pointed to. */
static bool parse_listen(const char *value, ConfigListen *listen, char **address)
{
    const char *port = NULL;
    uint64_t number = 0;

    g_clear_pointer(address, g_free);
    if (value[0] == '[') {
        const char *end = strchr(value, ']');
        if (!end || (end[1] && end[1] != ':')) {
            return false;
        }
        *address = g_strndup(value + 1, (gsize)(end - value - 1));
        port = end[1] ? end + 2 : NULL;
    } else {
        const char *colon = strchr(value, ':');
        bool one_colon = colon && !strchr(colon + 1, ':');

        *address = one_colon ? g_strndup(value, (gsize)(colon - value)) : g_strdup(value);
        port = one_colon ? colon + 1 : NULL;
    }
    listen->traddr = *address;
    listen->has_port = port;
    if (!address_of(*address, &listen->adrfam) ||
        (port && !parse_uint(port, 0, UINT16_MAX, &number))) {
        return false;
    }
    listen->trsvcid = (uint32_t)number;
    return true;
}

static bool read_listen(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    return parse_listen(value, &options->listen, &options->listen_address);
}

static bool read_metrics(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    return parse_listen(value, &options->server.metrics, &options->metrics_address) &&
           options->server.metrics.has_port;
}

static bool read_advertise(Options *options, const OptionSpec *spec G_GNUC_UNUSED,
                           const char *value)
{
    unsigned adrfam;

    options->advertise = value;
    return address_of(value, &adrfam);
}

static bool read_inline(Options *options, const OptionSpec *spec, const char *value)
{
    return read_number(options, spec, value) &&
           options->generator.inline_data_size % CONFIG_INLINE_UNIT == 0;
}

static bool read_ana(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    g_auto(GStrv) states = g_strsplit(value, ",", -1);

    options->ana_count = 0;
    for (char **state = states; *state; state++) {
        if (options->ana_count == OPTIONS_PATHS_MAX ||
            !parse_name(config_ana_states, *state, &options->ana[options->ana_count++])) {
            return false;
        }
    }
    return options->ana_count > 0;
}

static bool read_media(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    return media_config_parse(value, &options->generator.media, &options->why);
}

static bool read_zoned(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    return zone_config_parse(value, &options->generator.zoned, &options->why);
}

static bool read_log(Options *options, const OptionSpec *spec G_GNUC_UNUSED, const char *value)
{
    unsigned level;

    if (!parse_name(log_level_names, value, &level)) {
        return false;
    }
    options->log_level = (LogLevel)level;
    return true;
}

static bool read_seed(Options *options, const OptionSpec *spec, const char *value)
{
    return parse_uint(value, spec->min, spec->max, &options->server.seed);
}

static bool read_die_with_parent(Options *options, const OptionSpec *spec G_GNUC_UNUSED,
                                 const char *value G_GNUC_UNUSED)
{
    options->die_with_parent = true;
    return true;
}

static bool read_action(Options *options, const OptionSpec *spec, const char *value G_GNUC_UNUSED)
{
    options->action = (OptionsAction)spec->min;
    return true;
}

#define FIELD(field) .offset = offsetof(Options, field)

static const OptionSpec specs[] = {
    {"config", "FILE", read_text, "a file name",
     "serve what FILE says: JSON as `nvmetcli save` writes it\n(docs/target-sim.md lists the keys)",
     FIELD(config_file)},
    {"subsystems", "N", read_number, NULL, "NVM subsystems (default 1)",
     FIELD(generator.subsystems), .min = 1, .max = LST_SUBSYS_MAX, .generator = true},
    {"paths", "N", read_number, NULL,
     "ports, each of which serves every subsystem (default 1)",
     FIELD(generator.paths), .min = 1, .max = OPTIONS_PATHS_MAX, .generator = true},
    {"namespaces", "N", read_number, NULL, "namespaces of each subsystem (default 1)",
     FIELD(generator.namespaces), .min = 1, .max = OPTIONS_NAMESPACES_MAX, .generator = true},
    {"size", "SIZE", read_size, "a size over 0 with suffix K, M, G or T, such as 256M",
     "size of each namespace (default 256M)", .generator = true},
    {"block-size", "BYTES", read_block_size, "512 or 4096", "logical block size (default 512)",
     .generator = true},
    {"backend", "KIND", read_backend, "ram, null or file:DIR",
     "ram: memory, zero at first (default)\n"
     "null: reads give zeros, writes are dropped\n"
     "file:DIR: one file per namespace in DIR, kept over restarts", .generator = true},
    {"media", "PRESET[,KEY=VALUE...]", read_media, NULL,
     "how long the drive under each namespace takes: null (no\n"
     "longer than it does, default), ram, p3700, tlc, optane\n"
     "(docs/media.md lists the keys)", .generator = true},
    {"zoned", "size=SIZE[,KEY=VALUE...]", read_zoned, NULL,
     "make the namespaces zoned: size=, capacity=, max_open=,\n"
     "max_active=, extension= (docs/zoned.md; default none)", .generator = true},
    {"inline-data-size", "BYTES", read_inline, "a multiple of 16 from 0 to 65536",
     "in-capsule data of I/O commands (default 16384)",
     FIELD(generator.inline_data_size), .min = 0, .max = LST_INLINE_MAX,
     .generator = true},
    {"max-queue-size", "N", read_number, NULL, "entries of a queue (default 128)",
     FIELD(generator.max_queue_size), .min = LST_QUEUE_SIZE_MIN, .max = LST_QUEUE_SIZE_MAX,
     .generator = true},
    {"max-queues", "N", read_number, NULL, "I/O queues of each controller (default 128)",
     FIELD(generator.qid_max), .min = 1, .max = LST_QID_MAX, .generator = true},
    {"resv-enable", "N", read_number, NULL, "1: namespaces have reservations (default 0)",
     FIELD(generator.resv_enable), .min = 0, .max = 1, .generator = true},
    {"ana", "STATE[,STATE...]", read_ana,
     "optimized, non-optimized, inaccessible, persistent-loss or change; one for all paths, "
     "or one per path separated by commas",
     "ANA state of each path, or one for all (default optimized)", .generator = true},
    {"listen", "ADDR[:PORT]", read_listen,
     "a numeric address, ADDR, ADDR:PORT, [ADDR6] or [ADDR6]:PORT, PORT from 0 to 65535",
     "where all paths listen (generated: 127.0.0.1:0; file: what\n"
     "it says); the second path takes PORT + 1 and so on, with\n"
     "PORT 0 each takes any free one", .generator = false},
    {"advertise", "ADDR", read_advertise, "a numeric IPv4 or IPv6 address",
     "address that discovery reports instead of those that\n"
     "ports listen on (unless a port in FILE has its own)", .generator = false},
    {"ready-file", "PATH", read_text, "a file name",
     "write PATH when all ports listen, remove it at the end:\n"
     "JSON with pid, ports and namespaces", FIELD(ready_file)},
    {"control", "PATH", read_text, "a file name",
     "listen for `target-sim ctl` at PATH\n(docs/target-control.md)", FIELD(server.control)},
    {"metrics", "ADDR:PORT", read_metrics,
     "a numeric address and a port from 0 to 65535, ADDR:PORT or [ADDR6]:PORT",
     "serve http://ADDR:PORT/metrics to Prometheus; PORT 0 takes\n"
     "any free one, which a message tells", .generator = false},
    {"pcap", "DIR", read_text, "a folder",
     "capture each connection into DIR/PID-ID.pcap", FIELD(server.pcap)},
    {"state", "DIR", read_text, "a folder",
     "keep in DIR what namespaces must not forget over a restart,\n"
     "such as reservations", FIELD(server.state)},
    {"max-connections", "N", read_number, NULL,
     "connections at once; more are closed (default 0: no limit)",
     FIELD(server.connections_max), .min = 0, .max = UINT32_MAX},
    {"max-memory", "SIZE", read_memory, "a size with suffix K, M, G or T, or 0 for no limit",
     "data buffers of all connections; at the limit each has\n"
     "one transfer at a time (default 0: no limit)", .generator = false},
    {"threads", "N", read_number, NULL,
     "that serve; each subsystem belongs to one of them (default 1)",
     FIELD(server.threads), .min = 1, .max = CREW_THREADS_MAX},
    {"handshake-time", "SECONDS", read_number, NULL,
     "from a connection's begin to its Connect (default 30)",
     FIELD(server.handshake_s), .min = 1, .max = LST_HANDSHAKE_MAX_S},
    {"idle-time", "SECONDS", read_number, NULL,
     "without a command, for controllers without a keep-alive\n"
     "timer (default 0: any time)", FIELD(server.idle_s), .min = 0, .max = LST_IDLE_MAX_S},
    {"drain-time", "SECONDS", read_number, NULL,
     "for commands under way to end after SIGTERM (default 1)",
     FIELD(server.drain_s), .min = 0, .max = SERVER_DRAIN_MAX_S},
    {"seed", "N", read_seed, NULL, "seed of everything that is chosen at random (default 1)",
     .min = 0, .max = UINT64_MAX},
    {"log", "LEVEL", read_log, "error, warn, info or trace",
     "what to report on standard error (default info)", .generator = false},
    {"die-with-parent", NULL, read_die_with_parent, NULL,
     "end when the process that started target-sim ends", .generator = false},
    {"help", NULL, read_action, NULL, "show this text", .min = OPTIONS_HELP},
    {"version", NULL, read_action, NULL, "show the version", .min = OPTIONS_VERSION},
};

static void options_init(Options *options)
{
    *options = (Options){
        .action = OPTIONS_SERVE,
        .log_level = LOG_LEVEL_INFO,
        .server = {.seed = 1, .threads = 1, .drain_s = 1, .handshake_s = LST_HANDSHAKE_S},
        .generator = {
            .subsystems = 1,
            .paths = 1,
            .namespaces = 1,
            .device = {CONFIG_BACKEND_RAM, NULL, 256 << 20, 512},
            .inline_data_size = LST_INLINE_DEFAULT,
            .max_queue_size = LST_QUEUE_SIZE_DEFAULT,
            .qid_max = LST_QID_DEFAULT,
        },
    };
}

void options_clear(Options *options)
{
    config_device_clear(&options->generator.device);
    g_clear_pointer(&options->listen_address, g_free);
    g_clear_pointer(&options->metrics_address, g_free);
    g_clear_pointer(&options->why, g_free);
}

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(GError **error, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, text);
    return false;
}

static bool read_option(Options *options, const OptionSpec *spec, const char *value,
                        GError **error)
{
    if (spec->generator && !options->generator_flag) {
        options->generator_flag = spec->name;
    }
    if (spec->read(options, spec, value)) {
        return true;
    }
    if (spec->allowed || options->why) {
        return fail(error, "--%s: wrong value \"%s\"; allowed: %s", spec->name, value,
                    spec->allowed ? spec->allowed : options->why);
    }
    return fail(error, "--%s: wrong value \"%s\"; allowed: a number from %" PRIu64 " to %" PRIu64,
                spec->name, value, spec->min, spec->max);
}

/* What one value alone cannot show to be wrong. */
static bool check_generator(Options *options, GError **error)
{
    ConfigGenerator *generator = &options->generator;

    if (generator->device.size % generator->device.block_size) {
        return fail(error, "--size: wrong value %" PRIu64 "; allowed: a multiple of the block "
                    "size %u", generator->device.size, generator->device.block_size);
    }
    if (options->ana_count > 1 && options->ana_count != generator->paths) {
        return fail(error, "--ana: %u states given; allowed: one for all paths or one for each "
                    "of the %u paths", options->ana_count, generator->paths);
    }
    for (unsigned i = options->ana_count; i < OPTIONS_PATHS_MAX; i++) {
        options->ana[i] = options->ana_count ? options->ana[0] : config_ana_states[0].value;
    }
    generator->ana = options->ana;
    return true;
}

static bool check(Options *options, GError **error)
{
    if (options->action != OPTIONS_SERVE) {
        return true;
    }
    if (options->config_file && options->generator_flag) {
        return fail(error, "--config and --%s exclude each other; allowed: either a file or the "
                    "flags that generate a configuration", options->generator_flag);
    }
    if (!options->config_file && !options->generator_flag) {
        return fail(error, "nothing to serve; give --config FILE, or flags such as --subsystems 1 "
                    "(see --help)");
    }
    return options->config_file || check_generator(options, error);
}

bool options_parse(Options *options, int argc, char **argv, GError **error)
{
    struct option table[G_N_ELEMENTS(specs) + 1] = {{0}};
    int index, code;

    options_init(options);
    for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
        table[i] = (struct option){
            .name = specs[i].name,
            .has_arg = specs[i].value ? required_argument : no_argument,
        };
    }
    opterr = 0;
    while ((code = getopt_long(argc, argv, "+:", table, &index)) != -1) {
        if (code == ':') {
            return fail(error, "%s: needs a value (see --help)", argv[optind - 1]);
        }
        if (code != 0) {
            return fail(error, "%s: unknown option or unexpected value (see --help)",
                        argv[optind - 1]);
        }
        if (!read_option(options, &specs[index], optarg, error)) {
            return false;
        }
    }
    if (optind < argc) {
        return fail(error, "\"%s\": unexpected argument; allowed: options only (see --help)",
                    argv[optind]);
    }
    return check(options, error);
}

static void append_option(GString *text, const OptionSpec *spec)
{
    enum { HELP_COLUMN = 30 };
    g_auto(GStrv) lines = g_strsplit(spec->help, "\n", -1);
    g_autofree char *left = g_strdup_printf("  --%s%s%s", spec->name, spec->value ? " " : "",
                                            spec->value ? spec->value : "");

    if (strlen(left) >= HELP_COLUMN) {
        g_string_append_printf(text, "%s\n", left);
        left[0] = '\0';
    }
    for (char **line = lines; *line; line++) {
        g_string_append_printf(text, "%-*s%s\n", HELP_COLUMN, line == lines ? left : "", *line);
    }
}

char *options_help(void)
{
    GString *text = g_string_new(
        "Usage: target-sim --config FILE [OPTION]...\n"
        "       target-sim --subsystems N [--paths N] [--namespaces N] [OPTION]...\n"
        "       target-sim ctl --help\n"
        "\n"
        "Serves NVMe over TCP from memory, from files or from nothing, as a Linux host\n"
        "and nvme-cli expect it. Each port serves the discovery subsystem as well.\n"
        "\n"
        "What to serve, from a file:\n");

    for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
        if (i > 0 && specs[i].generator && !specs[i - 1].generator) {
            g_string_append(text, "\nWhat to serve, generated (not together with --config):\n");
        }
        if (i > 0 && !specs[i].generator && specs[i - 1].generator) {
            g_string_append(text, "\nOther options:\n");
        }
        append_option(text, &specs[i]);
    }
    g_string_append(text,
        "\n"
        "Examples:\n"
        "  target-sim --subsystems 4 --paths 2 --size 256M --ready-file /tmp/target.json\n"
        "  target-sim --subsystems 1 --backend file:/var/tmp --size 1G --listen 0.0.0.0:4420\n"
        "  target-sim --subsystems 1 --paths 2 --ana optimized,inaccessible\n"
        "  target-sim --config nvmet.json --log trace\n"
        "then on a host:\n"
        "  nvme discover -t tcp -a 127.0.0.1 -s PORT\n"
        "  nvme connect -t tcp -a 127.0.0.1 -s PORT -n nqn.2026-01.org.lockstep:subsystem1\n"
        "\n"
        "Exit status: 0 after SIGTERM or SIGINT, 1 when the machine refuses something (port\n"
        "in use, disk full, file that cannot be opened), 2 when the command line or the\n"
        "configuration is wrong.\n");
    return g_string_free(text, FALSE);
}
