/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Directories that last, and files by which one process keeps others out.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include <troupe/status.h>

/**
 * Makes a directory, for its owner alone, and syncs the one it is in; one that is there is fine.
 * TR_STORE_FULL, TR_STORE_FAILED (its parent is not there, it is no directory, ...), TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__os_directory_make(const char *path);

/** Makes durable which files a directory has. TR_STORE_FAILED. */
TR_MUST_CHECK tr_status tr__os_directory_sync(const char *path);

/**
 * Locks a file, made if it is not there, until tr__os_file_unlock or the end of the process. Also
 * against another lock of this process. TR_STORE_BUSY: somebody has it. TR_STORE_FULL, TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__os_file_lock(const char *path, int *fd);
void tr__os_file_unlock(int fd);

#endif
