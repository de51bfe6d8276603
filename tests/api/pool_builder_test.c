/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The builder of a pool: its table, its strategy, what each worker does before it runs, and how it ends
 * with its system.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(told, (str, text), (u32, worker), (u32, lives));
TR_REQUEST(tell_me, told);
TR_MESSAGE(label, (str, text));
TR_MESSAGE(fall);
TR_MESSAGE(leave);
TR_ACTOR(clerk, tell_me, fall, leave);
TR_ACTOR(plain, tell_me, fall, leave);
TR_ACTOR(starter, leave);

enum { WORKERS_MOST = 4, SECONDS = 60 };

static atomic_int turns;
static atomic_int lives[8]; /* by the first letter of the name */

struct clerk {
    char text[16];
};

static tr_next set_up(struct clerk *clerk, const struct label *label)
{
    atomic_fetch_add(&turns, 1);
    strncpy(clerk->text, label->text, sizeof clerk->text - 1);
    return TR_SAME;
}

static tr_next on_start(tr_self *self)
{
    atomic_fetch_add(&turns, 1);
    atomic_fetch_add(&lives[(tr_name(self)[0] - 'a') & 7], 1);
    return TR_SAME;
}

static uint32_t lives_of(tr_self *self)
{
    return (uint32_t)atomic_load(&lives[(tr_name(self)[0] - 'a') & 7]);
}

static tr_next on_tell_me(tr_self *self, struct clerk *clerk)
{
    return tr_reply(self,
                    told,
                    .text = clerk->text,
                    .worker = (uint32_t)tr_worker(self),
                    .lives = lives_of(self));
}

static tr_next on_fall(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "on purpose");
}

static tr_next on_leave(void)
{
    return TR_STOP;
}

TR_BEHAVIOR(clerk, struct clerk, TR_SETUP_WITH(label, set_up), TR_ON(tr_pre_start, on_start),
            TR_ON(tell_me, on_tell_me), TR_ON(fall, on_fall), TR_ON(leave, on_leave));

static tr_next on_tell_me_plain(tr_self *self)
{
    return tr_reply(
        self, told, .text = "", .worker = (uint32_t)tr_worker(self), .lives = lives_of(self));
}

TR_BEHAVIOR(plain, void, TR_ON(tr_pre_start, on_start), TR_ON(tell_me, on_tell_me_plain),
            TR_ON(fall, on_fall), TR_ON(leave, on_leave));
TR_BEHAVIOR(starter, void, TR_ON(leave, on_leave));

static const tr_child_spec table[] = {
    TR_POOLED(clerk, "anna", .setup = TR_WITH(label, .text = "first")),
    TR_POOLED(plain, "ben", .restart = TR_TEMPORARY),
    TR_POOLED(plain, "carl", .restart = TR_PERMANENT),
    {0},
};

static const tr_child_spec three[] = {
    TR_POOLED(clerk, "anna", .setup = TR_WITH(label, .text = "first")),
    TR_POOLED(plain, "ben"),
    TR_POOLED(plain, "carl", .restart = TR_PERMANENT),
    {0},
};

static tr_system *system_;
static tr_client *client;

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void begin(tr_system_options options)
{
    options.size = sizeof options;
    options.on_log = no_log;
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
}

static void end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
}

static const struct told *asks(plain_ref ref)
{
    const struct told *answer = NULL;
    ck_assert_int_eq(
        tr_try_await(client, tr_ask_within(client, SECONDS * TR_SECOND, ref, tell_me), &answer),
        TR_OK);
    return answer;
}

/* ---- The table. ---- */

TEST(the_table_is_there_from_the_beginning, "P-03")
{
    for (int workers = 1; workers <= WORKERS_MOST; workers *= 2) {
        const tr_system_options options = {
            .size = sizeof options, .workers = workers, .pool = table, .on_log = no_log};
        ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
        ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
        /* Before a single thread runs. */
        clerk_ref anna = tr_pool_find(client, clerk, "anna");
        ck_assert(!tr_is_nobody(anna));
        ck_assert(!tr_is_nobody(tr_pool_find(client, plain, "ben")));
        ck_assert(tr_is_nobody(tr_pool_find(client, plain, "dora")));
        ck_assert_int_eq(tr_system_start(system_), TR_OK);
        const struct told *answer = asks(plain_ref_of(tr_any(anna)));
        ck_assert_str_eq(answer->text, "first");
        ck_assert_int_eq((int)answer->worker, tr_pool_worker_of("anna", workers));
        answer = asks(tr_pool_find(client, plain, "carl"));
        ck_assert_int_eq((int)answer->worker, tr_pool_worker_of("carl", workers));
        plain_ref again;
        ck_assert_int_eq(tr_try_pool_spawn(client, &again, plain, "ben"), TR_OK);
        ck_assert_uint_eq(again.bits, tr_pool_find(client, plain, "ben").bits);
        end();
    }
}

TEST(a_table_that_is_wrong_makes_no_system, "P-03")
{
    static const tr_child_spec twice[] = {TR_POOLED(plain, "a"), TR_POOLED(plain, "a"), {0}};
    static const tr_child_spec nameless[] = {TR_POOLED(plain, NULL), {0}};
    static const tr_child_spec hostile[] = {TR_POOLED(plain, "a"), TR_POOLED(plain, "../b"), {0}};
    static const tr_child_spec silent[] = {TR_POOLED(clerk, "a"), {0}};
    static const tr_supervision broken = {.restarts_max = -7};
    static const tr_child_spec unruly[] = {TR_POOLED(plain, "a", .supervision = &broken), {0}};
    static const struct {
        const tr_child_spec *table;
        tr_status status;
    } cases[] = {{twice, TR_NAME_EXISTS},
                 {nameless, TR_NAME_INVALID},
                 {hostile, TR_NAME_INVALID},
                 {silent, TR_WRONG_TYPE},
                 {unruly, TR_INVALID_ARGUMENT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tr_system_options options = {
            .size = sizeof options, .workers = 2, .pool = cases[i].table, .on_log = no_log};
        system_ = NULL;
        ck_assert_int_eq(tr_system_new(&options, &system_), cases[i].status);
        ck_assert_ptr_null(system_);
    }
    const tr_system_options options = {.size = sizeof options, .pool_supervision = &broken};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(atomic_load(&turns), 0);
}

/* Waits until an actor has ended. */
static void outlive(plain_ref ref)
{
    ck_assert_int_eq(tr_watch(client, ref), TR_OK);
    ck_assert_ptr_nonnull(tr_receive(client, tr_terminated, SECONDS * TR_SECOND));
}

TEST(the_table_says_which_ends_are_followed_by_a_start, "P-03", "S-08")
{
    begin((tr_system_options){.workers = 2, .pool = table});
    plain_ref ben = tr_pool_find(client, plain, "ben");
    plain_ref carl = tr_pool_find(client, plain, "carl");
    tr_tell(client, ben, fall); /* TR_TEMPORARY */
    outlive(ben);
    ck_assert(tr_is_nobody(tr_pool_find(client, plain, "ben")));
    tr_tell(client, carl, leave); /* TR_PERMANENT */
    outlive(carl);
    plain_ref next;
    tr_status status;
    do
        status = tr_try_pool_spawn(client, &next, plain, "carl");
    while (status == TR_STOPPING);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_uint_ne(next.bits, carl.bits);
    ck_assert_int_eq((int)asks(next)->worker, tr_pool_worker_of("carl", 2));
    end();
}

/* Nobody takes the place of one that is about to come back, and it comes with its own set-up. */
static const tr_child_spec eternal[] = {
    TR_POOLED(clerk, "anna", .restart = TR_PERMANENT, .setup = TR_WITH(label, .text = "own")),
    {0},
};

TEST(who_waits_to_come_back_keeps_the_name, "P-02", "P-03", "S-08")
{
    static const tr_supervision later = {.restarts_max = 2,
                                         .backoff = {.initial_ns = 50 * TR_MILLISECOND}};
    begin((tr_system_options){.workers = 2, .pool = eternal, .pool_supervision = &later});
    clerk_ref anna = tr_pool_find(client, clerk, "anna");
    for (int i = 0; i < 2; i++) {
        clerk_ref next;
        plain_ref other;
        tr_status status;
        tr_tell(client, anna, leave);
        outlive(plain_ref_of(tr_any(anna)));
        ck_assert_int_eq(tr_try_spawn(client, &other, plain, "anna"), TR_NAME_EXISTS);
        do
            status = tr_try_pool_spawn(client, &next, clerk, "anna", label, .text = "wrong");
        while (status == TR_STOPPING);
        ck_assert_int_eq(status, TR_OK);
        ck_assert_uint_ne(next.bits, anna.bits);
        ck_assert_str_eq(asks(plain_ref_of(tr_any(next)))->text, "own");
        anna = next;
    }
    /* Then it has ended too often, and anybody may have the name. */
    clerk_ref last;
    tr_status status;
    tr_tell(client, anna, leave);
    outlive(plain_ref_of(tr_any(anna)));
    do
        status = tr_try_pool_spawn(client, &last, clerk, "anna", label, .text = "new");
    while (status == TR_STOPPING);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_str_eq(asks(plain_ref_of(tr_any(last)))->text, "new");
    end();
}

/* A shutdown meanwhile: it does not come back, and the spawn says why. */
TEST(a_shutdown_ends_the_wait_to_come_back, "P-03", "L-06")
{
    static const tr_child_spec one[] = {
        TR_POOLED(plain, "carl", .restart = TR_PERMANENT), TR_POOLED(plain, "ben"), {0}};
    static const tr_supervision later = {.backoff = {.initial_ns = TR_MINUTE}};
    begin((tr_system_options){.workers = 2, .pool = one, .pool_supervision = &later});
    plain_ref carl = tr_pool_find(client, plain, "carl");
    plain_ref next;
    tr_tell(client, carl, leave);
    outlive(carl);
    ck_assert_int_eq(tr_try_pool_spawn(client, &next, plain, "carl"), TR_STOPPING);
    tr_system_shutdown(system_, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_try_pool_spawn(client, &next, plain, "carl"), TR_STOPPING);
    end();
}

/* ---- Its strategy. ---- */

TEST(the_pool_has_a_strategy_of_its_own, "P-02", "S-07")
{
    static const tr_supervision together = {.strategy = TR_ALL_FOR_ONE, .restarts_max = 100};
    static const tr_supervision alone = {.restarts_max = TR_NO_RESTARTS};
    plain_ref ben, dora, eve;
    begin((tr_system_options){
        .workers = 2, .pool = three, .pool_supervision = &together, .supervision = &alone});
    ck_assert_int_eq(tr_try_spawn(client, &eve, plain, "eve"), TR_OK);
    ck_assert_int_eq(tr_try_pool_spawn(client, &dora, plain, "dora"), TR_OK);
    ck_assert_int_eq((int)asks(eve)->lives, 1);
    ck_assert_int_eq((int)asks(dora)->lives, 1);
    ben = tr_pool_find(client, plain, "ben");
    ck_assert_int_eq((int)asks(ben)->lives, 1);
    for (uint32_t i = 2; i <= 6; i++) {
        tr_tell(client, dora, fall);
        ck_assert_int_eq((int)asks(dora)->lives, (int)i);
        while (asks(ben)->lives < i)
            ;
        while (asks(tr_pool_find(client, plain, "carl"))->lives < i)
            ;
        while (asks(plain_ref_of(tr_any(tr_pool_find(client, clerk, "anna"))))->lives < i)
            ;
        ck_assert_int_eq((int)asks(eve)->lives, 1);
    }
    /* And the other way round: eve has another one. */
    tr_tell(client, eve, fall);
    outlive(eve);
    ck_assert_int_eq((int)asks(dora)->lives, 6);
    ck_assert_int_eq((int)asks(ben)->lives, 6);
    end();
}

TEST(without_one_it_has_that_of_the_top, "P-02")
{
    static const tr_supervision strict = {.restarts_max = TR_NO_RESTARTS};
    plain_ref dora;
    begin((tr_system_options){.workers = 2, .supervision = &strict});
    ck_assert_int_eq(tr_try_pool_spawn(client, &dora, plain, "dora"), TR_OK);
    ck_assert_int_eq((int)asks(dora)->lives, 1);
    tr_tell(client, dora, fall);
    outlive(dora);
    ck_assert(tr_is_nobody(tr_pool_find(client, plain, "dora")));
    end();
}

/* ---- Each worker, before its first turn. ---- */

static atomic_int calls[8];
static atomic_int turns_before;
static pthread_t threads[8];
static int bad_worker;

static tr_status on_worker_start(tr_system *system, int worker, void *context)
{
    ck_assert_ptr_eq(context, threads);
    ck_assert_int_eq(tr_system_workers(system) > worker, 1);
    /* Those who have nothing to do must wait for this one. */
    for (int i = 0; worker == 0 && i < 1000; i++)
        sched_yield();
    atomic_fetch_add(&turns_before, atomic_load(&turns));
    atomic_fetch_add(&calls[worker], 1);
    threads[worker] = pthread_self();
    return worker == bad_worker ? TR_BAD_DATA : TR_OK;
}

TEST(each_worker_calls_it_once_before_any_turn, "P-03")
{
    for (int workers = 1; workers <= WORKERS_MOST; workers++) {
        bad_worker = -1;
        memset(calls, 0, sizeof calls);
        atomic_store(&turns, 0);
        begin((tr_system_options){.workers = workers,
                                  .pool = table,
                                  .on_worker_start = on_worker_start,
                                  .context = threads});
        ck_assert_int_eq(atomic_load(&turns_before), 0);
        ck_assert_str_eq(asks(plain_ref_of(tr_any(tr_pool_find(client, clerk, "anna"))))->text,
                         "first");
        for (int i = 0; i < 8; i++)
            ck_assert_int_eq(atomic_load(&calls[i]), i < workers);
        for (int i = 0; i < workers; i++) {
            ck_assert(!pthread_equal(threads[i], pthread_self()));
            for (int j = 0; j < i; j++)
                ck_assert(!pthread_equal(threads[i], threads[j]));
        }
        end();
    }
}

TEST(one_that_fails_ends_the_start, "P-03", "WP-18")
{
    for (bad_worker = 0; bad_worker < WORKERS_MOST; bad_worker++) {
        const tr_system_options options = {.size = sizeof options,
                                           .workers = WORKERS_MOST,
                                           .on_log = no_log,
                                           .pool = table,
                                           .on_worker_start = on_worker_start,
                                           .context = threads};
        plain_ref dora;
        memset(calls, 0, sizeof calls);
        ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
        ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
        ck_assert_int_eq(tr_try_spawn(client, &dora, plain, "dora"), TR_OK);
        ck_assert_int_eq(tr_tell(client, dora, leave), TR_OK);
        ck_assert_int_eq(tr_system_start(system_), TR_BAD_DATA);
        for (int i = 0; i < WORKERS_MOST; i++)
            ck_assert_int_eq(atomic_load(&calls[i]), 1);
        ck_assert_int_eq(atomic_load(&turns), 0);
        ck_assert(tr_is_nobody(tr_pool_find(client, plain, "ben")));
        ck_assert_int_eq(tr_try_pool_spawn(client, &dora, plain, "ben"), TR_STOPPING);
        ck_assert_int_eq(tr_system_start(system_), TR_INVALID_TRANSITION);
        tr_client_free(client);
        tr_system_free(system_);
    }
}

TEST(a_system_in_another_loop_calls_it_too, "P-03")
{
    for (bad_worker = -1; bad_worker < 1; bad_worker++) {
        const tr_system_options options = {.size = sizeof options,
                                           .workers = 1,
                                           .on_log = no_log,
                                           .pool = table,
                                           .on_worker_start = on_worker_start,
                                           .context = threads};
        memset(calls, 0, sizeof calls);
        atomic_store(&turns, 0);
        ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
        bool is_bad = bad_worker == 0;
        ck_assert_int_eq(tr_system_run_once(system_, 0), is_bad ? TR_BAD_DATA : TR_OK);
        ck_assert_int_eq(tr_system_run_once(system_, 0), is_bad ? TR_STOPPED : TR_OK);
        ck_assert_int_eq(atomic_load(&calls[0]), 1);
        ck_assert_int_eq(atomic_load(&turns) > 0, !is_bad);
        ck_assert(pthread_equal(threads[0], pthread_self()));
        tr_system_free(system_);
    }
}

/* ---- How it ends. ---- */

TEST(a_system_does_not_stay_for_the_pool, "P-03")
{
    starter_ref starter;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 2,
                                       .on_log = no_log,
                                       .pool = table,
                                       .exit_when_empty = true};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &starter, starter, "starter"), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    /* One of the pool ends, and it stays. */
    plain_ref ben = tr_pool_find(client, plain, "ben");
    tr_tell(client, ben, leave);
    outlive(ben);
    (void)asks(tr_pool_find(client, plain, "carl"));
    tr_tell(client, starter, leave);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_client_free(client);
    tr_system_free(system_);
}

TEST(a_system_of_nothing_but_a_pool_ends_with_its_last, "P-03")
{
    static const tr_child_spec two[] = {TR_POOLED(plain, "a"), TR_POOLED(plain, "b"), {0}};
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 2,
                                       .on_log = no_log,
                                       .pool = two,
                                       .exit_when_empty = true};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    plain_ref a = tr_pool_find(client, plain, "a");
    tr_tell(client, a, leave);
    outlive(a);
    plain_ref b = tr_pool_find(client, plain, "b");
    (void)asks(b);
    tr_tell(client, b, leave);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_client_free(client);
    tr_system_free(system_);
}

TEST(a_system_that_never_runs_frees_its_pool, "P-03")
{
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 3,
                                       .on_log = no_log,
                                       .pool = table,
                                       .on_worker_start = on_worker_start,
                                       .context = threads};
    bad_worker = -1;
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    tr_system_free(system_);
    ck_assert_int_eq(atomic_load(&calls[0]), 0);
}

/* ---- Without memory. ---- */

static struct {
    int left; /* allocations until one fails */
    int live;
} memory;

static void *fail_once(void *context, void *block, size_t size)
{
    (void)context;
    if (!size) {
        memory.live -= block != NULL;
        free(block);
        return NULL;
    }
    if (--memory.left == 0)
        return NULL;
    memory.live += block == NULL;
    return realloc(block, size);
}

TEST(a_table_for_which_there_is_no_memory_makes_no_system, "P-03")
{
    tr_status status = TR_NO_MEMORY;
    for (int nth = 1; status != TR_OK; nth++) {
        const tr_system_options options = {.size = sizeof options,
                                           .workers = 2,
                                           .workers_max = 3,
                                           .on_log = no_log,
                                           .pool = table,
                                           .resize = fail_once};
        memory.left = nth;
        status = tr_system_new(&options, &system_);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        memory.left = 0;
        if (status == TR_OK)
            tr_system_free(system_);
        ck_assert_int_eq(memory.live, 0);
        ck_assert_int_lt(nth, 1000);
    }
}

SUITE("pool builder", the_table_is_there_from_the_beginning, a_table_that_is_wrong_makes_no_system,
      the_table_says_which_ends_are_followed_by_a_start, who_waits_to_come_back_keeps_the_name,
      a_shutdown_ends_the_wait_to_come_back, the_pool_has_a_strategy_of_its_own,
      without_one_it_has_that_of_the_top, each_worker_calls_it_once_before_any_turn,
      one_that_fails_ends_the_start, a_system_in_another_loop_calls_it_too,
      a_system_does_not_stay_for_the_pool, a_system_of_nothing_but_a_pool_ends_with_its_last,
      a_system_that_never_runs_frees_its_pool, a_table_for_which_there_is_no_memory_makes_no_system)
