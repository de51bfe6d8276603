/* SPDX-License-Identifier: Apache-2.0 */
/** The names of the files of a store. */
#ifndef STORE_SQLITE_VFS_NAMES_H
#define STORE_SQLITE_VFS_NAMES_H

#include "store/sqlite/vfs.h"

/**
 * Makes the names of the files. After each name are the two NULs that SQLite requires after a path.
 * Returns false if there is no memory.
 */
bool tr__vfs_make_names(struct vfs *vfs, const char *path);
/**
 * If `path` is SQLite's name of the log or the journal, returns the name of that file in a store. Returns other paths
 * as they are. SQLite's tools do not look for the names of a store. These tools would copy the log into the database
 * without sums, and delete the log.
 */
const char *tr__vfs_name_of(const struct vfs *vfs, const char *path);

#endif
