/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stack with many producers and one consumer that takes everything at once.
 *
 * A push is one compare-exchange; it never fails, waits or allocates. There is no pop of one node,
 * and therefore no ABA problem: a node leaves only together with all others. Nodes belong to the
 * caller and are lent to the stack until taken. Used for ready actors, returned envelopes and ended
 * children.
 */
#ifndef QUEUE_STACK_H
#define QUEUE_STACK_H

#include "os/atomic.h"

#include <stddef.h>

struct stack_node {
    struct stack_node *next;
};

struct stack {
    atomptr head;
};

ATOM_INLINE void stack_init(struct stack *stack)
{
    atomptr_init(&stack->head, NULL);
}

/**
 * Pushes a chain, newest first: `newest` links down to `oldest`. Returns whether the stack was
 * empty.
 *
 * Sequentially consistent, because the caller then reads whether the consumer sleeps: see
 * sched/ready.h. Any thread.
 */
ATOM_INLINE bool stack_push_chain(struct stack *stack, struct stack_node *newest,
                                  struct stack_node *oldest)
{
    void *head = atomptr_load(&stack->head, ATOM_RELAXED);
    do {
        oldest->next = head;
    } while (!atomptr_compare_exchange(
        &stack->head, &head, newest, ATOM_SEQ_CST, ATOM_RELAXED)); /* pairs with stack_take */
    return !head;
}

/** Pushes one node. Any thread. */
ATOM_INLINE bool stack_push(struct stack *stack, struct stack_node *node)
{
    return stack_push_chain(stack, node, node);
}

/** Whether the stack is empty now. Sequentially consistent: see sched/ready.h. Any thread. */
ATOM_INLINE bool stack_is_empty(const struct stack *stack)
{
    return !atomptr_load(&stack->head, ATOM_SEQ_CST);
}

/** Takes everything, newest first; NULL if empty. Any thread; each node is taken by one thread. */
ATOM_INLINE struct stack_node *stack_take(struct stack *stack)
{
    if (!atomptr_load(&stack->head, ATOM_RELAXED))
        return NULL;
    return atomptr_exchange(&stack->head, NULL, ATOM_ACQUIRE); /* pairs with stack_push_chain */
}

/** Reverses the chain that stack_take has returned, so that the oldest node is first. */
ATOM_INLINE struct stack_node *stack_reverse(struct stack_node *node)
{
    struct stack_node *reversed = NULL;
    while (node) {
        struct stack_node *next = node->next;
        node->next = reversed;
        reversed = node;
        node = next;
    }
    return reversed;
}

#endif
