/* SPDX-License-Identifier: Apache-2.0 */
/** Gives unused pages of a store back to the file system: see store/backup.h. */
#ifndef STORE_SQLITE_COMPACT_H
#define STORE_SQLITE_COMPACT_H

#include "store/driver.h"

/** Implements store_driver.compact. */
TR_MUST_CHECK tr_status tr__session_compact(const struct store_options *options,
                                            struct store_compact *report, tr_error *error);
/** Implements store_driver.shrink. */
TR_MUST_CHECK tr_status tr__session_shrink(struct store_session *session,
                                           const atom32 *is_cancelled, struct store_why *why);

#endif
