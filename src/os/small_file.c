/* SPDX-License-Identifier: Apache-2.0 */
#include "os/small_file.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t tr__file_read_open(int fd, char *memory, size_t size)
{
    size_t count = 0;
    while (count < size) {
        ssize_t got = read(fd, memory + count, size - count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        count += (size_t)got;
    }
    return (ssize_t)count;
}

static tr_status read_open(const tr_platform *platform, int fd, size_t size_max, void **memory,
                           size_t *size)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return TR_FAILED;
    if (!S_ISREG(about.st_mode))
        return TR_NOT_SUPPORTED;
    if (about.st_size < 0 || (uint64_t)about.st_size > size_max)
        return TR_TOO_LARGE;
    /* Have space for one byte more, to notice a file that grows while it is read. */
    size_t capacity = (size_t)about.st_size + 1;
    char *block = platform->resize(platform, NULL, capacity);
    if (!block)
        return TR_NO_MEMORY;
    ssize_t count = tr__file_read_open(fd, block, capacity);
    if (count != about.st_size) {
        (void)platform->resize(platform, block, 0);
        return TR_FAILED;
    }
    *memory = block;
    *size = (size_t)count;
    return TR_OK;
}

tr_status tr__file_read(const tr_platform *platform, const char *path, size_t size_max,
                        void **memory, size_t *size)
{
    TR_ASSERT(size_max < SIZE_MAX);
    /* Without O_NONBLOCK, opening a pipe would wait for a process at the other end of the pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return is_short ? TR_NO_MEMORY : errno == EIO ? TR_FAILED : TR_NOT_FOUND;
    }
    tr_status status = read_open(platform, fd, size_max, memory, size);
    (void)close(fd);
    return status;
}

const char *tr__environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}
