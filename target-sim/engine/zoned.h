/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zoned namespaces where they meet commands, Identify and log pages.
 * Not here: states and reports of zones (hw/zone/).
 * NVM Express Zoned Namespace Command Set 1.1, chapters 3 to 5.
 */
#ifndef ENGINE_ZONED_H
#define ENGINE_ZONED_H

#include <glib.h>

#include "zone/zone.h"

struct lst_ctrl;
struct lst_ns;
struct lst_req;

/* ---- zoned.c */
/* Whether the request to the backend that is about to go may; moves write pointers. */
uint16_t lst_zone_check(struct lst_req *req);
/* The same for blocks that a command writes without the backend, or that a Copy will write. */
uint16_t lst_zone_write(struct lst_ns *ns, uint64_t slba, uint64_t blocks);
uint16_t lst_zone_check_write(const struct lst_ns *ns, uint64_t slba, uint64_t blocks);

/* For the I/O command table. */
uint16_t lst_zone_append_length(struct lst_req *req, uint32_t *len);
void lst_zone_append_run(struct lst_req *req);
uint16_t lst_zone_send_length(struct lst_req *req, uint32_t *len);
void lst_zone_send_run(struct lst_req *req);
uint16_t lst_zone_receive_length(struct lst_req *req, uint32_t *len);
void lst_zone_receive_run(struct lst_req *req);

/* ---- zoned_ns.c */
void lst_zone_identify_ns(const struct lst_ns *ns, struct nv_id_ns_zoned *id);
/* The Changed Zone List of a namespace; dropped when it was read. */
void lst_zone_log(const struct lst_ctrl *ctrl, uint32_t nsid, struct nv_log_changed_zones *log);
void lst_zone_log_drop(struct lst_ctrl *ctrl, uint32_t nsid);
/* The namespace that a notice is about. */
uint32_t lst_zone_notice_nsid(const struct lst_ctrl *ctrl);

#endif
