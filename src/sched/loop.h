/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loop of one worker: runs tasks, takes posts, does IO, sleeps when there is nothing to do.
 *
 * It knows neither actors nor threads. Whoever owns it calls tr__loop_slice, which works until there
 * is nothing to do or its share of turns is used, and, when it may sleep, tr__loop_rest. A round is
 * IO completions, IO tasks, posts (new tasks among them), then tasks until the round's deadline,
 * which is far enough away that IO gets at most its ratio of the time.
 *
 * What a task makes ready runs next (sched/runqueue.h), for a share of so many turns as take LOOP_SHARE_NS
 * lately, LOOP_CLOCK_TURNS at most. Where turns are so long that a share would be less than LOOP_SHARE_MIN
 * it would gain nothing, and the queue is plainly first come, first served.
 *
 * Everything a round needs to go on is in the struct: a task may end the flow of control it runs in
 * and have another one call tr__loop_slice again (that is how a verb ends a turn).
 */
#ifndef SCHED_LOOP_H
#define SCHED_LOOP_H

#include <troupe/platform.h>

#include "sched/ready.h"
#include "sched/runqueue.h"

enum {
    LOOP_CLOCK_TURNS = 64, /* turns between two looks at the clock */
    LOOP_SHARE_MIN = 4,    /* turns of a share: if it were shorter there is none */
    LOOP_SPINS = 64,       /* looks at the ready inbox between two looks at the clock */
    LOOP_VAIN_MAX = 63     /* rests between two long spins, at most, when no answer comes in them */
};
#define LOOP_SHARE_NS (10 * TR_MICROSECOND) /* so that of ten thousand nobody waits for 100 ms */
#define LOOP_NO_LIMIT UINT32_MAX            /* of a slice: so far away that it does not matter */

struct loop;

struct loop_hooks {
    /** Runs a task for at most `turns_max` turns and says how many it took, at least 1. */
    uint32_t (*run)(struct loop *loop, struct task *task, uint32_t turns_max);
    /** Somebody posted this node. */
    void (*on_post)(struct loop *loop, struct stack_node *node);
    /** An IO operation has completed. */
    void (*on_io)(struct loop *loop, tr_io *io);
    /** A round begins: at least twice a millisecond while there is work, and after each sleep. */
    void (*on_round)(struct loop *loop);
    /** loop->alarm_ns is reached (and is TR_NEVER again). */
    void (*on_alarm)(struct loop *loop);
    /** Before sleep: a moment for housekeeping. When to be called again at the latest. */
    tr_time (*on_idle)(struct loop *loop);
};

struct loop {
    /* Written by the worker. */
    struct runqueue queue;
    struct stack_node *posts; /* taken, not yet handled; oldest first */
    const struct loop_hooks *hooks;
    const tr_platform *platform;
    tr_parker *parker;
    tr_time now_ns;       /* the clock when it was last read */
    tr_time round_end_ns; /* then IO has its turn again */
    tr_time alarm_ns;
    tr_time spin_ns;
    tr_time answer_ns;    /* the same after it has woken another loop */
    uint32_t answer_skip; /* times not to, since it was in vain, */
    uint32_t answer_vain; /* and how many that was the last time */
    bool has_woken;       /* another one since the last rest; set by its owner */
    tr_time await_ns;     /* to spin for what another thread does; set and cleared by its owner */
    tr_io *io_done;       /* completed, not yet handled */
    uint32_t io_pending;
    uint32_t io_ratio;    /* percent of the time that IO may take while tasks wait */
    tr_time round_min_ns; /* a round is at least this long */
    int32_t clock_in;     /* turns until the next look at the clock */
    int32_t share;        /* turns for which tasks may go on with what they make ready; */
    int32_t share_left;   /* what is left of them */
    uint32_t slice_left;  /* turns */
    uint32_t tick_seen;
    int32_t quick_left;    /* turns for which a task may go on with others: loop_next, */
    int32_t quick_given;   /* of so many when it began */
    bool wants_round;      /* set by on_round: it could not do all that is due */
    enum task_class class; /* of the task that runs */
    atom64 runs;           /* counters, read by any thread */
    atom64 parks;
    atom64 seen_ns; /* now_ns, for any thread */
    atom64 steps;   /* what else shows that it gets on: rounds, and what its hooks count */

    /* Written by the watch. */
    _Alignas(64) atom32 tick;
    uint32_t looks;      /* that found it at the same step */
    uint64_t steps_seen; /* runs, parks and steps */
    atom64 since_ns;     /* when they were first seen, 0 while it sleeps; read by any thread */
    tr_time report_ns;   /* the age at which that is reported next */
    bool is_reported;

    /* Written by anybody. */
    _Alignas(64) struct ready ready;
};

/** The parker is lent. spin_ns 0 is the default (see TR_SPIN_ANSWER_NS), negative no spin. */
void tr__loop_init(struct loop *loop, const struct loop_hooks *hooks, const tr_platform *platform,
                   tr_parker *parker, tr_time spin_ns);

/** Works. True when there is more to do, false when there is nothing. Worker only. */
bool tr__loop_slice(struct loop *loop);

/** Spins a little, then sleeps until `deadline_ns`, a post, a wake, or IO. Worker only. */
void tr__loop_rest(struct loop *loop, tr_time deadline_ns);

/** Whether a slice would find something to do now. Worker only. */
bool tr__loop_has_work(const struct loop *loop);

/** After a task whose flow of control ended: what `run` would have returned. Worker only. */
void tr__loop_charge(struct loop *loop, uint32_t turns);

/** Reads the clock. Worker only. */
void tr__loop_look_at_clock(struct loop *loop);

/** Starts an IO operation; its completion comes by on_io. Worker only. */
TR_MUST_CHECK tr_status tr__loop_submit(struct loop *loop, tr_io *io);

/** Posts a node and wakes the worker if it sleeps. True when it woke it. Any thread. */
static inline bool loop_post(struct loop *loop, struct stack_node *node)
{
    if (__builtin_expect(!ready_post(&loop->ready, node), 1))
        return false;
    loop->platform->wake(loop->platform, loop->parker);
    return true;
}

/** Makes the worker look around. Any thread. */
static inline void loop_nudge(struct loop *loop)
{
    if (ready_nudge(&loop->ready))
        loop->platform->wake(loop->platform, loop->parker);
}

/** A hook has begun, or ended, something that may take long and is no run. Worker only. */
static inline void loop_step(struct loop *loop)
{
    /* One thread writes it, any may read: no read-modify-write. */
    atom64_store(&loop->steps, atom64_load(&loop->steps, ATOM_RELAXED) + 1, ATOM_RELAXED);
}

/** Changes with all that shows that the loop gets on. Any thread. */
static inline uint64_t loop_steps(const struct loop *loop)
{
    return atom64_load(&loop->runs, ATOM_RELAXED) + atom64_load(&loop->parks, ATOM_RELAXED) +
           atom64_load(&loop->steps, ATOM_RELAXED);
}

/** Has the task that runs return to the loop before another one runs. Worker only. */
static inline void loop_call_back(struct loop *loop)
{
    loop->quick_given -= loop->quick_left;
    loop->quick_left = 0;
}

/** Puts a task that is in no queue into one. Worker only. */
static inline void loop_enqueue(struct loop *loop, struct task *task, enum task_class class)
{
    if (class == TASK_HIGH)
        loop_call_back(loop); /* it goes before what loop_next would take */
    runqueue_push(&loop->queue, task, class);
}

/** Whether a run should end although its turns are not used up: a tick has passed. Worker only. */
static inline bool loop_is_time_up(const struct loop *loop)
{
    return atom32_load(&loop->tick, ATOM_RELAXED) != loop->tick_seen;
}

/**
 * What a task that has run for so many turns may go on with, as if it had returned to the loop: the next
 * task, which is then charged for like the one before. NULL: return, something else may be due. Worker
 * only.
 */
static inline struct task *loop_next(struct loop *loop, uint32_t turns)
{
    if (__builtin_expect(loop->quick_left <= (int32_t)turns || loop_is_time_up(loop) ||
                             !stack_is_empty(&loop->ready.posted),
                         0))
        return NULL;
    struct task *task = runqueue_pop_next(&loop->queue);
    if (__builtin_expect(!task, 0))
        return NULL;
    loop->quick_left -= (int32_t)turns;
    atom64_count(&loop->runs, 1);
    return task;
}

#endif
