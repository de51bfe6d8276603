/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A worker: one thread's share of a system, and the turns that run on it.
 *
 * Message handlers run on the worker's own fiber; one that waits keeps that fiber, and the worker
 * goes on with a fresh one (actor/turn/park.h). Whatever else runs user code (set-ups, PreStart,
 * PostStop) is called on a fiber of its own, so that it can end anywhere without taking the code
 * that called it along. See actor/turn/run.c and actor/turn/turn.c.
 */
#ifndef ACTOR_CELL_WORKER_H
#define ACTOR_CELL_WORKER_H

#include <troupe/system.h>

#include "actor/mail/dead_letter_batch.h"
#include "actor/cell/dispatch.h"
#include "actor/mail/shutdown_stats.h"
#include "actor/cell/slots.h"
#include "base/list.h"
#include "base/rng.h"
#include "fiber/fiber.h"
#include "mem/scratch.h"
#include "os/clock.h"
#include "queue/grace.h"
#include "sched/loop.h"
#include "sched/claim.h"

struct worker;

/** Why user code runs. */
enum turn_kind {
    TURN_MESSAGE,
    TURN_SETUP,
    TURN_PRE_START,
    TURN_POST_STOP,
    TURN_PRE_RESTART,
    TURN_POST_RESTART,
    TURN_DECIDER
};

/** Where a turn of a message stands. */
enum turn_state {
    TURN_RUNS,
    TURN_PARKED,
    TURN_WOKEN,
    TURN_ENDED,
    TURN_STUCK /* its thread was replaced and has not come back: see actor/system/thread_handoff.h */
};

/** Calls of tr_defer for which a turn has capacity; the many of a few turns are in scratch memory. */
enum { TURN_DEFERS = 4 };

struct turn_defer {
    void *resource;
    void (*release)(void *resource);
};

/** Asks of a turn for which it has capacity itself. */
enum { TURN_ASKS_FEW = 2 };

/** The asks of a turn, by the order in which they were made; see actor/ask/turn_asks.h. */
struct turn_asks {
    uintptr_t *places;
    uint32_t count;
    uint32_t capacity;
    uintptr_t few[TURN_ASKS_FEW];
};

static inline void turn_asks_init(struct turn_asks *asks)
{
    asks->places = asks->few;
    asks->count = 0;
    asks->capacity = TURN_ASKS_FEW;
}

/** What a wait needs each time it begins and ends; see actor/turn/park.h. */
struct turn_wait {
    struct fiber *caller; /* of a call on a fiber of its own, too */
    struct fiber *fiber;
    struct list link; /* with the turns of its actor that have waited, by their last wait */
    struct tr_self *woken_next; /* the next turn in the list of woken turns */
    uint32_t wanted;            /* asks that the turn still waits for */
    tr_status outcome;          /* why the turn resumes */
    tr_time since_ns;           /* when the wait began */
    const char *where;          /* the file and line of the wait; NULL: not known */
};

/** What a turn that has waited keeps until it ends. */
struct turn_waits {
    struct list born; /* with the turns of its actor that have waited, by their first wait */
    uint64_t number;  /* of what the turn waits for; a late answer has another number */
    uint64_t on;      /* ref of the actor whose capacity or reply it waits for as a barrier, or 0 */
    struct timer_node deadline;
};

/** Capacity that a turn was granted; see actor/ask/waiters.h. */
struct turn_capacity {
    struct envelope *grant; /* the grant that is on its way */
    struct cell *favoured;  /* the actor that holds the granted capacity until the next wait */
};

/** A turn that waits for capacity in a mailbox; see actor/ask/line.h. */
struct turn_sender {
    struct list line;      /* with the turns of its actor that want capacity */
    uint64_t wants;        /* ref of the actor in whose mailbox, or 0 */
    struct envelope *held; /* the message of the verb that waits */
};

/** What tr_become asked for. The message is in the scratch memory of the turn. */
struct turn_become {
    const tr_behavior *behavior;
    const tr_type *type;
    const void *message;
};

/** A call on a fiber of its own: the function, its argument and its result. */
struct turn_call {
    tr_next (*function)(tr_self *self, void *state, const void *message);
    const void *message;
    tr_next next;
};

/** The scratch memory of a turn. */
struct turn_scratch {
    struct scratch *current;
    struct scratch own; /* of a turn of a message: it may outlive the next turn */
    size_t mark;
};

/** What tr_defer registered; tr_self.defer_count says how many. */
struct turn_defers {
    struct turn_defer few[TURN_DEFERS];
    struct turn_defer *more; /* in scratch memory: the rest of TR_DEFERS_MAX */
};

/** A turn, as handlers hold it. The first 64 bytes are all that a message without a wait needs. */
struct tr_self {
    struct worker *worker;
    struct cell *cell;
    struct envelope *envelope; /* of a message, else NULL */
    struct claim *claim; /* of the thread that runs it, where threads are replaced; else NULL */
    uint64_t causal;
    enum turn_kind kind;
    bool is_detached; /* it has waited: it keeps its stack, and `wait.caller` runs the worker */
    bool is_barrier;  /* no ask or notice of its actor begins before it resumes */
    union {
        struct {
            bool is_cancelled; /* its actor ends: every verb gives TR_CANCELLED */
            bool is_behind; /* other turns of its actor may wait for capacity: actor/ask/line.h */
        };
        uint16_t is_unusual; /* not 0 if one of these is set */
    };
    uint32_t turns;     /* of this run so far */
    uint32_t turns_max; /* of this run */
    uint32_t defer_count;
    bool asks_barrier;   /* it has asked an actor that is behind a barrier: see actor/ask/ring.h */
    bool needs_slow_end; /* it has defers, scratch memory, a become or an error */
    bool waits_plainly;  /* is_detached, and neither a barrier nor about a timer's message */
    uint8_t state;       /* enum turn_state */
    const tr_handler *handler; /* that runs */
    struct turn_wait wait;
    struct batch *batch; /* of a turn with several messages */
    struct turn_capacity capacity;
    struct blocking_job *job; /* what it waits for, or is about to: see actor/turn/blocking.h */
    struct turn_asks asks;
    struct turn_waits waits;
    struct turn_become become;
    tr_error error; /* what tr_fail or tr_crash said */
    struct turn_call call;
    tr_status reply_failed; /* why its reply could not be sent */
    struct turn_sender sender;
    struct old_state *old_state; /* the state it began with, if its actor has another by now */
    struct durable_frame *frame; /* of a durable actor's turn; see durable/actor.h */
    struct turn_scratch scratch;
    struct turn_defers defers;
};

static_assert(offsetof(struct tr_self, handler) == 64,
              "a message needs the first 64 bytes only, and the handler");
static_assert(offsetof(struct tr_self, asks.few) <= 192, "a wait needs no more than that");

/** Who sent the message of a turn, 0 for nobody. A timer's envelope uses the place otherwise. */
static inline uint64_t turn_sender(const struct tr_self *self)
{
    const struct envelope *envelope = self->envelope;
    return envelope && envelope->kind != ENVELOPE_EVENT ? envelope->sender : 0;
}

/** Counters of a worker, or of all clients: written by one thread at a time, read by any. */
struct counters {
    atom64 accepted;
    atom64 handled;
    atom64 dead; /* accepted, never handled */
    atom64 refused;
    atom64 signals; /* turns that handled no message */
    atom64 posts;
    atom64 wakes;
    atom64 spawned;
    atom64 stopped;
    atom64 failures;
    atom64 restarts;
    atom64 moves; /* actors given to other workers */
};

/** A message, set-ups in it, behaviors that the last one leads to, a PostStop. */
enum { WORKER_TURNS = TR_SETUPS_NESTED_MAX + TR_BEHAVIORS_NESTED_MAX + 2 };

enum { BALANCE_PLACES = 64 };

/** What a worker knows of load and talk; see actor/system/balance.h. The tables forget by collision. */
struct balance {
    int32_t sample_in; /* posts until the next sample, */
    tr_time sample_ns; /* or when it is due */
    uint64_t rests;    /* times that there was nothing to do */
    uint64_t rests_seen;
    uint64_t turns_seen;
    tr_time looked_ns;
    tr_time crowded_ns; /* since when actors wait for each other; TR_NEVER: they do not */
    atom32 is_hungry;   /* the worker sleeps, and no other worker has given it an actor yet */
    atom32
        load; /* actors that were ready at the last look, 0 if the worker had rested. Any thread */
    struct balance_stay {
        uint64_t ref;
        tr_time until_ns;
    } stays[BALANCE_PLACES]; /* by slot: actors that have come lately */
    struct balance_talk {
        uint64_t ref;
        tr_time since_ns;
        uint32_t worker;
        uint32_t count;
    } talks[BALANCE_PLACES]; /* by slot: from which worker an actor receives messages */
};

/** Mail that is being taken in; what is still to be looked at, oldest first. */
struct mail_taking {
    struct mail_taking *outer;
    const struct cell *cell;
    struct door_mail *first;
    struct door_mail *last;
};

/** Mail that is taken in, and batches of dead letters. Of actor/mail. */
struct worker_mail {
    struct mail_taking *taking;
    struct dead_letter_batches dead_letters;
};

/** Timers of actors. Of actor/time. */
struct worker_timers {
    struct wheel wheel;       /* nodes of struct timer_entry */
    struct wheel idles;       /* nodes of struct cell_extra */
    struct wheel wake_timers; /* nodes of struct durable */
    struct timer_pool pool;
};

/** Turns that run, wait or are free. Of actor/turn. */
struct worker_turns {
    uint32_t depth; /* turns on top of each other; 0 is the message's */
    uint32_t spare_count;
    struct tr_self *message;            /* the turn of the message that runs, or ran last */
    struct tr_self *spare;              /* free turns, for the next one that waits */
    struct wheel deadlines;             /* nodes of struct tr_self */
    uint64_t wait_last;                 /* number of the last wait */
    struct tr_self calls[WORKER_TURNS]; /* of other calls, by depth; calls[0] is not used */
};

/** Stacks of turns. Of actor/turn. */
struct worker_stacks {
    struct fiber_pool pool;
    struct fiber_host host;
    struct fiber *fiber; /* the fiber of the loop */
    struct fiber *last;  /* for tr_post_stop and tr_pre_restart when there is no other stack */
};

/** When a worker last gave memory back, and what it had done by then. */
struct worker_trim {
    tr_time last_ns;
    uint64_t last_turns;
    tr_time every_ns;
    bool has_stacks; /* the last trim left some that could be freed */
};

/** Budgets of trees of actors. Of actor/turn/budget.h. */
struct worker_budgets {
    struct list parts; /* of struct budget_part, with something to hand in */
    tr_time mark_ns;
};

/** Asks that are open or free. Of actor/ask. */
struct worker_asks {
    struct wheel timeouts;  /* nodes of struct ask */
    struct ask *young;      /* a chain of asks that may not be in the wheel yet, */
    struct ask **young_end; /* and where the next one is added: actor/ask/ask_open.h */
    bool is_ticked;         /* a watch thread says that time passes, and clocks are real */
    uint32_t spare_count;
    struct ask *spare;
    struct ask_table table_spare; /* an empty table, for the next actor that asks */
    tr_time traces_ns;            /* since when traces are counted, */
    uint32_t traces;              /* and how many there were: actor/ask/ask_trace.h */
};

/** Failures and watches. Of actor/life. */
struct worker_life {
    struct wheel delays;    /* nodes of struct failure */
    struct watched watched; /* the actors of this worker that are watched, and their watchers */
};

/** What runs, for other threads: see actor/cell/view.h. */
struct worker_view {
    atomptr cell;    /* a const struct cell, NULL for none */
    atomptr type;    /* of a message, NULL otherwise */
    atomptr handler; /* the const tr_handler; stale while no handler runs */
};

/** Actors that leave a worker which is closed; see actor/system/leave.h. */
struct worker_leave {
    bool is_due; /* an actor has come since the last look */
    uint32_t call;
    uint64_t runs;
    tr_time due_ns;
};

/** How the worker is taken from a stuck thread; see actor/system/thread_handoff.h. */
struct worker_handoff {
    atomptr claim; /* its struct handoff_thread; NULL: threads are not replaced */
    struct handoff_thread *successor; /* the thread that gets the worker when this slice is over */
    bool is_wanted;      /* a thread is about to take the worker; under the lock of the handoff */
    tr_time call_ns;     /* when the watch may call a thread again, */
    uint64_t call_steps; /* and of which stuck turn it has reported that it cannot */
};

/** Faults that are trapped; see actor/turn/fault.h. */
struct worker_faults {
    struct fault_thread *thread;  /* NULL: faults are not trapped */
    struct symbol_cache *symbols; /* made with the first fault */
};

/** What a shutdown knows of a worker; see actor/system/shutdown.h. */
struct worker_shutdown {
    uint32_t swept; /* number of the last sweep that the worker did */
    atom64 forced;  /* actors that were stopped by the kill at the deadline */
    atom64 told;    /* actors that had something to say for the report */
    struct shutdown_stats_runs stats;
    atom64 steps; /* long work in a run that nothing else counts: the worker is not stuck */
    atom32 is_at_start_barrier; /* the worker is in on_worker_start */
    /* Written by the thread that waits for the shutdown. */
    atom32 is_stuck;
    uint64_t seen;     /* what the worker had done at the last look, */
    tr_time seen_ns;   /* when that was, */
    tr_time first_cpu; /* its CPU time then, or -1, */
    tr_time seen_cpu;  /* its CPU time now, */
    tr_time stuck_ns;  /* and how long it had been stuck by then */
};

struct worker {
    struct loop loop;
    void *memory; /* what the source gave; the worker is aligned inside it */
    struct tr_system *system;
    struct slots *slots;
    struct slots_map map; /* of these slots */
    struct slot_cache slot_cache;
    uint32_t index;
    uint32_t fast_owner; /* owner of the actors that the fast path may send to: worker_set_outbox */
    struct outbox *outbox; /* of the durable actor whose turn runs: actor/mail/outbox.h; or NULL */
    struct counters counters;
    struct envelope_pool pool;
    struct dispatches dispatches;
    struct scratch scratch;
    struct clock clock; /* for deadlines */
    struct memory_source source;
    struct rng rng;
    struct grace_reader reader; /* of the names */
    struct worker_view view;
    struct worker_mail mail;
    struct worker_timers timers;
    struct worker_stacks stacks;
    struct worker_asks asks;
    struct worker_life life;
    struct worker_budgets budgets;
    struct worker_trim trim;
    struct balance balance;
    struct worker_leave leave;
    struct worker_handoff handoff;
    struct worker_faults faults;
    struct worker_shutdown shutdown;
    struct worker_turns turns;
    tr_thread *thread;
    atom64 thread_id;    /* of the thread that runs the worker, 0 for none */
    uint64_t wakes_seen; /* of counters.wakes, at the last rest */
    bool has_more;       /* the last slice left something to do */
};

/** An IO operation of a worker; io.owner is itself. */
struct worker_io {
    tr_io io;
    void (*on_done)(struct worker *worker, struct worker_io *operation);
};

/** The actor whose code a worker runs; NULL for none. Other threads: actor/cell/view.h, actor/system/shutdown.h. */
static inline const struct cell *worker_running(const struct worker *worker)
{
    return atomptr_load(&worker->view.cell, ATOM_ACQUIRE); /* partner: worker_set_running */
}

/** Worker only. */
static inline void worker_set_running(struct worker *worker, const struct cell *cell)
{
    atomptr_store(&worker->view.cell, (void *)(uintptr_t)cell, ATOM_RELEASE);
}

/** The handler that runs, or ran last. Any thread. */
static inline const tr_handler *worker_handler(const struct worker *worker)
{
    return atomptr_load(&worker->view.handler, ATOM_RELAXED);
}

/** Worker only. */
static inline void worker_set_handler(struct worker *worker, const tr_handler *handler)
{
    atomptr_store(&worker->view.handler, (void *)(uintptr_t)handler, ATOM_RELAXED);
}

/** The type of the message that a worker handles; NULL: a signal, or nothing. Any thread. */
static inline const tr_type *worker_type(const struct worker *worker)
{
    return atomptr_load(&worker->view.type, ATOM_ACQUIRE); /* partner: worker_set_type */
}

/** Worker only. What it did before is there for who reads the type. */
static inline void worker_set_type(struct worker *worker, const tr_type *type)
{
    atomptr_store(&worker->view.type, (void *)(uintptr_t)type, ATOM_RELEASE);
}

/**
 * Sends that have to wait for a turn's end go through the outbox, and those of a thread that may have been
 * replaced come in first: none is quick. For this no actor is near, which costs the others nothing, for they
 * look where an actor lives anyway. Worker only; of one whose threads are replaced `fast_owner` never changes.
 */
static inline void worker_set_outbox(struct worker *worker, struct outbox *outbox)
{
    worker->outbox = outbox;
    if (!atomptr_load(&worker->handoff.claim, ATOM_RELAXED))
        worker->fast_owner = outbox ? CELL_NOWHERE : worker->index;
}

/** The turn that runs on top of all others. */
static inline struct tr_self *worker_turn(struct worker *worker)
{
    return worker->turns.depth ? &worker->turns.calls[worker->turns.depth] : worker->turns.message;
}

static inline struct worker *worker_of_loop(struct loop *loop)
{
    return (struct worker *)(void *)loop; /* the loop comes first */
}

TR_MUST_CHECK tr_status tr__worker_init(struct worker *worker, struct tr_system *system,
                                        uint32_t index);
void tr__worker_deinit(struct worker *worker);

/** Runs the worker until nothing is to be done or `turns_max` turns are over. True: more to do. */
bool tr__worker_slice(struct worker *worker, uint32_t turns_max);

/** What runs on the worker's fiber: never returns. */
TR_NO_RETURN void tr__worker_fiber(void *worker);

/**
 * Works on the calling thread until the system is over, which is told by true, or until the worker is
 * handed to another thread.
 */
bool tr__worker_work(struct worker *worker);

/** The life of a worker's thread: until the system is over. */
void tr__worker_main(void *worker);

extern const struct loop_hooks tr__worker_hooks;
extern const struct loop_hooks tr__worker_trapping_hooks; /* of a system that traps faults */
extern const struct loop_hooks tr__worker_handoff_hooks;  /* of one whose threads are replaced */

#endif
