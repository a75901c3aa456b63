/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: a discovery controller, Admin commands with any fields, above all its log at any offset
 * and in any form, while the configuration changes underneath.
 * Not here: I/O controllers (fuzz_admin.c), Connect (fuzz_fabrics.c).
 * NVMe base specification 2.0, sections 3.1.2.3 and 5.16.1.23.
 */
#include "commands.h"

static void step(struct fuzz_session *session, const struct fuzz_record *record)
{
    struct fuzz_record admin = *record;

    if (admin.sqe.opcode == NVF_OPCODE) {
        admin.sqe.opcode = NV_ADMIN_GET_LOG_PAGE;
    }
    if (admin.sqe.opcode == NV_ADMIN_GET_LOG_PAGE && !(admin.arg & 1)) {
        admin.sqe.cdw10 = (admin.sqe.cdw10 & ~0xffu) | NV_LOG_DISCOVERY;
        admin.sqe.cdw11 = 0;
        admin.sqe.cdw13 = admin.arg & 2 ? admin.sqe.cdw13 : 0;
    }
    fuzz_command(session, &admin, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_session *session = fuzz_session_new(false);
    Rig *rig = fuzz_session_rig(session);
    struct lst_port *other = lst_target_add_port(rig->target, 2, NULL);

    fuzz_session_to(session, NVF_DISCOVERY_NQN);
    g_assert_true(lst_port_add_subsys(other, rig->subsys, NULL));
    fuzz_each_record(data, size, step, session);
    fuzz_session_free(session);
    return 0;
}

void fuzz_corpus(FuzzAddFn *add)
{
    g_autoptr(GByteArray) log = g_byte_array_new(), events = g_byte_array_new();

    for (unsigned lsp = 0; lsp < 4; lsp++) {
        fuzz_put(log, FUZZ_DATA_IN, 0, 1024, 0,
                 host_cmd_get_log(NV_LOG_DISCOVERY, 0, 0, 1024, (uint8_t)lsp, false));
        fuzz_put(log, FUZZ_DATA_IN, 0, 4096, 0,
                 host_cmd_get_log(NV_LOG_DISCOVERY, 0, 1024, 4096, (uint8_t)lsp, true));
        fuzz_put(log, FUZZ_CONFIG, 0, 0, lsp, host_cmd(0, 0));
    }
    fuzz_put(log, FUZZ_DATA_IN, 0, 4096, 0, host_cmd_identify(NV_CNS_CTRL, 0, 0, 0));
    fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd_set_features(NV_FEAT_ASYNC_EVENT, 1u << 31));
    fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd(NV_ADMIN_ASYNC_EVENT, 0));
    for (unsigned i = 0; i < 8; i++) {
        fuzz_put(events, FUZZ_CONFIG, 0, 0, i, host_cmd(0, 0));
    }
    fuzz_put(events, FUZZ_TIME, 0, 0, 130000, host_cmd(0, 0));
    fuzz_put(events, FUZZ_NO_DATA, 0, 0, 0, host_cmd(NV_ADMIN_KEEP_ALIVE, 0));
    add(log->data, log->len);
    add(events->data, events->len);
}
