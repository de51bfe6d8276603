/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys and values of a durable actor, many of them: what is read within a commit is what was put, however much is on
 * its way to the disk, and n keys take n steps.
 */
#define THINGS_OPTIONS .idle_ns = TR_HOUR, .grace_ns = TR_SECOND
#include "support/things.h"

#include "base/rng.h"

enum { SEEDS = TEST_SEEDS(10), MANY = TEST_HAS_SANITIZER ? 20000 : 100000 };

static tr_bytes key_of(char text[32], const char *prefix, uint64_t n)
{
    return (tr_bytes){text, (size_t)snprintf(text, 32, "%s%llu", prefix, (unsigned long long)n)};
}

static tr_next get_and_put(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    char text[32];
    tr_bytes value;
    int64_t seen = 0;
    for (int64_t i = 0; i < 2 * n; i++) {
        tr_bytes key = key_of(text, "k", (uint64_t)(i % n));
        bool is_there = tr_kv_get(self, key, &value);
        ck_assert_int_eq(is_there, i >= n);
        seen += is_there;
        tr_kv_put(self, key, (tr_bytes){"x", 1});
    }
    return tr_reply(self, acted, .value = seen);
}

/* docs/mends.md, 12: a list that is searched for each takes minutes. */
TEST(many_gets_and_puts_in_one_handler_take_their_number_of_steps, "K-02")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", get_and_put, MANY), MANY);
    things_end();
}

static tr_next put_and_list(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    char text[32];
    const tr_kv *list;
    for (int64_t i = 0; i < n; i++)
        tr_kv_put(self, key_of(text, "k", (uint64_t)i), (tr_bytes){"x", 1});
    size_t count = tr_kv_list(self, (tr_bytes){"k", 1}, (tr_bytes){NULL, 0}, &list, SIZE_MAX);
    return tr_reply(self, acted, .value = (int64_t)count);
}

/* docs/mends.md, 12. */
TEST(a_list_of_many_that_were_put_takes_their_number_of_steps, "K-02")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", put_and_list, MANY), MANY);
    things_end();
}

/* ---- Against a model: an array by number, of which 0 is no value. ---- */

enum { NUMBERS = 120, STEPS = 300 };
static uint32_t model[NUMBERS];
static struct rng rng;
static uint32_t last;

static tr_bytes number_key(char text[32], uint32_t n)
{
    return (tr_bytes){text, (size_t)snprintf(text, 32, "%c%03u", n % 2 ? 'a' : 'b', n)};
}

static void check_one(tr_self *self, uint32_t n)
{
    char text[32];
    tr_bytes value;
    bool is_there = tr_kv_get(self, number_key(text, n), &value);
    ck_assert_int_eq(is_there, model[n] != 0);
    if (is_there)
        ck_assert_int_eq(memcmp(value.data, &model[n], sizeof model[n]), 0);
}

static void check_list(tr_self *self)
{
    const tr_kv *list;
    char text[32];
    bool has_prefix = rng_below(&rng, 2);
    uint32_t odd = (uint32_t)rng_below(&rng, 2);
    uint32_t from = (uint32_t)rng_below(&rng, NUMBERS);
    size_t max = rng_below(&rng, 3) ? SIZE_MAX : (size_t)rng_below(&rng, 20);
    bool has_from = rng_below(&rng, 2);
    tr_bytes none = {NULL, 0};
    size_t count = tr_kv_list(self,
                              has_prefix ? (tr_bytes){odd ? "a" : "b", 1} : none,
                              has_from ? number_key(text, from) : none,
                              &list,
                              max);
    size_t at = 0;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t part = 1 - i; /* odd ones first: their keys begin with an a */
        for (uint32_t n = part; n < NUMBERS && at < max; n += 2) {
            char key[32];
            tr_bytes bytes = number_key(key, n);
            bool is_before = has_from && (part == from % 2 ? n < from : part > from % 2);
            if (!model[n] || (has_prefix && odd != part) || is_before)
                continue;
            ck_assert_uint_lt(at, count);
            ck_assert_uint_eq(list[at].key.size, bytes.size);
            ck_assert_int_eq(memcmp(list[at].key.data, bytes.data, bytes.size), 0);
            ck_assert_int_eq(memcmp(list[at].value.data, &model[n], sizeof model[n]), 0);
            at++;
        }
    }
    ck_assert_uint_eq(at, count);
}

static tr_next change_and_check(tr_self *self, struct thing_state *state, int64_t steps)
{
    (void)state;
    uint32_t before[NUMBERS];
    memcpy(before, model, sizeof before);
    for (int64_t i = 0; i < steps; i++) {
        uint32_t n = (uint32_t)rng_below(&rng, NUMBERS);
        char text[32];
        switch (rng_below(&rng, 8)) {
        case 0:
            tr_kv_delete(self, number_key(text, n));
            model[n] = 0;
            break;
        case 1:
            check_list(self);
            break;
        case 2:
            check_one(self, n);
            break;
        case 3:
            if (rng_below(&rng, 20) == 0) {
                (void)!tr_sleep(self, 0); /* another commit begins */
                memcpy(before, model, sizeof before);
            }
            break;
        default:
            model[n] = ++last;
            tr_kv_put(self, number_key(text, n), (tr_bytes){&model[n], sizeof model[n]});
            break;
        }
    }
    if (rng_below(&rng, 3))
        return tr_reply(self, acted, .value = 0);
    memcpy(model, before, sizeof before);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(reads_see_what_was_put_and_deleted_and_not_what_failed, "K-02", "K-01")
{
    for (uint64_t seed = 1; seed <= 3 * SEEDS; seed++) {
        things_begin(seed);
        rng_init(&rng, seed);
        memset(model, 0, sizeof model);
        for (int i = 0; i < 12; i++) {
            int64_t steps = (int64_t)rng_below(&rng, i % 2 ? 10 : STEPS);
            tr_status status = things_try("a", change_and_check, steps, NULL);
            ck_assert_msg(status == TR_OK || status == TR_FAILED, "%s", tr_status_name(status));
            if (status == TR_FAILED)
                tr_kit_advance(kit, TR_MINUTE); /* so that it may fail again */
        }
        things_end();
    }
}

SUITE("durable kv", many_gets_and_puts_in_one_handler_take_their_number_of_steps,
      a_list_of_many_that_were_put_takes_their_number_of_steps,
      reads_see_what_was_put_and_deleted_and_not_what_failed)
