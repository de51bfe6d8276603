/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Budgets of bytes and of CPU time, of an actor alone and of the tree below it.
 *
 * Nothing is counted for them as it happens. What an actor holds can be read from its cell at any
 * time (tr__cell_bytes); an actor to which a budget applies, its own or an ancestor's, has the flag
 * CELL_METERED, and where that is set somebody looks: when mail arrives, when memory is asked for,
 * and when a turn has ended. What has changed since the last look goes to the trees that the actor
 * is in, as partial sums per worker (queue/tally.h).
 *
 *   1. A tree belongs to one cell and lives until no actor is left below it, so that a descendant
 *      may always use it. The descendant's end takes its share out and its worker's part off the
 *      worker's list.
 *   2. Over budget is found by whoever looks, on any worker, and once: the error text is written, then
 *      CONTROL_BUDGET set at the cell whose budget it is. That actor fails between two turns.
 *   3. Time is exclusive: worker->budget_mark_ns is when the present user code of a worker began, or
 *      was last charged. A set-up inside a turn is charged to the actor that is set up.
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
    BUDGET_STEP_BYTES = 64 * 1024, /* what a worker may keep to itself */
    BUDGET_STEP_NS = 1000 * 1000   /* what all workers together may */
};

enum budget_kind { BUDGET_NONE, BUDGET_BYTES, BUDGET_CPU };

/** A worker's share of a tree. On a line of its own. */
struct budget_part {
    _Alignas(64) struct tally_part bytes;
    struct tally_part cpu_ns;
    struct list link; /* in worker->budget_parts, when something may be held */
    struct budget_tree *tree;
    uint64_t holder; /* the ref of who added last */
};

/** What an actor and all below it use together. */
struct budget_tree {
    /* Constant. */
    struct budget_tree *above; /* of the next ancestor that has one, or NULL */
    struct cell *cell;         /* whose it is */
    void *memory;              /* what the source gave; the tree is aligned inside it */
    size_t bytes_max;          /* 0: none; so with all limits */
    tr_time cpu_max_ns;
    int64_t cpu_step_ns;
    uint32_t part_count;
    /* Written by any worker. */
    _Alignas(64) struct tally bytes;
    struct tally cpu_ns;
    atom32 is_claimed; /* somebody has found it over budget, and writes the error text, once: */
    atom32 over;       /* enum budget_kind, set when it is written */
    uint64_t over_used;
    char over_holder[128]; /* a path */
    struct budget_part parts[];
};

/** What is kept of an actor to which a budget applies. Owner only. */
struct budget {
    struct budget_tree *own_tree; /* NULL: it has no budget for its tree */
    struct budget_tree *tree;     /* the first that it is charged to, its own included, or NULL */
    size_t bytes_max;             /* of the actor alone */
    tr_time cpu_max_ns;
    bool is_timed;                  /* its time is wanted, by itself or by a tree */
    size_t charged;                 /* the bytes that the trees know of */
    tr_time cpu_ns;                 /* so far */
    bool is_refused;                /* the last memory that was asked for, */
    struct budget_tree *refused_by; /* by this tree, NULL for the actor alone */
    enum budget_kind over;
    uint64_t over_used;
};

/** The tree that children of an actor are in; NULL for none. Owner only. */
static inline struct budget_tree *budget_above(const struct cell *cell)
{
    return cell->flags & CELL_METERED ? cell->extra->budget->tree : NULL;
}

/** Whether a budget applies to an actor that begins with these options below this tree. */
static inline bool budget_is_wanted(const tr_options *options, const struct budget_tree *above)
{
    return above || options->budget_bytes || options->tree_budget_bytes || options->budget_cpu_ns ||
           options->tree_budget_cpu_ns;
}

/** An actor is about to be set up: begins to keep its budget. TR_NO_MEMORY. Owner only. */
TR_MUST_CHECK tr_status tr__budget_begin(struct worker *worker, struct cell *cell,
                                         const tr_options *options, struct budget_tree *above);

/**
 * An actor has given back all it had, or its last child has gone. Takes its share out of the trees
 * and frees what no child needs any more; then the flag is gone. Owner only.
 */
void tr__budget_end(struct worker *worker, struct cell *cell);

/** An incarnation has given back all it had, and the next one begins. Owner only; with the flag. */
void tr__budget_renew(struct worker *worker, struct cell *cell);

/** What an actor that is set up holds, in bytes: see tr_options.budget_bytes. Owner only. */
size_t tr__cell_bytes(const struct cell *cell);

/** Looks at what the actor holds. Owner only; of a cell with the flag, as are those that follow. */
void tr__budget_look(struct worker *worker, struct cell *cell);

/** Whether so many bytes more are within all budgets; they are then as good as taken. */
bool tr__budget_allows(struct worker *worker, struct cell *cell, size_t bytes);

/**
 * When that was refused: ends the turn, and fails whose budget it is. Otherwise returns: it was not
 * for a budget that the memory could not be had.
 */
void tr__budget_refuse(tr_self *self, size_t bytes, size_t asked_for);

/** A message's turn begins, and ends: all is done but what its result asks for. */
void tr__budget_turn_begin(struct tr_self *self);
void tr__budget_turn_resume(struct tr_self *self);
void tr__budget_turn_end(struct tr_self *self);

/**
 * A call of an actor's code begins inside whatever the worker runs, and ends; worker->running is who
 * called. For calls where budget_is_watched.
 */
void tr__budget_call_begin(struct worker *worker, struct cell *cell);
void tr__budget_call_end(struct worker *worker, struct cell *cell);

static inline bool budget_is_watched(const struct worker *worker, const struct cell *cell)
{
    const struct cell *running = worker_running(worker);
    return (cell->flags | (running ? running->flags : 0)) & CELL_METERED;
}

/** CONTROL_BUDGET was found. False when the actor has failed, and may be gone. */
bool tr__budget_handle_control(struct worker *worker, struct cell *cell);

/** Hands in what this worker holds. Before it sleeps. */
void tr__budget_flush(struct worker *worker);

#endif
