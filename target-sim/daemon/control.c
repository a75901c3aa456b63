/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: JSON objects, one a line, each answered by one.
 * Not here: what they change (tree.c), the program that sends them (ctl.c). JSON: RFC 8259.
 */
#include "daemon/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/crew.h"
#include "daemon/json_reader.h"
#include "daemon/report.h"
#include "daemon/service.h"
#include "daemon/tree.h"

/* ---- Verbs */

static bool run_get(Server *server, const ControlRequest *request, JsonObject *reply,
                    GError **error)
{
    g_autofree char *value = tree_get(server, request->path, error);

    if (!value) {
        return false;
    }
    json_object_set_string_member(reply, "value", value);
    return true;
}

static bool run_set(Server *server, const ControlRequest *request,
                    JsonObject *reply G_GNUC_UNUSED, GError **error)
{
    return tree_set(server, request->path, request->value, error);
}

static bool run_mkdir(Server *server, const ControlRequest *request,
                      JsonObject *reply G_GNUC_UNUSED, GError **error)
{
    return tree_mkdir(server, request->path, error);
}

static bool run_rmdir(Server *server, const ControlRequest *request,
                      JsonObject *reply G_GNUC_UNUSED, GError **error)
{
    return tree_rmdir(server, request->path, error);
}

static bool run_link(Server *server, const ControlRequest *request,
                     JsonObject *reply G_GNUC_UNUSED, GError **error)
{
    return tree_link(server, request->path, error);
}

static bool run_unlink(Server *server, const ControlRequest *request,
                       JsonObject *reply G_GNUC_UNUSED, GError **error)
{
    return tree_unlink(server, request->path, error);
}

static bool run_list(Server *server, const ControlRequest *request, JsonObject *reply,
                     GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    JsonArray *entries;

    if (!tree_list(server, request->path ? request->path : "", names, error)) {
        return false;
    }
    entries = json_array_new();
    for (guint i = 0; i < names->len; i++) {
        json_array_add_string_element(entries, names->pdata[i]);
    }
    json_object_set_array_member(reply, "entries", entries);
    return true;
}

static bool run_dump(Server *server, const ControlRequest *request G_GNUC_UNUSED,
                     JsonObject *reply, GError **error G_GNUC_UNUSED)
{
    json_object_set_member(reply, "config", tree_dump(server));
    return true;
}

static bool run_stats(Server *server, const ControlRequest *request G_GNUC_UNUSED,
                      JsonObject *reply, GError **error G_GNUC_UNUSED)
{
    json_object_set_object_member(reply, "stats", report_json(server));
    return true;
}

const ControlVerb control_verbs[] = {
    {"get", 1, "show an attribute", run_get, false},
    {"set", 2, "give an attribute a value", run_set, true},
    {"list", 1, "show what a directory has (without PATH: the top)", run_list, false},
    {"mkdir", 1, "make a subsystem, namespace, port, host, ANA group, referral or\nfault", run_mkdir, true},
    {"rmdir", 1, "remove one; of a connection: close it", run_rmdir, true},
    {"link", 1, "let a host in (subsystems/NQN/allowed_hosts/HOSTNQN), or\n"
                "put a subsystem on a port (ports/N/subsystems/NQN)", run_link, true},
    {"unlink", 1, "the reverse", run_unlink, true},
    {"stats", 0, "show what was counted, by opcode and by queue", run_stats, false},
    {"dump", 0, "show the configuration file that would make the present state", run_dump, false},
    {NULL, 0, NULL, NULL, false},
};

/* ---- Requests */

/* Any text: what a path or value may be is the tree's to say. */
static bool read_text(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    char *text = json_source_text(node);
    char **string = (char **)((char *)target + key->offset);

    if (!text) {
        return json_source_fail(source, node, "a string or a number");
    }
    g_free(*string);
    *string = text;
    return true;
}

static const JsonKey request_keys[] = {
    {"verb", .read = read_text, .offset = offsetof(ControlRequest, verb), .required = true},
    {"path", .read = read_text, .offset = offsetof(ControlRequest, path)},
    {"value", .read = read_text, .offset = offsetof(ControlRequest, value)},
    {.name = NULL},
};

void control_request_clear(ControlRequest *request)
{
    g_clear_pointer(&request->verb, g_free);
    g_clear_pointer(&request->path, g_free);
    g_clear_pointer(&request->value, g_free);
}

static const ControlVerb *find_verb(const char *name, GError **error)
{
    g_autoptr(GString) known = g_string_new(NULL);

    for (const ControlVerb *verb = control_verbs; verb->name; verb++) {
        if (!strcmp(verb->name, name)) {
            return verb;
        }
        g_string_append_printf(known, "%s%s", known->len ? ", " : "", verb->name);
    }
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "verb: '%s' is not allowed: %s", name,
                known->str);
    return NULL;
}

static bool check_arguments(const ControlVerb *verb, const ControlRequest *request,
                            GError **error)
{
    static const char *const allowed[] = {"neither path nor value", "a path and no value",
                                          "a path and a value"};
    bool path_may_lack = verb->run == run_list;

    if ((verb->arguments < 1 && request->path) || (verb->arguments < 2 && request->value) ||
        (verb->arguments >= 1 && !request->path && !path_may_lack) ||
        (verb->arguments >= 2 && !request->value)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s: needs %s", verb->name,
                    allowed[verb->arguments]);
        return false;
    }
    return true;
}

const ControlVerb *control_parse(const char *text, size_t length, ControlRequest *request,
                                 GError **error)
{
    g_autoptr(JsonSource) source =
        json_source_new("request", text, length, CONTROL_DEPTH_MAX, error);
    const ControlVerb *verb;

    *request = (ControlRequest){NULL, NULL, NULL};
    if (!source || !json_source_read(source, request_keys, request, error)) {
        return NULL;
    }
    verb = find_verb(request->verb, error);
    return verb && check_arguments(verb, request, error) ? verb : NULL;
}

static void append_line(GString *reply, JsonObject *object)
{
    g_autoptr(JsonNode) node = json_node_init_object(json_node_alloc(), object);
    g_autofree char *text = json_to_string(node, FALSE);

    g_string_append(reply, text);
    g_string_append_c(reply, '\n');
}

static void append_error(GString *reply, const GError *error)
{
    g_autoptr(JsonObject) object = json_object_new();
    bool system = error->domain == CONFIG_ERROR && error->code == CONFIG_ERROR_SYSTEM;
    /* What was quoted came from a peer. */
    g_autofree char *message = g_utf8_make_valid(error->message, -1);

    json_object_set_boolean_member(object, "ok", FALSE);
    json_object_set_string_member(object, "error", message);
    json_object_set_boolean_member(object, "system", system);
    append_line(reply, object);
}

/* The first thread can close and capture the connections of all; the rest is each server's own. */
static bool is_of_connections(const char *path)
{
    while (path && *path == '/') {
        path++;
    }
    return path && g_str_has_prefix(path, "connections");
}

/*
 * What fails in the first server has changed nothing; what fails in another only (it had no
 * descriptor for a file, say) is told, and stands in the first.
 */
static bool run_everywhere(Server *server, const ControlVerb *verb, const ControlRequest *request,
                           JsonObject *reply, GError **error)
{
    bool everywhere = verb->changes && !is_of_connections(request->path), ok;

    crew_pause(server);
    ok = verb->run(server, request, reply, error);
    for (unsigned i = 1; ok && everywhere && i < crew_size(server); i++) {
        g_autoptr(JsonObject) unused = json_object_new();

        ok = verb->run(crew_member(server, i), request, unused, error);
        if (!ok) {
            g_prefix_error(error, "thread %u: ", i);
        }
    }
    crew_resume(server);
    return ok;
}

bool control_answer(Server *server, const char *text, size_t length, GString *reply)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(JsonObject) object = json_object_new();
    ControlRequest request;
    const ControlVerb *verb = control_parse(text, length, &request, &error);

    json_object_set_boolean_member(object, "ok", TRUE);
    if (verb && run_everywhere(server, verb, &request, object, &error)) {
        append_line(reply, object);
    } else {
        append_error(reply, error);
    }
    control_request_clear(&request);
    return true;
}

/* ---- The socket */

static void too_long(GString *reply)
{
    g_autoptr(GError) error = NULL;

    g_set_error(&error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                "request: over %d bytes; allowed: at most that", CONTROL_LINE_MAX);
    append_error(reply, error);
}

static const ServiceRules rules = {
    .what = "--control",
    .end = "\n",
    .request_max = CONTROL_LINE_MAX,
    .patience_ms = CONTROL_PATIENCE_MS,
    .answer = control_answer,
    .too_long = too_long,
};

static int fail(GError **error, const char *path, const char *why)
{
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "--control: %s: %s", path, why);
    return -1;
}

/* A socket that is left over from a process that is gone. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat status;
    int fd;

    if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode)) {
        return;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
        errno == ECONNREFUSED) {
        unlink(address->sun_path);
    }
    close(fd);
}

static int open_socket(const char *path, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, result;
    mode_t mask;

    if (strlen(path) >= sizeof(address.sun_path)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "--control: wrong value \"%s\"; allowed: a path of at most %zu bytes", path,
                    sizeof(address.sun_path) - 1);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    remove_stale(&address);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(error, path, g_strerror(errno));
    }
    /* Before anybody can connect. */
    mask = umask(0177);
    result = bind(fd, (struct sockaddr *)&address, sizeof(address));
    umask(mask);
    if (result < 0 || listen(fd, SERVICE_PEERS_MAX) < 0) {
        fail(error, path, g_strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

Service *control_new(Server *server, const char *path, GError **error)
{
    int fd = open_socket(path, error);

    return fd < 0 ? NULL : service_new(server, &rules, fd, error);
}

void control_remove(const char *path)
{
    unlink(path);
}
