/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is stored of events, and read again: pages and edges of a journal, snapshots that are there, missing, of no use
 * or newer, events that the code does not know, and events of other versions.
 */
#include "support/books.h"

#include "actor/system.h"
#include "durable/host.h"
#include "store/store.h"

/* ---- Behind the actor's back. ---- */

static struct store *store_of_kit(void)
{
    return tr_kit_system(kit)->durable->store;
}

static const tr_bytes key_a = {"a", 1};
static tr_status outcome;

static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    (void)context;
    outcome = status;
    tr__store_batch_free(batch);
}

static struct store_entry *entry;

static struct store_batch *change(void)
{
    struct store_batch *batch;
    ck_assert_int_eq(tr__store_enter(store_of_kit(), "book", key_a, NULL, NULL, &entry), TR_OK);
    ck_assert_int_eq(tr__store_batch_new(entry, &batch), TR_OK);
    return batch;
}

static void changed(struct store_batch *batch)
{
    ck_assert_int_eq(tr__store_submit(batch, on_done, NULL), TR_OK);
    while (tr__store_work(store_of_kit()))
        continue;
    ck_assert_int_eq(outcome, TR_OK);
    tr__store_leave(entry);
}

static void put_snapshot(uint64_t sequence, uint32_t version, const char *bytes, size_t size)
{
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_snapshot_put(batch, sequence, version, (tr_bytes){bytes, size}),
                     TR_OK);
    changed(batch);
}

static void put_event(uint64_t expected, const void *bytes, size_t size)
{
    struct store_batch *batch = change();
    ck_assert_int_eq(tr__store_event_append(batch, expected, (tr_bytes){bytes, size}), TR_OK);
    changed(batch);
}

struct rows {
    uint64_t first;
    uint64_t count;
};

static bool on_row(void *context, const struct store_row *row)
{
    struct rows *rows = context;
    if (!rows->count++)
        rows->first = row->id;
    return true;
}

static struct rows events_there(void)
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
static const char *snapshots_there(void)
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

/* ---- Snapshots and retention. ---- */

/* How many events a wake applies. */
static unsigned applied_by_wake(void)
{
    books_nap();
    books_applied = 0;
    books_do("a", book_sum, 0);
    return books_applied;
}

static void add_one_by_one(int count)
{
    for (int i = 0; i < count; i++)
        books_do("a", book_add, 1);
}

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
    books_do("a", book_add_many, 17); /* one stretch, one snapshot */
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

static uint64_t read_from;
static uint64_t read_max;
static char read_text[512];

/* The numbers and kinds of events as a text; n: how many to read at most. */
static tr_next read_all(tr_self *self, const struct book_state *book, int64_t n)
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
    /* And this way around: the actor is the stale one, hears so, and begins anew. */
    put_event(1, "added\0\1\0\0\0\x91\5", 12);
    ck_assert_int_eq(books_try("a", book_add, 10, NULL), TR_FAILED);
    ck_assert_int_eq(books_do("a", book_sum, 0), 6);
    ck_assert_int_eq(books_do("a", book_add, 10), 16);
    ck_assert_int_eq(books_do("a", book_last, 0), 3);
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
      a_journal_without_its_beginning_begins_where_it_does,
      an_event_that_cannot_be_read_keeps_it_from_starting,
      an_event_that_is_missing_keeps_it_from_starting,
      events_of_earlier_versions_are_brought_to_this_one,
      a_state_from_before_there_were_events_is_what_they_begin_with,
      an_actor_with_events_does_not_start_without, an_earlier_generation_writes_no_event)
