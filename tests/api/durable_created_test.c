/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A first start that stores something, waits, and then fails was none: nothing of it is left, and tr_created comes
 * again.
 */
#include <stdlib.h>

#define THINGS_OPTIONS .idle_ns = 10 * TR_SECOND, .retry_ns = TR_SECOND
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

static int failures_left;
static int awake_failures_left;
static int created;

static size_t key_count(tr_self *self)
{
    const tr_kv *pairs;
    return tr_kv_list(self, (tr_bytes){0}, (tr_bytes){0}, &pairs, 100);
}

/* Each time another key: those of earlier starts would be seen. */
static tr_next create_in_parts(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    ck_assert_int_eq(state->creations, 1);
    ck_assert_int_eq(state->value, 0);
    ck_assert_uint_eq(key_count(self), 0);
    ck_assert_uint_eq(tr_queue_count(self, "work"), 0);
    ck_assert_int_eq(tr_alarm_due(self, "later"), 0);
    created++;
    char key = (char)('a' + created);
    state->value = 100;
    tr_kv_put(self, (tr_bytes){&key, 1}, (tr_bytes){"v", 1});
    tr_queue_push(self, "work", nudge, .n = 1);
    tr_alarm_after(self, "later", TR_HOUR, nudge, .n = 1);
    tr_save(self);
    state->value += 10;
    (void)!tr_sleep(self, TR_SECOND);
    if (failures_left <= 0)
        return TR_SAME;
    if (failures_left-- % 2)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next wake_in_parts(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->other++;
    (void)!tr_sleep(self, TR_SECOND);
    return awake_failures_left-- > 0 ? tr_fail(self, TR_BAD_DATA, "as told") : TR_SAME;
}

static tr_next all_of_it(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self,
                    acted,
                    .value = state->value + 1000 * (int64_t)key_count(self) +
                             10000 * (int64_t)tr_queue_count(self, "work") +
                             100000 * state->creations);
}

TEST(a_first_start_that_stored_and_failed_leaves_nothing_and_comes_again, "SL-13", "Z-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_on_created = create_in_parts;
        things_on_awake = NULL;
        things_begin(seed);
        failures_left = 2;
        created = 0;
        ck_assert_int_eq(things_do("a", all_of_it, 0), 111110);
        ck_assert_int_eq(created, 3);
        /* From now on it is there. */
        (void)!tr_kill(test, things_of("a"));
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", all_of_it, 0), 111110);
        ck_assert_int_eq(created, 3);
        things_end();
    }
}

TEST(a_tr_awake_that_fails_is_a_first_start_that_failed, "SL-13", "Z-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_on_created = create_in_parts;
        things_on_awake = wake_in_parts;
        things_begin(seed);
        created = 0;
        failures_left = 0;
        awake_failures_left = 2;
        ck_assert_int_eq(things_do("a", all_of_it, 0), 111110);
        ck_assert_int_eq(created, 3);
        things_end();
    }
}

TEST(a_process_that_ends_within_a_first_start_begins_it_anew, "SL-11", "SL-13", "Z-11")
{
    char directory[] = "/tmp/troupe-created-XXXXXX";
    char command[100];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    things_on_created = create_in_parts;
    things_on_awake = NULL;
    created = 0;
    failures_left = 0;
    for (int moment = 0; moment < 2; moment++) {
        things_begin_with((tr_kit_options){.seed = 1, .store = directory});
        act_ask ask = things_ask(things_of("a"), all_of_it, 0);
        tr_kit_advance(kit, moment ? 10 * TR_SECOND : 500 * TR_MILLISECOND);
        const struct acted *acted;
        if (moment) {
            ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
            ck_assert_int_eq(acted->value, 111110);
        } else {
            ck_assert_int_eq(created, 1);
            (void)!tr_kill(test, things_of("a")); /* its next commit is not stored */
            tr_kit_settle(kit);
        }
        things_end();
    }
    ck_assert_int_eq(created, 2);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable created", a_first_start_that_stored_and_failed_leaves_nothing_and_comes_again,
      a_tr_awake_that_fails_is_a_first_start_that_failed,
      a_process_that_ends_within_a_first_start_begins_it_anew)
