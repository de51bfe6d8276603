/* SPDX-License-Identifier: Apache-2.0 */
/** Copies shapes and actors of a damaged store into a new one, if they match their seals: store/sqlite/salvage.c. */
#ifndef STORE_SQLITE_SALVAGE_COPY_H
#define STORE_SQLITE_SALVAGE_COPY_H

#include <sqlite3.h>

#include "store/store.h"

struct store_session;

enum { SALVAGE_TABLES = 7 }; /* tables with rows of actors */

/** One run over the damaged store. */
struct salvage {
    struct store_session *from;
    struct store_session *into;
    struct store_salvage *report;
    sqlite3_stmt *next; /* statement: finds the first actor from a number on */
    sqlite3_stmt *reads[SALVAGE_TABLES];
    sqlite3_stmt *writes[SALVAGE_TABLES];
    sqlite3_stmt *add;  /* statement: adds an actor to the new store */
    sqlite3_stmt *has;  /* finds out whether the actor is in the new store */
    sqlite3_stmt *miss; /* finds out whether the name of the actor was noted */
    sqlite3_stmt *shapes;
    sqlite3_stmt *add_shape;
    bool is_open;   /* the damaged store could be opened */
    bool is_second; /* this run does not use the log */
    /* in the second run: copy all actors, not only those that the first run has missed */
    bool takes_all;
    bool misses_shapes; /* Not all shapes could be read. */
    uint64_t epoch_max; /* greatest epoch of all rows */
    /* program that owns the damaged store, and will own the new one */
    char program[TR_NAME_MAX + 1];
};

/** Prepares a statement of one of the two stores. */
TR_MUST_CHECK tr_status tr__salvage_statement(struct store_session *session, const char *text,
                                              sqlite3_stmt **statement);
/** Prepares the statements of a run. tr__salvage_finish frees them, even after an error. */
TR_MUST_CHECK tr_status tr__salvage_prepare(struct salvage *salvage);
void tr__salvage_finish(struct salvage *salvage);

/**
 * Copies the shapes that can be read. It does not matter whether a shape comes from the database or
 * from its log, because a number always has the same text.
 */
TR_MUST_CHECK tr_status tr__salvage_copy_shapes(struct salvage *salvage);
/**
 * Copies the actor that `next` is at, completely or not at all. TR_STORE_CORRUPT: it is not intact.
 * Any other failure concerns the new store, or memory.
 */
TR_MUST_CHECK tr_status tr__salvage_copy_actor(struct salvage *salvage);

#endif
