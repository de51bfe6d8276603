/* SPDX-License-Identifier: Apache-2.0 */
/** Checks a store that is not open: see store/backup.h. */
#ifndef STORE_SQLITE_CHECK_H
#define STORE_SQLITE_CHECK_H

#include "store/backup.h"

struct store_options;

/** Implements store_driver.check. */
TR_MUST_CHECK tr_status tr__session_check(const struct store_options *options,
                                          struct store_check *report, store_check_damage *on_damage,
                                          void *context, tr_error *error);
/**
 * Checks that a store exists, because opening a path without a store would make a new store. Sets
 * *bytes to the size of the store's files. Returns TR_NOT_FOUND if there is no store, and
 * TR_INVALID_ARGUMENT if the options name no place. Other statuses are failures of the operating
 * system.
 */
TR_MUST_CHECK tr_status tr__check_place(const struct store_options *options, uint64_t *bytes,
                                        tr_error *error);

#endif
