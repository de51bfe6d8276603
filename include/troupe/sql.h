/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SQL: a durable actor may have tables of its own.
 *
 *     TR_DURABLE(ledger, ledger_state,
 *                .sql_schema = TR_SQL_SCHEMA("CREATE TABLE entry (id INTEGER PRIMARY KEY, account TEXT, cents INTEGER)",
 *                                            "CREATE INDEX entry_account ON entry (account)"));
 *
 *     tr_sql(self, "INSERT INTO entry (account, cents) VALUES (?, ?)", message->account, message->cents);
 *     TR_SQL_EACH (row, tr_sql(self, "SELECT account, sum(cents) FROM entry GROUP BY account"))
 *         printf("%s %lld\n", row[0].text, (long long)row[1].integer);
 *     int64_t sum = tr_sql_one(self, "SELECT sum(cents) FROM entry WHERE account = ?", name).integer;
 *
 * The tables are those of this actor, a kind and a key; no other has any way to them. What a stretch changes in
 * them is stored with its state, keys, alarms and queues: all of it, or nothing (troupe/durable.h). There is
 * nothing to open, close or free: rows are memory of the turn, and a result is complete when it is there, so
 * that a loop over it may wait, and may change the tables.
 *
 * The language is that of SQLite, with foreign keys enforced, but for what is not an actor's business: BEGIN,
 * COMMIT, SAVEPOINT, ATTACH, VACUUM, temporary and virtual tables, and PRAGMA other than those that describe tables.
 *
 * The schema is a list of steps, each one statement or several. Those that the actor's tables have not seen
 * are done in order, all or none, by the first of these verbs in a waking life; which they were is stored with
 * them. So never change a step, add one. Tables that have seen more steps than the code has: TR_STALE.
 *
 * An actor that uses none of this pays nothing for it. Statements run while the worker waits, on a stack of their
 * own; one that takes more than sql_steps_max ends with TR_OVER_BUDGET. In a handler of a durable actor only.
 */
#ifndef TROUPE_SQL_H
#define TROUPE_SQL_H

#include <troupe/self.h>

/** What a value is. */
typedef enum tr_sql_type {
    TR_SQL_TYPE_NULL,
    TR_SQL_TYPE_INTEGER,
    TR_SQL_TYPE_REAL,
    TR_SQL_TYPE_TEXT,
    TR_SQL_TYPE_BYTES,
    TR_SQL_TYPE_TOO_LARGE, /* an unsigned number that SQL's integers do not hold */
} tr_sql_type;

/**
 * A value of a row, or for a statement. Every member can be read, whatever it is: of a number both `integer`
 * and `real`, of the others 0; of a text `text` and `bytes`, of bytes `bytes`, of the others "" and none.
 */
typedef struct tr_sql_value {
    tr_sql_type type;
    int64_t integer;
    double real;
    const char *text;
    tr_bytes bytes;
} tr_sql_value;

/** What a statement gave; memory of the turn. */
typedef struct tr_sql_result {
    const tr_sql_value *values; /* row after row */
    size_t count;               /* rows */
    size_t columns;             /* values of a row */
    uint64_t changes;           /* rows that it has inserted, changed or deleted */
    int64_t
        id; /* of the row that was inserted last, by whichever statement of this life; 0: none */
} tr_sql_result;

/**
 * Runs one statement: tr_sql(self, "... ? ...", values...). A value for each `?`, at most TR_SQL_VALUES_MAX: a number,
 * a bool, a string (NULL is NULL), a tr_bytes, a tr_sql_value. Gives a tr_sql_result.
 *
 * Ends the turn where tr_try_sql would give an error.
 */
#define tr_sql(self, ...) TR_SQL_CALL_(sql, self, __VA_ARGS__)
/** The first value of the first row; NULL if there is no row. As tr_sql. */
#define tr_sql_one(self, ...) TR_SQL_CALL_(sql_one, self, __VA_ARGS__)
/**
 * As tr_sql, into *result, written on TR_OK only: tr_try_sql(self, &result, &error, "...", values...). Both may be
 * NULL. `error` gets the words of SQLite. One that fails has changed nothing.
 *
 * TR_CONSTRAINT: a constraint of a table does not hold. TR_INVALID_ARGUMENT: it is no SQL, names what is not
 * there, is more than one statement, or has another number of values. TR_NOT_SUPPORTED: not for actors, see
 * above. TR_TOO_LARGE: TR_SQL_TEXT_MAX, TR_SQL_VALUE_MAX, TR_SQL_RESULT_MAX. TR_LIMIT: TR_SQL_BYTES_MAX.
 * TR_OVER_BUDGET: sql_steps_max. TR_STALE: the tables are newer than the code. TR_NO_MEMORY, TR_STORE_CORRUPT,
 * TR_STORE_FAILED.
 */
#define tr_try_sql(self, result, error, ...) TR_SQL_TRY_(self, result, error, __VA_ARGS__)

/** For each row of a result, a `const tr_sql_value *` to its values: TR_SQL_EACH (row, result) { ... } */
#define TR_SQL_EACH(row, result) TR_SQL_EACH_(row, result)

/** The steps of a schema: .sql_schema = TR_SQL_SCHEMA("CREATE TABLE ...", "ALTER TABLE ..."). */
#define TR_SQL_SCHEMA(...) TR_SQL_SCHEMA_(__VA_ARGS__)

/** As values for a statement: NULL; bytes, which live as long as the call. */
#define TR_SQL_NULL tr_sql_null_()
#define TR_SQL_BYTES(data, size) tr_sql_bytes_(TR_VALUE(tr_bytes, data, size))

TR_BEGIN_C
/* What the macros above call; the first of the values is the text of the statement. */
tr_sql_result tr_self_sql(tr_self *self, const tr_sql_value *values, size_t count);
tr_sql_value tr_self_sql_one(tr_self *self, const tr_sql_value *values, size_t count);
TR_MUST_CHECK tr_status tr_self_try_sql(tr_self *self, tr_sql_result *result, tr_error *error,
                                        const tr_sql_value *values, size_t count);
TR_END_C

#include <troupe/detail/sql.h>

#endif
