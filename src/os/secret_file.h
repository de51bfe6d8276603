/* SPDX-License-Identifier: Apache-2.0 */
/** A small file with a secret, which only its owner may use. */
#ifndef OS_SECRET_FILE_H
#define OS_SECRET_FILE_H

#include <stddef.h>
#include <troupe/status.h>

/**
 * Reads the file into `text`, with a NUL behind it. On failure writes a sentence to `why`. TR_NOT_FOUND: there is no file of
 * this name. TR_NOT_PERMITTED: other users may use the file, it belongs to another user, or this process may not read it.
 * TR_NOT_SUPPORTED: the path names a symbolic link or something else that is no regular file. TR_TOO_LARGE: the file has
 * `size` bytes or more. TR_FAILED: reading failed. Any thread; waits for the disk.
 */
TR_MUST_CHECK tr_status tr__secret_file_read(const char *path, char *text, size_t size, char *why,
                                             size_t why_size);
/**
 * Makes the file with mode 0600. If there is one already, leaves it as it is. The file appears under its name with its whole
 * text, also if the process is killed meanwhile. On failure writes a sentence to `why`. TR_NOT_PERMITTED: the file cannot be
 * made. Any thread; waits for the disk.
 */
TR_MUST_CHECK tr_status tr__secret_file_make(const char *path, const char *text, char *why,
                                             size_t why_size);

#endif
