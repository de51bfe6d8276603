/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happens to those who wait for capacity when the receiver ends, is Suspended, becomes another or
 * has not even begun.
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
    ck_assert_uint_ge(ok_count, 4); /* two wait, or one, and two from the stash, */
    ck_assert_uint_le(ok_count, 5); /* and nobody else is let in */
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
    TELL_RUN(test, other_one(), send_small); /* there is capacity for it, but others came before */
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

/* One that was let in finds it sealed: what it was granted goes back, while the mail before is left. */
static tr_next seal_at_two(tr_self *self)
{
    if (seen_count == 2)
        tr_stop(self, sink);
    return TR_SAME;
}

static int sealed_count; /* plays in which somebody had been let in */

static void play_sealed(void)
{
    parks_begin();
    SHUT(sink);
    for (uint32_t n = 0; n < 3; n++)
        ck_assert_int_eq(tr_tell(test, sink, item, .from = 8, .n = n), TR_OK);
    let_send(near_one, 1, 1, tr_any(sink));
    let_send(far_one, 2, 1, tr_any(sink));
    in_item = seal_at_two;
    ck_assert_int_eq(tr_resume(test, sink), TR_OK);
    while (tr_kit_step(kit))
        tr_kit_check(kit);
    ck_assert_uint_eq(done_count, 2);
    ck_assert_uint_eq(seen_count, 3 + ok_count);
    for (int i = 1; i <= 2; i++)
        ck_assert(last_status[i] == TR_OK || last_status[i] == TR_STOPPED);
    sealed_count += last_status[1] == TR_STOPPED;
}

TEST(who_is_let_in_too_late_leaves_the_books_in_order, "M-02", "MB-07")
{
    kits_each(play_sealed);
    ck_assert_int_gt(sealed_count, 0);
}

SUITE("park, receivers", a_receiver_that_is_killed_lets_nobody_wait,
      nor_one_that_waits_for_its_children, one_that_ends_refuses_at_once,
      one_that_is_suspended_lets_in_as_many_as_it_can, the_bound_may_change_while_senders_wait,
      a_stash_that_comes_back_comes_first, nobody_is_let_in_while_there_is_too_much,
      a_small_one_waits_for_a_large_one_no_longer_than_that,
      senders_wait_for_one_that_is_still_to_begin, who_is_let_in_too_late_leaves_the_books_in_order)
