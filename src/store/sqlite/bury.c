/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/bury.h"

#include "store/sqlite/commit.h"
#include "store/sqlite/seal.h"
#include "store/sqlite/tidy.h"

#include <string.h>

/* The size of the new name of a destroyed actor's row: a NUL, and the number of the row in
 * big-endian order. */
enum { BURIED_NAME = 9 };

/* How many actors one transaction destroys when a store is opened. Each of them may have
 * BURY_AT_ONCE rows, each on a page of its own. Even then the transaction needs only a sixth of the
 * longest log. */
enum { DOOMED_EACH = 64 };

static void buried_name(int64_t id, unsigned char name[BURIED_NAME])
{
    name[0] = 0;
    for (int i = 1; i < BURIED_NAME; i++)
        name[i] = (unsigned char)((uint64_t)id >> (8 * (BURIED_NAME - 1 - i)));
}

/* Runs a statement whose first argument is the number of the actor. */
static tr_status bury_run(struct link *link, enum link_statement which, int64_t id)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(link, which, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, id);
    if (which == SQL_EVENT_TRIM || which == SQL_SNAPSHOT_TRIM)
        tr__link_bind_number(statement, 2, INT64_MAX);
    return tr__link_run(statement);
}

/* Runs one step of a statement. Sets *is_there to whether that gave a row, and *number to the first
 * number in the row. */
static tr_status number_of(sqlite3_stmt *statement, bool *is_there, int64_t *number)
{
    int result = sqlite3_step(statement);
    *is_there = result == SQLITE_ROW;
    if (*is_there)
        *number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_reset(statement);
    return tr__link_status(result);
}

static tr_status count_rows(struct link *link, int64_t id, int64_t *count)
{
    bool is_there;
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(link, SQL_ACTOR_ROWS, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, id);
    tr__link_bind_number(statement, 2, BURY_AT_ONCE);
    return number_of(statement, &is_there, count);
}

/* Deletes the row of the actor. If `is_kept`, renames the row instead. */
static tr_status take_name(struct link *link, int64_t id, tr_bytes seal, bool is_kept)
{
    unsigned char name[BURIED_NAME];
    tr_status status = TR_OK;
    int at = 1;
    sqlite3_stmt *statement =
        tr__link_statement(link, is_kept ? SQL_ACTOR_BURY : SQL_ACTOR_DELETE, &status);
    if (!statement)
        return status;
    buried_name(id, name);
    if (is_kept)
        tr__link_bind_bytes(statement, at++, (tr_bytes){name, sizeof name});
    tr__link_bind_number(statement, at++, id);
    tr__link_bind_bytes(statement, at, seal);
    status = tr__link_run(statement);
    if (status == TR_OK && sqlite3_changes(link->database) != 1)
        status = TR_STALE;
    return status;
}

tr_status tr__bury(struct store_session *session, int64_t id, tr_bytes seal)
{
    static const enum link_statement all[] = {
        SQL_KV_DELETE_ALL,
        SQL_QUEUE_CLEAR_ALL,
        SQL_EVENT_TRIM,
        SQL_SNAPSHOT_TRIM,
        SQL_PAGE_DELETE_ALL,
        SQL_REQUEST_DELETE_ALL,
    };
    struct link *link = &session->writer;
    int64_t count = 0;
    tr_status status = count_rows(link, id, &count);
    bool is_kept = count > BURY_AT_ONCE;
    if (status == TR_OK)
        status = take_name(link, id, seal, is_kept);
    /* Delete the alarms now even if other rows are left for later. The list of due alarms must not
     * find them. */
    if (status == TR_OK)
        status = bury_run(link, SQL_ALARM_CLEAR_ALL, id);
    session->has_buried |= is_kept;
    for (size_t i = 0; status == TR_OK && count && !is_kept && i < sizeof all / sizeof *all; i++)
        status = bury_run(link, all[i], id);
    return status;
}

/* ---- Deleting the remaining rows of actors with many rows, in slices. ---- */

static tr_status find_buried(struct link *link, bool *is_there, int64_t *id)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(link, SQL_BURIED_FIND, &status);
    return statement ? number_of(statement, is_there, id) : status;
}

tr_status tr__bury_slice(struct store_session *session)
{
    static const enum link_statement all[] = {
        SQL_BURIED_KV,
        SQL_BURIED_QUEUE,
        SQL_BURIED_EVENT,
        SQL_BURIED_SNAPSHOT,
        SQL_BURIED_PAGE,
        SQL_BURIED_REQUEST,
    };
    struct link *link = &session->writer;
    int left = BURY_SLICE;
    int64_t id = 0;
    bool is_there = false;
    tr_status status = find_buried(link, &is_there, &id);
    if (status != TR_OK || !is_there) {
        session->has_buried = false;
        return status;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sqlite3_stmt *statement = tr__link_statement(link, all[i], &status);
        if (!statement)
            return status;
        tr__link_bind_number(statement, 1, id);
        tr__link_bind_number(statement, 2, left);
        status = tr__link_run(statement);
        if (status != TR_OK)
            return status;
        left -= sqlite3_changes(link->database);
        if (left <= 0)
            return TR_OK;
    }
    return bury_run(link, SQL_BURIED_DELETE, id);
}

tr_status tr__session_bury(struct store_session *session, bool *has_more, struct store_why *why)
{
    struct link *link = &session->writer;
    *has_more = false;
    if (!session->has_buried)
        return TR_OK;
    tr_status status = tr__session_begin(session);
    if (status == TR_OK)
        status = tr__bury_slice(session);
    if (status == TR_OK)
        status = tr__link_do(link, SQL_COMMIT);
    *has_more = status == TR_OK && session->has_buried;
    if (status == TR_OK)
        return TR_OK;
    if (status == TR_STORE_FAILED)
        return tr__session_fail(session, link, "deleting what was destroyed", why);
    /* The next destroy tries again, and so does the next opening of the store. */
    session->has_buried = false;
    if (!sqlite3_get_autocommit(link->database) && tr__link_do(link, SQL_ROLLBACK) != TR_OK)
        return tr__session_fail(session, link, "rolling a transaction back", why);
    return TR_OK;
}

/* ---- When a store is opened. ---- */

/*
 * Whether the actor of the row at which the statement stands is marked to be destroyed, and the
 * seal of the row fits.
 */
static bool is_doomed(const struct store_session *session, sqlite3_stmt *statement)
{
    struct store_generation generation;
    tr_bytes sealed = tr__link_bytes(statement, 1);
    if (!seal_generation(sealed, &generation))
        return false;
    struct seal seal = seal_actor(session->key,
                                  tr__link_bytes(statement, 5),
                                  generation,
                                  (uint64_t)sqlite3_column_int64(statement, 2),
                                  (uint64_t)sqlite3_column_int64(statement, 3),
                                  sqlite3_column_type(statement, 4) != SQLITE_NULL,
                                  seal_state_sum(session->key, tr__link_bytes(statement, 4)));
    return seal_fits(&seal, sealed);
}

/* Destroys the next marked actor. Marked actors whose seals do not match come first and are
 * skipped; `*skipped` is their number. If the next actor is one of them, only increments
 * `*skipped`. */
static tr_status bury_next(struct store_session *session, int64_t *skipped, bool *is_over)
{
    unsigned char sealed[SEAL_SIZE];
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&session->writer, SQL_ACTOR_DOOMED, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, *skipped);
    int result = sqlite3_step(statement);
    bool fits = result == SQLITE_ROW && is_doomed(session, statement);
    int64_t id = fits ? sqlite3_column_int64(statement, 0) : 0;
    if (fits)
        memcpy(sealed, tr__link_bytes(statement, 1).data, SEAL_SIZE);
    (void)sqlite3_reset(statement);
    *is_over = result != SQLITE_ROW;
    *skipped += result == SQLITE_ROW && !fits;
    return fits ? tr__bury(session, id, (tr_bytes){sealed, SEAL_SIZE}) : tr__link_status(result);
}

/* Shortens the log if it is long. The committing thread does this here, because the tidying thread
 * does not run yet. */
static tr_status bury_tidy(struct store_session *session)
{
    struct store_why why;
    struct store_log log;
    tr__session_look(session, &log);
    if (log.pages < log.soon)
        return TR_OK;
    tr_status status = tr__session_restart(session, false, &why);
    return status == TR_STORE_FAILED ? status : TR_OK;
}

tr_status tr__bury_doomed(struct store_session *session)
{
    struct link *link = &session->writer;
    tr_status status = TR_OK;
    int64_t skipped = 0;
    /* An earlier process may have left rows to delete. tr__bury_slice looks for them. */
    session->has_buried = true;
    for (bool is_over = false; !is_over && status == TR_OK;) {
        status = tr__session_begin(session);
        for (int i = 0; i < DOOMED_EACH && !is_over && status == TR_OK; i++)
            status = bury_next(session, &skipped, &is_over);
        if (status == TR_OK)
            status = tr__link_do(link, SQL_COMMIT);
        if (status == TR_OK)
            status = bury_tidy(session);
    }
    if (status != TR_OK && !sqlite3_get_autocommit(link->database) &&
        tr__link_do(link, SQL_ROLLBACK) != TR_OK)
        return status;
    /* Ignore a damaged page or a full disk. The mark stays, and a later entry of the name destroys
     * the actor. */
    return status == TR_STORE_FAILED || status == TR_NO_MEMORY ? status : TR_OK;
}
