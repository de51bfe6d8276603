/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a time zone does after the last change that its file lists: the TZ text of POSIX, with the
 * hours of RFC 8536, section 3.3.1 (-167 to 167).
 *
 * "EST5EDT,M3.2.0,M11.1.0": five hours west of Greenwich; summer time, an hour more, from the second
 * Sunday in March at 2:00 to the first in November at 2:00. "<+0330>-3:30" never changes.
 */
#ifndef CALENDAR_ZONE_RULE_H
#define CALENDAR_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

enum zone_day_kind {
    ZONE_DAY_JULIAN,   /* Jn: 1 to 365, the 29th of February is never counted */
    ZONE_DAY_OF_YEAR,  /* n: 0 to 365, it is */
    ZONE_DAY_OF_MONTH, /* Mm.w.d: weekday d of week w, where 5 is the last */
};

/** When a change happens each year. */
struct zone_change {
    enum zone_day_kind kind;
    int day;      /* of the year; or the weekday, 0 is Sunday */
    int week;     /* 1 to 5 */
    int month;    /* 1 to 12 */
    int32_t time; /* seconds after that day's midnight, by the clock before the change */
};

struct zone_rule {
    int32_t standard; /* seconds east of Greenwich */
    int32_t summer;
    bool has_summer;
    struct zone_change begin; /* of summer time */
    struct zone_change end;
};

/** A time in which the offset stays the same: from `begin` up to, not including, `end`. UTC. */
struct zone_span {
    int64_t begin;  /* INT64_MIN: since ever */
    int64_t end;    /* INT64_MAX: for ever */
    int32_t offset; /* seconds east of Greenwich */
};

/**
 * Reads a text of `size` bytes, without a NUL. TR_BAD_DATA: it is none, or a zone with summer time
 * does not say when. Nothing is repaired.
 */
TR_MUST_CHECK tr_status tr__zone_rule_read(const char *text, size_t size, struct zone_rule *rule);

/** The span with this instant; |utc| <= ZONE_TIME_MAX. */
void tr__zone_rule_span(const struct zone_rule *rule, int64_t utc, struct zone_span *span);

#endif
