/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several turns of one actor that send to a mailbox with TR_PARK: what one of them is about to send while
 * it waits for capacity is not overtaken by what another sends later, by whatever way and on whatever worker.
 *
 * Each call of tr_tell, tr_ask and tr_forward has a number in its receiver's book. A receiver sees them
 * in this order; those that were refused are left out.
 */
#include "support/kits.h"

enum { SINKS = 3, NOTES_MAX = 1 << 16 };
enum way { BY_TELL, BY_ASK, BY_FORWARD, WAYS };

TR_MESSAGE(item, (u32, sink), (u32, number));
TR_MESSAGE(answer);
TR_REQUEST(question, answer, (u32, sink), (u32, number));
TR_MESSAGE(later, (u64, delay_ns), (u32, sink), (u32, count), (u32, way), (u32, note));
TR_ACTOR(sink, item, question, later);
TR_ACTOR(wide, item, question, later);
TR_ACTOR(source, later);

static tr_ref sinks[SINKS]; /* narrow; wide enough for a stock; narrow and elsewhere */
static source_ref source_one;
static uint32_t sent[SINKS];
static uint32_t seen[SINKS];
static uint32_t seen_count;
static uint32_t statuses[-TR_CANCELLED + 64];
static uint32_t notes[NOTES_MAX]; /* numbers of what was forwarded */

static void see(uint32_t sink, uint32_t number)
{
    ck_assert_msg(number > seen[sink],
                  "home %d, seed %" PRIu64 ": sink %u has %u after %u",
                  home,
                  kits_seed,
                  sink,
                  number,
                  seen[sink]);
    seen[sink] = number;
    seen_count++;
    say("%u.%u", sink, number);
}

static tr_next on_item(const struct item *m)
{
    see(m->sink, m->number);
    return TR_SAME;
}
static tr_next on_question(tr_self *self, const struct question *m)
{
    see(m->sink, m->number);
    return tr_reply(self, answer);
}
static tr_next on_forwarded(const struct later *m)
{
    see(m->sink, notes[m->note]);
    return TR_SAME;
}
TR_BEHAVIOR(sink, void, TR_ON(item, on_item), TR_ON(question, on_question),
            TR_ON(later, on_forwarded), TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));
TR_BEHAVIOR(wide, void, TR_ON(item, on_item), TR_ON(question, on_question),
            TR_ON(later, on_forwarded), TR_OPTIONS(.mailbox_max = 600, .overflow = TR_PARK));

static tr_status send_one(tr_self *self, const struct later *m)
{
    uint32_t number = ++sent[m->sink];
    switch ((enum way)m->way) {
    case BY_TELL:
        return tr_tell(self, sinks[m->sink], item, .sink = m->sink, .number = number);
    case BY_ASK:
        return tr_try_await(
            self, tr_ask(self, sinks[m->sink], question, .sink = m->sink, .number = number), NULL);
    case BY_FORWARD:
    case WAYS:
        break;
    }
    notes[m->note] = number;
    (void)tr_forward(self, sinks[m->sink]);
    return TR_OK;
}

static tr_next on_later(tr_self *self, const struct later *m)
{
    tr_status status = m->delay_ns ? tr_sleep(self, (tr_time)m->delay_ns) : TR_OK;
    for (uint32_t i = 0; i < m->count && status != TR_CANCELLED; i++) {
        status = send_one(self, m);
        statuses[-status]++;
    }
    return TR_SAME;
}
TR_BEHAVIOR(source, void, TR_ON(later, on_later));

static void begin(void)
{
    int far = home;
    memset(sent, 0, sizeof sent);
    memset(seen, 0, sizeof seen);
    memset(statuses, 0, sizeof statuses);
    seen_count = 0;
    sink_ref near_one;
    sink_ref far_one;
    wide_ref wide_one;
    ck_assert_int_eq(tr_try_spawn_at(test, &near_one, 0, sink, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &wide_one, 0, wide, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &far_one, far, sink, NULL), TR_OK);
    sinks[0] = tr_any(near_one);
    sinks[1] = tr_any(wide_one);
    sinks[2] = tr_any(far_one);
    ck_assert_int_eq(tr_try_spawn_at(test, &source_one, 0, source, NULL), TR_OK);
    tr_kit_settle(kit);
}

#define LATER(...) ck_assert_int_eq(tr_tell(test, source_one, later, __VA_ARGS__), TR_OK)

static void shut(tr_ref ref)
{
    ck_assert_int_eq(tr_suspend(test, ref), TR_OK);
    tr_kit_settle(kit);
}
static void open(tr_ref ref)
{
    ck_assert_int_eq(tr_resume(test, ref), TR_OK);
    tr_kit_settle(kit);
}

/* ---- One at a time. ---- */

/* A turn that is over with something else runs before the one to which room was granted. */
static void play_overtake(uint32_t to)
{
    begin();
    shut(sinks[to]);
    LATER(.delay_ns = MS, .sink = to, .count = 1);
    LATER(.sink = to, .count = 3); /* the third waits */
    tr_kit_settle(kit);
    shut(tr_any(source_one));
    tr_kit_advance(kit, 2 * MS);
    open(sinks[to]);
    open(tr_any(source_one));
    ck_assert_uint_eq(seen_count, 4);
    ck_assert_uint_eq(statuses[0], 4);
    (void)said();
}
static void play_overtake_near(void)
{
    play_overtake(0);
}
static void play_overtake_far(void)
{
    play_overtake(2);
}

TEST(a_later_turn_does_not_overtake_one_that_waits_for_room, "M-01", "M-02", "MB-08")
{
    kits_each(play_overtake_near);
    kits_each(play_overtake_far);
}

/* Five turns, each of which waits for the one before it; what each sends next comes behind all. */
static void play_line(void)
{
    for (uint32_t to = 0; to < SINKS; to += 2) {
        begin();
        shut(sinks[to]);
        for (uint64_t i = 1; i <= 5; i++)
            LATER(.delay_ns = i * MS, .sink = to, .count = 2, .way = i % 2 ? BY_TELL : BY_ASK);
        LATER(.sink = to, .count = 3);
        for (int i = 0; i < 10; i++)
            tr_kit_advance(kit, MS);
        ck_assert_uint_eq(sent[to], 8); /* three, and one of each */
        open(sinks[to]);
        tr_kit_advance(kit, MS);
        ck_assert_uint_eq(seen_count, 13);
        ck_assert_uint_eq(statuses[0], 13);
        (void)said();
    }
}

TEST(turns_that_want_the_same_room_go_one_after_another, "M-01", "M-02", "A-01")
{
    kits_each(play_line);
}

static void play_other(void)
{
    begin();
    shut(sinks[0]);
    LATER(.delay_ns = MS, .sink = 2, .count = 1);
    LATER(.delay_ns = MS, .sink = 1, .count = 1);
    LATER(.sink = 0, .count = 3);
    tr_kit_settle(kit);
    (void)said();
    tr_kit_advance(kit, 2 * MS);
    ck_assert_uint_eq(seen[1], 1);
    ck_assert_uint_eq(seen[2], 1);
    open(sinks[0]);
    ck_assert_uint_eq(seen[0], 3);
    (void)said();
}

TEST(who_sends_to_another_does_not_wait_behind_it, "M-02")
{
    kits_each(play_other);
}

/* The first gives up after five seconds; the second came two seconds later and gets the room. */
static void play_timeout(void)
{
    for (uint32_t to = 0; to < SINKS; to += 2) {
        begin();
        shut(sinks[to]);
        LATER(.delay_ns = 2 * TR_SECOND, .sink = to, .count = 1);
        LATER(.delay_ns = TR_SECOND, .sink = to, .count = 1);
        LATER(.sink = to, .count = 3);
        tr_kit_settle(kit);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_uint_eq(sent[to], 5);
        tr_kit_advance(kit, TR_PARK_NS - 2 * TR_SECOND);
        ck_assert_uint_eq(statuses[-TR_MAILBOX_FULL], 1);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_uint_eq(statuses[-TR_MAILBOX_FULL], 2);
        tr_kit_advance(kit, TR_SECOND / 2);
        (void)said();
        open(sinks[to]);
        const char *words = to ? "2.1; 2.2; 2.5" : "0.1; 0.2; 0.5";
        SAID(words);
    }
}

TEST(a_turn_that_gives_up_lets_the_next_one_try, "M-02", "MB-08")
{
    kits_each(play_timeout);
}

/* Those behind give up before the first one, or are cancelled with it. */
static void play_impatient(void)
{
    begin();
    shut(sinks[2]);
    LATER(.delay_ns = MS, .sink = 2, .count = 1, .way = BY_TELL);
    LATER(.delay_ns = 2 * MS, .sink = 2, .count = 1, .way = BY_ASK);
    LATER(.sink = 2, .count = 3);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 5 * MS);
    ck_assert_uint_eq(sent[2], 5);
    tr_kill(test, source_one);
    tr_kit_settle(kit);
    ck_assert_uint_eq(statuses[-TR_CANCELLED], 3);
    (void)said();
    open(sinks[2]);
    SAID("2.1; 2.2");
}

TEST(turns_behind_another_are_cancelled_with_it, "M-02", "B-05")
{
    kits_each(play_impatient);
}

static void play_stop_sink(void)
{
    begin();
    shut(sinks[2]);
    LATER(.delay_ns = MS, .sink = 2, .count = 1);
    LATER(.sink = 2, .count = 3);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 2 * MS);
    tr_kill(test, sinks[2]);
    tr_kit_settle(kit);
    ck_assert_uint_eq(statuses[-TR_STOPPED], 2);
    (void)said();
}

TEST(a_receiver_that_stops_refuses_the_whole_line, "M-02", "MB-08")
{
    kits_each(play_stop_sink);
}

/* ---- Any order of everything. ---- */

static uint64_t random_state;
static uint32_t below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

static void disturb(void)
{
    tr_ref all[] = {sinks[0], sinks[1], sinks[2], tr_any(source_one)};
    tr_ref one = all[below(4)];
    if (below(2))
        ck_assert_int_eq(tr_suspend(test, one), TR_OK);
    else
        ck_assert_int_eq(tr_resume(test, one), TR_OK);
}

static void play_model(int workers, uint64_t seed)
{
    uint32_t note = 0;
    kit_open(workers, seed);
    random_state = seed * 77 + 1;
    begin();
    for (int round = 0; round < 60; round++) {
        uint32_t to = below(SINKS);
        uint32_t way = below(WAYS);
        uint32_t count = to == 1 ? 1 + below(300) : 1 + below(4);
        LATER(.delay_ns = below(3) * (uint64_t)MS,
              .sink = to,
              .count = way == BY_FORWARD ? 1 : count,
              .way = way,
              .note = note++);
        kit_steps(below(40));
        tr_kit_check(kit);
        if (below(3) == 0)
            disturb();
        if (below(2))
            tr_kit_advance(kit, below(4) * MS);
        said_length = 0;
    }
    for (int i = 0; i < SINKS; i++)
        ck_assert_int_eq(tr_resume(test, sinks[i]), TR_OK);
    ck_assert_int_eq(tr_resume(test, source_one), TR_OK);
    for (int i = 0; i < 20; i++) {
        tr_kit_advance(kit, TR_SECOND);
        said_length = 0;
    }
    tr_kit_check(kit);
    kit_close();
}

TEST(turns_in_any_order_keep_that_of_what_they_send, "M-01", "M-02", "MB-08", "A-01")
{
    uint64_t first = test_seed();
    uint64_t count = test_scale(150, 10000);
    for (uint64_t i = 0; i < count; i++)
        play_model(i % 2 ? 3 : 1, first + i);
}

SUITE("park, order", a_later_turn_does_not_overtake_one_that_waits_for_room,
      turns_that_want_the_same_room_go_one_after_another,
      who_sends_to_another_does_not_wait_behind_it, a_turn_that_gives_up_lets_the_next_one_try,
      turns_behind_another_are_cancelled_with_it, a_receiver_that_stops_refuses_the_whole_line,
      turns_in_any_order_keep_that_of_what_they_send)
