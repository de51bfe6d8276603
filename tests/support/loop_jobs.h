/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Jobs for the loop of a worker on a virtual clock, and a log of what it does.
 */
#ifndef SUPPORT_LOOP_JOBS_H
#define SUPPORT_LOOP_JOBS_H

#include "os/virtual.h"
#include "sched/loop.h"

#include <string.h>

enum { JOBS = 16, LOG_SIZE = 4096 };

/* A task that uses all the turns it is given, each of which takes `cost_ns`. */
struct job {
    struct task task;
    struct stack_node node;
    char name;
    enum task_class class;
    tr_time cost_ns;
    uint64_t turns_left; /* until it has nothing to do */
    uint64_t turns;
    uint64_t runs;
    tr_time spent_ns;
    uint32_t longest;         /* run, in turns */
    struct stack_node *posts; /* by its first turn */
    struct job *readies;      /* the same: put into its queue */
    struct job *rallies;      /* given a turn by each turn, when it has none */
};

static struct virtual_platform *virtual;
static struct loop loop;
static struct job jobs[JOBS];
static char log_text[LOG_SIZE];
static size_t log_length;
static tr_time idle_until;
static bool goes_on; /* a task that has run continues with the next one itself */
static bool ticks;   /* a millisecond of virtual time is a tick, as the watch gives it */

static void note(char what)
{
    if (log_length < LOG_SIZE - 1)
        log_text[log_length++] = what;
}

static void spend(tr_time ns)
{
    tr_time before = virtual->mono / TR_MILLISECOND;
    tr__virtual_advance(virtual, ns);
    uint32_t passed = (uint32_t)(virtual->mono / TR_MILLISECOND - before);
    if (ticks && passed)
        atom32_fetch_add(&loop.tick, passed, ATOM_RELAXED);
}

static struct job *job_of_node(struct stack_node *node)
{
    return (struct job *)(void *)((char *)node - offsetof(struct job, node));
}

static uint32_t run_one(struct loop *self, struct task *task, uint32_t turns_max)
{
    struct job *job = (struct job *)(void *)task;
    uint32_t turns = 0;
    note(job->name);
    while (turns < turns_max && job->turns_left) {
        turns++;
        job->turns_left--;
        if (job->posts)
            (void)loop_post(self, job->posts);
        job->posts = NULL;
        if (job->readies)
            loop_enqueue(self, &job->readies->task, job->readies->class);
        job->readies = NULL;
        if (job->rallies && !job->rallies->turns_left++)
            loop_enqueue(self, &job->rallies->task, job->rallies->class);
        job->spent_ns += job->cost_ns;
        spend(job->cost_ns);
        if (loop_is_time_up(self))
            break;
    }
    job->turns += turns;
    job->runs++;
    if (turns > job->longest)
        job->longest = turns;
    if (job->turns_left)
        loop_enqueue(self, task, job->class);
    return turns ? turns : 1;
}

static uint32_t on_run(struct loop *self, struct task *task, uint32_t turns_max)
{
    uint32_t turns = run_one(self, task, turns_max);
    while (goes_on && (task = loop_next(self, turns)))
        turns = run_one(self, task, turns_max);
    return turns;
}

static void on_post(struct loop *self, struct stack_node *node)
{
    struct job *job = job_of_node(node);
    note('p');
    loop_enqueue(self, &job->task, job->class);
}

/* The token is the number of the job that is made ready; others are only noted. */
static void on_io(struct loop *self, uint64_t token, uint32_t what)
{
    note(what & TR_IO_OUT ? 'o' : 'i');
    if (token >= JOBS)
        return;
    struct job *job = &jobs[token];
    loop_enqueue(self, &job->task, job->class);
}

/* ---- IO of the virtual platform: the test says what is there. ---- */

static tr_io_event io_ready[LOOP_IO_EVENTS];
static size_t io_ready_count;
static uint64_t io_polls;
static uint32_t io_watches;

static inline void io_happens(uint64_t token, uint32_t what)
{
    ck_assert_uint_lt(io_ready_count, LOOP_IO_EVENTS);
    io_ready[io_ready_count++] = (tr_io_event){.token = token, .what = what};
}

static tr_status fake_io_watch(const tr_platform *platform, tr_parker *parker, int fd,
                               uint64_t token)
{
    (void)platform;
    (void)parker;
    (void)token;
    if (fd < 0)
        return TR_INVALID_ARGUMENT;
    io_watches++;
    return TR_OK;
}

static void fake_io_unwatch(const tr_platform *platform, tr_parker *parker, int fd)
{
    (void)platform;
    (void)parker;
    (void)fd;
    io_watches--;
}

static size_t fake_io_poll(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                           size_t max)
{
    (void)platform;
    (void)parker;
    size_t count = io_ready_count < max ? io_ready_count : max;
    memcpy(events, io_ready, count * sizeof *events);
    memmove(io_ready, io_ready + count, (io_ready_count - count) * sizeof *events);
    io_ready_count -= count;
    io_polls++;
    return count;
}

static void on_round(struct loop *self)
{
    (void)self;
    note('r');
}

static void on_alarm(struct loop *self)
{
    ck_assert_int_eq(self->alarm_ns, TR_NEVER);
    note('a');
}

static tr_time on_idle(struct loop *self)
{
    (void)self;
    note('d');
    return idle_until;
}

static const struct loop_hooks hooks = {
    .run = on_run,
    .on_post = on_post,
    .on_io = on_io,
    .on_round = on_round,
    .on_alarm = on_alarm,
    .on_idle = on_idle,
};

static void begin(void)
{
    tr_parker *parker;
    virtual = tr__virtual_new(1);
    idle_until = TR_NEVER;
    virtual->table.io_watch = fake_io_watch;
    virtual->table.io_unwatch = fake_io_unwatch;
    virtual->table.io_poll = fake_io_poll;
    io_ready_count = 0;
    io_polls = 0;
    io_watches = 0;
    ck_assert_int_eq(virtual->table.parker_new(&virtual->table, &parker), TR_OK);
    tr__loop_init(&loop, &hooks, &virtual->table, parker, -1);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] =
            (struct job){.name = (char)('A' + i), .class = TASK_NORMAL, .cost_ns = TR_MICROSECOND};
    }
}

static void end(void)
{
    virtual->table.parker_free(&virtual->table, loop.parker);
    ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
    tr__virtual_free(virtual);
}

static inline void watch(uint64_t token)
{
    ck_assert_int_eq(tr__loop_watch(&loop, 5, token), TR_OK);
}

static struct job *start(int number, enum task_class class, tr_time cost_ns, uint64_t turns)
{
    struct job *job = &jobs[number];
    job->class = class;
    job->cost_ns = cost_ns;
    job->turns_left = turns;
    loop_enqueue(&loop, &job->task, class);
    return job;
}

#endif
