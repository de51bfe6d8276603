/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine: how one generation of a durable actor starts, falls asleep, is destroyed, and ends.
 *
 * It is pure: it has no clock and no thread, allocates nothing, and calls no function of its host. The host of the
 * actor reports what has happened (events, each with the time), and then performs what the machine returns (steps):
 *
 *     tr__sleep_drop(machine, &request->wake_lock, now);
 *     struct sleep_action action;
 *     while (tr__sleep_next(machine, now, &action))
 *         perform(actor, &action);
 *
 * A step that is due is a bit of the agenda, and bits are taken in the order of SLEEP_STEPS. So the order of steps is
 * the order of that list, whatever the order of events. The host may report events while it performs a step. Steps that
 * follow from these events come after the present step. A decision (arm the idle timer, finalize) is taken only when
 * the agenda is empty. At most one such loop runs at a time.
 *
 * docs/design/sleep-machine.md has the states and the table of events. All functions are for the owner of the actor
 * only. An event that is not allowed in the present state changes nothing and returns a status.
 */
#ifndef SLEEP_SLEEP_H
#define SLEEP_SLEEP_H

#include "sleep/wake_locks.h"

enum sleep_state {
    SLEEP_LOADING, /* until set-up and the first hooks are done */
    SLEEP_STARTED,
    SLEEP_GRACE,    /* serves requests, and waits until its work ends */
    SLEEP_FINALIZE, /* writes its state */
    SLEEP_DESTROY_GRACE,
    SLEEP_DESTROYING,
    SLEEP_TERMINATED, /* accepts no event; the last steps may still be on the agenda */
};

/** What the actor asks for, or the authority commands. */
enum sleep_reason { SLEEP_REASON_SLEEP = 1, SLEEP_REASON_DESTROY = 2 };

/** How a generation ended. */
enum sleep_outcome {
    /* the stored data stays, and has the final state if `status` is TR_OK */
    SLEEP_ENDED_ASLEEP = 1,
    SLEEP_ENDED_DESTROYED, /* nothing is stored */
    SLEEP_ENDED_CRASHED,   /* the data that was stored before stays */
};

/** What happens to a request that arrives now. */
enum sleep_door {
    SLEEP_DOOR_HOLD, /* hold the request for this generation, which starts */
    SLEEP_DOOR_SERVE,
    SLEEP_DOOR_NEXT,   /* hold the request for the next generation */
    SLEEP_DOOR_REFUSE, /* refuse the request with TR_DESTROYING */
};

/* The steps of the host, in this order. "Answered by" names the event that the machine waits for. */
#define SLEEP_STEPS(X)                                                                             \
    X(SEND_SLEEP)         /* send the intent to sleep to the authority */                          \
    X(SEND_DESTROY)       /* send the intent to be destroyed */                                    \
    X(ARM_IDLE)           /* arm the timer for `at`; it calls tr__sleep_timer */                   \
    X(ACCEPT_STOP)        /* note that callers wait for the reply to the accepted stop */          \
    X(DRAIN_DISPATCH)     /* deliver messages that were accepted before the stop */                \
    X(SUSPEND_ALARMS)     /* no alarm fires from now on */                                         \
    X(CLEAR_IDLE)         /* clear the timer */                                                    \
    X(FIRE_ABORT)         /* the soft signal to finish; ends waits on queues */                    \
    X(ARM_GRACE)          /* arm the timer for `at`: the next tick or the deadline */              \
    X(SETTLE_CONNECTIONS) /* save or close connections; destroy: close all */                      \
    X(RUN_ON_SLEEP)       /* run on_sleep before other mail: tr__sleep_hook_begin, _hook_end */    \
    X(RUN_ON_DESTROY)     /* run on_destroy before other mail: tr__sleep_hook_begin, _hook_end */  \
    X(NAME_WAKE_LOCKS)    /* at the deadline: note which wake locks are raised */                  \
    X(CANCEL_RUN)         /* cancel the run handler */                                             \
    X(FIRE_DEADLINE)      /* the hard signal, which hooks and store calls observe */               \
    X(WARN)               /* count the time-out; log a warning with the wake locks */              \
    X(ARM_CAP)            /* arm the timer for `at`, the limit of SERIALIZE */                     \
    X(SERIALIZE)          /* the host calls tr__sleep_serialized; turns are still suspended */     \
    X(CLEAR_TIMER)        /* clear the timer; it is not armed again */                             \
    X(CLOSE_EVENTS)       /* deliver nothing any more */                                           \
    X(JOIN_RUN)           /* cancel the run handler if it still runs, and free it */               \
    X(CANCEL_TURNS)       /* join or abort the remaining turns and tasks */                        \
    X(COMMIT_STATE)       /* submit the serialized state */                                        \
    X(ERASE)              /* submit the removal of state, keys, alarms and queues */               \
    X(WAIT_WRITES)        /* the host calls tr__sleep_written when no write is left */             \
    X(KEEP_ALARMS)        /* give alarms to the clock, which wakes the next generation */          \
    X(CLEAR_ALARMS)       /* take alarms from the clock */                                         \
    X(CLOSE_STORE)        /* refuse later writes of this generation */                             \
    X(REPLY)              /* reply with `status` to the callers that wait for the stop */          \
    X(TERMINATED)         /* the last step; no wake lock is left */

#define SLEEP_STEP_ENUM(name) STEP_##name,
enum sleep_step { SLEEP_STEPS(SLEEP_STEP_ENUM) STEP_COUNT };
#undef SLEEP_STEP_ENUM

struct sleep_action {
    enum sleep_step step;
    tr_time at;                 /* for ARM_* steps: when the timer must fire */
    tr_status status;           /* for REPLY and TERMINATED */
    enum sleep_outcome outcome; /* for REPLY and TERMINATED */
};

#define SLEEP_NEVER INT64_MAX
#define SLEEP_IDLE_NS (30 * TR_SECOND)
#define SLEEP_GRACE_NS (15 * TR_SECOND)
/* Period at which a grace checks its predicate. It is a safeguard only, because every change checks it too. */
#define SLEEP_TICK_NS (1 * TR_SECOND)
/* Limit for SERIALIZE. It should never be reached, because a state is serialized in microseconds. */
#define SLEEP_SERIALIZE_CAP_NS (15 * TR_SECOND)

/** Options of a kind. */
struct sleep_options {
    tr_time idle_ns;  /* 0: SLEEP_IDLE_NS */
    tr_time grace_ns; /* 0: SLEEP_GRACE_NS */
    bool no_sleep;    /* no idle sleep; sleep() and the authority still may stop the actor */
    bool has_on_sleep;
    bool has_on_destroy;
};

struct sleep_machine {
    struct wake_locks wake_locks;
    /* wake locks of the machine itself, so that every reason to be awake has one */
    struct wake_lock no_sleep;
    struct wake_lock on_sleep;
    struct wake_lock on_destroy;
    struct sleep_options options;
    uint32_t agenda; /* one bit for each step that is due */
    enum sleep_state state;
    enum sleep_reason stop_waits; /* Loading: a stop that waits for the start; 0: none */
    enum sleep_outcome outcome;   /* Terminated: how the generation ended */
    tr_status status;             /* the first error on the way to the end */
    bool is_sleep_asked;          /* the actor has asked for sleep; set once in a generation */
    bool is_destroy_asked;
    bool is_changed; /* an input of the idle predicate has changed, at changed_at */
    bool is_overdue; /* the grace has ended by its deadline */
    /* in Finalize: the machine waits for tr__sleep_serialized, otherwise for tr__sleep_written */
    bool awaits_serialized;
    tr_time changed_at;
    tr_time due;           /* when the timer fires, or SLEEP_NEVER */
    tr_time deadline;      /* end of the grace */
    tr_time stop_grace_ns; /* grace of stop_waits; 0: none given */
    tr_time shutdown_at;   /* end of the system's shutdown time, or SLEEP_NEVER */
};

/** Makes the machine of a new generation, in Loading. `options` is copied. */
void tr__sleep_init(struct sleep_machine *machine, const struct sleep_options *options,
                    tr_time now);

/**
 * Takes the next step from the agenda. Returns false if there is nothing to do. The caller must perform the step before
 * it takes another. There is no step after TERMINATED, and the machine may be gone by then.
 */
bool tr__sleep_next(struct sleep_machine *machine, tr_time now, struct sleep_action *action);

/* ---- Events. ---- */

/** Reports that set-up, on_create, on_migrate and on_wake are done. TR_INVALID_TRANSITION unless Loading. */
TR_MUST_CHECK tr_status tr__sleep_started(struct sleep_machine *machine, tr_time now);

/**
 * Reports that loading, set-up or a first hook has failed: the generation ends as after a crash. TR_INVALID_TRANSITION
 * unless Loading.
 */
TR_MUST_CHECK tr_status tr__sleep_start_failed(struct sleep_machine *machine, tr_status why);

/**
 * Raises a wake lock, because work begins. The machine borrows `wake_lock` until tr__sleep_drop, or until
 * tr__sleep_next has returned the step TERMINATED. TR_STOPPED: the machine is in state Terminated, and nothing is
 * borrowed. TR_INVALID_TRANSITION: the wake lock is raised already.
 */
TR_MUST_CHECK tr_status tr__sleep_raise(struct sleep_machine *machine, struct wake_lock *wake_lock,
                                        enum sleep_counter counter, tr_time now);

/**
 * Drops a wake lock, because its work has ended, successfully or not. If the wake lock is not raised, does nothing and
 * does not touch the machine, which may be gone.
 */
void tr__sleep_drop(struct sleep_machine *machine, struct wake_lock *wake_lock, tr_time now);

/** Moves a raised wake lock to another counter: when the run handler begins or ends its wait, or a turn is for an alarm. */
void tr__sleep_move(struct sleep_machine *machine, struct wake_lock *wake_lock,
                    enum sleep_counter counter, tr_time now);

/**
 * Asks for sleep() or destroy() on behalf of the actor. This only sends an intent, once in a generation.
 *
 * TR_STARTING: Loading. TR_STOPPING: the stop has begun, or destroy() was asked for before. If sleep() was asked for
 * before and the stop has not started, returns TR_OK and does nothing. destroy() is still allowed in the grace of a
 * sleep.
 */
TR_MUST_CHECK tr_status tr__sleep_ask(struct sleep_machine *machine, enum sleep_reason reason,
                                      tr_time now);

/** Returns what tr__sleep_ask would return for a destroy now. Changes nothing. */
TR_MUST_CHECK tr_status tr__sleep_may_destroy(const struct sleep_machine *machine);

/**
 * Asks the actor to sleep because of memory pressure, without waiting for the idle timer. Returns true if the intent is
 * sent. Returns false and does nothing if the actor is busy, never sleeps, or already stops.
 */
bool tr__sleep_evict(struct sleep_machine *machine);

/**
 * Takes the command of the authority to stop: the grace begins. A grace_ns other than 0 shortens the option.
 *
 * In Loading the stop waits for the start. A destroy upgrades a sleep that waits or is in its grace, with a grace of
 * its own. TR_STOPPING: the stop is too late, or not new. TR_STOPPED: the machine is in state Terminated.
 */
TR_MUST_CHECK tr_status tr__sleep_stop(struct sleep_machine *machine, enum sleep_reason reason,
                                       tr_time grace_ns, tr_time now);

/**
 * Limits the present grace and later ones, because the system shuts down and has only this much time left. Any state.
 */
void tr__sleep_shut_down(struct sleep_machine *machine, tr_time left_ns, tr_time now);

/**
 * Reports that the timer has fired. It may fire early, or after CLEAR_TIMER, because the host need not touch an armed
 * timer that is cleared or moved to a later time. The machine arms it again if needed.
 */
void tr__sleep_timer(struct sleep_machine *machine, tr_time now);

/** Reports that on_sleep or on_destroy (`reason`) has begun. TR_INVALID_TRANSITION: no such hook is due. */
TR_MUST_CHECK tr_status tr__sleep_hook_begin(struct sleep_machine *machine,
                                             enum sleep_reason reason);

/** Reports that the hook has ended, successfully or not, or was skipped. TR_INVALID_TRANSITION: no hook is due. */
TR_MUST_CHECK tr_status tr__sleep_hook_end(struct sleep_machine *machine, enum sleep_reason reason,
                                           tr_time now);

/**
 * Answers SERIALIZE. If `outcome` is not TR_OK, nothing will be written. TR_INVALID_TRANSITION: the machine does not
 * wait for this answer, perhaps because SLEEP_SERIALIZE_CAP_NS has passed; then the serialized state must be dropped.
 */
TR_MUST_CHECK tr_status tr__sleep_serialized(struct sleep_machine *machine, tr_status outcome);

/**
 * Answers WAIT_WRITES with the outcome of the last write. TR_INVALID_TRANSITION: the machine does not wait for this
 * answer.
 */
TR_MUST_CHECK tr_status tr__sleep_written(struct sleep_machine *machine, tr_status outcome);

/**
 * Ends the generation without a write, because it has failed, was killed or stopped by force, or the store has an
 * error. TR_STOPPED: Terminated.
 */
TR_MUST_CHECK tr_status tr__sleep_crash(struct sleep_machine *machine, tr_status why);

/* ---- Questions. ---- */

/**
 * Evaluates the idle predicate. Returns COUNTER_NONE if the idle timer may run, or the first counter that blocks it.
 */
enum sleep_counter tr__sleep_can_arm(const struct sleep_machine *machine);

/** Evaluates the grace predicate: returns whether the grace may end. */
bool tr__sleep_can_finalize(const struct sleep_machine *machine, enum sleep_reason reason);

/** Returns the set of counters that block the next decision: idle sleep, or the end of a grace. */
uint32_t tr__sleep_blocks_next(const struct sleep_machine *machine);

/** Returns what happens to a request that arrives now. */
enum sleep_door tr__sleep_door(const struct sleep_machine *machine);

#endif
