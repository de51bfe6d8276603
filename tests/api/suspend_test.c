/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Suspend and resume: mail waits and keeps its order, everything else continues.
 */
#include "support/kits.h"

TR_MESSAGE(item, (u32, from), (u32, n));
TR_MESSAGE(tick, (u32, n));
TR_ACTOR(subject, run, item, tick);
TR_BEHAVIOR_DECLARE(changed);

static subject_ref subject;
static subject_ref near_one; /* on the worker of the subject */
static subject_ref far_one;  /* on another, where there is one */
static tr_time zero_ns;
static turn *at_three; /* what happens in the turn of item 3 */

static tr_next on_item(tr_self *self, const struct item *message)
{
    say("%u", (unsigned)message->n);
    return message->n == 3 && at_three ? at_three(self) : TR_SAME;
}

static tr_next on_changed_item(const struct item *message)
{
    say("changed %u", (unsigned)message->n);
    return TR_SAME;
}

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    say("%d:%u", (int)((tr_now(self) - zero_ns) / MS), (unsigned)message->n);
    return TR_SAME;
}

static tr_next on_stop(void)
{
    say("end");
    return TR_SAME;
}

TR_BEHAVIOR(subject, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(tick, on_tick),
            TR_ON(tr_post_stop, on_stop));
TR_BEHAVIOR(changed, void, TR_ON(run, on_run), TR_ON(item, on_changed_item),
            TR_ON(tr_post_stop, on_stop));

static void begin(void)
{
    at_three = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &subject, home, subject, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &near_one, home, subject, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &far_one, 0, subject, NULL), TR_OK);
    tr_kit_settle(kit);
    zero_ns = tr_kit_now(kit);
}

/* The others end quietly. */
static void finish(void)
{
    tr_kill(test, subject);
    tr_kill(test, near_one);
    tr_kill(test, far_one);
    tr_kit_settle(kit);
    (void)said();
    tr_kit_check(kit);
}

static void items(uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        tr_tell(test, subject, item, .n = i);
}

static tr_next suspend_it(tr_self *self)
{
    ck_assert_int_eq(tr_suspend(self, subject), TR_OK);
    return TR_SAME;
}

static tr_next resume_it(tr_self *self)
{
    ck_assert_int_eq(tr_resume(self, subject), TR_OK);
    return TR_SAME;
}

static tr_next stop_it(tr_self *self)
{
    ck_assert_int_eq(tr_stop(self, subject), TR_OK);
    return TR_SAME;
}

static tr_next kill_it(tr_self *self)
{
    ck_assert_int_eq(tr_kill(self, subject), TR_OK);
    return TR_SAME;
}

enum { BY_CLIENT, BY_NEAR, BY_FAR, BY_ALL };

/* Lets somebody run a turn that gives an order, or gives it as a client. */
static void order(int who, turn *what)
{
    if (who == BY_CLIENT && what == suspend_it)
        ck_assert_int_eq(tr_suspend(test, subject), TR_OK);
    else if (who == BY_CLIENT && what == resume_it)
        ck_assert_int_eq(tr_resume(test, subject), TR_OK);
    else if (who == BY_CLIENT && what == stop_it)
        ck_assert_int_eq(tr_stop(test, subject), TR_OK);
    else if (who == BY_CLIENT)
        ck_assert_int_eq(tr_kill(test, subject), TR_OK);
    else
        TELL_RUN(test, who == BY_NEAR ? near_one : far_one, what);
    tr_kit_settle(kit);
}

/* ---- Mail. ---- */

static void play_queue(void)
{
    for (int who = 0; who < BY_ALL; who++) {
        for (int other = 0; other < BY_ALL; other++) {
            begin();
            items(1, 2);
            tr_kit_settle(kit);
            order(who, suspend_it);
            items(3, 5);
            tr_kit_advance(kit, TR_SECOND);
            SAID("1; 2");
            items(6, 7);
            tr_kit_settle(kit);
            tr_kit_check(kit);
            SAID("");
            order(other, resume_it);
            items(8, 8);
            tr_kit_settle(kit);
            SAID("3; 4; 5; 6; 7; 8");
            finish();
        }
    }
}

TEST(a_suspended_actor_keeps_its_mail_in_order, "Y-03", "LC-11")
{
    kits_each(play_queue);
}

static void play_not_counted(void)
{
    begin();
    for (int who = 0; who < BY_ALL; who++)
        order(who, suspend_it);
    items(1, 2);
    tr_kit_settle(kit);
    SAID("");
    order(BY_FAR, resume_it);
    SAID("1; 2");
    /* Of a running actor it is nothing, and not remembered either. */
    order(BY_NEAR, resume_it);
    order(BY_CLIENT, resume_it);
    order(BY_NEAR, suspend_it);
    items(3, 3);
    tr_kit_settle(kit);
    SAID("");
    order(BY_CLIENT, resume_it);
    SAID("3");
    finish();
}

TEST(suspends_are_not_counted_and_resume_of_a_running_actor_is_nothing, "Y-03", "LC-12")
{
    kits_each(play_not_counted);
}

static tr_next blink(tr_self *self)
{
    tr_suspend(self, subject);
    tr_resume(self, subject);
    return TR_SAME;
}

static tr_next blink_dark(tr_self *self)
{
    tr_resume(self, subject);
    tr_suspend(self, subject);
    return TR_SAME;
}

static void play_blink(void)
{
    for (int who = BY_NEAR; who < BY_ALL; who++) {
        begin();
        order(who, blink);
        items(1, 2);
        tr_kit_settle(kit);
        SAID("1; 2");
        order(who, blink_dark);
        items(3, 4);
        tr_kit_settle(kit);
        SAID("");
        order(who, blink_dark);
        SAID("");
        order(who, blink);
        SAID("3; 4");
        finish();
    }
}

TEST(of_several_orders_the_last_one_counts, "Y-03", "LC-12")
{
    kits_each(play_blink);
}

/* However long the queue is, an order goes before it. */
static void play_before_mail(void)
{
    begin();
    items(1, 2000);
    tr_suspend(test, subject);
    tr_kit_settle(kit);
    SAID("");
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.queued, 2000);
    tr_kit_check(kit);
    tr_kill(test, subject);
    tr_kit_settle(kit);
    SAID("end");
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.dead_letters, 2000);
    finish();
}

TEST(orders_do_not_wait_behind_mail, "Y-03", "LC-11")
{
    kits_each(play_before_mail);
}

/* ---- By itself. ---- */

static tr_next suspend_me(tr_self *self)
{
    tr_suspend(self, subject);
    say("still here");
    return TR_SAME;
}

static tr_next suspend_and_change(tr_self *self)
{
    tr_suspend(self, subject);
    return tr_become(self, changed);
}

static tr_next suspend_and_stop(tr_self *self)
{
    tr_suspend(self, subject);
    return TR_STOP;
}

static void play_itself(void)
{
    begin();
    at_three = suspend_me;
    items(1, 5);
    tr_kit_settle(kit);
    SAID("1; 2; 3; still here");
    tr_kit_check(kit);
    order(BY_NEAR, resume_it);
    SAID("4; 5");
    at_three = blink;
    items(1, 4);
    tr_kit_settle(kit);
    SAID("1; 2; 3; 4");
    at_three = suspend_and_change;
    items(1, 4);
    tr_kit_settle(kit);
    SAID("1; 2; 3");
    order(BY_CLIENT, resume_it);
    SAID("changed 4");
    finish();
    begin();
    at_three = suspend_and_stop;
    items(1, 4);
    tr_kit_settle(kit);
    SAID("1; 2; 3; end");
    finish();
}

TEST(an_actor_suspends_itself_when_its_turn_has_ended, "Y-03", "LC-11")
{
    kits_each(play_itself);
}

TR_ACTOR(sleeper, item);
static tr_next sleeper_sleep(tr_self *self)
{
    ck_assert_int_eq(tr_suspend(self, tr_me(self)), TR_OK);
    return TR_SAME;
}
TR_BEHAVIOR(sleeper, void, TR_ON(tr_pre_start, sleeper_sleep), TR_ON(item, on_item));

/* In a set-up the actor is Starting, where there is nothing to suspend. */
TR_ACTOR(insomniac, item);
TR_BEHAVIOR(insomniac, void, TR_SETUP(sleeper_sleep), TR_ON(item, on_item));

static void play_starting(void)
{
    sleeper_ref sleeper;
    insomniac_ref insomniac;
    at_three = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &insomniac, home, insomniac, NULL), TR_OK);
    ck_assert_int_eq(tr_suspend(test, insomniac), TR_OK); /* it is New: no effect */
    tr_tell(test, insomniac, item, .n = 1);
    tr_kit_settle(kit);
    SAID("1");
    ck_assert_int_eq(tr_try_spawn_at(test, &sleeper, home, sleeper, NULL), TR_OK);
    tr_tell(test, sleeper, item, .n = 2);
    tr_kit_settle(kit);
    SAID("");
    tr_resume(test, sleeper);
    tr_kit_settle(kit);
    SAID("2");
}

TEST(before_it_runs_suspend_is_nothing, "Y-03", "LC-12")
{
    kits_each(play_starting);
}

/* Whoever waits for its set-up hears that it is up, whatever waits before that question. */
static void play_waiting(void)
{
    sleeper_ref sleeper;
    at_three = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &sleeper, home, sleeper, NULL), TR_OK);
    tr_tell(test, sleeper, item, .n = 1);
    ck_assert_int_eq(tr_spawn_wait(test, sleeper, TR_SECOND, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_spawn_wait(test, sleeper, TR_SECOND, NULL), TR_OK);
    tr_kit_check(kit);
    SAID("");
    tr_resume(test, sleeper);
    tr_stop(test, sleeper);
    ck_assert_int_ne(tr_spawn_wait(test, sleeper, TR_SECOND, NULL), TR_TIMEOUT);
    tr_kit_settle(kit);
}

TEST(a_suspended_actor_answers_who_waits_for_its_start, "Y-03", "LC-13", "L-04")
{
    kits_each(play_waiting);
}

/* ---- The end. ---- */

static void play_end(void)
{
    static turn *const ends[] = {stop_it, kill_it};
    for (int who = 0; who < BY_ALL; who++) {
        for (int i = 0; i < 2; i++) {
            begin();
            size_t dead = dead_letters(TR_STOPPED);
            order(who, suspend_it);
            items(1, 5);
            tr_kit_settle(kit);
            order(who, ends[i]);
            SAID("end");
            ck_assert_uint_eq(dead_letters(TR_STOPPED), dead + 5);
            ck_assert_int_eq(tr_suspend(test, subject), TR_STOPPED);
            ck_assert_int_eq(tr_resume(test, subject), TR_STOPPED);
            finish();
        }
    }
}

TEST(a_stop_ends_a_suspended_actor_at_once, "Y-03", "Y-01", "Y-02", "LC-11")
{
    kits_each(play_end);
}

static tr_next spawn_suspended_children(tr_self *self)
{
    for (int i = 0; i < 3; i++) {
        subject_ref child = tr_spawn_at(self, i % 2 ? home : 0, subject, NULL);
        tr_suspend(self, child);
        tr_tell(self, child, item, .n = 1);
    }
    return TR_SAME;
}

/* A suspended tree: the parent's stop reaches children that are suspended, and they go first. */
static void play_tree(void)
{
    begin();
    TELL_RUN(test, subject, spawn_suspended_children);
    tr_kit_settle(kit);
    said_length = 0;
    order(BY_CLIENT, suspend_it);
    order(BY_NEAR, stop_it);
    SAID("end; end; end; end");
    finish();
}

TEST(a_suspended_tree_stops, "Y-03", "L-06")
{
    kits_each(play_tree);
}

TR_ACTOR(slow_child, item);
static tr_next on_slow(tr_self *self, const struct item *message)
{
    if (message->n < 50)
        tr_tell(self, slow_child_ref_of(tr_me(self)), item, .n = message->n + 1);
    return TR_SAME;
}
TR_BEHAVIOR(slow_child, void, TR_ON(item, on_slow));

static tr_next stop_slowly(tr_self *self)
{
    slow_child_ref child = tr_spawn_at(self, 0, slow_child, NULL);
    for (int i = 0; i < 20; i++)
        tr_tell(self, child, item, .n = 40);
    return TR_STOP;
}

/* While Stopping there is nothing to suspend: the stop continues. */
static void play_stopping(void)
{
    begin();
    TELL_RUN(test, subject, stop_slowly);
    for (int i = 0; i < 200 && tr_kit_step(kit); i++) {
        (void)tr_suspend(test, subject);
        if (i % 3 == 0)
            (void)tr_resume(test, subject);
    }
    tr_kit_settle(kit);
    const char *words = said();
    /* It may have been suspended before it began to stop. */
    if (!strstr(words, "end")) {
        tr_resume(test, subject);
        tr_kit_settle(kit);
        words = said();
    }
    ck_assert_str_eq(words, "end");
    finish();
}

TEST(a_stopping_actor_is_not_suspended, "Y-03", "LC-12")
{
    kits_each(play_stopping);
}

static void play_wrong(void)
{
    begin();
    ck_assert_int_eq(tr_suspend(test, TR_NOBODY), TR_STOPPED);
    ck_assert_int_eq(tr_resume(test, TR_NOBODY), TR_STOPPED);
    ck_assert_int_eq(tr_suspend((tr_client *)NULL, subject), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_resume((tr_self *)NULL, subject), TR_INVALID_ARGUMENT);
    /* A client is no actor: orders to it mean nothing. */
    (void)tr_suspend(test, tr_client_ref(test));
    (void)tr_resume(test, tr_client_ref(test));
    (void)tr_suspend(test, tr_find(test, subject, "/user"));
    items(1, 1);
    tr_kit_settle(kit);
    SAID("1");
    finish();
}

TEST(orders_to_nobody_are_refused, "Y-03", "U-02")
{
    kits_each(play_wrong);
}

/* ---- Timers. ---- */

static tr_next arm(tr_self *self)
{
    tr_timer_once(self, "once", 10 * MS, tick, .n = 1);
    tr_timer_fixed_rate(self, "rate", 10 * MS, tick, .n = 2);
    tr_timer_fixed_delay(self, "delay", 10 * MS, tick, .n = 3);
    return TR_SAME;
}

static void play_timers(void)
{
    begin();
    TELL_RUN(test, subject, arm);
    tr_kit_advance(kit, 5 * MS);
    order(BY_FAR, suspend_it);
    items(1, 1);
    tr_kit_advance(kit, 100 * MS);
    tr_kit_check(kit);
    SAID("");
    order(BY_CLIENT, resume_it); /* at 105 ms: one of each timer, behind what was told */
    SAID("1; 105:1; 105:2; 105:3");
    tr_kit_advance(kit, 20 * MS);
    SAID("110:2; 115:3; 120:2; 125:3");
    order(BY_NEAR, suspend_it);
    tr_kit_advance(kit, 100 * MS);
    tr_kit_check(kit);
    order(BY_NEAR, stop_it);
    SAID("end"); /* what timers had queued is dropped, and no dead letter */
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
    finish();
}

TEST(timers_of_a_suspended_actor_hold_one_tick_each, "Y-03", "TM-12", "T-01")
{
    kits_each(play_timers);
}

/* ---- Random orders against a model. ---- */

enum { STEPS = 120 };

static uint64_t model_random;

static uint32_t chance(uint32_t below)
{
    model_random = model_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(model_random >> 33) % below;
}

static uint32_t next_item;

static tr_next tell_next(tr_self *self)
{
    tr_tell(self, subject, item, .n = next_item);
    return TR_SAME;
}

/* One order at a time: what is handled, and when, is certain. */
static void play_model(void)
{
    char expected[4096] = "";
    uint32_t waiting[STEPS];
    uint32_t waiting_count = 0;
    bool is_suspended = false;
    begin();
    model_random = kits_seed;
    for (uint32_t i = 0; i < STEPS; i++) {
        int who = (int)chance(BY_ALL);
        uint32_t what = chance(8);
        next_item = 1000 + i;
        if (what < 2) {
            order(who, suspend_it);
            is_suspended = true;
        } else if (what < 4) {
            order(who, resume_it);
            is_suspended = false;
        } else if (who == BY_CLIENT) {
            items(next_item, next_item);
            tr_kit_settle(kit);
        } else {
            order(who, tell_next);
        }
        if (what >= 4)
            waiting[waiting_count++] = next_item;
        size_t length = 0;
        expected[0] = '\0';
        for (uint32_t k = 0; k < waiting_count && !is_suspended; k++)
            length += (size_t)snprintf(expected + length,
                                       sizeof expected - length,
                                       "%s%u",
                                       k ? "; " : "",
                                       (unsigned)waiting[k]);
        if (!is_suspended)
            waiting_count = 0;
        SAID(expected);
    }
    size_t dead = dead_letters(TR_STOPPED);
    order((int)chance(BY_ALL), is_suspended ? stop_it : kill_it);
    SAID("end");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), dead + waiting_count);
    finish();
}

TEST(random_orders_do_what_a_model_says, "Y-03", "LC-11", "LC-12")
{
    kits_each(play_model);
}

SUITE("suspend", a_suspended_actor_keeps_its_mail_in_order,
      suspends_are_not_counted_and_resume_of_a_running_actor_is_nothing,
      of_several_orders_the_last_one_counts, orders_do_not_wait_behind_mail,
      an_actor_suspends_itself_when_its_turn_has_ended, before_it_runs_suspend_is_nothing,
      a_suspended_actor_answers_who_waits_for_its_start, a_stop_ends_a_suspended_actor_at_once,
      a_suspended_tree_stops, a_stopping_actor_is_not_suspended, orders_to_nobody_are_refused,
      timers_of_a_suspended_actor_hold_one_tick_each, random_orders_do_what_a_model_says)
