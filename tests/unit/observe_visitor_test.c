/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of the control socket without its socket: what it sends and what it gets, also in small pieces, as garbage,
 * and without memory.
 */
#include "support/purses.h"

#include <stdlib.h>
#include <troupe/observe.h>

#include "base/rng.h"
#include "actor/verbs/show_mail.h"
#include "observe/visitor.h"

static void play_talk(void)
{
    begin();
    ck_assert_ptr_nonnull(strstr(sent(), "{\"troupe\":1,\"app\":\"play\","));
    const char *answer = ask("{\"id\":5,\"do\":\"ls\",\"behavior\":\"purse\"}");
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":5,\"part\":{\"path\":\"/user/purse\""));
    ck_assert_ptr_nonnull(
        strstr(answer, "{\"id\":5,\"ok\":{\"count\":1,\"more\":false,\"next\":0}}\n"));
    answer = ask("{\"id\":6,\"do\":\"tell\",\"path\":\"/user/purse\",\"message\":\"deposit\","
                 "\"json\":\"{\\\"cents\\\":7}\",\"may\":true}");
    ck_assert_str_eq(answer, "{\"id\":6,\"ok\":{\"path\":\"/user/purse\"}}\n");
    answer = ask("{\"id\":7,\"do\":\"ask\",\"path\":\"/user/purse\",\"message\":\"get_balance\","
                 "\"may\":true}");
    ck_assert_str_eq(answer, "{\"id\":7,\"ok\":{\"reply\":\"balance\",\"value\":{\"cents\":7}}}\n");
    answer = ask("{\"id\":8,\"do\":\"show\",\"path\":\"/user/purse\"}");
    ck_assert_ptr_nonnull(strstr(answer, "\"value\":{\"cents\":7}}}\n"));
    answer = ask("{\"id\":9,\"do\":\"stop\",\"path\":\"/user/purse\"}");
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":9,\"no\":\"TR_NOT_PERMITTED\""));
    tr__visitor_close(&visitor);
}

TEST(requests_are_answered, "O-09")
{
    kits_each(play_talk);
}

static void play_pieces(void)
{
    static const char lines[] = "{\"id\":1,\"do\":\"info\"}\n\n{\"id\":2,\"do\":\"why\",\"path\":"
                                "\"/user/purse\"}\n{\"id\":3,\"do\":\"metrics\"}\n";
    begin();
    (void)sent();
    for (size_t i = 0; i < sizeof lines - 1; i++) {
        tr__visitor_input(&visitor, &lines[i], 1);
        tr__visitor_work(&visitor);
    }
    const char *answer = sent();
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":1,\"ok\""));
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":2,\"ok\""));
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":3,\"ok\""));
    tr__visitor_close(&visitor);
    /* An ask that is not answered when the client leaves. */
    tr__visitor_open(&visitor, &observer, 1000);
    ck_assert_int_eq(tr_suspend(test, purse_), TR_OK);
    tr_kit_settle(kit);
    (void)sent();
    ck_assert_str_eq(ask("{\"do\":\"ask\",\"path\":\"/user/purse\",\"message\":\"get_balance\","
                         "\"may\":true}"),
                     "");
    tr__visitor_close(&visitor);
}

TEST(requests_come_in_pieces, "O-09")
{
    kits_each(play_pieces);
}

static void play_full(void)
{
    begin();
    (void)sent();
    static char giant[VISITOR_REQUEST_MAX];
    memset(giant, 'x', sizeof giant);
    ck_assert_uint_eq(tr__visitor_space(&visitor), sizeof giant);
    tr__visitor_input(&visitor, giant, sizeof giant);
    tr__visitor_work(&visitor);
    ck_assert_ptr_nonnull(strstr(sent(), "{\"id\":0,\"no\":\"TR_TOO_LARGE\""));
    ck_assert(visitor.is_over);
    ck_assert_uint_eq(tr__visitor_space(&visitor), 0);
    tr__visitor_close(&visitor);
}

TEST(a_giant_request_ends_the_connection, "O-09", "U-02")
{
    kits_each(play_full);
}

/* Requests with some bytes changed, in pieces of any size. */
static void play_noise(void)
{
    static const char *const words[] = {
        "{\"id\":1,\"do\":\"ls\",\"path\":\"/user\",\"limit\":2}\n",
        "{\"id\":2,\"do\":\"show\",\"path\":\"/user/purse\"}\n",
        "{\"id\":3,\"do\":\"tell\",\"path\":\"/user/"
        "purse\",\"message\":\"deposit\",\"json\":\"{}\","
        "\"may\":true}\n",
        "{\"id\":4,\"do\":\"why\",\"path\":\"/user/$1.0\"}\n",
        "{\"id\":5,\"do\":\"dead-letters\",\"after\":18446744073709551615}\n",
        "{\"id\":6,\"do\":\"top\"}\n",
        "{\"id\":9,\"do\":\"mail\",\"path\":\"/user/purse\",\"limit\":3}\n",
        "{\"id\":7,\"do\":\"log\",\"level\":\"info\",\"path\":\"/user/x\",\"may\":true}\n",
        "{\"id\":8,\"do\":\"ask\",\"path\":\"/user/"
        "purse\",\"message\":\"get_balance\",\"may\":true,"
        "\"timeout_ms\":1}\n"};
    struct rng rng;
    rng_init(&rng, kits_seed);
    begin();
    for (int round = 0; round < 100; round++) {
        char line[300];
        const char *word = words[rng_below(&rng, sizeof words / sizeof *words)];
        size_t size = strlen(word);
        memcpy(line, word, size);
        for (uint64_t i = rng_below(&rng, 4); i; i--)
            line[rng_below(&rng, size)] = (char)rng_below(&rng, 256);
        size_t half = rng_below(&rng, size);
        tr__visitor_input(&visitor, line, half);
        tr__visitor_work(&visitor);
        tr__visitor_input(&visitor, line + half, size - half);
        tr__visitor_work(&visitor);
        tr_kit_settle(kit);
        tr__visitor_work(&visitor);
        ck_assert(!visitor.is_over);
        (void)sent();
    }
    tr__visitor_close(&visitor);
}

TEST(noise_does_no_harm, "O-09", "U-02")
{
    kits_each(play_noise);
}

/* A job that never ends by itself. */
static uint64_t steps_made;

static bool step_endless(struct visitor *endless)
{
    (void)endless;
    steps_made++;
    return false;
}

static void endless_tell(struct visitor *endless)
{
    tr__json_unsigned(&endless->output, "steps", 7);
}

static void endless_begin(enum visitor_job job)
{
    static const char line[] = "{\"id\":4,\"do\":\"session\",\"progress\":true}";
    tr_wire_error error;
    ck_assert_int_eq(
        tr__control_request_read((tr_bytes){line, sizeof line - 1}, &visitor.request, &error),
        TR_OK);
    tr__visitor_steps(&visitor, job, step_endless, NULL, NULL);
    visitor.work_tell = endless_tell;
    visitor.begun_ns = visitor.told_ns = tr__observer_now(&observer);
}

static void play_slices(void)
{
    begin();
    (void)sent();
    steps_made = 0;
    endless_begin(JOB_STEPS);
    for (uint64_t i = 1; i <= 3; i++) { /* each call returns, so that others have their turn */
        ck_assert(tr__visitor_work(&visitor));
        ck_assert_uint_ge(steps_made, i);
        ck_assert_uint_le(steps_made, i * VISITOR_STEPS_MAX);
    }
    tr__visitor_close(&visitor);
}

TEST(long_work_is_done_in_slices, "O-09", "O-28")
{
    kits_each(play_slices);
}

static void progress_expect(bool is_page)
{
    begin();
    (void)sent();
    if (is_page) /* which gets no line above a limit: that of this answer does not count for the next */
        (void)ask("{\"id\":1,\"do\":\"session\",\"text\":\"inspector\"}");
    (void)ask("{\"id\":2,\"do\":\"info\"}\n{\"id\":3,\"do\":\"info\"}");
    endless_begin(JOB_WAIT);
    ck_assert(!tr__visitor_work(&visitor));
    ck_assert_str_eq(sent(), "");
    tr_kit_advance(kit, 49 * TR_MILLISECOND);
    ck_assert(!tr__visitor_work(&visitor));
    ck_assert_str_eq(sent(), "");
    for (int i = 0; i <= 2; i++) {
        char line[80];
        tr_kit_advance(kit, i ? TR_SECOND : TR_MILLISECOND);
        ck_assert(!tr__visitor_work(&visitor));
        (void)snprintf(line, sizeof line, "{\"id\":4,\"progress\":{\"for_ms\":%d,", 50 + i * 1000);
        const char *text = sent();
        ck_assert_msg(strncmp(text, line, strlen(line)) == 0, "%s", text);
        const char *end = strstr(text, "\"steps\":7}}\n");
        ck_assert_ptr_nonnull(end);
        ck_assert_str_eq(end, "\"steps\":7}}\n"); /* nothing follows */
        ck_assert(!tr__visitor_work(&visitor));   /* not twice in a second */
        ck_assert_str_eq(sent(), "");
    }
    visitor.request->progress = false; /* a client that does not ask for it does not get it */
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(!tr__visitor_work(&visitor));
    ck_assert_str_eq(sent(), "");
    tr__visitor_close(&visitor);
}

static void play_progress(void)
{
    progress_expect(false);
}

static void play_progress_of_page(void)
{
    progress_expect(true);
}

TEST(long_work_says_how_far_it_is, "O-28")
{
    kits_each(play_progress);
    kits_each(play_progress_of_page);
}

/* Returns for how long handlers have been timed, in milliseconds. */
static long long timed_since(void)
{
    const char *since = strstr(ask("{\"id\":1,\"do\":\"handlers\"}"), "\"since_ms\":");
    ck_assert_ptr_nonnull(since);
    return strtoll(since + strlen("\"since_ms\":"), NULL, 10);
}

static void play_looks(void)
{
    begin();
    (void)sent();
    ck_assert_int_lt(timed_since(), 1000);
    for (int i = 1; i <= 3; i++) { /* a scraper that comes each two minutes */
        tr_kit_advance(kit, 120 * TR_SECOND);
        ck_assert_int_ge(timed_since(), i * 120000);
    }
    tr_kit_advance(kit, 601 * TR_SECOND);
    (void)timed_since(); /* what was timed before, for the last time */
    ck_assert_int_lt(timed_since(), 1000);
    tr__visitor_close(&visitor);
}

TEST(figures_of_handlers_grow_for_those_who_look_seldom, "O-25")
{
    kits_each(play_looks);
}

/* A mailbox that grows by a few messages each second is found by what was seen before somebody asks. */
static void play_growth(void)
{
    begin();
    (void)sent();
    tr_suspend(test, purse_);
    tell_many(20);
    look_for(2);
    tell_many(30);
    look_for(9);
    tell_many(30);
    look_for(3);
    tr__visitor_input(&visitor, "{\"id\":1,\"do\":\"doctor\"}\n", 23);
    tr__visitor_work(&visitor);
    tr_kit_advance(kit, TR_SECOND);
    tr__visitor_work(&visitor);
    const char *text = sent();
    ck_assert_msg(strstr(text, "has 80 of ") && strstr(text, "; 20 14 s before"), "%s", text);
    tr__visitor_close(&visitor);
}

TEST(a_mailbox_that_grows_slowly_is_found, "O-27")
{
    kits_each(play_growth);
}

static const char *diagnosis(void)
{
    tr__visitor_input(&visitor, "{\"id\":1,\"do\":\"doctor\"}\n", 23);
    tr__visitor_work(&visitor);
    tr_kit_advance(kit, TR_SECOND);
    tr__visitor_work(&visitor);
    return sent();
}

/* A behavior whose actors do not end is named, after a burst of actors that stays as it is has been forgotten. */
static void play_population(void)
{
    begin();
    (void)sent();
    look_for(1);
    purses_start(300);
    for (int i = 0; i < 50; i++) {
        tell_many(1);
        look_for(1);
    }
    const char *text = diagnosis();
    ck_assert_msg(strstr(text, "no behavior has many more actors"), "%s", text);
    for (int i = 0; i < 20; i++) {
        purses_start(2);
        tell_many(1);
        look_for(1);
    }
    text = diagnosis();
    ck_assert_msg(strstr(text, "purse (") && strstr(text, " actors; 301 "), "%s", text);
    ck_assert_ptr_null(strstr(text, "no behavior has many more actors"));
    tr__visitor_close(&visitor);
}

TEST(a_behavior_whose_actors_do_not_end_is_named, "O-27")
{
    kits_each(play_population);
}

static void play_page(void)
{
    static const char refused[] = "\"no\":\"TR_NOT_PERMITTED\"";
    begin();
    (void)sent();
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":1,\"do\":\"session\",\"text\":\"in\\u001bspector\","
                                     "\"reads_only\":true}"),
                                 "\"reads_only\":true,\"pages\":1"));
    ck_assert_str_eq(visitor.via, "in?spector");
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":2,\"do\":\"session\"}"), "\"reads_only\":true"));
    ck_assert_ptr_nonnull(
        strstr(ask("{\"id\":3,\"do\":\"stop\",\"path\":\"/user/purse\",\"may\":true}"), refused));
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":4,\"do\":\"info\",\"secrets\":true}"), refused));
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":5,\"do\":\"info\"}"), "\"ok\""));
    ck_assert_ptr_nonnull(
        strstr(ask("{\"id\":6,\"do\":\"tree\",\"path\":\"/user\"}"), "{\"behavior\":\"purse\""));
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":7,\"do\":\"channels\"}"), "\"total\":0"));
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":8,\"do\":\"log tail\"}"), "\"total\":0"));
    ck_assert_uint_eq(observer.page_count, 1);
    tr__visitor_close(&visitor);
    ck_assert_uint_eq(observer.page_count, 0);
}

TEST(a_page_may_less_than_other_clients, "I-03 I-04")
{
    kits_each(play_page);
}

/* Messages that wait are listed in their order, as JSON, without secrets. */
static void play_mail(void)
{
    static const char look[] = "{\"id\":3,\"do\":\"mail\",\"path\":\"/user/purse\"}";
    begin();
    (void)sent();
    ck_assert_str_eq(ask(look), "{\"id\":3,\"ok\":{\"count\":0,\"more\":false}}\n");
    ck_assert_int_eq(tr_suspend(test, purse_), TR_OK);
    tr_kit_settle(kit);
    for (uint64_t i = 1; i <= 40; i++)
        tr_tell(test, purse_, deposit, .cents = i, .pin = "4711");
    const char *answer = ask(look);
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":3,\"part\":{\"number\":1,\"mailbox\":\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"message\":\"deposit\",\"kind\":\"tell\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"value\":{\"cents\":1,\"pin\":\"...\"}}}\n"));
    ck_assert_ptr_nonnull(strstr(answer, "{\"number\":32,"));
    ck_assert_ptr_nonnull(strstr(answer, "\"value\":{\"cents\":32,"));
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":3,\"ok\":{\"count\":32,\"more\":true}}\n"));
    ck_assert_ptr_null(strstr(answer, "4711"));
    answer = ask("{\"id\":4,\"do\":\"mail\",\"path\":\"/user/purse\",\"limit\":2}");
    ck_assert_ptr_nonnull(strstr(answer, "{\"id\":4,\"ok\":{\"count\":2,\"more\":true}}\n"));
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":5,\"do\":\"mail\",\"path\":\"/user/nobody\"}"),
                                 "{\"id\":5,\"no\":\"TR_NOT_FOUND\",\"why\":\"there is no"));
    ck_assert_ptr_nonnull(strstr(ask("{\"id\":6,\"do\":\"mail\"}"), "{\"id\":6,\"no\":\"TR_"));
    /* A message that is long is named, and its content is not shown. */
    static char text[MAIL_TEXT_MAX + 1];
    memset(text, 'x', sizeof text - 1);
    ck_assert_int_eq(tr_resume(test, purse_), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_suspend(test, purse_), TR_OK);
    tr_kit_settle(kit);
    tr_tell(test, purse_, note, .text = text);
    answer = ask(look);
    ck_assert_ptr_nonnull(strstr(answer, "\"message\":\"note\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"value\":null}}\n"));
    tr__visitor_close(&visitor);
}

TEST(messages_that_wait_are_shown_without_secrets, "I-09")
{
    kits_each(play_mail);
}

SUITE("observe visitor", requests_are_answered, requests_come_in_pieces,
      a_giant_request_ends_the_connection, noise_does_no_harm, long_work_is_done_in_slices,
      long_work_says_how_far_it_is, figures_of_handlers_grow_for_those_who_look_seldom,
      a_mailbox_that_grows_slowly_is_found, a_behavior_whose_actors_do_not_end_is_named,
      a_page_may_less_than_other_clients, messages_that_wait_are_shown_without_secrets)
