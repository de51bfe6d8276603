/* SPDX-License-Identifier: Apache-2.0 */
/** Which process has a lock. */
#ifndef OS_LOCK_HOLDER_H
#define OS_LOCK_HOLDER_H

/**
 * Returns the number of the process that holds an flock on a file or directory; 0 if there is none, or it is not known.
 * Any thread.
 */
int tr__os_lock_holder(const char *path);

#endif
