/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks on the files of a store without the help of SQLite. Finds out whether the files still
 * exist unchanged, and which operation has failed.
 */
#include "store/sqlite/vfs_watch.h"

#include <stdio.h>
#include <string.h>

/* Whether the path still names the file that it named when the store was opened. Sets *size to the
 * size of the file that the path names. */
static bool is_in_place(const char *path, const struct os_file_id *opened, uint64_t *size)
{
    struct os_file_id id;
    if (tr__os_file_find(path, &id, NULL) != TR_OK || !os_file_is_same(&id, opened))
        return false;
    *size = id.size;
    return true;
}

tr_status tr__vfs_open_log(struct vfs *vfs, sqlite3_file **log)
{
    size_t size = source_round((size_t)vfs->base.szOsFile);
    sqlite3_file *file = source_resize(&vfs->source, NULL, size);
    if (!file)
        return TR_NO_MEMORY;
    memset(file, 0, size);
    int flags;
    int result = vfs->base.xOpen(
        &vfs->base, vfs->log_path, file, SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE, &flags);
    if (result == SQLITE_OK) {
        *log = file;
        return TR_OK;
    }
    source_resize(&vfs->source, file, 0);
    return result == SQLITE_NOMEM ? TR_NO_MEMORY : TR_STORE_FAILED;
}

void tr__vfs_close_log(struct vfs *vfs, sqlite3_file *log)
{
    (void)log->pMethods->xClose(log);
    source_resize(&vfs->source, log, 0);
}

tr_status tr__vfs_watch(struct vfs *vfs, tr_error *error)
{
    if (vfs->disk)
        return TR_OK;
    tr_status status = tr__os_file_find(vfs->path, &vfs->database_id, error);
    if (status == TR_OK)
        status = tr__os_file_find(vfs->log_path, &vfs->log_id, error);
    atom64_store(&vfs->database_least, vfs->database_id.size, ATOM_RELAXED);
    vfs->is_watched = status == TR_OK;
    return status == TR_NOT_FOUND ? TR_STORE_FAILED : status;
}

bool tr__vfs_is_strange(struct vfs *vfs, const char *path)
{
    uint64_t size;
    if (!vfs->is_watched)
        return false;
    if (path == vfs->log_path)
        return !is_in_place(path, &vfs->log_id, &size);
    if (path != vfs->path)
        return false;
    lock_take(&vfs->place_lock);
    bool is_strange = !is_in_place(path, &vfs->database_id, &size);
    lock_give(&vfs->place_lock);
    return is_strange;
}

tr_status tr__vfs_replace(struct vfs *vfs, tr_error *error)
{
    struct os_file_id id;
    tr_status status = tr__os_file_find(vfs->new_path, &id, error);
    if (status != TR_OK)
        return status == TR_NOT_FOUND ? TR_STORE_FAILED : status;
    lock_take(&vfs->place_lock);
    status = tr__os_file_rename(vfs->new_path, vfs->path, error);
    if (status == TR_OK) {
        vfs->database_id = id;
        atom64_store(&vfs->database_least, id.size, ATOM_RELEASE);
        /* pairs with file_renew, vfs_open */
        atom32_store(&vfs->replaced, atom32_load(&vfs->replaced, ATOM_RELAXED) + 1, ATOM_RELEASE);
    }
    lock_give(&vfs->place_lock);
    return status;
}

/* Whether the log is missing, or shorter than its durable part. When a connection of the store
 * shortens the log, it first sets log_end to 0, so that this does not count. */
static bool log_is_cut(const struct vfs *vfs)
{
    uint64_t size = 0;
    uint64_t end = atom64_load(&vfs->log_end, ATOM_ACQUIRE); /* pairs with log_truncate */
    if (!is_in_place(vfs->log_path, &vfs->log_id, &size))
        return true;
    return !vfs->is_sync_off && size < end && atom64_load(&vfs->log_end, ATOM_ACQUIRE) == end;
}

const char *tr__vfs_missing(const struct vfs *vfs)
{
    uint64_t size = 0;
    if (!vfs->is_watched)
        return NULL;
    if (!is_in_place(vfs->path, &vfs->database_id, &size) ||
        size < atom64_load(&vfs->database_least, ATOM_ACQUIRE)) /* pairs with file_truncate */
        return vfs->path;
    return log_is_cut(vfs) ? vfs->log_path : NULL;
}

void tr__vfs_failure(struct vfs *vfs, char *text, size_t size)
{
    char memory[128];
    lock_take(&vfs->shm.lock);
    struct vfs_failure failure = vfs->failure;
    lock_give(&vfs->shm.lock);
    *text = '\0';
    if (failure.what)
        (void)snprintf(text,
                       size,
                       "cannot %s %s%s%s",
                       failure.what,
                       failure.path,
                       failure.code ? ": " : "",
                       failure.code ? tr__os_error_text(failure.code, memory, sizeof memory) : "");
}
