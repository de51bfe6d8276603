/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When an alarm fires: the arithmetic of at, after, every and cron, of retries, and of clocks that
 * jump. Pure: time, randomness and the zone are given, and whoever keeps plans writes them down.
 *
 * All times are the wall clock's, in nanoseconds since 1970, since a plan outlives its process. A clock
 * before 1970 or beyond ALARM_TIME_MAX is taken for that.
 *
 *     set -> wait -> begin -> done                    the next occurrence, or the end
 *                          -> failed -> wait -> begin the same occurrence again, after back-off
 *                          -> failed, too often       given up: the next occurrence, or the end
 *
 * Rule 1: one occurrence is open at a time, and it keeps its mark (id and number) until it is done or
 * given up, whatever happens in between: a crash fires it again with the same mark.
 * Rule 2: the next occurrence is after the time at which the last one began. So all that was missed
 * while nobody was there is one, and what was missed while the handler ran is one more.
 * Rule 3: every is anchored: each occurrence is anchor + n * period, whenever the last one ran.
 * Rule 4: a clock that went back makes nobody wait longer than he asked for: after and every wait
 * at most their span, retries at most their back-off, a walk of cron (calendar/cron.h) until its next
 * match. An appointment of cron does not fire twice for a clock that was set back by three hours
 * or less, as in cron; beyond that the clock had been wrong, and what counts is the new time.
 * A clock that went forward is the same as a long sleep.
 * Rule 5: a clock that is seen to go back (its distance from a clock that does not jump has shrunk) takes what waits for a
 * span along: after keeps its distance to the tick. It is seen within one process only; for what happened
 * between two there is rule 4.
 */
#ifndef CALENDAR_ALARM_PLAN_H
#define CALENDAR_ALARM_PLAN_H

#include "base/rng.h"
#include "calendar/cron.h"

#define ALARM_EVERY_MIN (5 * TR_SECOND)
/** How far ahead an alarm may be, and how long a period: a hundred years of 365.25 days. */
#define ALARM_AHEAD_MAX (INT64_C(36525) * 24 * TR_HOUR)
/** No plan has a time beyond this: 2255, which leaves room to add back-off to any time. */
#define ALARM_TIME_MAX (INT64_C(9000000000) * TR_SECOND)
/** Of rule 4, as in Vixie's cron. */
#define ALARM_BACK_MAX (3 * TR_HOUR)
/** The longest cap of a back-off; greater ones are this. */
#define ALARM_BACK_OFF_MAX (30 * 24 * TR_HOUR)

/* The values are those of the byte form. */
enum alarm_kind { ALARM_AT = 1, ALARM_AFTER = 2, ALARM_EVERY = 3, ALARM_CRON = 4 };

/** Which occurrence of which alarm: a handler that sees the same mark twice sees a repetition. */
struct alarm_mark {
    uint64_t id;         /* the caller's, another one each time an alarm is set */
    uint64_t occurrence; /* from 0 */
};

struct alarm_plan {
    enum alarm_kind kind;
    bool is_at_most_once; /* the caller's; done is then written down before the handler runs */
    struct alarm_mark mark;
    tr_time due;       /* of the open occurrence; rule 3 */
    tr_time seen;      /* when it was set, or last began */
    tr_time span;      /* of after and every; else 0 */
    uint32_t failures; /* of the open occurrence */
    tr_time retry_at;  /* when failures > 0; else 0 */
    tr_time back_off;  /* how long that was when it was chosen, likewise */
    struct cron cron;  /* of ALARM_CRON; else zero */
    uint64_t epoch;    /* of ALARM_AFTER: when `offset` was seen; 0: it is not known */
    tr_time offset;    /* of the wall clock from one that does not jump */
};

/** What is known of the wall clock. */
struct alarm_clock {
    uint64_t epoch;       /* of this process, from 1 on */
    tr_time offset;       /* now: the wall clock minus one that does not jump */
    tr_time offset_first; /* when the process began */
};

/** Jumps that are shorter are none: reading two clocks takes time, too. */
#define ALARM_JUMP_MIN TR_SECOND

/** Zero members mean what is in brackets. */
struct alarm_retry {
    tr_time first;    /* the first back-off; then it doubles (2 s) */
    tr_time cap;      /* the longest, without its jitter (5 min) */
    uint32_t retries; /* then it is given up (20, which is about an hour) */
    bool is_never;    /* no retries at all */
};

/** What follows from an occurrence. */
enum alarm_outcome {
    ALARM_WAITS,        /* there is a next time: tr__alarm_plan_wake */
    ALARM_ENDS,         /* there is none: the plan is to be removed */
    ALARM_GAVE_UP,      /* as ALARM_WAITS, after an occurrence that failed too often */
    ALARM_GAVE_UP_ENDS, /* as ALARM_ENDS, likewise */
    ALARM_STALE         /* the mark is of another occurrence; nothing has changed */
};

/**
 * Make a plan whose first occurrence is open. `now` is the wall clock.
 *
 * TR_INVALID_ARGUMENT: a time before 1970, a delay below 0, a period below ALARM_EVERY_MIN; TR_LIMIT:
 * more than ALARM_AHEAD_MAX ahead, or beyond ALARM_TIME_MAX; TR_NOT_FOUND: a cron that never fires.
 * *plan is written on TR_OK only. A time that has passed is fine: it is due at once. Any thread.
 */
TR_MUST_CHECK tr_status tr__alarm_plan_at(struct alarm_plan *plan, uint64_t id, tr_time time,
                                          tr_time now);
TR_MUST_CHECK tr_status tr__alarm_plan_after(struct alarm_plan *plan, uint64_t id, tr_time delay,
                                             tr_time now);
/** Fires at anchor + n * period, the first time after `now`; n >= 0. */
TR_MUST_CHECK tr_status tr__alarm_plan_every(struct alarm_plan *plan, uint64_t id, tr_time period,
                                             tr_time anchor, tr_time now);
/** The expression is copied; `zone` is that of its name, here and below. */
TR_MUST_CHECK tr_status tr__alarm_plan_cron(struct alarm_plan *plan, uint64_t id,
                                            const struct cron *cron, const struct zone *zone,
                                            tr_time now);

/** When to look at a plan again: at its due time, or for the next retry. */
tr_time tr__alarm_plan_wake(const struct alarm_plan *plan);

/**
 * Applies rule 4: call it when a plan was loaded, when the clock may have been set, and before an alarm is
 * fired. Whether the plan has changed; whoever does not write that down finds out the same again.
 * `zone` may be NULL for all kinds but cron, here and below. Any thread.
 */
bool tr__alarm_plan_check(struct alarm_plan *plan, const struct zone *zone, tr_time now);

/** Notes by which clock a plan was made. */
void tr__alarm_plan_set_clock(struct alarm_plan *plan, const struct alarm_clock *clock);

/** Applies rule 5, likewise; before tr__alarm_plan_check. */
bool tr__alarm_plan_follow(struct alarm_plan *plan, const struct alarm_clock *clock);

/** Whether its time has come; else it is early, and to be armed again for tr__alarm_plan_wake. */
bool tr__alarm_plan_is_due(const struct alarm_plan *plan, tr_time now);

/** The open occurrence begins; it is due. Gives its mark. */
struct alarm_mark tr__alarm_plan_begin(struct alarm_plan *plan, tr_time now);

/**
 * The occurrence with this mark has been handled. Opens the next one. At most once: call it right
 * after begin, write the plan down, then run the handler.
 */
enum alarm_outcome tr__alarm_plan_done(struct alarm_plan *plan, struct alarm_mark mark,
                                       const struct zone *zone);

/**
 * The handler of this occurrence has failed: it is tried again after first * 2^n, at most cap, and
 * up to a quarter more by chance; or given up, which opens the next one.
 */
enum alarm_outcome tr__alarm_plan_failed(struct alarm_plan *plan, struct alarm_mark mark,
                                         const struct alarm_retry *retry, struct rng *rng,
                                         const struct zone *zone, tr_time now);

#endif
