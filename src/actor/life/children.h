/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The children of an actor: functions that keep the list of the children in start order, and that
 * give an order to all children.
 */
#ifndef ACTOR_LIFE_CHILDREN_H
#define ACTOR_LIFE_CHILDREN_H

#include <stdint.h>
#include <stdbool.h>

#include "actor/cell/cell.h"

struct cell;
struct worker;

/**
 * Appends a child to its parent's list. Does not change the child's flags. Owner of the parent
 * only.
 */
void tr__child_link(struct worker *worker, struct cell *parent, struct cell *child);

/**
 * Moves `child`, the last in the parent's list, to the place after the sibling with the ref
 * `before`, or to the front of the list if `before` is 0. Owner of the parent only.
 */
void tr__child_move(struct worker *worker, struct cell *parent, struct cell *child,
                    uint64_t before);

/** Removes a child from its parent's list. Owner of the parent only. */
void tr__child_take_out(struct worker *worker, struct cell *parent, struct cell *child);

/**
 * Removes a child that has ended from its parent's list, and frees its slot. If the parent is on
 * another worker, posts the child there. Only for the worker that owned the child, or that has got
 * this post.
 */
void tr__child_ended(struct worker *worker, struct cell *child);

/**
 * Reports the system as empty if `parent` is /user and has no child left that keeps the system
 * running. To be called when a child is gone and does not come back. Worker 0 only.
 */
void tr__children_look(struct worker *worker, struct cell *parent);

/**
 * Orders all children to stop or, if `by_kill`, kills them. Leaves out the keepers of durable
 * actors: tr__keepers_stop gives them their order. Owner of the parent only.
 */
void tr__children_stop(struct worker *worker, struct cell *parent, bool by_kill);
/**
 * Orders the keepers of durable actors to stop, or kills them if /user is being killed. Worker 0
 * only.
 */
void tr__keepers_stop(struct worker *worker, struct cell *guardian);

/**
 * Whether a child that has ended is in no list of children, because a sweep has removed the child
 * from its parent's list before its end. Owner of the parent only.
 */
static inline bool child_is_disowned(const struct cell *child)
{
    /*
     * A child that is alone in a list is its own sibling, so 0 means that the child is in no list.
     */
    return !child->sibling_next;
}

#endif
