/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What SQLite asks of the world besides files: time, randomness and sleep.
 */
#ifndef STORE_SQLITE_VFS_WORLD_H
#define STORE_SQLITE_VFS_WORLD_H

#include <sqlite3.h>

/** Time, randomness and sleep of a VFS of ours; part of tr__vfs_init. */
void tr__vfs_set_world(sqlite3_vfs *base);

#endif
