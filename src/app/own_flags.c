/* SPDX-License-Identifier: Apache-2.0 */
#include "app/own_flags.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return name[0] != '\0' && name[0] != '-' && name[strspn(name, allowed)] == '\0';
}

/* Returns how many of a flag's pointers for its value are set. Exactly one must be set. */
static int places_of(const tr_flag *flag)
{
    return !!flag->is_set + !!flag->number + !!flag->time_ns + !!flag->text;
}

bool tr__own_flags_are_valid(const tr_flag *table, bool takes_store, char text[FLAGS_ERROR_SIZE])
{
    const char *why = NULL;
    for (const tr_flag *flag = table; flag && flag->name && !why; flag++) {
        if (!is_name(flag->name))
            why = "has a name that is none; it needs small letters, digits and dashes";
        else if (tr__flags_has(flag->name, takes_store))
            why = "is a flag of the runner";
        else if (places_of(flag) != 1)
            why = "needs one of is_set, number, time_ns and text";
        else if (flag->min > flag->max)
            why = "has a min above its max";
        for (const tr_flag *before = table; before < flag && !why; before++) {
            if (strcmp(before->name, flag->name) == 0)
                why = "is there twice";
        }
        if (why)
            (void)snprintf(text, FLAGS_ERROR_SIZE, "the flag --%.60s %s", flag->name, why);
    }
    return !why;
}

/*
 * Reads a decimal number with an optional sign. Returns false if the text is no number, or if the
 * number is too large.
 */
static bool number_of(const char *text, int64_t *number)
{
    bool is_negative = *text == '-';
    uint64_t value = 0;
    const uint64_t limit = (uint64_t)INT64_MAX + is_negative;
    const char *at = text + is_negative;
    if (!*at)
        return false;
    for (; *at; at++) {
        if (*at < '0' || *at > '9')
            return false;
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static tr_status refuse_number(const tr_flag *flag, const char *value, char *error)
{
    if (flag->min || flag->max)
        (void)snprintf(error,
                       FLAGS_ERROR_SIZE,
                       "--%.40s takes a number from %" PRId64 " to %" PRId64 ": \"%.60s\"",
                       flag->name,
                       flag->min,
                       flag->max,
                       value);
    else
        (void)snprintf(
            error, FLAGS_ERROR_SIZE, "--%.40s takes a number: \"%.60s\"", flag->name, value);
    return TR_INVALID_ARGUMENT;
}

/* Stores the value of a flag that has one. */
static tr_status value_read(const tr_flag *flag, const char *value, char *error)
{
    int64_t number;
    tr_time time_ns;
    if (flag->number) {
        if (!number_of(value, &number) ||
            ((flag->min || flag->max) && (number < flag->min || number > flag->max)))
            return refuse_number(flag, value, error);
        *flag->number = number;
    } else if (flag->time_ns) {
        time_ns = tr__flags_duration(value);
        if (!time_ns) {
            (void)snprintf(error,
                           FLAGS_ERROR_SIZE,
                           "--%.40s takes a time up to 24h, such as 30s, 500ms or 2m: \"%.60s\"",
                           flag->name,
                           value);
            return TR_INVALID_ARGUMENT;
        }
        *flag->time_ns = time_ns;
    } else if (*value) {
        *flag->text = value;
    } else {
        (void)snprintf(error, FLAGS_ERROR_SIZE, "--%.40s takes a text", flag->name);
        return TR_INVALID_ARGUMENT;
    }
    return TR_OK;
}

/*
 * Returns the flag of the table that an argument names. Returns NULL if the argument names none.
 * Sets *value to the text after "=", or to NULL if there is no "=".
 */
static const tr_flag *flag_find(const tr_flag *table, const char *argument, const char **value)
{
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    for (const tr_flag *flag = table; flag && flag->name; flag++) {
        size_t length = strlen(flag->name);
        if (strncmp(argument + 2, flag->name, length) != 0)
            continue;
        *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
        if (*value || argument[2 + length] == '\0')
            return flag;
    }
    return NULL;
}

tr_status tr__own_flags_parse(const tr_flag *table, const char **rest, size_t *count,
                              size_t *before, bool takes_any, char error[FLAGS_ERROR_SIZE])
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const char *value = NULL;
        const tr_flag *flag = i && i < *before ? flag_find(table, rest[i], &value) : NULL;
        bool is_dashed = i && i < *before && rest[i][0] == '-' && rest[i][1] != '\0';
        if (!flag && is_dashed && !takes_any) {
            (void)snprintf(error, FLAGS_ERROR_SIZE, "there is no flag \"%.80s\"", rest[i]);
            return TR_INVALID_ARGUMENT;
        }
        if (!flag) {
            rest[kept++] = rest[i];
        } else if (flag->is_set) {
            if (value) {
                (void)snprintf(error,
                               FLAGS_ERROR_SIZE,
                               "--%.40s takes no value: \"%.60s\"",
                               flag->name,
                               value);
                return TR_INVALID_ARGUMENT;
            }
            *flag->is_set = true;
        } else {
            if (!value)
                value = i + 1 < *before ? rest[++i] : "";
            tr_status status = value_read(flag, value, error);
            if (status != TR_OK)
                return status;
        }
    }
    *before -= *count - kept;
    *count = kept;
    return TR_OK;
}
