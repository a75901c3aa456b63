/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a namespace's owner has to keep over the loss of power, as text.
 * Not here: where it is kept (the front).
 * No standard; lines as in resv_text.c.
 */
#include "engine/ctrl.h"

#include <string.h>

static const char heading[] = "lockstep namespace 1";

/* "" if there is nothing to keep. */
static GString *state_text(const struct lst_ns *ns)
{
    GString *text = g_string_new(NULL);

    /* Until Power Cycle ends with it. */
    if (ns->write_protected == NV_WP_WRITE_PROTECT || ns->write_protected == NV_WP_PERMANENT) {
        g_string_append_printf(text, "write_protect %u\n", ns->write_protected);
    }
    if (lst_resv_enabled(ns->resv)) {
        lst_resv_print(&ns->resv->state, text);
    }
    if (text->len) {
        g_string_prepend(text, "\n");
        g_string_prepend(text, heading);
    }
    return text;
}

static bool hand_over(const struct lst_ns *ns, const char *text)
{
    struct lst_target *target = ns->subsys ? ns->subsys->target : NULL;

    if (!target || !target->ops.ns_keep || target->ops.ns_keep(target->front, ns, text)) {
        return true;
    }
    lst_trace(target, LST_EVENT_STATE_NOT_KEPT, NULL, NULL, ns->nsid, 0, ns->subsys->nqn);
    return false;
}

bool lst_ns_keep(const struct lst_ns *ns)
{
    GString *text = state_text(ns);
    bool kept = hand_over(ns, text->len ? text->str : NULL);

    g_string_free(text, TRUE);
    return kept;
}

void lst_ns_forget(const struct lst_ns *ns)
{
    hand_over(ns, NULL);
}

static bool parse_line(const char *line, uint8_t *write_protect, struct lst_resv *resv,
                       const char **why)
{
    if (!g_str_has_prefix(line, "write_protect ")) {
        return lst_resv_parse(resv, line, why);
    }
    if (!strcmp(line, "write_protect 1") || !strcmp(line, "write_protect 3")) {
        *write_protect = (uint8_t)(line[strlen("write_protect ")] - '0');
        return true;
    }
    *why = "write_protect 1 or 3";
    return false;
}

static bool parse_lines(char **lines, uint8_t *write_protect, struct lst_resv *resv, GError **err)
{
    const char *why = heading;
    unsigned number = 0;

    if (lines[0] && !strcmp(lines[0], heading)) {
        do {
            number++;
        } while (lines[number] && (!*lines[number] ||
                                   parse_line(lines[number], write_protect, resv, &why)));
        if (!lines[number] && lst_resv_whole(resv)) {
            return true;
        }
    }
    g_set_error(err, LST_ERROR, LST_ERROR_VALUE,
                "the state that was kept: line %u: '%s' is not allowed: %s", number + 1,
                lines[number] ? lines[number] : "", why);
    return false;
}

static bool take_up(struct lst_ns *ns, const char *text, GError **err)
{
    struct lst_resv *resv = g_new0(struct lst_resv, 1);
    char **lines = g_strsplit(text, "\n", -1);
    uint8_t write_protect = NV_WP_NONE;
    bool good = parse_lines(lines, &write_protect, resv, err);

    if (good) {
        ns->write_protected = write_protect;
    }
    if (good && lst_resv_enabled(ns->resv)) {
        resv->ptpl_capable = ns->resv->state.ptpl_capable;
        ns->resv->state = *resv;
    }
    g_strfreev(lines);
    g_free(resv);
    return good;
}

bool lst_ns_restore(struct lst_ns *ns, GError **err)
{
    struct lst_target *target = ns->subsys->target;
    char *text = NULL;

    if (!ns->restored) {
        ns->restored = !target->ops.ns_kept ||
                       (target->ops.ns_kept(target->front, ns, &text, err) &&
                        (!text || take_up(ns, text, err)));
        g_free(text);
    }
    return ns->restored;
}
