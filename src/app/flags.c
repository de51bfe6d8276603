/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flags.h"

#include <stdio.h>
#include <string.h>

#include <troupe/limits.h>

#define DURATION_MAX_NS (24 * TR_HOUR)

/* Reads a number of workers. Returns 0 if the text is not a valid number of workers. */
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

tr_time tr__flags_duration(const char *text)
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

/*
 * Whether the argument is the flag `name`. Sets *value to the text after "=", or to NULL if there
 * is no "=".
 */
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

static bool read_workers(struct flags *flags, const char *value)
{
    flags->workers = workers_of(value);
    return flags->workers;
}

static bool read_timeout(struct flags *flags, const char *value)
{
    flags->shutdown_timeout_ns = tr__flags_duration(value);
    return flags->shutdown_timeout_ns;
}

static bool read_store(struct flags *flags, const char *value)
{
    flags->store = value;
    return *value;
}

static bool read_control(struct flags *flags, const char *value)
{
    flags->control = value;
    return *value;
}

static bool read_replay(struct flags *flags, const char *value)
{
    flags->replay = value;
    return *value;
}

static bool read_rehearse(struct flags *flags, const char *value)
{
    flags->rehearse = value;
    return *value;
}

static bool read_records(struct flags *flags, const char *value)
{
    flags->has_no_records = strcmp(value, "off") == 0;
    flags->has_secret_records = strcmp(value, "secrets") == 0;
    return flags->has_no_records || flags->has_secret_records || strcmp(value, "on") == 0;
}

static bool read_metrics(struct flags *flags, const char *value)
{
    flags->metrics = value;
    return *value;
}

static bool read_otlp(struct flags *flags, const char *value)
{
    flags->otlp = value;
    return *value;
}

static bool read_otlp_every(struct flags *flags, const char *value)
{
    static const uint32_t most = 1000000;
    uint32_t number = 0;
    const char *at = value;
    for (; *at >= '0' && *at <= '9' && number <= most; at++)
        number = number * 10 + (uint32_t)(*at - '0');
    flags->otlp_every = number;
    flags->has_otlp_every = true;
    return at != value && !*at && number <= most;
}

static bool read_inspect(struct flags *flags, const char *value)
{
    flags->inspect = value;
    return *value;
}

static bool read_inspect_certificate(struct flags *flags, const char *value)
{
    flags->inspect_certificate = value;
    return *value;
}

static bool read_inspect_key(struct flags *flags, const char *value)
{
    flags->inspect_key = value;
    return *value;
}

static bool read_inspect_host(struct flags *flags, const char *value)
{
    flags->inspect_host = value;
    return *value;
}

static bool read_inspect_token(struct flags *flags, const char *value)
{
    flags->inspect_token = value;
    return *value;
}

static bool read_log_format(struct flags *flags, const char *value)
{
    static const char *const names[] = {
        [TR_LOG_TEXT] = "text", [TR_LOG_JSON] = "json", [TR_LOG_JOURNALD] = "journald"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) != 0)
            continue;
        flags->log_format = (tr_log_format)i;
        flags->has_log_format = true;
        return true;
    }
    return false;
}

static bool read_log_level(struct flags *flags, const char *value)
{
    flags->log_level = value;
    return *value;
}

static bool read_pid_file(struct flags *flags, const char *value)
{
    flags->pid_file = value;
    return *value;
}

#define TEXT_OF_(number) #number
#define TEXT_OF(number) TEXT_OF_(number)

/* The flags that have a value. */
static const struct value_flag {
    const char *name;
    bool (*read)(struct flags *flags, const char *value); /* returns false if the value is wrong */
    bool is_of_store; /* this flag exists only for apps with durable actors */
    const char *takes;
} value_flags[] = {
    {"--workers",
     read_workers,
     false,
     "--workers takes a number from 1 to " TEXT_OF(TR_WORKERS_MAX)},
    {"--shutdown-timeout",
     read_timeout,
     false,
     "--shutdown-timeout takes a time up to 24h, such as 30s, 500ms or 2m"},
    {"--store", read_store, true, "--store takes a directory"},
    {"--control", read_control, false, "--control takes the path of a socket, or off"},
    {"--rehearse", read_rehearse, true, "--rehearse takes the directory of a store"},
    {"--replay", read_replay, false, "--replay takes the file of a record"},
    {"--records",
     read_records,
     false,
     "--records takes on, off or secrets: what turns that failed, or that somebody asked for, "
     "leave"},
    {"--metrics",
     read_metrics,
     false,
     "--metrics takes an address such as 127.0.0.1:9100, or the path of a socket"},
    {"--otlp", read_otlp, false, "--otlp takes a URL such as http://127.0.0.1:4318"},
    {"--otlp-every",
     read_otlp_every,
     false,
     "--otlp-every takes a number up to 1000000: one of so many messages from outside is followed; "
     "0: none"},
    {"--inspect",
     read_inspect,
     false,
     "--inspect takes an address of this machine such as 127.0.0.1:0"},
    {"--inspect-certificate",
     read_inspect_certificate,
     false,
     "--inspect-certificate takes the path of a PEM file"},
    {"--inspect-key", read_inspect_key, false, "--inspect-key takes the path of a PEM file"},
    {"--inspect-host",
     read_inspect_host,
     false,
     "--inspect-host takes a name of this machine such as bank.example"},
    {"--inspect-token", read_inspect_token, false, "--inspect-token takes the path of a file"},
    {"--log-format", read_log_format, false, "--log-format takes text, json or journald"},
    {"--log-level",
     read_log_level,
     false,
     "--log-level takes debug, info, warn or error, and levels of paths: warn,/user/bank=debug"},
    {"--pid-file", read_pid_file, false, "--pid-file takes the path of a file"},
};

/*
 * Finds the flag that an argument names, among the flags that have a value. Returns NULL if the
 * argument names none of them. Sets *value to the text after "=", or to NULL if there is no "=".
 */
static const struct value_flag *flag_find(const char *argument, bool takes_store,
                                          const char **value)
{
    for (size_t i = 0; i < sizeof value_flags / sizeof *value_flags; i++) {
        const struct value_flag *flag = &value_flags[i];
        if ((takes_store || !flag->is_of_store) && is_flag(argument, flag->name, value))
            return flag;
    }
    return NULL;
}

/* Reads a flag that has no value. Returns false if the argument is not such a flag. */
static bool switch_read(struct flags *flags, const char *argument, const char **value)
{
    if (strcmp(argument, "-h") == 0 || is_flag(argument, "--help", value))
        flags->is_help = true;
    else if (is_flag(argument, "--metrics-anywhere", value))
        flags->is_metrics_anywhere = true;
    else if (is_flag(argument, "--inspect-allow", value))
        flags->allows_inspector = true;
    else if (is_flag(argument, "--inspect-anywhere", value))
        flags->inspects_anywhere = true;
    else if (is_flag(argument, "--schema", value))
        flags->is_schema = true;
    else if (is_flag(argument, "--as-json", value))
        flags->is_json = true;
    else if (is_flag(argument, "--version", value))
        flags->is_version = true;
    else
        return false;
    return true;
}

bool tr__flags_has(const char *name, bool takes_store)
{
    char argument[80];
    const char *value;
    struct flags flags;
    (void)snprintf(argument, sizeof argument, "--%.70s", name);
    return flag_find(argument, takes_store, &value) || switch_read(&flags, argument, &value);
}

tr_status tr__flags_parse(int argc, char *const *argv, bool takes_store, struct flags *flags,
                          const char **rest, char error[FLAGS_ERROR_SIZE])
{
    struct flags parsed = {0};
    bool is_over = false; /* "--" was found */
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];
        const char *value = NULL;
        const struct value_flag *flag;
        if (i == 0 || is_over) {
            rest[parsed.rest_count++] = argument;
        } else if (strcmp(argument, "--") == 0) {
            is_over = true;
            parsed.rest_before = parsed.rest_count;
        } else if (switch_read(&parsed, argument, &value)) {
            char text[80];
            (void)snprintf(
                text, sizeof text, "%.*s takes no value", (int)strcspn(argument, "="), argument);
            if (value)
                return flags_refuse(error, text, argument);
        } else if ((flag = flag_find(argument, takes_store, &value))) {
            if (!value)
                value = i + 1 < argc ? argv[++i] : "";
            if (!flag->read(&parsed, value))
                return flags_refuse(error, flag->takes, value);
        } else {
            rest[parsed.rest_count++] = argument;
        }
    }
    if (!is_over)
        parsed.rest_before = parsed.rest_count;
    *flags = parsed;
    return TR_OK;
}
