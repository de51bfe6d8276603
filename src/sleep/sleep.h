/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine: how one generation of a durable actor starts, falls asleep, is destroyed, and ends.
 *
 * The machine is pure: it has no clock and no thread, allocates nothing, and calls no function of its host. The host of
 * the actor reports events to the machine, each with the time. Then it performs the steps that the machine returns:
 *
 *     tr__sleep_drop(machine, &request->wake_lock, now);
 *     struct sleep_action action;
 *     while (tr__sleep_next(machine, now, &action))
 *         perform(actor, &action);
 *
 * The agenda has one bit for each step that is due, and tr__sleep_next takes the bits in the order of SLEEP_STEPS. So
 * the order of steps is the order of that list, whatever the order of events. The host may report events while it
 * performs a step. Steps that follow from these events come after the present step. The machine takes a decision (to
 * arm the idle timer, or to finalize) only when the agenda is empty. At most one such loop runs at a time.
 *
 * docs/design/sleep-machine.md has the states and the table of events. All functions are for the
 * owner of the actor only. An event that is not allowed in the present state changes nothing and
 * returns a status. Functions that return TR_INVALID_TRANSITION for this return TR_STOPPED in the
 * state Terminated.
 */
#ifndef SLEEP_SLEEP_H
#define SLEEP_SLEEP_H

#include "sleep/wake_locks.h"

enum sleep_state {
    SLEEP_LOADING, /* set-up and the first hooks are not done yet */
    SLEEP_STARTED,
    SLEEP_GRACE,    /* the actor serves requests, and waits until its work ends */
    SLEEP_FINALIZE, /* the actor writes its state */
    SLEEP_DESTROY_GRACE,
    SLEEP_DESTROYING,
    SLEEP_TERMINATED, /* the machine accepts no event; the last steps may still be on the agenda */
};

/** The kind of stop that the actor asks for or the authority commands. */
enum sleep_reason { SLEEP_REASON_SLEEP = 1, SLEEP_REASON_DESTROY = 2 };

/** How a generation ended. */
enum sleep_outcome {
    /* The stored data stays. It has the final state if `status` is TR_OK. */
    SLEEP_ENDED_ASLEEP = 1,
    SLEEP_ENDED_DESTROYED, /* the stored data is removed */
    SLEEP_ENDED_CRASHED,   /* the data that was stored before stays */
};

/** What happens to a request that arrives now. */
enum sleep_door {
    SLEEP_DOOR_HOLD, /* hold the request for this generation, which is still starting */
    SLEEP_DOOR_SERVE,
    SLEEP_DOOR_NEXT,   /* hold the request for the next generation */
    SLEEP_DOOR_REFUSE, /* refuse the request with TR_DESTROYING */
};

/* The steps that the host performs, in this order. */
#define SLEEP_STEPS(X)                                                                             \
    X(SEND_SLEEP)         /* send the intent to sleep to the authority */                          \
    X(SEND_DESTROY)       /* send the intent to be destroyed */                                    \
    X(ARM_IDLE)           /* arm the timer for `at`; the timer calls tr__sleep_timer */            \
    X(ACCEPT_STOP)        /* note that callers wait for the outcome of the stop */                 \
    X(DRAIN_DISPATCH)     /* deliver messages that were accepted before the stop */                \
    X(SUSPEND_ALARMS)     /* no alarm fires from now on */                                         \
    X(CLEAR_IDLE)         /* clear the timer */                                                    \
    X(FIRE_ABORT)         /* ask the actor to finish; ends its waits on queues */                  \
    X(ARM_GRACE)          /* arm the timer for `at`: the next tick or the deadline */              \
    X(SETTLE_CONNECTIONS) /* save or close the connections; for a destroy, close all */            \
    X(RUN_ON_SLEEP)       /* run on_sleep before other mail, and report its begin and end */       \
    X(RUN_ON_DESTROY)     /* run on_destroy before other mail, and report its begin and end */     \
    X(NAME_WAKE_LOCKS)    /* the deadline has passed: note which wake locks are raised */          \
    X(CANCEL_RUN)         /* cancel the run handler */                                             \
    X(FIRE_DEADLINE)      /* the hard signal to finish, which hooks and store calls observe */     \
    X(WARN)               /* count the time-out; log a warning with the wake locks */              \
    X(ARM_CAP)            /* arm the timer for `at`, when SERIALIZE must have been answered */     \
    X(SERIALIZE)   /* take the state, while turns are suspended; then call tr__sleep_serialized */ \
    X(CLEAR_TIMER) /* clear the timer; no later step arms it */                                    \
    X(CLOSE_EVENTS) /* deliver no further messages */                                              \
    X(JOIN_RUN)     /* cancel the run handler if it still runs, and free it */                     \
    X(CANCEL_TURNS) /* join or abort the remaining turns and tasks */                              \
    X(COMMIT_STATE) /* submit the serialized state to the store */                                 \
    X(ERASE)        /* submit to the store: remove state, keys, alarms and queues */               \
    X(WAIT_WRITES)  /* when no write is left, call tr__sleep_written */                            \
    X(KEEP_ALARMS)  /* hand the alarms to the clock, which wakes the next generation */            \
    X(CLEAR_ALARMS) /* remove the alarms from the clock */                                         \
    X(CLOSE_STORE)  /* refuse later writes of this generation */                                   \
    X(REPLY)        /* reply with `status` to the callers that wait for the stop */                \
    X(TERMINATED)   /* the last step; no wake lock is left */

#define SLEEP_STEP_ENUM(name) STEP_##name,
enum sleep_step { SLEEP_STEPS(SLEEP_STEP_ENUM) STEP_COUNT };
#undef SLEEP_STEP_ENUM

struct sleep_action {
    enum sleep_step step;
    tr_time at;                 /* ARM_* steps: when the timer must fire */
    tr_status status;           /* REPLY and TERMINATED: the first error, or TR_OK */
    enum sleep_outcome outcome; /* REPLY and TERMINATED: how the generation ended */
};

#define SLEEP_NEVER INT64_MAX
#define SLEEP_IDLE_NS (30 * TR_SECOND)
#define SLEEP_GRACE_NS (15 * TR_SECOND)
/* How often a grace checks whether it may end. This is a safeguard only, because every change checks it too. */
#define SLEEP_TICK_NS (1 * TR_SECOND)
/* How long the machine waits for the answer to SERIALIZE. A state is serialized in microseconds, so this limit should
 * never be reached. */
#define SLEEP_SERIALIZE_CAP_NS (15 * TR_SECOND)

/** Options of a durable kind. */
struct sleep_options {
    tr_time idle_ns;  /* 0 means SLEEP_IDLE_NS */
    tr_time grace_ns; /* 0 means SLEEP_GRACE_NS */
    /* the actor does not sleep when idle; sleep() and the authority may still stop it */
    bool no_sleep;
    bool has_on_sleep;
    bool has_on_destroy;
};

struct sleep_machine {
    struct wake_locks wake_locks;
    /* The wake locks of the machine itself. They exist so that each reason to stay awake is a wake
     * lock. */
    struct wake_lock no_sleep;
    struct wake_lock on_sleep;
    struct wake_lock on_destroy;
    struct sleep_options options;
    uint32_t agenda; /* one bit for each step that is due */
    enum sleep_state state;
    enum sleep_reason stop_waits; /* Loading: the stop that begins after the start; 0: none */
    enum sleep_outcome outcome;   /* Terminated: how the generation ended */
    tr_status status;             /* the first error while the generation was ending, or TR_OK */
    bool is_sleep_asked;          /* the actor has asked for sleep; stays set in this generation */
    bool is_destroy_asked;
    bool is_changed; /* an input of the idle predicate has changed, at `changed_at` */
    bool is_overdue; /* the deadline has passed, so the grace ends */
    /* In Finalize. True: the machine waits for tr__sleep_serialized. False: it waits for
     * tr__sleep_written. */
    bool awaits_serialized;
    tr_time changed_at;
    tr_time due;           /* when the timer fires, or SLEEP_NEVER */
    tr_time deadline;      /* end of the grace */
    tr_time stop_grace_ns; /* the grace of `stop_waits`; 0: that stop has given none */
    tr_time shutdown_at;   /* end of the system's shutdown time, or SLEEP_NEVER */
};

/** Makes the machine of a new generation, in Loading. `options` is copied. */
void tr__sleep_init(struct sleep_machine *machine, const struct sleep_options *options,
                    tr_time now);

/**
 * Takes the next step from the agenda. Returns false if there is nothing to do. The caller must perform the step before
 * it takes another. No step follows TERMINATED. When TERMINATED was performed, the machine may be gone.
 */
bool tr__sleep_next(struct sleep_machine *machine, tr_time now, struct sleep_action *action);

/* ---- Events. ---- */

/**
 * Reports that set-up, on_create, on_migrate and on_wake are done. Returns TR_INVALID_TRANSITION if the state is not
 * Loading.
 */
TR_MUST_CHECK tr_status tr__sleep_started(struct sleep_machine *machine, tr_time now);

/**
 * Reports that loading, set-up or a first hook has failed. The generation ends as after a crash. Returns
 * TR_INVALID_TRANSITION if the state is not Loading.
 */
TR_MUST_CHECK tr_status tr__sleep_start_failed(struct sleep_machine *machine, tr_status why);

/**
 * Raises a wake lock, because work begins. The machine borrows `wake_lock` until tr__sleep_drop, or until
 * tr__sleep_next has returned the step TERMINATED. Returns TR_STOPPED, and borrows nothing, in the state Terminated.
 * Returns TR_INVALID_TRANSITION if the wake lock is raised already.
 */
TR_MUST_CHECK tr_status tr__sleep_raise(struct sleep_machine *machine, struct wake_lock *wake_lock,
                                        enum sleep_counter counter, tr_time now);

/**
 * Drops a wake lock, because its work has ended, successfully or not. If the wake lock is not raised, does nothing and
 * does not read the machine, which may be gone by then.
 */
void tr__sleep_drop(struct sleep_machine *machine, struct wake_lock *wake_lock, tr_time now);

/**
 * Moves a raised wake lock to another counter. The run handler needs this when it begins or ends its wait, and a turn
 * when it handles an alarm.
 */
void tr__sleep_move(struct sleep_machine *machine, struct wake_lock *wake_lock,
                    enum sleep_counter counter, tr_time now);

/**
 * Asks for sleep() or destroy() on behalf of the actor. Only sends an intent to the authority, once in a generation.
 *
 * Returns TR_STARTING in the state Loading, and TR_STOPPING if the stop has begun. There is one
 * exception: in the grace of a sleep, before its deadline, the actor may still ask for destroy(). A
 * second call for destroy() returns TR_STOPPING. A second call for sleep() before the stop has
 * begun returns TR_OK and does nothing.
 */
TR_MUST_CHECK tr_status tr__sleep_ask(struct sleep_machine *machine, enum sleep_reason reason,
                                      tr_time now);

/**
 * Returns what tr__sleep_ask would return if it were called with SLEEP_REASON_DESTROY now. Changes
 * nothing.
 */
TR_MUST_CHECK tr_status tr__sleep_may_destroy(const struct sleep_machine *machine);

/**
 * Asks the actor to sleep because of memory pressure, without waiting for the idle timer. Returns true if the intent is
 * sent. Returns false and does nothing if the actor is busy, never sleeps, or already stops.
 */
bool tr__sleep_evict(struct sleep_machine *machine);

/**
 * Takes the command of the authority to stop. The grace begins. If grace_ns is not 0 and is shorter than the option, it
 * replaces the option.
 *
 * In Loading the stop waits until the start is done. If a sleep waits or is in its grace, a destroy replaces it and
 * begins a new grace. Returns TR_STOPPING if the stop comes too late, or is not new. Returns TR_STOPPED in the state
 * Terminated.
 */
TR_MUST_CHECK tr_status tr__sleep_stop(struct sleep_machine *machine, enum sleep_reason reason,
                                       tr_time grace_ns, tr_time now);

/**
 * Limits the present grace, later ones, and the wait for tr__sleep_serialized, because the system
 * shuts down and only `left_ns` of its time is left. May be called in any state.
 */
void tr__sleep_shut_down(struct sleep_machine *machine, tr_time left_ns, tr_time now);

/**
 * Reports that the timer has fired. The timer may fire too early, or after CLEAR_TIMER. The host may leave an armed
 * timer as it is when the machine clears it or moves it to a later time. The machine arms the timer again if needed.
 */
void tr__sleep_timer(struct sleep_machine *machine, tr_time now);

/**
 * Reports that the hook of `reason`, on_sleep or on_destroy, has begun. Returns TR_INVALID_TRANSITION if no such hook
 * is due.
 */
TR_MUST_CHECK tr_status tr__sleep_hook_begin(struct sleep_machine *machine,
                                             enum sleep_reason reason);

/**
 * Reports that the hook of `reason` has ended, successfully or not, or was skipped. Returns TR_INVALID_TRANSITION if no
 * such hook is due.
 */
TR_MUST_CHECK tr_status tr__sleep_hook_end(struct sleep_machine *machine, enum sleep_reason reason,
                                           tr_time now);

/**
 * Answers SERIALIZE. If `outcome` is not TR_OK, the machine writes nothing. Returns TR_INVALID_TRANSITION if the
 * machine does not wait for this answer, perhaps because SLEEP_SERIALIZE_CAP_NS has passed. Then the caller must drop
 * the serialized state.
 */
TR_MUST_CHECK tr_status tr__sleep_serialized(struct sleep_machine *machine, tr_status outcome);

/**
 * Answers WAIT_WRITES with the outcome of the last write. Returns TR_INVALID_TRANSITION if the machine does not wait
 * for this answer.
 */
TR_MUST_CHECK tr_status tr__sleep_written(struct sleep_machine *machine, tr_status outcome);

/**
 * Ends the generation without a write. The reason is that the actor has failed, was killed or was stopped by force, or
 * that the store has an error. Returns TR_STOPPED in the state Terminated.
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
