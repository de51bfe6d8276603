/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the thread of the control socket learns by looking at all actors: in steps, so that no client waits for it; and what waits
 * for each handler.
 */
#include "support/purses.h"

/* What walks over all actors stops after some, so that other clients have their turn. The last step but one is left for
 * the walk, the others are empty lines. */
static void walk(const char *request, const char *answer)
{
    for (int i = 0; i < VISITOR_STEPS_MAX - 2; i++)
        tr__visitor_input(&visitor, "\n", 1);
    tr__visitor_input(&visitor, request, strlen(request));
    ck_assert_msg(tr__visitor_work(&visitor), "%s", request);
    ck_assert_msg(visitor.job == JOB_STEPS && !visitor.output.length, "%s", request);
    tr__visitor_work(&visitor);
    tr_kit_advance(kit, TR_SECOND);
    tr__visitor_work(&visitor);
    ck_assert_int_eq(visitor.job, JOB_NONE);
    const char *text = sent();
    ck_assert_msg(strstr(text, answer), "%s: %s", request, text);
}

static void play_walks(void)
{
    enum { PURSES = 9000 }; /* more than SCAN_STEP_SLOTS */
    begin();
    (void)sent();
    purses_start(PURSES);
    tr_suspend(test, purse_);
    tell_many(7);
    walk("{\"id\":1,\"do\":\"top\"}\n", "\"deepest\":[{\"path\":\"/user/purse\",");
    walk("{\"id\":1,\"do\":\"ls\",\"sorted\":true,\"queued\":7}\n", "\"ok\":{\"count\":1,");
    walk("{\"id\":1,\"do\":\"doctor\"}\n", "/user/purse (Suspended) has 7 of ");
    walk("{\"id\":1,\"do\":\"tree\"}\n", "\"groups\":[{");
    walk("{\"id\":1,\"do\":\"behaviors\"}\n", "\"live\":9001,\"queued\":7,");
    walk("{\"id\":1,\"do\":\"handlers\"}\n", "\"queued\":7,\"queued_counted\":7,");
    walk("{\"id\":1,\"do\":\"metrics\"}\n", "troupe_behavior_actors{behavior=\\\"purse\\\"} 9001");
    walk("{\"id\":1,\"do\":\"metrics\",\"text\":\"openmetrics\"}\n", "# EOF");
    ck_assert_int_eq(tr__observer_look(&observer), 0); /* its own look, too */
    ck_assert(tr__observer_look(&observer) != 0);
    /* A client that leaves in the middle leaves nothing. */
    for (int i = 0; i < VISITOR_STEPS_MAX - 2; i++)
        tr__visitor_input(&visitor, "\n", 1);
    tr__visitor_input(&visitor, "{\"do\":\"behaviors\"}\n", 19);
    tr__visitor_work(&visitor);
    tr__visitor_close(&visitor);
}

TEST(walks_over_all_actors_are_done_in_steps, "O-07", "O-09")
{
    kit_open_as(3, 1, false);
    play_walks();
    kit_close();
}

static const char *row_of_handler(const char *handler)
{
    static char row[2000];
    char begin_of[80];
    (void)snprintf(
        begin_of, sizeof begin_of, "{\"behavior\":\"purse\",\"handler\":\"%s\"", handler);
    const char *answer = ask("{\"id\":1,\"do\":\"handlers\"}");
    const char *at = strstr(answer, begin_of);
    ck_assert_msg(at, "%s: %s", handler, answer);
    (void)snprintf(row, sizeof row, "%.*s", (int)strcspn(at, "}"), at);
    return row;
}

/* What waits is counted by handler, also of one that has never run, with the age of its oldest message. */
static void play_queued(void)
{
    begin();
    (void)sent();
    tr_suspend(test, purse_);
    tr_kit_settle(kit);
    tell_many(30);
    tr_kit_advance(kit, 10 * TR_SECOND);
    look_for(
        1); /* the thread of the socket looks each second, so the age is known when somebody asks */
    tr_kit_advance(kit, 4 * TR_SECOND);
    for (int i = 0; i < 10; i++)
        tr_tell(test, purse_, deposit, .cents = 1);
    tr_kit_settle(kit);
    const char *row = row_of_handler("on_note");
    ck_assert_msg(strstr(row, "\"queued_about\":30,\"at_least_ms\":4000,"), "%s", row);
    row = row_of_handler("on_deposit");
    ck_assert_msg(strstr(row, "\"queued_about\":10,\"at_least_ms\":0,"), "%s", row);
    tr_kit_advance(kit, TR_SECOND);
    row = row_of_handler("on_deposit");
    ck_assert_msg(strstr(row, "\"queued_about\":10,\"at_least_ms\":1000,"), "%s", row);
    /* Nine mailboxes of which each has a note: four of them are asked, and stand for all. */
    tr_resume(test, purse_);
    tr_kit_settle(kit);
    for (int i = 0; i < 9; i++) {
        purse_ref more;
        ck_assert_int_eq(tr_try_spawn(test, &more, purse, NULL), TR_OK);
        tr_kit_settle(kit);
        ck_assert_int_eq(tr_suspend(test, more), TR_OK);
        tr_kit_settle(kit);
        tr_tell(test, more, note, .text = "x");
        tr_tell(test, more, deposit, .cents = 1);
        tr_tell(test, more, deposit, .cents = 1);
    }
    tr_kit_settle(kit);
    row = row_of_handler("on_note");
    ck_assert_msg(strstr(row, "\"queued_about\":9,"), "%s", row);
    row = row_of_handler("on_deposit");
    ck_assert_msg(strstr(row, "\"queued_about\":18,"), "%s", row);
    const char *answer = ask("{\"id\":1,\"do\":\"handlers\"}");
    ck_assert_ptr_nonnull(strstr(answer, "\"queued\":27,\"queued_counted\":12,"));
    tr__visitor_close(&visitor);
}

TEST(what_waits_is_counted_by_handler, "O-25")
{
    kits_each(play_queued);
}

SUITE("observe walks", walks_over_all_actors_are_done_in_steps, what_waits_is_counted_by_handler)
