/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --threads: several servers of one configuration, each with a thread, a loop and an engine target
 * of its own.
 * Not here: what a thread does (server.h). No standard.
 */
/*
 * A subsystem belongs to one of the threads, with all its hosts, controllers and commands, so that
 * commands share nothing with another thread and need no lock. The first thread listens, answers
 * the discovery service and sends a connection to its thread when its Connect names a subsystem.
 *
 * The control socket changes every server alike. It stops the other threads for as long, between
 * two rounds of their loops.
 */
#ifndef LOCKSTEP_DAEMON_CREW_H
#define LOCKSTEP_DAEMON_CREW_H

#include "daemon/connection.h"
#include "daemon/server.h"

enum CrewLimits {
    CREW_THREADS_MAX = 64,
    CREW_EARLY_MAX = 64 << 10, /* bytes kept of a connection whose thread is not known yet */
};

typedef struct Crew Crew;

/**
 * crew_new - make and start the other threads
 * @first: complete, not running yet; its crew is set
 * @threads: in all, from 2
 * @error: set on failure, domain CONFIG_ERROR
 *
 * Return: true; the crew ends with server_run() and is freed with @first.
 */
bool crew_new(Server *first, unsigned threads, GError **error);
void crew_free(Crew *crew);

/**
 * crew_end - let the other threads end like server_run()
 * @at_once: do not wait for commands
 */
void crew_end(Crew *crew, bool at_once);
/* Whether some have not yet; of another than the first: no. */
bool crew_running(const Server *server);
/* Wait until they have ended. */
void crew_join(Crew *crew);

/*
 * The servers, the first included; a server without a crew is alone. Others than the first may be
 * touched between crew_pause() and crew_resume() only. These are for the first thread.
 */
unsigned crew_size(const Server *server);
Server *crew_member(Server *server, unsigned index);
void crew_pause(Server *server);
void crew_resume(Server *server);

/**
 * crew_serves - whether @server is the one for a subsystem. Any thread
 */
bool crew_serves(Server *server, const char *subnqn);

/* What became of a connection whose first command is awaited. */
typedef enum CrewPlace {
    CREW_LATER, /* it stays for now: more has to come, or to be sent */
    CREW_HERE,  /* the first thread serves it */
    CREW_GONE,  /* it is on its way to another thread; the caller's Connection has no socket */
} CrewPlace;

/**
 * crew_place - look whether the thread of a connection is known
 * @connection: of the first server, with what came behind its ICReq in early
 */
CrewPlace crew_place(Connection *connection);

#endif
