/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How actors end: children first, then the actor, then its parent is told.
 */
#ifndef ACTOR_LIFE_STOP_H
#define ACTOR_LIFE_STOP_H

#include <troupe/status.h>
#include <troupe/behavior.h>

#include "actor/cell/worker.h"

struct cell;
struct worker;

/** Its children are gone: PostStop, leftovers, release, Stopped. Owner only. */
void tr__cell_finish(struct worker *worker, struct cell *cell);

/** An actor whose set-up failed, or that never began, ends without a signal. Owner only. */
void tr__cell_end_unborn(struct worker *worker, struct cell *cell, tr_status reason);

/** A closed cell's post has arrived, or none was on its way: leaves its parent. Owner only. */
void tr__cell_leave(struct worker *worker, struct cell *cell);

/**
 * Calls the handler of a signal whose failure changes nothing any more: it is logged and counted. `handler`
 * may be NULL.
 */
void tr__cell_last_words(struct worker *worker, struct cell *cell, enum turn_kind kind,
                         const tr_handler *handler, const void *message, const char *name);

/** Takes a tenant's name, if it has one, out of the directory; its path can still be read. */
void tr__cell_unname(struct worker *worker, struct cell *cell);

/** Gives back what a tenant had: state, heap, name, setup. */
void tr__cell_release(struct worker *worker, struct cell *cell);

#endif
