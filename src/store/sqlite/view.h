/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection that only reads, with a place for what it read.
 */
#ifndef STORE_SQLITE_VIEW_H
#define STORE_SQLITE_VIEW_H

#include "store/sqlite/session.h"

struct store_view {
    struct store_session *session;
    struct link link;
    void *buffer; /* What was given last; grows, and is let go when it was large. */
    size_t buffer_size;
};

/** Whether a row of what an actor has fits its seal. */
bool tr__view_fits(const struct store_view *view, enum seal_kind kind, tr_bytes name, tr_bytes seal,
                   tr_bytes key, uint64_t number, uint64_t other_number, tr_bytes value);

#endif
