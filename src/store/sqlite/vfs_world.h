/* SPDX-License-Identifier: Apache-2.0 */
/** What SQLite needs from the platform besides files: time, randomness and sleep. */
#ifndef STORE_SQLITE_VFS_WORLD_H
#define STORE_SQLITE_VFS_WORLD_H

#include <sqlite3.h>

/** Sets the time, randomness and sleep functions of a VFS. Part of tr__vfs_init. */
void tr__vfs_set_world(sqlite3_vfs *base);

#endif
