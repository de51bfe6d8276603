/* SPDX-License-Identifier: Apache-2.0 */
/** Writes new files that only their owner may read, and finds out size and age of files. */
#ifndef OS_RECORD_FILE_H
#define OS_RECORD_FILE_H

#include <troupe/message.h>
#include <troupe/status.h>

/**
 * Writes pieces into a new file of mode 0600. TR_NAME_EXISTS: the file exists already. TR_FAILED:
 * the file cannot be made or written; if it was made, it is removed. Any thread; waits for the
 * disk.
 */
TR_MUST_CHECK tr_status tr__file_make(const char *path, const tr_bytes *pieces, size_t count);

/**
 * Looks at a file. Sets *written_ns to the time of the last write, by the wall clock. Returns false if there is no
 * regular file at the path. Any thread.
 */
bool tr__file_look(const char *path, uint64_t *size, tr_time *written_ns);

/** Writes the path of the program that runs. Returns false if it is not known. Any thread. */
bool tr__program_path(char *path, size_t size);

#endif
