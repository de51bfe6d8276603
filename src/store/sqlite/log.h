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
 * TR_OK: what SQLite will take of the log is all that was ever acknowledged, but for the last transaction: of a spoiled
 * one nobody can tell whether it was synced. Also TR_OK: there is no log, and the database is not marked as one that
 * has one. TR_STORE_CORRUPT: it is not; `*why` is the rest of a sentence that begins with the path
 * of the log, also with TR_STORE_FAILED. TR_NO_MEMORY.
 *
 * After tr__vfs_look. `database` is the file of a connection. The log is closed again, the database is not opened a
 * second time.
 */
TR_MUST_CHECK tr_status tr__log_check(struct vfs *vfs, sqlite3_file *database, const char **why);

/** The header of a log without frames: no frame that was ever written fits it. */
void tr__log_make_header(const struct memory_source *source, unsigned char header[VFS_LOG_HEADER]);

#endif
