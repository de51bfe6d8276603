/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks on the files of a store, independent of SQLite: whether they still exist unchanged, and
 * which operation has failed.
 */
#ifndef STORE_SQLITE_VFS_WATCH_H
#define STORE_SQLITE_VFS_WATCH_H

#include "store/sqlite/vfs.h"

/**
 * Opens the log, if it exists, in a file of its own beside those of the connections. Fails with
 * TR_STORE_FAILED, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__vfs_open_log(struct vfs *vfs, sqlite3_file **log);
void tr__vfs_close_log(struct vfs *vfs, sqlite3_file *log);

/**
 * Remembers the ids of the database file and the log file. From now on no other files are opened in
 * their place. Fails with TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__vfs_watch(struct vfs *vfs, tr_error *error);
/**
 * Returns the path of a watched file that was deleted, replaced or truncated; NULL if none was.
 * Makes two system calls.
 */
const char *tr__vfs_missing(const struct vfs *vfs);
/** Whether a path of this VFS names no file, or another file than tr__vfs_watch has found. */
bool tr__vfs_is_strange(struct vfs *vfs, const char *path);
/**
 * Renames new_path to the path of the database, which is watched from then on. Each connection
 * opens the database again before its next use of the file. No connection may be in a transaction.
 * Committing thread. TR_STORE_FULL, TR_STORE_FAILED: nothing has changed.
 */
TR_MUST_CHECK tr_status tr__vfs_replace(struct vfs *vfs, tr_error *error);

/**
 * Writes the system's error of the last failed operation: "cannot sync /x/troupe.db: ...", or "" if
 * none failed.
 */
void tr__vfs_failure(struct vfs *vfs, char *text, size_t size);

#endif
