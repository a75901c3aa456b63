/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `target-sim ctl`: sends one request to the control socket and shows the answer.
 * Not here: the verbs (control.c). No standard.
 */
#include "daemon/ctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/control.h"
#include "daemon/ctl_table.h"
#include "daemon/log.h"

#define SOCKET_VARIABLE "TARGET_SIM_CONTROL"

enum { DONE = 0, SYSTEM = 1, INPUT = 2 }; /* exit status */

typedef struct Command {
    const char *socket;
    bool json;
    bool help;
    const ControlVerb *verb;
    const char *path;
    const char *value;
} Command;

static void show_help(void)
{
    puts("Usage: target-sim ctl [--socket PATH] [--json] VERB [ARGUMENT]...\n"
         "\n"
         "Looks at and changes a target-sim that was started with --control PATH.\n");
    for (const ControlVerb *verb = control_verbs; verb->name; verb++) {
        static const char *const arguments[] = {"", " PATH", " PATH VALUE"};
        g_autofree char *left = g_strdup_printf("  %s%s", verb->name, arguments[verb->arguments]);
        g_auto(GStrv) lines = g_strsplit(verb->help, "\n", -1);

        for (char **line = lines; *line; line++) {
            printf("%-24s%s\n", line == lines ? left : "", *line);
        }
    }
    puts("\n"
         "  --socket PATH         where target-sim listens (default: $" SOCKET_VARIABLE ")\n"
         "  --json                show the answer as it comes: {\"ok\": true, ...}\n"
         "  --help                show this text\n"
         "\n"
         "Examples:\n"
         "  target-sim ctl list subsystems\n"
         "  target-sim ctl set subsystems/NQN/namespaces/1/enable 0\n"
         "  target-sim ctl set ports/1/ana_groups/1/ana_state inaccessible\n"
         "\n"
         "Exit status: 0, 1 when nobody listens or the machine refuses something, 2 when the\n"
         "command line is wrong or target-sim refuses what is asked for.");
}

static int fail(int status, const char *format, ...) G_GNUC_PRINTF(2, 3);
static int fail(int status, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    log_line(LOG_LEVEL_ERROR, "%s", text);
    return status;
}

static const ControlVerb *find_verb(const char *name)
{
    for (const ControlVerb *verb = control_verbs; verb->name; verb++) {
        if (!strcmp(verb->name, name)) {
            return verb;
        }
    }
    return NULL;
}

/* How many arguments are right is said by target-sim, but for those that no request can carry. */
static int read_operands(Command *command, int count, char **operands)
{
    if (count == 0) {
        return fail(INPUT, "ctl: a verb is missing (see target-sim ctl --help)");
    }
    command->verb = find_verb(operands[0]);
    if (!command->verb) {
        return fail(INPUT, "ctl: wrong verb \"%s\" (see target-sim ctl --help)", operands[0]);
    }
    if (count - 1 > (int)command->verb->arguments) {
        return fail(INPUT, "\"%s\": unexpected argument of %s (see target-sim ctl --help)",
                    operands[command->verb->arguments + 1], operands[0]);
    }
    command->path = count > 1 ? operands[1] : NULL;
    command->value = count > 2 ? operands[2] : NULL;
    return DONE;
}

static int read_command(Command *command, int argc, char **argv)
{
    static const struct option options[] = {
        {"socket", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int code;

    *command = (Command){.socket = g_getenv(SOCKET_VARIABLE)};
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        switch (code) {
        case 's':
            command->socket = optarg;
            break;
        case 'j':
            command->json = true;
            break;
        case 'h':
            command->help = true;
            return DONE;
        case ':':
            return fail(INPUT, "%s: needs a value (see target-sim ctl --help)", argv[optind - 1]);
        default:
            return fail(INPUT, "%s: unknown option (see target-sim ctl --help)", argv[optind - 1]);
        }
    }
    if (!command->socket || !command->socket[0]) {
        return fail(INPUT, "--socket: is missing, and $" SOCKET_VARIABLE " is not set; allowed: "
                    "the path that target-sim --control was given");
    }
    return read_operands(command, argc - optind, argv + optind);
}

static char *request_text(const Command *command)
{
    g_autoptr(JsonObject) object = json_object_new();
    g_autoptr(JsonNode) node = json_node_init_object(json_node_alloc(), object);
    g_autofree char *text = NULL;

    json_object_set_string_member(object, "verb", command->verb->name);
    if (command->path) {
        json_object_set_string_member(object, "path", command->path);
    }
    if (command->value) {
        json_object_set_string_member(object, "value", command->value);
    }
    text = json_to_string(node, FALSE);
    return g_strconcat(text, "\n", NULL);
}

static int open_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = CTL_PATIENCE_S};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -1;
    }
    g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (strlen(path) >= sizeof(address.sun_path) ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int cause = strlen(path) >= sizeof(address.sun_path) ? ENAMETOOLONG : errno;

        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

/* Sends the request; returns the line that comes back, or NULL with errno set. */
static GString *exchange(int fd, const char *request)
{
    g_autoptr(GString) reply = g_string_new(NULL);
    size_t length = strlen(request);

    while (length > 0) {
        ssize_t count = send(fd, request, length, MSG_NOSIGNAL);

        if (count < 0) {
            return NULL;
        }
        request += count;
        length -= (size_t)count;
    }
    while (reply->len == 0 || reply->str[reply->len - 1] != '\n') {
        char buffer[64 << 10];
        ssize_t count = recv(fd, buffer, sizeof(buffer), 0);

        if (count <= 0) {
            errno = count == 0 ? ECONNRESET : errno;
            return NULL;
        }
        g_string_append_len(reply, buffer, count);
    }
    return g_steal_pointer(&reply);
}

static void show_entries(JsonArray *entries)
{
    for (guint i = 0; i < json_array_get_length(entries); i++) {
        puts(json_array_get_string_element(entries, i));
    }
}

static void show_pretty(JsonNode *node)
{
    g_autofree char *text = json_to_string(node, TRUE);

    puts(text);
}

/* An answer has at most one of these. */
static void show_answer(JsonObject *reply)
{
    if (json_object_has_member(reply, "value")) {
        puts(json_object_get_string_member(reply, "value"));
    } else if (json_object_has_member(reply, "entries")) {
        show_entries(json_object_get_array_member(reply, "entries"));
    } else if (json_object_has_member(reply, "config")) {
        show_pretty(json_object_get_member(reply, "config"));
    } else if (json_object_has_member(reply, "stats")) {
        g_autofree char *text = ctl_table_stats(json_object_get_object_member(reply, "stats"));

        fputs(text, stdout);
    }
}

static int show_reply(const Command *command, const GString *line)
{
    g_autoptr(JsonNode) node = json_from_string(line->str, NULL);
    JsonObject *reply;
    bool system;

    if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
        return fail(SYSTEM, "--socket: %s: no target-sim answers there", command->socket);
    }
    reply = json_node_get_object(node);
    if (command->json) {
        fputs(line->str, stdout);
    }
    if (json_object_get_boolean_member_with_default(reply, "ok", FALSE)) {
        if (!command->json) {
            show_answer(reply);
        }
        return DONE;
    }
    system = json_object_get_boolean_member_with_default(reply, "system", FALSE);
    return fail(system ? SYSTEM : INPUT, "%s",
                json_object_get_string_member_with_default(reply, "error", "refused"));
}

static int carry_out(const Command *command)
{
    g_autofree char *request = request_text(command);
    g_autoptr(GString) line = NULL;
    int fd = open_socket(command->socket);

    if (fd >= 0) {
        line = exchange(fd, request);
    }
    if (!line) {
        int status = fail(SYSTEM, "--socket: %s: %s", command->socket, g_strerror(errno));

        if (fd >= 0) {
            close(fd);
        }
        return status;
    }
    close(fd);
    return show_reply(command, line);
}

int ctl_main(int argc, char **argv)
{
    Command command;
    int status = read_command(&command, argc, argv);

    if (status != DONE) {
        return status;
    }
    if (command.help) {
        show_help();
    } else {
        status = carry_out(&command);
    }
    if (fflush(stdout) != 0 && status == DONE) {
        status = fail(SYSTEM, "standard output: %s", g_strerror(errno));
    }
    return status;
}
