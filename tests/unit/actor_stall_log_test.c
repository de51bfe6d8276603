/* SPDX-License-Identifier: Apache-2.0 */
/** Which long turns are kept: the newest ones, and of the others the longest. */
#include "support/kits.h"

#include "actor/system/stall_log.h"

enum { MANY = 500 };

static void note(uint64_t actor, tr_time took_ns, bool is_over)
{
    tr_stall stall = {.actor = tr_ref_from_bits(actor),
                      .path = "/user/one",
                      .duration_ns = took_ns,
                      .is_over = is_over};
    const struct stall_stack stack = {0};
    tr__stall_log_note(tr_kit_system(kit), &stall, !is_over, &stack);
}

static void play_flood(void)
{
    struct stall_entry last[STALLS_KEPT + 1];
    note(7, 17 * TR_SECOND, false);
    note(7, 17 * TR_SECOND, true);
    note(8, 11 * TR_MILLISECOND, false); /* it does not end */
    for (uint64_t i = 0; i < MANY; i++) {
        note(100 + i, 10 * TR_MILLISECOND, false);
        note(100 + i, 12 * TR_MILLISECOND, true);
    }
    size_t count = tr__stall_log_read(tr_kit_system(kit), last, STALLS_KEPT + 1);
    ck_assert_uint_eq(count, STALLS_KEPT);
    for (size_t i = 0; i < STALLS_KEPT / 2; i++)
        ck_assert_uint_eq(last[i].number, MANY + 2 - i);
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_lt(last[i].number, last[i - 1].number);
    ck_assert_uint_eq(last[count - 1].actor, 7);
    ck_assert_uint_eq(last[count - 2].actor, 8);
    ck_assert(!last[count - 2].is_over);
    note(8, 20 * TR_SECOND, true);
    (void)tr__stall_log_read(tr_kit_system(kit), last, STALLS_KEPT);
    ck_assert(last[count - 2].is_over);
    ck_assert_int_eq(last[count - 2].took_ns, 20 * TR_SECOND);
}

TEST(the_longest_turns_are_kept_among_many_short_ones, "O-02")
{
    kits_each(play_flood);
}

SUITE("actor: stall log", the_longest_turns_are_kept_among_many_short_ones)
