/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Directories and lock files of the real world.
 */
#include "os/file.h"

#include "os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static tr_status status_of_errno(void)
{
    return errno == ENOSPC || errno == EDQUOT ? TR_STORE_FULL : TR_STORE_FAILED;
}

/* The directory that `path` is in: "." of "a", "/" of "/a", "a" of "a/b//". */
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
        path[size++] = '.'; /* The path had a byte at least, or it could not have been made. */
    path[size] = '\0';
}

tr_status tr__os_directory_make(const char *path)
{
    if (mkdir(path, S_IRWXU) != 0) {
        struct stat found;
        if (errno != EEXIST)
            return status_of_errno();
        if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
            return TR_STORE_FAILED;
    }
    /* Also when it was there: who made it may have died before this. */
    size_t size = strlen(path) + 1;
    char *parent = tr__os_resize(NULL, size + 1);
    if (!parent)
        return TR_NO_MEMORY;
    memcpy(parent, path, size);
    cut_last_part(parent);
    tr_status status = tr__os_directory_sync(parent);
    tr__os_resize(parent, 0);
    return status;
}

tr_status tr__os_directory_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return TR_STORE_FAILED;
    int error = fsync(fd);
    /* A file system that cannot sync directories keeps them in order itself. */
    bool is_synced = error == 0 || errno == EINVAL;
    (void)close(fd);
    return is_synced ? TR_OK : TR_STORE_FAILED;
}

tr_status tr__os_file_lock(const char *path, int *fd)
{
    int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (opened < 0)
        return status_of_errno();
    int error;
    do
        error = flock(opened, LOCK_EX | LOCK_NB);
    while (error != 0 && errno == EINTR);
    if (error != 0) {
        tr_status status = errno == EWOULDBLOCK ? TR_STORE_BUSY : TR_STORE_FAILED;
        (void)close(opened);
        return status;
    }
    *fd = opened;
    return TR_OK;
}

void tr__os_file_unlock(int fd)
{
    /* A child that was made by fork has the file open, too, and closing it here would leave it locked. */
    (void)flock(fd, LOCK_UN);
    (void)close(fd);
}
