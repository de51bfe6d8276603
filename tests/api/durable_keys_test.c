/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors by their keys, from handlers and from clients: lists, exists, destroy, and asks that need no ref.
 */
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

/* A kind that the system does not have. */
TR_MESSAGE(stranger_state, (i64, value));
TR_ACTOR(stranger, act);
static tr_next on_act(tr_self *self)
{
    return tr_reply(self, acted);
}
TR_BEHAVIOR(stranger, struct stranger_state, TR_ON(act, on_act));
TR_DURABLE(stranger, stranger_state);

static tr_next look(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->value);
}

/* ---- Lists. ---- */

static char listed[4000];

/* Writes the keys of a page, those that are awake with a star. */
static void show(const tr_durable_page *page)
{
    size_t length = strlen(listed);
    for (size_t i = 0; i < page->count; i++) {
        const tr_durable_key *key = &page->keys[i];
        ck_assert_uint_eq(strlen(key->key.data), key->key.size);
        length += (size_t)snprintf(listed + length,
                                   sizeof listed - length,
                                   "%s%s ",
                                   (const char *)key->key.data,
                                   key->is_awake ? "*" : "");
    }
}

static const char *list_all(const char *prefix, size_t max)
{
    tr_durable_page page = {0};
    listed[0] = 0;
    do {
        ck_assert_int_eq(
            tr_durable_list(test, thing, &page, .prefix = prefix, .after = page.last, .max = max),
            TR_OK);
        show(&page);
        ck_assert(!page.has_more || page.count == max);
    } while (page.has_more);
    return listed;
}

TEST(a_list_has_keys_that_sleep_and_keys_that_are_awake, "K-12")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        ck_assert_str_eq(list_all(NULL, 3), "");
        static const char *const keys[] = {"ba", "a", "b", "c", "bb", "ab", "bab"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            things_do(keys[i], thing_add, 1);
        tr_kit_advance(kit, TR_MINUTE);
        things_do("b", thing_add, 1);
        things_do("c", thing_add, 1);
        for (size_t max = 1; max <= 8; max++)
            ck_assert_str_eq(list_all(NULL, max), "a ab b* ba bab bb c* ");
        ck_assert_str_eq(list_all("b", 2), "b* ba bab bb ");
        ck_assert_str_eq(list_all("ba", 2), "ba bab ");
        ck_assert_str_eq(list_all("x", 2), "");
        things_do("b", thing_destroy, 0);
        ck_assert_str_eq(list_all(NULL, 3), "a ab ba bab bb c* ");
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_str_eq(list_all(NULL, 3), "a ab ba bab bb c ");
        things_end();
    }
}

TEST(what_a_list_refuses, "K-12")
{
    char large[TR_KEY_MAX + 2];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = 0;
    tr_durable_page page = {.count = 77};
    things_begin(1);
    things_do("a", thing_add, 1);
    ck_assert_int_eq(tr_durable_list(test, thing, &page, .max = TR_DURABLE_LIST_MAX + 1), TR_LIMIT);
    ck_assert_int_eq(tr_durable_list(test, thing, &page, .prefix = large), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_durable_list(test, thing, &page, .prefix = "a", .prefix_bytes = {"a", 1}),
                     TR_INVALID_ARGUMENT);
    const tr_durable_range small = {.size = 3};
    ck_assert_int_eq(tr_client_durable_list(test, &tr_durable_thing, &small, &page, sizeof page),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_durable_list(test, stranger, &page), TR_NOT_FOUND);
    ck_assert_uint_eq(page.count, 77);
    ck_assert_int_eq(tr_durable_list(test, thing, &page, .max = TR_DURABLE_LIST_MAX), TR_OK);
    ck_assert_uint_eq(page.count, 1);
    ck_assert_int_eq(tr_durable_list(test, thing, &page, .prefix_bytes = {large, TR_KEY_MAX}),
                     TR_OK);
    ck_assert_uint_eq(page.count, 0);
    ck_assert_uint_eq(page.last.size, 0);
    things_end();
}

/* ---- From a handler. ---- */

TR_REQUEST(do_it, acted, (u64, what));
TR_ACTOR(visitor, do_it);
typedef int64_t visitor_call(tr_self *self);

static tr_next on_do_it(tr_self *self, const struct do_it *message)
{
    return tr_reply(self, acted, .value = ((visitor_call *)(uintptr_t)message->what)(self));
}
TR_BEHAVIOR(visitor, void, TR_ON(do_it, on_do_it));

static int64_t visit(visitor_call *call)
{
    visitor_ref ref;
    const struct acted *acted;
    ck_assert_int_eq(tr_try_spawn(test, &ref, visitor, NULL), TR_OK);
    do_it_ask ask = tr_ask_within(test, TR_HOUR, ref, do_it, .what = (uint64_t)(uintptr_t)call);
    ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
    return acted->value;
}

static int64_t list_inside(tr_self *self)
{
    tr_durable_page page = {0};
    listed[0] = 0;
    do {
        ck_assert_int_eq(
            tr_durable_list(self, thing, &page, .prefix = "b", .after = page.last, .max = 2),
            TR_OK);
        show(&page);
        (void)!tr_sleep(self, TR_SECOND); /* the page is the turn's */
        ck_assert_uint_ge(page.count, 1);
        ck_assert_int_eq(*(const char *)page.keys[0].key.data, 'b');
    } while (page.has_more);
    return tr_durable_exists(self, thing, "ba");
}

static int64_t ask_inside(tr_self *self)
{
    return tr_await(
               self,
               tr_ask_key(self, thing, "ba", act, .call = (uint64_t)(uintptr_t)thing_add, .n = 5))
        ->value;
}

static int64_t destroy_inside(tr_self *self)
{
    return tr_durable_destroy(self, thing, "ba");
}

TEST(a_handler_has_the_same_verbs, "K-12", "K-13")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        static const char *const keys[] = {"ba", "a", "b", "c", "bb"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            things_do(keys[i], thing_add, 1);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(visit(list_inside), TR_OK);
        ck_assert_str_eq(listed, "b ba bb ");
        ck_assert_int_eq(visit(ask_inside), 6);
        ck_assert_int_eq(visit(destroy_inside), TR_OK);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(visit(list_inside), TR_NOT_FOUND);
        ck_assert_str_eq(listed, "b bb ");
        ck_assert_int_eq(visit(destroy_inside), TR_NOT_FOUND);
        things_end();
    }
}

/* ---- Exists and destroy. ---- */

static int destroyings;

static tr_next count_destroying(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self, (void)n;
    destroyings++;
    ck_assert_int_eq(state->value, 1);
    return TR_SAME;
}

static tr_next no_awake(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    return tr_fail(self, TR_BAD_DATA, "it must not wake");
}

TEST(exists_wakes_nothing, "K-12")
{
    things_begin(1);
    ck_assert_int_eq(tr_durable_exists(test, thing, "a"), TR_NOT_FOUND);
    things_do("a", thing_add, 1);
    things_do("ab", thing_add, 1);
    ck_assert_int_eq(tr_durable_exists(test, thing, "a"), TR_OK);
    tr_kit_advance(kit, TR_MINUTE);
    things_on_awake = no_awake;
    ck_assert_int_eq(tr_durable_exists(test, thing, "a"), TR_OK);
    ck_assert_int_eq(tr_durable_exists(test, thing, "aa"), TR_NOT_FOUND);
    ck_assert_int_eq(tr_durable_exists(test, thing, "abc"), TR_NOT_FOUND);
    ck_assert_int_eq(tr_durable_exists(test, stranger, "a"), TR_NOT_FOUND);
    ck_assert_int_eq(tr_durable_exists(test, thing, ""), TR_INVALID_ARGUMENT);
    tr_kit_settle(kit);
    things_on_awake = NULL;
    things_end();
}

TEST(a_key_is_destroyed_from_outside, "K-12", "Z-07", "Z-15")
{
    for (int is_awake = 0; is_awake < 2; is_awake++) {
        things_begin(1);
        destroyings = 0;
        things_on_destroying = count_destroying;
        things_do("a", thing_add, 1);
        if (!is_awake)
            tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(tr_durable_destroy(test, thing, "a"), TR_OK);
        ck_assert_int_eq(tr_durable_exists(test, thing, "a"), TR_NOT_FOUND);
        tr_status again = tr_durable_destroy(test, thing, "a");
        ck_assert_msg(again == TR_NOT_FOUND || again == TR_DESTROYING, "%d", again);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(destroyings, 1);
        ck_assert_int_eq(tr_durable_destroy(test, thing, "a"), TR_NOT_FOUND);
        ck_assert_int_eq(things_do("a", look, 0), 0);
        things_on_destroying = NULL;
        things_end();
    }
}

/* To look for what must be destroyed must not make it. */
TEST(a_key_that_is_not_there_does_not_wake_to_be_destroyed, "K-12")
{
    things_begin(1);
    things_on_created = no_awake;
    things_on_awake = no_awake;
    ck_assert_int_eq(tr_durable_destroy(test, thing, "a"), TR_NOT_FOUND);
    ck_assert_int_eq(tr_durable_destroy(test, stranger, "a"), TR_NOT_FOUND);
    tr_kit_settle(kit);
    things_on_created = things_on_awake = NULL;
    things_end();
}

/* ---- Asks by key. ---- */

static tr_status try_key(const char *key, thing_call *call, int64_t n, int64_t *value)
{
    const struct acted *acted;
    act_ask ask = tr_ask_key_within(
        test, TR_MINUTE, thing, key, act, .call = (uint64_t)(uintptr_t)call, .n = n);
    tr_status status = tr_try_await(test, ask, &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

static tr_next refuse(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    return tr_refuse(self, (int)n, "no");
}

TEST(an_ask_by_key_wakes_and_has_the_outcomes_of_an_ask, "K-13", "A-01")
{
    int64_t value = 0;
    things_begin(1);
    ck_assert_int_eq(try_key("a", thing_add, 5, &value), TR_OK);
    ck_assert_int_eq(value, 5);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(try_key("a", thing_add, 5, &value), TR_OK);
    ck_assert_int_eq(value, 10);
    act_ask ask = tr_ask_key(test, thing, "a", act, .call = (uint64_t)(uintptr_t)refuse, .n = 42);
    ck_assert_int_eq(tr_try_await(test, ask, NULL), TR_REFUSED);
    ck_assert_int_eq(tr_ask_error(test, ask)->code, 42);
    ck_assert_int_eq(try_key("a", thing_fail, 0, NULL), TR_FAILED);
    ck_assert_int_eq(try_key("", thing_add, 0, NULL), TR_INVALID_ARGUMENT);
    ask = tr_ask_key(test, stranger, "a", act, .n = 1);
    ck_assert_int_eq(tr_try_await(test, ask, NULL), TR_NOT_FOUND);
    ask = tr_ask_key_within(test, -1, thing, "a", act, .n = 1);
    ck_assert_int_eq(tr_try_await(test, ask, NULL), TR_TIMEOUT);
    things_end();
}

/* ---- Asks while the actor falls asleep. ---- */

TR_MESSAGE(ask_often, (i64, count), (bool, by_key));
TR_ACTOR(crowd, ask_often);
static int64_t answered;
static int stopped;
static int others;

static tr_next on_ask_often(tr_self *self, const struct ask_often *message)
{
    for (int64_t i = 0; i < message->count; i++) {
        const struct acted *acted;
        act_ask ask;
        if (message->by_key)
            ask = tr_ask_key(self, thing, "a", act, .call = (uint64_t)(uintptr_t)thing_add, .n = 1);
        else
            ask = tr_ask(self,
                         tr_durable(self, thing, "a"),
                         act,
                         .call = (uint64_t)(uintptr_t)thing_add,
                         .n = 1);
        tr_status status = tr_try_await(self, ask, &acted);
        answered += status == TR_OK;
        stopped += status == TR_STOPPED;
        others += status != TR_OK && status != TR_STOPPED;
        (void)!tr_sleep(self, (tr_time)(tr_random(self) % 3000) * TR_MICROSECOND);
    }
    return TR_SAME;
}
TR_BEHAVIOR(crowd, void, TR_ON(ask_often, on_ask_often));

/* Many ask an actor that must sleep again and again, from several workers. */
static void ask_a_sleeper(uint64_t seed, bool by_key)
{
    enum { ASKERS = 6, ASKS = 60 };
    things_begin_with((tr_kit_options){.seed = seed, .workers = 4});
    for (int i = 0; i < ASKERS; i++) {
        crowd_ref ref;
        ck_assert_int_eq(tr_try_spawn(test, &ref, crowd, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(test, ref, ask_often, .count = ASKS, .by_key = by_key), TR_OK);
    }
    for (int i = 0; i < 200; i++) {
        thing_ref ref;
        if (tr_try_durable(test, &ref, thing, "a") == TR_OK)
            tr_stop(test, ref);
        tr_kit_advance(kit, TR_MILLISECOND);
    }
    tr_kit_advance(kit, TR_MINUTE);
    int64_t value = things_do("a", look, 0);
    ck_assert_int_eq(value, answered);
    ck_assert_int_eq(answered + stopped + others, ASKERS * ASKS);
    things_end();
}

TEST(an_ask_by_key_does_not_end_because_its_actor_fell_asleep, "K-13", "Z-07")
{
    int plain = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        answered = stopped = others = 0;
        ask_a_sleeper(seed, false);
        plain += stopped;
        answered = stopped = others = 0;
        ask_a_sleeper(seed, true);
        ck_assert_int_eq(stopped, 0);
        ck_assert_int_eq(others, 0);
    }
    printf("# %d asks by ref ended with TR_STOPPED\n", plain);
    ck_assert_int_gt(plain, 0); /* else this proves nothing */
}

/* ---- Asks of an actor that is killed. ---- */

static int begun;

static tr_next add_and_hang(tr_self *self, struct thing_state *state, int64_t n)
{
    begun++;
    state->value += n;
    (void)!tr_sleep(self, n == 1 ? TR_HOUR : 0);
    return tr_reply(self, acted, .value = state->value);
}

TR_MESSAGE(ask_one, (i64, n));
TR_ACTOR(single, ask_one);
static tr_status outcomes[4];

static tr_next on_ask_one(tr_self *self, const struct ask_one *message)
{
    act_ask ask = tr_ask_key_within(self,
                                    10 * TR_MINUTE,
                                    thing,
                                    "a",
                                    act,
                                    .call = (uint64_t)(uintptr_t)add_and_hang,
                                    .n = message->n);
    outcomes[message->n] = tr_try_await(self, ask, NULL);
    return TR_SAME;
}
TR_BEHAVIOR(single, void, TR_ON(ask_one, on_ask_one));

/* The first has stored something, and must not run again. The second has not started, and is sent again. */
TEST(only_a_request_that_no_handler_has_seen_is_sent_again, "K-13")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        begun = 0;
        outcomes[1] = outcomes[2] = (tr_status)1;
        (void)things_do("a", look, 0);
        for (int n = 1; n <= 2; n++) {
            single_ref ref;
            ck_assert_int_eq(tr_try_spawn(test, &ref, single, NULL), TR_OK);
            ck_assert_int_eq(tr_tell(test, ref, ask_one, .n = n), TR_OK);
            tr_kit_settle(kit);
        }
        ck_assert_int_eq(begun, 1);
        tr_kill(test, things_of("a"));
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(outcomes[1], TR_STOPPED);
        ck_assert_int_eq(outcomes[2], TR_OK);
        ck_assert_int_eq(begun, 2);
        ck_assert_int_eq(things_do("a", look, 0), 3);
        things_end();
    }
}

SUITE("durable keys", a_list_has_keys_that_sleep_and_keys_that_are_awake, what_a_list_refuses,
      a_handler_has_the_same_verbs, exists_wakes_nothing, a_key_is_destroyed_from_outside,
      a_key_that_is_not_there_does_not_wake_to_be_destroyed,
      an_ask_by_key_wakes_and_has_the_outcomes_of_an_ask,
      an_ask_by_key_does_not_end_because_its_actor_fell_asleep,
      only_a_request_that_no_handler_has_seen_is_sent_again)
