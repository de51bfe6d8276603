/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Snapshots of actors with events, that are there, missing, of no use or newer; what is kept; and how a journal is read.
 */
#include "support/book_rows.h"

/* ---- Snapshots and retention. ---- */

TEST(a_snapshot_comes_every_so_many_events, "K-08", "PE-09")
{
    books_reset();
    books_events.snapshots.every = 10;
    books_begin(1);
    add_one_by_one(9);
    ck_assert_str_eq(snapshots_there(), "");
    ck_assert_uint_eq(applied_by_wake(), 9);
    add_one_by_one(26);
    ck_assert_str_eq(snapshots_there(), "30 20 ");
    ck_assert_uint_eq(events_there().count, 35); /* none is dropped */
    ck_assert_uint_eq(applied_by_wake(), 5);
    ck_assert_int_eq(books_do("a", book_sum, 0), 35);
    books_do("a", book_add_many, 17); /* one commit, one snapshot */
    ck_assert_str_eq(snapshots_there(), "52 30 ");
    ck_assert_uint_eq(applied_by_wake(), 0);
    books_end();
}

TEST(by_default_there_are_snapshots_and_all_events, "K-08")
{
    books_reset();
    books_begin(1);
    for (int i = 0; i < 5; i++)
        books_do("a", book_add_many, 100);
    ck_assert_str_eq(snapshots_there(), "500 400 ");
    ck_assert_uint_eq(events_there().count, 500);
    books_end();
}

TEST(retention_keeps_what_it_says_also_over_lives, "K-08", "PE-08", "PE-09")
{
    for (uint32_t kept = 1; kept <= 4; kept++) {
        char expected[64] = "";
        books_reset();
        books_events.snapshots = (tr_snapshots){.every = 10, .kept = kept, .drops_events = true};
        books_begin(1);
        for (int i = 0; i < 8; i++) { /* a life each: it knows of the others by looking */
            add_one_by_one(10);
            books_nap();
        }
        for (uint32_t i = 0; i < kept; i++)
            snprintf(expected + strlen(expected), sizeof expected / 2, "%u ", 80 - 10 * i);
        ck_assert_str_eq(snapshots_there(), expected);
        ck_assert_uint_eq(events_there().count, 10 * (kept - 1));
        ck_assert_int_eq(books_do("a", book_last, 0), 80);
        ck_assert_int_eq(books_do("a", book_sum, 0), 80);
        add_one_by_one(1);
        ck_assert_int_eq(books_do("a", book_last, 0), 81);
        books_end();
    }
}

TEST(the_highest_number_does_not_fall_when_all_events_are_gone, "K-08", "PE-08")
{
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = 5, .kept = 1, .drops_events = true};
    books_begin_on_disk(1);
    add_one_by_one(10);
    ck_assert_uint_eq(events_there().count, 0);
    ck_assert_uint_eq(applied_by_wake(), 0);
    ck_assert_int_eq(books_do("a", book_last, 0), 10);
    books_again(2);
    ck_assert_int_eq(books_do("a", book_last, 0), 10);
    ck_assert_int_eq(books_do("a", book_add, 1), 11);
    ck_assert_uint_eq(events_there().first, 11);
    books_end();
}

TEST(a_snapshot_on_demand, "K-08", "PE-09")
{
    books_reset();
    books_events.snapshots.every = TR_NO_SNAPSHOTS;
    books_begin(1);
    books_do("a", book_snapshot, 0); /* of nothing: none */
    ck_assert_str_eq(snapshots_there(), "");
    books_do("a", book_add_many, 300);
    ck_assert_str_eq(snapshots_there(), "");
    ck_assert_uint_eq(applied_by_wake(), 300);
    books_do("a", book_snapshot, 0);
    books_do("a", book_snapshot, 0); /* a second time there is nothing new */
    ck_assert_str_eq(snapshots_there(), "300 ");
    ck_assert_uint_eq(applied_by_wake(), 0);
    ck_assert_int_eq(books_do("a", book_sum, 0), 300);
    books_end();
}

static tr_next swell(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, swollen, .size = (uint64_t)n);
    return tr_reply(self, acted, .value = (int64_t)book->fat.size);
}

static tr_next fat(tr_self *self, const struct book_state *book, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)book->fat.size);
}

TEST(a_big_snapshot_and_one_that_is_too_big, "K-08", "PE-09")
{
    books_reset();
    books_events.snapshots.every = 2;
    books_begin(1);
    books_do("a", book_add, 1);
    books_do("a", swell, TR_STATE_MAX - 1000);
    ck_assert_str_eq(snapshots_there(), "2 ");
    ck_assert_uint_eq(applied_by_wake(), 0);
    ck_assert_int_eq(books_do("a", fat, 0), TR_STATE_MAX - 1000);
    /* It does without; the events are there, and they are few bytes. */
    books_do("a", swell, TR_STATE_MAX);
    add_one_by_one(3);
    ck_assert_str_eq(snapshots_there(), "2 ");
    ck_assert_uint_eq(applied_by_wake(), 4);
    ck_assert_int_eq(books_do("a", fat, 0), TR_STATE_MAX);
    ck_assert_int_eq(books_try("a", book_snapshot, 0, NULL), TR_FAILED); /* said so */
    ck_assert_int_eq(books_do("a", book_sum, 0), 4);
    books_do("a", swell, 10);
    add_one_by_one(3);
    ck_assert_str_ne(snapshots_there(), "2 ");
    books_end();
}

TEST(without_a_snapshot_all_is_replayed_and_with_a_bad_one_an_older_is_taken, "K-08", "PE-09")
{
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = 10, .kept = 3};
    books_begin(1);
    add_one_by_one(35);
    books_nap();
    put_snapshot(30, 1, "no state at all", 15);
    ck_assert_uint_eq(applied_by_wake(), 15);
    ck_assert_int_eq(books_do("a", book_sum, 0), 35);
    books_nap();
    put_snapshot(20, 1, "", 0);
    put_snapshot(10, 1, "\xc1", 1);
    ck_assert_uint_eq(applied_by_wake(), 35);
    ck_assert_int_eq(books_do("a", book_sum, 0), 35);
    /* A new one is made from there on. */
    add_one_by_one(1);
    ck_assert_str_eq(snapshots_there(), "36 30 20 10 ");
    ck_assert_uint_eq(applied_by_wake(), 0);
    books_nap();
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_snapshot_trim(batch, 100), TR_OK);
    changed(batch);
    ck_assert_uint_eq(applied_by_wake(), 36);
    ck_assert_int_eq(books_do("a", book_sum, 0), 36);
    books_end();
}

TEST(without_a_snapshot_and_without_its_events_it_does_not_start, "K-08", "PE-09")
{
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = 10, .kept = 1, .drops_events = true};
    books_begin(1);
    add_one_by_one(15);
    books_nap();
    put_snapshot(10, 1, "?", 1);
    ck_assert_int_eq(books_try("a", book_sum, 0, NULL), TR_START_FAILED);
    ck_assert_int_eq(books_try("b", book_add, 3, NULL), TR_OK); /* others do */
    ck_assert_uint_eq(events_there().count, 5);                 /* and nothing is touched */
    books_end();
}

TEST(a_snapshot_that_is_newer_than_the_code_is_refused, "K-08", "K-07")
{
    books_reset();
    books_events.snapshots.every = 10;
    books_begin_on_disk(1);
    tr_durable_book.options.version = 3;
    books_again(1);
    add_one_by_one(12);
    tr_durable_book.options.version = 2;
    books_again(1);
    ck_assert_int_eq(books_try("a", book_sum, 0, NULL), TR_START_FAILED);
    tr_durable_book.options.version = 3;
    books_again(1);
    ck_assert_int_eq(books_do("a", book_sum, 0), 12);
    books_end();
}

/* ---- The journal as it is read. ---- */

static tr_next name_and_read(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_persist(self, named, .name = "anna");
    tr_persist(self, cleared);
    return read_all(self, book, n);
}

TEST(a_journal_is_read_from_any_place_and_as_far_as_wanted, "K-08", "PE-07")
{
    books_reset();
    books_begin(1);
    ck_assert_int_eq(books_do("a", read_all, 100), 0); /* there is none */
    ck_assert_int_eq(books_do("a", name_and_read, 100), 2);
    ck_assert_str_eq(read_text, "1:anna 2:cleared "); /* what is not on disk yet too */
    add_one_by_one(3);
    for (int i = 0; i < 2; i++) {
        read_from = 0;
        ck_assert_int_eq(books_do("a", read_all, 100), 5);
        ck_assert_str_eq(read_text, "1:anna 2:cleared 3+1 4+1 5+1 ");
        ck_assert_int_eq(books_do("a", read_all, 0), 0);
        ck_assert_int_eq(books_do("a", read_all, 1), 1);
        ck_assert_str_eq(read_text, "1:anna ");
        read_from = 3;
        ck_assert_int_eq(books_do("a", read_all, 1), 1);
        ck_assert_str_eq(read_text, "4+1 ");
        ck_assert_int_eq(books_do("a", read_all, 100), 2);
        read_from = 4;
        ck_assert_int_eq(books_do("a", read_all, 100), 1);
        read_from = 5;
        ck_assert_int_eq(books_do("a", read_all, 100), 0);
        read_from = UINT64_MAX;
        ck_assert_int_eq(books_do("a", read_all, 100), 0);
        read_from = UINT64_MAX - 1;
        ck_assert_int_eq(books_do("a", read_all, 100), 0);
        books_nap();
    }
    read_from = 4;
    ck_assert_int_eq(books_do("a", name_and_read, 100), 3); /* over the border of the disk */
    ck_assert_str_eq(read_text, "5+1 6:anna 7:cleared ");
    books_end();
}

TEST(a_journal_of_many_pages_is_read_whole, "K-08", "PE-07")
{
    books_reset();
    books_events.snapshots.every = TR_NO_SNAPSHOTS;
    books_begin(1);
    for (int i = 0; i < 5; i++)
        books_do("a", book_add_many, 300);
    ck_assert_int_eq(books_do("a", read_all, 10000), 1500);
    ck_assert_uint_eq(applied_by_wake(), 1500);
    ck_assert_int_eq(books_do("a", read_all, 10000), 1500);
    read_from = 1499;
    ck_assert_int_eq(books_do("a", read_all, 10000), 1);
    ck_assert_int_eq(books_do("a", book_sum, 0), 1500);
    books_end();
}

TEST(a_journal_without_its_beginning_begins_where_it_does, "K-08", "PE-07", "PE-08")
{
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = 10, .kept = 2, .drops_events = true};
    books_begin(1);
    for (int i = 0; i < 2; i++) {
        add_one_by_one(i ? 0 : 34);
        read_from = 0;
        ck_assert_int_eq(books_do("a", read_all, 100), 14); /* from 21 on */
        ck_assert_uint_eq(read_max, 34);
        read_from = 20;
        ck_assert_int_eq(books_do("a", read_all, 100), 14);
        read_from = 19;
        ck_assert_int_eq(books_do("a", read_all, 100), 14);
        read_from = 21;
        ck_assert_int_eq(books_do("a", read_all, 100), 13);
        books_nap();
    }
    add_one_by_one(16); /* dropped while it is awake */
    read_from = 0;
    ck_assert_int_eq(books_do("a", read_all, 100), 10);
    ck_assert_uint_eq(read_max, 50);
    books_end();
}

SUITE("durable events in the store", a_snapshot_comes_every_so_many_events,
      by_default_there_are_snapshots_and_all_events, retention_keeps_what_it_says_also_over_lives,
      the_highest_number_does_not_fall_when_all_events_are_gone, a_snapshot_on_demand,
      a_big_snapshot_and_one_that_is_too_big,
      without_a_snapshot_all_is_replayed_and_with_a_bad_one_an_older_is_taken,
      without_a_snapshot_and_without_its_events_it_does_not_start,
      a_snapshot_that_is_newer_than_the_code_is_refused,
      a_journal_is_read_from_any_place_and_as_far_as_wanted, a_journal_of_many_pages_is_read_whole,
      a_journal_without_its_beginning_begins_where_it_does)
