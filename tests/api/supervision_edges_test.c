/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Supervision, sentence by sentence: what siblings are told, which signals may fail, and what becomes
 * of failures while the system stops.
 */
#include "support/crew.h"

/* ---- Siblings hear of the cause. ---- */

static tr_next hears_down(tr_self *self, const struct tr_pre_restart *message)
{
    say("%s down by %s", tr_name(self), message->cause.text);
    ck_assert_int_eq(message->cause.status, TR_BAD_DATA);
    ck_assert(tr_is_same(message->cause.actor, kid[1]));
    return TR_SAME;
}

static tr_next hears_up(tr_self *self, const struct tr_post_restart *message)
{
    say("%s up by %s", tr_name(self), message->cause.text);
    ck_assert_int_eq(message->cause.status, TR_BAD_DATA);
    ck_assert(tr_is_same(message->cause.actor, kid[1]));
    return TR_SAME;
}

PARENT(all_boss, TR_SUPERVISE(TR_ALL_FOR_ONE));
TR_BEHAVIOR(hearing, void, TR_ON(run, on_run), TR_ON(tr_pre_restart, hears_down),
            TR_ON(tr_post_restart, hears_up));

static void play_cause(void)
{
    crew_open(&tr_behavior_all_boss, &tr_behavior_hearing, 3);
    DO(kid[1], fall);
    SAID(
        "c down by fell; b down by fell; a down by fell; a up by fell; b up by fell; c up by fell");
    TOLD("R");
}

TEST(siblings_are_restarted_with_the_cause_of_the_one_that_failed, "S-07", "G-02")
{
    kits_each(play_cause);
}

/* ---- Signals that fail. ---- */

static int up_fails;
static int end_fails;

static tr_next failing_up(tr_self *self)
{
    say("%s up", tr_name(self));
    return up_fails-- > 0 ? fall(self) : TR_SAME;
}

static tr_next failing_terminated(tr_self *self)
{
    say("%s hears", tr_name(self));
    return end_fails-- > 0 ? fall(self) : TR_SAME;
}

TR_BEHAVIOR(frail, void, TR_ON(run, on_run), TR_ON(tr_pre_start, crew_start),
            TR_ON(tr_post_stop, crew_stop), TR_ON(tr_pre_restart, crew_down),
            TR_ON(tr_post_restart, failing_up), TR_ON(tr_terminated, failing_terminated));
PARENT(plain_boss);

static void play_post_restart(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_frail, 1);
    up_fails = 1;
    DO(kid[0], fall);
    SAID("a down; a start; a up; a down; a start; a up");
    TOLD("RR");
    up_fails = 10;
    DO(kid[0], fall); /* the third one, and then one too many */
    SAID("a down; a start; a up; a stop");
    TOLD("RS");
}

TEST(a_failure_in_post_restart_is_one_like_any_other, "G-07", "S-03", "L-05")
{
    kits_each(play_post_restart);
}

static tr_next watch_the_first(tr_self *self)
{
    ck_assert_int_eq(tr_watch(self, kid[0]), TR_OK);
    return TR_SAME;
}

static void play_terminated(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_frail, 2);
    end_fails = 1;
    DO(kid[1], watch_the_first);
    DO(kid[0], leave);
    SAID("a stop; b hears; b down; b start; b up"); /* and it is not told again */
    TOLD("R");
}

TEST(a_failure_in_terminated_is_one_like_any_other, "G-07", "G-04")
{
    kits_each(play_terminated);
}

/* ---- While the system stops. ---- */

KID(kid_permanent, TR_OPTIONS(.restart = TR_PERMANENT));

static void play_stopping(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_permanent, 3);
    TELL_RUN(test, kid[0], fall);
    TELL_RUN(test, kid[1], leave);
    tell_notes(kid[2], 1, 1);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    tr_kit_settle(kit);
    /* Each has had its mail, its end, and nothing after that. */
    const char *text = said();
    static const char *const words[] = {"a stop", "b stop", "c 1", "c stop", "boss stop"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(text, words[i]), "home %d: \"%s\": %s", home, text, words[i]);
    ck_assert_ptr_null(strstr(text, "up"));
    ck_assert_ptr_null(strstr(text, "down"));
    ck_assert_ptr_null(strstr(text, "start"));
    told_text[0] = '\0';
}

TEST(while_the_system_stops_nobody_is_restarted_or_comes_back, "S-08", "X-02")
{
    kits_each(play_stopping);
}

SUITE("supervision edges", siblings_are_restarted_with_the_cause_of_the_one_that_failed,
      a_failure_in_post_restart_is_one_like_any_other,
      a_failure_in_terminated_is_one_like_any_other,
      while_the_system_stops_nobody_is_restarted_or_comes_back)
