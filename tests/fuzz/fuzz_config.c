/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: any bytes as a configuration file. They are refused with a message
 * or give a configuration that passes all checks; nothing else may happen.
 * Not here: the driver. The entry point is libFuzzer's.
 */
#include <string.h>

#include "daemon/config.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* json-glib and GLib report wrong use this way: it must not pass unseen. */
    g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);

    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = config_parse("fuzz", (const char *)data, size, &error);

    if (config) {
        config_finish(config, &error);
    } else {
        g_assert_nonnull(error);
        g_assert_nonnull(strstr(error->message, "fuzz"));
    }
    return 0;
}
