/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SQL of durable actors whose tables change under prepared statements, and statements that are deep.
 */
#include <stdlib.h>
#include <troupe/durable.h>

#define THINGS_OPTIONS .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND
#include "support/things.h"

static size_t columns_of(tr_self *self)
{
    return tr_sql(self, "SELECT * FROM t").columns;
}

static tr_next add_and_drop_columns(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state, (void)n;
    tr_sql(self, "CREATE TABLE t (a)");
    tr_sql(self, "INSERT INTO t VALUES (1)");
    ck_assert_uint_eq(columns_of(self), 1);
    tr_sql(self, "ALTER TABLE t ADD COLUMN b DEFAULT 5");
    ck_assert_uint_eq(columns_of(self), 2);
    TR_SQL_EACH(row, tr_sql(self, "SELECT * FROM t"))
    ck_assert_int_eq(row[1].integer, 5);
    tr_sql(self, "ALTER TABLE t DROP COLUMN b");
    ck_assert_uint_eq(columns_of(self), 1);
    return tr_reply(self, acted, .value = 0);
}

TEST(a_statement_that_was_prepared_sees_columns_come_and_go, "K-03")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", add_and_drop_columns, 0), 0);
    things_end();
}

static tr_next match_deeply(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    size_t count = (size_t)n;
    char *pattern = tr_scratch(self, 2 * count + 1);
    char *text = tr_scratch(self, count + 1);
    for (size_t i = 0; i < count; i++) {
        pattern[2 * i] = '%';
        pattern[2 * i + 1] = 'a';
        text[i] = 'a';
    }
    pattern[2 * count] = 0;
    text[count] = 0;
    tr_sql_result result;
    tr_error error;
    tr_status status = tr_try_sql(
        self, &result, &error, "SELECT ? LIKE ?", (const char *)text, (const char *)pattern);
    return tr_reply(self, acted, .value = status);
}

TEST(a_pattern_that_is_too_deep_is_refused, "K-03")
{
    things_begin(1);
    ck_assert_int_eq(things_do("a", match_deeply, 100), TR_OK);
    ck_assert_int_eq(things_do("a", match_deeply, 24000), TR_INVALID_ARGUMENT);
    things_end();
}

/* Each view stands on the one before: SQLite goes down all of them on one stack. */
static tr_next stack_views(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_sql_result result;
    tr_error error;
    tr_status status = TR_OK;
    tr_sql(self, "CREATE TABLE v0 (a)");
    for (int i = 1; i <= (int)n && status == TR_OK; i++) {
        const char *text =
            tr_format(self, "CREATE VIEW v%d AS SELECT max(a) AS a FROM v%d GROUP BY a", i, i - 1);
        status = tr_try_sql(self, &result, &error, text);
    }
    if (status == TR_OK)
        status = tr_try_sql(
            self, &result, &error, (const char *)tr_format(self, "SELECT * FROM v%d", (int)n));
    return tr_reply(self, acted, .value = status);
}

TEST(a_thousand_views_on_each_other_have_a_stack, "K-03")
{
    things_begin(1);
    int64_t status = things_do("a", stack_views, TEST_HAS_SANITIZER ? 300 : 1000);
    ck_assert(status == TR_OK || status == TR_INVALID_ARGUMENT || status == TR_OVER_BUDGET);
    things_end();
}

SUITE("SQL of tables that change", a_statement_that_was_prepared_sees_columns_come_and_go,
      a_pattern_that_is_too_deep_is_refused, a_thousand_views_on_each_other_have_a_stack)
