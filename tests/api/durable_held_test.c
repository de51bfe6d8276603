/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a durable actor has sent waits for the disk; its receiver may have ended before it leaves.
 */
#include <troupe/durable.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(grind);
TR_ACTOR(mill, grind);
TR_MESSAGE(order_flour, (ref_of(mill), mill));
TR_ACTOR(shop, order_flour);
TR_MESSAGE(shop_state, (u64, orders));
TR_MESSAGE(build);
TR_ACTOR(builder, build);

static int ground;
static mill_ref newest;

static tr_next on_grind(void)
{
    ground++;
    return TR_SAME;
}

TR_BEHAVIOR(mill, void, TR_ON(grind, on_grind));

static tr_next on_order_flour(tr_self *self, struct shop_state *state,
                              const struct order_flour *message)
{
    state->orders++;
    tr_tell(self, message->mill, grind);
    (void)!tr_kill(self, message->mill); /* which is not held */
    return TR_SAME;
}

TR_BEHAVIOR(shop, struct shop_state, TR_ON(order_flour, on_order_flour));
TR_DURABLE(shop, shop_state);

static tr_next on_build(tr_self *self)
{
    newest = tr_spawn(self, mill, NULL);
    return TR_SAME;
}

TR_BEHAVIOR(builder, void, TR_ON(build, on_build));

/* On one worker, where the cell of an actor that has ended soon has another tenant. */
static void play(uint64_t seed)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .seed = seed, .workers = 1, .durable = TR_DURABLES(shop)});
    tr_client *test = tr_kit_client(kit);
    builder_ref builder;
    shop_ref shop;
    ck_assert_int_eq(tr_try_durable(test, &shop, shop, "a"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &builder, builder, NULL), TR_OK);
    tr_tell(test, builder, build);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, shop, order_flour, .mill = newest), TR_OK);
    for (int i = 0; i < 6; i++) {
        for (uint64_t steps = seed % 5; steps > 0; steps--)
            tr_kit_step(kit);
        tr_tell(test, builder, build);
    }
    tr_kit_settle(kit);
    ck_assert_msg(ground == 0, "seed %d: another actor got it", (int)seed);
    tr_kit_free(kit);
}

TEST(nobody_else_gets_what_was_held_for_one_who_has_ended, "K-01")
{
    for (uint64_t seed = 1; seed <= 100; seed++)
        play(seed);
}

SUITE("durable held", nobody_else_gets_what_was_held_for_one_who_has_ended)
