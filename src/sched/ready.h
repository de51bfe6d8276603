/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ready inbox of a worker, and how the worker sleeps without missing a post.
 *
 * Anybody posts nodes; the worker takes them all. A worker that finds nothing to do announces that
 * it sleeps, looks once more, and only then parks. A poster first pushes, then looks whether the
 * worker sleeps. Both sides write one word and read the other's, all four sequentially consistent,
 * so at least one of them sees the other: the wake-up cannot be lost.
 */
#ifndef SCHED_READY_H
#define SCHED_READY_H

#include "queue/stack.h"

enum {
    READY_AWAKE,
    READY_ASLEEP,
    READY_NUDGED /* awake, and must look around once more before it sleeps */
};

struct ready {
    struct stack posted;
    atom32 sleep;
};

ATOM_INLINE void ready_init(struct ready *ready)
{
    stack_init(&ready->posted);
    atom32_init(&ready->sleep, READY_AWAKE);
}

/** Posts a node. True when the caller must wake the worker. Any thread. */
ATOM_INLINE bool ready_post(struct ready *ready, struct stack_node *node)
{
    stack_push(&ready->posted, node);
    uint32_t asleep = READY_ASLEEP;
    if (atom32_load(&ready->sleep, ATOM_SEQ_CST) != asleep)
        return false;
    /* Of several posters one wakes it. A plain exchange could wipe out a nudge. */
    return atom32_compare_exchange(&ready->sleep, &asleep, READY_AWAKE, ATOM_SEQ_CST, ATOM_RELAXED);
}

/**
 * Makes the worker look around at what the caller has written before. True when the caller must
 * wake it. A worker that is awake may have looked already: the nudge stays until it wants to sleep.
 * Any thread.
 */
ATOM_INLINE bool ready_nudge(struct ready *ready)
{
    return atom32_exchange(&ready->sleep, READY_NUDGED, ATOM_SEQ_CST) == READY_ASLEEP;
}

/**
 * After the park, whatever ended it. Worker only. Ordered before a look at the watch; an exchange,
 * because it must see what a nudge that it wipes out is about.
 */
ATOM_INLINE void ready_rise(struct ready *ready)
{
    atom32_exchange(&ready->sleep, READY_AWAKE, ATOM_SEQ_CST);
}

/**
 * Announces sleep. False when there is something to take after all, or when the worker was nudged
 * and must look around. Worker only.
 */
ATOM_INLINE bool ready_doze(struct ready *ready)
{
    uint32_t before = atom32_exchange(&ready->sleep, READY_ASLEEP, ATOM_SEQ_CST);
    if (before != READY_NUDGED && stack_is_empty(&ready->posted))
        return true;
    ready_rise(ready);
    return false;
}

/** Whether sleep is announced and nobody has posted or nudged since. Worker only. */
ATOM_INLINE bool ready_is_asleep(const struct ready *ready)
{
    return atom32_load(&ready->sleep, ATOM_SEQ_CST) == READY_ASLEEP;
}

/** Takes all posted nodes, newest first. Worker only. */
ATOM_INLINE struct stack_node *ready_take(struct ready *ready)
{
    return stack_take(&ready->posted);
}

#endif
