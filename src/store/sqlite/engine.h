/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor's own database in SQLite: a connection whose file is the actor's pages.
 *
 * Each statement is a transaction of that connection, which ends before the call returns. The pages
 * that SQLite writes at the end of a transaction are staged (store/pages.h), and kept if the
 * statement succeeds. So if a part of a turn fails, SQLite needs no rollback: the pages of that
 * part are dropped. The connection is closed too, because its cache may contain these pages.
 */
#ifndef STORE_SQLITE_ENGINE_H
#define STORE_SQLITE_ENGINE_H

#include "store/sqlite/view.h"

enum {
    ENGINE_CACHE_BYTES = 512 * 1024, /* bytes of a connection's cache */
    ENGINE_BYTES = 96 * 1024,        /* estimate of a connection's other memory */
    ENGINE_STEPS_AT = 1000,          /* steps of SQLite's machine between two checks of the limit */
    ENGINE_STEPS_TIMED = 50,         /* the same, if the time is limited: one step may take long */
    /* Limits of SQL statements: far above any use, and far below what the stack allows. */
    ENGINE_EXPRESSION_DEPTH = 200,
    ENGINE_COMPOUND_SELECT = 200,
    ENGINE_TRIGGER_DEPTH = 32,
    /* longest pattern of LIKE and GLOB, because a match nests one level for each % or * */
    ENGINE_PATTERN_LENGTH = 1000,
};

struct sql_engine {
    struct store_sql *sql;
    struct store_view *view; /* view of the call that runs; it reads pages */
    sqlite3 *database;
    /* prepared statements; the one that was used last is first */
    sqlite3_stmt *prepared[TR_SQL_PREPARED_MAX];
    uint64_t steps;   /* steps that the present statement has taken */
    tr_time begun_ns; /* when it began, if the time of statements is limited */
    bool is_late;     /* the present statement was stopped because of its time */
    /* the current statement belongs to the runtime, and may do everything */
    bool is_own;
    /* what the current statement has tried although it is not allowed; NULL: nothing */
    const char *refused;
    tr_status io; /* why a page could not be read or stored, or why the statement had to end */
    const atom32 *ends; /* that of the call that runs, see struct store_sql_call */
};

/** Whether the statement has to end, because commits wait for its reader. */
static inline bool engine_must_end(const struct sql_engine *engine)
{
    return engine->ends && atom32_load(engine->ends, ATOM_RELAXED);
}

/** Implement store_driver.sql_run and store_driver.sql_close. */
tr_status tr__engine_run(struct store_sql *sql, struct store_view *view,
                         struct store_sql_call *call);
void tr__engine_close(struct store_sql *sql);

#endif
