/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a durable actor sends waits until its commit is stored: whom it reaches when the world has changed
 * meanwhile, and how groups get theirs.
 */
#include <troupe/durable.h>
#include <troupe/group.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

enum { SEEDS = 60 };

TR_MESSAGE(note, (u64, number));
TR_REQUEST(noted_request, note);
TR_ACTOR(listener, note, noted_request);
TR_MESSAGE(make);
TR_ACTOR(maker, make);
TR_MESSAGE(pass, (ref, to));
TR_MESSAGE(pass_last, (ref, to));
TR_ACTOR(teller, pass, pass_last);
TR_MESSAGE(teller_state, (u64, count));

static bool has_passed;
static uint64_t heard[3]; /* by listeners, in the order of their birth; the last is of all others */
static unsigned births;
static listener_ref newest;

struct listening {
    unsigned number;
};

static tr_next listen(tr_self *self, struct listening *state)
{
    (void)self;
    state->number = births < 2 ? births : 2;
    births++;
    return TR_SAME;
}

static tr_next on_note(struct listening *state, const struct note *message)
{
    (void)message;
    heard[state->number]++;
    return TR_SAME;
}

static tr_next on_noted(tr_self *self, struct listening *state)
{
    return tr_reply(self, note, .number = state->number);
}

TR_BEHAVIOR(listener, struct listening, TR_SETUP(listen), TR_ON(note, on_note),
            TR_ON(noted_request, on_noted));

static tr_next on_make(tr_self *self)
{
    newest = tr_spawn(self, listener, NULL);
    return TR_SAME;
}

TR_BEHAVIOR(maker, void, TR_ON(make, on_make));

static tr_next on_pass(tr_self *self, struct teller_state *state, const struct pass *message)
{
    state->count++;
    tr_tell(self, listener_ref_of(message->to), note, .number = state->count);
    has_passed = true;
    return TR_SAME;
}

static tr_next on_pass_last(tr_self *self, struct teller_state *state,
                            const struct pass_last *message)
{
    state->count++;
    tr_tell(self, listener_ref_of(message->to), note, .number = state->count);
    ck_assert_int_eq(tr_stop(self, message->to), TR_OK);
    return TR_SAME;
}

TR_BEHAVIOR(teller, struct teller_state, TR_ON(pass, on_pass), TR_ON(pass_last, on_pass_last));
TR_DURABLE(teller, teller_state, .version = 1);

static tr_kit *kit_new(uint64_t seed, int workers)
{
    has_passed = false;
    births = 0;
    heard[0] = heard[1] = heard[2] = 0;
    return tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                        .seed = seed,
                                        .workers = workers,
                                        .durable = TR_DURABLES(teller)});
}

/* The heir of its slot does not get what was for the one before. */
static void pass_to_one_that_ends(uint64_t seed, unsigned *in_vain)
{
    tr_kit *kit = kit_new(seed, 1);
    tr_client *test = tr_kit_client(kit);
    maker_ref maker;
    teller_ref teller;
    ck_assert_int_eq(tr_try_spawn(test, &maker, maker, "maker"), TR_OK);
    tr_tell(test, maker, make);
    ck_assert_int_eq(tr_try_durable(test, &teller, teller, "a"), TR_OK);
    tr_kit_settle(kit);
    tr_tell(test, teller, pass, .to = tr_any(newest));
    while (!has_passed)
        ck_assert(tr_kit_step(kit));
    tr_kill(test, newest);
    tr_tell(test, maker, make);
    tr_tell(test, maker, make);
    tr_kit_settle(kit);
    ck_assert_uint_eq(births, 3);
    ck_assert_uint_eq(heard[1] + heard[2], 0);
    *in_vain += !heard[0];
    tr_kit_free(kit);
}

TEST(what_was_held_is_for_nobody_else, "Z-14")
{
    unsigned in_vain = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        pass_to_one_that_ends(seed, &in_vain);
    ck_assert_uint_gt(in_vain, 0);
}

static listener_ref group;

TR_MESSAGE(found);
TR_ACTOR(founder, found);

static tr_next on_found(tr_self *self)
{
    group = tr_spawn_group(self, listener, "listeners", 2);
    return TR_SAME;
}

TR_BEHAVIOR(founder, void, TR_ON(found, on_found));

TEST(a_member_of_a_group_gets_what_was_held, "Z-14")
{
    tr_kit *kit = kit_new(7, 1);
    tr_client *test = tr_kit_client(kit);
    founder_ref founder;
    teller_ref teller;
    ck_assert_int_eq(tr_try_spawn(test, &founder, founder, "founder"), TR_OK);
    tr_tell(test, founder, found);
    ck_assert_int_eq(tr_try_durable(test, &teller, teller, "a"), TR_OK);
    tr_kit_settle(kit);
    for (int i = 0; i < 4; i++)
        tr_tell(test, teller, pass, .to = tr_any(group));
    tr_kit_settle(kit);
    ck_assert_uint_eq(heard[0], 2);
    ck_assert_uint_eq(heard[1], 2);
    tr_kit_free(kit);
}

TEST(a_poison_pill_does_not_overtake_what_was_held, "Z-14")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tr_kit *kit = kit_new(seed, 1 + (int)seed % 2);
        tr_client *test = tr_kit_client(kit);
        listener_ref listener;
        teller_ref teller;
        ck_assert_int_eq(tr_try_spawn(test, &listener, listener, "listener"), TR_OK);
        ck_assert_int_eq(tr_try_durable(test, &teller, teller, "a"), TR_OK);
        tr_kit_settle(kit);
        tr_tell(test, teller, pass_last, .to = tr_any(listener));
        tr_kit_settle(kit);
        ck_assert_uint_eq(heard[0], 1);
        ck_assert_int_eq(tr_tell(test, listener, note, .number = 0), TR_STOPPED);
        tr_kit_free(kit);
    }
}

SUITE("durable outbox", what_was_held_is_for_nobody_else, a_member_of_a_group_gets_what_was_held,
      a_poison_pill_does_not_overtake_what_was_held)
