/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Named events: every error that a peer can cause, and every change of state of connections and
 * controllers.
 * Not here: how they are printed or filtered (the front), and counters (stats.h).
 * No standard; FES and FEI in events are those of the TCP transport specification 1.0.
 */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include <stdint.h>

/* X(ENUM, "name", level, what args[0] and args[1] hold, "" for nothing) */
#define LST_EVENTS(X) \
    X(CONN_OPEN, "conn_open", INFO, "", "") \
    X(CONN_READY, "conn_ready", DEBUG, "digests", "maxr2t") \
    X(CONN_TERMINATE, "conn_terminate", WARN, "fes", "fei") \
    X(CONN_HOST_TERM, "conn_host_term", WARN, "fes", "fei") \
    X(CONN_DROP, "conn_drop", INFO, "", "") \
    X(CONN_CLOSED, "conn_closed", INFO, "", "") \
    X(CONN_IC_TIMEOUT, "conn_ic_timeout", WARN, "", "") \
    X(CONN_CONNECT_TIMEOUT, "conn_connect_timeout", WARN, "", "") \
    X(CONN_TERM_TIMEOUT, "conn_term_timeout", WARN, "", "") \
    X(CONN_QUEUE_OVERRUN, "conn_queue_overrun", WARN, "outstanding", "sqsize") \
    X(CONN_DATA_DIGEST, "conn_data_digest", WARN, "cid", "received") \
    X(CONN_BUFFER_WAIT, "conn_buffer_wait", DEBUG, "cid", "bytes") \
    X(CONN_MEMORY, "conn_memory", INFO, "idle", "most") \
    X(CONN_DISCONNECT, "conn_disconnect", INFO, "qid", "outstanding") \
    X(CONNECT_OK, "connect_ok", INFO, "qid", "sqsize") \
    X(CONNECT_REFUSED, "connect_refused", WARN, "status", "dw0") \
    X(CTRL_NEW, "ctrl_new", INFO, "cntlid", "kato_ms") \
    X(CTRL_GONE, "ctrl_gone", INFO, "cntlid", "") \
    X(CTRL_ENABLE, "ctrl_enable", DEBUG, "cc", "") \
    X(CTRL_DISABLE, "ctrl_disable", DEBUG, "cc", "") \
    X(CTRL_SHUTDOWN, "ctrl_shutdown", DEBUG, "cc", "") \
    X(CTRL_FATAL, "ctrl_fatal", WARN, "cntlid", "") \
    X(CTRL_KATO_EXPIRED, "ctrl_kato_expired", WARN, "cntlid", "kato_ms") \
    X(CTRL_IDLE, "ctrl_idle", INFO, "cntlid", "") \
    X(FAULT, "fault", INFO, "pdu", "count") \
    X(COMMAND_FAILED, "command_failed", INFO, "opcode", "status") \
    X(RESERVATION, "reservation", DEBUG, "nsid", "type") \
    X(STATE_NOT_KEPT, "state_not_kept", WARN, "nsid", "") \
    X(AEN_SENT, "aen_sent", DEBUG, "dw0", "") \
    X(BACKEND_FAILED, "backend_failed", WARN, "op", "status")

enum lst_trace_level { LST_TRACE_DEBUG, LST_TRACE_INFO, LST_TRACE_WARN };

enum lst_event_id {
#define LST_EVENT_ENUM(id, name, level, arg0, arg1) LST_EVENT_##id,
    LST_EVENTS(LST_EVENT_ENUM)
#undef LST_EVENT_ENUM
    LST_EVENT_COUNT
};

/* What is known of an event in advance. */
struct lst_event_info {
    const char *name;
    enum lst_trace_level level;
    const char *arg[2];      /* names of args, "" where unused */
};
extern const struct lst_event_info lst_event_info[LST_EVENT_COUNT];

/* One occurrence; valid during the callback only. */
struct lst_event {
    enum lst_event_id id;
    uint64_t conn_id;        /* 0: not about a connection */
    uint16_t cntlid;         /* 0: no controller */
    uint16_t qid;
    uint64_t args[2];
    /* more words, or NULL: for example why a PDU was refused, or a host NQN */
    const char *text;
};

#endif
