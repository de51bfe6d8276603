/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Opening and closing a database, and tidying its log.
 */
#include "store/sqlite/session.h"

#include "store/sqlite/engine.h"
#include "store/sqlite/make.h"

#include "base/assert.h"
#include "os/file.h"

#include <stdio.h>

static int on_commit(void *context, sqlite3 *database, const char *name, int log_pages)
{
    (void)database;
    (void)name;
    struct store_session *session = context;
    session->log_pages = log_pages;
    return SQLITE_OK;
}

/* "directory/file" in memory of the source; NULL: there is none. */
static char *path_join(const struct memory_source *source, const char *directory, const char *file)
{
    size_t size = strlen(directory) + 1 + strlen(file) + 1;
    char *path = source_resize(source, NULL, size);
    if (path)
        (void)snprintf(path, size, "%s/%s", directory, file);
    return path;
}

/* The directory and its lock, so that nobody else comes. */
static tr_status take_directory(struct store_session *session, const char *directory,
                                tr_error *error)
{
    size_t size = strlen(directory) + 1;
    session->directory = source_resize(&session->source, NULL, size);
    session->path = path_join(&session->source, directory, "troupe.db");
    char *lock_path = path_join(&session->source, directory, "lock");
    tr_status status = TR_NO_MEMORY;
    if (session->directory && session->path && lock_path) {
        memcpy(session->directory, directory, size);
        status = tr__os_directory_make(directory);
        if (status == TR_OK)
            status = tr__os_file_lock(lock_path, &session->lock_fd);
    }
    source_resize(&session->source, lock_path, 0);
    if (status == TR_STORE_BUSY)
        return tr__make_refuse(error, status, "another process has the store %s", directory);
    if (status)
        return tr__make_refuse(
            error, status, "the directory %s: %s", directory, tr_status_text(status));
    return TR_OK;
}

/* A disk in memory, of the options or our own. */
static tr_status take_disk(struct store_session *session, struct store_disk *disk, tr_error *error)
{
    static const char name[] = "troupe.db";
    struct store_disk *own = NULL;
    session->path = source_resize(&session->source, NULL, sizeof name);
    tr_status status = session->path ? TR_OK : TR_NO_MEMORY;
    if (status == TR_OK && !disk)
        status = tr__disk_new(&session->source, false, &own);
    if (status)
        return tr__make_refuse(error, status, "no memory for a store");
    memcpy(session->path, name, sizeof name);
    if (!tr__disk_take(disk ? disk : own))
        return tr__make_refuse(error, TR_STORE_BUSY, "another store is on the disk in memory");
    session->disk = disk ? disk : own;
    session->owns_disk = own != NULL;
    return TR_OK;
}

static void release_place(struct store_session *session)
{
    if (session->disk)
        tr__disk_give(session->disk);
    if (session->owns_disk)
        tr__disk_free(session->disk);
    if (session->lock_fd >= 0)
        tr__os_file_unlock(session->lock_fd);
    source_resize(&session->source, session->directory, 0);
    source_resize(&session->source, session->path, 0);
    struct memory_source source = session->source;
    source_resize(&source, session, 0);
}

tr_status tr__session_link(struct store_session *session, struct link *link)
{
    tr_status status = tr__link_open(link, &session->vfs, session->path);
    if (status == TR_OK)
        status = tr__link_settle(link, session->cache_bytes);
    return status ? status : tr__link_execute(link, "PRAGMA wal_autocheckpoint = 0");
}

static tr_status open_links(struct store_session *session, const struct store_options *options,
                            tr_error *error)
{
    tr_status status = tr__link_open(&session->writer, &session->vfs, session->path);
    if (status)
        return tr__make_refuse_by(error, &session->writer, status, session->path);
    status = tr__make_database(session, options, error);
    if (status)
        return status;
    session->has_tidier = true;
    status = tr__session_link(session, &session->tidier);
    if (status == TR_OK && options->is_sync_off)
        status = tr__link_execute(&session->tidier, "PRAGMA synchronous = OFF");
    if (status)
        return tr__make_refuse_by(error, &session->tidier, status, session->path);
    status = tr__link_ready(&session->writer);
    if (status)
        return tr__make_refuse_by(error, &session->writer, status, session->path);
    (void)sqlite3_wal_hook(session->writer.database, on_commit, session);
    /* The file is there now: that it is must last too. */
    status = session->directory ? tr__os_directory_sync(session->directory)
                                : tr__disk_sync_directory(session->disk);
    if (status)
        return tr__make_refuse(error, status, "syncing the directory of %s", session->path);
    return TR_OK;
}

/* The writer goes last: the first one that opened the database keeps others out. */
static void close_links(struct store_session *session)
{
    if (session->has_tidier)
        tr__link_close(&session->tidier);
    /* After a sync that failed nobody knows what the next one would prove. */
    if (atom32_load(&session->is_failed, ATOM_ACQUIRE)) /* partner: tr__session_fail */
        (void)sqlite3_db_config(
            session->writer.database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    tr__link_close(&session->writer);
}

tr_status tr__session_fail(struct store_session *session, const struct link *link, const char *what,
                           struct store_why *why)
{
    int result = sqlite3_extended_errcode(link->database);
    (void)snprintf(why->text,
                   sizeof why->text,
                   "%s: %s (SQLite %d)",
                   what,
                   sqlite3_errmsg(link->database),
                   result);
    atom32_store(&session->is_failed, 1, ATOM_RELEASE); /* partner: close_links */
    return TR_STORE_FAILED;
}

tr_status tr__session_open(const struct store_options *options, struct store_session **session,
                           uint64_t *epoch, tr_error *error)
{
    struct store_session *made = source_resize(&options->source, NULL, sizeof *made);
    if (!made)
        return tr__make_refuse(error, TR_NO_MEMORY, "no memory for a store");
    *made = (struct store_session){
        .source = options->source,
        .lock_fd = -1,
        .cache_bytes = options->cache_bytes ? options->cache_bytes : STORE_CACHE_BYTES,
        .log_pages_soon = options->log_pages ? (int)options->log_pages : SESSION_LOG_PAGES,
    };
    bool has_directory = options->path && !options->disk;
    tr_status status = has_directory ? take_directory(made, options->path, error)
                                     : take_disk(made, options->disk, error);
    if (status)
        goto release_place;
    status = tr__vfs_init(&made->vfs, &made->source, made->disk, options->hook);
    if (status) {
        (void)tr__make_refuse(error, status, "SQLite: %s", tr_status_text(status));
        goto release_place;
    }
    status = tr__engine_vfs_init(made);
    if (status) {
        (void)tr__make_refuse(error, status, "SQLite: %s", tr_status_text(status));
        goto deinit_vfs;
    }
    status = open_links(made, options, error);
    if (status)
        goto close_links;
    *epoch = made->epoch;
    *session = made;
    return TR_OK;
close_links:
    close_links(made);
    tr__engine_vfs_deinit(made);
deinit_vfs:
    tr__vfs_deinit(&made->vfs);
release_place:
    release_place(made);
    return status;
}

void tr__session_close(struct store_session *session)
{
    close_links(session);
    tr__engine_vfs_deinit(session);
    tr__vfs_deinit(&session->vfs);
    release_place(session);
}

bool tr__session_wants_checkpoint(const struct store_session *session)
{
    return session->log_pages >= session->log_pages_soon;
}

tr_status tr__session_checkpoint(struct store_session *session, struct store_why *why)
{
    int log_pages = 0;
    int done_pages = 0;
    int result = sqlite3_wal_checkpoint_v2(
        session->tidier.database, NULL, SQLITE_CHECKPOINT_PASSIVE, &log_pages, &done_pages);
    if (result == SQLITE_OK && log_pages > done_pages &&
        log_pages >= session->log_pages_soon * SESSION_LOG_BEHIND)
        atom32_store(&session->is_log_behind, 1, ATOM_RELEASE); /* partner: tr__session_commit */
    tr_status status = tr__link_status(result);
    if (status != TR_STORE_FAILED)
        return TR_OK; /* No room, no memory, a reader in the way: the log has all of it meanwhile. */
    return tr__session_fail(session, &session->tidier, "tidying the log", why);
}

const struct store_driver *tr__store_driver_default(void)
{
    static const struct store_driver sqlite = {
        .open = tr__session_open,
        .close = tr__session_close,
        .commit = tr__session_commit,
        .wants_checkpoint = tr__session_wants_checkpoint,
        .checkpoint = tr__session_checkpoint,
        .view_new = tr__view_new,
        .view_free = tr__view_free,
        .read_state = tr__view_read_state,
        .read_kv = tr__view_read_kv,
        .read_snapshot = tr__view_read_snapshot,
        .list_kv = tr__view_list_kv,
        .list_alarms = tr__view_list_alarms,
        .list_queue = tr__view_list_queue,
        .list_events = tr__view_list_events,
        .list_due = tr__view_list_due,
        .list_queued = tr__view_list_queued,
        .sql_run = tr__engine_run,
        .sql_close = tr__engine_close,
    };
    return &sqlite;
}
