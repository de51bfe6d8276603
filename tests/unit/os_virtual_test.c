/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The virtual platform: nothing in it moves by itself.
 */
#include "os/virtual.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

TEST(time_moves_only_by_hand, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    const tr_platform *table = &virtual->table;
    tr_time mono = table->mono_now(table);
    tr_time wall = table->wall_now(table);
    ck_assert_int_eq(table->mono_now(table), mono);
    tr__virtual_advance(virtual, 5 * TR_SECOND);
    ck_assert_int_eq(table->mono_now(table), mono + 5 * TR_SECOND);
    ck_assert_int_eq(table->wall_now(table), wall + 5 * TR_SECOND);
    tr__virtual_wall_jump(virtual, -TR_HOUR);
    ck_assert_int_eq(table->mono_now(table), mono + 5 * TR_SECOND);
    ck_assert_int_eq(table->wall_now(table), wall + 5 * TR_SECOND - TR_HOUR);
    tr__virtual_advance_to(virtual, mono);
    ck_assert_int_eq(table->mono_now(table), mono + 5 * TR_SECOND);
    tr__virtual_advance_to(virtual, mono + TR_MINUTE);
    ck_assert_int_eq(table->mono_now(table), mono + TR_MINUTE);
    tr__virtual_free(virtual);
}

TEST(a_seed_gives_the_same_numbers_again, "")
{
    struct virtual_platform *a = tr__virtual_new(7);
    struct virtual_platform *b = tr__virtual_new(7);
    struct virtual_platform *c = tr__virtual_new(8);
    uint64_t first = a->table.random(&a->table);
    ck_assert_uint_eq(first, b->table.random(&b->table));
    ck_assert_uint_ne(first, c->table.random(&c->table));
    ck_assert_uint_ne(first, a->table.random(&a->table));
    tr__virtual_free(a);
    tr__virtual_free(b);
    tr__virtual_free(c);
}

TEST(live_blocks_and_bytes_are_counted, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    const tr_platform *table = &virtual->table;
    char *first = table->resize(table, NULL, 10);
    char *second = table->resize(table, NULL, 20);
    ck_assert_uint_eq((uintptr_t)first % 16, 0);
    ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 2);
    ck_assert_uint_eq(tr__virtual_live_bytes(virtual), 30);
    ck_assert_uint_eq(tr__virtual_oldest_block(virtual), 1);
    memcpy(first, "012345678", 10);
    first = table->resize(table, first, 100);
    ck_assert_str_eq(first, "012345678");
    ck_assert_uint_eq(tr__virtual_live_bytes(virtual), 120);
    ck_assert_uint_eq(tr__virtual_oldest_block(virtual), 2);
    first = table->resize(table, first, 4);
    ck_assert_int_eq(memcmp(first, "0123", 4), 0);
    ck_assert_ptr_null(table->resize(table, first, 0));
    ck_assert_ptr_null(table->resize(table, second, 0));
    ck_assert_ptr_null(table->resize(table, NULL, 0));
    ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
    ck_assert_uint_eq(tr__virtual_live_bytes(virtual), 0);
    ck_assert_uint_eq(tr__virtual_oldest_block(virtual), 0);
    ck_assert_uint_eq(virtual->peak_bytes, 130);
    ck_assert_uint_eq(virtual->allocations, 4);
    tr__virtual_free(virtual);
}

TEST(the_nth_allocation_is_refused_once_or_for_good, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    const tr_platform *table = &virtual->table;
    char *kept = table->resize(table, NULL, 1);
    *kept = 'x';
    tr__virtual_fail_allocation(virtual, 2, false);
    kept = table->resize(table, kept, 2);
    ck_assert_ptr_nonnull(kept);
    ck_assert_ptr_null(table->resize(table, kept, 3));
    ck_assert_int_eq(*kept, 'x'); /* Still the caller's. */
    kept = table->resize(table, kept, 3);
    ck_assert_ptr_nonnull(kept);
    tr__virtual_fail_allocation(virtual, 1, true);
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_null(table->resize(table, NULL, 1));
    tr_parker *parker = NULL;
    ck_assert_int_eq(table->parker_new(table, &parker), TR_NO_MEMORY);
    ck_assert_ptr_null(table->resize(table, kept, 0)); /* To free is always possible. */
    ck_assert_uint_eq(virtual->refusals, 5);
    tr__virtual_fail_allocation(virtual, 0, false);
    kept = table->resize(table, NULL, 1);
    ck_assert_ptr_nonnull(kept);
    table->resize(table, kept, 0);
    ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
    tr__virtual_free(virtual);
}

TEST(the_last_lines_of_the_log_are_kept, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    const tr_platform *table = &virtual->table;
    ck_assert_ptr_null(tr__virtual_line(virtual, 0));
    for (int i = 0; i < VIRTUAL_LOG_LINES + 5; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "line %d.", i);
        table->log(table, TR_LEVEL_WARN, i % 2 ? "/user/a" : NULL, text);
    }
    ck_assert_str_eq(tr__virtual_line(virtual, 0)->text, "line 260.");
    ck_assert_str_eq(tr__virtual_line(virtual, 0)->path, "");
    ck_assert_str_eq(tr__virtual_line(virtual, 1)->path, "/user/a");
    ck_assert_int_eq(tr__virtual_line(virtual, 1)->level, TR_LEVEL_WARN);
    ck_assert_ptr_null(tr__virtual_line(virtual, VIRTUAL_LOG_LINES));
    ck_assert(tr__virtual_has_line(virtual, "line 5."));
    ck_assert(!tr__virtual_has_line(virtual, "line 4."));
    tr__virtual_free(virtual);
}

struct hook {
    struct virtual_platform *virtual;
    tr_parker *parker;
    tr_time deadline;
    tr_time step;
    unsigned calls;
    unsigned wake_at;
    unsigned end_at;
};

static bool on_park(void *context, tr_time deadline)
{
    struct hook *hook = context;
    hook->deadline = deadline;
    hook->calls++;
    tr__virtual_advance(hook->virtual, hook->step);
    if (hook->calls == hook->wake_at)
        hook->virtual->table.wake(&hook->virtual->table, hook->parker);
    return hook->calls != hook->end_at;
}

TEST(a_park_asks_its_hook_until_it_may_return, "")
{
    struct hook hook = {.virtual = tr__virtual_new(1), .step = TR_SECOND};
    const tr_platform *table = &hook.virtual->table;
    ck_assert_int_eq(table->parker_new(table, &hook.parker), TR_OK);
    table->park(table, hook.parker, TR_NEVER); /* No hook: returns. */
    hook.virtual->on_park = on_park;
    hook.virtual->on_park_context = &hook;

    table->wake(table, hook.parker);
    table->wake(table, hook.parker);
    table->park(table, hook.parker, TR_NEVER);
    ck_assert_uint_eq(hook.calls, 0);

    tr_time deadline = table->mono_now(table) + 3 * TR_SECOND;
    table->park(table, hook.parker, deadline);
    ck_assert_uint_eq(hook.calls, 3);
    ck_assert_int_eq(hook.deadline, deadline);
    ck_assert_int_eq(table->mono_now(table), deadline);

    hook.wake_at = 5;
    table->park(table, hook.parker, TR_NEVER);
    ck_assert_uint_eq(hook.calls, 5);

    hook.end_at = 7;
    table->park(table, hook.parker, TR_NEVER);
    ck_assert_uint_eq(hook.calls, 7);

    ck_assert_int_eq(table->parker_fd(table, hook.parker), -1);
    table->parker_free(table, hook.parker);
    table->parker_free(table, NULL);
    ck_assert_uint_eq(tr__virtual_live_blocks(hook.virtual), 0);
    tr__virtual_free(hook.virtual);
}

TEST(there_are_no_threads, "")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    const tr_platform *table = &virtual->table;
    tr_thread *thread = NULL;
    ck_assert_int_eq(table->thread_start(table, "x", NULL, NULL, &thread), TR_NOT_SUPPORTED);
    ck_assert_ptr_null(thread);
    ck_assert_uint_eq(table->cpu_count(table), 1);
    virtual->cpu_count = 4;
    ck_assert_uint_eq(table->cpu_count(table), 4);
    tr__virtual_free(virtual);
    tr__virtual_free(NULL);
}

SUITE("os virtual", time_moves_only_by_hand, a_seed_gives_the_same_numbers_again,
      live_blocks_and_bytes_are_counted, the_nth_allocation_is_refused_once_or_for_good,
      the_last_lines_of_the_log_are_kept, a_park_asks_its_hook_until_it_may_return,
      there_are_no_threads)
