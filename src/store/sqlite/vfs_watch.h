/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks on the files of a store without the help of SQLite. Finds out whether the files still
 * exist unchanged, and which operation has failed.
 */
#ifndef STORE_SQLITE_VFS_WATCH_H
#define STORE_SQLITE_VFS_WATCH_H

#include "store/sqlite/vfs.h"

/**
 * If the log exists, opens it as a file of its own, in addition to the files of the connections.
 * Fails with TR_STORE_FAILED, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__vfs_open_log(struct vfs *vfs, sqlite3_file **log);
void tr__vfs_close_log(struct vfs *vfs, sqlite3_file *log);

/**
 * Keeps the ids of the database file and the log file. From now on the VFS does not open a file at
 * their paths that has another id. Fails with TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__vfs_watch(struct vfs *vfs, tr_error *error);
/**
 * Returns the path of a watched file that was deleted, replaced or truncated. Returns NULL if there
 * is none. Makes two system calls.
 */
const char *tr__vfs_missing(const struct vfs *vfs);
/** Whether a path of this VFS names no file, or a file that tr__vfs_watch has not found there. */
bool tr__vfs_is_strange(struct vfs *vfs, const char *path);
/**
 * Renames new_path to the path of the database. From then on the renamed file is watched. Each
 * connection opens the database again before its next use of the file. No connection may be in a
 * transaction. After TR_STORE_FULL or TR_STORE_FAILED nothing has changed. Committing thread.
 */
TR_MUST_CHECK tr_status tr__vfs_replace(struct vfs *vfs, tr_error *error);

/**
 * Writes the operating system's error of the last operation that failed, as in "cannot sync
 * /x/troupe.db: ...". Writes "" if no operation has failed.
 */
void tr__vfs_failure(struct vfs *vfs, char *text, size_t size);

#endif
