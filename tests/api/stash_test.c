/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stash: what is set aside comes back before newer mail, in order, and is never lost.
 * stash_model_test.c compares random use with a model.
 */
#include "support/kits.h"

TR_MESSAGE(item, (u32, from), (u32, n));
TR_MESSAGE(text_item, (u32, n), (str, text), (array(u8, 200), wide), (buffer, shared));
TR_MESSAGE(answer, (u32, n));
TR_ACTOR(keeper, run, item, text_item);
TR_BEHAVIOR_DECLARE(open_keeper);
TR_BEHAVIOR_DECLARE(third_keeper);

static keeper_ref keeper;
static tr_next (*during)(tr_self *self, uint32_t n); /* in the turn of an item, when open */

static tr_next on_item(tr_self *self, const struct item *message)
{
    say("%u", (unsigned)message->n);
    return during ? during(self, message->n) : TR_SAME;
}

static tr_next on_text_item(tr_self *self, const struct text_item *message)
{
    ck_assert_str_eq(message->text, "a text that is no part of the envelope");
    ck_assert_uint_eq(message->wide[199], 3);
    ck_assert_str_eq(tr_buffer_data(message->shared), "shared");
    say("text %u", (unsigned)message->n);
    return during ? during(self, message->n) : TR_SAME;
}

static tr_next on_third_item(const struct item *message)
{
    say("third %u", (unsigned)message->n);
    return TR_SAME;
}

static tr_next on_stop(tr_self *self)
{
    ck_assert_uint_eq(tr_unstash(self, SIZE_MAX), 0); /* it is too late */
    say("end");
    return TR_SAME;
}

/* Closed: everything is set aside. */
TR_BEHAVIOR(keeper, void, TR_ON(run, on_run), TR_ON_ANY(tr_stash), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(open_keeper, void, TR_ON(run, on_run), TR_ON(item, on_item),
            TR_ON(text_item, on_text_item), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(third_keeper, void, TR_ON(run, on_run), TR_ON(item, on_third_item),
            TR_ON(tr_post_stop, on_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

static void begin(uint32_t items)
{
    during = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &keeper, home, keeper, NULL), TR_OK);
    for (uint32_t i = 1; i <= items; i++)
        tr_tell(test, keeper, item, .n = i);
    tr_kit_settle(kit);
    SAID("");
    tr_kit_check(kit); /* what is stashed is not lost */
}

static void do_run(turn *next)
{
    TELL_RUN(test, keeper, next);
    tr_kit_settle(kit);
    tr_kit_check(kit);
}

static tr_next open_all(tr_self *self)
{
    say("open %zu", tr_stash_count(self));
    say("back %zu", tr_unstash(self, SIZE_MAX));
    return tr_become(self, open_keeper);
}

/* ---- Order. ---- */

static void play_order(void)
{
    begin(4);
    TELL_RUN(test, keeper, open_all);
    tr_tell(test, keeper, item, .n = 5);
    tr_tell(test, keeper, item, .n = 6);
    tr_kit_settle(kit);
    SAID("open 4; back 4; 1; 2; 3; 4; 5; 6");
}

TEST(unstashed_messages_come_in_order_before_newer_mail, "B-08", "ST-01")
{
    kits_each(play_order);
}

static tr_next only_open(tr_self *self)
{
    return tr_become(self, open_keeper);
}

static tr_next back_two(tr_self *self)
{
    size_t before = tr_stash_count(self);
    say("back %zu of %zu", tr_unstash(self, 2), before);
    return TR_SAME;
}

static tr_next back_none(tr_self *self)
{
    say("back %zu", tr_unstash(self, 0));
    return TR_SAME;
}

static void play_by_two(void)
{
    begin(5);
    TELL_RUN(test, keeper, only_open);
    do_run(back_none);
    TELL_RUN(test, keeper, back_two);
    tr_tell(test, keeper, item, .n = 6);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    SAID("back 0; back 2 of 5; 1; 2; 6");
    TELL_RUN(test, keeper, back_two);
    TELL_RUN(test, keeper, back_two);
    tr_kit_settle(kit);
    SAID("back 2 of 3; 3; 4; back 1 of 1; 5");
    do_run(back_none);
    SAID("back 0");
}

TEST(some_at_a_time_keep_their_order, "B-08", "ST-04")
{
    kits_each(play_by_two);
}

/* Even ones are stashed again while what was stashed comes back. */
static tr_next stash_even(tr_self *self, uint32_t n)
{
    if (n % 2 || n > 10)
        return TR_SAME;
    say("again");
    return tr_stash(self);
}

static void play_again(void)
{
    begin(5);
    TELL_RUN(test, keeper, only_open);
    during = stash_even;
    do_run(open_all);
    SAID("open 5; back 5; 1; 2; again; 3; 4; again; 5");
    tr_tell(test, keeper, item, .n = 11);
    tr_kit_settle(kit);
    SAID("11");
    during = NULL;
    do_run(open_all);
    SAID("open 2; back 2; 2; 4");
}

TEST(what_is_stashed_again_waits_for_the_next_call, "B-08", "ST-03")
{
    kits_each(play_again);
}

/* Unstash in the turn of a message that is itself stashed: it comes behind. */
static tr_next stash_and_unstash(tr_self *self, uint32_t n)
{
    if (n != 9)
        return TR_SAME;
    during = NULL;
    say("back %zu", tr_unstash(self, SIZE_MAX));
    return tr_stash(self);
}

static void play_both(void)
{
    begin(2);
    TELL_RUN(test, keeper, only_open);
    tr_kit_settle(kit);
    during = stash_and_unstash;
    tr_tell(test, keeper, item, .n = 9);
    tr_tell(test, keeper, item, .n = 10);
    tr_kit_settle(kit);
    SAID("9; back 2; 1; 2; 10");
    do_run(open_all);
    SAID("open 1; back 1; 9");
}

TEST(a_turn_unstashes_and_is_stashed, "B-08", "ST-03")
{
    kits_each(play_both);
}

static tr_next become_third(tr_self *self, uint32_t n)
{
    return n == 2 ? tr_become(self, third_keeper) : TR_SAME;
}

static void play_become(void)
{
    begin(4);
    during = become_third;
    do_run(open_all);
    SAID("open 4; back 4; 1; 2; third 3; third 4");
}

TEST(a_new_behavior_gets_the_next_unstashed_message, "B-08", "ST-06")
{
    kits_each(play_become);
}

/* ---- The bound. ---- */

static void play_full(void)
{
    begin(TR_STASH_MAX);
    tr_tell(test, keeper, item, .n = 5000);
    tr_tell(test, keeper, item, .n = 5001);
    tr_kit_settle(kit);
    SAID("end");
    tr_kit_check(kit);
    /* The one that did not fit has failed its turn; what waited, and what came later, is dead. */
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.dead_letters, TR_STASH_MAX + 1);
    ck_assert_uint_eq(counters.handled, 1);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), TR_DEAD_LETTERS_MAX);
}

TEST(one_more_than_the_stash_holds_fails_the_turn, "B-08", "ST-02")
{
    kits_each(play_full);
}

static tr_next refill(tr_self *self, uint32_t n)
{
    (void)n;
    said_length = 0;
    return tr_stash(self);
}

static void play_refill(void)
{
    begin(TR_STASH_MAX);
    during = refill; /* a full stash may be emptied and filled again and again */
    for (int i = 0; i < 3; i++)
        do_run(open_all);
    SAID("");
    during = NULL;
    do_run(open_all);
    const char *words = said();
    ck_assert_ptr_nonnull(strstr(words, "open 1024; back 1024; 1; 2; 3"));
    ck_assert_ptr_nonnull(strstr(words, "1022; 1023; 1024"));
}

TEST(a_full_stash_comes_back_and_is_filled_again, "B-08", "ST-02", "ST-03")
{
    kits_each(play_refill);
}

/* ---- The end of the actor. ---- */

static tr_next stop_at_two(tr_self *self, uint32_t n)
{
    (void)self;
    return n == 2 ? TR_STOP : TR_SAME;
}

static tr_next fail_at_two(tr_self *self, uint32_t n)
{
    return n == 2 ? tr_fail(self, TR_FAILED, "on purpose") : TR_SAME;
}

static tr_next kill_at_two(tr_self *self, uint32_t n)
{
    if (n == 2)
        tr_kill(self, keeper);
    return TR_SAME;
}

static void play_end(void)
{
    static tr_next (*const ends[])(tr_self *, uint32_t) = {stop_at_two, fail_at_two, kill_at_two};
    for (size_t i = 0; i < 3; i++) {
        begin(5);
        during = ends[i];
        TELL_RUN(test, keeper, open_all);
        tr_tell(test, keeper, item, .n = 6);
        tr_kit_settle(kit);
        SAID("open 5; back 5; 1; 2; end");
        ck_assert_uint_eq(dead_letters(TR_STOPPED), 4 * (i + 1));
        tr_kit_check(kit);
    }
}

TEST(a_stop_while_unstashing_makes_the_rest_dead_letters, "B-08", "ST-07", "M-04")
{
    kits_each(play_end);
}

static void play_end_stashed(void)
{
    begin(5);
    tr_stop(test, keeper);
    tr_kit_settle(kit);
    SAID("end");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 5);
    begin(7);
    tr_kill(test, keeper);
    tr_kit_settle(kit);
    SAID("end");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 12);
    begin(3);
    tr_suspend(test, keeper);
    tr_kit_settle(kit);
    tr_tell(test, keeper, item, .n = 4);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_stop(test, keeper);
    tr_kit_settle(kit);
    SAID("end");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 16);
    begin(9); /* the kit stops it */
}

TEST(what_is_left_at_the_end_is_dead_letters, "B-08", "ST-07", "M-04")
{
    kits_each(play_end_stashed);
}

/* ---- What is stashed. ---- */

static void play_blocks(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &keeper, home, keeper, NULL), TR_OK);
    during = NULL;
    for (uint32_t i = 0; i < 5; i++) {
        char text[] = "a text that is no part of the envelope";
        tr_buffer *shared = tr_buffer_new(7);
        ck_assert_ptr_nonnull(shared);
        memcpy(tr_buffer_data(shared), "shared", 7);
        struct text_item message = {.n = i, .text = text, .shared = shared};
        message.wide[199] = 3;
        tr_tell_copy(test, keeper, text_item, &message);
        memset(text, 'x', sizeof text - 1);
        tr_buffer_release(shared);
    }
    tr_kit_settle(kit);
    tr_kit_check(kit);
    TELL_RUN(test, keeper, only_open);
    do_run(back_two);
    SAID("back 2 of 5; text 0; text 1");
    during = stash_even;
    do_run(back_two);
    SAID("back 2 of 3; text 2; again; text 3");
}

TEST(messages_with_blocks_are_stashed_whole, "B-08", "B-06", "ST-01")
{
    kits_each(play_blocks);
}

static uint64_t causal;

TR_ACTOR(asker, run, answer);
static tr_next on_answer(const struct answer *message)
{
    say("answer %u", (unsigned)message->n);
    return TR_SAME;
}
TR_BEHAVIOR(asker, void, TR_ON(run, on_run), TR_ON(answer, on_answer),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next tell_keeper(tr_self *self)
{
    causal = tr_causal_id(self);
    tr_tell(self, keeper, item, .n = 7);
    return TR_SAME;
}

static tr_next answer_item(tr_self *self, uint32_t n)
{
    ck_assert_uint_eq(tr_causal_id(self), causal);
    return tr_reply(self, answer, .n = n);
}

static void play_sender(void)
{
    asker_ref asker;
    begin(0);
    ck_assert_int_eq(tr_try_spawn_at(test, &asker, 0, asker, NULL), TR_OK);
    TELL_RUN(test, asker, tell_keeper);
    tr_kit_settle(kit);
    during = answer_item;
    do_run(open_all);
    SAID("open 1; back 1; 7; answer 7");
}

TEST(a_stashed_message_keeps_its_sender_and_causal_id, "B-08", "B-04")
{
    kits_each(play_sender);
}

/* The message of a timer is stashed, and the timer continues without it. */
static tr_next arm(tr_self *self)
{
    tr_timer_once(self, "once", 10 * MS, item, .n = 1);
    tr_timer_fixed_rate(self, "rate", 10 * MS, item, .n = 2);
    tr_timer_fixed_delay(self, "delay", 10 * MS, item, .n = 3);
    return TR_SAME;
}

static tr_next cancel_all(tr_self *self)
{
    say("%d %d %d",
        tr_timer_cancel(self, "once"),
        tr_timer_cancel(self, "rate"),
        tr_timer_cancel(self, "delay"));
    return TR_SAME;
}

static void play_timers(void)
{
    begin(0);
    TELL_RUN(test, keeper, arm);
    tr_kit_advance(kit, 25 * MS);
    tr_kit_check(kit);
    do_run(cancel_all);
    SAID("0 1 1");
    tr_kit_advance(kit, TR_SECOND);
    do_run(open_all);
    SAID("open 5; back 5; 1; 2; 3; 2; 3");
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}

TEST(a_timer_goes_on_when_its_message_is_stashed, "B-08", "T-01", "ST-01")
{
    kits_each(play_timers);
}

/* A timer's own turn replaces it, or takes it back, and is stashed nevertheless. */
static tr_next change_and_stash(tr_self *self, uint32_t n)
{
    if (n == 1)
        tr_timer_once(self, "once", 5 * MS, item, .n = 11);
    if (n == 2)
        tr_timer_fixed_delay(self, "rate", 100 * MS, item, .n = 12);
    if (n == 3)
        say("%d", tr_timer_cancel(self, "delay"));
    return n <= 3 ? tr_stash(self) : TR_SAME;
}

static void play_change(void)
{
    begin(0);
    TELL_RUN(test, keeper, only_open);
    during = change_and_stash;
    TELL_RUN(test, keeper, arm);
    tr_kit_advance(kit, 20 * MS);
    tr_kit_check(kit);
    SAID("1; 2; 3; 1; 11");
    during = NULL;
    do_run(open_all);
    SAID("open 3; back 3; 1; 2; 3");
    tr_kit_advance(kit, 91 * MS);
    SAID("12");
}

TEST(a_timer_that_was_replaced_in_its_turn_is_stashed, "B-08", "T-01", "TM-04")
{
    kits_each(play_change);
}

/* ---- Where there is nothing to stash. ---- */

TR_ACTOR(early, run);
static tr_next stash_in_set_up(tr_self *self)
{
    ck_assert_uint_eq(tr_stash_count(self), 0);
    return tr_stash(self);
}
TR_BEHAVIOR(early, void, TR_SETUP(stash_in_set_up), TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(starter, run);
TR_BEHAVIOR(starter, void, TR_ON(tr_pre_start, tr_stash), TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(idler, run);
static tr_next set_timeout(tr_self *self)
{
    tr_set_receive_timeout(self, MS);
    return TR_SAME;
}
TR_BEHAVIOR(idler, void, TR_ON(run, on_run), TR_ON(tr_receive_timeout, tr_stash),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_signals(void)
{
    early_ref early;
    starter_ref starter;
    idler_ref idler;
    tr_error error;
    ck_assert_int_eq(tr_try_spawn_at(test, &early, home, early, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, early, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_int_eq(error.status, TR_NOT_IN_A_TURN);
    ck_assert_int_eq(tr_try_spawn_at(test, &starter, home, starter, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &idler, home, idler, NULL), TR_OK);
    TELL_RUN(test, idler, set_timeout);
    tr_kit_settle(kit);
    ck_assert_int_eq(TELL_RUN(test, starter, set_timeout), TR_STOPPED);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(TELL_RUN(test, idler, set_timeout), TR_STOPPED);
    ck_assert_uint_eq(tr_unstash(NULL, 1), 0);
    ck_assert_uint_eq(tr_stash_count(NULL), 0);
}

TEST(a_signal_cannot_be_stashed, "B-08", "U-02")
{
    kits_each(play_signals);
}

/* ---- Out of memory. ---- */

TEST(out_of_memory_loses_nothing, "B-08", "U-03", "M-04")
{
    for (int all_after = 0; all_after < 2; all_after++) {
        bool was_reached = true;
        for (uint64_t n = 1; was_reached; n++) {
            kit_open(2, 1);
            begin(0);
            uint64_t before = tr_kit_allocations(kit);
            tr_kit_fail_allocation(kit, n, all_after);
            TELL_RUN(test, keeper, arm);
            for (uint32_t i = 0; i < 100; i++)
                tr_tell(test, keeper, item, .n = i);
            tr_kit_advance(kit, 35 * MS);
            during = stash_even;
            TELL_RUN(test, keeper, open_all);
            tr_kit_advance(kit, 35 * MS);
            during = NULL;
            TELL_RUN(test, keeper, open_all);
            tr_kit_advance(kit, 35 * MS);
            was_reached = tr_kit_allocations(kit) - before >= n;
            tr_kit_fail_allocation(kit, 0, false);
            tr_kit_check(kit);
            (void)said();
            begin(3);
            do_run(open_all);
            ck_assert_ptr_nonnull(strstr(said(), "open 3; back 3; 1; 2; 3"));
            kit_close();
            ck_assert_uint_lt(n, 5000);
        }
    }
}

SUITE("stash", unstashed_messages_come_in_order_before_newer_mail, some_at_a_time_keep_their_order,
      what_is_stashed_again_waits_for_the_next_call, a_turn_unstashes_and_is_stashed,
      a_new_behavior_gets_the_next_unstashed_message, one_more_than_the_stash_holds_fails_the_turn,
      a_full_stash_comes_back_and_is_filled_again,
      a_stop_while_unstashing_makes_the_rest_dead_letters, what_is_left_at_the_end_is_dead_letters,
      messages_with_blocks_are_stashed_whole, a_stashed_message_keeps_its_sender_and_causal_id,
      a_timer_goes_on_when_its_message_is_stashed, a_timer_that_was_replaced_in_its_turn_is_stashed,
      a_signal_cannot_be_stashed, out_of_memory_loses_nothing)
