/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The retry policy of alarms: of the kind, of one alarm, and what is no policy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_REQUEST(set, tr_done, (u32, attempts), (i64, first_ns), (i64, longest_ns), (i64, after_ns));
TR_REQUEST(set_bad, tr_done);
TR_MESSAGE(ring);
TR_ACTOR(bell, set, set_bad, ring);
TR_MESSAGE(bell_state, (u64, rings));

enum { RINGS_MAX = 64 };

static tr_time rang_ns[RINGS_MAX];
static int rings;
static int given_up;
static uint32_t given_up_failures;
static char directory[64];

static tr_next on_set(tr_self *self, const struct set *message)
{
    const tr_alarm alarm = {.name = "bill",
                            .kind = TR_ALARM_AFTER,
                            .ns = message->after_ns,
                            .retry = {.attempts = message->attempts,
                                      .first_ns = message->first_ns,
                                      .longest_ns = message->longest_ns}};
    ck_assert_int_eq(tr_self_try_alarm(self, &alarm, &tr_type_ring, &(struct ring){.tr_empty = 0}),
                     TR_OK);
    return tr_reply(self, tr_done);
}

static tr_next on_set_bad(tr_self *self)
{
    static const tr_retry bad[] = {{.first_ns = -1},
                                   {.longest_ns = -1},
                                   {.first_ns = TR_RETRY_NS_MAX + 1},
                                   {.longest_ns = TR_RETRY_NS_MAX + 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const tr_alarm alarm = {
            .name = "bill", .kind = TR_ALARM_AFTER, .ns = TR_SECOND, .retry = bad[i]};
        ck_assert_int_eq(
            tr_self_try_alarm(self, &alarm, &tr_type_ring, &(struct ring){.tr_empty = 0}),
            TR_INVALID_ARGUMENT);
    }
    /* The runtime has an alarm of its own, and no application can name it. */
    const tr_alarm reserved = {.name = "\001queue", .kind = TR_ALARM_AFTER, .ns = TR_SECOND};
    ck_assert_int_eq(
        tr_self_try_alarm(self, &reserved, &tr_type_ring, &(struct ring){.tr_empty = 0}),
        TR_INVALID_ARGUMENT);
    return tr_reply(self, tr_done);
}

static tr_next on_ring(tr_self *self)
{
    ck_assert_int_lt(rings, RINGS_MAX);
    rang_ns[rings++] = tr_now(self);
    return tr_fail(self, TR_BAD_DATA, "always");
}

static tr_next on_given_up(const struct tr_alarm_given_up *message)
{
    given_up++;
    given_up_failures = message->failures;
    return TR_SAME;
}

TR_BEHAVIOR(bell, struct bell_state, TR_ON(set, on_set), TR_ON(set_bad, on_set_bad),
            TR_ON(ring, on_ring), TR_ON(tr_alarm_given_up, on_given_up));
TR_DURABLE(bell, bell_state, .idle_ns = 10 * TR_SECOND,
           .alarm_retry = {.attempts = 4, .first_ns = TR_MINUTE, .longest_ns = 3 * TR_MINUTE});

static tr_kit *kit;
static tr_client *test;

static void begin(uint64_t seed)
{
    rings = 0;
    given_up = 0;
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .seed = seed,
                                       .store = *directory ? directory : NULL,
                                       .durable = TR_DURABLES(bell)});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static bell_ref bell(void)
{
    bell_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, bell, "a"), TR_OK);
    return ref;
}

static void check_delay(int number, tr_time delay_ns)
{
    tr_time was = rang_ns[number] - rang_ns[number - 1];
    ck_assert_int_ge(was, delay_ns);
    ck_assert_int_le(was, delay_ns + delay_ns / 4 + TR_SECOND);
}

TEST(an_alarm_is_tried_as_often_as_its_kind_says, "K-04", "K-21", "AL-04")
{
    begin(1);
    set_ask asked = tr_ask(test, bell(), set, .after_ns = TR_SECOND);
    ck_assert_int_eq(tr_try_await(test, asked, NULL), TR_OK);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 4);
    check_delay(1, TR_MINUTE);
    check_delay(2, 2 * TR_MINUTE);
    check_delay(3, 3 * TR_MINUTE);
    ck_assert_int_eq(given_up, 1);
    ck_assert_uint_eq(given_up_failures, 4);
    tr_kit_free(kit);
}

TEST(an_alarm_may_have_a_policy_of_its_own_which_survives_a_restart, "K-04", "K-21", "AL-04")
{
    char command[100];
    snprintf(directory, sizeof directory, "/tmp/troupe-alarm-retry-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (int is_restarted = 0; is_restarted < 2; is_restarted++) {
        begin(1);
        /* what it does not say is that of the kind */
        set_ask asked = tr_ask(
            test, bell(), set, .attempts = 3, .first_ns = 10 * TR_SECOND, .after_ns = TR_SECOND);
        ck_assert_int_eq(tr_try_await(test, asked, NULL), TR_OK);
        if (is_restarted) {
            tr_kit_free(kit);
            begin(2);
        }
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(rings, 3);
        check_delay(1, 10 * TR_SECOND);
        check_delay(2, 20 * TR_SECOND);
        ck_assert_int_eq(given_up, 1);
        tr_kit_free(kit);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
    directory[0] = 0;
}

TEST(one_attempt_is_no_retry, "K-21", "AL-04")
{
    begin(1);
    set_ask asked = tr_ask(test, bell(), set, .attempts = 1, .after_ns = TR_SECOND);
    ck_assert_int_eq(tr_try_await(test, asked, NULL), TR_OK);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(rings, 1);
    ck_assert_int_eq(given_up, 1);
    tr_kit_free(kit);
}

TEST(bad_policies_are_refused, "K-21")
{
    begin(1);
    set_bad_ask asked = tr_ask(test, bell(), set_bad);
    ck_assert_int_eq(tr_try_await(test, asked, NULL), TR_OK);
    tr_kit_free(kit);
    static const tr_queue_options no_name[] = {{.name = ""}, {.name = NULL}};
    static const tr_queue_options too_long[] = {
        {.name = "jobs", .retry = {.first_ns = TR_RETRY_NS_MAX + 1}}, {.name = NULL}};
    for (int i = 0; i < 3; i++) {
        tr_durable_kind kind = tr_durable_bell;
        if (i == 0)
            kind.options.queues = no_name;
        else if (i == 1)
            kind.options.queues = too_long;
        else
            kind.options.alarm_retry.longest_ns = -1;
        const tr_durable_kind *kinds[] = {&kind, NULL};
        const tr_durables durables = {sizeof durables, tr_durable_start, kinds};
        ck_assert_ptr_null(
            tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options), .durable = &durables}));
    }
}

SUITE("durable alarm retries", an_alarm_is_tried_as_often_as_its_kind_says,
      an_alarm_may_have_a_policy_of_its_own_which_survives_a_restart, one_attempt_is_no_retry,
      bad_policies_are_refused)
