/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stack with many producers and one consumer that takes everything at once.
 *
 * A push is one compare-exchange. It never fails, waits or allocates. A node leaves the stack only
 * together with all others. Because there is no pop of a single node, there is no ABA problem.
 * Nodes belong to the caller, and are lent to the stack until they are taken. The stack is used for
 * ready actors, returned envelopes and ended children.
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
 * Pushes a chain: from `newest`, the links lead to `oldest`. Returns whether the stack was empty.
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

/**
 * Takes all nodes, newest first. Returns NULL if the stack is empty. Any thread may call this, and
 * each node goes to one thread only.
 */
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
