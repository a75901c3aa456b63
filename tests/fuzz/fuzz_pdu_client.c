/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: any bytes from a controller into a host queue that waits for ICResp, or has a read, a
 * write and a flush open.
 * Not here: the driver. Nothing may happen but completions and, once, H2CTermReq.
 * NVMe/TCP transport specification 1.0.
 */
#include <string.h>

#include "fuzz.h"
#include "wire.h"

enum {
    READY = 1,
    DIGESTS = 2,
    NO_FLOW_CONTROL = 4,
    HEADER = 2
}; /* flags of byte 0; byte 1 as for the target */

static void put(GByteArray *out, uint8_t type, uint8_t hlen, uint8_t flags, uint16_t cid,
                uint32_t length, const HostPduFormat *format, const void *data)
{
    struct nvtcp_data pdu = { .hdr = { .type = type, .hlen = hlen, .flags = flags },
                              .cccid = cid,
                              .datal = length };

    host_pdu_append(out, format, &pdu, data, data ? length : 0);
}

static void put_icresp(GByteArray *out, uint8_t dgst)
{
    struct nvtcp_ic_resp resp = {
        .hdr = { .type = NVTCP_IC_RESP, .hlen = 128, .plen = 128 },
        .dgst = dgst,
        .maxh2cdata = 4096,
    };

    g_byte_array_append(out, (const uint8_t *)&resp, sizeof(resp));
}

static void open_commands(HostQueue *queue, uint8_t *read, uint8_t *write)
{
    struct nv_sqe sqe = { .nsid = 1 };

    host_queue_submit(queue, &sqe, HOST_DATA_IN, read, 8192, NULL, NULL);
    host_queue_submit(queue, &sqe, HOST_DATA_OUT_R2T, write, 8192, NULL, NULL);
    host_queue_submit(queue, &sqe, HOST_DATA_NONE, NULL, 0, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t mode = size ? data[0] : 0, read[8192], write[8192] = { 0 };
    HostQueueConfig config = { .entries = 8,
                               .max_r2t = 2,
                               .header_digest = mode & DIGESTS,
                               .data_digest = mode & DIGESTS,
                               .no_sq_flow_control = mode & NO_FLOW_CONTROL };
    HostQueue *queue = host_queue_new(&config);
    g_autoptr(GByteArray) first = g_byte_array_new();
    size_t length;

    host_queue_start(queue);
    if (mode & READY) {
        put_icresp(first, mode & DIGESTS ? 3 : 0);
        g_assert_cmpint(host_queue_receive(queue, first->data, first->len), ==, HOST_OK);
        open_commands(queue, read, write);
    }
    for (size_t at = HEADER, piece; at < size; at += piece) {
        piece = MIN(data[1] ? data[1] : size, size - at);
        host_queue_receive(queue, data + at, piece);
        host_queue_output(queue, &length);
        g_assert_cmpuint(length, <=, 1 << 20);
        host_queue_output_consumed(queue, length);
        if (host_queue_state(queue) == HOST_STATE_READY && host_queue_outstanding(queue) == 0) {
            open_commands(queue, read, write);
        }
    }
    g_assert_cmpuint(host_queue_counters(queue)->pdus_sent[NVTCP_H2C_TERM], <=, 1);
    host_queue_free(queue);
    return 0;
}

void fuzz_corpus(FuzzAddFn *add)
{
    for (uint8_t mode = 0; mode < 8; mode++) {
        const HostPduFormat format = { mode & DIGESTS, mode & DIGESTS, 4 };
        const uint8_t header[HEADER] = { mode, 0 }, payload[8192] = { 0 };
        g_autoptr(GByteArray) input = g_byte_array_new();

        g_byte_array_append(input, header, HEADER);
        if (!(mode & READY)) {
            put_icresp(input, mode & DIGESTS ? 3 : 0);
        }
        put(input, NVTCP_C2H_DATA, 24, NVTCP_F_LAST, 0, 8192, &format, payload);
        put(input, NVTCP_R2T, 24, 0, 1, 8192, &format, NULL);
        for (uint16_t cid = 0; cid < 3; cid++) {
            struct nvtcp_capsule_resp resp = {
                .hdr = { .type = NVTCP_CAPSULE_RESP, .hlen = 24 }, .cqe = { .sqhd = 3, .cid = cid },
            };

            host_pdu_append(input, &format, &resp, NULL, 0);
        }
        add(input->data, input->len);
    }
}
