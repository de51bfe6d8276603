/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a store needs of whoever keeps its data: a table of functions. SQLite is in store/sqlite.
 *
 * The store has seen to it that arguments are within their limits, that the entries of a group are
 * current, and that nobody waits for ever. A driver orders, checks generations against what it has,
 * and makes durable. Names are kind, NUL, key.
 */
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include "store/read.h"
#include "store/record.h"
#include "store/sql.h"

/** What a driver has open: its writing side. */
struct store_session;
/** One connection of a reader. */
struct store_view;

/** Why a store failed, in words. */
struct store_why {
    char text[400];
};

/** What a driver says of its log. */
struct store_log {
    size_t pages; /* since it started over, as of the last commit */
    /* of these, not yet in the database; while a checkpoint runs, before that one */
    size_t rest_pages;
    size_t file_pages; /* that its file has, at most */
    size_t soon;       /* from so many pages on it is to be tidied */
    size_t max;        /* pages that it must not exceed */
};

struct store_driver {
    /** `error` may be NULL. See tr__store_open. */
    tr_status (*open)(const struct store_options *options, struct store_session **session,
                      uint64_t *epoch, tr_error *error);
    /** No view is left. */
    void (*close)(struct store_session *session);
    /** See tr__store_salvage. NULL: it cannot. */
    tr_status (*salvage)(const struct store_options *from, const struct store_options *into,
                         struct store_salvage *report, store_salvage_lost *on_lost, void *context,
                         tr_error *error);

    /**
     * Commits a group, linked by `next`, in this order, and gives each batch its status: those with
     * TR_OK are on disk. A batch that fails does so alone, unless the disk is full or memory short.
     * TR_STORE_FAILED: nobody knows what is on disk, and the statuses say nothing. Committing thread.
     */
    tr_status (*commit)(struct store_session *session, struct store_batch *first,
                        struct store_why *why);
    /**
     * Deletes a small part of what destroyed actors have left behind, when there is nothing to commit; a commit
     * does as much. *has_more: call it again. TR_STORE_FAILED as above. Committing thread.
     */
    tr_status (*bury)(struct store_session *session, bool *has_more, struct store_why *why);
    /** How long the log is. Committing thread. */
    void (*look)(struct store_session *session, struct store_log *log);
    /**
     * Writes what is in the log into the database and syncs it; `*pages`: how many. On a thread of its own, while
     * others commit and read, but only while the log has something that is not there yet. TR_OK also when
     * it must be tried again later; TR_STORE_FAILED as above.
     */
    tr_status (*checkpoint)(struct store_session *session, size_t *pages, struct store_why *why);
    /**
     * Writes the rest of the log into the database. TR_OK: the next commit starts the log over; with `is_cut` its file
     * is empty. TR_STORE_BUSY: a reader is in the way. TR_STORE_FAILED as above. Else it must be tried again
     * later. Committing thread, while no checkpoint runs.
     */
    tr_status (*restart)(struct store_session *session, bool is_cut, struct store_why *why);

    tr_status (*view_new)(struct store_session *session, struct store_view **view);
    void (*view_free)(struct store_view *view);
    tr_status (*read_state)(struct store_view *view, tr_bytes name, struct store_state *state);
    tr_status (*read_kv)(struct store_view *view, tr_bytes name, tr_bytes key, tr_bytes *value);
    tr_status (*read_snapshot)(struct store_view *view, tr_bytes name, uint64_t sequence_max,
                               struct store_snapshot *snapshot);
    /** `range` has no prefix; it is part of its bounds. */
    tr_status (*list_kv)(struct store_view *view, tr_bytes name, const struct store_range *range,
                         store_visit *visit, void *context);
    tr_status (*list_alarms)(struct store_view *view, tr_bytes name, store_visit *visit,
                             void *context);
    tr_status (*list_queue)(struct store_view *view, tr_bytes name, const char *queue,
                            uint64_t from, size_t limit, store_visit *visit, void *context);
    tr_status (*list_events)(struct store_view *view, tr_bytes name, uint64_t from, uint64_t to,
                             size_t limit, store_visit *visit, void *context);
    tr_status (*list_shapes)(struct store_view *view, store_visit *visit, void *context);
    tr_status (*list_due)(struct store_view *view, const struct store_alarm_place *after,
                          tr_time until_wall_ns, size_t limit, store_visit_due *visit,
                          void *context);

    tr_status (*list_queued)(struct store_view *view, int64_t after, const char *behind,
                             size_t limit, store_visit_queued *visit, void *context);

    /** Runs a statement in an actor's own database, which it opens if need be. The view's thread. */
    tr_status (*sql_run)(struct store_sql *sql, struct store_view *view,
                         struct store_sql_call *call);
    /** Closes it, if it is open; what it had read is gone, what is in sql->pages stays. */
    void (*sql_close)(struct store_sql *sql);
};

/** The driver of this build: SQLite, or one that is not supported. */
const struct store_driver *tr__store_driver_default(void);

#endif
