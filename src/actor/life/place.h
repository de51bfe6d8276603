/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The places of children that come back. They keep the order of a parent's list of children. Owner
 * of the parent only.
 */
#ifndef ACTOR_LIFE_PLACE_H
#define ACTOR_LIFE_PLACE_H

#include <stdint.h>

struct cell;
struct failure;
struct worker;

/**
 * Notes in `failure` the place of a child that has ended and is to come back. The child must still
 * be in the list.
 */
void tr__place_note(struct worker *worker, struct cell *parent, const struct cell *child,
                    struct failure *failure);
/**
 * The place at the end of the list. Used when the sibling before the child is not there any more.
 */
#define TR__PLACE_LAST UINT64_MAX

/**
 * Returns the place of a child that comes back now: the ref of the sibling before it, 0 if it is
 * the first, or TR__PLACE_LAST.
 */
uint64_t tr__place_find(struct worker *worker, struct cell *parent, const struct failure *failure);
/**
 * Replaces the ref `child` by `now` in all noted places. Used when `child` is back with the ref
 * `now`. Also used when `child` does not come back; then `now` is the ref of the sibling before it.
 */
void tr__place_replace(struct cell *parent, uint64_t child, uint64_t now);
/**
 * Removes a child from all noted places, because the child does not come back. The child must still
 * be in the list.
 */
void tr__place_close(struct worker *worker, struct cell *parent, const struct cell *child);

#endif
