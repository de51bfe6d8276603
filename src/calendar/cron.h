/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cron expressions: "minute hour day-of-month month weekday [zone]", as in "0 9 * * MON-FRI
 * Europe/Berlin"; or "@daily Europe/Berlin".
 *
 * A field is "*", or "*" with a step, or a list of numbers, names and ranges, where a range may have a step.
 * Weekdays are 0 to 7, both ends Sunday; names are JAN to DEC and SUN to SAT in either case. Without
 * a zone it is UTC. There is no field for seconds: below a minute "every" is the better word.
 *
 * Rule 1: when both day-of-month and weekday are restricted, a day matches that matches either; when
 * one of them begins with "*", a day must match both. As in cron.
 * Rule 2: when minute or hour begins with "*", the expression is a walk: it fires at each instant
 * whose local time matches, hence on in an overlap (clocks set back), and nothing is made up for a gap.
 * Rule 3: else it is an appointment: each local time that matches fires once, at the first instant at
 * which the clock shows it or, in a gap, has passed it. So 2:30 in a gap from 2:00 to 3:00 fires at 3:00,
 * together with all else that the gap swallowed; and 2:30 in an overlap fires the first time.
 * Rule 4: an expression that does not match for 41 years never does: dates repeat after 400 years,
 * and in these no day of the calendar on a given weekday is more than 40 years from the next.
 */
#ifndef CALENDAR_CRON_H
#define CALENDAR_CRON_H

#include "calendar/zone.h"

enum {
    CRON_TEXT_MAX = 127,
    CRON_YEARS = 41, /* of rule 4 */
};

struct cron {
    uint64_t minutes; /* bit n: minute n; likewise below */
    uint32_t hours;
    uint32_t days;                /* bits 1 to 31 */
    uint16_t months;              /* bits 1 to 12 */
    uint8_t weekdays;             /* bits 0 to 6 */
    bool is_walk;                 /* rule 2 */
    bool is_either;               /* rule 1: day-of-month or weekday */
    uint8_t zone_at;              /* where the zone's name begins in the text; 0 for none */
    char text[CRON_TEXT_MAX + 1]; /* as it was written */
};

/** What is wrong with an expression, and where. */
struct cron_error {
    tr_status status;
    size_t offset;     /* of the first character that cannot be */
    const char *field; /* "minute", "hour", "day-of-month", "month", "weekday", "zone" */
    char text[120];    /* why: "hour, at 2: 24 is more than 23" */
};

/**
 * Reads an expression of `length` bytes. Whether its zone exists is not looked at, only its name.
 *
 * TR_BAD_DATA: it is none; TR_TOO_LARGE: more than CRON_TEXT_MAX bytes. *error (may be NULL, written
 * on failure only) says where, and *cron is as it was. Any thread.
 */
TR_MUST_CHECK tr_status tr__cron_read(const char *text, size_t length, struct cron *cron,
                                      struct cron_error *error);

/** The name of its zone, "UTC" when it has none. Borrowed from it. */
const char *tr__cron_zone(const struct cron *cron);

/**
 * The first instant strictly after `after` at which it fires, in seconds of UTC, in the zone of its
 * name, which the caller has found.
 *
 * TR_NOT_FOUND: never (the 30th of February); TR_INVALID_ARGUMENT: |after| > CRON_TIME_MAX. Any thread.
 */
TR_MUST_CHECK tr_status tr__cron_next(const struct cron *cron, const struct zone *zone,
                                      int64_t after, int64_t *next);

/** Up to the year 9999 and as far before 1970. */
#define CRON_TIME_MAX INT64_C(253402300799)

#endif
