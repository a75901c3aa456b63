/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text to numbers: every form that is allowed, and the nearest that is not.
 * Not here: key names and messages (test_config.c). No standard.
 */
#include <glib.h>

#include "daemon/parse.h"

static void test_size_with_every_suffix(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {
        {"0", 0},
        {"512", 512},
        {"1K", 1024},
        {"3k", 3072},
        {"256M", 268435456},
        {"1g", 1073741824},
        {"2T", 2199023255552},
        {"9223372036854775807", 9223372036854775807u},
        {"8388607T", 9223370937343148032u},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        uint64_t bytes = 1;

        g_assert_true(parse_size(sizes[i].text, &bytes));
        g_assert_cmpuint(bytes, ==, sizes[i].bytes);
    }
}

static void test_size_refused(void)
{
    static const char *const texts[] = {
        "", " ", "K", "-1", "+1", " 1", "1 ", "1.5M", "0x10", "1KB", "1KiB", "1P", "M1", "1MM",
        "9223372036854775808", "8388608T", "99999999999999999999999999999",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        uint64_t bytes = 7;

        g_assert_false(parse_size(texts[i], &bytes));
        g_assert_cmpuint(bytes, ==, 7);
    }
}

static void test_uint_at_its_limits(void)
{
    uint64_t value;

    g_assert_true(parse_uint("16", 16, 1024, &value));
    g_assert_cmpuint(value, ==, 16);
    g_assert_true(parse_uint("1024", 16, 1024, &value));
    g_assert_cmpuint(value, ==, 1024);
    g_assert_true(parse_uint("0x1aB", 0, UINT64_MAX, &value));
    g_assert_cmpuint(value, ==, 427);
    g_assert_true(parse_uint("18446744073709551615", 0, UINT64_MAX, &value));
    g_assert_cmpuint(value, ==, UINT64_MAX);
}

static void test_uint_refused(void)
{
    static const char *const texts[] = {
        "15", "1025", "", "-16", "+16", " 16", "16 ", "16x", "0x", "0x0x10", "0x-1", "ten",
        "18446744073709551616",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        uint64_t value = 7;

        g_assert_false(parse_uint(texts[i], 16, 1024, &value));
        g_assert_cmpuint(value, ==, 7);
    }
}

static void test_uuid_with_and_without_dashes(void)
{
    static const uint8_t expected[16] = {0xef, 0x90, 0x68, 0x9c, 0x6c, 0x46, 0xd4, 0x4c,
                                         0x89, 0xc1, 0x40, 0x67, 0x80, 0x13, 0x09, 0xa8};
    uint8_t id[16];

    g_assert_true(parse_uuid("ef90689c-6c46-d44c-89c1-4067801309a8", id));
    g_assert_cmpmem(id, sizeof(id), expected, sizeof(expected));
    g_assert_true(parse_uuid("EF90689C6C46D44C89C14067801309A8", id));
    g_assert_cmpmem(id, sizeof(id), expected, sizeof(expected));
}

static void test_uuid_refused(void)
{
    static const char *const texts[] = {
        "",
        "ef90689c",
        "ef90689c-6c46-d44c-89c1-4067801309",
        "ef90689c-6c46-d44c-89c1-4067801309a",
        "ef90689c-6c46-d44c-89c1-4067801309a8a8",
        "ef90689c-6c46-d44c-89c1-4067801309a8-",
        "-ef90689c-6c46-d44c-89c1-4067801309a8",
        "ef90689c--6c46-d44c-89c1-4067801309a8",
        "ef90689c-6c46-d44c-89c1-4067801309ag",
        "e-f90689c-6c46-d44c-89c1-4067801309a8",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        uint8_t id[16];

        g_assert_false(parse_uuid(texts[i], id));
    }
}

/* NVMe base, property VS: major in bits 31:16, minor in 15:08, tertiary in 07:00. */
static void test_version_as_in_property_vs(void)
{
    uint32_t version;

    g_assert_true(parse_version("1.3", &version));
    g_assert_cmphex(version, ==, 0x00010300);
    g_assert_true(parse_version("1.2.1", &version));
    g_assert_cmphex(version, ==, 0x00010201);
    g_assert_true(parse_version("2.0", &version));
    g_assert_cmphex(version, ==, 0x00020000);
    g_assert_false(parse_version("2", &version));
    g_assert_false(parse_version("1.2.3.4", &version));
    g_assert_false(parse_version("1.256", &version));
    g_assert_false(parse_version("1..0", &version));
    g_assert_false(parse_version("a.b", &version));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parse/size/with-every-suffix", test_size_with_every_suffix);
    g_test_add_func("/parse/size/refused", test_size_refused);
    g_test_add_func("/parse/uint/at-its-limits", test_uint_at_its_limits);
    g_test_add_func("/parse/uint/refused", test_uint_refused);
    g_test_add_func("/parse/uuid/with-and-without-dashes", test_uuid_with_and_without_dashes);
    g_test_add_func("/parse/uuid/refused", test_uuid_refused);
    g_test_add_func("/parse/version/as-in-property-vs", test_version_as_in_property_vs);
    return g_test_run();
}
