/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The files of a store beside what SQLite does with them: whether they are still there, and what failed.
 */
#ifndef STORE_SQLITE_VFS_WATCH_H
#define STORE_SQLITE_VFS_WATCH_H

#include "store/sqlite/vfs.h"

/** Opens the log, if it is there, beside what connections have open of it. TR_STORE_FAILED, TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__vfs_open_log(struct vfs *vfs, sqlite3_file **log);
void tr__vfs_close_log(struct vfs *vfs, sqlite3_file *log);

/** Remembers which files database and log are; from now on no others are opened in their place. TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__vfs_watch(struct vfs *vfs, tr_error *error);
/** The path of a watched file that was deleted, replaced or cut; NULL: none was. Two calls of the system. */
const char *tr__vfs_missing(const struct vfs *vfs);
/** Whether a path of this VFS names another file than it did when it began to be watched, or none. */
bool tr__vfs_is_strange(const struct vfs *vfs, const char *path);

/** What the system said of the last operation that failed: "cannot sync /x/troupe.db: ..."; "": none did. */
void tr__vfs_failure(struct vfs *vfs, char *text, size_t size);

#endif
