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
 * Makes the parcel in which the timers go along; NULL when there is nothing to put in. False: they are
 * too many, or out of memory, and the actor stays.
 */
TR_MUST_CHECK bool tr__timers_reserve(struct worker *worker, const struct cell *cell,
                                      struct timer_parcel **parcel);
/** It is not needed after all. NULL does nothing. */
void tr__timers_unreserve(struct worker *worker, struct timer_parcel *parcel);
/** Puts the timers into their parcel, which the actor takes along. NULL: there are none. */
void tr__timers_pack(struct worker *worker, struct cell *cell, struct timer_parcel *parcel);
/** It has arrived. False when out of memory: some timers are gone. */
TR_MUST_CHECK bool tr__timers_unpack(struct worker *worker, struct cell *cell);
/** The number under which this worker knows a timer without a key; what is none stays as it is. */
uint64_t tr__timer_number(const struct cell *cell, uint64_t handle);

#endif
