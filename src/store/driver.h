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

#include "store/batch.h"
#include "store/sql.h"

/** What a driver has open: its writing side. */
struct store_session;
/** One connection of a reader. */
struct store_view;

/** Why a store failed, in words. */
struct store_why {
    char text[200];
};

struct store_driver {
    /** `error` may be NULL. See tr__store_open. */
    tr_status (*open)(const struct store_options *options, struct store_session **session,
                      uint64_t *epoch, tr_error *error);
    /** No view is left. */
    void (*close)(struct store_session *session);

    /**
     * Commits a group, linked by `next`, in this order, and gives each batch its status: those with
     * TR_OK are on disk. A batch that fails does so alone, unless the disk is full or memory short.
     * TR_STORE_FAILED: nobody knows what is on disk, and the statuses say nothing. Committing thread.
     */
    tr_status (*commit)(struct store_session *session, struct store_batch *first,
                        struct store_why *why);
    /** Whether tr__store_driver.checkpoint should be called. Committing thread. */
    bool (*wants_checkpoint)(const struct store_session *session);
    /**
     * Brings what is in the log to its place. A thread of its own, while others commit and read.
     * TR_OK also when it is for another time; TR_STORE_FAILED as above.
     */
    tr_status (*checkpoint)(struct store_session *session, struct store_why *why);

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
