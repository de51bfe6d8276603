/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file layer of SQLite. The files are files of the operating system, or of a disk in memory. A
 * hook may be called before each operation. The pages of the database have sums. The locks work
 * only within the process.
 *
 * This layer also keeps SQLite's own tools away from the files. The database does not begin with
 * SQLite's magic, and the log does not have the name that SQLite would give it; see
 * docs/design/store.md.
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
    VFS_MAGIC_SIZE = 16, /* size of the magic, the first bytes of a database, which identify it */
    /* How many pages of the database the disk gets at once. It takes some 0.2 ms to write them. */
    VFS_PAGES_AT_ONCE = 32,
    VFS_LOG_HEADER = 32, /* size of the header of SQLite's log */
    /* The log has at least this many bytes after the last synced frame. This is more than the size
     * of a frame. */
    VFS_LOG_TAIL = 2 * (24 + 4096),
};

/** An operation on a file that failed. */
struct vfs_failure {
    const char *what; /* what was tried, as a verb; NULL: no operation has failed so far */
    const char *path; /* path of the file, in memory of the VFS */
    int code;         /* error number of the operating system; 0: not known */
};

struct vfs {
    sqlite3_vfs base;          /* SQLite uses it; must be the first member */
    sqlite3_vfs *real;         /* SQLite's VFS for files of the operating system */
    struct store_disk *disk;   /* borrowed; the files are on this disk in memory; NULL: none */
    struct store_io_hook hook; /* called before operations on files of the operating system */
    /* While *stops is set, each write fails as if the disk were full. NULL: this cannot happen. */
    const atom32 *stops;
    /* The descriptor through which write_out gives pages of the database to the disk. NULL: it
     * gives none. */
    const int *database_fd;
    struct memory_source source;
    struct shm shm;
    char *names; /* one block of memory for the paths below */
    const char *path;
    const char *log_path;
    const char *undo_path;
    const char *new_path; /* database that a compaction makes, until it gets the name `path` */
    /* The first page is written with the mark of a store. This is set before there are threads. */
    bool is_marked;
    bool is_sync_off;  /* for the crash tests: neither SQLite nor the VFS syncs anything */
    bool is_read_only; /* writes are refused, except to files without a name */
    bool has_no_log;   /* the log is not read; an empty file without a name replaces it */
    bool is_watched;   /* database_id and log_id are known; set before there are threads */
    /* tr__vfs_replace has this lock while it changes database_id and the file that `path` names.
     * The thread that calls tr__vfs_replace may read database_id without the lock. A thread that
     * has this lock takes no other lock. */
    struct lock place_lock;
    struct os_file_id database_id;
    atom32 replaced; /* how often another file has got the name `path` */
    struct os_file_id log_id;
    /* The least size that the database file must have. It is lowered only when a connection of the
     * store shortens the file. */
    atom64 database_least;
    /* The log is durable up to this offset. 0: not known. The connection that has SQLite's write
     * lock writes it. */
    atom64 log_end;
    /* The open log that holds writes. NULL: none does. The connection that has SQLite's write lock uses it. */
    sqlite3_file *log_held;
    struct vfs_failure failure; /* the last failure; the lock of `shm` protects it */
    /* The pages of the database that were written while a copy is made. */
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
 * If a connection has written to its database file since the last sync of that file, syncs the
 * file. Returns a result of SQLite.
 */
int tr__vfs_sync(sqlite3 *database);
/** Unregisters the VFS. No connection may use it. */
void tr__vfs_deinit(struct vfs *vfs);

/**
 * Whether a page matches its sum. The page has the bytes that are in the database file. Pages are
 * counted from 1.
 */
bool tr__vfs_page_is_sound(const unsigned char *page, uint64_t number);

/** What the first bytes of the database file say. */
enum vfs_look {
    VFS_LOOK_NOTHING, /* the file is too short, or cannot be read */
    VFS_LOOK_GARBAGE,
    VFS_LOOK_PLAIN,  /* SQLite's magic, which any database of SQLite has */
    VFS_LOOK_MARKED, /* the magic of a store */
};

/**
 * Reads the first bytes of a connection's file as they are in the file, not as SQLite sees them.
 * Keeps in `vfs` whether the file is marked.
 */
enum vfs_look tr__vfs_look(struct vfs *vfs, sqlite3_file *database);

#endif
