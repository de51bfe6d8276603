/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The last signal of an incarnation, tr_post_stop or tr_pre_restart, comes also when no memory is left for the stack on
 * which it is handled. Turns that wait use up the stacks of a worker, however many its slabs have.
 */
#include "support/kits.h"

/* More than two slabs of stacks (src/fiber/pool.h). */
enum { NAPS_MAX = 40 };

TR_MESSAGE(nap);
TR_MESSAGE(fail);
TR_ACTOR(mortal, nap, fail);

static unsigned started, stopped, restarted;
static bool last_words_end_early;

static tr_next on_nap(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

static tr_next on_fail(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next on_pre_start(void)
{
    started++;
    return TR_SAME;
}

/* May end by a verb, which drops the stack. */
static tr_next on_post_stop(tr_self *self)
{
    stopped++;
    if (last_words_end_early)
        (void)tr_alloc(self, 100);
    return TR_SAME;
}

static tr_next on_pre_restart(tr_self *self)
{
    restarted++;
    if (last_words_end_early)
        (void)tr_alloc(self, 100);
    return TR_SAME;
}

TR_BEHAVIOR(mortal, void, TR_ON(nap, on_nap), TR_ON(fail, on_fail),
            TR_ON(tr_pre_start, on_pre_start), TR_ON(tr_post_stop, on_post_stop),
            TR_ON(tr_pre_restart, on_pre_restart));

static mortal_ref mortal_new(const char *name)
{
    mortal_ref mortal;
    ck_assert_int_eq(tr_try_spawn(test, &mortal, mortal, name), TR_OK);
    return mortal;
}

/* Three end one after the other, two of them more than once, while `naps` turns of another wait. */
static void play(unsigned naps, bool ends_early)
{
    kit_open_as(1, 1 + naps, false);
    last_words_end_early = false;
    mortal_ref sleeper = mortal_new("sleeper");
    mortal_ref killed = mortal_new("killed");
    mortal_ref poisoned = mortal_new("poisoned");
    mortal_ref failed = mortal_new("failed");
    tr_kit_settle(kit);
    started = stopped = restarted = 0;
    tr_tell(test, failed, fail); /* what a failure needs is there afterwards */
    for (unsigned i = 0; i < naps; i++)
        tr_tell(test, sleeper, nap);
    tr_kit_settle(kit);
    ck_assert_uint_eq(restarted, 1);
    ck_assert_uint_eq(started, 1);
    tr_tell(test, failed, fail);
    tr_stop(test, poisoned);
    tr_kill(test, killed);
    last_words_end_early = ends_early;
    tr_kit_fail_allocation(kit, 1, true);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, 0, false);
    ck_assert_msg(stopped + restarted == 1 + 3,
                  "%u naps: %u stopped, %u restarted",
                  naps,
                  stopped,
                  restarted);
    last_words_end_early = false;
    kit_close();
    ck_assert_uint_eq(stopped + restarted, 4 + started);
}

TEST(last_signals_come_without_memory_for_a_stack, "L-05", "G-02")
{
    for (unsigned naps = 0; naps < NAPS_MAX; naps++) {
        play(naps, false);
        play(naps, true);
    }
}

SUITE("last signals", last_signals_come_without_memory_for_a_stack)
