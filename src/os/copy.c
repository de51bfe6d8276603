/* SPDX-License-Identifier: Apache-2.0 */
#include "os/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "os/small_file.h"

tr_status tr__temporary_make(char *path, size_t size)
{
    const char *place = tr__environment("TMPDIR");
    int length = snprintf(path, size, "%s/troupe-XXXXXX", place ? place : "/tmp");
    if (length < 0 || (size_t)length >= size)
        return TR_LIMIT;
    return mkdtemp(path) ? TR_OK : TR_FAILED;
}

void tr__temporary_remove(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        (void)closedir(directory);
    (void)rmdir(path);
}

tr_status tr__file_copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return errno == ENOENT ? TR_NOT_FOUND : TR_FAILED;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t moved = out < 0 ? -1 : 1;
    while (moved > 0 || (moved < 0 && out >= 0 && errno == EINTR))
        moved = sendfile(out, in, NULL, (size_t)1 << 30);
    (void)close(in);
    if (out >= 0 && close(out) != 0)
        moved = -1;
    return moved == 0 ? TR_OK : TR_FAILED;
}
