/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A file that contains the number of the process. The process holds a lock on the file as long as
 * it runs.
 */
#ifndef OS_PID_FILE_H
#define OS_PID_FILE_H

#include <stddef.h>
#include <troupe/status.h>

/**
 * Makes or replaces the file, locks it, and writes the number of this process and a line end. On failure writes a
 * sentence to `why`. TR_ADDRESS_IN_USE: a running process has the lock. TR_NOT_SUPPORTED: the path names something that
 * is no regular file. TR_NOT_PERMITTED: the file cannot be made or written. The caller owns *fd.
 */
TR_MUST_CHECK tr_status tr__pid_file_open(const char *path, int *fd, char *why, size_t why_size);
/** Removes the file and unlocks it. -1 does nothing. */
void tr__pid_file_close(int fd, const char *path);

#endif
