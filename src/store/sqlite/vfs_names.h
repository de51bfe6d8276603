/* SPDX-License-Identifier: Apache-2.0 */
/** Names of the files of a store. */
#ifndef STORE_SQLITE_VFS_NAMES_H
#define STORE_SQLITE_VFS_NAMES_H

#include "store/sqlite/vfs.h"

/**
 * Makes the names of the files, each with the two NULs that SQLite requires after a path. Returns
 * false if out of memory.
 */
bool tr__vfs_make_names(struct vfs *vfs, const char *path);
/**
 * Returns the name of the log or the journal in a store. SQLite's tools do not look for these names: they would copy
 * the log into the database without sums, and delete the log. Returns other paths as they are.
 */
const char *tr__vfs_name_of(const struct vfs *vfs, const char *path);

#endif
