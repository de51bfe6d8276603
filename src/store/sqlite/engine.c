/* SPDX-License-Identifier: Apache-2.0 */
/** Runs statements in an actor's own database: see engine.h. */
#include "store/sqlite/engine.h"

#include "store/sqlite/engine_rules.h"
#include "store/sqlite/view_page.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- Errors. ---- */

__attribute__((__format__(__printf__, 3, 4))) static tr_status engine_refuse(
    struct store_sql_call *call, tr_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(call->error, sizeof call->error, format, arguments);
    va_end(arguments);
    return status;
}

/* Fails the call. Takes the error text of SQLite, unless the runtime has a better one. */
static tr_status engine_refuse_by(struct sql_engine *engine, struct store_sql_call *call,
                                  int result)
{
    tr_status status = tr__engine_status(engine, result);
    if (status == TR_NOT_SUPPORTED && engine->refused)
        return engine_refuse(
            call, status, "not allowed in the tables of an actor: %s", engine->refused);
    if (status == TR_STORE_BUSY)
        return engine_refuse(
            call,
            status,
            "the log of the store is full, and commits go before this statement: try again");
    if (status == TR_OVER_BUDGET && engine->is_late)
        return engine_refuse(call,
                             status,
                             "the statement takes longer than %d ms",
                             (int)(engine->sql->options.time_max_ns / TR_MILLISECOND));
    if (status == TR_OVER_BUDGET)
        return engine_refuse(call,
                             status,
                             "the statement exceeds its limit of %llu steps",
                             (unsigned long long)engine->sql->options.steps_max);
    if (status == TR_LIMIT)
        return engine_refuse(
            call, status, "the tables exceed the limit of %u bytes", TR_SQL_BYTES_MAX);
    return engine_refuse(call, status, "%s", sqlite3_errmsg(engine->database));
}

/* ---- Opening and closing. ---- */

static tr_time engine_now(const struct sql_engine *engine)
{
    const tr_platform *platform = engine->sql->pages.source.platform;
    return platform->mono_now(platform);
}

/* Returns after how many steps the limits are checked again. */
static int steps_at(const struct sql_engine *engine)
{
    return engine->sql->options.time_max_ns ? ENGINE_STEPS_TIMED : ENGINE_STEPS_AT;
}

static int on_steps(void *context)
{
    struct sql_engine *engine = context;
    tr_time time_max_ns = engine->sql->options.time_max_ns;
    engine->steps += (uint64_t)steps_at(engine);
    if (engine_must_end(engine)) {
        engine->io = TR_STORE_BUSY;
        return true;
    }
    engine->is_late = time_max_ns && engine_now(engine) - engine->begun_ns > time_max_ns;
    return engine->is_late || engine->steps > engine->sql->options.steps_max;
}

void tr__engine_close(struct store_sql *sql)
{
    struct sql_engine *engine = sql->engine;
    if (!engine)
        return;
    for (size_t i = 0; i < TR_SQL_PREPARED_MAX; i++)
        (void)sqlite3_finalize(engine->prepared[i]);
    int result = sqlite3_close(engine->database);
    TR_ASSERT(result == SQLITE_OK);
    tr__pages_unstage(&sql->pages);
    sql->engine = NULL;
    sql->bytes = 0;
    source_resize(&sql->pages.source, engine, 0);
}

static void set_limits(sqlite3 *database)
{
    static const struct {
        int which;
        int value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, TR_SQL_VALUE_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, TR_SQL_TEXT_MAX},
        {SQLITE_LIMIT_COLUMN, TR_SQL_COLUMNS_MAX},
        {SQLITE_LIMIT_VARIABLE_NUMBER, TR_SQL_VALUES_MAX},
        {SQLITE_LIMIT_EXPR_DEPTH, ENGINE_EXPRESSION_DEPTH},
        {SQLITE_LIMIT_COMPOUND_SELECT, ENGINE_COMPOUND_SELECT},
        {SQLITE_LIMIT_TRIGGER_DEPTH, ENGINE_TRIGGER_DEPTH},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, ENGINE_PATTERN_LENGTH},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        (void)sqlite3_limit(database, limits[i].which, limits[i].value);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

/* Runs an SQL text of the runtime. */
static int engine_execute(struct sql_engine *engine, const char *text)
{
    engine->is_own = true;
    int result = sqlite3_exec(engine->database, text, NULL, NULL, NULL);
    engine->is_own = false;
    return result;
}

/* Applies the settings of the connection. No other connection to this database exists. So this
 * connection locks the database exclusively, and does not count its changes in page 1. */
static int engine_settle(struct sql_engine *engine)
{
    enum { KIB = 1024 };
    char text[300];
    (void)snprintf(text,
                   sizeof text,
                   "PRAGMA page_size = %d; PRAGMA auto_vacuum = NONE; "
                   "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; "
                   "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -%d; "
                   "PRAGMA secure_delete = FAST; PRAGMA max_page_count = %u",
                   STORE_PAGE_SIZE,
                   ENGINE_CACHE_BYTES / KIB,
                   TR_SQL_BYTES_MAX / STORE_PAGE_SIZE);
    return engine_execute(engine, text);
}

static tr_status engine_begin(struct sql_engine *engine, struct store_sql_call *call)
{
    struct store_sql *sql = engine->sql;
    uint32_t last = 0;
    if (sql->is_begun)
        return TR_OK;
    tr_status status =
        tr__view_last_page(engine->view, (tr_bytes){sql->name, sql->name_size}, &last);
    if (status != TR_OK)
        return engine_refuse(call, status, "the tables cannot be read: %s", tr_status_text(status));
    tr__pages_begin(&sql->pages, last);
    sql->is_begun = true;
    return TR_OK;
}

/* ---- The schema. ---- */

static tr_status steps_seen(struct sql_engine *engine, struct store_sql_call *call, size_t *seen)
{
    sqlite3_stmt *statement;
    engine->is_own = true;
    int result = sqlite3_prepare_v2(engine->database, "PRAGMA user_version", -1, &statement, NULL);
    engine->is_own = false;
    if (result != SQLITE_OK)
        return engine_refuse_by(engine, call, result);
    result = sqlite3_step(statement);
    *seen = result == SQLITE_ROW ? (size_t)sqlite3_column_int(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    return result == SQLITE_ROW ? TR_OK : engine_refuse_by(engine, call, result);
}

static tr_status do_steps(struct sql_engine *engine, struct store_sql_call *call, size_t seen,
                          size_t count)
{
    const char *const *steps = engine->sql->options.schema;
    char text[64];
    int result = engine_execute(engine, "BEGIN IMMEDIATE");
    if (result != SQLITE_OK)
        return engine_refuse_by(engine, call, result);
    for (size_t i = seen; i < count; i++) {
        engine->steps = 0;
        result = sqlite3_exec(engine->database, steps[i], NULL, NULL, NULL);
        if (result != SQLITE_OK) {
            char why[sizeof call->error - 40];
            tr_status status = engine_refuse_by(engine, call, result);
            (void)snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, call->error);
            return engine_refuse(call, status, "step %zu of the schema: %s", i + 1, why);
        }
    }
    (void)snprintf(text, sizeof text, "PRAGMA user_version = %zu; COMMIT", count);
    result = engine_execute(engine, text);
    return result == SQLITE_OK ? TR_OK : engine_refuse_by(engine, call, result);
}

/* Migrates the tables to the schema that the code expects. */
static tr_status engine_migrate(struct sql_engine *engine, struct store_sql_call *call)
{
    const char *const *steps = engine->sql->options.schema;
    size_t count = 0;
    size_t seen = 0;
    if (engine->sql->options.takes_any_schema)
        return TR_OK;
    while (steps && steps[count])
        count++;
    tr_status status = steps_seen(engine, call, &seen);
    if (status != TR_OK || seen == count)
        return status;
    if (seen > count)
        return engine_refuse(
            call,
            TR_STALE,
            "the tables are newer than the code: they have %zu schema steps, the code has %zu",
            seen,
            count);
    status = do_steps(engine, call, seen, count);
    if (status == TR_OK)
        tr__pages_keep(&engine->sql->pages);
    return status;
}

static tr_status open_engine(struct sql_engine *engine, struct store_sql_call *call)
{
    const struct store_session *session = engine->view->session;
    char path[64];
    (void)snprintf(
        path, sizeof path, "file:actor?engine=%llu", (unsigned long long)(uintptr_t)engine);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
    tr_status status = engine_begin(engine, call);
    if (status != TR_OK)
        return status;
    int result = sqlite3_open_v2(path, &engine->database, flags, session->engine_name);
    if (result != SQLITE_OK)
        return engine_refuse(call, TR_NO_MEMORY, "no memory for tables");
    set_limits(engine->database);
    sqlite3_progress_handler(engine->database, steps_at(engine), on_steps, engine);
    (void)sqlite3_set_authorizer(engine->database, tr__engine_authorize, engine);
    result = engine_settle(engine);
    return result == SQLITE_OK ? engine_migrate(engine, call)
                               : engine_refuse_by(engine, call, result);
}

/* ---- Statements. ---- */

/* Moves a statement to the front of the prepared statements. */
static void put_first(struct sql_engine *engine, size_t at, sqlite3_stmt *statement)
{
    memmove(&engine->prepared[1], &engine->prepared[0], at * sizeof engine->prepared[0]);
    engine->prepared[0] = statement;
}

/* Whether a text consists of white space and semicolons only. */
static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n\f;")];
}

/* Whether a statement was prepared from this SQL text. */
static bool is_of(sqlite3_stmt *statement, const char *text)
{
    const char *sql = sqlite3_sql(statement);
    size_t size = strlen(sql);
    return strncmp(sql, text, size) == 0 && is_blank(text + size);
}

static tr_status engine_prepare(struct sql_engine *engine, struct store_sql_call *call,
                                sqlite3_stmt **statement)
{
    size_t last = TR_SQL_PREPARED_MAX - 1;
    for (size_t i = 0; i <= last && engine->prepared[i]; i++) {
        *statement = engine->prepared[i];
        if (is_of(*statement, call->text)) {
            put_first(engine, i, *statement);
            return TR_OK;
        }
    }
    const char *tail = "";
    int result = sqlite3_prepare_v3(
        engine->database, call->text, -1, SQLITE_PREPARE_PERSISTENT, statement, &tail);
    if (result != SQLITE_OK)
        return engine_refuse_by(engine, call, result);
    if (!*statement)
        return engine_refuse(call, TR_INVALID_ARGUMENT, "the statement is missing");
    if (!is_blank(tail)) {
        (void)sqlite3_finalize(*statement);
        return engine_refuse(
            call, TR_INVALID_ARGUMENT, "more than one statement; execute one at a time");
    }
    (void)sqlite3_finalize(engine->prepared[last]);
    put_first(engine, last, *statement);
    return TR_OK;
}

static int bind_value(sqlite3_stmt *statement, int at, const tr_sql_value *value)
{
    switch (value->type) {
    case TR_SQL_TYPE_INTEGER:
        return sqlite3_bind_int64(statement, at, value->integer);
    case TR_SQL_TYPE_REAL:
        return sqlite3_bind_double(statement, at, value->real);
    case TR_SQL_TYPE_TEXT:
        return sqlite3_bind_text64(
            statement, at, value->bytes.data, value->bytes.size, SQLITE_STATIC, SQLITE_UTF8);
    case TR_SQL_TYPE_BYTES:
        return sqlite3_bind_blob64(statement,
                                   at,
                                   value->bytes.size ? value->bytes.data : "",
                                   value->bytes.size,
                                   SQLITE_STATIC);
    case TR_SQL_TYPE_TOO_LARGE:
        return SQLITE_TOOBIG;
    case TR_SQL_TYPE_NULL:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

static tr_status engine_bind(struct sql_engine *engine, struct store_sql_call *call,
                             sqlite3_stmt *statement)
{
    int places = sqlite3_bind_parameter_count(statement);
    if ((size_t)places != call->count)
        return engine_refuse(call,
                             TR_INVALID_ARGUMENT,
                             "%zu values for a statement with %d parameters",
                             call->count,
                             places);
    for (int i = 0; i < places; i++) {
        int result = bind_value(statement, i + 1, &call->values[i]);
        if (result == SQLITE_TOOBIG)
            return engine_refuse(call, TR_TOO_LARGE, "value %d is too large", i + 1);
        if (result != SQLITE_OK)
            return engine_refuse_by(engine, call, result);
    }
    return TR_OK;
}

/* Returns the value of a column. The data of the value are NULL if the column is SQL's NULL. They
 * are also NULL if there was no memory for a value that is not empty. */
static tr_sql_value take_value(sqlite3_stmt *statement, int column)
{
    tr_sql_value value = TR_SQL_NULL;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value = tr_sql_integer_(sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        value = tr_sql_real_(sqlite3_column_double(statement, column));
        value.integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_TEXT:
        value.type = TR_SQL_TYPE_TEXT;
        value.text = (const char *)sqlite3_column_text(statement, column);
        value.bytes.data = value.text;
        value.bytes.size = (size_t)sqlite3_column_bytes(statement, column);
        break;
    case SQLITE_BLOB:
        value.type = TR_SQL_TYPE_BYTES;
        value.bytes.data = sqlite3_column_blob(statement, column);
        value.bytes.size = (size_t)sqlite3_column_bytes(statement, column);
        break;
    default:
        break;
    }
    return value;
}

/* Passes the names of the columns to on_columns. */
static void tell_columns(struct store_sql_call *call, sqlite3_stmt *statement)
{
    const char *names[TR_SQL_COLUMNS_MAX];
    for (size_t i = 0; i < call->columns; i++) {
        names[i] = sqlite3_column_name(statement, (int)i);
        if (!names[i])
            names[i] = "?"; /* there was no memory for the name */
    }
    call->on_columns(call->context, names, call->columns);
}

static tr_status engine_step(struct sql_engine *engine, struct store_sql_call *call,
                             sqlite3_stmt *statement)
{
    tr_sql_value values[TR_SQL_COLUMNS_MAX];
    for (bool is_first = true;; is_first = false) {
        int result = sqlite3_step(statement);
        /* Count the columns only now. If the tables have changed, the first step has prepared the statement again. */
        int columns = sqlite3_column_count(statement);
        TR_ASSERT(columns <= TR_SQL_COLUMNS_MAX);
        call->columns = (size_t)columns;
        if (is_first && call->on_columns)
            tell_columns(call, statement);
        if (result == SQLITE_DONE)
            return TR_OK;
        if (result != SQLITE_ROW)
            return engine_refuse_by(engine, call, result);
        for (int i = 0; i < columns; i++) {
            values[i] = take_value(statement, i);
            if (!values[i].bytes.data && values[i].bytes.size)
                return engine_refuse(call, TR_NO_MEMORY, "no memory for a row");
            if (!values[i].text)
                return engine_refuse(call, TR_NO_MEMORY, "no memory for a row");
        }
        tr_status status = call->visit(call->context, values, (size_t)columns);
        if (status != TR_OK)
            return engine_refuse(call, status, "result: %s", tr_status_text(status));
    }
}

static tr_status engine_run(struct sql_engine *engine, struct store_sql_call *call)
{
    sqlite3_stmt *statement = NULL;
    tr_status status = engine_prepare(engine, call, &statement);
    if (status != TR_OK)
        return status;
    if (call->is_reading && !sqlite3_stmt_readonly(statement))
        return engine_refuse(call, TR_NOT_PERMITTED, "the statement would change the tables");
    int before = sqlite3_total_changes(engine->database);
    status = engine_bind(engine, call, statement);
    if (status == TR_OK)
        status = engine_step(engine, call, statement);
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    if (sqlite3_total_changes(engine->database) != before)
        call->changes = (uint64_t)sqlite3_changes(engine->database);
    call->id = sqlite3_last_insert_rowid(engine->database);
    return status;
}

/* Returns how much memory the engine uses: the page cache of the connection, and an estimate for
 * everything else. */
static size_t bytes_of(const struct sql_engine *engine)
{
    int used = 0;
    int most = 0;
    (void)sqlite3_db_status(engine->database, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0);
    return ENGINE_BYTES + (size_t)used;
}

tr_status tr__engine_run(struct store_sql *sql, struct store_view *view,
                         struct store_sql_call *call)
{
    struct sql_engine *engine = sql->engine;
    tr_status status = TR_OK;
    TR_ASSERT(!pages_are_staged(&sql->pages));
    if (!engine) {
        engine = source_resize(&sql->pages.source, NULL, sizeof *engine);
        if (!engine)
            return TR_NO_MEMORY;
        *engine = (struct sql_engine){.sql = sql, .view = view, .ends = call->ends};
        engine->begun_ns = sql->options.time_max_ns ? engine_now(engine) : 0;
        sql->engine = engine;
        status = open_engine(engine, call);
        if (status != TR_OK) {
            tr__engine_close(sql);
            return status;
        }
    }
    engine->view = view;
    engine->ends = call->ends;
    engine->steps = 0;
    engine->begun_ns = sql->options.time_max_ns ? engine_now(engine) : 0;
    engine->is_late = false;
    engine->refused = NULL;
    engine->io = TR_OK;
    status = engine_run(engine, call);
    bool is_doubtful = status == TR_NO_MEMORY || status == TR_STORE_CORRUPT ||
                       status == TR_STORE_FAILED || engine->io != TR_OK;
    if (status == TR_OK)
        tr__pages_keep(&sql->pages);
    else if (is_doubtful || pages_are_staged(&sql->pages))
        /* Close the connection, because its cache may have changes of the failed statement. */
        tr__engine_close(sql);
    if (sql->engine)
        sql->bytes = bytes_of(engine);
    return status;
}
