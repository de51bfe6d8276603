/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor's own database in SQLite. It is a connection whose file consists of the actor's pages.
 *
 * Each statement is a transaction of that connection, which ends before the call returns. The pages
 * that SQLite writes at the end of a transaction are staged (store/pages.h). If the statement
 * succeeds, they become kept pages. If a part of a turn fails, the pages of that part are dropped,
 * so SQLite needs no rollback. The connection is closed then, because its cache may contain dropped
 * pages.
 */
#ifndef STORE_SQLITE_ENGINE_H
#define STORE_SQLITE_ENGINE_H

#include "store/sqlite/view.h"

enum {
    ENGINE_CACHE_BYTES = 512 * 1024, /* size of a connection's page cache */
    ENGINE_BYTES = 96 * 1024,        /* estimate of a connection's other memory */
    /* steps of SQLite's machine between two checks of the limits */
    ENGINE_STEPS_AT = 1000,
    /*
     * as ENGINE_STEPS_AT, while the time of a statement is limited; fewer, because one step may
     * take long
     */
    ENGINE_STEPS_TIMED = 50,
    /* The next limits of SQL statements are far above any use, and far below what the stack
     * allows. */
    ENGINE_EXPRESSION_DEPTH = 200,
    ENGINE_COMPOUND_SELECT = 200,
    ENGINE_TRIGGER_DEPTH = 32,
    /* The longest pattern of LIKE and GLOB. A match nests one level for each % or * of the
     * pattern. */
    ENGINE_PATTERN_LENGTH = 1000,
};

struct sql_engine {
    struct store_sql *sql;
    struct store_view *view; /* view of the current call; pages are read through it */
    sqlite3 *database;
    /* The prepared statements. The statement that was used last is the first. */
    sqlite3_stmt *prepared[TR_SQL_PREPARED_MAX];
    uint64_t steps;   /* steps that the current statement has taken */
    tr_time begun_ns; /* when the current statement began; set only if its time is limited */
    bool is_late;     /* the current statement was stopped because its time was over */
    /* The current statement belongs to the runtime and may do everything. */
    bool is_own;
    /* The action that the current statement has tried and may not do. NULL: none. */
    const char *refused;
    tr_status io; /* why a page could not be read or stored, or why the statement was stopped */
    const atom32 *ends; /* store_sql_call.ends of the current call */
};

/** Whether the statement has to end, because commits wait for its reader. */
static inline bool engine_must_end(const struct sql_engine *engine)
{
    return engine->ends && atom32_load(engine->ends, ATOM_RELAXED);
}

/** Implements store_driver.sql_run. The next function implements store_driver.sql_close. */
tr_status tr__engine_run(struct store_sql *sql, struct store_view *view,
                         struct store_sql_call *call);
void tr__engine_close(struct store_sql *sql);

#endif
