/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stores that fail under durable actors: what waited for a commit that failed never leaves, the actor begins anew, and
 * a store that has failed for good stops the system.
 */
#include "support/things.h"

#include "durable/host.h"
#include "store/core.h"
#include "store/driver.h"

enum { SEEDS = TEST_SEEDS(10) };

/* ---- A driver that fails when it is told to. ---- */

static const struct store_driver *real_driver;
static int fails_left; /* commits that fail with */
static tr_status fails_with;
static int commits;

static tr_status commit(struct store_session *session, struct store_batch *first,
                        struct store_why *why)
{
    commits++;
    if (fails_left <= 0)
        return real_driver->commit(session, first, why);
    fails_left--;
    if (fails_with == TR_STORE_FAILED) {
        snprintf(why->text, sizeof why->text, "as told");
        return TR_STORE_FAILED;
    }
    for (struct store_batch *batch = first; batch; batch = batch->next) {
        if (batch->status != TR_OK)
            continue;
        batch->status = fails_with;
        atom32_store(&batch->entry->is_broken, 1, ATOM_RELAXED);
    }
    return TR_OK;
}

static struct store *store_of_kit(void)
{
    return tr_kit_system(kit)->durable.host->store;
}

static struct store_driver driver;

static tr_status read_garbage(struct store_view *view, tr_bytes name, tr_bytes key, tr_bytes *value)
{
    (void)view;
    (void)name;
    (void)key;
    (void)value;
    return TR_STORE_CORRUPT;
}

static void begin(uint64_t seed)
{
    things_begin(seed);
    real_driver = store_of_kit()->driver;
    driver = *real_driver;
    driver.commit = commit;
    store_of_kit()->driver = &driver;
    fails_left = 0;
}

static void end(void)
{
    store_of_kit()->driver = real_driver;
    things_end();
}

/* ---- Tests. ---- */

TR_MESSAGE(noted, (i64, n));
TR_ACTOR(notary, noted);
static int noted_count;
static tr_next on_noted(const struct noted *message)
{
    ck_assert_int_ge(message->n, 0);
    noted_count++;
    return TR_SAME;
}
TR_BEHAVIOR(notary, void, TR_ON(noted, on_noted));
static notary_ref the_notary;

static tr_next add_and_tell(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    tr_tell(self, the_notary, noted, .n = n);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next has_kv(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    tr_bytes value;
    return tr_reply(self, acted, .value = tr_kv_get(self, (tr_bytes){"k", 1}, &value));
}

TEST(what_waits_for_a_commit_that_fails_never_leaves, "PE-03", "K-01", "PE-18", "PE-05")
{
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        begin(seed);
        noted_count = 0;
        ck_assert_int_eq(tr_try_spawn(test, &the_notary, notary, "notary"), TR_OK);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        ck_assert_int_eq(things_do("b", thing_add, 7), 7);
        thing_ref ref = things_of("a");
        fails_left = 1;
        fails_with = seed % 2 ? TR_STORE_FULL : TR_STORE_CORRUPT;
        act_ask asks[6];
        int64_t sum = 5;
        int served = 0;
        const struct acted *acted;
        for (int i = 0; i < 6; i++)
            asks[i] = things_ask(ref, add_and_tell, 1);
        for (int i = 0; i < 6; i++) {
            tr_status status = tr_try_await(test, asks[i], &acted);
            if (status != TR_OK)
                continue;
            /* Each answer is of what is stored: of those before it the failed ones do not count. */
            ck_assert_int_eq(acted->value, ++sum);
            served++;
        }
        ck_assert_int_lt(served, 6);
        tr_kit_settle(kit);
        ck_assert_int_eq(noted_count, served);
        ck_assert(things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), sum);
        ck_assert_int_eq(things_do("a", has_kv, 0), served > 0);
        ck_assert_int_eq(things_do("b", thing_add, 0), 7);
        end();
    }
}

static tr_next try_save(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    tr_status status = tr_try_save(self);
    things_tell("[%s]", tr_status_name(status));
    return tr_reply(self, acted, .value = status);
}

TEST(a_save_says_what_became_of_it, "PE-03", "K-09")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_story[0] = 0;
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        fails_left = 1;
        fails_with = TR_STORE_FULL;
        tr_status status = things_try("a", try_save, 100, NULL);
        ck_assert_msg(status != TR_OK, "%s", tr_status_name(status));
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_add, 0), 5);
        end();
    }
}

static tr_next add_and_wait(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    (void)!tr_sleep(self, 0);
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_turn_does_not_answer_when_its_first_commit_was_not_stored, "PE-03", "K-09", "PE-02")
{
    for (uint64_t seed = 1; seed <= 5 * SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        fails_left = 1;
        fails_with = TR_STORE_FULL;
        tr_status status = things_try("a", add_and_wait, 100, NULL);
        ck_assert_msg(status != TR_OK, "%s", tr_status_name(status));
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_add, 0), 5);
        end();
    }
}

/* docs/mends.md, 15. Also of those whose commits came behind the one that failed. */
TEST(all_who_asked_hear_why_it_was_not_stored, "PE-03", "K-06")
{
    static const tr_status reasons[] = {TR_STORE_FULL, TR_STORE_CORRUPT, TR_STORE_FAILED, TR_LIMIT};
    for (uint64_t seed = 1; seed <= 4 * SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        fails_left = 1;
        fails_with = reasons[seed % 4];
        act_ask asks[6];
        const struct acted *acted;
        bool has_heard = false;
        for (int i = 0; i < 6; i++)
            asks[i] = things_ask(things_of("a"), i % 2 ? add_and_wait : thing_add, 1);
        for (int i = 0; i < 6; i++) {
            tr_status status = tr_try_await(test, asks[i], &acted);
            has_heard |= status == fails_with;
            /* What waited when the actor began anew hears that, and what waited for the end of the system too. */
            ck_assert_msg(status == fails_with || status == TR_OK || status == TR_RESTARTED ||
                              (fails_with == TR_STORE_FAILED &&
                               (status == TR_STOPPED || status == TR_START_FAILED)),
                          "seed %d: %s of %s",
                          (int)seed,
                          tr_status_name(status),
                          tr_status_name(fails_with));
        }
        ck_assert(has_heard);
        end();
    }
}

static tr_next add_without_answer(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    state->value += n;
    return TR_SAME;
}

/* docs/mends.md, 15. The store is over before the turn ends. */
TEST(who_asks_after_the_end_of_the_store_hears_of_that, "PE-03", "K-06")
{
    static thing_call *const acts[] = {thing_add, add_without_answer};
    for (int i = 0; i < 2; i++) {
        begin(1);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        atom32_store(&store_of_kit()->is_failed, 1, ATOM_RELEASE);
        ck_assert_int_eq(things_try("a", acts[i], 1, NULL), TR_STORE_FAILED);
        end();
    }
}

/* docs/mends.md, 15. */
TEST(who_asks_for_what_cannot_be_read_hears_why, "PE-21", "K-06")
{
    begin(1);
    ck_assert_int_eq(things_do("a", thing_add, 5), 5);
    driver.read_kv = read_garbage;
    ck_assert_int_eq(things_try("a", has_kv, 1, NULL), TR_STORE_CORRUPT);
    end();
}

TEST(a_commit_that_fails_at_the_end_leaves_what_was_before, "SL-11", "Z-09", "SL-12")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        thing_ref ref = things_of("a");
        fails_left = 1; /* that of what tr_sleeping has changed */
        fails_with = TR_STORE_FULL;
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, 6 * TR_SECOND);
        ck_assert_int_eq(fails_left, 0);
        ck_assert_int_eq(things_do("a", thing_add, 0), 5);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 0);
        (void)ref;
        end();
    }
}

static tr_next hold_on(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    (void)!tr_sleep(self, TR_SECOND); /* the rest of the destroy comes later than its answer */
    return TR_SAME;
}

static tr_next put_key(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    things_on_destroying = hold_on;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    return tr_reply(self, acted, .value = 1);
}

static tr_next has_key(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_bytes value;
    (void)state, (void)n;
    return tr_reply(self, acted, .value = tr_kv_get(self, (tr_bytes){"k", 1}, &value));
}

TEST(a_destroy_that_cannot_be_stored_leaves_all, "SL-11", "SL-17", "Z-15")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        fails_left = 1;
        fails_with = TR_STORE_FULL;
        ck_assert_int_eq(things_try("a", thing_destroy, 0, NULL), TR_STORE_FULL);
        tr_kit_advance(kit, 6 * TR_SECOND);
        ck_assert_int_eq(fails_left, 0);
        ck_assert_int_eq(things_do("a", thing_add, 0), 5);
        end();
    }
}

/* What is stored cannot be removed: the mark counts. */
TEST(a_destroy_that_was_answered_counts_when_its_end_cannot_be_stored, "SL-17", "Z-15")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        ck_assert_int_eq(things_do("a", put_key, 0), 1);
        ck_assert_int_eq(things_do("a", thing_destroy, 0), TR_OK);
        fails_left = 1;
        fails_with = TR_STORE_FULL;
        tr_kit_advance(kit, 6 * TR_SECOND);
        ck_assert_int_eq(fails_left, 0);
        ck_assert_int_eq(things_do("a", has_key, 0), 0);
        ck_assert_int_eq(things_do("a", thing_add, 3), 3);
        end();
    }
}

TEST(a_store_that_has_failed_stops_the_system, "K-06", "PE-03")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        ck_assert_int_eq(things_do("b", thing_add, 5), 5);
        fails_left = 1;
        fails_with = TR_STORE_FAILED;
        tr_status status = things_try("a", thing_add, 1, NULL);
        ck_assert_msg(status != TR_OK, "%s", tr_status_name(status));
        tr_kit_advance(kit, TR_MINUTE);
        thing_ref ref;
        status = tr_try_durable(test, &ref, thing, "c");
        ck_assert_msg(
            status == TR_STORE_FAILED || status == TR_STOPPING, "%s", tr_status_name(status));
        end();
    }
}

SUITE("durable failures", what_waits_for_a_commit_that_fails_never_leaves,
      all_who_asked_hear_why_it_was_not_stored, who_asks_after_the_end_of_the_store_hears_of_that,
      who_asks_for_what_cannot_be_read_hears_why, a_save_says_what_became_of_it,
      a_turn_does_not_answer_when_its_first_commit_was_not_stored,
      a_commit_that_fails_at_the_end_leaves_what_was_before,
      a_destroy_that_cannot_be_stored_leaves_all,
      a_destroy_that_was_answered_counts_when_its_end_cannot_be_stored,
      a_store_that_has_failed_stops_the_system)
