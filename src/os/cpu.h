/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds out how many CPUs this process may use, by its affinity and its control group, and whether
 * the kernel takes the time from the counter of the processors.
 */
#ifndef OS_CPU_H
#define OS_CPU_H

#include <stdbool.h>
#include <troupe/platform.h>

/**
 * Returns the limit of CPU time of a control group and its parents, in CPUs, rounded up; 0 for no
 * limit. `membership` is a file like /proc/self/cgroup, `root` a directory like /sys/fs/cgroup.
 * Understands both versions of control groups.
 */
unsigned tr__cpu_group_limit(const char *membership, const char *root);

/** The function tr_platform.cpu_count (troupe/platform.h); `platform` is ignored. Any thread. */
unsigned tr__real_cpu_count(const tr_platform *platform);

/** Whether the kernel takes the time from the processor's counter (clock_ticks of os/clock.h). */
bool tr__cpu_has_counter(void);

#endif
