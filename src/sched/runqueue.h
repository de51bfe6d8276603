/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The run queues of one worker: tasks that are ready, first come first served within a class.
 *
 * High goes before normal, but not always: while both wait, normal tasks get at least one turn in
 * eight, counted in turns and not in runs, since a run may be one turn or many. IO tasks are apart:
 * the loop runs them in its IO phase. Owned by one worker; no atomics.
 */
#ifndef SCHED_RUNQUEUE_H
#define SCHED_RUNQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the scheduler runs; embedded in whatever that is. */
struct task {
    struct task *next;
};

enum task_class { TASK_HIGH, TASK_NORMAL, TASK_IO, TASK_CLASSES };

enum { RUNQUEUE_HIGH_SHARE = 7 }; /* high turns for each normal turn while both wait */

struct runqueue {
    struct {
        struct task *first;
        struct task *last;
    } classes[TASK_CLASSES];
    int64_t credit; /* turns that high has had beyond its share */
};

static inline void runqueue_push(struct runqueue *queue, struct task *task, enum task_class class)
{
    task->next = NULL;
    if (queue->classes[class].first)
        queue->classes[class].last->next = task;
    else
        queue->classes[class].first = task;
    queue->classes[class].last = task;
}

static inline struct task *runqueue_pop_class(struct runqueue *queue, enum task_class class)
{
    struct task *task = queue->classes[class].first;
    if (task)
        queue->classes[class].first = task->next;
    return task;
}

/** Takes out the task after `previous` (NULL: the first), of which `next` is the one behind it. */
static inline void runqueue_take_out(struct runqueue *queue, enum task_class class,
                                     struct task *previous, struct task *next)
{
    if (previous)
        previous->next = next;
    else
        queue->classes[class].first = next;
    if (!next)
        queue->classes[class].last = previous;
}

/** The next task that is no IO task, and its class; NULL for none. */
static inline struct task *runqueue_pop(struct runqueue *queue, enum task_class *class)
{
    bool has_normal = queue->classes[TASK_NORMAL].first;
    if (queue->classes[TASK_HIGH].first && (!has_normal || queue->credit <= 0)) {
        *class = TASK_HIGH;
        if (!has_normal)
            queue->credit = 0;
        return runqueue_pop_class(queue, TASK_HIGH);
    }
    *class = TASK_NORMAL;
    return has_normal ? runqueue_pop_class(queue, TASK_NORMAL) : NULL;
}

/** After a task of that class ran so many turns. */
static inline void runqueue_charge(struct runqueue *queue, enum task_class class, uint32_t turns)
{
    if (class == TASK_HIGH)
        queue->credit += queue->classes[TASK_NORMAL].first ? turns : 0;
    else if (class == TASK_NORMAL && queue->credit > 0) /* IO has a share of its own */
        queue->credit -= (int64_t)turns * RUNQUEUE_HIGH_SHARE;
}

static inline bool runqueue_is_empty(const struct runqueue *queue)
{
    return !queue->classes[TASK_HIGH].first && !queue->classes[TASK_NORMAL].first &&
           !queue->classes[TASK_IO].first;
}

#endif
