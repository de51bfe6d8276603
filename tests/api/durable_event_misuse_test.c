/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events where there are none, that are too large or too many, and kinds whose tables make no sense: a status, and
 * nothing is lost.
 */
#include "support/books.h"

TR_MESSAGE(unheard, (i64, n));

static tr_status as_told; /* of the last try */

static tr_next try_wrong(tr_self *self, const struct book_state *book, int64_t n)
{
    static char text[TR_EVENT_MAX + 1];
    memset(text, 'x', sizeof text - 1);
    text[n == 2 ? sizeof text - 1 : 100] = 0;
    switch (n) {
    case 0:
        as_told = tr_try_persist(self, unheard, .n = 1);
        break;
    case 1:
        as_told = tr_try_persist(self, named, .name = "\xff");
        break;
    case 2:
        as_told = tr_try_persist(self, named, .name = text);
        break;
    case 3:
        as_told = tr_try_persist(self, named, .name = text);
        break;
    case 4:
        tr_persist(self, unheard, .n = 1);
        break;
    case 5:
        tr_persist(self, named, .name = "\xff");
        break;
    default:
        as_told = tr_self_try_persist(self, NULL, NULL);
        break;
    }
    return tr_reply(self, acted, .value = (int64_t)book->count);
}

TEST(an_event_that_cannot_be_persisted_is_none, "K-08")
{
    static const tr_status statuses[] = {TR_WRONG_TYPE, TR_BAD_DATA, TR_TOO_LARGE};
    books_reset();
    books_begin(1);
    books_do("a", book_add, 1);
    for (int64_t n = 0; n < 3; n++) {
        ck_assert_int_eq(books_do("a", try_wrong, n), 1);
        ck_assert_int_eq(as_told, statuses[n]);
    }
    ck_assert_int_eq(books_do("a", try_wrong, 6), 1);
    ck_assert_int_eq(as_told, TR_INVALID_ARGUMENT);
    ck_assert_int_eq(books_do("a", try_wrong, 3), 2);
    ck_assert_int_eq(books_try("a", try_wrong, 4, NULL), TR_FAILED);
    ck_assert_int_eq(books_try("a", try_wrong, 5, NULL), TR_FAILED);
    ck_assert_int_eq(books_do("a", book_last, 0), 2);
    books_nap();
    ck_assert_int_eq(books_do("a", book_last, 0), 2);
    books_end();
}

static tr_next persist_until_it_is_full(tr_self *self, const struct book_state *book, int64_t n)
{
    static char text[512 * 1024];
    memset(text, 'x', sizeof text - 1);
    if (!n)
        while ((as_told = tr_try_persist(self, named, .name = text)) == TR_OK)
            continue;
    else
        as_told = tr_try_persist(self, added, .n = n);
    return tr_reply(self, acted, .value = (int64_t)book->count);
}

TEST(events_that_are_not_on_disk_have_a_limit, "K-08")
{
    books_reset();
    tr_durable_book.options.durability = TR_SAVE_ON_DEMAND;
    books_begin(1);
    int64_t count = books_do("a", persist_until_it_is_full, 0);
    ck_assert_int_eq(as_told, TR_LIMIT);
    ck_assert_int_ge(count, 120);
    ck_assert_int_le(count, 129);
    books_do("a", book_save, 0);
    ck_assert_int_eq(books_do("a", persist_until_it_is_full, 1), count + 1);
    ck_assert_int_eq(as_told, TR_OK);
    books_nap();
    ck_assert_int_eq(books_do("a", book_count, 0), count + 1);
    books_end();
}

/* ---- Those who have no events. ---- */

TR_REQUEST(misuse, acted, (u32, verb));
TR_ACTOR(stranger, misuse);

static tr_next on_misuse(tr_self *self, const struct misuse *message)
{
    tr_event event = {0};
    switch (message->verb) {
    case 0:
        tr_persist(self, added, .n = 1);
        break;
    case 1:
        tr_snapshot(self);
        break;
    case 2:
        (void)tr_event_next(self, &event);
        break;
    case 3:
        (void)tr_event_last(self);
        break;
    default:
        return tr_reply(self, acted, .value = tr_try_persist(self, added, .n = 1));
    }
    return tr_reply(self, acted, .value = 0);
}
TR_BEHAVIOR(stranger, void, TR_ON(misuse, on_misuse));

TEST(who_has_no_events_persists_none, "K-08")
{
    const struct acted *acted;
    books_reset();
    books_begin(1);
    for (uint32_t verb = 0; verb <= 4; verb++) {
        stranger_ref stranger;
        ck_assert_int_eq(tr_try_spawn(test, &stranger, stranger, NULL), TR_OK);
        tr_status status = tr_try_await(test, tr_ask(test, stranger, misuse, .verb = verb), &acted);
        ck_assert_int_eq(status, verb == 4 ? TR_OK : TR_FAILED);
    }
    ck_assert_int_eq(acted->value, TR_NOT_SUPPORTED);
    books_end();
}

/* ---- Kinds. ---- */

static void expect_no_system(void)
{
    kit =
        tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options), .durable = TR_DURABLES(book)});
    ck_assert_ptr_null(kit);
}

static tr_next on_act_mutable(tr_self *self, struct book_state *book)
{
    return tr_reply(self, acted, .value = book->sum);
}
TR_BEHAVIOR(mutable, struct book_state, TR_ON(act, on_act_mutable));

TR_EVENTS(twice, book_state, TR_APPLY(added, apply_added), TR_ON_STORED(marked, books_on_marked));

static tr_status never(tr_self *self, const struct marked *from, struct added *to)
{
    (void)self;
    (void)from;
    (void)to;
    return TR_BAD_DATA;
}
TR_MIGRATION(added_1, 1, marked, added, never);
TR_EVENTS(late, book_state, TR_APPLY(added, apply_added, .migrations = TR_MIGRATIONS(added_1)));

TEST(a_table_that_makes_no_sense_is_refused, "K-08")
{
    tr_event_row rows[2] = {books_table.rows[0], books_table.rows[0]};
    books_reset();
    tr_durable_book.behavior = &tr_behavior_mutable; /* whose state is not const */
    expect_no_system();
    books_reset();
    books_events = twice; /* a hook of an event that is not applied */
    expect_no_system();
    books_reset();
    books_events = late; /* a migration of the version that there is */
    expect_no_system();
    books_reset();
    books_events.rows = rows; /* one event twice */
    books_events.row_count = 2;
    expect_no_system();
    books_reset();
    books_events.row_count = 0;
    expect_no_system();
    books_reset();
    books_events.size = 8;
    expect_no_system();
    books_reset();
    books_events.state = &tr_type_book_item;
    expect_no_system();
    books_reset();
    books_events.snapshots.kept = TR_SNAPSHOTS_MAX + 1;
    expect_no_system();
    books_reset();
    books_begin(1);
    books_end();
}

SUITE("durable events misused", an_event_that_cannot_be_persisted_is_none,
      events_that_are_not_on_disk_have_a_limit, who_has_no_events_persists_none,
      a_table_that_makes_no_sense_is_refused)
