/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A child that should always be there, and that somebody ends at an awkward moment: after a failure,
 * while its supervisor decides, in its delay, or before it has begun again.
 */
#include "support/crew.h"

PARENT(plain_boss, TR_OPTIONS(.is_pinned = true));
PARENT(slow_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .backoff = {.initial_ns = 100 * MS}));
KID(permanent, TR_OPTIONS(.restart = TR_PERMANENT));

static tr_ref found(const char *path)
{
    return tr_client_find(test, path);
}

/* A failure does not hide that it was ended by somebody else, whatever its supervisor has decided. */
static void play_end_of_failed(void)
{
    crew_open(&tr_behavior_slow_boss, &tr_behavior_permanent, 1);
    DO(kid[0], fall);
    SAID("");
    TOLD("R");
    if (kits_seed % 2)
        tr_kill(test, kid[0]);
    else
        tr_stop(test, kid[0]);
    tr_kit_settle(kit);
    SAID("a stop");
    tr_kit_advance(kit, TR_SECOND);
    SAID("a set-up; a start");
    TOLD("");
    tr_ref now = found("/user/boss/a");
    ck_assert(is_up(now));
    ck_assert(!tr_is_same(now, kid[0]));
    /* Nobody has decided yet, or just now. */
    tr_kit_advance(kit, TR_MINUTE);
    TELL_RUN(test, now, fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_kill(test, now);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(is_up(found("/user/boss/a")));
    (void)said();
    told_text[0] = '\0';
}

TEST(who_is_ended_after_a_failure_comes_back_too, "S-08", "SU-08")
{
    kits_each(play_end_of_failed);
}

/* On another worker there is a while in which it is known and has not begun. */
static void play_end_of_returning(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 2);
    tr_kill(test, kid[1]);
    tr_ref now = kid[1];
    while (tr_is_nobody(now) || tr_is_same(now, kid[1])) {
        ck_assert(tr_kit_step(kit));
        now = found("/user/boss/b");
    }
    tr_kill(test, now);
    tr_kit_settle(kit);
    ck_assert(!tr_is_same(found("/user/boss/b"), now));
    ck_assert(is_up(found("/user/boss/b")));
    (void)said();
    TOLD("");
}

TEST(who_is_ended_before_it_has_begun_again_comes_back_too, "S-08", "SU-08")
{
    kits_each(play_end_of_returning);
}

static bool has_decided;
static tr_directive give_up(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    has_decided = true;
    return TR_STOP_CHILD;
}
PARENT(strict_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = give_up));

static void play_end_of_given_up(void)
{
    crew_open(&tr_behavior_strict_boss, &tr_behavior_permanent, 1);
    has_decided = false;
    TELL_RUN(test, kid[0], fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_kill(test, kid[0]);
    tr_kit_settle(kit);
    ck_assert(tr_is_nobody(found("/user/boss/a")) == has_decided);
    (void)said();
    told_text[0] = '\0';
}

TEST(who_is_given_up_is_not_brought_back_by_a_kill, "S-03", "S-08")
{
    kits_each(play_end_of_given_up);
}

/* ---- An order for which there is no memory was not given. ---- */

static tr_next kill_in_vain(tr_self *self)
{
    tr_kit_fail_allocation(kit, 1, true);
    /* What the worker has in store is used up before. */
    while (tr_tell(self, tr_me(self), note, .n = 0) == TR_OK)
        ;
    ck_assert_int_eq(tr_kill(self, kid[0]), home ? TR_NO_MEMORY : TR_OK);
    ck_assert_int_eq(tr_stop(self, kid[0]), home ? TR_NO_MEMORY : TR_OK);
    tr_kit_fail_allocation(kit, 0, false);
    return TR_SAME;
}

static void play_dismissal_in_vain(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 1);
    DO(boss, kill_in_vain);
    ck_assert(tr_is_nobody(found("/user/boss/a")) == !home);
    if (!home)
        return; /* to one on the same worker it needs none */
    tr_kill(test, kid[0]);
    tr_kit_settle(kit);
    ck_assert(is_up(found("/user/boss/a")));
}

TEST(an_order_without_memory_dismisses_nobody, "S-08", "U-03")
{
    kits_each(play_dismissal_in_vain);
}

SUITE("child return", who_is_ended_after_a_failure_comes_back_too,
      who_is_ended_before_it_has_begun_again_comes_back_too,
      who_is_given_up_is_not_brought_back_by_a_kill, an_order_without_memory_dismisses_nobody)
