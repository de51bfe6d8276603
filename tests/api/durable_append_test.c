/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_append: a list grows in its own block, whatever was at that address before, and however it was made.
 */
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(done, (u64, bad));
TR_MESSAGE(line, (u64, id), (u64, cents));
TR_REQUEST(reuse, done);
TR_REQUEST(borrow, done);
TR_REQUEST(churn, done);
TR_REQUEST(lie, done);
TR_REQUEST(grow, done, (u64, n));
TR_REQUEST(count, done);
TR_REQUEST(replace, done);
TR_REQUEST(resize, done);
TR_REQUEST(edit, done);
TR_REQUEST(edit_what_is_not_there, done, (u64, index));
TR_ACTOR(shop, edit, edit_what_is_not_there, replace, resize, reuse, borrow, churn, lie, grow,
         count);
TR_MESSAGE(shop_state, (list(u64), visits), (list(message(line)), lines));

static void list_empty(tr_self *self, struct shop_state *state)
{
    tr_free(self, (void *)(uintptr_t)state->visits.items);
    state->visits.items = NULL;
    state->visits.count = 0;
}

/* A list that was given back, and another one that gets its block. */
static tr_next on_reuse(tr_self *self, struct shop_state *state)
{
    uint64_t bad = 0;
    for (uint64_t i = 0; i < 9; i++)
        tr_append(self, state->visits, i);
    unsigned char *other = tr_alloc(self, 128);
    memset(other, 0x55, 128);
    list_empty(self, state);
    for (uint64_t i = 0; i < 100; i++) {
        struct line line = {.id = i, .cents = UINT64_MAX};
        tr_append(self, state->lines, line);
    }
    for (size_t i = 0; i < 128; i++)
        bad += other[i] != 0x55;
    for (uint64_t i = 0; i < 100; i++)
        bad += state->lines.items[i].id != i;
    return tr_reply(self, done, .bad = bad);
}

/* Lists that the application has made; behind their items is something else. */
static tr_next on_borrow(tr_self *self, struct shop_state *state)
{
    static const uint64_t fixed[] = {0, 1, 2, 3};
    uint64_t bad = 0;
    uint64_t *own = tr_alloc(self, 100 * sizeof *own);
    for (uint64_t i = 0; i < 100; i++)
        own[i] = i;
    uint64_t *large = tr_alloc(self, 1000 * sizeof *large);
    for (uint64_t i = 0; i < 1000; i++)
        large[i] = i;
    uint64_t *turn = tr_scratch(self, 100 * sizeof *turn);
    memcpy(turn, own, 100 * sizeof *turn);
    const uint64_t *const lists[] = {fixed, own, own + 2, large, large + 2, turn};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        uint64_t first = lists[i][0];
        state->visits.items = lists[i];
        state->visits.count = 2;
        tr_append(self, state->visits, UINT64_MAX);
        bad += state->visits.items == lists[i];
        bad += state->visits.items[1] != first + 1 || state->visits.items[2] != UINT64_MAX;
        for (uint64_t k = 0; k < 4; k++)
            bad += lists[i][k] != first + k;
        list_empty(self, state);
    }
    return tr_reply(self, done, .bad = bad);
}

static tr_next on_replace(tr_self *self, struct shop_state *state)
{
    list_empty(self, state);
    for (uint64_t i = 0; i < 5; i++)
        tr_append(self, state->visits, i);
    return tr_reply(self, done);
}

static tr_next on_resize(tr_self *self, struct shop_state *state)
{
    ck_assert_ptr_null(tr_try_realloc(self, (void *)(uintptr_t)state->visits.items, 100));
    state->visits.items = tr_realloc(self, (void *)(uintptr_t)state->visits.items, 100);
    return tr_reply(self, done);
}

static uint64_t bytes_of(tr_self *self)
{
    return tr_budget_used(self).bytes;
}

/* Lists that come and go need no more memory than one. */
static tr_next on_churn(tr_self *self, struct shop_state *state)
{
    uint64_t before = 0;
    for (int round = 0; round < 2000; round++) {
        for (uint64_t i = 0; i < 20; i++)
            tr_append(self, state->visits, i);
        list_empty(self, state);
        if (!round)
            before = bytes_of(self);
    }
    return tr_reply(self, done, .bad = bytes_of(self) - before);
}

static tr_next on_lie(tr_self *self, struct shop_state *state)
{
    tr_append(self, state->visits, UINT64_C(1));
    state->visits.count = 1000;
    tr_append(self, state->visits, UINT64_C(2));
    return tr_reply(self, done);
}

static tr_next on_grow(tr_self *self, struct shop_state *state, const struct grow *message)
{
    for (uint64_t i = 0; i < message->n; i++)
        tr_append(self, state->visits, (uint64_t)state->visits.count);
    return tr_reply(self, done, .bad = 0);
}

static tr_next on_count(tr_self *self, struct shop_state *state)
{
    for (uint64_t i = 0; i < state->visits.count; i++)
        ck_assert_uint_eq(state->visits.items[i], i);
    return tr_reply(self, done, .bad = state->visits.count);
}

/* Changes a list as it was loaded, or a constant, and then the one that tr_replace has made. */
static tr_next on_edit(tr_self *self, struct shop_state *state)
{
    static const uint64_t fixed[] = {0, 9, 2, 3};
    const uint64_t *before = state->visits.items;
    uint64_t bad = 0;
    if (!state->visits.count) {
        state->visits.items = before = fixed;
        state->visits.count = 4;
    }
    size_t count = state->visits.count;
    tr_replace(self, state->visits, 1, UINT64_C(1));
    bad += state->visits.items == before || state->visits.items[1] != 1;
    const uint64_t *own = state->visits.items;
    tr_remove(self, state->visits, 0);
    tr_remove(self, state->visits, state->visits.count - 1);
    bad += state->visits.items != own || state->visits.count != count - 2;
    for (size_t i = 0; i < state->visits.count; i++)
        bad += state->visits.items[i] != i + 1;
    tr_remove(self, state->visits, 0);
    tr_append(self, state->visits, UINT64_C(7));
    bad += state->visits.items != own || state->visits.items[state->visits.count - 1] != 7;
    while (state->visits.count)
        tr_remove(self, state->visits, 0);
    bad += fixed[1] != 9;
    for (uint64_t i = 0; i < 5; i++)
        tr_append(self, state->visits, i);
    return tr_reply(self, done, .bad = bad);
}

static tr_next on_edit_what_is_not_there(tr_self *self, struct shop_state *state,
                                         const struct edit_what_is_not_there *message)
{
    tr_remove(self, state->visits, message->index);
    return tr_reply(self, done);
}

TR_BEHAVIOR(shop, struct shop_state, TR_ON(edit, on_edit),
            TR_ON(edit_what_is_not_there, on_edit_what_is_not_there), TR_ON(replace, on_replace),
            TR_ON(resize, on_resize), TR_ON(reuse, on_reuse), TR_ON(borrow, on_borrow),
            TR_ON(churn, on_churn), TR_ON(lie, on_lie), TR_ON(grow, on_grow),
            TR_ON(count, on_count));
TR_DURABLE(shop, shop_state, .idle_ns = TR_SECOND);

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    kit =
        tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options), .durable = TR_DURABLES(shop)});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static shop_ref shop_now(void)
{
    shop_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, shop, "a"), TR_OK);
    return ref;
}

TEST(what_a_loaded_state_points_to_may_be_freed, "K-01")
{
    const struct done *done;
    begin();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), count), &done), TR_OK);
        ck_assert_uint_eq(done->bad, i ? 5 : 0);
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), replace), &done), TR_OK);
        tr_kit_advance(kit, 20 * TR_SECOND); /* it sleeps */
    }
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), resize), &done), TR_FAILED);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), count), &done), TR_OK);
    tr_kit_free(kit);
}

TEST(a_list_that_gets_the_block_of_a_freed_one_stays_inside, "K-01")
{
    const struct done *done;
    begin();
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), reuse), &done), TR_OK);
    ck_assert_uint_eq(done->bad, 0);
    tr_kit_free(kit);
}

TEST(a_list_of_the_application_is_copied, "K-01")
{
    const struct done *done;
    begin();
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), borrow), &done), TR_OK);
    ck_assert_uint_eq(done->bad, 0);
    tr_kit_free(kit);
}

TEST(emptied_lists_keep_no_memory, "K-01")
{
    const struct done *done;
    begin();
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), churn), &done), TR_OK);
    ck_assert_uint_eq(done->bad, 0);
    tr_kit_free(kit);
}

TEST(a_count_that_is_more_than_its_memory_fails_the_turn, "K-01")
{
    const struct done *done;
    begin();
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), lie), &done), TR_FAILED);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), count), &done), TR_OK);
    ck_assert_uint_eq(done->bad, 0);
    tr_kit_free(kit);
}

TEST(a_list_of_a_loaded_state_grows, "K-01")
{
    const struct done *done;
    uint64_t total = 0;
    begin();
    for (uint64_t n = 1; n < 2000; n = 3 * n + 1) {
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), grow, .n = n), &done), TR_OK);
        total += n;
        tr_kit_advance(kit, 20 * TR_SECOND); /* it sleeps */
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), count), &done), TR_OK);
        ck_assert_uint_eq(done->bad, total);
    }
    tr_kit_free(kit);
}

TEST(an_item_of_any_list_is_replaced_and_removed, "K-01")
{
    const struct done *done;
    begin();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), edit), &done), TR_OK);
        ck_assert_uint_eq(done->bad, 0);
        tr_kit_advance(kit, 20 * TR_SECOND); /* it sleeps */
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), count), &done), TR_OK);
        ck_assert_uint_eq(done->bad, 5);
    }
    for (uint64_t index = 5; index < 7; index++)
        ck_assert_int_eq(
            tr_try_await(
                test, tr_ask(test, shop_now(), edit_what_is_not_there, .index = index), &done),
            TR_FAILED);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, shop_now(), count), &done), TR_OK);
    ck_assert_uint_eq(done->bad, 5);
    tr_kit_free(kit);
}

SUITE("durable append", an_item_of_any_list_is_replaced_and_removed,
      what_a_loaded_state_points_to_may_be_freed,
      a_list_that_gets_the_block_of_a_freed_one_stays_inside, a_list_of_the_application_is_copied,
      emptied_lists_keep_no_memory, a_count_that_is_more_than_its_memory_fails_the_turn,
      a_list_of_a_loaded_state_grows)
