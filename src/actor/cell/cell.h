/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A cell: what the runtime keeps of one actor. Three cache lines.
 *
 * The first line is what others touch: the door, and what does not change while the actor lives. The
 * second is what its worker needs for each message, the third the rest. Cells are never freed while
 * their system lives; a slot is a place for one, reused by the next tenant under a new generation.
 *
 * Who writes: the door, see queue/door.h; `control`, anybody; sibling links, the parent's worker;
 * everything else, the worker that owns the cell (before it is mounted: who spawns it, then the
 * worker it was posted to). Other threads may look at four members whose owner pokes them (identity,
 * name, dispatch, the door's tenant): see actor/cell/view.h.
 */
#ifndef ACTOR_CELL_CELL_H
#define ACTOR_CELL_CELL_H

#include <assert.h>
#include <troupe/behavior.h>

#include "actor/cell/watch_table.h"
#include "base/list.h"
#include "mem/envelope.h"
#include "mem/heap.h"
#include "queue/door.h"
#include "sched/runqueue.h"
#include "timer/keys.h"

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

/** Where it stands with the scheduler: L-08 of docs/contract.md. */
enum sched_state {
    SCHED_CREATED,
    SCHED_MOUNTING,
    SCHED_WAITING,
    SCHED_READY,
    SCHED_SCHEDULED, /* L-08 has it; nobody can see it between Ready and Running, so it is not written */
    SCHED_RUNNING
};

/* Those that messages look at together are in one byte: sealed, metered, idles. */
enum cell_flag {
    CELL_SEALED = 1 << 0,  /* a PoisonPill has arrived: what comes later is refused */
    CELL_STARTED = 1 << 1, /* PreStart was sent, so PostStop is due */
    CELL_POSTED = 1 << 2,  /* of a Stopped one: a post was on its way, which must arrive */
    CELL_WOKEN = 1 << 2,   /* of a live one: turns that waited may go on */
    CELL_KILLING = 1 << 3, /* it stops by Kill, and so do its children */
    CELL_LINKED = 1 << 4,  /* it is in its parent's list */
    CELL_ENDED = 1 << 5, /* of a Stopped one: it is posted to its parent's worker, to be unlinked */
    CELL_BARRIER = 1 << 5, /* of a live one: a turn waits, and no ask or notice begins meanwhile */
    CELL_METERED = 1 << 6, /* a budget applies to it: extra->budget is there */
    CELL_IDLES = 1 << 7,   /* it has a receive timeout: messages leave their mark */
    CELL_FAILED =
        1 << 8, /* a reason to be Suspended: it has failed; of one that stops: that is why */
    CELL_MIXED = 1 << 9,           /* mailboxes other than that of notices may hold something */
    CELL_SUSPEND_WANTED = 1 << 10, /* a reason to be Suspended: somebody asked for it */
    CELL_CLIENT = 1 << 11,         /* it is the address of a client */
    CELL_BY_KIND = 1 << 12,        /* asks before notices */
    CELL_CALLS = 1 << 13,          /* it runs the calls of a schedule: actor/verbs/schedule.h */
    CELL_HAS_WAITING_SENDERS = 1 << 14, /* senders wait for capacity: see actor/ask/waiters.h */
    CELL_EXACT_BOUND = 1 << 15 /* its mailbox is bounded so closely that nothing is put by */
};

enum cell_control {
    CONTROL_KILL = 1 << 0,   /* stop after this turn */
    CONTROL_STOP = 1 << 1,   /* stop after what has arrived */
    CONTROL_LOOK = 1 << 2,   /* something urgent is in the inbox */
    CONTROL_FINISH = 1 << 3, /* its last child has ended: so does it */
    CONTROL_CHILD = 1 << 5,  /* a child has failed, or is to come back */
    CONTROL_DECIDED =
        1 << 6, /* its supervisor has decided, or what then was to be waited for is over */
    CONTROL_BUDGET = 1 << 7,  /* it is over its budget: it fails */
    CONTROL_DISMISS = 1 << 8, /* the order to stop comes from its parent */
    CONTROL_BACK = 1 << 9     /* the thread of its turn that was stuck wants to go on */
};

/** What makes a message more than an ordinary one to the run that handles it. */
enum { CELL_COUNTS_MESSAGES = CELL_IDLES | CELL_METERED };
/** And to the capacity that it gives back. */
enum { CELL_SLOW_CAPACITY = CELL_COUNTS_MESSAGES | CELL_EXACT_BOUND | CELL_HAS_WAITING_SENDERS };
/** What makes more of an actor than one that notices are pushed to; and that takes one after another. */
enum { CELL_SLOW_SEND = CELL_SEALED | CELL_BARRIER | CELL_METERED | CELL_MIXED };
enum { CELL_SLOW_RUN = CELL_SLOW_SEND | CELL_WOKEN | CELL_HAS_WAITING_SENDERS };
enum { CELL_SUSPENDED = CELL_SUSPEND_WANTED | CELL_FAILED }; /* all reasons */

enum {
    CELL_STATE_INLINE = 16,     /* a state of up to this many bytes lives in the cell */
    CELL_NOWHERE = 0xfffffffdu, /* no cell's owner: for who wants to find none */
    CELL_GROUP_ADDRESS =
        0xfffffffeu, /* owner: nobody lives there, others stand behind it; actor/mail/group_address.h */
    CELL_FOREIGN = 0xffffffffu /* owner: no worker; also of an actor that is still to be mounted */
};

struct budget;
struct budget_tree;

/** How an actor is set up: of one that is still to be, and of one that can be again. */
struct cell_origin {
    const tr_behavior *behavior;
    const tr_child_spec *spec; /* of a TR_CHILD, NULL for others */
    uint64_t spawner;          /* ref of the client that wants to know, 0 for none */
    uint64_t causal;           /* of what the spawner handles */
    uint32_t worker;           /* where it will live */
    bool is_dismissed;         /* its parent has stopped it: it does not come back */
    bool has_lived;            /* it has had a PreStart */
    bool has_come_back;        /* another one was there before it */
    bool is_counted;           /* in the holds of its spec; see actor/life/pooled.h */
    bool is_away;              /* it has ended while its parent had the record of its failure */
    bool is_admitted;          /* the shutdown waits until it is linked; see actor/life/pooled.h */
    bool
        has_place; /* of a durable actor that has waited in the line of durable/pressure.c: it may begin */
    struct budget_tree *above; /* see actor/turn/budget.h */
    struct failure *failure;   /* what an earlier actor of this origin has left; see supervise.h */
    char *name;                /* of one that comes back as a new actor, else NULL */
    const tr_type *type;       /* NULL: no message */
    _Alignas(16) unsigned char message[];
};

struct ask;

/** The asks of an actor, by number. */
struct ask_table {
    struct ask *newest; /* not in the slots: most are answered before there is another */
    uint32_t count;
    uint32_t last; /* number that was given last */
    struct ask **slots;
    uint32_t mask;
};

struct failure;
struct restart_group;
struct timer_aliases;
struct timer_parcel;

/** Turns that were parked. What each wait needs is together, in one cache line or two. */
struct extra_parked {
    uint32_t count; /* turns that wait */
    bool abandons;  /* a fault was trapped: turns that wait are dropped, not resumed */
    struct list
        turns; /* of struct tr_self: all that have waited, by their last wait; also one that runs */
    struct tr_self *woken_first; /* while CELL_WOKEN: the turns that may resume, */
    struct tr_self *woken_last;  /* in the order of waking */
};

/** Requests that the actor has sent, and replies that it owes. */
struct extra_asks {
    struct ask_table table;
    uint32_t then_count; /* asks for which no turn waits: see actor/ask/ask_then.h */
    struct list laters;  /* of struct later: requests whose reply was deferred */
};

/** Mailboxes that few actors have. */
struct extra_mail {
    struct envelope
        *requests;         /* a ring: asks, where they have a mailbox of their own: CELL_BY_KIND */
    struct envelope *held; /* a ring: the rest of the cycle in which a barrier began */
};

struct extra_stash {
    struct envelope *ring;
    uint32_t count;
    uint32_t lines; /* their memory, in lines of 64 bytes */
};

struct extra_timers {
    struct timer_keys keys;
    struct loose_list loose;       /* timers without a key */
    struct timer_parcel *parcel;   /* of an actor that moves */
    struct timer_aliases *aliases; /* see actor/time/move_timers.c */
    uint64_t lines; /* memory of timers and of those of their messages that do not wait */
};

/** The receive timeout. */
struct extra_idle {
    struct timer_node node;
    tr_time after_ns;       /* 0: none */
    tr_time message_ns;     /* when the last message came */
    struct envelope *event; /* the signal, while it waits to be handled */
    bool is_paused;         /* while Suspended or parked: the timeout begins again afterwards */
};

/** Which actor has suspended this one last, and when: see actor/verbs/why.h. */
struct extra_suspended {
    uint64_t by;
    tr_time since_ns;
};

/** More of turns that wait. */
struct extra_waits {
    struct list born;  /* turns that have waited and not ended, oldest first */
    struct list line;  /* turns that want capacity, by arrival: actor/ask/line.h */
    uint32_t barriers; /* turns that let no ask or notice begin */
    uint32_t blocked;  /* turns whose function is queued or runs: actor/turn/blocking.h */
    struct tr_self
        *stuck; /* the turn whose thread was replaced: actor/system/thread_handoff.h; or NULL */
};

struct extra_watches {
    struct watch_table table; /* the actors that this one watches; see actor/life/watchers.h */
    struct envelope *packed;  /* of an actor that moves: its watchers */
};

/** Senders that wait for capacity in the mailbox of this actor. */
struct extra_senders {
    struct envelope *ring;
    int32_t reserved;       /* capacity that is reserved for them: messages, */
    int32_t reserved_lines; /* and lines */
    bool is_serving;        /* capacity is being granted */
};

/** Supervision; see actor/life/supervise.h. */
struct extra_supervision {
    struct failure *failure; /* its own, past or present; NULL also while its parent has it */
    struct envelope *failed; /* a ring: children that have failed, for which it is to decide */
    struct list returns;     /* of struct failure: children that are to come back as new actors */
    struct list pasts; /* of struct failure: children that end before they receive a decision */
    struct restart_group *group; /* children that are being restarted together */
    tr_time failed_ns;           /* when it failed last */
    uint32_t significant;        /* children that are significant, and live */
    bool is_away;                /* its parent has its failure */
    bool keeps_places;           /* of `returns`: see actor/life/place.c */
};

/** What few actors need. */
struct cell_extra {
    struct cell *cell;
    struct extra_parked parked;
    struct extra_asks asks;
    struct extra_mail mail;
    struct extra_stash stash;
    struct extra_timers timers;
    struct budget *budget; /* NULL: none applies */
    struct extra_idle idle;
    struct extra_suspended suspended;
    struct extra_waits waits;
    struct extra_watches watches;
    struct extra_senders senders;
    struct extra_supervision supervision;
    struct durable *durable; /* of an actor whose state is on disk; else NULL */
};

struct name;
struct dispatch;

struct cell {
    struct door door;
    uint64_t identity;        /* the ref, kept when the door no longer shows it */
    struct name *name;        /* in the directory; NULL for anonymous actors */
    struct cell_extra *extra; /* what few actors need; NULL until they do */

    struct task task;
    struct dispatch *dispatch;
    void *state; /* of a client's cell: the client */
    struct heap *heap;
    struct envelope *cycle;   /* what this cycle has still to handle; see actor/mail/mail.h */
    struct envelope *notices; /* asks too, unless CELL_BY_KIND */
    union {
        struct {
            uint32_t stock; /* capacity put by for senders on this worker; see actor/mail/mail.h */
            uint32_t queued_lines; /* memory of what waits in all lists, in lines of 64 bytes */
        };
        uint64_t stock_and_lines; /* both, for one addition */
    };
    atom32 control;      /* enum cell_control */
    uint16_t flags;      /* enum cell_flag */
    uint8_t life;        /* enum life; changed by tr__cell_change only */
    uint8_t sched_state; /* enum sched_state */

    struct envelope *replies;
    struct envelope *exceptions;
    struct cell_origin *origin; /* NULL: its behavior, without a message */
    struct envelope *events;
    uint32_t sibling_next; /* slots; the list is a ring, in start order */
    uint32_t sibling_last; /* the one before */
    uint32_t child_last;   /* the child that was started last, 0 for none */
    uint32_t child_count;
    _Alignas(8) unsigned char state_inline[CELL_STATE_INLINE];
};

static_assert(sizeof(struct cell) == 192, "an idle actor costs three cache lines");
static_assert(offsetof(struct cell, task) == 64, "the door has a line of its own");

/** In the door's tenant, above the slot of the parent: it was placed by the hash ring of the pool. */
#define CELL_POOLED 0x80000000u
/** The same: it is the group supervisor of a group. */
#define CELL_GROUP_SUPERVISOR 0x40000000u
/** The same: all durable actors of a kind are below it. It stops after the others below /user. */
#define CELL_KEEPER 0x20000000u

/** The slot of the parent, 0 for none, of a door's tenant. */
static inline uint32_t cell_slot_of(uint32_t tenant)
{
    return tenant & ~(CELL_POOLED | CELL_GROUP_SUPERVISOR | CELL_KEEPER);
}

/** The slot of the parent, 0 for none. Who asks it of somebody else's actor may look at the next tenant. */
static inline uint32_t cell_parent_slot(const struct cell *cell)
{
    return cell_slot_of(ATOM_PEEK(&cell->door.tenant));
}

/** Whether the hash ring has placed it. It stays where it is unless its options say `balances`. */
static inline bool cell_is_pooled(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_POOLED;
}

/** Whether it has the durable actors of a kind below it. */
static inline bool cell_is_keeper(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_KEEPER;
}

/** Whether it is the group supervisor of a group. */
static inline bool cell_is_group_supervisor(const struct cell *cell)
{
    return ATOM_PEEK(&cell->door.tenant) & CELL_GROUP_SUPERVISOR;
}

/** Empties a cell for its next tenant. A late order may still reach `control`: it is atomic. */
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
    return (struct cell *)(void *)node; /* the door comes first, and its ready node in it */
}

static inline uint32_t cell_generation(const struct cell *cell)
{
    return (uint32_t)(cell->identity >> 32);
}

static inline uint32_t cell_owner(const struct cell *cell)
{
    return atom32_load(&cell->door.owner, ATOM_RELAXED);
}

/** Whether this is the address of a client: nobody's child, and no worker's. Any thread. */
static inline bool cell_is_client(const struct cell *cell)
{
    return cell_owner(cell) == CELL_FOREIGN && !cell_parent_slot(cell);
}

#endif
