/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loop of one worker: runs tasks, takes posts, does IO, sleeps when there is nothing to do.
 *
 * It knows neither actors nor threads. Its owner calls tr__loop_slice, which works until there is
 * nothing to do or its turns are used up, and tr__loop_rest when it may sleep. A round handles IO
 * events, posts (new tasks among them), and then tasks until the round's deadline.
 *
 * Only a loop with watched descriptors looks at IO: when a round begins, and while it spins. Events that a park has
 * collected need no other system call, so a wake-up costs only one.
 *
 * What a task makes ready runs next (sched/runqueue.h), for a share of as many turns as currently take LOOP_SHARE_NS,
 * at most LOOP_CLOCK_TURNS. If turns are so long that a share would have less than LOOP_SHARE_MIN turns, it would gain
 * nothing. Then the queue is first come, first served.
 *
 * All state of a round is in the struct. So a task may end the flow of control in which it runs;
 * another flow of control calls tr__loop_slice again. That is how a verb ends a turn.
 */
#ifndef SCHED_LOOP_H
#define SCHED_LOOP_H

#include <troupe/platform.h>

#include "sched/ready.h"
#include "sched/runqueue.h"

enum {
    LOOP_CLOCK_TURNS = 64, /* turns between two reads of the clock */
    LOOP_SHARE_MIN = 4,    /* turns of the shortest share; a shorter one is not given */
    LOOP_SPINS = 64,       /* looks at the ready inbox between two reads of the clock */
    LOOP_VAIN_MAX = 63,    /* the most rests between two spins, if the spins find nothing */
    LOOP_IO_EVENTS = 128   /* IO events taken at once */
};
/* length of a share; with this length, of ten thousand tasks none waits longer than 100 ms */
#define LOOP_SHARE_NS (10 * TR_MICROSECOND)
#define LOOP_NO_LIMIT UINT32_MAX /* for a slice: in effect no limit */

struct loop;

struct loop_hooks {
    /**
     * Runs a task for at most `turns_max` turns. Returns how many it took, at least 1. Read by
     * ATOM_PEEK: another thread may replace it.
     */
    uint32_t (*run)(struct loop *loop, struct task *task, uint32_t turns_max);
    /** Handles a node that was posted. */
    void (*on_post)(struct loop *loop, struct stack_node *node);
    /**
     * Called when a watched descriptor can be used: TR_IO_IN, TR_IO_OUT, TR_IO_END. The token may
     * belong to a descriptor that is no longer watched.
     */
    void (*on_io)(struct loop *loop, uint64_t token, uint32_t what);
    /** Called if loop->flush_is_due was set during the last run. Must clear it. */
    void (*on_flush)(struct loop *loop);
    /** Called when a round begins: at least twice a millisecond while there is work, and after each sleep. */
    void (*on_round)(struct loop *loop);
    /** Called when the time loop->alarm_ns has come; alarm_ns is TR_NEVER again by then. */
    void (*on_alarm)(struct loop *loop);
    /**
     * Called before the loop sleeps, for housekeeping. Returns the latest time at which it must be
     * called again.
     */
    tr_time (*on_idle)(struct loop *loop);
};

/**
 * Returns a copy of `hooks` with another `run`. hooks->run is not read, because another thread may replace it
 * meanwhile.
 */
static inline struct loop_hooks loop_hooks_with(const struct loop_hooks *hooks,
                                                uint32_t (*run)(struct loop *loop,
                                                                struct task *task,
                                                                uint32_t turns_max))
{
    return (struct loop_hooks){.run = run,
                               .on_post = hooks->on_post,
                               .on_io = hooks->on_io,
                               .on_flush = hooks->on_flush,
                               .on_round = hooks->on_round,
                               .on_alarm = hooks->on_alarm,
                               .on_idle = hooks->on_idle};
}

struct loop {
    /* The members before `tick` are written by the worker. */
    struct runqueue queue;
    struct stack_node *posts; /* posts that were taken and are not yet handled; oldest first */
    const struct loop_hooks *hooks;
    const tr_platform *platform;
    tr_parker *parker;
    tr_time now_ns;       /* the clock when it was last read */
    tr_time round_end_ns; /* when the next round begins */
    tr_time alarm_ns;
    tr_time spin_ns;
    tr_time io_ns; /* how long to spin for IO while io_is_near; 0: as long as usual */
    /* the event that ended the last sleep came so soon that a spin would have seen it */
    bool io_is_near;
    tr_time answer_ns; /* how long to spin after this loop has woken another one */
    /* rests that still skip the spin of answer_ns, because the last such spin found nothing */
    uint32_t answer_skip;
    uint32_t answer_vain; /* how many rests skipped that spin the last time */
    /* this loop has woken another one since the last rest; set by its owner */
    bool has_woken;
    /* how long to spin for something that a thread which is no worker does; set and cleared by the owner */
    tr_time await_ns;
    /* rests that still skip the spin of await_ns, because such spins found nothing */
    uint32_t await_skip;
    uint32_t await_vain; /* grows with each spin of await_ns in a row that found nothing */
    uint32_t io_watched; /* descriptors */
    uint32_t io_from;    /* io_events[io_from..io_count) are not yet handled */
    uint32_t io_count;
    /* rests that still do not spin for IO, because the last such spin found nothing; see io_vain */
    uint32_t io_skip;
    /* how many rests did not spin for IO last time; only used with watched descriptors */
    uint32_t io_vain;
    tr_time round_min_ns; /* length of a round while no descriptors are watched */
    tr_time io_round_ns;  /* length of a round while descriptors are watched */
    int32_t clock_in;     /* turns until the next read of the clock */
    int32_t share; /* how many turns tasks that a task makes ready may run before the other tasks */
    int32_t share_left;  /* turns left of `share` */
    uint32_t slice_left; /* turns */
    uint32_t tick_seen;
    int32_t quick_left;  /* turns for which a task may still run other tasks (loop_next) */
    int32_t quick_given; /* `quick_left` when the task began */
    bool flush_is_due;   /* set by a task: on_flush is called before the next one */
    /* set by on_round, which could not do everything that is due: begin another round soon */
    bool wants_round;
    enum task_class class; /* class of the task that runs */
    atom64 runs;           /* counters, read by any thread */
    atom64 parks;
    atom64 seen_ns; /* now_ns, for any thread */
    atom64 steps;   /* progress other than runs and parks: rounds, and what the hooks count */

    /* Written by the watch. */
    _Alignas(64) atom32 tick;
    /* how many looks of the watch in a row have found the loop at the same step */
    uint32_t looks;
    uint64_t steps_seen; /* sum of runs, parks and steps */
    /* when steps_seen was first seen; 0 while the loop sleeps; read by any thread */
    atom64 since_ns;
    atom64 awake_ns;   /* for how long the loop was awake, as far as the watch saw in its ticks */
    tr_time report_ns; /* the duration of the present turn at which the next report is made */
    bool is_reported;

    /* Written by any thread. */
    _Alignas(64) struct ready ready;

    /* Written by the worker. */
    _Alignas(64) tr_io_event io_events[LOOP_IO_EVENTS];
};

/**
 * Makes a loop. The parker is lent. spin_ns 0 is the default (see TR_SPIN_ANSWER_NS), negative: no
 * spin.
 */
void tr__loop_init(struct loop *loop, const struct loop_hooks *hooks, const tr_platform *platform,
                   tr_parker *parker, tr_time spin_ns);

/**
 * Runs rounds until there is nothing to do or the turns of the slice are used up. Returns true if there is more to do.
 * Worker only.
 */
bool tr__loop_slice(struct loop *loop);

/** Spins a little, then sleeps until `deadline_ns`, a post, a wake, or IO. Worker only. */
void tr__loop_rest(struct loop *loop, tr_time deadline_ns);

/** Whether a slice would find something to do now. Worker only. */
bool tr__loop_has_work(const struct loop *loop);

/** Accounts for a task whose flow of control has ended. `turns` is what `run` would have returned. Worker only. */
void tr__loop_charge(struct loop *loop, uint32_t turns);

/**
 * Runs this task in place of the task that tr__loop_charge has ended. The task must be in no queue,
 * and its run must not have begun. No other task runs before it returns. Worker only.
 */
void tr__loop_run(struct loop *loop, struct task *task);

/** Reads the clock. Worker only. */
void tr__loop_look_at_clock(struct loop *loop);

/**
 * Watches a descriptor, as io_watch of the platform: on_io reports what becomes possible. TR_LIMIT, TR_NO_MEMORY,
 * TR_INVALID_ARGUMENT. Worker only.
 */
TR_MUST_CHECK tr_status tr__loop_watch(struct loop *loop, int fd, uint64_t token);
/** Lets on_io also report TR_IO_OUT of a descriptor that is watched. TR_NO_MEMORY, TR_INVALID_ARGUMENT. Worker only. */
TR_MUST_CHECK tr_status tr__loop_watch_output(struct loop *loop, int fd, uint64_t token);
/** As tr__loop_watch, without TR_IO_OUT. Worker only. */
TR_MUST_CHECK tr_status tr__loop_watch_input(struct loop *loop, int fd, uint64_t token);

/**
 * Ends tr__loop_watch. Call it once for each watched descriptor, before the descriptor is closed. Events that were
 * collected before may still come by on_io, with their token. Worker only.
 */
void tr__loop_unwatch(struct loop *loop, int fd);
/** As tr__loop_unwatch, for a descriptor that is already closed and was the only one of its socket. */
void tr__loop_forget(struct loop *loop);

/** Posts a node and wakes the worker if it sleeps. Returns true if the worker was woken. Any thread. */
static inline bool loop_post(struct loop *loop, struct stack_node *node)
{
    if (__builtin_expect(!ready_post(&loop->ready, node), 1))
        return false;
    loop->platform->wake(loop->platform, loop->parker);
    return true;
}

/** Makes the worker look for work. Any thread. */
static inline void loop_nudge(struct loop *loop)
{
    if (ready_nudge(&loop->ready))
        loop->platform->wake(loop->platform, loop->parker);
}

/**
 * Counts that a hook has begun or ended something that may take long and is no run. Worker only.
 */
static inline void loop_step(struct loop *loop)
{
    /* Only the worker writes `steps`, so no read-modify-write is needed. */
    atom64_store(&loop->steps, atom64_load(&loop->steps, ATOM_RELAXED) + 1, ATOM_RELAXED);
}

/** Returns a number that changes whenever the loop makes progress. Any thread. */
static inline uint64_t loop_steps(const struct loop *loop)
{
    return atom64_load(&loop->runs, ATOM_RELAXED) + atom64_load(&loop->parks, ATOM_RELAXED) +
           atom64_load(&loop->steps, ATOM_RELAXED);
}

/** Makes the running task return to the loop before it runs another task by loop_next. Worker only. */
static inline void loop_call_back(struct loop *loop)
{
    loop->quick_given -= loop->quick_left;
    loop->quick_left = 0;
}

/** Adds a task that is in no queue. Worker only. */
static inline void loop_enqueue(struct loop *loop, struct task *task, enum task_class class)
{
    if (class == TASK_HIGH)
        /* the new task has priority over the one that loop_next would return */
        loop_call_back(loop);
    runqueue_push(&loop->queue, task, class);
}

/**
 * Whether a run should end before its turns are used up, because a tick has passed. Worker only.
 */
static inline bool loop_is_time_up(const struct loop *loop)
{
    return atom32_load(&loop->tick, ATOM_RELAXED) != loop->tick_seen;
}

/**
 * Ends a task that has run for `turns` turns, as if the task had returned to the loop. Returns the
 * task that runs next. That task is charged in the same way. NULL: return to the loop, because
 * something else may be due. Worker only.
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
