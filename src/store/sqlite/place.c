/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Locks and names of the files of a store: see place.h.
 *
 * Three things are locked. The directory is locked, because a second process that finds the store
 * at the same path finds the same directory. The lock file is locked too, because some file systems
 * cannot lock directories, and because earlier versions of Troupe lock only this file. In the
 * database file, the bytes that SQLite uses for its own locks are locked, so that SQLite's tools
 * report a locked database. None of these locks is lost when the process opens the same file again
 * and closes it.
 */
#include "store/sqlite/place.h"

#include "store/sqlite/make.h"

#include "os/file.h"

#include <stdio.h>

/* Where SQLite has its locks in a database. They are the pending byte, the reserved byte, and 510
 * bytes for readers. */
enum { SQLITE_LOCKS_AT = 0x40000000, SQLITE_LOCKS = 512 };

/* Joins two texts in memory of the source. Returns NULL if there is no memory. */
static char *place_join(const struct memory_source *source, const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = source_resize(source, NULL, size);
    if (text)
        (void)snprintf(text, size, "%s%s", a, b);
    return text;
}

static tr_status refuse_memory(tr_error *error)
{
    return tr__make_refuse(error, TR_NO_MEMORY, "no memory for a store");
}

/* Sets *is_there to whether a file of the store exists. An empty database does not count as one;
 * any other empty file does. */
static tr_status has_file(struct store_session *session, const char *suffix, bool *is_there,
                          tr_error *error)
{
    struct os_file_id id = {0};
    char *path = place_join(&session->source, session->path, suffix);
    if (!path)
        return refuse_memory(error);
    tr_status status = TR_OK;
    if (session->disk) {
        status = tr__disk_has(session->disk, path) ? TR_OK : TR_NOT_FOUND;
        id.size = tr__disk_size(session->disk, path);
    } else {
        status = tr__os_file_find(path, &id, error);
    }
    source_resize(&session->source, path, 0);
    *is_there = status == TR_OK && (*suffix || id.size > 0);
    return status == TR_NOT_FOUND ? TR_OK : status;
}

/* If there is no database, a new one will be made. But if other files of an old store are left,
 * refuses that, because the actors of the old store would lose their data. A store makes its log
 * when its database is durable, and signs its lock file after that. So a power cut cannot leave a
 * log or a signed lock file without a database. */
static tr_status check_remains(struct store_session *session, tr_error *error)
{
    static const char *const suffixes[] = {"", "-log", "-wal"};
    bool is_there[3] = {false};
    for (size_t i = 0; i < 3; i++) {
        tr_status status = has_file(session, suffixes[i], &is_there[i], error);
        if (status != TR_OK)
            return status;
    }
    if (is_there[0] || (!is_there[1] && !is_there[2] && !session->is_signed))
        return TR_OK;
    return tr__make_refuse(error,
                           TR_STORE_CORRUPT,
                           "%s is missing or empty, but %s shows that a store was here; restore it "
                           "from a backup, or delete the directory to start with an empty store",
                           session->path,
                           is_there[1]   ? "its log troupe.db-log"
                           : is_there[2] ? "its log troupe.db-wal"
                                         : "the file lock");
}

/* Resolves the path `from` and copies it to `*to`. */
static tr_status place_resolve(struct store_session *session, const char *from, char **to,
                               tr_error *error)
{
    char *resolved = source_resize(&session->source, NULL, OS_PATH_SIZE);
    if (!resolved)
        return refuse_memory(error);
    tr_status status = tr__os_path_resolve(from, resolved, error);
    if (status == TR_OK) {
        char *copy = place_join(&session->source, resolved, "");
        if (copy) {
            source_resize(&session->source, *to, 0);
            *to = copy;
        } else {
            status = refuse_memory(error);
        }
    }
    source_resize(&session->source, resolved, 0);
    return status;
}

static tr_status lock_directory(struct store_session *session, tr_error *error)
{
    struct os_file_id id = {0};
    char *lock_path = place_join(&session->source, session->directory, "/lock");
    if (!lock_path)
        return refuse_memory(error);
    tr_status status = tr__os_directory_lock(session->directory, &session->directory_fd, error);
    if (status == TR_OK)
        status = tr__os_file_lock(lock_path, &session->lock_fd, error);
    if (status == TR_OK)
        status = tr__os_file_find(lock_path, &id, error);
    session->is_signed = id.size > 0;
    source_resize(&session->source, lock_path, 0);
    return status;
}

tr_status tr__place_lock_database(const char *path, int *fd, tr_error *error)
{
    return tr__os_file_lock_range(path, SQLITE_LOCKS_AT, SQLITE_LOCKS, fd, error);
}

/* Locks the database. If there is none, makes an empty file first. The directory must be locked. */
static tr_status take_database(struct store_session *session, tr_error *error)
{
    session->path = place_join(&session->source, session->directory, "/troupe.db");
    if (!session->path)
        return refuse_memory(error);
    tr_status status = check_remains(session, error);
    if (status == TR_OK)
        status = tr__place_lock_database(session->path, &session->database_fd, error);
    return status ? status : place_resolve(session, session->path, &session->path, error);
}

tr_status tr__place_take_directory(struct store_session *session, const char *directory,
                                   tr_error *error)
{
    tr_status status = tr__os_directory_make(directory, error);
    if (status == TR_OK)
        status = place_resolve(session, directory, &session->directory, error);
    if (status == TR_OK)
        status = lock_directory(session, error);
    if (status == TR_OK)
        status = take_database(session, error);
    if (status == TR_STORE_BUSY)
        return tr__make_refuse(error, status, "the store %s is open in another process", directory);
    /* Sync the directory above, even if the directory of the store existed. The process that made
     * it may have died before its own sync. */
    if (status == TR_OK && !session->is_signed)
        status = tr__os_directory_sync_parent(session->directory, error);
    return status;
}

bool tr__place_has_store(const char *directory)
{
    struct os_file_id id;
    char path[OS_PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/troupe.db", directory);
    return length > 0 && (size_t)length < sizeof path && tr__os_file_find(path, &id, NULL) == TR_OK;
}

tr_status tr__place_take_disk(struct store_session *session, struct store_disk *disk,
                              tr_error *error)
{
    struct store_disk *own = NULL;
    session->path = place_join(&session->source, "troupe.db", "");
    tr_status status = session->path ? TR_OK : TR_NO_MEMORY;
    if (status == TR_OK && !disk)
        status = tr__disk_new(&session->source, false, &own);
    if (status)
        return refuse_memory(error);
    if (!tr__disk_take(disk ? disk : own))
        return tr__make_refuse(
            error, TR_STORE_BUSY, "the disk in memory already has another store");
    session->disk = disk ? disk : own;
    session->owns_disk = own != NULL;
    return check_remains(session, error);
}

void tr__place_give(struct store_session *session)
{
    if (session->disk)
        tr__disk_give(session->disk);
    if (session->owns_disk)
        tr__disk_free(session->disk);
    tr__os_file_unlock(session->database_fd);
    tr__os_file_unlock(session->lock_fd);
    tr__os_file_unlock(session->directory_fd);
    source_resize(&session->source, session->directory, 0);
    source_resize(&session->source, session->path, 0);
}

tr_status tr__place_adopt_log(struct store_session *session, tr_error *error)
{
    bool is_old = false;
    bool is_new = false;
    if (session->disk)
        return TR_OK; /* A disk in memory never has the log of an earlier version. */
    tr_status status = has_file(session, "-wal", &is_old, error);
    if (status != TR_OK || !is_old)
        return status;
    status = has_file(session, "-log", &is_new, error);
    if (status != TR_OK)
        return status;
    if (is_new)
        return tr__make_refuse(error,
                               TR_STORE_CORRUPT,
                               "%s has two logs, -wal and -log: an older version of Troupe wrote "
                               "to it after a newer one",
                               session->path);
    char *old_path = place_join(&session->source, session->path, "-wal");
    if (!old_path)
        return refuse_memory(error);
    status = tr__os_file_rename(old_path, session->vfs.log_path, error);
    source_resize(&session->source, old_path, 0);
    return status ? status : tr__place_sync(session, error);
}

tr_status tr__place_sync(struct store_session *session, tr_error *error)
{
    if (session->directory)
        return tr__os_directory_sync(session->directory, error);
    tr_status status = tr__disk_sync_directory(session->disk);
    return status ? tr__make_refuse(error, status, "syncing the disk in memory") : TR_OK;
}

tr_status tr__place_sign(struct store_session *session, tr_error *error)
{
    if (session->lock_fd < 0 || session->is_signed)
        return TR_OK;
    return tr__os_file_put_text(session->lock_fd, session->directory, PLACE_SIGN, error);
}
