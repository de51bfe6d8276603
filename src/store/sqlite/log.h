/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks the log that a crash has left, before SQLite reads that log. A log may be torn at its end,
 * as after a power cut. A log that is damaged in the middle is refused.
 *
 * SQLite reads the log up to the first frame that does not fit, and ignores the rest without an
 * error. So if the log is damaged in the middle, acknowledged transactions would be lost unnoticed.
 */
#ifndef STORE_SQLITE_LOG_H
#define STORE_SQLITE_LOG_H

#include "store/sqlite/vfs.h"

/**
 * Checks the log. Call it after tr__vfs_look. `database` is the file of an open connection; this
 * function uses that file, and opens and closes the log itself. Statuses:
 *
 * TR_OK: SQLite will read all transactions that were acknowledged. There is one exception: if the
 * last frame is damaged, it is not known whether the last transaction was acknowledged, and SQLite
 * does not read it. The status is also TR_OK if there is no log and the database has no mark that
 * there is one.
 *
 * TR_STORE_CORRUPT: acknowledged data is missing. The other statuses are TR_STORE_FAILED and
 * TR_NO_MEMORY. After TR_STORE_CORRUPT and TR_STORE_FAILED, `*why` is the rest of a sentence that
 * begins with the path of the log.
 */
TR_MUST_CHECK tr_status tr__log_check(struct vfs *vfs, sqlite3_file *database, const char **why);

/**
 * Makes the header of an empty log. The header has new random salts, so that no frame that was ever written matches it.
 */
void tr__log_make_header(const struct memory_source *source, unsigned char header[VFS_LOG_HEADER]);

#endif
