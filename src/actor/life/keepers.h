/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a shutdown does to the tree of actors. First /user gets the order to stop, and then the
 * keepers, which are the parents of the durable actors. See rule 6 of actor/system/shutdown.h.
 */
#ifndef ACTOR_LIFE_KEEPERS_H
#define ACTOR_LIFE_KEEPERS_H

struct cell;
struct tr_system;
struct worker;

/**
 * Orders the keepers to stop. Only the first call has an effect. All durable actors that were woken
 * must be in their parents' lists by now. Worker 0 only.
 */
void tr__keepers_tell(struct worker *worker);
/**
 * Refuses all further wakes of durable actors. When no wake is under way any more, orders the
 * keepers to stop. Worker 0 only.
 */
void tr__keepers_close(struct worker *worker);

/**
 * Orders /user to stop. To be called once, when no spawn from outside (tr__spawn_enter) is under
 * way any more. Any thread.
 */
void tr__shutdown_tell(struct tr_system *system);
/**
 * Notes that /user begins to stop, and sets the alarm of worker 0 for the shutdown. Worker 0 only.
 */
void tr__shutdown_guardian(struct worker *worker);
/**
 * Calls tr__keepers_close if `parent` is /user and it is time for the keepers to stop. To be called
 * when a child of /user is gone, and when the children of /user have been ordered to stop. Does
 * nothing for other parents. Owner of `parent` only.
 */
void tr__shutdown_look(struct worker *worker, struct cell *parent);
/** Makes all workers sweep (tr__shutdown_sweep) in their next round. Any thread. */
void tr__shutdown_ask(struct tr_system *system);

#endif
