/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shutdown on real threads: handlers that never return, functions of tr_blocking that never return,
 * floods, deep and wide trees, any moment, and what it costs to wait.
 *
 * A handler that is stuck here waits for a gate of the test or loops, and the gate is opened at the
 * end, so that what happens then can be seen as well. Times are measured and printed; what is asserted
 * of them leaves room for a machine that is busy with other things.
 */
#include "support/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

TR_MESSAGE(hang);
TR_MESSAGE(spin);
TR_MESSAGE(hang_aside);
TR_MESSAGE(tick, (u64, n));
TR_MESSAGE(grow, (u64, depth), (u64, width), (i32, worker));
TR_MESSAGE(bear, (i32, worker));
TR_ACTOR(victim, hang, spin, hang_aside, tick, grow, bear);

/* How long a run may take beyond its deadline: the promise is 50 ms, on a machine of its own. */
#define LATE_MAX_NS (20 * TR_SECOND)

/* Threads that are left alone on purpose are no leak. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_open;
static atomic_int inside;
static atomic_int started;
static atomic_int stopped;

/* What was left alone on purpose is no leak. */
static tr_system *volatile kept[8];
static int kept_count;

static void wait_at_gate(void)
{
    atomic_fetch_add(&inside, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static tr_next on_hang(void)
{
    wait_at_gate();
    return TR_SAME;
}

static tr_next on_spin(void)
{
    atomic_fetch_add(&inside, 1);
    while (!atomic_load(&is_open))
        ;
    return TR_SAME;
}

static void hang_in_helper(void *argument)
{
    (void)argument;
    wait_at_gate();
}

static tr_next on_hang_aside(tr_self *self)
{
    tr_status status = tr_try_blocking(self, hang_in_helper, NULL);
    (void)status;
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    tr_tell(self, tr_me(self), tick, .n = message->n + 1);
    return TR_SAME;
}

static tr_next on_start(void)
{
    atomic_fetch_add(&started, 1);
    return TR_SAME;
}

static tr_next on_stop(void)
{
    atomic_fetch_add(&stopped, 1);
    return TR_SAME;
}

static tr_next on_grow(tr_self *self, const struct grow *message);
static tr_next on_bear(tr_self *self, const struct bear *message);

TR_BEHAVIOR(victim, void, TR_ON(hang, on_hang), TR_ON(spin, on_spin),
            TR_ON(hang_aside, on_hang_aside), TR_ON(tick, on_tick), TR_ON(grow, on_grow),
            TR_ON(bear, on_bear), TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_stop));

/* Children, on all workers in turn; the first child goes on. */
static tr_next on_grow(tr_self *self, const struct grow *message)
{
    int workers = tr_system_workers(tr_system_of(self));
    for (uint64_t i = 0; i < message->width; i++) {
        victim_ref child;
        int worker = (int)((uint64_t)message->worker + i) % workers;
        tr_status status = tr_try_spawn_at(self, &child, worker, victim, NULL);
        if (status != TR_OK)
            return TR_SAME;
        if (i == 0 && message->depth > 1)
            tr_tell(self,
                    child,
                    grow,
                    .depth = message->depth - 1,
                    .width = message->width,
                    .worker = message->worker + 1);
    }
    return TR_SAME;
}

static tr_next on_bear(tr_self *self, const struct bear *message)
{
    victim_ref child;
    ck_assert_int_eq(tr_try_spawn_at(self, &child, message->worker, victim, "child"), TR_OK);
    tr_tell(self, child, hang_aside);
    return TR_SAME;
}

static void close_gate(void)
{
    pthread_mutex_lock(&gate);
    atomic_store(&is_open, false);
}

static void open_gate(void)
{
    atomic_store(&is_open, true);
    pthread_mutex_unlock(&gate);
}

static victim_ref put(struct theatre *theatre, int worker, const char *name)
{
    victim_ref victim;
    ck_assert_int_eq(tr_try_spawn_at(theatre->client, &victim, worker, victim, name), TR_OK);
    return victim;
}

static void await(atomic_int *counter, int count)
{
    while (atomic_load(counter) < count)
        sched_yield();
}

static tr_time now(void)
{
    return tr_platform_real()->mono_now(tr_platform_real());
}

/* Shuts down and waits; how long after the deadline that returned. */
static tr_time shut(struct theatre *theatre, tr_time timeout_ns, tr_status expected)
{
    tr_time begin_ns = now();
    tr_system_shutdown(theatre->system, timeout_ns);
    ck_assert_int_eq(tr_system_wait(theatre->system), expected);
    tr_time late_ns = now() - begin_ns - timeout_ns;
    ck_assert_int_lt(late_ns, LATE_MAX_NS);
    return late_ns;
}

static void say_late(const char *what, tr_time late_ns)
{
    printf("# %s: returned %.1f ms after the deadline\n", what, (double)late_ns / 1e6);
}

/* ---- Handlers that never return. ---- */

/* One sits on worker `stuck`, in a tree whose other actors live on the other worker. */
static void a_tree_around_a_stuck_handler(int stuck, bool spins)
{
    struct theatre theatre = theatre_open(2);
    int well = 1 - stuck;
    atomic_store(&started, 0);
    atomic_store(&stopped, 0);
    atomic_store(&inside, 0);
    close_gate();
    victim_ref hung = put(&theatre, stuck, "hung");
    (void)put(&theatre, well, "well");
    (void)put(&theatre, stuck, "neighbour");
    await(&started, 3); /* who is killed before it was set up gets no tr_post_stop */
    if (spins)
        tr_tell(theatre.client, hung, spin);
    else
        tr_tell(theatre.client, hung, hang);
    await(&inside, 1);
    tr_time late_ns = shut(&theatre, TR_MILLISECOND, TR_SHUTDOWN_INCOMPLETE);
    say_late(spins ? "a loop" : "a lock", late_ns);
    await(&stopped, 1); /* the one that is well; it may lack a CPU */

    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(theatre.system, &report), TR_OK);
    ck_assert_int_eq(report.status, TR_SHUTDOWN_INCOMPLETE);
    ck_assert_uint_eq(report.busy_count, 1);
    ck_assert_str_eq(report.busy[0].path, "/user/hung");
    ck_assert_str_eq(report.busy[0].type, spins ? "spin" : "hang");
    ck_assert_str_eq(report.busy[0].where, spins ? "on_spin" : "on_hang");
    ck_assert_int_eq(report.busy[0].worker, stuck);
    ck_assert_int_ge(report.busy[0].age_ns, 20 * TR_MILLISECOND);
    ck_assert_uint_le(report.stopped, 1);
    ck_assert_uint_eq(report.left + report.stopped, 3);

    tr_client_free(theatre.client);
    kept[kept_count++] = theatre.system;
    tr_system_free(theatre.system);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_SHUTDOWN_INCOMPLETE);
    /* When it returns after all, its worker does what is left to do. */
    open_gate();
    await(&stopped, 3);
}

TEST(a_handler_that_never_returns_keeps_nobody_else, "X-01", "SH-03", "SH-06", "LC-06")
{
    a_tree_around_a_stuck_handler(1, false);
    a_tree_around_a_stuck_handler(1, true);
}

TEST(nor_does_one_on_the_worker_of_the_root, "X-01", "SH-03", "SH-06")
{
    a_tree_around_a_stuck_handler(0, false);
    a_tree_around_a_stuck_handler(0, true);
}

/* A chain from worker to worker with the stuck one in its middle: above and below it all is done. */
struct link {
    uint64_t depth;
};
TR_MESSAGE(link_new, (u64, depth));
TR_MESSAGE(stick, (u64, depth));
TR_ACTOR(chained, link_new, stick);

static int chain_order[16];
static atomic_int chain_count;
static atomic_int chain_ready;

static tr_next chained_setup(tr_self *self, struct link *state, const struct link_new *message)
{
    state->depth = message->depth;
    if (message->depth == 8) {
        atomic_fetch_add(&chain_ready, 1);
        return TR_SAME;
    }
    chained_ref child;
    return tr_try_spawn_at(self,
                           &child,
                           (int)((message->depth + 1) % 3),
                           chained,
                           NULL,
                           link_new,
                           .depth = message->depth + 1) == TR_OK
               ? TR_SAME
               : TR_STOP;
}

static tr_next chained_stick(tr_self *self, struct link *state, const struct stick *message)
{
    (void)self;
    if (state->depth == message->depth)
        wait_at_gate();
    return TR_SAME;
}

static tr_next chained_stop(tr_self *self, struct link *state)
{
    (void)self;
    chain_order[atomic_fetch_add(&chain_count, 1)] = (int)state->depth;
    return TR_SAME;
}

TR_BEHAVIOR(chained, struct link, TR_SETUP_WITH(link_new, chained_setup),
            TR_ON(stick, chained_stick), TR_ON(tr_post_stop, chained_stop));

TEST(ancestors_go_on_as_if_it_had_stopped, "X-01", "SH-01", "L-06")
{
    struct theatre theatre = theatre_open(3);
    chained_ref top;
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &top, 1, chained, "top", link_new, .depth = 1),
                     TR_OK);
    await(&chain_ready, 1);
    close_gate();
    /* The top one is on worker 1; those of depth 1, 4 and 7 are. */
    tr_tell(theatre.client, top, stick, .depth = 1);
    await(&inside, 1);
    (void)shut(&theatre, 0, TR_SHUTDOWN_INCOMPLETE);
    /*
     * 8 lives on worker 2, 6 and 5, 3 and 2 on others than 1; the three on 1 can do nothing. On a
     * machine without a CPU to spare the others may be late, but they come.
     */
    await(&chain_count, 5);
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(theatre.system, &report), TR_OK);
    ck_assert_uint_ge(report.left, 3);
    ck_assert_uint_eq(report.left + report.stopped, 8);
    ck_assert_uint_eq(report.forced, report.stopped);
    ck_assert_str_eq(report.busy[0].path, "/user/top");
    /* Whoever was not above somebody stuck came in order. */
    int place[16] = {0};
    for (int i = 0; i < 5; i++)
        place[chain_order[i]] = i;
    ck_assert_int_lt(place[6], place[5]);
    ck_assert_int_lt(place[3], place[2]);
    open_gate();
    await(&chain_count, 8);
    tr_client_free(theatre.client);
    kept[kept_count++] = theatre.system;
    tr_system_free(theatre.system);
}

/* Its actor lives on worker 0, the parent of that on `worker`. */
static void a_child_of_which_a_function_hangs(int worker)
{
    struct theatre theatre = theatre_open(2);
    atomic_store(&started, 0);
    atomic_store(&stopped, 0);
    atomic_store(&inside, 0);
    close_gate();
    victim_ref parent = put(&theatre, worker, "parent");
    (void)put(&theatre, 1 - worker, "other");
    tr_tell(theatre.client, parent, bear, .worker = 0);
    await(&started, 3);
    await(&inside, 1);
    say_late("tr_blocking", shut(&theatre, TR_MILLISECOND, TR_SHUTDOWN_INCOMPLETE));
    await(&stopped, 2); /* its parent too */
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(theatre.system, &report), TR_OK);
    ck_assert_uint_eq(report.busy_count, 1);
    ck_assert_str_eq(report.busy[0].path, "/user/parent/child");
    ck_assert_str_eq(report.busy[0].type, "hang_aside");
    ck_assert_str_eq(report.busy[0].where, "tr_blocking");
    ck_assert_int_eq(report.busy[0].worker, -1);
    open_gate();
    await(&stopped, 3);
    tr_client_free(theatre.client);
    kept[kept_count++] = theatre.system;
    tr_system_free(theatre.system);
}

TEST(a_function_of_tr_blocking_that_never_returns_keeps_nobody_else, "X-01", "SH-06", "SH-07")
{
    a_child_of_which_a_function_hangs(0);
    a_child_of_which_a_function_hangs(1);
}

/* tr_system_run, not wait: the caller's thread is none of the workers. */
static void *shut_from_another(void *context)
{
    await(&inside, 1);
    tr_system_shutdown(context, TR_MILLISECOND);
    return NULL;
}

TEST(run_returns_though_its_only_worker_loops, "X-01", "X-06")
{
    struct theatre theatre = theatre_new(1);
    pthread_t thread;
    victim_ref victim;
    close_gate();
    ck_assert_int_eq(tr_try_spawn(theatre.client, &victim, victim, "loop"), TR_OK);
    tr_tell(theatre.client, victim, spin);
    ck_assert_int_eq(pthread_create(&thread, NULL, shut_from_another, theatre.system), 0);
    ck_assert_int_eq(tr_system_run(theatre.system), TR_SHUTDOWN_INCOMPLETE);
    pthread_join(thread, NULL);
    open_gate();
    await(&stopped, 1);
    tr_client_free(theatre.client);
    kept[kept_count++] = theatre.system;
    tr_system_free(theatre.system);
}

/* Before the deadline others are told although the root's worker is busy. */
TEST(a_busy_root_does_not_keep_others_from_their_pill, "X-01")
{
    struct theatre theatre = theatre_open(2);
    close_gate();
    victim_ref busy = put(&theatre, 0, "busy");
    (void)put(&theatre, 1, "well");
    await(&started, 2);
    tr_tell(theatre.client, busy, hang);
    await(&inside, 1);
    tr_system_shutdown(theatre.system, STAGE_PATIENCE);
    pthread_t waiter;
    ck_assert_int_eq(
        pthread_create(&waiter, NULL, (void *(*)(void *))(uintptr_t)tr_system_wait, theatre.system),
        0);
    await(&stopped, 1);
    open_gate();
    pthread_join(waiter, NULL);
    ck_assert_int_eq(atomic_load(&stopped), 2);
    theatre_close(&theatre);
}

/* ---- Much to stop. ---- */

static uint64_t live(struct theatre *theatre)
{
    tr_counters counters;
    tr_system_counters(theatre->system, &counters);
    return counters.live;
}

static void shut_tree(const char *what, uint64_t depth, uint64_t width, uint64_t count)
{
    struct theatre theatre = theatre_open_slow(2);
    atomic_store(&started, 0);
    atomic_store(&stopped, 0);
    victim_ref top = put(&theatre, 0, "top");
    victim_ref flood = put(&theatre, 1, "flood");
    tr_tell(theatre.client, top, grow, .depth = depth, .width = width, .worker = 1);
    tr_tell(theatre.client, flood, tick);
    while (live(&theatre) < count + 2)
        sched_yield();
    tr_time late_ns = shut(&theatre, 0, TR_OK);
    /* Rounds are as slow as the clock, so this says little; bench/micro/stop.c measures. */
    printf("# %s: stopped in %.1f ms of slow time\n", what, (double)late_ns / 1e6);
    ck_assert_int_eq(atomic_load(&started), atomic_load(&stopped));
    theatre_close(&theatre);
}

TEST(deep_and_wide_trees_under_a_flood_stop_at_the_deadline, "X-01", "SH-01", "SH-03")
{
    uint64_t width = TEST_HAS_SANITIZER ? 10000 : 100000;
    shut_tree("depth 62", 62, 1, 62);
    shut_tree("depth 62, width 100", 62, 100, 6200);
    shut_tree("width 100,000", 1, width, width);
}

/* ---- Any moment. ---- */

static tr_next restless_tick(tr_self *self, const struct tick *message)
{
    victim_ref child;
    int workers = tr_system_workers(tr_system_of(self));
    int worker = (int)(tr_random(self) % (uint64_t)workers);
    if (tr_try_spawn_at(self, &child, worker, victim, NULL) == TR_OK) {
        tr_tell(self, child, grow, .depth = 2, .width = 2, .worker = worker);
        if (message->n % 2)
            tr_stop(self, child);
    }
    tr_tell(self, tr_me(self), tick, .n = message->n + 1);
    return TR_SAME;
}

TR_BEHAVIOR(restless, void, TR_ON(tick, restless_tick), TR_ON(tr_pre_start, on_start),
            TR_ON(tr_post_stop, on_stop));

/* A moment is how far they have come: from before anything has begun. */
static void await_handled(tr_system *system, uint64_t messages)
{
    tr_counters counters;
    tr_system_counters(system, &counters);
    while (counters.handled < messages) {
        sched_yield();
        tr_system_counters(system, &counters);
    }
}

TEST(systems_start_and_stop_at_any_moment, "X-01", "X-02", "SH-04", "SH-05", "SH-11")
{
    uint64_t rounds = test_scale(TEST_HAS_SANITIZER ? 200 : 400, 20000);
    uint64_t seed = test_seed();
    printf("# seed %" PRIu64 "\n", seed);
    srand((unsigned)seed);
    uint64_t round = 0;
    /* A machine that is busy with other things does fewer of them: only a hang is to meet the time-out. */
    time_t end = time(NULL) + (TEST_HAS_SANITIZER ? 120 : 30);
    for (; round < rounds && (test_is_long() || round < 50 || time(NULL) < end); round++) {
        struct theatre theatre = theatre_open_slow(1 + rand() % 3);
        atomic_store(&started, 0);
        atomic_store(&stopped, 0);
        for (int i = 0; i < 3; i++) {
            tr_ref ref;
            int worker = i % tr_system_workers(theatre.system);
            const tr_spawn_args args = {
                .size = sizeof args, .behavior = &tr_behavior_restless, .worker = worker};
            uint64_t bits;
            ck_assert_int_eq(tr_client_try_spawn(theatre.client, &args, &bits), TR_OK);
            ref = tr_ref_from_bits(bits);
            tr_tell(theatre.client, ref, tick, .n = (uint64_t)i);
        }
        await_handled(theatre.system, (uint64_t)(rand() % 400));
        tr_system_shutdown(theatre.system, rand() % 2 ? 0 : STAGE_PATIENCE);
        ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
        ck_assert_int_eq(atomic_load(&started), atomic_load(&stopped));
        theatre_close(&theatre);
    }
    printf("# %" PRIu64 " of %" PRIu64 " systems\n", round, rounds);
}

/* ---- Waiting costs nothing. ---- */

static tr_time cpu_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * TR_SECOND +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * TR_MICROSECOND;
}

TEST(waiting_for_a_drain_takes_no_cpu, "SH-13", "X-01")
{
    struct theatre theatre = theatre_open(2);
    close_gate();
    victim_ref victim = put(&theatre, 1, "waits");
    tr_tell(theatre.client, victim, hang_aside);
    await(&inside, 1);
    tr_time cpu_ns = cpu_now();
    /* It drains, and is idle, until the deadline. */
    (void)shut(&theatre, 2 * TR_SECOND, TR_SHUTDOWN_INCOMPLETE);
    cpu_ns = cpu_now() - cpu_ns;
    printf("# 2 s of draining: %.2f ms of CPU\n", (double)cpu_ns / 1e6);
    ck_assert_int_lt(cpu_ns, TEST_HAS_SANITIZER ? TR_SECOND : 40 * TR_MILLISECOND);
    open_gate();
    await(&stopped, 1);
    tr_client_free(theatre.client);
    kept[kept_count++] = theatre.system;
    tr_system_free(theatre.system);
}

SUITE("shutdown on threads", a_handler_that_never_returns_keeps_nobody_else,
      nor_does_one_on_the_worker_of_the_root, ancestors_go_on_as_if_it_had_stopped,
      a_function_of_tr_blocking_that_never_returns_keeps_nobody_else,
      run_returns_though_its_only_worker_loops, a_busy_root_does_not_keep_others_from_their_pill,
      deep_and_wide_trees_under_a_flood_stop_at_the_deadline, systems_start_and_stop_at_any_moment,
      waiting_for_a_drain_takes_no_cpu)
