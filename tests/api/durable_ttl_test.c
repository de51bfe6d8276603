/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time to live: an actor that nobody uses is destroyed, asleep or awake, in this process or the next, and no other is.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <troupe/troupe.h>

TR_MESSAGE(ring);
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
/* Minutes, because the clock of a kit ticks each ten seconds. */
#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND, .ttl_ns = 16 * TR_MINUTE
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state);
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

static int rings;
static int destroyed;
static int64_t last_value; /* of an actor that was destroyed */

static tr_next on_ring(tr_self *self, struct thing_state *state)
{
    (void)self;
    rings++;
    state->other++;
    return TR_SAME;
}

static tr_next note_destroyed(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self, (void)n;
    destroyed++;
    last_value = state->value;
    return TR_SAME;
}

static tr_next look(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->value);
}

static void begin_with(tr_kit_options options)
{
    rings = destroyed = 0;
    last_value = -1;
    things_on_destroying = note_destroyed;
    things_begin_with(options);
}

static bool exists(const char *key)
{
    tr_status status = tr_durable_exists(test, thing, key);
    ck_assert(status == TR_OK || status == TR_NOT_FOUND);
    return status == TR_OK;
}

TEST(an_actor_that_nobody_uses_is_destroyed, "K-15")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin_with((tr_kit_options){.seed = seed});
        things_do("a", thing_add, 7);
        tr_kit_advance(kit, 16 * TR_MINUTE - TR_SECOND);
        ck_assert(exists("a"));
        tr_kit_advance(kit, TR_MINUTE + 30 * TR_SECOND);
        ck_assert(!exists("a"));
        ck_assert_int_eq(destroyed, 1);
        ck_assert_int_eq(last_value, 7);
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        tr_kit_advance(kit, 40 * TR_MINUTE);
        ck_assert_int_eq(destroyed, 2);
        things_end();
    }
}

/* Also a message that stores nothing is a use. */
TEST(an_actor_that_is_used_lives, "K-15")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin_with((tr_kit_options){.seed = seed});
        things_do("a", thing_add, 7);
        for (int i = 0; i < 20; i++) {
            tr_kit_advance(kit, (tr_time)(i % 2 ? 15 : 1) * TR_MINUTE + 59 * TR_SECOND);
            ck_assert_int_eq(things_do("a", look, 0), 7);
        }
        ck_assert_int_eq(destroyed, 0);
        tr_kit_advance(kit, 16 * TR_MINUTE - TR_SECOND);
        ck_assert(exists("a"));
        tr_kit_advance(kit, TR_MINUTE + 30 * TR_SECOND);
        ck_assert(!exists("a"));
        ck_assert_int_eq(destroyed, 1);
        things_end();
    }
}

static tr_next set_alarm(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_alarm_every(self, "ring", n, ring);
    return tr_reply(self, acted, .value = state->value);
}

TEST(its_own_alarms_are_no_use, "K-15", "K-04")
{
    begin_with((tr_kit_options){.seed = 1});
    things_do("a", set_alarm, TR_MINUTE);
    tr_kit_advance(kit, 18 * TR_MINUTE);
    ck_assert_int_ge(rings, 15);
    ck_assert_int_eq(destroyed, 1);
    int before = rings;
    tr_kit_advance(kit, 5 * TR_MINUTE);
    ck_assert_int_eq(rings, before);
    things_end();
}

static tr_next wait_long(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)!tr_sleep(self, n);
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_request_under_way_is_a_use, "K-15")
{
    for (int is_aside = 0; is_aside < 2; is_aside++) {
        begin_with((tr_kit_options){.seed = 1});
        const struct acted *acted;
        things_do("a", thing_add, 7);
        uint64_t call = (uint64_t)(uintptr_t)wait_long;
        tr_time wait_ns = 40 * TR_MINUTE;
        tr_pending ask;
        if (is_aside)
            ask = tr_ask_within(
                      test, 100 * TR_MINUTE, things_of("a"), act_aside, .call = call, .n = wait_ns)
                      .any;
        else
            ask = tr_ask_within(
                      test, 100 * TR_MINUTE, things_of("a"), act, .call = call, .n = wait_ns)
                      .any;
        tr_kit_advance(kit, 39 * TR_MINUTE);
        ck_assert_int_eq(destroyed, 0);
        ck_assert_int_eq(tr_client_try_await(test, ask, (const void **)&acted), TR_OK);
        ck_assert_int_eq(acted->value, 7);
        tr_kit_advance(kit, 15 * TR_MINUTE);
        ck_assert_int_eq(destroyed, 0);
        tr_kit_advance(kit, 4 * TR_MINUTE);
        ck_assert_int_eq(destroyed, 1);
        things_end();
    }
}

/* A write for each message would be a commit where there was none. */
TEST(uses_are_stored_seldom, "K-15")
{
    begin_with((tr_kit_options){.seed = 1});
    things_do("a", thing_add, 7);
    tr_kit_advance(kit, TR_SECOND);
    things_do("a", look, 0);
    tr_why_report report;
    thing_ref ref = things_of("a");
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(things_send(ref, look, 0), TR_OK);
        while (tr_kit_step(kit)) {
            ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
            for (size_t j = 0; j < report.count; j++)
                ck_assert_int_ne(report.reasons[j].kind, TR_WHY_STORING);
        }
    }
    things_end();
}

static tr_next take_reserved_name(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    const tr_alarm alarm = {.name = "\001ttl", .kind = TR_ALARM_AFTER, .ns = TR_SECOND};
    const struct ring message = {0};
    tr_status status = tr_self_try_alarm(self, &alarm, &tr_type_ring, &message);
    return tr_reply(self, acted, .value = status);
}

static tr_next set_many_alarms(tr_self *self, struct thing_state *state, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        tr_alarm_after(self, tr_format(self, "%d", (int)i), 1000 * TR_MINUTE, ring);
    return tr_reply(self, acted, .value = state->value);
}

TEST(the_alarm_of_the_runtime_is_not_one_of_the_application, "K-15", "K-04")
{
    begin_with((tr_kit_options){.seed = 1});
    ck_assert_int_eq(things_do("a", take_reserved_name, 7), TR_INVALID_ARGUMENT);
    (void)things_do("a", set_many_alarms, TR_ALARMS_MAX);
    tr_kit_advance(kit, 18 * TR_MINUTE);
    ck_assert_int_eq(destroyed, 1);
    things_end();
}

/* ---- Other processes. ---- */

static char directory[64];

static tr_status run_apart(void (*play)(void))
{
    pid_t child = fork();
    if (child == 0) {
        play();
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    return TR_OK;
}

static void play_first(void)
{
    begin_with((tr_kit_options){.seed = 1, .store = directory});
    things_do("a", thing_add, 7);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    things_do("b", thing_add, 8);
}

TEST(the_time_continues_in_the_next_process, "K-15", "K-09")
{
    snprintf(directory, sizeof directory, "/tmp/troupe-ttl-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    run_apart(play_first);
    /* A kit's wall clock continues where that of the first process ended: ten minutes after "a" was used. */
    begin_with((tr_kit_options){.seed = 1, .store = directory});
    ck_assert(exists("a") && exists("b"));
    tr_kit_advance(kit, 8 * TR_MINUTE);
    ck_assert(!exists("a") && exists("b"));
    ck_assert_int_eq(destroyed, 1);
    ck_assert_int_eq(last_value, 7);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    ck_assert(!exists("b"));
    ck_assert_int_eq(last_value, 8);
    things_end();
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable ttl", an_actor_that_nobody_uses_is_destroyed, an_actor_that_is_used_lives,
      its_own_alarms_are_no_use, a_request_under_way_is_a_use, uses_are_stored_seldom,
      the_alarm_of_the_runtime_is_not_one_of_the_application,
      the_time_continues_in_the_next_process)
