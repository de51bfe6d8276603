/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happens to a sender that waits for capacity when it is killed, stopped or Suspended, or crashes.
 */
#include "support/parks.h"

#include <stdlib.h>

static source_ref who; /* the source in question */

static source_ref other_one(void)
{
    return tr_any(who).bits == tr_any(near_one).bits ? far_one : near_one;
}

/* Plays with a source on the worker of the sinks, and with one elsewhere. */
static void each_source(void (*play)(void))
{
    for (int i = 0; i < 2; i++) {
        parks_begin();
        who = i ? near_one : far_one;
        play();
        tr_kill(test, sink);
        tr_kill(test, strait);
        tr_kill(test, near_one);
        tr_kill(test, far_one);
        tr_kit_settle(kit);
        tr_kit_check(kit);
        (void)said();
    }
}

static void (*played)(void);
static void play_each_source(void)
{
    each_source(played);
}
static void play_all(void (*play)(void))
{
    played = play;
    kits_each(play_each_source);
}

/* ---- The sender. ---- */

static void *deferred_said;
static void say_deferred(void *resource)
{
    deferred_said = resource;
    say("deferred");
}

/* Everything that it calls after that gives TR_CANCELLED. */
static tr_next wait_with_all(tr_self *self)
{
    source_ref child;
    char *scratch = tr_format(self, "scratch of %s", "a turn that waits");
    tr_defer(self, scratch, say_deferred);
    for (uint32_t n = 0; n < 4; n++)
        last_status[1] = tr_tell(self, sink, item, .n = n);
    if (last_status[1] == TR_CANCELLED) {
        ck_assert_int_eq(tr_tell(self, near_one, tick, .n = 1), TR_CANCELLED);
        ck_assert_int_eq(tr_tell(self, sink, item, .n = 1), TR_CANCELLED);
        ck_assert_int_eq(tr_try_spawn(self, &child, source, NULL), TR_CANCELLED);
        ck_assert_int_eq(
            tr_self_try_timer(
                self, NULL, TR_TIMER_ONCE, MS, &tr_type_tick, &(struct tick){.n = 1}, NULL),
            TR_CANCELLED);
        ck_assert_int_eq(tr_kill(self, sink), TR_CANCELLED);
    }
    ck_assert_str_eq(scratch, "scratch of a turn that waits");
    say("%s", tr_status_name(last_status[1]));
    return tr_fail(self, TR_BAD_DATA, "nobody hears of it when it is cancelled");
}

static void play_kill_source(void)
{
    SHUT(sink);
    TELL_RUN(test, who, wait_with_all);
    TELL_RUN(test, who, wait_with_all); /* queued: never handled */
    tr_kit_settle(kit);
    tr_kill(test, who);
    tr_kit_settle(kit);
    SAID("TR_CANCELLED; deferred; end");
    tr_kit_check(kit);
    /* It stands in nobody's way. */
    let_send(other_one(), 2, 1, tr_any(sink));
    OPEN(sink);
    SEEN("0.0 0.1 0.2 2.0 ");
}

TEST(a_sender_that_is_killed_is_cancelled, "Y-02", "M-02", "B-05")
{
    play_all(play_kill_source);
}

static void play_stop_source(void)
{
    SHUT(sink);
    let_send(who, 1, 5, tr_any(sink));
    tr_tell(test, who, tick, .n = 7); /* behind the turn that waits, before the pill */
    tr_stop(test, who);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, who, tick, .n = 8), TR_OK); /* accepted, and a dead letter */
    tr_kit_settle(kit);
    SAID("");
    OPEN(sink);
    SAID("tick 7; end");
    SEEN("1.0 1.1 1.2 1.3 1.4 ");
}

TEST(a_sender_that_is_stopped_finishes_its_turn, "Y-01", "M-02")
{
    play_all(play_stop_source);
}

/* A Suspended sender goes on later; what it was given is not kept from others meanwhile. */
static void suspend_source(bool is_late)
{
    source_ref other = other_one();
    SHUT(strait);
    let_send(who, 1, 2, tr_any(strait));
    let_send(other, 2, 1, tr_any(strait));
    if (!is_late)
        SHUT(who);
    ck_assert_int_eq(tr_resume(test, strait), TR_OK);
    if (is_late) {
        for (int i = 0; i < (int)(kits_seed % 6); i++)
            tr_kit_step(kit);
        SHUT(who);
    }
    tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_int_eq(last_status[2], TR_OK);
    ck_assert_uint_ge(done_count, 1);
    tr_kit_advance(kit, TR_SECOND);
    OPEN(who);
    ck_assert_uint_eq(done_count, 2);
    ck_assert_uint_eq(ok_count, 3);
    ck_assert_uint_eq(seen_count, 3);
}

static void play_suspend_source(void)
{
    suspend_source(false);
}

static void play_suspend_source_late(void)
{
    suspend_source(true);
}

TEST(a_sender_that_is_suspended_keeps_no_room, "Y-03", "M-02")
{
    play_all(play_suspend_source);
    play_all(play_suspend_source_late);
}

static void play_suspended_too_long(void)
{
    SHUT(strait);
    let_send(who, 1, 2, tr_any(strait));
    SHUT(who);
    tr_kit_advance(kit, 2 * TR_PARK_NS);
    ck_assert_uint_eq(done_count, 0); /* Suspended: nothing of it runs */
    OPEN(who);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(last_status[1], TR_MAILBOX_FULL);
    SHUT(who);
    tr_stop(test, who); /* Suspended: stops at once */
    tr_kit_settle(kit);
    SAID("end");
}

TEST(time_passes_while_suspended, "Y-03", "M-02")
{
    play_all(play_suspended_too_long);
}

static tr_next kill_and_wait(tr_self *self)
{
    tr_kill(self, source_ref_of(tr_me(self)));
    for (uint32_t n = 0; n < 6; n++)
        last_status[1] = tr_tell(self, strait, item, .n = n);
    say("%s", tr_status_name(last_status[1]));
    return TR_SAME;
}

static void play_kill_oneself(void)
{
    TELL_RUN(test, who, kill_and_wait);
    tr_kit_settle(kit);
    SAID("TR_CANCELLED; end");
}

TEST(a_sender_that_kills_itself_ends_with_this_part_of_its_turn, "Y-02")
{
    play_all(play_kill_oneself);
}

/* Of two turns that go on at once the first ends the actor, and waits again. */
static tr_next second_turn(tr_self *self)
{
    say("second %s", tr_status_name(tr_tell(self, strait, item, .n = 8)));
    return TR_SAME;
}

static tr_next first_turn(tr_self *self)
{
    tr_timer_once(self, "second", 0, run, .function = (uint64_t)(uintptr_t)second_turn);
    say("first %s", tr_status_name(tr_tell(self, strait, item, .n = 7)));
    tr_kill(self, source_ref_of(tr_me(self)));
    say("then %s", tr_status_name(tr_tell(self, strait, item, .n = 9)));
    return TR_SAME;
}

static void play_two_turns(void)
{
    SHUT(strait);
    let_send(who, 1, 1, tr_any(strait));
    TELL_RUN(test, who, first_turn);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_PARK_NS);
    tr_kit_settle(kit);
    SAID("first TR_MAILBOX_FULL; then TR_CANCELLED; second TR_CANCELLED; end");
}

TEST(an_order_comes_before_the_next_turn_that_goes_on, "Y-02", "D-05")
{
    play_all(play_two_turns);
}

/* ---- Runs of many turns, which a kit does not have. ---- */

static struct hand hand;

static void hand_begin(source_ref *sources, int count)
{
    hand_open(&hand);
    ck_assert_int_eq(tr_try_spawn(hand.client, &sink, sink, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(hand.client, &strait, strait, NULL), TR_OK);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(tr_try_spawn(hand.client, &sources[i], source, NULL), TR_OK);
    hand_run(&hand);
    said_length = 0;
    done_count = 0;
    seen_count = 0;
    ok_count = 0;
}

static tr_next suspend_at_three(tr_self *self)
{
    if (seen_count == 3)
        tr_suspend(self, sink);
    return TR_SAME;
}

/* In one run it frees three places and is Suspended: one of three that wait could use them all. */
TEST(what_one_does_not_need_is_for_the_next, "M-02", "MB-08", "Y-03")
{
    source_ref sources[3];
    hand_begin(sources, 3);
    tr_suspend(hand.client, sink);
    hand_run(&hand);
    for (uint32_t n = 0; n < 3; n++)
        ck_assert_int_eq(tr_tell(hand.client, sink, item, .n = n), TR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        tr_tell(hand.client, sources[i], go, .id = i, .count = 1, .to = tr_any(sink));
        hand_run(&hand);
    }
    ck_assert_uint_eq(done_count, 0);
    in_item = suspend_at_three;
    tr_resume(hand.client, sink);
    hand_run(&hand);
    ck_assert_uint_eq(seen_count, 3);
    ck_assert_uint_eq(done_count, 3);
    ck_assert_uint_eq(ok_count, 3);
    in_item = NULL;
    hand_close(&hand);
}

/* Turns that go on are turns like others: an actor with a crowd of them is not alone in the world. */
enum { CROWD = 1000 };
static source_ref bystander;
static uint32_t gone_on;
static uint32_t gone_on_before;

static tr_next look_on(tr_self *self)
{
    (void)self;
    gone_on_before = gone_on;
    return TR_SAME;
}

static tr_next sleep_and_go_on(tr_self *self)
{
    tr_sleep(self, MS);
    if (!gone_on++)
        TELL_RUN(self, bystander, look_on);
    return TR_SAME;
}

TEST(a_crowd_that_goes_on_uses_the_time_of_its_actor, "D-05")
{
    source_ref sources[2];
    hand_begin(sources, 2);
    bystander = sources[1];
    gone_on = 0;
    gone_on_before = 0;
    for (int i = 0; i < CROWD; i++)
        TELL_RUN(hand.client, sources[0], sleep_and_go_on);
    hand_run(&hand);
    ck_assert_uint_eq(gone_on, 0);
    hand_leap(&hand, MS);
    hand_leap(&hand, 0);
    ck_assert_uint_eq(gone_on, CROWD);
    ck_assert_uint_gt(gone_on_before, 0);
    ck_assert_uint_lt(gone_on_before, CROWD);
    hand_close(&hand);
}

/* A large message is let in with room for more messages than that one; then its sender sleeps. */
TR_ACTOR(shelf, run, load, item);
TR_BEHAVIOR(shelf, void, TR_ON(run, on_run), TR_ON(load, on_load), TR_ON(item, on_item),
            TR_OPTIONS(.mailbox_max = 4, .mailbox_bytes_max = (size_t)100 * 64,
                       .overflow = TR_PARK));
static shelf_ref shelf;
static const char shelved[60 * 64];

static tr_next shut_at_three(tr_self *self)
{
    if (seen_count == 3)
        tr_suspend(self, shelf);
    return TR_SAME;
}

static tr_next send_and_sleep(tr_self *self)
{
    last_status[1] =
        tr_tell(self, shelf, load, .from = 1, .n = 0, .data = {shelved, sizeof shelved});
    say("sent");
    tr_sleep(self, TR_SECOND);
    say("over");
    return TR_SAME;
}

static void play_sleeper(void)
{
    parks_begin();
    ck_assert_int_eq(tr_try_spawn_at(test, &shelf, home, shelf, NULL), TR_OK);
    tr_kit_settle(kit);
    SHUT(shelf);
    for (uint32_t n = 0; n < 4; n++)
        ck_assert_int_eq(tr_tell(test, shelf, load, .from = 8, .n = n, .data = {shelved, 20 * 64}),
                         TR_OK);
    TELL_RUN(test, far_one, send_and_sleep);
    tr_kit_settle(kit);
    SAID("");
    in_item = shut_at_three;
    OPEN(shelf);
    SAID("sent");
    let_send(near_one, 2, 1, tr_any(shelf)); /* there are two places */
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(last_status[2], TR_OK);
    tr_kit_advance(kit, TR_SECOND);
    tr_kit_settle(kit);
    SAID("over");
    in_item = NULL;
    OPEN(shelf);
    ck_assert_int_eq(last_status[1], TR_OK);
    SEEN("8.0 8.1 8.2 8.3 1.0 2.0 ");
}

TEST(who_waits_for_something_else_keeps_no_room, "M-02", "MB-08")
{
    kits_each(play_sleeper);
}

TEST(an_order_comes_first_within_a_run_too, "Y-02", "D-05")
{
    source_ref source;
    hand_begin(&source, 1);
    tr_suspend(hand.client, strait);
    hand_run(&hand);
    ck_assert_int_eq(tr_tell(hand.client, strait, item, .n = 0), TR_OK);
    TELL_RUN(hand.client, source, first_turn);
    hand_run(&hand);
    hand_leap(&hand, 0); /* the timer of the second turn */
    hand_leap(&hand, TR_PARK_NS);
    SAID("first TR_MAILBOX_FULL; then TR_CANCELLED; second TR_CANCELLED; end");
    hand_close(&hand);
}

static tr_next wait_and_crash(tr_self *self)
{
    tr_defer(self, NULL, say_deferred);
    for (uint32_t n = 0; n < 5; n++)
        tr_tell(self, sink, item, .n = n);
    tr_crash(self, TR_BAD_DATA, "on purpose");
}

static void play_crash(void)
{
    SHUT(sink);
    TELL_RUN(test, who, wait_and_crash);
    tr_kit_settle(kit);
    OPEN(sink);
    SAID("deferred; end");
    SEEN("0.0 0.1 0.2 0.3 0.4 ");
}

TEST(a_turn_that_waited_may_crash, "D-05", "S-10")
{
    play_all(play_crash);
}

/* A defer that has kept its turn, against the rules, does not wait. */
static void send_in_defer(void *self)
{
    tr_status status = TR_OK;
    for (uint32_t n = 0; n < 9 && status == TR_OK; n++)
        status = tr_tell((tr_self *)self, strait, item, .n = n);
    say("%s", tr_status_name(status));
}

static tr_next defer_a_send(tr_self *self)
{
    tr_defer(self, self, send_in_defer);
    for (uint32_t n = 0; n < 5; n++)
        tr_tell(self, sink, item, .n = n);
    return TR_SAME;
}

static void play_defer(void)
{
    SHUT(strait);
    TELL_RUN(test, who, defer_a_send);
    tr_kit_settle(kit);
    SAID("TR_MAILBOX_FULL");
}

TEST(what_ends_a_turn_does_not_wait, "D-05")
{
    play_all(play_defer);
}

SUITE("park, senders", a_sender_that_is_killed_is_cancelled,
      a_sender_that_is_stopped_finishes_its_turn, a_sender_that_is_suspended_keeps_no_room,
      time_passes_while_suspended, a_sender_that_kills_itself_ends_with_this_part_of_its_turn,
      an_order_comes_before_the_next_turn_that_goes_on, what_one_does_not_need_is_for_the_next,
      an_order_comes_first_within_a_run_too, a_turn_that_waited_may_crash,
      what_ends_a_turn_does_not_wait, a_crowd_that_goes_on_uses_the_time_of_its_actor,
      who_waits_for_something_else_keeps_no_room)
