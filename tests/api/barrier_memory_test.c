/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A barrier whose turn cannot wait for lack of memory: it ends with its turn all the same.
 */
#include "support/kits.h"

TR_MESSAGE(nap, (u32, refused));
TR_MESSAGE(count);
TR_ACTOR(napper, nap, count);

static unsigned counted;
static tr_status slept;

static tr_next on_nap(tr_self *self, const struct nap *message)
{
    tr_kit_fail_allocation(kit, message->refused, true);
    slept = tr_sleep(self, TR_SECOND);
    tr_kit_fail_allocation(kit, 0, false);
    return TR_SAME;
}

static tr_next on_count(void)
{
    counted++;
    return TR_SAME;
}

TR_BEHAVIOR(napper, void, TR_ON(nap, on_nap, .is_barrier = true), TR_ON(count, on_count));

TEST(a_barrier_that_cannot_wait_ends_with_its_turn, "D-03", "U-03")
{
    bool has_failed = false;
    for (uint32_t refused = 1; refused <= 8; refused++) {
        kit_open_as(1, refused, false);
        counted = 0;
        slept = TR_CANCELLED;
        napper_ref first;
        napper_ref second;
        ck_assert_int_eq(tr_try_spawn(test, &first, napper, NULL), TR_OK);
        ck_assert_int_eq(tr_try_spawn(test, &second, napper, NULL), TR_OK);
        tr_kit_settle(kit);
        tr_tell(test, first, nap, .refused = refused);
        tr_tell(test, first, count);
        tr_kit_settle(kit);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_int_ne(slept, TR_CANCELLED);
        has_failed |= slept == TR_NO_MEMORY;
        ck_assert_uint_eq(counted, 1);
        /* Nor is it a barrier of whoever runs next. */
        tr_tell(test, second, nap, .refused = 0);
        tr_tell(test, second, count);
        tr_kit_settle(kit);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_int_eq(slept, TR_OK);
        ck_assert_uint_eq(counted, 2);
        kit_close();
    }
    ck_assert(has_failed);
}

SUITE("barriers without memory", a_barrier_that_cannot_wait_ends_with_its_turn)
