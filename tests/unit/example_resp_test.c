/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of example 28 that need no socket: the parser of commands, split at every byte and with bad input; patterns;
 * and a shard, with a table that grows under a scan and keys whose time is over.
 */
#include <troupe/kit.h>

#include "support/test.h"

#include "../examples/28_resp/resp.c"
#include "../examples/28_resp/shard.c"

#include <stdlib.h>

static struct resp_command command;

static tr_bytes bytes_of(const char *text)
{
    return (tr_bytes){text, strlen(text)};
}

/* Parses in memory that ends behind the bytes. Words become offsets of `data`. */
static enum resp_status parse(const char *data, size_t size)
{
    char *copy = malloc(size + (size == 0));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, data, size);
    enum resp_status status = resp_parse((tr_bytes){copy, size}, &command);
    for (size_t i = 0; i < command.count; i++) {
        size_t offset = (size_t)((const char *)command.words[i].data - copy);
        ck_assert_uint_le(offset + command.words[i].size, size);
        command.words[i].data = data + offset;
    }
    free(copy);
    return status;
}

/* A command of `size` bytes with something behind it: it is incomplete before its last byte, then it is these words. */
static void check_command(const char *data, size_t size, size_t command_size, const char *words)
{
    char said[200] = "";
    for (size_t come = 0; come < command_size; come++)
        ck_assert_int_eq(parse(data, come), RESP_INCOMPLETE);
    for (size_t come = command_size; come <= size; come++) {
        ck_assert_int_eq(parse(data, come), RESP_COMPLETE);
        ck_assert_uint_eq(command.size, command_size);
        said[0] = '\0';
        for (size_t i = 0; i < command.count; i++) {
            tr_bytes word = command.words[i];
            snprintf(said + strlen(said),
                     sizeof said - strlen(said),
                     "[%.*s]",
                     (int)word.size,
                     (const char *)word.data);
        }
        ck_assert_str_eq(said, words);
    }
}
#define CHECK_COMMAND(text, behind, words)                                                         \
    check_command(text behind, sizeof(text behind) - 1, sizeof(text) - 1, words)

TEST(commands_split_at_every_byte_are_parsed, "CH-02")
{
    CHECK_COMMAND("*1\r\n$4\r\nPING\r\n", "", "[PING]");
    CHECK_COMMAND("*2\r\n$3\r\nGET\r\n$5\r\ncolor\r\n", "*1\r\n$4", "[GET][color]");
    CHECK_COMMAND("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n*1\r\n", "x", "[SET][][\r\n*1]");
    CHECK_COMMAND("*0\r\n", "*1", "");
    CHECK_COMMAND("*-1\r\n", "*1", "");
    CHECK_COMMAND("SET  color\tred \r\n", "GET", "[SET][color][red]");
    CHECK_COMMAND("PING\n", "\n", "[PING]");
    CHECK_COMMAND("\r\n", "PING", "");
}

TEST(what_is_no_command_is_refused, "SE-07")
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"*1025\r\n", "invalid multibulk length"},
        {"*x\r\n", "invalid multibulk length"},
        {"*\r\n", "invalid multibulk length"},
        {"*\n", "invalid multibulk length"},
        {"*1\n", "invalid multibulk length"},
        {"*01\r\n", "invalid multibulk length"},
        {"*+1\r\n", "invalid multibulk length"},
        {"*99999999999999999999\r\n", "invalid multibulk length"},
        {"*1111111111111111111111", "invalid multibulk length"},
        {"*1\r\n:4\r\n", "expected '$'"},
        {"*1\r\n\r\n", "expected '$'"},
        {"*1\r\n$-1\r\n", "invalid bulk length"},
        {"*1\r\n$4194305\r\n", "invalid bulk length"},
        {"*1\r\n$1 \r\n", "invalid bulk length"},
        {"*1\r\n$4\nPING\r\n", "invalid bulk length"},
        {"*1\r\n$4\r\nPINGPONG", "expected CR LF"},
        {"*1\r\n$4\r\nPING\n\n", "expected CR LF"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (parse(cases[i].text, strlen(cases[i].text)) != RESP_BROKEN ||
            !strstr(command.error, cases[i].error))
            ck_abort_msg("%zu: %s", i, command.error ? command.error : "parsed");
    }
    ck_assert_int_eq(parse("*1\r\n$4194304\r\n", 14), RESP_INCOMPLETE);
    ck_assert_int_eq(parse("*1024\r\n", 7), RESP_INCOMPLETE);
}

TEST(a_typed_line_has_limits, "SE-07")
{
    char *line = malloc(RESP_LINE_MAX + 1);
    memset(line, 'x', RESP_LINE_MAX + 1);
    ck_assert_int_eq(parse(line, RESP_LINE_MAX - 1), RESP_INCOMPLETE);
    ck_assert_int_eq(parse(line, RESP_LINE_MAX), RESP_BROKEN);
    line[RESP_LINE_MAX - 1] = '\n';
    ck_assert_int_eq(parse(line, RESP_LINE_MAX), RESP_COMPLETE);
    for (int i = 0; i < 2 * RESP_WORDS_MAX; i += 2)
        memcpy(line + i, "x ", 2);
    memcpy(line + 2 * RESP_WORDS_MAX, "\r\n", 2);
    ck_assert_int_eq(parse(line, 2 * RESP_WORDS_MAX + 2), RESP_COMPLETE);
    ck_assert_uint_eq(command.count, RESP_WORDS_MAX);
    memcpy(line + 2 * RESP_WORDS_MAX, "x\n", 2);
    ck_assert_int_eq(parse(line, 2 * RESP_WORDS_MAX + 2), RESP_BROKEN);
    free(line);
}

TEST(numbers_are_exact, "")
{
    static const struct {
        const char *text;
        int64_t number;
    } good[] = {{"0", 0},
                {"-1", -1},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "-0",
                                      "00",
                                      "01",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1x",
                                      "--1",
                                      "0x1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999"};
    int64_t number = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert(resp_number(bytes_of(good[i].text), &number));
        ck_assert_int_eq(number, good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (resp_number(bytes_of(bad[i]), &number))
            ck_abort_msg("\"%s\" is a number", bad[i]);
    }
}

TEST(patterns_match_as_those_of_redis, "")
{
    static const struct {
        const char *pattern;
        const char *text;
        bool matches;
    } cases[] = {
        {"*", "", true},
        {"*", "abc", true},
        {"", "", true},
        {"", "a", false},
        {"abc", "abc", true},
        {"abc", "abd", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"a*c", "abbbc", true},
        {"a*c", "abbbd", false},
        {"*b*", "abc", true},
        {"*a*b*c*", "xxaxxbxxc", true},
        {"h[ae]llo", "hallo", true},
        {"h[ae]llo", "hillo", false},
        {"h[^e]llo", "hallo", true},
        {"h[^e]llo", "hello", false},
        {"h[a-c]llo", "hbllo", true},
        {"h[c-a]llo", "hbllo", true},
        {"h[a-c]llo", "hdllo", false},
        {"a\\*c", "a*c", true},
        {"a\\*c", "abc", false},
        {"[\\]]", "]", true},
        {"[a", "a", true},
        {"[", "a", false},
        {"a\\", "a\\", true},
        {"a**b", "ab", true},
        {"abc*", "ab", false},
        {"*aab", "aaaab", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (resp_matches(bytes_of(cases[i].pattern), bytes_of(cases[i].text)) != cases[i].matches)
            ck_abort_msg("\"%s\" and \"%s\"", cases[i].pattern, cases[i].text);
    }
}

/* ---- A shard. ---- */

static tr_kit *kit;
static tr_client *test;
static shard_ref shards;

static void begin(void)
{
    kit = tr_kit_new(NULL);
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(test, &shards, shard, "shard"), TR_OK);
}

/* Asks the shard for one job. The result is there until the next one. */
static const struct result *work_on(struct job job)
{
    const struct done *done = NULL;
    job.hash = hash_of(job.key, 1);
    work_ask asked = tr_ask(test, shards, work, .jobs = {&job, 1});
    ck_assert_int_eq(tr_try_await(test, asked, &done), TR_OK);
    ck_assert_uint_eq(done->results.count, 1);
    return done->results.items;
}

static const char *get_text(const char *key)
{
    static char text[100];
    const struct result *found = work_on((struct job){.verb = GET, .key = bytes_of(key)});
    if (found->outcome == NOT_DONE)
        return NULL;
    ck_assert_int_eq(found->outcome, DONE);
    snprintf(text, sizeof text, "%.*s", (int)found->value.size, (const char *)found->value.data);
    return text;
}

/* Checks the outcome; returns the number. */
#define DO(outcome_is, ...)                                                                        \
    ({                                                                                             \
        const struct result *result_ = work_on((struct job){.verb = __VA_ARGS__});                 \
        ck_assert_int_eq(result_->outcome, outcome_is);                                            \
        result_->number;                                                                           \
    })

static void set_text(const char *key, const char *value)
{
    DO(DONE, SET, .key = bytes_of(key), .value = bytes_of(value));
}

TEST(a_shard_keeps_values, "")
{
    begin();
    ck_assert_ptr_null(get_text("a"));
    set_text("a", "1");
    set_text("b", "two");
    set_text("", "empty");
    set_text("e", "");
    ck_assert_str_eq(get_text("a"), "1");
    ck_assert_str_eq(get_text("b"), "two");
    ck_assert_str_eq(get_text(""), "empty");
    ck_assert_str_eq(get_text("e"), "");
    set_text("a", "one, longer");
    set_text("a", "One, longer");
    ck_assert_str_eq(get_text("a"), "One, longer");
    ck_assert_int_eq(DO(DONE, EXISTS, .key = bytes_of("a")), 1);
    ck_assert_int_eq(DO(DONE, COUNT), 4);
    ck_assert_int_eq(DO(DONE, DEL, .key = bytes_of("a")), 1);
    ck_assert_int_eq(DO(DONE, DEL, .key = bytes_of("a")), 0);
    ck_assert_int_eq(DO(DONE, EXISTS, .key = bytes_of("a")), 0);
    ck_assert_ptr_null(get_text("a"));
    DO(DONE, CLEAR);
    ck_assert_int_eq(DO(DONE, COUNT), 0);
    ck_assert_ptr_null(get_text("b"));
    tr_kit_free(kit);
}

TEST(a_value_is_set_on_conditions, "")
{
    begin();
    tr_bytes key = bytes_of("a");
    DO(NOT_DONE, SET_THERE, .key = key, .value = bytes_of("1"));
    ck_assert_ptr_null(get_text("a"));
    DO(DONE, SET_MISSING, .key = key, .value = bytes_of("1"));
    DO(NOT_DONE, SET_MISSING, .key = key, .value = bytes_of("2"));
    ck_assert_str_eq(get_text("a"), "1");
    DO(DONE, SET_THERE, .key = key, .value = bytes_of("3"));
    ck_assert_str_eq(get_text("a"), "3");
    tr_kit_free(kit);
}

TEST(numbers_are_added_exactly, "")
{
    begin();
    tr_bytes key = bytes_of("n");
    ck_assert_int_eq(DO(DONE, ADD, .key = key, .number = 1), 1);
    ck_assert_int_eq(DO(DONE, ADD, .key = key, .number = -11), -10);
    ck_assert_str_eq(get_text("n"), "-10");
    set_text("n", "9223372036854775806");
    ck_assert_int_eq(DO(DONE, ADD, .key = key, .number = 1), INT64_MAX);
    DO(OVERFLOWS, ADD, .key = key, .number = 1);
    ck_assert_str_eq(get_text("n"), "9223372036854775807");
    set_text("n", "1x");
    DO(NOT_A_NUMBER, ADD, .key = key, .number = 1);
    ck_assert_str_eq(get_text("n"), "1x");
    tr_kit_free(kit);
}

/* What a job finds is what it was then, also if a later one of the request changes it. */
TEST(many_jobs_are_done_in_order, "")
{
    begin();
    tr_bytes key = bytes_of("a");
    const struct done *done = NULL;
    struct job jobs[] = {{.verb = GET},
                         {.verb = SET, .value = bytes_of("1")},
                         {.verb = GET},
                         {.verb = SET, .value = bytes_of("2")},
                         {.verb = GET},
                         {.verb = ADD, .number = 40},
                         {.verb = DEL},
                         {.verb = GET}};
    size_t count = sizeof jobs / sizeof *jobs;
    for (size_t i = 0; i < count; i++) {
        jobs[i].key = key;
        jobs[i].hash = hash_of(key, 1);
    }
    work_ask asked = tr_ask(test, shards, work, .jobs = {jobs, count});
    ck_assert_int_eq(tr_try_await(test, asked, &done), TR_OK);
    ck_assert_uint_eq(done->results.count, count);
    const struct result *results = done->results.items;
    ck_assert_int_eq(results[0].outcome, NOT_DONE);
    ck_assert_mem_eq(results[2].value.data, "1", 1);
    ck_assert_mem_eq(results[4].value.data, "2", 1);
    ck_assert_int_eq(results[5].number, 42);
    ck_assert_int_eq(results[6].number, 1);
    ck_assert_int_eq(results[7].outcome, NOT_DONE);
    tr_kit_free(kit);
}

static uint64_t turns_of_kit(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.turns;
}

TEST(keys_end_when_their_time_is_over, "")
{
    begin();
    tr_bytes a = bytes_of("a");
    tr_bytes b = bytes_of("b");
    ck_assert_int_eq(DO(DONE, TTL, .key = a), TTL_NO_KEY);
    DO(DONE, SET, .key = a, .value = bytes_of("1"), .number = 10 * TR_SECOND);
    set_text("b", "2");
    ck_assert_int_eq(DO(DONE, TTL, .key = b), TTL_NONE);
    ck_assert_int_eq(DO(DONE, EXPIRE, .key = bytes_of("c"), .number = TR_SECOND), 0);
    tr_kit_advance(kit, 4 * TR_SECOND);
    int64_t left = DO(DONE, TTL, .key = a);
    ck_assert(left > 5 * TR_SECOND && left <= 6 * TR_SECOND);
    /* Adding keeps the end, setting does not. */
    DO(DONE, ADD, .key = a, .number = 100);
    ck_assert_int_gt(DO(DONE, TTL, .key = a), 0);
    set_text("a", "3");
    ck_assert_int_eq(DO(DONE, TTL, .key = a), TTL_NONE);
    ck_assert_int_eq(DO(DONE, EXPIRE, .key = a, .number = TR_SECOND), 1);
    ck_assert_int_eq(DO(DONE, EXPIRE, .key = b, .number = -1), 1);
    ck_assert_ptr_null(get_text("b"));
    ck_assert_int_eq(DO(DONE, COUNT), 1);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(DO(DONE, COUNT), 0); /* nobody has looked for it */
    ck_assert_ptr_null(get_text("a"));
    /* No timer is left: nothing is to be done until the next key that ends. */
    uint64_t turns = turns_of_kit();
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(turns_of_kit(), turns);
    /* A key whose time is over is not found, also if no sweep was due. */
    DO(DONE, SET, .key = a, .value = bytes_of("1"), .number = TR_MILLISECOND);
    tr_kit_advance(kit, 2 * TR_MILLISECOND);
    ck_assert_int_eq(DO(DONE, COUNT), 1);
    ck_assert_ptr_null(get_text("a"));
    ck_assert_int_eq(DO(DONE, COUNT), 0);
    tr_kit_free(kit);
}

/* Marks what a page has. Returns where to continue, or UINT32_MAX. */
static uint32_t scan_page(uint32_t from, uint32_t count, const char *pattern, int *seen)
{
    const struct page *page;
    scan_ask asked =
        tr_ask(test, shards, scan, .from = from, .count = count, .pattern = bytes_of(pattern));
    ck_assert_int_eq(tr_try_await(test, asked, &page), TR_OK);
    for (size_t i = 0; i < page->keys.count; i++) {
        char key[20];
        snprintf(key,
                 sizeof key,
                 "%.*s",
                 (int)page->keys.items[i].size,
                 (const char *)page->keys.items[i].data);
        seen[atoi(key + 1)]++;
    }
    ck_assert(page->is_last || page->next > from);
    return page->is_last ? UINT32_MAX : page->next;
}

static void set_keys(int from, int end)
{
    for (int i = from; i < end; i++) {
        char key[20];
        snprintf(key, sizeof key, "k%d", i);
        set_text(key, "x");
    }
}

TEST(a_scan_of_a_table_that_grows_finds_all_that_stay, "")
{
    enum { KEYS = 500, MORE = 5000 };
    begin();
    set_keys(0, KEYS);
    int *seen = calloc(MORE, sizeof *seen);
    int pages = 0;
    for (uint32_t from = 0; from != UINT32_MAX; pages++) {
        from = scan_page(from, 20, "*", seen);
        if (pages < 9) /* the table grows three times */
            set_keys(KEYS + 500 * pages, KEYS + 500 * (pages + 1));
    }
    ck_assert_int_gt(pages, 9);
    for (int i = 0; i < KEYS; i++)
        ck_assert_int_eq(seen[i], 1);
    memset(seen, 0, MORE * sizeof *seen);
    for (uint32_t from = 0; from != UINT32_MAX;)
        from = scan_page(from, 1000, "k1[0-4]?", seen);
    for (int i = 0; i < MORE; i++)
        ck_assert_int_eq(seen[i], i >= 100 && i < 150);
    free(seen);
    tr_kit_free(kit);
}

SUITE("example resp", commands_split_at_every_byte_are_parsed, what_is_no_command_is_refused,
      a_typed_line_has_limits, numbers_are_exact, patterns_match_as_those_of_redis,
      a_shard_keeps_values, a_value_is_set_on_conditions, numbers_are_added_exactly,
      many_jobs_are_done_in_order, keys_end_when_their_time_is_over,
      a_scan_of_a_table_that_grows_finds_all_that_stay)
