/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handoff: a handler blocks, unannounced, and its worker continues without it.
 */
#include "support/sitters.h"

TEST(others_on_the_worker_go_on_while_a_handler_blocks, "O-05", "WP-11")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    /* Messages and asks, */
    for (uint64_t n = 0; n < 100; n++)
        others_go_on(&play, n);
    ck_assert_uint_eq(handoffs(&play), 1);
    /* timers, */
    tr_tell(client, play.friendly, begin_ticking, .who = tr_client_ref(client));
    for (int i = 0; i < 20; i++)
        ck_assert_ptr_nonnull(tr_receive(client, said, STAGE_PATIENCE));
    /* spawns, and orders to stop. */
    friendly_ref young;
    ck_assert_int_eq(tr_try_spawn(client, &young, friendly, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, young, STAGE_PATIENCE, NULL), TR_OK);
    ck_assert_int_eq(tr_kill(client, play.sitters[1]), TR_OK);
    while (!atomic_load(&stopped))
        others_go_on(&play, 1);
    ck_assert_int_eq(atomic_load(&sitting), 1);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    others_go_on(&play, 2);
    theatre_close(&play.theatre);
}

TEST(what_is_for_the_one_that_blocks_waits_in_its_order, "O-05")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    for (uint32_t n = 1; n <= 500; n++) {
        tr_tell(client, play.sitters[0], number, .from = 0, .n = n);
        if (n % 100 == 0)
            others_go_on(&play, n);
    }
    gate_open(0);
    ck_assert_uint_eq(sat_of(&play, asked).sum, 0); /* nobody was handled before it */
    struct sat sum = sum_of(&play, 0);
    ck_assert_int_eq(sum.status, 0);
    ck_assert_uint_eq(sum.sum, 500 * 501 / 2);
    theatre_close(&play.theatre);
}

static void verb_works(struct play *play, enum what what)
{
    sit_ask asked = sit_down(play, 0, what);
    others_go_on(play, what);
    if (what == AWAIT_FIRST) {
        gate_open(0); /* it waits in its handler a second time, now detached */
        await_sitting(1);
        others_go_on(play, what);
    }
    gate_open(0);
    ck_assert_int_eq(sat_of(play, asked).status, TR_OK);
    if (what == TELL)
        ck_assert_uint_eq(tr_receive(play->theatre.client, said, STAGE_PATIENCE)->n, 9);
}

TEST(verbs_after_the_block_do_what_they_say, "O-05")
{
    struct play play = play_open(1);
    static const enum what whats[] = {
        JUST_REPLY, AWAIT, SLEEP, SPAWN, MEMORY, TELL, BLOCKING, LOG, WATCH, AWAIT_FIRST};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof whats / sizeof whats[0]; i++)
            verb_works(&play, whats[i]);
    }
    ck_assert_uint_ge(handoffs(&play), 20);
    ck_assert_int_eq(sum_of(&play, 0).status, 0);
    theatre_close(&play.theatre);
}

TEST(a_turn_may_fail_or_stop_after_the_block, "O-05")
{
    struct play play = play_open(0);
    static const enum what whats[] = {FAIL, CRASH};
    tr_client *client = play.theatre.client;
    const struct sat *sat;
    for (size_t i = 0; i < 2; i++) {
        tr_tell(client, play.sitters[0], number, .from = 0, .n = 1);
        sit_ask asked = sit_down(&play, 0, whats[i]);
        others_go_on(&play, i);
        gate_open(0);
        ck_assert_int_ne(tr_try_await(client, asked, &sat), TR_OK);
        ck_assert_uint_eq(sum_of(&play, 0).sum, 0); /* it was restarted */
    }
    sit_ask asked = sit_down(&play, 0, STOP);
    others_go_on(&play, 9);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    while (atomic_load(&stopped) < 1)
        others_go_on(&play, 1);
    theatre_close(&play.theatre);
}

TEST(orders_wait_for_the_one_that_blocks, "O-05", "SG-08")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    const struct sat *sat;
    sit_ask asked = sit_down(&play, 0, AWAIT);
    others_go_on(&play, 1);
    ck_assert_int_eq(tr_kill(client, play.sitters[0]), TR_OK);
    for (uint64_t n = 0; n < 100; n++)
        others_go_on(&play, n);
    ck_assert_int_eq(atomic_load(&stopped), 0);
    gate_open(0);
    /* The kill comes when the turn waits, or before its first verb does anything. */
    ck_assert_int_ne(tr_try_await(client, asked, &sat), TR_OK);
    while (!atomic_load(&stopped))
        others_go_on(&play, 2);
    ck_assert_int_eq(tr_suspend(client, play.sitters[1]), TR_OK);
    ck_assert_int_eq(tr_resume(client, play.sitters[1]), TR_OK);
    asked = sit_down(&play, 1, JUST_REPLY);
    others_go_on(&play, 3);
    ck_assert_int_eq(tr_suspend(client, play.sitters[1]), TR_OK);
    ck_assert_int_eq(tr_resume(client, play.sitters[1]), TR_OK);
    gate_open(1);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    theatre_close(&play.theatre);
}

TEST(several_block_at_once_and_come_back_in_any_order, "O-05", "WP-11")
{
    static const uint32_t orders[6][3] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct play play = play_open(3);
    for (int i = 0; i < 6; i++) {
        sit_ask asked[3];
        for (uint32_t gate = 0; gate < 3; gate++) {
            asked[gate] = sit_down(&play, gate, i % 2 ? AWAIT : SPAWN);
            others_go_on(&play, gate);
        }
        for (int k = 0; k < 3; k++) {
            gate_open(orders[i][k]);
            ck_assert_int_eq(sat_of(&play, asked[orders[i][k]]).status, TR_OK);
            others_go_on(&play, 9);
        }
    }
    /* All at once. */
    sit_ask asked[3];
    for (uint32_t gate = 0; gate < 3; gate++) {
        asked[gate] = sit_down(&play, gate, AWAIT_FIRST);
        others_go_on(&play, gate);
    }
    for (uint32_t gate = 0; gate < 6; gate++) {
        gate_open(gate % 3);
        if (gate < 3)
            await_sitting(3);
    }
    for (uint32_t gate = 0; gate < 3; gate++)
        ck_assert_int_eq(sat_of(&play, asked[gate]).status, TR_OK);
    theatre_close(&play.theatre);
}

static _Atomic int starts;
static tr_status fail_second_start(tr_system *system, int worker, void *context)
{
    (void)system, (void)worker, (void)context;
    return atomic_fetch_add(&starts, 1) == 1 ? TR_LIMIT : TR_OK; /* the first is the worker's own */
}

/* The only place for a handoff thread was used up by a thread that never worked. */
TEST(a_handoff_thread_that_could_not_start_tries_again, "O-05")
{
    play_on_start = fail_second_start;
    struct play play = play_open(1);
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    ck_assert_int_eq(atomic_load(&starts), 3);
    ck_assert_uint_eq(handoffs(&play), 1);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    theatre_close(&play.theatre);
    play_on_start = NULL;
}

SUITE("api thread handoff", a_handoff_thread_that_could_not_start_tries_again,
      others_on_the_worker_go_on_while_a_handler_blocks,
      what_is_for_the_one_that_blocks_waits_in_its_order, verbs_after_the_block_do_what_they_say,
      a_turn_may_fail_or_stop_after_the_block, orders_wait_for_the_one_that_blocks,
      several_block_at_once_and_come_back_in_any_order)
