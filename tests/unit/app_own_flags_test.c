/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Flags of a program's own: what is read, what is left, and what is refused.
 */
#include "support/test.h"

#include <string.h>

#include "app/own_flags.h"

enum { ARGUMENTS_MAX = 16 };

static int64_t rate;
static int64_t any;
static tr_time pause_ns;
static const char *title;
static bool is_loud;

static const tr_flag table[] = {
    {.name = "rate", .number = &rate, .min = 0, .max = 100},
    {.name = "any", .number = &any},
    {.name = "pause", .time_ns = &pause_ns},
    {.name = "title", .text = &title},
    {.name = "loud", .is_set = &is_loud},
    {.name = NULL},
};

static const char *rest[ARGUMENTS_MAX];
static size_t rest_count;
static char error[FLAGS_ERROR_SIZE];

/* Reads "bank" and the words of a line, as the runner does. */
static tr_status parse(const tr_flag *flags, bool takes_any, const char *line)
{
    static char words[256];
    static char bank[] = "bank";
    char *argv[ARGUMENTS_MAX] = {bank};
    int argc = 1;
    struct flags runner;
    (void)strcpy(words, line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    rate = 7;
    any = 7;
    pause_ns = 7;
    title = "none";
    is_loud = false;
    error[0] = '\0';
    tr_status status = tr__flags_parse(argc, argv, false, &runner, rest, error);
    rest_count = runner.rest_count;
    return status == TR_OK ? tr__own_flags_parse(
                                 flags, rest, &rest_count, &runner.rest_before, takes_any, error)
                           : status;
}

static const char *left(void)
{
    static char line[256];
    line[0] = '\0';
    for (size_t i = 0; i < rest_count; i++) {
        (void)strcat(line, i ? " " : "");
        (void)strcat(line, rest[i]);
    }
    return line;
}

TEST(values_go_where_the_table_says, "O-60")
{
    ck_assert_int_eq(parse(table, false, "a --rate 5 --title=x --workers 2 --loud b --pause 2m -"),
                     TR_OK);
    ck_assert_int_eq(rate, 5);
    ck_assert_str_eq(title, "x");
    ck_assert(is_loud);
    ck_assert_int_eq(pause_ns, 2 * TR_MINUTE);
    ck_assert_str_eq(left(), "bank a b -");
    ck_assert_int_eq(any, 7);
    ck_assert_int_eq(parse(table, false, "--any -9223372036854775808 --rate 0"), TR_OK);
    ck_assert_int_eq(any, INT64_MIN);
    ck_assert_int_eq(rate, 0);
    ck_assert_int_eq(parse(table, false, "--any 9223372036854775807"), TR_OK);
    ck_assert_int_eq(any, INT64_MAX);
    ck_assert_int_eq(parse(table, false, "--title --loud"), TR_OK);
    ck_assert_str_eq(title, "--loud");
}

TEST(wrong_values_are_refused_by_name, "O-60")
{
    static const char *const wrong[][2] = {
        {"--rate many", "--rate takes a number from 0 to 100: \"many\""},
        {"--rate 101", "--rate takes a number from 0 to 100"},
        {"--rate -1", "--rate takes a number from 0 to 100"},
        {"--rate", "--rate takes a number from 0 to 100: \"\""},
        {"--rate=", "--rate takes a number"},
        {"--any 9223372036854775808", "--any takes a number: "},
        {"--any 1x", "--any takes a number: \"1x\""},
        {"--any -", "--any takes a number"},
        {"--pause 0", "--pause takes a time"},
        {"--pause soon", "--pause takes a time up to 24h, such as 30s, 500ms or 2m: \"soon\""},
        {"--title=", "--title takes a text"},
        {"--loud=yes", "--loud takes no value: \"yes\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(parse(table, false, wrong[i][0]) == TR_INVALID_ARGUMENT, "%s", wrong[i][0]);
        ck_assert_msg(strncmp(error, wrong[i][1], strlen(wrong[i][1])) == 0, "%s", error);
    }
}

TEST(unknown_flags_are_refused_unless_they_stand_behind_two_dashes, "O-60")
{
    ck_assert_int_eq(parse(table, false, "a --rat 5"), TR_INVALID_ARGUMENT);
    ck_assert_str_eq(error, "there is no flag \"--rat\"");
    ck_assert_int_eq(parse(table, false, "--rates 5"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(parse(table, false, "-v"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(parse(table, false, "--rate 3 -- --rat --rate 5"), TR_OK);
    ck_assert_int_eq(rate, 3);
    ck_assert_str_eq(left(), "bank --rat --rate 5");
    /* A value is not taken from behind the two dashes. */
    ck_assert_int_eq(parse(table, false, "--title -- x"), TR_INVALID_ARGUMENT);
    /* Without a table all is the program's own affair, if it takes arguments at all. */
    ck_assert_int_eq(parse(NULL, true, "--rat 5"), TR_OK);
    ck_assert_str_eq(left(), "bank --rat 5");
    ck_assert_int_eq(parse(NULL, false, "--rat 5"), TR_INVALID_ARGUMENT);
}

TEST(tables_that_are_wrong_are_refused, "O-60")
{
    static const struct {
        tr_flag flags[3];
        const char *why;
    } wrong[] = {
        {{{.name = "workers", .number = &rate}}, "the flag --workers is a flag of the runner"},
        {{{.name = "help", .is_set = &is_loud}}, "the flag --help is a flag of the runner"},
        {{{.name = "Rate", .number = &rate}}, "the flag --Rate has a name that is none"},
        {{{.name = "-r", .number = &rate}}, "the flag ---r has a name that is none"},
        {{{.name = "rate"}}, "the flag --rate needs one of"},
        {{{.name = "rate", .number = &rate, .text = &title}}, "the flag --rate needs one of"},
        {{{.name = "rate", .number = &rate, .min = 2, .max = 1}}, "the flag --rate has a min"},
        {{{.name = "rate", .number = &rate}, {.name = "rate", .text = &title}},
         "the flag --rate is there twice"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!tr__own_flags_are_valid(wrong[i].flags, true, error), "%s", wrong[i].why);
        ck_assert_msg(strncmp(error, wrong[i].why, strlen(wrong[i].why)) == 0, "%s", error);
    }
    ck_assert(tr__own_flags_are_valid(table, true, error));
    ck_assert(tr__own_flags_are_valid(NULL, true, error));
    /* The store's flags belong to the runner only in programs that have a store. */
    const tr_flag store[] = {{.name = "store", .text = &title}, {.name = NULL}};
    ck_assert(!tr__own_flags_are_valid(store, true, error));
    ck_assert(tr__own_flags_are_valid(store, false, error));
}

SUITE("own flags of an app", values_go_where_the_table_says, wrong_values_are_refused_by_name,
      unknown_flags_are_refused_unless_they_stand_behind_two_dashes,
      tables_that_are_wrong_are_refused)
