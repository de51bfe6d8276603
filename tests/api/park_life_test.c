/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happens to those who wait for room when somebody ends, is Suspended or becomes another; and
 * what a turn that waits keeps.
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

/* ---- The receiver. ---- */

static void play_kill_sink(void)
{
    SHUT(sink);
    let_send(who, 1, 4, tr_any(sink));
    tr_kill(test, sink);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(last_status[1], TR_STOPPED);
}

TEST(a_receiver_that_is_killed_lets_nobody_wait, "M-02", "Y-02")
{
    play_all(play_kill_sink);
}

static tr_next have_slow_child(tr_self *self)
{
    /* It has a turn that waits: it stops when that is over. */
    source_ref child = tr_spawn(self, source, NULL);
    tr_tell(self, child, go, .id = 2, .count = 3, .to = tr_any(strait));
    return TR_SAME;
}

static void play_slow_end(void)
{
    SHUT(strait);
    TELL_RUN(test, sink, have_slow_child);
    tr_kit_settle(kit);
    SHUT(sink);
    let_send(who, 1, 4, tr_any(sink));
    ck_assert_uint_eq(done_count, 0);
    tr_stop(test, sink);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 1); /* not when the child has ended */
    ck_assert_int_eq(last_status[1], TR_STOPPED);
    OPEN(strait);
    ck_assert_uint_eq(done_count, 2);
}

TEST(nor_one_that_waits_for_its_children, "M-02", "Y-01")
{
    play_all(play_slow_end);
}

static tr_next stop_sink(tr_self *self)
{
    tr_stop(self, sink);
    return TR_SAME;
}

/* The first item is handled while others wait: a PoisonPill, from the sink itself, or a failure. */
static int sink_end;
static tr_next end_sink(tr_self *self)
{
    if (sink_end == 0)
        return stop_sink(self);
    if (sink_end == 1)
        return TR_STOP;
    return tr_fail(self, TR_BAD_DATA, "on purpose");
}

static void play_end_sink(void)
{
    SHUT(sink);
    let_send(who, 1, 4, tr_any(sink));
    in_item = end_sink;
    OPEN(sink);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(last_status[1], TR_STOPPED);
    ck_assert_uint_eq(seen_count, sink_end ? 1 : 3);
}

static void quiet_all(void (*play)(void))
{
    for (sink_end = 0; sink_end < 3; sink_end++)
        play_all(play);
}

TEST(one_that_ends_refuses_at_once, "M-02", "Y-01")
{
    quiet_all(play_end_sink);
}

static tr_next suspend_oneself(tr_self *self)
{
    if (seen_count == 2)
        tr_suspend(self, sink);
    return TR_SAME;
}

/* What it freed before it was Suspended is for those who wait. */
static void play_suspend_sink(void)
{
    SHUT(sink);
    let_send(who, 1, 5, tr_any(sink));
    in_item = suspend_oneself;
    OPEN(sink);
    ck_assert_uint_eq(seen_count, 2);
    ck_assert_uint_eq(ok_count, 5);
    ck_assert_uint_eq(done_count, 1);
    OPEN(sink);
    SEEN("1.0 1.1 1.2 1.3 1.4 ");
}

TEST(one_that_is_suspended_lets_in_as_many_as_it_can, "M-02", "Y-03")
{
    play_all(play_suspend_sink);
}

TR_BEHAVIOR(sink_of_8, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(load, on_load),
            TR_OPTIONS(.mailbox_max = 8, .overflow = TR_PARK));
TR_BEHAVIOR(sink_of_1, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(load, on_load),
            TR_OPTIONS(.mailbox_max = 1, .overflow = TR_PARK));
TR_BEHAVIOR(sink_that_fails, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(load, on_load),
            TR_OPTIONS(.mailbox_max = 3));
TR_BEHAVIOR(sink_that_drops, void, TR_ON(run, on_run), TR_ON(item, on_item), TR_ON(load, on_load),
            TR_OPTIONS(.mailbox_max = 3, .overflow = TR_DROP_OLDEST));

static const tr_behavior *next_behavior;
static tr_next become_another(tr_self *self)
{
    if (seen_count != 1)
        return TR_SAME;
    tr_suspend(self, sink);
    return tr_self_become(self, next_behavior, NULL, NULL);
}

static void become_while_awaited(const tr_behavior *behavior, uint32_t let_in, uint32_t in_all)
{
    SHUT(sink);
    let_send(who, 1, 9, tr_any(sink));
    let_send(other_one(), 2, 9, tr_any(sink));
    ck_assert_uint_eq(ok_count, 3);
    next_behavior = behavior;
    in_item = become_another;
    OPEN(sink); /* handles one, and is another */
    ck_assert_uint_eq(seen_count, 1);
    ck_assert_uint_eq(ok_count, let_in);
    OPEN(sink);
    ck_assert_uint_eq(done_count, 2);
    ck_assert_uint_eq(ok_count, in_all);
}

static void play_become_wider(void)
{
    become_while_awaited(&tr_behavior_sink_of_8, 9, 18);
}

static void play_become_narrower(void)
{
    become_while_awaited(&tr_behavior_sink_of_1, 3, 18);
}

static void play_become_strict(void)
{
    become_while_awaited(&tr_behavior_sink_that_fails, 4, 4);
}

static void play_become_careless(void)
{
    become_while_awaited(&tr_behavior_sink_that_drops, 16, 16);
}

TEST(the_bound_may_change_while_senders_wait, "M-02", "B-01")
{
    play_all(play_become_wider);
    play_all(play_become_narrower);
    play_all(play_become_strict);
    play_all(play_become_careless);
}

/* What comes back from a stash takes room that those who wait do not get. */
static tr_next stash_first(tr_self *self)
{
    if (seen_count <= 2)
        return tr_stash(self);
    if (seen_count == 3) {
        tr_suspend(self, sink);
        tr_unstash(self, 2);
    }
    return TR_SAME;
}

static void play_stash(void)
{
    SHUT(sink);
    let_send(who, 1, 9, tr_any(sink));
    in_item = stash_first;
    OPEN(sink);
    ck_assert_uint_eq(seen_count, 3);
    tr_kit_check(kit);
    in_item = NULL;
    OPEN(sink);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_uint_eq(ok_count, 9);
    ck_assert_uint_eq(seen_count, 11); /* two of them twice */
}

TEST(a_stash_that_comes_back_comes_first, "M-02", "B-08")
{
    play_all(play_stash);
}

/* It may then have more than its bound: nobody is let in before that is made up for. */
static tr_next stash_three(tr_self *self)
{
    if (seen_count <= 3)
        return tr_stash(self);
    tr_suspend(self, sink);
    return TR_SAME;
}

static tr_next unstash_three(tr_self *self)
{
    ck_assert_uint_eq(tr_unstash(self, 3), 3);
    tr_suspend(self, sink);
    return TR_SAME;
}

static void play_overdraft(void)
{
    let_send(who, 1, 0, tr_any(sink));
    in_item = stash_three;
    let_send(who, 1, 3, tr_any(sink));
    SHUT(sink);
    TELL_RUN(test, sink, unstash_three);
    tr_kit_settle(kit);
    let_send(who, 1, 2, tr_any(sink));
    OPEN(sink); /* five wait in a mailbox of three */
    let_send(who, 2, 1, tr_any(sink));
    for (uint32_t left = 4; left >= 3; left--) {
        OPEN(sink); /* handles one, and is Suspended again */
        ck_assert_uint_eq(last_status[2], TR_OK);
        ck_assert_uint_eq(done_count, 3);
    }
    OPEN(sink);
    ck_assert_uint_eq(done_count, 4);
}

TEST(nobody_is_let_in_while_there_is_too_much, "M-02", "B-08")
{
    play_all(play_overdraft);
}

/* ---- Large and small ones. ---- */

TR_ACTOR(scale, load);
TR_BEHAVIOR(scale, void, TR_ON(load, on_load),
            TR_OPTIONS(.mailbox_bytes_max = 4096, .overflow = TR_PARK));
static scale_ref scale;

static tr_next send_loads(tr_self *self, uint32_t from, size_t size, uint32_t count)
{
    static const char data[4096];
    for (uint32_t n = 0; n < count; n++)
        last_status[from] =
            tr_tell(self, scale, load, .from = from, .n = n, .data = {.data = data, .size = size});
    done_count++;
    return TR_SAME;
}

static tr_next send_large(tr_self *self)
{
    return send_loads(self, 1, 1500, 3);
}

static tr_next send_small(tr_self *self)
{
    return send_loads(self, 2, 100, 1);
}

static void play_large_and_small(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &scale, home, scale, NULL), TR_OK);
    tr_kit_settle(kit);
    SHUT(scale);
    TELL_RUN(test, who, send_large);
    tr_kit_advance(kit, TR_SECOND);
    TELL_RUN(test, other_one(), send_small); /* there is room for it, but others came before */
    tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_uint_eq(done_count, 0);
    tr_kit_advance(kit, TR_PARK_NS - TR_SECOND);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_uint_eq(done_count, 2); /* the large one gave up, and so the small one is in */
    ck_assert_int_eq(last_status[1], TR_MAILBOX_FULL);
    ck_assert_int_eq(last_status[2], TR_OK);
    OPEN(scale);
    SEEN("1.0 1.1 2.0 ");
    tr_kill(test, scale);
}

TEST(a_small_one_waits_for_a_large_one_no_longer_than_that, "M-02", "MB-08")
{
    play_all(play_large_and_small);
}

/* ---- A receiver that is still to be set up. ---- */

static tr_next spawn_and_flood(tr_self *self)
{
    sink_ref child = tr_spawn_at(self, home, sink, NULL);
    for (uint32_t n = 0; n < 7; n++) {
        tr_status status = tr_tell(self, child, item, .from = 1, .n = n);
        last_status[1] = status;
        ok_count += status == TR_OK;
    }
    done_count++;
    return TR_SAME;
}

static void play_newborn(void)
{
    TELL_RUN(test, far_one, spawn_and_flood);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_uint_eq(ok_count, 7);
    SEEN("1.0 1.1 1.2 1.3 1.4 1.5 1.6 ");
}

TEST(senders_wait_for_one_that_is_still_to_begin, "M-02", "L-04")
{
    play_all(play_newborn);
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

TEST(who_kills_himself_ends_with_the_stretch, "Y-02")
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

SUITE("park, lives", a_receiver_that_is_killed_lets_nobody_wait,
      nor_one_that_waits_for_its_children, one_that_ends_refuses_at_once,
      one_that_is_suspended_lets_in_as_many_as_it_can, the_bound_may_change_while_senders_wait,
      a_stash_that_comes_back_comes_first, nobody_is_let_in_while_there_is_too_much,
      a_small_one_waits_for_a_large_one_no_longer_than_that,
      an_order_comes_before_the_next_turn_that_goes_on, senders_wait_for_one_that_is_still_to_begin,
      a_sender_that_is_killed_is_cancelled, a_sender_that_is_stopped_finishes_its_turn,
      a_sender_that_is_suspended_keeps_no_room, time_passes_while_suspended,
      who_kills_himself_ends_with_the_stretch, a_turn_that_waited_may_crash,
      what_ends_a_turn_does_not_wait)
