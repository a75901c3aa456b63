/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that chooses a drive: presets, keys, limits, messages. */
#include "test_media.h"

#include <string.h>

static void test_media_config_presets_and_keys(void)
{
    struct media_config config;
    char *why;

    g_assert_true(media_config_parse("p3700", &config, &why));
    g_assert_cmpuint(config.channels, ==, 18);
    g_assert_true(media_config_parse("p3700,channels=4,cache=128M,read_ns=0", &config, &why));
    g_assert_cmpuint(config.channels, ==, 4);
    g_assert_cmpuint(config.dies, ==, 8);
    g_assert_cmpuint(config.cache, ==, 128 << 20);
    g_assert_cmpuint(config.read_ns, ==, 0);
    g_assert_true(media_config_parse("tlc,page=64k,page=32k", &config, &why));
    g_assert_cmpuint(config.page, ==, 32768);
}

static void test_media_config_every_preset_is_valid(void)
{
    struct media_config config;
    unsigned count = 0;
    char *why;

    for (; media_preset_name(count); count++) {
        g_assert_true(media_config_parse(media_preset_name(count), &config, &why));
        g_assert_true(media_config_is_null(&config) == !strcmp(media_preset_name(count), "null"));
    }
    g_assert_cmpuint(count, ==, 5);
    g_assert_true(media_config_parse("null,outlier_ppm=1,outlier_ns=1", &config, &why));
    g_assert_false(media_config_is_null(&config));
}

static void test_media_config_refuses(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "", "PRESET[,key=value...], PRESET one of null, ram, p3700, tlc, optane" },
        { "disk", "PRESET[,key=value...], PRESET one of null, ram, p3700, tlc, optane" },
        { " ram", "PRESET[,key=value...], PRESET one of null, ram, p3700, tlc, optane" },
        { "ram,channels=0", "channels from 1 to 256" },
        { "ram,channels=257", "channels from 1 to 256" },
        { "ram,channels=1K", "channels from 1 to 256" },
        { "ram,channels=", "channels from 1 to 256" },
        { "ram,channels=-1", "channels from 1 to 256" },
        { "ram,channels=1.5", "channels from 1 to 256" },
        { "ram,channels= 1", "channels from 1 to 256" },
        { "ram,read_ns=10000000001", "read_ns from 0 to 10000000000" },
        { "ram,read_ns=99999999999999999999999", "read_ns from 0 to 10000000000" },
        { "ram,page=1K", "page from 4096 to 1048576, with suffix K, M or G" },
        { "ram,page=4097", "page a multiple of 512" },
        { "ram,cache=4K", "cache 0 or at least page, which is 8192" },
        { "ram,cache=5G", "cache from 0 to 4294967296, with suffix K, M or G" },
        { "ram,cache=K", "cache from 0 to 4294967296, with suffix K, M or G" },
        { "ram,plp=2", "plp from 0 to 1" },
        { "p3700,gc_moves=250", "gc_moves up to 31/32 of block_pages, which is 256" },
        { "ram,jitter_pm=1001", "jitter_pm from 0 to 1000" },
    };
    struct media_config config = { .channels = 77 };
    char *why;

    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_false(media_config_parse(rows[i].text, &config, &why));
        g_assert_cmpstr(why, ==, rows[i].why);
        g_assert_cmpuint(config.channels, ==, 77);
        g_free(why);
    }
}

static void test_media_config_unknown_keys_are_refused_with_the_list(void)
{
    static const char *const texts[] = { "ram,", "ram,,", "ram,speed=1", "ram,read_ns",
                                         "ram,=1", "ram,read_n=1", "ram,read_nss=1", "ram,ram" };
    struct media_config config;
    char *why;

    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_assert_false(media_config_parse(texts[i], &config, &why));
        g_assert_true(g_str_has_prefix(why, "after the preset key=value, key one of command_ns, "));
        g_free(why);
    }
}

static void test_media_config_format_is_the_reverse(void)
{
    static const char *const texts[] = { "null", "ram", "p3700", "tlc", "optane",
                                         "tlc,channels=4,cache=1048576,jitter_pm=0",
                                         "null,read_ns=1000" };
    char *why, *text;

    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        struct media_config config, again;

        g_assert_true(media_config_parse(texts[i], &config, &why));
        text = media_config_format(&config);
        g_assert_true(media_config_parse(text, &again, &why));
        g_assert_cmpmem(&config, sizeof(config), &again, sizeof(again));
        if (i != 5) {
            g_assert_cmpstr(text, ==, texts[i]);
        }
        g_free(text);
    }
    text = media_config_format(&(struct media_config) { 0 });
    g_assert_cmpstr(text, ==, "null");
    g_free(text);
}

void test_media_config_add(void)
{
    g_test_add_func("/media/config/format_is_the_reverse",
                    test_media_config_format_is_the_reverse);
    g_test_add_func("/media/config/presets_and_keys", test_media_config_presets_and_keys);
    g_test_add_func("/media/config/every_preset_is_valid",
                    test_media_config_every_preset_is_valid);
    g_test_add_func("/media/config/refuses", test_media_config_refuses);
    g_test_add_func("/media/config/unknown_keys",
                    test_media_config_unknown_keys_are_refused_with_the_list);
}
