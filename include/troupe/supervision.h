/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Supervision: what happens to an actor that fails.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(work, tr_done, (i32, number));
 * TR_ACTOR(worker, work);
 *
 * static tr_next on_work(tr_self *self, const struct work *message)
 * {
 *     if (message->number < 0)
 *         return tr_fail(self, TR_BAD_DATA, "%d is negative", (int)message->number);
 *     return tr_reply(self, tr_done);
 * }
 *
 * TR_BEHAVIOR(worker, void, TR_ON(work, on_work));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     worker_ref anna = tr_child(self, worker, "anna");
 *     if (tr_try_await(self, tr_ask(self, anna, work, .number = -1), NULL) == TR_FAILED)
 *         tr_await(self, tr_ask(self, anna, work, .number = 1)); // anna was restarted
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(boss, void, TR_ON(tr_args, on_args),
 *     TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 5, .window_ns = 10 * TR_SECOND),
 *     TR_CHILD(worker, "anna"), TR_CHILD(worker, "ben", .restart = TR_TEMPORARY));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, boss);
 * }
 * ```
 *
 * The parent supervises its children. A child fails if a handler returns tr_fail, if a verb ends
 * its turn, or if the child exceeds its budget. A child that has failed is suspended at once, and
 * its messages wait. Then TR_SUPERVISE of its parent says what to do: one of the directives below.
 * Without that clause the child is restarted, at most three times in a minute.
 *
 * A restart keeps the ref, the name, the messages that wait, the watchers, and the asks whose
 * requests wait to be handled. Its steps, in this order:
 *   1. Turns that wait are cancelled.
 *   2. tr_pre_restart goes to the old incarnation.
 *   3. The children stop. Timers, stash and memory are released.
 *   4. The set-up that was given to tr_spawn runs again, with the same message.
 *   5. tr_pre_start and then tr_post_restart go to the new incarnation.
 * The message whose turn failed is not handled again; if it was a request, its ask ends with
 * TR_FAILED. Asks whose turns were cancelled, or whose reply was due by tr_reply_later, end with
 * TR_RESTARTED.
 */
#ifndef TROUPE_SUPERVISION_H
#define TROUPE_SUPERVISION_H

#include <troupe/message.h>

/** The actor of the running turn, for its own handlers. */
typedef struct tr_self tr_self;
/** A behavior: constant data that TR_BEHAVIOR makes. */
typedef struct tr_behavior tr_behavior;

/** Which children are restarted together with a child that failed. */
typedef enum tr_strategy {
    TR_ONE_FOR_ONE, /* none */
    TR_ALL_FOR_ONE, /* all siblings */
    TR_REST_FOR_ONE /* the siblings that were started later */
} tr_strategy;

/** What a supervisor does with a child that has failed. */
typedef enum tr_directive {
    TR_RESTART,    /* restarts the child: a new incarnation */
    TR_RESUME,     /* lets the child continue with the next message and its state as it is */
    TR_STOP_CHILD, /* stops it */
    TR_ESCALATE    /* stops the child; the supervisor fails with the same cause */
} tr_directive;

/**
 * Whether a child starts again when it has ended. A child that its parent has stopped never starts
 * again.
 */
typedef enum tr_restart {
    TR_TRANSIENT = 1, /* after a failure; the default */
    /* after any end; if the child had stopped, a new actor with the same name starts */
    TR_PERMANENT,
    TR_TEMPORARY /* never: the child stops when it fails */
} tr_restart;

/**
 * Whether a supervisor stops when children with is_significant have ended and do not start again.
 */
typedef enum tr_significance {
    TR_STOP_AFTER_NONE,
    TR_STOP_AFTER_ANY, /* when the first of these children has ended */
    TR_STOP_AFTER_ALL  /* when all of these children have ended */
} tr_significance;

/**
 * For restarts_max: no restart is allowed, so the first failure already exceeds the limit. (0 means
 * the default.)
 */
#define TR_NO_RESTARTS (-1)

/**
 * How long a restart waits. The first restart waits initial_ns. Each further restart waits
 * `multiplier` times as long as the one before, at most max_ns. A child that has not failed for a
 * whole window starts at initial_ns again. With a jitter of 0.2 each delay is up to 20 % shorter or
 * longer, at random.
 */
typedef struct tr_backoff {
    tr_time initial_ns TR_ZERO; /* 0: no delay */
    tr_time max_ns TR_ZERO;     /* 0: TR_BACKOFF_MAX_NS */
    double multiplier TR_ZERO;  /* 0: 2; at least 1 */
    double jitter TR_ZERO;      /* 0 to 1 */
} tr_backoff;

/** How a supervisor treats its children: the members of TR_SUPERVISE. All zero is the default. */
typedef struct tr_supervision {
    tr_strategy strategy TR_ZERO;
    /**
     * How many restarts of one child are allowed within the window. 0: 3. At most TR_RESTARTS_MAX.
     * If the child fails once more, TR_ONE_FOR_ONE stops only the child. The other strategies also
     * stop the children that would be restarted with it, and the supervisor fails with the cause of
     * that failure. A restart that succeeds does not reset the count.
     */
    int restarts_max TR_ZERO;
    tr_time window_ns TR_ZERO; /* 0: one minute */
    tr_backoff backoff TR_ZERO;
    /**
     * Returns the directive for this cause. If the function itself fails, the directive is
     * TR_ESCALATE. If this member is NULL, the directive is TR_RESTART.
     */
    tr_directive (*decide)(tr_self *self, const tr_error *cause) TR_ZERO;
    tr_significance significance TR_ZERO;
} tr_supervision;

/** A child that starts with its parent: the members of TR_CHILD. */
typedef struct tr_child_spec {
    const tr_behavior *behavior TR_ZERO;
    const char *name TR_ZERO;
    tr_message setup TR_ZERO;                  /* .setup = TR_WITH(label, .text = "anna") */
    tr_restart restart TR_ZERO;                /* 0: as TR_OPTIONS of the child's behavior says */
    bool is_significant TR_ZERO;               /* see tr_significance */
    const tr_supervision *supervision TR_ZERO; /* NULL: the supervision of the parent */
} tr_child_spec;

#endif
