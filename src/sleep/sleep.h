/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine: how one generation of a durable actor starts, falls asleep, is destroyed, ends.
 *
 * It is pure: it has no clock, no thread, no memory but its own, and calls nobody. The host of the
 * actor tells it what has happened (events, each with the time) and then does what it says (steps):
 *
 *     tr__sleep_drop(machine, &request->wake_lock, now);
 *     struct sleep_action action;
 *     while (tr__sleep_next(machine, now, &action))
 *         perform(actor, &action);
 *
 * A step that is due is a bit of the agenda, and bits are taken in the order of SLEEP_STEPS. So the
 * order of the contract is the order of that list, whatever the order of events. Events may be told
 * while a step is performed; what they cause comes after it, and a decision (arm the idle timer,
 * finalize) is taken only when the agenda is empty. There is one loop at a time.
 *
 * docs/design/sleep-machine.md has the states and the table of events. All functions: the owner of
 * the actor only. An event that its state does not know changes nothing and says so.
 */
#ifndef SLEEP_SLEEP_H
#define SLEEP_SLEEP_H

#include "sleep/wake_locks.h"

enum sleep_state {
    SLEEP_LOADING, /* until set-up and the first hooks are done */
    SLEEP_STARTED,
    SLEEP_GRACE,    /* serves, and waits for the work that it has */
    SLEEP_FINALIZE, /* writes its state */
    SLEEP_DESTROY_GRACE,
    SLEEP_DESTROYING,
    SLEEP_TERMINATED, /* nothing is accepted; the last steps may still be on the agenda */
};

/** What somebody asks for, or the authority commands. */
enum sleep_reason { SLEEP_REASON_SLEEP = 1, SLEEP_REASON_DESTROY = 2 };

/** How a generation ended. */
enum sleep_outcome {
    SLEEP_ENDED_ASLEEP = 1, /* what is stored stands, with the final state if status is TR_OK */
    SLEEP_ENDED_DESTROYED,  /* nothing is stored */
    SLEEP_ENDED_CRASHED,    /* what was stored before stands */
};

/** What becomes of a request that arrives now. */
enum sleep_door {
    SLEEP_DOOR_HOLD, /* for this generation, which starts */
    SLEEP_DOOR_SERVE,
    SLEEP_DOOR_NEXT,   /* hold it for the next generation */
    SLEEP_DOOR_REFUSE, /* TR_DESTROYING */
};

/* What the host does, in this order. "Answered by" names the event that the machine waits for. */
#define SLEEP_STEPS(X)                                                                             \
    X(SEND_SLEEP)         /* send the intent to sleep to the authority */                          \
    X(SEND_DESTROY)       /* send the intent to be destroyed */                                    \
    X(ARM_IDLE)           /* the one timer is due at `at`: tr__sleep_timer */                      \
    X(ACCEPT_STOP)        /* register the reply of the stop that has come */                       \
    X(DRAIN_DISPATCH)     /* hand out what was accepted before, also for a destroy */              \
    X(SUSPEND_ALARMS)     /* none fires from now on */                                             \
    X(CLEAR_IDLE)         /* the one timer */                                                      \
    X(FIRE_ABORT)         /* the soft signal: please wrap up; a wait on a queue ends */            \
    X(ARM_GRACE)          /* the one timer, at `at`: the next tick or the deadline */              \
    X(SETTLE_CONNECTIONS) /* save those that hibernate, disconnect the others; destroy: all */     \
    X(RUN_ON_SLEEP)       /* before waiting mail; answered by hook_begin and hook_end */           \
    X(RUN_ON_DESTROY)     /* the same */                                                           \
    X(NAME_WAKE_LOCKS)    /* the deadline: write down who holds, while they are still there */     \
    X(CANCEL_RUN)         /* cancel the run handler */                                             \
    X(FIRE_DEADLINE)      /* the token that hooks and store calls observe */                       \
    X(WARN)               /* count the time-out; one warning with what was written down */         \
    X(ARM_CAP)            /* the one timer, at `at` */                                             \
    X(SERIALIZE)          /* answered by serialized; turns still stand where they stood */         \
    X(CLEAR_TIMER)        /* the one timer, for good */                                            \
    X(CLOSE_EVENTS)       /* nothing is delivered any more */                                      \
    X(JOIN_RUN)           /* cancel the run handler if it is still there, and be rid of it */      \
    X(CANCEL_TURNS)       /* join or abort what is left: turns, tasks */                           \
    X(COMMIT_STATE)       /* submit the serialized state */                                        \
    X(ERASE)              /* submit the removal of state, KV, alarms and queue, in one */          \
    X(WAIT_WRITES)        /* answered by written, when no write of this generation is left */      \
    X(KEEP_ALARMS)        /* hand them to the scheduler, which wakes the next generation */        \
    X(CLEAR_ALARMS)       /* take them from the scheduler */                                       \
    X(CLOSE_STORE)        /* later writes of this generation are refused */                        \
    X(REPLY)              /* to whom waits for the stop: `status` */                               \
    X(TERMINATED)         /* the last step: `outcome`, `status`; no wake_lock is in the machine */

#define SLEEP_STEP_ENUM(name) STEP_##name,
enum sleep_step { SLEEP_STEPS(SLEEP_STEP_ENUM) STEP_COUNT };
#undef SLEEP_STEP_ENUM

struct sleep_action {
    enum sleep_step step;
    tr_time at;                 /* of ARM_* */
    tr_status status;           /* of REPLY and TERMINATED */
    enum sleep_outcome outcome; /* of REPLY and TERMINATED */
};

#define SLEEP_NEVER INT64_MAX
#define SLEEP_IDLE_NS (30 * TR_SECOND)
#define SLEEP_GRACE_NS (15 * TR_SECOND)
/* A look at the predicate in between: nothing depends on it, as every change looks too. */
#define SLEEP_TICK_NS (1 * TR_SECOND)
/* Nobody should ever see it: a state is serialized in microseconds. */
#define SLEEP_SERIALIZE_CAP_NS (15 * TR_SECOND)

/** Of a kind. */
struct sleep_options {
    tr_time idle_ns;  /* 0: SLEEP_IDLE_NS */
    tr_time grace_ns; /* 0: SLEEP_GRACE_NS */
    bool no_sleep;    /* never by itself; sleep() and the authority still may */
    bool has_on_sleep;
    bool has_on_destroy;
};

struct sleep_machine {
    struct wake_locks wake_locks;
    struct wake_lock no_sleep; /* the machine's own: so every reason has a wake_lock */
    struct wake_lock on_sleep;
    struct wake_lock on_destroy;
    struct sleep_options options;
    uint32_t agenda; /* a bit for each step that is due */
    enum sleep_state state;
    enum sleep_reason stop_waits; /* Loading: a stop that waits for the start; 0 for none */
    enum sleep_outcome outcome;   /* Terminated */
    tr_status status;             /* the first thing that went wrong on the way to the end */
    bool is_sleep_asked;          /* set once in a generation; one owner: no atomics */
    bool is_destroy_asked;
    bool is_changed;        /* an input of the idle predicate, at changed_at */
    bool is_overdue;        /* the grace has ended by its deadline */
    bool awaits_serialized; /* Finalize: else it awaits written */
    tr_time changed_at;
    tr_time due;           /* when the one timer fires, or SLEEP_NEVER */
    tr_time deadline;      /* of the grace */
    tr_time stop_grace_ns; /* of stop_waits; 0 for none */
    tr_time shutdown_at;   /* when the system's time is up, or SLEEP_NEVER */
};

/** A new generation, Loading. `options` is copied. */
void tr__sleep_init(struct sleep_machine *machine, const struct sleep_options *options,
                    tr_time now);

/**
 * Takes the next step from the agenda; false when there is nothing to do. The caller performs it
 * before it takes another. After TERMINATED there is none: the machine may be gone by then.
 */
bool tr__sleep_next(struct sleep_machine *machine, tr_time now, struct sleep_action *action);

/* ---- events ---- */

/** Set-up, on_create, on_migrate and on_wake are done. TR_INVALID_TRANSITION unless Loading. */
TR_MUST_CHECK tr_status tr__sleep_started(struct sleep_machine *machine, tr_time now);

/** Loading, set-up or a first hook failed: ends like a crash. TR_INVALID_TRANSITION unless Loading. */
TR_MUST_CHECK tr_status tr__sleep_start_failed(struct sleep_machine *machine, tr_status why);

/**
 * A piece of work begins: `wake_lock` is lent until it is dropped, or until TERMINATED has been taken.
 * TR_STOPPED: Terminated, nothing is lent. TR_INVALID_TRANSITION: it is raised already.
 */
TR_MUST_CHECK tr_status tr__sleep_raise(struct sleep_machine *machine, struct wake_lock *wake_lock,
                                        enum sleep_counter counter, tr_time now);

/**
 * The work has ended, well or not. Does nothing, and does not touch the machine, which may be gone,
 * when the wake_lock is not raised.
 */
void tr__sleep_drop(struct sleep_machine *machine, struct wake_lock *wake_lock, tr_time now);

/** A raised wake_lock counts elsewhere now: the run handler begins or ends its wait; nothing else. */
void tr__sleep_move(struct sleep_machine *machine, struct wake_lock *wake_lock,
                    enum sleep_counter counter, tr_time now);

/**
 * sleep() or destroy(), by the actor or for it: once in a generation, only sends an intent.
 *
 * TR_STARTING: Loading. TR_STOPPING: the stop has begun, or destroy() was called before. TR_OK and
 * nothing more: sleep() was called before and the stop has not begun. destroy() in the grace of a
 * sleep is in time.
 */
TR_MUST_CHECK tr_status tr__sleep_ask(struct sleep_machine *machine, enum sleep_reason reason,
                                      tr_time now);

/** What tr__sleep_ask would say to a destroy now; nothing changes. */
TR_MUST_CHECK tr_status tr__sleep_may_destroy(const struct sleep_machine *machine);

/**
 * The same for sleep, without waiting for the idle timer, by a host that needs room. True when the
 * intent is sent; false, and nothing happens, when the actor is busy, never sleeps, or is on its way.
 */
bool tr__sleep_evict(struct sleep_machine *machine);

/**
 * The command of the authority: grace begins. grace_ns shortens the option; 0 does not.
 *
 * Loading: it waits for the start. A destroy upgrades a sleep that is in grace or waits, with a grace
 * of its own. TR_STOPPING: too late, or nothing new. TR_STOPPED: Terminated.
 */
TR_MUST_CHECK tr_status tr__sleep_stop(struct sleep_machine *machine, enum sleep_reason reason,
                                       tr_time grace_ns, tr_time now);

/** The system shuts down and has so much time left: limits what runs and what comes. Any state. */
void tr__sleep_shut_down(struct sleep_machine *machine, tr_time left_ns, tr_time now);

/**
 * The one timer has fired. It may fire early, or after it was cleared: the host may leave an armed
 * timer alone when it is cleared or moved away, and the machine arms it again when need be.
 */
void tr__sleep_timer(struct sleep_machine *machine, tr_time now);

/** on_sleep or on_destroy (the reason) has begun. TR_INVALID_TRANSITION: none is due. */
TR_MUST_CHECK tr_status tr__sleep_hook_begin(struct sleep_machine *machine,
                                             enum sleep_reason reason);

/** It has ended, well or not, or was skipped. TR_INVALID_TRANSITION: none is due. */
TR_MUST_CHECK tr_status tr__sleep_hook_end(struct sleep_machine *machine, enum sleep_reason reason,
                                           tr_time now);

/**
 * Answers SERIALIZE. Not TR_OK: nothing will be written. TR_INVALID_TRANSITION: nobody waits for it,
 * it may have come after the cap; what was serialized must be thrown away.
 */
TR_MUST_CHECK tr_status tr__sleep_serialized(struct sleep_machine *machine, tr_status outcome);

/** Answers WAIT_WRITES; the outcome is that of the last write. TR_INVALID_TRANSITION as above. */
TR_MUST_CHECK tr_status tr__sleep_written(struct sleep_machine *machine, tr_status outcome);

/** A failure, Kill, force-stop, an error of the store: ends unwritten. TR_STOPPED: Terminated. */
TR_MUST_CHECK tr_status tr__sleep_crash(struct sleep_machine *machine, tr_status why);

/* ---- questions ---- */

/** The idle predicate: COUNTER_NONE for yes, or the first reason why not. */
enum sleep_counter tr__sleep_can_arm(const struct sleep_machine *machine);

/** The grace predicate. */
bool tr__sleep_can_finalize(const struct sleep_machine *machine, enum sleep_reason reason);

/** The counters that keep it from what comes next: its idle sleep, or the end of its grace. */
uint32_t tr__sleep_blocks_next(const struct sleep_machine *machine);

/** What becomes of a request that arrives now. */
enum sleep_door tr__sleep_door(const struct sleep_machine *machine);

#endif
