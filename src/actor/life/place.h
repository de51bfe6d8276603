/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The places of children that come back: the order of a parent's list survives a restart. Owner of the parent only.
 */
#ifndef ACTOR_LIFE_PLACE_H
#define ACTOR_LIFE_PLACE_H

#include <stdint.h>

struct cell;
struct failure;
struct worker;

/** A child is gone, is still in the list, and is to come back: notes where. */
void tr__place_note(struct worker *worker, struct cell *parent, const struct cell *child,
                    struct failure *failure);
/** The place of a child without a sibling that it could stand behind: at the end. */
#define TR__PLACE_LAST UINT64_MAX

/** A child comes back now. Returns the sibling behind which it belongs, 0 if it is the first, or TR__PLACE_LAST. */
uint64_t tr__place_find(struct worker *worker, struct cell *parent, const struct failure *failure);
/** The child that was this one is back, or does not come back: `now` stands for it. */
void tr__place_replace(struct cell *parent, uint64_t child, uint64_t now);
/** A child is gone for good, and still in the list. */
void tr__place_close(struct worker *worker, struct cell *parent, const struct cell *child);

#endif
