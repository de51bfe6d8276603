/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file layer of SQLite: files of the system, or of a disk in memory, with a hook before each
 * operation, sums on the pages of the database, and locks within the process.
 *
 * It also keeps SQLite's own tools away from the files. The database begins with another magic than
 * SQLite's, and the log has another name than SQLite would give it; see docs/design/store.md.
 *
 * Each store has one VFS, with its own name.
 */
#ifndef STORE_SQLITE_VFS_H
#define STORE_SQLITE_VFS_H

#include "os/atomic.h"
#include "os/file.h"
#include "store/disk.h"
#include "store/sqlite/shm.h"
#include "store/sqlite/vfs_changes.h"

#include <sqlite3.h>

enum {
    VFS_MAGIC_SIZE = 16, /* the first bytes of a database, which identify it */
    /* pages of the database that are given to the disk at once: some 0.2 ms */
    VFS_PAGES_AT_ONCE = 32,
    VFS_LOG_HEADER = 32, /* bytes of the header of SQLite's log */
    /* The log has at least this many bytes after the last synced frame. They are more than a
     * frame. */
    VFS_LOG_TAIL = 2 * (24 + 4096),
};

/** An operation of the system that failed. */
struct vfs_failure {
    const char *what; /* what was tried, as a verb; NULL: nothing has failed so far */
    const char *path; /* a path of the VFS */
    int code;         /* error number of the system; 0: unknown */
};

struct vfs {
    sqlite3_vfs base;          /* must be the first member; used by SQLite */
    sqlite3_vfs *real;         /* the VFS for files of the system */
    struct store_disk *disk;   /* borrowed: used instead of files of the system; NULL: none */
    struct store_io_hook hook; /* called before operations on files of the system */
    /* while *stops is set, each write fails as if the disk were full; NULL: never */
    const atom32 *stops;
    /* descriptor of the database through which its pages are written out; NULL: they are not */
    const int *database_fd;
    struct memory_source source;
    struct shm shm;
    char *names; /* one block of memory for the paths below */
    const char *path;
    const char *log_path;
    const char *undo_path;
    const char
        *new_path; /* the database that a compaction makes, until it takes the place of `path` */
    /* The first page is written with the mark of a store. Set before there are threads. */
    bool is_marked;
    bool is_sync_off;  /* For the crash tests: neither SQLite nor the VFS itself syncs anything. */
    bool is_read_only; /* Writes are refused, except to files without a name. */
    bool has_no_log;   /* The log is not read: an empty file without a name replaces it. */
    bool is_watched;   /* database_id and log_id are known. Set before there are threads. */
    /* Held by tr__vfs_replace while it changes database_id and the file that `path` names. The
     * thread that calls tr__vfs_replace may read database_id without the lock. No other lock is
     * taken under it. */
    struct lock place_lock;
    struct os_file_id database_id;
    atom32 replaced; /* number of times that `path` was given to another file */
    struct os_file_id log_id;
    /* least size of the database file; lowered only when a connection of the store shortens the
     * file */
    atom64 database_least;
    /* The log is durable up to this offset; 0: not known. Written by the connection that has
     * SQLite's write lock. */
    atom64 log_end;
    struct vfs_failure failure; /* the last failure; protected by the lock of shm */
    /* notes pages of the database that were written while a copy is made */
    struct vfs_changes changes;
    char name[40];
};

/**
 * Registers the VFS for the database with this path. Copies the path. `disk` and `hook` may be
 * NULL. Fails with TR_NO_MEMORY, TR_NOT_SUPPORTED.
 */
TR_MUST_CHECK tr_status tr__vfs_init(struct vfs *vfs, const struct memory_source *source,
                                     struct store_disk *disk, const char *path,
                                     const struct store_io_hook *hook);
/**
 * Syncs the database file of a connection if the connection has written to it since its last sync.
 * Returns a result of SQLite.
 */
int tr__vfs_sync(sqlite3 *database);
/** Unregisters the VFS. No connection may use it. */
void tr__vfs_deinit(struct vfs *vfs);

/**
 * Whether a page, with the bytes that the database file has, matches its sum. Pages are counted
 * from 1.
 */
bool tr__vfs_page_is_sound(const unsigned char *page, uint64_t number);

/** Results of reading the first bytes of the database file. */
enum vfs_look {
    VFS_LOOK_NOTHING, /* the file is too short, or cannot be read */
    VFS_LOOK_GARBAGE,
    VFS_LOOK_PLAIN,  /* the magic of any database of SQLite */
    VFS_LOOK_MARKED, /* the magic of a store */
};

/**
 * Reads the first bytes of the file of a connection as they are in the file, not as SQLite sees
 * them. Remembers whether the file is marked.
 */
enum vfs_look tr__vfs_look(struct vfs *vfs, sqlite3_file *database);

#endif
