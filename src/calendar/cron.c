/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar/cron.h"

#include "base/assert.h"
#include "base/civil.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Reading. ---- */

enum { FIELDS = 5, FIELD_MINUTE = 0, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY };

struct field {
    const char *name;
    int least;
    int most;
    /*
     * the names of all values, three letters each, beginning with that of `least`; NULL: the values
     * have no names
     */
    const char *names;
};

static const struct field fields[FIELDS] = {
    {"minute", 0, 59, NULL},
    {"hour", 0, 23, NULL},
    {"day-of-month", 1, 31, NULL},
    {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
    {"weekday", 0, 7, "SUNMONTUEWEDTHUFRISAT"},
};

static const struct {
    const char *word;
    const char *fields;
} shorthands[] = {
    {"@hourly", "0 * * * *"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"},
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
};

/*
 * An expression that is being read. Error messages use its places, which are offsets into the text.
 */
struct input {
    const char *text;
    size_t length;
    size_t at;
    const char *field; /* the name of the field that is being read */
    struct cron_error *error;
};

TR_PRINTF(4, 5)
static tr_status cron_wrong(const struct input *in, tr_status status, size_t offset,
                            const char *format, ...)
{
    struct cron_error *error = in->error;
    if (!error)
        return status;
    *error = (struct cron_error){.status = status, .offset = offset, .field = in->field};
    int length = snprintf(error->text, sizeof error->text, "%s, at %zu: ", in->field, offset);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(error->text + length, sizeof error->text - (size_t)length, format, list);
    va_end(list);
    return status;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/*
 * Returns the next character, or NUL at the end. A NUL inside the text also returns NUL, and is
 * refused like any other wrong character.
 */
static char cron_peek(const struct input *in)
{
    if (in->at == in->length)
        return '\0';
    return in->text[in->at];
}

/* Reports that the next character is not allowed here. */
static tr_status cron_unexpected(const struct input *in, const char *expected)
{
    char c = cron_peek(in);
    if (in->at == in->length)
        return cron_wrong(in, TR_BAD_DATA, in->at, "unexpected end; expected %s", expected);
    if (c == '?' || c == 'L' || c == 'W' || c == '#')
        return cron_wrong(
            in, TR_BAD_DATA, in->at, "'%c' is not supported: it belongs to Quartz, not to cron", c);
    if (c >= ' ' && c <= '~')
        return cron_wrong(in, TR_BAD_DATA, in->at, "unexpected '%c'; expected %s", c, expected);
    return cron_wrong(in,
                      TR_BAD_DATA,
                      in->at,
                      "unexpected byte \\x%02x; expected %s",
                      (unsigned char)c,
                      expected);
}

static tr_status read_number(struct input *in, int *number)
{
    size_t begin = in->at;
    int value = 0;
    for (; is_digit(cron_peek(in)); in->at++) {
        if (in->at - begin == 4)
            return cron_wrong(in, TR_BAD_DATA, begin, "the number is too long");
        value = value * 10 + (cron_peek(in) - '0');
    }
    if (in->at == begin)
        return cron_unexpected(in, "a number");
    *number = value;
    return TR_OK;
}

/* Reads a name of three letters, in upper or lower case. */
static tr_status read_name(struct input *in, const struct field *field, int *number)
{
    size_t begin = in->at;
    while (is_letter(cron_peek(in)))
        in->at++;
    size_t length = in->at - begin;
    const char *name = in->text + begin;
    for (int i = 0; field->names && field->names[3 * i] && length == 3; i++) {
        const char *known = field->names + (size_t)3 * (size_t)i;
        /* Clearing bit 5 makes a letter upper case. */
        if ((name[0] & 0x5f) == known[0] && (name[1] & 0x5f) == known[1] &&
            (name[2] & 0x5f) == known[2]) {
            *number = field->least + i;
            return TR_OK;
        }
    }
    in->at = begin;
    if (!field->names || length == 1)
        return cron_unexpected(in, field->names ? "a number or a name" : "a number");
    return cron_wrong(in,
                      TR_BAD_DATA,
                      begin,
                      "'%.*s' is not a %s",
                      length < 20 ? (int)length : 20,
                      name,
                      field->name);
}

static tr_status read_value(struct input *in, const struct field *field, int *number)
{
    size_t begin = in->at;
    if (is_letter(cron_peek(in)))
        return read_name(in, field, number);
    if (!is_digit(cron_peek(in)))
        return cron_unexpected(in, field->names ? "a number or a name" : "a number");
    tr_status status = read_number(in, number);
    if (status == TR_OK && *number < field->least)
        return cron_wrong(
            in, TR_BAD_DATA, begin, "%d is below the minimum of %d", *number, field->least);
    if (status == TR_OK && *number > field->most)
        return cron_wrong(
            in, TR_BAD_DATA, begin, "%d is above the maximum of %d", *number, field->most);
    return status;
}

/* Reads the step behind a '/'. */
static tr_status read_step(struct input *in, const struct field *field, int *step)
{
    size_t begin = ++in->at;
    tr_status status = read_number(in, step);
    if (status == TR_OK && *step == 0)
        return cron_wrong(in, TR_BAD_DATA, begin, "a step of 0");
    if (status == TR_OK && *step > field->most)
        return cron_wrong(
            in, TR_BAD_DATA, begin, "a step of %d is larger than the range of the field", *step);
    return status;
}

/* Reads one item of a list: a value, a range, a range with a step, "*", or "*" with a step. */
static tr_status read_item(struct input *in, const struct field *field, uint64_t *bits)
{
    size_t begin = in->at;
    int first = field->least;
    int last = field->most;
    int step = 1;
    bool is_range = true;
    tr_status status = TR_OK;
    if (cron_peek(in) == '*') {
        in->at++;
        /* "*" counts Sunday only as 0 and not also as 7, so that a step does not find it twice */
        last -= field->most == 7;
    } else {
        status = read_value(in, field, &first);
        is_range = status == TR_OK && cron_peek(in) == '-';
        last = first;
        if (is_range) {
            in->at++;
            status = read_value(in, field, &last);
            if (status == TR_OK && last == 0 && first > 0 && field->most == 7)
                last = 7; /* Sunday at the end of a range is 7, as in FRI-SUN */
        }
        if (status == TR_OK && last < first)
            return cron_wrong(
                in, TR_BAD_DATA, begin, "a range must ascend: %d is above %d", first, last);
    }
    if (status == TR_OK && cron_peek(in) == '/') {
        if (!is_range)
            return cron_wrong(in, TR_BAD_DATA, in->at, "a step needs a range or '*' before it");
        status = read_step(in, field, &step);
    }
    for (int i = first; i <= last && status == TR_OK; i += step)
        *bits |= UINT64_C(1) << i;
    return status;
}

static tr_status read_field(struct input *in, const struct field *field, uint64_t *bits,
                            bool *is_star)
{
    tr_status status = TR_OK;
    in->field = field->name;
    *is_star = cron_peek(in) == '*';
    *bits = 0;
    for (;;) {
        status = read_item(in, field, bits);
        if (status != TR_OK || cron_peek(in) != ',')
            break;
        if (*is_star)
            return cron_wrong(in, TR_BAD_DATA, in->at, "'*' must not be part of a list");
        in->at++;
        if (cron_peek(in) == '*')
            return cron_wrong(in, TR_BAD_DATA, in->at, "'*' must not be part of a list");
    }
    if (status != TR_OK)
        return status;
    return in->at == in->length || is_blank(cron_peek(in)) ? TR_OK
                                                           : cron_unexpected(in, "a blank or ','");
}

static void skip_blanks(struct input *in)
{
    while (is_blank(cron_peek(in)))
        in->at++;
}

static tr_status read_fields(struct input *in, struct cron *cron)
{
    uint64_t bits[FIELDS];
    bool stars[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        if (i > 0)
            skip_blanks(in);
        tr_status status = read_field(in, &fields[i], &bits[i], &stars[i]);
        if (status != TR_OK)
            return status;
    }
    cron->minutes = bits[FIELD_MINUTE];
    cron->hours = (uint32_t)bits[FIELD_HOUR];
    cron->days = (uint32_t)bits[FIELD_DAY];
    cron->months = (uint16_t)bits[FIELD_MONTH];
    cron->weekdays = (uint8_t)((bits[FIELD_WEEKDAY] | bits[FIELD_WEEKDAY] >> 7) & 0x7f);
    cron->is_walk = stars[FIELD_MINUTE] || stars[FIELD_HOUR];
    cron->is_either = !stars[FIELD_DAY] && !stars[FIELD_WEEKDAY];
    return TR_OK;
}

static tr_status read_shorthand(struct input *in, struct cron *cron)
{
    size_t length = 0;
    in->field = "shorthand";
    while (length < in->length && !is_blank(in->text[length]))
        length++;
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++) {
        const char *word = shorthands[i].word;
        if (strlen(word) != length || memcmp(word, in->text, length) != 0)
            continue;
        struct input known = {.text = shorthands[i].fields, .length = strlen(shorthands[i].fields)};
        tr_status status = read_fields(&known, cron);
        TR_ASSERT(status == TR_OK);
        in->at = length;
        return TR_OK;
    }
    return cron_wrong(
        in,
        TR_BAD_DATA,
        0,
        "unknown macro; use one of @hourly @daily @midnight @weekly @monthly @yearly @annually");
}

static tr_status read_zone(struct input *in, struct cron *cron)
{
    in->field = "zone";
    if (in->at == in->length)
        return TR_OK;
    skip_blanks(in);
    size_t begin = in->at;
    if (begin == in->length)
        return cron_wrong(in, TR_BAD_DATA, begin, "a blank at the end");
    if (is_digit(cron_peek(in)) || cron_peek(in) == '*')
        return cron_wrong(
            in, TR_BAD_DATA, begin, "unexpected sixth field: there is no field for seconds");
    while (in->at < in->length && !is_blank(cron_peek(in)))
        in->at++;
    if (!tr__zone_name_is_valid(in->text + begin, in->at - begin))
        return cron_wrong(in,
                          TR_BAD_DATA,
                          begin,
                          "not the name of a time zone; expected a form such as Europe/Berlin");
    if (in->at < in->length)
        return cron_wrong(in, TR_BAD_DATA, in->at, "unexpected text after the time zone");
    cron->zone_at = (uint8_t)begin;
    return TR_OK;
}

tr_status tr__cron_read(const char *text, size_t length, struct cron *cron,
                        struct cron_error *error)
{
    struct input in = {.text = text, .length = length, .field = fields[0].name, .error = error};
    struct cron read = {.minutes = 0};
    if (length > CRON_TEXT_MAX)
        return cron_wrong(
            &in, TR_TOO_LARGE, CRON_TEXT_MAX, "more than %d characters", CRON_TEXT_MAX);
    tr_status status = cron_peek(&in) == '@' ? read_shorthand(&in, &read) : read_fields(&in, &read);
    if (status == TR_OK)
        status = read_zone(&in, &read);
    if (status != TR_OK)
        return status;
    memcpy(read.text, text, length);
    *cron = read;
    return TR_OK;
}

const char *tr__cron_zone(const struct cron *cron)
{
    return cron->zone_at ? cron->text + cron->zone_at : "UTC";
}

/* ---- The next match. ---- */

static bool day_matches(const struct cron *cron, int64_t day, const struct civil_date *date)
{
    bool is_day = cron->days >> date->day & 1;
    bool is_weekday = cron->weekdays >> civil_weekday(day) & 1;
    return cron->is_either ? is_day || is_weekday : is_day && is_weekday;
}

/*
 * Returns the first minute of a day, at or after `minute`, whose time of day matches. Returns -1 if
 * there is none.
 */
static int minute_matching(const struct cron *cron, int minute)
{
    int first = minute % 60;
    for (int hour = minute / 60; hour < 24; hour++, first = 0) {
        if (!(cron->hours >> hour & 1))
            continue;
        uint64_t minutes = cron->minutes >> first << first;
        if (minutes)
            return hour * 60 + __builtin_ctzll(minutes);
    }
    return -1;
}

/*
 * Finds the first local time that matches, at or after `local`. Returns false if there is none
 * within the years of rule 4.
 */
static bool find_match(const struct cron *cron, int64_t local, int64_t *match)
{
    int64_t minutes = civil_floor(local + CIVIL_MINUTE - 1, CIVIL_MINUTE);
    int64_t day = civil_floor(minutes, 24 * 60);
    int minute = (int)(minutes - day * 24 * 60);
    int64_t last = day + CRON_YEARS * 366;
    while (day <= last) {
        struct civil_date date = civil_date_of(day);
        if (!(cron->months >> date.month & 1)) {
            day += civil_month_days(date.year, date.month) - date.day + 1;
            minute = 0;
            continue;
        }
        int found = day_matches(cron, day, &date) ? minute_matching(cron, minute) : -1;
        if (found >= 0) {
            *match = day * CIVIL_DAY + found * CIVIL_MINUTE;
            return true;
        }
        day++;
        minute = 0;
    }
    return false;
}

/*
 * Applies rule 2: searches one span of the zone after the other. Within a span the local clock
 * never jumps. A match inside a gap does not count. If all matches are in gaps, year after year,
 * the search ends after twice the years of rule 4.
 */
static tr_status next_of_walk(const struct cron *cron, const struct zone *zone, int64_t after,
                              int64_t *next)
{
    int64_t at = after + 1;
    int64_t last = at + INT64_C(2) * CRON_YEARS * 366 * CIVIL_DAY;
    while (at <= last) {
        struct zone_span span;
        int64_t local = 0;
        tr__zone_span(zone, at, &span);
        if (!find_match(cron, at + span.offset, &local))
            return TR_NOT_FOUND;
        if (local - span.offset < span.end) {
            *next = local - span.offset;
            return TR_OK;
        }
        at = span.end;
    }
    return TR_NOT_FOUND;
}

tr_status tr__cron_next(const struct cron *cron, const struct zone *zone, int64_t after,
                        int64_t *next)
{
    int64_t local = 0;
    if (after < -CRON_TIME_MAX || after > CRON_TIME_MAX)
        return TR_INVALID_ARGUMENT;
    if (cron->is_walk)
        return next_of_walk(cron, zone, after, next);
    /*
     * Search after the latest local time that the clock has shown, because by rule 3 all earlier
     * times have fired already.
     */
    if (!find_match(cron, tr__zone_latest(zone, after) + 1, &local))
        return TR_NOT_FOUND;
    *next = tr__zone_first(zone, local);
    TR_ASSERT(*next > after);
    return TR_OK;
}
