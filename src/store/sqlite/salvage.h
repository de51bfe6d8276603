/* SPDX-License-Identifier: Apache-2.0 */
/** Saves the intact actors of a damaged store. */
#ifndef STORE_SQLITE_SALVAGE_H
#define STORE_SQLITE_SALVAGE_H

#include "store/store.h"

/** Implements store_driver.salvage. */
TR_MUST_CHECK tr_status tr__session_salvage(const struct store_options *from,
                                            const struct store_options *into,
                                            struct store_salvage *report,
                                            store_salvage_lost *on_lost, void *context,
                                            tr_error *error);

#endif
