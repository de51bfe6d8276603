/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a shutdown does to the tree of actors: /user is told to stop, and then the keepers, which are above the durable
 * actors. Rule 6 of actor/system/shutdown.h.
 */
#ifndef ACTOR_LIFE_KEEPERS_H
#define ACTOR_LIFE_KEEPERS_H

struct cell;
struct tr_system;
struct worker;

/** Tells the keepers to stop, once: all durable actors that were woken are linked. Worker 0 only. */
void tr__keepers_tell(struct worker *worker);
/** Lets nobody wake a durable actor any more. Worker 0 only. */
void tr__keepers_close(struct worker *worker);

/** Tells /user to stop: no spawn that no parent makes is under way any more. Once, any thread. */
void tr__shutdown_tell(struct tr_system *system);
/** /user begins to stop. Worker 0 only. */
void tr__shutdown_guardian(struct worker *worker);
/** A child of /user is gone, or all were told: tells the keepers if it is time. Worker 0 only. */
void tr__shutdown_look(struct worker *worker, struct cell *parent);
/** Asks all workers for a sweep. Any thread. */
void tr__shutdown_ask(struct tr_system *system);

#endif
