/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --threads: making and ending the threads, their stops, and the way of a connection to its own.
 * Not here: what a thread does (server.c). Fabrics 1.1, 3.3: Connect names the subsystem.
 */
#include "daemon/crew.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/tree.h"
#include "engine/stats.h"
#include "lockstep/nvme_fabrics.h"
#include "lockstep/nvme_tcp.h"

typedef struct Member {
    Crew *crew;
    Server *server;
    Config *config;        /* NULL: the first's, which is the caller's */
    GThread *thread;       /* NULL: the first, or not started */
    Source wake;           /* an eventfd */
    GAsyncQueue *arrivals; /* of Passenger * */
} Member;

struct Crew {
    Member members[CREW_THREADS_MAX];
    unsigned count;

    GMutex lock; /* of all below */
    GCond changed;
    bool pause;
    unsigned running; /* other threads in their loop */
    unsigned paused;
    int end;          /* 1: drain, 2: at once */
    GHashTable *owners; /* thread by NQN, as GUINT */
    unsigned next_owner;
};

/* A connection on its way. */
typedef struct Passenger {
    ConnectionMove move;
    uint32_t portid;
} Passenger;

static void passenger_free(void *data)
{
    Passenger *passenger = data;

    connection_move_clear(&passenger->move);
    g_free(passenger);
}

/* ---- The other threads' side */

static void wait_while_paused(Crew *crew)
{
    crew->paused++;
    g_cond_broadcast(&crew->changed);
    while (crew->pause) {
        g_cond_wait(&crew->changed, &crew->lock);
    }
    crew->paused--;
    g_cond_broadcast(&crew->changed);
}

static void wake_ready(Source *source, uint32_t events G_GNUC_UNUSED)
{
    Member *member = (Member *)((char *)source - offsetof(Member, wake));
    Crew *crew = member->crew;
    Passenger *passenger;
    uint64_t count;
    int end;

    if (read(source->fd, &count, sizeof(count)) < 0 && errno != EAGAIN) {
        log_line(LOG_LEVEL_WARN, "eventfd: %s", g_strerror(errno));
    }
    g_mutex_lock(&crew->lock);
    if (crew->pause) {
        wait_while_paused(crew);
    }
    end = crew->end;
    g_mutex_unlock(&crew->lock);
    while ((passenger = g_async_queue_try_pop(member->arrivals))) {
        connection_arrive(member->server,
                          lst_target_find_port(member->server->target, passenger->portid),
                          &passenger->move);
        passenger_free(passenger);
    }
    if (end) {
        server_end(member->server, end > 1);
    }
}

static gpointer run(gpointer data)
{
    Member *member = data;
    Crew *crew = member->crew;
    g_autoptr(GError) error = NULL;

    if (!server_run(member->server, &error)) {
        log_line(LOG_LEVEL_ERROR, "a thread has ended: %s", error->message);
    }
    g_mutex_lock(&crew->lock);
    crew->running--;
    g_cond_broadcast(&crew->changed);
    g_mutex_unlock(&crew->lock);
    return NULL;
}

/* ---- The first thread's side */

static void wake(Member *member)
{
    uint64_t one = 1;

    /* It fails only when it is readable anyway. */
    if (write(member->wake.fd, &one, sizeof(one)) < 0 && errno != EAGAIN) {
        log_line(LOG_LEVEL_WARN, "eventfd: %s", g_strerror(errno));
    }
}

static void wake_others(Crew *crew)
{
    for (unsigned i = 1; i < crew->count; i++) {
        wake(&crew->members[i]);
    }
}

unsigned crew_size(const Server *server)
{
    return server->crew ? server->crew->count : 1;
}

Server *crew_member(Server *server, unsigned index)
{
    return server->crew ? server->crew->members[index].server : server;
}

void crew_pause(Server *server)
{
    Crew *crew = server->crew;

    if (!crew) {
        return;
    }
    g_mutex_lock(&crew->lock);
    crew->pause = true;
    wake_others(crew);
    while (crew->paused < crew->running) {
        g_cond_wait(&crew->changed, &crew->lock);
    }
    g_mutex_unlock(&crew->lock);
}

void crew_resume(Server *server)
{
    Crew *crew = server->crew;

    if (!crew) {
        return;
    }
    g_mutex_lock(&crew->lock);
    crew->pause = false;
    g_cond_broadcast(&crew->changed);
    /* Or the next pause would count a thread that has not left this one. */
    while (crew->paused) {
        g_cond_wait(&crew->changed, &crew->lock);
    }
    g_mutex_unlock(&crew->lock);
}

bool crew_running(const Server *server)
{
    Crew *crew = server->crew;
    bool running;

    if (!crew || server->thread) {
        return false;
    }
    g_mutex_lock(&crew->lock);
    running = crew->running;
    g_mutex_unlock(&crew->lock);
    return running;
}

void crew_end(Crew *crew, bool at_once)
{
    g_mutex_lock(&crew->lock);
    crew->end = at_once ? 2 : 1;
    wake_others(crew);
    g_mutex_unlock(&crew->lock);
}

void crew_join(Crew *crew)
{
    for (unsigned i = 1; i < crew->count; i++) {
        g_clear_pointer(&crew->members[i].thread, g_thread_join);
    }
}

/* ---- Whose a connection is */

/* In turn, by the first Connect to each. The discovery service is the first thread's. */
static unsigned owner(Crew *crew, const char *subnqn)
{
    gpointer found;

    if (!strcmp(subnqn, NVF_DISCOVERY_NQN)) {
        return 0;
    }
    g_mutex_lock(&crew->lock);
    if (!g_hash_table_lookup_extended(crew->owners, subnqn, NULL, &found)) {
        found = GUINT_TO_POINTER(crew->next_owner++ % crew->count);
        g_hash_table_insert(crew->owners, g_strdup(subnqn), found);
    }
    g_mutex_unlock(&crew->lock);
    return GPOINTER_TO_UINT(found);
}

bool crew_serves(Server *server, const char *subnqn)
{
    Crew *crew = server->crew;

    return !crew || crew->members[owner(crew, subnqn)].server == server;
}

/* The subsystem that a Connect names, or NULL if these bytes are none; false: more must come. */
static bool find_subnqn(const GByteArray *early, char **subnqn)
{
    struct nvtcp_capsule_cmd capsule;
    const struct nvf_sqe *sqe = (const struct nvf_sqe *)&capsule.sqe;
    struct nvf_connect_data data;

    *subnqn = NULL;
    if (early->len < sizeof(capsule)) {
        return early->len >= 1 && early->data[0] != NVTCP_CAPSULE_CMD;
    }
    memcpy(&capsule, early->data, sizeof(capsule));
    if (capsule.hdr.type != NVTCP_CAPSULE_CMD || sqe->opcode != NVF_OPCODE ||
        sqe->fctype != NVF_CONNECT || capsule.hdr.plen > CREW_EARLY_MAX ||
        capsule.hdr.pdo + sizeof(data) > capsule.hdr.plen) {
        return true;
    }
    if (early->len < capsule.hdr.plen) {
        return false;
    }
    memcpy(&data, early->data + capsule.hdr.pdo, sizeof(data));
    *subnqn = g_strndup(data.subnqn, sizeof(data.subnqn));
    return true;
}

CrewPlace crew_place(Connection *connection)
{
    Server *server = connection->server;
    Crew *crew = server->crew;
    g_autofree char *subnqn = NULL;
    Passenger *passenger;
    unsigned thread;

    if (lst_conn_state(connection->engine) > LST_CONN_CONNECT) {
        return CREW_HERE;
    }
    if (lst_conn_state(connection->engine) < LST_CONN_CONNECT ||
        !find_subnqn(connection->early, &subnqn)) {
        return CREW_LATER;
    }
    /* Hosts may ask for what there is not; who asks for that is answered here. */
    if (!subnqn || !lst_target_find_subsys(server->target, subnqn)) {
        return CREW_HERE;
    }
    thread = owner(crew, subnqn);
    if (thread == 0) {
        return CREW_HERE;
    }
    if (lst_conn_pending(connection->engine)) {
        return CREW_LATER;
    }
    passenger = g_new0(Passenger, 1);
    if (!connection_leave(connection, &passenger->move, &passenger->portid)) {
        passenger_free(passenger);
        return CREW_HERE;
    }
    g_async_queue_push(crew->members[thread].arrivals, passenger);
    wake(&crew->members[thread]);
    return CREW_GONE;
}

/* ---- Start and end */

static Config *copy_config(Server *first, GError **error)
{
    g_autoptr(JsonNode) dump = tree_dump(first);
    g_autofree char *text = json_to_string(dump, FALSE);
    g_autoptr(Config) config = config_parse("--threads", text, strlen(text), error);

    return config && config_finish(config, error) ? g_steal_pointer(&config) : NULL;
}

static bool start_member(Crew *crew, Server *first, GError **error)
{
    unsigned index = crew->count;
    Member *member = &crew->members[index];
    g_autofree char *name = g_strdup_printf("serve-%u", index);

    member->crew = crew;
    member->config = copy_config(first, error);
    if (!member->config) {
        return false;
    }
    member->server = server_new_member(member->config, first, index, error);
    if (!member->server) {
        g_clear_pointer(&member->config, config_free);
        return false;
    }
    crew->count++; /* from here on crew_free() knows of it */
    member->arrivals = g_async_queue_new_full(passenger_free);
    member->wake.ready = wake_ready;
    member->wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (member->wake.fd < 0 || !server_watch(member->server, &member->wake, EPOLLIN)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "eventfd: %s", g_strerror(errno));
        return false;
    }
    member->thread = g_thread_try_new(name, run, member, error);
    if (member->thread) {
        crew->running++; /* nobody pauses before all are there */
    }
    return member->thread;
}

bool crew_new(Server *first, unsigned threads, GError **error)
{
    Crew *crew = g_new0(Crew, 1);

    g_assert(threads >= 2 && threads <= CREW_THREADS_MAX && !first->crew);
    g_mutex_init(&crew->lock);
    g_cond_init(&crew->changed);
    crew->owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    crew->members[0] = (Member){.crew = crew, .server = first};
    crew->count = 1;
    first->crew = crew;
    for (unsigned i = 1; i < threads; i++) {
        bool ok;

        g_mutex_lock(&crew->lock);
        ok = start_member(crew, first, error);
        g_mutex_unlock(&crew->lock);
        if (!ok) {
            return false;
        }
    }
    return true;
}

void crew_free(Crew *crew)
{
    crew_end(crew, true);
    crew_join(crew);
    for (unsigned i = 1; i < crew->count; i++) {
        Member *member = &crew->members[i];

        server_free(member->server);
        config_free(member->config);
        g_async_queue_unref(member->arrivals);
        if (member->wake.fd >= 0) {
            close(member->wake.fd);
        }
    }
    g_hash_table_unref(crew->owners);
    g_mutex_clear(&crew->lock);
    g_cond_clear(&crew->changed);
    g_free(crew);
}
