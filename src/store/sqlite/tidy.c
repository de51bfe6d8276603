/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds the length of SQLite's log, and writes the log into the database. store/tidy.h says when.
 *
 * While commits run, a checkpoint of SQLite syncs the database only if it has reached the end of
 * the log. Otherwise its pages stay in the cache of the kernel until a later checkpoint that does
 * reach the end. The sync of that checkpoint would write all of these pages, and delay the
 * committing thread for a long time. Therefore each pass syncs the pages that it has written.
 */
#include "store/sqlite/tidy.h"

#include <stdio.h>

enum { LOG_FRAME = 24 + STORE_PAGE_SIZE }; /* size of a page in the log, including its header */

static int on_commit(void *context, sqlite3 *database, const char *name, int log_pages)
{
    (void)database;
    (void)name;
    struct store_session *session = context;
    if (log_pages <= session->log_pages) /* the log has restarted */
        atom32_store(&session->done_pages, 0, ATOM_RELAXED);
    session->log_pages = log_pages;
    atom32_store(&session->log_seen, (uint32_t)log_pages, ATOM_RELEASE); /* pairs with copy_log */
    if (log_pages > session->file_pages)
        session->file_pages = log_pages;
    return SQLITE_OK;
}

void tr__session_watch_log(struct store_session *session)
{
    (void)sqlite3_wal_hook(session->writer.database, on_commit, session);
}

tr_status tr__session_limit_log(struct store_session *session)
{
    char text[80];
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    sqlite3 *database = session->writer.database;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (result == SQLITE_OK && file && file->pMethods)
        result = file->pMethods->xFileSize(file, &size);
    if (result != SQLITE_OK)
        return tr__link_status(result);
    /* after a crash, the file of the log may be long */
    session->file_pages = (int)(size / LOG_FRAME);
    (void)snprintf(text,
                   sizeof text,
                   "PRAGMA journal_size_limit = %d",
                   session->log_pages_soon * SESSION_LOG_KEPT * LOG_FRAME);
    return tr__link_execute(&session->writer, text);
}

void tr__session_look(struct store_session *session, struct store_log *log)
{
    size_t done = atom32_load(&session->done_pages, ATOM_RELAXED);
    if (done > (size_t)session->log_pages) {
        /* The log has already restarted, but the pass that wrote its last page into the database
         * has not stored done_pages yet. */
        done = 0;
        atom32_store(&session->done_pages, 0, ATOM_RELAXED);
    }
    *log = (struct store_log){
        .pages = (size_t)session->log_pages,
        .file_pages = (size_t)session->file_pages,
        .soon = (size_t)session->log_pages_soon,
        .max = (size_t)session->log_pages_soon * SESSION_LOG_MAX,
    };
    log->rest_pages = log->pages - done;
}

tr_status tr__session_checkpoint(struct store_session *session, size_t *pages,
                                 struct store_why *why)
{
    int log_pages = 0;
    int done_pages = 0;
    uint32_t before = atom32_load(&session->done_pages, ATOM_RELAXED);
    sqlite3 *database = session->tidier.database;
    int result = sqlite3_wal_checkpoint_v2(
        database, NULL, SQLITE_CHECKPOINT_PASSIVE, &log_pages, &done_pages);
    *pages = 0;
    if (result == SQLITE_OK && !session->is_sync_off)
        result = tr__vfs_sync(database);
    if (result == SQLITE_OK) {
        uint32_t done = (uint32_t)done_pages;
        *pages = done > before ? done - before : done;
        atom32_store(&session->done_pages, done, ATOM_RELAXED);
    }
    tr_status status = tr__link_status(result);
    if (status != TR_STORE_FAILED)
        /* Not a failure: the disk is full, memory is short, or a reader prevents the checkpoint.
         * The pages stay in the log meanwhile. */
        return TR_OK;
    return tr__session_fail(session, &session->tidier, "cleaning up the log", why);
}

tr_status tr__session_restart(struct store_session *session, bool is_cut, struct store_why *why)
{
    int log_pages = 0;
    int done_pages = 0;
    int mode = is_cut ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART;
    int result =
        sqlite3_wal_checkpoint_v2(session->writer.database, NULL, mode, &log_pages, &done_pages);
    tr_status status = tr__link_status(result);
    if (status == TR_OK) {
        session->log_pages = 0;
        atom32_store(&session->log_seen, 0, ATOM_RELEASE); /* pairs with copy_log */
        atom32_store(&session->done_pages, 0, ATOM_RELAXED);
        if (is_cut)
            session->file_pages = 0;
    } else if (status == TR_STORE_BUSY) {
        atom32_store(&session->done_pages, (uint32_t)done_pages, ATOM_RELAXED);
    } else if (status == TR_STORE_FAILED) {
        return tr__session_fail(session, &session->writer, "cleaning up the log", why);
    }
    return status;
}
