/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flags.h"

#include <stdio.h>
#include <string.h>

#include <troupe/limits.h>

#define DURATION_MAX_NS (24 * TR_HOUR)

/* Reads a number of workers. Returns 0 if the text is none. */
static int workers_of(const char *text)
{
    int number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return 0;
        number = number * 10 + (*at - '0');
        if (number > TR_WORKERS_MAX)
            return 0;
    }
    return number;
}

/* Reads a duration as users write it: "30s", "500ms", "2m", "30". Returns 0 if the text is none. */
static tr_time duration_of(const char *text)
{
    static const struct {
        const char *unit;
        tr_time ns;
    } units[] = {{"", TR_SECOND},
                 {"s", TR_SECOND},
                 {"ms", TR_MILLISECOND},
                 {"m", TR_MINUTE},
                 {"h", TR_HOUR}};
    tr_time number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (*at - '0');
        if (number > DURATION_MAX_NS / TR_MILLISECOND)
            return 0;
    }
    for (size_t i = 0; at != text && i < sizeof units / sizeof *units; i++) {
        if (strcmp(at, units[i].unit) == 0)
            return number <= DURATION_MAX_NS / units[i].ns ? number * units[i].ns : 0;
    }
    return 0;
}

/* Returns whether the argument is the flag `name`. Sets *value to what follows "=", or NULL. */
static bool is_flag(const char *argument, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0)
        return false;
    *value = argument[length] == '=' ? argument + length + 1 : NULL;
    return argument[length] == '\0' || *value;
}

static tr_status flags_refuse(char *error, const char *text, const char *argument)
{
    (void)snprintf(error, FLAGS_ERROR_SIZE, "%s: \"%.80s\"", text, argument);
    return TR_INVALID_ARGUMENT;
}

static tr_status refuse_workers(char *error, const char *value)
{
    char text[80];
    (void)snprintf(text, sizeof text, "--workers takes a number from 1 to %d", TR_WORKERS_MAX);
    return flags_refuse(error, text, value);
}

tr_status tr__flags_parse(int argc, char *const *argv, bool takes_store, struct flags *flags,
                          const char **rest, char error[FLAGS_ERROR_SIZE])
{
    struct flags parsed = {0};
    bool is_over = false; /* "--" was found */
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];
        const char *value = NULL;
        if (i == 0 || is_over) {
            rest[parsed.rest_count++] = argument;
        } else if (strcmp(argument, "--") == 0) {
            is_over = true;
        } else if (strcmp(argument, "-h") == 0 || is_flag(argument, "--help", &value)) {
            if (value)
                return flags_refuse(error, "--help takes no value", argument);
            parsed.is_help = true;
        } else if (is_flag(argument, "--workers", &value)) {
            if (!value && i + 1 < argc)
                value = argv[++i];
            parsed.workers = value ? workers_of(value) : 0;
            if (!parsed.workers)
                return refuse_workers(error, value ? value : "");
        } else if (is_flag(argument, "--shutdown-timeout", &value)) {
            if (!value && i + 1 < argc)
                value = argv[++i];
            parsed.shutdown_timeout_ns = value ? duration_of(value) : 0;
            if (!parsed.shutdown_timeout_ns)
                return flags_refuse(
                    error,
                    "--shutdown-timeout takes a time up to 24h, such as 30s, 500ms or 2m",
                    value ? value : "");
        } else if (takes_store && is_flag(argument, "--store", &value)) {
            if (!value && i + 1 < argc)
                value = argv[++i];
            if (!value || !*value)
                return flags_refuse(error, "--store takes a directory", "");
            parsed.store = value;
        } else if (is_flag(argument, "--control", &value)) {
            if (!value && i + 1 < argc)
                value = argv[++i];
            if (!value || !*value)
                return flags_refuse(error, "--control takes the path of a socket, or off", "");
            parsed.control = value;
        } else {
            rest[parsed.rest_count++] = argument;
        }
    }
    *flags = parsed;
    return TR_OK;
}
