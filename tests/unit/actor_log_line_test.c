/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The forms of log lines, and what becomes of texts that are long or odd.
 */
#include "support/test.h"

#include <string.h>

#include "actor/cell/log_line.h"

static char line[LOG_LINE_MAX];

/* 2024-02-29T23:59:59.123456Z */
static const tr_time leap_day_ns = INT64_C(1709251199123456000);

TEST(a_line_of_json_has_time_level_path_causal_id_and_text, "O-11")
{
    const struct log_line said = {TR_LEVEL_WARN, "/user/bank", 0xbadcafe1, "the vault is empty"};
    size_t length = tr__log_line_json(&said, leap_day_ns, line, sizeof line);
    ck_assert_uint_eq(length, strlen(line));
    ck_assert_str_eq(
        line,
        "{\"time\":\"2024-02-29T23:59:59.123456Z\",\"level\":\"warn\",\"path\":\"/user/"
        "bank\",\"causal\":\"00000000badcafe1\",\"text\":\"the vault is empty\"}");
}

TEST(what_a_line_does_not_have_is_left_out, "O-11")
{
    const struct log_line said = {TR_LEVEL_ERROR, NULL, 0, "x"};
    (void)tr__log_line_json(&said, -1, line, sizeof line);
    ck_assert_str_eq(
        line, "{\"time\":\"1969-12-31T23:59:59.999999Z\",\"level\":\"error\",\"text\":\"x\"}");
    (void)tr__log_line_journald(&said, line, sizeof line);
    ck_assert_str_eq(line, "<3>x");
    (void)tr__log_line_text(&said, line, sizeof line);
    ck_assert_str_eq(line, "x");
}

TEST(the_journal_gets_the_priorities_of_syslog, "O-11")
{
    static const char *const priorities[] = {"<7>", "<6>", "<4>", "<3>"};
    for (int level = TR_LEVEL_DEBUG; level <= TR_LEVEL_ERROR; level++) {
        const struct log_line said = {(tr_level)level, "/user/bank", 1, "a\nb"};
        (void)tr__log_line_journald(&said, line, sizeof line);
        ck_assert_int_eq(strncmp(line, priorities[level], 3), 0);
        ck_assert_str_eq(line + 3, "/user/bank: a b causal=0000000000000001");
    }
}

TEST(odd_bytes_are_escaped_or_replaced, "O-11", "U-02")
{
    const struct log_line said = {
        TR_LEVEL_INFO, "/a\"b", 0, "q\" b\\ \n \x01 \xff \xc3\xa9 \xe2\x82"};
    (void)tr__log_line_json(&said, 0, line, sizeof line);
    const char *rest = strstr(line, "\"path\"");
    ck_assert_ptr_nonnull(rest);
    ck_assert_str_eq(
        rest, "\"path\":\"/a\\\"b\",\"text\":\"q\\\" b\\\\ \\u000a \\u0001 ? \xc3\xa9 ??\"}");
}

TEST(a_long_text_is_cut_and_the_line_stays_whole, "O-11", "U-02")
{
    static char text[20000];
    memset(text, '\n', sizeof text - 1); /* six bytes each in JSON */
    const struct log_line said = {TR_LEVEL_INFO, text, 7, text};
    for (size_t size = 256; size <= sizeof line; size += 7) {
        size_t length = tr__log_line_json(&said, 0, line, size);
        ck_assert_uint_lt(length, size);
        ck_assert_str_eq(line + length - 5, "...\"}");
        length = tr__log_line_journald(&said, line, size);
        ck_assert_uint_lt(length, size);
        ck_assert_str_eq(line + length - 27, "... causal=0000000000000007");
        length = tr__log_line_text(&said, line, size);
        ck_assert_uint_lt(length, size);
        ck_assert_str_eq(line + length - 27, "... causal=0000000000000007");
    }
}

SUITE("actor log line", a_line_of_json_has_time_level_path_causal_id_and_text,
      what_a_line_does_not_have_is_left_out, the_journal_gets_the_priorities_of_syslog,
      odd_bytes_are_escaped_or_replaced, a_long_text_is_cut_and_the_line_stays_whole)
