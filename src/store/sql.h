/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The own database of an actor: tables that are its alone. docs/design/sql.md says how and why.
 *
 * It is made of pages, which are rows of the store. It is opened by the first statement, and reads what
 * that touches. What statements write stays here until somebody puts it into a batch; see store/pages.h for
 * how it gets from there to the disk, and what is forgotten when something fails.
 *
 *     tr__store_sql_new(store, "ledger", key, &options, &sql);
 *     tr__store_sql_run(sql, reader, &call);
 *     tr__pages_put(&sql->pages, batch); tr__store_submit(batch, ...); tr__pages_submitted(&sql->pages, 1);
 *     tr__pages_stored(&sql->pages, 1);
 *     tr__store_sql_free(sql);
 *
 * One thread at a time. A statement may take STORE_SQL_STACK bytes of stack.
 */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <troupe/sql.h>

#include "store/pages.h"

/** More than what deep expressions, views and triggers have been seen to take within our limits. */
enum { STORE_SQL_STACK = 8 * 1024 * 1024 };

struct store_driver;
struct store_reader;
/** What the driver has open; NULL until it is used. */
struct sql_engine;

struct store_sql_options {
    const char *const *schema; /* steps, behind the last one is NULL; lent. NULL: none */
    uint64_t steps_max;        /* of one statement */
};

struct store_sql {
    struct pages pages;
    const struct store_driver *driver;
    struct sql_engine *engine;
    bool is_begun; /* it is known how many pages the store has */
    size_t bytes;  /* of memory that the engine has, about */
    struct store_sql_options options;
    size_t name_size;
    unsigned char name[]; /* kind, NUL, key */
};

/** A row; its values are borrowed for the call. Not TR_OK: the statement fails with this. */
typedef tr_status store_sql_visit(void *context, const tr_sql_value *values, size_t count);

/** A statement to be run. */
struct store_sql_call {
    const char *text;
    const tr_sql_value *values;
    size_t count;
    store_sql_visit *visit;
    void *context; /* of visit */
    /* What comes of it. */
    size_t columns;
    uint64_t changes;
    int64_t id;
    char error[200]; /* of one that failed: why */
};

/** TR_NO_MEMORY, TR_INVALID_ARGUMENT. */
TR_MUST_CHECK tr_status tr__store_sql_new(struct store *store, const char *kind, tr_bytes key,
                                          const struct store_sql_options *options,
                                          struct store_sql **sql);
/** NULL does nothing. Nothing of it is on its way. */
void tr__store_sql_free(struct store_sql *sql);
/** The stretch has failed: all that was not submitted is forgotten. */
void tr__store_sql_undo(struct store_sql *sql);

/** Runs one statement. See tr_try_sql for statuses. One that fails has changed nothing. */
TR_MUST_CHECK tr_status tr__store_sql_run(struct store_sql *sql, struct store_reader *reader,
                                          struct store_sql_call *call);

#endif
