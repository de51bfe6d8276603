/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Workers that others keep waiting, on real threads: many ready actors, functions that block,
 * handlers that do not return. What continues must continue before the test lets go of what blocks; how
 * late it was is printed, and not judged: the machine may be busy with other things.
 */
#include "support/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { WORKERS = 4 };

static struct theatre theatre;

static tr_time now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * TR_SECOND + now.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
    const tr_time *x = a;
    const tr_time *y = b;
    return (*x > *y) - (*x < *y);
}

/* Figures of P19 and P20, for whoever reads the output. */
static void print_times(const char *what, tr_time *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    printf("%s: p50 %.3f ms, p99 %.3f ms, most %.3f ms of %zu\n",
           what,
           (double)times[count / 2] / 1e6,
           (double)times[count * 99 / 100] / 1e6,
           (double)times[count - 1] / 1e6,
           count);
}

/* A gate at which threads wait until the test opens it. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moves = PTHREAD_COND_INITIALIZER;
static bool gate_is_open;
static int gate_waiting;

static void gate_pass(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&gate_lock);
    gate_waiting++;
    pthread_cond_broadcast(&gate_moves);
    while (!gate_is_open)
        pthread_cond_wait(&gate_moves, &gate_lock);
    gate_waiting--;
    pthread_mutex_unlock(&gate_lock);
}

static void gate_await(int count)
{
    pthread_mutex_lock(&gate_lock);
    while (gate_waiting < count)
        pthread_cond_wait(&gate_moves, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}

static void gate_open(void)
{
    pthread_mutex_lock(&gate_lock);
    gate_is_open = true;
    pthread_cond_broadcast(&gate_moves);
    pthread_mutex_unlock(&gate_lock);
}

static void gate_shut(void)
{
    pthread_mutex_lock(&gate_lock);
    while (gate_waiting)
        pthread_cond_wait(&gate_moves, &gate_lock);
    gate_is_open = false;
    pthread_mutex_unlock(&gate_lock);
}

/* ---- Who waits at it. ---- */

TR_MESSAGE(block);
TR_MESSAGE(help_block);
TR_ACTOR(blocker, block, help_block);

/* Without a word to anybody: its worker stands still. */
static tr_next on_block(void)
{
    gate_pass(NULL);
    return TR_SAME;
}

static tr_next on_help_block(tr_self *self)
{
    tr_blocking(self, gate_pass, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(blocker, void, TR_ON(block, on_block), TR_ON(help_block, on_help_block),
            TR_OPTIONS(.is_pinned = true));

/* ---- What continues. ---- */

TR_MESSAGE(tell_report);
TR_MESSAGE(begin_life, (u64, rounds));
TR_MESSAGE(echo, (u64, n));
TR_REQUEST(call, echo, (u64, n));
TR_MESSAGE(beat);
TR_MESSAGE(lived, (u64, rounds), (u64, terminated), (u64, answered));
TR_ACTOR(callee, call);
TR_BEHAVIOR_DECLARE(callee);
TR_ACTOR(liver, begin_life, beat, echo);

enum { BEATS_MAX = 4096 };
static tr_time lateness[BEATS_MAX];
static atomic_uint beats_noted;

static tr_next on_call(tr_self *self, const struct call *message)
{
    return tr_reply(self, echo, .n = message->n + 1);
}
TR_BEHAVIOR(callee, void, TR_ON(call, on_call));

struct liver {
    uint64_t rounds;
    uint64_t left;
    uint64_t terminated;
    uint64_t answered;
    tr_time due_ns;
    tr_ref reports_to;
};

/* Every millisecond: a timer, a child with its set-up, an ask, its end and the watch of it. */
static void next_beat(tr_self *self, struct liver *liver)
{
    liver->due_ns = now_ns() + TR_MILLISECOND;
    (void)tr_timer_once(self, NULL, TR_MILLISECOND, beat);
}

static tr_next on_begin_life(tr_self *self, struct liver *liver, const struct begin_life *message)
{
    liver->rounds = liver->left = message->rounds;
    liver->reports_to = tr_sender(self);
    next_beat(self, liver);
    return TR_SAME;
}

static tr_next on_beat(tr_self *self, struct liver *liver)
{
    unsigned at = atomic_fetch_add(&beats_noted, 1);
    if (at < BEATS_MAX)
        lateness[at] = now_ns() - liver->due_ns;
    callee_ref callee = tr_spawn_at(self, tr_worker(self), callee, NULL);
    tr_watch(self, callee);
    const struct echo *reply = NULL;
    if (tr_try_await(self, tr_ask_within(self, STAGE_PATIENCE, callee, call, .n = 1), &reply) ==
        TR_OK)
        liver->answered += reply->n == 2;
    tr_stop(self, callee);
    return TR_SAME;
}

static tr_next on_terminated(tr_self *self, struct liver *liver)
{
    liver->terminated++;
    if (--liver->left)
        next_beat(self, liver);
    else
        tr_tell(self,
                liver->reports_to,
                lived,
                .rounds = liver->rounds,
                .terminated = liver->terminated,
                .answered = liver->answered);
    return TR_SAME;
}

static tr_next on_echo(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(liver, struct liver, TR_ON(begin_life, on_begin_life), TR_ON(beat, on_beat),
            TR_ON(echo, on_echo), TR_ON(tr_terminated, on_terminated));

static liver_ref liver_at(int worker)
{
    liver_ref liver;
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &liver, worker, liver, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre.client, liver, STAGE_PATIENCE, NULL), TR_OK);
    return liver;
}

static void await_lives(int count, uint64_t rounds)
{
    for (int i = 0; i < count; i++) {
        const struct lived *message = tr_receive(theatre.client, lived, STAGE_PATIENCE);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(message->rounds, rounds);
        ck_assert_uint_eq(message->answered, rounds);
        ck_assert_uint_eq(message->terminated, rounds);
    }
}

static blocker_ref blocker_at(int worker)
{
    blocker_ref blocker;
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &blocker, worker, blocker, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre.client, blocker, STAGE_PATIENCE, NULL), TR_OK);
    return blocker;
}

/* All workers but one stand still, whichever that is. */
TEST(one_worker_goes_on_while_the_others_stand_still, "WP-11", "D-02")
{
    uint64_t rounds = test_scale(100, 1000);
    blocker_ref blockers[WORKERS];
    atomic_store(&beats_noted, 0);
    for (int free = 0; free < WORKERS; free++) {
        theatre = theatre_open(WORKERS);
        liver_ref liver = liver_at(free); /* before: a spawn at the top needs the worker of /user */
        for (int i = 0; i < WORKERS; i++) {
            if (i != free)
                blockers[i] = blocker_at(i);
        }
        for (int i = 0; i < WORKERS; i++) {
            if (i != free)
                tr_tell(theatre.client, blockers[i], block);
        }
        gate_await(WORKERS - 1);
        tr_tell(theatre.client, liver, begin_life, .rounds = rounds);
        await_lives(1, rounds);
        ck_assert_int_eq(gate_waiting, WORKERS - 1);
        gate_open();
        theatre_close(&theatre);
        gate_shut();
    }
    unsigned count = atomic_load(&beats_noted);
    print_times("a timer beside workers that stand still is late by",
                lateness,
                count < BEATS_MAX ? count : BEATS_MAX);
}

/* As many as there are workers, and more, block where they say so: nobody is kept waiting. */
TEST(work_that_blocks_on_helpers_keeps_nobody_waiting, "WP-11", "B-10")
{
    enum { BLOCKED = 3 };
    uint64_t rounds = test_scale(200, 1000);
    atomic_store(&beats_noted, 0);
    theatre = theatre_open(WORKERS);
    for (int i = 0; i < WORKERS * BLOCKED; i++)
        tr_tell(theatre.client, blocker_at(i % WORKERS), help_block);
    gate_await(WORKERS * BLOCKED);
    for (int i = 0; i < WORKERS; i++)
        tr_tell(theatre.client, liver_at(i), begin_life, .rounds = rounds);
    await_lives(WORKERS, rounds);
    ck_assert_int_eq(gate_waiting, WORKERS * BLOCKED);
    gate_open();
    theatre_close(&theatre);
    gate_shut();
    unsigned count = atomic_load(&beats_noted);
    print_times("a timer beside functions that block on helpers is late by",
                lateness,
                count < BEATS_MAX ? count : BEATS_MAX);
}

/* ---- Many that are ready. ---- */

TR_MESSAGE(spin);
TR_MESSAGE(spinner_is, (u64, index));
TR_MESSAGE(done);
TR_ACTOR(spinner, spin);

enum { SPINNERS = 10000, SPINS = (TEST_HAS_SANITIZER ? 3 : 20) * TR_RUN_TURNS_MAX };

static tr_time waited_most[SPINNERS];
static uint64_t turns_of_others[SPINNERS]; /* at most, between two of its own */
static atomic_uint_fast64_t turns_of_all;
static atomic_uint spinners_left;

struct spinner {
    uint64_t index;
    uint64_t turns;
    uint64_t last_turn;
    tr_time last_ns;
};

static tr_next set_up_spinner(struct spinner *spinner, const struct spinner_is *message)
{
    spinner->index = message->index;
    return TR_SAME;
}

/* Time of the worker: what else the machine does is none of its business. */
static tr_time cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * TR_SECOND + now.tv_nsec;
}

/* The clock is read once for each run, at its beginning: to read it is most of such a turn. */
static tr_next on_spin(tr_self *self, struct spinner *spinner)
{
    uint64_t turn = atomic_fetch_add_explicit(&turns_of_all, 1, memory_order_relaxed);
    if (!spinner->turns || turn != spinner->last_turn + 1) {
        tr_time now = cpu_ns();
        uint64_t others = turn - spinner->last_turn;
        uint64_t index = spinner->index;
        if (spinner->turns && now - spinner->last_ns > waited_most[index])
            waited_most[index] = now - spinner->last_ns;
        if (spinner->turns && others > turns_of_others[index])
            turns_of_others[index] = others;
        spinner->last_ns = now;
    }
    spinner->last_turn = turn;
    if (++spinner->turns < SPINS)
        tr_tell(self, tr_me(self), spin);
    else if (atomic_fetch_sub(&spinners_left, 1) == 1)
        tr_tell(self, tr_client_ref(theatre.client), done);
    return TR_SAME;
}
TR_BEHAVIOR(spinner, struct spinner, TR_SETUP_WITH(spinner_is, set_up_spinner),
            TR_ON(spin, on_spin));

static spinner_ref spinners[SPINNERS];

TEST(none_of_ten_thousand_waits_for_long, "WP-10", "D-02")
{
    theatre = theatre_open(1);
    atomic_store(&spinners_left, SPINNERS);
    for (uint64_t i = 0; i < SPINNERS; i++)
        ck_assert_int_eq(
            tr_try_spawn(theatre.client, &spinners[i], spinner, NULL, spinner_is, .index = i),
            TR_OK);
    for (int i = 0; i < SPINNERS; i++)
        ck_assert_int_eq(tr_tell(theatre.client, spinners[i], spin), TR_OK);
    ck_assert_ptr_nonnull(tr_receive(theatre.client, done, STAGE_PATIENCE));
    uint64_t most = 0;
    for (int i = 0; i < SPINNERS; i++)
        most = turns_of_others[i] > most ? turns_of_others[i] : most;
    print_times("10,000 that are ready wait, in time of their worker, for", waited_most, SPINNERS);
    /*
     * Each of the others has one run, or two where a tick of the clock has cut the first one
     * short.
     */
    ck_assert_uint_gt(most, SPINNERS);
    ck_assert_uint_le(most, (uint64_t)2 * SPINNERS * TR_RUN_TURNS_MAX);
    theatre_close(&theatre);
}

SUITE("fairness on threads", one_worker_goes_on_while_the_others_stand_still,
      work_that_blocks_on_helpers_keeps_nobody_waiting, none_of_ten_thousand_waits_for_long)
