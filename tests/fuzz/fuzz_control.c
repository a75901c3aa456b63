/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: any lines as requests to the control socket, then the bytes as a request for the page
 * of metrics. Each line is answered by one line of JSON, and the state can be saved and read again.
 * Not here: sockets and files: none is opened, whatever path or address a request names.
 */
#include <string.h>

#include "daemon/backend.h"
#include "daemon/connection.h"
#include "daemon/control.h"
#include "daemon/crew.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "daemon/service.h"
#include "daemon/setup.h"
#include "daemon/tree.h"
#include "fuzz.h"

/* ---- In place of what would reach out of the process */

Backend *backend_file_open(const ConfigDevice *device, GError **error)
{
    /* A file of that size, or of 1 MiB, that keeps nothing. */
    ConfigDevice nothing = {
        .backend = CONFIG_BACKEND_NULL,
        .size = device->size ? device->size : 1 << 20,
        .block_size = device->block_size ? device->block_size : 512,
    };

    return backend_null_open(&nothing, error);
}

struct Listener *server_listener(Server *server, const struct lst_port *port)
{
    return g_ptr_array_find(server->listeners, port, NULL) ? (struct Listener *)port : NULL;
}

bool server_listen(Server *server, ConfigPort *from, struct lst_port *port, GError **error)
{
    if (from->trsvcid == 1) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "refused");
        return false;
    }
    from->trsvcid = from->trsvcid ? from->trsvcid : 4420;
    g_ptr_array_add(server->listeners, port);
    return true;
}

void server_unlisten(Server *server, const struct lst_port *port)
{
    g_ptr_array_remove(server->listeners, (void *)(uintptr_t)port);
}

Service *service_new(Server *server, const ServiceRules *rules, int fd, GError **error)
{
    (void)server, (void)rules, (void)fd, (void)error;
    g_assert_not_reached();
}

int listener_socket(unsigned adrfam, const char *traddr, uint32_t *port, const char *whose,
                    GError **error)
{
    (void)adrfam, (void)traddr, (void)port, (void)whose, (void)error;
    g_assert_not_reached();
}

/* There are no connections. */
/* One thread. */
unsigned crew_size(const Server *server G_GNUC_UNUSED)
{
    return 1;
}

Server *crew_member(Server *server, unsigned index G_GNUC_UNUSED)
{
    return server;
}

void crew_pause(Server *server G_GNUC_UNUSED)
{
}

void crew_resume(Server *server G_GNUC_UNUSED)
{
}

void connection_close(Connection *connection)
{
    (void)connection;
    g_assert_not_reached();
}

bool connection_capture(Connection *connection, const char *file, GError **error)
{
    (void)connection, (void)file, (void)error;
    g_assert_not_reached();
}

const char *pcap_file(const Pcap *pcap)
{
    (void)pcap;
    g_assert_not_reached();
}

static uint64_t clock_ns(void)
{
    return 0;
}

static void io_submit(void *front, struct lst_io *io)
{
    (void)front;
    backend_submit(io);
}

/* ---- A server that serves nobody */

static const char start[] =
    "{\"hosts\": [{\"nqn\": \"h\"}],"
    " \"ports\": [{\"addr\": {\"adrfam\": \"ipv4\", \"traddr\": \"127.0.0.1\", \"trsvcid\": 1024,"
    "   \"trtype\": \"tcp\"}, \"portid\": 1, \"subsystems\": [\"a\"]}],"
    " \"subsystems\": [{\"nqn\": \"a\", \"namespaces\": [{\"nsid\": 1, \"device\": {\"path\":"
    "   \"ram:64K\"}}]}]}";

static void server_begin(Server *server, Config *config)
{
    static const struct lst_front_ops ops = {.io_submit = io_submit};
    GError *error = NULL;

    *server = (Server){
        .config = config,
        .target = lst_target_new(&ops, server, 1),
        .backends = g_ptr_array_new_with_free_func((GDestroyNotify)backend_close),
        .listeners = g_ptr_array_new(),
        .delay = delay_new(clock_ns, 1),
    };
    g_assert_true(config_finish(config, &error));
    g_assert_true(
        setup_subsystems(server->target, config, server->backends, server->delay, &error));
    g_ptr_array_add(server->listeners, setup_port(server->target, config, 0, &error));
    tree_init(config);
}

static void server_finish(Server *server)
{
    lst_target_free(server->target);
    g_ptr_array_unref(server->backends);
    g_ptr_array_unref(server->listeners);
    delay_free(server->delay);
}

static void ask(Server *server, const char *line)
{
    g_autoptr(GString) reply = g_string_new(NULL);
    g_autoptr(JsonNode) node = NULL;

    g_assert_true(control_answer(server, line, strlen(line), reply));
    g_assert_true(reply->len > 0 && strchr(reply->str, '\n') == reply->str + reply->len - 1);
    node = json_from_string(reply->str, NULL);
    g_assert_true(node && JSON_NODE_HOLDS_OBJECT(node));
    g_assert_true(json_object_has_member(json_node_get_object(node), "ok"));
}

/* What was saved is a right configuration file, whatever was asked for before. */
static void check_dump(Server *server)
{
    g_autoptr(JsonNode) node = tree_dump(server);
    g_autofree char *text = json_to_string(node, FALSE);
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = config_parse("dump", text, strlen(text), &error);

    if (!config && !server->config->ports->len) {
        return;
    }
    g_assert_no_error(error);
}

/*
 * Right requests in any order, three bytes each: mutations of text seldom give one. The paths name
 * few objects, so that requests meet what earlier ones left.
 */
static void ask_by_number(Server *server, const uint8_t *data, size_t size)
{
    static const char *const verbs[] = {"get", "set", "mkdir", "rmdir", "link", "unlink", "list"};
    static const char *const paths[] = {
        "limit_memory", "limit_idle", "hosts/h", "hosts/i", "subsystems/a", "subsystems/b",
        "subsystems/b/attr_cntlid_min", "subsystems/b/attr_cntlid_max", "subsystems/b/attr_serial",
        "subsystems/a/allowed_hosts/h", "subsystems/b/allowed_hosts/i",
        "subsystems/a/namespaces/1", "subsystems/a/namespaces/1024", "subsystems/b/namespaces/1",
        "subsystems/a/namespaces/1/enable", "subsystems/a/namespaces/1/device_path",
        "subsystems/a/namespaces/1/device_size", "subsystems/a/namespaces/1/revalidate_size",
        "subsystems/a/namespaces/1/device_uuid", "subsystems/a/namespaces/1/ana_grpid",
        "subsystems/b/namespaces/1/enable", "subsystems/b/namespaces/1/device_path",
        "subsystems/b/namespaces/1/device_size", "ports/1", "ports/2", "ports/65535",
        "ports/1/subsystems/a", "ports/1/subsystems/b", "ports/2/subsystems/a",
        "ports/1/addr_traddr", "ports/2/addr_traddr", "ports/2/addr_adrfam", "ports/2/addr_trsvcid",
        "ports/2/lockstep_advertise", "ports/1/param_inline_data_size", "ports/1/ana_groups/1",
        "ports/1/ana_groups/128", "ports/1/ana_groups/128/ana_state", "ports/1/referrals/r",
        "ports/1/referrals/r/enable", "ports/1/referrals/r/addr_traddr",
        "ports/1/referrals/r/addr_adrfam", "connections", "",
    };
    static const char *const values[] = {
        "0", "1", "2", "128", "65519", "64K", "4096", "1M", "ram:64K", "ram:1M?block_size=4096",
        "null:8K", "/dev/null", "file:/x?size=8K", "ipv4", "ipv6", "127.0.0.2", "::1",
        "inaccessible", "optimized", "11111111-2222-3333-4444-555555555555", "",
    };

    for (size_t i = 0; i + 3 <= size; i += 3) {
        const char *verb = verbs[data[i] % G_N_ELEMENTS(verbs)];
        const char *value = values[data[i + 2] % G_N_ELEMENTS(values)];
        g_autofree char *with_value =
            g_strdup_printf(",\"value\":\"%s\"", value);
        g_autofree char *line =
            g_strdup_printf("{\"verb\":\"%s\",\"path\":\"%s\"%s}", verb,
                            paths[data[i + 1] % G_N_ELEMENTS(paths)],
                            strcmp(verb, "set") ? "" : with_value);

        ask(server, line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(Config) config = config_parse("start", start, strlen(start), NULL);
    g_autoptr(GString) page = g_string_new(NULL);
    Server server;

    /* json-glib and GLib report wrong use this way: it must not pass unseen. */
    g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
    server_begin(&server, config);
    if (size > 0 && data[0] == '#') {
        ask_by_number(&server, data + 1, size - 1);
    }
    for (char **line = lines; *line; line++) {
        ask(&server, *line);
    }
    check_dump(&server);
    metrics_answer(&server, text, strlen(text), page);
    g_assert_true(g_str_has_prefix(page->str, "HTTP/1.1 "));
    server_finish(&server);
    return 0;
}

void fuzz_corpus(FuzzAddFn *add)
{
    static const char *const inputs[] = {
        "{\"verb\":\"list\"}\n{\"verb\":\"stats\"}\n{\"verb\":\"dump\"}",
        "{\"verb\":\"get\",\"path\":\"subsystems/a/attr_serial\"}",
        "{\"verb\":\"set\",\"path\":\"subsystems/a/namespaces/1/device_size\",\"value\":\"128K\"}\n"
        "{\"verb\":\"set\",\"path\":\"subsystems/a/namespaces/1/enable\",\"value\":\"0\"}\n"
        "{\"verb\":\"set\",\"path\":\"subsystems/a/namespaces/1/device_path\","
        "\"value\":\"null:1M\"}\n"
        "{\"verb\":\"set\",\"path\":\"subsystems/a/namespaces/1/enable\",\"value\":1}",
        "{\"verb\":\"mkdir\",\"path\":\"subsystems/b\"}\n"
        "{\"verb\":\"mkdir\",\"path\":\"subsystems/b/namespaces/2\"}\n"
        "{\"verb\":\"link\",\"path\":\"subsystems/b/allowed_hosts/h\"}\n"
        "{\"verb\":\"link\",\"path\":\"ports/1/subsystems/b\"}\n"
        "{\"verb\":\"unlink\",\"path\":\"ports/1/subsystems/b\"}\n"
        "{\"verb\":\"rmdir\",\"path\":\"subsystems/b/namespaces/2\"}",
        "{\"verb\":\"mkdir\",\"path\":\"ports/2\"}\n"
        "{\"verb\":\"set\",\"path\":\"ports/2/addr_trsvcid\",\"value\":\"0\"}\n"
        "{\"verb\":\"link\",\"path\":\"ports/2/subsystems/a\"}\n"
        "{\"verb\":\"mkdir\",\"path\":\"ports/2/ana_groups/3\"}\n"
        "{\"verb\":\"set\",\"path\":\"ports/2/ana_groups/3/ana_state\",\"value\":\"change\"}\n"
        "{\"verb\":\"mkdir\",\"path\":\"ports/2/referrals/r\"}\n"
        "{\"verb\":\"set\",\"path\":\"ports/2/referrals/r/enable\",\"value\":\"1\"}\n"
        "{\"verb\":\"rmdir\",\"path\":\"ports/2/referrals/r\"}",
        "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz",
        "#0123456789zyxwvutsrqponmlkjihgfedcba9876543210ZYXWVUTSRQPONMLKJIHGFEDCBAabcabcabcabcabc",
        "GET /metrics HTTP/1.1\r\nHost: x",
        "{\"verb\":\"rmdir\",\"path\":\"hosts/h\"}\n{\"verb\":\"get\",\"path\":\"a%2Fb%25\"}",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(inputs); i++) {
        add((const uint8_t *)inputs[i], strlen(inputs[i]));
    }
}
