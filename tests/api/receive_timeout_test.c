/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The receive timeout: when it comes, what puts it off, how it is set and ended.
 */
#include "support/kits.h"

#include <stdlib.h>

TR_MESSAGE(poke, (u32, n));
TR_MESSAGE(tick, (u32, n));
TR_ACTOR(idler, run, poke, tick);

static idler_ref idler;
static tr_time zero_ns;
static turn *in_timeout; /* what happens in the turn of the signal */

static int since(tr_self *self)
{
    tr_time since_ns = tr_now(self) - zero_ns;
    ck_assert_int_eq(since_ns % MS, 0);
    return (int)(since_ns / MS);
}

static tr_next on_poke(tr_self *self, const struct poke *message)
{
    say("%d:poke %u", since(self), (unsigned)message->n);
    return TR_SAME;
}

static tr_next on_tick(tr_self *self)
{
    say("%d:tick", since(self));
    return TR_SAME;
}

static tr_next on_timeout(tr_self *self, const struct tr_receive_timeout *message)
{
    ck_assert(tr_is_nobody(tr_sender(self)));
    say("%d:idle %d", since(self), (int)(message->idle_ns / MS));
    return in_timeout ? in_timeout(self) : TR_SAME;
}

static tr_next on_stop(void)
{
    say("end");
    return TR_SAME;
}

TR_BEHAVIOR(idler, void, TR_ON(run, on_run), TR_ON(poke, on_poke), TR_ON(tick, on_tick),
            TR_ON(tr_receive_timeout, on_timeout), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void begin(turn *first)
{
    in_timeout = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &idler, home, idler, NULL), TR_OK);
    tr_kit_settle(kit);
    zero_ns = tr_kit_now(kit);
    TELL_RUN(test, idler, first);
    tr_kit_settle(kit);
}

static void poke_at(tr_time ms, uint32_t n)
{
    tr_kit_advance(kit, zero_ns + ms * MS - tr_kit_now(kit));
    tr_tell(test, idler, poke, .n = n);
    tr_kit_settle(kit);
}

static void until(tr_time ms)
{
    tr_kit_advance(kit, zero_ns + ms * MS - tr_kit_now(kit));
}

static tr_next set_10(tr_self *self)
{
    tr_set_receive_timeout(self, 10 * MS);
    return TR_SAME;
}

static tr_next set_0(tr_self *self)
{
    tr_set_receive_timeout(self, 0);
    return TR_SAME;
}

/* ---- When it comes. ---- */

static void play_once(void)
{
    begin(set_10);
    tr_kit_advance(kit, 10 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("10:idle 10");
    until(500);
    SAID("");
    poke_at(500, 1);
    until(1000);
    SAID("500:poke 1; 510:idle 10");
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}

TEST(it_comes_once_and_again_after_the_next_message, "G-05")
{
    kits_each(play_once);
}

static void play_put_off(void)
{
    begin(set_10);
    for (uint32_t i = 1; i <= 5; i++)
        poke_at((tr_time)i * 9, i);
    until(100);
    SAID("9:poke 1; 18:poke 2; 27:poke 3; 36:poke 4; 45:poke 5; 55:idle 10");
}

TEST(messages_put_it_off, "G-05", "TM-13")
{
    kits_each(play_put_off);
}

static tr_next set_10_with_timers(tr_self *self)
{
    tr_timer_fixed_rate(self, "rate", 4 * MS, tick, .n = 1);
    tr_timer_once(self, "once", 9 * MS, tick, .n = 1);
    return set_10(self);
}

/* Nothing but messages of others counts: timers, orders, watching for its start, other actors. */
static void play_not_put_off(void)
{
    begin(set_10_with_timers);
    until(5);
    ck_assert_int_eq(tr_spawn_wait(test, idler, 0, NULL), TR_TIMEOUT);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_spawn_wait(test, idler, TR_SECOND, NULL), TR_OK);
    tr_resume(test, idler);
    tr_kit_settle(kit);
    until(11);
    SAID("4:tick; 8:tick; 9:tick; 10:idle 10");
    until(30);
    SAID("12:tick; 16:tick; 20:tick; 24:tick; 28:tick");
}

TEST(timers_and_orders_do_not_put_it_off, "G-05", "TM-13")
{
    kits_each(play_not_put_off);
}

/* ---- Where it is set. ---- */

TR_ACTOR(early, run);
static tr_next early_set_up(tr_self *self)
{
    zero_ns = tr_now(self);
    tr_set_receive_timeout(self, 7 * MS);
    return TR_SAME;
}
TR_BEHAVIOR(early, void, TR_SETUP(early_set_up), TR_ON(run, on_run),
            TR_ON(tr_receive_timeout, on_timeout), TR_OPTIONS(.restart = TR_TEMPORARY));

TR_ACTOR(starter, run);
static tr_next starter_start(tr_self *self)
{
    zero_ns = tr_now(self);
    tr_set_receive_timeout(self, 8 * MS);
    return TR_SAME;
}
static tr_next starter_stop(tr_self *self)
{
    tr_set_receive_timeout(self, 8 * MS); /* it has no effect any more */
    say("end");
    return TR_SAME;
}
TR_BEHAVIOR(starter, void, TR_ON(tr_pre_start, starter_start), TR_ON(run, on_run),
            TR_ON(tr_receive_timeout, on_timeout), TR_ON(tr_post_stop, starter_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_early(void)
{
    early_ref early;
    starter_ref starter;
    in_timeout = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &early, home, early, NULL), TR_OK);
    tr_kit_advance(kit, TR_SECOND);
    SAID("7:idle 7");
    ck_assert_int_eq(tr_try_spawn_at(test, &starter, home, starter, NULL), TR_OK);
    tr_kit_advance(kit, TR_SECOND);
    SAID("8:idle 8");
    tr_stop(test, starter);
    tr_kit_advance(kit, TR_SECOND);
    SAID("end");
}

TEST(it_is_set_in_set_up_and_pre_start, "G-05", "TM-14")
{
    kits_each(play_early);
}

static tr_next set_25(tr_self *self)
{
    tr_set_receive_timeout(self, 25 * MS);
    return TR_SAME;
}

static void play_set_again(void)
{
    begin(set_10);
    until(6);
    TELL_RUN(test, idler, set_25);
    until(100);
    SAID("31:idle 25");
    TELL_RUN(test, idler, set_10);
    until(105);
    TELL_RUN(test, idler, set_10);
    until(200);
    SAID("115:idle 10");
    TELL_RUN(test, idler, set_10);
    until(205);
    TELL_RUN(test, idler, set_0);
    TELL_RUN(test, idler, set_0);
    poke_at(210, 1);
    until(300);
    SAID("210:poke 1");
}

TEST(setting_it_again_replaces_it_and_zero_ends_it, "G-05", "TM-14")
{
    kits_each(play_set_again);
}

static int again;

static tr_next set_in_timeout(tr_self *self)
{
    if (--again > 0)
        tr_set_receive_timeout(self, again * 3 * MS);
    else
        tr_set_receive_timeout(self, 0);
    return TR_SAME;
}

static void play_in_its_own_turn(void)
{
    begin(set_10);
    in_timeout = set_in_timeout;
    again = 3;
    until(100);
    SAID("10:idle 10; 16:idle 6; 19:idle 3");
    poke_at(100, 1);
    until(200);
    SAID("100:poke 1");
}

TEST(it_is_set_and_ended_in_its_own_turn, "G-05", "TM-14")
{
    kits_each(play_in_its_own_turn);
}

static tr_next set_negative(tr_self *self)
{
    tr_set_receive_timeout(self, -1);
    say("no way");
    return TR_SAME;
}

static tr_next set_for_ever(tr_self *self)
{
    tr_set_receive_timeout(self, TR_NEVER);
    return TR_SAME;
}

static void play_wrong(void)
{
    begin(set_for_ever);
    tr_kit_advance(kit, 24 * TR_HOUR);
    SAID("");
    TELL_RUN(test, idler, set_negative);
    tr_kit_settle(kit);
    SAID("end");
}

TEST(a_negative_one_fails_the_turn, "G-05", "U-02")
{
    kits_each(play_wrong);
}

/* ---- What is late is not delivered. ---- */

/* Another actor of the same worker pokes the idler when the signal has fired and waits. */
TR_ACTOR(rival, run, tick);
static turn *rival_turn;
static tr_next on_rival_tick(tr_self *self)
{
    return rival_turn(self);
}
TR_BEHAVIOR(rival, void, TR_ON(run, on_run), TR_ON(tick, on_rival_tick),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next arm_rival(tr_self *self)
{
    tr_timer_once(self, "t", zero_ns + 10 * MS - tr_now(self), tick, .n = 1);
    return TR_SAME;
}

static tr_next poke_idler(tr_self *self)
{
    tr_tell(self, idler, poke, .n = 9);
    return TR_SAME;
}

static tr_next end_idler(tr_self *self)
{
    TELL_RUN(self, idler, set_0);
    return TR_SAME;
}

static tr_next stop_idler(tr_self *self)
{
    tr_stop(self, idler);
    return TR_SAME;
}

static tr_next kill_idler(tr_self *self)
{
    tr_kill(self, idler);
    return TR_SAME;
}

static tr_next blink_idler(tr_self *self)
{
    tr_suspend(self, idler);
    return TR_SAME;
}

static void rival_play(turn *first)
{
    rival_ref rival;
    rival_turn = first;
    begin(set_10);
    ck_assert_int_eq(tr_try_spawn_at(test, &rival, home, rival, NULL), TR_OK);
    TELL_RUN(test, rival, arm_rival);
    until(10);
    tr_kit_check(kit);
}

static void play_stale(void)
{
    rival_play(poke_idler);
    until(15);
    SAID("10:poke 9");
    until(100);
    SAID("20:idle 10");
    rival_play(end_idler);
    until(100);
    SAID("");
    rival_play(kill_idler);
    until(100);
    SAID("end");
    rival_play(stop_idler);
    until(100);
    SAID("10:idle 10; end"); /* it had come before the PoisonPill */
    rival_play(blink_idler);
    until(100);
    tr_kit_check(kit);
    SAID("");
    tr_resume(test, idler);
    until(200);
    SAID("110:idle 10");
}

TEST(a_stale_one_is_never_delivered, "G-05", "TM-14")
{
    kits_each(play_stale);
}

static void play_stopping(void)
{
    begin(set_10);
    tr_stop(test, idler);
    until(100);
    SAID("end");
}

TEST(it_ends_with_its_actor, "G-05", "TM-14")
{
    kits_each(play_stopping);
}

/* ---- While suspended. ---- */

static void play_suspended(void)
{
    begin(set_10);
    until(8);
    tr_suspend(test, idler);
    until(100);
    SAID("");
    tr_resume(test, idler);
    until(109);
    SAID("");
    until(200);
    SAID("110:idle 10");
    /* It has come: suspend and resume are no message. */
    tr_suspend(test, idler);
    until(300);
    tr_resume(test, idler);
    until(400);
    SAID("");
    poke_at(400, 1);
    tr_suspend(test, idler);
    until(450);
    tr_tell(test, idler, poke, .n = 2);
    until(500);
    tr_resume(test, idler);
    until(600);
    SAID("400:poke 1; 500:poke 2; 510:idle 10");
}

TEST(it_is_not_counted_while_suspended, "G-05", "Y-03")
{
    kits_each(play_suspended);
}

/* ---- Who does not handle it. ---- */

TR_ACTOR(deaf, run, poke);
TR_BEHAVIOR(deaf, void, TR_ON(run, on_run), TR_ON(poke, on_poke),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(collector, run, poke);
static tr_next on_any(tr_self *self, const tr_message *message)
{
    (void)self;
    say("any %s", message->type->name);
    return TR_SAME;
}
TR_BEHAVIOR(collector, void, TR_ON(run, on_run), TR_ON_ANY(on_any),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(stasher, run, poke);
TR_BEHAVIOR(stasher, void, TR_ON(run, on_run), TR_ON_ANY(tr_stash),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_unhandled(void)
{
    deaf_ref deaf;
    collector_ref collector;
    stasher_ref stasher;
    ck_assert_int_eq(tr_try_spawn_at(test, &deaf, home, deaf, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &collector, home, collector, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &stasher, home, stasher, NULL), TR_OK);
    TELL_RUN(test, deaf, set_10);
    TELL_RUN(test, collector, set_10);
    TELL_RUN(test, stasher, set_10);
    zero_ns = tr_kit_now(kit);
    until(100);
    SAID("");
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
    tr_tell(test, deaf, poke, .n = 3);
    tr_tell(test, collector, poke, .n = 4);
    tr_kit_advance(kit, 0);
    const char *words = said();
    ck_assert_ptr_nonnull(strstr(words, "100:poke 3"));
    ck_assert_ptr_nonnull(strstr(words, "any poke"));
    until(200);
    SAID("");
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}

TEST(an_unhandled_one_is_ignored, "G-05")
{
    kits_each(play_unhandled);
}

/* ---- What an actor does with it. ---- */

static tr_next stop_me(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

static tr_next fail_me(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "on purpose");
}

static tr_next become_deaf(tr_self *self)
{
    return tr_become(self, deaf);
}

static void play_answers(void)
{
    begin(set_10);
    in_timeout = stop_me;
    until(100);
    SAID("10:idle 10; end");
    begin(set_10);
    in_timeout = fail_me;
    until(100);
    SAID("10:idle 10; end");
    begin(set_10);
    in_timeout = become_deaf;
    poke_at(5, 1);
    until(100);
    SAID("5:poke 1; 15:idle 10");
    poke_at(100, 2);
    until(200);
    SAID("100:poke 2");
}

TEST(its_handler_answers_as_any_other, "G-05", "G-06", "G-07")
{
    kits_each(play_answers);
}

/* ---- Random messages against a model. ---- */

static void play_model(void)
{
    char expected[1 << 14] = "";
    size_t length = 0;
    uint64_t random = kits_seed;
    int last = 0;
    begin(set_10_with_timers);
    for (uint32_t i = 0; i < 100; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int next = last + (int)(random >> 33) % 21;
        if (next == last + 10)
            next++; /* at the very moment either order is right */
        if (next > last + 10)
            length += (size_t)snprintf(expected + length,
                                       sizeof expected - length,
                                       "%s%d:idle 10",
                                       length ? "; " : "",
                                       last + 10);
        length += (size_t)snprintf(expected + length,
                                   sizeof expected - length,
                                   "%s%d:poke %u",
                                   length ? "; " : "",
                                   next,
                                   (unsigned)i);
        poke_at(next, i);
        last = next;
    }
    /* Without the ticks, whose only purpose is to be of no effect. */
    char words[1 << 15] = "";
    size_t at = 0;
    char *rest = NULL;
    char *copy = strdup(said());
    for (char *word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        word += *word == ' ';
        if (!strstr(word, "tick"))
            at += (size_t)snprintf(words + at, sizeof words - at, "%s%s", at ? "; " : "", word);
    }
    free(copy);
    ck_assert_msg(
        strcmp(words, expected) == 0, "seed %" PRIu64 ": %s, not %s", kits_seed, words, expected);
}

TEST(random_messages_do_what_a_model_says, "G-05", "TM-13")
{
    kits_each(play_model);
}

SUITE("receive timeout", it_comes_once_and_again_after_the_next_message, messages_put_it_off,
      timers_and_orders_do_not_put_it_off, it_is_set_in_set_up_and_pre_start,
      setting_it_again_replaces_it_and_zero_ends_it, it_is_set_and_ended_in_its_own_turn,
      a_negative_one_fails_the_turn, a_stale_one_is_never_delivered, it_ends_with_its_actor,
      it_is_not_counted_while_suspended, an_unhandled_one_is_ignored,
      its_handler_answers_as_any_other, random_messages_do_what_a_model_says)
