/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon while it runs, or one of its threads (crew.h): an epoll set, listeners, connections.
 * Not here: the protocol (engine/), media (backend.h). No standard.
 */
#ifndef LOCKSTEP_DAEMON_SERVER_H
#define LOCKSTEP_DAEMON_SERVER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/config.h"
#include "daemon/delay.h"
#include "engine/conn.h"
#include "engine/target.h"

enum ServerLimits {
    SERVER_EVENTS = 256,            /* taken from epoll at once */
    SERVER_ACCEPTS = 64,            /* connections taken from a listener at once */
    SERVER_BACKLOG = 1024,          /* connections the kernel keeps for us */
    SERVER_READ_BYTES = 256 << 10,  /* read from a connection before the next has its turn */
    SERVER_SEND_BYTES = 1 << 20,    /* sent to a connection before the next has its turn */
    SERVER_PENDING_HIGH = 4 << 20,  /* bytes a host has not taken yet: stop reading from it */
    SERVER_PENDING_LOW = 1 << 20,   /* and go on below this */
    SERVER_ACCEPT_PAUSE_MS = 100,   /* after running out of descriptors or memory */
    SERVER_DRAIN_CHECK_MS = 10,     /* between two looks at who is done */
    SERVER_DRAIN_MAX_S = 3600,
};

/* What is served beside hosts. */
enum ServerService { SERVER_CONTROL, SERVER_METRICS, SERVER_SERVICES };

typedef struct Source Source;
typedef struct Service Service;
typedef struct Crew Crew;

/* A descriptor in the epoll set and what to do when it is ready. */
struct Source {
    int fd;
    bool added;      /* to the epoll set */
    uint32_t events; /* EPOLLIN, EPOLLOUT: what is waited for now */
    void (*ready)(Source *source, uint32_t events);
};

/* What the command line says beside the configuration. */
typedef struct ServerOptions {
    uint32_t threads;     /* that serve, from 1 */
    uint64_t seed;
    const char *control; /* path of the control socket; NULL: none */
    const char *pcap;     /* folder for a capture of each connection; NULL: none */
    const char *state;    /* folder for what namespaces keep over a restart; NULL: nothing */
    uint32_t drain_s;     /* for commands to end after SIGTERM */
    uint32_t connections_max; /* 0: no limit */
    uint32_t handshake_s, idle_s; /* limit_handshake, limit_idle of engine/target.h */
    uint64_t memory_max;  /* limit_memory, bytes */
    ConfigListen metrics; /* where the page of metrics is; traddr NULL: nowhere */
} ServerOptions;

typedef struct Server {
    Crew *crew;           /* NULL: the only one */
    unsigned thread;      /* its place in the crew; 0: it listens */
    gint *open;           /* connections of all threads */
    gint own_open;        /* where the first keeps them */
    Config *config;
    ServerOptions options;
    struct lst_target *target;
    GPtrArray *backends;  /* of Backend * */
    GPtrArray *listeners; /* of Listener * */
    GPtrArray *closed_listeners; /* of Listener *: perhaps still in this round's events */
    GQueue connections;   /* of Connection *: open ones */
    GQueue output;        /* of Connection *: the engine has something for them */
    GQueue dead;          /* of Connection *: closed, perhaps still in this round's events */
    int epoll_fd;
    Source signals;
    Service *services[SERVER_SERVICES]; /* NULL: not there */
    bool control_made; /* its path is ours to remove */
    Delay *delay;   /* the drives that namespaces play */
    Source timer;   /* of the drives */
    bool draining;
    uint64_t drain_end_ns, drain_check_ns;
    uint64_t accept_resume_ns; /* 0: listeners are not paused */
    uint8_t *read_buffer;      /* SERVER_READ_BYTES, shared: the engine keeps nothing of it */
} Server;

/**
 * server_new - open backends, build the target, listen on every port
 * @config: after config_finish(); stays the caller's and must outlive the server.
 *          Sizes and port numbers are filled in; later it changes as the tree does
 * @options: copied; its texts must outlive the server
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: a server, freed by server_free(), or NULL.
 */
Server *server_new(Config *config, const ServerOptions *options, GError **error);
void server_free(Server *server);

/**
 * server_new_member - another of the same configuration, for a thread of the crew
 * @config: a copy of @first's, with the numbers of its ports
 * @first: complete; listens for this one too, has the control socket and the signals
 * @thread: from 1
 */
Server *server_new_member(Config *config, Server *first, unsigned thread, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Server, server_free)

/**
 * server_run - serve until SIGTERM or SIGINT, then accept nothing more and let the
 *              commands that are under way end, for at most the drain time
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: true after a signal, false if the loop itself failed.
 */
bool server_run(Server *server, GError **error);

/**
 * server_end - let server_run() end as after a signal
 * @at_once: do not wait for commands
 */
void server_end(Server *server, bool at_once);

/* For the tree: ports that come and go. */

/**
 * server_listener - the listener of a port, or NULL if it does not listen
 */
struct Listener *server_listener(Server *server, const struct lst_port *port);

/**
 * server_listen - listen on a port's address; its trsvcid is filled in
 * server_unlisten - end that; nothing happens if it does not listen
 */
bool server_listen(Server *server, ConfigPort *from, struct lst_port *port, GError **error);
void server_unlisten(Server *server, const struct lst_port *port);

/* For listener.c and connection.c. */

/**
 * server_watch - add a source to the epoll set or change what it waits for
 * @events: EPOLLIN, EPOLLOUT or 0
 *
 * Return: false if the kernel has no memory for it; errno says why.
 */
bool server_watch(Server *server, Source *source, uint32_t events);

/**
 * server_pause_accepting - leave new connections to the kernel for a while
 */
void server_pause_accepting(Server *server);

/**
 * server_now_ns - the clock of the loop: CLOCK_MONOTONIC in nanoseconds
 */
uint64_t server_now_ns(void);

#endif
