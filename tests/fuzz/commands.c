/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See commands.h.
 * Not here: which commands go where; the bodies know.
 * NVMe base specification 2.0, 3.3; Fabrics Connect, 6.3.
 */
#include "commands.h"

#include <string.h>

enum { BLOCKS = 256, DATA_MAX = 65536 };

struct fuzz_session {
    Rig *rig;
    RigLink *admin, *io;
    bool tolerant;
    const char *subnqn;                  /* NULL: RIG_NQN */
    uint8_t data[DATA_MAX];
};

static void connect_admin(struct fuzz_session *s)
{
    HostQueueConfig config = rig_admin_config();

    config.no_sq_flow_control = true;
    s->admin = rig_admin_to(s->rig, NULL, s->subnqn, &config, 0);
    s->admin->fault_expected = true;
}

struct fuzz_session *fuzz_session_new(bool tolerant)
{
    struct fuzz_session *s = g_new0(struct fuzz_session, 1);

    s->rig = rig_new_sized(BLOCKS);
    s->tolerant = tolerant;
    return s;
}

void fuzz_session_to(struct fuzz_session *s, const char *subnqn)
{
    s->subnqn = subnqn;
}

Rig *fuzz_session_rig(struct fuzz_session *s)
{
    return s->rig;
}

void fuzz_session_free(struct fuzz_session *s)
{
    rig_free(s->rig);
    g_free(s);
}

void fuzz_put(GByteArray *out, enum fuzz_step step, uint8_t queue, uint16_t len, uint32_t arg,
              struct nv_sqe sqe)
{
    const struct fuzz_record record = {
        .step = (uint8_t)step, .queue = queue, .len = len, .arg = arg, .sqe = sqe,
    };

    g_byte_array_append(out, (const uint8_t *)&record, sizeof(record));
}

void fuzz_each_record(const uint8_t *data, size_t size,
                      void (*fn)(struct fuzz_session *, const struct fuzz_record *),
                      struct fuzz_session *session)
{
    struct fuzz_record record;

    for (; size >= sizeof(record); data += sizeof(record), size -= sizeof(record)) {
        memcpy(&record, data, sizeof(record));
        record.step %= FUZZ_STEPS;
        fn(session, &record);
    }
}

/* ---- Links that a command may have ended */

static bool usable(const RigLink *link)
{
    return link && !link->closed && host_queue_state(link->host) == HOST_STATE_READY;
}

static void drop(RigLink **link)
{
    if (*link) {
        rig_unlink(*link);
    }
    *link = NULL;
}

static bool enabled(const struct fuzz_session *s)
{
    return usable(s->admin) && (rig_property(s->admin, NV_REG_CSTS, false) & NV_CSTS_RDY);
}

/* A tolerant session may find nobody who answers; then a queue is all that it needs. */
static void connect_again(struct fuzz_session *s, bool io)
{
    if (s->tolerant) {
        RigLink **link = io ? &s->io : &s->admin;
        HostQueueConfig config = io ? rig_io_config() : rig_admin_config();
        struct nvf_connect_data data = rig_connect_data(NULL, NV_CNTLID_DYNAMIC);

        if (usable(*link)) {
            return;
        }
        if (io && s->admin) {
            data.cntlid = s->admin->cntlid ? s->admin->cntlid : 1;
        }
        drop(link);
        *link = rig_link_raw(s->rig, NULL);
        (*link)->fault_expected = true;
        (*link)->host = host_queue_new(&config);
        host_queue_start((*link)->host);
        rig_pump(s->rig);
        host_queue_connect((*link)->host, io, 0, &data, NULL, NULL);
        rig_pump(s->rig);
        if (!io) {
            struct nv_sqe enable = host_cmd_property_set(NV_REG_CC, false, 0x00460001);

            host_queue_submit((*link)->host, &enable, HOST_DATA_NONE, NULL, 0, NULL, NULL);
            rig_pump(s->rig);
        }
        return;
    }
    if (!enabled(s)) {
        drop(&s->io);
        drop(&s->admin);
        connect_admin(s);
    }
    if (io && !usable(s->io)) {
        HostQueueConfig config = rig_io_config();

        drop(&s->io);
        config.max_r2t = 3;
        config.header_digest = true;
        s->io = rig_io(s->rig, s->admin, 1, &config);
        s->io->fault_expected = true;
    }
}

/* ---- Steps */

/* Lists of ranges begin with small numbers of blocks that the input chooses. */
static void fill_data(struct fuzz_session *s, uint32_t arg)
{
    for (unsigned i = 1; i < 32; i++) {
        const uint64_t word = arg >> i & 0xff;

        memcpy(s->data + i * sizeof(word), &word, sizeof(word));
    }
    memcpy(s->data, &arg, sizeof(arg));
}

static const HostDataKind kinds[] = {
    [FUZZ_NO_DATA] = HOST_DATA_NONE,
    [FUZZ_DATA_IN] = HOST_DATA_IN,
    [FUZZ_DATA_CAPSULE] = HOST_DATA_OUT_CAPSULE,
    [FUZZ_DATA_R2T] = HOST_DATA_OUT_R2T,
};

static void submit(struct fuzz_session *s, RigLink *link, const struct fuzz_record *record)
{
    uint32_t in_capsule = MIN(record->len, 8192);

    if (record->step == FUZZ_VERBATIM) {
        host_queue_submit_verbatim(link->host, &record->sqe, s->data, in_capsule, NULL, NULL);
    } else {
        HostDataKind kind = record->len ? kinds[record->step] : HOST_DATA_NONE;
        uint32_t len = kind == HOST_DATA_OUT_CAPSULE ? in_capsule :
                       kind == HOST_DATA_NONE        ? 0 :
                                                       record->len;

        host_queue_submit(link->host, &record->sqe, kind, kind ? s->data : NULL, len, NULL, NULL);
    }
    rig_pump(s->rig);
}

/*
 * A record may bring data for a command that gives some: the target cannot know that the host meant
 * it the other way round. And a Connect that the host queue took for any command has its own SQSIZE.
 */
static bool is_our_own_fault(const HostFault *fault)
{
    return !strcmp(fault->reason, "C2HData for no read") ||
           !strcmp(fault->reason, "R2T for no write") || !strcmp(fault->reason, "SQHD");
}

static void check(const struct fuzz_session *s, const RigLink *link)
{
    const HostFault *fault = link ? host_queue_fault(link->host) : NULL;

    if (fault && !fault->by_controller && !is_our_own_fault(fault) && !s->tolerant) {
        g_error("the target broke the protocol: %s", fault->reason);
    }
}

static void change_config(struct fuzz_session *s, uint32_t arg)
{
    static const char *const states[] = { "optimized", "inaccessible", "change",
                                          "persistent-loss" };

    switch (arg % 4) {
    case 0:
        lst_ns_enable(s->rig->ns, arg & 4, NULL);
        break;
    case 1:
        lst_port_set_ana_state(s->rig->port, 1, states[arg / 4 % 4], NULL);
        break;
    case 2:
        lst_ns_attach(s->rig->ns, &s->rig->media, RIG_BLOCK * (1 + arg / 4 % BLOCKS), RIG_BLOCK,
                      NULL);
        break;
    case 3:
        s->rig->media.status = arg & 4 ? arg >> 8 & 0x7ff : 0;
        break;
    }
    rig_pump(s->rig);
}

static bool done_without_command(struct fuzz_session *s, const struct fuzz_record *record)
{
    switch (record->step) {
    case FUZZ_TIME:
        rig_advance(s->rig, record->arg % 200000 * RIG_MS);
        return true;
    case FUZZ_CONFIG:
        change_config(s, record->arg);
        return true;
    case FUZZ_BACKEND:
        s->rig->defer = record->arg & 1;
        if (!g_queue_is_empty(&s->rig->ios)) {
            rig_complete_io(s->rig, record->arg & 2 ? record->arg >> 8 & 0x7ff : 0);
        }
        return true;
    default:
        return false;
    }
}

void fuzz_command(struct fuzz_session *s, const struct fuzz_record *record, bool io)
{
    RigLink *link;

    if (!done_without_command(s, record)) {
        fill_data(s, record->arg);
        connect_again(s, io);
        link = io ? s->io : s->admin;
        if (usable(link)) {
            submit(s, link, record);
        }
    }
    check(s, s->io);
    check(s, s->admin);
}

/* Connect data with something wrong, or nothing: bits of @arg. */
static struct nvf_connect_data connect_data(const struct fuzz_session *s, uint32_t arg)
{
    static const char *const names[] = { RIG_NQN, NVF_DISCOVERY_NQN, "", "nqn.nobody" };
    uint16_t cntlid = arg & 4 ? NV_CNTLID_DYNAMIC : s->admin ? s->admin->cntlid : 0;
    struct nvf_connect_data data = rig_connect_data(names[arg & 3], cntlid);

    if (arg & 8) {
        data.cntlid = (uint16_t)(arg >> 16);
    }
    if (arg & 16) {
        memset(data.hostnqn, 'x', sizeof(data.hostnqn));
    }
    if (arg & 32) {
        memset(data.hostid, arg >> 24, sizeof(data.hostid));
    }
    return data;
}

void fuzz_fresh_command(struct fuzz_session *s, const struct fuzz_record *record)
{
    const HostQueueConfig config = { .entries = 64, .max_r2t = 2, .data_digest = true };
    struct nvf_connect_data data = connect_data(s, record->arg);
    RigLink *link;

    if (done_without_command(s, record)) {
        return;
    }
    link = rig_link(s->rig, NULL, &config);
    link->fault_expected = true;
    memcpy(s->data, &data, sizeof(data));
    submit(s, link, record);
    if (usable(link) && (record->arg & 64)) {
        submit(s, link, record);
    }
    check(s, link);
    rig_unlink(link);
}
