/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looks through the log that a crash left, before SQLite does: whether it is torn at its end, as a power
 * cut leaves it, or spoiled in the middle.
 *
 * SQLite takes the log up to the first frame that does not fit, and forgets the rest without a word; had
 * that rest been acknowledged, it would be lost.
 */
#ifndef STORE_SQLITE_LOG_H
#define STORE_SQLITE_LOG_H

#include "store/sqlite/vfs.h"

/**
 * TR_OK: there is no log, or what SQLite will take of it is all that was ever acknowledged, but for the
 * last transaction: of a spoiled one nobody can tell whether it was synced. TR_STORE_CORRUPT: it is not.
 * TR_NO_MEMORY. `path` is that of the database.
 */
TR_MUST_CHECK tr_status tr__log_check(struct vfs *vfs, const char *path);

#endif
