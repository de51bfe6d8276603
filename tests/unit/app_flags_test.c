/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which arguments are the runner's, which are the app's, and which are wrong.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "app/flags.h"

enum { ARGUMENTS_MAX = 16 };

static struct flags flags;
static const char *rest[ARGUMENTS_MAX];
static char error[FLAGS_ERROR_SIZE];

/* Parses "bank" and the words of a line. */
static tr_status parse(const char *line)
{
    static char words[256];
    static char bank[] = "bank";
    char *argv[ARGUMENTS_MAX] = {bank};
    int argc = 1;
    (void)strcpy(words, line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    flags = (struct flags){.workers = -7};
    error[0] = '\0';
    return tr__flags_parse(argc, argv, true, &flags, rest, error);
}

/* What is left, in one line. */
static const char *left(void)
{
    static char line[256];
    line[0] = '\0';
    for (size_t i = 0; i < flags.rest_count; i++) {
        (void)strcat(line, i ? " " : "");
        (void)strcat(line, rest[i]);
    }
    return line;
}

TEST(without_flags_all_is_left_to_the_app, "")
{
    ck_assert_int_eq(parse(""), TR_OK);
    ck_assert_str_eq(left(), "bank");
    ck_assert_int_eq(flags.workers, 0);
    ck_assert(!flags.is_help);
    ck_assert_int_eq(parse("ledger.txt -v --verbose=3 - --work --workers-max 3"), TR_OK);
    ck_assert_str_eq(left(), "bank ledger.txt -v --verbose=3 - --work --workers-max 3");
    ck_assert_int_eq(flags.workers, 0);
}

TEST(workers_is_taken_in_both_forms_and_anywhere, "")
{
    ck_assert_int_eq(parse("--workers 2 a"), TR_OK);
    ck_assert_int_eq(flags.workers, 2);
    ck_assert_str_eq(left(), "bank a");
    ck_assert_int_eq(parse("a --workers=256 b"), TR_OK);
    ck_assert_int_eq(flags.workers, 256);
    ck_assert_str_eq(left(), "bank a b");
    ck_assert_int_eq(parse("--workers 3 --workers 4"), TR_OK);
    ck_assert_int_eq(flags.workers, 4);
}

TEST(wrong_numbers_of_workers_are_refused_by_name, "")
{
    static const char *const lines[] = {"--workers",
                                        "--workers=",
                                        "--workers 0",
                                        "--workers 257",
                                        "--workers -1",
                                        "--workers two",
                                        "--workers 2x",
                                        "--workers 99999999999999999999",
                                        "--workers=+2"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_msg(parse(lines[i]) == TR_INVALID_ARGUMENT, "%s", lines[i]);
        ck_assert_msg(strstr(error, "--workers takes a number from 1 to 256"), "%s", error);
        ck_assert_int_eq(flags.workers, -7);
    }
    ck_assert_int_eq(parse("--workers two"), TR_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error, "\"two\""), "%s", error);
}

TEST(help_is_long_or_short_and_takes_no_value, "")
{
    ck_assert_int_eq(parse("a --help"), TR_OK);
    ck_assert(flags.is_help);
    ck_assert_int_eq(parse("-h"), TR_OK);
    ck_assert(flags.is_help);
    ck_assert_int_eq(parse("--help=me"), TR_INVALID_ARGUMENT);
}

TEST(two_dashes_end_our_flags, "")
{
    ck_assert_int_eq(parse("--workers 2 -- --help --workers x -- y"), TR_OK);
    ck_assert_int_eq(flags.workers, 2);
    ck_assert(!flags.is_help);
    ck_assert_str_eq(left(), "bank --help --workers x -- y");
    /* As the value of a flag they are no end, but no number either. */
    ck_assert_int_eq(parse("--workers -- 2"), TR_INVALID_ARGUMENT);
}

TEST(no_arguments_at_all_are_fine, "")
{
    flags = (struct flags){.rest_count = 9};
    ck_assert_int_eq(tr__flags_parse(0, NULL, true, &flags, rest, error), TR_OK);
    ck_assert_uint_eq(flags.rest_count, 0);
}

TEST(a_long_value_is_cut_in_the_message, "")
{
    char line[256] = "--workers=";
    memset(line + strlen(line), 'x', 200);
    ck_assert_int_eq(parse(line), TR_INVALID_ARGUMENT);
    ck_assert_uint_lt(strlen(error), FLAGS_ERROR_SIZE);
    ck_assert_ptr_nonnull(strstr(error, "\"xxx"));
}

TEST(the_shutdown_timeout_is_a_time_as_people_write_it, "X-03")
{
    static const struct {
        const char *text;
        tr_time ns;
    } times[] = {{"--shutdown-timeout 30", 30 * TR_SECOND},
                 {"--shutdown-timeout=30s", 30 * TR_SECOND},
                 {"--shutdown-timeout 500ms", 500 * TR_MILLISECOND},
                 {"--shutdown-timeout 2m", 2 * TR_MINUTE},
                 {"--shutdown-timeout 24h", 24 * TR_HOUR}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        ck_assert_int_eq(parse(times[i].text), TR_OK);
        ck_assert_int_eq(flags.shutdown_timeout_ns, times[i].ns);
        ck_assert_str_eq(left(), "bank");
    }
    static const char *const wrong[] = {"--shutdown-timeout",
                                        "--shutdown-timeout=",
                                        "--shutdown-timeout 0",
                                        "--shutdown-timeout s",
                                        "--shutdown-timeout -1s",
                                        "--shutdown-timeout 1.5s",
                                        "--shutdown-timeout 25h",
                                        "--shutdown-timeout 99999999999999999999ms"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(parse(wrong[i]) == TR_INVALID_ARGUMENT, "%s", wrong[i]);
        ck_assert_ptr_nonnull(strstr(error, "--shutdown-timeout"));
        ck_assert_int_eq(flags.workers, -7);
    }
}

TEST(the_control_socket_has_a_path_or_is_off, "O-09")
{
    ck_assert_int_eq(parse("--control /run/x.sock a --control=off b"), TR_OK);
    ck_assert_str_eq(flags.control, "off");
    ck_assert_str_eq(left(), "bank a b");
    ck_assert_int_eq(parse("a"), TR_OK);
    ck_assert_ptr_null(flags.control);
    ck_assert_int_eq(parse("a --control"), TR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error, "--control takes the path of a socket, or off"));
    ck_assert_int_eq(parse("--control= a"), TR_INVALID_ARGUMENT);
}

TEST(the_log_has_three_forms, "O-11")
{
    static const char *const names[] = {"text", "json", "journald"};
    for (int i = 0; i < 3; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "--log-format %s a", names[i]);
        ck_assert_int_eq(parse(line), TR_OK);
        ck_assert(flags.has_log_format);
        ck_assert_int_eq(flags.log_format, i);
        ck_assert_str_eq(left(), "bank a");
    }
    ck_assert_int_eq(parse("a"), TR_OK);
    ck_assert(!flags.has_log_format);
    ck_assert_int_eq(parse("--log-format=xml"), TR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error, "--log-format takes text, json or journald: \"xml\""));
    ck_assert_int_eq(parse("--log-format"), TR_INVALID_ARGUMENT);
}

TEST(schema_takes_no_value, "O-12")
{
    ck_assert_int_eq(parse("--schema"), TR_OK);
    ck_assert(flags.is_schema);
    ck_assert_int_eq(parse("--schema=x"), TR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error, "--schema takes no value"));
}

TEST(the_inspector_has_two_flags, "I-02 I-03")
{
    ck_assert_int_eq(parse("--inspect 127.0.0.1:0 a"), TR_OK);
    ck_assert_str_eq(flags.inspect, "127.0.0.1:0");
    ck_assert(!flags.allows_inspector);
    ck_assert_str_eq(left(), "bank a");
    ck_assert_int_eq(parse("--inspect=[::1]:0 --inspect-allow"), TR_OK);
    ck_assert_str_eq(flags.inspect, "[::1]:0");
    ck_assert(flags.allows_inspector);
    ck_assert_int_eq(parse("--inspect"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(parse("--inspect-allow=yes"), TR_INVALID_ARGUMENT);
}

SUITE("app flags", without_flags_all_is_left_to_the_app,
      workers_is_taken_in_both_forms_and_anywhere, wrong_numbers_of_workers_are_refused_by_name,
      help_is_long_or_short_and_takes_no_value, two_dashes_end_our_flags,
      no_arguments_at_all_are_fine, a_long_value_is_cut_in_the_message,
      the_shutdown_timeout_is_a_time_as_people_write_it, the_control_socket_has_a_path_or_is_off,
      the_log_has_three_forms, schema_takes_no_value, the_inspector_has_two_flags)
