/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operations for operators of a store: copy it while it is in use, check it, make it smaller.
 *
 *     tr__store_backup(store, "/backups/monday", on_progress, context, &error);   open, commits continue
 *     tr__store_check(&options, &report, on_damage, context, &error);             not open: only reads
 *     tr__store_compact(&options, &report, &error);                               not open
 *     tr__store_shrink(store, NULL, &report, &error);                             open, commits wait
 *
 * A backup is a store of its own: a directory with the same files, of the same program. To restore
 * it, put it in the place of the old directory. docs/design/store.md explains how a copy is
 * consistent while commits continue.
 */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "os/atomic.h"
#include "store/store.h"

/** The progress of a backup. */
struct store_backup_progress {
    /* Bytes copied so far. A page counts again if it had changed and was copied again. */
    uint64_t copied_bytes;
    uint64_t total_bytes; /* size of the store's files at this time, in bytes */
};
/**
 * A function that a backup calls on its thread, at most once for each STORE_BACKUP_STEP bytes. The function returns
 * false to stop the backup with TR_CANCELLED. It must not wait for a commit of this store, because in the last steps
 * commits may wait for the backup.
 */
typedef bool store_backup_step(void *context, const struct store_backup_progress *progress);

enum { STORE_BACKUP_STEP = 4 << 20 };
/** The longest pause that a backup makes for commits after a step. */
#define STORE_REST_NS (1 * TR_SECOND)

/**
 * Copies an open store into a new directory, `path`, which must not exist; its parent must.
 *
 * The copy has the state of the store at one moment before the end of the call. It has every batch
 * whose on_done came with TR_OK before the call, and may have later batches. Each page is checked
 * against its sum. The copy is made in `path`.part, is synced, and gets the name `path` at the end.
 * So a directory with the name `path` is a complete backup. After a failure or a crash, the
 * directory `path`.part may be left. The next backup to the same path removes that directory. While
 * batches are committed, the backup pauses after each step for as long as the step took, but at
 * most for STORE_REST_NS.
 *
 * Any thread but a worker, because the call waits for the disk. One backup of a store at a time.
 * `on_step` may be NULL.
 *
 * TR_STORE_BUSY: another backup runs. TR_NAME_EXISTS: `path` exists. TR_NOT_SUPPORTED: the store is
 * in memory, or has no threads. TR_INVALID_ARGUMENT: `path` is NULL. TR_STORE_CORRUPT: a page does
 * not fit its sum; the text says which. TR_STORE_FULL, TR_STORE_FAILED: the new files could not be
 * written; the store itself does not fail. TR_STORE_FAILED: the store has failed before. Also fails
 * with TR_CANCELLED or TR_NO_MEMORY. `error` may be NULL.
 */
TR_MUST_CHECK tr_status tr__store_backup(struct store *store, const char *path,
                                         store_backup_step *on_step, void *context,
                                         tr_error *error);

/** The results of a check. */
struct store_check {
    uint64_t pages;   /* pages of the database, which were compared with their sums */
    uint64_t actors;  /* rows of actors */
    uint64_t rows;    /* all other rows that have a seal */
    uint64_t damages; /* how often on_damage was called */
};
/**
 * A function that a check calls for each damage that it has found. The text is borrowed for the
 * call.
 */
typedef void store_check_damage(void *context, const char *text);

/**
 * Checks a store that is not open: the log, the sum of each page, the structure of all tables and
 * indexes, and the seal of each row, which is a sum over its contents. Changes nothing, and locks
 * the store during the check. Of `options`, uses only the name of the program and where the store
 * is.
 *
 * TR_OK: everything was checked; the store is intact if report->damages is 0. TR_NOT_FOUND: there
 * is no store. TR_STORE_BUSY: the store is open. TR_STORE_CORRUPT: the store is so damaged that it
 * cannot be checked. Also fails with TR_STORE_FOREIGN, TR_STORE_NEWER, TR_STORE_FAILED,
 * TR_NO_MEMORY or TR_NOT_SUPPORTED. `on_damage` and `error` may be NULL. Any thread; waits for the
 * disk.
 */
TR_MUST_CHECK tr_status tr__store_check(const struct store_options *options,
                                        struct store_check *report, store_check_damage *on_damage,
                                        void *context, tr_error *error);

/** The size of a store's files before and after a compaction, in bytes. */
struct store_compact {
    uint64_t bytes_before;
    uint64_t bytes_after;
};

/**
 * Gives unused pages of a store that is not open back to the file system. Needs as much free space
 * on the disk as the used pages take. If a crash interrupts the compaction, the store is either
 * unchanged or compacted. If `options` name no program, the store may belong to any program.
 * Returns the statuses of tr__store_open. Any thread; waits for the disk.
 */
TR_MUST_CHECK tr_status tr__store_compact(const struct store_options *options,
                                          struct store_compact *report, tr_error *error);

/**
 * Does what tr__store_compact does, for a store that is open. Commits wait meanwhile, because the
 * committing thread itself compacts, between two groups. Reads continue, except for the moment in
 * which the new file replaces the old one.
 *
 * `is_cancelled` may be NULL. If another thread sets *is_cancelled before everything is copied, the
 * compaction soon ends with TR_CANCELLED.
 *
 * Any thread but a worker; waits for the disk. TR_STORE_BUSY: a backup or another compaction runs,
 * or one read has taken more than a second. TR_FAILED: the new file could not be made. Also fails
 * with TR_STORE_FULL, TR_NO_MEMORY or TR_CANCELLED. With any status so far, nothing has changed.
 * TR_STORE_FAILED: the store has failed. TR_NOT_SUPPORTED: the store has no thread, or is in
 * memory.
 */
TR_MUST_CHECK tr_status tr__store_shrink(struct store *store, const atom32 *is_cancelled,
                                         struct store_compact *report, tr_error *error);

#endif
