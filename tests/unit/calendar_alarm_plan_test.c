/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Plans of alarms: occurrences, retries, clocks that jump, and the byte form.
 */
#include "calendar/alarm_bytes.h"
#include "base/civil.h"
#include "support/fake_memory.h"
#include "support/test.h"

#include <stdio.h>

static const tr_time begin_of_2026 = INT64_C(1767225600) * TR_SECOND;
static const tr_time day = 24 * TR_HOUR;
static const struct zone utc = {.has_rule = false};
static const struct alarm_retry defaults = {.first = 0};

static struct cron cron_of(const char *text)
{
    struct cron cron;
    ck_assert_int_eq(tr__cron_read(text, strlen(text), &cron, NULL), TR_OK);
    return cron;
}

/* Fires what is due and is done with it at once; gives the due time that it had. */
static tr_time fire(struct alarm_plan *plan, tr_time now, enum alarm_outcome outcome)
{
    ck_assert(!tr__alarm_plan_check(plan, &utc, now));
    ck_assert(tr__alarm_plan_is_due(plan, now));
    tr_time due = plan->due;
    struct alarm_mark mark = tr__alarm_plan_begin(plan, now);
    ck_assert_int_eq(tr__alarm_plan_done(plan, mark, &utc), outcome);
    return due;
}

/* ---- The four kinds. ---- */

TEST(at_and_after_fire_once, "")
{
    struct alarm_plan plan;
    tr_time now = begin_of_2026;
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, now + day, now), TR_OK);
    ck_assert_int_eq(tr__alarm_plan_wake(&plan), now + day);
    ck_assert(!tr__alarm_plan_is_due(&plan, now + day - 1));
    ck_assert_int_eq(fire(&plan, now + day, ALARM_ENDS), now + day);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 2, 3 * day, now), TR_OK);
    ck_assert(!tr__alarm_plan_is_due(&plan, now + 3 * day - 1));
    ck_assert_int_eq(fire(&plan, now + 3 * day, ALARM_ENDS), now + 3 * day);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 3, 0, now), TR_OK);
    ck_assert(tr__alarm_plan_is_due(&plan, now));
}

TEST(an_alarm_in_the_past_is_due_at_once, "")
{
    struct alarm_plan plan;
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, 0, begin_of_2026), TR_OK);
    ck_assert_int_eq(fire(&plan, begin_of_2026, ALARM_ENDS), 0);
}

TEST(every_is_anchored_and_does_not_drift, "")
{
    struct alarm_plan plan;
    struct rng rng;
    tr_time anchor = begin_of_2026;
    tr_time now = anchor;
    rng_init(&rng, test_seed());
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, 7 * TR_SECOND, anchor, now), TR_OK);
    for (uint64_t n = 1; n <= 1000000; n++) {
        MODEL_ASSERT(plan.due == anchor + (tr_time)n * 7 * TR_SECOND);
        MODEL_ASSERT(plan.mark.occurrence == n - 1);
        now = plan.due + (tr_time)rng_below(&rng, 6 * (uint64_t)TR_SECOND); /* always late */
        struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
        MODEL_ASSERT(tr__alarm_plan_done(&plan, mark, NULL) == ALARM_WAITS);
    }
}

TEST(an_anchor_may_be_elsewhere, "")
{
    struct alarm_plan plan;
    tr_time now = begin_of_2026;
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, TR_HOUR, 5 * TR_MINUTE, now), TR_OK);
    ck_assert_int_eq(plan.due, now + 5 * TR_MINUTE);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, TR_HOUR, now + 3 * day, now), TR_OK);
    ck_assert_int_eq(plan.due, now + 3 * day);
    /* It waits for that, and a clock that goes back does not change it. */
    ck_assert(!tr__alarm_plan_check(&plan, NULL, now - day));
    ck_assert_int_eq(fire(&plan, now + 3 * day, ALARM_WAITS), now + 3 * day);
    ck_assert_int_eq(plan.due, now + 3 * day + TR_HOUR);
}

TEST(what_was_missed_in_a_long_sleep_is_one, "")
{
    struct alarm_plan plan;
    struct cron cron = cron_of("0 * * * *");
    tr_time now = begin_of_2026;
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, TR_HOUR, now, now), TR_OK);
    ck_assert_int_eq(fire(&plan, now + 1000 * day + 1, ALARM_WAITS), now + TR_HOUR);
    ck_assert_int_eq(plan.due, now + 1000 * day + TR_HOUR);
    ck_assert_uint_eq(plan.mark.occurrence, 1);
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &cron, &utc, now), TR_OK);
    ck_assert_int_eq(plan.due, now + TR_HOUR);
    ck_assert_int_eq(fire(&plan, now + 1000 * day + 1, ALARM_WAITS), now + TR_HOUR);
    ck_assert_int_eq(plan.due, now + 1000 * day + TR_HOUR);
}

TEST(what_was_missed_while_the_handler_ran_is_one_more, "")
{
    struct alarm_plan plan;
    tr_time now = begin_of_2026;
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, 10 * TR_SECOND, now, now), TR_OK);
    struct alarm_mark mark = tr__alarm_plan_begin(&plan, now + 10 * TR_SECOND);
    /* It runs for 35 seconds. */
    ck_assert_int_eq(tr__alarm_plan_done(&plan, mark, NULL), ALARM_WAITS);
    ck_assert(tr__alarm_plan_is_due(&plan, now + 45 * TR_SECOND));
    ck_assert_int_eq(fire(&plan, now + 45 * TR_SECOND, ALARM_WAITS), now + 20 * TR_SECOND);
    ck_assert_int_eq(plan.due, now + 50 * TR_SECOND);
}

TEST(cron_goes_from_match_to_match, "")
{
    struct alarm_plan plan;
    struct cron cron = cron_of("30 9 * * MON-FRI Europe/Berlin");
    struct zone berlin = {.has_rule = true};
    const char rule[] = "CET-1CEST,M3.5.0,M10.5.0/3";
    ck_assert_int_eq(tr__zone_rule_read(rule, sizeof rule - 1, &berlin.rule), TR_OK);
    tr_time friday = begin_of_2026 + (civil_day_of(2026, 3, 27) - civil_day_of(2026, 1, 1)) * day;
    tr_time now = friday + TR_MILLISECOND;
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &cron, &berlin, now), TR_OK);
    ck_assert_int_eq(plan.due, friday + 8 * TR_HOUR + 30 * TR_MINUTE);
    /* A quarter of a second late, and a quarter of a second into the second. */
    struct alarm_mark mark = tr__alarm_plan_begin(&plan, plan.due + TR_SECOND / 4);
    ck_assert_int_eq(tr__alarm_plan_done(&plan, mark, &berlin), ALARM_WAITS);
    ck_assert_int_eq(plan.due, friday + 3 * day + 7 * TR_HOUR + 30 * TR_MINUTE); /* in summer */
}

TEST(bad_times_have_a_status, "")
{
    struct alarm_plan plan = {.due = 77};
    struct cron never = cron_of("0 0 30 2 *");
    struct cron often = cron_of("* * * * *");
    tr_time now = begin_of_2026;
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, -1, now), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, INT64_MIN, now), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, INT64_MAX, now), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, now + ALARM_AHEAD_MAX + 1, now), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, -1, now), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, INT64_MAX, now), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, ALARM_AHEAD_MAX, ALARM_TIME_MAX), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, ALARM_EVERY_MIN - 1, now, now),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, INT64_MAX, now, now), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, TR_HOUR, -1, now), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, TR_HOUR, INT64_MAX, now), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, TR_HOUR, now, INT64_MAX), TR_LIMIT);
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &never, &utc, now), TR_NOT_FOUND);
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &often, &utc, INT64_MAX), TR_LIMIT);
    ck_assert_int_eq(plan.due, 77);
    /* Ten years are fine, and so is a clock that has lost its mind. */
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, 3653 * day, now), TR_OK);
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, now, INT64_MIN), TR_OK);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, TR_HOUR, INT64_MIN), TR_OK);
    ck_assert_int_eq(plan.due, TR_HOUR);
    ck_assert(tr__alarm_plan_is_due(&plan, INT64_MAX));
    ck_assert(!tr__alarm_plan_is_due(&plan, INT64_MIN));
}

TEST(plans_end_where_time_does, "")
{
    struct alarm_plan plan;
    tr_time now = ALARM_TIME_MAX - TR_MINUTE;
    struct cron cron = cron_of("* * * * *");
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, 40 * TR_SECOND, now, now), TR_OK);
    ck_assert_int_eq(fire(&plan, INT64_MAX, ALARM_ENDS), now + 40 * TR_SECOND);
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &cron, &utc, now - TR_MINUTE), TR_OK);
    fire(&plan, INT64_MAX, ALARM_ENDS);
}

/* ---- Marks and retries. ---- */

TEST(an_occurrence_keeps_its_mark_until_it_is_done, "")
{
    struct alarm_plan plan;
    struct rng rng;
    tr_time now = begin_of_2026;
    rng_init(&rng, 1);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 5, TR_HOUR, now, now), TR_OK);
    struct alarm_plan stored = plan;
    now = plan.due;
    struct alarm_mark first = tr__alarm_plan_begin(&plan, now);
    /* A crash: the plan is what was stored. */
    plan = stored;
    struct alarm_mark again = tr__alarm_plan_begin(&plan, now + 9 * TR_HOUR);
    ck_assert(first.id == again.id && first.occurrence == again.occurrence);
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, again, &defaults, &rng, NULL, now), ALARM_WAITS);
    ck_assert_uint_eq(plan.mark.occurrence, first.occurrence);
    ck_assert_int_eq(tr__alarm_plan_done(&plan, again, NULL), ALARM_WAITS);
    ck_assert_uint_eq(plan.mark.occurrence, first.occurrence + 1);
    /* A second answer, and the answer to an alarm that its handler has set anew, change nothing. */
    stored = plan;
    ck_assert_int_eq(tr__alarm_plan_done(&plan, again, NULL), ALARM_STALE);
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, again, &defaults, &rng, NULL, now), ALARM_STALE);
    ck_assert_int_eq(plan.due, stored.due);
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 6, now, now), TR_OK);
    ck_assert_int_eq(tr__alarm_plan_done(&plan, first, NULL), ALARM_STALE);
}

TEST(retries_back_off_with_jitter_and_a_cap, "")
{
    struct alarm_plan plan;
    struct rng rng;
    tr_time least = INT64_MAX;
    tr_time most = 0;
    rng_init(&rng, test_seed());
    for (int round = 0; round < 500; round++) {
        tr_time now = begin_of_2026;
        tr_time expected = 2 * TR_SECOND;
        ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, now, now), TR_OK);
        for (uint32_t i = 1; i <= 20; i++) {
            struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
            enum alarm_outcome outcome =
                tr__alarm_plan_failed(&plan, mark, &defaults, &rng, NULL, now);
            tr_time delay = tr__alarm_plan_wake(&plan) - now;
            ck_assert_int_eq(outcome, ALARM_WAITS);
            ck_assert_uint_eq(plan.failures, i);
            ck_assert_int_ge(delay, expected);
            ck_assert_int_le(delay, expected + expected / 4);
            least = i == 1 && delay < least ? delay : least;
            most = i == 1 && delay > most ? delay : most;
            ck_assert(!tr__alarm_plan_is_due(&plan, now + delay - 1));
            now += delay;
            expected = expected * 2 < 5 * TR_MINUTE ? expected * 2 : 5 * TR_MINUTE;
        }
        struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
        ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &defaults, &rng, NULL, now),
                         ALARM_GAVE_UP_ENDS);
    }
    ck_assert_int_lt(least, 2050 * TR_MILLISECOND);
    ck_assert_int_gt(most, 2450 * TR_MILLISECOND);
}

TEST(one_given_up_leaves_the_next, "")
{
    struct alarm_plan plan;
    struct rng rng;
    struct alarm_retry twice = {.first = TR_HOUR, .cap = INT64_MAX, .retries = 2};
    struct alarm_retry never = {.is_never = true};
    tr_time now = begin_of_2026;
    rng_init(&rng, 1);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, 30 * TR_MINUTE, now, now), TR_OK);
    now = plan.due;
    for (int i = 0; i < 2; i++) {
        struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
        ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &twice, &rng, NULL, now), ALARM_WAITS);
        ck_assert_int_eq(plan.due, begin_of_2026 + 30 * TR_MINUTE);
        now = tr__alarm_plan_wake(&plan);
    }
    struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &twice, &rng, NULL, now), ALARM_GAVE_UP);
    ck_assert_uint_eq(plan.failures, 0);
    ck_assert_int_gt(plan.due, now);
    ck_assert_int_le(plan.due, now + 30 * TR_MINUTE);
    mark = tr__alarm_plan_begin(&plan, plan.due);
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &never, &rng, NULL, plan.due),
                     ALARM_GAVE_UP);
    /* No cap is above ALARM_BACK_OFF_MAX, and nothing overflows. */
    mark = tr__alarm_plan_begin(&plan, plan.due);
    twice.first = INT64_MAX;
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &twice, &rng, NULL, 0), ALARM_WAITS);
    ck_assert_int_ge(plan.retry_at, ALARM_BACK_OFF_MAX);
    ck_assert_int_le(plan.retry_at, ALARM_BACK_OFF_MAX + ALARM_BACK_OFF_MAX / 4);
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &twice, &rng, NULL, INT64_MAX),
                     ALARM_WAITS);
    ck_assert_int_eq(plan.retry_at, ALARM_TIME_MAX);
}

/* ---- Clocks that jump. ---- */

TEST(a_clock_set_back_makes_nobody_wait_longer, "")
{
    struct alarm_plan plan;
    struct rng rng;
    struct cron walk = cron_of("*/10 * * * *");
    tr_time now = begin_of_2026;
    tr_time past = now - 1000 * day - 3 * TR_SECOND;
    rng_init(&rng, 1);
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, TR_HOUR, now), TR_OK);
    ck_assert(!tr__alarm_plan_check(&plan, NULL, now));
    ck_assert(tr__alarm_plan_check(&plan, NULL, past));
    ck_assert_int_eq(plan.due, past + TR_HOUR);
    ck_assert_int_eq(tr__alarm_plan_every(&plan, 1, 10 * TR_SECOND, now, now), TR_OK);
    fire(&plan, now + 10 * TR_SECOND, ALARM_WAITS);
    ck_assert(!tr__alarm_plan_check(&plan, NULL, now + 10 * TR_SECOND));
    ck_assert(tr__alarm_plan_check(&plan, NULL, past));
    ck_assert_int_eq(plan.due, past + 3 * TR_SECOND); /* on the grid, still */
    ck_assert(!tr__alarm_plan_check(&plan, NULL, past));
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &walk, &utc, now), TR_OK);
    ck_assert(tr__alarm_plan_check(&plan, &utc, past));
    ck_assert_int_eq(plan.due, past + 3 * TR_SECOND);
    /* A time is a time. */
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, now + day, now), TR_OK);
    ck_assert(!tr__alarm_plan_check(&plan, NULL, past));
    /* A retry waits for its back-off. */
    now = plan.due;
    struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
    ck_assert_int_eq(tr__alarm_plan_failed(&plan, mark, &defaults, &rng, NULL, now), ALARM_WAITS);
    ck_assert(!tr__alarm_plan_check(&plan, NULL, now));
    ck_assert(tr__alarm_plan_check(&plan, NULL, past));
    ck_assert_int_le(plan.retry_at - past, 2500 * TR_MILLISECOND);
}

TEST(an_appointment_comes_once_in_an_hour_that_comes_twice, "")
{
    struct alarm_plan plan;
    struct cron cron = cron_of("0 12 * * *");
    tr_time noon = begin_of_2026 + 12 * TR_HOUR;
    ck_assert_int_eq(tr__alarm_plan_cron(&plan, 1, &cron, &utc, begin_of_2026), TR_OK);
    fire(&plan, noon + TR_MINUTE, ALARM_WAITS);
    ck_assert(!tr__alarm_plan_check(&plan, &utc, noon - TR_HOUR));
    ck_assert(!tr__alarm_plan_check(&plan, &utc, noon - 2 * TR_HOUR));
    ck_assert_int_eq(plan.due, noon + day);
    /* The clock had been wrong by a year: what it shows now counts. */
    ck_assert(tr__alarm_plan_check(&plan, &utc, noon - 365 * day - TR_HOUR));
    ck_assert_int_eq(plan.due, noon - 365 * day);
}

/* ---- Against a model: a clock that runs, sleeps and jumps. ---- */

TEST(no_jump_loses_an_alarm, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (uint64_t round = 0; round < test_scale(300, 20000); round++) {
        struct alarm_plan plan;
        struct cron cron = cron_of(round % 2 ? "*/7 * * * *" : "10,40 3-20 * * *");
        tr_time now = begin_of_2026 + (tr_time)rng_below(&rng, (uint64_t)day);
        tr_time period = ALARM_EVERY_MIN + (tr_time)rng_below(&rng, (uint64_t)TR_HOUR);
        bool is_cron = rng_below(&rng, 2);
        tr_time longest = !is_cron ? period : cron.is_walk ? 7 * TR_MINUTE : 8 * TR_HOUR;
        tr_status status = is_cron ? tr__alarm_plan_cron(&plan, 1, &cron, &utc, now)
                                   : tr__alarm_plan_every(&plan, 1, period, now, now);
        ck_assert_int_eq(status, TR_OK);
        for (int step = 0; step < 200; step++) {
            uint64_t what = rng_below(&rng, 8);
            if (what == 0)
                now -= (tr_time)rng_below(&rng, (uint64_t)(400 * day)); /* back */
            else if (what == 1)
                now += (tr_time)rng_below(&rng, (uint64_t)(400 * day)); /* forward, or asleep */
            else
                now += (tr_time)rng_below(&rng, (uint64_t)(2 * longest));
            (void)tr__alarm_plan_check(&plan, &utc, now);
            MODEL_ASSERT(!tr__alarm_plan_check(&plan, &utc, now));
            /* Nobody waits longer than a period, and an appointment for three hours more. */
            MODEL_ASSERT(plan.due <= now + longest + (is_cron ? ALARM_BACK_MAX : 0));
            if (!tr__alarm_plan_is_due(&plan, now))
                continue;
            uint64_t occurrence = plan.mark.occurrence;
            struct alarm_mark mark = tr__alarm_plan_begin(&plan, now);
            MODEL_ASSERT(mark.occurrence == occurrence);
            MODEL_ASSERT(tr__alarm_plan_done(&plan, mark, &utc) == ALARM_WAITS);
            MODEL_ASSERT(plan.due > now);
            MODEL_ASSERT(plan.due <= now + longest);
        }
    }
}

/* ---- The byte form. ---- */

static void check_same(const struct alarm_plan *a, const struct alarm_plan *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert(a->is_at_most_once == b->is_at_most_once);
    ck_assert_uint_eq(a->mark.id, b->mark.id);
    ck_assert_uint_eq(a->mark.occurrence, b->mark.occurrence);
    ck_assert_int_eq(a->due, b->due);
    ck_assert_int_eq(a->seen, b->seen);
    ck_assert_int_eq(a->span, b->span);
    ck_assert_uint_eq(a->failures, b->failures);
    ck_assert_int_eq(a->retry_at, b->retry_at);
    ck_assert_int_eq(a->back_off, b->back_off);
    ck_assert_uint_eq(a->epoch, b->epoch);
    ck_assert_int_eq(a->offset, b->offset);
    ck_assert_uint_eq(a->attempts, b->attempts);
    ck_assert_int_eq(a->first, b->first);
    ck_assert_int_eq(a->longest, b->longest);
    ck_assert_str_eq(a->cron.text, b->cron.text);
    ck_assert_uint_eq(a->cron.minutes, b->cron.minutes);
    ck_assert_uint_eq(a->cron.zone_at, b->cron.zone_at);
}

static size_t make_plan(struct alarm_plan *plan, struct rng *rng,
                        unsigned char bytes[ALARM_BYTES_MAX])
{
    struct cron cron = cron_of("*/5 9-17 * * MON-FRI Europe/Berlin");
    tr_time now = (tr_time)rng_below(rng, (uint64_t)(2 * begin_of_2026));
    uint64_t id = rng_next(rng) >> rng_below(rng, 64);
    tr_time span = ALARM_EVERY_MIN + (tr_time)(rng_next(rng) >> (10 + rng_below(rng, 50)));
    tr_status status = TR_OK;
    switch (rng_below(rng, 4)) {
    case 0:
        status = tr__alarm_plan_at(plan, id, now / 2, now);
        break;
    case 1:
        status = tr__alarm_plan_after(plan, id, span, now);
        break;
    case 2:
        status = tr__alarm_plan_every(plan, id, span, now, now);
        break;
    default:
        status = tr__alarm_plan_cron(plan, id, &cron, &utc, now);
        break;
    }
    ck_assert_int_eq(status, TR_OK);
    plan->is_at_most_once = rng_below(rng, 2);
    if (rng_below(rng, 2)) {
        const struct alarm_clock clock = {.epoch = 1 + rng_below(rng, 1000),
                                          .offset = (tr_time)rng_next(rng)};
        tr__alarm_plan_set_clock(plan, &clock);
    }
    if (rng_below(rng, 2)) {
        plan->attempts = (uint32_t)rng_below(rng, 3) ? 0 : (uint32_t)rng_next(rng);
        plan->first = rng_below(rng, 3) ? 0 : (tr_time)rng_below(rng, ALARM_BACK_OFF_MAX);
        plan->longest = rng_below(rng, 3) ? 0 : (tr_time)rng_below(rng, ALARM_BACK_OFF_MAX);
    }
    if (rng_below(rng, 2)) {
        struct alarm_mark mark = tr__alarm_plan_begin(plan, plan->due);
        ck_assert_int_eq(tr__alarm_plan_failed(plan, mark, &defaults, rng, &utc, plan->due),
                         ALARM_WAITS);
    }
    return tr__alarm_plan_write(plan, bytes);
}

TEST(a_plan_comes_back_from_its_bytes, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (int i = 0; i < 2000; i++) {
        unsigned char bytes[ALARM_BYTES_MAX];
        unsigned char again[ALARM_BYTES_MAX];
        struct alarm_plan plan;
        struct alarm_plan back;
        size_t size = make_plan(&plan, &rng, bytes);
        ck_assert_int_eq(tr__alarm_plan_read(bytes, size, &back), TR_OK);
        check_same(&plan, &back);
        ck_assert_uint_eq(tr__alarm_plan_write(&back, again), size);
        ck_assert_mem_eq(bytes, again, size);
    }
}

TEST(damaged_bytes_are_refused, "")
{
    struct rng rng;
    rng_init(&rng, test_seed());
    for (int i = 0; i < 200; i++) {
        unsigned char bytes[ALARM_BYTES_MAX + 1];
        unsigned char again[ALARM_BYTES_MAX];
        struct alarm_plan plan;
        struct alarm_plan back = {.due = 77};
        size_t size = make_plan(&plan, &rng, bytes);
        for (size_t cut = 0; cut < size; cut++)
            ck_assert_int_eq(tr__alarm_plan_read(bytes, cut, &back), TR_BAD_DATA);
        bytes[size] = 0;
        ck_assert_int_eq(tr__alarm_plan_read(bytes, size + 1, &back), TR_BAD_DATA);
        ck_assert_int_eq(back.due, 77);
        unsigned char version = bytes[0];
        bytes[0] = 4;
        ck_assert_int_eq(tr__alarm_plan_read(bytes, size, &back), TR_NOT_SUPPORTED);
        bytes[0] = 0;
        ck_assert_int_eq(tr__alarm_plan_read(bytes, size, &back), TR_BAD_DATA);
        bytes[0] = version;
        /* What can be read after damage is a plan, with the bytes that it has. */
        for (size_t at = 0; at < size; at++) {
            unsigned char before = bytes[at];
            bytes[at] = (unsigned char)rng_next(&rng);
            if (tr__alarm_plan_read(bytes, size, &back) == TR_OK) {
                ck_assert_uint_eq(tr__alarm_plan_write(&back, again), size);
                ck_assert_mem_eq(bytes, again, size);
                back.due = 77;
            }
            bytes[at] = before;
        }
    }
}

TEST(bytes_of_version_one_stay_what_they_are, "")
{
    static const unsigned char bytes[] = {1,    4, 1, 7, 2,   0x80, 0xb0, 0x9d, 0xc2, 0xdf,
                                          0x01, 0, 0, 6, '@', 'd',  'a',  'i',  'l',  'y'};
    struct alarm_plan plan;
    ck_assert_int_eq(tr__alarm_plan_read(bytes, sizeof bytes, &plan), TR_OK);
    ck_assert_int_eq(plan.kind, ALARM_CRON);
    ck_assert(plan.is_at_most_once);
    ck_assert_uint_eq(plan.mark.id, 7);
    ck_assert_uint_eq(plan.mark.occurrence, 2);
    ck_assert_int_eq(plan.due, TR_MINUTE);
    ck_assert_int_eq(plan.seen, 0);
    ck_assert_str_eq(plan.cron.text, "@daily");
}

TEST(a_clock_that_is_seen_to_go_back_takes_after_along, "K-04")
{
    struct alarm_clock clock = {.epoch = 7, .offset = 1000 * TR_HOUR, .offset_first = TR_HOUR};
    struct alarm_plan plan;
    tr_time now = 2000 * TR_HOUR;
    ck_assert_int_eq(tr__alarm_plan_after(&plan, 1, 3 * TR_HOUR, now), TR_OK);
    tr__alarm_plan_set_clock(&plan, &clock);
    ck_assert(!tr__alarm_plan_follow(&plan, &clock));
    clock.offset += TR_HOUR; /* forward is a long sleep, and back again nothing */
    ck_assert(!tr__alarm_plan_follow(&plan, &clock));
    clock.offset -= TR_HOUR + ALARM_JUMP_MIN - 1;
    ck_assert(!tr__alarm_plan_follow(&plan, &clock));
    ck_assert_int_eq(plan.due, now + 3 * TR_HOUR);
    clock.offset -= TR_HOUR;
    ck_assert(tr__alarm_plan_follow(&plan, &clock));
    ck_assert_int_eq(plan.due, now + 2 * TR_HOUR - ALARM_JUMP_MIN + 1);
    ck_assert(!tr__alarm_plan_follow(&plan, &clock));
    /* By another process: from its beginning on. */
    tr_time due = plan.due;
    clock = (struct alarm_clock){.epoch = 8, .offset = TR_HOUR, .offset_first = TR_HOUR};
    ck_assert(!tr__alarm_plan_follow(&plan, &clock));
    clock.offset -= TR_MINUTE;
    ck_assert(tr__alarm_plan_follow(&plan, &clock));
    ck_assert_int_eq(plan.due, due - TR_MINUTE);
    ck_assert_uint_eq(plan.epoch, 8);
}

TEST(appointments_do_not_follow_a_clock, "K-04")
{
    struct alarm_clock clock = {.epoch = 7, .offset = 1000 * TR_HOUR};
    struct alarm_plan plan;
    ck_assert_int_eq(tr__alarm_plan_at(&plan, 1, TR_HOUR, TR_HOUR), TR_OK);
    tr__alarm_plan_set_clock(&plan, &clock);
    ck_assert_uint_eq(plan.epoch, 0);
    clock.offset = 0;
    ck_assert(!tr__alarm_plan_follow(&plan, &clock));
    ck_assert_int_eq(plan.due, TR_HOUR);
}

SUITE("durable alarm plan", at_and_after_fire_once, an_alarm_in_the_past_is_due_at_once,
      every_is_anchored_and_does_not_drift, an_anchor_may_be_elsewhere,
      what_was_missed_in_a_long_sleep_is_one, what_was_missed_while_the_handler_ran_is_one_more,
      cron_goes_from_match_to_match, bad_times_have_a_status, plans_end_where_time_does,
      an_occurrence_keeps_its_mark_until_it_is_done, retries_back_off_with_jitter_and_a_cap,
      one_given_up_leaves_the_next, a_clock_set_back_makes_nobody_wait_longer,
      an_appointment_comes_once_in_an_hour_that_comes_twice, no_jump_loses_an_alarm,
      a_plan_comes_back_from_its_bytes, damaged_bytes_are_refused,
      bytes_of_version_one_stay_what_they_are, a_clock_that_is_seen_to_go_back_takes_after_along,
      appointments_do_not_follow_a_clock)
