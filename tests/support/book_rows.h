/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rows of a book (support/books.h) in the store of its kit: put there and looked at behind the actor's back, while
 * it sleeps.
 */
#ifndef TROUPE_TESTS_SUPPORT_BOOK_ROWS_H
#define TROUPE_TESTS_SUPPORT_BOOK_ROWS_H

#include "support/books.h"

#include "actor/cell/system.h"
#include "durable/host.h"
#include "store/store.h"

static inline struct store *store_of_kit(void)
{
    return tr_kit_system(kit)->durable.host->store;
}

static const tr_bytes key_a = {"a", 1};
static tr_status outcome;

static inline void on_done(void *context, struct store_batch *batch, tr_status status)
{
    (void)context;
    outcome = status;
    tr__store_batch_free(batch);
}

static struct store_entry *entry;

static inline struct store_batch *change(void)
{
    struct store_batch *batch;
    ck_assert_int_eq(tr__store_enter(store_of_kit(), "book", key_a, NULL, NULL, &entry), TR_OK);
    ck_assert_int_eq(tr__store_batch_new(entry, &batch), TR_OK);
    return batch;
}

static inline void changed(struct store_batch *batch)
{
    ck_assert_int_eq(tr__store_submit(batch, on_done, NULL), TR_OK);
    while (tr__store_work(store_of_kit()))
        continue;
    ck_assert_int_eq(outcome, TR_OK);
    tr__store_leave(entry);
}

static inline void put_snapshot(uint64_t sequence, uint32_t version, const char *bytes, size_t size)
{
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_snapshot_put(batch, sequence, version, (tr_bytes){bytes, size}),
                     TR_OK);
    changed(batch);
}

static inline void put_event(uint64_t expected, const void *bytes, size_t size)
{
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_event_append(batch, expected, (tr_bytes){bytes, size}), TR_OK);
    changed(batch);
}

struct rows {
    uint64_t first;
    uint64_t count;
};

static inline bool on_row(void *context, const struct store_row *row)
{
    struct rows *rows = context;
    if (!rows->count++)
        rows->first = row->id;
    return true;
}

static inline struct rows events_there(void)
{
    struct rows rows = {0};
    struct store_reader *reader;
    ck_assert_int_eq(tr__store_reader_new(store_of_kit(), &reader), TR_OK);
    ck_assert_int_eq(tr__store_list_events(reader, "book", key_a, 0, UINT64_MAX, 0, on_row, &rows),
                     TR_OK);
    tr__store_reader_free(reader);
    return rows;
}

/* The numbers of the snapshots that there are, the newest first, as a text. */
static inline const char *snapshots_there(void)
{
    static char text[256];
    size_t length = 0;
    struct store_reader *reader;
    struct store_snapshot snapshot = {.sequence = UINT64_MAX};
    ck_assert_int_eq(tr__store_reader_new(store_of_kit(), &reader), TR_OK);
    text[0] = 0;
    while (tr__store_read_snapshot(reader, "book", key_a, snapshot.sequence - 1, &snapshot) ==
           TR_OK)
        length += (size_t)snprintf(
            text + length, sizeof text - length, "%" PRIu64 " ", snapshot.sequence);
    tr__store_reader_free(reader);
    return text;
}

/* How many events a wake applies. */
static inline unsigned applied_by_wake(void)
{
    books_nap();
    books_applied = 0;
    books_do("a", book_sum, 0);
    return books_applied;
}

static inline void add_one_by_one(int count)
{
    for (int i = 0; i < count; i++)
        books_do("a", book_add, 1);
}

static uint64_t read_from;
static uint64_t read_max;
static char read_text[512];

/* The numbers and kinds of events as a text; n: how many to read at most. */
static inline tr_next read_all(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_event event = {.sequence = read_from};
    size_t length = 0;
    int64_t count = 0;
    uint64_t before = read_from;
    (void)book;
    read_text[0] = 0;
    while (count < n && tr_event_next(self, &event)) {
        const struct added *added = TR_EVENT_AS(&event, added);
        const struct named *named = TR_EVENT_AS(&event, named);
        ck_assert(count == 0 || event.sequence == before + 1);
        before = event.sequence;
        count++;
        if (length > sizeof read_text - 64)
            continue;
        if (added)
            length += (size_t)snprintf(
                read_text + length, 64, "%" PRIu64 "+%" PRId64 " ", event.sequence, added->n);
        else
            length += (size_t)snprintf(read_text + length,
                                       64,
                                       "%" PRIu64 ":%.32s ",
                                       event.sequence,
                                       named ? named->name : event.type->name);
    }
    read_max = before;
    return tr_reply(self, acted, .value = count);
}

#endif
