/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The frames of a commit are written to the log many at a time, and an error of such a write fails the commit.
 */
#include "support/stores.h"

#include "store/driver.h"

enum { VALUE = 64 * 1024 };

/* Counts the writes to the log, and makes one of them fail. */
struct writes {
    size_t pages; /* of the database, in writes to the log */
    size_t count;
    size_t fails_at; /* 0: none fails */
    tr_status status;
};

static tr_status on_write(void *context, enum store_io io, const char *file, uint64_t offset,
                          size_t size)
{
    struct writes *writes = context;
    (void)offset;
    if (io != STORE_IO_WRITE || !strstr(file, "-log"))
        return TR_OK;
    writes->pages += size / STORE_PAGE_SIZE;
    return ++writes->count == writes->fails_at ? writes->status : TR_OK;
}

enum { ROWS_MANY = 16, ROWS_FEW = 4 };

/* Writes 16 pages for each of so many rows, and returns the status of the commit. */
static tr_status put_rows(struct store *store, struct store_entry *entry, int rows, char letter)
{
    struct store_batch *batch = stores_batch(entry);
    for (int i = 0; i < rows; i++) {
        char *key = tr__store_batch_alloc(batch, 16);
        char *value = tr__store_batch_alloc(batch, VALUE);
        ck_assert_ptr_nonnull(key);
        ck_assert_ptr_nonnull(value);
        (void)snprintf(key, 16, "%d", i);
        memset(value, letter, VALUE);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes(key), (tr_bytes){value, VALUE}),
                         TR_OK);
    }
    return stores_commit(store, batch);
}

static void check_rows(struct store *store, int rows, char letter)
{
    struct store_reader *reader = stores_reader(store);
    for (int i = 0; i < rows; i++) {
        char key[16];
        tr_bytes value;
        (void)snprintf(key, sizeof key, "%d", i);
        ck_assert_int_eq(
            tr__store_read_kv(reader, "k", stores_bytes("a"), stores_bytes(key), &value), TR_OK);
        ck_assert_uint_eq(value.size, VALUE);
        const char *bytes = value.data;
        ck_assert_int_eq(bytes[0], letter);
        ck_assert_int_eq(bytes[VALUE - 1], letter);
    }
    tr__store_reader_free(reader);
}

TEST(the_frames_of_a_commit_are_written_many_at_a_time, "K-01")
{
    const char *directory = stores_directory();
    struct writes writes = {.status = TR_OK};
    const struct store_io_hook hook = {on_write, &writes};
    struct store_options options = stores_options(NULL);
    options.path = directory;
    options.hook = &hook;
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "a");
    ck_assert_int_eq(put_rows(store, entry, ROWS_MANY, 'a'), TR_OK); /* the log gets its length */
    writes.pages = writes.count = 0;
    ck_assert_int_eq(put_rows(store, entry, ROWS_MANY, 'b'), TR_OK);
    ck_assert_uint_gt(writes.pages, ROWS_MANY * VALUE / STORE_PAGE_SIZE);
    ck_assert_uint_le(writes.count * 8, writes.pages);
    check_rows(store, ROWS_MANY, 'b');
    tr__store_leave(entry);
    tr__store_close(store);
    store = stores_open(&options);
    check_rows(store, ROWS_MANY, 'b');
    tr__store_close(store);
    stores_remove(directory);
}

/* The write comes later than SQLite has asked for it, so that another operation must report what becomes of it. */
TEST(a_write_that_finds_no_space_fails_its_commit_and_no_other, "K-01")
{
    size_t refused = 0;
    bool has_failed = true;
    for (size_t fails_at = 1; has_failed; fails_at++) {
        struct store_disk *disk = stores_disk(false);
        struct writes writes = {.status = TR_STORE_FULL};
        tr__disk_hook(disk, (struct store_io_hook){on_write, &writes});
        struct store_options options = stores_options(disk);
        options.cache_bytes =
            8 * STORE_PAGE_SIZE; /* so that pages are written before the commit, and read again */
        struct store *store = stores_open(&options);
        struct store_entry *entry = stores_enter(store, "k", "a");
        ck_assert_int_eq(put_rows(store, entry, ROWS_FEW, 'a'), TR_OK);
        writes.count = 0;
        writes.fails_at = fails_at;
        tr_status status = put_rows(store, entry, ROWS_FEW, 'b');
        has_failed = writes.count >= fails_at;
        writes.fails_at = 0;
        refused += status == TR_STORE_FULL;
        if (status != TR_OK) /* if it could not grow by many frames, the log grows by fewer */
            ck_assert_int_eq(status, TR_STORE_FULL);
        check_rows(store, ROWS_FEW, status == TR_OK ? 'b' : 'a');
        tr__store_leave(entry);
        entry = stores_enter(store, "k", "a");
        ck_assert_int_eq(put_rows(store, entry, ROWS_FEW, 'c'), TR_OK);
        check_rows(store, ROWS_FEW, 'c');
        tr__store_leave(entry);
        tr__store_close(store);
        store = stores_open(&options);
        check_rows(store, ROWS_FEW, 'c');
        tr__store_close(store);
        tr__disk_free(disk);
    }
    ck_assert_uint_gt(refused, 10);
}

SUITE("store frames", the_frames_of_a_commit_are_written_many_at_a_time,
      a_write_that_finds_no_space_fails_its_commit_and_no_other)
