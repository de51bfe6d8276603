/* SPDX-License-Identifier: Apache-2.0 */
/** Copies the files of an open store while the store is in use: see store/backup.h and docs/design/store.md. */
#ifndef STORE_SQLITE_COPY_H
#define STORE_SQLITE_COPY_H

#include "store/sqlite/session.h"

/** Implements store_driver.backup. */
TR_MUST_CHECK tr_status tr__session_backup(struct store_session *session,
                                           const struct store_backup_call *call, tr_error *error);

#endif
