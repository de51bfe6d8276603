/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface between a store and the code that keeps its data: a table of functions. The SQLite
 * driver is in store/sqlite.
 *
 * The store makes sure that arguments are within their limits, that the entries of a group are
 * current, and that every caller gets an answer. A driver checks the generation of each batch
 * against the stored one, and makes the batches durable in their order. A name has the kind, a NUL,
 * and the key.
 */
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include "store/backup.h"
#include "store/read.h"
#include "store/record.h"
#include "store/sql.h"

/** An open driver, with its connection for writing. */
struct store_session;
/** One connection of a reader. */
struct store_view;

/** The text that says why a store failed. */
struct store_why {
    char text[400];
};

/** The length of a driver's log, in pages. */
struct store_log {
    size_t pages; /* at the last commit: pages that the log has since its last restart */
    /* How many of `pages` are not yet in the database. While a checkpoint runs, this is the number
     * from when the checkpoint began. */
    size_t rest_pages;
    /* the largest number of pages that the log had since its file was truncated last */
    size_t file_pages;
    size_t soon; /* from this many pages on the log should be tidied */
    size_t max;  /* the largest number of pages that the log may have */
};

/** The arguments of a backup, for the driver. */
struct store_backup_call {
    const char *path;
    store_backup_step *on_step; /* NULL: none */
    void *context;
    /* Between hold and give no checkpoint runs, but commits continue. If a checkpoint runs, hold waits until it
     * ends. */
    void (*hold)(struct store *store);
    void (*give)(struct store *store);
    /* The driver calls it after each step, but not between hold and give. Waits if commits need the
     * disk and the processors. */
    void (*rest)(struct store *store);
    struct store *store;
};

struct store_driver {
    /** Implements tr__store_open. `error` may be NULL. */
    tr_status (*open)(const struct store_options *options, struct store_session **session,
                      uint64_t *epoch, tr_error *error);
    /** Closes the driver. All views must be freed before. */
    void (*close)(struct store_session *session);
    /** Implements tr__store_salvage. A driver that cannot do it has NULL here. */
    tr_status (*salvage)(const struct store_options *from, const struct store_options *into,
                         struct store_salvage *report, store_salvage_lost *on_lost, void *context,
                         tr_error *error);

    /**
     * Computes what a commit needs to know of a batch alone, so that the committing thread, for which all others wait,
     * need not. Called before the batch is submitted. Any thread.
     */
    void (*prepare)(struct store_session *session, struct store_batch *batch);
    /**
     * Commits a group of batches, which are linked by `next`, in this order, and sets the status of
     * each batch. Batches with TR_OK are on disk. If one batch fails, the others are still
     * committed, unless the disk is full or memory is short. Returns TR_STORE_FAILED if it is not
     * known what is on disk; the statuses of the batches are then not valid. Committing thread.
     */
    tr_status (*commit)(struct store_session *session, struct store_batch *first,
                        struct store_why *why);
    /**
     * Deletes a small part of the rows of destroyed actors. The store calls it when there is
     * nothing to commit; a commit also deletes such a part. Sets *has_more if the store must call
     * it again. TR_STORE_FAILED means the same as for commit. Committing thread.
     */
    tr_status (*bury)(struct store_session *session, bool *has_more, struct store_why *why);
    /** Sets *log to the length of the log. Committing thread. */
    void (*look)(struct store_session *session, struct store_log *log);
    /**
     * Writes the pages of the log into the database and syncs the database. Sets *pages to the
     * number of these pages. Runs on a thread of its own, while other threads commit and read. Is
     * called only if the log has pages that are not in the database. Returns TR_OK even if the
     * attempt must be repeated later. TR_STORE_FAILED means the same as for commit.
     */
    tr_status (*checkpoint)(struct store_session *session, size_t *pages, struct store_why *why);
    /**
     * Writes the rest of the log into the database. After TR_OK the next commit writes at the start
     * of the log again. If `is_cut` is true, also truncates the file of the log. Returns
     * TR_STORE_BUSY if a reader prevents this. TR_STORE_FAILED means the same as for commit. After
     * any other status, the caller tries again later. Committing thread, while no checkpoint runs.
     */
    tr_status (*restart)(struct store_session *session, bool is_cut, struct store_why *why);

    /**
     * Implements tr__store_backup. Any thread, one at a time. A driver that cannot do it has NULL
     * here.
     */
    tr_status (*backup)(struct store_session *session, const struct store_backup_call *call,
                        tr_error *error);
    /**
     * Implements tr__store_check. A driver that cannot do it has NULL here. This also holds for the
     * next member, which implements tr__store_compact.
     */
    tr_status (*check)(const struct store_options *options, struct store_check *report,
                       store_check_damage *on_damage, void *context, tr_error *error);
    tr_status (*compact)(const struct store_options *options, struct store_compact *report,
                         tr_error *error);
    /**
     * Cuts the log, and compacts the database while the store is open. If the status is neither
     * TR_OK nor TR_STORE_FAILED, the store is unchanged. If `is_cancelled` is not NULL, returns
     * TR_CANCELLED soon after another thread has set *is_cancelled. Committing thread. A driver
     * that cannot do it has NULL here.
     */
    tr_status (*shrink)(struct store_session *session, const atom32 *is_cancelled,
                        struct store_why *why);

    tr_status (*view_new)(struct store_session *session, struct store_view **view);
    void (*view_free)(struct store_view *view);
    /**
     * If `is_held` is true, all later calls see the same state of the store. Otherwise each call
     * sees the newest state.
     */
    tr_status (*view_hold)(struct store_view *view, bool is_held);
    tr_status (*read_state)(struct store_view *view, tr_bytes name, struct store_state *state);
    tr_status (*read_kv)(struct store_view *view, tr_bytes name, tr_bytes key, tr_bytes *value);
    tr_status (*read_snapshot)(struct store_view *view, tr_bytes name, uint64_t sequence_max,
                               struct store_snapshot *snapshot);
    tr_status (*last_page)(struct store_view *view, tr_bytes name, uint32_t *last);
    tr_status (*read_page)(struct store_view *view, tr_bytes name, uint32_t number, void *bytes);
    /**
     * Lists keys of an actor with their values. `range` has no prefix, because the caller has
     * turned it into bounds.
     */
    tr_status (*list_kv)(struct store_view *view, tr_bytes name, const struct store_range *range,
                         store_visit *visit, void *context);
    tr_status (*list_alarms)(struct store_view *view, tr_bytes name, store_visit *visit,
                             void *context);
    /** Lists items of one queue from an id on; with `has_later` also all items of the queues after it. */
    tr_status (*list_queue)(struct store_view *view, tr_bytes name, const char *queue,
                            bool has_later, uint64_t from, size_t limit, store_visit *visit,
                            void *context);
    tr_status (*list_events)(struct store_view *view, tr_bytes name, uint64_t from, uint64_t to,
                             size_t limit, store_visit *visit, void *context);
    tr_status (*list_shapes)(struct store_view *view, store_visit *visit, void *context);
    tr_status (*list_due)(struct store_view *view, const struct store_alarm_place *after,
                          tr_time until_wall_ns, size_t limit, store_visit_due *visit,
                          void *context);

    tr_status (*read_request)(struct store_view *view, tr_bytes name, tr_bytes request,
                              struct store_row *row);
    tr_status (*list_requests)(struct store_view *view, tr_bytes name, uint64_t from, bool is_last,
                               size_t limit, store_visit *visit, void *context);
    /**
     * Lists the names from `from` on and before `to`. Leaves out actors as tr__store_list_keys
     * does. The member `key` of a row has the whole name.
     */
    tr_status (*list_names)(struct store_view *view, tr_bytes from, tr_bytes to, size_t limit,
                            store_visit *visit, void *context);
    tr_status (*list_queued)(struct store_view *view, int64_t after, const char *behind,
                             size_t limit, store_visit_queued *visit, void *context);

    /**
     * Runs a statement in an actor's own database. Opens that database if it is not open. Call on the thread of the
     * view.
     */
    tr_status (*sql_run)(struct store_sql *sql, struct store_view *view,
                         struct store_sql_call *call);
    /**
     * Closes the actor's own database if it is open. Drops the pages that the driver has read from
     * the store, but not those in sql->pages.
     */
    void (*sql_close)(struct store_sql *sql);
};

/** Returns the driver of this build: SQLite, or one that supports nothing. */
const struct store_driver *tr__store_driver_default(void);

#endif
