/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs store backup and store compact: see store/backup.h. */
#ifndef OBSERVE_STORE_BACKUP_H
#define OBSERVE_STORE_BACKUP_H

#include "observe/visitor.h"

void tr__verb_store_backup(struct visitor *visitor, const struct control_request *request);
void tr__verb_store_compact(struct visitor *visitor, const struct control_request *request);
/**
 * Frees the backups that have ended after their clients had gone. If `waits`, also waits for
 * cancelled ones that have not ended yet.
 */
void tr__backups_collect(struct observer *observer, bool waits);

#endif
