/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cron expressions: what is read and what is refused; single dates that people know; and whole years
 * against a walk minute by minute, with the clock of the C library.
 */
#include "base/rng.h"
#include "base/civil.h"
#include "calendar/cron.h"
#include "calendar/zones.h"
#include "support/fake_memory.h"
#include "support/test.h"
#include "support/tzif.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ZONEINFO "/usr/share/zoneinfo"

/* "2026-03-29 02:30" in seconds. */
static int64_t at(const char *text)
{
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    ck_assert_int_eq(sscanf(text, "%d-%d-%d %d:%d", &year, &month, &day, &hour, &minute), 5);
    return civil_day_of(year, month, day) * CIVIL_DAY + hour * CIVIL_HOUR + minute * CIVIL_MINUTE;
}

static struct cron cron_of(const char *text)
{
    struct cron cron;
    struct cron_error error;
    if (tr__cron_read(text, strlen(text), &cron, &error) != TR_OK)
        ck_abort_msg("\"%s\": %s", text, error.text);
    return cron;
}

/* ---- Reading. ---- */

TEST(fields_are_sets, "")
{
    struct cron cron = cron_of("0,30 8-18/2 1,15 JAN,mar-May MON-FRI");
    ck_assert_uint_eq(cron.minutes, UINT64_C(1) | UINT64_C(1) << 30);
    ck_assert_uint_eq(cron.hours, 1 << 8 | 1 << 10 | 1 << 12 | 1 << 14 | 1 << 16 | 1 << 18);
    ck_assert_uint_eq(cron.days, 1 << 1 | 1 << 15);
    ck_assert_uint_eq(cron.months, 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5);
    ck_assert_uint_eq(cron.weekdays, 0x3e);
    ck_assert(cron.is_either && !cron.is_walk);
    ck_assert_str_eq(tr__cron_zone(&cron), "UTC");
    cron = cron_of("*/15  *\t*/2 * 5-7 Europe/Berlin");
    ck_assert_uint_eq(cron.minutes, UINT64_C(0x200040008001) & UINT64_C(0xfffffffffffffff));
    ck_assert_uint_eq(cron.hours, 0xffffff);
    ck_assert_uint_eq(cron.days, 0xaaaaaaaa);
    ck_assert_uint_eq(cron.months, 0x1ffe);
    ck_assert_uint_eq(cron.weekdays, 0x61);
    ck_assert(cron.is_walk && !cron.is_either);
    ck_assert_str_eq(tr__cron_zone(&cron), "Europe/Berlin");
    ck_assert_uint_eq(cron_of("0 0 * * FRI-SUN").weekdays, 0x61);
    ck_assert_uint_eq(cron_of("0 0 * * SUN-TUE").weekdays, 0x07);
    ck_assert_uint_eq(cron_of("0 0 * * 7").weekdays, 0x01);
    ck_assert_uint_eq(cron_of("0 0 * * */2").weekdays, 0x55);
    ck_assert_uint_eq(cron_of("05 00 * * 0-7/7").weekdays, 0x01);
    ck_assert(!cron_of("0-59 0-23 * * *").is_walk);
    ck_assert(cron_of("5 * * * *").is_walk);
}

TEST(shorthands_are_expressions, "")
{
    static const char *const pairs[][2] = {
        {"@hourly", "0 * * * *"},
        {"@daily", "0 0 * * *"},
        {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * SUN"},
        {"@monthly", "0 0 1 * *"},
        {"@yearly", "0 0 1 JAN *"},
        {"@annually", "0 0 1 1 *"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct cron a = cron_of(pairs[i][0]);
        struct cron b = cron_of(pairs[i][1]);
        ck_assert_uint_eq(a.minutes, b.minutes);
        ck_assert_uint_eq(a.hours, b.hours);
        ck_assert_uint_eq(a.days, b.days);
        ck_assert_uint_eq(a.months, b.months);
        ck_assert_uint_eq(a.weekdays, b.weekdays);
        ck_assert(a.is_walk == b.is_walk && a.is_either == b.is_either);
    }
    struct cron cron = cron_of("@daily America/New_York");
    ck_assert_str_eq(tr__cron_zone(&cron), "America/New_York");
    ck_assert_str_eq(cron.text, "@daily America/New_York");
}

TEST(errors_name_the_place, "")
{
    static const struct {
        const char *text;
        const char *field;
        size_t offset;
        const char *why;
    } cases[] = {
        {"", "minute", 0, "unexpected end"},
        {" 0 0 * * *", "minute", 0, "' '"},
        {"60 0 * * *", "minute", 0, "60 is above the maximum of 59"},
        {"0 24 * * *", "hour", 2, "24 is above the maximum of 23"},
        {"0 0 0 * *", "day-of-month", 4, "0 is below the minimum of 1"},
        {"0 0 1,32 * *", "day-of-month", 6, "32 is above the maximum of 31"},
        {"0 0 * 13 *", "month", 6, "13 is above the maximum of 12"},
        {"0 0 * 0 *", "month", 6, "0 is below the minimum of 1"},
        {"0 0 * * 8", "weekday", 8, "8 is above the maximum of 7"},
        {"0 0 * * MONDAY", "weekday", 8, "'MONDAY' is not a weekday"},
        {"0 0 * FOO *", "month", 6, "'FOO' is not a month"},
        {"0 JAN * * *", "hour", 2, "unexpected 'J'; expected a number"},
        {"0 0 L * *", "day-of-month", 4, "Quartz"},
        {"0 0 ? * MON", "day-of-month", 4, "Quartz"},
        {"0 0 * * MON#2", "weekday", 11, "Quartz"},
        {"0 0 15W * *", "day-of-month", 6, "Quartz"},
        {"30-10 0 * * *", "minute", 0, "30 is above 10"},
        {"0 0 * * FRI-MON", "weekday", 8, "5 is above 1"},
        {"*/0 0 * * *", "minute", 2, "a step of 0"},
        {"*/60 0 * * *", "minute", 2, "a step of 60"},
        {"5/10 0 * * *", "minute", 1, "a step needs a range"},
        {"*,5 0 * * *", "minute", 1, "not be part of a list"},
        {"5,* 0 * * *", "minute", 2, "not be part of a list"},
        {"5, 0 * * *", "minute", 2, "unexpected ' '; expected a number"},
        {"5- 0 * * *", "minute", 2, "unexpected ' '; expected a number"},
        {"-5 0 * * *", "minute", 0, "'-'"},
        {"0-5-9 0 * * *", "minute", 3, "unexpected '-'; expected a blank"},
        {"00000 0 * * *", "minute", 0, "too long"},
        {"0 0 * *", "weekday", 7, "unexpected end"},
        {"0 0 * * * ", "zone", 10, "a blank at the end"},
        {"0 0 0 * * *", "day-of-month", 4, "minimum of 1"},
        {"0 0 1 1 * *", "zone", 10, "seconds"},
        {"0 0 * * * ../x", "zone", 10, "not the name"},
        {"0 0 * * * /etc/x", "zone", 10, "not the name"},
        {"0 0 * * * UTC x", "zone", 13, "after the time zone"},
        {"0 0 * * *x", "weekday", 9, "'x'"},
        {"0 0 * * \x01", "weekday", 8, "\\x01"},
        {"@reboot", "shorthand", 0, "unknown macro"},
        {"@dailyx", "shorthand", 0, "unknown macro"},
        {"@", "shorthand", 0, "unknown macro"},
        {"@daily UTC ", "zone", 10, "after the time zone"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cron cron = {.minutes = 77};
        struct cron_error error;
        const char *text = cases[i].text;
        ck_assert_msg(tr__cron_read(text, strlen(text), &cron, &error) == TR_BAD_DATA, "%s", text);
        ck_assert_uint_eq(cron.minutes, 77);
        ck_assert_int_eq(error.status, TR_BAD_DATA);
        ck_assert_str_eq(error.field, cases[i].field);
        ck_assert_msg(error.offset == cases[i].offset, "%s: at %zu", text, error.offset);
        ck_assert_msg(strstr(error.text, cases[i].why) != NULL, "%s: %s", text, error.text);
        ck_assert_int_eq(tr__cron_read(text, strlen(text), &cron, NULL), TR_BAD_DATA);
    }
    struct cron cron;
    struct cron_error error;
    char text[CRON_TEXT_MAX + 2] = "0 0 * * *";
    memset(text + 9, ' ', sizeof text - 9);
    memcpy(text + CRON_TEXT_MAX - 3, "UTC", 3);
    ck_assert_int_eq(tr__cron_read(text, CRON_TEXT_MAX, &cron, &error), TR_OK);
    ck_assert_str_eq(tr__cron_zone(&cron), "UTC");
    ck_assert_int_eq(tr__cron_read(text, CRON_TEXT_MAX + 1, &cron, &error), TR_TOO_LARGE);
    ck_assert_int_eq(tr__cron_read("0 0 * * *\0", 10, &cron, &error), TR_BAD_DATA);
}

/* ---- Dates that people know, in zones of which the rule is written here. ---- */

static void zone_of_rule(struct zone *zone, const char *rule)
{
    *zone = (struct zone){.has_rule = true};
    ck_assert_int_eq(tr__zone_rule_read(rule, strlen(rule), &zone->rule), TR_OK);
}

static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
static const char lord_howe[] = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0";
static const char beirut[] = "EET-2EEST,M3.5.0/0,M10.5.0/0"; /* clocks change at midnight */

/* All times are UTC. "-" is never. */
static const struct {
    const char *zone;
    const char *text;
    const char *after;
    const char *next[4];
} known[] = {
    {"UTC0", "* * * * *", "2026-01-01 00:00", {"2026-01-01 00:01", "2026-01-01 00:02"}},
    {"UTC0", "@yearly", "2026-01-01 00:00", {"2027-01-01 00:00"}},
    {"UTC0", "0 0 29 2 *", "2026-01-01 00:00", {"2028-02-29 00:00", "2032-02-29 00:00"}},
    {"UTC0", "0 0 29 2 *", "2097-01-01 00:00", {"2104-02-29 00:00"}},   /* 2100 has none */
    {"UTC0", "0 0 29 2 */7", "2089-01-01 00:00", {"2128-02-29 00:00"}}, /* and a Sunday */
    {"UTC0", "0 0 30 2 *", "2026-01-01 00:00", {"-"}},
    {"UTC0", "0 0 31 4,6,9,11 *", "2026-01-01 00:00", {"-"}},
    {"UTC0", "*/5 * 30 FEB *", "2026-01-01 00:00", {"-"}},
    {"UTC0", "0 0 13 * FRI", "2026-02-01 00:00", {"2026-02-06 00:00", "2026-02-13 00:00"}},
    {"UTC0", "0 0 */13 * FRI", "2026-02-01 00:00", {"2026-02-27 00:00", "2026-03-27 00:00"}},
    {"UTC0", "59 23 31 DEC *", "2026-12-31 23:59", {"2027-12-31 23:59"}},
    {"UTC0", "0 9 * * MON-FRI", "2026-11-13 09:00", {"2026-11-16 09:00", "2026-11-17 09:00"}},
    /* Berlin, 2026-03-29: 2:00 is 3:00, at 01:00 UTC. */
    {berlin, "30 2 * * *", "2026-03-28 02:00", {"2026-03-29 01:00", "2026-03-30 00:30"}},
    {berlin, "0,30 2 * * *", "2026-03-28 02:00", {"2026-03-29 01:00", "2026-03-30 00:00"}},
    {berlin,
     "30 2,3 * * *",
     "2026-03-28 02:00",
     {"2026-03-28 02:30", "2026-03-29 01:00", "2026-03-29 01:30", "2026-03-30 00:30"}},
    {berlin, "0 3 * * *", "2026-03-28 03:00", {"2026-03-29 01:00", "2026-03-30 01:00"}},
    {berlin,
     "*/30 * * * *",
     "2026-03-29 00:00",
     {"2026-03-29 00:30", "2026-03-29 01:00", "2026-03-29 01:30", "2026-03-29 02:00"}},
    {berlin, "*/30 2 * * *", "2026-03-28 02:00", {"2026-03-30 00:00", "2026-03-30 00:30"}},
    /* Berlin, 2026-10-25: 3:00 is 2:00, at 01:00 UTC. */
    {berlin, "30 2 * * *", "2026-10-24 01:00", {"2026-10-25 00:30", "2026-10-26 01:30"}},
    {berlin, "30 2 * * *", "2026-10-25 01:10", {"2026-10-26 01:30"}},
    {berlin, "0 3 * * *", "2026-10-24 02:00", {"2026-10-25 02:00"}},
    {berlin,
     "@hourly",
     "2026-10-24 23:30",
     {"2026-10-25 00:00", "2026-10-25 01:00", "2026-10-25 02:00"}},
    {berlin,
     "*/30 2 * * *",
     "2026-10-25 00:00",
     {"2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30", "2026-10-26 01:00"}},
    /* Half an hour, and midnight: @daily is there each day. */
    {lord_howe, "15 2 * * *", "2026-10-03 00:00", {"2026-10-03 15:30", "2026-10-04 15:15"}},
    {beirut, "@daily", "2026-03-27 22:00", {"2026-03-28 22:00", "2026-03-29 21:00"}},
    {beirut, "30 23 * * *", "2026-10-23 20:30", {"2026-10-24 20:30", "2026-10-25 21:30"}},
};

TEST(known_dates_come, "")
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct zone zone;
        struct cron cron = cron_of(known[i].text);
        int64_t now = at(known[i].after);
        zone_of_rule(&zone, known[i].zone);
        for (int j = 0; j < 4 && known[i].next[j]; j++) {
            const char *expected = known[i].next[j];
            int64_t next = 0;
            tr_status status = tr__cron_next(&cron, &zone, now, &next);
            if (strcmp(expected, "-") == 0) {
                ck_assert_int_eq(status, TR_NOT_FOUND);
                break;
            }
            ck_assert_msg(status == TR_OK && next == at(expected),
                          "%s in %s after %s: %lld, not %s",
                          known[i].text,
                          known[i].zone,
                          known[i].after,
                          (long long)next,
                          expected);
            now = next;
        }
    }
}

TEST(matches_that_are_always_in_a_gap_never_come, "")
{
    struct zone zone;
    struct cron cron = cron_of("*/5 2 8-14 MAR */7"); /* clocks go from 2:00 to 3:00 that day */
    int64_t next = 0;
    zone_of_rule(&zone, "EST5EDT,M3.2.0,M11.1.0");
    ck_assert_int_eq(tr__cron_next(&cron, &zone, 0, &next), TR_NOT_FOUND);
    cron = cron_of("5 2 8-14 MAR */7");
    ck_assert_int_eq(tr__cron_next(&cron, &zone, at("2026-01-01 00:00"), &next), TR_OK);
    ck_assert_int_eq(next, at("2026-03-08 07:00"));
}

TEST(times_beyond_the_calendar_are_refused, "")
{
    struct zone zone = {.has_rule = false};
    struct cron cron = cron_of("@yearly");
    int64_t next = 77;
    ck_assert_int_eq(tr__cron_next(&cron, &zone, INT64_MAX, &next), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__cron_next(&cron, &zone, INT64_MIN, &next), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(next, 77);
    ck_assert_int_eq(tr__cron_next(&cron, &zone, CRON_TIME_MAX, &next), TR_OK);
    ck_assert_int_eq(next, at("10000-01-01 00:00"));
    ck_assert_int_eq(tr__cron_next(&cron, &zone, -CRON_TIME_MAX, &next), TR_OK);
    ck_assert_int_eq(tr__cron_next(&cron, &zone, at("1969-06-01 00:00"), &next), TR_OK);
    ck_assert_int_eq(next, 0);
}

/* Rule 4: why 41 years are enough. */
TEST(no_date_on_a_weekday_is_more_than_forty_years_away, "")
{
    static int64_t last[13][32][7];
    int64_t first_day = civil_day_of(2000, 1, 1);
    int64_t longest = 0;
    for (int64_t day = first_day; day < first_day + 2 * CIVIL_ERA_DAYS; day++) {
        struct civil_date date = civil_date_of(day);
        int64_t *before = &last[date.month][date.day][civil_weekday(day)];
        if (*before && day - *before > longest)
            longest = day - *before;
        *before = day;
    }
    ck_assert_int_eq(longest, 40 * 365 + 9); /* with a year like 2100 among them */
    ck_assert_int_lt(longest, CRON_YEARS * 365);
}

/* ---- Whole years, minute by minute. ---- */

enum { YEARS = 2, MINUTES = YEARS * 366 * 24 * 60 };

/* What the clock on the wall shows in each minute of UTC, by the C library. */
struct minute {
    int32_t local; /* minutes from 1970 */
    int8_t minute, hour, day, month, weekday;
};

static struct minute *clock_of(const char *zone, int64_t begin)
{
    struct minute *minutes = malloc(MINUTES * sizeof *minutes);
    ck_assert_ptr_nonnull(minutes);
    setenv("TZ", zone, 1);
    tzset();
    struct tm tm = {.tm_min = 0};
    for (int i = 0; i < MINUTES; i++, tm.tm_min++) {
        time_t utc = begin + (int64_t)i * 60;
        /* It takes long. Clocks are changed at a quarter of an hour, and show one then. */
        if (i % 15 == 0)
            localtime_r(&utc, &tm);
        minutes[i] = (struct minute){
            .local = (int32_t)((utc + tm.tm_gmtoff) / 60),
            .minute = (int8_t)tm.tm_min,
            .hour = (int8_t)tm.tm_hour,
            .day = (int8_t)tm.tm_mday,
            .month = (int8_t)(tm.tm_mon + 1),
            .weekday = (int8_t)tm.tm_wday,
        };
    }
    return minutes;
}

/* An expression whose meaning is known because it was made from it. */
struct made {
    char text[CRON_TEXT_MAX + 1];
    bool sets[5][64];
    bool stars[5];
};

static void make(struct made *made, struct rng *rng)
{
    static const int least[] = {0, 0, 1, 1, 0};
    static const int most[] = {59, 23, 31, 12, 6};
    size_t length = 0;
    *made = (struct made){.text = ""};
    for (int i = 0; i < 5; i++) {
        char *text = made->text + length;
        size_t room = sizeof made->text - length;
        int first = least[i] + (int)rng_below(rng, (uint64_t)(most[i] - least[i] + 1));
        int last = first + (int)rng_below(rng, (uint64_t)(most[i] - first + 1));
        int step = 1 + (int)rng_below(rng, 7);
        int shape = (int)rng_below(rng, 6);
        if (i == 1 && rng_below(rng, 2) == 0) { /* where clocks change */
            first = last = 1 + (int)rng_below(rng, 3);
            shape = 2;
        }
        if (shape < 2 || (i >= 2 && shape == 5)) {
            made->stars[i] = true;
            first = least[i];
            last = most[i];
            step = shape == 1 && step <= most[i] ? step : 1;
            length += (size_t)snprintf(text, room, step > 1 ? "*/%d " : "* ", step);
        } else if (shape == 2) {
            last = first;
            length += (size_t)snprintf(text, room, "%d ", first);
        } else {
            step = shape == 3 && step <= most[i] ? step : 1;
            length += (size_t)snprintf(text, room, "%d-%d/%d ", first, last, step);
        }
        for (int j = first; j <= last; j += step)
            made->sets[i][j] = true;
    }
    made->text[length - 1] = '\0';
}

static bool made_matches(const struct made *made, const struct minute *now)
{
    bool is_day = made->sets[2][now->day];
    bool is_weekday = made->sets[4][now->weekday];
    bool is_right_day =
        made->stars[2] || made->stars[4] ? is_day && is_weekday : is_day || is_weekday;
    return made->sets[0][now->minute] && made->sets[1][now->hour] && made->sets[3][now->month] &&
           is_right_day;
}

/* A local minute that no clock may show, in a gap: taken apart here. */
static bool made_matches_local(const struct made *made, int32_t local)
{
    time_t seconds = (time_t)local * 60;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    struct minute now = {.minute = (int8_t)tm.tm_min,
                         .hour = (int8_t)tm.tm_hour,
                         .day = (int8_t)tm.tm_mday,
                         .month = (int8_t)(tm.tm_mon + 1),
                         .weekday = (int8_t)tm.tm_wday};
    return made_matches(made, &now);
}

/* Whether it fires in a minute, for a daemon that looks at the clock every minute. */
static bool fires(const struct made *made, const struct minute *now, int32_t *highest)
{
    if (made->stars[0] || made->stars[1])
        return made_matches(made, now);
    bool is_match = false;
    if (now->local == *highest + 1)
        is_match = made_matches(made, now);
    else
        for (int32_t local = *highest + 1; local <= now->local && !is_match; local++)
            is_match = made_matches_local(made, local);
    if (now->local > *highest)
        *highest = now->local;
    return is_match;
}

static uint64_t compare_years(const struct made *made, const struct minute *minutes,
                              const struct zone *zone, const char *name, int64_t begin)
{
    struct cron cron = cron_of(made->text);
    int32_t highest = minutes[0].local;
    uint64_t count = 0;
    int64_t next = 0;
    tr_status status = tr__cron_next(&cron, zone, begin, &next);
    for (int i = 1; i < MINUTES; i++) {
        int64_t utc = begin + (int64_t)i * 60;
        bool is_fire = fires(made, &minutes[i], &highest);
        if (is_fire != (status == TR_OK && next == utc))
            ck_abort_msg("%s in %s at %lld: %s",
                         made->text,
                         name,
                         (long long)utc,
                         is_fire ? "it should fire" : "it should not fire");
        if (!is_fire)
            continue;
        count++;
        status = tr__cron_next(&cron, zone, utc, &next);
    }
    ck_assert(status != TR_OK || next >= begin + (int64_t)MINUTES * 60);
    return count;
}

TEST(whole_years_are_as_a_walk_by_minutes_has_them, "")
{
    static const char *const names[] = {"Europe/Berlin",
                                        "America/New_York",
                                        "Australia/Lord_Howe",
                                        "Asia/Beirut",
                                        "Africa/Casablanca",
                                        "America/Nuuk",
                                        "Europe/Dublin",
                                        "Asia/Kathmandu",
                                        "Pacific/Apia",
                                        "America/Sao_Paulo"};
    static const char *const begins[] = {
        "2024-01-01 00:00", "2010-06-01 00:00", "2051-01-01 00:00"};
    uint64_t total = 0;
    struct rng rng;
    struct zones zones;
    if (access(ZONEINFO "/Europe/Berlin", R_OK) != 0)
        test_skip("no zone files here");
    rng_init(&rng, test_seed());
    tr__zones_init(&zones, tr_platform_real(), ZONEINFO);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct zone *zone = NULL;
        if (TEST_HAS_SANITIZER && rng_below(&rng, 4) > 0)
            continue;
        int64_t begin = at(begins[rng_below(&rng, 3)]);
        uint64_t rounds = test_scale(TEST_HAS_SANITIZER ? 3 : 8, 400);
        ck_assert_int_eq(tr__zones_find(&zones, names[i], &zone), TR_OK);
        struct minute *minutes = clock_of(names[i], begin);
        for (uint64_t round = 0; round < rounds; round++) {
            struct made made;
            make(&made, &rng);
            total += compare_years(&made, minutes, zone, names[i], begin);
        }
        free(minutes);
    }
    ck_assert(TEST_HAS_SANITIZER || total > 100);
    tr__zones_deinit(&zones);
}

SUITE("durable cron", fields_are_sets, shorthands_are_expressions, errors_name_the_place,
      known_dates_come, matches_that_are_always_in_a_gap_never_come,
      times_beyond_the_calendar_are_refused, no_date_on_a_weekday_is_more_than_forty_years_away,
      whole_years_are_as_a_walk_by_minutes_has_them)
