/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of the control socket without its socket: a kit with an actor, the purse, and a client whose requests and answers are
 * lines.
 */
#ifndef TROUPE_TESTS_SUPPORT_PURSES_H
#define TROUPE_TESTS_SUPPORT_PURSES_H

#include "support/kits.h"

#include "observe/visitor.h"

TR_MESSAGE(deposit, (u64, cents), (str, pin));
TR_SECRET(deposit, pin);
TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_MESSAGE(note, (str, text));
TR_ACTOR(purse, deposit, note, get_balance);

static tr_next on_deposit(struct balance *state, const struct deposit *message)
{
    state->cents += message->cents;
    return TR_SAME;
}

static tr_next on_get_balance(tr_self *self, struct balance *state)
{
    return tr_reply(self, balance, .cents = state->cents);
}

static tr_next on_note(struct balance *state)
{
    (void)state;
    return TR_SAME;
}

TR_BEHAVIOR(purse, struct balance, TR_ON(deposit, on_deposit), TR_ON(note, on_note),
            TR_ON(get_balance, on_get_balance), TR_OPTIONS(.shows = &tr_type_balance));

static purse_ref purse_;
static struct observer observer;
static struct visitor visitor;

KITS_UNUSED static void begin(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &purse_, home, purse, "purse"), TR_OK);
    tr_kit_settle(kit);
    observer = (struct observer){.system = tr_kit_system(kit), .client = test, .app = "play"};
    tr__visitor_open(&visitor, &observer, 1000);
}

/* Returns what waits to be sent, as a text, and takes it. */
KITS_UNUSED static const char *sent(void)
{
    static char text[VISITOR_PAGE_MAX];
    size_t length = visitor.output.length;
    ck_assert_uint_lt(length, sizeof text);
    if (length)
        memcpy(text, visitor.output.data, length);
    text[length] = '\0';
    visitor.output.length = 0;
    return text;
}

KITS_UNUSED static const char *ask(const char *line)
{
    tr__visitor_input(&visitor, line, strlen(line));
    tr__visitor_input(&visitor, "\n", 1);
    tr__visitor_work(&visitor);
    tr_kit_settle(kit);
    tr__visitor_work(&visitor);
    return sent();
}

KITS_UNUSED static void tell_many(int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(tr_tell(test, purse_, note, .text = "x"), TR_OK);
    tr_kit_settle(kit);
}

KITS_UNUSED static void look_for(int seconds)
{
    for (int i = 0; i < seconds; i++) {
        tr_kit_advance(kit, TR_SECOND);
        (void)tr__observer_look(&observer);
    }
}

KITS_UNUSED static void purses_start(int count)
{
    for (int i = 0; i < count; i++) {
        purse_ref more;
        ck_assert_int_eq(tr_try_spawn(test, &more, purse, NULL), TR_OK);
    }
    tr_kit_settle(kit);
}

#endif
