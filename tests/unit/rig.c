/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See rig.h.
 * Not here: expectations of a test; only what holds in every test is asserted.
 * No standard.
 */
#include <string.h>

#include "engine/fault.h"
#include "rig.h"

static unsigned completions;

/* ---- The front's half of the engine's contract */

static void move(struct lst_io *io, uint8_t *media, bool to_media)
{
    for (unsigned i = 0; i < io->iov_count; i++) {
        memcpy(to_media ? media : io->iov[i].iov_base, to_media ? io->iov[i].iov_base : media,
               io->iov[i].iov_len);
        media += io->iov[i].iov_len;
    }
}

static void execute(struct lst_io *io)
{
    RigMedia *media = io->backend;

    g_assert_cmpuint(io->offset + io->length, <=, media->size);
    switch (io->op) {
    case LST_IO_READ:
    case LST_IO_WRITE:
        move(io, media->bytes + io->offset, io->op == LST_IO_WRITE);
        break;
    case LST_IO_WRITE_ZEROES:
        memset(media->bytes + io->offset, 0, io->length);
        break;
    case LST_IO_DISCARD:
        for (unsigned i = 0; i < io->range_count; i++) {
            g_assert_cmpuint(io->ranges[i].offset + io->ranges[i].length, <=, media->size);
            memset(media->bytes + io->ranges[i].offset, 0, io->ranges[i].length);
        }
        break;
    case LST_IO_FLUSH:
    case LST_IO_VERIFY:
        break;
    case LST_IO_OP_COUNT:
        g_assert_not_reached();
    }
}

static void io_submit(void *front, struct lst_io *io)
{
    Rig *rig = front;
    RigMedia *media = io->backend;

    rig->ios_by_op[io->op]++;
    if (rig->defer) {
        g_queue_push_tail(&rig->ios, io);
    } else {
        if (media->status == 0) {
            execute(io);
        }
        lst_io_complete(io, media->status);
    }
}

static bool io_cancel(void *front, struct lst_io *io)
{
    Rig *rig = front;

    if (rig->stubborn || !g_queue_remove(&rig->ios, io)) {
        return false;
    }
    lst_io_complete(io, NV_SC_ABORT_REQUESTED);
    return true;
}

/* Once, until we look: the front's list would otherwise hold the connection twice. */
static void conn_ready(void *front, struct lst_conn *conn)
{
    RigLink *link = lst_conn_opaque(conn);

    g_assert_true(link->rig == front);
    g_assert_false(link->ready);
    link->ready = true;
}

static bool ns_keep(void *front, const struct lst_ns *ns, const char *text)
{
    Rig *rig = front;

    if (ns == rig->ns && !rig->keep_fails) {
        g_free(rig->kept);
        rig->kept = g_strdup(text);
    }
    return !rig->keep_fails;
}

static bool ns_kept(void *front, const struct lst_ns *ns, char **text, GError **err)
{
    Rig *rig = front;

    (void)err;
    *text = lst_ns_id(ns) == 1 ? g_strdup(rig->kept) : NULL;
    return true;
}

static uint64_t clock_now(void *front)
{
    return ((Rig *)front)->now;
}

static void trace(void *front, const struct lst_event *event)
{
    Rig *rig = front;

    g_assert_cmpuint(event->id, <, LST_EVENT_COUNT);
    rig->events[event->id]++;
    if (event->id == LST_EVENT_CONN_TERMINATE) {
        rig->last_terminate = *event;
    }
}

void rig_complete_io(Rig *rig, uint16_t status)
{
    struct lst_io *io = g_queue_pop_head(&rig->ios);

    g_assert_nonnull(io);
    if (status == 0) {
        execute(io);
    }
    lst_io_complete(io, status);
    rig_pump(rig);
}

static bool serves(void *front, const char *subnqn)
{
    const Rig *rig = front;

    return !rig->elsewhere || strcmp(rig->elsewhere, subnqn);
}

/* ---- Life */

struct lst_ns *rig_add_ns(struct lst_subsys *subsys, uint32_t nsid, RigMedia *media, uint64_t size,
                          uint32_t block)
{
    struct lst_ns *ns = lst_subsys_add_ns(subsys, nsid, NULL);

    g_assert_nonnull(ns);
    media->size = size;
    media->bytes = g_malloc0(size);
    g_assert_true(lst_ns_attach(ns, media, size, block, NULL));
    g_assert_true(lst_ns_enable(ns, true, NULL));
    return ns;
}

Rig *rig_new(void)
{
    return rig_new_sized(RIG_BLOCKS);
}

static Rig *new_rig(uint64_t blocks, bool keeping)
{
    const struct lst_front_ops ops = { .io_submit = io_submit,
                                       .io_cancel = io_cancel,
                                       .conn_ready = conn_ready,
                                       .clock = clock_now,
                                       .ns_keep = keeping ? ns_keep : NULL,
                                       .ns_kept = keeping ? ns_kept : NULL,
                                       .serves = serves,
                                       .trace = trace };
    Rig *rig = g_new0(Rig, 1);

    rig->cc = RIG_CC_NVM;
    rig->links = g_ptr_array_new();
    g_queue_init(&rig->ios);
    rig->target = lst_target_new(&ops, rig, 1);
    rig->subsys = lst_target_add_subsys(rig->target, RIG_NQN, NULL);
    g_assert_true(lst_subsys_set(rig->subsys, "attr_allow_any_host", "1", NULL));
    rig->ns = rig_add_ns(rig->subsys, 1, &rig->media, blocks * RIG_BLOCK, RIG_BLOCK);
    rig->port = lst_target_add_port(rig->target, 1, NULL);
    g_assert_true(lst_port_add_subsys(rig->port, rig->subsys, NULL));
    lst_target_tick(rig->target, 0);
    return rig;
}

Rig *rig_new_sized(uint64_t blocks)
{
    return new_rig(blocks, false);
}

Rig *rig_new_keeping(void)
{
    return new_rig(RIG_BLOCKS, true);
}

void rig_free(Rig *rig)
{
    while (rig->links->len > 0) {
        rig_unlink(g_ptr_array_index(rig->links, 0));
    }
    while (!g_queue_is_empty(&rig->ios)) {
        lst_io_complete(g_queue_pop_head(&rig->ios), NV_SC_INTERNAL);
    }
    lst_target_free(rig->target);
    g_free(rig->media.bytes);
    g_free(rig->kept);
    g_ptr_array_free(rig->links, TRUE);
    g_free(rig);
}

/* ---- Links */

static size_t piece(RigLink *link, size_t limit, size_t length)
{
    if (limit == 0 || limit > length) {
        limit = length;
    }
    if (link->split && limit > 1) {
        return (size_t)g_rand_int_range(link->split, 1, (gint32)limit + 1);
    }
    return limit;
}

static void close_by_target(RigLink *link)
{
    link->reset = lst_conn_wants_reset(link->conn);
    lst_conn_free(link->conn);
    link->conn = NULL;
    link->closed = true;
}

static void to_host(RigLink *link, const uint8_t *bytes, size_t length)
{
    if (!link->host || link->capture) {
        g_byte_array_append(link->received, bytes, length);
        return;
    }
    int ret = host_queue_receive(link->host, bytes, length);

    if (ret != HOST_OK && !link->fault_expected) {
        const HostFault *fault = host_queue_fault(link->host);

        g_error("host queue: %s (FES %u, FEI %u)", fault->reason, fault->fes, fault->fei);
    }
}

static bool pump_to_host(RigLink *link)
{
    struct iovec iov[4];
    unsigned count;
    size_t length;

    link->ready = false;
    count = lst_conn_output(link->conn, iov, G_N_ELEMENTS(iov));
    g_assert_cmpuint(count, <=, G_N_ELEMENTS(iov));
    if (count == 0) {
        g_assert_cmpuint(lst_conn_pending(link->conn), ==, 0);
        link->more = false;
        return false;
    }
    g_assert_cmpuint(iov[0].iov_len, >, 0);
    length = piece(link, link->to_host, iov[0].iov_len);
    /*
     * A copy: the engine may reuse the memory once it is consumed, and consuming comes before the
     * answer.
     */
    g_autofree uint8_t *copy = g_memdup2(iov[0].iov_base, length);

    lst_conn_consumed(link->conn, length);
    link->more = lst_conn_pending(link->conn) > 0;
    to_host(link, copy, length);
    return true;
}

static bool pump_to_target(RigLink *link)
{
    size_t length;
    const uint8_t *bytes;

    if (!link->host || link->capture) {
        return false;
    }
    bytes = host_queue_output(link->host, &length);
    if (length == 0) {
        return false;
    }
    length = piece(link, link->to_target, length);
    if (link->sent) {
        g_byte_array_append(link->sent, bytes, length);
    }
    lst_conn_receive(link->conn, bytes, length);
    host_queue_output_consumed(link->host, length);
    return true;
}

/* Looks at the target's side only when told to, as a front with thousands of connections must. */
static bool pump(RigLink *link)
{
    bool moved = false;

    if (link->conn && (link->ready || link->more)) {
        if (lst_conn_wants_close(link->conn)) {
            close_by_target(link);
            return true;
        }
        moved = pump_to_host(link);
    }
    return (link->conn && pump_to_target(link)) || moved;
}

void rig_pump(Rig *rig)
{
    bool moved;

    do {
        moved = false;
        for (unsigned i = 0; i < rig->links->len; i++) {
            moved = pump(g_ptr_array_index(rig->links, i)) || moved;
        }
    } while (moved);
    for (unsigned i = 0; i < rig->links->len; i++) {
        RigLink *link = g_ptr_array_index(rig->links, i);

        g_assert_true(!link->conn || (lst_conn_pending(link->conn) == 0 &&
                                      lst_conn_state(link->conn) != LST_CONN_CLOSED));
    }
}

void rig_advance(Rig *rig, uint64_t ns)
{
    rig->now += ns;
    lst_target_tick(rig->target, rig->now);
    rig_pump(rig);
}

HostQueueConfig rig_admin_config(void)
{
    return (HostQueueConfig){ .entries = RIG_ADMIN_ENTRIES, .max_r2t = 1 };
}

HostQueueConfig rig_io_config(void)
{
    return (HostQueueConfig){ .entries = RIG_IO_ENTRIES, .max_r2t = 1 };
}

RigLink *rig_link_raw(Rig *rig, struct lst_port *port)
{
    RigLink *link = g_new0(RigLink, 1);
    const struct lst_conn_info info = { .opaque = link,
                                        .local = "127.0.0.1",
                                        .peer = "127.0.0.1:1" };

    link->rig = rig;
    link->received = g_byte_array_new();
    link->conn = lst_conn_new(rig->target, port ? port : rig->port, &info);
    g_ptr_array_add(rig->links, link);
    return link;
}

RigLink *rig_link(Rig *rig, struct lst_port *port, const HostQueueConfig *config)
{
    RigLink *link = rig_link_raw(rig, port);

    link->host = host_queue_new(config);
    g_assert_nonnull(link->host);
    g_assert_cmpint(host_queue_start(link->host), ==, HOST_OK);
    rig_pump(rig);
    g_assert_cmpint(host_queue_state(link->host), ==, HOST_STATE_READY);
    return link;
}

void rig_unlink(RigLink *link)
{
    g_ptr_array_remove(link->rig->links, link);
    if (link->conn) {
        lst_conn_free(link->conn);
    }
    host_queue_free(link->host);
    g_byte_array_free(link->received, TRUE);
    if (link->split) {
        g_rand_free(link->split);
    }
    g_free(link);
}

void rig_send(RigLink *link, const void *bytes, size_t length)
{
    if (link->host && !link->capture) {
        host_queue_send_raw(link->host, bytes, length);
    } else if (link->conn) {
        lst_conn_receive(link->conn, bytes, length);
    }
    rig_pump(link->rig);
}

/* ---- Commands */

void rig_completed(HostQueue *queue, void *opaque, const HostCompletion *completion)
{
    RigResult *result = opaque;

    (void)queue;
    g_assert_false(result->done);
    *result = (RigResult){
        .done = true, .status = NV_STATUS_CODE(completion->cqe.status >> 1),
        .dnr = (completion->cqe.status >> 1) & NV_DNR, .dw0 = completion->cqe.dw0,
        .order = ++completions, .completion = *completion,
    };
}

int rig_submit(RigLink *link, struct nv_sqe sqe, HostDataKind kind, void *buf, uint32_t length,
               RigResult *result)
{
    int cid;

    memset(result, 0, sizeof(*result));
    cid = host_queue_submit(link->host, &sqe, kind, buf, length, rig_completed, result);
    g_assert_cmpint(cid, >=, 0);
    rig_pump(link->rig);
    return cid;
}

uint16_t rig_do(RigLink *link, struct nv_sqe sqe, HostDataKind kind, void *buf, uint32_t length,
                RigResult *result)
{
    RigResult local;

    if (!result) {
        result = &local;
    }
    rig_submit(link, sqe, kind, buf, length, result);
    g_assert_true(result->done);
    return result->status;
}

uint16_t rig_run(RigLink *link, struct nv_sqe sqe)
{
    return rig_do(link, sqe, HOST_DATA_NONE, NULL, 0, NULL);
}

uint16_t rig_in(RigLink *link, struct nv_sqe sqe, void *buf, uint32_t length)
{
    return rig_do(link, sqe, HOST_DATA_IN, buf, length, NULL);
}

struct nvf_connect_data rig_connect_data(const char *subnqn, uint16_t cntlid)
{
    struct nvf_connect_data data = { .cntlid = cntlid };

    for (unsigned i = 0; i < sizeof(data.hostid); i++) {
        data.hostid[i] = 0xa0 + i;
    }
    g_strlcpy(data.subnqn, subnqn ? subnqn : RIG_NQN, sizeof(data.subnqn));
    g_strlcpy(data.hostnqn, RIG_HOST_NQN, sizeof(data.hostnqn));
    return data;
}

static void connect_link(RigLink *link, uint16_t qid, uint32_t kato_ms,
                         const struct nvf_connect_data *data)
{
    RigResult result = { 0 };

    g_assert_cmpint(host_queue_connect(link->host, qid, kato_ms, data, rig_completed, &result), >=,
                    0);
    rig_pump(link->rig);
    g_assert_true(result.done);
    g_assert_cmphex(result.status, ==, 0);
    link->cntlid = result.dw0 & 0xffff;
}

void rig_enable(RigLink *admin)
{
    struct nv_sqe sqe = host_cmd_property_set(NV_REG_CC, false, admin->rig->cc);

    g_assert_cmphex(rig_do(admin, sqe, HOST_DATA_NONE, NULL, 0, NULL), ==, 0);
}

RigLink *rig_admin_to(Rig *rig, struct lst_port *port, const char *subnqn,
                      const HostQueueConfig *config, uint32_t kato_ms)
{
    HostQueueConfig defaults = rig_admin_config();
    RigLink *link = rig_link(rig, port, config ? config : &defaults);
    struct nvf_connect_data data = rig_connect_data(subnqn, NV_CNTLID_DYNAMIC);

    link->who = rig->who;
    data.hostid[15] ^= link->who;
    connect_link(link, 0, kato_ms, &data);
    rig_enable(link);
    return link;
}

RigLink *rig_admin(Rig *rig)
{
    return rig_admin_to(rig, NULL, NULL, NULL, 0);
}

RigLink *rig_io(Rig *rig, const RigLink *admin, uint16_t qid, const HostQueueConfig *config)
{
    HostQueueConfig defaults = rig_io_config();
    RigLink *link = rig_link(rig, NULL, config ? config : &defaults);
    struct nvf_connect_data data = rig_connect_data(NULL, admin->cntlid);

    link->who = admin->who;
    data.hostid[15] ^= link->who;
    connect_link(link, qid, 0, &data);
    return link;
}

uint64_t rig_property(RigLink *admin, uint32_t offset, bool wide)
{
    RigResult result;

    g_assert_cmphex(
        rig_do(admin, host_cmd_property_get(offset, wide), HOST_DATA_NONE, NULL, 0, &result), ==,
        0);
    return result.completion.cqe.result;
}

RigIo rig_io_setup(const HostQueueConfig *config)
{
    RigIo s = { .rig = rig_new() };

    s.admin = rig_admin(s.rig);
    s.io = rig_io(s.rig, s.admin, 1, config);
    s.out = g_malloc0(RIG_MDTS_BYTES + RIG_BLOCK);
    s.in = g_malloc0(RIG_MDTS_BYTES + RIG_BLOCK);
    return s;
}

void rig_io_teardown(RigIo *s)
{
    rig_free(s->rig);
    g_free(s->out);
    g_free(s->in);
}

uint16_t rig_rw(RigIo *s, uint8_t opcode, uint64_t slba, uint32_t bytes, HostDataKind kind)
{
    return rig_do(s->io, host_cmd_rw(opcode, 1, slba, bytes / RIG_BLOCK, 0), kind,
                  kind == HOST_DATA_IN ? s->in : s->out, bytes, NULL);
}

void rig_round_trip(RigIo *s, uint64_t slba, uint32_t bytes, HostDataKind kind, uint32_t seed)
{
    rig_pattern(s->out, bytes, seed);
    memset(s->in, 0, bytes);
    g_assert_cmphex(rig_rw(s, NV_IO_WRITE, slba, bytes, kind), ==, 0);
    g_assert_true(memcmp(s->rig->media.bytes + slba * RIG_BLOCK, s->out, bytes) == 0);
    g_assert_cmphex(rig_rw(s, NV_IO_READ, slba, bytes, HOST_DATA_IN), ==, 0);
    g_assert_true(memcmp(s->in, s->out, bytes) == 0);
}

void rig_pattern(uint8_t *bytes, size_t length, uint32_t seed)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t x = (uint32_t)i * 2654435761u ^ seed * 0x9e3779b9u;

        bytes[i] = x >> 24 ^ x >> 11 ^ (uint32_t)i;
    }
}
