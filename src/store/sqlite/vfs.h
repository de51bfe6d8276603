/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The way of SQLite to the world: files of the system, or of a disk in memory, with a hook before each
 * operation, sums on the pages of the database, and locks that stay within the process.
 *
 * It also keeps SQLite's own tools from the files. The database begins with another magic than SQLite's, and the log
 * is not named as SQLite would name it; see docs/design/store.md.
 *
 * Each store has one, under a name of its own.
 */
#ifndef STORE_SQLITE_VFS_H
#define STORE_SQLITE_VFS_H

#include "os/atomic.h"
#include "os/file.h"
#include "store/disk.h"
#include "store/sqlite/shm.h"

#include <sqlite3.h>

enum {
    VFS_MAGIC_SIZE = 16, /* the first bytes of a database, which say what it is */
    VFS_LOG_HEADER = 32, /* of SQLite's log */
    /* After the last frame that was synced the log has so many bytes at least: more than a frame. */
    VFS_LOG_TAIL = 2 * (24 + 4096),
};

/** An operation of the system that failed. */
struct vfs_failure {
    const char *what; /* a verb; NULL: none failed so far */
    const char *path; /* one of the VFS */
    int code;         /* of the system; 0: it did not say */
};

struct vfs {
    sqlite3_vfs base;          /* first; SQLite's */
    sqlite3_vfs *real;         /* what does the work, for files of the system */
    struct store_disk *disk;   /* instead of them; lent */
    struct store_io_hook hook; /* of files of the system */
    struct memory_source source;
    struct shm shm;
    char *names; /* one block: */
    const char *path;
    const char *log_path;
    const char *undo_path;
    /* The first page is written with the mark of a store. Set before there are threads. */
    bool is_marked;
    bool is_sync_off;  /* The canary of the tests: our own syncs are left out, too. */
    bool is_read_only; /* Nothing is written but to files without a name. */
    bool has_no_log;   /* The log is not looked at; an empty file without a name stands for it. */
    bool is_watched;   /* These are known; set before there are threads. */
    struct os_file_id database_id;
    struct os_file_id log_id;
    /* Up to here the log is there, durably; 0: not known. Written by the connection that has SQLite's lock to write. */
    atom64 log_end;
    struct vfs_failure failure; /* the last one; with the lock of shm */
    char name[40];
};

/**
 * Registers it, for a database of this path, which is copied. `disk` and `hook` may be NULL. TR_NO_MEMORY,
 * TR_NOT_SUPPORTED.
 */
TR_MUST_CHECK tr_status tr__vfs_init(struct vfs *vfs, const struct memory_source *source,
                                     struct store_disk *disk, const char *path,
                                     const struct store_io_hook *hook);
/** Syncs the database file of a connection if that has written to it since it synced it. A result of SQLite. */
int tr__vfs_sync(sqlite3 *database);
/** No connection uses it any more. */
void tr__vfs_deinit(struct vfs *vfs);

/** What the first bytes of the database file are. */
enum vfs_look {
    VFS_LOOK_NOTHING, /* there are too few, or they cannot be read */
    VFS_LOOK_GARBAGE,
    VFS_LOOK_PLAIN,  /* those of any database of SQLite */
    VFS_LOOK_MARKED, /* those of a store */
};

/** Looks at the file of a connection, past what SQLite sees of it, and remembers whether it is marked. */
enum vfs_look tr__vfs_look(struct vfs *vfs, sqlite3_file *database);

#endif
