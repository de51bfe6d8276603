/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The way of SQLite to the world: files of the system, or of a disk in memory, with a hook before each
 * operation, sums on the pages of the database, and locks that stay within the process.
 *
 * Each store has one, under a name of its own.
 */
#ifndef STORE_SQLITE_VFS_H
#define STORE_SQLITE_VFS_H

#include "store/disk.h"
#include "store/sqlite/shm.h"

#include <sqlite3.h>

struct vfs {
    sqlite3_vfs base;          /* first; SQLite's */
    sqlite3_vfs *real;         /* what does the work, for files of the system */
    struct store_disk *disk;   /* instead of them; lent */
    struct store_io_hook hook; /* of files of the system */
    struct memory_source source;
    struct shm shm;
    bool is_guarded; /* The first opener of the database holds the kernel's lock of it. */
    char name[40];
};

/** Registers it. `disk` and `hook` may be NULL. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__vfs_init(struct vfs *vfs, const struct memory_source *source,
                                     struct store_disk *disk, const struct store_io_hook *hook);
/** Syncs the database file of a connection if that has written to it since it synced it. A result of SQLite. */
int tr__vfs_sync(sqlite3 *database);
/** No connection uses it any more. */
void tr__vfs_deinit(struct vfs *vfs);

#endif
