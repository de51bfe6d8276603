/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schedules of a system: messages and calls that fall due later. Any thread may make one.
 *
 * A schedule and its message are one block. The thread that makes the schedule allocates the block,
 * so that its caller gets the error if memory is short. All schedules are in one wheel, under one
 * lock, which any thread may take. Worker 0 fires the schedules that are due. It reads `next_ns`
 * without the lock, and a thread that has added a schedule to the wheel nudges it. A schedule that
 * calls a function has an actor of its own, which makes the call. That actor runs on worker 0. It
 * is a child of /user that does not count as a child (CELL_CALLS). The ticks of the schedule are
 * messages to that actor.
 *
 * Rules.
 * 1. A schedule is in the table until it is removed. Removing a schedule frees it.
 * 2. While `is_firing`, or while the turn of its call runs, the block belongs to worker 0. Other
 *    threads only set `is_cancelled`.
 * 3. `cell` is the cell of the schedule's actor as long as the schedule is in the table, because an
 *    actor that ends removes its schedule first (tr__schedule_orphan), under the lock.
 * 4. Under the lock no message is sent, nothing is logged, and no function of a user is called.
 */
#ifndef ACTOR_VERBS_SCHEDULE_H
#define ACTOR_VERBS_SCHEDULE_H

#include "mem/source.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "timer/wheel.h"

struct cell;
struct schedule;
struct worker;

struct schedule_place;

/** Schedules. */
struct schedules {
    struct lock lock;
    atom64 next_ns; /* when worker 0 has to look at the schedules next; written under the lock */
    /* Under the lock: */
    struct wheel wheel;
    struct schedule_place *places;
    uint32_t place_count;
    uint32_t free_first;
    uint32_t count;
    uint32_t generation_first;
    uint64_t causal_next;
};

/**
 * A place of the table of schedules. The number of a schedule is the generation of its place in the
 * upper half, and the index of the place, from 1, in the lower half.
 */
struct schedule_place {
    struct schedule *schedule; /* NULL: free */
    uint32_t generation;
    /* for a free place: the index of the next free place, counted from 1; 0: none */
    uint32_t free_next;
};

/**
 * Initializes the schedules of a system. Because of `seed`, the numbers of schedules differ from
 * those in other systems.
 */
void tr__schedules_init(struct schedules *schedules, tr_time now_ns, uint64_t seed);
/** Frees the schedules that are left. No worker may run any more. */
void tr__schedules_deinit(struct schedules *schedules, const struct memory_source *source);

/**
 * Fires the schedules that are due. Does nothing on any worker but worker 0. Returns true if more
 * schedules are due than one round may fire. Worker only.
 */
bool tr__schedules_fire(struct worker *worker, tr_time now_ns);

/**
 * Returns the time at which worker 0 must fire schedules next; TR_NEVER for other workers. Any
 * thread.
 */
tr_time tr__schedules_next(const struct worker *worker);

#endif
