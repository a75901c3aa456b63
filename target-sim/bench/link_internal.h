/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What controller.c needs of link.c: opening a link, and commands that are waited for. */
#ifndef LOCKSTEP_BENCH_LINK_INTERNAL_H
#define LOCKSTEP_BENCH_LINK_INTERNAL_H

#include "bench/link.h"

/* Sets @error and returns false. */
bool link_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* TCP connection and ICReq; on failure nothing is left open. */
bool link_open(Link *link, const BenchOptions *options, const Place *place,
               const HostQueueConfig *config, GError **error);

/* Fabrics Connect; @result: DW0 and DW1 of the completion, may be NULL. */
bool link_connect(Link *link, uint16_t qid, const struct nvf_connect_data *data, uint64_t *result,
                  GError **error);

/* Any command without data, or whose data come into @buffer; @what: its name for messages. */
bool link_command(Link *link, const char *what, const struct nv_sqe *sqe, void *buffer,
                  uint32_t length, uint64_t *result, GError **error);

#endif
