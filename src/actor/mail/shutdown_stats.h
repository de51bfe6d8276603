/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What each actor did while its system shut down: for the report (actor/system/report.c).
 *
 * While a system works, nothing is counted for single actors, so that messages cost nothing more.
 * Just before the actors are asked to stop, the shutdown makes a table with an entry for each slot.
 * A worker notices the table when one of its actors is asked to stop, or at its next sweep
 * (tr__shutdown_sweep). From then on the loop of the worker calls a function that notes the slot of
 * the actor before it runs the actor. The messages that the worker handles until the next run count
 * for that actor.
 *
 * Rules:
 *   1. Any thread may add to an entry.
 *   2. When an actor has ended, its owner takes the numbers and marks the entry. Messages that are
 *      sent to the actor later count for no actor. Messages that a worker handled before it noticed
 *      the table count for no actor either.
 *   3. If there is no memory for the table, no actor has numbers. The sums are not affected.
 */
#ifndef ACTOR_MAIL_SHUTDOWN_STATS_H
#define ACTOR_MAIL_SHUTDOWN_STATS_H

#include "os/atomic.h"

struct cell;
struct tr_system;
struct worker;

struct shutdown_stats_entry {
    /*
     * Both numbers stay below SHUTDOWN_STATS_ENDED, however much is counted. SHUTDOWN_STATS_ENDED
     * itself means that the actor has ended.
     */
    atom32 handled;
    atom32 dead;
};

#define SHUTDOWN_STATS_ENDED UINT32_MAX

/** Makes the table. Called once, before the actors are asked to stop. Any thread. */
void tr__shutdown_stats_open(struct tr_system *system);
void tr__shutdown_stats_free(struct tr_system *system);
/**
 * Makes a worker count for single actors, if there is a table. Does nothing for a worker that
 * counts already. Worker only.
 */
void tr__shutdown_stats_begin(struct worker *worker);
/** Adds `count` dead letters to the entry of the actor that they were sent to. Any thread. */
void tr__shutdown_stats_dead(struct tr_system *system, uint64_t ref, uint32_t count);
/**
 * Takes the numbers of an actor that has ended, and marks its entry. Returns false if there is no
 * table, or if an earlier tenant of the slot has marked the entry. Owner only.
 */
bool tr__shutdown_stats_take(struct worker *worker, const struct cell *cell, uint32_t *handled,
                             uint32_t *dead);
/**
 * Adds the messages that a stuck worker has handled in its current run. The thread that waits for
 * the shutdown calls this when it gives up.
 */
void tr__shutdown_stats_add_run(struct worker *worker);
/**
 * Reads the numbers of the actor in a slot. Returns false if the actor has ended, if there is no
 * table, or if both numbers are 0. Any thread.
 */
bool tr__shutdown_stats_look(struct tr_system *system, uint32_t slot, uint32_t *handled,
                             uint32_t *dead);

#endif
