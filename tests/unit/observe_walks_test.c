/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the thread of the control socket learns by looking at all actors: in steps, so that no client waits for it; and what waits
 * for each handler.
 */
#define balance worker_balance /* purses.h has a message of this name */
#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#undef balance
#include "support/purses.h"

#include "observe/handler_mail.h"

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

/* Returns the actor of purse_ as other threads see it. */
static struct actor_glance glance_of_purse(void)
{
    struct actor_glance glance;
    for (uint32_t slot = 0; slot < 1000; slot++) {
        if (tr__actor_glance(observer.system, slot, &glance) && glance.ref == purse_.bits)
            return glance;
    }
    ck_abort_msg("the purse is not there");
}

/* What no worker has said is left out: it is not 0. The mailboxes that were not asked are counted. */
static void play_not_known(void)
{
    begin();
    (void)sent();
    (void)ask("{\"id\":1,\"do\":\"handlers\"}");
    tell_many(1);
    tr_suspend(test, purse_);
    tr_kit_settle(kit);
    const char *row = row_of_handler("on_note");
    ck_assert_msg(strstr(row, "\"queued_about\":0,"), "%s", row);
    tell_many(3);
    tr_kit_advance(kit, TR_SECOND);
    struct actor_glance glance = glance_of_purse();
    struct worker *worker = observer.system->workers[glance.owner];
    uint64_t since_ns = atom64_load(&worker->loop.since_ns, ATOM_RELAXED);
    tr_time stuck_ns = tr__observer_now(&observer) - 100 * TR_MILLISECOND;
    atom64_store(&worker->loop.since_ns, (uint64_t)stuck_ns, ATOM_RELAXED);
    atomptr_store(&worker->view.cell, (void *)(uintptr_t)glance.cell, ATOM_RELEASE);
    tr__visitor_input(&visitor, "{\"id\":1,\"do\":\"handlers\"}\n", 25);
    tr__visitor_work(&visitor);
    atomptr_store(&worker->view.cell, NULL, ATOM_RELEASE);
    atom64_store(&worker->loop.since_ns, since_ns, ATOM_RELAXED);
    const char *answer = sent();
    ck_assert_msg(strstr(answer, "\"mailboxes_not_asked\":1,"), "%s", answer);
    ck_assert_msg(strstr(answer, "\"handler\":\"on_note\""), "%s", answer);
    ck_assert_msg(!strstr(answer, "queued_about"), "%s", answer);
    row = row_of_handler("on_note");
    ck_assert_msg(strstr(row, "\"queued_about\":3,"), "%s", row);
    /* Nor is a worker asked after one that was slow. */
    static struct handler_mail mail;
    tr__handler_mail_begin(&mail, observer.system);
    mail.is_slow = true;
    while (!tr__handler_mail_step(&mail, &observer))
        continue;
    ck_assert_uint_eq(mail.queued, 3);
    ck_assert_uint_eq(mail.counted, 0);
    ck_assert_uint_eq(mail.not_asked, 1);
    tr__visitor_close(&visitor);
}

static tr_next on_crate(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

/* An actor of a behavior of its own: one note is handled, and `count` wait. */
#define CRATE(n, count)                                                                            \
    TR_ACTOR(crate##n, note);                                                                      \
    TR_BEHAVIOR(crate##n, void, TR_ON(note, on_crate));                                            \
    static void crate##n##_fill(void)                                                              \
    {                                                                                              \
        crate##n##_ref crate;                                                                      \
        ck_assert_int_eq(tr_try_spawn(test, &crate, crate##n, NULL), TR_OK);                       \
        ck_assert_int_eq(tr_tell(test, crate, note, .text = "x"), TR_OK);                          \
        tr_kit_settle(kit);                                                                        \
        tr_suspend(test, crate);                                                                   \
        tr_kit_settle(kit);                                                                        \
        for (int i = 0; i < (count); i++)                                                          \
            ck_assert_int_eq(tr_tell(test, crate, note, .text = "x"), TR_OK);                      \
        tr_kit_settle(kit);                                                                        \
    }
CRATE(0, 1)
CRATE(1, 2)
CRATE(2, 2)
CRATE(3, 2)
CRATE(4, 2)
CRATE(5, 2)
CRATE(6, 2)
CRATE(7, 2)
CRATE(8, 2)

/* The behavior with the fewest messages of nine is not asked. */
TEST(what_waits_for_a_ninth_behavior_is_not_known, "O-25")
{
    static void (*const fills[])(void) = {crate0_fill,
                                          crate1_fill,
                                          crate2_fill,
                                          crate3_fill,
                                          crate4_fill,
                                          crate5_fill,
                                          crate6_fill,
                                          crate7_fill,
                                          crate8_fill};
    kit_open_as(3, 1, false);
    begin();
    (void)sent();
    (void)ask("{\"id\":1,\"do\":\"handlers\"}");
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        fills[i]();
    const char *answer = ask("{\"id\":1,\"do\":\"handlers\"}");
    const char *row = strstr(answer, "\"behavior\":\"crate0\"");
    ck_assert_msg(row, "%s", answer);
    ck_assert_msg(!memmem(row, strcspn(row, "}"), "queued_about", 12), "%s", row);
    row = strstr(answer, "\"behavior\":\"crate8\"");
    ck_assert_msg(row && memmem(row, strcspn(row, "}"), "\"queued_about\":2,", 17), "%s", answer);
    tr__visitor_close(&visitor);
    kit_close();
}

TEST(what_is_not_known_to_wait_is_left_out, "O-25")
{
    kits_each(play_not_known);
}

/* Many types of many mailboxes do not replace the marks of the mailboxes that are looked at each second. */
TEST(looks_at_types_keep_the_ages_of_mailboxes, "O-07", "O-25")
{
    kit_open_as(3, 1, false);
    begin();
    static tr_type types[16]; /* only their addresses matter */
    tr_ref actor = tr_ref_from_bits(purse_.bits);
    ck_assert_int_eq(tr__observer_age(&observer, actor, 7), 0);
    tr_kit_advance(kit, TR_SECOND);
    for (uint64_t i = 0; i < 512; i++)
        (void)tr__observer_age_of(&observer, tr_ref_from_bits(1000 + i / 16), &types[i % 16], 1);
    ck_assert_int_eq(tr__observer_age(&observer, actor, 7), TR_SECOND);
    tr__visitor_close(&visitor);
    kit_close();
}

SUITE("observe walks", walks_over_all_actors_are_done_in_steps, what_waits_is_counted_by_handler,
      what_is_not_known_to_wait_is_left_out, what_waits_for_a_ninth_behavior_is_not_known,
      looks_at_types_keep_the_ages_of_mailboxes)
