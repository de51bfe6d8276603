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
#define TR_SQL_EACH(row, result)                                                                   \
    for (tr_sql_result tr_rows_of_##row = (result); tr_rows_of_##row.count;                        \
         tr_rows_of_##row.count = 0)                                                               \
        for (const tr_sql_value *                                                                  \
                 row = tr_rows_of_##row.values,                                                    \
                *tr_end_of_##row = row + tr_rows_of_##row.count * tr_rows_of_##row.columns;        \
             row < tr_end_of_##row;                                                                \
             row += tr_rows_of_##row.columns)

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

/* ---- From here on: how the macros above work. ---- */
/* clang-format off */

TR_INLINE tr_sql_value tr_sql_null_(void)
{
    return TR_VALUE(tr_sql_value, TR_SQL_TYPE_NULL, 0, 0, "", TR_VALUE(tr_bytes, 0, 0));
}
TR_INLINE tr_sql_value tr_sql_integer_(int64_t integer)
{
    tr_sql_value value = tr_sql_null_();
    value.type = TR_SQL_TYPE_INTEGER;
    value.integer = integer;
    value.real = (double)integer;
    return value;
}
TR_INLINE tr_sql_value tr_sql_unsigned_(uint64_t number)
{
    tr_sql_value value = tr_sql_integer_((int64_t)number);
    if (number > (uint64_t)INT64_MAX)
        value.type = TR_SQL_TYPE_TOO_LARGE;
    return value;
}
TR_INLINE tr_sql_value tr_sql_real_(double real)
{
    tr_sql_value value = tr_sql_null_();
    value.type = TR_SQL_TYPE_REAL;
    value.real = real;
    return value;
}
TR_INLINE tr_sql_value tr_sql_text_(const char *text)
{
    tr_sql_value value = tr_sql_null_();
    if (!text)
        return value;
    value.type = TR_SQL_TYPE_TEXT;
    value.text = text;
    value.bytes = TR_VALUE(tr_bytes, text, __builtin_strlen(text));
    return value;
}
TR_INLINE tr_sql_value tr_sql_bytes_(tr_bytes bytes)
{
    tr_sql_value value = tr_sql_null_();
    value.type = TR_SQL_TYPE_BYTES;
    value.bytes = bytes;
    return value;
}
TR_INLINE tr_sql_value tr_sql_value_(tr_sql_value value)
{
    return value;
}

#ifdef __cplusplus
#include <troupe/detail/sql_cxx.h>
#else
#define TR_SQL_VALUE_(c, x) \
    _Generic((x), \
        _Bool: tr_sql_integer_, char: tr_sql_integer_, signed char: tr_sql_integer_, \
        unsigned char: tr_sql_integer_, short: tr_sql_integer_, unsigned short: tr_sql_integer_, \
        int: tr_sql_integer_, unsigned: tr_sql_integer_, long: tr_sql_integer_, \
        long long: tr_sql_integer_, unsigned long: tr_sql_unsigned_, \
        unsigned long long: tr_sql_unsigned_, float: tr_sql_real_, double: tr_sql_real_, \
        char *: tr_sql_text_, const char *: tr_sql_text_, tr_bytes: tr_sql_bytes_, \
        tr_sql_value: tr_sql_value_)(x),
#define TR_SQL_VALUES_(...) \
    (const tr_sql_value[]){ TR_PP_EACH(TR_SQL_VALUE_, ~, __VA_ARGS__) }, TR_PP_COUNT(__VA_ARGS__)
#define TR_SQL_CALL_(verb, self, ...) tr_self_##verb(self, TR_SQL_VALUES_(__VA_ARGS__))
#define TR_SQL_TRY_(self, result, error, ...) \
    tr_self_try_sql(self, result, error, TR_SQL_VALUES_(__VA_ARGS__))
#define TR_SQL_SCHEMA_(...) ((const char *const[]){ __VA_ARGS__, NULL })
#endif

#endif
