/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Systems: making, starting, running, shutting down, waiting, freeing, in every order.
 */
#include "support/stage.h"

#include <pthread.h>

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(order, (u32, what), (ref, client));
TR_MESSAGE(answer, (i32, status));
TR_MESSAGE(ended, (u64, n));

static tr_system *system_new(int workers)
{
    tr_system *system;
    const tr_system_options options = {
        .size = sizeof options, .workers = workers, .on_log = theatre_no_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    return system;
}

/* ---- Misuse. ---- */

TEST(a_system_starts_once, "X-01")
{
    tr_system *system = system_new(2);
    ck_assert_int_eq(tr_system_wait(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_INVALID_TRANSITION);
    tr_system_shutdown(system, 0);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_run(system), TR_INVALID_TRANSITION);
    tr_system_shutdown(system, 0);
    tr_system_free(system);
}

TEST(nothing_is_done_to_no_system, "X-01")
{
    tr_system_free(NULL);
    tr_system_shutdown(NULL, 0);
    ck_assert_int_eq(tr_system_start(NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_run(NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_wait(NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_run_once(NULL, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_workers(NULL), 0);
    ck_assert_int_eq(tr_system_fd(NULL), -1);
}

TEST(a_system_may_be_freed_without_a_start, "X-01")
{
    tr_system_free(system_new(1));
    tr_system *system = system_new(3);
    tr_system_shutdown(system, TR_SECOND);
    tr_system_free(system);
}

TEST_ABORTS(a_system_that_runs_is_not_freed, "X-01")
{
    tr_system *system = system_new(1);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    tr_system_free(system);
}

TEST(a_shutdown_before_the_start_ends_it_at_once, "X-01", "X-02")
{
    for (int workers = 1; workers <= 3; workers++) {
        tr_system *system = system_new(workers);
        tr_system_shutdown(system, STAGE_PATIENCE);
        ck_assert_int_eq(tr_system_start(system), TR_OK);
        ck_assert_int_eq(tr_system_wait(system), TR_OK);
        tr_system_free(system);

        system = system_new(workers);
        tr_system_shutdown(system, STAGE_PATIENCE);
        ck_assert_int_eq(tr_system_run(system), TR_OK);
        ck_assert_int_eq(tr_system_wait(system), TR_OK);
        tr_system_free(system);
    }
}

TEST(run_once_needs_one_worker_and_tells_when_it_is_over, "X-01", "X-06")
{
    tr_system *system = system_new(2);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_INVALID_TRANSITION);
    tr_system_free(system);
    system = system_new(1);
    ck_assert_int_eq(tr_system_run_once(system, -1), TR_INVALID_ARGUMENT);
    for (int i = 0; i < 3; i++) /* idle is not over */
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    tr_system_shutdown(system, 0);
    tr_status status = TR_OK;
    for (int i = 0; i < 10 && status == TR_OK; i++)
        status = tr_system_run_once(system, 0);
    ck_assert_int_eq(status, TR_STOPPED);
    ck_assert_int_eq(tr_system_run_once(system, 0), TR_STOPPED);
    tr_system_free(system);
}

/* ---- From a handler. ---- */

enum { SHUT_DOWN, WAIT, RUN, SPAWN };

TR_ACTOR(guest, note);
static tr_next guest_note(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(guest, void, TR_ON(note, guest_note));

TR_ACTOR(host, order);
static tr_next host_order(tr_self *self, const struct order *order)
{
    tr_system *system = tr_system_of(self);
    tr_status status = TR_OK;
    guest_ref guest;
    switch (order->what) {
    case SHUT_DOWN:
        tr_system_shutdown(system, STAGE_PATIENCE);
        tr_system_shutdown(system, 0);
        break;
    case WAIT:
        status = tr_system_wait(system);
        break;
    case RUN:
        status = tr_system_run(system);
        break;
    case SPAWN:
        status = tr_try_spawn(self, &guest, guest, NULL);
        break;
    }
    return tr_reply(self, answer, .status = status);
}
TR_BEHAVIOR(host, void, TR_ON(order, host_order));

static tr_status ask_host(tr_client *client, host_ref host, uint32_t what)
{
    ck_assert_int_eq(tr_tell(client, host, order, .what = what), TR_OK);
    const struct answer *answer = tr_receive(client, answer, STAGE_PATIENCE);
    ck_assert_ptr_nonnull(answer);
    return (tr_status)answer->status;
}

TEST(a_handler_may_shut_down_but_not_wait, "X-01", "X-02")
{
    for (int worker = 0; worker < 3; worker++) {
        struct theatre theatre = theatre_open(3);
        host_ref host;
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &host, worker, host, NULL), TR_OK);
        ck_assert_int_eq(ask_host(theatre.client, host, SPAWN), TR_OK);
        ck_assert_int_eq(ask_host(theatre.client, host, WAIT), TR_WOULD_DEADLOCK);
        ck_assert_int_eq(ask_host(theatre.client, host, RUN), TR_INVALID_TRANSITION);
        ck_assert_int_eq(ask_host(theatre.client, host, SHUT_DOWN), TR_OK);
        guest_ref guest;
        ck_assert_int_eq(tr_try_spawn(theatre.client, &guest, guest, NULL), TR_STOPPING);
        ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
        ck_assert_int_eq(tr_tell(theatre.client, host, order), TR_STOPPED);
        theatre_close(&theatre);
    }
}

static void play_refused_spawns(struct stage *stage)
{
    host_ref host;
    guest_ref guest;
    tr_error error;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &host, stage_far(stage), host, NULL), TR_OK);
    tr_tell(stage->client, host, order, .what = SHUT_DOWN);
    tr_tell(stage->client, host, order, .what = SPAWN);
    const struct answer *answer = tr_receive(stage->client, answer, TR_SECOND);
    ck_assert_int_eq(answer->status, TR_OK);
    /* It was there before the pill, and so it is handled; but no actor starts any more. */
    answer = tr_receive(stage->client, answer, TR_SECOND);
    ck_assert_ptr_nonnull(answer);
    ck_assert_int_eq(answer->status, TR_STOPPING);
    ck_assert_int_eq(tr_try_spawn_error(stage->client, &guest, &error, guest, NULL), TR_STOPPING);
    ck_assert_int_eq(error.status, TR_STOPPING);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_try_spawn(stage->client, &guest, guest, NULL), TR_STOPPING);
}

TEST(nothing_is_spawned_once_the_shutdown_has_begun, "X-02", "L-06")
{
    stage_play(play_refused_spawns);
}

/* ---- The deadline. ---- */

static uint64_t handled;
static unsigned post_stops;

TR_ACTOR(slow, note);
static tr_next slow_note(void)
{
    handled++;
    return TR_SAME;
}

static tr_next slow_stop(void)
{
    post_stops++;
    return TR_SAME;
}
TR_BEHAVIOR(slow, void, TR_ON(note, slow_note), TR_ON(tr_post_stop, slow_stop));

enum { QUEUED = 500 };

static void shut_down_with_mail(struct stage *stage, tr_time timeout_ns)
{
    slow_ref slow[3];
    handled = post_stops = 0;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &slow[i], i % stage->workers, slow, NULL),
                         TR_OK);
    }
    tr_kit_settle(stage->kit);
    for (uint64_t n = 0; n < QUEUED; n++) {
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(tr_tell(stage->client, slow[i], note, .n = n), TR_OK);
    }
    tr_system_shutdown(tr_kit_system(stage->kit), timeout_ns);
    tr_system_shutdown(tr_kit_system(stage->kit), timeout_ns ? 0 : TR_HOUR);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_uint_eq(post_stops, 3);
    ck_assert_uint_eq(handled + stage_dead_letters(stage), 3 * QUEUED);
}

static void play_pill_ends_it(struct stage *stage)
{
    shut_down_with_mail(stage, TR_SECOND);
    ck_assert_uint_eq(handled, 3 * QUEUED);
}

static void play_deadline_kills(struct stage *stage)
{
    shut_down_with_mail(stage, 0);
    ck_assert_uint_lt(handled, 3 * QUEUED);
}

TEST(within_the_deadline_everything_is_handled_and_the_first_one_counts, "X-01", "Y-01")
{
    stage_play(play_pill_ends_it);
}

TEST(at_the_deadline_what_has_not_stopped_is_killed, "X-01", "Y-02")
{
    stage_play(play_deadline_kills);
}

/* ---- exit_when_empty. ---- */

TR_ACTOR(brief, note);
static tr_next brief_note(tr_self *self, const struct note *note)
{
    if (note->n == 0)
        return TR_STOP;
    tr_tell(self, tr_me(self), note, .n = note->n - 1);
    return TR_SAME;
}
TR_BEHAVIOR(brief, void, TR_ON(note, brief_note));

TEST(a_system_that_is_to_exit_when_empty_does, "X-06")
{
    for (int round = 0; round < 100; round++) {
        const tr_system_options options = {.size = sizeof options,
                                           .workers = 1 + round % 3,
                                           .exit_when_empty = true,
                                           .on_log = theatre_no_log};
        tr_system *system;
        tr_client *client;
        ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
        ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
        for (int i = 0; i < 3; i++) {
            brief_ref brief;
            ck_assert_int_eq(tr_try_spawn_at(client, &brief, i % options.workers, brief, NULL),
                             TR_OK);
            tr_tell(client, brief, note, .n = 100);
        }
        ck_assert_int_eq(tr_system_run(system), TR_OK);
        brief_ref late;
        ck_assert_int_eq(tr_try_spawn(client, &late, brief, NULL), TR_STOPPING);
        tr_counters counters;
        tr_system_counters(system, &counters);
        ck_assert_uint_eq(counters.spawned, 3);
        ck_assert_uint_eq(counters.stopped, 3);
        tr_client_free(client);
        tr_system_free(system);
    }
}

TR_ACTOR(stillborn);
static tr_next stillborn_set_up(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "on purpose");
}
TR_BEHAVIOR(stillborn, void, TR_SETUP(stillborn_set_up));

TEST(it_exits_also_when_the_only_actor_never_started, "X-06", "L-04")
{
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .exit_when_empty = true, .on_log = theatre_no_log};
    tr_system *system;
    tr_client *client;
    stillborn_ref stillborn;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &stillborn, 1, stillborn, NULL), TR_OK);
    ck_assert_int_eq(tr_system_run(system), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, stillborn, 0, NULL), TR_INIT_FAILED);
    tr_client_free(client);
    tr_system_free(system);
}

/* ---- Several threads. ---- */

static void *run_main(void *context)
{
    ck_assert_int_eq(tr_system_run(context), TR_OK);
    return NULL;
}

static void *wait_main(void *context)
{
    ck_assert_int_eq(tr_system_wait(context), TR_OK);
    return NULL;
}

static void *shutdown_main(void *context)
{
    tr_system_shutdown(context, STAGE_PATIENCE);
    return NULL;
}

TEST(several_threads_may_shut_down_and_wait_at_once, "X-01")
{
    enum { EACH = 3 };
    for (int round = 0; round < 100; round++) {
        struct theatre theatre = theatre_open(2);
        pthread_t threads[2 * EACH];
        for (int i = 0; i < 2 * EACH; i++) {
            ck_assert_int_eq(
                pthread_create(
                    &threads[i], NULL, i % 2 ? wait_main : shutdown_main, theatre.system),
                0);
        }
        for (int i = 0; i < 2 * EACH; i++)
            pthread_join(threads[i], NULL);
        theatre_close(&theatre);
    }
}

TEST(one_thread_runs_a_system_and_another_waits_for_its_end, "X-01")
{
    for (int round = 0; round < 50; round++) {
        struct theatre theatre = theatre_new(1 + round % 2);
        pthread_t runner;
        pthread_t waiter;
        host_ref host;
        ck_assert_int_eq(tr_try_spawn(theatre.client, &host, host, NULL), TR_OK);
        ck_assert_int_eq(pthread_create(&runner, NULL, run_main, theatre.system), 0);
        /* It runs when it answers. */
        ck_assert_int_eq(ask_host(theatre.client, host, SPAWN), TR_OK);
        ck_assert_int_eq(pthread_create(&waiter, NULL, wait_main, theatre.system), 0);
        ck_assert_int_eq(ask_host(theatre.client, host, SPAWN), TR_OK);
        ck_assert_int_eq(ask_host(theatre.client, host, SHUT_DOWN), TR_OK);
        pthread_join(waiter, NULL);
        ck_assert_int_eq(tr_tell(theatre.client, host, order), TR_STOPPED);
        pthread_join(runner, NULL);
        theatre_close(&theatre);
    }
}

/* ---- Start and stop under traffic. ---- */

struct gossip {
    tr_ref next;
};

TR_MESSAGE(begin, (ref, client), (u32, count));

/* Sends on and on, and spawns and stops children on all workers meanwhile. */
TR_ACTOR(gossip, note, begin);
static tr_next gossip_begin(tr_self *self, const struct begin *begin)
{
    for (uint32_t i = 0; i < begin->count; i++)
        tr_tell(self, tr_me(self), note, .n = i);
    tr_tell(self, begin->client, ended);
    return TR_SAME;
}

static tr_next gossip_note(tr_self *self, const struct note *note)
{
    guest_ref guest;
    int workers = tr_system_workers(tr_system_of(self));
    if (tr_try_spawn_at(self, &guest, (int)(tr_random(self) % (uint64_t)workers), guest, NULL) ==
        TR_OK) {
        tr_tell(self, guest, note);
        if (note->n % 2)
            tr_stop(self, guest);
        else
            tr_kill(self, guest);
    }
    tr_tell(self, tr_me(self), note, .n = note->n + 1);
    return TR_SAME;
}
TR_BEHAVIOR(gossip, void, TR_ON(note, gossip_note), TR_ON(begin, gossip_begin));

TEST(systems_start_and_stop_under_traffic, "X-01", "L-06", "SH-11")
{
    uint64_t rounds = test_scale(100, 20000);
    for (uint64_t round = 0; round < rounds; round++) {
        struct theatre theatre = theatre_open_slow(1 + (int)(round % 4));
        for (int i = 0; i < 4; i++) {
            gossip_ref gossip;
            int worker = i % tr_system_workers(theatre.system);
            ck_assert_int_eq(tr_try_spawn_at(theatre.client, &gossip, worker, gossip, NULL), TR_OK);
            tr_tell(
                theatre.client, gossip, begin, .count = 5, .client = tr_client_ref(theatre.client));
        }
        for (uint64_t i = 0; i < round % 5; i++)
            tr_receive(theatre.client, ended, i ? TR_MILLISECOND : STAGE_PATIENCE);
        tr_system_shutdown(theatre.system, round % 2 ? 0 : STAGE_PATIENCE);
        theatre_close(&theatre);
    }
}

SUITE("system", a_system_starts_once, nothing_is_done_to_no_system,
      a_system_may_be_freed_without_a_start, a_system_that_runs_is_not_freed,
      a_shutdown_before_the_start_ends_it_at_once,
      run_once_needs_one_worker_and_tells_when_it_is_over, a_handler_may_shut_down_but_not_wait,
      nothing_is_spawned_once_the_shutdown_has_begun,
      within_the_deadline_everything_is_handled_and_the_first_one_counts,
      at_the_deadline_what_has_not_stopped_is_killed, a_system_that_is_to_exit_when_empty_does,
      it_exits_also_when_the_only_actor_never_started,
      several_threads_may_shut_down_and_wait_at_once,
      one_thread_runs_a_system_and_another_waits_for_its_end, systems_start_and_stop_under_traffic)
