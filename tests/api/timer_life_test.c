/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where timers begin and with whom they end, and that real time keeps the promise of virtual time:
 * never early.
 */
#include "support/kits.h"

TR_MESSAGE(tick, (u32, n));
TR_ACTOR(clock_actor, run, tick);

static clock_actor_ref clock_actor;
static tr_time zero_ns; /* when the play began */
/* What happens in the turn of a tick, besides saying it. */
static tr_next (*during)(tr_self *self, uint32_t n);

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    tr_time since_ns = tr_now(self) - zero_ns;
    say("%d:%u", (int)(since_ns / MS), (unsigned)message->n);
    return during ? during(self, message->n) : TR_SAME;
}

static tr_next on_stop(void)
{
    say("end");
    return TR_SAME;
}

TR_BEHAVIOR(clock_actor, void, TR_ON(run, on_run), TR_ON(tick, on_tick),
            TR_ON(tr_post_stop, on_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

/* Starts the actor and runs one turn of it at time 0; its ticks do nothing special. */
static void begin(turn *first)
{
    during = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &clock_actor, home, clock_actor, "clock"), TR_OK);
    tr_kit_settle(kit);
    zero_ns = tr_kit_now(kit);
    TELL_RUN(test, clock_actor, first);
    tr_kit_settle(kit);
}

#define ONCE(key, ms, number) tr_timer_once(self, key, (ms)*MS, tick, .n = number)
#define RATE(key, ms, number) tr_timer_fixed_rate(self, key, (ms)*MS, tick, .n = number)
#define DELAY(key, ms, number) tr_timer_fixed_delay(self, key, (ms)*MS, tick, .n = number)

static tr_next arm_a_and_others(tr_self *self)
{
    ONCE("first", 10, 1);
    ONCE("a", 10, 2);
    RATE("b", 10, 3);
    DELAY("c", 10, 4);
    ONCE(NULL, 10, 5);
    ONCE("last", 10, 6);
    return TR_SAME;
}

/* ---- Who ends with whom. ---- */

TR_MESSAGE(wait_for_me);
TR_ACTOR(slow_child, run, wait_for_me);
static int child_turns;
static tr_next on_wait(tr_self *self)
{
    if (++child_turns < 100)
        tr_tell(self, slow_child_ref_of(tr_me(self)), wait_for_me);
    return TR_SAME;
}
TR_BEHAVIOR(slow_child, void, TR_ON(run, on_run), TR_ON(wait_for_me, on_wait),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next arm_all(tr_self *self)
{
    ONCE("a", 0, 1);
    RATE("b", 1, 2);
    DELAY("c", 1, 3);
    for (uint32_t i = 0; i < 20; i++)
        ONCE(NULL, (tr_time)i, 4);
    return TR_SAME;
}

static tr_next stop_now(tr_self *self)
{
    (void)arm_all(self);
    return TR_STOP;
}

static tr_next crash_now(tr_self *self)
{
    (void)arm_all(self);
    tr_crash(self, TR_FAILED, "on purpose");
}

static tr_next stop_with_child(tr_self *self)
{
    (void)arm_all(self);
    slow_child_ref child = tr_spawn_at(self, 0, slow_child, "child");
    child_turns = 0;
    for (int i = 0; i < 50; i++)
        tr_tell(self, child, wait_for_me);
    return TR_STOP;
}

static tr_next fail_in_tick(tr_self *self, uint32_t n)
{
    return n == 2 ? tr_fail(self, TR_FAILED, "on purpose") : TR_SAME;
}

static tr_next stop_in_tick(tr_self *self, uint32_t n)
{
    (void)self;
    return n == 3 ? TR_STOP : TR_SAME;
}

static void play_ends(void)
{
    static turn *const ends[] = {stop_now, crash_now, stop_with_child};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        begin(ends[i]);
        tr_kit_advance(kit, TR_SECOND);
        SAID("end");
    }
    begin(arm_all);
    during = fail_in_tick;
    (void)said();
    tr_kit_advance(kit, TR_SECOND);
    SAID("1:2; end");
    begin(arm_all);
    during = stop_in_tick;
    (void)said();
    tr_kit_advance(kit, TR_SECOND);
    SAID("1:2; 1:3; end");
    begin(arm_all);
    (void)said();
    tr_kill(test, clock_actor);
    tr_kit_advance(kit, TR_SECOND);
    SAID("end");
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 0);
}

TEST(timers_end_with_their_actor, "T-01", "TM-05")
{
    kits_each(play_ends);
}

/* What had fired is handled before a PoisonPill takes effect; what fires behind it is dropped. */
static tr_next stop_in_first(tr_self *self, uint32_t n)
{
    if (n == 1)
        tr_stop(self, clock_actor);
    return TR_SAME;
}

static void play_pill(void)
{
    begin(arm_a_and_others);
    during = stop_in_first;
    tr_kit_advance(kit, TR_SECOND);
    SAID("10:1; 10:2; 10:3; 10:4; 10:5; 10:6; end");
    begin(arm_a_and_others);
    (void)said();
    tr_stop(test, clock_actor);
    tr_kit_advance(kit, TR_SECOND);
    SAID("end");
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}

TEST(timers_behind_a_poison_pill_are_dropped, "T-01", "TM-05")
{
    kits_each(play_pill);
}

/* A long queue before the PoisonPill is handled while time passes: timers fire behind the pill. */
static struct hand hand;

static tr_next take_a_millisecond(tr_self *self)
{
    (void)self;
    hand.mono_ns += MS;
    return TR_SAME;
}

TEST(a_timer_that_fires_behind_a_poison_pill_is_dropped, "T-01", "TM-05", "Y-01")
{
    hand_open(&hand);
    said_length = 0;
    during = NULL;
    ck_assert_int_eq(tr_try_spawn(hand.client, &clock_actor, clock_actor, NULL), TR_OK);
    TELL_RUN(hand.client, clock_actor, arm_a_and_others);
    hand_run(&hand);
    for (int i = 0; i < 5 * TR_RUN_TURNS_MAX; i++)
        TELL_RUN(hand.client, clock_actor, take_a_millisecond);
    tr_stop(hand.client, clock_actor);
    hand_run(&hand);
    SAID("end");
    ck_assert_uint_eq(tr_system_dead_letters(hand.system, NULL, 0, NULL), 0);
    hand_close(&hand);
}

/* ---- Where timers are started. ---- */

TR_ACTOR(early, run, tick);
static tr_next early_set_up(tr_self *self)
{
    zero_ns = tr_now(self);
    ONCE("set-up", 5, 1);
    ONCE("both", 6, 2);
    return TR_SAME;
}
static tr_next early_start(tr_self *self)
{
    ONCE("start", 5, 3);
    ONCE("both", 7, 4);
    return TR_SAME;
}
static tr_next early_stop(tr_self *self)
{
    ck_assert_int_eq(tr_timer_cancel(self, "late"), TR_TIMER_CANCELLED);
    const struct tick message = {1};
    ck_assert_int_eq(tr_self_try_timer(self, "x", TR_TIMER_ONCE, 1, &tr_type_tick, &message, NULL),
                     TR_STOPPING);
    ck_assert_int_eq(tr_self_try_timer(self, NULL, TR_TIMER_ONCE, 1, &tr_type_tick, &message, NULL),
                     TR_STOPPING);
    tr_timer_once(self, "x", 1, tick, .n = 1);
    say("no way");
    return TR_SAME;
}
static tr_next arm_late(tr_self *self)
{
    ONCE("late", 1000, 9);
    return TR_SAME;
}
TR_BEHAVIOR(early, void, TR_SETUP(early_set_up), TR_ON(tr_pre_start, early_start),
            TR_ON(run, on_run), TR_ON(tick, on_tick), TR_ON(tr_post_stop, early_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

TR_ACTOR(stillborn, tick);
static tr_next stillborn_set_up(tr_self *self)
{
    RATE("a", 1, 1);
    return tr_fail(self, TR_FAILED, "on purpose");
}
TR_BEHAVIOR(stillborn, void, TR_SETUP(stillborn_set_up), TR_ON(tick, on_tick),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_early(void)
{
    early_ref early;
    stillborn_ref stillborn;
    during = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &early, home, early, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &stillborn, home, stillborn, NULL), TR_OK);
    tr_kit_advance(kit, 10 * MS);
    SAID("5:1; 5:3; 7:4");
    TELL_RUN(test, early, arm_late);
    tr_stop(test, early);
    tr_kit_advance(kit, 10 * TR_SECOND);
    SAID("");
}

TEST(timers_start_in_set_up_and_pre_start_and_not_in_post_stop, "T-01", "TM-05")
{
    kits_each(play_early);
}

/* ---- Real time. ---- */

TR_MESSAGE(late, (i64, armed_for_ns), (i64, took_ns));
TR_MESSAGE(real_tick, (i64, armed_ns), (i64, delay_ns), (ref, who));
TR_MESSAGE(arm_real, (i64, delay_ns));
TR_ACTOR(real_clock, arm_real, real_tick);

static tr_next on_arm_real(tr_self *self, const struct arm_real *message)
{
    tr_timer_once(self,
                  NULL,
                  message->delay_ns,
                  real_tick,
                  .armed_ns = tr_now(self),
                  .delay_ns = message->delay_ns,
                  .who = tr_sender(self));
    return TR_SAME;
}

static tr_next on_real_tick(tr_self *self, const struct real_tick *message)
{
    tr_tell(self,
            message->who,
            late,
            .armed_for_ns = message->delay_ns,
            .took_ns = tr_now(self) - message->armed_ns);
    return TR_SAME;
}

TR_BEHAVIOR(real_clock, void, TR_ON(arm_real, on_arm_real), TR_ON(real_tick, on_real_tick),
            TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(a_timer_on_real_threads_is_never_early, "T-01", "TM-01")
{
    tr_system *system;
    tr_client *client;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 2}, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = 0; i < 2; i++) {
        real_clock_ref actor;
        ck_assert_int_eq(tr_try_spawn_at(client, &actor, i, real_clock, NULL), TR_OK);
        for (int k = 0; k < 200; k++)
            tr_tell(client, actor, arm_real, .delay_ns = k % 20 * MS + k * 1000);
        tr_tell(client, actor, arm_real, .delay_ns = 20 * MS);
    }
    for (int i = 0; i < 402; i++) {
        const struct late *answer = tr_receive(client, late, 60 * TR_SECOND);
        ck_assert_ptr_nonnull(answer);
        ck_assert_int_ge(answer->took_ns, answer->armed_for_ns);
    }
    tr_client_free(client);
    tr_system_shutdown(system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

TR_MESSAGE(idled, (i64, took_ns));
TR_MESSAGE(watch_me);
TR_ACTOR(real_idler, watch_me);
struct real_idler {
    tr_ref who;
    tr_time begin_ns;
};
static tr_next on_watch_me(tr_self *self, struct real_idler *state)
{
    state->who = tr_sender(self);
    state->begin_ns = tr_now(self);
    tr_set_receive_timeout(self, 20 * MS);
    return TR_SAME;
}
static tr_next on_real_idle(tr_self *self, struct real_idler *state)
{
    tr_tell(self, state->who, idled, .took_ns = tr_now(self) - state->begin_ns);
    return TR_SAME;
}
TR_BEHAVIOR(real_idler, struct real_idler, TR_ON(watch_me, on_watch_me),
            TR_ON(tr_receive_timeout, on_real_idle), TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(a_receive_timeout_on_real_threads_is_never_early, "G-05")
{
    tr_system *system;
    tr_client *client;
    real_idler_ref actor;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 2}, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &actor, 1, real_idler, NULL), TR_OK);
    for (int i = 0; i < 3; i++) {
        tr_tell(client, actor, watch_me);
        const struct idled *answer = tr_receive(client, idled, 60 * TR_SECOND);
        ck_assert_ptr_nonnull(answer);
        ck_assert_int_ge(answer->took_ns, 20 * MS);
    }
    tr_client_free(client);
    tr_system_shutdown(system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

/* ---- Turns that wait. ---- */

static tr_next sleep_in_tick(tr_self *self, uint32_t n)
{
    if (n == 1)
        say("slept %s", tr_status_name(tr_sleep(self, 10 * MS)));
    return TR_SAME;
}

static tr_next arm_first(tr_self *self)
{
    ONCE("a", 5, 1);
    RATE("b", 5, 1);
    return TR_SAME;
}

static tr_next arm_again(tr_self *self)
{
    ONCE("a", 3, 2);
    ck_assert_int_eq(tr_timer_cancel(self, "b"), TR_TIMER_CANCELLED);
    return TR_SAME;
}

static void play_replaced_while_parked(void)
{
    begin(arm_first);
    during = sleep_in_tick;
    tr_kit_advance(kit, 6 * MS);
    SAID("5:1; 5:1");
    TELL_RUN(test, clock_actor, arm_again);
    tr_kit_advance(kit, TR_SECOND);
    SAID("9:2; slept TR_OK; slept TR_OK");
}

TEST(a_timer_is_replaced_while_the_turn_of_its_message_waits, "T-01", "D-05")
{
    kits_each(play_replaced_while_parked);
}

SUITE("life of timers", a_timer_is_replaced_while_the_turn_of_its_message_waits,
      timers_end_with_their_actor, timers_behind_a_poison_pill_are_dropped,
      a_timer_that_fires_behind_a_poison_pill_is_dropped,
      timers_start_in_set_up_and_pre_start_and_not_in_post_stop,
      a_timer_on_real_threads_is_never_early, a_receive_timeout_on_real_threads_is_never_early)
