/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of shapes. It has a text for each number. The texts belong to the store, not to an
 * actor.
 */
#ifndef STORE_SQLITE_SHAPE_H
#define STORE_SQLITE_SHAPE_H

#include "store/sqlite/view.h"

/** Stores the shapes of a batch. Call within the transaction of the batch. */
TR_MUST_CHECK tr_status tr__session_put_shapes(struct store_session *session,
                                               const struct store_batch *batch);

/** Implements store_driver.list_shapes. */
tr_status tr__view_list_shapes(struct store_view *view, store_visit *visit, void *context);

#endif
