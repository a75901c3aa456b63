/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: I/O commands with any fields and data, backends that are late or fail, namespaces that
 * come, go and shrink.
 * Not here: faults on demand (fuzz_fault.c).
 * NVM command set specification 1.0, section 3.
 */
#include "commands.h"

static struct nv_sqe fused(uint8_t opcode, uint8_t fuse, uint64_t slba)
{
    struct nv_sqe sqe = host_cmd_rw(opcode, 1, slba, 2, 0);

    sqe.flags = fuse;
    return sqe;
}

static void step(struct fuzz_session *session, const struct fuzz_record *record)
{
    struct fuzz_record io = *record;

    /* Of Fabrics commands only Disconnect; its type is where others have the NSID. */
    if (io.sqe.opcode == NVF_OPCODE) {
        io.sqe.nsid = NVF_DISCONNECT;
    }
    /* The input's queue 1: Aborts of what is in flight on the other. */
    if (io.queue == 1) {
        io.sqe = host_cmd_abort(1, io.sqe.cid);
        fuzz_command(session, &io, false);
    } else {
        fuzz_command(session, &io, true);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_session *session = fuzz_session_new(false);

    fuzz_each_record(data, size, step, session);
    fuzz_session_free(session);
    return 0;
}

void fuzz_corpus(FuzzAddFn *add)
{
    g_autoptr(GByteArray) data = g_byte_array_new(), others = g_byte_array_new(),
                          late = g_byte_array_new();

    for (unsigned i = 0; i < 8; i++) {
        uint32_t blocks = 1u << i;
        uint16_t bytes = (uint16_t)MIN(blocks * RIG_BLOCK, 65024);

        fuzz_put(data, i < 5 ? FUZZ_DATA_CAPSULE : FUZZ_DATA_R2T, 0, bytes, i,
                 host_cmd_rw(NV_IO_WRITE, 1, i, bytes / RIG_BLOCK, 0));
        fuzz_put(data, FUZZ_DATA_IN, 0, bytes, 0,
                 host_cmd_rw(NV_IO_READ, 1, i, bytes / RIG_BLOCK, i & 1 ? 0x4000 : 0));
    }
    fuzz_put(others, FUZZ_DATA_CAPSULE, 0, 512, 0, host_cmd_rw(NV_IO_COMPARE, 1, 0, 1, 0));
    fuzz_put(others, FUZZ_NO_DATA, 0, 0, 0, host_cmd_rw(NV_IO_WRITE_ZEROES, 1, 8, 8, 0x200));
    fuzz_put(others, FUZZ_NO_DATA, 0, 0, 0, host_cmd_rw(NV_IO_VERIFY, 1, 8, 8, 0));
    fuzz_put(others, FUZZ_NO_DATA, 0, 0, 0, host_cmd_rw(NV_IO_WRITE_UNCORRECTABLE, 1, 8, 8, 0));
    fuzz_put(others, FUZZ_DATA_CAPSULE, 0, 32, 4, host_cmd_dsm(1, 2, NV_DSM_DEALLOCATE));
    fuzz_put(others, FUZZ_DATA_R2T, 0, 4096, 4, host_cmd_dsm(1, 256, NV_DSM_DEALLOCATE));
    /* The record's argument is all of the list that is not zero: reserved bytes. */
    fuzz_put(others, FUZZ_DATA_CAPSULE, 0, 32, 0, host_cmd_copy(1, 8, 1, 0));
    fuzz_put(others, FUZZ_DATA_R2T, 0, 160, 0, host_cmd_copy(1, 8, 4, 1));
    fuzz_put(late, FUZZ_BACKEND, 0, 0, 1, host_cmd(0, 0));
    fuzz_put(late, FUZZ_DATA_R2T, 0, 128, 0, host_cmd_copy(1, 100, 4, 0));
    fuzz_put(others, FUZZ_DATA_CAPSULE, 0, 16, 1, host_cmd(NV_IO_RESV_REGISTER, 1));
    fuzz_put(others, FUZZ_DATA_CAPSULE, 0, 16, 1, host_cmd(NV_IO_RESV_ACQUIRE, 1));
    fuzz_put(others, FUZZ_DATA_CAPSULE, 0, 8, 1, host_cmd(NV_IO_RESV_RELEASE, 1));
    fuzz_put(others, FUZZ_DATA_IN, 0, 4096, 0, host_cmd(NV_IO_RESV_REPORT, 1));
    for (unsigned opcode = 0x79; opcode <= 0x7d; opcode++) {
        fuzz_put(others, opcode == 0x7a ? FUZZ_DATA_IN : FUZZ_DATA_CAPSULE, 0, 512, 0,
                 host_cmd((uint8_t)opcode, 1));
    }
    fuzz_put(others, FUZZ_NO_DATA, 0, 0, 0, host_cmd(NV_IO_FLUSH, NV_NSID_ALL));
    for (unsigned i = 0; i < 6; i++) {
        fuzz_put(i < 3 ? others : late, i & 1 ? FUZZ_DATA_CAPSULE : FUZZ_DATA_R2T, 0, 1024, i & 2,
                 fused(NV_IO_COMPARE, NV_FUSE_FIRST, i / 2));
        fuzz_put(i < 3 ? others : late, i & 1 ? FUZZ_DATA_R2T : FUZZ_DATA_CAPSULE, 0, 1024, 0,
                 fused(NV_IO_WRITE, NV_FUSE_SECOND, i / 2));
        fuzz_put(late, FUZZ_DATA_IN, 0, 1024, 0, host_cmd_rw(NV_IO_READ, 1, i / 2, 2, 0));
    }
    fuzz_put(late, FUZZ_BACKEND, 0, 0, 1, host_cmd(0, 0));
    for (unsigned i = 0; i < 6; i++) {
        fuzz_put(late, FUZZ_DATA_IN, 0, 4096, 0, host_cmd_rw(NV_IO_READ, 1, i, 8, 0));
        fuzz_put(late, FUZZ_DATA_R2T, 0, 4096, 0, host_cmd_rw(NV_IO_WRITE, 1, i, 8, 0));
        fuzz_put(late, FUZZ_CONFIG, 0, 0, i * 5, host_cmd(0, 0));
        fuzz_put(late, FUZZ_BACKEND, 0, 0, i & 1 ? 3 | 0x28100 : 1, host_cmd(0, 0));
    }
    for (uint16_t cid = 0; cid < 32; cid++) {
        struct nv_sqe abort = { .cid = cid };

        fuzz_put(late, FUZZ_NO_DATA, 1, 0, 0, abort);
    }
    fuzz_put(late, FUZZ_DATA_IN, 0, 4096, 0, host_cmd_rw(NV_IO_READ, 1, 0, 8, 0));
    fuzz_put(late, FUZZ_NO_DATA, 0, 0, 0, host_cmd_disconnect(0));
    fuzz_put(late, FUZZ_BACKEND, 0, 0, 0, host_cmd(0, 0));
    add(data->data, data->len);
    add(others->data, others->len);
    add(late->data, late->len);
}
