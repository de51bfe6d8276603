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
 * Follows the messages that an actor handles from now on. Returns TR_OK. Returns TR_LIMIT if
 * TR_FOLLOWED_MAX other actors are marked already. Each call needs a call of tr__follow_unmark. Any
 * thread, between tr__follow_open and tr__follow_close.
 */
TR_MUST_CHECK tr_status tr__follow_mark(struct tr_system *system, uint64_t actor);
void tr__follow_unmark(struct tr_system *system, uint64_t actor);

/**
 * Follows a turn that begins, if its causal id or its actor is marked to be followed. This function
 * and those below: Owner only.
 */
void tr__follow_begin(struct tr_self *self);
/** Stops following this turn, because its handler has returned. */
void tr__follow_end(struct tr_self *self, tr_next next);
/**
 * To be called when the causal id of a turn has changed. Stops following the turn by its old id. If
 * the new id is to be followed, follows the turn by its new id. The caller calls tr__follow_end
 * later.
 */
void tr__follow_again(struct tr_self *self);
/** As tr__follow_end, but for a turn that tr_crash or a fault has ended, or that was abandoned. */
void tr__follow_crashed(struct tr_self *self);

#endif
