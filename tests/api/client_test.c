/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients: how threads that run no actors send, receive and wait.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(number, (u64, n));
TR_MESSAGE(word, (str, text));
TR_REQUEST(question, number, (u64, n));
TR_MESSAGE(tell_me, (ref, to), (u64, n));
TR_ACTOR(answerer, question, word, tell_me);

static uint64_t without_sender;
static tr_next on_question(tr_self *self, const struct question *message)
{
    return tr_reply(self, number, .n = message->n + 1);
}
static tr_next on_word(tr_self *self)
{
    return tr_forward(self, tr_sender(self));
}
static tr_next on_tell_me(tr_self *self, const struct tell_me *message)
{
    (void)tr_tell(self, message->to, number, .n = message->n);
    return TR_SAME;
}
TR_BEHAVIOR(answerer, void, TR_ON(question, on_question), TR_ON(word, on_word),
            TR_ON(tell_me, on_tell_me));

/* One that speaks first: what it says at its start has no sender to reply to. */
TR_ACTOR(opener, number);
static tr_next on_start(tr_self *self)
{
    without_sender += tr_try_reply(self, number, .n = 1) == TR_NO_SENDER;
    without_sender += tr_is_nobody(tr_sender(self));
    return TR_SAME;
}
static tr_next on_number(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(opener, void, TR_ON(tr_pre_start, on_start), TR_ON(number, on_number));

static tr_kit *kit;
static tr_client *client;
static answerer_ref answerer;

static void begin(int workers)
{
    tr_kit_options options = {.workers = workers};
    kit = tr_kit_new(&options);
    client = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn_at(client, &answerer, workers - 1, answerer, NULL), TR_OK);
}

TEST(messages_are_received_in_order, "SG-01")
{
    begin(2);
    for (uint64_t n = 0; n < 100; n++)
        ck_assert_int_eq(tr_tell(client, answerer, question, .n = n), TR_OK);
    for (uint64_t n = 0; n < 100; n++) {
        const struct number *message = tr_receive(client, number, TR_SECOND);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(message->n, n + 1);
    }
    ck_assert_ptr_null(tr_receive(client, number, TR_SECOND));
    tr_kit_free(kit);
}

TEST(messages_of_other_types_stay_in_order, "")
{
    begin(1);
    for (uint64_t n = 0; n < 10; n++) {
        char text[16];
        snprintf(text, sizeof text, "w%d", (int)n);
        tr_tell(client, answerer, question, .n = n);
        tr_tell(client, answerer, word, .text = text);
    }
    for (int n = 0; n < 5; n++) {
        char text[16];
        snprintf(text, sizeof text, "w%d", n);
        const struct word *word = tr_receive(client, word, TR_SECOND);
        ck_assert_ptr_nonnull(word);
        ck_assert_str_eq(word->text, text);
    }
    (void)tr_kit_settle(kit);
    /* Any type: the oldest of what has stayed. Five words have gone. */
    for (uint64_t n = 0; n < 10; n++) {
        const struct number *number = tr_client_receive(client, NULL, 0);
        ck_assert_ptr_nonnull(number);
        ck_assert_uint_eq(number->n, n + 1);
        if (n >= 5) {
            const struct word *word = tr_client_receive(client, NULL, 0);
            ck_assert_int_eq(word->text[1], '0' + (int)n);
        }
    }
    ck_assert_ptr_null(tr_client_receive(client, NULL, 0));
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(a_received_message_lives_until_the_next_call, "")
{
    begin(1);
    tr_tell(client, answerer, word, .text = "a text that is too long for an envelope");
    tr_tell(client, answerer, word, .text = "another text that is too long for one");
    const struct word *word = tr_receive(client, word, TR_SECOND);
    tr_tell(client, answerer, question, .n = 1);
    (void)tr_kit_settle(kit);
    ck_assert_str_eq(word->text, "a text that is too long for an envelope");
    word = tr_receive(client, word, TR_SECOND);
    ck_assert_str_eq(word->text, "another text that is too long for one");
    tr_kit_free(kit);
}

TEST(a_timeout_is_exact_and_zero_does_not_wait, "")
{
    begin(1);
    (void)tr_kit_settle(kit);
    tr_time begin_ns = tr_kit_now(kit);
    ck_assert_ptr_null(tr_receive(client, number, 5 * TR_SECOND));
    ck_assert_int_eq(tr_kit_now(kit), begin_ns + 5 * TR_SECOND);
    tr_tell(client, answerer, question, .n = 1);
    ck_assert_ptr_null(tr_receive(client, number, 0));
    ck_assert_ptr_null(tr_receive(client, number, -1));
    ck_assert_int_eq(tr_kit_now(kit), begin_ns + 5 * TR_SECOND);
    ck_assert_ptr_nonnull(tr_receive(client, number, TR_NEVER));
    ck_assert_int_eq(tr_kit_now(kit), begin_ns + 5 * TR_SECOND);
    ck_assert_ptr_null(tr_client_receive(NULL, NULL, 5));
    tr_kit_free(kit);
}

TEST_ABORTS(in_a_kit_nobody_waits_for_ever_in_vain, "")
{
    begin(1);
    (void)tr_receive(client, number, TR_NEVER);
}

TEST(a_client_is_a_sender_and_a_receiver_like_any, "M-04")
{
    begin(2);
    tr_client *other;
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &other), TR_OK);
    ck_assert_ptr_eq(tr_client_system(other), tr_kit_system(kit));
    ck_assert(!tr_is_same(tr_client_ref(client), tr_client_ref(other)));
    tr_tell(client, answerer, tell_me, .to = tr_client_ref(other), .n = 7);
    const struct number *number = tr_receive(other, number, TR_SECOND);
    ck_assert_ptr_nonnull(number);
    ck_assert_uint_eq(number->n, 7);
    /* From client to client, and to itself. */
    ck_assert_int_eq(tr_tell(client, tr_client_ref(other), number, .n = 8), TR_OK);
    ck_assert_int_eq(tr_tell(other, tr_client_ref(other), number, .n = 9), TR_OK);
    ck_assert_uint_eq(tr_receive(other, number, 0)->n, 8);
    ck_assert_uint_eq(tr_receive(other, number, 0)->n, 9);
    /* It cannot be stopped: it is no actor. */
    (void)tr_stop(client, tr_client_ref(other));
    (void)tr_kill(client, tr_client_ref(other));
    ck_assert_int_eq(tr_tell(client, tr_client_ref(other), number, .n = 8), TR_OK);
    ck_assert_uint_eq(tr_receive(other, number, TR_SECOND)->n, 8);
    tr_kit_check(kit);
    tr_client_free(other);
    tr_client_free(NULL);
    ck_assert(tr_is_nobody(tr_client_ref(NULL)));
    ck_assert_ptr_null(tr_client_system(NULL));
    tr_kit_free(kit);
}

TEST(a_freed_client_is_dead_and_what_it_had_is_dead_letters, "MB-04", "M-04", "LC-14")
{
    begin(1);
    tr_system *system = tr_kit_system(kit);
    tr_client *gone;
    ck_assert_int_eq(tr_client_new(system, &gone), TR_OK);
    tr_ref ref = tr_client_ref(gone);
    for (uint64_t n = 0; n < 3; n++)
        tr_tell(client, answerer, tell_me, .to = ref, .n = n);
    (void)tr_kit_settle(kit);
    ck_assert_ptr_nonnull(tr_receive(gone, number, 0));
    tr_client_free(gone);
    ck_assert_uint_eq(tr_system_dead_letters(system, NULL, 0, NULL), 2);
    ck_assert_int_eq(tr_tell(client, ref, number, .n = 1), TR_STOPPED);
    tr_tell(client, answerer, tell_me, .to = ref, .n = 5);
    (void)tr_kit_settle(kit);
    ck_assert_uint_eq(tr_system_dead_letters(system, NULL, 0, NULL), 4);
    /* Its successor has another ref, and gets nothing of it. */
    tr_client *next;
    ck_assert_int_eq(tr_client_new(system, &next), TR_OK);
    ck_assert(!tr_is_same(ref, tr_client_ref(next)));
    ck_assert_int_eq(tr_tell(client, ref, number, .n = 1), TR_STOPPED);
    ck_assert_ptr_null(tr_client_receive(next, NULL, 0));
    tr_kit_check(kit);
    tr_client_free(next);
    tr_kit_free(kit);
}

TEST(what_was_under_way_to_a_freed_client_is_dead_letters, "MB-04")
{
    begin(2);
    tr_system *system = tr_kit_system(kit);
    for (int round = 0; round < 200; round++) {
        tr_client *gone;
        ck_assert_int_eq(tr_client_new(system, &gone), TR_OK);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(tr_tell(gone, answerer, question, .n = 1), TR_OK);
        for (int i = 0; i < round % 7; i++)
            (void)tr_kit_step(kit);
        tr_client_free(gone);
        tr_kit_check(kit);
    }
    (void)tr_kit_settle(kit);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(tr_system_dead_letters(system, NULL, 0, NULL), 1000);
    tr_kit_free(kit);
}

TEST(a_reply_without_a_sender_is_refused, "B-04", "M-03")
{
    begin(1);
    opener_ref opener = {0};
    ck_assert_int_eq(tr_try_spawn(client, &opener, opener, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, opener, TR_SECOND, NULL), TR_OK);
    ck_assert_uint_eq(without_sender, 2);
    tr_dead_letter_record record;
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), &record, 1, NULL), 1);
    ck_assert_int_eq(record.reason, TR_NO_SENDER);
    ck_assert(tr_is_nobody(record.to));
    ck_assert(tr_is_same(record.from, opener));
    tr_kit_free(kit);
}

TEST(a_client_finds_no_memory_and_works_when_there_is_some_again, "M-03")
{
    begin(1);
    (void)tr_kit_settle(kit);
    tr_client *other;
    for (uint64_t nth = 1; nth < 50; nth++) {
        tr_kit_fail_allocation(kit, nth, false);
        tr_status status = tr_client_new(tr_kit_system(kit), &other);
        tr_kit_fail_allocation(kit, 0, false);
        if (status == TR_OK) {
            ck_assert_uint_ge(nth, 2);
            tr_tell(other, answerer, question, .n = nth);
            ck_assert_ptr_nonnull(tr_receive(other, number, TR_SECOND));
            tr_kit_free(kit); /* closes it */
            return;
        }
        ck_assert_int_eq(status, TR_NO_MEMORY);
    }
    ck_abort_msg("it never worked");
}

/* ---- Threads. ---- */

enum { THREADS = 4, ROUNDS = 2000 };
static tr_system *system_;
static uint64_t rounds;

static void *client_main(void *argument)
{
    uint64_t *failures = argument;
    tr_client *mine;
    if (tr_client_new(system_, &mine) != TR_OK) {
        *failures = 1000;
        return NULL;
    }
    for (uint64_t n = 0; n < rounds; n++) {
        tr_tell(mine, answerer, question, .n = n);
        const struct number *number = tr_receive(mine, number, 30 * TR_SECOND);
        *failures += !number || number->n != n + 1;
    }
    tr_client_free(mine);
    return NULL;
}

TEST(several_threads_talk_at_once, "SG-01", "WP-01")
{
    pthread_t threads[THREADS];
    uint64_t failures[THREADS] = {0};
    tr_system_options options = {.workers = 2};
    rounds = test_scale(ROUNDS, 20 * ROUNDS);
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &answerer, 1, answerer, NULL), TR_OK);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, client_main, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(failures[i], 0);
    }
    tr_client_free(client);
    tr_system_shutdown(system_, 5 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted, 2 * THREADS * rounds);
    ck_assert_uint_eq(counters.handled, counters.accepted);
    tr_system_free(system_);
}

static void *receive_for_ever(void *argument)
{
    (void)argument;
    return (void *)(uintptr_t)tr_receive(client, number, TR_NEVER);
}

TEST(who_waits_for_ever_hears_that_the_system_has_stopped, "")
{
    for (int round = 0; round < 50; round++) {
        pthread_t thread;
        void *received = &thread;
        tr_system_options options = {.workers = 1};
        ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
        ck_assert_int_eq(tr_system_start(system_), TR_OK);
        ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
        ck_assert_int_eq(pthread_create(&thread, NULL, receive_for_ever, NULL), 0);
        tr_system_shutdown(system_, 5 * TR_SECOND);
        ck_assert_int_eq(tr_system_wait(system_), TR_OK);
        pthread_join(thread, &received);
        ck_assert_ptr_null(received);
        /* What has arrived can still be received, and then there is no more to wait for. */
        ck_assert_int_eq(tr_tell(client, tr_client_ref(client), number, .n = 3), TR_OK);
        ck_assert_uint_eq(tr_receive(client, number, TR_NEVER)->n, 3);
        ck_assert_ptr_null(tr_receive(client, number, TR_NEVER));
        tr_client *late;
        ck_assert_int_eq(tr_client_new(system_, &late), TR_STOPPING);
        tr_client_free(client);
        tr_system_free(system_);
    }
}

SUITE("clients", messages_are_received_in_order, messages_of_other_types_stay_in_order,
      a_received_message_lives_until_the_next_call, a_timeout_is_exact_and_zero_does_not_wait,
      in_a_kit_nobody_waits_for_ever_in_vain, a_client_is_a_sender_and_a_receiver_like_any,
      a_freed_client_is_dead_and_what_it_had_is_dead_letters,
      what_was_under_way_to_a_freed_client_is_dead_letters, a_reply_without_a_sender_is_refused,
      a_client_finds_no_memory_and_works_when_there_is_some_again, several_threads_talk_at_once,
      who_waits_for_ever_hears_that_the_system_has_stopped)
