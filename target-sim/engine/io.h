/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests from the engine to the media behind a namespace, and how the front completes them.
 * Not here: NVMe commands; a request is already checked against the namespace and is in bytes.
 * No standard: this is the seam where RAM, null and file backends, a media model or QEMU's block
 * layer attach.
 */
#ifndef ENGINE_IO_H
#define ENGINE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct lst_conn;

enum lst_io_op {
    LST_IO_READ,             /* offset, length, iov (to be filled) */
    LST_IO_WRITE,            /* offset, length, iov, fua */
    LST_IO_FLUSH,            /* everything completed before becomes durable */
    LST_IO_WRITE_ZEROES,     /* offset, length, fua, may_unmap */
    LST_IO_DISCARD,          /* ranges: afterwards they read as zeroes (Identify says so: DLFEAT) */
    LST_IO_VERIFY,           /* offset, length: readable? no data goes anywhere */
    LST_IO_OP_COUNT
};

struct lst_io_range {
    uint64_t offset;         /* bytes */
    uint64_t length;         /* bytes, may be 0 */
};

/*
 * One request. It belongs to the engine and lives until lst_io_complete(); so do the buffers, which
 * nobody else touches in between. A connection may be freed meanwhile: the request stays valid and
 * must still be completed, once.
 */
struct lst_io {
    enum lst_io_op op;
    bool fua;                /* WRITE, WRITE_ZEROES: durable before completion */
    bool may_unmap;          /* WRITE_ZEROES: the space may be given back */
    uint32_t nsid;
    void *backend;           /* what lst_ns_attach() was given */
    uint64_t offset;         /* bytes; offset + length never passes the namespace's size */
    uint64_t length;         /* bytes */
    const struct iovec *iov; /* READ, WRITE: sum of the lengths == length */
    unsigned iov_count;
    const struct lst_io_range *ranges;   /* DISCARD */
    unsigned range_count;
    void *front;             /* for whoever executes the request; the engine does not look at it */
};

/*
 * lst_io_complete: the request is done.
 * @status: NVMe status as SCT << 8 | SC (enum nv_status), 0 on success. NV_DNR may be or-ed in.
 * May be called from inside the submit operation (synchronous backend) or any time later, in any
 * order. Produces output on the connection, if that still exists: the front hears of it through
 * lst_front_ops.conn_ready.
 */
void lst_io_complete(struct lst_io *io, uint16_t status);

#endif
