/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An open database: the connection that writes, the connection that makes checkpoints, and their
 * common data.
 */
#ifndef STORE_SQLITE_SESSION_H
#define STORE_SQLITE_SESSION_H

#include "base/hash.h"
#include "store/driver.h"
#include "store/sqlite/link.h"

enum {
    SESSION_FORMAT = 4, /* version of the tables; a store with a greater version is refused */
    SESSION_APPLICATION = 0x54725375, /* "TrSu": the application id in the file */
    /* A log of this many pages or more is tidied in the background: SQLite's default. */
    SESSION_LOG_PAGES = 1000,
    /* Limit of the log's length, as a multiple of log_pages_soon. By default it is 59 MiB with all
     * headers, below TR_STORE_LOG_MAX. */
    SESSION_LOG_MAX = 15,
    /* How many pages of its file the log keeps when it restarts, as a multiple of log_pages_soon. */
    SESSION_LOG_KEPT = 8,
    SESSION_WRITER_CACHES = 4, /* The writer's cache, as a multiple of a reader's. */
};

struct store_session {
    struct memory_source source;
    /* borrowed, or owned if owns_disk; NULL: the store is in a directory */
    struct store_disk *disk;
    bool owns_disk;
    int directory_fd; /* these three descriptors hold the locks; -1: none */
    int lock_fd;
    int database_fd;
    bool is_signed; /* The lock file says that a store was made here. */
    struct vfs vfs;
    size_t cache_bytes;
    struct hash_key key;
    uint64_t epoch;
    struct link writer; /* Committing thread only. */
    struct link tidier; /* Checkpoint thread only. */
    bool has_tidier;
    int log_pages_soon; /* SESSION_LOG_PAGES, or from the options */
    /* The store has failed: nothing is written any more, not even when it is closed. */
    atom32 is_failed;
    /* Committing thread only: rows of destroyed actors may be left; see bury.h. */
    bool has_buried;
    int log_pages;   /* Committing thread only: pages of the log after the last commit. */
    atom32 log_seen; /* copy of log_pages for the thread of a backup */
    /* Committing thread only: most pages that the log had since its file was truncated. */
    int file_pages;
    /* Pages of the log that are in the database; written by the thread that made a checkpoint. */
    atom32 done_pages;
    bool is_read_only;      /* see store_options */
    bool is_sync_off;       /* see store_options */
    char *path;             /* path of the database */
    char *directory;        /* NULL: none */
    sqlite3_vfs engine_vfs; /* the VFS for the databases of actors; see engine_vfs.h */
    char engine_name[32];
};

/** Implement store_driver.open and store_driver.close. */
TR_MUST_CHECK tr_status tr__session_open(const struct store_options *options,
                                         struct store_session **session, uint64_t *epoch,
                                         tr_error *error);
void tr__session_close(struct store_session *session);

/** Takes the place of a store and opens nothing. This is the first step of tr__session_open. */
TR_MUST_CHECK tr_status tr__session_take(const struct store_options *options,
                                         struct store_session **session, tr_error *error);
void tr__session_free(struct store_session *session);

/** Opens a connection with the settings of all connections but the first. */
TR_MUST_CHECK tr_status tr__session_link(struct store_session *session, struct link *link);

/**
 * Makes the store fail: writes the reason, with the messages of the system and of SQLite, and
 * returns TR_STORE_FAILED.
 */
tr_status tr__session_fail(struct store_session *session, const struct link *link, const char *what,
                           struct store_why *why);

/**
 * Checks after a commit that the paths of the store still lead to the files that are open.
 * TR_STORE_FAILED: one was deleted, replaced or truncated, so the store has failed.
 */
tr_status tr__session_check_files(struct store_session *session, struct store_why *why);

#endif
