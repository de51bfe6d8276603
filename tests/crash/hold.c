/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A preload library that makes the end of a process a power cut: what was written to the files of a
 * directory stays in the memory of the process until it is synced.
 *
 *     LD_PRELOAD=hold.so TROUPE_HOLD_DIR=/tmp/x TROUPE_HOLD_CUT=17 TROUPE_HOLD_SEED=5 program
 *
 * The page cache survives a process that is killed, so plain kill -9 proves nothing about syncs. With
 * TROUPE_HOLD_CUT the process kills itself before that write or sync, after some of the sectors that
 * were not synced have reached the file: which, is up to the seed. With TROUPE_HOLD_SYNC_OFF a sync does
 * nothing: a test that does not notice is blind.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 64, FDS = 1024, SECTOR = 512 };

/* One file, as the process sees it. Never closed: another descriptor may come. */
struct held {
    dev_t device;
    ino_t inode;
    unsigned char *bytes;
    size_t size;
    size_t room;
    unsigned char *dirty; /* a byte for each sector */
    bool is_resized;
    int fd; /* of our own, to write it back */
};

static struct held files[FILES];
static size_t file_count;
static struct held *fds[FDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long operations;

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real)                                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, name)

static int real_open(const char *path, int flags, mode_t mode)
{
    REAL(int, "open64", const char *, int, ...);
    return real(path, flags, mode);
}

static ssize_t real_pwrite(int fd, const void *memory, size_t size, off_t offset)
{
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
    return real(fd, memory, size, offset);
}

static ssize_t real_pread(int fd, void *memory, size_t size, off_t offset)
{
    REAL(ssize_t, "pread64", int, void *, size_t, off_t);
    return real(fd, memory, size, offset);
}

static int real_ftruncate(int fd, off_t size)
{
    REAL(int, "ftruncate64", int, off_t);
    return real(fd, size);
}

static void grow(struct held *file, size_t size)
{
    if (size > file->room) {
        size_t room = file->room ? file->room : 65536;
        while (room < size)
            room *= 2;
        file->bytes = realloc(file->bytes, room);
        file->dirty = realloc(file->dirty, room / SECTOR + 1);
        if (!file->bytes || !file->dirty)
            abort();
        memset(file->bytes + file->room, 0, room - file->room);
        memset(file->dirty + file->room / SECTOR, 0, (room - file->room) / SECTOR + 1);
        file->room = room;
    }
}

/* Whether a sector is to be written now. */
static bool is_due(const struct held *file, size_t sector, bool (*is_lucky)(void))
{
    return sector * SECTOR < file->size && file->dirty[sector] && (!is_lucky || is_lucky());
}

static void write_back(struct held *file, bool (*is_lucky)(void))
{
    for (size_t sector = 0; sector * SECTOR < file->size; sector++) {
        size_t first = sector;
        while (is_due(file, sector, is_lucky))
            file->dirty[sector++] = 0;
        if (sector == first)
            continue;
        size_t offset = first * SECTOR;
        size_t end = sector * SECTOR < file->size ? sector * SECTOR : file->size;
        ssize_t written = real_pwrite(file->fd, file->bytes + offset, end - offset, (off_t)offset);
        if (written != (ssize_t)(end - offset))
            abort();
    }
    if (file->is_resized && (!is_lucky || is_lucky())) {
        if (real_ftruncate(file->fd, (off_t)file->size) != 0)
            abort();
        file->is_resized = false;
    }
}

static uint64_t luck;

static bool is_lucky(void)
{
    luck = luck * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return luck >> 63;
}

/* Counts an operation; the last one is where the power goes. With the mutex. */
static void count(void)
{
    static long cut = -1;
    if (cut < 0) {
        const char *text = getenv("TROUPE_HOLD_CUT");
        const char *seed = getenv("TROUPE_HOLD_SEED");
        cut = text ? atol(text) : 0;
        luck = seed ? strtoull(seed, NULL, 10) : 1;
    }
    if (++operations != cut)
        return;
    for (size_t i = 0; i < file_count; i++)
        write_back(&files[i], is_lucky);
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

/* The file of a descriptor that was just opened, if it is in the directory and no lock. */
static void hold(int fd, const char *path, int flags)
{
    const char *directory = getenv("TROUPE_HOLD_DIR");
    const char *name = strrchr(path, '/');
    struct stat status;
    if (fd < 0 || fd >= FDS || !directory || !name || (flags & O_DIRECTORY) ||
        strncmp(path, directory, strlen(directory)) != 0 || strcmp(name, "/lock") == 0)
        return;
    REAL(int, "fstat64", int, struct stat *);
    if (real(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    pthread_mutex_lock(&mutex);
    struct held *file = NULL;
    for (size_t i = 0; i < file_count; i++) {
        if (files[i].device == status.st_dev && files[i].inode == status.st_ino)
            file = &files[i];
    }
    if (!file) {
        if (file_count == FILES)
            abort();
        file = &files[file_count++];
        *file = (struct held){.device = status.st_dev, .inode = status.st_ino};
        file->fd = real_open(path, O_RDWR | O_CLOEXEC, 0);
        grow(file, (size_t)status.st_size + 1);
        file->size = (size_t)status.st_size;
        if (real_pread(file->fd, file->bytes, file->size, 0) != (ssize_t)file->size)
            abort();
    }
    fds[fd] = file;
    pthread_mutex_unlock(&mutex);
}

static struct held *held_of(int fd)
{
    return fd >= 0 && fd < FDS ? fds[fd] : NULL;
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    int fd = real_open(path, flags, mode);
    hold(fd, path, flags);
    return fd;
}

int open(const char *path, int flags, ...) __attribute__((__alias__("open64")));

int close(int fd)
{
    REAL(int, "close", int);
    if (held_of(fd))
        fds[fd] = NULL;
    return real(fd);
}

ssize_t pread64(int fd, void *memory, size_t size, off64_t offset)
{
    struct held *file = held_of(fd);
    if (!file)
        return real_pread(fd, memory, size, offset);
    pthread_mutex_lock(&mutex);
    size_t there = (size_t)offset < file->size ? file->size - (size_t)offset : 0;
    if (size > there)
        size = there;
    memcpy(memory, file->bytes + offset, size);
    pthread_mutex_unlock(&mutex);
    return (ssize_t)size;
}

ssize_t pread(int fd, void *memory, size_t size, off_t offset)
    __attribute__((__alias__("pread64")));

ssize_t pwrite64(int fd, const void *memory, size_t size, off64_t offset)
{
    struct held *file = held_of(fd);
    if (!file)
        return real_pwrite(fd, memory, size, offset);
    pthread_mutex_lock(&mutex);
    count();
    size_t end = (size_t)offset + size;
    grow(file, end + 1);
    memcpy(file->bytes + offset, memory, size);
    for (size_t sector = (size_t)offset / SECTOR; sector * SECTOR < end; sector++)
        file->dirty[sector] = 1;
    if (end > file->size)
        file->size = end;
    pthread_mutex_unlock(&mutex);
    return (ssize_t)size;
}

ssize_t pwrite(int fd, const void *memory, size_t size, off_t offset)
    __attribute__((__alias__("pwrite64")));

int ftruncate64(int fd, off64_t size)
{
    struct held *file = held_of(fd);
    if (!file)
        return real_ftruncate(fd, size);
    pthread_mutex_lock(&mutex);
    count();
    grow(file, (size_t)size + 1);
    if ((size_t)size < file->size)
        memset(file->bytes + size, 0, file->size - (size_t)size);
    file->size = (size_t)size;
    file->is_resized = true;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int ftruncate(int fd, off_t size) __attribute__((__alias__("ftruncate64")));

int fstat64(int fd, struct stat64 *status)
{
    REAL(int, "fstat64", int, struct stat64 *);
    int result = real(fd, status);
    struct held *file = held_of(fd);
    if (result == 0 && file)
        status->st_size = (off_t)file->size;
    return result;
}

int fstat(int fd, struct stat *status)
{
    return fstat64(fd, (struct stat64 *)status);
}

/* What the process sees of a file by its name is also what it has written. */
int stat64(const char *path, struct stat64 *status)
{
    REAL(int, "stat64", const char *, struct stat64 *);
    int result = real(path, status);
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; result == 0 && i < file_count; i++) {
        if (files[i].device == status->st_dev && files[i].inode == status->st_ino)
            status->st_size = (off_t)files[i].size;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int stat(const char *path, struct stat *status)
{
    return stat64(path, (struct stat64 *)status);
}

int fdatasync(int fd)
{
    struct held *file = held_of(fd);
    if (file) {
        pthread_mutex_lock(&mutex);
        count();
        if (!getenv("TROUPE_HOLD_SYNC_OFF"))
            write_back(file, NULL);
        pthread_mutex_unlock(&mutex);
    }
    return 0; /* The page cache outlives the process, which is all that ends here. */
}

int fsync(int fd)
{
    return fdatasync(fd);
}
