/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Maps small files into the memory of this process. What the process writes there remains in the
 * file after its end.
 */
#ifndef OS_MAP_FILE_H
#define OS_MAP_FILE_H

#include <stddef.h>
#include <troupe/ref.h>
#include <troupe/status.h>

/**
 * Maps a whole file into memory. Makes the file if it does not exist, and lengthens it to `size` bytes if it is
 * shorter; new bytes are zero. The next process finds in the file what this process has written to the memory, even if
 * this process was killed. A power cut may lose what was written, because the file is never synced. The space on the
 * disk is taken at once, so that no later write to the memory can fail. `*mapped` is the size of the mapping.
 * TR_NOT_SUPPORTED: the path names no regular file, or a file with more than 64 MiB. Also fails with TR_STORE_FULL or
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__map_file_open(const char *path, size_t size, void **memory,
                                          size_t *mapped, tr_error *error);
/** Ends a mapping; NULL does nothing. The file stays. */
void tr__map_file_close(void *memory, size_t mapped);

#endif
