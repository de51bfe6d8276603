/* SPDX-License-Identifier: Apache-2.0 */
#include "os/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, COMPONENT_MAX = 255 };

/*
 * Opens a path one component after the other and refuses symbolic links. For kernels without openat2. Closes
 * `directory`.
 */
static int open_stepwise(int directory, const char *path)
{
    while (*path) {
        char name[COMPONENT_MAX + 1];
        size_t size = strcspn(path, "/");
        bool is_last = !path[size];
        if (!size || size > COMPONENT_MAX || strncmp(path, "..", size < 2 ? 2 : size) == 0) {
            close(directory);
            errno = ENOENT;
            return -1;
        }
        memcpy(name, path, size);
        name[size] = '\0';
        int fd = openat(directory, name, OPEN_FLAGS | O_NOFOLLOW | (is_last ? 0 : O_DIRECTORY));
        int code = errno;
        close(directory);
        errno = code;
        if (fd < 0 || is_last)
            return fd;
        directory = fd;
        path += size + 1;
    }
    close(directory);
    errno = ENOENT;
    return -1;
}

static int open_beneath(const char *directory, const char *path)
{
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return -1;
    long fd = syscall(SYS_openat2, parent, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return open_stepwise(parent, path);
    int code = errno;
    close(parent);
    errno = code;
    return (int)fd;
}

tr_status tr__beneath_open(const char *directory, const char *path, struct beneath_file *file)
{
    struct stat about;
    int fd = open_beneath(directory, path);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? TR_LIMIT : TR_NOT_FOUND;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        return TR_NOT_FOUND;
    }
    *file = (struct beneath_file){.fd = fd,
                                  .size = about.st_size,
                                  .modified_s = about.st_mtim.tv_sec,
                                  .modified_ns = about.st_mtim.tv_nsec};
    return TR_OK;
}

tr_status tr__beneath_read(const struct beneath_file *file, int64_t offset, void *to, size_t size,
                           size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t count = pread(file->fd, (char *)to + *got, size - *got, offset + (int64_t)*got);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return TR_FAILED;
        if (!count)
            break;
        *got += (size_t)count;
    }
    return TR_OK;
}

void tr__beneath_close(struct beneath_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
