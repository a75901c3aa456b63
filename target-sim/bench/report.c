/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What target-bench found out, as a table or as JSON. Not here: finding it out. No standard.
 */
#include "bench/report.h"

#include <inttypes.h>
#include <json-glib/json-glib.h>

static const struct Quantile {
    const char *name;
    uint32_t ppm;
} quantiles[] = {
    {"p50", 500000}, {"p90", 900000}, {"p99", 990000}, {"p99.9", 999000}, {"p99.99", 999900},
    {"p99.999", 999990},
};

void report_add(Report *report, const Worker *worker)
{
    histogram_merge(&report->reads.latency, &worker->reads.latency);
    histogram_merge(&report->writes.latency, &worker->writes.latency);
    report->reads.bytes += worker->reads.bytes;
    report->writes.bytes += worker->writes.bytes;
    report->elapsed_ns = MAX(report->elapsed_ns, worker->phase_ns[PHASE_RUN]);
    for (Phase phase = 0; phase < PHASES; phase++) {
        report->phase_done[phase] += worker->phase_done[phase];
    }
    report->errors += worker->errors;
    report->mismatches += worker->mismatches;
    if (!report->complaint) {
        report->complaint = worker->complaint;
    }
}

/* @count in so many ns, as a number per second. */
static double per_second(uint64_t count, uint64_t elapsed_ns)
{
    return elapsed_ns ? (double)count * 1e9 / (double)elapsed_ns : 0;
}

/* ---- JSON */

static void add_number(JsonBuilder *builder, const char *name, uint64_t value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_int_value(builder, (gint64)value);
}

static void add_string(JsonBuilder *builder, const char *name, const char *value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_string_value(builder, value);
}

static void add_bool(JsonBuilder *builder, const char *name, bool value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_boolean_value(builder, value);
}

static void add_rate(JsonBuilder *builder, const char *name, uint64_t count, uint64_t elapsed_ns)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_double_value(builder, per_second(count, elapsed_ns));
}

static void begin(JsonBuilder *builder, const char *name)
{
    json_builder_set_member_name(builder, name);
    json_builder_begin_object(builder);
}

static void add_tally(JsonBuilder *builder, const char *name, const Tally *tally,
                      uint64_t elapsed_ns)
{
    const Histogram *latency = &tally->latency;

    begin(builder, name);
    add_number(builder, "ios", latency->count);
    add_number(builder, "bytes", tally->bytes);
    add_rate(builder, "iops", latency->count, elapsed_ns);
    add_rate(builder, "bytes_per_second", tally->bytes, elapsed_ns);
    begin(builder, "latency_ns");
    add_number(builder, "min", latency->min);
    add_number(builder, "mean", latency->count ? latency->sum / latency->count : 0);
    add_number(builder, "max", latency->max);
    for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        add_number(builder, quantiles[i].name, histogram_quantile(latency, quantiles[i].ppm));
    }
    json_builder_end_object(builder);
    json_builder_end_object(builder);
}

static void add_options(JsonBuilder *builder, const Report *report)
{
    const BenchOptions *options = report->options;
    g_autofree char *seed = g_strdup_printf("%" PRIu64, options->seed);

    begin(builder, "target");
    add_string(builder, "traddr", report->place->traddr);
    add_number(builder, "trsvcid", report->place->trsvcid);
    add_string(builder, "nqn", report->place->nqn);
    add_number(builder, "nsid", options->nsid);
    json_builder_end_object(builder);
    begin(builder, "options");
    add_string(builder, "rw", options->rw);
    add_number(builder, "read_percent", options->read_percent);
    add_number(builder, "block_size", options->block_size);
    add_number(builder, "controllers", options->controllers);
    add_number(builder, "queues", options->queues);
    add_number(builder, "depth", options->depth);
    add_number(builder, "threads", options->threads);
    add_bool(builder, "header_digest", options->header_digest);
    add_bool(builder, "data_digest", options->data_digest);
    add_bool(builder, "sq_flow_control", !options->no_sq_flow_control);
    add_bool(builder, "verify", options->verify);
    /* A string: JSON numbers end before 2^64. */
    add_string(builder, "seed", seed);
    json_builder_end_object(builder);
}

static char *json_text(const Report *report)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    g_autoptr(JsonNode) root = NULL;
    g_autofree char *text = NULL;
    uint64_t ios = report->reads.latency.count + report->writes.latency.count;
    uint64_t bytes = report->reads.bytes + report->writes.bytes;

    json_builder_begin_object(builder);
    add_options(builder, report);
    add_number(builder, "elapsed_ns", report->elapsed_ns);
    add_number(builder, "ios", ios);
    add_rate(builder, "iops", ios, report->elapsed_ns);
    add_rate(builder, "bytes_per_second", bytes, report->elapsed_ns);
    add_tally(builder, "read", &report->reads, report->elapsed_ns);
    add_tally(builder, "write", &report->writes, report->elapsed_ns);
    add_number(builder, "errors", report->errors);
    add_number(builder, "mismatches", report->mismatches);
    add_string(builder, "complaint", report->complaint ? report->complaint : "");
    add_number(builder, "verify_written", report->phase_done[PHASE_FILL]);
    add_number(builder, "verify_read", report->phase_done[PHASE_CHECK]);
    add_bool(builder, "interrupted", report->interrupted);
    json_builder_end_object(builder);
    root = json_builder_get_root(builder);
    text = json_to_string(root, TRUE);
    return g_strconcat(text, "\n", NULL);
}

/* ---- Table */

static void append_row(GString *text, const char *name, const Tally *tally, uint64_t elapsed_ns)
{
    const Histogram *latency = &tally->latency;

    if (!latency->count) {
        return;
    }
    g_string_append_printf(text, "%-6s%10.0f%10.1f%10.1f%10.1f", name,
                           per_second(latency->count, elapsed_ns),
                           per_second(tally->bytes, elapsed_ns) / 1e6, (double)latency->min / 1e3,
                           (double)(latency->sum / latency->count) / 1e3);
    for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        uint64_t value = histogram_quantile(latency, quantiles[i].ppm);

        g_string_append_printf(text, "%10.1f", (double)value / 1e3);
    }
    g_string_append_printf(text, "%10.1f\n", (double)latency->max / 1e3);
}

static char *table_text(const Report *report)
{
    const BenchOptions *options = report->options;
    GString *text = g_string_new(NULL);

    g_string_append_printf(text,
        "%s at %s port %u\n%s, %u bytes, %u controllers x %u queues x %u commands, %u threads, "
        "%.2f s%s\n\n", report->place->nqn, report->place->traddr, report->place->trsvcid,
        options->rw, options->block_size, options->controllers, options->queues, options->depth,
        options->threads, (double)report->elapsed_ns / 1e9,
        report->interrupted ? " (interrupted)" : "");
    g_string_append_printf(text, "%-6s%10s%10s%10s%10s", "", "IOPS", "MB/s", "us: min", "mean");
    for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        g_string_append_printf(text, "%10s", quantiles[i].name);
    }
    g_string_append_printf(text, "%10s\n", "max");
    append_row(text, "read", &report->reads, report->elapsed_ns);
    append_row(text, "write", &report->writes, report->elapsed_ns);
    if (options->verify) {
        g_string_append_printf(text, "\nverified: %" PRIu64 " blocks written before, %" PRIu64
                               " reads of the run and %" PRIu64 " afterwards checked\n",
                               report->phase_done[PHASE_FILL], report->reads.latency.count,
                               report->phase_done[PHASE_CHECK]);
    }
    if (report->complaint) {
        g_string_append_printf(text, "\n%" PRIu64 " commands failed, %" PRIu64
                               " reads had wrong data; the first: %s\n", report->errors,
                               report->mismatches, report->complaint);
    }
    return g_string_free(text, FALSE);
}

char *report_text(const Report *report)
{
    return report->options->json ? json_text(report) : table_text(report);
}
