/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Following turns: recording what a turn does. See actor/cell/follow.h.
 */
#ifndef ACTOR_TURN_FOLLOW_TURN_H
#define ACTOR_TURN_FOLLOW_TURN_H

#include <troupe/behavior.h>

struct tr_self;
struct tr_system;

/**
 * Begins to follow: from now on each worker looks at the causal ids of its turns. Each call needs a
 * call of tr__follow_close. Returns TR_OK or TR_NO_MEMORY. Any thread.
 */
TR_MUST_CHECK tr_status tr__follow_open(struct tr_system *system);
void tr__follow_close(struct tr_system *system);
/**
 * Follows the messages that an actor handles from now on. Returns TR_OK, or TR_LIMIT if
 * TR_FOLLOWED_MAX others are marked. Each call needs a call of tr__follow_unmark. Any thread,
 * between tr__follow_open and tr__follow_close.
 */
TR_MUST_CHECK tr_status tr__follow_mark(struct tr_system *system, uint64_t actor);
void tr__follow_unmark(struct tr_system *system, uint64_t actor);

/**
 * Follows a turn that begins, if its causal id or its actor is to be followed. This and the
 * functions below: Owner only.
 */
void tr__follow_begin(struct tr_self *self);
/** Does not follow this turn any further, because its handler has returned. */
void tr__follow_end(struct tr_self *self, tr_next next);
/**
 * The causal id of a turn has changed: the turn is not followed by the old id any more, but by the
 * new one if that is to be followed. The caller calls tr__follow_end later.
 */
void tr__follow_again(struct tr_self *self);
/** As tr__follow_end, for a turn that was ended by tr_crash or a fault, or that was abandoned. */
void tr__follow_crashed(struct tr_self *self);

#endif
