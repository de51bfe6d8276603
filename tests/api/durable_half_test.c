/* SPDX-License-Identifier: Apache-2.0 */
/**
 * First starts that were not finished, of kinds with events and without, under code that changes in between.
 */
#include "support/books.h"

static int creations;
static int failures_left;

/* ---- Of a kind with events. ---- */

static tr_next create(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book, (void)n;
    creations++;
    tr_persist(self, added, .n = 5);
    tr_sql(self, "CREATE TABLE note (text)"); /* which fails if it is there already */
    tr_save(self);
    if (failures_left-- > 0)
        return tr_fail(self, TR_BAD_DATA, "as told");
    tr_persist(self, added, .n = 100);
    return TR_SAME;
}

TEST(a_first_start_that_persisted_and_failed_comes_again, "Z-11", "K-08", "K-03")
{
    books_reset();
    books_on_created = create;
    failures_left = 1;
    books_begin(1);
    ck_assert_int_eq(books_do("a", book_sum, 0), 105);
    ck_assert_int_eq(creations, 2);
    books_end();
}

/* ---- tr_state_changed of a kind with events. ---- */

static int changes;
static int64_t told;

static tr_next on_changed(tr_self *self, const struct book_state *book)
{
    (void)self;
    changes++;
    told = book->sum;
    return TR_SAME;
}

TR_BEHAVIOR(watched_book, const struct book_state, TR_ON(act, books_act),
            TR_ON(tr_state_changed, on_changed));

static tr_next persist_more(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)book, (void)n;
    tr_persist(self, added, .n = 1000);
    return TR_SAME;
}

TEST(what_a_hook_of_an_event_changes_is_told, "Z-11", "K-08")
{
    books_reset();
    tr_durable_book.behavior = &tr_behavior_watched_book;
    books_on_hook = persist_more;
    books_begin(1);
    books_do("a", book_mark, 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(changes, 2);
    ck_assert_int_eq(told, 999);
    books_end();
}

/* ---- Of a kind without events. ---- */

static tr_next on_created(tr_self *self, struct book_state *book)
{
    creations++;
    book->sum = 7;
    tr_save(self);
    return failures_left-- > 0 ? tr_fail(self, TR_BAD_DATA, "as told") : TR_SAME;
}

typedef tr_next plain_call(tr_self *self, struct book_state *book, int64_t n);

static tr_next on_plain_act(tr_self *self, struct book_state *book, const struct act *message)
{
    return ((plain_call *)(uintptr_t)message->call)(self, book, message->n);
}

TR_BEHAVIOR(created_book, struct book_state, TR_ON(tr_created, on_created),
            TR_ON(act, on_plain_act));
TR_BEHAVIOR(plain_book, struct book_state, TR_ON(act, on_plain_act));

static const tr_bytes key = {"k", 1};
static const tr_bytes value = {"v", 1};

static tr_next plain_sum(tr_self *self, struct book_state *book, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = book->sum);
}

static tr_next plain_put(tr_self *self, struct book_state *book, int64_t n)
{
    (void)book, (void)n;
    tr_kv_put(self, key, value);
    return tr_reply(self, acted, .value = 1);
}

static tr_next plain_has(tr_self *self, struct book_state *book, int64_t n)
{
    (void)book, (void)n;
    tr_bytes found;
    return tr_reply(self, acted, .value = tr_kv_get(self, key, &found));
}

static tr_status plain_try(plain_call *call, int64_t *result)
{
    return books_try("a", (book_call *)(uintptr_t)call, 0, result);
}

/* A first start that has stored its state and continues to fail. */
static void begin_half(void)
{
    int64_t sum;
    books_reset();
    tr_durable_book.options.events = NULL;
    tr_durable_book.behavior = &tr_behavior_created_book;
    failures_left = 1000;
    books_begin_on_disk(1);
    ck_assert_int_ne(plain_try(plain_sum, &sum), TR_OK);
}

TEST(what_code_without_tr_created_acknowledges_stays, "Z-11", "K-09")
{
    int64_t result = 0;
    begin_half();
    tr_durable_book.behavior = &tr_behavior_plain_book;
    books_again(2);
    ck_assert_int_eq(plain_try(plain_put, &result), TR_OK);
    tr_durable_book.behavior = &tr_behavior_created_book;
    failures_left = 0;
    books_again(3);
    ck_assert_int_eq(plain_try(plain_has, &result), TR_OK);
    ck_assert_int_eq(result, 1);
    books_end();
}

TEST(a_kind_that_gets_events_takes_what_was_half_made, "Z-11", "K-08")
{
    int64_t sum = 0;
    begin_half();
    tr_durable_book.options.events = &books_events;
    tr_durable_book.behavior = &tr_behavior_book;
    books_again(2);
    ck_assert_int_eq(books_try("a", book_sum, 0, &sum), TR_OK);
    books_end();
}

SUITE("durable first starts that were half", a_first_start_that_persisted_and_failed_comes_again,
      what_a_hook_of_an_event_changes_is_told, what_code_without_tr_created_acknowledges_stays,
      a_kind_that_gets_events_takes_what_was_half_made)
