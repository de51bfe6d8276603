/* SPDX-License-Identifier: Apache-2.0 */
/** What SQLite needs from the platform besides files: time, randomness and sleep. */
#ifndef STORE_SQLITE_VFS_WORLD_H
#define STORE_SQLITE_VFS_WORLD_H

#include <sqlite3.h>

/** Sets the functions of a VFS for time, randomness and sleep. tr__vfs_init calls it. */
void tr__vfs_set_world(sqlite3_vfs *base);

#endif
