/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of shapes: texts by their number, which belong to the store and to no actor.
 */
#ifndef STORE_SQLITE_SHAPE_H
#define STORE_SQLITE_SHAPE_H

#include "store/sqlite/view.h"

/** Stores the shapes of a batch, within its transaction. */
TR_MUST_CHECK tr_status tr__session_put_shapes(struct store_session *session,
                                               const struct store_batch *batch);

/** Implements store_driver.list_shapes. */
tr_status tr__view_list_shapes(struct store_view *view, store_visit *visit, void *context);

#endif
