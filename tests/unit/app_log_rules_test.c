/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TROUPE_LOG: which lists are read, and what is said of those that are wrong.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "app/log_rules.h"

static struct log_rules rules;
static char error[LOG_RULES_ERROR_SIZE];

static tr_status parse(const char *text)
{
    error[0] = '\0';
    return tr__log_rules_parse(text, &rules, error);
}

TEST(a_level_is_for_all_paths, "O-11")
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (int level = TR_LEVEL_DEBUG; level <= TR_LEVEL_ERROR; level++) {
        ck_assert_int_eq(parse(names[level]), TR_OK);
        ck_assert_uint_eq(rules.count, 1);
        ck_assert_str_eq(rules.rules[0].path, "");
        ck_assert_int_eq(rules.rules[0].level, level);
    }
}

TEST(paths_have_levels_of_their_own, "O-11")
{
    ck_assert_int_eq(parse("/user/bank=debug,/user/a=error,warn,/user/bank=info"), TR_OK);
    ck_assert_uint_eq(rules.count, 3);
    ck_assert_str_eq(rules.rules[0].path, ""); /* it replaces all others, so it comes first */
    ck_assert_int_eq(rules.rules[0].level, TR_LEVEL_WARN);
    for (size_t i = 1; i < 3; i++) {
        bool is_bank = strcmp(rules.rules[i].path, "/user/bank") == 0;
        ck_assert(is_bank || strcmp(rules.rules[i].path, "/user/a") == 0);
        ck_assert_int_eq(rules.rules[i].level, is_bank ? TR_LEVEL_INFO : TR_LEVEL_ERROR);
    }
}

TEST(wrong_lists_get_a_sentence, "O-11", "U-02")
{
    static const char *const wrong[] = {"loud",
                                        "WARN",
                                        "warn,",
                                        ",warn",
                                        "warn,,info",
                                        "/user/bank",
                                        "/user/bank=",
                                        "=warn",
                                        "user=warn",
                                        "/user/bank=debug=info",
                                        "warn info"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(parse(wrong[i]) == TR_INVALID_ARGUMENT, "%s", wrong[i]);
        ck_assert_msg(strstr(error, "unknown level") || strstr(error, "begins with a slash"),
                      "%s: %s",
                      wrong[i],
                      error);
    }
}

TEST(there_are_limits, "O-11", "U-01")
{
    char text[8192] = "";
    for (int i = 0; i <= LOG_RULES_MAX; i++)
        (void)snprintf(
            text + strlen(text), sizeof text - strlen(text), "%s/a%d=warn", i ? "," : "", i);
    ck_assert_int_eq(parse(text), TR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error, "at most 16 paths of 255 bytes"));
    *strrchr(text, ',') = '\0';
    ck_assert_int_eq(parse(text), TR_OK);
    memset(text, 'x', 300);
    text[0] = '/';
    (void)strcpy(text + 300, "=warn");
    ck_assert_int_eq(parse(text), TR_LIMIT);
}

SUITE("app log rules", a_level_is_for_all_paths, paths_have_levels_of_their_own,
      wrong_lists_get_a_sentence, there_are_limits)
