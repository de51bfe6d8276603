/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The outcomes of requests with an id. Each request has one row, which is found by the id.
 *
 * The number of a request is higher than the numbers of the actor's earlier requests. So the lowest
 * number is the oldest request.
 */
#ifndef STORE_SQLITE_REQUEST_H
#define STORE_SQLITE_REQUEST_H

#include "store/sqlite/view.h"

/**
 * Applies the write `op`, a STORE_REQUEST_PUT or STORE_REQUEST_TRIM, for the actor of row `actor`. Call within a
 * transaction of the writer.
 */
TR_MUST_CHECK tr_status tr__session_write_request(struct store_session *session,
                                                  const struct store_entry *entry, int64_t actor,
                                                  const struct store_op *op);

/* The next functions implement the functions of store_driver with the same names. */
tr_status tr__view_read_request(struct store_view *view, tr_bytes name, tr_bytes request,
                                struct store_row *row);
tr_status tr__view_list_requests(struct store_view *view, tr_bytes name, uint64_t from,
                                 bool is_last, size_t limit, store_visit *visit, void *context);

#endif
