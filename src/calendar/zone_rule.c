/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar/zone_rule.h"

#include "base/assert.h"
#include "base/civil.h"
#include "calendar/zone.h"

/* ---- Reading. Each reader returns the place after what it has read, or NULL. ---- */

struct input {
    const char *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_next(const struct input *in, const char *at, char c)
{
    return at < in->end && *at == c;
}

/* Reads a number of at most three digits. In POSIX, no number in these texts has more digits. */
static const char *read_number(const struct input *in, const char *at, int least, int most,
                               int *number)
{
    int value = 0;
    int digits = 0;
    for (; at < in->end && is_digit(*at) && digits < 3; at++, digits++)
        value = value * 10 + (*at - '0');
    if (digits == 0 || value < least || value > most)
        return NULL;
    *number = value;
    return at;
}

/*
 * Reads a name of at least three characters: letters, as in "EST", or letters, digits and signs in
 * angle brackets, as in "<+03>".
 */
static const char *read_name(const struct input *in, const char *at)
{
    bool is_quoted = is_next(in, at, '<');
    const char *name = at += is_quoted;
    while (at < in->end &&
           (is_letter(*at) || (is_quoted && (is_digit(*at) || *at == '+' || *at == '-'))))
        at++;
    if (at - name < 3 || (is_quoted && !is_next(in, at, '>')))
        return NULL;
    return at + is_quoted;
}

/* Reads [+-]h[h[h]][:mm[:ss]] as seconds. */
static const char *read_time(const struct input *in, const char *at, int hours_max, int32_t *time)
{
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    bool is_negative = is_next(in, at, '-');
    at += is_negative || is_next(in, at, '+');
    at = read_number(in, at, 0, hours_max, &hours);
    if (at && is_next(in, at, ':')) {
        at = read_number(in, at + 1, 0, 59, &minutes);
        if (at && is_next(in, at, ':'))
            at = read_number(in, at + 1, 0, 59, &seconds);
    }
    int32_t value = hours * CIVIL_HOUR + minutes * CIVIL_MINUTE + seconds;
    *time = is_negative ? -value : value;
    return at;
}

static const char *read_change(const struct input *in, const char *at, struct zone_change *change)
{
    *change = (struct zone_change){.time = 2 * CIVIL_HOUR};
    if (!is_next(in, at, ','))
        return NULL;
    at++;
    if (is_next(in, at, 'M')) {
        change->kind = ZONE_DAY_OF_MONTH;
        at = read_number(in, at + 1, 1, 12, &change->month);
        at = at && is_next(in, at, '.') ? read_number(in, at + 1, 1, 5, &change->week) : NULL;
        at = at && is_next(in, at, '.') ? read_number(in, at + 1, 0, 6, &change->day) : NULL;
    } else if (is_next(in, at, 'J')) {
        change->kind = ZONE_DAY_JULIAN;
        at = read_number(in, at + 1, 1, 365, &change->day);
    } else {
        change->kind = ZONE_DAY_OF_YEAR;
        at = read_number(in, at, 0, 365, &change->day);
    }
    if (at && is_next(in, at, '/'))
        at = read_time(in, at + 1, 167, &change->time);
    return at;
}

tr_status tr__zone_rule_read(const char *text, size_t size, struct zone_rule *rule)
{
    struct input in = {text + size};
    struct zone_rule read = {.standard = 0};
    int32_t west = 0;
    const char *at = read_name(&in, text);
    at = at ? read_time(&in, at, 24, &west) : NULL;
    if (!at)
        return TR_BAD_DATA;
    read.standard = -west;
    read.summer = read.standard + CIVIL_HOUR;
    if (at < in.end) {
        read.has_summer = true;
        at = read_name(&in, at);
        if (at && !is_next(&in, at, ',')) {
            at = read_time(&in, at, 24, &west);
            read.summer = -west;
        }
        at = at ? read_change(&in, at, &read.begin) : NULL;
        at = at ? read_change(&in, at, &read.end) : NULL;
    }
    if (at != in.end)
        return TR_BAD_DATA;
    TR_ASSERT(read.standard >= ZONE_OFFSET_MIN && read.standard <= ZONE_OFFSET_MAX);
    TR_ASSERT(read.summer >= ZONE_OFFSET_MIN && read.summer <= ZONE_OFFSET_MAX);
    *rule = read;
    return TR_OK;
}

/* ---- Spans. ---- */

/* Returns the day on which a change happens in a year. */
static int64_t change_day(const struct zone_change *change, int64_t year)
{
    int64_t day = 0;
    switch (change->kind) {
    case ZONE_DAY_JULIAN:
        return civil_day_of(year, 1, 1) + change->day - 1 +
               (change->day >= 60 && civil_is_leap(year));
    case ZONE_DAY_OF_YEAR:
        return civil_day_of(year, 1, 1) + change->day;
    case ZONE_DAY_OF_MONTH:
        day = civil_day_of(year, change->month, 1);
        int in_month = (change->day - civil_weekday(day) + 7) % 7 + (change->week - 1) * 7;
        return day + (in_month < civil_month_days(year, change->month) ? in_month : in_month - 7);
    }
    return day;
}

/* A change near an instant: the last change up to the instant, or the first change after it. */
struct nearest {
    int64_t time;
    bool is_summer;
};

/*
 * Compares a change with the two nearest changes so far. If it is nearer to `utc`, it replaces
 * *before or *after. Of two changes at the same instant, the change to summer time counts. So a
 * zone can have summer time the whole year (RFC 8536, section 3.3.1).
 */
static void change_consider(int64_t utc, int64_t time, bool is_summer, struct nearest *before,
                            struct nearest *after)
{
    if (time > utc) {
        if (time < after->time)
            *after = (struct nearest){time, is_summer};
    } else if (time > before->time || (time == before->time && is_summer)) {
        *before = (struct nearest){time, is_summer};
    }
}

void tr__zone_rule_span(const struct zone_rule *rule, int64_t utc, struct zone_span *span)
{
    TR_ASSERT(utc >= -ZONE_TIME_MAX);
    TR_ASSERT(utc <= ZONE_TIME_MAX);
    if (!rule->has_summer) {
        *span = (struct zone_span){INT64_MIN, INT64_MAX, rule->standard};
        return;
    }
    struct nearest before = {.time = INT64_MIN};
    struct nearest after = {.time = INT64_MAX};
    int64_t year = civil_date_of(civil_floor(utc, CIVIL_DAY)).year;
    /*
     * A change may be up to a week and a day outside of its year, so the nearest changes are
     * certainly within two years to each side.
     */
    for (int64_t y = year - 2; y <= year + 2; y++) {
        int64_t begin = change_day(&rule->begin, y) * CIVIL_DAY + rule->begin.time - rule->standard;
        int64_t end = change_day(&rule->end, y) * CIVIL_DAY + rule->end.time - rule->summer;
        change_consider(utc, begin, true, &before, &after);
        change_consider(utc, end, false, &before, &after);
    }
    TR_ASSERT(before.time != INT64_MIN);
    TR_ASSERT(after.time != INT64_MAX);
    *span = (struct zone_span){
        before.time, after.time, before.is_summer ? rule->summer : rule->standard};
}
