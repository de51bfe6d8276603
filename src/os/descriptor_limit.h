/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limit of descriptors of this process. The soft limit is low by tradition, for programs that
 * use select(); any program may raise its own to the hard one. The runner does so, and child
 * processes get the earlier limit back, because they may use select().
 *
 * The limit is one of the whole process, so what is kept of it is no part of a system.
 */
#ifndef OS_DESCRIPTOR_LIMIT_H
#define OS_DESCRIPTOR_LIMIT_H

#include <stdbool.h>
#include <sys/resource.h>

/**
 * Raises the soft limit to the hard one. Does nothing if they are equal, or if the kernel refuses.
 * Call it before the first system is made: its epoll prepares for as many descriptors as are
 * allowed then. One thread.
 */
void tr__descriptor_limit_raise(void);

/**
 * Returns true if a child process is to have another limit than this process, and sets *limit: the
 * limit from before tr__descriptor_limit_raise. Returns false if that was not called, or if the
 * program has set a limit of its own since. Any thread.
 */
bool tr__descriptor_limit_of_child(struct rlimit *limit);

#endif
