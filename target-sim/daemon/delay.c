/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds requests back that a backend has done until the drive that is played would have done them.
 * Not here: how long that takes (hw/media/), what a backend does. No standard.
 */
#include "daemon/delay.h"

#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lockstep/nvme.h"

enum { NS_PER_S = 1000000000 };

struct Delay {
    uint64_t (*clock)(void);
    uint64_t seed;
    int fd;
    uint64_t armed;  /* MEDIA_NEVER: the timer is off */
    GQueue active;   /* of Drive *: those with requests in them */
    GArray *ended;   /* of Ended, while it is sorted */
};

struct Drive {
    Delay *delay;
    struct media *media;
    GList node; /* in delay->active */
    bool active;
};

/* A request in a drive. */
typedef struct Ticket {
    struct lst_io *io; /* NULL: cancelled */
    uint16_t status;
} Ticket;

typedef struct Ended {
    uint64_t when;
    guint order; /* the array's: equal times stay in it */
    Ticket *ticket;
} Ended;

Delay *delay_new(uint64_t (*clock)(void), uint64_t seed)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    Delay *delay;

    if (fd < 0) {
        return NULL;
    }
    delay = g_new0(Delay, 1);
    delay->clock = clock;
    delay->seed = seed;
    delay->fd = fd;
    delay->armed = MEDIA_NEVER;
    delay->ended = g_array_new(FALSE, FALSE, sizeof(Ended));
    return delay;
}

void delay_free(Delay *delay)
{
    g_assert(!delay->active.length);
    close(delay->fd);
    g_array_unref(delay->ended);
    g_free(delay);
}

int delay_fd(const Delay *delay)
{
    return delay->fd;
}

static gint compare_ended(gconstpointer a, gconstpointer b)
{
    const Ended *left = a, *right = b;

    if (left->when != right->when) {
        return left->when < right->when ? -1 : 1;
    }
    return left->order < right->order ? -1 : 1;
}

static void collect(Delay *delay, uint64_t now)
{
    GList *next;

    for (GList *node = delay->active.head; node; node = next) {
        Drive *drive = node->data;
        Ended ended;

        next = node->next;
        while ((ended.ticket = media_complete(drive->media, now, &ended.when))) {
            ended.order = delay->ended->len;
            g_array_append_val(delay->ended, ended);
        }
        if (!media_outstanding(drive->media)) {
            drive->active = false;
            g_queue_unlink(&delay->active, node);
        }
    }
}

static void complete_until(Delay *delay, uint64_t now)
{
    collect(delay, now);
    g_array_sort(delay->ended, compare_ended);
    /* A completion may submit, but that does not touch the array. */
    for (guint i = 0; i < delay->ended->len; i++) {
        Ticket *ticket = g_array_index(delay->ended, Ended, i).ticket;

        if (ticket->io) {
            ticket->io->front = NULL;
            lst_io_complete(ticket->io, ticket->status);
        }
        g_free(ticket);
    }
    g_array_set_size(delay->ended, 0);
}

static void arm(Delay *delay)
{
    struct itimerspec when = {{0, 0}, {0, 0}};
    uint64_t next = MEDIA_NEVER;

    for (GList *node = delay->active.head; node; node = node->next) {
        next = MIN(next, media_next(((Drive *)node->data)->media));
    }
    if (next == delay->armed) {
        return;
    }
    delay->armed = next;
    if (next != MEDIA_NEVER) {
        /* All zeros would switch it off. */
        when.it_value.tv_sec = (time_t)(next / NS_PER_S);
        when.it_value.tv_nsec = (long)MAX(next % NS_PER_S, 1);
    }
    /* Nobody reads the descriptor: this also makes it unreadable again. */
    timerfd_settime(delay->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void delay_run(Delay *delay)
{
    if (delay->active.length) {
        complete_until(delay, delay->clock());
        arm(delay);
    }
}

void delay_cancel(Delay *delay)
{
    while (delay->active.length) {
        complete_until(delay, MEDIA_NEVER);
    }
    arm(delay);
}

Drive *drive_new(Delay *delay, const struct media_config *config, const uint8_t id[16])
{
    uint64_t mix;
    Drive *drive;

    if (media_config_is_null(config)) {
        return NULL;
    }
    drive = g_new0(Drive, 1);
    memcpy(&mix, id, sizeof(mix));
    drive->delay = delay;
    drive->node.data = drive;
    drive->media = media_new(config, delay->seed ^ GUINT64_FROM_LE(mix));
    return drive;
}

void drive_free(Drive *drive)
{
    if (drive) {
        g_assert(!drive->active);
        media_free(drive->media);
        g_free(drive);
    }
}

void drive_submit(Drive *drive, struct lst_io *io, uint16_t status)
{
    static const enum media_op ops[LST_IO_OP_COUNT] = {
        [LST_IO_READ] = MEDIA_READ,
        [LST_IO_WRITE] = MEDIA_WRITE,
        [LST_IO_FLUSH] = MEDIA_FLUSH,
        [LST_IO_WRITE_ZEROES] = MEDIA_OTHER,
        [LST_IO_DISCARD] = MEDIA_OTHER,
        [LST_IO_VERIFY] = MEDIA_VERIFY,
    };
    Ticket *ticket = g_new(Ticket, 1);
    struct media_request request = {ops[io->op], io->fua, io->offset, io->length, ticket};
    Delay *delay = drive->delay;

    *ticket = (Ticket){io, status};
    io->front = ticket;
    media_submit(drive->media, delay->clock(), &request);
    if (!drive->active) {
        drive->active = true;
        g_queue_push_tail_link(&delay->active, &drive->node);
    }
}

bool drive_cancel(struct lst_io *io)
{
    Ticket *ticket = io->front;

    ticket->io = NULL;
    io->front = NULL;
    lst_io_complete(io, NV_SC_ABORT_REQUESTED);
    return true;
}
