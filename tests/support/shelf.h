/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor's own tables in a store, and what must be true of them whatever happened: for tests of faults.
 *
 * Round n of the actor inserts, changes and deletes rows so that all of its tables say n, and puts a state of version n
 * into the same batch. So after any end both say the same number, and the tables are sound.
 */
#ifndef TROUPE_TESTS_SUPPORT_SHELF_H
#define TROUPE_TESTS_SUPPORT_SHELF_H

#include "store/sql.h"
#include "support/stores.h"

struct shelf {
    struct store *store;
    struct store_reader *reader;
    struct store_entry *entry;
    struct store_sql *sql;
    uint64_t round;        /* submitted last */
    uint64_t acknowledged; /* on disk for certain */
    uint64_t commit;
};

static const char *const shelf_schema[] = {
    "CREATE TABLE round (n INTEGER NOT NULL)",
    "CREATE TABLE book (id INTEGER PRIMARY KEY, round INTEGER NOT NULL, text TEXT NOT NULL); "
    "CREATE INDEX book_round ON book (round); INSERT INTO round VALUES (0)",
    NULL,
};

static inline tr_status shelf_number(void *context, const tr_sql_value *values, size_t count)
{
    ck_assert_uint_ge(count, 1);
    *(tr_sql_value *)context = values[0];
    if (values[0].type == TR_SQL_TYPE_TEXT)
        ((tr_sql_value *)context)->integer = strcmp(values[0].text, "ok") == 0;
    return TR_OK;
}

/** The first value of the last row in *number, which may be NULL. */
static inline tr_status shelf_run(struct shelf *shelf, const char *text, int64_t n, int64_t *number)
{
    tr_sql_value first = TR_SQL_NULL;
    const tr_sql_value values[] = {tr_sql_integer_(n)};
    struct store_sql_call call = {.text = text,
                                  .values = values,
                                  .count = strchr(text, '?') ? 1 : 0,
                                  .visit = shelf_number,
                                  .context = &first};
    tr_status status = tr__store_sql_run(shelf->sql, shelf->reader, &call);
    if (number)
        *number = first.integer;
    if (status != TR_OK)
        ck_assert_str_ne(call.error, "");
    return status;
}

/** TR_NO_MEMORY: nothing of it is there. */
static inline tr_status shelf_open(struct shelf *shelf, struct store *store)
{
    const struct store_sql_options options = {.schema = shelf_schema, .steps_max = 1000000};
    *shelf =
        (struct shelf){.store = store, .round = shelf->round, .acknowledged = shelf->acknowledged};
    tr_bytes key = stores_bytes("shelf");
    tr_status status = tr__store_reader_new(store, &shelf->reader);
    if (status == TR_OK)
        status = tr__store_enter(store, "s", key, NULL, NULL, &shelf->entry);
    if (status == TR_OK)
        status = tr__store_sql_new(store, "s", key, &options, &shelf->sql);
    return status;
}

static inline void shelf_close(struct shelf *shelf)
{
    tr__store_sql_free(shelf->sql);
    tr__store_reader_free(shelf->reader);
    if (shelf->entry)
        tr__store_leave(shelf->entry);
    shelf->sql = NULL;
    shelf->reader = NULL;
    shelf->entry = NULL;
}

/** What a round does to the tables. */
static inline tr_status shelf_write(struct shelf *shelf, uint64_t round)
{
    int64_t n = (int64_t)round;
    tr_status status = shelf_run(shelf, "UPDATE round SET n = ?", n, NULL);
    if (status == TR_OK)
        status = shelf_run(shelf, "DELETE FROM book WHERE round < ?1 AND id % 2 = ?1 % 2", n, NULL);
    if (status == TR_OK)
        status = shelf_run(shelf, "UPDATE book SET round = ?", n, NULL);
    if (status == TR_OK)
        status = shelf_run(shelf,
                           "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c "
                           "WHERE x < 20) INSERT INTO book (round, text) "
                           "SELECT ?, hex(zeroblob(x * 30)) FROM c",
                           n,
                           NULL);
    return status;
}

/** A round, as a commit is stored. Not TR_OK: it was not acknowledged. */
static inline tr_status shelf_round(struct shelf *shelf)
{
    struct store_batch *batch = NULL;
    uint64_t round = shelf->round + 1;
    tr_status outcome = (tr_status)STORES_WAITING;
    tr_status status = shelf_write(shelf, round);
    if (status == TR_OK)
        status = tr__store_batch_new(shelf->entry, &batch);
    if (status == TR_OK)
        status = tr__store_put_state(batch, (uint32_t)round, stores_bytes("state"));
    if (status == TR_OK)
        status = tr__pages_put(&shelf->sql->pages, batch);
    if (status == TR_OK)
        status = tr__store_submit(batch, stores_on_done, &outcome);
    if (status != TR_OK) {
        tr__store_batch_free(batch);
        tr__store_sql_undo(shelf->sql);
        return status;
    }
    shelf->round = round;
    tr__pages_submitted(&shelf->sql->pages, ++shelf->commit);
    int64_t seen = 0;
    if (shelf_run(shelf, "SELECT n FROM round", 0, &seen) == TR_OK)
        ck_assert_int_eq(seen, (int64_t)round); /* though it is not on disk */
    while (tr__store_work(shelf->store))
        continue;
    if (outcome == TR_OK) {
        tr__pages_stored(&shelf->sql->pages, shelf->commit);
        shelf->acknowledged = round;
    }
    return outcome;
}

/** The round that is on disk: the state and all of the tables say the same. */
static inline uint64_t shelf_read(struct store *store)
{
    struct shelf shelf = {0};
    struct store_state state;
    int64_t round = 0;
    int64_t other = 0;
    ck_assert_int_eq(shelf_open(&shelf, store), TR_OK);
    tr_status status = tr__store_read_state(shelf.reader, "s", stores_bytes("shelf"), &state);
    ck_assert(status == TR_OK || status == TR_NOT_FOUND);
    uint32_t version = status == TR_OK ? state.version : 0;
    ck_assert_int_eq(shelf_run(&shelf, "PRAGMA integrity_check", 0, &other), TR_OK);
    ck_assert_int_eq(other, 1);
    ck_assert_int_eq(shelf_run(&shelf, "SELECT n FROM round", 0, &round), TR_OK);
    ck_assert_int_eq(shelf_run(&shelf, "SELECT count(*) FROM book WHERE round <> ?", round, &other),
                     TR_OK);
    ck_assert_int_eq(other, 0);
    ck_assert_int_eq((int64_t)version, round);
    shelf_close(&shelf);
    return (uint64_t)round;
}

#endif
