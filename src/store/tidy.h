/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keeps the log of the store short. Says when the tidying thread writes the log into the database,
 * and when the committing thread waits for it or does the rest itself.
 *
 * SQLite restarts its log only if all of it is in the database when a transaction begins. While
 * commits come without a pause, a checkpoint beside them never reaches the end of the log. So both
 * threads share the work:
 *
 * 1. When the log has log.soon pages that are not in the database, the tidying thread makes a
 *    pass: it writes them into the database and syncs it. Commits continue meanwhile, so a rest
 *    remains: the pages that they have added.
 * 2. From TIDY_DUE times log.soon pages on the log should restart. If the rest is small
 *    (TIDY_REST_PART), the committing thread writes it between two groups, and the log restarts.
 *    Otherwise there is another pass, which is shorter than the previous one. From TIDY_LATE times
 *    log.soon on a larger rest is small enough (TIDY_REST_PART_LATE). Because the rest is small,
 *    few commits wait for a restart, and they wait only as long as a hundred pages take.
 * 3. If the log reaches TIDY_HIGH times log.soon, the committing thread waits before each group, at
 *    most TIDY_SLICE_NS. The time is chosen so that commits add half as many pages as the tidying
 *    thread writes. Groups are smaller then, and batches that destroy wait. So passes become
 *    shorter, until rule 2 applies.
 * 4. A group that could make the log longer than log.max waits until the log can restart. What
 *    prevents the restart ends soon: a pass; the hold of a backup, which copies no more than the
 *    log and a few pages meanwhile; a reader, which makes one read; a reader that is held, whose
 *    next read gives TR_STORE_BUSY while a group waits (is_log_full). If the disk does not respond
 *    for TIDY_WAIT_NS the group is committed nevertheless.
 * 5. If nothing was committed for TIDY_IDLE_NS, a log whose file is longer than log.soon pages is
 *    truncated.
 * 6. Only one thread makes a checkpoint at a time: the one that has the turn (enum tidy_turn). A
 *    pass begins only while the log has pages that are not in the database. So the log never
 *    restarts while a checkpoint reads it, because SQLite before 3.51.3 has a bug there ("WAL-reset
 *    bug": the checkpoint would treat frames of the new log as written).
 */
#ifndef STORE_TIDY_H
#define STORE_TIDY_H

#include "store/core.h"

/** Longest wait of one group that slows commits down (rule 3). */
#define TIDY_SLICE_NS (10 * TR_MILLISECOND)
/** Longest wait of a group for the log to restart. */
#define TIDY_WAIT_NS (1 * TR_MINUTE)
/**
 * How long a group waits for a reader that prevents the restart of the log. Later groups try again.
 */
#define TIDY_READER_NS (200 * TR_MICROSECOND)
/** Time after the last commit in which the log stays as it is. */
#define TIDY_IDLE_NS (1 * TR_SECOND)

enum {
    TIDY_DUE = 5,
    TIDY_LATE = 6,
    TIDY_HIGH = 7,
    /* A rest up to this part of log.soon is small: 100 pages, half a millisecond. */
    TIDY_REST_PART = 10,
    TIDY_REST_PART_LATE = 4,
    /*
     * The pages of a group are estimated (store_batch.pages); the real number may be this many
     * times larger.
     */
    TIDY_ESTIMATE_OFF = 2,
};

/**
 * Called with the driver open. Checks whether an earlier process has left a long log, for rule 5.
 */
void tr__tidy_init(struct store *store);
/** Whether commits are slowed down by rule 3. Committing thread. */
bool tr__tidy_is_behind(struct store *store);

/**
 * Applies rules 2 to 4 before a group is committed. `pages` is the estimated size of the group.
 * TR_STORE_FAILED means the same as for commit. Committing thread.
 */
TR_MUST_CHECK tr_status tr__tidy_before(struct store *store, size_t pages, struct store_why *why);
/**
 * Applies rule 1 after a commit. In a store without threads, makes the checkpoint itself.
 * Committing thread.
 */
TR_MUST_CHECK tr_status tr__tidy_after(struct store *store, struct store_why *why);
/**
 * Applies rule 5 when there is nothing to commit. If nothing is committed until the returned time,
 * call it again then; TR_NEVER: there is no need. If this fails, the store fails. Committing
 * thread.
 */
tr_time tr__tidy_idle(struct store *store);

/**
 * Takes the turn for a backup, so that no checkpoint runs until tr__tidy_give. First waits for the
 * end of a running checkpoint. Commits continue; if the log becomes full, they wait (rule 4). One
 * thread at a time, which must not be a thread of the store.
 */
void tr__tidy_hold(struct store *store);
/** Ends a turn. Call on the thread that has the turn. */
void tr__tidy_give(struct store *store);

/**
 * If tr__store_order_shrink has asked for it, compacts the store and returns true. Committing
 * thread, while the thread that asked has the turn.
 */
bool tr__tidy_shrink(struct store *store);
/**
 * Lets the committing thread compact the store, and waits for it. The calling thread must have
 * called tr__tidy_hold.
 */
TR_MUST_CHECK tr_status tr__store_order_shrink(struct store *store, const atom32 *is_cancelled,
                                               struct store_why *why);

/** Runs the tidying thread until checkpoint_over is set. */
void tr__tidy_main(void *context);

#endif
