/* SPDX-License-Identifier: Apache-2.0 */
/** Finds out which process has a lock on a file or directory. */
#ifndef OS_LOCK_HOLDER_H
#define OS_LOCK_HOLDER_H

/**
 * Returns the number of the process that holds an flock on a file or directory; 0 if there is none, or it is not known.
 * Any thread.
 */
int tr__os_lock_holder(const char *path);

#endif
