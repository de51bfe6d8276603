/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor does not stop, run, or take messages: each reason, provoked, and asked for by a client
 * and by handlers on its own and on another worker. What needs real threads is in
 * tests/stress/why_threads_test.c.
 */
#include "support/kits.h"

#include <stdlib.h>

TR_MESSAGE(answer, (u64, n));
TR_REQUEST(question, answer);
TR_REQUEST(look_at, answer, (ref, whom));
TR_MESSAGE(ponder);
TR_MESSAGE(ponder_alone);
TR_MESSAGE(doze);
TR_MESSAGE(set_aside);
TR_MESSAGE(ask_later);
TR_MESSAGE(chat);
TR_MESSAGE(write_to, (ref, whom));
TR_MESSAGE(bear);
TR_MESSAGE(hold_on, (ref, whom));
TR_ACTOR(subject, run, ponder, ponder_alone, doze, set_aside, ask_later, chat, write_to, bear);
TR_ACTOR(looker, look_at, run, hold_on);
TR_ACTOR(oracle, question);

static oracle_ref oracle_;
static looker_ref looker_;
static subject_ref subject_;
static tr_why_report report;
static tr_status status;

/* Never answers. */
static tr_next on_question(tr_self *self)
{
    tr_later later = tr_reply_later(self);
    (void)later;
    return TR_SAME;
}
TR_BEHAVIOR(oracle, void, TR_ON(question, on_question));

static tr_next on_look_at(tr_self *self, const struct look_at *message)
{
    status = tr_actor_why(self, message->whom, &report);
    return tr_reply(self, answer, .n = 1);
}

static tr_next on_hold_on(tr_self *self, const struct hold_on *message)
{
    (void)tr_suspend(self, message->whom);
    return TR_SAME;
}

TR_BEHAVIOR(looker, void, TR_ON(look_at, on_look_at), TR_ON(run, on_run),
            TR_ON(hold_on, on_hold_on));

enum { PONDER_LINE = __LINE__ + 4 };
static tr_next on_ponder(tr_self *self)
{
    const struct answer *reply;
    if (tr_try_await(self, tr_ask_within(self, 24 * TR_HOUR, oracle_, question), &reply) == TR_OK)
        say("answered");
    return TR_SAME;
}

static tr_next on_doze(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

static tr_next on_later(void)
{
    return TR_SAME;
}
TR_THEN(later, question, void, on_later);

static tr_next on_ask_later(tr_self *self)
{
    tr_ask_then_within(self, 24 * TR_HOUR, later, NULL, oracle_, question);
    return TR_SAME;
}

static tr_next on_chat(void)
{
    return TR_SAME;
}

static tr_next on_write_to(tr_self *self, const struct write_to *message)
{
    static const struct chat chat;
    for (int i = 0; i < 5; i++)
        (void)tr_self_tell(self, message->whom, &tr_type_chat, &chat);
    return TR_SAME;
}

static tr_next on_bear(tr_self *self)
{
    (void)tr_spawn(self, subject, "child");
    return TR_SAME;
}

TR_BEHAVIOR(subject, void, TR_ON(run, on_run), TR_ON(ponder, on_ponder),
            TR_ON(ponder_alone, on_ponder, .is_barrier = true), TR_ON(doze, on_doze),
            TR_ON(set_aside, tr_stash), TR_ON(ask_later, on_ask_later), TR_ON(chat, on_chat),
            TR_ON(write_to, on_write_to), TR_ON(bear, on_bear));

/* ---- Asking, by everybody. ---- */

static const char *kinds(void)
{
    static char text[512];
    text[0] = '\0';
    for (size_t i = 0; i < report.count; i++) {
        size_t length = strlen(text);
        const tr_reason *reason = &report.reasons[i];
        snprintf(text + length,
                 sizeof text - length,
                 "%s%s%s%s%s%s%s",
                 i ? " " : "",
                 tr_why_name(reason->kind) + strlen("TR_WHY_"),
                 reason->holds & TR_HOLDS_STOP ? "+stop" : "",
                 reason->holds & TR_HOLDS_MAIL ? "+mail" : "",
                 reason->holds & TR_HOLDS_ROOM ? "+room" : "",
                 reason->holds & TR_HOLDS_RESTART ? "+restart" : "",
                 reason->holds & TR_HOLDS_START ? "+start" : "");
    }
    return text;
}

/* A client and a handler, near or far, hear the same. */
#define WHY(actor, expected)                                                                       \
    do {                                                                                           \
        memset(&report, 0xee, sizeof report);                                                      \
        ck_assert_int_eq(tr_actor_why(test, actor, &report), TR_OK);                               \
        ck_assert_str_eq(kinds(), expected);                                                       \
        memset(&report, 0xee, sizeof report);                                                      \
        status = TR_FAILED;                                                                        \
        const struct answer *reply_;                                                               \
        look_at_ask asked_ = tr_ask(test, looker_, look_at, .whom = tr_any(actor));                \
        ck_assert_int_eq(tr_try_await(test, asked_, &reply_), TR_OK);                              \
        ck_assert_int_eq(status, TR_OK);                                                           \
        ck_assert_str_eq(kinds(), expected);                                                       \
    } while (0)

static void begin(void)
{
    /* With three workers the looker is on another one than the subject. */
    ck_assert_int_eq(tr_try_spawn_at(test, &looker_, 0, looker, "looker"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &oracle_, 0, oracle, "oracle"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &subject_, home, subject, "subject"), TR_OK);
    tr_kit_settle(kit);
}

static void tell_settle(const tr_type *type, const void *message)
{
    ck_assert_int_eq(tr_client_tell(test, tr_any(subject_), type, message), TR_OK);
    tr_kit_settle(kit);
}

#define TELL(m)                                                                                    \
    do {                                                                                           \
        static const struct m message_;                                                            \
        tell_settle(&tr_type_##m, &message_);                                                      \
    } while (0)

static const tr_reason *reason_of(tr_why_kind kind)
{
    for (size_t i = 0; i < report.count; i++) {
        if (report.reasons[i].kind == kind)
            return &report.reasons[i];
    }
    ck_abort_msg("no %s in: %s", tr_why_name(kind), kinds());
}

#define WORDS(kind, expected) ck_assert_str_eq(reason_of(kind)->words, expected)

/* The same pid of tests: all that a case opened stops at once. */
static void finish(void)
{
    (void)tr_kill(test, subject_);
    tr_kit_settle(kit);
}

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
    WORDS(TR_WHY_SUSPENDED, "it was suspended by /user/looker");
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
    snprintf(place, sizeof place, "why_test.c:%d", PONDER_LINE);
    ck_assert_str_eq(reason->place, place);
    ck_assert_int_eq(reason->age_ns, 5 * MS);
    ck_assert_uint_eq(reason->who.bits, tr_any(oracle_).bits);
    ck_assert_str_eq(
        reason->words,
        "on_ponder waits for an answer to question from /user/oracle, and nothing else "
        "begins meanwhile");
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
    WORDS(TR_WHY_READY, "it is ready; 0 others are before it on worker 0");
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
    ck_assert(strncmp(reason_of(TR_WHY_RUNS)->place, "why_test.c:", 11) == 0);
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
    WORDS(TR_WHY_CHILDREN, "1 of its children has not stopped: child");
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
    WORDS(TR_WHY_MAIL_FIRST, "1 messages that came before its poison pill wait");
    finish();
}

static void play_doze(void)
{
    begin();
    TELL(doze);
    (void)tr_stop(test, subject_);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    WHY(subject_, "TURN_WAITS+stop");
    WORDS(TR_WHY_TURN_WAITS, "on_doze sleeps for 3000000 ms more");
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
    WORDS(TR_WHY_ANSWERS_DUE, "1 answers of tr_ask_then are due");
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
    /* There is no room for a message, but this takes none. */
    WHY(narrow, "BARRIER+mail+room FULL+room");
    ck_assert_uint_eq(report.waiting, 3);
    ck_assert_uint_eq(report.waiting_max, 3);
    ck_assert_str_eq(report.oldest, "chat");
    ck_assert_uint_eq(reason_of(TR_WHY_FULL)->count, 3);
    ck_assert_uint_eq(reason_of(TR_WHY_FULL)->who.bits, tr_client_ref(test).bits);
    WORDS(TR_WHY_FULL,
          "its mailbox is full, with 3 of 3 messages and 1 of 65536 KiB; further ones are refused");
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
    WORDS(TR_WHY_SENDERS_WAIT, "1 senders wait for room; the first is /user/subject");
    ck_assert_uint_eq(reason_of(TR_WHY_SENDERS_WAIT)->who.bits, tr_any(subject_).bits);
    WHY(subject_, "BARRIER");
    ck_assert_str_eq(reason_of(TR_WHY_BARRIER)->words,
                     "on_write_to waits for room in the mailbox of /user/patient, and nothing else "
                     "begins meanwhile");
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
    ck_assert_str_eq(report.reasons[6].words, "14 more of its turns wait");
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

/* ---- Not begun. ---- */

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

TEST(one_whose_set_up_runs_has_not_begun, "O-03")
{
    parent_ref parent;
    kit_open(1, 1);
    status = TR_FAILED;
    ck_assert_int_eq(tr_try_spawn(test, &parent, parent, "parent"), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(status, TR_OK);
    ck_assert_str_eq(kinds(), "NOT_BEGUN+stop+mail+start");
    WORDS(TR_WHY_NOT_BEGUN, "its set-up runs");
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

/* ---- In words. ---- */

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
        "/user/subject: Running, told to stop; 2 of 1048576 messages wait, the oldest is chat\n"
        "  stop, mail: on_ponder waits for an answer to question from /user/oracle, and nothing "
        "else begins meanwhile (2.5 s, why_test.c:%d)\n"
        "  stop: 2 messages that came before its poison pill wait\n",
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

SUITE("why", of_one_that_waits_for_messages_nothing_is_told, one_that_is_gone_is_gone,
      who_has_suspended_it_and_since_when, a_barrier_and_where_it_waits_and_for_whom,
      one_that_is_ready_has_others_before_it, one_that_asks_of_itself_runs,
      children_that_have_not_stopped_and_why_they_have_not, mail_and_a_barrier_before_a_pill,
      a_turn_that_sleeps_before_a_pill, answers_that_are_due_before_a_pill,
      a_mailbox_that_is_full_and_who_keeps_it_so, senders_that_wait_for_room_and_for_whom,
      messages_that_are_stashed, many_turns_that_wait_are_counted,
      one_whose_set_up_runs_has_not_begun, where_one_cannot_wait_only_what_is_near_is_told,
      arguments_are_looked_at, an_answer_that_nobody_waits_for_is_no_dead_letter,
      without_memory_it_says_so_and_loses_nothing, a_report_reads_like_this)
