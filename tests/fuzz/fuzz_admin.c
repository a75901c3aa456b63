/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: Admin commands with any fields, any data, and changes underneath.
 * Not here: Fabrics commands (fuzz_fabrics.c).
 * NVMe base specification 2.0, section 5.
 */
#include "commands.h"

static void step(struct fuzz_session *session, const struct fuzz_record *record)
{
    struct fuzz_record admin = *record;

    if (admin.sqe.opcode == NVF_OPCODE) {
        admin.sqe.opcode = NV_ADMIN_IDENTIFY;
    }
    fuzz_command(session, &admin, false);
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
    static const uint8_t logs[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x0c, 0x12, 0x70, 0x80 };
    static const uint8_t cns[] = { 0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x08, 0x10, 0x1c };
    g_autoptr(GByteArray) identify = g_byte_array_new(), log = g_byte_array_new(),
                          features = g_byte_array_new(), events = g_byte_array_new();

    for (unsigned i = 0; i < G_N_ELEMENTS(cns); i++) {
        fuzz_put(identify, FUZZ_DATA_IN, 0, 4096, 0, host_cmd_identify(cns[i], i & 1, 0, 0));
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(logs); i++) {
        fuzz_put(log, FUZZ_DATA_IN, 0, 1024, 0,
                 host_cmd_get_log(logs[i], NV_NSID_ALL, i & 1 ? 64 : 0, 1024, 0, i & 2));
    }
    for (unsigned fid = 1; fid < 0x1a; fid++) {
        fuzz_put(features, FUZZ_NO_DATA, 0, 0, 0, host_cmd_get_features((uint8_t)fid, fid & 3, 0));
        fuzz_put(features, FUZZ_NO_DATA, 0, 0, 0, host_cmd_set_features((uint8_t)fid, 0x10001));
    }
    fuzz_put(features, FUZZ_DATA_R2T, 0, 8, 7, host_cmd_set_features(NV_FEAT_TIMESTAMP, 0));
    fuzz_put(features, FUZZ_DATA_IN, 0, 16, 0, host_cmd_get_features(NV_FEAT_HOST_ID, 0, 1));
    for (unsigned i = 0; i < 5; i++) {
        fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd(NV_ADMIN_ASYNC_EVENT, 0));
    }
    fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 0xffffffff));
    fuzz_put(events, FUZZ_CONFIG, 0, 0, 0, host_cmd(0, 0));
    fuzz_put(events, FUZZ_CONFIG, 0, 0, 5, host_cmd(0, 0));
    fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd_abort(0, 1));
    fuzz_put(events, FUZZ_TIME, 0, 0, 130000, host_cmd(0, 0));
    fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd(NV_ADMIN_KEEP_ALIVE, 0));
    add(identify->data, identify->len);
    add(log->data, log->len);
    add(features->data, features->len);
    add(events->data, events->len);
}
