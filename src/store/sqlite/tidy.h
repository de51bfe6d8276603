/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of a store: how long it is, and writing it into the database.
 */
#ifndef STORE_SQLITE_TIDY_H
#define STORE_SQLITE_TIDY_H

#include "store/sqlite/session.h"

/** Functions look, checkpoint and restart of the driver. */
void tr__session_look(struct store_session *session, struct store_log *log);
tr_status tr__session_checkpoint(struct store_session *session, size_t *pages,
                                 struct store_why *why);
tr_status tr__session_restart(struct store_session *session, bool is_cut, struct store_why *why);
/**
 * Turns off SQLite's automatic checkpoints, and notes the length of the log at each commit. The
 * writer is open.
 */
void tr__session_watch_log(struct store_session *session);
/** Reads how long the file of the log is, and sets how long it may stay. The database is open. */
TR_MUST_CHECK tr_status tr__session_limit_log(struct store_session *session);

#endif
