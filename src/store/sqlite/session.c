/* SPDX-License-Identifier: Apache-2.0 */
/** Opens and closes a database. */
#include "store/sqlite/session.h"

#include "store/sqlite/bury.h"
#include "store/sqlite/check.h"
#include "store/sqlite/commit.h"
#include "store/sqlite/compact.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/engine.h"
#include "store/sqlite/engine_vfs.h"
#include "store/sqlite/lists.h"
#include "store/sqlite/make.h"
#include "store/sqlite/names.h"
#include "store/sqlite/place.h"
#include "store/sqlite/request.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/shape.h"
#include "store/sqlite/tidy.h"
#include "store/sqlite/vfs_watch.h"
#include "store/sqlite/view.h"
#include "store/sqlite/view_page.h"

#include "os/plain_file.h"

#include <stdio.h>

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
    /* A crash during a compaction may have left the new file. Remove that file. */
    tr_status status =
        session->disk ? TR_OK : tr__plain_file_remove(session->vfs.new_path, false, error);
    if (status)
        return status;
    status = tr__link_open(&session->writer, &session->vfs, session->path);
    if (status)
        return tr__make_refuse_by(error, session, &session->writer, status);
    tr__session_watch_log(session);
    status = tr__make_database(session, options, error);
    if (status)
        return status;
    session->has_tidier = true;
    status = tr__session_link(session, &session->tidier);
    if (status == TR_OK && options->is_sync_off)
        status = tr__link_execute(&session->tidier, "PRAGMA synchronous = OFF");
    if (status)
        return tr__make_refuse_by(error, session, &session->tidier, status);
    status = tr__link_ready(&session->writer);
    if (status)
        return tr__make_refuse_by(error, session, &session->writer, status);
    status = tr__session_limit_log(session);
    if (status)
        return tr__make_refuse_by(error, session, &session->writer, status);
    /* Make the names of the files durable before anything depends on them. */
    status = tr__place_sync(session, error);
    if (status == TR_OK)
        status = tr__make_mark(session, error);
    if (status == TR_OK)
        status = tr__place_sign(session, error);
    return status ? status : tr__vfs_watch(&session->vfs, error);
}

/* Does what open_links does, for a store that is only read. */
static tr_status open_reading(struct store_session *session, const struct store_options *options,
                              tr_error *error)
{
    tr_status status = tr__link_open(&session->writer, &session->vfs, session->path);
    if (status)
        return tr__make_refuse_by(error, session, &session->writer, status);
    status = tr__make_look(session, options->program, error);
    return status ? status : tr__vfs_watch(&session->vfs, error);
}

/* Closes the connections, the writer last. As long as the writer is open, no other process can open
 * the database. */
static void close_links(struct store_session *session)
{
    if (session->has_tidier)
        tr__link_close(&session->tidier);
    /* Make no checkpoint on close, because after a failed sync a later sync that succeeds would
     * prove nothing. */
    if (atom32_load(&session->is_failed, ATOM_ACQUIRE) || /* pairs with tr__session_fail */
        session->is_read_only)
        (void)sqlite3_db_config(
            session->writer.database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    tr__link_close(&session->writer);
}

tr_status tr__session_fail(struct store_session *session, const struct link *link, const char *what,
                           struct store_why *why)
{
    int size = snprintf(why->text, sizeof why->text, "%s: ", what);
    tr__make_text_by(&session->vfs, link, why->text + size, sizeof why->text - (size_t)size);
    atom32_store(&session->is_failed, 1, ATOM_RELEASE); /* pairs with close_links */
    return TR_STORE_FAILED;
}

tr_status tr__session_check_files(struct store_session *session, struct store_why *why)
{
    struct vfs *vfs = &session->vfs;
    const char *path = tr__vfs_missing(vfs);
    if (!path)
        return TR_OK;
    /* If the log was deleted or replaced, the log that is open is still complete. Write its
     * acknowledged batches into the database. */
    if (path == vfs->log_path && tr__vfs_is_strange(vfs, path))
        (void)sqlite3_wal_checkpoint_v2(
            session->writer.database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    (void)snprintf(why->text,
                   sizeof why->text,
                   "%s was deleted, replaced or truncated while the store was open",
                   path);
    atom32_store(&session->is_failed, 1, ATOM_RELEASE); /* pairs with close_links */
    return TR_STORE_FAILED;
}

void tr__session_free(struct store_session *session)
{
    struct memory_source source = session->source;
    tr__place_give(session);
    source_resize(&source, session, 0);
}

tr_status tr__session_take(const struct store_options *options, struct store_session **session,
                           tr_error *error)
{
    struct store_session *made = source_resize(&options->source, NULL, sizeof *made);
    if (!made)
        return tr__make_refuse(error, TR_NO_MEMORY, "no memory for a store");
    *made = (struct store_session){
        .source = options->source,
        .directory_fd = -1,
        .lock_fd = -1,
        .database_fd = -1,
        .cache_bytes = options->cache_bytes ? options->cache_bytes : STORE_CACHE_BYTES,
        .log_pages_soon = options->log_pages ? (int)options->log_pages : SESSION_LOG_PAGES,
        .is_read_only = options->is_read_only,
        .is_sync_off = options->is_sync_off,
    };
    bool has_directory = options->path && !options->disk;
    if (has_directory && options->is_read_only && !tr__place_has_store(options->path)) {
        tr__session_free(made);
        return tr__make_refuse(error, TR_NOT_FOUND, "there is no store in %s", options->path);
    }
    tr_status status = has_directory ? tr__place_take_directory(made, options->path, error)
                                     : tr__place_take_disk(made, options->disk, error);
    if (status == TR_OK)
        *session = made;
    else
        tr__session_free(made);
    return status;
}

tr_status tr__session_open(const struct store_options *options, struct store_session **session,
                           uint64_t *epoch, tr_error *error)
{
    struct store_session *made = NULL;
    tr_status status = tr__session_take(options, &made, error);
    if (status || !made)
        return status;
    status = tr__vfs_init(&made->vfs, &made->source, made->disk, made->path, options->hook);
    if (status) {
        (void)tr__make_refuse(error, status, "SQLite: %s", tr_status_text(status));
        goto free_session;
    }
    made->vfs.is_sync_off = options->is_sync_off;
    made->vfs.database_fd = &made->database_fd;
    status = tr__engine_vfs_init(made);
    if (status) {
        (void)tr__make_refuse(error, status, "SQLite: %s", tr_status_text(status));
        goto deinit_vfs;
    }
    status =
        made->is_read_only ? open_reading(made, options, error) : open_links(made, options, error);
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
free_session:
    tr__session_free(made);
    return status;
}

void tr__session_close(struct store_session *session)
{
    close_links(session);
    tr__engine_vfs_deinit(session);
    tr__vfs_deinit(&session->vfs);
    tr__session_free(session);
}

const struct store_driver *tr__store_driver_default(void)
{
    static const struct store_driver sqlite = {
        .open = tr__session_open,
        .close = tr__session_close,
        .salvage = tr__session_salvage,
        .prepare = tr__session_prepare,
        .commit = tr__session_commit,
        .bury = tr__session_bury,
        .look = tr__session_look,
        .checkpoint = tr__session_checkpoint,
        .restart = tr__session_restart,
        .backup = tr__session_backup,
        .check = tr__session_check,
        .compact = tr__session_compact,
        .shrink = tr__session_shrink,
        .view_new = tr__view_new,
        .view_free = tr__view_free,
        .view_hold = tr__view_hold,
        .read_state = tr__view_read_state,
        .read_kv = tr__view_read_kv,
        .read_snapshot = tr__view_read_snapshot,
        .last_page = tr__view_last_page,
        .read_page = tr__view_read_page,
        .list_kv = tr__view_list_kv,
        .list_alarms = tr__view_list_alarms,
        .list_queue = tr__view_list_queue,
        .list_events = tr__view_list_events,
        .list_shapes = tr__view_list_shapes,
        .list_due = tr__view_list_due,
        .read_request = tr__view_read_request,
        .list_requests = tr__view_list_requests,
        .list_names = tr__view_list_names,
        .list_queued = tr__view_list_queued,
        .sql_run = tr__engine_run,
        .sql_close = tr__engine_close,
    };
    return &sqlite;
}
