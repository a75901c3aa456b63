/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the host's side of the run-control device: its directories, events, the end of a run.
 * Not here: registers and states (control_core.c), PCI and snapshots (control_pci.c).
 * Standard: none; docs/control.md describes the events.
 */
#ifndef LOCKSTEP_CONTROL_HOST_H
#define LOCKSTEP_CONTROL_HOST_H

#include "control_core.h"

/*
 * Limits on what one run may leave on the host, besides the property blob-limit.
 * What an earlier blob of the same name took is not given back.
 */
enum {
    CONTROL_BLOBS_MAX = 4096,
    CONTROL_EVENTS_MAX = 65536, /* marks and errors; the end of a run is always noted */
};

typedef struct ControlHost {
    int in_fd;     /* directory, -1: none */
    int out_fd;    /* directory, -1: none */
    int events_fd; /* LSCTL_EVENTS_NAME in out_fd */
    int64_t events_size; /* bytes of whole lines in it */
    unsigned events;
    const char *pause_at; /* the mark whose begin stops the machine; NULL: none */

    int put_fd;    /* the blob being put, under a hidden name; -1: none */
    char put_name[LSCTL_NAME_MAX + 1];
    uint64_t put_bytes;
    uint64_t blob_bytes; /* of all closed blobs */
    uint64_t blob_limit; /* for blob_bytes + put_bytes */
    unsigned blobs;

    int get_fd;    /* the file being read, -1: none */
    GString *list; /* or the list being read, NULL: none */
    size_t list_at;

    bool warned;   /* one message on a failing host is enough */
} ControlHost;

/* The core's surroundings; its host pointer is a ControlHost. */
extern const ControlHostOps control_host_ops;

/*
 * Open the directories in and out (NULL: none) and begin a new record of events.
 * blob_limit is in bytes. Returns false with errp set if a directory cannot be
 * used; host is then closed.
 */
bool control_host_open(ControlHost *host, const char *in, const char *out,
                       uint64_t blob_limit, Error **errp);

/* Drop what is under way and close everything; may be called twice. */
void control_host_close(ControlHost *host);

#endif /* LOCKSTEP_CONTROL_HOST_H */
