/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits of limits.h at their edge: what the limit allows works, one more is the status that its
 * comment names. Most limits are tested with what they limit; here are those that are not.
 */
#include "support/kits.h"

#include <stdlib.h>

/* ---- U-01 gives these; who changes one changes a promise. ---- */

TEST(the_defaults_are_those_of_the_contract, "U-01")
{
    ck_assert_int_eq(TR_STASH_MAX, 1024);
    ck_assert_int_eq(TR_BATCH_MAX, 1024);
    ck_assert_int_eq(TR_STASH_BYTES_MAX, 64 << 20);
    ck_assert_int_eq(TR_MAILBOX_MAX, 1 << 20);
    ck_assert_int_eq(TR_MAILBOX_BYTES_MAX, 64 << 20);
    ck_assert_int_eq(TR_RUN_TURNS_MAX, 64);
    ck_assert_int_eq(TR_RUN_NS_MAX, 200 * TR_MICROSECOND);
    ck_assert_int_eq(TR_PAYLOAD_MAX, 8 << 20);
    ck_assert_int_eq(TR_NAME_MAX, 128);
    ck_assert_int_eq(TR_PATH_MAX, 1024);
    ck_assert_int_eq(TR_DEPTH_MAX, 64);
    ck_assert_int_eq(TR_TIMERS_MAX, 1 << 20);
    ck_assert_int_eq(TR_DEFERS_MAX, 64);
    ck_assert_int_eq(TR_SPIN_NS, 20 * TR_MICROSECOND);
    ck_assert_int_eq(TR_SPIN_IO_NS, 100 * TR_MICROSECOND);
    ck_assert_int_eq(TR_DEAD_LETTERS_MAX, 1000);
    ck_assert_int_eq(TR_BEHAVIORS_NESTED_MAX, 10);
    ck_assert_int_eq(TR_TURN_REPORT_NS, 10 * TR_MILLISECOND);
}

/* ---- In a turn. ---- */

TR_MESSAGE(tick, (u32, n));
TR_MESSAGE(words, (str, text));
TR_ACTOR(someone, run, tick);

static tr_next on_tick(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(someone, void, TR_ON(run, on_run), TR_ON(tick, on_tick));

static void in_a_turn(turn *what)
{
    kit_open(1, 1);
    someone_ref someone;
    ck_assert_int_eq(tr_try_spawn(test, &someone, someone, NULL), TR_OK);
    tr_tell(test, someone, run, .function = (uint64_t)(uintptr_t)what);
    tr_kit_settle(kit);
    SAID("done");
    kit_close();
}

static tr_status try_timer(tr_self *self, const char *key)
{
    static const struct tick message = {1};
    return tr_self_try_timer(self, key, TR_TIMER_ONCE, TR_HOUR, &tr_type_tick, &message, NULL);
}

static tr_next fill_timers(tr_self *self)
{
    ck_assert_int_eq(try_timer(self, "first"), TR_OK);
    for (int i = 1; i < TR_TIMERS_MAX; i++) {
        tr_status status = try_timer(self, NULL);
        if (status != TR_OK)
            ck_abort_msg("timer %d: %s", i, tr_status_name(status));
    }
    ck_assert_int_eq(try_timer(self, NULL), TR_LIMIT);
    ck_assert_int_eq(try_timer(self, "another"), TR_LIMIT);
    ck_assert_int_eq(try_timer(self, "first"), TR_OK); /* replaces */
    ck_assert_int_eq(tr_timer_cancel(self, "first"), TR_TIMER_CANCELLED);
    ck_assert_int_eq(try_timer(self, "another"), TR_OK);
    ck_assert_int_eq(try_timer(self, NULL), TR_LIMIT);
    say("done");
    return TR_SAME;
}

TEST(an_actor_has_a_million_timers_and_no_more, "U-01", "T-01")
{
    in_a_turn(fill_timers);
}

static tr_next use_keys(tr_self *self)
{
    char key[TR_TIMER_KEY_MAX + 2];
    memset(key, 'k', sizeof key);
    key[TR_TIMER_KEY_MAX] = '\0';
    ck_assert_int_eq(try_timer(self, key), TR_OK);
    ck_assert_int_eq(tr_timer_cancel(self, key), TR_TIMER_CANCELLED);
    key[TR_TIMER_KEY_MAX] = 'k';
    key[TR_TIMER_KEY_MAX + 1] = '\0';
    ck_assert_int_eq(try_timer(self, key), TR_INVALID_ARGUMENT);
    say("done");
    return TR_SAME;
}

TEST(a_key_has_so_many_bytes, "U-01", "T-01")
{
    in_a_turn(use_keys);
}

static tr_next ask_for_too_much(tr_self *self)
{
    /* What the limit allows may be there or not; more is never. */
    ck_assert_ptr_null(tr_try_alloc(self, TR_ALLOC_MAX + 1));
    ck_assert_ptr_null(tr_try_scratch(self, TR_ALLOC_MAX + 1));
    ck_assert_ptr_null(tr_try_realloc(self, tr_alloc(self, 1), TR_ALLOC_MAX + 1));
    ck_assert_ptr_null(tr_try_alloc(self, SIZE_MAX));
    say("done");
    return TR_SAME;
}

TEST(no_block_is_larger_than_the_limit, "U-01", "U-02")
{
    in_a_turn(ask_for_too_much);
}

/* ---- The set-up message. ---- */

TR_ACTOR(reader, run);

static size_t read_length;

static tr_next set_up_reader(tr_self *self, const struct words *message)
{
    (void)self;
    read_length = strlen(message->text);
    return TR_SAME;
}

TR_BEHAVIOR(reader, void, TR_SETUP_WITH(words, set_up_reader));

static char *text_of(size_t length)
{
    char *text = malloc(length + 1);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', length);
    text[length] = '\0';
    return text;
}

/* A struct and a text with its NUL are the payload. */
enum { LONGEST = TR_PAYLOAD_MAX - sizeof(struct words) - 1 };

static tr_next spawn_readers(tr_self *self)
{
    for (size_t extra = 0; extra <= 1; extra++) {
        char *text = text_of(LONGEST + extra);
        reader_ref reader;
        tr_error error = {0};
        tr_status status =
            tr_try_spawn_error(self, &reader, &error, reader, NULL, words, .text = text);
        ck_assert_int_eq(status, extra ? TR_TOO_LARGE : TR_OK);
        ck_assert_uint_eq(read_length, LONGEST);
        ck_assert(!extra || error.text[0]);
        ck_assert_int_eq(tr_tell(self, TR_NOBODY, words, .text = text), TR_STOPPED);
        ck_assert_int_eq(tr_tell(self, tr_me(self), words, .text = text),
                         extra ? TR_TOO_LARGE : TR_OK);
        free(text);
    }
    say("done");
    return TR_SAME;
}

TEST(a_set_up_message_is_as_large_as_any, "U-01", "B-06")
{
    in_a_turn(spawn_readers);
}

TEST(the_set_up_message_of_a_client_too, "U-01", "B-06")
{
    kit_open(1, 1);
    read_length = 0;
    for (size_t extra = 0; extra <= 1; extra++) {
        char *text = text_of(LONGEST + extra);
        reader_ref reader;
        ck_assert_int_eq(tr_try_spawn(test, &reader, reader, NULL, words, .text = text),
                         extra ? TR_TOO_LARGE : TR_OK);
        tr_kit_settle(kit);
        ck_assert_uint_eq(read_length, LONGEST);
        free(text);
    }
    kit_close();
}

/* ---- Clients and systems. ---- */

TR_ACTOR(stillborn, run);

static tr_next never_start(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "on purpose");
}

TR_BEHAVIOR(stillborn, void, TR_SETUP(never_start));

TEST(a_client_remembers_so_many_failures, "U-01", "L-04")
{
    kit_open(1, 1);
    static stillborn_ref refs[TR_CLIENT_FAILURES_MAX + 1];
    for (int i = 0; i <= TR_CLIENT_FAILURES_MAX; i++) {
        ck_assert_int_eq(tr_try_spawn(test, &refs[i], stillborn, NULL), TR_OK);
        tr_kit_settle(kit);
    }
    for (int i = TR_CLIENT_FAILURES_MAX; i >= 0; i--) {
        tr_error error = {0};
        tr_status status = tr_spawn_wait(test, refs[i], 0, &error);
        ck_assert_int_eq(status, i ? TR_INIT_FAILED : TR_STOPPED);
        ck_assert(error.text[0]);
    }
    kit_close();
}

static size_t longest_line;

static void measure_line(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    if (strlen(text) > longest_line)
        longest_line = strlen(text);
}

static tr_next log_much(tr_self *self)
{
    char *text = text_of(2 * TR_LOG_MAX);
    tr_log_info(self, "%.*s", TR_LOG_MAX - 1, text);
    ck_assert_uint_eq(longest_line, TR_LOG_MAX - 1);
    tr_log_info(self, "%s", text);
    ck_assert_uint_eq(longest_line, TR_LOG_MAX - 1);
    free(text);
    return TR_STOP;
}

TEST(a_line_of_log_is_cut, "U-01")
{
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .exit_when_empty = true, .on_log = measure_line};
    tr_system *system;
    tr_client *client;
    someone_ref someone;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &someone, someone, NULL), TR_OK);
    TELL_RUN(client, someone, log_much);
    ck_assert_int_eq(tr_system_run(system), TR_OK);
    ck_assert_uint_eq(longest_line, TR_LOG_MAX - 1);
    tr_client_free(client);
    tr_system_free(system);
}

static size_t dead_lines;

static void count_dead_lines(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    dead_lines += strstr(text, "tick") != NULL;
}

TEST(so_many_dead_letters_are_logged_in_a_second, "U-01", "M-03")
{
    struct hand hand = {.table = *tr_platform_real(), .mono_ns = TR_HOUR};
    hand.table.mono_now = hand_mono;
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .platform = &hand.table, .on_log = count_dead_lines};
    tr_system *system;
    tr_client *client;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (uint32_t i = 0; i < TR_DEAD_LETTER_LOGS_MAX; i++)
        tr_tell(client, TR_NOBODY, tick, .n = i);
    ck_assert_uint_eq(dead_lines, TR_DEAD_LETTER_LOGS_MAX);
    tr_tell(client, TR_NOBODY, tick, .n = 0);
    ck_assert_uint_eq(dead_lines, TR_DEAD_LETTER_LOGS_MAX);
    hand.mono_ns += TR_SECOND;
    tr_tell(client, TR_NOBODY, tick, .n = 0);
    ck_assert_uint_eq(dead_lines, TR_DEAD_LETTER_LOGS_MAX + 1);
    tr_client_free(client);
    tr_system_free(system);
}

TEST(times_of_the_loop_are_an_hour_at_most, "U-01")
{
    for (int i = 0; i < 4; i++) {
        bool is_too_long = i % 2;
        tr_time ns = TR_OPTION_NS_MAX + is_too_long;
        tr_system_options options = {.size = sizeof options, .workers = 1};
        *(i < 2 ? &options.spin_ns : &options.round_min_ns) = ns;
        tr_system *system = NULL;
        ck_assert_int_eq(tr_system_new(&options, &system),
                         is_too_long ? TR_INVALID_ARGUMENT : TR_OK);
        tr_system_free(system);
    }
}

/* ---- Documents. ---- */

TR_MESSAGE(weighed, (f64, weight));

TEST(a_number_has_so_many_characters, "U-01", "U-02")
{
    for (int extra = 0; extra <= 1; extra++) {
        char text[TR_JSON_NUMBER_MAX + 32];
        int length = snprintf(text,
                              sizeof text,
                              "{\"weight\":0.%0*d}",
                              TR_JSON_NUMBER_MAX + extra - 2,
                              1); /* 0.00...1 */
        void *message = NULL;
        tr_wire_error error = {0};
        tr_status status =
            tr_json_read(&tr_type_weighed, (tr_bytes){text, (size_t)length}, &message, &error);
        ck_assert_int_eq(status, extra ? TR_TOO_LARGE : TR_OK);
        if (extra) {
            ck_assert_str_eq(error.path, "weight");
            ck_assert_ptr_nonnull(strstr(error.text, "512"));
        } else {
            ck_assert_double_eq(((struct weighed *)message)->weight, 0);
        }
        tr_message_free(&tr_type_weighed, message);
    }
}

/* 63 fields, and that they can be sent and read. One more does not compile: tests/compile. */
#define TEN(p)                                                                                     \
    (u8, p##0), (u8, p##1), (u8, p##2), (u8, p##3), (u8, p##4), (u8, p##5), (u8, p##6),            \
        (u8, p##7), (u8, p##8), (u8, p##9)
#define APPLY(macro, ...) macro(__VA_ARGS__)
APPLY(TR_MESSAGE, widest, TEN(a), TEN(b), TEN(c), TEN(d), TEN(e), TEN(f), (u8, x), (u8, y),
      (u8, z));

TEST(a_message_has_so_many_fields, "U-01", "B-06")
{
    ck_assert_uint_eq(tr_type_widest.field_count, TR_FIELDS_MAX);
    struct widest widest = {.a0 = 1, .z = 63};
    char text[1024];
    void *message;
    size_t length = tr_json_write(&tr_type_widest, &widest, text, sizeof text, NULL);
    ck_assert_int_eq(tr_json_read(&tr_type_widest, (tr_bytes){text, length}, &message, NULL),
                     TR_OK);
    ck_assert_mem_eq(message, &widest, sizeof widest);
    tr_message_free(&tr_type_widest, message);
}

SUITE("limits", the_defaults_are_those_of_the_contract, an_actor_has_a_million_timers_and_no_more,
      a_key_has_so_many_bytes, no_block_is_larger_than_the_limit,
      a_set_up_message_is_as_large_as_any, the_set_up_message_of_a_client_too,
      a_client_remembers_so_many_failures, a_line_of_log_is_cut,
      so_many_dead_letters_are_logged_in_a_second, times_of_the_loop_are_an_hour_at_most,
      a_number_has_so_many_characters, a_message_has_so_many_fields)
