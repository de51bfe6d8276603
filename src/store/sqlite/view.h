/* SPDX-License-Identifier: Apache-2.0 */
/** A connection that only reads, with a buffer for its results. */
#ifndef STORE_SQLITE_VIEW_H
#define STORE_SQLITE_VIEW_H

#include "store/sqlite/seal.h"
#include "store/sqlite/session.h"

struct store_view {
    struct store_session *session;
    struct link link;
    /* The last result. The buffer grows when a result needs it. After a large result, the next
     * small result gets a small buffer again. */
    void *buffer;
    size_t buffer_size;
};

/* The next functions implement the functions of store_driver with the same names. */
tr_status tr__view_new(struct store_session *session, struct store_view **view);
void tr__view_free(struct store_view *view);
tr_status tr__view_hold(struct store_view *view, bool is_held);
tr_status tr__view_read_state(struct store_view *view, tr_bytes name, struct store_state *state);
tr_status tr__view_read_kv(struct store_view *view, tr_bytes name, tr_bytes key, tr_bytes *value);
tr_status tr__view_read_snapshot(struct store_view *view, tr_bytes name, uint64_t sequence_max,
                                 struct store_snapshot *snapshot);

/**
 * Copies bytes to the buffer of the view. They stay there until the next call. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__view_keep(struct store_view *view, tr_bytes bytes, tr_bytes *kept);
/** Whether a row of an actor matches its seal. */
bool tr__view_fits(const struct store_view *view, enum seal_kind kind, tr_bytes name, tr_bytes seal,
                   tr_bytes key, uint64_t number, uint64_t other_number, tr_bytes value);

#endif
