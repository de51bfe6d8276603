/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A parent and its children: the list, in start order, and orders to them.
 */
#ifndef ACTOR_LIFE_CHILDREN_H
#define ACTOR_LIFE_CHILDREN_H

#include <stdint.h>
#include <stdbool.h>

#include "actor/cell/cell.h"

struct cell;
struct worker;

/** Puts a child into its parent's list; its flags are not touched. Owner of the parent only. */
void tr__child_link(struct worker *worker, struct cell *parent, struct cell *child);

/** Puts the youngest child behind another one, 0: before all. Owner of the parent only. */
void tr__child_move(struct worker *worker, struct cell *parent, struct cell *child,
                    uint64_t before);

/** Takes a child out of its parent's list. Owner of the parent only. */
void tr__child_take_out(struct worker *worker, struct cell *parent, struct cell *child);

/**
 * A child has ended: the parent's worker takes it out and frees its slot. Any worker that has it in
 * hand: it goes on to that one.
 */
void tr__child_ended(struct worker *worker, struct cell *child);

/** A child is not there any more, and does not come back: that may have been the last. */
void tr__children_look(struct worker *worker, struct cell *parent);

/** Tells all children to stop, or kills them. Owner of the parent only. */
void tr__children_stop(struct worker *worker, struct cell *parent, bool by_kill);
/** Tells the keepers of durable actors, which tr__children_stop leaves out unless it kills. Worker 0 only. */
void tr__keepers_stop(struct worker *worker, struct cell *guardian);

/** Whether a child that has ended was disowned, and so is not in its parent's list. Owner of the parent only. */
static inline bool child_is_disowned(const struct cell *child)
{
    return !child->sibling_next; /* of one in a list it is at least itself */
}

#endif
