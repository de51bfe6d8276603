/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A cell: the record of one actor. It has three cache lines.
 *
 * The first line has what other threads touch: the door, and members that do not change while the
 * actor lives. The second line has what its worker needs for each message, the third line the rest.
 * Cells are never freed while their system lives. A slot is a place for one cell; the next tenant
 * reuses it under a new generation.
 *
 * Which thread writes what: for the door see queue/door.h. Any thread writes `control`. The
 * parent's worker writes the sibling links. One thread at a time writes everything else. This is
 * first the thread that spawns the actor, then the worker to which the cell is posted. As soon as
 * the actor is mounted, it is the owner. Other threads may read four members that the owner writes
 * by ATOM_POKE (identity, name, dispatch, the door's tenant): see actor/cell/view.h.
 */
#ifndef ACTOR_CELL_CELL_H
#define ACTOR_CELL_CELL_H

#include <assert.h>
#include <troupe/behavior.h>

#include "base/assert.h"
#include "base/list.h"
#include "mem/envelope.h"
#include "queue/door.h"
#include "sched/runqueue.h"
#include "timer/keys.h"
#include "timer/loose.h"
#include "timer/wheel.h"

/** Where an actor is in its life: L-01 of docs/contract.md. */
enum life {
    LIFE_NEW,
    LIFE_STARTING,
    LIFE_RUNNING,
    LIFE_SUSPENDED,
    LIFE_STOPPING,
    LIFE_STOPPED,
    LIFE_COUNT
};

/** The scheduling state of an actor: L-08 of docs/contract.md. A cleared cell is SCHED_CREATED. */
enum sched_state {
    SCHED_CREATED,
    SCHED_MOUNTING,
    SCHED_WAITING,
    SCHED_READY,
    SCHED_RUNNING,
    SCHED_COUNT
};

/*
 * CELL_SEALED, CELL_METERED and CELL_IDLES are tested together for each message, so they are in the
 * low byte.
 */
enum cell_flag {
    CELL_SEALED = 1 << 0,  /* a PoisonPill has arrived: later messages are refused */
    CELL_STARTED = 1 << 1, /* the actor has had PreStart, so PostStop is due */
    CELL_WOKEN = 1 << 2,   /* at least one parked turn of the actor may resume */
    CELL_KILLING = 1 << 3, /* the actor stops because of a Kill, and so do its children */
    CELL_LINKED = 1 << 4,  /* the actor is in its parent's list */
    /* a parked turn is a barrier: no turn of an ask or of a notice starts */
    CELL_BARRIER = 1 << 5,
    CELL_METERED = 1 << 6, /* a budget applies to the actor: extra->budget is set */
    CELL_IDLES = 1 << 7,   /* the actor has a receive timeout: each message records its time */
    /*
     * the actor has failed. Until it stops, the failure keeps it Suspended. If it stops, it stops
     * because of the failure
     */
    CELL_FAILED = 1 << 8,
    CELL_MIXED = 1 << 9, /* mailboxes other than `notices` may hold something */
    /* the actor is Suspended because an actor or a client has asked for it */
    CELL_SUSPEND_WANTED = 1 << 10,
    /*
     * the door of the actor was closed while a post was on its way. The actor cannot end before
     * that post arrives
     */
    CELL_POSTED = 1 << 11,
    CELL_BY_KIND = 1 << 12,  /* the actor handles asks before notices */
    CELL_CHANNELS = 1 << 13, /* the actor has a place for its channels: slots_channels */
    /* senders wait for capacity of the mailbox: see actor/ask/waiters.h */
    CELL_HAS_WAITING_SENDERS = 1 << 14,
    /* the mailbox has a small bound that is counted exactly: no capacity is kept in cell->stock */
    CELL_EXACT_BOUND = 1 << 15
};

enum cell_control {
    CONTROL_KILL = 1 << 0, /* the actor stops after its current turn */
    CONTROL_STOP = 1 << 1, /* the actor handles the messages that have arrived, then stops */
    CONTROL_LOOK = 1 << 2, /* an order is in the inbox: the actor takes it in at once */
    /* what a stopping actor waited for has ended: its last child, or a function of tr_blocking */
    CONTROL_FINISH = 1 << 3,
    CONTROL_CHILD = 1 << 5, /* a child has failed, or is to be started again */
    /*
     * the record of the actor's failure has changed, and the actor must act on it: see enum
     * failure_phase
     */
    CONTROL_DECIDED = 1 << 6,
    CONTROL_BUDGET = 1 << 7,  /* the actor has exceeded a budget, and fails */
    CONTROL_DISMISS = 1 << 8, /* the parent has ordered the actor to stop */
    CONTROL_BACK = 1 << 9     /* the thread of the actor's stuck turn wants to continue the turn */
};

/** If an actor has one of these flags, its run handles each message by the slow path. */
enum { CELL_COUNTS_MESSAGES = CELL_IDLES | CELL_METERED };
/**
 * If an actor has one of these flags, the capacity of a message that was handled becomes free by
 * the slow path.
 */
enum { CELL_SLOW_CAPACITY = CELL_COUNTS_MESSAGES | CELL_EXACT_BOUND | CELL_HAS_WAITING_SENDERS };
/**
 * CELL_SLOW_SEND: if an actor has one of these flags, a notice to it takes the slow path.
 * CELL_SLOW_RUN: if an actor has one of these flags, its run takes the slow path.
 */
enum { CELL_SLOW_SEND = CELL_SEALED | CELL_BARRIER | CELL_METERED | CELL_MIXED };
enum { CELL_SLOW_RUN = CELL_SLOW_SEND | CELL_WOKEN | CELL_HAS_WAITING_SENDERS };
enum { CELL_SUSPENDED = CELL_SUSPEND_WANTED | CELL_FAILED }; /* all reasons to be Suspended */

enum {
    CELL_STATE_INLINE = 16, /* a state of at most this many bytes is in the cell itself */
    /* a value of worker->fast_owner that no cell has as its owner */
    CELL_NOWHERE = 0xfffffffdu,
    /*
     * in place of an owner: the slot is a group address. It has no actor, and stands for the
     * members of a group; see actor/mail/group_address.h
     */
    CELL_GROUP_ADDRESS = 0xfffffffeu,
    /*
     * in place of an owner: no worker owns the cell, for instance because its actor waits to be
     * mounted
     */
    CELL_FOREIGN = 0xffffffffu
};

struct budget;
struct budget_tree;

/**
 * Members that only some origins need. This struct is in memory directly before a cell_origin that
 * has has_rare set.
 */
struct origin_rare {
    const tr_child_spec *spec; /* the spec of a child that TR_CHILD declares, otherwise NULL */
    uint64_t spawner;          /* ref of the client to notify when the set-up has run; 0: none */
    uint64_t causal;           /* causal id of the message that the spawner handled at the spawn */
    struct budget_tree *above; /* the tree of the parent's budget; see actor/turn/budget.h */
    /*
     * the failures of an earlier actor of this origin, which has ended; see actor/life/supervise.h
     */
    struct failure *failure;
    /* the name, if the actor is started again as a new actor; otherwise NULL */
    char *name;
};

/**
 * How an actor is set up. An actor has an origin until it is set up, and longer if it can be
 * started again.
 */
struct cell_origin {
    const tr_behavior *behavior;
    const tr_type *type; /* type of the set-up message; NULL: there is no set-up message */
    uint32_t worker;     /* index of the worker on which the actor starts */
    /* a struct origin_rare is in memory before this struct: see origin_rare() */
    bool has_rare : 1;
    bool is_dismissed : 1; /* the parent has stopped the actor: it is not started again */
    bool has_lived : 1;    /* the actor has had a PreStart */
    /* the actor was started again: an earlier actor of this origin has ended */
    bool has_come_back : 1;
    /* this origin is one of those that pooled_spec.holds counts; see actor/life/pooled.h */
    bool is_counted : 1;
    /* when the actor ended, its parent had the record of the actor's failure */
    bool is_away : 1;
    /* the shutdown waits until the actor is linked; see actor/life/pooled.h */
    bool is_admitted : 1;
    /* the durable actor had to wait before its start, and may start now; see durable/pressure.c */
    bool has_place : 1;
    /* the origin is in a place beside its cell: SLOTS_PLACE_ORIGIN */
    bool is_beside : 1;
    _Alignas(8) unsigned char message[]; /* 8 is COPY_ALIGNMENT of wire/copy.h */
};

static_assert(sizeof(struct origin_rare) % 16 == 0, "the origin behind it is aligned");
static_assert(sizeof(struct cell_origin) == 24, "every actor with a set-up message has one");

/** Returns the rare members of an origin. If it has none, returns a struct of zeros. */
static inline const struct origin_rare *origin_rare(const struct cell_origin *origin)
{
    static const struct origin_rare none;
    return origin->has_rare ? (const struct origin_rare *)(const void *)origin - 1 : &none;
}

/** As origin_rare(), but the caller may change the result. The origin must have has_rare set. */
static inline struct origin_rare *origin_rare_own(struct cell_origin *origin)
{
    TR_ASSERT(origin->has_rare);
    return (struct origin_rare *)(void *)origin - 1;
}

struct ask;

/** The asks of an actor, by their number. */
struct ask_table {
    /*
     * the ask that was made last; not in `slots`, because most asks are answered before the next
     * one is made
     */
    struct ask *newest;
    uint32_t count;
    uint32_t last; /* the number of the ask that was made last */
    struct ask **slots;
    uint32_t mask;
};

struct failure;
struct restart_group;
struct timer_aliases;
struct timer_parcel;
struct watch_entry;

/** The parked turns of an actor. The members that each wait needs are in one or two cache lines. */
struct extra_parked {
    uint32_t count; /* number of turns that wait */
    bool abandons;  /* a fault was trapped: the waiting turns are dropped instead of resumed */
    /*
     * a list of struct tr_self: the turns that have waited at least once and have not ended. The
     * turn that began to wait last is the last one
     */
    struct list turns;
    /* the first turn in the list of woken turns; only valid while CELL_WOKEN is set */
    struct tr_self *woken_first;
    /* the last turn in the list of woken turns; only valid while CELL_WOKEN is set */
    struct tr_self *woken_last;
};

/** Requests that the actor has sent, and replies that it owes. */
struct extra_asks {
    struct ask_table table;
    /* number of asks of tr_ask_then, for which no turn waits: see actor/ask/ask_then.h */
    uint32_t then_count;
    struct list laters; /* a list of struct later: requests that tr_reply_later has deferred */
};

/** Which part of a cycle is in cell->cycle: see actor/mail/cycle.h. */
enum cycle_part {
    CYCLE_ANY, /* no barrier has sorted this cycle: cell->cycle has all that is left of it */
    CYCLE_ANSWERS,
    CYCLE_HELD,
    CYCLE_LATE
};

/** Mailboxes that few actors need, and the parts of a cycle. */
struct extra_mail {
    /* a ring: the mailbox of asks while CELL_BY_KIND is set; otherwise asks are in cell->notices */
    struct envelope *requests;
    /* a ring: the mail of a cycle that a barrier makes wait; see actor/mail/cycle.h */
    struct envelope *held;
    /* a ring: the part of a cycle that is handled last. It is mail that passes a barrier */
    struct envelope *late;
    uint8_t part; /* enum cycle_part: the part that is in cell->cycle */
    /* `held` has some mail that may pass a barrier: messages unstashed during a barrier */
    bool is_impure;
    uint32_t sorted; /* how many messages barriers have sorted so far; for tests */
};

struct extra_stash {
    struct envelope *ring;
    uint32_t count;
    uint32_t lines; /* memory of the stashed messages, in lines of 64 bytes */
};

struct extra_timers {
    struct timer_keys keys;
    struct loose_list loose;       /* timers without a key */
    struct timer_parcel *parcel;   /* the timers of an actor that moves to another worker */
    struct timer_aliases *aliases; /* used while timers move; see actor/time/move_timers.c */
    /*
     * memory of the timers, in lines of 64 bytes. It includes the messages of timers, except those
     * that are in a mailbox
     */
    uint64_t lines;
};

/**
 * The receive timeout of an actor; exists while CELL_IDLES is set. It is in a place beside the cell
 * (slots_idle). It is not in the extra, because many idle actors need nothing else of the extra.
 */
struct cell_idle {
    struct timer_node node;
    tr_time after_ns;
    union {
        /* the time at which a message was last handled, or the timeout was set */
        tr_time message_ns;
        /* while has_event: the tr_receive_timeout that waits in a mailbox */
        struct envelope *event;
    };
    uint32_t slot; /* slot of the cell */
    bool has_event;
    /*
     * set while the actor is Suspended or a turn of it is parked; afterwards the timeout starts
     * again with its full time
     */
    bool is_paused;
    bool is_moving; /* the timeout was armed when its actor began to move to another worker */
};
static_assert(sizeof(struct cell_idle) == 48, "many idle actors have one");

/**
 * The first member of the record that src/net keeps for an actor with channels; slots_channels
 * finds the record.
 */
struct cell_channels {
    struct envelope *ready; /* the mailbox of CHANNEL envelopes: a ring */
};

/** The first member of the record that src/durable keeps for a durable actor. */
struct durable {
    const struct durable_hooks *hooks;
    struct cell *cell;
    struct timer_node wake_timer; /* a node of the wheel worker->timers.wake_timers */
    /* the status that senders get while the actor is sealed: TR_STOPPED or TR_DESTROYING */
    tr_status refusal;
    bool may_stop;    /* the actor is sealed and everything is stored, so it may stop */
    bool has_stashed; /* a message of the stash has had a turn, and waits for another one */
};

/** Which actor suspended this one last, and when: see actor/verbs/why.h. */
struct extra_suspended {
    uint64_t by;
    tr_time since_ns;
};

/** Further data about turns that wait. */
struct extra_waits {
    struct list born; /* turns that have waited and have not ended, the oldest first */
    /* turns that wait for capacity, the one that waits longest first; see actor/ask/line.h */
    struct list line;
    uint32_t barriers; /* number of waiting turns that are barriers */
    /*
     * how many turns wait for a function of tr_blocking that is queued or runs; see
     * actor/turn/blocking.h
     */
    uint32_t blocked;
    /* the turn whose thread has lost the worker, or NULL; see actor/system/thread_handoff.h */
    struct tr_self *stuck;
    /*
     * the actor is sealed but does not stop yet, because a channel has received only a part of a
     * piece. channel_hooks.on_sealed sets and clears this flag
     */
    bool holds_stop;
};

/** A hash table of the actors that one watcher watches; see actor/cell/watch_table.h. */
struct watch_table {
    struct watch_entry *slots; /* NULL: not allocated yet */
    uint32_t mask;
    uint32_t count;
};

struct extra_watches {
    struct watch_table table; /* the actors that this one watches; see actor/life/watchers.h */
    struct envelope *packed;  /* the watchers of an actor that moves to another worker */
};

/** Senders that wait for capacity in the mailbox of this actor. */
struct extra_senders {
    struct envelope *ring;
    /* number of messages for which waiting senders have reserved capacity */
    int32_t reserved;
    int32_t reserved_lines; /* memory of these messages, in lines of 64 bytes */
    /* tr__waiters_serve runs. A nested call does nothing, because the outer call does that work too */
    bool is_serving;
};

/** Supervision; see actor/life/supervise.h. */
struct extra_supervision {
    /*
     * the record of the actor's own failure, past or present. NULL if there is none, or while the
     * parent has the record
     */
    struct failure *failure;
    /* a ring: children that have failed and wait for a decision of this actor */
    struct envelope *failed;
    /* a list of struct failure: children that are to be started again as new actors */
    struct list returns;
    /*
     * a list of struct failure: the records of children that ended before they got the decision
     * about their failure
     */
    struct list pasts;
    struct restart_group *group; /* children that are restarted together */
    tr_time failed_ns;           /* time at which the actor failed last */
    uint32_t significant;        /* significant children that are alive */
    bool is_away;                /* the parent has the record of the actor's failure */
    /*
     * new records in `returns` have failure.has_place set, and their failure.before is kept up to
     * date; see actor/life/place.c
     */
    bool keeps_places;
};

/**
 * What only some actors need. As in struct tr_self, each feature has one member, and a room may
 * have several features. If each room had only one struct, a wait would touch more cache lines.
 */
struct cell_extra {
    struct cell *cell;
    struct extra_parked parked;
    struct extra_asks asks;
    struct extra_mail mail;
    struct extra_stash stash;
    struct extra_timers timers;
    struct budget *budget; /* NULL: no budget applies to the actor */
    struct extra_suspended suspended;
    struct extra_waits waits;
    struct extra_watches watches;
    struct extra_senders senders;
    struct extra_supervision supervision;
    struct durable *durable; /* the record of a durable actor, otherwise NULL */
};

struct name;
struct dispatch;

struct cell {
    struct door door;
    uint64_t identity; /* the ref; stays here when the door no longer shows it */
    struct name *name; /* entry in the directory; NULL for anonymous actors */
    /* members that only some actors need; NULL until one of them is needed */
    struct cell_extra *extra;

    struct task task;
    struct dispatch *dispatch;
    void *state; /* the state of the actor; for the cell of a client: the client */
    struct heap *heap;
    /* messages that the actor still has to handle in this cycle; see actor/mail/mail.h */
    struct envelope *cycle;
    struct envelope *notices; /* the mailbox of notices; also of asks, if CELL_BY_KIND is not set */
    union {
        struct {
            /* capacity that is set aside for senders on this worker; see actor/mail/capacity.h */
            uint32_t stock;
            uint32_t queued_lines; /* memory of all queued messages, in lines of 64 bytes */
        };
        /* `stock` and `queued_lines` together, so that one addition changes both */
        uint64_t stock_and_lines;
    };
    atom32 control;      /* enum cell_control */
    uint16_t flags;      /* enum cell_flag */
    uint8_t life;        /* enum life; changed by tr__cell_change and cell_become only */
    uint8_t sched_state; /* enum sched_state; changed by actor/cell/sched_state.h only */

    struct envelope *replies;
    struct envelope *exceptions;
    /* NULL: the actor is set up by its behavior alone, without a set-up message */
    struct cell_origin *origin;
    struct envelope *events;
    uint32_t sibling_next; /* slot of the next sibling; the siblings are a ring, in start order */
    uint32_t sibling_last; /* slot of the previous sibling */
    uint32_t child_last;   /* slot of the child that was started last, 0 for none */
    uint32_t child_count;
    _Alignas(8) unsigned char state_inline[CELL_STATE_INLINE];
};

static_assert(sizeof(struct cell) == 192, "an idle actor costs three cache lines");
static_assert(offsetof(struct cell, task) == 64, "the door has a line of its own");

/**
 * A bit in the door's tenant, above the slot of the parent: the actor is on the worker that the
 * hash ring of the pool has chosen.
 */
#define CELL_POOLED 0x80000000u
/** A bit in the door's tenant: the actor is a group supervisor. */
#define CELL_GROUP_SUPERVISOR 0x40000000u
/**
 * A bit in the door's tenant: the actor is a keeper, the parent of all durable actors of a kind.
 * Keepers stop after the other children of /user.
 */
#define CELL_KEEPER 0x20000000u
/** A bit in the door's tenant: the actor runs the callbacks of a schedule, actor/verbs/schedule.h. */
#define CELL_CALLS 0x10000000u

/**
 * Returns the record that src/durable keeps for this actor. Returns NULL if the actor is not
 * durable.
 */
static inline struct durable *cell_durable(const struct cell *cell)
{
    return cell->extra ? cell->extra->durable : NULL;
}

/** Returns the slot of the parent from the `tenant` of a door, 0 for none. */
static inline uint32_t cell_slot_of(uint32_t tenant)
{
    return tenant & ~(CELL_POOLED | CELL_GROUP_SUPERVISOR | CELL_KEEPER | CELL_CALLS);
}

/**
 * Returns the slot of the parent, 0 for none. On a thread other than the owner, the result may be
 * the parent of the next tenant.
 */
static inline uint32_t cell_parent_slot(const struct cell *cell)
{
    return cell_slot_of(ATOM_PEEK(&cell->door.tenant));
}

/**
 * Whether the hash ring of the pool has placed the actor. Such an actor does not move unless its
 * options set `balances`.
 */
static inline bool cell_is_pooled(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_POOLED;
}

/** Whether the actor is a keeper: the parent of all durable actors of a kind. */
static inline bool cell_is_keeper(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_KEEPER;
}

/** Whether the actor runs the callbacks of a schedule. */
static inline bool cell_calls(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_CALLS;
}

/** Whether the actor is a group supervisor. */
static inline bool cell_is_group_supervisor(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_GROUP_SUPERVISOR;
}

/**
 * Clears a cell for its next tenant. `control` is stored atomically, because a late order to the
 * previous tenant may set its bits at the same time.
 */
static inline void cell_clear(struct cell *cell)
{
    size_t control = offsetof(struct cell, control);
    size_t dispatch = offsetof(struct cell, dispatch);
    size_t state = dispatch + sizeof cell->dispatch;
    size_t extra = offsetof(struct cell, extra);
    size_t after = control + sizeof cell->control;
    ATOM_POKE(&cell->door.tenant, 0u);
    ATOM_POKE(&cell->name, NULL);
    memset((char *)cell + extra, 0, dispatch - extra);
    ATOM_POKE(&cell->dispatch, NULL);
    memset((char *)cell + state, 0, control - state);
    atom32_store(&cell->control, 0, ATOM_RELAXED);
    memset((char *)cell + after, 0, sizeof *cell - after);
}

static inline struct cell *cell_of_task(struct task *task)
{
    return (struct cell *)(void *)((char *)task - offsetof(struct cell, task));
}

static inline struct cell *cell_of_ready(struct stack_node *node)
{
    /* the door is the first member of a cell, and `ready` is the first member of the door */
    return (struct cell *)(void *)node;
}

static inline uint32_t cell_generation(const struct cell *cell)
{
    return (uint32_t)(cell->identity >> 32);
}

/**
 * Returns the index of the worker that owns a cell, CELL_FOREIGN or CELL_GROUP_ADDRESS. Any thread.
 *
 * Relaxed is enough: a worker that finds its own index has stored this index itself, and then uses
 * the cell. This also holds for a walk over all cells, because a walk uses only the cells of its
 * own worker. A thread that finds any other index uses only the door, and reads the inbox of the
 * door with acquire. cell_is_group_address does an acquire of its own.
 */
static inline uint32_t cell_owner(const struct cell *cell)
{
    return atom32_load(&cell->door.owner, ATOM_RELAXED);
}

/** Whether a cell belongs to a client: it has no parent, and no worker owns it. Any thread. */
static inline bool cell_is_client(const struct cell *cell)
{
    return cell_owner(cell) == CELL_FOREIGN && !cell_parent_slot(cell);
}

#endif
