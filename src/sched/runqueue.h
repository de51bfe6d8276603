/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The run queues of one worker: tasks that are ready.
 *
 * High tasks run before normal tasks, with a limit: while tasks of both classes wait, normal tasks
 * get at least one turn in eight. This counts turns and not runs, because a run may take one turn
 * or many. One worker owns the queues, so there are no atomics.
 *
 * High tasks are first come, first served. So are normal tasks, with one exception. Tasks that a
 * task makes ready run next, in the order in which they were made ready. They also run before tasks
 * that earlier tasks have made ready (docs/design/run-queue.md). So a message is handled while it
 * is in the cache, and a tree of actors is walked depth first. After a number of turns the owner of
 * the queue ends this (runqueue_even): the tasks that were made ready in this way, and have not run
 * yet, move behind all other tasks. So all these tasks together delay another task no longer than a
 * single task that uses all of its turns.
 */
#ifndef SCHED_RUNQUEUE_H
#define SCHED_RUNQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the scheduler runs. It is embedded in the struct of the thing that runs. */
struct task {
    struct task *next;
};

/**
 * Classes of tasks, and lists of waiting tasks. The lists are here in the order in which their
 * tasks run.
 */
enum task_class {
    TASK_HIGH,
    /* A list, and no class: normal tasks that were made ready since the last task was taken out. */
    TASK_NEXT,
    /*
     * A list, and no class: normal tasks that earlier tasks have made ready. The tasks of the
     * latest one come first.
     */
    TASK_SOON,
    TASK_NORMAL,
    TASK_CLASSES
};

/* while tasks of both classes wait: how many turns high tasks get for each turn of normal tasks */
enum { RUNQUEUE_HIGH_SHARE = 7 };

struct runqueue {
    struct {
        struct task *first;
        struct task *last;
    } classes[TASK_CLASSES];
    int64_t credit; /* turns that high tasks have had beyond their share */
};

/**
 * Adds a task that is in no list. If `class` is TASK_HIGH, adds it to the end of that list. If
 * `class` is TASK_NORMAL, adds it to the end of TASK_NEXT.
 */
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

/**
 * Takes the task between `previous` and `next` out of the list of a class. `previous` NULL: the
 * task is the first.
 */
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

/** Moves the tasks of TASK_NEXT, beginning with `first`, to the front of TASK_SOON. */
static inline void runqueue_bring(struct runqueue *queue, struct task *first)
{
    queue->classes[TASK_NEXT].last->next = queue->classes[TASK_SOON].first;
    if (!queue->classes[TASK_SOON].first)
        queue->classes[TASK_SOON].last = queue->classes[TASK_NEXT].last;
    queue->classes[TASK_SOON].first = first;
}

/**
 * Moves all tasks that other tasks have made ready behind the other normal tasks. Afterwards each
 * task is in the list of its class.
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

/**
 * Takes the next normal task out of its list, to run it in place of the task that runs now. Returns
 * NULL if there is none.
 */
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

/**
 * Returns the next task, and sets *class to its class. Returns NULL if there is none. Must not be
 * called while a task runs.
 */
static inline struct task *runqueue_pop(struct runqueue *queue, enum task_class *class)
{
    /* No task runs now, so no task has made the tasks in TASK_NEXT ready. */
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

/** Notes that a task of this class has run for `turns` turns. */
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
