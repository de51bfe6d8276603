/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A library to preload: writes everything that a process does to files below the directory CUTS_ROOT into the
 * trace CUTS_TRACE, in the order in which it happened, together with marks of the program (cuts_mark).
 *
 * One lock is held while an operation is done and written down. A sync is two records, and takes CUTS_SYNC_US
 * microseconds between them, without the lock: so there is time for others to do things that it does not cover,
 * and for an acknowledgement that does not wait for it to be seen too early. With CUTS_DIE_AFTER the process ends after
 * so many records.
 */
#define _GNU_SOURCE
#include "trace.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t file; /* 0: not below the root */
    char path[512];
} files[FILES_MAX];
static char root[512];
static size_t root_size;
static int trace = -1;
static unsigned sync_us;
static uint64_t syncs;
static long die_after; /* so many records; 0: never */

#define REAL(result, name, ...)                                                                    \
    static result (*real_##name)(__VA_ARGS__);                                                     \
    if (!real_##name)                                                                              \
    real_##name = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("CUTS_ROOT"), *file = getenv("CUTS_TRACE"),
               *us = getenv("CUTS_SYNC_US");
    REAL(int, open, const char *, int, ...);
    if (!text || !file)
        return;
    snprintf(root, sizeof root, "%s", text);
    root_size = strlen(root);
    sync_us = us ? (unsigned)atoi(us) : 0;
    trace = real_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (trace < 0)
        abort();
    trace = fcntl(trace, F_DUPFD_CLOEXEC, 900);
    syncs = (uint64_t)getpid() << 32;
    die_after = getenv("CUTS_DIE_AFTER") ? atol(getenv("CUTS_DIE_AFTER")) : 0;
}

static void put(enum cuts_kind kind, uint64_t file, uint64_t at, const void *data, size_t bytes)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    struct cuts_record record = {kind, (uint32_t)bytes, file, at};
    struct iovec parts[2] = {{&record, sizeof record}, {(void *)(uintptr_t)data, bytes}};
    if (real_writev(trace, parts, 2) != (ssize_t)(sizeof record + bytes))
        abort();
    if (--die_after == 0)
        _exit(9);
}

void cuts_mark(const char *line);
void cuts_mark(const char *line)
{
    if (trace < 0)
        return;
    pthread_mutex_lock(&lock);
    put(CUTS_MARK, 0, 0, line, strlen(line));
    pthread_mutex_unlock(&lock);
}

/* The whole path, if it is below the root. */
static bool resolve(int at, const char *path, char full[512])
{
    if (trace < 0)
        return false;
    if (path[0] == '/')
        snprintf(full, 512, "%s", path);
    else if (at >= 0 && at < FILES_MAX && files[at].file)
        snprintf(full, 512, "%.250s/%.250s", files[at].path, path);
    else if (at == AT_FDCWD) {
        char here[256];
        if (!getcwd(here, sizeof here))
            return false;
        snprintf(full, 512, "%s/%.250s", here, path);
    } else
        return false;
    size_t size = strlen(full);
    while (size > 1 && full[size - 1] == '/')
        full[--size] = 0;
    return strncmp(full, root, root_size) == 0 && (full[root_size] == '/' || full[root_size] == 0);
}

static uint64_t file_of(int fd)
{
    return trace >= 0 && fd >= 0 && fd < FILES_MAX ? files[fd].file : 0;
}

static int open_at(int at, const char *path, int flags, mode_t mode)
{
    REAL(int, openat, int, const char *, int, ...);
    char full[512];
    struct stat stat_;
    if (!resolve(at, path, full))
        return real_openat(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    bool was = lstat(full, &stat_) == 0;
    int fd = real_openat(at, path, flags, mode);
    int error = errno;
    if (fd >= 0) {
        if (fd >= FILES_MAX || fstat(fd, &stat_) != 0)
            abort();
        files[fd].file = stat_.st_ino;
        snprintf(files[fd].path, sizeof files[fd].path, "%s", full);
        if (!was)
            put(CUTS_MAKE, stat_.st_ino, 0, full, strlen(full));
        else if ((flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY)
            put(CUTS_SIZE, stat_.st_ino, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define OPEN_ARGUMENT                                                                              \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                         \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode = va_arg(list, mode_t);                                                               \
        va_end(list);                                                                              \
    }

int open(const char *path, int flags, ...)
{
    OPEN_ARGUMENT
    return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    OPEN_ARGUMENT
    return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...)
{
    OPEN_ARGUMENT
    return open_at(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...)
{
    OPEN_ARGUMENT
    return open_at(at, path, flags, mode);
}
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}
int creat(const char *path, mode_t mode)
{
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int fd)
{
    REAL(int, close, int);
    if (file_of(fd)) {
        pthread_mutex_lock(&lock);
        files[fd].file = 0;
        pthread_mutex_unlock(&lock);
    }
    return real_close(fd);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    uint64_t file = file_of(fd);
    if (!file)
        return real_pwrite(fd, data, bytes, at);
    pthread_mutex_lock(&lock);
    ssize_t done = real_pwrite(fd, data, bytes, at);
    int error = errno;
    if (done > 0)
        put(CUTS_WRITE, file, (uint64_t)at, data, (size_t)done);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t at)
{
    return pwrite(fd, data, bytes, at);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    REAL(ssize_t, write, int, const void *, size_t);
    uint64_t file = file_of(fd);
    if (!file)
        return real_write(fd, data, bytes);
    pthread_mutex_lock(&lock);
    ssize_t done = real_write(fd, data, bytes);
    int error = errno;
    if (done > 0)
        put(CUTS_WRITE, file, (uint64_t)(lseek(fd, 0, SEEK_CUR) - done), data, (size_t)done);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

/* Not used by a store so far; a program that uses them on it would not be recorded in full. */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    if (file_of(fd))
        abort();
    return real_writev(fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
    if (file_of(fd))
        abort();
    return real_pwritev(fd, parts, count, at);
}

static int resize(int fd, off_t bytes)
{
    REAL(int, ftruncate, int, off_t);
    uint64_t file = file_of(fd);
    if (!file)
        return real_ftruncate(fd, bytes);
    pthread_mutex_lock(&lock);
    int result = real_ftruncate(fd, bytes);
    int error = errno;
    if (result == 0)
        put(CUTS_SIZE, file, (uint64_t)bytes, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int ftruncate(int fd, off_t bytes)
{
    return resize(fd, bytes);
}
int ftruncate64(int fd, off64_t bytes)
{
    return resize(fd, bytes);
}

static int reserve(int fd, int mode, off_t at, off_t bytes)
{
    REAL(int, fallocate, int, int, off_t, off_t);
    uint64_t file = file_of(fd);
    if (!file)
        return real_fallocate(fd, mode, at, bytes);
    struct stat stat_;
    pthread_mutex_lock(&lock);
    int result = real_fallocate(fd, mode, at, bytes);
    int error = errno;
    if (result == 0 && fstat(fd, &stat_) == 0)
        put(CUTS_SIZE, file, (uint64_t)stat_.st_size, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int fallocate(int fd, int mode, off_t at, off_t bytes)
{
    return reserve(fd, mode, at, bytes);
}
int fallocate64(int fd, int mode, off64_t at, off64_t bytes)
{
    return reserve(fd, mode, at, bytes);
}
int posix_fallocate(int fd, off_t at, off_t bytes)
{
    return reserve(fd, 0, at, bytes) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off64_t at, off64_t bytes)
{
    return reserve(fd, 0, at, bytes) == 0 ? 0 : errno;
}

static int sync_number(uint64_t file)
{
    pthread_mutex_lock(&lock);
    uint64_t number = ++syncs;
    put(CUTS_SYNC_BEGIN, file, number, NULL, 0);
    pthread_mutex_unlock(&lock);
    if (sync_us)
        usleep(sync_us); /* a disk takes its time */
    pthread_mutex_lock(&lock);
    put(CUTS_SYNC_END, file, number, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0; /* the real file is never looked at after a power cut */
}
static int sync_file(int fd, int (*real)(int))
{
    uint64_t file = file_of(fd);
    return file ? sync_number(file) : real(fd);
}
int fsync(int fd)
{
    REAL(int, fsync, int);
    return sync_file(fd, real_fsync);
}
int fdatasync(int fd)
{
    REAL(int, fdatasync, int);
    return sync_file(fd, real_fdatasync);
}

/* Of everything: file 0. */
int syncfs(int fd)
{
    REAL(int, syncfs, int);
    if (!file_of(fd))
        return real_syncfs(fd);
    return sync_number(0);
}

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *);
    char both[1024], full[512];
    bool is_ours = resolve(AT_FDCWD, to, full);
    size_t size = resolve(AT_FDCWD, from, both) ? strlen(both) + 1 : 0;
    if (!is_ours && !size)
        return real_rename(from, to);
    if (!is_ours || !size)
        abort();
    pthread_mutex_lock(&lock);
    int result = real_rename(from, to);
    int error = errno;
    memcpy(both + size, full, strlen(full) + 1);
    if (result == 0)
        put(CUTS_RENAME, 0, 0, both, size + strlen(full));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

static int remove_at(int at, const char *path, int flags)
{
    REAL(int, unlinkat, int, const char *, int);
    char full[512];
    if (!resolve(at, path, full))
        return real_unlinkat(at, path, flags);
    pthread_mutex_lock(&lock);
    int result = real_unlinkat(at, path, flags);
    int error = errno;
    if (result == 0)
        put(CUTS_REMOVE, 0, 0, full, strlen(full));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int unlink(const char *path)
{
    return remove_at(AT_FDCWD, path, 0);
}
int unlinkat(int at, const char *path, int flags)
{
    return remove_at(at, path, flags);
}
int rmdir(const char *path)
{
    return remove_at(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int at, const char *path, mode_t mode)
{
    REAL(int, mkdirat, int, const char *, mode_t);
    char full[512];
    struct stat stat_;
    if (!resolve(at, path, full))
        return real_mkdirat(at, path, mode);
    pthread_mutex_lock(&lock);
    int result = real_mkdirat(at, path, mode);
    int error = errno;
    if (result == 0 && stat(full, &stat_) == 0)
        put(CUTS_MAKE, stat_.st_ino, 1, full, strlen(full));
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}
