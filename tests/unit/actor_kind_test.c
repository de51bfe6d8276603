/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of mail kinds: every kind has a row that says where its mail goes, and what is said of it agrees.
 */
#include "support/test.h"

#include "actor/mail/kind.h"

#define NAME(kind, text, box, properties) #kind,

static const char *const names[] = {MAIL_KINDS(NAME)};

static bool has_function(uint32_t kind)
{
    return tr__mail_takers[kind] != NULL;
}

TEST(every_kind_has_one_row, "")
{
    ck_assert_uint_eq(sizeof names / sizeof *names, MAIL_KIND_COUNT);
    ck_assert_uint_eq(sizeof tr__mail_takers / sizeof *tr__mail_takers, MAIL_KIND_COUNT);
}

TEST(every_kind_has_either_a_mailbox_or_a_function_that_takes_it, "")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        bool is_taken = kind_box(kind) == MAIL_BOX_TAKEN;
        bool is_sent = kind != ENVELOPE_OUTCOME && kind != ENVELOPE_ANSWERED; /* to an actor */
        ck_assert_msg(has_function(kind) == is_taken, "%s", names[kind]);
        ck_assert_msg((kind_box(kind) != MAIL_BOX_NONE) == is_sent, "%s", names[kind]);
    }
}

TEST(what_a_function_takes_in_its_turn_waits_in_a_mailbox, "")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        if (!tr__mail_turns[kind])
            continue;
        ck_assert_msg(kind_box(kind) > MAIL_BOX_TAKEN, "%s", names[kind]);
        ck_assert_msg(!kind_has(kind, MAIL_COUNTS), "%s", names[kind]);
    }
}

TEST(every_kind_has_a_text_of_its_own, "")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        for (uint32_t other = 0; other < kind; other++)
            ck_assert_str_ne(tr__kind_text(kind), tr__kind_text(other));
    }
    ck_assert_str_eq(tr__kind_text(ENVELOPE_NOTICE), "tell");
    ck_assert_str_eq(tr__kind_text(MAIL_KIND_COUNT), "unknown");
}

TEST(what_a_function_takes_is_no_message_and_passes_a_seal, "")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        if (!has_function(kind))
            continue;
        ck_assert_msg(!kind_has(kind, MAIL_COUNTS), "%s", names[kind]);
        ck_assert_msg(!kind_has(kind, MAIL_TAKES_CAPACITY), "%s", names[kind]);
        ck_assert_msg(kind_has(kind, MAIL_PASSES_SEAL), "%s", names[kind]);
    }
}

/* The answer that a turn waits for must reach it whatever holds other mail up, or the turn hangs. */
TEST(an_answer_passes_a_seal_and_a_barrier, "M-01")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        bool is_answer = kind == ENVELOPE_REPLY || kind == ENVELOPE_EXCEPTION;
        ck_assert_msg(kind_has(kind, MAIL_IS_ANSWER) == is_answer, "%s", names[kind]);
        if (!is_answer)
            continue;
        ck_assert(kind_has(kind, MAIL_PASSES_SEAL));
        ck_assert(kind_has(kind, MAIL_PASSES_BARRIER));
        ck_assert(!kind_has(kind, MAIL_TAKES_CAPACITY));
    }
}

TEST(messages_of_other_actors_take_capacity_and_wait_at_a_barrier, "M-01")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        bool is_ordinary = kind == ENVELOPE_NOTICE || kind == ENVELOPE_ASK;
        ck_assert_msg(kind_has(kind, MAIL_TAKES_CAPACITY) == is_ordinary, "%s", names[kind]);
        if (is_ordinary)
            ck_assert(!kind_has(kind, MAIL_PASSES_BARRIER));
    }
}

/* What users send in a durable turn. The runtime's own mail must leave at once. */
TEST(an_outbox_holds_messages_answers_and_poison_pills, "")
{
    for (uint32_t kind = 0; kind < MAIL_KIND_COUNT; kind++) {
        bool is_held = kind == ENVELOPE_NOTICE || kind == ENVELOPE_ASK || kind == ENVELOPE_REPLY ||
                       kind == ENVELOPE_EXCEPTION || kind == ENVELOPE_STOP;
        ck_assert_msg(kind_has(kind, MAIL_IS_HELD) == is_held, "%s", names[kind]);
    }
}

SUITE("actor kind", every_kind_has_one_row, what_a_function_takes_in_its_turn_waits_in_a_mailbox,
      every_kind_has_a_text_of_its_own, every_kind_has_either_a_mailbox_or_a_function_that_takes_it,
      what_a_function_takes_is_no_message_and_passes_a_seal, an_answer_passes_a_seal_and_a_barrier,
      messages_of_other_actors_take_capacity_and_wait_at_a_barrier,
      an_outbox_holds_messages_answers_and_poison_pills)
