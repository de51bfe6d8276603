/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Supervision: what becomes of an actor that fails.
 *
 *     TR_BEHAVIOR(crew, void,
 *         TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 5, .window_ns = 10 * TR_SECOND),
 *         TR_CHILD(worker, "anna"),
 *         TR_CHILD(worker, "ben", .restart = TR_TEMPORARY));
 *
 * The parent supervises. A child fails when a handler returns tr_fail, when a verb ends its turn, or
 * when it is over its budget. It is suspended at once, as it is; its mail waits. Then its parent's
 * TR_SUPERVISE says what to do, one of the directives below; without the clause it is restarted, at
 * most three times in a minute.
 *
 * A restart keeps the ref, the name, the mail, the watchers and those who wait for an answer to what
 * is still queued. In this order: turns that wait are cancelled, tr_pre_restart goes to the old
 * behavior, children stop, timers, stash and memory are dropped; the set-up that was given to
 * tr_spawn runs again, with the same message, tr_pre_start, tr_post_restart. The message whose turn
 * failed is not handled again; who asked it is told TR_FAILED. Requests whose turns were cancelled,
 * or whose replies were put off, end with TR_RESTARTED.
 */
#ifndef TROUPE_SUPERVISION_H
#define TROUPE_SUPERVISION_H

#include <troupe/message.h>

/** An actor, as its own handlers see it. */
typedef struct tr_self tr_self;
/** A behavior: constant data, made by TR_BEHAVIOR. */
typedef struct tr_behavior tr_behavior;

/** Who goes along when a child is restarted. */
typedef enum tr_strategy {
    TR_ONE_FOR_ONE, /* nobody */
    TR_ALL_FOR_ONE, /* all its siblings */
    TR_REST_FOR_ONE /* its siblings that were started later */
} tr_strategy;

/** What to do with a child that has failed. */
typedef enum tr_directive {
    TR_RESTART,    /* a fresh incarnation */
    TR_RESUME,     /* go on with the next message, the state as it is */
    TR_STOP_CHILD, /* stop it */
    TR_ESCALATE    /* stop it, and fail with its cause */
} tr_directive;

/** Which ends of a child are followed by a new start. A child that its parent stops stays stopped. */
typedef enum tr_restart {
    TR_TRANSIENT = 1, /* a failure; the default */
    TR_PERMANENT,     /* any end: one that stopped starts again under its name, as a new actor */
    TR_TEMPORARY      /* none: a failure stops it */
} tr_restart;

/** Whether a supervisor stops when children that are significant have ended for good. */
typedef enum tr_significance {
    TR_STOP_AFTER_NONE,
    TR_STOP_AFTER_ANY, /* one of them */
    TR_STOP_AFTER_ALL  /* the last of them */
} tr_significance;

/** restarts_max: the first failure is one too many. (0 is the default.) */
#define TR_NO_RESTARTS (-1)

/**
 * How long a restart waits: the first one initial_ns, each further one `multiplier` times longer, up
 * to max_ns. A child that has not failed for a whole window begins anew. With a jitter of 0.2 each
 * delay is up to 20 % shorter or longer, by chance.
 */
typedef struct tr_backoff {
    tr_time initial_ns TR_ZERO; /* 0: no delay */
    tr_time max_ns TR_ZERO;     /* 0: TR_BACKOFF_MAX_NS */
    double multiplier TR_ZERO;  /* 0: 2; at least 1 */
    double jitter TR_ZERO;      /* 0 to 1 */
} tr_backoff;

/** How a supervisor treats its children; members of TR_SUPERVISE. All zero is the default. */
typedef struct tr_supervision {
    tr_strategy strategy TR_ZERO;
    /**
     * Restarts of one child within the window; 0: 3; at most TR_RESTARTS_MAX. One failure more, and
     * one-for-one stops the child; the other strategies stop those who would go along too, and the
     * supervisor fails with that cause. A restart that succeeds does not reset the count.
     */
    int restarts_max TR_ZERO;
    tr_time window_ns TR_ZERO; /* 0: one minute */
    tr_backoff backoff TR_ZERO;
    /** Decides by the cause. NULL: TR_RESTART. One that fails itself means TR_ESCALATE. */
    tr_directive (*decide)(tr_self *self, const tr_error *cause) TR_ZERO;
    tr_significance significance TR_ZERO;
} tr_supervision;

/** A child that its parent starts by itself; members of TR_CHILD. */
typedef struct tr_child_spec {
    const tr_behavior *behavior TR_ZERO;
    const char *name TR_ZERO;
    tr_message setup TR_ZERO;                  /* .setup = TR_WITH(label, .text = "anna") */
    tr_restart restart TR_ZERO;                /* 0: as TR_OPTIONS of its behavior says */
    bool is_significant TR_ZERO;               /* see tr_significance */
    const tr_supervision *supervision TR_ZERO; /* NULL: that of the parent */
} tr_child_spec;

#endif
