/* SPDX-License-Identifier: Apache-2.0 */
#include "os/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/small_file.h"

static tr_status secret_refuse(tr_status status, const char *path, const char *reason, char *why,
                               size_t why_size)
{
    (void)snprintf(why, why_size, "cannot use the file %.150s: %s", path, reason);
    return status;
}

/* Returns why an open file must not have a secret. Returns NULL if it may. */
static const char *file_is_wrong(const struct stat *about, tr_status *status)
{
    *status = TR_NOT_SUPPORTED;
    if (!S_ISREG(about->st_mode))
        return "it is no regular file";
    *status = TR_NOT_PERMITTED;
    if (about->st_uid != geteuid())
        return "it belongs to another user; name one of your own";
    if (about->st_mode & (S_IRWXG | S_IRWXO))
        return "others may use it; chmod 600 makes it yours alone";
    return NULL;
}

tr_status tr__secret_file_read(const char *path, char *text, size_t size, char *why,
                               size_t why_size)
{
    struct stat about;
    tr_status status;
    /* O_NONBLOCK: opening a pipe would wait for a process at its other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        status = errno == ENOENT  ? TR_NOT_FOUND
                 : errno == ELOOP ? TR_NOT_SUPPORTED
                                  : TR_NOT_PERMITTED;
        return secret_refuse(status,
                             path,
                             errno == ELOOP ? "it is a symbolic link" : strerror(errno),
                             why,
                             why_size);
    }
    const char *wrong = "it cannot be read";
    status = TR_FAILED;
    if (fstat(fd, &about) == 0)
        wrong = file_is_wrong(&about, &status);
    ssize_t count = wrong ? 0 : tr__file_read_open(fd, text, size);
    (void)close(fd);
    if (wrong)
        return secret_refuse(status, path, wrong, why, why_size);
    if (count < 0)
        return secret_refuse(TR_FAILED, path, "it cannot be read", why, why_size);
    if ((size_t)count == size)
        return secret_refuse(TR_TOO_LARGE, path, "it is too large", why, why_size);
    text[count] = '\0';
    return TR_OK;
}

/* Writes the text to a new file. Returns false and sets errno on failure. */
static bool file_write(const char *path, const char *text)
{
    size_t length = strlen(text);
    (void)unlink(path); /* a thread of the same number may have left it */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    ssize_t written = write(fd, text, length);
    bool is_whole =
        written == (ssize_t)length && fsync(fd) == 0; /* else a power cut leaves an empty file */
    int error = written >= 0 && written < (ssize_t)length ? ENOSPC : errno;
    (void)close(fd);
    errno = error;
    return is_whole;
}

tr_status tr__secret_file_make(const char *path, const char *text, char *why, size_t why_size)
{
    char made[PATH_MAX];
    int length = snprintf(made, sizeof made, "%s.%ld", path, (long)gettid());
    if (length < 0 || (size_t)length >= sizeof made)
        return secret_refuse(TR_NOT_PERMITTED, path, strerror(ENAMETOOLONG), why, why_size);
    /* The name appears only when the text is whole, and only if nobody else has made a file of this name meanwhile. */
    bool is_there = file_write(made, text) && (link(made, path) == 0 || errno == EEXIST);
    int error = errno;
    (void)unlink(made);
    return is_there ? TR_OK : secret_refuse(TR_NOT_PERMITTED, path, strerror(error), why, why_size);
}
