/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that are followed: actor/cell/follow.h.
 */
#ifndef ACTOR_TURN_FOLLOW_TURN_H
#define ACTOR_TURN_FOLLOW_TURN_H

#include <troupe/behavior.h>

struct tr_self;
struct tr_system;

/**
 * Begins to follow: from now on each worker looks at the causal ids of its turns. Each call is ended by one of
 * tr__follow_close. TR_NO_MEMORY. Any thread.
 */
TR_MUST_CHECK tr_status tr__follow_open(struct tr_system *system);
void tr__follow_close(struct tr_system *system);
/**
 * Follows the messages that an actor handles from now on. TR_LIMIT: TR_FOLLOWED_MAX others are marked. Each call is
 * ended by one of tr__follow_unmark. Any thread, between tr__follow_open and tr__follow_close.
 */
TR_MUST_CHECK tr_status tr__follow_mark(struct tr_system *system, uint64_t actor);
void tr__follow_unmark(struct tr_system *system, uint64_t actor);

/** A turn begins. Owner only, as those below. */
void tr__follow_begin(struct tr_self *self);
/** The handler of a turn that is followed has returned. */
void tr__follow_end(struct tr_self *self, tr_next next);
/**
 * The turn has got another causal id: what it has begun with ends, and it may be followed by the new one. The caller ends that
 * by tr__follow_end.
 */
void tr__follow_again(struct tr_self *self);
/** A turn that is followed was ended by tr_crash, a fault, or because it was abandoned. */
void tr__follow_crashed(struct tr_self *self);

#endif
