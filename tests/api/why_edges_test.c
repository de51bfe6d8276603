/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_actor_why where actors begin, where one cannot wait, without memory, and as text.
 */
#include "support/whys.h"

#include <stdlib.h>

/* ---- Not started. ---- */

TR_ACTOR(parent, chat);
TR_BEHAVIOR_DECLARE(born);

static tr_next set_up_parent(tr_self *self)
{
    tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_born};
    (void)tr_self_spawn(self, &args);
    return TR_SAME;
}

static tr_next set_up_born(tr_self *self)
{
    status = tr_actor_why(self, tr_parent(self), &report);
    return TR_SAME;
}

TR_BEHAVIOR(parent, void, TR_SETUP(set_up_parent), TR_ON(chat, on_chat));
TR_BEHAVIOR(born, void, TR_SETUP(set_up_born));

TEST(one_whose_set_up_runs_has_not_started, "O-03")
{
    parent_ref parent;
    kit_open(1, 1);
    status = TR_FAILED;
    ck_assert_int_eq(tr_try_spawn(test, &parent, parent, "parent"), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_str_eq(kinds(), "NOT_STARTED+stop+mail+start");
    WORDS(TR_WHY_NOT_STARTED, "the set-up is running");
    ck_assert_str_eq(report.state, "Starting");
    kit_close();
}

/* ---- Bad input, and bad luck. ---- */

TR_ACTOR(early, chat);
static tr_next set_up_early(tr_self *self)
{
    status = tr_actor_why(self, subject_, &report);
    return TR_SAME;
}
TR_BEHAVIOR(early, void, TR_SETUP(set_up_early), TR_ON(chat, on_chat));

TEST(where_one_cannot_wait_only_what_is_near_is_told, "O-03")
{
    early_ref early;
    kit_open(2, 3);
    begin();
    memset(&report, 0xee, sizeof report);
    ck_assert_int_eq(tr_try_spawn_at(test, &early, 0, early, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(status, TR_NOT_IN_A_TURN);
    ck_assert_uint_eq(report.count, (size_t)0xeeeeeeeeeeeeeeee);
    ck_assert_int_eq(tr_try_spawn_at(test, &early, 1, early, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_str_eq(kinds(), "IDLE");
    kit_close();
}

TEST(arguments_are_looked_at, "O-03")
{
    kit_open(1, 1);
    ck_assert_int_eq(tr_client_actor_why(test, TR_NOBODY, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_actor_why(NULL, TR_NOBODY, &report), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_actor_why(NULL, TR_NOBODY, &report), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_why_print(NULL, NULL, 0), 0);
    ck_assert_str_eq(tr_why_name((tr_why_kind)-1), "?");
    ck_assert_str_eq(tr_why_name((tr_why_kind)1000), "?");
    kit_close();
}

TEST(each_kind_of_reason_has_a_name_of_its_own, "O-03")
{
    size_t prefix = strlen("TR_WHY_");
    for (tr_why_kind kind = TR_WHY_IDLE; kind <= TR_WHY_LINGERS; kind++) {
        const char *name = tr_why_name(kind);
        ck_assert_msg(strncmp(name, "TR_WHY_", prefix) == 0 && name[prefix], "%u: %s", kind, name);
        for (tr_why_kind other = TR_WHY_IDLE; other < kind; other++)
            ck_assert_str_ne(name, tr_why_name(other));
    }
    ck_assert_str_eq(tr_why_name(TR_WHY_NO_ANSWER), "TR_WHY_NO_ANSWER");
    ck_assert_str_eq(tr_why_name((tr_why_kind)(TR_WHY_LINGERS + 1)), "?");
}

static tr_next look_and_end(tr_self *self)
{
    status = tr_actor_why(self, subject_, &report);
    say("%s", tr_status_name(status));
    return TR_SAME;
}

/* It is killed at every moment of its question. */
TEST(an_answer_that_nobody_waits_for_is_no_dead_letter, "O-03")
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        kit_open(2, seed);
        begin();
        TELL_RUN(test, looker_, look_and_end);
        for (uint64_t i = 0; i < seed % 4; i++)
            tr_kit_step(kit);
        (void)tr_kill(test, looker_);
        tr_kit_settle(kit);
        (void)said();
        ck_assert_uint_eq(dead_letters(TR_TIMEOUT), 0);
        kit_close();
    }
}

TEST(without_memory_it_says_so_and_loses_nothing, "O-03")
{
    bool is_over = false;
    for (uint64_t nth = 1; !is_over; nth++) {
        kit_open(2, 5);
        begin();
        TELL(ponder_alone);
        tr_kit_fail_allocation(kit, nth, true);
        tr_status by_client = tr_actor_why(test, subject_, &report);
        ck_assert(by_client == TR_OK || by_client == TR_NO_MEMORY);
        status = TR_OK;
        tr_tell(test, looker_, look_at, .whom = tr_any(subject_));
        tr_kit_settle(kit);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        is_over = by_client == TR_OK && status == TR_OK && report.count;
        tr_kit_fail_allocation(kit, 0, false);
        finish();
        kit_close();
        ck_assert_uint_lt(nth, 100);
    }
}

/* ---- As text. ---- */

TEST(a_report_reads_like_this, "O-03")
{
    char text[1024];
    char expected[1024];
    kit_open(2, 1);
    begin();
    TELL(ponder_alone);
    TELL(chat);
    TELL(chat);
    (void)tr_stop(test, subject_);
    tr_kit_advance(kit, 2500 * MS);
    WHY(subject_, "BARRIER+stop+mail MAIL_FIRST+stop");
    int length = snprintf(
        expected,
        sizeof expected,
        "/user/subject: Running, stop requested; 2 of 1048576 messages queued, the oldest is chat\n"
        "  stop, mail: on_ponder waits for an answer to question from /user/oracle; barrier: no "
        "other message "
        "starts (2.5 s, whys.h:%d)\n"
        "  stop: messages queued before the poison pill: 2\n",
        PONDER_LINE);
    ck_assert_uint_eq(tr_why_print(&report, text, sizeof text), (size_t)length);
    ck_assert_str_eq(text, expected);
    /* Cut at every length. */
    for (size_t size = 0; size <= (size_t)length + 1; size++) {
        char *exact = malloc(size ? size : 1);
        ck_assert_uint_eq(tr_why_print(&report, exact, size), (size_t)length);
        if (size)
            ck_assert_uint_eq(strlen(exact), size - 1);
        free(exact);
    }
    finish();
    kit_close();
}

SUITE("why, its edges", one_whose_set_up_runs_has_not_started,
      where_one_cannot_wait_only_what_is_near_is_told, arguments_are_looked_at,
      each_kind_of_reason_has_a_name_of_its_own, an_answer_that_nobody_waits_for_is_no_dead_letter,
      without_memory_it_says_so_and_loses_nothing, a_report_reads_like_this)
