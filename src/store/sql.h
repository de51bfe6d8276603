/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor's own database, which has tables that belong to this actor alone. docs/design/sql.md explains how and why.
 *
 * Such a database consists of pages, which are rows of the store. The first statement opens the database. Only pages
 * that statements use are read from the store. Pages that statements have changed stay in memory until they are put
 * into a batch. store/pages.h describes the way of these pages to the disk, and which of them are dropped after a
 * failure.
 *
 *     tr__store_sql_new(store, "ledger", key, &options, &sql);
 *     tr__store_sql_run(sql, reader, &call);
 *     tr__pages_put(&sql->pages, batch); tr__store_submit(batch, ...); tr__pages_submitted(&sql->pages, 1);
 *     tr__pages_stored(&sql->pages, 1);
 *     tr__store_sql_free(sql);
 *
 * One thread at a time. A statement may need STORE_SQL_STACK bytes of stack.
 */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <troupe/sql.h>

#include "os/atomic.h"
#include "store/pages.h"

/**
 * The stack for a statement, in bytes. The deepest expressions, views and triggers that engine.h
 * allows were measured to need less.
 */
enum { STORE_SQL_STACK = 8 * 1024 * 1024 };

struct store_driver;
struct store_reader;
/** The open connection of the driver. It is NULL until the first statement. */
struct sql_engine;

struct store_sql_options {
    /* The statements that make and change the tables, in order. Each of them is one step of the
     * schema. The array is borrowed and ends with NULL. If `schema` is NULL, there are no such
     * statements. */
    const char *const *schema;
    /* How many steps of SQLite's virtual machine (instructions) one statement may take. */
    uint64_t steps_max;
    /* How long one statement may take. The time is checked every few instructions. 0: no limit. */
    tr_time time_max_ns;
    bool takes_any_schema; /* use the tables that the database has, and ignore `schema` */
};

struct store_sql {
    struct pages pages;
    const struct store_driver *driver;
    struct sql_engine *engine;
    bool is_begun; /* tr__pages_begin was called, so the number of stored pages is known */
    size_t bytes;  /* estimate of the memory that the engine uses */
    struct store_sql_options options;
    size_t name_size;
    unsigned char name[]; /* kind, NUL, key */
};

/**
 * A function that is called for each row. The values are borrowed for the call. If it returns any
 * status but TR_OK, the statement fails with that status.
 */
typedef tr_status store_sql_visit(void *context, const tr_sql_value *values, size_t count);

/** A statement to be run. */
struct store_sql_call {
    const char *text;
    const tr_sql_value *values;
    size_t count;
    store_sql_visit *visit;
    /*
     * Called before the first row, with the names of the columns, which are borrowed. If this member is NULL, the
     * caller does not need the names.
     */
    void (*on_columns)(void *context, const char *const *names, size_t count);
    void *context; /* passed to visit and on_columns */
    /* The statement may only read. A statement that would change the tables fails with
     * TR_NOT_PERMITTED. */
    bool is_reading;
    /* tr__store_sql_run sets it. When *ends becomes true, the statement ends with TR_STORE_BUSY. NULL: this cannot
     * happen. */
    const atom32 *ends;
    /* The results. */
    size_t columns;
    uint64_t changes;
    int64_t id;
    char error[200]; /* why the statement has failed */
};

/** Makes the database of an actor. Fails with TR_NO_MEMORY, TR_INVALID_ARGUMENT. */
TR_MUST_CHECK tr_status tr__store_sql_new(struct store *store, const char *kind, tr_bytes key,
                                          const struct store_sql_options *options,
                                          struct store_sql **sql);
/**
 * Frees the memory of an actor's database. No page of the database may be on its way to the disk.
 * NULL is allowed.
 */
void tr__store_sql_free(struct store_sql *sql);
/** Drops what the current part of the turn has changed, because that part has failed. */
void tr__store_sql_undo(struct store_sql *sql);

/**
 * Runs one statement. Its statuses are those of tr_try_sql. A statement that fails has changed
 * nothing.
 */
TR_MUST_CHECK tr_status tr__store_sql_run(struct store_sql *sql, struct store_reader *reader,
                                          struct store_sql_call *call);

#endif
