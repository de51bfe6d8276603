/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schedules of a system: messages and calls that fall due later, asked for by any thread.
 *
 * A schedule is one block with its message, made by who asks, so that lack of memory is that
 * caller's status. All are in one wheel, under one lock, which any thread may take; worker 0 fires
 * what is due. It reads `next_ns` without the lock, and who has put something into the wheel nudges
 * it. What a schedule calls is called by an actor of its own, a child of /user that does not count
 * as one (CELL_CALLS), on worker 0; its ticks are messages to that actor.
 *
 * Rules.
 * 1. A schedule is in the table from its making until it is removed, and freed when it is removed.
 * 2. While `is_firing`, or while its turn runs, the block is worker 0's: others only mark it.
 * 3. `cell` is that of its actor as long as the schedule is in the table: an actor that ends takes
 *    its schedule out first (tr__schedule_orphan), under the lock.
 * 4. Under the lock nothing is sent, logged or called that is a user's.
 */
#ifndef ACTOR_VERBS_SCHEDULE_H
#define ACTOR_VERBS_SCHEDULE_H

#include "mem/source.h"

struct cell;
struct schedule;
struct schedules;
struct worker;

/** Where a schedule is found by its number: the place's generation and its index, from 1. */
struct schedule_place {
    struct schedule *schedule; /* NULL: free */
    uint32_t generation;
    uint32_t free_next; /* of a free place: the next one, from 1; 0 for none */
};

/** `seed` makes the numbers of this system differ from another's. */
void tr__schedules_init(struct schedules *schedules, tr_time now_ns, uint64_t seed);
/** Frees what is left; nothing runs any more. */
void tr__schedules_deinit(struct schedules *schedules, const struct memory_source *source);

/** Fires what is due. True when more is due than one round may fire. Worker only. */
bool tr__schedules_fire(struct worker *worker, tr_time now_ns);

/** When something falls due next for this worker. */
tr_time tr__schedules_next(const struct worker *worker);

#endif
