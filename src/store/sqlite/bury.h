/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deletes destroyed actors. Their names become free at once, and their rows are deleted a few at a
 * time.
 *
 * An actor with few rows is deleted with its batch. An actor with many rows gets a name that no
 * actor has: a NUL and its number. So nothing finds the actor under its old name. No new actor gets
 * its number, because its row still exists. The new name also shows, even after a crash, that rows
 * of the actor are left. These rows are deleted in slices, and the actor's own row last.
 */
#ifndef STORE_SQLITE_BURY_H
#define STORE_SQLITE_BURY_H

#include "store/sqlite/session.h"

enum {
    BURY_AT_ONCE = 32, /* an actor with at most this many rows is deleted with its batch */
    BURY_SLICE = 128,  /* rows that one transaction deletes, which takes about 0.1 ms */
};

/**
 * Destroys the actor of this row, within a transaction of the writer. Returns TR_STALE if the row
 * has another seal than `seal`. After any failure, the caller must roll the transaction back.
 */
TR_MUST_CHECK tr_status tr__bury(struct store_session *session, int64_t id, tr_bytes seal);

/**
 * Deletes one slice of rows, within a transaction of the writer. Sets session->has_buried to
 * whether more rows may be left.
 */
TR_MUST_CHECK tr_status tr__bury_slice(struct store_session *session);

/**
 * Destroys all actors with the mark of tr__store_doom. The store calls it when it is opened, before
 * any entry can read such an actor.
 */
TR_MUST_CHECK tr_status tr__bury_doomed(struct store_session *session);

/** Implements store_driver.bury. */
tr_status tr__session_bury(struct store_session *session, bool *has_more, struct store_why *why);

#endif
