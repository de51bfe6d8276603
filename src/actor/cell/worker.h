/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A worker: one thread's share of a system, and the turns that run on it.
 *
 * Message handlers run on the worker's own fiber. A handler that waits keeps that fiber, and the worker continues on
 * another fiber (actor/turn/park.h). All other user code (set-ups, PreStart, PostStop) is called on a fiber of its own.
 * So a verb can end this code at any point, and the caller continues. See actor/turn/run.c and actor/turn/turn.c.
 */
#ifndef ACTOR_CELL_WORKER_H
#define ACTOR_CELL_WORKER_H

#include "actor/cell/cell.h"
#include "actor/cell/worker_parts.h"
#include "base/list.h"
#include "base/rng.h"
#include "fiber/fiber.h"
#include "fiber/pool.h"
#include "mem/scratch.h"
#include "os/clock.h"
#include "queue/grace.h"
#include "sched/claim.h"
#include "sched/loop.h"
#include "timer/keys.h"
#include "timer/wheel.h"
#include "base/assert.h"

struct worker;

/** The state of a turn of a message. */
enum turn_state {
    TURN_RUNS,
    TURN_PARKED,
    TURN_WOKEN,
    TURN_ENDED,
    /* another thread has taken the turn's worker; see actor/system/thread_handoff.h */
    TURN_STUCK
};

/** How many calls of tr_defer a turn stores in its record. Further calls are stored in scratch memory. */
enum { TURN_DEFERS = 4 };

struct turn_defer {
    void *resource;
    void (*release)(void *resource);
    bool is_own; /* the library has added the call: it is made even after a fault in user code */
};

/** How many asks a turn stores in its record. */
enum { TURN_ASKS_FEW = 2 };

/** The asks of a turn, in the order in which they were made; see actor/ask/turn_asks.h. */
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

/** The members that every wait uses, when it begins and when it ends; see actor/turn/park.h. */
struct turn_wait {
    /* the fiber that resumed this turn. For a call on a fiber of its own: the fiber that made the call */
    struct fiber *caller;
    struct fiber *fiber;
    /* link in extra_parked.turns: turns of the actor that have waited, in the order of their last waits */
    struct list link;
    struct tr_self *woken_next; /* the next turn in the list of woken turns */
    uint32_t wanted;            /* number of asks for which the turn still waits */
    tr_status outcome;          /* why the turn resumes */
    tr_time since_ns;           /* when the wait began */
    const char *where;          /* the file and line of the wait; NULL: not known */
    bool is_beginning; /* the turn still runs the code of durable_hooks.on_park, before it waits */
    bool is_over;      /* while is_beginning: the turn was woken already, so it must not wait */
};

/** What a turn that has waited keeps until it ends. */
struct turn_waits {
    /* link in extra_waits.born: turns of the actor that have waited, in the order of their first waits */
    struct list born;
    uint64_t number; /* number of the current wait; a late answer has another number */
    /* ref of the receiver while the turn waits for capacity, of its own actor while it waits for replies, else 0 */
    uint64_t on;
    struct timer_node deadline;
};

/** Capacity of a mailbox that a turn was granted; see actor/ask/waiters.h. */
struct turn_capacity {
    struct envelope *grant; /* the envelope of the grant, while it is on its way */
    struct cell *favoured;  /* a receiver whose stock only this turn uses in this stretch */
};

/** A turn that waits for capacity in a mailbox; see actor/ask/line.h. */
struct turn_sender {
    /* link in extra_waits.line: the turns of the actor that wait for capacity */
    struct list line;
    uint64_t wants;        /* ref of the actor in whose mailbox the turn wants capacity; 0: none */
    struct envelope *held; /* the message that is sent when there is capacity */
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
    /* used by the turn of a message, because later turns may run and end while that turn waits */
    struct scratch own;
    size_t mark;
};

/** The calls of tr_defer in this turn; tr_self.defer_count is their number. */
struct turn_defers {
    struct turn_defer few[TURN_DEFERS];
    struct turn_defer *more; /* the calls after the first TURN_DEFERS, in scratch memory */
};

/**
 * The record of a turn; handlers get a pointer to it. If the turn of a message does not wait, it uses only the first 64
 * bytes.
 */
struct tr_self {
    struct worker *worker;
    struct cell *cell;
    struct envelope *envelope; /* the message of the turn; NULL for other turns */
    /* the claim of the thread that runs the turn; NULL: no handoff in this system */
    struct claim *claim;
    uint64_t causal;
    uint32_t kind; /* enum turn_kind */
    /* the turn has waited: it keeps its fiber, and the loop of the worker is on the fiber `wait.caller` */
    bool is_detached;
    bool is_barrier; /* while the turn waits, no ask or notice of its actor starts */
    union {
        struct {
            bool is_cancelled; /* the actor ends: every verb returns TR_CANCELLED */
            /* other turns of the actor may already wait for capacity; see actor/ask/line.h */
            bool is_behind;
        };
        uint16_t is_unusual; /* not 0 if is_cancelled or is_behind is set */
    };
    uint32_t turns;     /* number of turns of this run so far */
    uint32_t turns_max; /* the run ends after this many turns */
    uint32_t defer_count;
    /* the turn has asked an actor that had CELL_BARRIER; see actor/ask/ask_cycle.h */
    bool asks_barrier;
    bool needs_slow_end; /* only turn_require_slow_end sets it */
    /* the turn has waited, its handler is no barrier, and its message does not come from a timer */
    bool waits_plainly;
    uint8_t state;             /* enum turn_state */
    const tr_handler *handler; /* the handler that runs */
    struct turn_wait wait;
    struct batch *batch; /* the messages of a turn with several messages, otherwise NULL */
    struct turn_capacity capacity;
    /* the function that the turn waits for, or is about to wait for: see actor/turn/blocking.h */
    struct blocking_job *job;
    struct turn_asks asks;
    struct turn_waits waits;
    struct turn_become become;
    tr_error error; /* set by tr_fail or tr_crash */
    struct turn_call call;
    tr_status reply_failed; /* why the reply could not be sent, or TR_OK */
    struct turn_sender sender;
    /* the state with which the turn started, if the actor has another state now; else NULL */
    struct old_state *old_state;
    struct durable_frame *frame; /* data of a turn of a durable actor; see durable/actor.h */
    /* records what the turn reads, see actor/cell/recorder.h; NULL: the turn is not recorded */
    struct record_reads *reads;
    /* holds back what the turn sends, see actor/mail/outbox.h; NULL: nothing is held back */
    struct outbox *outbox;
    struct channel *borrowed; /* list of channels whose memory the turn uses; see net/input.h */
    struct lent *lent;        /* memory of channels that the turn still uses; see net/lent.h */
    struct turn_scratch scratch;
    struct turn_defers defers;
    uint64_t followed; /* number of this turn if it is followed, else 0; see actor/cell/follow.h */
    /* child_count << 32 | child_last of the actor at the beginning of the turn */
    uint64_t followed_children;
};

static_assert(offsetof(struct tr_self, handler) == 64,
              "a message needs the first 64 bytes only, and the handler");
static_assert(offsetof(struct tr_self, asks.few) <= 192, "a wait needs no more than that");

/**
 * Makes the turn end by the slow path, tr__turn_finish, because its end has something to undo or to check. Code that
 * makes turn_is_plain false must call this function. Owner only.
 */
static inline void turn_require_slow_end(struct tr_self *self)
{
    self->needs_slow_end = true;
}

/** Whether a turn may end by the fast path, which only frees the envelope. */
static inline bool turn_is_plain(const struct tr_self *self)
{
    return !self->is_detached && !self->is_barrier && !self->is_unusual && !self->asks_barrier &&
           !self->defer_count && !self->asks.count && !self->batch && !self->capacity.grant &&
           !self->capacity.favoured && !self->become.behavior && !self->frame && !self->reads &&
           !self->outbox && !self->borrowed && !self->lent && self->state == TURN_RUNS &&
           self->reply_failed == TR_OK && self->error.status == TR_OK &&
           tr__scratch_mark(self->scratch.current) == self->scratch.mark;
}

/** Counters of a worker, or of all clients. Written by one thread at a time, read by any thread. */
struct counters {
    atom64 accepted;
    atom64 handled;
    atom64 dead; /* messages that were accepted, but never handled */
    atom64 refused;
    atom64 signals; /* turns that handled no message */
    atom64 posts;
    atom64 wakes;
    atom64 spawned;
    atom64 stopped;
    atom64 failures;
    atom64 restarts;
    atom64 moves; /* number of actors that have moved from this worker to another */
};

/**
 * The largest depth of nested turns: one turn of a message, TR_SETUPS_NESTED_MAX set-ups,
 * TR_BEHAVIORS_NESTED_MAX behaviors to which the last of these set-ups leads, and one PostStop.
 */
enum { WORKER_TURNS = TR_SETUPS_NESTED_MAX + TR_BEHAVIORS_NESTED_MAX + 2 };

enum { BALANCE_PLACES = 64 };

/**
 * The load of a worker, and the workers from which its actors receive messages; see actor/system/balance.h. The tables
 * are hashed by slot. A new entry replaces the entry that was at its place.
 */
struct balance {
    int32_t sample_in; /* number of posts until the next sample, unless sample_ns comes first */
    tr_time sample_ns; /* time of the next sample, unless sample_in reaches 0 first */
    uint64_t rests;    /* how often the worker had nothing to do */
    uint64_t rests_seen;
    uint64_t turns_seen;
    tr_time looked_ns;
    /* each look since this time has found several ready actors with long turns; TR_NEVER: the last look has not */
    tr_time crowded_ns;
    atom32 is_hungry; /* the worker sleeps, and no other worker has given it an actor yet */
    /*
     * number of actors that were ready at the last look. 0 if the worker was idle at any time between the last two
     * looks. Read by any thread
     */
    atom32 load;
    struct balance_stay {
        uint64_t ref;
        tr_time until_ns;
    } stays[BALANCE_PLACES]; /* actors that have moved to this worker recently, hashed by slot */
    struct balance_talk {
        uint64_t ref;
        tr_time since_ns;
        uint32_t worker;
        uint32_t count;
    } talks[BALANCE_PLACES]; /* from which worker an actor receives messages, hashed by slot */
};

/** Dead letters that a worker has counted but not handed in yet. See actor/mail/dead_letter_batch.h. */
struct dead_letter_batches {
    /* number of dead letters that were not handed in yet. The worker writes it, and sets it to 0 under the lock */
    atom64 pending;
    /* a ring of TR_DEAD_LETTERS_MAX notes about the newest of these dead letters; NULL: not allocated yet */
    struct dead_letter_batch_note *notes;
    uint32_t next;        /* index of the next note */
    tr_time handed_in_ns; /* when the worker last handed in dead letters */
    bool is_logged;       /* the log has reached its limit of lines for this second */
};

/** How a worker runs its actors during a shutdown. See actor/mail/shutdown_stats.h. */
struct shutdown_stats_runs {
    /* the hooks of the loop during the shutdown: a copy of worker->hooks with another `run` */
    struct loop_hooks hooks;
    uint32_t (*run)(struct loop *loop, struct task *task, uint32_t turns_max);
    atom32 slot; /* slot of the actor that runs, or 0; written by the worker, like `handled` */
    /* number of messages that the worker had handled when the run of that actor began */
    atom64 handled;
};

/** A call of tr__mail_take_in that runs, with the mail that it has not sorted into mailboxes yet, the oldest first. */
struct mail_taking {
    struct mail_taking *outer;
    const struct cell *cell;
    struct door_mail *first;
    struct door_mail *last;
};

/** Mail that is being sorted into mailboxes, and batches of dead letters. Used by actor/mail. */
struct worker_mail {
    struct mail_taking *taking;
    struct dead_letter_batches dead_letters;
};

/** Timers of actors. Used by actor/time. */
struct worker_timers {
    struct wheel wheel;       /* nodes of struct timer_entry */
    struct wheel idles;       /* nodes of struct cell_idle */
    struct wheel wake_timers; /* nodes of struct durable */
    struct timer_pool pool;
};

/** Turns that run, wait or are free. Used by actor/turn. */
struct worker_turns {
    uint32_t depth; /* number of turns nested in the turn of a message; 0: none */
    uint32_t spare_count;
    struct tr_self *message; /* the record for the turn of the message that runs, or ran last */
    struct tr_self *spare;   /* free records of turns, for turns that will wait */
    struct wheel deadlines;  /* nodes of struct tr_self */
    uint64_t wait_last;      /* the number that the last wait got */
    /* The records of nested turns, by depth. calls[0] is what `message` points to at first. */
    struct tr_self calls[WORKER_TURNS];
    struct extra_spare *extras; /* free records of struct cell_extra; see actor/cell/extra.c */
};

enum { WORKER_STACK_CLASSES = 11 };
_Static_assert((size_t)TR_STACK_SIZE << (WORKER_STACK_CLASSES - 1) >= TR_STACK_LARGEST,
               "each size that is allowed has a class");

/** Stacks of turns. Used by actor/turn. */
struct worker_stacks {
    struct fiber_pool pool;
    struct fiber_host host;
    struct fiber *fiber; /* the fiber of the loop */
    /* The fiber to which the loop returns from a larger stack; NULL: the loop is not on a larger stack. */
    struct fiber *home;
    /* The actor for whose turns the loop is on a larger stack; valid while `home` is set. */
    struct cell *guest;
    /*
     * pools of larger stacks, by class; NULL: not needed so far. Class i has FIBER_STACK_SIZE << i bytes; see
     * actor/turn/stack.h
     */
    struct fiber_pool *larger[WORKER_STACK_CLASSES];
    /* a fiber kept for tr_post_stop and tr_pre_restart, for the case that no other stack is free */
    struct fiber *last;
};

/** When a worker last gave memory back, and how many turns it had run at that time. */
struct worker_trim {
    tr_time last_ns;
    uint64_t last_turns;
    tr_time every_ns;
    bool has_stacks; /* the last trim has left stacks that a further trim can free */
};

/** Budgets of trees of actors. Used by actor/turn/budget.h. */
struct worker_budgets {
    /* a list of struct budget_part: the trees with charges that were not handed in yet */
    struct list parts;
    tr_time mark_ns;
};

/** Asks that are open or free. Used by actor/ask. */
struct worker_asks {
    struct wheel timeouts; /* nodes of struct ask */
    /* the first of a chain of asks whose timers may not be in the wheel yet */
    struct ask *young;
    struct ask **young_end; /* link where the next young ask is added; see actor/ask/ask_open.h */
    bool is_ticked;         /* there is a watch thread that gives ticks, and the clock is real */
    /* two descriptors of one type: expected and given by the last reply for which tr_type_is_equal was needed */
    const tr_type *reply_expected;
    const tr_type *reply_given;
    uint32_t spare_count;
    struct ask *spare;
    /* an empty array of slots for the next actor that needs slots; see actor/cell/ask_table.h */
    struct ask_table table_spare;
    tr_time traces_ns; /* since when `traces` counts */
    uint32_t traces;   /* number of traces since traces_ns; see actor/ask/ask_trace.h */
    /* the highest number of an ask in extras that tr__extra_rest has removed */
    uint32_t last;
};

/** Failures and watches. Used by actor/life. */
struct worker_life {
    struct wheel delays;    /* nodes of struct failure */
    struct watched watched; /* the actors of this worker that are watched, and their watchers */
};

/** What the worker runs, so that other threads can read it: see actor/cell/view.h. */
struct worker_view {
    atomptr cell;    /* a const struct cell; NULL: no actor runs */
    atomptr type;    /* type of the message; NULL: a signal, or nothing */
    atomptr handler; /* a const tr_handler: the handler that runs, or ran last */
};

/** Actors that leave a closed worker; see actor/system/leave.h. */
struct worker_leave {
    bool is_due; /* an actor has arrived since the worker last looked for actors that can leave */
    uint32_t call;
    uint64_t runs;
    tr_time due_ns;
};

/** How another thread takes this worker from a stuck thread; see actor/system/thread_handoff.h. */
struct worker_handoff {
    /* a struct handoff_thread: the thread that has the worker; NULL: no handoff in this system */
    atomptr claim;
    struct handoff_thread *successor; /* the thread that gets the worker at the end of this slice */
    bool is_wanted;  /* a thread is about to take the worker; under the lock of the handoff */
    tr_time call_ns; /* when the watch may ask for another thread again */
    /* loop_steps of the last stuck turn for which the watch has logged that no thread can take the worker */
    uint64_t call_steps;
};

/** Faults that are trapped; see actor/turn/fault.h. */
struct worker_faults {
    struct fault_thread *thread;  /* NULL: faults are not trapped */
    struct symbol_cache *symbols; /* allocated at the first fault */
};

/** The state of a worker during a shutdown; see actor/system/shutdown.h. */
struct worker_shutdown {
    uint32_t swept; /* number of the last sweep that the worker has done */
    atom64 forced;  /* number of actors that were stopped by the kill at the deadline */
    atom64 told;    /* number of actors of which something is worth a line in the report */
    struct shutdown_stats_runs stats;
    /* counts the steps of long work between turns. While the number grows, the worker is not stuck */
    atom64 steps;
    atom32 is_at_start_barrier; /* the worker runs on_worker_start */
    /* Written by the thread that waits for the shutdown. */
    atom32 is_stuck;
    uint64_t seen;     /* the sum of the worker's counters at the last look */
    tr_time seen_ns;   /* time of the last look */
    tr_time first_cpu; /* CPU time of the worker's thread at the last but one look, or -1 */
    tr_time seen_cpu;  /* CPU time of the worker's thread at the last look, or -1 */
    tr_time stuck_ns;  /* for how long the worker has been stuck */
};

struct worker {
    struct loop loop;
    void *memory; /* what the memory source returned; the worker is aligned inside it */
    struct tr_system *system;
    struct slots *slots;
    struct slots_map map; /* a copy of the map of `slots` */
    struct slot_cache slot_cache;
    uint32_t index;
    /* the fast path may send only to actors with this owner; see worker_hold_sends */
    uint32_t fast_owner;
    /* the turn whose outbox holds back all that the worker sends now; NULL: nothing is held back */
    struct tr_self *outbox_turn;
    struct counters counters;
    struct envelope_pool pool;
    struct dispatches dispatches;
    struct scratch scratch;
    struct clock clock; /* for deadlines */
    struct memory_source source;
    struct rng rng;
    struct grace_reader reader; /* reader of the directory of names */
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
    struct worker_channels channels;
    struct worker_turns turns;
    tr_thread *thread;
    atom64 thread_id;    /* id of the thread that runs the worker; 0: no thread runs it */
    uint64_t wakes_seen; /* value of counters.wakes when the worker last rested */
    bool has_more;       /* the last slice has left something to do */
    /* hooks of the loop; any thread may change `run`, see turn/follow_turn.c */
    struct loop_hooks hooks;
    struct worker_samples *samples; /* the timing of turns; never NULL */
};

/* ---- Which thread may touch what, for TR_ASSERT_SLOW(cell_is_mine(worker, cell)). ---- */

/**
 * Whether the calling thread acts for this worker: what "Worker only" requires.
 *
 * A thread that was replaced acts for no worker until it has its worker again (system/thread_handoff.h). While no
 * thread has the worker, the result is true for every thread. This is so if the system is not started, is embedded and
 * between two slices, is a kit between two steps, or is being freed.
 */
static inline bool worker_is_mine(const struct worker *worker)
{
    uint64_t id = atom64_load(&worker->thread_id, ATOM_RELAXED);
    return !id || id == worker->loop.platform->thread_id(worker->loop.platform);
}

/**
 * Whether the calling thread acts for this worker, and the worker owns the actor: what "Owner only" requires. These
 * actors have no owner (CELL_FOREIGN): an actor that waits to be mounted, one that moves, and one that was handed to
 * its parent's worker to be unlinked.
 */
static inline bool cell_is_mine(const struct worker *worker, const struct cell *cell)
{
    return cell_owner(cell) == worker->index && worker_is_mine(worker);
}

/** Whether the calling thread acts for the worker of this turn, and that worker owns the actor of the turn. */
static inline bool turn_is_mine(const struct tr_self *self)
{
    return cell_is_mine(self->worker, self->cell);
}

/** Records that the reply of this turn could not be sent: the asker gets `status` when the turn ends. Owner only. */
static inline void turn_fail_reply(struct tr_self *self, tr_status status)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    self->reply_failed = status;
    turn_require_slow_end(self);
}

/** Returns the actor whose code the worker runs, or NULL. Other threads use view.h or actor/system/shutdown.h. */
static inline const struct cell *worker_running(const struct worker *worker)
{
    return atomptr_load(&worker->view.cell, ATOM_ACQUIRE); /* pairs with worker_set_running */
}

/** Sets what worker_running returns. Worker only. */
static inline void worker_set_running(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    atomptr_store(&worker->view.cell, (void *)(uintptr_t)cell, ATOM_RELEASE);
}

/** Returns the handler that runs, or ran last. Any thread. */
static inline const tr_handler *worker_handler(const struct worker *worker)
{
    return atomptr_load(&worker->view.handler, ATOM_RELAXED);
}

/** Sets what worker_handler returns. Worker only. */
static inline void worker_set_handler(struct worker *worker, const tr_handler *handler)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    atomptr_store(&worker->view.handler, (void *)(uintptr_t)handler, ATOM_RELAXED);
}

/** Returns the type of the message that the worker handles, or NULL for a signal or for nothing. Any thread. */
static inline const tr_type *worker_type(const struct worker *worker)
{
    return atomptr_load(&worker->view.type, ATOM_ACQUIRE); /* pairs with worker_set_type */
}

/**
 * Sets what worker_type returns. A thread that reads the new type also sees all that the worker did before. Worker
 * only.
 */
static inline void worker_set_type(struct worker *worker, const tr_type *type)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    atomptr_store(&worker->view.type, (void *)(uintptr_t)type, ATOM_RELEASE);
}

/**
 * Makes the outbox of this turn hold back what the worker sends. If `self` is NULL, nothing is held back from now on.
 * Returns the turn whose outbox has held sends back until now, or NULL. Only functions of mail/outbox.h call this.
 *
 * A send takes the fast path only if the owner of the receiver is `fast_owner`. While sends are held back, `fast_owner`
 * is CELL_NOWHERE, so no send takes the fast path. In a system with thread handoff, `fast_owner` is always
 * CELL_NOWHERE, because a thread that was replaced must get its worker again before it sends. Worker only.
 */
static inline struct tr_self *worker_hold_sends(struct worker *worker, struct tr_self *self)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_self *before = worker->outbox_turn;
    worker->outbox_turn = self;
    if (!atomptr_load(&worker->handoff.claim, ATOM_RELAXED))
        worker->fast_owner = self ? CELL_NOWHERE : worker->index;
    return before;
}

/** Returns the innermost turn: the nested call, or the turn of the message. */
static inline struct tr_self *worker_turn(struct worker *worker)
{
    return worker->turns.depth ? &worker->turns.calls[worker->turns.depth] : worker->turns.message;
}

static inline struct worker *worker_of_loop(struct loop *loop)
{
    return (struct worker *)(void *)loop; /* the loop is the first member */
}

#endif
