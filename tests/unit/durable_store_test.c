/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What durable actors store on a kit, and when it leaves: nothing before it is on disk, in its order, all of a
 * commit or nothing; keys and values; states of every kind of field; other versions.
 */
#include <stdlib.h>

#include "support/things.h"

#include "actor/cell/system.h"
#include "durable/host.h"
#include "store/store.h"

enum { SEEDS = TEST_SEEDS(10) };

/* ---- Nothing leaves before it is stored. ---- */

/* Steps until the system has nothing to do but to store, which it is kept from. */
static bool step_without_storing(void)
{
    tr_system *system = tr_kit_system(kit);
    bool (*has_work)(tr_system *) = system->durable.has_work;
    system->durable.has_work = NULL;
    bool is_done = tr_kit_step(kit);
    system->durable.has_work = has_work;
    return is_done;
}

static void settle_without_storing(void)
{
    while (step_without_storing())
        continue;
}

static tr_next add_in_steps(tr_self *self, struct thing_state *state, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        state->value++;
        (void)!tr_sleep(self, 0);
    }
    return tr_reply(self, acted, .value = state->value);
}

static tr_next read_only(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_reply_waits_for_what_it_says, "K-01", "K-09", "PE-01", "PE-02", "PE-05")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct acted *acted;
        things_begin(seed);
        things_do("a", thing_add, 0);
        thing_ref ref = things_of("a");
        act_ask asks[8];
        for (int i = 0; i < 8; i++)
            asks[i] = things_ask(ref, i == 3 ? read_only : i == 5 ? add_in_steps : thing_add, 1);
        settle_without_storing();
        for (int i = 0; i < 8; i++)
            ck_assert_msg(!tr_is_answered(test, asks[i]), "the answer %d has left", i);
        for (int i = 0; i < 8; i++) {
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
            ck_assert_int_eq(acted->value, i < 3 ? i + 1 : i);
        }
        things_end();
    }
}

TR_MESSAGE(noted, (i64, n));
TR_ACTOR(notary, noted);
static int64_t last_noted;
static int noted_count;
static tr_next on_noted(const struct noted *message)
{
    ck_assert_int_gt(message->n, last_noted);
    last_noted = message->n;
    noted_count++;
    return TR_SAME;
}
TR_BEHAVIOR(notary, void, TR_ON(noted, on_noted));
static notary_ref the_notary;

static tr_next tell_notary(tr_self *self, struct thing_state *state, int64_t n)
{
    if (n % 3)
        state->value++;
    tr_tell(self, the_notary, noted, .n = n * 10 + 1);
    if (n % 2)
        (void)!tr_sleep(self, 0);
    tr_tell(self, the_notary, noted, .n = n * 10 + 2);
    if (n % 5 == 4)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = n);
}

TEST(messages_leave_in_their_order_and_those_of_a_failure_do_not, "K-01", "PE-02", "PE-03", "PE-05")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        last_noted = 0;
        noted_count = 0;
        ck_assert_int_eq(tr_try_spawn(test, &the_notary, notary, "notary"), TR_OK);
        act_ask asks[15];
        const struct acted *acted;
        for (int i = 0; i < 15; i++)
            asks[i] = things_ask(things_of("a"), tell_notary, i);
        for (int i = 0; i < 15; i++)
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), i % 5 == 4 ? TR_FAILED : TR_OK);
        tr_kit_settle(kit);
        /* 12 that end well with two each; of the failed ones the odd one's first commit (9). */
        ck_assert_int_eq(noted_count, 25);
        things_end();
    }
}

/* ---- Keys and values. ---- */

static tr_bytes bytes(const char *text)
{
    return (tr_bytes){text, strlen(text)};
}

static void check_list(tr_self *self, const char *prefix, const char *from, size_t max,
                       const char *expected)
{
    char text[256] = "";
    const tr_kv *pairs;
    size_t count = tr_kv_list(self, bytes(prefix), bytes(from), &pairs, max);
    for (size_t i = 0; i < count; i++) {
        strncat(text, pairs[i].key.data, pairs[i].key.size);
        strcat(text, "=");
        strncat(text, pairs[i].value.data, pairs[i].value.size);
        strcat(text, " ");
    }
    ck_assert_str_eq(text, expected);
}

static tr_next kv_first(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_bytes value;
    tr_kv_put(self, bytes("b"), bytes("1"));
    tr_kv_put(self, bytes("a"), bytes("2"));
    tr_kv_put(self, bytes("ab"), bytes(""));
    tr_kv_put(self, bytes("c"), bytes("4"));
    tr_kv_delete(self, bytes("c"));
    tr_kv_delete(self, bytes("never"));
    ck_assert(tr_kv_get(self, bytes("a"), &value) && value.size == 1);
    ck_assert(tr_kv_get(self, bytes("ab"), &value) && value.size == 0);
    ck_assert(!tr_kv_get(self, bytes("c"), &value));
    check_list(self, "", "", 10, "a=2 ab= b=1 ");
    check_list(self, "a", "", 10, "a=2 ab= ");
    check_list(self, "a", "ab", 10, "ab= ");
    check_list(self, "", "", 2, "a=2 ab= ");
    check_list(self, "", "", 0, "");
    if (n)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = 0);
}

static tr_next kv_second(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_bytes value;
    check_list(self, "", "", 10, "a=2 ab= b=1 ");
    tr_kv_delete(self, bytes("a"));
    tr_kv_put(self, bytes("ac"), bytes("5"));
    tr_kv_put(self, bytes("b"), bytes("6"));
    check_list(self, "", "", 2, "ab= ac=5 ");
    check_list(self, "", "", 10, "ab= ac=5 b=6 ");
    if (n == 1)
        (void)!tr_sleep(self, 0);
    if (n == 2)
        tr_save(self);
    ck_assert(!tr_kv_get(self, bytes("a"), &value));
    check_list(self, "", "", 10, "ab= ac=5 b=6 ");
    tr_kv_put(self, bytes("a"), bytes("2"));
    tr_kv_delete(self, bytes("ac"));
    tr_kv_put(self, bytes("b"), bytes("1"));
    check_list(self, "", "", 10, "a=2 ab= b=1 ");
    return tr_reply(self, acted, .value = 0);
}

TEST(what_was_put_is_seen_at_once_and_later, "K-02", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        ck_assert_int_eq(things_try("a", kv_first, 1, NULL), TR_FAILED);
        things_do("a", kv_first, 0);
        for (int64_t how = 0; how < 3; how++) {
            things_do("a", kv_second, how);
            things_do("a", thing_go_to_sleep, 0);
            tr_kit_settle(kit);
        }
        things_do("a", kv_second, 0);
        things_end();
    }
}

enum kv_slip { KEY_MISSING, KEY_LONG, VALUE_LONG, VALUE_MISSING, GET_NOTHING, LIST_NOTHING, SLIPS };

static tr_next kv_slip(tr_self *self, struct thing_state *state, int64_t n)
{
    static char large[TR_KV_VALUE_MAX + 1];
    tr_bytes value;
    state->value += 1000;
    tr_kv_put(self, (tr_bytes){large, TR_KV_KEY_MAX}, (tr_bytes){large, TR_KV_VALUE_MAX});
    switch ((enum kv_slip)n) {
    case KEY_MISSING:
        tr_kv_put(self, (tr_bytes){NULL, 0}, bytes("v"));
        break;
    case KEY_LONG:
        tr_kv_put(self, (tr_bytes){large, TR_KV_KEY_MAX + 1}, bytes("v"));
        break;
    case VALUE_LONG:
        tr_kv_put(self, bytes("k"), (tr_bytes){large, TR_KV_VALUE_MAX + 1});
        break;
    case VALUE_MISSING:
        tr_kv_put(self, bytes("k"), (tr_bytes){NULL, 1});
        break;
    case GET_NOTHING:
        (void)tr_kv_get(self, (tr_bytes){NULL, 0}, &value);
        break;
    case LIST_NOTHING:
        (void)tr_kv_list(self, bytes(""), bytes(""), NULL, 1);
        break;
    case SLIPS:
        ck_assert(!tr_kv_get(self, bytes("k"), &value));
        return tr_reply(self, acted, .value = state->value);
    }
    ck_abort_msg("the turn has not ended");
}

TEST(bad_keys_and_values_end_the_turn, "K-02")
{
    for (int64_t slip = 0; slip < SLIPS; slip++) {
        things_begin(1);
        ck_assert_int_eq(things_try("a", kv_slip, slip, NULL), TR_FAILED);
        ck_assert_int_eq(things_do("a", kv_slip, SLIPS), 1000);
        things_end();
    }
}

/* ---- Other durabilities. ---- */

TR_ACTOR(lazy, act);
TR_BEHAVIOR(lazy, struct thing_state, TR_ON(act, things_act), TR_ON(tr_sleeping, things_sleeping));
TR_DURABLE(lazy, thing_state, .durability = TR_SAVE_INTERVAL, .interval_ns = 2 * TR_SECOND,
           .idle_ns = TR_MINUTE);
TR_ACTOR(manual, act);
TR_BEHAVIOR(manual, struct thing_state, TR_ON(act, things_act),
            TR_ON(tr_sleeping, things_sleeping));
TR_DURABLE(manual, thing_state, .durability = TR_SAVE_ON_DEMAND, .idle_ns = TR_MINUTE);

static int64_t ask_it(tr_ref ref, thing_call *call, int64_t n)
{
    const struct acted *acted;
    act_ask ask = tr_ask(test, lazy_ref_of(ref), act, .call = (uint64_t)(uintptr_t)call, .n = n);
    ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
    return acted->value;
}

static tr_ref lazy_or_manual(bool is_lazy)
{
    lazy_ref lazy;
    manual_ref manual;
    if (is_lazy)
        ck_assert_int_eq(tr_try_durable(test, &lazy, lazy, "a"), TR_OK);
    else
        ck_assert_int_eq(tr_try_durable(test, &manual, manual, "a"), TR_OK);
    return is_lazy ? tr_any(lazy) : tr_any(manual);
}

static tr_next add_and_save(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    tr_save(self);
    return tr_reply(self, acted, .value = state->value);
}

static void kill_it(tr_ref ref)
{
    tr_kill(test, lazy_ref_of(ref));
    tr_kit_settle(kit);
}

TEST(changes_are_stored_at_intervals_or_on_demand, "K-01", "K-09", "Z-09")
{
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        bool is_lazy = seed % 2;
        kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                           .seed = seed,
                                           .workers = 2,
                                           .durable = TR_DURABLES(lazy, manual)});
        test = tr_kit_client(kit);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), add_and_save, 1), 1);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 1), 2);
        kill_it(lazy_or_manual(is_lazy));
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 0), 1);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 1), 2);
        tr_kit_advance(kit, 3 * TR_SECOND);
        kill_it(lazy_or_manual(is_lazy));
        int64_t value = is_lazy ? 2 : 1;
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 1), value + 1);
        tr_stop(test, lazy_ref_of(lazy_or_manual(is_lazy))); /* it sleeps */
        tr_kit_settle(kit);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 0), value + 1);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 1), value + 2);
        tr_kit_free(kit);
    }
}

TEST(what_waits_to_be_stored_is_stored_before_a_last_hook_that_fails, "SL-16", "K-01")
{
    things_on_sleeping = thing_fail;
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        bool is_lazy = seed % 2;
        kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                           .seed = seed,
                                           .workers = 2,
                                           .durable = TR_DURABLES(lazy, manual)});
        test = tr_kit_client(kit);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 3), 3);
        tr_stop(test, lazy_ref_of(lazy_or_manual(is_lazy)));
        tr_kit_settle(kit);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_add, 0), 3);
        ck_assert_int_eq(ask_it(lazy_or_manual(is_lazy), thing_sleeps, 0), 0);
        tr_kit_free(kit);
    }
}

/* ---- States that are too large. ---- */

static tr_next grow(tr_self *self, struct thing_state *state, int64_t n)
{
    static char large[TR_KV_VALUE_MAX];
    state->value += 1;
    for (int64_t i = 0; i < n; i++)
        tr_kv_put(self, (tr_bytes){&i, sizeof i}, (tr_bytes){large, sizeof large});
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_commit_of_many_megabytes_is_stored_whole, "K-01", "K-02")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", grow, 100), 1);
    things_do("a", thing_go_to_sleep, 0);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("a", thing_add, 0), 1);
    things_end();
}

/* ---- More commits than a group takes. ---- */

enum { CROWD = 1100 }; /* a group takes 4000 pages, which about 1000 small commits fill */

/* Asks all actors at once, and lets the store begin only when all their commits wait. */
static void crowd_do(thing_call *call, int64_t expected)
{
    static act_ask asks[CROWD];
    struct store *store = tr_kit_system(kit)->durable.host->store;
    for (int i = 0; i < CROWD; i++) {
        char key[16];
        snprintf(key, sizeof key, "%04d", i);
        asks[i] = things_ask(things_of(key), call, 1);
    }
    settle_without_storing();
    ck_assert_uint_ge(tr__store_waiting(store), CROWD);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr__store_waiting(store), 0);
    for (int i = 0; i < CROWD; i++) {
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
        ck_assert_int_eq(acted->value, expected);
    }
}

TEST(a_kit_stores_more_commits_than_a_group_takes, "K-01", "V-02")
{
    things_begin(1);
    crowd_do(thing_add, 1);
    crowd_do(thing_add, 2);
    things_end(); /* all are awake, and each stores how often it has slept */
}

SUITE("durable store", a_reply_waits_for_what_it_says,
      messages_leave_in_their_order_and_those_of_a_failure_do_not,
      what_was_put_is_seen_at_once_and_later, bad_keys_and_values_end_the_turn,
      changes_are_stored_at_intervals_or_on_demand,
      what_waits_to_be_stored_is_stored_before_a_last_hook_that_fails,
      a_commit_of_many_megabytes_is_stored_whole, a_kit_stores_more_commits_than_a_group_takes)
