/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Budgets of bytes and of CPU time, for an actor alone and for the tree of an actor and its
 * descendants.
 *
 * No counter is updated for each allocation or message, because the bytes that an actor holds can
 * be computed from its cell at any time (tr__cell_bytes). Only the bytes of its channels, which may
 * be many, are counted when they change, and only for actors to which a budget applies. An actor to
 * which a budget applies, its own or an ancestor's, has the flag CELL_METERED. The worker computes
 * the bytes of such an actor when mail arrives, when the actor asks for memory, and when a turn
 * waits or ends. It adds the difference to the last result to the trees that the actor is in. Each
 * tree has a partial sum for each worker (queue/tally.h).
 *
 * Rules:
 *   1. A tree belongs to one cell, and exists until no actor is left below that cell. So a
 *      descendant may always use its trees. When a descendant ends, its share is subtracted, and
 *      the part of its worker is removed from the worker's list.
 *   2. Any worker can find that a tree is over its budget. Only the first worker reports it: it
 *      writes the error text, then sets CONTROL_BUDGET at the cell that has the budget. That actor
 *      fails between two turns.
 *   3. CPU time is charged to one actor only. worker->budgets.mark_ns is the time up to which the
 *      user code that runs was charged. If that code was not charged yet, mark_ns is the time when
 *      the code began. A set-up inside a turn is charged to the actor that is set up.
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
    /* how many bytes the part of one worker may have before they are added to the tree */
    BUDGET_STEP_BYTES = 64 * 1024,
    /*
     * how much CPU time the parts of all workers together may have before it is added to the tree
     */
    BUDGET_STEP_NS = 1000 * 1000
};

enum budget_kind { BUDGET_NONE, BUDGET_BYTES, BUDGET_CPU };

/** A worker's part of the sums of a tree. On a cache line of its own. */
struct budget_part {
    _Alignas(64) struct tally_part bytes;
    struct tally_part cpu_ns;
    struct list link; /* in worker->budgets.parts; in no list while the part is empty */
    struct budget_tree *tree;
    uint64_t holder; /* the ref of the actor that was charged last */
};

/** What an actor and all its descendants use together. */
struct budget_tree {
    /* Constant. */
    struct budget_tree *above; /* the tree of the nearest ancestor that has a tree, or NULL */
    struct cell *cell;         /* the actor that has the budget */
    /* the allocation that contains the tree; the tree is aligned inside it */
    void *memory;
    size_t bytes_max; /* 0: no limit. This holds for all limits here. */
    tr_time cpu_max_ns;
    int64_t cpu_step_ns;
    uint32_t part_count;
    /* Any worker may write the members from here on. */
    _Alignas(64) struct tally bytes;
    struct tally cpu_ns;
    /*
     * A worker has found that the tree is over budget, and writes over_*. No other worker may write
     * over_* meanwhile.
     */
    atom32 is_claimed;
    atom32 over; /* enum budget_kind; written after over_used and over_holder */
    uint64_t over_used;
    char over_holder[128]; /* the path of the actor whose use exceeded the limit */
    struct budget_part parts[];
};

/**
 * The budget record of an actor. An actor has one if a budget applies to the actor, or if its
 * stacks have a size of their own. Owner only.
 */
struct budget {
    /* the pool of the actor's stacks; NULL: the pool of the worker. See actor/turn/stack.h. */
    struct fiber_pool *stacks;
    struct budget_tree *own_tree; /* NULL: the actor has no budget for its tree */
    struct budget_tree *tree;     /* the innermost tree to which the actor is charged, or NULL */
    size_t bytes_max;             /* the limit for the actor alone */
    tr_time cpu_max_ns;
    bool is_timed;  /* the actor or one of its trees has a limit of CPU time */
    size_t charged; /* how many bytes of the actor the trees count now */
    /* how many bytes the actor's channels hold: see tr__budget_channels */
    size_t channel_bytes;
    tr_time cpu_ns;  /* CPU time of this incarnation so far */
    bool is_refused; /* the last request for memory was refused */
    /* if is_refused: the tree that refused the request; NULL: the actor's own budget refused it */
    struct budget_tree *refused_by;
    enum budget_kind over;
    uint64_t over_used;
};

/**
 * Returns the innermost tree to which the children of an actor are charged; NULL for none. Owner
 * only.
 */
static inline struct budget_tree *budget_above(const struct cell *cell)
{
    return cell->flags & CELL_METERED ? cell->extra->budget->tree : NULL;
}

/**
 * Whether an actor that starts with these options needs a budget record, because a budget applies
 * to the actor or because its stacks have a size of their own. `above`: the tree of its parent, or
 * NULL.
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
 * CELL_METERED. To be called when the actor has released all it had. While the actor has a tree and
 * children, the record and the flag stay. Then this must be called again when the last child is
 * gone. Owner only.
 */
void tr__budget_end(struct worker *worker, struct cell *cell);

/**
 * Resets the budget of an actor with CELL_METERED for its next incarnation. The last incarnation
 * must have released all it had, and its children must have ended. Owner only.
 */
void tr__budget_renew(struct worker *worker, struct cell *cell);

/** Reads what an actor with a tree and all its descendants use together. Any thread. */
void tr__budget_tree_read(const struct budget_tree *tree, int64_t *bytes, int64_t *cpu_ns);

/**
 * Returns the number of bytes that an actor holds: see tr_options.budget_bytes. For an actor
 * without CELL_METERED this looks at each channel of the actor. Owner only.
 */
size_t tr__cell_bytes(const struct worker *worker, const struct cell *cell);

/* The functions below require CELL_METERED, unless they say otherwise. Owner only. */

/**
 * Charges the bytes that the actor holds now. If a budget is exceeded, orders the actor with that
 * budget to fail.
 */
void tr__budget_look(struct worker *worker, struct cell *cell);

/**
 * Notes that the channels of the actor hold `more` bytes than before. Then does the same as
 * tr__budget_look.
 */
void tr__budget_channels(struct worker *worker, struct cell *cell, int64_t more);

/** Whether all budgets of the actor allow `bytes` more. If they do, charges these bytes at once. */
bool tr__budget_allows(struct worker *worker, struct cell *cell, size_t bytes);

/**
 * If the last tr__budget_allows has refused, ends the turn with TR_OVER_BUDGET. If a tree has
 * refused, also orders the actor of that tree to fail. If no budget has refused, returns. `bytes`
 * is the amount that was to be charged, and `asked_for` is the amount that user code asked for.
 */
void tr__budget_refuse(tr_self *self, size_t bytes, size_t asked_for);

/** Begins to measure the time of a turn that handles a message. */
void tr__budget_turn_begin(struct tr_self *self);
/** Begins to measure the next stretch of a turn that has waited. */
void tr__budget_turn_resume(struct tr_self *self);
/**
 * Charges the time and the bytes of a turn that begins to wait, is handed off or ends. At the end
 * of a turn, the caller must do this before it finishes the request and applies the result.
 */
void tr__budget_turn_end(struct tr_self *self);

/**
 * Begins a call of user code of `cell`. If a turn runs, charges its time until now to the actor
 * that runs. Only if budget_is_watched.
 */
void tr__budget_call_begin(struct worker *worker, struct cell *cell);
/**
 * Ends what tr__budget_call_begin has begun: charges the time of the call to `cell`. Called after
 * worker_set_running was called again for the actor that ran before the call.
 */
void tr__budget_call_end(struct worker *worker, struct cell *cell);

/**
 * Whether a budget applies to the actor whose code is about to be called, or to the actor that runs
 * now.
 */
static inline bool budget_is_watched(const struct worker *worker, const struct cell *cell)
{
    const struct cell *running = worker_running(worker);
    return (cell->flags | (running ? running->flags : 0)) & CELL_METERED;
}

/** Handles CONTROL_BUDGET. Returns false if the actor has failed; then the actor may be gone. */
bool tr__budget_handle_control(struct worker *worker, struct cell *cell);

/**
 * Adds the partial sums of this worker to their trees. Called before the worker sleeps. Worker
 * only.
 */
void tr__budget_flush(struct worker *worker);

#endif
