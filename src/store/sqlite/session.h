/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An open database: the connection that writes, the one that tidies, and what both share.
 */
#ifndef STORE_SQLITE_SESSION_H
#define STORE_SQLITE_SESSION_H

#include "base/hash.h"
#include "store/driver.h"
#include "store/sqlite/link.h"

enum {
    SESSION_FORMAT = 3,               /* of the tables; a greater one is refused */
    SESSION_APPLICATION = 0x54725375, /* "TrSu": what the file says it is */
    /* Pages of the log from which on it is tidied in the background: as many as SQLite has by default. */
    SESSION_LOG_PAGES = 1000,
    /* The log has at most so many times as many: with its headers 59 MiB, below TR_STORE_LOG_MAX. */
    SESSION_LOG_MAX = 15,
    /* Its file keeps so many times as many when it starts over. */
    SESSION_LOG_KEPT = 5,
    SESSION_WRITER_CACHES = 4, /* The writer's cache, in those of a reader. */
};

struct store_session {
    struct memory_source source;
    struct store_disk *disk; /* lent, or own; NULL: a directory */
    bool owns_disk;
    int directory_fd; /* These three are the locks; -1: none. */
    int lock_fd;
    int database_fd;
    bool is_signed; /* The lock file says that a store was made here. */
    struct vfs vfs;
    size_t cache_bytes;
    struct hash_key key;
    uint64_t epoch;
    struct link writer; /* The committing thread's. */
    struct link tidier; /* The thread's of the checkpoints. */
    bool has_tidier;
    int log_pages_soon; /* SESSION_LOG_PAGES, or of the options */
    atom32 is_failed;   /* The store's end: nothing is written any more, not even by closing it. */
    /* The committing thread's: rows of destroyed actors may be left; see bury.h. */
    bool has_buried;
    int log_pages;          /* The committing thread's: as of its last commit. */
    int file_pages;         /* The same: the most since the file of the log was cut. */
    atom32 done_pages;      /* Of the log, in the database; written by whoever made a checkpoint. */
    bool is_sync_off;       /* see store_options */
    char *path;             /* of the database */
    char *directory;        /* NULL: none */
    sqlite3_vfs engine_vfs; /* of the databases of actors: engine_vfs.c */
    char engine_name[32];
};

/** open and close of the driver. */
TR_MUST_CHECK tr_status tr__session_open(const struct store_options *options,
                                         struct store_session **session, uint64_t *epoch,
                                         tr_error *error);
void tr__session_close(struct store_session *session);

/** Takes the place of a store, and opens nothing; what tr__session_open does first. */
TR_MUST_CHECK tr_status tr__session_take(const struct store_options *options,
                                         struct store_session **session, tr_error *error);
void tr__session_free(struct store_session *session);

/** Opens a connection with the settings of one that is not the first. */
TR_MUST_CHECK tr_status tr__session_link(struct store_session *session, struct link *link);

/** The end: says why, with the messages of the system and of SQLite, and gives TR_STORE_FAILED. */
tr_status tr__session_fail(struct store_session *session, const struct link *link, const char *what,
                           struct store_why *why);

/**
 * After a commit: whether the files that it went to are still those of the store. TR_STORE_FAILED: one was deleted,
 * replaced or cut, which is the end.
 */
tr_status tr__session_check_files(struct store_session *session, struct store_why *why);

#endif
