/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/loop.h"

#include <assert.h>
#include <troupe/limits.h>

#include "base/assert.h"

#define ROUND_MIN_NS (500 * TR_MICROSECOND)
#define IO_ROUND_NS (200 * TR_MICROSECOND)

void tr__loop_init(struct loop *loop, const struct loop_hooks *hooks, const tr_platform *platform,
                   tr_parker *parker, tr_time spin_ns)
{
    *loop = (struct loop){
        .hooks = hooks,
        .platform = platform,
        .parker = parker,
        .alarm_ns = TR_NEVER,
        .spin_ns = spin_ns < 0 ? 0
                   : spin_ns   ? spin_ns
                               : TR_SPIN_NS,
        .io_ns = spin_ns ? 0 : TR_SPIN_IO_NS,
        .answer_ns = spin_ns ? 0 : TR_SPIN_ANSWER_NS,
        .round_min_ns = ROUND_MIN_NS,
        .io_round_ns = IO_ROUND_NS,
        .clock_turns = LOOP_CLOCK_TURNS,
        .slice_left = LOOP_NO_LIMIT,
        .share = 1, /* in effect no share, until the loop knows how long turns are */
        .share_left = 1,
    };
    atom32_init(&loop->tick, 0);
    ready_init(&loop->ready);
    tr__loop_look_at_clock(loop);
}

void tr__loop_look_at_clock(struct loop *loop)
{
    loop->tick_seen = atom32_load(&loop->tick, ATOM_RELAXED);
    loop->clock_in = loop->clock_turns;
    loop->now_ns = loop->platform->mono_now(loop->platform);
    atom64_store(&loop->seen_ns, (uint64_t)loop->now_ns, ATOM_RELAXED);
}

/* Returns how many turns a share gets, if the last `turns` turns have taken `spent_ns`. The result
 * 1 means that there is no share. */
static int32_t share_of(tr_time spent_ns, int32_t turns)
{
    if (spent_ns * LOOP_CLOCK_TURNS <= LOOP_SHARE_NS * turns)
        return LOOP_CLOCK_TURNS;
    int32_t share = (int32_t)(LOOP_SHARE_NS * turns / spent_ns);
    return share < LOOP_SHARE_MIN ? 1 : share;
}

/*
 * Returns how many turns may pass before the clock is read again, if the last `turns` turns have
 * taken `spent_ns`. If the next turns take about as long as the last ones, the loop reads the clock
 * in time by itself, and needs no tick.
 */
static int32_t clock_turns_of(tr_time spent_ns, int32_t turns)
{
    if (spent_ns * LOOP_CLOCK_TURNS <= LOOP_CLOCK_NS * turns)
        return LOOP_CLOCK_TURNS;
    int32_t clock_turns = (int32_t)(LOOP_CLOCK_NS * turns / spent_ns);
    return clock_turns ? clock_turns : 1;
}

void tr__loop_charge(struct loop *loop, uint32_t turns)
{
    atom64_count(&loop->runs, 1);
    turns += (uint32_t)(loop->quick_given - loop->quick_left);
    loop->quick_given = loop->quick_left = 0;
    runqueue_charge(&loop->queue, loop->class, turns);
    loop->slice_left -= turns < loop->slice_left ? turns : loop->slice_left;
    loop->clock_in -= (int32_t)turns;
    loop->share_left -= (int32_t)turns;
    if (loop->clock_in <= 0 || loop_is_time_up(loop)) {
        tr_time seen_ns = loop->now_ns;
        int32_t since = loop->clock_turns - loop->clock_in;
        tr__loop_look_at_clock(loop);
        loop->share = share_of(loop->now_ns - seen_ns, since);
        loop->clock_in = loop->clock_turns = clock_turns_of(loop->now_ns - seen_ns, since);
        loop->share_left = 0;
    }
    if (loop->share_left <= 0) {
        loop->share_left = loop->share;
        runqueue_even(&loop->queue);
    }
}

static_assert((int)LOOP_CLOCK_TURNS <= (int)TR_RUN_TURNS_MAX,
              "others wait no longer for many tasks");

static void run_task(struct loop *loop, struct task *task, enum task_class class)
{
    uint32_t turns_max = loop->slice_left < TR_RUN_TURNS_MAX ? loop->slice_left : TR_RUN_TURNS_MAX;
    loop->class = class;
    /*
     * This task may run other normal tasks before it returns (loop_next), unless a high task waits
     * or the slice ends soon.
     */
    bool is_alone =
        class == TASK_NORMAL && loop->queue.credit <= 0 && !loop->queue.classes[TASK_HIGH].first;
    if (is_alone && loop->slice_left >= LOOP_CLOCK_TURNS + TR_RUN_TURNS_MAX)
        loop->quick_given = loop->quick_left =
            loop->clock_in < loop->share_left ? loop->clock_in : loop->share_left;
    tr__loop_charge(loop, ATOM_PEEK(&loop->hooks->run)(loop, task, turns_max));
}

void tr__loop_run(struct loop *loop, struct task *task)
{
    uint32_t turns_max = loop->slice_left < TR_RUN_TURNS_MAX ? loop->slice_left : TR_RUN_TURNS_MAX;
    loop_call_back(loop);
    tr__loop_charge(loop, ATOM_PEEK(&loop->hooks->run)(loop, task, turns_max ? turns_max : 1));
}

static void take_posts(struct loop *loop)
{
    if (!loop->posts)
        loop->posts = stack_reverse(ready_take(&loop->ready));
    while (loop->posts) {
        struct stack_node *node = loop->posts;
        loop->posts = node->next;
        loop->hooks->on_post(loop, node);
    }
}

/*
 * Asks for IO events. Returns whether there are any, including events that are left from an earlier
 * call.
 */
static bool look_at_io(struct loop *loop)
{
    if (loop->io_from == loop->io_count) {
        loop->io_from = 0;
        loop->io_count = (uint32_t)loop->platform->io_poll(
            loop->platform, loop->parker, loop->io_events, LOOP_IO_EVENTS);
    }
    return loop->io_from < loop->io_count;
}

/* Passes IO events to on_io. Counts each event as handled before the call, because on_io may end
 * the flow of control, and then the call does not return. */
static void take_io(struct loop *loop)
{
    if (!look_at_io(loop))
        return;
    while (loop->io_from < loop->io_count) {
        const tr_io_event *event = &loop->io_events[loop->io_from++];
        loop->hooks->on_io(loop, event->token, event->what);
    }
}

/* Begins a round: reads the clock, and calls on_round, on_alarm if the alarm is due, and on_io for
 * the IO events. */
static void round_begin(struct loop *loop)
{
    tr__loop_look_at_clock(loop);
    tr_time begin_ns = loop->now_ns;
    loop_step(loop);
    loop->hooks->on_round(loop);
    if (loop->alarm_ns <= begin_ns) {
        loop->alarm_ns = TR_NEVER;
        loop->hooks->on_alarm(loop);
    }
    if (loop->io_watched || loop->io_from < loop->io_count)
        take_io(loop);
    loop->round_end_ns = loop->now_ns + (loop->io_watched ? loop->io_round_ns : loop->round_min_ns);
}

bool tr__loop_slice(struct loop *loop)
{
    for (;;) {
        if (loop->now_ns >= loop->round_end_ns)
            round_begin(loop);
        if (loop->posts || !stack_is_empty(&loop->ready.posted))
            take_posts(loop);
        if (__builtin_expect(loop->flush_is_due, 0))
            loop->hooks->on_flush(loop);
        if (!loop->slice_left)
            return true;
        enum task_class class;
        struct task *task = runqueue_pop(&loop->queue, &class);
        if (!task) {
            if (!loop->wants_round)
                return false;
            round_begin(loop);
            if (runqueue_is_empty(&loop->queue) && stack_is_empty(&loop->ready.posted) &&
                !loop->wants_round && !loop->flush_is_due)
                return false;
            continue;
        }
        run_task(loop, task, class);
    }
}

bool tr__loop_has_work(const struct loop *loop)
{
    return loop->posts || loop->io_from < loop->io_count || !stack_is_empty(&loop->ready.posted) ||
           !runqueue_is_empty(&loop->queue);
}

/* Whether to spin until a thread that is no worker has done some work, such as a commit. */
static bool awaits(struct loop *loop)
{
    if (!loop->answer_ns || loop->await_ns <= loop->spin_ns)
        return false;
    if (!loop->await_skip)
        return true;
    loop->await_skip--;
    return false;
}

/* What a spin waits for. SPIN_USUAL has the usual length, or 0 if this rest skips its spin. The
 * other spins are longer. */
enum spin_kind { SPIN_USUAL, SPIN_IO, SPIN_ANSWER, SPIN_AWAIT };

struct spin {
    enum spin_kind kind;
    tr_time ns;
};

/*
 * Returns how long to spin. When this loop has woken another loop, that loop needs a while to wake
 * up, often longer than a usual spin. If this loop slept meanwhile, the answer of the other loop
 * would have to wake this loop again, and so on. So after it has woken another loop, this loop
 * spins longer, as long as such spins are successful.
 */
static struct spin spin_time(struct loop *loop, bool is_await)
{
    tr_time answer_ns = loop->has_woken ? loop->answer_ns : 0;
    if (is_await && loop->await_ns > answer_ns)
        return (struct spin){SPIN_AWAIT, loop->await_ns};
    if (answer_ns > loop->spin_ns && !loop->answer_skip)
        return (struct spin){SPIN_ANSWER, answer_ns};
    if (answer_ns > loop->spin_ns)
        loop->answer_skip--;
    if (loop->io_watched && loop->io_skip) {
        loop->io_skip--;
        return (struct spin){SPIN_USUAL, 0};
    }
    if (loop->io_watched && loop->io_is_near && loop->io_ns > loop->spin_ns)
        return (struct spin){SPIN_IO, loop->io_ns};
    return (struct spin){SPIN_USUAL, loop->spin_ns};
}

static bool spin_until(struct loop *loop, tr_time end_ns, bool yields)
{
    while (loop->now_ns < end_ns) {
        for (int i = 0; i < LOOP_SPINS; i++) {
            if (!stack_is_empty(&loop->ready.posted))
                return true;
            atom_pause();
        }
        if (loop->io_watched && look_at_io(loop)) {
            /* begin a round, in which the next slice hands out the events */
            loop->round_end_ns = 0;
            return true;
        }
        if (yields) /* The thread whose work this loop awaits is no worker. It may need this CPU. */
            loop->platform->yield(loop->platform);
        loop_step(loop);
        tr__loop_look_at_clock(loop);
    }
    return false;
}

static uint32_t more_vain(uint32_t vain)
{
    return vain < LOOP_VAIN_MAX ? 2 * vain + 1 : LOOP_VAIN_MAX;
}

/*
 * Counts a spin of a loop that watches descriptors. As long as nothing comes during such spins,
 * they become rarer. Otherwise a server with little load would spend its time on them, because each
 * of them makes system calls to look at IO.
 */
static void spin_count(struct loop *loop, tr_time spin_ns, bool has_come)
{
    if (!loop->io_watched || !spin_ns)
        return;
    loop->io_vain = has_come ? 0 : more_vain(loop->io_vain);
    loop->io_skip = loop->io_vain;
}

/*
 * Counts whether a longer spin has found anything, and sets how many rests skip the next longer
 * spin.
 */
static void longer_count(struct loop *loop, bool is_await, bool has_come)
{
    if (is_await) {
        /* Sometimes the other thread takes longer. So one spin that finds nothing does not stop the spins. */
        loop->await_vain = has_come ? 0 : more_vain(loop->await_vain);
        loop->await_skip = loop->await_vain / 2;
    } else {
        loop->answer_vain = has_come ? 0 : more_vain(loop->answer_vain);
        loop->answer_skip = loop->answer_vain;
    }
}

/* Spins. Returns true if a post or an IO event has come meanwhile. */
static bool loop_spin(struct loop *loop)
{
    tr_time begin_ns = loop->now_ns;
    bool is_await = awaits(loop);
    struct spin spin = spin_time(loop, is_await);
    tr_time end_ns = begin_ns + spin.ns;
    if (spin.kind != SPIN_USUAL && loop->alarm_ns < end_ns)
        end_ns = loop->alarm_ns;
    bool has_come = spin_until(loop, end_ns, is_await);
    loop->has_woken = false;
    if (!has_come)
        /* the other thread needs longer than a spin for this work, so do not spin for the same work
         * again */
        loop->await_ns = 0;
    bool is_longer = spin.kind == SPIN_ANSWER || spin.kind == SPIN_AWAIT;
    if (is_longer && loop->now_ns >= begin_ns + loop->spin_ns)
        longer_count(loop, spin.kind == SPIN_AWAIT, has_come);
    spin_count(loop, spin.ns, has_come);
    return has_come;
}

void tr__loop_rest(struct loop *loop, tr_time deadline_ns)
{
    tr__loop_look_at_clock(loop);
    tr_time begin_ns = loop->now_ns;
    if (loop_spin(loop))
        return;
    tr_time idle_ns = loop->hooks->on_idle(loop);
    if (idle_ns < deadline_ns)
        deadline_ns = idle_ns;
    if (loop->alarm_ns < deadline_ns)
        deadline_ns = loop->alarm_ns;
    if (ready_doze(&loop->ready)) {
        atom64_count(&loop->parks, 1);
        loop->platform->park(loop->platform, loop->parker, deadline_ns);
        ready_rise(&loop->ready);
        if (loop->io_watched && loop->io_ns) {
            tr__loop_look_at_clock(loop);
            /*
             * The measured time includes the wake-up, which takes a while. So the limit is twice
             * the length of the spin.
             */
            loop->io_is_near = loop->now_ns - begin_ns < 2 * loop->io_ns;
        }
    }
    /* The next slice begins a round, whatever has ended the sleep. */
    loop->round_end_ns = 0;
}

static tr_status watched(struct loop *loop, tr_status status)
{
    if (status != TR_OK)
        return status;
    if (!loop->io_watched++) /* from now on rounds are shorter */
        loop->round_end_ns = 0;
    return TR_OK;
}

tr_status tr__loop_watch(struct loop *loop, int fd, uint64_t token)
{
    return watched(loop, loop->platform->io_watch(loop->platform, loop->parker, fd, token));
}

tr_status tr__loop_watch_input(struct loop *loop, int fd, uint64_t token)
{
    return watched(loop, loop->platform->io_watch_input(loop->platform, loop->parker, fd, token));
}

tr_status tr__loop_watch_output(struct loop *loop, int fd, uint64_t token)
{
    return loop->platform->io_watch_output(loop->platform, loop->parker, fd, token);
}

void tr__loop_unwatch(struct loop *loop, int fd)
{
    TR_ASSERT(loop->io_watched > 0);
    loop->io_watched--;
    loop->platform->io_unwatch(loop->platform, loop->parker, fd);
}

void tr__loop_forget(struct loop *loop)
{
    tr__loop_unwatch(loop, -1);
}
