/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How many CPUs this process may use: its affinity, and what its control group allows.
 */
#ifndef OS_CPU_H
#define OS_CPU_H

/**
 * The limit of CPU time of a control group and its parents, in CPUs, rounded up; 0 for no limit.
 * `membership` is a file like /proc/self/cgroup, `root` a directory like /sys/fs/cgroup; both
 * versions of control groups are understood.
 */
unsigned tr__cpu_group_limit(const char *membership, const char *root);

#endif
