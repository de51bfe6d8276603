/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ready inbox of a worker, and how the worker sleeps without missing a post.
 *
 * Any thread posts nodes; the worker takes them all. A worker that finds nothing to do announces
 * sleep, looks once more, and only then parks. A poster first pushes, then checks whether the
 * worker sleeps. Each side writes one word and reads the other's, and all four operations are
 * sequentially consistent. So at least one side sees the other, and the wake-up cannot be lost.
 */
#ifndef SCHED_READY_H
#define SCHED_READY_H

#include "queue/stack.h"

enum {
    READY_AWAKE,
    READY_ASLEEP,
    READY_NUDGED /* awake, and must look for work once more before it sleeps */
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

/** Posts a node. Returns true if the caller must wake the worker. Any thread. */
ATOM_INLINE bool ready_post(struct ready *ready, struct stack_node *node)
{
    stack_push(&ready->posted, node);
    uint32_t asleep = READY_ASLEEP;
    if (atom32_load(&ready->sleep, ATOM_SEQ_CST) != asleep)
        return false;
    /* Only one of several posters wakes the worker. A plain exchange could overwrite a nudge. */
    return atom32_compare_exchange(&ready->sleep, &asleep, READY_AWAKE, ATOM_SEQ_CST, ATOM_RELAXED);
}

/**
 * Makes the worker see what the caller has written before. Returns true if the caller must wake the worker. A worker
 * that is awake may have looked already, so the nudge stays until the worker wants to sleep. Any thread.
 */
ATOM_INLINE bool ready_nudge(struct ready *ready)
{
    return atom32_exchange(&ready->sleep, READY_NUDGED, ATOM_SEQ_CST) == READY_ASLEEP;
}

/**
 * Ends sleep, after the park returned for any reason. Worker only.
 *
 * Ordered before a later load of the watch's state. This is an exchange, because the worker must see what the sender of
 * an overwritten nudge has written before.
 */
ATOM_INLINE void ready_rise(struct ready *ready)
{
    atom32_exchange(&ready->sleep, READY_AWAKE, ATOM_SEQ_CST);
}

/**
 * Announces sleep. Returns false if there is something to take, or if the worker was nudged and
 * must look for work. Worker only.
 */
ATOM_INLINE bool ready_doze(struct ready *ready)
{
    uint32_t before = atom32_exchange(&ready->sleep, READY_ASLEEP, ATOM_SEQ_CST);
    if (before != READY_NUDGED && stack_is_empty(&ready->posted))
        return true;
    ready_rise(ready);
    return false;
}

/** Whether sleep is announced and no thread has posted or nudged since. Worker only. */
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
