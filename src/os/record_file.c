/* SPDX-License-Identifier: Apache-2.0 */
#include "os/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_whole(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

tr_status tr__file_make(const char *path, const tr_bytes *pieces, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno == EEXIST ? TR_NAME_EXISTS : TR_FAILED;
    bool is_whole = true;
    for (size_t i = 0; i < count && is_whole; i++)
        is_whole = write_whole(fd, pieces[i].data, pieces[i].size);
    is_whole &= close(fd) == 0;
    if (is_whole)
        return TR_OK;
    (void)unlink(path);
    return TR_FAILED;
}

bool tr__file_look(const char *path, uint64_t *size, tr_time *written_ns)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    *size = (uint64_t)about.st_size;
    *written_ns = about.st_mtim.tv_sec * TR_SECOND + about.st_mtim.tv_nsec;
    return true;
}

bool tr__program_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length >= size - 1)
        return false;
    path[length] = '\0';
    /*
     * Linux appends this text to the path if the program's file was removed or replaced while the program runs. A new
     * file is at the path without this text.
     */
    static const char deleted[] = " (deleted)";
    size_t rest = (size_t)length - (sizeof deleted - 1);
    if ((size_t)length > sizeof deleted - 1 && strcmp(path + rest, deleted) == 0 &&
        access(path, F_OK) != 0)
        path[rest] = '\0';
    return true;
}
