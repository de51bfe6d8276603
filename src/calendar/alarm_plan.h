/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When an alarm fires: the arithmetic of the four kinds of alarms, of retries, and of clocks that
 * jump. This module is pure: the caller passes time, randomness and the zone, and stores the plans.
 *
 * All times are wall-clock times in nanoseconds since 1970, because a plan outlives its process. A clock before 1970 or
 * beyond ALARM_TIME_MAX is treated as that limit.
 *
 *     set -> wait -> begin -> done                    the next occurrence, or the end
 *                          -> failed -> wait -> begin the same occurrence again, after a back-off
 *                          -> failed, too often       given up: the next occurrence, or the end
 *
 * Rule 1: one occurrence is open at a time. It keeps its mark (id and number) until it is done or
 * given up, whatever happens in between. After a crash it fires again with the same mark. Rule 2:
 * the next occurrence is after the time at which the last one began. So everything that was missed
 * while no process ran is one occurrence, and everything that was missed while the handler ran is
 * one more. Rule 3: ALARM_EVERY is anchored. Each occurrence is at anchor + n * period, whenever
 * the last one ran. Rule 4: after the wall clock went back, no alarm waits longer than it asked
 * for. ALARM_AFTER and ALARM_EVERY wait at most their span, retries at most their back-off, and a
 * walk of cron (calendar/cron.h) until its next match. An appointment of cron does not fire twice
 * if the clock was set back by three hours or less, as in Vixie's cron. If it was set back by more,
 * the clock was wrong before, and the new time counts. A clock that went forward is the same as a
 * long sleep. Rule 5: if this process sees that the wall clock went back (the wall clock has lost
 * time against a monotonic clock), ALARM_AFTER moves with the wall clock, and keeps its distance
 * exactly. If the wall clock was changed while no process ran, rule 4 applies.
 */
#ifndef CALENDAR_ALARM_PLAN_H
#define CALENDAR_ALARM_PLAN_H

#include "base/rng.h"
#include "calendar/cron.h"

#define ALARM_EVERY_MIN (5 * TR_SECOND)
/** How far ahead an alarm may be, and how long a period may be: a hundred years of 365.25 days. */
#define ALARM_AHEAD_MAX (INT64_C(36525) * 24 * TR_HOUR)
/**
 * No plan has a time beyond this, which is in the year 2255. So adding a back-off to the time of a
 * plan cannot overflow.
 */
#define ALARM_TIME_MAX (INT64_C(9000000000) * TR_SECOND)
/** The three hours of rule 4, which are also in Vixie's cron. */
#define ALARM_BACK_MAX (3 * TR_HOUR)
/** The longest cap of a back-off. A greater cap counts as this one. */
#define ALARM_BACK_OFF_MAX (30 * 24 * TR_HOUR)

/* The byte form of a plan uses these values. */
enum alarm_kind { ALARM_AT = 1, ALARM_AFTER = 2, ALARM_EVERY = 3, ALARM_CRON = 4 };

/**
 * Names one occurrence of one alarm. A handler that gets the same mark twice knows that this is a
 * repetition.
 */
struct alarm_mark {
    uint64_t id;         /* from the caller: a new number each time an alarm is set */
    uint64_t occurrence; /* from 0 */
};

struct alarm_plan {
    enum alarm_kind kind;
    /*
     * Set by the caller. If true, the caller must call tr__alarm_plan_done and store the plan
     * before it runs the handler.
     */
    bool is_at_most_once;
    struct alarm_mark mark;
    tr_time due;       /* when the open occurrence is due; see rule 3 */
    tr_time seen;      /* when the last occurrence began; before that, when the alarm was set */
    tr_time span;      /* the delay of ALARM_AFTER, the period of ALARM_EVERY; 0 for other kinds */
    uint32_t failures; /* how often the open occurrence has failed */
    tr_time retry_at;  /* if failures > 0: when the next attempt is due; otherwise 0 */
    tr_time back_off;  /* the delay that led to retry_at, or 0 */
    struct cron cron;  /* the expression of ALARM_CRON; zeros for other kinds */
    uint64_t epoch;    /* for ALARM_AFTER: the process in which `offset` was read; 0: unknown */
    tr_time offset;    /* wall clock minus a monotonic clock */
    /*
     * The policy for retries of this alarm: the number of attempts, the first back-off and the
     * longest one. The caller merges it with other policies. All zero: the alarm has no policy of
     * its own.
     */
    uint32_t attempts;
    tr_time first;
    tr_time longest;
};

/** What the caller knows about the wall clock. */
struct alarm_clock {
    uint64_t epoch;       /* the number of this process, from 1 */
    tr_time offset;       /* wall clock minus monotonic clock, read now */
    tr_time offset_first; /* wall clock minus monotonic clock, read when the process began */
};

/**
 * The shortest jump of the wall clock that counts. A shorter one may be only the time that passes
 * between reading the two clocks.
 */
#define ALARM_JUMP_MIN TR_SECOND

/** A policy for retries. A member that is 0 means the value in brackets. */
struct alarm_retry {
    tr_time first;    /* the first back-off (2 s); each further one is twice as long */
    tr_time cap;      /* the longest back-off, without its random part (5 min) */
    uint32_t retries; /* after this many retries the occurrence is given up (20, about an hour) */
    bool is_never;    /* no retries at all */
};

/** What comes after an occurrence that has ended or failed. */
enum alarm_outcome {
    ALARM_WAITS, /* there is a next occurrence or retry; tr__alarm_plan_wake returns its time */
    ALARM_ENDS,  /* there is no next occurrence: the caller must remove the plan */
    /* as ALARM_WAITS, but the occurrence was given up because it failed too often */
    ALARM_GAVE_UP,
    /* as ALARM_ENDS, but the occurrence was given up because it failed too often */
    ALARM_GAVE_UP_ENDS,
    ALARM_STALE /* the mark belongs to another occurrence; nothing has changed */
};

/**
 * Makes a plan whose first occurrence is open: at a time, or after a delay. `now` is the wall
 * clock. A time in the past is allowed, and is due at once.
 *
 * Returns TR_INVALID_ARGUMENT for a time before 1970, a delay below 0, or a period below
 * ALARM_EVERY_MIN. Returns TR_LIMIT for a time that is more than ALARM_AHEAD_MAX ahead, or beyond
 * ALARM_TIME_MAX. Returns TR_NOT_FOUND for a cron expression that never fires. *plan is written on
 * TR_OK only. All of this also holds for tr__alarm_plan_every and tr__alarm_plan_cron. Any thread.
 */
TR_MUST_CHECK tr_status tr__alarm_plan_at(struct alarm_plan *plan, uint64_t id, tr_time time,
                                          tr_time now);
TR_MUST_CHECK tr_status tr__alarm_plan_after(struct alarm_plan *plan, uint64_t id, tr_time delay,
                                             tr_time now);
/**
 * Makes a plan that fires at anchor + n * period, for all n >= 0. Its first occurrence is the first
 * of these times after `now`.
 */
TR_MUST_CHECK tr_status tr__alarm_plan_every(struct alarm_plan *plan, uint64_t id, tr_time period,
                                             tr_time anchor, tr_time now);
/**
 * Makes a plan of a cron expression. Copies the expression. In all functions, `zone` must be the
 * zone that the expression names.
 */
TR_MUST_CHECK tr_status tr__alarm_plan_cron(struct alarm_plan *plan, uint64_t id,
                                            const struct cron *cron, const struct zone *zone,
                                            tr_time now);

/**
 * Returns the time at which the caller must look at a plan again: its due time, or the time of its
 * next retry.
 */
tr_time tr__alarm_plan_wake(const struct alarm_plan *plan);

/**
 * Applies rule 4. To be called after a plan was loaded, when the clock may have been set, and
 * before an alarm is fired. Returns whether the plan has changed. The caller need not store the
 * changed plan: if it loads the old plan later, this function changes the plan in the same way
 * again. In all functions, `zone` may be NULL for all kinds except cron. Any thread.
 */
bool tr__alarm_plan_check(struct alarm_plan *plan, const struct zone *zone, tr_time now);

/** Notes in a plan the clock with which the plan was made. Rule 5 needs this. */
void tr__alarm_plan_set_clock(struct alarm_plan *plan, const struct alarm_clock *clock);

/**
 * Applies rule 5. To be called just before each call of tr__alarm_plan_check. Returns whether the
 * plan has changed.
 */
bool tr__alarm_plan_follow(struct alarm_plan *plan, const struct alarm_clock *clock);

/**
 * Returns whether the alarm is due. If it is not, the caller must arm it again for
 * tr__alarm_plan_wake.
 */
bool tr__alarm_plan_is_due(const struct alarm_plan *plan, tr_time now);

/** Begins the open occurrence, which must be due. Returns its mark. */
struct alarm_mark tr__alarm_plan_begin(struct alarm_plan *plan, tr_time now);

/**
 * Ends the occurrence with this mark, because it was handled, and opens the next one. For an alarm
 * that runs at most once, the caller calls this right after tr__alarm_plan_begin, stores the plan,
 * and then runs the handler.
 */
enum alarm_outcome tr__alarm_plan_done(struct alarm_plan *plan, struct alarm_mark mark,
                                       const struct zone *zone);

/**
 * Returns the delay of the next retry after `failures` earlier failures: first * 2^failures, but at
 * most the cap. Adds a random part of up to a quarter of this delay.
 */
tr_time tr__alarm_back_off(const struct alarm_retry *retry, uint32_t failures, struct rng *rng);

/**
 * Notes that the handler of this occurrence has failed. The occurrence is tried again after the
 * delay of tr__alarm_back_off. If it has had too many retries, it is given up, and the next
 * occurrence is opened.
 */
enum alarm_outcome tr__alarm_plan_failed(struct alarm_plan *plan, struct alarm_mark mark,
                                         const struct alarm_retry *retry, struct rng *rng,
                                         const struct zone *zone, tr_time now);

#endif
