/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the length of a store's log, and writes the log into the database. */
#ifndef STORE_SQLITE_TIDY_H
#define STORE_SQLITE_TIDY_H

#include "store/sqlite/session.h"

/**
 * The next three functions implement store_driver.look, store_driver.checkpoint and
 * store_driver.restart.
 */
void tr__session_look(struct store_session *session, struct store_log *log);
tr_status tr__session_checkpoint(struct store_session *session, size_t *pages,
                                 struct store_why *why);
tr_status tr__session_restart(struct store_session *session, bool is_cut, struct store_why *why);
/**
 * Turns off SQLite's automatic checkpoints. From now on session->log_pages has the length of the log after each commit.
 * The writer must be open.
 */
void tr__session_watch_log(struct store_session *session);
/**
 * Reads the length of the log's file. Also sets the length to which SQLite truncates this file when
 * the log restarts. The database must be open.
 */
TR_MUST_CHECK tr_status tr__session_limit_log(struct store_session *session);

#endif
