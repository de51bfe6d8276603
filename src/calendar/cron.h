/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cron expressions: "minute hour day-of-month month weekday [zone]", as in "0 9 * * MON-FRI
 * Europe/Berlin"; or "@daily Europe/Berlin".
 *
 * A field is "*", or "*" with a step, or a list of numbers, names and ranges. A range may have a
 * step. Weekdays are 0 to 7, where 0 and 7 are Sunday. Names are JAN to DEC and SUN to SAT, in
 * upper or lower case. Without a zone the expression is in UTC. There is no field for seconds: for
 * periods below a minute use "every".
 *
 *   1. If both day-of-month and weekday are restricted, a day matches if one of the two fields
 *      matches. If one of the two fields begins with "*", a day must match both fields. This is as
 *      in cron.
 *   2. If minute or hour begins with "*", the expression is a walk. It fires at each instant whose
 *      local time matches. So it continues to fire in an overlap (after clocks were set back), and
 *      nothing is made up for after a gap.
 *   3. Any other expression is an appointment. Each local time that matches fires once: at the
 *      first instant at which the clock shows that time. If a gap skips the time, it fires at the
 *      first instant after the gap. For example, 2:30 in a gap from 2:00 to 3:00 fires at 3:00,
 *      together with all other appointments in the gap. 2:30 in an overlap fires the first time.
 *   4. An expression that does not match for 41 years never matches. The calendar repeats after 400
 *      years, and within these a given date falls on a given weekday again after at most 40 years.
 */
#ifndef CALENDAR_CRON_H
#define CALENDAR_CRON_H

#include "calendar/zone.h"

enum {
    CRON_TEXT_MAX = 127,
    CRON_YEARS = 41, /* how many years rule 4 searches */
};

struct cron {
    uint64_t minutes; /* bit n stands for minute n; the next four members are sets of bits too */
    uint32_t hours;
    uint32_t days;    /* bits 1 to 31 */
    uint16_t months;  /* bits 1 to 12 */
    uint8_t weekdays; /* bits 0 to 6 */
    bool is_walk;     /* rule 2 */
    /* rule 1: a day must match day-of-month or weekday, and need not match both */
    bool is_either;
    uint8_t zone_at;              /* offset of the zone's name in the text; 0: none */
    char text[CRON_TEXT_MAX + 1]; /* the expression as it was written */
};

/** What is wrong with an expression, and where. */
struct cron_error {
    tr_status status;
    size_t offset; /* where the first wrong character is in the text */
    /* "minute", "hour", "day-of-month", "month", "weekday", "zone" or "shorthand" */
    const char *field;
    char text[120]; /* the reason: "hour, at 2: 24 is more than 23" */
};

/**
 * Reads an expression of `length` bytes. Checks the form of the zone's name, but not whether the
 * zone exists.
 *
 * Returns TR_BAD_DATA if the text is no expression, and TR_TOO_LARGE if it has more than
 * CRON_TEXT_MAX bytes. On failure *cron is unchanged. If `error` is not NULL, *error then says what
 * is wrong and where. Any thread.
 */
TR_MUST_CHECK tr_status tr__cron_read(const char *text, size_t length, struct cron *cron,
                                      struct cron_error *error);

/**
 * Returns the name of the zone, which is borrowed from the expression. Returns "UTC" if the
 * expression names no zone.
 */
const char *tr__cron_zone(const struct cron *cron);

/**
 * Finds the first instant after `after` at which the expression fires, in seconds of UTC. `zone`
 * must be the zone that the expression names.
 *
 * Returns TR_NOT_FOUND if the expression never fires (the 30th of February), and
 * TR_INVALID_ARGUMENT if |after| > CRON_TIME_MAX. Any thread.
 */
TR_MUST_CHECK tr_status tr__cron_next(const struct cron *cron, const struct zone *zone,
                                      int64_t after, int64_t *next);

/**
 * How far from 1970 a time may be, in seconds: up to the end of the year 9999, and as far before
 * 1970.
 */
#define CRON_TIME_MAX INT64_C(253402300799)

#endif
