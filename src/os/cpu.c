/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts the CPUs of this process, and finds out whether the kernel takes the time from the counter
 * of the processors.
 */
#include "os/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CPUS_MAX = 65536, /* More than Linux can be built for, which is 8,192. */
    /* The size of a line of /proc/self/cgroup. The kernel has paths of up to 4,096 bytes. */
    LINE_SIZE_MAX = 8192,
    GROUP_PATH_MAX = 4096,
};

/* Reads up to `size` bytes. Returns their number; 0 at the end, after an error, and if `size` is 0. */
static size_t part_read(int fd, char *to, size_t size)
{
    ssize_t count;
    do
        count = read(fd, to, size);
    while (count < 0 && errno == EINTR);
    return count > 0 ? (size_t)count : 0;
}

/*
 * Reads a whole small file as a string. Returns false if the file cannot be read or is empty, or if
 * it has size - 1 bytes or more.
 */
static bool file_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t length = 0;
    for (size_t count; (count = part_read(fd, text + length, size - 1 - length)) > 0;)
        length += count;
    text[length] = '\0';
    (void)close(fd);
    return length > 0 && length < size - 1;
}

static unsigned limit_of(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long cpus = quota / period + (quota % period != 0);
    return cpus > CPUS_MAX ? CPUS_MAX : (unsigned)cpus;
}

/*
 * Reads the limit of a control group of version 2: "max 100000" or "150000 100000". Returns 0 if
 * there is no limit.
 */
static unsigned limit_read_2(const char *directory)
{
    char path[GROUP_PATH_MAX];
    char text[128];
    int length = snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (length < 0 || (size_t)length >= sizeof path || !file_read(path, text, sizeof text))
        return 0;
    char *end = NULL;
    long long quota = strtoll(text, &end, 10);
    return end == text ? 0 : limit_of(quota, strtoll(end, NULL, 10));
}

/*
 * Reads the limit of a control group of version 1, from its files of the quota and the period.
 * Returns 0 if there is no limit, which a quota of -1 means.
 */
static unsigned limit_read_1(const char *directory)
{
    char path[GROUP_PATH_MAX];
    char text[128];
    int length = snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (length < 0 || (size_t)length >= sizeof path || !file_read(path, text, sizeof text))
        return 0;
    long long quota = strtoll(text, NULL, 10);
    (void)snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!file_read(path, text, sizeof text))
        return 0;
    return limit_of(quota, strtoll(text, NULL, 10));
}

static unsigned limit_least(unsigned a, unsigned b)
{
    if (a == 0 || b == 0)
        return a | b;
    return a < b ? a : b;
}

/*
 * Returns the least limit of a group and all its parents. Inside a container the path may be a path
 * of the host. Then neither the group nor its parents exist here, and only the limit of the root
 * counts.
 */
static unsigned limit_walk(const char *root, const char *group, unsigned (*read)(const char *))
{
    char directory[GROUP_PATH_MAX];
    int length = snprintf(directory, sizeof directory, "%s%s", root, group);
    if (length < 0 || (size_t)length >= sizeof directory)
        return read(root);
    size_t root_length = strlen(root);
    unsigned limit = read(directory);
    while (strlen(directory) > root_length) {
        *strrchr(directory, '/') = '\0';
        limit = limit_least(limit, read(directory));
    }
    return limit;
}

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/*
 * Returns the limit of the group that a line names. A line is "number:controllers:path"; version 2 has the number 0 and
 * no controllers.
 */
static unsigned limit_of_line(char *line, const char *root)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return 0;
    *controllers++ = '\0';
    *group++ = '\0';
    if (*group != '/')
        return 0;
    if (*controllers == '\0')
        return limit_walk(root, group, limit_read_2);
    if (!list_has(controllers, "cpu"))
        return 0;
    char mount[GROUP_PATH_MAX];
    int length = snprintf(mount, sizeof mount, "%s/cpu", root);
    if (length < 0 || (size_t)length >= sizeof mount)
        return 0;
    return limit_walk(mount, group, limit_read_1);
}

/*
 * Applies the limits of the whole lines of `text`. Moves the unfinished line after them to the beginning of `text`, and
 * returns the size of that line.
 */
static size_t lines_take(char *text, const char *root, unsigned *limit)
{
    char *line = text;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        *limit = limit_least(*limit, limit_of_line(line, root));
    }
    size_t rest = strlen(line);
    memmove(text, line, rest + 1);
    return rest;
}

unsigned tr__cpu_group_limit(const char *membership, const char *root)
{
    char text[LINE_SIZE_MAX];
    int fd = open(membership, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    unsigned limit = 0;
    size_t rest = 0;
    for (size_t count; (count = part_read(fd, text + rest, sizeof text - 1 - rest)) > 0;) {
        text[rest + count] = '\0';
        rest = lines_take(text, root, &limit);
    }
    (void)close(fd);
    /* the last line may have no line end */
    return rest > 0 ? limit_least(limit, limit_of_line(text, root)) : limit;
}

static unsigned affinity_count(void)
{
    for (int cpus = CPU_SETSIZE; cpus <= CPUS_MAX; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (!set)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int result = sched_getaffinity(0, size, set);
        int error = errno;
        int count = result == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
        /* EINVAL: the kernel knows more CPUs than the set has bits for. */
        if (result == 0 || error != EINVAL)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

unsigned tr__real_cpu_count(const tr_platform *platform)
{
    (void)platform;
    unsigned count = affinity_count();
    return limit_least(count, tr__cpu_group_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
}

bool tr__cpu_has_counter(void)
{
    bool is_counted = false;
#ifdef __x86_64__
    /*
     * The kernel takes the time from this counter only if it is steady and the same on all
     * processors. The kernel continues to check that.
     */
    char source[64];
    const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    is_counted = file_read(path, source, sizeof source) && strcmp(source, "tsc\n") == 0;
#endif
    return is_counted;
}
