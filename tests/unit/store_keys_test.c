/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lists of keys in a store, and requests with an id: what was put is there, in order, until it is trimmed or its actor
 * is destroyed; and stores from before there were any.
 */
#include "support/tamper.h"

static struct store_disk *disk;
static struct store *store;
static struct store_reader *reader;

static void open_store(void)
{
    struct store_options options = stores_options(disk);
    store = stores_open(&options);
    reader = stores_reader(store);
}

static void close_store(void)
{
    tr__store_reader_free(reader);
    tr__store_close(store);
}

/* ---- Keys. ---- */

static void put(const char *kind, const char *key, uint32_t version)
{
    struct store_entry *entry = stores_enter(store, kind, key);
    ck_assert_int_eq(stores_put(store, entry, version, "state"), TR_OK);
    tr__store_leave(entry);
}

static void destroy(const char *kind, const char *key, bool is_marked_only)
{
    struct store_entry *entry = stores_enter(store, kind, key);
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(is_marked_only ? tr__store_doom(batch) : tr__store_destroy(batch), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
}

static const char *keys_of(const char *kind, tr_bytes prefix, tr_bytes after, size_t limit)
{
    static struct stores_text out;
    out = (struct stores_text){.rows = 0};
    ck_assert_int_eq(tr__store_list_keys(reader, kind, prefix, after, limit, stores_visit, &out),
                     TR_OK);
    return out.text;
}

TEST(keys_are_listed_by_kind_prefix_and_page, "K-12")
{
    disk = stores_disk(false);
    open_store();
    static const char *const names[] = {"b", "a", "ab", "aa", "c", "abc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put("cart", names[i], 1);
    put("car", "other", 1);
    put("cart2", "other", 1);
    const tr_bytes none = {NULL, 0};
    ck_assert_str_eq(keys_of("cart", none, none, 0), "a= aa= ab= abc= b= c= ");
    ck_assert_str_eq(keys_of("cart", stores_bytes("a"), none, 0), "a= aa= ab= abc= ");
    ck_assert_str_eq(keys_of("cart", none, stores_bytes("ab"), 2), "abc= b= ");
    ck_assert_str_eq(keys_of("cart", stores_bytes("a"), stores_bytes("ab"), 9), "abc= ");
    ck_assert_str_eq(keys_of("cart", stores_bytes("ab"), stores_bytes("a"), 9), "ab= abc= ");
    ck_assert_str_eq(keys_of("cart", stores_bytes("a"), stores_bytes("b"), 9), "");
    ck_assert_str_eq(keys_of("none", none, none, 9), "");
    ck_assert_int_eq(tr__store_list_keys(reader, "", none, none, 1, stores_visit, NULL),
                     TR_INVALID_ARGUMENT);

    /* Bytes of any value, also the last ones. */
    static const unsigned char last[] = {255, 255};
    struct store_entry *entry;
    tr_bytes key = {last, sizeof last};
    ck_assert_int_eq(tr__store_enter(store, "car", key, NULL, NULL, &entry), TR_OK);
    ck_assert_int_eq(stores_put(store, entry, 1, "state"), TR_OK);
    tr__store_leave(entry);
    ck_assert_str_eq(keys_of("car", key, none, 9), "\xff\xff= ");
    ck_assert_str_eq(keys_of("car", (tr_bytes){last, 1}, none, 9), "\xff\xff= ");
    close_store();
    tr__disk_free(disk);
}

TEST(destroyed_and_half_made_keys_are_not_listed, "K-12", "Z-15")
{
    disk = stores_disk(false);
    open_store();
    const tr_bytes none = {NULL, 0};
    put("k", "a", 1);
    put("k", "b", 1 | STORE_VERSION_HALF);
    put("k", "c", 1);
    put("k", "d", 1);
    ck_assert_str_eq(keys_of("k", none, none, 0), "a= c= d= ");
    destroy("k", "a", true);
    destroy("k", "c", false);
    put("k", "b", 1);
    ck_assert_str_eq(keys_of("k", none, none, 0), "b= d= ");
    close_store();
    tr__disk_free(disk);
}

/* A page of keys must cost a few reads, however large the states are. */
TEST(a_list_of_keys_reads_indexes_only, "K-12")
{
    disk = stores_disk(false);
    open_store();
    put("k", "a", 1);
    close_store();
    static struct vfs vfs;
    struct link link;
    sqlite3_stmt *statement;
    struct memory_source source = stores_source();
    ck_assert(tr__disk_take(disk));
    ck_assert_int_eq(tr__vfs_init(&vfs, &source, disk, "troupe.db", NULL), TR_OK);
    ck_assert_int_eq(tr__link_open(&link, &vfs, "troupe.db"), TR_OK);
    tr_status status = TR_OK;
    char text[1000];
    const char *sql = sqlite3_sql(tr__link_statement(&link, SQL_ACTOR_NAMES, &status));
    ck_assert_int_eq(status, TR_OK);
    (void)snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", sql);
    ck_assert_int_eq(sqlite3_prepare_v2(link.database, text, -1, &statement, NULL), SQLITE_OK);
    int searches = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(statement, 3);
        bool reads = strstr(step, "SEARCH") || strstr(step, "SCAN");
        ck_assert_msg(!reads || strstr(step, "COVERING INDEX"), "%s", step);
        ck_assert_msg(!strstr(step, "TEMP B-TREE"), "%s", step);
        searches += reads;
    }
    ck_assert_int_eq(searches, 2);
    (void)sqlite3_finalize(statement);
    tr__link_close(&link);
    tr__vfs_deinit(&vfs);
    tr__disk_give(disk);
    tr__disk_free(disk);
}

/* ---- Requests. ---- */

static void request_put(struct store_entry *entry, const char *id, uint64_t number,
                        const char *value)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_request_put(batch, stores_bytes(id), number, stores_bytes(value)),
                     TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
}

static const char *request_of(const char *key, const char *id)
{
    static char text[100];
    struct store_row row;
    tr_status status =
        tr__store_read_request(reader, "k", stores_bytes(key), stores_bytes(id), &row);
    if (status != TR_OK)
        return tr_status_name(status);
    (void)snprintf(text,
                   sizeof text,
                   "%d:%.*s",
                   (int)row.id,
                   (int)row.bytes.size,
                   (const char *)row.bytes.data);
    return text;
}

static const char *requests_of(const char *key, uint64_t from, bool is_last, size_t limit)
{
    static struct stores_text out;
    out = (struct stores_text){.rows = 0};
    ck_assert_int_eq(tr__store_list_requests(
                         reader, "k", stores_bytes(key), from, is_last, limit, stores_visit, &out),
                     TR_OK);
    return out.text;
}

TEST(requests_are_found_by_id_and_trimmed_by_number, "K-14")
{
    disk = stores_disk(false);
    open_store();
    struct store_entry *a = stores_enter(store, "k", "a");
    struct store_entry *b = stores_enter(store, "k", "b");
    request_put(a, "x", 1, "one");
    request_put(a, "y", 2, "two");
    request_put(a, "z", 3, "three");
    request_put(b, "x", 1, "other");
    ck_assert_str_eq(request_of("a", "y"), "2:two");
    ck_assert_str_eq(request_of("b", "x"), "1:other");
    ck_assert_str_eq(request_of("b", "y"), "TR_NOT_FOUND");
    request_put(a, "x", 4, "again");
    ck_assert_str_eq(request_of("a", "x"), "4:again");
    ck_assert_str_eq(requests_of("a", 0, false, 0), "y=two z=three x=again ");
    ck_assert_str_eq(requests_of("a", 3, false, 1), "z=three ");
    ck_assert_str_eq(requests_of("a", 0, true, 1), "x=again ");

    struct store_batch *batch = stores_batch(a);
    ck_assert_int_eq(tr__store_request_trim(batch, 3), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    ck_assert_str_eq(requests_of("a", 0, false, 0), "x=again ");

    batch = stores_batch(a);
    ck_assert_int_eq(tr__store_request_put(batch, (tr_bytes){NULL, 0}, 5, stores_bytes("")),
                     TR_INVALID_ARGUMENT);
    static const char large[TR_REQUEST_ID_MAX + 1];
    ck_assert_int_eq(
        tr__store_request_put(batch, (tr_bytes){large, sizeof large}, 5, stores_bytes("")),
        TR_TOO_LARGE);
    tr__store_batch_free(batch);
    tr__store_leave(a);
    tr__store_leave(b);

    /* They are there in the next process, and gone with their actor. */
    close_store();
    open_store();
    ck_assert_str_eq(request_of("a", "x"), "4:again");
    destroy("k", "a", false);
    ck_assert_str_eq(request_of("a", "x"), "TR_NOT_FOUND");
    put("k", "a", 1);
    ck_assert_str_eq(request_of("a", "x"), "TR_NOT_FOUND");
    ck_assert_str_eq(request_of("b", "x"), "1:other");
    close_store();
    tr__disk_free(disk);
}

TEST(many_requests_of_a_destroyed_actor_are_removed, "K-14", "Z-15")
{
    enum { MANY = 300 };
    disk = stores_disk(false);
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "a");
    struct store_batch *batch = stores_batch(entry);
    for (int i = 0; i < MANY; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        ck_assert_int_eq(
            tr__store_request_put(batch, stores_bytes(id), (uint64_t)i + 1, stores_bytes("v")),
            TR_OK);
    }
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
    destroy("k", "a", false);
    close_store();
    tamper(disk,
           "CREATE TABLE t (n INTEGER CHECK (n = 0)); "
           "INSERT INTO t SELECT count(*) FROM request; DROP TABLE t");
    tr__disk_free(disk);
}

TEST(a_damaged_request_is_not_trusted, "K-14")
{
    disk = stores_disk(false);
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "a");
    request_put(entry, "x", 1, "one");
    request_put(entry, "y", 2, "two");
    tr__store_leave(entry);
    close_store();
    tamper(disk, "UPDATE request SET bytes = x'00' WHERE number = 1");
    open_store();
    ck_assert_str_eq(request_of("a", "x"), "TR_STORE_CORRUPT");
    ck_assert_str_eq(request_of("a", "y"), "2:two");
    close_store();
    tr__disk_free(disk);
}

TEST(requests_are_saved_from_a_damaged_store, "K-14")
{
    struct store_salvage report;
    disk = stores_disk(false);
    open_store();
    struct store_entry *entry = stores_enter(store, "k", "a");
    request_put(entry, "x", 1, "one");
    tr__store_leave(entry);
    close_store();
    struct store_disk *copy = stores_disk(false);
    const struct store_options from = stores_options(disk);
    const struct store_options into = stores_options(copy);
    ck_assert_int_eq(tr__store_salvage(&from, &into, &report, NULL, NULL, NULL), TR_OK);
    ck_assert_uint_eq(report.copied, 1);
    tr__disk_free(disk);
    disk = copy;
    open_store();
    ck_assert_str_eq(request_of("a", "x"), "1:one");
    close_store();
    tr__disk_free(disk);
}

/* A store of a Troupe that knew neither. */
TEST(a_store_of_format_3_is_taken_over, "K-12", "K-14", "PE-20")
{
    disk = stores_disk(false);
    open_store();
    put("k", "a", 1);
    put("k", "b", 1);
    close_store();
    tamper(disk,
           "DROP TABLE request; DROP INDEX actor_half; UPDATE actor SET version = 2147483649 "
           "WHERE name = x'6b0062'; PRAGMA user_version = 3");
    open_store();
    const tr_bytes none = {NULL, 0};
    ck_assert_str_eq(keys_of("k", none, none, 0), "a= ");
    struct store_entry *entry = stores_enter(store, "k", "a");
    request_put(entry, "x", 1, "one");
    ck_assert_str_eq(request_of("a", "x"), "1:one");
    tr__store_leave(entry);
    close_store();
    tr__disk_free(disk);
}

SUITE("store keys", keys_are_listed_by_kind_prefix_and_page,
      destroyed_and_half_made_keys_are_not_listed, a_list_of_keys_reads_indexes_only,
      requests_are_found_by_id_and_trimmed_by_number,
      many_requests_of_a_destroyed_actor_are_removed, a_damaged_request_is_not_trusted,
      requests_are_saved_from_a_damaged_store, a_store_of_format_3_is_taken_over)
