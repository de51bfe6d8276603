/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The run queues of one worker: tasks that are ready.
 *
 * High tasks run before normal ones, with a limit: while both wait, normal tasks get at least one
 * turn in eight. Turns are counted and not runs, because a run may take one turn or many.
 * Owned by one worker; no atomics.
 *
 * High tasks are first come, first served. So are normal tasks, with one exception: tasks that a
 * task makes ready run next, in the order in which they were made ready, and before those that
 * earlier tasks have made ready (docs/design/run-queue.md). So a message is handled while it is in
 * the cache, and a tree of actors is walked depth first. The owner of the queue ends this after a
 * number of turns (runqueue_even): the tasks that are left there move behind all other tasks. So no
 * task waits longer for them than for a single task that uses all of its turns.
 */
#ifndef SCHED_RUNQUEUE_H
#define SCHED_RUNQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the scheduler runs; embedded in the thing that runs. */
struct task {
    struct task *next;
};

/** Classes of tasks, and the lists of waiting tasks, in the order in which they run. */
enum task_class {
    TASK_HIGH,
    /* a list and no class: normal tasks that were made ready since the last task was taken out */
    TASK_NEXT,
    /*
     * a list and no class: normal tasks that earlier tasks have made ready; the tasks that the
     * latest task has made ready come first
     */
    TASK_SOON,
    TASK_NORMAL,
    TASK_CLASSES
};

enum { RUNQUEUE_HIGH_SHARE = 7 }; /* high turns for each normal turn while both wait */

struct runqueue {
    struct {
        struct task *first;
        struct task *last;
    } classes[TASK_CLASSES];
    int64_t credit; /* turns that high tasks have had beyond their share */
};

/** Adds a task that is in no list at the end of its class: TASK_HIGH or TASK_NORMAL. */
static inline void runqueue_push(struct runqueue *queue, struct task *task, enum task_class class)
{
    enum task_class list = class == TASK_NORMAL ? TASK_NEXT : class;
    task->next = NULL;
    if (queue->classes[list].first)
        queue->classes[list].last->next = task;
    else
        queue->classes[list].first = task;
    queue->classes[list].last = task;
}

static inline struct task *runqueue_pop_class(struct runqueue *queue, enum task_class class)
{
    struct task *task = queue->classes[class].first;
    if (task)
        queue->classes[class].first = task->next;
    return task;
}

/** Takes out the task after `previous` (NULL: the first). `next` is the task after it. */
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

/** Moves all tasks of one list to the end of another. */
static inline void runqueue_append(struct runqueue *queue, enum task_class to, enum task_class from)
{
    struct task *first = queue->classes[from].first;
    if (!first)
        return;
    if (queue->classes[to].first)
        queue->classes[to].last->next = first;
    else
        queue->classes[to].first = first;
    queue->classes[to].last = queue->classes[from].last;
    queue->classes[from].first = NULL;
}

/** Moves the tasks of TASK_NEXT from `first` on to the front of TASK_SOON. */
static inline void runqueue_bring(struct runqueue *queue, struct task *first)
{
    queue->classes[TASK_NEXT].last->next = queue->classes[TASK_SOON].first;
    if (!queue->classes[TASK_SOON].first)
        queue->classes[TASK_SOON].last = queue->classes[TASK_NEXT].last;
    queue->classes[TASK_SOON].first = first;
}

/**
 * Moves all tasks that other tasks have made ready behind the rest. Afterwards each task is in the list of its class.
 */
static inline void runqueue_even(struct runqueue *queue)
{
    runqueue_append(queue, TASK_SOON, TASK_NEXT);
    runqueue_append(queue, TASK_NORMAL, TASK_SOON);
}

static inline bool runqueue_has_normal(const struct runqueue *queue)
{
    return queue->classes[TASK_NEXT].first || queue->classes[TASK_SOON].first ||
           queue->classes[TASK_NORMAL].first;
}

/** Takes the next normal task out, to run in place of the task that runs now; NULL if there is none. */
static inline struct task *runqueue_pop_next(struct runqueue *queue)
{
    struct task *task = queue->classes[TASK_NEXT].first;
    if (__builtin_expect(!task, 0)) {
        task = runqueue_pop_class(queue, TASK_SOON);
        return task ? task : runqueue_pop_class(queue, TASK_NORMAL);
    }
    queue->classes[TASK_NEXT].first = NULL;
    if (task->next)
        runqueue_bring(queue, task->next);
    return task;
}

/** Returns the next task and its class; NULL if there is none. Must not be called while a task runs. */
static inline struct task *runqueue_pop(struct runqueue *queue, enum task_class *class)
{
    /* Tasks in TASK_NEXT were not made ready by a task, because none runs. */
    runqueue_append(queue, TASK_NORMAL, TASK_NEXT);
    bool has_normal = runqueue_has_normal(queue);
    if (queue->classes[TASK_HIGH].first && (!has_normal || queue->credit <= 0)) {
        *class = TASK_HIGH;
        if (!has_normal)
            queue->credit = 0;
        return runqueue_pop_class(queue, TASK_HIGH);
    }
    *class = TASK_NORMAL;
    return has_normal ? runqueue_pop_next(queue) : NULL;
}

/** Accounts for a task of this class that ran for `turns` turns. */
static inline void runqueue_charge(struct runqueue *queue, enum task_class class, uint32_t turns)
{
    if (queue->classes[TASK_NEXT].first) {
        runqueue_bring(queue, queue->classes[TASK_NEXT].first);
        queue->classes[TASK_NEXT].first = NULL;
    }
    if (class == TASK_HIGH)
        queue->credit += runqueue_has_normal(queue) ? turns : 0;
    else if (queue->credit > 0)
        queue->credit -= (int64_t)turns * RUNQUEUE_HIGH_SHARE;
}

static inline bool runqueue_is_empty(const struct runqueue *queue)
{
    return !queue->classes[TASK_HIGH].first && !runqueue_has_normal(queue);
}

#endif
