/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads the pages of an actor's own database.
 */
#ifndef STORE_SQLITE_VIEW_PAGE_H
#define STORE_SQLITE_VIEW_PAGE_H

#include "store/sqlite/view.h"

/**
 * Reads a page of an actor's own database. A page has STORE_PAGE_SIZE bytes. Fails with
 * TR_NOT_FOUND.
 */
TR_MUST_CHECK tr_status tr__view_read_page(struct store_view *view, tr_bytes name, uint32_t number,
                                           void *bytes);
/** Sets *number to the number of the last page. Sets it to 0 if the actor has no pages. */
TR_MUST_CHECK tr_status tr__view_last_page(struct store_view *view, tr_bytes name,
                                           uint32_t *number);

#endif
