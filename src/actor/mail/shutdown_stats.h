/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What each actor did while its system shut down: for the report (actor/system/report.c).
 *
 * Nothing is counted for single actors while a system works, so messages pay nothing for it. When
 * the actors are told to stop, a table is made with an entry for each slot; each worker, when one
 * of its actors hears of that or its next round begins, has its loop run actors by a function that
 * notes whose run it is, and what the worker has handled until the next run is that actor's.
 *
 * Rules:
 *   1. Any thread may add to an entry.
 *   2. When an actor has ended its numbers are taken, and its entry is marked: what is sent to it
 *      later is nobody's. What a worker handled before it knew of the shutdown is nobody's, too.
 *   3. Out of memory there is no table. Then no actor has numbers; the sums are as ever.
 */
#ifndef ACTOR_MAIL_SHUTDOWN_STATS_H
#define ACTOR_MAIL_SHUTDOWN_STATS_H

#include "os/atomic.h"

struct cell;
struct tr_system;
struct worker;

struct shutdown_stats_entry {
    atom32 handled; /* both stop short of LEDGER_ENDED, which says that the actor has ended */
    atom32 dead;
};

#define LEDGER_ENDED UINT32_MAX

/** The actors are about to be told to stop. Once, any thread. */
void tr__shutdown_stats_open(struct tr_system *system);
void tr__shutdown_stats_free(struct tr_system *system);
/** A worker learns that there may be a shutdown; the first time counts. Worker only. */
void tr__shutdown_stats_begin(struct worker *worker);
/** So many messages to this actor are dead letters. Any thread. */
void tr__shutdown_stats_dead(struct tr_system *system, uint64_t ref, uint32_t count);
/** An actor has ended: takes its numbers. False: there are none. Owner only. */
bool tr__shutdown_stats_take(struct worker *worker, const struct cell *cell, uint32_t *handled,
                             uint32_t *dead);
/** Adds what a worker that is stuck has handled in the run in which it is. By the thread that waits for the shutdown, at the end. */
void tr__shutdown_stats_add_run(struct worker *worker);
/** The numbers of the actor in a slot that has not ended; false: none, or both are 0. Any thread. */
bool tr__shutdown_stats_look(struct tr_system *system, uint32_t slot, uint32_t *handled,
                             uint32_t *dead);

#endif
