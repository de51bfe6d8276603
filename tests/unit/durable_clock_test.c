/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Alarms and a wall clock that is set, in virtual time: what waits for a span keeps its distance when the clock goes
 * back, what has an appointment keeps that, and a clock that goes forward is a long sleep.
 */
#include <stddef.h>
#include <stdlib.h>

#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
#include <troupe/troupe.h>
TR_MESSAGE(ring);
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state);
#include "actor/cell/system.h"
#include "os/virtual.h"
#include "support/things.h"

#define LOOK (10 * TR_SECOND) /* how often the runtime looks at the clock */

static int rings;

static tr_next on_ring(tr_self *self, struct thing_state *state)
{
    (void)self;
    state->other++;
    rings++;
    return TR_SAME;
}

static tr_next set_after(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, "a", n, ring);
    return tr_reply(self, acted, .value = 0);
}

static tr_next set_every(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_every(self, "a", n, ring);
    return tr_reply(self, acted, .value = 0);
}

static tr_next set_at(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_at(self, "a", tr_wall_now(self) + n, ring);
    return tr_reply(self, acted, .value = 0);
}

static void jump(tr_time difference)
{
    const tr_platform *platform = tr_kit_system(kit)->platform;
    struct virtual_platform *virtual = (struct virtual_platform *)((char *)(uintptr_t)platform -
                                                                   offsetof(struct virtual_platform,
                                                                            table));
    tr__virtual_wall_jump(virtual, difference);
}

/* Nothing rings for so long, less a second, and then it does. */
static void expect_ring_after(tr_time ns, tr_time late)
{
    int before = rings;
    tr_kit_advance(kit, ns - TR_SECOND);
    ck_assert_int_eq(rings, before);
    tr_kit_advance(kit, TR_SECOND + late);
    ck_assert_int_eq(rings, before + 1);
}

TEST(an_alarm_after_keeps_its_distance_when_the_clock_is_set_back, "K-04", "AL-06")
{
    static const tr_time back[] = {2 * TR_SECOND, TR_MINUTE, TR_HOUR, 100 * 24 * TR_HOUR};
    for (int i = 0; i < 8; i++) {
        bool is_awake = i % 2;
        things_begin(1 + (uint64_t)i);
        things_do("a", set_after, 2 * TR_HOUR);
        tr_time passed = is_awake ? TR_SECOND : TR_HOUR;
        tr_kit_advance(kit, passed);
        ck_assert_int_eq(tr_find(test, thing, "/system/durable/thing/a").bits != 0, is_awake);
        jump(-back[i / 2]);
        expect_ring_after(2 * TR_HOUR - passed, 3 * TR_SECOND);
        tr_kit_advance(kit, 3 * TR_HOUR);
        ck_assert_int_eq(rings, 1); /* and not again */
        rings = 0;
        things_end();
    }
}

TEST(several_jumps_and_one_that_is_taken_back_change_nothing, "K-04")
{
    things_begin(1);
    things_do("a", set_after, 5 * TR_HOUR);
    tr_kit_advance(kit, TR_HOUR);
    jump(TR_HOUR); /* which is not enough for it */
    tr_kit_advance(kit, TR_MINUTE);
    jump(-TR_HOUR);
    tr_kit_advance(kit, TR_HOUR - TR_MINUTE);
    jump(-TR_HOUR);
    tr_kit_advance(kit, TR_HOUR);
    jump(-3 * TR_HOUR);
    expect_ring_after(2 * TR_HOUR, TR_SECOND);
    things_end();
}

TEST(a_clock_set_forward_is_a_long_sleep, "K-04", "AL-03")
{
    things_begin(1);
    things_do("a", set_after, 2 * TR_HOUR);
    tr_kit_advance(kit, TR_MINUTE);
    jump(3 * TR_HOUR);
    tr_kit_advance(kit, LOOK + TR_SECOND);
    ck_assert_int_eq(rings, 1);
    things_do("b", set_every, TR_HOUR);
    jump(10 * TR_HOUR);
    tr_kit_advance(kit, LOOK + TR_SECOND);
    ck_assert_int_eq(rings, 2);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 3);
    things_end();
}

TEST(every_waits_at_most_its_period_when_the_clock_is_set_back, "K-04")
{
    things_begin(1);
    things_do("a", set_every, TR_HOUR);
    tr_kit_advance(kit, 90 * TR_MINUTE);
    ck_assert_int_eq(rings, 1);
    jump(-(10 * TR_HOUR));
    /* It stays on its grid, which is of full hours here. */
    expect_ring_after(30 * TR_MINUTE, LOOK + TR_SECOND);
    tr_kit_advance(kit, 5 * TR_HOUR);
    ck_assert_int_eq(rings, 7);
    things_end();
}

TEST(an_appointment_waits_for_its_time, "K-04")
{
    things_begin(1);
    things_do("a", set_at, 2 * TR_HOUR);
    tr_kit_advance(kit, TR_HOUR);
    jump(-10 * TR_HOUR);
    expect_ring_after(11 * TR_HOUR, TR_SECOND);
    things_end();
}

/* The clock of the second kit is as far back as that of the first was ahead. */
TEST(a_clock_set_back_while_nobody_ran_makes_nobody_wait_for_longer, "K-04")
{
    char directory[] = "/tmp/troupe-clock-XXXXXX";
    char command[100];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    things_begin_with((tr_kit_options){.seed = 1, .store = directory});
    tr_time start_ns = tr_kit_wall_now(kit);
    jump(100 * TR_HOUR);
    things_do("a", set_after, 2 * TR_HOUR);
    things_end();
    things_begin_with((tr_kit_options){.seed = 1, .store = directory, .wall_ns = start_ns});
    tr_kit_advance(kit, 2 * TR_HOUR + LOOK);
    ck_assert_int_eq(rings, 1);
    things_end();
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

TEST(a_crowd_of_sleepers_keeps_its_distance, "K-04", "AL-13")
{
    enum { CROWD = TEST_SEEDS(1500) };
    things_begin_with((tr_kit_options){.seed = 1, .workers = 2, .awake_max = 50});
    for (int i = 0; i < CROWD; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        things_do(key, set_after, TR_HOUR);
    }
    tr_kit_advance(kit, 30 * TR_MINUTE);
    jump(-10 * TR_HOUR);
    tr_kit_advance(kit, 25 * TR_MINUTE);
    ck_assert_int_eq(rings, 0);
    tr_kit_advance(kit, 6 * TR_MINUTE);
    ck_assert_int_eq(rings, CROWD);
    things_end();
}

SUITE("durable clock", an_alarm_after_keeps_its_distance_when_the_clock_is_set_back,
      several_jumps_and_one_that_is_taken_back_change_nothing, a_clock_set_forward_is_a_long_sleep,
      every_waits_at_most_its_period_when_the_clock_is_set_back, an_appointment_waits_for_its_time,
      a_clock_set_back_while_nobody_ran_makes_nobody_wait_for_longer,
      a_crowd_of_sleepers_keeps_its_distance)
