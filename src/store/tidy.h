/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keeps the log of the store short. The tidying thread writes the log into the database. The rules
 * say when it does so, when the committing thread waits for it, and when the committing thread
 * writes the rest itself.
 *
 * SQLite restarts its log only if the whole log is in the database when a transaction begins. While
 * commits come without a pause, a checkpoint that runs at the same time never reaches the end of
 * the log. So both threads share the work:
 *
 * 1. When the log has log.soon pages that are not in the database, the tidying thread makes a pass:
 *    it writes these pages into the database and syncs the database. Commits continue meanwhile.
 *    The pages that they add are the rest, which remains after the pass.
 * 2. From TIDY_DUE times log.soon pages on the log should restart. If the rest is small
 *    (TIDY_REST_PART), the committing thread writes it between two groups, and the log restarts.
 *    Otherwise there is another pass, which is shorter than the previous one. From TIDY_LATE times
 *    log.soon pages on, a larger rest counts as small (TIDY_REST_PART_LATE). Because the rest is
 *    small, few commits wait for a restart, and they wait only as long as it takes to write a
 *    hundred pages.
 * 3. If the log reaches TIDY_HIGH times log.soon pages, the committing thread waits before each
 *    group, at most TIDY_SLICE_NS. This wait is so long that commits add half as many pages as the
 *    tidying thread writes. Groups are smaller then, and batches that destroy wait. So passes
 *    become shorter, until rule 2 applies.
 * 4. A group that could make the log longer than log.max waits until the log can restart. All that
 *    can prevent the restart ends soon. A pass ends. A backup has the hold only while it copies the
 *    log and a few pages. A reader makes one read. The next read of a reader that is held gives
 *    TR_STORE_BUSY while a group waits (is_log_full). If the log still cannot restart after
 *    TIDY_WAIT_NS, because the disk does not respond, the group is committed nevertheless.
 * 5. If nothing was committed for TIDY_IDLE_NS, a log whose file is longer than log.soon pages is
 *    truncated.
 * 6. Only the thread that has the turn (enum tidy_turn) makes a checkpoint. A pass begins only
 *    while the log has pages that are not in the database. So the log never restarts while a
 *    checkpoint reads it. This must not happen, because SQLite before 3.51.3 has a bug there
 *    ("WAL-reset bug"): the checkpoint would treat frames of the new log as written.
 */
#ifndef STORE_TIDY_H
#define STORE_TIDY_H

#include "store/core.h"

/** The longest wait of a group by rule 3, which slows commits down. */
#define TIDY_SLICE_NS (10 * TR_MILLISECOND)
/** The longest wait of a group until the log can restart (rule 4). */
#define TIDY_WAIT_NS (1 * TR_MINUTE)
/**
 * How long a group waits for a reader that prevents the restart of the log. The group is then
 * committed without the restart, and later groups try again.
 */
#define TIDY_READER_NS (200 * TR_MICROSECOND)
/** How long the log stays as it is after the last commit (rule 5). */
#define TIDY_IDLE_NS (1 * TR_SECOND)

enum {
    TIDY_DUE = 5,
    TIDY_LATE = 6,
    TIDY_HIGH = 7,
    /* A rest is small if it has at most log.soon / TIDY_REST_PART pages. With the default of
     * log.soon this is 100 pages, which take half a millisecond. */
    TIDY_REST_PART = 10,
    TIDY_REST_PART_LATE = 4,
    /*
     * The number of pages of a group is estimated (store_batch.pages). The group may really have
     * this many times as many pages.
     */
    TIDY_ESTIMATE_OFF = 2,
};

/** Checks whether an earlier process has left a long log, for rule 5. The driver must be open. */
void tr__tidy_init(struct store *store);
/** Whether commits are slowed down by rule 3. Committing thread. */
bool tr__tidy_is_behind(struct store *store);

/**
 * Applies rules 2 to 4 before a group is committed. `pages` is the estimated size of the group.
 * TR_STORE_FAILED means the same as for store_driver.commit. Committing thread.
 */
TR_MUST_CHECK tr_status tr__tidy_before(struct store *store, size_t pages, struct store_why *why);
/**
 * Applies rule 1 after a commit. In a store without threads, this call makes the checkpoint itself.
 * Committing thread.
 */
TR_MUST_CHECK tr_status tr__tidy_after(struct store *store, struct store_why *why);
/**
 * Applies rule 5 when there is nothing to commit. If nothing is committed until the returned time,
 * the caller must call this function again then. Returns TR_NEVER if no further call is needed. If
 * applying the rule fails, the store fails. Committing thread.
 */
tr_time tr__tidy_idle(struct store *store);

/**
 * Takes the turn for a backup, so that no checkpoint runs until tr__tidy_give. First waits until a
 * running checkpoint has ended. Commits continue. If the log becomes full, they wait (rule 4). One
 * thread at a time, which must not be a thread of the store.
 */
void tr__tidy_hold(struct store *store);
/** Ends the turn of the calling thread. */
void tr__tidy_give(struct store *store);

/**
 * If a thread has called tr__store_order_shrink, compacts the store for it and returns true. That
 * thread has the turn. Committing thread.
 */
bool tr__tidy_shrink(struct store *store);
/**
 * Lets the committing thread compact the store, and waits until it has done so. The calling thread
 * must have called tr__tidy_hold.
 */
TR_MUST_CHECK tr_status tr__store_order_shrink(struct store *store, const atom32 *is_cancelled,
                                               struct store_why *why);

/** Runs the tidying thread until checkpoint_over is set. */
void tr__tidy_main(void *context);

#endif
