/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The end of a barrier in the middle of a cycle: what it held goes behind the answers of that cycle.
 */
#include "support/kits.h"

TR_MESSAGE(value, (u32, n));
TR_MESSAGE(begin);
TR_MESSAGE(alone);
TR_MESSAGE(item, (u32, n));
TR_MESSAGE(answer, (u32, n));
TR_REQUEST(question, value, (u32, n));
TR_ACTOR(asker, begin, alone, item);
TR_ACTOR(oracle, question, answer);

struct oracle {
    tr_later later[3];
};

static oracle_ref oracle;
static asker_ref asker;

/* Answers when it is told to. */
static tr_next on_question(tr_self *self, struct oracle *state, const struct question *message)
{
    state->later[message->n] = tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_answer(tr_self *self, struct oracle *state, const struct answer *message)
{
    for (uint32_t n = message->n; n < 3; n += 2)
        (void)tr_reply_to(self, state->later[n], value, .n = n);
    return TR_SAME;
}

TR_BEHAVIOR(oracle, struct oracle, TR_ON(question, on_question), TR_ON(answer, on_answer));

static tr_next on_value(tr_self *self, void *state, const question_answer *answer)
{
    (void)state;
    ck_assert_int_eq(answer->status, TR_OK);
    say("%u", (unsigned)answer->reply->n);
    if (answer->reply->n == 0)
        tr_tell(self, oracle, answer, .n = 1); /* the barrier may end before the next answer */
    return TR_SAME;
}

TR_THEN(heard, question, void, on_value);

static tr_next on_begin(tr_self *self)
{
    tr_ask_then(self, heard, NULL, oracle, question, .n = 0);
    tr_ask_then(self, heard, NULL, oracle, question, .n = 2);
    return TR_SAME;
}

static tr_next on_alone(tr_self *self)
{
    const struct value *reply;
    question_ask asked = tr_ask(self, oracle, question, .n = 1);
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_OK);
    say("alone");
    return TR_SAME;
}

static tr_next on_item(void)
{
    say("item");
    return TR_SAME;
}

TR_BEHAVIOR(asker, void, TR_ON(begin, on_begin), TR_ON(alone, on_alone, .is_barrier = true),
            TR_ON(item, on_item));

static int between_count; /* plays in which the barrier ended between both answers */

static void play_end(void)
{
    ck_assert_int_eq(tr_try_spawn_at(test, &oracle, home, oracle, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &asker, home, asker, NULL), TR_OK);
    tr_tell(test, asker, begin);
    tr_kit_settle(kit);
    tr_suspend(test, asker);
    tr_kit_settle(kit);
    tr_tell(test, asker, alone);
    tr_tell(test, asker, item, .n = 0);
    tr_resume(test, asker);
    tr_kit_settle(kit);
    SAID("");
    tr_tell(test, oracle, answer, .n = 0);
    tr_kit_settle(kit);
    const char *order = said();
    bool is_between = strcmp(order, "0; alone; 2; item") == 0;
    between_count += is_between;
    ck_assert_msg(is_between || strcmp(order, "0; 2; alone; item") == 0, "%s", order);
}

TEST(what_a_barrier_held_comes_behind_answers, "AK-17", "SG-10")
{
    kits_each(play_end);
    ck_assert_int_gt(between_count, 0);
}

SUITE("order after barriers", what_a_barrier_held_comes_behind_answers)
