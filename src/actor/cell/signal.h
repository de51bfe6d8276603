/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signals: messages that only the runtime sends. SIGNALS below is the table.
 *
 * A row has
 *   - the name;
 *   - the message, declared in troupe/behavior.h;
 *   - how the signal reaches its actor: SIGNAL_CALLED, SIGNAL_MAILED or SIGNAL_TIMED;
 *   - for a CALLED signal, its properties: members of enum signal_property, joined by |. The code that calls
 *     handlers tests properties and compares no names.
 * To add a signal, add a row, and a call in the room that knows the event:
 *   - for a CALLED signal, call tr__call_hook with TURN_<name>. The handler is
 *     `dispatch->signals[SIGNAL_<name>]`, or NULL if there is none. The CALLED rows come first.
 *     DISPATCH_SIGNALS of actor/cell/dispatch.h is the number of these rows.
 *   - for a MAILED signal, send an envelope of the kind ENVELOPE_SIGNAL with the type
 *     `&tr__signal_types[SIGNAL_<name>]`.
 *
 * Mailed signals wait among the notices, in the order of arrival. They take no capacity and do not
 * reset a receive timeout. A mailed signal is dropped if it arrives after a PoisonPill, or if the
 * actor has no handler for it. Signals use type descriptors of the runtime: a message of the same
 * name that one actor sends to another is no signal, and counts as unhandled.
 */
#ifndef ACTOR_CELL_SIGNAL_H
#define ACTOR_CELL_SIGNAL_H

#include <troupe/behavior.h>
#include <troupe/message.h>

enum signal_way {
    SIGNAL_CALLED, /* the runtime calls the handler at once; no message is queued */
    SIGNAL_MAILED, /* the signal is queued in an ENVELOPE_SIGNAL */
    /* the signal is the ENVELOPE_EVENT of a timer; programs may send such a message, too */
    SIGNAL_TIMED
};

enum signal_property {
    /*
     * the handler is the last one of its incarnation. It must be called even if no stack is free (L-05), so a stack is
     * reserved for it
     */
    SIGNAL_IS_LAST = 1 << 0,
    /* the handler cannot spawn, because children do not outlive the incarnation */
    SIGNAL_CANNOT_SPAWN = 1 << 1
};

#define SIGNALS(ROW)                                                                               \
    ROW(PRE_START, tr_pre_start, CALLED, 0)                                                        \
    ROW(POST_STOP, tr_post_stop, CALLED, SIGNAL_IS_LAST | SIGNAL_CANNOT_SPAWN)                     \
    ROW(PRE_RESTART, tr_pre_restart, CALLED, SIGNAL_IS_LAST | SIGNAL_CANNOT_SPAWN)                 \
    ROW(POST_RESTART, tr_post_restart, CALLED, 0)                                                  \
    ROW(CHILD_FAILED, tr_child_failed, MAILED, 0)                                                  \
    ROW(TERMINATED, tr_terminated, MAILED, 0)                                                      \
    ROW(RECEIVE_TIMEOUT, tr_receive_timeout, TIMED, 0)

#define SIGNAL_ROW_NAME(name, message, way, properties) SIGNAL_##name,
enum signal { SIGNALS(SIGNAL_ROW_NAME) SIGNAL_COUNT };
#undef SIGNAL_ROW_NAME

#define SIGNAL_ROW_CALLED(name, message, way, properties) +(SIGNAL_##way == SIGNAL_CALLED)
/** How many signals are CALLED. These signals have the lowest numbers. */
enum { SIGNAL_CALLED_COUNT = 0 SIGNALS(SIGNAL_ROW_CALLED) };
#undef SIGNAL_ROW_CALLED

#define TURN_KIND_CALLED(name) TURN_##name,
#define TURN_KIND_MAILED(name)
#define TURN_KIND_TIMED(name)
#define TURN_KIND(name, message, way, properties) TURN_KIND_##way(name)
/** Why user code runs. Each CALLED signal has a kind of its own: TURN_<name>. */
enum turn_kind { TURN_MESSAGE, TURN_SETUP, TURN_DECIDER, SIGNALS(TURN_KIND) TURN_KIND_COUNT };
#undef TURN_KIND_CALLED
#undef TURN_KIND_MAILED
#undef TURN_KIND_TIMED
#undef TURN_KIND

#define TURN_CASE_CALLED(name, properties)                                                         \
    case TURN_##name:                                                                              \
        return (properties)&property;
#define TURN_CASE_MAILED(name, properties)
#define TURN_CASE_TIMED(name, properties)
#define TURN_CASE(name, message, way, properties) TURN_CASE_##way(name, properties)
/**
 * Whether a turn of this kind calls a signal that has this property. False for kinds that call no
 * signal.
 */
static inline bool turn_kind_has(enum turn_kind kind, enum signal_property property)
{
    switch (kind) {
        SIGNALS(TURN_CASE)
    case TURN_MESSAGE:
    case TURN_SETUP:
    case TURN_DECIDER:
    case TURN_KIND_COUNT:
        break;
    }
    return false;
}
#undef TURN_CASE_CALLED
#undef TURN_CASE_MAILED
#undef TURN_CASE_TIMED
#undef TURN_CASE

/** The runtime's type descriptors of the signals, by enum signal. */
extern const tr_type tr__signal_types[SIGNAL_COUNT];

/**
 * The content of a carrier of tr_ask_then: three pointers as numbers. See actor/ask/ask_then.h.
 */
TR_MESSAGE(tr_answered, (u64, ask), (u64, then), (u64, context));
extern const tr_type tr__then_type;

/** Whether this is one of the runtime's own descriptors of signals. */
bool tr__signal_is_own(const tr_type *type);
/**
 * Whether a type has the name and the fields of a CALLED or MAILED signal, but is not the runtime's
 * descriptor. Only the runtime may send such signals.
 */
bool tr__signal_is_forged(const tr_type *type);
/** Whether a type has the name and the fields of a CALLED signal. */
bool tr__signal_is_called(const tr_type *type);
/**
 * Returns the runtime's descriptor of the MAILED signal with the name and the fields of this type.
 * Returns NULL if there is no such signal.
 */
const tr_type *tr__signal_mailed(const tr_type *type);

#endif
