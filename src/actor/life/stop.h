/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stopping actors: first the children end, then the actor, then its parent is notified.
 */
#ifndef ACTOR_LIFE_STOP_H
#define ACTOR_LIFE_STOP_H

#include <troupe/status.h>
#include <troupe/behavior.h>

#include "actor/cell/signal.h"
#include "actor/cell/worker.h"

struct cell;
struct worker;

/**
 * Finishes an actor that is Stopping and has no children any more: sends PostStop, makes dead
 * letters of its mail, releases what it had, and makes it Stopped. Owner only.
 */
void tr__cell_finish(struct worker *worker, struct cell *cell);

/**
 * Ends an actor whose set-up failed or never began. The actor gets no signal. `reason` becomes the
 * reason of its dead letters. Owner only.
 */
void tr__cell_end_unborn(struct worker *worker, struct cell *cell, tr_status reason);

/**
 * Hands a Stopped cell to its parent's worker. Does nothing while the cell has children, or while a
 * post of the cell is on its way. The worker calls this function again when the last child has
 * gone, or when the post has arrived. Owner only.
 */
void tr__cell_leave(struct worker *worker, struct cell *cell);

/**
 * Calls the handler of the last signal of an incarnation that ends: PostStop or PreRestart. A
 * failure of the handler is logged and counted, and has no other effect. `handler` may be NULL.
 * Owner only.
 */
void tr__cell_last_words(struct worker *worker, struct cell *cell, enum turn_kind kind,
                         const tr_handler *handler, const void *message, const char *name);

/**
 * Takes the name of an actor, if it has one, out of the directory. The path of the actor can still
 * be read. Owner only.
 */
void tr__cell_unname(struct worker *worker, struct cell *cell);

/**
 * Releases what an actor had: its heap, its state, its extra, and its name in the directory. If
 * children still need the budget of the actor, the budget stays until tr__cell_leave. The origin
 * and the path are freed later. Owner only.
 */
void tr__cell_release(struct worker *worker, struct cell *cell);

#endif
