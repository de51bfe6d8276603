/* SPDX-License-Identifier: Apache-2.0 */
#include "os/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tr_status read_refuse(int error, const char **why)
{
    const char *text = strerrordesc_np(error);
    *why = text ? text : "unknown error";
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return TR_NOT_FOUND;
    case EACCES:
    case EPERM:
        return TR_NOT_PERMITTED;
    case EMFILE:
    case ENFILE:
        return TR_LIMIT;
    case ENOMEM:
        return TR_NO_MEMORY;
    case EBADF:
    case EISDIR:
        return TR_INVALID_ARGUMENT;
    default:
        return TR_FILE_FAILED;
    }
}

tr_status tr__real_file_size(const tr_platform *platform, int fd, uint64_t *size, const char **why)
{
    (void)platform;
    struct stat found;
    if (fstat(fd, &found) != 0)
        return read_refuse(errno, why);
    if (!S_ISREG(found.st_mode)) {
        *why = "not a regular file";
        return TR_INVALID_ARGUMENT;
    }
    *size = (uint64_t)found.st_size;
    return TR_OK;
}

tr_status tr__real_file_open(const tr_platform *platform, const char *path, int *fd, uint64_t *size,
                             const char **why)
{
    /* without O_NONBLOCK, opening a FIFO or a device could wait */
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (opened < 0)
        return read_refuse(errno, why);
    tr_status status = tr__real_file_size(platform, opened, size, why);
    if (status == TR_OK)
        *fd = opened;
    else
        (void)close(opened);
    return status;
}

tr_status tr__real_file_read(const tr_platform *platform, int fd, uint64_t offset, void *to,
                             size_t size, const char **why)
{
    (void)platform;
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            (void)read_refuse(errno, why);
            return TR_FILE_FAILED;
        }
        if (got == 0) {
            *why = "it has become shorter";
            return TR_FILE_FAILED;
        }
        done += (size_t)got;
    }
    return TR_OK;
}

void tr__real_file_close(const tr_platform *platform, int fd)
{
    (void)platform;
    (void)close(fd);
}
