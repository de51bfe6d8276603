/* SPDX-License-Identifier: Apache-2.0 */
/** Makes files that only their owner may read, and looks at files. */
#ifndef OS_RECORD_FILE_H
#define OS_RECORD_FILE_H

#include <troupe/message.h>
#include <troupe/status.h>

/**
 * Writes pieces into a new file of mode 0600. TR_NAME_EXISTS: the file exists already. TR_FAILED: it cannot be written;
 * a file that was begun is removed. Any thread; waits for the disk.
 */
TR_MUST_CHECK tr_status tr__file_make(const char *path, const tr_bytes *pieces, size_t count);

/**
 * Looks at a file. *written_ns: when it was last written to, by the wall clock. Returns false if there is no such file, or it is no
 * regular one. Any thread.
 */
bool tr__file_look(const char *path, uint64_t *size, tr_time *written_ns);

/** Writes the path of the program that runs. Returns false if it is not known. Any thread. */
bool tr__program_path(char *path, size_t size);

#endif
