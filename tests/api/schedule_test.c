/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schedules of the system: messages and calls, their times, how they end and are taken back.
 *
 * schedule_world_test.c has threads, shutdown, lack of memory and limits.
 */
#include "support/kits.h"

TR_MESSAGE(note, (u32, n), (str, text));
TR_MESSAGE(greeting);
TR_ACTOR(listener, run, note, greeting);

static listener_ref listener;
static tr_time zero_ns; /* when the play began */

static int since_ms(tr_time now_ns)
{
    ck_assert_int_eq((now_ns - zero_ns) % MS, 0);
    return (int)((now_ns - zero_ns) / MS);
}

static tr_next on_note(tr_self *self, const struct note *message)
{
    ck_assert(tr_is_same(tr_sender(self), TR_NOBODY));
    ck_assert_uint_ne(tr_causal_id(self), 0);
    say("%d:%u%s", since_ms(tr_now(self)), (unsigned)message->n, message->text);
    return TR_SAME;
}

static tr_next on_greeting(tr_self *self)
{
    say("told by %s", tr_is_same(tr_sender(self), TR_NOBODY) ? "nobody" : "an actor");
    return TR_SAME;
}

TR_BEHAVIOR(listener, void, TR_ON(run, on_run), TR_ON(note, on_note), TR_ON(greeting, on_greeting));

static tr_system *begin(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &listener, home, listener, "listener"), TR_OK);
    tr_kit_settle(kit);
    zero_ns = tr_kit_now(kit);
    return tr_kit_system(kit);
}

static uint64_t live(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.live;
}

#define OK(call) ck_assert_int_eq(call, TR_OK)
#define ENDS(handle, end) ck_assert_int_eq(tr_schedule_cancel(tr_kit_system(kit), handle), end)

/* ---- Messages. ---- */

static void play_three_kinds(void)
{
    tr_system *system = begin();
    tr_schedule once, rate, delay;
    OK(tr_schedule_once(system, &once, 7 * MS, listener, note, .n = 1, .text = "a"));
    OK(tr_schedule_fixed_rate(system, &rate, 10 * MS, listener, note, .n = 2, .text = "b"));
    OK(tr_schedule_fixed_delay(system, &delay, 4 * MS, listener, note, .n = 3, .text = "c"));
    tr_kit_advance(kit, 4 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("4:3c");
    tr_kit_advance(kit, 17 * MS);
    const char *words = said();
    ck_assert_msg(strcmp(words, "7:1a; 8:3c; 10:2b; 12:3c; 16:3c; 20:2b; 20:3c") == 0, "%s", words);
    ENDS(once, TR_TIMER_NONE);
    ENDS(rate, TR_TIMER_CANCELLED);
    ENDS(delay, TR_TIMER_CANCELLED);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("");
}

TEST(three_kinds_of_messages_come_at_their_times, "T-02", "TM-01", "TM-07")
{
    kits_each(play_three_kinds);
}

enum { MANY = 2500 }; /* more than fire in one round */

static void play_equal(void)
{
    tr_system *system = begin();
    for (uint32_t i = 0; i < MANY; i++)
        OK(tr_schedule_once(system, NULL, TR_SECOND, listener, note, .n = i, .text = ""));
    tr_kit_advance(kit, TR_SECOND);
    const char *words = said();
    for (uint32_t i = 0; i < MANY; i++) {
        char expected[32];
        int length = snprintf(expected, sizeof expected, "%s1000:%u", i ? "; " : "", i);
        ck_assert_msg(strncmp(words, expected, (size_t)length) == 0, "%u: %.40s", i, words);
        words += length;
    }
}

TEST(equal_deadlines_come_in_the_order_of_making, "T-02", "TM-01")
{
    kit_open(3, 7);
    play_equal();
    kit_close();
}

static void play_client(void)
{
    tr_system *system = begin();
    OK(tr_schedule_once(system, NULL, TR_HOUR, tr_client_ref(test), note, .n = 5, .text = "x"));
    const struct note *got = tr_receive(test, note, 24 * TR_HOUR);
    ck_assert_ptr_nonnull(got);
    ck_assert_uint_eq(got->n, 5);
    ck_assert_int_eq(tr_kit_now(kit) - zero_ns, TR_HOUR);
}

TEST(a_client_can_be_sent_to, "T-02")
{
    kits_each(play_client);
}

static void play_dead(void)
{
    tr_system *system = begin();
    tr_schedule once, rate;
    OK(tr_schedule_once(system, &once, 5 * MS, listener, note, .n = 1, .text = ""));
    OK(tr_schedule_fixed_rate(system, &rate, 2 * MS, listener, note, .n = 2, .text = ""));
    tr_kit_advance(kit, 2 * MS);
    SAID("2:2");
    tr_stop(test, listener);
    tr_kit_settle(kit);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 2);
    ENDS(once, TR_TIMER_NONE);
    ENDS(rate, TR_TIMER_NONE);
    tr_schedule none = {77};
    ck_assert_int_eq(tr_schedule_once(system, &none, MS, listener, note, .n = 3), TR_STOPPED);
    ck_assert_int_eq(tr_schedule_once(system, &none, MS, TR_NOBODY, note, .n = 3), TR_STOPPED);
    ck_assert_uint_eq(none.number, 77);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 2);
    SAID("");
}

TEST(what_is_sent_to_the_dead_is_a_dead_letter_and_ends, "T-02")
{
    kits_each(play_dead);
}

static tr_next from_a_handler(tr_self *self)
{
    OK(tr_schedule_once(
        tr_system_of(self), NULL, 3 * MS, tr_me(self), note, .n = 9, .text = " from a turn"));
    return TR_SAME;
}

static void play_handler(void)
{
    begin();
    TELL_RUN(test, listener, from_a_handler);
    tr_kit_advance(kit, TR_SECOND);
    SAID("3:9 from a turn");
}

TEST(a_handler_may_schedule, "T-02")
{
    kits_each(play_handler);
}

TEST(missed_ticks_are_one_and_the_grid_stays, "T-02", "TM-06", "TM-07", "TM-08")
{
    struct hand hand;
    hand_open(&hand);
    said_length = 0;
    listener_ref ear;
    OK(tr_try_spawn(hand.client, &ear, listener, "ear"));
    hand_run(&hand);
    zero_ns = hand.mono_ns;
    OK(tr_schedule_fixed_rate(hand.system, NULL, 10 * MS, ear, note, .n = 1, .text = ""));
    OK(tr_schedule_fixed_delay(hand.system, NULL, 10 * MS, ear, note, .n = 2, .text = ""));
    hand_leap(&hand, 35 * MS);
    SAID("35:1; 35:2");
    hand_leap(&hand, 5 * MS);
    SAID("40:1");
    hand_leap(&hand, 5 * MS);
    SAID("45:2");
    hand.wall_ns += 24 * TR_HOUR;
    hand_leap(&hand, 4 * MS);
    SAID("");
    hand_close(&hand);
}

/* ---- Taking back. ---- */

static void play_cancel(void)
{
    tr_system *system = begin();
    tr_schedule once, again;
    OK(tr_schedule_once(system, &once, 5 * MS, listener, note, .n = 1, .text = ""));
    ENDS(once, TR_TIMER_CANCELLED);
    ENDS(once, TR_TIMER_NONE);
    /* Its place is another's now. */
    OK(tr_schedule_once(system, &again, 5 * MS, listener, note, .n = 2, .text = ""));
    ENDS(once, TR_TIMER_NONE);
    tr_kit_advance(kit, TR_SECOND);
    SAID("5:2");
    ENDS(again, TR_TIMER_NONE);
    ENDS((tr_schedule){0}, TR_TIMER_NONE);
    ENDS((tr_schedule){again.number + 1}, TR_TIMER_NONE);
    ENDS((tr_schedule){UINT64_MAX}, TR_TIMER_NONE);
    ENDS((tr_schedule){again.number & ~(uint64_t)UINT32_MAX}, TR_TIMER_NONE);
    ck_assert_int_eq(tr_schedule_cancel(NULL, again), TR_TIMER_NONE);
}

TEST(a_schedule_that_was_taken_back_never_fires, "T-02", "TM-02", "TM-03")
{
    kits_each(play_cancel);
}

/* ---- Calls. ---- */

static tr_schedule handles[4];
static tr_next (*during)(tr_self *self);

static tr_next call(tr_self *self, void *argument)
{
    say("%d:%s", since_ms(tr_now(self)), (const char *)argument);
    return during ? during(self) : TR_SAME;
}

static void call_at(int which, tr_timer_kind kind, tr_time ns, const char *words)
{
    OK(tr_schedule_call(
        tr_kit_system(kit), &handles[which], kind, ns, call, (void *)(uintptr_t)words));
}

static tr_next look_around(tr_self *self)
{
    ck_assert_int_eq(strncmp(tr_path(self), "/system/schedules/", 18), 0);
    ck_assert(!tr_is_same(tr_me(self), TR_NOBODY));
    ck_assert(tr_is_same(tr_parent(self), TR_NOBODY));
    ck_assert(tr_is_same(tr_find(self, listener, tr_path(self)), tr_me(self)));
    ck_assert_int_eq(tr_worker(self), 0);
    tr_tell(self, listener, greeting);
    (void)tr_alloc(self, 100);
    (void)tr_spawn(self, listener, "child");
    return TR_SAME;
}

static void play_turn(void)
{
    begin();
    during = look_around;
    ck_assert_uint_eq(live(), 1);
    call_at(0, TR_TIMER_ONCE, 3 * MS, "hello");
    ck_assert_uint_eq(live(), 2);
    tr_kit_advance(kit, TR_SECOND);
    SAID("3:hello; told by an actor");
    ck_assert_uint_eq(live(), 1); /* its child is gone as well */
    ENDS(handles[0], TR_TIMER_NONE);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 0);
}

TEST(a_call_is_a_turn_of_an_actor_of_its_own, "T-02")
{
    kits_each(play_turn);
}

static void play_calls(void)
{
    begin();
    during = NULL;
    call_at(0, TR_TIMER_ONCE, 7 * MS, "once");
    call_at(1, TR_TIMER_FIXED_RATE, 10 * MS, "rate");
    call_at(2, TR_TIMER_FIXED_DELAY, 8 * MS, "delay");
    tr_kit_advance(kit, 7 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 14 * MS);
    SAID("7:once; 8:delay; 10:rate; 16:delay; 20:rate");
    ENDS(handles[0], TR_TIMER_NONE);
    ENDS(handles[1], TR_TIMER_CANCELLED);
    ENDS(handles[2], TR_TIMER_CANCELLED);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("");
    ck_assert_uint_eq(live(), 1);
}

TEST(three_kinds_of_calls_come_at_their_times, "T-02", "TM-01", "TM-07")
{
    kits_each(play_calls);
}

static struct hand *slow_hand;
static tr_time slow_ns; /* how long the next call takes */

static tr_next slow_call(tr_self *self, void *argument)
{
    (void)self;
    say("%d:%s", since_ms(slow_hand->mono_ns), (const char *)argument);
    slow_hand->mono_ns += slow_ns;
    slow_ns = 0;
    return TR_SAME;
}

TEST(slow_calls_do_not_pile_up, "T-02", "TM-06")
{
    struct hand hand;
    for (int kind = TR_TIMER_FIXED_RATE; kind <= TR_TIMER_FIXED_DELAY; kind++) {
        hand_open(&hand);
        slow_hand = &hand;
        said_length = 0;
        zero_ns = hand.mono_ns;
        OK(tr_schedule_call(hand.system, NULL, (tr_timer_kind)kind, 10 * MS, slow_call, "tick"));
        slow_ns = 25 * MS;
        hand_leap(&hand, 10 * MS); /* a turn, which ends at 35 */
        if (kind == TR_TIMER_FIXED_RATE) {
            SAID("10:tick; 35:tick"); /* the ticks of 20 and 30 are one */
            hand_leap(&hand, 4 * MS);
            SAID("");
            hand_leap(&hand, MS);
            SAID("40:tick");
        } else {
            SAID("10:tick");
            hand_leap(&hand, 9 * MS);
            SAID("");
            hand_leap(&hand, MS);
            SAID("45:tick");
        }
        hand_close(&hand);
    }
}

static tr_next cancel_next(tr_self *self)
{
    say("%d", tr_schedule_cancel(tr_system_of(self), handles[1]));
    return TR_SAME;
}

static void play_taken_back(void)
{
    begin();
    during = cancel_next;
    call_at(0, TR_TIMER_ONCE, 5 * MS, "first");
    call_at(1, TR_TIMER_ONCE, 5 * MS, "second");
    call_at(2, TR_TIMER_ONCE, 6 * MS, "third");
    tr_kit_advance(kit, 5 * MS);
    char expected[64];
    snprintf(expected, sizeof expected, "5:first; %d", TR_TIMER_TAKEN_BACK);
    SAID(expected);
    ck_assert_uint_eq(live(), 2);
    tr_kit_advance(kit, MS);
    snprintf(expected, sizeof expected, "6:third; %d", TR_TIMER_NONE);
    SAID(expected);
    ck_assert_uint_eq(live(), 1);
}

TEST(a_call_that_waits_for_its_turn_can_be_taken_back, "T-02", "TM-02", "TM-03")
{
    kits_each(play_taken_back);
}

static tr_next cancel_self(tr_self *self)
{
    say("%d", tr_schedule_cancel(tr_system_of(self), handles[0]));
    return TR_SAME;
}

static void play_own_turn(void)
{
    for (int kind = TR_TIMER_ONCE; kind <= TR_TIMER_FIXED_DELAY; kind++) {
        if (kind == TR_TIMER_ONCE)
            begin();
        zero_ns = tr_kit_now(kit);
        during = cancel_self;
        call_at(0, (tr_timer_kind)kind, 5 * MS, "own");
        tr_kit_advance(kit, TR_SECOND);
        char expected[64];
        snprintf(expected,
                 sizeof expected,
                 "5:own; %d",
                 kind == TR_TIMER_ONCE ? TR_TIMER_NONE : TR_TIMER_CANCELLED);
        SAID(expected);
        ENDS(handles[0], TR_TIMER_NONE);
        ck_assert_uint_eq(live(), 1);
    }
}

TEST(a_call_may_take_its_own_schedule_back, "T-02", "TM-03")
{
    kits_each(play_own_turn);
}

static int end_by;

static tr_next end_in_some_way(tr_self *self)
{
    switch (end_by) {
    case 0:
        return TR_STOP;
    case 1:
        return tr_fail(self, TR_BAD_DATA, "on purpose");
    case 2:
        tr_crash(self, TR_BAD_DATA, "on purpose");
    case 3:
        tr_kill(self, tr_me(self));
        return TR_SAME;
    case 4: {
        tr_next ignored = tr_become(self, listener);
        (void)ignored;
        return TR_STOP;
    }
    }
    return tr_stash(self); /* 5: nothing of this is for a call, and it continues */
}

static void play_ends(void)
{
    begin();
    static const tr_timer_kind kinds[] = {TR_TIMER_FIXED_RATE, TR_TIMER_FIXED_DELAY, TR_TIMER_ONCE};
    for (int i = 0; i < 3; i++) {
        for (end_by = 0; end_by < 6; end_by++) {
            zero_ns = tr_kit_now(kit);
            during = NULL;
            call_at(0, TR_TIMER_ONCE, 15 * MS, "other");
            during = end_in_some_way;
            call_at(1, kinds[i], 10 * MS, "it");
            tr_kit_advance(kit, 10 * MS);
            SAID("10:it");
            during = NULL;
            bool goes_on = kinds[i] != TR_TIMER_ONCE && end_by == 5;
            tr_kit_advance(kit, 10 * MS);
            SAID(goes_on ? "15:other; 20:it" : "15:other");
            ENDS(handles[1], goes_on ? TR_TIMER_CANCELLED : TR_TIMER_NONE);
            tr_kit_settle(kit);
            ck_assert_uint_eq(live(), 1);
        }
    }
}

TEST(a_call_ends_its_schedule_alone, "T-02")
{
    kits_each(play_ends);
}

static tr_ref its_ref;

static tr_next note_ref(tr_self *self)
{
    its_ref = tr_me(self);
    return TR_SAME;
}

static void play_killed(void)
{
    begin();
    for (int kind = TR_TIMER_FIXED_RATE; kind <= TR_TIMER_FIXED_DELAY; kind++) {
        during = note_ref;
        zero_ns = tr_kit_now(kit);
        call_at(0, (tr_timer_kind)kind, 10 * MS, "it");
        tr_kit_advance(kit, 10 * MS);
        /* Suspended, its tick waits; killed, it goes with it. */
        tr_suspend(test, its_ref);
        tr_kit_advance(kit, 35 * MS);
        SAID("10:it");
        if (kind == TR_TIMER_FIXED_RATE) {
            tr_resume(test, its_ref);
            tr_kit_settle(kit);
            SAID("45:it");
            tr_suspend(test, its_ref);
            tr_kit_advance(kit, 5 * MS);
        }
        tr_kill(test, its_ref);
        tr_kit_settle(kit);
        ENDS(handles[0], TR_TIMER_NONE);
        ck_assert_uint_eq(live(), 1);
        tr_kit_advance(kit, TR_SECOND);
        SAID("");
    }
}

TEST(the_end_of_its_actor_ends_a_call, "T-02", "TM-05")
{
    kits_each(play_killed);
}

/* ---- Bad input. ---- */

static void play_bad(void)
{
    tr_system *system = begin();
    tr_schedule none = {99};
    const struct note words = {.n = 1, .text = ""};
    const tr_type *type = &tr_type_note;
    tr_ref to = tr_any(listener);
#define BAD(call) ck_assert_int_eq(call, TR_INVALID_ARGUMENT)
    for (int kind = TR_TIMER_ONCE; kind <= TR_TIMER_FIXED_DELAY; kind++) {
        tr_timer_kind k = (tr_timer_kind)kind;
        BAD(tr_system_schedule(system, &none, k, -1, to, type, &words));
        BAD(tr_system_schedule(system, &none, k, INT64_MIN, to, type, &words));
        BAD(tr_system_schedule(NULL, &none, k, 1, to, type, &words));
        BAD(tr_system_schedule(system, &none, k, 1, to, NULL, &words));
        BAD(tr_system_schedule(system, &none, k, 1, to, type, NULL));
        BAD(tr_schedule_call(system, &none, k, -1, call, NULL));
        BAD(tr_schedule_call(NULL, &none, k, 1, call, NULL));
        BAD(tr_schedule_call(system, &none, k, 1, NULL, NULL));
        if (kind == TR_TIMER_ONCE)
            continue;
        BAD(tr_system_schedule(system, &none, k, 0, to, type, &words));
        BAD(tr_schedule_call(system, &none, k, 0, call, NULL));
    }
    BAD(tr_schedule_call(system, &none, (tr_timer_kind)3, 1, call, NULL));
    BAD(tr_system_schedule(system, &none, (tr_timer_kind)99, 1, to, type, &words));
#undef BAD
    ck_assert_uint_eq(none.number, 99);
    static char huge[TR_PAYLOAD_MAX + 1];
    memset(huge, 'x', sizeof huge - 1);
    ck_assert_int_eq(tr_schedule_once(system, &none, 1, listener, note, .text = huge),
                     TR_TOO_LARGE);
    ck_assert_uint_eq(live(), 1);
    tr_kit_advance(kit, TR_SECOND);
    SAID("");
}

TEST(bad_arguments_are_refused, "T-02", "U-02")
{
    kit_open(1, 1);
    play_bad();
    kit_close();
}

static void play_extremes(void)
{
    tr_system *system = begin();
    during = NULL;
    tr_time decade_ns = 3653 * 24 * TR_HOUR;
    OK(tr_schedule_once(system, NULL, 0, listener, note, .n = 1, .text = " now"));
    call_at(0, TR_TIMER_ONCE, 0, "now too");
    tr_kit_settle(kit);
    SAID("0:1 now; 0:now too");
    OK(tr_schedule_once(system, NULL, decade_ns, listener, note, .n = 2, .text = " then"));
    OK(tr_schedule_fixed_rate(system, NULL, TR_NEVER, listener, note, .n = 3, .text = " never"));
    call_at(0, TR_TIMER_ONCE, TR_NEVER, "never");
    tr_kit_advance(kit, decade_ns - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    const char *words = said();
    ck_assert_ptr_nonnull(strstr(words, ":2 then"));
    ck_assert_ptr_null(strstr(words, "never"));
}

TEST(zero_ten_years_and_never, "T-02", "TM-10")
{
    kit_open(1, 1); /* with more workers the two of time zero may change places */
    play_extremes();
    kit_close();
}

SUITE("schedules", three_kinds_of_messages_come_at_their_times,
      equal_deadlines_come_in_the_order_of_making, a_client_can_be_sent_to,
      what_is_sent_to_the_dead_is_a_dead_letter_and_ends, a_handler_may_schedule,
      missed_ticks_are_one_and_the_grid_stays, a_schedule_that_was_taken_back_never_fires,
      a_call_is_a_turn_of_an_actor_of_its_own, three_kinds_of_calls_come_at_their_times,
      slow_calls_do_not_pile_up, a_call_that_waits_for_its_turn_can_be_taken_back,
      a_call_may_take_its_own_schedule_back, a_call_ends_its_schedule_alone,
      the_end_of_its_actor_ends_a_call, bad_arguments_are_refused, zero_ten_years_and_never)
