/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ready inbox of a worker, and how the worker sleeps without missing a post.
 *
 * Any thread posts nodes, and the worker takes them all. A worker that finds nothing to do
 * announces sleep, looks for nodes once more, and only then parks. A thread that posts first pushes
 * its node, and then checks whether the worker sleeps. Each side writes one word and then reads the
 * word of the other side, and all four operations are sequentially consistent. So at least one side
 * sees what the other has written, and no wake-up is lost.
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
    /*
     * Of several threads that post, only one wakes the worker. A plain exchange could overwrite a
     * nudge.
     */
    return atom32_compare_exchange(&ready->sleep, &asleep, READY_AWAKE, ATOM_SEQ_CST, ATOM_RELAXED);
}

/**
 * Makes the worker see what the caller has written before. Returns true if the caller must wake the
 * worker. A worker that is awake may have looked already. So the nudge stays until the worker wants
 * to sleep. Any thread.
 */
ATOM_INLINE bool ready_nudge(struct ready *ready)
{
    return atom32_exchange(&ready->sleep, READY_NUDGED, ATOM_SEQ_CST) == READY_ASLEEP;
}

/**
 * Ends sleep, after the park has returned for any reason.
 *
 * This is an exchange for two reasons. The write must come before the worker's later loads of the
 * watch's state. And it may overwrite a nudge, in which case the worker must see what the sender of
 * the nudge has written before. Worker only.
 */
ATOM_INLINE void ready_rise(struct ready *ready)
{
    atom32_exchange(&ready->sleep, READY_AWAKE, ATOM_SEQ_CST);
}

/**
 * Announces sleep. Returns false if there are nodes to take, or if the worker was nudged and must
 * look for work. Worker only.
 */
ATOM_INLINE bool ready_doze(struct ready *ready)
{
    uint32_t before = atom32_exchange(&ready->sleep, READY_ASLEEP, ATOM_SEQ_CST);
    if (before != READY_NUDGED && stack_is_empty(&ready->posted))
        return true;
    ready_rise(ready);
    return false;
}

/**
 * Whether the worker has announced sleep, and no thread has posted or nudged since then. Worker
 * only.
 */
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
