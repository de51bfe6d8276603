/* SPDX-License-Identifier: Apache-2.0 */
#include "os/map_file.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest file that is mapped. A larger file was not made by this library. */
enum { MAP_SIZE_MAX = 64 * 1024 * 1024 };

/* Opens the file and makes it long enough; `*size` becomes its size. Returns the descriptor, or -1 with errno. */
static int open_long(const char *path, size_t *size)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    int code = fstat(fd, &about) != 0 ? errno : 0;
    if (!code && (!S_ISREG(about.st_mode) || about.st_size > MAP_SIZE_MAX))
        code = EINVAL;
    if (!code && (size_t)about.st_size < *size)
        code = posix_fallocate(fd, 0, (off_t)*size);
    else if (!code)
        *size = (size_t)about.st_size;
    if (!code)
        return fd;
    (void)close(fd);
    errno = code;
    return -1;
}

tr_status tr__map_file_open(const char *path, size_t size, void **memory, size_t *mapped,
                            tr_error *error)
{
    int fd = open_long(path, &size);
    if (fd < 0 && errno == EINVAL) {
        (void)tr__os_file_refuse(error, "map", path);
        return TR_NOT_SUPPORTED;
    }
    if (fd < 0)
        return tr__os_file_refuse(error, "make", path);
    void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    tr_status status = made == MAP_FAILED ? tr__os_file_refuse(error, "map", path) : TR_OK;
    (void)close(fd);
    if (status != TR_OK)
        return status;
    *memory = made;
    *mapped = size;
    return TR_OK;
}

void tr__map_file_close(void *memory, size_t mapped)
{
    if (memory)
        (void)munmap(memory, mapped);
}
