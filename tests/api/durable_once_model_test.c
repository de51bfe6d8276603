/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id in disorder: many askers repeat the same requests of all sorts while their actors are killed, put to
 * sleep, fail and destroy nothing. No request takes effect twice, and all answers to one are the same.
 */
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(60), KEYS = 3, IDS = 12, ASKERS = 6, ASKS = 30, SORTS = 6 };

static const char *const keys[KEYS] = {"a", "b", "c"};
static int answers;             /* of all sorts */
static int begun;               /* TR_REQUEST_BEGUN */
static int disturbances;        /* asks without an answer */
static int64_t told[KEYS][IDS]; /* the first answer: 0 none */

/* The effect of a request: a count in the store of the actor. Its value says how many it has had. */
static int64_t effect(tr_self *self, int64_t id)
{
    char key[16];
    tr_bytes value;
    tr_bytes name = {key, (size_t)snprintf(key, sizeof key, "%d", (int)id)};
    int64_t count = 1;
    if (tr_kv_get(self, name, &value))
        count += *(const char *)value.data - '0';
    char digit = (char)('0' + count);
    tr_kv_put(self, name, (tr_bytes){&digit, 1});
    return count;
}

/* An answer is different each time that it is made. */
static int64_t answer_next = 1;

static tr_next one_of_all(tr_self *self, struct thing_state *state, int64_t id)
{
    bool is_unlucky = tr_random(self) % 4 == 0;
    state->value++;
    switch (id % SORTS) {
    case 0: /* in one part */
        effect(self, id);
        break;
    case 1: /* the effect comes after a wait */
        (void)!tr_sleep(self, (tr_time)(tr_random(self) % 50) * TR_MILLISECOND);
        effect(self, id);
        break;
    case 2: /* before a wait: a failure after it leaves half of it */
        effect(self, id);
        (void)!tr_sleep(self, (tr_time)(tr_random(self) % 50) * TR_MILLISECOND);
        break;
    case 3:
        effect(self, id);
        return tr_refuse(self, (int)answer_next++, "no");
    case 4: /* stored before the reply */
        effect(self, id);
        tr_save(self);
        break;
    default: /* replies first, then waits */
        effect(self, id);
        tr_reply(self, acted, .value = answer_next++);
        (void)!tr_sleep(self, (tr_time)(tr_random(self) % 50) * TR_MILLISECOND);
        return TR_SAME;
    }
    if (is_unlucky)
        return tr_fail(self, TR_BAD_DATA, "on purpose");
    return tr_reply(self, acted, .value = answer_next++);
}

static tr_next count_of(tr_self *self, struct thing_state *state, int64_t id)
{
    char key[16];
    tr_bytes value;
    (void)state;
    tr_bytes name = {key, (size_t)snprintf(key, sizeof key, "%d", (int)id)};
    bool is_there = tr_kv_get(self, name, &value);
    return tr_reply(self, acted, .value = is_there ? *(const char *)value.data - '0' : 0);
}

TR_MESSAGE(go);
TR_ACTOR(asker, go);

static void note(int key, int64_t id, tr_status status, int64_t answer)
{
    begun += status == TR_REQUEST_BEGUN;
    if (status != TR_OK && status != TR_REFUSED) {
        disturbances++;
        return;
    }
    answers++;
    if (!told[key][id])
        told[key][id] = answer;
    ck_assert_int_eq(told[key][id], answer);
}

static tr_next on_go(tr_self *self)
{
    for (int i = 0; i < ASKS; i++) {
        const struct acted *acted;
        char name[16];
        int key = (int)(tr_random(self) % KEYS);
        int64_t id = (int64_t)(tr_random(self) % IDS);
        uint64_t call = (uint64_t)(uintptr_t)one_of_all;
        snprintf(name, sizeof name, "request %d", (int)id);
        tr_pending any;
        if (id % 2)
            any = tr_ask_once(self, thing, keys[key], name, act_aside, .call = call, .n = id).any;
        else
            any = tr_ask_once(self, thing, keys[key], name, act, .call = call, .n = id).any;
        tr_status status = tr_self_try_await(self, any, (const void **)&acted);
        int64_t answer = status == TR_OK ? acted->value : tr_self_ask_error(self, any)->code;
        note(key, id, status, answer);
        (void)!tr_sleep(self, (tr_time)(tr_random(self) % 20) * TR_MILLISECOND);
    }
    return TR_SAME;
}
TR_BEHAVIOR(asker, void, TR_ON(go, on_go));

static void disturb(uint64_t *random)
{
    thing_ref ref;
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    const char *key = keys[*random >> 33 & 1 ? 0 : *random >> 34 & 1 ? 1 : 2];
    if (tr_try_durable(test, &ref, thing, key) != TR_OK)
        return;
    if (*random >> 40 & 3)
        tr_stop(test, ref);
    else
        tr_kill(test, ref);
}

static void play(uint64_t seed)
{
    uint64_t random = seed;
    memset(told, 0, sizeof told);
    things_begin_with((tr_kit_options){.seed = seed, .workers = 3});
    for (int i = 0; i < ASKERS; i++) {
        asker_ref ref;
        ck_assert_int_eq(tr_try_spawn(test, &ref, asker, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(test, ref, go), TR_OK);
    }
    for (int i = 0; i < 100; i++) {
        disturb(&random);
        tr_kit_advance(kit, (tr_time)(random >> 50) * 2 * TR_MICROSECOND);
    }
    tr_kit_advance(kit, 2 * TR_MINUTE);
    for (int key = 0; key < KEYS; key++) {
        for (int64_t id = 0; id < IDS; id++) {
            int64_t count = things_do(keys[key], count_of, id);
            ck_assert_msg(count <= 1, "%s %d took effect %d times", keys[key], (int)id, (int)count);
            ck_assert_int_ge(count, told[key][id] != 0);
        }
    }
    things_end();
}

TEST(no_request_takes_effect_twice_whatever_happens, "K-13", "K-14")
{
    uint64_t first = test_seed() >> 8;
    for (uint64_t i = 0; i < SEEDS; i++)
        play(first + i);
    printf("# %d answers, %d asks without, %d of them begun\n", answers, disturbances, begun);
    ck_assert_int_gt(answers, 100);
    ck_assert_int_gt(disturbances, 20);
    ck_assert_int_gt(begun, 0);
}

SUITE("durable once, model", no_request_takes_effect_twice_whatever_happens)
