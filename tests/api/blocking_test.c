/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_blocking: functions on helper threads, on kits over many seeds and on real threads.
 */
#include "support/stage.h"

#include <pthread.h>
#include <stdatomic.h>

TR_MESSAGE(worked, (i32, status), (u64, result), (u32, ended));
TR_REQUEST(work, worked, (u64, n), (bool, is_hard));
TR_REQUEST(work_alone, worked, (u64, n));
TR_REQUEST(get_open, worked);
TR_MESSAGE(break_down);
TR_ACTOR(labourer, work, work_alone, get_open, break_down);

struct labourer {
    uint32_t open;
    uint32_t ended;
};

/* ---- Gates: functions that wait for the test. ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int inside;
    int most;
    int entered;
    bool is_open;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void gate_await(int entered)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.entered < entered)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static void gate_open(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static void gate_pass(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.entered++;
    gate.inside++;
    if (gate.inside > gate.most)
        gate.most = gate.inside;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.is_open)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.inside--;
    pthread_mutex_unlock(&gate.mutex);
}

/* ---- The actor. ---- */

struct job {
    uint64_t n;
    uint64_t result;
    bool is_gated;
};

static atomic_int calls;
static bool uses_gate;
static uint64_t begun[64];

static void square(void *argument)
{
    struct job *job = argument;
    int call = atomic_fetch_add(&calls, 1);
    if (call < 64)
        begun[call] = job->n;
    if (job->is_gated)
        gate_pass();
    job->result = job->n * job->n;
}

static tr_next on_work(tr_self *self, struct labourer *labourer, const struct work *message)
{
    struct job job = {.n = message->n, .is_gated = uses_gate};
    labourer->open++;
    if (message->is_hard)
        tr_blocking(self, square, &job);
    tr_status status = tr_try_blocking(self, square, &job);
    labourer->open--;
    labourer->ended++;
    return tr_reply(self, worked, .status = status, .result = job.result, .ended = labourer->ended);
}

static tr_next on_work_alone(tr_self *self, struct labourer *labourer,
                             const struct work_alone *message)
{
    struct job job = {.n = message->n, .is_gated = uses_gate};
    tr_blocking(self, square, &job);
    labourer->ended++;
    return tr_reply(self, worked, .result = job.result, .ended = labourer->ended);
}

static tr_next on_get_open(tr_self *self, struct labourer *labourer)
{
    return tr_reply(self, worked, .result = labourer->open, .ended = labourer->ended);
}

static tr_next on_break_down(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "broken");
}

static tr_status setup_status = TR_OK;
static atomic_int post_stops;

static tr_next on_start(tr_self *self)
{
    struct job job = {.n = 1};
    setup_status = tr_try_blocking(self, square, &job);
    return TR_SAME;
}

static tr_next on_end(void)
{
    atomic_fetch_add(&post_stops, 1);
    return TR_SAME;
}

TR_BEHAVIOR(labourer, struct labourer, TR_ON(work, on_work),
            TR_ON(work_alone, on_work_alone, .is_barrier = true), TR_ON(get_open, on_get_open),
            TR_ON(break_down, on_break_down), TR_ON(tr_pre_start, on_start),
            TR_ON(tr_post_stop, on_end), TR_OPTIONS(.restart = TR_TEMPORARY));

/* The same, begun again when it fails. */
TR_BEHAVIOR(tenacious, struct labourer, TR_ON(work, on_work), TR_ON(break_down, on_break_down));

/* ---- On kits. ---- */

static labourer_ref hire(struct stage *stage)
{
    labourer_ref labourer;
    atomic_store(&calls, 0);
    ck_assert_int_eq(
        tr_try_spawn_at(stage->client, &labourer, stage_far(stage), labourer, "labourer"), TR_OK);
    tr_kit_settle(stage->kit);
    return labourer;
}

static void play_one(struct stage *stage)
{
    const struct worked *worked;
    labourer_ref labourer = hire(stage);
    ck_assert_int_eq(setup_status, TR_NOT_IN_A_TURN);
    work_ask asked = tr_ask(stage->client, labourer, work, .n = 7);
    ck_assert_int_eq(tr_try_await(stage->client, asked, &worked), TR_OK);
    ck_assert_int_eq(worked->status, TR_OK);
    ck_assert_uint_eq(worked->result, 49);
    ck_assert_int_eq(atomic_load(&calls), 1);
}

TEST(a_turn_waits_for_the_function, "B-10", "B-04", "D-05")
{
    stage_play(play_one);
}

static void play_meanwhile(struct stage *stage)
{
    const struct worked *worked;
    labourer_ref labourer = hire(stage);
    work_ask asked = tr_ask(stage->client, labourer, work, .n = 3, .is_hard = true);
    work_alone_ask alone = tr_ask(stage->client, labourer, work_alone, .n = 4);
    get_open_ask behind = tr_ask(stage->client, labourer, get_open);
    ck_assert_int_eq(tr_try_await(stage->client, behind, &worked), TR_OK);
    /* The barrier was over before it began; the other may be open or not. */
    ck_assert_uint_ge(worked->ended, 1);
    ck_assert_uint_eq(worked->ended + worked->result, 2);
    ck_assert_int_eq(tr_try_await(stage->client, alone, &worked), TR_OK);
    ck_assert_uint_eq(worked->result, 16);
    ck_assert_int_eq(tr_try_await(stage->client, asked, &worked), TR_OK);
    ck_assert_uint_eq(worked->result, 9);
}

TEST(a_barrier_keeps_others_out, "B-10", "D-05")
{
    stage_play(play_meanwhile);
}

static void play_stop(struct stage *stage)
{
    const struct worked *worked;
    labourer_ref labourer = hire(stage);
    work_ask asked = tr_ask(stage->client, labourer, work, .n = 5);
    tr_stop(stage->client, labourer);
    ck_assert_int_eq(tr_try_await(stage->client, asked, &worked), TR_OK);
    ck_assert_uint_eq(worked->result, 25);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(a_poison_pill_waits_for_it, "B-10", "Y-01")
{
    stage_play(play_stop);
}

static void play_kill(struct stage *stage)
{
    const struct worked *worked;
    labourer_ref labourer = hire(stage);
    atomic_store(&post_stops, 0);
    work_ask first = tr_ask(stage->client, labourer, work, .n = 5, .is_hard = true);
    work_ask second = tr_ask(stage->client, labourer, work, .n = 6);
    for (uint64_t i = 0; i < stage->seed % 7; i++)
        tr_kit_step(stage->kit);
    if (stage->seed % 2)
        tr_kill(stage->client, labourer);
    else
        tr_tell(stage->client, labourer, break_down);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(atomic_load(&post_stops), 1);
    tr_status status = tr_try_await(stage->client, first, &worked);
    ck_assert(status == TR_OK || status == TR_STOPPED || status == TR_FAILED);
    status = tr_try_await(stage->client, second, &worked);
    ck_assert(status == TR_OK || status == TR_STOPPED || status == TR_FAILED);
}

TEST(an_actor_that_ends_takes_back_what_has_not_started, "B-10", "Y-02")
{
    stage_play(play_kill);
}

static void play_many(struct stage *stage)
{
    work_ask asked[100];
    const struct worked *worked;
    labourer_ref labourer = hire(stage);
    for (uint64_t i = 0; i < 100; i++)
        asked[i] = tr_ask(stage->client, labourer, work, .n = i);
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_int_eq(tr_try_await(stage->client, asked[i], &worked), TR_OK);
        ck_assert_uint_eq(worked->result, i * i);
    }
    ck_assert_int_eq(atomic_load(&calls), 100);
}

TEST(many_wait_at_once, "B-10")
{
    stage_play(play_many);
}

TEST(without_memory_the_function_never_begins, "B-10", "U-03")
{
    for (uint64_t nth = 1;; nth++) {
        tr_kit *kit = tr_kit_new(NULL);
        labourer_ref labourer;
        const struct worked *worked;
        tr_client *client = tr_kit_client(kit);
        ck_assert_int_eq(tr_try_spawn(client, &labourer, labourer, NULL), TR_OK);
        tr_kit_settle(kit);
        atomic_store(&calls, 0);
        work_ask asked = tr_ask(client, labourer, work, .n = 7);
        uint64_t before = tr_kit_allocations(kit);
        tr_kit_fail_allocation(kit, nth, false);
        tr_status status = tr_try_await(client, asked, &worked);
        bool is_over = tr_kit_allocations(kit) - before < nth;
        if (status == TR_OK && worked->status == TR_OK)
            ck_assert_uint_eq(worked->result, 49);
        else if (status == TR_OK)
            ck_assert(worked->status == TR_NO_MEMORY && atomic_load(&calls) == 0);
        tr_kit_free(kit);
        if (is_over)
            break;
        ck_assert_uint_lt(nth, 100);
    }
}

TEST(the_same_seed_plays_the_same, "B-10", "V-01")
{
    uint64_t traces[2];
    for (int i = 0; i < 2; i++) {
        tr_kit *kit = tr_kit_new(&(tr_kit_options){.seed = 9, .workers = 3});
        struct stage stage = {.kit = kit, .client = tr_kit_client(kit), .workers = 3, .seed = 9};
        play_many(&stage);
        traces[i] = tr_kit_trace(kit);
        tr_kit_free(kit);
    }
    ck_assert_uint_eq(traces[0], traces[1]);
}

TEST(bad_arguments_are_statuses, "B-10", "U-01")
{
    tr_system *system;
    struct job job = {.n = 1};
    ck_assert_int_eq(tr_try_blocking(NULL, square, &job), TR_INVALID_ARGUMENT);
    tr_system_options options = {.size = sizeof options,
                                 .blocking_threads_max = TR_BLOCKING_THREADS_LARGEST + 1};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_LIMIT);
    options.blocking_threads_max--;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    tr_system_free(system);
}

/* ---- On real threads. ---- */

static char log_text[4096];
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t log_changed = PTHREAD_COND_INITIALIZER;

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    pthread_mutex_lock(&log_mutex);
    size_t length = strlen(log_text);
    snprintf(log_text + length, sizeof log_text - length, "%s %s\n", path ? path : "", text);
    pthread_cond_broadcast(&log_changed);
    pthread_mutex_unlock(&log_mutex);
}

static void log_await(const char *words)
{
    pthread_mutex_lock(&log_mutex);
    while (!strstr(log_text, words))
        pthread_cond_wait(&log_changed, &log_mutex);
    pthread_mutex_unlock(&log_mutex);
}

static struct theatre open_with(int workers, uint32_t threads)
{
    struct theatre theatre;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = workers,
                                       .on_log = on_log,
                                       .blocking_threads_max = threads};
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    return theatre;
}

static labourer_ref hire_real(struct theatre *theatre, const char *name)
{
    labourer_ref labourer;
    ck_assert_int_eq(tr_try_spawn(theatre->client, &labourer, labourer, name), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre->client, labourer, STAGE_PATIENCE, NULL), TR_OK);
    return labourer;
}

TEST(others_run_while_a_function_blocks, "B-10", "D-05")
{
    const struct worked *worked;
    struct theatre theatre = open_with(1, 0);
    labourer_ref labourer = hire_real(&theatre, "a");
    uses_gate = true;
    work_ask asked = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = 8);
    gate_await(1);
    get_open_ask open = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, get_open);
    ck_assert_int_eq(tr_try_await(theatre.client, open, &worked), TR_OK);
    ck_assert_uint_eq(worked->result, 1);
    gate_open();
    ck_assert_int_eq(tr_try_await(theatre.client, asked, &worked), TR_OK);
    ck_assert_uint_eq(worked->result, 64);
    theatre_close(&theatre);
}

TEST(beyond_the_limit_they_wait_in_order, "B-10")
{
    enum { COUNT = 20, THREADS = 3 };
    work_ask asked[COUNT];
    const struct worked *worked;
    struct theatre theatre = open_with(2, THREADS);
    labourer_ref labourer = hire_real(&theatre, "a");
    uses_gate = true;
    for (uint64_t i = 0; i < COUNT; i++)
        asked[i] = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = i);
    gate_await(THREADS);
    gate_open();
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(tr_try_await(theatre.client, asked[i], &worked), TR_OK);
        ck_assert_uint_eq(worked->result, i * i);
    }
    ck_assert_int_le(gate.most, THREADS);
    theatre_close(&theatre);
    /* They are taken in order. A thread that has taken one may be slow to begin it, however many the
       others begin meanwhile; but whatever begins, all before it were taken, so at most those of the
       other threads have not started. */
    for (uint64_t i = 0; i < COUNT; i++)
        ck_assert_uint_lt(begun[i], i + THREADS);
}

TEST(one_thread_keeps_the_order, "B-10")
{
    enum { COUNT = 20 };
    work_ask asked[COUNT];
    const struct worked *worked;
    struct theatre theatre = open_with(1, 1);
    labourer_ref labourer = hire_real(&theatre, "a");
    for (uint64_t i = 0; i < COUNT; i++)
        asked[i] = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = i);
    for (uint64_t i = 0; i < COUNT; i++)
        ck_assert_int_eq(tr_try_await(theatre.client, asked[i], &worked), TR_OK);
    for (uint64_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(begun[i], i);
    theatre_close(&theatre);
}

TEST(a_killed_actor_waits_for_the_function_that_runs, "B-10", "Y-02")
{
    struct theatre theatre = open_with(1, 1);
    labourer_ref labourer = hire_real(&theatre, "a");
    labourer_ref other = hire_real(&theatre, "b");
    const struct worked *worked;
    uses_gate = true;
    work_ask first = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = 1);
    work_ask second = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = 2);
    gate_await(1);
    tr_kill(theatre.client, labourer);
    log_await("/user/a the actor stops when its functions in tr_blocking have returned: 1");
    ck_assert_int_eq(atomic_load(&post_stops), 0);
    /* What has no thread yet ends at once. */
    work_ask third = tr_ask_within(theatre.client, STAGE_PATIENCE, other, work, .n = 3);
    get_open_ask behind = tr_ask_within(theatre.client, STAGE_PATIENCE, other, get_open);
    ck_assert_int_eq(tr_try_await(theatre.client, behind, &worked), TR_OK);
    tr_kill(theatre.client, other);
    ck_assert_int_ne(tr_try_await(theatre.client, third, &worked), TR_OK);
    gate_open();
    ck_assert_int_ne(tr_try_await(theatre.client, first, &worked), TR_OK);
    ck_assert_int_ne(tr_try_await(theatre.client, second, &worked), TR_OK);
    theatre_close(&theatre);
    ck_assert_int_eq(atomic_load(&calls), 1);
    ck_assert_int_eq(atomic_load(&post_stops), 2);
}

TEST(a_restart_waits_for_it_and_says_so, "B-10", "S-04")
{
    struct theatre theatre = open_with(1, 1);
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_tenacious, .name = "a", .worker = 0};
    const struct worked *worked;
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(theatre.client, &args, &bits), TR_OK);
    labourer_ref labourer = labourer_ref_of(tr_ref_from_bits(bits));
    uses_gate = true;
    work_ask first = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = 1);
    gate_await(1);
    tr_tell(theatre.client, labourer, break_down);
    log_await("/user/a the actor restarts when its functions in tr_blocking have returned: 1");
    gate_open();
    ck_assert_int_eq(tr_try_await(theatre.client, first, &worked), TR_RESTARTED);
    work_ask second = tr_ask_within(theatre.client, STAGE_PATIENCE, labourer, work, .n = 2);
    ck_assert_int_eq(tr_try_await(theatre.client, second, &worked), TR_OK);
    theatre_close(&theatre);
}

TEST(a_shutdown_waits_for_it_too, "B-10", "D-05")
{
    struct theatre theatre = open_with(2, 2);
    labourer_ref labourer = hire_real(&theatre, "a");
    uses_gate = true;
    for (uint64_t i = 0; i < 10; i++)
        tr_tell(theatre.client, labourer, work, .n = i);
    gate_await(2);
    tr_system_shutdown(theatre.system, 0);
    log_await("/user/a the actor stops when");
    gate_open();
    theatre_close(&theatre);
    ck_assert_int_eq(atomic_load(&calls), 2);
}

TEST(a_system_in_another_loop_has_helpers, "B-10", "P-04")
{
    const tr_system_options options = {.size = sizeof options, .workers = 1, .on_log = on_log};
    tr_system *system;
    tr_client *client;
    labourer_ref labourer;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &labourer, labourer, NULL), TR_OK);
    tr_tell(client, labourer, work, .n = 3);
    const struct worked *worked = NULL;
    while (!(worked = tr_receive(client, worked, 0)))
        ck_assert_int_eq(tr_system_run_once(system, STAGE_PATIENCE), TR_OK);
    ck_assert_uint_eq(worked->result, 9);
    /* Freed while one runs. */
    uses_gate = true;
    tr_tell(client, labourer, work, .n = 4);
    do {
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    } while (atomic_load(&calls) < 2);
    gate_open();
    tr_client_free(client);
    tr_system_free(system);
}

TEST(a_storm_of_jobs_and_ends, "B-10", "Y-02")
{
    enum { ROUNDS = TEST_HAS_SANITIZER ? 30 : 200, ACTORS = 8, EACH = 4 };
    struct theatre theatre = open_with(2, 4);
    for (int round = 0; round < ROUNDS; round++) {
        labourer_ref labourers[ACTORS];
        for (int i = 0; i < ACTORS; i++) {
            ck_assert_int_eq(tr_try_spawn_at(theatre.client, &labourers[i], i % 2, labourer, NULL),
                             TR_OK);
            ck_assert_int_eq(tr_spawn_wait(theatre.client, labourers[i], STAGE_PATIENCE, NULL),
                             TR_OK);
            for (uint64_t n = 0; n < EACH; n++)
                tr_tell(theatre.client, labourers[i], work, .n = n, .is_hard = n % 2);
        }
        for (int i = 0; i < ACTORS; i++) {
            if (i % 3 == 0)
                tr_kill(theatre.client, labourers[i]);
            else if (i % 3 == 1)
                tr_stop(theatre.client, labourers[i]);
            else
                tr_tell(theatre.client, labourers[i], break_down);
        }
        while (tr_receive(theatre.client, worked, 0))
            ;
    }
    theatre_close(&theatre);
    ck_assert_int_eq(atomic_load(&post_stops), ROUNDS * ACTORS);
}

SUITE("api blocking", a_turn_waits_for_the_function, a_barrier_keeps_others_out,
      a_poison_pill_waits_for_it, an_actor_that_ends_takes_back_what_has_not_started,
      many_wait_at_once, without_memory_the_function_never_begins, the_same_seed_plays_the_same,
      bad_arguments_are_statuses, others_run_while_a_function_blocks,
      beyond_the_limit_they_wait_in_order, one_thread_keeps_the_order,
      a_killed_actor_waits_for_the_function_that_runs, a_restart_waits_for_it_and_says_so,
      a_shutdown_waits_for_it_too, a_system_in_another_loop_has_helpers, a_storm_of_jobs_and_ends)
