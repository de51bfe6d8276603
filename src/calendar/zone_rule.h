/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rule of a time zone after the last change in its file: the TZ text of POSIX, with hours from
 * -167 to 167 as RFC 8536 allows, section 3.3.1.
 *
 * "EST5EDT,M3.2.0,M11.1.0" is five hours west of Greenwich. Its summer time lasts from the second
 * Sunday in March at 2:00 to the first Sunday in November at 2:00, and clocks are one hour ahead
 * then. "<+0330>-3:30" has no summer time.
 */
#ifndef CALENDAR_ZONE_RULE_H
#define CALENDAR_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

enum zone_day_kind {
    ZONE_DAY_JULIAN,   /* Jn: 1 to 365; the 29th of February is never counted */
    ZONE_DAY_OF_YEAR,  /* n: 0 to 365; the 29th of February is counted */
    ZONE_DAY_OF_MONTH, /* Mm.w.d: weekday d of week w, where week 5 is the last */
};

/** When a change happens each year. */
struct zone_change {
    enum zone_day_kind kind;
    int day;      /* day of the year, or weekday; 0 is Sunday */
    int week;     /* 1 to 5 */
    int month;    /* 1 to 12 */
    int32_t time; /* seconds after midnight of that day, by the clock as it was before the change */
};

struct zone_rule {
    int32_t standard; /* seconds east of Greenwich */
    int32_t summer;
    bool has_summer;
    struct zone_change begin; /* the change to summer time */
    struct zone_change end;
};

/**
 * A span of time with a constant offset. `begin`, which is part of the span, and `end`, which is
 * not, are in UTC.
 */
struct zone_span {
    int64_t begin;  /* INT64_MIN: the span has no beginning */
    int64_t end;    /* INT64_MAX: the span has no end */
    int32_t offset; /* seconds east of Greenwich */
};

/**
 * Reads a text of `size` bytes without a NUL. Returns TR_BAD_DATA if the text is no rule, or if it
 * has summer time without dates. Errors are not repaired.
 */
TR_MUST_CHECK tr_status tr__zone_rule_read(const char *text, size_t size, struct zone_rule *rule);

/** Finds the span that contains an instant. |utc| <= ZONE_TIME_MAX. */
void tr__zone_rule_span(const struct zone_rule *rule, int64_t utc, struct zone_span *span);

#endif
