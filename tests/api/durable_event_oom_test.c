/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors with events without memory: each allocation of a life fails once, and once with all after it for a while.
 * Nothing leaks, nothing aborts, and what was acknowledged is there.
 */
#include "support/books.h"

static tr_next change(tr_self *self, const struct book_state *book, int64_t n)
{
    char name[32];
    tr_event event = {.sequence = 0};
    uint64_t count = 0;
    snprintf(name, sizeof name, "a name of %d", (int)n);
    tr_persist(self, named, .name = name);
    tr_persist(self, listed, .n = n, .text = "a text of some length, so that it takes memory");
    tr_persist(self, added, .n = n);
    tr_persist(self, marked, .n = -n);
    if (n == 2)
        tr_save(self);
    while (tr_event_next(self, &event))
        count++;
    ck_assert_uint_eq(count, tr_event_last(self));
    ck_assert_uint_eq(count, book->count);
    if (n == 3)
        tr_snapshot(self);
    return tr_reply(self, acted, .value = book->sum);
}

static int unlucky; /* lives in which something was not acknowledged */
static int64_t acknowledged;
static int64_t possible;

static void change_once(int64_t n)
{
    book_ref ref;
    const struct acted *acted;
    possible += 2 * n;
    if (tr_try_durable(test, &ref, book, "a") != TR_OK)
        return;
    act_ask ask =
        tr_ask_within(test, TR_HOUR, ref, act, .call = (uint64_t)(uintptr_t)change, .n = n);
    if (tr_try_await(test, ask, &acted) == TR_OK)
        acknowledged += 2 * n;
}

/* A life: made, changed, asleep, woken by a replay, asleep, woken by a snapshot. */
static void live(void)
{
    change_once(1);
    change_once(2);
    books_nap();
    change_once(3);
    books_nap();
    change_once(1);
    books_nap();
}

static void live_with(uint64_t nth, bool and_all_after)
{
    int64_t value = 0;
    acknowledged = 0;
    possible = 0;
    books_hooks = 0;
    books_reset();
    books_events.snapshots.every = 10;
    books_begin(1);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    live();
    tr_kit_fail_allocation(kit, 0, false);
    unlucky += acknowledged < possible;
    books_nap();
    ck_assert_int_eq(books_try("a", book_sum, 0, &value), TR_OK);
    ck_assert_msg(value >= acknowledged && value <= possible,
                  "%llu: %lld is not within %lld and %lld",
                  (unsigned long long)nth,
                  (long long)value,
                  (long long)acknowledged,
                  (long long)possible);
    /* Events of a commit are all there, or none. */
    ck_assert_int_eq(books_do("a", book_count, 0) % 4, 0);
    ck_assert_int_le(books_hooks, books_do("a", book_count, 0) / 4);
    books_end();
}

static uint64_t allocations_of_a_life(void)
{
    books_reset();
    books_events.snapshots.every = 10;
    books_begin(1);
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    live();
    uint64_t count = tr_kit_allocations(kit) - before;
    ck_assert_uint_eq(books_hooks, 4);
    books_end();
    return count;
}

TEST(each_allocation_may_fail, "K-08", "K-09")
{
    uint64_t count = allocations_of_a_life();
    ck_assert_uint_gt(count, 50);
    uint64_t step = TEST_HAS_SANITIZER ? 1 + count / 100 : 1;
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(nth, false);
    ck_assert_int_gt(unlucky, 5);
}

TEST(all_memory_may_be_gone_for_a_while, "K-08", "K-09")
{
    uint64_t count = allocations_of_a_life();
    uint64_t step = 1 + count / (TEST_HAS_SANITIZER ? 30 : 200);
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(nth, true);
    ck_assert_int_gt(unlucky, 5);
}

SUITE("durable events without memory", each_allocation_may_fail, all_memory_may_be_gone_for_a_while)
