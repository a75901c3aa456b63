/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ready file: tells the process that started target-sim that all ports
 * listen, and where. Not here: when that is. No standard; JSON, RFC 8259.
 */
#include "daemon/ready.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <unistd.h>

static void add_string(JsonBuilder *builder, const char *name, const char *value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_string_value(builder, value);
}

static void add_number(JsonBuilder *builder, const char *name, uint64_t value)
{
    json_builder_set_member_name(builder, name);
    json_builder_add_int_value(builder, (gint64)value);
}

static void begin_list(JsonBuilder *builder, const char *name)
{
    json_builder_set_member_name(builder, name);
    json_builder_begin_array(builder);
}

static void add_port(JsonBuilder *builder, const ConfigPort *port)
{
    g_autofree char *trsvcid = g_strdup_printf("%u", port->trsvcid);

    json_builder_begin_object(builder);
    add_number(builder, "portid", port->portid);
    add_string(builder, "adrfam", parse_name_of(config_adrfams, port->adrfam));
    add_string(builder, "listen", port->traddr);
    add_string(builder, "traddr", port->advertise ? port->advertise : port->traddr);
    /* A string, as in nvmetcli's file: a service name in the standard's terms. */
    add_string(builder, "trsvcid", trsvcid);
    json_builder_end_object(builder);
}

static void add_namespace(JsonBuilder *builder, const ConfigNamespace *ns)
{
    g_autofree char *uuid = config_format_uuid(ns->uuid);

    json_builder_begin_object(builder);
    add_number(builder, "nsid", ns->nsid);
    add_number(builder, "size", ns->device.size);
    add_number(builder, "block_size", ns->device.block_size);
    add_string(builder, "uuid", uuid);
    json_builder_end_object(builder);
}

/* The ports through which hosts reach it. */
static void add_subsystem_ports(JsonBuilder *builder, const Config *config, const char *nqn)
{
    begin_list(builder, "ports");
    for (guint i = 0; i < config->ports->len; i++) {
        const ConfigPort *port = config->ports->pdata[i];

        if (g_ptr_array_find_with_equal_func(port->subsystems, nqn, g_str_equal, NULL)) {
            json_builder_add_int_value(builder, port->portid);
        }
    }
    json_builder_end_array(builder);
}

static void add_subsystem(JsonBuilder *builder, const Config *config,
                          const ConfigSubsystem *subsystem)
{
    json_builder_begin_object(builder);
    add_string(builder, "nqn", subsystem->nqn);
    add_string(builder, "serial", subsystem->serial);
    add_string(builder, "model", subsystem->model);
    add_subsystem_ports(builder, config, subsystem->nqn);
    begin_list(builder, "namespaces");
    for (guint i = 0; i < subsystem->namespaces->len; i++) {
        const ConfigNamespace *ns = subsystem->namespaces->pdata[i];

        if (ns->enable) {
            add_namespace(builder, ns);
        }
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
}

static char *ready_text(const Config *config)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    g_autoptr(JsonNode) root = NULL;

    json_builder_begin_object(builder);
    add_number(builder, "pid", (uint64_t)getpid());
    begin_list(builder, "ports");
    for (guint i = 0; i < config->ports->len; i++) {
        add_port(builder, config->ports->pdata[i]);
    }
    json_builder_end_array(builder);
    begin_list(builder, "subsystems");
    for (guint i = 0; i < config->subsystems->len; i++) {
        add_subsystem(builder, config, config->subsystems->pdata[i]);
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    root = json_builder_get_root(builder);
    return json_to_string(root, TRUE);
}

bool ready_check(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int why = 0;

    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        why = EISDIR;
    } else if (access(folder, W_OK | X_OK)) {
        why = errno;
    }
    if (why) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "--ready-file %s: %s", path,
                    g_strerror(why));
    }
    return !why;
}

bool ready_write(const char *path, const Config *config, GError **error)
{
    g_autofree char *text = ready_text(config);
    g_autofree char *lines = g_strconcat(text, "\n", NULL);
    g_autoptr(GError) cause = NULL;

    /* GLib writes a temporary file beside it and renames that. */
    if (!g_file_set_contents(path, lines, -1, &cause)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "--ready-file %s: %s", path,
                    cause->message);
        return false;
    }
    return true;
}
