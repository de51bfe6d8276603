/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The outcomes of requests with an id: one row for each request, found by id.
 *
 * The numbers of an actor's requests increase, so the lowest number is the oldest request.
 */
#ifndef STORE_SQLITE_REQUEST_H
#define STORE_SQLITE_REQUEST_H

#include "store/sqlite/view.h"

/**
 * Applies STORE_REQUEST_PUT or STORE_REQUEST_TRIM for the actor of this row, within a transaction of
 * the writer.
 */
TR_MUST_CHECK tr_status tr__session_write_request(struct store_session *session,
                                                  const struct store_entry *entry, int64_t actor,
                                                  const struct store_op *op);

/* Implement the functions of store_driver with the same names. */
tr_status tr__view_read_request(struct store_view *view, tr_bytes name, tr_bytes request,
                                struct store_row *row);
tr_status tr__view_list_requests(struct store_view *view, tr_bytes name, uint64_t from,
                                 bool is_last, size_t limit, store_visit *visit, void *context);

#endif
