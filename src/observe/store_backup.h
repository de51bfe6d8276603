/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs "store backup" and "store compact": see store/backup.h. */
#ifndef OBSERVE_STORE_BACKUP_H
#define OBSERVE_STORE_BACKUP_H

#include "observe/visitor.h"

void tr__verb_store_backup(struct visitor *visitor, const struct control_request *request);
void tr__verb_store_compact(struct visitor *visitor, const struct control_request *request);
/**
 * Frees the backups that have ended and that no visitor uses any more, because their clients have
 * gone or have their answer. If `waits`, first waits until all backups that no visitor uses have
 * ended. Such backups were cancelled.
 */
void tr__backups_collect(struct observer *observer, bool waits);

#endif
