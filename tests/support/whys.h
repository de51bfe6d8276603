/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of tr_actor_why: an actor that can be held up in many ways, and WHY, which asks as a client
 * and from a handler on its own or on another worker, and compares what they hear:
 *
 *     WHY(subject_, "BARRIER+stop+mail MAIL_FIRST+stop");
 */
#ifndef TROUPE_TESTS_SUPPORT_WHYS_H
#define TROUPE_TESTS_SUPPORT_WHYS_H

#include "support/kits.h"

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

enum { PONDER_LINE = __LINE__ + 5 };
static tr_next on_ponder(tr_self *self)
{
    const struct answer *reply;
    question_ask asked = tr_ask_within(self, 24 * TR_HOUR, oracle_, question);
    if (tr_try_await(self, asked, &reply) == TR_OK)
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

KITS_UNUSED static const char *kinds(void)
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
                 reason->holds & TR_HOLDS_CAPACITY ? "+room" : "",
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

KITS_UNUSED static void begin(void)
{
    /* With three workers the looker is on another one than the subject. */
    ck_assert_int_eq(tr_try_spawn_at(test, &looker_, 0, looker, "looker"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &oracle_, 0, oracle, "oracle"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &subject_, home, subject, "subject"), TR_OK);
    tr_kit_settle(kit);
}

KITS_UNUSED static void tell_settle(const tr_type *type, const void *message)
{
    ck_assert_int_eq(tr_client_tell(test, tr_any(subject_), type, message), TR_OK);
    tr_kit_settle(kit);
}

#define TELL(m)                                                                                    \
    do {                                                                                           \
        static const struct m message_;                                                            \
        tell_settle(&tr_type_##m, &message_);                                                      \
    } while (0)

KITS_UNUSED static const tr_reason *reason_of(tr_why_kind kind)
{
    for (size_t i = 0; i < report.count; i++) {
        if (report.reasons[i].kind == kind)
            return &report.reasons[i];
    }
    ck_abort_msg("no %s in: %s", tr_why_name(kind), kinds());
}

#define WORDS(kind, expected) ck_assert_str_eq(reason_of(kind)->text, expected)

/* A kit that ends waits for turns; this one does not. */
KITS_UNUSED static void finish(void)
{
    (void)tr_kill(test, subject_);
    tr_kit_settle(kit);
}

#endif
