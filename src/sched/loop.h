/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loop of one worker: runs tasks, takes posts, does IO, sleeps when there is nothing to do.
 *
 * The loop knows neither actors nor threads. Its owner calls tr__loop_slice, which works until
 * there is nothing to do or its turns are used up, and tr__loop_rest, in which the loop may sleep.
 * A round handles IO events, then posts (which may be new tasks), and then tasks until the round's
 * deadline.
 *
 * Only a loop with watched descriptors looks at IO: when a round begins, and while the loop spins.
 * Events that a park has collected need no further system call, so a wake-up costs only one system
 * call.
 *
 * Tasks that a task makes ready run before the rest of the queue (sched/runqueue.h), until they
 * have used up a share of turns. The loop computes from the last turns how many turns take
 * LOOP_SHARE_NS. That is the share, but it has at most LOOP_CLOCK_TURNS turns. If it would have
 * less than LOOP_SHARE_MIN turns, there is no share, because it would gain nothing. Then the queue
 * is first come, first served.
 *
 * All state of a round is in the struct. So a task may end the flow of control in which it runs,
 * and another flow of control calls tr__loop_slice again. A verb ends a turn in this way.
 */
#ifndef SCHED_LOOP_H
#define SCHED_LOOP_H

#include <troupe/limits.h>
#include <troupe/platform.h>

#include "sched/ready.h"
#include "sched/runqueue.h"

enum {
    LOOP_CLOCK_TURNS = 64, /* the largest number of turns between two reads of the clock */
    /* the shortest share, in turns; if a share would be shorter, there is none */
    LOOP_SHARE_MIN = 4,
    /* how many looks at the ready inbox are between two reads of the clock in a spin */
    LOOP_SPINS = 64,
    /* the largest number of rests between two spins, when the spins find nothing */
    LOOP_VAIN_MAX = 63,
    LOOP_IO_EVENTS = 128 /* how many IO events are taken at once */
};
/* The length of a share. With this length, none of ten thousand tasks waits longer than 100 ms. */
#define LOOP_SHARE_NS (10 * TR_MICROSECOND)
/*
 * The loop reads the clock again after as many turns as would take this long, if each of them took
 * as long as the last turns did on average. LOOP_CLOCK_TURNS is the limit.
 */
#define LOOP_CLOCK_NS TR_RUN_NS_MAX
#define LOOP_NO_LIMIT UINT32_MAX /* for the turns of a slice: no limit in practice */

struct loop;

struct loop_hooks {
    /**
     * Runs a task for at most `turns_max` turns. Returns how many turns the task took, at least 1.
     * The loop reads this member by ATOM_PEEK, because another thread may replace it.
     */
    uint32_t (*run)(struct loop *loop, struct task *task, uint32_t turns_max);
    /** Handles a node that was posted. */
    void (*on_post)(struct loop *loop, struct stack_node *node);
    /**
     * Called when a watched descriptor can be used. `what` is a set of TR_IO_IN, TR_IO_OUT and
     * TR_IO_END. The token may belong to a descriptor that is no longer watched.
     */
    void (*on_io)(struct loop *loop, uint64_t token, uint32_t what);
    /** Called if loop->flush_is_due was set during the last run. This function must clear it. */
    void (*on_flush)(struct loop *loop);
    /** Called when a round begins: at least twice a millisecond while there is work, and after each sleep. */
    void (*on_round)(struct loop *loop);
    /**
     * Called when the time loop->alarm_ns has come. The loop sets alarm_ns to TR_NEVER before the
     * call.
     */
    void (*on_alarm)(struct loop *loop);
    /**
     * Called before the loop sleeps, for housekeeping. Returns the time at which the loop must call
     * this again at the latest.
     */
    tr_time (*on_idle)(struct loop *loop);
};

/**
 * Returns a copy of `hooks` with another `run`. Does not read hooks->run, because another thread
 * may replace it meanwhile.
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
    /* Only the worker writes the members before `tick`. */
    struct runqueue queue;
    /* posts that were taken out of the ready inbox and are not handled yet; oldest first */
    struct stack_node *posts;
    const struct loop_hooks *hooks;
    const tr_platform *platform;
    tr_parker *parker;
    tr_time now_ns; /* the time when the clock was last read */
    /* the deadline of the round; the loop begins a new round when now_ns has reached it */
    tr_time round_end_ns;
    tr_time alarm_ns;
    tr_time spin_ns;
    tr_time io_ns; /* how long to spin for IO while io_is_near; 0: as long as usual */
    /* the last sleep was so short that a spin would have seen the event that ended it */
    bool io_is_near;
    tr_time answer_ns; /* how long to spin after this loop has woken another loop */
    /*
     * how many rests will still skip the spin of answer_ns, because the last such spin found
     * nothing
     */
    uint32_t answer_skip;
    uint32_t answer_vain; /* the value that answer_skip was last set to */
    /* this loop has woken another loop since its last rest; the owner sets it */
    bool has_woken;
    /* How long to spin for the result of a thread that is no worker. The owner of the loop sets and
     * clears it. */
    tr_time await_ns;
    /* how many rests will still skip the spin of await_ns, because such spins found nothing */
    uint32_t await_skip;
    /* grows with each spin of await_ns that finds nothing; 0 after one that finds something */
    uint32_t await_vain;
    uint32_t io_watched; /* number of watched descriptors */
    uint32_t io_from;    /* io_events[io_from..io_count) are not handled yet */
    uint32_t io_count;
    /*
     * how many rests will still not spin for IO, because the last such spin found nothing; see
     * io_vain
     */
    uint32_t io_skip;
    /* the value that io_skip was last set to; only used with watched descriptors */
    uint32_t io_vain;
    tr_time round_min_ns; /* length of a round while no descriptors are watched */
    tr_time io_round_ns;  /* length of a round while descriptors are watched */
    int32_t clock_in;     /* turns that are left until the next read of the clock */
    int32_t clock_turns;  /* the value of clock_in after a read of the clock */
    /*
     * how many turns the tasks that other tasks have made ready may use before the rest of the
     * queue runs; 1: no share
     */
    int32_t share;
    int32_t share_left;  /* how many turns are left of `share` */
    uint32_t slice_left; /* turns that are left in the current slice */
    uint32_t tick_seen;
    /* how many more turns a task may spend on running other tasks (loop_next) */
    int32_t quick_left;
    int32_t quick_given; /* the value of quick_left when the task began */
    bool flush_is_due;   /* a task sets this to have on_flush called before the next task */
    /* on_round sets this when it could not do everything that is due: begin another round soon */
    bool wants_round;
    enum task_class class; /* the class of the task that runs now */
    atom64 runs;           /* counters of runs and of parks; any thread reads them */
    atom64 parks;
    atom64 seen_ns; /* a copy of now_ns that any thread may read */
    /* counts progress other than runs and parks: rounds, and what the hooks count */
    atom64 steps;

    /* Only the watch writes the members from here to `ready`. */
    _Alignas(64) atom32 tick;
    /* how many looks of the watch in a row have found the loop at the same step */
    uint32_t looks;
    uint64_t steps_seen; /* the sum of runs, parks and steps at the watch's last look */
    /*
     * When the watch first saw steps_seen. Up to 3 ms earlier if ticks are rare, see turn_since. It
     * is 0 while the loop sleeps. Any thread reads it.
     */
    atom64 since_ns;
    /* for how long the loop was awake, as far as the ticks of the watch show it */
    atom64 awake_ns;
    tr_time report_ns; /* when the current turn has taken this long, its next report is due */
    bool is_reported;

    /* Written by any thread. */
    _Alignas(64) struct ready ready;

    /* Written by the worker. */
    _Alignas(64) tr_io_event io_events[LOOP_IO_EVENTS];
};

/**
 * Makes a loop. The parker is lent. `spin_ns` 0: the loop spins for TR_SPIN_NS, TR_SPIN_IO_NS or
 * TR_SPIN_ANSWER_NS; negative: the loop does not spin.
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

/**
 * Counts the turns of a task whose flow of control has ended. `turns` is what `run` would have
 * returned. Worker only.
 */
void tr__loop_charge(struct loop *loop, uint32_t turns);

/**
 * Runs this task in place of a task that tr__loop_charge has ended. The task must be in no queue,
 * and its run must not have started. No other task runs before this task returns. Worker only.
 */
void tr__loop_run(struct loop *loop, struct task *task);

/** Reads the clock. Worker only. */
void tr__loop_look_at_clock(struct loop *loop);

/**
 * Watches a descriptor, as io_watch of the platform does: on_io reports what becomes possible.
 * Returns TR_OK, TR_LIMIT, TR_NO_MEMORY or TR_INVALID_ARGUMENT. Worker only.
 */
TR_MUST_CHECK tr_status tr__loop_watch(struct loop *loop, int fd, uint64_t token);
/**
 * Makes on_io also report TR_IO_OUT for a descriptor that is watched. Returns TR_OK, TR_NO_MEMORY
 * or TR_INVALID_ARGUMENT. Worker only.
 */
TR_MUST_CHECK tr_status tr__loop_watch_output(struct loop *loop, int fd, uint64_t token);
/** As tr__loop_watch, but on_io does not report TR_IO_OUT. Worker only. */
TR_MUST_CHECK tr_status tr__loop_watch_input(struct loop *loop, int fd, uint64_t token);

/**
 * Ends tr__loop_watch. To be called once for each watched descriptor, before the descriptor is
 * closed. on_io may still report events that were collected before, with their token. Worker only.
 */
void tr__loop_unwatch(struct loop *loop, int fd);
/**
 * As tr__loop_unwatch, but for a descriptor that is closed already, and that was the only
 * descriptor of its socket.
 */
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
 * Counts that a hook has begun or ended something that may take long and is no run of a task.
 * Worker only.
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

/**
 * Makes the next call of loop_next return NULL, so that the running task returns to the loop.
 * Worker only.
 */
static inline void loop_call_back(struct loop *loop)
{
    loop->quick_given -= loop->quick_left;
    loop->quick_left = 0;
}

/** Adds a task that is in no queue. Worker only. */
static inline void loop_enqueue(struct loop *loop, struct task *task, enum task_class class)
{
    if (class == TASK_HIGH)
        /* the new task comes before the task that loop_next would return */
        loop_call_back(loop);
    runqueue_push(&loop->queue, task, class);
}

/** Whether a run should end although it has turns left, because a tick has passed. Worker only. */
static inline bool loop_is_time_up(const struct loop *loop)
{
    return atom32_load(&loop->tick, ATOM_RELAXED) != loop->tick_seen;
}

/**
 * Ends a task that has run for `turns` turns, as if the task had returned to the loop. Returns the
 * task that the caller must run next and end in the same way. Returns NULL if the caller must
 * return to the loop, because something else may be due. Worker only.
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
