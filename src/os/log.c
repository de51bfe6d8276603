/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of the real platform: lines on standard error, each by one write.
 *
 *     2024-02-29T23:59:59.123456Z WARN  /user/bank/alice: the vault is empty
 */
#include "os/log.h"

#include "base/civil.h"
#include "os/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * A pipe takes a write of up to PIPE_BUF bytes, which is this many, as a whole. So lines of several
 * threads do not mix.
 */
enum { LINE_SIZE_MAX = 4096 };

static const char *const level_names[] = {
    [TR_LEVEL_DEBUG] = "DEBUG",
    [TR_LEVEL_INFO] = "INFO ",
    [TR_LEVEL_WARN] = "WARN ",
    [TR_LEVEL_ERROR] = "ERROR",
};

/* Writes the line without its line feed and returns its length. A text that is too long is cut. */
static size_t line_format(char *line, size_t size, tr_time wall, const char *level,
                          const char *path, const char *text)
{
    int64_t seconds = wall / TR_SECOND;
    int64_t second_of_day = seconds % 86400;
    /* computed here, because gmtime_r takes a lock */
    struct civil_date date = civil_date_of(seconds / 86400);
    int length = snprintf(line,
                          size,
                          "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ %s %s%s%s",
                          (int)date.year,
                          date.month,
                          date.day,
                          (int)(second_of_day / 3600),
                          (int)(second_of_day / 60 % 60),
                          (int)(second_of_day % 60),
                          (int)(wall % TR_SECOND / TR_MICROSECOND),
                          level,
                          path ? path : "",
                          path ? ": " : "",
                          text);
    if (length < 0)
        return 0;
    if ((size_t)length < size)
        return (size_t)length;
    memcpy(line + size - 4, "...", 4);
    return size - 1;
}

static void write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        /*
         * The reader of the log is gone, or too slow. Drop the rest of the line, because the
         * runtime must not wait for the reader.
         */
        if (written <= 0)
            return;
        bytes += written;
        size -= (size_t)written;
    }
}

void tr__real_log(const tr_platform *platform, tr_level level, const char *path, const char *text)
{
    int saved_errno = errno;
    char line[LINE_SIZE_MAX];
    size_t index = (size_t)level;
    const char *name = index < sizeof level_names / sizeof *level_names ? level_names[index] : "?";
    tr_time wall = tr__real_wall_now(platform);
    size_t length = line_format(line, sizeof line - 1, wall, name, path, text);
    /* Replaces control characters, so that a name or a text cannot make two lines out of one. */
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = ' ';
    }
    line[length++] = '\n';
    write_all(STDERR_FILENO, line, length);
    errno = saved_errno;
}

void tr__real_log_line(const tr_platform *platform, tr_level level, const char *line, size_t size)
{
    int saved_errno = errno;
    char whole[LINE_SIZE_MAX];
    (void)platform;
    (void)level;
    size = size < sizeof whole - 1 ? size : sizeof whole - 1;
    memcpy(whole, line, size);
    whole[size] = '\n';
    write_all(STDERR_FILENO, whole, size + 1);
    errno = saved_errno;
}
