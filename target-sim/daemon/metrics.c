/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --metrics: a page for Prometheus, by a minimum of HTTP/1.1.
 * Not here: connections (service.c), the numbers (engine/stats.c). RFC 9112; Prometheus text
 * exposition format 0.0.4.
 */
#include "daemon/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/crew.h"
#include "daemon/gather.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "daemon/report.h"
#include "daemon/service.h"
#include "engine/stats.h"

/* ---- The page */

static void metric(GString *text, const char *name, const char *type, const char *help)
{
    g_string_append_printf(text, "# HELP target_sim_%s %s\n# TYPE target_sim_%s %s\n", name, help,
                           name, type);
}

static void single(GString *text, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    metric(text, name, type, help);
    g_string_append_printf(text, "target_sim_%s %" PRIu64 "\n", name, value);
}

/* ns as seconds, exactly. */
static void append_seconds(GString *text, uint64_t ns)
{
    g_string_append_printf(text, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* A family of metrics is written in one go, so the commands are listed once for each. */
typedef struct Family {
    GString *text;
    const char *name;
    size_t offset; /* of the counter in struct lst_command_stats */
} Family;

static void append_labels(GString *text, const struct lst_command_stats *stats)
{
    g_autofree char *opcode = report_opcode(stats);

    g_string_append_printf(text, "queue=\"%s\",opcode=\"%s\"", report_kind(stats->kind), opcode);
}

static void counter_line(void *opaque, const struct lst_command_stats *stats)
{
    const Family *family = opaque;

    g_string_append_printf(family->text, "target_sim_%s{", family->name);
    append_labels(family->text, stats);
    g_string_append_printf(family->text, "} %" PRIu64 "\n",
                           *(const uint64_t *)((const char *)stats + family->offset));
}

/* Powers of two from 1 us to 16 s. */
enum { FIRST_BITS = 10, LAST_BITS = 34 };

static void histogram_lines(void *opaque, const struct lst_command_stats *stats)
{
    GString *text = ((const Family *)opaque)->text;
    unsigned bits = FIRST_BITS;
    uint64_t count = 0;

    for (unsigned i = 0; i < LST_HISTOGRAM_BUCKETS; i++) {
        count += stats->buckets[i];
        if (bits <= LAST_BITS && lst_histogram_limit(i) == (1ull << bits) - 1) {
            g_string_append(text, "target_sim_command_duration_seconds_bucket{");
            append_labels(text, stats);
            g_string_append(text, ",le=\"");
            append_seconds(text, lst_histogram_limit(i));
            g_string_append_printf(text, "\"} %" PRIu64 "\n", count);
            bits++;
        }
    }
    g_string_append(text, "target_sim_command_duration_seconds_bucket{");
    append_labels(text, stats);
    g_string_append_printf(text, ",le=\"+Inf\"} %" PRIu64 "\n", count);
    g_string_append(text, "target_sim_command_duration_seconds_sum{");
    append_labels(text, stats);
    g_string_append(text, "} ");
    append_seconds(text, stats->time_ns);
    g_string_append(text, "\ntarget_sim_command_duration_seconds_count{");
    append_labels(text, stats);
    g_string_append_printf(text, "} %" PRIu64 "\n", count);
}

static void command_families(Server *server, GString *text)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } counters[] = {
        {"commands_total", "Commands completed.", offsetof(struct lst_command_stats, count)},
        {"command_errors_total", "Of these, with a status other than 0.",
         offsetof(struct lst_command_stats, errors)},
        {"command_bytes_total", "Data of commands without an error.",
         offsetof(struct lst_command_stats, bytes)},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
        Family family = {text, counters[i].name, counters[i].offset};

        metric(text, counters[i].name, "counter", counters[i].help);
        gather_commands(server, counter_line, &family);
    }
    metric(text, "command_duration_seconds", "histogram",
           "Time from a command's arrival to its completion.");
    gather_commands(server, histogram_lines, &(Family){text, NULL, 0});
}

static void add_memory(void *opaque, const struct lst_conn_stats *stats)
{
    *(uint64_t *)opaque += stats->memory;
}

void report_metrics(Server *server, GString *text)
{
    struct lst_target_stats stats;
    uint64_t memory = 0;

    gather_stats(server, &stats);
    gather_connections(server, add_memory, &memory);
    single(text, "connections", "gauge", "Connections open now.", stats.conns);
    single(text, "controllers", "gauge", "Controllers now.", stats.ctrls);
    single(text, "connections_opened_total", "counter", "Connections accepted.",
           stats.conns_opened);
    single(text, "connections_terminated_total", "counter", "Connections ended by a C2HTermReq.",
           stats.conns_terminated);
    single(text, "controllers_created_total", "counter", "Controllers made by Connect.",
           stats.ctrls_created);
    single(text, "keep_alive_expired_total", "counter", "Controllers whose keep-alive ran out.",
           stats.kato_expired);
    single(text, "connection_memory_bytes", "gauge", "Memory held for connections now.", memory);
    single(text, "pool_memory_bytes", "gauge", "Memory of data buffers kept for reuse.",
           stats.pool_bytes);
    command_families(server, text);
}

/* ---- HTTP */

static void respond(GString *reply, const char *status, const char *more, const char *type,
                    const GString *body)
{
    g_string_append_printf(reply,
                           "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
                           "Connection: close\r\n\r\n",
                           status, type, body->len, more);
    g_string_append_len(reply, body->str, (gssize)body->len);
}

static void respond_error(GString *reply, const char *status, const char *more)
{
    g_autoptr(GString) body = g_string_new(status);

    g_string_append_c(body, '\n');
    respond(reply, status, more, "text/plain", body);
}

bool metrics_answer(Server *server, const char *request, size_t length G_GNUC_UNUSED,
                    GString *reply)
{
    g_auto(GStrv) lines = g_strsplit(request, "\r\n", 2);
    g_auto(GStrv) words = g_strsplit(lines[0] ? lines[0] : "", " ", -1);

    if (g_strv_length(words) != 3 || !g_str_has_prefix(words[2], "HTTP/1.")) {
        respond_error(reply, "400 Bad Request", "");
    } else if (strcmp(words[0], "GET")) {
        respond_error(reply, "405 Method Not Allowed", "Allow: GET\r\n");
    } else if (strcmp(words[1], "/metrics")) {
        respond_error(reply, "404 Not Found", "");
    } else {
        g_autoptr(GString) page = g_string_new(NULL);

        crew_pause(server);
        report_metrics(server, page);
        crew_resume(server);
        respond(reply, "200 OK", "", "text/plain; version=0.0.4; charset=utf-8", page);
    }
    return false;
}

static void too_long(GString *reply)
{
    respond_error(reply, "431 Request Header Fields Too Large", "");
}

static const ServiceRules rules = {
    .what = "--metrics",
    .end = "\r\n\r\n",
    .request_max = METRICS_REQUEST_MAX,
    .patience_ms = METRICS_PATIENCE_MS,
    .answer = metrics_answer,
    .too_long = too_long,
};

Service *metrics_new(Server *server, const ConfigListen *listen, GError **error)
{
    uint32_t port = listen->trsvcid;
    bool ipv6 = listen->adrfam == CONFIG_ADRFAM_IPV6;
    g_autofree char *address = g_strdup_printf("%s%s%s", ipv6 ? "[" : "", listen->traddr,
                                               ipv6 ? "]" : "");
    int fd = listener_socket(listen->adrfam, listen->traddr, &port, "--metrics", error);

    if (fd < 0) {
        return NULL;
    }
    log_line(LOG_LEVEL_INFO, "metrics on http://%s:%u/metrics", address, port);
    return service_new(server, &rules, fd, error);
}
