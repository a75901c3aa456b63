/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz body with mutated inputs, for any compiler: seeded, so that a run can be had again.
 * Prints TAP, one test.
 * Not here: coverage feedback; libfuzzer.sh builds the same bodies for that.
 * No standard.
 */
/*
 * fuzz_X [--seed N] [--runs N | --seconds N] [--replay FILE] [--write-corpus DIR] [CORPUS-FILE...]
 * On a finding the input is written to fuzz_X-SEED-RUN.bin in the current directory and the command
 * that replays it printed.
 */
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum {
    INPUT_MAX = 16384,
    MUTATIONS_MAX = 8,                  /* of one input */
};

/* Sanitizers call it before they end the process; absent without them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
void fuzz_corpus(FuzzAddFn *add) __attribute__((weak));

static GPtrArray *corpus;               /* GByteArray */
static GByteArray *input;               /* of the run under way */
static const char *program;
static int seed = 1, runs, seconds;
static unsigned run;

static void add(const uint8_t *data, size_t size)
{
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_append(bytes, data, size);
    g_ptr_array_add(corpus, bytes);
}

/* The process is about to die: keep what killed it. */
static void keep_input(void)
{
    g_autofree char *base = g_path_get_basename(program);
    g_autofree char *name = g_strdup_printf("%s-%d-%u.bin", base, seed, run);

    if (input && g_file_set_contents(name, (const char *)input->data, input->len, NULL)) {
        g_print("not ok 1 - %s\n# seed %d, run %u; replay: %s --replay %s\n", base, seed, run,
                program, name);
    }
    input = NULL;
}

static void on_abort(int sig)
{
    keep_input();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* ---- Mutations */

static uint32_t below(GRand *rand, uint32_t limit)
{
    return limit > 1 ? (uint32_t)g_rand_int_range(rand, 0, (gint32)limit) : 0;
}

static void flip_bit(GRand *rand, GByteArray *b)
{
    b->data[below(rand, b->len)] ^= 1u << below(rand, 8);
}

static void set_byte(GRand *rand, GByteArray *b)
{
    static const uint8_t values[] = { 0, 1, 2, 3, 4, 6, 7, 9, 24, 72, 0x7f, 0x80, 0xfe, 0xff };

    b->data[below(rand, b->len)] = values[below(rand, G_N_ELEMENTS(values))];
}

static void set_word(GRand *rand, GByteArray *b)
{
    static const uint32_t values[] = { 0,          1,          3,          24,
                                       72,         128,        512,        4096,
                                       0x7fff,     0xffff,     0x10000,    0x20004,
                                       0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff };
    uint32_t value = values[below(rand, G_N_ELEMENTS(values))];
    uint32_t width = below(rand, 2) ? 4 : 2;

    if (b->len > width) {
        memcpy(b->data + below(rand, b->len - width), &value, width);
    }
}

static void add_small(GRand *rand, GByteArray *b)
{
    b->data[below(rand, b->len)] += (uint8_t)(below(rand, 9) - 4);
}

static void cut_out(GRand *rand, GByteArray *b)
{
    uint32_t at = below(rand, b->len);

    g_byte_array_remove_range(b, at, below(rand, MIN(b->len - at, 200)));
}

static void cut_off(GRand *rand, GByteArray *b)
{
    g_byte_array_set_size(b, below(rand, b->len));
}

/* A piece of some corpus entry, anywhere: PDUs twice, or of another session. */
static void splice(GRand *rand, GByteArray *b)
{
    const GByteArray *other = g_ptr_array_index(corpus, below(rand, corpus->len));
    uint32_t from, length;

    if (other->len == 0) {
        return;
    }
    from = below(rand, other->len);
    length = below(rand, MIN(other->len - from, 2000));
    if (b->len + length <= INPUT_MAX) {
        uint32_t at = below(rand, b->len + 1), tail = b->len - at;

        g_byte_array_set_size(b, b->len + length);
        memmove(b->data + at + length, b->data + at, tail);
        memcpy(b->data + at, other->data + from, length);
    }
}

static void mutate(GRand *rand, GByteArray *b)
{
    static void (*const mutations[])(GRand *, GByteArray *) = {
        flip_bit, set_byte, set_word, set_word, add_small, cut_out, cut_off, splice,
    };
    const GByteArray *start = g_ptr_array_index(corpus, below(rand, corpus->len));
    uint32_t count = 1 + below(rand, MUTATIONS_MAX);

    g_byte_array_set_size(b, 0);
    g_byte_array_append(b, start->data, MIN(start->len, INPUT_MAX));
    for (uint32_t i = 0; i < count && b->len > 0; i++) {
        mutations[below(rand, G_N_ELEMENTS(mutations))](rand, b);
    }
}

/* ---- Running */

static void run_all(void)
{
    gint64 end = g_get_monotonic_time() + (gint64)seconds * G_USEC_PER_SEC;

    /* The right inputs first, then mutations, each a function of seed and run. */
    for (run = 0; seconds ? g_get_monotonic_time() < end : run < (unsigned)runs; run++) {
        g_autoptr(GRand)
            rand = g_rand_new_with_seed_array((const guint32[]) { (guint32)seed, run }, 2);

        if (run < corpus->len) {
            const GByteArray *entry = g_ptr_array_index(corpus, run);

            g_byte_array_set_size(input, 0);
            g_byte_array_append(input, entry->data, entry->len);
        } else {
            mutate(rand, input);
        }
        LLVMFuzzerTestOneInput(input->data, input->len);
    }
}

static bool load(const char *path)
{
    g_autofree char *bytes = NULL;
    gsize length;
    g_autoptr(GError) error = NULL;

    if (!g_file_get_contents(path, &bytes, &length, &error)) {
        g_printerr("%s\n", error->message);
        return false;
    }
    add((const uint8_t *)bytes, length);
    return true;
}

static bool write_corpus(const char *dir)
{
    for (unsigned i = 0; i < corpus->len; i++) {
        const GByteArray *entry = g_ptr_array_index(corpus, i);
        g_autofree char *path = g_strdup_printf("%s/%u", dir, i);
        g_autoptr(GError) error = NULL;

        if (!g_file_set_contents(path, (const char *)entry->data, entry->len, &error)) {
            g_printerr("%s\n", error->message);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    g_autofree char *replay = NULL, *corpus_dir = NULL;
    const GOptionEntry options[] = {
        { "seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the mutations (1)", "N" },
        { "runs", 0, 0, G_OPTION_ARG_INT, &runs, "how many inputs (10000)", "N" },
        { "seconds", 0, 0, G_OPTION_ARG_INT, &seconds, "how long instead", "N" },
        { "replay", 0, 0, G_OPTION_ARG_FILENAME, &replay, "one input, as written on a finding",
          "FILE" },
        { "write-corpus", 0, 0, G_OPTION_ARG_FILENAME, &corpus_dir,
          "write the right inputs as files, run nothing", "DIR" },
        { NULL, 0, 0, 0, NULL, NULL, NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new("[CORPUS-FILE...]");
    g_autoptr(GError) error = NULL;

    program = argv[0];
    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || runs < 0 || seconds < 0) {
        g_printerr("%s\n", error ? error->message : "--runs and --seconds: 0 or more");
        return 2;
    }
    runs = runs ? runs : 10000;
    corpus = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    if (fuzz_corpus) {
        fuzz_corpus(add);
    }
    for (int i = 1; i < argc; i++) {
        if (!load(argv[i])) {
            return 2;
        }
    }
    if (corpus_dir) {
        return write_corpus(corpus_dir) ? 0 : 2;
    }
    if (corpus->len == 0) {
        add((const uint8_t *)"", 0);
    }
    if (replay) {
        g_ptr_array_set_size(corpus, 0);
        seconds = 0;
        runs = 1;
        if (!load(replay)) {
            return 2;
        }
    }

    g_autofree char *base = g_path_get_basename(program);
    GByteArray *bytes = g_byte_array_new();

    input = bytes;
    g_print("1..1\n");
    signal(SIGABRT, on_abort);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);
    }
    run_all();
    input = NULL;
    g_print("# seed %d: %u inputs\nok 1 - %s\n", seed, run, base);
    g_byte_array_unref(bytes);
    g_ptr_array_unref(corpus);
    return 0;
}
