/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Destroying an actor in a store: the mark that comes first, rows that are deleted in small parts, and many
 * destroys that hold up nobody.
 */
#include "store/sqlite/bury.h"
#include "support/tamper.h"

enum { KEYS = 1000 };

static int64_t count(struct store_disk *disk, const char *sql)
{
    static struct vfs vfs;
    struct link link;
    int64_t number = -1;
    struct memory_source source = stores_source();
    ck_assert(tr__disk_take(disk));
    ck_assert_int_eq(tr__vfs_init(&vfs, &source, disk, "troupe.db", NULL), TR_OK);
    ck_assert_int_eq(tr__link_open(&link, &vfs, "troupe.db"), TR_OK);
    ck_assert_int_eq(tr__link_settle(&link, STORE_CACHE_BYTES), TR_OK);
    ck_assert_int_eq(tr__link_number(&link, sql, &number), TR_OK);
    tr__link_close(&link);
    tr__vfs_deinit(&vfs);
    tr__disk_give(disk);
    return number;
}

static const char all_rows[] = "SELECT (SELECT count(*) FROM kv) + (SELECT count(*) FROM queue) + "
                               "(SELECT count(*) FROM event) + (SELECT count(*) FROM snapshot) + "
                               "(SELECT count(*) FROM page) + (SELECT count(*) FROM alarm) + "
                               "(SELECT count(*) FROM actor)";

/* An actor with rows in every table, and so many keys. */
static void fill(struct store *store, struct store_entry *entry, int keys)
{
    static const unsigned char page[STORE_PAGE_SIZE] = "page";
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 7, stores_bytes("state")), TR_OK);
    for (int i = 0; i < keys; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes(key), stores_bytes("value")), TR_OK);
    }
    ck_assert_int_eq(tr__store_alarm_set(batch, "tea", 1, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_queue_push(batch, "in", 1, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_event_append(batch, 0, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_snapshot_put(batch, 1, 1, stores_bytes("")), TR_OK);
    ck_assert_int_eq(tr__store_page_put(batch, 1, (tr_bytes){page, sizeof page}), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
}

/* A destroy without the work that follows it: as a commit that many others wait for. */
static tr_status destroyed;

static void destroy(struct store *store, struct store_entry *entry)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
    destroyed = stores_commit(store, batch);
}

/* ---- Many rows. ---- */

struct watch {
    struct store_disk *disk;
    int64_t rows_before;
    int64_t most; /* that one transaction has deleted */
    unsigned syncs;
    bool is_in;
};

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    struct watch *watch = context;
    struct store_disk *copy;
    (void)file, (void)offset, (void)size;
    if (io != STORE_IO_SYNC || watch->is_in)
        return TR_OK;
    watch->is_in = true;
    ck_assert_int_eq(tr__disk_clone(watch->disk, &copy), TR_OK);
    int64_t rows = count(copy, all_rows);
    if (watch->syncs++ && watch->rows_before - rows > watch->most)
        watch->most = watch->rows_before - rows;
    watch->rows_before = rows;
    tr__disk_free(copy);
    watch->is_in = false;
    return TR_OK;
}

TEST(many_rows_of_a_destroyed_actor_go_a_few_at_a_time, "Z-07", "K-09")
{
    struct watch watch = {.disk = stores_disk(false)};
    struct store_options options = stores_options(watch.disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    fill(store, entry, KEYS);
    watch.rows_before = KEYS + 6;
    watch.syncs = 1;
    tr__disk_hook(watch.disk, (struct store_io_hook){on_io, &watch});
    destroy(store, entry);
    tr__disk_hook(watch.disk, (struct store_io_hook){NULL, NULL});
    ck_assert_int_eq(destroyed, TR_OK);
    ck_assert_uint_gt(watch.syncs, KEYS / BURY_SLICE);
    ck_assert_int_gt(watch.most, 0);
    ck_assert_int_le(watch.most, BURY_SLICE + 1);
    tr__store_leave(entry);
    tr__store_close(store);
    ck_assert_int_eq(count(watch.disk, all_rows), 0);
    tr__disk_free(watch.disk);
}

static tr_status no_bury(struct store_session *session, bool *has_more, struct store_why *why)
{
    (void)session, (void)why;
    *has_more = false;
    return TR_OK;
}

TEST(a_key_is_free_before_the_rows_behind_it_are_gone, "Z-07", "K-09")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store_driver driver = *tr__store_driver_default();
    driver.bury = no_bury;
    options.driver = &driver;
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    fill(store, entry, KEYS);
    destroy(store, entry);
    struct store_reader *reader = stores_reader(store);
    tr_bytes value;
    ck_assert_str_eq(stores_state(reader, "k", "x"), "TR_NOT_FOUND");
    ck_assert_int_eq(stores_put(store, entry, 1, "new"), TR_OK);
    struct store_entry *other = stores_enter(store, "k", "y");
    ck_assert_int_eq(stores_put(store, other, 1, "other"), TR_OK);
    for (const char *key = "x"; key; key = *key == 'x' ? "y" : NULL) {
        ck_assert_int_eq(
            tr__store_read_kv(reader, "k", stores_bytes(key), stores_bytes("1"), &value),
            TR_NOT_FOUND);
    }
    ck_assert_str_eq(stores_state(reader, "k", "x"), "new");
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_leave(other);
    tr__store_close(store);
    /* Each of those commits has deleted a part, and the next store the rest. */
    ck_assert_int_gt(count(disk, all_rows), 2);
    options.driver = NULL;
    store = stores_open(&options);
    entry = stores_enter(store, "k", "z");
    ck_assert_int_eq(stores_put(store, entry, 1, "third"), TR_OK);
    tr__store_leave(entry);
    tr__store_close(store);
    ck_assert_int_eq(count(disk, all_rows), 3);
    tr__disk_free(disk);
}

TEST(rows_that_cannot_be_deleted_hold_up_no_commit, "K-09", "PE-21")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_entry *other = stores_enter(store, "k", "y");
    fill(store, entry, KEYS);
    fill(store, other, KEYS);
    tr__store_leave(entry);
    tr__store_leave(other);
    tr__store_close(store);
    tamper(disk,
           "CREATE TRIGGER stuck BEFORE DELETE ON kv WHEN OLD.actor = 1 "
           "BEGIN SELECT RAISE(ABORT, 'stuck'); END");
    store = stores_open(&options);
    entry = stores_enter(store, "k", "x");
    destroy(store, entry);
    ck_assert_int_eq(destroyed, TR_OK);
    other = stores_enter(store, "k", "y");
    destroy(store, other);
    ck_assert_int_eq(destroyed, TR_OK);
    ck_assert_int_eq(stores_put(store, other, 1, "new"), TR_OK);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "x"), "TR_NOT_FOUND");
    ck_assert_str_eq(stores_state(reader, "k", "y"), "new");
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_leave(other);
    tr__store_close(store);
    tr__disk_free(disk);
}

/* ---- The mark. ---- */

static void doom(struct store *store, struct store_entry *entry)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_doom(batch), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
}

TEST(what_has_the_mark_can_be_read_until_the_store_is_opened_again, "K-09")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    fill(store, entry, 3);
    doom(store, entry);
    struct store_reader *reader = stores_reader(store);
    struct store_state state;
    tr_bytes value;
    ck_assert_int_eq(stores_put(store, entry, 9, "later"), TR_OK); /* it stays */
    ck_assert_int_eq(tr__store_read_state(reader, "k", stores_bytes("x"), &state), TR_OK);
    ck_assert(state.is_doomed);
    ck_assert_uint_eq(state.version, 9);
    ck_assert_int_eq(tr__store_read_kv(reader, "k", stores_bytes("x"), stores_bytes("1"), &value),
                     TR_OK);
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_close(store);
    ck_assert_int_eq(count(disk, "SELECT count(*) FROM alarm"), 0);
    ck_assert_int_gt(count(disk, all_rows), 0);
    tr__store_close(stores_open(&options));
    ck_assert_int_eq(count(disk, all_rows), 0);
    tr__disk_free(disk);
}

TEST(a_later_entry_of_a_marked_name_begins_with_a_destroy, "K-09")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    fill(store, entry, 3);
    doom(store, entry);
    tr__store_leave(entry);
    entry = stores_enter(store, "k", "x");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("new")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    struct store_reader *reader = stores_reader(store);
    struct store_state state;
    ck_assert_int_eq(tr__store_read_state(reader, "k", stores_bytes("x"), &state), TR_OK);
    ck_assert(!state.is_doomed);
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_close(store);
    ck_assert_int_eq(count(disk, all_rows), 1);
    tr__disk_free(disk);
}

TEST(a_mark_that_does_not_fit_its_seal_destroys_nothing, "PE-12")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_entry *doomed = stores_enter(store, "k", "y");
    fill(store, entry, 3);
    fill(store, doomed, 3);
    doom(store, doomed);
    tr__store_leave(entry);
    tr__store_leave(doomed);
    tr__store_close(store);
    int64_t rows = count(disk, "SELECT count(*) FROM kv");
    tamper(disk, "UPDATE actor SET version = version + 4294967296 WHERE id = 1");
    store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "x"), "TR_STORE_CORRUPT");
    ck_assert_str_eq(stores_state(reader, "k", "y"), "TR_NOT_FOUND");
    tr__store_reader_free(reader);
    tr__store_close(store);
    ck_assert_int_eq(count(disk, "SELECT count(*) FROM kv"), rows - 3);
    tr__disk_free(disk);
}

static bool on_queued(void *context, const struct store_queued *queued)
{
    *(unsigned *)context += queued->has_items;
    return true;
}

TEST(what_has_the_mark_has_no_work_in_its_queues, "K-05", "K-09")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_reader *reader = stores_reader(store);
    unsigned count = 0;
    fill(store, entry, 1);
    ck_assert_int_eq(tr__store_list_queued(reader, INT64_MIN, "", 10, on_queued, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
    doom(store, entry);
    ck_assert_int_eq(tr__store_list_queued(reader, INT64_MIN, "", 10, on_queued, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(destroys_at_the_opening_keep_the_log_below_its_limit, "K-11")
{
    enum { DOOMED = 1500, LOG_PAGES = 10 };
    struct store_disk *copy;
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    for (int i = 0; i < DOOMED; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", (unsigned)i * 2654435761u); /* anywhere among the names */
        struct store_entry *entry = stores_enter(store, "k", key);
        fill(store, entry, 10);
        doom(store, entry);
        tr__store_leave(entry);
    }
    tr__store_close(store);
    options.log_pages = LOG_PAGES;
    store = stores_open(&options);
    ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK); /* its log is as it was at the opening */
    tr__store_close(store);
    ck_assert_uint_le(tr__disk_size(copy, "troupe.db-log"),
                      TR_STORE_LOG_MAX / SESSION_LOG_PAGES * LOG_PAGES);
    ck_assert_int_eq(count(disk, all_rows), 0);
    tr__disk_free(copy);
    tr__disk_free(disk);
}

/* ---- Many destroys ---- */

enum { MANY = 5000 };

static void on_counted(void *context, struct store_batch *batch, tr_status status)
{
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    ++*(size_t *)context;
}

/* docs/mends.md, 11. */
TEST(a_commit_does_not_wait_for_all_destroys_before_it, "K-11")
{
    struct store_options options = stores_options(NULL);
    struct store *store = stores_open(&options);
    struct store_entry *entries[MANY];
    struct store_entry *other = stores_enter(store, "k", "other");
    size_t gone = 0;
    for (int i = 0; i < MANY; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        entries[i] = stores_enter(store, "k", key);
        struct store_batch *batch = stores_batch(entries[i]);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("state")), TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, on_counted, &gone), TR_OK);
    }
    while (tr__store_work(store))
        continue;
    gone = 0;
    for (int i = 0; i < MANY; i++) {
        struct store_batch *batch = stores_batch(entries[i]);
        ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, on_counted, &gone), TR_OK);
    }
    size_t written = 0;
    struct store_batch *batch = stores_batch(other);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("state")), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_counted, &written), TR_OK);
    ck_assert(tr__store_work(store));
    ck_assert_uint_eq(written, 1);
    ck_assert_uint_gt(gone, 0); /* nor do they wait forever */
    ck_assert_uint_le(gone, 256);
    while (tr__store_work(store))
        continue;
    ck_assert_uint_eq(gone, MANY);
    for (int i = 0; i < MANY; i++)
        tr__store_leave(entries[i]);
    tr__store_leave(other);
    tr__store_close(store);
}

/* What one entry submits stays in order, whatever it is. */
TEST(what_follows_a_destroy_of_its_own_comes_after_it, "K-06", "PE-05")
{
    enum { ROUNDS = 600 };
    struct store_options options = stores_options(NULL);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "a");
    size_t done = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct store_batch *batch = stores_batch(entry);
        char state[16];
        (void)snprintf(state, sizeof state, "%d", i);
        if (i % 2 == 0)
            ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
        char *bytes = tr__store_batch_alloc(batch, sizeof state);
        memcpy(bytes, state, sizeof state);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(bytes)), TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, on_counted, &done), TR_OK);
    }
    while (tr__store_work(store))
        continue;
    ck_assert_uint_eq(done, ROUNDS);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "a"), "599");
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_close(store);
}

SUITE("store destroy", many_rows_of_a_destroyed_actor_go_a_few_at_a_time,
      a_key_is_free_before_the_rows_behind_it_are_gone,
      what_has_the_mark_can_be_read_until_the_store_is_opened_again,
      a_later_entry_of_a_marked_name_begins_with_a_destroy,
      a_mark_that_does_not_fit_its_seal_destroys_nothing,
      rows_that_cannot_be_deleted_hold_up_no_commit, what_has_the_mark_has_no_work_in_its_queues,
      destroys_at_the_opening_keep_the_log_below_its_limit,
      a_commit_does_not_wait_for_all_destroys_before_it,
      what_follows_a_destroy_of_its_own_comes_after_it)
