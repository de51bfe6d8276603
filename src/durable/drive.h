/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The driver of the sleep machine (sleep/sleep.h): performs the steps that the machine returns.
 */
#ifndef DURABLE_DRIVE_H
#define DURABLE_DRIVE_H

#include "durable/actor.h"

/** Does what the machine says. `is_apart`: no turn of the actor is on the stack but one of drive.c. */
void tr__durable_drive(struct worker *worker, struct durable_actor *actor, bool is_apart);
/** Tells the actor to drive itself, if nobody has. */
void tr__durable_nudge(struct worker *worker, struct durable_actor *actor);
/** A command of the authority, or what follows from an answer of it. */
void tr__durable_take_answer(struct worker *worker, struct durable_actor *actor,
                             const struct authority_answer *answer);
void tr__durable_stop(struct worker *worker, struct cell *cell);
void tr__durable_leave(struct worker *worker, struct cell *cell);
void tr__durable_skipped(struct worker *worker, struct cell *cell);
/** The end of a turn of the runtime that found nothing to do: one message less waits. Returns TR_SAME. */
tr_next tr__durable_skip(struct tr_self *self);
void tr__durable_wake_timer(struct worker *worker, struct cell *cell);
void tr__durable_end(struct worker *worker, struct cell *cell, struct durable *durable);
/** Arms the actor's timer for what comes first. */
void tr__durable_arm(struct worker *worker, struct durable_actor *actor);

#endif
