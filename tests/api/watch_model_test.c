/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch by chance: actors on several workers watch, unwatch, spawn, stop, kill, crash and wait
 * at random, and each keeps a list of whom it watches. A signal must be on the list, and strikes its
 * sender out; at the end nobody that is gone may be on the list of one that lives.
 */
#include "support/kits.h"

TR_MESSAGE(birth, (u32, index));
TR_MESSAGE(act, (u32, index));
TR_ACTOR(soul, act);

enum { SOULS = 160 };
enum soul_life { UNBORN, BEGUN, ENDED };

static tr_ref souls[SOULS];
static uint32_t soul_count;
static enum soul_life lives[SOULS];
static bool watches[SOULS][SOULS];
static uint64_t signals;
static uint64_t taken_back;
static int workers;
static bool is_over; /* nobody acts any more */

struct soul {
    uint32_t index;
};

static tr_next on_birth(tr_self *self, struct soul *soul, const struct birth *birth)
{
    soul->index = birth->index;
    if (tr_random(self) % 16 == 0)
        return tr_random(self) % 2 ? TR_STOP : tr_fail(self, TR_FAILED, "stillborn");
    return TR_SAME;
}

static tr_next on_start(struct soul *soul)
{
    lives[soul->index] = BEGUN;
    return TR_SAME;
}

static tr_next on_end(struct soul *soul)
{
    lives[soul->index] = ENDED;
    return TR_SAME;
}

static uint32_t soul_of(tr_ref ref)
{
    for (uint32_t i = 0; i < soul_count; i++) {
        if (tr_is_same(souls[i], ref))
            return i;
    }
    return SOULS;
}

static tr_next on_terminated(tr_self *self, struct soul *soul, const struct tr_terminated *message)
{
    uint32_t who = soul_of(message->who);
    ck_assert_uint_lt(who, SOULS);
    ck_assert_msg(watches[soul->index][who],
                  "seed %" PRIu64 ": %u hears of %u, whom it does not watch",
                  kits_seed,
                  soul->index,
                  who);
    ck_assert_int_ne(lives[who], BEGUN);
    ck_assert_int_eq(tr_tell(self, message->who, act), TR_STOPPED);
    watches[soul->index][who] = false;
    signals++;
    return TR_SAME;
}

static void watch_somebody(tr_self *self, uint32_t me, bool is_on)
{
    uint32_t who = (uint32_t)(tr_random(self) % soul_count);
    if (is_on) {
        if (tr_try_watch(self, souls[who]) == TR_OK && who != me)
            watches[me][who] = true;
    } else if (tr_unwatch(self, souls[who]) == TR_OK) {
        taken_back += watches[me][who] && lives[who] == ENDED;
        watches[me][who] = false;
    }
}

static void spawn_somebody(tr_self *self)
{
    if (soul_count == SOULS)
        return;
    soul_ref child;
    uint32_t index = soul_count;
    int worker = (int)(tr_random(self) % (uint64_t)workers);
    if (tr_try_spawn_at(self, &child, worker, soul, NULL, birth, .index = index) != TR_OK)
        return;
    souls[soul_count++] = tr_any(child);
}

static tr_next on_act(tr_self *self, struct soul *soul)
{
    uint32_t me = soul->index;
    uint32_t who = (uint32_t)(tr_random(self) % soul_count);
    if (is_over)
        return TR_SAME;
    switch (tr_random(self) % 32) {
    case 0:
        return TR_STOP;
    case 1:
        return tr_fail(self, TR_FAILED, "by chance");
    case 2:
        tr_kill(self, souls[who]);
        break;
    case 3:
        tr_stop(self, souls[who]);
        break;
    case 4:
        tr_suspend(self, souls[who]);
        break;
    case 5:
    case 6:
    case 7:
        tr_resume(self, souls[who]);
        break;
    case 8:
        spawn_somebody(self);
        break;
    case 9:
        (void)tr_sleep(self, (tr_time)(tr_random(self) % 5) * MS);
        break;
    case 10:
        return tr_become(self, soul);
    default:
        for (uint64_t i = 1 + tr_random(self) % 4; i; i--)
            watch_somebody(self, me, tr_random(self) % 3);
        break;
    }
    watch_somebody(self, me, tr_random(self) % 2);
    return TR_SAME;
}

static bool is_even(const struct act *act)
{
    return act->index % 2 == 0;
}
TR_BEHAVIOR(soul, struct soul, TR_SETUP_WITH(birth, on_birth), TR_ON(tr_pre_start, on_start),
            TR_ON_BARRIER_IF(act, is_even, on_act), TR_ON(tr_terminated, on_terminated),
            TR_ON(tr_post_stop, on_end), TR_OPTIONS(.restart = TR_TEMPORARY));

static void let_go(void)
{
    is_over = true;
    tr_kit_advance(kit, 10 * MS);
    for (uint32_t i = 0; i < soul_count; i++)
        tr_resume(test, souls[i]);
    tr_kit_advance(kit, 10 * MS);
}

static void check_lists(void)
{
    for (uint32_t i = 0; i < soul_count; i++) {
        if (lives[i] != BEGUN)
            continue;
        for (uint32_t k = 0; k < soul_count; k++) {
            bool is_gone = tr_tell(test, souls[k], act) == TR_STOPPED;
            ck_assert_int_eq(is_gone, lives[k] != BEGUN);
            ck_assert_msg(!is_gone || !watches[i][k],
                          "seed %" PRIu64 ": %u never heard of %u",
                          kits_seed,
                          i,
                          k);
        }
        tr_kit_settle(kit);
    }
}

static void play(uint64_t seed, int steps)
{
    workers = 1 + (int)(seed % 4);
    kit_open_anywhere(workers, seed);
    memset(lives, 0, sizeof lives);
    memset(watches, 0, sizeof watches);
    soul_count = 0;
    is_over = false;
    for (uint32_t i = 0; i < 6; i++) {
        soul_ref root;
        int worker = (int)i % workers;
        ck_assert_int_eq(tr_try_spawn_at(test, &root, worker, soul, NULL, birth, .index = i),
                         TR_OK);
        souls[soul_count++] = tr_any(root);
    }
    uint64_t random = seed;
    for (int i = 0; i < steps; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t who = (uint32_t)((random >> 33) % soul_count);
        tr_tell(test, souls[who], act, .index = (uint32_t)(random >> 20));
        for (uint64_t k = (random >> 50) % 5; k; k--)
            tr_kit_step(kit);
        if (i % 16 == 0)
            tr_kit_check(kit);
        if (i % 32 == 0)
            tr_kit_advance(kit, MS);
    }
    let_go();
    check_lists();
    kit_close();
}

TEST(one_signal_for_each_watch_by_chance, "WA-01", "WA-04", "WA-05", "WA-08", "WA-10", "Y-04",
     "G-04")
{
    uint64_t seeds = test_is_long() ? 20000 : 400;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        play(seed, 300);
    /* It was worth while. */
    ck_assert_uint_gt(signals, seeds * 4);
    ck_assert_uint_gt(taken_back, seeds / 10);
    printf("signals %" PRIu64 ", unwatched after the end %" PRIu64 "\n", signals, taken_back);
}

SUITE("watch model", one_signal_for_each_watch_by_chance)
