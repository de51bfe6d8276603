/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies shapes and actors of a damaged store into a new store. Copies only what matches its seals.
 * store/sqlite/salvage.c uses it.
 */
#ifndef STORE_SQLITE_SALVAGE_COPY_H
#define STORE_SQLITE_SALVAGE_COPY_H

#include <sqlite3.h>

#include "store/store.h"

struct store_session;

enum { SALVAGE_TABLES = 7 }; /* number of tables that have rows of actors */

/** One run over the damaged store. */
struct salvage {
    struct store_session *from;
    struct store_session *into;
    struct store_salvage *report;
    sqlite3_stmt *next; /* finds the first actor whose number is not below a given one */
    sqlite3_stmt *reads[SALVAGE_TABLES];
    sqlite3_stmt *writes[SALVAGE_TABLES];
    sqlite3_stmt *add;  /* adds an actor to the new store */
    sqlite3_stmt *has;  /* finds out whether the new store has an actor */
    sqlite3_stmt *miss; /* finds out whether the name of an actor was noted */
    sqlite3_stmt *shapes;
    sqlite3_stmt *add_shape;
    bool is_open;   /* the damaged store could be opened */
    bool is_second; /* this run does not use the log */
    /* The second run copies all actors, even those whose names the first run has not noted. */
    bool takes_all;
    bool misses_shapes; /* not all shapes could be read */
    uint64_t epoch_max; /* highest epoch in all rows so far */
    /* The program that owns the damaged store, and will own the new store. */
    char program[TR_NAME_MAX + 1];
};

/** Prepares a statement of one of the two stores. */
TR_MUST_CHECK tr_status tr__salvage_statement(struct store_session *session, const char *text,
                                              sqlite3_stmt **statement);
/** Prepares the statements of a run. tr__salvage_finish frees them, even after an error. */
TR_MUST_CHECK tr_status tr__salvage_prepare(struct salvage *salvage);
void tr__salvage_finish(struct salvage *salvage);

/**
 * Copies the shapes that can be read. A shape with the same number always has the same text. So it
 * does not matter whether a shape comes from the database or from its log.
 */
TR_MUST_CHECK tr_status tr__salvage_copy_shapes(struct salvage *salvage);
/**
 * Copies the actor at which `next` stands, completely or not at all. Returns TR_STORE_CORRUPT if
 * the actor is not intact. Any other failure concerns the new store, or memory.
 */
TR_MUST_CHECK tr_status tr__salvage_copy_actor(struct salvage *salvage);

#endif
