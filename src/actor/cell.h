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
 * worker it was posted to).
 */
#ifndef ACTOR_CELL_H
#define ACTOR_CELL_H

#include <assert.h>
#include <troupe/behavior.h>

#include "mem/envelope.h"
#include "mem/heap.h"
#include "queue/door.h"
#include "sched/runqueue.h"
#include "timer/keys.h"

/** Where an actor is in its life: SPEC L-01. */
enum life {
    LIFE_NEW,
    LIFE_STARTING,
    LIFE_RUNNING,
    LIFE_SUSPENDED,
    LIFE_STOPPING,
    LIFE_STOPPED,
    LIFE_COUNT
};

/** Where it stands with the scheduler: SPEC L-08. */
enum house {
    HOUSE_CREATED,
    HOUSE_MOUNTING,
    HOUSE_WAITING,
    HOUSE_READY,
    HOUSE_SCHEDULED,
    HOUSE_RUNNING
};

enum cell_flag {
    CELL_SEALED = 1 << 0,  /* a PoisonPill has arrived: what comes later is refused */
    CELL_STARTED = 1 << 1, /* PreStart was sent, so PostStop is due */
    CELL_POSTED = 1 << 2,  /* it was closed while a post was on its way, which must arrive */
    CELL_KILLING = 1 << 3, /* it stops by Kill, and so do its children */
    CELL_LINKED = 1 << 4,  /* it is in its parent's list */
    CELL_ENDED = 1 << 5,   /* it is posted to its parent's worker, to be unlinked */
    CELL_CLIENT = 1 << 6,  /* it is the address of a client */
    CELL_BY_KIND = 1 << 7, /* asks before notices */
    CELL_FAILED = 1 << 8,  /* a failure is why it stops */
    CELL_MIXED = 1 << 9,   /* mailboxes other than that of notices may hold something */
    CELL_ASKED = 1 << 10,  /* a reason to be Suspended: somebody asked for it */
    CELL_IDLES = 1 << 11   /* it has a receive timeout: messages leave their mark */
};

enum cell_control {
    CONTROL_KILL = 1 << 0,  /* stop after this turn */
    CONTROL_STOP = 1 << 1,  /* stop after what has arrived */
    CONTROL_LOOK = 1 << 2,  /* something urgent is in the inbox */
    CONTROL_FINISH = 1 << 3 /* its last child has ended: so does it */
};

enum { CELL_SUSPENDED = CELL_ASKED }; /* all reasons; supervision will add its own */

enum {
    CELL_STATE_INLINE = 16,    /* a state of up to this many bytes lives in the cell */
    CELL_FOREIGN = 0xffffffffu /* owner: no worker; also of an actor that is still to be mounted */
};

/** How an actor that is not set up yet is to be set up. */
struct cell_setup {
    const tr_behavior *behavior;
    uint64_t spawner;    /* ref of the client that wants to know, 0 for none */
    uint64_t causal;     /* of what the spawner handles */
    uint32_t worker;     /* where it will live */
    const tr_type *type; /* NULL: no message */
    _Alignas(16) unsigned char message[];
};

/** What few actors need. */
struct cell_extra {
    struct cell *cell;
    struct envelope *stash; /* a ring */
    uint32_t stash_count;
    struct timer_keys timers;
    struct loose_list loose_timers; /* those without a key */
    /* The receive timeout. */
    struct timer_node idle;
    tr_time idle_ns;             /* 0: none */
    tr_time message_ns;          /* when the last message came */
    struct envelope *idle_event; /* the signal, while it waits to be handled */
    bool idle_is_paused;         /* while Suspended: it is to begin anew */
};

struct name;
struct dispatch;

struct cell {
    struct door door;
    uint64_t identity; /* the ref, kept when the door no longer shows it */
    struct cell *parent;
    struct name *name; /* in the directory; NULL for anonymous actors */
    union {
        struct cell_setup *setup; /* while New */
        struct cell_extra *extra; /* from then on: what few actors need; NULL until they do */
    };

    struct task task;
    struct dispatch *dispatch;
    void *state; /* of a client's cell: the client */
    struct heap *heap;
    struct envelope *cycle;   /* what this cycle has still to handle; see actor/mail.h */
    struct envelope *notices; /* asks too, unless CELL_BY_KIND */
    uint32_t queued;          /* messages in all lists */
    uint32_t queued_lines;    /* their memory, in lines of 64 bytes */
    atom32 control;           /* enum cell_control */
    uint16_t flags;           /* enum cell_flag */
    uint8_t life;             /* enum life; changed by tr__cell_change only */
    uint8_t house;            /* enum house */

    struct envelope *replies;
    struct envelope *exceptions;
    struct envelope *asks;
    struct envelope *events;
    uint32_t sibling_next; /* slots; the list is a ring, in start order */
    uint32_t sibling_last; /* the one before */
    uint32_t child_last;   /* the child that was started last, 0 for none */
    uint32_t child_count;
    _Alignas(8) unsigned char state_inline[CELL_STATE_INLINE];
};

static_assert(sizeof(struct cell) == 192, "an idle actor costs three cache lines");
static_assert(offsetof(struct cell, task) == 64, "the door has a line of its own");

/** Empties a cell for its next tenant. A late order may still reach `control`: it is atomic. */
static inline void cell_clear(struct cell *cell)
{
    size_t control = offsetof(struct cell, control);
    size_t begin = offsetof(struct cell, parent);
    size_t after = control + sizeof cell->control;
    memset((char *)cell + begin, 0, control - begin);
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

#endif
