/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor does not stop, run, or take messages: each reason, provoked. What needs real threads is
 * in tests/stress/why_threads_test.c.
 */
#include "support/whys.h"

/* ---- Nothing, and nobody. ---- */

static void play_idle(void)
{
    begin();
    WHY(subject_, "IDLE");
    ck_assert_str_eq(report.path, "/user/subject");
    ck_assert_str_eq(report.state, "Running");
    ck_assert(!report.is_told_to_stop);
    ck_assert_uint_eq(report.waiting, 0);
    ck_assert_uint_eq(report.waiting_max, TR_MAILBOX_MAX);
    ck_assert_ptr_null(report.oldest);
    ck_assert_uint_eq(report.actor.bits, tr_any(subject_).bits);
    ck_assert_int_eq(report.asked_ns, tr_kit_now(kit));
}

static void play_gone(void)
{
    begin();
    tr_ref was = tr_any(subject_);
    finish();
    WHY(was, "GONE");
    ck_assert_str_eq(report.state, "Stopped");
    WHY(TR_NOBODY, "GONE");
    WHY(tr_ref_from_bits(was.bits + (UINT64_C(1) << 32)), "GONE");
    WHY(tr_ref_from_bits(UINT64_C(0x12345678deadbeef)), "GONE");
}

TEST(of_one_that_waits_for_messages_nothing_is_told, "O-03")
{
    kits_each(play_idle);
}

TEST(one_that_is_gone_is_gone, "O-03")
{
    kits_each(play_gone);
}

/* ---- Not scheduled. ---- */

static void play_suspended(void)
{
    begin();
    ck_assert_int_eq(tr_suspend(test, subject_), TR_OK);
    tr_kit_settle(kit);
    WHY(subject_, "SUSPENDED");
    ck_assert_uint_eq(reason_of(TR_WHY_SUSPENDED)->who.bits, tr_client_ref(test).bits);
    ck_assert_str_eq(report.state, "Suspended");
    TELL(chat);
    tr_kit_advance(kit, 3 * TR_SECOND);
    WHY(subject_, "SUSPENDED+mail");
    ck_assert_int_eq(reason_of(TR_WHY_SUSPENDED)->age_ns, 3 * TR_SECOND);
    ck_assert_uint_eq(report.waiting, 1);
    ck_assert_str_eq(report.oldest, "chat");
    ck_assert_int_eq(tr_resume(test, subject_), TR_OK);
    tr_kit_settle(kit);
    WHY(subject_, "IDLE");
    tr_tell(test, looker_, hold_on, .whom = tr_any(subject_));
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    WHY(subject_, "SUSPENDED");
    WORDS(TR_WHY_SUSPENDED, "suspended by /user/looker");
    ck_assert_uint_eq(reason_of(TR_WHY_SUSPENDED)->who.bits, tr_any(looker_).bits);
    ck_assert_int_eq(reason_of(TR_WHY_SUSPENDED)->age_ns, TR_SECOND);
}

TEST(who_has_suspended_it_and_since_when, "O-03")
{
    kits_each(play_suspended);
}

static void play_barrier(void)
{
    char place[96];
    begin();
    TELL(ponder_alone);
    TELL(chat);
    TELL(chat);
    tr_kit_advance(kit, 5 * MS);
    WHY(subject_, "BARRIER+mail");
    const tr_reason *reason = reason_of(TR_WHY_BARRIER);
    snprintf(place, sizeof place, "whys.h:%d", PONDER_LINE);
    ck_assert_str_eq(reason->where, place);
    ck_assert_int_eq(reason->age_ns, 5 * MS);
    ck_assert_uint_eq(reason->who.bits, tr_any(oracle_).bits);
    ck_assert_str_eq(reason->text,
                     "on_ponder waits for an answer to question from /user/oracle; barrier: no "
                     "other message starts");
    ck_assert_uint_eq(report.waiting, 2);
    finish();
}

TEST(a_barrier_and_where_it_waits_and_for_whom, "O-03")
{
    kits_each(play_barrier);
}

static tr_next tell_and_look(tr_self *self)
{
    (void)tr_tell(self, subject_, chat);
    status = tr_actor_why(self, subject_, &report);
    return TR_SAME;
}

static tr_next look_at_itself(tr_self *self)
{
    status = tr_actor_why(self, tr_me(self), &report);
    return TR_SAME;
}

TEST(one_that_is_ready_has_others_before_it, "O-03")
{
    kit_open(1, 1);
    begin();
    TELL_RUN(test, looker_, tell_and_look);
    tr_kit_settle(kit);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_str_eq(kinds(), "READY+mail");
    WORDS(TR_WHY_READY, "ready to run; 0 others are queued first on worker 0");
    kit_close();
}

static void play_itself(void)
{
    begin();
    TELL_RUN(test, subject_, look_at_itself);
    tr_kit_settle(kit);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_str_eq(kinds(), "RUNS");
    WORDS(TR_WHY_RUNS, "on_run runs");
    ck_assert(strncmp(reason_of(TR_WHY_RUNS)->where, "whys.h:", 7) == 0);
}

TEST(one_that_asks_of_itself_runs, "O-03")
{
    kits_each(play_itself);
}

/* ---- Not stopped. ---- */

static void play_children(void)
{
    begin();
    TELL(bear);
    subject_ref child = tr_find(test, subject, "/user/subject/child");
    ck_assert(!tr_is_nobody(child));
    tr_tell(test, child, ponder);
    tr_kit_settle(kit);
    (void)tr_stop(test, subject_);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    WHY(subject_, "CHILDREN+stop");
    ck_assert_str_eq(report.state, "Stopping");
    ck_assert_str_eq(report.path, "/user/subject");
    ck_assert(report.is_told_to_stop);
    WORDS(TR_WHY_CHILDREN, "1 child has not stopped: child");
    ck_assert_uint_eq(reason_of(TR_WHY_CHILDREN)->who.bits, tr_any(child).bits);
    ck_assert_uint_eq(reason_of(TR_WHY_CHILDREN)->count, 1);
    /* And that one waits for its turn. */
    WHY(child, "TURN_WAITS+stop");
    ck_assert_str_eq(report.path, "/user/subject/child");
    ck_assert_str_eq(report.state, "Running");
    WORDS(TR_WHY_TURN_WAITS, "on_ponder waits for an answer to question from /user/oracle");
    ck_assert_int_eq(reason_of(TR_WHY_TURN_WAITS)->age_ns, TR_SECOND);
    (void)tr_kill(test, child);
    tr_kit_settle(kit);
    WHY(subject_, "GONE");
}

TEST(children_that_have_not_stopped_and_why_they_have_not, "O-03")
{
    kits_each(play_children);
}

static void play_pill(void)
{
    begin();
    TELL(ponder_alone);
    TELL(chat);
    (void)tr_stop(test, subject_);
    tr_kit_settle(kit);
    WHY(subject_, "BARRIER+stop+mail MAIL_FIRST+stop");
    ck_assert(report.is_told_to_stop);
    ck_assert_str_eq(report.state, "Running");
    ck_assert_uint_eq(reason_of(TR_WHY_MAIL_FIRST)->count, 1);
    WORDS(TR_WHY_MAIL_FIRST, "messages queued before the poison pill: 1");
    finish();
}

static void play_doze(void)
{
    begin();
    TELL(doze);
    (void)tr_stop(test, subject_);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    WHY(subject_, "TURN_WAITS+stop");
    WORDS(TR_WHY_TURN_WAITS, "on_doze sleeps for another 3000000 ms");
    ck_assert_int_eq(reason_of(TR_WHY_TURN_WAITS)->age_ns, 10 * TR_MINUTE);
    finish();
}

static void play_then(void)
{
    begin();
    TELL(ask_later);
    WHY(subject_, "ANSWERS_DUE");
    (void)tr_stop(test, subject_);
    tr_kit_settle(kit);
    WHY(subject_, "ANSWERS_DUE+stop");
    WORDS(TR_WHY_ANSWERS_DUE, "outstanding answers to tr_ask_then: 1");
    finish();
}

TEST(mail_and_a_barrier_before_a_pill, "O-03")
{
    kits_each(play_pill);
}

TEST(a_turn_that_sleeps_before_a_pill, "O-03")
{
    kits_each(play_doze);
}

TEST(answers_that_are_due_before_a_pill, "O-03")
{
    kits_each(play_then);
}

/* ---- Full. ---- */

TR_ACTOR(narrow, chat, ponder);
TR_BEHAVIOR(narrow, void, TR_ON(chat, on_chat), TR_ON(ponder, on_ponder, .is_barrier = true),
            TR_OPTIONS(.mailbox_max = 3));
TR_ACTOR(patient, chat);
TR_BEHAVIOR(patient, void, TR_ON(chat, on_chat), TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));

static void play_full(void)
{
    narrow_ref narrow;
    begin();
    ck_assert_int_eq(tr_try_spawn_at(test, &narrow, home, narrow, "narrow"), TR_OK);
    tr_tell(test, narrow, ponder);
    tr_kit_settle(kit);
    tr_tell(test, narrow, chat);
    tr_tell(test, narrow, chat);
    tr_kit_settle(kit);
    WHY(narrow, "BARRIER+mail");
    tr_tell(test, narrow, chat);
    ck_assert_int_eq(tr_tell(test, narrow, chat), TR_MAILBOX_FULL);
    tr_kit_settle(kit);
    /* There is no capacity for a message, but this takes none. */
    WHY(narrow, "BARRIER+mail+room FULL+room");
    ck_assert_uint_eq(report.waiting, 3);
    ck_assert_uint_eq(report.waiting_max, 3);
    ck_assert_str_eq(report.oldest, "chat");
    ck_assert_uint_eq(reason_of(TR_WHY_FULL)->count, 3);
    ck_assert_uint_eq(reason_of(TR_WHY_FULL)->who.bits, tr_client_ref(test).bits);
    WORDS(TR_WHY_FULL, "mailbox full: 3 of 3 messages, 1 of 65536 KiB; new messages are refused");
    (void)tr_kill(test, narrow);
    tr_kit_settle(kit);
}

static void play_park(void)
{
    patient_ref patient;
    begin();
    ck_assert_int_eq(tr_try_spawn_at(test, &patient, home, patient, "patient"), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_suspend(test, patient), TR_OK);
    tr_kit_settle(kit);
    tr_tell(test, subject_, write_to, .whom = tr_any(patient));
    tr_kit_settle(kit);
    WHY(patient, "SUSPENDED+mail+room FULL+room SENDERS_WAIT");
    WORDS(TR_WHY_SENDERS_WAIT, "senders that wait for capacity: 1; the first is /user/subject");
    ck_assert_uint_eq(reason_of(TR_WHY_SENDERS_WAIT)->who.bits, tr_any(subject_).bits);
    WHY(subject_, "BARRIER");
    ck_assert_str_eq(reason_of(TR_WHY_BARRIER)->text,
                     "on_write_to waits for capacity in the mailbox of /user/patient; barrier: no "
                     "other message starts");
    ck_assert_uint_eq(reason_of(TR_WHY_BARRIER)->who.bits, tr_any(patient).bits);
}

TEST(a_mailbox_that_is_full_and_who_keeps_it_so, "O-03")
{
    kits_each(play_full);
}

TEST(senders_that_wait_for_room_and_for_whom, "O-03")
{
    kits_each(play_park);
}

/* ---- What is only said. ---- */

static void play_stash(void)
{
    begin();
    TELL(set_aside);
    TELL(set_aside);
    WHY(subject_, "STASHED");
    ck_assert_uint_eq(reason_of(TR_WHY_STASHED)->count, 2);
}

static void play_many(void)
{
    begin();
    for (int i = 0; i < 20; i++)
        TELL(ponder);
    WHY(subject_, "TURN_WAITS TURN_WAITS TURN_WAITS TURN_WAITS TURN_WAITS TURN_WAITS TURN_WAITS");
    ck_assert_str_eq(report.reasons[6].text, "more turns that wait: 14");
    ck_assert_uint_eq(report.reasons[6].count, 14);
    finish();
}

TEST(messages_that_are_stashed, "O-03")
{
    kits_each(play_stash);
}

TEST(many_turns_that_wait_are_counted, "O-03")
{
    kits_each(play_many);
}

SUITE("why", of_one_that_waits_for_messages_nothing_is_told, one_that_is_gone_is_gone,
      who_has_suspended_it_and_since_when, a_barrier_and_where_it_waits_and_for_whom,
      one_that_is_ready_has_others_before_it, one_that_asks_of_itself_runs,
      children_that_have_not_stopped_and_why_they_have_not, mail_and_a_barrier_before_a_pill,
      a_turn_that_sleeps_before_a_pill, answers_that_are_due_before_a_pill,
      a_mailbox_that_is_full_and_who_keeps_it_so, senders_that_wait_for_room_and_for_whom,
      messages_that_are_stashed, many_turns_that_wait_are_counted)
