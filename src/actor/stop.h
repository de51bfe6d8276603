/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How actors end: children first, then the actor, then its parent is told.
 */
#ifndef ACTOR_STOP_H
#define ACTOR_STOP_H

#include "actor/system.h"

/** A running actor begins to stop. It may be gone when this returns. Owner only. */
void tr__cell_stop(struct worker *worker, struct cell *cell, bool by_kill);

/** Its children are gone: PostStop, leftovers, release, Stopped. Owner only. */
void tr__cell_finish(struct worker *worker, struct cell *cell);

/** An actor whose set-up failed, or that never began, ends without a signal. Owner only. */
void tr__cell_end_unborn(struct worker *worker, struct cell *cell, tr_status reason);

/** A closed cell's post has arrived, or none was on its way: leaves its parent. Owner only. */
void tr__cell_leave(struct worker *worker, struct cell *cell);

/** A child has ended: the parent's worker takes it out and frees its slot. */
void tr__child_gone(struct worker *worker, struct cell *child);

/** Tells all children to stop, or kills them. Owner of the parent only. */
void tr__children_stop(struct worker *worker, struct cell *parent, bool by_kill);

/** Puts a child into its parent's list; its flags are not touched. Owner of the parent only. */
void tr__child_link(struct worker *worker, struct cell *parent, struct cell *child);

/** Takes a child out of its parent's list; its flags are not touched. Owner of the parent only. */
void tr__child_take_out(struct worker *worker, struct cell *parent, struct cell *child);

/** Takes a tenant's name, if it has one, out of the directory; its path can still be read. */
void tr__cell_unname(struct worker *worker, struct cell *cell);

/** Gives back what a tenant had: state, heap, name, setup. */
void tr__cell_release(struct worker *worker, struct cell *cell);

/** Frees a state that is not in the cell. */
void tr__state_free(const struct memory_source *source, struct cell *cell);

#endif
