/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: Fabrics commands on Admin, I/O and fresh connections.
 * Not here: Connect data byte by byte (fuzz_pdu_target.c).
 * NVMe base specification 2.0, section 6.
 */
#include "commands.h"

static void step(struct fuzz_session *session, const struct fuzz_record *record)
{
    struct fuzz_record fabrics = *record;

    fabrics.sqe.opcode = NVF_OPCODE;
    switch (record->queue % 3) {
    case 0:
        fuzz_command(session, &fabrics, false);
        break;
    case 1:
        fuzz_command(session, &fabrics, true);
        break;
    case 2:
        fuzz_fresh_command(session, &fabrics);
        break;
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
    static const uint32_t properties[] = { NV_REG_CAP, NV_REG_VS, NV_REG_CC, NV_REG_CSTS, 0x20,
                                           0x24, 0x28, 0x68 };
    g_autoptr(GByteArray) connect = g_byte_array_new(), property = g_byte_array_new();

    for (unsigned arg = 0; arg < 128; arg += 3) {
        fuzz_put(connect, FUZZ_DATA_CAPSULE, 2, 1024, arg | 0x10000,
                 host_cmd_connect(arg & 1, 31, arg & 4, 1000));
        if (arg % 4 == 0) {
            fuzz_put(connect, FUZZ_NO_DATA, arg & 1, 0, 0, host_cmd_property_get(NV_REG_VS, false));
        }
    }
    fuzz_put(connect, FUZZ_DATA_R2T, 2, 1024, 4, host_cmd_connect(0, 31, 0, 0));
    fuzz_put(connect, FUZZ_DATA_CAPSULE, 0, 1024, 4, host_cmd_connect(0, 31, 0, 0));
    for (unsigned i = 0; i < G_N_ELEMENTS(properties); i++) {
        for (unsigned queue = 0; queue < 3; queue++) {
            fuzz_put(property, FUZZ_NO_DATA, (uint8_t)queue, 0, 0,
                     host_cmd_property_get(properties[i], i & 1));
            fuzz_put(property, FUZZ_NO_DATA, (uint8_t)queue, 0, 0,
                     host_cmd_property_set(properties[i], i & 1, 0x00460001));
        }
    }
    fuzz_put(property, FUZZ_NO_DATA, 0, 0, 0, host_cmd_property_set(NV_REG_CC, false, 0x00460000));
    fuzz_put(property, FUZZ_NO_DATA, 0, 0, 0, host_cmd_property_set(NV_REG_CC, false, 0x00464001));
    add(connect->data, connect->len);
    add(property->data, property->len);
}
