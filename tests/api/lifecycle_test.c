/* SPDX-License-Identifier: Apache-2.0 */
/**
 * From PreStart to PostStop: signals come once and in order, and a handler of a signal may answer
 * as any other.
 */
#include "support/stage.h"

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(other, (u64, n));
TR_MESSAGE(order, (u32, what));
TR_MESSAGE(report, (u64, starts), (u64, first), (u64, notes), (bool, is_ordered));
TR_REQUEST(ask_report, report);

/* ---- PreStart comes before everything else, once. ---- */

struct clerk {
    uint64_t starts;
    uint64_t notes;
    uint64_t first; /* 1: PreStart came first, 2: a note */
    bool is_disordered;
};

static tr_next clerk_start(struct clerk *clerk)
{
    clerk->starts++;
    if (!clerk->first)
        clerk->first = 1;
    return TR_SAME;
}

static tr_next clerk_note(struct clerk *clerk, const struct note *note)
{
    if (!clerk->first)
        clerk->first = 2;
    clerk->is_disordered |= note->n != clerk->notes;
    clerk->notes++;
    return TR_SAME;
}

static tr_next clerk_report(tr_self *self, struct clerk *clerk)
{
    return tr_reply(self,
                    report,
                    .starts = clerk->starts,
                    .first = clerk->first,
                    .notes = clerk->notes,
                    .is_ordered = !clerk->is_disordered);
}

TR_ACTOR(clerk, note, ask_report);
TR_BEHAVIOR(clerk, struct clerk, TR_ON(tr_pre_start, clerk_start), TR_ON(note, clerk_note),
            TR_ON(ask_report, clerk_report));

enum { QUEUED = 1000 };

static void check_clerk(tr_client *client, clerk_ref clerk)
{
    ck_assert_int_eq(tr_tell(client, clerk, ask_report), TR_OK);
    const struct report *report = tr_receive(client, report, STAGE_PATIENCE);
    ck_assert_ptr_nonnull(report);
    ck_assert_uint_eq(report->starts, 1);
    ck_assert_uint_eq(report->first, 1);
    ck_assert_uint_eq(report->notes, QUEUED);
    ck_assert(report->is_ordered);
}

static void queue_notes(tr_client *client, clerk_ref clerk)
{
    for (uint64_t n = 0; n < QUEUED; n++)
        ck_assert_int_eq(tr_tell(client, clerk, note, .n = n), TR_OK);
}

static void play_queued_before_start(struct stage *stage)
{
    clerk_ref clerk;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &clerk, stage_far(stage), clerk, "clerk"),
                     TR_OK);
    queue_notes(stage->client, clerk);
    check_clerk(stage->client, clerk);
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
}

TEST(pre_start_comes_before_a_thousand_queued_messages, "G-01", "LC-02", "L-03")
{
    stage_play(play_queued_before_start);
}

TEST(pre_start_comes_first_on_threads_that_start_later, "G-01", "LC-02", "L-03")
{
    struct theatre theatre = theatre_new(2);
    clerk_ref clerks[4];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &clerks[i], i % 2, clerk, NULL), TR_OK);
        queue_notes(theatre.client, clerks[i]);
    }
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    for (int i = 0; i < 4; i++)
        check_clerk(theatre.client, clerks[i]);
    theatre_close(&theatre);
}

TEST(pre_start_comes_first_while_threads_run, "G-01", "LC-02", "LC-03")
{
    struct theatre theatre = theatre_open(3);
    int rounds = (int)test_scale(300, 20000);
    for (int i = 0; i < rounds; i++) {
        clerk_ref clerk;
        ck_assert_int_eq(tr_try_spawn_at(theatre.client, &clerk, i % 3, clerk, NULL), TR_OK);
        queue_notes(theatre.client, clerk);
        check_clerk(theatre.client, clerk);
        ck_assert_int_eq(tr_stop(theatre.client, clerk), TR_OK);
    }
    theatre_close(&theatre);
}

/* ---- What is sent while an actor starts waits for PreStart, in order. ---- */

TR_ACTOR(early, note);
static tr_next early_set_up(tr_self *self)
{
    diary("setup");
    for (uint64_t n = 1; n <= 3; n++)
        ck_assert_int_eq(tr_tell(self, tr_me(self), note, .n = n), TR_OK);
    return TR_SAME;
}

static tr_next early_start(tr_self *self)
{
    diary("start");
    ck_assert_int_eq(tr_tell(self, tr_me(self), note, .n = 4), TR_OK);
    return TR_SAME;
}

static tr_next early_note(const struct note *note)
{
    diary("%" PRIu64, note->n);
    return TR_SAME;
}

TR_BEHAVIOR(early, void, TR_SETUP(early_set_up), TR_ON(tr_pre_start, early_start),
            TR_ON(note, early_note));

TR_ACTOR(mother, order);
static tr_next mother_order(tr_self *self, const struct order *order)
{
    early_ref child = tr_spawn_at(self, (int)order->what, early, "child");
    diary("spawned");
    for (uint64_t n = 5; n <= 7; n++)
        ck_assert_int_eq(tr_tell(self, child, note, .n = n), TR_OK);
    return TR_SAME;
}
TR_BEHAVIOR(mother, void, TR_ON(order, mother_order));

static void play_sent_while_starting(struct stage *stage)
{
    mother_ref mother;
    ck_assert_int_eq(tr_try_spawn(stage->client, &mother, mother, "mother"), TR_OK);
    tr_tell(stage->client, mother, order, .what = 0);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "setup start spawned 1 2 3 4 5 6 7");
    tr_stop(stage->client, mother);
    tr_kit_settle(stage->kit);
    if (stage->workers == 1)
        return;
    /* Placed elsewhere: what the parent sends comes first, as it was sent first. */
    ck_assert_int_eq(tr_try_spawn(stage->client, &mother, mother, "mother"), TR_OK);
    tr_tell(stage->client, mother, order, .what = 2);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "spawned setup start 5 6 7 1 2 3 4");
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
}

TEST(messages_to_a_starting_actor_wait_for_pre_start, "L-03", "LC-03", "G-01", "L-04")
{
    stage_play(play_sent_while_starting);
}

/* ---- Signal handlers that stop, become and fail. ---- */

enum answer { ANSWER_SAME, ANSWER_STOP, ANSWER_BECOME, ANSWER_FAIL, ANSWER_CRASH, ANSWERS };
static enum answer at_start;
static enum answer at_stop;

TR_ACTOR(plain, note);
TR_BEHAVIOR_DECLARE(fancy);

static tr_next answer(tr_self *self, enum answer answer)
{
    switch (answer) {
    case ANSWER_STOP:
        return TR_STOP;
    case ANSWER_BECOME:
        return tr_become(self, fancy);
    case ANSWER_FAIL:
        return tr_fail(self, TR_BAD_DATA, "on purpose");
    case ANSWER_CRASH:
        tr_crash(self, TR_BAD_DATA, "on purpose, deeper");
    case ANSWER_SAME:
    case ANSWERS:
        break;
    }
    return TR_SAME;
}

static tr_next plain_start(tr_self *self)
{
    diary("start");
    return answer(self, at_start);
}

static tr_next plain_note(tr_self *self, const struct note *note)
{
    diary("plain%" PRIu64, note->n);
    return answer(self, (enum answer)note->n);
}

static tr_next plain_stop(tr_self *self)
{
    diary("stop");
    return answer(self, at_stop);
}
TR_BEHAVIOR(plain, void, TR_ON(tr_pre_start, plain_start), TR_ON(note, plain_note),
            TR_ON(tr_post_stop, plain_stop));

static tr_next fancy_note(const struct note *note)
{
    diary("fancy%" PRIu64, note->n);
    return TR_SAME;
}

static tr_next fancy_start(void)
{
    diary("never");
    return TR_SAME;
}

static tr_next fancy_stop(tr_self *self)
{
    diary("fancystop");
    return answer(self, at_stop);
}
TR_BEHAVIOR(fancy, void, TR_ON(note, fancy_note), TR_ON(tr_pre_start, fancy_start),
            TR_ON(tr_post_stop, fancy_stop));

static void play_answers_of_pre_start(struct stage *stage)
{
    static const char *const expected[ANSWERS] = {
        [ANSWER_SAME] = "start plain0 stop",
        [ANSWER_STOP] = "start stop",
        [ANSWER_BECOME] = "start fancy0 fancystop",
        [ANSWER_FAIL] = "start stop",
        [ANSWER_CRASH] = "start stop",
    };
    at_stop = ANSWER_SAME;
    for (int i = 0; i < ANSWERS; i++) {
        plain_ref plain;
        at_start = (enum answer)i;
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &plain, stage_far(stage), plain, "plain"),
                         TR_OK);
        tr_tell(stage->client, plain, note, .n = 0);
        tr_stop(stage->client, plain);
        tr_kit_settle(stage->kit);
        ck_assert_str_eq(diary_read(), expected[i]);
        ck_assert_uint_eq(stage_live(stage), 0);
        bool is_handled = i == ANSWER_SAME || i == ANSWER_BECOME;
        ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(plain), "note", TR_STOPPED),
                          is_handled ? 0 : 1);
        tr_kit_check(stage->kit);
    }
}

TEST(pre_start_may_stop_become_or_fail, "G-06", "G-01", "LC-16")
{
    stage_play(play_answers_of_pre_start);
}

static void play_answers_of_post_stop(struct stage *stage)
{
    at_start = ANSWER_SAME;
    for (int i = 0; i < ANSWERS; i++) {
        plain_ref plain;
        at_stop = (enum answer)i;
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &plain, stage_far(stage), plain, "plain"),
                         TR_OK);
        tr_stop(stage->client, plain);
        tr_kit_settle(stage->kit);
        ck_assert_str_eq(diary_read(), "start stop");
        ck_assert_uint_eq(stage_live(stage), 0);
        ck_assert(tr_is_nobody(tr_find(stage->client, plain, "/user/plain")));
        tr_kit_check(stage->kit);
    }
}

TEST(whatever_post_stop_answers_the_actor_is_gone, "G-06", "LC-15", "L-06")
{
    stage_play(play_answers_of_post_stop);
}

static void play_answers_of_messages(struct stage *stage)
{
    static const char *const expected[ANSWERS] = {
        [ANSWER_SAME] = "start plain0 plain0 stop",
        [ANSWER_STOP] = "start plain1 stop",
        [ANSWER_BECOME] = "start plain2 fancy0 fancystop",
        [ANSWER_FAIL] = "start plain3 stop",
        [ANSWER_CRASH] = "start plain4 stop",
    };
    at_start = at_stop = ANSWER_SAME;
    for (uint64_t i = 0; i < ANSWERS; i++) {
        plain_ref plain;
        ck_assert_int_eq(tr_try_spawn_at(stage->client, &plain, stage_far(stage), plain, NULL),
                         TR_OK);
        tr_tell(stage->client, plain, note, .n = i);
        tr_tell(stage->client, plain, note, .n = 0);
        tr_stop(stage->client, plain);
        tr_kit_settle(stage->kit);
        ck_assert_str_eq(diary_read(), expected[i]);
        ck_assert_uint_eq(stage_live(stage), 0);
        tr_kit_check(stage->kit);
    }
}

TEST(the_message_and_signal_after_a_become_go_to_the_new_behavior, "LC-16", "G-06")
{
    stage_play(play_answers_of_messages);
}

/* ---- A PostStop that fails is logged, and the end continues. ---- */

static unsigned error_lines;
static char error_path[256];
static char error_text[256];

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    if (level != TR_LEVEL_ERROR)
        return;
    error_lines++;
    snprintf(error_path, sizeof error_path, "%s", path ? path : "");
    snprintf(error_text, sizeof error_text, "%s", text);
}

TEST(a_failing_post_stop_is_logged_and_the_end_completes, "LC-15")
{
    const tr_system_options options = {.size = sizeof options, .workers = 1, .on_log = on_log};
    tr_system *system;
    tr_client *client;
    plain_ref plain;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = ANSWER_FAIL; i <= ANSWER_CRASH; i++) {
        error_lines = 0;
        at_start = ANSWER_SAME;
        at_stop = (enum answer)i;
        ck_assert_int_eq(tr_try_spawn(client, &plain, plain, "plain"), TR_OK);
        ck_assert_int_eq(tr_stop(client, plain), TR_OK);
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
        ck_assert_uint_eq(error_lines, 1);
        ck_assert_str_eq(error_path, "/user/plain");
        ck_assert_ptr_nonnull(strstr(error_text, "tr_post_stop"));
        ck_assert_ptr_nonnull(strstr(error_text, "TR_BAD_DATA"));
        ck_assert_ptr_nonnull(strstr(error_text, "on purpose"));
        ck_assert_int_eq(tr_tell(client, plain, note), TR_STOPPED);
    }
    tr_client_free(client);
    tr_system_free(system);
}

/* ---- Unhandled. ---- */

TR_ACTOR(picky, note, other);
static tr_next picky_note(const struct note *note)
{
    diary("%" PRIu64, note->n);
    return TR_SAME;
}

static tr_next picky_other(void)
{
    return TR_DECLINE;
}
TR_BEHAVIOR(picky, void, TR_ON(note, picky_note), TR_ON(other, picky_other));

static void play_unhandled(struct stage *stage)
{
    picky_ref picky;
    tr_dead_letter_record letter;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &picky, stage_far(stage), picky, NULL), TR_OK);
    tr_tell(stage->client, picky, note, .n = 1);
    ck_assert_int_eq(tr_tell(stage->client, picky, other, .n = 2), TR_OK);
    ck_assert_int_eq(tr_tell(stage->client, tr_any(picky), order, .what = 3), TR_OK);
    tr_tell(stage->client, picky, note, .n = 4);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "1 4");
    ck_assert_uint_eq(stage_dead_letters(stage), 2);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(picky), "other", TR_UNHANDLED), 1);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(picky), "order", TR_UNHANDLED), 1);
    tr_system_dead_letters(tr_kit_system(stage->kit), &letter, 1, NULL);
    ck_assert_str_eq(letter.behavior, "picky");
    ck_assert(tr_is_same(letter.from, tr_client_ref(stage->client)));
    ck_assert_uint_eq(stage_live(stage), 1);
}

TEST(an_unhandled_message_is_a_dead_letter_and_the_actor_goes_on, "LC-17")
{
    stage_play(play_unhandled);
}

/* ---- To oneself. ---- */

TR_ACTOR(echo, note);
static tr_next echo_note(tr_self *self, const struct note *note)
{
    diary("(%" PRIu64, note->n);
    if (note->n < 10) {
        for (uint64_t i = 1; i <= 3; i++)
            ck_assert_int_eq(tr_tell(self, tr_me(self), note, .n = 10 * note->n + i), TR_OK);
    }
    diary("%" PRIu64 ")", note->n);
    return TR_SAME;
}
TR_BEHAVIOR(echo, void, TR_ON(note, echo_note));

static void play_to_oneself(struct stage *stage)
{
    echo_ref echo;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &echo, stage_far(stage), echo, NULL), TR_OK);
    tr_tell(stage->client, echo, note, .n = 1);
    tr_tell(stage->client, echo, note, .n = 2);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "(1 1) (2 2) (11 11) (12 12) (13 13) (21 21) (22 22) (23 23)");
}

TEST(what_an_actor_sends_itself_comes_after_this_turn_in_order, "SG-15")
{
    stage_play(play_to_oneself);
}

SUITE("lifecycle", pre_start_comes_before_a_thousand_queued_messages,
      pre_start_comes_first_on_threads_that_start_later, pre_start_comes_first_while_threads_run,
      messages_to_a_starting_actor_wait_for_pre_start, pre_start_may_stop_become_or_fail,
      whatever_post_stop_answers_the_actor_is_gone,
      the_message_and_signal_after_a_become_go_to_the_new_behavior,
      a_failing_post_stop_is_logged_and_the_end_completes,
      an_unhandled_message_is_a_dead_letter_and_the_actor_goes_on,
      what_an_actor_sends_itself_comes_after_this_turn_in_order)
