/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The place of a store, which is a directory or a disk in memory. A store takes its place, so that no other process and
 * no other store can use it, and gives it back at the end.
 *
 *     lock             locked while the store is open; has a text once the store was made
 *     troupe.db        the database; a range of it is locked too, as SQLite's tools would do
 *     troupe.db-log    the log; exists as long as the store
 *     troupe.db-undo   SQLite's journal, while the database is being made
 *     troupe.db-wal    the log of formats 1 and 2; renamed when such a store is opened
 */
#ifndef STORE_SQLITE_PLACE_H
#define STORE_SQLITE_PLACE_H

#include "store/sqlite/session.h"

/** The text of the lock file, for people who find it. The store only checks that it is not empty. */
#define PLACE_SIGN "A store of Troupe is in this directory. Leave its files alone.\n"

/**
 * Makes the directory if it does not exist, locks it, and sets the session's paths. Returns
 * TR_STORE_BUSY if another process has locked the directory. Returns TR_STORE_CORRUPT if a store
 * was at this place and its database is missing. Other statuses: TR_STORE_FULL, TR_STORE_FAILED,
 * TR_NO_MEMORY. The caller must call tr__place_give afterwards, even after a failure.
 * tr__place_give undoes all of this.
 */
TR_MUST_CHECK tr_status tr__place_take_directory(struct store_session *session,
                                                 const char *directory, tr_error *error);
/** As tr__place_take_directory, for a disk in memory. If `disk` is NULL, makes a new disk. */
TR_MUST_CHECK tr_status tr__place_take_disk(struct store_session *session, struct store_disk *disk,
                                            tr_error *error);
void tr__place_give(struct store_session *session);

/**
 * Opens a database, or makes an empty file. Locks the range of that file that SQLite's tools would
 * lock. Returns TR_STORE_BUSY if another process has locked the range. Other statuses are failures
 * of the operating system.
 */
TR_MUST_CHECK tr_status tr__place_lock_database(const char *path, int *fd, tr_error *error);
/** Whether a directory has the database of a store. */
bool tr__place_has_store(const char *directory);

/**
 * Renames the log of an older format to the current name. Returns TR_STORE_CORRUPT if logs of both
 * names exist. Can also fail with TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__place_adopt_log(struct store_session *session, tr_error *error);

/**
 * Syncs the directory, so that a crash changes nothing about which files exist. Fails with
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__place_sync(struct store_session *session, tr_error *error);

/**
 * Writes a text to the lock file. The text says that a store is here. Fails with TR_STORE_FULL,
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__place_sign(struct store_session *session, tr_error *error);

#endif
