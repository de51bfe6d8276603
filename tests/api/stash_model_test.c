/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random stashing and unstashing, some at a time, of messages of several senders, against a model.
 */
#include "support/kits.h"

TR_MESSAGE(item, (u32, from), (u32, n));

enum { STEPS = 150, SENDERS = 3 };

static uint64_t model_random;
static uint32_t next_n[SENDERS]; /* what each sender sends next */
static uint32_t order[4096];     /* accepted and not handled for good, as the actor has seen it */
static uint32_t stash_head, stash_tail, handled_total;

static uint32_t chance(uint32_t below)
{
    model_random = model_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(model_random >> 33) % below;
}

static uint32_t replayed; /* of what was unstashed, not yet seen again */

static tr_next on_model_item(tr_self *self, const struct item *message)
{
    uint32_t value = message->from * 1000 + message->n;
    if (replayed) {
        /* The oldest that was set aside, and nothing before it. */
        ck_assert_uint_eq(value, order[stash_head]);
        stash_head++;
        replayed--;
    } else {
        ck_assert_uint_eq(message->n, next_n[message->from]++);
    }
    if (chance(3)) {
        order[stash_tail++] = value;
        return tr_stash(self);
    }
    handled_total++;
    if (!replayed && chance(2)) {
        replayed = (uint32_t)tr_unstash(self, chance(5));
        ck_assert_uint_eq(tr_stash_count(self), stash_tail - stash_head - replayed);
    }
    return TR_SAME;
}

TR_ACTOR(modelled, run, item);
TR_BEHAVIOR(modelled, void, TR_ON(run, on_run), TR_ON(item, on_model_item));

static void play_model(void)
{
    modelled_ref actor;
    tr_client *clients[SENDERS];
    memset(next_n, 0, sizeof next_n);
    stash_head = stash_tail = handled_total = replayed = 0;
    model_random = kits_seed;
    ck_assert_int_eq(tr_try_spawn_at(test, &actor, home, modelled, NULL), TR_OK);
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &clients[i]), TR_OK);
    uint32_t sent[SENDERS] = {0};
    for (int i = 0; i < STEPS; i++) {
        uint32_t who = chance(SENDERS);
        tr_tell(clients[who], actor, item, .from = who, .n = sent[who]++);
        if (chance(3) == 0)
            tr_kit_settle(kit);
        else if (chance(2))
            (void)tr_kit_step(kit);
        tr_kit_check(kit);
    }
    tr_kit_settle(kit);
    tr_kit_check(kit);
    for (int i = 0; i < SENDERS; i++) {
        ck_assert_uint_eq(next_n[i], sent[i]);
        tr_client_free(clients[i]);
    }
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.handled, handled_total);
    ck_assert_uint_eq(counters.queued, stash_tail - stash_head);
}

TEST(random_stashing_does_what_a_model_says, "B-08", "ST-01", "ST-03", "ST-04", "M-04")
{
    kits_each_anywhere(play_model);
}

SUITE("stash against a model", random_stashing_does_what_a_model_says)
