/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limits of this process and of its machine, for people who look for the cause of a problem.
 */
#ifndef OS_PROCESS_LIMITS_H
#define OS_PROCESS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct process_limits {
    uint64_t files_max; /* the soft limit of open descriptors */
    /* the hard limit of open descriptors, up to which a program may raise the soft limit */
    uint64_t files_hard;
    uint64_t files_used;
    uint64_t memory_bytes; /* resident memory; 0: not known */
    unsigned cpus;
    bool has_cores;        /* the kernel may write a core file when this process crashes */
    char clock_source[32]; /* the clock source of the kernel; "": not known */
};
/** Fills in the limits of this process. Reads files of /proc. Any thread. */
void tr__process_limits(struct process_limits *limits);

struct disk_limits {
    bool is_known;
    /* the file system is in memory, so nothing in it survives a restart of the machine */
    bool is_memory;
    bool is_remote; /* a network file system, on which locks and syncs are not reliable */
    uint64_t free_bytes;
    uint64_t total_bytes;
};
/** Fills in what the kernel knows of the file system that a path is in. Any thread. */
void tr__disk_limits(const char *path, struct disk_limits *limits);

#endif
