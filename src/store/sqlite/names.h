/* SPDX-License-Identifier: Apache-2.0 */
/** Lists the names of actors in the order of their bytes. */
#ifndef STORE_SQLITE_NAMES_H
#define STORE_SQLITE_NAMES_H

#include "store/sqlite/view.h"

/** Implements store_driver.list_names. */
tr_status tr__view_list_names(struct store_view *view, tr_bytes from, tr_bytes to, size_t limit,
                              store_visit *visit, void *context);

#endif
