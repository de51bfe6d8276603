/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Notes between an actor and its authority that get lost: the host sends them again.
 */
#include "durable/actor.h"
#include "support/things.h"

static tr_next lose_intent(tr_self *self, struct thing_state *state, int64_t n)
{
    struct note note;
    (void)state;
    (void)n;
    ck_assert_int_eq(
        tr__note_send(
            &durable_of(self)->end, (struct note){.kind = NOTE_SLEEP}, tr_now(self), &note),
        TR_OK);
    return tr_reply(self, acted, .value = 0);
}

static tr_next lose_command(tr_self *self, struct thing_state *state, int64_t n)
{
    struct authority_answer answer;
    (void)state;
    (void)n;
    tr__authority_stop(&durable_of(self)->authority, SLEEP_REASON_SLEEP, 0, tr_now(self), &answer);
    ck_assert(answer.has_command);
    return tr_reply(self, acted, .value = 0);
}

static void check_asleep_after(thing_call *call)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        things_begin(seed);
        thing_ref ref = things_of("a");
        things_do("a", call, 0);
        tr_kit_advance(kit, NOTE_RESEND_FIRST_NS / 2);
        ck_assert(things_is_awake(ref));
        tr_kit_advance(kit, NOTE_RESEND_FIRST_NS);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        things_end();
    }
}

TEST(an_intent_that_got_lost_is_sent_again, "Z-01")
{
    check_asleep_after(lose_intent);
}

TEST(a_command_that_got_lost_is_sent_again, "Z-01")
{
    check_asleep_after(lose_command);
}

SUITE("durable notes", an_intent_that_got_lost_is_sent_again, a_command_that_got_lost_is_sent_again)
