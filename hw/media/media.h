/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a solid-state drive takes: controller, channels, dies, write cache, garbage collection,
 * with jitter and outliers from a seed. The SSD device model and target-sim use the same code.
 * Not here: data, I/O, clocks, QEMU. Whoever asks gives the time in nanoseconds; the same calls
 * give the same answers on every machine (integers only).
 * No standard; docs/media.md has the arithmetic and what the presets are calibrated to.
 */
#ifndef LOCKSTEP_MEDIA_H
#define LOCKSTEP_MEDIA_H

#include <stdbool.h>
#include <stdint.h>

enum media_limits {
    MEDIA_CHANNELS_MAX = 256,
    MEDIA_DIES_MAX = 256,            /* per channel */
    MEDIA_PAGE_MIN = 4096,           /* bytes */
    MEDIA_PAGE_MAX = 1 << 20,
    MEDIA_MBPS_MAX = 1000000,
    MEDIA_BLOCK_PAGES_MAX = 65536,
    MEDIA_READ_BURST_MAX = 1000000,
    MEDIA_STREAMS = 16,              /* sequential writers that are told apart */
};
#define MEDIA_NS_MAX UINT64_C(10000000000)
#define MEDIA_CACHE_MAX (UINT64_C(4) << 30)
#define MEDIA_LENGTH_MAX (UINT64_C(1) << 50)    /* of a request; a longer one counts as this */
#define MEDIA_NEVER UINT64_MAX

/* One row of the presets. A rate of 0 is no limit; all times in ns, sizes in bytes. */
struct media_config {
    uint64_t command_ns;    /* the controller takes one command after the other, each for so long */
    uint64_t overhead_ns;   /* added to each command, however many there are */
    uint64_t read_mbps;     /* link to the host, one direction; 10^6 bytes per second */
    uint64_t write_mbps;    /* and the other */
    uint64_t channels;
    uint64_t dies;          /* per channel */
    uint64_t page;          /* what a die reads or programs at once */
    uint64_t channel_mbps;  /* between controller and dies */
    uint64_t read_ns;       /* a die reads a page */
    uint64_t program_ns;    /* a die programs a page */
    uint64_t erase_ns;      /* a die erases a block */
    uint64_t read_burst;    /* reads a die serves while a program waits */
    uint64_t block_pages;   /* pages of a block; 0: nothing is ever erased */
    uint64_t gc_moves;      /* valid pages of a block that random writes made worth erasing */
    uint64_t cache;         /* write cache; 0: a write ends when its pages are programmed */
    uint64_t cache_ns;      /* a write enters the cache */
    uint64_t plp;           /* 1: the cache survives the loss of power, Flush and FUA do not wait */
    uint64_t jitter_pm;     /* a die's times vary evenly by up to so many thousandths either way */
    uint64_t outlier_ppm;   /* so many commands of a million ... */
    uint64_t outlier_ns;    /* ... take longer by this */
};

/*
 * media_config_parse: "PRESET[,key=value...]"; keys are the members above.
 * @config: written only on success. @why: NULL, or on failure what is allowed, for a message; freed
 * by g_free().
 */
bool media_config_parse(const char *text, struct media_config *config, char **why);

/*
 * media_config_format: the reverse, by the preset that differs least. A new string, freed by
 * g_free().
 */
char *media_config_format(const struct media_config *config);

/* True if every command ends when it begins: the preset null. */
bool media_config_is_null(const struct media_config *config);

/* The presets by name in the order of docs/media.md; NULL behind the last. */
const char *media_preset_name(unsigned index);

enum media_op {
    MEDIA_READ,
    MEDIA_VERIFY,           /* a read whose data stay in the drive */
    MEDIA_WRITE,
    MEDIA_FLUSH,
    MEDIA_OTHER,            /* needs the controller only: Deallocate, Write Zeroes */
};

struct media_request {
    enum media_op op;
    bool fua;               /* MEDIA_WRITE: not done before it is programmed (unless plp) */
    uint64_t offset;        /* bytes */
    uint64_t length;        /* bytes; READ, VERIFY, WRITE */
    void *opaque;           /* media_complete() gives it back */
};

struct media;

/*
 * media_new: an idle, empty drive.
 * @config: copied; from media_config_parse(). @seed: of jitter and outliers.
 * Freed by media_free(); requests that have not ended are forgotten.
 */
struct media *media_new(const struct media_config *config, uint64_t seed);
void media_free(struct media *media);

/*
 * media_submit: a command reaches the drive at @now. Time does not go back: an earlier @now counts
 * as the latest one seen.
 */
void media_submit(struct media *media, uint64_t now, const struct media_request *request);

/*
 * media_complete: the next command that has ended by @now, in order of time.
 * @when: the time it ended. May be NULL.
 * Returns its opaque, or NULL if there is none: hence opaque should not be NULL.
 */
void *media_complete(struct media *media, uint64_t now, uint64_t *when);

/*
 * media_next: when to call media_complete() next. A command may end then, or something inside the
 * drive. MEDIA_NEVER if nothing will end.
 */
uint64_t media_next(const struct media *media);

/* Commands that have not ended. */
uint64_t media_outstanding(const struct media *media);

#endif
