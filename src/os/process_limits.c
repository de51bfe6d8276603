/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process_limits.h"

#include <dirent.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Numbers by which statfs names file systems that <linux/magic.h> may not have. */
enum { MAGIC_CIFS = 0xff534d42, MAGIC_SMB2 = 0xfe534d42, MAGIC_FUSE = 0x65735546 };

static uint64_t files_count(void)
{
    uint64_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        count++;
    if (directory)
        (void)closedir(directory);
    return count > 3 ? count - 3
                     : 0; /* do not count ".", "..", and the descriptor that this walk has opened */
}

static uint64_t memory_count(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    int count = fscanf(file, "%*u %lu", &pages);
    (void)fclose(file);
    return count == 1 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void tr__process_limits(struct process_limits *limits)
{
    struct rlimit limit;
    *limits = (struct process_limits){.files_used = files_count(), .memory_bytes = memory_count()};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limits->files_max = limit.rlim_cur;
        limits->files_hard = limit.rlim_max;
    }
    limits->has_cores = getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    limits->cpus = cpus > 0 ? (unsigned)cpus : 1;
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file)
        return;
    if (fgets(limits->clock_source, sizeof limits->clock_source, file))
        limits->clock_source[strcspn(limits->clock_source, "\n")] = '\0';
    (void)fclose(file);
}

void tr__disk_limits(const char *path, struct disk_limits *limits)
{
    struct statfs found;
    *limits = (struct disk_limits){.is_known = false};
    if (statfs(path, &found) != 0)
        return;
    uint32_t kind = (uint32_t)found.f_type;
    limits->is_known = true;
    limits->is_memory = kind == TMPFS_MAGIC || kind == RAMFS_MAGIC;
    limits->is_remote = kind == NFS_SUPER_MAGIC || kind == (uint32_t)MAGIC_CIFS ||
                        kind == (uint32_t)MAGIC_SMB2 || kind == MAGIC_FUSE;
    limits->free_bytes = (uint64_t)found.f_bavail * (uint64_t)found.f_bsize;
    limits->total_bytes = (uint64_t)found.f_blocks * (uint64_t)found.f_bsize;
}
