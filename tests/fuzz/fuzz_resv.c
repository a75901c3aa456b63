/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz body: reservations as text, as commands of many hosts, and on the queues of two hosts with
 * a slow backend. The first byte says which.
 * Not here: commands with any fields (fuzz_io.c).
 * NVMe base specification 2.0, 8.19.
 */
#include <string.h>

#include "engine/resv.h"
#include "fuzz.h"
#include "rig.h"

enum { MODE_TEXT, MODE_RULES, MODE_QUEUES, MODES, HOSTS = 8, KEYS = 3 };

/* ---- Text */

static void check(const struct lst_resv *resv)
{
    g_assert_true(lst_resv_whole(resv));
    g_assert_cmpuint(resv->count, <=, LST_REGISTRANTS_MAX);
    for (unsigned i = 0; i < resv->count; i++) {
        g_assert_cmpuint(resv->registrants[i].key, !=, 0);
    }
}

static bool parse(struct lst_resv *resv, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const char *why = NULL;

    memset(resv, 0, sizeof(*resv));
    for (char **line = lines; *line; line++) {
        if (**line && !lst_resv_parse(resv, *line, &why)) {
            g_assert_nonnull(why);
            return false;
        }
    }
    return lst_resv_whole(resv);
}

/* What was printed is read again, and is the same. */
static void check_text(const struct lst_resv *resv)
{
    g_autoptr(GString) text = g_string_new(NULL), again = g_string_new(NULL);
    g_autofree struct lst_resv *back = g_new(struct lst_resv, 1);

    lst_resv_print(resv, text);
    g_assert_true(parse(back, text->str));
    lst_resv_print(back, again);
    g_assert_cmpstr(text->str, ==, again->str);
}

static void fuzz_text(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autofree struct lst_resv *resv = g_new(struct lst_resv, 1);

    if (parse(resv, text)) {
        check(resv);
        check_text(resv);
    }
}

/* ---- Rules: four bytes for a command: host, which, its CDW10, its keys */

static void fuzz_rules(const uint8_t *data, size_t size)
{
    static uint16_t (*const commands[])(struct lst_resv *, const uint8_t *, uint32_t,
                                        const struct nv_resv_keys *, struct lst_resv_notices *) = {
        lst_resv_register, lst_resv_acquire, lst_resv_release,
    };
    g_autofree struct lst_resv *resv = g_new0(struct lst_resv, 1);
    g_autofree struct lst_resv *before = g_new(struct lst_resv, 1);
    g_autofree struct lst_resv_notices *notices = g_new(struct lst_resv_notices, 1);
    uint8_t report[200];

    resv->ptpl_capable = true;
    for (; size >= 4; data += 4, size -= 4) {
        const uint8_t host[16] = { (uint8_t)(data[0] % HOSTS + 1) };
        const struct nv_resv_keys keys = { data[3] % KEYS, data[3] / KEYS % KEYS };
        uint32_t cdw10 = (data[2] & 0xfu) | (data[2] >> 4 & 7u) << 8 |
                         (uint32_t)(data[1] >> 6) << 30;

        *before = *resv;
        if (commands[data[1] % 3](resv, host, cdw10, &keys, notices)) {
            g_assert_cmpmem(before, sizeof(*before), resv, sizeof(*resv));
            g_assert_cmpuint(notices->count, ==, 0);
        }
        for (unsigned i = 0; i < notices->count; i++) {
            g_assert_true(memcmp(notices->to[i].host, host, sizeof(host)) != 0);
        }
        check(resv);
        check_text(resv);
        lst_resv_report(resv, data[0] & 0x80, NULL, NULL, report, 1 + data[3] % sizeof(report));
    }
}

/* ---- Queues of two hosts */

struct session {
    Rig *rig;
    RigLink *admin[2], *io[2];
    uint8_t data[4096];
};

static void connect(struct session *s, unsigned who)
{
    s->rig->who = (uint8_t)who;
    s->admin[who] = rig_admin(s->rig);
    s->io[who] = rig_io(s->rig, s->admin[who], 1, NULL);
}

static void submit(struct session *s, RigLink *link, struct nv_sqe sqe, HostDataKind kind,
                   uint32_t len)
{
    host_queue_submit(link->host, &sqe, kind, kind ? s->data : NULL, len, NULL, NULL);
    rig_pump(s->rig);
}

static void reservation(struct session *s, RigLink *io, const uint8_t *step)
{
    static const uint8_t opcodes[] = { NV_IO_RESV_REGISTER, NV_IO_RESV_ACQUIRE,
                                       NV_IO_RESV_RELEASE };
    struct nv_sqe sqe = host_cmd(opcodes[step[1] % 3], 1);
    const uint64_t keys[2] = { step[3] % KEYS, step[3] / KEYS % KEYS };

    sqe.cdw10 = (step[2] & 0xfu) | (step[2] >> 4 & 7u) << 8 | (uint32_t)(step[1] >> 6) << 30;
    memcpy(s->data, keys, sizeof(keys));
    submit(s, io, sqe, step[0] & 2 ? HOST_DATA_OUT_R2T : HOST_DATA_OUT_CAPSULE,
           sqe.opcode == NV_IO_RESV_RELEASE ? 8 : 16);
}

static void other(struct session *s, unsigned who, const uint8_t *step)
{
    struct nv_sqe sqe = host_cmd(NV_IO_RESV_REPORT, 1);

    switch (step[1] % 8) {
    case 0:
        sqe.cdw10 = step[2];
        sqe.cdw11 = step[3] & 1;
        submit(s, s->io[who], sqe, HOST_DATA_IN, (step[2] + 1u) * 4);
        break;
    case 1:
        submit(s, s->io[who], host_cmd_rw(NV_IO_READ, 1, 0, 1, 0), HOST_DATA_IN, 512);
        break;
    case 2:
        submit(s, s->io[who], host_cmd_rw(NV_IO_WRITE, 1, 0, 8, 0), HOST_DATA_OUT_R2T, 4096);
        break;
    case 3:
        s->rig->defer = step[2] & 1;
        if (!g_queue_is_empty(&s->rig->ios)) {
            rig_complete_io(s->rig, step[2] & 2 ? NV_SC_INTERNAL : 0);
        }
        break;
    case 4:
        rig_unlink(s->io[who]);
        rig_unlink(s->admin[who]);
        connect(s, who);
        break;
    case 5:
        submit(s, s->admin[who], host_cmd_get_log(NV_LOG_RESERVATION, NV_NSID_ALL, 0, 64, 0,
                                                  step[2] & 1),
               HOST_DATA_IN, 64);
        break;
    case 6:
        sqe = host_cmd_set_features(step[2] & 1 ? NV_FEAT_RESV_NOTICE_MASK : NV_FEAT_RESV_PERSIST,
                                    step[3]);
        sqe.nsid = step[2] & 2 ? NV_NSID_ALL : 1;
        submit(s, s->admin[who], sqe, HOST_DATA_NONE, 0);
        break;
    case 7:
        lst_ns_enable(s->rig->ns, false, NULL);
        if (step[2] & 1) {
            lst_ns_set(s->rig->ns, "resv_enable", step[2] & 2 ? "1" : "0", NULL);
        }
        lst_ns_enable(s->rig->ns, true, NULL);
        s->rig->keep_fails = step[2] & 4;
        break;
    }
}

static void fuzz_queues(const uint8_t *data, size_t size)
{
    struct session *s = g_new0(struct session, 1);

    s->rig = rig_new_keeping();
    lst_ns_enable(s->rig->ns, false, NULL);
    lst_ns_set(s->rig->ns, "resv_enable", "1", NULL);
    lst_ns_enable(s->rig->ns, true, NULL);
    connect(s, 0);
    connect(s, 1);
    for (; size >= 4; data += 4, size -= 4) {
        if (data[0] & 4) {
            other(s, data[0] & 1, data);
        } else {
            reservation(s, s->io[data[0] & 1], data);
        }
    }
    rig_free(s->rig);
    g_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const modes[MODES])(const uint8_t *, size_t) = {
        [MODE_TEXT] = fuzz_text,
        [MODE_RULES] = fuzz_rules,
        [MODE_QUEUES] = fuzz_queues,
    };

    if (size) {
        modes[data[0] % MODES](data + 1, size - 1);
    }
    return 0;
}

void fuzz_corpus(FuzzAddFn *add)
{
    static const char text[] = "\x00"
                               "ptpl 1\nreservation 3\n"
                               "registrant 00112233445566778899aabbccddeeff 0x1 holder\n"
                               "registrant 10112233445566778899aabbccddeeff 0xffff\n";
    /* both register, one acquires, the other preempts, clears */
    static const uint8_t rules[] = { MODE_RULES, 0, 0, 0, 3, 1, 0, 0, 6, 0, 1, 0x10, 1,
                                     1, 1, 0x11, 5, 1, 2, 0x01, 2 };
    /* the same, with a write at the backend and Preempt and Abort */
    static const uint8_t queues[] = { MODE_QUEUES, 0, 0, 0, 3, 1, 0, 0, 6, 0, 1, 0x10, 1,
                                      4, 3, 1, 0, 4, 2, 0, 0, 1, 1, 0x12, 5, 4, 3, 0, 0,
                                      4, 5, 0, 0, 5, 0, 63, 1, 4, 6, 1, 2, 4, 4, 0, 0 };

    add((const uint8_t *)text, sizeof(text) - 1);
    add(rules, sizeof(rules));
    add(queues, sizeof(queues));
}
