/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a shutdown does to the tree of actors. First /user is ordered to stop, then the keepers: the
 * parents of the durable actors. See rule 6 of actor/system/shutdown.h.
 */
#ifndef ACTOR_LIFE_KEEPERS_H
#define ACTOR_LIFE_KEEPERS_H

struct cell;
struct tr_system;
struct worker;

/**
 * Orders the keepers to stop; further calls do nothing. All durable actors that were woken must be
 * in their parents' lists. Worker 0 only.
 */
void tr__keepers_tell(struct worker *worker);
/**
 * Refuses all further wakes of durable actors, and orders the keepers to stop when none is under
 * way. Worker 0 only.
 */
void tr__keepers_close(struct worker *worker);

/**
 * Orders /user to stop. Requires that no spawn from outside (tr__spawn_enter) is under way any
 * more. To be called once. Any thread.
 */
void tr__shutdown_tell(struct tr_system *system);
/**
 * Notes that /user begins to stop, and sets the alarm of worker 0 for the shutdown. Worker 0 only.
 */
void tr__shutdown_guardian(struct worker *worker);
/**
 * Calls tr__keepers_close if `parent` is /user and it is time for the keepers to stop. To be called
 * when a child of /user has gone, and when the children of /user were ordered to stop. Does nothing
 * for other parents. Owner of `parent` only.
 */
void tr__shutdown_look(struct worker *worker, struct cell *parent);
/** Makes all workers sweep (tr__shutdown_sweep) in their next round. Any thread. */
void tr__shutdown_ask(struct tr_system *system);

#endif
