/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events that the code does not know or cannot read, events of other versions, kinds that have changed, and two writers.
 */
#include "support/book_rows.h"

/* ---- Events that the code does not know. ---- */

static void refuse(const void *bytes, size_t size)
{
    books_reset();
    books_begin(1);
    add_one_by_one(3);
    books_nap();
    put_event(3, bytes, size);
    ck_assert_int_eq(books_try("a", book_sum, 0, NULL), TR_START_FAILED);
    ck_assert_int_eq(books_try("a", book_sum, 0, NULL), TR_START_FAILED);
    ck_assert_uint_eq(events_there().count, 4); /* nothing is lost */
    ck_assert_int_eq(books_do("b", book_add, 1), 1);
    books_end();
}

TEST(an_event_that_cannot_be_read_keeps_it_from_starting, "K-08", "PE-07", "PE-21")
{
    refuse("refunded\0\1\0\0\0\x91\5", 15); /* no such event */
    refuse("added\0\2\0\0\0\x91\5", 12);    /* of a newer version */
    refuse("added\0\1\0\0\0\x91\xc1", 12);  /* no MessagePack */
    refuse("added\0\1\0\0\0\x91\xa1x", 13); /* a text for a number */
    refuse("added\0\1\0\0\0", 10);
    refuse("added\0\1\0", 8);
    refuse("added", 5);
    refuse("", 0);
}

TEST(an_event_that_is_missing_keeps_it_from_starting, "K-08", "PE-07")
{
    books_reset();
    books_begin(1);
    add_one_by_one(8);
    books_nap();
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_event_trim(batch, 3), TR_OK);
    changed(batch);
    ck_assert_int_eq(books_try("a", book_sum, 0, NULL), TR_START_FAILED);
    books_end();
}

/* ---- Versions of events, and of kinds. ---- */

TR_MESSAGE(added_v1, (str, n));
TR_MESSAGE(added_v2, (i64, half));

static tr_status to_v2(tr_self *self, const struct added_v1 *from, struct added_v2 *to)
{
    (void)self;
    if (strcmp(from->n, "never") == 0)
        return TR_BAD_DATA;
    to->half = atoi(from->n);
    return TR_OK;
}

static tr_status to_v3(tr_self *self, const struct added_v2 *from, struct added *to)
{
    (void)self;
    to->n = 2 * from->half;
    return TR_OK;
}
TR_MIGRATION(added_1, 1, added_v1, added_v2, to_v2);
TR_MIGRATION(added_2, 2, added_v2, added, to_v3);

TR_EVENTS(books_later, book_state,
          TR_APPLY(added, apply_added, .version = 4,
                   .migrations = TR_MIGRATIONS(added_1, added_2)));

TEST(events_of_earlier_versions_are_brought_to_this_one, "K-08", "K-07")
{
    books_reset();
    books_events = books_later;
    books_begin(1);
    put_event(0,
              "added\0\1\0\0\0\x91\xa2"
              "12",
              14);
    put_event(1, "added\0\2\0\0\0\x91\5", 12);
    put_event(2, "added\0\3\0\0\0\x91\7", 12); /* the next one reads it as it is */
    put_event(3, "added\0\4\0\0\0\x92\7\1", 13);
    put_event(4, "added\0\4\0\0\0\x90", 11); /* written before it had a field */
    ck_assert_int_eq(books_do("a", book_sum, 0), 24 + 10 + 7 + 7);
    ck_assert_int_eq(books_do("a", book_add, 100), 148);
    ck_assert_int_eq(books_do("a", read_all, 10), 6);
    ck_assert_str_eq(read_text, "1+24 2+10 3+7 4+7 5+0 6+100 ");
    books_nap();
    ck_assert_int_eq(books_do("a", book_sum, 0), 148);
    books_nap();
    put_event(6, "added\0\1\0\0\0\x91\xa5never", 17);
    ck_assert_int_eq(books_try("a", book_sum, 0, NULL), TR_START_FAILED);
    books_end();
}

TEST(a_state_from_before_there_were_events_is_what_they_begin_with, "K-08", "K-07")
{
    books_reset();
    books_events.snapshots.every = 5;
    books_begin(1);
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_put_state(batch, 1, (tr_bytes){"\x93\x64\x02\x03", 4}), TR_OK);
    changed(batch);
    ck_assert_int_eq(books_do("a", book_sum, 0), 100);
    ck_assert_int_eq(books_do("a", book_add, 1), 101);
    ck_assert_uint_eq(applied_by_wake(), 1);
    ck_assert_int_eq(books_do("a", book_count, 0), 3);
    add_one_by_one(6);
    ck_assert_uint_eq(applied_by_wake(), 2);
    ck_assert_int_eq(books_do("a", book_sum, 0), 107);
    books_nap();
    put_snapshot(5, 1, "?", 1);
    ck_assert_uint_eq(applied_by_wake(), 7);
    ck_assert_int_eq(books_do("a", book_sum, 0), 107);
    books_end();
}

TR_REQUEST(show_plain, acted);
TR_ACTOR(plain, show_plain);
static tr_next on_show_plain(tr_self *self, struct book_state *book)
{
    tr_status status = tr_try_persist(self, added, .n = 1);
    ck_assert_int_eq(status, TR_NOT_SUPPORTED);
    return tr_reply(self, acted, .value = book->sum);
}
TR_BEHAVIOR(plain, struct book_state, TR_ON(show_plain, on_show_plain));
static tr_durable_kind tr_durable_plain;

static void plain_begin(void)
{
    tr_durable_plain = tr_durable_book;
    tr_durable_plain.behavior = &tr_behavior_plain;
    tr_durable_plain.options.events = NULL;
    tr_kit_free(kit);
    kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .durable = TR_DURABLES(plain), .store = books_directory});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

TEST(an_actor_with_events_does_not_start_without, "K-08", "K-07")
{
    const struct acted *acted;
    plain_ref plain;
    books_reset();
    books_begin_on_disk(1);
    add_one_by_one(2);
    plain_begin();
    ck_assert_int_eq(tr_try_durable(test, &plain, plain, "a"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, plain, show_plain), &acted), TR_START_FAILED);
    ck_assert_int_eq(tr_try_durable(test, &plain, plain, "b"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, plain, show_plain), &acted), TR_OK);
    books_again(1);
    ck_assert_int_eq(books_do("a", book_sum, 0), 2);
    books_end();
}

/* ---- One writer. ---- */

static struct store_batch *stale;
static struct store_entry *stale_entry;

TEST(an_earlier_generation_writes_no_event, "K-08", "K-06", "PE-17")
{
    books_reset();
    books_begin(1);
    stale = change();
    stale_entry = entry;
    ck_assert_int_eq(tr__store_event_append(stale, 0, (tr_bytes){"added\0\1\0\0\0\x91\5", 12}),
                     TR_OK);
    books_do("a", book_add, 1); /* a later one */
    tr_status status = tr__store_submit(stale, on_done, NULL);
    ck_assert_int_eq(status, TR_STALE);
    tr__store_batch_free(stale);
    tr__store_leave(stale_entry);
    ck_assert_uint_eq(events_there().count, 1);
    /* And this way around: the actor is the stale one, hears so, and starts again. */
    put_event(1, "added\0\1\0\0\0\x91\5", 12);
    ck_assert_int_eq(books_try("a", book_add, 10, NULL), TR_STALE);
    ck_assert_int_eq(books_do("a", book_sum, 0), 6);
    ck_assert_int_eq(books_do("a", book_add, 10), 16);
    ck_assert_int_eq(books_do("a", book_last, 0), 3);
    books_end();
}

SUITE("durable events of other versions", an_event_that_cannot_be_read_keeps_it_from_starting,
      an_event_that_is_missing_keeps_it_from_starting,
      events_of_earlier_versions_are_brought_to_this_one,
      a_state_from_before_there_were_events_is_what_they_begin_with,
      an_actor_with_events_does_not_start_without, an_earlier_generation_writes_no_event)
