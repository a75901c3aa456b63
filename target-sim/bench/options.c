/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of target-bench. Not here: what the values mean.
 * No standard; the names of workloads are fio's.
 */
#include "bench/options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/parse.h"
#include "lockstep/nvme.h"

typedef struct Spec Spec;
typedef bool ReadFn(BenchOptions *options, const Spec *spec, const char *value);

struct Spec {
    const char *name;
    const char *value;   /* placeholder in the help text; NULL: a switch */
    ReadFn *read;
    const char *allowed; /* for the message; NULL: from min and max */
    const char *help;
    size_t offset;
    uint64_t min, max;
};

static void *member(BenchOptions *options, const Spec *spec)
{
    return (char *)options + spec->offset;
}

static bool read_number(BenchOptions *options, const Spec *spec, const char *value)
{
    uint64_t number;

    if (!parse_uint(value, spec->min, spec->max, &number)) {
        return false;
    }
    *(uint32_t *)member(options, spec) = (uint32_t)number;
    return true;
}

static bool read_long(BenchOptions *options, const Spec *spec, const char *value)
{
    return parse_uint(value, spec->min, spec->max, member(options, spec));
}

static bool read_switch(BenchOptions *options, const Spec *spec, const char *value G_GNUC_UNUSED)
{
    *(bool *)member(options, spec) = true;
    return true;
}

static bool read_nqn(BenchOptions *options, const Spec *spec, const char *value)
{
    *(const char **)member(options, spec) = value;
    return value[0] && strlen(value) <= NV_NQN_MAX;
}

static bool read_size(BenchOptions *options, const Spec *spec, const char *value)
{
    return parse_size(value, member(options, spec)) && options->size > 0;
}

static bool read_block_size(BenchOptions *options, const Spec *spec, const char *value)
{
    uint64_t size;

    if (!parse_size(value, &size) || size < spec->min || size > spec->max || size % 512) {
        return false;
    }
    options->block_size = (uint32_t)size;
    return true;
}

static bool read_mix(BenchOptions *options, const Spec *spec, const char *value)
{
    options->has_mix = true;
    return read_number(options, spec, value);
}

enum { MIXED = 101 };

static const struct Workload {
    const char *name;
    uint32_t read_percent;
    bool random;
} workloads[] = {
    {"read", 100, false}, {"write", 0, false}, {"rw", MIXED, false},
    {"randread", 100, true}, {"randwrite", 0, true}, {"randrw", MIXED, true},
};

static bool read_rw(BenchOptions *options, const Spec *spec G_GNUC_UNUSED, const char *value)
{
    for (size_t i = 0; i < G_N_ELEMENTS(workloads); i++) {
        if (!strcmp(workloads[i].name, value)) {
            options->read_percent = workloads[i].read_percent;
            options->random = workloads[i].random;
            options->rw = workloads[i].name;
            return true;
        }
    }
    return false;
}

/* "ADDR:PORT" or "[ADDR6]:PORT". */
static bool read_address(BenchOptions *options, const Spec *spec G_GNUC_UNUSED, const char *value)
{
    const char *colon = strrchr(value, ':');
    bool six = value[0] == '[' && colon && colon > value && colon[-1] == ']';
    uint8_t address[sizeof(struct in6_addr)];
    uint64_t port;

    g_clear_pointer(&options->traddr, g_free);
    if (!colon || !parse_uint(colon + 1, 1, UINT16_MAX, &port)) {
        return false;
    }
    options->trsvcid = (uint32_t)port;
    options->traddr = six ? g_strndup(value + 1, (gsize)(colon - value - 2))
                          : g_strndup(value, (gsize)(colon - value));
    return inet_pton(six ? AF_INET6 : AF_INET, options->traddr, address) == 1;
}

#define FIELD(field) .offset = offsetof(BenchOptions, field)

static const Spec specs[] = {
    {"address", "ADDR:PORT", read_address,
     "a numeric address and a port, ADDR:PORT or [ADDR6]:PORT",
     "where the target listens; must be given", .offset = 0},
    {"nqn", "NQN", read_nqn, "1 to 223 characters",
     "subsystem to connect to (default: the first one that the\n"
     "discovery service at the address knows)", FIELD(nqn)},
    {"hostnqn", "NQN", read_nqn, "1 to 223 characters",
     "who we are (default nqn.2026-01.org.lockstep:target-bench)", FIELD(hostnqn)},
    {"nsid", "N", read_number, NULL, "namespace (default 1)", FIELD(nsid), .min = 1,
     .max = 0xfffffffe},
    {"controllers", "N", read_number, NULL, "controllers to connect (default 1)",
     FIELD(controllers), .min = 1, .max = BENCH_CONTROLLERS_MAX},
    {"queues", "N", read_number, NULL, "I/O queues of each controller (default 1)",
     FIELD(queues), .min = 1, .max = BENCH_QUEUES_MAX},
    {"depth", "N", read_number, NULL, "commands in flight in each queue (default 1)",
     FIELD(depth), .min = 1, .max = BENCH_DEPTH_MAX},
    {"threads", "N", read_number, NULL, "threads that share the queues (default 1)",
     FIELD(threads), .min = 1, .max = BENCH_THREADS_MAX},
    {"block-size", "SIZE", read_block_size, "a multiple of 512 from 512 to 1M",
     "bytes of each command (default 4K)", .min = 512, .max = BENCH_BLOCK_MAX},
    {"rw", "KIND", read_rw, "read, write, rw, randread, randwrite or randrw",
     "sequential or random reads, writes or both (default\n"
     "randread)", .offset = 0},
    {"mix", "PERCENT", read_mix, NULL, "reads among rw and randrw (default 50)", FIELD(mix),
     .min = 0, .max = 100},
    {"size", "SIZE", read_size, "a size over 0 with suffix K, M, G or T, such as 256M",
     "use the first SIZE bytes of the namespace (default all)", FIELD(size)},
    {"runtime", "SECONDS", read_number, NULL, "how long to run (default 5; with --ios no limit)",
     FIELD(runtime), .min = 1, .max = BENCH_SECONDS_MAX},
    {"ios", "N", read_long, NULL, "commands to run, of all queues together (default no limit)",
     FIELD(ios), .min = 1, .max = INT64_MAX},
    {"header-digest", NULL, read_switch, NULL, "ask for header digests", FIELD(header_digest)},
    {"data-digest", NULL, read_switch, NULL, "ask for data digests", FIELD(data_digest)},
    {"no-sq-flow-control", NULL, read_switch, NULL, "ask to do without SQ flow control",
     FIELD(no_sq_flow_control)},
    {"no-inline", NULL, read_switch, NULL, "send no data in capsules: the target asks for them",
     FIELD(no_inline)},
    {"verify", NULL, read_switch, NULL,
     "write all blocks first, check each read, read all at the end",
     FIELD(verify)},
    {"seed", "N", read_long, NULL, "seed of places and kinds (default 1)", FIELD(seed),
     .min = 0, .max = UINT64_MAX},
    {"timeout", "SECONDS", read_number, NULL, "without an answer: give up (default 30)",
     FIELD(timeout), .min = 1, .max = BENCH_SECONDS_MAX},
    {"progress", "SECONDS", read_number, NULL,
     "report on standard error so often, 0 never (default 10)", FIELD(progress), .min = 0,
     .max = BENCH_SECONDS_MAX},
    {"json", NULL, read_switch, NULL, "print JSON instead of a table", FIELD(json)},
    {"help", NULL, read_switch, NULL, "show this text", FIELD(help)},
    {"version", NULL, read_switch, NULL, "show the version", FIELD(version)},
};

static bool fail(char **why, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(char **why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *why = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

static bool read_option(BenchOptions *options, const Spec *spec, const char *value, char **why)
{
    if (spec->read(options, spec, value)) {
        return true;
    }
    if (spec->allowed) {
        return fail(why, "--%s: wrong value \"%s\"; allowed: %s", spec->name, value,
                    spec->allowed);
    }
    return fail(why, "--%s: wrong value \"%s\"; allowed: a number from %" PRIu64 " to %" PRIu64,
                spec->name, value, spec->min, spec->max);
}

/* What one value alone cannot show to be wrong. */
static bool check(BenchOptions *options, char **why)
{
    uint32_t connections = options->controllers * options->queues;

    if (options->help || options->version) {
        return true;
    }
    if (!options->traddr) {
        return fail(why, "--address must be given (see --help)");
    }
    if (connections > BENCH_CONNECTIONS_MAX) {
        return fail(why, "--queues: %u queues of %u controllers are too many; allowed: %d in all",
                    options->queues, options->controllers, BENCH_CONNECTIONS_MAX);
    }
    if (options->threads > connections) {
        return fail(why, "--threads: wrong value %u; allowed: up to one for each of the %u queues",
                    options->threads, connections);
    }
    if (options->read_percent == MIXED) {
        options->has_mix = true;
        options->read_percent = options->mix;
    } else if (options->has_mix) {
        return fail(why, "--mix: only with --rw rw or randrw");
    }
    if (!options->runtime && !options->ios) {
        options->runtime = 5;
    }
    return true;
}

bool bench_options_parse(BenchOptions *options, int argc, char **argv, char **why)
{
    struct option table[G_N_ELEMENTS(specs) + 1] = {{0}};
    int index, code;

    *options = (BenchOptions){
        .hostnqn = "nqn.2026-01.org.lockstep:target-bench",
        .nsid = 1, .controllers = 1, .queues = 1, .depth = 1, .threads = 1,
        .block_size = 4096, .rw = "randread", .random = true, .read_percent = 100, .mix = 50,
        .seed = 1, .timeout = 30, .progress = 10,
    };
    for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
        table[i] = (struct option){
            .name = specs[i].name,
            .has_arg = specs[i].value ? required_argument : no_argument,
        };
    }
    opterr = 0;
    optind = 0;
    while ((code = getopt_long(argc, argv, "+:", table, &index)) != -1) {
        if (code == ':') {
            return fail(why, "%s: needs a value (see --help)", argv[optind - 1]);
        }
        if (code != 0) {
            return fail(why, "%s: unknown option or unexpected value (see --help)",
                        argv[optind - 1]);
        }
        if (!read_option(options, &specs[index], optarg, why)) {
            return false;
        }
    }
    if (optind < argc) {
        return fail(why, "\"%s\": unexpected argument; allowed: options only (see --help)",
                    argv[optind]);
    }
    return check(options, why);
}

void bench_options_clear(BenchOptions *options)
{
    g_clear_pointer(&options->traddr, g_free);
}

static void append_option(GString *text, const Spec *spec)
{
    enum { HELP_COLUMN = 25 };
    g_auto(GStrv) lines = g_strsplit(spec->help, "\n", -1);
    g_autofree char *left = g_strdup_printf("  --%s%s%s", spec->name, spec->value ? " " : "",
                                            spec->value ? spec->value : "");

    for (char **line = lines; *line; line++) {
        g_string_append_printf(text, "%-*s%s\n", HELP_COLUMN, line == lines ? left : "", *line);
    }
}

char *bench_options_help(void)
{
    GString *text = g_string_new(
        "Usage: target-bench --address ADDR:PORT [OPTION]...\n"
        "\n"
        "Connects to an NVMe/TCP target, keeps queues full and says how fast it was.\n"
        "\n");

    for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
        append_option(text, &specs[i]);
    }
    g_string_append(text,
        "\n"
        "Examples:\n"
        "  target-bench --address 127.0.0.1:4420 --depth 32 --queues 4\n"
        "  target-bench --address 127.0.0.1:4420 --rw randrw --mix 70 --runtime 60 --json\n"
        "  target-bench --address 127.0.0.1:4420 --rw randrw --verify --ios 1000000 --size 64M\n"
        "\n"
        "Exit status: 0 after a complete run without errors, 1 when something failed (target\n"
        "gone, command refused, wrong data), 2 when the command line is wrong, 130 after ^C.\n");
    return g_string_free(text, FALSE);
}
