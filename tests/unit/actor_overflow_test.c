/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of overflow policies: each policy has a row, and its properties agree.
 */
#include "support/test.h"

#include "actor/cell/overflow.h"

TEST(each_policy_has_one_row, "")
{
    for (uint32_t policy = 0; policy < OVERFLOW_COUNT; policy++)
        ck_assert_msg(overflow_is_known((tr_overflow)policy), "%u", (unsigned)policy);
    ck_assert(!overflow_is_known((tr_overflow)OVERFLOW_COUNT));
    ck_assert(!overflow_is_known((tr_overflow)-1));
}

TEST(each_policy_has_a_text_of_its_own, "")
{
    for (uint32_t policy = 0; policy < OVERFLOW_COUNT; policy++) {
        ck_assert_ptr_nonnull(overflow_text(policy));
        for (uint32_t other = 0; other < policy; other++)
            ck_assert_str_ne(overflow_text(policy), overflow_text(other));
    }
}

/* A sender does one thing with a message that finds no capacity. */
TEST(a_policy_has_one_property_at_most, "M-02")
{
    for (uint32_t policy = 0; policy < OVERFLOW_COUNT; policy++) {
        int count = overflow_has(policy, OVERFLOW_WAITS) + overflow_has(policy, OVERFLOW_SWALLOWS) +
                    overflow_has(policy, OVERFLOW_DISPLACES);
        ck_assert_int_eq(count, policy == TR_OVERFLOW_FAIL ? 0 : 1);
    }
    ck_assert(overflow_has(TR_PARK, OVERFLOW_WAITS));
    ck_assert(overflow_has(TR_DROP_NEWEST, OVERFLOW_SWALLOWS));
    ck_assert(overflow_has(TR_DROP_OLDEST, OVERFLOW_DISPLACES));
}

SUITE("actor overflow", each_policy_has_one_row, each_policy_has_a_text_of_its_own,
      a_policy_has_one_property_at_most)
