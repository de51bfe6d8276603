/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SQL: a durable actor may have tables of its own.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_REQUEST(post, tr_done, (str, account), (i64, cents));
 * TR_ACTOR(ledger, post);
 * TR_MESSAGE(ledger_state, (u64, posts));
 *
 * static tr_next on_post(tr_self *self, struct ledger_state *ledger, const struct post *message)
 * {
 *     ledger->posts++; // stored together with the row
 *     tr_sql(self, "INSERT INTO entry (account, cents) VALUES (?, ?)", message->account,
 *            message->cents);
 *     TR_SQL_EACH (row, tr_sql(self, "SELECT account, sum(cents) FROM entry GROUP BY account"))
 *         tr_log_info(self, "%s: %lld", row[0].text, (long long)row[1].integer);
 *     return tr_reply(self, tr_done);
 * }
 *
 * TR_BEHAVIOR(ledger, struct ledger_state, TR_ON(post, on_post));
 * TR_DURABLE(ledger, ledger_state, .sql_schema = TR_SQL_SCHEMA(
 *     "CREATE TABLE entry (id INTEGER PRIMARY KEY, account TEXT, cents INTEGER)"));
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     ledger_ref ledger = tr_durable(self, ledger, "2026");
 *     tr_await(self, tr_ask(self, ledger, post, .account = "alice", .cents = 5));
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, bank, .durable = TR_DURABLES(ledger));
 * }
 * ```
 *
 * The tables belong to one durable actor, a kind and a key. No other actor can reach them. What a
 * stretch changes in the tables is stored with the commit of the stretch, as the state is
 * (durable.h). There is nothing to open, close or free, because rows are memory of the turn. A
 * result is complete when the call returns, so a loop over a result may wait, and may change the
 * tables.
 *
 * The language is the SQL of SQLite, with foreign keys enforced. Not allowed are BEGIN, COMMIT,
 * SAVEPOINT, ATTACH, VACUUM, temporary and virtual tables, and every PRAGMA except those that only
 * describe tables.
 *
 * The schema is a list of steps, each with one statement or several. The first call of this header
 * after a start runs the steps that have not run yet on the actor's tables, in order, all or none.
 * Which steps have run is stored with the tables. So never change a step: add a new one. If more
 * steps have run on the tables than the code has, the status is TR_STALE.
 *
 * An actor that uses no SQL pays nothing for it. A statement that takes more than sql_steps_max
 * ends with TR_OVER_BUDGET.
 */
#ifndef TROUPE_SQL_H
#define TROUPE_SQL_H

#include <troupe/self.h>

/** The type of a value. */
typedef enum tr_sql_type {
    TR_SQL_TYPE_NULL,
    TR_SQL_TYPE_INTEGER,
    TR_SQL_TYPE_REAL,
    TR_SQL_TYPE_TEXT,
    TR_SQL_TYPE_BYTES,
    TR_SQL_TYPE_TOO_LARGE, /* an unsigned number above the largest integer of SQL */
} tr_sql_type;

/**
 * A value of a row, or for a statement. Every member can be read, whatever the type. For a number
 * both `integer` and `real` are set; for other types they are 0. For a text both `text` and `bytes`
 * are set. For bytes only `bytes` is set. For other types both are empty.
 */
typedef struct tr_sql_value {
    tr_sql_type type;
    int64_t integer;
    double real;
    const char *text;
    tr_bytes bytes;
} tr_sql_value;

/** The result of a statement, in memory of the turn. */
typedef struct tr_sql_result {
    const tr_sql_value *values; /* row after row */
    size_t count;               /* rows */
    size_t columns;             /* values of a row */
    uint64_t changes;           /* rows that the statement has inserted, changed or deleted */
    int64_t id; /* id of the row that was inserted last since the actor woke; 0: none */
} tr_sql_result;

/**
 * Runs one statement: tr_sql(self, "... ? ...", values...). Returns a tr_sql_result.
 * In a turn. May wait: if data must be read from the disk. The reading and the statement itself
 * block the worker's thread.
 *
 * There is a value for each `?`, at most TR_SQL_VALUES_MAX: a number, a bool, a string (a NULL
 * pointer is the NULL of SQL), a tr_bytes or a tr_sql_value. If tr_try_sql would return an error,
 * ends the turn instead.
 */
#define tr_sql(self, ...) TR_SQL_CALL_(sql, self, __VA_ARGS__)
/**
 * Runs a statement as tr_sql does, and returns the first value of the first row; NULL if there is
 * no row.
 * In a turn. May wait: as tr_sql does.
 */
#define tr_sql_one(self, ...) TR_SQL_CALL_(sql_one, self, __VA_ARGS__)
/**
 * Runs a statement as tr_sql does, and writes *result on TR_OK only: tr_try_sql(self, &result,
 * &error, "...", values...). In a turn. May wait: as tr_sql does.
 *
 * `result` and `error` may be NULL. On failure *error has the text of SQLite, and nothing has
 * changed.
 *
 * TR_OK. TR_CONSTRAINT: a constraint of a table does not hold. TR_INVALID_ARGUMENT: the text is no
 * SQL, names something that does not exist, has more than one statement, or needs another number of
 * values. TR_NOT_SUPPORTED: the statement is not allowed, see above. TR_TOO_LARGE: TR_SQL_TEXT_MAX,
 * TR_SQL_VALUE_MAX, TR_SQL_RESULT_MAX. TR_LIMIT: TR_SQL_BYTES_MAX. TR_OVER_BUDGET: sql_steps_max.
 * TR_STALE: the tables are newer than the code. Also returns TR_NO_MEMORY, TR_STORE_CORRUPT or
 * TR_STORE_FAILED.
 */
#define tr_try_sql(self, result, error, ...) TR_SQL_TRY_(self, result, error, __VA_ARGS__)

/**
 * Loops over the rows of a result: TR_SQL_EACH (row, result) { ... } with `row`, a `const
 * tr_sql_value *`.
 * In a turn. Does not wait.
 */
#define TR_SQL_EACH(row, result) TR_SQL_EACH_(row, result)

/**
 * The steps of a schema: .sql_schema = TR_SQL_SCHEMA("CREATE TABLE ...", "ALTER TABLE ..."). At
 * file scope.
 */
#define TR_SQL_SCHEMA(...) TR_SQL_SCHEMA_(__VA_ARGS__)

/** The NULL of SQL, as a value for a statement. */
#define TR_SQL_NULL tr_sql_null_()
/** Bytes, borrowed for the call, as a value for a statement. Any thread. Does not wait. */
#define TR_SQL_BYTES(data, size) tr_sql_bytes_(TR_VALUE(tr_bytes, data, size))

TR_BEGIN_C
/**
 * These are the functions of the macros above. The first value is the text of the statement. In a
 * turn. May wait: as tr_sql does.
 */
tr_sql_result tr_self_sql(tr_self *self, const tr_sql_value *values, size_t count);
tr_sql_value tr_self_sql_one(tr_self *self, const tr_sql_value *values, size_t count);
TR_MUST_CHECK tr_status tr_self_try_sql(tr_self *self, tr_sql_result *result, tr_error *error,
                                        const tr_sql_value *values, size_t count);
TR_END_C

#include <troupe/detail/sql.h>

#endif
