/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors against a model: several keys, random operations over several workers and seeds. What was
 * acknowledged is there, nothing is there twice, and what failed was never there.
 */
#include <troupe/alarm.h>
#include <troupe/message.h>

TR_MESSAGE(ring, (i64, n));
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
#define THINGS_OPTIONS .idle_ns = 2 * TR_SECOND, .grace_ns = TR_SECOND
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message);
#include "support/things.h"

#include "base/rng.h"

enum { KEYS = 4, OPEN_MAX = 8, OPERATIONS = 120 };

static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message)
{
    (void)self;
    (void)message;
    state->other += 1;
    return TR_SAME;
}

/* ---- What an actor does. ---- */

static void kv_add(tr_self *self, int64_t n)
{
    tr_bytes value;
    int64_t sum = 0;
    tr_bytes key = {"sum", 3};
    if (tr_kv_get(self, key, &value)) {
        ck_assert_uint_eq(value.size, sizeof sum);
        memcpy(&sum, value.data, sizeof sum);
    }
    sum += n;
    tr_kv_put(self, key, (tr_bytes){&sum, sizeof sum});
}

/* Value and key are changed together: whoever reads sees them agree. */
static void change(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_bytes value;
    int64_t sum = 0;
    if (tr_kv_get(self, (tr_bytes){"sum", 3}, &value))
        memcpy(&sum, value.data, sizeof sum);
    ck_assert_msg(sum == state->value,
                  "half a change: %lld and %lld",
                  (long long)sum,
                  (long long)state->value);
    state->value += n;
    kv_add(self, n);
}

static tr_next op_add(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next op_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    tr_reply(self, acted, .value = -1);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next op_crash(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    tr_crash(self, TR_BAD_DATA, "as told");
}

static tr_next op_slow(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    (void)!tr_sleep(self, 700 * TR_MILLISECOND);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next op_save(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    tr_save(self);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next op_sleep(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    (void)!tr_go_to_sleep(self);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next op_wait(tr_self *self, struct thing_state *state, int64_t n)
{
    TR_WAIT_UNTIL(self, "a while")
    {
        (void)!tr_sleep(self, 300 * TR_MILLISECOND);
    }
    change(self, state, n);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next op_alarm(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state, n);
    tr_alarm_after(self, "a", TR_SECOND, ring, .n = n);
    return tr_reply(self, acted, .value = state->value);
}

/* Answers with what there is, negative so that it is none of the sums, and begins the end. */
static tr_next op_destroy(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    int64_t value = state->value;
    tr_status status = tr_destroy(self);
    return tr_reply(self, acted, .value = status == TR_OK ? value : -1);
}

static thing_call *const operations[] = {
    op_add, op_add, op_add, op_fail, op_crash, op_slow, op_save, op_sleep, op_wait, op_alarm};
enum { OPERATION_KINDS = sizeof operations / sizeof operations[0] };

/* ---- The model. ---- */

struct open_ask {
    act_ask ask;
    int key;
    int64_t n;
    size_t operation;
};

struct model {
    struct rng rng;
    int64_t least[KEYS]; /* acknowledged */
    int64_t most[KEYS];  /* and what nobody knows of */
    struct open_ask open[OPEN_MAX];
    int open_count;
    unsigned served;
};

static const char *const keys[KEYS] = {"a", "b", "c", "d"};

static void finish(struct model *model, int at)
{
    struct open_ask ask = model->open[at];
    const struct acted *acted;
    model->open[at] = model->open[--model->open_count];
    tr_status status = tr_try_await(test, ask.ask, &acted);
    bool fails = operations[ask.operation] == op_fail || operations[ask.operation] == op_crash;
    if (status == TR_OK) {
        ck_assert(!fails);
        model->least[ask.key] += ask.n;
        model->most[ask.key] += ask.n;
        ck_assert_int_ge(acted->value, ask.n);
        model->served++;
        return;
    }
    ck_assert_msg(status == TR_FAILED || status == TR_STOPPED || status == TR_RESTARTED ||
                      status == TR_START_FAILED,
                  "%s",
                  tr_status_name(status));
    ck_assert(status != TR_FAILED || fails);
    /* A kill, or another's failure, may come between what was stored and its answer. */
    if (!fails)
        model->most[ask.key] += ask.n;
}

static void begin_one(struct model *model)
{
    int key = (int)rng_below(&model->rng, KEYS);
    size_t operation = rng_below(&model->rng, OPERATION_KINDS);
    int64_t n = (int64_t)rng_below(&model->rng, 9) + 1;
    thing_ref ref = things_of(keys[key]);
    model->open[model->open_count++] =
        (struct open_ask){things_ask(ref, operations[operation], n), key, n, operation};
}

static int64_t read_value(int key)
{
    int64_t value = 0;
    tr_status status;
    do {
        status = things_try(keys[key], op_add, 0, &value);
    } while (status == TR_STOPPED || status == TR_RESTARTED || status == TR_START_FAILED);
    ck_assert_int_eq(status, TR_OK);
    return value;
}

static void check_all(struct model *model)
{
    while (model->open_count)
        finish(model, 0);
    tr_kit_settle(kit);
    for (int key = 0; key < KEYS; key++) {
        int64_t value = read_value(key);
        ck_assert_msg(value >= model->least[key] && value <= model->most[key],
                      "key %d: %lld is not within %lld and %lld",
                      key,
                      (long long)value,
                      (long long)model->least[key],
                      (long long)model->most[key]);
        model->least[key] = value;
        model->most[key] = value;
    }
    tr_kit_check(kit);
}

static void destroy_one(struct model *model)
{
    check_all(model);
    int key = (int)rng_below(&model->rng, KEYS);
    int64_t value = 0;
    tr_status status = things_try(keys[key], op_destroy, 0, &value);
    ck_assert_msg(status == TR_OK || status == TR_STOPPED, "%s", tr_status_name(status));
    tr_kit_settle(kit);
    if (status == TR_OK && value >= 0) {
        ck_assert_int_eq(value, model->least[key]);
        model->least[key] = 0;
        model->most[key] = 0;
    }
}

static void play(uint64_t seed, bool moves)
{
    struct model model = {.open_count = 0};
    rng_init(&model.rng, seed);
    things_begin_with((tr_kit_options){.seed = seed,
                                       .workers = 1 + (int)(seed % 3),
                                       .moves = moves,
                                       .awake_max = seed % 4 == 0 ? 2 : 0});
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t what = rng_below(&model.rng, 100);
        if (what < 50 && model.open_count < OPEN_MAX)
            begin_one(&model);
        else if (what < 70 && model.open_count)
            finish(&model, (int)rng_below(&model.rng, (uint64_t)model.open_count));
        else if (what < 85)
            for (uint64_t steps = rng_below(&model.rng, 20); steps; steps--)
                tr_kit_step(kit);
        else if (what < 92)
            tr_kit_advance(kit, (tr_time)rng_below(&model.rng, 3000) * TR_MILLISECOND);
        else if (what < 95)
            tr_kill(test, things_of(keys[rng_below(&model.rng, KEYS)]));
        else if (what < 97)
            tr_stop(test, things_of(keys[rng_below(&model.rng, KEYS)]));
        else if (what < 98)
            destroy_one(&model);
        else
            check_all(&model);
    }
    check_all(&model);
    ck_assert_uint_gt(model.served, 5);
    things_end();
}

static tr_next write_last_words(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)n;
    state->other += 100;
    return TR_SAME;
}

TEST(what_was_acknowledged_is_there_and_nothing_twice, "SL-08", "SL-09", "SL-11", "K-01", "K-09",
     "Z-14")
{
    things_on_sleeping = write_last_words;
    uint64_t first = test_seed() % 1000000;
    for (uint64_t i = 0; i < TEST_SEEDS(test_scale(150, 5000)); i++)
        play(first + i + 1, false);
}

TEST(the_same_for_fixed_seeds, "SL-08", "SL-11", "K-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(150); seed++)
        play(seed, seed % 2);
}

SUITE("durable model", what_was_acknowledged_is_there_and_nothing_twice, the_same_for_fixed_seeds)
