/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Alarms of durable actors at their edges: set, moved and taken back in their own handler, handlers that fail after
 * that, other processes, graces, limits, many at once, bad input.
 */
#include <stdlib.h>
#include <unistd.h>

#include <troupe/alarm.h>
#include <troupe/message.h>

TR_MESSAGE(ring, (u32, how), (i64, n));
TR_MESSAGE(unknown_ring);

#define THINGS_ROWS                                                                                \
    TR_ON(nudge, things_nudge), TR_ON(ring, on_ring), TR_ON(tr_alarm_given_up, on_given_up)
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message);
static tr_next on_given_up(tr_self *self, struct thing_state *state,
                           const struct tr_alarm_given_up *message);
#include "support/things.h"

enum how {
    COUNT,
    AGAIN,
    AGAIN_AND_FAIL,
    CANCEL_AND_FAIL,
    STORED_THEN_FAIL,
    SLOWLY,
    OR_FAIL,
    FAIL_ALWAYS
};

static int rings; /* calls, whatever becomes of them */
static int is_up;
static uint64_t last_id;

static tr_next come_up(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)state;
    (void)n;
    is_up = 1;
    return TR_SAME;
}

static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message)
{
    tr_alarm_mark mark = tr_alarm_fired(self);
    rings++;
    state->value++;
    state->other = message->n;
    switch ((enum how)message->how) {
    case COUNT:
        break;
    case AGAIN:
        if (message->n > 0)
            tr_alarm_after(self, mark.name, TR_SECOND, ring, .how = AGAIN, .n = message->n - 1);
        break;
    case AGAIN_AND_FAIL:
        ck_assert(rings == 1 || mark.id == last_id);
        last_id = mark.id;
        if (mark.failures == 2)
            break;
        tr_alarm_after(self, mark.name, TR_HOUR, ring, .how = COUNT, .n = 4711);
        return tr_fail(self, TR_BAD_DATA, "as told");
    case CANCEL_AND_FAIL:
        if (mark.failures == 2)
            break;
        ck_assert(tr_alarm_cancel(self, mark.name));
        return tr_fail(self, TR_BAD_DATA, "as told");
    case STORED_THEN_FAIL:
        tr_alarm_after(self, mark.name, TR_HOUR, ring, .how = COUNT, .n = 4711);
        (void)!tr_sleep(self, TR_SECOND);
        return tr_fail(self, TR_BAD_DATA, "as told");
    case SLOWLY:
        (void)!tr_sleep(self, 2 * TR_SECOND);
        state->value += 10;
        break;
    case OR_FAIL:
        ck_assert_uint_eq(mark.failures, 0); /* what was cancelled has not failed */
        if (tr_sleep(self, 2 * TR_SECOND) != TR_OK)
            return tr_fail(self, TR_CANCELLED, "as told");
        break;
    case FAIL_ALWAYS:
        is_up = 0;
        return tr_fail(self, TR_BAD_DATA, "as told");
    }
    return TR_SAME;
}

static tr_next on_given_up(tr_self *self, struct thing_state *state,
                           const struct tr_alarm_given_up *message)
{
    (void)self;
    ck_assert_int_eq(is_up, 1); /* after tr_awake */
    ck_assert_uint_eq(message->failures, 21);
    state->other = -1;
    return TR_SAME;
}

/* ---- What tests do. ---- */

static enum how how_next;

static tr_next set_in_a_second(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, "a", TR_SECOND, ring, .how = how_next, .n = n);
    return tr_reply(self, acted, .value = 0);
}

static tr_next set_in(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, "a", n, ring);
    return tr_reply(self, acted, .value = 0);
}

static tr_next set_once(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    const tr_alarm alarm = {
        .name = "a", .kind = TR_ALARM_AFTER, .ns = TR_SECOND, .is_at_most_once = true};
    const struct ring message = {.how = (uint32_t)n};
    tr_status status = tr_self_try_alarm(self, &alarm, &tr_type_ring, &message);
    return tr_reply(self, acted, .value = status);
}

static tr_next due(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = tr_alarm_due(self, "a"));
}

static tr_next last_n(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->other);
}

static void begin(uint64_t seed)
{
    rings = 0;
    things_begin(seed);
}

/* ---- Its own handler. ---- */

TEST(a_handler_can_set_its_alarm_again, "AL-01", "AL-09")
{
    begin(1);
    how_next = AGAIN;
    things_do("a", set_in_a_second, 5);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(things_do("a", thing_add, 0), 6);
    ck_assert_int_eq(things_do("a", due, 0), 0);
    things_end();
}

TEST(a_handler_that_replaced_its_alarm_and_failed_is_called_as_before, "AL-07", "AL-08", "AL-04")
{
    begin(2);
    how_next = AGAIN_AND_FAIL;
    things_do("a", set_in_a_second, 42);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(rings, 3);
    ck_assert_int_eq(things_do("a", last_n, 0), 42); /* with its own message, */
    ck_assert_int_eq(things_do("a", thing_add, 0), 1);
    ck_assert_int_eq(things_do("a", due, 0), 0); /* and what it had set was never there */
    things_end();
}

TEST(a_handler_that_took_its_alarm_back_and_failed_is_called_later, "AL-07", "AL-04")
{
    begin(3);
    how_next = CANCEL_AND_FAIL;
    things_do("a", set_in_a_second, 42);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(rings, 1); /* not at once */
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(rings, 3);
    ck_assert_int_eq(things_do("a", thing_add, 0), 1);
    things_end();
}

TEST(what_an_earlier_commit_of_the_handler_set_stands, "AL-09", "AL-07")
{
    begin(4);
    how_next = STORED_THEN_FAIL;
    things_do("a", set_in_a_second, 42);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(rings, 1);
    ck_assert(things_do("a", due, 0) > 0);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 2);
    ck_assert_int_eq(things_do("a", last_n, 0), 4711);
    things_end();
}

TEST(a_handler_that_is_cancelled_and_fails_stores_nothing, "Z-14", "AL-07")
{
    begin(12);
    how_next = OR_FAIL;
    things_do("a", set_in_a_second, 0);
    while (!rings)
        tr_kit_advance(kit, TR_SECOND / 2);
    ck_assert_int_eq(tr_kill(test, things_of("a")), TR_OK);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(rings, 2);
    /* The change before the wait of the first time was stored there. */
    ck_assert_int_eq(things_do("a", thing_add, 0), 2);
    ck_assert_int_eq(things_do("a", due, 0), 0);
    things_end();
}

TEST(an_alarm_of_at_most_once_is_not_tried_again, "K-04", "AL-08")
{
    begin(5);
    ck_assert_int_eq(things_do("a", set_once, FAIL_ALWAYS), TR_OK);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 1);
    ck_assert_int_eq(things_do("a", thing_add, 0), 0);
    ck_assert_int_eq(things_do("a", set_once, COUNT), TR_OK);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 2);
    ck_assert_int_eq(things_do("a", thing_add, 0), 1);
    things_end();
}

TEST(who_gave_up_hears_of_it_when_it_is_up, "AL-04", "Z-11")
{
    things_on_awake = come_up;
    begin(6);
    how_next = FAIL_ALWAYS;
    things_do("a", set_in_a_second, 1);
    tr_kit_advance(kit, 3 * TR_HOUR);
    ck_assert_int_eq(rings, 21);
    ck_assert_int_eq(things_do("a", last_n, 0), -1);
    ck_assert_int_eq(things_do("a", due, 0), 0);
    things_end();
}

/* ---- Moving. ---- */

TEST(an_alarm_is_moved_earlier_and_later, "AL-05", "AL-06", "AL-01")
{
    begin(7);
    things_do("a", set_in, TR_HOUR);
    things_do("a", set_in, TR_MINUTE);
    tr_kit_advance(kit, 2 * TR_MINUTE);
    ck_assert_int_eq(rings, 1);
    things_do("a", set_in, TR_MINUTE);
    things_do("a", set_in, TR_HOUR);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    ck_assert_int_eq(rings, 1);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 2);
    things_end();
}

/* ---- Other processes, and graces. ---- */

static const tr_time kit_wall_start = 1704067200 * TR_SECOND; /* 2024-01-01 00:00 UTC */

TEST(what_fell_due_while_nobody_ran_fires_at_the_next_start, "AL-03", "AL-02")
{
    char directory[] = "/tmp/troupe-alarms-XXXXXX";
    char command[100];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    rings = 0;
    things_begin_with((tr_kit_options){.seed = 8, .store = directory});
    things_do("a", set_in, 0);
    for (int i = 0; i < 100 && !rings; i++)
        tr_kit_step(kit);
    int before = rings;
    things_do("b", set_in, TR_SECOND);
    things_do("c", set_in, 100 * TR_HOUR);
    things_end();
    things_begin_with((tr_kit_options){.seed = 8, .store = directory});
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_ge(rings, 2);
    ck_assert_int_le(rings, 2 + before);
    ck_assert_int_eq(things_do("b", thing_add, 0), 1);
    ck_assert_int_eq(things_do("a", thing_add, 0), 1);
    ck_assert_int_eq(things_do("c", thing_add, 0), 0);
    ck_assert(things_do("c", due, 0) > 0);
    things_end();
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

TEST(the_wall_clock_continues_in_the_next_kit_with_the_directory, "V-02", "AL-03")
{
    char directory[] = "/tmp/troupe-alarms-XXXXXX";
    char command[100];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    rings = 0;
    for (int process = 0; process < 3; process++) {
        tr_time wall_ns = kit_wall_start + process * 90 * TR_SECOND;
        things_begin_with((tr_kit_options){.seed = 8, .store = directory});
        ck_assert_int_eq(tr_kit_wall_now(kit), wall_ns);
        if (process == 0)
            things_do("a", set_in, 100 * TR_SECOND);
        tr_kit_advance(kit, 90 * TR_SECOND);
        ck_assert_int_eq(tr_kit_wall_now(kit), wall_ns + 90 * TR_SECOND);
        ck_assert_int_eq(rings, process > 0);
        things_end();
    }
    /* What a test says goes before what the directory says. */
    tr_time later_ns = kit_wall_start + 24 * TR_HOUR;
    things_begin_with((tr_kit_options){.store = directory, .wall_ns = later_ns});
    ck_assert_int_eq(tr_kit_wall_now(kit), later_ns);
    things_end();
    things_begin_with((tr_kit_options){.store = directory});
    ck_assert_int_eq(tr_kit_wall_now(kit), later_ns);
    things_end();
    /* A file that no kit has written is not read, and the next kit repairs it. */
    snprintf(command, sizeof command, "echo broken >'%s/kit-clock'", directory);
    ck_assert_int_eq(system(command), 0);
    things_begin_with((tr_kit_options){.store = directory});
    ck_assert_int_eq(tr_kit_wall_now(kit), kit_wall_start);
    tr_kit_advance(kit, TR_HOUR);
    things_end();
    things_begin_with((tr_kit_options){.store = directory});
    ck_assert_int_eq(tr_kit_wall_now(kit), kit_wall_start + TR_HOUR);
    things_end();
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static tr_next set_cron(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    tr_alarm_cron(self, "c", "0 * * * * Europe/Berlin", ring);
    return tr_reply(self, acted, .value = 0);
}

TEST(an_alarm_whose_zone_is_gone_waits_for_it, "K-04")
{
    char directory[] = "/tmp/troupe-alarms-XXXXXX";
    char command[100];
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
        return; /* a machine without tzdata */
    unsetenv("TZDIR");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    rings = 0;
    things_begin_with((tr_kit_options){.seed = 9, .store = directory});
    things_do("a", set_cron, 0);
    things_end();
    setenv("TZDIR", "/nowhere", 1);
    things_begin_with((tr_kit_options){.seed = 9, .store = directory});
    tr_kit_advance(kit, 2 * TR_HOUR);
    ck_assert_int_eq(things_do("a", thing_add, 3), 3);
    ck_assert_int_eq(rings, 0);
    things_end();
    unsetenv("TZDIR");
    things_begin_with((tr_kit_options){.seed = 9, .store = directory});
    tr_kit_advance(kit, 2 * TR_HOUR);
    ck_assert_int_ge(rings, 1);
    things_end();
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static tr_next set_and_sleep(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    tr_alarm_after(self, "a", TR_SECOND, ring);
    return tr_reply(self, acted, .value = tr_go_to_sleep(self));
}

static tr_next sleep_for_three_seconds(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    (void)!tr_sleep(self, 3 * TR_SECOND);
    state->other = rings;
    return TR_SAME;
}

TEST(none_fires_in_a_grace_and_it_fires_after_it, "AL-10", "Z-06", "SL-15")
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        things_on_sleeping = sleep_for_three_seconds;
        begin(seed);
        ck_assert_int_eq(things_do("a", set_and_sleep, 0), TR_OK);
        tr_kit_advance(kit, 2500 * TR_MILLISECOND);
        ck_assert_int_eq(rings, 0);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(rings, 1); /* it has woken the next generation */
        things_end();
    }
}

static tr_next set_when_sleeping(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    if (!rings)
        tr_alarm_after(self, "a", TR_MINUTE, ring);
    return TR_SAME;
}

TEST(what_the_last_hook_sets_fires, "SL-15", "Z-11")
{
    things_on_sleeping = set_when_sleeping;
    begin(9);
    ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
    tr_kit_advance(kit, 50 * TR_SECOND);
    ck_assert_int_eq(rings, 0);
    tr_kit_advance(kit, 15 * TR_SECOND);
    ck_assert_int_eq(rings, 1);
    things_end();
}

TEST(a_handler_that_waits_keeps_it_awake_and_is_done_once, "AL-08", "SL-01")
{
    begin(10);
    how_next = SLOWLY;
    things_do("a", set_in_a_second, 1);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 1);
    ck_assert_int_eq(things_do("a", thing_add, 0), 11);
    things_end();
}

/* ---- Limits and bad input. ---- */

static tr_status try_alarm(tr_self *self, const char *name, tr_alarm_kind kind, tr_time ns,
                           const char *cron)
{
    const tr_alarm alarm = {.name = name, .kind = kind, .ns = ns, .cron = cron};
    const struct ring message = {.how = COUNT};
    return tr_self_try_alarm(self, &alarm, &tr_type_ring, &message);
}

static tr_next try_bad(tr_self *self, struct thing_state *state, int64_t n)
{
    char name[TR_ALARM_NAME_MAX + 2];
    const struct unknown_ring unknown = {0};
    (void)state;
    (void)n;
    memset(name, 'x', sizeof name);
    name[TR_ALARM_NAME_MAX + 1] = 0;
    ck_assert_int_eq(try_alarm(self, NULL, TR_ALARM_AFTER, 1, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, "", TR_ALARM_AFTER, 1, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, name, TR_ALARM_AFTER, 1, NULL), TR_TOO_LARGE);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_AFTER, -1, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_AT, -1, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_AFTER, TR_NEVER, NULL), TR_LIMIT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_AT, TR_NEVER, NULL), TR_LIMIT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_EVERY, TR_SECOND, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_CRON, 0, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_CRON, 0, "x"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_CRON, 0, "0 0 31 2 *"), TR_NOT_FOUND);
    ck_assert_int_eq(try_alarm(self, "a", TR_ALARM_CRON, 0, "0 0 * * * No/Where"), TR_NOT_FOUND);
    ck_assert_int_eq(try_alarm(self, "a", (tr_alarm_kind)77, 1, NULL), TR_INVALID_ARGUMENT);
    const tr_alarm alarm = {.name = "a", .kind = TR_ALARM_AFTER};
    ck_assert_int_eq(tr_self_try_alarm(self, &alarm, &tr_type_unknown_ring, &unknown),
                     TR_NOT_SUPPORTED);
    ck_assert_int_eq(tr_alarm_due(self, "a"), 0);
    name[TR_ALARM_NAME_MAX] = 0;
    ck_assert_int_eq(try_alarm(self, name, TR_ALARM_AT, 0, NULL), TR_OK); /* long ago */
    return tr_reply(self, acted, .value = 0);
}

TEST(bad_alarms_are_refused_and_one_of_the_past_fires_now, "K-04", "AL-03")
{
    begin(11);
    things_do("a", try_bad, 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(rings, 1);
    things_end();
}

static tr_next set_many(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    char name[16];
    for (int64_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%d", (int)i);
        ck_assert_int_eq(try_alarm(self, name, TR_ALARM_AFTER, TR_SECOND, NULL), TR_OK);
    }
    if (n == TR_ALARMS_MAX) {
        ck_assert_int_eq(try_alarm(self, "one more", TR_ALARM_AFTER, TR_SECOND, NULL), TR_LIMIT);
        ck_assert_int_eq(try_alarm(self, "n5", TR_ALARM_AFTER, TR_SECOND, NULL), TR_OK);
        ck_assert(tr_alarm_cancel(self, "n7"));
        ck_assert_int_eq(try_alarm(self, "one more", TR_ALARM_AFTER, TR_SECOND, NULL), TR_OK);
    }
    return tr_reply(self, acted, .value = 0);
}

TEST(an_actor_has_a_thousand_alarms_and_all_ring, "K-04", "AL-13")
{
    begin(12);
    things_do("a", set_many, TR_ALARMS_MAX);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(rings, TR_ALARMS_MAX);
    ck_assert_int_eq(things_do("a", thing_add, 0), TR_ALARMS_MAX);
    things_end();
}

TEST(thousands_of_actors_ring_at_once_and_none_is_lost, "AL-13")
{
    enum { ACTORS = TEST_SEEDS(40), EACH = 100 };
    begin(13);
    for (int i = 0; i < ACTORS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        things_do(key, set_many, EACH);
    }
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(rings, ACTORS * EACH);
    for (int i = 0; i < ACTORS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        ck_assert_int_eq(things_do(key, thing_add, 0), EACH);
    }
    things_end();
}

SUITE("durable alarm edges", a_handler_can_set_its_alarm_again,
      a_handler_that_replaced_its_alarm_and_failed_is_called_as_before,
      a_handler_that_took_its_alarm_back_and_failed_is_called_later,
      what_an_earlier_commit_of_the_handler_set_stands,
      a_handler_that_is_cancelled_and_fails_stores_nothing,
      an_alarm_of_at_most_once_is_not_tried_again, who_gave_up_hears_of_it_when_it_is_up,
      an_alarm_is_moved_earlier_and_later, what_fell_due_while_nobody_ran_fires_at_the_next_start,
      the_wall_clock_continues_in_the_next_kit_with_the_directory,
      an_alarm_whose_zone_is_gone_waits_for_it, none_fires_in_a_grace_and_it_fires_after_it,
      what_the_last_hook_sets_fires, a_handler_that_waits_keeps_it_awake_and_is_done_once,
      bad_alarms_are_refused_and_one_of_the_past_fires_now,
      an_actor_has_a_thousand_alarms_and_all_ring,
      thousands_of_actors_ring_at_once_and_none_is_lost)
