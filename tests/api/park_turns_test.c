/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happens around a turn that waits: timers, the receive timeout, the state, the stash, memory
 * that runs out, and very many of them.
 */
#include "support/parks.h"

#include <stdlib.h>

/* ---- Timers. ---- */

TR_ACTOR(clock, run, item, tick);

struct clock {
    uint32_t ticks;
};

static tr_time zero_ns;
static turn *in_tick;
static clock_ref clock_;

static tr_next on_clock_tick(tr_self *self, struct clock *state)
{
    state->ticks++;
    say("%d:tick", (int)((tr_now(self) - zero_ns) / MS));
    return in_tick ? in_tick(self) : TR_SAME;
}

static tr_next on_clock_item(const struct item *message)
{
    say("item %u", (unsigned)message->n);
    return TR_SAME;
}

static tr_next on_idle(tr_self *self)
{
    say("%d:idle", (int)((tr_now(self) - zero_ns) / MS));
    return TR_SAME;
}

TR_BEHAVIOR(clock, struct clock, TR_ON(run, on_run), TR_ON(item, on_clock_item),
            TR_ON(tick, on_clock_tick), TR_ON(tr_receive_timeout, on_idle),
            TR_ON(tr_post_stop, on_end));

static void clock_begin(int worker)
{
    parks_begin();
    in_tick = NULL;
    ck_assert_int_eq(tr_try_spawn_at(test, &clock_, worker, clock, NULL), TR_OK);
    tr_kit_settle(kit);
    zero_ns = tr_kit_now(kit);
}

/* A case plays with the clock on the worker of the sink and on another. */
static void (*played)(void);
static void play_places(void)
{
    for (int worker = 0; worker <= home; worker += home ? home : 1) {
        clock_begin(worker);
        played();
        tr_kill(test, clock_);
        tr_kill(test, sink);
        tr_kit_settle(kit);
        tr_kit_check(kit);
        (void)said();
    }
}
static void play_all(void (*play)(void))
{
    played = play;
    kits_each(play_places);
}

static void run_in_clock(turn *what)
{
    TELL_RUN(test, clock_, what);
    tr_kit_settle(kit);
    tr_kit_check(kit);
}

static tr_next tick_and_wait(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", 100 * MS, tick, .n = 1);
    for (uint32_t n = 0; n < 4; n++)
        tr_tell(self, sink, item, .n = n);
    say("over");
    return TR_SAME;
}

static void play_timers(void)
{
    SHUT(sink);
    run_in_clock(tick_and_wait);
    tr_tell(test, clock_, item, .n = 5);
    tr_kit_advance(kit, 250 * MS);
    tr_kit_settle(kit);
    SAID("100:tick; 200:tick"); /* the item waits */
    OPEN(sink);
    SAID("over; item 5");
    tr_kit_advance(kit, 100 * MS);
    tr_kit_settle(kit);
    SAID("300:tick");
}

TEST(timers_go_on_and_notices_wait, "M-01", "D-03", "T-01")
{
    play_all(play_timers);
}

static tr_next wait_in_tick(tr_self *self)
{
    in_tick = NULL;
    tr_status status = TR_OK;
    for (uint32_t n = 0; n < 4; n++)
        status = tr_tell(self, sink, item, .from = 1, .n = n);
    say("went on %s", tr_status_name(status));
    return TR_SAME;
}

static tr_next start_tick(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", 100 * MS, tick, .n = 1);
    tr_timer_once(self, "once", 100 * MS, tick, .n = 2);
    return TR_SAME;
}

static tr_next cancel_tick(tr_self *self)
{
    say("%d %d", (int)tr_timer_cancel(self, "tick"), (int)tr_timer_cancel(self, "once"));
    return TR_SAME;
}

static tr_next restart_tick(tr_self *self)
{
    tr_timer_once(self, "tick", 500 * MS, tick, .n = 1);
    tr_timer_once(self, "once", 500 * MS, tick, .n = 1);
    return TR_SAME;
}

/* The turn of a timer's message waits, and another takes the timer back or sets it again. */
static turn *other_turn;
static tr_next run_other_turn(tr_self *self)
{
    in_tick = NULL;
    return other_turn(self);
}

static tr_next start_three(tr_self *self)
{
    start_tick(self);
    tr_timer_once(self, "other", 150 * MS, run, .function = (uint64_t)(uintptr_t)run_other_turn);
    return TR_SAME;
}

static void take_back(turn *other, const char *then)
{
    SHUT(sink);
    in_tick = wait_in_tick;
    other_turn = other;
    run_in_clock(start_three);
    tr_kit_advance(kit, 160 * MS);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    (void)said();
    OPEN(sink);
    tr_kit_advance(kit, 2 * TR_SECOND);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    SAID(then);
}

static void play_cancel(void)
{
    take_back(cancel_tick, "went on TR_OK");
}

static void play_restart(void)
{
    take_back(restart_tick, "went on TR_OK; 650:tick; 650:tick");
}

TEST(a_timer_may_be_taken_back_while_its_turn_waits, "T-01", "M-04", "D-05")
{
    play_all(play_cancel);
    play_all(play_restart);
}

/* ---- The receive timeout. ---- */

static tr_next idle_and_wait(tr_self *self)
{
    tr_set_receive_timeout(self, 100 * MS);
    for (uint32_t n = 0; n < 4; n++)
        tr_tell(self, sink, item, .n = n);
    return TR_SAME;
}

static void play_idle(void)
{
    SHUT(sink);
    run_in_clock(idle_and_wait);
    tr_kit_advance(kit, TR_SECOND);
    SAID("");
    OPEN(sink);
    tr_kit_advance(kit, 99 * MS);
    SAID("");
    tr_kit_advance(kit, 2 * MS);
    tr_kit_settle(kit);
    SAID("1100:idle");
}

static void play_idle_suspended(void)
{
    SHUT(sink);
    run_in_clock(idle_and_wait);
    SHUT(clock_);
    tr_kit_advance(kit, TR_SECOND);
    OPEN(clock_); /* a turn still waits */
    tr_kit_advance(kit, TR_SECOND);
    SAID("");
    OPEN(sink);
    tr_kit_advance(kit, 101 * MS);
    tr_kit_settle(kit);
    SAID("2100:idle");
}

static tr_next idle_in_timer(tr_self *self)
{
    tr_set_receive_timeout(self, 100 * MS);
    return TR_SAME;
}

static tr_next wait_and_set_later(tr_self *self)
{
    tr_timer_once(self, "set", 100 * MS, run, .function = (uint64_t)(uintptr_t)idle_in_timer);
    for (uint32_t n = 0; n < 4; n++)
        tr_tell(self, sink, item, .n = n);
    return TR_SAME;
}

static void play_idle_set(void)
{
    SHUT(sink);
    run_in_clock(wait_and_set_later);
    tr_kit_advance(kit, TR_SECOND);
    SAID("");
    OPEN(sink);
    tr_kit_advance(kit, 101 * MS);
    tr_kit_settle(kit);
    SAID("1100:idle");
}

TEST(the_receive_timeout_is_not_counted_meanwhile, "G-05", "D-05")
{
    play_all(play_idle);
    play_all(play_idle_suspended);
    play_all(play_idle_set);
}

/* ---- The state. ---- */

TR_MESSAGE(change, (u32, to));
TR_ACTOR(shifter, go, change, tick);
TR_BEHAVIOR_DECLARE(shifter_small);
TR_BEHAVIOR_DECLARE(shifter_large);

struct small {
    uint32_t mark;
    uint32_t other;
};
struct large {
    uint32_t marks[64];
};
struct shifter {
    uint32_t mark;
};

static uint32_t shifts;

static tr_next shift(tr_self *self)
{
    shifts++;
    return shifts % 3 == 0   ? tr_become(self, shifter)
           : shifts % 3 == 1 ? tr_become(self, shifter_small)
                             : tr_become(self, shifter_large);
}

static void send_all(tr_self *self, const struct go *message)
{
    for (uint32_t n = 0; n < message->count; n++) {
        last_status[message->id] = tr_tell(self, message->to, item, .from = message->id, .n = n);
        ok_count += last_status[message->id] == TR_OK;
    }
    done_count++;
}

static tr_next shifter_go(tr_self *self, struct shifter *state, const struct go *message)
{
    ck_assert_uint_eq(state->mark, 0);
    state->mark = message->id;
    send_all(self, message);
    ck_assert_uint_eq(state->mark, message->id);
    return TR_SAME;
}
static tr_next small_go(tr_self *self, struct small *state, const struct go *message)
{
    ck_assert_uint_eq(state->mark + state->other, 0);
    state->mark = state->other = message->id;
    send_all(self, message);
    ck_assert_uint_eq(state->mark, message->id);
    ck_assert_uint_eq(state->other, message->id);
    return TR_SAME;
}
static tr_next large_go(tr_self *self, struct large *state, const struct go *message)
{
    for (int i = 0; i < 64; i++) {
        ck_assert_uint_eq(state->marks[i], 0);
        state->marks[i] = message->id;
    }
    send_all(self, message);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(state->marks[i], message->id);
    return TR_SAME;
}

/* From a timer: its turn begins although others wait, sends, and waits as well. */
static uint32_t ticks;
static tr_next shift_on_tick(tr_self *self)
{
    if (++ticks < 9)
        tr_timer_once(self, "go", MS, go, .id = 10 + ticks, .count = 2, .to = tr_any(strait));
    return shift(self);
}
static tr_next shifter_tick(tr_self *self, struct shifter *state)
{
    (void)state;
    return shift_on_tick(self);
}
static tr_next small_tick(tr_self *self, struct small *state)
{
    (void)state;
    return shift_on_tick(self);
}
static tr_next large_tick(tr_self *self, struct large *state)
{
    (void)state;
    return shift_on_tick(self);
}
static tr_next shifter_change(tr_self *self, struct shifter *state)
{
    (void)state;
    tr_timer_fixed_rate(self, "tick", 5 * MS, tick, .n = 1);
    return TR_SAME;
}

TR_BEHAVIOR(shifter, struct shifter, TR_ON(go, shifter_go), TR_ON(tick, shifter_tick),
            TR_ON(change, shifter_change));
TR_BEHAVIOR(shifter_small, struct small, TR_ON(go, small_go), TR_ON(tick, small_tick));
TR_BEHAVIOR(shifter_large, struct large, TR_ON(go, large_go), TR_ON(tick, large_tick));

static void play_states(void)
{
    bool is_killed = kits_seed % 2;
    shifter_ref shifter;
    shifts = 0;
    ticks = 0;
    ck_assert_int_eq(tr_try_spawn_at(test, &shifter, (int)(kits_seed % 2) * home, shifter, NULL),
                     TR_OK);
    SHUT(strait);
    tr_tell(test, shifter, change, .to = 1);
    tr_tell(test, shifter, go, .id = 1, .count = 2, .to = tr_any(strait));
    tr_kit_advance(kit, 100 * MS);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_uint_gt(shifts, 3);
    ck_assert_uint_eq(done_count, 0);
    if (is_killed) {
        tr_kill(test, shifter);
        tr_kit_settle(kit);
        ck_assert_uint_eq(done_count, 9);
    }
    OPEN(strait);
    ck_assert_uint_eq(done_count, 9);
    ck_assert_uint_eq(ok_count, is_killed ? 1 : 18);
    tr_kill(test, shifter);
    tr_kill(test, strait);
    tr_kit_settle(kit);
}

TEST(a_turn_that_waits_keeps_its_state, "B-05", "B-01", "D-05")
{
    play_all(play_states);
}

/* ---- The stash. ---- */

static tr_next unstash_all(tr_self *self)
{
    say("unstash %d", (int)tr_unstash(self, SIZE_MAX));
    return TR_SAME;
}

static tr_next stash_once(tr_self *self)
{
    static uint32_t last;
    (void)self;
    return ++last % 2 ? tr_stash(self) : (say("again"), TR_SAME);
}

static tr_next wait_and_unstash(tr_self *self)
{
    tr_timer_once(self, "un", 100 * MS, run, .function = (uint64_t)(uintptr_t)unstash_all);
    for (uint32_t n = 0; n < 4; n++)
        tr_tell(self, sink, item, .n = n);
    say("over");
    return TR_SAME;
}

static void play_unstash(void)
{
    SHUT(sink);
    run_in_clock(stash_once);
    run_in_clock(wait_and_unstash);
    tr_tell(test, clock_, item, .n = 6);
    tr_kit_advance(kit, 200 * MS);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    SAID("unstash 1"); /* a notice: it does not begin before the turn is over */
    OPEN(sink);
    SAID("over; again; item 6");
}

TEST(what_is_unstashed_waits_too, "B-08", "D-03")
{
    play_all(play_unstash);
}

/* ---- Memory that runs out. ---- */

static bool park_without_memory(uint64_t nth)
{
    uint64_t before = tr_kit_allocations(kit);
    SHUT(sink);
    tr_tell(test, far_one, tick, .n = 1);
    tr_tell(test, near_one, tick, .n = 1);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, nth, kits_seed % 2);
    tr_tell(test, far_one, go, .id = 1, .count = 5, .to = tr_any(sink));
    tr_tell(test, near_one, go, .id = 2, .count = 5, .to = tr_any(sink));
    tr_kit_settle(kit);
    uint64_t used = tr_kit_allocations(kit) - before;
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_check(kit);
    tr_resume(test, sink);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 2 * TR_PARK_NS);
    tr_kit_check(kit);
    ck_assert_uint_eq(seen_count, ok_count);
    return nth <= used;
}

TEST(memory_may_run_out_at_any_point, "M-02", "M-04", "U-02")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= 6; seed++) {
            bool goes_on = true;
            for (uint64_t nth = 1; goes_on; nth++) {
                kit_open(workers, seed);
                parks_begin();
                goes_on = park_without_memory(nth);
                kit_close();
            }
        }
    }
}

/* ---- Very many. ---- */

/* ThreadSanitizer knows 8,128 stacks at most. */
#ifdef __SANITIZE_THREAD__
enum { MANY = 2000 };
#else
enum { MANY = 10000 };
#endif

/* Stacks at most that stay where they are when the others go back: docs/design/stacks.md. */
enum { KEPT = 64 };

TR_ACTOR(drop, go);
TR_BEHAVIOR(drop, void, TR_ON(go, on_go));

/* Memory of this process, in bytes. */
static size_t resident(void)
{
    unsigned long all = 0;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu %lu", &all, &pages), 2);
    fclose(file);
    return pages * 4096;
}

static void wait_many(int workers)
{
    static drop_ref many[MANY];
    kit_open(workers, 1);
    parks_begin();
    for (uint32_t i = 0; i < MANY; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &many[i], 0, drop, NULL), TR_OK);
    tr_kit_settle(kit);
    size_t before = resident();
    for (int round = 0; round < 2; round++) {
        SHUT(strait);
        done_count = 0;
        seen_count = 0;
        ok_count = 0;
        for (uint32_t i = 0; i < MANY; i++)
            tr_tell(test, many[i], go, .id = i % 64, .count = 1, .to = tr_any(strait));
        tr_kit_settle(kit);
        ck_assert_uint_eq(ok_count, 1);
        ck_assert_uint_eq(done_count, 1);
        tr_kit_check(kit);
        if (!TEST_HAS_SANITIZER)
            ck_assert_uint_gt(resident(), before + (size_t)(MANY - KEPT) * 4096);
        if (round) { /* nobody is let in */
            tr_kit_advance(kit, TR_PARK_NS);
            tr_kit_settle(kit);
        }
        OPEN(strait);
        ck_assert_uint_eq(done_count, MANY);
        ck_assert_uint_eq(seen_count, round ? 1 : MANY);
        for (int i = 0; i < 3; i++) { /* what they used goes back */
            tr_kit_advance(kit, 20 * TR_SECOND);
            tr_tell(test, many[0], go, .id = 1, .count = 0, .to = tr_any(strait));
            tr_kit_settle(kit);
        }
        /* Stacks are gone; small blocks the process keeps, but those of the last round serve. */
        if (!TEST_HAS_SANITIZER)
            ck_assert_uint_lt(resident(), before + (round ? 512 : 3 * 1024) * (size_t)MANY);
        before = resident();
    }
    kit_close();
}

TEST(ten_thousand_wait_on_one_worker, "MB-08", "MB-10", "D-05")
{
    wait_many(1);
    wait_many(3);
}

SUITE("park, turns", timers_go_on_and_notices_wait, a_timer_may_be_taken_back_while_its_turn_waits,
      the_receive_timeout_is_not_counted_meanwhile, a_turn_that_waits_keeps_its_state,
      what_is_unstashed_waits_too, memory_may_run_out_at_any_point, ten_thousand_wait_on_one_worker)
