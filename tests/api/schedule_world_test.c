/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schedules and what is around them: threads, the end of the system, other loops, lack of memory,
 * limits. schedule_test.c has what they do.
 */
#include "support/kits.h"
#include "support/stage.h"

#include <pthread.h>
#include <sched.h>

TR_MESSAGE(note, (u32, n), (str, text), (buffer, data));
TR_MESSAGE(fired, (u32, n));
TR_ACTOR(listener, note);

static uint32_t heard;

static tr_next on_note(void)
{
    heard++;
    return TR_SAME;
}

TR_BEHAVIOR(listener, void, TR_ON(note, on_note));

#define OK(call) ck_assert_int_eq(call, TR_OK)

static uint32_t called;

static tr_next count_call(tr_self *self, void *argument)
{
    (void)self;
    (void)argument;
    called++;
    return TR_SAME;
}

/* ---- The end of a system. ---- */

static tr_next shut_down(tr_self *self, void *argument)
{
    called++;
    tr_system_shutdown(tr_system_of(self), *(tr_time *)argument);
    return TR_SAME;
}

static void play_shutdown(void)
{
    static tr_time timeout_ns = TR_SECOND;
    tr_system *system = tr_kit_system(kit);
    listener_ref listener;
    heard = called = 0;
    OK(tr_try_spawn_at(test, &listener, home, listener, "listener"));
    OK(tr_schedule_call(system, NULL, TR_TIMER_ONCE, 30 * TR_SECOND, shut_down, &timeout_ns));
    tr_schedule call, message;
    OK(tr_schedule_call(system, &call, TR_TIMER_FIXED_RATE, 29 * TR_SECOND, count_call, NULL));
    OK(tr_schedule_fixed_delay(system, &message, 29 * TR_SECOND, listener, note, .n = 1));
    tr_kit_advance(kit, 30 * TR_SECOND - 1);
    ck_assert_uint_eq(called, 1);
    ck_assert_uint_eq(heard, 1);
    tr_counters counters;
    tr_kit_advance(kit, 1);
    ck_assert_uint_eq(called, 2);
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.live, 0); /* nothing held it up */
    ck_assert_int_eq(tr_schedule_once(system, NULL, 0, listener, note, .n = 1), TR_STOPPING);
    ck_assert_int_eq(tr_schedule_call(system, NULL, TR_TIMER_ONCE, 0, count_call, NULL),
                     TR_STOPPING);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(called, 2);
    ck_assert_uint_eq(heard, 1);
    ck_assert_int_eq(tr_schedule_cancel(system, call), TR_TIMER_NONE);
    /* This one had not fired, and there was no actor of its own to end with. */
    ck_assert_int_eq(tr_schedule_cancel(system, message), TR_TIMER_CANCELLED);
}

TEST(a_shutdown_can_be_scheduled_and_ends_all_schedules, "T-02", "TM-15")
{
    kits_each(play_shutdown);
}

static void play_pending(void)
{
    tr_system *system = tr_kit_system(kit);
    listener_ref listener;
    OK(tr_try_spawn_at(test, &listener, home, listener, "listener"));
    tr_buffer *buffer = tr_buffer_new(1000);
    ck_assert_ptr_nonnull(buffer);
    for (int i = 0; i < 50; i++) {
        OK(tr_schedule_once(system, NULL, i, listener, note, .text = "a text", .data = buffer));
        OK(tr_schedule_fixed_rate(system, NULL, 1 + i, listener, note, .data = buffer));
        OK(tr_schedule_call(system, NULL, (tr_timer_kind)(i % 3), 1 + i, count_call, NULL));
    }
    tr_buffer_release(buffer);
    for (uint64_t i = 0; i < kits_seed % 7 * 20; i++)
        tr_kit_step(kit);
    tr_kit_advance(kit, (tr_time)(kits_seed % 60));
    /* The kit finds what is left of it when it is freed here, in whatever state. */
}

TEST(what_is_pending_when_a_system_is_freed_is_freed, "T-02")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= 40; seed++) {
            kit_open(workers, seed);
            play_pending();
            if (seed % 2)
                tr_kit_check(kit);
            tr_kit_free(kit);
        }
    }
}

TEST(a_system_that_never_ran_frees_its_schedules, "T-02")
{
    struct theatre theatre = theatre_new(2);
    OK(tr_schedule_once(
        theatre.system, NULL, 0, tr_client_ref(theatre.client), note, .text = "text"));
    OK(tr_schedule_call(theatre.system, NULL, TR_TIMER_FIXED_RATE, 1, count_call, NULL));
    tr_client_free(theatre.client);
    tr_system_free(theatre.system);
    ck_assert_uint_eq(called, 0);
}

static tr_next stop_listener(tr_self *self, void *argument)
{
    tr_stop(self, *(listener_ref *)argument);
    return TR_SAME;
}

TEST(schedules_keep_no_system_alive, "T-02", "X-06")
{
    for (int workers = 1; workers <= 3; workers++) {
        const tr_system_options options = {.size = sizeof options,
                                           .workers = workers,
                                           .exit_when_empty = true,
                                           .on_log = theatre_no_log};
        tr_system *system;
        tr_client *client;
        listener_ref listener;
        OK(tr_system_new(&options, &system));
        OK(tr_client_new(system, &client));
        OK(tr_schedule_call(system, NULL, TR_TIMER_ONCE, TR_HOUR, count_call, NULL));
        OK(tr_schedule_call(system, NULL, TR_TIMER_FIXED_RATE, 10, count_call, NULL));
        OK(tr_schedule_once(system, NULL, TR_HOUR, tr_client_ref(client), note, .n = 1));
        OK(tr_try_spawn_at(client, &listener, workers - 1, listener, "last"));
        /* A call that has ended leaves the system alone, the last actor ends it. */
        OK(tr_schedule_call(system, NULL, TR_TIMER_ONCE, 0, count_call, NULL));
        OK(tr_schedule_call(
            system, NULL, TR_TIMER_ONCE, 5 * TR_MILLISECOND, stop_listener, &listener));
        OK(tr_system_run(system));
        ck_assert_uint_ge(called, 1);
        called = 0;
        tr_client_free(client);
        tr_system_free(system);
    }
}

TEST(a_call_alone_does_not_empty_a_system, "T-02", "X-06")
{
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .exit_when_empty = true, .on_log = theatre_no_log};
    tr_system *system;
    OK(tr_system_new(&options, &system));
    OK(tr_schedule_call(system, NULL, TR_TIMER_ONCE, 0, count_call, NULL));
    for (int i = 0; i < 20; i++)
        OK(tr_system_run_once(system, 0));
    ck_assert_uint_eq(called, 1);
    tr_system_free(system);
}

/* ---- In another's loop. ---- */

TEST(another_loop_knows_when_a_schedule_is_due, "T-02", "TM-01")
{
    struct hand hand;
    hand_open(&hand);
    hand_run(&hand);
    ck_assert_int_eq(tr_system_timeout(hand.system), TR_NEVER);
    tr_schedule far;
    OK(tr_schedule_call(hand.system, &far, TR_TIMER_ONCE, TR_HOUR, count_call, NULL));
    OK(tr_schedule_call(hand.system, NULL, TR_TIMER_ONCE, TR_SECOND, count_call, NULL));
    ck_assert_int_eq(tr_system_timeout(hand.system), TR_SECOND);
    hand_leap(&hand, TR_SECOND - 1);
    ck_assert_uint_eq(called, 0);
    ck_assert_int_eq(tr_system_timeout(hand.system), 1);
    hand_leap(&hand, 1);
    ck_assert_uint_eq(called, 1);
    ck_assert_int_eq(tr_system_timeout(hand.system), TR_HOUR - TR_SECOND);
    ck_assert_int_eq(tr_schedule_cancel(hand.system, far), TR_TIMER_CANCELLED);
    ck_assert_int_eq(tr_system_timeout(hand.system), TR_NEVER);
    hand_close(&hand);
}

/* ---- Memory. ---- */

/* Everything once, with the nth allocation refused. True when that was one of it. */
static bool play_without_memory(uint64_t nth, bool and_all_after)
{
    kit_open(3, nth);
    tr_system *system = tr_kit_system(kit);
    listener_ref listener;
    heard = called = 0;
    OK(tr_try_spawn_at(test, &listener, home, listener, "listener"));
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    uint32_t notes = 0;
    uint32_t calls = 0;
    for (int i = 0; i < 20; i++) {
        tr_status status = tr_schedule_once(system, NULL, i, listener, note, .text = text);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        notes += status == TR_OK;
        status = tr_schedule_call(system, NULL, TR_TIMER_ONCE, i, count_call, NULL);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        calls += status == TR_OK;
    }
    tr_kit_advance(kit, 3 * TR_MILLISECOND);
    bool was_reached = tr_kit_allocations(kit) - before >= nth;
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, 3 * TR_MILLISECOND);
    /* What was promised comes, perhaps late; an actor that could not begin is logged. */
    ck_assert_uint_eq(heard, notes);
    ck_assert_uint_le(called, calls);
    if (!and_all_after)
        ck_assert_uint_ge(called + 1, calls);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.live, 1);
    kit_close();
    return was_reached;
}

TEST(lack_of_memory_is_a_status_or_a_delay, "T-02", "U-03")
{
    for (int and_all_after = 0; and_all_after <= 1; and_all_after++) {
        uint64_t nth = 1;
        while (play_without_memory(nth, and_all_after))
            nth++;
        ck_assert_uint_gt(nth, 40);
    }
}

/* ---- Limits. ---- */

TEST(there_may_be_so_many_schedules_and_no_more, "T-02", "U-01")
{
    kit_open(1, 1);
    tr_system *system = tr_kit_system(kit);
    listener_ref listener;
    OK(tr_try_spawn(test, &listener, listener, "listener"));
    tr_schedule first, last;
    OK(tr_schedule_once(system, &first, TR_HOUR, listener, note, .n = 0));
    for (uint32_t i = 1; i < TR_SCHEDULES_MAX; i++)
        OK(tr_schedule_once(system, &last, TR_HOUR, listener, note, .n = i));
    ck_assert_int_eq(tr_schedule_once(system, NULL, 0, listener, note, .n = 0), TR_LIMIT);
    ck_assert_int_eq(tr_schedule_call(system, NULL, TR_TIMER_ONCE, 0, count_call, NULL), TR_LIMIT);
    ck_assert_int_eq(tr_schedule_cancel(system, first), TR_TIMER_CANCELLED);
    OK(tr_schedule_once(system, NULL, TR_HOUR, listener, note, .n = 0));
    ck_assert_int_eq(tr_schedule_once(system, NULL, 0, listener, note, .n = 0), TR_LIMIT);
    ck_assert_int_eq(tr_schedule_cancel(system, last), TR_TIMER_CANCELLED);
    heard = 0;
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(heard, TR_SCHEDULES_MAX - 1);
    kit_close();
}

TR_ACTOR(busy, note);
TR_BEHAVIOR(busy, void, TR_ON(note, on_note), TR_OPTIONS(.mailbox_max = 2));

static void play_full(void)
{
    tr_system *system = tr_kit_system(kit);
    busy_ref busy;
    tr_schedule schedule;
    heard = 0;
    OK(tr_try_spawn_at(test, &busy, home, busy, "busy"));
    tr_kit_settle(kit);
    tr_suspend(test, busy);
    OK(tr_schedule_fixed_rate(system, &schedule, TR_SECOND, busy, note, .n = 1));
    tr_kit_advance(kit, 5 * TR_SECOND);
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 3);
    tr_resume(test, busy);
    tr_kit_settle(kit);
    ck_assert_uint_eq(heard, 2);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(heard, 3);
    ck_assert_int_eq(tr_schedule_cancel(system, schedule), TR_TIMER_CANCELLED);
}

TEST(a_full_mailbox_does_not_end_a_schedule, "T-02", "M-02")
{
    kits_each(play_full);
}

/* ---- Threads. ---- */

enum { THREADS = 4, EACH = TEST_HAS_SANITIZER ? 300 : 1500 };

struct scheduler {
    tr_system *system;
    tr_ref to;
    uint32_t first; /* the number of its first schedule */
    uint64_t random;
    tr_schedule rate;
    uint32_t rate_calls; /* worker 0's */
    tr_timer_end ends[EACH];
    bool is_cancelled[EACH];
    struct call_argument {
        tr_ref to;
        uint32_t n;
    } arguments[EACH];
};

static tr_next tell_fired(tr_self *self, void *argument)
{
    struct call_argument *call = argument;
    tr_tell(self, call->to, fired, .n = call->n);
    return TR_SAME;
}

static tr_next count_rate(tr_self *self, void *argument)
{
    (void)self;
    (*(uint32_t *)argument)++;
    return TR_SAME;
}

static uint32_t below(struct scheduler *own, uint32_t limit)
{
    own->random = own->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(own->random >> 33) % limit;
}

static void *scheduler_main(void *context)
{
    struct scheduler *own = context;
    OK(tr_schedule_call(own->system,
                        &own->rate,
                        TR_TIMER_FIXED_RATE,
                        20 * TR_MICROSECOND,
                        count_rate,
                        &own->rate_calls));
    tr_schedule handles[EACH];
    for (uint32_t i = 0; i < EACH; i++) {
        tr_time delay_ns = below(own, 3) ? below(own, 300) * TR_MICROSECOND : 0;
        own->arguments[i] = (struct call_argument){own->to, own->first + i};
        if (i % 2)
            OK(tr_schedule_once(
                own->system, &handles[i], delay_ns, own->to, fired, .n = own->first + i));
        else
            OK(tr_schedule_call(
                own->system, &handles[i], TR_TIMER_ONCE, delay_ns, tell_fired, &own->arguments[i]));
        uint32_t which = i - below(own, i < 20 ? i + 1 : 20);
        if (below(own, 2) || own->is_cancelled[which])
            continue;
        own->ends[which] = tr_schedule_cancel(own->system, handles[which]);
        own->is_cancelled[which] = true;
        ck_assert_int_eq(tr_schedule_cancel(own->system, handles[which]), TR_TIMER_NONE);
    }
    tr_timer_end end = tr_schedule_cancel(own->system, own->rate);
    ck_assert(end == TR_TIMER_CANCELLED || end == TR_TIMER_TAKEN_BACK);
    return NULL;
}

static void receive_all(struct theatre *theatre, uint32_t *times, uint32_t expected)
{
    for (uint32_t i = 0; i < expected; i++) {
        const struct fired *message = tr_receive(theatre->client, fired, STAGE_PATIENCE);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_lt(message->n, THREADS * EACH);
        times[message->n]++;
    }
}

/* Runs one turn on worker 0 and waits for it: what ran there has ended. */
static void barrier(struct theatre *theatre)
{
    static uint32_t times[THREADS * EACH];
    struct call_argument argument = {tr_client_ref(theatre->client), 0};
    OK(tr_schedule_call(theatre->system, NULL, TR_TIMER_ONCE, 0, tell_fired, &argument));
    receive_all(theatre, times, 1);
}

TEST(many_threads_schedule_and_cancel, "T-02", "TM-02", "TM-03")
{
    static struct scheduler schedulers[THREADS];
    static uint32_t times[THREADS * EACH];
    struct theatre theatre = theatre_open(2);
    pthread_t threads[THREADS];
    uint64_t seed = test_seed();
    for (uint32_t i = 0; i < THREADS; i++) {
        schedulers[i] = (struct scheduler){.system = theatre.system,
                                           .to = tr_client_ref(theatre.client),
                                           .first = i * EACH,
                                           .random = seed + i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, scheduler_main, &schedulers[i]), 0);
    }
    uint32_t expected = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (uint32_t n = 0; n < EACH; n++)
            expected += schedulers[i].ends[n] == TR_TIMER_NONE;
    }
    receive_all(&theatre, times, expected);
    barrier(&theatre);
    uint32_t rate_calls[THREADS];
    for (int i = 0; i < THREADS; i++)
        rate_calls[i] = schedulers[i].rate_calls;
    for (int i = 0; i < 10; i++)
        barrier(&theatre);
    tr_system_shutdown(theatre.system, STAGE_PATIENCE);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
    ck_assert_ptr_null(tr_receive(theatre.client, fired, 0));
    uint32_t cancelled = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        ck_assert_uint_eq(schedulers[i].rate_calls, rate_calls[i]);
        for (uint32_t n = 0; n < EACH; n++) {
            /* The truth: what was taken back never came, and the rest came once. */
            bool has_fired = schedulers[i].ends[n] == TR_TIMER_NONE;
            ck_assert_uint_eq(times[i * EACH + n], has_fired);
            cancelled += !has_fired;
        }
    }
    ck_assert_uint_gt(cancelled, 0);
    theatre_close(&theatre);
}

TEST(a_worker_that_sleeps_is_told_of_an_earlier_deadline, "T-02")
{
    struct theatre theatre = theatre_open(2);
    tr_ref to = tr_client_ref(theatre.client);
    for (int i = 0; i < 3; i++) {
        tr_counters counters = {0};
        while (counters.parks < 2 + (uint64_t)i) {
            sched_yield();
            tr_system_counters(theatre.system, &counters);
        }
        OK(tr_schedule_once(theatre.system, NULL, TR_MILLISECOND, to, fired, .n = 1));
        ck_assert_ptr_nonnull(tr_receive(theatre.client, fired, 10 * TR_SECOND));
        OK(tr_schedule_once(theatre.system, NULL, TR_HOUR, to, fired, .n = 1));
    }
    theatre_close(&theatre);
}

static tr_next do_nothing(tr_self *self, void *argument)
{
    (void)self;
    (void)argument;
    return TR_SAME;
}

static void *flood_main(void *context)
{
    tr_system *system = context;
    while (tr_schedule_call(system, NULL, TR_TIMER_FIXED_DELAY, 1, do_nothing, NULL) != TR_STOPPING)
        ;
    return NULL;
}

TEST(a_shutdown_may_come_in_between, "T-02", "TM-15")
{
    for (int round = 0; round < 20; round++) {
        struct theatre theatre = theatre_open(2);
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, flood_main, theatre.system), 0);
        tr_counters counters = {0};
        while (counters.spawned < (uint64_t)round * 20) {
            sched_yield();
            tr_system_counters(theatre.system, &counters);
        }
        tr_system_shutdown(theatre.system, STAGE_PATIENCE);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        ck_assert_int_eq(tr_system_wait(theatre.system), TR_OK);
        tr_client_free(theatre.client);
        tr_system_free(theatre.system);
    }
}

SUITE("schedules and the world", a_shutdown_can_be_scheduled_and_ends_all_schedules,
      what_is_pending_when_a_system_is_freed_is_freed, a_system_that_never_ran_frees_its_schedules,
      schedules_keep_no_system_alive, a_call_alone_does_not_empty_a_system,
      another_loop_knows_when_a_schedule_is_due, lack_of_memory_is_a_status_or_a_delay,
      there_may_be_so_many_schedules_and_no_more, a_full_mailbox_does_not_end_a_schedule,
      many_threads_schedule_and_cancel, a_worker_that_sleeps_is_told_of_an_earlier_deadline,
      a_shutdown_may_come_in_between)
