/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The own database of an actor, as SQLite has it: a connection whose file is the actor's pages.
 *
 * Each statement is a transaction of that connection, and is over when the call returns; with the last of its
 * writes its pages are staged (store/pages.h), and kept if all went well. So a stretch that fails needs no
 * rollback of SQLite: its pages are forgotten, and so is the connection, which has read them.
 */
#ifndef STORE_SQLITE_ENGINE_H
#define STORE_SQLITE_ENGINE_H

#include "store/sqlite/view.h"

enum {
    ENGINE_CACHE_BYTES = 512 * 1024, /* that a connection keeps of what it has read */
    ENGINE_BYTES = 96 * 1024,        /* that it has besides, about */
    ENGINE_STEPS_AT = 1000, /* after so many steps it is looked whether it has been too many */
    /* Of the language: what is far above any use, and far below what the stack holds. */
    ENGINE_EXPRESSION_DEPTH = 200,
    ENGINE_COMPOUND_SELECT = 200,
    ENGINE_TRIGGER_DEPTH = 32,
    /* of LIKE and GLOB: a match goes one level down for each % or * */
    ENGINE_PATTERN_LENGTH = 1000,
};

struct sql_engine {
    struct store_sql *sql;
    struct store_view *view; /* of the call that runs; whoever reads pages reads them with it */
    sqlite3 *database;
    sqlite3_stmt *prepared[TR_SQL_PREPARED_MAX]; /* the one used last is first */
    uint64_t steps;                              /* of the statement that runs */
    bool is_own;                                 /* it is one of ours, which may do all */
    const char *refused;                         /* what it wanted and may not; NULL: nothing */
    tr_status io;                                /* why a page could not be had or kept */
};

/** sql_run and sql_close of the driver. */
tr_status tr__engine_run(struct store_sql *sql, struct store_view *view,
                         struct store_sql_call *call);
void tr__engine_close(struct store_sql *sql);

#endif
