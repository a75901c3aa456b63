/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon while it runs, or one of its threads (crew.h): an epoll set, listeners, connections.
 * Not here: the protocol (engine/), media (backend.c). No standard.
 */
#include "daemon/server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/backend.h"
#include "daemon/connection.h"
#include "daemon/control.h"
#include "daemon/crew.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "daemon/service.h"
#include "daemon/setup.h"
#include "daemon/state.h"
#include "daemon/tree.h"

enum { NS_PER_MS = 1000000 };

uint64_t server_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

/* ---- What the engine asks of us ---- */

static void front_io_submit(void *front G_GNUC_UNUSED, struct lst_io *io)
{
    backend_submit(io);
}

/* What is outstanding is in a drive: backends themselves end at once. */
static bool front_io_cancel(void *front G_GNUC_UNUSED, struct lst_io *io)
{
    return drive_cancel(io);
}

static void front_conn_ready(void *front G_GNUC_UNUSED, struct lst_conn *conn)
{
    connection_has_output(lst_conn_opaque(conn));
}

static uint64_t front_clock(void *front G_GNUC_UNUSED)
{
    return server_now_ns();
}

static bool front_serves(void *front, const char *subnqn)
{
    return crew_serves(front, subnqn);
}

static bool front_ns_keep(void *front, const struct lst_ns *ns, const char *text)
{
    Server *server = front;
    g_autoptr(GError) error = NULL;

    if (state_write(server->options.state, lst_ns_nqn(ns), lst_ns_id(ns), text, &error)) {
        return true;
    }
    log_line(LOG_LEVEL_ERROR, "%s", error->message);
    return false;
}

static bool front_ns_kept(void *front, const struct lst_ns *ns, char **text, GError **error)
{
    Server *server = front;

    return state_read(server->options.state, lst_ns_nqn(ns), lst_ns_id(ns), text, error);
}

static void append_argument(GString *text, const struct lst_event *event, int index)
{
    const char *name = lst_event_info[event->id].arg[index];
    /* These two stand in front of the arguments if they are known. */
    bool shown = event->cntlid && (!strcmp(name, "cntlid") || !strcmp(name, "qid"));

    if (name[0] && !shown) {
        g_string_append_printf(text, " %s=0x%" PRIx64, name, event->args[index]);
    }
}

static void front_trace(void *front G_GNUC_UNUSED, const struct lst_event *event)
{
    static const LogLevel levels[] = {
        [LST_TRACE_DEBUG] = LOG_LEVEL_TRACE,
        [LST_TRACE_INFO] = LOG_LEVEL_INFO,
        [LST_TRACE_WARN] = LOG_LEVEL_WARN,
    };
    static LogLimit limits[LST_EVENT_COUNT];
    LogLevel level = levels[lst_event_info[event->id].level];
    g_autoptr(GString) text = NULL;

    if (!log_admits(&limits[event->id], level)) {
        return;
    }
    text = g_string_new(lst_event_info[event->id].name);
    if (event->conn_id) {
        g_string_append_printf(text, " connection=%" PRIu64, event->conn_id);
    }
    if (event->cntlid) {
        g_string_append_printf(text, " cntlid=%u qid=%u", event->cntlid, event->qid);
    }
    append_argument(text, event, 0);
    append_argument(text, event, 1);
    if (event->text) {
        g_autofree char *shown = g_strescape(event->text, NULL);

        g_string_append_printf(text, " \"%s\"", shown);
    }
    log_line(level, "%s", text->str);
}

/* ---- The loop's parts ---- */

bool server_watch(Server *server, Source *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    if (source->added && source->events == events) {
        return true;
    }
    if (epoll_ctl(server->epoll_fd, source->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source->fd,
                  &event) < 0) {
        return false;
    }
    source->added = true;
    source->events = events;
    return true;
}

void server_pause_accepting(Server *server)
{
    for (guint i = 0; i < server->listeners->len; i++) {
        listener_stop(server->listeners->pdata[i]);
    }
    server->accept_resume_ns = server_now_ns() + SERVER_ACCEPT_PAUSE_MS * NS_PER_MS;
}

static void resume_accepting(Server *server, uint64_t now_ns)
{
    if (!server->accept_resume_ns || now_ns < server->accept_resume_ns) {
        return;
    }
    server->accept_resume_ns = 0;
    for (guint i = 0; i < server->listeners->len; i++) {
        listener_start(server->listeners->pdata[i]);
    }
}

/* An Admin queue ends after its I/O queues: who is not done yet is asked again. */
static void drain_connections(Server *server, uint64_t now_ns)
{
    GList *next;

    if (now_ns < server->drain_check_ns) {
        return;
    }
    server->drain_check_ns = now_ns + (uint64_t)SERVER_DRAIN_CHECK_MS * NS_PER_MS;
    for (GList *node = server->connections.head; node; node = next) {
        next = node->next;
        connection_drain(node->data);
    }
}

static void start_drain(Server *server)
{
    server->draining = true;
    server->drain_end_ns = server_now_ns() + server->options.drain_s * 1000ull * NS_PER_MS;
    server->accept_resume_ns = 0;
    for (guint i = 0; i < server->listeners->len; i++) {
        listener_close(server->listeners->pdata[i]);
    }
    for (int i = 0; i < SERVER_SERVICES; i++) {
        if (server->services[i]) {
            service_close(server->services[i]);
        }
    }
    drain_connections(server, server_now_ns());
}

void server_end(Server *server, bool at_once)
{
    if (!server->draining) {
        start_drain(server);
    }
    if (at_once) {
        server->drain_end_ns = 0;
    }
    if (server->crew && !server->thread) {
        crew_end(server->crew, at_once);
    }
}

static void signals_ready(Source *source, uint32_t events G_GNUC_UNUSED)
{
    Server *server = (Server *)((char *)source - offsetof(Server, signals));
    struct signalfd_siginfo info;

    if (read(source->fd, &info, sizeof(info)) != sizeof(info)) {
        return;
    }
    if (!server->draining) {
        log_line(LOG_LEVEL_INFO, "%s: ending", info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM");
    }
    server_end(server, server->draining); /* asked twice: at once */
}

/* One turn for every connection that had output at the start. */
static void flush_output(Server *server)
{
    for (guint left = server->output.length; left > 0; left--) {
        GList *node = g_queue_pop_head_link(&server->output);
        Connection *connection;

        if (!node) {
            return;
        }
        connection = node->data;
        connection->has_output = false;
        connection_flush(connection);
    }
}

static void free_dead(Server *server)
{
    GList *node;

    while ((node = g_queue_pop_head_link(&server->dead))) {
        connection_free(node->data);
    }
    g_ptr_array_set_size(server->closed_listeners, 0);
}

static int timeout_ms(const Server *server, uint64_t now_ns)
{
    uint64_t deadline = lst_target_next_deadline(server->target);
    uint64_t wait_ms;

    if (server->output.length > 0) {
        return 0;
    }
    if (server->draining) {
        deadline = MIN(deadline, MIN(server->drain_end_ns, server->drain_check_ns));
    }
    if (server->accept_resume_ns) {
        deadline = MIN(deadline, server->accept_resume_ns);
    }
    for (int i = 0; i < SERVER_SERVICES; i++) {
        if (server->services[i]) {
            deadline = MIN(deadline, service_next_deadline(server->services[i]));
        }
    }
    if (deadline == UINT64_MAX) {
        return -1;
    }
    if (deadline <= now_ns) {
        return 0;
    }
    /* Rounded up, or the last millisecond would be spent spinning. */
    wait_ms = (deadline - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return (int)MIN(wait_ms, (uint64_t)G_MAXINT);
}

static void end_services_round(Server *server, uint64_t now_ns)
{
    for (int i = 0; i < SERVER_SERVICES; i++) {
        if (server->services[i]) {
            service_end_round(server->services[i], now_ns);
        }
    }
}

static bool run_loop(Server *server, GError **error)
{
    struct epoll_event events[SERVER_EVENTS];
    uint64_t now_ns = server_now_ns();

    while (!server->draining ||
           ((server->connections.length > 0 || crew_running(server)) &&
            now_ns < server->drain_end_ns)) {
        int count = epoll_wait(server->epoll_fd, events, SERVER_EVENTS,
                               timeout_ms(server, now_ns));

        if (count < 0 && errno != EINTR) {
            g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "epoll_wait: %s",
                        g_strerror(errno));
            return false;
        }
        now_ns = server_now_ns();
        lst_target_tick(server->target, now_ns);
        for (int i = 0; i < count; i++) {
            Source *source = events[i].data.ptr;

            source->ready(source, events[i].events);
        }
        delay_run(server->delay);
        resume_accepting(server, now_ns);
        if (server->draining) {
            drain_connections(server, now_ns);
        }
        end_services_round(server, now_ns);
        flush_output(server);
        free_dead(server);
    }
    /* A drive that takes longer than we may: its commands are done, so they are answered. */
    delay_cancel(server->delay);
    flush_output(server);
    return true;
}

bool server_run(Server *server, GError **error)
{
    bool ok = run_loop(server, error);

    if (server->crew && !server->thread) {
        crew_end(server->crew, !ok);
        crew_join(server->crew);
    }
    return ok;
}

/* ---- Start and end ---- */

/* Each host queue is a descriptor; the soft limit is for programs that use select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool watch_signals(Server *server, GError **error)
{
    sigset_t set;

    /* A peer that is gone, or a limit on file sizes, is an errno to us. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    server->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    server->signals.ready = signals_ready;
    if (server->signals.fd < 0 || !server_watch(server, &server->signals, EPOLLIN)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "signalfd: %s", g_strerror(errno));
        return false;
    }
    return true;
}

/* All is done by delay_run() in each round: it had to begin, no more. */
static void timer_ready(Source *source G_GNUC_UNUSED, uint32_t events G_GNUC_UNUSED)
{
}

static bool watch_drives(Server *server, GError **error)
{
    server->delay = delay_new(server_now_ns, server->options.seed);
    server->timer.ready = timer_ready;
    server->timer.fd = server->delay ? delay_fd(server->delay) : -1;
    if (!server->delay || !server_watch(server, &server->timer, EPOLLIN)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "timerfd: %s", g_strerror(errno));
        return false;
    }
    return true;
}

struct Listener *server_listener(Server *server, const struct lst_port *port)
{
    for (guint i = 0; i < server->listeners->len; i++) {
        Listener *listener = server->listeners->pdata[i];

        if (listener->port == port) {
            return listener;
        }
    }
    return NULL;
}

static bool start_listener(Server *server, Listener *listener, GError **error)
{
    if (!listener_start(listener)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "epoll_ctl: %s", g_strerror(errno));
        return false;
    }
    if (server->accept_resume_ns) {
        listener_stop(listener);
    }
    return true;
}

/* Where the first thread listens for this one. */
static void take_port_number(Server *server, ConfigPort *port)
{
    const GPtrArray *ports = crew_member(server, 0)->config->ports;

    for (guint i = 0; i < ports->len; i++) {
        const ConfigPort *first = ports->pdata[i];

        if (first->portid == port->portid) {
            port->trsvcid = first->trsvcid;
        }
    }
}

bool server_listen(Server *server, ConfigPort *from, struct lst_port *port, GError **error)
{
    Listener *listener;

    if (server->thread) {
        take_port_number(server, from);
        return true;
    }
    listener = listener_new(server, from, error);

    if (!listener) {
        return false;
    }
    g_ptr_array_add(server->listeners, listener);
    listener->port = port;
    if (!start_listener(server, listener, error)) {
        server_unlisten(server, port);
        return false;
    }
    return true;
}

void server_unlisten(Server *server, const struct lst_port *port)
{
    Listener *listener = server_listener(server, port);
    guint index;

    if (listener && g_ptr_array_find(server->listeners, listener, &index)) {
        g_ptr_array_steal_index(server->listeners, index);
        listener_close(listener);
        g_ptr_array_add(server->closed_listeners, listener);
    }
}

static bool listen_on_ports(Server *server, GError **error)
{
    for (guint i = 0; i < server->config->ports->len; i++) {
        Listener *listener = listener_new(server, server->config->ports->pdata[i], error);

        if (!listener) {
            return false;
        }
        g_ptr_array_add(server->listeners, listener);
        listener->port = setup_port(server->target, server->config, i, error);
        if (!listener->port) {
            return false;
        }
        if (!start_listener(server, listener, error)) {
            return false;
        }
    }
    return true;
}

static bool know_ports(Server *server, GError **error)
{
    for (guint i = 0; i < server->config->ports->len; i++) {
        if (!setup_port(server->target, server->config, i, error)) {
            return false;
        }
    }
    return true;
}

static bool check_folder(const char *option, const char *folder, GError **error)
{
    if (folder && access(folder, W_OK | X_OK) < 0) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "--%s: %s: %s", option, folder,
                    g_strerror(errno));
        return false;
    }
    if (folder && !g_file_test(folder, G_FILE_TEST_IS_DIR)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "--%s: wrong value \"%s\"; allowed: a folder", option, folder);
        return false;
    }
    return true;
}

static bool start_services(Server *server, GError **error)
{
    const ServerOptions *options = &server->options;

    if (options->control) {
        server->services[SERVER_CONTROL] = control_new(server, options->control, error);
        server->control_made = server->services[SERVER_CONTROL];
        if (!server->control_made) {
            return false;
        }
    }
    if (options->metrics.traddr) {
        server->services[SERVER_METRICS] = metrics_new(server, &options->metrics, error);
        return server->services[SERVER_METRICS];
    }
    return true;
}

static void set_limit(Server *server, const char *key, uint64_t value)
{
    g_autofree char *text = g_strdup_printf("%" PRIu64, value);
    bool ok = lst_target_set(server->target, key, text, NULL);

    g_assert(ok); /* options_parse() allows the same values */
}

/* What all threads have: the target with its subsystems, but for ports. */
static Server *server_base(Config *config, const ServerOptions *options, GError **error)
{
    const struct lst_front_ops ops = {
        .io_submit = front_io_submit,
        .io_cancel = front_io_cancel,
        .conn_ready = front_conn_ready,
        .clock = front_clock,
        .serves = front_serves,
        .ns_keep = options->state ? front_ns_keep : NULL,
        .ns_kept = options->state ? front_ns_kept : NULL,
        .trace = front_trace,
    };
    g_autoptr(Server) server = g_new0(Server, 1);

    server->config = config;
    server->options = *options;
    server->open = &server->own_open;
    server->target = lst_target_new(&ops, server, options->seed);
    set_limit(server, "limit_handshake", options->handshake_s);
    set_limit(server, "limit_idle", options->idle_s);
    set_limit(server, "limit_memory", options->memory_max);
    server->backends = g_ptr_array_new_with_free_func((GDestroyNotify)backend_close);
    server->listeners = g_ptr_array_new_with_free_func((GDestroyNotify)listener_free);
    server->closed_listeners = g_ptr_array_new_with_free_func((GDestroyNotify)listener_free);
    server->read_buffer = g_malloc(SERVER_READ_BYTES);
    server->signals.fd = -1;
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (server->epoll_fd < 0) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "epoll: %s", g_strerror(errno));
        return NULL;
    }
    if (!check_folder("pcap", options->pcap, error) ||
        !check_folder("state", options->state, error) ||
        !setup_faults(server->target, config, error)) {
        return NULL;
    }
    /* The engine's timers count from now, not from the start of the machine. */
    lst_target_tick(server->target, server_now_ns());
    if (!watch_drives(server, error) ||
        !setup_subsystems(server->target, config, server->backends, server->delay, error)) {
        return NULL;
    }
    return g_steal_pointer(&server);
}

Server *server_new(Config *config, const ServerOptions *options, GError **error)
{
    g_autoptr(Server) server = NULL;

    raise_descriptor_limit();
    server = server_base(config, options, error);
    if (!server || !watch_signals(server, error) || !start_services(server, error) ||
        !listen_on_ports(server, error)) {
        return NULL;
    }
    tree_init(config);
    if (options->threads > 1 && !crew_new(server, options->threads, error)) {
        return NULL;
    }
    return g_steal_pointer(&server);
}

Server *server_new_member(Config *config, Server *first, unsigned thread, GError **error)
{
    g_autoptr(Server) server = server_base(config, &first->options, error);

    if (!server) {
        return NULL;
    }
    server->crew = first->crew;
    server->thread = thread;
    server->open = first->open;
    if (!know_ports(server, error)) {
        return NULL;
    }
    tree_init(config);
    return g_steal_pointer(&server);
}

void server_free(Server *server)
{
    if (server->crew && !server->thread) {
        g_clear_pointer(&server->crew, crew_free);
    }
    for (int i = 0; i < SERVER_SERVICES; i++) {
        g_clear_pointer(&server->services[i], service_free);
    }
    if (server->control_made && !server->thread) {
        control_remove(server->options.control);
    }
    while (server->connections.head) {
        connection_close(server->connections.head->data);
    }
    free_dead(server);
    g_ptr_array_unref(server->listeners);
    g_ptr_array_unref(server->closed_listeners);
    if (server->delay) {
        delay_cancel(server->delay);
    }
    lst_target_free(server->target);
    g_ptr_array_unref(server->backends);
    if (server->delay) {
        delay_free(server->delay);
    }
    if (server->signals.fd >= 0) {
        close(server->signals.fd);
    }
    if (server->epoll_fd >= 0) {
        close(server->epoll_fd);
    }
    g_free(server->read_buffer);
    g_free(server);
}
