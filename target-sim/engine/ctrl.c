/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Controllers: their making by Connect, enable, reset and shutdown, their queues, their end.
 * Not here: Connect's checks (fabrics.c), commands (req.c), timers (keepalive.c).
 * NVM Express Base 2.0, 3.1 to 3.6.
 */
#include "engine/ctrl.h"

#include <string.h>

/*
 * The next free identifier after the last one given: a stale one is not met again soon. 0: none is
 * free.
 */
static uint16_t cntlid_alloc(struct lst_subsys *subsys)
{
    uint32_t count = subsys->cntlid_max - subsys->cntlid_min + 1;

    if (g_hash_table_size(subsys->ctrls) >= count) {
        return 0;
    }
    for (uint32_t tries = 0; tries < count; tries++) {
        uint32_t id = subsys->next_cntlid;

        if (id < subsys->cntlid_min || id > subsys->cntlid_max) {
            id = subsys->cntlid_min;
        }
        subsys->next_cntlid = id + 1;
        if (!g_hash_table_contains(subsys->ctrls, GUINT_TO_POINTER(id))) {
            return (uint16_t)id;
        }
    }
    return 0;
}

/* The static controller that a host names, if nobody has it; 0: somebody has. */
static uint16_t cntlid_take(const struct lst_subsys *subsys, uint16_t cntlid)
{
    return g_hash_table_contains(subsys->ctrls, GUINT_TO_POINTER(cntlid)) ? 0 : cntlid;
}

struct lst_ctrl *lst_ctrl_new(struct lst_queue *admin, struct lst_subsys *subsys,
                              const struct nvf_connect_data *data, uint32_t kato_ms)
{
    bool any = data->cntlid == NV_CNTLID_DYNAMIC || data->cntlid == NV_CNTLID_STATIC;
    uint16_t cntlid = any ? cntlid_alloc(subsys) : cntlid_take(subsys, data->cntlid);
    struct lst_ctrl *ctrl;

    if (!cntlid) {
        return NULL;
    }
    ctrl = g_new0(struct lst_ctrl, 1);
    ctrl->link.data = ctrl;
    ctrl->target = admin->target;
    ctrl->subsys = subsys;
    ctrl->port = admin->port;
    ctrl->cntlid = cntlid;
    memcpy(ctrl->hostid, data->hostid, sizeof(ctrl->hostid));
    memcpy(ctrl->hostnqn, data->hostnqn, sizeof(ctrl->hostnqn));
    ctrl->local_addr = g_strdup(admin->local_addr);
    ctrl->inline_size = admin->inline_size;
    ctrl->max_queue_size = lst_subsys_queue_size(subsys, admin->max_size);
    ctrl->admin = admin;
    ctrl->io_queues = g_ptr_array_new();
    ctrl->io_queues_granted = subsys->qid_max;
    lst_features_reset(ctrl);
    g_hash_table_insert(subsys->ctrls, GUINT_TO_POINTER(cntlid), ctrl);
    g_queue_push_tail_link(&ctrl->target->ctrls, &ctrl->link);
    ctrl->target->stats.ctrls_created++;
    lst_keepalive_start(ctrl, kato_ms);
    lst_trace(ctrl->target, LST_EVENT_CTRL_NEW, admin, ctrl, cntlid, ctrl->kato_ms, ctrl->hostnqn);
    return ctrl;
}

struct lst_ctrl *lst_ctrl_find(const struct lst_subsys *subsys, uint16_t cntlid)
{
    return g_hash_table_lookup(subsys->ctrls, GUINT_TO_POINTER(cntlid));
}

static void queue_give_up(struct lst_queue *queue)
{
    queue->ctrl = NULL;
    queue->ops->shutdown(queue);
}

static void io_queues_give_up(struct lst_ctrl *ctrl)
{
    for (unsigned i = 0; i < ctrl->io_queues->len; i++) {
        struct lst_queue *queue = g_ptr_array_index(ctrl->io_queues, i);

        if (queue) {
            queue_give_up(queue);
        }
    }
    g_ptr_array_set_size(ctrl->io_queues, 0);
    ctrl->io_queue_count = 0;
}

void lst_ctrl_destroy(struct lst_ctrl *ctrl)
{
    struct lst_queue *admin = ctrl->admin;

    lst_trace(ctrl->target, LST_EVENT_CTRL_GONE, NULL, ctrl, ctrl->cntlid, 0, ctrl->hostnqn);
    lst_keepalive_stop(ctrl);
    g_queue_unlink(&ctrl->target->ctrls, &ctrl->link);
    g_hash_table_remove(ctrl->subsys->ctrls, GUINT_TO_POINTER(ctrl->cntlid));
    if (admin) {
        queue_give_up(admin);
    }
    io_queues_give_up(ctrl);
    g_ptr_array_free(ctrl->io_queues, TRUE);
    if (ctrl->discovery_log) {
        g_byte_array_unref(ctrl->discovery_log);
    }
    lst_resv_log_reset(ctrl);
    if (ctrl->changed_zones) {
        g_hash_table_destroy(ctrl->changed_zones);
    }
    g_free(ctrl->errors);
    g_free(ctrl->local_addr);
    g_free(ctrl);
}

void lst_ctrl_fatal(struct lst_ctrl *ctrl)
{
    ctrl->csts |= NV_CSTS_CFS;
    lst_trace(ctrl->target, LST_EVENT_CTRL_FATAL, NULL, ctrl, ctrl->cntlid, 0, NULL);
    lst_ctrl_destroy(ctrl);
}

struct lst_queue *lst_ctrl_io_queue(const struct lst_ctrl *ctrl, uint16_t qid)
{
    return qid >= 1 && qid <= ctrl->io_queues->len ? g_ptr_array_index(ctrl->io_queues, qid - 1) :
                                                     NULL;
}

void lst_ctrl_add_io_queue(struct lst_ctrl *ctrl, struct lst_queue *queue)
{
    g_assert(!lst_ctrl_io_queue(ctrl, queue->qid));
    if (ctrl->io_queues->len < queue->qid) {
        g_ptr_array_set_size(ctrl->io_queues, queue->qid);
    }
    g_ptr_array_index(ctrl->io_queues, queue->qid - 1) = queue;
    ctrl->io_queue_count++;
}

void lst_queue_detach(struct lst_queue *queue)
{
    struct lst_ctrl *ctrl = queue->ctrl;

    if (!ctrl) {
        return;
    }
    queue->ctrl = NULL;
    if (ctrl->admin == queue) {
        ctrl->admin = NULL;
        lst_ctrl_destroy(ctrl);
        return;
    }
    g_assert(lst_ctrl_io_queue(ctrl, queue->qid) == queue);
    g_ptr_array_index(ctrl->io_queues, queue->qid - 1) = NULL;
    ctrl->io_queue_count--;
}

void lst_ctrls_drop(struct lst_target *target,
                    bool (*match)(const struct lst_ctrl *ctrl, const void *key), const void *key)
{
    GList *next;

    for (GList *node = target->ctrls.head; node; node = next) {
        struct lst_ctrl *ctrl = node->data;

        next = node->next;
        if (match(ctrl, key)) {
            lst_ctrl_destroy(ctrl);
        }
    }
}

uint64_t lst_ctrl_cap(const struct lst_ctrl *ctrl)
{
    uint64_t cap = NV_CAP_MQES(ctrl->max_queue_size - 1) | NV_CAP_CQR |
                   NV_CAP_TO(LST_READY_TIMEOUT_500MS) | NV_CAP_CSS_NVM | NV_CAP_CSS_CSI;

    /* Controllers before 2.0 have no CRTO to go with it. */
    return ctrl->subsys->version >= NV_VS(2, 0, 0) ? cap | NV_CAP_CRWMS : cap;
}

bool lst_ctrl_ready(const struct lst_ctrl *ctrl)
{
    return ctrl->csts & NV_CSTS_RDY;
}

bool lst_ctrl_has_csi(const struct lst_ctrl *ctrl)
{
    return (ctrl->cc & NV_CC_CSS_MASK) >> NV_CC_CSS_SHIFT == NV_CC_CSS_CSI;
}

/*
 * Which values of CC can be enabled: what CAP offers. Entry sizes are fixed by Fabrics; hosts write
 * them for discovery controllers too.
 */
static bool cc_valid(uint32_t cc)
{
    unsigned css = (cc & NV_CC_CSS_MASK) >> NV_CC_CSS_SHIFT;

    return (css == NV_CC_CSS_NVM || css == NV_CC_CSS_CSI) && !(cc & NV_CC_MPS_MASK) &&
           !(cc & NV_CC_AMS_MASK) && (cc & NV_CC_IOSQES_MASK) >> NV_CC_IOSQES_SHIFT == 6 &&
           (cc & NV_CC_IOCQES_MASK) >> NV_CC_IOCQES_SHIFT == 4;
}

/*
 * A reset deletes the I/O queues (3.7.2): their connections go. The Admin queue stays for
 * properties.
 */
static void ctrl_reset(struct lst_ctrl *ctrl)
{
    ctrl->csts &= ~(uint32_t)(NV_CSTS_RDY | NV_CSTS_CFS | NV_CSTS_SHST_MASK);
    io_queues_give_up(ctrl);
    lst_aer_reset(ctrl);
    ctrl->io_queues_granted = ctrl->subsys->qid_max;
    lst_features_reset(ctrl);
}

void lst_ctrl_write_cc(struct lst_ctrl *ctrl, uint32_t cc)
{
    uint32_t before = ctrl->cc;

    ctrl->cc = cc;
    if ((cc & NV_CC_EN) && !(before & NV_CC_EN)) {
        lst_trace(ctrl->target, LST_EVENT_CTRL_ENABLE, ctrl->admin, ctrl, cc, 0, NULL);
        if (cc_valid(cc)) {
            ctrl->csts |= NV_CSTS_RDY;
        } else {
            ctrl->csts |= NV_CSTS_CFS;
        }
    }
    if (!(cc & NV_CC_EN) && (before & NV_CC_EN)) {
        lst_trace(ctrl->target, LST_EVENT_CTRL_DISABLE, ctrl->admin, ctrl, cc, 0, NULL);
        ctrl_reset(ctrl);
    }
    if ((cc & NV_CC_SHN_MASK) && !(before & NV_CC_SHN_MASK)) {
        lst_trace(ctrl->target, LST_EVENT_CTRL_SHUTDOWN, ctrl->admin, ctrl, cc, 0, NULL);
        ctrl->csts = (ctrl->csts & ~(uint32_t)NV_CSTS_SHST_MASK) | NV_CSTS_SHST_COMPLETE;
    }
}

/* I/O commands whose CDW10 and CDW11 are the first logical block. */
static bool names_blocks(const struct lst_req *req)
{
    static const bool opcodes[256] = {
        [NV_IO_WRITE] = true,
        [NV_IO_READ] = true,
        [NV_IO_WRITE_UNCORRECTABLE] = true,
        [NV_IO_COMPARE] = true,
        [NV_IO_WRITE_ZEROES] = true,
        [NV_IO_VERIFY] = true,
        [NV_IO_COPY] = true,
        [NV_IO_ZONE_SEND] = true,
        [NV_IO_ZONE_RECEIVE] = true,
        [NV_IO_ZONE_APPEND] = true,
    };

    return opcodes[req->sqe.opcode];
}

void lst_ctrl_log_error(struct lst_ctrl *ctrl, const struct lst_req *req, uint16_t status)
{
    struct nv_log_error *entry;

    if (!ctrl->errors) {
        ctrl->errors = g_new0(struct nv_log_error, LST_ERROR_LOG_ENTRIES);
    }
    entry = &ctrl->errors[ctrl->error_count % LST_ERROR_LOG_ENTRIES];
    *entry = (struct nv_log_error) {
        .error_count = ++ctrl->error_count,
        .sqid = req->queue->qid,
        .cid = req->sqe.cid,
        .status = (uint16_t)(status << 1),
        .param_location = req->param_location,
        .trtype = NVF_TRTYPE_TCP,
    };
    if (req->command && (req->command->flags & LST_CMD_NS)) {
        entry->nsid = req->sqe.nsid;
        if (names_blocks(req)) {
            entry->lba = (uint64_t)req->sqe.cdw11 << 32 | req->sqe.cdw10;
        }
    }
}
