/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An open database. It has the connection that writes, the connection that makes checkpoints, and
 * their common data.
 */
#ifndef STORE_SQLITE_SESSION_H
#define STORE_SQLITE_SESSION_H

#include "base/hash.h"
#include "store/driver.h"
#include "store/sqlite/link.h"

enum {
    SESSION_FORMAT = 4, /* the format of the tables; a store with a higher format is refused */
    SESSION_APPLICATION = 0x54725375, /* the application id in the file, "TrSu" */
    /* A log of this many pages or more is tidied in the background. The number is SQLite's
     * default. */
    SESSION_LOG_PAGES = 1000,
    /* The longest log, as a multiple of log_pages_soon. By default the log has at most 59 MiB with
     * all headers, which is below TR_STORE_LOG_MAX. */
    SESSION_LOG_MAX = 15,
    /* When the log restarts, its file keeps this many pages at most, as a multiple of
     * log_pages_soon. */
    SESSION_LOG_KEPT = 8,
    SESSION_WRITER_CACHES = 4, /* size of the writer's cache, as a multiple of a reader's cache */
};

struct store_session {
    struct memory_source source;
    /* NULL: the store is in a directory. Borrowed, unless owns_disk is true. */
    struct store_disk *disk;
    bool owns_disk;
    int directory_fd; /* this and the next two descriptors hold the locks; -1: none */
    int lock_fd;
    int database_fd;
    bool is_signed; /* the lock file has the text of a store that was made here */
    struct vfs vfs;
    size_t cache_bytes;
    struct hash_key key;
    uint64_t epoch;
    struct link writer; /* used by the committing thread only */
    struct link tidier; /* used by the tidying thread only */
    bool has_tidier;
    int log_pages_soon; /* store_options.log_pages, or SESSION_LOG_PAGES if that is 0 */
    /* The store has failed. From now on nothing is written, not even when the store is closed. */
    atom32 is_failed;
    /* Rows of destroyed actors may be left; see bury.h. Committing thread only. */
    bool has_buried;
    int log_pages;   /* pages of the log after the last commit; committing thread only */
    atom32 log_seen; /* a copy of log_pages, which the thread of a backup reads */
    /* The largest number of pages that the log has had since its file was truncated. Committing thread only. */
    int file_pages;
    /* How many pages of the log are in the database. The thread that makes a checkpoint writes
     * it. */
    atom32 done_pages;
    bool is_read_only;      /* see store_options */
    bool is_sync_off;       /* see store_options */
    char *path;             /* path of the database */
    char *directory;        /* NULL: none */
    sqlite3_vfs engine_vfs; /* the VFS for actors' own databases; see engine_vfs.h */
    char engine_name[32];
};

/** Implements store_driver.open. */
TR_MUST_CHECK tr_status tr__session_open(const struct store_options *options,
                                         struct store_session **session, uint64_t *epoch,
                                         tr_error *error);
void tr__session_close(struct store_session *session);

/** Takes the place of a store, but opens nothing. This is the first step of tr__session_open. */
TR_MUST_CHECK tr_status tr__session_take(const struct store_options *options,
                                         struct store_session **session, tr_error *error);
void tr__session_free(struct store_session *session);

/** Opens a connection other than the writer, with the settings of such connections. */
TR_MUST_CHECK tr_status tr__session_link(struct store_session *session, struct link *link);

/**
 * Makes the store fail. Writes the reason to *why, with the messages of the operating system and of
 * SQLite. Returns TR_STORE_FAILED.
 */
tr_status tr__session_fail(struct store_session *session, const struct link *link, const char *what,
                           struct store_why *why);

/**
 * Checks after a commit whether the paths of the store still name the files that are open. If such
 * a file was deleted, replaced or truncated, the store fails, and the status is TR_STORE_FAILED.
 */
tr_status tr__session_check_files(struct store_session *session, struct store_why *why);

#endif
