/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of signals: each row has a descriptor, a way to its actor and properties that agree.
 */
#include "support/test.h"

#include "actor/cell/signal.h"

#define NAME(name, message, way, properties) #message,
static const char *const messages[] = {SIGNALS(NAME)};

#define WAY(name, message, way, properties) SIGNAL_##way,
static const enum signal_way ways[] = {SIGNALS(WAY)};

TEST(each_signal_has_the_descriptor_of_its_message, "")
{
    for (uint32_t signal = 0; signal < SIGNAL_COUNT; signal++) {
        const tr_type *type = &tr__signal_types[signal];
        ck_assert_str_eq(type->name, messages[signal]);
        ck_assert(tr__signal_is_own(type));
        ck_assert(!tr__signal_is_forged(type));
        for (uint32_t other = 0; other < signal; other++)
            ck_assert_str_ne(messages[signal], messages[other]);
    }
}

TEST(the_called_signals_have_the_lowest_numbers, "")
{
    for (uint32_t signal = 0; signal < SIGNAL_COUNT; signal++) {
        bool is_called = ways[signal] == SIGNAL_CALLED;
        ck_assert_msg(is_called == (signal < SIGNAL_CALLED_COUNT), "%s", messages[signal]);
        ck_assert(tr__signal_is_called(&tr__signal_types[signal]) == is_called);
    }
}

TEST(only_mailed_signals_have_a_descriptor_for_mail, "")
{
    for (uint32_t signal = 0; signal < SIGNAL_COUNT; signal++) {
        const tr_type *type = &tr__signal_types[signal];
        const tr_type *mailed = ways[signal] == SIGNAL_MAILED ? type : NULL;
        ck_assert_msg(tr__signal_mailed(type) == mailed, "%s", messages[signal]);
    }
}

/* A copy of a descriptor is what a program has that declares a message of the same name. */
TEST(a_message_that_looks_like_a_signal_is_forged_unless_timers_send_it, "L-05")
{
    for (uint32_t signal = 0; signal < SIGNAL_COUNT; signal++) {
        tr_type copy = tr__signal_types[signal];
        ck_assert(!tr__signal_is_own(&copy));
        bool is_timed = ways[signal] == SIGNAL_TIMED;
        ck_assert_msg(tr__signal_is_forged(&copy) == !is_timed, "%s", messages[signal]);
    }
}

/*
 * The signals that end an incarnation have a stack reserved. One stack is enough only because their
 * handlers cannot spawn, so that none of them runs inside another.
 */
TEST(what_has_the_reserved_stack_cannot_spawn, "L-05")
{
    for (uint32_t kind = 0; kind < TURN_KIND_COUNT; kind++) {
        bool is_end = kind == TURN_POST_STOP || kind == TURN_PRE_RESTART;
        ck_assert(turn_kind_has(kind, SIGNAL_IS_LAST) == is_end);
        ck_assert(!is_end || turn_kind_has(kind, SIGNAL_CANNOT_SPAWN));
    }
    ck_assert(!turn_kind_has(TURN_MESSAGE, SIGNAL_CANNOT_SPAWN));
    ck_assert(!turn_kind_has(TURN_SETUP, SIGNAL_CANNOT_SPAWN));
    ck_assert(!turn_kind_has(TURN_PRE_START, SIGNAL_CANNOT_SPAWN));
}

SUITE("actor signal", each_signal_has_the_descriptor_of_its_message,
      the_called_signals_have_the_lowest_numbers, only_mailed_signals_have_a_descriptor_for_mail,
      a_message_that_looks_like_a_signal_is_forged_unless_timers_send_it,
      what_has_the_reserved_stack_cannot_spawn)
