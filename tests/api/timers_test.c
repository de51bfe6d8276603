/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers: when they fire, in which order, how they are taken back and replaced.
 *
 * timer_life_test.c has their beginning and end, timer_clocks_test.c slow handlers, jumping clocks,
 * the messages they carry and lack of memory.
 */
#include "support/kits.h"

TR_MESSAGE(tick, (u32, n));
TR_ACTOR(clock_actor, run, tick);

static clock_actor_ref clock_actor;
static tr_time zero_ns; /* when the play began */
static tr_timer handle;
/* What happens in the turn of a tick, besides saying it. */
static tr_next (*during)(tr_self *self, uint32_t n);

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    tr_time since_ns = tr_now(self) - zero_ns;
    ck_assert_int_eq(since_ns % MS, 0);
    say("%d:%u", (int)(since_ns / MS), (unsigned)message->n);
    return during ? during(self, message->n) : TR_SAME;
}

static tr_next on_stop(void)
{
    say("end");
    return TR_SAME;
}

TR_BEHAVIOR(clock_actor, void, TR_ON(run, on_run), TR_ON(tick, on_tick),
            TR_ON(tr_post_stop, on_stop));

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

static void later(tr_time ns, turn *next)
{
    tr_kit_advance(kit, ns);
    TELL_RUN(test, clock_actor, next);
    tr_kit_settle(kit);
}

#define ONCE(key, ms, number) tr_timer_once(self, key, (ms)*MS, tick, .n = number)
#define RATE(key, ms, number) tr_timer_fixed_rate(self, key, (ms)*MS, tick, .n = number)
#define DELAY(key, ms, number) tr_timer_fixed_delay(self, key, (ms)*MS, tick, .n = number)

/* ---- When, and in which order. ---- */

static tr_next arm_three_kinds(tr_self *self)
{
    ONCE("once", 7, 1);
    RATE("rate", 10, 2);
    DELAY("delay", 4, 3);
    return TR_SAME;
}

static void play_three_kinds(void)
{
    begin(arm_three_kinds);
    SAID("");
    tr_kit_advance(kit, 4 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("4:3");
    tr_kit_advance(kit, 18 * MS);
    SAID("7:1; 8:3; 10:2; 12:3; 16:3; 20:2; 20:3");
}

TEST(three_kinds_fire_at_their_times, "T-01", "TM-01")
{
    kits_each(play_three_kinds);
}

enum { MANY = 2500 }; /* more than fire in one round */
static tr_time due_ns[MANY];
static uint32_t fired[MANY];
static uint32_t fired_count;
static uint64_t delays_seed;

static tr_next note_fired(tr_self *self, uint32_t n)
{
    said_length = 0;
    ck_assert_int_eq(tr_now(self), due_ns[n]);
    fired[fired_count++] = n;
    return TR_SAME;
}

static tr_next arm_many(tr_self *self)
{
    for (uint32_t i = 0; i < MANY; i++) {
        delays_seed = delays_seed * 6364136223846793005u + 1442695040888963407u;
        tr_time delay_ns = (tr_time)(delays_seed >> 60) * (i % 3 ? MS : 100 * TR_SECOND);
        due_ns[i] = tr_now(self) + delay_ns;
        (void)tr_timer_once(self, NULL, delay_ns, tick, .n = i);
    }
    return TR_SAME;
}

static tr_next choose_many(tr_self *self)
{
    (void)self;
    during = note_fired;
    return TR_SAME;
}

static void play_many(void)
{
    delays_seed = kits_seed;
    fired_count = 0;
    begin(choose_many);
    later(0, arm_many);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(fired_count, MANY);
    for (uint32_t i = 1; i < MANY; i++) {
        uint32_t a = fired[i - 1];
        uint32_t b = fired[i];
        ck_assert(due_ns[a] < due_ns[b] || (due_ns[a] == due_ns[b] && a < b));
    }
}

TEST(equal_deadlines_come_in_the_order_of_creation, "T-01", "TM-01")
{
    for (int workers = 1; workers <= 3; workers++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            kit_open(workers, seed);
            play_many();
            kit_close();
        }
    }
}

static tr_next arm_zero(tr_self *self)
{
    ONCE(NULL, 0, 0);
    say("armed");
    return TR_SAME;
}

static tr_next ladder(tr_self *self, uint32_t n)
{
    if (n < 1000)
        (void)tr_timer_once(self, n % 2 ? "a" : "b", n % 3 ? MS : 0, tick, .n = n + 1);
    said_length = 0;
    say("%u", (unsigned)n);
    return TR_SAME;
}

static void play_ladder(void)
{
    begin(arm_zero);
    SAID("armed; 0:0");
    during = ladder; /* each tick starts the next timer, a third of them without delay */
    TELL_RUN(test, clock_actor, arm_zero);
    tr_kit_advance(kit, TR_SECOND);
    SAID("1000");
}

TEST(a_timer_starts_timers, "T-01", "TM-04")
{
    kits_each(play_ladder);
}

static tr_next arm_a_day(tr_self *self)
{
    (void)tr_timer_fixed_rate(self, "second", TR_SECOND, tick, .n = 0);
    (void)tr_timer_fixed_rate(self, "odd", 999999937, tick, .n = 1);
    (void)tr_timer_fixed_rate(self, "ms", 997 * MS, tick, .n = 2);
    return TR_SAME;
}

static const tr_time day_periods[] = {TR_SECOND, 999999937, 997 * MS};
static int64_t day_ticks[3];

static tr_next on_day_tick(tr_self *self, const struct tick *message)
{
    day_ticks[message->n]++;
    ck_assert_int_eq(tr_now(self) - zero_ns, day_ticks[message->n] * day_periods[message->n]);
    return TR_SAME;
}

TR_ACTOR(day, run, tick);
TR_BEHAVIOR(day, void, TR_ON(run, on_run), TR_ON(tick, on_day_tick));

TEST(fixed_rate_does_not_drift_in_a_day, "T-01", "TM-07")
{
    kit_open(2, 1);
    day_ref day;
    ck_assert_int_eq(tr_try_spawn_at(test, &day, 1, day, NULL), TR_OK);
    zero_ns = tr_kit_now(kit);
    TELL_RUN(test, day, arm_a_day);
    tr_kit_advance(kit, 24 * TR_HOUR);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(day_ticks[i], 24 * TR_HOUR / day_periods[i]);
    kit_close();
}

/* ---- Taking back. ---- */

static const char *end_name(tr_timer_end end)
{
    static const char *const names[] = {"none", "cancelled", "taken back"};
    return names[end];
}

static tr_next cancel_a(tr_self *self)
{
    say("%s", end_name(tr_timer_cancel(self, "a")));
    return TR_SAME;
}

static tr_next arm_a(tr_self *self)
{
    ONCE("a", 10, 1);
    return TR_SAME;
}

static void play_cancel_early(void)
{
    begin(cancel_a);
    SAID("none");
    TELL_RUN(test, clock_actor, arm_a);
    later(10 * MS - 1, cancel_a);
    SAID("cancelled");
    later(TR_SECOND + 1, cancel_a);
    SAID("none");
    TELL_RUN(test, clock_actor, arm_a);
    later(10 * MS, cancel_a);
    SAID("1020:1; none");
}

TEST(a_timer_cancelled_before_expiry_never_comes, "T-01", "TM-02", "TM-03")
{
    kits_each(play_cancel_early);
}

/* Two timers fall due together: the turn of the first takes the second back, which is queued. */
static tr_next arm_a_and_others(tr_self *self)
{
    ONCE("first", 10, 1);
    ONCE("a", 10, 2);
    RATE("b", 10, 3);
    DELAY("c", 10, 4);
    handle = ONCE(NULL, 10, 5);
    ONCE("last", 10, 6);
    return TR_SAME;
}

static tr_next cancel_others(tr_self *self, uint32_t n)
{
    if (n != 1)
        return TR_SAME;
    say("%s %s %s %s",
        end_name(tr_timer_cancel(self, "a")),
        end_name(tr_timer_cancel(self, "b")),
        end_name(tr_timer_cancel(self, "c")),
        end_name(tr_timer_stop(self, handle)));
    say("%s %s %s %s",
        end_name(tr_timer_cancel(self, "a")),
        end_name(tr_timer_cancel(self, "b")),
        end_name(tr_timer_cancel(self, "c")),
        end_name(tr_timer_stop(self, handle)));
    return TR_SAME;
}

static void play_cancel_queued(void)
{
    begin(arm_a_and_others);
    during = cancel_others;
    tr_kit_advance(kit, 10 * MS);
    SAID("10:1; taken back taken back taken back taken back; none none none none; 10:6");
    tr_kit_advance(kit, TR_SECOND);
    SAID("");
    /* A suspended actor holds its timers' messages, and what is told comes before them. */
    TELL_RUN(test, clock_actor, arm_a);
    tr_kit_settle(kit);
    tr_suspend(test, clock_actor);
    tr_kit_advance(kit, TR_SECOND);
    tr_kit_check(kit);
    TELL_RUN(test, clock_actor, cancel_a);
    tr_resume(test, clock_actor);
    tr_kit_advance(kit, TR_SECOND);
    SAID("taken back");
}

TEST(a_timer_cancelled_when_queued_never_comes, "T-01", "TM-02", "TM-03")
{
    kits_each(play_cancel_queued);
}

static tr_next cancel_itself(tr_self *self, uint32_t n)
{
    static const char *const keys[] = {NULL, "once", "rate", "delay"};
    say("%s", end_name(tr_timer_cancel(self, keys[n])));
    say("%s", end_name(tr_timer_cancel(self, keys[n])));
    return TR_SAME;
}

static void play_cancel_itself(void)
{
    begin(arm_three_kinds);
    during = cancel_itself;
    tr_kit_advance(kit, TR_SECOND);
    /* One that ticks on had not fired its next tick; a single one has nothing left. */
    SAID("4:3; cancelled; none; 7:1; none; none; 10:2; cancelled; none");
}

TEST(a_timer_is_cancelled_in_its_own_turn, "T-01", "TM-02", "TM-03")
{
    kits_each(play_cancel_itself);
}

/* Handles are of one timer forever. */
static tr_next stop_handles(tr_self *self)
{
    tr_timer a = ONCE(NULL, 5, 1);
    tr_timer b = ONCE(NULL, 5, 2);
    tr_timer c = RATE(NULL, 5, 3);
    ck_assert_uint_ne(a.number, b.number);
    ck_assert_int_eq(tr_timer_stop(self, a), TR_TIMER_CANCELLED);
    ck_assert_int_eq(tr_timer_stop(self, a), TR_TIMER_NONE);
    tr_timer d = ONCE(NULL, 5, 4);
    ck_assert_uint_ne(a.number, d.number);
    ck_assert_int_eq(tr_timer_stop(self, a), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_stop(self, c), TR_TIMER_CANCELLED);
    ck_assert_int_eq(tr_timer_stop(self, (tr_timer){0}), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_stop(self, (tr_timer){UINT64_MAX}), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_stop(NULL, b), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_cancel(self, NULL), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_cancel(self, ""), TR_TIMER_NONE);
    ck_assert_int_eq(tr_timer_cancel(NULL, "a"), TR_TIMER_NONE);
    handle = b;
    return TR_SAME;
}

static tr_next stop_handle(tr_self *self)
{
    say("%s", end_name(tr_timer_stop(self, handle)));
    return TR_SAME;
}

static void play_handles(void)
{
    begin(stop_handles);
    tr_kit_advance(kit, 20 * MS);
    SAID("5:2; 5:4");
    later(0, stop_handle);
    SAID("none");
}

TEST(a_handle_stops_its_own_timer_only, "T-01", "TM-03")
{
    kits_each(play_handles);
}

/* ---- Replacing. ---- */

static tr_next replace_early(tr_self *self)
{
    ONCE("a", 10, 1);
    ONCE("b", 10, 2);
    RATE("c", 10, 3);
    ONCE("a", 20, 4);
    RATE("b", 15, 5);
    DELAY("c", 12, 6);
    return TR_SAME;
}

static void play_replace_early(void)
{
    begin(replace_early);
    tr_kit_advance(kit, 40 * MS);
    SAID("12:6; 15:5; 20:4; 24:6; 30:5; 36:6");
}

TEST(the_same_key_replaces, "T-01", "TM-04")
{
    kits_each(play_replace_early);
}

static tr_next replace_others(tr_self *self, uint32_t n)
{
    if (n != 1)
        return TR_SAME;
    ONCE("a", 3, 7);
    ONCE("b", 4, 8);
    RATE("c", 5, 9);
    return TR_SAME;
}

static void play_replace_queued(void)
{
    begin(arm_a_and_others);
    during = replace_others;
    tr_kit_advance(kit, 21 * MS);
    SAID("10:1; 10:5; 10:6; 13:7; 14:8; 15:9; 20:9");
}

TEST(the_same_key_replaces_what_is_queued, "T-01", "TM-02", "TM-04")
{
    kits_each(play_replace_queued);
}

/* The message of the turn stays the handler's, whatever becomes of its timer. */
static const struct tick *in_hand;

static tr_next on_tick_in_hand(tr_self *self, const struct tick *message)
{
    uint32_t n = message->n;
    say("%d:%u", (int)((tr_now(self) - zero_ns) / MS), (unsigned)n);
    if (n < 10) {
        ONCE("once", 50, 11);
        ONCE("once", 2, 12);
        RATE("rate", 50, 13);
        ONCE("rate", 3, 14);
        DELAY("delay", 5, 15);
        ck_assert_int_eq(tr_timer_cancel(self, "other"), TR_TIMER_NONE);
    }
    in_hand = message;
    ck_assert_uint_eq(in_hand->n, n);
    return n == 15 ? TR_STOP : TR_SAME;
}

TR_ACTOR(holder, run, tick);
TR_BEHAVIOR(holder, void, TR_ON(run, on_run), TR_ON(tick, on_tick_in_hand));

static tr_next arm_delay(tr_self *self)
{
    DELAY("delay", 4, 3);
    return TR_SAME;
}

static tr_next arm_rate(tr_self *self)
{
    RATE("rate", 4, 2);
    return TR_SAME;
}

static tr_next arm_once(tr_self *self)
{
    ONCE("once", 4, 1);
    return TR_SAME;
}

static void play_replace_in_hand(void)
{
    static turn *const firsts[] = {arm_once, arm_rate, arm_delay};
    static const char *const stories[] = {
        "4:1; 6:12; 7:14; 9:15", "4:2; 6:12; 7:14; 9:15", "4:3; 6:12; 7:14; 9:15"};
    for (int i = 0; i < 3; i++) {
        holder_ref holder;
        ck_assert_int_eq(tr_try_spawn_at(test, &holder, home, holder, NULL), TR_OK);
        zero_ns = tr_kit_now(kit);
        TELL_RUN(test, holder, firsts[i]);
        tr_kit_advance(kit, TR_SECOND);
        SAID(stories[i]);
    }
}

TEST(a_timer_is_replaced_in_its_own_turn, "T-01", "TM-04")
{
    kits_each(play_replace_in_hand);
}

/* ---- Ticks that are due while the turn of one waits. ---- */

static tr_time sleep_ns;
static tr_next after_sleep;

static tr_next sleep_once(tr_self *self, uint32_t n)
{
    (void)n;
    during = NULL;
    (void)tr_sleep(self, sleep_ns);
    return after_sleep;
}

static tr_next arm_rate_and_sleep(tr_self *self)
{
    during = sleep_once;
    RATE("rate", 10, 1);
    return TR_SAME;
}

static tr_next cancel_rate(tr_self *self)
{
    ck_assert_int_eq(tr_timer_cancel(self, "rate"), TR_TIMER_CANCELLED);
    return TR_SAME;
}

static void play_missed(void)
{
    sleep_ns = 25 * MS;
    after_sleep = TR_SAME;
    begin(arm_rate_and_sleep);
    tr_kit_advance(kit, 55 * MS);
    SAID("10:1; 35:1; 40:1; 50:1"); /* the ticks of 20 and 30 are one */
    during = sleep_once;
    sleep_ns = 5 * MS;
    tr_kit_advance(kit, 20 * MS);
    SAID("60:1; 70:1"); /* none was missed */
    /* Another turn ends the timer while the turn of its message waits. */
    during = sleep_once;
    sleep_ns = 25 * MS;
    tr_kit_advance(kit, 20 * MS);
    TELL_RUN(test, clock_actor, cancel_rate);
    tr_kit_advance(kit, 50 * MS);
    SAID("80:1");
    /* And so does the end of the actor, by its own turn and by others. */
    after_sleep = TR_STOP;
    TELL_RUN(test, clock_actor, arm_rate_and_sleep);
    tr_kit_advance(kit, 50 * MS);
    SAID("155:1; end");
    tr_kit_check(kit);
}

static void play_missed_and_killed(void)
{
    sleep_ns = 25 * MS;
    begin(arm_rate_and_sleep);
    tr_kit_advance(kit, 25 * MS);
    tr_kill(test, clock_actor);
    tr_kit_advance(kit, 50 * MS);
    SAID("10:1; end");
    tr_kit_check(kit);
}

TEST(ticks_missed_while_the_turn_of_one_waits_are_one, "T-01", "TM-07")
{
    kits_each(play_missed);
    kits_each(play_missed_and_killed);
}

SUITE("timers", three_kinds_fire_at_their_times, equal_deadlines_come_in_the_order_of_creation,
      a_timer_starts_timers, fixed_rate_does_not_drift_in_a_day,
      a_timer_cancelled_before_expiry_never_comes, a_timer_cancelled_when_queued_never_comes,
      a_timer_is_cancelled_in_its_own_turn, a_handle_stops_its_own_timer_only,
      the_same_key_replaces, the_same_key_replaces_what_is_queued,
      a_timer_is_replaced_in_its_own_turn, ticks_missed_while_the_turn_of_one_waits_are_one)
