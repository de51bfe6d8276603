/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A shutdown of a system with durable actors: they go to sleep after the actors of the program have
 * stopped, so that what those finish in the time that they have is stored.
 */
#include <stdlib.h>

#include "support/things.h"

enum { SEEDS = TEST_SEEDS(20) };

TR_MESSAGE(finish, (i64, waits_ns));
TR_ACTOR(clerk, finish);

static tr_status clerk_status; /* of what it asked, or of the wake */

static tr_next add(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    state->value += n;
    return TR_SAME;
}

static tr_next on_finish(tr_self *self, const struct finish *message)
{
    const struct acted *acted;
    if (message->waits_ns)
        (void)!tr_sleep(self, message->waits_ns);
    thing_ref thing;
    clerk_status = tr_try_durable(self, &thing, thing, "asked");
    if (clerk_status == TR_OK)
        clerk_status = tr_try_await(
            self,
            tr_ask(self, thing, act, .call = (uint64_t)(uintptr_t)(thing_call *)thing_add, .n = 5),
            &acted);
    return TR_SAME;
}

static bool is_too_late; /* for the clerk, who is killed */

/* The last that an actor does: one durable actor is awake, the other was never. */
static tr_next on_clerk_stop(tr_self *self)
{
    static const char *const keys[] = {"awake", "asleep"};
    for (int i = 0; i < 2 && !is_too_late; i++) {
        thing_ref thing;
        tr_status status = tr_try_durable(self, &thing, thing, keys[i]);
        ck_assert_int_eq(status, TR_OK);
        ck_assert_int_eq(
            tr_tell(self, thing, nudge, .call = (uint64_t)(uintptr_t)(thing_call *)add, .n = 7),
            TR_OK);
    }
    return TR_SAME;
}

TR_BEHAVIOR(clerk, void, TR_ON(finish, on_finish), TR_ON(tr_post_stop, on_clerk_stop));

static char directory[64];

static void begin(uint64_t seed)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-shutdown-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    clerk_status = TR_BAD_DATA;
    things_begin_with((tr_kit_options){
        .seed = seed, .store = directory, .workers = 1 + (int)(seed % 3), .moves = seed % 2});
}

/* Ends the kit, and opens what it has stored. */
static void begin_again(void)
{
    things_on_sleeping = NULL;
    things_end();
    things_begin_with((tr_kit_options){.seed = 1, .store = directory});
}

static void end(void)
{
    char command[128];
    things_end();
    snprintf(command, sizeof command, "rm -r %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static uint64_t live(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.live;
}

TEST(what_an_actor_does_as_it_stops_is_stored, "X-01", "Z-06")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clerk_ref clerk;
        begin(seed);
        ck_assert_int_eq(things_do("awake", thing_add, 1), 1);
        ck_assert_int_eq(tr_try_spawn(test, &clerk, clerk, NULL), TR_OK);
        tr_tell(test, clerk, finish);
        tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
        tr_kit_settle(kit);
        ck_assert_int_eq(clerk_status, TR_OK);
        ck_assert_uint_eq(live(), 0); /* and all of it took no time */
        begin_again();
        ck_assert_int_eq(things_do("asked", thing_add, 0), 5);
        ck_assert_int_eq(things_do("awake", thing_add, 0), 8);
        ck_assert_int_eq(things_do("asleep", thing_add, 0), 7);
        ck_assert_int_eq(things_do("asleep", thing_sleeps, 0), 1);
        end();
    }
}

TEST(a_turn_that_takes_half_of_the_time_can_still_store, "X-01", "Z-06")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clerk_ref clerk;
        begin(seed);
        ck_assert_int_eq(things_do("asked", thing_add, 1), 1);
        ck_assert_int_eq(tr_try_spawn(test, &clerk, clerk, NULL), TR_OK);
        tr_tell(test, clerk, finish, .waits_ns = 5 * TR_SECOND);
        tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
        tr_kit_advance(kit, 4 * TR_SECOND);
        /* From outside nothing is begun any more. */
        thing_ref other;
        ck_assert_int_eq(tr_try_durable(test, &other, thing, "other"), TR_STOPPING);
        tr_kit_advance(kit,
                       TR_SECOND + 10 * TR_MILLISECOND); /* a timeout's report takes a moment */
        ck_assert_int_eq(clerk_status, TR_OK);
        ck_assert_uint_eq(live(), 0);
        begin_again();
        ck_assert_int_eq(things_do("asked", thing_add, 0), 6);
        end();
    }
}

static int rings;

static tr_next ring(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self, (void)state, (void)n;
    rings++;
    return TR_SAME;
}

static tr_next set_alarm(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_alarm_after(self, "ring", n, nudge, .call = (uint64_t)(uintptr_t)(thing_call *)ring, .n = 1);
    return tr_reply(self, acted, .value = state->value);
}

/* It wakes an actor whose alarm is due by then: the alarm is for the next start of the program. */
TEST(a_wake_while_all_stops_fires_no_alarm, "K-04", "X-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clerk_ref clerk;
        rings = 0;
        begin(seed);
        (void)things_do("asked", set_alarm, 2 * TR_MINUTE);
        tr_kit_advance(kit, 2 * TR_MINUTE - TR_SECOND);
        ck_assert_int_eq(tr_try_spawn(test, &clerk, clerk, NULL), TR_OK);
        tr_tell(test, clerk, finish, .waits_ns = 5 * TR_SECOND);
        tr_system_shutdown(tr_kit_system(kit), 20 * TR_SECOND);
        tr_kit_advance(kit, 20 * TR_SECOND);
        ck_assert_int_eq(clerk_status, TR_OK);
        ck_assert_uint_eq(live(), 0);
        ck_assert_int_eq(rings, 0);
        begin_again();
        ck_assert_int_eq(things_do("asked", thing_add, 0), 5);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(rings, 1);
        end();
    }
}

static bool fails_to_wake;

static tr_next wake_or_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    return fails_to_wake ? tr_fail(self, TR_BAD_DATA, "as told") : TR_SAME;
}

/* Its next start is put off when the shutdown begins, and nobody would begin it later. */
TEST(a_key_that_failed_before_the_shutdown_can_still_be_asked, "X-01", "PE-19")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clerk_ref clerk;
        things_on_awake = wake_or_fail;
        fails_to_wake = true;
        begin(seed);
        ck_assert_int_eq(things_try("asked", thing_add, 1, NULL), TR_START_FAILED);
        fails_to_wake = false;
        ck_assert_int_eq(tr_try_spawn(test, &clerk, clerk, NULL), TR_OK);
        tr_tell(test, clerk, finish, .waits_ns = seed % 2 ? TR_SECOND : 0);
        if (seed % 4 < 2)
            tr_kit_settle(kit);
        tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_msg(
            clerk_status == TR_OK, "seed %d: %s", (int)seed, tr_status_name(clerk_status));
        ck_assert_uint_eq(live(), 0);
        things_on_awake = NULL;
        begin_again();
        ck_assert_int_eq(things_do("asked", thing_add, 0), 5);
        end();
    }
}

static tr_time slept_ns;
static tr_status late_wake;

static tr_next note_sleep(tr_self *self, struct thing_state *state, int64_t n)
{
    thing_ref other;
    (void)n;
    slept_ns = tr_now(self);
    state->value += 100;
    late_wake = tr_try_durable(self, &other, thing, "other");
    return TR_SAME;
}

/* One that never ends does not take the time of those that store. */
TEST(durable_actors_have_a_quarter_of_the_time_at_least, "X-01", "X-02", "Z-06")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clerk_ref clerk;
        begin(seed);
        things_on_sleeping = note_sleep;
        ck_assert_int_eq(things_do("awake", thing_add, 1), 1);
        ck_assert_int_eq(tr_try_spawn(test, &clerk, clerk, NULL), TR_OK);
        tr_tell(test, clerk, finish, .waits_ns = TR_HOUR);
        tr_time start = tr_kit_now(kit);
        is_too_late = true;
        slept_ns = 0;
        tr_system_shutdown(tr_kit_system(kit), 8 * TR_SECOND);
        tr_kit_advance(kit, 6 * TR_SECOND - 1);
        ck_assert_int_eq(slept_ns, 0);
        tr_kit_advance(kit, 1);
        ck_assert_int_eq(slept_ns, start + 6 * TR_SECOND);
        ck_assert_int_eq(late_wake, TR_STOPPING); /* of one that wakes another as it falls asleep */
        ck_assert_uint_gt(live(), 0);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_uint_eq(live(), 0);
        begin_again();
        ck_assert_int_eq(things_do("awake", thing_add, 0), 101);
        end();
    }
}

/* Without a deadline, and without any actor of the program. */
TEST(durable_actors_sleep_at_once_when_they_are_alone, "X-01", "Z-06")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        things_on_sleeping = note_sleep;
        ck_assert_int_eq(things_do("awake", thing_add, 1), 1);
        tr_time start = tr_kit_now(kit);
        tr_system_shutdown(tr_kit_system(kit), seed % 2 ? TR_NEVER : TR_HOUR);
        tr_kit_settle(kit);
        ck_assert_int_eq(slept_ns, start);
        ck_assert_uint_eq(live(), 0);
        begin_again();
        ck_assert_int_eq(things_do("awake", thing_add, 0), 101);
        end();
    }
}

/* No time at all: everybody is killed, and nobody hangs. */
TEST(a_shutdown_without_time_ends, "X-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clerk_ref clerk;
        begin(seed);
        ck_assert_int_eq(things_do("awake", thing_add, 1), 1);
        ck_assert_int_eq(tr_try_spawn(test, &clerk, clerk, NULL), TR_OK);
        tr_tell(test, clerk, finish, .waits_ns = TR_HOUR);
        tr_kit_settle(kit);
        is_too_late = true;
        tr_system_shutdown(tr_kit_system(kit), 0);
        tr_kit_advance(kit, 1);
        ck_assert_uint_eq(live(), 0);
        begin_again();
        ck_assert_int_eq(things_do("awake", thing_add, 0), 1);
        end();
    }
}

SUITE("durable shutdown", what_an_actor_does_as_it_stops_is_stored,
      a_turn_that_takes_half_of_the_time_can_still_store, a_wake_while_all_stops_fires_no_alarm,
      a_key_that_failed_before_the_shutdown_can_still_be_asked,
      durable_actors_have_a_quarter_of_the_time_at_least,
      durable_actors_sleep_at_once_when_they_are_alone, a_shutdown_without_time_ends)
