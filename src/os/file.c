/* SPDX-License-Identifier: Apache-2.0 */
/** Directories and locks of the real file system. */
#include "os/file.h"

#include "os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

_Static_assert(OS_PATH_SIZE >= PATH_MAX, "realpath writes so many bytes");

const char *tr__os_error_text(int code, char *memory, size_t size)
{
    return strerror_r(code, memory, size);
}

tr_status tr__os_file_refuse(tr_error *error, const char *what, const char *path)
{
    int code = errno;
    tr_status status = code == ENOSPC || code == EDQUOT ? TR_STORE_FULL : TR_STORE_FAILED;
    if (error) {
        char text[128];
        *error = (tr_error){.status = status};
        (void)snprintf(error->text,
                       sizeof error->text,
                       "cannot %s %s: %s",
                       what,
                       path,
                       tr__os_error_text(code, text, sizeof text));
    }
    return status;
}

/*
 * Shortens a path to that of its parent directory: "a" gives ".", "/a" gives "/", "a/b//" gives
 * "a".
 */
static void cut_last_part(char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    while (size > 1 && path[size - 1] == '/')
        size--;
    if (size == 0)
        /*
         * Nothing is left, because the path names no directory. It had at least one character, so
         * there is space for '.'.
         */
        path[size++] = '.';
    path[size] = '\0';
}

tr_status tr__os_directory_make(const char *path, tr_error *error)
{
    if (mkdir(path, S_IRWXU) == 0)
        return TR_OK;
    struct stat found;
    if (errno != EEXIST)
        return tr__os_file_refuse(error, "make the directory", path);
    if (stat(path, &found) != 0)
        return tr__os_file_refuse(error, "use the directory", path);
    if (!S_ISDIR(found.st_mode)) {
        errno = ENOTDIR;
        return tr__os_file_refuse(error, "use the directory", path);
    }
    return TR_OK;
}

/* Makes the directory `fd` durable, or the whole file system that it is in, and closes `fd`. */
static tr_status sync_and_close(int fd, bool is_whole, const char *path, tr_error *error)
{
    int result = is_whole ? syncfs(fd) : fsync(fd);
    /*
     * EINVAL: this file system cannot sync a directory. Such a file system keeps changes of
     * directories in order by itself.
     */
    tr_status status =
        result == 0 || errno == EINVAL ? TR_OK : tr__os_file_refuse(error, "sync", path);
    (void)close(fd);
    return status;
}

tr_status tr__os_directory_sync(const char *path, tr_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? tr__os_file_refuse(error, "open", path)
                  : sync_and_close(fd, false, path, error);
}

tr_status tr__os_directory_sync_parent(const char *path, tr_error *error)
{
    size_t size = strlen(path) + 1;
    char *parent = tr__os_resize(NULL, size + 1);
    if (!parent) {
        errno = ENOMEM;
        (void)tr__os_file_refuse(error, "sync", path);
        return TR_NO_MEMORY;
    }
    memcpy(parent, path, size);
    cut_last_part(parent);
    bool is_whole = false;
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        /*
         * This process may search the parent but not read it. So sync the whole file system. For
         * that, a descriptor of any file in it is enough: open the directory itself.
         */
        is_whole = true;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    tr_status status = fd < 0 ? tr__os_file_refuse(error, "open", is_whole ? path : parent)
                              : sync_and_close(fd, is_whole, parent, error);
    tr__os_resize(parent, 0);
    return status;
}

tr_status tr__os_path_resolve(const char *path, char resolved[OS_PATH_SIZE], tr_error *error)
{
    return realpath(path, resolved) ? TR_OK : tr__os_file_refuse(error, "find", path);
}

/* Takes an flock without waiting. */
static int lock_whole(int fd)
{
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result;
}

static tr_status refuse_busy(tr_error *error, const char *path)
{
    if (error) {
        *error = (tr_error){.status = TR_STORE_BUSY};
        (void)snprintf(error->text, sizeof error->text, "%s is locked by another process", path);
    }
    return TR_STORE_BUSY;
}

/* Returns the status for a lock that could not be taken, and closes the file. */
static tr_status refuse_lock(int fd, const char *path, tr_error *error)
{
    bool is_busy = errno == EWOULDBLOCK || errno == EAGAIN || errno == EACCES;
    tr_status status = is_busy ? refuse_busy(error, path) : tr__os_file_refuse(error, "lock", path);
    (void)close(fd);
    return status;
}

/* Whether the path names the file that the descriptor has open. */
static bool is_named(int fd, const char *path)
{
    struct stat opened;
    struct stat named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

tr_status tr__os_file_lock(const char *path, int *fd, tr_error *error)
{
    /* after this many tries give up: another program keeps replacing the file */
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (opened < 0)
            return tr__os_file_refuse(error, "open", path);
        if (lock_whole(opened) != 0)
            return refuse_lock(opened, path, error);
        if (is_named(opened, path)) {
            *fd = opened;
            return TR_OK;
        }
        (void)close(opened); /* The file was deleted or replaced before it was locked. */
    }
    return refuse_busy(error, path);
}

tr_status tr__os_directory_lock(const char *path, int *fd, tr_error *error)
{
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0)
        return tr__os_file_refuse(error, "open", path);
    if (lock_whole(opened) == 0) {
        *fd = opened;
        return TR_OK;
    }
    if (errno == EWOULDBLOCK)
        return refuse_lock(opened, path, error);
    /* This is NFS, which locks only files that are open for writing. A directory never is. */
    (void)close(opened);
    *fd = -1;
    return TR_OK;
}

tr_status tr__os_file_lock_range(const char *path, uint64_t first, uint64_t size, int *fd,
                                 tr_error *error)
{
    int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (opened < 0)
        return tr__os_file_refuse(error, "open", path);
    /*
     * This lock belongs to the open file. A lock of F_SETLK would belong to the process, and would
     * be lost when the process closes any other descriptor of the file.
     */
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)first, .l_len = (off_t)size};
    if (fcntl(opened, F_OFD_SETLK, &range) != 0)
        return refuse_lock(opened, path, error);
    if (!is_named(opened, path)) {
        (void)close(opened);
        return refuse_busy(error, path);
    }
    *fd = opened;
    return TR_OK;
}

void tr__os_file_unlock(int fd)
{
    if (fd < 0)
        return;
    /*
     * Unlock explicitly: a child made by fork may have the file open too. Then closing the file here alone would leave
     * it locked.
     */
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)flock(fd, LOCK_UN);
    (void)fcntl(fd, F_OFD_SETLK, &all);
    (void)close(fd);
}

tr_status tr__os_file_find(const char *path, struct os_file_id *id, tr_error *error)
{
    struct statx found;
    /*
     * Do not ask for the times: once a file's times were read, Linux from 6.13 on gives the next
     * write a new time, and the next fdatasync has to store it. With the times, a sync of the
     * store's log took 1.5 times as long.
     */
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_SIZE, &found) != 0) {
        bool is_missing = errno == ENOENT || errno == ENOTDIR;
        tr_status status = tr__os_file_refuse(error, "find", path);
        return is_missing ? TR_NOT_FOUND : status;
    }
    *id = (struct os_file_id){
        makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino, found.stx_size};
    return TR_OK;
}

tr_status tr__os_file_rename(const char *from, const char *to, tr_error *error)
{
    return rename(from, to) == 0 ? TR_OK : tr__os_file_refuse(error, "rename", from);
}

void tr__os_file_write_out(int fd)
{
    /*
     * Ignore the result. Some file systems cannot do this. If the disk reports an error, the kernel keeps the error for
     * each open file, and the next sync through another descriptor returns it.
     */
    (void)sync_file_range(
        fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

tr_status tr__os_file_put_text(int fd, const char *path, const char *text, tr_error *error)
{
    ssize_t size = (ssize_t)strlen(text);
    errno = ENOSPC; /* the reason that is reported if the write wrote fewer bytes than asked */
    if (pwrite(fd, text, (size_t)size, 0) != size)
        return tr__os_file_refuse(error, "write", path);
    return fsync(fd) == 0 ? TR_OK : tr__os_file_refuse(error, "sync", path);
}
