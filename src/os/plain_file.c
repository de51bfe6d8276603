/* SPDX-License-Identifier: Apache-2.0 */
/** Reads, writes, makes and removes the files of backups and other copies. */
#include "os/plain_file.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

tr_status tr__plain_file_open(struct plain_file *file, const char *path, tr_error *error)
{
    *file = (struct plain_file){open(path, O_RDONLY | O_CLOEXEC), path};
    if (file->fd >= 0)
        return TR_OK;
    bool is_missing = errno == ENOENT || errno == ENOTDIR;
    tr_status status = tr__os_file_refuse(error, "open", path);
    return is_missing ? TR_NOT_FOUND : status;
}

tr_status tr__plain_file_make(struct plain_file *file, const char *path, tr_error *error)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    *file = (struct plain_file){open(path, flags, S_IRUSR | S_IWUSR), path};
    return file->fd >= 0 ? TR_OK : tr__os_file_refuse(error, "make", path);
}

void tr__plain_file_close(struct plain_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
}

tr_status tr__plain_file_size(const struct plain_file *file, uint64_t *size, tr_error *error)
{
    struct stat found;
    if (fstat(file->fd, &found) != 0)
        return tr__os_file_refuse(error, "find the size of", file->path);
    *size = (uint64_t)found.st_size;
    return TR_OK;
}

tr_status tr__plain_file_read(const struct plain_file *file, uint64_t offset, void *memory,
                              size_t size, size_t *got, tr_error *error)
{
    for (*got = 0; *got < size;) {
        ssize_t count = pread(file->fd, (char *)memory + *got, size - *got, (off_t)(offset + *got));
        if (count == 0)
            break;
        if (count > 0)
            *got += (size_t)count;
        else if (errno != EINTR)
            return tr__os_file_refuse(error, "read", file->path);
    }
    return TR_OK;
}

tr_status tr__plain_file_write(const struct plain_file *file, uint64_t offset, const void *memory,
                               size_t size, tr_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t count =
            pwrite(file->fd, (const char *)memory + done, size - done, (off_t)(offset + done));
        if (count > 0)
            done += (size_t)count;
        else if (count == 0 || errno != EINTR)
            return tr__os_file_refuse(error, "write", file->path);
    }
    return TR_OK;
}

tr_status tr__plain_file_resize(const struct plain_file *file, uint64_t size, tr_error *error)
{
    int result;
    do
        result = ftruncate(file->fd, (off_t)size);
    while (result != 0 && errno == EINTR);
    return result == 0 ? TR_OK : tr__os_file_refuse(error, "truncate", file->path);
}

bool tr__plain_file_has_name(const struct plain_file *file)
{
    struct stat found;
    return fstat(file->fd, &found) != 0 || found.st_nlink > 0;
}

tr_status tr__plain_file_sync(const struct plain_file *file, tr_error *error)
{
    return fsync(file->fd) == 0 ? TR_OK : tr__os_file_refuse(error, "sync", file->path);
}

tr_status tr__plain_file_remove(const char *path, bool is_directory, tr_error *error)
{
    int result = is_directory ? rmdir(path) : unlink(path);
    return result == 0 || errno == ENOENT ? TR_OK : tr__os_file_refuse(error, "remove", path);
}
