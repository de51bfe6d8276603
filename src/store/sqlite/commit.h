/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commits groups of batches.
 */
#ifndef STORE_SQLITE_COMMIT_H
#define STORE_SQLITE_COMMIT_H

#include "store/sqlite/session.h"

/**
 * Begins a transaction of the writer. If a reader has the lock of writers, waits until the reader gives it back, which
 * it soon does. Committing thread.
 */
TR_MUST_CHECK tr_status tr__session_begin(struct store_session *session);

/** Implements store_driver.prepare. Any thread. */
void tr__session_prepare(struct store_session *session, struct store_batch *batch);
/** Implements store_driver.commit. */
tr_status tr__session_commit(struct store_session *session, struct store_batch *first,
                             struct store_why *why);

#endif
