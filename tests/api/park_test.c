/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Senders that wait for capacity (TR_PARK): they are let in one after another, once each, at most five
 * seconds later; and where waiting would be in vain they hear so at once.
 */
#include "support/parks.h"

#include <stdlib.h>

enum { CROWD = 6 };

/* ---- Waiting. ---- */

static void wait_and_go_on(source_ref source)
{
    SHUT(sink);
    let_send(source, 1, 10, tr_any(sink));
    ck_assert_uint_eq(ok_count, 3);
    ck_assert_uint_eq(done_count, 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_settle(kit), 0); /* nobody polls */
    OPEN(sink);
    ck_assert_uint_eq(ok_count, 10);
    ck_assert_uint_eq(done_count, 1); /* the turn continued, and to its end, once */
    SEEN("1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 ");
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 0);
}

static void play_near(void)
{
    parks_begin();
    wait_and_go_on(near_one);
}

static void play_far(void)
{
    parks_begin();
    wait_and_go_on(far_one);
}

TEST(a_sender_waits_and_goes_on_once, "MB-08", "M-02", "D-05")
{
    kits_each(play_near);
    kits_each(play_far);
}

static void crowd_begin(source_ref *crowd)
{
    parks_begin();
    for (uint32_t i = 0; i < CROWD; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &crowd[i], home ? (int)(i % 3) : 0, source, NULL),
                         TR_OK);
    tr_kit_settle(kit);
}

static void play_crowd(void)
{
    source_ref crowd[CROWD];
    crowd_begin(crowd);
    SHUT(strait);
    for (uint32_t i = 0; i < CROWD; i++)
        let_send(crowd[i], i, 2, tr_any(strait));
    ck_assert_uint_eq(ok_count, 1);
    OPEN(strait);
    /* In the order of asking; source 0 asked for its second before the others came. */
    SEEN("0.0 0.1 1.0 2.0 3.0 4.0 5.0 1.1 2.1 3.1 4.1 5.1 ");
    ck_assert_uint_eq(done_count, CROWD);
}

TEST(those_who_wait_are_let_in_in_the_order_of_coming, "MB-08", "M-02")
{
    kits_each(play_crowd);
}

/* Who comes while room is on its way to another does not take it. */
static void play_newcomers(void)
{
    source_ref crowd[CROWD];
    crowd_begin(crowd);
    SHUT(strait);
    for (uint32_t i = 0; i < 3; i++)
        let_send(crowd[i], i, 1, tr_any(strait));
    ck_assert_int_eq(tr_resume(test, strait), TR_OK);
    for (uint32_t i = 3; i < CROWD; i++) {
        tr_kit_step(kit);
        ck_assert_int_eq(tr_tell(test, crowd[i], go, .id = i, .count = 1, .to = tr_any(strait)),
                         TR_OK);
        tr_kit_check(kit);
    }
    while (tr_kit_step(kit))
        tr_kit_check(kit);
    ck_assert_uint_eq(seen_count, CROWD);
    ck_assert_int_eq(strncmp(seen, "0.0 1.0 2.0 ", 12), 0);
}

TEST(nobody_overtakes_those_who_wait, "MB-08", "M-02")
{
    kits_each(play_newcomers);
}

static tr_next answer(tr_self *self)
{
    (void)self;
    say("here");
    return TR_SAME;
}

/* Nor the actors of the worker: also a sink that waits does not hold its thread. */
static void play_worker(void)
{
    source_ref other;
    parks_begin();
    ck_assert_int_eq(tr_try_spawn_at(test, &other, home, source, NULL), TR_OK);
    SHUT(sink);
    let_send(near_one, 1, 4, tr_any(sink));
    ck_assert_uint_eq(done_count, 0);
    TELL_RUN(test, other, answer);
    tr_kit_settle(kit);
    SAID("here");
    TELL_RUN(test, near_one, answer); /* a barrier: not before its turn is over */
    tr_kit_settle(kit);
    SAID("");
    OPEN(sink);
    SAID("here");
}

TEST(a_sender_that_waits_does_not_hold_its_worker, "MB-10", "D-03")
{
    kits_each(play_worker);
}

/* ---- At most five seconds. ---- */

static void time_out(source_ref source, size_t refusals)
{
    SHUT(sink);
    let_send(source, 1, 4, tr_any(sink));
    tr_kit_advance(kit, TR_PARK_NS - MS);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 0);
    tr_kit_advance(kit, MS);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(last_status[1], TR_MAILBOX_FULL);
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), refusals + 1);
    OPEN(sink);
    SEEN("1.0 1.1 1.2 ");
    let_send(source, 1, 5, tr_any(sink)); /* as if nothing had been */
    ck_assert_uint_eq(done_count, 2);
    SEEN("1.0 1.1 1.2 1.3 1.4 ");
}

static void play_time_out(void)
{
    parks_begin();
    time_out(near_one, 0);
    parks_begin();
    time_out(far_one, 1);
}

TEST(after_five_seconds_the_mailbox_is_full, "M-02", "M-04")
{
    kits_each(play_time_out);
}

static void play_ghost(void)
{
    /* One that wants much has given up: who wants little need not wait for as much. */
    source_ref crowd[CROWD];
    crowd_begin(crowd);
    SHUT(strait);
    for (uint32_t i = 0; i < 3; i++)
        let_send(crowd[i], i, 1, tr_any(strait));
    tr_kit_advance(kit, TR_PARK_NS);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 3);
    ck_assert_uint_eq(ok_count, 1);
    for (uint32_t i = 3; i < CROWD; i++)
        let_send(crowd[i], i, 1, tr_any(strait));
    OPEN(strait);
    SEEN("0.0 3.0 4.0 5.0 ");
    ck_assert_uint_eq(ok_count, 4);
}

TEST(who_gave_up_is_in_nobodys_way, "M-02", "MB-08")
{
    kits_each(play_ghost);
}

static tr_next send_after_a_long_time(tr_self *self);
static struct hand hand;
static sink_ref hand_sink;
static tr_status hand_status;
static bool hand_is_over;

static tr_next send_after_a_long_time(tr_self *self)
{
    hand.mono_ns += 6 * TR_SECOND; /* what this turn took so far */
    hand_status = tr_tell(self, hand_sink, item, .n = 4);
    hand_is_over = true;
    return TR_SAME;
}

TEST(the_five_seconds_begin_with_the_wait, "M-02")
{
    source_ref source;
    hand_open(&hand);
    ck_assert_int_eq(tr_try_spawn(hand.client, &hand_sink, sink, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(hand.client, &source, source, NULL), TR_OK);
    hand_run(&hand);
    tr_suspend(hand.client, hand_sink);
    hand_run(&hand);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(tr_tell(hand.client, hand_sink, item, .n = i), TR_OK);
    TELL_RUN(hand.client, source, send_after_a_long_time);
    hand_run(&hand);
    hand_leap(&hand, 4 * TR_SECOND);
    ck_assert(!hand_is_over);
    ck_assert_int_gt(tr_system_timeout(hand.system), 0);
    ck_assert_int_le(tr_system_timeout(hand.system), TR_SECOND); /* who embeds it must know */
    hand_leap(&hand, 2 * TR_SECOND);
    ck_assert(hand_is_over);
    ck_assert_int_eq(hand_status, TR_MAILBOX_FULL);
    hand_close(&hand);
}

/* ---- Where waiting would be in vain. ---- */

TR_MESSAGE(begin_with, (ref, to));
TR_ACTOR(early, run, item);

static struct {
    tr_status setup;
    tr_status pre_start;
    tr_status post_stop;
} early_status;
static tr_ref early_to;

static tr_status fill_up(tr_self *self, tr_ref to)
{
    tr_status status = TR_OK;
    for (uint32_t n = 0; n < 8 && status == TR_OK; n++)
        status = tr_tell(self, to, item, .n = n);
    return status;
}

static tr_next set_up_early(tr_self *self, const struct begin_with *message)
{
    early_to = message->to;
    early_status.setup = fill_up(self, early_to);
    return TR_SAME;
}

static tr_next on_pre_start(tr_self *self)
{
    early_status.pre_start = fill_up(self, early_to);
    return TR_SAME;
}

static tr_next on_post_stop(tr_self *self)
{
    early_status.post_stop = fill_up(self, early_to);
    return TR_SAME;
}

TR_BEHAVIOR(early, void, TR_SETUP_WITH(begin_with, set_up_early), TR_ON(tr_pre_start, on_pre_start),
            TR_ON(tr_post_stop, on_post_stop));

static void play_early(void)
{
    for (int where = 0; where <= home; where += home ? home : 1) {
        early_ref early;
        parks_begin();
        memset(&early_status, 0, sizeof early_status);
        SHUT(sink);
        ck_assert_int_eq(
            tr_try_spawn_at(test, &early, where, early, NULL, begin_with, .to = tr_any(sink)),
            TR_OK);
        tr_kit_settle(kit);
        ck_assert_int_eq(early_status.setup, TR_MAILBOX_FULL);
        ck_assert_int_eq(early_status.pre_start, TR_MAILBOX_FULL);
        tr_stop(test, early);
        tr_kit_settle(kit);
        ck_assert_int_eq(early_status.post_stop, TR_MAILBOX_FULL);
        ck_assert_int_eq(dead_letters(TR_MAILBOX_FULL) > 0, true);
        OPEN(sink);
    }
}

TEST(signals_and_set_ups_do_not_wait, "M-02")
{
    kits_each(play_early);
}

static tr_next fill_oneself(tr_self *self)
{
    say("%s", tr_status_name(fill_up(self, tr_me(self))));
    return TR_SAME;
}

static void play_oneself(void)
{
    parks_begin();
    TELL_RUN(test, sink, fill_oneself);
    tr_kit_settle(kit);
    SAID("TR_MAILBOX_FULL");
    SEEN("0.0 0.1 0.2 ");
}

TEST(nobody_waits_for_himself, "M-02")
{
    kits_each(play_oneself);
}

/* ---- Rings. ---- */

TR_ACTOR(link, run, go, item);
TR_BEHAVIOR(link, void, TR_ON(go, on_go), TR_ON(item, on_item), TR_ON(run, on_run),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));

/*
 * A ring whose links send to the next one; each mailbox is full of what the one before has sent, so
 * the last to wait closes it.
 */
static void ring_of(uint32_t size, bool is_spread)
{
    link_ref ring[3];
    parks_begin();
    for (uint32_t i = 0; i < size; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(test, &ring[i], is_spread && home ? (int)i : home, link, NULL), TR_OK);
    tr_kit_settle(kit);
    for (uint32_t i = 0; i < size; i++)
        ck_assert_int_eq(
            tr_tell(test, ring[i], go, .id = i, .count = 5, .to = tr_any(ring[(i + 1) % size])),
            TR_OK);
    tr_kit_settle(kit); /* the clock stands still: it ends by itself, or not at all */
    ck_assert_uint_eq(done_count, size);
    tr_kit_check(kit);
    ck_assert_uint_eq(seen_count, ok_count);
    ck_assert_uint_gt(ok_count, 0);
}

static void play_rings(void)
{
    for (uint32_t size = 2; size <= 3; size++) {
        ring_of(size, false);
        ring_of(size, true);
    }
}

TEST(a_ring_of_those_who_wait_is_broken_at_once, "MB-09", "M-02")
{
    kits_each(play_rings);
}

/* Two that send to each other, and whose turns always find capacity in time: there is no ring. */
static void play_no_ring(void)
{
    source_ref other;
    parks_begin();
    ck_assert_int_eq(tr_try_spawn_at(test, &other, 0, source, NULL), TR_OK);
    tr_kit_settle(kit);
    SHUT(sink);
    let_send(near_one, 1, 5, tr_any(sink));
    let_send(far_one, 2, 5, tr_any(sink));
    let_send(other, 3, 5, tr_any(sink));
    OPEN(sink);
    ck_assert_uint_eq(ok_count, 15);
    ck_assert_uint_eq(seen_count, 15);
}

TEST(several_who_wait_for_one_are_no_ring, "MB-09")
{
    kits_each(play_no_ring);
}

/* The sink has let the source in, which is about to continue, and waits for it: no ring either. */
static link_ref pair[2];
static tr_status pair_status;

static tr_next send_back(tr_self *self)
{
    for (uint32_t n = 0; n < 3; n++) {
        tr_status status = tr_tell(self, pair[0], item, .from = 9, .n = n);
        if (status != TR_OK)
            pair_status = status;
    }
    return TR_SAME;
}

static void play_woken(void)
{
    parks_begin();
    pair_status = TR_OK;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &pair[i], home, link, NULL), TR_OK);
    tr_kit_settle(kit);
    /* 0 waits for 1, in whose mailbox are an item, and a turn that sends to 0. */
    SHUT(pair[1]);
    tr_tell(test, pair[1], item, .from = 8, .n = 0);
    TELL_RUN(test, pair[1], send_back);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, pair[0], go, .id = 1, .count = 1, .to = tr_any(pair[1])), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 0);
    tr_tell(test, pair[0], item, .from = 7, .n = 0);
    tr_tell(test, pair[0], item, .from = 7, .n = 1);
    tr_kit_settle(kit);
    OPEN(pair[1]);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(last_status[1], TR_OK);
    ck_assert_int_eq(pair_status, TR_OK);
}

TEST(who_was_let_in_is_in_no_ring, "MB-09")
{
    kits_each(play_woken);
}

/* ---- Memory. ---- */

TR_ACTOR(scale, run, load);
TR_BEHAVIOR(scale, void, TR_ON(run, on_run), TR_ON(load, on_load),
            TR_OPTIONS(.mailbox_bytes_max = 4096, .overflow = TR_PARK));
static scale_ref scale;
static size_t load_sizes[4];
static tr_status load_status[4];

static tr_next send_loads(tr_self *self)
{
    static const char data[8192];
    for (uint32_t i = 0; i < 4; i++)
        load_status[i] =
            tr_tell(self, scale, load, .n = i, .data = {.data = data, .size = load_sizes[i]});
    done_count++;
    return TR_SAME;
}

static void play_loads(void)
{
    for (int i = 0; i < 2; i++) {
        parks_begin();
        ck_assert_int_eq(tr_try_spawn_at(test, &scale, home, scale, NULL), TR_OK);
        tr_kit_settle(kit);
        SHUT(scale);
        memcpy(load_sizes, (size_t[]){1500, 1500, 1500, 6000}, sizeof load_sizes);
        TELL_RUN(test, i ? near_one : far_one, send_loads);
        tr_kit_settle(kit);
        tr_kit_check(kit);
        ck_assert_uint_eq(done_count, 0);
        OPEN(scale);
        ck_assert_uint_eq(done_count, 1);
        for (int j = 0; j < 3; j++)
            ck_assert_int_eq(load_status[j], TR_OK);
        ck_assert_int_eq(load_status[3], TR_MAILBOX_FULL); /* at once: there will never be room */
        SEEN("0.0 0.1 0.2 ");
    }
}

TEST(the_memory_of_messages_is_bounded_too, "M-02", "MB-08")
{
    kits_each(play_loads);
}

/* ---- Clients. ---- */

static tr_next open_it(tr_self *self)
{
    tr_resume(self, sink);
    return TR_SAME;
}

static tr_next open_later(tr_self *self)
{
    tr_timer_once(self, "open", TR_SECOND, run, .function = (uint64_t)(uintptr_t)open_it);
    return TR_SAME;
}

static void play_client(void)
{
    parks_begin();
    SHUT(sink);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(tr_tell(test, sink, item, .n = i), TR_OK);
    tr_time begin_ns = tr_kit_now(kit);
    ck_assert_int_eq(tr_tell(test, sink, item, .n = 3), TR_MAILBOX_FULL);
    ck_assert_int_eq(tr_kit_now(kit) - begin_ns, TR_PARK_NS);
    tr_kit_check(kit);
    TELL_RUN(test, far_one, open_later);
    tr_kit_settle(kit);
    begin_ns = tr_kit_now(kit);
    ck_assert_int_eq(tr_tell(test, sink, item, .n = 4), TR_OK);
    ck_assert_int_eq(tr_kit_now(kit) - begin_ns, TR_SECOND);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    SEEN("0.0 0.1 0.2 0.4 ");
}

TEST(a_client_waits_too, "M-02", "MB-08")
{
    kits_each(play_client);
}

/* A client that gave up, and does nothing since, keeps no capacity. */
static void play_client_ghost(void)
{
    tr_client *other;
    parks_begin();
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &other), TR_OK);
    SHUT(strait);
    ck_assert_int_eq(tr_tell(test, strait, item, .n = 0), TR_OK);
    ck_assert_int_eq(tr_tell(other, strait, item, .n = 1), TR_MAILBOX_FULL);
    OPEN(strait);
    let_send(near_one, 1, 3, tr_any(strait));
    let_send(far_one, 2, 3, tr_any(strait));
    SEEN("0.0 1.0 1.1 1.2 2.0 2.1 2.2 ");
    tr_client_free(other);
}

TEST(a_client_that_gave_up_keeps_no_room, "M-02", "MB-08")
{
    kits_each(play_client_ghost);
}

SUITE("park", a_sender_waits_and_goes_on_once, those_who_wait_are_let_in_in_the_order_of_coming,
      nobody_overtakes_those_who_wait, a_sender_that_waits_does_not_hold_its_worker,
      after_five_seconds_the_mailbox_is_full, who_gave_up_is_in_nobodys_way,
      the_five_seconds_begin_with_the_wait, signals_and_set_ups_do_not_wait,
      nobody_waits_for_himself, a_ring_of_those_who_wait_is_broken_at_once,
      several_who_wait_for_one_are_no_ring, who_was_let_in_is_in_no_ring,
      the_memory_of_messages_is_bounded_too, a_client_waits_too,
      a_client_that_gave_up_keeps_no_room)
