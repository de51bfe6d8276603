/* SPDX-License-Identifier: Apache-2.0 */
/** Performs the steps that the sleep machine (sleep/sleep.h) returns. */
#ifndef DURABLE_DRIVE_H
#define DURABLE_DRIVE_H

#include "durable/actor.h"

/**
 * Performs the steps of the sleep machine that are due. `is_apart` says that no turn of the actor
 * is on the stack, except tr__durable_drive_turn. If it is false, steps that end turns are left for
 * later, and a message makes the actor perform them (tr__durable_nudge).
 */
void tr__durable_drive(struct worker *worker, struct durable_actor *actor, bool is_apart);
/** Sends the actor a tr_durable_driven, unless such a message is on its way. */
void tr__durable_nudge(struct worker *worker, struct durable_actor *actor);
/**
 * Applies an answer of the authority. Takes its receipt, and obeys its command to stop if there is
 * one.
 */
void tr__durable_take_answer(struct worker *worker, struct durable_actor *actor,
                             const struct authority_answer *answer);
/* The next three functions, and tr__durable_wake_timer and tr__durable_end, are members of
 * durable_hooks; see actor/cell/durable.h. */
void tr__durable_stop(struct worker *worker, struct cell *cell);
void tr__durable_leave(struct worker *worker, struct cell *cell);
void tr__durable_skipped(struct worker *worker, struct cell *cell);
/**
 * Ends a turn of the runtime that found nothing to do, and reports to the sleep machine that this
 * message no longer waits. Returns TR_SAME.
 */
tr_next tr__durable_skip(struct tr_self *self);
void tr__durable_wake_timer(struct worker *worker, struct cell *cell);
void tr__durable_end(struct worker *worker, struct cell *cell, struct durable *durable);
/**
 * Arms the timer of the actor for the earliest of its deadlines: due_ns, save_ns, look_ns, and the
 * times at which the notes of both ends are sent again.
 */
void tr__durable_arm(struct worker *worker, struct durable_actor *actor);

#endif
