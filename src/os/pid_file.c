/* SPDX-License-Identifier: Apache-2.0 */
#include "os/pid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static tr_status pid_file_refuse(tr_status status, const char *path, const char *reason, char *why,
                                 size_t why_size)
{
    (void)snprintf(why, why_size, "cannot use the pid file %.100s: %s", path, reason);
    return status;
}

/*
 * Whether the path still names the locked file. The process that had the file before may have removed the file between
 * the open and the lock of this process.
 */
static bool is_current(int fd, const char *path)
{
    struct stat opened;
    struct stat named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/*
 * Opens and locks the file. Returns -1 and sets errno on failure. EWOULDBLOCK: another process has
 * the lock.
 */
static int open_locked(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int error = errno;
            (void)close(fd);
            errno = error;
            return -1;
        }
        if (is_current(fd, path))
            return fd;
        (void)close(fd);
    }
}

tr_status tr__pid_file_open(const char *path, int *fd, char *why, size_t why_size)
{
    char text[24];
    struct stat opened;
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    int made = open_locked(path);
    if (made < 0 && errno == EWOULDBLOCK)
        return pid_file_refuse(
            TR_ADDRESS_IN_USE, path, "a process that runs has it; end that one", why, why_size);
    if (made < 0)
        return pid_file_refuse(TR_NOT_PERMITTED, path, strerror(errno), why, why_size);
    if (fstat(made, &opened) != 0 || !S_ISREG(opened.st_mode)) {
        (void)close(made);
        return pid_file_refuse(TR_NOT_SUPPORTED, path, "it is no regular file", why, why_size);
    }
    if (ftruncate(made, 0) != 0 || write(made, text, (size_t)length) != length) {
        tr_status status = pid_file_refuse(TR_NOT_PERMITTED, path, strerror(errno), why, why_size);
        (void)close(made);
        return status;
    }
    *fd = made;
    return TR_OK;
}

void tr__pid_file_close(int fd, const char *path)
{
    if (fd < 0)
        return;
    (void)unlink(path);
    (void)close(fd);
}
