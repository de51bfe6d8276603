/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limit of descriptors of this process. The soft limit is low by tradition, for programs that
 * use select(); any program may raise its soft limit to the hard limit. The runner does so. Child
 * processes get the earlier soft limit back, because they may use select().
 *
 * The limit belongs to the whole process, so the variables of this file are global and not in
 * struct tr_system.
 */
#ifndef OS_DESCRIPTOR_LIMIT_H
#define OS_DESCRIPTOR_LIMIT_H

#include <stdbool.h>
#include <sys/resource.h>

/**
 * Raises the soft limit to the hard one. Does nothing if they are equal, or if the kernel refuses.
 * Call this before the first system is made, because a system prepares its epoll for as many
 * descriptors as are allowed then. One thread.
 */
void tr__descriptor_limit_raise(void);

/**
 * Returns true if a child process is to have another limit than this process, and sets *limit: the
 * limit from before tr__descriptor_limit_raise. Returns false if tr__descriptor_limit_raise was not
 * called or has changed nothing, or if the program has set a limit of its own since. Any thread.
 */
bool tr__descriptor_limit_of_child(struct rlimit *limit);

#endif
