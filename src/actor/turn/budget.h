/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Budgets of bytes and of CPU time, of an actor alone and of the tree below it.
 *
 * There are no counters that each allocation or message updates. The bytes that an actor holds can
 * be computed from its cell at any time (tr__cell_bytes). Only the bytes of its channels, which may
 * be many, are counted when they change, for actors to which a budget applies. An actor to which a budget applies, its
 * own or an ancestor's, has the flag CELL_METERED. The worker looks at the bytes of such an actor
 * when mail arrives, when memory is asked for, and when a turn waits or ends. The difference to the
 * last look is added to the trees that the actor is in, as partial sums per worker (queue/tally.h).
 *
 * Rules:
 *   1. A tree belongs to one cell and exists until no actor is left below that cell. So a
 *      descendant may always use its trees. When a descendant ends, its share is subtracted, and
 *      the part of its worker is removed from the worker's list.
 *   2. Any worker can find that a tree is over its budget. Only the first one reports it: it writes
 *      the error text, then sets CONTROL_BUDGET at the cell that has the budget. That actor fails
 *      between two turns.
 *   3. CPU time is charged to one actor only. worker->budgets.mark_ns is the time until which the
 *      running user code was charged, or when it began. A set-up inside a turn is charged to the
 *      actor that is set up.
 */
#ifndef ACTOR_TURN_BUDGET_H
#define ACTOR_TURN_BUDGET_H

#include <troupe/status.h>
#include <troupe/behavior.h>
#include <troupe/detail/base.h>
#include <troupe/supervision.h>

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"
#include "base/list.h"
#include "queue/tally.h"

struct tr_self;
struct worker;

enum {
    BUDGET_STEP_BYTES = 64 * 1024, /* the most that the part of one worker may hold back */
    /* the most that the parts of all workers together may hold back */
    BUDGET_STEP_NS = 1000 * 1000
};

enum budget_kind { BUDGET_NONE, BUDGET_BYTES, BUDGET_CPU };

/** A worker's part of the sums of a tree. On a cache line of its own. */
struct budget_part {
    _Alignas(64) struct tally_part bytes;
    struct tally_part cpu_ns;
    struct list link; /* in worker->budgets.parts, unless the part is empty */
    struct budget_tree *tree;
    uint64_t holder; /* ref of the actor that was charged last */
};

/** What an actor and all its descendants use together. */
struct budget_tree {
    /* Constant. */
    struct budget_tree *above; /* the tree of the next ancestor that has one, or NULL */
    struct cell *cell;         /* the actor that has the budget */
    void *memory;              /* what the source returned; the tree is aligned inside it */
    size_t bytes_max;          /* 0: no limit, as for all limits here */
    tr_time cpu_max_ns;
    int64_t cpu_step_ns;
    uint32_t part_count;
    /* Written by any worker. */
    _Alignas(64) struct tally bytes;
    struct tally cpu_ns;
    /* a worker has found the tree over budget and writes over_*; no other worker does */
    atom32 is_claimed;
    atom32 over; /* enum budget_kind; set after over_used and over_holder are written */
    uint64_t over_used;
    char over_holder[128]; /* path of the actor that exceeded the limit */
    struct budget_part parts[];
};

/**
 * The budget record of an actor. Exists if a budget applies to the actor, or if it has a stack of
 * its own size. Owner only.
 */
struct budget {
    struct fiber_pool *stacks;    /* NULL: the pool of the worker; see actor/turn/stack.h */
    struct budget_tree *own_tree; /* NULL: the actor has no budget for its tree */
    struct budget_tree *tree;     /* the innermost tree that the actor is charged to, or NULL */
    size_t bytes_max;             /* limit of the actor alone */
    tr_time cpu_max_ns;
    bool is_timed;                  /* the actor or one of its trees has a limit of CPU time */
    size_t charged;                 /* bytes of the actor that the trees were charged for */
    size_t channel_bytes;           /* bytes of its channels: see tr__budget_channels */
    tr_time cpu_ns;                 /* CPU time of this incarnation so far */
    bool is_refused;                /* the last request for memory was refused */
    struct budget_tree *refused_by; /* the tree that refused; NULL: the actor's own budget */
    enum budget_kind over;
    uint64_t over_used;
};

/**
 * Returns the innermost tree that the children of an actor belong to; NULL for none. Owner only.
 */
static inline struct budget_tree *budget_above(const struct cell *cell)
{
    return cell->flags & CELL_METERED ? cell->extra->budget->tree : NULL;
}

/**
 * Whether an actor that starts with these options needs a budget record: a budget applies to it, or
 * it has a stack of its own size. `above`: the tree of its parent, or NULL.
 */
static inline bool budget_is_wanted(const tr_options *options, const struct budget_tree *above)
{
    return above || options->stack_bytes || options->budget_bytes || options->tree_budget_bytes ||
           options->budget_cpu_ns || options->tree_budget_cpu_ns;
}

/**
 * Makes the budget record of an actor that is about to be set up, and sets CELL_METERED. `above`:
 * the tree of its parent, or NULL. Returns TR_OK, TR_NO_MEMORY or TR_LIMIT. Owner only.
 */
TR_MUST_CHECK tr_status tr__budget_begin(struct worker *worker, struct cell *cell,
                                         const tr_options *options, struct budget_tree *above);

/**
 * Ends the budget of an actor: subtracts its share from the trees, frees the record and clears
 * CELL_METERED. Call it when the actor has released all it had. While the actor has a tree and
 * children, the record and the flag stay: call it again when the last child has gone. Owner only.
 */
void tr__budget_end(struct worker *worker, struct cell *cell);

/**
 * Resets the budget for the next incarnation. The last incarnation must have released all it had,
 * and its children must have ended. For a cell with CELL_METERED. Owner only.
 */
void tr__budget_renew(struct worker *worker, struct cell *cell);

/** Returns what an actor with a budget for its tree and all actors below it use together. Any thread. */
void tr__budget_tree_read(const struct budget_tree *tree, int64_t *bytes, int64_t *cpu_ns);

/**
 * Returns the bytes that an actor holds: see tr_options.budget_bytes. Looks at each channel of an
 * actor without CELL_METERED. Owner only.
 */
size_t tr__cell_bytes(const struct worker *worker, const struct cell *cell);

/* Unless stated otherwise, the functions below require CELL_METERED. Owner only. */

/**
 * Charges the bytes that the actor holds now. If a budget is exceeded, orders the actor that has
 * that budget to fail.
 */
void tr__budget_look(struct worker *worker, struct cell *cell);

/** Notes that the channels of the actor hold `more` bytes than before, then does tr__budget_look. */
void tr__budget_channels(struct worker *worker, struct cell *cell, int64_t more);

/** Whether the actor may take `bytes` more within all its budgets. If so, charges them at once. */
bool tr__budget_allows(struct worker *worker, struct cell *cell, size_t bytes);

/**
 * Ends the turn with TR_OVER_BUDGET if the last tr__budget_allows refused. If a tree refused, also
 * orders the actor of that tree to fail. Returns if no budget has refused the memory. `bytes`: the
 * amount that was to be charged; `asked_for`: the amount that user code asked for.
 */
void tr__budget_refuse(tr_self *self, size_t bytes, size_t asked_for);

/** Begins to measure the time of a turn that handles a message. */
void tr__budget_turn_begin(struct tr_self *self);
/** Begins to measure the next stretch of a turn that has waited. */
void tr__budget_turn_resume(struct tr_self *self);
/**
 * Charges the time and the bytes of a turn that begins to wait, is handed off or ends. At the end
 * of a turn, call it before the request is finished and the result is applied.
 */
void tr__budget_turn_end(struct tr_self *self);

/**
 * Begins a call of user code of `cell`, and charges the turn of worker_running until now, if there
 * is one. Only if budget_is_watched.
 */
void tr__budget_call_begin(struct worker *worker, struct cell *cell);
/** Ends tr__budget_call_begin: charges the call to `cell`. worker_running is the caller again. */
void tr__budget_call_end(struct worker *worker, struct cell *cell);

/** Whether a budget applies to the actor whose code is to be called, or to the actor that runs. */
static inline bool budget_is_watched(const struct worker *worker, const struct cell *cell)
{
    const struct cell *running = worker_running(worker);
    return (cell->flags | (running ? running->flags : 0)) & CELL_METERED;
}

/** Handles CONTROL_BUDGET. Returns false if the actor has failed; it may be gone then. */
bool tr__budget_handle_control(struct worker *worker, struct cell *cell);

/**
 * Adds the partial sums of this worker to the trees of their budgets. Called before the worker
 * sleeps. Worker only.
 */
void tr__budget_flush(struct worker *worker);

#endif
