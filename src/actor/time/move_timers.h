/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The timers of an actor that moves to another worker.
 */
#ifndef ACTOR_TIME_MOVE_TIMERS_H
#define ACTOR_TIME_MOVE_TIMERS_H

#include <troupe/detail/base.h>

struct cell;
struct timer_parcel;
struct worker;

/**
 * Allocates the parcel in which the timers of an actor travel. Sets *parcel to NULL if the actor
 * has nothing to put into it. Returns false if the actor must stay: it has too many timers, two of
 * its timers are due at the same nanosecond, or there is no memory. Owner only.
 */
TR_MUST_CHECK bool tr__timers_reserve(struct worker *worker, const struct cell *cell,
                                      struct timer_parcel **parcel);
/** Frees a parcel that is not needed. NULL does nothing. Worker only. */
void tr__timers_unreserve(struct worker *worker, struct timer_parcel *parcel);
/**
 * Stops the receive timeout of an actor, and moves its timers into the parcel, which travels with
 * the actor. Owner only.
 */
void tr__timers_pack(struct worker *worker, struct cell *cell, struct timer_parcel *parcel);
/**
 * Starts the timers of an actor that has arrived. Returns false if some timers are lost, because
 * there was no memory. The new owner only.
 */
TR_MUST_CHECK bool tr__timers_unpack(struct worker *worker, struct cell *cell);
/**
 * Returns the number that a timer without a key has on this worker. If there is no alias for
 * `handle`, returns `handle` itself.
 */
uint64_t tr__timer_number(const struct cell *cell, uint64_t handle);

#endif
