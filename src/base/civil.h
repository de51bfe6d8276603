/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Days and dates of the Gregorian calendar, also for dates before that calendar was introduced. The functions only
 * calculate, by the method of Howard Hinnant: a year begins in March, and an era has 400 years.
 *
 * A day is the number of days since 1970-01-01. A local time is the number of seconds since midnight of day 0, as a
 * clock on the wall shows the time.
 */
#ifndef BASE_CIVIL_H
#define BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CIVIL_MINUTE = 60,
    CIVIL_HOUR = 60 * CIVIL_MINUTE,
    CIVIL_DAY = 24 * CIVIL_HOUR,
    CIVIL_ERA_DAYS = 146097, /* number of days in 400 years */
};

struct civil_date {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

/** Divides and rounds down, also if `number` is negative. `divisor` must be above 0. */
static inline int64_t civil_floor(int64_t number, int64_t divisor)
{
    int64_t quotient = number / divisor;
    return number % divisor < 0 ? quotient - 1 : quotient;
}

static inline bool civil_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline int civil_month_days(int64_t year, int month)
{
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && civil_is_leap(year));
}

static inline int64_t civil_day_of(int64_t year, int month, int day)
{
    int64_t march_year = year - (month <= 2);
    int64_t era = civil_floor(march_year, 400);
    int64_t year_of_era = march_year - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * CIVIL_ERA_DAYS + day_of_era - 719468;
}

static inline struct civil_date civil_date_of(int64_t day)
{
    int64_t shifted = day + 719468;
    int64_t era = civil_floor(shifted, CIVIL_ERA_DAYS);
    int64_t day_of_era = shifted - era * CIVIL_ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * day_of_year + 2) / 153;
    int month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    return (struct civil_date){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1),
    };
}

/** Returns the weekday of a day; 0 is Sunday. */
static inline int civil_weekday(int64_t day)
{
    return (int)(day + 4 - civil_floor(day + 4, 7) * 7);
}

#endif
