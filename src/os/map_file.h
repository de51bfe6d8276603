/* SPDX-License-Identifier: Apache-2.0 */
/** Small files that are part of the memory of this process, and outlive it. */
#ifndef OS_MAP_FILE_H
#define OS_MAP_FILE_H

#include <stddef.h>
#include <troupe/ref.h>
#include <troupe/status.h>

/**
 * Maps a whole file, which is made if it does not exist, and lengthened to `size` bytes if it is shorter; new bytes are
 * zero. What is written to the memory is in the file for the next process, also if this one is killed; nothing is
 * synced, so a power cut may lose it. The space on the disk is taken at once, so that no later write can fail.
 * `*mapped` is the size of the mapping. TR_NOT_SUPPORTED: it is no regular file, or larger than 64 MiB. TR_STORE_FULL,
 * TR_STORE_FAILED.
 */
TR_MUST_CHECK tr_status tr__map_file_open(const char *path, size_t size, void **memory,
                                          size_t *mapped, tr_error *error);
/** Ends a mapping; NULL does nothing. The file stays. */
void tr__map_file_close(void *memory, size_t mapped);

#endif
