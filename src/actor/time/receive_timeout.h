/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The receive timeout of an actor: tr_set_receive_timeout. All functions: owner only.
 */
#ifndef ACTOR_TIME_RECEIVE_TIMEOUT_H
#define ACTOR_TIME_RECEIVE_TIMEOUT_H

struct cell;
struct cell_idle;
struct envelope;
struct worker;

/**
 * Delivers a receive timeout that is due. Does not deliver it if the actor has handled a message
 * meanwhile, or has one queued.
 */
void tr__idle_fire(struct worker *worker, struct cell_idle *idle);

/** Removes the receive timeout, if the actor has one. */
void tr__idle_drop(struct worker *worker, struct cell *cell);

/**
 * Notes that the turn of `event` starts. If `event` is the tr_receive_timeout of this actor, it
 * belongs to that turn now, and no longer to the receive timeout.
 */
void tr__idle_arrived(struct cell *cell, const struct envelope *event);

/** Starts the receive timeout again, because a message is about to be handled. */
void tr__idle_touch(struct worker *worker, struct cell *cell);

/**
 * Stops the receive timeout while an actor is Suspended or has a turn that waits. tr__idle_resume
 * starts the timeout again with its full time.
 */
void tr__idle_pause(struct worker *worker, struct cell *cell);
void tr__idle_resume(struct worker *worker, struct cell *cell);

#endif
