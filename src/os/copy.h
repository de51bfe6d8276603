/* SPDX-License-Identifier: Apache-2.0 */
/** Makes copies of files, and temporary directories for them. */
#ifndef OS_COPY_H
#define OS_COPY_H

#include <troupe/status.h>

/**
 * Makes a new directory for temporary files, in $TMPDIR or /tmp, and writes its path to `path`. Fails with TR_FAILED or
 * TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__temporary_make(char *path, size_t size);
/**
 * Removes a directory that tr__temporary_make has made, and the files in it. It must contain no
 * directories.
 */
void tr__temporary_remove(const char *path);
/**
 * Copies a file. TR_NOT_FOUND: there is no file at `from`. TR_FAILED: a file cannot be read or written. Waits for the
 * disk.
 */
TR_MUST_CHECK tr_status tr__file_copy(const char *from, const char *to);

#endif
