/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes the database of a store, or checks that a database is a store. Increments the epoch of the
 * store.
 */
#ifndef STORE_SQLITE_MAKE_H
#define STORE_SQLITE_MAKE_H

#include "store/sqlite/session.h"

/**
 * Makes or checks the database. The session's writer must be open. Sets the session's key and
 * epoch. `error` may be NULL.
 */
TR_MUST_CHECK tr_status tr__make_database(struct store_session *session,
                                          const struct store_options *options, tr_error *error);

/**
 * Checks the database as tr__make_database does, but writes nothing to it. If `program` is NULL,
 * the store may belong to any program. Sets the session's key and epoch. Returns TR_NOT_SUPPORTED
 * if the store has an earlier format.
 */
TR_MUST_CHECK tr_status tr__make_look(struct store_session *session, const char *program,
                                      tr_error *error);

/**
 * Reads the row that names the program of the store, and sets the session's key and epoch. If
 * `program` is NULL, the store may belong to any program. If `owner` is not NULL, it has space for
 * TR_NAME_MAX + 1 bytes and gets the name of the program. Returns TR_STORE_FOREIGN if the store
 * belongs to another program, and TR_STORE_CORRUPT if the row is missing or damaged. Other statuses
 * are failures of SQLite.
 */
TR_MUST_CHECK tr_status tr__make_read_row(struct store_session *session, const char *program,
                                          char *owner, tr_error *error);
/**
 * Gives the store the key of another store, because rows of the other store are copied into it.
 * Also gives it an epoch that is not below the epochs of these rows.
 */
TR_MUST_CHECK tr_status tr__make_adopt(struct store_session *session, struct hash_key key,
                                       uint64_t epoch, const char *program);
/** Returns the file of a connection's database. Returns NULL if the connection has no file yet. */
sqlite3_file *tr__make_file_of(const struct link *link);

/** Fills in `error` if it is not NULL, and returns the status. */
__attribute__((__format__(__printf__, 3, 4))) tr_status tr__make_refuse(tr_error *error,
                                                                        tr_status status,
                                                                        const char *format, ...);
/** As tr__make_refuse. The text is made from the messages of the operating system and of SQLite. */
tr_status tr__make_refuse_by(tr_error *error, struct store_session *session,
                             const struct link *link, tr_status status);
/**
 * Writes SQLite's message of a connection's last failure. If a call of the operating system has
 * failed, also writes the message of the operating system.
 */
void tr__make_text_by(struct vfs *vfs, const struct link *link, char *text, size_t size);

/**
 * Marks the database file as the file of a store, unless it is already marked. SQLite's tools do
 * not open a marked file. Makes the log durable before the mark, because a marked store without a
 * log is refused. Fails with TR_STORE_FULL, TR_STORE_FAILED, TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__make_mark(struct store_session *session, tr_error *error);

#endif
