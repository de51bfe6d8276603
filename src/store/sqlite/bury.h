/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Destroyed actors: how their names become free at once, and their rows a few at a time.
 *
 * An actor with few rows is deleted with its batch. The row of one with many gets a name that no actor has, a NUL and
 * its number: nothing leads to it any more, its number is not used again while it is there, and what is left of it is
 * found by that name, also after a crash. Its other rows are deleted in slices, and it goes last.
 */
#ifndef STORE_SQLITE_BURY_H
#define STORE_SQLITE_BURY_H

#include "store/sqlite/session.h"

enum {
    BURY_AT_ONCE = 32, /* rows that a batch deletes itself */
    BURY_SLICE = 128,  /* rows that are deleted with one transaction: some 0.1 ms */
};

/**
 * Destroys the actor of this row, within a transaction of the writer. TR_STALE: its seal is another one. If it fails
 * the transaction is to be taken back.
 */
TR_MUST_CHECK tr_status tr__bury(struct store_session *session, int64_t id, tr_bytes seal);

/** Deletes one slice, within a transaction of the writer. session->has_buried: there may be more. */
TR_MUST_CHECK tr_status tr__bury_slice(struct store_session *session);

/** Destroys what has the mark of tr__store_doom. When a store is opened no entry is left that may read it. */
TR_MUST_CHECK tr_status tr__bury_doomed(struct store_session *session);

/** bury of the driver. */
tr_status tr__session_bury(struct store_session *session, bool *has_more, struct store_why *why);

#endif
