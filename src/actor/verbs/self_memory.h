/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory and resources of turns.
 */
#ifndef ACTOR_VERBS_SELF_MEMORY_H
#define ACTOR_VERBS_SELF_MEMORY_H

struct tr_self;

/**
 * As tr_defer, but for a resource of the library. `release` also runs if a fault in user code ends
 * the turn, or if the turn is abandoned after a fault of its actor. The stack of the turn is lost
 * then, so `resource` is no memory of that stack.
 */
void tr__turn_defer(struct tr_self *self, void *resource, void (*release)(void *resource));

#endif
