/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar/alarm_plan.h"

#include "base/assert.h"

enum { RETRIES_DEFAULT = 20 };

static const tr_time first_default = 2 * TR_SECOND;
static const tr_time cap_default = 5 * TR_MINUTE;

/* Limits a time to the times that a plan can have. So no clock can make a sum overflow. */
static tr_time time_clamp(tr_time now)
{
    return now < 0 ? 0 : now > ALARM_TIME_MAX ? ALARM_TIME_MAX : now;
}

static tr_status check_time(tr_time time, tr_time now)
{
    if (time < 0)
        return TR_INVALID_ARGUMENT;
    return time > ALARM_TIME_MAX || time - now > ALARM_AHEAD_MAX ? TR_LIMIT : TR_OK;
}

/* ---- Making plans. ---- */

tr_status tr__alarm_plan_at(struct alarm_plan *plan, uint64_t id, tr_time time, tr_time now)
{
    now = time_clamp(now);
    tr_status status = check_time(time, now);
    if (status == TR_OK)
        *plan = (struct alarm_plan){.kind = ALARM_AT, .mark.id = id, .due = time, .seen = now};
    return status;
}

tr_status tr__alarm_plan_after(struct alarm_plan *plan, uint64_t id, tr_time delay, tr_time now)
{
    now = time_clamp(now);
    if (delay < 0)
        return TR_INVALID_ARGUMENT;
    if (delay > ALARM_AHEAD_MAX || delay > ALARM_TIME_MAX - now)
        return TR_LIMIT;
    *plan = (struct alarm_plan){
        .kind = ALARM_AFTER, .mark.id = id, .due = now + delay, .seen = now, .span = delay};
    return TR_OK;
}

/*
 * Returns the first of the times due + n * span that is after `time`. `time` must not be before
 * `due`.
 */
static tr_time grid_after(tr_time due, tr_time span, tr_time time)
{
    TR_ASSERT(time >= due);
    return time - (time - due) % span + span;
}

tr_status tr__alarm_plan_every(struct alarm_plan *plan, uint64_t id, tr_time period, tr_time anchor,
                               tr_time now)
{
    now = time_clamp(now);
    if (period < ALARM_EVERY_MIN)
        return TR_INVALID_ARGUMENT;
    if (period > ALARM_AHEAD_MAX || (anchor <= now && period > ALARM_TIME_MAX - now))
        return TR_LIMIT;
    tr_status status = check_time(anchor, now);
    if (status != TR_OK)
        return status;
    *plan = (struct alarm_plan){
        .kind = ALARM_EVERY,
        .mark.id = id,
        .due = anchor > now ? anchor : grid_after(anchor, period, now),
        .seen = now,
        .span = period,
    };
    return TR_OK;
}

/*
 * Finds the first time after `time` at which the expression fires. `time` and *due are in
 * nanoseconds.
 */
static tr_status cron_after(const struct cron *cron, const struct zone *zone, tr_time time,
                            tr_time *due)
{
    int64_t next = 0;
    tr_status status = tr__cron_next(cron, zone, time / TR_SECOND, &next);
    if (status != TR_OK)
        return status;
    if (next > ALARM_TIME_MAX / TR_SECOND)
        return TR_LIMIT;
    *due = next * TR_SECOND;
    return TR_OK;
}

tr_status tr__alarm_plan_cron(struct alarm_plan *plan, uint64_t id, const struct cron *cron,
                              const struct zone *zone, tr_time now)
{
    tr_time due = 0;
    now = time_clamp(now);
    tr_status status = cron_after(cron, zone, now, &due);
    if (status != TR_OK)
        return status;
    *plan = (struct alarm_plan){
        .kind = ALARM_CRON, .mark.id = id, .due = due, .seen = now, .cron = *cron};
    return TR_OK;
}

/* ---- Waiting. ---- */

tr_time tr__alarm_plan_wake(const struct alarm_plan *plan)
{
    return plan->failures > 0 ? plan->retry_at : plan->due;
}

/* Applies rule 4 to the due time of the open occurrence. Returns the due time by this rule. */
static tr_time due_by(const struct alarm_plan *plan, const struct zone *zone, tr_time now)
{
    tr_time due = plan->due;
    switch (plan->kind) {
    case ALARM_AT:
        break;
    case ALARM_AFTER:
        if (due > now && due - now > plan->span)
            due = now + plan->span;
        break;
    case ALARM_EVERY:
        /*
         * The first occurrence may be at an anchor in the future, further away than a span. Then it
         * waits for the anchor, and rule 4 does not limit its wait.
         */
        if (due > now && due - now > plan->span && due - plan->seen <= plan->span)
            due = now + 1 + (due - now - 1) % plan->span;
        break;
    case ALARM_CRON:
        if (now < plan->seen - (plan->cron.is_walk ? 0 : ALARM_BACK_MAX))
            (void)cron_after(&plan->cron, zone, now, &due);
        break;
    }
    return due < plan->due ? due : plan->due;
}

bool tr__alarm_plan_check(struct alarm_plan *plan, const struct zone *zone, tr_time now)
{
    now = time_clamp(now);
    if (plan->failures > 0) {
        /* The open occurrence has begun and has failed, so it waits for its retry. */
        if (plan->retry_at <= now || plan->retry_at - now <= plan->back_off)
            return false;
        plan->retry_at = time_clamp(now + plan->back_off);
        return true;
    }
    tr_time due = due_by(plan, zone, now);
    if (due == plan->due)
        return false;
    plan->due = due;
    plan->seen = now;
    return true;
}

void tr__alarm_plan_set_clock(struct alarm_plan *plan, const struct alarm_clock *clock)
{
    if (plan->kind != ALARM_AFTER)
        return;
    plan->epoch = clock->epoch;
    plan->offset = clock->offset;
}

bool tr__alarm_plan_follow(struct alarm_plan *plan, const struct alarm_clock *clock)
{
    if (plan->kind != ALARM_AFTER || plan->failures > 0)
        return false;
    tr_time offset = plan->epoch == clock->epoch ? plan->offset : clock->offset_first;
    if (offset < clock->offset || offset - clock->offset < ALARM_JUMP_MIN)
        return false;
    plan->due = time_clamp(plan->due - (offset - clock->offset));
    plan->seen = time_clamp(plan->seen - (offset - clock->offset));
    tr__alarm_plan_set_clock(plan, clock);
    return true;
}

bool tr__alarm_plan_is_due(const struct alarm_plan *plan, tr_time now)
{
    return time_clamp(now) >= tr__alarm_plan_wake(plan);
}

/* ---- Occurrences. ---- */

static bool mark_is(const struct alarm_plan *plan, struct alarm_mark mark)
{
    return plan->mark.id == mark.id && plan->mark.occurrence == mark.occurrence;
}

struct alarm_mark tr__alarm_plan_begin(struct alarm_plan *plan, tr_time now)
{
    TR_ASSERT(tr__alarm_plan_is_due(plan, now));
    plan->seen = time_clamp(now);
    return plan->mark;
}

/*
 * Opens the next occurrence by rule 2. If there is none, returns false and leaves the plan as it
 * is.
 */
static bool open_next(struct alarm_plan *plan, const struct zone *zone)
{
    tr_time base = plan->seen > plan->due ? plan->seen : plan->due;
    tr_time due = 0;
    switch (plan->kind) {
    case ALARM_AT:
    case ALARM_AFTER:
        return false;
    case ALARM_EVERY:
        if (plan->span > ALARM_TIME_MAX - base)
            return false;
        due = grid_after(plan->due, plan->span, base);
        break;
    case ALARM_CRON:
        if (cron_after(&plan->cron, zone, base, &due) != TR_OK)
            return false;
        break;
    }
    plan->mark.occurrence++;
    plan->due = due;
    plan->failures = 0;
    plan->retry_at = 0;
    plan->back_off = 0;
    return true;
}

enum alarm_outcome tr__alarm_plan_done(struct alarm_plan *plan, struct alarm_mark mark,
                                       const struct zone *zone)
{
    if (!mark_is(plan, mark))
        return ALARM_STALE;
    return open_next(plan, zone) ? ALARM_WAITS : ALARM_ENDS;
}

tr_time tr__alarm_back_off(const struct alarm_retry *retry, uint32_t failures, struct rng *rng)
{
    tr_time cap = retry->cap > 0 ? retry->cap : cap_default;
    tr_time delay = retry->first > 0 ? retry->first : first_default;
    if (cap > ALARM_BACK_OFF_MAX)
        cap = ALARM_BACK_OFF_MAX;
    for (; failures > 0 && delay < cap; failures--)
        delay *= 2;
    if (delay > cap)
        delay = cap;
    return delay + (tr_time)rng_below(rng, (uint64_t)delay / 4 + 1);
}

enum alarm_outcome tr__alarm_plan_failed(struct alarm_plan *plan, struct alarm_mark mark,
                                         const struct alarm_retry *retry, struct rng *rng,
                                         const struct zone *zone, tr_time now)
{
    if (!mark_is(plan, mark))
        return ALARM_STALE;
    uint32_t retries = retry->retries > 0 ? retry->retries : RETRIES_DEFAULT;
    if (retry->is_never || plan->failures >= retries)
        return open_next(plan, zone) ? ALARM_GAVE_UP : ALARM_GAVE_UP_ENDS;
    plan->back_off = tr__alarm_back_off(retry, plan->failures, rng);
    plan->retry_at = time_clamp(time_clamp(now) + plan->back_off);
    plan->failures++;
    return ALARM_WAITS;
}
