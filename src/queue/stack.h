/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stack with many producers and one consumer that takes everything at once.
 *
 * Push is one compare-exchange and never fails, waits for a consumer or allocates. There is no pop
 * of one node, hence no ABA: a node leaves only with all the others. Nodes belong to the caller and
 * are lent to the stack until taken. Used for ready actors, returned envelopes and ended children.
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
 * Pushes a chain, newest first: `newest` links down to `oldest`. Says whether the stack was empty.
 *
 * Sequentially consistent, because what follows is a look at whether the consumer sleeps: see
 * sched/ready.h. Any thread.
 */
ATOM_INLINE bool stack_push_chain(struct stack *stack, struct stack_node *newest,
                                  struct stack_node *oldest)
{
    void *head = atomptr_load(&stack->head, ATOM_RELAXED);
    do {
        oldest->next = head;
    } while (!atomptr_compare_exchange(
        &stack->head, &head, newest, ATOM_SEQ_CST, ATOM_RELAXED)); /* partner: stack_take */
    return !head;
}

/** Pushes one node. Any thread. */
ATOM_INLINE bool stack_push(struct stack *stack, struct stack_node *node)
{
    return stack_push_chain(stack, node, node);
}

/** Whether there is nothing to take now. Sequentially consistent: see sched/ready.h. Any thread. */
ATOM_INLINE bool stack_is_empty(const struct stack *stack)
{
    return !atomptr_load(&stack->head, ATOM_SEQ_CST);
}

/** Takes everything, newest first; NULL when empty. Any thread, but one at a time sees each node. */
ATOM_INLINE struct stack_node *stack_take(struct stack *stack)
{
    if (!atomptr_load(&stack->head, ATOM_RELAXED))
        return NULL;
    return atomptr_exchange(&stack->head, NULL, ATOM_ACQUIRE); /* partner: stack_push_chain */
}

/** Turns a chain around: what stack_take gave becomes oldest first. */
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
