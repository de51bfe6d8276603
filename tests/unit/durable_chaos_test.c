/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors that do everything at once, on a kit: hooks that fail or wait, ends of all kinds, turns beside each
 * other. Every request has an outcome, no change is seen half, nothing leaks, and no actor is stuck.
 */
#include <troupe/alarm.h>
#include <troupe/queue.h>

TR_MESSAGE(ring, (i64, n));
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
#define THINGS_OPTIONS .idle_ns = 2 * TR_SECOND, .grace_ns = TR_SECOND
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message);
#include "support/things.h"

#include "base/rng.h"

enum { KEYS = 3, OPEN_MAX = 10, OPERATIONS = 150 };

static struct rng rng;
static const char *const keys[KEYS] = {"a", "b", "c"};

static uint64_t dice(uint64_t sides)
{
    return rng_below(&rng, sides);
}

/* The state, a key and an item of a queue change together. */
static void change(tr_self *self, struct thing_state *state)
{
    tr_bytes value;
    int64_t sum = 0;
    tr_bytes key = {"sum", 3};
    if (tr_kv_get(self, key, &value))
        memcpy(&sum, value.data, sizeof sum);
    ck_assert_msg(sum == state->value && tr_queue_count(self, "q") == (size_t)(sum % 5),
                  "half a change: %lld, %lld, %zu",
                  (long long)sum,
                  (long long)state->value,
                  tr_queue_count(self, "q"));
    state->value++;
    sum++;
    tr_kv_put(self, key, (tr_bytes){&sum, sizeof sum});
    if (sum % 5) {
        tr_queue_push(self, "q", ring, .n = sum);
        return;
    }
    const struct ring *item;
    for (int64_t i = 1; i < 5; i++) {
        tr_status status = tr_queue_receive(self, "q", ring, 0, &item);
        if (status == TR_ABORTED) /* it falls asleep: not now */
            tr_crash(self, TR_ABORTED, "aborted");
        ck_assert_int_eq(status, TR_OK);
        ck_assert_int_eq(item->n, sum - 5 + i);
    }
}

static void end_somehow(tr_self *self)
{
    if (dice(12) == 0)
        tr_crash(self, TR_BAD_DATA, "by chance");
}

static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message)
{
    (void)message;
    change(self, state);
    end_somehow(self);
    if (dice(4) == 0)
        tr_alarm_after(self, tr_alarm_fired(self).name, TR_SECOND, ring);
    if (dice(4) == 0)
        (void)!tr_sleep(self, (tr_time)dice(1500) * TR_MILLISECOND);
    end_somehow(self);
    return TR_SAME;
}

static tr_next hook(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    if (dice(3) == 0)
        (void)!tr_sleep(self, (tr_time)dice(1500) * TR_MILLISECOND);
    state->other++;
    if (dice(6) == 0)
        return tr_fail(self, TR_BAD_DATA, "by chance");
    end_somehow(self);
    return TR_SAME;
}

static tr_next run(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    const struct ring *item;
    if (dice(2))
        (void)!tr_queue_receive(self, "nothing", ring, TR_HOUR, &item);
    else if (dice(2))
        (void)!tr_sleep(self, TR_SECOND);
    state->other++;
    return TR_SAME;
}

static tr_next act_somehow(tr_self *self, struct thing_state *state, int64_t n)
{
    change(self, state);
    switch (dice(14)) {
    case 0:
        (void)!tr_go_to_sleep(self);
        break;
    case 1:
        if (dice(3) == 0)
            (void)!tr_destroy(self);
        break;
    case 2:
        (void)!tr_sleep(self, (tr_time)dice(1500) * TR_MILLISECOND);
        break;
    case 3:
        TR_WAIT_UNTIL(self, "something")
        {
            (void)!tr_sleep(self, (tr_time)dice(4000) * TR_MILLISECOND);
            end_somehow(self);
        }
        break;
    case 4:
        TR_KEEP_AWAKE(self, "something")
        {
            (void)!tr_sleep(self, (tr_time)dice(1500) * TR_MILLISECOND);
            end_somehow(self);
        }
        break;
    case 5:
        tr_alarm_after(self, "a", (tr_time)dice(3000) * TR_MILLISECOND, ring);
        break;
    case 6:
        (void)tr_alarm_cancel(self, "a");
        break;
    case 7:
        if (n)
            tr_tell(self, tr_me(self), nudge, .call = (uint64_t)(uintptr_t)act_somehow);
        break;
    case 8:
        (void)!tr_try_save(self);
        break;
    case 9:
        tr_kill(self, tr_me(self));
        break;
    default:
        break;
    }
    end_somehow(self);
    return n ? tr_reply(self, acted, .value = state->value) : TR_SAME;
}

struct open_ask {
    bool is_aside;
    act_ask ask;
    act_aside_ask aside;
};

static void finish(struct open_ask *open)
{
    const struct acted *acted;
    tr_status status = open->is_aside ? tr_try_await(test, open->aside, &acted)
                                      : tr_try_await(test, open->ask, &acted);
    ck_assert_msg(status == TR_OK || status == TR_FAILED || status == TR_STOPPED ||
                      status == TR_RESTARTED || status == TR_START_FAILED ||
                      status == TR_DESTROYING,
                  "%s",
                  tr_status_name(status));
}

static void begin_one(struct open_ask *open)
{
    thing_ref ref;
    tr_status status = tr_try_durable(test, &ref, thing, keys[dice(KEYS)]);
    if (status != TR_OK)
        ck_assert_int_eq(status, TR_DESTROYING);
    *open = (struct open_ask){.is_aside = dice(3) == 0};
    if (status != TR_OK)
        ref = (thing_ref){0};
    if (open->is_aside)
        open->aside = things_ask_aside(ref, act_somehow, 1);
    else
        open->ask = things_ask(ref, act_somehow, 1);
}

static void play(uint64_t seed)
{
    struct open_ask open[OPEN_MAX];
    int count = 0;
    rng_init(&rng, seed);
    things_begin_with((tr_kit_options){.seed = seed,
                                       .workers = 1 + (int)(seed % 3),
                                       .moves = seed % 5 == 0,
                                       .awake_max = seed % 4 ? 0 : 2});
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t what = dice(100);
        if (what < 55 && count < OPEN_MAX) {
            begin_one(&open[count++]);
        } else if (what < 70 && count) {
            int at = (int)dice((uint64_t)count);
            finish(&open[at]);
            open[at] = open[--count];
        } else if (what < 85) {
            for (uint64_t steps = dice(30); steps; steps--)
                tr_kit_step(kit);
        } else if (what < 95) {
            tr_kit_advance(kit, (tr_time)dice(3000) * TR_MILLISECOND);
        } else {
            thing_ref ref;
            if (tr_try_durable(test, &ref, thing, keys[dice(KEYS)]) == TR_OK)
                what % 2 ? tr_kill(test, ref) : tr_stop(test, ref);
        }
        tr_kit_check(kit);
    }
    while (count)
        finish(&open[--count]);
    /* None is stuck: all that is idle sleeps, alarms and retries of them aside. */
    for (int i = 0; i < KEYS; i++) {
        tr_status status = TR_STOPPED;
        for (int tries = 0; tries < 200 && status != TR_OK; tries++) {
            thing_ref ref;
            const struct acted *acted;
            tr_kit_advance(kit, TR_SECOND);
            if (tr_try_durable(test, &ref, thing, keys[i]) == TR_OK)
                status = tr_try_await(test, things_ask(ref, thing_starts, 0), &acted);
        }
        ck_assert_int_eq(status, TR_OK);
    }
    things_end();
}

TEST(everything_at_once_is_no_harm, "SL-02", "SL-08", "SL-11", "SL-16", "Z-13", "Z-14", "K-01")
{
    things_on_awake = hook;
    things_on_sleeping = hook;
    things_on_destroying = hook;
    things_on_run = run;
    uint64_t first = test_seed() % 1000000;
    for (uint64_t i = 0; i < TEST_SEEDS(test_scale(150, 5000)); i++)
        play(first + i + 1);
}

TEST(the_same_for_fixed_seeds, "SL-08", "SL-11", "K-01")
{
    things_on_awake = hook;
    things_on_sleeping = hook;
    things_on_run = run;
    for (uint64_t seed = 1; seed <= TEST_SEEDS(150); seed++)
        play(seed);
}

SUITE("durable chaos", everything_at_once_is_no_harm, the_same_for_fixed_seeds)
