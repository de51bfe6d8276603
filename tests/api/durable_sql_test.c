/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of durable actors: statements, values and rows; what is stored with a commit, and what a failure
 * takes back; whose they are, and what is refused.
 */
#include <stdlib.h>
#include <troupe/durable.h>

#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND,                                          \
    .sql_schema = TR_SQL_SCHEMA("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, "    \
                                "weight REAL, picture BLOB);",                                     \
                                "CREATE TABLE note (item INTEGER NOT NULL REFERENCES item (id), "  \
                                "text TEXT NOT NULL); CREATE INDEX note_item ON note (item)")
#include "support/things.h"

static tr_next reply(tr_self *self, int64_t value)
{
    return tr_reply(self, acted, .value = value);
}

static int64_t insert(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_sql_result result = tr_sql(self,
                                  "INSERT INTO item (name, weight) VALUES (?, ?)",
                                  tr_format(self, "item %d", (int)n),
                                  (double)n / 2);
    ck_assert_uint_eq(result.changes, 1);
    ck_assert_uint_eq(result.count, 0);
    state->value++;
    return result.id;
}

static tr_next add_item(tr_self *self, struct thing_state *state, int64_t n)
{
    return reply(self, insert(self, state, n));
}

static tr_next count_items(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    int64_t count = tr_sql_one(self, "SELECT count(*) FROM item").integer;
    ck_assert_int_eq(count, state->value); /* they are stored together, always */
    return reply(self, count);
}

static int64_t items_of(const char *key)
{
    return things_do(key, count_items, 0);
}

static void sleep_all(void)
{
    tr_kit_advance(kit, 20 * TR_SECOND);
}

/* ---- Values and rows. ---- */

static tr_next all_types(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    const unsigned char picture[] = {0, 1, 0, 255};
    uint64_t id = 7;
    bool is_one = true;
    char name[] = "with 'quotes' and \xc3\xa4";
    const tr_bytes bytes = {picture, sizeof picture};
    tr_sql(self, "INSERT INTO item VALUES (?, ?, ?, ?)", id, name, 2.5f, bytes);
    tr_sql(self,
           "INSERT INTO item VALUES (?1, ?2, ?3, NULL);",
           (int64_t)INT64_MIN,
           (const char *)NULL,
           TR_SQL_NULL);
    tr_sql(self, "INSERT INTO item VALUES (?, '', ?, ?)", is_one, 3u, TR_SQL_BYTES(NULL, 0));
    tr_sql_result all = tr_sql(self, "SELECT * FROM item ORDER BY id");
    ck_assert_uint_eq(all.count, 3);
    ck_assert_uint_eq(all.columns, 4);
    const tr_sql_value *row = all.values;
    ck_assert_int_eq(row[0].type, TR_SQL_TYPE_INTEGER);
    ck_assert(row[0].integer == INT64_MIN);
    ck_assert_int_eq(row[1].type, TR_SQL_TYPE_NULL);
    ck_assert_str_eq(row[1].text, "");
    ck_assert_int_eq(row[1].integer, 0);
    row += all.columns;
    ck_assert_int_eq(row[0].integer, 1);
    ck_assert_int_eq(row[1].type, TR_SQL_TYPE_TEXT);
    ck_assert_uint_eq(row[1].bytes.size, 0);
    ck_assert_int_eq(row[2].type, TR_SQL_TYPE_REAL); /* the column says so */
    ck_assert_int_eq(row[2].integer, 3);
    ck_assert_int_eq(row[3].type, TR_SQL_TYPE_BYTES);
    ck_assert_uint_eq(row[3].bytes.size, 0);
    row += all.columns;
    ck_assert_int_eq(row[0].integer, 7);
    ck_assert(row[0].real == 7);
    ck_assert_str_eq(row[1].text, name);
    ck_assert_uint_eq(row[1].bytes.size, strlen(name));
    ck_assert(row[2].real == 2.5);
    ck_assert_uint_eq(row[3].bytes.size, sizeof picture);
    ck_assert_mem_eq(row[3].bytes.data, picture, sizeof picture);
    int64_t sum = 0;
    TR_SQL_EACH(each, tr_sql(self, "SELECT id FROM item WHERE id > ? ORDER BY id", 0))
    {
        if (each[0].integer == 7)
            continue;
        sum += each[0].integer;
    }
    ck_assert_int_eq(tr_sql_one(self, "SELECT 1 WHERE 0").type, TR_SQL_TYPE_NULL);
    tr_sql_result gone = tr_sql(self, "DELETE FROM item WHERE id > 0 RETURNING name");
    ck_assert_uint_eq(gone.changes, 2);
    ck_assert_uint_eq(gone.count, 2);
    ck_assert_uint_eq(tr_sql(self, "SELECT * FROM item WHERE 0").count, 0);
    return reply(self, sum);
}

TEST(values_of_all_types_go_in_and_come_out, "K-03")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", all_types, 0), 1);
    things_end();
}

/* ---- Lives. ---- */

TEST(tables_are_there_again_after_sleep, "K-03", "Z-02")
{
    things_begin(2);
    for (int64_t n = 1; n <= 100; n++)
        ck_assert_int_eq(things_do("a", add_item, n), n);
    thing_ref before = things_of("a");
    tr_kit_advance(kit, 20 * TR_SECOND);
    ck_assert(!things_is_awake(before));
    ck_assert_int_eq(items_of("a"), 100);
    ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
    ck_assert_int_eq(things_do("a", add_item, 101), 101);
    things_end();
}

TEST(each_actor_has_tables_of_its_own, "K-03")
{
    things_begin(3);
    ck_assert_int_eq(things_do("a", add_item, 1), 1);
    ck_assert_int_eq(items_of("b"), 0);
    ck_assert_int_eq(things_do("b", add_item, 1), 1);
    ck_assert_int_eq(things_do("a", add_item, 2), 2);
    ck_assert_int_eq(items_of("b"), 1);
    sleep_all();
    ck_assert_int_eq(items_of("a"), 2);
    ck_assert_int_eq(items_of("b"), 1);
    things_end();
}

TEST(destroy_removes_the_tables, "K-03")
{
    things_begin(4);
    for (int64_t n = 1; n <= 20; n++)
        things_do("a", add_item, n);
    things_do("a", thing_destroy, 0);
    tr_kit_advance(kit, 20 * TR_SECOND);
    ck_assert_int_eq(items_of("a"), 0);
    ck_assert_int_eq(things_do("a", add_item, 1), 1);
    ck_assert_int_eq(things_do("b", add_item, 1), 1);
    things_do("b", thing_destroy, 0);
    tr_kit_advance(kit, 20 * TR_SECOND);
    ck_assert_int_eq(items_of("c"), 0); /* it may get the place in the store that "b" had */
    ck_assert_int_eq(items_of("a"), 1);
    things_end();
}

/* ---- Commits. ---- */

static tr_next add_and_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    insert(self, state, 1000);
    tr_sql(self, "DELETE FROM item WHERE id = 1");
    tr_sql(self, "CREATE TABLE other (x)");
    if (n == 1)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(a_commit_that_fails_changes_no_table, "K-03", "K-01")
{
    things_begin(5);
    things_do("a", add_item, 1);
    ck_assert_int_eq(things_try("a", add_and_fail, 0, NULL), TR_FAILED);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(items_of("a"), 1);
    ck_assert_int_eq(things_try("a", add_and_fail, 1, NULL), TR_FAILED);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(items_of("a"), 1);
    ck_assert_int_eq(things_do("a", add_item, 2), 2);
    things_end();
}

static tr_next add_wait_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    insert(self, state, n);
    tr_sleep(self, TR_SECOND);
    ck_assert_int_eq(tr_sql_one(self, "SELECT count(*) FROM item").integer, state->value);
    insert(self, state, n + 1);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(what_was_done_before_a_wait_is_stored, "K-03", "K-01")
{
    things_begin(6);
    ck_assert_int_eq(things_try("a", add_wait_fail, 1, NULL), TR_FAILED);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(items_of("a"), 1);
    things_end();
}

static tr_next rows_outlive_changes(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    int64_t seen = 0;
    for (int64_t i = 0; i < n; i++)
        tr_sql(self, "INSERT INTO item (id, name) VALUES (?, ?)", i, tr_format(self, "%d", (int)i));
    TR_SQL_EACH(row, tr_sql(self, "SELECT id, name FROM item ORDER BY id"))
    {
        tr_sql(self, "DELETE FROM item WHERE id = ?", row[0].integer);
        if (row[0].integer % 10 == 0)
            tr_sleep(self, TR_MILLISECOND);
        ck_assert_int_eq(row[0].integer, seen);
        ck_assert_int_eq(atoi(row[1].text), seen);
        seen++;
    }
    ck_assert_int_eq(tr_sql_one(self, "SELECT count(*) FROM item").integer, 0);
    return reply(self, seen);
}

TEST(a_loop_over_rows_may_wait_and_change_the_table, "K-03")
{
    things_begin(7);
    ck_assert_int_eq(things_do("a", rows_outlive_changes, 30), 30);
    things_end();
}

/* ---- What fails. ---- */

static tr_status last_status;
static char last_text[240];

/* A statement that fails has changed nothing, and the turn may go on. */
static tr_status try(tr_self *self, const char *text)
{
    tr_error error = {0};
    tr_sql_result result;
    last_status = tr_try_sql(self, &result, &error, text);
    snprintf(last_text, sizeof last_text, "%s", error.text);
    ck_assert_int_eq(error.status, last_status);
    return last_status;
}

#define EXPECT(status, words, text)                                                                \
    do {                                                                                           \
        ck_assert_msg(try(self, text) == (status),                                                 \
                      "%s: %s %s",                                                                 \
                      text,                                                                        \
                      tr_status_name(last_status),                                                 \
                      last_text);                                                                  \
        ck_assert_msg(strstr(last_text, words), "%s: %s", text, last_text);                        \
    } while (0)

static tr_next what_fails(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    tr_error error;
    insert(self, state, 1);
    EXPECT(TR_INVALID_ARGUMENT, "syntax error", "INSRT INTO item VALUES (1)");
    EXPECT(TR_INVALID_ARGUMENT, "no such table: nowhere", "SELECT * FROM nowhere");
    EXPECT(TR_INVALID_ARGUMENT, "no such column", "SELECT \"nowhere\" FROM item");
    EXPECT(TR_INVALID_ARGUMENT, "statement is missing", "");
    EXPECT(TR_INVALID_ARGUMENT, "statement is missing", "  -- only words\n");
    EXPECT(TR_INVALID_ARGUMENT, "one statement", "DELETE FROM item; DELETE FROM note");
    EXPECT(TR_INVALID_ARGUMENT, "0 values", "DELETE FROM item WHERE id = ?");
    ck_assert_int_eq(tr_try_sql(self, NULL, &error, "SELECT 1", 2), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_sql(self, NULL, NULL, "SELECT ?", UINT64_MAX), TR_TOO_LARGE);
    ck_assert_int_eq(tr_try_sql(self, NULL, NULL, (const char *)NULL), TR_INVALID_ARGUMENT);
    /* Of many rows none is there, though the first ones were inserted. */
    EXPECT(TR_CONSTRAINT,
           "UNIQUE constraint failed: item.name",
           "INSERT INTO item (name) VALUES ('x'), ('y'), ('item 1')");
    EXPECT(TR_CONSTRAINT, "FOREIGN KEY", "INSERT INTO note VALUES (99, 'of nothing')");
    EXPECT(TR_CONSTRAINT, "NOT NULL", "INSERT INTO note VALUES (1, NULL)");
    EXPECT(TR_CONSTRAINT, "", "INSERT OR ROLLBACK INTO item (name) VALUES ('item 1')");
    /* Far more than is kept in memory, so that pages are written before it fails. */
    EXPECT(TR_CONSTRAINT,
           "UNIQUE",
           "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000) "
           "INSERT INTO item (name, picture) "
           "SELECT CASE x WHEN 3000 THEN 'item 1' ELSE x END, zeroblob(1000) FROM c");
    ck_assert_int_eq(tr_sql_one(self, "SELECT count(*) FROM item").integer, 1);
    ck_assert_str_eq(tr_sql_one(self, "PRAGMA integrity_check").text, "ok");
    EXPECT(TR_CONSTRAINT, "mismatch", "INSERT INTO item (id) VALUES ('no number')");
    EXPECT(
        TR_OVER_BUDGET,
        "steps",
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c");
    EXPECT(TR_OVER_BUDGET,
           "steps",
           "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
           "INSERT INTO item (id) SELECT x + 100 FROM c WHERE x < 10");
    EXPECT(TR_TOO_LARGE, "", "SELECT zeroblob(5000000)");
    EXPECT(TR_TOO_LARGE,
           "result",
           "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50) "
           "SELECT zeroblob(1000000) FROM c");
    EXPECT(TR_TOO_LARGE,
           "result",
           "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50) "
           "INSERT INTO item (picture) SELECT zeroblob(1000) FROM c "
           "RETURNING zeroblob(1000000)");
    return count_items(self, state, 0);
}

TEST(a_statement_that_fails_says_why_and_changes_nothing, "K-03")
{
    things_begin(8);
    ck_assert_int_eq(things_do("a", what_fails, 0), 1);
    sleep_all();
    ck_assert_int_eq(items_of("a"), 1);
    things_end();
}

static tr_next what_is_refused(tr_self *self, struct thing_state *state, int64_t n)
{
    static const char *const texts[] = {
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT s",
        "ATTACH 'other.db' AS other",
        "ATTACH 'file:actor?engine=1' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 0",
        "PRAGMA user_version",
        "PRAGMA writable_schema = 1",
        "PRAGMA max_page_count = 1000000",
        "CREATE TEMP TABLE t (x)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE t USING fts5 (x)",
        "SELECT load_extension('x.so')",
    };
    (void)n;
    insert(self, state, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        EXPECT(TR_NOT_SUPPORTED, "not allowed in the tables of an actor", texts[i]);
    ck_assert_int_eq(try(self, "UPDATE sqlite_schema SET sql = ''"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try(self, "DELETE FROM sqlite_schema"), TR_INVALID_ARGUMENT);
    /* The runtime's own are not there. */
    ck_assert_int_eq(try(self, "SELECT * FROM actor"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(try(self, "SELECT * FROM page"), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_sql(self, "PRAGMA table_info (item)").count, 4);
    ck_assert_str_eq(tr_sql_one(self, "PRAGMA integrity_check").text, "ok");
    return count_items(self, state, 0);
}

TEST(what_is_not_an_actors_business_is_refused, "K-03")
{
    things_begin(9);
    ck_assert_int_eq(things_do("a", what_is_refused, 0), 1);
    things_end();
}

static tr_next fill_up(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    tr_status status = TR_OK;
    int64_t count = 0;
    while (status == TR_OK) {
        status = tr_try_sql(self,
                            NULL,
                            NULL,
                            "INSERT INTO item (id, picture) VALUES (?, zeroblob(4000000))",
                            count);
        count += status == TR_OK;
    }
    ck_assert_int_eq(status, TR_LIMIT);
    state->value = count;
    return count_items(self, state, 0);
}

TEST(tables_have_a_limit, "K-03")
{
    things_begin(10);
    int64_t count = things_do("a", fill_up, 0);
    ck_assert_int_ge(count, 15);
    ck_assert_int_le(count, 17);
    ck_assert_int_eq(items_of("a"), count);
    sleep_all();
    ck_assert_int_eq(items_of("a"), count);
    things_end();
}

static tr_next many_rows(tr_self *self, struct thing_state *state, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        tr_sql(self,
               "INSERT INTO item (name, weight) VALUES (?, ?)",
               tr_format(self, "item %d of very many", (int)state->value),
               state->value);
        state->value++;
    }
    return count_items(self, state, 0);
}

static tr_next find_one(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_sql(self,
           "UPDATE item SET weight = weight + 1 WHERE name = ?",
           tr_format(self, "item %d of very many", (int)n));
    return reply(self, tr_sql_one(self, "SELECT weight FROM item WHERE id = ?", n + 1).integer);
}

TEST(a_large_table_is_read_where_it_is_touched, "K-03")
{
    things_begin(11);
    enum { ROWS = 20000 };
    ck_assert_int_eq(things_do("a", many_rows, ROWS), ROWS);
    for (int64_t n = 0; n < ROWS; n += ROWS / 7) {
        sleep_all();
        ck_assert_int_eq(things_do("a", find_one, n), n + 1);
    }
    sleep_all();
    ck_assert_int_eq(items_of("a"), ROWS);
    things_end();
}

static tr_next deep(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    /* Far more stack than a handler has. */
    char *text = tr_scratch(self, 20000);
    size_t length = (size_t)snprintf(text, 20000, "SELECT 1");
    for (int64_t i = 0; i < n; i++)
        length += (size_t)snprintf(text + length, 20000 - length, " + %d", (int)i);
    tr_sql_result result;
    tr_status status = tr_try_sql(self, &result, NULL, text);
    return reply(self, status == TR_OK ? result.values[0].integer : status);
}

TEST(a_deep_expression_has_a_stack_of_its_own, "K-03")
{
    things_begin(12);
    ck_assert_int_eq(things_do("a", deep, 190), 1 + 190 * 189 / 2);
    ck_assert_int_eq(things_do("a", deep, 1500), TR_INVALID_ARGUMENT);
    things_end();
}

static tr_next outside(tr_self *self)
{
    ck_assert_int_eq(tr_try_sql(self, NULL, NULL, "SELECT 1"), TR_NOT_SUPPORTED);
    return TR_SAME;
}

TR_MESSAGE(poke);
TR_ACTOR(plain, poke);
TR_BEHAVIOR(plain, void, TR_ON(poke, outside));

TEST(an_ordinary_actor_has_no_tables, "K-03")
{
    things_begin(13);
    plain_ref ref;
    ck_assert_int_eq(tr_try_spawn(test, &ref, plain, "plain"), TR_OK);
    tr_tell(test, ref, poke);
    tr_kit_settle(kit);
    things_end();
}

SUITE("SQL of durable actors", values_of_all_types_go_in_and_come_out,
      tables_are_there_again_after_sleep, each_actor_has_tables_of_its_own,
      destroy_removes_the_tables, a_commit_that_fails_changes_no_table,
      what_was_done_before_a_wait_is_stored, a_loop_over_rows_may_wait_and_change_the_table,
      a_statement_that_fails_says_why_and_changes_nothing,
      what_is_not_an_actors_business_is_refused, tables_have_a_limit,
      a_large_table_is_read_where_it_is_touched, a_deep_expression_has_a_stack_of_its_own,
      an_ordinary_actor_has_no_tables)
